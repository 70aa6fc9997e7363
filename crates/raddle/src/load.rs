//! From a source file to a program that engines can run.

use crate::cli::{DataModel, OnMainReturn, Panics};
use crate::compile;
use crate::error::Error;
use crate::project::{Gathered, Project};
use crate::standard;
use crate::supervise::Job;
use raddle_ir::Module;
use raddle_program::interp::view::View;
use raddle_program::interp::{self, InterpOptions, Interpreter, LoadError, SpuriousFailures};
use raddle_program::{Orderings, Program};
use raddle_report::trace_file;
use raddle_search::parallel::ProgramSource;
use raddle_search::{Checks, Phase};
use std::sync::Arc;

/// All that decides what the program does.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// What loading it is part of.
    pub(crate) job: &'a Job,
    pub(crate) project: &'a Project,
    pub(crate) unroll: Option<u32>,
    pub(crate) threads: Option<u32>,
    /// Does the engine leave out rounds in which a thread only waits?
    pub(crate) purity: bool,
    /// What the language does if this is none.
    pub(crate) on_main_return: Option<OnMainReturn>,
    pub(crate) panic: Panics,
    pub(crate) spurious_wakeups: bool,
    pub(crate) spurious_failures: SpuriousFailures,
    pub(crate) idle_failures: bool,
    /// Are loops that look a bounded number of times run in full?
    pub(crate) every_look: bool,
    pub(crate) volatile_is_atomic: bool,
    pub(crate) malloc_may_fail: bool,
    pub(crate) reuse_addresses: bool,
    pub(crate) checks: Checks,
    /// `abort` ends the program silently.
    pub(crate) silent_abort: bool,
    /// Nondeterministic values of any width are chosen: by a formula, or in an execution that was saved.
    pub(crate) wide_choices: bool,
    pub(crate) every_byte: bool,
    /// For `bmc`: see [`InterpOptions::keeps_unwritten`].
    pub(crate) keeps_unwritten: bool,
}

/// A program, and what tells it from others.
pub(crate) struct Loaded {
    pub(crate) program: Program,
    pub(crate) fingerprint: String,
    pub(crate) on_main_return: OnMainReturn,
    /// The same program, for other threads.
    pub(crate) again: ProgramSource,
    /// What it was made of, for other machines.
    #[cfg_attr(not(feature = "cluster"), expect(dead_code))]
    pub(crate) ir: Arc<str>,
    #[cfg_attr(not(feature = "cluster"), expect(dead_code))]
    pub(crate) interpretation: InterpOptions,
}

/// A program that was compiled and read, to be run several times, and with several options.
pub(crate) struct Compiled {
    gathered: Arc<Gathered>,
    module: Module,
    fingerprint: String,
}

/// A program like the one that is loaded here.
fn again(ir: &Arc<str>, options: &InterpOptions) -> ProgramSource {
    let (ir, options) = (Arc::clone(ir), options.clone());
    Arc::new(move || {
        // It was read once: its name is for messages about what cannot be read.
        let module = raddle_ir::parse_module(Arc::clone(&ir), "LLVM IR").ok()?;
        Interpreter::load(module, options.clone()).ok()
    })
}

impl Compiled {
    /// The program with some orderings of its own atomics replaced.
    pub(crate) fn program(
        &self,
        source: &Source<'_>,
        orderings: &Orderings,
    ) -> Result<Program, Error> {
        let options = InterpOptions {
            orderings: Arc::new(orderings.clone()),
            ..source.interpretation(&self.gathered)
        };
        source.program(self.module.clone(), options)
    }

    pub(crate) fn load(&self, source: &Source<'_>) -> Result<Loaded, Error> {
        self.loaded(source, self.module.clone())
    }

    /// The program, and the module to look at besides.
    pub(crate) fn load_with_view(&self, source: &Source<'_>) -> Result<(Loaded, View), Error> {
        let looked_at = InterpOptions {
            // Loops that are known to end are not bounded.
            unroll: Some(source.unroll.unwrap_or(1)),
            keeps_unwritten: source.keeps_unwritten,
            ..source.interpretation(&self.gathered)
        };
        let view = View::new(self.module.clone(), looked_at);
        let view = view.map_err(|error| source.load_error(&error))?;
        Ok((self.load(source)?, view))
    }

    /// The same again, in any thread.
    pub(crate) fn view_again(&self, source: &Source<'_>) -> raddle_bmc::Again {
        let explored = source.interpretation(&self.gathered);
        let looked_at = InterpOptions {
            unroll: Some(source.unroll.unwrap_or(1)),
            keeps_unwritten: source.keeps_unwritten,
            ..explored.clone()
        };
        let ir = Arc::clone(&self.gathered.ir);
        Arc::new(move || {
            // It was read once: its name is for messages about what cannot be read.
            let module = raddle_ir::parse_module(Arc::clone(&ir), "LLVM IR").ok()?;
            let view = View::new(module.clone(), looked_at.clone()).ok()?;
            Some((view, Interpreter::load(module, explored.clone()).ok()?))
        })
    }

    fn loaded(&self, source: &Source<'_>, module: Module) -> Result<Loaded, Error> {
        let options = source.interpretation(&self.gathered);
        Ok(Loaded {
            again: again(&self.gathered.ir, &options),
            ir: Arc::clone(&self.gathered.ir),
            interpretation: options.clone(),
            program: source.program(module, options)?,
            fingerprint: self.fingerprint.clone(),
            on_main_return: source.on_main_return(&self.gathered),
        })
    }
}

impl Source<'_> {
    pub(crate) fn load(&self) -> Result<Loaded, Error> {
        let mut compiled = self.compile()?;
        let module = std::mem::take(&mut compiled.module);
        compiled.loaded(self, module)
    }

    /// The program as it is read. What is compiled does not depend on options of the check.
    pub(crate) fn compile(&self) -> Result<Compiled, Error> {
        let gathered = self.gathered()?;
        Ok(Compiled {
            fingerprint: trace_file::fingerprint(&gathered.ir),
            module: self.module(&gathered)?,
            gathered,
        })
    }

    /// The program as the compiler has it.
    fn gathered(&self) -> Result<Arc<Gathered>, Error> {
        self.job.watch.enter(Phase::Compiling);
        let gathered = self.project.gathered(self.job)?;
        self.job.watch.enter(Phase::Reading);
        Ok(gathered)
    }

    fn program(&self, module: Module, options: InterpOptions) -> Result<Program, Error> {
        // From here on the program runs: `main`, up to its first operation that others can notice.
        self.job.watch.enter(Phase::Exploring);
        Interpreter::load(module, options).map_err(|error| self.load_error(&error))
    }

    fn on_main_return(&self, gathered: &Gathered) -> OnMainReturn {
        let by_language = || standard::on_main_return(self.project.file(), &gathered.ir);
        self.on_main_return.unwrap_or_else(by_language)
    }

    fn load_error(&self, error: &LoadError) -> Error {
        Error::Load {
            file: self.project.file().into(),
            what: error.to_string(),
        }
    }

    fn module(&self, gathered: &Gathered) -> Result<Module, Error> {
        let file = self.project.file();
        let from_clang = !compile::is_ir(file);
        let name = match file.display() {
            // Line numbers of messages are those of the IR, not of the source.
            file if from_clang => format!("LLVM IR of {file}"),
            file => file.to_string(),
        };
        let module = raddle_ir::parse_module(Arc::clone(&gathered.ir), &name);
        let module = module.map_err(|error| Error::Ir {
            what: error.to_string(),
            from_clang,
        })?;
        let found = match module.types.layout.is_ilp32() {
            true => DataModel::Ilp32,
            false => DataModel::Lp64,
        };
        match self.project.data_model {
            Some(wanted) if wanted != found => Err(Error::DataModel {
                what: format!(
                    "{}: the program was compiled for the data model {}, and `--data-model` says {}",
                    file.display(),
                    found.name(),
                    wanted.name()
                ),
                hint: "leave `--data-model` out, or compile the program for the other one",
            }),
            _ => Ok(module),
        }
    }

    fn interpretation(&self, gathered: &Gathered) -> InterpOptions {
        let mut args = vec!["program".to_owned()];
        args.extend(self.project.args.iter().cloned());
        InterpOptions {
            unroll: self.unroll,
            threads: self.threads,
            leaves_out_pure_iterations: self.purity,
            on_main_return: match self.on_main_return(gathered) {
                OnMainReturn::Wait => interp::OnMainReturn::Wait,
                OnMainReturn::Exit => interp::OnMainReturn::Exit,
            },
            panic: match self.panic {
                Panics::Any => interp::PanicPolicy::Any,
                Panics::Unhandled => interp::PanicPolicy::Unhandled,
            },
            spurious_wakeups: self.spurious_wakeups,
            spurious_failures: self.spurious_failures,
            leaves_out_idle_failures: !self.idle_failures,
            collapses_spins: !self.every_look,
            volatile_is_atomic: self.volatile_is_atomic,
            malloc_may_fail: self.malloc_may_fail,
            reuse_addresses: self.reuse_addresses,
            release_sequences: standard::release_sequences(&gathered.units, &gathered.ir),
            check_overflow: self.checks.overflows,
            check_uninit: self.checks.uninit,
            check_every_byte: self.every_byte && self.checks.uninit,
            svcomp_abort_silent: self.silent_abort,
            wide_choices: self.wide_choices,
            args,
            env: self.project.env.clone(),
            entry: self.project.entry().to_owned(),
            ..InterpOptions::default()
        }
    }
}
