//! `raddle replay`: runs a saved execution again, step by step.

use crate::Status;
use crate::check::spurious_failures;
use crate::cli::{Check, OnMainReturn, Panics, ReplayArgs};
use crate::error::Error;
use crate::load::Source;
use crate::options::{self, checks};
use crate::project::{Named, Project};
use crate::supervise::{Ended, Job};
use clap::ValueEnum;
use raddle_memory::axioms::PlainAccesses;
use raddle_program::Program;
use raddle_report::names::Names;
use raddle_report::repeat::{Course, NotReproduced};
use raddle_report::source::Sources;
use raddle_report::text::{self, Look};
use raddle_report::trace_file::TraceFile;
use raddle_report::words;
use raddle_search::replay::{self, Found, Replayed, Schedule};
use raddle_search::{Checks, Phase, Violation, Watch};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Runs the execution of a file and shows it. The status is that of a violation if the saved one is reproduced.
pub fn replay(args: ReplayArgs, interrupt: &AtomicBool) -> Result<Status, Error> {
    let job = Job::new(None, None);
    let stopped = match job.run(interrupt, move |job| replayed(&args, job)) {
        Ended::Returned(Err(Error::Compile(_))) if job.watch.is_raised() => true,
        Ended::Returned(result) => {
            let (text, status) = result?;
            crate::print(&text)?;
            return Ok(status);
        }
        Ended::Abandoned => true,
        Ended::Panicked => false,
    };
    if let (true, Some(reason)) = (stopped, job.watch.reason()) {
        crate::tell(format_args!("inconclusive: {}", words::reason(&reason)));
        return Ok(Status::Inconclusive);
    }
    Ok(Status::Failure)
}

/// What is to be told, and the status.
fn replayed(args: &ReplayArgs, job: &Job) -> Result<(String, Status), Error> {
    let trace = read(&args.trace)?;
    let schedule = trace.schedule().map_err(|error| Error::Trace {
        file: args.trace.clone(),
        error,
    })?;
    let program_file = find(&trace.file, &args.trace);
    let project = saved_project(&trace, &program_file, &args.trace)?;
    let checks = saved_checks(&trace);
    let mut loaded = Source {
        job,
        project: &project,
        unroll: trace.options.unroll,
        threads: trace.options.threads,
        purity: trace.options.purity,
        on_main_return: OnMainReturn::from_str(&trace.options.on_main_return, true).ok(),
        panic: match trace.options.any_panic {
            true => Panics::Any,
            false => Panics::Unhandled,
        },
        spurious_wakeups: trace.options.spurious_wakeups,
        spurious_failures: spurious_failures(trace.options.spurious_failures, schedule.memory),
        idle_failures: trace.options.idle_failures,
        every_look: trace.options.every_look,
        volatile_is_atomic: trace.options.volatile_is_atomic,
        malloc_may_fail: trace.options.malloc_may_fail,
        reuse_addresses: trace.options.reuse_addresses,
        checks,
        silent_abort: trace.options.silent_abort,
        wide_choices: true,
        every_byte: false,
        keeps_unwritten: false,
    }
    .load()?;
    let changed = loaded.fingerprint != trace.fingerprint;
    if changed {
        crate::tell(format_args!(
            "warning: {} has changed since the execution was saved (or clang, or what it includes)",
            program_file.display()
        ));
    }
    job.watch.enter(Phase::Replaying);
    let program = &mut loaded.program;
    let first_bytes = trace.first_bytes().map_err(|error| Error::Trace {
        file: args.trace.clone(),
        error,
    })?;
    program.assume_first_bytes(first_bytes);
    if trace.options.reads_kinds {
        program.read_kinds();
    }
    let plain = match checks.races {
        true => PlainAccesses::Race,
        false => PlainAccesses::AreRelaxed,
    };
    let (done, mut replayed) = replay::replay_named(program, &schedule, plain);
    let different = trace.first_difference(program, &schedule, &done, &mut replayed);
    let is_whole = done.steps.len() == schedule.steps.len();
    let found = replay::violations(program, &mut replayed);
    let found = wanted(found, program, &replayed, &trace);
    let look = Look {
        color: options::color(args.color),
        columns: options::columns(),
        quiet: args.quiet,
        full: true,
        output: true,
    };
    let names = Names::new(program, &replayed.trace);
    let message = found.as_ref().map(|found| {
        let kind = words::violation_kind(&found.kind);
        (kind, words::headline(&names, program, &found.kind))
    });
    let is_saved = message.as_ref().is_some_and(|(kind, message)| {
        (*kind, message) == (trace.violation.kind.as_str(), &trace.violation.message)
    });
    let verdict = if is_whole && is_saved {
        if let Some(Course::Differs {
            event,
            expected,
            got,
        }) = &different
        {
            crate::tell(format_args!(
                "warning: from event {event} on this is another execution: it was `{expected}`, and is now {got}"
            ));
        }
        let events = schedule.steps.len();
        Ok(format!(
            "reproduced: the saved execution of {events} events ends in the saved violation\n"
        ))
    } else {
        let other = message.map(|(_, message)| Course::OtherViolation { message });
        Err(NotReproduced {
            course: different.or(other).unwrap_or(Course::Harmless),
            cause: trace.cause(changed, &program_file.display().to_string()),
            wanted: trace.violation.message.clone(),
        })
    };
    Ok(show(program, done, replayed, found, look, verdict))
}

fn read(file: &Path) -> Result<TraceFile, Error> {
    let text = std::fs::read(file).map_err(|error| Error::Read {
        file: file.into(),
        error,
    })?;
    TraceFile::parse(&String::from_utf8_lossy(&text)).map_err(|error| Error::Trace {
        file: file.into(),
        error,
    })
}

/// The program, as it was named when the execution was saved.
fn saved_project(
    trace: &TraceFile,
    program_file: &Path,
    trace_file: &Path,
) -> Result<Project, Error> {
    let saved = &trace.program;
    let mut files = vec![program_file.to_owned()];
    files.extend(saved.more_files.iter().map(|file| find(file, trace_file)));
    let build = saved.build.as_ref().map(|build| find(build, trace_file));
    let clang_args: Vec<OsString> = saved.clang_args.iter().map(OsString::from).collect();
    Ok(Project::new(Named {
        files: &files,
        build: build.as_deref(),
        clang_args: &clang_args,
        data_model: None,
        entry: saved.entry.as_deref(),
        args: &saved.args,
        env: &saved.env,
        cache: true,
    })?)
}

/// A file lies where it was, seen from here or from the trace.
fn find(file: &str, trace_file: &Path) -> PathBuf {
    let file = PathBuf::from(file);
    if file.exists() {
        return file;
    }
    let beside = trace_file.with_file_name(file.file_name().unwrap_or_default());
    if beside.exists() { beside } else { file }
}

fn saved_checks(trace: &TraceFile) -> Checks {
    let names = &trace.options.check;
    if names.is_empty() {
        return Checks::default();
    }
    let list: Vec<Check> = names
        .iter()
        .filter_map(|name| Check::from_str(name, true).ok())
        .collect();
    checks(&list)
}

/// The violation that was saved, if it is there; else any of its kind; else any.
fn wanted(
    found: Vec<Found>,
    program: &Program,
    replayed: &Replayed,
    trace: &TraceFile,
) -> Option<Found> {
    let names = Names::new(program, &replayed.trace);
    let rank = |found: &Found| {
        let is_kind = words::violation_kind(&found.kind) == trace.violation.kind;
        let message = words::headline(&names, program, &found.kind);
        (is_kind && message == trace.violation.message, is_kind)
    };
    let mut best: Option<Found> = None;
    for candidate in found {
        if best
            .as_ref()
            .is_none_or(|best| rank(&candidate) > rank(best))
        {
            best = Some(candidate);
        }
    }
    best
}

fn show(
    program: &mut Program,
    schedule: Schedule,
    replayed: Replayed,
    found: Option<Found>,
    look: Look,
    verdict: Result<String, NotReproduced>,
) -> (String, Status) {
    let sources = Sources::new();
    let mut text = match found {
        Some(found) => {
            let violation = Violation {
                kind: found.kind,
                thread: found.thread,
                at: found.at,
                schedule,
                trace: replayed.trace,
                advice: None,
            };
            let violation = Violation {
                advice: replay::advise(program, &violation, &Watch::default()),
                ..violation
            };
            text::violation(program, &violation, &sources, look)
        }
        None => text::execution(program, &replayed.trace, &sources, look),
    };
    let status = match verdict {
        Ok(reproduced) => {
            text += &reproduced;
            Status::Violation
        }
        Err(why) => {
            text += &why.to_string();
            Status::Inconclusive
        }
    };
    (text, status)
}
