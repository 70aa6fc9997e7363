//! The engines on programs made by the builder: `cargo bench -p raddle-search [NAME…]`.
//!
//! Each line is the best of a few runs, in processor time where the system tells it. Compare ratios of one run, not seconds
//! of different ones.

use raddle_program::builder::{BuiltProgram, Compare, Place, ProgramBuilder};
use raddle_search::{EngineKind, SearchOptions, check};
use std::time::{Duration, Instant};

const RUNS: u32 = 3;

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    println!(
        "{:24} {:>6} {:>12} {:>10} {:>8}",
        "program", "engine", "executions", "seconds", "µs each"
    );
    for (name, built) in programs() {
        if wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str())) {
            measure(&name, &built, EngineKind::Dpor);
        }
    }
}

fn programs() -> Vec<(String, BuiltProgram)> {
    let mut all = Vec::new();
    for n in [4, 5] {
        all.push((format!("fib-bench {n}"), fib(n)));
    }
    for n in [9, 10] {
        all.push((format!("casrot {n}"), casrot(n)));
    }
    all.push(("lastwrite 8".to_owned(), lastwrite(8)));
    all.push(("readers 13".to_owned(), readers(13)));
    all.push(("exponential-bug 5".to_owned(), exponential(5)));
    all.push(("ttaslock 4".to_owned(), ttas(4)));
    all
}

fn measure(name: &str, built: &BuiltProgram, engine: EngineKind) {
    let mut best = Duration::MAX;
    let mut executions = 0;
    for _ in 0..RUNS {
        let mut program = built.program();
        let start = processor_time();
        let outcome =
            check(&mut program, engine, SearchOptions::default()).expect("violations replay");
        best = best.min(processor_time() - start);
        executions = outcome.statistics.complete + outcome.statistics.blocked;
    }
    let seconds = best.as_secs_f64();
    println!(
        "{name:24} {:>6} {executions:>12} {seconds:>10.3} {:>8.2}",
        engine.name(),
        seconds * 1e6 / executions as f64
    );
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

fn fib(rounds: u32) -> BuiltProgram {
    fn add_into(b: &mut ProgramBuilder, name: &str, rounds: u32, to: Place, other: Place) {
        b.thread(name, |t| {
            for _ in 0..rounds {
                let mine = t.load(to);
                let theirs = t.load(other);
                t.store(to, mine + theirs);
            }
        });
    }
    let mut b = ProgramBuilder::new("fib-bench");
    let i = b.var_init("i", 4, 1);
    let j = b.var_init("j", 4, 1);
    add_into(&mut b, "t1", rounds, i, j);
    add_into(&mut b, "t2", rounds, j, i);
    b.main(|t| {
        t.spawn_all();
        let a = t.load(i);
        t.if_(a.at_most(1_000_000), |t| {
            t.load(j);
        });
    });
    b.build()
}

fn casrot(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("casrot");
    let x = b.var("x", 4);
    for i in 1..=n {
        b.thread(&format!("t{i}"), |t| {
            t.cas(x, i - 1, i);
        });
    }
    b.no_joins();
    b.build()
}

fn lastwrite(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("lastwrite");
    let x = b.var("x", 4);
    for i in 1..=n {
        b.thread(&format!("t{i}"), |t| t.store(x, i));
    }
    b.main(|t| {
        t.spawn_all();
        t.join_all();
        t.load(x);
    });
    b.build()
}

fn readers(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("readers");
    let x = b.var("x", 4);
    b.thread("writer", |t| t.store(x, 42));
    for i in 1..=n {
        b.thread(&format!("reader{i}"), |t| {
            t.load(x);
        });
    }
    b.build()
}

fn exponential(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("exponential-bug");
    let x = b.var("x", 4);
    let y = b.var("y", 4);
    let l = b.mutex("l");
    b.thread("t1", |t| {
        for _ in 0..2 {
            t.lock(l);
            t.store(x, 1);
            for _ in 0..n {
                t.store(y, 1);
            }
            t.unlock(l);
        }
    });
    b.thread("t2", |t| {
        for _ in 0..2 {
            t.lock(l);
            t.store(x, 0);
            t.unlock(l);
            let v = t.load(x);
            t.if_(v.differs(0), |t| {
                let w = t.load(y);
                t.store(y, w + 1);
                t.store(x, 2);
            });
        }
    });
    b.thread("t3", |t| {
        for _ in 0..2 {
            let v = t.load(x);
            t.if_(v.is(2), |t| {
                let w = t.load(y);
                t.if_else(w.is(3), |t| t.exit(0), |t| t.store(y, 2));
            });
        }
    });
    b.no_joins();
    b.build()
}

/// Test-and-test-and-set, without a bound: awaits end its loops.
fn ttas(threads: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("ttaslock");
    let l = b.var("l", 4);
    let x = b.var("x", 4);
    for i in 0..threads {
        b.thread(&format!("t{i}"), |t| {
            t.loop_(|t| {
                t.while_(|t| t.load(l).differs(0), |_| {});
                let old = t.exchange(l, 1);
                t.if_(old.is(0), |t| t.break_());
            });
            let v = t.load(x);
            t.store(x, v + 1);
            t.store(l, 0);
        });
    }
    b.build()
}
