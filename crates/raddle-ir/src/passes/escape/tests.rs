use super::*;
use crate::inst::{AtomicOrdering, CastOp, IntPredicate, RmwOp, SyncScope};
use crate::passes::testing::{Builder, value_of};
use std::collections::HashMap;

#[derive(Default)]
struct Bodies(HashMap<FuncId, Body>);

impl BodyProvider for Bodies {
    fn body(&mut self, _: &mut Module, function: FuncId) -> Option<&Body> {
        self.0.get(&function)
    }
}

/// The library of these tests: `lock` keeps nothing, `create` keeps its last argument, `copy` returns its first.
fn library(name: &str, index: usize) -> bool {
    match name {
        "lock" | "copy" => true,
        "create" => index < 3,
        _ => false,
    }
}

struct World {
    b: Builder,
    bodies: Bodies,
}

impl World {
    fn new() -> Self {
        Self {
            b: Builder::new(),
            bodies: Bodies::default(),
        }
    }

    /// Ends the body under construction as the definition of `name`.
    fn define(&mut self, name: &str, returns_pointer: bool) -> FuncId {
        let body = self.b.finish();
        let params = body.value_types[..body.param_count as usize].to_vec();
        let ret = if returns_pointer {
            self.b.ptr
        } else {
            self.b.void
        };
        let id = self.b.function(name, &params, ret);
        self.b.module.functions[id.index()].is_declaration = false;
        self.bodies.0.insert(id, body);
        id
    }

    fn private(&mut self, function: FuncId) -> Vec<usize> {
        let mut escapes = Escapes::new(&library);
        let info = escapes.analyse(&mut self.b.module, &mut self.bodies, function);
        info.private.iter().collect()
    }

    fn param(&mut self, function: FuncId, index: usize) -> ParamSummary {
        let mut escapes = Escapes::new(&library);
        escapes.param(&mut self.b.module, &mut self.bodies, function, index)
    }

    /// A function with one `i32` alloca used by `code` alone: is it private?
    fn keeps_private(mut self, code: impl FnOnce(&mut Builder, Operand)) -> bool {
        let i32 = self.b.i32;
        let x = self.b.alloca(i32);
        self.b.ret_void();
        code(&mut self.b, x);
        let f = self.define("main", false);
        self.private(f).contains(&value_of(x).index())
    }
}

#[test]
fn accesses_through_the_address_are_harmless() {
    assert!(World::new().keeps_private(|b, x| {
        let (i32, ptr) = (b.i32, b.ptr);
        let one = b.c32(1);
        b.store_atomic(i32, one, x);
        let _ = b.load(i32, x);
        b.push(
            Some(i32),
            InstKind::AtomicRmw {
                op: RmwOp::Add,
                ty: i32,
                ptr: x,
                value: one,
                ordering: AtomicOrdering::SeqCst,
                scope: SyncScope::System,
                volatile: false,
                align: 4,
            },
        );
        let null = b.constant(Constant::Null);
        b.icmp(IntPredicate::Eq, ptr, x, null);
        b.memset(x, 0, 4);
        b.lifetime_start(x);
        let g = b.global("g", i32, false);
        b.memcpy(g, x, 4);
        b.call("lock", &[(ptr, x)], None);
    }));
}

#[test]
fn derived_addresses_are_followed() {
    let derive = |b: &mut Builder, x| {
        let (i64, ptr) = (b.i64, b.ptr);
        let moved = b.gep(b.i8, x, &[1]);
        let pair = b.strukt(&[ptr, ptr]);
        let undef = b.constant(Constant::Undef(pair));
        let both = b.push(
            Some(pair),
            InstKind::InsertValue {
                aggregate_ty: pair,
                aggregate: undef,
                value_ty: ptr,
                value: moved,
                indices: vec![0],
            },
        );
        let out = b.push(
            Some(ptr),
            InstKind::ExtractValue {
                aggregate_ty: pair,
                aggregate: both,
                indices: vec![0],
            },
        );
        let bits = b.cast(CastOp::PtrToInt, ptr, i64, out);
        let back = b.cast(CastOp::IntToPtr, i64, ptr, bits);
        b.phi(ptr, &[(crate::ids::BlockId(0), back)])
    };
    assert!(World::new().keeps_private(|b, x| {
        let derived = derive(b, x);
        let _ = b.load(b.i32, derived);
    }));
    assert!(!World::new().keeps_private(|b, x| {
        let derived = derive(b, x);
        let g = b.global("g", b.ptr, false);
        b.store(b.ptr, derived, g);
    }));
}

#[test]
fn addresses_that_leave_escape() {
    assert!(!World::new().keeps_private(|b, x| {
        let g = b.global("g", b.ptr, false);
        b.store(b.ptr, x, g);
    }));
    assert!(!World::new().keeps_private(|b, x| b.ret(b.ptr, x)));
    assert!(!World::new().keeps_private(|b, x| {
        b.call("unknown", &[(b.ptr, x)], None);
    }));
    assert!(!World::new().keeps_private(|b, x| {
        let g = b.global("g", b.ptr, false);
        let callee = b.load(b.ptr, g);
        b.call_operand(callee, &[(b.ptr, x)], None);
    }));
    assert!(!World::new().keeps_private(|b, x| {
        let null = b.constant(Constant::Null);
        let ptr = b.ptr;
        b.call(
            "create",
            &[(ptr, null), (ptr, null), (ptr, null), (ptr, x)],
            None,
        );
    }));
    assert!(World::new().keeps_private(|b, x| {
        let null = b.constant(Constant::Null);
        let ptr = b.ptr;
        b.call(
            "create",
            &[(ptr, x), (ptr, null), (ptr, null), (ptr, null)],
            None,
        );
    }));
    // It is not kept, but comes back, and that is kept.
    assert!(!World::new().keeps_private(|b, x| {
        let ptr = b.ptr;
        let same = b.call("copy", &[(ptr, x)], Some(ptr));
        let g = b.global("g", ptr, false);
        b.store(ptr, same, g);
    }));
}

#[test]
fn nocapture_is_believed_for_intrinsics_only() {
    let code = |name: &'static str| {
        move |b: &mut Builder, x: Operand| {
            let ptr = b.ptr;
            b.call(name, &[(ptr, x)], None);
            let id = b.module.function_named(name).expect("declared");
            b.module.functions[id.index()].param_nocapture = vec![true];
        }
    };
    assert!(!World::new().keeps_private(code("run_thread_and_join")));
    assert!(World::new().keeps_private(code("llvm.some.new.thing")));
}

#[test]
fn a_copy_passed_by_value_is_the_callees() {
    let mut w = World::new();
    let (i32, ptr) = (w.b.i32, w.b.ptr);
    let p = w.b.param(ptr);
    let g = w.b.global("g", ptr, false);
    w.b.store(ptr, p, g);
    w.b.ret_void();
    let f = w.define("f", false);
    w.b.module.functions[f.index()].param_byval = vec![Some(i32)];
    assert!(w.private(f).is_empty());

    let x = w.b.alloca(i32);
    w.b.call("f", &[(ptr, x)], None);
    if let InstKind::Call(call) = &mut w.b.body.blocks[0].insts[1].kind {
        call.byval = vec![(0, i32)];
    }
    w.b.ret_void();
    let main = w.define("main", false);
    assert_eq!(w.private(main), [value_of(x).index()]);
}

#[test]
fn callees_are_looked_into() {
    let mut w = World::new();
    let (i32, ptr) = (w.b.i32, w.b.ptr);
    // id(p) { return p; }
    let p = w.b.param(ptr);
    w.b.ret(ptr, p);
    let id = w.define("id", true);
    // set(p, q) { *p = 1; global = q; }
    let (p, q) = (w.b.param(ptr), w.b.param(ptr));
    let one = w.b.c32(1);
    w.b.store(i32, one, p);
    let g = w.b.global("g", ptr, false);
    w.b.store(ptr, q, g);
    w.b.ret_void();
    let set = w.define("set", false);
    // main() { set(id(&x), id(&y)); }
    let (x, y) = (w.b.alloca(i32), w.b.alloca(i32));
    let a = w.b.call("id", &[(ptr, x)], Some(ptr));
    let b = w.b.call("id", &[(ptr, y)], Some(ptr));
    w.b.call("set", &[(ptr, a), (ptr, b)], None);
    w.b.ret_void();
    let main = w.define("main", false);
    assert_eq!(w.private(main), [value_of(x).index()]);
    let returned = w.param(id, 0);
    assert!(returned.returned && !returned.captured);
    assert!(!w.param(set, 0).captured && w.param(set, 1).captured);
    assert!(w.param(set, 2).captured, "there is no such parameter");
}

#[test]
fn recursion_is_solved_by_iteration() {
    let mut w = World::new();
    let ptr = w.b.ptr;
    // even(p, q) { odd(p, q); }   odd(p, q) { even(p, q); global = q; }
    let (p, q) = (w.b.param(ptr), w.b.param(ptr));
    w.b.call("odd", &[(ptr, p), (ptr, q)], None);
    w.b.ret_void();
    let even = w.define("even", false);
    let (p, q) = (w.b.param(ptr), w.b.param(ptr));
    w.b.call("even", &[(ptr, p), (ptr, q)], None);
    let g = w.b.global("g", ptr, false);
    w.b.store(ptr, q, g);
    w.b.ret_void();
    let odd = w.define("odd", false);
    for function in [even, odd] {
        assert!(!w.param(function, 0).captured);
        assert!(w.param(function, 1).captured);
    }
}

#[test]
fn thread_locals_stay_with_the_thread_or_do_not() {
    let mut w = World::new();
    let (i32, ptr) = (w.b.i32, w.b.ptr);
    let [own, shown, passed, inside] =
        ["own", "shown", "passed", "inside"].map(|name| w.b.global(name, i32, true));
    let plain = w.b.global("plain", i32, false);
    // use(p) { *p; }
    let p = w.b.param(ptr);
    let _ = w.b.load(i32, p);
    w.b.ret_void();
    let user = w.define("use", false);
    let one = w.b.c32(1);
    w.b.store(i32, one, own);
    let address =
        w.b.call("llvm.threadlocal.address.p0", &[(ptr, own)], Some(ptr));
    let _ = w.b.load(i32, address);
    w.b.store(ptr, shown, plain);
    w.b.call("use", &[(ptr, passed)], None);
    w.b.ret_void();
    let main = w.define("main", false);
    // Another function leaks it in a constant expression.
    let Operand::Const(base) = inside else {
        panic!("a constant")
    };
    let Operand::Const(index) = one else {
        panic!("a constant")
    };
    let expr = ConstantExpr::Gep {
        source: i32,
        base,
        indices: [index].into(),
    };
    let leaked = w.b.constant(Constant::Expr(ptr, expr));
    w.b.ret(ptr, leaked);
    let leak = w.define("leak", true);
    let mut escapes = Escapes::new(&library);
    let mut private = |functions: &[FuncId]| {
        escapes
            .private_thread_locals(&mut w.b.module, &mut w.bodies, functions)
            .iter()
            .collect::<Vec<_>>()
    };
    assert_eq!(private(&[main, user]), [0, 2, 3]);
    assert_eq!(private(&[main, user, leak]), [0, 2]);
}
