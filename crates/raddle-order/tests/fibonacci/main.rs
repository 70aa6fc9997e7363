//! A program with arithmetic, end to end: the bound is reached, and never exceeded, under every memory model.

mod program;

use raddle_order::memory::MemoryModel;
use raddle_order::{Limits, OrderConfig, Outcome};

#[test]
fn the_greatest_number_is_reached_and_not_exceeded() {
    for model in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
        for rounds in 1..=3 {
            for (slack, expected) in [(0, Outcome::Sat), (1, Outcome::Unsat)] {
                let mut problem = program::encode(model, rounds, slack, OrderConfig::default());
                let outcome = problem.solve(&[], &Limits::default());
                assert_eq!(
                    outcome, expected,
                    "{model:?}, {rounds} rounds, slack {slack}"
                );
            }
        }
    }
}
