//! Random programs that copy and use what somebody may have written or not: heap blocks that threads hand to each other, stack variables that
//! others see, and private ones. `bmc` must find a use of what nobody has written where the enumeration of all executions does.

use raddle_bmc::BmcOptions;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_random::Random32 as Rng;
use raddle_search::driver::{Limits, SearchOptions};
use raddle_search::{Checks, EngineKind, MemoryModel, Verdict};
use std::fmt::Write;

const DECLARATIONS: &str = "\
@x = global i32 0, align 4
@p = global ptr null, align 8
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare zeroext i1 @__VERIFIER_nondet_bool()
define i32 @same(i32 %v) {
  ret i32 %v
}
";

struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
    names: u32,
}

impl Writer<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        writeln!(self.text, "  {}", line.as_ref()).expect("strings can be written");
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn value(&mut self, what: &str) -> String {
        let name = self.name();
        self.line(format!("%{name} = {what}"));
        format!("%{name}")
    }

    /// What is done only if the condition holds.
    fn only_if(&mut self, condition: &str, what: impl FnOnce(&mut Self)) {
        let (inside, out) = (self.name(), self.name());
        self.line(format!("br i1 {condition}, label %{inside}, label %{out}"));
        writeln!(self.text, "{inside}:").expect("strings can be written");
        what(self);
        self.line(format!("br label %{out}"));
        writeln!(self.text, "{out}:").expect("strings can be written");
    }

    fn choice(&mut self) -> String {
        self.value("call zeroext i1 @__VERIFIER_nondet_bool()")
    }

    /// A private variable, one of two, or a half of the larger one.
    fn variable(&mut self) -> String {
        match self.rng.below(3) {
            0 => "%a".to_owned(),
            1 => "%b".to_owned(),
            _ => self.value("getelementptr i8, ptr %b, i64 4"),
        }
    }

    /// Makes a block, full of zeros or not, and shows it to others sooner or later.
    fn publish(&mut self) {
        let block = match self.rng.below(4) {
            0 => self.value("call ptr @calloc(i64 1, i64 8)"),
            _ => self.value("call ptr @malloc(i64 8)"),
        };
        for _ in 0..self.rng.below(2) {
            self.write(&block);
        }
        self.line(format!("store atomic ptr {block}, ptr @p seq_cst, align 8"));
        for _ in 0..self.rng.below(2) {
            self.write(&block);
        }
    }

    fn write(&mut self, block: &str) {
        let offset = 4 * self.rng.below(2);
        let at = self.value(&format!("getelementptr i8, ptr {block}, i64 {offset}"));
        match self.rng.below(4) {
            0 => self.line(format!("store i64 1, ptr {block}, align 8")),
            1 => {
                let choice = self.choice();
                self.only_if(&choice, |writer| {
                    writer.line(format!("store atomic i32 1, ptr {at} release, align 4"));
                });
            }
            2 => {
                // A copy of what nobody has written counts as written.
                let value = self.value("load i32, ptr %a, align 4");
                self.line(format!(
                    "store atomic i32 {value}, ptr {at} seq_cst, align 4"
                ));
            }
            _ => self.line(format!("store atomic i32 0, ptr {at} seq_cst, align 4")),
        }
    }

    fn read(&mut self, block: &str) {
        let offset = 4 * self.rng.below(2);
        let at = self.value(&format!("getelementptr i8, ptr {block}, i64 {offset}"));
        match self.rng.below(5) {
            0 => {
                self.value(&format!("load i64, ptr {block}, align 8"));
            }
            1 => {
                self.value(&format!("atomicrmw add ptr {at}, i32 1 seq_cst"));
            }
            2 => self.line(format!(
                "call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr {block}, i64 8, i1 false)"
            )),
            3 => {
                self.value(&format!("load atomic i8, ptr {at} seq_cst, align 1"));
            }
            _ => {
                self.value(&format!("load atomic i32, ptr {at} seq_cst, align 4"));
            }
        }
    }

    /// Something with private variables.
    fn private(&mut self) {
        let (one, other) = (self.variable(), self.variable());
        match self.rng.below(8) {
            0 | 1 => self.line(format!("store i32 1, ptr {one}, align 4")),
            2 => {
                let choice = self.choice();
                self.only_if(&choice, |writer| {
                    writer.line(format!("store i32 1, ptr {one}, align 4"));
                });
            }
            3 => self.line(format!(
                "call void @llvm.memcpy.p0.p0.i64(ptr {one}, ptr {other}, i64 4, i1 false)"
            )),
            4 => {
                let value = self.value(&format!("load i32, ptr {one}, align 4"));
                let value = self.value(&format!("call i32 @same(i32 {value})"));
                self.line(format!("store i32 {value}, ptr {other}, align 4"));
            }
            5 => {
                let op = ["or", "xor", "and"][self.rng.below(3) as usize];
                let a = self.value(&format!("load i32, ptr {one}, align 4"));
                let b = self.value(&format!("load i32, ptr {other}, align 4"));
                let value = self.value(&format!("{op} i32 {a}, {b}"));
                self.line(format!("store i32 {value}, ptr {one}, align 4"));
            }
            6 => {
                let choice = self.choice();
                let a = self.value(&format!("load i32, ptr {one}, align 4"));
                let value = self.value(&format!("select i1 {choice}, i32 {a}, i32 5"));
                self.line(format!("store i32 {value}, ptr {other}, align 4"));
            }
            _ if self.rng.below(3) == 0 => {
                let value = self.value("load i64, ptr %b, align 8");
                let value = self.value(&format!("trunc i64 {value} to i32"));
                self.value(&format!("icmp eq i32 {value}, 3"));
            }
            _ => {
                let value = self.value(&format!("load i32, ptr {one}, align 4"));
                self.value(&format!("add i32 {value}, 1"));
            }
        }
    }

    fn variables(&mut self) {
        self.line("%a = alloca i32, align 4");
        self.line("%b = alloca i64, align 8");
    }

    fn thread(&mut self) {
        for _ in 0..2 + self.rng.below(3) {
            match self.rng.below(8) {
                0 | 1 => self.publish(),
                2..=4 => {
                    let block = self.value("load atomic ptr, ptr @p seq_cst, align 8");
                    let some = self.value(&format!("icmp ne ptr {block}, null"));
                    let writes = self.rng.below(3) == 0;
                    self.only_if(&some, |writer| match writes {
                        true => writer.write(&block),
                        false => writer.read(&block),
                    });
                }
                5 => self.line("store atomic i32 1, ptr @x seq_cst, align 4"),
                _ => self.private(),
            }
        }
    }
}

fn function(rng: &mut Rng, head: &str, write: impl Fn(&mut Writer<'_>)) -> String {
    let mut writer = Writer {
        rng,
        text: String::new(),
        names: 0,
    };
    write(&mut writer);
    format!("define {head} {{\n{}}}\n", writer.text)
}

fn generate(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = DECLARATIONS.to_owned();
    text += &function(&mut rng, "ptr @thread(ptr %arg)", |writer| {
        writer.variables();
        writer.thread();
        writer.line("ret ptr null");
    });
    text += &function(&mut rng, "i32 @main()", |writer| {
        writer.line("%h = alloca i64, align 8");
        writer.variables();
        if writer.rng.below(2) == 0 {
            writer.publish();
        }
        if writer.rng.below(4) == 0 {
            // Others see this variable.
            writer.line("%s = alloca i64, align 8");
            writer.line("store atomic ptr %s, ptr @p seq_cst, align 8");
        }
        writer.value("call i32 @pthread_create(ptr %h, ptr null, ptr @thread, ptr null)");
        writer.thread();
        writer.line("ret i32 0");
    });
    text
}

fn parse(text: &str) -> raddle_ir::Module {
    raddle_ir::parse_module(text.to_owned(), "random")
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// More of them by hand: `RADDLE_PROPTEST_CASES=20000 cargo test --release -p raddle-bmc --test uninit`.
fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn what_nobody_has_written_is_found_as_by_enumeration() {
    let options = InterpOptions {
        check_uninit: true,
        ..InterpOptions::default()
    };
    let (mut verified, mut violations) = (0, 0);
    let first = number("RADDLE_PROPTEST_SEED", 0);
    for seed in first..first + number("RADDLE_PROPTEST_CASES", 300) {
        let text = generate(seed);
        let memory = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso][seed as usize % 3];
        let search = || SearchOptions {
            checks: Checks {
                races: false,
                ..Checks::default()
            },
            memory,
            limits: Limits {
                executions: Some(5_000),
                ..Limits::default()
            },
            ..SearchOptions::default()
        };
        let mut program = Interpreter::load(parse(&text), options.clone()).expect("it has a main");
        let outcome = raddle_search::check(&mut program, EngineKind::Naive, search());
        let is_fine = match outcome.expect("violations are reproduced").verdict {
            Verdict::Verified(_) => true,
            Verdict::Violation(_) => false,
            _ => continue,
        };
        let looked_at = InterpOptions {
            unroll: Some(1),
            ..options.clone()
        };
        let view = View::new(parse(&text), looked_at).expect("it has a main");
        let mut program = Interpreter::load(parse(&text), options.clone()).expect("it has a main");
        let bmc = BmcOptions {
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
        let solved = raddle_bmc::check(view, &mut program, bmc, search())
            .unwrap_or_else(|error| panic!("seed {seed}, {}: {error}\n{text}", memory.name()));
        let found = match solved.verdict {
            Verdict::Verified(_) => true,
            Verdict::Violation(_) => false,
            other => panic!("seed {seed}: {other:?}\n{text}"),
        };
        assert_eq!(found, is_fine, "seed {seed}, {}\n{text}", memory.name());
        verified += u32::from(found);
        violations += u32::from(!found);
    }
    println!("{verified} verified, {violations} violations");
    assert!(verified > 0 && violations > 0);
}
