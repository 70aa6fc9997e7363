//! Where an address goes inside of one function.

use super::ParamSummary;
use crate::constant::Constant;
use crate::ids::{FuncId, ValueId};
use crate::inst::{Body, Call, InstKind, Operand, Terminator};
use crate::module::Module;
use crate::passes::bitset::BitSet;
use crate::passes::intrinsics::{Intrinsic, called_function, classify};
use crate::passes::uses::Role;
use crate::types::Type;

/// The place of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    Phi(usize, usize),
    Inst(usize, usize),
    Terminator(usize),
}

/// A use of a value.
pub(super) type Use = (Site, Role);

/// Calls `visit` with every use in `body` and what is used.
pub(super) fn for_each_use(body: &Body, mut visit: impl FnMut(Use, Operand)) {
    for (at, block) in body.blocks.iter().enumerate() {
        for (index, phi) in block.phis.iter().enumerate() {
            for (_, operand) in &phi.incoming {
                visit((Site::Phi(at, index), Role::Flows), *operand);
            }
        }
        for (index, inst) in block.insts.iter().enumerate() {
            inst.kind.visit_operands(|role, operand| {
                visit((Site::Inst(at, index), role), *operand);
            });
        }
        block
            .terminator
            .visit_operands(|role, operand| visit((Site::Terminator(at), role), *operand));
    }
}

/// What happens to an argument in a call.
enum Passed {
    /// Nothing.
    Harmless,
    /// The result may carry it.
    Flows,
    /// It may be kept.
    Captured,
}

/// What a defined function is known to do with a parameter; `None` if its body is not to be looked at.
pub(super) type Summaries<'a> = &'a mut dyn FnMut(FuncId, usize) -> Option<ParamSummary>;

/// The uses of all values of a body.
pub(super) struct Flow<'a> {
    module: &'a Module,
    body: &'a Body,
    oracle: &'a dyn Fn(&str, usize) -> bool,
    uses: Vec<Vec<Use>>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        module: &'a Module,
        body: &'a Body,
        oracle: &'a dyn Fn(&str, usize) -> bool,
    ) -> Self {
        let mut uses = vec![Vec::new(); body.value_types.len()];
        for_each_use(body, |used, operand| {
            if let Operand::Value(value) = operand {
                uses[value.index()].push(used);
            }
        });
        Self {
            module,
            body,
            oracle,
            uses,
        }
    }

    pub(super) fn uses(&self, value: ValueId) -> &[Use] {
        &self.uses[value.index()]
    }

    /// Adds the defined functions that could get to see the address, however the summaries turn out.
    pub(super) fn discover(&self, seeds: &[Use], callees: &mut Vec<FuncId>) {
        self.follow(seeds, false, &mut |callee, _| {
            if !callees.contains(&callee) {
                callees.push(callee);
            }
            Some(ParamSummary {
                captured: false,
                returned: true,
            })
        });
    }

    /// Follows an address from its first uses on; and which values are computed from it, unless it is captured.
    pub(super) fn run(&self, seeds: &[Use], summaries: Summaries<'_>) -> (ParamSummary, BitSet) {
        self.follow(seeds, true, summaries)
    }

    /// `stop` at the first capture, when nothing else is asked for.
    fn follow(
        &self,
        seeds: &[Use],
        stop: bool,
        summaries: Summaries<'_>,
    ) -> (ParamSummary, BitSet) {
        let mut tainted = BitSet::new(self.uses.len());
        let mut pending: Vec<Use> = seeds.to_vec();
        let mut found = ParamSummary::default();
        while let Some((site, role)) = pending.pop() {
            let flows = match role {
                Role::Address | Role::Compared | Role::Control => false,
                Role::Flows => true,
                Role::Written | Role::Callee | Role::Other => {
                    found.captured = true;
                    false
                }
                Role::Returned => {
                    found.returned = true;
                    false
                }
                Role::Argument(index) => match self.passed(site, index, summaries) {
                    Passed::Harmless => false,
                    Passed::Flows => true,
                    Passed::Captured => {
                        found.captured = true;
                        false
                    }
                },
            };
            if stop && found.captured {
                return (ParamSummary::CAPTURED, tainted);
            }
            if let Some(result) = self.result(site).filter(|_| flows)
                && tainted.insert(result.index())
            {
                pending.extend_from_slice(self.uses(result));
            }
        }
        (found, tainted)
    }

    fn result(&self, site: Site) -> Option<ValueId> {
        match site {
            Site::Phi(at, index) => Some(self.body.blocks[at].phis[index].result),
            Site::Inst(at, index) => self.body.blocks[at].insts[index].result,
            Site::Terminator(at) => self.body.blocks[at].terminator.result(),
        }
    }

    fn call(&self, site: Site) -> Option<&Call> {
        match site {
            Site::Phi(..) => None,
            Site::Inst(at, index) => match &self.body.blocks[at].insts[index].kind {
                InstKind::Call(call) => Some(call),
                _ => None,
            },
            Site::Terminator(at) => match &self.body.blocks[at].terminator {
                Terminator::Invoke { call, .. } => Some(call),
                _ => None,
            },
        }
    }

    fn passed(&self, site: Site, index: usize, summaries: Summaries<'_>) -> Passed {
        let Some(call) = self.call(site) else {
            return Passed::Captured;
        };
        if call.byval.iter().any(|&(arg, _)| arg as usize == index) {
            return Passed::Harmless;
        }
        let Some(callee) = called_function(self.module, call.callee) else {
            return match self.assembly(call) {
                Some((text, constraints)) if is_only_accessed(text, constraints, index) => {
                    Passed::Harmless
                }
                _ => Passed::Captured,
            };
        };
        let function = self.module.function(callee);
        if let Some(passed) = self.passed_to_intrinsic(callee, index) {
            return passed;
        }
        let summary = (!function.is_declaration).then(|| summaries(callee, index));
        match summary.flatten() {
            Some(summary) if summary.captured => Passed::Captured,
            Some(summary) if summary.returned => Passed::Flows,
            Some(_) => Passed::Harmless,
            None if !(self.oracle)(&function.name, index) => Passed::Captured,
            None => match self.module.types.get(function.ty) {
                // Whoever says "not captured" may still mean a function that returns its argument, as `strcpy` does.
                Type::Function { ret, .. } if *self.module.types.get(*ret) == Type::Ptr => {
                    Passed::Flows
                }
                _ => Passed::Harmless,
            },
        }
    }

    /// The text and the constraints of inline assembly.
    fn assembly(&self, call: &Call) -> Option<(&str, &str)> {
        let Operand::Const(id) = call.callee else {
            return None;
        };
        match self.module.constant(id) {
            Constant::InlineAsm {
                text, constraints, ..
            } => Some((text, constraints)),
            _ => None,
        }
    }

    fn passed_to_intrinsic(&self, callee: FuncId, index: usize) -> Option<Passed> {
        let function = self.module.function(callee);
        let name = function.name.strip_prefix("llvm.")?;
        Some(match classify(&function.name) {
            Intrinsic::Debug | Intrinsic::Lifetime | Intrinsic::Copy => Passed::Harmless,
            // The byte that memory is filled with is written.
            Intrinsic::Fill if index == 1 => Passed::Captured,
            Intrinsic::Fill => Passed::Harmless,
            Intrinsic::Pure => Passed::Flows,
            Intrinsic::Other => {
                let harmless = ["va_start", "va_end", "va_copy", "assume", "prefetch"];
                let known = harmless.iter().any(|stem| name.starts_with(stem));
                let claimed = function.param_nocapture.get(index) == Some(&true);
                if !(known || claimed || (self.oracle)(&function.name, index)) {
                    Passed::Captured
                } else if known {
                    Passed::Harmless
                } else {
                    Passed::Flows
                }
            }
        })
    }
}

/// Does inline assembly only access memory at an argument, without keeping the address? So it is with operands in memory, and with registers that the text names
/// as addresses alone: `8($4)`. (What a text does that is not known is refused when it is reached.)
fn is_only_accessed(text: &str, constraints: &str, argument: usize) -> bool {
    let operands = constraints.split(',').filter(|it| !it.starts_with('~'));
    let mut arguments = operands
        .enumerate()
        .filter(|(_, it)| it.contains('*') || !it.starts_with('='));
    let Some((number, constraint)) = arguments.nth(argument) else {
        return false;
    };
    if constraint.contains('*') {
        return true;
    }
    // A register that is shared with a result, or is a certain one, is used without being named.
    if constraint.starts_with(|it: char| it.is_ascii_digit() || it == '{') {
        return false;
    }
    let name = format!("${number}");
    let mut uses = text.match_indices(&name).map(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + name.len()..].chars().next();
        before == Some('(') && behind == Some(')')
    });
    !text.contains("${") && text.contains(&name) && uses.all(|is_address| is_address)
}

#[cfg(test)]
mod tests {
    use super::is_only_accessed;

    #[test]
    fn assembly_that_only_accesses_memory_keeps_no_address() {
        let exchange = "movq 0($4), %rax;movq 8($4), %rdx;lock cmpxchg16b $0; setz $1";
        let constraints = "=*m,=q,{bx},{cx},q,*m,~{memory}";
        let kept = [0, 1, 2, 3, 4].map(|at| !is_only_accessed(exchange, constraints, at));
        // The place, two words to be stored, the address of those expected, and the place once more.
        assert_eq!(kept, [false, true, true, false, false]);
        assert!(!is_only_accessed("xchgq $0, $1", "=r,*m,0", 1));
        assert!(!is_only_accessed("movq $1, ($0)", "r,r", 1));
        assert!(is_only_accessed("movq $1, ($0)", "r,r", 0));
        assert!(!is_only_accessed("", "=r,0", 0));
        assert!(!is_only_accessed("movq $10, ($1)", "r,r", 1));
        assert!(!is_only_accessed("incl $0", "r", 7));
    }
}
