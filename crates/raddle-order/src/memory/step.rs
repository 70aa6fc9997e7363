//! Steps of several accesses at once: atomic blocks, operations on synchronisation objects, wide accesses.

use super::{Access, Location, Memory, MemoryModel, ThreadIndex};
use crate::lit::Lit;
use crate::order::EventId;
use crate::solver::OrderSolver;

/// A part of an atomic step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Reads the location if the guard holds.
    Read(Location, Lit),
    /// Writes the location if the guard holds.
    Write(Location, Lit),
    /// Something else that happens if the guard holds.
    Point(Lit),
}

impl Memory {
    /// Several accesses of one thread that nothing comes between, in this order; one event each. The guards of the parts
    /// must imply `guard`. Drains the store buffer if `guard` holds, and leaves it empty.
    ///
    /// # Panics
    /// If there are no parts.
    pub fn atomic_step(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        guard: Lit,
        parts: &[Part],
    ) -> Vec<EventId> {
        let events: Vec<EventId> = parts
            .iter()
            .map(|part| match *part {
                Part::Read(_, guard) | Part::Write(_, guard) | Part::Point(guard) => {
                    solver.new_event(guard)
                }
            })
            .collect();
        if events.len() > 1 {
            solver.atomic(self.global, &events);
            if self.model != MemoryModel::Sc {
                solver.atomic(self.coherence, &events);
            }
        }
        self.drain(solver, thread, events[0], guard);
        self.chain_strong(solver, thread, events[0]);
        for (part, &event) in parts.iter().zip(&events) {
            let access = Access {
                event,
                thread: Some(thread),
            };
            match *part {
                Part::Read(location, _) => {
                    self.chain_location(solver, thread, location, event);
                    self.place(location).reads.push(access);
                }
                Part::Write(location, _) => {
                    self.chain_location(solver, thread, location, event);
                    self.place(location).writes.push(access);
                }
                Part::Point(_) => {}
            }
        }
        events
    }
}
