//! The sources of a program: named on the command line, or found through a compile database.
//!
//! Sources that the user names are all linked. If there is a database, sources in it that define what is still missing are linked, too, as
//! members of a static library are: in the order of the database, until nothing more is found.

mod database;
mod gather;

use crate::cli::{CheckArgs, DataModel};
use crate::compile::{Cache, CompileError, Unit};
use database::Database;
use raddle_ir::LinkSymbols;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use gather::{Gathered, looked_at};

/// What is wrong with a compile database, or with what is asked of it.
#[derive(Debug)]
pub enum ProjectError {
    NoDatabase {
        file: PathBuf,
    },
    Unreadable {
        file: PathBuf,
        error: std::io::Error,
    },
    Malformed {
        file: PathBuf,
        what: String,
    },
    Empty {
        file: PathBuf,
    },
    UnknownTarget {
        name: PathBuf,
        file: PathBuf,
        known: Vec<String>,
    },
    /// No source, or more than one, defines what the program begins with.
    WhichProgram {
        entry: String,
        file: PathBuf,
        candidates: Vec<PathBuf>,
    },
}

impl fmt::Display for ProjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDatabase { file } => write!(f, "{}: no such file", file.display()),
            Self::Unreadable { file, error } => {
                write!(f, "{}: cannot be read: {error}", file.display())
            }
            Self::Malformed { file, what } => {
                write!(f, "{}: this is no compile database: {what}", file.display())
            }
            Self::Empty { file } => {
                write!(f, "{}: there is no C or C++ source in it", file.display())
            }
            Self::UnknownTarget { name, file, .. } => write!(
                f,
                "`{}` is no file, and no target of {}",
                name.display(),
                file.display()
            ),
            Self::WhichProgram {
                entry,
                file,
                candidates,
            } => match candidates.len() {
                0 => write!(f, "no source of {} defines `{entry}`", file.display()),
                n => write!(f, "{n} sources of {} define `{entry}`", file.display()),
            },
        }
    }
}

impl ProjectError {
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::NoDatabase { .. } => Some(
                "CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, Meson always; for make there is `bear -- make`"
                    .to_owned(),
            ),
            Self::Malformed { .. } => Some("let the build system write it anew".to_owned()),
            Self::UnknownTarget { known, .. } if !known.is_empty() => {
                Some(format!("targets: {}", known.join(", ")))
            }
            Self::UnknownTarget { .. } | Self::Empty { .. } => {
                Some("name a source file that is in it".to_owned())
            }
            Self::WhichProgram { candidates, .. } if !candidates.is_empty() => {
                let names: Vec<String> =
                    candidates.iter().map(|it| it.display().to_string()).collect();
                Some(format!("name one of them: {}", names.join(", ")))
            }
            Self::WhichProgram { .. } => Some(
                "name a file that does: it need not be part of the database".to_owned(),
            ),
            Self::Unreadable { .. } => None,
        }
    }
}

/// A program, as it is named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Project {
    /// What to link in any case. The first one is what answers call the program.
    pub(crate) units: Vec<Unit>,
    database: Option<Arc<Database>>,
    /// Where the database is, as the user named it.
    pub(crate) build: Option<PathBuf>,
    /// The function that the program begins with, if it is not `main`.
    pub(crate) entry: Option<String>,
    /// `argv` behind the program's name.
    pub(crate) args: Vec<String>,
    /// Its environment, `NAME=VALUE` each.
    pub(crate) env: Vec<String>,
    /// For every source.
    clang_args: Vec<OsString>,
    /// What the user says that the program has.
    pub(crate) data_model: Option<DataModel>,
    cache: Option<Cache>,
    /// What all of it is, once somebody has asked.
    gathered: Arc<Mutex<Option<Arc<Gathered>>>>,
}

/// What the command line, or a saved execution, says of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    pub(crate) files: &'a [PathBuf],
    pub(crate) build: Option<&'a Path>,
    pub(crate) clang_args: &'a [OsString],
    pub(crate) entry: Option<&'a str>,
    pub(crate) data_model: Option<DataModel>,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a [String],
    pub(crate) cache: bool,
}

impl Project {
    pub(crate) fn from_args(args: &CheckArgs) -> Result<Self, ProjectError> {
        Self::new(Named {
            files: &args.files,
            build: args.build.as_deref(),
            clang_args: &args.clang_args,
            data_model: args.data_model,
            entry: args.entry.as_deref(),
            args: &args.args,
            env: &args.env,
            cache: !args.no_cache,
        })
    }

    pub(crate) fn new(named: Named<'_>) -> Result<Self, ProjectError> {
        let database = named.build.map(Database::read).transpose()?;
        let mut project = Self {
            units: Vec::new(),
            database: database.map(Arc::new),
            build: named.build.map(Path::to_owned),
            entry: named.entry.map(str::to_owned),
            args: named.args.to_vec(),
            env: named.env.to_vec(),
            clang_args: named.clang_args.to_vec(),
            data_model: named.data_model,
            cache: named.cache.then(Cache::of_user).flatten(),
            gathered: Arc::default(),
        };
        let mut units = match &project.database {
            None => (named.files.iter()).map(|file| plain(file)).collect(),
            Some(database) if named.files.is_empty() => vec![project.begins(database)?],
            Some(database) => {
                let mut units = Vec::new();
                for file in named.files {
                    units.extend(in_database(database, file)?);
                }
                units
            }
        };
        for unit in &mut units {
            unit.args.extend(named.clang_args.iter().cloned());
        }
        project.units = units;
        Ok(project)
    }

    /// The function that the program begins with.
    pub(crate) fn entry(&self) -> &str {
        self.entry.as_deref().unwrap_or("main")
    }

    /// What answers call the program.
    pub(crate) fn file(&self) -> &Path {
        self.units.first().map_or(Path::new(""), |unit| &unit.file)
    }

    /// The only source of a database that the program can begin in.
    fn begins(&self, database: &Database) -> Result<Unit, ProjectError> {
        let mut candidates = Vec::new();
        for command in &database.commands {
            let text = std::fs::read(&command.path).unwrap_or_default();
            if gather::seems_to_define_function(&text, self.entry()) {
                candidates.push(command);
            }
        }
        match candidates[..] {
            [one] => Ok(one.unit.clone()),
            _ => Err(ProjectError::WhichProgram {
                entry: self.entry().to_owned(),
                file: database.file.clone(),
                candidates: candidates.iter().map(|it| it.path.clone()).collect(),
            }),
        }
    }

    /// The whole program, compiled and linked; once for all who ask.
    pub(crate) fn gathered(
        &self,
        job: &crate::supervise::Job,
    ) -> Result<Arc<Gathered>, CompileError> {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gathered) = &*gathered {
            return Ok(Arc::clone(gathered));
        }
        let new = Arc::new(gather::gather(self, job)?);
        *gathered = Some(Arc::clone(&new));
        Ok(new)
    }

    /// The linked program, if somebody has asked for it.
    pub(crate) fn linked(&self) -> Option<Arc<Gathered>> {
        let gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        gathered.clone()
    }
}

/// A file as it is.
fn plain(file: &Path) -> Unit {
    Unit {
        file: file.to_owned(),
        directory: None,
        args: Vec::new(),
        is_cxx: false,
        is_foreign: false,
        inline_bodies: false,
    }
}

/// A file that is compiled as the database says; one that it does not know as it is; or all sources of a target.
fn in_database(database: &Database, file: &Path) -> Result<Vec<Unit>, ProjectError> {
    if file.exists() {
        let command = database.command_for(file);
        return Ok(vec![
            command.map_or_else(|| plain(file), |it| it.unit.clone()),
        ]);
    }
    let commands = database.target(file.to_str().unwrap_or_default());
    if commands.is_empty() {
        return Err(ProjectError::UnknownTarget {
            name: file.to_owned(),
            file: database.file.clone(),
            known: database.targets(),
        });
    }
    Ok(commands.into_iter().map(|it| it.unit.clone()).collect())
}

/// Names that some module needs and none defines, in order.
fn missing(modules: &[LinkSymbols]) -> Vec<&str> {
    let defined: rustc_hash::FxHashSet<&str> = modules
        .iter()
        .flat_map(|it| it.defined.iter().map(|name| &**name))
        .collect();
    let mut missing: Vec<&str> = Vec::new();
    let needed = modules.iter().flat_map(|module| &module.needed);
    for name in needed.map(|name| &**name) {
        if !defined.contains(name) && !missing.contains(&name) {
            missing.push(name);
        }
    }
    missing
}
