use super::*;
use crate::{Constant, Symbol, Type, parse_module};

const A: &str = r#"
source_filename = "a.c"
target datalayout = "e-m:e-i64:64"
%struct.pair = type { i32, %struct.inner }
%struct.inner = type { i32 }
%struct.handle = type opaque
$inline = comdat any
@.str = private constant [2 x i8] c"a\00"
@count = internal global i32 1, align 4, !dbg !0
@shared = external global i32
@tentative = common global i32 0
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @early, ptr null }]
define internal void @early() #0 section ".text.startup" {
  ret void
}
define i32 @main() #0 !dbg !2 {
  %1 = load i32, ptr @count, !dbg !1
  %2 = call i32 @other(i32 %1)
  ret i32 %2
}
define linkonce_odr i32 @inline() comdat {
  ret i32 1
}
declare i32 @other(i32)
declare void @llvm.trap()
declare extern_weak void @maybe()
attributes #0 = { noinline }
!llvm.dbg.cu = !{!2}
!0 = !{}
!1 = !{!0}
!2 = distinct !{!1}
"#;

const B: &str = r#"
source_filename = "b.c"
target datalayout = "e-m:e-i64:64"
%struct.pair = type { i32, %struct.inner }
%struct.inner = type { i64 }
%struct.handle = type { ptr }
$inline = comdat any
@.str = private constant [2 x i8] c"b\00"
@count = internal global i32 2, align 4
@shared = global i32 7
@tentative = common global i32 0
@held = global %struct.handle zeroinitializer
@two = global %struct.pair zeroinitializer
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @early, ptr null }]
define internal void @early() {
  store i32 1, ptr @count
  ret void
}
define i32 @other(i32 %0) #0 {
  %2 = load i32, ptr @count, !dbg !0
  ret i32 %2
}
define linkonce_odr i32 @inline() comdat {
  ret i32 2
}
attributes #0 = { cold }
!llvm.dbg.cu = !{!0}
!0 = distinct !{!0}
"#;

fn input<'t>(name: &'t str, text: &'t str) -> LinkInput<'t> {
    LinkInput { name, text }
}

#[test]
fn two_modules_become_one() {
    let text = link_modules(&[input("a.c", A), input("b.c", B)]).unwrap();
    let mut module = parse_module(text.clone(), "both").unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(&*module.source_name, "a.c");
    let other = module.function_named("other").unwrap();
    assert!(!module.function(other).is_declaration);
    // Static variables of the same name are two.
    let Some(Symbol::Global(mine)) = module.symbols.get("count").copied() else {
        panic!("{text}")
    };
    let Some(Symbol::Global(theirs)) = module.symbols.get("count.1").copied() else {
        panic!("{text}")
    };
    let initial = |id| module.constant(module.global(id).initializer.unwrap());
    assert!(matches!(initial(mine), Constant::Int(_, 1)));
    assert!(matches!(initial(theirs), Constant::Int(_, 2)));
    assert_eq!(module.constructors.len(), 2);
    assert_ne!(module.constructors[0], module.constructors[1]);
    // The first of two weak definitions counts; a body of each module can be read.
    for name in ["main", "other", "inline", "early", "early.1"] {
        let id = module.function_named(name).unwrap();
        module.parse_body(id).unwrap();
    }
    assert!(
        text.contains("ret i32 1") && !text.contains("ret i32 2\n"),
        "{text}"
    );
    // Numbers of nodes and attributes are those of the whole.
    assert!(text.contains("!llvm.dbg.cu = !{!2, !3}"), "{text}");
    assert!(text.contains("attributes #1 = { cold }"), "{text}");
    assert!(text.contains("!3 = distinct !{!3}"), "{text}");
}

#[test]
fn structs_are_the_same_if_all_that_they_hold_is() {
    let text = link_modules(&[input("a.c", A), input("b.c", B)]).unwrap();
    assert!(
        text.contains("%\"struct.inner.1\" = type { i64 }"),
        "{text}"
    );
    assert!(
        text.contains("%\"struct.pair.1\" = type { i32, %\"struct.inner.1\" }"),
        "{text}"
    );
    let module = parse_module(text, "both").unwrap();
    let size = |name: &str| {
        let Some(Symbol::Global(id)) = module.symbols.get(name).copied() else {
            panic!("no {name}")
        };
        assert!(matches!(
            module.types.get(module.global(id).ty),
            Type::Struct { .. }
        ));
        module.types.alloc_size(module.global(id).ty).unwrap()
    };
    assert_eq!(size("two"), 16);
    assert_eq!(size("held"), 8);
}

#[test]
fn what_both_define_is_an_error_that_names_both() {
    let strong = "define void @f() {\n  ret void\n}\n";
    let weak = "define weak void @f() {\n  unreachable\n}\n";
    let error = link_modules(&[input("a.c", strong), input("b.c", strong)]).unwrap_err();
    assert_eq!(error.to_string(), "`f` is defined in a.c and in b.c");
    let text = link_modules(&[input("a.c", weak), input("b.c", strong)]).unwrap();
    assert!(text.contains("ret void") && !text.contains("unreachable"));
    let common = |ty: &str| format!("@g = common global {ty} 0\n");
    let (i32, i64) = (common("i32"), common("i64"));
    assert!(matches!(
        link_modules(&[input("a.c", &i32), input("b.c", &i64)]),
        Err(LinkError::DifferentTypes { .. })
    ));
    let layout = "target datalayout = \"e\"\n";
    assert!(matches!(
        link_modules(&[input("a.c", layout), input("b.c", strong)]),
        Err(LinkError::DifferentTargets { .. })
    ));
    let numbered = "%0 = type { i32 }\n";
    assert!(matches!(
        link_modules(&[input("a.c", numbered), input("b.c", strong)]),
        Err(LinkError::NumberedType { .. })
    ));
}

#[test]
fn a_module_says_what_it_offers_and_needs() {
    let symbols = link_symbols(A, "a.c").unwrap();
    let names = |list: &[Box<str>]| list.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&symbols.defined), ["tentative", "main", "inline"]);
    assert_eq!(names(&symbols.needed), ["shared", "other", "maybe"]);
}

#[test]
fn a_text_that_is_no_module_is_told_with_its_place() {
    let error = link_modules(&[input("a.ll", "@x = global ~"), input("b.ll", "")]).unwrap_err();
    assert!(error.to_string().starts_with("a.ll:1:13: "), "{error}");
}

/// The sizes of globals `@g0`, `@g1`, … of modules that are linked, each with types of its own.
fn sizes_of_linked(types: &[&str]) -> Vec<u64> {
    let texts: Vec<String> = (types.iter().enumerate())
        .map(|(index, types)| format!("{types}\n@g{index} = global %t zeroinitializer\n"))
        .collect();
    let inputs: Vec<LinkInput<'_>> = texts.iter().map(|text| input("t.c", text)).collect();
    let text = link_modules(&inputs).unwrap();
    let module = parse_module(text.clone(), "all").unwrap_or_else(|e| panic!("{e}\n{text}"));
    (0..types.len())
        .map(|index| {
            let Some(Symbol::Global(id)) = module.symbols.get(&*format!("g{index}")).copied()
            else {
                panic!("{text}")
            };
            module.types.alloc_size(module.global(id).ty).unwrap()
        })
        .collect()
}

#[test]
fn a_new_name_is_nobodys() {
    // The third module has a type of the name that the second one's gets.
    let sizes = sizes_of_linked(&[
        "%t = type { i8 }",
        "%t = type { i16 }",
        "%t = type { i8 }\n%t.1 = type { i64 }",
        "%t = type { i32 }\n%t.1 = type { i64 }",
    ]);
    assert_eq!(sizes, [1, 2, 1, 4]);
}

#[test]
fn what_a_struct_mentions_may_have_another_name_where_it_was_first() {
    // `%outer` comes with the second module, whose `%t` is not that of the first and third.
    let outer = "%outer = type { %t, %t }\n@o{} = global %outer zeroinitializer";
    let modules = ["%t = type { i8 }", "%t = type { i16 }", "%t = type { i8 }"];
    let texts = [
        modules[0].to_owned(),
        format!("{}\n{}", modules[1], outer.replace("{}", "1")),
        format!("{}\n{}", modules[2], outer.replace("{}", "2")),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let inputs: Vec<LinkInput<'_>> = texts.iter().map(|text| input("t.c", text)).collect();
    let text = link_modules(&inputs).unwrap();
    let module = parse_module(text.clone(), "all").unwrap_or_else(|e| panic!("{e}\n{text}"));
    for (name, size) in [("o1", 4), ("o2", 2)] {
        let Some(Symbol::Global(id)) = module.symbols.get(name).copied() else {
            panic!("{text}")
        };
        let found = module.types.alloc_size(module.global(id).ty).unwrap();
        assert_eq!(found, size, "{name}: {text}");
    }
}
