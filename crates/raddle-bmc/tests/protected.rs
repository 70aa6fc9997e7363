//! Random programs whose variables are protected by a mutex: these are carried from critical section to critical section
//! instead of having reads-from. `bmc` must say what the enumeration of all executions says, under every memory model.

use raddle_bmc::BmcOptions;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_random::Random32 as Rng;
use raddle_search::driver::{Limits, SearchOptions};
use raddle_search::{Checks, EngineKind, MemoryModel, Reason, Verdict};
use std::fmt::Write;

/// Programs with more executions are left out.
const MOST_EXECUTIONS: u64 = 30_000;

const HEAD: &str = "\
@x = global i32 0
@y = global i32 1
@a = global [2 x i32] zeroinitializer
@z = global i32 0
@m = global [10 x i32] zeroinitializer
@text = private constant [2 x i8] c\"c\\00\"
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare void @__assert_fail(ptr, ptr, i32, ptr)
";

struct Writer {
    rng: Rng,
    text: String,
    next: u32,
}

impl Writer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// A variable, or an element of the array whose index is read from one.
    fn place(&mut self) -> String {
        match self.rng.below(4) {
            0 => "@x".to_owned(),
            1 => "@y".to_owned(),
            2 => "@a".to_owned(),
            _ => {
                let (index, one, at) = (self.fresh(), self.fresh(), self.fresh());
                self.line(&format!("%v{index} = load i32, ptr @x"));
                self.line(&format!("%v{one} = and i32 %v{index}, 1"));
                self.line(&format!(
                    "%v{at} = getelementptr [2 x i32], ptr @a, i32 0, i32 %v{one}"
                ));
                format!("%v{at}")
            }
        }
    }

    /// What is read somewhere, perhaps with something done to it.
    fn value(&mut self) -> String {
        if self.rng.below(3) == 0 {
            return self.rng.below(3).to_string();
        }
        if self.rng.below(16) == 0 {
            // Nothing protects this one.
            let read = self.fresh();
            self.line(&format!(
                "%v{read} = load atomic i32, ptr @z seq_cst, align 4"
            ));
            return format!("%v{read}");
        }
        let place = if self.rng.below(4) == 0 {
            "%own".to_owned()
        } else {
            self.place()
        };
        let read = self.fresh();
        self.line(&format!("%v{read} = load i32, ptr {place}"));
        let operation = match self.rng.below(5) {
            0 => "add i32",
            1 => "xor i32",
            2 => "srem i32",
            3 => "mul i32",
            _ => return format!("%v{read}"),
        };
        let (result, by) = (self.fresh(), 2 + self.rng.below(2));
        self.line(&format!("%v{result} = {operation} %v{read}, {by}"));
        format!("%v{result}")
    }

    /// Goes on if a value is not a certain number; otherwise it does what `otherwise` writes.
    fn unless(&mut self, number: u32, otherwise: impl FnOnce(&mut Self, u32)) {
        let value = self.value();
        self.unless_is(&value, number, otherwise);
    }

    fn unless_is(&mut self, value: &str, number: u32, otherwise: impl FnOnce(&mut Self, u32)) {
        let (equal, label) = (self.fresh(), self.fresh());
        self.line(&format!("%v{equal} = icmp eq i32 {value}, {number}"));
        self.line(&format!(
            "br i1 %v{equal}, label %then{label}, label %go{label}"
        ));
        let _ = writeln!(self.text, "then{label}:");
        otherwise(self, label);
        let _ = writeln!(self.text, "go{label}:");
    }

    fn fail(&mut self) {
        self.line("call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)");
        self.line("unreachable");
    }

    fn store(&mut self) {
        let value = self.value();
        let place = match self.rng.below(4) {
            0 => "%own".to_owned(),
            _ => self.place(),
        };
        self.line(&format!("store i32 {value}, ptr {place}"));
    }

    fn section(&mut self, may_keep_the_mutex: bool) {
        self.line("call i32 @pthread_mutex_lock(ptr @m)");
        for _ in 0..1 + self.rng.below(2) {
            match self.rng.below(12) {
                0 | 1 => {
                    let number = 2 + self.rng.below(3);
                    self.unless(number, |writer, _| writer.fail());
                }
                2..=4 => {
                    let number = self.rng.below(2);
                    self.unless(number, |writer, label| {
                        writer.store();
                        writer.line(&format!("br label %go{label}"));
                    });
                }
                5 if may_keep_the_mutex => {
                    self.unless(3, |writer, _| writer.line("ret ptr null"));
                }
                _ => self.store(),
            }
        }
        self.line("call i32 @pthread_mutex_unlock(ptr @m)");
    }

    fn thread(&mut self, index: u32) {
        let _ = writeln!(self.text, "\ndefine ptr @t{index}(ptr %arg) {{");
        // What the thread takes from one section to the next.
        self.line("%own = alloca i32");
        self.line("store i32 0, ptr %own");
        if self.rng.below(4) == 0 {
            self.line("store atomic i32 1, ptr @z seq_cst, align 4");
        }
        let shape = self.rng.below(5);
        if shape < 2 {
            self.section(true);
        } else if shape == 2 {
            // A section that comes or does not, by what the one before it found.
            self.section(true);
            let (own, number) = (self.fresh(), self.rng.below(2));
            self.line(&format!("%v{own} = load i32, ptr %own"));
            self.unless_is(&format!("%v{own}"), number, |writer, label| {
                writer.section(false);
                writer.line(&format!("br label %go{label}"));
            });
            if self.rng.below(2) == 0 {
                self.section(false);
            }
            let own = self.fresh();
            self.line(&format!("%v{own} = load i32, ptr %own"));
            self.unless_is(&format!("%v{own}"), 3, |writer, _| writer.fail());
        } else {
            // Two rounds of one section.
            self.line("%count = alloca i32");
            self.line("store i32 0, ptr %count");
            self.line("br label %loop");
            let _ = writeln!(self.text, "loop:");
            self.section(false);
            self.line("%done = load i32, ptr %count");
            self.line("%more = add i32 %done, 1");
            self.line("store i32 %more, ptr %count");
            self.line("%again = icmp slt i32 %more, 2");
            self.line("br i1 %again, label %loop, label %out");
            let _ = writeln!(self.text, "out:");
        }
        self.text += "  ret ptr null\n}\n";
    }

    fn main(&mut self, threads: u32) {
        self.text += "\ndefine i32 @main() {\n";
        self.line("%own = alloca i32");
        self.line("store i32 0, ptr %own");
        for thread in 0..threads {
            self.line(&format!("%h{thread} = alloca i64"));
        }
        for thread in 0..threads {
            self.line(&format!(
                "call i32 @pthread_create(ptr %h{thread}, ptr null, ptr @t{thread}, ptr null)"
            ));
        }
        for thread in 0..threads {
            self.line(&format!("%j{thread} = load i64, ptr %h{thread}"));
            self.line(&format!("call i32 @pthread_join(i64 %j{thread}, ptr null)"));
        }
        self.store();
        let number = self.rng.below(6);
        self.unless(number, |writer, _| writer.fail());
        self.text += "  ret i32 0\n}\n";
    }
}

fn generate(seed: u64) -> String {
    let mut writer = Writer {
        rng: Rng::new(seed),
        text: HEAD.to_owned(),
        next: 0,
    };
    let threads = 2 + writer.rng.below(2);
    for thread in 0..threads {
        writer.thread(thread);
    }
    writer.main(threads);
    writer.text
}

/// Is there a violation? None if that takes too long to find out.
fn answer(verdict: &Verdict) -> Option<bool> {
    match verdict {
        Verdict::Verified(_) | Verdict::Inconclusive(Reason::NothingEnds { bound: None }) => {
            Some(false)
        }
        Verdict::Violation(_) => Some(true),
        Verdict::Inconclusive(_) | Verdict::Unsupported(_) => None,
    }
}

fn search(memory: MemoryModel, executions: Option<u64>) -> SearchOptions {
    SearchOptions {
        checks: Checks {
            races: false,
            ..Checks::default()
        },
        memory,
        limits: Limits {
            executions,
            ..Limits::default()
        },
        ..SearchOptions::default()
    }
}

fn by_enumeration(text: &str, memory: MemoryModel) -> Option<bool> {
    let module = raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed");
    let mut program = Interpreter::load(module, InterpOptions::default()).expect("it has a main");
    let options = search(memory, Some(MOST_EXECUTIONS));
    let engine = if memory == MemoryModel::Sc {
        EngineKind::Dpor
    } else {
        EngineKind::Naive
    };
    let outcome = raddle_search::check(&mut program, engine, options);
    answer(&outcome.expect("violations are reproduced").verdict)
}

fn by_formula(text: &str, memory: MemoryModel) -> Option<bool> {
    let parse = || raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed");
    let looked_at = InterpOptions {
        unroll: Some(1),
        ..InterpOptions::default()
    };
    let view = View::new(parse(), looked_at).expect("it has a main");
    let mut program = Interpreter::load(parse(), InterpOptions::default()).expect("it has a main");
    let options = BmcOptions {
        threads: None,
        memory,
        unroll: None,
        exit_with_main: false,
        spurious_wakeups: false,
        spurious_failures: raddle_program::interp::SpuriousFailures::None,
        any_unwritten: false,
        silent_abort: false,
        effort: None,
        may_be_large: false,
        patience: raddle_bmc::PATIENCE,
    };
    match raddle_bmc::check(view, &mut program, options, search(memory, None)) {
        Ok(outcome) => answer(&outcome.verdict),
        Err(error) => panic!("{error} under {}\n{text}", memory.name()),
    }
}

/// More of them by hand: `RADDLE_PROPTEST_CASES=2000 cargo test --release -p raddle-bmc`.
fn cases(usual: u64) -> u64 {
    let wanted = std::env::var("RADDLE_PROPTEST_CASES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn what_a_mutex_protects_has_the_values_that_executions_give() {
    let (mut violations, mut compared) = (0, 0);
    for seed in 0..cases(60) {
        let text = generate(seed);
        for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
            let Some(expected) = by_enumeration(&text, memory) else {
                continue;
            };
            let found = by_formula(&text, memory);
            let model = memory.name();
            assert_eq!(found, Some(expected), "seed {seed} under {model}\n{text}");
            compared += 1;
            violations += u32::from(expected);
        }
    }
    assert!(compared > 0 && violations > 0 && violations < compared);
}
