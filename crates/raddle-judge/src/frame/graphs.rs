//! Executions that are graphs: there is no machine that runs them, so their engine says what became of them.

use super::{EVENTS_BETWEEN_LOOKS, Frame};
use crate::checks::ViolationKey;
use crate::ending;
use crate::replay::{self, Found, Mismatch, Schedule};
use crate::shorten::{Effort, nearest};
use crate::verdict::{BlockedBy, Checks, Reason, UnsupportedAt, Violation, ViolationKind};
use raddle_memory::{Machine, MemoryModel};
use raddle_program::{Fault, Limit, Program, SrcId, Stop, ThreadId, Unsupported};
use std::ops::ControlFlow;

impl Frame {
    pub fn checks(&self) -> &Checks {
        &self.options.checks
    }

    /// An event is about to be added to a graph that has so many.
    #[inline]
    pub fn event(&mut self, program: &Program, events: usize) -> ControlFlow<()> {
        if program.must_read_kinds() {
            return ControlFlow::Break(());
        }
        if let Some(limit) = self.options.limits.executions
            && self.executions() >= limit
        {
            return self.stop(Reason::Executions { limit });
        }
        self.midway = true;
        self.statistics.max_events = self.statistics.max_events.max(events + 1);
        self.events_since_look += 1;
        if self.events_since_look >= EVENTS_BETWEEN_LOOKS {
            self.look_around()?;
        }
        self.look_at_length(events)
    }

    /// An execution is gone on with that differs from all before: from now on it is one that was begun.
    #[inline]
    pub fn execution_begins(&mut self) {
        self.midway = true;
    }

    /// So many threads have been started in the present graph.
    pub fn threads_started(&mut self, threads: usize) {
        self.statistics.threads = self.statistics.threads.max(threads);
    }

    /// Reports a violation of the present graph, unless it is known.
    pub fn graph_violation(
        &mut self,
        program: &mut Program,
        mut kind: ViolationKind,
        thread: ThreadId,
        at: SrcId,
        schedule: impl FnOnce(&mut Program, &mut ViolationKind) -> Schedule,
    ) -> ControlFlow<()> {
        if self.is_known(&kind, at) {
            return ControlFlow::Continue(());
        }
        let schedule = schedule(program, &mut kind);
        let (thread, at) = match &kind {
            ViolationKind::Race(race) => (race.second.thread, race.second.at),
            _ => (thread, at),
        };
        // What it is may be told in another way when it is run.
        let key = ViolationKey::new(&kind, at);
        self.noted |= !self.seen.contains(&key);
        if self.is_worker() {
            return match self.seen.insert(key) {
                true => self.leave_to_leader(),
                false => ControlFlow::Continue(()),
            };
        }
        self.reproduce(program, schedule, kind, thread, at)
    }

    /// Is the fault not looked for, or was it reported?
    pub fn is_known_fault(&self, fault: &Fault, at: SrcId) -> bool {
        let kind = ViolationKind::Fault(fault.clone());
        !self.options.checks.covers(fault) || self.is_known(&kind, at)
    }

    /// Was the violation reported, or is nothing to be reported?
    pub fn is_known(&self, kind: &ViolationKind, at: SrcId) -> bool {
        self.muted || self.seen.contains(&ViolationKey::new(kind, at))
    }

    /// A thread has met something wrong.
    pub fn graph_fault(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        at: SrcId,
        fault: Fault,
        schedule: impl FnOnce(&mut Program) -> Schedule,
    ) -> ControlFlow<()> {
        if !self.options.checks.covers(&fault) {
            return ControlFlow::Continue(());
        }
        let kind = ViolationKind::Fault(fault);
        self.graph_violation(program, kind, thread, at, |program, _| schedule(program))
    }

    /// A thread has stopped by itself.
    pub fn graph_stop(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        at: SrcId,
        stop: Stop,
        schedule: impl FnOnce(&mut Program) -> Schedule,
    ) -> ControlFlow<()> {
        if self.muted {
            return ControlFlow::Continue(());
        }
        match stop {
            Stop::Fault(fault) => return self.graph_fault(program, thread, at, fault, schedule),
            Stop::Limit(limit @ (Limit::Unroll { .. } | Limit::Threads { .. })) => {
                self.noted |= self.gathered.cut(&limit, at);
            }
            Stop::Limit(limit) => {
                self.noted |= self.thread_limit.is_none();
                let thread = program.tables().thread_info(thread).name.clone();
                self.thread_limit
                    .get_or_insert(Reason::Thread { limit, thread, at });
            }
            Stop::WokenInVain | Stop::FailedInVain | Stop::Noticed => {}
            Stop::Unsupported(what) => {
                let is_value = matches!(what, Unsupported::NondetValue { .. });
                if self.gathered.knows(program, &what, at) {
                } else if self.is_worker() {
                    self.note_out_of_reach(what, thread, at);
                } else {
                    self.noted = true;
                    let schedule = schedule(program);
                    let replayed = replay::replay(program, &schedule);
                    let trace = replayed.map(|replayed| replayed.trace).unwrap_or_default();
                    self.gathered.unsupported.push(UnsupportedAt {
                        what,
                        thread,
                        at,
                        trace,
                    });
                }
                if is_value && self.options.leaves_values_to_formulas {
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// There is no graph that was begun and has not come to its end.
    pub fn graphs_are_done(&mut self) {
        self.midway = false;
    }

    /// All threads have finished.
    pub fn graph_complete(&mut self) -> ControlFlow<()> {
        self.count(None);
        self.gathered.any_end = true;
        self.after_execution()
    }

    /// Some thread has not finished and cannot go on. The machine has what they will see in the end.
    pub fn graph_blocked(
        &mut self,
        program: &mut Program,
        machine: &mut Machine,
        schedule: impl FnOnce(&mut Program) -> Schedule,
    ) -> ControlFlow<()> {
        if ending::is_complete(program, machine) {
            return self.graph_complete();
        }
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
        if let Some((kind, thread, at)) = self.waiting_for_good(waiting) {
            self.graph_violation(program, kind, thread, at, |program, _| schedule(program))?;
        }
        self.after_execution()
    }

    /// The violation as it is when its execution is run again.
    pub(super) fn confirmed(
        &self,
        program: &mut Program,
        schedule: &Schedule,
        kind: &ViolationKind,
        thread: ThreadId,
        at: SrcId,
    ) -> Result<Violation, Mismatch> {
        let found = Found {
            kind: kind.clone(),
            thread,
            at,
        };
        let confirm = |program: &mut Program, schedule: &Schedule, found: Found| {
            let trace = replay::confirm(program, schedule, &found.kind, found.thread, &self.watch)?;
            Ok(Violation {
                kind: found.kind,
                thread: found.thread,
                at: found.at,
                schedule: schedule.clone(),
                trace,
                advice: None,
            })
        };
        let mismatch = match confirm(program, schedule, found.clone()) {
            Ok(violation) => return Ok(violation),
            Err(mismatch) => mismatch,
        };
        if schedule.memory != MemoryModel::C11 || mismatch == Mismatch::NoTime {
            return Err(mismatch);
        }
        let mut is_time_up = || self.watch.is_over();
        let mut effort = Effort::new(schedule, &mut is_time_up);
        match nearest(program, schedule, &found, &mut effort) {
            Some((schedule, found)) => confirm(program, &schedule, found).map_err(|_| mismatch),
            None => Err(mismatch),
        }
    }
}
