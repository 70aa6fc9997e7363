//! Variables that are accessed by atomic operations only. No access to them can be in a data race.

use crate::constant::{Constant, ConstantExpr};
use crate::ids::{ConstId, FuncId, GlobalId};
use crate::inst::{Body, Inst, InstKind, Operand};
use crate::module::Module;
use crate::passes::bitset::BitSet;
use crate::passes::cfg::Cfg;
use crate::passes::dominators::Dominators;
use crate::passes::loops::Loops;
use crate::passes::uses::Role;

/// The variables of a module that are accessed by atomic operations only, wherever that is.
#[derive(Clone, Debug)]
pub struct AtomicGlobals {
    /// Variables with another use, be it that their address is known to somebody. None if nothing is known.
    others: Option<BitSet>,
}

/// Variables with another use, while they are looked for.
struct Others(BitSet);

impl AtomicGlobals {
    /// Reads all bodies of the module.
    pub fn of(module: &mut Module) -> Self {
        let mut found = Others(BitSet::new(module.globals.len()));
        let initializers = module
            .globals
            .iter()
            .filter_map(|global| global.initializer);
        for initializer in initializers.collect::<Vec<_>>() {
            found.mention(module, initializer);
        }
        for id in (0..module.functions.len()).map(FuncId::from_index) {
            if module.function(id).is_declaration {
                continue;
            }
            match module.parse_body(id) {
                Ok(body) => found.body(module, &body),
                Err(_) => return Self::NONE,
            }
        }
        Self {
            others: Some(found.0),
        }
    }

    /// Nothing is known.
    pub const NONE: Self = Self { others: None };

    #[must_use]
    pub fn contains(&self, global: GlobalId) -> bool {
        let others = self.others.as_ref();
        others.is_some_and(|others| !others.contains(global.index()))
    }
}

impl Others {
    fn body(&mut self, module: &Module, body: &Body) {
        // By register: the variable that it is an address in. Registers are defined before they are used but for φs, which count
        // as other uses.
        let mut inside: Vec<Option<GlobalId>> = vec![None; body.value_types.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for inst in body.blocks.iter().flat_map(|block| &block.insts) {
                if let (InstKind::Gep { base, .. }, Some(result)) = (&inst.kind, inst.result)
                    && inside[result.index()].is_none()
                    && let Some(global) = place(module, &inside, *base)
                {
                    inside[result.index()] = Some(global);
                    changed = true;
                }
            }
        }
        for block in &body.blocks {
            for phi in &block.phis {
                for &(_, operand) in &phi.incoming {
                    self.other_use(module, &inside, operand);
                }
            }
            for inst in &block.insts {
                self.inst(module, &inside, inst);
            }
            let terminator = &block.terminator;
            terminator.visit_operands(|_, operand| self.other_use(module, &inside, *operand));
        }
    }

    fn inst(&mut self, module: &Module, inside: &[Option<GlobalId>], inst: &Inst) {
        let is_atomic = is_atomic_access(&inst.kind);
        let base = match &inst.kind {
            InstKind::Gep { base, .. } => Some(*base),
            _ => None,
        };
        inst.kind.visit_operands(|role, operand| {
            let is_address = is_atomic && role == Role::Address || base == Some(*operand);
            if !(is_address && place(module, inside, *operand).is_some()) {
                self.other_use(module, inside, *operand);
            }
        });
    }

    fn other_use(&mut self, module: &Module, inside: &[Option<GlobalId>], operand: Operand) {
        match operand {
            Operand::Const(id) => self.mention(module, id),
            Operand::Value(value) => {
                if let Some(global) = inside[value.index()] {
                    self.0.insert(global.index());
                }
            }
        }
    }

    /// A constant is used in a way about which nothing is known.
    fn mention(&mut self, module: &Module, id: ConstId) {
        let parts: Vec<ConstId> = match module.constant(id) {
            Constant::Global(global) => {
                self.0.insert(global.index());
                return;
            }
            Constant::Aggregate(_, parts) => parts.to_vec(),
            Constant::Expr(_, expr) => match expr {
                ConstantExpr::Gep { base, indices, .. } => {
                    let mut parts = indices.to_vec();
                    parts.push(*base);
                    parts
                }
                ConstantExpr::Cast { value, .. } => vec![*value],
                ConstantExpr::Binary { lhs, rhs, .. }
                | ConstantExpr::ICmp { lhs, rhs, .. }
                | ConstantExpr::FCmp { lhs, rhs, .. } => vec![*lhs, *rhs],
                ConstantExpr::Select {
                    condition,
                    then,
                    otherwise,
                } => vec![*condition, *then, *otherwise],
            },
            _ => return,
        };
        for part in parts {
            self.mention(module, part);
        }
    }
}

/// Does a body have loops, and atomic accesses to variables? Otherwise it does not matter what is known of these.
pub fn may_matter(body: &Body) -> bool {
    let is_constant = |operand: &Operand| matches!(operand, Operand::Const(_));
    let at_variable = |inst: &Inst| match &inst.kind {
        InstKind::Gep { base, .. } => is_constant(base),
        kind => {
            let mut found = false;
            kind.visit_operands(|role, operand| {
                found |= role == Role::Address && is_constant(operand);
            });
            found && is_atomic_access(kind)
        }
    };
    let mut insts = body.blocks.iter().flat_map(|block| &block.insts);
    insts.any(at_variable) && {
        let cfg = Cfg::new(body);
        !Loops::new(&cfg, &Dominators::new(&cfg)).is_empty()
    }
}

fn is_atomic_access(kind: &InstKind) -> bool {
    match kind {
        InstKind::Load { atomic, .. } | InstKind::Store { atomic, .. } => atomic.is_some(),
        InstKind::CmpXchg { .. } | InstKind::AtomicRmw { .. } => true,
        _ => false,
    }
}

/// The variable that an operand is an address in.
fn place(module: &Module, inside: &[Option<GlobalId>], operand: Operand) -> Option<GlobalId> {
    let mut id = match operand {
        Operand::Value(value) => return inside[value.index()],
        Operand::Const(id) => id,
    };
    loop {
        match module.constant(id) {
            Constant::Global(global) => return Some(*global),
            Constant::Expr(_, ConstantExpr::Gep { base, .. }) => id = *base,
            _ => return None,
        }
    }
}
