//! Alternatives: lines 7-9 and 11 of algorithm 1.

use super::event::{EXTRA, Event, Fingerprint, NO_EVENT, Pos};
use super::{Alternative, Search};

impl Search {
    /// Is an alternative with this fingerprint known at a node?
    pub(super) fn is_known(&self, node: Pos, fingerprint: Fingerprint) -> bool {
        self.nodes[node as usize].seen.contains(&fingerprint)
    }

    /// Adds an alternative at a node: `first` in place of the event there. Its sources are positions of the present trace, or
    /// `extra` (as [`EXTRA`]), whose sources are positions of the present trace. None of them is causally after the node's
    /// event.
    pub(super) fn propose(&mut self, node: Pos, mut first: Event, extra: Option<Event>) {
        if self.is_known(node, first.fingerprint) {
            return;
        }
        self.nodes[node as usize].seen.push(first.fingerprint);
        let needed = self.needed(node, &first, extra.as_ref());
        let new_pos = |old: Pos| match old {
            NO_EVENT => NO_EVENT,
            EXTRA => node + 1 + needed.len() as Pos,
            _ if old < node => old,
            _ => {
                let rank = needed.iter().position(|&other| other == old);
                debug_assert!(rank.is_some(), "what is needed includes its causes");
                node + 1 + rank.unwrap_or(0) as Pos
            }
        };
        let mut rest: Vec<Event> = needed
            .iter()
            .map(|&pos| self.trace.event(pos).clone())
            .collect();
        let brings_new = extra.is_some();
        rest.extend(extra);
        for event in &mut rest {
            event.marked = true;
        }
        first.marked = false;
        // What the alternatives of a node are does not change with the event that is there.
        first.branching = self.trace.event(node).branching;
        for event in rest.iter_mut().chain(std::iter::once(&mut first)) {
            event.parent = new_pos(event.parent);
            for read in &mut event.reads {
                read.source = new_pos(read.source);
            }
        }
        self.nodes[node as usize].pending.push(Alternative {
            first,
            rest,
            brings_new,
        });
    }

    /// Line 8: what is causally before `first` and after the node in the trace, in the order of the witness.
    fn needed(&self, node: Pos, first: &Event, extra: Option<&Event>) -> Vec<Pos> {
        let mut clock = vec![0; self.trace.width()];
        for event in extra.into_iter().chain(std::iter::once(first)) {
            let sources = event.reads.iter().map(|read| read.source);
            for source in sources.chain(std::iter::once(event.parent)) {
                if source != NO_EVENT && source != EXTRA {
                    for (mine, theirs) in clock.iter_mut().zip(self.trace.clock(source)) {
                        *mine = (*mine).max(*theirs);
                    }
                }
            }
        }
        let mut needed: Vec<Pos> = (node..self.trace.len())
            .filter(|&pos| {
                let event = self.trace.event(pos);
                event.index <= clock[event.thread.index()]
            })
            .collect();
        debug_assert!(
            !needed.contains(&node),
            "nothing needed is after the node's event"
        );
        needed.sort_by_key(|&pos| self.trace.graph.position(pos));
        needed
    }
}
