//! Exact counts of reads-from classes, from the tables of the paper.

mod programs;
mod waiting;

use super::Search;
use crate::counting::Count;
use crate::driver::Limits;
use crate::{EngineKind, Reason, Reductions, SearchOptions, Verdict, check};
use programs::*;
use raddle_testing::builder::{BuiltProgram, ProgramBuilder};
use raddle_testing::generate::{GenOptions, generate};
use std::time::Duration;

fn explore_with(built: &BuiltProgram, reductions: Reductions) -> (u64, u64) {
    let mut program = built.program();
    loop {
        let mut count = Count::default();
        let _ = Search::new(&program, reductions).run(&mut program, &mut count);
        // What was left out may have rested on what nobody knew of locations.
        if !program.learn_uses(true) {
            return count.ends();
        }
    }
}

/// Complete and blocked executions.
fn explore(built: &BuiltProgram) -> (u64, u64) {
    explore_with(built, Reductions::default())
}

/// Sizes of a program with the number of complete executions each.
fn expect(program: impl Fn(u32) -> BuiltProgram, counts: &[(u32, u64)]) {
    for &(n, expected) in counts {
        assert_eq!(explore(&program(n)), (expected, 0), "size {n}");
    }
}

#[test]
fn myexample_counts() {
    expect(myexample, &[(1, 1), (2, 3), (3, 16), (4, 125), (5, 1296)]);
}

#[test]
fn redundant_co_counts() {
    let counts: Vec<_> = (0..=6)
        .map(|n| (n, 3 * u64::from(n) * u64::from(n) + 3 * u64::from(n) + 1))
        .collect();
    expect(redundant_co, &counts);
}

#[test]
fn readers_counts() {
    expect(readers, &[(1, 2), (2, 4), (9, 512)]);
}

#[test]
fn lastzero_counts() {
    expect(lastzero, &[(2, 5), (9, 1536)]);
}

#[test]
fn lastwrite_and_floating_read_counts() {
    expect(|n| writers_and_reader(n, true), &[(1, 1), (7, 7), (9, 9)]);
    expect(
        |n| writers_and_reader(n, false),
        &[(6, 7), (8, 9), (16, 17)],
    );
}

#[test]
fn casrot_counts() {
    expect(casrot, &[(2, 2), (8, 2048)]);
}

#[test]
fn fib_counts() {
    expect(fib, &[(2, 140), (4, 19605)]);
}

#[test]
fn sigma_counts() {
    expect(sigma, &[(2, 2), (5, 120), (6, 720)]);
}

#[test]
fn control_flow_counts() {
    expect(control_flow, &[(5, 43), (7, 143)]);
}

#[test]
fn opt_lock_counts() {
    expect(opt_lock, &[(11, 127), (13, 151), (100, 1195)]);
}

#[test]
fn race_parametric_counts() {
    expect(race_parametric, &[(4, 1107)]);
}

#[test]
fn exponential_counts() {
    expect(exponential_bug, &[(3, 3634)]);
}

#[test]
fn lamport_counts() {
    assert_eq!(explore(&lamport(2)), (12, 10));
    assert_eq!(explore(&lamport(3)), (3942, 4233));
}

#[test]
fn reorder_counts() {
    expect(
        |n| reorder(n, false),
        &[(3, 21), (4, 64), (5, 145), (10, 1540)],
    );
}

#[test]
fn append_counts() {
    expect(append, &[(4, 580)]);
}

#[test]
fn circular_buffer_counts() {
    expect(circular_buffer, &[(7, 3432)]);
}

#[test]
fn the_eager_check_keeps_example_8_1_small() {
    expect(example_8_1, &[(10, 3), (200, 3)]);
}

/// Whichever of two blocks comes first in the witness: nobody reads the order, so it must not hide the race.
#[test]
fn the_order_of_blocks_hides_no_race() {
    for names in [["t1", "t2"], ["t2", "t1"]] {
        let mut b = ProgramBuilder::new("blocks");
        let [x, y, z] = ["x", "y", "z"].map(|name| b.var(name, 4));
        for name in names {
            b.thread(name, |t| match name {
                "t1" => {
                    t.store_plain(x, 1);
                    t.atomic(|t| t.store(y, 1));
                }
                _ => {
                    t.atomic(|t| t.store(z, 1));
                    t.store_plain(x, 2);
                }
            });
        }
        let built = b.build();
        for engine in [EngineKind::Naive, EngineKind::Dpor, EngineKind::Rf] {
            let outcome = check(&mut built.program(), engine, SearchOptions::default());
            let verdict = outcome.expect("violations are reproduced").verdict;
            assert!(matches!(verdict, Verdict::Violation(_)), "{engine:?}");
        }
    }
}

/// Each execution but the first was begun after a phase had found it consistent; what is inconsistent is explored by nobody.
#[test]
fn statistics_say_which_phase_decided() {
    let phases_of = |built: &BuiltProgram| {
        let outcome = check(
            &mut built.program(),
            EngineKind::Rf,
            SearchOptions {
                keep_going: true,
                ..SearchOptions::default()
            },
        );
        let statistics = outcome.expect("violations are reproduced").statistics;
        let phases = statistics.consistency();
        let consistent = phases.guided + phases.ordered + phases.decided_consistent;
        assert_eq!(statistics.complete + statistics.blocked, consistent + 1);
        phases
    };
    assert!(phases_of(&lamport(3)).ordered > 0);
    let rejected =
        (0..50).map(|seed| phases_of(&generate(seed, &GenOptions::default())).saturation);
    assert!(rejected.sum::<u64>() > 0);
}

/// A block with many choices has more versions than anybody could enumerate: somebody has to be asked meanwhile whether it is time to
/// stop.
#[test]
fn listing_the_versions_of_a_block_can_be_stopped() {
    let mut b = ProgramBuilder::new("choices");
    let x = b.var("x", 4);
    b.thread("chooser", |t| {
        t.atomic(|t| {
            for _ in 0..62 {
                let _ = t.choice(2);
            }
            t.store(x, 1);
        });
    });
    b.thread("reader", |t| {
        let _ = t.load(x);
    });
    let built = b.build();
    for engine in [EngineKind::Rf, EngineKind::Rvf] {
        let options = SearchOptions {
            limits: Limits {
                time: Some(Duration::from_millis(20)),
                ..Limits::default()
            },
            ..SearchOptions::default()
        };
        let outcome = check(&mut built.program(), engine, options).expect("no internal error");
        assert!(matches!(
            outcome.verdict,
            Verdict::Inconclusive(Reason::Time { .. })
        ));
    }
}
