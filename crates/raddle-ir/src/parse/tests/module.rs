use super::{error, function, initializer, module};
use crate::constant::Constant;
use crate::module::Symbol;
use crate::types::Type;

#[test]
fn an_empty_module_is_a_module() {
    let module = module("; nothing\n");
    assert!(module.globals.is_empty() && module.functions.is_empty());
}

#[test]
fn header_and_everything_that_is_passed_over() {
    let module = module(
        r#"; ModuleID = 'x.c'
source_filename = "dir/x \22y\22.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
module asm ".globl foo"
$any = comdat any
$"quoted name" = comdat largest
attributes #0 = { noinline "no-trapping-math"="true" alignstack=16 memory(argmem: read) }
!llvm.module.flags = !{!0, !1}
!0 = !{i32 1, !"wchar_size", i32 4}
!1 = distinct !{!1, !"}", !DIExpression()}
!named.\20x = !{}
^0 = module: (path: "x", hash: (0, 0))
^1 = flags: 8
uselistorder ptr @g, { 1, 0 }
@g = global i32 0
"#,
    );
    assert_eq!(&*module.source_name, "dir/x \"y\".c");
    assert_eq!(module.types.layout.i128_align, 8, "no i128 in the layout");
    assert_eq!(module.globals.len(), 1);
}

#[test]
fn newer_layouts_align_i128_to_16() {
    let module = module("target datalayout = \"e-m:e-i64:64-i128:128-f80:128\"");
    assert_eq!(module.types.layout.i128_align, 16);
}

#[test]
fn other_targets_are_refused() {
    for layout in ["E-m:e-i64:64", "e-m:e-p:16:16-p270:32:32", "e-i64:16"] {
        let message = error(&format!("target datalayout = \"{layout}\""));
        assert!(message.contains("64-bit little-endian"), "{message}");
    }
    let layout = "target datalayout = \"e-m:e-p:32:32-i64:64\"\n";
    for triple in ["armv7-unknown-linux-gnueabihf", "x86_64-pc-linux-gnux32"] {
        let triple = format!("target triple = \"{triple}\"\n");
        for text in [format!("{layout}{triple}"), format!("{triple}{layout}")] {
            let message = error(&text);
            assert!(message.contains("i386"), "{message}");
        }
    }
}

#[test]
fn the_layout_of_i386_is_known() {
    let module = module(
        r#"target datalayout = "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-f64:32:64-f80:32-n8:16:32-S128"
target triple = "i386-pc-linux-gnu"
%s = type { i8, i64, ptr, double, x86_fp80, i16 }
@s = global %s zeroinitializer
"#,
    );
    let types = &module.types;
    assert!(types.layout.is_ilp32());
    let Symbol::Global(id) = module.symbols["s"] else {
        panic!("a global");
    };
    let layout = types.struct_layout(module.global(id).ty).unwrap();
    assert_eq!(layout.offsets, [0, 4, 12, 16, 24, 36]);
    assert_eq!((layout.size, layout.align), (40, 4));
}

#[test]
fn globals() {
    let module = module(
        r#"@a = dso_local local_unnamed_addr global i32 5, align 4
@b = internal thread_local(initialexec) unnamed_addr constant [2 x i8] c"x\00", section "s", comdat($c), align 16
@c = external dso_local global ptr, align 8
@d = extern_weak global i32
@e = private unnamed_addr addrspace(1) externally_initialized global i64 0, no_sanitize_address, code_model "large", align 32
@"quoted name\22" = common hidden global i16 0 #3
@0 = weak_odr global i128 1
@f = global <{ i8, i32 }> <{ i8 1, i32 2 }>, partition "p"
"#,
    );
    let global = |name: &str| match module.symbols[name] {
        Symbol::Global(id) => module.global(id),
        other => panic!("{other:?}"),
    };
    assert!(!global("a").is_constant && !global("a").thread_local);
    assert_eq!(global("a").align, 4);
    assert!(module.is_extern_weak("d") && !module.is_extern_weak("c"));
    assert!(global("b").is_constant && global("b").thread_local);
    assert_eq!(global("b").align, 16);
    assert_eq!(global("c").initializer, None);
    assert_eq!(global("d").initializer, None);
    assert_eq!(global("e").align, 32);
    assert_eq!(global("quoted name\"").align, 2, "that of its type");
    assert!(global("0").initializer.is_some());
    assert_eq!(global("f").align, 1, "packed");
}

#[test]
fn functions_and_what_their_parameters_say() {
    let mut module = module(
        r#"%big = type { [8 x i64] }
declare !dbg !9 noundef nonnull align 8 dereferenceable(8) ptr @d(i32 noundef, ...) local_unnamed_addr #1
define linkonce_odr fastcc { i64, i1 } @f(ptr nocapture noundef byval(%big) align 8 %x, ptr captures(none) "k"="v" %y, ptr captures(address, read_provenance), i8 zeroext range(i8 0, 2) %z) unnamed_addr #0 section "t" comdat align 16 gc "g" prefix i32 7 personality ptr @d !prof !{!"x"} {
  ret { i64, i1 } zeroinitializer
}
declare void @after()
!9 = !{}
"#,
    );
    let d = module.function_named("d").expect("declared");
    assert!(module.function(d).is_declaration);
    assert!(matches!(
        module.types.get(module.function(d).ty),
        Type::Function { varargs: true, params, .. } if params.len() == 1
    ));
    let f = module.function_named("f").expect("defined");
    let function = module.function(f).clone();
    assert_eq!(function.param_nocapture, [true, true, false, false]);
    let big = function.param_byval[0].expect("by value");
    assert_eq!(module.types.display(big).to_string(), "%big");
    assert_eq!(function.param_byval[1], None);
    let body = module.parse_body(f).expect("valid");
    assert_eq!(body.param_count, 4);
    assert_eq!(body.value_names[1].as_deref(), Some("y"));
    assert_eq!(body.value_names[2], None);
    assert!(module.function_named("after").is_some());
    let error = module.parse_body(d).expect_err("only declared");
    assert_eq!(
        error.to_string(),
        "t.ll:1:1: the function '@d' is declared but not defined"
    );
}

#[test]
fn bodies_end_where_they_end() {
    // Braces in strings, comments and names; a body on one line; a brace in the first column.
    let mut module = module(
        "@s = constant [2 x i8] c\"{\\22\"
define void @a() { ret void } ; {
define void @\"b}\"() {
  ; a comment with { and \"
  call void asm sideeffect \"{ nop\", \"\"()
  %x = insertvalue { i32
}  undef, i32 1, 0
  ret void
}
define void @f() {
  ret void
}",
    );
    for name in ["a", "b}", "f"] {
        let id = module.function_named(name).expect(name);
        let body = module.parse_body(id).expect(name);
        assert_eq!(body.blocks.len(), 1);
    }
}

#[test]
fn aliases_stand_for_what_they_name() {
    let module = module(
        "@a2 = alias i32, ptr @a1
@a1 = internal alias i32, ptr @v
@v = global i32 1
@fa = weak alias void (), void ()* @fun
@mid = alias i64, getelementptr inbounds ([4 x i64], ptr @arr, i64 0, i64 2)
@cast = alias i8, bitcast (i32* @v to i8*)
@arr = global [4 x i64] zeroinitializer
@if = ifunc void (), ptr @resolver
@choice = weak ifunc void (), ptr @guess
@g = global ptr @a2
define void @fun() { ret void }
define ptr @resolver() { ret ptr @fun }
declare ptr @cpu()
define ptr @guess() {
  %1 = call ptr @cpu()
  ret ptr %1
}
",
    );
    let v = module.symbols["v"];
    assert_eq!(module.symbols["a1"], v);
    assert_eq!(module.symbols["a2"], v);
    assert_eq!(module.symbols["cast"], v);
    assert_eq!(module.symbols["fa"], module.symbols["fun"]);
    assert_eq!(
        module.symbols["if"], module.symbols["fun"],
        "what the resolver returns"
    );
    let chosen = module.function_named("choice").expect("declared");
    assert!(
        module.function(chosen).is_declaration,
        "what the machine decides is unknown"
    );
    assert!(matches!(module.symbols["mid"], Symbol::Constant(_)));
    assert!(matches!(initializer(&module), Constant::Global(id) if Symbol::Global(*id) == v));
    assert_eq!(module.function_named("fa"), module.function_named("fun"));
}

#[test]
fn constructors_come_by_priority() {
    let module = module(
        "@llvm.global_ctors = appending global [3 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @late, ptr null }, { i32, ptr, ptr } { i32 101, ptr @early, ptr null }, { i32, ptr, ptr } { i32 65535, ptr @later, ptr @early }]
@llvm.global_dtors = appending global [2 x { i32, void ()*, i8* }] [{ i32, void ()*, i8* } { i32 101, void ()* @early, i8* null }, { i32, void ()*, i8* } { i32 65535, void ()* @late, i8* null }]
define void @late() { ret void }
define void @early() { ret void }
define void @later() { ret void }
",
    );
    let names = |ids: &[crate::FuncId]| -> Vec<String> {
        ids.iter()
            .map(|&id| module.function(id).name.to_string())
            .collect()
    };
    assert_eq!(names(&module.constructors), ["early", "late", "later"]);
    assert_eq!(names(&module.destructors), ["late", "early"]);
}

#[test]
fn named_types_may_come_in_any_order_and_refer_to_themselves() {
    let module = module(
        "%a = type { %b, ptr }
%b = type { %a*, %\"c d\"* , %0 (%a*, i32)* }
%\"c d\" = type opaque
%0 = type <{ i8, [3 x %1] }>
%1 = type { <2 x float>, <vscale x 4 x i32>, {} }
%name = type i64
@g = global { %name, %0* } zeroinitializer
",
    );
    let struct_named = |wanted: &str| {
        (0..module.types.len())
            .map(crate::TypeId::from_index)
            .find(|&id| module.types.display(id).to_string() == wanted)
            .expect(wanted)
    };
    let a = struct_named("%a");
    let Type::Struct { fields, packed, .. } = module.types.get(a) else {
        panic!("a struct")
    };
    assert!(!packed);
    assert_eq!(fields[0], struct_named("%b"));
    let b = struct_named("%b");
    assert_eq!(module.types.alloc_size(b), Ok(24), "three pointers");
    assert!(matches!(
        module.types.get(struct_named("%0")),
        Type::Struct { packed: true, .. }
    ));
    assert!(matches!(
        module.types.get(struct_named("%c d")),
        Type::Opaque { .. }
    ));
    let global = &module.globals[0];
    assert_eq!(module.types.display(global.ty).to_string(), "{ i64, ptr }");
}

#[test]
fn typed_pointers_are_erased() {
    let (module, body) = function(
        "%node = type { i32, %node*, i32 (%node*, i8**)*, i8 addrspace(3)* }
@fp = global void (i32, ...)* null
declare i8* @malloc(i64)
define %node* @f(%node* nocapture %n, i32 (i32)* %fn) {
  %1 = getelementptr inbounds %node, %node* %n, i64 0, i32 1
  %2 = load %node*, %node** %1, align 8
  %3 = bitcast %node* %2 to i8*
  %4 = call i32 %fn(i32 1)
  %5 = call noalias i8* @malloc(i64 noundef 16)
  store i8* %5, i8** bitcast (void (i32, ...)** @fp to i8**), align 8
  %6 = bitcast i8* %3 to %node*
  ret %node* %6
}",
    );
    let ptr = body.value_types[0];
    assert_eq!(*module.types.get(ptr), Type::Ptr);
    let loaded = body.value_types.iter().filter(|&&ty| ty == ptr).count();
    assert_eq!(loaded, 7, "all but the i32");
}

#[test]
fn target_and_other_types_are_kept_by_name() {
    let module = module(
        "@g = external global target(\"spirv.Image\", void, 1)\n@h = external global x86_amx",
    );
    let name = |i: usize| module.types.display(module.globals[i].ty).to_string();
    assert_eq!(name(0), "target(\"spirv.Image\", void, 1)");
    assert_eq!(name(1), "x86_amx");
}

#[test]
fn modules_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&module(""));
}
