//! What all engines say about a program, and whether that fits together.

use raddle_bmc::BmcOptions;
use raddle_program::interp::SpuriousFailures;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_report::words::violation_kind;
use raddle_search::driver::{Limits, SearchOptions};
use raddle_search::{Bound, Checks, EngineKind, MemoryModel, Outcome, Verdict};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Beyond this an engine has no say.
const MOST_EXECUTIONS: u64 = 2_000;
const MOST_ITERATIONS: u32 = 6;
const MOST_CONFLICTS: u64 = 5_000;
/// Against programs that are hard for some engine in a way that is not counted.
const LONGEST: Duration = Duration::from_secs(10);
const MOST_MEMORY: u64 = 1 << 30;

const NOTHING: Checks = Checks {
    assertions: false,
    memory: false,
    races: false,
    deadlocks: false,
    livelocks: false,
    overflows: false,
    uninit: false,
    only_error_calls: false,
};
const ALL: Checks = Checks {
    assertions: true,
    memory: true,
    races: true,
    deadlocks: true,
    ..NOTHING
};
/// What may be looked for. Many mutants have a race, which hides from `bmc` what else is wrong.
pub(crate) const CHECKS: [(&str, Checks); 3] = [
    ("all", ALL),
    (
        "but-races",
        Checks {
            races: false,
            ..ALL
        },
    ),
    (
        "memory,race",
        Checks {
            assertions: false,
            deadlocks: false,
            ..ALL
        },
    ),
];

/// Something that must not be.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Failures of one class have the same cause, most likely.
    pub(crate) class: String,
    pub(crate) detail: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// Of all executions.
    Verified,
    Violation(BTreeSet<&'static str>),
    /// No answer, or one that does not cover everything.
    Open,
}

/// How many engines had an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answered {
    pub(crate) verified: u32,
    pub(crate) violation: u32,
    pub(crate) open: u32,
}

impl Answered {
    pub(crate) fn add(&mut self, other: Self) {
        self.verified += other.verified;
        self.violation += other.violation;
        self.open += other.open;
    }
}

/// Compares all engines.
pub(crate) fn compare(text: &str, checks: Checks) -> Result<Answered, Failure> {
    let mut answered = Answered::default();
    for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
        let mut answers = Vec::new();
        for engine in EngineKind::exploring(memory) {
            let answer = explored(text, engine, memory, checks)?;
            answers.push((engine, answer));
        }
        answers.push((EngineKind::Bmc, solved(text, memory, checks)?));
        for (_, answer) in &answers {
            *match answer {
                Answer::Verified => &mut answered.verified,
                Answer::Violation(_) => &mut answered.violation,
                Answer::Open => &mut answered.open,
            } += 1;
        }
        for (at, (one, first)) in answers.iter().enumerate() {
            for (other, second) in &answers[at + 1..] {
                fits(text, memory, (*one, first), (*other, second))?;
            }
        }
    }
    Ok(answered)
}

fn fits(
    text: &str,
    memory: MemoryModel,
    (one, first): (EngineKind, &Answer),
    (other, second): (EngineKind, &Answer),
) -> Result<(), Failure> {
    let differ = match (first, second) {
        (Answer::Verified, Answer::Violation(_)) | (Answer::Violation(_), Answer::Verified) => true,
        // It tells of one violation only.
        (Answer::Violation(all), Answer::Violation(found)) if other == EngineKind::Bmc => {
            !found.is_subset(all) && is_complete(text, one, memory)?
        }
        (Answer::Violation(a), Answer::Violation(b)) => {
            a != b && is_complete(text, one, memory)? && is_complete(text, other, memory)?
        }
        _ => false,
    };
    if !differ {
        return Ok(());
    }
    let (one, other, memory) = (one.name(), other.name(), memory.name());
    Err(Failure {
        class: format!("{one} and {other} differ under {memory}"),
        detail: format!("{one}: {first:?}, {other}: {second:?} under {memory}"),
    })
}

/// Does the engine come to the end of all executions? Where there are violations its answer does not say so.
fn is_complete(text: &str, engine: EngineKind, memory: MemoryModel) -> Result<bool, Failure> {
    Ok(explored(text, engine, memory, NOTHING)? == Answer::Verified)
}

fn explored(
    text: &str,
    engine: EngineKind,
    memory: MemoryModel,
    checks: Checks,
) -> Result<Answer, Failure> {
    guarded(engine, memory, || {
        let module = raddle_ir::parse_module(text.to_owned(), "mutant").ok()?;
        let interp = InterpOptions {
            unroll: Some(MOST_ITERATIONS),
            leaves_out_pure_iterations: engine.knows_purity(),
            spurious_wakeups: true,
            spurious_failures: fails_spuriously(memory),
            leaves_out_idle_failures: engine.knows_purity() || engine == EngineKind::Graph,
            ..InterpOptions::default()
        };
        let mut program = Interpreter::load(module, interp).ok()?;
        let options = SearchOptions {
            checks,
            memory,
            keep_going: true,
            limits: Limits {
                executions: Some(MOST_EXECUTIONS),
                time: Some(LONGEST),
                memory_bytes: Some(MOST_MEMORY),
            },
            ..SearchOptions::default()
        };
        let outcome = raddle_search::check(&mut program, engine, options);
        Some(outcome.map_err(|error| error.to_string()))
    })
}

/// Processors with store buffers have compare-exchanges that do not fail for no reason.
fn fails_spuriously(memory: MemoryModel) -> SpuriousFailures {
    match memory {
        MemoryModel::Sc | MemoryModel::C11 => SpuriousFailures::All,
        MemoryModel::Tso | MemoryModel::Pso => SpuriousFailures::Locks,
    }
}

fn solved(text: &str, memory: MemoryModel, checks: Checks) -> Result<Answer, Failure> {
    guarded(EngineKind::Bmc, memory, || {
        let parse = || raddle_ir::parse_module(text.to_owned(), "mutant").ok();
        let looked_at = InterpOptions {
            unroll: Some(1),
            spurious_wakeups: true,
            spurious_failures: fails_spuriously(memory),
            ..InterpOptions::default()
        };
        let view = View::new(parse()?, looked_at).ok()?;
        let replayed = InterpOptions {
            wide_choices: true,
            spurious_wakeups: true,
            spurious_failures: fails_spuriously(memory),
            ..InterpOptions::default()
        };
        let mut program = Interpreter::load(parse()?, replayed).ok()?;
        let options = BmcOptions {
            memory,
            unroll: None,
            exit_with_main: false,
            spurious_wakeups: true,
            spurious_failures: fails_spuriously(memory),
            any_unwritten: false,
            silent_abort: false,
            effort: Some(MOST_CONFLICTS),
            patience: raddle_bmc::PATIENCE,
        };
        let search = SearchOptions {
            checks,
            memory,
            limits: Limits {
                time: Some(LONGEST),
                memory_bytes: Some(MOST_MEMORY),
                ..Limits::default()
            },
            ..SearchOptions::default()
        };
        let outcome = raddle_bmc::check(view, &mut program, options, search);
        Some(outcome.map_err(|error| error.to_string()))
    })
}

/// Runs an engine. A panic is a failure like an internal error; all mutants can be loaded.
fn guarded(
    engine: EngineKind,
    memory: MemoryModel,
    run: impl FnOnce() -> Option<Result<Outcome, String>>,
) -> Result<Answer, Failure> {
    let failed = |how: &str, what: String| Failure {
        class: format!("{} {how} under {}", engine.name(), memory.name()),
        detail: format!("{} under {}: {what}", engine.name(), memory.name()),
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(None) => Err(failed("does not load it", String::new())),
        Ok(Some(Ok(outcome))) => Ok(answer(&outcome)),
        Ok(Some(Err(error))) => Err(failed("ends in an internal error", error)),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            let text = text.or_else(|| payload.downcast_ref::<&str>().map(|it| (*it).to_owned()));
            Err(failed("panics", text.unwrap_or_default()))
        }
    }
}

fn answer(outcome: &Outcome) -> Answer {
    match &outcome.verdict {
        Verdict::Verified(Bound::Complete) => Answer::Verified,
        Verdict::Violation(violations) => {
            let kinds = violations.iter().map(|it| violation_kind(&it.kind));
            Answer::Violation(kinds.collect())
        }
        _ => Answer::Open,
    }
}
