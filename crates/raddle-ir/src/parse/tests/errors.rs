use super::error;
use crate::{ParseErrorKind, parse_module};

#[test]
fn messages_say_where() {
    assert_eq!(
        error("\n\n@x = global foo 5"),
        "t.ll:3:13: expected a type, found 'foo'"
    );
    assert_eq!(
        error("define void @f() {\n  frob i32 1\n}"),
        "t.ll:2:3: expected an instruction, found 'frob'"
    );
    assert_eq!(
        error("@x = global i32 \"a"),
        "t.ll:1:17: string without end"
    );
    assert_eq!(
        error("define void @f() {\n  ret void\n"),
        "t.ll:1:18: bracket without its closing bracket"
    );
    assert_eq!(
        error("hello"),
        "t.ll:1:1: expected a top-level entity, found 'hello'"
    );
    assert_eq!(
        error("@x = global i32 ?"),
        "t.ll:1:17: unexpected character '?'"
    );
    assert_eq!(
        error("@ä = global i32 0"),
        "t.ll:1:1: expected a name, found nothing"
    );
    let error = parse_module("x", "dir/prog.ll").expect_err("no module");
    assert_eq!((error.line, error.column), (1, 1));
    assert!(matches!(error.kind, ParseErrorKind::Expected { .. }));
}

#[test]
fn everything_used_must_be_defined() {
    let body = |line: &str| {
        error(&format!(
            "define i32 @f(i32 %a) {{\n  {line}\n  ret i32 0\n}}"
        ))
    };
    assert_eq!(
        body("%x = add i32 %a, %nope"),
        "t.ll:2:20: undefined value '%nope'"
    );
    assert_eq!(
        body("%x = add i32 %a, %7"),
        "t.ll:2:20: undefined value '%7'"
    );
    assert_eq!(
        body("%x = load i32, ptr @nope"),
        "t.ll:2:22: undefined symbol '@nope'"
    );
    assert_eq!(
        body("%x = alloca %nope"),
        "t.ll:2:15: undefined type '%nope'"
    );
    assert_eq!(
        error("@g = global %nope zeroinitializer"),
        "t.ll:1:13: undefined type '%nope'"
    );
    assert_eq!(
        error("@g = global ptr @nope"),
        "t.ll:1:17: undefined symbol '@nope'"
    );
}

#[test]
fn everything_is_defined_once() {
    assert_eq!(
        error("@g = global i32 0\n@g = global i32 1"),
        "t.ll:2:1: symbol '@g' is defined twice"
    );
    assert_eq!(
        error("declare void @g()\n@g = alias i32, ptr @g"),
        "t.ll:2:1: symbol '@g' is defined twice"
    );
    assert_eq!(
        error("%t = type {}\n%t = type {}"),
        "t.ll:2:1: type '%t' is defined twice"
    );
    let body = |lines: &str| {
        error(&format!(
            "define void @f(i32 %a) {{\n{lines}\n  ret void\n}}"
        ))
    };
    assert_eq!(
        body("  %a = add i32 1, 2"),
        "t.ll:2:3: value '%a' is defined twice"
    );
    assert_eq!(
        body("  %1 = add i32 1, 2\n  %1 = add i32 1, 2"),
        "t.ll:3:3: number '%1' is defined twice"
    );
}

#[test]
fn values_keep_their_type() {
    let body = |lines: &str| {
        error(&format!(
            "define void @f(i32 %a, ptr %p) {{\n{lines}\n  ret void\n}}"
        ))
    };
    assert_eq!(
        body("  %x = add i64 %a, 1"),
        "t.ll:2:16: '%a' has type i32 but is used as i64"
    );
    assert_eq!(
        body("  %x = add i32 %later, 1\n  %later = add i64 1, 1"),
        "t.ll:3:3: '%later' has type i32 but is used as i64"
    );
    for line in [
        "%x = add ptr %p, %p",
        "%x = fadd i32 %a, %a",
        "%x = load i32, i32 %a",
        "br i32 %a, label %b, label %b",
        "%x = icmp eq { i32 } zeroinitializer, zeroinitializer",
        "%x = fcmp oeq i32 %a, %a",
        "%x = select i32 %a, i32 %a, i32 %a",
        "%x = extractvalue i32 %a, 0",
        "%x = extractvalue { i32 } undef, 1",
        "%x = extractvalue [2 x i32] undef, 2",
        "%x = insertvalue { i32 } undef, i64 0, 0",
        "%x = getelementptr i32, i32 %a, i64 0",
        "%x = getelementptr { i32 }, ptr %p, i64 0, i32 %a",
        "%x = getelementptr { i32 }, ptr %p, i64 0, i32 1",
        "%x = getelementptr i32, ptr %p, ptr %p",
        "%x = trunc ptr %p to i32",
        "%x = alloca i32, ptr %p",
        "%x = alloca void",
        "%x = cmpxchg ptr %p, float 1.0, float 2.0 seq_cst seq_cst",
        "%x = atomicrmw add ptr %p, { i32 } undef seq_cst",
        "%x = atomicrmw frob ptr %p, i32 1 seq_cst",
        "%x = load atomic i32, ptr %p, align 4",
        "%x = load i32, ptr %p, align 3",
        "%x = extractelement i32 %a, i32 0",
        "%x = shufflevector <2 x i32> undef, <2 x i32> undef, <2 x i64> undef",
        "switch ptr %p, label %b []",
        "switch i32 %a, label %b [ i64 0, label %b ]",
        "%x = call void (i32) @f(i64 0)",
        "call void (i32, ...) @f()",
        "%x = call void @f(i32 0, ptr null)",
        "store void undef, ptr %p",
    ] {
        let message = body(&format!("  {line}"));
        assert!(message.starts_with("t.ll:2:"), "{line}: {message}");
    }
}

#[test]
fn types_that_contain_themselves_are_refused() {
    assert_eq!(
        error("\n%a = type { i32, %b }\n%b = type { [2 x %a] }"),
        "t.ll:2:1: the type '%a' contains itself"
    );
    assert_eq!(
        error("%a = type { %a }"),
        "t.ll:1:1: the type '%a' contains itself"
    );
}

#[test]
fn aliases_of_themselves_are_refused() {
    let message = error("@a = alias i32, ptr @b\n@b = alias i32, ptr @a");
    assert!(message.contains("stands for itself"), "{message}");
}

#[test]
fn nesting_is_bounded() {
    let deep =
        |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    assert!(
        error(&format!("@g = external global {}", deep("{", "}"))).ends_with("nested too deeply")
    );
    assert!(
        error(&format!("@g = external global {}", deep("[1 x ", "]")))
            .ends_with("nested too deeply")
    );
    assert!(
        error(&format!("@g = external global {}", deep("i32 (", ")")))
            .ends_with("nested too deeply")
    );
    assert!(
        error(&format!("@g = global i32 {}", deep("bitcast (i32 ", ")")))
            .ends_with("nested too deeply")
    );
    assert!(error(&format!("@g = global {{}} {}", deep("<", ">"))).ends_with("nested too deeply"));
    let chain: String = (1..100_000)
        .map(|i| format!("%t{} = type {{ %t{i} }}\n", i - 1))
        .collect();
    assert!(error(&format!("{chain}%t99999 = type {{}}")).ends_with("nested too deeply"));
    let aliases: String = (1..10_000)
        .map(|i| format!("@a{} = alias i8, ptr @a{i}\n", i - 1))
        .collect();
    assert!(error(&format!("{aliases}@a9999 = global i8 0")).ends_with("nested too deeply"));
}

#[test]
fn a_type_of_absurd_extent_is_refused() {
    // Every level doubles: computing the layout by walking it would not end.
    let levels: String = (1..64)
        .map(|i| format!("%t{i} = type {{ %t{0}, %t{0} }}\n", i - 1))
        .collect();
    assert!(error(&format!("%t0 = type {{ i8 }}\n{levels}")).ends_with("nested too deeply"));
}

#[test]
fn absurd_numbers_do_not_allocate() {
    let body = |line: &str| error(&format!("define void @f() {{\n  {line}\n  ret void\n}}"));
    assert!(body("%4294967290 = add i32 1, 2").contains("does not fit"));
    assert!(body("%x = add i32 %4294967290, 2").contains("does not fit"));
    assert!(body("br label %4294967290").contains("does not fit"));
    assert!(body("%99999999999 = add i32 1, 2").contains("does not fit"));
    assert!(body("%x = add i999999999 1, 2").contains("does not fit"));
    assert!(body("%x = add i0 1, 2").contains("does not fit"));
    assert!(
        body("%x = add <4294967295 x i32> splat (i32 1), zeroinitializer").contains("does not fit")
    );
    assert!(body("%x = add <0 x i32> undef, undef").contains("does not fit"));
    assert!(body("%x = load i32, ptr null, align 99999999999999999999").contains("does not fit"));
}

#[test]
fn a_text_may_end_anywhere() {
    let text = "%t = type { i32, ptr }\n@g = global %t { i32 1, ptr @g }, align 8, !dbg !0\ndefine i32 @f(ptr %p) #0 !dbg !1 {\n  %1 = load i32, ptr %p, align 4, !dbg !2\n  ret i32 %1\n}\nattributes #0 = { nounwind }\n!0 = !{}\n!1 = !{i32 1}\n!2 = !DILocation(line: 1, scope: !0)\n";
    for end in 0..text.len() {
        if let Ok(mut module) = parse_module(&text[..end], "t.ll")
            && let Some(id) = module.function_named("f")
        {
            // Whether the rest is well-formed depends on the metadata that is left; it must only not panic.
            let _ = module.parse_body(id);
        }
    }
}
