//! The sum is right under every memory model, whatever the encoding of the mutex; and other sums are refuted.

mod program;

use program::Encoding;
use raddle_order::memory::MemoryModel;
use raddle_order::{Limits, OrderConfig, Outcome};

#[test]
fn no_addition_behind_a_mutex_is_lost() {
    let config = OrderConfig {
        paranoid: true,
        ..OrderConfig::default()
    };
    for model in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
        for encoding in [Encoding::Cell, Encoding::LockOrder, Encoding::Carried] {
            for (threads, rounds) in [(2, 1), (2, 2), (3, 1), (3, 2)] {
                let sum = threads * rounds;
                for (expected, answer) in [(sum, Outcome::Unsat), (sum - 1, Outcome::Sat)] {
                    let shape = (threads, rounds);
                    let mut problem = program::encode(model, shape, expected, encoding, config);
                    assert_eq!(
                        problem.solve(&[], &Limits::default()),
                        answer,
                        "{model:?}, {encoding:?}, {threads}x{rounds}, {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn many_sections_are_no_cliff() {
    for shape in [(4, 4), (8, 4)] {
        let mut problem = program::encode(
            MemoryModel::Sc,
            shape,
            shape.0 * shape.1,
            Encoding::Carried,
            OrderConfig::default(),
        );
        assert_eq!(problem.solve(&[], &Limits::default()), Outcome::Unsat);
        assert!(problem.sat_stats().conflicts < 100_000);
    }
}
