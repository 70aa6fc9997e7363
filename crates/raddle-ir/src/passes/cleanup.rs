//! Removal of what has no effect: φ-nodes that choose between equals, pure instructions without readers, markers.
//!
//! Local states that differ in a register nobody reads would be different states, so this is about more than speed. Loads,
//! stores, atomics and calls stay whatever becomes of their results: they are what other threads and the checks see. So do
//! divisions that may trap.

use crate::constant::Constant;
use crate::ids::ValueId;
use crate::inst::{BinaryOp, Body, Inst, InstKind, Operand, Phi, Terminator};
use crate::module::Module;
use crate::passes::bitset::BitSet;
use crate::passes::intrinsics::{Intrinsic, intrinsic};
use crate::passes::promote::Replacements;
use crate::passes::uses::visit_body_operands_mut;
use crate::types::Type;

/// Replaces φ-nodes whose operands are one and the same value (or the φ-node itself) by that value; true if any.
///
/// The value dominates all predecessors of the block, hence the block. `undef` operands count as different from others.
pub fn remove_trivial_phis(module: &mut Module, body: &mut Body) -> bool {
    let mut replaced = Replacements::default();
    let mut changed = true;
    while changed {
        changed = false;
        for block in &mut body.blocks {
            block.phis.retain(|phi| {
                let Some(only) = only_operand(module, &replaced, phi) else {
                    return true;
                };
                let gone = replaced.add(phi.result, only);
                changed |= gone;
                !gone
            });
        }
    }
    if !replaced.is_empty() {
        replaced.apply(body);
    }
    !replaced.is_empty()
}

/// The one operand of a φ-node but for itself. A φ-node of nothing but itself can never be reached with a value.
fn only_operand(module: &mut Module, replaced: &Replacements, phi: &Phi) -> Option<Operand> {
    let mut only = None;
    for &(_, operand) in &phi.incoming {
        let operand = replaced.resolve(operand);
        if operand == Operand::Value(phi.result) || only == Some(operand) {
            continue;
        }
        if only.is_some() {
            return None;
        }
        only = Some(operand);
    }
    Some(only.unwrap_or_else(|| Operand::Const(module.intern_constant(Constant::Undef(phi.ty)))))
}

/// Removes instructions and φ-nodes whose results do not reach anything with an effect; true if there were any.
///
/// Marks from the effects backwards, so that φ-nodes and arithmetic that only feed each other go too.
pub fn remove_dead(module: &Module, body: &mut Body) -> bool {
    let used = used_values(module, body);
    let mut changed = false;
    for block in &mut body.blocks {
        let before = block.phis.len() + block.insts.len();
        block.phis.retain(|phi| used.contains(phi.result.index()));
        block.insts.retain(|inst| match effect(module, inst) {
            Effect::Always => true,
            Effect::None => inst.result.is_some_and(|r| used.contains(r.index())),
            Effect::Marks(value) => used.contains(value.index()),
        });
        changed |= before != block.phis.len() + block.insts.len();
    }
    changed
}

enum Effect {
    /// Must stay.
    Always,
    /// Stays if its result is used.
    None,
    /// Stays if this value is used by something else.
    Marks(ValueId),
}

fn effect(module: &Module, inst: &Inst) -> Effect {
    match &inst.kind {
        InstKind::Binary { op, rhs, .. } if may_trap(module, *op, *rhs) => Effect::Always,
        InstKind::Binary { .. }
        | InstKind::FNeg { .. }
        | InstKind::Cast { .. }
        | InstKind::ICmp { .. }
        | InstKind::FCmp { .. }
        | InstKind::Select { .. }
        | InstKind::Freeze { .. }
        | InstKind::ExtractValue { .. }
        | InstKind::InsertValue { .. }
        | InstKind::ExtractElement { .. }
        | InstKind::InsertElement { .. }
        | InstKind::ShuffleVector { .. }
        | InstKind::Alloca { .. }
        | InstKind::Gep { .. } => Effect::None,
        InstKind::Call(call) => match intrinsic(module, call) {
            Intrinsic::Debug | Intrinsic::Pure => Effect::None,
            Intrinsic::Lifetime => match call.args.last() {
                Some(Operand::Value(value)) => Effect::Marks(*value),
                _ => Effect::Always,
            },
            Intrinsic::Fill | Intrinsic::Copy | Intrinsic::Other => Effect::Always,
        },
        InstKind::Load { .. }
        | InstKind::Store { .. }
        | InstKind::Fence { .. }
        | InstKind::CmpXchg { .. }
        | InstKind::AtomicRmw { .. }
        | InstKind::VaArg { .. }
        | InstKind::LandingPad { .. }
        | InstKind::Other { .. } => Effect::Always,
    }
}

/// Whether the operation is a division that a run could stop at.
fn may_trap(module: &Module, op: BinaryOp, divisor: Operand) -> bool {
    let signed = match op {
        BinaryOp::SDiv | BinaryOp::SRem => true,
        BinaryOp::UDiv | BinaryOp::URem => false,
        _ => return false,
    };
    let Operand::Const(id) = divisor else {
        return true;
    };
    match module.constant(id) {
        // Any constant with its top bit clear is no -1, which overflows with the smallest dividend.
        Constant::Int(ty, bits) => match module.types.get(*ty) {
            Type::Int(width @ 1..=128) => *bits == 0 || (signed && bits >> (width - 1) != 0),
            _ => true,
        },
        _ => true,
    }
}

/// Values that an effect depends on.
fn used_values(module: &Module, body: &Body) -> BitSet {
    let mut definitions: Vec<Option<(usize, Definition)>> = vec![None; body.value_types.len()];
    let mut used = BitSet::new(body.value_types.len());
    let mut pending = Vec::new();
    for (at, block) in body.blocks.iter().enumerate() {
        for (index, phi) in block.phis.iter().enumerate() {
            definitions[phi.result.index()] = Some((at, Definition::Phi(index)));
        }
        for (index, inst) in block.insts.iter().enumerate() {
            if let Some(result) = inst.result {
                definitions[result.index()] = Some((at, Definition::Inst(index)));
            }
            if matches!(effect(module, inst), Effect::Always) {
                inst.kind.visit_operands(|_, o| pending.extend(o.value()));
            }
        }
        block
            .terminator
            .visit_operands(|_, o| pending.extend(o.value()));
    }
    mark(body, &definitions, pending, &mut used);
    // A marker may be the only reader of a cast that it gets its variable by: it stays as long as the variable does.
    let mut markers = Vec::new();
    for inst in body.blocks.iter().flat_map(|block| &block.insts) {
        if let Effect::Marks(value) = effect(module, inst)
            && used.contains(marked_variable(body, &definitions, value).index())
        {
            markers.push(value);
        }
    }
    mark(body, &definitions, markers, &mut used);
    used
}

type Definitions = [Option<(usize, Definition)>];

/// Adds the values that `pending` depend on, and these.
fn mark(body: &Body, definitions: &Definitions, mut pending: Vec<ValueId>, used: &mut BitSet) {
    while let Some(value) = pending.pop() {
        if !used.insert(value.index()) {
            continue;
        }
        match definitions[value.index()] {
            Some((at, Definition::Phi(index))) => {
                let phi = &body.blocks[at].phis[index];
                pending.extend(phi.incoming.iter().filter_map(|(_, o)| o.value()));
            }
            Some((at, Definition::Inst(index))) => {
                let kind = &body.blocks[at].insts[index].kind;
                kind.visit_operands(|_, o| pending.extend(o.value()));
            }
            None => {}
        }
    }
}

/// What a marker's operand is computed from by casts and constant offsets.
fn marked_variable(body: &Body, definitions: &Definitions, mut value: ValueId) -> ValueId {
    // The bound is for code that breaks dominance, where such a chain may be a cycle.
    for _ in 0..64 {
        let Some((at, Definition::Inst(index))) = definitions[value.index()] else {
            break;
        };
        match &body.blocks[at].insts[index].kind {
            InstKind::Cast {
                value: Operand::Value(base),
                ..
            }
            | InstKind::Gep {
                base: Operand::Value(base),
                ..
            } => value = *base,
            _ => break,
        }
    }
    value
}

#[derive(Clone, Copy)]
enum Definition {
    Phi(usize),
    Inst(usize),
}

/// Renumbers the values so that those without definition take no register: parameters stay first, then by place.
pub fn compact_values(module: &mut Module, body: &mut Body) {
    let mut order: Vec<ValueId> = (0..body.param_count).map(ValueId).collect();
    for block in &body.blocks {
        order.extend(block.phis.iter().map(|phi| phi.result));
        order.extend(block.insts.iter().filter_map(|inst| inst.result));
        order.extend(block.terminator.result());
    }
    let mut renumbered = vec![None; body.value_types.len()];
    for (new, old) in order.iter().enumerate() {
        renumbered[old.index()] = Some(ValueId::from_index(new));
    }
    let of = |old: ValueId| renumbered[old.index()];
    let names = &mut body.value_names;
    let (types, names) = order
        .iter()
        .map(|old| (body.value_types[old.index()], names[old.index()].take()))
        .unzip();
    let old_types = std::mem::replace(&mut body.value_types, types);
    body.value_names = names;
    rename_results(body, &of);
    visit_body_operands_mut(body, |operand| {
        if let Operand::Value(old) = *operand {
            // Input that breaks the rules of SSA may use what was defined in a removed block.
            *operand = of(old).map_or_else(
                || {
                    let undef = Constant::Undef(old_types[old.index()]);
                    Operand::Const(module.intern_constant(undef))
                },
                Operand::Value,
            );
        }
    });
    body.variables.retain_mut(|(value, _)| match of(*value) {
        Some(new) => {
            *value = new;
            true
        }
        None => false,
    });
}

fn rename_results(body: &mut Body, of: &dyn Fn(ValueId) -> Option<ValueId>) {
    for block in &mut body.blocks {
        for phi in &mut block.phis {
            phi.result = of(phi.result).unwrap_or(phi.result);
        }
        for inst in &mut block.insts {
            inst.result = inst.result.map(|old| of(old).unwrap_or(old));
        }
        if let Terminator::Invoke {
            result: Some(old), ..
        } = &mut block.terminator
        {
            *old = of(*old).unwrap_or(*old);
        }
    }
}
