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
use super::execution::{ChoiceId, EventId, Guard, Last, NO_EVENT, Race, Settled};
use super::footprint::{FootprintId, Summary};
use super::wakeup::{NodeId, Step};
use super::{Held, Sleeper};
use crate::purity::Attempt;
use raddle_memory::{Access, AccessMode, Readiness};
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
    fn to_step(self) -> Step {
        Step {
            thread: self.second.thread,
            choices: self.second.choices,
            is_block: self.is_block,
            footprint: self.footprint,
        }
    }
}

/// Memory that is used again for every race.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// The sequence to insert, without the last event.
    sequence: Sequence,
    /// The nodes on the way to a leaf, the last one first.
    path: Vec<NodeId>,
    /// What these access, and maybe more.
    summary: Summary,
    /// One bit for each of 64 sets of threads: those that run in the sequence, and maybe more.
    threads: u64,
}

/// Events of the execution, some of which may have been taken out.
#[derive(Debug, Default)]
struct Sequence {
    items: Vec<Item>,
    /// All before this one have been taken.
    start: usize,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    event: EventId,
    /// Its thread; [`TAKEN`] if it was taken.
    thread: u32,
}

const TAKEN: u32 = u32::MAX;

impl Sequence {
    fn clear(&mut self) {
        self.items.clear();
        self.start = 0;
    }

    fn push(&mut self, event: EventId, thread: ThreadId) {
        let thread = thread.0;
        self.items.push(Item { event, thread });
    }

    fn is_empty(&self) -> bool {
        self.start == self.items.len()
    }

    /// Takes the event at a position out.
    fn take(&mut self, position: usize) -> EventId {
        self.items[position].thread = TAKEN;
        while let Some(item) = self.items.get(self.start)
            && item.thread == TAKEN
        {
            self.start += 1;
        }
        self.items[position].event
    }

    /// Where the first event of a thread is.
    fn position(&self, thread: ThreadId) -> Option<usize> {
        let mut rest = self.items[self.start..].iter();
        let position = rest.position(|item| item.thread == thread.0)?;
        Some(self.start + position)
    }

    /// The events before a position.
    fn before(&self, position: usize) -> impl Iterator<Item = EventId> {
        self.items[self.start..position]
            .iter()
            .filter(|item| item.thread != TAKEN)
            .map(|item| item.event)
    }

    fn events(&self) -> impl Iterator<Item = EventId> {
        self.before(self.items.len())
    }
}

/// What an execution does after the events that it shares with the one before it.
#[derive(Debug)]
struct Suffix {
    start: EventId,
    /// What its events access.
    summary: Summary,
    /// Their threads, as in [`Buffers::threads`].
    threads: u64,
}

fn thread_bit(thread: ThreadId) -> u64 {
    1 << (thread.index() % 64)
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
        if self.unfinished {
            for index in 0..self.machine.thread_count() {
                self.reverse_waiting(program, ThreadId::from_index(index));
            }
        }
    }

    fn suffix(&self) -> Suffix {
        let mut suffix = Suffix {
            start: self.shared,
            summary: Summary::default(),
            threads: 0,
        };
        for event in &self.execution.events[self.shared as usize..] {
            let summary = self.execution.footprints.summary(event.footprint);
            suffix.summary.join(summary);
            suffix.threads |= thread_bit(event.thread);
        }
        suffix
    }

    /// Reverses the races from `race` on whose second event is at most `event`; the next one.
    fn reverse_races_to(
        &mut self,
        program: &mut Program,
        suffix: &Suffix,
        mut race: usize,
        event: EventId,
    ) -> usize {
        while let Some(found) = self.execution.races().get(race)
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
                    Settled::No => self.reverse(program, first, last, self.second(second)),
                    settled => settled,
                };
                self.execution.settle(race, settled);
            }
            race += 1;
        }
        race
    }

    /// Was there nothing to do about a race in the execution before, and is that still so? Both its events are then in what
    /// this execution shares with that one.
    ///
    /// The sequence v to explore differs from the one then only by events of the suffixes.
    /// - A sleeper is a weak initial of v if no event of v depends on it: those that are shared were looked at.
    /// - A leaf u leads to v if u.x ~ v.y for some x and y. What u takes from v are shared events, each independent of those
    ///   before it, and maybe the last one of v, or a step that is not in v: these two must be independent of the new ones.
    ///   Leaves stay leaves, and are there, as long as the race's first event is.
    fn is_settled(&self, tables: &Tables, race: &Race, suffix: &Suffix) -> bool {
        let conflicts = |footprint| {
            let footprints = &self.execution.footprints;
            footprints.may_conflict(tables, footprint, suffix.summary)
        };
        match race.settled {
            Settled::No => false,
            Settled::Asleep(sleeper) => {
                let sleeper = &self.sleepers[sleeper as usize];
                let woken_by = sleeper.woken_by;
                woken_by == NO_EVENT
                    || woken_by < suffix.start && !conflicts(sleeper.step.footprint)
                    || self
                        .held_back_by(tables, sleeper, race.first, woken_by.max(suffix.start))
                        .is_none()
            }
            Settled::Covered { events, guard, .. } => {
                events <= suffix.start
                    && match (guard, race.last) {
                        (Guard::Nothing, _) => true,
                        (Guard::Last, Some(last)) => !conflicts(last),
                        (Guard::Last, None) => false,
                        (Guard::Step(thread, footprint), _) => {
                            suffix.threads & thread_bit(thread) == 0 && !conflicts(footprint)
                        }
                    }
            }
        }
    }

    /// Does a leaf that led to the sequence to explore before lead to the one of this execution? Any leaf will do, so there is
    /// no need to look for another one.
    fn leads_there(
        &mut self,
        tables: &Tables,
        leaf: NodeId,
        first: EventId,
        goal: Goal,
    ) -> Settled {
        self.build_sequence(first);
        let root = self.levels[first as usize].root;
        self.buffers.path.clear();
        self.buffers.path.extend(self.trees.path(root, leaf));
        let mut walk = Walk::new(first, goal);
        while let Some(node) = self.buffers.path.pop() {
            let step = *self.trees.step(node);
            match self.position_of(tables, &step, walk.last.as_ref()) {
                Position::Dependent => return Settled::No,
                Position::Absent => return walk.stopped_by(&step),
                position => walk.take(position, &mut self.buffers.sequence),
            }
        }
        walk.reached(Some(leaf))
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
            self.reverse(program, first, last, second);
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
                    self.reverse(program, event, last, second);
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

    /// Lines 4-6 and 20-21: explores `second` before the race's first event, unless that is redundant. `last` is what it
    /// will access; it is run to find out where that is not known.
    fn reverse(
        &mut self,
        program: &mut Program,
        first: EventId,
        last: Option<FootprintId>,
        second: Second,
    ) -> Settled {
        if let Some(footprint) = last {
            return self.reverse_to(program.tables(), first, second, footprint);
        }
        match self.simulate(program, first, second) {
            Some((choices, footprint)) => {
                let second = Second { choices, ..second };
                self.reverse_to(program.tables(), first, second, footprint);
            }
            None => {
                if self.execution.awaits {
                    self.reverse_await(program, second);
                }
            }
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

    /// Line 5: notdep(e, E).
    pub(super) fn build_sequence(&mut self, first: EventId) {
        let footprints = &self.execution.footprints;
        let Buffers {
            sequence,
            summary,
            threads,
            ..
        } = &mut self.buffers;
        sequence.clear();
        *summary = Summary::default();
        *threads = 0;
        self.execution.for_independent(first, |id, event| {
            sequence.push(id, event.thread);
            summary.join(footprints.summary(event.footprint));
            *threads |= thread_bit(event.thread);
        });
    }

    /// Takes events out of the sequence.
    pub(super) fn leave_out_of_sequence(&mut self, leave_out: impl Fn(&Self, EventId) -> bool) {
        for position in 0..self.buffers.sequence.items.len() {
            if leave_out(self, self.buffers.sequence.items[position].event) {
                self.buffers.sequence.take(position);
            }
        }
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
    fn held_back_by(
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

    /// Runs the prefix before `first`, then notdep(first, E), then the second event, on a machine of its own.
    fn simulate(
        &mut self,
        program: &mut Program,
        first: EventId,
        second: Second,
    ) -> Option<(ChoiceId, FootprintId)> {
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
                self.execution.footprints.of_event(program, machine, mark),
            )
        })
    }

    /// Lines 34-44: inserts the sequence in the buffer, followed by `goal`, into the wakeup tree of the prefix before
    /// `first`.
    pub(super) fn insert(&mut self, tables: &Tables, first: EventId, goal: &Goal) -> Settled {
        let mut walk = Walk::new(first, *goal);
        let mut node = self.levels[first as usize].root;
        'descend: loop {
            let mut child = self.trees.first_child(node);
            while let Some(current) = child {
                let step = self.trees.step(current);
                match self.position_of(tables, step, walk.last.as_ref()) {
                    Position::Dependent => {
                        child = self.trees.next_sibling(current);
                        continue;
                    }
                    Position::Absent => return walk.stopped_by(step),
                    position => walk.take(position, &mut self.buffers.sequence),
                }
                if self.trees.first_child(current).is_none() {
                    return walk.reached(Some(current));
                }
                if walk.last.is_none() && self.buffers.sequence.is_empty() {
                    return Settled::No;
                }
                node = current;
                continue 'descend;
            }
            break;
        }
        if let Some(event) = self.buffers.sequence.events().last() {
            walk.events = walk.events.max(event + 1);
        }
        walk.guard = Guard::Last;
        let leaf = self.append(node, walk.last);
        walk.reached(Some(leaf))
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
            ..
        } = &self.buffers;
        let execution = &self.execution;
        if threads & thread_bit(step.thread) != 0
            && let Some(position) = sequence.position(step.thread)
        {
            let event = sequence.items[position].event;
            let is_initial = execution.event(event).choices == step.choices
                && !sequence
                    .before(position)
                    .any(|earlier| execution.before(earlier, event));
            return if is_initial {
                Position::At(position)
            } else {
                Position::Dependent
            };
        }
        let footprints = &execution.footprints;
        let depends = |footprint: FootprintId| {
            footprints.may_conflict(tables, footprint, *summary)
                && sequence.events().any(|event| {
                    !footprints.independent(tables, footprint, execution.event(event).footprint)
                })
        };
        match last {
            Some(last) if last.second.thread == step.thread => {
                let is_initial = last.second.choices == step.choices
                    && !depends(last.footprint)
                    && !sequence
                        .events()
                        .any(|event| self.leads_to(event, last.second));
                if is_initial {
                    Position::Last
                } else {
                    Position::Dependent
                }
            }
            Some(last) if !footprints.independent(tables, step.footprint, last.footprint) => {
                Position::Dependent
            }
            _ if step.is_one_of_many() || depends(step.footprint) => Position::Dependent,
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
    fn append(&mut self, mut node: NodeId, last: Option<Goal>) -> NodeId {
        for event in self.buffers.sequence.events() {
            let event = self.execution.event(event);
            let step = Step {
                thread: event.thread,
                choices: event.choices,
                is_block: event.is_block,
                footprint: event.footprint,
            };
            node = self.trees.add_child(node, step);
        }
        match last {
            Some(last) => self.trees.add_child(node, last.to_step()),
            None => node,
        }
    }
}

/// A way down a wakeup tree with a sequence: what was taken from the sequence so far.
struct Walk {
    /// The last event of the sequence, if it was not taken.
    last: Option<Goal>,
    /// Only these first events of the execution were taken.
    events: EventId,
    guard: Guard,
}

impl Walk {
    fn new(first: EventId, goal: Goal) -> Self {
        Self {
            last: Some(goal),
            events: first + 1,
            guard: Guard::Nothing,
        }
    }

    fn take(&mut self, position: Position, sequence: &mut Sequence) {
        match position {
            Position::At(position) => {
                let event = sequence.take(position);
                self.events = self.events.max(event + 1);
            }
            Position::Last => {
                self.last = None;
                self.guard = Guard::Last;
            }
            Position::Dependent | Position::Absent => {}
        }
    }

    fn reached(self, leaf: Option<NodeId>) -> Settled {
        Settled::Covered {
            leaf,
            events: self.events,
            guard: self.guard,
        }
    }

    /// The step of a node is not in the sequence, and independent of all that is.
    fn stopped_by(self, step: &Step) -> Settled {
        match self.guard {
            Guard::Nothing => Settled::Covered {
                leaf: None,
                events: self.events,
                guard: Guard::Step(step.thread, step.footprint),
            },
            _ => Settled::No,
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
