//! The memory model of C, C++ and Rust (RC11) as it is written, on execution graphs that are written out.
//!
//! This is what a search over execution graphs is judged by, so it shares nothing with one, and every relation is a set of
//! pairs ([`Relation`]) that is made as its definition says. A graph of two thousand events takes seconds.
//!
//! Relations, with `;` for composition and `[A]` for the identity on a set
//! - `po`: the order of one thread. `sb`: `po`, spawn → the thread's first event, its last event → join, transitively.
//! - `rf`: from a write to a read of it. `mo`: the order of writes to the same bytes. `rb = rf⁻¹; mo` without identity; a read of the initial
//!   contents comes before all writes. `eco = (rf ∪ mo ∪ rb)⁺`, for each byte by itself. An update is one event, a read and a write in one.
//! - `rs = [W ⊒ rlx]; (rf; [U ⊒ rlx])*`, or `[W]; (po ∩ same location)?; [W ⊒ rlx]; (rf; [U ⊒ rlx])*`: see [`ReleaseSequences`].
//! - `sw = [⊒ rel]; ([F]; po)?; rs; rf; [R ⊒ rlx]; (po; [F])?; [⊒ acq]`, and what synchronisation objects order ([`cells`]).
//! - `hb = (sb ∪ sw)⁺`
//!
//! Fences take effect in their own thread only: `po` in `sw`, where the standards say *sequenced before*.
//!
//! Axioms
//! 1. *coherence*: `hb; eco?` is irreflexive.
//! 2. *atomicity*: no write comes between an update and what it reads.
//! 3. *SC*: `psc_base ∪ psc_F` is acyclic, with `scb = sb ∪ sb≠; hb; sb≠ ∪ (hb ∩ same location) ∪ mo ∪ rb`,
//!    `psc_base = ([sc] ∪ [F_sc]; hb?); scb; ([sc] ∪ hb?; [F_sc])`, `psc_F = [F_sc]; (hb ∪ hb; eco; hb); [F_sc]`. `sb≠` is `sb` between
//!    events that are not about the same location; operations that no other thread could notice (choices, allocations) have no part in it.
//!    Cells of synchronisation objects count in `hb` only.
//! 4. *no thin air*: `sb ∪ rf` is acyclic. Events are listed in such an order, or the graph is [malformed](Inconsistency::Malformed).
//!
//! A word of a synchronisation cell is read and written like a relaxed atomic. Where accesses of several sizes meet, writes that share bytes
//! without being of the same location are in `mo` as `hb` orders them (they race otherwise).

pub mod cells;
pub mod graph;
mod past;
mod races;
mod relation;
#[cfg(test)]
mod tests;

pub use graph::{
    CellAccess, Done, End, Event, EventId, EventKind, ExecutionGraph, MemoryAccess, Place,
    PlainAccesses, Reads, Role, Source,
};
pub use past::Pasts;
pub use races::{data_races, race};
pub use relation::Relation;

use raddle_program::{ObjectId, Order, ReleaseSequences, ThreadId};

/// Why a graph is no execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inconsistency {
    /// `first` happens before `second`, which comes before it in memory (`eco`), or they are the same event.
    Coherence { first: EventId, second: EventId },
    /// `between` comes between an update and the write that it reads.
    Atomicity { update: EventId, between: EventId },
    /// This event is in a cycle of `psc`.
    SeqCst { event: EventId },
    /// The graph is not one: an event is listed before what it needs, or reads from what does not write its bytes.
    Malformed { event: EventId },
}

/// A graph is an execution.
#[derive(Clone, Debug)]
pub struct Judged {
    pub happens_before: Relation,
}

/// The relations of a graph.
struct Relations<'a> {
    graph: &'a ExecutionGraph,
    po: Relation,
    sb: Relation,
    hb: Relation,
    /// Of memory; of the cells of synchronisation objects.
    memory: Coherence,
    cells: Coherence,
}

/// `rf`, `mo`, `rb`.
struct Coherence {
    rf: Relation,
    mo: Relation,
    rb: Relation,
}

impl Coherence {
    fn new(size: usize) -> Self {
        Self {
            rf: Relation::new(size),
            mo: Relation::new(size),
            rb: Relation::new(size),
        }
    }

    fn union(&self) -> Relation {
        self.rf.clone().or(&self.mo).or(&self.rb)
    }
}

/// Is this an execution?
pub fn judge(graph: &ExecutionGraph) -> Result<Judged, Inconsistency> {
    well_formed(graph)?;
    let relations = Relations::new(graph);
    relations.coherence()?;
    relations.atomicity()?;
    relations.seq_cst()?;
    Ok(Judged {
        happens_before: relations.hb,
    })
}

/// Would sequential consistency allow it, too? The graph must be well formed.
#[must_use]
pub fn is_sequentially_consistent(graph: &ExecutionGraph) -> bool {
    let relations = Relations::new(graph);
    let all = relations
        .sb
        .or(&relations.memory.union())
        .or(&relations.cells.union());
    all.closure().reflexive_at().is_none()
}

/// `hb` of a graph, which must be well formed.
#[must_use]
pub fn happens_before(graph: &ExecutionGraph) -> Relation {
    Relations::new(graph).hb
}

fn well_formed(graph: &ExecutionGraph) -> Result<(), Inconsistency> {
    let writes_to = |place: Place, event: EventId| match &graph.events[event].kind {
        EventKind::Memory(access) => access.writes && Place::Loc(access.loc) == place,
        EventKind::Cell(access) => access.writes && access.cell == place,
        _ => false,
    };
    for (id, event) in graph.events.iter().enumerate() {
        let malformed = Err(Inconsistency::Malformed { event: id });
        let (place, writes) = match &event.kind {
            EventKind::Memory(access) => {
                for (byte, source) in bytes_read(access) {
                    let writes = |source: EventId| {
                        let source = graph.memory(source);
                        source.is_some_and(|w| w.writes && w.touches(access.object, byte))
                    };
                    if source.is_some_and(|source| source >= id || !writes(source)) {
                        return malformed;
                    }
                }
                (Place::Loc(access.loc), access.writes)
            }
            EventKind::Cell(access) => {
                let is_bad = |source| source >= id || !writes_to(access.cell, source);
                if access.reads.is_some_and(is_bad) {
                    return malformed;
                }
                (access.cell, access.writes)
            }
            _ => continue,
        };
        let order = graph
            .modification
            .get(&place)
            .map_or(&[][..], Vec::as_slice);
        let listed = order.iter().filter(|&&write| write == id).count();
        if listed != usize::from(writes) {
            return malformed;
        }
    }
    for (&place, order) in &graph.modification {
        let length = graph.events.len();
        if let Some(&event) = order
            .iter()
            .find(|&&event| event >= length || !writes_to(place, event))
        {
            return Err(Inconsistency::Malformed { event });
        }
    }
    Ok(())
}

/// The bytes of its object that an access reads, and where they come from.
fn bytes_read(access: &MemoryAccess) -> impl Iterator<Item = (u64, Source)> + '_ {
    let bytes = (access.offset..).zip(0..usize::from(access.size));
    let reads = access.reads.as_ref();
    bytes.filter_map(move |(byte, k)| Some((byte, reads?.byte(k))))
}

impl<'a> Relations<'a> {
    fn new(graph: &'a ExecutionGraph) -> Self {
        let size = graph.events.len();
        let (po, sb) = sequenced(graph);
        let mut relations = Self {
            graph,
            po,
            hb: Relation::new(size),
            sb,
            memory: Coherence::new(size),
            cells: Coherence::new(size),
        };
        relations.read_from();
        let synchronises = relations.synchronises().or(&cells::synchronises(graph));
        relations.hb = relations.sb.clone().or(&synchronises).closure();
        relations.order_writes();
        relations.order_cells();
        relations
    }

    fn size(&self) -> usize {
        self.graph.events.len()
    }

    fn read_from(&mut self) {
        for (id, event) in self.graph.events.iter().enumerate() {
            match &event.kind {
                EventKind::Memory(access) => {
                    let sources = access.reads.iter().flat_map(Reads::sources);
                    for source in sources.flatten() {
                        self.memory.rf.add(source, id);
                    }
                }
                EventKind::Cell(access) => {
                    if let Some(source) = access.reads {
                        self.cells.rf.add(source, id);
                    }
                }
                _ => {}
            }
        }
    }

    // ---- sets of events

    fn set(&self, contains: impl Fn(EventId) -> bool) -> Relation {
        Relation::of_set(self.size(), contains)
    }

    fn access(&self, event: EventId) -> Option<(&'a MemoryAccess, Order)> {
        let access = self.graph.memory(event)?;
        Some((access, self.graph.order(access)))
    }

    fn is_fence(&self, event: EventId, wanted: impl Fn(Order) -> bool) -> bool {
        matches!(self.graph.events[event].kind, EventKind::Fence(order) if wanted(order))
    }

    fn is_atomic_write(&self, event: EventId) -> bool {
        let access = self.access(event);
        access.is_some_and(|(access, order)| access.writes && order.is_atomic())
    }

    fn is_update(&self, event: EventId) -> bool {
        self.graph
            .memory(event)
            .is_some_and(MemoryAccess::is_update)
    }

    /// Are both about the same location?
    fn same_location(&self, a: EventId, b: EventId) -> bool {
        match (&self.graph.events[a].kind, &self.graph.events[b].kind) {
            (EventKind::Memory(a), EventKind::Memory(b)) => a.loc == b.loc || a.shares_bytes(b),
            (EventKind::Cell(a), EventKind::Cell(b)) => a.cell == b.cell,
            _ => false,
        }
    }

    // ---- what synchronises

    fn release_sequences(&self) -> Relation {
        let is_link = |_, read| self.is_update(read) && self.is_atomic_write(read);
        let updates = self.memory.rf.filter(is_link);
        let continued = updates.closure().or_same();
        let atomic = self.set(|event| self.is_atomic_write(event));
        match self.graph.release_sequences {
            ReleaseSequences::UpdatesOnly => atomic.then(&continued),
            ReleaseSequences::SameThread => {
                let same = |a, b| {
                    let (a, b) = (self.graph.memory(a), self.graph.memory(b));
                    matches!((a, b), (Some(a), Some(b)) if a.writes && b.writes && a.loc == b.loc)
                };
                let later = self.po.filter(same).or_same();
                let writes = |event| self.graph.memory(event).is_some_and(|access| access.writes);
                self.set(writes).then(&later).then(&atomic).then(&continued)
            }
        }
    }

    fn synchronises(&self) -> Relation {
        let releasing = self.set(|event| match self.access(event) {
            Some((access, order)) => access.writes && order.releases(),
            None => false,
        });
        let release_fences = self.set(|event| self.is_fence(event, Order::releases));
        let reads = |event| match self.access(event) {
            Some((access, order)) => access.reads.is_some() && order.is_atomic(),
            None => false,
        };
        let reading = self.set(reads);
        let acquiring = self.set(|event| {
            reads(event)
                && self
                    .access(event)
                    .is_some_and(|(_, order)| order.acquires())
        });
        let acquire_fences = self.set(|event| self.is_fence(event, Order::acquires));
        let from = releasing.or(&release_fences.then(&self.po));
        let to = acquiring.or(&reading.then(&self.po).then(&acquire_fences));
        let rs = self.release_sequences();
        from.then(&rs)
            .then(&self.memory.rf)
            .then(&reading)
            .then(&to)
    }

    // ---- the order of writes

    fn order_writes(&mut self) {
        let graph = self.graph;
        let writes: Vec<(EventId, &MemoryAccess)> = (0..self.size())
            .filter_map(|event| Some((event, graph.memory(event)?)))
            .filter(|(_, access)| access.writes)
            .collect();
        for (&place, order) in &graph.modification {
            let Place::Loc(_) = place else { continue };
            if order
                .first()
                .is_some_and(|&first| graph.memory(first).is_some())
            {
                add_chain(&mut self.memory.mo, order);
            }
        }
        self.order_other_sizes(&writes);
        for id in 0..self.size() {
            let Some(access) = graph.memory(id) else {
                continue;
            };
            for (byte, source) in bytes_read(access) {
                for &(write, other) in &writes {
                    let follows = source.is_none_or(|source| self.memory.mo.has(source, write));
                    if write != id && follows && other.touches(access.object, byte) {
                        self.memory.rb.add(id, write);
                    }
                }
            }
        }
    }

    /// Writes of other sizes come in the order of `hb`. Those that nothing orders race; then the order in which they are listed is as good as any that does not
    /// contradict the others.
    fn order_other_sizes(&mut self, writes: &[(EventId, &MemoryAccess)]) {
        let mut unordered = Vec::new();
        let pairs = writes.iter().enumerate();
        let pairs = pairs.flat_map(|(index, first)| {
            let later = writes[index + 1..].iter();
            later.map(move |second| (first, second))
        });
        for (&(a, first), &(b, second)) in pairs {
            if first.loc == second.loc || !first.shares_bytes(second) {
                continue;
            }
            match (self.hb.has(a, b), self.hb.has(b, a)) {
                (true, _) => self.memory.mo.add(a, b),
                (_, true) => self.memory.mo.add(b, a),
                _ => unordered.push((a, b)),
            }
        }
        for (a, b) in unordered {
            let (earlier, later) = match self.overlooks(b, a) {
                true => (b, a),
                false => (a, b),
            };
            if !self.memory.mo.clone().closure().has(later, earlier) {
                self.memory.mo.add(earlier, later);
            }
        }
    }

    /// Does an update read something else than a write that it shares bytes with?
    fn overlooks(&self, update: EventId, write: EventId) -> bool {
        let access = self.graph.memory(update);
        access.is_some_and(|access| {
            access.is_update() && bytes_read(access).all(|(_, source)| source != Some(write))
        })
    }

    fn order_cells(&mut self) {
        for (&place, order) in &self.graph.modification {
            let is_cell = |&first: &EventId| self.graph.cell(first).is_some();
            if order.first().is_some_and(is_cell) {
                add_chain(&mut self.cells.mo, order);
            }
            for id in 0..self.size() {
                let Some(access) = self.graph.cell(id).filter(|access| access.cell == place) else {
                    continue;
                };
                let read = access.reads;
                let begin = read.and_then(|read| order.iter().position(|&write| write == read));
                let begin = begin.map_or(0, |position| position + 1);
                for &write in order[begin..].iter().filter(|&&write| write != id) {
                    self.cells.rb.add(id, write);
                }
            }
        }
    }

    /// `eco` of memory. What is read of several writes, or in pieces, relates the writes of each byte with each other, but not those of one byte with those of another.
    fn eco(&self) -> Relation {
        let bytes = self.bytes_in_pieces();
        if bytes.is_empty() {
            return self.memory.union().closure();
        }
        let mut in_pieces = vec![false; self.size()];
        for &event in bytes.iter().flat_map(|(_, touching)| touching) {
            in_pieces[event] = true;
        }
        let whole = |a: EventId, b: EventId| !in_pieces[a] && !in_pieces[b];
        let mut eco = self.memory.union().filter(whole).closure();
        for (byte, touching) in &bytes {
            let of_byte = self.eco_of_byte(*byte, touching);
            for (a, b) in of_byte.pairs() {
                eco.add(touching[a], touching[b]);
            }
        }
        eco
    }

    /// The bytes of accesses that share some, but not all, of their bytes with others, and who accesses each.
    fn bytes_in_pieces(&self) -> Vec<((ObjectId, u64), Vec<EventId>)> {
        let accesses = || {
            let events = 0..self.size();
            events.filter_map(|event| Some((event, self.graph.memory(event)?)))
        };
        let is_other_size = |a: &MemoryAccess, b: &MemoryAccess| {
            (a.offset, a.size) != (b.offset, b.size) && a.shares_bytes(b)
        };
        let mut found: Vec<((ObjectId, u64), Vec<EventId>)> = Vec::new();
        for (_, access) in accesses() {
            if !accesses().any(|(_, other)| is_other_size(access, other)) {
                continue;
            }
            for offset in (access.offset..).take(access.size.into()) {
                let byte = (access.object, offset);
                if found.iter().all(|(known, _)| *known != byte) {
                    let touching = accesses().filter(|(_, it)| it.touches(byte.0, byte.1));
                    found.push((byte, touching.map(|(event, _)| event).collect()));
                }
            }
        }
        found
    }

    /// The same for one byte; events are numbers of the list.
    fn eco_of_byte(&self, (object, byte): (ObjectId, u64), touching: &[EventId]) -> Relation {
        let mut relation = Relation::new(touching.len());
        for (b, &second) in touching.iter().enumerate() {
            let Some(reader) = self.graph.memory(second) else {
                continue;
            };
            let read = bytes_read(reader).find(|&(offset, _)| offset == byte);
            for (a, &first) in touching.iter().enumerate() {
                let writes = self.graph.memory(first).is_some_and(|it| it.writes);
                if self.memory.mo.has(first, second) {
                    relation.add(a, b);
                }
                let Some((_, source)) = read else {
                    continue;
                };
                if source == Some(first) {
                    relation.add(a, b);
                }
                let is_newer = source.is_none_or(|source| self.memory.mo.has(source, first));
                if writes && a != b && is_newer {
                    relation.add(b, a);
                }
            }
            debug_assert!(reader.touches(object, byte));
        }
        relation.closure()
    }

    // ---- axioms

    fn coherence(&self) -> Result<(), Inconsistency> {
        let eco = self.eco().or(&self.cells.union().closure());
        let wrong = self.hb.pairs().find(|&(a, b)| a == b || eco.has(b, a));
        match wrong {
            Some((first, second)) => Err(Inconsistency::Coherence { first, second }),
            None => Ok(()),
        }
    }

    fn atomicity(&self) -> Result<(), Inconsistency> {
        for (coherence, is_update) in [
            (&self.memory, Self::is_update as fn(&Self, EventId) -> bool),
            (&self.cells, |relations, event| {
                relations
                    .graph
                    .cell(event)
                    .is_some_and(|access| access.writes)
            }),
        ] {
            for update in (0..self.size()).filter(|&event| is_update(self, event)) {
                let between = coherence
                    .rb
                    .after(update)
                    .find(|&write| coherence.mo.has(write, update));
                if let Some(between) = between {
                    return Err(Inconsistency::Atomicity { update, between });
                }
            }
        }
        Ok(())
    }

    fn is_sc(&self, event: EventId) -> bool {
        self.is_fence(event, |order| order == Order::SeqCst)
            || self
                .access(event)
                .is_some_and(|(_, order)| order == Order::SeqCst)
    }

    fn seq_cst(&self) -> Result<(), Inconsistency> {
        let sc = self.set(|event| self.is_sc(event));
        if sc.is_empty() {
            return Ok(());
        }
        let sc_fences = self.set(|event| self.is_fence(event, |order| order == Order::SeqCst));
        let noticed = |event: EventId| {
            let kind = &self.graph.events[event].kind;
            !matches!(kind, EventKind::Local | EventKind::Free(_))
        };
        let elsewhere = self
            .sb
            .filter(|a, b| noticed(a) && noticed(b) && !self.same_location(a, b));
        let is_memory = |event| self.graph.memory(event).is_some();
        let hb_same = |a, b| is_memory(a) && is_memory(b) && self.same_location(a, b);
        let scb = self
            .sb
            .clone()
            .or(&elsewhere.then(&self.hb).then(&elsewhere))
            .or(&self.hb.filter(hb_same))
            .or(&self.memory.mo)
            .or(&self.memory.rb);
        let hb_or_same = self.hb.clone().or_same();
        let from = sc.clone().or(&sc_fences.then(&hb_or_same));
        let to = sc.or(&hb_or_same.then(&sc_fences));
        let base = from.then(&scb).then(&to);
        let eco = self.eco();
        let between = self.hb.clone().or(&self.hb.then(&eco).then(&self.hb));
        let fences = sc_fences.then(&between).then(&sc_fences);
        match base.or(&fences).closure().reflexive_at() {
            Some(event) => Err(Inconsistency::SeqCst { event }),
            None => Ok(()),
        }
    }
}

/// `po` and `sb`.
fn sequenced(graph: &ExecutionGraph) -> (Relation, Relation) {
    let size = graph.events.len();
    let (mut po, mut more) = (Relation::new(size), Relation::new(size));
    let of = |thread: ThreadId| {
        let events = graph.events.iter().enumerate();
        events
            .filter(move |(_, event)| event.thread == thread)
            .map(|(id, _)| id)
    };
    for (id, event) in graph.events.iter().enumerate() {
        for later in of(event.thread).filter(|&later| later > id) {
            po.add(id, later);
        }
        match event.kind {
            EventKind::Spawn(child) => {
                for first in of(child).take(1) {
                    more.add(id, first);
                }
                // A thread that does nothing is over with its spawn.
                let join = EventKind::Join(child);
                let joins = (0..size).filter(|&other| graph.events[other].kind == join);
                for join in joins {
                    more.add(id, join);
                }
            }
            EventKind::Join(thread) => {
                if let Some(last) = of(thread).next_back() {
                    more.add(last, id);
                }
            }
            _ => {}
        }
    }
    let sb = po.clone().or(&more).closure();
    (po, sb)
}

/// Adds all pairs of a total order.
fn add_chain(relation: &mut Relation, order: &[EventId]) {
    for (position, &first) in order.iter().enumerate() {
        for &second in &order[position + 1..] {
            relation.add(first, second);
        }
    }
}
