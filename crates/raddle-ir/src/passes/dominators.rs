//! Dominators and dominance frontiers.
//!
//! Cooper, Harvey, Kennedy: *A Simple, Fast Dominance Algorithm* (2001): iterate over the reverse post-order, where the
//! dominators of a block are the intersection of those of its predecessors, walked along the tree built so far.

use crate::ids::BlockId;
use crate::passes::cfg::Cfg;

/// The dominator tree of the reachable blocks.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// Absent for the entry and for unreachable blocks.
    idom: Vec<Option<BlockId>>,
    children: Vec<Vec<BlockId>>,
    /// Interval of a block in a walk of the tree: `a` dominates `b` iff a's interval holds b's. `(0, 0)` if unreachable.
    interval: Vec<(u32, u32)>,
}

impl Dominators {
    #[must_use]
    pub fn new(cfg: &Cfg) -> Self {
        let mut tree = Self {
            idom: immediate_dominators(cfg),
            children: vec![Vec::new(); cfg.block_count()],
            interval: vec![(0, 0); cfg.block_count()],
        };
        for &block in cfg.reverse_postorder() {
            if let Some(parent) = tree.idom[block.index()] {
                tree.children[parent.index()].push(block);
            }
        }
        if cfg.block_count() > 0 {
            tree.number();
        }
        tree
    }

    fn number(&mut self) {
        let mut clock = 1;
        let mut stack = vec![(BlockId(0), 0)];
        self.interval[0].0 = clock;
        while let Some((block, next)) = stack.last_mut() {
            clock += 1;
            if let Some(&child) = self.children[block.index()].get(*next) {
                *next += 1;
                self.interval[child.index()].0 = clock;
                stack.push((child, 0));
            } else {
                self.interval[block.index()].1 = clock;
                stack.pop();
            }
        }
    }

    /// The closest strict dominator; none for the entry and for unreachable blocks.
    #[must_use]
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.idom[block.index()]
    }

    /// The blocks that `block` immediately dominates.
    #[must_use]
    pub fn children(&self, block: BlockId) -> &[BlockId] {
        &self.children[block.index()]
    }

    /// Whether every path from the entry to `b` goes through `a`. A block dominates itself; an unreachable block neither
    /// dominates nor is dominated.
    #[inline]
    #[must_use]
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (a_in, a_out) = self.interval[a.index()];
        let (b_in, b_out) = self.interval[b.index()];
        a_in != 0 && a_in <= b_in && b_out <= a_out
    }

    /// Per block, the blocks where its dominance ends: those with a predecessor that it dominates, which it does not
    /// strictly dominate themselves. Sorted, without repetition.
    #[must_use]
    pub fn frontiers(&self, cfg: &Cfg) -> Vec<Vec<BlockId>> {
        let mut frontiers = vec![Vec::new(); cfg.block_count()];
        for &block in cfg.reverse_postorder() {
            let stop = self.idom[block.index()];
            // With one predecessor that is the immediate dominator the walk below ends at once. The entry has a
            // frontier only where something jumps back to it.
            for &predecessor in cfg.predecessors(block) {
                let mut runner = Some(predecessor);
                while runner != stop {
                    let Some(here) = runner else { break };
                    frontiers[here.index()].push(block);
                    runner = self.idom[here.index()];
                }
            }
        }
        for frontier in &mut frontiers {
            frontier.sort_unstable();
            frontier.dedup();
        }
        frontiers
    }
}

fn immediate_dominators(cfg: &Cfg) -> Vec<Option<BlockId>> {
    // Everything is in positions of the reverse post-order: a dominator's position is smaller than its blocks'.
    let order = cfg.reverse_postorder();
    let mut idom: Vec<Option<usize>> = vec![None; order.len()];
    if let Some(entry) = idom.first_mut() {
        *entry = Some(0);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (position, &block) in order.iter().enumerate().skip(1) {
            let mut new: Option<usize> = None;
            for &predecessor in cfg.predecessors(block) {
                let Some(at) = cfg.order(predecessor).map(|at| at as usize) else {
                    continue;
                };
                if idom[at].is_some() {
                    new = Some(new.map_or(at, |other| intersect(&idom, at, other)));
                }
            }
            if new != idom[position] {
                idom[position] = new;
                changed = true;
            }
        }
    }
    let mut blocks = vec![None; cfg.block_count()];
    for (position, &block) in order.iter().enumerate().skip(1) {
        blocks[block.index()] = idom[position].map(|at| order[at]);
    }
    blocks
}

fn intersect(idom: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while a > b {
            a = idom[a].unwrap_or(0);
        }
        while b > a {
            b = idom[b].unwrap_or(0);
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{Rng, cfg_body, random_edges};

    /// The definition: `a` dominates `b` iff `b` is reachable, but not once `a` is taken away.
    fn dominates_by_definition(edges: &[Vec<u32>], a: u32, b: u32) -> bool {
        let reach = |without: Option<u32>| {
            let mut seen = vec![false; edges.len()];
            let mut stack = vec![];
            if without != Some(0) {
                seen[0] = true;
                stack.push(0u32);
            }
            while let Some(block) = stack.pop() {
                for &next in &edges[block as usize] {
                    if Some(next) != without && !seen[next as usize] {
                        seen[next as usize] = true;
                        stack.push(next);
                    }
                }
            }
            seen
        };
        reach(None)[b as usize] && !reach(Some(a))[b as usize]
    }

    #[test]
    fn random_graphs_agree_with_the_definition() {
        let mut rng = Rng::new(7);
        for round in 0..400 {
            let edges = random_edges(&mut rng, 1 + round % 12);
            let body = cfg_body(&edges);
            let cfg = Cfg::new(&body);
            let tree = Dominators::new(&cfg);
            let frontiers = tree.frontiers(&cfg);
            let count = edges.len() as u32;
            for a in 0..count {
                let mut frontier = Vec::new();
                for b in 0..count {
                    let expected = dominates_by_definition(&edges, a, b);
                    assert_eq!(
                        tree.dominates(BlockId(a), BlockId(b)),
                        expected,
                        "{edges:?}: bb{a} dominates bb{b}"
                    );
                    let into = cfg
                        .predecessors(BlockId(b))
                        .iter()
                        .any(|p| dominates_by_definition(&edges, a, p.0));
                    if into && !(a != b && expected) {
                        frontier.push(BlockId(b));
                    }
                }
                assert_eq!(
                    frontiers[a as usize], frontier,
                    "{edges:?}: frontier of bb{a}"
                );
            }
        }
    }

    #[test]
    fn immediate_dominators_of_a_diamond() {
        let body = cfg_body(&[vec![1, 2], vec![3], vec![3], vec![]]);
        let cfg = Cfg::new(&body);
        let tree = Dominators::new(&cfg);
        assert_eq!(tree.immediate(BlockId(3)), Some(BlockId(0)));
        assert_eq!(tree.immediate(BlockId(0)), None);
        assert_eq!(tree.children(BlockId(0)).len(), 3);
    }

    #[test]
    fn long_chains_do_not_recurse() {
        let count = 100_000;
        let mut edges: Vec<Vec<u32>> = (1..count).map(|next| vec![next]).collect();
        edges.push(vec![]);
        let cfg = Cfg::new(&cfg_body(&edges));
        let tree = Dominators::new(&cfg);
        assert!(tree.dominates(BlockId(5), BlockId(count - 1)));
        assert!(!tree.dominates(BlockId(count - 1), BlockId(5)));
    }
}
