//! Which graphs are consistent.
//!
//! Coherence, atomicity and the absence of thin-air values hold by construction: reads and writes are offered only what `hb` allows
//! ([`Graph::floor`]), an update goes right behind its source, and an event is added after what it depends on. What is left is what
//! a model says of the order of all locations together. Reading from the last write, and writing behind it, is consistent in every
//! model, so that need not be looked at (maximal extensibility).

use super::buffered::Buffered;
use super::event::Ev;
use super::past::Past;
use super::psc::Psc;
use super::store::Graph;
use raddle_memory::MemoryModel;
use raddle_program::Program;

/// Judges graphs. What it keeps is memory to work in.
pub(super) struct Judge {
    pub(super) memory: MemoryModel,
    psc: Psc,
    buffered: Buffered,
    past: Past,
}

impl Judge {
    pub(super) fn new(memory: MemoryModel) -> Self {
        Self {
            memory,
            psc: Psc::default(),
            buffered: Buffered::default(),
            past: Past::default(),
        }
    }

    /// Is the graph consistent, given that it was before `changed` was added, or made to read from another write?
    pub(super) fn accepts(&mut self, program: &Program, graph: &Graph, changed: &[Ev]) -> bool {
        match self.memory {
            MemoryModel::C11 if graph.strong < 2 => true,
            // `psc` is part of what `sb`, `rf`, `mo` and `rb` make together, and whatever is new in it goes through what was changed. So a graph without
            // such a cycle there is consistent. If all accesses are sequentially consistent, the converse holds too: `sb`, `rf`, `mo`
            // and `rb` between them are part of `scb`.
            MemoryModel::C11 => {
                self.is_sequential(program, graph, changed)
                    || graph.weak > 0 && self.psc.is_acyclic(program, graph)
            }
            MemoryModel::Sc => self.is_sequential(program, graph, changed),
            MemoryModel::Tso | MemoryModel::Pso => {
                self.is_sequential(program, graph, changed)
                    || self.buffered.accepts(program, graph, self.memory, changed)
            }
        }
    }

    /// Is none of the changed events on a cycle of `sb`, `rf`, `mo` and `rb`?
    fn is_sequential(&mut self, program: &Program, graph: &Graph, changed: &[Ev]) -> bool {
        changed.iter().all(|&event| {
            let is_on_cycle = self.past.leads_back(program, graph, event);
            #[cfg(test)]
            assert_eq!(
                is_on_cycle,
                super::past::leads_back_by_definition(program, graph, event)
            );
            !is_on_cycle
        })
    }
}
