//! Race detection: lines 3-22 of algorithm 1.
//!
//! For a race of `e` with a later `e'`, the sequence `v` = notdep(e, E).ê' is what leads from the prefix before `e` to an
//! execution in which `e'` comes first. It is inserted there unless a thread asleep makes it redundant.
//!
//! Whether a sleeper `q` of that prefix is a weak initial of `v` (definition 3) is decided by looking for an event of `v`
//! that depends on `q`'s next event. That is enough also when `q` runs in `v`: while `q` sleeps it does not run, so some
//! event woke it; the waker happens before `q`'s event, so it is in `v` if `q`'s event is.

use super::Search;
use super::awaits::{Closing, closing};
use super::execution::{ChoiceId, EventId, Last, NO_EVENT, Race};
use super::footprint::FootprintId;
use super::settled::{Settled, Suffix};
use super::wakeup::Step;
use super::{Held, Sleeper};
use crate::purity::Attempt;
use raddle_memory::{Access, AccessMode, Chosen, Readiness};
use raddle_program::{Op, Program, StateId, Tables, ThreadId};
use smallvec::SmallVec;

/// The second event of a race, which goes first in the sequence to explore.
#[derive(Clone, Copy, Debug)]
pub(super) struct Second {
    pub(super) thread: ThreadId,
    pub(super) state: StateId,
    /// The event in the execution; `NO_EVENT` for a thread that waits at its end.
    pub(super) event: EventId,
    pub(super) choices: ChoiceId,
}

/// Where a wakeup sequence is to lead: its last step, for a race whose second event it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) second: Second,
    pub(super) is_block: bool,
    /// What the step will access.
    pub(super) footprint: FootprintId,
}

impl Goal {
    pub(super) fn to_step(self) -> Step {
        Step {
            thread: self.second.thread,
            choices: self.second.choices,
            is_block: self.is_block,
            footprint: self.footprint,
        }
    }
}

impl Search {
    /// Lines 3-22, for a maximal execution.
    pub(super) fn reverse_races(&mut self, program: &mut Program) {
        let suffix = self.suffix();
        let mut race = 0;
        if self.execution.has_choices() {
            for event in 0..self.execution.len() as EventId {
                race = self.reverse_races_to(program, &suffix, race, event);
                if self.execution.event(event).choices != 0 {
                    self.try_other_choices(program, event);
                }
            }
        }
        self.reverse_races_to(program, &suffix, race, NO_EVENT);
        self.execution.close_races();
        if self.unfinished {
            for index in 0..self.machine.thread_count() {
                self.reverse_waiting(program, ThreadId::from_index(index));
            }
        }
    }

    /// Reverses the open races from `race` on whose second event is at most `event`; the next one.
    fn reverse_races_to(
        &mut self,
        program: &mut Program,
        suffix: &Suffix,
        mut race: usize,
        event: EventId,
    ) -> usize {
        while let Some(found) = self.execution.open_race(race)
            && found.second <= event
        {
            if !self.is_settled(program.tables(), found, suffix) {
                let Race {
                    first,
                    second,
                    last,
                    ..
                } = *found;
                let settled = match (found.settled, last) {
                    (
                        Settled::Covered {
                            leaf: Some(leaf), ..
                        },
                        Some(last),
                    ) => self.leads_there(program.tables(), leaf, first, self.goal(second, last)),
                    _ => Settled::No,
                };
                let settled = match settled {
                    Settled::No => self.reverse(program, first, last, self.second(second), 0),
                    settled => settled,
                };
                let settled = self.for_good((first, second, last), settled);
                self.execution.settle(race, settled);
            }
            race += 1;
        }
        race
    }

    fn goal(&self, event: EventId, footprint: FootprintId) -> Goal {
        Goal {
            second: self.second(event),
            is_block: self.execution.event(event).is_block,
            footprint,
        }
    }

    fn second(&self, event: EventId) -> Second {
        let found = self.execution.event(event);
        Second {
            thread: found.thread,
            state: found.state,
            event,
            choices: found.choices,
        }
    }

    /// Lines 7-22 for a thread that waits at the end of the execution.
    fn reverse_waiting(&mut self, program: &mut Program, thread: ThreadId) {
        // One that is blocked behind an iteration may stand where it would have to wait.
        if self.execution.ends_thread(thread) {
            return;
        }
        let Some(state) = self.machine.thread_state(thread) else {
            return;
        };
        let op = *program.op(state);
        let loc = match (op, self.machine.readiness(program, thread)) {
            (Op::Sync { cell, .. }, Readiness::Waiting) => cell,
            (_, Readiness::Ready) if self.is_awaiting(program, thread) => {
                match Attempt::of(program, state) {
                    Some(attempt) => attempt.loc,
                    None => return,
                }
            }
            _ => return,
        };
        if self.execution.has_additions(loc) {
            let second = Second {
                thread,
                state,
                event: NO_EVENT,
                choices: 0,
            };
            return self.reverse_await(program, second);
        }
        let mut races = Vec::new();
        self.execution
            .waiting_races(program, &mut self.machine, (thread, state), loc, &mut races);
        let in_block = self.machine.is_in_block(thread);
        for first in races {
            let mode = match in_block {
                true => Last::Run,
                false => self
                    .execution
                    .last_of_race(program, &mut self.machine, first, thread, op),
            };
            let last = match mode {
                Last::Same => Some(self.waiting_footprint(program.tables(), op)),
                Last::Mode(mode) => {
                    let footprint = self.waiting_footprint(program.tables(), op);
                    Some(self.execution.footprints.with_first_mode(footprint, mode))
                }
                Last::Run => None,
            };
            let second = Second {
                thread,
                state,
                event: NO_EVENT,
                choices: 0,
            };
            self.reverse(program, first, last, second, 0);
        }
    }

    /// An event that chose is in a race with its own other choices: they are explored from the same prefix.
    fn try_other_choices(&mut self, program: &mut Program, event: EventId) {
        let taken = self
            .execution
            .choices(self.execution.event(event).choices)
            .to_vec();
        let counts = self.choice_counts(program, event);
        for position in 0..taken.len() {
            for alternative in 0..counts[position] {
                if alternative != taken[position] {
                    let mut choices = taken[..position].to_vec();
                    choices.push(alternative);
                    let choices = self.execution.choice_id(&choices);
                    let second = Second {
                        choices,
                        ..self.second(event)
                    };
                    let done = self.execution.event(event);
                    let last = (!done.is_block).then_some(done.footprint);
                    self.reverse(program, event, last, second, position + 1);
                }
            }
        }
    }

    /// How many possibilities each choice inside `event` had.
    fn choice_counts(&self, program: &Program, event: EventId) -> Vec<u32> {
        let start = self.execution.event(event).mark.steps();
        let end = match self.execution.events.get(event as usize + 1) {
            Some(next) => next.mark.steps(),
            None => self.machine.steps().len(),
        };
        let steps = &self.machine.steps()[start..end];
        steps
            .iter()
            .filter_map(|step| match *program.op(step.state) {
                Op::Choice { count, .. } => Some(count),
                _ => None,
            })
            .collect()
    }

    /// Lines 4-6 and 20-21: explores `second` before the race's first event, unless that is redundant. `last` is what it
    /// will access; it is run to find out where that is not known. The first `fixed` of its choices are what they are; it may
    /// have others there than it had, and each of them is a sequence of its own: that one is redundant says nothing about the rest.
    fn reverse(
        &mut self,
        program: &mut Program,
        first: EventId,
        last: Option<FootprintId>,
        second: Second,
        fixed: usize,
    ) -> Settled {
        if let Some(footprint) = last {
            return self.reverse_to(program.tables(), first, second, footprint);
        }
        let found = self.simulate(program, first, second, fixed);
        if found.is_empty() && self.execution.awaits {
            self.reverse_await(program, second);
        }
        for (choices, footprint) in found {
            let second = Second { choices, ..second };
            self.reverse_to(program.tables(), first, second, footprint);
        }
        Settled::No
    }

    /// The same, knowing what the second event will access.
    fn reverse_to(
        &mut self,
        tables: &Tables,
        first: EventId,
        second: Second,
        footprint: FootprintId,
    ) -> Settled {
        for place in self.asleep_at(first as usize) {
            if self.is_weak_initial(tables, place, first, second, footprint) {
                return Settled::Asleep(self.sleeping[place]);
            }
        }
        let goal = Goal {
            second,
            is_block: self.is_block(second),
            footprint,
        };
        self.build_sequence(first);
        self.insert(tables, first, &goal)
    }

    fn is_block(&self, second: Second) -> bool {
        match second.event {
            NO_EVENT => self.machine.is_in_block(second.thread),
            event => self.execution.event(event).is_block,
        }
    }

    /// What an operation that waits at the end of the execution will access.
    fn waiting_footprint(&mut self, tables: &Tables, op: Op) -> FootprintId {
        let mut footprint = SmallVec::new();
        if let Op::Sync { cell: loc, .. }
        | Op::Load { loc, .. }
        | Op::Rmw { loc, .. }
        | Op::Cas { loc, .. } = op
        {
            let mode = match op {
                Op::Load { .. } => AccessMode::Read,
                _ => AccessMode::Update,
            };
            footprint.push(Access { loc, mode });
            let object = tables.loc_info(loc).object;
            if let Some(loc) = tables.object_info(object).life {
                let mode = AccessMode::Read;
                footprint.push(Access { loc, mode });
            }
        }
        self.execution.footprints.intern(footprint)
    }

    /// What the second event of a race will access if it accesses its first location in this way.
    pub(super) fn footprint_with(
        &mut self,
        program: &Program,
        second: Second,
        mode: AccessMode,
    ) -> FootprintId {
        let footprint = match second.event {
            NO_EVENT => self.waiting_footprint(program.tables(), *program.op(second.state)),
            event => self.execution.event(event).footprint,
        };
        self.execution.footprints.with_first_mode(footprint, mode)
    }

    /// Is a sleeper of the prefix before `first` a weak initial of notdep(first, E).last?
    fn is_weak_initial(
        &mut self,
        tables: &Tables,
        place: usize,
        first: EventId,
        second: Second,
        last: FootprintId,
    ) -> bool {
        let sleeper = &self.sleepers[self.sleeping[place] as usize];
        let step = &sleeper.step;
        let is_last = step.thread == second.thread;
        if (is_last && step.choices != second.choices) || (!is_last && step.is_one_of_many()) {
            return false;
        }
        let footprints = &self.execution.footprints;
        if !is_last && !footprints.independent(tables, step.footprint, last) {
            return false;
        }
        let from = match self.held[place] {
            Held::By(event, serial) if self.execution.is_still(event, serial) => return false,
            Held::NotUpTo(event, serial) if self.execution.is_still(event, serial) => {
                sleeper.woken_by.max(event + 1)
            }
            _ => sleeper.woken_by,
        };
        let holder = self.held_back_by(tables, sleeper, first, from);
        let end = self.execution.len() as EventId - 1;
        let serial = |event| self.execution.event(event).serial;
        self.held[place] = match holder {
            Some(event) => Held::By(event, serial(event)),
            None => Held::NotUpTo(end, serial(end)),
        };
        holder.is_none()
    }

    /// The first event, from `from` on, that is in notdep(first, E) and that a sleeper depends on. There is none before the
    /// event that woke it. What is found does not depend on a race, only on its first event, and not on events that follow.
    pub(super) fn held_back_by(
        &self,
        tables: &Tables,
        sleeper: &Sleeper,
        first: EventId,
        from: EventId,
    ) -> Option<EventId> {
        let step = &sleeper.step;
        let execution = &self.execution;
        (from.max(first + 1)..execution.len() as EventId).find(|&event| {
            let other = execution.event(event);
            // A thread that woke itself made another choice, which is no more equivalent than a dependent event.
            let depends = if other.thread == step.thread {
                event == sleeper.woken_by
            } else {
                let footprints = &execution.footprints;
                !footprints.independent(tables, step.footprint, other.footprint)
            };
            depends && !execution.before(first, event)
        })
    }

    /// Runs the prefix before `first`, then notdep(first, E), then the second event, on a machine of its own: what it
    /// accesses with each of the choices that it has there, its own first. None if it cannot run.
    fn simulate(
        &mut self,
        program: &mut Program,
        first: EventId,
        second: Second,
        fixed: usize,
    ) -> SmallVec<[(ChoiceId, FootprintId); 1]> {
        let machine = &mut self.scratch;
        machine.undo_to(self.scratch_start);
        for id in 0..self.execution.len() as EventId {
            if id == first || (id > first && self.execution.before(first, id)) {
                continue;
            }
            let event = self.execution.event(id);
            machine.step(program, event.thread, self.execution.choices(event.choices));
        }
        let last = match second.event {
            NO_EVENT => self.execution.last_of(second.thread),
            event => self.execution.event(event).parent,
        };
        let can_go_on = machine.readiness(program, second.thread) == Readiness::Ready
            && !(self.execution.awaits
                && closing(program, machine, &self.execution, second.thread, last)
                    == Closing::Await);
        let mut found = SmallVec::new();
        if !can_go_on {
            return found;
        }
        let mark = machine.mark();
        let own = self.execution.choices(second.choices).to_vec();
        let mut run = |choices: &[u32]| {
            machine.undo_to(mark);
            machine.step(program, second.thread, choices);
            let taken: Vec<u32> = machine.chosen().iter().map(|chosen| chosen.taken).collect();
            let id = self.execution.choice_id(&taken);
            if found.iter().all(|&(known, _)| known != id) {
                let footprints = &mut self.execution.footprints;
                found.push((id, footprints.of_event(program, machine, mark)));
            }
            (taken, machine.chosen().to_vec())
        };
        let (taken, _) = run(&own);
        let mut next = (taken.len() > fixed).then(|| taken[..fixed].to_vec());
        while let Some(choices) = next {
            let (_, chosen) = run(&choices);
            next = next_choices(chosen, fixed);
        }
        found
    }
}

/// The choices that come after those that were taken, in lexicographic order, if the first `fixed` stay what they are.
pub(super) fn next_choices(mut chosen: Vec<Chosen>, fixed: usize) -> Option<Vec<u32>> {
    while let Some(last) = chosen.last()
        && last.taken + 1 >= last.count
    {
        chosen.pop();
    }
    if chosen.len() <= fixed {
        return None;
    }
    chosen.last_mut()?.taken += 1;
    Some(chosen.iter().map(|choice| choice.taken).collect())
}
