//! How a process begins and ends, for both programs of this crate.

use crate::cli::{self, Cli};
use crate::{Status, run as run_command, tell};
use clap::Parser;
use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Everything that `raddle` does.
#[must_use]
pub fn raddle(args: impl Iterator<Item = OsString>) -> ExitCode {
    report_panics();
    match Cli::try_parse_from(cli::with_program_args(args)) {
        Ok(cli) => run(|interrupt| run_command(cli, interrupt)),
        Err(error) => usage(&error, cli::hint(&error)),
    }
}

/// Runs a command with a flag that Ctrl-C raises.
pub(crate) fn run(command: impl FnOnce(&AtomicBool) -> Status) -> ExitCode {
    let interrupt = interrupt_flag();
    let status =
        panic::catch_unwind(AssertUnwindSafe(|| command(&interrupt))).unwrap_or(Status::Failure);
    ExitCode::from(status as u8)
}

/// Help that was asked for, or what is wrong with the command line.
pub(crate) fn usage(error: &clap::Error, hint: Option<String>) -> ExitCode {
    // Where nothing can be printed the status is all that is left.
    let _ = error.print();
    if let Some(hint) = hint {
        tell(format_args!("\nhelp: {hint}"));
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Status::Failure as u8))
}

/// A panic is a bug of Raddle and must never look like an answer about the program.
pub(crate) fn report_panics() {
    panic::set_hook(Box::new(|info| {
        tell(format_args!("internal error: {info}"));
        tell(format_args!(
            "help: this is a bug of Raddle {}, not of your program; please report it with the program and the command line",
            env!("CARGO_PKG_VERSION")
        ));
    }));
}

/// Ctrl-C (or being asked to end) ends the exploration with what is known so far; a second one ends the process at once.
fn interrupt_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    let result = ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Status::Inconclusive as u8));
        }
    });
    if let Err(error) = result {
        tell(format_args!(
            "warning: Ctrl-C will end Raddle without an answer: {error}"
        ));
    }
    flag
}
