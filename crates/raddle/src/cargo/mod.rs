//! `cargo raddle`: checks the tests and programs of a Cargo project.
//!
//! One program in three roles. A user starts it through cargo ([`cli`] says what can be typed). It builds the project with cargo
//! ([`build`]), which calls it in place of rustc ([`wrapper`]), so that each program becomes one module of LLVM IR. And it starts itself
//! as `raddle check` for each test ([`runner`]), with the module that runs this test only ([`listing`], [`irtext`]).

mod build;
mod cli;
mod error;
mod irtext;
mod junit;
mod listing;
mod panics;
mod program;
mod project;
mod runner;
mod setup;
mod shims;
pub(crate) mod suggest;
mod tests;
mod wrapper;

use crate::Status;
use crate::launch;
use cli::Asked;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// What the process is for decides what it does.
#[must_use]
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.skip(1).collect();
    let is_check = args.first().is_some_and(|first| first == "check");
    if is_check {
        let all = std::iter::once(OsString::from("raddle")).chain(args);
        return launch::raddle(all);
    }
    if wrapper::is_called() {
        return wrapper::run(args);
    }
    launch::report_panics();
    match cli::parse(args.into_iter()) {
        Ok(asked) => launch::run(|interrupt| run(asked, interrupt)),
        Err(error) => launch::usage(&error, None),
    }
}

fn run(asked: Asked, interrupt: &AtomicBool) -> Status {
    let result = match asked {
        Asked::Test(args, passed_on) => tests::test(&args, &passed_on, interrupt),
        Asked::Run(args, passed_on) => program::run(&args, &passed_on, interrupt),
        Asked::Setup(args) => setup::setup(&args),
    };
    result.unwrap_or_else(|error| {
        crate::tell(format_args!("error: {error}"));
        if let Some(hint) = error.hint() {
            crate::tell(format_args!("help: {hint}"));
        }
        Status::Failure
    })
}
