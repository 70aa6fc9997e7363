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

    /// A load of several locations at once, which waits for nothing: each part comes from the thread's own buffer or from
    /// memory, all at one moment.
    ///
    /// In the order of memory the parts are one; in coherence they are not. A part that comes from the buffer says nothing about
    /// when the others are read, so that moment must not be tied to the store behind it.
    ///
    /// # Panics
    /// If there are no parts.
    pub fn wide_read(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        parts: &[(Location, Lit)],
    ) -> Vec<EventId> {
        let events = self.at_once(solver, parts);
        self.chain_strong(solver, thread, events[0]);
        for (&(location, _), &event) in parts.iter().zip(&events) {
            self.chain_location(solver, thread, location, event);
            self.place(location).reads.push(Access {
                event,
                thread: Some(thread),
            });
        }
        events
    }

    /// A store to several locations, which waits in the buffer like any other and reaches memory everywhere at once. All parts
    /// happen, or none.
    ///
    /// # Panics
    /// If there are no parts.
    pub fn wide_write(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        parts: &[(Location, Lit)],
    ) -> Vec<EventId> {
        let events = self.at_once(solver, parts);
        if self.model == MemoryModel::Sc {
            self.chain_strong(solver, thread, events[0]);
        }
        for (&(location, guard), &event) in parts.iter().zip(&events) {
            match self.model {
                MemoryModel::Sc => {}
                MemoryModel::Tso => self.chain_store(solver, thread, location, event),
                MemoryModel::Pso => self.chain_part(solver, thread, (location, guard), event),
            }
            self.chain_location(solver, thread, location, event);
            self.place(location).writes.push(Access {
                event,
                thread: Some(thread),
            });
        }
        events
    }

    /// PSO: a store of several locations is one node. If it does not happen, it must not order stores before it to one of them
    /// before stores after it to another. So what comes before it does so only if it happens, and is kept for what follows.
    fn chain_part(
        &mut self,
        solver: &mut OrderSolver,
        thread: ThreadIndex,
        (location, guard): (Location, Lit),
        event: EventId,
    ) {
        let global = self.global;
        let chains = self.chains(thread);
        for &(of, earlier) in &chains.last_stores {
            if of == location && earlier != event {
                solver.order_if(global, earlier, event, guard);
            }
        }
        for earlier in [chains.last_strong, chains.barrier].into_iter().flatten() {
            solver.order(global, earlier, event);
        }
        chains.last_stores.push((location, event));
    }

    /// Events that are one in the order of memory.
    fn at_once(&mut self, solver: &mut OrderSolver, parts: &[(Location, Lit)]) -> Vec<EventId> {
        let events = parts.iter().map(|&(_, guard)| solver.new_event(guard));
        let events: Vec<EventId> = events.collect();
        if events.len() > 1 {
            solver.atomic(self.global, &events);
        }
        events
    }
}
