//! Counters of rounds of loops that only wait.
//!
//! A loop that counts its rounds to decide how long to pause never comes back to a state. `docs/purity.md` says why nothing is lost by what is done here.

use super::cfg::{self, Cfg};
use super::cleanup;
use crate::Constant;
use crate::ids::{BlockId, ValueId};
use crate::inst::{BinaryOp, Block, Body, Call, Inst, InstKind, IntPredicate, Operand, Terminator};
use crate::module::Module;
use crate::passes::intrinsics::called_function;

/// Does a call do nothing but let time pass?
pub type IsPause<'a> = &'a dyn Fn(&Module, &Call) -> bool;

/// Pauses do not panic: makes calls of them that say where to go if they do, as Rust has them, plain calls.
pub fn forget_unwinding_pauses(module: &Module, body: &mut Body, is_pause: IsPause<'_>) {
    let mut changed = false;
    for block in &mut body.blocks {
        if let Terminator::Invoke {
            result: None,
            call,
            normal,
            ..
        } = &block.terminator
            && is_pause(module, call)
        {
            let (kind, target) = (InstKind::Call(call.clone()), *normal);
            block.insts.push(Inst {
                result: None,
                kind,
                loc: block.terminator_loc,
            });
            block.terminator = Terminator::Br { target };
            changed = true;
        }
    }
    if changed {
        cfg::remove_unreachable(body);
    }
}

pub(super) fn constant(module: &Module, operand: Operand) -> Option<u128> {
    match operand {
        Operand::Const(id) => match module.constant(id) {
            Constant::Int(_, value) => Some(*value),
            _ => None,
        },
        Operand::Value(_) => None,
    }
}

pub(super) fn defined_by(block: &Block, value: ValueId) -> Option<&Inst> {
    block.insts.iter().find(|inst| inst.result == Some(value))
}

/// How much `next` is more than `counter`.
pub(super) fn step_of(
    module: &Module,
    block: &Block,
    next: ValueId,
    counter: ValueId,
) -> Option<u128> {
    match defined_by(block, next)?.kind {
        InstKind::Binary {
            op: BinaryOp::Add,
            lhs,
            rhs,
            ..
        } if lhs == Operand::Value(counter) => constant(module, rhs),
        InstKind::Binary {
            op: BinaryOp::Sub,
            lhs,
            rhs,
            ..
        } if lhs == Operand::Value(counter) => constant(module, rhs).map(u128::wrapping_neg),
        _ => None,
    }
}

/// Takes out branches that decide only about pausing, and counters that nothing else asks for. `is_panic` knows functions that
/// do not return: that such a counter overflows some day is left out, too.
pub fn forget_delays(
    module: &mut Module,
    body: &mut Body,
    is_pause: IsPause<'_>,
    is_panic: &dyn Fn(&str) -> bool,
) {
    // A counter is handed on from one round to the next.
    if body.blocks.iter().all(|block| block.phis.is_empty()) {
        return;
    }
    let cfg = Cfg::new(body);
    let mut changed = false;
    for index in 0..body.blocks.len() {
        if let Terminator::CondBr {
            condition,
            then,
            otherwise,
        } = body.blocks[index].terminator
        {
            let from = BlockId::from_index(index);
            let ways = (from, then, otherwise);
            let target = if only_pauses(module, body, &cfg, ways, is_pause) {
                Some(then)
            } else if is_never(module, &body.blocks[index], condition) {
                Some(otherwise)
            } else {
                unused_count(module, body, from, is_panic)
            };
            if let Some(target) = target {
                body.blocks[index].terminator = Terminator::Br { target };
                changed = true;
            }
        }
    }
    if changed {
        cfg::remove_unreachable(body);
        while cleanup::remove_trivial_phis(module, body) || cleanup::remove_dead(module, body) {}
        cleanup::compact_values(module, body);
    }
}

/// Is it `false and …`? So rustc asks whether a remainder by a constant overflows.
fn is_never(module: &Module, block: &Block, condition: Operand) -> bool {
    let defined = condition.value().and_then(|it| defined_by(block, it));
    match defined.map(|inst| &inst.kind) {
        Some(&InstKind::Binary {
            op: BinaryOp::And,
            lhs,
            rhs,
            ..
        }) => [lhs, rhs].iter().any(|&it| constant(module, it) == Some(0)),
        _ => false,
    }
}

/// Do both ways lead to the same block with nothing but pauses in between?
fn only_pauses(
    module: &Module,
    body: &Body,
    cfg: &Cfg,
    (from, then, otherwise): (BlockId, BlockId, BlockId),
    is_pause: IsPause<'_>,
) -> bool {
    let (one, other) = (
        after_pauses(module, body, cfg, (from, then), is_pause),
        after_pauses(module, body, cfg, (from, otherwise), is_pause),
    );
    let pauses = then != otherwise && (one.0 != from || other.0 != from);
    pauses && one.1 == other.1 && {
        let join = &body.blocks[one.1.index()];
        join.phis.iter().all(|phi| {
            let incoming = |from: BlockId| phi.incoming.iter().find(|(it, _)| *it == from);
            incoming(one.0).map(|it| it.1) == incoming(other.0).map(|it| it.1)
        })
    }
}

/// Follows blocks that only pause: the last of them, and the first block behind.
fn after_pauses(
    module: &Module,
    body: &Body,
    cfg: &Cfg,
    (mut from, mut at): (BlockId, BlockId),
    is_pause: IsPause<'_>,
) -> (BlockId, BlockId) {
    const MOST: usize = 16;
    for _ in 0..MOST {
        let block = &body.blocks[at.index()];
        let pauses = |inst: &Inst| match &inst.kind {
            InstKind::Call(call) => inst.result.is_none() && is_pause(module, call),
            _ => false,
        };
        let has_one_way_in = cfg.predecessors(at).len() == 1;
        match block.terminator {
            Terminator::Br { target }
                if has_one_way_in && block.phis.is_empty() && block.insts.iter().all(pauses) =>
            {
                (from, at) = (at, target);
            }
            _ => break,
        }
    }
    (from, at)
}

/// Where the block goes on if it adds to a counter that is for nothing but the test for overflow here.
fn unused_count(
    module: &Module,
    body: &Body,
    id: BlockId,
    is_panic: &dyn Fn(&str) -> bool,
) -> Option<BlockId> {
    let block = &body.blocks[id.index()];
    let Terminator::CondBr {
        condition,
        then,
        otherwise,
    } = block.terminator
    else {
        return None;
    };
    let Addition { counter, parts } = overflow_test(module, block, condition.value()?)?;
    let panics = panics(module, &body.blocks[then.index()], is_panic);
    (panics && is_for_itself(body, counter, parts)).then_some(otherwise)
}

/// One more than a counter, and whether that is too much.
struct Addition {
    counter: ValueId,
    parts: Vec<ValueId>,
}

/// The addition whose overflow a value tells: `llvm.sadd.with.overflow` and its kin, or, of unsigned numbers, that the sum is less than
/// the counter.
fn overflow_test(module: &Module, block: &Block, told: ValueId) -> Option<Addition> {
    match defined_by(block, told)?.kind {
        InstKind::ExtractValue { aggregate, .. } => {
            let sum = aggregate.value()?;
            let InstKind::Call(call) = &defined_by(block, sum)?.kind else {
                return None;
            };
            let name = &module.function(called_function(module, call.callee)?).name;
            let adds = name.starts_with("llvm.sadd.with.overflow")
                || name.starts_with("llvm.uadd.with.overflow");
            let is_one = constant(module, *call.args.get(1)?) == Some(1);
            (adds && is_one).then_some(Addition {
                counter: call.args.first()?.value()?,
                parts: vec![sum],
            })
        }
        InstKind::ICmp {
            predicate: IntPredicate::Ult,
            lhs,
            rhs,
            ..
        } => {
            let (sum, counter) = (lhs.value()?, rhs.value()?);
            (step_of(module, block, sum, counter) == Some(1)).then_some(Addition {
                counter,
                parts: vec![sum, told],
            })
        }
        _ => None,
    }
}

/// Does a block panic, and do nothing else?
fn panics(module: &Module, block: &Block, is_panic: &dyn Fn(&str) -> bool) -> bool {
    let is_panicking = |call: &Call| {
        called_function(module, call.callee).is_some_and(|id| is_panic(&module.function(id).name))
    };
    let only_panics = (block.insts.iter())
        .all(|inst| matches!(&inst.kind, InstKind::Call(call) if is_panicking(call)));
    only_panics
        && match &block.terminator {
            Terminator::Unreachable => true,
            Terminator::Invoke { call, .. } => is_panicking(call),
            _ => false,
        }
}

/// Is the counter used for nothing but the next number, from one round of a loop to the next?
fn is_for_itself(body: &Body, counter: ValueId, mut parts: Vec<ValueId>) -> bool {
    let sum = parts[0];
    let mut same = vec![counter];
    // What the numbers are handed on by.
    let mut done = false;
    while !done {
        done = true;
        for block in &body.blocks {
            for phi in &block.phis {
                let takes = phi.incoming.iter().any(|(_, operand)| {
                    operand
                        .value()
                        .is_some_and(|it| same.contains(&it) || parts.contains(&it))
                });
                if takes && !same.contains(&phi.result) {
                    same.push(phi.result);
                    done = false;
                }
            }
            for inst in &block.insts {
                if let (InstKind::ExtractValue { aggregate, .. }, Some(result)) =
                    (&inst.kind, inst.result)
                    && *aggregate == Operand::Value(sum)
                    && !parts.contains(&result)
                {
                    parts.push(result);
                    done = false;
                }
            }
        }
    }
    let is_ours = |operand: &Operand| {
        operand
            .value()
            .is_some_and(|it| same.contains(&it) || parts.contains(&it))
    };
    let mut branches = 0;
    for block in &body.blocks {
        for inst in &block.insts {
            let mut used = false;
            inst.kind
                .visit_operands(|_, operand| used |= is_ours(operand));
            let is_own = inst.result.is_some_and(|it| parts.contains(&it));
            if used && !is_own {
                return false;
            }
        }
        let mut used = false;
        block
            .terminator
            .visit_operands(|_, operand| used |= is_ours(operand));
        branches += u32::from(used);
    }
    let comes_back = same.len() > 1
        || body
            .blocks
            .iter()
            .flat_map(|block| &block.phis)
            .any(|phi| phi.result == counter);
    branches == 1 && comes_back
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_module;
    use crate::passes::print::print_body;

    fn after(text: &str, f: impl Fn(&mut Module, &mut Body)) -> String {
        let mut module = parse_module(text, "test").expect("a module");
        let function = module.function_named("f").expect("a function");
        let body = module.parse_body(function).expect("a body");
        let mut body = crate::passes::prepare(&mut module, body);
        f(&mut module, &mut body);
        print_body(&module, &body)
    }

    fn is_pause(module: &Module, call: &Call) -> bool {
        called_function(module, call.callee).is_some_and(|id| &*module.function(id).name == "pause")
    }

    const DELAY: &str = "
declare void @pause()
declare void @panic()
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
define void @f(ptr %x) {
  br label %head
head:
  %n = phi i32 [ 0, %0 ], [ %m, %back ]
  %v = load atomic i32, ptr %x monotonic, align 4
  %free = icmp eq i32 %v, 0
  br i1 %free, label %out, label %busy
busy:
  %sum = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %n, i32 1)
  %m = extractvalue { i32, i1 } %sum, 0
  %o = extractvalue { i32, i1 } %sum, 1
  br i1 %o, label %over, label %fine
fine:
  %long = icmp sgt i32 %m, 10
  br i1 %long, label %sleepy, label %short
sleepy:
  call void @pause()
  br label %back
short:
  br label %back
back:
  br label %head
over:
  call void @panic()
  unreachable
out:
  ret void
}
";

    #[test]
    fn counters_that_only_delay_are_forgotten() {
        let forget = |module: &mut Module, body: &mut Body| {
            forget_delays(module, body, &is_pause, &|name| name == "panic");
            forget_delays(module, body, &is_pause, &|name| name == "panic");
        };
        let text = after(DELAY, forget);
        assert!(!text.contains("phi"), "{text}");
        let stores = DELAY.replace("call void @pause()", "store i32 %m, ptr %x");
        assert!(after(&stores, forget).contains("phi"));
        let returns = DELAY.replace("br i1 %long, label %sleepy", "br i1 %long, label %out");
        assert!(after(&returns, forget).contains("phi"));
    }

    #[test]
    fn remainders_of_counters_are_forgotten() {
        let forget = |module: &mut Module, body: &mut Body| {
            forget_delays(module, body, &is_pause, &|name| name == "panic");
            forget_delays(module, body, &is_pause, &|name| name == "panic");
        };
        let program = DELAY.replace(
            "  %long = icmp sgt i32 %m, 10\n",
            "  %least = icmp eq i32 %m, -2147483648\n  %both = and i1 false, %least\n  \
             br i1 %both, label %over, label %rest\nrest:\n  \
             %r = srem i32 %m, 8\n  %long = icmp eq i32 %r, 0\n",
        );
        let text = after(&program, forget);
        assert!(!text.contains("phi"), "{text}");
        let maybe = program.replace("and i1 false", "and i1 true");
        assert!(after(&maybe, forget).contains("phi"));
    }

    /// As rustc has it where something is to be dropped if a call panics, and where numbers are unsigned.
    fn with_unwinding() -> String {
        DELAY
            .replace(
                "  %sum = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %n, i32 1)\n  \
                 %m = extractvalue { i32, i1 } %sum, 0\n  %o = extractvalue { i32, i1 } %sum, 1\n",
                "  %m = add i32 %n, 1\n  %o = icmp ult i32 %m, %n\n",
            )
            .replace(
                "call void @pause()\n  br label %back",
                "invoke void @pause() to label %back unwind label %pad",
            )
            .replace(
                "call void @panic()\n  unreachable",
                "invoke void @panic() to label %never unwind label %pad\nnever:\n  unreachable",
            )
            .replace("@f(ptr %x)", "@f(ptr %x) personality ptr @pause")
            .replace(
                "  ret void\n",
                "  ret void\npad:\n  %p = landingpad { ptr, i32 } cleanup\n  resume { ptr, i32 } %p\n",
            )
    }

    #[test]
    fn counters_that_only_delay_are_forgotten_where_calls_may_unwind() {
        let forget = |module: &mut Module, body: &mut Body| {
            forget_unwinding_pauses(module, body, &is_pause);
            forget_delays(module, body, &is_pause, &|name| name == "panic");
            forget_delays(module, body, &is_pause, &|name| name == "panic");
        };
        let program = with_unwinding();
        let text = after(&program, forget);
        assert!(!text.contains("phi") && !text.contains("invoke"), "{text}");
        // Another function may panic, and another test is none for overflow.
        let other = program.replace("invoke void @pause()", "invoke void @panic()");
        assert!(after(&other, forget).contains("phi"));
        let less = program.replace("icmp ult i32 %m, %n", "icmp ugt i32 %m, 100");
        assert!(after(&less, forget).contains("phi"));
        let by_two = program.replace("add i32 %n, 1", "add i32 %n, 2");
        assert!(after(&by_two, forget).contains("phi"));
    }
}
