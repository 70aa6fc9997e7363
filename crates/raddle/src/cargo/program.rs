//! `cargo raddle run`: a binary or an example, from `main` on.

use super::build::{Built, Order};
use super::cli::RunArgs;
use super::error::CargoError;
use super::project::{Project, Toolchain};
use super::wrapper::{self, Wanted};
use crate::Status;
use crate::cli::name_of;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

pub(crate) fn run(
    args: &RunArgs,
    passed_on: &[OsString],
    interrupt: &AtomicBool,
) -> Result<Status, CargoError> {
    let toolchain = Toolchain::find()?;
    let warning = toolchain.check()?;
    let project = Project::find(args.build.manifest_path.as_deref())?;
    if let Some(warning) = warning {
        crate::tell(format_args!("warning: {warning}"));
    }
    let targets: Vec<OsString> = match (&args.bin, &args.example) {
        (Some(bin), _) => vec!["--bin".into(), bin.clone()],
        (None, Some(example)) => vec!["--example".into(), example.clone()],
        (None, None) => vec!["--bins".into()],
    };
    let order = Order {
        wanted: Wanted::Programs,
        command: &["build"],
        targets,
        options: &args.build,
    };
    let (mut name, mut module) = only(order.build(&project, &toolchain)?)?;
    if !module.exists() {
        // It was built for tests, which only need it to be there. cargo builds again what it does not find.
        wrapper::remove_stub(&module).map_err(|error| CargoError::Read {
            file: module.clone(),
            error,
        })?;
        (name, module) = only(order.build(&project, &toolchain)?)?;
    }
    let size = fs::metadata(&module).map_err(|error| CargoError::Read {
        file: module.clone(),
        error,
    })?;
    if size.len() == 0 {
        return Err(CargoError::NoMain { name });
    }
    let here = std::env::current_dir().map_err(|error| CargoError::Start { error })?;
    let mut check: Vec<OsString> = vec!["raddle".into(), "check".into(), module.into()];
    check.extend(passed_on.iter().cloned());
    check.extend(["--format".into(), name_of(args.format).into()]);
    for (option, file) in [("--report", &args.report), ("--trace", &args.trace)] {
        if let Some(file) = file {
            check.extend([option.into(), here.join(file).into()]);
        }
    }
    for arg in &args.args {
        let mut option = OsString::from("--args=");
        option.push(arg);
        check.push(option);
    }
    // Positions in debug information are relative to it.
    std::env::set_current_dir(&project.root).map_err(|error| CargoError::Start { error })?;
    match <crate::cli::Cli as clap::Parser>::try_parse_from(check) {
        Ok(cli) => Ok(crate::run(cli, interrupt)),
        Err(error) => {
            // Where nothing can be printed the status is all that is left.
            let _ = error.print();
            Ok(Status::Failure)
        }
    }
}

/// The program to check, if it is clear which one that is.
fn only(built: Vec<Built>) -> Result<(String, PathBuf), CargoError> {
    let mut programs: Vec<(String, PathBuf)> = built
        .into_iter()
        .filter_map(|built| Some((built.target, built.module?)))
        .collect();
    match programs.len() {
        1 => Ok(programs.remove(0)),
        _ => Err(CargoError::WhichProgram {
            names: programs.into_iter().map(|(name, _)| name).collect(),
        }),
    }
}
