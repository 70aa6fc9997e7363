//! In which order the blocks of a function are gone through, so that paths meet again where they can.

use raddle_ir::inst::Call;
use raddle_ir::passes::{BitSet, Cfg, Dominators, Liveness, LoopId, Loops};
use raddle_ir::{Block, BlockId, Body, Terminator, ValueId};

/// What is known of a body's control flow.
pub(crate) struct Shape {
    /// Position of each block: predecessors come first, except along back edges, and loops are not interrupted.
    position: Vec<u32>,
    pub(crate) loops: Loops,
    /// Nothing follows these blocks: mostly, they report a failure.
    is_last: Vec<bool>,
    /// Values that are live after the φs of each block.
    live: Vec<BitSet>,
    /// By block: if it is the header of a loop, the φs that only count its iterations.
    counters: Vec<Vec<ValueId>>,
}

impl Shape {
    pub(crate) fn new(body: &Body, is_assumption: &dyn Fn(&Call) -> bool) -> Self {
        let cfg = Cfg::new(body);
        let dominators = Dominators::new(&cfg);
        let loops = Loops::new(&cfg, &dominators);
        let mut counters = vec![Vec::new(); body.blocks.len()];
        for (_, natural) in loops.iter() {
            counters[natural.header.index()] =
                crate::counters::counters(body, &dominators, natural, is_assumption);
        }
        let liveness = Liveness::new(body, &cfg);
        let live = (0..body.blocks.len())
            .map(|block| liveness.live_after_phis(body, BlockId::from_index(block)))
            .collect();
        let mut order = Vec::with_capacity(body.blocks.len());
        let sorter = Sorter {
            cfg: &cfg,
            loops: &loops,
        };
        sorter.sort(None, BlockId(0), &mut order);
        let mut position = vec![0; body.blocks.len()];
        for (at, block) in order.into_iter().enumerate() {
            position[block.index()] = at as u32;
        }
        let ends = |block: &Block| matches!(block.terminator, Terminator::Unreachable);
        Self {
            position,
            loops,
            is_last: body.blocks.iter().map(ends).collect(),
            live,
            counters,
        }
    }

    pub(crate) fn position(&self, block: BlockId) -> u32 {
        self.position[block.index()]
    }

    pub(crate) fn is_last(&self, block: BlockId) -> bool {
        self.is_last[block.index()]
    }

    pub(crate) fn live(&self, block: BlockId) -> &BitSet {
        &self.live[block.index()]
    }

    /// The φs of a header that only count the iterations of its loop.
    pub(crate) fn counters(&self, header: BlockId) -> &[ValueId] {
        &self.counters[header.index()]
    }

    /// Are there cycles that are no loops?
    pub(crate) fn is_reducible(&self) -> bool {
        self.loops.is_reducible()
    }
}

struct Sorter<'a> {
    cfg: &'a Cfg,
    loops: &'a Loops,
}

impl Sorter<'_> {
    /// Appends the blocks of a loop (of the whole body), its inner loops in one piece each.
    fn sort(&self, within: Option<LoopId>, entry: BlockId, order: &mut Vec<BlockId>) {
        let mut seen = BitSet::new(self.cfg.block_count());
        let mut finished = Vec::new();
        // Depth first: (block that stands for itself or for an inner loop, its successors, how many are done).
        let mut stack = vec![(entry, self.successors(within, entry, entry), 0)];
        seen.insert(entry.index());
        while let Some((block, successors, done)) = stack.last_mut() {
            match successors.get(*done) {
                Some(&next) => {
                    *done += 1;
                    if seen.insert(next.index()) {
                        stack.push((next, self.successors(within, entry, next), 0));
                    }
                }
                None => {
                    finished.push(*block);
                    stack.pop();
                }
            }
        }
        for block in finished.into_iter().rev() {
            match self.inner(within, block) {
                Some(inner) if block != entry || within.is_none() => {
                    self.sort(Some(inner), self.loops.get(inner).header, order);
                }
                _ => order.push(block),
            }
        }
    }

    /// The loop directly inside `within` that a block belongs to.
    fn inner(&self, within: Option<LoopId>, block: BlockId) -> Option<LoopId> {
        let mut at = self.loops.innermost(block);
        while let Some(id) = at {
            let parent = self.loops.get(id).parent;
            if Some(id) == within {
                return None;
            }
            if parent == within {
                return Some(id);
            }
            at = parent;
        }
        None
    }

    /// What follows a block, or the inner loop that it stands for, inside `within`, inner loops by their headers.
    fn successors(&self, within: Option<LoopId>, entry: BlockId, block: BlockId) -> Vec<BlockId> {
        let targets: Vec<BlockId> = match self.inner(within, block) {
            Some(inner) => {
                let exits = &self.loops.get(inner).exits;
                exits.iter().map(|&(_, outside)| outside).collect()
            }
            None => self.cfg.successors(block).to_vec(),
        };
        let stays = |target: &BlockId| within.is_none_or(|id| self.loops.get(id).contains(*target));
        targets
            .into_iter()
            .filter(|target| stays(target) && (*target != entry || within.is_none()))
            .map(|target| {
                let inner = self.inner(within, target);
                inner.map_or(target, |id| self.loops.get(id).header)
            })
            .collect()
    }
}
