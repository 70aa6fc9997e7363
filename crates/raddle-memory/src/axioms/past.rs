//! What happens before each event, found as events are added to a graph: whoever builds one asks which writes are known to a thread.
//!
//! The same relation as [`super::happens_before`], found in another way: from each event back to those that it comes right after.

use super::cells::Handed;
use super::graph::{EventId, EventKind, ExecutionGraph, MemoryAccess, Place, Reads, Source};
use raddle_program::{ReleaseSequences, ThreadId};
use rustc_hash::FxHashMap;

/// A set of events.
type Set = Vec<u64>;

fn insert(set: &mut Set, event: EventId) {
    if set.len() <= event / 64 {
        set.resize(event / 64 + 1, 0);
    }
    set[event / 64] |= 1 << (event % 64);
}

fn contains(set: &Set, event: EventId) -> bool {
    let word = set.get(event / 64);
    word.is_some_and(|word| word >> (event % 64) & 1 == 1)
}

fn join(set: &mut Set, other: &Set) {
    if set.len() < other.len() {
        set.resize(other.len(), 0);
    }
    for (word, more) in set.iter_mut().zip(other) {
        *word |= more;
    }
}

/// By event, those that happen before it.
#[derive(Clone, Debug, Default)]
pub struct Pasts {
    before: Vec<Set>,
    threads: FxHashMap<ThreadId, Vec<EventId>>,
    spawns: FxHashMap<ThreadId, EventId>,
}

impl Pasts {
    /// Does the first event happen before the second?
    #[must_use]
    pub fn ordered(&self, first: EventId, second: EventId) -> bool {
        contains(&self.before[second], first)
    }

    /// Does the event happen before whatever the thread does next?
    #[must_use]
    pub fn is_known(&self, event: EventId, thread: ThreadId) -> bool {
        let own = self.threads.get(&thread).and_then(|own| own.last());
        let last = own.or_else(|| self.spawns.get(&thread));
        last.is_some_and(|&last| last == event || self.ordered(event, last))
    }

    /// Takes over the events that the graph has got since.
    pub fn follow(&mut self, graph: &ExecutionGraph) {
        while self.before.len() < graph.events.len() {
            self.push(graph);
        }
    }

    /// Forgets all events but the first.
    pub fn truncate(&mut self, length: usize) {
        self.before.truncate(length);
        for own in self.threads.values_mut() {
            own.retain(|&event| event < length);
        }
        self.spawns.retain(|_, event| *event < length);
    }

    fn push(&mut self, graph: &ExecutionGraph) {
        let id = self.before.len();
        let event = &graph.events[id];
        let own = self.threads.get(&event.thread).and_then(|own| own.last());
        let mut right_before: Vec<EventId> = own
            .or_else(|| self.spawns.get(&event.thread))
            .copied()
            .into_iter()
            .collect();
        match &event.kind {
            EventKind::Spawn(child) => {
                self.spawns.insert(*child, id);
            }
            EventKind::Join(thread) => {
                let last = self.threads.get(thread).and_then(|own| own.last());
                right_before.extend(last);
                right_before.extend(self.spawns.get(thread));
            }
            EventKind::Memory(access) if graph.order(access).acquires() => {
                self.released_to(graph, access, &mut right_before);
            }
            EventKind::Fence(order) if order.acquires() => {
                for &earlier in self.threads.get(&event.thread).into_iter().flatten() {
                    if let Some(read) = graph.memory(earlier) {
                        self.released_to(graph, read, &mut right_before);
                    }
                }
            }
            EventKind::Cell(access) => right_before.extend(self.handed_to(graph, access.cell, id)),
            _ => {}
        }
        let mut before = Set::new();
        for other in right_before {
            insert(&mut before, other);
            join(&mut before, &self.before[other]);
        }
        self.before.push(before);
        self.threads.entry(event.thread).or_default().push(id);
    }

    /// What an acquiring read comes after: the releases whose sequences it reads from.
    fn released_to(&self, graph: &ExecutionGraph, read: &MemoryAccess, found: &mut Vec<EventId>) {
        if !graph.order(read).is_atomic() {
            return;
        }
        for source in read.reads.iter().flat_map(Reads::sources) {
            self.releases(graph, source, found);
        }
    }

    /// The releases whose sequences a write belongs to.
    fn releases(&self, graph: &ExecutionGraph, mut source: Source, found: &mut Vec<EventId>) {
        while let Some(id) = source {
            let Some(write) = graph
                .memory(id)
                .filter(|write| graph.order(write).is_atomic())
            else {
                return;
            };
            self.released_by(graph, id, write, found);
            source = match &write.reads {
                Some(reads) => reads.byte(0),
                None => None,
            };
        }
    }

    /// The releases that begin sequences which a write is in without reading.
    fn released_by(
        &self,
        graph: &ExecutionGraph,
        id: EventId,
        write: &MemoryAccess,
        found: &mut Vec<EventId>,
    ) {
        if graph.order(write).releases() {
            found.push(id);
        }
        let own = self.threads.get(&graph.events[id].thread);
        for &earlier in own
            .into_iter()
            .flatten()
            .take_while(|&&earlier| earlier < id)
        {
            let begins = match &graph.events[earlier].kind {
                EventKind::Fence(order) => order.releases(),
                EventKind::Memory(other) => {
                    graph.release_sequences == ReleaseSequences::SameThread
                        && other.writes
                        && other.loc == write.loc
                        && graph.order(other).releases()
                }
                _ => false,
            };
            if begins {
                found.push(earlier);
            }
        }
    }

    /// What an operation on a cell comes after.
    fn handed_to(&self, graph: &ExecutionGraph, cell: Place, id: EventId) -> Vec<EventId> {
        let Some(access) = graph.cell(id) else {
            return Vec::new();
        };
        let mut handed = Handed::default();
        let order = graph.modification.get(&cell).map_or(&[][..], Vec::as_slice);
        let Some(read) = access.reads else {
            return handed.before(access.role);
        };
        for &update in order {
            if let Some(earlier) = graph.cell(update) {
                handed.update(update, graph.events[update].thread, earlier.role);
            }
            if update == read {
                return handed.before(access.role);
            }
        }
        Vec::new()
    }
}
