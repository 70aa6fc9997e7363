//! Registers that only count the iterations of a loop, to end it by an assumption: `__VERIFIER_assume(i < N)`.
//!
//! If an iteration is taken out of an execution, such a register is one iteration behind in all later iterations. That is no different
//! execution if nobody finds out: the register decides nothing but assumptions that each complete iteration makes, and these held with
//! the value of one iteration before as well, in that iteration.

use raddle_ir::inst::{Call, Inst, InstKind};
use raddle_ir::passes::{BitSet, Dominators, Loop};
use raddle_ir::{BlockId, Body, Operand, ValueId};

/// The φs of a loop's header that only count. `is_assumption` recognises calls.
pub(crate) fn counters(
    body: &Body,
    dominators: &Dominators,
    natural: &Loop,
    is_assumption: &dyn Fn(&Call) -> bool,
) -> Vec<ValueId> {
    let header = &body.blocks[natural.header.index()];
    let phis = header.phis.iter().map(|phi| phi.result);
    let in_every_round = |block: BlockId| {
        let mut latches = natural.latches.iter();
        latches.all(|&latch| dominators.dominates(block, latch))
    };
    phis.filter(|&phi| {
        let counting = Counting {
            body,
            phi,
            in_every_round: &in_every_round,
            is_assumption,
        };
        counting.decides_assumptions_only()
    })
    .collect()
}

struct Counting<'a> {
    body: &'a Body,
    phi: ValueId,
    in_every_round: &'a dyn Fn(BlockId) -> bool,
    is_assumption: &'a dyn Fn(&Call) -> bool,
}

impl Counting<'_> {
    fn decides_assumptions_only(&self) -> bool {
        // Registers that are computed from the counter and constants.
        let mut derived = BitSet::new(self.body.value_types.len());
        derived.insert(self.phi.index());
        loop {
            let mut grew = false;
            for block in &self.body.blocks {
                for inst in &block.insts {
                    if let Some(result) = inst.result
                        && self.is_derived(inst, &derived)
                    {
                        grew |= derived.insert(result.index());
                    }
                }
            }
            if !grew {
                break;
            }
        }
        self.is_used_for_nothing_else(&derived)
    }

    fn is_derived(&self, inst: &Inst, derived: &BitSet) -> bool {
        let computes = matches!(
            inst.kind,
            InstKind::Binary { .. }
                | InstKind::ICmp { .. }
                | InstKind::Cast { .. }
                | InstKind::Freeze { .. }
        );
        let (mut any, mut all) = (false, true);
        inst.kind.visit_operands(|_, operand| match *operand {
            Operand::Value(value) => {
                let is_one = derived.contains(value.index());
                any |= is_one;
                all &= is_one;
            }
            Operand::Const(_) => {}
        });
        computes && any && all
    }

    fn is_used_for_nothing_else(&self, derived: &BitSet) -> bool {
        let is_derived = |operand: &Operand| {
            let value = operand.value();
            value.is_some_and(|value| derived.contains(value.index()))
        };
        let blocks = self.body.blocks.iter().enumerate();
        for (at, block) in blocks {
            let others = block.phis.iter().filter(|phi| phi.result != self.phi);
            let mut incoming = others.flat_map(|phi| &phi.incoming);
            if incoming.any(|(_, operand)| is_derived(operand)) {
                return false;
            }
            for inst in &block.insts {
                let mut uses = false;
                inst.kind
                    .visit_operands(|_, operand| uses |= is_derived(operand));
                let is_fine = match &inst.kind {
                    InstKind::Call(call) => {
                        (self.is_assumption)(call) && (self.in_every_round)(BlockId::from_index(at))
                    }
                    _ => self.is_derived(inst, derived),
                };
                if uses && !is_fine {
                    return false;
                }
            }
            let mut uses = false;
            let terminator = &block.terminator;
            terminator.visit_operands(|_, operand| uses |= is_derived(operand));
            if uses {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_ir::passes::{Cfg, Loops, prepare};
    use raddle_ir::{Constant, parse_module};

    /// How many φs of the only loop of `f` count.
    fn count(iteration: &str) -> usize {
        let text = format!(
            "@x = global i32 0, align 4
declare void @assume(i32)
declare void @observe(i32)
define void @f() {{
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %end ]
  %v = load atomic i32, ptr @x seq_cst, align 4
  %done = icmp eq i32 %v, 1
  br i1 %done, label %out, label %iteration
iteration:
{iteration}
end:
  %next = add nsw i32 %i, 1
  br label %loop
out:
  ret void
}}"
        );
        let mut module = parse_module(text, "t.ll").expect("valid");
        let id = module.function_named("f").expect("defined");
        let body = module.parse_body(id).expect("valid");
        let body = prepare(&mut module, body);
        let cfg = Cfg::new(&body);
        let dominators = Dominators::new(&cfg);
        let loops = Loops::new(&cfg, &dominators);
        let is_assumption = |call: &Call| {
            matches!(call.callee, Operand::Const(id) if matches!(module.constant(id),
                Constant::Function(id) if &*module.function(*id).name == "assume"))
        };
        let (_, natural) = loops.iter().next().expect("a loop");
        counters(&body, &dominators, natural, &is_assumption).len()
    }

    const TEST: &str = "  %few = icmp slt i32 %i, 5
  %wide = zext i1 %few to i32";

    #[test]
    fn a_counter_for_an_assumption_of_every_round() {
        let iteration = format!("{TEST}\n  call void @assume(i32 %wide)\n  br label %end");
        assert_eq!(count(&iteration), 1);
    }

    #[test]
    fn not_if_only_some_rounds_make_the_assumption() {
        let iteration = format!(
            "{TEST}\n  %odd = icmp eq i32 %v, 7\n  br i1 %odd, label %test, label %end
test:\n  call void @assume(i32 %wide)\n  br label %end"
        );
        assert_eq!(count(&iteration), 0);
    }

    #[test]
    fn not_if_it_decides_where_to_go() {
        let iteration =
            format!("{TEST}\n  call void @assume(i32 %wide)\n  br i1 %few, label %end, label %out");
        assert_eq!(count(&iteration), 0);
    }

    #[test]
    fn not_if_somebody_sees_it() {
        let iteration = format!(
            "{TEST}\n  call void @assume(i32 %wide)\n  call void @observe(i32 %i)\n  br label %end"
        );
        assert_eq!(count(&iteration), 0);
        let iteration = format!(
            "{TEST}\n  call void @assume(i32 %wide)
  store atomic i32 %i, ptr @x seq_cst, align 4\n  br label %end"
        );
        assert_eq!(count(&iteration), 0);
    }
}
