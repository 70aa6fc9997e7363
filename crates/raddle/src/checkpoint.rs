//! `raddle check --checkpoint` and `raddle resume`: searches that are stopped and taken up again.
//!
//! A checkpoint is text: a line of JSON that says what was checked and how ([`Header`]), what is left of the search
//! ([`raddle_search::parallel::Saved`]), and a checksum of all that. It is written beside its place and then moved there, so that there is a whole one
//! at any time.

use crate::Status;
use crate::check;
use crate::cli::{self, CheckArgs, Cli, Command, ResumeArgs};
use crate::error::Error;
use crate::load::Loaded;
use crate::options::Options;
use clap::Parser;
use raddle_report::trace_file::hex;
use raddle_search::InternalError;
use raddle_search::parallel::{Checkpoints, Division, Saved};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The format that this version writes.
const VERSION: u64 = 2;
/// How often a checkpoint is written while the search goes on.
const EVERY: Duration = Duration::from_secs(60);
const CHECKSUM: &str = "checksum ";

/// What was checked, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    raddle_checkpoint: u64,
    /// The version of Raddle: another one may explore in another order.
    raddle: String,
    /// What tells the program from others.
    fingerprint: String,
    /// Which of the searches that an answer may take ([`stage`]).
    stage: String,
    /// The command line, from `check` on.
    args: Vec<String>,
}

/// A search that is taken up again.
#[derive(Debug)]
pub(crate) struct Resumed {
    fingerprint: String,
    stage: String,
    args: Vec<String>,
    saved: Saved,
    file: PathBuf,
    /// Its search has been taken up: what comes now comes after it.
    is_taken_up: AtomicBool,
}

impl Resumed {
    /// What is left, for the search that takes it up.
    fn take_up(&self, options: &Options) -> Option<Saved> {
        let saved = self.left_of(options)?;
        let is_first = !self.is_taken_up.swap(true, Ordering::Relaxed);
        is_first.then(|| saved.clone())
    }

    /// What is left of this search, if it is this one.
    pub(crate) fn left_of(&self, options: &Options) -> Option<&Saved> {
        (self.stage == stage(options)).then_some(&self.saved)
    }
}

/// Which search this is, of those that an answer may take: one under each memory model, and one that looks at every byte that nobody has written.
fn stage(options: &Options) -> String {
    let bytes = match options.every_byte {
        true => " bytes",
        false => "",
    };
    format!("{}{bytes}", options.memory.name())
}

/// Why a checkpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointError {
    NotACheckpoint,
    UnknownVersion {
        found: u64,
    },
    /// It was written by another version of Raddle.
    OtherRaddle {
        found: String,
    },
    /// It is shorter than it was, or has been changed.
    Damaged,
    Malformed {
        what: String,
    },
    /// The program is not the one that was checked.
    OtherProgram,
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotACheckpoint => f.write_str("this is no checkpoint of Raddle"),
            Self::UnknownVersion { found } => write!(
                f,
                "this checkpoint has format {found}, and this version of Raddle knows format {VERSION}"
            ),
            Self::OtherRaddle { found } => write!(
                f,
                "this checkpoint was written by Raddle {found}, and this is Raddle {}, which may explore in another order",
                env!("CARGO_PKG_VERSION")
            ),
            Self::Damaged => f.write_str(
                "this checkpoint is damaged: it is not as it was written (its checksum does not fit)",
            ),
            Self::Malformed { what } => write!(f, "this checkpoint cannot be read: {what}"),
            Self::OtherProgram => f.write_str(
                "this checkpoint is of another program: the source has changed, or the compiler, or what it includes",
            ),
        }
    }
}

impl CheckpointError {
    /// What to do next.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::NotACheckpoint => "name a file that `raddle check --checkpoint FILE` wrote",
            _ => "begin anew with `raddle check PROGRAM --checkpoint FILE`",
        }
    }
}

/// Goes on with a search that was stopped.
pub fn resume(args: ResumeArgs, interrupt: &AtomicBool) -> Result<Status, Error> {
    let resumed = read(&args.checkpoint)?;
    let mut check_args = check_args(&resumed.args).map_err(|what| Error::Checkpoint {
        file: args.checkpoint.clone(),
        what,
    })?;
    check_args.jobs = args.jobs;
    check_args.time_limit = args.time_limit;
    check_args.memory_limit = args.memory_limit;
    check_args.checkpoint = Some(args.checkpoint);
    let options = Options {
        resumed: Some(Arc::new(resumed)),
        ..Options::from_args(check_args)?
    };
    check::check_as(options, interrupt)
}

/// What `check` was asked to do.
pub(crate) fn check_args(args: &[String]) -> Result<CheckArgs, CheckpointError> {
    let program = std::iter::once("raddle".to_owned());
    let line = program.chain(args.iter().cloned());
    let line = cli::with_program_args(line.map(OsString::from));
    match Cli::try_parse_from(line) {
        Ok(Cli {
            command: Command::Check(args),
        }) => Ok(*args),
        _ => Err(CheckpointError::Malformed {
            what: "its command line is none of `raddle check`".to_owned(),
        }),
    }
}

fn read(file: &Path) -> Result<Resumed, Error> {
    let bytes = std::fs::read(file).map_err(|error| Error::ReadCheckpoint {
        file: file.into(),
        error,
    })?;
    parse(&bytes, file).map_err(|what| Error::Checkpoint {
        file: file.into(),
        what,
    })
}

fn parse(bytes: &[u8], file: &Path) -> Result<Resumed, CheckpointError> {
    let text = String::from_utf8_lossy(bytes);
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let header: serde_json::Value =
        serde_json::from_str(first).map_err(|_| CheckpointError::NotACheckpoint)?;
    let version = header.get("raddle_checkpoint").and_then(|it| it.as_u64());
    match version {
        None => return Err(CheckpointError::NotACheckpoint),
        Some(VERSION) => {}
        Some(found) => return Err(CheckpointError::UnknownVersion { found }),
    }
    let header: Header =
        serde_json::from_value(header).map_err(|error| CheckpointError::Malformed {
            what: error.to_string(),
        })?;
    if header.raddle != env!("CARGO_PKG_VERSION") {
        return Err(CheckpointError::OtherRaddle {
            found: header.raddle,
        });
    }
    let rest = rest.strip_suffix('\n').ok_or(CheckpointError::Damaged)?;
    // Without anything left the checksum is all there is.
    let (body, checksum) = match rest.rsplit_once('\n') {
        Some((body, last)) => (format!("{body}\n"), last),
        None => (String::new(), rest),
    };
    let whole = format!("{first}\n{body}");
    if checksum.strip_prefix(CHECKSUM) != Some(&digest(&whole)) {
        return Err(CheckpointError::Damaged);
    }
    let saved: Saved = body
        .parse()
        .map_err(
            |error: raddle_search::parallel::BadCheckpoint| CheckpointError::Malformed {
                what: error.to_string(),
            },
        )?;
    Ok(Resumed {
        fingerprint: header.fingerprint,
        stage: header.stage,
        args: header.args,
        saved,
        file: file.into(),
        is_taken_up: AtomicBool::new(false),
    })
}

pub(crate) fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// How to cut the search into pieces, where it can be.
pub(crate) fn division(options: &Options, loaded: &Loaded) -> Result<Division, Error> {
    let mut division = Division::new(Arc::clone(&loaded.again), options.jobs);
    if let Some(looks) = options.pieces_after {
        division.warm_up = looks;
    }
    let mut args = None;
    let mut is_before = false;
    if let Some(resumed) = &options.resumed {
        if resumed.fingerprint != loaded.fingerprint {
            return Err(other_program(&resumed.file));
        }
        division.saved = resumed.take_up(options);
        args = Some(resumed.args.clone());
        is_before = !resumed.is_taken_up.load(Ordering::Relaxed);
    }
    // A search that comes before the one that is kept is done again; the file stays as it is.
    if let (Some(file), false) = (&options.checkpoint, is_before) {
        let header = Header {
            raddle_checkpoint: VERSION,
            raddle: env!("CARGO_PKG_VERSION").to_owned(),
            fingerprint: loaded.fingerprint.clone(),
            stage: stage(options),
            args: match args {
                Some(args) => args,
                None => command_line()?,
            },
        };
        division.checkpoint = Some(checkpoints(file, &header)?);
    }
    Ok(division)
}

pub(crate) fn other_program(file: &Path) -> Error {
    Error::Checkpoint {
        file: file.into(),
        what: CheckpointError::OtherProgram,
    }
}

/// The command line of this process, from `check` on.
pub(crate) fn command_line() -> Result<Vec<String>, Error> {
    let text = |arg: OsString| {
        arg.into_string()
            .map_err(|arg| Error::ArgumentNotText { arg })
    };
    std::env::args_os().skip(1).map(text).collect()
}

fn checkpoints(file: &Path, header: &Header) -> Result<Checkpoints, Error> {
    let first =
        serde_json::to_string(header).map_err(|error| Error::Internal(error.to_string()))?;
    let file = file.to_owned();
    // Whoever cannot write there learns of it now, not in an hour.
    let beside = beside(&file);
    std::fs::File::create(&beside)
        .and_then(|_| std::fs::remove_file(&beside))
        .map_err(|error| Error::Write {
            file: file.clone(),
            error,
        })?;
    Ok(Checkpoints {
        every: EVERY,
        sink: Box::new(move |saved| {
            if let Err(error) = write(&file, &first, saved) {
                crate::tell(format_args!(
                    "warning: cannot write the checkpoint {}: {error}",
                    file.display()
                ));
            }
        }),
    })
}

/// What went wrong with a search that may be of a checkpoint.
pub(crate) fn failed(options: &Options, error: &InternalError) -> Error {
    match (error, &options.checkpoint) {
        (InternalError::ForeignCheckpoint, Some(file)) => other_program(file),
        (error, _) => Error::Internal(error.to_string()),
    }
}

/// Says where what is left is to be found.
pub(crate) fn tell_what_is_kept(file: &Path) {
    let name = file.display();
    match file.exists() {
        true => crate::tell(format_args!(
            "note: what is left is kept in {name}: `raddle resume {name}` goes on"
        )),
        false => crate::tell(format_args!(
            "note: nothing is kept in {name}: this search cannot be cut into pieces (docs/parallel.md)"
        )),
    }
}

/// Where it is written before it is moved to its place.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

fn write(file: &Path, first: &str, saved: &Saved) -> std::io::Result<()> {
    let text = format!("{first}\n{}", saved.render());
    let beside = beside(file);
    let mut out = std::fs::File::create(&beside)?;
    out.write_all(text.as_bytes())?;
    writeln!(out, "{CHECKSUM}{}", digest(&text))?;
    out.sync_all()?;
    std::fs::rename(&beside, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        let first = format!(
            r#"{{"raddle_checkpoint":2,"raddle":"{}","fingerprint":"f","stage":"sc","args":["check","a.c"]}}"#,
            env!("CARGO_PKG_VERSION")
        );
        let body = format!("{first}\nstart 0 0\nedge 0 7 1\npiece - 0 1 2\n");
        format!("{body}{CHECKSUM}{}\n", digest(&body))
    }

    fn parsed(text: &str) -> Result<Resumed, CheckpointError> {
        parse(text.as_bytes(), Path::new("a.checkpoint"))
    }

    #[test]
    fn a_whole_checkpoint_is_read() {
        let resumed = parsed(&text()).unwrap();
        assert_eq!(resumed.args, ["check", "a.c"]);
        assert_eq!(resumed.saved.pending.len(), 1);
        assert_eq!(
            check_args(&resumed.args).unwrap().files,
            [PathBuf::from("a.c")]
        );
    }

    #[test]
    fn part_of_a_checkpoint_is_none() {
        let text = text();
        for length in 0..text.len() {
            let error = parsed(&text[..length]).unwrap_err();
            let expected = match length > text.find('\n').unwrap() - 1 {
                true => CheckpointError::Damaged,
                false => CheckpointError::NotACheckpoint,
            };
            assert_eq!(error, expected, "{length}");
        }
    }

    #[test]
    fn a_changed_checkpoint_is_refused() {
        let text = text();
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(parse(&bytes, Path::new("a.checkpoint")).is_err(), "{at}");
        }
    }

    #[test]
    fn other_versions_are_refused_by_name() {
        let newer = text().replace(r#""raddle_checkpoint":2"#, r#""raddle_checkpoint":3"#);
        let found = CheckpointError::UnknownVersion { found: 3 };
        assert_eq!(parsed(&newer).unwrap_err(), found);
        let version = format!(r#""raddle":"{}""#, env!("CARGO_PKG_VERSION"));
        let other = text().replace(&version, r#""raddle":"0.0.1""#);
        let found = "0.0.1".to_owned();
        assert_eq!(
            parsed(&other).unwrap_err(),
            CheckpointError::OtherRaddle { found }
        );
        assert_eq!(parsed("{}\n").unwrap_err(), CheckpointError::NotACheckpoint);
    }
}
