//! Generated programs: exactly one execution per class of an independent enumeration.

use super::super::{Listener, Search};
use crate::driver::Reductions;
use raddle_memory::access::conflict;
use raddle_memory::{Access, AccessMode, Machine, Mark, MicroStep, Readiness, StepEnd};
use raddle_program::builder::{BuiltProgram, Compare, ProgramBuilder};
use raddle_program::generate::{GenOptions, Random, generate};
use raddle_program::{Op, Program, RmwKind, StateId, ThreadId};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// How the reference enumerates.
#[derive(Clone, Copy)]
struct Rules {
    additions: bool,
    awaits: bool,
}

/// An event, and what it accessed; identified by thread and position.
type Key = (Vec<(u32, u32, u32, u64)>, Vec<(u32, u32, u32, u32)>);

#[derive(Clone, Copy)]
struct Done {
    mark: Mark,
    suspended: Option<StateId>,
    is_pure: bool,
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

/// Would a step of `thread` only complete a pure iteration? Found by doing it.
fn closes_loop(
    program: &mut Program,
    machine: &mut Machine,
    done: &[Done],
    thread: ThreadId,
) -> bool {
    let mark = machine.mark();
    let from = machine.thread_state(thread);
    machine.step(program, thread, &[]);
    let is_attempt = matches!(
        from.map(|s| *program.op(s)),
        Some(Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. })
    );
    let is_pure = is_attempt && machine.is_pure_since(mark);
    let to = machine.thread_state(thread);
    machine.undo_to(mark);
    if !is_pure {
        return false;
    }
    if to == from {
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
                || (rules.awaits && closes_loop(program, machine, done, thread))
            {
                continue;
            }
            any = true;
            let mut choices = Vec::new();
            loop {
                let mark = machine.mark();
                let state = machine.thread_state(thread).expect("it is ready");
                machine.step(program, thread, &choices);
                let mut chosen = machine.chosen().to_vec();
                let can_be_pure = !matches!(
                    program.op(state),
                    Op::AtomicBegin
                        | Op::Choice { .. }
                        | Op::Sync { .. }
                        | Op::Join { .. }
                        | Op::Spawn { .. }
                );
                let is_pure = can_be_pure
                    && machine.is_pure_since(mark)
                    && !matches!(program.op(state), Op::Store { .. });
                done.push(Done {
                    mark,
                    suspended: machine.suspended(),
                    is_pure,
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
        purity: rules.awaits,
        awaits: rules.awaits,
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

/// A program whose threads spin, add, and store.
pub(crate) fn spinning(seed: u64) -> BuiltProgram {
    let mut random = Random::new(seed);
    let mut b = ProgramBuilder::new(&format!("spinning {seed}"));
    let vars = [b.var("x", 4), b.var("y", 4)];
    let threads = 2 + random.below(2);
    for i in 0..threads {
        let count = 1 + random.below(if threads == 2 { 4 } else { 3 });
        let plan: Vec<[u64; 3]> = (0..count)
            .map(|_| [random.below(9), random.below(2), random.below(3)])
            .collect();
        b.thread(&format!("t{i}"), |t| {
            for [kind, var, value] in plan {
                let x = vars[var as usize];
                match kind {
                    0 | 1 => t.store(x, value),
                    2 | 3 => {
                        t.fetch_add(x, 1);
                    }
                    4 => t.while_(|t| t.load(x).differs(value), |_| {}),
                    5 => t.while_(|t| t.load(x).is(value), |_| {}),
                    6 => t.while_(|t| t.exchange(x, 1).is(1), |_| {}),
                    7 => t.while_(|t| t.cas(x, value, 2).1.is(0), |_| {}),
                    _ => {
                        let old = t.fetch_add(x, 1);
                        t.if_(old.is(value), |t| t.store(vars[1 - var as usize], old));
                    }
                }
            }
        });
    }
    b.no_joins();
    b.build()
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

#[test]
fn one_execution_per_class() {
    for seed in seeds(400) {
        let built = generate(seed, &GenOptions::default());
        assert_one_execution_per_class(
            &built,
            Rules {
                additions: false,
                awaits: false,
            },
        );
    }
}

#[test]
fn one_execution_per_class_where_additions_commute() {
    for seed in seeds(400) {
        let built = generate(seed, &GenOptions::default());
        assert_one_execution_per_class(
            &built,
            Rules {
                additions: true,
                awaits: false,
            },
        );
    }
}

#[test]
fn one_execution_per_class_with_awaits() {
    for seed in seeds(400) {
        assert_one_execution_per_class(
            &spinning(seed),
            Rules {
                additions: false,
                awaits: true,
            },
        );
    }
}

#[test]
fn one_execution_per_class_with_awaits_of_sums() {
    for seed in seeds(400) {
        assert_one_execution_per_class(
            &spinning(seed),
            Rules {
                additions: true,
                awaits: true,
            },
        );
    }
}
