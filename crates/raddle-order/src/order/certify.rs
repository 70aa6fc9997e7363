//! Why literals contradict each other, for proofs: a cycle that they close with what holds at the root.
//!
//! What the theory says is found out incrementally and made irredundant; by then nobody knows the cycle any more. Looking for it
//! again is a search through the fixed order, which costs nothing where no proof is written.

use super::graph::Node;
use super::{Layer, OrderTheory};
use crate::lit::Lit;
use crate::proof::Certificate;

/// Scratch of the search: by node, from where it was reached, and in which search.
#[derive(Default)]
pub(super) struct Search {
    reached: Vec<(u32, Node)>,
    now: u32,
    queue: Vec<Node>,
}

impl OrderTheory {
    /// Remembers an edge that closes a cycle of what holds always.
    pub(super) fn refuse(&mut self, index: usize, from: Node, to: Node) {
        if self.at_root() {
            self.refused = Some((index, from, to));
        }
    }

    /// A cycle of what `lits` order. If there were none it would be empty, and whoever checks the proof would say so.
    pub(super) fn cycle_of(&mut self, lits: &[Lit]) -> Certificate {
        let mut search = std::mem::take(&mut self.search);
        let cycles = (0..).zip(&self.layers).find_map(|(graph, layer)| {
            let cycle = self.cycle_in(usize::from(graph), layer, lits, &mut search)?;
            Some(Certificate { graph, cycle })
        });
        self.search = search;
        cycles.unwrap_or_default()
    }

    fn cycle_in(
        &self,
        index: usize,
        layer: &Layer,
        lits: &[Lit],
        search: &mut Search,
    ) -> Option<Vec<Node>> {
        let mut edges: Vec<(Node, Node)> = Vec::new();
        if let Some((refused_in, from, to)) = self.refused
            && refused_in == index
        {
            edges.push((from, to));
        }
        self.orders_among(index, lits, &mut |from, to, _| {
            let (a, b) = (layer.places[from.index()], layer.places[to.index()]);
            if a.node != b.node || a.position >= b.position {
                edges.push((a.node, b.node));
            }
        });
        edges.sort_unstable();
        edges.dedup();
        let mut closing = edges.iter();
        closing.find_map(|&(from, to)| search.path(layer, &edges, to, from))
    }
}

impl Search {
    /// The nodes on a shortest way from `start` to `goal`, both included, over what holds at the root and `edges`, which are sorted.
    fn path(
        &mut self,
        layer: &Layer,
        edges: &[(Node, Node)],
        start: Node,
        goal: Node,
    ) -> Option<Vec<Node>> {
        let graph = &layer.graph;
        let root = match layer.marks.first() {
            Some(mark) => mark.edges(),
            None => graph.num_edges(),
        };
        // Ways over the fixed order that end at one of these points never go above it.
        let ends = edges.iter().flat_map(|&(from, to)| [from, to]);
        let ceiling = ends.map(|end| graph.level(end)).max().unwrap_or(0);
        self.begin(graph.num_nodes(), start);
        let mut next = 0;
        while let Some(&node) = self.queue.get(next) {
            next += 1;
            if node == goal {
                return Some(self.way_back(start, goal));
            }
            let fixed = graph.successors(node).iter();
            // Edges of a node are in the order of their insertion.
            for &(to, _) in fixed.take_while(|&&(_, edge)| edge < root) {
                if graph.level(to) <= ceiling {
                    self.reach(node, to);
                }
            }
            let first = edges.partition_point(|&(from, _)| from < node);
            for &(_, to) in edges[first..].iter().take_while(|edge| edge.0 == node) {
                self.reach(node, to);
            }
        }
        None
    }

    fn begin(&mut self, nodes: usize, start: Node) {
        self.now += 1;
        self.reached.resize(nodes.max(self.reached.len()), (0, 0));
        self.queue.clear();
        self.reach(start, start);
    }

    fn reach(&mut self, from: Node, to: Node) {
        if self.reached[to as usize].0 != self.now {
            self.reached[to as usize] = (self.now, from);
            self.queue.push(to);
        }
    }

    fn way_back(&self, start: Node, goal: Node) -> Vec<Node> {
        let mut way = vec![goal];
        let mut node = goal;
        while node != start {
            node = self.reached[node as usize].1;
            way.push(node);
        }
        way.reverse();
        way
    }
}
