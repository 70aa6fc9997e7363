//! The control-flow graph of a body: edges, reverse post-order, reachability.

use crate::ids::BlockId;
use crate::inst::Body;
use crate::passes::bitset::BitSet;

/// Edges and orders of a body's blocks, as they were when it was made.
///
/// Edges are distinct: a `switch` with two cases to one block is one edge. Only blocks that can be reached from the entry
/// have edges here; a predecessor that can never run is none.
#[derive(Clone, Debug)]
pub struct Cfg {
    successors: Vec<Vec<BlockId>>,
    predecessors: Vec<Vec<BlockId>>,
    reverse_postorder: Vec<BlockId>,
    /// Position in the reverse post-order, `u32::MAX` for unreachable blocks.
    order: Vec<u32>,
}

const UNREACHABLE: u32 = u32::MAX;

impl Cfg {
    #[must_use]
    pub fn new(body: &Body) -> Self {
        let count = body.blocks.len();
        let mut cfg = Self {
            successors: vec![Vec::new(); count],
            predecessors: vec![Vec::new(); count],
            reverse_postorder: Vec::with_capacity(count),
            order: vec![UNREACHABLE; count],
        };
        if count == 0 {
            return cfg;
        }
        cfg.search(body);
        for (position, &block) in cfg.reverse_postorder.iter().enumerate() {
            cfg.order[block.index()] = position as u32;
        }
        for &block in &cfg.reverse_postorder {
            for &successor in &cfg.successors[block.index()] {
                cfg.predecessors[successor.index()].push(block);
            }
        }
        cfg
    }

    /// Depth-first search from the entry, without recursion: bodies may be a chain of many thousand blocks.
    fn search(&mut self, body: &Body) {
        let mut seen = BitSet::new(body.blocks.len());
        let mut stack = vec![(BlockId(0), 0)];
        seen.insert(0);
        self.successors[0] = distinct_successors(body, BlockId(0));
        while let Some((block, next)) = stack.last_mut() {
            let Some(&successor) = self.successors[block.index()].get(*next) else {
                self.reverse_postorder.push(*block);
                stack.pop();
                continue;
            };
            *next += 1;
            if seen.insert(successor.index()) {
                self.successors[successor.index()] = distinct_successors(body, successor);
                stack.push((successor, 0));
            }
        }
        self.reverse_postorder.reverse();
    }

    #[must_use]
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.successors[block.index()]
    }

    /// In reverse post-order of the predecessors.
    #[must_use]
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        &self.predecessors[block.index()]
    }

    /// The reachable blocks, each before its successors but for retreating edges. A block comes after its dominators.
    #[must_use]
    pub fn reverse_postorder(&self) -> &[BlockId] {
        &self.reverse_postorder
    }

    /// Position of a block in [`Self::reverse_postorder`].
    #[must_use]
    pub fn order(&self, block: BlockId) -> Option<u32> {
        let position = self.order[block.index()];
        (position != UNREACHABLE).then_some(position)
    }

    #[must_use]
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.order[block.index()] != UNREACHABLE
    }

    /// How many blocks the body had, reachable or not.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.order.len()
    }
}

fn distinct_successors(body: &Body, block: BlockId) -> Vec<BlockId> {
    let mut successors = body.blocks[block.index()].terminator.successors();
    if successors.len() > 8 {
        // Large switches: order by first occurrence does not matter to anyone, only that it is fixed.
        successors.sort_unstable();
        successors.dedup();
        return successors;
    }
    let mut distinct = Vec::with_capacity(successors.len());
    for successor in successors {
        if !distinct.contains(&successor) {
            distinct.push(successor);
        }
    }
    distinct
}

/// Removes the blocks that the entry does not reach, and the φ-operands that came from them; true if there were any.
///
/// Blocks are renumbered in their old order; labels stay, so `blockaddress` constants still find their block.
pub fn remove_unreachable(body: &mut Body) -> bool {
    let cfg = Cfg::new(body);
    let mut renumbered = vec![None; body.blocks.len()];
    let mut next = 0;
    for (index, new) in renumbered.iter_mut().enumerate() {
        if cfg.is_reachable(BlockId::from_index(index)) {
            *new = Some(BlockId::from_index(next));
            next += 1;
        }
    }
    let mut changed = next != body.blocks.len();
    let blocks = std::mem::take(&mut body.blocks);
    for (index, mut block) in blocks.into_iter().enumerate() {
        let old = BlockId::from_index(index);
        if renumbered[index].is_none() {
            continue;
        }
        let mut predecessors = BitSet::default();
        if !block.phis.is_empty() {
            predecessors = BitSet::new(cfg.block_count());
            for predecessor in cfg.predecessors(old) {
                predecessors.insert(predecessor.index());
            }
        }
        for phi in &mut block.phis {
            let before = phi.incoming.len();
            phi.incoming
                .retain(|(from, _)| predecessors.contains(from.index()));
            changed |= phi.incoming.len() != before;
            for (from, _) in &mut phi.incoming {
                *from = renumbered[from.index()].unwrap_or(*from);
            }
        }
        block.terminator.for_each_target_mut(|target| {
            *target = renumbered[target.index()].unwrap_or(*target);
        });
        body.blocks.push(block);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inst::Terminator;
    use crate::passes::testing::{Builder, Rng, cfg_body, random_edges};

    #[test]
    fn edges_are_distinct_and_mirrored() {
        let mut rng = Rng::new(5);
        for round in 0..200 {
            let body = cfg_body(&random_edges(&mut rng, 1 + round % 9));
            let cfg = Cfg::new(&body);
            assert_eq!(cfg.reverse_postorder()[0], BlockId(0));
            for &from in cfg.reverse_postorder() {
                for &to in cfg.successors(from) {
                    let back = cfg.predecessors(to).iter().filter(|&&p| p == from);
                    assert_eq!(back.count(), 1);
                    assert!(cfg.is_reachable(to));
                }
            }
        }
    }

    #[test]
    fn unreachable_blocks_go_with_their_phi_operands() {
        let mut b = Builder::new();
        let i32 = b.i32;
        let n = b.param(i32);
        let (dead, join) = (b.block(), b.block());
        let one = b.c32(1);
        b.br(join);
        b.at(dead).br(join);
        b.at(join);
        let phi = b.phi(i32, &[(BlockId(0), n), (dead, one)]);
        b.ret(i32, phi);
        let mut body = b.finish();
        assert!(remove_unreachable(&mut body));
        assert_eq!(body.blocks.len(), 2);
        assert_eq!(
            body.blocks[0].terminator,
            Terminator::Br { target: BlockId(1) }
        );
        assert_eq!(body.blocks[1].phis[0].incoming, [(BlockId(0), n)]);
        assert!(!remove_unreachable(&mut body));
    }
}
