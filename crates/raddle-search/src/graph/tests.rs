//! Counts.

mod rounds;
mod waits;

use super::exact::{self, Visited};
use crate::driver::{Limits, Reductions, SearchOptions, ViolationKey, check};
use crate::oracle::c11::{CanonicalGraph, GraphEnd, GraphOptions, final_graphs};
use crate::verdict::{Checks, EngineKind, MemoryModel, Outcome, Verdict, Violation, ViolationKind};
use raddle_program::{Order, Program, ReleaseSequences, RmwKind};
use raddle_testing::builder::{BuiltProgram, Compare, ProgramBuilder, ThreadBuilder};
use raddle_testing::generate::{C11Options, Features, GenOptions, generate, generate_c11};
use raddle_testing::samples;
use std::collections::HashSet;

/// A number that people may set to try more.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

const AWAITS: Reductions = Reductions {
    net_effect: true,
    purity: true,
    awaits: true,
    ifaa: false,
};

const NONE: Reductions = Reductions {
    net_effect: false,
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
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 300) {
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
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 300) {
        let built = generate(seed, &options);
        let dpor = run(&built, EngineKind::Dpor, MemoryModel::Sc, AWAITS);
        let graph = run(&built, EngineKind::Graph, MemoryModel::Sc, AWAITS);
        assert_eq!(
            (graph.statistics.complete, graph.statistics.blocked),
            (dpor.statistics.complete, dpor.statistics.blocked),
            "seed {seed}: {built}"
        );
    }
}

/// Loops that store what is there already to memory of their own.
#[test]
fn caching_as_dpor() {
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 200) {
        let built = crate::spinning::caching(seed);
        let dpor = run(&built, EngineKind::Dpor, MemoryModel::Sc, AWAITS);
        let graph = run(&built, EngineKind::Graph, MemoryModel::Sc, AWAITS);
        assert_eq!(
            (graph.statistics.complete, graph.statistics.blocked),
            (dpor.statistics.complete, dpor.statistics.blocked),
            "seed {seed}: {built}"
        );
    }
}

/// Each final graph of the brute force is visited once, and the same violations are found.
fn compare_with_brute_force(family: &C11Options, budget: u64) {
    let first = number("FIRST", 0);
    let mut compared = 0;
    for seed in first..first + number("COUNT", budget) {
        let built = generate_c11(seed, family);
        let mut program = built.program();
        program.set_release_sequences(match seed % 2 {
            0 => ReleaseSequences::UpdatesOnly,
            _ => ReleaseSequences::SameThread,
        });
        let options = GraphOptions {
            most: 20_000,
            ..GraphOptions::default()
        };
        let Some(all) = final_graphs(&mut program, &options) else {
            continue;
        };
        compared += 1;
        let options = SearchOptions {
            memory: MemoryModel::C11,
            reductions: AWAITS,
            keep_going: true,
            ..SearchOptions::default()
        };
        let outcome = check(&mut program, EngineKind::Graph, options)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{built}"));
        let violations = match &outcome.verdict {
            Verdict::Violation(violations) => violations.as_slice(),
            _ => &[],
        };
        let is_race = |violation: &Violation| matches!(violation.kind, ViolationKind::Race(_));
        assert_eq!(
            violations.iter().any(is_race),
            all.has_race(),
            "seed {seed}: {built}"
        );
        if all.has_race() {
            continue;
        }
        let found: HashSet<ViolationKey> = violations
            .iter()
            .map(|violation| ViolationKey::new(&violation.kind, violation.at))
            .collect();
        let expected: HashSet<ViolationKey> = all.violations.keys().cloned().collect();
        assert_eq!(found, expected, "seed {seed}: {built}");
        if all.count(GraphEnd::Faulted) > 0 {
            continue;
        }
        let counts = (all.count(GraphEnd::Complete), all.count(GraphEnd::Blocked));
        let statistics = &outcome.statistics;
        assert_eq!(
            (statistics.complete as usize, statistics.blocked as usize),
            counts,
            "seed {seed}: {built}"
        );
        let options = SearchOptions {
            keep_going: true,
            ..SearchOptions::default()
        };
        let visited = exact::visited(&mut program, MemoryModel::C11, AWAITS, options).graphs;
        let graphs = exact::expected(&mut program, &all);
        assert_eq!(visited, graphs, "seed {seed}: {built}");
        forget_additions(&mut program, seed, &built, &expected, graphs);
    }
    assert!(
        compared * 2 > number("COUNT", budget),
        "{compared} compared"
    );
}

/// The same where additions may come in any order, if nobody looks.
fn forget_additions(
    program: &mut Program,
    seed: u64,
    built: &BuiltProgram,
    violations: &HashSet<ViolationKey>,
    graphs: Vec<CanonicalGraph>,
) {
    let options = || SearchOptions {
        memory: MemoryModel::C11,
        keep_going: true,
        ..SearchOptions::default()
    };
    let outcome = check(program, EngineKind::Graph, options()).unwrap();
    let found: HashSet<ViolationKey> = match &outcome.verdict {
        Verdict::Violation(violations) => violations
            .iter()
            .map(|violation| ViolationKey::new(&violation.kind, violation.at))
            .collect(),
        _ => HashSet::new(),
    };
    assert_eq!(found, *violations, "additions, seed {seed}: {built}");
    let Visited {
        graphs: visited,
        unordered,
        has_others,
    } = exact::visited(program, MemoryModel::C11, Reductions::default(), options());
    let statistics = &outcome.statistics;
    let count = statistics.complete + statistics.blocked;
    assert_eq!(
        visited.len() as u64,
        count,
        "additions, seed {seed}: {built}"
    );
    let mut visited = exact::without_order_of_additions(program, &unordered, visited);
    if has_others {
        visited.dedup();
    }
    let mut graphs = exact::without_order_of_additions(program, &unordered, graphs);
    graphs.dedup();
    assert_eq!(visited, graphs, "additions, seed {seed}: {built}");
}

/// Counters that are looked at when all who add have been joined, or know of each other.
#[test]
fn additions_commute() {
    let counts = |order: Order, memory: MemoryModel, looks: bool| {
        let mut builder = ProgramBuilder::new("counter");
        let x = builder.var("x", 4);
        for name in ["a", "b", "c", "d"] {
            builder.thread(name, |t| {
                t.rmw(x, RmwKind::Add, 1, order);
                t.rmw(x, RmwKind::Sub, 2, order);
            });
        }
        if looks {
            builder.thread("e", |t| {
                t.load_order(x, order);
            });
        }
        builder.main(|t| {
            t.spawn_all();
            t.join_all();
            let sum = t.load_order(x, Order::Relaxed);
            t.assert(sum.is(-4i32 as u32 as u64));
        });
        let built = builder.build();
        let options = SearchOptions {
            memory,
            ..SearchOptions::default()
        };
        let outcome = check(&mut built.program(), EngineKind::Graph, options).unwrap();
        assert!(matches!(outcome.verdict, Verdict::Verified { .. }));
        outcome.statistics.complete
    };
    assert_eq!(counts(Order::Relaxed, MemoryModel::C11, false), 1);
    assert_eq!(counts(Order::Release, MemoryModel::C11, false), 1);
    assert_eq!(counts(Order::Release, MemoryModel::Sc, false), 1);
    // They learn of each other.
    assert_eq!(counts(Order::SeqCst, MemoryModel::Sc, false), 2520);
    assert_eq!(counts(Order::AcqRel, MemoryModel::C11, false), 2520);
    assert_eq!(counts(Order::Relaxed, MemoryModel::C11, true), 2520 * 9);
}

/// Threads with a reference each give it up; the last one frees what it is to.
#[test]
fn references_are_counted() {
    let counts = |threads: u64, order: Order, clones: bool, memory: MemoryModel| {
        let mut builder = ProgramBuilder::new("references");
        let (count, data) = (builder.var("count", 4), builder.var("data", 4));
        let names = ["a", "b", "c", "d", "e"];
        for name in &names[..threads as usize] {
            builder.thread(name, |t| {
                if clones {
                    t.rmw(count, RmwKind::Add, 1, Order::Relaxed);
                    let old = t.rmw(count, RmwKind::Sub, 1, order);
                    t.assert(old.differs(1));
                }
                t.load_order(data, Order::Plain);
                let old = t.rmw(count, RmwKind::Sub, 1, order);
                t.if_(old.is(1), |t| {
                    t.fence(Order::Acquire);
                    t.store_order(data, 1, Order::Plain);
                });
            });
        }
        builder.main(|t| {
            t.store_order(count, threads, Order::Relaxed);
            t.spawn_all();
            t.join_all();
            let sum = t.load_order(count, Order::Relaxed);
            t.assert(sum.is(0));
        });
        let built = builder.build();
        let options = SearchOptions {
            memory,
            ..SearchOptions::default()
        };
        let outcome = check(&mut built.program(), EngineKind::Graph, options).unwrap();
        (outcome.statistics.complete, outcome.verdict)
    };
    let verified = |threads, order, clones| {
        let (count, verdict) = counts(threads, order, clones, MemoryModel::C11);
        assert!(matches!(verdict, Verdict::Verified { .. }), "{verdict:?}");
        count
    };
    // One for each that can be the last.
    for threads in [1, 2, 3, 5] {
        assert_eq!(verified(threads, Order::Release, false), threads);
        assert_eq!(verified(threads, Order::Release, true), threads);
    }
    // They learn of each other, so they are told apart.
    assert_eq!(verified(4, Order::AcqRel, false), 24);
    // Whoever is the last does not know of the others' reads.
    let (_, verdict) = counts(3, Order::Relaxed, false, MemoryModel::C11);
    assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
}

/// As an `Arc` that is cloned for each thread: joining one has a fence, which other references' drops may or may not come before.
#[test]
fn references_are_counted_beside_fences() {
    let count = |threads: usize, drops_first: bool, others_fence: bool| {
        let mut builder = ProgramBuilder::new("arc");
        let (count, data) = (builder.var("count", 4), builder.var("data", 4));
        let drop = |t: &mut ThreadBuilder| {
            t.load_order(data, Order::Plain);
            let old = t.rmw(count, RmwKind::Sub, 1, Order::Release);
            t.if_(old.is(1), |t| {
                t.fence(Order::Acquire);
                t.store_order(data, 1, Order::Plain);
            });
        };
        let names = ["a", "b", "c", "d"].into_iter().take(threads);
        let codes: Vec<_> = names
            .map(|name| {
                builder.thread(name, |t| {
                    drop(t);
                    if others_fence {
                        t.fence(Order::Acquire);
                    }
                })
            })
            .collect();
        builder.main(|t| {
            t.store_order(count, 1, Order::Plain);
            let mut handles = Vec::new();
            for &code in &codes {
                t.rmw(count, RmwKind::Add, 1, Order::Relaxed);
                handles.push(t.spawn(code));
            }
            if drops_first {
                drop(t);
            }
            for handle in handles {
                t.join(handle);
                t.fence(Order::Acquire);
            }
            if !drops_first {
                drop(t);
            }
        });
        let options = SearchOptions {
            memory: MemoryModel::C11,
            ..SearchOptions::default()
        };
        let built = builder.build();
        let outcome = check(&mut built.program(), EngineKind::Graph, options).unwrap();
        assert!(
            matches!(outcome.verdict, Verdict::Verified { .. }),
            "{:?}",
            outcome.verdict
        );
        outcome.statistics.complete
    };
    for threads in 1..=4 {
        assert_eq!(count(threads, true, false), threads as u64 + 1);
        assert_eq!(count(threads, false, false), 1);
    }
    // Each of two fences may learn from the addition before the other one.
    assert_eq!(count(3, false, true), 15);
}

#[test]
fn as_many_as_by_brute_force() {
    let family = C11Options {
        plain: false,
        ..C11Options::default()
    };
    compare_with_brute_force(&family, 60);
}

#[test]
fn as_many_as_by_brute_force_with_plain_accesses() {
    compare_with_brute_force(&C11Options::default(), 60);
}

#[test]
fn as_many_as_by_brute_force_with_contended_locks() {
    let family = C11Options {
        contended: true,
        operations: 10,
        ..C11Options::default()
    };
    compare_with_brute_force(&family, 60);
}

/// Reference counts.
#[test]
fn as_many_as_by_brute_force_with_counts() {
    let family = C11Options {
        counts: true,
        operations: 10,
        ..C11Options::default()
    };
    compare_with_brute_force(&family, 60);
}

/// More threads with less to do.
#[test]
fn as_many_as_by_brute_force_in_small_programs() {
    let family = C11Options {
        max_threads: 5,
        operations: 9,
        ..C11Options::default()
    };
    compare_with_brute_force(&family, 60);
}

/// A thread waits for a mutex that another got by an attempt, which goes away when what that one read before is revisited.
#[test]
fn attempts_that_are_taken_back() {
    let mut builder = ProgramBuilder::new("attempts");
    let (x, m) = (builder.var("x", 4), builder.mutex("m"));
    builder.thread("a", |t| {
        t.lock(m);
        t.unlock(m);
    });
    builder.thread("b", |t| {
        t.load_order(x, Order::Relaxed);
        let got = t.try_lock(m);
        t.if_(got, |t| t.unlock(m));
    });
    builder.thread("c", |t| {
        t.lock(m);
        t.unlock(m);
        t.store_order(x, 1, Order::Relaxed);
    });
    let built = builder.build();
    let mut program = built.program();
    let all = final_graphs(&mut program, &GraphOptions::default()).unwrap();
    assert_eq!(all.graphs.len(), 17);
    let outcome = run(&built, EngineKind::Graph, MemoryModel::C11, AWAITS);
    assert_eq!(outcome.statistics.complete, 17);
    assert!(
        matches!(outcome.verdict, Verdict::Verified { .. }),
        "{:?}",
        outcome.verdict
    );
}

/// More executions are not compared.
const MOST: u64 = 20_000;

/// The violations of all interleavings.
fn assert_same_violations(
    seed: u64,
    built: &BuiltProgram,
    memory: MemoryModel,
    races: bool,
) -> bool {
    let options = || SearchOptions {
        memory,
        reductions: AWAITS,
        checks: Checks {
            races,
            ..Checks::default()
        },
        keep_going: true,
        limits: Limits {
            executions: Some(MOST),
            ..Limits::default()
        },
        ..SearchOptions::default()
    };
    // One program, so that positions have the same numbers.
    let mut program = built.program();
    let mut find = |engine| {
        let outcome = check(&mut program, engine, options()).unwrap_or_else(|error| {
            panic!("seed {seed}, {memory:?}, {engine:?}: {error}\n{built}")
        });
        let executions = outcome.statistics.complete + outcome.statistics.blocked;
        match outcome.verdict {
            _ if executions >= MOST => None,
            Verdict::Violation(violations) => Some(violations),
            _ => Some(Vec::new()),
        }
    };
    let is_race = |violation: &Violation| matches!(violation.kind, ViolationKind::Race(_));
    let Some(by_naive) = find(EngineKind::Naive) else {
        return false;
    };
    let Some(by_graph) = find(EngineKind::Graph) else {
        return false;
    };
    let race = by_naive.iter().any(is_race);
    assert_eq!(
        by_graph.iter().any(is_race),
        race,
        "seed {seed}, {memory:?}: {built}"
    );
    if !race {
        let keys = |violations: &[Violation]| -> std::collections::BTreeSet<String> {
            let key = |violation: &Violation| {
                format!("{:?}", ViolationKey::new(&violation.kind, violation.at))
            };
            violations.iter().map(key).collect()
        };
        let (graph, naive) = (keys(&by_graph), keys(&by_naive));
        assert_eq!(graph, naive, "seed {seed}, {memory:?}: {built}");
    }
    true
}

#[test]
fn violations_as_by_all_interleavings() {
    let options = GenOptions {
        features: Features {
            mixed_sizes: false,
            heap: false,
            atomic_blocks: false,
            ..Features::ALL
        },
        ..GenOptions::default()
    };
    let first = number("FIRST", 0);
    let mut compared = 0;
    for seed in first..first + number("COUNT", 60) {
        let built = generate(seed, &options);
        for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
            for races in [true, false] {
                compared += u64::from(assert_same_violations(seed, &built, memory, races));
            }
        }
    }
    assert!(compared > number("COUNT", 60), "{compared} compared");
}

/// Bytes of a plain read come from several writes.
#[test]
fn violations_of_mixed_sizes_are_reproduced() {
    let options = GenOptions::default();
    let first = number("FIRST", 1490);
    for seed in first..first + number("COUNT", 40) {
        let built = generate(seed, &options);
        let options = SearchOptions {
            memory: MemoryModel::C11,
            keep_going: true,
            limits: Limits {
                executions: Some(2_000),
                ..Limits::default()
            },
            ..SearchOptions::default()
        };
        check(&mut built.program(), EngineKind::Graph, options)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{built}"));
    }
}
