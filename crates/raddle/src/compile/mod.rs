//! From a source file to LLVM IR text.

mod cache;
mod clang;
mod error;

pub(crate) use cache::Cache;
pub(crate) use clang::{Clang, Unit};
pub use error::{CompileError, Complaint, RustComplaint};

use crate::rustc;
use crate::supervise::Job;
use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    C,
    Cpp,
    Rust,
    Ir,
    Bitcode,
}

fn kind(file: &Path) -> Result<Kind, CompileError> {
    match file.extension().and_then(OsStr::to_str) {
        Some("c" | "i") => Ok(Kind::C),
        Some("cc" | "cpp" | "cxx" | "c++" | "C" | "ii") => Ok(Kind::Cpp),
        Some("ll") => Ok(Kind::Ir),
        Some("bc") => Ok(Kind::Bitcode),
        Some("rs") => Ok(Kind::Rust),
        Some("toml") => Err(CompileError::CargoProject { file: file.into() }),
        _ => Err(CompileError::UnknownExtension { file: file.into() }),
    }
}

/// Is the file LLVM IR already?
#[must_use]
pub fn is_ir(file: &Path) -> bool {
    matches!(kind(file), Ok(Kind::Ir | Kind::Bitcode))
}

/// Is the file written in C or C++?
#[must_use]
pub fn is_c_or_cxx(file: &Path) -> bool {
    matches!(kind(file), Ok(Kind::C | Kind::Cpp))
}

/// The language of a source file, as witnesses name it. IR counts as C: it is what most of it is made from.
#[must_use]
pub fn language(file: &Path) -> &'static str {
    match kind(file) {
        Ok(Kind::Cpp) => "C++",
        Ok(Kind::Rust) => "Rust",
        _ => "C",
    }
}

/// LLVM IR, and what the compiler said on the way.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) ir: String,
    pub(crate) messages: Vec<u8>,
}

impl Compiled {
    fn silent(ir: String) -> Self {
        Self {
            ir,
            messages: Vec::new(),
        }
    }
}

/// One source as LLVM IR text.
pub(crate) fn to_ir(
    unit: &Unit,
    cache: Option<&Cache>,
    job: &Job,
) -> Result<Compiled, CompileError> {
    let file = &unit.path();
    let text = read(file)?;
    let kind = kind(file)?;
    if text.is_empty() {
        return Err(CompileError::Empty { file: file.clone() });
    }
    match kind {
        Kind::Ir => Ok(Compiled::silent(lossy(text))),
        Kind::Bitcode => disassembled(file, job).map(Compiled::silent),
        Kind::Rust => {
            let ir = rustc::to_ir(file, &unit.args, job)?;
            Ok(Compiled::silent(lossy(ir)))
        }
        Kind::C | Kind::Cpp => Clang::find()?.compile(unit, kind == Kind::Cpp, cache, job),
    }
}

/// Passes on what the compiler said. A message that cannot be passed on is no reason to stop.
pub(crate) fn tell(messages: &[u8]) {
    let _ = io::stderr().write_all(messages);
}

/// Reads the file, also where only clang needs its text: its own errors are clearer than what clang would say.
fn read(file: &Path) -> Result<Vec<u8>, CompileError> {
    std::fs::read(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => CompileError::Missing { file: file.into() },
        io::ErrorKind::IsADirectory if file.join("Cargo.toml").is_file() => {
            CompileError::CargoProject { file: file.into() }
        }
        io::ErrorKind::IsADirectory => CompileError::Directory { file: file.into() },
        _ => CompileError::Unreadable {
            file: file.into(),
            error,
        },
    })
}

/// LLVM bitcode as text.
fn disassembled(file: &Path, job: &Job) -> Result<String, CompileError> {
    let named = env::var_os("RADDLE_LLVM_DIS").filter(|named| !named.is_empty());
    let path = env::var_os("PATH");
    let tool = match named {
        Some(named) => Some(PathBuf::from(named)),
        None => clang::newest("llvm-dis", path.as_deref()),
    };
    let Some(tool) = tool else {
        return Err(CompileError::NoDisassembler { file: file.into() });
    };
    let mut command = Command::new(&tool);
    command.args(["-o", "-"]).arg(file);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = job
        .run_compiler(&mut command)
        .map_err(|error| CompileError::CannotRun {
            compiler: tool,
            error,
        })?;
    tell(&output.stderr);
    match output.status.success() {
        true => Ok(lossy(output.stdout)),
        false => Err(CompileError::NotBitcode { file: file.into() }),
    }
}

/// IR is ASCII (other bytes are escaped) but for names that somebody wrote by hand.
fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_tells_the_language() {
        assert_eq!(kind(Path::new("a/b.c")).ok(), Some(Kind::C));
        assert_eq!(kind(Path::new("b.C")).ok(), Some(Kind::Cpp));
        assert_eq!(kind(Path::new("b.ll")).ok(), Some(Kind::Ir));
        assert_eq!(kind(Path::new("b.bc")).ok(), Some(Kind::Bitcode));
        assert_eq!(kind(Path::new("b.rs")).ok(), Some(Kind::Rust));
        for unknown in ["b", "b.txt", ".c", "b."] {
            assert!(
                matches!(
                    kind(Path::new(unknown)),
                    Err(CompileError::UnknownExtension { .. })
                ),
                "{unknown}"
            );
        }
    }
}
