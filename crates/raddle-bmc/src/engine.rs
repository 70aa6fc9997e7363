//! Encode, ask, raise the bound: from a module to an answer.

mod early;

pub use early::{Again, Workers};

use crate::coverage::Ends;
use crate::encode::{
    Answered, Counted, EncodeOptions, Encoder, LAST_BOUND, LATE, LONG, Open, RETRY, Shapes,
};
use crate::events::Encoding;
use crate::facts::Facts;
use crate::guide::Guide;
use crate::problem::{Found, Problem, Unsettled};
use early::{Board, Early, Execution, Full, Recorder, next_after, share_of};
use raddle_judge::guided::Guide as Leads;
use raddle_judge::options::{InternalError, SearchOptions};
use raddle_judge::{
    Bound, Coverage, EngineKind, MemoryModel, Outcome, Phase, Reason, Statistics, Trace,
    UnsupportedAt, Verdict, Watch, guided,
};
use raddle_order::memory::MemoryModel as Model;
use raddle_order::proof::{FormulaNumber, ProofFile};
use raddle_order::{Limits, Stopped};
use raddle_program::interp::SpuriousFailures;
use raddle_program::interp::view::View;
use raddle_program::{
    Program, SourceLoc, SrcId, Stop, ThreadId, ThreadName, Unsupported, WeakOrderings,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Wrong turns of a solver.
pub type Conflicts = u64;

/// How to check.
#[derive(Clone, Copy, Debug)]
pub struct BmcOptions {
    pub memory: MemoryModel,
    /// A bound that the user asked for; otherwise it is raised as long as it does not suffice.
    pub unroll: Option<u32>,
    /// A bound on the threads of an execution.
    pub threads: Option<u32>,
    pub exit_with_main: bool,
    /// May waits for condition variables end without a signal?
    pub spurious_wakeups: bool,
    pub spurious_failures: SpuriousFailures,
    /// May memory hold anything that nobody has written? Otherwise it holds zeros.
    pub any_unwritten: bool,
    /// `abort` ends the process in silence.
    pub silent_abort: bool,
    /// A second opinion: give up if a formula becomes large, if a question takes so many conflicts, or if all of them take [`PROPAGATIONS`] times as many
    /// propagations.
    pub effort: Option<Conflicts>,
    /// Formulas may be large all the same.
    pub may_be_large: bool,
    /// What a question may take, with loops unrolled in full, before every loop is bounded: [`PATIENCE`].
    pub patience: Conflicts,
}

/// Facts stop growing long before.
const MOST_ENCODINGS: u32 = 200;

/// What a conflict takes, mostly.
const PROPAGATIONS: u64 = 250;

/// Most questions take less.
pub const PATIENCE: Conflicts = 200;
/// What part of the effort is for executions in which no loop goes round often, once questions are hard.
const SHARE_OF_EARLY: Conflicts = 4;

/// What is spent on finding out whether an execution comes to its end, where the verdict does not depend on it.
const CONFLICTS_FOR_AN_END: u64 = 20_000;

/// Checks a module. `view` and `program` must be of the same module; `program` is for replaying.
pub fn check(
    view: View,
    program: &mut Program,
    options: BmcOptions,
    search: SearchOptions,
) -> Result<Outcome, InternalError> {
    check_with(view, program, options, search, None, None)
}

/// As [`check`]: with others who may help, which changes no answer, and writing down what `verified` rests on.
pub fn check_with(
    mut view: View,
    program: &mut Program,
    options: BmcOptions,
    search: SearchOptions,
    workers: Option<Workers>,
    proof: Option<ProofFile>,
) -> Result<Outcome, InternalError> {
    let mut run = Run {
        started: Instant::now(),
        options,
        watch: search.watch(),
        search,
        statistics: Statistics {
            threads: 1,
            ..Statistics::default()
        },
        ends: Ends::None,
        cuts: Vec::new(),
        crowded: None,
        crowds: Vec::new(),
        weak: WeakOrderings::default(),
        shapes: Shapes::default(),
        patience: Patience::Endless,
        propagations: options
            .effort
            .map(|conflicts| AtomicU64::new(conflicts.saturating_mul(PROPAGATIONS))),
        proof,
        answered: Vec::new(),
        workers,
        execution: None,
        board: None,
    };
    run.watch.set_engine(EngineKind::Bmc);
    let verdict = run.verdict(&mut view, program)?;
    if let (Some(proof), Verdict::Verified(bound)) = (&run.proof, &verdict) {
        proof.answer(*bound == Bound::Complete, &run.answered);
    }
    if matches!(verdict, Verdict::Inconclusive(_)) {
        run.statistics.threads = run.statistics.threads.max(run.watch.threads());
    }
    run.statistics.elapsed = run.started.elapsed();
    run.statistics.peak_memory_bytes = raddle_judge::peak_memory_bytes();
    // An answer for all executions is cut nowhere, whichever bounds led to it.
    if verdict == Verdict::Verified(Bound::Complete) {
        run.cuts.clear();
    }
    let coverage = Coverage {
        ended: run.ended(&verdict),
        cuts: [run.cuts, run.crowds].concat(),
        weak: run.weak,
        ..Coverage::default()
    };
    Ok(Outcome {
        engine: EngineKind::Bmc,
        memory: options.memory,
        verdict,
        statistics: run.statistics,
        coverage,
    })
}

struct Run {
    started: Instant,
    options: BmcOptions,
    search: SearchOptions,
    watch: Arc<Watch>,
    statistics: Statistics,
    /// Of all executions that formulas were about so far.
    ends: Ends,
    /// Where an execution exceeds the bound that the user asked for.
    cuts: Vec<SrcId>,
    /// The bound on threads, if an execution exceeds it.
    crowded: Option<u32>,
    /// Where one does.
    crowds: Vec<SrcId>,
    weak: WeakOrderings,
    shapes: Shapes,
    patience: Patience,
    /// What is left of a second opinion's effort.
    propagations: Option<AtomicU64>,
    proof: Option<ProofFile>,
    /// The formulas of which every question was answered by no, where proofs are written.
    answered: Vec<FormulaNumber>,
    /// Who may help; none on the side that helps.
    workers: Option<Workers>,
    /// What that side has found last.
    execution: Option<Execution>,
    /// Where the two sides meet, while they are at work.
    board: Option<Arc<Board>>,
}

/// What is spent on a formula. What was asked for by [`BmcOptions::effort`] holds besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// No formula is too large, and no question takes too long.
    Endless,
    /// The formula must not be large, and no question may take more conflicts than this.
    Short(Conflicts),
}

/// Which rounds of loops a formula has.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    counted: Counted,
    bound: u32,
}

/// What one bound says.
enum BoundOutcome {
    Done(Verdict),
    /// Nothing to report, but some execution goes beyond the bound, or beyond a larger one that does not grow with it.
    Exceeded {
        open: Open,
        least: u32,
    },
}

/// An execution goes beyond the bound.
struct Exceeded {
    /// The least bound that some execution exceeds.
    least: u32,
    /// Where this one does.
    at: Vec<SrcId>,
}

impl Run {
    fn verdict(
        &mut self,
        view: &mut View,
        program: &mut Program,
    ) -> Result<Verdict, InternalError> {
        if let Some(bound) = self.options.unroll {
            let rounds = Rounds {
                counted: Counted::Every,
                bound,
            };
            return Ok(
                match self.ask_about(view, program, rounds, &Open::Everything)? {
                    BoundOutcome::Done(verdict) => verdict,
                    BoundOutcome::Exceeded { .. } => self.verified(Some(bound)),
                },
            );
        }
        let mut bound = 1;
        let mut open = Open::Everything;
        loop {
            open = match self.ask_about_undecided(view, program, bound, &open)? {
                BoundOutcome::Done(verdict) => return Ok(verdict),
                BoundOutcome::Exceeded { least, .. } if least >= LAST_BOUND => {
                    return Ok(Verdict::Inconclusive(Reason::Unrolled { bound: least }));
                }
                BoundOutcome::Exceeded { open, .. } => open,
            };
            bound *= 2;
        }
    }

    /// Loops that go round by known values are unrolled in full. If that makes a large formula, or one that is hard, violations
    /// are looked for in executions in which no loop goes round often; the two take turns.
    fn ask_about_undecided(
        &mut self,
        view: &mut View,
        program: &mut Program,
        bound: u32,
        open: &Open,
    ) -> Result<BoundOutcome, InternalError> {
        let rounds = Rounds {
            counted: Counted::Undecided,
            bound,
        };
        let mut early = Early::new(open);
        self.patience = Patience::Short(Conflicts::MAX);
        let mut problem = match self.formula(view, program, rounds, open) {
            Ok(problem) => problem,
            Err(Verdict::Inconclusive(Reason::Effort)) => {
                self.patience = Patience::Endless;
                let verdict = self.ask_about_early(view, program, &mut early)?;
                return Ok(BoundOutcome::Done(verdict));
            }
            Err(verdict) => return Ok(BoundOutcome::Done(verdict)),
        };
        let mut conflicts = self.options.patience;
        loop {
            self.patience = Patience::Short(conflicts);
            self.watch.enter(Phase::Solving);
            match self.ask(view, program, &mut problem, rounds)? {
                BoundOutcome::Done(Verdict::Inconclusive(Reason::Effort))
                    if self.options.effort.is_none_or(|most| conflicts < most)
                        && !self.is_exhausted() => {}
                outcome => return Ok(outcome),
            }
            let mut full = Full {
                view,
                problem: &mut problem,
                rounds,
                conflicts,
            };
            if let Some(outcome) = self.ask_both_sides(program, &mut full, open)? {
                return Ok(outcome);
            }
            self.patience = share_of(conflicts);
            match self.ask_about_early(view, program, &mut early)? {
                Verdict::Inconclusive(Reason::Effort) | Verdict::Unsupported(_) => {}
                verdict => return Ok(BoundOutcome::Done(verdict)),
            }
            conflicts = next_after(conflicts);
        }
    }

    /// Bounds every loop, and raises the bound as long as it does not suffice.
    fn ask_about_early(
        &mut self,
        view: &mut View,
        program: &mut Program,
        early: &mut Early,
    ) -> Result<Verdict, InternalError> {
        loop {
            early.open = match self.ask_about(view, program, early.rounds, &early.open)? {
                BoundOutcome::Done(verdict) => return Ok(verdict),
                BoundOutcome::Exceeded { least, .. } if least < early.rounds.bound => {
                    return Ok(Verdict::Inconclusive(Reason::Unrolled { bound: least }));
                }
                BoundOutcome::Exceeded { open, .. } => open,
            };
            early.rounds.bound *= 2;
        }
    }

    /// Nothing goes wrong. That says something only if something comes to its end.
    fn verified(&self, iterations: Option<u32>) -> Verdict {
        match self.ends {
            Ends::None => Verdict::Inconclusive(Reason::nothing_ends(iterations, self.crowded)),
            Ends::Some | Ends::Unknown => Verdict::Verified(Bound::of(iterations, self.crowded)),
        }
    }

    /// Did some execution come to its end, as far as the answer tells?
    fn ended(&self, verdict: &Verdict) -> Option<bool> {
        match (verdict, self.ends) {
            (Verdict::Violation(_) | Verdict::Unsupported(_), _) | (_, Ends::Unknown) => None,
            (_, Ends::Some) => Some(true),
            (
                Verdict::Inconclusive(
                    Reason::NothingEnds { .. } | Reason::NothingEndsWithin { .. },
                ),
                Ends::None,
            ) => Some(false),
            (_, Ends::None) => None,
        }
    }

    fn limits(&self) -> Limits<'_> {
        let patience = match self.patience {
            Patience::Endless => None,
            Patience::Short(conflicts) => Some(conflicts),
        };
        Limits {
            conflicts: self.options.effort.into_iter().chain(patience).min(),
            propagations: self.propagations.as_ref(),
            deadline: self.watch.deadline(),
            interrupt: Some(self.watch.flag()),
            needless: self.board.as_deref().map(Board::has_answer),
        }
    }

    /// Is nothing left of a second opinion's effort?
    fn is_exhausted(&self) -> bool {
        let left = self.propagations.as_ref();
        left.is_some_and(|left| left.load(Ordering::Relaxed) == 0)
    }

    fn is_needless(&self) -> bool {
        let board = self.board.as_deref();
        board.is_some_and(|it| it.has_answer().load(Ordering::Relaxed))
    }

    /// The answer of a solver that was stopped.
    fn stopped(&self, why: Stopped) -> Verdict {
        match why {
            Stopped::Conflicts => Verdict::Inconclusive(Reason::Effort),
            // The other side has it.
            Stopped::Interrupted if self.is_needless() && !self.watch.is_over() => {
                Verdict::Inconclusive(Reason::Effort)
            }
            Stopped::Deadline | Stopped::Interrupted => self.late(),
        }
    }

    /// The answer where the time is over, or there is another reason to stop.
    fn late(&self) -> Verdict {
        let is_over = self.watch.is_over();
        debug_assert!(is_over, "only the watch says when to stop");
        Verdict::Inconclusive(self.watch.reason().unwrap_or(Reason::Effort))
    }

    /// Encodes until nothing new is found out.
    fn encode(&mut self, view: &mut View, rounds: Rounds, open: &Open) -> Result<Encoding, Stop> {
        let mut facts = Facts::new(view.tables().is_ilp32());
        let options = EncodeOptions {
            unroll: rounds.bound,
            counted: rounds.counted,
            threads: self.options.threads,
            open,
            checks: self.search.checks,
            cuts_effect_free: self.search.reductions.purity,
            is_weak: self.options.memory != MemoryModel::Sc,
            exit_with_main: self.options.exit_with_main,
            spurious_wakeups: self.options.spurious_wakeups,
            spurious_failures: self.options.spurious_failures,
            any_unwritten: self.options.any_unwritten,
            silent_abort: self.options.silent_abort,
            watch: &self.watch,
            is_short: self.options.effort.is_some() && !self.options.may_be_large
                || self.patience != Patience::Endless,
        };
        for _ in 0..MOST_ENCODINGS {
            let encoder = Encoder::new(view, &mut facts, &mut self.shapes, options);
            let encoding = match encoder.run() {
                Err(Stop::Limit(RETRY)) => {
                    facts.take_changed();
                    continue;
                }
                other => other?,
            };
            if !facts.take_changed() {
                return Ok(encoding);
            }
        }
        Err(Stop::Limit(RETRY))
    }

    fn ask_about(
        &mut self,
        view: &mut View,
        program: &mut Program,
        rounds: Rounds,
        open: &Open,
    ) -> Result<BoundOutcome, InternalError> {
        match self.formula(view, program, rounds, open) {
            Ok(mut problem) => self.ask(view, program, &mut problem, rounds),
            Err(verdict) => Ok(BoundOutcome::Done(verdict)),
        }
    }

    /// All executions with these rounds that are still open.
    fn formula(
        &mut self,
        view: &mut View,
        program: &mut Program,
        rounds: Rounds,
        open: &Open,
    ) -> Result<Problem, Verdict> {
        self.watch.enter(Phase::Encoding);
        let encoding = match self.encode(view, rounds, open) {
            Ok(encoding) => encoding,
            Err(Stop::Limit(LONG)) => return Err(Verdict::Inconclusive(Reason::Effort)),
            Err(Stop::Limit(LATE)) => return Err(self.late()),
            Err(stop) => return Err(unsupported(stop)),
        };
        self.statistics.threads = self.statistics.threads.max(encoding.threads.len());
        self.statistics.max_events = self.statistics.max_events.max(encoding.steps.len());
        // A thread that is alone sees its own writes in order, whatever their orderings.
        if encoding.threads.len() > 1 {
            let mut place = |at: SrcId| copy_source(view, program, at);
            self.weak = WeakOrderings {
                user: encoding.weak.user.map(&mut place),
                library: encoding.weak.library.map(&mut place),
            };
        }
        let model = match self.options.memory {
            MemoryModel::Sc => Model::Sc,
            MemoryModel::Tso => Model::Tso,
            MemoryModel::Pso => Model::Pso,
            MemoryModel::C11 => unreachable!("bmc does not support it: EngineKind::supports"),
        };
        let mut problem = Problem::new(
            encoding,
            model,
            self.search.checks,
            view.tables().release_sequences,
            self.proof.as_ref().map(|file| {
                file.comment(&format!("the next formula has {rounds:?}"));
                file.formula()
            }),
        );
        problem.leave_out_what_was_judged(open);
        self.watch.enter(Phase::Solving);
        Ok(problem)
    }

    /// Asks a formula all questions. What goes wrong is reported before what is refused.
    fn ask(
        &mut self,
        view: &View,
        program: &mut Program,
        problem: &mut Problem,
        rounds: Rounds,
    ) -> Result<BoundOutcome, InternalError> {
        let checks = self.search.checks;
        let done = |verdict| Ok(BoundOutcome::Done(verdict));
        let fault = match problem.ask_for_fault(checks, &self.limits()) {
            Ok(never) => never,
            Err(Unsettled::GaveUp(why)) => return done(self.stopped(why)),
            Err(Unsettled::Found) => {
                let found = problem.found();
                return done(self.confirm(view, program, problem, found)?);
            }
        };
        let deadlock = match problem.ask_for_deadlock(false, &self.limits()) {
            Ok(never) => never,
            Err(Unsettled::GaveUp(why)) => return done(self.stopped(why)),
            Err(Unsettled::Found) => {
                return done(self.confirm_deadlock(view, program, problem)?);
            }
        };
        let may_spin = match problem.ask_for_deadlock(true, &self.limits()) {
            Ok(_) => false,
            Err(Unsettled::GaveUp(why)) => return done(self.stopped(why)),
            Err(Unsettled::Found) => match self.confirm_deadlock(view, program, problem) {
                // The formula knows less of loops than the machine: whether one looks at memory at all, say.
                Err(InternalError::Diverged { .. }) => true,
                confirmed => return done(confirmed?),
            },
        };
        let rest = match problem.ask_for_refusal(&self.limits()) {
            Ok(never) => self
                .exceeded(view, program, problem, rounds)
                .map(|cut| (never, cut)),
            Err(Unsettled::GaveUp(why)) => Err(self.stopped(why)),
            Err(Unsettled::Found) => Err(match problem.first_refusal().what {
                Unsupported::Threads { most } => Verdict::Inconclusive(Reason::Threads { most }),
                _ => problem.unsupported(view, program),
            }),
        };
        let race = match problem.ask_for_race(checks, &self.limits()) {
            Ok(never) => never,
            Err(Unsettled::GaveUp(why)) => return done(self.stopped(why)),
            Err(Unsettled::Found) => {
                let found = problem.found();
                return done(self.confirm(view, program, problem, found)?);
            }
        };
        let (refusal, cut) = match rest {
            Ok(rest) => rest,
            Err(verdict) => return done(verdict),
        };
        if may_spin {
            let what = "threads that go round loops for good";
            return done(Verdict::Inconclusive(Reason::NotLookedFor { what }));
        }
        self.answered
            .extend(problem.solver.proof().map(|proof| proof.number()));
        let answered = Answered {
            fault,
            deadlock,
            race,
            refusal,
        };
        self.look_for_more_threads(view, program, problem);
        // A bound that the user asked for is an answer only if something ends within it.
        let matters = cut.is_some() && self.options.unroll.is_some() || self.crowded.is_some();
        match (self.look_for_an_end(problem, matters), cut) {
            (Err(why), _) if matters => done(self.stopped(why)),
            (_, None) => done(self.verified(None)),
            (_, Some(cut)) => {
                self.cuts = cut.at;
                Ok(BoundOutcome::Exceeded {
                    open: Open::after(answered, &mut problem.encoding.cuts),
                    least: cut.least,
                })
            }
        }
    }

    /// Does an execution of this formula exceed the bound on threads? Whoever cannot tell says that it does: that claims less.
    fn look_for_more_threads(&mut self, view: &View, program: &mut Program, problem: &mut Problem) {
        if self.crowded.is_some() || self.options.threads.is_none() {
            return;
        }
        let effort = self.options.effort.unwrap_or(CONFLICTS_FOR_AN_END);
        let limits = Limits {
            conflicts: Some(effort),
            ..self.limits()
        };
        match problem.ask_for_more_threads(&limits) {
            Ok(_) => {}
            Err(Unsettled::GaveUp(_)) => self.crowded = self.options.threads,
            Err(Unsettled::Found) => {
                self.crowded = self.options.threads;
                let at = problem.found_crowds().into_iter();
                self.crowds = at.map(|at| copy_source(view, program, at)).collect();
            }
        }
    }

    /// Is the bound exceeded? Limits that are not the user's bound are no answer to who asked for one.
    fn exceeded(
        &self,
        view: &View,
        program: &mut Program,
        problem: &mut Problem,
        Rounds { counted, bound }: Rounds,
    ) -> Result<Option<Exceeded>, Verdict> {
        if counted == Counted::Every {
            match problem.ask_for_cut(bound + 1, &self.limits()) {
                Ok(_) => {}
                Err(Unsettled::GaveUp(why)) => return Err(self.stopped(why)),
                Err(Unsettled::Found) => {
                    let bound = problem.encoding.cuts.least(bound + 1);
                    return Err(Verdict::Inconclusive(Reason::Unrolled { bound }));
                }
            }
        }
        // Bounds on loops that are known to end go on growing where others do not.
        let growing = (counted == Counted::Early).then_some(bound);
        for bound in growing.into_iter().chain([0]) {
            match problem.ask_for_cut(bound, &self.limits()) {
                Ok(_) => {}
                Err(Unsettled::GaveUp(why)) => return Err(self.stopped(why)),
                Err(Unsettled::Found) => {
                    let at = problem.found_cuts().into_iter();
                    return Ok(Some(Exceeded {
                        least: problem.encoding.cuts.least(bound),
                        at: at.map(|at| copy_source(view, program, at)).collect(),
                    }));
                }
            }
        }
        Ok(None)
    }

    /// Does an execution that this formula is about come to its end? All others are what earlier formulas were about.
    fn look_for_an_end(&mut self, problem: &mut Problem, matters: bool) -> Result<(), Stopped> {
        if self.ends == Ends::Some {
            return Ok(());
        }
        let limits = self.limits();
        let effort = (!matters).then_some(CONFLICTS_FOR_AN_END);
        let conflicts = self.options.effort.into_iter().chain(effort).min();
        match problem.ask_for_end(&Limits {
            conflicts,
            ..limits
        }) {
            Ok(Ends::Some) => self.ends = Ends::Some,
            Ok(_) => {}
            Err(why) => {
                self.ends = Ends::Unknown;
                return Err(why);
            }
        }
        Ok(())
    }

    /// Runs the execution that was found, and all threads to their ends.
    fn confirm_deadlock(
        &mut self,
        view: &View,
        program: &mut Program,
        problem: &Problem,
    ) -> Result<Verdict, InternalError> {
        let mut found = problem.found();
        found.wrong = (0..problem.encoding.threads.len()).collect();
        self.confirm(view, program, problem, found)
    }

    /// Runs the execution that was found.
    fn confirm(
        &mut self,
        view: &View,
        program: &mut Program,
        problem: &Problem,
        found: Found,
    ) -> Result<Verdict, InternalError> {
        // What is not told must leave no trace in the program.
        if let Some(board) = &self.board
            && board.is_overtaken(&self.watch)
        {
            return Ok(Verdict::Inconclusive(Reason::Effort));
        }
        self.watch.enter(Phase::Replaying);
        program.assume_first_bytes(found.first_bytes.clone());
        if problem.encoding.reads_kinds {
            program.read_kinds();
        }
        let mut guide = Guide::new(&problem.encoding, view.tables(), found);
        let mut recorder = Recorder {
            guide: &mut guide,
            steps: Vec::new(),
        };
        let verdict = self.judge(program, &mut recorder)?;
        self.keep(program, recorder);
        let lost = guide.lost;
        let lost = lost.unwrap_or_else(|| "nothing went wrong".to_owned());
        self.confirmed(program, verdict, lost)
    }

    /// Runs an execution, and says what is wrong with it.
    fn judge(
        &mut self,
        program: &mut Program,
        guide: &mut impl Leads,
    ) -> Result<Verdict, InternalError> {
        let options = SearchOptions {
            checks: self.search.checks,
            memory: self.options.memory,
            watch: Some(Arc::clone(&self.watch)),
            reproduced: self.search.reproduced.take(),
            ..SearchOptions::default()
        };
        let outcome = guided::run(program, EngineKind::Bmc, options, guide)?;
        if let Verdict::Violation(_) = outcome.verdict {
            self.statistics.blocked = 1;
            self.statistics.max_events = outcome.statistics.max_events;
            self.statistics.states = outcome.statistics.states;
        }
        Ok(outcome.verdict)
    }

    /// What is made of an execution that should be a violation.
    fn confirmed(
        &self,
        program: &Program,
        verdict: Verdict,
        lost: String,
    ) -> Result<Verdict, InternalError> {
        match verdict {
            Verdict::Violation(_) => Ok(verdict),
            Verdict::Inconclusive(_) if self.watch.is_raised() => Ok(self.late()),
            // An address that the formula has for an object need not be the program's: what nobody has written may be one by chance.
            _ if !program.first_bytes().is_empty() => {
                let what = "what depends on memory that nobody has written";
                Ok(Verdict::Inconclusive(Reason::NotLookedFor { what }))
            }
            _ => Err(InternalError::Diverged { what: lost }),
        }
    }
}

/// The answer where a program cannot be encoded at all.
fn unsupported(stop: Stop) -> Verdict {
    match stop {
        Stop::Unsupported(what) => Verdict::Unsupported(vec![UnsupportedAt {
            what,
            thread: ThreadId::MAIN,
            at: SrcId::NOWHERE,
            trace: Trace::default(),
        }]),
        Stop::Limit(limit) => Verdict::Inconclusive(Reason::Thread {
            limit,
            thread: ThreadName::default(),
            at: SrcId::NOWHERE,
        }),
        Stop::Fault(_) | Stop::WokenInVain | Stop::FailedInVain | Stop::Noticed => {
            unreachable!("they are part of the encoding")
        }
    }
}

/// A source position of the view in the tables of the program.
fn copy_source(view: &View, program: &mut Program, at: SrcId) -> SrcId {
    let Some(loc) = view.tables().source_loc(at).cloned() else {
        return SrcId::NOWHERE;
    };
    let inlined_at = loc
        .inlined_at
        .map(|outer| copy_source(view, program, outer));
    program.intern_source(SourceLoc { inlined_at, ..loc })
}

impl Problem {
    /// What is beyond this engine in the execution that was found.
    fn unsupported(&self, view: &View, program: &mut Program) -> Verdict {
        let refusal = self.first_refusal();
        // The report knows the program's names, not the view's.
        let handle = view.tables().handle_of_thread(refusal.thread);
        let thread = program.tables().thread_of_handle(handle);
        Verdict::Unsupported(vec![UnsupportedAt {
            what: refusal.what.clone(),
            thread: thread.unwrap_or(ThreadId::MAIN),
            at: copy_source(view, program, refusal.at),
            trace: Trace::default(),
        }])
    }
}
