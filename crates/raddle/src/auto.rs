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

use crate::check::{Checked, Effort, engine_options, estimating, search_options, solve, source};
use crate::checkpoint;
use crate::error::Error;
use crate::load::{Compiled, Loaded};
use crate::options::Options;
use crate::supervise::Job;
use raddle_bmc::Conflicts;
use raddle_program::{Op, OrderSite, Program, StateId, Unsupported};
use raddle_search::driver::{self, EngineOptions, MilestoneSink, Opinion, SearchOptions};
use raddle_search::parallel::Division;
use raddle_search::{
    EngineKind, MemoryModel, MemoryReason, Outcome, Reason, Reductions, Verdict, choose_engine,
};
use std::cell::{Cell, RefCell};
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
    let began = Instant::now();
    if let Some(by_language) = resumed_by_language(options, job, began, || compiled.load(&source))?
    {
        return Ok(by_language);
    }
    let mut loaded = compiled.load(&source)?;
    let engine = resumed_engine(options)
        .unwrap_or_else(|| choose_engine(&mut loaded.program, options.reductions));
    let answer: Rc<RefCell<Option<Checked>>> = Rc::default();
    let milestones = is_worth_asking(options).then(|| {
        let second = SecondEngine {
            compiled: Rc::clone(&compiled),
            options: options.clone(),
            job: job.clone(),
            answer: Rc::clone(&answer),
            tried: Cell::new(0),
        };
        second.waiting()
    });
    let search = SearchOptions {
        began: Some(began),
        milestones,
        leaves_values_to_formulas: can_ask(options),
        ..search_options(options, job)
    };
    let engine_options = workers(options, &loaded)?;
    let outcome = driver::check_with(&mut loaded.program, engine, engine_options, search)
        .map_err(|error| checkpoint::failed(options, &error))?;
    let answer = answer.take().filter(|_| is_answered(&outcome));
    let (checked, is_explored) = if let Some(mut answered) = answer {
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

/// So many looks around are there before others help, unless the user says otherwise: most searches that a formula answers have reached their first milestone.
const WARM_UP: u32 = 16 * Division::WARM_UP;

/// Who explores.
fn workers(options: &Options, loaded: &Loaded) -> Result<EngineOptions, Error> {
    let mut engine_options = engine_options(options, loaded)?;
    if let (Some(division), None) = (&mut engine_options.division, options.pieces_after) {
        division.warm_up = WARM_UP;
    }
    Ok(engine_options)
}

/// Has the search ended because somebody else had the answer?
fn is_answered(outcome: &Outcome) -> bool {
    match &outcome.verdict {
        Verdict::Inconclusive(reason) => *reason == Reason::Effort,
        _ => outcome.coverage.unfinished == Some(Reason::Effort),
    }
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

fn of_language(options: &Options) -> Options {
    Options {
        memory: MemoryModel::C11,
        ..options.clone()
    }
}

/// Goes on with the exploration of execution graphs, if that is what was kept: it was begun because nothing is wrong under sequential consistency. None
/// if there is none, or if graphs turn out not to be for this program.
fn resumed_by_language(
    options: &Options,
    job: &Job,
    began: Instant,
    load: impl FnOnce() -> Result<Loaded, Error>,
) -> Result<Option<Checked>, Error> {
    let resumed = options.resumed.as_ref();
    let left = resumed.and_then(|it| it.left_of(&of_language(options)));
    if !options.follows_language || left.is_none() {
        return Ok(None);
    }
    let checked = by_language(options, job, began, load()?, None)?;
    let is_answer = !matches!(checked.outcome.verdict, Verdict::Unsupported(_));
    Ok(is_answer.then_some(checked))
}

/// The engine of the search that is taken up.
fn resumed_engine(options: &Options) -> Option<EngineKind> {
    let left = options.resumed.as_ref()?.left_of(options)?;
    let shared = left.shared.as_ref()?;
    // Only `rf` has another one look again.
    Some(match shared.first_look {
        Some(_) => EngineKind::Rf,
        None => shared.engine,
    })
}

/// Explores execution graphs under the memory model of the language.
fn by_language(
    options: &Options,
    job: &Job,
    began: Instant,
    mut loaded: Loaded,
    most: Option<u64>,
) -> Result<Checked, Error> {
    let options = of_language(options);
    let mut search = SearchOptions {
        began: Some(began),
        ..search_options(&options, job)
    };
    search.limits.executions = search.limits.executions.or(most);
    let search = estimating(search, EngineKind::Graph, &loaded);
    let engine_options = engine_options(&options, &loaded)?;
    let program = &mut loaded.program;
    let outcome = driver::check_with(program, EngineKind::Graph, engine_options, search)
        .map_err(|error| checkpoint::failed(&options, &error))?;
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
    // What was kept is of the search before, and stays as it is.
    let options = &Options {
        checkpoint: None,
        resumed: None,
        ..options.clone()
    };
    let engine_options = workers(options, &loaded)?;
    let outcome = driver::check_with(&mut loaded.program, engine, engine_options, search)
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
pub(crate) fn is_worth_asking(options: &Options) -> bool {
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

/// What the formula may cost for each time that the search is as long as at its first milestone: about as much as the executions.
const CONFLICTS_FOR_MILESTONE: Conflicts = 1_250;
/// It is so many times as long when the formula is asked for the first time, and again so many times longer whenever that is done again.
const BEFORE_FORMULA: u64 = 16;
const BETWEEN_FORMULAS: u64 = 8;

/// What it may cost to go through states when that is tried for the first time, at the first milestone: 120 thousand of them, about. Where that answers what is asked, races are not looked for; then formulas are smaller,
/// too, and are asked as often.
pub(crate) const FIRST_STATES: u64 = 1 << 22;
const BETWEEN_STATES: u64 = 4;

/// Engines `states` and `bmc` beside the first one of a portfolio: asked again and again while that explores, each time with leave to take more trouble, until one has an
/// answer. Trouble is counted, not timed: the answer is the same on every machine.
struct SecondEngine {
    compiled: Rc<Compiled>,
    options: Options,
    job: Job,
    /// Speaks of the program that it was formed on.
    answer: Rc<RefCell<Option<Checked>>>,
    /// So many times as long as at its first milestone was the search when they were asked in vain.
    tried: Cell<u64>,
}

impl SecondEngine {
    /// Waits for the first engine to take long.
    fn waiting(self) -> MilestoneSink {
        Box::new(move |times| self.ask(times))
    }

    /// An answer that holds for all executions, or a violation, ends the search; anything else is no help.
    fn ask(&self, times: u64) -> Opinion {
        if self.answer.borrow().is_none() && times > self.tried.get() {
            self.look(times);
        }
        match &*self.answer.borrow() {
            // A search that is done again by one worker is told what it would have been told, and when.
            Some(checked) if times > self.tried.get() => match checked.outcome.verdict {
                Verdict::Violation(_) => Opinion::Wrong,
                _ => Opinion::NothingWrong,
            },
            _ => Opinion::None,
        }
    }

    /// Goes through states first, if that can answer what is asked.
    fn look(&self, times: u64) {
        let mut answer = None;
        if is_about_states(&self.options) && is_among(times, 1, BETWEEN_STATES) {
            let most = FIRST_STATES.saturating_mul(times);
            answer = self.aside(|| by_states(&self.compiled, &self.options, &self.job, Some(most)));
        }
        let (first, factor) = match is_about_states(&self.options) {
            true => (1, BETWEEN_STATES),
            false => (BEFORE_FORMULA, BETWEEN_FORMULAS),
        };
        if answer.is_none() && is_among(times, first, factor) {
            let options = Options {
                progress: false,
                ..for_formulas(&self.options)
            };
            let effort = Effort {
                conflicts: CONFLICTS_FOR_MILESTONE.saturating_mul(times),
                // Making a large formula takes long by itself.
                may_be_large: is_about_states(&self.options) && times > first,
            };
            answer = self.aside(|| solve(&self.compiled, &options, &self.job, Some(effort)));
        }
        match answer {
            Some(_) => *self.answer.borrow_mut() = answer,
            None => self.tried.set(times),
        }
    }

    /// Has somebody else work while the first engine waits: what comes of it, if that is an answer.
    fn aside(&self, work: impl FnOnce() -> Result<Checked, Error>) -> Option<Checked> {
        let watch = &self.job.watch;
        let (phase, engine) = (watch.phase(), watch.engine());
        let checked = work();
        watch.enter(phase);
        engine.inspect(|&engine| watch.set_engine(engine));
        checked.ok().filter(|checked| has_answer(&checked.outcome))
    }
}

/// Engine `states`, with leave for so much effort.
pub(crate) fn by_states(
    compiled: &Compiled,
    options: &Options,
    job: &Job,
    most: Option<u64>,
) -> Result<Checked, Error> {
    let engine = EngineKind::States;
    let options = Options {
        engine: Some(engine),
        progress: false,
        ..options.clone()
    };
    let mut loaded = compiled.load(&source(&options, job))?;
    let search = search_options(&options, job);
    let engine_options = EngineOptions {
        most_effort: most,
        ..EngineOptions::default()
    };
    let outcome = driver::check_with(&mut loaded.program, engine, engine_options, search)
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(Checked { loaded, outcome })
}

/// Is it `first`, or that times a power of `factor`? Who is asked when depends on how long the search is and on nothing else, so that one that is taken up again asks as it would have.
fn is_among(times: u64, first: u64, factor: u64) -> bool {
    std::iter::successors(Some(first), |at| at.checked_mul(factor))
        .take_while(|&at| at <= times)
        .any(|at| at == times)
}

/// Can engine `states` answer what is asked?
pub(crate) fn is_about_states(options: &Options) -> bool {
    !options.checks.races && !options.checks.livelocks
}
