//! The project and the compiler, as far as they have to be known before anything is built.

use super::error::{CargoError, OLDEST_RUSTC};
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest compiler that was tried.
pub(crate) const NEWEST_TRIED: (u32, u32) = (1, 97);

/// The compiler that cargo will use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Toolchain {
    /// As it calls itself.
    pub(crate) version: String,
    /// Kind of machine that it builds for by itself.
    pub(crate) host: String,
    /// Tells it from others of the same version. What one compiles, another does not read.
    pub(crate) id: String,
}

/// Where things are.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    /// cargo's own.
    pub(crate) target_directory: PathBuf,
}

pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

impl Toolchain {
    /// Asks the compiler.
    pub(crate) fn find() -> Result<Self, CargoError> {
        let rustc = env::var_os("RUSTC")
            .filter(|rustc| !rustc.is_empty())
            .unwrap_or_else(|| OsString::from("rustc"));
        let failed = |error: String| CargoError::NoRustc {
            rustc: rustc.clone(),
            error,
        };
        let output = Command::new(&rustc)
            .arg("-vV")
            .output()
            .map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().next().unwrap_or_default();
            let first = first.strip_prefix("error: ").unwrap_or(first);
            return Err(failed(first.to_owned()));
        }
        Self::read(&String::from_utf8_lossy(&output.stdout))
            .ok_or_else(|| failed("`-vV` does not tell its version".to_owned()))
    }

    fn read(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        let version = field("release")?.to_owned();
        let commit = field("commit-hash").unwrap_or_default();
        let commit: String = commit.chars().filter(char::is_ascii_alphanumeric).collect();
        Some(Self {
            id: format!("{version}-{commit}"),
            version,
            host: field("host")?.to_owned(),
        })
    }

    /// Major and minor version.
    fn number(&self) -> Option<(u32, u32)> {
        let mut parts = self.version.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    }

    /// Refuses what cannot work. Returns what may not.
    pub(crate) fn check(&self) -> Result<Option<String>, CargoError> {
        let is_known_host = ["x86_64-", "aarch64-"]
            .iter()
            .any(|machine| self.host.starts_with(machine))
            && self.host.contains("linux");
        if !is_known_host {
            return Err(CargoError::Host {
                triple: self.host.clone(),
            });
        }
        match self.number() {
            Some(number) if number < OLDEST_RUSTC => Err(CargoError::OldRustc {
                version: self.version.clone(),
            }),
            Some(number) if number > NEWEST_TRIED => Ok(Some(format!(
                "rustc {} is newer than all that Raddle was tried with ({}.{} is the newest): if something is refused that should not be, try an older one",
                self.version, NEWEST_TRIED.0, NEWEST_TRIED.1
            ))),
            _ => Ok(None),
        }
    }
}

impl Project {
    /// Asks cargo.
    pub(crate) fn find(manifest: Option<&Path>) -> Result<Self, CargoError> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version=1", "--offline"]);
        if let Some(manifest) = manifest {
            command.arg("--manifest-path").arg(manifest);
        }
        let output = command
            .output()
            .map_err(|error| CargoError::NoCargo { error })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim();
            return Err(CargoError::NoProject {
                said: said.strip_prefix("error: ").unwrap_or(said).to_owned(),
            });
        }
        let metadata: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| CargoError::Metadata {
                what: error.to_string(),
            })?;
        let path = |field: &str| {
            let text = metadata[field].as_str();
            text.map(PathBuf::from).ok_or_else(|| CargoError::Metadata {
                what: format!("`cargo metadata` has no `{field}`"),
            })
        };
        Ok(Self {
            root: path("workspace_root")?,
            target_directory: path("target_directory")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toolchain(release: &str, host: &str) -> Toolchain {
        Toolchain::read(&format!(
            "rustc {release} (0123456 2026-01-01)\nbinary: rustc\nhost: {host}\nrelease: {release}\n"
        ))
        .unwrap()
    }

    #[test]
    fn compilers_that_are_too_old_are_refused_and_new_ones_are_warned_about() {
        const HOST: &str = "x86_64-unknown-linux-gnu";
        let check = |release| toolchain(release, HOST).check();
        assert!(matches!(check("1.95.0"), Ok(None)));
        assert!(matches!(check("1.60.0"), Err(CargoError::OldRustc { .. })));
        let warning = check("3.1.0-nightly").unwrap().unwrap();
        assert!(warning.contains("3.1.0-nightly is newer"), "{warning}");
    }

    #[test]
    fn other_machines_are_refused() {
        for host in ["x86_64-pc-windows-msvc", "i686-unknown-linux-gnu"] {
            let refused = toolchain("1.95.0", host).check();
            assert!(matches!(refused, Err(CargoError::Host { .. })), "{host}");
        }
    }
}
