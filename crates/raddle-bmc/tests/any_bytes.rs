//! Random programs that depend on memory which nobody has written: heap blocks, stack variables that others see or not, parts of them, copies.
//! `bmc` with any value must say what the enumeration of all executions says with all values, one program for each.
//!
//! Programs look at the lowest bit of each byte only, so two values of a byte are enough.

use raddle_bmc::BmcOptions;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_program::{FirstBytes, Made, Program, Seen, ThreadName};
use raddle_random::Random32 as Rng;
use raddle_search::driver::{Limits, SearchOptions};
use raddle_search::{Checks, EngineKind, MemoryModel, Verdict};
use std::fmt::Write;

const DECLARATIONS: &str = "\
@p = global ptr null, align 8
@x = global i8 0, align 1
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare void @reach_error()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare zeroext i1 @__VERIFIER_nondet_bool()
define i8 @fresh() {
  %own = alloca i8, align 1
  %found = load i8, ptr %own, align 1
  ret i8 %found
}
";

/// Values of so many bytes are enumerated.
const MOST_BYTES: usize = 6;

/// How many blocks and shared variables of two bytes a thread makes at most, and how many private variables.
#[derive(Clone, Default)]
struct Makes {
    shared: u32,
    private: u32,
}

struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
    names: u32,
    makes: Makes,
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

    fn only_if(&mut self, condition: &str, what: impl FnOnce(&mut Self)) {
        let (inside, out) = (self.name(), self.name());
        self.line(format!("br i1 {condition}, label %{inside}, label %{out}"));
        writeln!(self.text, "{inside}:").expect("strings can be written");
        what(self);
        self.line(format!("br label %{out}"));
        writeln!(self.text, "{out}:").expect("strings can be written");
    }

    /// A byte of the private variable, of a block that somebody has published, or of the private copy.
    fn place(&mut self, base: &str) -> String {
        let offset = self.rng.below(2);
        self.value(&format!("getelementptr i8, ptr {base}, i64 {offset}"))
    }

    /// Takes what was found into account.
    fn add(&mut self, found: &str) {
        let bit = self.value(&format!("and i8 {found}, 1"));
        let sum = self.value("load i8, ptr %sum, align 1");
        let sum = match self.rng.below(3) {
            0 => self.value(&format!("xor i8 {sum}, {bit}")),
            1 => {
                let twice = self.value(&format!("shl i8 {sum}, 1"));
                self.value(&format!("or i8 {twice}, {bit}"))
            }
            _ => self.value(&format!("add i8 {sum}, {bit}")),
        };
        self.line(format!("store i8 {sum}, ptr %sum, align 1"));
    }

    fn block(&mut self) {
        let is_zeroed = self.rng.below(4) == 0;
        let block = match is_zeroed {
            true => self.value("call ptr @calloc(i64 1, i64 2)"),
            false => self.value("call ptr @malloc(i64 2)"),
        };
        // What is full of zeros is given nothing; but another path may have another block in its place.
        self.makes.shared += 1;
        if self.rng.below(2) == 0 {
            let at = self.place(&block);
            self.line(format!("store atomic i8 1, ptr {at} seq_cst, align 1"));
        }
        self.line(format!("store atomic ptr {block}, ptr @p seq_cst, align 8"));
    }

    fn use_block(&mut self, block: &str) {
        let at = self.place(block);
        match self.rng.below(6) {
            0 => self.line(format!("store atomic i8 0, ptr {at} seq_cst, align 1")),
            1 => self.line(format!(
                "call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr {block}, i64 2, i1 false)"
            )),
            2 => {
                let found = self.value(&format!("atomicrmw add ptr {at}, i8 1 seq_cst"));
                self.add(&found);
            }
            3 => {
                let both = self.value(&format!("load atomic i16, ptr {block} seq_cst, align 2"));
                let high = self.value(&format!("lshr i16 {both}, 8"));
                let high = self.value(&format!("trunc i16 {high} to i8"));
                self.add(&high);
            }
            _ => {
                let found = self.value(&format!("load atomic i8, ptr {at} seq_cst, align 1"));
                self.add(&found);
            }
        }
    }

    fn private(&mut self) {
        let base = ["%a", "%b"][self.rng.below(2) as usize];
        let at = self.place(base);
        match self.rng.below(5) {
            0 => self.line(format!("store i8 1, ptr {at}, align 1")),
            1 => {
                self.line("call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %a, i64 2, i1 false)");
            }
            2 if self.makes.private < 5 => {
                let found = self.value("call i8 @fresh()");
                self.makes.private += 1;
                self.add(&found);
            }
            _ => {
                let found = self.value(&format!("load i8, ptr {at}, align 1"));
                self.add(&found);
            }
        }
    }

    fn thread(&mut self) {
        self.line("%a = alloca i16, align 2");
        self.line("%b = alloca i16, align 2");
        self.line("%sum = alloca i8, align 1");
        self.makes.private += 3;
        self.line("store i16 0, ptr %b, align 2");
        self.line("store i8 0, ptr %sum, align 1");
        for _ in 0..2 + self.rng.below(3) {
            match self.rng.below(6) {
                0 if self.rng.below(2) == 0 => {
                    let choice = self.value("call zeroext i1 @__VERIFIER_nondet_bool()");
                    self.only_if(&choice, Self::block);
                }
                0 => self.block(),
                1..=3 => {
                    let block = self.value("load atomic ptr, ptr @p seq_cst, align 8");
                    let some = self.value(&format!("icmp ne ptr {block}, null"));
                    self.only_if(&some, |writer| writer.use_block(&block));
                }
                4 => {
                    let found = self.value("load atomic i8, ptr @x seq_cst, align 1");
                    self.add(&found);
                }
                _ => self.private(),
            }
        }
        let sum = self.value("load i8, ptr %sum, align 1");
        match self.rng.below(3) {
            0 => self.line(format!("store atomic i8 {sum}, ptr @x seq_cst, align 1")),
            _ => {
                let bad = 1 + self.rng.below(5);
                let is_bad = self.value(&format!("icmp eq i8 {sum}, {bad}"));
                self.only_if(&is_bad, |writer| writer.line("call void @reach_error()"));
            }
        }
    }
}

/// A program, and what its threads make.
fn generate(seed: u64) -> (String, [Makes; 2]) {
    let mut rng = Rng::new(seed);
    let mut text = DECLARATIONS.to_owned();
    let mut function = |rng: &mut Rng, head: &str, write: &dyn Fn(&mut Writer<'_>)| {
        let mut writer = Writer {
            rng,
            text: String::new(),
            names: 0,
            makes: Makes::default(),
        };
        write(&mut writer);
        let _ = write!(text, "define {head} {{\n{}}}\n", writer.text);
        writer.makes
    };
    let child = function(&mut rng, "ptr @thread(ptr %arg)", &|writer| {
        writer.thread();
        writer.line("ret ptr null");
    });
    let main = function(&mut rng, "i32 @main()", &|writer| {
        writer.line("%h = alloca i64, align 8");
        writer.makes.private += 1;
        match writer.rng.below(3) {
            0 => writer.block(),
            1 => {
                writer.line("%s = alloca i16, align 2");
                writer.makes.shared += 1;
                writer.line("store atomic ptr %s, ptr @p seq_cst, align 8");
            }
            _ => {}
        }
        writer.value("call i32 @pthread_create(ptr %h, ptr null, ptr @thread, ptr null)");
        writer.thread();
        writer.line("ret i32 0");
    });
    (text, [main, child])
}

/// Two bytes each of all that the threads make.
fn all_bytes(makes: &[Makes; 2]) -> Vec<(Made, u64)> {
    let mut bytes = Vec::new();
    let names = [ThreadName::default(), ThreadName::default().child(1)];
    for (makes, name) in makes.iter().zip(&names) {
        for (seen, count) in [
            (Seen::ByOthers, makes.shared),
            (Seen::Privately, makes.private),
        ] {
            for counter in 1..=count {
                let thread = name.clone();
                let made = Made {
                    thread,
                    seen,
                    counter,
                };
                bytes.extend((0..2).map(|offset| (made.clone(), offset)));
            }
        }
    }
    bytes
}

fn with_bytes(text: &str, bytes: &[(Made, u64)], values: u64) -> Program {
    let mut first = FirstBytes::default();
    for (at, (made, offset)) in bytes.iter().enumerate() {
        first.insert(made.clone(), *offset, (values >> at & 1) as u8);
    }
    let options = InterpOptions::default();
    let mut program = Interpreter::load(parse(text), options).expect("it has a main");
    program.assume_first_bytes(first);
    program
}

/// The bytes that may matter. Private variables that are written first do not, and which of the others are left in memory is for the program to
/// know.
fn bytes_that_matter(
    text: &str,
    makes: &[Makes; 2],
    memory: MemoryModel,
) -> Option<Vec<(Made, u64)>> {
    let mut program = with_bytes(text, &all_bytes(makes), u64::MAX);
    let mut options = search(memory);
    options.keep_going = true;
    let outcome = raddle_search::check(&mut program, EngineKind::Naive, options);
    let outcome = outcome.expect("violations are reproduced");
    let is_whole = matches!(
        outcome.verdict,
        Verdict::Verified(_) | Verdict::Violation(_)
    );
    let given = program
        .tables()
        .given()
        .filter(|(made, given)| made.seen == Seen::ByOthers || matches!(&*given.name, "a" | "own"));
    let bytes = given.flat_map(|(made, given)| {
        let offsets = given.bytes.iter().map(|&(offset, _)| offset);
        offsets.map(|offset| (made.clone(), offset))
    });
    is_whole.then(|| bytes.collect())
}

fn parse(text: &str) -> raddle_ir::Module {
    raddle_ir::parse_module(text.to_owned(), "random")
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn search(memory: MemoryModel) -> SearchOptions {
    SearchOptions {
        checks: Checks {
            races: false,
            uninit: false,
            ..Checks::default()
        },
        memory,
        limits: Limits {
            executions: Some(3_000),
            ..Limits::default()
        },
        ..SearchOptions::default()
    }
}

/// Is nothing wrong, whatever the bytes are? None if there are too many executions.
fn is_fine_with_all(text: &str, bytes: &[(Made, u64)], memory: MemoryModel) -> Option<bool> {
    for values in 0..1 << bytes.len() {
        let mut program = with_bytes(text, bytes, values);
        let outcome = raddle_search::check(&mut program, EngineKind::Naive, search(memory));
        match outcome.expect("violations are reproduced").verdict {
            Verdict::Verified(_) => {}
            Verdict::Violation(_) => return Some(false),
            _ => return None,
        }
    }
    Some(true)
}

fn is_fine_by_formula(text: &str, memory: MemoryModel) -> Verdict {
    let looked_at = InterpOptions {
        unroll: Some(1),
        keeps_unwritten: true,
        ..InterpOptions::default()
    };
    let view = View::new(parse(text), looked_at).expect("it has a main");
    let mut program =
        Interpreter::load(parse(text), InterpOptions::default()).expect("it has a main");
    let bmc = BmcOptions {
        threads: None,
        memory,
        unroll: None,
        exit_with_main: false,
        spurious_wakeups: false,
        spurious_failures: raddle_program::interp::SpuriousFailures::None,
        any_unwritten: true,
        silent_abort: false,
        effort: None,
        may_be_large: false,
        patience: raddle_bmc::PATIENCE,
    };
    let solved = raddle_bmc::check(view, &mut program, bmc, search(memory));
    solved
        .unwrap_or_else(|error| panic!("{}: {error}\n{text}", memory.name()))
        .verdict
}

/// More of them by hand: `RADDLE_PROPTEST_CASES=20000 cargo test --release -p raddle-bmc --test any_bytes`.
fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn any_value_is_every_value() {
    let (mut verified, mut violations) = (0, 0);
    let first = number("RADDLE_PROPTEST_SEED", 0);
    for seed in first..first + number("RADDLE_PROPTEST_CASES", 150) {
        let (text, makes) = generate(seed);
        let memory = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso][seed as usize % 3];
        let Some(bytes) = bytes_that_matter(&text, &makes, memory) else {
            continue;
        };
        if bytes.len() > MOST_BYTES {
            continue;
        }
        let Some(is_fine) = is_fine_with_all(&text, &bytes, memory) else {
            continue;
        };
        let found = match is_fine_by_formula(&text, memory) {
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
