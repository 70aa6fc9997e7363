//! Natural loops and how they nest.
//!
//! A back edge leads to a block that dominates its source; the natural loop of a header is the set of blocks that reach a
//! back edge to it without passing it (Aho, Sethi, Ullman, *Compilers*, 1986, section 10.4). Loops with one header are one loop.
//! A cycle entered at several places has no header: the edges that close such cycles are listed, not turned into loops.

use crate::ids::BlockId;
use crate::passes::bitset::BitSet;
use crate::passes::cfg::Cfg;
use crate::passes::dominators::Dominators;

crate::define_id!(
    /// A loop in [`Loops`].
    LoopId,
    "loop"
);

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The one block through which the loop is entered; it dominates all others.
    pub header: BlockId,
    /// Sources of the back edges to the header.
    pub latches: Vec<BlockId>,
    /// All blocks of the loop and of the loops inside, in reverse post-order (the header first).
    pub blocks: Vec<BlockId>,
    /// Edges out of the loop: from a block inside to one outside.
    pub exits: Vec<(BlockId, BlockId)>,
    pub parent: Option<LoopId>,
    pub children: Vec<LoopId>,
    /// 1 for outermost loops.
    pub depth: u32,
    members: BitSet,
}

impl Loop {
    #[must_use]
    pub fn contains(&self, block: BlockId) -> bool {
        self.members.contains(block.index())
    }
}

/// The loops of a body. An outer loop comes before the loops inside it.
#[derive(Clone, Debug)]
pub struct Loops {
    loops: Vec<Loop>,
    /// The innermost loop of each block.
    innermost: Vec<Option<LoopId>>,
    irreducible: Vec<(BlockId, BlockId)>,
}

impl Loops {
    #[must_use]
    pub fn new(cfg: &Cfg, dominators: &Dominators) -> Self {
        let mut latches = vec![Vec::new(); cfg.block_count()];
        let mut irreducible = Vec::new();
        for &from in cfg.reverse_postorder() {
            for &to in cfg.successors(from) {
                if dominators.dominates(to, from) {
                    latches[to.index()].push(from);
                } else if cfg.order(to) <= cfg.order(from) {
                    // A retreating edge that is no back edge: exactly irreducible graphs have one, whichever way they
                    // are searched (Hecht and Ullman, 1974).
                    irreducible.push((from, to));
                }
            }
        }
        let mut found = Self {
            loops: Vec::new(),
            innermost: vec![None; cfg.block_count()],
            irreducible,
        };
        // Reverse post-order puts the header of an outer loop before those inside, so that `innermost` of a header is,
        // when its turn comes, the loop around it, and later loops overwrite earlier ones block by block.
        for &header in cfg.reverse_postorder() {
            let latches = std::mem::take(&mut latches[header.index()]);
            if !latches.is_empty() {
                found.add(cfg, header, latches);
            }
        }
        found
    }

    fn add(&mut self, cfg: &Cfg, header: BlockId, latches: Vec<BlockId>) {
        let id = LoopId::from_index(self.loops.len());
        let members = members(cfg, header, &latches);
        let mut blocks: Vec<_> = members.iter().map(BlockId::from_index).collect();
        blocks.sort_unstable_by_key(|&block| cfg.order(block));
        let mut exits = Vec::new();
        for &from in &blocks {
            for &to in cfg.successors(from) {
                if !members.contains(to.index()) {
                    exits.push((from, to));
                }
            }
        }
        let parent = self.innermost[header.index()];
        let depth = parent.map_or(1, |outer| {
            self.loops[outer.index()].children.push(id);
            self.loops[outer.index()].depth + 1
        });
        for &block in &blocks {
            self.innermost[block.index()] = Some(id);
        }
        self.loops.push(Loop {
            header,
            latches,
            blocks,
            exits,
            parent,
            children: Vec::new(),
            depth,
            members,
        });
    }

    #[must_use]
    pub fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }

    /// All loops, outer before inner.
    pub fn iter(&self) -> impl Iterator<Item = (LoopId, &Loop)> {
        self.loops
            .iter()
            .enumerate()
            .map(|(index, l)| (LoopId::from_index(index), l))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// The innermost loop that `block` lies in.
    #[must_use]
    pub fn innermost(&self, block: BlockId) -> Option<LoopId> {
        self.innermost[block.index()]
    }

    /// The loop whose header `block` is.
    #[must_use]
    pub fn with_header(&self, block: BlockId) -> Option<LoopId> {
        self.innermost(block)
            .filter(|&id| self.get(id).header == block)
    }

    /// Whether the edge closes a natural loop.
    #[must_use]
    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        self.with_header(to)
            .is_some_and(|id| self.get(id).latches.contains(&from))
    }

    /// Edges that close a cycle without header. If there are any, some cycles of the graph are not in [`Self::iter`].
    #[must_use]
    pub fn irreducible_edges(&self) -> &[(BlockId, BlockId)] {
        &self.irreducible
    }

    #[must_use]
    pub fn is_reducible(&self) -> bool {
        self.irreducible.is_empty()
    }
}

fn members(cfg: &Cfg, header: BlockId, latches: &[BlockId]) -> BitSet {
    let mut members = BitSet::new(cfg.block_count());
    members.insert(header.index());
    let mut stack = latches.to_vec();
    while let Some(block) = stack.pop() {
        if members.insert(block.index()) {
            stack.extend_from_slice(cfg.predecessors(block));
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{Rng, cfg_body, random_edges};

    fn loops_of(edges: &[Vec<u32>]) -> Loops {
        let cfg = Cfg::new(&cfg_body(edges));
        Loops::new(&cfg, &Dominators::new(&cfg))
    }

    fn ids(blocks: &[BlockId]) -> Vec<u32> {
        blocks.iter().map(|block| block.0).collect()
    }

    #[test]
    fn straight_code_has_none() {
        assert!(loops_of(&[vec![1], vec![]]).is_empty());
    }

    #[test]
    fn self_loop() {
        let loops = loops_of(&[vec![1], vec![1, 2], vec![]]);
        let only = loops.get(LoopId(0));
        assert_eq!(ids(&only.blocks), [1]);
        assert_eq!(only.exits, [(BlockId(1), BlockId(2))]);
        assert!(loops.is_back_edge(BlockId(1), BlockId(1)) && loops.is_reducible());
    }

    #[test]
    fn nested_loops_with_break_of_both() {
        // 1 { 2 { 3 } 4 }: 3 leaves both loops to 5.
        let loops = loops_of(&[vec![1], vec![2, 5], vec![3, 4], vec![2, 5], vec![1], vec![]]);
        assert_eq!(loops.len(), 2);
        let (outer, inner) = (loops.get(LoopId(0)), loops.get(LoopId(1)));
        assert_eq!(
            (outer.header, outer.depth, outer.parent),
            (BlockId(1), 1, None)
        );
        assert_eq!(
            (inner.header, inner.depth, inner.parent),
            (BlockId(2), 2, Some(LoopId(0)))
        );
        assert_eq!(outer.children, [LoopId(1)]);
        assert_eq!(outer.blocks.len(), 4);
        assert!(inner.contains(BlockId(3)) && !inner.contains(BlockId(4)));
        assert_eq!(
            inner.exits,
            [(BlockId(2), BlockId(4)), (BlockId(3), BlockId(5))]
        );
        assert_eq!(loops.innermost(BlockId(4)), Some(LoopId(0)));
        assert_eq!(loops.innermost(BlockId(5)), None);
    }

    #[test]
    fn two_latches_are_one_loop() {
        let loops = loops_of(&[vec![1], vec![2, 3], vec![1], vec![1, 4], vec![]]);
        assert_eq!(loops.len(), 1);
        assert_eq!(loops.get(LoopId(0)).latches.len(), 2);
    }

    #[test]
    fn two_entries_are_irreducible() {
        let loops = loops_of(&[vec![1, 2], vec![2], vec![1, 3], vec![]]);
        assert!(!loops.is_reducible() && loops.is_empty());
        assert_eq!(loops.irreducible_edges().len(), 1);
    }

    /// Removing all back edges and irreducible edges leaves no cycle, and loops nest or are disjoint.
    #[test]
    fn random_graphs_keep_the_invariants() {
        let mut rng = Rng::new(11);
        for round in 0..300 {
            let edges = random_edges(&mut rng, 1 + round % 10);
            let loops = loops_of(&edges);
            let cut = |from: u32, to: u32| {
                let edge = (BlockId(from), BlockId(to));
                loops.is_back_edge(edge.0, edge.1) || loops.irreducible_edges().contains(&edge)
            };
            let cfg = Cfg::new(&cfg_body(&edges));
            for &from in cfg.reverse_postorder() {
                for &to in cfg.successors(from) {
                    assert!(cut(from.0, to.0) || cfg.order(from) < cfg.order(to));
                }
            }
            for (a, x) in loops.iter() {
                for (b, y) in loops.iter() {
                    let common = x.blocks.iter().filter(|&&block| y.contains(block)).count();
                    let nested = common == x.blocks.len().min(y.blocks.len());
                    assert!(a == b || common == 0 || nested);
                }
            }
        }
    }
}
