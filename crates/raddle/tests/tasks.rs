//! Programs of the shapes that the verification competition has (`tests/tasks`), checked as its tasks are: each is right as it stands, and wrong with `-DBROKEN`.
//!
//! Constants are small here, where full ones take long; `cargo test --test tasks -- --ignored` tries those that the competition's programs have.

mod common;

use common::{raddle, says};
use std::path::Path;

const SC: &[&str] = &["sc"];
const ALL: &[&str] = &["sc", "tso", "pso"];

/// Checks a task under these memory models. Without a bound that was asked for, an answer is about all executions.
#[track_caller]
fn answers(name: &str, constants: &[&str], is_broken: bool, models: &[&str]) {
    let tasks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tasks");
    for model in models {
        let mut command = raddle();
        command
            .arg("check")
            .arg(tasks.join(name).with_extension("c"))
            .arg("--property")
            .arg(tasks.join("unreach-call.prp"))
            .args(["--memory", model, "--time-limit", "120", "--"])
            .arg(format!("-DBROKEN={}", u8::from(is_broken)))
            .args(constants.iter().map(|constant| format!("-D{constant}")));
        let output = command.output().unwrap();
        let answer = match is_broken {
            true => "violation: `reach_error` is reached",
            false => "verified: no violation in any execution",
        };
        says(&output, i32::from(is_broken), &[answer]);
    }
}

/// The task as it stands, and broken.
#[track_caller]
fn both(name: &str, constants: &[&str], models: &[&str]) {
    answers(name, constants, false, models);
    answers(name, constants, true, models);
}

#[test]
fn queues_and_stacks() {
    both("queue", &["SIZE=3"], ALL);
    both("stack", &["SIZE=3"], ALL);
}

#[test]
fn what_goes_wrong_in_long_loops_is_found_in_short_ones() {
    answers("stack", &["SIZE=100"], true, SC);
}

#[test]
fn additions_in_turns() {
    both("fib", &["ROUNDS=4"], ALL);
    both("triangular", &["ROUNDS=8"], ALL);
}

#[test]
fn many_threads() {
    both("counter", &["THREADS=10"], ALL);
    both("indexer", &["THREADS=13"], SC);
    answers("indexer", &["THREADS=13"], true, ALL);
}

/// There are executions of any number of threads, so nothing but a violation is an answer. The first execution has no threads at all, and tells nothing of what the others are like.
#[test]
fn threads_without_end() {
    answers("endless_threads", &[], true, ALL);
}

#[test]
fn what_is_not_known_beforehand() {
    both("accounts", &[], ALL);
    both("any_size", &[], SC);
    both("file_position", &[], ALL);
}

#[test]
fn bodies_of_inline_functions() {
    both("inline", &[], ALL);
}

#[test]
fn lock_free_stacks() {
    both("lock_free_stack", &["THREADS=2"], ALL);
}

#[test]
fn buffers() {
    both("bounded_queue", &["ROUNDS=2"], ALL);
    both("waiting_buffer", &["ROUNDS=1"], ALL);
    both("cached_ring", &["ROUNDS=3"], ALL);
}

#[test]
fn monitors() {
    both("readers_writers", &["ROUNDS=1"], SC);
}

#[test]
fn sorting() {
    both("bubble_sort", &["SIZE=4"], ALL);
    both("network", &["SIZE=3"], ALL);
}

#[test]
fn greatest_common_divisors() {
    answers("gcd", &[], true, ALL);
}

#[test]
#[ignore = "takes minutes"]
fn published_constants() {
    for size in ["SIZE=400", "SIZE=800"] {
        answers("queue", &[size], true, ALL);
        answers("stack", &[size], true, ALL);
    }
    both("fib", &["ROUNDS=5"], ALL);
    both("triangular", &["ROUNDS=20"], ALL);
    both("counter", &["THREADS=13"], ALL);
    both("lock_free_stack", &["THREADS=3", "ROUNDS=2"], SC);
    both("bounded_queue", &["ROUNDS=4"], ALL);
    both("waiting_buffer", &["ROUNDS=3"], SC);
    both("readers_writers", &["ROUNDS=2"], SC);
    both("bubble_sort", &["SIZE=6"], ALL);
    both("cached_ring", &["ROUNDS=5"], ALL);
}
