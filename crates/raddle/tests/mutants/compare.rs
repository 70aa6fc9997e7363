//! What all engines say about a program, and whether that fits together.

use raddle_bmc::BmcOptions;
use raddle_program::interp::SpuriousFailures;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_report::words::violation_kind;
use raddle_search::EngineOptions;
use raddle_search::driver::{Limits, SearchOptions};
use raddle_search::{Bound, Check, Checks, EngineKind, MemoryModel, Outcome, Reason, Verdict};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::tally::Tally;

/// Beyond this an engine has no say.
const MOST_EXECUTIONS: u64 = 2_000;
/// The same for an engine that takes milliseconds for each, and needs few.
const MOST_OF_MCR: u64 = 400;
/// The same for one that counts no executions, in operations.
const MOST_OF_STATES: u64 = 100_000;
const MOST_ITERATIONS: u32 = 6;
const MOST_CONFLICTS: u64 = 5_000;
/// Against programs that are hard for some engine in a way that is not counted; what is counted ends nearly all, so that answers do not depend on how busy the
/// machine is.
const LONGEST: Duration = Duration::from_secs(60);
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
pub(crate) enum Answer {
    /// Of all executions.
    Verified,
    Violation(BTreeSet<&'static str>),
    /// No answer, or one that does not cover everything, and why.
    Open(&'static str),
}

/// Compares all engines, and adds what each of them said to the tally.
pub(crate) fn compare(text: &str, checks: Checks, tally: &mut Tally) -> Result<(), Failure> {
    // Those that ran out of time have none for a weaker memory model, under which there are more executions.
    let mut too_slow = Vec::new();
    let mut ask = |memory| ask_all(text, memory, checks, tally, &mut too_slow);
    let sequential = ask(MemoryModel::Sc)?;
    for memory in [MemoryModel::Tso, MemoryModel::Pso] {
        ask(memory)?;
    }
    // The language allows every interleaving, and more.
    let weak = ask(MemoryModel::C11)?;
    for one in &sequential {
        for other in &weak {
            if let (Answer::Violation(found), Answer::Verified) = (&one.answer, &other.answer) {
                let (one, other) = (one.engine.name(), other.engine.name());
                return Err(Failure {
                    class: format!("{other} under c11 lacks what {one} finds under sc"),
                    detail: format!("{one}: {found:?} under sc, {other}: verified under c11"),
                });
            }
        }
    }
    Ok(())
}

/// Asks all engines that know the memory model, and compares what they say.
fn ask_all(
    text: &str,
    memory: MemoryModel,
    checks: Checks,
    tally: &mut Tally,
    too_slow: &mut Vec<EngineKind>,
) -> Result<Vec<Asked>, Failure> {
    let mut asked = Vec::new();
    let all = EngineKind::ALL.iter().copied();
    for engine in all.filter(|engine| looks(*engine, memory, checks)) {
        if too_slow.contains(&engine) {
            tally.skip((engine, memory));
            continue;
        }
        let started = Instant::now();
        let answer = match engine {
            EngineKind::Bmc => solved(text, memory, checks)?,
            _ => explored(text, engine, memory, checks)?,
        };
        tally.count((engine, memory), &answer, started.elapsed());
        if answer == Answer::Open(OUT_OF_TIME) {
            too_slow.push(engine);
        }
        asked.push(Asked {
            engine,
            answer,
            is_complete: OnceCell::new(),
        });
    }
    for (at, one) in asked.iter().enumerate() {
        for other in &asked[at + 1..] {
            fits(text, memory, one, other)?;
        }
    }
    Ok(asked)
}

/// Can the engine say what all others say, if it says anything? It must know the memory model, and look for everything that is looked for.
fn looks(engine: EngineKind, memory: MemoryModel, checks: Checks) -> bool {
    engine.supports(memory) && (engine.makes(Check::Race) || !checks.races)
}

/// An engine that has answered.
struct Asked {
    engine: EngineKind,
    answer: Answer,
    /// Does it come to the end of all executions? Found out when it matters.
    is_complete: OnceCell<bool>,
}

impl Asked {
    /// Where there are violations the answer does not say so.
    fn is_complete(&self, text: &str, memory: MemoryModel) -> Result<bool, Failure> {
        if let Some(&known) = self.is_complete.get() {
            return Ok(known);
        }
        let complete = explored(text, self.engine, memory, NOTHING)? == Answer::Verified;
        Ok(*self.is_complete.get_or_init(|| complete))
    }
}

fn fits(text: &str, memory: MemoryModel, one: &Asked, other: &Asked) -> Result<(), Failure> {
    let (first, second) = (&one.answer, &other.answer);
    let leaves_open = |asked: &Asked| {
        let races = matches!(&asked.answer, Answer::Violation(found) if RACES.iter().any(|kind| found.contains(kind)));
        asked.engine == EngineKind::Graph && races
    };
    let differ = match (first, second) {
        (Answer::Verified, Answer::Violation(_)) | (Answer::Violation(_), Answer::Verified) => true,
        // Of accesses that race, it explores one order only.
        (Answer::Violation(_), Answer::Violation(_)) if leaves_open(one) || leaves_open(other) => {
            false
        }
        // It tells of one violation only.
        (Answer::Violation(all), Answer::Violation(found)) if other.engine == EngineKind::Bmc => {
            !found.is_subset(all) && one.is_complete(text, memory)?
        }
        (Answer::Violation(a), Answer::Violation(b)) => {
            a != b && one.is_complete(text, memory)? && other.is_complete(text, memory)?
        }
        _ => false,
    };
    if !differ {
        return Ok(());
    }
    let (one, other, memory) = (one.engine.name(), other.engine.name(), memory.name());
    Err(Failure {
        class: format!("{one} and {other} differ under {memory}"),
        detail: format!("{one}: {first:?}, {other}: {second:?} under {memory}"),
    })
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
            leaves_out_idle_failures: engine.knows_purity(),
            ..InterpOptions::default()
        };
        let mut program = Interpreter::load(module, interp).ok()?;
        let options = SearchOptions {
            checks,
            memory,
            keep_going: true,
            limits: Limits {
                executions: Some(match engine {
                    EngineKind::Mcr => MOST_OF_MCR,
                    _ => MOST_EXECUTIONS,
                }),
                time: Some(LONGEST),
                memory_bytes: Some(MOST_MEMORY),
            },
            ..SearchOptions::default()
        };
        let own = EngineOptions {
            most_effort: (engine == EngineKind::States).then_some(MOST_OF_STATES),
            ..EngineOptions::default()
        };
        let outcome = raddle_search::check_with(&mut program, engine, own, options);
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
            threads: None,
            memory,
            unroll: None,
            exit_with_main: false,
            spurious_wakeups: true,
            spurious_failures: fails_spuriously(memory),
            any_unwritten: false,
            silent_abort: false,
            effort: Some(MOST_CONFLICTS),
            may_be_large: false,
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
        Verdict::Verified(Bound::UpTo { .. }) => Answer::Open("bound on loops"),
        Verdict::Unsupported(_) => Answer::Open("unsupported"),
        Verdict::Inconclusive(reason) => Answer::Open(match reason {
            Reason::Executions { .. } | Reason::Effort => "effort",
            Reason::Time { .. } => OUT_OF_TIME,
            Reason::Memory { .. } => "memory",
            Reason::Unrolled { .. } | Reason::Threads { .. } => "bound on loops",
            Reason::NothingEnds { .. } | Reason::NothingEndsWithin { .. } => "nothing ends",
            Reason::Thread { .. } => "limit of a thread",
            Reason::Interrupted { .. } | Reason::NotLookedFor { .. } | Reason::Unwritten { .. } => {
                "other"
            }
        }),
    }
}

const OUT_OF_TIME: &str = "time";
/// Races, and what `free` of an object is beside another one: as [`violation_kind`] calls them.
const RACES: [&str; 2] = ["race", "double-free"];
