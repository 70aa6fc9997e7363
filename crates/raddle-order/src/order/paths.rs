//! Narrowest paths: the reasons of conflicts and implications (section 5.3 of the paper).
//!
//! The *width* of a path is the number of literals its edges were put into the graph by. A conflict is a new edge
//! together with a path back; the narrowest paths give the shortest clauses, and all of them are wanted.
//!
//! Deviations from the paper
//! 1. Width counts literals (a from-read edge has two), the paper counts induced edges. Clauses are what the solver pays
//!    for, and a clause of fewest literals is much more often free of redundant ones.
//! 2. At most [`MAX_CLAUSES`] clauses are produced: their number can be exponential.
//! 3. The subgraph between the end points is not built beforehand. The search goes outward by width, stays below the
//!    goal's level (invariant 1 of `graph.rs`) and stops at the goal.

use super::graph::{EdgeId, EventGraph, Node};
use crate::lit::Lit;
use rustc_hash::FxHashSet;

pub(super) const MAX_CLAUSES: usize = 8;
/// Bounds the walk over paths that share their literals.
const MAX_STATES: usize = 2000;

const NIL: u32 = u32::MAX;

/// Scratch space of the searches, by node of the graph searched.
#[derive(Default)]
pub(super) struct Paths {
    distance: Vec<u32>,
    stamp: Vec<u32>,
    now: u32,
    /// Incoming edges by which a node has its distance: a linked list per node.
    tight: Vec<u32>,
    cells: Vec<(EdgeId, u32)>,
    buckets: Vec<Vec<Node>>,
    /// Ends of paths, shared: (literals of the last induced edge, the rest).
    suffixes: Vec<([Lit; 2], u32)>,
    seen: FxHashSet<(Node, u32)>,
}

impl Paths {
    /// The literals of one narrowest path `from →⁺ to` over edges older than `before`.
    pub(super) fn one(
        &mut self,
        graph: &EventGraph,
        from: Node,
        to: Node,
        before: EdgeId,
        reasons: &mut Vec<Lit>,
    ) -> bool {
        if !self.search(graph, from, to, before) {
            return false;
        }
        let mut node = to;
        while node != from {
            let (edge, _) = self.cells[self.tight[node as usize] as usize];
            let edge = graph.edge(edge);
            reasons.extend(edge.why.into_iter().filter(|&lit| lit != Lit::TRUE));
            node = edge.from;
        }
        true
    }

    /// The literals of all narrowest paths `from →⁺ to`, each set once, up to the limits above.
    pub(super) fn all(&mut self, graph: &EventGraph, from: Node, to: Node) -> Vec<Vec<Lit>> {
        let mut found = Vec::new();
        if !self.search(graph, from, to, graph.num_edges()) {
            return found;
        }
        self.suffixes.clear();
        self.seen.clear();
        let mut stack = vec![(to, NIL)];
        while let Some((node, suffix)) = stack.pop() {
            if node == from {
                found.push(self.literals(suffix));
                if found.len() == MAX_CLAUSES {
                    break;
                }
                continue;
            }
            let mut cell = self.tight[node as usize];
            while cell != NIL && self.seen.len() < MAX_STATES {
                let (edge, next) = self.cells[cell as usize];
                let edge = graph.edge(edge);
                let longer = if edge.width() == 0 {
                    suffix
                } else {
                    self.extend(edge.why, suffix)
                };
                // Paths that differ in fixed edges only have the same literals: one of them is enough.
                if self.seen.insert((edge.from, longer)) {
                    stack.push((edge.from, longer));
                }
                cell = next;
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn extend(&mut self, why: [Lit; 2], rest: u32) -> u32 {
        self.suffixes.push((why, rest));
        u32::try_from(self.suffixes.len() - 1).expect("few suffixes")
    }

    fn literals(&self, mut suffix: u32) -> Vec<Lit> {
        let mut lits = Vec::new();
        while suffix != NIL {
            let (why, rest) = self.suffixes[suffix as usize];
            lits.extend(why.into_iter().filter(|&lit| lit != Lit::TRUE));
            suffix = rest;
        }
        lits.sort_unstable();
        lits.dedup();
        lits
    }

    /// Distances by width from `from`, complete for every node nearer than `to`.
    fn search(&mut self, graph: &EventGraph, from: Node, to: Node, before: EdgeId) -> bool {
        self.prepare(graph.num_nodes());
        let ceiling = graph.level(to);
        self.distance[from as usize] = 0;
        self.stamp[from as usize] = self.now;
        self.tight[from as usize] = NIL;
        self.buckets[0].push(from);
        let mut width = 0_u32;
        let mut empty_in_a_row = 0;
        while empty_in_a_row < self.buckets.len() {
            let bucket = width as usize % self.buckets.len();
            let Some(node) = self.buckets[bucket].pop() else {
                if self.reached(to) && self.distance[to as usize] <= width {
                    return true;
                }
                width += 1;
                empty_in_a_row += 1;
                continue;
            };
            empty_in_a_row = 0;
            if self.distance[node as usize] != width || node == to {
                continue;
            }
            for &(next, edge) in graph.successors(node) {
                if edge < before && graph.level(next) <= ceiling {
                    self.relax(next, edge, width + graph.edge(edge).width());
                }
            }
        }
        self.reached(to)
    }

    fn reached(&self, node: Node) -> bool {
        self.stamp[node as usize] == self.now
    }

    fn relax(&mut self, node: Node, edge: EdgeId, distance: u32) {
        let at = node as usize;
        let known = self.stamp[at] == self.now;
        if known && self.distance[at] < distance {
            return;
        }
        let shorter = !known || distance < self.distance[at];
        let others = if shorter { NIL } else { self.tight[at] };
        self.tight[at] = u32::try_from(self.cells.len()).expect("edges fit 32 bits");
        self.cells.push((edge, others));
        if shorter {
            self.stamp[at] = self.now;
            self.distance[at] = distance;
            let bucket = distance as usize % self.buckets.len();
            self.buckets[bucket].push(node);
        }
    }

    fn prepare(&mut self, nodes: usize) {
        if self.distance.len() < nodes {
            self.distance.resize(nodes, 0);
            self.stamp.resize(nodes, 0);
            self.tight.resize(nodes, NIL);
        }
        if self.now == u32::MAX {
            self.stamp.fill(0);
            self.now = 0;
        }
        self.now += 1;
        self.cells.clear();
        // Edges are at most two wide: three buckets, used in turn, hold every distance that is open at a time.
        self.buckets.resize_with(3, Vec::new);
        self.buckets.iter_mut().for_each(Vec::clear);
    }
}
