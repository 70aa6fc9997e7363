//! Loops that look at memory for a bounded number of times.
//!
//! A lock that looks a hundred times before it sleeps has a hundred states where one would do: whatever a later look would find, the first one
//! finds if the thread is slow; and a thread that is fast finds the same each time. Such loops end after their first round here.
//! `docs/purity.md` says why nothing is lost, and nothing is made up.

use super::cfg::Cfg;
use super::cleanup;
use super::counters::{IsPause, constant, defined_by, step_of};
use super::dominators::Dominators;
use super::loops::{Loop, Loops};
use crate::Constant;
use crate::ids::{BlockId, ConstId, TypeId, ValueId};
use crate::inst::{BinaryOp, Block, Body, Call, Inst, InstKind, IntPredicate, Operand, Phi};
use crate::inst::{SyncScope, Terminator};
use crate::module::Module;
use crate::types::Type;

/// How often a call looks at memory at most, if that and computing is all that it does, and it returns.
pub type LooksOf<'a> = &'a mut dyn FnMut(&mut Module, &Call) -> Option<u32>;

/// Ends loops after their first round that do nothing but look at memory, once in each round and for a bounded number of times.
pub fn collapse_counted_spins(
    module: &mut Module,
    body: &mut Body,
    is_pause: IsPause<'_>,
    looks_of: LooksOf<'_>,
) {
    let is_counter = |block: &Block| !block.phis.is_empty();
    if !body.blocks.iter().any(is_counter) {
        return;
    }
    let cfg = Cfg::new(body);
    let dominators = Dominators::new(&cfg);
    let loops = Loops::new(&cfg, &dominators);
    let mut found = Vec::new();
    for (_, natural) in loops.iter() {
        let candidate = Candidate {
            body,
            cfg: &cfg,
            natural,
        };
        let Some(spin) = candidate.counted_spin(module, &dominators) else {
            continue;
        };
        let place = candidate.place_of_looks(module, spin.tested_in, is_pause, looks_of);
        let is_known = match place {
            Some(Place::Before) => !spin.is_asked_for_later,
            Some(Place::Behind) => spin.last.is_some(),
            None => false,
        };
        if is_known {
            found.push((spin, place));
        }
    }
    let changed = !found.is_empty();
    for (spin, place) in found {
        match (place, spin.last) {
            (Some(Place::Behind), Some(last)) => jump_to_last(module, body, &spin, last),
            _ => end_at_once(module, body, &spin),
        }
    }
    if changed {
        cleanup::remove_dead(module, body);
        cleanup::compact_values(module, body);
    }
}

/// How often a function looks at memory at most, if it does nothing but look and compute, and has no loops.
pub fn looks_of_body(
    module: &mut Module,
    body: &Body,
    is_pause: IsPause<'_>,
    looks_of: LooksOf<'_>,
) -> Option<u32> {
    let cfg = Cfg::new(body);
    let mut most: Vec<u32> = vec![0; body.blocks.len()];
    let mut all = 0;
    for &id in cfg.reverse_postorder() {
        let block = &body.blocks[id.index()];
        // Whoever gets there does not return: that is one more way out of the loop, as of a failed assertion.
        if block.terminator == Terminator::Unreachable {
            continue;
        }
        let looks = most[id.index()] + looks_of_block(module, block, is_pause, looks_of)?;
        all = all.max(looks);
        for &next in cfg.successors(id) {
            if cfg.order(next) <= cfg.order(id) {
                return None;
            }
            most[next.index()] = most[next.index()].max(looks);
        }
    }
    Some(all)
}

/// A loop that reads and counts.
struct CountedSpin {
    header: BlockId,
    latch: BlockId,
    /// The comparison of the counter with its bound.
    is_reached: ValueId,
    /// What it is when the bound is reached.
    reached: bool,
    /// The block that decides by it.
    tested_in: BlockId,
    counter: ValueId,
    ty: TypeId,
    /// What the counter is when the bound is reached, if there is a round before.
    last: Option<u128>,
    /// Is the counter compared with something behind the loop?
    is_asked_for_later: bool,
}

/// Where a loop looks at memory, seen from the test of its counter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    Behind,
}

/// A loop that may be one.
struct Candidate<'a> {
    body: &'a Body,
    cfg: &'a Cfg,
    natural: &'a Loop,
}

impl Candidate<'_> {
    /// Is the loop left for no other reason than a count and what it reads, and is the count for nothing else?
    fn counted_spin(&self, module: &Module, dominators: &Dominators) -> Option<CountedSpin> {
        let [latch] = self.natural.latches[..] else {
            return None;
        };
        if !self.natural.children.is_empty() {
            return None;
        }
        let header = self.natural.header;
        let phis = &self.body.blocks[header.index()].phis;
        phis.iter().find_map(|counter| {
            let others = phis.iter().filter(|phi| phi.result != counter.result);
            let mut others = others.map(|phi| self.is_carried_out(phi, phis));
            others
                .all(|is_carried_out| is_carried_out)
                .then(|| self.counted_by(module, dominators, latch, counter))?
        })
    }

    fn counted_by(
        &self,
        module: &Module,
        dominators: &Dominators,
        latch: BlockId,
        counter: &Phi,
    ) -> Option<CountedSpin> {
        let start = counter.incoming.iter().filter(|(from, _)| *from != latch);
        let starts: Vec<u128> = start
            .map(|(_, operand)| constant(module, *operand))
            .collect::<Option<_>>()?;
        let (_, back) = counter.incoming.iter().find(|(from, _)| *from == latch)?;
        let next = back.value()?;
        let inside = |id: &&BlockId| self.natural.contains(**id);
        let blocks = || self.natural.blocks.iter().filter(inside);
        let step = blocks()
            .find_map(|id| step_of(module, &self.body.blocks[id.index()], next, counter.result))?;
        let bits = match module.types.get(counter.ty) {
            Type::Int(bits @ 1..=64) => *bits,
            _ => return None,
        };
        let comparisons = self.comparisons(counter.result, next)?;
        let is_reached = comparisons.inside;
        let compared_in =
            *blocks().find(|id| defined_by(&self.body.blocks[id.index()], is_reached).is_some())?;
        // It is used once, so the block that decides by it is the one that has it, or none.
        let reached = self.leaving(module, compared_in, is_reached)?;
        if !dominators.dominates(compared_in, latch) {
            return None;
        }
        let test = defined_by(&self.body.blocks[compared_in.index()], is_reached)?;
        let test = Comparison::of(module, test, next, bits)?;
        let later: Vec<Comparison> = (comparisons.outside.iter())
            .map(|inst| Comparison::of(module, inst, next, bits))
            .collect::<Option<_>>()?;
        let counts = Counts { step, bits };
        let rounds: Vec<Rounds> = (starts.iter())
            .map(|&start| counts.until(start, &test, reached, &later))
            .collect::<Option<_>>()?;
        let (first, others) = rounds.split_first()?;
        let is_one = others.iter().all(|other| other.last == first.last);
        let begins = rounds.iter().all(|rounds| rounds.any);
        Some(CountedSpin {
            header: self.natural.header,
            latch,
            is_reached,
            reached,
            tested_in: compared_in,
            counter: counter.result,
            ty: counter.ty,
            last: (is_one && begins).then_some(first.last),
            is_asked_for_later: !later.is_empty(),
        })
    }

    /// The one comparison in the loop that the counter is for, and those behind it, if it is for nothing else.
    fn comparisons(&self, counter: ValueId, next: ValueId) -> Option<Comparisons<'_>> {
        let (mut inside, mut outside) = (None, Vec::new());
        let is_counter = |operand: &Operand| {
            *operand == Operand::Value(counter) || *operand == Operand::Value(next)
        };
        for (index, block) in self.body.blocks.iter().enumerate() {
            let here = self.natural.contains(BlockId::from_index(index));
            for phi in &block.phis {
                let used = phi.incoming.iter().any(|(_, operand)| is_counter(operand));
                if used && phi.result != counter {
                    return None;
                }
            }
            for inst in &block.insts {
                let mut used = false;
                inst.kind
                    .visit_operands(|_, operand| used |= is_counter(operand));
                match inst.kind {
                    _ if !used || inst.result == Some(next) => {}
                    InstKind::ICmp { .. } if !here => outside.push(inst),
                    InstKind::ICmp { .. } if inside.is_none() => inside = inst.result,
                    _ => return None,
                }
            }
            let mut used = false;
            block
                .terminator
                .visit_operands(|_, operand| used |= is_counter(operand));
            if used {
                return None;
            }
        }
        let inside = inside.filter(|&found| is_used_once(self.body, found))?;
        Some(Comparisons { inside, outside })
    }

    /// Does a φ of the header only carry out of the loop what a round has found, or what there was before the first?
    fn is_carried_out(&self, phi: &Phi, phis: &[Phi]) -> bool {
        let is_phi = |operand: &Operand| {
            let is = |other: &Phi| *operand == Operand::Value(other.result);
            phis.iter().any(is)
        };
        let is_it = |operand: &Operand| *operand == Operand::Value(phi.result);
        let used_here = self.natural.blocks.iter().any(|id| {
            let block = &self.body.blocks[id.index()];
            let mut used = false;
            for phi in &block.phis {
                used |= phi.incoming.iter().any(|(_, operand)| is_it(operand));
            }
            for inst in &block.insts {
                (inst.kind).visit_operands(|_, operand| used |= is_it(operand));
            }
            (block.terminator).visit_operands(|_, operand| used |= is_it(operand));
            used
        });
        !used_here && !phi.incoming.iter().any(|(_, operand)| is_phi(operand))
    }

    /// The value of the comparison with which the block that has it leads out of the loop, without another look.
    fn leaving(&self, module: &Module, id: BlockId, is_reached: ValueId) -> Option<bool> {
        let block = &self.body.blocks[id.index()];
        let Terminator::CondBr {
            condition,
            then,
            otherwise,
        } = block.terminator
        else {
            return None;
        };
        let outwards = (
            self.leads_out(module, id, then),
            self.leads_out(module, id, otherwise),
        );
        let leaves = match outwards {
            (true, false) => true,
            (false, true) => false,
            _ => return None,
        };
        forcing(module, block, condition, is_reached, leaves)
    }

    /// Does the edge lead out of the loop, at once or through blocks that do nothing (`a && b` as a condition has one)?
    fn leads_out(&self, module: &Module, mut from: BlockId, mut to: BlockId) -> bool {
        const MOST: usize = 8;
        for _ in 0..MOST {
            if !self.natural.contains(to) {
                return true;
            }
            let block = &self.body.blocks[to.index()];
            if to == self.natural.header || !block.insts.is_empty() {
                return false;
            }
            let target = match block.terminator {
                Terminator::Br { target } => target,
                Terminator::CondBr {
                    condition,
                    then,
                    otherwise,
                } => {
                    let is_it = |phi: &&Phi| Operand::Value(phi.result) == condition;
                    let phi = block.phis.iter().find(is_it);
                    let incoming = phi.and_then(|phi| {
                        let (_, operand) = phi.incoming.iter().find(|(it, _)| *it == from)?;
                        constant(module, *operand)
                    });
                    match incoming {
                        Some(0) => otherwise,
                        Some(_) => then,
                        None => return false,
                    }
                }
                _ => return false,
            };
            (from, to) = (to, target);
        }
        false
    }

    /// Where the loop looks, if it looks once in each round at most and does nothing else. `None` if it never looks, or both before and behind the test.
    fn place_of_looks(
        &self,
        module: &mut Module,
        tested_in: BlockId,
        is_pause: IsPause<'_>,
        looks_of: LooksOf<'_>,
    ) -> Option<Place> {
        let mut most: Vec<u32> = vec![0; self.body.blocks.len()];
        let mut is_behind = vec![false; self.body.blocks.len()];
        let (mut before, mut behind) = (0, 0);
        // In reverse post-order, so whoever leads to a block has had his turn.
        for &id in &self.natural.blocks {
            let block = &self.body.blocks[id.index()];
            let here = looks_of_block(module, block, is_pause, looks_of)?;
            let looks = most[id.index()] + here;
            match is_behind[id.index()] {
                true => behind += here,
                false => before += here,
            }
            if looks > 1 {
                return None;
            }
            for &next in self.cfg.successors(id) {
                if next != self.natural.header && self.natural.contains(next) {
                    most[next.index()] = most[next.index()].max(looks);
                    is_behind[next.index()] |= is_behind[id.index()] || id == tested_in;
                }
            }
        }
        match (before, behind) {
            (1.., 0) => Some(Place::Before),
            (0, 1..) => Some(Place::Behind),
            _ => None,
        }
    }
}

/// How often a block looks at memory, if it does nothing but look, compute and pause.
fn looks_of_block(
    module: &mut Module,
    block: &Block,
    is_pause: IsPause<'_>,
    looks_of: LooksOf<'_>,
) -> Option<u32> {
    let mut looks = match &block.terminator {
        Terminator::Ret { .. }
        | Terminator::Br { .. }
        | Terminator::CondBr { .. }
        | Terminator::Switch { .. } => 0,
        // Whoever only looks does not throw.
        Terminator::Invoke { call, .. } => looks_of(module, call)?,
        _ => return None,
    };
    for inst in &block.insts {
        looks += looks_of_inst(module, inst, is_pause, looks_of)?;
    }
    Some(looks)
}

/// Reads atomically, computes or pauses: whoever does so once more changes nothing.
fn looks_of_inst(
    module: &mut Module,
    inst: &Inst,
    is_pause: IsPause<'_>,
    looks_of: LooksOf<'_>,
) -> Option<u32> {
    let is_harmless = match &inst.kind {
        InstKind::Load {
            atomic, volatile, ..
        } => return (atomic.is_some() && !volatile).then_some(1),
        InstKind::Binary { op, .. } => !matches!(
            op,
            BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem
        ),
        InstKind::ICmp { .. }
        | InstKind::Select { .. }
        | InstKind::Cast { .. }
        | InstKind::Gep { .. }
        | InstKind::ExtractValue { .. } => true,
        InstKind::Fence { scope, .. } => *scope == SyncScope::SingleThread,
        InstKind::Call(call) if inst.result.is_none() && is_pause(module, call) => true,
        InstKind::Call(call) => return looks_of(module, call),
        _ => false,
    };
    is_harmless.then_some(0)
}

/// Lets the bound be reached after the first round: what was counted until then is not looked at.
fn end_at_once(module: &mut Module, body: &mut Body, spin: &CountedSpin) {
    let ty = module.types.intern(Type::Int(1));
    let reached = Operand::Const(number(module, ty, u128::from(spin.reached)));
    let replace = |operand: &mut Operand| {
        if *operand == Operand::Value(spin.is_reached) {
            *operand = reached;
        }
    };
    let block = &mut body.blocks[spin.tested_in.index()];
    for inst in &mut block.insts {
        (inst.kind).visit_operands_mut(|_, operand| replace(operand));
    }
    (block.terminator).visit_operands_mut(|_, operand| replace(operand));
}

/// Lets the counter be, after the first round, what it is in the end.
fn jump_to_last(module: &mut Module, body: &mut Body, spin: &CountedSpin, last: u128) {
    let last = Operand::Const(number(module, spin.ty, last));
    let phis = &mut body.blocks[spin.header.index()].phis;
    let counter = phis.iter_mut().find(|phi| phi.result == spin.counter);
    let incoming = counter.into_iter().flat_map(|phi| &mut phi.incoming);
    for (from, operand) in incoming {
        if *from == spin.latch {
            *operand = last;
        }
    }
}

fn number(module: &mut Module, ty: TypeId, value: u128) -> ConstId {
    module.intern_constant(Constant::Int(ty, value))
}

/// What a counter is compared with.
struct Comparisons<'a> {
    inside: ValueId,
    outside: Vec<&'a Inst>,
}

/// A comparison of a counter with a number.
struct Comparison {
    predicate: IntPredicate,
    bound: u128,
    /// Is the counter of the next round compared?
    looks_at_next: bool,
    bits: u32,
}

impl Comparison {
    fn of(module: &Module, inst: &Inst, next: ValueId, bits: u32) -> Option<Self> {
        let InstKind::ICmp {
            predicate,
            lhs,
            rhs,
            ..
        } = inst.kind
        else {
            return None;
        };
        Some(Self {
            predicate,
            bound: constant(module, rhs)?,
            looks_at_next: lhs == Operand::Value(next),
            bits,
        })
    }

    fn holds(&self, before: u128, after: u128) -> bool {
        let counted = if self.looks_at_next { after } else { before };
        compare(self.predicate, counted, self.bound, self.bits)
    }
}

/// How a counter counts.
#[derive(Clone, Copy)]
struct Counts {
    step: u128,
    bits: u32,
}

/// The rounds of a loop that is left because of its counter.
struct Rounds {
    /// What the counter is then.
    last: u128,
    /// Is there a round before?
    any: bool,
}

impl Counts {
    /// Counts from `start` until `test` says `reached`. `None` if that takes too long, or if comparisons behind the loop could tell its rounds apart
    /// (the last one, in which the bound is reached, may be told from the others).
    fn until(
        self,
        start: u128,
        test: &Comparison,
        reached: bool,
        later: &[Comparison],
    ) -> Option<Rounds> {
        const MOST: u32 = 1_000_000;
        let mask = (1u128 << self.bits) - 1;
        let mut counted = start & mask;
        let first = (counted, counted.wrapping_add(self.step) & mask);
        for round in 0..MOST {
            let before = counted;
            counted = counted.wrapping_add(self.step) & mask;
            if test.holds(before, counted) == reached {
                return Some(Rounds {
                    last: before,
                    any: round > 0,
                });
            }
            let tells = |it: &Comparison| it.holds(before, counted) != it.holds(first.0, first.1);
            if later.iter().any(tells) {
                return None;
            }
        }
        None
    }
}

fn is_used_once(body: &Body, value: ValueId) -> bool {
    let mut uses = 0;
    let mut look = |operand: &Operand| uses += u32::from(*operand == Operand::Value(value));
    for block in &body.blocks {
        for phi in &block.phis {
            phi.incoming.iter().for_each(|(_, operand)| look(operand));
        }
        for inst in &block.insts {
            inst.kind.visit_operands(|_, operand| look(operand));
        }
        block.terminator.visit_operands(|_, operand| look(operand));
    }
    uses == 1
}

/// The value of `part` that alone makes the condition what the loop is left with.
fn forcing(
    module: &Module,
    block: &Block,
    condition: Operand,
    part: ValueId,
    leaves: bool,
) -> Option<bool> {
    if condition == Operand::Value(part) {
        return Some(leaves);
    }
    let is_part = |operand: Operand| operand == Operand::Value(part);
    let is = |operand: Operand, value: u128| constant(module, operand) == Some(value);
    let forces = match defined_by(block, condition.value()?)?.kind {
        InstKind::Binary {
            op: BinaryOp::Or,
            lhs,
            rhs,
            ..
        } if is_part(lhs) || is_part(rhs) => true,
        InstKind::Binary {
            op: BinaryOp::And,
            lhs,
            rhs,
            ..
        } if is_part(lhs) || is_part(rhs) => false,
        InstKind::Select {
            then, otherwise, ..
        } if is(then, 1) && is_part(otherwise) => true,
        InstKind::Select {
            then, otherwise, ..
        } if is_part(then) && is(otherwise, 0) => false,
        _ => return None,
    };
    (forces == leaves).then_some(forces)
}

fn compare(predicate: IntPredicate, a: u128, b: u128, bits: u32) -> bool {
    let mask = (1u128 << bits) - 1;
    let (a, b) = (a & mask, b & mask);
    let sign = 1u128 << (bits - 1);
    let (x, y) = (a ^ sign, b ^ sign);
    match predicate {
        IntPredicate::Eq => a == b,
        IntPredicate::Ne => a != b,
        IntPredicate::Ugt => a > b,
        IntPredicate::Uge => a >= b,
        IntPredicate::Ult => a < b,
        IntPredicate::Ule => a <= b,
        IntPredicate::Sgt => x > y,
        IntPredicate::Sge => x >= y,
        IntPredicate::Slt => x < y,
        IntPredicate::Sle => x <= y,
    }
}

#[cfg(test)]
mod tests;
