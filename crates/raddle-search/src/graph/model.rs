//! Which graphs are consistent.
//!
//! Coherence, atomicity and the absence of thin-air values hold by construction: reads and writes are offered only what `hb` allows
//! ([`Graph::floor`]), an update goes right behind its source, and an event is added after what it depends on. What is left is what
//! a model says of the order of all locations together. Reading from the last write, and writing behind it, is consistent in every
//! model, so that need not be looked at (maximal extensibility).

use super::buffered::Buffered;
use super::event::{Ev, Kind};
use super::psc::Psc;
use super::store::Graph;
use raddle_memory::MemoryModel;
use raddle_program::{Op, Program};

/// Judges graphs. What it keeps is memory to work in.
pub(super) struct Judge {
    pub(super) memory: MemoryModel,
    psc: Psc,
    buffered: Buffered,
    before: Vec<u32>,
    todo: Vec<Ev>,
}

impl Judge {
    pub(super) fn new(memory: MemoryModel) -> Self {
        Self {
            memory,
            psc: Psc::default(),
            buffered: Buffered::default(),
            before: Vec::new(),
            todo: Vec::new(),
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
        changed
            .iter()
            .all(|&event| !self.is_before_itself(program, graph, event))
    }

    /// Does a path of `sb`, `rf`, `mo` and `rb` lead from the event to itself?
    fn is_before_itself(&mut self, program: &Program, graph: &Graph, event: Ev) -> bool {
        self.before.clear();
        self.before.resize(graph.threads.len(), 0);
        self.todo.clear();
        self.predecessors(program, graph, event);
        let mut found = false;
        while let Some(next) = self.todo.pop() {
            // All earlier events of the thread come with it.
            let known = self.before[next.of()];
            if next.index < known {
                continue;
            }
            self.before[next.of()] = next.index + 1;
            for index in known..=next.index {
                let at = Ev {
                    thread: next.thread,
                    index,
                };
                found |= at == event;
                self.predecessors(program, graph, at);
            }
            if found {
                return true;
            }
        }
        false
    }

    /// Notes what comes right before an event.
    fn predecessors(&mut self, program: &Program, graph: &Graph, event: Ev) {
        let mut note = |before: Ev| {
            if before.is_event() && before.index >= self.before[before.of()] {
                self.todo.push(before);
            }
        };
        let e = graph.event(event);
        match event.index.checked_sub(1) {
            Some(index) => note(Ev {
                thread: event.thread,
                index,
            }),
            None => note(graph.threads[event.of()].started_by),
        }
        match e.kind {
            Kind::Read => {
                note(e.source);
                // All additions of a block come before whoever reads from one.
                graph
                    .additions_up_to(e.place, e.source)
                    .iter()
                    .for_each(|&addition| note(addition));
            }
            // All others that access the place happen before it or after it.
            Kind::Write if e.is_addition => {}
            Kind::Write => {
                // The write before, and whoever reads from it.
                let position = graph.position(e.place, event);
                let earlier = graph.write_at(e.place, position - 1);
                note(earlier);
                for thread in 0..graph.threads.len() {
                    let mut at = graph.last_here(e.place, thread);
                    while let Some(other) = at {
                        let read = graph.event(other);
                        if read.kind == Kind::Read && read.source == earlier && other != event {
                            note(other);
                        }
                        at = graph.before_here(other);
                    }
                }
            }
            Kind::Other => {
                if let Op::Join { thread } = *program.op(e.state)
                    && !e.is_fault
                    && let Some(last) = graph.threads[thread.index()].events.len().checked_sub(1)
                {
                    note(Ev::new(thread.index(), last));
                }
            }
            Kind::Fence => {}
        }
    }
}
