//! Saved executions: written by `raddle check --trace`, read by `raddle replay`.
//!
//! One JSON object. `raddle_trace` is the version of the format: a reader refuses those it does not know, and ignores members
//! that it does not know. What is needed to repeat the execution is `file`, `clang_args` (and what else makes the program: other sources, a build directory, arguments), `options`, `memory` and
//! `schedule`; `fingerprint` tells whether the program is still the same, `checksum` whether the file is; all else is for
//! people, and to tell where an execution of a changed program becomes another one.
//!
//! Threads go by their names (`main`, `main.2`, `main.2.1`: see [`ThreadName`]), which mean the same in every process.

use crate::Report;
use crate::names::Names;
use crate::source::position;
use crate::steps;
use crate::words;
use raddle_judge::replay::{Schedule, ScheduleStep};
use raddle_judge::{MemoryModel, Trace, Violation};
use raddle_program::{FirstBytes, Kinds, Made, Program, Seen, ThreadName};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// The format that this version writes.
pub const VERSION: u64 = 2;

/// A saved execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFile {
    pub raddle_trace: u64,
    /// The version of Raddle that wrote it.
    pub raddle: String,
    /// The program, as the user named it.
    pub file: String,
    #[serde(flatten)]
    pub program: SavedProgram,
    #[serde(default)]
    pub options: RunOptions,
    pub engine: String,
    pub memory: String,
    /// See [`fingerprint`].
    pub fingerprint: String,
    /// A hash of everything else but `file`: a program may move.
    #[serde(default)]
    pub checksum: String,
    pub violation: SavedViolation,
    pub schedule: Vec<SavedStep>,
}

/// What else the program is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedProgram {
    pub clang_args: Vec<String>,
    /// The other sources that were named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more_files: Vec<String>,
    /// The directory of the compile database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// The function that it begins with, if it is not `main`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// `argv` behind the program's name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The environment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
}

/// Options that change what the program does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunOptions {
    pub check: Vec<String>,
    pub unroll: Option<u32>,
    /// Was there a bound on threads?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Were rounds of loops left out in which a thread only waits?
    pub purity: bool,
    /// `wait` or `exit`.
    pub on_main_return: String,
    /// Could waits for condition variables end without a signal?
    pub spurious_wakeups: bool,
    /// Could weak compare-exchanges and the like fail for no reason?
    pub spurious_failures: bool,
    /// Also where that leads back to the beginning of a loop?
    pub idle_failures: bool,
    /// Were loops that look a bounded number of times run in full?
    pub every_look: bool,
    /// Could `malloc` return null?
    pub malloc_may_fail: bool,
    /// Could it return the address of a block that had been freed?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reuse_addresses: bool,
    /// Were volatile accesses relaxed atomics?
    pub volatile_is_atomic: bool,
    /// Is every panic of Rust a violation?
    pub any_panic: bool,
    /// Is `abort` a silent end of the program?
    pub silent_abort: bool,
    /// Did operations on mutexes read of which kind these are, as an event of its own?
    pub reads_kinds: bool,
    /// What memory held that nobody had written, where it was not zero.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_bytes: Vec<SavedBytes>,
}

/// What memory holds when a thread makes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedBytes {
    pub thread: String,
    /// Is it a stack variable that no other thread can see? Otherwise it is a heap block, or a variable that others can see.
    pub private: bool,
    /// The how-many-th of these that the thread makes, from 1.
    pub number: u32,
    /// Offset and value.
    pub bytes: Vec<(u64, u8)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedViolation {
    pub kind: String,
    pub message: String,
    pub thread: String,
}

/// One event. Exactly one of `run` and `flush` is there: the thread that acts, or one of whose stores reaches memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedStep {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<String>,
    /// Which of the thread's delayed stores, oldest first; the oldest if not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// With memory `c11`, which event's write it reads, counting from 1; not said: initial contents, or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<u32>,
    /// With memory `c11`, the event right behind whose write its own comes in the modification order of the location; not said: the initial
    /// contents, or it does not write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// What it did, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub does: String,
}

/// Why a file is no saved execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceFileError {
    NotJson {
        message: String,
    },
    /// An object, but nothing that Raddle wrote.
    NotATrace,
    UnknownVersion {
        found: u64,
    },
    /// A member is missing or has a wrong type or value.
    Malformed {
        message: String,
    },
}

impl fmt::Display for TraceFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { message } => write!(f, "this is no saved execution: {message}"),
            Self::NotATrace => write!(f, "this is no saved execution: `raddle_trace` is missing"),
            Self::UnknownVersion { found } => write!(
                f,
                "the format has version {found}, and this Raddle knows version {VERSION} only"
            ),
            Self::Malformed { message } => write!(f, "the saved execution is damaged: {message}"),
        }
    }
}

impl TraceFile {
    /// What to save about a violation.
    #[must_use]
    pub fn new(
        report: &Report<'_>,
        violation: &Violation,
        options: RunOptions,
        program: SavedProgram,
        fingerprint: String,
    ) -> Self {
        let names = Names::new(report.program, &violation.trace);
        let does = summary(report.program, &violation.trace, &violation.schedule);
        let tables = report.program.tables();
        let mut file = Self {
            raddle_trace: VERSION,
            raddle: env!("CARGO_PKG_VERSION").to_owned(),
            file: report.file.to_owned(),
            program,
            options: RunOptions {
                reads_kinds: report.program.kinds() == Kinds::Read,
                first_bytes: saved_bytes(report.program.first_bytes()),
                ..options
            },
            engine: report.outcome.engine.name().to_owned(),
            memory: violation.schedule.memory.name().to_owned(),
            fingerprint,
            checksum: String::new(),
            violation: SavedViolation {
                kind: words::violation_kind(&violation.kind).to_owned(),
                message: words::headline(&names, report.program, &violation.kind),
                thread: tables.thread_info(violation.thread).name.to_string(),
            },
            schedule: violation
                .schedule
                .named(tables)
                .steps
                .iter()
                .zip(does)
                .map(|(step, does)| saved(step, does))
                .collect(),
        };
        file.checksum = file.computed_checksum();
        file
    }

    fn computed_checksum(&self) -> String {
        let bare = Self {
            file: String::new(),
            checksum: String::new(),
            ..self.clone()
        };
        hex(&Sha256::digest(bare.render().as_bytes()))
    }

    /// Is it as Raddle wrote it, but for the place of the program?
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.checksum == self.computed_checksum()
    }

    /// The text of the file.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("no map with keys that are no strings");
        text.push('\n');
        text
    }

    /// Reads a file that may hold anything.
    pub fn parse(text: &str) -> Result<Self, TraceFileError> {
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| TraceFileError::NotJson {
                message: error.to_string(),
            })?;
        match value.get("raddle_trace").map(serde_json::Value::as_u64) {
            None => return Err(TraceFileError::NotATrace),
            Some(Some(VERSION)) => {}
            Some(Some(found)) => return Err(TraceFileError::UnknownVersion { found }),
            Some(None) => {
                return Err(TraceFileError::Malformed {
                    message: "`raddle_trace` is no number".to_owned(),
                });
            }
        }
        let file: Self =
            serde_json::from_value(value).map_err(|error| TraceFileError::Malformed {
                message: error.to_string(),
            })?;
        file.schedule()?;
        file.first_bytes()?;
        Ok(file)
    }

    /// What memory holds that nobody has written.
    pub fn first_bytes(&self) -> Result<FirstBytes, TraceFileError> {
        let mut first = FirstBytes::default();
        for saved in &self.options.first_bytes {
            let thread: ThreadName =
                (saved.thread.parse()).map_err(|error| TraceFileError::Malformed {
                    message: format!("first bytes: {error}"),
                })?;
            let seen = match saved.private {
                true => Seen::Privately,
                false => Seen::ByOthers,
            };
            for &(offset, byte) in &saved.bytes {
                let made = Made {
                    thread: thread.clone(),
                    seen,
                    counter: saved.number,
                };
                first.insert(made, offset, byte);
            }
        }
        Ok(first)
    }

    /// What to run.
    pub fn schedule(&self) -> Result<Schedule<ThreadName>, TraceFileError> {
        let malformed = |message: String| TraceFileError::Malformed { message };
        let models = [
            MemoryModel::Sc,
            MemoryModel::Tso,
            MemoryModel::Pso,
            MemoryModel::C11,
        ];
        let memory = models
            .into_iter()
            .find(|model| model.name() == self.memory)
            .ok_or_else(|| malformed(format!("there is no memory model `{}`", self.memory)))?;
        let mut steps = Vec::with_capacity(self.schedule.len());
        for (step, event) in self.schedule.iter().zip(1..) {
            let named = |name: &str| {
                name.parse::<ThreadName>()
                    .map_err(|error| malformed(format!("event {event} of the schedule: {error}")))
            };
            // Events are counted from 1 in the file.
            let earlier = |named: Option<u32>, what: &str| match named {
                Some(named) if named == 0 || named >= event => Err(malformed(format!(
                    "event {event} of the schedule {what} event {named}, which is not before it"
                ))),
                named => Ok(named.map(|named| named - 1)),
            };
            let is_graph = memory == MemoryModel::C11;
            if !is_graph && (step.reads.is_some() || step.after.is_some()) {
                let message = format!(
                    "event {event} of the schedule: `reads` and `after` are for memory `c11` only"
                );
                return Err(malformed(message));
            }
            steps.push(match (&step.run, &step.flush) {
                (Some(run), None) if is_graph => ScheduleStep::Place {
                    thread: named(run)?,
                    choices: step.choices.clone(),
                    reads: earlier(step.reads, "reads from")?,
                    after: earlier(step.after, "follows")?,
                },
                (None, Some(_)) if is_graph => {
                    let message =
                        format!("event {event} of the schedule: memory `c11` delays no stores");
                    return Err(malformed(message));
                }
                (Some(run), None) => ScheduleStep::Run {
                    thread: named(run)?,
                    choices: step.choices.clone(),
                },
                (None, Some(flush)) => ScheduleStep::Flush {
                    thread: named(flush)?,
                    position: step.position.unwrap_or(0),
                },
                _ => {
                    let message =
                        format!("event {event} of the schedule must have one of `run` and `flush`");
                    return Err(malformed(message));
                }
            });
        }
        Ok(Schedule { memory, steps })
    }
}

fn saved_bytes(first: &FirstBytes) -> Vec<SavedBytes> {
    let saved = first.iter().map(|(made, bytes)| SavedBytes {
        thread: made.thread.to_string(),
        private: made.seen == Seen::Privately,
        number: made.counter,
        bytes: bytes
            .iter()
            .map(|(&offset, &byte)| (offset, byte))
            .collect(),
    });
    saved.collect()
}

fn saved(step: &ScheduleStep<ThreadName>, does: String) -> SavedStep {
    match step {
        ScheduleStep::Run { thread, choices } => SavedStep {
            run: Some(thread.to_string()),
            choices: choices.clone(),
            does,
            ..SavedStep::default()
        },
        ScheduleStep::Flush { thread, position } => SavedStep {
            flush: Some(thread.to_string()),
            position: Some(*position),
            does,
            ..SavedStep::default()
        },
        ScheduleStep::Place {
            thread,
            choices,
            reads,
            after,
        } => SavedStep {
            run: Some(thread.to_string()),
            choices: choices.clone(),
            reads: reads.map(|step| step + 1),
            after: after.map(|step| step + 1),
            does,
            ..SavedStep::default()
        },
    }
}

/// What each event of a schedule did, in words: its first step, with the line it stands in.
#[must_use]
pub fn summary(program: &Program, trace: &Trace, schedule: &Schedule) -> Vec<String> {
    use raddle_program::Op;
    let names = Names::new(program, trace);
    let mut steps = trace.steps.iter().enumerate().peekable();
    let mut texts = Vec::with_capacity(schedule.steps.len());
    for event in &schedule.steps {
        let Some((index, step)) = steps.next() else {
            break;
        };
        let phrase = match steps::value_chosen(program, &trace.steps, index) {
            Some(value) => format!("choose {value}"),
            None => steps::phrase(&names, program, step),
        };
        texts.push(match position(program.tables(), program.at(step.state)) {
            Some(at) => format!("line {}: {phrase}", at.line),
            None => phrase,
        });
        // The rest of an atomic block is the same event, where executions are sequences.
        let is_one = schedule.memory != MemoryModel::C11;
        if is_one && *program.op(step.state) == Op::AtomicBegin {
            while let Some((_, inner)) = steps.next_if(|(_, inner)| inner.thread == event.thread())
            {
                if *program.op(inner.state) == Op::AtomicEnd {
                    break;
                }
            }
        }
    }
    texts
}

/// Tells whether two versions of a program are the same to Raddle: a hash of its LLVM IR without what only debuggers and
/// reports look at. Comments, line numbers outside of assertions and the place of the file do not count.
#[must_use]
pub fn fingerprint(ir: &str) -> String {
    let mut hash = Sha256::new();
    for line in ir.lines() {
        let line = line.trim();
        let is_noise = line.is_empty()
            || line.starts_with(['!', ';', '^'])
            || line.starts_with("source_filename")
            || line.starts_with("#dbg_")
            || line.contains("@llvm.dbg.");
        if !is_noise {
            hash.update(without_metadata(line).as_bytes());
            hash.update(b"\n");
        }
    }
    hex(&hash.finalize())
}

/// `store i32 0, ptr %x, align 4, !dbg !12` without its end.
fn without_metadata(line: &str) -> &str {
    let end = line.find(", !").unwrap_or(line.len());
    let line = &line[..end];
    // `define i32 @main() #0 !dbg !5 {`
    match line.find(" !dbg ") {
        Some(end) => &line[..end],
        None => line,
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> TraceFile {
        TraceFile {
            raddle_trace: VERSION,
            raddle: "0.1.0".to_owned(),
            file: "a.c".to_owned(),
            program: SavedProgram {
                clang_args: vec!["-DN=2".to_owned()],
                ..SavedProgram::default()
            },
            options: RunOptions::default(),
            engine: "dpor".to_owned(),
            memory: "tso".to_owned(),
            fingerprint: "00".to_owned(),
            checksum: "00".to_owned(),
            violation: SavedViolation {
                kind: "race".to_owned(),
                message: "x".to_owned(),
                thread: "main.1".to_owned(),
            },
            schedule: vec![
                saved(
                    &ScheduleStep::Run {
                        thread: ThreadName::default(),
                        choices: vec![1],
                    },
                    "line 1: choose 1 of 0..2".to_owned(),
                ),
                saved(
                    &ScheduleStep::Flush {
                        thread: ThreadName::default().child(1),
                        position: 0,
                    },
                    String::new(),
                ),
            ],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let file = example();
        assert_eq!(TraceFile::parse(&file.render()), Ok(file));
    }

    #[test]
    fn events_of_graphs_say_what_they_read() {
        let place = |thread: ThreadName, reads, after| ScheduleStep::Place {
            thread,
            choices: Vec::new(),
            reads,
            after,
        };
        let main = ThreadName::default();
        let steps = vec![
            place(main.clone(), None, None),
            place(main.child(1), Some(0), Some(0)),
        ];
        let file = TraceFile {
            memory: "c11".to_owned(),
            schedule: steps
                .iter()
                .map(|step| saved(step, String::new()))
                .collect(),
            ..example()
        };
        let text = file.render();
        assert!(text.contains("\"reads\": 1"), "events count from 1: {text}");
        let read = TraceFile::parse(&text).expect("a good file");
        assert_eq!(read.schedule().expect("a good schedule").steps, steps);
        for (bad, message) in [
            (
                text.replace("\"reads\": 1", "\"reads\": 2"),
                "reads from event 2",
            ),
            (
                text.replace("\"reads\": 1", "\"reads\": 0"),
                "reads from event 0",
            ),
            (
                text.replace("\"after\": 1", "\"after\": 9"),
                "follows event 9",
            ),
            (text.replace("\"c11\"", "\"sc\""), "for memory `c11` only"),
            (
                text.replace("\"run\": \"main\"", "\"flush\": \"main\""),
                "delays no stores",
            ),
        ] {
            let error = TraceFile::parse(&bad).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn unknown_members_are_ignored_and_unknown_versions_refused() {
        let text = example().render();
        let more = text.replacen('{', "{\"future\": [1],", 1);
        assert_eq!(TraceFile::parse(&more), Ok(example()));
        let newer = text.replace("\"raddle_trace\": 2", "\"raddle_trace\": 3");
        assert_eq!(
            TraceFile::parse(&newer),
            Err(TraceFileError::UnknownVersion { found: 3 })
        );
    }

    /// Cuts and changes of a good file give an error or another file, never a panic.
    #[test]
    fn damaged_files_are_errors() {
        let text = example().render();
        for end in 0..text.len() - 2 {
            assert!(TraceFile::parse(&text[..end]).is_err(), "{end}");
        }
        for at in 0..text.len() {
            for byte in [b'0', b'{', b'"', b'-', b'9', b' '] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = byte;
                if let Ok(text) = String::from_utf8(bytes) {
                    let _ = TraceFile::parse(&text);
                }
            }
        }
        for bad in ["", "null", "[]", "{}", "1", "{\"raddle_trace\": \"1\"}"] {
            assert!(TraceFile::parse(bad).is_err(), "{bad}");
        }
        let both = text.replace(
            "\"run\": \"main\"",
            "\"run\": \"main\", \"flush\": \"main\"",
        );
        let error = TraceFile::parse(&both).unwrap_err().to_string();
        assert!(error.contains("event 1 of the schedule"), "{error}");
    }

    #[test]
    fn only_code_counts_for_fingerprints() {
        let a = "source_filename = \"a.c\"\ndefine i32 @main() #0 !dbg !5 {\n  ret i32 0, !dbg !9\n}\n!9 = !{}\n";
        let b = "; other\nsource_filename = \"b.c\"\ndefine i32 @main() #0 !dbg !7 {\n  ret i32 0, !dbg !8\n}\n";
        let c = "define i32 @main() #0 {\n  ret i32 1\n}\n";
        assert_eq!(fingerprint(a), fingerprint(b));
        assert_ne!(fingerprint(a), fingerprint(c));
        assert_eq!(fingerprint(a).len(), 64);
    }
}
