use super::{constant, function, inst, insts};
use crate::constant::Constant;
use crate::inst::{
    ArithFlags, AtomicOrdering as O, BinaryOp, CastOp, Clause, FloatPredicate, InstKind,
    IntPredicate, Operand, RmwOp, SyncScope, Terminator,
};
use crate::types::Type;

#[test]
fn every_binary_operator() {
    for (word, ty) in [
        ("add", "i32"),
        ("sub", "i32"),
        ("mul", "i32"),
        ("udiv", "i32"),
        ("sdiv", "i32"),
        ("urem", "i32"),
        ("srem", "i32"),
        ("shl", "i32"),
        ("lshr", "i32"),
        ("ashr", "i32"),
        ("and", "i32"),
        ("or", "i32"),
        ("xor", "i32"),
        ("fadd", "float"),
        ("fsub", "float"),
        ("fmul", "float"),
        ("fdiv", "float"),
        ("frem", "float"),
    ] {
        let operand = if ty == "i32" { "%i" } else { "%s" };
        let (_, kind) = inst(&format!("  %r = {word} {ty} {operand}, {operand}"));
        assert!(matches!(kind, InstKind::Binary { .. }), "{word}");
    }
    let (_, kind) = inst("  %r = add nuw nsw <4 x i32> %v, zeroinitializer");
    let InstKind::Binary { op, flags, .. } = kind else {
        panic!("{kind:?}")
    };
    assert_eq!(op, BinaryOp::Add);
    assert_eq!(
        flags,
        ArithFlags {
            nuw: true,
            nsw: true,
            exact: false
        }
    );
    assert!(
        matches!(inst("  %r = sdiv exact i32 %i, 2").1, InstKind::Binary { flags, .. } if flags.exact)
    );
    inst("  %r = or disjoint i32 %i, 2");
    inst("  %r = fadd fast float %s, 1.0");
    inst("  %r = fmul reassoc nnan ninf nsz arcp contract afn float %s, %s");
    assert!(matches!(
        inst("  %r = fneg nnan float %s").1,
        InstKind::FNeg { .. }
    ));
    assert!(matches!(
        inst("  %r = freeze i32 poison").1,
        InstKind::Freeze { .. }
    ));
}

#[test]
fn casts() {
    for (text, expected) in [
        ("trunc nuw nsw i64 %l to i8", CastOp::Trunc),
        ("zext nneg i32 %i to i64", CastOp::ZExt),
        ("sext i32 %i to i128", CastOp::SExt),
        ("fptrunc double %d to float", CastOp::FpTrunc),
        ("fpext fast half %h to float", CastOp::FpExt),
        ("fptoui float %s to i8", CastOp::FpToUi),
        ("fptosi double %d to i64", CastOp::FpToSi),
        ("uitofp nneg i32 %i to double", CastOp::UiToFp),
        ("sitofp <4 x i32> %v to <4 x float>", CastOp::SiToFp),
        ("ptrtoint ptr %p to i64", CastOp::PtrToInt),
        ("ptrtoaddr ptr %p to i64", CastOp::PtrToInt),
        ("inttoptr i64 %l to ptr", CastOp::IntToPtr),
        ("bitcast <4 x i32> %v to i128", CastOp::Bitcast),
        (
            "addrspacecast ptr %p to ptr addrspace(3)",
            CastOp::AddrSpaceCast,
        ),
    ] {
        let (_, kind) = inst(&format!("  %r = {text}"));
        assert!(
            matches!(kind, InstKind::Cast { op, .. } if op == expected),
            "{text}"
        );
    }
}

#[test]
fn comparisons() {
    let int = |text: &str| match inst(&format!("  %r = icmp {text} i32 %i, 3")).1 {
        InstKind::ICmp { predicate, .. } => predicate,
        other => panic!("{other:?}"),
    };
    assert_eq!(int("eq"), IntPredicate::Eq);
    assert_eq!(int("samesign ult"), IntPredicate::Ult);
    assert_eq!(int("sge"), IntPredicate::Sge);
    let float = |text: &str| match inst(&format!("  %r = fcmp {text} double %d, 0.0")).1 {
        InstKind::FCmp { predicate, .. } => predicate,
        other => panic!("{other:?}"),
    };
    assert_eq!(float("uno"), FloatPredicate::Uno);
    assert_eq!(float("fast une"), FloatPredicate::Une);
    assert_eq!(float("true"), FloatPredicate::True);
    let (module, insts) = insts(
        "  %r = icmp ne <4 x i32> %v, zeroinitializer\n  %t = select <4 x i1> %r, <4 x i32> %v, <4 x i32> splat (i32 1)\n  %u = icmp ult ptr %p, @global",
    );
    let InstKind::Select { condition_ty, .. } = insts[1].kind else {
        panic!("select")
    };
    assert_eq!(module.types.display(condition_ty).to_string(), "<4 x i1>");
}

#[test]
fn aggregates() {
    let (module, list) = insts(
        "  %x = extractvalue { i32, [2 x i64] } %a, 1, 1, !tbaa !{}
  %y = insertvalue { i32, [2 x i64] } %a, i64 %x, 1, 0
  %z = extractvalue { i32, [2 x i64] } %y, 0",
    );
    assert!(matches!(&list[0].kind, InstKind::ExtractValue { indices, .. } if *indices == [1, 1]));
    let InstKind::InsertValue {
        aggregate_ty,
        value_ty,
        ref indices,
        ..
    } = list[1].kind
    else {
        panic!("insertvalue")
    };
    assert_eq!(*indices, [1, 0]);
    assert_eq!(*module.types.get(value_ty), Type::Int(64));
    assert_eq!(
        module.types.display(aggregate_ty).to_string(),
        "{ i32, [2 x i64] }"
    );
}

#[test]
fn vectors() {
    let (module, list) = insts(
        "  %x = extractelement <4 x i32> %v, i64 2
  %y = insertelement <4 x i32> poison, i32 %x, i32 0
  %z = shufflevector <4 x i32> %y, <4 x i32> %v, <3 x i32> <i32 0, i32 undef, i32 7>
  %w = shufflevector <4 x i32> %y, <4 x i32> poison, <8 x i32> zeroinitializer
  %u = add <3 x i32> %z, %z",
    );
    assert!(matches!(list[0].kind, InstKind::ExtractElement { .. }));
    assert!(
        matches!(&list[2].kind, InstKind::ShuffleVector { mask, .. } if *mask == [Some(0), None, Some(7)])
    );
    assert!(matches!(&list[3].kind, InstKind::ShuffleVector { mask, .. } if *mask == [Some(0); 8]));
    let InstKind::Binary { ty, .. } = list[4].kind else {
        panic!("add")
    };
    assert_eq!(module.types.display(ty).to_string(), "<3 x i32>");
}

#[test]
fn memory() {
    let (module, list) = insts(
        "  %x = alloca i32, align 4
  %y = alloca [4 x i8], i64 %l, align 16, addrspace(0)
  %z = load i32, ptr %x
  store volatile i32 %z, ptr %p, align 1, !tbaa !{}
  %w = load volatile i128, ptr %p, align 16
  %e = alloca inalloca %pair",
    );
    let InstKind::Alloca {
        ty, count, align, ..
    } = list[0].kind
    else {
        panic!("alloca")
    };
    assert_eq!((module.types.get(ty), align), (&Type::Int(32), 4));
    assert!(matches!(constant(&module, count), Constant::Int(_, 1)));
    assert!(matches!(
        list[1].kind,
        InstKind::Alloca {
            count: Operand::Value(_),
            align: 16,
            ..
        }
    ));
    assert!(matches!(
        list[2].kind,
        InstKind::Load {
            align: 4,
            volatile: false,
            atomic: None,
            ..
        }
    ));
    assert!(matches!(
        list[3].kind,
        InstKind::Store {
            align: 1,
            volatile: true,
            atomic: None,
            ..
        }
    ));
    assert_eq!(list[3].result, None);
    assert!(matches!(list[5].kind, InstKind::Alloca { align: 8, .. }));
}

#[test]
fn atomics() {
    let (_, list) = insts(
        "  %x = load atomic i32, ptr %p seq_cst, align 4
  store atomic volatile i64 %l, ptr %p syncscope(\"singlethread\") release, align 8
  fence syncscope(\"agent\") acq_rel
  %y = cmpxchg weak volatile ptr %p, i32 0, i32 1 acq_rel monotonic, align 4
  %z = cmpxchg ptr %p, ptr %q, ptr null syncscope(\"singlethread\") seq_cst acquire
  %w = extractvalue { i32, i1 } %y, 1
  %u = load atomic ptr, ptr %p unordered, align 8",
    );
    assert!(matches!(
        list[0].kind,
        InstKind::Load {
            atomic: Some((O::SeqCst, SyncScope::System)),
            ..
        }
    ));
    assert!(matches!(
        list[1].kind,
        InstKind::Store {
            volatile: true,
            atomic: Some((O::Release, SyncScope::SingleThread)),
            ..
        }
    ));
    assert!(matches!(
        list[2].kind,
        InstKind::Fence {
            ordering: O::AcqRel,
            scope: SyncScope::System
        }
    ));
    assert!(matches!(
        list[3].kind,
        InstKind::CmpXchg {
            weak: true,
            volatile: true,
            success: O::AcqRel,
            failure: O::Monotonic,
            align: 4,
            ..
        }
    ));
    assert!(matches!(
        list[4].kind,
        InstKind::CmpXchg {
            weak: false,
            success: O::SeqCst,
            failure: O::Acquire,
            scope: SyncScope::SingleThread,
            align: 8,
            ..
        }
    ));
    for (word, op) in [
        ("xchg", RmwOp::Xchg),
        ("add", RmwOp::Add),
        ("sub", RmwOp::Sub),
        ("and", RmwOp::And),
        ("nand", RmwOp::Nand),
        ("or", RmwOp::Or),
        ("xor", RmwOp::Xor),
        ("max", RmwOp::Max),
        ("min", RmwOp::Min),
        ("umax", RmwOp::UMax),
        ("umin", RmwOp::UMin),
        ("uinc_wrap", RmwOp::UIncWrap),
        ("udec_wrap", RmwOp::UDecWrap),
        ("usub_cond", RmwOp::USubCond),
        ("usub_sat", RmwOp::USubSat),
    ] {
        let (_, kind) = inst(&format!(
            "  %r = atomicrmw {word} ptr %p, i32 %i monotonic, align 4"
        ));
        assert!(
            matches!(kind, InstKind::AtomicRmw { op: found, ordering: O::Monotonic, .. } if found == op)
        );
    }
    for (word, op) in [
        ("fadd", RmwOp::FAdd),
        ("fsub", RmwOp::FSub),
        ("fmax", RmwOp::FMax),
        ("fmin", RmwOp::FMin),
        ("fmaximum", RmwOp::FMaximum),
        ("fminimum", RmwOp::FMinimum),
    ] {
        let (_, kind) = inst(&format!(
            "  %r = atomicrmw volatile {word} ptr %p, float %s seq_cst"
        ));
        assert!(
            matches!(kind, InstKind::AtomicRmw { op: found, volatile: true, .. } if found == op)
        );
    }
}

#[test]
fn addresses() {
    let (module, list) = insts(
        "  %x = getelementptr inbounds %pair, ptr %p, i64 0, i32 1, i64 %l, !dbg !{}
  %y = getelementptr inbounds nuw i8, ptr %p, i64 4
  %z = getelementptr i32, ptr %p, <4 x i32> %v
  %w = getelementptr %pair, %pair* %p, i32 1, i32 0",
    );
    let InstKind::Gep {
        ref indices,
        inbounds,
        ..
    } = list[0].kind
    else {
        panic!("gep")
    };
    assert!(inbounds && indices.len() == 3);
    assert!(matches!(
        list[2].kind,
        InstKind::Gep {
            inbounds: false,
            ..
        }
    ));
    let vector = (0..module.types.len())
        .map(crate::TypeId::from_index)
        .any(|ty| module.types.display(ty).to_string() == "<4 x ptr>");
    assert!(vector, "the result of indexing by a vector");
}

#[test]
fn calls() {
    let (module, list) = insts(
        "  %x = call i32 @callee(i32 noundef %i, ptr nonnull align 4 dereferenceable(4) %p) #3, !srcloc !{}
  %y = tail call noundef i32 (ptr, ...) @printf(ptr @global, i32 1, double 2.0) nounwind \"a\"=\"b\"
  musttail call fastcc void %p()
  %z = notail call cc 99 zeroext i8 %q(ptr byval(%pair) align 8 %p, ptr getelementptr (i8, ptr @global, i64 1)) [ \"deopt\"(i32 1), \"kcfi\"(i32 2) ]
  call void asm sideeffect alignstack \"lock; xaddl $0, $1\", \"=r,r,~{memory}\"(i32 %i) nounwind
  %1 = call fast float @llvm.sqrt.f32(float %s)
  call i32 @callee(i32 1, ptr null)
  %3 = call i32 bitcast (i32 (i32, i8*)* @callee to i32 (...)*)(i32 5)
  %r = call range(i32 0, 5) i32 @callee(i32 range(i32 1, 2) 1, ptr captures(none) null)
  call void @llvm.foo(metadata !\"x\", metadata ptr %p, metadata !{})"
            .replace("@llvm.sqrt.f32", "%q")
            .replace("@llvm.foo", "%q")
            .as_str(),
    );
    let call = |i: usize| match &list[i].kind {
        InstKind::Call(call) => call,
        other => panic!("{other:?}"),
    };
    let signature = |i: usize| module.types.display(call(i).fn_type).to_string();
    assert_eq!(signature(0), "i32 (i32, ptr)");
    assert_eq!(signature(1), "i32 (ptr, ...)");
    assert_eq!(call(1).args.len(), 3);
    assert_eq!(call(1).arg_types.len(), 3);
    assert_eq!(list[2].result, None);
    assert_eq!(call(3).byval.len(), 1);
    assert_eq!(
        module.types.display(call(3).byval[0].1).to_string(),
        "%pair"
    );
    assert!(matches!(
        constant(&module, call(4).callee),
        Constant::InlineAsm { side_effect: true, text, .. } if &**text == "lock; xaddl $0, $1"
    ));
    assert!(
        list[6].result.is_some(),
        "an unnamed result takes the next number"
    );
    assert!(matches!(
        constant(&module, call(7).callee),
        Constant::Function(_)
    ));
    assert_eq!(signature(7), "i32 (i32)");
    assert_eq!(call(9).args.len(), 3);
    assert!(matches!(
        constant(&module, call(9).args[0]),
        Constant::Metadata
    ));
}

#[test]
fn attributes_of_a_call_end_at_the_next_instruction() {
    let (_, body) = function(
        "declare void @g()
define void @f() {
  call void @g() nounwind willreturn
  fence seq_cst
  call void @g() nounwind
  unreachable
\"a b\":
  call void @g()
  br label %\"a b\"
}",
    );
    assert_eq!(body.blocks[0].insts.len(), 3);
    assert_eq!(body.blocks[0].terminator, Terminator::Unreachable);
}

#[test]
fn exceptions_and_variable_arguments() {
    let (_, body) = function(
        "declare i32 @g()
declare i32 @__gxx_personality_v0(...)
@ti = external constant ptr
define i32 @f(ptr %list) personality ptr @__gxx_personality_v0 {
  %x = va_arg ptr %list, i32
  %y = invoke i32 @g() #1
          to label %ok unwind label %bad, !prof !{}
ok:
  invoke void asm \"\", \"\"() [ \"b\"() ] to label %done unwind label %bad
done:
  ret i32 %y
bad:
  %lp = landingpad { ptr, i32 }
          cleanup
          catch ptr @ti
          filter [0 x ptr] zeroinitializer
          catch ptr null
  resume { ptr, i32 } %lp
}",
    );
    assert!(matches!(
        body.blocks[0].insts[0].kind,
        InstKind::VaArg { .. }
    ));
    let Terminator::Invoke {
        result,
        normal,
        unwind,
        ..
    } = &body.blocks[0].terminator
    else {
        panic!("invoke")
    };
    assert!(result.is_some());
    assert_eq!((normal.index(), unwind.index()), (1, 3));
    assert!(matches!(
        &body.blocks[1].terminator,
        Terminator::Invoke { result: None, .. }
    ));
    let InstKind::LandingPad {
        cleanup: true,
        clauses,
        ..
    } = &body.blocks[3].insts[0].kind
    else {
        panic!("landingpad")
    };
    assert!(matches!(
        clauses[..],
        [Clause::Catch(_), Clause::Filter(_), Clause::Catch(_)]
    ));
    assert!(matches!(
        body.blocks[3].terminator,
        Terminator::Resume { .. }
    ));
}
