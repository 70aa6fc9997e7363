//! Backtrack signals: may the event that is explored at a node of the recursion read from writes that are not there yet?
//!
//! The paper's rule (lines 2-5): a write of a cell that the event reads, done by another thread further down, may be such a
//! write. What reads and writes at once may be a write only if it comes before the event (the compare-exchange fails behind
//! it, the lock is not free any more): so such an operation is a signal as soon as its thread is about to do it. What comes
//! after the event in any case, by program order and reads-from, is no signal. See `docs/engines/rvf.md`.

use super::clocks::Clocks;
use super::event::{Event, NO_EVENT};
use super::{Node, Search};
use crate::rf::event::Cell;
use raddle_memory::consistency::CellId;
use raddle_memory::goodwrites::EventId;
use raddle_program::tables::NO_SLOT;
use raddle_program::{LocId, Op, Program, StateId, SyncAction, Tables, ThreadId};
use smallvec::SmallVec;

/// A set of threads; those with large numbers are not told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Threads(u64);

impl Threads {
    pub(super) fn insert(&mut self, thread: ThreadId) {
        self.0 |= 1 << thread.0.min(63);
    }

    pub(super) fn contains(self, thread: ThreadId) -> bool {
        self.0 >> thread.0.min(63) & 1 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn union(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// One for each that is told apart.
    pub(super) fn iter(self) -> impl Iterator<Item = ThreadId> {
        let threads = (0..64).filter(move |&bit| self.0 >> bit & 1 != 0);
        threads.map(ThreadId::from_index)
    }
}

#[derive(Clone, Copy, Debug)]
struct Watcher {
    node: u32,
    thread: ThreadId,
    /// The event is this one of its thread.
    index: u32,
}

/// Those of one cell who explore events of one thread, in the order of these events: a node deeper in the recursion explores a later one.
#[derive(Clone, Debug)]
struct OfThread {
    thread: ThreadId,
    watchers: Vec<Watcher>,
}

/// Who wants to be told of writes to which cells.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    of_cells: Vec<SmallVec<[OfThread; 2]>>,
    /// Those who want to be told of every write.
    of_all: Vec<Watcher>,
}

/// Somebody wrote, or is about to do something that may write.
#[derive(Clone, Copy, Debug)]
struct Signal {
    by: ThreadId,
    /// The event that wrote, or the one before the attempt.
    cause: EventId,
    /// An attempt may write only where there are at least so many old events.
    possible_from: usize,
}

/// What earlier signals say about reads, by their local states: one that gets signals is better explored late. The order is
/// chosen before the signals come. If it turns out to lead to more dead ends than executions, the exploration starts anew with
/// what was learned, as long as little is lost by that. After a while nothing is learned any more: then the order is a function of the
/// program, whoever explores what, and when.
#[derive(Debug, Default)]
pub(super) struct Experience {
    was_signalled: Vec<bool>,
    /// Something was learned since the exploration began.
    is_wiser: bool,
    is_settled: bool,
    restarts: u32,
    /// Executions and dead ends since it began.
    pub(super) executions: u64,
    pub(super) dead_ends: u64,
}

/// So often the exploration starts anew at most, and not with more executions behind it than this.
const RESTARTS: u32 = 8;
const RESTART_WITHIN: u64 = 256;
/// With so many executions and dead ends behind it, an exploration learns nothing any more.
pub(super) const LEARNING: u64 = 512;
/// So many dead ends do not matter.
const FEW_DEAD_ENDS: u64 = 8;

impl Experience {
    pub(super) fn start_anew(&mut self) {
        self.is_wiser = false;
        self.is_settled = false;
        (self.executions, self.dead_ends) = (0, 0);
    }

    /// What was learned elsewhere, at these states. Nothing is learned any more.
    pub(super) fn settled(signalled: impl Iterator<Item = StateId>) -> Self {
        let mut experience = Self::default();
        signalled.for_each(|state| experience.expect_signal(state));
        experience.is_settled = true;
        experience
    }

    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Has it learned for long enough?
    pub(super) fn settle_after(&mut self, learning: u64) {
        self.is_settled |= self.executions + self.dead_ends >= learning;
    }

    pub(super) fn advises_restart(&mut self) -> bool {
        let advised = self.is_wiser
            && !self.is_settled
            && self.restarts < RESTARTS
            && self.dead_ends > self.executions.max(FEW_DEAD_ENDS)
            && self.executions <= RESTART_WITHIN;
        self.restarts += u32::from(advised);
        advised
    }

    pub(super) fn expects_signal(&self, state: StateId) -> bool {
        self.was_signalled.get(state.index()) == Some(&true)
    }

    pub(super) fn expect_signal(&mut self, state: StateId) {
        if !self.is_settled && !self.expects_signal(state) {
            if self.was_signalled.len() <= state.index() {
                self.was_signalled.resize(state.index() + 1, false);
            }
            self.was_signalled[state.index()] = true;
            self.is_wiser = true;
        }
    }
}

/// What an operation may touch.
#[derive(Debug, Default)]
pub(super) struct Touches {
    pub(super) reads: SmallVec<[Cell; 4]>,
    pub(super) may_write: SmallVec<[Cell; 2]>,
    /// It is an atomic block: whatever it likes.
    pub(super) everything: bool,
}

/// The life cell that accesses to a location read.
fn life_of(tables: &Tables, loc: LocId) -> Option<Cell> {
    let info = tables.loc_info(loc);
    if info.life == NO_SLOT {
        return None;
    }
    tables.object_info(info.object).life.map(Cell::Loc)
}

impl Touches {
    pub(super) fn of(tables: &Tables, op: &Op, inside: bool) -> Self {
        let mut touches = Self {
            everything: inside || *op == Op::AtomicBegin,
            ..Self::default()
        };
        let (reads, may_write) = (&mut touches.reads, &mut touches.may_write);
        match *op {
            Op::Load { loc, .. } => {
                reads.push(Cell::Loc(loc));
                reads.extend(life_of(tables, loc));
            }
            Op::Store { loc, .. } => {
                may_write.push(Cell::Loc(loc));
                reads.extend(life_of(tables, loc));
            }
            Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                reads.push(Cell::Loc(loc));
                may_write.push(Cell::Loc(loc));
                reads.extend(life_of(tables, loc));
            }
            Op::Sync { cell, action } => {
                reads.push(Cell::Loc(cell));
                reads.extend(life_of(tables, cell));
                may_write.push(Cell::Loc(cell));
                if let SyncAction::CondRelease { mutex } = action {
                    reads.push(Cell::Loc(mutex));
                    reads.extend(life_of(tables, mutex));
                    may_write.push(Cell::Loc(mutex));
                }
            }
            Op::Join { thread } => {
                reads.push(Cell::Handle(thread));
                reads.push(Cell::End(thread));
                may_write.push(Cell::Handle(thread));
            }
            Op::Detach { thread } => {
                reads.push(Cell::Handle(thread));
                may_write.push(Cell::Handle(thread));
            }
            Op::Alloc { object } => {
                may_write.extend(tables.object_info(object).life.map(Cell::Loc))
            }
            Op::Free { object } => {
                if let Some(life) = tables.object_info(object).life {
                    reads.push(Cell::Loc(life));
                    may_write.push(Cell::Loc(life));
                }
            }
            _ => {}
        }
        touches
    }
}

impl Search {
    pub(super) fn touches(&self, program: &Program, thread: ThreadId) -> Touches {
        let place = self.threads[thread.index()];
        Touches::of(program.tables(), program.op(place.state), place.inside)
    }

    fn cells_of(&mut self, program: &Program, cells: &[Cell]) -> SmallVec<[CellId; 8]> {
        let mut ids = SmallVec::new();
        for &cell in cells {
            self.cells.each(program.tables(), cell, |id| ids.push(id));
        }
        ids
    }

    /// The node `node` explores the `index`-th event of `thread`, which touches `touches`: it wants to know of signals.
    pub(super) fn watch(
        &mut self,
        program: &Program,
        node: usize,
        (thread, index): (ThreadId, u32),
        touches: &Touches,
    ) {
        let watcher = Watcher {
            node: node as u32,
            thread,
            index,
        };
        if touches.everything {
            return self.watchers.of_all.push(watcher);
        }
        for id in self.cells_of(program, &touches.reads) {
            let lists = &mut self.watchers.of_cells;
            if lists.len() <= id as usize {
                lists.resize(id as usize + 1, SmallVec::new());
            }
            let lists = &mut lists[id as usize];
            match lists.iter_mut().find(|list| list.thread == thread) {
                Some(OfThread { watchers, .. }) => {
                    debug_assert!(watchers.last().is_none_or(|last| last.index <= index));
                    watchers.push(watcher);
                }
                None => lists.push(OfThread {
                    thread,
                    watchers: vec![watcher],
                }),
            }
        }
    }

    /// The node is done with its event, which is one of `thread`.
    pub(super) fn unwatch(&mut self, program: &Program, thread: ThreadId, touches: &Touches) {
        if touches.everything {
            self.watchers.of_all.pop();
            return;
        }
        for id in self.cells_of(program, &touches.reads) {
            let mut lists = self.watchers.of_cells[id as usize].iter_mut();
            if let Some(list) = lists.find(|list| list.thread == thread) {
                list.watchers.pop();
            }
        }
    }

    /// Notes what is causally before a new event in any case: before all of its good writes, for each of its reads.
    pub(super) fn note_causes(&mut self, program: &Program, event: &Event) {
        let id = self.causes.push(event.thread.index());
        if event.parent != NO_EVENT {
            self.causes.learn(id, event.parent);
        }
        for read in &event.reads {
            for (cell, _) in self.ids(program.tables(), read.part) {
                if !read.good.contains(0) {
                    let writes = self.problem.writes(cell);
                    let good = read
                        .good
                        .iter()
                        .filter_map(|good| writes.get(good as usize - 1));
                    self.causes.learn_common(id, good.map(|write| write.event));
                }
            }
        }
        self.causes.set(id, event.thread.index(), event.index);
    }

    /// An event wrote a cell.
    pub(super) fn signal_write(&mut self, id: CellId, by: ThreadId, event: EventId) {
        self.signal(
            id,
            &Signal {
                by,
                cause: event,
                possible_from: 0,
            },
        );
    }

    fn signal(&mut self, id: CellId, signal: &Signal) {
        let of_cell = self.watchers.of_cells.get(id as usize);
        for list in of_cell.map_or(&[][..], SmallVec::as_slice) {
            // What comes after an event of a thread comes after those before it.
            if list.thread != signal.by {
                let mut latest_first = list.watchers.iter().rev();
                while let Some(watcher) = latest_first.next()
                    && !signal.comes_after(&self.causes, watcher)
                {
                    tell(&mut self.nodes, &mut self.experience, watcher, signal);
                }
            }
        }
        for watcher in &self.watchers.of_all {
            if watcher.thread != signal.by && !signal.comes_after(&self.causes, watcher) {
                tell(&mut self.nodes, &mut self.experience, watcher, signal);
            }
        }
    }

    /// With how many events the first value that an attempt to write wants to find was there. An attempt that comes before all
    /// other new writes finds what an old event wrote.
    fn possible_from(&mut self, program: &Program, thread: ThreadId) -> usize {
        let place = self.threads[thread.index()];
        let Op::Cas { loc, expected, .. } = *program.op(place.state) else {
            return 0;
        };
        let tables = program.tables();
        if place.inside || tables.loc_info(loc).mixed {
            return 0;
        }
        let (id, part) = self.parts(tables, Cell::Loc(loc))[0];
        if Self::initial(tables, part) == expected {
            return 0;
        }
        let mut writes = self.problem.writes(id).iter();
        writes
            .find(|write| write.value == expected)
            .map_or(usize::MAX, |write| write.event as usize + 1)
    }

    /// A thread is about to do its next event: what it may write is a signal.
    pub(super) fn signal_attempt(&mut self, program: &Program, thread: ThreadId) {
        let touches = self.touches(program, thread);
        let signal = Signal {
            by: thread,
            cause: self.parent_of(thread),
            possible_from: self.possible_from(program, thread),
        };
        for id in self.cells_of(program, &touches.may_write) {
            self.signal(id, &signal);
        }
        if touches.everything {
            let lists = self.watchers.of_cells.iter().flatten();
            let watchers = lists.flat_map(|list| &list.watchers);
            for watcher in watchers.chain(&self.watchers.of_all) {
                if watcher.thread != signal.by && !signal.comes_after(&self.causes, watcher) {
                    tell(&mut self.nodes, &mut self.experience, watcher, &signal);
                }
            }
        }
    }

    /// Whoever watches says so again, by the cells that there are now.
    pub(super) fn watch_again(&mut self, program: &Program) {
        self.watchers = Watchers::default();
        for place in 0..self.nodes.len() {
            let node = &mut self.nodes[place];
            if let Some(mutation) = node.mutation.take() {
                if let Some(touches) = &mutation.watching {
                    let event = (mutation.thread, mutation.index);
                    self.watch(program, place, event, touches);
                }
                self.nodes[place].mutation = Some(mutation);
            }
        }
    }
}

impl Signal {
    /// Does it come after the event of a watcher in any case?
    #[inline]
    fn comes_after(&self, causes: &Clocks, watcher: &Watcher) -> bool {
        self.cause != NO_EVENT
            && causes
                .of(self.cause)
                .get(watcher.thread.index())
                .is_some_and(|&known| known >= watcher.index)
    }
}

/// Tells a watcher, whose event is another thread's and does not come before the signal.
fn tell(nodes: &mut [Node], experience: &mut Experience, watcher: &Watcher, signal: &Signal) {
    let node = &mut nodes[watcher.node as usize];
    if signal.possible_from <= node.mark.events() {
        node.signalled.insert(signal.by);
        if let Some(mutation) = &node.mutation {
            experience.expect_signal(mutation.state);
        }
    }
}
