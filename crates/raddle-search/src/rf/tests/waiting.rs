//! Loops that wait: exactly one execution per class of an independent enumeration.

use super::super::Search;
use crate::dpor::Listener;
use crate::driver::Reductions;
use crate::spinning::{Done, Purity, for_each_end, run_again, seeds, spinning};
use raddle_memory::{Machine, StepEnd};
use raddle_program::builder::BuiltProgram;
use raddle_program::{LocId, Program, StateId, ThreadId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// An event, by its thread and position.
type Name = (u32, u32);
/// What every event does, where it reads from, and the order of the writes of the locations that threads wait for.
type Key = (
    Vec<(Name, u32)>,
    Vec<(Name, u32, Option<Name>)>,
    Vec<(u32, Vec<Name>)>,
);

/// The class of the machine's execution, given the locations that threads wait for.
fn class(program: &Program, machine: &Machine, done: &[Done], chained: &[LocId]) -> Key {
    let (mut events, mut reads) = (Vec::new(), Vec::new());
    let mut last: BTreeMap<u32, Name> = BTreeMap::new();
    let mut chains: BTreeMap<u32, Vec<Name>> = BTreeMap::new();
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for (i, event) in done.iter().enumerate() {
        let end = done
            .get(i + 1)
            .map_or(machine.steps().len(), |next| next.mark.steps());
        for step in &machine.steps()[event.mark.steps()..end] {
            let index = counts.entry(step.thread.0).or_insert(0);
            *index += 1;
            let name = (step.thread.0, *index);
            events.push((name, step.state.0));
            raddle_memory::accesses(program, step, |access| {
                if access.mode.reads() {
                    reads.push((name, access.loc.0, last.get(&access.loc.0).copied()));
                }
                if access.mode.writes() {
                    last.insert(access.loc.0, name);
                    if chained.contains(&access.loc) {
                        chains.entry(access.loc.0).or_default().push(name);
                    }
                }
            });
        }
    }
    events.sort_unstable();
    reads.sort_unstable();
    (events, reads, chains.into_iter().collect())
}

/// The local states that the threads of an execution went through.
fn states(machine: &Machine) -> impl Iterator<Item = StateId> {
    let threads = (0..machine.thread_count()).map(ThreadId::from_index);
    let now = threads.filter_map(|thread| machine.thread_state(thread));
    machine.steps().iter().map(|step| step.state).chain(now)
}

/// The executions of a search.
#[derive(Default)]
struct Seen {
    executions: Vec<(Machine, Vec<Done>)>,
}

impl Listener for Seen {
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
        self.executions.push(run_again(program, machine));
        ControlFlow::Continue(())
    }

    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        unreachable!("no execution is given up")
    }

    fn restarted(&mut self) {
        *self = Self::default();
    }
}

fn assert_one_execution_per_class(built: &BuiltProgram) {
    let mut program = built.program();
    let mut seen = Seen::default();
    let mut search = Search::new(&program, Reductions::default());
    let _ = search.run(&mut program, &mut seen);
    let chained = search.trace.chained().to_vec();
    let mut explored: BTreeMap<Key, u64> = BTreeMap::new();
    let mut explored_states = BTreeSet::new();
    for (machine, done) in &seen.executions {
        let key = class(&program, machine, done, &chained);
        *explored.entry(key).or_insert(0) += 1;
        explored_states.extend(states(machine));
    }
    let (mut classes, mut all_states) = (BTreeSet::new(), BTreeSet::new());
    for_each_end(&mut program, Purity::Awaits, |program, machine, done| {
        classes.insert(class(program, machine, done, &chained));
        all_states.extend(states(machine));
    });
    let missing = classes
        .iter()
        .filter(|key| !explored.contains_key(*key))
        .count();
    let extra = explored
        .keys()
        .filter(|key| !classes.contains(*key))
        .count();
    let twice = explored.values().filter(|&&count| count > 1).count();
    assert_eq!(
        (missing, extra, twice),
        (0, 0, 0),
        "missing, extra, twice of {} classes, waiting for {chained:?}, of\n{built}",
        classes.len()
    );
    assert_eq!(explored_states, all_states, "{built}");
}

#[test]
fn one_execution_per_class_with_awaits() {
    for seed in seeds(400) {
        assert_one_execution_per_class(&spinning(seed));
    }
}
