//! One status line on standard error while engines work.

use std::io::Write;
use std::time::{Duration, Instant};

/// Often enough to look alive, seldom enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(250);

/// A line that is written over and over, and erased in the end.
pub(crate) struct StatusLine {
    enabled: bool,
    started: Instant,
    shown: Option<Instant>,
}

impl StatusLine {
    pub(crate) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            started: Instant::now(),
            shown: None,
        }
    }

    /// Shows the numbers, unless that was done a moment ago.
    pub(crate) fn update(&mut self, executions: u64, events: usize) {
        if !self.enabled {
            return;
        }
        let elapsed = self.started.elapsed();
        let last = self.shown.map_or(self.started, |shown| shown);
        if last.elapsed() < INTERVAL {
            return;
        }
        self.shown = Some(Instant::now());
        let rate = executions as f64 / elapsed.as_secs_f64();
        write_line(&format!(
            "\r{executions} executions, {rate:.0}/s, {:.1} s, {events} events in the longest\x1b[K",
            elapsed.as_secs_f64()
        ));
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if self.shown.is_some() {
            write_line("\r\x1b[K");
        }
    }
}

/// Nobody reads a status line that cannot be written.
fn write_line(text: &str) {
    let mut error = std::io::stderr().lock();
    let _ = error.write_all(text.as_bytes()).and_then(|()| error.flush());
}
