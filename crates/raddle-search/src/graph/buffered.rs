//! Sequential consistency but for store buffers: TSO and PSO.
//!
//! The axioms of `raddle_order::memory`: coherence, which holds by construction, and a *global* order in which memory is accessed. It
//! consists of `rf` between threads, `mo`, `rb`, and of what the model keeps of program order. What each operation does is said in
//! `raddle_memory::machine::delay`: a store that is *delayed* reaches memory after its thread has gone on, an operation that *drains*
//! waits for all delayed stores of its thread.
//!
//! | event | comes after, of its thread |
//! |---|---|
//! | that drains | all earlier ones |
//! | delayed store, TSO | all earlier ones |
//! | delayed store, PSO | all earlier ones but delayed stores; of these, those to its location, and those before a store-store barrier |
//! | others | all earlier ones but delayed stores |

use super::event::{Ev, Event, Kind};
use super::store::Graph;
use raddle_memory::MemoryModel;
use raddle_program::{Op, Order, Program};

/// Does a store wait in its thread's buffer?
pub(super) fn is_delayed(event: &Event) -> bool {
    event.kind == Kind::Write && !event.is_update && !event.is_cell && event.order != Order::SeqCst
}

/// Does an event wait until its thread's buffer is empty?
pub(super) fn drains(program: &Program, event: &Event) -> bool {
    match event.kind {
        Kind::Write => !is_delayed(event),
        Kind::Fence => event.order == Order::SeqCst,
        Kind::Read | Kind::Other => !matches!(
            program.op(event.state),
            Op::Load { .. } | Op::Alloc { .. } | Op::Free { .. } | Op::Choice { .. }
        ),
    }
}

/// Do the delayed stores before an event reach memory before those from this one on?
pub(super) fn is_barrier(event: &Event) -> bool {
    matches!(event.kind, Kind::Write | Kind::Fence) && event.order.releases()
}

/// Memory to work in.
#[derive(Default)]
pub(super) struct Buffered {
    todo: Vec<Ev>,
    /// By event: the number of the search that met it last.
    met: Vec<Vec<u32>>,
    search: u32,
}

impl Buffered {
    /// Is none of the changed events on a cycle of the global order?
    pub(super) fn accepts(
        &mut self,
        program: &Program,
        graph: &Graph,
        memory: MemoryModel,
        changed: &[Ev],
    ) -> bool {
        let mut changed = changed.iter();
        changed.all(|&event| !self.is_before_itself(program, graph, memory, event))
    }

    fn is_before_itself(
        &mut self,
        program: &Program,
        graph: &Graph,
        memory: MemoryModel,
        event: Ev,
    ) -> bool {
        self.search += 1;
        self.met.resize_with(graph.threads.len(), Vec::new);
        for (met, thread) in self.met.iter_mut().zip(&graph.threads) {
            met.resize(met.len().max(thread.events.len()), 0);
        }
        self.todo.clear();
        self.predecessors(program, graph, memory, event);
        while let Some(next) = self.todo.pop() {
            if next == event {
                return true;
            }
            self.predecessors(program, graph, memory, next);
        }
        false
    }

    fn note(&mut self, before: Ev) {
        if before.is_event() {
            let met = &mut self.met[before.of()][before.at()];
            if *met != self.search {
                *met = self.search;
                self.todo.push(before);
            }
        }
    }

    fn predecessors(&mut self, program: &Program, graph: &Graph, memory: MemoryModel, event: Ev) {
        let e = graph.event(event);
        let delayed = match (is_delayed(e), memory) {
            (true, MemoryModel::Tso) => Delayed::All,
            (true, _) => Delayed::BeforeBarrier,
            (false, _) if drains(program, e) => Delayed::All,
            (false, _) => Delayed::None,
        };
        self.note_own(program, graph, event, delayed);
        match e.kind {
            // Its own thread's stores it reads from the buffer.
            Kind::Read if e.source.thread != event.thread => self.note(e.source),
            Kind::Read => {}
            Kind::Write => {
                // The write before, and whoever reads from it.
                let position = graph.position(e.place, event);
                let earlier = graph.write_at(e.place, position - 1);
                self.note(earlier);
                for thread in 0..graph.threads.len() {
                    let mut at = graph.last_here(e.place, thread);
                    while let Some(other) = at {
                        let read = graph.event(other);
                        if read.kind == Kind::Read && read.source == earlier {
                            self.note(other);
                        }
                        at = graph.before_here(other);
                    }
                }
            }
            Kind::Other => {
                if let Op::Join { thread } = *program.op(e.state)
                    && !e.is_fault
                {
                    let end = Ev::new(thread.index(), graph.threads[thread.index()].events.len());
                    self.note_own(program, graph, end, Delayed::All);
                }
            }
            Kind::Fence => {}
        }
    }

    /// Notes what an event comes after of its own thread, or as much of it that the rest follows.
    fn note_own(&mut self, program: &Program, graph: &Graph, event: Ev, which: Delayed) {
        let thread = &graph.threads[event.of()];
        let mut place = None;
        let mut takes_all = which == Delayed::All;
        if which == Delayed::BeforeBarrier {
            let e = graph.event(event);
            place = Some(e.place);
            takes_all = is_barrier(e);
        }
        let mut has_met_other = false;
        for index in (0..event.at()).rev() {
            let earlier = &thread.events[index];
            let this = Ev::new(event.of(), index);
            if is_delayed(earlier) {
                if takes_all || place == Some(earlier.place) {
                    self.note(this);
                }
            } else if !has_met_other {
                has_met_other = true;
                self.note(this);
            }
            if !is_delayed(earlier) && (drains(program, earlier) || which == Delayed::None) {
                return;
            }
            takes_all |= which == Delayed::BeforeBarrier && is_barrier(earlier);
        }
        self.note(thread.started_by);
    }
}

/// Which earlier delayed stores of its thread an event comes after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delayed {
    None,
    All,
    /// Those to the same location, and those before a store-store barrier.
    BeforeBarrier,
}
