//! One status line on standard error while an engine works.

use raddle_report::words::grouped;
use raddle_search::driver::Progress;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const ERASE: &str = "\r\x1b[K";
/// Often enough to look alive, seldom enough to be read.
const INTERVAL: Duration = Duration::from_millis(250);

/// A line that is written over and over, and erased in the end.
pub(crate) struct StatusLine {
    shown: Option<Instant>,
    columns: usize,
}

impl StatusLine {
    /// A line that is not longer than so many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            shown: None,
            columns,
        }
    }

    /// Shows the numbers, unless that was done a moment ago.
    pub(crate) fn show(&mut self, progress: &Progress) {
        if self.shown.is_some_and(|shown| shown.elapsed() < INTERVAL) {
            return;
        }
        self.shown = Some(Instant::now());
        // A line that wraps could not be written over.
        let line: String = line(progress).chars().take(self.columns - 1).collect();
        write_line(&format!("\r{line}\x1b[K"));
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
fn line(progress: &Progress) -> String {
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
    let mut text = format!(
        "{} executions{blocked}, {}/s, {}",
        grouped(progress.executions),
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
    if let Some(explored) = progress.explored {
        text += &format!(", {} explored", percent(explored));
        // What is known too little of is better not told.
        if explored > 1e-4 {
            let left = progress.elapsed.as_secs_f64() * (1.0 - explored) / explored;
            text += &format!(", about {} left", span(left));
        }
    }
    text
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
        assert_eq!(line(&progress), "12 345 executions, 617/s, 20 s");
        let endless = Progress {
            executions: 0,
            depth: 123_456,
            ..progress
        };
        assert_eq!(
            line(&endless),
            "first execution, 123 456 events so far, 20 s"
        );
        let progress = Progress {
            explored: Some(0.25),
            blocked: 3,
            ..progress
        };
        assert_eq!(
            line(&progress),
            "12 345 executions (3 blocked), 617/s, 20 s, about 25 % explored, about 60 s left"
        );
        let progress = Progress {
            explored: Some(1e-9),
            blocked: 0,
            ..progress
        };
        assert_eq!(
            line(&progress),
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
