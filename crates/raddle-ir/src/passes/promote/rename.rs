//! Carries out a [`Plan`]: φ-nodes where definitions of a slot meet, and a walk of the dominator tree that replaces loads
//! by the definition that reaches them.
//!
//! Cytron, Ferrante, Rosen, Wegman, Zadeck: *Efficiently Computing Static Single Assignment Form and the Control
//! Dependence Graph* (TOPLAS 1991), with φ-nodes only where the slot is live (pruned form): a register that nobody reads
//! would keep states apart that are the same.

use super::casts::cast;
use super::names::Names;
use super::slots::{Action, Plan};
use crate::constant::Constant;
use crate::ids::{BlockId, TypeId, ValueId};
use crate::inst::{Body, Inst, InstKind, Operand, Phi};
use crate::module::Module;
use crate::passes::bitset::BitSet;
use crate::passes::cfg::Cfg;
use crate::passes::dominators::Dominators;
use crate::passes::uses::visit_body_operands_mut;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn rename(module: &mut Module, body: &mut Body, cfg: &Cfg, plan: Plan) {
    let dominators = Dominators::new(cfg);
    let placed = place_phis(&plan, cfg, &dominators);
    let names = Names::of_slots(&module.debug, body, &plan.slots);
    let undef = plan
        .slots
        .iter()
        .map(|slot| Operand::Const(module.intern_constant(Constant::Undef(slot.ty))))
        .collect();
    let mut renamer = Renamer {
        module,
        body,
        current: undef,
        log: Vec::new(),
        replaced: Replacements::default(),
        phis: Vec::new(),
        names,
        plan: &plan,
    };
    renamer.make_phis(&placed);
    renamer.walk(cfg, &dominators);
    let Renamer {
        replaced, names, ..
    } = renamer;
    names.write(body);
    replaced.apply(body);
}

/// Values that are no longer computed, each with what stands for it.
///
/// Invariant: no chain of replacements is a cycle, as a value is only ever mapped to the end of a chain, and never to
/// itself. Input that breaks SSA's dominance rule cannot break this.
#[derive(Debug, Default)]
pub(crate) struct Replacements {
    map: FxHashMap<ValueId, Operand>,
}

impl Replacements {
    pub(crate) fn resolve(&self, mut operand: Operand) -> Operand {
        while let Operand::Value(value) = operand {
            let Some(&next) = self.map.get(&value) else {
                break;
            };
            operand = next;
        }
        operand
    }

    /// Lets `operand` stand for `value`; false, and no change, if that would be circular.
    pub(crate) fn add(&mut self, value: ValueId, operand: Operand) -> bool {
        let operand = self.resolve(operand);
        if operand == Operand::Value(value) {
            return false;
        }
        self.map.insert(value, operand);
        true
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Replaces the operands, and moves the names of variables along.
    pub(crate) fn apply(&self, body: &mut Body) {
        visit_body_operands_mut(body, |operand| *operand = self.resolve(*operand));
        let mut seen = FxHashSet::default();
        body.variables.retain_mut(|(value, variable)| {
            let Operand::Value(now) = self.resolve(Operand::Value(*value)) else {
                return false;
            };
            *value = now;
            seen.insert((now, variable.name.clone(), variable.is_address))
        });
    }
}

/// Per block, the slots that need a φ-node there, ascending.
fn place_phis(plan: &Plan, cfg: &Cfg, dominators: &Dominators) -> Vec<Vec<usize>> {
    let blocks = cfg.block_count();
    let mut defined = vec![BitSet::new(blocks); plan.slots.len()];
    let mut live = vec![BitSet::new(blocks); plan.slots.len()];
    for (block, actions) in plan.actions.iter().enumerate() {
        for (_, action) in actions {
            let mut read = |slot: usize, defined: &[BitSet]| {
                if !defined[slot].contains(block) {
                    live[slot].insert(block);
                }
            };
            match action {
                Action::Load(slot) => read(*slot, &defined),
                Action::Store(slot) => {
                    defined[*slot].insert(block);
                }
                Action::Set { slots, .. } => {
                    for &(slot, _) in slots {
                        defined[slot].insert(block);
                    }
                }
                Action::Copy(moves) => {
                    for &(to, from) in moves {
                        read(from, &defined);
                        defined[to].insert(block);
                    }
                }
            }
        }
    }
    let frontiers = dominators.frontiers(cfg);
    let mut placed = vec![Vec::new(); blocks];
    for (slot, (defined, live)) in defined.iter().zip(&mut live).enumerate() {
        close_liveness(cfg, defined, live);
        let mut has_phi = BitSet::new(blocks);
        let mut pending: Vec<usize> = defined.iter().collect();
        while let Some(block) = pending.pop() {
            for &join in &frontiers[block] {
                if live.contains(join.index()) && has_phi.insert(join.index()) {
                    placed[join.index()].push(slot);
                    pending.push(join.index());
                }
            }
        }
    }
    placed
}

/// Extends the blocks that read a slot before writing it to all blocks at whose start it is live.
fn close_liveness(cfg: &Cfg, defined: &BitSet, live: &mut BitSet) {
    let mut pending: Vec<usize> = live.iter().collect();
    while let Some(block) = pending.pop() {
        for predecessor in cfg.predecessors(BlockId::from_index(block)) {
            let at = predecessor.index();
            if !defined.contains(at) && live.insert(at) {
                pending.push(at);
            }
        }
    }
}

struct Renamer<'a> {
    module: &'a mut Module,
    body: &'a mut Body,
    plan: &'a Plan,
    /// The definition of each slot that reaches the point of the walk.
    current: Vec<Operand>,
    /// What `current` held before, to return to when the walk leaves a subtree.
    log: Vec<(usize, Operand)>,
    replaced: Replacements,
    /// Per block, the new φ-nodes: slot and index in the block.
    phis: Vec<Vec<(usize, usize)>>,
    names: Names,
}

enum Step {
    Enter(BlockId),
    /// Back to this length of the log.
    Leave(usize),
}

impl Renamer<'_> {
    fn make_phis(&mut self, placed: &[Vec<usize>]) {
        self.phis = vec![Vec::new(); placed.len()];
        for (block, slots) in placed.iter().enumerate() {
            for &slot in slots {
                let ty = self.plan.slots[slot].ty;
                let result = self.body.new_value(ty);
                self.names.phi(self.body, slot, result);
                let phis = &mut self.body.blocks[block].phis;
                self.phis[block].push((slot, phis.len()));
                phis.push(Phi {
                    result,
                    ty,
                    incoming: Vec::new(),
                });
            }
        }
    }

    fn walk(&mut self, cfg: &Cfg, dominators: &Dominators) {
        let mut stack = vec![Step::Enter(BlockId(0))];
        while let Some(step) = stack.pop() {
            match step {
                Step::Enter(block) => {
                    stack.push(Step::Leave(self.log.len()));
                    self.enter(block, cfg);
                    stack.extend(
                        dominators
                            .children(block)
                            .iter()
                            .map(|&child| Step::Enter(child)),
                    );
                }
                Step::Leave(length) => {
                    while self.log.len() > length {
                        if let Some((slot, before)) = self.log.pop() {
                            self.current[slot] = before;
                        }
                    }
                }
            }
        }
    }

    fn define(&mut self, slot: usize, operand: Operand) {
        self.log.push((slot, self.current[slot]));
        self.current[slot] = operand;
    }

    fn enter(&mut self, block: BlockId, cfg: &Cfg) {
        for index in 0..self.phis[block.index()].len() {
            let (slot, phi) = self.phis[block.index()][index];
            let result = self.body.blocks[block.index()].phis[phi].result;
            self.define(slot, Operand::Value(result));
        }
        let plan = self.plan;
        let mut actions = plan.actions[block.index()].iter().peekable();
        if actions.peek().is_some() {
            let insts = std::mem::take(&mut self.body.blocks[block.index()].insts);
            let mut kept = Vec::with_capacity(insts.len());
            for (index, inst) in insts.into_iter().enumerate() {
                match actions.next_if(|(at, _)| *at == index) {
                    Some((_, action)) => self.perform(action, inst, &mut kept),
                    None => kept.push(inst),
                }
            }
            self.body.blocks[block.index()].insts = kept;
        }
        for successor in cfg.successors(block) {
            for &(slot, phi) in &self.phis[successor.index()] {
                let value = self.current[slot];
                self.body.blocks[successor.index()].phis[phi]
                    .incoming
                    .push((block, value));
            }
        }
    }

    fn perform(&mut self, action: &Action, inst: Inst, kept: &mut Vec<Inst>) {
        match action {
            Action::Load(slot) => {
                let (InstKind::Load { ty, .. }, Some(result)) = (&inst.kind, inst.result) else {
                    return kept.push(inst);
                };
                let value = self.read(*slot, *ty, &inst, kept);
                if !self.replaced.add(result, value) {
                    let undef = self.undef(*ty);
                    self.replaced.add(result, undef);
                }
            }
            Action::Store(slot) => {
                let InstKind::Store { ty, value, .. } = inst.kind else {
                    return kept.push(inst);
                };
                let value = self.replaced.resolve(value);
                self.write(*slot, value, ty, &inst, kept);
            }
            Action::Set { slots, remove } => {
                for &(slot, constant) in slots {
                    self.define(slot, Operand::Const(constant));
                }
                if !remove {
                    kept.push(inst);
                }
            }
            Action::Copy(moves) => {
                for &(to, from) in moves {
                    let ty = self.plan.slots[to].ty;
                    let value = self.read(from, ty, &inst, kept);
                    self.write(to, value, ty, &inst, kept);
                }
            }
        }
    }

    fn undef(&mut self, ty: TypeId) -> Operand {
        Operand::Const(self.module.intern_constant(Constant::Undef(ty)))
    }

    /// The slot's value as type `ty`.
    fn read(&mut self, slot: usize, ty: TypeId, inst: &Inst, kept: &mut Vec<Inst>) -> Operand {
        let value = self.replaced.resolve(self.current[slot]);
        let types = (self.plan.slots[slot].ty, ty);
        self.cast(value, types, inst, kept)
    }

    fn write(
        &mut self,
        slot: usize,
        value: Operand,
        ty: TypeId,
        inst: &Inst,
        kept: &mut Vec<Inst>,
    ) {
        self.names.stored(slot, value);
        let cast = self.cast(value, (ty, self.plan.slots[slot].ty), inst, kept);
        if cast != value {
            self.names.stored(slot, cast);
        }
        self.define(slot, cast);
    }

    fn cast(
        &mut self,
        value: Operand,
        types: (TypeId, TypeId),
        inst: &Inst,
        kept: &mut Vec<Inst>,
    ) -> Operand {
        if let Operand::Const(id) = value
            && matches!(
                self.module.constant(id),
                Constant::Undef(_) | Constant::Poison(_)
            )
        {
            // What is undefined in one type is undefined in the other; a cast would make a register of it.
            return self.undef(types.1);
        }
        cast(self.module, self.body, kept, inst.loc, value, types)
    }
}
