//! Random programs that compute with floating-point numbers of every format. They choose one of 256 numbers, infinities, NaNs
//! and numbers below the normal ones among them: few enough to try them all, too many for tables in the formula. `bmc` must
//! say what the enumeration of all executions says.

use raddle_bmc::BmcOptions;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_random::Random32 as Rng;
use raddle_search::driver::{Limits, SearchOptions};
use raddle_search::{Checks, EngineKind, MemoryModel, Verdict};
use std::fmt::Write;

/// Programs with more executions are left out.
const MOST_EXECUTIONS: u64 = 30_000;

/// A format: its name, that in names of functions, bits, and bits of the fraction.
type Format = (&'static str, &'static str, u32, u32);

const FORMATS: [Format; 4] = [
    ("half", "f16", 16, 10),
    ("bfloat", "bf16", 16, 7),
    ("float", "f32", 32, 23),
    ("double", "f64", 64, 52),
];

const UNARY: [&str; 7] = ["fabs", "sqrt", "floor", "ceil", "trunc", "round", "rint"];
const BINARY: [&str; 5] = ["minnum", "maxnum", "minimum", "maximum", "copysign"];
const TERNARY: [&str; 2] = ["fma", "fmuladd"];
const OPERATORS: [&str; 5] = ["fadd", "fsub", "fmul", "fdiv", "frem"];
const PREDICATES: [&str; 14] = [
    "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
    "uno",
];

struct Writer {
    rng: Rng,
    text: String,
    next: u32,
    format: Format,
}

impl Writer {
    /// A line that gives a value a name, which is returned.
    fn value(&mut self, what: &str) -> String {
        self.next += 1;
        let name = format!("%v{}", self.next);
        let _ = writeln!(self.text, "  {name} = {what}");
        name
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.below(list.len() as u32) as usize]
    }

    /// Any number: mostly near one, or at one of the ends.
    fn constant(&mut self) -> String {
        let (ty, _, bits, fraction) = self.format;
        let random = self.rng.next_u64();
        let exponent_bits = bits - 1 - fraction;
        let one = ((1 << (exponent_bits - 1)) - 1) << fraction;
        let top = ((1 << exponent_bits) - 1) << fraction;
        let magnitude = match self.rng.below(6) {
            0 => random & 3,
            1 => top + (random & 1) * 5,
            2 => top - 1 - (random & 1),
            3 => one + ((random & 7) << (fraction - 2)),
            _ => one - (2 << fraction) + (random >> 20) % (8 << fraction),
        };
        let number = magnitude | (random >> 63) << (bits - 1);
        self.value(&format!("bitcast i{bits} {} to {ty}", number.cast_signed()))
    }

    /// The number that the program chooses.
    fn chosen(&mut self) -> String {
        let (ty, _, bits, fraction) = self.format;
        let byte = self.value("call i8 @__VERIFIER_nondet_uchar()");
        if self.rng.below(3) == 0 {
            return self.value(&format!("sitofp i8 {byte} to {ty}"));
        }
        // Among the sign and the exponent, between exponent and fraction, or the last bits.
        let shift = self.pick(&[bits - 8, fraction - 4, 0]);
        let wide = self.value(&format!("zext i8 {byte} to i{bits}"));
        let moved = self.value(&format!("shl i{bits} {wide}, {shift}"));
        let rest = self.constant();
        let rest = self.value(&format!("bitcast {ty} {rest} to i{bits}"));
        let hole = self.value(&format!("and i{bits} {rest}, {}", !(255_i64 << shift)));
        let word = self.value(&format!("or i{bits} {hole}, {moved}"));
        self.value(&format!("bitcast i{bits} {word} to {ty}"))
    }

    fn operand(&mut self, known: &[String]) -> String {
        if self.rng.below(3) == 0 {
            return self.constant();
        }
        let at = self.rng.below(known.len() as u32) as usize;
        known[at].clone()
    }

    fn call(&mut self, name: &str, args: &[String]) -> String {
        let (ty, suffix, ..) = self.format;
        let args: Vec<String> = args.iter().map(|arg| format!("{ty} {arg}")).collect();
        self.value(&format!(
            "call {ty} @llvm.{name}.{suffix}({})",
            args.join(", ")
        ))
    }

    /// Something computed of what is known.
    fn computed(&mut self, known: &[String]) -> String {
        let (ty, suffix, bits, _) = self.format;
        let (a, b) = (self.operand(known), self.operand(known));
        match self.rng.below(10) {
            0..=3 => {
                let op = self.pick(&OPERATORS[..if bits == 64 { 4 } else { 5 }]);
                self.value(&format!("{op} {ty} {a}, {b}"))
            }
            4 => {
                let name = self.pick(&UNARY);
                self.call(name, &[a])
            }
            5 => {
                let name = self.pick(&BINARY);
                self.call(name, &[a, b])
            }
            6 => {
                let (name, c) = (self.pick(&TERNARY), self.operand(known));
                self.call(name, &[a, b, c])
            }
            7 => {
                let (other, _, width, _) = self.pick(&FORMATS);
                let (there, back) = match width.cmp(&bits) {
                    std::cmp::Ordering::Less => ("fptrunc", "fpext"),
                    std::cmp::Ordering::Greater => ("fpext", "fptrunc"),
                    std::cmp::Ordering::Equal => return self.value(&format!("fneg {ty} {a}")),
                };
                let moved = self.value(&format!("{there} {ty} {a} to {other}"));
                self.value(&format!("{back} {other} {moved} to {ty}"))
            }
            8 => {
                let width = self.pick(&[8, 32, 64]);
                let sign = self.pick(&["s", "u"]);
                let whole = match self.rng.below(2) {
                    0 => self.value(&format!("fpto{sign}i {ty} {a} to i{width}")),
                    _ => self.value(&format!(
                        "call i{width} @llvm.fpto{sign}i.sat.i{width}.{suffix}({ty} {a})"
                    )),
                };
                self.value(&format!("{sign}itofp i{width} {whole} to {ty}"))
            }
            _ => {
                let predicate = self.pick(&PREDICATES);
                let holds = self.value(&format!("fcmp {predicate} {ty} {a}, {b}"));
                self.value(&format!("select i1 {holds}, {ty} {a}, {ty} {b}"))
            }
        }
    }

    /// Reads a variable, computes something and writes it to one.
    fn step(&mut self) {
        let (ty, _, bits, _) = self.format;
        let (from, to) = (self.pick(&["@x", "@y"]), self.pick(&["@x", "@y"]));
        if bits >= 32 && self.rng.below(4) == 0 {
            let (op, operand) = (
                self.pick(&["fadd", "fsub", "fmax", "fmin"]),
                self.constant(),
            );
            self.value(&format!("atomicrmw {op} ptr {to}, {ty} {operand} seq_cst"));
            return;
        }
        let mut known = vec![self.value(&format!("load {ty}, ptr {from}"))];
        for _ in 0..=self.rng.below(2) {
            let next = self.computed(&known);
            known.push(next);
        }
        let last = known[known.len() - 1].clone();
        let _ = writeln!(self.text, "  store {ty} {last}, ptr {to}");
    }

    /// A condition on a variable.
    fn condition(&mut self) -> String {
        let (ty, suffix, bits, _) = self.format;
        let place = self.pick(&["@x", "@y"]);
        let seen = self.value(&format!("load {ty}, ptr {place}"));
        match self.rng.below(3) {
            0 => {
                let (predicate, limit) = (self.pick(&PREDICATES), self.constant());
                self.value(&format!("fcmp {predicate} {ty} {seen}, {limit}"))
            }
            1 => {
                let classes = self.rng.below(1 << 10);
                self.value(&format!(
                    "call i1 @llvm.is.fpclass.{suffix}({ty} {seen}, i32 {classes})"
                ))
            }
            // Its very bits, a few of them.
            _ => {
                let (shift, wanted) = (self.rng.below(bits - 8), self.rng.below(32));
                let word = self.value(&format!("bitcast {ty} {seen} to i{bits}"));
                let moved = self.value(&format!("lshr i{bits} {word}, {shift}"));
                let some = self.value(&format!("and i{bits} {moved}, 31"));
                self.value(&format!("icmp ne i{bits} {some}, {wanted}"))
            }
        }
    }
}

fn generate(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let format = FORMATS[rng.below(4) as usize];
    let mut writer = Writer {
        rng,
        text: String::new(),
        next: 0,
        format,
    };
    let ty = format.0;
    writer.text += "define ptr @thread(ptr %unused) {\n";
    writer.step();
    writer.text += "  ret ptr null\n}\ndefine i32 @main() {\n  %t = alloca i64\n";
    let chosen = writer.chosen();
    let _ = writeln!(writer.text, "  store {ty} {chosen}, ptr @x");
    writer.text += "  call i32 @pthread_create(ptr %t, ptr null, ptr @thread, ptr null)\n";
    writer.step();
    writer.text += "  %h = load i64, ptr %t\n  call i32 @pthread_join(i64 %h, ptr null)\n";
    let condition = writer.condition();
    let _ = write!(
        writer.text,
        "  br i1 {condition}, label %good, label %bad\n\
         good:\n  ret i32 0\n\
         bad:\n  call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)\n  unreachable\n}}\n"
    );
    format!("{}{}", head(format), writer.text)
}

fn head((ty, suffix, ..): Format) -> String {
    let zero = match ty {
        "half" => "0xH0000",
        "bfloat" => "0xR0000",
        _ => "0.0",
    };
    let mut text = format!(
        "@x = global {ty} {zero}\n@y = global {ty} {zero}\n\
         @text = private constant [2 x i8] c\"c\\00\"\n\
         declare i8 @__VERIFIER_nondet_uchar()\n\
         declare i32 @pthread_create(ptr, ptr, ptr, ptr)\n\
         declare i32 @pthread_join(i64, ptr)\n\
         declare void @__assert_fail(ptr, ptr, i32, ptr)\n\
         declare i1 @llvm.is.fpclass.{suffix}({ty}, i32)\n"
    );
    let functions = UNARY.iter().map(|name| (name, 1));
    let functions = functions.chain(BINARY.iter().map(|name| (name, 2)));
    for (name, count) in functions.chain(TERNARY.iter().map(|name| (name, 3))) {
        let args = vec![ty; count].join(", ");
        let _ = writeln!(text, "declare {ty} @llvm.{name}.{suffix}({args})");
    }
    for width in [8, 32, 64] {
        for sign in ["s", "u"] {
            let _ = writeln!(
                text,
                "declare i{width} @llvm.fpto{sign}i.sat.i{width}.{suffix}({ty})"
            );
        }
    }
    text
}

const CHECKS: Checks = Checks {
    assertions: true,
    memory: true,
    races: false,
    deadlocks: true,
    livelocks: false,
    overflows: false,
    uninit: false,
    only_error_calls: false,
};

fn by_enumeration(text: &str) -> Verdict {
    let module = raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed");
    let mut program = Interpreter::load(module, InterpOptions::default()).expect("it has a main");
    let options = SearchOptions {
        checks: CHECKS,
        limits: Limits {
            executions: Some(MOST_EXECUTIONS),
            ..Limits::default()
        },
        ..SearchOptions::default()
    };
    let outcome = raddle_search::check(&mut program, EngineKind::Naive, options);
    outcome.expect("violations are reproduced").verdict
}

fn by_formula(text: &str) -> Verdict {
    let parse = || raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed");
    let looked_at = InterpOptions {
        unroll: Some(1),
        ..InterpOptions::default()
    };
    let view = View::new(parse(), looked_at).expect("it has a main");
    let replayed = InterpOptions {
        wide_choices: true,
        ..InterpOptions::default()
    };
    let mut program = Interpreter::load(parse(), replayed).expect("it has a main");
    let options = BmcOptions {
        threads: None,
        memory: MemoryModel::Sc,
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
    let search = SearchOptions {
        checks: CHECKS,
        ..SearchOptions::default()
    };
    match raddle_bmc::check(view, &mut program, options, search) {
        Ok(outcome) => outcome.verdict,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// More of them by hand: `RADDLE_PROPTEST_CASES=2000 cargo test --release -p raddle-bmc`.
fn cases() -> u64 {
    let wanted = std::env::var("RADDLE_PROPTEST_CASES").ok();
    wanted.and_then(|count| count.parse().ok()).unwrap_or(60)
}

#[test]
fn floats_are_computed_as_the_interpreter_does() {
    let (mut violations, mut verified) = (0, 0);
    for seed in 0..cases() {
        let text = generate(seed);
        let found = by_formula(&text);
        match (by_enumeration(&text), &found) {
            (Verdict::Verified(_), Verdict::Verified(_)) => verified += 1,
            (Verdict::Violation(_), Verdict::Violation(_)) => violations += 1,
            (Verdict::Inconclusive(_), _) => {}
            (expected, _) => panic!("seed {seed}: {found:?} instead of {expected:?}\n{text}"),
        }
    }
    assert!(
        violations > 10 && verified > 10,
        "{violations} and {verified}"
    );
}
