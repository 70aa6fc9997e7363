//! clang, which makes LLVM IR of C and C++.
//!
//! It is run without optimisation, so that no access to shared memory is removed or merged, and with debug information,
//! so that reports can name lines and variables.

use super::cache::{Cache, Key};
use super::error::{CompileError, Complaint};
use super::{Compiled, lossy};
use crate::supervise::Job;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Versions that are looked for as `clang-N`, newest first, where `clang` is missing.
pub(super) const NEWEST: u32 = 30;
pub(super) const OLDEST: u32 = 14;

/// How often flags that clang does not know are taken out of a command that another compiler is meant for.
const TRIES: usize = 8;

/// Lets clang write down bodies that are copies of those of another source (`available_externally`), which it does for the optimiser only. The optimiser itself
/// does nothing, and the rest is as without optimisation.
const INLINE_BODIES: [&str; 7] = [
    "-Xclang",
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-disable-lifetime-markers",
    "-U__OPTIMIZE__",
];

/// A source file, and how it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// As the user, or the compile database, has it.
    pub(crate) file: PathBuf,
    /// Where the compiler runs, if not here.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) args: Vec<OsString>,
    /// Is it C++, whatever its name says?
    pub(crate) is_cxx: bool,
    /// The arguments are for a compiler that may not be clang: what clang does not know is left out.
    pub(crate) is_foreign: bool,
    /// Are the bodies of functions wanted that the compiler leaves to another source: `inline` of C99, `extern inline` of older C?
    pub(crate) inline_bodies: bool,
}

impl Unit {
    /// The file as seen from here.
    pub(crate) fn path(&self) -> PathBuf {
        match &self.directory {
            Some(directory) => directory.join(&self.file),
            None => self.file.clone(),
        }
    }
}

/// The compiler, and whether the user chose it.
#[derive(Clone, Debug)]
pub(crate) struct Clang {
    path: PathBuf,
    is_named: bool,
}

impl Clang {
    pub(crate) fn find() -> Result<Self, CompileError> {
        let named = env::var_os("RADDLE_CLANG").filter(|named| !named.is_empty());
        let path = find_clang(named.as_deref(), env::var_os("PATH").as_deref())?;
        Ok(Self {
            path,
            is_named: named.is_some(),
        })
    }

    pub(super) fn compile(
        &self,
        unit: &Unit,
        is_cxx: bool,
        cache: Option<&Cache>,
        job: &Job,
    ) -> Result<Compiled, CompileError> {
        let mut unit = unit.clone();
        unit.is_cxx |= is_cxx;
        let key = match cache {
            Some(_) => self.key(&unit, job),
            None => None,
        };
        if let (Some(cache), Some(key)) = (cache, &key)
            && let Some(compiled) = cache.get(key)
        {
            return Ok(compiled);
        }
        let compiled = self.compiled(&mut unit, job);
        if let (Ok(compiled), Some(cache), Some(key)) = (&compiled, cache, &key) {
            cache.put(key, compiled);
        }
        // What another compiler says of arguments that it does not know is of no use to anybody.
        let is_strange = compiled.as_ref().map_or(true, |it| it.ir.is_empty());
        if is_strange && self.is_named && !job.watch.is_raised() && !is_clang(&self.path) {
            let clang = self.path.clone();
            return Err(CompileError::NotClang { clang });
        }
        compiled
    }

    fn compiled(&self, unit: &mut Unit, job: &Job) -> Result<Compiled, CompileError> {
        let mut tries = 0;
        loop {
            let mut command = self.command(unit);
            command.args(["-S", "-emit-llvm"]);
            let output = self.run(&mut command, unit, job)?;
            if output.status.success() {
                return Ok(Compiled {
                    ir: lossy(output.stdout),
                    messages: output.stderr,
                });
            }
            let messages = String::from_utf8_lossy(&output.stderr);
            tries += 1;
            if unit.is_foreign && tries < TRIES && without_unknown(&mut unit.args, &messages) {
                continue;
            }
            super::tell(&output.stderr);
            return Err(CompileError::DoesNotCompile {
                file: unit.file.clone(),
                because: Complaint::of(&messages, &unit.args),
            });
        }
    }

    /// What tells this compilation from others: the arguments, the compiler's version (it is among what `-v` says), and the source with all
    /// that it includes. None if the preprocessor does not like it.
    fn key(&self, unit: &Unit, job: &Job) -> Option<Key> {
        let mut command = self.command(unit);
        command.args(["-E", "-v"]);
        let output = self.run(&mut command, unit, job).ok()?;
        if !output.status.success() {
            return None;
        }
        let args: Vec<&OsStr> = command.get_args().collect();
        Some(Key::new(&args, &[&output.stderr, &output.stdout]))
    }

    /// All but what is to be made of the source.
    fn command(&self, unit: &Unit) -> Command {
        let mut command = Command::new(&self.path);
        if unit.is_cxx {
            // One binary is both compilers; as this one it looks for the C++ headers.
            command.arg("--driver-mode=g++");
            // What newer clangs take by default and older ones do not. The user's own `-std` comes later, and counts.
            command.arg("-std=gnu++17");
            // Makes libstdc++ check its arguments; and then it does not rely on the code of `std::string` in its binary, which
            // Raddle does not see.
            command.arg("-D_GLIBCXX_ASSERTIONS");
            // Makes libstdc++ count the owners of a `shared_ptr` down one by one, as it does for ThreadSanitizer. Otherwise it first looks at both
            // counts with one wide read, to save the last owner two updates: an atomic access of another size, with the same outcome.
            command.arg("-D_GLIBCXX_TSAN=1");
        }
        if io::stderr().is_terminal() {
            command.arg("-fcolor-diagnostics");
        }
        if unit.is_foreign {
            // Warnings of another compiler, and arguments for the linker.
            command.args(["-Wno-unknown-warning-option", "-Qunused-arguments"]);
        }
        command
            .arg("-DRADDLE")
            .args(&unit.args)
            .args(["-g", "-O0"])
            // Names of values make messages readable; without `optnone` nothing in the IR forbids later passes.
            .args(["-fno-discard-value-names", "-Xclang", "-disable-O0-optnone"])
            .args(INLINE_BODIES.iter().filter(|_| unit.inline_bodies))
            .args(["-o", "-"])
            .arg(&unit.file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = &unit.directory {
            command.current_dir(directory);
        }
        command
    }

    fn run(&self, command: &mut Command, unit: &Unit, job: &Job) -> Result<Output, CompileError> {
        job.run_compiler(command).map_err(|error| {
            let compiler = match &unit.directory {
                // It is the directory that is missing then.
                Some(directory) if !directory.is_dir() => directory.clone(),
                _ => self.path.clone(),
            };
            CompileError::CannotRun { compiler, error }
        })
    }
}

/// Takes out what clang says that it does not know: `unknown argument: '-fwhatever'`, `unsupported option '-mwhat=8'`.
fn without_unknown(args: &mut Vec<OsString>, messages: &str) -> bool {
    let before = args.len();
    for line in messages.lines().filter(|line| line.contains("error:")) {
        let is_about_argument = [
            "unknown argument",
            "unsupported option",
            "unsupported argument",
        ]
        .iter()
        .any(|what| line.contains(what));
        if is_about_argument {
            let quoted: Vec<&str> = line.split('\'').skip(1).step_by(2).collect();
            args.retain(|arg| {
                let is_named = |quoted: &&str| {
                    arg.to_str().is_some_and(|arg| {
                        arg == *quoted || quoted.ends_with('=') && arg.starts_with(*quoted)
                    })
                };
                !quoted.iter().any(is_named)
            });
        }
    }
    args.len() < before
}

fn is_clang(compiler: &Path) -> bool {
    let version = Command::new(compiler).arg("--version").output();
    version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("clang"))
}

/// The clang to use: what `RADDLE_CLANG` says (a path, or a name to find on the PATH), else the first on the PATH.
fn find_clang(named: Option<&OsStr>, path: Option<&OsStr>) -> Result<PathBuf, CompileError> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        let direct = Path::new(named);
        let found = if direct.components().count() > 1 {
            // Compilers run in other directories, too.
            let exists = direct.is_file();
            exists.then(|| std::path::absolute(direct).unwrap_or_else(|_| direct.to_owned()))
        } else {
            on_path(named, path)
        };
        return found.ok_or_else(|| CompileError::BadClang {
            named: named.into(),
        });
    }
    newest("clang", path).ok_or(CompileError::NoClang)
}

/// A tool of LLVM on the PATH: the one without a version in its name, else the newest.
pub(super) fn newest(tool: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let versioned = (OLDEST..=NEWEST).rev().map(|n| format!("{tool}-{n}"));
    std::iter::once(tool.to_owned())
        .chain(versioned)
        .find_map(|name| on_path(OsStr::new(&name), path))
}

fn on_path(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    env::split_paths(path?)
        .map(|directory| directory.join(name))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_clang_is_taken_where_there_is_no_plain_one() {
        let directory = env::temp_dir().join(format!("raddle-clang-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        for version in [14, 19, 9] {
            std::fs::write(directory.join(format!("clang-{version}")), "").unwrap();
        }
        let path = Some(directory.as_os_str());
        assert_eq!(find_clang(None, path).unwrap(), directory.join("clang-19"));
        let named = find_clang(Some(OsStr::new("clang-14")), path).unwrap();
        assert_eq!(named, directory.join("clang-14"));
        assert!(matches!(
            find_clang(Some(OsStr::new("clang-16")), path),
            Err(CompileError::BadClang { .. })
        ));
        std::fs::write(directory.join("clang"), "").unwrap();
        assert_eq!(find_clang(None, path).unwrap(), directory.join("clang"));
        std::fs::remove_dir_all(&directory).unwrap();
        assert!(matches!(find_clang(None, path), Err(CompileError::NoClang)));
    }

    #[test]
    fn flags_that_clang_does_not_know_are_taken_out() {
        let mut args: Vec<OsString> = ["-fconserve-stack", "-DX", "-mpreferred-stack-boundary=3"]
            .map(OsString::from)
            .into();
        let messages = "\
clang: error: unknown argument: '-fconserve-stack'
clang: error: unknown argument: '-mpreferred-stack-boundary=3'
";
        assert!(without_unknown(&mut args, messages));
        assert_eq!(args, ["-DX"]);
        assert!(!without_unknown(&mut args, messages));
        assert!(!without_unknown(
            &mut args,
            "a.c:1:2: error: '-DX' is strange"
        ));
    }
}
