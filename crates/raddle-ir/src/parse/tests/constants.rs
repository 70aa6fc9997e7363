use super::{constant, error, function, initializer, int, module};
use crate::constant::{Constant, ConstantExpr};
use crate::inst::{BinaryOp, CastOp, FloatPredicate, IntPredicate, Operand, Terminator};

/// The constant that `text` is, as the value of a global.
fn value(text: &str) -> (crate::Module, Constant) {
    let module = module(&format!(
        "@x = global [4 x i32] zeroinitializer\n@y = global i32 0\ndeclare void @fun()\n@g = global {text}\n"
    ));
    let constant = initializer(&module).clone();
    (module, constant)
}

#[test]
fn scalars() {
    let int_value = |text: &str| match value(text).1 {
        Constant::Int(_, value) => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(int_value("i32 -1"), 0xffff_ffff);
    assert_eq!(int_value("i1 true"), 1);
    assert_eq!(int_value("i1 false"), 0);
    assert_eq!(
        int_value("i128 -170141183460469231731687303715884105728"),
        1 << 127
    );
    assert_eq!(int_value("i64 u0xFF"), 255);
    assert_eq!(int_value("i77 -1"), (1 << 77) - 1);
    assert_eq!(int_value("i32 zeroinitializer"), 0);
    let float_value = |text: &str| match value(text).1 {
        Constant::Float(_, value) => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(float_value("double 1.5"), u128::from(1.5f64.to_bits()));
    assert_eq!(
        float_value("double -2.5e-3"),
        u128::from((-2.5e-3f64).to_bits())
    );
    assert_eq!(
        float_value("float 0x3FB99999A0000000"),
        u128::from(0.1f32.to_bits())
    );
    assert_eq!(
        float_value("double 0x7FF0000000000000"),
        u128::from(f64::INFINITY.to_bits())
    );
    assert_eq!(
        float_value("x86_fp80 0xK3FFF8000000000000000"),
        0x3fff_8000_0000_0000_0000
    );
    assert_eq!(float_value("half 0xH3C00"), 0x3c00);
    assert_eq!(float_value("bfloat 0xR3F80"), 0x3f80);
    assert_eq!(
        float_value("double +inf"),
        u128::from(f64::INFINITY.to_bits())
    );
    assert_eq!(value("ptr null").1, Constant::Null);
    assert_eq!(value("ptr zeroinitializer").1, Constant::Null);
    assert!(matches!(value("i32 undef").1, Constant::Undef(_)));
    assert!(matches!(value("i32 poison").1, Constant::Poison(_)));
}

#[test]
fn aggregates() {
    let (module, array) = value("[2 x i32] [i32 1, i32 -1]");
    assert!(matches!(&array, Constant::Aggregate(_, e) if int(&module, e[1]) == 0xffff_ffff));
    let (_, bytes) = value(r#"[6 x i8] c"a\22\00\\\FFz""#);
    assert!(matches!(&bytes, Constant::Bytes(_, b) if **b == *b"a\"\0\\\xffz"));
    let (_, bytes) = value("[2 x i8] [i8 1, i8 -1]");
    assert!(matches!(&bytes, Constant::Bytes(_, b) if **b == [1, 255]));
    let (_, mixed) = value("[2 x i8] [i8 1, i8 undef]");
    assert!(matches!(mixed, Constant::Aggregate(..)));
    assert!(matches!(value("[0 x i32] []").1, Constant::Aggregate(_, e) if e.is_empty()));
    let (module, nested) = value(
        "{ i8, <{ i16, ptr }>, <2 x i1> } { i8 1, <{ i16, ptr }> <{ i16 2, ptr @x }>, <2 x i1> <i1 true, i1 false> }",
    );
    let Constant::Aggregate(_, fields) = nested else {
        panic!("a struct")
    };
    assert!(
        matches!(module.constant(fields[1]), Constant::Aggregate(_, e) if int(&module, e[0]) == 2)
    );
    let (module, splat) = value("<4 x i16> splat (i16 7)");
    assert!(matches!(&splat, Constant::Aggregate(_, e) if e.len() == 4 && int(&module, e[3]) == 7));
}

#[test]
fn a_huge_array_of_zeros_takes_no_memory() {
    let (_, zero) = value("[99999999999999 x i8] zeroinitializer");
    assert!(matches!(zero, Constant::Zero(_)));
    assert!(matches!(
        value("[99999999999999 x i8] undef").1,
        Constant::Undef(_)
    ));
}

#[test]
fn symbols_may_be_used_before_they_are_defined() {
    let module = module(
        "@g = global { ptr, ptr } { ptr @later, ptr @fun }\n@later = global i32 0\ndeclare void @fun()\n",
    );
    let Constant::Aggregate(_, fields) = initializer(&module) else {
        panic!("a struct")
    };
    assert!(matches!(module.constant(fields[0]), Constant::Global(_)));
    assert!(matches!(module.constant(fields[1]), Constant::Function(_)));
}

#[test]
fn pointer_casts_and_empty_paths_vanish() {
    let same = [
        "i8* bitcast ([4 x i32]* @x to i8*)",
        "ptr getelementptr inbounds ([4 x i32], ptr @x, i64 0, i64 0)",
        "i8* getelementptr inbounds ([2 x i8], [2 x i8]* bitcast ([4 x i32]* @x to [2 x i8]*), i32 0, i32 0)",
        "ptr addrspacecast (ptr addrspace(1) @x to ptr)",
    ];
    for text in same {
        assert!(matches!(value(text).1, Constant::Global(_)), "{text}");
    }
    for text in [
        "ptr dso_local_equivalent @fun",
        "ptr no_cfi @fun",
        "ptr ptrauth (ptr @fun, i32 1, i64 2)",
    ] {
        assert!(matches!(value(text).1, Constant::Function(_)), "{text}");
    }
}

#[test]
fn address_expressions_of_every_version() {
    for text in [
        "ptr getelementptr inbounds ([4 x i32], ptr @x, i64 0, i64 2)",
        "i32* getelementptr inbounds ([4 x i32], [4 x i32]* @x, i32 0, inrange i32 2)",
        "ptr getelementptr inbounds inrange(-16, 40) (i8, ptr @x, i64 16)",
        "ptr getelementptr inbounds nuw (i8, ptr @x, i64 4)",
    ] {
        let (module, constant) = value(text);
        let Constant::Expr(_, ConstantExpr::Gep { base, indices, .. }) = constant else {
            panic!("{constant:?}")
        };
        assert!(matches!(module.constant(base), Constant::Global(_)));
        assert!(int(&module, *indices.last().expect("an index")) > 0);
    }
}

#[test]
fn arithmetic_on_addresses() {
    let (module, relative) = value(
        "i32 trunc (i64 sub (i64 ptrtoint (ptr @y to i64), i64 ptrtoint (ptr @x to i64)) to i32)",
    );
    let Constant::Expr(
        _,
        ConstantExpr::Cast {
            op: CastOp::Trunc,
            value: inner,
        },
    ) = relative
    else {
        panic!("{relative:?}")
    };
    assert!(matches!(
        module.constant(inner),
        Constant::Expr(
            _,
            ConstantExpr::Binary {
                op: BinaryOp::Sub,
                ..
            }
        )
    ));
    assert!(matches!(
        value("i1 icmp ne (ptr @x, ptr @y)").1,
        Constant::Expr(
            _,
            ConstantExpr::ICmp {
                predicate: IntPredicate::Ne,
                ..
            }
        )
    ));
    assert!(matches!(
        value("i1 fcmp olt (float 1.0, float 2.0)").1,
        Constant::Expr(
            _,
            ConstantExpr::FCmp {
                predicate: FloatPredicate::Olt,
                ..
            }
        )
    ));
    assert!(matches!(
        value("i32 select (i1 icmp eq (ptr @x, ptr null), i32 1, i32 2)").1,
        Constant::Expr(_, ConstantExpr::Select { .. })
    ));
    assert!(matches!(
        value("ptr inttoptr (i64 4096 to ptr)").1,
        Constant::Expr(
            _,
            ConstantExpr::Cast {
                op: CastOp::IntToPtr,
                ..
            }
        )
    ));
}

#[test]
fn block_addresses_name_their_block() {
    let (module, body) = function(
        "@table = constant [2 x ptr] [ptr blockaddress(@f, %one), ptr blockaddress(@f, %2)]
define void @f(ptr %p) {
  indirectbr ptr %p, [label %one, label %2]
one:
  br label %2
2:
  ret void
}",
    );
    assert_eq!(&*body.blocks[2].label, "2");
    assert!(
        matches!(&body.blocks[0].terminator, Terminator::IndirectBr { targets, .. } if targets.len() == 2)
    );
    let labels = module.constants.iter().filter_map(|c| match c {
        Constant::BlockAddress(_, label) => Some(&**label),
        _ => None,
    });
    assert_eq!(labels.collect::<Vec<_>>(), ["one", "2"]);
}

#[test]
fn equal_constants_are_one() {
    let (module, insts) = super::insts("  %1 = add i32 %i, 7\n  %2 = sub i32 7, %i");
    let operands: Vec<Operand> = insts
        .iter()
        .flat_map(|inst| match inst.kind {
            crate::InstKind::Binary { lhs, rhs, .. } => [lhs, rhs],
            _ => panic!("arithmetic"),
        })
        .collect();
    assert_eq!(operands[1], operands[2]);
    assert!(matches!(
        constant(&module, operands[1]),
        Constant::Int(_, 7)
    ));
}

#[test]
fn constants_of_the_wrong_type_are_refused() {
    for (text, expected) in [
        ("i32 1.5", "the number '1.5' does not fit here"),
        ("double 0xH3C00", "does not fit here"),
        ("i32 null", "expected a pointer type"),
        ("i32 @g", "expected a pointer type"),
        ("[2 x i32] [i32 1]", "the array's length"),
        ("[1 x i32] [i64 1]", "is used as i64"),
        ("{ i32 } { i32 1, i32 2 }", "no such field"),
        ("{ i32, i32 } { i32 1 }", "do not match"),
        ("[2 x i8] c\"abc\"", "does not fit its type"),
        ("i32 splat (i32 1)", "only a vector"),
        ("i32 trunc (ptr @g to i32)", "cannot convert"),
        (
            "ptr getelementptr ({ i32 }, ptr @g, i64 0, i32 1)",
            "into nothing",
        ),
        ("i32 frob (i32 1)", "expected a value, found 'frob'"),
    ] {
        let message = error(&format!("@g = global {text}"));
        assert!(message.contains(expected), "{text}: {message}");
    }
}
