//! From a source file to a program that engines can run.

use crate::cli::OnMainReturn;
use crate::compile;
use crate::error::Error;
use raddle_program::Program;
use raddle_program::interp::{self, InterpOptions, Interpreter};
use raddle_report::trace_file;
use raddle_search::Checks;
use std::ffi::OsString;
use std::path::Path;

/// All that decides what the program does.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a Path,
    pub(crate) clang_args: &'a [OsString],
    pub(crate) unroll: Option<u32>,
    /// Does `unroll` count rounds in which a thread only waits?
    pub(crate) count_pure_rounds: bool,
    pub(crate) on_main_return: OnMainReturn,
    pub(crate) checks: Checks,
    /// `abort` ends the program silently.
    pub(crate) silent_abort: bool,
}

/// A program, and what tells it from others.
pub(crate) struct Loaded {
    pub(crate) program: Program,
    pub(crate) fingerprint: String,
}

impl Source<'_> {
    pub(crate) fn load(&self) -> Result<Loaded, Error> {
        let ir = compile::to_ir(self.file, self.clang_args)?;
        let fingerprint = trace_file::fingerprint(&ir);
        let program = self.program(ir)?;
        Ok(Loaded {
            program,
            fingerprint,
        })
    }

    pub(crate) fn program(&self, ir: String) -> Result<Program, Error> {
        let from_clang = !compile::is_ir(self.file);
        let name = match self.file.display() {
            // Line numbers of messages are those of the IR, not of the source.
            file if from_clang => format!("LLVM IR of {file}"),
            file => file.to_string(),
        };
        let module = raddle_ir::parse_module(ir, &name).map_err(|error| Error::Ir {
            what: error.to_string(),
            from_clang,
        })?;
        let interpretation = InterpOptions {
            unroll: self.unroll,
            count_pure_rounds: self.count_pure_rounds,
            on_main_return: match self.on_main_return {
                OnMainReturn::Wait => interp::OnMainReturn::Wait,
                OnMainReturn::Exit => interp::OnMainReturn::Exit,
            },
            check_overflow: self.checks.overflows,
            check_memory: self.checks.memory,
            svcomp_abort_silent: self.silent_abort,
            ..InterpOptions::default()
        };
        Interpreter::load(module, interpretation).map_err(|error| Error::Load {
            file: self.file.into(),
            what: error.to_string(),
        })
    }
}
