//! `raddle`: checks multithreaded programs.

use clap::Parser;
use raddle::cli::{self, Cli};
use raddle::{Status, run, tell};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn main() -> ExitCode {
    report_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let interrupt = interrupt_flag();
    let status =
        panic::catch_unwind(AssertUnwindSafe(|| run(cli, &interrupt))).unwrap_or(Status::Failure);
    ExitCode::from(status as u8)
}

/// Help that was asked for, or what is wrong with the command line.
fn usage(error: &clap::Error) -> ExitCode {
    // Where nothing can be printed the status is all that is left.
    let _ = error.print();
    if let Some(hint) = cli::hint(error) {
        tell(format_args!("\nhelp: {hint}"));
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Status::Failure as u8))
}

/// A panic is a bug of Raddle and must never look like an answer about the program.
fn report_panics() {
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
