//! `raddle check`: from a source file to an answer.

use crate::Status;
use crate::cli::{CheckArgs, OnMainReturn};
use crate::compile;
use crate::error::Error;
use crate::options::{AnswerFormat, Options};
use crate::progress::StatusLine;
use raddle_bmc::BmcOptions;
use raddle_ir::Module;
use raddle_program::Program;
use raddle_program::interp::view::View;
use raddle_program::interp::{self, InterpOptions, Interpreter};
use raddle_report::source::Sources;
use raddle_report::text::Look;
use raddle_report::{Report, json, text};
use raddle_search::driver::{self, Limits, SearchOptions};
use raddle_search::{EngineKind, Outcome, Verdict};
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
    if options.engine == EngineKind::Bmc {
        return solve(options, ir, interrupt);
    }
    let module = parse(options, ir)?;
    let mut program = Interpreter::load(module, interpretation(options))
        .map_err(|error| load_error(options, &error))?;
    let outcome = explore(options, &mut program, interrupt)?;
    Ok((program, outcome))
}

/// Engine `bmc` sees the module itself; the interpreter is for replaying.
fn solve(
    options: &Options,
    ir: String,
    interrupt: &Arc<AtomicBool>,
) -> Result<(Program, Outcome), Error> {
    let looked_at = InterpOptions {
        // Loops that are known to end are not bounded.
        unroll: Some(options.unroll.unwrap_or(1)),
        ..interpretation(options)
    };
    let view = View::new(parse(options, ir.clone())?, looked_at)
        .map_err(|error| load_error(options, &error))?;
    let replayed = InterpOptions {
        unroll: None,
        wide_choices: true,
        ..interpretation(options)
    };
    let mut program = Interpreter::load(parse(options, ir)?, replayed)
        .map_err(|error| load_error(options, &error))?;
    let bmc = BmcOptions {
        memory: options.memory,
        unroll: options.unroll,
        exit_with_main: options.on_main_return == OnMainReturn::Exit,
    };
    let outcome = raddle_bmc::check(view, &mut program, bmc, search_options(options, interrupt))
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok((program, outcome))
}

fn load_error(options: &Options, error: &interp::LoadError) -> Error {
    Error::Load {
        file: options.file.clone(),
        what: error.to_string(),
    }
}

fn parse(options: &Options, ir: String) -> Result<Module, Error> {
    let from_clang = !compile::is_ir(&options.file);
    let name = match options.file.display() {
        // Line numbers of messages are those of the IR, not of the source.
        file if from_clang => format!("LLVM IR of {file}"),
        file => file.to_string(),
    };
    raddle_ir::parse_module(ir, &name).map_err(|error| Error::Ir {
        what: error.to_string(),
        from_clang,
    })
}

fn interpretation(options: &Options) -> InterpOptions {
    InterpOptions {
        unroll: options.unroll,
        on_main_return: match options.on_main_return {
            OnMainReturn::Wait => interp::OnMainReturn::Wait,
            OnMainReturn::Exit => interp::OnMainReturn::Exit,
        },
        check_overflow: options.checks.overflows,
        check_memory: options.checks.memory,
        ..InterpOptions::default()
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
    }
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
