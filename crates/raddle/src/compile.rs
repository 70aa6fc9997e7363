//! From a source file to LLVM IR text.
//!
//! clang is run without optimisation, so that no access to shared memory is removed or merged, and with debug information,
//! so that reports can name lines and variables.

use crate::cargo::suggest;
use crate::rustc;
use crate::supervise::Job;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Versions that are looked for as `clang-N`, newest first, where `clang` is missing.
const NEWEST: u32 = 30;
const OLDEST: u32 = 14;

#[derive(Debug)]
pub enum CompileError {
    Missing {
        file: PathBuf,
    },
    Directory {
        file: PathBuf,
    },
    Unreadable {
        file: PathBuf,
        error: io::Error,
    },
    Empty {
        file: PathBuf,
    },
    UnknownExtension {
        file: PathBuf,
    },
    /// A directory with a Cargo.toml in it, or that file itself.
    CargoProject {
        file: PathBuf,
    },
    /// No rustc on the PATH, or not where RADDLE_RUSTC says.
    NoRustc {
        looked_for: OsString,
    },
    /// rustc has said why on standard error.
    RustDoesNotCompile {
        file: PathBuf,
        because: RustComplaint,
    },
    /// No clang on the PATH.
    NoClang,
    /// RADDLE_CLANG names nothing that exists.
    BadClang {
        named: OsString,
    },
    /// RADDLE_CLANG names something that is not clang.
    NotClang {
        clang: PathBuf,
    },
    /// The compiler exists, but cannot be started.
    CannotRun {
        compiler: PathBuf,
        error: io::Error,
    },
    /// clang has said why on standard error.
    DoesNotCompile {
        file: PathBuf,
        because: Complaint,
    },
}

/// What rustc complains about, as far as there is something particular to say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RustComplaint {
    MissingCrate,
    MissingMain,
    Other,
}

impl RustComplaint {
    pub(crate) fn of(messages: &str) -> Self {
        // Numbers of errors are stable, and texts are not. The first two are also for other names that are not found.
        let of_crates = messages.contains("crate") || messages.contains("extern");
        let is_name = messages.contains("[E0432]") || messages.contains("[E0433]");
        if messages.contains("[E0463]") || is_name && of_crates {
            Self::MissingCrate
        } else if messages.contains("[E0601]") {
            Self::MissingMain
        } else {
            Self::Other
        }
    }

    fn hint(self, file: &Path) -> String {
        let instead = suggest::command_for(file);
        match (self, instead) {
            (Self::MissingCrate | Self::MissingMain, Some(command)) => {
                format!("it is part of a Cargo project: `{command}` checks it with all that it needs")
            }
            (Self::MissingCrate, None) => {
                "a program that needs other crates is checked as a Cargo project: `cargo raddle run`, `cargo raddle test`"
                    .to_owned()
            }
            (Self::MissingMain, None) => {
                "a single file is run from `main` on; tests are checked by `cargo raddle test`, in a Cargo project".to_owned()
            }
            (Self::Other, _) => {
                "see rustc's messages above; arguments for rustc go after `--`".to_owned()
            }
        }
    }
}

/// What clang complains about, as far as there is something particular to say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complaint {
    MissingHeader,
    UnknownArgument,
    Other,
}

impl Complaint {
    fn of(messages: &str) -> Self {
        if messages.contains("file not found") {
            Self::MissingHeader
        } else if messages.contains("unknown argument") || messages.contains("invalid value '") {
            Self::UnknownArgument
        } else {
            Self::Other
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { file } => write!(f, "{}: no such file", file.display()),
            Self::Directory { file } => {
                write!(f, "{}: this is a directory, not a program", file.display())
            }
            Self::Unreadable { file, error } => {
                write!(f, "{}: cannot be read: {error}", file.display())
            }
            Self::Empty { file } => {
                write!(f, "{}: the file is empty", file.display())
            }
            Self::UnknownExtension { file } => match file.extension() {
                Some(extension) => write!(
                    f,
                    "{}: unknown kind of file: `.{}`",
                    file.display(),
                    extension.display()
                ),
                None => write!(
                    f,
                    "{}: the name does not tell the kind of file",
                    file.display()
                ),
            },
            Self::CargoProject { file } => {
                write!(
                    f,
                    "{}: this is a Cargo project, not a program",
                    file.display()
                )
            }
            Self::NoRustc { looked_for } => {
                write!(f, "no rustc found: there is no `{}`", looked_for.display())
            }
            Self::NoClang => write!(
                f,
                "no clang found: neither `clang` nor `clang-{OLDEST}` to `clang-{NEWEST}` is on the PATH"
            ),
            Self::BadClang { named } => write!(
                f,
                "RADDLE_CLANG is set to `{}`, which does not exist",
                named.display()
            ),
            Self::NotClang { clang } => write!(
                f,
                "RADDLE_CLANG is set to `{}`, which is no clang",
                clang.display()
            ),
            Self::CannotRun { compiler, error } => {
                write!(f, "cannot run {}: {error}", compiler.display())
            }
            Self::DoesNotCompile { file, .. } | Self::RustDoesNotCompile { file, .. } => {
                write!(f, "{}: the program does not compile", file.display())
            }
        }
    }
}

impl CompileError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Missing { .. } => "check the path".to_owned(),
            Self::Directory { .. } => "name the file with `main` in it".to_owned(),
            Self::Empty { .. } => "there is nothing to check without a `main`".to_owned(),
            Self::UnknownExtension { file } => match file.extension().and_then(OsStr::to_str) {
                Some("h" | "hpp" | "hh") => {
                    "name the file that includes it and has `main` in it".to_owned()
                }
                Some("o" | "a" | "so" | "out" | "exe") => {
                    "Raddle needs the source, not what was compiled from it".to_owned()
                }
                Some("bc") => "make text of it: `llvm-dis FILE.bc` writes FILE.ll".to_owned(),
                _ => "C: .c .i; C++: .cc .cpp .cxx .C .ii; Rust: .rs; LLVM IR as text: .ll"
                    .to_owned(),
            },
            Self::CargoProject { .. } => {
                "`cargo raddle test` checks its tests, and `cargo raddle run` its program"
                    .to_owned()
            }
            Self::NoRustc { .. } => "install Rust, or set RADDLE_RUSTC to a rustc".to_owned(),
            Self::RustDoesNotCompile { file, because } => because.hint(file),
            Self::NoClang => {
                "install it (`apt-get install clang`), or set RADDLE_CLANG to one".to_owned()
            }
            Self::BadClang { .. } | Self::NotClang { .. } => {
                "set it to a clang, or unset it to use the one on the PATH".to_owned()
            }
            Self::DoesNotCompile { file, because } => match because {
                Complaint::MissingHeader => format!(
                    "say where the header lies: `raddle check {} -- -IDIRECTORY`",
                    file.display()
                ),
                Complaint::UnknownArgument => {
                    "what follows `--` goes to clang, and it does not know that".to_owned()
                }
                Complaint::Other => {
                    "see clang's messages above; arguments for clang go after `--`".to_owned()
                }
            },
            Self::Unreadable { .. } | Self::CannotRun { .. } => return None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    C,
    Cpp,
    Rust,
    Ir,
}

fn kind(file: &Path) -> Result<Kind, CompileError> {
    match file.extension().and_then(OsStr::to_str) {
        Some("c" | "i") => Ok(Kind::C),
        Some("cc" | "cpp" | "cxx" | "C" | "ii") => Ok(Kind::Cpp),
        Some("ll") => Ok(Kind::Ir),
        Some("rs") => Ok(Kind::Rust),
        Some("toml") => Err(CompileError::CargoProject { file: file.into() }),
        _ => Err(CompileError::UnknownExtension { file: file.into() }),
    }
}

/// Is the file LLVM IR already?
#[must_use]
pub fn is_ir(file: &Path) -> bool {
    matches!(kind(file), Ok(Kind::Ir))
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

/// The program as LLVM IR text. The compiler's messages go to standard error as they are.
pub(crate) fn to_ir(
    file: &Path,
    compiler_args: &[OsString],
    job: &Job,
) -> Result<String, CompileError> {
    let text = read(file)?;
    let kind = kind(file)?;
    if text.is_empty() {
        return Err(CompileError::Empty { file: file.into() });
    }
    match kind {
        Kind::Ir => return Ok(lossy(text)),
        Kind::Rust => return rustc::to_ir(file, compiler_args, job).map(lossy),
        Kind::C | Kind::Cpp => {}
    }
    let named = env::var_os("RADDLE_CLANG").filter(|named| !named.is_empty());
    let clang = find_clang(named.as_deref(), env::var_os("PATH").as_deref())?;
    let ir = run_clang(&clang, file, kind, compiler_args, job);
    // What another compiler says of arguments that it does not know is of no use to anybody.
    let is_strange = ir.as_ref().map_or(true, String::is_empty);
    if is_strange && !job.watch.is_raised() && named.is_some() && !is_clang(&clang) {
        return Err(CompileError::NotClang { clang });
    }
    ir
}

fn is_clang(compiler: &Path) -> bool {
    let version = Command::new(compiler).arg("--version").output();
    version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("clang"))
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

fn run_clang(
    clang: &Path,
    file: &Path,
    kind: Kind,
    clang_args: &[OsString],
    job: &Job,
) -> Result<String, CompileError> {
    let mut command = Command::new(clang);
    if kind == Kind::Cpp {
        // One binary is both compilers; as this one it looks for the C++ headers.
        command.arg("--driver-mode=g++");
        // What newer clangs take by default and older ones do not. The user's own `-std` comes later, and counts.
        command.arg("-std=gnu++17");
        // Makes libstdc++ check its arguments; and then it does not rely on the code of `std::string` in its binary, which
        // Raddle does not see.
        command.arg("-D_GLIBCXX_ASSERTIONS");
    }
    if io::stderr().is_terminal() {
        command.arg("-fcolor-diagnostics");
    }
    command
        .arg("-DRADDLE")
        .args(clang_args)
        .args(["-S", "-emit-llvm", "-g", "-O0"])
        // Names of values make messages readable; without `optnone` nothing in the IR forbids later passes.
        .args(["-fno-discard-value-names", "-Xclang", "-disable-O0-optnone"])
        .args(["-o", "-"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = job
        .run_compiler(&mut command)
        .map_err(|error| CompileError::CannotRun {
            compiler: clang.into(),
            error,
        })?;
    // A message that cannot be passed on is no reason to stop.
    let _ = io::stderr().write_all(&output.stderr);
    if output.status.success() {
        Ok(lossy(output.stdout))
    } else {
        Err(CompileError::DoesNotCompile {
            file: file.into(),
            because: Complaint::of(&String::from_utf8_lossy(&output.stderr)),
        })
    }
}

/// IR is ASCII (other bytes are escaped) but for names that somebody wrote by hand.
fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The clang to use: what `RADDLE_CLANG` says (a path, or a name to find on the PATH), else the first on the PATH.
fn find_clang(named: Option<&OsStr>, path: Option<&OsStr>) -> Result<PathBuf, CompileError> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        let direct = Path::new(named);
        let found = if direct.components().count() > 1 {
            direct.is_file().then(|| direct.to_owned())
        } else {
            on_path(named, path)
        };
        return found.ok_or_else(|| CompileError::BadClang {
            named: named.into(),
        });
    }
    let versioned = (OLDEST..=NEWEST).rev().map(|n| format!("clang-{n}"));
    std::iter::once("clang".to_owned())
        .chain(versioned)
        .find_map(|name| on_path(OsStr::new(&name), path))
        .ok_or(CompileError::NoClang)
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
    fn the_extension_tells_the_language() {
        assert_eq!(kind(Path::new("a/b.c")).ok(), Some(Kind::C));
        assert_eq!(kind(Path::new("b.C")).ok(), Some(Kind::Cpp));
        assert_eq!(kind(Path::new("b.ll")).ok(), Some(Kind::Ir));
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
}
