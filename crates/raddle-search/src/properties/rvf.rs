//! `rvf` against the oracle.

use super::{Summary, for_each_program, number, violations};
use crate::dpor;
use crate::driver::{Reductions, SearchOptions, ViolationKey, check};
use crate::oracle::{self, Mode};
use crate::rvf::{self, RvfHeuristics, RvfOptions};
use crate::spinning::spinning;
use crate::verdict::{Checks, EngineKind, Verdict};
use raddle_program::builder::BuiltProgram;
use raddle_program::generate::{Features, GenOptions, generate};
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// Executions, dead ends, classes by reads-from and by reads-value-from.
type Totals = Cell<(u64, u64, usize, usize)>;

/// Everything that can be seen in any execution is seen, and there are no more executions than reads-from classes.
fn sees_everything(cases: u64, options: GenOptions, heuristics: RvfHeuristics) {
    let totals = Totals::default();
    for_each_program(cases, options, |seed, built| {
        compare(seed, built, heuristics, &totals);
    });
    println!("{:?}", totals.get());
}

fn compare(seed: u64, built: &BuiltProgram, heuristics: RvfHeuristics, totals: &Totals) {
    let mut program = built.program();
    let truth = oracle::enumerate(&mut program, Mode::Memoised);
    for races in [false, true] {
        let mut summary = Summary::default();
        let options = RvfOptions {
            heuristics,
            races,
            ..RvfOptions::default()
        };
        let mut search = rvf::Search::new(&program, options);
        let _ = search.run(&mut program, &mut summary);
        assert_eq!(summary.given_up, 0, "nothing is run in vain");
        assert_eq!(summary.final_states, truth.final_states, "seed {seed}");
        assert_eq!(summary.local_states, truth.local_states, "seed {seed}");
        let (complete, blocked) = (truth.complete, truth.blocked);
        assert!(
            summary.complete <= complete.reads_from as u64
                && summary.blocked <= blocked.reads_from as u64,
            "seed {seed}: {}+{} executions of {complete:?} + {blocked:?}",
            summary.complete,
            summary.blocked,
        );
        if races {
            continue;
        }
        let (executions, dead_ends, reads_from, reads_value_from) = totals.get();
        totals.set((
            executions + summary.complete + summary.blocked,
            dead_ends + search.decisions().dead_ends,
            reads_from + complete.reads_from + blocked.reads_from,
            reads_value_from + complete.reads_value_from + blocked.reads_value_from,
        ));
    }
}

#[test]
fn rvf_sees_everything() {
    sees_everything(300, GenOptions::default(), RvfHeuristics::default());
}

#[test]
fn rvf_sees_everything_in_larger_programs() {
    let options = GenOptions {
        max_threads: 4,
        max_ops_per_thread: 7,
        variables: 3,
        max_interleavings: 2_000_000,
        ..GenOptions::default()
    };
    sees_everything(40, options, RvfHeuristics::default());
}

/// Loads, stores and updates only, of whole variables: many classes a program.
#[test]
fn rvf_sees_everything_in_simple_programs() {
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
    sees_everything(60, options, RvfHeuristics::default());
}

/// Nothing but what touches several cells at once, or waits.
fn complex() -> GenOptions {
    GenOptions {
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
    }
}

#[test]
fn rvf_sees_everything_in_complex_programs() {
    sees_everything(100, complex(), RvfHeuristics::default());
}

/// Found by longer runs: a signal that a dead end held, values of cut locations, and a compare-exchange that succeeds only
/// before what comes before the read.
#[test]
fn rvf_sees_everything_in_programs_that_were_hard() {
    for (seed, options) in [
        (1417, GenOptions::default()),
        (4667, complex()),
        (6429, complex()),
    ] {
        let built = generate(seed, &options);
        compare(seed, &built, RvfHeuristics::default(), &Cell::default());
    }
}

#[test]
fn rvf_sees_everything_without_its_heuristics() {
    for switched_off in 1..16 {
        let heuristics = RvfHeuristics {
            closure: switched_off & 1 == 0,
            guidance: switched_off & 2 == 0,
            signals: switched_off & 4 == 0,
            merging: switched_off & 8 == 0,
        };
        sees_everything(12, GenOptions::default(), heuristics);
    }
}

/// All faults and deadlocks, and a race if there is one. Which accesses a race is reported for depends on the order of writes
/// that nobody reads, of which `rvf` sees one.
#[test]
fn rvf_finds_all_violations_and_reproduces_them() {
    for_each_program(200, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised).violations;
        let found = violations(&mut program, EngineKind::Rvf);
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

/// Programs whose threads spin end as they do with `dpor`, whose awaits are tested by themselves.
#[test]
fn rvf_awaits() {
    let first = number("RADDLE_PROPTEST_SEED", 0);
    for seed in first..first + number("RADDLE_PROPTEST_CASES", 400) {
        let built = spinning(seed);
        let mut program = built.program();
        let mut truth = Summary::default();
        let reductions = Reductions {
            additions: false,
            ..Reductions::default()
        };
        let _ = dpor::Search::new(&program, reductions).run(&mut program, &mut truth);
        let mut summary = Summary::default();
        let _ = rvf::Search::new(&program, RvfOptions::default()).run(&mut program, &mut summary);
        assert_eq!(
            summary.final_states, truth.final_states,
            "seed {seed}: {built}"
        );
        assert!(
            summary.complete <= truth.complete && summary.blocked <= truth.blocked,
            "seed {seed}: {}+{} of {}+{}\n{built}",
            summary.complete,
            summary.blocked,
            truth.complete,
            truth.blocked
        );
        let mut livelocks = |engine| {
            let options = SearchOptions {
                checks: Checks {
                    livelocks: true,
                    ..Checks::default()
                },
                keep_going: true,
                ..SearchOptions::default()
            };
            match check(&mut program, engine, options)
                .expect("reproduced")
                .verdict
            {
                Verdict::Violation(found) => found
                    .iter()
                    .map(|violation| ViolationKey::new(&violation.kind, violation.at))
                    .collect(),
                _ => FxHashSet::default(),
            }
        };
        assert_eq!(
            livelocks(EngineKind::Rvf),
            livelocks(EngineKind::Dpor),
            "seed {seed}: {built}"
        );
    }
}
