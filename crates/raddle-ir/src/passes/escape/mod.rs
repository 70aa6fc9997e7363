//! Escape analysis: which stack variables, and which thread-local ones, no other thread can ever see.
//!
//! An address is followed as a taint: a value computed from it in any way (offsets, casts, also to integers, φ, select,
//! aggregates) carries it on. It escapes where such a value is written to memory, passed to something that may keep it, or
//! leaves the function that owns the variable. It may be compared and branched on: no pointer can be made from outcomes.
//! What memory at the address is used for does not matter: atomics on a private variable are still private.
//!
//! Calls are looked into by a summary per parameter of the callee, solved bottom-up over the strongly connected components
//! of the call graph (Tarjan 1972) and by iteration inside of them, from "nothing escapes" up: an escape always has a
//! finite chain of calls that shows it, so the least fixpoint is sound.
//!
//! LLVM's `nocapture` does not help: it allows a callee to publish the address as long as it is withdrawn before the call
//! returns, and a thread started and joined by the callee sees it in between. It is believed for `llvm.*` only.

mod flow;
mod summaries;

pub use summaries::{Escapes, ParamSummary};

use crate::constant::{Constant, ConstantExpr};
use crate::ids::{ConstId, FuncId, GlobalId, ValueId};
use crate::inst::{Body, InstKind, Operand};
use crate::module::Module;
use crate::passes::BodyProvider;
use crate::passes::bitset::BitSet;
use flow::Flow;
use rustc_hash::FxHashMap;

/// What is private in one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EscapeInfo {
    /// Indices of the [`ValueId`]s of allocas, and of `byval` parameters (the callee's own copies), that no other thread
    /// can see.
    pub private: BitSet,
    /// For each of them the values that are computed from its address.
    pub derived: Vec<(ValueId, BitSet)>,
}

impl EscapeInfo {
    #[must_use]
    pub fn is_private(&self, alloca: ValueId) -> bool {
        self.private.contains(alloca.index())
    }
}

impl Escapes<'_> {
    /// The private stack variables of `function`; none if it has no body.
    pub fn analyse(
        &mut self,
        module: &mut Module,
        bodies: &mut dyn BodyProvider,
        function: FuncId,
    ) -> EscapeInfo {
        let Some(body) = bodies.body(module, function) else {
            return EscapeInfo::default();
        };
        let roots = stack_variables(module, function, body);
        let flow = Flow::new(module, body, self.oracle());
        let mut callees = Vec::new();
        for &root in &roots {
            flow.discover(flow.uses(root), &mut callees);
        }
        self.summarise_all(module, bodies, &callees);
        let Some(body) = bodies.body(module, function) else {
            return EscapeInfo::default();
        };
        let flow = Flow::new(module, body, self.oracle());
        let mut info = EscapeInfo {
            private: BitSet::new(body.value_types.len()),
            derived: Vec::new(),
        };
        for root in roots {
            let (found, derived) = flow.run(flow.uses(root), &mut |callee, index| {
                self.summary(callee, index)
            });
            if !found.captured && !found.returned {
                info.private.insert(root.index());
                info.derived.push((root, derived));
            }
        }
        info
    }

    /// The thread-local variables whose address stays with the thread in all of `functions` and what they pass it to, as
    /// indices of [`GlobalId`]s.
    ///
    /// Sound if `functions` are all functions that an execution may enter.
    pub fn private_thread_locals(
        &mut self,
        module: &mut Module,
        bodies: &mut dyn BodyProvider,
        functions: &[FuncId],
    ) -> BitSet {
        let mut private = BitSet::new(module.globals.len());
        for (index, global) in module.globals.iter().enumerate() {
            if global.thread_local {
                private.insert(index);
            }
        }
        let mut mentions = Mentions::default();
        for global in &module.globals {
            // Not valid for the linker either, but cheap to be sure of.
            for &other in global
                .initializer
                .map_or(&[][..], |c| mentions.of(module, c))
            {
                private.remove(other.index());
            }
        }
        for &function in functions {
            if private.is_empty() {
                break;
            }
            self.thread_locals_of(module, bodies, function, &mut mentions, &mut private);
        }
        private
    }

    /// Removes from `private` the thread-local variables that escape in `function`.
    fn thread_locals_of(
        &mut self,
        module: &mut Module,
        bodies: &mut dyn BodyProvider,
        function: FuncId,
        mentions: &mut Mentions,
        private: &mut BitSet,
    ) {
        let Some(body) = bodies.body(module, function) else {
            return;
        };
        let mut seeds: Vec<(GlobalId, Vec<flow::Use>)> = Vec::new();
        flow::for_each_use(body, |used, operand| {
            let Operand::Const(id) = operand else { return };
            for &global in mentions.of(module, id) {
                match seeds.iter_mut().find(|(known, _)| *known == global) {
                    Some((_, uses)) => uses.push(used),
                    None => seeds.push((global, vec![used])),
                }
            }
        });
        seeds.retain(|(global, _)| private.contains(global.index()));
        if seeds.is_empty() {
            return;
        }
        let flow = Flow::new(module, body, self.oracle());
        let mut callees = Vec::new();
        for (_, uses) in &seeds {
            flow.discover(uses, &mut callees);
        }
        self.summarise_all(module, bodies, &callees);
        let Some(body) = bodies.body(module, function) else {
            return;
        };
        let flow = Flow::new(module, body, self.oracle());
        for (global, uses) in &seeds {
            let (found, _) = flow.run(uses, &mut |callee, index| self.summary(callee, index));
            if found.captured || found.returned {
                private.remove(global.index());
            }
        }
    }
}

/// Allocas and `byval` parameters.
fn stack_variables(module: &Module, function: FuncId, body: &Body) -> Vec<ValueId> {
    let mut roots = Vec::new();
    for (index, byval) in module.function(function).param_byval.iter().enumerate() {
        if byval.is_some() && index < body.param_count as usize {
            roots.push(ValueId::from_index(index));
        }
    }
    for inst in body.blocks.iter().flat_map(|block| &block.insts) {
        if let (InstKind::Alloca { .. }, Some(result)) = (&inst.kind, inst.result) {
            roots.push(result);
        }
    }
    roots
}

/// Which thread-local variables constants mention, computed once a constant.
#[derive(Default)]
struct Mentions {
    known: FxHashMap<ConstId, Vec<GlobalId>>,
}

impl Mentions {
    fn of(&mut self, module: &Module, id: ConstId) -> &[GlobalId] {
        self.known
            .entry(id)
            .or_insert_with(|| mentioned(module, id))
    }
}

fn mentioned(module: &Module, id: ConstId) -> Vec<GlobalId> {
    let mut found = Vec::new();
    let mut pending = vec![id];
    while let Some(id) = pending.pop() {
        match module.constant(id) {
            Constant::Global(global)
                if module.global(*global).thread_local && !found.contains(global) =>
            {
                found.push(*global);
            }
            Constant::Aggregate(_, elements) => pending.extend_from_slice(elements),
            Constant::Expr(_, expr) => match expr {
                ConstantExpr::Gep { base, indices, .. } => {
                    pending.push(*base);
                    pending.extend_from_slice(indices);
                }
                ConstantExpr::Cast { value, .. } => pending.push(*value),
                ConstantExpr::Binary { lhs, rhs, .. }
                | ConstantExpr::ICmp { lhs, rhs, .. }
                | ConstantExpr::FCmp { lhs, rhs, .. } => pending.extend([*lhs, *rhs]),
                ConstantExpr::Select {
                    condition,
                    then,
                    otherwise,
                } => pending.extend([*condition, *then, *otherwise]),
            },
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
