//! `raddle bench`: runs the programs of `benchmarks/` and compares what an engine explores with what the papers say.
//!
//! The counts are oracles: an optimal engine explores exactly one execution of each class, no more and no fewer.

mod args;
pub mod expected;
mod table;

pub use args::{BenchArgs, BenchFormat};

use crate::Status;
use crate::cli::{Cli, Command, name_of};
use crate::error::Error;
use crate::options::Options;
use clap::Parser;
use expected::{Class, Count, Expectation, Program, Run, Size, Suite};
use raddle_search::{Reason, Verdict};
use serde::Serialize;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Debug)]
pub enum BenchError {
    NoDirectory,
    Unreadable { file: PathBuf, error: io::Error },
    Malformed { file: PathBuf, what: String },
    UnknownProgram { name: String, known: String },
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDirectory => {
                f.write_str("there is no directory `benchmarks` here or in any directory above")
            }
            Self::Unreadable { file, error } => {
                write!(f, "{}: cannot be read: {error}", file.display())
            }
            Self::Malformed { file, what } => write!(f, "{}: {what}", file.display()),
            Self::UnknownProgram { name, .. } => write!(f, "there is no program `{name}`"),
        }
    }
}

impl BenchError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoDirectory => Some("name it with `--dir`".to_owned()),
            Self::UnknownProgram { known, .. } => Some(format!("programs: {known}")),
            Self::Unreadable { .. } | Self::Malformed { .. } => None,
        }
    }
}

/// One line of the table.
#[derive(Debug, Serialize)]
pub struct Row {
    pub program: String,
    pub parameters: String,
    /// What executions are told apart by.
    pub class: Option<&'static str>,
    #[serde(serialize_with = "count_as_text")]
    pub expected: Option<Count>,
    pub expected_verdict: &'static str,
    pub verdict: Option<&'static str>,
    pub complete: u64,
    pub blocked: u64,
    pub result: Comparison,
    pub seconds: f64,
    /// Why there is no answer.
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Comparison {
    Ok,
    Wrong,
    /// No answer at all.
    Error,
    /// No answer in the time there was.
    Open,
}

#[expect(
    clippy::ref_option,
    reason = "serde hands over a reference to the field"
)]
fn count_as_text<S: serde::Serializer>(count: &Option<Count>, to: S) -> Result<S::Ok, S::Error> {
    count.map(|count| count.to_string()).serialize(to)
}

/// How long a run may take that has no figure to be compared with.
const TIME_WITHOUT_FIGURE: Duration = Duration::from_secs(1);
const TIME_OF_LONG_RUNS: Duration = Duration::from_secs(100);

/// Runs what was asked for, prints the table, and says whether all is as expected.
pub fn bench(args: &BenchArgs, interrupt: &AtomicBool) -> Result<Status, Error> {
    let directory = match &args.dir {
        Some(directory) => directory.clone(),
        None => expected::find_directory().ok_or(BenchError::NoDirectory)?,
    };
    let suite = expected::read(&directory)?;
    let engine = name_of(args.engine);
    let memory = name_of(args.memory);
    let runs = select(&suite, &args.names, (&engine, &memory), args.all)?;
    let mut rows = Vec::new();
    let layout = table::Layout::new(&runs);
    let text = args.format == BenchFormat::Text;
    if text {
        crate::print(&layout.heading())?;
    }
    for task in runs {
        let row = compare(&directory, task, (&engine, &memory), args, interrupt);
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        if text {
            crate::print(&layout.row(&row))?;
        }
        rows.push(row);
    }
    crate::print(&if text {
        table::summary(&rows)
    } else {
        table::json(&engine, &rows)
    })?;
    Ok(status(&rows, interrupt))
}

fn status(rows: &[Row], interrupt: &AtomicBool) -> Status {
    let any = |result| rows.iter().any(|row| row.result == result);
    if any(Comparison::Error) {
        Status::Failure
    } else if any(Comparison::Wrong) {
        Status::Violation
    } else if interrupt.load(Ordering::Relaxed) {
        Status::Inconclusive
    } else {
        Status::Verified
    }
}

/// Something to run.
#[derive(Clone, Copy, Debug)]
struct Task<'a> {
    program: &'a Program,
    run: &'a Run,
    class: Option<Class>,
}

/// The runs of the named programs (of all, if none is named) that say something about the engine.
fn select<'a>(
    suite: &'a Suite,
    names: &[String],
    (engine, memory): (&str, &str),
    all: bool,
) -> Result<Vec<Task<'a>>, BenchError> {
    if let Some(name) = names
        .iter()
        .find(|name| suite.programs.iter().all(|program| program.name != **name))
    {
        let known: Vec<&str> = suite.programs.iter().map(|p| p.name.as_str()).collect();
        return Err(BenchError::UnknownProgram {
            name: name.clone(),
            known: known.join(", "),
        });
    }
    let mut tasks = Vec::new();
    for program in &suite.programs {
        if !names.is_empty() && !names.contains(&program.name) {
            continue;
        }
        for run in program.runs.iter().filter(|run| run.covers(memory)) {
            let figures = run.figures(engine).into_iter();
            let wanted = figures.filter(|class| all || run.size(*class) == Size::Quick);
            tasks.extend(wanted.map(|class| Task {
                program,
                run,
                class,
            }));
        }
    }
    Ok(tasks)
}

/// Runs one program as `raddle check` would.
fn compare(
    directory: &Path,
    task: Task<'_>,
    how: (&str, &str),
    workers: &BenchArgs,
    interrupt: &AtomicBool,
) -> Row {
    let Task {
        program,
        run,
        class,
    } = task;
    let expected = run.count(class);
    let mut row = Row {
        program: program.name.clone(),
        parameters: run.parameters(),
        class: class.map(Class::name),
        expected,
        expected_verdict: match run.verdict {
            Expectation::Verified => "verified",
            Expectation::Violation => "violation",
        },
        verdict: None,
        complete: 0,
        blocked: 0,
        result: Comparison::Error,
        seconds: 0.0,
        error: None,
    };
    let outcome = options(directory, task, how, workers)
        .and_then(|options| crate::compare::outcome(&options, interrupt));
    let outcome = match outcome {
        Ok(Some((outcome, _))) => outcome,
        Ok(None) => {
            row.error = Some("internal error".to_owned());
            return row;
        }
        Err(error) => {
            row.error = Some(error.to_string());
            return row;
        }
    };
    row.complete = outcome.statistics.complete;
    row.blocked = outcome.statistics.blocked;
    row.seconds = outcome.statistics.elapsed.as_secs_f64();
    let verdict = match &outcome.verdict {
        // That all executions are blocked is what some papers' programs are about; the counts tell.
        Verdict::Verified(_) | Verdict::Inconclusive(Reason::NothingEnds { bound: None }) => {
            "verified"
        }
        Verdict::Violation(_) => "violation",
        Verdict::Inconclusive(_) => {
            row.verdict = Some("inconclusive");
            row.result = if expected.is_none() {
                Comparison::Open
            } else {
                Comparison::Wrong
            };
            return row;
        }
        Verdict::Unsupported(unsupported) => {
            let first = unsupported.first();
            row.error = first.map(|first| format!("{:?}", first.what));
            return row;
        }
    };
    row.verdict = Some(verdict);
    let admitted = expected.is_none_or(|count| count.admits(row.complete, row.blocked));
    row.result = if admitted && verdict == row.expected_verdict {
        Comparison::Ok
    } else {
        Comparison::Wrong
    };
    row
}

/// The options of `raddle check` for a run.
fn options(
    directory: &Path,
    task: Task<'_>,
    (engine, memory): (&str, &str),
    workers: &BenchArgs,
) -> Result<Options, Error> {
    let Task {
        program,
        run,
        class,
    } = task;
    let file = directory.join(format!("{}.c", program.name));
    let mut args: Vec<OsString> = ["raddle", "check", "--progress", "never", "--engine", engine]
        .map(OsString::from)
        .into();
    args.extend(["--memory".into(), memory.into()]);
    // Times of engines are compared, so there is one worker unless several are asked for.
    args.extend(["--jobs".into(), workers.jobs.to_string().into()]);
    if let Some(looks) = workers.pieces_after {
        args.extend(["--pieces-after".into(), looks.to_string().into()]);
    }
    // The papers know none.
    args.push("--no-spurious-wakeups".into());
    if let Some(class) = class {
        args.extend(class.switches().iter().map(OsString::from));
    }
    if let Some(checks) = &program.checks {
        args.extend(["--check".into(), checks.into()]);
    }
    if let Some(bound) = run.unroll {
        args.extend(["--unroll".into(), bound.to_string().into()]);
    }
    if class.is_none() {
        let time = match run.size {
            Some(Size::Long) => TIME_OF_LONG_RUNS,
            _ => TIME_WITHOUT_FIGURE,
        };
        let seconds = time.as_secs().to_string();
        args.extend(["--time-limit".into(), seconds.into()]);
    }
    args.extend([file.into(), "--".into()]);
    args.extend(run.macros().into_iter().map(OsString::from));
    match Cli::try_parse_from(args) {
        Ok(Cli {
            command: Command::Check(args),
        }) => Options::from_args(*args),
        Ok(_) => unreachable!("`check` was asked for"),
        Err(error) => Err(Error::Internal(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
        expected::read(&file).unwrap()
    }

    #[test]
    fn every_program_has_expectations_and_a_file() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
        let mut expected: Vec<String> = suite()
            .programs
            .iter()
            .map(|program| format!("{}.c", program.name))
            .collect();
        expected.sort();
        let mut found: Vec<String> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".c"))
            .collect();
        found.sort();
        assert_eq!(expected, found);
    }

    #[test]
    fn coarser_classes_are_never_more() {
        for program in suite().programs {
            for run in &program.runs {
                let most = |class| match run.counts.of(class) {
                    Some(Count::Exactly { complete, blocked }) => Some(complete + blocked),
                    _ => None,
                };
                let chains = [
                    [Class::Maz, Class::Purity, Class::Await, Class::Ifaa],
                    [Class::Maz, Class::Rf, Class::Rvf, Class::Mcr],
                ];
                for chain in chains {
                    let known: Vec<u64> = chain.into_iter().filter_map(most).collect();
                    assert!(
                        known.is_sorted_by(|finer, coarser| finer >= coarser),
                        "{} {}",
                        program.name,
                        run.parameters()
                    );
                }
            }
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        let error = select(&suite(), &["nonsense".to_owned()], ("dpor", "sc"), false).unwrap_err();
        assert_eq!(error.to_string(), "there is no program `nonsense`");
        assert!(error.hint().unwrap().contains("readers"));
    }

    #[test]
    fn long_runs_are_for_all() {
        let suite = suite();
        let names = ["lastwrite".to_owned()];
        let quick = select(&suite, &names, ("dpor", "sc"), false).unwrap().len();
        let all = select(&suite, &names, ("dpor", "sc"), true).unwrap().len();
        assert!(0 < quick && quick < all);
    }
}
