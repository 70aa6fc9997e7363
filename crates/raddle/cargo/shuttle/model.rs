//! Whatever checks a closure: it runs it, and Raddle explores its executions.

use crate::threads;
use std::path::Path;
use std::time::Duration;

/// Runs the closure, and waits for all threads that it started.
pub fn check<F>(f: F)
where
    F: Fn() + Send + Sync + 'static,
{
    f();
    threads::join_the_rest();
}

pub fn check_random<F>(f: F, _iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    check(f);
}

pub fn check_random_with_seed<F>(f: F, _seed: u64, _iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    check(f);
}

pub fn check_urw<F>(f: F, _iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    check(f);
}

pub fn check_pct<F>(f: F, _iterations: usize, _depth: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    check(f);
}

pub fn check_dfs<F>(f: F, _max_iterations: Option<usize>)
where
    F: Fn() + Send + Sync + 'static,
{
    check(f);
}

pub fn check_uncontrolled_nondeterminism<F>(f: F, _max_iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    check(f);
}

pub fn replay<F>(f: F, _schedule: &str)
where
    F: Fn() + Send + Sync + 'static,
{
    check(f);
}

pub fn replay_from_file<F, P: AsRef<Path>>(f: F, _path: P)
where
    F: Fn() + Send + Sync + 'static,
{
    check(f);
}

/// What is written of a failing schedule. Raddle's `--trace` does that.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePersistence {
    None,
    Print,
    File(Option<std::path::PathBuf>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxSteps {
    None,
    FailAfter(usize),
    ContinueAfter(usize),
}

/// What shuttle can be told about its search. Nothing of it matters here.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    pub stack_size: usize,
    pub failure_persistence: FailurePersistence,
    pub max_steps: MaxSteps,
    pub max_time: Option<Duration>,
    pub silence_warnings: bool,
}

impl Config {
    pub fn new() -> Self {
        Self {
            stack_size: 0x8000,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(1_000_000),
            max_time: None,
            silence_warnings: false,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug)]
pub struct Runner;

impl Runner {
    pub fn new(_scheduler: impl scheduler::Scheduler + 'static, _config: Config) -> Self {
        Self
    }

    /// Returns how many executions there were: one at a time.
    pub fn run<F>(self, f: F) -> usize
    where
        F: Fn() + Send + Sync + 'static,
    {
        check(f);
        1
    }
}

#[derive(Debug)]
pub struct PortfolioRunner;

impl PortfolioRunner {
    pub fn new(_stop_on_first_failure: bool, _config: Config) -> Self {
        Self
    }

    pub fn add(&mut self, _scheduler: impl scheduler::Scheduler + Send + 'static) {}

    pub fn run<F>(self, f: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        check(f);
    }
}

/// Schedulers by name. None of them schedules.
pub mod scheduler {
    pub trait Scheduler {}

    macro_rules! schedulers {
        ($($name:ident { $($function:ident($($argument:ident: $type:ty),*)),* })*) => {
            $(
                #[derive(Debug)]
                pub struct $name;

                impl $name {
                    $(pub fn $function($($argument: $type),*) -> Self {
                        $(let _ = $argument;)*
                        Self
                    })*
                }

                impl Scheduler for $name {}
            )*
        };
    }

    schedulers! {
        DfsScheduler { new(max_iterations: Option<usize>, allow_random_data: bool) }
        RandomScheduler { new(max_iterations: usize), new_from_seed(seed: u64, max_iterations: usize) }
        UrwRandomScheduler { new(max_iterations: usize), new_from_seed(seed: u64, max_iterations: usize) }
        PctScheduler {
            new(max_depth: usize, max_iterations: usize),
            new_from_seed(seed: u64, max_depth: usize, max_iterations: usize)
        }
        RoundRobinScheduler { new(max_iterations: usize) }
        ReplayScheduler { new_from_encoded(encoded: &str) }
    }
}
