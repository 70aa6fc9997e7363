//! What ends `cargo raddle` without an answer. Each text says what is wrong and what to do next.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub(crate) enum CargoError {
    /// cargo itself cannot be started.
    NoCargo {
        error: io::Error,
    },
    /// cargo has said why on standard error.
    BuildFailed,
    /// cargo found no project.
    NoProject {
        said: String,
    },
    /// What cargo tells about the project is not understood.
    Metadata {
        what: String,
    },
    /// rustc cannot be asked for its version.
    NoRustc {
        rustc: OsString,
        error: String,
    },
    OldRustc {
        version: String,
    },
    /// Raddle reads programs for one kind of machine.
    Host {
        triple: String,
    },
    /// The compiled test crate does not look as expected.
    Listing {
        file: PathBuf,
        what: String,
    },
    /// There are several programs, or none.
    WhichProgram {
        names: Vec<String>,
    },
    /// `no_std`, or without `main`.
    NoMain {
        name: String,
    },
    Read {
        file: PathBuf,
        error: io::Error,
    },
    Write {
        file: PathBuf,
        error: io::Error,
    },
    /// This program cannot start itself.
    Start {
        error: io::Error,
    },
    Output(io::Error),
}

/// The oldest compiler that understands what is compiled along with the project.
pub(crate) const OLDEST_RUSTC: (u32, u32) = (1, 85);

impl fmt::Display for CargoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCargo { error } => write!(f, "cannot run cargo: {error}"),
            Self::BuildFailed => f.write_str("the project does not compile"),
            Self::NoProject { said } => f.write_str(said),
            Self::Metadata { what } => write!(f, "cannot understand cargo: {what}"),
            Self::NoRustc { rustc, error } => write!(f, "cannot run {}: {error}", rustc.display()),
            Self::OldRustc { version } => write!(
                f,
                "rustc {version} is too old: {}.{} is the oldest that can work",
                OLDEST_RUSTC.0, OLDEST_RUSTC.1
            ),
            Self::Host { triple } => write!(f, "programs for {triple} cannot be checked"),
            Self::Listing { file, what } => {
                write!(f, "cannot find the tests in {}: {what}", file.display())
            }
            Self::WhichProgram { names } if names.is_empty() => {
                f.write_str("there is no binary to check")
            }
            Self::WhichProgram { .. } => f.write_str("there are several binaries to check"),
            Self::NoMain { name } => write!(
                f,
                "`{name}` cannot be checked: there is no `main` in it that the standard library starts"
            ),
            Self::Read { file, error } => write!(f, "cannot read {}: {error}", file.display()),
            Self::Write { file, error } => write!(f, "cannot write {}: {error}", file.display()),
            Self::Start { error } => write!(f, "cannot start a check: {error}"),
            Self::Output(error) => write!(f, "cannot write the answer: {error}"),
        }
    }
}

impl CargoError {
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            // What rustup says in place of a compiler that `+NAME`, a file or a variable asks for.
            Self::NoRustc { error, .. } if error.ends_with("is not installed") => {
                "install it with `rustup toolchain install`, or take another one: `cargo +stable raddle …`".to_owned()
            }
            Self::NoCargo { .. } | Self::NoRustc { .. } => {
                "install Rust from https://rustup.rs".to_owned()
            }
            Self::BuildFailed => {
                "see the messages above; does `cargo test --no-run` build it?".to_owned()
            }
            Self::NoProject { .. } => {
                "go to a directory with a Cargo.toml, or name it: `--manifest-path PATH`; \
                 a single file is checked by `raddle check FILE.rs`"
                    .to_owned()
            }
            Self::OldRustc { .. } => {
                "take a newer one: `rustup update`, or `cargo +stable raddle …`".to_owned()
            }
            Self::Host { .. } => "Raddle knows programs for 64-bit Linux".to_owned(),
            Self::WhichProgram { names } if names.is_empty() => {
                "check an example with `--example NAME`, or the tests with `cargo raddle test`"
                    .to_owned()
            }
            Self::WhichProgram { names } => {
                format!("choose one with `--bin NAME`: {}", names.join(", "))
            }
            Self::NoMain { .. } => {
                "programs with `#![no_main]` and without `std` have no such start: \
                 write a test that starts the threads, and check it with `cargo raddle test`"
                    .to_owned()
            }
            Self::Write { .. } => "is the directory there, and may you write to it?".to_owned(),
            Self::Metadata { .. }
            | Self::Listing { .. }
            | Self::Read { .. }
            | Self::Start { .. }
            | Self::Output(_) => return None,
        })
    }
}
