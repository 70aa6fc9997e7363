//! Making clauses irredundant.
//!
//! One literal can put several edges into several graphs (from-reads to every later write, for one), and the first of
//! them that closes a cycle need not close the narrowest. So a part of a narrowest path's literals may be contradictory
//! because of edges that were not inserted yet. The literals of a clause are few, so that is checked on a graph of just
//! their end points: the fixed order between these is found by one search, and then literals are left out one by one as
//! long as a cycle remains. The result is irredundant: without any of its literals it does not follow.

use super::graph::Node;
use super::{Atom, EventId, Kind, Layer, OrderTheory};
use crate::lit::Lit;

/// End points fit the bits of a word; clauses with more are left as they are.
const MAX_POINTS: usize = 64;

/// An order that needs its literals (one or two) to hold.
#[derive(Clone, Copy)]
struct Needed {
    from: usize,
    to: usize,
    lits: [Lit; 2],
}

/// One graph reduced to the end points of some orders.
#[derive(Default)]
struct Small {
    points: Vec<Node>,
    orders: Vec<Needed>,
    /// By point, the points the fixed order leads to.
    fixed: Vec<u64>,
    /// Literals that contradict the positions in a class.
    refuted: Vec<[Lit; 2]>,
}

/// Scratch of the search through the fixed order.
#[derive(Default)]
pub(super) struct Shrink {
    bits: Vec<u64>,
    touched: Vec<Node>,
    stack: Vec<Node>,
}

impl OrderTheory {
    /// Leaves out literals one by one as long as the rest is contradictory.
    pub(super) fn drop_redundant(&mut self, lits: &mut Vec<Lit>) {
        let mut scratch = std::mem::take(&mut self.shrink);
        let small: Option<Vec<Small>> = (0..self.layers.len())
            .map(|layer| self.reduced(layer, lits, &mut scratch))
            .collect();
        self.shrink = scratch;
        let Some(small) = small else { return };
        let mut at = 0;
        while at < lits.len() {
            let lit = lits.remove(at);
            if !small.iter().any(|graph| graph.is_cyclic(lits)) {
                lits.insert(at, lit);
                at += 1;
            }
        }
    }

    fn reduced(&self, index: usize, lits: &[Lit], scratch: &mut Shrink) -> Option<Small> {
        let mut small = Small::default();
        let layer = &self.layers[index];
        self.orders_among(index, lits, &mut |from, to, needs| {
            small.add(layer, from, to, needs);
        });
        if small.points.len() > MAX_POINTS {
            return None;
        }
        small.fixed = layer.fixed_order(&small.points, scratch);
        Some(small)
    }

    /// The orders that `lits` make in a graph, with what holds at the root, and which of them each needs.
    pub(super) fn orders_among(
        &self,
        index: usize,
        lits: &[Lit],
        each: &mut impl FnMut(EventId, EventId, [Lit; 2]),
    ) {
        for &lit in lits {
            for &id in self.atoms_of.get(lit.index()).into_iter().flatten() {
                let atom = &self.atoms[id as usize];
                if atom.graphs.contains(index) {
                    each(atom.from, atom.to, [lit, Lit::TRUE]);
                }
                if self.config.derive_from_reads {
                    self.each_from_read_among(index, atom, lits, each);
                }
            }
        }
    }

    /// From-reads that the atom takes part in, with others of `lits` or of the root.
    fn each_from_read_among(
        &self,
        index: usize,
        atom: &Atom,
        lits: &[Lit],
        each: &mut impl FnMut(EventId, EventId, [Lit; 2]),
    ) {
        match atom.kind {
            Kind::Order => {}
            Kind::ReadsFrom { from_reads } if from_reads.contains(index) => {
                for later in self.serialises[atom.from.index()]
                    .iter()
                    .take_while(|later| later.lit == Lit::TRUE)
                {
                    each(atom.to, later.to, [atom.lit, Lit::TRUE]);
                }
                for &lit in lits {
                    for &id in self.atoms_of.get(lit.index()).into_iter().flatten() {
                        let later = &self.atoms[id as usize];
                        if matches!(later.kind, Kind::Serialises) && later.from == atom.from {
                            each(atom.to, later.to, [atom.lit, lit]);
                        }
                    }
                }
            }
            Kind::ReadsFrom { .. } => {}
            Kind::Serialises => {
                let fixed = self.reads_from[atom.from.index()]
                    .iter()
                    .take_while(|read| read.lit == Lit::TRUE);
                for read in fixed.filter(|read| read.from_reads.contains(index)) {
                    each(read.to, atom.to, [atom.lit, Lit::TRUE]);
                }
            }
        }
    }
}

impl Small {
    fn add(&mut self, layer: &Layer, from: EventId, to: EventId, lits: [Lit; 2]) {
        let (a, b) = (layer.places[from.index()], layer.places[to.index()]);
        if a.node != b.node {
            let order = Needed {
                from: self.point(a.node),
                to: self.point(b.node),
                lits,
            };
            self.orders.push(order);
        } else if a.position >= b.position {
            self.refuted.push(lits);
        }
    }

    fn point(&mut self, node: Node) -> usize {
        self.points
            .iter()
            .position(|&point| point == node)
            .unwrap_or_else(|| {
                self.points.push(node);
                self.points.len() - 1
            })
    }

    fn is_cyclic(&self, lits: &[Lit]) -> bool {
        let holds = |lit: Lit| lit == Lit::TRUE || lits.contains(&lit);
        if self
            .refuted
            .iter()
            .any(|needed| needed.iter().all(|&lit| holds(lit)))
        {
            return true;
        }
        let mut next = self.fixed.clone();
        for order in &self.orders {
            if order.lits.iter().all(|&lit| holds(lit)) {
                next[order.from] |= 1 << order.to;
            }
        }
        // Removes points without predecessors until none is left or a cycle remains.
        let mut alive = if next.len() == MAX_POINTS {
            u64::MAX
        } else {
            (1 << next.len()) - 1
        };
        while alive != 0 {
            let reached = (0..next.len())
                .filter(|at| alive >> at & 1 == 1)
                .fold(0, |bits, at| bits | next[at]);
            if alive & reached == alive {
                return true;
            }
            alive &= reached;
        }
        false
    }
}

impl Layer {
    /// For each of `points`, which others edges of the root lead to.
    fn fixed_order(&self, points: &[Node], scratch: &mut Shrink) -> Vec<u64> {
        let Shrink {
            bits,
            touched,
            stack,
        } = scratch;
        bits.resize(self.graph.num_nodes().max(bits.len()), 0);
        let root = self
            .marks
            .first()
            .map_or(self.graph.num_edges(), |mark| mark.edges());
        let ceiling = points
            .iter()
            .map(|&point| self.graph.level(point))
            .max()
            .unwrap_or(0);
        for (at, &point) in points.iter().enumerate() {
            bits[point as usize] |= 1 << at;
            touched.push(point);
            stack.push(point);
        }
        while let Some(node) = stack.pop() {
            let from_here = bits[node as usize];
            for &(next, edge) in self.graph.successors(node) {
                if edge >= root {
                    // Edges of a node are in the order of their insertion.
                    break;
                }
                let known = bits[next as usize];
                if self.graph.level(next) <= ceiling && known | from_here != known {
                    if known == 0 {
                        touched.push(next);
                    }
                    bits[next as usize] |= from_here;
                    stack.push(next);
                }
            }
        }
        let mut order = vec![0_u64; points.len()];
        for (to, &point) in points.iter().enumerate() {
            for (from, reached) in order.iter_mut().enumerate() {
                if from != to && bits[point as usize] >> from & 1 == 1 {
                    *reached |= 1 << to;
                }
            }
        }
        for node in touched.drain(..) {
            bits[node as usize] = 0;
        }
        order
    }
}
