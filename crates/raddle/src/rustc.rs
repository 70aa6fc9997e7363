//! From a Rust program to LLVM IR text.
//!
//! The whole program is needed, with the standard library: rustc merges them all into one module when it optimises at link
//! time. The program's own code stays unoptimised there, so that no access to shared memory is removed or merged.

use crate::compile::{CompileError, RustComplaint};
use crate::supervise::Job;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program in a `.rs` file, with `main` in it, as LLVM IR text. rustc's messages go to standard error as they are.
pub(crate) fn to_ir(file: &Path, args: &[OsString], job: &Job) -> Result<Vec<u8>, CompileError> {
    let rustc = env::var_os("RADDLE_RUSTC")
        .filter(|named| !named.is_empty())
        .unwrap_or_else(|| "rustc".into());
    let directory = Scratch::new()?;
    let ir = directory.0.join("program.ll");
    let run = |machine_code: MachineCode| {
        let mut command = command(&rustc, file, args, &ir, machine_code);
        job.run_compiler(&mut command)
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => CompileError::NoRustc {
                    looked_for: rustc.clone(),
                },
                _ => CompileError::CannotRun {
                    compiler: rustc.clone().into(),
                    error,
                },
            })
    };
    let mut output = run(MachineCode::Begun)?;
    if !output.status.success() && is_of_llvm(&output.stderr) {
        output = run(MachineCode::Complete)?;
    }
    // A message that cannot be passed on is no reason to stop.
    let _ = io::stderr().write_all(&output.stderr);
    if !output.status.success() {
        return Err(CompileError::RustDoesNotCompile {
            file: file.into(),
            because: RustComplaint::of(&String::from_utf8_lossy(&output.stderr)),
        });
    }
    fs::read(&ir).map_err(|error| CompileError::Unreadable { file: ir, error })
}

/// Nobody needs machine code, but rustc makes some of whatever is to be linked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MachineCode {
    /// As little as possible: LLVM stops after the first step of making it. That saves about a third of the time.
    Begun,
    /// For versions of LLVM that do not know that step.
    Complete,
}

/// Is it LLVM that complains?
fn is_of_llvm(messages: &[u8]) -> bool {
    let messages = String::from_utf8_lossy(messages);
    messages.contains("LLVM ERROR") || messages.contains("Unknown command line argument")
}

fn command(
    rustc: &OsString,
    file: &Path,
    args: &[OsString],
    ir: &Path,
    machine_code: MachineCode,
) -> Command {
    let mut command = Command::new(rustc);
    if !args.iter().any(is_edition) {
        command.arg("--edition=2021");
    }
    if io::stderr().is_terminal() {
        command.arg("--color=always");
    }
    if machine_code == MachineCode::Begun {
        command.arg("-Cllvm-args=-stop-after=pre-isel-intrinsic-lowering");
    }
    command
        .args(args)
        // As soon as one name is expected, rustc warns of all others: `test`, features.
        .args(["--crate-type=bin", "--cfg=raddle"])
        // What is dropped by a panic, and who catches it, belongs to what the program does.
        .args(["-Cpanic=unwind", "-Cdebuginfo=2", "-Copt-level=0"])
        // Names then tell generic arguments.
        .arg("-Csymbol-mangling-version=v0")
        // The module is complete before anything is linked.
        .args(["-Clto=fat", "-Clinker=true"])
        .arg(emit(ir));
    // What it writes on the way: not where another one may be at work on the same program.
    if let Some(directory) = ir.parent() {
        command.arg("--out-dir").arg(directory);
    }
    command
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

fn is_edition(arg: &OsString) -> bool {
    arg.to_str().is_some_and(|arg| arg.starts_with("--edition"))
}

/// Link-time optimisation happens only if something is to be linked.
fn emit(ir: &Path) -> OsString {
    let mut arg = OsString::from("--emit=llvm-ir=");
    arg.push(ir);
    arg.push(",link=");
    arg.push(ir.with_extension("out"));
    arg
}

/// A directory for what rustc writes, which goes away with this.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, CompileError> {
        let directory = env::temp_dir().join(format!("raddle-rustc-{}", std::process::id()));
        match fs::create_dir_all(&directory) {
            Ok(()) => Ok(Self(directory)),
            Err(error) => Err(CompileError::Unreadable {
                file: directory,
                error,
            }),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left in a directory for temporary files does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
