use super::*;
use raddle_program::fault::{Fault, Stop};
use raddle_program::op::Op;

/// Walks one thread on its own: `values` are what its operations return.
fn walk(program: &mut Program, values: &[Value]) -> Vec<Op> {
    let mut state = program.main();
    let mut ops = vec![*program.op(state)];
    for &value in values {
        state = program.after(state, value);
        ops.push(*program.op(state));
    }
    ops
}

#[test]
fn a_spin_loop_returns_to_its_state() {
    let mut p = ProgramBuilder::new("spin");
    let x = p.var("x", 4);
    p.main(|t| t.while_(|t| t.load(x).is(0), |_| {}));
    let mut program = p.build().program();
    let start = program.main();
    assert_eq!(program.after(start, 0), start);
    let end = program.after(start, 7);
    assert_eq!(*program.op(end), Op::Exit { value: 0 });
}

#[test]
fn dead_registers_do_not_tell_states_apart() {
    let mut p = ProgramBuilder::new("dead");
    let (x, y) = (p.var("x", 4), p.var("y", 4));
    p.main(|t| {
        let a = t.load(x);
        t.store(y, a & 1);
        t.load(y);
    });
    let mut program = p.build().program();
    let start = program.main();
    // The store's value is what is left of `a`.
    let (odd, odd_too, even) = (
        program.after(start, 1),
        program.after(start, 3),
        program.after(start, 2),
    );
    assert_eq!(odd, odd_too);
    assert_ne!(odd, even);
    assert_eq!(program.after(odd, 0), program.after(even, 0));
}

#[test]
fn spawn_arguments_tell_states_apart() {
    let mut p = ProgramBuilder::new("argument");
    let x = p.var("x", 4);
    let child = p.child("child", |t| {
        let arg = t.argument();
        t.store(x, arg);
    });
    p.main(|t| {
        let a = t.load(x);
        t.spawn_with(child, a);
    });
    let mut program = p.build().program();
    let main = program.main();
    for value in [1, 2] {
        let spawn = program.after(main, value);
        let &Op::Spawn { start, .. } = program.op(spawn) else {
            panic!("not a spawn: {:?}", program.op(spawn));
        };
        assert!(matches!(program.op(start), Op::Store { value: v, .. } if *v == value));
    }
}

#[test]
fn control_flow_and_faults() {
    let mut p = ProgramBuilder::new("control");
    let x = p.var("x", 1);
    p.main(|t| {
        let n = t.val(0);
        t.loop_(|t| {
            let v = t.load(x);
            t.if_else(v.is(0), |t| t.break_(), |t| t.set(n, n + 1));
            t.assert(n.below(3));
        });
        t.assume(n.differs(1));
        t.exit(n);
    });
    let built = p.build();
    let last = |values: &[Value]| {
        let mut program = built.program();
        let op = *walk(&mut program, values).last().expect("main starts");
        (op, program)
    };
    assert_eq!(last(&[0]).0, Op::Exit { value: 0 });
    assert_eq!(last(&[1, 0]).0, Op::AssumeFailed);
    assert_eq!(last(&[1, 1, 0]).0, Op::Exit { value: 2 });
    let (Op::Stop(stop), program) = last(&[1, 1, 1]) else {
        panic!("the assertion holds");
    };
    assert!(matches!(
        program.tables().stop_info(stop),
        Stop::Fault(Fault::Assertion { condition, .. }) if &**condition == "r3 < 3"
    ));
}

#[test]
fn pointers_are_checked() {
    let mut p = ProgramBuilder::new("heap");
    p.main(|t| {
        let block = t.alloc(8);
        t.store_plain(deref(block + 4, 4), 1);
        let which = t.choice(3);
        t.if_(which.is(0), |t| t.store(deref(0, 4), 1));
        t.if_(which.is(1), |t| t.store(deref(block + 8, 1), 1));
        t.free(block);
        t.free(0);
    });
    let built = p.build();
    let mut program = built.program();
    let ops = walk(&mut program, &[0, 0, 2, 0]);
    assert!(matches!(ops[0], Op::Alloc { .. }));
    assert!(matches!(ops[3], Op::Free { .. }));
    assert_eq!(ops[4], Op::Exit { value: 0 });
    for (choice, what) in [(0, "NullDereference"), (1, "OutOfBounds")] {
        let ops = walk(&mut program, &[0, 0, choice]);
        let Op::Stop(stop) = ops[3] else {
            panic!("{:?} is no fault", ops[3]);
        };
        assert!(format!("{:?}", program.tables().stop_info(stop)).contains(what));
    }
}

#[test]
fn printed_lines_are_positions() {
    let mut p = ProgramBuilder::new("printed");
    let x = p.var("x", 4);
    let m = p.mutex("m");
    p.thread("t", |t| {
        t.lock(m);
        let r = t.load_plain(x);
        t.if_else(r.is(0), |t| t.store_plain(x, 1), |t| t.store(x, r + 2));
        t.unlock(m);
    });
    let built = p.build();
    let text = built.to_string();
    let mut program = built.program();
    let mut state = program.main();
    let &Op::Spawn { start, .. } = program.op(state) else {
        panic!("main spawns");
    };
    let mut seen = Vec::new();
    state = start;
    for value in [0, 5, 0, 0] {
        let at = program.tables().source_loc(program.at(state));
        let line = at.expect("built programs have positions").line;
        seen.push(text.lines().nth(line as usize - 1).unwrap_or("").to_owned());
        state = program.after(state, value);
    }
    let expected = ["lock m", "r3 = load x", "store.sc x = r3 + 2", "unlock m"];
    for (line, expected) in seen.iter().zip(expected) {
        assert!(
            line.ends_with(expected),
            "{line:?} is not {expected:?}\n{text}"
        );
    }
}

#[test]
fn dropped_snapshots_change_nothing() {
    let mut p = ProgramBuilder::new("snapshots");
    let x = p.var("x", 4);
    p.main(|t| {
        let sum = t.val(0);
        for _ in 0..4 {
            let r = t.load(x);
            t.set(sum, sum + r);
        }
        t.exit(sum);
    });
    let built = p.build();
    let mut all = built.program();
    let mut few = built.program_with_snapshot_limit(1);
    for values in [[1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 1, 1], [1, 2, 3, 4]] {
        assert_eq!(walk(&mut all, &values), walk(&mut few, &values));
    }
}
