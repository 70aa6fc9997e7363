//! One status line on standard error while an engine works.

use raddle_search::driver::Progress;
use std::io::Write;
use std::time::{Duration, Instant};

/// Often enough to look alive, seldom enough to be read.
const INTERVAL: Duration = Duration::from_millis(250);

/// A line that is written over and over, and erased in the end.
pub(crate) struct StatusLine {
    shown: Option<Instant>,
}

impl StatusLine {
    pub(crate) fn new() -> Self {
        Self { shown: None }
    }

    /// Shows the numbers, unless that was done a moment ago.
    pub(crate) fn show(&mut self, progress: &Progress) {
        if self.shown.is_some_and(|shown| shown.elapsed() < INTERVAL) {
            return;
        }
        self.shown = Some(Instant::now());
        write_line(&format!(
            "\r{} executions ({} blocked), {:.0}/s, {:.1} s, depth {}\x1b[K",
            progress.executions,
            progress.blocked,
            progress.rate,
            progress.elapsed.as_secs_f64(),
            progress.depth
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

/// A status line that cannot be written is no reason to stop.
fn write_line(text: &str) {
    let mut error = std::io::stderr().lock();
    let _ = error
        .write_all(text.as_bytes())
        .and_then(|()| error.flush());
}
