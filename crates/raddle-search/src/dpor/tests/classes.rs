//! Generated programs: exactly one execution per class of an independent enumeration.

use super::super::{Listener, Search};
use crate::driver::Reductions;
use raddle_memory::access::conflict;
use raddle_memory::{Access, AccessMode, Machine, Mark, MicroStep, Readiness, StepEnd};
use raddle_program::builder::BuiltProgram;
use raddle_program::generate::{GenOptions, generate};
use raddle_program::{Op, Program, RmwKind, StateId, ThreadId, Value};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// How the reference enumerates.
#[derive(Clone, Copy)]
struct Rules {
    additions: bool,
    purity: Purity,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purity {
    Off,
    /// A thread that completed a pure round goes no further.
    Assumes,
    /// A thread does not complete pure rounds.
    Awaits,
}

/// An event, and what it accessed; identified by thread and position.
type Key = (Vec<(u32, u32, u32, u64)>, Vec<(u32, u32, u32, u32)>);

#[derive(Clone, Copy)]
struct Done {
    mark: Mark,
    suspended: Option<StateId>,
    is_pure: bool,
    ends_thread: bool,
}

/// The class of the machine's execution: its events and the order of those that conflict.
fn class(program: &Program, machine: &Machine, done: &[Done], rules: Rules) -> Key {
    let mut events = Vec::new();
    let mut counts = std::collections::BTreeMap::new();
    for (i, event) in done.iter().enumerate() {
        let end = done
            .get(i + 1)
            .map_or(machine.steps().len(), |next| next.mark.steps());
        let steps = &machine.steps()[event.mark.steps()..end];
        let mut accesses = Vec::new();
        for step in steps {
            raddle_memory::accesses(program, step, |mut access| {
                if let Op::Rmw {
                    loc,
                    kind: RmwKind::Add | RmwKind::Sub,
                    ..
                } = *program.op(step.state)
                    && rules.additions
                    && steps.len() == 1
                    && loc == access.loc
                    && program.ignores_result(step.state)
                {
                    access.mode = AccessMode::Add;
                }
                accesses.push(access);
            });
        }
        if let Some(state) = event.suspended
            && let Op::Sync { cell, .. } = *program.op(state)
        {
            accesses.push(Access {
                loc: cell,
                mode: AccessMode::Read,
            });
        }
        let thread = steps[0].thread.0;
        let index = counts.entry(thread).or_insert(0u32);
        *index += 1;
        events.push((thread, *index, steps.to_vec(), accesses));
    }
    let value = |step: &MicroStep| {
        if program.ignores_result(step.state) {
            0
        } else {
            step.value
        }
    };
    let mut names: Vec<_> = events
        .iter()
        .flat_map(|(t, i, steps, _)| steps.iter().map(|s| (*t, *i, s.state.0, value(s))))
        .collect();
    names.sort_unstable();
    let mut order = Vec::new();
    for (i, a) in events.iter().enumerate() {
        for b in &events[i + 1..] {
            let conflicts = |x| b.3.iter().any(|&y| conflict(program.tables(), x, y));
            if a.0 != b.0 && a.3.iter().copied().any(conflicts) {
                order.push((a.0, a.1, b.0, b.1));
            }
        }
    }
    order.sort_unstable();
    (names, order)
}

/// Can the operation be a part of a pure round at all?
fn is_attempt(op: &Op) -> bool {
    match op {
        Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. } => true,
        Op::Sync { action, .. } => action.is_try(),
        _ => false,
    }
}

/// What the location of an access holds, if the access would leave it as it is.
fn held_if_pure(program: &Program, machine: &mut Machine, state: StateId) -> Option<Value> {
    let tables = program.tables();
    match *program.op(state) {
        Op::Load { loc, .. } => Some(machine.peek(tables, loc)),
        Op::Cas {
            loc, expected, new, ..
        } => {
            let held = machine.peek(tables, loc);
            (held != expected || held == new).then_some(held)
        }
        Op::Rmw {
            loc, kind, operand, ..
        } => {
            let held = machine.peek(tables, loc);
            let new = kind.apply(held, operand, tables.loc_info(loc).size);
            (new == held).then_some(held)
        }
        _ => None,
    }
}

/// Would a step of `thread` only complete a pure round? Found by doing it.
fn closes_loop(
    program: &mut Program,
    machine: &mut Machine,
    done: &[Done],
    thread: ThreadId,
) -> bool {
    let mark = machine.mark();
    let Some(from) = machine.thread_state(thread) else {
        return false;
    };
    if !is_attempt(program.op(from)) || machine.is_in_block(thread) {
        return false;
    }
    let held = held_if_pure(program, machine, from);
    let end = machine.step(program, thread, &[]);
    let to = match end {
        StepEnd::Done if machine.is_pure_since(mark) => machine.thread_state(thread),
        // It has been waiting since before its object was freed, and goes on to: `Frame::look_at_spinning` finds the fault.
        StepEnd::Fault(_) => held.map(|held| program.after(from, held)),
        _ => None,
    };
    machine.undo_to(mark);
    if to.is_none() {
        return false;
    }
    if to == Some(from) {
        return true;
    }
    for event in done.iter().rev() {
        let step = machine.steps()[event.mark.steps()];
        if step.thread == thread {
            if !event.is_pure {
                return false;
            }
            if Some(step.state) == to {
                return true;
            }
        }
    }
    false
}

/// Has the thread completed a pure round and must stop?
fn is_ended(machine: &Machine, done: &[Done], thread: ThreadId) -> bool {
    let mut own = done
        .iter()
        .filter(|event| machine.steps()[event.mark.steps()].thread == thread);
    own.next_back().is_some_and(|last| last.ends_thread)
}

/// Is the next access of the thread to a location of mixed size?
fn is_mixed(program: &Program, machine: &Machine, thread: ThreadId) -> bool {
    match machine.thread_state(thread).map(|state| *program.op(state)) {
        Some(Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. }) => {
            program.tables().loc_info(loc).mixed
        }
        _ => false,
    }
}

/// All classes, by running every interleaving.
fn all_classes(program: &mut Program, rules: Rules) -> BTreeMap<Key, u64> {
    fn go(
        program: &mut Program,
        machine: &mut Machine,
        done: &mut Vec<Done>,
        rules: Rules,
        classes: &mut BTreeMap<Key, u64>,
    ) {
        let mut any = false;
        for thread in (0..machine.thread_count()).map(ThreadId::from_index) {
            if machine.readiness(program, thread) != Readiness::Ready
                || is_ended(machine, done, thread)
            {
                continue;
            }
            let closes = rules.purity != Purity::Off && closes_loop(program, machine, done, thread);
            let waits = rules.purity == Purity::Awaits && !is_mixed(program, machine, thread);
            if closes && waits {
                continue;
            }
            any = true;
            let mut choices = Vec::new();
            loop {
                let mark = machine.mark();
                let state = machine.thread_state(thread).expect("it is ready");
                let in_block = machine.is_in_block(thread);
                machine.step(program, thread, &choices);
                let mut chosen = machine.chosen().to_vec();
                let can_be_pure =
                    is_attempt(program.op(state)) || matches!(program.op(state), Op::Fence { .. });
                let is_pure = can_be_pure && !in_block && machine.is_pure_since(mark);
                done.push(Done {
                    mark,
                    suspended: machine.suspended(),
                    is_pure,
                    ends_thread: closes,
                });
                go(program, machine, done, rules, classes);
                done.pop();
                machine.undo_to(mark);
                while chosen.last().is_some_and(|c| c.taken + 1 >= c.count) {
                    chosen.pop();
                }
                let Some(last) = chosen.last_mut() else { break };
                last.taken += 1;
                choices = chosen.iter().map(|c| c.taken).collect();
            }
        }
        if !any {
            *classes
                .entry(class(program, machine, done, rules))
                .or_insert(0) += 1;
        }
    }
    let mut machine = Machine::new(program);
    let mut classes = BTreeMap::new();
    go(program, &mut machine, &mut Vec::new(), rules, &mut classes);
    classes
}

/// Collects the classes of explored executions.
struct Classes {
    seen: BTreeMap<Key, u64>,
    given_up: u64,
    rules: Rules,
}

impl Listener for Classes {
    fn stepped(
        &mut self,
        _: &mut Program,
        _: &mut Machine,
        _: ThreadId,
        _: StepEnd,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn undone(&mut self, _: usize) {}
    fn ended(&mut self, program: &mut Program, machine: &mut Machine) -> ControlFlow<()> {
        // Run it again to know where events begin.
        let steps = machine.steps().to_vec();
        let mut fresh = Machine::new(program);
        let mut done = Vec::new();
        while fresh.steps().len() < steps.len() {
            let rest = &steps[fresh.steps().len()..];
            let thread = rest[0].thread;
            let choices: Vec<u32> = rest
                .iter()
                .take_while(|step| step.thread == thread)
                .filter(|step| matches!(program.op(step.state), Op::Choice { .. }))
                .map(|step| step.value as u32)
                .collect();
            let mark = fresh.mark();
            fresh.step(program, thread, &choices);
            done.push(Done {
                mark,
                suspended: fresh.suspended(),
                is_pure: false,
                ends_thread: false,
            });
        }
        assert_eq!(fresh.steps(), &steps[..]);
        *self
            .seen
            .entry(class(program, &fresh, &done, self.rules))
            .or_insert(0) += 1;
        ControlFlow::Continue(())
    }
    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        self.given_up += 1;
        ControlFlow::Continue(())
    }
}

fn assert_one_execution_per_class(built: &BuiltProgram, rules: Rules) {
    if std::env::var("SHOW").is_ok() {
        println!("{built}");
    }
    let mut program = built.program();
    // That sizes are mixed may turn out on the way only: all must know it from the start.
    let _ = all_classes(&mut program, rules);
    let classes = all_classes(&mut program, rules);
    if std::env::var("SHOW").is_ok() {
        println!("{} classes", classes.len());
    }
    let mut listener = Classes {
        seen: BTreeMap::new(),
        given_up: 0,
        rules,
    };
    let reductions = Reductions {
        purity: rules.purity != Purity::Off,
        awaits: rules.purity == Purity::Awaits,
        additions: rules.additions,
    };
    let _ = Search::new(&program, reductions).run(&mut program, &mut listener);
    let missing = classes
        .keys()
        .filter(|key| !listener.seen.contains_key(*key))
        .count();
    let extra = listener
        .seen
        .keys()
        .filter(|key| !classes.contains_key(*key))
        .count();
    let twice = listener.seen.values().filter(|&&count| count > 1).count();
    assert_eq!(
        (missing, extra, twice, listener.given_up),
        (0, 0, 0, 0),
        "missing, extra, twice, given up of {} classes of\n{built}",
        classes.len()
    );
}

/// How many programs a property is tried on, and from which seed on.
fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str, default| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let from = number("RADDLE_PROPTEST_SEED", 0);
    from..from + number("RADDLE_PROPTEST_CASES", default)
}

fn try_programs(options: &GenOptions, rules: Rules) {
    for seed in seeds(300) {
        assert_one_execution_per_class(&generate(seed, options), rules);
    }
}

#[test]
fn one_execution_per_class() {
    let rules = Rules {
        additions: false,
        purity: Purity::Off,
    };
    try_programs(&GenOptions::default(), rules);
}

#[test]
fn one_execution_per_class_where_additions_commute() {
    let rules = Rules {
        additions: true,
        purity: Purity::Off,
    };
    try_programs(&GenOptions::default(), rules);
}

#[test]
fn one_execution_per_class_with_awaits() {
    let rules = Rules {
        additions: false,
        purity: Purity::Awaits,
    };
    try_programs(&GenOptions::spinning(), rules);
}

#[test]
fn one_execution_per_class_with_awaits_of_sums() {
    let rules = Rules {
        additions: true,
        purity: Purity::Awaits,
    };
    try_programs(&GenOptions::spinning(), rules);
}

#[test]
fn one_execution_per_class_with_purity_alone() {
    for additions in [false, true] {
        let rules = Rules {
            additions,
            purity: Purity::Assumes,
        };
        try_programs(&GenOptions::spinning(), rules);
    }
}
