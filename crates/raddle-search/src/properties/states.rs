//! `states` against the oracle.

use super::{Summary, families, for_each_program};
use crate::oracle::{self, Mode, for_each_end};
use crate::states::{self, Cycles};
use crate::verdict::{Bound, Check, Checks, EngineKind, Reason, Verdict};
use crate::{SearchOptions, ViolationKey, check, ending};
use raddle_memory::MemoryModel;
use raddle_program::Program;
use raddle_testing::generate::{Features, GenOptions};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Threads that hold mutexes most of the time, hand over blocks, start and join each other.
fn disciplined() -> GenOptions {
    GenOptions {
        max_ops_per_thread: 7,
        variables: 1,
        max_interleavings: 60_000,
        features: Features {
            mutexes: true,
            branches: true,
            nested_spawns: true,
            heap: true,
            conditions: true,
            ..Features::NONE
        },
        ..GenOptions::default()
    }
}

/// Threads that pass memory on by flags, counts and semaphores, or should.
fn passing_on() -> GenOptions {
    GenOptions {
        max_ops_per_thread: 6,
        variables: 3,
        max_interleavings: 60_000,
        features: Features {
            orders: true,
            updates: true,
            mutexes: true,
            branches: true,
            assumes: true,
            nested_spawns: true,
            semaphores: true,
            heap: true,
            ..Features::NONE
        },
        ..GenOptions::default()
    }
}

fn kinds() -> [GenOptions; 5] {
    let waiting = families::complex();
    [
        GenOptions::default(),
        disciplined(),
        passing_on(),
        waiting,
        families::simple(),
    ]
}

/// What is done at once keeps nothing from being seen.
#[test]
fn every_end_and_every_local_state_is_seen() {
    for (kind, options) in kinds().into_iter().enumerate() {
        for_each_program(120, options, |seed, built| {
            let mut program = built.program();
            let truth = oracle::enumerate(&mut program, Mode::Memoised);
            let mut summary = Summary::default();
            let explored = states::explore(&mut program, MemoryModel::Sc, None, &mut summary);
            assert_eq!(explored.cycles, Cycles::None, "seed {seed} of {kind}");
            let (found, wanted) = (&summary.final_states, &truth.final_states);
            assert_eq!(found, wanted, "seed {seed} of {kind}");
            let (found, wanted) = (&summary.local_states, &truth.local_states);
            assert_eq!(found, wanted, "seed {seed} of {kind}");
        });
    }
}

fn violations_but_races(program: &mut Program) -> FxHashSet<ViolationKey> {
    let options = SearchOptions {
        checks: Checks {
            overflows: true,
            races: false,
            ..Checks::default()
        },
        keep_going: true,
        ..SearchOptions::default()
    };
    let outcome = check(program, EngineKind::States, options).expect("violations are reproduced");
    match outcome.verdict {
        Verdict::Violation(found) => found
            .iter()
            .map(|violation| ViolationKey::new(&violation.kind, violation.at))
            .collect(),
        Verdict::Verified(Bound::Complete)
        | Verdict::Inconclusive(Reason::NothingEnds { bound: None }) => FxHashSet::default(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_violation_but_races_is_found() {
    assert!(!EngineKind::States.makes(Check::Race));
    for (kind, options) in kinds().into_iter().enumerate() {
        for_each_program(60, options, |seed, built| {
            let mut program = built.program();
            let mut truth = oracle::enumerate(&mut program, Mode::Memoised).violations;
            truth.retain(|violation| !matches!(violation, ViolationKey::Race(..)));
            let found = violations_but_races(&mut program);
            assert_eq!(found, truth, "seed {seed} of {kind}");
        });
    }
}

/// Where stores are delayed, too.
#[test]
fn every_end_is_seen_under_each_memory_model() {
    let options = GenOptions {
        max_interleavings: 400,
        ..GenOptions::default()
    };
    for_each_program(60, options, |seed, built| {
        let mut program = built.program();
        for model in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
            let mut wanted = BTreeSet::new();
            for_each_end(&mut program, model, |_, machine| {
                let mut states: Vec<_> = ending::threads(machine)
                    .map(|thread| machine.thread_state(thread))
                    .collect();
                while states.last() == Some(&None) {
                    states.pop();
                }
                wanted.insert(states);
            });
            let mut summary = Summary::default();
            states::explore(&mut program, model, None, &mut summary);
            let found: BTreeSet<_> = summary.final_states.into_iter().collect();
            assert_eq!(found, wanted, "seed {seed} under {model:?}");
        }
    });
}
