//! Everything that ends a run without an answer. Each text says what is wrong and what to do next.

use crate::bench::BenchError;
use crate::compile::CompileError;
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
    /// An option that this version cannot serve at all.
    UnavailableOption {
        option: &'static str,
    },
    /// `--jobs` with an engine that cannot use it.
    SingleWorker {
        engine: &'static str,
    },
    UnknownTopic {
        topic: String,
        topics: String,
    },
    Compile(CompileError),
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
    /// A mistake of Raddle's own.
    Internal(String),
    Output(std::io::Error),
}

impl From<CompileError> for Error {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
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
            Self::UnavailableOption { option } => write!(f, "`{option}` is not available yet"),
            Self::SingleWorker { engine } => write!(
                f,
                "engine `{engine}` has one worker only: `--jobs` is for engine `mcr`"
            ),
            Self::UnknownTopic { topic, .. } => write!(f, "there is no topic `{topic}`"),
            Self::Compile(error) => error.fmt(f),
            Self::Bench(error) => error.fmt(f),
            Self::Ir { what, .. } => write!(f, "cannot read the LLVM IR: {what}"),
            Self::Load { file, what } => write!(f, "{}: {what}", file.display()),
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
            Self::Unavailable { .. } | Self::Output(_) | Self::Load { .. } => None,
            Self::Internal(_) => Some(
                "this is a bug of Raddle; please report it with the program and the command line"
                    .to_owned(),
            ),
            Self::SingleWorker { .. } => {
                Some("leave `--jobs` out, or add `--engine mcr`".to_owned())
            }
            Self::UnavailableOption { option } => Some(format!("leave `{option}` out")),
            Self::UnknownTopic { topics, .. } => Some(format!("topics: {topics}")),
            Self::Compile(error) => error.hint(),
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
