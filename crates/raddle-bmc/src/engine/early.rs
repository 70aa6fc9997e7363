//! Formulas in which every loop is bounded, beside the one in which loops are unrolled in full: turn by turn, or at the same time.
//!
//! The two take turns (docs/engines/bmc-bound.md), each time with leave for more conflicts: the full formula h₀, then e₀, h₁, e₁, and so on. What comes of a turn is a function of the
//! turns before it *on its own side*: each side has a view, a program and solvers of its own, and efforts are counted in conflicts. So with two workers each goes through its
//! turns without waiting for the other, and the answer is that of the first turn in this order that has one: a turn that has an answer waits for those before it, and
//! those behind it do not count. Nothing that is told depends on who was faster.
//!
//! Ids mean something to one side only. What the other one finds is handed over in names that mean the same to both, and run again.

use super::{BoundOutcome, Conflicts, PATIENCE, Patience, Rounds, Run, SHARE_OF_EARLY};
use crate::BmcOptions;
use crate::coverage::Ends;
use crate::encode::{Counted, Open, Shapes};
use crate::problem::Problem;
use raddle_judge::guided::Guide;
use raddle_judge::options::{InternalError, SearchOptions};
use raddle_judge::replay::{Schedule, ScheduleStep};
use raddle_judge::{Bound, Checks, Phase, Reason, Reductions, Statistics, Verdict, Watch};
use raddle_memory::Machine;
use raddle_program::interp::view::View;
use raddle_program::{FirstBytes, Program, SrcId, ThreadId, ThreadName, WeakOrderings};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Makes the module that is looked at, and a program of it for replaying, in any thread.
pub type Again = Arc<dyn Fn() -> Option<(View, Program)> + Send + Sync>;

/// Who may help.
#[derive(Clone)]
pub struct Workers {
    pub again: Again,
    /// Two at most have something to do; 0 is as good as 1.
    pub jobs: usize,
}

/// Whoever waits for the other side looks this often whether there is a reason to stop.
const MOMENT: Duration = Duration::from_millis(10);
/// Encoding goes as deep as the calls of a program.
const STACK_BYTES: usize = 256 << 20;

/// How far bounds on every loop have come.
pub(super) struct Early {
    pub(super) open: Open,
    pub(super) rounds: Rounds,
}

impl Early {
    pub(super) fn new(open: &Open) -> Self {
        Self {
            open: open.clone(),
            rounds: Rounds {
                counted: Counted::Early,
                bound: 1,
            },
        }
    }
}

/// What a turn may take if the one of the full formula before it might take so much.
pub(super) fn share_of(conflicts: Conflicts) -> Patience {
    Patience::Short(PATIENCE.max(conflicts / SHARE_OF_EARLY))
}

/// What the next turn of the full formula may take.
pub(super) fn next_after(conflicts: Conflicts) -> Conflicts {
    PATIENCE.max(conflicts).saturating_mul(4)
}

/// An execution in names that mean the same in every program.
#[derive(Debug)]
pub(super) struct Execution {
    schedule: Schedule<ThreadName>,
    first_bytes: FirstBytes,
    reads_kinds: bool,
}

/// What came of a turn.
#[derive(Debug)]
enum Said {
    /// Nothing yet: the effort did not suffice, or something is met that a larger formula may know.
    Nothing,
    Verified(Bound),
    Inconclusive(Reason),
    Found(Execution),
    Failed(String),
}

#[derive(Debug)]
struct Turn {
    said: Said,
    /// What was counted and found out up to now.
    threads: usize,
    max_events: usize,
    seen_threads: usize,
    ends: Ends,
}

impl Turn {
    fn is_last(&self) -> bool {
        !matches!(self.said, Said::Nothing)
    }
}

/// What the other side is made of.
struct Seed {
    again: Again,
    started: Instant,
    options: BmcOptions,
    checks: Checks,
    reductions: Reductions,
    ends: Ends,
    open: Open,
}

/// The other side.
struct Side {
    view: View,
    program: Program,
    run: Run,
    early: Early,
}

impl Seed {
    fn side(self, watch: Arc<Watch>) -> Option<Side> {
        let (view, program) = (self.again)()?;
        let run = Run {
            started: self.started,
            options: self.options,
            search: SearchOptions {
                checks: self.checks,
                reductions: self.reductions,
                ..SearchOptions::default()
            },
            watch,
            statistics: Statistics {
                threads: 1,
                ..Statistics::default()
            },
            ends: self.ends,
            cuts: Vec::new(),
            crowded: None,
            crowds: Vec::new(),
            weak: WeakOrderings::default(),
            shapes: Shapes::default(),
            patience: Patience::Endless,
            propagations: None,
            proof: None,
            answered: Vec::new(),
            workers: None,
            execution: None,
            board: None,
        };
        Some(Side {
            view,
            program,
            run,
            early: Early::new(&self.open),
        })
    }
}

impl Side {
    fn turn(&mut self, patience: Patience) -> Turn {
        self.run.patience = patience;
        let (view, program) = (&mut self.view, &mut self.program);
        let said = match self.run.ask_about_early(view, program, &mut self.early) {
            Ok(Verdict::Inconclusive(Reason::Effort) | Verdict::Unsupported(_)) => Said::Nothing,
            Ok(Verdict::Verified(bound)) => Said::Verified(bound),
            Ok(Verdict::Inconclusive(reason)) => Said::Inconclusive(reason),
            Ok(Verdict::Violation(_)) => match self.run.execution.take() {
                Some(execution) => Said::Found(execution),
                None => Said::Failed("a violation without an execution".to_owned()),
            },
            Err(InternalError::Diverged { what }) => Said::Failed(what),
            Err(error) => Said::Failed(error.to_string()),
        };
        Turn {
            said,
            threads: self.run.statistics.threads,
            max_events: self.run.statistics.max_events,
            seen_threads: self.run.watch.threads(),
            ends: self.run.ends,
        }
    }
}

/// Where the two sides meet.
#[derive(Default)]
pub(super) struct Board {
    turns: Mutex<Turns>,
    changed: Condvar,
    /// One of the turns that come before what the full formula is at has an answer.
    has_answer: AtomicBool,
}

#[derive(Default)]
struct Turns {
    /// Those that were taken, and not looked at yet.
    taken: VecDeque<Turn>,
    /// How many turns come before what the full formula is at, of those that were not looked at yet.
    due: usize,
    is_closed: bool,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, turn: Turn) {
        let mut turns = self.lock();
        let is_due = turns.taken.len() < turns.due;
        if turn.is_last() && is_due {
            self.has_answer.store(true, Ordering::Relaxed);
        }
        turns.taken.push_back(turn);
        drop(turns);
        self.changed.notify_all();
    }

    pub(super) fn has_answer(&self) -> &AtomicBool {
        &self.has_answer
    }

    /// Has one of the turns that come before what the full formula is at an answer? Waits for them.
    pub(super) fn is_overtaken(&self, watch: &Watch) -> bool {
        let mut turns = self.lock();
        loop {
            if turns.taken.iter().take(turns.due).any(Turn::is_last) {
                return true;
            }
            if turns.taken.len() >= turns.due || turns.is_closed || watch.is_over() {
                return false;
            }
            let waited = self.changed.wait_timeout(turns, MOMENT);
            turns = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// One more turn comes before what the full formula begins with now.
    fn expect_another(&self) {
        self.lock().due += 1;
    }

    /// The next turn that comes before what the full formula is at, if it was taken. To be waited for: until it was, or nobody takes it any more, or there is
    /// a reason to stop.
    fn next_due(&self, waits_with: Option<&Watch>) -> Option<Turn> {
        let mut turns = self.lock();
        loop {
            if turns.due == 0 {
                return None;
            }
            if let Some(turn) = turns.taken.pop_front() {
                turns.due -= 1;
                return Some(turn);
            }
            let watch = waits_with?;
            if turns.is_closed || watch.is_over() {
                return None;
            }
            let waited = self.changed.wait_timeout(turns, MOMENT);
            turns = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Nobody waits for somebody who has left, in whatever way.
struct Closing<'a>(&'a Board);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Whoever leaves the full formula has no use for the other side.
struct Ending<'a>(&'a Watch);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.raise(raddle_judge::watch::Cause::Interrupted);
    }
}

/// See [`Run::told`].
struct ToldSoFar {
    statistics: Statistics,
    cuts: Vec<SrcId>,
    ends: Ends,
}

/// The full formula, which has had its first turn.
pub(super) struct Full<'a> {
    pub(super) view: &'a View,
    pub(super) problem: &'a mut Problem,
    pub(super) rounds: Rounds,
    pub(super) conflicts: Conflicts,
}

impl Run {
    /// Has the two sides views of their own? Not where one writes a proof, which is one file, nor where effort is shared or the bound on threads is told of.
    fn has_sides(&self) -> bool {
        self.options.effort.is_none() && self.options.threads.is_none() && self.proof.is_none()
    }

    /// The other turns, after the first one of the full formula. None if there are no two sides.
    pub(super) fn ask_both_sides(
        &mut self,
        program: &mut Program,
        full: &mut Full<'_>,
        open: &Open,
    ) -> Result<Option<BoundOutcome>, InternalError> {
        let Some(workers) = self.workers.clone().filter(|_| self.has_sides()) else {
            return Ok(None);
        };
        let seed = Seed {
            again: workers.again,
            started: self.started,
            options: self.options,
            checks: self.search.checks,
            reductions: self.search.reductions,
            ends: self.ends,
            open: open.clone(),
        };
        match workers.jobs {
            0 | 1 => self.take_turns(program, full, seed),
            _ => self.go_side_by_side(program, full, seed),
        }
        .map(Some)
    }

    fn take_turns(
        &mut self,
        program: &mut Program,
        full: &mut Full<'_>,
        seed: Seed,
    ) -> Result<BoundOutcome, InternalError> {
        let mut side = seed.side(Arc::clone(&self.watch));
        loop {
            let turn = side.as_mut().map(|it| it.turn(share_of(full.conflicts)));
            if let Some(turn) = turn
                && let Some(verdict) = self.look_at(program, turn)?
            {
                return Ok(BoundOutcome::Done(verdict));
            }
            full.conflicts = next_after(full.conflicts);
            if let Some(outcome) = self.turn_of(program, full)? {
                return Ok(outcome);
            }
        }
    }

    fn go_side_by_side(
        &mut self,
        program: &mut Program,
        full: &mut Full<'_>,
        seed: Seed,
    ) -> Result<BoundOutcome, InternalError> {
        let board = Arc::new(Board::default());
        let watch = Arc::new(Watch::default());
        let first = full.conflicts;
        self.board = Some(Arc::clone(&board));
        let outcome = std::thread::scope(|scope| {
            let _ending = Ending(&watch);
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            let (theirs, board) = (Arc::clone(&watch), &*board);
            let started = builder.spawn_scoped(scope, move || {
                let _closing = Closing(board);
                let mut conflicts = first;
                let mut side = seed.side(Arc::clone(&theirs));
                while let Some(it) = &mut side {
                    let turn = it.turn(share_of(conflicts));
                    if theirs.is_raised() {
                        return;
                    }
                    let is_last = turn.is_last();
                    board.put(turn);
                    if is_last {
                        return;
                    }
                    conflicts = next_after(conflicts);
                }
            });
            if started.is_err() {
                board.close();
            }
            self.full_side(program, full, board)
        });
        self.board = None;
        outcome
    }

    fn full_side(
        &mut self,
        program: &mut Program,
        full: &mut Full<'_>,
        board: &Board,
    ) -> Result<BoundOutcome, InternalError> {
        loop {
            full.conflicts = next_after(full.conflicts);
            board.expect_another();
            while let Some(turn) = board.next_due(None) {
                if let Some(verdict) = self.look_at(program, turn)? {
                    return Ok(BoundOutcome::Done(verdict));
                }
            }
            let before = self.told();
            let outcome = self.turn_of(program, full);
            // An answer waits for all that comes before it, and changes nothing until then.
            let has_answer = !matches!(outcome, Ok(None)) && !self.watch.is_over();
            let after = self.told();
            self.tell(before);
            let watch = Arc::clone(&self.watch);
            while let Some(turn) = board.next_due(has_answer.then_some(&*watch)) {
                if let Some(verdict) = self.look_at(program, turn)? {
                    return Ok(BoundOutcome::Done(verdict));
                }
            }
            if let Some(outcome) = outcome? {
                let is_found = matches!(outcome, BoundOutcome::Done(Verdict::Violation(_)));
                let (threads, events) = (self.statistics.threads, self.statistics.max_events);
                self.tell(after);
                let counted = &mut self.statistics;
                counted.threads = counted.threads.max(threads);
                // The length of an execution that was found is told, whatever formulas have.
                if !is_found {
                    counted.max_events = counted.max_events.max(events);
                }
                return Ok(outcome);
            }
        }
    }

    /// What turns change of what the answer tells.
    fn told(&self) -> ToldSoFar {
        ToldSoFar {
            statistics: self.statistics.clone(),
            cuts: self.cuts.clone(),
            ends: self.ends,
        }
    }

    fn tell(&mut self, told: ToldSoFar) {
        (self.statistics, self.cuts, self.ends) = (told.statistics, told.cuts, told.ends);
    }

    /// The full formula takes its turn: none if that did not suffice.
    fn turn_of(
        &mut self,
        program: &mut Program,
        full: &mut Full<'_>,
    ) -> Result<Option<BoundOutcome>, InternalError> {
        self.patience = Patience::Short(full.conflicts);
        self.watch.enter(Phase::Solving);
        Ok(
            match self.ask(full.view, program, full.problem, full.rounds)? {
                BoundOutcome::Done(Verdict::Inconclusive(Reason::Effort)) => None,
                outcome => Some(outcome),
            },
        )
    }

    /// What the other side's next turn says, if that is an answer.
    fn look_at(
        &mut self,
        program: &mut Program,
        turn: Turn,
    ) -> Result<Option<Verdict>, InternalError> {
        let counted = &mut self.statistics;
        counted.threads = counted.threads.max(turn.threads);
        counted.max_events = counted.max_events.max(turn.max_events);
        self.watch.saw_threads(turn.seen_threads);
        if turn.is_last() {
            self.ends = turn.ends;
        }
        Ok(Some(match turn.said {
            Said::Nothing => return Ok(None),
            Said::Verified(bound) => Verdict::Verified(bound),
            Said::Inconclusive(_) if self.watch.is_raised() => self.late(),
            Said::Inconclusive(reason) => Verdict::Inconclusive(reason),
            Said::Failed(what) => return Err(InternalError::Diverged { what }),
            Said::Found(execution) => self.follow(program, execution)?,
        }))
    }

    /// Runs an execution that the other side has found.
    fn follow(
        &mut self,
        program: &mut Program,
        execution: Execution,
    ) -> Result<Verdict, InternalError> {
        self.watch.enter(Phase::Replaying);
        program.assume_first_bytes(execution.first_bytes);
        if execution.reads_kinds {
            program.read_kinds();
        }
        let mut follower = Follower {
            steps: execution.schedule.steps.into(),
        };
        let verdict = self.judge(program, &mut follower)?;
        self.confirmed(
            program,
            verdict,
            "an execution of the other side".to_owned(),
        )
    }

    /// Keeps an execution for the other side, if this is one.
    pub(super) fn keep(&mut self, program: &Program, recorder: Recorder<'_, impl Guide>) {
        if self.workers.is_none() {
            let schedule = Schedule {
                memory: self.options.memory,
                steps: recorder.steps,
            };
            self.execution = Some(Execution {
                schedule: schedule.named(program.tables()),
                first_bytes: program.first_bytes().clone(),
                reads_kinds: program.must_read_kinds(),
            });
        }
    }
}

/// Writes down where a guide leads.
pub(super) struct Recorder<'a, G: Guide> {
    pub(super) guide: &'a mut G,
    pub(super) steps: Vec<ScheduleStep>,
}

impl<G: Guide> Guide for Recorder<'_, G> {
    fn next(&mut self, program: &mut Program, machine: &mut Machine) -> Option<ScheduleStep> {
        let step = self.guide.next(program, machine)?;
        self.steps.push(step.clone());
        Some(step)
    }
}

/// Leads through what was written down.
struct Follower {
    steps: VecDeque<ScheduleStep<ThreadName>>,
}

impl Guide for Follower {
    fn next(&mut self, program: &mut Program, _: &mut Machine) -> Option<ScheduleStep> {
        let step = self.steps.pop_front()?;
        let known = |name: &ThreadName| -> Option<ThreadId> { program.tables().thread_named(name) };
        step.with_thread(known)
    }
}
