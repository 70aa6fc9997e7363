//! Frames of searches that are explored in pieces, and of those who explore one.

use super::Frame;
use crate::checks::ViolationKey;
use crate::gathered::Gathered;
use crate::link::Link;
use crate::listener::Listener;
use crate::options::{InternalError, Opinion, Progress, Reductions, SearchOptions};
use crate::piece::{Part, Place};
use crate::verdict::{
    BlockedBy, Checks, MemoryModel, Reason, Statistics, UnsupportedAt, Violation,
};
use crate::watch::Watch;
use raddle_program::{Op, Program, SrcId, StateId, Stop, ThreadId, Unsupported};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// What a frame has found, apart from what it has counted.
pub struct Found {
    violations: Vec<Violation>,
    seen: FxHashSet<ViolationKey>,
    gathered: Gathered,
    thread_limit: Option<Reason>,
    next_executions: u64,
}

/// After so many looks around, the end of an execution is waited for no longer.
const LATEST: u32 = 1 << 9;

/// How a search comes to its end that is told to stop. What is left of it can be kept between two executions only.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stopping {
    /// Is it to be kept?
    finishes: bool,
    /// So many looks were taken since it was told.
    late: u32,
    /// It was told to stop, and has no other reason.
    pub(super) is_told: bool,
    /// It has stopped in the midst of something.
    pub(super) is_lost: bool,
}

impl Stopping {
    /// Goes on for a while, to the end of the execution.
    pub(super) fn waits(&mut self) -> bool {
        self.late += u32::from(self.finishes);
        self.finishes && self.late < LATEST
    }

    pub(super) fn is_late(&self) -> bool {
        self.late > 0
    }
}

/// When others are asked about a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Milestones {
    /// After so many executions, when the search began, and now.
    pub first: u64,
    pub next: u64,
    /// If an execution has so many events, or threads.
    pub events: u64,
    pub threads: u64,
}

/// An execution of a piece may have so many events and threads before somebody else is asked about the program.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    events: u64,
    threads: u64,
}

/// What those who explore pieces have to know about the search.
#[derive(Clone)]
pub struct Setup {
    pub memory: MemoryModel,
    pub checks: Checks,
    pub reductions: Reductions,
    pub keep_going: bool,
    pub leaves_values_to_formulas: bool,
    /// Where somebody else is asked about a search that has become long.
    pub reach: Option<Reach>,
    /// Is what is left kept if the search is stopped?
    pub is_kept: bool,
    pub watch: Arc<Watch>,
}

impl Frame {
    /// The frame of somebody who explores one piece. It counts, and notes that there is something to tell; whoever leads the search goes there
    /// to see what it is.
    pub fn of_worker(setup: &Setup, link: Arc<Link>) -> Self {
        let options = SearchOptions {
            memory: setup.memory,
            checks: setup.checks,
            reductions: setup.reductions,
            keep_going: setup.keep_going,
            leaves_values_to_formulas: setup.leaves_values_to_formulas,
            ..SearchOptions::default()
        };
        let (events, threads) = match setup.reach {
            Some(Reach { events, threads }) => (events, threads),
            None => (u64::MAX, u64::MAX),
        };
        Self {
            link: Some(link),
            // Whoever leads knows how many there are.
            next_executions: u64::MAX,
            next_length: events,
            next_crowd: threads,
            stopping: Stopping {
                finishes: setup.is_kept,
                ..Stopping::default()
            },
            ..Self::of_search(options, Arc::clone(&setup.watch))
        }
    }

    /// What those who explore pieces of this search have to know.
    pub fn setup(&self) -> Setup {
        Setup {
            memory: self.options.memory,
            checks: self.options.checks,
            reductions: self.options.reductions,
            keep_going: self.options.keep_going,
            leaves_values_to_formulas: self.options.leaves_values_to_formulas,
            reach: (self.options.milestones.is_some()).then_some(Reach {
                events: self.next_length,
                threads: self.next_crowd,
            }),
            is_kept: self.stopping.finishes,
            watch: Arc::clone(&self.watch),
        }
    }

    /// Looks around in the midst of an execution: whoever calls waits until it has ended.
    pub(super) fn look_midway(&mut self) -> ControlFlow<()> {
        if self.watch.is_over() && self.stopping.waits() {
            self.events_since_look = 0;
            return ControlFlow::Continue(());
        }
        if self.look_around().is_break() && !self.take_call() {
            self.stopping.is_lost = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// If the search is told to stop, what is left of it is kept.
    pub fn keep_what_is_left(&mut self) {
        self.stopping.finishes = true;
    }

    /// Was it told to stop, and has done so behind an execution, with nothing left undone there?
    pub fn has_stopped_between(&self) -> bool {
        let Stopping {
            is_told, is_lost, ..
        } = self.stopping;
        is_told && !is_lost && !self.midway && !self.has_found()
    }

    /// Is there anything that the answer has to tell, besides what was counted, which loops were cut, and that it was told to stop?
    pub fn has_found(&self) -> bool {
        !self.violations.is_empty()
            || !self.gathered.unsupported.is_empty()
            || self.error.is_some()
            || self.stopped.is_some() && !self.stopping.is_told
            || self.thread_limit.is_some()
            || self.minds_order
            || self.kinds_met
            || self.met_milestone
    }

    /// When others are asked, in a search that began with `found`.
    pub fn milestones(&self, found: &Found) -> Milestones {
        Milestones {
            first: found.next_executions,
            next: self.next_executions,
            events: self.next_length,
            threads: self.next_crowd,
        }
    }

    /// Goes on with a search of which so much was counted. What was found when it began.
    pub fn resume(&mut self, counted: &Part, milestones: Milestones) -> Found {
        self.count_parts(std::iter::once(counted));
        self.next_executions = milestones.next;
        self.next_length = milestones.events;
        self.next_crowd = milestones.threads;
        Found {
            next_executions: milestones.first,
            ..self.found()
        }
    }

    /// What was counted before everything was explored again, by another engine.
    pub fn first_look(&self) -> Option<Part> {
        let first = self.first_look.as_deref();
        first.map(|first| part_of(first, Place::new()))
    }

    /// Goes on with a search that explores everything again.
    pub fn resume_look(&mut self, first: &Part) {
        let mut counted = Self::new(SearchOptions::default(), Arc::clone(&self.watch));
        counted.count_parts(std::iter::once(first));
        self.first_look = Some(Box::new(counted.statistics));
    }

    /// What was read is of no use.
    pub fn refuse_checkpoint(&mut self) -> ControlFlow<()> {
        self.error = Some(InternalError::ForeignCheckpoint);
        ControlFlow::Break(())
    }

    /// When others are asked, the sequential search says how far it has come.
    pub(super) fn leave_milestone_to_one(&mut self) -> ControlFlow<()> {
        self.met_milestone = true;
        ControlFlow::Break(())
    }

    /// Those who explore pieces have come so far, all together: asks others, if it is time. What they say, and the number of executions that they were
    /// asked at.
    pub fn ask_others(&mut self, executions: u64) -> Option<(Opinion, u64)> {
        while executions >= self.next_executions {
            let milestone = self.next_executions;
            let sink = self.options.milestones.as_mut()?;
            let opinion = sink(milestone / super::FIRST_MILESTONE);
            // There was no time for an answer.
            if opinion == Opinion::None && self.watch.is_over() {
                return None;
            }
            self.next_executions = milestone.saturating_mul(super::BETWEEN_MILESTONES);
            if opinion != Opinion::None {
                return Some((opinion, milestone));
            }
        }
        None
    }

    /// Others have the answer, after so many executions.
    pub fn stop_at_milestone(&mut self, executions: u64) -> ControlFlow<()> {
        self.restarted();
        self.statistics.complete = executions;
        self.stop(Reason::Effort)
    }

    /// From now on, what is told is known already, and does not count.
    pub fn mute(&mut self, mute: bool) {
        self.muted = mute;
        self.noted &= !mute;
    }

    /// Has anything been told since the last time that the answer has to tell of?
    #[inline]
    pub fn has_note(&self) -> bool {
        self.noted
    }

    pub fn take_note(&mut self) -> bool {
        std::mem::take(&mut self.noted)
    }

    /// Somebody else will look at what was found here. Is there more to be explored then?
    pub(super) fn leave_to_leader(&mut self) -> ControlFlow<()> {
        self.noted = true;
        match self.options.keep_going {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    pub(super) fn is_worker(&self) -> bool {
        self.link.is_some()
    }

    /// Has come to something out of reach, and leaves it to the leader to say how.
    pub(super) fn note_out_of_reach(&mut self, what: Unsupported, thread: ThreadId, at: SrcId) {
        self.noted = true;
        self.gathered.unsupported.push(UnsupportedAt {
            what,
            thread,
            at,
            trace: Default::default(),
        });
    }

    /// Stops the search after so many looks around, to have it explored in pieces.
    pub fn warm_up(&mut self, looks: Option<u32>) {
        self.warm_up = looks;
        self.called = false;
    }

    /// Was the search stopped because somebody wants to talk to it? It can go on afterwards.
    pub fn take_call(&mut self) -> bool {
        std::mem::take(&mut self.called)
    }

    /// Is there a call?
    pub(super) fn listen(&mut self) -> ControlFlow<()> {
        let is_called = match (&self.link, &mut self.warm_up) {
            (Some(link), _) => link.is_called(),
            (None, Some(0)) => true,
            (None, Some(looks)) => {
                *looks -= 1;
                false
            }
            (None, None) => false,
        };
        self.called = is_called;
        match is_called {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Was it told to stop, by a limit or by the user?
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Stops because those who explore its pieces have stopped.
    pub fn stop_with_workers(&mut self) -> ControlFlow<()> {
        self.midway = true;
        self.stop_as_told()
    }

    /// What was counted in the part of the tree that begins at `start`.
    pub fn part(&self, start: Place) -> Part {
        Part {
            any_end: self.gathered.any_end,
            ..part_of(&self.statistics, start)
        }
    }

    /// Counts what was counted in all parts.
    pub fn count_parts<'a>(&mut self, parts: impl Iterator<Item = &'a Part>) {
        let mut sum = Part {
            threads: 1,
            ..Part::default()
        };
        for part in parts {
            let notes = Vec::new();
            let start = Place::new();
            sum.follow(Part {
                notes,
                start,
                ..part.clone()
            });
        }
        self.statistics = Statistics {
            complete: sum.complete,
            blocked: sum.blocked,
            blocked_by: sum.blocked_by,
            cut: sum.cut,
            threads: sum.threads,
            max_events: sum.max_events,
            ..self.statistics.clone()
        };
        self.gathered.any_end = sum.any_end;
        self.left_in_loop |= self.statistics.blocked_by.of(BlockedBy::Unfinished) > 0;
        self.midway = false;
        self.watch.publish(&self.statistics);
    }

    /// What was found so far.
    pub fn found(&self) -> Found {
        Found {
            violations: self.violations.clone(),
            seen: self.seen.clone(),
            gathered: self.gathered.clone(),
            thread_limit: self.thread_limit.clone(),
            next_executions: self.next_executions,
        }
    }

    /// Forgets what was found since then: it is looked at again, in order.
    pub fn forget_but(&mut self, found: Found) {
        self.violations = found.violations;
        self.seen = found.seen;
        self.gathered = found.gathered;
        self.thread_limit = found.thread_limit;
        self.next_executions = found.next_executions;
    }

    pub fn counted(&self) -> &Statistics {
        &self.statistics
    }

    pub fn set_counted(&mut self, statistics: Statistics) {
        self.statistics = statistics;
    }

    /// Was an execution begun and not ended?
    pub fn is_midway(&self) -> bool {
        self.midway
    }

    pub fn set_midway(&mut self, midway: bool) {
        self.midway = midway;
    }

    /// Everything is explored again, by one worker.
    pub fn restarted_for_one(&mut self) {
        self.mute(false);
        self.restarted();
    }

    /// The program must read the kinds of mutexes, as somebody who explored a piece has found out.
    pub fn kinds_must_be_read(&mut self) -> ControlFlow<()> {
        self.kinds_met = true;
        ControlFlow::Break(())
    }

    pub fn take_kinds_met(&mut self) -> bool {
        std::mem::take(&mut self.kinds_met)
    }

    /// Is there anything that the answer has to tell, besides what was counted and which loops were cut?
    pub fn has_something_to_tell(&self) -> bool {
        self.has_found() || self.stopped.is_some()
    }

    /// Has a bound that was asked for cut threads short?
    pub fn has_cuts(&self) -> bool {
        self.gathered.unrolled.is_some() || self.gathered.crowded.is_some()
    }

    /// Takes notice of all loops that were cut, as far as the program knows.
    pub fn note_cuts(&mut self, program: &Program) {
        for state in (0..program.state_count()).map(StateId::from_index) {
            if let Op::Stop(stop) = *program.op(state)
                && let Stop::Limit(limit) = program.tables().stop_info(stop)
            {
                self.gathered.cut(limit, program.at(state));
            }
        }
    }

    /// Tells how far all who explore are.
    pub fn tell_progress(
        &mut self,
        statistics: &Statistics,
        workers: usize,
        pieces: usize,
        explored: f64,
    ) {
        self.watch.publish(statistics);
        let executions = statistics.complete + statistics.blocked;
        let elapsed = Instant::now() - self.started;
        if let Some(sink) = &mut self.options.progress {
            sink(&Progress {
                executions,
                blocked: statistics.blocked,
                elapsed,
                rate: executions as f64 / elapsed.as_secs_f64().max(1e-9),
                depth: statistics.max_events,
                explored: Some(explored),
                workers,
                pieces,
            });
        }
    }
}

fn part_of(it: &Statistics, start: Place) -> Part {
    Part {
        start,
        complete: it.complete,
        blocked: it.blocked,
        blocked_by: it.blocked_by,
        cut: it.cut,
        threads: it.threads,
        max_events: it.max_events,
        any_end: false,
        notes: Vec::new(),
    }
}
