//! Loops that wait: exactly one execution per class of an independent enumeration.

use super::super::Search;
use super::{explore, explore_with};
use crate::driver::Reductions;
use crate::listener::Listener;
use crate::spinning::{Done, Purity, for_each_end, run_again, seeds, spinning, spinning_otherwise};
use crate::{Bound, Checks, EngineKind, SearchOptions, Verdict, ViolationKind, check};
use raddle_memory::{Machine, StepEnd};
use raddle_program::{LocId, Program, StateId, ThreadId};
use raddle_testing::builder::{BuiltProgram, Compare, ProgramBuilder};
use raddle_testing::generate::{GenOptions, generate};
use raddle_testing::samples;
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

#[test]
fn one_execution_per_class_with_other_awaits() {
    for seed in seeds(300) {
        assert_one_execution_per_class(&spinning_otherwise(seed));
    }
}

/// Two variables that threads lock by spinning, with plain updates inside, and stores that nobody reads beside it.
fn locks(threads: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("locks");
    let [lock, x, unread] = ["lock", "x", "unread"].map(|name| b.var(name, 4));
    for i in 0..threads {
        b.thread(&format!("t{i}"), |t| {
            t.store(unread, i);
            t.while_(|t| t.cas(lock, 0, 1).1.is(0), |_| {});
            t.fetch_add(x, 1);
            t.store(lock, 0);
        });
    }
    b.no_joins();
    b.build()
}

#[test]
fn spin_locks_leave_nothing_blocked() {
    for (threads, orders) in [(2, 2), (3, 6), (4, 24)] {
        assert_eq!(explore(&locks(threads)), (orders, 0));
    }
    for (threads, expected) in [(3, 36), (4, 576)] {
        assert_eq!(explore(&samples::ttaslock(threads)), (expected, 0));
    }
}

#[test]
fn trylock_loops_are_awaits_too() {
    let mut b = ProgramBuilder::new("trylock");
    let m = b.mutex("m");
    let x = b.var("x", 4);
    for i in 0..3 {
        b.thread(&format!("t{i}"), |t| {
            t.while_(|t| t.try_lock(m).is(0), |_| {});
            t.store(x, i);
            t.unlock(m);
        });
    }
    assert_eq!(explore(&b.build()), (6, 0));
}

/// The order of writes that nobody waits for makes no difference, however many loops there are.
#[test]
fn loops_do_not_order_other_writes() {
    let mut b = ProgramBuilder::new("flag");
    let [flag, x] = ["flag", "x"].map(|name| b.var(name, 4));
    for i in 0..4 {
        b.thread(&format!("w{i}"), |t| t.store(x, i));
        b.thread(&format!("r{i}"), |t| {
            t.while_(|t| t.load(flag).is(0), |_| {})
        });
    }
    b.thread("go", |t| t.store(flag, 1));
    assert_eq!(explore(&b.build()), (1, 0));
}

#[test]
fn a_spin_loop_without_writer_is_blocked_once() {
    let mut b = ProgramBuilder::new("livelock");
    let x = b.var("x", 4);
    b.thread("q", |t| t.while_(|t| t.load(x).is(0), |_| {}));
    assert_eq!(explore(&b.build()), (0, 1));
}

#[test]
fn purity_without_awaits_blocks_those_who_read_too_early() {
    let mut b = ProgramBuilder::new("spin");
    let x = b.var("x", 4);
    b.thread("p", |t| t.store(x, 1));
    b.thread("q", |t| t.while_(|t| t.load(x).is(0), |_| {}));
    let reductions = Reductions {
        awaits: false,
        ..Reductions::default()
    };
    assert_eq!(explore_with(&b.build(), reductions), (1, 1));
}

/// A block writes what a loop waits for: such a variable is not chained, and who reads too early is blocked.
#[test]
fn a_loop_that_waits_for_a_block_ends() {
    let mut b = ProgramBuilder::new("block");
    let [x, y] = ["x", "y"].map(|name| b.var(name, 4));
    b.thread("p", |t| {
        t.atomic(|t| {
            t.store(x, 1);
            t.store(y, 1);
        });
    });
    b.thread("q", |t| t.while_(|t| t.load(x).is(0), |_| {}));
    assert_eq!(explore(&b.build()), (1, 1));
}

fn livelocks(built: &BuiltProgram) -> Verdict {
    let checks = Checks {
        deadlocks: false,
        livelocks: true,
        ..Checks::default()
    };
    let options = SearchOptions {
        checks,
        ..SearchOptions::default()
    };
    let outcome = check(&mut built.program(), EngineKind::Rf, options);
    outcome.expect("violations are reproduced").verdict
}

#[test]
fn livelocks_are_told_from_reading_too_early() {
    // The order of the two stores decides, though nobody but the loop reads them.
    for (stores, ends_well) in [(&[1][..], true), (&[], false), (&[1, 0], false)] {
        let mut b = ProgramBuilder::new("spin");
        let x = b.var("x", 4);
        for &value in stores {
            b.thread(&format!("w{value}"), |t| t.store(x, value));
        }
        b.thread("q", |t| t.while_(|t| t.load(x).is(0), |_| {}));
        match livelocks(&b.build()) {
            Verdict::Verified(Bound::Complete) => assert!(ends_well),
            Verdict::Violation(found) => {
                assert!(!ends_well);
                assert!(matches!(found[0].kind, ViolationKind::Livelock { .. }));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_plain_spin_loop_races_with_writes_that_do_not_end_it() {
    let mut b = ProgramBuilder::new("race");
    let x = b.var("x", 4);
    b.thread("p", |t| t.store_plain(x, 0));
    b.thread("q", |t| t.while_(|t| t.load_plain(x).is(0), |_| {}));
    let outcome = check(
        &mut b.build().program(),
        EngineKind::Rf,
        SearchOptions::default(),
    );
    let Verdict::Violation(found) = outcome.expect("violations are reproduced").verdict else {
        panic!("no race")
    };
    assert!(matches!(found[0].kind, ViolationKind::Race(_)));
}

/// What a thread waits for may turn out, in the middle of an execution, to be a part of what another one writes. Seed 1406 is such a program.
#[test]
fn what_is_waited_for_becomes_a_part() {
    let kinds = |built: &BuiltProgram, engine| {
        let options = SearchOptions {
            keep_going: true,
            ..SearchOptions::default()
        };
        let outcome = check(&mut built.program(), engine, options).unwrap();
        match outcome.verdict {
            Verdict::Violation(found) => found
                .iter()
                .map(|found| format!("{:?}", std::mem::discriminant(&found.kind)))
                .collect(),
            Verdict::Verified(_) => BTreeSet::new(),
            other => BTreeSet::from([format!("{other:?}")]),
        }
    };
    for seed in seeds(120).chain([1406]) {
        let built = generate(seed, &GenOptions::spinning());
        let (rf, dpor) = (EngineKind::Rf, EngineKind::Dpor);
        assert_eq!(kinds(&built, rf), kinds(&built, dpor), "{built}");
    }
}
