//! Threads that go no further: at memory that was freed, at a wait without its mutex, at what the engine refuses.

use super::event::{Ev, Event, Kind, Place};
use super::ops::misused;
use super::races::freed as freed_access;
use super::reads::byte_of;
use super::store::{Cursor, Halt};
use super::{Search, Step};
use crate::frame::Frame;
use raddle_program::tables::NO_SLOT;
use raddle_program::{
    Fault, LocId, Misuse, Op, Program, SrcId, Stop, SyncAction, ThreadId, Unsupported,
};
use std::ops::ControlFlow;

/// The free of an object that a thread is about to access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freed {
    by: Ev,
    /// Does it happen before the access?
    pub(super) is_known: bool,
}

impl Search {
    /// The free of the object that a thread is about to access, if there is one.
    pub(super) fn freed(&self, program: &Program, thread: usize, loc: LocId) -> Option<Freed> {
        let info = program.tables().loc_info(loc);
        if info.life == NO_SLOT {
            return None;
        }
        let freed = self.graph.life(info.object.index())?.freed;
        let now = Ev::new(thread, self.graph.threads[thread].events.len());
        let known = self.graph.known(thread);
        freed.is_event().then(|| Freed {
            by: freed,
            is_known: self.graph.is_earlier(freed, now, known),
        })
    }

    /// Stops a thread that is about to wait on a condition variable with a mutex that it does not hold. Who holds a mutex has made the last write to it,
    /// so that is known before the first of the two objects is touched, and nobody sees half of an operation that fails.
    pub(super) fn wait_without_mutex(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
    ) -> ControlFlow<(), Option<Step>> {
        let Cursor { state, part, .. } = self.graph.threads[thread].cursor;
        let Op::Sync {
            cell,
            action: SyncAction::CondRelease { mutex },
        } = *program.op(state)
        else {
            return ControlFlow::Continue(None);
        };
        if part != 0 {
            return ControlFlow::Continue(None);
        }
        if let Some(freed) = self.freed(program, thread, mutex)
            && freed.is_known
        {
            let stopped = self.stop_at_freed(program, frame, thread, mutex, freed);
            return stopped.map_continue(Some);
        }
        let place = Place::of(mutex);
        let last = self.graph.last_write(place);
        let word = self.graph.value_from(program, place, last);
        let bytes = self.kind_bytes(program, (state, 2));
        let name = ThreadId::from_index(thread);
        let written = |arena| byte_of(bytes, arena);
        if self
            .rules
            .given_up(program, name, mutex, word, &written)
            .is_some()
        {
            return ControlFlow::Continue(None);
        }
        let fault = misused(program, cell, Misuse::WaitWithoutMutex);
        let stopped = self.stop_at(program, frame, thread, fault, Ev::NONE);
        stopped.map_continue(Some)
    }

    /// The thread goes no further: it accesses memory that was freed.
    pub(super) fn stop_at_freed(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        loc: LocId,
        freed: Freed,
    ) -> ControlFlow<(), Step> {
        let state = self.graph.threads[thread].cursor.state;
        let fault = freed_access(program, program.op(state), loc);
        self.stop_at(program, frame, thread, fault, freed.by)
    }

    /// The thread goes no further: what it meets is wrong, and is so behind this event.
    fn stop_at(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        fault: Fault,
        behind: Ev,
    ) -> ControlFlow<(), Step> {
        let at = self.halt(program, thread, behind, false);
        frame.graph_fault(
            program,
            ThreadId::from_index(thread),
            at,
            fault,
            |program| self.schedule_to_fault(program, thread),
        )?;
        ControlFlow::Continue(Step::Done)
    }

    pub(super) fn refuse(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        what: Unsupported,
    ) -> ControlFlow<(), Step> {
        let at = self.halt(program, thread, Ev::NONE, true);
        let stop = Stop::Unsupported(what);
        frame.graph_stop(program, ThreadId::from_index(thread), at, stop, |program| {
            self.schedule(program)
        })?;
        ControlFlow::Continue(Step::Done)
    }

    fn halt(&mut self, program: &Program, thread: usize, behind: Ev, is_refused: bool) -> SrcId {
        let cursor = self.graph.threads[thread].cursor;
        let mut event = Event::new(cursor.state, cursor.part, Kind::Other);
        let index = self.graph.threads[thread].events.len();
        self.graph.inherit(&mut event, thread, index);
        event.source = behind;
        event.is_fault = true;
        event.is_refused = is_refused;
        let halted = Cursor {
            halt: Halt::Fault,
            ..cursor
        };
        self.graph.add(program, thread, event, 0, halted);
        program.at(cursor.state)
    }
}
