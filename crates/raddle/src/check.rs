//! `raddle check`: from a source file to an answer.

use crate::Status;
use crate::cli::{CheckArgs, OnMainReturn, name_of};
use crate::error::Error;
use crate::load::{Loaded, Source};
use crate::options::{AnswerFormat, Options};
use crate::progress::StatusLine;
use raddle_bmc::BmcOptions;
use raddle_program::Program;
use raddle_report::source::Sources;
use raddle_report::text::Look;
use raddle_report::trace_file::{RunOptions, TraceFile};
use raddle_report::{Report, html, json, text};
use raddle_search::driver::{self, Limits, SearchOptions};
use raddle_search::{EngineKind, Outcome, Verdict};
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
    // Files first: an answer on the screen says that all is done.
    write_files(&options, &report, &sources, &checked.loaded.fingerprint)?;
    crate::print(&answer(&options, &report, &sources))?;
    Ok(status(&checked.outcome.verdict))
}

/// A program, and what can be said about it.
pub(crate) struct Checked {
    pub(crate) loaded: Loaded,
    pub(crate) outcome: Outcome,
}

pub(crate) fn checked(options: &Options, interrupt: &Arc<AtomicBool>) -> Result<Checked, Error> {
    if options.engine == EngineKind::Bmc {
        return solve(options, interrupt);
    }
    let mut loaded = source(options).load()?;
    let outcome = explore(options, &mut loaded.program, interrupt)?;
    Ok(Checked { loaded, outcome })
}

/// Engine `bmc` looks at the module itself; the program is for replaying.
fn solve(options: &Options, interrupt: &Arc<AtomicBool>) -> Result<Checked, Error> {
    let source = Source {
        wide_choices: true,
        ..source(options)
    };
    let (mut loaded, view) = source.load_with_view(options.reductions.purity)?;
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
    };
    let search = search_options(options, interrupt);
    let outcome = raddle_bmc::check(view, &mut loaded.program, bmc, search)
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(Checked { loaded, outcome })
}

fn source(options: &Options) -> Source<'_> {
    Source {
        file: &options.file,
        clang_args: &options.clang_args,
        unroll: options.unroll,
        count_pure_rounds: !(options.reductions.purity && options.engine.knows_purity()),
        on_main_return: options.on_main_return,
        checks: options.checks,
        silent_abort: options.silent_abort,
        wide_choices: false,
    }
}

fn explore(
    options: &Options,
    program: &mut Program,
    interrupt: &Arc<AtomicBool>,
) -> Result<Outcome, Error> {
    driver::check(program, options.engine, search_options(options, interrupt))
        .map_err(|error| Error::Internal(error.to_string()))
}

fn search_options(options: &Options, interrupt: &Arc<AtomicBool>) -> SearchOptions {
    let mut status_line = StatusLine::new();
    SearchOptions {
        memory: options.memory,
        checks: options.checks,
        reductions: options.reductions,
        limits: Limits {
            executions: options.max_executions,
            time: options.time_limit,
            memory_bytes: options.memory_limit_bytes,
        },
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
    if let Some(file) = &options.trace {
        match &report.outcome.verdict {
            Verdict::Violation(violations) => {
                let trace = TraceFile::new(
                    report,
                    &violations[0],
                    run_options(options),
                    clang_args(options)?,
                    fingerprint.to_owned(),
                );
                write(file, &trace.render())?;
            }
            _ => nothing_to_write(file),
        }
    }
    Ok(())
}

fn nothing_to_write(file: &Path) {
    eprintln!(
        "note: {} is not written: there is no violation to show in it",
        file.display()
    );
}

fn run_options(options: &Options) -> RunOptions {
    RunOptions {
        check: options.check_names.clone(),
        unroll: options.unroll,
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
        Verdict::Unsupported { .. } => Status::Failure,
        Verdict::Inconclusive(_) => Status::Inconclusive,
    }
}
