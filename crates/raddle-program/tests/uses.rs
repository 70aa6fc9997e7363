//! What threads do in loops, learnt from the automata.

use raddle_program::{Op, Order, Program, StateId};
use raddle_testing::builder::{Compare, ProgramBuilder};

/// Walks all edges that the values 0 and 1 lead along.
fn walk(program: &mut Program) {
    let mut at = 0;
    let _ = program.main();
    while at < program.state_count() {
        let state = StateId::from_index(at);
        if !program.op(state).is_terminal() {
            program.after(state, 0);
            program.after(state, 1);
        }
        at += 1;
    }
}

#[test]
fn what_is_met_matters_if_it_is_read_in_a_loop() {
    for in_loop in [true, false] {
        let mut b = ProgramBuilder::new("uses");
        let (x, d) = (b.var("x", 4), b.var("d", 4));
        b.thread("t", |t| {
            if in_loop {
                t.while_(
                    |t| t.load(x).is(0),
                    |t| {
                        t.load_plain(d);
                    },
                );
            } else {
                t.load(x);
                t.load_plain(d);
            }
        });
        b.thread("u", |t| t.store_plain(d, 1));
        let mut program = b.build().program();
        walk(&mut program);
        let reads: Vec<StateId> = (0..program.state_count())
            .map(StateId::from_index)
            .filter(|&state| {
                matches!(
                    program.op(state),
                    Op::Load {
                        order: Order::Plain,
                        ..
                    }
                )
            })
            .collect();
        assert!(!reads.is_empty());
        assert!(!reads.iter().any(|&state| program.may_race(state)));
        assert_eq!(program.learn_uses(true), in_loop);
        assert!(reads.iter().all(|&state| program.may_race(state)));
        assert!(!program.learn_uses(true));
    }
}

/// `main` and a thread access `c`, which the thread stores to in a loop: before it is started, while it runs, behind its end.
#[test]
fn what_starting_and_joining_orders_is_private() {
    for (when, private) in [(0, true), (1, false), (2, true)] {
        let mut b = ProgramBuilder::new("sharing");
        let (x, c) = (b.var("x", 4), b.var("c", 4));
        let t = b.thread("t", |t| {
            t.while_(|t| t.load(x).is(0), |t| t.store_plain(c, 0));
        });
        b.main(move |m| {
            if when == 0 {
                m.store_plain(c, 1);
            }
            let handle = m.spawn(t);
            if when == 1 {
                m.store_plain(c, 1);
            }
            m.join(handle);
            if when == 2 {
                m.store_plain(c, 1);
            }
        });
        let mut program = b.build().program();
        walk(&mut program);
        // Where nobody has looked, it is taken to be.
        let loc = (0..program.state_count())
            .map(StateId::from_index)
            .find_map(|state| match *program.op(state) {
                Op::Store { loc, .. } => Some(loc),
                _ => None,
            })
            .unwrap();
        assert!(program.is_private(loc));
        // Only another answer is a reason to explore again.
        assert_eq!(program.learn_uses(false), !private, "{when}");
        assert_eq!(program.is_private(loc), private, "{when}");
    }
}
