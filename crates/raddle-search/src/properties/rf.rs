//! `rf` against the oracle.

use super::{Summary, for_each_program, violations};
use crate::driver::Reductions;
use crate::driver::ViolationKey;
use crate::oracle::{self, Mode};
use crate::rf;
use crate::verdict::EngineKind;
use raddle_program::generate::{Features, GenOptions};
use rustc_hash::FxHashSet;

/// Exactly one execution of each reads-from class, and all that can be seen in any execution is seen.
fn explores_each_class_once(cases: u64, options: GenOptions) {
    for_each_program(cases, options, |seed, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised);
        let mut summary = Summary::default();
        let _ = rf::Search::new(&program, Reductions::default()).run(&mut program, &mut summary);
        assert_eq!(
            (summary.complete, summary.blocked, summary.given_up),
            (
                truth.complete.reads_from as u64,
                truth.blocked.reads_from as u64,
                0
            ),
            "seed {seed}"
        );
        assert_eq!(summary.final_states, truth.final_states);
        assert_eq!(summary.local_states, truth.local_states);
    });
}

#[test]
fn rf_explores_each_class_once() {
    explores_each_class_once(300, GenOptions::default());
}

#[test]
fn rf_explores_each_class_of_larger_programs_once() {
    let options = GenOptions {
        max_threads: 4,
        max_ops_per_thread: 7,
        variables: 3,
        max_interleavings: 2_000_000,
        ..GenOptions::default()
    };
    explores_each_class_once(40, options);
}

/// Loads, stores and updates only, of whole variables: many classes a program.
#[test]
fn rf_explores_each_class_of_simple_programs_once() {
    let options = GenOptions {
        max_threads: 4,
        max_ops_per_thread: 6,
        variables: 2,
        max_interleavings: 1_000_000,
        features: Features {
            updates: true,
            branches: true,
            ..Features::NONE
        },
        ..GenOptions::default()
    };
    explores_each_class_once(60, options);
}

/// Nothing but what touches several cells at once, or waits.
#[test]
fn rf_explores_each_class_of_complex_programs_once() {
    let options = GenOptions {
        max_threads: 3,
        max_ops_per_thread: 6,
        max_interleavings: 50_000,
        features: Features {
            updates: true,
            mutexes: true,
            try_locks: true,
            mixed_sizes: true,
            atomic_blocks: true,
            conditions: true,
            semaphores: true,
            heap: true,
            choices: true,
            ..Features::NONE
        },
        ..GenOptions::default()
    };
    explores_each_class_once(100, options);
}

/// All faults and deadlocks, and a race if there is one. Which accesses a race is reported for depends on the order of writes
/// that nobody reads, of which `rf` sees one.
#[test]
fn rf_finds_all_violations_and_reproduces_them() {
    for_each_program(200, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised).violations;
        let found = violations(&mut program, EngineKind::Rf);
        let is_race = |key: &&ViolationKey| matches!(key, ViolationKey::Race(..));
        let others = |keys: &FxHashSet<ViolationKey>| -> FxHashSet<ViolationKey> {
            keys.iter().filter(|key| !is_race(key)).cloned().collect()
        };
        assert_eq!(others(&found), others(&truth), "seed {seed}");
        assert!(
            found.is_subset(&truth),
            "seed {seed}: {found:?} of {truth:?}"
        );
        assert_eq!(
            found.iter().any(|key| is_race(&key)),
            truth.iter().any(|key| is_race(&key)),
            "seed {seed}"
        );
    });
}
