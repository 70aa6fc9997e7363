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

mod build;
mod certify;
mod check;
mod components;
mod conflicts;
mod graph;
mod paths;
mod settle;
mod shrink;
#[cfg(test)]
mod tests;
mod types;
mod units;

use crate::lit::{Lit, Values, Var};
use crate::proof::Certificate;
use crate::theory::{Consequences, Theory};
use certify::Search;
pub use graph::Detection;
use graph::{EdgeId, EventGraph, Mark, Node, Why};
use paths::Paths;
use shrink::Shrink;
pub use types::{EventId, GraphId, GraphSet, OrderConfig, OrderStats};
use units::Unit;

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

impl Implication {
    const UNSET: Self = Self {
        layer: 0,
        from: 0,
        to: 0,
        before: 0,
        also: Lit::TRUE,
    };
}

/// The edge that a variable's positive literal puts into a graph.
#[derive(Clone, Copy)]
struct Hint {
    layer: u8,
    from: Node,
    to: Node,
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
    /// By literal: true at the root, and told.
    facts: Vec<bool>,
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
    hints: Vec<Option<Hint>>,
    paths: Paths,
    shrink: Shrink,
    units: Vec<Unit>,
    /// Facts changed since the fixed order was last looked at.
    unsettled: bool,
    settled_edges: usize,
    settled_atoms: usize,
    /// The fixed order is cyclic.
    refuted: bool,
    /// The edge that would have made it so: graph and nodes.
    refused: Option<(usize, Node, Node)>,
    search: Search,
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
            facts: vec![true, false],
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
            units: Vec::new(),
            unsettled: false,
            settled_edges: 0,
            settled_atoms: 0,
            refuted: false,
            refused: None,
            search: Search::default(),
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
                    let node = self.layers[layer].node(to);
                    self.layers[layer].read_now[node as usize].push((from, lit));
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
            self.refuse(index, a.node, b.node);
            self.stats.cycles += 1;
            let mut clause: Vec<Lit> = why.into_iter().filter(|&lit| lit != Lit::TRUE).collect();
            self.make_irredundant(&mut clause);
            self.report(&clause, out);
            return false;
        }
        if !layer.graph.insert(a.node, b.node, why) {
            self.refuse(index, a.node, b.node);
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
}

impl Layer {
    fn node(&self, event: EventId) -> Node {
        self.places[event.index()].node
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
                        let node = self.layers[layer].node(read.to);
                        self.layers[layer].read_now[node as usize].pop();
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
            if self.at_root() {
                self.make_room_for(lit);
                self.facts[lit.index()] = true;
            }
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
        self.along_the_levels(var)
    }

    fn explain(&mut self, lit: Lit, reasons: &mut Vec<Lit>) {
        self.reasons_of(lit, reasons);
    }

    fn certify(&mut self, lits: &[Lit]) -> Certificate {
        self.cycle_of(lits)
    }
}
