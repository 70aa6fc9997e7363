//! Random programs that need several bounds, where what cannot be encoded lies on some paths only: addresses that a
//! thread makes unknown late, in rounds that the first bounds do not come to. Sizes of blocks and mutexes become unknown as well, and blocks
//! are accessed where they may end; threads are started and joined on several ways. What `bmc` verifies must be fine in the enumeration of
//! all executions, and with a bound that is asked for both must cover the same.
//!
//! An assumption, or a test, ends each loop after a few rounds, so that there is an end to the enumeration; a nondeterministic value
//! may end it before.

use raddle_bmc::{BmcOptions, Conflicts, PATIENCE, Workers};
use raddle_program::Program;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_random::Random32 as Rng;
use raddle_search::driver::{Limits, Reductions, SearchOptions};
use raddle_search::{Bound, Checks, EngineKind, MemoryModel, Outcome, Reason, Verdict};
use std::fmt::Write;
use std::sync::Arc;

/// Programs with more executions are left out.
const MOST_EXECUTIONS: u64 = 3_000;

const DECLARATIONS: &str = "\
@x = global i32 0, align 4
@y = global i32 0, align 4
@d = global i32 0, align 4
@n = global i64 4, align 8
@a = global [4 x i32] zeroinitializer, align 16
@p = global ptr @a, align 8
@m0 = global [10 x i32] zeroinitializer, align 8
@m1 = global [10 x i32] zeroinitializer, align 8
@q = global ptr @m0, align 8
@mm = global [2 x [10 x i32]] zeroinitializer, align 8
@b = global ptr null, align 8
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare void @qsort(ptr, i64, i64, ptr)
declare zeroext i1 @__VERIFIER_nondet_bool()
declare void @__VERIFIER_assume(i32)
declare void @reach_error()
";

/// A function that is written.
struct Writer<'a> {
    rng: &'a mut Rng,
    /// Rounds of each loop, at most.
    rounds: u32,
    /// What becomes unknown mostly: a size, an address, a mutex.
    kind: u32,
    /// Do all threads begin with what is refused then?
    is_fragile: bool,
    text: String,
    block: String,
    names: u32,
    /// Are loops allowed, or calls of functions that have some?
    depth: u32,
}

impl Writer<'_> {
    fn name(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what}{}", self.names)
    }

    fn line(&mut self, line: impl AsRef<str>) {
        writeln!(self.text, "  {}", line.as_ref()).expect("strings can be written");
    }

    fn begin(&mut self, block: &str) {
        writeln!(self.text, "{block}:").expect("strings can be written");
        self.block = block.to_owned();
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.below(100) < percent
    }

    fn pick<'b>(&mut self, from: &[&'b str]) -> &'b str {
        from[self.rng.below(from.len() as u32) as usize]
    }

    fn kind(&mut self) -> u32 {
        if self.chance(80) {
            self.kind
        } else {
            self.rng.below(3)
        }
    }

    /// A number of rounds, mostly one that the first bound does not come to.
    fn some_rounds(&mut self) -> u32 {
        if self.chance(75) {
            2 + self.rng.below(self.rounds - 1)
        } else {
            self.rng.below(self.rounds + 1)
        }
    }

    fn value(&mut self, what: &str) -> String {
        let value = self.name("%v");
        self.line(format!("{value} = {what}"));
        value
    }

    /// Goes on in a new block; to `target` if the condition holds.
    fn jump_if(&mut self, condition: &str, target: &str) {
        let next = self.name("b");
        self.line(format!("br i1 {condition}, label %{target}, label %{next}"));
        self.begin(&next);
    }

    fn choice(&mut self) -> String {
        self.value("call zeroext i1 @__VERIFIER_nondet_bool()")
    }

    fn load(&mut self) -> String {
        let (from, order) = (self.pick(&["@x", "@y"]), self.pick(&["seq_cst", "acquire"]));
        self.value(&format!("load atomic i32, ptr {from} {order}, align 4"))
    }

    fn assume(&mut self, condition: &str) {
        let wide = self.value(&format!("zext i1 {condition} to i32"));
        self.line(format!("call void @__VERIFIER_assume(i32 {wide})"));
    }

    /// An error, if `counter` has come to a number and memory says so.
    fn wrong_if(&mut self, counter: &str) {
        let number = self.some_rounds();
        let mut condition = self.value(&format!("icmp eq i32 {counter}, {number}"));
        if self.chance(60) {
            let found = self.load();
            let number = self.rng.below(2);
            let found = self.value(&format!("icmp eq i32 {found}, {number}"));
            condition = self.value(&format!("and i1 {condition}, {found}"));
        }
        let (bad, next) = (self.name("bad"), self.name("b"));
        self.line(format!("br i1 {condition}, label %{bad}, label %{next}"));
        self.begin(&bad);
        self.line("call void @reach_error()");
        self.line("unreachable");
        self.begin(&next);
    }

    /// A loop that ends by chance, or after some rounds; what it counted.
    fn looping(&mut self) -> String {
        let [header, latch, out] = ["loop", "latch", "out"].map(|what| self.name(what));
        let [i, next] = ["%i", "%n"].map(|what| self.name(what));
        let before = self.block.clone();
        self.line(format!("br label %{header}"));
        self.begin(&header);
        self.line(format!(
            "{i} = phi i32 [ 0, %{before} ], [ {next}, %{latch} ]"
        ));
        let few = self.value(&format!("icmp slt i32 {i}, {}", self.rounds));
        if self.chance(60) {
            self.assume(&few);
        } else {
            let more = self.value(&format!("xor i1 {few}, true"));
            self.jump_if(&more, &out);
        }
        let ends = match self.rng.below(4) {
            0 => {
                let found = self.load();
                self.value(&format!("icmp eq i32 {found}, 1"))
            }
            _ => self.choice(),
        };
        self.jump_if(&ends, &out);
        match self.rng.below(6) {
            0..=2 => self.statement(),
            3 => {
                // Later blocks have other numbers.
                self.value("call ptr @malloc(i64 4)");
                self.line("store atomic i32 1, ptr @x seq_cst, align 4");
            }
            _ => {}
        }
        self.line(format!("br label %{latch}"));
        self.begin(&latch);
        self.line(format!("{next} = add nsw i32 {i}, 1"));
        self.line(format!("br label %{header}"));
        self.begin(&out);
        i
    }

    /// Something that is done only if a counter says so.
    fn only_if(&mut self, counter: &str, what: impl Fn(&mut Self)) {
        let out = self.name("out");
        let number = self.some_rounds();
        let other = self.value(&format!("icmp ne i32 {counter}, {number}"));
        self.jump_if(&other, &out);
        what(self);
        self.line(format!("br label %{out}"));
        self.begin(&out);
    }

    /// What is known of sizes and addresses up to here is known no more: `bmc` refuses what depends on them.
    fn blur(&mut self) {
        match self.kind() {
            0 => self.line("store atomic i64 8, ptr @n seq_cst, align 8"),
            1 => {
                let bit = self.choice();
                let bit = self.value(&format!("zext i1 {bit} to i64"));
                let bit = self.value(&format!("shl i64 {bit}, 2"));
                let address = self.value(&format!("xor i64 {bit}, ptrtoint (ptr @a to i64)"));
                let address = self.value(&format!("inttoptr i64 {address} to ptr"));
                self.line(format!(
                    "store atomic ptr {address}, ptr @p seq_cst, align 8"
                ));
            }
            _ => self.line("store atomic ptr @m1, ptr @q seq_cst, align 8"),
        }
    }

    /// What is refused if the size or the address is not known.
    fn fragile(&mut self) {
        match self.kind() {
            0 => {
                let size = self.value("load atomic i64, ptr @n seq_cst, align 8");
                self.value(&format!("call ptr @malloc(i64 {size})"));
            }
            1 => {
                let address = self.value("load atomic ptr, ptr @p seq_cst, align 8");
                self.line(format!(
                    "store atomic i32 1, ptr {address} seq_cst, align 4"
                ));
            }
            _ => {
                let mutex = self.value("load atomic ptr, ptr @q seq_cst, align 8");
                self.value(&format!("call i32 @pthread_mutex_lock(ptr {mutex})"));
                if self.chance(80) {
                    self.value(&format!("call i32 @pthread_mutex_unlock(ptr {mutex})"));
                }
            }
        }
    }

    /// A number that is not known, where somebody counts up.
    fn number(&mut self) -> String {
        let number = self.load();
        let number = self.value(&format!("zext i32 {number} to i64"));
        if self.chance(50) {
            return number;
        }
        let twice = self.value(&format!("shl i64 {number}, 1"));
        self.value(&format!("add i64 {twice}, 1"))
    }

    /// A block of a size that is not known, and an access to it that may be too far.
    fn sized(&mut self) {
        let size = self.number();
        let room = self.rng.below(2);
        let more = self.value(&format!("add i64 {size}, {room}"));
        let mut block = match self.rng.below(3) {
            0 => self.value(&format!("call ptr @calloc(i64 {more}, i64 2)")),
            _ => self.value(&format!("call ptr @malloc(i64 {more})")),
        };
        if self.chance(25) {
            let size = self.number();
            let size = self.value(&format!("add i64 {size}, 1"));
            block = self.value(&format!("call ptr @realloc(ptr {block}, i64 {size})"));
        }
        if self.chance(70) {
            let index = match self.rng.below(3) {
                0 => "0".to_owned(),
                1 => size,
                _ => {
                    let other = self.number();
                    self.value(&format!("and i64 {other}, 1"))
                }
            };
            let at = self.value(&format!("getelementptr i8, ptr {block}, i64 {index}"));
            self.line(format!("store i8 1, ptr {at}, align 1"));
        }
        match self.rng.below(3) {
            0 => self.line(format!("store atomic ptr {block}, ptr @b seq_cst, align 8")),
            1 => self.line(format!("call void @free(ptr {block})")),
            _ => {}
        }
    }

    /// An access to a block that another thread has made.
    fn others_block(&mut self) {
        let out = self.name("out");
        let block = self.value("load atomic ptr, ptr @b seq_cst, align 8");
        let none = self.value(&format!("icmp eq ptr {block}, null"));
        self.jump_if(&none, &out);
        let index = self.rng.below(2);
        let at = self.value(&format!("getelementptr i8, ptr {block}, i64 {index}"));
        self.line(format!("store atomic i8 1, ptr {at} seq_cst, align 1"));
        self.line(format!("br label %{out}"));
        self.begin(&out);
    }

    /// A mutex that is found at an index.
    fn locked(&mut self) {
        let index = self.number();
        let index = self.value(&format!("and i64 {index}, 1"));
        let mutex = self.value(&format!("getelementptr [10 x i32], ptr @mm, i64 {index}"));
        self.value(&format!("call i32 @pthread_mutex_lock(ptr {mutex})"));
        if self.chance(50) {
            self.line("store i32 1, ptr @d, align 4");
        }
        if self.chance(90) {
            self.value(&format!("call i32 @pthread_mutex_unlock(ptr {mutex})"));
        }
    }

    fn statement(&mut self) {
        let flag = self.pick(&["@x", "@y"]);
        let number = self.rng.below(2);
        match self.rng.below(13) {
            10 => self.sized(),
            11 => self.others_block(),
            12 => self.locked(),
            0..=2 => self.line(format!(
                "store atomic i32 {number}, ptr {flag} seq_cst, align 4"
            )),
            3 => {
                self.value(&format!("atomicrmw add ptr {flag}, i32 1 seq_cst"));
            }
            4 => {
                self.value("call ptr @malloc(i64 4)");
            }
            5 => self.line(format!("store i32 {number}, ptr @d, align 4")),
            6 | 7 if self.depth > 0 => self.nested(),
            6 => self.blur(),
            _ => self.fragile(),
        }
    }

    /// A loop in a function that a library function calls, with a block of memory.
    fn called_back(&mut self) {
        let block = self.value("call ptr @malloc(i64 8)");
        self.line(format!(
            "call void @qsort(ptr {block}, i64 2, i64 4, ptr @compare)"
        ));
    }

    /// A loop, in this function or in another one.
    fn nested(&mut self) {
        self.depth -= 1;
        match self.rng.below(4) {
            0 => self.called_back(),
            1 => {
                self.value("call i32 @count(i32 0)");
            }
            _ => {
                self.counted();
            }
        }
        self.depth += 1;
    }

    /// A loop, and what becomes of it.
    fn counted(&mut self) {
        let counter = self.looping();
        if self.chance(40) {
            self.only_if(&counter, Self::blur);
        }
        if self.chance(60) {
            self.wrong_if(&counter);
        }
    }

    /// One of several ways to start the thread.
    fn started(&mut self, start: &str, out: &str) {
        self.value(start);
        if self.chance(50) {
            let handle = self.value("load i64, ptr %h, align 8");
            self.value(&format!("call i32 @pthread_join(i64 {handle}, ptr null)"));
        }
        if self.chance(30) {
            let found = self.load();
            self.wrong_if(&found);
        }
        self.line(format!("br label %{out}"));
    }

    fn thread(&mut self) {
        if !self.is_fragile && self.chance(50) {
            self.statement();
        }
        if self.is_fragile || self.chance(20) {
            self.fragile();
        }
        if self.chance(80) {
            self.counted();
        }
        if self.chance(25) {
            self.called_back();
        }
        for _ in 0..self.rng.below(2) {
            self.statement();
        }
    }
}

fn function(
    rng: &mut Rng,
    (rounds, kind, is_fragile): (u32, u32, bool),
    head: &str,
    write: impl Fn(&mut Writer<'_>),
) -> String {
    let mut writer = Writer {
        rng,
        rounds,
        kind,
        is_fragile,
        text: String::new(),
        block: String::new(),
        names: 0,
        depth: 0,
    };
    writer.begin("entry");
    write(&mut writer);
    format!("define {head} {{\n{}}}\n", writer.text)
}

fn generate(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let shape = (2 + rng.below(3), rng.below(3), rng.below(3) == 0);
    let mut text = DECLARATIONS.to_owned();
    let compare = "i32 @compare(ptr %a, ptr %b)";
    text += &function(&mut rng, shape, compare, |writer| {
        writer.counted();
        writer.line("ret i32 0");
    });
    // Calls itself by chance.
    let count = "i32 @count(i32 %k)";
    text += &function(&mut rng, shape, count, |writer| {
        let few = writer.value(&format!("icmp slt i32 %k, {}", writer.rounds));
        writer.assume(&few);
        let ends = writer.choice();
        writer.jump_if(&ends, "out");
        if writer.chance(50) {
            writer.only_if("%k", Writer::blur);
        }
        let more = writer.value("add i32 %k, 1");
        writer.value(&format!("call i32 @count(i32 {more})"));
        if writer.chance(50) {
            writer.wrong_if("%k");
        }
        writer.line("br label %out");
        writer.begin("out");
        writer.line("ret i32 0");
    });
    text += &function(&mut rng, shape, "ptr @thread(ptr %a)", |writer| {
        writer.depth = 1;
        writer.thread();
        writer.line("ret ptr null");
    });
    text += &function(&mut rng, shape, "i32 @main()", |writer| {
        writer.depth = 1;
        writer.line("%h = alloca i64, align 8");
        if writer.chance(15) {
            writer.statement();
        }
        let start = "call i32 @pthread_create(ptr %h, ptr null, ptr @thread, ptr null)";
        if writer.chance(25) {
            let counter = writer.looping();
            writer.only_if(&counter, |writer| {
                writer.value(start);
            });
        } else if writer.chance(25) {
            let (arm, out) = (writer.name("arm"), writer.name("out"));
            let choice = writer.choice();
            writer.jump_if(&choice, &arm);
            writer.started(start, &out);
            writer.begin(&arm);
            writer.started(start, &out);
            writer.begin(&out);
        } else {
            writer.value(start);
        }
        writer.thread();
        writer.line("ret i32 0");
    });
    text
}

// ---- the two engines

fn parse(text: &str) -> raddle_ir::Module {
    raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed")
}

fn search(memory: MemoryModel, checks: Checks, purity: bool) -> SearchOptions {
    SearchOptions {
        checks,
        memory,
        limits: Limits {
            executions: Some(MOST_EXECUTIONS),
            ..Limits::default()
        },
        reductions: Reductions {
            purity,
            ..Reductions::default()
        },
        ..SearchOptions::default()
    }
}

fn by_enumeration(text: &str, unroll: Option<u32>, search: SearchOptions) -> Outcome {
    let options = InterpOptions {
        unroll,
        ..InterpOptions::default()
    };
    let mut program = Interpreter::load(parse(text), options).expect("it has a main");
    let outcome = raddle_search::check(&mut program, EngineKind::Naive, search);
    outcome.expect("violations are reproduced")
}

fn made(text: &str) -> (View, Program) {
    let looked_at = InterpOptions {
        unroll: Some(1),
        ..InterpOptions::default()
    };
    let view = View::new(parse(text), looked_at).expect("it has a main");
    let program = Interpreter::load(parse(text), InterpOptions::default());
    (view, program.expect("it has a main"))
}

fn by_formula(
    text: &str,
    unroll: Option<u32>,
    patience: Conflicts,
    search: SearchOptions,
) -> Outcome {
    by_workers(text, unroll, patience, search, None).0
}

/// With so many workers, if any are to have views of their own.
fn by_workers(
    text: &str,
    unroll: Option<u32>,
    patience: Conflicts,
    search: SearchOptions,
    jobs: Option<usize>,
) -> (Outcome, Program) {
    let (view, mut program) = made(text);
    let options = BmcOptions {
        threads: None,
        memory: search.memory,
        unroll,
        exit_with_main: false,
        spurious_wakeups: false,
        spurious_failures: raddle_program::interp::SpuriousFailures::None,
        any_unwritten: false,
        silent_abort: false,
        effort: None,
        may_be_large: false,
        patience,
    };
    let workers = jobs.map(|jobs| {
        let text = text.to_owned();
        let again = Arc::new(move || Some(made(&text)));
        Workers { again, jobs }
    });
    let outcome = raddle_bmc::check_with(view, &mut program, options, search, workers, None)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    (outcome, program)
}

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// More of them by hand: `RADDLE_PROPTEST_CASES=20000 cargo test --release -p raddle-bmc --test bounds`.
fn seeds(usual: u64) -> std::ops::Range<u64> {
    let first = number("RADDLE_PROPTEST_SEED", 0);
    first..first + number("RADDLE_PROPTEST_CASES", usual)
}

/// The memory model and the checks differ from program to program.
fn circumstances(seed: u64) -> (MemoryModel, Checks) {
    let models = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso];
    let memory = if seed.is_multiple_of(4) {
        models[seed as usize / 4 % 3]
    } else {
        MemoryModel::Sc
    };
    let checks = Checks {
        races: seed.is_multiple_of(3),
        ..Checks::default()
    };
    (memory, checks)
}

#[test]
fn bounds_cover_every_execution() {
    let (mut violations, mut verified, mut refused) = (0, 0, 0);
    for seed in seeds(300) {
        let text = generate(seed);
        let (memory, checks) = circumstances(seed);
        let outcome = by_enumeration(&text, None, search(memory, checks, true));
        let is_fine = match outcome.verdict {
            Verdict::Verified(_) | Verdict::Inconclusive(Reason::NothingEnds { bound: None }) => {
                true
            }
            Verdict::Violation(_) => false,
            _ => continue,
        };
        // Without patience, formulas in which every loop is bounded come first wherever there is anything to search for.
        let patience = if seed.is_multiple_of(2) { PATIENCE } else { 0 };
        let jobs = (seed % 4 < 3).then_some(1 + seed as usize % 3);
        let search = search(memory, checks, true);
        let (solved, _) = by_workers(&text, None, patience, search, jobs);
        let found = match solved.verdict {
            Verdict::Verified(Bound::Complete)
            | Verdict::Inconclusive(Reason::NothingEnds { bound: None }) => true,
            Verdict::Violation(_) => false,
            Verdict::Unsupported(_) => {
                refused += 1;
                continue;
            }
            other => panic!("seed {seed}: {other:?}\n{text}"),
        };
        assert_eq!(found, is_fine, "seed {seed}, {}\n{text}", memory.name());
        verified += u32::from(found);
        violations += u32::from(!found);
        if found {
            let ended = [solved, outcome].map(|outcome| outcome.coverage.ended);
            assert_eq!(ended[0], ended[1], "seed {seed}\n{text}");
        }
    }
    println!("{verified} verified, {violations} violations, {refused} refused");
    assert!(verified > 0 && violations > 0 && refused > 0);
    assert!(refused < (verified + violations) * 2);
}

/// What an answer with a bound covers.
#[derive(Debug, PartialEq, Eq)]
enum Covered {
    Everything,
    UpToTheBound,
    NothingEnds,
    Violation,
}

/// None if the engine has no answer.
fn covered(outcome: &Outcome) -> Option<Covered> {
    Some(match &outcome.verdict {
        Verdict::Violation(_) => Covered::Violation,
        Verdict::Verified(Bound::Complete) => Covered::Everything,
        Verdict::Verified(Bound::UpTo { .. }) => Covered::UpToTheBound,
        Verdict::Inconclusive(Reason::NothingEnds { .. }) => Covered::NothingEnds,
        Verdict::Inconclusive(_) | Verdict::Unsupported(_) => return None,
    })
}

#[test]
fn a_bound_means_the_same_to_both() {
    let mut met = Vec::new();
    for seed in seeds(150) {
        let text = generate(seed);
        let (memory, checks) = circumstances(seed);
        for bound in 1..4 {
            let options = || search(memory, checks, false);
            let Some(expected) = covered(&by_enumeration(&text, Some(bound), options())) else {
                continue;
            };
            let solved = by_formula(&text, Some(bound), PATIENCE, options());
            let Some(found) = covered(&solved) else {
                continue;
            };
            assert_eq!(found, expected, "seed {seed}, bound {bound}\n{text}");
            if !met.contains(&found) {
                met.push(found);
            }
        }
    }
    assert_eq!(met.len(), 4, "{met:?}");
}

/// All that an answer says but for times, in names that mean the same in every program.
fn told((outcome, program): &(Outcome, Program)) -> String {
    let tables = program.tables();
    let place = |at| tables.source_loc(at).map(|loc| (loc.line, loc.column));
    let verdict = match &outcome.verdict {
        Verdict::Violation(found) => {
            let found = found.iter();
            let all = found.map(|it| (place(it.at), it.schedule.named(tables)));
            format!("{:?}", all.collect::<Vec<_>>())
        }
        Verdict::Unsupported(all) => {
            let all = all.iter().map(|it| (&it.what, place(it.at)));
            format!("{:?}", all.collect::<Vec<_>>())
        }
        other => format!("{other:?}"),
    };
    let (counted, coverage) = (&outcome.statistics, &outcome.coverage);
    let cuts: Vec<_> = coverage.cuts.iter().map(|&at| place(at)).collect();
    format!(
        "{verdict} {} blocked, {} threads, {} events, {} states, {:?} ended, cut {cuts:?}, {:?}",
        counted.blocked,
        counted.threads,
        counted.max_events,
        counted.states,
        coverage.ended,
        (
            coverage.weak.user.map(place),
            coverage.weak.library.map(place)
        ),
    )
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_workers() {
    let (mut violations, mut verified) = (0, 0);
    for seed in seeds(150) {
        let text = generate(seed);
        let (memory, checks) = circumstances(seed);
        // The two sides take turns wherever there is anything to search for.
        let with = |jobs| by_workers(&text, None, 0, search(memory, checks, true), Some(jobs));
        let one = with(1);
        for jobs in [2, 8] {
            assert_eq!(
                told(&with(jobs)),
                told(&one),
                "seed {seed}, {jobs} workers\n{text}"
            );
        }
        violations += u32::from(matches!(one.0.verdict, Verdict::Violation(_)));
        verified += u32::from(matches!(one.0.verdict, Verdict::Verified(_)));
    }
    assert!(violations > 0 && verified > 0);
}
