//! `mcr` against the oracle.

use super::{Summary, for_each_program, violations};
use crate::driver::ViolationKey;
use crate::mcr::{Search, Setup};
use crate::oracle::{self, Mode};
use crate::verdict::EngineKind;
use raddle_program::generate::{Features, GenOptions};
use rustc_hash::FxHashSet;

fn setup(jobs: usize) -> Setup {
    Setup {
        jobs,
        ..Setup::default()
    }
}

/// All that can be seen in any execution is seen, nothing is done twice, and nothing that `rf` would do once.
fn explores_everything(cases: u64, options: GenOptions) {
    for_each_program(cases, options, |seed, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised);
        let mut summary = Summary::default();
        let mut search = Search::new(&program, setup(1));
        let _ = search.run(&mut program, &mut summary);
        assert_eq!(search.statistics().duplicates, 0, "seed {seed}");
        assert_eq!(summary.final_states, truth.final_states, "seed {seed}");
        assert_eq!(summary.local_states, truth.local_states, "seed {seed}");
        assert!(
            summary.complete <= truth.complete.reads_from as u64
                && summary.blocked <= truth.blocked.reads_from as u64,
            "seed {seed}: {}+{} executions, {:?} {:?}",
            summary.complete,
            summary.blocked,
            truth.complete,
            truth.blocked
        );
    });
}

#[test]
fn mcr_explores_everything_once() {
    explores_everything(200, GenOptions::default());
}

#[test]
fn mcr_explores_larger_programs() {
    let options = GenOptions {
        max_threads: 4,
        max_ops_per_thread: 7,
        variables: 3,
        max_interleavings: 2_000_000,
        ..GenOptions::default()
    };
    explores_everything(20, options);
}

/// Loads, stores and updates only, of whole variables: many classes a program.
#[test]
fn mcr_explores_simple_programs() {
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
    explores_everything(30, options);
}

/// Nothing but what touches several cells at once, or waits.
#[test]
fn mcr_explores_complex_programs() {
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
    explores_everything(60, options);
}

/// Faults and deadlocks as the oracle, and each race that it finds.
#[test]
fn mcr_finds_all_violations_and_reproduces_them() {
    for_each_program(200, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised).violations;
        let found = violations(&mut program, EngineKind::Mcr);
        let missing: FxHashSet<&ViolationKey> = truth.difference(&found).collect();
        let excess: FxHashSet<&ViolationKey> = found.difference(&truth).collect();
        assert!(
            missing.is_empty() && excess.is_empty(),
            "seed {seed}: missing {missing:?}, in excess {excess:?}"
        );
    });
}
