//! Race detection: lines 3-22 of algorithm 1, and the insertion into wakeup trees, lines 34-44.
//!
//! For a race of `e` with a later `e'`, the sequence `v` = notdep(e, E).ê' is what leads from the prefix before `e` to an
//! execution in which `e'` comes first. It is inserted there unless a thread asleep makes it redundant.
//!
//! Whether a sleeper `q` of that prefix is a weak initial of `v` (definition 3) is decided by looking for an event of `v`
//! that depends on `q`'s next event. That is enough also when `q` runs in `v`: while `q` sleeps it does not run, so some
//! event woke it; the waker happens before `q`'s event, so it is in `v` if `q`'s event is.

use super::execution::{ChoiceId, EventId, Footprint, NO_EVENT};
use super::wakeup::{NodeId, Step};
use super::{Search, independent};
use raddle_memory::access::sync_mode;
use raddle_memory::{Access, AccessMode, Readiness};
use raddle_program::{LocId, Op, Program, StateId, SyncAction, Tables, ThreadId};

/// The second event of a race, which goes first in the sequence to explore.
#[derive(Clone, Copy, Debug)]
struct Second {
    thread: ThreadId,
    state: StateId,
    /// The event in the execution; `NO_EVENT` for a thread that waits at its end.
    event: EventId,
    choices: ChoiceId,
}

/// Memory that is used again for every race.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// The sequence to insert: events of the execution, without the last one.
    sequence: Vec<EventId>,
}

impl Search {
    /// Lines 3-22, for a maximal execution.
    pub(super) fn reverse_races(&mut self, program: &mut Program) {
        for event in 0..self.execution.len() as EventId {
            for position in self.execution.races_of(event) {
                let first = self.execution.race(position);
                let second = self.second(event);
                self.reverse(program, first, second);
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
        let Op::Sync { cell, action } = *program.op(state) else {
            return;
        };
        if self.machine.readiness(program, thread) != Readiness::Waiting {
            return;
        }
        let mut races = Vec::new();
        self.execution
            .waiting_races(&mut self.machine, thread, cell, action, &mut races);
        for first in races {
            self.reverse(
                program,
                first,
                Second {
                    thread,
                    state,
                    event: NO_EVENT,
                    choices: 0,
                },
            );
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
                    self.reverse(program, event, second);
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

    /// Lines 4-6 and 20-21: explores `second` before `first`, unless that is redundant.
    fn reverse(&mut self, program: &mut Program, first: EventId, second: Second) {
        let Some(last) = self.last_step(program, first, second) else {
            return;
        };
        let tables = program.tables();
        for &sleeper in self.sleep_set(first as usize) {
            if self.is_weak_initial(tables, sleeper as usize, first, &last) {
                return;
            }
        }
        self.build_sequence(first);
        self.insert(program.tables(), first, second, last);
    }

    /// Line 5: notdep(e, E).
    fn build_sequence(&mut self, first: EventId) {
        let execution = &self.execution;
        self.buffers.sequence.clear();
        self.buffers.sequence.extend(
            (first + 1..execution.len() as EventId)
                .filter(|&event| !execution.before(first, event)),
        );
    }

    /// Is a sleeper of the prefix before `first` a weak initial of notdep(first, E).last?
    fn is_weak_initial(
        &self,
        tables: &Tables,
        sleeper: usize,
        first: EventId,
        last: &Step,
    ) -> bool {
        let sleeper = &self.sleepers[sleeper];
        let step = &sleeper.step;
        let is_last = step.thread == last.thread;
        if (is_last && step.choices != last.choices) || (!is_last && step.is_one_of_many()) {
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
        is_last || independent(tables, &step.footprint, &last.footprint)
    }

    /// What the second event of the race will be when it is run before the first.
    fn last_step(&mut self, program: &mut Program, first: EventId, second: Second) -> Option<Step> {
        let Second {
            thread,
            state,
            event,
            choices,
        } = second;
        let op = *program.op(state);
        let same = |search: &Self| match event {
            NO_EVENT => None,
            event => Some(search.execution.event(event).footprint.clone()),
        };
        let is_block = match event {
            NO_EVENT => self.machine.is_in_block(thread),
            event => self.execution.event(event).is_block,
        };
        let known = match op {
            _ if is_block => None,
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Alloc { .. }
            | Op::Free { .. } => same(self),
            Op::Cas { loc, expected, .. } => {
                self.value_there(program, first, loc).and_then(|value| {
                    let mode = if value == expected {
                        AccessMode::Update
                    } else {
                        AccessMode::Read
                    };
                    with_mode(same(self)?, loc, mode)
                })
            }
            Op::Sync { cell, action } => self.sync_there(program, first, second, cell, action),
            Op::Choice { .. } => Some(Footprint::new()),
            _ => None,
        };
        match known {
            Some(footprint) => Some(Step {
                thread,
                choices,
                is_block,
                footprint,
            }),
            None => self.simulate(program, first, second, is_block),
        }
    }

    /// What `loc` holds after notdep(first, E), where that can be told: `first` accesses just these bytes, so whatever
    /// else changes them happens after it.
    fn value_there(&self, program: &Program, first: EventId, loc: LocId) -> Option<u64> {
        let touches_all = !program.tables().loc_info(loc).mixed;
        if touches_all {
            self.execution.value_before(first, loc)
        } else {
            None
        }
    }

    fn sync_there(
        &mut self,
        program: &Program,
        first: EventId,
        second: Second,
        cell: LocId,
        action: SyncAction,
    ) -> Option<Footprint> {
        let info = program.tables().loc_info(cell);
        let value = match action {
            SyncAction::TryLock
            | SyncAction::TryReadLock
            | SyncAction::TryWriteLock
            | SyncAction::SemTryWait => return None,
            _ if action.may_wait() || action == SyncAction::Unlock => {
                let word = self.execution.value_before(first, cell)?;
                self.machine.outcome(word, action, second.thread)?
            }
            _ => 0,
        };
        if second.event != NO_EVENT {
            return with_mode(
                self.execution.event(second.event).footprint.clone(),
                cell,
                sync_mode(action, value),
            );
        }
        let mut footprint = Footprint::new();
        footprint.push(Access {
            loc: cell,
            mode: sync_mode(action, value),
        });
        if let Some(life) = program.tables().object_info(info.object).life {
            footprint.push(Access {
                loc: life,
                mode: AccessMode::Read,
            });
        }
        Some(footprint)
    }

    /// Runs the prefix before `first`, then notdep(first, E), then the second event, on a machine of its own.
    fn simulate(
        &mut self,
        program: &mut Program,
        first: EventId,
        second: Second,
        is_block: bool,
    ) -> Option<Step> {
        let machine = &mut self.scratch;
        machine.undo_to(self.scratch_start);
        for id in 0..self.execution.len() as EventId {
            if id == first || (id > first && self.execution.before(first, id)) {
                continue;
            }
            let event = self.execution.event(id);
            machine.step(program, event.thread, self.execution.choices(event.choices));
        }
        let step = (machine.readiness(program, second.thread) == Readiness::Ready).then(|| {
            let mark = machine.mark();
            let choices = self.execution.choices(second.choices).to_vec();
            machine.step(program, second.thread, &choices);
            let taken: Vec<u32> = machine.chosen().iter().map(|chosen| chosen.taken).collect();
            Step {
                thread: second.thread,
                choices: self.execution.choice_id(&taken),
                is_block,
                footprint: super::footprint(program, machine, mark),
            }
        });
        step
    }

    /// Lines 34-44: inserts the sequence in the buffer, followed by `last`, into the wakeup tree of the prefix before
    /// `first`.
    fn insert(&mut self, tables: &Tables, first: EventId, second: Second, last: Step) {
        let mut last = Some(last);
        let mut node = self.levels[first as usize].root;
        'descend: loop {
            let mut child = self.trees.first_child(node);
            while let Some(current) = child {
                match self.position_of(tables, current, second, last.as_ref()) {
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

    /// Line 38: is the thread of the tree's node a weak initial of the sequence, and where does it run there?
    fn position_of(
        &self,
        tables: &Tables,
        node: NodeId,
        second: Second,
        last: Option<&Step>,
    ) -> Position {
        let step = self.trees.step(node);
        let sequence = &self.buffers.sequence;
        let execution = &self.execution;
        if let Some(position) = sequence
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
            sequence
                .iter()
                .any(|&event| !independent(tables, footprint, &execution.event(event).footprint))
        };
        match last {
            Some(last) if last.thread == step.thread => {
                let is_initial = last.choices == step.choices
                    && !depends(&last.footprint)
                    && !sequence.iter().any(|&event| self.leads_to(event, second));
                if is_initial {
                    Position::Last
                } else {
                    Position::Dependent
                }
            }
            _ if step.is_one_of_many() || depends(&step.footprint) => Position::Dependent,
            Some(last) if !independent(tables, &step.footprint, &last.footprint) => {
                Position::Dependent
            }
            _ => Position::Absent,
        }
    }

    /// Must `event` come before `second` whatever the two access: it is of the same thread, or spawned it?
    fn leads_to(&self, event: EventId, second: Second) -> bool {
        if second.event == NO_EVENT {
            return self.execution.before_next_of(event, second.thread);
        }
        let parent = self.execution.event(second.event).parent;
        parent != NO_EVENT
            && (event == parent || (event < parent && self.execution.before(event, parent)))
    }

    /// Line 43.
    fn append(&mut self, mut node: NodeId, last: Option<Step>) {
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
            self.trees.add_child(node, last);
        }
    }
}

/// Where a thread runs in a sequence.
enum Position {
    /// It is no weak initial.
    Dependent,
    /// It does not run there, and is independent of all that does.
    Absent,
    /// At this place, independent of what comes before.
    At(usize),
    /// It is the last one, independent of all others.
    Last,
}

/// The footprint with another mode at `loc`.
fn with_mode(mut footprint: Footprint, loc: LocId, mode: AccessMode) -> Option<Footprint> {
    footprint.iter_mut().find(|access| access.loc == loc)?.mode = mode;
    Some(footprint)
}
