//! `raddle replay`: runs a saved execution again, step by step.

use crate::Status;
use crate::cli::{Check, OnMainReturn, ReplayArgs};
use crate::error::Error;
use crate::load::Source;
use crate::options::{self, checks};
use crate::supervise::{Ended, Job};
use clap::ValueEnum;
use raddle_program::Program;
use raddle_report::names::Names;
use raddle_report::source::Sources;
use raddle_report::text::{self, Look};
use raddle_report::trace_file::{self, TraceFile};
use raddle_report::words;
use raddle_search::replay::{self, Found, Mismatch, Replayed, Schedule};
use raddle_search::{Checks, Phase, Violation};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Runs the execution of a file and shows it. The status is that of a violation if there is one.
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
    let program_file = find(&trace, &args.trace);
    let clang_args: Vec<OsString> = trace.clang_args.iter().map(OsString::from).collect();
    let checks = saved_checks(&trace);
    let mut loaded = Source {
        job,
        file: &program_file,
        clang_args: &clang_args,
        unroll: trace.options.unroll,
        purity: trace.options.purity,
        on_main_return: OnMainReturn::from_str(&trace.options.on_main_return, true)
            .unwrap_or(OnMainReturn::Wait),
        checks,
        silent_abort: trace.options.silent_abort,
        wide_choices: true,
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
    let mut replayed = run(program, &schedule, &trace, changed)?;
    compare(program, &schedule, &replayed, &trace);
    let found = wanted(
        replay::violations(program, &schedule, &mut replayed),
        program,
        &replayed,
        &trace,
    );
    let look = Look {
        color: options::color(args.color),
        columns: options::columns(),
        quiet: args.quiet,
        full: true,
        output: true,
    };
    Ok(show(program, &schedule, replayed, &trace, found, look))
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

/// The program lies where it was, seen from here or from the trace.
fn find(trace: &TraceFile, trace_file: &Path) -> PathBuf {
    let file = PathBuf::from(&trace.file);
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

fn run(
    program: &mut Program,
    schedule: &Schedule,
    trace: &TraceFile,
    changed: bool,
) -> Result<Replayed, Error> {
    replay::replay(program, schedule).map_err(|mismatch| {
        let event = match mismatch {
            Mismatch::NotReady { step, .. } => step,
            // Only running it can go wrong here.
            _ => 0,
        };
        Error::CannotRepeat {
            event: event + 1,
            thread: schedule
                .steps
                .get(event)
                .map_or(0, |step| step.thread().index()),
            did: trace
                .schedule
                .get(event)
                .map(|step| step.does.clone())
                .unwrap_or_default(),
            changed,
        }
    })
}

/// Says where the execution became another one.
fn compare(program: &Program, schedule: &Schedule, replayed: &Replayed, trace: &TraceFile) {
    let now = trace_file::summary(program, &replayed.trace, schedule);
    let both = trace.schedule.iter().zip(now).enumerate();
    // Lines move when a program is edited: only what is done counts.
    let without_line = |text: &str| match text.split_once(": ") {
        Some((line, rest)) if line.starts_with("line ") => rest.to_owned(),
        _ => text.to_owned(),
    };
    for (index, (saved, now)) in both {
        if !saved.does.is_empty() && without_line(&saved.does) != without_line(&now) {
            crate::tell(format_args!(
                "warning: from event {} on this is another execution: it was `{}`, and is now `{now}`",
                index + 1,
                saved.does
            ));
            return;
        }
    }
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
    program: &Program,
    schedule: &Schedule,
    replayed: Replayed,
    trace: &TraceFile,
    found: Option<Found>,
    look: Look,
) -> (String, Status) {
    let sources = Sources::new();
    let names = Names::new(program, &replayed.trace);
    let Some(found) = found else {
        let mut text = text::execution(program, &replayed.trace, &sources, look);
        text += &format!(
            "not reproduced: the execution runs through, and does not end in `{}`\n",
            trace.violation.message
        );
        return (text, Status::Verified);
    };
    let message = words::headline(&names, program, &found.kind);
    let violation = Violation {
        kind: found.kind,
        thread: found.thread,
        at: found.at,
        schedule: schedule.clone(),
        trace: replayed.trace,
    };
    let mut text = text::violation(program, &violation, &sources, look);
    text += &if message == trace.violation.message {
        format!(
            "reproduced: the saved execution of {} events ends in the saved violation\n",
            schedule.steps.len()
        )
    } else {
        format!(
            "another violation than the one saved, which was `{}`\n",
            trace.violation.message
        )
    };
    (text, Status::Violation)
}
