//! Data races: two accesses of different threads to the same bytes, one of them a write, one of them plain, unordered by `hb`. A free is a
//! plain write to its whole object, with which operations on synchronisation objects race, too.

use super::graph::{EventId, EventKind, ExecutionGraph};
use super::relation::Relation;

/// All data races, each with the event that is listed first first.
#[must_use]
pub fn data_races(graph: &ExecutionGraph, happens_before: &Relation) -> Vec<(EventId, EventId)> {
    let mut races = Vec::new();
    for second in 0..graph.events.len() {
        for first in 0..second {
            let ordered = happens_before.has(first, second) || happens_before.has(second, first);
            if !ordered && race(graph, first, second) {
                races.push((first, second));
            }
        }
    }
    races
}

/// Do two events race if nothing orders them?
#[must_use]
pub fn race(graph: &ExecutionGraph, a: EventId, b: EventId) -> bool {
    use EventKind::{Cell, Free, Memory};
    let (a, b) = (&graph.events[a], &graph.events[b]);
    a.thread != b.thread
        && match (&a.kind, &b.kind) {
            (Memory(a), Memory(b)) => {
                (a.writes || b.writes)
                    && !(graph.order(a).is_atomic() && graph.order(b).is_atomic())
                    && a.shares_bytes(b)
            }
            (Free(object), Memory(access)) | (Memory(access), Free(object)) => {
                access.object == *object
            }
            (Free(object), Cell(access)) | (Cell(access), Free(object)) => {
                access.object == Some(*object)
            }
            (Free(a), Free(b)) => a == b,
            _ => false,
        }
}
