//! `raddle compare`: every engine that applies, one table.

use crate::Status;
use crate::check;
use crate::cli::{CheckArgs, Engine, Format};
use crate::error::Error;
use crate::options::{AnswerFormat, ENGINES, Options};
use raddle_report::compare::{self, Agreement, Answer};
use raddle_search::{EngineKind, Reason, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What an engine gets unless the user says otherwise: some never end on some programs.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Checks a program with all engines and prints their answers.
pub fn compare(args: CheckArgs, interrupt: &Arc<AtomicBool>) -> Result<Status, Error> {
    let only_check = [
        ("--engine", args.engine != Engine::Auto),
        ("--report", args.report.is_some()),
        ("--trace", args.trace.is_some()),
        ("--witness", args.witness.is_some()),
        ("--full", args.full),
        ("--format sarif", args.format == Format::Sarif),
    ];
    if let Some((option, _)) = only_check.into_iter().find(|(_, given)| *given) {
        return Err(Error::OnlyForCheck { option });
    }
    let mut options = Options::from_args(args)?;
    options.time_limit.get_or_insert(TIME_LIMIT);
    let mut answers: Vec<Answer> = Vec::new();
    for (name, kind) in applicable(&options) {
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        options.engine = Some(kind);
        let mut outcome = check::checked(&options, interrupt)?.outcome;
        // Having found nothing is no proof of what was not looked for.
        let lacks = kind == EngineKind::Bmc && options.checks.livelocks;
        if lacks && matches!(outcome.verdict, Verdict::Verified(_)) {
            outcome.verdict = Verdict::Inconclusive(Reason::NotLookedFor { what: "livelocks" });
        }
        answers.push(Answer {
            engine: name,
            outcome,
        });
    }
    let text = match options.format {
        AnswerFormat::Text => compare::table(&answers, options.color),
        AnswerFormat::Json | AnswerFormat::Sarif => compare::json(&answers),
    };
    crate::print(&text)?;
    match compare::agreement(&answers) {
        Agreement::Verified => Ok(Status::Verified),
        Agreement::Violation => Ok(Status::Violation),
        Agreement::Inconclusive => Ok(Status::Inconclusive),
        Agreement::Unsupported => Ok(Status::Failure),
        Agreement::Disagreement => Err(Error::Internal(
            "the engines do not agree on the verdict".to_owned(),
        )),
    }
}

/// The engines of this version that know the memory model.
fn applicable(options: &Options) -> Vec<(&'static str, EngineKind)> {
    let mut engines: Vec<(&str, EngineKind)> = Vec::new();
    for &(name, kind) in ENGINES {
        if name != "auto" && kind.supports(options.memory) {
            engines.push((name, kind));
        }
    }
    engines
}
