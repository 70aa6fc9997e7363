//! What others saw of an iteration that changes a location and takes that back ([`crate::purity`]).
//!
//! All executions of a class must agree on it. Additions whose results nobody uses ("blind" ones) are in no order among each other, so nothing here may depend on
//! which of two comes first.

use super::{EventId, Execution, LocState, NO_EVENT, ReadNode};
use crate::purity::{Change, Meanwhile, is_blind};
use raddle_program::{Op, Program, RmwKind, ThreadId, Value};

/// More writes by others between two changes of a thread's are not looked at.
const MOST_WRITES: usize = 64;

impl Execution {
    /// Was the last write before an event, which made this change, its thread's own?
    pub(in crate::dpor) fn found_own(&self, event: EventId, change: Change) -> bool {
        let thread = self.events[event as usize].thread;
        self.touch_of(event, change.loc)
            .is_some_and(|touch| self.is_own(thread, touch.before, change))
    }

    /// The same for the next event of a thread.
    pub(in crate::dpor) fn finds_own(&self, thread: ThreadId, change: Change) -> bool {
        self.is_own(thread, self.loc_state(change.loc), change)
    }

    /// Where somebody may have added blindly before or after, who knows?
    fn is_own(&self, thread: ThreadId, state: LocState, change: Change) -> bool {
        let is_of_thread = |event: EventId| self.event(event).thread == thread;
        let mut adders = self.listed(state.adders);
        !change.is_blind
            && adders.next().is_none()
            && state.last_write != NO_EVENT
            && is_of_thread(state.last_write)
    }

    /// Has any other thread noticed what a thread had changed, between two changes of it? An access does not notice if without the iteration it would have
    /// led its thread to the same state, and would have left the location different by just what is missing there.
    pub(in crate::dpor) fn is_noticed(
        &self,
        program: &mut Program,
        thread: ThreadId,
        meanwhile: Meanwhile,
    ) -> bool {
        let Meanwhile {
            loc,
            first,
            last,
            may_write,
            ..
        } = meanwhile;
        let mut state = match last {
            NO_EVENT => self.loc_state(loc),
            last => match self.touch_of(last, loc) {
                Some(touch) => touch.before,
                None => return true,
            },
        };
        let is_others = |event: EventId| self.event(event).thread != thread;
        for _ in 0..MOST_WRITES {
            let mut since = self
                .listed(state.readers)
                .take_while(|&event| event > first);
            if since.any(|event| is_others(event) && self.notices(program, event, meanwhile)) {
                return true;
            }
            // Blind additions notice nothing.
            if !may_write && self.listed(state.adders).any(is_others) {
                return true;
            }
            let write = state.last_write;
            if write == NO_EVENT || write <= first {
                return false;
            }
            if is_others(write) && (!may_write || self.notices(program, write, meanwhile)) {
                return true;
            }
            match self.touch_of(write, loc) {
                Some(touch) => state = touch.before,
                None => return true,
            }
        }
        true
    }

    fn notices(&self, program: &mut Program, event: EventId, meanwhile: Meanwhile) -> bool {
        let Meanwhile { loc, pending, .. } = meanwhile;
        let done = self.event(event);
        let state = done.state;
        let op = *program.op(state);
        let is_access = match op {
            Op::Load { loc: at, .. } | Op::Rmw { loc: at, .. } | Op::Cas { loc: at, .. } => {
                at == loc
            }
            _ => false,
        };
        if !is_access || done.is_block {
            return true;
        }
        if is_blind(program, state) {
            return false;
        }
        let Some(found) = self.value_before(event, loc) else {
            return true;
        };
        let size = program.tables().loc_info(loc).size;
        let minus = |a: Value, b: Value| RmwKind::Sub.apply(a, b, size);
        let without = minus(found, pending);
        let left = |value| op.written(program.tables(), value).unwrap_or(value);
        minus(left(found), left(without)) != pending
            || program.after(state, found) != program.after(state, without)
    }

    /// The events of a list, the last one first.
    fn listed(&self, mut node: u32) -> impl Iterator<Item = EventId> {
        std::iter::from_fn(move || {
            let ReadNode { event, next } = *self.reads.get(node as usize)?;
            node = next;
            Some(event)
        })
    }
}
