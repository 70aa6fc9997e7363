//! The command line, checked: what is left is what this version can do.

use crate::checkpoint::Resumed;
use crate::cli::{
    Check, CheckArgs, DataModel, Engine, Format, Memory, OnMainReturn, Panics, When, name_of,
};
use crate::cluster::args::ClusterArgs;
use crate::compile;
use crate::error::Error;
use crate::project::Project;
use crate::property::{self, Property};
use raddle_search::{Checks, EngineKind, MemoryModel, Reductions};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What `check` was asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) project: Project,
    pub clang_args: Vec<OsString>,
    /// None: whichever is best for the program.
    pub engine: Option<EngineKind>,
    pub memory: MemoryModel,
    /// The user has chosen neither engine nor memory model: the language's model counts, where it makes a difference.
    pub follows_language: bool,
    /// The user has chosen a memory model and no engine.
    pub(crate) is_auto: bool,
    pub checks: Checks,
    pub reductions: Reductions,
    pub unroll: Option<u32>,
    pub threads: Option<u32>,
    /// What the language does if this is none.
    pub on_main_return: Option<OnMainReturn>,
    pub panic: Panics,
    pub spurious_wakeups: bool,
    pub spurious_failures: bool,
    pub volatile_is_atomic: bool,
    pub malloc_may_fail: bool,
    pub reuse_addresses: bool,
    /// For `bmc`: memory may hold anything that nobody has written. No option: see [`crate::unwritten`].
    pub(crate) any_unwritten: bool,
    /// `uninit` is looked for to tell whether an answer could depend on such memory: see [`crate::unwritten`].
    pub(crate) every_byte: bool,
    pub keep_going: bool,
    /// Workers of engines that can have several.
    pub jobs: usize,
    pub checkpoint: Option<PathBuf>,
    pub pieces_after: Option<u32>,
    /// Others explore.
    pub(crate) cluster: Option<Arc<ClusterArgs>>,
    /// The search that is taken up again.
    pub(crate) resumed: Option<Arc<Resumed>>,
    pub max_executions: Option<u64>,
    pub time_limit: Option<Duration>,
    pub memory_limit_bytes: Option<u64>,
    pub format: AnswerFormat,
    pub quiet: bool,
    pub full: bool,
    /// What the program prints is part of the answer.
    pub output: bool,
    /// A file for the answer as JSON, whatever is printed.
    pub json: Option<PathBuf>,
    pub progress: bool,
    pub color: bool,
    pub columns: usize,
    /// The checks by name.
    pub check_names: Vec<String>,
    /// `abort` is no violation, but an end of the program.
    pub silent_abort: bool,
    pub trace: Option<PathBuf>,
    pub report: Option<PathBuf>,
    pub witness: Option<PathBuf>,
    pub proof: Option<PathBuf>,
    pub property: Option<Property>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFormat {
    Text,
    Json,
    Sarif,
}

/// The engines of this version by name. `auto` is the best of them for the program; under TSO and PSO it is `bmc`, and `states` beside it ([`crate::turns`]).
pub const ENGINES: &[(&str, EngineKind)] = &[
    ("dpor", EngineKind::Dpor),
    ("rf", EngineKind::Rf),
    ("graph", EngineKind::Graph),
    ("rvf", EngineKind::Rvf),
    ("mcr", EngineKind::Mcr),
    ("states", EngineKind::States),
    ("icb", EngineKind::Icb),
    ("bpor", EngineKind::Bpor),
    ("bmc", EngineKind::Bmc),
    ("naive", EngineKind::Naive),
];

/// Lines of text that goes to a file or a pipe are this long.
const COLUMNS_WITHOUT_TERMINAL: usize = 100;
/// Tables become hard to read when they are wider, and lanes impossible when they are narrower.
const COLUMNS: std::ops::RangeInclusive<usize> = 60..=160;

impl Options {
    pub fn from_args(mut args: CheckArgs) -> Result<Self, Error> {
        if args.cluster.cluster.is_some() {
            for_cluster(&mut args)?;
        }
        let memory = memory(args.memory, args.engine);
        let follows_language = args.memory.is_none() && args.engine == Engine::Auto;
        let engine = match args.engine {
            // Blocks that come to life again are known to `dpor`, of those that are chosen from.
            Engine::Auto if args.reuse_addresses && memory == MemoryModel::Sc => {
                Some(EngineKind::Dpor)
            }
            asked_for => engine(asked_for, memory)?,
        };
        if args.reuse_addresses && !matches!(memory, MemoryModel::Sc | MemoryModel::C11) {
            return Err(Error::Unavailable {
                option: "with `--reuse-addresses`, memory model",
                value: memory.name().to_owned(),
                available: "sc".to_owned(),
            });
        }
        if let Some(kind) = engine {
            for (option, given) in [
                ("--keep-going", args.keep_going),
                ("--max-executions", args.max_executions.is_some()),
                ("--malloc-may-fail", args.malloc_may_fail),
                ("--reuse-addresses", args.reuse_addresses),
            ] {
                if given && !kind.takes(option) {
                    return Err(Error::NotWithEngine {
                        engine: kind.name(),
                        what: "option",
                        value: option.to_owned(),
                        available: "the other options",
                    });
                }
            }
        }
        if args.proof.is_some() && engine != Some(EngineKind::Bmc) {
            return Err(Error::OnlyForBmc {
                option: "--proof",
                engine: engine.map_or("auto", EngineKind::name),
            });
        }
        let property = args.property.as_deref().map(property::read).transpose()?;
        narrow(&mut args)?;
        let project = Project::from_args(&args)?;
        let list = match &property {
            Some(property) => property.checks.clone(),
            None => named(&args.checks, project.file(), engine),
        };
        all_known(&list, engine)?;
        if let Some(kind) = engine
            && args.jobs.is_some_and(|jobs| jobs > 1)
            && !kind.descriptor().has_workers
        {
            return Err(Error::SingleWorker {
                engine: kind.name(),
            });
        }
        if args.checkpoint.is_some() {
            if let Some(kind) = engine
                && !kind.descriptor().has_checkpoints
            {
                let engine = kind.name();
                return Err(Error::NoCheckpoints { engine });
            }
            if args.max_executions.is_some() {
                return Err(Error::Unavailable {
                    option: "with `--checkpoint`, option",
                    value: "--max-executions".to_owned(),
                    available: "`--time-limit`".to_owned(),
                });
            }
        }
        Ok(Self {
            checks: Checks {
                only_error_calls: property.as_ref().is_some_and(|it| it.only_error_calls),
                ..checks(&list)
            },
            reductions: Reductions {
                purity: !args.no_purity,
                net_effect: !args.no_net_effect,
                awaits: !args.no_await,
                ifaa: !args.no_ifaa,
            },
            project,
            clang_args: args.clang_args,
            engine,
            memory,
            follows_language,
            is_auto: args.engine == Engine::Auto && !follows_language,
            unroll: args.unroll,
            threads: args.threads,
            on_main_return: args.on_main_return,
            panic: args.panic,
            spurious_wakeups: !args.no_spurious_wakeups,
            spurious_failures: !args.no_spurious_failures,
            volatile_is_atomic: args.volatile_is_atomic,
            malloc_may_fail: args.malloc_may_fail,
            reuse_addresses: args.reuse_addresses,
            any_unwritten: false,
            every_byte: false,
            keep_going: args.keep_going,
            jobs: args.jobs.map_or_else(processors, |jobs| jobs as usize),
            checkpoint: args.checkpoint,
            pieces_after: args.pieces_after,
            cluster: (args.cluster.cluster.is_some()).then(|| Arc::new(args.cluster)),
            resumed: None,
            max_executions: args.max_executions,
            time_limit: args.time_limit,
            memory_limit_bytes: args.memory_limit.map(|mebibytes| mebibytes << 20),
            format: match args.format {
                Format::Text => AnswerFormat::Text,
                Format::Json => AnswerFormat::Json,
                Format::Sarif => AnswerFormat::Sarif,
            },
            quiet: args.quiet,
            full: args.full,
            output: args.output,
            json: args.json,
            progress: wanted(args.progress, || {
                std::io::stderr().is_terminal() && !args.quiet
            }),
            color: color(args.color),
            columns: columns(),
            check_names: list.iter().map(|&check| name_of(check)).collect(),
            silent_abort: property.is_some(),
            property,
            trace: args.trace,
            report: args.report,
            witness: args.witness,
            proof: args.proof,
        })
    }
}

/// The data model ILP32 is clang's `-m32`, and for C.
fn narrow(args: &mut CheckArgs) -> Result<(), Error> {
    let mut given = args.clang_args.iter().rev();
    let given = given.find_map(|arg| match arg.to_str() {
        Some("-m32") => Some(DataModel::Ilp32),
        Some("-m64") => Some(DataModel::Lp64),
        _ => None,
    });
    if let (Some(wanted), Some(given)) = (args.data_model, given)
        && wanted != given
    {
        return Err(Error::DataModel {
            what: format!(
                "`--data-model {}` contradicts what is given to clang, which is for {}",
                wanted.name(),
                given.name()
            ),
            hint: "leave one of them out",
        });
    }
    if given.or(args.data_model) != Some(DataModel::Ilp32) {
        return Ok(());
    }
    let languages = args.files.iter().map(|file| compile::language(file));
    if let Some(language) = { languages }.find(|&language| language != "C") {
        return Err(Error::DataModel {
            what: format!(
                "{language} programs of the data model ILP32 (32 bits) are not known yet: only C programs are"
            ),
            hint: "check it as a 64-bit program, without `-m32` and `--data-model`",
        });
    }
    let is_compiled = args.files.iter().any(|file| !compile::is_ir(file));
    if given.is_none() && (is_compiled || args.build.is_some()) {
        args.clang_args.insert(0, "-m32".into());
    }
    Ok(())
}

/// Only engine `graph` is for clusters.
fn for_cluster(args: &mut CheckArgs) -> Result<(), Error> {
    match args.engine {
        Engine::Auto => args.engine = Engine::Graph,
        Engine::Graph => {}
        other => {
            let known = ENGINES.iter().find(|(name, _)| *name == name_of(other));
            return Err(Error::OnlyForGraph {
                option: "--cluster",
                engine: known.map_or("", |(name, _)| name),
            });
        }
    }
    let unusable = [
        ("--max-executions", args.max_executions.is_some()),
        ("--checkpoint", args.checkpoint.is_some()),
        ("--jobs", args.jobs.is_some()),
    ];
    match unusable.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Error::Cluster {
            what: format!("`{option}` cannot be used with `--cluster`"),
            hint: Some(match *option {
                "--jobs" => "it is an option of `raddle worker`".to_owned(),
                "--checkpoint" => {
                    "what is done is kept on the server: `--attach RUN` takes it up".to_owned()
                }
                _ => format!("leave `{option}` out"),
            }),
        }),
        None => Ok(()),
    }
}

/// How many there are, for this process.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn engine(engine: Engine, memory: MemoryModel) -> Result<Option<EngineKind>, Error> {
    let name = name_of(engine);
    if engine == Engine::Auto {
        return Ok(match memory {
            MemoryModel::Sc => None,
            MemoryModel::Tso | MemoryModel::Pso => Some(EngineKind::Bmc),
            MemoryModel::C11 => Some(EngineKind::Graph),
        });
    }
    let names = |fits: &dyn Fn(EngineKind) -> bool| {
        let engines = ENGINES.iter().filter(|(_, kind)| fits(*kind));
        engines
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match ENGINES.iter().find(|(available, _)| *available == name) {
        Some(&(_, kind)) if kind.supports(memory) => Ok(Some(kind)),
        Some(_) => Err(Error::WrongEngine {
            engine: name,
            memory: memory.name(),
            available: names(&|kind| kind.supports(memory)),
        }),
        None => Err(Error::Unavailable {
            option: "engine",
            value: name,
            available: format!("auto, {}", names(&|_| true)),
        }),
    }
}

fn memory(memory: Option<Memory>, engine: Engine) -> MemoryModel {
    match memory {
        Some(Memory::C11) => MemoryModel::C11,
        Some(Memory::Sc) => MemoryModel::Sc,
        Some(Memory::Tso) => MemoryModel::Tso,
        Some(Memory::Pso) => MemoryModel::Pso,
        None if engine == Engine::Graph => MemoryModel::C11,
        None => MemoryModel::Sc,
    }
}

/// What is looked for unless the user says otherwise.
fn named(list: &[Check], file: &Path, engine: Option<EngineKind>) -> Vec<Check> {
    if !list.is_empty() {
        return list.to_vec();
    }
    let mut list = vec![Check::Assert, Check::Memory, Check::Race, Check::Deadlock];
    // Safe Rust reads nothing that nobody has written, but copies it; so does optimised code.
    if compile::is_c_or_cxx(file) {
        list.push(Check::Uninit);
    }
    let lacks_races = |engine: EngineKind| !engine.makes(raddle_search::Check::Race);
    if engine.is_some_and(lacks_races) {
        list.retain(|&check| check != Check::Race);
    }
    list
}

/// Refuses what the engine does not look for.
fn all_known(list: &[Check], engine: Option<EngineKind>) -> Result<(), Error> {
    let Some(engine) = engine else {
        return Ok(());
    };
    for (check, known) in [
        (Check::Livelock, raddle_search::Check::Livelock),
        (Check::Race, raddle_search::Check::Race),
    ] {
        if !engine.makes(known) && list.contains(&check) {
            return Err(Error::NotWithEngine {
                engine: engine.name(),
                what: "check",
                value: name_of(check),
                available: match engine.makes(raddle_search::Check::Race) {
                    true => "assert, memory, race, deadlock, overflow",
                    false => "assert, memory, deadlock, overflow, uninit",
                },
            });
        }
    }
    Ok(())
}

pub(crate) fn checks(list: &[Check]) -> Checks {
    let on = |check| list.contains(&check);
    Checks {
        assertions: on(Check::Assert),
        memory: on(Check::Memory),
        races: on(Check::Race),
        deadlocks: on(Check::Deadlock),
        livelocks: on(Check::Livelock),
        overflows: on(Check::Overflow),
        uninit: on(Check::Uninit),
        only_error_calls: false,
    }
}

fn wanted(when: When, auto: impl FnOnce() -> bool) -> bool {
    match when {
        When::Never => false,
        When::Always => true,
        When::Auto => auto(),
    }
}

pub(crate) fn color(when: When) -> bool {
    wanted(when, || std::io::stdout().is_terminal() && colors_welcome())
}

/// See <https://no-color.org>.
fn colors_welcome() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The width of what standard error goes to.
pub(crate) fn error_columns() -> usize {
    match terminal_size::terminal_size_of(std::io::stderr()) {
        Some((terminal_size::Width(columns), _)) => usize::from(columns).max(20),
        None => COLUMNS_WITHOUT_TERMINAL,
    }
}

pub(crate) fn columns() -> usize {
    match terminal_size::terminal_size() {
        Some((terminal_size::Width(columns), _)) if std::io::stdout().is_terminal() => {
            usize::from(columns).clamp(*COLUMNS.start(), *COLUMNS.end())
        }
        _ => COLUMNS_WITHOUT_TERMINAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn options(args: &[&str]) -> Result<Options, Error> {
        let all = ["raddle", "check", "a.c"].iter().chain(args);
        let Command::Check(args) = Cli::try_parse_from(all).unwrap().command else {
            panic!("another command")
        };
        Options::from_args(*args)
    }

    #[test]
    fn defaults_are_those_of_the_manual() {
        let options = options(&[]).unwrap();
        assert_eq!(options.checks, Checks::default());
        assert_eq!(options.memory, MemoryModel::Sc);
        assert_eq!(options.on_main_return, None);
        assert_eq!(options.max_executions, None);
        assert!(!options.keep_going);
    }

    #[test]
    fn every_engine_can_be_asked_for() {
        for &engine in EngineKind::ALL {
            assert!(ENGINES.contains(&(engine.name(), engine)), "{engine:?}");
        }
        assert_eq!(ENGINES.len(), EngineKind::ALL.len());
    }

    #[test]
    fn a_list_of_checks_replaces_the_default() {
        let options = options(&["--check", "race,overflow"]).unwrap();
        assert!(options.checks.races && options.checks.overflows);
        assert!(!options.checks.assertions && !options.checks.deadlocks);
    }

    #[test]
    fn what_an_engine_cannot_do_is_refused() {
        for (args, message) in [
            (
                vec!["--engine", "icb", "--jobs", "2"],
                "engine `icb` has one worker only: `--jobs` is for engines `graph`, `dpor`, `rf`, `rvf`, `mcr` and `bmc`",
            ),
            (
                vec!["--engine", "mcr", "--checkpoint", "search.checkpoint"],
                "`--checkpoint` is for engines `graph`, `dpor`, `rf` and `rvf`, not for engine `mcr`",
            ),
            (
                vec!["--proof", "a.proof"],
                "`--proof` is for engine `bmc`, not for engine `auto`",
            ),
            (
                vec!["--engine", "bmc", "--check", "livelock"],
                "with engine bmc, check `livelock` is not available yet; available: assert, memory, race, deadlock, overflow",
            ),
            (
                vec!["--engine", "states", "--check", "assert,race"],
                "with engine states, check `race` is not available yet; available: assert, memory, deadlock, overflow, uninit",
            ),
        ] {
            assert_eq!(options(&args).unwrap_err().to_string(), message);
        }
        let states = options(&["--engine", "states"]).unwrap();
        assert!(!states.checks.races && states.checks.deadlocks);
    }

    #[test]
    fn engines_are_asked_for_memory_models_they_know_only() {
        for memory in ["tso", "pso"] {
            let auto = options(&["--memory", memory]).unwrap();
            assert_eq!(auto.engine, Some(EngineKind::Bmc));
            assert_eq!(auto.memory.name(), memory);
            let wrong = options(&["--memory", memory, "--engine", "dpor"]).unwrap_err();
            assert_eq!(
                wrong.to_string(),
                format!(
                    "engine `dpor` does not know memory model `{memory}`; engines that do: graph, states, bmc, naive"
                )
            );
        }
    }
}
