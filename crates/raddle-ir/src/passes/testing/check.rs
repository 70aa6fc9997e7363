//! Is a body in SSA form?

use crate::ids::{BlockId, ValueId};
use crate::inst::{Body, Operand};
use crate::passes::cfg::Cfg;
use crate::passes::dominators::Dominators;

/// Where a value is defined: the block, and the position in it. Parameters come before everything.
fn definitions(body: &Body) -> Vec<Option<(BlockId, usize)>> {
    let mut found = vec![None; body.value_types.len()];
    let mut define = |value: ValueId, at: (BlockId, usize)| {
        let old = found[value.index()].replace(at);
        assert!(old.is_none(), "{value:?} is defined twice");
    };
    for param in 0..body.param_count {
        define(ValueId(param), (BlockId(0), 0));
    }
    for (index, block) in body.blocks.iter().enumerate() {
        let at = BlockId::from_index(index);
        for phi in &block.phis {
            define(phi.result, (at, 0));
        }
        for (position, inst) in block.insts.iter().enumerate() {
            if let Some(result) = inst.result {
                define(result, (at, position + 1));
            }
        }
        if let Some(result) = block.terminator.result() {
            // Behind all instructions and the terminator's own operands, in front of what φ-nodes read on the edge.
            define(result, (at, usize::MAX - 1));
        }
    }
    found
}

/// Panics unless every use is dominated by its definition and every φ-node has one operand a predecessor.
pub(crate) fn check_ssa(body: &Body) {
    let cfg = Cfg::new(body);
    let tree = Dominators::new(&cfg);
    let definitions = definitions(body);
    let check = |operand: &Operand, block: BlockId, position: usize| {
        let Operand::Value(value) = operand else {
            return;
        };
        let (at, defined) = definitions[value.index()].expect("defined somewhere");
        let before = at == block && defined < position;
        assert!(
            before || (at != block && tree.dominates(at, block)),
            "{value:?} does not reach its use in {block:?}"
        );
    };
    for (index, code) in body.blocks.iter().enumerate() {
        let block = BlockId::from_index(index);
        assert!(cfg.is_reachable(block));
        for phi in &code.phis {
            let mut sources: Vec<_> = phi.incoming.iter().map(|(from, _)| *from).collect();
            sources.sort_unstable();
            sources.dedup();
            let mut expected = cfg.predecessors(block).to_vec();
            expected.sort_unstable();
            assert_eq!(sources, expected, "operands of a phi in {block:?}");
            for (from, operand) in &phi.incoming {
                check(operand, *from, usize::MAX);
            }
        }
        for (position, inst) in code.insts.iter().enumerate() {
            inst.kind
                .visit_operands(|_, operand| check(operand, block, position + 1));
        }
        code.terminator
            .visit_operands(|_, operand| check(operand, block, usize::MAX - 1));
    }
}
