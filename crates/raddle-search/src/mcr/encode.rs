//! A model as constraints: which events are included, in which order, and what reads read from.
//!
//! All events of the trace are always there for the solver; a literal for each says whether it is *included* in the
//! interleaving that is looked for. Those that are not come after those that are, in the order of the trace: such an order
//! always exists, and as their reads are not constrained they forbid nothing. So writes are serialised without guards.
//!
//! An event that does nothing to cells that several threads access can always be included after what is before it in its
//! thread; it shares the literal of the event before it.

use super::model::{Index, Model, ModelCell, ModelEvent, Waits};
use raddle_order::{EventId, GraphId, Lit, OrderConfig, OrderSolver};
use raddle_program::Value;
use rustc_hash::FxHashMap;

/// A write of a cell: its position in [`ModelCell::writes`], or the initial contents.
pub(super) type Source = Option<usize>;

/// A read of an event of the trace that gets its value from a write while a literal holds.
#[derive(Clone, Copy)]
pub(super) struct ReadsFrom {
    pub(super) lit: Lit,
    pub(super) cell: u32,
    /// Position in [`ModelCell::writes`].
    pub(super) write: usize,
    pub(super) event: Index,
    /// Position in [`ModelEvent::reads`].
    pub(super) read: usize,
}

pub(super) struct Encoding<'a> {
    pub(super) model: &'a Model,
    pub(super) solver: OrderSolver,
    pub(super) graph: GraphId,
    /// For each event, whether it is included.
    pub(super) included: Vec<Lit>,
    /// The last event for the solver at or before each event, in its thread.
    pub(super) anchor: Vec<Option<EventId>>,
    /// The events that events for the solver stand for.
    pub(super) owner: Vec<Option<Index>>,
    /// The solver's events of writes, by cell and position.
    write_events: Vec<Vec<EventId>>,
    initial_events: Vec<Option<EventId>>,
    /// Cells that something reads.
    is_read: Vec<bool>,
    /// Who reads from whom, if the literal holds, among events of the trace.
    pub(super) reads_from: Vec<ReadsFrom>,
    /// For each cell, whether the first of two writes comes first, by their positions.
    serialised: FxHashMap<(u32, u32, u32), Lit>,
    /// The next write of the same thread, by cell and position.
    next_of_thread: Vec<Vec<Option<usize>>>,
    finals: FxHashMap<(u32, Source), Lit>,
    /// After all events that are included.
    end: Option<EventId>,
    /// What must have happened before each event: for each thread, how many of its events.
    clocks: Vec<u32>,
    width: usize,
    /// Counts the events of a thread from 1.
    position: Vec<u32>,
}

impl<'a> Encoding<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let mut solver = OrderSolver::new(OrderConfig::default());
        let graph = solver.new_graph();
        let mut encoding = Self {
            model,
            solver,
            graph,
            included: Vec::with_capacity(model.events.len()),
            anchor: Vec::with_capacity(model.events.len()),
            owner: Vec::new(),
            write_events: model
                .cells
                .iter()
                .map(|cell| Vec::with_capacity(cell.writes.len()))
                .collect(),
            initial_events: vec![None; model.cells.len()],
            is_read: vec![false; model.cells.len()],
            reads_from: Vec::new(),
            serialised: FxHashMap::default(),
            next_of_thread: Vec::new(),
            finals: FxHashMap::default(),
            end: None,
            clocks: Vec::new(),
            width: 1,
            position: Vec::new(),
        };
        encoding.find_read_cells();
        encoding.compute_clocks();
        encoding.find_next_writes();
        let reads = encoding.add_events();
        encoding.serialise();
        encoding.connect(&reads);
        encoding
    }

    fn find_read_cells(&mut self) {
        let events = self.model.events.iter().chain(&self.model.pending);
        for event in events {
            for read in &event.reads {
                let unseen = read.targets.iter();
                let unseen = unseen.filter_map(|target| target.goes_on_with.as_ref());
                for cell in read.cell.into_iter().chain(unseen.map(|&(cell, _)| cell)) {
                    self.is_read[cell as usize] = true;
                }
            }
            if let Waits::While(conditions) = &event.waits {
                for &(cell, _) in conditions {
                    self.is_read[cell as usize] = true;
                }
            }
        }
    }

    // ---- must-happen-before

    fn compute_clocks(&mut self) {
        let events = &self.model.events;
        let threads = events.iter().map(|event| event.thread as usize + 1);
        self.width = threads.max().unwrap_or(1);
        self.clocks = vec![0; self.width * events.len()];
        let mut counts = vec![0; self.width];
        for (index, event) in events.iter().enumerate() {
            let start = index * self.width;
            for &before in event.parent.iter().chain(&event.after) {
                let from = before as usize * self.width;
                for thread in 0..self.width {
                    let known = self.clocks[from + thread];
                    let own = &mut self.clocks[start + thread];
                    *own = (*own).max(known);
                }
            }
            counts[event.thread as usize] += 1;
            self.position.push(counts[event.thread as usize]);
            self.clocks[start + event.thread as usize] = counts[event.thread as usize];
        }
    }

    /// Does `a` happen before `b` in every execution, or is it the same?
    pub(super) fn before(&self, a: Index, b: Index) -> bool {
        let thread = self.model.events[a as usize].thread as usize;
        self.clocks[b as usize * self.width + thread] >= self.position[a as usize]
    }

    fn find_next_writes(&mut self) {
        for (cell, &is_read) in self.model.cells.iter().zip(&self.is_read) {
            let mut next = vec![None; cell.writes.len()];
            if is_read {
                let mut last: FxHashMap<u32, usize> = FxHashMap::default();
                for (position, &(event, _)) in cell.writes.iter().enumerate() {
                    let thread = self.model.events[event as usize].thread;
                    if let Some(before) = last.insert(thread, position) {
                        next[before] = Some(position);
                    }
                }
            }
            self.next_of_thread.push(next);
        }
    }

    // ---- events

    pub(super) fn new_event(&mut self, owner: Option<Index>) -> EventId {
        let event = self.solver.new_event(Lit::TRUE);
        debug_assert_eq!(event.index(), self.owner.len(), "events are dense");
        self.owner.push(owner);
        event
    }

    /// Adds the events; the result are the reads among them.
    fn add_events(&mut self) -> Vec<Vec<Option<EventId>>> {
        for cell in 0..self.model.cells.len() {
            if self.is_read[cell] {
                let event = self.new_event(None);
                self.initial_events[cell] = Some(event);
            }
        }
        let mut raced = vec![false; self.model.events.len()];
        for pair in &self.model.pairs {
            raced[pair.first as usize] = true;
            raced[pair.second as usize] = true;
        }
        let mut all_reads = Vec::with_capacity(self.model.events.len());
        for (index, event) in self.model.events.iter().enumerate() {
            let index = index as Index;
            let mut subs = Vec::new();
            let mut reads = Vec::new();
            for read in &event.reads {
                let sub = read.cell.map(|_| self.new_event(Some(index)));
                subs.extend(sub);
                reads.push(sub);
            }
            for write in &event.writes {
                if self.is_read[write.cell as usize] {
                    let sub = self.new_event(Some(index));
                    subs.push(sub);
                    self.write_events[write.cell as usize].push(sub);
                }
            }
            if subs.is_empty() && !event.after.is_empty() {
                subs.push(self.new_event(Some(index)));
            }
            all_reads.push(reads);
            self.place(event, &subs);
            let may_be_left_out = !subs.is_empty()
                || raced[index as usize]
                || event.can_wait()
                || event.reads.iter().any(|read| !read.targets.is_empty());
            self.include(event, may_be_left_out);
        }
        all_reads
    }

    /// Orders the parts of a new event after what happens before it.
    fn place(&mut self, event: &ModelEvent, subs: &[EventId]) {
        let before = event.parent.and_then(|parent| self.anchor[parent as usize]);
        let (Some(&first), Some(&last)) = (subs.first(), subs.last()) else {
            return self.anchor.push(before);
        };
        self.join_parts(subs);
        let joined = event.after.iter();
        let joined = joined.filter_map(|&joined| self.anchor[joined as usize]);
        for earlier in before.into_iter().chain(joined) {
            self.solver.order(self.graph, earlier, first);
        }
        self.anchor.push(Some(last));
    }

    fn join_parts(&mut self, subs: &[EventId]) {
        if subs.len() > 1 {
            self.solver.atomic(self.graph, subs);
        }
    }

    fn include(&mut self, event: &ModelEvent, may_be_left_out: bool) {
        let before = self.included_before(event);
        if !may_be_left_out {
            return self.included.push(before);
        }
        let lit = self.solver.new_lit();
        self.solver.clause(&[!lit, before]);
        for &joined in &event.after {
            self.solver.clause(&[!lit, self.included[joined as usize]]);
        }
        self.included.push(lit);
    }

    /// Is what comes before the event in its thread included?
    pub(super) fn included_before(&self, event: &ModelEvent) -> Lit {
        event
            .parent
            .map_or(Lit::TRUE, |parent| self.included[parent as usize])
    }

    // ---- order of writes

    fn serialise(&mut self) {
        for cell in 0..self.model.cells.len() as u32 {
            let Some(initial) = self.initial_events[cell as usize] else {
                continue;
            };
            let writes = &self.model.cells[cell as usize].writes;
            for second in 0..writes.len() {
                let events = &self.write_events[cell as usize];
                let (later, graph) = (events[second], self.graph);
                self.solver.serialised_if(graph, initial, later, Lit::TRUE);
                for first in 0..second {
                    let earlier = self.write_events[cell as usize][first];
                    let fixed = self.before(writes[first].0, writes[second].0);
                    let lit = if fixed {
                        self.solver.serialised_if(graph, earlier, later, Lit::TRUE);
                        Lit::TRUE
                    } else {
                        let lit = self.solver.serialise(graph, earlier, later).forward;
                        self.solver.set_phase(lit);
                        lit
                    };
                    let key = (cell, first as u32, second as u32);
                    self.serialised.insert(key, lit);
                }
            }
        }
    }

    /// Does write `a` of the cell come before write `b`?
    fn is_first(&self, cell: u32, a: usize, b: usize) -> Lit {
        if a < b {
            self.serialised[&(cell, a as u32, b as u32)]
        } else {
            !self.serialised[&(cell, b as u32, a as u32)]
        }
    }

    /// The literal that says that a write is the last included one of its cell.
    pub(super) fn is_final(&mut self, cell: u32, source: Source) -> Lit {
        if let Some(&lit) = self.finals.get(&(cell, source)) {
            return lit;
        }
        let lit = self.solver.new_lit();
        let writes = &self.model.cells[cell as usize].writes;
        for (other, &(event, _)) in writes.iter().enumerate() {
            let included = self.included[event as usize];
            match source {
                Some(own) if own == other => self.solver.clause(&[!lit, included]),
                Some(own) => {
                    let earlier = self.is_first(cell, other, own);
                    self.solver.clause(&[!lit, !included, earlier]);
                }
                None => self.solver.clause(&[!lit, !included]),
            }
        }
        self.finals.insert((cell, source), lit);
        lit
    }

    // ---- reads

    fn connect(&mut self, reads: &[Vec<Option<EventId>>]) {
        for (index, event) in self.model.events.iter().enumerate() {
            for (position, (read, &sub)) in event.reads.iter().zip(&reads[index]).enumerate() {
                let (Some(cell), Some(sub)) = (read.cell, sub) else {
                    continue;
                };
                let index = index as Index;
                let sources = self.sources(cell, &read.allowed, (Some(index), event));
                let condition = self.included[index as usize];
                let lits = self.read_some(condition, cell, sub, &sources);
                for (&source, lit) in sources.iter().zip(lits) {
                    if let Some(write) = source {
                        self.reads_from.push(ReadsFrom {
                            lit,
                            cell,
                            write,
                            event: index,
                            read: position,
                        });
                    }
                }
            }
        }
    }

    /// The writes of some values that an event could read: `index` if it is one of the trace.
    pub(super) fn sources(
        &self,
        cell: u32,
        values: &[Value],
        (index, event): (Option<Index>, &ModelEvent),
    ) -> Vec<Source> {
        let ModelCell { initial, writes } = &self.model.cells[cell as usize];
        let precedes = |write: Index| match (index, event.parent) {
            (Some(index), _) => write != index && self.before(write, index),
            (None, Some(parent)) => self.before(write, parent),
            (None, None) => false,
        };
        let mut sources = Vec::new();
        if values.contains(initial) && !writes.iter().any(|&(write, _)| precedes(write)) {
            sources.push(None);
        }
        for (position, &(write, value)) in writes.iter().enumerate() {
            let next = self.next_of_thread[cell as usize][position];
            let is_late = index.is_some_and(|index| self.before(index, write));
            let is_overwritten = next.is_some_and(|next| precedes(writes[next].0));
            if values.contains(&value) && !is_late && !is_overwritten {
                sources.push(Some(position));
            }
        }
        sources
    }

    /// If `condition` holds, the read reads from one of `sources`, which is then included: the literals that say from which.
    pub(super) fn read_some(
        &mut self,
        condition: Lit,
        cell: u32,
        read: EventId,
        sources: &[Source],
    ) -> Vec<Lit> {
        let mut lits = Vec::with_capacity(sources.len() + 1);
        for &source in sources {
            let lit = self.solver.new_lit();
            let write = match source {
                Some(position) => {
                    let event = self.model.cells[cell as usize].writes[position].0;
                    self.solver.clause(&[!lit, self.included[event as usize]]);
                    self.write_events[cell as usize][position]
                }
                None => self.initial_events[cell as usize].expect("a cell that is read"),
            };
            let graph = self.graph.into();
            self.solver.reads_from_if(graph, graph, write, read, lit);
            lits.push(lit);
        }
        lits.push(!condition);
        self.solver.clause(&lits);
        lits.pop();
        lits
    }

    /// Adds an event that is not in the trace, after what comes before it in its thread.
    /// `is_last`: after everything that is included.
    pub(super) fn add_extra(&mut self, event: &ModelEvent, subs: &[EventId], is_last: bool) {
        self.join_parts(subs);
        let Some(&first) = subs.first() else {
            return;
        };
        let before = event.parent.and_then(|parent| self.anchor[parent as usize]);
        let before = if is_last { Some(self.end()) } else { before };
        if let Some(before) = before {
            self.solver.order(self.graph, before, first);
        }
    }

    /// An event after all that are included.
    fn end(&mut self) -> EventId {
        if let Some(end) = self.end {
            return end;
        }
        let end = self.new_event(None);
        for (index, &anchor) in self.anchor.iter().enumerate() {
            if let Some(anchor) = anchor {
                let included = self.included[index];
                self.solver.order_if(self.graph, anchor, end, included);
            }
        }
        self.end = Some(end);
        end
    }
}
