//! What threads learn of each other.

use super::clock::Clock;
use super::history::{Head, Message};
use super::{Delayed, RaceDetector, Undo, entry};
use crate::machine::{Effect, MicroStep};
use crate::sync::order::releases;
use raddle_program::{LocId, LocInfo, Op, Order, ReleaseSequences, SyncAction, Tables, ThreadId};
use smallvec::SmallVec;
use std::num::NonZeroU32;

impl RaceDetector {
    pub(super) fn synchronise(&mut self, tables: &Tables, step: MicroStep, op: Op) {
        let thread = step.thread;
        match op {
            Op::Load { loc, order } => self.read(tables, thread, loc, order),
            Op::Store { loc, order, .. } => {
                let clock = self.published(thread, order);
                let store = Delayed {
                    thread,
                    loc,
                    store: self.steps.len() as u32 - 1,
                    order,
                    clock,
                };
                if step.effect == Effect::Delayed {
                    self.delayed.push(store);
                    self.undo.push(Undo::Delayed);
                } else {
                    self.store(tables, store);
                }
            }
            Op::Rmw { loc, order, .. } => self.update(tables, thread, loc, order),
            Op::Cas {
                loc,
                expected,
                success,
                failure,
                ..
            } => {
                if step.value == expected {
                    self.update(tables, thread, loc, success);
                } else {
                    self.read(tables, thread, loc, failure);
                }
            }
            Op::Fence { order } => self.fence(thread, order),
            Op::Sync { cell, action } => self.sync(thread, cell, action, step.value),
            Op::Spawn { child, .. } => {
                let clock = self.present(thread);
                entry(&mut self.counts, child.index());
                self.clocks.ensure(child);
                self.change(child, |knowledge| knowledge.clock = clock);
            }
            // A join that is misuse finds no such thread, or one that it does not wait for.
            Op::Join { thread: target } if self.counts.len() > target.index() => {
                self.learn_present(thread, target);
            }
            Op::AtomicEnd => self.change(thread, |knowledge| knowledge.block = None),
            _ => {}
        }
    }

    /// What a write with this order publishes.
    fn published(&mut self, thread: ThreadId, order: Order) -> Clock {
        match order {
            Order::Plain => Clock::default(),
            _ if order.releases() => self.present(thread),
            _ => self.threads[thread.index()].fence,
        }
    }

    fn write(&mut self, thread: ThreadId, loc: LocId, clock: Clock, heads: Option<NonZeroU32>) {
        let new = Message {
            stamp: self.steps.len() as u32,
            clock,
            heads,
            block: self.threads[thread.index()].block,
        };
        let location = entry(&mut self.locations, loc.index());
        let old = std::mem::replace(&mut location.message, new);
        self.undo.push(Undo::Message(loc, old));
    }

    /// A store reaches memory.
    fn store(&mut self, tables: &Tables, store: Delayed) {
        let Delayed {
            thread,
            loc,
            order,
            mut clock,
            ..
        } = store;
        if !order.is_atomic() || tables.release_sequences == ReleaseSequences::UpdatesOnly {
            self.write(thread, loc, clock, None);
            return;
        }
        let stores = entry(&mut self.stores, loc.index());
        let is_other = |other| other != thread;
        stores.by_several |= stores.by.is_some_and(is_other) || tables.loc_info(loc).mixed;
        stores.by = Some(thread);
        // A release publishes all that the thread published before.
        if !order.releases() {
            let continued = self.begun_by(tables, thread, loc);
            if !self.clocks.covers(clock, continued) {
                clock = self.clocks.joined(clock, continued);
                self.stores[loc.index()].continued = true;
            }
        }
        let heads = self.head(thread, clock, None);
        self.write(thread, loc, clock, heads);
    }

    fn head(
        &mut self,
        thread: ThreadId,
        clock: Clock,
        below: Option<NonZeroU32>,
    ) -> Option<NonZeroU32> {
        if clock == Clock::default() {
            return below;
        }
        self.heads.push(Head {
            thread,
            clock,
            below,
        });
        NonZeroU32::new(self.heads.len() as u32)
    }

    /// What a thread publishes by the release sequences that the last writes of a location's bytes belong to.
    fn begun_by(&mut self, tables: &Tables, thread: ThreadId, loc: LocId) -> Clock {
        let mut all: SmallVec<[Clock; 8]> = SmallVec::new();
        self.for_heads(tables, loc, |head| {
            if head.thread == thread {
                all.push(head.clock);
            }
        });
        let joined = |all, clock| self.clocks.joined(all, clock);
        all.into_iter().fold(Clock::default(), joined)
    }

    fn for_heads(&self, tables: &Tables, loc: LocId, mut f: impl FnMut(&Head)) {
        self.for_last_writes(
            tables,
            loc,
            |_| false,
            |message| {
                let mut next = message.heads;
                while let Some(position) = next {
                    let head = &self.heads[position.get() as usize - 1];
                    f(head);
                    next = head.below;
                }
            },
        );
    }

    pub(super) fn flush(&mut self, tables: &Tables, store: u32) {
        let is_it = |delayed: &Delayed| delayed.store == store;
        let Some(position) = self.delayed.iter().position(is_it) else {
            return;
        };
        let delayed = self.delayed.remove(position);
        self.store(tables, delayed);
        self.undo.push(Undo::Flushed(position as u32, delayed));
    }

    /// Does the thread read this byte from a store of its own that is delayed?
    fn is_forwarded(&self, tables: &Tables, thread: ThreadId, of: &LocInfo, byte: u64) -> bool {
        self.delayed.iter().any(|delayed| {
            let written = tables.loc_info(delayed.loc);
            delayed.thread == thread
                && written.object == of.object
                && (written.offset..written.offset + u64::from(written.size)).contains(&byte)
        })
    }

    fn read(&mut self, tables: &Tables, thread: ThreadId, loc: LocId, order: Order) {
        if self.threads[thread.index()].block.is_some() {
            let mut blocks: SmallVec<[u32; 8]> = SmallVec::new();
            self.for_messages(tables, thread, loc, |message| blocks.extend(message.block));
            for block in blocks {
                self.learn(thread, self.blocks[block as usize]);
            }
        }
        if !order.is_atomic() {
            return;
        }
        let clock = self.message(tables, thread, loc);
        if order.acquires() {
            self.learn(thread, clock);
        } else {
            self.learn_later(thread, clock);
        }
    }

    /// The write part continues every release sequence that the read part reads from.
    fn update(&mut self, tables: &Tables, thread: ThreadId, loc: LocId, order: Order) {
        let continued = self.message(tables, thread, loc);
        self.read(tables, thread, loc, order);
        let published = self.published(thread, order);
        let clock = self.clocks.joined(published, continued);
        let heads = match tables.release_sequences {
            ReleaseSequences::UpdatesOnly => None,
            ReleaseSequences::SameThread => {
                let heads = self.heads_at(tables, loc);
                self.head(thread, published, heads)
            }
        };
        self.write(thread, loc, clock, heads);
    }

    /// The heads of the release sequences that an update of a location continues.
    fn heads_at(&mut self, tables: &Tables, loc: LocId) -> Option<NonZeroU32> {
        if !tables.loc_info(loc).mixed {
            return self.locations.get(loc.index())?.message.heads;
        }
        let mut all: SmallVec<[Head; 8]> = SmallVec::new();
        self.for_heads(tables, loc, |&head| all.push(head));
        let begin = |below, head: Head| self.head(head.thread, head.clock, below);
        all.into_iter().fold(None, begin)
    }

    /// What the last writes of a location's bytes publish.
    fn message(&mut self, tables: &Tables, thread: ThreadId, loc: LocId) -> Clock {
        if !tables.loc_info(loc).mixed && self.delayed.is_empty() {
            let location = self.locations.get(loc.index());
            return location.map_or(Clock::default(), |location| location.message.clock);
        }
        let mut messages: SmallVec<[Clock; 8]> = SmallVec::new();
        self.for_messages(tables, thread, loc, |message| messages.push(message.clock));
        let joined = |all, clock| self.clocks.joined(all, clock);
        messages.into_iter().fold(Clock::default(), joined)
    }

    /// Calls `f` with the last write of each of a location's bytes that `thread` reads from memory.
    fn for_messages(&self, tables: &Tables, thread: ThreadId, loc: LocId, f: impl FnMut(&Message)) {
        let info = tables.loc_info(loc);
        let forwarded =
            |byte| !self.delayed.is_empty() && self.is_forwarded(tables, thread, info, byte);
        self.for_last_writes(tables, loc, forwarded, f);
    }

    /// Calls `f` with the last write of each of a location's bytes but those to leave out.
    fn for_last_writes(
        &self,
        tables: &Tables,
        loc: LocId,
        leave_out: impl Fn(u64) -> bool,
        mut f: impl FnMut(&Message),
    ) {
        let at = |loc: LocId| self.locations.get(loc.index()).map(|found| &found.message);
        let info = tables.loc_info(loc);
        if !info.mixed {
            if let Some(message) = at(loc)
                && !leave_out(info.offset)
            {
                f(message);
            }
            return;
        }
        for byte in info.offset..info.offset + u64::from(info.size) {
            if leave_out(byte) {
                continue;
            }
            let covers = |other: &LocId| {
                let other = tables.loc_info(*other);
                (other.offset..other.offset + u64::from(other.size)).contains(&byte)
            };
            let last = std::iter::once(loc)
                .chain(tables.overlaps(loc).iter().copied())
                .filter(covers)
                .filter_map(at)
                .max_by_key(|message| message.stamp);
            if let Some(message) = last {
                f(message);
            }
        }
    }

    fn fence(&mut self, thread: ThreadId, order: Order) {
        if order.acquires() {
            self.learn(thread, self.threads[thread.index()].pending);
        }
        if order.releases() {
            let clock = self.present(thread);
            self.change(thread, |knowledge| knowledge.fence = clock);
        }
    }

    fn sync(&mut self, thread: ThreadId, cell: LocId, action: SyncAction, value: u64) {
        let (cell, action) = match action {
            // The mutex is given up; the condition variable learns nothing.
            SyncAction::CondRelease { mutex } => (mutex, SyncAction::UNLOCK),
            _ => (cell, action),
        };
        let before = *entry(&mut self.cells, cell.index());
        let learnt = before.learnt(&self.opened, action, value, |released, readers| {
            self.clocks.joined(released, readers)
        });
        self.learn(thread, learnt);
        // What is known after the present step.
        let present = match releases(action, value) {
            true => self.present(thread),
            false => Clock::default(),
        };
        let openings = self.opened.len();
        let published = |released| self.clocks.joined(released, present);
        let after = before.after(thread, action, value, published, &mut self.opened);
        if self.opened.len() > openings {
            self.undo.push(Undo::Opened);
        }
        if let Some(after) = after {
            self.undo.push(Undo::Cell(cell, before));
            self.cells[cell.index()] = after;
        }
    }
}
