//! Insertion into wakeup trees: lines 34-44 of algorithm 1.

use super::execution::{ChoiceId, Event, EventId, NO_EVENT};
use super::footprint::{FootprintId, Summary};
use super::races::{Goal, Second};
use super::settled::{Guard, Settled};
use super::wakeup::{NodeId, Step};
use super::{Held, Search};
use raddle_program::{Tables, ThreadId};

/// Memory that is used again for every race.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// The sequence to insert, without the last event.
    pub(super) sequence: Sequence,
    /// The nodes on the way to a leaf, the last one first.
    pub(super) path: Vec<NodeId>,
    /// Places in the sequence: with what is there, threads that would sleep along it are woken. See [`Search::shorten`].
    wakers: Vec<usize>,
    /// For each thread, so many of its events are needed.
    clock: Vec<u32>,
    /// What these access, and maybe more.
    summary: Summary,
    /// One bit for each of 64 sets of threads: those that run in the sequence, and maybe more.
    threads: u64,
    /// The sequence before anything was taken out to find its place, where others have to know it.
    pub(super) whole: Vec<EventId>,
}

/// The bit of a thread in [`Buffers::threads`].
pub(super) fn thread_bit(thread: ThreadId) -> u64 {
    1 << (thread.index() % 64)
}

/// Events of the execution, some of which may have been taken out.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    items: Vec<Item>,
    /// All before this one have been taken.
    start: usize,
}

/// An event with what is asked about it: the events themselves are far apart.
#[derive(Clone, Copy, Debug)]
struct Item {
    event: EventId,
    /// Its thread; [`TAKEN`] if it was taken.
    thread: u32,
    index: u32,
    choices: ChoiceId,
    footprint: FootprintId,
}

const TAKEN: u32 = u32::MAX;

impl Sequence {
    fn clear(&mut self) {
        self.items.clear();
        self.start = 0;
    }

    fn push(&mut self, id: EventId, event: &Event) {
        self.items.push(Item {
            event: id,
            thread: event.thread.0,
            index: event.index,
            choices: event.choices,
            footprint: event.footprint,
        });
    }

    fn is_empty(&self) -> bool {
        self.start == self.items.len()
    }

    /// Takes the event at a position out.
    fn take(&mut self, position: usize) -> EventId {
        self.items[position].thread = TAKEN;
        self.skip_taken();
        self.items[position].event
    }

    fn skip_taken(&mut self) {
        while let Some(item) = self.items.get(self.start)
            && item.thread == TAKEN
        {
            self.start += 1;
        }
    }

    /// Where the first event of a thread is.
    fn position(&self, thread: ThreadId) -> Option<usize> {
        let mut rest = self.items[self.start..].iter();
        let position = rest.position(|item| item.thread == thread.0)?;
        Some(self.start + position)
    }

    /// The events before a position.
    fn before(&self, position: usize) -> impl DoubleEndedIterator<Item = &Item> {
        self.items[self.start..position]
            .iter()
            .filter(|item| item.thread != TAKEN)
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = &Item> {
        self.before(self.items.len())
    }

    fn events(&self) -> impl DoubleEndedIterator<Item = EventId> {
        self.all().map(|item| item.event)
    }
}

impl Search {
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
            sequence.push(id, event);
            summary.join(footprints.summary(event.footprint));
            *threads |= thread_bit(event.thread);
        });
    }

    /// Takes events out of the sequence, as if they were not in the execution.
    pub(super) fn leave_out_of_sequence(&mut self, leave_out: impl Fn(&Self, EventId) -> bool) {
        let mut items = std::mem::take(&mut self.buffers.sequence.items);
        items.retain(|item| !leave_out(self, item.event));
        self.buffers.sequence.items = items;
    }

    /// Lines 34-44: inserts the sequence in the buffer, followed by `goal`, into the wakeup tree of the prefix before
    /// `first`.
    pub(super) fn insert(&mut self, tables: &Tables, first: EventId, goal: &Goal) -> Settled {
        let is_shared = (first as usize) < self.cut;
        if is_shared {
            let Buffers {
                sequence, whole, ..
            } = &mut self.buffers;
            whole.clear();
            whole.extend(sequence.events());
        }
        let (node, rightmost, mut walk) = match self.place(tables, first, goal) {
            Place::Covered(settled) => return settled,
            Place::Open(..) if is_shared => {
                self.postpone(first, *goal);
                return Settled::No;
            }
            Place::Open(node, rightmost, walk) => (node, rightmost, walk),
        };
        self.shorten(tables, first, goal, walk.last.is_some());
        if let Some(event) = self.buffers.sequence.events().next_back() {
            walk.events = walk.events.max(event + 1);
        }
        walk.guard = Guard::Last;
        let leaf = self.append(node, rightmost, walk.last);
        walk.reached(Some(leaf))
    }

    /// Lines 35-42: where in the wakeup tree of the prefix before `first` the sequence in the buffer, followed by `goal`, goes.
    #[inline]
    pub(super) fn place(&mut self, tables: &Tables, first: EventId, goal: &Goal) -> Place {
        let mut walk = Walk::new(first, *goal);
        let mut node = self.levels[first as usize].root;
        let mut rightmost;
        self.buffers.wakers.clear();
        'descend: loop {
            let mut child = self.trees.first_child(node);
            rightmost = None;
            while let Some(current) = child {
                let step = self.trees.step(current);
                match self.position_of(tables, &step, walk.last.as_ref()) {
                    Position::Dependent(waker) => {
                        self.buffers.wakers.extend(waker);
                        rightmost = child;
                        child = self.trees.next_sibling(current);
                        continue;
                    }
                    Position::Absent => return Place::Covered(walk.stopped_by(&step)),
                    position => walk.take(position, &mut self.buffers.sequence),
                }
                if self.trees.first_child(current).is_none() {
                    return Place::Covered(walk.reached(Some(current)));
                }
                if walk.last.is_none() && self.buffers.sequence.is_empty() {
                    return Place::Covered(Settled::No);
                }
                node = current;
                continue 'descend;
            }
            return Place::Open(node, rightmost, walk);
        }
    }

    /// Leaves of the sequence in the buffer, for which a place has just been looked for, what its last event `goal` needs if that is still to come, and
    /// what wakes everybody who would be asleep at its end, with all that happens before. That is a sequence of the same kind: all that begins with
    /// the whole one begins with it, too, and nobody sleeps at its end. Executions that differ in the rest have it in common: without this there would be
    /// a leaf for each of them, and wakeup trees would grow without end.
    pub(super) fn shorten(
        &mut self,
        tables: &Tables,
        first: EventId,
        goal: &Goal,
        is_goal_to_come: bool,
    ) {
        for place in self.asleep_at(first as usize) {
            let waker = self.waker_of(tables, place, goal);
            self.buffers.wakers.extend(waker);
        }
        let execution = &self.execution;
        let footprints = &execution.footprints;
        let Buffers {
            sequence,
            wakers,
            clock,
            ..
        } = &mut self.buffers;
        wakers.sort_unstable();
        clock.clear();
        clock.resize(execution.width(), 0);
        let parent = match goal.second.event {
            NO_EVENT => execution.parent_of_next(goal.second.thread),
            event => execution.event(event).parent,
        };
        if is_goal_to_come && parent != NO_EVENT {
            clock.copy_from_slice(execution.clock(parent));
        }
        for position in (sequence.start..sequence.items.len()).rev() {
            let mut wakes = false;
            while wakers.last().is_some_and(|&waker| waker >= position) {
                wakes |= wakers.pop() == Some(position);
            }
            let item = &mut sequence.items[position];
            if item.thread == TAKEN {
                continue;
            }
            let is_needed = wakes
                || item.index <= clock[item.thread as usize]
                || is_goal_to_come
                    && !footprints.independent(tables, item.footprint, goal.footprint);
            if is_needed {
                for (mine, theirs) in clock.iter_mut().zip(execution.clock(item.event)) {
                    *mine = (*mine).max(*theirs);
                }
            } else {
                item.thread = TAKEN;
            }
        }
        sequence.skip_taken();
    }

    /// Where in the sequence the thread of a sleeper is woken, if not by `goal` or what that needs.
    fn waker_of(&self, tables: &Tables, place: usize, goal: &Goal) -> Option<usize> {
        let step = &self.sleepers[self.sleeping[place] as usize].step;
        let footprints = &self.execution.footprints;
        let is_woken_by_goal = step.thread == goal.second.thread
            || !footprints.independent(tables, step.footprint, goal.footprint);
        if is_woken_by_goal {
            return None;
        }
        let items = &self.buffers.sequence.items;
        if let Held::By(event, serial) = self.held[place]
            && self.execution.is_still(event, serial)
            && let Ok(position) = items.binary_search_by_key(&event, |item| item.event)
        {
            return Some(position);
        }
        items.iter().position(|item| {
            let event = self.execution.event(item.event);
            event.thread == step.thread
                || !footprints.independent(tables, step.footprint, item.footprint)
        })
    }

    /// Makes these events the sequence in the buffer.
    pub(super) fn rebuild_sequence(&mut self, events: &[EventId]) {
        let execution = &self.execution;
        let Buffers {
            sequence,
            summary,
            threads,
            ..
        } = &mut self.buffers;
        sequence.clear();
        *summary = Summary::default();
        *threads = 0;
        for &id in events {
            let event = execution.event(id);
            sequence.push(id, event);
            summary.join(execution.footprints.summary(event.footprint));
            *threads |= thread_bit(event.thread);
        }
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
            let Item { event, choices, .. } = sequence.items[position];
            let clock = execution.clock(event);
            let is_initial = choices == step.choices
                && !sequence
                    .before(position)
                    .any(|earlier| clock[earlier.thread as usize] >= earlier.index);
            return if is_initial {
                Position::At(position)
            } else {
                Position::Dependent(Some(position))
            };
        }
        let footprints = &execution.footprints;
        let conflicting = |footprint: FootprintId| {
            if !footprints.may_conflict(tables, footprint, *summary) {
                return None;
            }
            (sequence.start..sequence.items.len()).find(|&position| {
                let item = &sequence.items[position];
                item.thread != TAKEN && !footprints.independent(tables, footprint, item.footprint)
            })
        };
        match last {
            Some(last) if last.second.thread == step.thread => {
                let is_initial = last.second.choices == step.choices
                    && conflicting(last.footprint).is_none()
                    && !sequence
                        .events()
                        .any(|event| self.leads_to(event, last.second));
                if is_initial {
                    Position::Last
                } else {
                    Position::Dependent(None)
                }
            }
            Some(last) if !footprints.independent(tables, step.footprint, last.footprint) => {
                Position::Dependent(None)
            }
            _ => match conflicting(step.footprint) {
                None if !step.is_one_of_many() => Position::Absent,
                waker => Position::Dependent(waker),
            },
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

    /// Line 43: a new branch, to the right of the rightmost one.
    pub(super) fn append(
        &mut self,
        mut node: NodeId,
        mut rightmost: Option<NodeId>,
        last: Option<Goal>,
    ) -> NodeId {
        for event in self.buffers.sequence.events() {
            let event = self.execution.event(event);
            let step = Step {
                thread: event.thread,
                choices: event.choices,
                is_block: event.is_block,
                footprint: event.footprint,
            };
            node = self.trees.add_child(node, rightmost.take(), step);
        }
        match last {
            Some(last) => self.trees.add_child(node, rightmost, last.to_step()),
            None => node,
        }
    }
}

/// Where a sequence goes in a wakeup tree.
pub(super) enum Place {
    /// It need not be there.
    Covered(Settled),
    /// What is left of it, below this node, to the right of its rightmost child.
    Open(NodeId, Option<NodeId>, Walk),
}

/// A way down a wakeup tree with a sequence: what was taken from the sequence so far.
pub(super) struct Walk {
    /// The last event of the sequence, if it was not taken.
    pub(super) last: Option<Goal>,
    /// Only these first events of the execution were taken.
    events: EventId,
    guard: Guard,
}

impl Walk {
    pub(super) fn new(first: EventId, goal: Goal) -> Self {
        Self {
            last: Some(goal),
            events: first + 1,
            guard: Guard::Nothing,
        }
    }

    pub(super) fn take(&mut self, position: Position, sequence: &mut Sequence) {
        match position {
            Position::At(position) => {
                let event = sequence.take(position);
                self.events = self.events.max(event + 1);
            }
            Position::Last => {
                self.last = None;
                self.guard = Guard::Last;
            }
            Position::Dependent(_) | Position::Absent => {}
        }
    }

    pub(super) fn reached(self, leaf: Option<NodeId>) -> Settled {
        Settled::Covered {
            leaf,
            events: self.events,
            guard: self.guard,
        }
    }

    /// The step of a node is not in the sequence, and independent of all that is.
    pub(super) fn stopped_by(self, step: &Step) -> Settled {
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
    /// It is no weak initial: because of what is at this place of the sequence, where it is not because of the last event.
    Dependent(Option<usize>),
    /// It does not run there, and is independent of all that does.
    Absent,
    /// At this place, independent of what comes before.
    At(usize),
    /// It is the last one, independent of all others.
    Last,
}
