//! The theory of ordering consistency (sections 4 and 5 of the paper): events, orders between them that literals switch
//! on, from-reads that follow from reads-from and write serialisation, and the demand that no order is cyclic.
//!
//! A problem has one or several *acyclicity graphs* over the same events. A reads-from or write-serialisation literal
//! contributes edges to the graphs it is declared for; from-reads are derived for every pair of an active reads-from and
//! an active write serialisation of the same write (axiom 3) and go to the graphs of the reads-from declaration.
//! Sequential consistency needs one graph. TSO and PSO need two, because a read from the own store buffer orders the
//! accesses of one location but not the global memory order.
//!
//! *Atomicity*: the events of a class are one node of the graph they are declared for. An edge between two events of one
//! class is decided by their position in it, which is condition 1 of lemma 1; cycles through other nodes are condition 2.

mod check;
mod components;
mod graph;
mod paths;
mod settle;
mod shrink;
#[cfg(test)]
mod tests;

use crate::lit::{Lit, Values, Var};
use crate::theory::{Consequences, Theory};
pub use graph::Detection;
use graph::{ALWAYS, EdgeId, EventGraph, Mark, Node, Why};
use paths::Paths;
use shrink::Shrink;
use std::ops::BitOr;

/// An event: a read, a write, a fence, or any other point in time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId(pub(crate) u32);

impl EventId {
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One acyclicity requirement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GraphId(u8);

/// Some of a theory's graphs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct GraphSet(u8);

impl GraphSet {
    pub const NONE: Self = Self(0);

    fn iter(self) -> impl Iterator<Item = usize> {
        (0..8).filter(move |bit| self.0 >> bit & 1 == 1)
    }
}

impl From<GraphId> for GraphSet {
    fn from(graph: GraphId) -> Self {
        Self(1 << graph.0)
    }
}

impl<G: Into<GraphSet>> BitOr<G> for GraphSet {
    type Output = Self;

    fn bitor(self, other: G) -> Self {
        Self(self.0 | other.into().0)
    }
}

impl BitOr for GraphId {
    type Output = GraphSet;

    fn bitor(self, other: Self) -> GraphSet {
        GraphSet::from(self) | GraphSet::from(other)
    }
}

/// Switches to compare with (section 6.3 of the paper). The defaults are what the paper proposes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderConfig {
    pub detection: Detection,
    /// Imply the negation of literals whose edge would close a cycle (section 5.5.1).
    pub unit_edges: bool,
    /// Derive from-reads inside the theory (section 5.5.2). If not, the formula must say them with conditional edges.
    pub derive_from_reads: bool,
    /// Imply also the negation of literals that would derive a from-read which would close a cycle.
    pub lookahead: bool,
    /// Give all narrowest clauses of a conflict, not just one.
    pub all_clauses: bool,
    /// Check every clause and explanation for being implied and irredundant, by brute force.
    pub paranoid: bool,
}

impl Default for OrderConfig {
    fn default() -> Self {
        Self {
            detection: Detection::Incremental,
            unit_edges: true,
            derive_from_reads: true,
            lookahead: true,
            all_clauses: true,
            paranoid: false,
        }
    }
}

/// Counters over the life of a theory.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct OrderStats {
    /// Edges that literals put into graphs.
    pub edges: u64,
    pub from_reads: u64,
    pub cycles: u64,
    pub clauses: u64,
    /// Literals implied because their edge would close a cycle.
    pub unit_edges: u64,
    /// Literals decided and edges found superfluous by the fixed order alone.
    pub settled_false: u64,
    pub settled_redundant: u64,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Order,
    ReadsFrom { from_reads: GraphSet },
    Serialises,
}

/// An order that holds while `lit` does.
#[derive(Clone, Copy, Debug)]
struct Atom {
    lit: Lit,
    kind: Kind,
    from: EventId,
    to: EventId,
    graphs: GraphSet,
}

/// An active reads-from or write serialisation, seen from the write it starts at.
#[derive(Clone, Copy)]
struct Active {
    to: EventId,
    /// `Lit::TRUE` if it holds in every model.
    lit: Lit,
    from_reads: GraphSet,
}

/// Where an event lies in a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    node: Node,
    /// In its atomicity class.
    position: u32,
}

/// A literal that would put the edge to `to` into the graph.
#[derive(Clone, Copy)]
struct Candidate {
    to: Node,
    lit: Lit,
}

/// One graph with what the theory knows about it.
struct Layer {
    graph: EventGraph,
    places: Vec<Place>,
    /// By source node: edges that literals may add.
    candidates: Vec<Vec<Candidate>>,
    /// By node of a read: the writes it reads from, and the literals that say so.
    read_now: Vec<Vec<(EventId, Lit)>>,
    /// By node of a read: the writes it may read from.
    may_read: Vec<Vec<(EventId, Lit)>>,
    marks: Vec<Mark>,
    /// The order of events in the last model.
    model: Vec<EventId>,
}

/// Why a literal was implied: `from → to` would have closed a cycle with the edges older than `before`.
#[derive(Clone, Copy)]
struct Implication {
    layer: u8,
    from: Node,
    to: Node,
    before: EdgeId,
    /// For edges that need a second literal, that literal.
    also: Lit,
}

#[derive(Clone, Copy)]
enum Undo {
    ReadsFrom(EventId),
    Serialises(EventId),
}

pub struct OrderTheory {
    config: OrderConfig,
    stats: OrderStats,
    layers: Vec<Layer>,
    num_events: u32,
    atoms: Vec<Atom>,
    /// By literal: the atoms it switches on.
    atoms_of: Vec<Vec<u32>>,
    /// By atom: graphs in which the fixed order implies the edge already.
    redundant: Vec<GraphSet>,
    /// By write: what is active.
    reads_from: Vec<Vec<Active>>,
    serialises: Vec<Vec<Active>>,
    /// By write: writes it may come before.
    may_precede: Vec<Vec<(EventId, Lit)>>,
    undo: Vec<Undo>,
    undo_marks: Vec<usize>,
    /// By implied literal. Not by variable: both of its literals may be implied before the solver hears of either.
    implications: Vec<Implication>,
    /// By variable: the edge of its positive literal, for those that serialise.
    hints: Vec<Option<(u8, Node, Node)>>,
    paths: Paths,
    shrink: Shrink,
    /// Facts changed since the fixed order was last looked at.
    unsettled: bool,
    settled_edges: usize,
    /// The fixed order is cyclic.
    refuted: bool,
}

impl OrderTheory {
    #[must_use]
    pub fn new(config: OrderConfig) -> Self {
        Self {
            config,
            stats: OrderStats::default(),
            layers: Vec::new(),
            num_events: 0,
            atoms: Vec::new(),
            atoms_of: Vec::new(),
            redundant: Vec::new(),
            reads_from: Vec::new(),
            serialises: Vec::new(),
            may_precede: Vec::new(),
            undo: Vec::new(),
            undo_marks: Vec::new(),
            implications: Vec::new(),
            hints: Vec::new(),
            paths: Paths::default(),
            shrink: Shrink::default(),
            unsettled: false,
            settled_edges: 0,
            refuted: false,
        }
    }

    #[must_use]
    pub fn stats(&self) -> OrderStats {
        self.stats
    }

    #[must_use]
    pub fn config(&self) -> OrderConfig {
        self.config
    }

    #[must_use]
    pub fn num_events(&self) -> usize {
        self.num_events as usize
    }

    /// One more acyclicity requirement, over all events.
    ///
    /// # Panics
    /// If there are eight already.
    pub fn add_graph(&mut self) -> GraphId {
        let id = GraphId(u8::try_from(self.layers.len()).expect("few graphs"));
        assert!(id.0 < 8, "at most eight graphs");
        let mut layer = Layer {
            graph: EventGraph::new(self.config.detection),
            places: Vec::new(),
            candidates: Vec::new(),
            read_now: Vec::new(),
            may_read: Vec::new(),
            marks: Vec::new(),
            model: Vec::new(),
        };
        for _ in 0..self.num_events {
            layer.add_event();
        }
        self.layers.push(layer);
        id
    }

    pub fn add_event(&mut self) -> EventId {
        let event = EventId(self.num_events);
        self.num_events += 1;
        self.reads_from.push(Vec::new());
        self.serialises.push(Vec::new());
        self.may_precede.push(Vec::new());
        for layer in &mut self.layers {
            layer.add_event();
        }
        event
    }

    /// The events happen without anything in between, in this order, as far as `graph` is concerned.
    ///
    /// # Panics
    /// If one of the events has an edge or a class in this graph already.
    pub fn add_class(&mut self, graph: GraphId, events: &[EventId]) {
        let layer = &mut self.layers[usize::from(graph.0)];
        let Some((&first, rest)) = events.split_first() else {
            return;
        };
        let node = layer.places[first.index()].node;
        for (position, &event) in (1..).zip(rest) {
            let old = layer.places[event.index()];
            let fresh = old.position == 0 && old.node == event.0;
            let unused =
                layer.candidates[old.node as usize].is_empty() && !layer.graph.has_edges(old.node);
            assert!(fresh && unused, "{event:?} is in use already");
            layer.places[event.index()] = Place { node, position };
        }
    }

    /// `from` is before `to`, always.
    pub fn add_edge(&mut self, graphs: GraphSet, from: EventId, to: EventId) {
        self.unsettled = true;
        for layer in graphs.iter() {
            self.refuted |= !self.insert_fixed(layer, from, to);
        }
    }

    fn insert_fixed(&mut self, layer: usize, from: EventId, to: EventId) -> bool {
        let layer = &mut self.layers[layer];
        let (a, b) = (layer.places[from.index()], layer.places[to.index()]);
        if a.node == b.node {
            a.position < b.position
        } else {
            layer.graph.insert(a.node, b.node, ALWAYS)
        }
    }

    /// `from` is before `to` while `lit` holds.
    pub fn add_conditional_edge(&mut self, graphs: GraphSet, from: EventId, to: EventId, lit: Lit) {
        self.add_atom(Atom {
            lit,
            kind: Kind::Order,
            from,
            to,
            graphs,
        });
    }

    /// While `lit` holds, `read` reads what `write` wrote: `write` is before `read` in `graphs`, and `read` is before
    /// every write that comes after `write` in `from_reads`.
    pub fn add_reads_from(
        &mut self,
        graphs: GraphSet,
        from_reads: GraphSet,
        write: EventId,
        read: EventId,
        lit: Lit,
    ) {
        self.add_atom(Atom {
            lit,
            kind: Kind::ReadsFrom { from_reads },
            from: write,
            to: read,
            graphs,
        });
    }

    /// While `lit` holds, `first` comes before `second` among the writes of their location.
    pub fn add_serialisation(
        &mut self,
        graphs: GraphSet,
        first: EventId,
        second: EventId,
        lit: Lit,
    ) {
        self.add_atom(Atom {
            lit,
            kind: Kind::Serialises,
            from: first,
            to: second,
            graphs,
        });
    }

    fn add_atom(&mut self, atom: Atom) {
        assert!(atom.lit != Lit::FALSE, "an order that never holds");
        self.unsettled = true;
        let id = u32::try_from(self.atoms.len()).expect("atoms fit 32 bits");
        self.atoms.push(atom);
        self.redundant.push(GraphSet::NONE);
        if atom.lit == Lit::TRUE {
            // Told before the solver exists to tell it: nothing can be undone below the first level.
            let mut out = Consequences::default();
            self.refuted |= !self.activate(id, Lit::TRUE, None, &mut out);
            return;
        }
        let slots = 2 * (atom.lit.var().index() + 1);
        if self.atoms_of.len() < slots {
            self.atoms_of.resize_with(slots, Vec::new);
            let unset = Implication {
                layer: 0,
                from: 0,
                to: 0,
                before: 0,
                also: Lit::TRUE,
            };
            self.implications.resize(slots, unset);
        }
        self.atoms_of[atom.lit.index()].push(id);
        self.hints.resize(slots.max(2 * self.hints.len()) / 2, None);
        if matches!(atom.kind, Kind::Serialises) && !atom.lit.is_negated() {
            let layer = atom.graphs.iter().next().unwrap_or(0);
            let places = &self.layers[layer].places;
            self.hints[atom.lit.var().index()] = Some((
                layer as u8,
                places[atom.from.index()].node,
                places[atom.to.index()].node,
            ));
        }
        for layer in atom.graphs.iter() {
            self.layers[layer].add_candidate(&atom);
        }
        match atom.kind {
            Kind::Order => {}
            Kind::ReadsFrom { from_reads } => {
                for layer in from_reads.iter() {
                    let layer = &mut self.layers[layer];
                    let node = layer.places[atom.to.index()].node;
                    layer.may_read[node as usize].push((atom.from, atom.lit));
                }
            }
            Kind::Serialises => self.may_precede[atom.from.index()].push((atom.to, atom.lit)),
        }
    }

    /// The events in an order that the last model allows, as `graph` sees it.
    #[must_use]
    pub fn model_order(&self, graph: GraphId) -> &[EventId] {
        &self.layers[usize::from(graph.0)].model
    }

    fn at_root(&self) -> bool {
        self.undo_marks.is_empty()
    }

    /// Puts the atom's edges and what follows from them into the graphs; false on a cycle, which is reported.
    fn activate(
        &mut self,
        atom: u32,
        lit: Lit,
        values: Option<Values<'_>>,
        out: &mut Consequences,
    ) -> bool {
        let Atom {
            kind,
            from,
            to,
            graphs,
            ..
        } = self.atoms[atom as usize];
        // What holds at the root holds always: its edges need no reason.
        let lit = if self.at_root() { Lit::TRUE } else { lit };
        let superfluous = self.redundant[atom as usize].0;
        for layer in GraphSet(graphs.0 & !superfluous).iter() {
            self.stats.edges += 1;
            if !self.insert(layer, from, to, [lit, Lit::TRUE], values, out) {
                return false;
            }
        }
        let (active, partners) = match kind {
            Kind::Order => return true,
            Kind::ReadsFrom { from_reads } => {
                let active = Active {
                    to,
                    lit,
                    from_reads,
                };
                self.reads_from[from.index()].push(active);
                self.log(Undo::ReadsFrom(from));
                for layer in from_reads.iter() {
                    let layer = &mut self.layers[layer];
                    let node = layer.places[to.index()].node;
                    layer.read_now[node as usize].push((from, lit));
                }
                (active, self.serialises[from.index()].len())
            }
            Kind::Serialises => {
                let active = Active {
                    to,
                    lit,
                    from_reads: GraphSet::NONE,
                };
                self.serialises[from.index()].push(active);
                self.log(Undo::Serialises(from));
                (active, self.reads_from[from.index()].len())
            }
        };
        if !self.config.derive_from_reads {
            return true;
        }
        (0..partners).all(|at| {
            let (read, write) = match kind {
                Kind::Serialises => (self.reads_from[from.index()][at], active),
                _ => (active, self.serialises[from.index()][at]),
            };
            self.derive_from_read(read, write, values, out)
        })
    }

    fn log(&mut self, undo: Undo) {
        if !self.at_root() {
            self.undo.push(undo);
        }
    }

    /// Axiom 3: a read comes before every write that overwrites what it read.
    fn derive_from_read(
        &mut self,
        read: Active,
        write: Active,
        values: Option<Values<'_>>,
        out: &mut Consequences,
    ) -> bool {
        for layer in read.from_reads.iter() {
            self.stats.from_reads += 1;
            if !self.insert(layer, read.to, write.to, [read.lit, write.lit], values, out) {
                return false;
            }
        }
        true
    }

    fn insert(
        &mut self,
        index: usize,
        from: EventId,
        to: EventId,
        why: Why,
        values: Option<Values<'_>>,
        out: &mut Consequences,
    ) -> bool {
        let layer = &mut self.layers[index];
        let (a, b) = (layer.places[from.index()], layer.places[to.index()]);
        if a.node == b.node {
            if a.position < b.position {
                return true;
            }
            self.stats.cycles += 1;
            let mut clause: Vec<Lit> = why.into_iter().filter(|&lit| lit != Lit::TRUE).collect();
            self.make_irredundant(&mut clause);
            self.report(&clause, out);
            return false;
        }
        if !layer.graph.insert(a.node, b.node, why) {
            self.stats.cycles += 1;
            self.report_cycle(index, a.node, b.node, why, out);
            return false;
        }
        if let Some(values) = values
            && self.config.unit_edges
        {
            self.imply_unit_edges(index, values, out);
        }
        true
    }

    /// Section 5.5.1: whatever would lead from a node that the new edge reaches to one that reaches it must not happen.
    fn imply_unit_edges(&mut self, index: usize, values: Values<'_>, out: &mut Consequences) {
        let layer = &self.layers[index];
        let before = layer.graph.num_edges();
        let number = u8::try_from(index).expect("few graphs");
        for &from in layer.graph.reached_by_last() {
            let mut imply = |lit: Lit, to: Node, also: Lit| {
                self.implications[(!lit).index()] = Implication {
                    layer: number,
                    from,
                    to,
                    before,
                    also,
                };
                self.stats.unit_edges += 1;
                out.imply(!lit);
            };
            for &Candidate { to, lit } in &layer.candidates[from as usize] {
                if layer.graph.reaches_last(to) && values.is_free(lit) {
                    imply(lit, to, Lit::TRUE);
                }
            }
            if !self.config.lookahead {
                continue;
            }
            for &(write, read) in &layer.read_now[from as usize] {
                for &(later, lit) in &self.may_precede[write.index()] {
                    let to = layer.places[later.index()].node;
                    if to != from && layer.graph.reaches_last(to) && values.is_free(lit) {
                        imply(lit, to, read);
                    }
                }
            }
            for &(write, lit) in &layer.may_read[from as usize] {
                if !values.is_free(lit) {
                    continue;
                }
                for later in &self.serialises[write.index()] {
                    let to = layer.places[later.to.index()].node;
                    if to != from && layer.graph.reaches_last(to) {
                        imply(lit, to, later.lit);
                        break;
                    }
                }
            }
        }
    }

    /// `from → to` was not inserted because the graph leads back from `to` to `from`.
    fn report_cycle(
        &mut self,
        layer: usize,
        from: Node,
        to: Node,
        why: Why,
        out: &mut Consequences,
    ) {
        let graph = &self.layers[layer].graph;
        let mut clauses = if self.config.all_clauses {
            self.paths.all(graph, to, from)
        } else {
            let mut path = Vec::new();
            self.paths
                .one(graph, to, from, graph.num_edges(), &mut path);
            vec![path]
        };
        for clause in &mut clauses {
            clause.extend(why.into_iter().filter(|&lit| lit != Lit::TRUE));
            self.make_irredundant(clause);
        }
        // The shortest is the one that is analysed.
        clauses.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        clauses.dedup();
        for clause in &clauses {
            self.report(clause, out);
        }
    }

    fn make_irredundant(&mut self, lits: &mut Vec<Lit>) {
        lits.sort_unstable();
        lits.dedup();
        self.drop_redundant(lits);
        // At the root literals are not remembered: the clause is empty and the verdict itself is what tests check.
        if self.config.paranoid && !self.at_root() {
            self.assert_irredundant(lits);
        }
    }

    /// `lits` are true but must not be.
    fn report(&mut self, lits: &[Lit], out: &mut Consequences) {
        self.stats.clauses += 1;
        let clause: Vec<Lit> = lits.iter().map(|&lit| !lit).collect();
        out.conflict(&clause);
    }
}

impl Layer {
    fn add_event(&mut self) {
        let node = self.graph.add_node();
        self.places.push(Place { node, position: 0 });
        self.candidates.push(Vec::new());
        self.read_now.push(Vec::new());
        self.may_read.push(Vec::new());
    }

    fn add_candidate(&mut self, atom: &Atom) {
        let (from, to) = (
            self.places[atom.from.index()].node,
            self.places[atom.to.index()].node,
        );
        if from != to {
            self.candidates[from as usize].push(Candidate { to, lit: atom.lit });
        }
    }
}

impl Theory for OrderTheory {
    fn push_level(&mut self) {
        self.undo_marks.push(self.undo.len());
        for layer in &mut self.layers {
            layer.marks.push(layer.graph.mark());
        }
    }

    fn pop_to(&mut self, level: usize) {
        if self.undo_marks.len() <= level {
            return;
        }
        for undo in self.undo.drain(self.undo_marks[level]..).rev() {
            match undo {
                Undo::ReadsFrom(write) => {
                    let read = self.reads_from[write.index()]
                        .pop()
                        .expect("logged when pushed");
                    for layer in read.from_reads.iter() {
                        let layer = &mut self.layers[layer];
                        let node = layer.places[read.to.index()].node;
                        layer.read_now[node as usize].pop();
                    }
                }
                Undo::Serialises(write) => {
                    self.serialises[write.index()].pop();
                }
            }
        }
        self.undo_marks.truncate(level);
        for layer in &mut self.layers {
            layer.graph.undo_to(layer.marks[level]);
            layer.marks.truncate(level);
        }
    }

    fn propagate(&mut self, fresh: &[Lit], values: Values<'_>, out: &mut Consequences) {
        if self.refuted {
            out.conflict(&[]);
            return;
        }
        for &lit in fresh {
            for at in 0..self.atoms_of.get(lit.index()).map_or(0, Vec::len) {
                let atom = self.atoms_of[lit.index()][at];
                if !self.activate(atom, lit, Some(values), out) {
                    return;
                }
            }
        }
        if self.at_root() {
            self.settle(values, out);
        }
    }

    fn check_model(&mut self, _values: Values<'_>, out: &mut Consequences) {
        if self.config.detection == Detection::Final {
            self.report_components(out);
        }
    }

    fn accept_model(&mut self) {
        for layer in &mut self.layers {
            layer.linearise();
        }
    }

    fn suggest(&self, var: Var) -> Option<bool> {
        let (layer, from, to) = (*self.hints.get(var.index())?)?;
        let graph = &self.layers[usize::from(layer)].graph;
        let (a, b) = (graph.level(from), graph.level(to));
        (a != b).then_some(a < b)
    }

    fn explain(&mut self, lit: Lit, reasons: &mut Vec<Lit>) {
        let Implication {
            layer,
            from,
            to,
            before,
            also,
        } = self.implications[lit.index()];
        let start = reasons.len();
        reasons.extend((also != Lit::TRUE).then_some(also));
        let graph = &self.layers[usize::from(layer)].graph;
        let found = self.paths.one(graph, to, from, before, reasons);
        assert!(found, "{lit:?} was implied without a path");
        if self.config.paranoid {
            self.assert_explains(lit, &reasons[start..]);
        }
    }
}
