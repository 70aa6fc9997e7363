//! `raddle check`: from a source file to an answer.

use crate::Status;
use crate::auto;
use crate::cli::{CheckArgs, OnMainReturn, name_of};
use crate::compile;
use crate::error::Error;
use crate::load::{Loaded, Source};
use crate::options::{self, AnswerFormat, Options};
use crate::progress::{Clock, StatusLine};
use raddle_bmc::BmcOptions;
use raddle_report::source::Sources;
use raddle_report::text::Look;
use raddle_report::trace_file::{RunOptions, TraceFile};
use raddle_report::witness::{self, Task};
use raddle_report::{Report, html, json, sarif, text};
use raddle_search::driver::{self, Conflicts, Limits, SearchOptions};
use raddle_search::{Check, EngineKind, Outcome, Reason, Verdict, Violation, ViolationKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Checks a program and prints the answer on standard output.
pub fn check(args: CheckArgs, interrupt: &Arc<AtomicBool>) -> Result<Status, Error> {
    let options = Options::from_args(args)?;
    let checked = checked(&options, interrupt)?;
    let sources = Sources::new();
    let file = options.file.display().to_string();
    let report = Report {
        outcome: &checked.outcome,
        program: &checked.loaded.program,
        file: &file,
    };
    // Files first: an answer on the screen says that all is done. But it is too dear to be lost if they cannot be written.
    let written = write_files(&options, &report, &sources, &checked.loaded.fingerprint);
    crate::print(&answer(&options, &report, &sources))?;
    written?;
    Ok(status(&checked.outcome.verdict))
}

/// A program, and what can be said about it.
pub(crate) struct Checked {
    pub(crate) loaded: Loaded,
    pub(crate) outcome: Outcome,
}

pub(crate) fn checked(options: &Options, interrupt: &Arc<AtomicBool>) -> Result<Checked, Error> {
    let mut checked = match options.engine {
        Some(EngineKind::Bmc) => solve(options, interrupt, None)?,
        Some(engine) => explore(options, engine, interrupt)?,
        None => auto::check(options, interrupt)?,
    };
    if let (Verdict::Verified(_), Some(property)) = (&checked.outcome.verdict, &options.property)
        && let Some(what) = property.unchecked
    {
        checked.outcome.verdict = Verdict::Inconclusive(Reason::NotLookedFor { what });
    }
    Ok(checked)
}

/// Engine `bmc` looks at the module itself; the program is for replaying.
pub(crate) fn solve(
    options: &Options,
    interrupt: &Arc<AtomicBool>,
    effort: Option<Conflicts>,
) -> Result<Checked, Error> {
    let source = Source {
        wide_choices: true,
        ..source(options)
    };
    let (mut loaded, view) = source.load_with_view()?;
    // What was found is replayed in full: bounds are the formula's.
    if options.unroll.is_some() {
        let unbounded = Source {
            unroll: None,
            ..source
        };
        loaded = unbounded.load()?;
    }
    let bmc = BmcOptions {
        memory: options.memory,
        unroll: options.unroll,
        exit_with_main: options.on_main_return == OnMainReturn::Exit,
        silent_abort: options.silent_abort,
        effort,
    };
    let search = search_options(options, interrupt);
    let _alive = options
        .progress
        .then(|| Clock::start("solving", options::error_columns()));
    let outcome = raddle_bmc::check(view, &mut loaded.program, bmc, search)
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(Checked { loaded, outcome })
}

pub(crate) fn source(options: &Options) -> Source<'_> {
    Source {
        file: &options.file,
        clang_args: &options.clang_args,
        unroll: options.unroll,
        purity: leaves_out_pure_rounds(options),
        on_main_return: options.on_main_return,
        checks: options.checks,
        silent_abort: options.silent_abort,
        wide_choices: false,
    }
}

fn leaves_out_pure_rounds(options: &Options) -> bool {
    options.reductions.purity && options.engine.is_none_or(EngineKind::knows_purity)
}

fn explore(
    options: &Options,
    engine: EngineKind,
    interrupt: &Arc<AtomicBool>,
) -> Result<Checked, Error> {
    let mut loaded = source(options).load()?;
    let search = search_options(options, interrupt);
    let outcome = driver::check(&mut loaded.program, engine, search)
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(Checked { loaded, outcome })
}

pub(crate) fn search_options(options: &Options, interrupt: &Arc<AtomicBool>) -> SearchOptions {
    let mut status_line = StatusLine::new(options::error_columns());
    SearchOptions {
        memory: options.memory,
        checks: options.checks,
        reductions: options.reductions,
        limits: Limits {
            executions: options.max_executions,
            time: options.time_limit,
            memory_bytes: options.memory_limit_bytes,
        },
        jobs: options.jobs,
        keep_going: options.keep_going,
        interrupted: Some(Arc::clone(interrupt)),
        progress: options
            .progress
            .then(|| Box::new(move |progress: &_| status_line.show(progress)) as _),
        ..SearchOptions::default()
    }
}

fn answer(options: &Options, report: &Report<'_>, sources: &Sources) -> String {
    match options.format {
        AnswerFormat::Text => text::render(
            report,
            sources,
            Look {
                color: options.color,
                columns: options.columns,
                quiet: options.quiet,
                full: options.full,
                output: false,
            },
        ),
        AnswerFormat::Json => json::render(report, sources),
        AnswerFormat::Sarif => sarif::render(report, sources),
    }
}

// ---- files

/// What was asked for besides the answer.
fn write_files(
    options: &Options,
    report: &Report<'_>,
    sources: &Sources,
    fingerprint: &str,
) -> Result<(), Error> {
    if let Some(file) = &options.report {
        write(file, &html::render(report, sources))?;
    }
    let Verdict::Violation(violations) = &report.outcome.verdict else {
        for file in options.trace.iter().chain(&options.witness) {
            crate::tell(format_args!(
                "note: {} is not written: there is no violation to show in it",
                file.display()
            ));
        }
        return Ok(());
    };
    let violation = &violations[0];
    if let Some(file) = &options.trace {
        let trace = TraceFile::new(
            report,
            violation,
            run_options(options, report.outcome.engine),
            clang_args(options)?,
            fingerprint.to_owned(),
        );
        write(file, &trace.render())?;
    }
    if let Some(file) = &options.witness {
        let contents = std::fs::read(&options.file).map_err(|error| Error::Read {
            file: options.file.clone(),
            error,
        })?;
        let task = Task {
            contents: &contents,
            specification: specification(options, violation),
            language: compile::language(&options.file),
        };
        write(file, &witness::render(report, sources, violation, &task))?;
    }
    Ok(())
}

/// The property that a violation breaks, in the words of the competition.
fn specification<'a>(options: &'a Options, violation: &Violation) -> &'a str {
    if let Some(property) = &options.property {
        return &property.specification;
    }
    match &violation.kind {
        ViolationKind::Race(_) => "G ! data-race",
        ViolationKind::Fault(fault) => match driver::check_of(fault) {
            Check::Overflow => "G ! overflow",
            Check::Memory => "G valid-free\nG valid-deref",
            _ => "G ! call(reach_error())",
        },
        ViolationKind::Deadlock { .. } | ViolationKind::Livelock { .. } => "G ! deadlock",
    }
}

fn run_options(options: &Options, engine: EngineKind) -> RunOptions {
    RunOptions {
        check: options.check_names.clone(),
        unroll: options.unroll,
        purity: options.reductions.purity && engine.knows_purity(),
        on_main_return: name_of(options.on_main_return),
        silent_abort: options.silent_abort,
    }
}

fn clang_args(options: &Options) -> Result<Vec<String>, Error> {
    let text = |arg: &std::ffi::OsString| {
        arg.to_str()
            .map(str::to_owned)
            .ok_or_else(|| Error::ArgumentNotText { arg: arg.clone() })
    };
    options.clang_args.iter().map(text).collect()
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(file, text).map_err(|error| Error::Write {
        file: file.into(),
        error,
    })
}

pub(crate) fn status(verdict: &Verdict) -> Status {
    match verdict {
        Verdict::Verified(_) => Status::Verified,
        Verdict::Violation(_) => Status::Violation,
        Verdict::Unsupported(_) => Status::Failure,
        Verdict::Inconclusive(_) => Status::Inconclusive,
    }
}
