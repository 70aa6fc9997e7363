//! The command line of Raddle.
//!
//! One file a step: [`cli`] says what can be typed, [`options`] checks it, [`compile`] makes LLVM IR of the source,
//! [`check`] runs the pipeline and prints the answer. Errors are [`error::Error`]; verdicts are not errors.

mod auto;
pub mod bench;
pub mod cargo;
pub mod check;
pub mod checkpoint;
pub mod cli;
pub mod cluster;
pub mod compare;
pub mod compile;
pub mod error;
pub mod explain;
pub mod launch;
mod load;
mod machine;
mod manual;
pub mod options;
pub mod orderings;
mod progress;
mod project;
pub mod proof;
pub mod property;
pub mod replay;
mod rustc;
mod standard;
mod supervise;
mod turns;
mod unwritten;

use cli::{Cli, Command};
use error::Error;
use std::fmt;
use std::io::Write;
use std::sync::atomic::AtomicBool;

/// What the process ends with. Scripts rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Verified = 0,
    Violation = 1,
    /// The input or the command line is at fault, or Raddle itself.
    Failure = 2,
    Inconclusive = 3,
}

/// Runs a command; what is said of errors goes to standard error here.
#[must_use]
pub fn run(cli: Cli, interrupt: &AtomicBool) -> Status {
    let result = match cli.command {
        Command::Check(args) => check::check(*args, interrupt),
        Command::Compare(args) => compare::compare(*args, interrupt),
        Command::Orderings(args) => orderings::orderings(*args, interrupt),
        Command::Replay(args) => replay::replay(args, interrupt),
        Command::VerifyProof { proof } => proof::verify(&proof, interrupt),
        Command::Resume(args) => checkpoint::resume(args, interrupt),
        Command::Worker(args) => cluster::work(args, interrupt),
        Command::Cluster(command) => cluster::admin(&command),
        Command::Bench(args) => bench::bench(&args, interrupt),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command } => manual::page(command.as_deref()),
        Command::Explain { topic } => {
            let columns = options::columns().min(explain::COLUMNS);
            explain::explain(topic.as_deref(), columns).and_then(|text| {
                print(&text)?;
                Ok(Status::Verified)
            })
        }
    };
    match result {
        Ok(status) => status,
        Err(error) => {
            tell(format_args!("error: {error}"));
            if let Some(hint) = error.hint() {
                tell(format_args!("help: {hint}"));
            }
            Status::Failure
        }
    }
}

/// A line for standard error. If nobody reads it any more, that is no reason to fail: the exit status is left.
pub fn tell(message: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(Error::Output)
}
