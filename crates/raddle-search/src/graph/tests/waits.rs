//! Threads that wait, and what they wait at is written plainly or freed.

use super::number;
use crate::driver::{SearchOptions, check};
use crate::oracle::c11::{GraphOptions, final_graphs};
use crate::verdict::{Checks, EngineKind, MemoryModel, Outcome, Verdict, Violation, ViolationKind};
use raddle_program::Order;
use raddle_testing::builder::{BuiltProgram, Compare, ProgramBuilder};
use raddle_testing::generate::{C11Options, Features, GenOptions, generate, generate_c11};

pub(super) fn found(built: &BuiltProgram, engine: EngineKind, memory: MemoryModel) -> Outcome {
    let options = SearchOptions {
        memory,
        keep_going: true,
        checks: Checks {
            uninit: false,
            ..Checks::default()
        },
        ..SearchOptions::default()
    };
    check(&mut built.program(), engine, options)
        .unwrap_or_else(|error| panic!("{memory:?}: {error}\n{built}"))
}

fn violations(outcome: &Outcome) -> &[Violation] {
    match &outcome.verdict {
        Verdict::Violation(violations) => violations,
        _ => &[],
    }
}

fn has_race(outcome: &Outcome) -> bool {
    let is_race = |violation: &Violation| matches!(violation.kind, ViolationKind::Race(_));
    violations(outcome).iter().any(is_race)
}

const MODELS: [MemoryModel; 4] = [
    MemoryModel::C11,
    MemoryModel::Sc,
    MemoryModel::Tso,
    MemoryModel::Pso,
];

/// The plain store comes before the read, or behind it; the value lets the thread go on, or does not.
#[test]
fn a_plain_store_races_with_a_read_that_waits() {
    for order in [Order::Plain, Order::Relaxed, Order::Acquire, Order::SeqCst] {
        for (awaited, reader_first) in [(1, true), (1, false), (2, true), (2, false)] {
            let mut builder = ProgramBuilder::new("waits");
            let x = builder.var("x", 4);
            let names = if reader_first { ["a", "b"] } else { ["b", "a"] };
            builder.thread(names[0], |t| {
                t.while_(|t| t.load_order(x, order).differs(awaited), |_| {});
            });
            builder.thread(names[1], |t| t.store_order(x, 1, Order::Plain));
            let built = builder.build();
            for memory in MODELS {
                let outcome = found(&built, EngineKind::Graph, memory);
                assert!(
                    has_race(&outcome),
                    "{memory:?} {:?}\n{built}",
                    outcome.verdict
                );
            }
        }
    }
}

#[test]
fn races_as_dpor_where_threads_wait() {
    let options = GenOptions {
        features: Features {
            mixed_sizes: false,
            heap: false,
            atomic_blocks: false,
            ..Features::SPINNING
        },
        ..GenOptions::spinning()
    };
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 100) {
        let built = generate(seed, &options);
        let dpor = found(&built, EngineKind::Dpor, MemoryModel::Sc);
        let graph = found(&built, EngineKind::Graph, MemoryModel::Sc);
        assert!(
            !matches!(graph.verdict, Verdict::Unsupported(_)),
            "seed {seed}: {:?}\n{built}",
            graph.verdict
        );
        assert_eq!(has_race(&graph), has_race(&dpor), "seed {seed}: {built}");
    }
}

/// The oracle has no reads that wait, so it may know fewer races; those that are found were run again.
#[test]
fn races_by_brute_force_where_threads_wait() {
    let family = C11Options {
        plain_atomics: true,
        operations: 10,
        ..C11Options::default()
    };
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 100) {
        let built = generate_c11(seed, &family);
        let options = GraphOptions {
            most: 20_000,
            ..GraphOptions::default()
        };
        let Some(all) = final_graphs(&mut built.program(), &options) else {
            continue;
        };
        let graph = found(&built, EngineKind::Graph, MemoryModel::C11);
        assert!(
            !matches!(graph.verdict, Verdict::Unsupported(_)),
            "seed {seed}: {:?}\n{built}",
            graph.verdict
        );
        assert!(has_race(&graph) || !all.has_race(), "seed {seed}: {built}");
    }
}

/// The order of additions makes a difference to what they order, even if nobody uses their results.
#[test]
fn additions_that_order_accesses() {
    for order in [Order::SeqCst, Order::AcqRel, Order::Relaxed] {
        for names in [["a", "b"], ["b", "a"]] {
            let mut builder = ProgramBuilder::new("additions");
            let (x, d) = (builder.var("x", 4), builder.var("d", 4));
            builder.thread(names[0], |t| {
                t.store_order(d, 1, Order::Plain);
                t.rmw(x, raddle_program::RmwKind::Add, 1, order);
            });
            builder.thread(names[1], |t| {
                t.rmw(x, raddle_program::RmwKind::Add, 1, order);
                t.store_order(d, 2, Order::Plain);
            });
            let built = builder.build();
            for memory in MODELS {
                let outcome = found(&built, EngineKind::Graph, memory);
                assert!(
                    has_race(&outcome),
                    "{memory:?} {:?}\n{built}",
                    outcome.verdict
                );
            }
            let outcome = found(&built, EngineKind::Dpor, MemoryModel::Sc);
            assert!(has_race(&outcome), "dpor {:?}\n{built}", outcome.verdict);
        }
    }
}
