//! Small random programs as LLVM IR.

mod handover;
mod misuse;

use raddle_random::Random32 as Rng;
use std::fmt::Write;

/// What programs are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    locks: bool,
    data: bool,
    statements: u32,
    /// Plain data that is handed from thread to thread.
    hands_over: bool,
    /// By semaphores, read-write locks, condition variables and barriers as well.
    waits: bool,
    /// Accesses of several sizes to the same bytes.
    mixes: bool,
    /// A block of memory that is freed once.
    frees: bool,
    /// Halves of words are accessed by themselves.
    halves: bool,
    /// Synchronisation objects are made, destroyed and given back where that may be wrong.
    misuses: bool,
    /// Threads are joined on some paths only.
    joins_some: bool,
}

impl Shape {
    pub(crate) const RACES: Self = Self {
        hands_over: true,
        ..Self::PLAIN
    };
    pub(crate) const SOME_JOINED: Self = Self {
        joins_some: true,
        ..Self::RACES
    };
    pub(crate) const MISUSES: Self = Self {
        misuses: true,
        ..Self::PLAIN
    };
    pub(crate) const MIXED: Self = Self {
        mixes: true,
        ..Self::RACES
    };
    pub(crate) const HALVES: Self = Self {
        halves: true,
        ..Self::PLAIN
    };
    /// Which word is accessed is not known either.
    pub(crate) const HALVES_OF_SOME: Self = Self {
        halves: true,
        ..Self::DATA
    };
    pub(crate) const FREES: Self = Self {
        frees: true,
        ..Self::RACES
    };
    pub(crate) const WAITS: Self = Self {
        hands_over: true,
        waits: true,
        ..Self::PLAIN
    };
    pub(crate) const PLAIN: Self = Self {
        locks: false,
        data: false,
        statements: 4,
        hands_over: false,
        waits: false,
        mixes: false,
        frees: false,
        halves: false,
        misuses: false,
        joins_some: false,
    };
    pub(crate) const LOCKS: Self = Self {
        locks: true,
        data: false,
        statements: 3,
        hands_over: false,
        waits: false,
        mixes: false,
        frees: false,
        halves: false,
        misuses: false,
        joins_some: false,
    };
    pub(crate) const DATA: Self = Self {
        locks: false,
        data: true,
        statements: 3,
        hands_over: false,
        waits: false,
        mixes: false,
        frees: false,
        halves: false,
        misuses: false,
        joins_some: false,
    };
}

const HEAD: &str = "\
@x = global i32 0
@y = global i32 0
@a = global [3 x i32] zeroinitializer
@p = global ptr @x
@f = global i32 0
@h = global ptr null
@g = global i32 0
@s = global [8 x i32] zeroinitializer
@w = global [14 x i32] zeroinitializer
@c = global [12 x i32] zeroinitializer
@b = global [8 x i32] zeroinitializer
@m = global [10 x i32] zeroinitializer
@n = global [10 x i32] zeroinitializer
@recursive = global i32 1
@checking = global i32 2
@some = global i32 0
@never = global [2 x i64] zeroinitializer
@text = private constant [2 x i8] c\"c\\00\"
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_trylock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_destroy(ptr)
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @sem_init(ptr, i32, i32)
declare i32 @sem_wait(ptr)
declare i32 @sem_trywait(ptr)
declare i32 @sem_post(ptr)
declare i32 @sem_destroy(ptr)
declare i32 @pthread_rwlock_rdlock(ptr)
declare i32 @pthread_rwlock_wrlock(ptr)
declare i32 @pthread_rwlock_trywrlock(ptr)
declare i32 @pthread_rwlock_unlock(ptr)
declare i32 @pthread_rwlock_tryrdlock(ptr)
declare i32 @pthread_rwlock_init(ptr, ptr)
declare i32 @pthread_rwlock_destroy(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_cond_timedwait(ptr, ptr, ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_destroy(ptr)
declare i32 @pthread_barrier_init(ptr, ptr, i32)
declare i32 @pthread_barrier_wait(ptr)
declare i32 @pthread_barrier_destroy(ptr)
declare void @__assert_fail(ptr, ptr, i32, ptr)
declare void @__VERIFIER_assume(i32)
declare i32 @__VERIFIER_nondet_bool()
declare void @__VERIFIER_atomic_begin()
declare void @__VERIFIER_atomic_end()

define void @check(i32 %value, i32 %wrong) {
  %bad = icmp eq i32 %value, %wrong
  br i1 %bad, label %fail, label %fine
fail:
  call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)
  unreachable
fine:
  ret void
}

define void @suppose(i32 %value, i32 %wrong) {
  %holds = icmp ne i32 %value, %wrong
  %number = zext i1 %holds to i32
  call void @__VERIFIER_assume(i32 %number)
  ret void
}
";

struct Writer {
    rng: Rng,
    shape: Shape,
    text: String,
    next: u32,
    /// How deep statements nest.
    depth: u32,
    in_lock: bool,
    in_block: bool,
    /// Is there a place that frees the block?
    freed: bool,
    /// What data is mostly protected by.
    discipline: u32,
}

pub(crate) fn generate(seed: u64, shape: Shape) -> String {
    let mut writer = Writer {
        rng: Rng::new(seed * 2 + 1),
        shape,
        text: HEAD.to_owned(),
        next: 0,
        depth: 0,
        in_lock: false,
        in_block: false,
        freed: false,
        discipline: 0,
    };
    if shape.waits {
        writer.discipline = writer.rng.below(4);
    }
    if shape.misuses {
        writer.discipline = writer.rng.below(misuse::SUBJECTS);
    }
    let threads = 2 + writer.rng.below(2);
    for thread in 0..threads {
        let _ = write!(writer.text, "\ndefine ptr @t{thread}(ptr %arg) {{\n");
        writer.locals();
        let statements = 1 + writer.rng.below(shape.statements + u32::from(threads == 2));
        writer.statements(statements);
        writer.text += "  ret ptr null\n}\n";
    }
    writer.main(threads);
    writer.text
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text += "  ";
        self.text += line;
        self.text.push('\n');
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.below(100) < percent
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.rng.below(from.len() as u32) as usize]
    }

    fn locals(&mut self) {
        for local in 0..2 {
            self.line(&format!("%r{local} = alloca i32"));
            self.line(&format!("store i32 0, ptr %r{local}"));
        }
    }

    fn main(&mut self, threads: u32) {
        self.text += "\ndefine i32 @main() {\n";
        self.locals();
        for thread in 0..threads {
            self.line(&format!("%h{thread} = alloca i64"));
        }
        if self.chance(50) {
            self.line("store i32 1, ptr @y");
        }
        if self.shape.frees {
            self.line("%block = call ptr @malloc(i64 4)");
            self.line("store ptr %block, ptr @h");
        }
        if self.shape.waits {
            let count = 2 + self.rng.below(2);
            self.line(&format!(
                "call i32 @pthread_barrier_init(ptr @b, ptr null, i32 {count})"
            ));
            let count = self.rng.below(2);
            self.line(&format!("call i32 @sem_init(ptr @s, i32 0, i32 {count})"));
        }
        if self.shape.misuses {
            self.prepare();
        }
        for thread in 0..threads {
            let call = format!(
                "call i32 @pthread_create(ptr %h{thread}, ptr null, ptr @t{thread}, ptr null)"
            );
            self.line(&call);
        }
        if self.chance(30) {
            self.statements(1);
        }
        let holds = self.shape.locks && self.chance(15);
        if holds {
            self.line("call i32 @pthread_mutex_lock(ptr @m)");
        }
        for thread in 0..threads {
            if self.shape.joins_some && self.chance(50) {
                self.join_perhaps(thread);
            } else {
                self.join(thread);
            }
        }
        if self.shape.joins_some {
            self.data();
        }
        if self.shape.misuses {
            self.clean_up();
        }
        if holds {
            self.line("call i32 @pthread_mutex_unlock(ptr @m)");
        }
        if !self.shape.hands_over && !self.shape.misuses {
            for _ in 0..2 {
                self.load();
                self.check("@check");
            }
        }
        self.line("ret i32 0");
        self.text += "}\n";
    }

    fn join(&mut self, thread: u32) {
        let handle = self.fresh();
        self.line(&format!("{handle} = load i64, ptr %h{thread}"));
        self.line(&format!("call i32 @pthread_join(i64 {handle}, ptr null)"));
    }

    fn join_perhaps(&mut self, thread: u32) {
        let (chosen, bit) = (self.fresh(), self.fresh());
        self.next += 1;
        let at = self.next;
        self.line(&format!("{chosen} = call i32 @__VERIFIER_nondet_bool()"));
        self.line(&format!("{bit} = icmp ne i32 {chosen}, 0"));
        self.line(&format!("br i1 {bit}, label %join{at}, label %go{at}"));
        let _ = writeln!(self.text, "join{at}:");
        self.join(thread);
        self.line(&format!("br label %go{at}"));
        let _ = writeln!(self.text, "go{at}:");
    }

    fn statements(&mut self, count: u32) {
        for _ in 0..count {
            self.statement();
        }
    }

    /// The value of a local variable.
    fn value(&mut self) -> String {
        let (value, local) = (self.fresh(), self.rng.below(2));
        self.line(&format!("{value} = load i32, ptr %r{local}"));
        value
    }

    fn keep(&mut self, value: &str) {
        let local = self.rng.below(2);
        self.line(&format!("store i32 {value}, ptr %r{local}"));
    }

    /// A place in shared memory.
    fn place(&mut self) -> String {
        if !self.shape.data || self.chance(50) {
            return self.pick(&["@x", "@y"]).to_owned();
        }
        if self.chance(50) {
            let pointer = self.fresh();
            self.line(&format!(
                "{pointer} = load atomic ptr, ptr @p monotonic, align 8"
            ));
            return pointer;
        }
        let value = self.value();
        let (index, at) = (self.fresh(), self.fresh());
        self.line(&format!("{index} = and i32 {value}, 1"));
        self.line(&format!(
            "{at} = getelementptr [3 x i32], ptr @a, i32 0, i32 {index}"
        ));
        at
    }

    /// Half of a word.
    fn half(&mut self) -> String {
        let (place, at) = (self.place(), self.fresh());
        let offset = 2 * self.rng.below(2);
        self.line(&format!(
            "{at} = getelementptr i8, ptr {place}, i32 {offset}"
        ));
        at
    }

    fn load_half(&mut self) {
        let (place, half, value) = (self.half(), self.fresh(), self.fresh());
        let order = self.pick(&["monotonic", "acquire", "seq_cst"]);
        self.line(&format!(
            "{half} = load atomic i16, ptr {place} {order}, align 2"
        ));
        self.line(&format!("{value} = zext i16 {half} to i32"));
        self.keep(&value);
    }

    fn store_half(&mut self) {
        let (place, number) = (self.half(), 1 + self.rng.below(3));
        let order = self.pick(&["monotonic", "monotonic", "release", "seq_cst"]);
        self.line(&format!(
            "store atomic i16 {number}, ptr {place} {order}, align 2"
        ));
    }

    /// Both halves of a word at once, one added to the other.
    fn load_whole(&mut self) {
        let (place, whole) = (self.place(), self.fresh());
        let order = self.pick(&["monotonic", "acquire"]);
        self.line(&format!(
            "{whole} = load atomic i32, ptr {place} {order}, align 4"
        ));
        let (high, low, sum) = (self.fresh(), self.fresh(), self.fresh());
        self.line(&format!("{high} = lshr i32 {whole}, 15"));
        self.line(&format!("{low} = and i32 {whole}, 3"));
        self.line(&format!("{sum} = add i32 {high}, {low}"));
        self.keep(&sum);
    }

    fn store_whole(&mut self) {
        let place = self.place();
        let number = self.rng.below(3) << 16 | self.rng.below(3);
        let order = self.pick(&["monotonic", "monotonic", "release", "seq_cst"]);
        self.line(&format!(
            "store atomic i32 {number}, ptr {place} {order}, align 4"
        ));
    }

    fn load(&mut self) {
        if self.shape.halves && self.chance(70) {
            return match self.chance(50) {
                true => self.load_half(),
                false => self.load_whole(),
            };
        }
        let place = self.place();
        let value = self.fresh();
        let order = self.pick(&["monotonic", "acquire", "seq_cst"]);
        self.line(&format!(
            "{value} = load atomic i32, ptr {place} {order}, align 4"
        ));
        self.keep(&value);
    }

    fn store(&mut self) {
        if self.shape.halves && self.chance(80) {
            return match self.chance(50) {
                true => self.store_half(),
                false => self.store_whole(),
            };
        }
        let place = self.place();
        let number = self.rng.below(3);
        let value = if self.chance(40) {
            let (value, sum) = (self.value(), self.fresh());
            self.line(&format!("{sum} = add i32 {value}, {number}"));
            sum
        } else {
            number.to_string()
        };
        if self.chance(30) {
            self.line(&format!("store i32 {value}, ptr {place}"));
            return;
        }
        let order = self.pick(&["monotonic", "monotonic", "release", "seq_cst"]);
        self.line(&format!(
            "store atomic i32 {value}, ptr {place} {order}, align 4"
        ));
    }

    fn check(&mut self, function: &str) {
        let (value, wrong) = (self.value(), 1 + self.rng.below(3));
        self.line(&format!("call void {function}(i32 {value}, i32 {wrong})"));
    }

    fn update(&mut self) {
        let (place, old) = (self.place(), self.fresh());
        let number = self.rng.below(3);
        if self.chance(50) {
            let op = self.pick(&["add", "xchg", "or", "sub", "umax"]);
            self.line(&format!(
                "{old} = atomicrmw {op} ptr {place}, i32 {number} seq_cst"
            ));
            self.keep(&old);
            return;
        }
        let pair = self.fresh();
        let expected = self.rng.below(2);
        self.line(&format!(
            "{pair} = cmpxchg ptr {place}, i32 {expected}, i32 {number} seq_cst seq_cst"
        ));
        self.line(&format!("{old} = extractvalue {{ i32, i1 }} {pair}, 0"));
        self.keep(&old);
    }

    fn branch(&mut self) {
        let (value, bit) = (self.value(), self.fresh());
        self.next += 1;
        let at = self.next;
        let number = self.rng.below(3);
        self.line(&format!("{bit} = icmp eq i32 {value}, {number}"));
        self.line(&format!("br i1 {bit}, label %then{at}, label %else{at}"));
        self.depth += 1;
        let _ = writeln!(self.text, "then{at}:");
        self.statements(1);
        self.line(&format!("br label %end{at}"));
        let _ = writeln!(self.text, "else{at}:");
        if self.chance(40) {
            self.statements(1);
        }
        self.line(&format!("br label %end{at}"));
        let _ = writeln!(self.text, "end{at}:");
        self.depth -= 1;
    }

    /// A loop whose end depends on shared memory, or one of so many rounds.
    fn repeat(&mut self) {
        self.next += 1;
        let at = self.next;
        let (counter, next, more) = (self.fresh(), self.fresh(), self.fresh());
        self.line(&format!("%c{at} = alloca i32"));
        self.line(&format!("store i32 0, ptr %c{at}"));
        self.line(&format!("br label %head{at}"));
        let _ = writeln!(self.text, "head{at}:");
        self.depth += 1;
        self.statements(1);
        self.line(&format!("{counter} = load i32, ptr %c{at}"));
        self.line(&format!("{next} = add i32 {counter}, 1"));
        self.line(&format!("store i32 {next}, ptr %c{at}"));
        // Two rounds fit the first bound, three or four do not.
        let rounds = if self.chance(25) { 4 } else { 2 };
        self.line(&format!("{more} = icmp slt i32 {next}, {rounds}"));
        if self.chance(50) {
            let (value, unequal, both) = (self.value(), self.fresh(), self.fresh());
            self.line(&format!("{unequal} = icmp ne i32 {value}, 1"));
            self.line(&format!("{both} = and i1 {more}, {unequal}"));
            self.line(&format!("br i1 {both}, label %head{at}, label %tail{at}"));
        } else {
            self.line(&format!("br i1 {more}, label %head{at}, label %tail{at}"));
        }
        let _ = writeln!(self.text, "tail{at}:");
        self.depth -= 1;
    }

    fn lock(&mut self) {
        let mutex = if self.in_lock { "@n" } else { "@m" };
        let outer = std::mem::replace(&mut self.in_lock, true);
        if self.chance(20) {
            self.next += 1;
            let (at, got, bit) = (self.next, self.fresh(), self.fresh());
            self.line(&format!(
                "{got} = call i32 @pthread_mutex_trylock(ptr {mutex})"
            ));
            self.line(&format!("{bit} = icmp eq i32 {got}, 0"));
            self.line(&format!("br i1 {bit}, label %got{at}, label %not{at}"));
            let _ = writeln!(self.text, "got{at}:");
            self.depth += 1;
            self.statements(1);
            self.depth -= 1;
            self.line(&format!("call i32 @pthread_mutex_unlock(ptr {mutex})"));
            self.line(&format!("br label %not{at}"));
            let _ = writeln!(self.text, "not{at}:");
        } else {
            // The other way round now and then: threads may wait for each other.
            let mutex = if outer || self.chance(70) {
                mutex
            } else {
                "@n"
            };
            self.line(&format!("call i32 @pthread_mutex_lock(ptr {mutex})"));
            let count = 1 + self.rng.below(2);
            self.depth += 1;
            self.statements(count);
            self.depth -= 1;
            if !self.chance(5) {
                self.line(&format!("call i32 @pthread_mutex_unlock(ptr {mutex})"));
            }
        }
        self.in_lock = outer;
    }

    fn block(&mut self) {
        self.in_block = true;
        self.line("call void @__VERIFIER_atomic_begin()");
        self.load();
        self.store();
        self.line("call void @__VERIFIER_atomic_end()");
        self.in_block = false;
    }

    fn statement(&mut self) {
        if self.shape.hands_over {
            return self.hand_over();
        }
        if self.shape.misuses {
            return self.use_something();
        }
        match self.rng.below(100) {
            0..30 => self.store(),
            30..55 => self.load(),
            55..65 => self.update(),
            65..70 => {
                let order = self.pick(&["seq_cst", "release", "acquire"]);
                self.line(&format!("fence {order}"));
            }
            70..75 => self.check("@check"),
            75..78 => self.check("@suppose"),
            78..81 => {
                let value = self.fresh();
                self.line(&format!("{value} = call i32 @__VERIFIER_nondet_bool()"));
                self.keep(&value);
            }
            81..90 if self.depth < 2 => self.branch(),
            _ if self.shape.locks && self.depth < 2 && !self.in_block => {
                if self.chance(70) {
                    self.lock();
                } else {
                    self.block();
                }
            }
            _ if self.shape.data && self.depth < 1 => {
                if self.chance(50) {
                    self.repeat();
                } else {
                    let target = self.pick(&["@x", "@y", "@a"]);
                    self.line(&format!(
                        "store atomic ptr {target}, ptr @p monotonic, align 8"
                    ));
                }
            }
            _ => self.store(),
        }
    }
}
