//! `rvf` against the oracle.

use super::{Summary, awaits_as_dpor, families, finds_all_violations, for_each_program};
use crate::oracle::{self, Mode};
use crate::rvf::{self, RvfHeuristics, RvfOptions};
use crate::verdict::EngineKind;
use raddle_testing::builder::BuiltProgram;
use raddle_testing::generate::{GenOptions, generate};
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
    sees_everything(40, families::larger(), RvfHeuristics::default());
}

#[test]
fn rvf_sees_everything_in_simple_programs() {
    sees_everything(60, families::simple(), RvfHeuristics::default());
}

#[test]
fn rvf_sees_everything_in_complex_programs() {
    sees_everything(100, families::complex(), RvfHeuristics::default());
}

/// Found by longer runs: a signal that a dead end held, values of cut locations, and a compare-exchange that succeeds only
/// before what comes before the read.
#[test]
fn rvf_sees_everything_in_programs_that_were_hard() {
    for (seed, options) in [
        (1417, GenOptions::default()),
        (4667, families::complex()),
        (6429, families::complex()),
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
            ..RvfHeuristics::default()
        };
        sees_everything(12, GenOptions::default(), heuristics);
    }
}

#[test]
fn rvf_finds_all_violations_and_reproduces_them() {
    finds_all_violations(EngineKind::Rvf);
}

#[test]
fn rvf_awaits() {
    awaits_as_dpor(400, EngineKind::Rvf, |program, summary| {
        let _ = rvf::Search::new(program, RvfOptions::default()).run(program, summary);
    });
}
