use super::*;
use crate::constant::Constant;
use crate::debug::{DebugVariable, SourceType, SourceTypeId};
use crate::inst::{
    AtomicOrdering, BinaryOp, CastOp, InstKind, IntPredicate, Operand, SyncScope, Terminator,
};
use crate::passes::print::print_body;
use crate::passes::testing::check::check_ssa;
use crate::passes::testing::interp::run;
use crate::passes::testing::random::random_body;
use crate::passes::testing::{Builder, Rng, count, memory_insts, value_of};
use crate::passes::{prepare, prepare_with};
use crate::types::{FloatKind, Type};

fn prepared(build: &mut Builder) -> Body {
    let body = build.finish();
    let done = prepare(&mut build.module, body);
    check_ssa(&done);
    done
}

/// Random bodies do the same before and after.
#[test]
fn preparing_keeps_the_meaning_of_random_bodies() {
    let mut rng = Rng::new(20_240_501);
    let (mut before, mut after) = (0, 0);
    for round in 0..6000 {
        let mut build = random_body(&mut rng);
        let body = build.finish();
        let done = prepare(&mut build.module, body.clone());
        check_ssa(&done);
        before += memory_insts(&body);
        after += memory_insts(&done);
        for args in [[0, 1], [2, 1], [3, 3]] {
            let expected = run(&build.module, &body, &args, 40);
            let found = run(&build.module, &done, &args, 40);
            assert!(
                expected == found,
                "round {round}, {args:?}\n{expected:?}\n{found:?}\n{}\n{}",
                print_body(&build.module, &body),
                print_body(&build.module, &done)
            );
        }
        let again = prepare(&mut build.module, done.clone());
        assert_eq!(
            again, done,
            "round {round}: preparing twice changes something"
        );
    }
    // The test is worth something only if a good part was promoted, and a good part was not.
    assert!(after * 10 < before * 7, "{after} of {before} accesses left");
    assert!(after * 10 > before, "{after} of {before} accesses left");
}

/// `for (i = 0; i < n; i++) sum += i;` as a front end writes it.
#[test]
fn a_counting_loop_needs_no_memory() {
    let mut b = Builder::new();
    let i32 = b.i32;
    let n = b.param(i32);
    let (header, work, done) = (b.block(), b.block(), b.block());
    let (slot_n, i, sum) = (b.alloca(i32), b.alloca(i32), b.alloca(i32));
    let (zero, one) = (b.c32(0), b.c32(1));
    b.store(i32, n, slot_n);
    b.store(i32, zero, i);
    b.store(i32, zero, sum);
    b.br(header);
    b.at(header);
    let (x, y) = (b.load(i32, i), b.load(i32, slot_n));
    let more = b.icmp(IntPredicate::Ult, i32, x, y);
    b.cond(more, work, done);
    b.at(work);
    let (x, s) = (b.load(i32, i), b.load(i32, sum));
    let s = b.binary(BinaryOp::Add, s, x);
    b.store(i32, s, sum);
    let x = b.load(i32, i);
    let x = b.binary(BinaryOp::Add, x, one);
    b.store(i32, x, i);
    b.br(header);
    b.at(done);
    let s = b.load(i32, sum);
    b.ret(i32, s);
    let body = prepared(&mut b);
    assert_eq!(memory_insts(&body), 0);
    assert_eq!(body.blocks[1].phis.len(), 2, "i and sum, but not n");
    assert_eq!(body.value_types.len(), 1 + 2 + 1 + 2);
}

/// clang -O0 of `while (!atomic_compare_exchange_weak(p, &expected, expected + 1));`.
#[test]
fn the_expected_value_of_a_compare_exchange_is_promoted() {
    let mut b = Builder::new();
    let (i32, i1, i8, ptr) = (b.i32, b.i1, b.i8, b.ptr);
    let p = b.param(ptr);
    let (retry, failed, joined, done) = (b.block(), b.block(), b.block(), b.block());
    let (expected, desired, succeeded) = (b.alloca(i32), b.alloca(i32), b.alloca(i8));
    let (zero, one) = (b.c32(0), b.c32(1));
    b.store(i32, zero, expected);
    b.br(retry);
    b.at(retry);
    let e = b.load(i32, expected);
    let d = b.binary(BinaryOp::Add, e, one);
    b.store(i32, d, desired);
    let (e, d) = (b.load(i32, expected), b.load(i32, desired));
    let pair = b.strukt(&[i32, i1]);
    let exchanged = b.push(
        Some(pair),
        InstKind::CmpXchg {
            ty: i32,
            ptr: p,
            expected: e,
            new: d,
            success: AtomicOrdering::SeqCst,
            failure: AtomicOrdering::SeqCst,
            scope: SyncScope::System,
            weak: true,
            volatile: false,
            align: 4,
        },
    );
    let extract = |b: &mut Builder, ty, index| {
        b.push(
            Some(ty),
            InstKind::ExtractValue {
                aggregate_ty: pair,
                aggregate: exchanged,
                indices: vec![index],
            },
        )
    };
    let old = extract(&mut b, i32, 0);
    let ok = extract(&mut b, i1, 1);
    b.cond(ok, joined, failed);
    b.at(failed).store(i32, old, expected);
    b.at(failed).br(joined);
    b.at(joined);
    let wide = b.cast(CastOp::ZExt, i1, i8, ok);
    b.store(i8, wide, succeeded);
    let wide = b.load(i8, succeeded);
    let narrow = b.cast(CastOp::Trunc, i8, i1, wide);
    b.cond(narrow, done, retry);
    b.at(done).ret_void();
    let body = prepared(&mut b);
    assert_eq!(memory_insts(&body), 0);
    assert_eq!(count(&body, |k| matches!(k, InstKind::CmpXchg { .. })), 1);
    assert_eq!(body.blocks[1].phis.len(), 1);
}

#[test]
fn reading_before_writing_is_undefined() {
    let mut b = Builder::new();
    let i32 = b.i32;
    let x = b.alloca(i32);
    let x = b.load(i32, x);
    b.ret(i32, x);
    let body = prepared(&mut b);
    let Terminator::Ret {
        value: Some(Operand::Const(id)),
        ..
    } = body.blocks[0].terminator
    else {
        panic!("not a constant")
    };
    assert_eq!(*b.module.constant(id), Constant::Undef(i32));
}

/// Where that is asked for: a variable that is written on one way only, beside one that is written on both.
#[test]
fn what_may_be_read_before_it_is_written_stays_in_memory() {
    let mut b = Builder::new();
    let (i32, i1) = (b.i32, b.i1);
    let condition = b.param(i1);
    let (x, y) = (b.alloca(i32), b.alloca(i32));
    let (then, otherwise, after) = (b.block(), b.block(), b.block());
    let one = b.int(i32, 1);
    b.cond(condition, then, otherwise);
    b.at(then).store(i32, one, x);
    b.store(i32, one, y);
    b.br(after);
    b.at(otherwise).store(i32, one, y);
    b.br(after);
    b.at(after);
    let (x, y) = (b.load(i32, x), b.load(i32, y));
    let sum = b.binary(BinaryOp::Add, x, y);
    b.ret(i32, sum);
    let body = b.finish();
    let kept = prepare_with(&mut b.module, body.clone(), Unwritten::InMemory);
    check_ssa(&kept);
    // The variable, a store and a load.
    assert_eq!(memory_insts(&kept), 3);
    let promoted = prepare(&mut b.module, body);
    assert_eq!(memory_insts(&promoted), 0);
}

#[test]
fn accesses_of_another_type_are_cast() {
    let mut b = Builder::new();
    let (i64, i32, ptr) = (b.i64, b.i32, b.ptr);
    let double = b.module.types.intern(Type::Float(FloatKind::Double));
    let p = b.param(ptr);
    let d = b.param(double);
    let (slot, other) = (b.alloca(i64), b.alloca(i64));
    b.store(ptr, p, slot);
    let bits = b.load(i64, slot);
    b.store(i64, bits, other);
    b.store(double, d, other);
    let q = b.load(ptr, other);
    let zero = b.c32(0);
    b.store(i32, zero, q);
    b.ret(i64, bits);
    let body = prepared(&mut b);
    assert_eq!(memory_insts(&body), 1, "{}", print_body(&b.module, &body));
    let casts = |op| {
        count(
            &body,
            |k| matches!(k, InstKind::Cast { op: o, .. } if *o == op),
        )
    };
    assert_eq!(casts(CastOp::PtrToInt), 1);
    assert_eq!(casts(CastOp::Bitcast), 1, "the double, through an integer");
    assert_eq!(casts(CastOp::IntToPtr), 1);
}

#[test]
fn volatile_atomic_and_escaping_variables_stay() {
    let mut b = Builder::new();
    let (i32, ptr) = (b.i32, b.ptr);
    let (v, a, e, out) = (b.alloca(i32), b.alloca(i32), b.alloca(i32), b.alloca(i32));
    let one = b.c32(1);
    b.push(
        None,
        InstKind::Store {
            ty: i32,
            value: one,
            ptr: v,
            align: 4,
            volatile: true,
            atomic: None,
        },
    );
    let _ = b.load(i32, v);
    b.store_atomic(i32, one, a);
    let _ = b.load(i32, a);
    b.store(i32, one, e);
    b.call("keep", &[(ptr, e)], None);
    let last = b.load(i32, e);
    // An access outside of the variable is an error that must stay.
    let beyond = b.gep(i32, out, &[1]);
    b.store(i32, one, beyond);
    b.ret(i32, last);
    let body = prepared(&mut b);
    assert_eq!(memory_insts(&body), 4 + 7, "all of them, even unused loads");
}

#[test]
fn fields_are_promoted_one_by_one_and_the_rest_stays() {
    let mut b = Builder::new();
    let (i32, i64) = (b.i32, b.i64);
    let n = b.param(i32);
    let array = b.array(i32, 4);
    let record = b.strukt(&[i32, array, i64]);
    let s = b.alloca(record);
    let first = b.gep(record, s, &[0, 0]);
    b.store(i32, n, first);
    let second = b.gep(record, s, &[0, 1, 2]);
    b.store(i32, n, second);
    // Two different cuts of the same bytes.
    let wide = b.gep(record, s, &[0, 2]);
    b.store(i32, n, wide);
    let whole = b.load(i64, wide);
    let (x, y) = (b.load(i32, first), b.load(i32, second));
    let sum = b.binary(BinaryOp::Add, x, y);
    b.call("observe", &[(i32, sum)], None);
    b.ret(i64, whole);
    let body = prepared(&mut b);
    assert_eq!(memory_insts(&body), 3, "{}", print_body(&b.module, &body));
}

#[test]
fn a_variable_index_keeps_the_array() {
    let mut b = Builder::new();
    let (i32, ptr) = (b.i32, b.ptr);
    let n = b.param(i32);
    let array = b.array(i32, 4);
    let a = b.alloca(array);
    b.memset(a, 0, 16);
    let at = b.push(
        Some(ptr),
        InstKind::Gep {
            source: i32,
            base: a,
            indices: vec![(i32, n)],
            inbounds: true,
        },
    );
    let x = b.load(i32, at);
    b.ret(i32, x);
    let body = prepared(&mut b);
    assert_eq!(memory_insts(&body), 2);
    assert_eq!(count(&body, |k| matches!(k, InstKind::Call(_))), 1);
}

#[test]
fn sets_and_copies_of_constant_size_are_taken_apart() {
    let mut b = Builder::new();
    let (i32, i8) = (b.i32, b.i8);
    let pair = b.strukt(&[i32, i32]);
    let raw = b.array(i8, 8);
    let n = b.param(i32);
    let (x, y, z) = (b.alloca(pair), b.alloca(raw), b.alloca(pair));
    b.memset(x, 0xff, 8);
    let field = b.gep(pair, x, &[0, 1]);
    b.store(i32, n, field);
    b.memcpy(y, x, 8);
    b.memcpy(z, y, 8);
    let (f0, f1) = (b.gep(pair, z, &[0, 0]), b.gep(pair, z, &[0, 1]));
    let (v0, v1) = (b.load(i32, f0), b.load(i32, f1));
    let sum = b.binary(BinaryOp::Add, v0, v1);
    b.ret(i32, sum);
    let body = prepared(&mut b);
    assert_eq!(
        body.blocks[0].insts.len(),
        1,
        "{}",
        print_body(&b.module, &body)
    );
    let InstKind::Binary { lhs, rhs, .. } = body.blocks[0].insts[0].kind else {
        panic!("not the sum")
    };
    assert_eq!(lhs, b.c32(u32::MAX));
    assert_eq!(rhs, n);
}

#[test]
fn a_copy_from_shared_memory_stays() {
    let mut b = Builder::new();
    let (i32, ptr) = (b.i32, b.ptr);
    let p = b.param(ptr);
    let x = b.alloca(i32);
    b.memcpy(x, p, 4);
    let v = b.load(i32, x);
    b.ret(i32, v);
    let body = prepared(&mut b);
    assert_eq!(memory_insts(&body), 2);
    assert_eq!(count(&body, |k| matches!(k, InstKind::Call(_))), 1);
}

#[test]
fn unused_loads_of_shared_memory_and_divisions_stay() {
    let mut b = Builder::new();
    let (i32, ptr) = (b.i32, b.ptr);
    let p = b.param(ptr);
    let x = b.load(i32, p);
    let three = b.c32(3);
    let _ = b.binary(BinaryOp::UDiv, three, x);
    let _ = b.binary(BinaryOp::UDiv, x, three);
    let minus_one = b.c32(u32::MAX);
    let _ = b.binary(BinaryOp::SDiv, x, minus_one);
    b.ret_void();
    let body = prepared(&mut b);
    assert_eq!(body.blocks[0].insts.len(), 3);
}

#[test]
fn a_marker_ends_the_life_of_a_value_in_a_loop() {
    let mut b = Builder::new();
    let i32 = b.i32;
    let (again, done) = (b.block(), b.block());
    let x = b.alloca(i32);
    b.br(again);
    b.at(again);
    b.lifetime_start(x);
    let g = b.global("g", i32, false);
    let v = b.load(i32, g);
    b.store(i32, v, x);
    let v = b.load(i32, x);
    let zero = b.c32(0);
    let more = b.icmp(IntPredicate::Eq, i32, v, zero);
    b.cond(more, again, done);
    b.at(done).ret_void();
    let body = prepared(&mut b);
    assert!(body.blocks.iter().all(|block| block.phis.is_empty()));
    assert_eq!(memory_insts(&body), 1);
    assert_eq!(count(&body, |k| matches!(k, InstKind::Call(_))), 0);
}

#[test]
fn names_of_variables_move_to_the_values() {
    let mut b = Builder::new();
    let i32 = b.i32;
    let int = SourceTypeId(0);
    b.module.debug.types = vec![
        SourceType::Scalar {
            name: "int".into(),
            size: 4,
            signed: true,
        },
        SourceType::Array {
            element: int,
            len: 2,
        },
        SourceType::Record {
            name: "s".into(),
            size: 12,
            fields: vec![("head".into(), 0, int), ("tail".into(), 4, SourceTypeId(1))],
        },
    ];
    let n = b.param(i32);
    let (x, tail, join) = (b.alloca(i32), b.block(), b.block());
    let array = b.array(i32, 2);
    let record = b.strukt(&[i32, array]);
    let s = b.alloca(record);
    for (value, name, ty) in [(x, "x", 0), (s, "s", 2)] {
        b.body.variables.push((
            value_of(value),
            DebugVariable {
                name: name.into(),
                ty: Some(SourceTypeId(ty)),
                is_parameter: false,
                is_address: true,
            },
        ));
    }
    let (zero, one) = (b.c32(0), b.c32(1));
    b.store(i32, zero, x);
    let part = b.gep(record, s, &[0, 1, 1]);
    let sum = b.binary(BinaryOp::Add, n, one);
    b.store(i32, sum, part);
    let small = b.icmp(IntPredicate::Ult, i32, n, one);
    b.cond(small, tail, join);
    b.at(tail).store(i32, n, x);
    b.at(tail).br(join);
    b.at(join);
    let (v, w) = (b.load(i32, x), b.load(i32, part));
    let total = b.binary(BinaryOp::Add, v, w);
    b.ret(i32, total);
    let body = prepared(&mut b);
    assert_eq!(memory_insts(&body), 0);
    let named: Vec<_> = body
        .variables
        .iter()
        .map(|(value, variable)| (*value, &*variable.name, variable.ty))
        .collect();
    assert!(body.variables.iter().all(|(_, v)| !v.is_address));
    let phi = body.blocks[2].phis[0].result;
    let sum = body.blocks[0].insts[0].result.expect("a sum");
    assert!(named.contains(&(phi, "x", Some(int))), "{named:?}");
    assert!(named.contains(&(value_of(n), "x", Some(int))), "{named:?}");
    assert!(named.contains(&(sum, "s.tail[1]", Some(int))), "{named:?}");
    assert_eq!(named.len(), 3, "{named:?}");
}

#[test]
fn input_that_is_not_in_ssa_form_does_no_harm() {
    let mut b = Builder::new();
    let i32 = b.i32;
    let x = b.alloca(i32);
    let y = b.load(i32, x);
    b.ret(i32, y);
    let mut body = b.finish();
    // Store a value before it is computed, from itself.
    let code = &mut body.blocks[0];
    let mut early = code.insts[1].clone();
    early.result = None;
    early.kind = InstKind::Store {
        ty: i32,
        value: y,
        ptr: x,
        align: 4,
        volatile: false,
        atomic: None,
    };
    code.insts.insert(1, early);
    let done = prepare(&mut b.module, body);
    assert_eq!(memory_insts(&done), 0);
}

#[test]
fn a_body_of_nothing_stays_one() {
    let mut module = Module::default();
    let empty = Body::default();
    assert_eq!(prepare(&mut module, empty.clone()), empty);
}
