//! Judging sets of literals by brute force, for paranoid runs.

use super::{EventId, Kind, OrderTheory};
use crate::lit::Lit;

impl OrderTheory {
    /// Do `lits` contradict the theory together with what holds at the root? Builds the orders anew and looks for a
    /// cycle; knows nothing of the incremental structures except the edges of the root.
    pub(super) fn contradicts(&self, lits: &[Lit]) -> bool {
        (0..self.layers.len()).any(|layer| self.contradicts_in(layer, lits))
    }

    fn contradicts_in(&self, index: usize, lits: &[Lit]) -> bool {
        let layer = &self.layers[index];
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let root = layer
            .marks
            .first()
            .map_or(layer.graph.num_edges(), |mark| mark.edges());
        edges.extend(
            layer.graph.edges()[..root as usize]
                .iter()
                .map(|edge| (edge.from, edge.to)),
        );
        for (from, to) in self.orders_of(index, lits) {
            let (a, b) = (layer.places[from as usize], layer.places[to as usize]);
            if a.node != b.node {
                edges.push((a.node, b.node));
            } else if a.position >= b.position {
                return true;
            }
        }
        has_cycle(layer.graph.num_nodes(), &edges)
    }

    /// Pairs of events that `lits` order in the layer, from-reads included.
    fn orders_of(&self, layer: usize, lits: &[Lit]) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        let mut reads = Vec::new();
        let mut writes = Vec::new();
        let ids = lits
            .iter()
            .filter_map(|lit| self.atoms_of.get(lit.index()))
            .flatten();
        for atom in ids.map(|&id| &self.atoms[id as usize]) {
            if atom.graphs.contains(layer) {
                pairs.push((atom.from.0, atom.to.0));
            }
            match atom.kind {
                Kind::Order => {}
                Kind::ReadsFrom { from_reads } => reads.push((atom.from, atom.to, from_reads)),
                Kind::Serialises => writes.push((atom.from, atom.to)),
            }
        }
        // Orders of the root have lost their literals.
        for (write, active) in (0..).map(EventId).zip(&self.reads_from) {
            let fixed = active.iter().filter(|active| active.lit == Lit::TRUE);
            reads.extend(fixed.map(|active| (write, active.to, active.from_reads)));
        }
        for (write, active) in (0..).map(EventId).zip(&self.serialises) {
            let fixed = active.iter().filter(|active| active.lit == Lit::TRUE);
            writes.extend(fixed.map(|active| (write, active.to)));
        }
        if self.config.derive_from_reads {
            for &(write, read, from_reads) in &reads {
                let later = writes
                    .iter()
                    .filter(|&&(first, _)| first == write && from_reads.contains(layer));
                pairs.extend(later.map(|&(_, second)| (read.0, second.0)));
            }
        }
        pairs
    }

    pub(super) fn assert_irredundant(&self, lits: &[Lit]) {
        assert!(self.contradicts(lits), "{lits:?} is not contradictory");
        for skip in 0..lits.len() {
            let mut rest = lits.to_vec();
            let lit = rest.remove(skip);
            assert!(!self.contradicts(&rest), "{lit:?} is redundant in {lits:?}");
        }
    }

    pub(super) fn assert_explains(&self, implied: Lit, reasons: &[Lit]) {
        let mut all = reasons.to_vec();
        all.push(!implied);
        assert!(
            self.contradicts(&all),
            "{reasons:?} does not imply {implied:?}"
        );
    }
}

fn has_cycle(nodes: usize, edges: &[(u32, u32)]) -> bool {
    let mut missing = vec![0_u32; nodes];
    let mut next = vec![Vec::new(); nodes];
    for &(from, to) in edges {
        missing[to as usize] += 1;
        next[from as usize].push(to);
    }
    let mut ready: Vec<usize> = (0..nodes).filter(|&node| missing[node] == 0).collect();
    let mut done = 0;
    while let Some(node) = ready.pop() {
        done += 1;
        for &to in &next[node] {
            missing[to as usize] -= 1;
            if missing[to as usize] == 0 {
                ready.push(to as usize);
            }
        }
    }
    done < nodes
}
