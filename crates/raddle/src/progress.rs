//! One status line on standard error while an engine works.

use raddle_report::words::grouped;
use raddle_search::Watch;
use raddle_search::driver::Progress;
use raddle_search::parallel::{Estimate, Prober, ProgramSource, Setup};
use raddle_search::watch::Cause;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const ERASE: &str = "\r\x1b[K";
/// Often enough to look alive, seldom enough to be read.
const INTERVAL: Duration = Duration::from_millis(250);

/// A line that is written over and over, and erased in the end.
pub(crate) struct StatusLine {
    shown: Option<Instant>,
    columns: usize,
    estimator: Option<Estimator>,
}

impl StatusLine {
    /// A line that is not longer than so many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            shown: None,
            columns,
            estimator: None,
        }
    }

    /// A line that says how many executions there are, too.
    pub(crate) fn with_estimator(self, estimator: Option<Estimator>) -> Self {
        Self { estimator, ..self }
    }

    /// Shows the numbers, unless that was done a moment ago.
    pub(crate) fn show(&mut self, progress: &Progress) {
        if self.shown.is_some_and(|shown| shown.elapsed() < INTERVAL) {
            return;
        }
        self.shown = Some(Instant::now());
        // A line that wraps could not be written over.
        let estimate = self.estimator.as_ref().and_then(Estimator::estimate);
        let line: String = line(progress, estimate)
            .chars()
            .take(self.columns - 1)
            .collect();
        write_line(&format!("\r{line}\x1b[K"));
    }
}

/// Estimates how many executions there are, in a thread of its own, as long as it exists.
pub(crate) struct Estimator {
    estimate: Arc<Mutex<Option<Estimate>>>,
    watch: Arc<Watch>,
}

impl Estimator {
    /// Probes for so long, and then lets the search have the processor for nine times as long.
    const WORK: Duration = Duration::from_millis(10);
    const REST: Duration = Duration::from_millis(90);
    /// It could hardly be told more exactly.
    const EXACT: f64 = 0.005;
    const STACK_BYTES: usize = 256 << 20;

    /// None if there is no thread to be had.
    pub(crate) fn start(source: &ProgramSource, setup: Setup) -> Option<Self> {
        let estimate: Arc<Mutex<Option<Estimate>>> = Arc::default();
        let watch = Arc::new(Watch::new(None, None));
        let setup = Setup {
            watch: Arc::clone(&watch),
            ..setup
        };
        let (source, slot) = (Arc::clone(source), Arc::clone(&estimate));
        let builder = std::thread::Builder::new().stack_size(Self::STACK_BYTES);
        let started = builder.spawn(move || {
            // Most searches are over before.
            std::thread::sleep(INTERVAL);
            if !setup.watch.is_raised()
                && let Some(prober) = Prober::new(&source, setup)
            {
                Self::probe(prober, &slot);
            }
        });
        started.ok().map(|_| Self { estimate, watch })
    }

    fn probe(mut prober: Prober, slot: &Mutex<Option<Estimate>>) {
        loop {
            let began = Instant::now();
            while began.elapsed() < Self::WORK {
                if prober.probe().is_err() {
                    return;
                }
            }
            let estimate = prober.estimate();
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = estimate;
            if estimate.is_some_and(|it| it.relative_error() < Self::EXACT) {
                return;
            }
            std::thread::sleep(Self::REST);
        }
    }

    fn estimate(&self) -> Option<Estimate> {
        *self.estimate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Estimator {
    fn drop(&mut self) {
        self.watch.raise(Cause::Interrupted);
    }
}

/// Time going by, for an engine that has no executions to count. Shown from a thread of its own.
pub(crate) struct Clock {
    /// Closed to end the thread.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Clock {
    pub(crate) fn start(what: &'static str, columns: usize) -> Self {
        let (running, stopped) = mpsc::channel();
        let began = Instant::now();
        let thread = std::thread::spawn(move || {
            let mut is_shown = false;
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let line = format!("{what}, {}", span(began.elapsed().as_secs_f64()));
                let line: String = line.chars().take(columns - 1).collect();
                write_line(&format!("\r{line}\x1b[K"));
                is_shown = true;
            }
            if is_shown {
                write_line(ERASE);
            }
        });
        Self {
            running: Some(running),
            thread: Some(thread),
        }
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.running = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported; it is no reason to lose the answer.
            let _ = thread.join();
        }
    }
}

/// Executions, rate, time, and what is left as far as that can be told.
fn line(progress: &Progress, estimate: Option<Estimate>) -> String {
    // An execution without end is seen by its length.
    if progress.executions == 0 {
        return format!(
            "first execution, {} events so far, {}",
            grouped(progress.depth as u64),
            span(progress.elapsed.as_secs_f64())
        );
    }
    let blocked = match progress.blocked {
        0 => String::new(),
        blocked => format!(" ({} blocked)", grouped(blocked)),
    };
    let whole = estimate.and_then(|it| Whole::new(&it, progress));
    let mut text = format!(
        "{} executions{}{blocked}, {}/s, {}",
        grouped(progress.executions),
        whole.as_ref().map_or_else(String::new, Whole::text),
        grouped(progress.rate as u64),
        span(progress.elapsed.as_secs_f64()),
    );
    if progress.pieces > 0 {
        text += &format!(
            ", {} workers, {} pieces",
            progress.workers,
            grouped(progress.pieces as u64)
        );
    }
    if let Some(whole) = whole {
        let left = (whole.likely - progress.executions as f64).max(0.0);
        text += &format!(", about {} left", span(left / progress.rate.max(1e-9)));
    } else if let Some(explored) = progress.explored {
        text += &format!(", {} explored", percent(explored));
        // What is known too little of is better not told.
        if explored > 1e-4 {
            let left = progress.elapsed.as_secs_f64() * (1.0 - explored) / explored;
            text += &format!(", about {} left", span(left));
        }
    }
    text
}

/// How many executions there are, as far as that can be told.
struct Whole {
    low: f64,
    likely: f64,
    high: f64,
}

impl Whole {
    /// Probes may have missed what few ways lead to, and then know nothing of how much that is. So what was explored must agree with them: how much
    /// of the tree that was, if all ways were equally large, is another estimate. None if more is explored than they thought there is.
    fn new(estimate: &Estimate, progress: &Progress) -> Option<Self> {
        let explored = progress.executions as f64;
        let (mut low, mut high) = estimate.range();
        if let Some(share) = progress.explored.filter(|it| *it > 1e-3) {
            low = low.min(explored / share);
            high = high.max(explored / share);
        }
        low = low.max(explored);
        (low < high).then(|| Self {
            low,
            likely: match (high - low) / 2.0 > 0.2 * estimate.executions {
                true => (low + high) / 2.0,
                false => estimate.executions.max(low),
            },
            high,
        })
    }

    /// A range as long as little is known, then what is likely.
    fn text(&self) -> String {
        let spread = (self.high - self.low) / 2.0 / self.likely;
        match spread > 0.2 {
            true => format!(
                " of {} to {}",
                grouped(rounded(self.low)),
                grouped(rounded(self.high))
            ),
            false => format!(
                " of about {} (± {:.0} %)",
                grouped(rounded(self.likely)),
                (spread * 100.0).max(1.0)
            ),
        }
    }
}

/// Two digits that mean something.
fn rounded(number: f64) -> u64 {
    let unit = 10f64.powf((number.max(1.0).log10().floor() - 1.0).max(0.0));
    ((number / unit).round() * unit) as u64
}

fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    match percent {
        ..0.1 => "less than 0.1 %".to_owned(),
        ..10.0 => format!("about {percent:.1} %"),
        _ => format!("about {:.0} %", percent.min(99.0)),
    }
}

fn span(seconds: f64) -> String {
    match seconds {
        ..10.0 => format!("{seconds:.1} s"),
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3600.0),
        ..31_536_000.0 => format!("{:.0} days", seconds / 86_400.0),
        _ => "years".to_owned(),
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if self.shown.is_some() {
            write_line(ERASE);
        }
    }
}

/// Nothing is shown any more: there is an answer.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Wipes away the line of somebody who does not come back to do so.
pub(crate) fn erase() {
    let mut error = std::io::stderr().lock();
    IS_OVER.store(true, Ordering::Relaxed);
    let _ = error.write_all(ERASE.as_bytes());
}

/// A status line that cannot be written is no reason to stop.
fn write_line(text: &str) {
    let mut error = std::io::stderr().lock();
    if IS_OVER.load(Ordering::Relaxed) {
        return;
    }
    let _ = error
        .write_all(text.as_bytes())
        .and_then(|()| error.flush());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{search_options, source};
    use crate::cli::{Cli, Command};
    use crate::options::Options;
    use crate::supervise::Job;
    use clap::Parser;
    use raddle_search::driver::{self, EngineOptions};
    use raddle_search::{EngineKind, MemoryModel};

    /// What so many probes say of a benchmark, and how many executions there are.
    fn estimated(name: &str, size: u32, probes: u64) -> (Estimate, u64) {
        let file = format!("{}/../../benchmarks/{name}.c", env!("CARGO_MANIFEST_DIR"));
        let size = format!("-DN={size}");
        let line = [
            "raddle", "check", &file, "--engine", "graph", "--memory", "sc", "--", &size,
        ];
        let Command::Check(args) = Cli::try_parse_from(line).unwrap().command else {
            panic!("another command")
        };
        let options = Options::from_args(*args).unwrap();
        let job = Job::default();
        let mut loaded = source(&options, &job).load().unwrap();
        let setup = Setup {
            memory: MemoryModel::Sc,
            checks: options.checks,
            reductions: options.reductions,
            keep_going: true,
            leaves_values_to_formulas: false,
            reach: None,
            is_kept: false,
            watch: Arc::new(Watch::new(None, None)),
        };
        let mut prober = Prober::new(&loaded.again, setup).unwrap();
        for _ in 0..probes {
            prober.probe().unwrap();
        }
        let search = search_options(&options, &job);
        let engine = EngineOptions::default();
        let outcome = driver::check_with(&mut loaded.program, EngineKind::Graph, engine, search);
        let counted = outcome.unwrap().statistics;
        (
            prober.estimate().unwrap(),
            counted.complete + counted.blocked,
        )
    }

    /// Programs of the reads-from paper, with 10⁵ to 10⁶ executions.
    const SECTION_A: [(&str, u32); 12] = [
        ("circular-buffer", 10),
        ("lastzero", 15),
        ("readers", 17),
        ("casrot", 11),
        ("fib-bench", 5),
        ("lastwrite", 9),
        ("sigma", 7),
        ("floating-read", 8),
        ("control-flow", 7),
        ("opt-lock", 11),
        ("race-parametric", 6),
        ("exponential-bug", 5),
    ];

    #[test]
    fn probes_tell_how_many_executions_there_are() {
        let (estimate, exact) = estimated("fib-bench", 3, 4000);
        let exact = exact as f64;
        // They are the same on every machine.
        let far = (estimate.executions - exact).abs();
        assert!(far < 3.0 * estimate.error, "{estimate:?} {exact}");
        assert!(far < 0.2 * exact, "{estimate:?} {exact}");
    }

    /// `cargo test --release -p raddle --lib estimates_of_section_a -- --ignored --nocapture`
    #[test]
    #[ignore = "by hand: prints a table"]
    fn estimates_of_section_a() {
        for (name, size) in SECTION_A {
            for probes in [1000, 10_000, 100_000] {
                let began = Instant::now();
                let (estimate, exact) = estimated(name, size, probes);
                let exact = exact as f64;
                println!(
                    "| {name} {size} | {exact} | {probes} | {:.0} | {:+.1} % | ± {:.1} % | {:.1} s |",
                    estimate.executions,
                    100.0 * (estimate.executions / exact - 1.0),
                    196.0 * estimate.relative_error(),
                    began.elapsed().as_secs_f64()
                );
            }
        }
    }

    #[test]
    fn the_line_says_how_far_it_is_and_what_is_left() {
        let progress = Progress {
            executions: 12_345,
            blocked: 0,
            elapsed: Duration::from_secs(20),
            rate: 617.0,
            depth: 9,
            explored: None,
            workers: 1,
            pieces: 0,
        };
        assert_eq!(line(&progress, None), "12 345 executions, 617/s, 20 s");
        let estimate = |executions, error| {
            Some(Estimate {
                probes: 100,
                executions,
                error,
            })
        };
        assert_eq!(
            line(&progress, estimate(24_690.0, 5000.0)),
            "12 345 executions of 15 000 to 34 000, 617/s, 20 s, about 20 s left"
        );
        assert_eq!(
            line(&progress, estimate(24_690.0, 1000.0)),
            "12 345 executions of about 25 000 (± 8 %), 617/s, 20 s, about 20 s left"
        );
        // What was explored says something else.
        let disagreeing = Progress {
            explored: Some(0.1),
            ..progress
        };
        assert_eq!(
            line(&disagreeing, estimate(24_690.0, 1000.0)),
            "12 345 executions of 23 000 to 120 000, 617/s, 20 s, about 98 s left"
        );
        let endless = Progress {
            executions: 0,
            depth: 123_456,
            ..progress
        };
        assert_eq!(
            line(&endless, None),
            "first execution, 123 456 events so far, 20 s"
        );
        let progress = Progress {
            explored: Some(0.25),
            blocked: 3,
            ..progress
        };
        assert_eq!(
            line(&progress, None),
            "12 345 executions (3 blocked), 617/s, 20 s, about 25 % explored, about 60 s left"
        );
        let progress = Progress {
            explored: Some(1e-9),
            blocked: 0,
            ..progress
        };
        assert_eq!(
            line(&progress, None),
            "12 345 executions, 617/s, 20 s, less than 0.1 % explored"
        );
    }

    #[test]
    fn times_have_the_unit_that_people_would_use() {
        for (seconds, text) in [
            (0.31, "0.3 s"),
            (61.0, "61 s"),
            (600.0, "10 min"),
            (36_000.0, "10 h"),
            (1e6, "12 days"),
            (1e12, "years"),
        ] {
            assert_eq!(span(seconds), text);
        }
    }
}
