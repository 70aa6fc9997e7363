//! `raddle compare`: every engine that applies, one table.

use crate::Status;
use crate::check;
use crate::cli::{CheckArgs, Engine, Format};
use crate::error::Error;
use crate::options::{AnswerFormat, ENGINES, Options};
use crate::supervise::{Ended, Job};
use raddle_report::compare::{self, Agreement, Answer};
use raddle_search::{Cause, Check, EngineKind, Outcome, Reason, Verdict};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What an engine gets unless the user says otherwise: some never end on some programs.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Checks a program with all engines and prints their answers.
pub fn compare(args: CheckArgs, interrupt: &AtomicBool) -> Result<Status, Error> {
    let only_check = [
        ("--engine", args.engine != Engine::Auto),
        ("--report", args.report.is_some()),
        ("--trace", args.trace.is_some()),
        ("--witness", args.witness.is_some()),
        ("--proof", args.proof.is_some()),
        ("--full", args.full),
        ("--output", args.output),
        ("--json", args.json.is_some()),
        ("--checkpoint", args.checkpoint.is_some()),
        ("--cluster", args.cluster.cluster.is_some()),
        ("--format sarif", args.format == Format::Sarif),
    ];
    if let Some((option, _)) = only_check.into_iter().find(|(_, given)| *given) {
        return Err(Error::OnlyForCheck { option });
    }
    let jobs = args.jobs.unwrap_or(1);
    let mut options = Options::from_args(args)?;
    // Times of engines are compared, and most have one worker.
    options.jobs = jobs as usize;
    options.time_limit.get_or_insert(TIME_LIMIT);
    let mut answers: Vec<Answer> = Vec::new();
    for (name, kind) in applicable(&options) {
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        options.engine = Some(kind);
        options.is_auto = false;
        let Some((mut outcome, goes_on)) = outcome(&options, interrupt)? else {
            return Ok(Status::Failure);
        };
        // Having found nothing is no proof of what was not looked for.
        let lacks = options.checks.livelocks && !kind.makes(Check::Livelock);
        if lacks && matches!(outcome.verdict, Verdict::Verified(_)) {
            outcome.verdict = Verdict::Inconclusive(Reason::NotLookedFor { what: "livelocks" });
        }
        answers.push(Answer {
            engine: name,
            outcome,
        });
        if !goes_on {
            break;
        }
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

/// What one engine says, and whether there is any use in asking the next: not if this one does not stop to take memory. None if it
/// panicked.
pub(crate) fn outcome(
    options: &Options,
    interrupt: &AtomicBool,
) -> Result<Option<(Outcome, bool)>, Error> {
    let job = Job::new(options.time_limit, options.memory_limit_bytes);
    let work = {
        let options = options.clone();
        move |job: &Job| check::checked(&options, job).map(|checked| checked.outcome)
    };
    Ok(match job.run(interrupt, work) {
        Ended::Returned(Ok(outcome)) => Some((outcome, true)),
        Ended::Returned(Err(Error::Compile(_))) if job.watch.is_raised() => {
            Some((check::unfinished_outcome(options, &job)?, true))
        }
        Ended::Returned(Err(error)) => return Err(error),
        Ended::Abandoned => {
            let goes_on = job.watch.cause() != Some(Cause::Memory);
            Some((check::unfinished_outcome(options, &job)?, goes_on))
        }
        Ended::Panicked => None,
    })
}

/// The engines of this version that know the memory model. Some refuse some programs; that is no answer.
fn applicable(options: &Options) -> Vec<(&'static str, EngineKind)> {
    let mut engines: Vec<(&str, EngineKind)> = Vec::new();
    for &(name, kind) in ENGINES {
        if options.malloc_may_fail && !kind.takes("--malloc-may-fail")
            || options.reuse_addresses && !kind.takes("--reuse-addresses")
            || options.checks.races && !kind.makes(Check::Race)
        {
            continue;
        }
        if name != "auto" && kind.supports(options.memory) {
            engines.push((name, kind));
        }
    }
    engines
}
