//! `cargo raddle setup`: is everything there?

use super::cli::SetupArgs;
use super::error::CargoError;
use super::project::{Project, Toolchain, cargo};
use super::tests::print;
use crate::Status;
use std::fmt::Write as _;

pub(crate) fn setup(args: &SetupArgs) -> Result<Status, CargoError> {
    let toolchain = Toolchain::find()?;
    let version = cargo()
        .arg("-V")
        .output()
        .map_err(|error| CargoError::NoCargo { error })?;
    let version = String::from_utf8_lossy(&version.stdout);
    let warning = toolchain.check()?;
    let mut out = String::new();
    let _ = writeln!(out, "raddle: {}", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(
        out,
        "cargo: {}",
        version.trim().trim_start_matches("cargo ")
    );
    let _ = writeln!(out, "rustc: {} for {}", toolchain.version, toolchain.host);
    match Project::find(args.manifest_path.as_deref()) {
        Ok(project) => {
            let _ = writeln!(out, "project: {}", project.root.display());
            let directory = project.target_directory.join("raddle");
            let _ = writeln!(out, "builds into: {}", directory.display());
        }
        Err(CargoError::NoProject { .. }) => out.push_str("project: none here\n"),
        Err(error) => return Err(error),
    }
    if let Some(warning) = warning {
        let _ = writeln!(out, "warning: {warning}");
    }
    out.push_str("All is there that checking needs.\n");
    print(&out)?;
    Ok(Status::Verified)
}
