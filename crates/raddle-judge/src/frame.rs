//! What an engine reports to: limits, checks, statistics, and the one place where a verdict is made.
//!
//! An engine tells its [`Frame`] of every event, every step back and every end of an execution; the frame finds faults,
//! races and deadlocks there, has each replayed before it is believed, and says when to stop.
//!
//! Conventions
//! - A thread that meets a fault goes no further; the other threads do, as if it were slow. What they do then they could
//!   have done before the fault, so whatever is found there is real. The execution counts as blocked.
//! - A fault whose check is off is such a stop and nothing else. [`check_of`](crate::check_of) says which check a fault belongs to.
//! - A thread that comes to something that Raddle cannot run stops in the same way. All that is out of reach is told when the
//!   search is over, behind the violations.
//! - The answer `verified` is given only if the engine ran to its end, some execution came to its end, and none was cut short,
//!   but for the bound on loop iterations that the user asked for.

mod graphs;
mod pieces;

pub use pieces::{Found, Milestones, Reach, Setup};

use crate::checks::ViolationKey;
use crate::ending;
use crate::gathered::Gathered;
use crate::link::Link;
use crate::listener::Listener;
use crate::options::{InternalError, Opinion, Progress, SearchOptions};
use crate::replay::{self, Mismatch, Schedule};
use crate::simplify;
use crate::verdict::{
    BlockedBy, BlockedCounts, Bound, Check, Checks, EngineKind, LeftOut, MemoryModel, Outcome,
    Reason, Statistics, Verdict, Violation, ViolationKind, Waiting, Work,
};
use crate::watch::{Phase, Watch, peak_memory_bytes};
use raddle_memory::{BLOCK_BUDGET, Machine, RaceDetector, Readiness, StepEnd, UninitDetector};
use raddle_program::{
    Fault, Limit, Op, Program, SrcId, Stop, ThreadId, Unsupported, WeakOrderings,
};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time is looked at after so many events.
const EVENTS_BETWEEN_LOOKS: u32 = 1024;
/// The end of an execution counts as so many: an engine may have more to do then than to run it.
const END_IN_EVENTS: u32 = 64;
/// Memory is measured, and progress told, this often.
const BETWEEN_SLOW_LOOKS: Duration = Duration::from_millis(100);
/// A search has become longer than most after so many executions; that is told, and again whenever there are so many times as many.
const FIRST_MILESTONE: u64 = 1 << 12;
const BETWEEN_MILESTONES: u64 = 2;
/// Or after so many events of one execution, those included that were only tried: it may have no end, or be one that the engine is slow at.
const EVENTS_AT_MILESTONE: u64 = 1 << 16;
/// Or after so many threads of one execution: what is kept of an event grows with their number.
const THREADS_AT_MILESTONE: u64 = 512;
/// What is not looked for where that takes too many steps ([`ending::Blockade`]).
const GOING_ROUND: &str =
    "threads that wait for good in loops which take something and give it back";

/// Judges the executions of one search.
pub struct Frame {
    options: SearchOptions,
    watch: Arc<Watch>,
    statistics: Statistics,
    detector: RaceDetector,
    /// The engine says that the order of writes matters that it leaves unordered.
    minds_order: bool,
    uninit: UninitDetector,
    /// Has a plain access been seen that could be in a race? Before that there is no need to look for any.
    can_race: bool,
    /// Number of micro-steps after each event of the present execution.
    ends: Vec<u32>,
    violations: Vec<Violation>,
    seen: FxHashSet<ViolationKey>,
    gathered: Gathered,
    /// A limit inside a thread: the search goes on, but cannot end in `verified`.
    thread_limit: Option<Reason>,
    /// Why the search was stopped.
    stopped: Option<Reason>,
    /// Where the execution that was being explored then goes round and round.
    endless: Option<SrcId>,
    /// Where the last long execution that was looked at does so, although it has an end.
    went_round: Option<SrcId>,
    error: Option<InternalError>,
    /// After so many executions the next milestone is reached.
    next_executions: u64,
    /// When an execution has so many events, too.
    next_length: u64,
    /// Events that were tried for the present execution, and not done.
    tried: u64,
    /// Or so many threads.
    next_crowd: u64,
    /// An execution was begun and has not ended.
    midway: bool,
    /// A thread that was left in a loop could have gone on, in the end of an execution.
    left_in_loop: bool,
    /// Does an engine explore, so that it can begin anew if threads must read the kinds of mutexes?
    explores: bool,
    /// What was counted before executions are explored for the second time.
    first_look: Option<Box<Statistics>>,
    started: Instant,
    last_slow_look: Instant,
    events_since_look: u32,
    /// How much is explored, and whether that should be estimated anew.
    explored: Option<f64>,
    wants_estimate: bool,
    /// Those who explore a piece of a search hear from it, and tell it, how it goes.
    link: Option<Arc<Link>>,
    /// The search is on its way through what is known.
    muted: bool,
    /// Something was found that the answer has to tell of.
    noted: bool,
    /// After so many looks around the search stops, to be explored in pieces.
    warm_up: Option<u32>,
    /// It has stopped because of that, or because somebody calls.
    called: bool,
    /// Somebody who explored a piece has found out that kinds of mutexes must be read.
    kinds_met: bool,
    /// Somebody who explores a piece has come to an execution that is so long that others are to be asked.
    met_milestone: bool,
    stopping: pieces::Stopping,
}

impl Frame {
    pub fn new(options: SearchOptions, watch: Arc<Watch>) -> Self {
        let now = Instant::now();
        let started = options.began.unwrap_or(now);
        Self {
            options,
            watch,
            statistics: Statistics {
                threads: 1,
                ..Statistics::default()
            },
            detector: RaceDetector::new(),
            minds_order: false,
            uninit: UninitDetector::new(),
            can_race: false,
            ends: Vec::new(),
            violations: Vec::new(),
            seen: FxHashSet::default(),
            gathered: Gathered::default(),
            thread_limit: None,
            stopped: None,
            endless: None,
            went_round: None,
            error: None,
            next_executions: FIRST_MILESTONE,
            next_length: EVENTS_AT_MILESTONE,
            tried: 0,
            next_crowd: THREADS_AT_MILESTONE,
            midway: false,
            left_in_loop: false,
            explores: false,
            first_look: None,
            started,
            last_slow_look: now,
            events_since_look: 0,
            explored: None,
            wants_estimate: false,
            link: None,
            muted: false,
            noted: false,
            warm_up: None,
            called: false,
            kinds_met: false,
            met_milestone: false,
            stopping: pieces::Stopping::default(),
        }
    }

    /// Might a thread that was left in a loop be in a deadlock in an execution of the same class?
    ///
    /// Whether a loop goes on for good depends on what memory holds in the end, and that on the order of writes that nobody reads.
    pub fn may_have_missed_deadlock(&self) -> bool {
        let Checks {
            deadlocks,
            livelocks,
            ..
        } = self.options.checks;
        (deadlocks || livelocks) && self.left_in_loop
    }

    /// Everything is explored again, by an engine whose classes say more. What was counted stays.
    pub fn look_again(&mut self) {
        self.first_look = Some(Box::new(self.statistics.clone()));
        self.restarted();
        self.left_in_loop = false;
    }

    /// The frame of an engine that explores.
    pub fn of_search(options: SearchOptions, watch: Arc<Watch>) -> Self {
        Self {
            explores: true,
            ..Self::new(options, watch)
        }
    }

    /// Everything is explored again, as if for the first time. False if the search is over, for whatever reason.
    ///
    /// Violations that were found are forgotten, since their executions are none of the automata that threads have from now on; those have
    /// them, too.
    pub fn begins_anew(&mut self) -> bool {
        let is_over = self.stopped.is_some() || self.error.is_some();
        if is_over || self.has_violation() && !self.options.keep_going {
            return false;
        }
        self.restarted();
        self.violations.clear();
        self.seen.clear();
        self.left_in_loop = false;
        self.minds_order = false;
        true
    }

    /// States come again, so that there are executions without end. Whether threads wait in them for good is not known then.
    pub fn has_cycles(&mut self) {
        let Checks {
            deadlocks,
            livelocks,
            ..
        } = self.options.checks;
        if deadlocks || livelocks {
            let what = "threads that wait for good in loops";
            self.thread_limit
                .get_or_insert(Reason::NotLookedFor { what });
        }
    }

    /// Whether threads go round for good was not found out for some execution. Others may still go wrong.
    fn leaves_going_round_open(&mut self) {
        self.noted |= self.thread_limit.is_none();
        self.thread_limit
            .get_or_insert(Reason::NotLookedFor { what: GOING_ROUND });
    }

    /// There is an execution in which the process exits, whatever its other threads are at.
    pub fn has_exits(&mut self) {
        self.gathered.any_end = true;
    }

    /// The engine has done as much as it was allowed to.
    pub fn has_done_enough(&mut self) -> ControlFlow<()> {
        self.stop(Reason::Effort)
    }

    fn executions(&self) -> u64 {
        self.statistics.complete + self.statistics.blocked
    }

    /// What the engine did besides running executions.
    pub fn set_work(&mut self, work: Work) {
        self.statistics.work = work;
    }

    #[must_use]
    pub fn has_violation(&self) -> bool {
        !self.violations.is_empty()
    }

    /// Is there a reason to stop?
    pub fn has_reason(&self) -> bool {
        !self.violations.is_empty()
            || !self.gathered.unsupported.is_empty()
            || self.stopped.is_some()
            || self.error.is_some()
    }

    /// Counts the present execution; `blocked_by`: why it did not come to its end.
    fn count(&mut self, blocked_by: Option<BlockedBy>) {
        self.midway = false;
        self.tried = 0;
        match blocked_by {
            None => self.statistics.complete += 1,
            Some(cause) => {
                self.statistics.blocked += 1;
                self.statistics.blocked_by.count(cause);
                self.statistics.cut += u64::from(cause == BlockedBy::Cut);
            }
        }
        self.statistics.max_events = self.statistics.max_events.max(self.ends.len());
        match &self.link {
            Some(link) => link.counted(blocked_by.is_some()),
            None => self.watch.publish(&self.statistics),
        }
    }

    fn stop(&mut self, reason: Reason) -> ControlFlow<()> {
        self.stopped.get_or_insert(reason);
        ControlFlow::Break(())
    }

    // ---- limits

    /// Stops for the reason that the watch has.
    #[cold]
    fn stop_as_told(&mut self) -> ControlFlow<()> {
        let reason = self.watch.reason();
        debug_assert!(reason.is_some(), "a flag is raised for a reason");
        self.stopping.is_told |= self.stopped.is_none();
        self.stop(reason.unwrap_or(Reason::Effort))
    }

    /// Looks at the clock and the flag; now and then also at memory.
    fn look_around(&mut self) -> ControlFlow<()> {
        self.events_since_look = 0;
        if self.watch.is_over() {
            return self.stop_as_told();
        }
        self.listen()?;
        let now = Instant::now();
        if now - self.last_slow_look < BETWEEN_SLOW_LOOKS {
            return ControlFlow::Continue(());
        }
        self.last_slow_look = now;
        self.watch.look_at_memory();
        if self.watch.is_raised() {
            return self.stop_as_told();
        }
        let elapsed = now - self.started;
        let executions = self.executions();
        self.wants_estimate |= self.link.is_some();
        if let Some(sink) = &mut self.options.progress {
            sink(&Progress {
                executions,
                blocked: self.statistics.blocked,
                elapsed,
                rate: executions as f64 / elapsed.as_secs_f64().max(1e-9),
                depth: self.ends.len(),
                explored: self.explored,
                workers: 1,
                pieces: 0,
            });
            self.wants_estimate = true;
        }
        ControlFlow::Continue(())
    }

    /// The search is so many times as long as at its first milestone.
    #[cold]
    fn milestone(&mut self, times: u64) -> ControlFlow<()> {
        if self.is_worker() {
            return self.leave_milestone_to_one();
        }
        let sink = self.options.milestones.as_mut();
        match sink.map_or(Opinion::None, |sink| sink(times)) {
            Opinion::NothingWrong | Opinion::Wrong => self.stop(Reason::Effort),
            Opinion::None => ControlFlow::Continue(()),
        }
    }

    /// The present execution has so many events.
    #[inline]
    fn look_at_length(&mut self, events: usize) -> ControlFlow<()> {
        if events as u64 + self.tried < self.next_length {
            return ControlFlow::Continue(());
        }
        let times = self.next_length / FIRST_MILESTONE;
        self.next_length = self.next_length.saturating_mul(BETWEEN_MILESTONES);
        self.milestone(times)
    }

    /// Looks around now and then, and after the first execution.
    fn after_execution(&mut self) -> ControlFlow<()> {
        if self.executions() >= self.next_executions {
            let milestone = self.next_executions;
            self.next_executions = milestone.saturating_mul(BETWEEN_MILESTONES);
            self.milestone(milestone / FIRST_MILESTONE)?;
            if self.watch.is_over() {
                // There was no time for an answer.
                self.next_executions = milestone;
            }
        }
        self.events_since_look += END_IN_EVENTS;
        let is_called = self.link.as_ref().is_some_and(|link| link.is_called());
        if is_called || self.stopping.is_late() {
            return self.look_around();
        }
        if self.executions() > 1 && self.events_since_look < EVENTS_BETWEEN_LOOKS {
            return ControlFlow::Continue(());
        }
        self.look_around()
    }

    // ---- violations

    /// Reports a violation of the present execution, unless it is known.
    fn violation(
        &mut self,
        program: &mut Program,
        machine: &Machine,
        kind: ViolationKind,
        thread: ThreadId,
        at: SrcId,
    ) -> ControlFlow<()> {
        if self.seen.contains(&ViolationKey::new(&kind, at)) {
            return ControlFlow::Continue(());
        }
        let schedule = Schedule::of(program, machine.model(), machine.steps(), &self.ends);
        self.reproduce(program, schedule, kind, thread, at)
    }

    /// Runs a schedule again and reports the violation that it should show, unless it is known.
    fn reproduce(
        &mut self,
        program: &mut Program,
        schedule: Schedule,
        kind: ViolationKind,
        thread: ThreadId,
        at: SrcId,
    ) -> ControlFlow<()> {
        if !self.seen.insert(ViolationKey::new(&kind, at)) {
            return ControlFlow::Continue(());
        }
        let before = self.watch.enter(Phase::Replaying);
        match self.confirmed(program, &schedule, &kind, thread, at) {
            Ok(found) => {
                if let Some(sink) = &mut self.options.reproduced {
                    sink(program, &found);
                }
                self.violations.push(found);
                self.watch.enter(before);
            }
            Err(Mismatch::NoTime) => {
                self.stopping.is_lost = true;
                return self.stop_as_told();
            }
            Err(mismatch) => {
                self.error = Some(InternalError::NotReproduced {
                    kind: Box::new(kind),
                    schedule,
                    mismatch,
                });
                return ControlFlow::Break(());
            }
        }
        if self.options.keep_going {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    fn fault(
        &mut self,
        program: &mut Program,
        machine: &Machine,
        thread: ThreadId,
        at: SrcId,
        fault: Fault,
    ) -> ControlFlow<()> {
        if !self.options.checks.covers(&fault) {
            return ControlFlow::Continue(());
        }
        self.violation(program, machine, ViolationKind::Fault(fault), thread, at)
    }

    /// A thread has a new local state: has it stopped there?
    #[inline]
    pub fn arrived(
        &mut self,
        program: &mut Program,
        machine: &Machine,
        thread: ThreadId,
    ) -> ControlFlow<()> {
        match replay::stop_of(program, machine, thread).cloned() {
            Some(stop) => self.stopped_at(program, machine, thread, stop),
            None => ControlFlow::Continue(()),
        }
    }

    /// A thread has stopped in its present state.
    #[cold]
    fn stopped_at(
        &mut self,
        program: &mut Program,
        machine: &Machine,
        thread: ThreadId,
        stop: Stop,
    ) -> ControlFlow<()> {
        let at = machine
            .thread_state(thread)
            .map_or(SrcId::NOWHERE, |state| program.at(state));
        match stop {
            Stop::Fault(fault) => return self.fault(program, machine, thread, at, fault),
            Stop::Limit(limit @ (Limit::Unroll { .. } | Limit::Threads { .. })) => {
                self.gathered.cut(&limit, at);
            }
            Stop::Limit(limit) => {
                let thread = program.tables().thread_info(thread).name.clone();
                self.thread_limit
                    .get_or_insert(Reason::Thread { limit, thread, at });
            }
            Stop::WokenInVain | Stop::FailedInVain | Stop::Noticed => {}
            // The search goes on: there may be violations elsewhere, and more that is out of reach.
            Stop::Unsupported(what) => {
                let is_value = matches!(what, Unsupported::NondetValue { .. });
                self.gathered
                    .out_of_reach(program, machine, what, (thread, at));
                if is_value && self.options.leaves_values_to_formulas {
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// May what happens depend on the order of writes that the engine leaves unordered?
    pub fn minds_order_of_writes(&self) -> bool {
        self.minds_order
    }

    /// Feeds the race detector.
    fn find_races(&mut self, program: &mut Program, machine: &Machine) -> ControlFlow<()> {
        while self.detector.len() < machine.steps().len() {
            let step = machine.steps()[self.detector.len()];
            if let Some(race) = self.detector.push(program, step) {
                let (thread, at) = (race.second.thread, race.second.at);
                self.violation(program, machine, ViolationKind::Race(race), thread, at)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Feeds the detector of reads that depend on what nobody has written.
    fn find_uninitialised(
        &mut self,
        program: &mut Program,
        machine: &Machine,
        thread: ThreadId,
    ) -> ControlFlow<()> {
        while self.uninit.len() < machine.steps().len() {
            let step = machine.steps()[self.uninit.len()];
            if let Some(fault) = self.uninit.push(program, &step) {
                let at = program.at(step.state);
                self.fault(program, machine, thread, at, fault)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// At the end of an execution, threads that are ready only spin. What they would read next may be gone, or raced with, all
    /// the same.
    ///
    /// One step is enough. An iteration that goes wrong earlier is not pure, so it was explored as any other; and a step that would
    /// complete a pure iteration does not wait for a while only to be done when nothing is wrong with it any more: nobody writes
    /// to memory after it was freed, and a thread that waits learns nothing that would order its read behind a write.
    fn look_at_spinning(
        &mut self,
        program: &mut Program,
        machine: &mut Machine,
    ) -> ControlFlow<()> {
        for thread in ending::threads(machine) {
            if machine.readiness(program, thread) != Readiness::Ready {
                continue;
            }
            let mark = machine.mark();
            let end = machine.step(program, thread, &[]);
            self.ends.push(machine.steps().len() as u32);
            let mut flow = match end {
                StepEnd::Fault(fault) => {
                    let last = machine.steps().last();
                    let at = last.map_or(SrcId::NOWHERE, |step| program.at(step.state));
                    self.fault(program, machine, thread, at, fault)
                }
                _ => ControlFlow::Continue(()),
            };
            if flow.is_continue() && self.options.checks.uninit {
                flow = self.find_uninitialised(program, machine, thread);
            }
            if flow.is_continue() && self.options.checks.races && program.has_plain_accesses() {
                flow = self.find_races(program, machine);
            }
            self.ends.pop();
            self.detector.truncate(mark.steps());
            self.uninit.truncate(mark.steps());
            machine.undo_to(mark);
            flow?;
        }
        ControlFlow::Continue(())
    }

    /// Threads wait for good: the violation that it is, if that is looked for.
    fn waiting_for_good(
        &self,
        mut waiting: Vec<Waiting>,
    ) -> Option<(ViolationKind, ThreadId, SrcId)> {
        let Checks {
            deadlocks,
            livelocks,
            ..
        } = self.options.checks;
        if !deadlocks {
            waiting.retain(|waiting| livelocks && waiting.spins());
        }
        let first = waiting.first()?;
        let (thread, at) = (first.thread, first.at);
        let kind = match deadlocks {
            true => ViolationKind::Deadlock { waiting },
            false => ViolationKind::Livelock { spinning: waiting },
        };
        Some((kind, thread, at))
    }

    // ---- the answer

    /// The verdict, from all that was seen.
    pub fn conclude(
        mut self,
        program: &mut Program,
        engine: EngineKind,
    ) -> Result<Outcome, InternalError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.midway {
            self.count(Some(BlockedBy::Unfinished));
        }
        if let Some(first) = self.first_look.filter(|_| self.violations.is_empty()) {
            self.statistics = *first;
        }
        self.statistics.states = program.state_count();
        let (any_end, unrolled) = (self.gathered.any_end, self.gathered.unrolled);
        let crowded = self.gathered.crowded;
        let mut coverage = self.gathered.coverage(program, &self.statistics);
        let is_limited = self.stopped.is_some() && self.violations.is_empty();
        coverage.endless = self.endless.or(self.went_round.filter(|_| is_limited));
        if self.options.memory == MemoryModel::C11 {
            coverage.weak = WeakOrderings::default();
        }
        let compares_values = engine.descriptor().compares_values;
        if compares_values && self.options.checks.uninit && program.needs_allocated_contents() {
            coverage.not_checked.push(Check::Uninit);
        }
        let mut unfinished = self.stopped.or(self.thread_limit);
        // Having found nothing is no proof of what was not looked for.
        let Checks {
            races,
            only_error_calls,
            ..
        } = self.options.checks;
        if !engine.makes(Check::Race) {
            if races {
                let what = "data races";
                unfinished.get_or_insert(Reason::NotLookedFor { what });
            } else if !only_error_calls {
                coverage.not_checked.push(Check::Race);
            }
        }
        // The user gets the plainest executions. They are looked for when the engine is done: what that
        // meets is no part of the search.
        self.watch.enter(Phase::Simplifying);
        let wanted = !self.options.verdict_only;
        for violation in self.violations.iter_mut().filter(|_| wanted) {
            *violation = simplify::plainest(program, violation.clone(), &self.watch);
            violation.advice = replay::advise(program, violation, &self.watch);
        }
        self.statistics.elapsed = self.started.elapsed();
        self.statistics.peak_memory_bytes = peak_memory_bytes();
        let verdict = if !self.violations.is_empty() {
            coverage.unfinished = unfinished;
            if program.has_several_clocks() {
                coverage.left_out.push(LeftOut::TimeOfOthers);
            }
            Verdict::Violation(self.violations)
        } else if !coverage.unsupported.is_empty() {
            coverage.unfinished = unfinished;
            Verdict::Unsupported(std::mem::take(&mut coverage.unsupported))
        } else if let Some(reason) = unfinished {
            Verdict::Inconclusive(reason)
        } else if !any_end {
            Verdict::Inconclusive(Reason::nothing_ends(unrolled, crowded))
        } else {
            Verdict::Verified(Bound::of(unrolled, crowded))
        };
        Ok(Outcome {
            engine,
            memory: self.options.memory,
            verdict,
            statistics: self.statistics,
            coverage,
        })
    }
}

impl Listener for Frame {
    fn stepped(
        &mut self,
        program: &mut Program,
        machine: &mut Machine,
        thread: ThreadId,
        end: StepEnd,
    ) -> ControlFlow<()> {
        // Only an engine that has more to explore comes here: exactly as many executions as allowed are no reason to stop.
        if let Some(limit) = self.options.limits.executions
            && self.executions() >= limit
        {
            return self.stop(Reason::Executions { limit });
        }
        self.midway = true;
        self.events_since_look += 1;
        if self.events_since_look >= EVENTS_BETWEEN_LOOKS && self.look_midway().is_break() {
            self.endless = ending::goes_round_without_end(program, machine.steps());
            return ControlFlow::Break(());
        }
        if self.explores && program.must_read_kinds() {
            return ControlFlow::Break(());
        }
        self.look_at_length(self.ends.len())?;
        let start = self.ends.last().map_or(0, |&end| end as usize);
        self.ends.push(machine.steps().len() as u32);
        match end {
            StepEnd::Done => {}
            StepEnd::Fault(fault) => {
                // The thread may be elsewhere by now: its store was delayed.
                let last = machine.steps().last();
                let at = last.map_or(SrcId::NOWHERE, |step| program.at(step.state));
                self.fault(program, machine, thread, at, fault)?;
            }
            StepEnd::EndlessBlock => {
                let at = program.at(machine.steps()[start].state);
                let steps = BLOCK_BUDGET.into();
                let limit = Limit::PrivateSteps { steps };
                let thread = program.tables().thread_info(thread).name.clone();
                return self.stop(Reason::Thread { limit, thread, at });
            }
        }
        self.arrived(program, machine, thread)?;
        for index in start..machine.steps().len() {
            let op = program.op(machine.steps()[index].state);
            if let Op::Spawn { child, .. } = *op {
                let started = ending::started(machine);
                self.statistics.threads = self.statistics.threads.max(started);
                if started as u64 >= self.next_crowd {
                    let events = self.next_crowd / THREADS_AT_MILESTONE * EVENTS_AT_MILESTONE;
                    let times = events / FIRST_MILESTONE;
                    self.next_crowd = self.next_crowd.saturating_mul(BETWEEN_MILESTONES);
                    self.milestone(times)?;
                }
                self.arrived(program, machine, child)?;
            } else if !self.can_race && op.is_plain() {
                // What is done while there is one thread happens before all that others will do.
                self.can_race = self.options.checks.races && ending::started(machine) > 1;
            }
        }
        if self.options.checks.uninit {
            self.find_uninitialised(program, machine, thread)?;
        }
        // The detector catches up with the whole execution when the first such access is met.
        if self.can_race {
            self.find_races(program, machine)?;
        }
        ControlFlow::Continue(())
    }

    fn undone(&mut self, steps: usize) {
        // An engine that goes back to the start without an end has only passed through what is known.
        self.midway &= steps > 0;
        while self.ends.last().is_some_and(|&end| end as usize > steps) {
            self.ends.pop();
        }
        self.detector.truncate(steps);
        self.uninit.truncate(steps);
        // An engine that goes back to the beginning has given nothing up.
        self.midway &= steps > 0;
    }

    fn restarted(&mut self) {
        self.undone(0);
        self.midway = false;
        self.statistics.complete = 0;
        self.statistics.blocked = 0;
        self.statistics.blocked_by = BlockedCounts::default();
        self.statistics.cut = 0;
        self.gathered.restarted();
    }

    fn ended(&mut self, program: &mut Program, machine: &mut Machine) -> ControlFlow<()> {
        // Where each execution is longer than the one before, they have ends, and the search has none.
        if (self.executions() + 1).is_power_of_two() {
            self.went_round = ending::goes_round_without_end(program, machine.steps());
        }
        if ending::is_complete(program, machine) {
            self.count(None);
            self.gathered.any_end = true;
        } else {
            let ending::Blockade {
                cause,
                waiting,
                is_open,
            } = ending::blockade(program, machine);
            if is_open {
                self.leaves_going_round_open();
            }
            self.count(Some(cause));
            self.gathered.blocked(program, machine);
            self.left_in_loop |= cause == BlockedBy::Unfinished;
            self.look_at_spinning(program, machine)?;
            if let Some((kind, thread, at)) = self.waiting_for_good(waiting) {
                self.violation(program, machine, kind, thread, at)?;
            }
        }
        self.after_execution()
    }

    fn explored(&mut self, fraction: impl FnOnce() -> f64) {
        if std::mem::take(&mut self.wants_estimate) {
            let fraction = fraction();
            self.explored = Some(fraction);
            if let Some(link) = &self.link {
                link.set_left(1.0 - fraction);
            }
        }
    }

    fn remembered(&self) -> u128 {
        match self.options.checks.uninit {
            true => self.uninit.fingerprint(),
            false => 0,
        }
    }

    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        self.count(Some(BlockedBy::Unfinished));
        self.after_execution()
    }

    fn predicted(&mut self, program: &mut Program, schedule: &Schedule) -> ControlFlow<()> {
        let Ok(replayed) = replay::replay(program, schedule) else {
            debug_assert!(false, "what is predicted can be run");
            return ControlFlow::Continue(());
        };
        for race in replayed.races {
            let (thread, at) = (race.second.thread, race.second.at);
            let kind = ViolationKind::Race(race);
            self.reproduce(program, schedule.clone(), kind, thread, at)?;
        }
        ControlFlow::Continue(())
    }

    fn paused(&mut self) -> ControlFlow<()> {
        self.look_around()
    }

    fn order_matters(&mut self) {
        self.minds_order = true;
    }

    fn busy(&mut self) -> ControlFlow<()> {
        self.tried += 1;
        self.look_at_length(self.ends.len())?;
        self.events_since_look += 1;
        match self.events_since_look >= EVENTS_BETWEEN_LOOKS {
            true => self.look_midway(),
            false => ControlFlow::Continue(()),
        }
    }
}
