//! Verifying sequential consistency: given what each thread wrote and read, is there an order of all of it that explains
//! the values? The problem behind the engines that work on one trace at a time, NP-complete in general; here its
//! encoding, as a yardstick for the solver and an example of its use.

use crate::lit::Lit;
use crate::memory::{Location, Memory, MemoryModel};
use crate::order::{EventId, GraphId, OrderConfig};
use crate::solver::OrderSolver;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Read(Location, u32),
    Write(Location, u32),
}

/// By thread, in program order. Locations start at 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    pub threads: Vec<Vec<Access>>,
}

/// The question whether a trace is consistent, ready to be solved.
pub struct Question {
    /// Satisfiable iff it is.
    pub solver: OrderSolver,
    /// By thread, in program order.
    pub events: Vec<Vec<EventId>>,
    /// The graph whose order explains the values.
    pub order: GraphId,
}

impl Trace {
    /// Does the memory model explain the values?
    #[must_use]
    pub fn encode(&self, model: MemoryModel, config: OrderConfig) -> Question {
        let mut solver = OrderSolver::new(config);
        let mut memory = Memory::new(&mut solver, model);
        let mut value_of: FxHashMap<EventId, u32> = FxHashMap::default();
        let mut events = Vec::with_capacity(self.threads.len());
        let highest = self.threads.iter().flatten().map(|access| match *access {
            Access::Read(location, _) | Access::Write(location, _) => location,
        });
        for location in 0..=highest.max().unwrap_or(0) {
            value_of.insert(memory.initial(&mut solver, location), 0);
        }
        for accesses in &self.threads {
            let thread = memory.thread();
            let mut of_thread = Vec::with_capacity(accesses.len());
            for &access in accesses {
                let (event, value) = match access {
                    Access::Read(at, value) => {
                        (memory.read(&mut solver, thread, at, Lit::TRUE), value)
                    }
                    Access::Write(at, value) => {
                        (memory.write(&mut solver, thread, at, Lit::TRUE), value)
                    }
                };
                value_of.insert(event, value);
                of_thread.push(event);
            }
            events.push(of_thread);
        }
        memory.connect(&mut solver, |write, read| {
            value_of[&write] == value_of[&read]
        });
        Question {
            solver,
            events,
            order: memory.global(),
        }
    }

    /// Does this order of all accesses explain the values? Each step names a thread.
    #[must_use]
    pub fn explains(&self, schedule: &[usize]) -> bool {
        let mut memory: FxHashMap<Location, u32> = FxHashMap::default();
        let mut next = vec![0; self.threads.len()];
        for &thread in schedule {
            let Some(&access) = self.threads[thread].get(next[thread]) else {
                return false;
            };
            next[thread] += 1;
            match access {
                Access::Write(location, value) => {
                    memory.insert(location, value);
                }
                Access::Read(location, value) => {
                    if memory.get(&location).copied().unwrap_or(0) != value {
                        return false;
                    }
                }
            }
        }
        next.iter()
            .zip(&self.threads)
            .all(|(&next, thread)| next == thread.len())
    }
}
