//! The transformation: bodies whose pure iterations end early.

use super::effects::Surroundings;
use super::write::{Insertion, Writer};
use super::{Point, analyse};
use crate::ids::BlockId;
use crate::inst::{Block, Body, Operand, Terminator};
use crate::module::Module;
use crate::passes::cfg::Cfg;
use crate::passes::cleanup;
use crate::passes::dominators::Dominators;
use crate::passes::loops::{Loop, Loops};

/// Ends pure iterations of a prepared body, which stays prepared, where they are known to be pure: they go back to the header at once,
/// without the accesses that are left of them. For engines that recognise a thread that came back to the state it was in: they
/// recognise it earlier. Returns how many such places there are.
///
/// Inner loops come first.
pub fn eliminate(module: &mut Module, body: &mut Body, around: Surroundings<'_>) -> usize {
    let mut conditions = 0;
    let mut handled: Vec<BlockId> = Vec::new();
    loop {
        let cfg = Cfg::new(body);
        let dominators = Dominators::new(&cfg);
        let loops = Loops::new(&cfg, &dominators);
        let turn: Vec<&Loop> = loops
            .iter()
            .map(|(_, natural)| natural)
            .filter(|natural| {
                let mut inside = natural.children.iter();
                !handled.contains(&natural.header)
                    && inside.all(|&child| handled.contains(&loops.get(child).header))
            })
            .collect();
        if turn.is_empty() {
            break;
        }
        handled.extend(turn.iter().map(|natural| natural.header));
        let found = analyse(module, body, &cfg, &loops, around);
        let mut writer = Writer {
            module,
            body,
            cfg: &cfg,
            dominators: &dominators,
            insertions: Vec::new(),
        };
        for pure in &found {
            if let Some(natural) = turn.iter().find(|l| l.header == pure.header) {
                writer.conditions(natural, pure);
            }
        }
        conditions += writer.insertions.len();
        let insertions = std::mem::take(&mut writer.insertions);
        insert(body, insertions);
    }
    if conditions > 0 {
        crate::passes::simplify(module, body);
        cleanup::compact_values(module, body);
    }
    conditions
}

/// Puts the conditions in place and acts on them.
fn insert(body: &mut Body, mut insertions: Vec<Insertion>) {
    // From the back of each block, so that places further ahead stay what they are.
    insertions.sort_by_key(|new| (new.at.block, std::cmp::Reverse(new.at.index)));
    for new in insertions {
        let Insertion {
            at,
            header,
            mut code,
            condition,
        } = new;
        let rest = split(body, at);
        let block = &mut body.blocks[at.block.index()];
        block.insts.append(&mut code);
        block.terminator = Terminator::CondBr {
            condition,
            then: header,
            otherwise: rest,
        };
        for phi in &mut body.blocks[header.index()].phis {
            phi.incoming.push((at.block, Operand::Value(phi.result)));
        }
    }
}

/// Moves what is behind `at` into a block of its own. The block that is left has no terminator worth the name.
fn split(body: &mut Body, at: Point) -> BlockId {
    let rest = BlockId::from_index(body.blocks.len());
    let block = &mut body.blocks[at.block.index()];
    let new = Block {
        label: format!("{}.rest", block.label).into(),
        phis: Vec::new(),
        insts: block.insts.split_off(at.index),
        terminator: std::mem::replace(&mut block.terminator, Terminator::Unreachable),
        terminator_loc: block.terminator_loc,
    };
    let successors = new.terminator.successors();
    body.blocks.push(new);
    for successor in successors {
        for phi in &mut body.blocks[successor.index()].phis {
            for (from, _) in &mut phi.incoming {
                if *from == at.block {
                    *from = rest;
                }
            }
        }
    }
    rest
}
