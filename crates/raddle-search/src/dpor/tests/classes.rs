//! Generated programs: exactly one execution per class of an independent enumeration.

use super::super::Search;
use crate::driver::Reductions;
use crate::listener::Listener;
use crate::spinning::{Done, Purity, for_each_end, run_again, seeds, spinning_otherwise};
use raddle_memory::access::conflict;
use raddle_memory::{Access, AccessMode, Machine, MicroStep, StepEnd};
use raddle_program::{Op, Program, RmwKind, ThreadId};
use raddle_testing::builder::BuiltProgram;
use raddle_testing::generate::{GenOptions, generate};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// How the reference enumerates.
#[derive(Clone, Copy)]
struct Rules {
    ifaa: bool,
    purity: Purity,
}

/// An event, and what it accessed; identified by thread and position.
type Key = (Vec<(u32, u32, u32, u64)>, Vec<(u32, u32, u32, u32)>);

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
                    && rules.ifaa
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

/// All classes, by running every interleaving.
fn all_classes(program: &mut Program, rules: Rules) -> BTreeMap<Key, u64> {
    let mut classes = BTreeMap::new();
    for_each_end(program, rules.purity, |program, machine, done| {
        *classes
            .entry(class(program, machine, done, rules))
            .or_insert(0) += 1;
    });
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
        let (fresh, done) = run_again(program, machine);
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
    program.learn_uses(false);
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
        net_effect: true,
        ifaa: rules.ifaa,
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

fn try_programs(options: &GenOptions, rules: Rules) {
    for seed in seeds(300) {
        assert_one_execution_per_class(&generate(seed, options), rules);
    }
}

#[test]
fn one_execution_per_class() {
    let rules = Rules {
        ifaa: false,
        purity: Purity::Off,
    };
    try_programs(&GenOptions::default(), rules);
}

#[test]
fn one_execution_per_class_with_independent_fetch_and_adds() {
    let rules = Rules {
        ifaa: true,
        purity: Purity::Off,
    };
    try_programs(&GenOptions::default(), rules);
}

#[test]
fn one_execution_per_class_with_awaits() {
    let rules = Rules {
        ifaa: false,
        purity: Purity::Awaits,
    };
    try_programs(&GenOptions::spinning(), rules);
}

#[test]
fn one_execution_per_class_with_other_awaits() {
    for seed in seeds(300) {
        assert_one_execution_per_class(
            &spinning_otherwise(seed),
            Rules {
                ifaa: false,
                purity: Purity::Awaits,
            },
        );
    }
}

#[test]
fn one_execution_per_class_with_awaits_of_sums() {
    let rules = Rules {
        ifaa: true,
        purity: Purity::Awaits,
    };
    try_programs(&GenOptions::spinning(), rules);
}

#[test]
fn one_execution_per_class_with_purity_alone() {
    for ifaa in [false, true] {
        let rules = Rules {
            ifaa,
            purity: Purity::Assumes,
        };
        try_programs(&GenOptions::spinning(), rules);
    }
}
