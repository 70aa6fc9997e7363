//! Why a saved execution was not reproduced.

use crate::names::Names;
use crate::trace_file::{self, TraceFile};
use raddle_judge::replay::{Replayed, Schedule, ScheduleStep};
use raddle_memory::Readiness;
use raddle_program::{Program, ThreadName};
use std::fmt;

/// What became of the execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// From this event on (counting from 1) it was another one.
    Differs {
        event: usize,
        expected: String,
        got: String,
    },
    /// It ran through, and nothing was wrong.
    Harmless,
    /// It ended in something else.
    OtherViolation { message: String },
}

/// Why that is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The file is not as Raddle wrote it.
    Edited,
    /// The program is not the one that was checked.
    Changed { file: String },
    /// It was written by this version of Raddle.
    Version { wrote: String },
    /// A mistake of Raddle's own.
    Unknown,
}

/// An execution that was not reproduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotReproduced {
    pub course: Course,
    pub cause: Cause,
    /// The message of the saved violation.
    pub wanted: String,
}

impl fmt::Display for NotReproduced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not reproduced: ")?;
        match &self.course {
            Course::Differs {
                event,
                expected,
                got,
            } => writeln!(
                f,
                "the execution took another way at event {event}: expected `{expected}`, got {got}"
            )?,
            Course::Harmless => writeln!(
                f,
                "the execution runs through, and does not end in `{}`",
                self.wanted
            )?,
            Course::OtherViolation { message } => writeln!(
                f,
                "the execution ends in `{message}`, and not in `{}`",
                self.wanted
            )?,
        }
        match &self.cause {
            Cause::Edited => writeln!(
                f,
                "cause: the trace file was damaged or edited after it was written"
            ),
            Cause::Changed { file } => writeln!(
                f,
                "cause: {file} has changed since the execution was saved (or clang, or what it includes); the change may well have removed the bug: check it again"
            ),
            Cause::Version { wrote } => writeln!(
                f,
                "cause: the trace file was written by Raddle {wrote}: write it anew with `raddle check --trace`"
            ),
            Cause::Unknown => writeln!(
                f,
                "cause: neither the program nor the trace file has changed: this is a bug of Raddle; please report it with both"
            ),
        }
    }
}

impl TraceFile {
    /// Why this execution was not reproduced by a program, which has `changed` or not.
    #[must_use]
    pub fn cause(&self, changed: bool, file: &str) -> Cause {
        if !self.is_intact() {
            Cause::Edited
        } else if changed {
            let file = file.to_owned();
            Cause::Changed { file }
        } else if self.raddle != env!("CARGO_PKG_VERSION") {
            let wrote = self.raddle.clone();
            Cause::Version { wrote }
        } else {
            Cause::Unknown
        }
    }

    /// The first event at which the execution that was run is not the saved one. `schedule` is the part of `wanted` that
    /// could be run.
    #[must_use]
    pub fn first_difference(
        &self,
        program: &Program,
        wanted: &Schedule<ThreadName>,
        schedule: &Schedule,
        replayed: &mut Replayed,
    ) -> Option<Course> {
        let now = trace_file::summary(program, &replayed.trace, schedule);
        let saved = self.schedule.iter().map(|step| step.does.as_str());
        for ((saved, now), event) in saved.clone().zip(&now).zip(1..) {
            if !saved.is_empty() && without_line(saved) != without_line(now) {
                return Some(Course::Differs {
                    event,
                    expected: saved.to_owned(),
                    got: format!("`{now}`"),
                });
            }
        }
        let event = schedule.steps.len();
        let step = wanted.steps.get(event)?;
        Some(Course::Differs {
            event: event + 1,
            expected: saved.clone().nth(event).unwrap_or_default().to_owned(),
            got: obstacle(program, step, replayed),
        })
    }
}

/// Lines move when a program is edited: only what is done counts.
fn without_line(text: &str) -> &str {
    match text.split_once(": ") {
        Some((line, rest)) if line.starts_with("line ") => rest,
        _ => text,
    }
}

/// Why an event cannot happen now.
fn obstacle(program: &Program, step: &ScheduleStep<ThreadName>, replayed: &mut Replayed) -> String {
    let (ScheduleStep::Run { thread: name, .. }
    | ScheduleStep::Flush { thread: name, .. }
    | ScheduleStep::Place { thread: name, .. }) = step;
    let Some(thread) = program.tables().thread_named(name) else {
        return format!("no thread `{name}`");
    };
    let names = Names::new(program, &replayed.trace);
    let who = names.thread(thread);
    match (step, replayed.machine.readiness(program, thread)) {
        (_, Readiness::NotStarted) => format!("no thread `{name}`"),
        (ScheduleStep::Flush { .. }, _) => format!("no delayed store of {who}"),
        (_, Readiness::Waiting) => format!("{who} waiting"),
        (_, Readiness::Ended(_)) => format!("the end of {who}"),
        (ScheduleStep::Place { .. }, Readiness::Ready) => {
            format!("{who} at a step that cannot read and write what was saved")
        }
        (_, Readiness::Ready) => format!("{who} at its next step"),
    }
}
