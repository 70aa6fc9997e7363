//! The engines on programs made by the builder: `cargo bench -p raddle-search [NAME…]`.
//!
//! Each line is the best of a few runs, in processor time where the system tells it. Compare ratios of one run, not seconds
//! of different ones.

use raddle_memory::goodwrites::Decisions;
use raddle_program::Order;
use raddle_search::{
    EngineKind, EngineOptions, MemoryModel, RvfHeuristics, SearchOptions, check_with,
};
use raddle_testing::builder::BuiltProgram;
use raddle_testing::samples::{
    casrot, casrot_with, control_flow, exponential_bug, fib_bench, fib_bench_with, lastwrite,
    lastwrite_with, readers, readers_with, sigma, sigma_with, ttaslock,
};
use std::time::{Duration, Instant};

const RUNS: u32 = 3;

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    println!(
        "{:28} {:>6} {:>12} {:>10} {:>8}",
        "program", "engine", "executions", "seconds", "µs each"
    );
    for (name, built) in programs() {
        if wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str())) {
            for engine in [
                EngineKind::Dpor,
                EngineKind::Rf,
                EngineKind::Rvf,
                EngineKind::Graph,
            ] {
                measure(
                    &name,
                    &built,
                    engine,
                    RvfHeuristics::default(),
                    SearchOptions::default,
                );
            }
            measure_ablations(&name, &built);
        }
    }
    for (name, built) in weak_programs() {
        if wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str())) {
            measure(
                &name,
                &built,
                EngineKind::Graph,
                RvfHeuristics::default(),
                || SearchOptions {
                    memory: MemoryModel::C11,
                    ..SearchOptions::default()
                },
            );
        }
    }
}

/// For the memory model of the language: with all accesses relaxed, and with all of them sequentially consistent.
fn weak_programs() -> Vec<(String, BuiltProgram)> {
    let mut all = Vec::new();
    for (word, order) in [("relaxed", Order::Relaxed), ("seq_cst", Order::SeqCst)] {
        all.push((format!("fib-bench 4 {word}"), fib_bench_with(4, order)));
        all.push((format!("casrot 9 {word}"), casrot_with(9, order)));
        all.push((format!("lastwrite 8 {word}"), lastwrite_with(8, order)));
        all.push((format!("readers 13 {word}"), readers_with(13, order)));
        all.push((format!("sigma 6 {word}"), sigma_with(6, order)));
    }
    all
}

fn programs() -> Vec<(String, BuiltProgram)> {
    let mut all = Vec::new();
    for n in [4, 5] {
        all.push((format!("fib-bench {n}"), fib_bench(n)));
    }
    for n in [9, 10] {
        all.push((format!("casrot {n}"), casrot(n)));
    }
    all.push(("lastwrite 8".to_owned(), lastwrite(8)));
    all.push(("readers 13".to_owned(), readers(13)));
    all.push(("sigma 6".to_owned(), sigma(6)));
    all.push(("control-flow 5".to_owned(), control_flow(5)));
    all.push(("exponential-bug 5".to_owned(), exponential_bug(5)));
    all.push(("ttaslock 4".to_owned(), ttaslock(4)));
    all
}

/// `rvf` with one of its heuristics switched off, as in the ablation studies of its paper.
fn measure_ablations(name: &str, built: &BuiltProgram) {
    let all = RvfHeuristics::default();
    for (without, heuristics) in [
        (
            "closure",
            RvfHeuristics {
                closure: false,
                ..all
            },
        ),
        (
            "guidance",
            RvfHeuristics {
                guidance: false,
                ..all
            },
        ),
        (
            "signals",
            RvfHeuristics {
                signals: false,
                ..all
            },
        ),
        (
            "merging",
            RvfHeuristics {
                merging: false,
                ..all
            },
        ),
    ] {
        let name = format!("{name} -{without}");
        measure(
            &name,
            built,
            EngineKind::Rvf,
            heuristics,
            SearchOptions::default,
        );
    }
}

fn measure(
    name: &str,
    built: &BuiltProgram,
    engine: EngineKind,
    rvf: RvfHeuristics,
    options: impl Fn() -> SearchOptions,
) {
    let mut best = Duration::MAX;
    let mut executions = 0;
    let mut verify = Decisions::default();
    for _ in 0..RUNS {
        let mut program = built.program();
        let start = processor_time();
        let engine_options = EngineOptions {
            rvf,
            ..EngineOptions::default()
        };
        let outcome = check_with(&mut program, engine, engine_options, options());
        let outcome = outcome.expect("violations replay");
        best = best.min(processor_time() - start);
        executions = outcome.statistics.complete + outcome.statistics.blocked;
        verify = outcome.statistics.verify();
    }
    let seconds = best.as_secs_f64();
    println!(
        "{name:28} {:>6} {executions:>12} {seconds:>10.3} {:>8.2}",
        engine.name(),
        seconds * 1e6 / executions as f64
    );
    if engine == EngineKind::Rvf {
        println!(
            "    {} dead ends; VerifySC: {} at hand, {} guided, {} found, {} refuted by closure, {} by search; {:.0} % of the time",
            verify.dead_ends,
            verify.at_hand,
            verify.guided,
            verify.found,
            verify.closure,
            verify.refuted,
            100.0 * verify.time.as_secs_f64() / seconds
        );
    }
}

/// Time that this thread has had a processor, or the time of day where that is not to be had.
fn processor_time() -> Duration {
    let from_scheduler = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| {
            let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
            Some(Duration::from_nanos(nanoseconds))
        });
    from_scheduler.unwrap_or_else(|| {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    })
}
