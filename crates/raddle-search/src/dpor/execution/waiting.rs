//! Races of operations that wait, and what is awaited.

use super::super::awaits::awaits_with;
use super::{EventId, Execution, Last, NO_EVENT, NO_READ, Touch};
use raddle_memory::access::sync_mode;
use raddle_memory::{AccessMode, Machine};
use raddle_program::{LocId, Op, Program, StateId, ThreadId, Value};

impl Execution {
    /// Has anything been added to `loc` since its last write? Then the order of its writers is not fixed, and its value
    /// elsewhere than in the execution has to be found out.
    pub(in crate::dpor) fn has_additions(&self, loc: LocId) -> bool {
        self.loc_state(loc).adders != NO_READ
    }

    /// Lines 9-22 of algorithm 1 for an operation that waits at one location, all of whose writers conflict with each other:
    /// the last writer of the location before which `thread`, in `state`, could have gone on, if it could have got there.
    /// Since every writer conflicts with every other, the value there is the one in the execution, the only maximal
    /// subsequence `u` is `w` itself, and `can-stop` holds at once. Writers that are atomic blocks are candidates in any
    /// case: whether `thread` could go on before them is found out by running that.
    pub(in crate::dpor) fn waiting_races(
        &mut self,
        program: &mut Program,
        machine: &mut Machine,
        (thread, state): (ThreadId, StateId),
        loc: LocId,
        races: &mut Vec<EventId>,
    ) {
        let mut writer = self.loc_state(loc).last_write;
        while writer != NO_EVENT {
            if self.events[writer as usize].thread == thread || self.before_next_of(writer, thread)
            {
                return;
            }
            match self.value_before(writer, loc) {
                Some(value) if self.would_wait(program, machine, (thread, state), value) => {}
                Some(_) => {
                    races.push(writer);
                    return;
                }
                None => races.push(writer),
            }
            let Some(touch) = self.touch_of(writer, loc) else {
                return;
            };
            if touch.before.adders != NO_READ {
                // Additions before this writer: see `Search::reverse_await`.
                races.push(writer);
                return;
            }
            writer = touch.before.last_write;
        }
    }

    /// Would `thread` have to wait in `state` if the location it waits at held `value`?
    pub(super) fn would_wait(
        &self,
        program: &mut Program,
        machine: &mut Machine,
        at: (ThreadId, StateId),
        value: Value,
    ) -> bool {
        let (thread, state) = at;
        match *program.op(state) {
            Op::Sync { action, .. } if action.may_wait() => {
                machine.would_wait(value, action, thread)
            }
            _ if !self.awaits => false,
            _ => awaits_with(
                program,
                machine,
                self,
                (thread, state, self.last_of(thread)),
                value,
            ),
        }
    }

    /// What `op` of `thread`, not part of a block, accesses when it is run after notdep(first, E). `first` accesses a location
    /// of it; unless sizes are mixed, whatever else changes that location happens after `first`, so that its value there is
    /// the one before `first`.
    pub(in crate::dpor) fn last_of_race(
        &self,
        program: &Program,
        machine: &mut Machine,
        first: EventId,
        thread: ThreadId,
        op: Op,
    ) -> Last {
        let adds = |loc| self.any_added && self.adds_since(first, loc);
        let mode = match op {
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } if adds(loc) => {
                return Last::Run;
            }
            // Behind an atomic block, say: whether it has to wait there is found out by running that.
            Op::Load { loc, .. } | Op::Rmw { loc, .. }
                if self.awaits && self.value_before(first, loc).is_none() =>
            {
                return Last::Run;
            }
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Alloc { .. }
            | Op::Free { .. } => return Last::Same,
            Op::Cas { loc, .. } if program.is_mixed(loc) => None,
            Op::Cas { loc, expected, .. } => {
                self.value_before(first, loc)
                    .map(|value| match value == expected {
                        true => AccessMode::Update,
                        false => AccessMode::Read,
                    })
            }
            Op::Sync { action, .. } if !action.may_wait() && !action.may_fail() => {
                return Last::Same;
            }
            Op::Sync { cell, action } => self
                .value_before(first, cell)
                .and_then(|word| machine.outcome(word, action, thread))
                .map(|value| sync_mode(action, value)),
            _ => None,
        };
        mode.map_or(Last::Run, Last::Mode)
    }

    /// Is `first` an addition to `loc`, or was there one before it since the last write or after it?
    pub(super) fn adds_since(&self, first: EventId, loc: LocId) -> bool {
        let now = self
            .locs
            .get(loc.index())
            .is_some_and(|state| state.adders != NO_READ);
        now || self
            .touch_of(first, loc)
            .is_some_and(|touch| touch.before.adders != NO_READ)
    }

    pub(super) fn touch_of(&self, event: EventId, loc: LocId) -> Option<Touch> {
        let start = self.events[event as usize].touches as usize;
        let end = self
            .events
            .get(event as usize + 1)
            .map_or(self.touches.len(), |next| next.touches as usize);
        self.touches[start..end]
            .iter()
            .find(|touch| touch.loc == loc)
            .copied()
    }

    /// What the location of an event held before, if the event is one operation.
    pub(in crate::dpor) fn held_before(&self, event: EventId) -> Option<u64> {
        let event = &self.events[event as usize];
        event.before_known.then_some(event.before[0])
    }

    /// What `loc` held before `event`, which touched it.
    pub(in crate::dpor) fn value_before(&self, event: EventId, loc: LocId) -> Option<u64> {
        let event = &self.events[event as usize];
        let position = self
            .footprints
            .accesses(event.footprint)
            .iter()
            .position(|access| access.loc == loc)?;
        (event.before_known && position < 2).then(|| event.before[position])
    }
}
