//! Awaits of a location that others add to: lines 9-22 of algorithm 1 in full.
//!
//! Fetch-and-adds whose results nobody uses are independent (IFAA), so the events that may enable an await do not all conflict with each other.
//! To let it go first, some of them may have to be left out: every maximal happens-before prefix `u` of notdep(e, E) after
//! which the await can go on gives a sequence to explore. They are enumerated by leaving out one addition at a time.

use super::Search;
use super::awaits::awaits_with;
use super::execution::{EventId, NO_EVENT};
use super::insertion::Position;
use super::races::{Goal, Second};
use crate::purity::Attempt;
use raddle_memory::AccessMode;
use raddle_program::{LocId, Program, Value};

/// An await and the location it waits at.
#[derive(Clone, Copy)]
struct Await {
    second: Second,
    attempt: Attempt,
    /// The last event of its thread before it.
    last: EventId,
}

impl Search {
    /// Lines 9-22 for one await.
    pub(super) fn reverse_await(&mut self, program: &mut Program, second: Second) {
        let Some(attempt) = Attempt::of(program, second.state) else {
            return;
        };
        let (end, last) = match second.event {
            NO_EVENT => (
                self.execution.len() as EventId,
                self.execution.last_of(second.thread),
            ),
            event => (event, self.execution.event(event).parent),
        };
        let waits = Await {
            second,
            attempt,
            last,
        };
        for first in (0..end).rev() {
            let event = self.execution.event(first);
            let Some(mode) = self
                .execution
                .footprints
                .accesses(event.footprint)
                .iter()
                .find(|access| access.loc == attempt.loc)
                .map(|access| access.mode)
            else {
                continue;
            };
            if !mode.writes() || event.thread == second.thread || self.leads_to(first, second) {
                continue;
            }
            let did_insert = self.reverse_await_with(program, waits, first);
            // `can-stop`: an event that is no addition conflicts with all that write the location.
            if did_insert && mode != AccessMode::Add {
                break;
            }
        }
    }

    /// Lines 12-21: is there a way to let the await go before `first`?
    fn reverse_await_with(&mut self, program: &mut Program, waits: Await, first: EventId) -> bool {
        let loc = waits.attempt.loc;
        let base = match self.execution.value_before(first, loc) {
            Some(value) => value,
            None => self.run_to(program, first, loc),
        };
        let additions: Vec<EventId> = (first + 1..self.execution.len() as EventId)
            .filter(|&event| !self.execution.before(first, event) && self.adds_to(event, loc))
            .collect();
        let mut found = Vec::new();
        self.leave_out(
            program,
            waits,
            (base, &additions),
            &mut Vec::new(),
            0,
            &mut found,
        );
        let maximal: Vec<Vec<EventId>> = found
            .iter()
            .filter(|this| {
                !found.iter().any(|other| {
                    other.len() < this.len() && other.iter().all(|event| this.contains(event))
                })
            })
            .cloned()
            .collect();
        for left_out in &maximal {
            let value = self.value_without(program, (base, &additions), left_out);
            let mode = match waits.attempt.pure_result(
                program,
                &mut self.machine,
                waits.second.thread,
                value,
            ) {
                Some(_) => AccessMode::Read,
                None => AccessMode::Update,
            };
            let goal = Goal {
                second: waits.second,
                is_block: false,
                footprint: self.footprint_with(program, waits.second, mode),
            };
            self.build_sequence(first);
            self.leave_out_of_sequence(|search, event| search.is_left_out(event, left_out));
            let is_redundant = self.sleep_set(first as usize).iter().any(|&sleeper| {
                let step = &self.sleepers[sleeper as usize].step;
                !matches!(
                    self.position_of(program.tables(), step, Some(&goal)),
                    Position::Dependent(_)
                )
            });
            if !is_redundant {
                self.insert(program.tables(), first, &goal);
            }
        }
        !maximal.is_empty()
    }

    /// What the location holds before an atomic block, found out by running what comes before it.
    fn run_to(&mut self, program: &mut Program, block: EventId, loc: LocId) -> Value {
        let machine = &mut self.scratch;
        machine.undo_to(self.scratch_start);
        for id in 0..block {
            let event = self.execution.event(id);
            machine.step(program, event.thread, self.execution.choices(event.choices));
        }
        machine.peek(program.tables(), loc)
    }

    fn adds_to(&self, event: EventId, loc: LocId) -> bool {
        let footprint = self.execution.event(event).footprint;
        self.execution
            .footprints
            .accesses(footprint)
            .iter()
            .any(|access| access.loc == loc && access.mode == AccessMode::Add)
    }

    /// What the location holds if some additions, and all that happens after them, are left out.
    fn value_without(
        &self,
        program: &Program,
        (base, additions): (Value, &[EventId]),
        left_out: &[EventId],
    ) -> Value {
        additions
            .iter()
            .filter(|&&event| !self.is_left_out(event, left_out))
            .fold(base, |value, &event| {
                let op = program.op(self.execution.event(event).state);
                op.written(program.tables(), value).unwrap_or(value)
            })
    }

    fn is_left_out(&self, event: EventId, left_out: &[EventId]) -> bool {
        left_out
            .iter()
            .any(|&out| event == out || (out < event && self.execution.before(out, event)))
    }

    /// Collects the sets of additions to leave out so that the await can go on.
    fn leave_out(
        &mut self,
        program: &mut Program,
        waits: Await,
        (base, additions): (Value, &[EventId]),
        left_out: &mut Vec<EventId>,
        from: usize,
        found: &mut Vec<Vec<EventId>>,
    ) {
        let value = self.value_without(program, (base, additions), left_out);
        let at = (waits.second.thread, waits.second.state, waits.last);
        if !awaits_with(program, &mut self.machine, &self.execution, at, value) {
            found.push(left_out.clone());
            return;
        }
        for position in from..additions.len() {
            let event = additions[position];
            if self.leads_to(event, waits.second) || self.is_left_out(event, left_out) {
                continue;
            }
            left_out.push(event);
            self.leave_out(
                program,
                waits,
                (base, additions),
                left_out,
                position + 1,
                found,
            );
            left_out.pop();
        }
    }
}
