use super::*;
use crate::ids::FuncId;
use crate::passes::print::print_body;
use crate::passes::testing::interp::{run, run_spoiling};
use crate::passes::testing::random::random_body;
use crate::passes::testing::{Builder, Rng, value_of};
use crate::passes::{BodyProvider, Escapes};

/// One function that is looked into.
struct Only<'a>(FuncId, &'a Body);

impl BodyProvider for Only<'_> {
    fn body(&mut self, _: &mut Module, function: FuncId) -> Option<&Body> {
        (function == self.0).then_some(self.1)
    }
}

fn keeps_nothing(_: &str, _: usize) -> bool {
    true
}

/// What the analysis says of a body that is the only one.
fn analysed(b: &mut Builder, body: &Body) -> Option<StackLiveness> {
    let void = b.void;
    b.function("analysed", &[], void);
    let function = b.module.function_named("analysed").expect("declared");
    let mut escapes = Escapes::new(&keeps_nothing);
    let info = escapes.analyse(&mut b.module, &mut Only(function, body), function);
    StackLiveness::new(&b.module, body, &info.derived)
}

#[test]
fn nobody_reads_dead_bytes() {
    let mut spoilt = 0;
    for seed in 0..4000 {
        let mut rng = Rng::new(seed);
        let mut b = random_body(&mut rng);
        let body = b.finish();
        let Some(liveness) = analysed(&mut b, &body) else {
            continue;
        };
        let args = [rng.below(3) as u128, rng.below(3) as u128];
        let expected = run(&b.module, &body, &args, 60);
        let found = run_spoiling(&b.module, &body, &args, 60, &liveness);
        assert_eq!(
            expected,
            found,
            "seed {seed}: {}",
            print_body(&b.module, &body)
        );
        spoilt += usize::from(!liveness.dead_before(&body, BlockId(0), 0).is_empty());
    }
    assert!(spoilt > 1000, "{spoilt}");
}

/// The bytes of a variable that are dead.
fn of(dead: &[Dead], variable: Operand) -> Vec<(usize, usize)> {
    let found = dead.iter().find(|dead| dead.alloca == value_of(variable));
    let bytes = found.map_or(&[][..], |dead| &dead.bytes);
    bytes.iter().map(|range| (range.start, range.end)).collect()
}

/// `while is_err(&(result = attempt())) {}`: two bytes are stored one by one, and passed to a call.
#[test]
fn results_of_rounds_are_dead_between_them() {
    let mut b = Builder::new();
    let (i8, i1, ptr) = (b.i8, b.i1, b.ptr);
    let pair = b.strukt(&[i8, i8]);
    let result = b.alloca(pair);
    let header = b.block();
    let exit = b.block();
    b.br(header);
    b.at(header);
    let attempt = b.call("attempt", &[], Some(i8));
    b.store(i8, attempt, result);
    let second = b.gep(pair, result, &[0, 1]);
    b.store(i8, attempt, second);
    let failed = b.call("is_err", &[(ptr, result)], Some(i1));
    b.cond(failed, header, exit);
    b.at(exit).ret_void();
    let body = b.finish();
    let liveness = analysed(&mut b, &body).expect("one variable");
    assert_eq!(
        of(&liveness.dead_before(&body, header, 0), result),
        [(0, 2)]
    );
    assert_eq!(
        of(&liveness.dead_during(&body, header, 0), result),
        [(0, 2)]
    );
    // The first byte is written, the second one not yet.
    assert_eq!(
        of(&liveness.dead_before(&body, header, 2), result),
        [(1, 2)]
    );
    assert_eq!(of(&liveness.dead_before(&body, header, 4), result), []);
    // The call has it, though nobody will read it afterwards.
    assert_eq!(of(&liveness.dead_during(&body, header, 4), result), []);
    assert_eq!(
        of(&liveness.dead_before(&body, header, 5), result),
        [(0, 2)]
    );
}

#[test]
fn what_is_read_in_the_next_round_is_live() {
    let mut b = Builder::new();
    let (i32, i1, ptr) = (b.i32, b.i1, b.ptr);
    let counter = b.alloca(i32);
    let zero = b.c32(0);
    b.store(i32, zero, counter);
    let header = b.block();
    let exit = b.block();
    b.br(header);
    let again = b.at(header).call("next", &[(ptr, counter)], Some(i1));
    b.cond(again, header, exit);
    b.at(exit).ret_void();
    let body = b.finish();
    let liveness = analysed(&mut b, &body).expect("one variable");
    assert_eq!(of(&liveness.dead_before(&body, header, 0), counter), []);
    assert_eq!(of(&liveness.dead_before(&body, exit, 0), counter), [(0, 4)]);
}

/// A call makes its result; where it unwinds it does not.
#[test]
fn results_are_made_anew() {
    for unwinds in [false, true] {
        let mut b = Builder::new();
        let (i64, ptr) = (b.i64, b.ptr);
        let made = b.array(i64, 3);
        let result = b.alloca(made);
        let (normal, unwind) = (b.block(), b.block());
        b.at(BlockId(0)).call("make", &[(ptr, result)], None);
        let call = b.body.blocks[0].insts.pop().expect("a call");
        let InstKind::Call(mut call) = call.kind else {
            panic!("a call");
        };
        call.sret = Some((0, made));
        b.end(Terminator::Invoke {
            result: None,
            call,
            normal,
            unwind,
        });
        let loaded = b.at(normal).load(i64, result);
        b.ret(i64, loaded);
        b.at(unwind);
        if unwinds {
            b.load(i64, result);
        }
        b.ret_void();
        let body = b.finish();
        let liveness = analysed(&mut b, &body).expect("one variable");
        let dead = of(&liveness.dead_before(&body, BlockId(0), 1), result);
        let all = match unwinds {
            true => (8, 24),
            false => (0, 24),
        };
        assert_eq!(dead, [all]);
        assert_eq!(of(&liveness.dead_during(&body, BlockId(0), 1), result), []);
    }
}

#[test]
fn whoever_comes_back_twice_is_left_alone() {
    let mut b = Builder::new();
    let (i32, ptr) = (b.i32, b.ptr);
    let buffer = b.alloca(i32);
    b.call("_setjmp", &[(ptr, buffer)], Some(i32));
    b.ret_void();
    let body = b.finish();
    assert!(analysed(&mut b, &body).is_none());
}

#[test]
fn large_variables_are_looked_at_in_groups() {
    let whole = Variable {
        alloca: ValueId(0),
        size: 100,
        unit: 2,
    };
    assert_eq!(whole.all().count_ones(), 50);
    assert_eq!(whole.covered(&(1..5)), 0b10);
    assert_eq!(whole.touched(&(1..5)), 0b111);
    assert_eq!(whole.covered(&(99..200)), 0);
    assert_eq!(whole.bytes(0b1011), [0..4, 6..8]);
    let odd = Variable { size: 65, ..whole };
    assert_eq!(odd.covered(&(0..65)), odd.all());
    assert_eq!(odd.bytes(1 << 32).first(), Some(&(64..65)));
}
