//! Alternatives: lines 7-9 and 11 of algorithm 1.

use super::event::{EXTRA, Event, Fingerprint, NO_EVENT, Pos};
use super::{Alternative, Search};
use smallvec::SmallVec;

impl Search {
    /// Is an alternative with this fingerprint known at a node?
    pub(super) fn is_known(&self, node: Pos, fingerprint: Fingerprint) -> bool {
        self.nodes[node as usize].seen.contains(fingerprint)
    }

    /// Adds an alternative at a node: `first` in place of the event there. Its sources are positions of the present trace, or
    /// `extra` (as [`EXTRA`]), whose sources are positions of the present trace. None of them is causally after the node's
    /// event.
    pub(super) fn propose(&mut self, node: Pos, mut first: Event, extra: Option<Event>) {
        if self.is_known(node, first.fingerprint) {
            return;
        }
        let here = &mut self.nodes[node as usize];
        here.seen.insert(first.fingerprint);
        if let Some(junction) = &here.shared {
            if !junction.claim(first.fingerprint) {
                return;
            }
            self.found_above = true;
        }
        let needed = self.needed(node, &first, extra.as_ref());
        let needed = needed
            .into_iter()
            .map(|pos| (pos, self.trace.share(pos)))
            .collect();
        // What the alternatives of a node are does not change with the event that is there.
        first.branching = self.trace.event(node).branching;
        first.marked = false;
        let op = self.nodes[node as usize].op;
        let postponed = match (first.thread, first.index) == op {
            true => SmallVec::new(),
            false => SmallVec::from_slice(&[op]),
        };
        let first = self.trace.store.insert(first);
        let extra = extra.map(|extra| self.trace.store.insert(extra));
        self.nodes[node as usize].pending.push(Alternative {
            first,
            extra,
            needed,
            postponed,
        });
    }

    /// Places the events of an alternative at the end of the trace, `first` in front, and with the positions they get there.
    pub(super) fn place(&mut self, alternative: &Alternative) {
        let node = self.trace.len();
        let count = alternative.needed.len() as Pos;
        for (&(old, _), new) in alternative.needed.iter().zip(node + 1..) {
            if self.new_positions.len() <= old as usize {
                self.new_positions.resize(old as usize + 1, NO_EVENT);
            }
            self.new_positions[old as usize] = new;
        }
        let needed = alternative.needed.iter().map(|&(_, id)| (id, true));
        let events = std::iter::once((alternative.first, false))
            .chain(needed)
            .chain(alternative.extra.map(|id| (id, true)));
        for (id, marked) in events {
            let id = self.trace.store.take(id);
            let event = self.trace.store.event_mut(id);
            let new_position = |old: Pos| match old {
                EXTRA => node + 1 + count,
                // Also "no event" is no position.
                _ if old < node || old == NO_EVENT => old,
                _ => self.new_positions[old as usize],
            };
            event.marked = marked;
            event.parent = new_position(event.parent);
            for read in &mut event.reads {
                read.source = new_position(read.source);
            }
            self.trace.place_stored(id);
        }
    }

    /// Line 8: what is causally before `first` and after the node in the trace, in the order of the witness.
    fn needed(&mut self, node: Pos, first: &Event, extra: Option<&Event>) -> SmallVec<[Pos; 8]> {
        let mut needed = SmallVec::new();
        let events = || extra.into_iter().chain(std::iter::once(first));
        let causes = || {
            let of = |event: &'_ Event| {
                let sources = event.reads.iter().map(|read| read.source);
                let all: SmallVec<[Pos; 4]> = sources.chain([event.parent]).collect();
                all
            };
            events().flat_map(of)
        };
        // What is before an open node is closed under causality.
        let is_late = |pos: Pos| pos != NO_EVENT && pos != EXTRA && pos >= node;
        if !causes().any(is_late) {
            return needed;
        }
        self.clock.clear();
        self.clock.resize(self.trace.width(), 0);
        for cause in causes().filter(|&pos| is_late(pos)) {
            for (mine, theirs) in self.clock.iter_mut().zip(self.trace.clock(cause)) {
                *mine = (*mine).max(*theirs);
            }
        }
        needed.extend((node..self.trace.len()).filter(|&pos| {
            let (thread, index) = self.trace.name(pos);
            index <= self.clock[thread as usize]
        }));
        debug_assert!(
            !needed.contains(&node),
            "nothing needed is after the node's event"
        );
        needed.sort_by_key(|&pos| self.trace.graph.position(pos));
        needed
    }
}
