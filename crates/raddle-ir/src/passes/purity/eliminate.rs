//! The transformation: bodies without pure rounds.

use super::effects::Surroundings;
use super::write::{Insertion, Writer, negate, widen};
use super::{Point, PureLoop, analyse};
use crate::constant::Constant;
use crate::ids::{BlockId, FuncId};
use crate::inst::{Block, Body, Call, Inst, InstKind, Operand, Terminator};
use crate::module::{Function, Module, Symbol};
use crate::passes::cfg::Cfg;
use crate::passes::cleanup;
use crate::passes::dominators::Dominators;
use crate::passes::loops::{Loop, Loops};
use crate::types::Type;

/// The function that [`Cut::Assume`] calls with an `i32`: an execution in which that is 0 goes no further in this thread. No
/// program can define it.
pub const ASSUME: &str = "raddle.assume";

/// What becomes of a pure round where it is known to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It ends for good: `assume(not pure)`. Back edges that only pure rounds take are removed. For engines that run each loop
    /// a bounded number of times.
    Assume,
    /// It goes back to the header at once, without the accesses that are left of it. For engines that recognise a thread that
    /// came back to the state it was in: they recognise it earlier.
    Return,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Eliminated {
    /// Conditions put into the body.
    pub conditions: usize,
    /// Loops that are none any more, by their header (in the numbering before).
    pub loops: Vec<BlockId>,
    /// Back edges removed.
    pub back_edges: usize,
}

impl Eliminated {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Takes pure rounds out of a prepared body, which stays prepared.
///
/// Inner loops come first: one that is gone is no obstacle to the purity of those around it.
pub fn eliminate(
    module: &mut Module,
    body: &mut Body,
    cut: Cut,
    around: Surroundings<'_>,
) -> Eliminated {
    let mut done = Eliminated::default();
    let mut handled: Vec<BlockId> = Vec::new();
    let mut dead_end = None;
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
                writer.conditions(natural, pure, cut);
            }
        }
        done.conditions += writer.insertions.len();
        let insertions = std::mem::take(&mut writer.insertions);
        for pure in &found {
            if cut == Cut::Assume && turn.iter().any(|l| l.header == pure.header) {
                close(module, body, pure, &mut dead_end);
                done.back_edges += pure.always_pure.len();
                if pure.only_waits() {
                    done.loops.push(pure.header);
                }
            }
        }
        insert(module, body, insertions, cut);
    }
    if !done.is_empty() {
        crate::passes::simplify(module, body);
        cleanup::compact_values(module, body);
    }
    done
}

/// Leads the back edges that only pure rounds take to a dead end.
fn close(module: &mut Module, body: &mut Body, pure: &PureLoop, dead_end: &mut Option<BlockId>) {
    for &latch in &pure.always_pure {
        let target = *dead_end.get_or_insert_with(|| add_dead_end(module, body));
        let terminator = &mut body.blocks[latch.index()].terminator;
        terminator.for_each_target_mut(|to| {
            if *to == pure.header {
                *to = target;
            }
        });
        for phi in &mut body.blocks[pure.header.index()].phis {
            phi.incoming.retain(|(from, _)| *from != latch);
        }
    }
}

/// `assume(false)`, and nothing behind it.
fn add_dead_end(module: &mut Module, body: &mut Body) -> BlockId {
    let i32 = module.types.intern(Type::Int(32));
    let zero = Operand::Const(module.intern_constant(Constant::Int(i32, 0)));
    let assume = assume(module, zero);
    body.blocks.push(Block {
        label: "pure".into(),
        phis: Vec::new(),
        insts: vec![assume],
        terminator: Terminator::Unreachable,
        terminator_loc: None,
    });
    BlockId::from_index(body.blocks.len() - 1)
}

fn assume(module: &mut Module, condition: Operand) -> Inst {
    let function = assume_function(module);
    let i32 = module.types.intern(Type::Int(32));
    Inst {
        result: None,
        kind: InstKind::Call(Call {
            callee: Operand::Const(module.intern_constant(Constant::Function(function))),
            fn_type: module.function(function).ty,
            args: vec![condition],
            arg_types: vec![i32],
            byval: Vec::new(),
        }),
        loc: None,
    }
}

fn assume_function(module: &mut Module) -> FuncId {
    if let Some(id) = module.function_named(ASSUME) {
        return id;
    }
    let (ret, param) = (
        module.types.intern(Type::Void),
        module.types.intern(Type::Int(32)),
    );
    let ty = module.types.intern(Type::Function {
        ret,
        params: [param].into(),
        varargs: false,
    });
    let id = FuncId::from_index(module.functions.len());
    module.functions.push(Function {
        name: ASSUME.into(),
        ty,
        is_declaration: true,
        param_nocapture: vec![true],
        param_byval: vec![None],
        defined_at: None,
    });
    module.symbols.insert(ASSUME.into(), Symbol::Function(id));
    id
}

/// Puts the conditions in place and acts on them.
fn insert(module: &mut Module, body: &mut Body, mut insertions: Vec<Insertion>, cut: Cut) {
    // From the back of each block, so that places further ahead stay what they are.
    insertions.sort_by_key(|new| (new.at.block, std::cmp::Reverse(new.at.index)));
    for new in insertions {
        let Insertion {
            at,
            header,
            mut code,
            condition,
        } = new;
        match cut {
            Cut::Assume => {
                let goes_on = negate(module, body, &mut code, condition);
                let goes_on = widen(module, body, &mut code, goes_on);
                code.push(assume(module, goes_on));
                let insts = &mut body.blocks[at.block.index()].insts;
                insts.splice(at.index..at.index, code);
            }
            Cut::Return => {
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
