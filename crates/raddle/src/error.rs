//! Everything that ends a run without an answer. Each text says what is wrong and what to do next.

use crate::bench::BenchError;
use crate::checkpoint::CheckpointError;
use crate::compile::CompileError;
use crate::project::ProjectError;
use crate::property::PropertyError;
use raddle_report::trace_file::TraceFileError;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

#[derive(Debug)]
pub enum Error {
    /// A value of an option that this version cannot serve.
    Unavailable {
        option: &'static str,
        value: String,
        available: String,
    },
    /// The data model that was asked for is not the program's, or not for its language.
    DataModel {
        what: String,
        hint: &'static str,
    },
    /// Something that other engines have.
    NotWithEngine {
        engine: &'static str,
        what: &'static str,
        value: String,
        available: &'static str,
    },
    /// An engine that does not know the memory model.
    WrongEngine {
        engine: String,
        memory: &'static str,
        available: String,
    },
    /// `--jobs` with an engine that cannot use it.
    SingleWorker {
        engine: &'static str,
    },
    /// `--checkpoint` with an engine whose searches cannot be kept.
    NoCheckpoints {
        engine: &'static str,
    },
    /// An option that only engine `graph` knows.
    OnlyForGraph {
        option: &'static str,
        engine: &'static str,
    },
    /// An option that only engine `bmc` knows.
    OnlyForBmc {
        option: &'static str,
        engine: &'static str,
    },
    ReadProof {
        file: PathBuf,
        error: std::io::Error,
    },
    /// A file that is no checkpoint, or not of this program.
    Checkpoint {
        file: PathBuf,
        what: CheckpointError,
    },
    ReadCheckpoint {
        file: PathBuf,
        error: std::io::Error,
    },
    /// An option of `check` that the command has no use for.
    OnlyForCheck {
        option: &'static str,
    },
    /// There is no such command to print a manual page of.
    UnknownCommand {
        command: String,
        commands: String,
    },
    UnknownTopic {
        topic: String,
        similar: Option<&'static str>,
    },
    Compile(CompileError),
    Project(ProjectError),
    Bench(BenchError),
    /// The compiled program cannot be read: `what` says where and why.
    Ir {
        what: String,
        from_clang: bool,
    },
    /// The program can be read, but not started (no `main`, …).
    Load {
        file: PathBuf,
        what: String,
    },
    /// A file that was asked for cannot be written.
    Write {
        file: PathBuf,
        error: std::io::Error,
    },
    Read {
        file: PathBuf,
        error: std::io::Error,
    },
    /// What should be a saved execution is none.
    Trace {
        file: PathBuf,
        error: TraceFileError,
    },
    ReadProperty {
        file: PathBuf,
        error: std::io::Error,
    },
    Property {
        file: PathBuf,
        error: PropertyError,
    },
    /// A saved execution cannot hold such an argument of clang's.
    ArgumentNotText {
        arg: OsString,
    },
    /// Something about a cluster that was asked for.
    Cluster {
        what: String,
        hint: Option<String>,
    },
    /// This build knows no clusters.
    WithoutCluster,
    /// A mistake of Raddle's own.
    Internal(String),
    Output(std::io::Error),
}

impl From<CompileError> for Error {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
    }
}

impl From<ProjectError> for Error {
    fn from(error: ProjectError) -> Self {
        Self::Project(error)
    }
}

impl From<BenchError> for Error {
    fn from(error: BenchError) -> Self {
        Self::Bench(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable {
                option,
                value,
                available,
            } => write!(
                f,
                "{option} `{value}` is not available yet; available: {available}"
            ),
            Self::DataModel { what, .. } => f.write_str(what),
            Self::NotWithEngine {
                engine,
                what,
                value,
                available,
            } => write!(
                f,
                "with engine {engine}, {what} `{value}` is not available yet; available: {available}"
            ),
            Self::WrongEngine {
                engine,
                memory,
                available,
            } => write!(
                f,
                "engine `{engine}` does not know memory model `{memory}`; engines that do: {available}"
            ),
            Self::SingleWorker { engine } => write!(
                f,
                "engine `{engine}` has one worker only: `--jobs` is for engines `graph`, `dpor`, `rf`, `rvf`, `mcr` and `bmc`"
            ),
            Self::NoCheckpoints { engine } => write!(
                f,
                "`--checkpoint` is for engines `graph`, `dpor`, `rf` and `rvf`, not for engine `{engine}`"
            ),
            Self::OnlyForGraph { option, engine } => {
                write!(
                    f,
                    "`{option}` is for engine `graph`, not for engine `{engine}`"
                )
            }
            Self::OnlyForBmc { option, engine } => {
                write!(
                    f,
                    "`{option}` is for engine `bmc`, not for engine `{engine}`"
                )
            }
            Self::ReadCheckpoint { file, error } | Self::ReadProof { file, error } => {
                write!(f, "cannot read {}: {error}", file.display())
            }
            Self::Checkpoint { file, what } => write!(f, "{}: {what}", file.display()),
            Self::Cluster { what, .. } => f.write_str(what),
            Self::WithoutCluster => f.write_str("this raddle was built without clusters"),
            Self::OnlyForCheck { option } => {
                write!(f, "`{option}` is an option of `raddle check` only")
            }
            Self::UnknownCommand { command, .. } => write!(f, "there is no command `{command}`"),
            Self::UnknownTopic { topic, .. } => write!(f, "there is no topic `{topic}`"),
            Self::Compile(error) => error.fmt(f),
            Self::Project(error) => error.fmt(f),
            Self::Bench(error) => error.fmt(f),
            Self::Ir { what, .. } => write!(f, "cannot read the LLVM IR: {what}"),
            Self::Load { file, what } => write!(f, "{}: {what}", file.display()),
            Self::Write { file, error } => write!(f, "cannot write {}: {error}", file.display()),
            Self::Read { file, error } => write!(f, "cannot read {}: {error}", file.display()),
            Self::ReadProperty { file, error } => {
                write!(f, "cannot read the property {}: {error}", file.display())
            }
            Self::Property { file, error } => write!(f, "{}: {error}", file.display()),
            Self::Trace { file, error } => write!(f, "{}: {error}", file.display()),
            Self::ArgumentNotText { arg } => write!(
                f,
                "the argument `{}` for clang is not valid UTF-8, and cannot be saved",
                arg.display()
            ),
            Self::Internal(what) => f.write_str(what),
            Self::Output(error) => write!(f, "cannot write the answer: {error}"),
        }
    }
}

impl Error {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unavailable { .. }
            | Self::NotWithEngine { .. }
            | Self::WrongEngine { .. }
            | Self::Output(_)
 => None,
            Self::Load { what, .. } => what.contains("`main`").then(|| {
                "a program runs from `main` on: write one that starts the threads of your test, or name a function with `--entry`"
                    .to_owned()
            }),
            Self::DataModel { hint, .. } => Some((*hint).to_owned()),
            Self::ReadProperty { .. } => Some("check the path".to_owned()),
            Self::Property { .. } => Some(
                "known are those of unreach-call, no-data-race, valid-memsafety, valid-memcleanup, no-overflow and termination; or say it with `--check`".to_owned(),
            ),
            Self::Write { .. } => Some("is the directory there, and may you write to it?".to_owned()),
            Self::Read { .. } => Some("name a file that `raddle check --trace FILE` wrote".to_owned()),
            Self::Trace { .. } => Some("write it anew with `raddle check PROGRAM --trace FILE`".to_owned()),
            Self::ArgumentNotText { .. } => {
                Some("leave out `--trace` and `--checkpoint`".to_owned())
            }
            Self::Internal(_) => Some(
                "this is a bug of Raddle; please report it with the program and the command line"
                    .to_owned(),
            ),
            Self::SingleWorker { .. } => {
                Some("leave `--jobs` out, or choose one of these engines".to_owned())
            }
            Self::NoCheckpoints { .. } => {
                Some("leave `--checkpoint` out, or choose one of these engines".to_owned())
            }
            Self::OnlyForGraph { option, .. } => {
                Some(format!("add `--engine graph`, or leave `{option}` out"))
            }
            Self::OnlyForBmc { option, .. } => {
                Some(format!("add `--engine bmc`, or leave `{option}` out"))
            }
            Self::ReadProof { .. } => {
                Some("name a file that `raddle check --engine bmc --proof FILE` wrote".to_owned())
            }
            Self::ReadCheckpoint { .. } => {
                Some("name a file that `raddle check --checkpoint FILE` wrote".to_owned())
            }
            Self::Checkpoint { what, .. } => Some(what.hint().to_owned()),
            Self::OnlyForCheck { option } => Some(format!("leave `{option}` out")),
            Self::Cluster { hint, .. } => hint.clone(),
            Self::WithoutCluster => Some(
                "build it with them: `cargo install --path crates/raddle --features cluster`".to_owned(),
            ),
            Self::UnknownCommand { commands, .. } => Some(format!("commands: {commands}")),
            Self::UnknownTopic {
                similar: Some(similar),
                ..
            } => Some(format!(
                "did you mean `{similar}`? `raddle explain` lists all topics"
            )),
            Self::UnknownTopic { .. } => Some("`raddle explain` lists all topics".to_owned()),
            Self::Compile(error) => error.hint(),
            Self::Project(error) => error.hint(),
            Self::Bench(error) => error.hint(),
            Self::Ir { from_clang, .. } => Some(
                if *from_clang {
                    "another version of clang may write something Raddle reads: set RADDLE_CLANG to it"
                } else {
                    "it must be text as `clang -S -emit-llvm` writes it"
                }
                .to_owned(),
            ),
        }
    }
}
