//! Data races, and reads of what nobody has written.

use super::Search;
use super::buffered::is_delayed;
use super::event::{Ev, Kind, Place};
use crate::frame::Frame;
use crate::replay::{self, Causes, Schedule, ScheduleStep, needed};
use crate::verdict::ViolationKind;
use raddle_memory::{MemoryModel, RaceAccess, RaceInfo};
use raddle_program::tables::NO_SLOT;
use raddle_program::{AccessKind, Fault, LocId, ObjectId, Op, Program, ThreadId, Unsupported};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// The access to memory that was freed.
pub(super) fn freed(program: &Program, op: &Op, loc: LocId) -> Fault {
    let access = match op {
        Op::Load { .. } => AccessKind::Read,
        Op::Store { .. } => AccessKind::Write,
        _ => AccessKind::Update,
    };
    let info = program.tables().loc_info(loc);
    Fault::UseAfterFree {
        access,
        object: info.object,
        offset: info.offset as i64,
    }
}

/// What is given up where both orders would have to be explored.
pub(super) const UNORDERED_FREE: &str =
    "a free that is not ordered with an access, where races are left out,";

/// See [`Search::may_race_with_write`].
const FEW_WRITES: usize = 8;

impl Search {
    /// Reports a race of an event, which was just added, with an earlier one.
    pub(super) fn find_races(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        event: Ev,
    ) -> ControlFlow<()> {
        if !program.has_plain_accesses() {
            return ControlFlow::Continue(());
        }
        let place = self.graph.event(event).place;
        let Some(loc) = place.loc() else {
            return ControlFlow::Continue(());
        };
        let info = *program.tables().loc_info(loc);
        if self.plain_is_relaxed && !info.mixed {
            return ControlFlow::Continue(());
        }
        let mut found = None;
        if !info.is_sync() {
            found = self.racing_at(event, place);
            if info.mixed {
                for &other in program.tables().overlaps(loc) {
                    found = found.or(self.racing_at(event, Place::of(other)));
                }
            }
        }
        if found.is_none() && info.life != NO_SLOT && !self.plain_is_relaxed {
            let life = self.graph.life(info.object.index());
            let freed = life.map(|life| life.freed).filter(|freed| freed.is_event());
            found = freed.filter(|&freed| !self.graph.happens_before(freed, event));
        }
        match found {
            // Plain accesses of several sizes are not taken for relaxed ones: they do not branch.
            Some(_) if self.plain_is_relaxed => {
                let what = "accesses of different sizes to the same bytes that race, where races are left out,";
                self.give_up(program, frame, event.of(), what)
            }
            Some(other) => self.report_race(program, frame, other, event),
            None => ControlFlow::Continue(()),
        }
    }

    /// The thread has done something whose other orders are not explored.
    pub(super) fn give_up(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        what: &str,
    ) -> ControlFlow<()> {
        let what = Unsupported::Instruction { what: what.into() };
        self.refuse(program, frame, thread, what)
            .map_continue(|_| ())
    }

    /// An access at a place that races with an event.
    fn racing_at(&self, event: Ev, place: Place) -> Option<Ev> {
        let e = self.graph.event(event);
        if e.kind != Kind::Write && !self.may_race_with_write(event, place) {
            return None;
        }
        (0..self.graph.threads.len())
            .filter(|&thread| thread != event.of())
            .find_map(|thread| {
                let mut at = self.graph.last_here(place, thread);
                while let Some(other) = at {
                    if self.graph.happens_before(other, event) {
                        return None;
                    }
                    let o = self.graph.event(other);
                    let writes = e.kind == Kind::Write || o.kind == Kind::Write;
                    if writes && (e.is_plain() || o.is_plain()) {
                        return Some(other);
                    }
                    at = self.graph.before_here(other);
                }
                None
            })
    }

    /// Can a read race with a write to a place? Where few have written, many may have read: these are not looked at one by one.
    fn may_race_with_write(&self, read: Ev, place: Place) -> bool {
        let writes = self.graph.writes(place);
        writes.len() > FEW_WRITES
            || self.graph.has_additions(place)
            || writes.iter().any(|&write| {
                write.thread != read.thread && !self.graph.happens_before(write, read)
            })
    }

    /// A free is a plain write to the whole object.
    pub(super) fn find_races_of_free(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        free: Ev,
        object: ObjectId,
    ) -> ControlFlow<()> {
        let accesses = self.graph.last_at_object(object.index());
        let mut unordered = accesses.filter(|&access| {
            access.thread != free.thread && !self.graph.happens_before(access, free)
        });
        let Some(access) = unordered.next() else {
            return ControlFlow::Continue(());
        };
        drop(unordered);
        if self.plain_is_relaxed {
            match self.graph.event(access).waits() {
                true => self.report_freed(program, frame, access)?,
                false => self.free_before(program, frame, access, free)?,
            }
            // What else others could have seen then is not explored.
            return self.give_up(program, frame, free.of(), UNORDERED_FREE);
        }
        self.report_race(program, frame, access, free)
    }

    /// The free could have come first, unless it depends on the access: then the access is one to freed memory. Where races are looked for
    /// it is one of those.
    fn free_before(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        access: Ev,
        free: Ev,
    ) -> ControlFlow<()> {
        let event = self.graph.event(access);
        let (state, place) = (event.state, event.place);
        let Some(loc) = place.loc() else {
            return ControlFlow::Continue(());
        };
        let fault = freed(program, program.op(state), loc);
        let at = program.at(state);
        if frame.is_known_fault(&fault, at) {
            return ControlFlow::Continue(());
        }
        match self.schedule_with_free_before(program, access, free) {
            Some(schedule) => {
                let thread = ThreadId::from_index(access.of());
                frame.graph_fault(program, thread, at, fault, |_| schedule)
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// What the free depends on, and what comes before the access; then the access. That is closed under program order and reads-from, so it is
    /// an execution as well.
    fn schedule_with_free_before(
        &self,
        program: &mut Program,
        access: Ev,
        free: Ev,
    ) -> Option<Schedule> {
        let (schedule, steps) = self.linearised_as(program, MemoryModel::C11);
        let causes = Causes::of(program, &schedule)?;
        let (access, free) = (steps.of(access), steps.of(free));
        let mut wanted = causes.right_before.get(access)?.clone();
        wanted.push(free);
        let needed = needed(&causes, wanted)?;
        if needed[access] {
            return None;
        }
        let thread = schedule.steps[access].thread();
        if self.judge.memory == MemoryModel::C11 {
            let kept: Vec<usize> = (0..needed.len()).filter(|&step| needed[step]).collect();
            let mut part = causes.part(&schedule, &kept);
            part.steps.push(ScheduleStep::Place {
                thread,
                choices: Vec::new(),
                reads: None,
                after: None,
            });
            return Some(part);
        }
        // The n-th step of a thread is the same operation in whatever order threads take turns.
        let mut kept: FxHashMap<ThreadId, usize> = FxHashMap::default();
        for (step, _) in schedule
            .steps
            .iter()
            .zip(&needed)
            .filter(|(_, needed)| **needed)
        {
            *kept.entry(step.thread()).or_default() += 1;
        }
        let mut part = self.beginnings(program, &kept);
        let choices = Vec::new();
        part.steps.push(ScheduleStep::Run { thread, choices });
        Some(part)
    }

    /// The first operations of each thread, so many of each, and what becomes of their stores. Where stores are delayed, those that are left out are
    /// behind all others of their thread.
    fn beginnings(&self, program: &mut Program, kept: &FxHashMap<ThreadId, usize>) -> Schedule {
        let (mut part, steps) = self.linearised(program);
        let mut left = kept.clone();
        // By thread, whether the operations are kept whose stores are delayed.
        let mut buffers: FxHashMap<ThreadId, Vec<bool>> = FxHashMap::default();
        let mut number = 0;
        part.steps.retain(|step| {
            let thread = step.thread();
            let buffer = buffers.entry(thread).or_default();
            let is_kept = match step {
                ScheduleStep::Flush { position, .. } => buffer.remove(*position as usize),
                ScheduleStep::Run { .. } | ScheduleStep::Place { .. } => {
                    let left = left.entry(thread).or_default();
                    let is_kept = *left > 0;
                    *left = left.saturating_sub(1);
                    let event = steps.event_of(thread.index(), number);
                    if event.is_some_and(|event| is_delayed(self.graph.event(event))) {
                        buffer.push(is_kept);
                    }
                    is_kept
                }
            };
            number += 1;
            is_kept
        });
        part
    }

    fn report_race(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        first: Ev,
        second: Ev,
    ) -> ControlFlow<()> {
        let waits = |event: &Ev| self.graph.event(*event).waits();
        let waiting = [first, second].into_iter().find(waits);
        if let Some(read) = waiting {
            let is_free = |event: Ev| self.graph.event(event).place == Place::NOWHERE;
            let (is_cell, other) = (
                self.graph.event(read).is_cell,
                if read == first { second } else { first },
            );
            // An operation on a synchronisation object that waits cannot be done, unless it fails; where executions are sequences the free comes first.
            if is_free(other) && (is_cell || self.judge.memory != MemoryModel::C11) {
                return self.report_freed(program, frame, read);
            }
        }
        let side = |event: Ev| {
            let state = self.graph.event(event).state;
            RaceAccess {
                thread: ThreadId::from_index(event.of()),
                state,
                at: program.at(state),
                step: 0,
            }
        };
        let race = RaceInfo {
            first: side(first),
            second: side(second),
        };
        let (thread, at) = (race.second.thread, race.second.at);
        let kind = ViolationKind::Race(race);
        if frame.is_known(&kind, at) {
            return ControlFlow::Continue(());
        }
        let told = match waiting {
            // It could learn of the other one by reading. It would not wait here if it had been known that others write plainly: the search will begin anew.
            Some(read) if acquires(program.op(self.graph.event(read).state)) => None,
            Some(read) => self.linearised_with(program, read),
            None => Some(self.linearised_to_race(program, [first, second])),
        };
        let Some((schedule, steps)) =
            told.filter(|(_, steps)| steps.has(first) && steps.has(second))
        else {
            let what = "a data race with a read at which a thread waits (not reproduced by graph)";
            return self.give_up(program, frame, second.of(), what);
        };
        frame.graph_violation(program, kind, thread, at, |program, kind| {
            if let ViolationKind::Race(race) = kind {
                race.first.step = steps.of(first);
                race.second.step = steps.of(second);
                if race.first.step > race.second.step {
                    std::mem::swap(&mut race.first, &mut race.second);
                }
                if schedule.memory != MemoryModel::C11 {
                    tell_as_replayed(program, &schedule, race);
                }
            }
            schedule
        })
    }

    /// Reports that the object is freed at which a thread waits.
    fn report_freed(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        read: Ev,
    ) -> ControlFlow<()> {
        let event = self.graph.event(read);
        let (state, place) = (event.state, event.place);
        let Some(loc) = place.loc() else {
            return ControlFlow::Continue(());
        };
        let (fault, at) = (freed(program, program.op(state), loc), program.at(state));
        if frame.is_known_fault(&fault, at) {
            return ControlFlow::Continue(());
        }
        let Some((schedule, _)) = self.linearised_with(program, read) else {
            let what = "freeing an object at which a thread waits (not reproduced by graph)";
            return self.give_up(program, frame, read.of(), what);
        };
        let thread = ThreadId::from_index(read.of());
        frame.graph_fault(program, thread, at, fault, |_| schedule)
    }

    /// Reports a read that depends on what nobody has written.
    pub(super) fn find_uninitialised(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        read: Ev,
    ) -> ControlFlow<()> {
        let event = *self.graph.event(read);
        if !self.checks_uninit || event.is_cell || !program.needs_contents(event.state) {
            return ControlFlow::Continue(());
        }
        let Some(loc) = event.place.loc() else {
            return ControlFlow::Continue(());
        };
        let info = *program.tables().loc_info(loc);
        let object = program.tables().object_info(info.object);
        if !program.tables().starts_unwritten(&info)
            || object.init.is_some()
            || event.source != Ev::INIT
        {
            return ControlFlow::Continue(());
        }
        let life = self.graph.life(info.object.index());
        if life.is_some_and(|life| life.is_zeroed) {
            return ControlFlow::Continue(());
        }
        let fault = Fault::Uninitialised {
            object: Some(info.object),
            offset: info.offset as i64,
        };
        let at = program.at(event.state);
        let thread = ThreadId::from_index(read.of());
        frame.graph_fault(program, thread, at, fault, |program| self.schedule(program))
    }
}

/// May a read learn from what it reads?
fn acquires(op: &Op) -> bool {
    match *op {
        Op::Load { order, .. } | Op::Rmw { order, .. } => order.acquires(),
        Op::Cas {
            success, failure, ..
        } => success.acquires() || failure.acquires(),
        _ => false,
    }
}

/// The machine tells of each access the last one before that it races with: takes that race, or another one of the execution.
fn tell_as_replayed(program: &mut Program, schedule: &Schedule, race: &mut RaceInfo) {
    let Ok(replayed) = replay::replay(program, schedule) else {
        return;
    };
    let is_about = |found: &&RaceInfo| found.second.step == race.second.step;
    let found = replayed.races.iter().find(is_about);
    if let Some(found) = found.or(replayed.races.first()) {
        *race = found.clone();
    }
}
