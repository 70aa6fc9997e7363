//! `icb` and `bpor` against the oracle.

use super::{Summary, for_each_program, violations};
use crate::icb;
use crate::interleavings::{self, Sequence};
use crate::oracle::{self, Mode};
use crate::verdict::EngineKind;
use raddle_memory::MemoryModel;
use raddle_testing::generate::GenOptions;

#[test]
fn icb_explores_every_interleaving_once() {
    for_each_program(150, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let (mut all, mut bounded) = (Summary::default(), Summary::default());
        let _ =
            interleavings::explore(&mut program, MemoryModel::Sc, Sequence::Ascending, &mut all);
        let _ = icb::explore(&mut program, &mut bounded);
        assert_eq!(bounded, all, "seed {seed}");
    });
}

#[test]
fn bpor_sees_all_that_can_be_seen() {
    for_each_program(200, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised);
        let mut summary = Summary::default();
        let _ = icb::bounded::explore(&mut program, &mut summary);
        assert_eq!(summary.final_states, truth.final_states, "seed {seed}");
        assert_eq!(summary.local_states, truth.local_states, "seed {seed}");
        let executions = summary.complete + summary.blocked;
        assert!(
            executions >= (truth.complete.mazurkiewicz + truth.blocked.mazurkiewicz) as u64,
            "seed {seed}"
        );
        assert!(executions <= truth.interleavings, "seed {seed}");
    });
}

#[test]
fn bounded_engines_find_all_violations() {
    for_each_program(60, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised).violations;
        for engine in [EngineKind::Icb, EngineKind::Bpor] {
            assert_eq!(violations(&mut program, engine), truth, "seed {seed}");
        }
    });
}
