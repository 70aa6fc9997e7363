//! From a source file to a program that engines can run.

use crate::cli::{OnMainReturn, Panics};
use crate::compile;
use crate::error::Error;
use crate::standard;
use crate::supervise::Job;
use raddle_ir::Module;
use raddle_program::Program;
use raddle_program::interp::view::View;
use raddle_program::interp::{self, InterpOptions, Interpreter, LoadError};
use raddle_report::trace_file;
use raddle_search::{Checks, Phase};
use std::ffi::OsString;
use std::path::Path;

/// All that decides what the program does.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// What loading it is part of.
    pub(crate) job: &'a Job,
    pub(crate) file: &'a Path,
    pub(crate) clang_args: &'a [OsString],
    pub(crate) unroll: Option<u32>,
    /// Does the engine leave out rounds in which a thread only waits?
    pub(crate) purity: bool,
    /// What the language does if this is none.
    pub(crate) on_main_return: Option<OnMainReturn>,
    pub(crate) panic: Panics,
    pub(crate) spurious_wakeups: bool,
    pub(crate) checks: Checks,
    /// `abort` ends the program silently.
    pub(crate) silent_abort: bool,
    /// Nondeterministic values of any width are chosen: by a formula, or in an execution that was saved.
    pub(crate) wide_choices: bool,
}

/// A program, and what tells it from others.
pub(crate) struct Loaded {
    pub(crate) program: Program,
    pub(crate) fingerprint: String,
    pub(crate) on_main_return: OnMainReturn,
}

impl Source<'_> {
    pub(crate) fn load(&self) -> Result<Loaded, Error> {
        let ir = self.ir()?;
        let fingerprint = trace_file::fingerprint(&ir);
        let on_main_return = self.on_main_return(&ir);
        let options = self.interpretation(&ir);
        let program = self.program(self.module(ir)?, options)?;
        Ok(Loaded {
            program,
            fingerprint,
            on_main_return,
        })
    }

    /// The program as the compiler has it.
    fn ir(&self) -> Result<String, Error> {
        self.job.watch.enter(Phase::Compiling);
        let ir = compile::to_ir(self.file, self.clang_args, self.job)?;
        self.job.watch.enter(Phase::Reading);
        Ok(ir)
    }

    /// The program, and the module to look at besides.
    pub(crate) fn load_with_view(&self) -> Result<(Loaded, View), Error> {
        let ir = self.ir()?;
        let fingerprint = trace_file::fingerprint(&ir);
        let looked_at = InterpOptions {
            // Loops that are known to end are not bounded.
            unroll: Some(self.unroll.unwrap_or(1)),
            ..self.interpretation(&ir)
        };
        let on_main_return = self.on_main_return(&ir);
        let options = self.interpretation(&ir);
        let module = self.module(ir)?;
        let view = View::new(module.clone(), looked_at).map_err(|error| self.load_error(&error))?;
        let loaded = Loaded {
            program: self.program(module, options)?,
            fingerprint,
            on_main_return,
        };
        Ok((loaded, view))
    }

    fn program(&self, module: Module, options: InterpOptions) -> Result<Program, Error> {
        // From here on the program runs: `main`, up to its first operation that others can notice.
        self.job.watch.enter(Phase::Exploring);
        Interpreter::load(module, options).map_err(|error| self.load_error(&error))
    }

    fn on_main_return(&self, ir: &str) -> OnMainReturn {
        let by_language = || standard::on_main_return(self.file, ir);
        self.on_main_return.unwrap_or_else(by_language)
    }

    fn load_error(&self, error: &LoadError) -> Error {
        Error::Load {
            file: self.file.into(),
            what: error.to_string(),
        }
    }

    fn module(&self, ir: String) -> Result<Module, Error> {
        let from_clang = !compile::is_ir(self.file);
        let name = match self.file.display() {
            // Line numbers of messages are those of the IR, not of the source.
            file if from_clang => format!("LLVM IR of {file}"),
            file => file.to_string(),
        };
        raddle_ir::parse_module(ir, &name).map_err(|error| Error::Ir {
            what: error.to_string(),
            from_clang,
        })
    }

    fn interpretation(&self, ir: &str) -> InterpOptions {
        InterpOptions {
            unroll: self.unroll,
            leaves_out_pure_iterations: self.purity,
            on_main_return: match self.on_main_return(ir) {
                OnMainReturn::Wait => interp::OnMainReturn::Wait,
                OnMainReturn::Exit => interp::OnMainReturn::Exit,
            },
            panic: match self.panic {
                Panics::Any => interp::PanicPolicy::Any,
                Panics::Unhandled => interp::PanicPolicy::Unhandled,
            },
            spurious_wakeups: self.spurious_wakeups,
            release_sequences: standard::release_sequences(self.file, self.clang_args, ir),
            check_overflow: self.checks.overflows,
            check_uninit: self.checks.uninit,
            svcomp_abort_silent: self.silent_abort,
            wide_choices: self.wide_choices,
            ..InterpOptions::default()
        }
    }
}
