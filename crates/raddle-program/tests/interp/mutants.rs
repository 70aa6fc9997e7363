//! Programs that make no sense must not bring the interpreter down.

use crate::driver::execute;
use crate::programs::THREADS;
use raddle_ir::parse::parse_module;
use raddle_program::{InterpOptions, Interpreter};
use raddle_random::RandomIndex as Random;

/// Many kinds of instructions in one function.
const MIXED: &str = r"
%pair = type { i32, [3 x i16], ptr }
@g = global %pair { i32 3, [3 x i16] [i16 1, i16 2, i16 3], ptr @g }
@t = thread_local global i64 9
@c = constant [4 x i32] [i32 5, i32 6, i32 7, i32 8]

define i64 @callee(ptr byval(%pair) %p, i64 %n, ...) {
  %list = alloca [24 x i8]
  call void @llvm.va_start.p0(ptr %list)
  %q = getelementptr %pair, ptr %p, i64 0, i32 1, i64 %n
  %v = load i16, ptr %q
  %w = zext i16 %v to i64
  call void @llvm.va_end.p0(ptr %list)
  ret i64 %w
}

define i64 @main() {
  %a = alloca %pair, i32 2
  %b = alloca i128
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr @g, i64 16, i1 false)
  call void @llvm.memset.p0.i64(ptr @g, i8 1, i64 8, i1 false)
  store i128 18446744073709551617, ptr %b
  %w = load i128, ptr %b
  %x = trunc i128 %w to i64
  %i = and i64 %x, 2
  %r = call i64 (ptr, i64, ...) @callee(ptr byval(%pair) %a, i64 %i, i32 7, double 1.5)
  %e = getelementptr [4 x i32], ptr @c, i64 0, i64 %r
  %f = load i32, ptr %e
  %old = atomicrmw add ptr @g, i32 %f seq_cst
  %p = cmpxchg ptr @g, i32 %old, i32 2 acq_rel monotonic
  %s = extractvalue { i32, i1 } %p, 1
  %l = load i64, ptr @t
  %m = sdiv i64 %l, %i
  br i1 %s, label %yes, label %no
yes:
  %h = call ptr @malloc(i64 %m)
  store i8 1, ptr %h
  call void @free(ptr %h)
  br label %no
no:
  %z = phi i64 [ %m, %0 ], [ %r, %yes ]
  %vec = insertelement <2 x i64> zeroinitializer, i64 %z, i64 1
  %sum = call i64 @llvm.vector.reduce.add.v2i64(<2 x i64> %vec)
  %d = sitofp i64 %sum to double
  %k = fptosi double %d to i64
  switch i64 %k, label %end [ i64 1, label %loop
    i64 2, label %end ]
loop:
  br label %loop
end:
  ret i64 %k
}

declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_end.p0(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.vector.reduce.add.v2i64(<2 x i64>)
declare ptr @malloc(i64)
declare void @free(ptr)
";

/// Words that fit in many places.
const WORDS: &[&str] = &[
    "i1",
    "i8",
    "i32",
    "i64",
    "i128",
    "i129",
    "ptr",
    "float",
    "double",
    "x86_fp80",
    "0",
    "1",
    "-1",
    "64",
    "4294967296",
    "18446744073709551615",
    "null",
    "undef",
    "poison",
    "zeroinitializer",
    "<4 x i1>",
    "[0 x i8]",
    "[99999999 x i8]",
    "{}",
    "%pair",
    "@g",
    "@main",
    "%a",
    "%r",
    "add",
    "shl",
    "udiv",
    "sext",
    "bitcast",
    "inttoptr",
    "volatile",
    "atomic",
    "true",
];

fn mutated(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=random.below(2) {
        let line = random.below(lines.len());
        match random.below(8) {
            0 => {
                lines.remove(line);
            }
            1 => {
                let other = random.below(lines.len());
                lines.swap(line, other);
            }
            _ => {
                let words: Vec<&str> = lines[line].split(' ').collect();
                let word = random.below(words.len());
                let new = WORDS[random.below(WORDS.len())];
                let comma = if words[word].ends_with(',') { "," } else { "" };
                let replaced: Vec<String> = words
                    .iter()
                    .enumerate()
                    .map(|(index, old)| {
                        if index == word {
                            format!("{new}{comma}")
                        } else {
                            (*old).to_owned()
                        }
                    })
                    .collect();
                lines[line] = replaced.join(" ");
            }
        }
    }
    lines.join("\n")
}

#[test]
fn mutants_end_somehow() {
    let mut random = Random::new(0x1234_5678_9ABC_DEF1);
    let mut ran = 0;
    for round in 0..6000 {
        let base = if round % 3 == 0 { THREADS } else { MIXED };
        let text = mutated(base, &mut random);
        let Ok(module) = parse_module(text, "mutant.ll") else {
            continue;
        };
        let options = InterpOptions {
            max_private_steps: 5000,
            max_call_depth: 100,
            check_overflow: round % 2 == 0,
            unroll: (round % 5 == 0).then_some(2),
            ..InterpOptions::default()
        };
        if let Ok(program) = Interpreter::load(module, options) {
            let _ = execute(program);
            ran += 1;
        }
    }
    assert!(ran > 500, "only {ran} mutants could be run");
}
