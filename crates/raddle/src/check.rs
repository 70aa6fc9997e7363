//! `raddle check`: from a source file to an answer.

use crate::Status;
use crate::cli::{CheckArgs, OnMainReturn};
use crate::compile;
use crate::error::Error;
use crate::options::{AnswerFormat, Options};
use crate::progress::StatusLine;
use raddle_program::Program;
use raddle_program::interp::{self, InterpOptions, Interpreter};
use raddle_report::source::Sources;
use raddle_report::text::Look;
use raddle_report::{Report, json, text};
use raddle_search::driver::{self, Limits, SearchOptions};
use raddle_search::{Outcome, Verdict};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Checks a program and prints the answer on standard output.
pub fn check(args: CheckArgs, interrupt: &Arc<AtomicBool>) -> Result<Status, Error> {
    let options = Options::from_args(args)?;
    let (program, outcome) = outcome(&options, interrupt)?;
    crate::print(&answer(&options, &program, &outcome))?;
    Ok(status(&outcome.verdict))
}

/// The program, and what can be said about it.
pub(crate) fn outcome(
    options: &Options,
    interrupt: &Arc<AtomicBool>,
) -> Result<(Program, Outcome), Error> {
    let ir = compile::to_ir(&options.file, &options.clang_args)?;
    let mut program = load(options, ir)?;
    let outcome = explore(options, &mut program, interrupt)?;
    Ok((program, outcome))
}

fn load(options: &Options, ir: String) -> Result<Program, Error> {
    let from_clang = !compile::is_ir(&options.file);
    let name = match options.file.display() {
        // Line numbers of messages are those of the IR, not of the source.
        file if from_clang => format!("LLVM IR of {file}"),
        file => file.to_string(),
    };
    let module = raddle_ir::parse_module(ir, &name).map_err(|error| Error::Ir {
        what: error.to_string(),
        from_clang,
    })?;
    let interpretation = InterpOptions {
        unroll: options.unroll,
        on_main_return: match options.on_main_return {
            OnMainReturn::Wait => interp::OnMainReturn::Wait,
            OnMainReturn::Exit => interp::OnMainReturn::Exit,
        },
        check_overflow: options.checks.overflows,
        check_memory: options.checks.memory,
        ..InterpOptions::default()
    };
    Interpreter::load(module, interpretation).map_err(|error| Error::Load {
        file: options.file.clone(),
        what: error.to_string(),
    })
}

fn explore(
    options: &Options,
    program: &mut Program,
    interrupt: &Arc<AtomicBool>,
) -> Result<Outcome, Error> {
    let mut status_line = StatusLine::new();
    let search = SearchOptions {
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
    };
    driver::check(program, options.engine, search)
        .map_err(|error| Error::Internal(error.to_string()))
}

fn answer(options: &Options, program: &Program, outcome: &Outcome) -> String {
    let file = options.file.display().to_string();
    let report = Report {
        outcome,
        program,
        file: &file,
    };
    let sources = Sources::new();
    match options.format {
        AnswerFormat::Text => text::render(
            &report,
            &sources,
            Look {
                color: options.color,
                columns: options.columns,
                quiet: options.quiet,
            },
        ),
        AnswerFormat::Json => json::render(&report, &sources),
    }
}

fn status(verdict: &Verdict) -> Status {
    match verdict {
        Verdict::Verified(_) => Status::Verified,
        Verdict::Violation(_) => Status::Violation,
        Verdict::Unsupported { .. } => Status::Failure,
        Verdict::Inconclusive(_) => Status::Inconclusive,
    }
}
