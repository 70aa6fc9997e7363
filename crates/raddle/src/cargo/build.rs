//! Builds a project with cargo, and says what came out of it.

use super::cli::BuildArgs;
use super::error::CargoError;
use super::project::{Project, Toolchain, cargo};
use super::shims;
use super::wrapper::{self, Wanted};
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A program or a crate of tests that was built.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    /// Of the package.
    pub(crate) package: String,
    /// Of the library, binary, test, …
    pub(crate) target: String,
    pub(crate) kind: String,
    pub(crate) source: PathBuf,
    /// LLVM IR; none if the program is built for the machine that builds.
    pub(crate) module: Option<PathBuf>,
}

impl Built {
    /// What it is, for people.
    pub(crate) fn title(&self, root: &Path) -> String {
        let source = self.source.strip_prefix(root).unwrap_or(&self.source);
        let what = match self.kind.as_str() {
            "test" => "tests",
            "bench" => "benchmarks",
            _ => "unit tests",
        };
        format!("{what} of {} ({})", self.package, source.display())
    }
}

/// What cargo is asked for.
pub(crate) struct Order<'a> {
    pub(crate) wanted: Wanted,
    pub(crate) command: &'static [&'static str],
    pub(crate) targets: Vec<OsString>,
    pub(crate) options: &'a BuildArgs,
}

impl Order<'_> {
    pub(crate) fn build(
        &self,
        project: &Project,
        toolchain: &Toolchain,
    ) -> Result<Vec<Built>, CargoError> {
        let directory = self.directory(project)?;
        let shims_directory = directory.join(format!("shims-{}", toolchain.id));
        shims::write(&shims_directory).map_err(|error| CargoError::Write {
            file: shims_directory.clone(),
            error,
        })?;
        let exe = env::current_exe().map_err(|error| CargoError::Start { error })?;
        let mut command = cargo();
        command
            .args(self.command)
            .args(self.options.for_cargo())
            .args(&self.targets)
            .arg("--message-format=json-render-diagnostics")
            .args(["--target", &toolchain.host])
            .arg("--target-dir")
            .arg(&directory)
            .env("RUSTC_WRAPPER", exe)
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .env("CARGO_INCREMENTAL", "0")
            .env(wrapper::WANTED, self.wanted.name())
            .env(wrapper::SHIMS, &shims_directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if self.options.cfg_miri {
            command.env(wrapper::CFG_MIRI, "1");
        }
        let mut child = command
            .spawn()
            .map_err(|error| CargoError::NoCargo { error })?;
        let mut built = Vec::new();
        if let Some(messages) = child.stdout.take() {
            for line in BufReader::new(messages).lines() {
                let line = line.map_err(CargoError::Output)?;
                built.extend(self.artifact(&line));
            }
        }
        let status = child
            .wait()
            .map_err(|error| CargoError::NoCargo { error })?;
        match status.success() {
            true => Ok(built),
            false => Err(CargoError::BuildFailed),
        }
    }

    /// What a line of cargo's messages tells of something to check.
    fn artifact(&self, line: &str) -> Option<Built> {
        let message: Value = serde_json::from_str(line).ok()?;
        if message["reason"] != "compiler-artifact" {
            return None;
        }
        let wants_test = self.wanted == Wanted::Tests;
        if message["profile"]["test"].as_bool() != Some(wants_test) {
            return None;
        }
        let executable = message["executable"].as_str()?;
        let target = &message["target"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Some(Built {
            package: package(message["package_id"].as_str()?),
            target: text(&target["name"]),
            kind: text(&target["kind"][0]),
            source: text(&target["src_path"]).into(),
            module: wrapper::module_of(Path::new(executable)),
        })
    }

    /// Where to build. What another version of Raddle built there, or another build of it, is thrown away.
    fn directory(&self, project: &Project) -> Result<PathBuf, CargoError> {
        let mut directory = match &self.options.target_dir {
            Some(directory) => env::current_dir()
                .map(|here| here.join(directory))
                .map_err(|error| CargoError::Start { error })?,
            None => project.target_directory.join("raddle"),
        };
        if self.options.cfg_miri {
            directory.push("cfg-miri");
        }
        let failed = |error| CargoError::Write {
            file: directory.clone(),
            error,
        };
        let stamp = directory.join(".raddle");
        let ours = identity();
        if fs::read_to_string(&stamp).is_ok_and(|there| there == ours) {
            return Ok(directory);
        }
        // Only what is known to be ours: anybody may name any directory.
        if stamp.exists() {
            fs::remove_dir_all(&directory).map_err(failed)?;
        }
        fs::create_dir_all(&directory).map_err(failed)?;
        fs::write(stamp, ours).map_err(failed)?;
        Ok(directory)
    }
}

/// Tells this program from others: what they make of a crate may differ.
fn identity() -> String {
    let file = env::current_exe().and_then(fs::metadata);
    let modified = file.and_then(|file| Ok((file.len(), file.modified()?)));
    format!("{} {modified:?}\n", env!("CARGO_PKG_VERSION"))
}

/// The name in a package id: `path+file:///a/b#name@1.0`, `path+file:///a/name#1.0`, or `registry+…#name@1.0`.
fn package(id: &str) -> String {
    let (place, rest) = id.split_once('#').unwrap_or((id, ""));
    match rest.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => place.rsplit('/').next().unwrap_or(place).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_names() {
        assert_eq!(package("path+file:///a/b#name@0.1.0"), "name");
        assert_eq!(package("path+file:///a/name#0.1.0"), "name");
        assert_eq!(package("registry+https://x/y#name@1.0.0"), "name");
    }
}
