//! `rf` against the oracle.

use super::{Summary, families, finds_all_violations, for_each_program};
use crate::driver::Reductions;
use crate::oracle::{self, Mode};
use crate::rf;
use crate::verdict::EngineKind;
use raddle_testing::generate::GenOptions;

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
    explores_each_class_once(40, families::larger());
}

#[test]
fn rf_explores_each_class_of_simple_programs_once() {
    explores_each_class_once(60, families::simple());
}

#[test]
fn rf_explores_each_class_of_complex_programs_once() {
    explores_each_class_once(100, families::complex());
}

#[test]
fn rf_finds_all_violations_and_reproduces_them() {
    finds_all_violations(EngineKind::Rf);
}
