//! Problems that grow between questions.

use raddle_order::{EventId, GraphSet, Limits, Lit, OrderConfig, OrderSolver, Outcome};

fn solver_with(events: usize) -> (OrderSolver, GraphSet, Vec<EventId>) {
    let config = OrderConfig {
        paranoid: true,
        ..OrderConfig::default()
    };
    let mut solver = OrderSolver::new(config);
    let graph = solver.new_graph().into();
    let events = (0..events).map(|_| solver.new_event(Lit::TRUE)).collect();
    (solver, graph, events)
}

fn verdict(solver: &mut OrderSolver, assumptions: &[Lit]) -> bool {
    match solver.solve(assumptions, &Limits::default()) {
        Outcome::Sat => true,
        Outcome::Unsat => false,
        Outcome::Unknown(_) => unreachable!("no limit was set"),
    }
}

#[test]
fn an_order_can_be_hung_on_a_literal_that_is_already_true() {
    let (mut solver, graph, e) = solver_with(2);
    let (holds, fails) = (solver.new_lit(), solver.new_lit());
    solver.clause(&[holds]);
    solver.clause(&[!fails]);
    assert!(verdict(&mut solver, &[]));
    solver.order_if(graph, e[0], e[1], holds);
    solver.order_if(graph, e[1], e[0], fails);
    assert!(verdict(&mut solver, &[]));
    let back = solver.new_lit();
    solver.order_if(graph, e[1], e[0], back);
    assert!(!verdict(&mut solver, &[back]));
    assert_eq!(solver.core(), &[back]);
    assert!(verdict(&mut solver, &[!back]));
    solver.order(graph, e[1], e[0]);
    assert!(!verdict(&mut solver, &[]));
}

#[test]
fn cores_name_the_assumptions_of_the_cycle() {
    let (mut solver, graph, e) = solver_with(4);
    let lits: Vec<Lit> = (0..5).map(|_| solver.new_lit()).collect();
    for (at, &lit) in lits[..4].iter().enumerate() {
        solver.order_if(graph, e[at], e[(at + 1) % 4], lit);
    }
    assert!(!verdict(&mut solver, &lits));
    let mut core = solver.core().to_vec();
    core.sort_unstable();
    assert_eq!(core, &lits[..4], "the fifth has nothing to do with it");
    for skipped in 0..4 {
        let rest: Vec<Lit> = lits
            .iter()
            .copied()
            .filter(|&lit| lit != lits[skipped])
            .collect();
        assert!(verdict(&mut solver, &rest));
        let order = solver.execution(solver.graphs().next().expect("there is one"));
        assert_eq!(order.len(), 4);
    }
}

#[test]
fn events_and_sources_may_come_later() {
    let (mut solver, graph, e) = solver_with(2);
    let (write, read) = (e[0], e[1]);
    let first = solver.reads_from(graph, graph, write, read);
    let wanted = solver.new_lit();
    solver.reads_some(read, &[first, wanted]);
    assert!(verdict(&mut solver, &[!wanted]));
    let guard = solver.new_lit();
    let other = solver.new_event(guard);
    let pair = solver.serialise(graph, write, other);
    // Between the write and the read, if it happens.
    solver.order(graph, other, read);
    assert!(verdict(&mut solver, &[!wanted, !guard]));
    assert!(verdict(&mut solver, &[!wanted, guard]));
    assert!(
        solver.value(pair.backward),
        "the other write comes first: the read does not see it"
    );
    assert!(!verdict(&mut solver, &[!wanted, guard, pair.forward]));
}
