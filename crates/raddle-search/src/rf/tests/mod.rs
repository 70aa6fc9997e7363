//! Exact counts of reads-from classes, from the tables of the paper.

mod programs;
mod waiting;

use super::Search;
use crate::dpor::Listener;
use crate::ending;
use crate::{EngineKind, Reductions, SearchOptions, Statistics, Verdict, check};
use programs::*;
use raddle_memory::consistency::Phases;
use raddle_memory::{Machine, StepEnd};
use raddle_program::builder::{BuiltProgram, ProgramBuilder};
use raddle_program::{Program, ThreadId};
use std::ops::ControlFlow;

#[derive(Default)]
struct Count {
    complete: u64,
    blocked: u64,
}

impl Listener for Count {
    fn stepped(
        &mut self,
        _: &mut Program,
        _: &mut Machine,
        _: ThreadId,
        _: StepEnd,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn undone(&mut self, _: usize) {}

    fn ended(&mut self, program: &mut Program, machine: &mut Machine) -> ControlFlow<()> {
        if ending::is_complete(program, machine) {
            self.complete += 1;
        } else {
            self.blocked += 1;
        }
        ControlFlow::Continue(())
    }

    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        unreachable!("no execution is given up")
    }

    fn restarted(&mut self) {
        *self = Self::default();
    }
}

fn explore_with_phases(built: &BuiltProgram, reductions: Reductions) -> (u64, u64, Phases) {
    let mut program = built.program();
    let mut count = Count::default();
    let mut search = Search::new(&program, reductions);
    let _ = search.run(&mut program, &mut count);
    (count.complete, count.blocked, search.phases())
}

fn explore_with(built: &BuiltProgram, reductions: Reductions) -> (u64, u64) {
    let (complete, blocked, _) = explore_with_phases(built, reductions);
    (complete, blocked)
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
    expect(exponential, &[(3, 3634)]);
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

/// What this thread has used so far: other processes do not disturb it.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text
        .split(' ')
        .next()
        .and_then(|first| first.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) * 1e-9
}

#[test]
#[ignore = "measures time: run with --release --nocapture, ONLY=name, SIZE=n, BARE=1"]
fn speed() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let timed = |name: &str, program: fn(u32) -> BuiltProgram, size: u32| {
        if !name.contains(&only) {
            return;
        }
        let built = &program(size);
        let start = cpu_seconds();
        let (complete, blocked, phases) = match std::env::var("BARE") {
            Ok(_) => explore_with_phases(built, Reductions::default()),
            Err(_) => {
                let outcome = check(
                    &mut built.program(),
                    EngineKind::Rf,
                    SearchOptions::default(),
                );
                let statistics = outcome.expect("violations are reproduced").statistics;
                let Statistics {
                    complete, blocked, ..
                } = statistics;
                (complete, blocked, statistics.consistency)
            }
        };
        let seconds = cpu_seconds() - start;
        println!(
            "{name}: {complete}+{blocked} in {seconds:.3} s: {:.2} us {phases:?}",
            seconds * 1e6 / (complete + blocked) as f64
        );
    };
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let size = |default: u32| number("SIZE").unwrap_or(default);
    timed("fib", fib, size(4));
    timed("casrot", casrot, size(9));
    timed("readers", readers, size(11));
    timed("lastzero", lastzero, size(11));
    timed("sigma", sigma, size(7));
    timed("control-flow", control_flow, size(11));
    timed("opt-lock", opt_lock, size(100));
    timed("race-parametric", race_parametric, size(4));
    timed("exponential", exponential, size(5));
    timed("append", append, size(5));
    timed("lamport", lamport, size(3));
    timed("circular-buffer", circular_buffer, size(8));
    timed("myexample", myexample, size(5));
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
