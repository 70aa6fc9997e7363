//! The pipeline on text as compilers write it.

use super::*;
use crate::ids::BlockId;
use crate::inst::InstKind;
use crate::parse_module;
use crate::passes::print::print_body;
use crate::passes::testing::check::check_ssa;
use crate::passes::testing::count;
use std::collections::HashMap;

#[derive(Default)]
struct Prepared(HashMap<FuncId, Body>);

impl BodyProvider for Prepared {
    fn body(&mut self, module: &mut Module, function: FuncId) -> Option<&Body> {
        if module.function(function).is_declaration {
            return None;
        }
        Some(self.0.entry(function).or_insert_with(|| {
            let body = module.parse_body(function).expect("a body");
            let body = prepare(module, body);
            check_ssa(&body);
            body
        }))
    }
}

/// The lines of the prepared body of `@name`, without comments.
fn prepared(text: &str, name: &str) -> Vec<String> {
    let mut module = parse_module(text, "test").expect("a module");
    let function = module.function_named(name).expect("a function");
    let mut bodies = Prepared::default();
    let body = bodies
        .body(&mut module, function)
        .expect("a definition")
        .clone();
    let lines = print_body(&module, &body);
    let lines = lines.lines().map(|line| match line.split_once(" ;") {
        Some((code, _)) => code.to_string(),
        None => line.trim_start().to_string(),
    });
    lines.collect()
}

/// clang 14 to 19, -O0: `while (old) if (atomic_compare_exchange_strong(&top, &old, old->next)) return old->v;`
#[test]
fn a_lock_free_pop() {
    let text = r"
%struct.node = type { i32, ptr }
@top = global i64 0, align 8

define i32 @pop() {
  %1 = alloca i32, align 4
  %2 = alloca ptr, align 8
  %3 = alloca ptr, align 8
  %4 = alloca i8, align 1
  %5 = load atomic i64, ptr @top acquire, align 8
  store i64 %5, ptr %2, align 8
  br label %6
6:
  %7 = load ptr, ptr %2, align 8
  %8 = icmp ne ptr %7, null
  br i1 %8, label %9, label %27
9:
  %10 = load ptr, ptr %2, align 8
  %11 = getelementptr inbounds %struct.node, ptr %10, i32 0, i32 1
  %12 = load ptr, ptr %11, align 8
  store ptr %12, ptr %3, align 8
  %13 = load i64, ptr %2, align 8
  %14 = load i64, ptr %3, align 8
  %15 = cmpxchg ptr @top, i64 %13, i64 %14 seq_cst seq_cst, align 8
  %16 = extractvalue { i64, i1 } %15, 0
  %17 = extractvalue { i64, i1 } %15, 1
  br i1 %17, label %19, label %18
18:
  store i64 %16, ptr %2, align 8
  br label %19
19:
  %20 = zext i1 %17 to i8
  store i8 %20, ptr %4, align 1
  %21 = load i8, ptr %4, align 1
  %22 = trunc i8 %21 to i1
  br i1 %22, label %23, label %6
23:
  %24 = load ptr, ptr %2, align 8
  %25 = getelementptr inbounds %struct.node, ptr %24, i32 0, i32 0
  %26 = load i32, ptr %25, align 8
  store i32 %26, ptr %1, align 4
  br label %28
27:
  store i32 -1, ptr %1, align 4
  br label %28
28:
  %29 = load i32, ptr %1, align 4
  ret i32 %29
}
";
    assert_eq!(
        prepared(text, "pop"),
        [
            "()",
            "bb0:",
            "%0 = load i64, @top acquire",
            "%1 = inttoptr i64 %0 to ptr",
            "br bb1",
            "bb1:",
            "%2 = phi ptr [ %1, bb0 ], [ %12, bb4 ]",
            "%3 = icmp ne ptr %2, null",
            "br %3, bb2, bb6",
            "bb2:",
            "%4 = getelementptr inbounds %struct.node, %2, i32 0, i32 1",
            "%5 = load ptr, %4",
            "%6 = ptrtoint ptr %2 to i64",
            "%7 = ptrtoint ptr %5 to i64",
            "%8 = cmpxchg @top, i64 %6, %7 seqcst seqcst",
            "%9 = extractvalue { i64, i1 } %8, 0",
            "%10 = extractvalue { i64, i1 } %8, 1",
            "br %10, bb4, bb3",
            "bb3:",
            "%11 = inttoptr i64 %9 to ptr",
            "br bb4",
            "bb4:",
            "%12 = phi ptr [ %2, bb2 ], [ %11, bb3 ]",
            "%13 = zext i1 %10 to i8",
            "%14 = trunc i8 %13 to i1",
            "br %14, bb5, bb1",
            "bb5:",
            "%15 = getelementptr inbounds %struct.node, %12, i32 0, i32 0",
            "%16 = load i32, %15",
            "br bb7",
            "bb6:",
            "br bb7",
            "bb7:",
            "%17 = phi i32 [ %16, bb5 ], [ -1, bb6 ]",
            "ret i32 %17",
        ]
    );
}

/// rustc describes variables by their bytes alone, and moves them by `memcpy`.
#[test]
fn variables_of_raw_bytes() {
    let text = r"
define i64 @f(i64 %a, i64 %b) {
start:
  %pair = alloca [16 x i8], align 8
  %moved = alloca [16 x i8], align 8
  store i64 %a, ptr %pair, align 8
  %0 = getelementptr inbounds i8, ptr %pair, i64 8
  store i64 %b, ptr %0, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %moved, ptr align 8 %pair, i64 16, i1 false)
  %1 = load i64, ptr %moved, align 8
  %2 = getelementptr inbounds i8, ptr %moved, i64 8
  %3 = load i64, ptr %2, align 8
  %4 = add i64 %1, %3
  ret i64 %4
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
";
    assert_eq!(
        prepared(text, "f"),
        [
            "(i64 %a, i64 %b)",
            "bb0:",
            "%2 = add i64 %a, %b",
            "ret i64 %2"
        ]
    );
}

/// A result of `invoke` that is stored in the normal successor and read after the two ways have met.
#[test]
fn results_of_invoke() {
    let text = r"
define i32 @f() personality ptr @p {
  %x = alloca i32
  store i32 7, ptr %x
  %r = invoke i32 @g() to label %normal unwind label %caught
normal:
  store i32 %r, ptr %x
  br label %end
caught:
  %e = landingpad { ptr, i32 } cleanup
  br label %end
end:
  %y = load i32, ptr %x
  ret i32 %y
}
declare i32 @g()
declare i32 @p(...)
";
    let lines = prepared(text, "f");
    assert!(
        lines
            .iter()
            .any(|line| line.contains("= phi i32 [ %r, bb1 ], [ 7, bb2 ]")),
        "{lines:#?}"
    );
}

/// Two cases to one block are one predecessor, in new φ-nodes as in old ones.
#[test]
fn repeated_edges() {
    let text = r"
define i32 @f(i32 %n) {
  %x = alloca i32
  store i32 1, ptr %x
  switch i32 %n, label %other [ i32 1, label %join
                                i32 2, label %join ]
other:
  store i32 2, ptr %x
  br label %join
join:
  %p = phi i32 [ 10, %0 ], [ 10, %0 ], [ 20, %other ]
  %y = load i32, ptr %x
  %z = add i32 %p, %y
  ret i32 %z
}
";
    let lines = prepared(text, "f");
    let phi = lines.iter().find(|line| line.contains("x.phi"));
    let phi = phi.expect("a phi of x");
    assert!(phi.ends_with("= phi i32 [ 1, bb0 ], [ 2, bb1 ]"), "{phi}");
}

/// A local passed down two calls and incremented there is private; one given to a thread is not.
#[test]
fn private_across_calls() {
    let text = r"
define void @bump(ptr %p) {
  %p.addr = alloca ptr
  store ptr %p, ptr %p.addr
  %1 = load ptr, ptr %p.addr
  %2 = load i32, ptr %1
  %3 = add i32 %2, 1
  store i32 %3, ptr %1
  ret void
}
define void @twice(ptr %p) {
  call void @bump(ptr %p)
  call void @bump(ptr %p)
  ret void
}
define i32 @main() {
  %mine = alloca i32
  %shared = alloca i32
  %t = alloca i64
  call void @twice(ptr %mine)
  call void @twice(ptr %shared)
  %1 = call i32 @pthread_create(ptr %t, ptr null, ptr @thread, ptr %shared)
  %2 = load i32, ptr %mine
  ret i32 %2
}
define ptr @thread(ptr %arg) {
  call void @bump(ptr %arg)
  ret ptr null
}
declare i32 @pthread_create(ptr, ptr, ptr, ptr nocapture)
";
    let mut module = parse_module(text, "test").expect("a module");
    let main = module.function_named("main").expect("main");
    let mut bodies = Prepared::default();
    let oracle = |name: &str, index: usize| name == "pthread_create" && index < 3;
    let info = Escapes::new(&oracle).analyse(&mut module, &mut bodies, main);
    let body = bodies.body(&mut module, main).expect("a body");
    let names: Vec<_> = info
        .private
        .iter()
        .map(|value| body.value_names[value].as_deref().expect("a name"))
        .collect();
    assert_eq!(names, ["mine", "t"]);
}

/// Names given with `-g` reach the values; the address is gone with the variable.
#[test]
fn debug_names_survive() {
    let text = r#"
define i32 @f(i32 %n) !dbg !4 {
  %x = alloca i32
  call void @llvm.dbg.declare(metadata ptr %x, metadata !8, metadata !DIExpression()), !dbg !9
  store i32 %n, ptr %x
  %y = load i32, ptr %x
  ret i32 %y
}
declare void @llvm.dbg.declare(metadata, metadata, metadata)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !5, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!7 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!8 = !DILocalVariable(name: "x", scope: !4, file: !1, line: 2, type: !7)
!9 = !DILocation(line: 2, column: 3, scope: !4)
"#;
    let mut module = parse_module(text, "test").expect("a module");
    let function = module.function_named("f").expect("f");
    let mut bodies = Prepared::default();
    let body = bodies.body(&mut module, function).expect("a body");
    assert_eq!(body.variables.len(), 1);
    let (value, variable) = &body.variables[0];
    assert_eq!((value.0, &*variable.name), (0, "x"));
    assert!(!variable.is_address);
    assert_eq!(count(body, |kind| matches!(kind, InstKind::Call(_))), 0);
    let cfg = Cfg::new(body);
    assert_eq!(cfg.reverse_postorder(), [BlockId(0)]);
}
