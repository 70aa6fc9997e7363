//! Which SSA values may still be read.
//!
//! The usual backward data-flow problem, over blocks. A φ-operand is read at the end of the predecessor it comes from, and
//! a φ-result is written at the start of its block, before everything else there.

use crate::ids::{BlockId, ValueId};
use crate::inst::{Block, Body};
use crate::passes::bitset::BitSet;
use crate::passes::cfg::Cfg;
use rustc_hash::FxHashMap;

/// The values live at the borders of blocks. Sets hold indices of [`ValueId`]s.
#[derive(Clone, Debug)]
pub struct Liveness {
    live_in: Vec<BitSet>,
    live_out: Vec<BitSet>,
}

impl Liveness {
    #[must_use]
    pub fn new(body: &Body, cfg: &Cfg) -> Self {
        let empty = BitSet::new(body.value_types.len());
        let mut liveness = Self {
            live_in: vec![empty.clone(); body.blocks.len()],
            live_out: vec![empty; body.blocks.len()],
        };
        for (index, block) in body.blocks.iter().enumerate() {
            if !cfg.is_reachable(BlockId::from_index(index)) {
                continue;
            }
            for phi in &block.phis {
                for (from, operand) in &phi.incoming {
                    if let Some(value) = operand.value() {
                        liveness.live_out[from.index()].insert(value.index());
                    }
                }
            }
        }
        liveness.solve(body, cfg);
        liveness
    }

    /// Iterates to the least fixpoint. Post-order settles acyclic code in one sweep.
    fn solve(&mut self, body: &Body, cfg: &Cfg) {
        let mut pending: BitSet = BitSet::new(body.blocks.len());
        for &block in cfg.reverse_postorder() {
            pending.insert(block.index());
        }
        while !pending.is_empty() {
            for &block in cfg.reverse_postorder().iter().rev() {
                if !pending.remove(block.index()) {
                    continue;
                }
                for successor in cfg.successors(block) {
                    let (outs, ins) = (&mut self.live_out, &self.live_in);
                    outs[block.index()].union_with(&ins[successor.index()]);
                }
                let code = &body.blocks[block.index()];
                let mut live = self.live_out[block.index()].clone();
                step_terminator(code, &mut live);
                step_insts(code, 0, &mut live);
                for phi in &code.phis {
                    live.remove(phi.result.index());
                }
                if self.live_in[block.index()].union_with(&live) {
                    for predecessor in cfg.predecessors(block) {
                        pending.insert(predecessor.index());
                    }
                }
            }
        }
    }

    /// Values live when `block` is entered, before its φ-nodes: neither their results nor their operands count.
    #[must_use]
    pub fn live_in(&self, block: BlockId) -> &BitSet {
        &self.live_in[block.index()]
    }

    /// Values that a successor or a φ-node of a successor may read, the result of an `invoke` included.
    #[must_use]
    pub fn live_out(&self, block: BlockId) -> &BitSet {
        &self.live_out[block.index()]
    }

    /// Values live once the φ-nodes of `block` have been evaluated.
    #[must_use]
    pub fn live_after_phis(&self, body: &Body, block: BlockId) -> BitSet {
        let code = &body.blocks[block.index()];
        let mut live = self.live_out[block.index()].clone();
        step_terminator(code, &mut live);
        step_insts(code, 0, &mut live);
        live
    }

    /// Values live just after instruction `inst` of `block`, without its own result. The index one past the last
    /// instruction is the terminator.
    ///
    /// A register that is not in the set may be cleared while the instruction waits for its result.
    #[must_use]
    pub fn live_after(&self, body: &Body, block: BlockId, inst: usize) -> BitSet {
        let code = &body.blocks[block.index()];
        let mut live = self.live_out[block.index()].clone();
        let result = if let Some(own) = code.insts.get(inst) {
            step_terminator(code, &mut live);
            step_insts(code, inst + 1, &mut live);
            own.result
        } else {
            code.terminator.result()
        };
        if let Some(result) = result {
            live.remove(result.index());
        }
        live
    }
}

/// [`Liveness::live_after`], computed once a point.
#[derive(Clone, Debug)]
pub struct LivePoints {
    liveness: Liveness,
    points: FxHashMap<(BlockId, u32), BitSet>,
}

impl LivePoints {
    #[must_use]
    pub fn new(body: &Body) -> Self {
        Self {
            liveness: Liveness::new(body, &Cfg::new(body)),
            points: FxHashMap::default(),
        }
    }

    /// As [`Liveness::live_after`]. `body` is the one this was made for, unchanged since.
    pub fn after(&mut self, body: &Body, block: BlockId, inst: usize) -> &BitSet {
        self.points
            .entry((block, inst as u32))
            .or_insert_with(|| self.liveness.live_after(body, block, inst))
    }

    #[must_use]
    pub fn liveness(&self) -> &Liveness {
        &self.liveness
    }
}

/// From after the terminator to before it.
fn step_terminator(code: &Block, live: &mut BitSet) {
    if let Some(result) = code.terminator.result() {
        live.remove(result.index());
    }
    code.terminator
        .visit_operands(|_, operand| read(live, operand.value()));
}

/// From before the terminator to before instruction `first`.
fn step_insts(code: &Block, first: usize, live: &mut BitSet) {
    for inst in code.insts[first..].iter().rev() {
        if let Some(result) = inst.result {
            live.remove(result.index());
        }
        inst.kind
            .visit_operands(|_, operand| read(live, operand.value()));
    }
}

fn read(live: &mut BitSet, value: Option<ValueId>) {
    if let Some(value) = value {
        live.insert(value.index());
    }
}
