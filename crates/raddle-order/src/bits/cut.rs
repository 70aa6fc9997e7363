//! What a computation keeps of earlier ones: the fewest bits that it can be continued from.

use super::aig::Bit;
use super::{Bits, cnf};
use rustc_hash::FxHashMap;

/// How late bits are: one number for each gate, by what it depends on. 0: on nothing that has a level.
#[derive(Clone, Debug)]
pub struct Levels(Vec<u32>);

impl Levels {
    #[must_use]
    pub fn of(&self, bit: Bit) -> u32 {
        self.0.get(bit.node()).copied().unwrap_or(0)
    }
}

/// A network in which each gate is two nodes, with the gate's capacity between them.
#[derive(Default)]
struct Network {
    edges: Vec<(usize, u32)>,
    /// By node: positions of edges; the one back is next to each.
    from: Vec<Vec<usize>>,
}

const ANY_NUMBER: u32 = u32::MAX / 2;
const SOURCE: usize = 0;
const SINK: usize = 1;

impl Network {
    fn node(&mut self) -> usize {
        self.from.push(Vec::new());
        self.from.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize, capacity: u32) {
        self.from[from].push(self.edges.len());
        self.edges.push((to, capacity));
        self.from[to].push(self.edges.len());
        self.edges.push((from, 0));
    }

    /// The nodes that can be reached, each with the edge that leads there.
    fn reach(&self) -> Vec<Option<usize>> {
        let mut by = vec![None; self.from.len()];
        let mut open = vec![SOURCE];
        let mut done = 0;
        while let Some(&node) = open.get(done) {
            done += 1;
            for &edge in &self.from[node] {
                let (to, capacity) = self.edges[edge];
                if capacity > 0 && to != SOURCE && by[to].is_none() {
                    by[to] = Some(edge);
                    open.push(to);
                }
            }
        }
        by
    }

    /// Fills the network one way after the other; what can be reached then. None if there are more than `most` ways.
    fn fill(&mut self, most: usize) -> Option<Vec<Option<usize>>> {
        for _ in 0..=most {
            let by = self.reach();
            let mut at = SINK;
            if by[SINK].is_none() {
                return Some(by);
            }
            while let Some(edge) = by[at] {
                self.edges[edge].1 -= 1;
                self.edges[edge ^ 1].1 += 1;
                at = self.edges[edge ^ 1].0;
            }
        }
        None
    }
}

impl Bits {
    /// Levels of all gates, from those of some bits.
    #[must_use]
    pub fn levels(&self, given: &FxHashMap<Bit, u32>) -> Levels {
        let mut levels = vec![0; self.aig.gates.len()];
        for (bit, &level) in given {
            levels[bit.node()] = level;
        }
        for (node, &gate) in self.aig.gates.iter().enumerate() {
            let operands = cnf::operands(gate);
            let highest = operands.iter().flatten().map(|bit| levels[bit.node()]);
            levels[node] = highest.fold(levels[node], u32::max);
        }
        Levels(levels)
    }

    /// The fewest bits of levels below `level` (and above 0) that `roots` can be computed from together with what is of that
    /// level or of none, where `assumed` holds. Of several such sets, the latest. None if there must be more than `most`.
    #[must_use]
    pub fn narrowest(
        &self,
        roots: &[Bit],
        levels: &Levels,
        level: u32,
        assumed: Bit,
        most: usize,
    ) -> Option<Vec<Bit>> {
        let fixed: Vec<usize> = self
            .conjuncts(assumed)
            .iter()
            .map(|bit| bit.node())
            .collect();
        let matters = |bit: Bit| {
            let of = levels.of(bit);
            of > 0 && !fixed.contains(&bit.node()) && self.known_value(bit).is_none()
        };
        let mut network = Network::default();
        network.node();
        network.node();
        let mut nodes: FxHashMap<usize, usize> = FxHashMap::default();
        let mut open: Vec<(usize, Bit)> = roots.iter().map(|&root| (SOURCE, root)).collect();
        let mut gates: Vec<(Bit, usize)> = Vec::new();
        while let Some((from, bit)) = open.pop() {
            if !matters(bit) {
                continue;
            }
            let is_early = levels.of(bit) < level;
            if let Some(&node) = nodes.get(&bit.node()) {
                network.edge(from, node, ANY_NUMBER);
                continue;
            }
            let (enter, leave) = (network.node(), network.node());
            nodes.insert(bit.node(), enter);
            network.edge(from, enter, ANY_NUMBER);
            network.edge(enter, leave, if is_early { 1 } else { ANY_NUMBER });
            gates.push((bit.positive(), enter));
            let operands = cnf::operands(self.aig.gates[bit.node()]);
            let used: Vec<Bit> = operands
                .into_iter()
                .flatten()
                .filter(|&bit| matters(bit))
                .collect();
            if used.is_empty() && is_early {
                network.edge(leave, SINK, ANY_NUMBER);
            }
            open.extend(used.into_iter().map(|bit| (leave, bit)));
        }
        let reached = network.fill(most)?;
        let is_cut = |enter: usize| reached[enter].is_some() && reached[enter + 1].is_none();
        let cut = gates.into_iter().filter(|&(_, enter)| is_cut(enter));
        let mut cut: Vec<Bit> = cut.map(|(bit, _)| bit).collect();
        cut.sort_unstable();
        Some(cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::Word;
    use crate::sat::Solver;
    use crate::theory::NoTheory;

    /// A counter that goes up by what is found: what is kept of it is its value, not what was found each time.
    #[test]
    fn a_counter_is_kept_by_its_value() {
        let (mut bits, mut solver) = (Bits::new(), Solver::new(NoTheory));
        let mut levels = FxHashMap::default();
        let mut counter = Word::constant(2, 0);
        let mut values = Vec::new();
        for level in 1..=6 {
            values.push(counter.clone());
            let found = bits.fresh_bit(&mut solver);
            levels.insert(found, level);
            let more = bits.add(&counter, &Word::constant(2, 1));
            counter = bits.ite(found, &more, &counter);
        }
        // Four bits, where two say all.
        let numbers = [0, 1, 2, 3].map(|number| Word::constant(2, number));
        let roots = numbers.map(|number| bits.eq(&counter, &number));
        let levels = bits.levels(&levels);
        assert_eq!(levels.of(roots[0]), 6);
        let cut = |level| bits.narrowest(&roots, &levels, level, Bit::TRUE, 8);
        let sorted = |word: &Word| {
            let mut bits: Vec<Bit> = word.bits().iter().map(|bit| bit.positive()).collect();
            bits.sort_unstable();
            bits
        };
        assert_eq!(cut(6), Some(sorted(&values[5])));
        assert_eq!(cut(7), Some(sorted(&counter)));
        assert_eq!(bits.narrowest(&roots, &levels, 6, Bit::TRUE, 1), None);
        assert_eq!(cut(1), Some(Vec::new()));
        assert_eq!(
            bits.narrowest(&roots[..1], &levels, 7, roots[0], 8),
            Some(Vec::new())
        );
    }
}
