//! Running a tool and taking its processor time.

use super::tool::{Answer, Tool};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longer runs are ended.
const LONGEST: Duration = Duration::from_secs(300);

/// What a tool said and took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) answer: Answer,
    /// Processor time.
    pub(super) seconds: f64,
}

impl Measured {
    /// The better one of two runs. Answers that differ from run to run would be a bug of the tool; the faster one is shown.
    pub(super) fn better(self, other: Self) -> Self {
        if other.seconds < self.seconds {
            other
        } else {
            self
        }
    }
}

/// One run of a command.
pub(super) struct Run {
    printed: String,
    pub(super) seconds: f64,
    is_over: bool,
}

impl Run {
    pub(super) fn measured(&self, tool: &Tool) -> Result<Measured, String> {
        let seconds = self.seconds;
        match tool.answer(&self.printed) {
            _ if !self.is_over => Err("> 300 s".to_owned()),
            Some(answer) => Ok(Measured { answer, seconds }),
            None => Err("no answer".to_owned()),
        }
    }
}

/// Runs a command. What it prints goes through a file, so that it never waits for us.
pub(super) fn run(command: &mut Command, work: &Path) -> Result<Run, String> {
    let cannot = |error: std::io::Error| format!("cannot run {command:?}: {error}");
    let printed = work.join("printed");
    let file = File::create(&printed).map_err(cannot)?;
    let errors = file.try_clone().map_err(cannot)?;
    let before = children_time()?;
    let mut child = Command::new(command.get_program())
        .args(command.get_args())
        .current_dir(work)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors)
        .spawn()
        .map_err(cannot)?;
    let start = Instant::now();
    let is_over = loop {
        if child.try_wait().map_err(cannot)?.is_some() {
            break true;
        }
        if start.elapsed() > LONGEST {
            child.kill().map_err(cannot)?;
            child.wait().map_err(cannot)?;
            break false;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let seconds = children_time()? - before;
    let printed = std::fs::read(&printed).map_err(cannot)?;
    Ok(Run {
        printed: String::from_utf8_lossy(&printed).into_owned(),
        seconds,
        is_over,
    })
}

/// The processor time of all children that have ended, and of theirs.
fn children_time() -> Result<f64, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_err(|error| format!("the system does not tell processor times: {error}"))?;
    let microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(microseconds as f64 / 1e6)
}

/// A directory of this process's own.
pub(super) fn work_directory() -> Result<PathBuf, String> {
    let directory = std::env::temp_dir().join(format!("raddle-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory)
        .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
    Ok(directory)
}

/// A program that does nothing, for what a tool takes to start.
pub(super) fn write_nothing(file: &Path) -> Result<(), String> {
    let text = "#include <pthread.h>\n#include <stdatomic.h>\nint main(void) { return 0; }\n";
    std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}
