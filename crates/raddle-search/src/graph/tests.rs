//! Counts.

use crate::driver::{Limits, Reductions, SearchOptions, check};
use crate::verdict::{Checks, EngineKind, MemoryModel, Outcome};
use raddle_program::builder::BuiltProgram;
use raddle_program::generate::{Features, GenOptions, generate};
use raddle_program::samples;

const NONE: Reductions = Reductions {
    purity: false,
    awaits: false,
    ifaa: false,
};

fn run(
    built: &BuiltProgram,
    engine: EngineKind,
    memory: MemoryModel,
    reductions: Reductions,
) -> Outcome {
    let options = SearchOptions {
        memory,
        reductions,
        checks: Checks {
            assertions: false,
            memory: false,
            races: false,
            deadlocks: false,
            livelocks: false,
            overflows: false,
            uninit: false,
            only_error_calls: false,
        },
        keep_going: true,
        limits: Limits {
            executions: Some(200_000),
            ..Limits::default()
        },
        ..SearchOptions::default()
    };
    check(&mut built.program(), engine, options).unwrap()
}

/// Under SC, executions that differ in `rf` or `mo` are those that differ in the order of conflicting events.
fn assert_as_many_as_dpor(built: &BuiltProgram) {
    let dpor = run(built, EngineKind::Dpor, MemoryModel::Sc, NONE);
    let graph = run(built, EngineKind::Graph, MemoryModel::Sc, NONE);
    assert_eq!(
        (graph.statistics.complete, graph.statistics.blocked),
        (dpor.statistics.complete, dpor.statistics.blocked),
        "{built}"
    );
}

#[test]
fn as_many_as_dpor_under_sc() {
    for built in [
        samples::fib_bench(2),
        samples::fib_bench(3),
        samples::casrot(4),
        samples::lastwrite(4),
        samples::readers(4),
        samples::sigma(4),
        samples::control_flow(3),
        samples::exponential_bug(2),
    ] {
        assert_as_many_as_dpor(&built);
    }
}

#[test]
fn as_many_as_dpor_on_generated_programs() {
    let options = GenOptions {
        features: Features {
            mixed_sizes: false,
            heap: false,
            atomic_blocks: false,
            ..Features::ALL
        },
        ..GenOptions::default()
    };
    let first: u64 = std::env::var("FIRST")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    let count: u64 = std::env::var("COUNT")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(300);
    for seed in first..first + count {
        let built = generate(seed, &options);
        assert_as_many_as_dpor(&built);
    }
}

#[test]
fn spinning_as_dpor() {
    let options = GenOptions {
        features: Features {
            mixed_sizes: false,
            heap: false,
            atomic_blocks: false,
            ..Features::SPINNING
        },
        ..GenOptions::spinning()
    };
    let reductions = Reductions {
        ifaa: false,
        ..Reductions::default()
    };
    let first: u64 = std::env::var("FIRST")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    let count: u64 = std::env::var("COUNT")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(300);
    for seed in first..first + count {
        let built = generate(seed, &options);
        let dpor = run(&built, EngineKind::Dpor, MemoryModel::Sc, reductions);
        let graph = run(&built, EngineKind::Graph, MemoryModel::Sc, reductions);
        if (graph.statistics.complete, graph.statistics.blocked)
            != (dpor.statistics.complete, dpor.statistics.blocked)
        {
            println!(
                "SEED {seed}: {} {} instead of {} {}",
                graph.statistics.complete,
                graph.statistics.blocked,
                dpor.statistics.complete,
                dpor.statistics.blocked
            );
        }
    }
}
