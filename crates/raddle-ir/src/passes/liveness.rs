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

/// What is live at every so many instructions of a block, so that a point in a long block is found without walking all of it.
#[derive(Clone, Debug)]
pub struct Checkpoints(Vec<BitSet>);

/// Instructions between two checkpoints; few in tests, whose blocks are short.
const STRIDE: usize = if cfg!(test) { 3 } else { 128 };

impl Liveness {
    #[must_use]
    pub fn checkpoints(&self, body: &Body, block: BlockId) -> Checkpoints {
        let code = &body.blocks[block.index()];
        let mut live = self.live_out[block.index()].clone();
        step_terminator(code, &mut live);
        let mut sets = Vec::with_capacity(code.insts.len() / STRIDE + 1);
        let mut end = code.insts.len();
        for start in (0..=end / STRIDE).rev().map(|number| number * STRIDE) {
            step_range(code, start..end, &mut live);
            sets.push(live.clone());
            end = start;
        }
        sets.reverse();
        Checkpoints(sets)
    }

    /// As [`Self::live_after`], with the checkpoints of the block.
    #[must_use]
    pub fn live_after_by(
        &self,
        checkpoints: &Checkpoints,
        body: &Body,
        block: BlockId,
        inst: usize,
    ) -> BitSet {
        let code = &body.blocks[block.index()];
        let next = (inst + 1).div_ceil(STRIDE);
        match checkpoints.0.get(next) {
            Some(set) if inst < code.insts.len() => {
                let mut live = set.clone();
                step_range(code, inst + 1..next * STRIDE, &mut live);
                if let Some(result) = code.insts[inst].result {
                    live.remove(result.index());
                }
                live
            }
            _ => self.live_after(body, block, inst),
        }
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
    step_range(code, first..code.insts.len(), live);
}

/// From behind the instructions of a range to before them.
fn step_range(code: &Block, range: std::ops::Range<usize>, live: &mut BitSet) {
    for inst in code.insts[range].iter().rev() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constant::Constant;
    use crate::inst::{BinaryOp, Call, IntPredicate, Operand, Terminator};
    use crate::passes::prepare;
    use crate::passes::testing::random::random_body;
    use crate::passes::testing::{Builder, Rng, value_of};

    /// The definition: is there a path from the point to a read of `value` that does not pass its definition?
    fn live_by_paths(body: &Body, block: BlockId, inst: usize, value: ValueId) -> bool {
        let reads = |operand: &Operand| operand.value() == Some(value);
        let mut seen = vec![false; body.blocks.len()];
        let mut pending = vec![(block, inst + 1)];
        while let Some((at, start)) = pending.pop() {
            let code = &body.blocks[at.index()];
            let mut found = false;
            let mut defined = false;
            for inst in code.insts.iter().skip(start) {
                inst.kind.visit_operands(|_, o| found |= reads(o));
                if found {
                    return true;
                }
                defined |= inst.result == Some(value);
                if defined {
                    break;
                }
            }
            if start <= code.insts.len() && !defined {
                code.terminator.visit_operands(|_, o| found |= reads(o));
                defined |= code.terminator.result() == Some(value);
            }
            if found {
                return true;
            }
            if defined {
                continue;
            }
            for next in code.terminator.successors() {
                let phis = &body.blocks[next.index()].phis;
                let mut incoming = phis.iter().flat_map(|phi| &phi.incoming);
                if incoming.any(|(from, operand)| *from == at && reads(operand)) {
                    return true;
                }
                let defined = phis.iter().any(|phi| phi.result == value);
                if !defined && !std::mem::replace(&mut seen[next.index()], true) {
                    pending.push((next, 0));
                }
            }
        }
        false
    }

    fn compare(body: &Body) {
        let cfg = Cfg::new(body);
        let mut points = LivePoints::new(body);
        for &block in cfg.reverse_postorder() {
            let code = &body.blocks[block.index()];
            let liveness = Liveness::new(body, &cfg);
            let checkpoints = liveness.checkpoints(body, block);
            for inst in 0..=code.insts.len() {
                assert_eq!(
                    liveness.live_after_by(&checkpoints, body, block, inst),
                    liveness.live_after(body, block, inst)
                );
                let own = match code.insts.get(inst) {
                    Some(inst) => inst.result,
                    None => code.terminator.result(),
                };
                let live = points.after(body, block, inst);
                for value in (0..body.value_types.len()).map(ValueId::from_index) {
                    assert_eq!(
                        live.contains(value.index()),
                        own != Some(value) && live_by_paths(body, block, inst, value),
                        "{value:?} after {block:?}, {inst}"
                    );
                }
            }
        }
    }

    #[test]
    fn random_bodies_agree_with_the_definition() {
        let mut rng = Rng::new(3);
        for _ in 0..150 {
            let mut build = random_body(&mut rng);
            let body = build.finish();
            compare(&body);
            let done = prepare(&mut build.module, body);
            compare(&done);
        }
    }

    #[test]
    fn phi_operands_are_read_by_the_predecessor() {
        let mut b = Builder::new();
        let i32 = b.i32;
        let n = b.param(i32);
        let again = b.block();
        let one = b.c32(1);
        b.br(again);
        b.at(again);
        let phi = b.phi(i32, &[]);
        let next = b.binary(BinaryOp::Add, phi, one);
        b.body.blocks[1].phis[0].incoming = vec![(BlockId(0), n), (BlockId(1), next)];
        let more = b.icmp(IntPredicate::Ult, i32, next, one);
        let done = b.block();
        b.cond(more, again, done);
        b.at(done).ret(i32, next);
        let body = b.finish();
        let live = Liveness::new(&body, &Cfg::new(&body));
        assert!(live.live_out(BlockId(0)).contains(value_of(n).index()));
        assert!(live.live_in(again).is_empty());
        let after = live.live_after_phis(&body, again);
        assert_eq!(after.iter().collect::<Vec<_>>(), [value_of(phi).index()]);
        assert!(live.live_after(&body, again, 0).is_empty());
        let at_end = live.live_after(&body, again, 2);
        assert_eq!(at_end.iter().collect::<Vec<_>>(), [value_of(next).index()]);
    }

    #[test]
    fn the_result_of_an_invoke_is_its_own() {
        let mut b = Builder::new();
        let i32 = b.i32;
        let n = b.param(i32);
        let (normal, unwind) = (b.block(), b.block());
        let f = b.function("f", &[i32], i32);
        let fn_type = b.module.function(f).ty;
        let callee = b.constant(Constant::Function(f));
        let result = b.body.new_value(i32);
        b.end(Terminator::Invoke {
            result: Some(result),
            call: Call {
                callee,
                fn_type,
                args: vec![n],
                arg_types: vec![i32],
                byval: Vec::new(),
                sret: None,
            },
            normal,
            unwind,
        });
        b.at(normal).ret(i32, Operand::Value(result));
        b.at(unwind).ret(i32, n);
        let body = b.finish();
        compare(&body);
        let live = Liveness::new(&body, &Cfg::new(&body));
        assert!(live.live_out(BlockId(0)).contains(result.index()));
        assert!(
            !live
                .live_after(&body, BlockId(0), 0)
                .contains(result.index())
        );
        assert!(!live.live_in(BlockId(0)).contains(result.index()));
    }
}
