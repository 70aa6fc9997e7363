//! One kind of instruction at a time: small functions, and what they must return.

use crate::driver::{End, run, run_with, value_of};
use raddle_program::{Fault, InterpOptions, Stop, Unsupported};

/// A `main` of these lines that returns an `i64`.
fn main_of(lines: &str) -> String {
    format!("define i64 @main() {{\n{lines}\n}}\n")
}

#[track_caller]
fn gives(lines: &str, expected: u64) {
    assert_eq!(value_of(&main_of(lines)), expected, "{lines}");
}

#[track_caller]
fn stops(lines: &str, expected: &Stop) {
    assert_eq!(
        run(&main_of(lines)).end,
        End::Stopped(expected.clone()),
        "{lines}"
    );
}

/// Hides a constant from whoever might fold it: a private variable that is written and read.
fn hidden(ty: &str, name: &str, value: &str) -> String {
    format!(
        "%{name}.p = alloca {ty}\n store {ty} {value}, ptr %{name}.p\n %{name} = load {ty}, ptr %{name}.p\n"
    )
}

#[test]
fn integers_of_all_widths() {
    let a = hidden("i8", "a", "200");
    gives(
        &format!("{a} %r = add i8 %a, 100\n %z = zext i8 %r to i64\n ret i64 %z"),
        44,
    );
    gives(
        &format!("{a} %z = sext i8 %a to i64\n ret i64 %z"),
        -56i64 as u64,
    );
    gives(
        &format!("{a} %r = ashr i8 %a, 3\n %z = zext i8 %r to i64\n ret i64 %z"),
        0xF9,
    );
    gives(
        &format!("{a} %r = sdiv i8 %a, 7\n %z = sext i8 %r to i64\n ret i64 %z"),
        -8i64 as u64,
    );
    gives(
        &format!("{a} %r = srem i8 %a, 7\n %z = sext i8 %r to i64\n ret i64 %z"),
        0,
    );
    let wide = hidden("i128", "w", "170141183460469231731687303715884105727");
    gives(
        &format!("{wide} %r = lshr i128 %w, 100\n %t = trunc i128 %r to i64\n ret i64 %t"),
        (1 << 27) - 1,
    );
    gives(
        &format!(
            "{wide} %m = mul i128 %w, 3\n %r = lshr i128 %m, 64\n %t = trunc i128 %r to i64\n ret i64 %t"
        ),
        0x7FFF_FFFF_FFFF_FFFF,
    );
    let odd = hidden("i24", "o", "-1");
    gives(
        &format!("{odd} %z = zext i24 %o to i64\n ret i64 %z"),
        0xFF_FFFF,
    );
    let bit = hidden("i1", "b", "true");
    gives(
        &format!("{bit} %z = sext i1 %b to i64\n ret i64 %z"),
        u64::MAX,
    );
}

#[test]
fn faults_of_arithmetic() {
    let zero = hidden("i32", "a", "0");
    stops(
        &format!("{zero} %r = sdiv i32 1, %a\n ret i64 0"),
        &Stop::Fault(Fault::DivisionByZero),
    );
    let min = hidden("i32", "a", "-2147483648");
    let overflow = |what: &str| {
        Stop::Fault(Fault::Overflow {
            operation: what.into(),
        })
    };
    stops(
        &format!("{min} %r = sdiv i32 %a, -1\n ret i64 0"),
        &overflow("division"),
    );
    let text = main_of(&format!(
        "{min} %r = sub nsw i32 %a, 1\n %z = zext i32 %r to i64\n ret i64 %z"
    ));
    assert_eq!(value_of(&text), 0x7FFF_FFFF);
    let options = InterpOptions {
        check_overflow: true,
        ..InterpOptions::default()
    };
    assert_eq!(
        run_with(&text, options).end,
        End::Stopped(overflow("subtraction"))
    );
}

#[test]
fn floats() {
    let a = hidden("double", "a", "2.5");
    gives(
        &format!("{a} %r = fmul double %a, 4.0\n %i = fptosi double %r to i64\n ret i64 %i"),
        10,
    );
    gives(
        &format!("{a} %r = fneg double %a\n %i = fptosi double %r to i64\n ret i64 %i"),
        -2i64 as u64,
    );
    gives(
        &format!("{a} %r = fcmp olt double %a, 3.0\n %z = zext i1 %r to i64\n ret i64 %z"),
        1,
    );
    gives(
        &format!(
            "{a} %f = fptrunc double %a to float\n %b = bitcast float %f to i32\n %z = zext i32 %b to i64\n ret i64 %z"
        ),
        u64::from(2.5f32.to_bits()),
    );
    gives(
        &format!("{a} %f = frem double %a, 1.0\n %b = bitcast double %f to i64\n ret i64 %b"),
        0.5f64.to_bits(),
    );
    gives(
        "%f = sitofp i32 -3 to double\n %b = bitcast double %f to i64\n ret i64 %b",
        (-3f64).to_bits(),
    );
}

#[test]
fn long_floats() {
    let a = hidden("x86_fp80", "a", "0xK3FFF8000000000000000");
    gives(
        &format!("{a} %b = bitcast x86_fp80 %a to i80\n %t = trunc i80 %b to i64\n ret i64 %t"),
        1 << 63,
    );
    gives(
        &format!(
            "{a} %b = fadd x86_fp80 %a, %a\n %n = fneg x86_fp80 %b\n %i = fptosi x86_fp80 %n to i64\n ret i64 %i"
        ),
        (-2i64).cast_unsigned(),
    );
    gives(
        &format!(
            "{a} %d = fptrunc x86_fp80 %a to double\n %e = fpext double %d to fp128\n %s = fdiv fp128 %e, 0xL00000000000000004000000000000000\n %f = fptrunc fp128 %s to float\n %b = bitcast float %f to i32\n %z = zext i32 %b to i64\n ret i64 %z"
        ),
        0.5f32.to_bits().into(),
    );
    gives(
        &format!(
            "{a} %u = uitofp i64 -1 to x86_fp80\n %g = fcmp ogt x86_fp80 %u, %a\n %z = zext i1 %g to i64\n ret i64 %z"
        ),
        1,
    );
    let p = hidden("ppc_fp128", "p", "0xM3FF00000000000000000000000000000");
    let end = run(&main_of(&format!(
        "{p} %b = fadd ppc_fp128 %p, %p\n %i = fptosi ppc_fp128 %b to i64\n ret i64 %i"
    )))
    .end;
    assert!(matches!(
        end,
        End::Stopped(Stop::Unsupported(Unsupported::Instruction { .. }))
    ));
}

#[test]
fn aggregates_and_vectors() {
    gives(
        "%a = insertvalue { i8, { i128, i32 } } undef, i128 5, 1, 0\n %b = insertvalue { i8, { i128, i32 } } %a, i32 9, 1, 1\n %c = extractvalue { i8, { i128, i32 } } %b, 1\n %d = extractvalue { i128, i32 } %c, 1\n %z = zext i32 %d to i64\n ret i64 %z",
        9,
    );
    gives(
        "%a = add <4 x i32> <i32 1, i32 2, i32 3, i32 4>, <i32 10, i32 20, i32 30, i32 40>\n %s = shufflevector <4 x i32> %a, <4 x i32> poison, <2 x i32> <i32 3, i32 1>\n %e = extractelement <2 x i32> %s, i64 0\n %z = zext i32 %e to i64\n ret i64 %z",
        44,
    );
    gives(
        "%c = icmp sgt <2 x i16> <i16 1, i16 -1>, zeroinitializer\n %s = select <2 x i1> %c, <2 x i16> <i16 7, i16 7>, <2 x i16> <i16 9, i16 9>\n %b = bitcast <2 x i16> %s to i32\n %z = zext i32 %b to i64\n ret i64 %z",
        0x0009_0007,
    );
    gives(
        "%i = insertelement <2 x i64> <i64 1, i64 2>, i64 7, i32 1\n %e = extractelement <2 x i64> %i, i32 1\n ret i64 %e",
        7,
    );
    gives(
        "%c = bitcast <8 x i1> <i1 1, i1 0, i1 1, i1 0, i1 0, i1 0, i1 0, i1 1> to i8\n %z = zext i8 %c to i64\n ret i64 %z",
        0x85,
    );
}

#[test]
fn control_flow() {
    gives(
        "br label %loop\nloop:\n %i = phi i64 [ 0, %0 ], [ %n, %loop ]\n %s = phi i64 [ 1, %0 ], [ %i, %loop ]\n %n = add i64 %i, 1\n %c = icmp ult i64 %n, 10\n br i1 %c, label %loop, label %done\ndone:\n %r = mul i64 %s, 100\n %q = add i64 %r, %i\n ret i64 %q",
        809,
    );
    let a = hidden("i32", "a", "5");
    gives(
        &format!(
            "{a} switch i32 %a, label %d [ i32 4, label %x\n i32 5, label %y ]\nd:\n ret i64 0\nx:\n ret i64 1\ny:\n ret i64 2"
        ),
        2,
    );
    stops("unreachable", &Stop::Fault(Fault::Unreachable));
}

#[test]
fn indirect_branches() {
    let text = "define i64 @main() {\n %t = alloca ptr\n store ptr blockaddress(@main, %two), ptr %t\n %a = load ptr, ptr %t\n indirectbr ptr %a, [label %one, label %two]\none:\n ret i64 1\ntwo:\n ret i64 2\n}";
    assert_eq!(value_of(text), 2);
}

#[test]
fn intrinsics() {
    let cases = [
        (
            "declare { i8, i1 } @llvm.sadd.with.overflow.i8(i8, i8)",
            "%r = call { i8, i1 } @llvm.sadd.with.overflow.i8(i8 100, i8 100)\n %o = extractvalue { i8, i1 } %r, 1\n %z = zext i1 %o to i64",
            1,
        ),
        (
            "declare i8 @llvm.usub.sat.i8(i8, i8)",
            "%r = call i8 @llvm.usub.sat.i8(i8 3, i8 5)\n %z = zext i8 %r to i64",
            0,
        ),
        (
            "declare i32 @llvm.ctpop.i32(i32)",
            "%r = call i32 @llvm.ctpop.i32(i32 255)\n %z = zext i32 %r to i64",
            8,
        ),
        (
            "declare i32 @llvm.ctlz.i32(i32, i1)",
            "%r = call i32 @llvm.ctlz.i32(i32 1, i1 false)\n %z = zext i32 %r to i64",
            31,
        ),
        (
            "declare i16 @llvm.bswap.i16(i16)",
            "%r = call i16 @llvm.bswap.i16(i16 258)\n %z = zext i16 %r to i64",
            513,
        ),
        (
            "declare i32 @llvm.fshl.i32(i32, i32, i32)",
            "%r = call i32 @llvm.fshl.i32(i32 1, i32 -2147483648, i32 1)\n %z = zext i32 %r to i64",
            3,
        ),
        (
            "declare i32 @llvm.smax.i32(i32, i32)",
            "%r = call i32 @llvm.smax.i32(i32 -1, i32 1)\n %z = zext i32 %r to i64",
            1,
        ),
        (
            "declare i32 @llvm.abs.i32(i32, i1)",
            "%r = call i32 @llvm.abs.i32(i32 -7, i1 false)\n %z = zext i32 %r to i64",
            7,
        ),
        (
            "declare i64 @llvm.expect.i64(i64, i64)",
            "%z = call i64 @llvm.expect.i64(i64 6, i64 1)",
            6,
        ),
        (
            "declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)",
            "%r = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> <i32 1, i32 2, i32 3, i32 4>)\n %z = zext i32 %r to i64",
            10,
        ),
        (
            "declare double @llvm.fmuladd.f64(double, double, double)",
            "%r = call double @llvm.fmuladd.f64(double 2.0, double 3.0, double 4.0)\n %z = fptosi double %r to i64",
            10,
        ),
        (
            "declare i32 @llvm.fptosi.sat.i32.f64(double)",
            "%r = call i32 @llvm.fptosi.sat.i32.f64(double 1.0e10)\n %z = zext i32 %r to i64",
            0x7FFF_FFFF,
        ),
        (
            "declare i64 @llvm.objectsize.i64.p0(ptr, i1, i1, i1)",
            "%z = call i64 @llvm.objectsize.i64.p0(ptr null, i1 false, i1 true, i1 false)",
            u64::MAX,
        ),
        (
            "declare i8 @llvm.scmp.i8.i32(i32, i32)",
            "%r = call i8 @llvm.scmp.i8.i32(i32 -5, i32 5)\n %z = zext i8 %r to i64",
            255,
        ),
    ];
    for (declaration, lines, expected) in cases {
        let text = format!("{declaration}\ndefine i64 @main() {{\n {lines}\n ret i64 %z\n}}\n");
        assert_eq!(value_of(&text), expected, "{lines}");
    }
}

#[test]
fn constants_and_initialisers() {
    let text = r#"
@text = private constant [4 x i8] c"abc\00"
@table = constant [2 x ptr] [ptr @one, ptr @two]
@record = global { i8, i32, ptr, [2 x i16] } { i8 1, i32 -2, ptr getelementptr inbounds ([4 x i8], ptr @text, i64 0, i64 1), [2 x i16] [i16 3, i16 4] }
@relative = constant [1 x i32] [i32 trunc (i64 sub (i64 ptrtoint (ptr @two to i64), i64 ptrtoint (ptr @relative to i64)) to i32)]
define i64 @one() {
  ret i64 1
}
define i64 @two() {
  ret i64 2
}
define i64 @main() {
  %f = load ptr, ptr getelementptr ([2 x ptr], ptr @table, i64 0, i64 1)
  %a = call i64 %f()
  %p = load ptr, ptr getelementptr ({ i8, i32, ptr, [2 x i16] }, ptr @record, i64 0, i32 2)
  %c = load i8, ptr %p
  %b = zext i8 %c to i64
  %h = load i16, ptr getelementptr ({ i8, i32, ptr, [2 x i16] }, ptr @record, i64 0, i32 3, i64 1)
  %d = zext i16 %h to i64
  %s = shl i64 %a, 32
  %t = shl i64 %b, 16
  %u = or i64 %s, %t
  %v = or i64 %u, %d
  ret i64 %v
}
"#;
    assert_eq!(value_of(text), 2 << 32 | u64::from(b'b') << 16 | 4);
}

#[test]
fn atomics_on_private_and_shared_memory_agree() {
    let body = "
  store i32 10, ptr %p
  %a = atomicrmw add ptr %p, i32 5 seq_cst
  %b = atomicrmw umax ptr %p, i32 12 monotonic
  %c = atomicrmw xchg ptr %p, i32 40 acq_rel
  %pair = cmpxchg ptr %p, i32 40, i32 41 seq_cst seq_cst
  %d = extractvalue { i32, i1 } %pair, 0
  %ok = extractvalue { i32, i1 } %pair, 1
  %pair2 = cmpxchg weak ptr %p, i32 40, i32 99 release monotonic
  %ok2 = extractvalue { i32, i1 } %pair2, 1
  %e = load atomic i32, ptr %p acquire, align 4
  fence seq_cst
  %z1 = zext i1 %ok to i32
  %z2 = zext i1 %ok2 to i32
  %s1 = add i32 %a, %b
  %s2 = add i32 %s1, %c
  %s3 = add i32 %s2, %d
  %s4 = add i32 %s3, %e
  %m1 = mul i32 %z1, 1000
  %m2 = mul i32 %z2, 10000
  %s5 = add i32 %s4, %m1
  %s6 = add i32 %s5, %m2
  ret i32 %s6
";
    let expected = 10 + 15 + 15 + 40 + 41 + 1000;
    let private = format!("define i32 @main() {{\n %p = alloca i32\n{body}}}");
    let shared = format!(
        "@g = global i32 0\ndefine i32 @main() {{\n %p = getelementptr i8, ptr @g, i64 0\n{body}}}"
    );
    assert_eq!(value_of(&private), expected);
    assert_eq!(value_of(&shared), expected);
}

#[test]
fn atomics_of_sixteen_bytes_are_blocks() {
    let text = "@g = global i128 1, align 16\ndefine i64 @main() {
  store atomic i128 36893488147419103237, ptr @g seq_cst, align 16
  %p = cmpxchg ptr @g, i128 36893488147419103237, i128 7 seq_cst seq_cst
  %ok = extractvalue { i128, i1 } %p, 1
  %old = atomicrmw add ptr @g, i128 18446744073709551616 seq_cst
  %v = load atomic i128, ptr @g seq_cst, align 16
  %h = lshr i128 %v, 64
  %x = trunc i128 %h to i64
  %y = trunc i128 %v to i64
  %z = zext i1 %ok to i64
  %a = mul i64 %x, 100
  %b = mul i64 %y, 10
  %c = add i64 %a, %b
  %d = add i64 %c, %z
  ret i64 %d\n}";
    let done = run(text);
    assert_eq!(done.end, End::Finished(171));
    let begins = done
        .trace
        .iter()
        .filter(|(_, op)| *op == raddle_program::Op::AtomicBegin);
    assert_eq!(begins.count(), 4);
}

#[test]
fn inline_assembly() {
    gives(
        "call void asm sideeffect \"\", \"~{memory}\"()\n ret i64 0",
        0,
    );
    gives("%r = call i64 asm \"\", \"=r,0\"(i64 9)\n ret i64 %r", 9);
    let fenced = run(&main_of(
        "call void asm sideeffect \"mfence\", \"~{memory}\"()\n ret i64 0",
    ));
    assert_eq!(fenced.trace.len(), 1);
    let end = run(&main_of(
        "call void asm sideeffect \"hlt\", \"\"()\n ret i64 0",
    ))
    .end;
    assert!(matches!(
        end,
        End::Stopped(Stop::Unsupported(Unsupported::InlineAsm { .. }))
    ));
}

#[test]
fn accesses_are_checked() {
    let fault = |lines: &str| match run(&main_of(lines)).end {
        End::Stopped(Stop::Fault(fault)) => fault,
        other => panic!("{lines}: {other:?}"),
    };
    assert!(matches!(
        fault("%v = load i32, ptr null\n ret i64 0"),
        Fault::NullDereference { .. }
    ));
    assert!(matches!(
        fault("store i8 0, ptr inttoptr (i64 81985529216486895 to ptr)\n ret i64 0"),
        Fault::WildPointer { .. }
    ));
    assert!(matches!(
        fault("store i8 0, ptr @main\n ret i64 0"),
        Fault::WildPointer { .. }
    ));
    assert!(matches!(
        fault(
            "%a = alloca [4 x i32]\n %i = alloca i64\n store i64 4, ptr %i\n %n = load i64, ptr %i\n %p = getelementptr [4 x i32], ptr %a, i64 0, i64 %n\n store i32 1, ptr %p\n ret i64 0"
        ),
        Fault::OutOfBounds {
            offset: 16,
            size: 4,
            ..
        }
    ));
    let text = "@c = constant i32 1\ndefine i64 @main() {\n store i32 2, ptr @c\n ret i64 0\n}";
    assert!(matches!(
        run(text).end,
        End::Stopped(Stop::Fault(Fault::WriteToConstant { .. }))
    ));
}
