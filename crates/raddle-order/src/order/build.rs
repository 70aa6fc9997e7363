//! Building a problem: graphs, events, classes, orders.

use super::graph::{ALWAYS, EventGraph};
use super::{Atom, Candidate, Hint, Implication, Kind, Layer, OrderTheory, Place};
use super::{EventId, GraphId, GraphSet};
use crate::lit::Lit;
use crate::theory::Consequences;

impl OrderTheory {
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

    /// All graphs, oldest first.
    pub fn graphs(&self) -> impl Iterator<Item = GraphId> + use<> {
        (0..self.layers.len()).map(|at| GraphId(u8::try_from(at).expect("few graphs")))
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

    fn insert_fixed(&mut self, index: usize, from: EventId, to: EventId) -> bool {
        let layer = &mut self.layers[index];
        let (a, b) = (layer.places[from.index()], layer.places[to.index()]);
        let fits = if a.node == b.node {
            a.position < b.position
        } else {
            layer.graph.insert(a.node, b.node, ALWAYS)
        };
        if !fits {
            self.refuse(index, a.node, b.node);
        }
        fits
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
        self.make_room_for(atom.lit);
        if self.facts[atom.lit.index()] {
            // The solver will not tell it again. Nothing is undone below the first level, so the order is there for good.
            self.refuted |= !self.activate(id, Lit::TRUE, None, &mut Consequences::default());
            return;
        }
        if self.facts[(!atom.lit).index()] {
            return;
        }
        self.atoms_of[atom.lit.index()].push(id);
        for layer in atom.graphs.iter() {
            self.layers[layer].add_candidate(&atom);
        }
        match atom.kind {
            Kind::Order => {}
            Kind::ReadsFrom { from_reads } => {
                for layer in from_reads.iter() {
                    let node = self.layers[layer].node(atom.to);
                    self.layers[layer].may_read[node as usize].push((atom.from, atom.lit));
                }
            }
            Kind::Serialises => {
                self.may_precede[atom.from.index()].push((atom.to, atom.lit));
                self.hint_at(&atom);
            }
        }
    }

    pub(super) fn make_room_for(&mut self, lit: Lit) {
        let slots = 2 * (lit.var().index() + 1);
        if self.facts.len() < slots {
            self.facts.resize(slots, false);
            self.atoms_of.resize_with(slots, Vec::new);
            self.implications.resize(slots, Implication::UNSET);
            self.hints.resize(slots / 2, None);
        }
    }

    /// Remembers where the edge of a variable's positive literal leads.
    fn hint_at(&mut self, atom: &Atom) {
        let first = atom.graphs.iter().next();
        if let Some(layer) = first.filter(|_| !atom.lit.is_negated()) {
            let (from, to) = (
                self.layers[layer].node(atom.from),
                self.layers[layer].node(atom.to),
            );
            let layer = u8::try_from(layer).expect("few graphs");
            self.hints[atom.lit.var().index()] = Some(Hint { layer, from, to });
        }
    }
}

impl Layer {
    pub(super) fn add_event(&mut self) {
        let node = self.graph.add_node();
        self.places.push(Place { node, position: 0 });
        self.candidates.push(Vec::new());
        self.read_now.push(Vec::new());
        self.may_read.push(Vec::new());
    }

    fn add_candidate(&mut self, atom: &Atom) {
        let (from, to) = (self.node(atom.from), self.node(atom.to));
        if from != to {
            self.candidates[from as usize].push(Candidate { to, lit: atom.lit });
        }
    }
}
