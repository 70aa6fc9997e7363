//! Insertion into wakeup trees: lines 34-44 of algorithm 1.

use super::Search;
use super::execution::{ChoiceId, Event, EventId, NO_EVENT};
use super::footprint::{FootprintId, Summary};
use super::races::{Goal, Second};
use super::settled::{Guard, Settled};
use super::wakeup::{NodeId, Step};
use raddle_program::{Tables, ThreadId};

/// Memory that is used again for every race.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// The sequence to insert, without the last event.
    pub(super) sequence: Sequence,
    /// The nodes on the way to a leaf, the last one first.
    pub(super) path: Vec<NodeId>,
    /// For each of the sequence's events: is it needed? See [`Search::shorten`].
    pub(super) needed: Vec<bool>,
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

    /// Takes events out of the sequence.
    pub(super) fn leave_out_of_sequence(&mut self, leave_out: impl Fn(&Self, EventId) -> bool) {
        for position in 0..self.buffers.sequence.items.len() {
            if leave_out(self, self.buffers.sequence.items[position].event) {
                self.buffers.sequence.take(position);
            }
        }
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
        if let Some(event) = self.buffers.sequence.events().next_back() {
            walk.events = walk.events.max(event + 1);
        }
        walk.guard = Guard::Last;
        if self.company.is_some() {
            self.shorten(tables, first, node, walk.last.as_ref());
        }
        let leaf = self.append(node, rightmost, walk.last);
        walk.reached(Some(leaf))
    }

    /// Lines 35-42: where in the wakeup tree of the prefix before `first` the sequence in the buffer, followed by `goal`, goes.
    #[inline]
    pub(super) fn place(&mut self, tables: &Tables, first: EventId, goal: &Goal) -> Place {
        let mut walk = Walk::new(first, *goal);
        let mut node = self.levels[first as usize].root;
        let mut rightmost;
        'descend: loop {
            let mut child = self.trees.first_child(node);
            rightmost = None;
            while let Some(current) = child {
                let step = self.trees.step(current);
                match self.position_of(tables, &step, walk.last.as_ref()) {
                    Position::Dependent => {
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

    /// Leaves of the sequence in the buffer, which goes below `parent`, what its last event needs, and what wakes everybody who would be asleep below
    /// `parent`. That is a sequence of the same kind: all that begins with the whole one begins with it, too, and nobody sleeps at its end. The shorter
    /// it is, the more is behind it for one worker to explore.
    pub(super) fn shorten(
        &mut self,
        tables: &Tables,
        first: EventId,
        parent: NodeId,
        last: Option<&Goal>,
    ) {
        let root = self.levels[first as usize].root;
        let mut needed = std::mem::take(&mut self.buffers.needed);
        let mut path = std::mem::take(&mut self.buffers.path);
        path.clear();
        path.extend(self.trees.path(root, parent));
        let footprints = &self.execution.footprints;
        let items = &self.buffers.sequence.items;
        let is_there = |item: &Item| item.thread != TAKEN;
        needed.clear();
        needed.extend(items.iter().map(|item| {
            let event = self.execution.event(item.event);
            is_there(item)
                && last.is_some_and(|goal| {
                    item.thread == goal.second.thread.0
                        || !footprints.independent(tables, event.footprint, goal.footprint)
                        || self.leads_to(item.event, goal.second)
                })
        }));
        let mut wake = |step: &Step| {
            let waker = items.iter().position(|item| {
                let event = self.execution.event(item.event);
                is_there(item)
                    && (item.thread == step.thread.0
                        || !footprints.independent(tables, step.footprint, event.footprint))
            });
            if let Some(waker) = waker {
                needed[waker] = true;
            }
        };
        for &sleeper in self.sleep_set(first as usize) {
            wake(&self.sleepers[sleeper as usize].step);
        }
        let mut node = root;
        loop {
            let next = path.pop();
            let mut child = self.trees.first_child(node);
            while let Some(sibling) = child.filter(|&child| Some(child) != next) {
                wake(&self.trees.step(sibling));
                child = self.trees.next_sibling(sibling);
            }
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        for late in (0..items.len()).rev() {
            if needed[late] {
                for early in 0..late {
                    let before = self.execution.before(items[early].event, items[late].event);
                    needed[early] |= is_there(&items[early]) && before;
                }
            }
        }
        for (position, &is_needed) in needed.iter().enumerate() {
            if !is_needed {
                self.buffers.sequence.take(position);
            }
        }
        (self.buffers.needed, self.buffers.path) = (needed, path);
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
                Position::Dependent
            };
        }
        let footprints = &execution.footprints;
        let depends = |footprint: FootprintId| {
            footprints.may_conflict(tables, footprint, *summary)
                && sequence
                    .all()
                    .any(|item| !footprints.independent(tables, footprint, item.footprint))
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
            Position::Dependent | Position::Absent => {}
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
    /// It is no weak initial.
    Dependent,
    /// It does not run there, and is independent of all that does.
    Absent,
    /// At this place, independent of what comes before.
    At(usize),
    /// It is the last one, independent of all others.
    Last,
}
