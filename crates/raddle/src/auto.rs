//! `--engine auto` under sequential consistency: executions are explored, and a formula is asked where that takes long or
//! cannot give an answer.
//!
//! If no memory model was asked for, that of the language counts. A program that uses no ordering weaker than `seq_cst` itself, and no attempt to lock that
//! may fail, cannot tell it from sequential consistency (a data race is a violation; docs/soundness.md), and whatever goes wrong under sequential consistency may go wrong under it as well. So
//! execution graphs are explored after that, if such an ordering was met and nothing was found. Where graphs cannot be explored, the answer says that
//! weak orderings were taken for stronger ones.
//!
//! Exploring finds most violations at once and needs no bounds; but the number of executions may be beyond all
//! measure where a solver sees the answer. Who is asked when is decided by counting, so that nothing depends on the machine.

use crate::check::{Checked, engine_options, estimating, search_options, solve, source};
use crate::error::Error;
use crate::load::{Compiled, Loaded};
use crate::options::Options;
use crate::supervise::Job;
use raddle_bmc::Conflicts;
use raddle_program::{Op, OrderSite, Program, StateId, Unsupported};
use raddle_search::driver::{self, MilestoneSink, SearchOptions};
use raddle_search::{
    EngineKind, MemoryModel, MemoryReason, Outcome, Reason, Reductions, Verdict, choose_engine,
};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Instant;

pub(crate) fn check(options: &Options, job: &Job) -> Result<Checked, Error> {
    let mut checked = answered(options, job)?;
    if options.follows_language {
        checked.outcome.coverage.memory_because = Some(reason(&checked));
    }
    Ok(checked)
}

/// Why the answer is about this memory model.
fn reason(checked: &Checked) -> MemoryReason {
    let outcome = &checked.outcome;
    let weak = outcome.coverage.weak;
    let program = &checked.loaded.program;
    let is_weak = |site: &OrderSite| site.order.is_weak();
    match outcome.memory {
        MemoryModel::C11 if program.tables().order_sites().keys().any(is_weak) => {
            MemoryReason::WeakOrderings
        }
        MemoryModel::C11 => MemoryReason::LockAttempts,
        _ if needs_graphs(outcome, program) => MemoryReason::NotExplored,
        _ if weak.user.is_some() => MemoryReason::EnoughAlready,
        _ if weak.library.is_some() => MemoryReason::WeakInLibraries,
        _ if program.tables().has_own_atomics() => MemoryReason::AllSeqCst,
        _ => MemoryReason::NoAtomics,
    }
}

fn answered(options: &Options, job: &Job) -> Result<Checked, Error> {
    let source = source(options, job);
    let compiled = Rc::new(source.compile()?);
    let mut loaded = compiled.load(&source)?;
    let began = Instant::now();
    let engine = choose_engine(&mut loaded.program, options.reductions);
    let answer: Rc<RefCell<Option<Checked>>> = Rc::default();
    let milestones = is_worth_asking(options).then(|| {
        let second = SecondEngine {
            compiled: Rc::clone(&compiled),
            options: options.clone(),
            job: job.clone(),
            answer: Rc::clone(&answer),
        };
        second.waiting()
    });
    let search = SearchOptions {
        began: Some(began),
        milestones,
        leaves_values_to_formulas: can_ask(options),
        ..search_options(options, job)
    };
    let outcome = driver::check(&mut loaded.program, engine, search)
        .map_err(|error| Error::Internal(error.to_string()))?;
    let (checked, is_explored) = if let Some(mut answered) = answer.take() {
        let statistics = &mut answered.outcome.statistics;
        statistics.follow(&outcome.statistics, outcome.engine);
        (answered, false)
    } else if is_for_formulas(&outcome) && can_ask(options) {
        let checked = by_formula(&compiled, options, job, began, &outcome)?;
        if !has_answer(&checked.outcome) {
            let rest = compiled.load(&source)?;
            return explore_the_rest(options, job, engine, began, rest, checked);
        }
        (checked, false)
    } else {
        (Checked { loaded, outcome }, true)
    };
    if !options.follows_language || !needs_graphs(&checked.outcome, &checked.loaded.program) {
        return Ok(checked);
    }
    let again = compiled.load(&source)?;
    let most = (!is_explored).then_some(MOST_AFTER_FORMULA);
    let by_language = by_language(options, job, began, again, most)?;
    Ok(match by_language.outcome.verdict {
        Verdict::Unsupported(_) => checked,
        Verdict::Inconclusive(Reason::Executions { .. }) if !is_explored => checked,
        _ => by_language,
    })
}

/// If a formula has said that nothing is wrong under sequential consistency, there are many executions, or values that cannot all be tried. So many graphs are
/// explored then; if there are more, the answer is the formula's, and says so.
const MOST_AFTER_FORMULA: u64 = 1 << 19;

/// Is nothing wrong under sequential consistency, and could the program tell the model of its language from it?
pub(crate) fn needs_graphs(outcome: &Outcome, program: &Program) -> bool {
    let is_weak = outcome.coverage.weak.user.is_some()
        || outcome.statistics.threads > 1 && program.makes_attempts() && !has_blocks(program);
    is_weak && matches!(outcome.verdict, Verdict::Verified(_))
}

/// Atomic blocks are no part of the language: what they exclude besides each other is known under sequential consistency only.
fn has_blocks(program: &Program) -> bool {
    let mut states = (0..program.state_count()).map(StateId::from_index);
    states.any(|state| *program.op(state) == Op::AtomicBegin)
}

/// Explores execution graphs under the memory model of the language.
fn by_language(
    options: &Options,
    job: &Job,
    began: Instant,
    mut loaded: Loaded,
    most: Option<u64>,
) -> Result<Checked, Error> {
    let options = Options {
        memory: MemoryModel::C11,
        ..options.clone()
    };
    let mut search = SearchOptions {
        began: Some(began),
        ..search_options(&options, job)
    };
    search.limits.executions = search.limits.executions.or(most);
    let search = estimating(search, EngineKind::Graph, &loaded);
    let engine_options = engine_options(&options, &loaded)?;
    let program = &mut loaded.program;
    let outcome = driver::check_with(program, EngineKind::Graph, engine_options, search)
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(Checked { loaded, outcome })
}

pub(crate) fn has_answer(outcome: &Outcome) -> bool {
    matches!(
        outcome.verdict,
        Verdict::Verified(_) | Verdict::Violation(_)
    )
}

/// `bmc` has no answer either: there may still be a violation where no such value is needed. If there is none, what `bmc` says
/// is the answer.
fn explore_the_rest(
    options: &Options,
    job: &Job,
    engine: EngineKind,
    began: Instant,
    mut loaded: Loaded,
    asked: Checked,
) -> Result<Checked, Error> {
    let search = SearchOptions {
        began: Some(began),
        ..search_options(options, job)
    };
    let outcome = driver::check(&mut loaded.program, engine, search)
        .map_err(|error| Error::Internal(error.to_string()))?;
    match outcome.verdict {
        Verdict::Violation(_) => Ok(Checked { loaded, outcome }),
        _ => Ok(asked),
    }
}

/// Can `bmc` do what is asked for?
pub(crate) fn can_ask(options: &Options) -> bool {
    !options.keep_going
        && options.max_executions.is_none()
        && !options.checks.livelocks
        && !options.malloc_may_fail
        && !options.reuse_addresses
}

/// Can it answer for all executions, and is it not the exploration that the user wants to see?
fn is_worth_asking(options: &Options) -> bool {
    can_ask(options) && options.unroll.is_none() && options.reductions == Reductions::default()
}

/// Has the exploration come to a value that it would have to try in all its states?
fn is_for_formulas(outcome: &Outcome) -> bool {
    let is_value = |unsupported: &raddle_search::UnsupportedAt| {
        matches!(unsupported.what, Unsupported::NondetValue { .. })
    };
    matches!(&outcome.verdict, Verdict::Unsupported(unsupported) if unsupported.iter().any(is_value))
}

/// What `bmc` says if memory that nobody has written may hold anything.
pub(crate) fn for_any_bytes(options: &Options, job: &Job) -> Result<Checked, Error> {
    let any = Options {
        any_unwritten: true,
        ..for_formulas(options)
    };
    let compiled = source(&any, job).compile()?;
    let mut checked = solve(&compiled, &any, job, None)?;
    if options.follows_language {
        checked.outcome.coverage.memory_because = Some(reason(&checked));
    }
    Ok(checked)
}

fn by_formula(
    compiled: &Compiled,
    options: &Options,
    job: &Job,
    began: Instant,
    before: &Outcome,
) -> Result<Checked, Error> {
    let mut checked = solve(compiled, &for_formulas(options), job, None)?;
    let mut so_far = before.statistics.clone();
    so_far.elapsed = began.elapsed();
    checked.outcome.statistics.follow(&so_far, before.engine);
    Ok(checked)
}

/// The same question for `bmc`.
fn for_formulas(options: &Options) -> Options {
    Options {
        engine: Some(EngineKind::Bmc),
        ..options.clone()
    }
}

/// What the formula may cost when it is asked for the first time, about as much as the executions before. It grows with their number.
const FIRST_EFFORT: Conflicts = 20_000;

/// Engine `bmc` as the second one of a portfolio: asked again and again while the first explores, each time with leave to take more trouble, until it has an
/// answer. Trouble is counted, not timed: the answer is the same on every machine.
struct SecondEngine {
    compiled: Rc<Compiled>,
    options: Options,
    job: Job,
    /// Speaks of the program that it was formed on.
    answer: Rc<RefCell<Option<Checked>>>,
}

impl SecondEngine {
    /// Waits for the first engine to take long.
    fn waiting(self) -> MilestoneSink {
        Box::new(move |times| self.ask(FIRST_EFFORT.saturating_mul(times)))
    }

    /// An answer that holds for all executions, or a violation, ends the search; anything else is no help.
    fn ask(&self, effort: Conflicts) -> ControlFlow<()> {
        let options = Options {
            progress: false,
            ..for_formulas(&self.options)
        };
        let watch = &self.job.watch;
        let (phase, engine) = (watch.phase(), watch.engine());
        let checked = solve(&self.compiled, &options, &self.job, Some(effort));
        watch.enter(phase);
        engine.inspect(|&engine| watch.set_engine(engine));
        match checked {
            Ok(checked) if has_answer(&checked.outcome) => {
                *self.answer.borrow_mut() = Some(checked);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
