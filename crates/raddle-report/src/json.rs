//! The answer as one JSON object: the format that scripts rely on.

use crate::Report;
use crate::advice::{self, operation_name, order_name};
use crate::covered;
use crate::names::Names;
use crate::source::{Sources, position};
use crate::steps::{is_told_elsewhere, op_kind, value_chosen};
use crate::view::main_returned;
use crate::words;
use raddle_judge::{
    Bound, Effect, EngineKind, MemoryModel, MemoryReason, Outcome, Reason, Strengthening, Trace,
    TraceStep, UnsupportedAt, Verdict, Violation, ViolationKind, Work,
};
use raddle_program::{LocId, NamedPlace, Op, Program, SrcId};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Answer<'a> {
    raddle: &'static str,
    file: &'a str,
    engine: &'static str,
    memory: &'static str,
    /// Only where it is not LP64.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_model: Option<&'static str>,
    /// Why this one, where nobody asked for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_because: Option<&'static str>,
    verdict: &'static str,
    /// Was everything covered that the program can do?
    complete: bool,
    bound: Option<u32>,
    /// Where `--threads` left executions out.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_bound: Option<u32>,
    reason: Option<String>,
    /// What kind of reason that is: see [`reason_kind`].
    reason_kind: Option<&'static str>,
    executions: Executions,
    violation: Option<Wrong>,
    /// The others, with `--keep-going`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more_violations: Vec<Wrong>,
    /// Everything that executions reached and Raddle cannot run.
    unsupported: Vec<OutOfReach>,
    threads: usize,
    events: Events,
    coverage: Covered,
    weak_orderings: Option<WeakOrderings>,
    notes: Vec<Note>,
    /// Engine `rf` with one worker: how often each phase of its consistency check had the last word. With several it depends on who was first.
    #[serde(skip_serializing_if = "Option::is_none")]
    consistency: Option<Consistency>,
    /// Engine `mcr` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    solver: Option<Solver>,
    /// All the time that there was to wait, and how much of it went into compiling and reading the program.
    seconds: f64,
    seconds_compiling: f64,
    /// Engine `rvf` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    verify_sc: Option<VerifySc>,
    peak_memory_bytes: u64,
}

/// What the consistency check of engine `rvf` was asked, and what part of the time it took.
#[derive(Serialize)]
struct VerifySc {
    questions: u64,
    refuted: u64,
    share: f64,
}

impl VerifySc {
    fn of(outcome: &Outcome) -> Option<Self> {
        let statistics = &outcome.statistics;
        let verify = &statistics.verify();
        let refuted = verify.closure + verify.refuted;
        (outcome.engine == EngineKind::Rvf).then(|| Self {
            questions: verify.at_hand + verify.guided + verify.found + refuted,
            refuted,
            share: verify.time.as_secs_f64() / statistics.elapsed.as_secs_f64().max(1e-9),
        })
    }
}

#[derive(Serialize)]
struct Executions {
    complete: u64,
    blocked: u64,
    /// How many of the blocked ones for which reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    blocked_by: BTreeMap<&'static str, u64>,
    /// Those of the blocked ones that the bound on loops cut.
    cut: u64,
}

/// What executions reached beyond Raddle.
#[derive(Serialize)]
struct OutOfReach {
    message: String,
    location: Option<Place>,
    thread: usize,
}

/// What the executions that were looked at came to.
#[derive(Serialize)]
struct Covered {
    /// Most threads besides `main` in one execution.
    threads_started: usize,
    /// Did some execution come to its end? `null` where the engine does not know.
    ended: Option<bool>,
    /// Where the bound on loops cut executions.
    cut_at: Vec<Place>,
    /// `null`, like what follows, where it is not known what was run.
    asserts: Option<Asserts>,
    unreached_functions: Option<Vec<Named>>,
    unreached_lines: Option<Vec<LineOf>>,
}

#[derive(Serialize)]
struct Asserts {
    total: usize,
    reached: usize,
    unreached: Vec<Place>,
}

#[derive(Serialize)]
struct Named {
    name: String,
    location: Option<Place>,
}

#[derive(Serialize)]
struct LineOf {
    file: String,
    line: u32,
}

/// Orderings weaker than `seq_cst`, which the memory model does not tell apart from stronger ones.
#[derive(Serialize)]
struct WeakOrderings {
    explored_as: &'static str,
    /// Does the user's own code use them, or only libraries?
    in_user_code: bool,
    first: Option<Place>,
}

/// What the text says beside the answer.
#[derive(Serialize)]
struct Note {
    kind: &'static str,
    message: String,
    location: Option<Place>,
}

#[derive(Serialize)]
struct Events {
    max: usize,
}

/// What engine `mcr` did besides running executions.
#[derive(Serialize)]
struct Solver {
    queries: u64,
    predicted_races: u64,
    /// Executions that did what another one had done: there should be none.
    duplicates: u64,
}

#[derive(Serialize)]
struct Consistency {
    saturation: u64,
    guided: u64,
    ordered: u64,
    decided_consistent: u64,
    decided_inconsistent: u64,
}

#[derive(Serialize)]
struct Wrong {
    kind: &'static str,
    message: String,
    location: Option<Place>,
    thread: usize,
    /// The last step of `main`, where it has returned before.
    #[serde(skip_serializing_if = "Option::is_none")]
    main_returned_after: Option<usize>,
    /// Of a data race: both accesses, in the order of the execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    accesses: Option<[Access; 2]>,
    /// What stronger orderings would do about it, where they could.
    #[serde(skip_serializing_if = "Option::is_none")]
    orderings: Option<OrderAdvice>,
    trace: Vec<Step>,
}

#[derive(Serialize)]
struct OrderAdvice {
    /// Does sequential consistency allow the execution?
    sequentially_consistent: bool,
    /// Each of these sets of changes alone forbids the execution, or orders the two accesses of a race.
    remedies: Vec<Vec<Change>>,
}

#[derive(Serialize)]
struct Change {
    step: usize,
    operation: &'static str,
    location: Option<Place>,
    from: &'static str,
    to: &'static str,
    /// What to replace in the source, where it names the ordering.
    token: Option<Token>,
}

/// One side of a data race.
#[derive(Serialize)]
struct Access {
    thread: usize,
    step: usize,
    op: &'static str,
    at: Option<Place>,
}

#[derive(Serialize)]
struct Token {
    text: String,
    replacement: String,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct Place {
    file: String,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct Step {
    step: usize,
    thread: usize,
    op: &'static str,
    location: Option<String>,
    /// What was written by a store, and read by all others. Addresses of what has a name are strings.
    value: Value,
    /// Of a compare-exchange: did it write?
    #[serde(skip_serializing_if = "Option::is_none")]
    succeeded: Option<bool>,
    reads_from: Option<usize>,
    /// Of atomic operations and fences; what a compare-exchange has that fails or succeeds like this.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    /// Under C11: the newest write of an earlier step, if the step read an older one, and why nothing orders it before.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_because: Option<String>,
    /// Under C11: the write of an earlier step that comes behind the step's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    older_than: Option<usize>,
    at: Option<Place>,
}

/// The object, ending with a line break.
#[must_use]
pub fn render(report: &Report<'_>, sources: &Sources) -> String {
    let outcome = report.outcome;
    let statistics = &outcome.statistics;
    let writer = Writer {
        program: report.program,
        sources,
    };
    let mut violations = match &outcome.verdict {
        Verdict::Violation(violations) => violations.iter().map(|it| writer.wrong(it)).collect(),
        _ => Vec::new(),
    }
    .into_iter();
    let answer = Answer {
        raddle: env!("CARGO_PKG_VERSION"),
        file: report.file,
        engine: outcome.engine.name(),
        memory: outcome.memory.name(),
        data_model: (report.program.tables().is_ilp32()).then(|| words::data_model(report.program)),
        memory_because: outcome.coverage.memory_because.map(memory_reason),
        verdict: verdict(&outcome.verdict),
        complete: matches!(outcome.verdict, Verdict::Verified(Bound::Complete)),
        bound: match outcome.verdict {
            Verdict::Verified(Bound::UpTo { iterations, .. }) => iterations,
            _ => None,
        },
        thread_bound: match outcome.verdict {
            Verdict::Verified(Bound::UpTo { threads, .. }) => threads,
            _ => None,
        },
        reason: writer.reason(&outcome.verdict),
        reason_kind: reason_kind(&outcome.verdict),
        executions: Executions {
            complete: statistics.complete,
            blocked: statistics.blocked,
            blocked_by: statistics
                .blocked_by
                .iter()
                .map(|(cause, count)| (words::cause_name(cause), count))
                .collect(),
            cut: statistics.cut,
        },
        violation: violations.next(),
        more_violations: violations.collect(),
        unsupported: outcome
            .unsupported()
            .iter()
            .map(|it| writer.out_of_reach(it))
            .collect(),
        threads: statistics.threads,
        events: Events {
            max: statistics.max_events,
        },
        coverage: writer.covered(outcome),
        weak_orderings: writer.weak_orderings(outcome),
        notes: writer.notes(report),
        consistency: match statistics.work {
            Work::Consistency(phases) => Some(Consistency {
                saturation: phases.saturation,
                guided: phases.guided,
                ordered: phases.ordered,
                decided_consistent: phases.decided_consistent,
                decided_inconsistent: phases.decided_inconsistent,
            }),
            _ => None,
        },
        solver: (outcome.engine == EngineKind::Mcr).then_some(Solver {
            queries: statistics.causality().queries,
            predicted_races: statistics.causality().predicted_races,
            duplicates: statistics.causality().duplicates,
        }),
        seconds: statistics.waited().as_secs_f64(),
        seconds_compiling: statistics.preparation.as_secs_f64(),
        verify_sc: VerifySc::of(outcome),
        peak_memory_bytes: statistics.peak_memory_bytes,
    };
    let mut text =
        serde_json::to_string_pretty(&answer).expect("no map with keys that are no strings");
    text.push('\n');
    text
}

/// There are three answers. Input that Raddle cannot run leaves it without one; the exit status tells that from a limit.
fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Violation(_) => "violation",
        Verdict::Verified(_) => "verified",
        Verdict::Inconclusive(_) | Verdict::Unsupported(_) => "inconclusive",
    }
}

/// Why there is no answer. The exit status is 2 for `unsupported`, and 3 for all others.
fn reason_kind(verdict: &Verdict) -> Option<&'static str> {
    Some(match verdict {
        Verdict::Violation(_) | Verdict::Verified(_) => return None,
        Verdict::Unsupported(_) => "unsupported",
        Verdict::Inconclusive(reason) => match reason {
            Reason::Executions { .. } => "execution-limit",
            Reason::Time { .. } => "time-limit",
            Reason::Memory { .. } => "memory-limit",
            Reason::Interrupted { .. } => "interrupted",
            Reason::Effort => "effort",
            Reason::NotLookedFor { .. } => "not-looked-for",
            Reason::Unwritten { .. } => "uninitialised",
            Reason::Unrolled { .. } | Reason::Threads { .. } => "bound",
            Reason::NothingEnds { .. } | Reason::NothingEndsWithin { .. } => "no-end",
            Reason::Thread { .. } => "thread-limit",
        },
    })
}

/// Why a memory model was taken, for scripts. Stable.
fn memory_reason(reason: MemoryReason) -> &'static str {
    match reason {
        MemoryReason::NoAtomics => "no-atomics",
        MemoryReason::AllSeqCst => "all-seq-cst",
        MemoryReason::WeakInLibraries => "weak-in-libraries",
        MemoryReason::EnoughAlready => "decided-under-sc",
        MemoryReason::NotExplored => "c11-not-explored",
        MemoryReason::WeakOrderings => "weak-orderings",
        MemoryReason::LockAttempts => "lock-attempts",
    }
}

struct Writer<'a> {
    program: &'a Program,
    sources: &'a Sources,
}

impl Writer<'_> {
    fn reason(&self, verdict: &Verdict) -> Option<String> {
        let (text, at) = match verdict {
            Verdict::Inconclusive(reason) => {
                let at = match reason {
                    Reason::Thread { at, .. } => *at,
                    _ => SrcId::NOWHERE,
                };
                (words::reason(reason), at)
            }
            Verdict::Unsupported(unsupported) => match unsupported.first() {
                Some(first) => (words::unsupported(&first.what), first.at),
                None => (words::out_of_reach(0), SrcId::NOWHERE),
            },
            Verdict::Violation(_) | Verdict::Verified(_) => return None,
        };
        Some(match self.sources.place(self.program.tables(), at) {
            Some(place) => format!("{place}: {text}"),
            None => text,
        })
    }

    fn out_of_reach(&self, unsupported: &UnsupportedAt) -> OutOfReach {
        OutOfReach {
            message: words::unsupported(&unsupported.what),
            location: self.place(unsupported.at),
            thread: unsupported.thread.index(),
        }
    }

    fn covered(&self, outcome: &Outcome) -> Covered {
        let coverage = &outcome.coverage;
        let code = coverage.code.as_ref();
        Covered {
            threads_started: outcome.statistics.threads.saturating_sub(1),
            ended: coverage.ended,
            cut_at: self.places(coverage.cuts.iter().copied()),
            asserts: code.map(|code| {
                let missed = code.asserts.iter().filter(|site| !site.reached);
                Asserts {
                    total: code.asserts.len(),
                    reached: code.asserts.iter().filter(|site| site.reached).count(),
                    unreached: self.places(missed.map(|site| site.at)),
                }
            }),
            unreached_functions: code.map(|code| {
                let named = |function: &NamedPlace| Named {
                    name: words::function(&function.name),
                    location: self.place(function.at),
                };
                code.unreached_functions.iter().map(named).collect()
            }),
            unreached_lines: code.map(|code| {
                let places = self.places(code.unreached_lines.iter().copied());
                let line = |place: Place| LineOf {
                    file: place.file,
                    line: place.line,
                };
                places.into_iter().map(line).collect()
            }),
        }
    }

    fn weak_orderings(&self, outcome: &Outcome) -> Option<WeakOrderings> {
        let weak = outcome.coverage.weak;
        let first = weak.first()?;
        Some(WeakOrderings {
            explored_as: match outcome.memory {
                MemoryModel::Sc => "seq_cst",
                MemoryModel::Tso | MemoryModel::Pso | MemoryModel::C11 => outcome.memory.name(),
            },
            in_user_code: weak.user.is_some(),
            first: self.place(first),
        })
    }

    fn notes(&self, report: &Report<'_>) -> Vec<Note> {
        let notes = covered::notes(report, self.sources).into_iter();
        let note = |note: covered::Note| Note {
            kind: note.kind,
            message: note.text,
            location: self.place(note.at),
        };
        notes.map(note).collect()
    }

    fn places(&self, places: impl Iterator<Item = SrcId>) -> Vec<Place> {
        places.filter_map(|at| self.place(at)).collect()
    }

    fn wrong(&self, violation: &Violation) -> Wrong {
        let names = Names::new(self.program, &violation.trace);
        Wrong {
            kind: words::violation_kind(&violation.kind),
            message: words::headline(&names, self.program, &violation.kind),
            location: self.place(violation.at),
            thread: names.thread_number(violation.thread),
            main_returned_after: main_returned(self.program, violation).map(|index| index + 1),
            accesses: match &violation.kind {
                ViolationKind::Race(race) => Some([&race.first, &race.second].map(|side| Access {
                    thread: names.thread_number(side.thread),
                    step: side.step + 1,
                    op: op_kind(self.program.op(side.state)),
                    at: self.place(side.at),
                })),
                _ => None,
            },
            orderings: violation.advice.as_ref().map(|it| self.advice(it)),
            trace: self.trace(&names, &violation.trace),
        }
    }

    fn advice(&self, advice: &raddle_judge::OrderAdvice) -> OrderAdvice {
        let change = |it: &Strengthening| {
            let loc = position(self.program.tables(), it.at);
            let token = loc.and_then(|loc| advice::token(self.sources, loc, it.of, it.from, it.to));
            Change {
                step: it.step + 1,
                operation: operation_name(it.of),
                location: self.place(it.at),
                from: order_name(it.from),
                to: order_name(it.to),
                token: token.map(|token| Token {
                    text: token.text,
                    replacement: token.replacement,
                    line: token.line,
                    column: token.column,
                }),
            }
        };
        let sets = advice.remedies.iter();
        OrderAdvice {
            sequentially_consistent: advice.is_sc,
            remedies: sets.map(|set| set.iter().map(change).collect()).collect(),
        }
    }

    fn trace(&self, names: &Names<'_>, trace: &Trace) -> Vec<Step> {
        let step = |(index, step): (usize, &TraceStep)| {
            let op = self.program.op(step.state);
            let [first, failure] = op.orderings();
            let order = match step.wrote {
                None => failure.or(first),
                Some(_) => first,
            };
            let (location, value) = match value_chosen(self.program, &trace.steps, index) {
                Some(value) => (None, value.to_json()),
                None => described(names, op, step),
            };
            Step {
                step: index + 1,
                thread: names.thread_number(step.thread),
                op: match step.effect {
                    Effect::Whole | Effect::Abandoned => op_kind(op),
                    Effect::Delayed => "delayed-store",
                    Effect::Flushed { .. } => "flush",
                },
                location,
                value,
                succeeded: matches!(op, Op::Cas { .. }).then_some(step.wrote.is_some()),
                order: order.map(|(_, order)| order_name(order)),
                stale: step.stale.as_ref().map(|stale| stale.newest + 1),
                stale_because: step
                    .stale
                    .as_ref()
                    .map(|stale| advice::because(names, self.program, trace, index, stale)),
                older_than: step.older_than.map(|index| index + 1),
                reads_from: match step.effect {
                    Effect::Flushed { store } => Some(store as usize + 1),
                    Effect::Whole | Effect::Delayed | Effect::Abandoned => {
                        step.reads_from.map(|index| index + 1)
                    }
                },
                at: self.place(self.program.at(step.state)),
            }
        };
        let steps = trace.steps.iter().enumerate();
        steps
            .filter(|(_, step)| !is_told_elsewhere(self.program, step))
            .map(step)
            .collect()
    }

    fn place(&self, at: SrcId) -> Option<Place> {
        let loc = position(self.program.tables(), at)?;
        Some(Place {
            file: self.sources.display(&loc.file).into_owned(),
            line: loc.line,
            column: loc.column,
        })
    }
}

/// What the operation works on, and the value it wrote (stores) or returned (all others).
fn described(names: &Names<'_>, op: &Op, step: &TraceStep) -> (Option<String>, Value) {
    let at = |loc: LocId, value| {
        let text = names.value(loc, value);
        let value = match text.starts_with('&') {
            true => text.into(),
            false => names.number(loc, value),
        };
        (Some(names.location(loc)), value)
    };
    match *op {
        Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => at(loc, step.value),
        Op::Store { loc, value, .. } => at(loc, value),
        Op::Sync { cell, .. } => (Some(names.location(cell)), step.value.into()),
        Op::Spawn { child: thread, .. } | Op::Join { thread } | Op::Detach { thread } => {
            (Some(names.short(thread)), step.value.into())
        }
        Op::Alloc { object } | Op::Free { object } => {
            (Some(names.object(object)), step.value.into())
        }
        _ => (None, step.value.into()),
    }
}
