//! Why a source does not become LLVM IR, and what to do about it.

use super::clang::{NEWEST, OLDEST};
use crate::cargo::suggest;
use raddle_ir::LinkError;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

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
    /// A Rust program is one file, and is not linked with others.
    RustAmongOthers {
        file: PathBuf,
    },
    /// Nothing that makes text of LLVM bitcode.
    NoDisassembler {
        file: PathBuf,
    },
    /// `llvm-dis` does not read the file; it has said why on standard error.
    NotBitcode {
        file: PathBuf,
    },
    Link(LinkError),
}

impl From<LinkError> for CompileError {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
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
    /// One of the C library's for 32-bit programs.
    MissingNarrowHeader,
    UnknownArgument,
    Other,
}

impl Complaint {
    pub(super) fn of(messages: &str, args: &[OsString]) -> Self {
        let is_missing = messages.contains("file not found");
        // Those that the C library's headers include.
        let is_library = ["'bits/", "'gnu/stubs-32.h'", "'asm/", "'sys/cdefs.h'"]
            .iter()
            .any(|name| messages.contains(name));
        if is_missing && is_library && args.iter().any(|arg| arg == "-m32") {
            Self::MissingNarrowHeader
        } else if is_missing {
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
            Self::RustAmongOthers { file } => write!(
                f,
                "{}: a Rust program is not linked with other sources",
                file.display()
            ),
            Self::NoDisassembler { file } => write!(
                f,
                "{}: LLVM bitcode is read through `llvm-dis`, and there is none",
                file.display()
            ),
            Self::NotBitcode { file } => {
                write!(f, "{}: `llvm-dis` cannot read this", file.display())
            }
            Self::Link(error) => write!(f, "the program cannot be linked: {error}"),
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
                _ => "C: .c .i; C++: .cc .cpp .cxx .c++ .C .ii; Rust: .rs; LLVM IR: .ll, or .bc"
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
                Complaint::MissingNarrowHeader => {
                    "install the C library's headers for 32-bit programs (`apt-get install libc6-dev-i386`, or gcc-multilib); a .i file that is preprocessed needs none"
                        .to_owned()
                }
                Complaint::UnknownArgument => {
                    "what follows `--` goes to clang, and it does not know that".to_owned()
                }
                Complaint::Other => {
                    "see clang's messages above; arguments for clang go after `--`".to_owned()
                }
            },
            Self::RustAmongOthers { .. } => {
                "name it alone; a Cargo project is checked by `cargo raddle`".to_owned()
            }
            Self::NoDisassembler { .. } => {
                "install LLVM (`apt-get install llvm`), or set RADDLE_LLVM_DIS to one".to_owned()
            }
            Self::NotBitcode { .. } => {
                "the version of LLVM that wrote it can: set RADDLE_LLVM_DIS to its `llvm-dis`"
                    .to_owned()
            }
            Self::Link(LinkError::Duplicate { .. }) => {
                "name the files of one program only; what one of them alone may see is `static`"
                    .to_owned()
            }
            Self::Link(_) | Self::Unreadable { .. } | Self::CannotRun { .. } => return None,
        })
    }
}
