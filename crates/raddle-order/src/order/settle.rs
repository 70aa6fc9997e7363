//! What the fixed order alone decides: orders that contradict it, orders that repeat it.
//!
//! Unit-edge propagation only looks at what a new edge connects. Before the first decision every candidate is compared
//! with the fixed order once: the paper's example (end of section 5.5) starts with just that. A candidate that the fixed
//! order implies adds nothing to the graph and would lengthen every search through it.

use super::graph::{EventGraph, Node};
use super::{EventId, Layer, OrderTheory};
use crate::lit::{Lit, Values};
use crate::theory::Consequences;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Sources handled in one sweep over the graph: one bit each.
const CHUNK: usize = 64;

impl OrderTheory {
    /// Called at the root only, when all literals that are true have been told.
    pub(super) fn settle(&mut self, values: Values<'_>, out: &mut Consequences) {
        let edges: usize = self
            .layers
            .iter()
            .map(|layer| layer.graph.edges().len())
            .sum();
        // The root grows by units that are learnt; looking again is worth it when it has grown by a part. Before that only
        // new candidates are looked at: who asks many questions adds a few for each.
        let has_grown = edges >= self.settled_edges + self.settled_edges / 8 + 16;
        if !self.unsettled && !has_grown {
            return;
        }
        self.unsettled = false;
        let first = if has_grown { 0 } else { self.settled_atoms };
        if has_grown {
            self.settled_edges = edges;
        }
        for layer in 0..self.layers.len() {
            self.settle_layer(layer, first, values, out);
        }
        self.settled_atoms = self.atoms.len();
    }

    /// Looks at the candidates from `first` on.
    fn settle_layer(
        &mut self,
        index: usize,
        first: usize,
        values: Values<'_>,
        out: &mut Consequences,
    ) {
        let layer = &self.layers[index];
        let mut by_source: Vec<(Node, u32)> = Vec::new();
        for (id, atom) in (first as u32..).zip(&self.atoms[first..]) {
            if !atom.graphs.contains(index) || atom.lit == Lit::TRUE || !values.is_free(atom.lit) {
                continue;
            }
            let (from, to) = (
                layer.places[atom.from.index()],
                layer.places[atom.to.index()],
            );
            if from.node != to.node {
                by_source.push((from.node, id));
                by_source.push((to.node, id));
            } else if from.position >= to.position {
                self.stats.settled_false += 1;
                out.imply(!atom.lit);
            }
        }
        if by_source.is_empty() {
            return;
        }
        by_source.sort_unstable();
        let Some(order) = topological(&layer.graph) else {
            return;
        };
        let mut reached = vec![0_u64; layer.graph.num_nodes()];
        let mut rest = by_source.as_slice();
        while !rest.is_empty() {
            let (chunk, later) = rest.split_at(end_of_chunk(rest));
            rest = later;
            self.settle_chunk(index, chunk, &order, &mut reached, out);
        }
    }

    fn settle_chunk(
        &mut self,
        index: usize,
        chunk: &[(Node, u32)],
        order: &[Node],
        reached: &mut [u64],
        out: &mut Consequences,
    ) {
        let layer = &self.layers[index];
        reached.fill(0);
        for (bit, group) in chunk.chunk_by(|a, b| a.0 == b.0).enumerate() {
            reached[group[0].0 as usize] |= 1 << bit;
        }
        for &node in order {
            let bits = reached[node as usize];
            if bits != 0 {
                for &(next, _) in layer.graph.successors(node) {
                    reached[next as usize] |= bits;
                }
            }
        }
        for (bit, group) in chunk.chunk_by(|a, b| a.0 == b.0).enumerate() {
            for &(source, id) in group {
                let atom = &self.atoms[id as usize];
                let (from, to) = (
                    layer.places[atom.from.index()].node,
                    layer.places[atom.to.index()].node,
                );
                if source == to && reached[from as usize] >> bit & 1 == 1 {
                    self.stats.settled_false += 1;
                    out.imply(!atom.lit);
                } else if source == from && reached[to as usize] >> bit & 1 == 1 {
                    self.stats.settled_redundant += 1;
                    self.redundant[id as usize].0 |= 1 << index;
                }
            }
        }
    }
}

/// Where the run of entries ends that has at most [`CHUNK`] different nodes.
fn end_of_chunk(entries: &[(Node, u32)]) -> usize {
    entries
        .chunk_by(|a, b| a.0 == b.0)
        .take(CHUNK)
        .map(<[_]>::len)
        .sum()
}

/// The nodes, sources first, the smallest of those that are possible; none if there is a cycle.
fn topological(graph: &EventGraph) -> Option<Vec<Node>> {
    let mut missing = vec![0_u32; graph.num_nodes()];
    for edge in graph.edges() {
        missing[edge.to as usize] += 1;
    }
    let mut ready: BinaryHeap<Reverse<Node>> = (0..)
        .zip(&missing)
        .filter(|&(_, &count)| count == 0)
        .map(|(node, _)| Reverse(node))
        .collect();
    let mut order = Vec::with_capacity(missing.len());
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for &(next, _) in graph.successors(node) {
            missing[next as usize] -= 1;
            if missing[next as usize] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    (order.len() == missing.len()).then_some(order)
}

impl Layer {
    /// Writes down an order of the events that the graph allows.
    pub(super) fn linearise(&mut self) {
        let order = topological(&self.graph).expect("an accepted model is acyclic");
        let mut rank = vec![0_u32; order.len()];
        for (at, &node) in (0..).zip(&order) {
            rank[node as usize] = at;
        }
        self.model.clear();
        self.model
            .extend((0..).map(EventId).take(self.places.len()));
        let places = &self.places;
        self.model.sort_by_key(|event| {
            let place = places[event.index()];
            (rank[place.node as usize], place.position)
        });
    }
}
