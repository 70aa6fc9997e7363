//! What synchronisation objects order: along the modification order of a cell, which is a chain of updates, releases come before acquires.
//!
//! - unlock → lock, also within a condition variable's wait; the unlock of a reader → the lock of a writer, not of a reader;
//! - post → wait of a semaphore; signal, broadcast → wake-up; end of an initialiser → calls that find it run;
//! - arrivals → departures of the same generation of a barrier, and → its last arrival;
//! - the end of an atomic block → the begin of the next.
//!
//! What is released once stays so: an acquire comes after all releases before it in the chain. An operation that only reads the cell comes
//! after those that the word it reads comes from.

use super::graph::{EventId, ExecutionGraph, Place, Role};
use super::relation::Relation;
use raddle_program::ThreadId;
use std::collections::BTreeMap;

/// What a cell hands from releases to acquires.
#[derive(Clone, Debug, Default)]
pub(super) struct Handed {
    released: Vec<EventId>,
    /// By unlocks of readers.
    readers: Vec<EventId>,
    /// Who holds a read-write lock for writing.
    writer: Option<ThreadId>,
    /// The arrivals of each generation of a barrier that is over.
    opened: BTreeMap<u32, Vec<EventId>>,
}

impl Handed {
    /// Those that an operation with this role comes after.
    pub(super) fn before(&self, role: Role) -> Vec<EventId> {
        match role {
            Role::Nothing | Role::Releases | Role::RwUnlocks | Role::Arrives { opens: None } => {
                Vec::new()
            }
            Role::Acquires | Role::Arrives { opens: Some(_) } => self.released.clone(),
            Role::WriteLocks => [self.released.as_slice(), &self.readers].concat(),
            Role::Departs { generation } => {
                self.opened.get(&generation).cloned().unwrap_or_default()
            }
        }
    }

    /// The next update of the cell.
    pub(super) fn update(&mut self, event: EventId, thread: ThreadId, role: Role) {
        match role {
            Role::Releases => self.released.push(event),
            Role::WriteLocks => self.writer = Some(thread),
            Role::RwUnlocks if self.writer == Some(thread) => {
                self.writer = None;
                self.released.push(event);
            }
            Role::RwUnlocks => self.readers.push(event),
            Role::Arrives { opens } => {
                self.released.push(event);
                if let Some(generation) = opens {
                    let arrived = std::mem::take(&mut self.released);
                    self.opened.insert(generation, arrived);
                }
            }
            Role::Nothing | Role::Acquires | Role::Departs { .. } => {}
        }
    }
}

/// The part of `sw` that cells make.
pub(super) fn synchronises(graph: &ExecutionGraph) -> Relation {
    let mut all = Relation::new(graph.events.len());
    let mut readers: BTreeMap<(Place, Option<EventId>), Vec<EventId>> = BTreeMap::new();
    for id in 0..graph.events.len() {
        if let Some(access) = graph.cell(id).filter(|access| !access.writes) {
            readers
                .entry((access.cell, access.reads))
                .or_default()
                .push(id);
        }
    }
    for (&place, order) in &graph.modification {
        let mut handed = Handed::default();
        for &id in order {
            let Some(access) = graph.cell(id) else {
                continue;
            };
            for earlier in handed.before(access.role) {
                all.add(earlier, id);
            }
            handed.update(id, graph.events[id].thread, access.role);
            for &reader in readers.get(&(place, Some(id))).into_iter().flatten() {
                if let Some(read) = graph.cell(reader) {
                    for earlier in handed.before(read.role) {
                        all.add(earlier, reader);
                    }
                }
            }
        }
    }
    all
}
