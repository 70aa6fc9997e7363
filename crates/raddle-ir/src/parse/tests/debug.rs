use super::{error, function, module};
use crate::debug::{SourceType, SourceTypeId};
use crate::module::Module;

const NODES: &str = r#"
!1 = !DIFile(filename: "src/t.c", directory: "/home/me/")
!2 = !DIFile(filename: "/usr/include/h.h", directory: "/home/me")
!10 = distinct !DISubprogram(name: "outer", scope: !1, file: !1, line: 10, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !90)
!11 = distinct !DISubprogram(name: "inner\5C", linkageName: "_Zinner", scope: !1, file: !2, line: 3)
!12 = distinct !DILexicalBlock(scope: !10, file: !1, line: 11, column: 3)
!13 = !DILexicalBlockFile(scope: !12, file: !2, discriminator: 2)
!20 = !DILocation(line: 12, column: 5, scope: !12)
!21 = !DILocation(line: 4, scope: !11, inlinedAt: !20)
!22 = distinct !DILocation(line: 5, column: 1, scope: !13)
!30 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!31 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !32, size: 64)
!32 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "node", file: !1, line: 1, size: 256, elements: !33)
!33 = !{!34, !35, !36, !43}
!34 = !DIDerivedType(tag: DW_TAG_member, name: "value", scope: !32, baseType: !37, size: 32)
!35 = !DIDerivedType(tag: DW_TAG_member, name: "next", scope: !32, baseType: !31, size: 64, offset: 64)
!36 = !DIDerivedType(tag: DW_TAG_member, name: "grid", scope: !32, baseType: !40, size: 128, offset: 128)
!37 = !DIDerivedType(tag: DW_TAG_typedef, name: "number", baseType: !38)
!38 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !30)
!40 = !DICompositeType(tag: DW_TAG_array_type, baseType: !30, size: 192, elements: !41)
!41 = !{!42, !42b}
!43 = !DIDerivedType(tag: DW_TAG_member, name: "shared", baseType: !30, flags: DIFlagPublic | DIFlagStaticMember)
!50 = !DILocalVariable(name: "x", arg: 1, scope: !10, file: !1, line: 10, type: !31)
!51 = !DILocalVariable(name: "y", scope: !12, file: !1, line: 11, type: !37)
!52 = !DIGlobalVariableExpression(var: !53, expr: !DIExpression())
!53 = distinct !DIGlobalVariable(name: "counter", linkageName: "_ZL7counter", scope: !10, file: !1, line: 2, type: !60)
!60 = !DIDerivedType(tag: DW_TAG_typedef, name: "pair", baseType: !61)
!61 = distinct !DICompositeType(tag: DW_TAG_union_type, size: 64, elements: !62)
!62 = !{!63}
!63 = !DIDerivedType(tag: DW_TAG_member, scope: !61, baseType: !32, size: 64)
!90 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "clang (\22x\22)", isOptimized: false)
"#;

fn nodes() -> String {
    NODES.replace("!41 = !{!42, !42b}", "!41 = !{!42, !44}\n!42 = !DISubrange(count: 2)\n!44 = !DISubrange(lowerBound: 1, upperBound: 3)")
}

fn fields(module: &Module, id: SourceTypeId) -> Vec<(String, u64, SourceTypeId)> {
    match module.debug.source_type(id) {
        SourceType::Record { fields, .. } => fields
            .iter()
            .map(|(name, offset, ty)| (name.to_string(), *offset, *ty))
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn positions_are_resolved_through_scopes_and_inlining() {
    let (module, body) = function(&format!(
        "define void @f() !dbg !10 {{
  fence seq_cst, !dbg !21
  fence acquire, !dbg !22, !other !1
  fence acquire, !dbg !21
  fence release
  ret void, !dbg !20
}}{}",
        nodes()
    ));
    let insts = &body.blocks[0].insts;
    let inner = module.debug.loc(insts[0].loc.expect("a position"));
    assert_eq!(
        (&*inner.file, inner.line, inner.column),
        ("/usr/include/h.h", 4, 0)
    );
    assert_eq!(inner.function.as_deref(), Some("inner\\"));
    let outer = module.debug.loc(inner.inlined_at.expect("inlined"));
    assert_eq!(
        (&*outer.file, outer.line, outer.column),
        ("/home/me/src/t.c", 12, 5)
    );
    assert_eq!(outer.function.as_deref(), Some("outer"));
    assert_eq!(outer.inlined_at, None);
    let other_file = module.debug.loc(insts[1].loc.expect("a position"));
    assert_eq!(
        &*other_file.file, "/usr/include/h.h",
        "the block is in another file than the function"
    );
    assert_eq!(other_file.function.as_deref(), Some("outer"));
    assert_eq!(insts[0].loc, insts[2].loc, "interned");
    assert_eq!(insts[3].loc, None);
    assert_eq!(body.blocks[0].terminator_loc, inner.inlined_at);
    assert_eq!(module.debug.locs.len(), 3, "only what the body refers to");
    let defined = module.functions[0].defined_at.as_ref().expect("a position");
    assert_eq!((&*defined.file, defined.line), ("/home/me/src/t.c", 10));
}

#[test]
fn variables_from_records_and_from_intrinsics() {
    let records = "#dbg_declare(ptr %s, !50, !DIExpression(), !20)
  #dbg_value(i32 %v, !51, !DIExpression(), !20)
  #dbg_value(i32 %v, !51, !DIExpression(), !20)
  #dbg_value(i32 0, !51, !DIExpression(), !20)
  #dbg_value(i32 %v, !51, !DIExpression(DW_OP_plus_uconst, 1, DW_OP_stack_value), !20)
  #dbg_value(!DIArgList(i32 %v, i32 %v), !51, !DIExpression(DW_OP_LLVM_arg, 0), !20)
  #dbg_assign(i1 undef, !51, !DIExpression(), !1, ptr %s, !DIExpression(), !20)
  #dbg_label(!51, !20)";
    let calls = "call void @llvm.dbg.declare(metadata ptr %s, metadata !50, metadata !DIExpression()), !dbg !20
  call void @llvm.dbg.value(metadata i32 %v, metadata !51, metadata !DIExpression()), !dbg !20
  tail call void @llvm.dbg.value(metadata i32 undef, metadata !51, metadata !DIExpression()), !dbg !20
  call void @llvm.dbg.value(metadata !DIArgList(i32 %v), metadata !51, metadata !DIExpression(DW_OP_LLVM_arg, 0)), !dbg !20";
    for described in [records, calls] {
        let (module, body) = function(&format!(
            "declare void @llvm.dbg.declare(metadata, metadata, metadata)
declare void @llvm.dbg.value(metadata, metadata, metadata)
define void @f(i32 %v) !dbg !10 {{
  %s = alloca ptr, align 8
  {described}
  ret void, !dbg !20
}}{}",
            nodes()
        ));
        assert_eq!(body.blocks[0].insts.len(), 1, "they leave no instructions");
        assert_eq!(body.variables.len(), 2);
        let (value, x) = &body.variables[0];
        assert_eq!(Some(*value), body.blocks[0].insts[0].result);
        assert_eq!((&*x.name, x.is_parameter, x.is_address), ("x", true, true));
        let (value, y) = &body.variables[1];
        assert_eq!(value.index(), 0);
        assert_eq!(
            (&*y.name, y.is_parameter, y.is_address),
            ("y", false, false)
        );
        let number = module.debug.source_type(y.ty.expect("a type"));
        assert_eq!(
            *number,
            SourceType::Scalar {
                name: "int".into(),
                size: 4,
                signed: true
            },
            "through typedef and const"
        );
    }
}

#[test]
fn types_may_point_to_themselves() {
    let (module, body) = function(&format!(
        "define void @f(ptr %p) !dbg !10 {{
  #dbg_value(ptr %p, !50, !DIExpression(), !20)
  ret void
}}{}",
        nodes()
    ));
    let pointer = body.variables[0].1.ty.expect("a type");
    let SourceType::Pointer { to: Some(node) } = *module.debug.source_type(pointer) else {
        panic!("a pointer")
    };
    let fields = fields(&module, node);
    let names: Vec<(&str, u64)> = fields.iter().map(|(n, o, _)| (&**n, *o)).collect();
    assert_eq!(
        names,
        [("value", 0), ("next", 8), ("grid", 16)],
        "no static members"
    );
    assert_eq!(fields[1].2, pointer);
    let SourceType::Array { element, len: 2 } = *module.debug.source_type(fields[2].2) else {
        panic!("an array")
    };
    assert!(matches!(
        module.debug.source_type(element),
        SourceType::Array { len: 3, .. }
    ));
}

#[test]
fn enumerators_have_names() {
    let module = module(
        "@g = global i32 0, !dbg !0
!0 = !DIGlobalVariable(name: \"g\", type: !1)
!1 = !DIDerivedType(tag: DW_TAG_atomic_type, baseType: !2)
!2 = !DICompositeType(tag: DW_TAG_enumeration_type, name: \"state\", baseType: !3, size: 32, elements: !4)
!3 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)
!4 = !{!5, !6}
!5 = !DIEnumerator(name: \"LOST\", value: -1)
!6 = !DIEnumerator(name: \"FOUND\", value: 4)",
    );
    let ty = module.globals[0].source_type.expect("a type");
    assert_eq!(
        *module.debug.source_type(ty),
        SourceType::Enum {
            size: 4,
            signed: true,
            values: vec![("LOST".into(), -1), ("FOUND".into(), 4)]
        }
    );
}

#[test]
fn bit_fields_say_which_bits_they_are() {
    let module = module(
        "@g = global i32 0, !dbg !0
!0 = !DIGlobalVariable(name: \"g\", type: !1)
!1 = !DICompositeType(tag: DW_TAG_structure_type, name: \"s\", size: 32, elements: !2)
!2 = !{!3, !4, !5, !6}
!3 = !DIDerivedType(tag: DW_TAG_member, name: \"a\", baseType: !7, size: 3, flags: DIFlagBitField, extraData: i64 0)
!4 = !DIDerivedType(tag: DW_TAG_member, name: \"b\", baseType: !7, size: 10, offset: 11, flags: DIFlagPublic | DIFlagBitField, extraData: i64 0)
!5 = !DIDerivedType(tag: DW_TAG_member, name: \"odd\", baseType: !7, size: 65, offset: 11, flags: DIFlagBitField)
!6 = !DIDerivedType(tag: DW_TAG_member, name: \"c\", baseType: !7, size: 32, offset: 32)
!7 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)",
    );
    let fields = fields(&module, module.globals[0].source_type.expect("a type"));
    let of = fields[3].2;
    let ty = |index: usize| module.debug.source_type(fields[index].2);
    let bits = |first, len| SourceType::Bits { of, first, len };
    assert_eq!((fields[0].1, ty(0)), (0, &bits(0, 3)));
    assert_eq!((fields[1].1, ty(1)), (1, &bits(3, 10)));
    assert_eq!(fields[2].2, of, "no value has so many bits");
    assert!(matches!(ty(3), SourceType::Scalar { size: 4, .. }));
}

#[test]
fn globals_have_the_name_and_type_of_the_source() {
    let module = module(&format!(
        "@_ZL7counter = internal global i64 0, align 8, !dbg !52{}",
        nodes()
    ));
    let global = &module.globals[0];
    assert_eq!(global.source_name.as_deref(), Some("counter"));
    let ty = global.source_type.expect("a type");
    assert!(matches!(
        module.debug.source_type(ty),
        SourceType::Record { name, size: 8, .. } if &**name == "pair"
    ));
    let fields = fields(&module, ty);
    assert_eq!(
        fields[0].0, "node",
        "a field without a name is called like its type"
    );
}

#[test]
fn metadata_that_is_wrong_is_an_error_where_it_is_used() {
    let with = |nodes: &str| {
        error(&format!(
            "define void @f() {{\n  ret void, !dbg !0\n}}\n{nodes}"
        ))
    };
    assert_eq!(with(""), "t.ll:2:13: undefined metadata node '!0'");
    let cyclic = "!0 = !DILocation(line: 1, scope: !1, inlinedAt: !0)\n!1 = !DIFile(filename: \"x\", directory: \"\")";
    assert!(with(cyclic).contains("cyclic"), "{}", with(cyclic));
    assert!(
        with("!0 = !DILocation(line: 1, scope: !1, inlinedAt: !1)\n!1 = 5")
            .contains("expected a metadata node")
    );
    assert!(with("!0 = !{}\n!0 = !{}").contains("'!0' is defined twice"));
    let contains_itself = "@g = global i32 0, !dbg !0
!0 = !DIGlobalVariable(name: \"g\", type: !1)
!1 = !DICompositeType(tag: DW_TAG_structure_type, size: 64, elements: !2)
!2 = !{!3}
!3 = !DIDerivedType(tag: DW_TAG_member, name: \"m\", baseType: !1)";
    assert!(error(contains_itself).contains("contains itself"));
}

#[test]
fn a_scope_that_is_its_own_scope_ends() {
    let (module, body) = function(
        "define void @f() {\n  ret void, !dbg !0\n}\n!0 = !DILocation(line: 1, scope: !1)\n!1 = distinct !DILexicalBlock(scope: !1)",
    );
    let loc = module
        .debug
        .loc(body.blocks[0].terminator_loc.expect("a position"));
    assert_eq!((&*loc.file, loc.line), ("", 1));
}

#[test]
fn nodes_may_have_any_numbers() {
    let (module, body) = function(
        "define void @f() {\n  ret void, !dbg !4294967295\n}\n!4294967295 = !DILocation(line: 7, scope: !3)\n!3 = !DIFile(filename: \"a\", directory: \"b\")",
    );
    let loc = module
        .debug
        .loc(body.blocks[0].terminator_loc.expect("a position"));
    assert_eq!((&*loc.file, loc.line), ("b/a", 7));
}
