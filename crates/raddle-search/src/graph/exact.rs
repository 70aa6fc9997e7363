//! The graphs that a search visits, in the form in which the brute force tells them.

use super::event::{Ev, Event, Kind, Place as Here};
use super::store::Halt;
use super::{Search, Step};
use crate::driver::{Reductions, SearchOptions};
use crate::frame::Frame;
use crate::oracle::c11::{CanonicalGraph, CanonicalOperation, FinalGraphs, OperationId};
use crate::watch::Watch;
use raddle_memory::MemoryModel;
use raddle_memory::axioms::Place;
use raddle_program::{LocId, Op, Program, RmwKind, StateId, ThreadId};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a search visits.
pub(super) struct Visited {
    pub(super) graphs: Vec<CanonicalGraph>,
    /// Locations at which additions were left in any order.
    pub(super) unordered: BTreeSet<LocId>,
    /// At one of these, another update adds something in an order of its own: without the order of additions, graphs look the same that are not.
    pub(super) has_others: bool,
}

/// Every final graph of a program as often as it is visited, in ascending order. The program is one that has been checked with the same
/// options, so that all is known that is to be known of its loops.
pub(super) fn visited(
    program: &mut Program,
    memory: MemoryModel,
    reductions: Reductions,
    options: SearchOptions,
) -> Visited {
    let mut frame = Frame::new(options, Arc::new(Watch::default()));
    let mut search = Search::new(program, memory, reductions, &frame);
    let mut graphs = Vec::new();
    let mut unordered = BTreeSet::new();
    let mut has_others = false;
    loop {
        let step = match search.next(program) {
            Some(thread) => search.extend(program, &mut frame, thread),
            None => {
                if search.is_final(program) {
                    graphs.push(search.canonical(program));
                    let locs = (0..program.tables().loc_count() as u32).map(LocId);
                    let has = |loc: &LocId| search.graph.has_additions(Here::of(*loc));
                    unordered.extend(locs.filter(has));
                    has_others |= search.has_ordered_updates(program);
                }
                ControlFlow::Continue(Step::Dropped)
            }
        };
        let ControlFlow::Continue(step) = step else {
            break;
        };
        if step == Step::Dropped
            && search.backtrack(program, &mut frame) != ControlFlow::Continue(true)
        {
            break;
        }
    }
    graphs.sort_unstable();
    Visited {
        graphs,
        unordered,
        has_others,
    }
}

/// Does the operation of a state add something, in any order with others?
fn commutes(program: &Program, unordered: &BTreeSet<LocId>, state: StateId) -> bool {
    matches!(*program.op(state), Op::Rmw { loc, kind: RmwKind::Add | RmwKind::Sub, operand, order }
        if operand != 0
            && !order.acquires()
            && unordered.contains(&loc))
}

/// The graphs without the order of additions that commute, each as often as it is there.
pub(super) fn without_order_of_additions(
    program: &Program,
    unordered: &BTreeSet<LocId>,
    mut graphs: Vec<CanonicalGraph>,
) -> Vec<CanonicalGraph> {
    for graph in &mut graphs {
        let mut additions: Vec<OperationId> = Vec::new();
        for (thread, operations) in &graph.threads {
            let numbered = operations.iter().zip(0..);
            let found =
                numbered.filter(|(operation, _)| commutes(program, unordered, operation.state));
            additions.extend(found.map(|(_, number)| (*thread, number)));
        }
        for (thread, operations) in &mut graph.threads {
            for (operation, number) in operations.iter_mut().zip(0..) {
                let is_one = additions.contains(&(*thread, number));
                operation.source = operation
                    .source
                    .filter(|source| !is_one && !additions.contains(source));
            }
        }
        for (_, order) in &mut graph.modification {
            order.retain(|operation| !additions.contains(operation));
        }
        graph.modification.retain(|(_, order)| !order.is_empty());
    }
    graphs.sort_unstable();
    graphs
}

/// Is what an operation leads to told, since it may not follow from the rest?
fn tells_outcome(program: &Program, state: StateId) -> bool {
    matches!(
        *program.op(state),
        Op::Rmw {
            kind: RmwKind::Add | RmwKind::Sub,
            ..
        }
    )
}

/// The graphs of the brute force, without what follows from the rest.
pub(super) fn expected(program: &mut Program, all: &FinalGraphs) -> Vec<CanonicalGraph> {
    let mut graphs: Vec<CanonicalGraph> = all.graphs.keys().cloned().collect();
    for graph in &mut graphs {
        for (_, operations) in &mut graph.threads {
            for operation in operations {
                operation.value = match tells_outcome(program, operation.state) {
                    true => u64::from(program.after(operation.state, operation.value).0),
                    false => 0,
                };
            }
        }
    }
    graphs.sort_unstable();
    graphs
}

impl Search {
    fn is_final(&mut self, program: &mut Program) -> bool {
        (0..self.graph.threads.len()).all(|thread| {
            let read = self.waiting_read(thread);
            read.is_none_or(|read| !self.waits_in_vain(program, read))
        })
    }

    /// Is there an update beside additions, at their location, that is ordered and none of those that come behind all others?
    fn has_ordered_updates(&self, program: &Program) -> bool {
        let threads = self.graph.threads.iter();
        threads.flat_map(|thread| &thread.events).any(|event| {
            event.kind == Kind::Read
                && tells_outcome(program, event.state)
                && self.graph.has_additions(event.place)
                && self
                    .graph
                    .additions_up_to(event.place, event.source)
                    .is_empty()
        })
    }

    /// By event of a thread, the number of its operation. An operation that waits is none.
    fn operations(&self) -> Vec<Vec<u32>> {
        self.graph
            .threads
            .iter()
            .map(|thread| {
                let mut count = 0;
                let of = |event: &Event| {
                    if event.waits() {
                        return count;
                    }
                    count += u32::from(event.part == 0);
                    count - 1
                };
                thread.events.iter().map(of).collect()
            })
            .collect()
    }

    fn canonical(&self, program: &Program) -> CanonicalGraph {
        let numbers = self.operations();
        let name = |event: Ev| -> OperationId {
            let thread = ThreadId::from_index(event.of());
            (thread, numbers[event.of()][event.at()])
        };
        let is_plain = |event: Ev| !self.plain_is_relaxed && self.graph.event(event).is_plain();
        let mut graph = CanonicalGraph::default();
        for (index, thread) in self.graph.threads.iter().enumerate() {
            let mut operations = Vec::new();
            for (at, event) in thread.events.iter().enumerate() {
                if event.part > 0 || event.waits() {
                    continue;
                }
                let told = matches!(
                    program.op(event.state),
                    Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. } | Op::Sync { .. }
                );
                let has_source = told
                    && event.kind == Kind::Read
                    && event.source.is_event()
                    && !is_plain(Ev::new(index, at));
                let mut later = thread.events[at + 1..].iter();
                let next = later.find(|later| later.part == 0);
                let next = next.map_or(thread.cursor.state, |next| next.state);
                let tells = tells_outcome(program, event.state);
                operations.push(CanonicalOperation {
                    state: event.state,
                    value: if tells { u64::from(next.0) } else { 0 },
                    source: has_source.then(|| name(event.source)),
                });
            }
            debug_assert!(thread.cursor.halt != Halt::Fault);
            if !operations.is_empty() {
                let thread = ThreadId::from_index(index);
                graph.threads.push((thread, operations));
            }
        }
        for (index, location) in self.graph.locations.iter().enumerate() {
            let place = match index {
                0 => Place::Blocks,
                _ => Place::Loc(LocId(index as u32 - 1)),
            };
            let writes = location.writes.iter().copied();
            let order: Vec<OperationId> = writes
                .filter(|&write| self.graph.event(write).place.index() == index && !is_plain(write))
                .map(name)
                .collect();
            if !order.is_empty() {
                graph.modification.push((place, order));
            }
        }
        graph.modification.sort_unstable();
        graph
    }
}
