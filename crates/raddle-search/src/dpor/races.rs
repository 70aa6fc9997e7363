//! Race detection: lines 3-22 of algorithm 1, and the insertion into wakeup trees, lines 34-44.
//!
//! For a race of `e` with a later `e'`, the sequence `v` = notdep(e, E).ê' is what leads from the prefix before `e` to an
//! execution in which `e'` comes first. It is inserted there unless a thread asleep makes it redundant.
//!
//! Whether a sleeper `q` of that prefix is a weak initial of `v` (definition 3) is decided by looking for an event of `v`
//! that depends on `q`'s next event. That is enough also when `q` runs in `v`: while `q` sleeps it does not run, so some
//! event woke it; the waker happens before `q`'s event, so it is in `v` if `q`'s event is.

use super::Search;
use super::awaits::{Closing, closing};
use super::execution::{ChoiceId, EventId, Execution, Last, NO_EVENT, Race};
use super::footprint::{Footprint, Summary, footprint, independent};
use super::wakeup::{NodeId, Step};
use crate::purity::Attempt;
use raddle_memory::{Access, AccessMode, Readiness};
use raddle_program::{Op, Program, StateId, Tables, ThreadId};

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
#[derive(Debug)]
pub(super) struct Goal {
    pub(super) second: Second,
    pub(super) is_block: bool,
    /// What the step will access, if not what the event accesses in the execution.
    pub(super) changed: Option<Footprint>,
}

impl Goal {
    fn footprint<'a>(&'a self, execution: &'a Execution) -> &'a Footprint {
        match &self.changed {
            Some(footprint) => footprint,
            None => &execution.event(self.second.event).footprint,
        }
    }

    fn to_step(&self, execution: &Execution) -> Step {
        Step {
            thread: self.second.thread,
            choices: self.second.choices,
            is_block: self.is_block,
            footprint: self.footprint(execution).clone(),
        }
    }
}

/// Memory that is used again for every race.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// The sequence to insert: events of the execution, without the last one.
    pub(super) sequence: Vec<EventId>,
    /// What these access, and maybe more.
    summary: Summary,
    /// One bit for each of 64 sets of threads: those that run in the sequence, and maybe more.
    threads: u64,
}

fn thread_bit(thread: ThreadId) -> u64 {
    1 << (thread.index() % 64)
}

impl Search {
    /// Lines 3-22, for a maximal execution.
    pub(super) fn reverse_races(&mut self, program: &mut Program) {
        for event in 0..self.execution.len() as EventId {
            for position in self.execution.races_of(event) {
                let race = self.execution.race(position);
                let second = self.second(event);
                self.reverse(program, race, second);
            }
            if self.execution.event(event).choices != 0 {
                self.try_other_choices(program, event);
            }
        }
        for index in 0..self.machine.thread_count() {
            self.reverse_waiting(program, ThreadId::from_index(index));
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
        let Some(state) = self.machine.thread_state(thread) else {
            return;
        };
        let op = *program.op(state);
        let loc = match (op, self.machine.readiness(program, thread)) {
            (Op::Sync { cell, .. }, Readiness::Waiting) => cell,
            (_, Readiness::Ready)
                if !self.execution.ends_thread(thread) && self.is_awaiting(program, thread) =>
            {
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
            let last = match in_block {
                true => Last::Run,
                false => self
                    .execution
                    .last_of_race(program, &mut self.machine, first, thread, op),
            };
            let second = Second {
                thread,
                state,
                event: NO_EVENT,
                choices: 0,
            };
            self.reverse(program, Race { first, last }, second);
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
                    let last = if self.execution.event(event).is_block {
                        Last::Run
                    } else {
                        Last::Same
                    };
                    self.reverse(program, Race { first: event, last }, second);
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
                Op::Choice { count } => Some(count),
                _ => None,
            })
            .collect()
    }

    /// Lines 4-6 and 20-21: explores `second` before the race's first event, unless that is redundant.
    fn reverse(&mut self, program: &mut Program, race: Race, second: Second) {
        let first = race.first;
        let changed = match race.last {
            Last::Same if second.event != NO_EVENT => None,
            Last::Mode(mode)
                if second.event != NO_EVENT
                    && self.execution.event(second.event).footprint.first_mode() == Some(mode) =>
            {
                None
            }
            Last::Same | Last::Mode(_) => Some(self.changed_footprint(
                program.tables(),
                program.op(second.state),
                race,
                second,
            )),
            Last::Run => match self.simulate(program, first, second) {
                Some((choices, footprint)) => {
                    let second = Second { choices, ..second };
                    return self.reverse_to(program.tables(), first, second, Some(footprint));
                }
                None => {
                    if self.execution.awaits {
                        self.reverse_await(program, second);
                    }
                    return;
                }
            },
        };
        self.reverse_to(program.tables(), first, second, changed);
    }

    /// The same, knowing what the second event will access: `changed`, or what it accesses in the execution.
    fn reverse_to(
        &mut self,
        tables: &Tables,
        first: EventId,
        second: Second,
        changed: Option<Footprint>,
    ) {
        let goal = Goal {
            second,
            is_block: self.is_block(second),
            changed,
        };
        let footprint = goal.footprint(&self.execution);
        for &sleeper in self.sleep_set(first as usize) {
            if self.is_weak_initial(tables, sleeper as usize, first, second, footprint) {
                return;
            }
        }
        self.build_sequence(first);
        self.insert(tables, first, &goal);
    }

    fn is_block(&self, second: Second) -> bool {
        match second.event {
            NO_EVENT => self.machine.is_in_block(second.thread),
            event => self.execution.event(event).is_block,
        }
    }

    /// What a single operation will access, if not what it accesses in the execution.
    pub(super) fn changed_footprint(
        &self,
        tables: &Tables,
        op: &Op,
        race: Race,
        second: Second,
    ) -> Footprint {
        let footprint = match (second.event, *op) {
            (
                NO_EVENT,
                Op::Sync { cell: loc, .. }
                | Op::Load { loc, .. }
                | Op::Rmw { loc, .. }
                | Op::Cas { loc, .. },
            ) => {
                let mut footprint = Footprint::default();
                let mode = if matches!(op, Op::Load { .. }) {
                    AccessMode::Read
                } else {
                    AccessMode::Update
                };
                footprint.push(Access { loc, mode });
                let object = tables.loc_info(loc).object;
                if let Some(loc) = tables.object_info(object).life {
                    let mode = AccessMode::Read;
                    footprint.push(Access { loc, mode });
                }
                footprint
            }
            (NO_EVENT, _) => Footprint::default(),
            (event, _) => self.execution.event(event).footprint.clone(),
        };
        match race.last {
            Last::Mode(mode) => footprint.with_first_mode(mode),
            Last::Same | Last::Run => footprint,
        }
    }

    /// Line 5: notdep(e, E).
    pub(super) fn build_sequence(&mut self, first: EventId) {
        let execution = &self.execution;
        let Buffers {
            sequence,
            summary,
            threads,
        } = &mut self.buffers;
        sequence.clear();
        *summary = Summary::default();
        *threads = 0;
        for event in first + 1..execution.len() as EventId {
            if !execution.before(first, event) {
                sequence.push(event);
                let event = execution.event(event);
                summary.join(event.footprint.summary());
                *threads |= thread_bit(event.thread);
            }
        }
    }

    /// Is a sleeper of the prefix before `first` a weak initial of notdep(first, E).last?
    fn is_weak_initial(
        &self,
        tables: &Tables,
        sleeper: usize,
        first: EventId,
        second: Second,
        last: &Footprint,
    ) -> bool {
        let sleeper = &self.sleepers[sleeper];
        let step = &sleeper.step;
        let is_last = step.thread == second.thread;
        if (is_last && step.choices != second.choices) || (!is_last && step.is_one_of_many()) {
            return false;
        }
        let mut event = sleeper.woken_by;
        while event != NO_EVENT && (event as usize) < self.execution.len() {
            if event > first && !self.execution.before(first, event) {
                let other = self.execution.event(event);
                // A thread that woke itself made another choice, which is no more equivalent than a dependent event.
                let depends = if other.thread == step.thread {
                    event == sleeper.woken_by
                } else {
                    !independent(tables, &step.footprint, &other.footprint)
                };
                if depends {
                    return false;
                }
            }
            event += 1;
        }
        is_last || independent(tables, &step.footprint, last)
    }

    /// Runs the prefix before `first`, then notdep(first, E), then the second event, on a machine of its own.
    fn simulate(
        &mut self,
        program: &mut Program,
        first: EventId,
        second: Second,
    ) -> Option<(ChoiceId, Footprint)> {
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
        can_go_on.then(|| {
            let mark = machine.mark();
            let choices = self.execution.choices(second.choices).to_vec();
            machine.step(program, second.thread, &choices);
            let taken: Vec<u32> = machine.chosen().iter().map(|chosen| chosen.taken).collect();
            (
                self.execution.choice_id(&taken),
                footprint(program, machine, mark, self.reductions.additions),
            )
        })
    }

    /// Lines 34-44: inserts the sequence in the buffer, followed by `goal`, into the wakeup tree of the prefix before
    /// `first`.
    pub(super) fn insert(&mut self, tables: &Tables, first: EventId, goal: &Goal) {
        let mut last = Some(goal);
        let mut node = self.levels[first as usize].root;
        'descend: loop {
            let mut child = self.trees.first_child(node);
            while let Some(current) = child {
                match self.position_of(tables, self.trees.step(current), last) {
                    Position::Dependent => {
                        child = self.trees.next_sibling(current);
                        continue;
                    }
                    Position::Absent => return,
                    Position::Last => last = None,
                    Position::At(position) => {
                        self.buffers.sequence.remove(position);
                    }
                }
                let exhausted = last.is_none() && self.buffers.sequence.is_empty();
                if exhausted || self.trees.first_child(current).is_none() {
                    return;
                }
                node = current;
                continue 'descend;
            }
            break;
        }
        self.append(node, last);
    }

    /// Line 38: is the thread of `step`, a node of the tree, a weak initial of the sequence, and where does it run there?
    pub(super) fn position_of(
        &self,
        tables: &Tables,
        step: &Step,
        last: Option<&Goal>,
    ) -> Position {
        let Buffers {
            sequence,
            summary,
            threads,
        } = &self.buffers;
        let execution = &self.execution;
        if threads & thread_bit(step.thread) != 0
            && let Some(position) = sequence
                .iter()
                .position(|&event| execution.event(event).thread == step.thread)
        {
            let event = sequence[position];
            let is_initial = execution.event(event).choices == step.choices
                && !sequence[..position]
                    .iter()
                    .any(|&earlier| execution.before(earlier, event));
            return if is_initial {
                Position::At(position)
            } else {
                Position::Dependent
            };
        }
        let depends = |footprint: &Footprint| {
            footprint.may_conflict(tables, *summary)
                && sequence.iter().any(|&event| {
                    !independent(tables, footprint, &execution.event(event).footprint)
                })
        };
        match last {
            Some(last) if last.second.thread == step.thread => {
                let is_initial = last.second.choices == step.choices
                    && !depends(last.footprint(execution))
                    && !sequence
                        .iter()
                        .any(|&event| self.leads_to(event, last.second));
                if is_initial {
                    Position::Last
                } else {
                    Position::Dependent
                }
            }
            _ if step.is_one_of_many() || depends(&step.footprint) => Position::Dependent,
            Some(last) if !independent(tables, &step.footprint, last.footprint(execution)) => {
                Position::Dependent
            }
            _ => Position::Absent,
        }
    }

    /// Must `event` come before `second` whatever the two access: it is of the same thread, or spawned it?
    pub(super) fn leads_to(&self, event: EventId, second: Second) -> bool {
        if second.event == NO_EVENT {
            return self.execution.before_next_of(event, second.thread);
        }
        let parent = self.execution.event(second.event).parent;
        parent != NO_EVENT
            && (event == parent || (event < parent && self.execution.before(event, parent)))
    }

    /// Line 43.
    fn append(&mut self, mut node: NodeId, last: Option<&Goal>) {
        for position in 0..self.buffers.sequence.len() {
            let event = self.execution.event(self.buffers.sequence[position]);
            let step = Step {
                thread: event.thread,
                choices: event.choices,
                is_block: event.is_block,
                footprint: event.footprint.clone(),
            };
            node = self.trees.add_child(node, step);
        }
        if let Some(last) = last {
            self.trees.add_child(node, last.to_step(&self.execution));
        }
    }
}

/// Where a thread runs in a sequence.
pub(super) enum Position {
    /// It is no weak initial.
    Dependent,
    /// It does not run there, and is independent of all that does.
    Absent,
    /// At this place, independent of what comes before.
    At(usize),
    /// It is the last one, independent of all others.
    Last,
}
