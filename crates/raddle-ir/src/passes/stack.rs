//! Which bytes of private stack variables may still be read.
//!
//! What a variable held that will be written before anybody reads it tells states of a thread apart that go on alike. That is common where nothing is optimised: each round of a loop
//! leaves the result of a call in a variable, to ask it something, and no round but the first finds the variable as it was made.
//!
//! The address of a private variable is in registers only, and in no memory ([`super::escape`]). So whoever accesses it mentions a value that is computed from its address, and the
//! usual backward data-flow problem over blocks can be solved, with bytes (of larger variables: groups of bytes) in place of registers. Calls that are passed the address may read
//! all of the variable and need not write any of it, but for results: `sret` memory is an object that the call makes.

use crate::ids::{BlockId, ValueId};
use crate::inst::{Body, Call, InstKind, Operand, Terminator};
use crate::module::Module;
use crate::passes::bitset::BitSet;
use crate::passes::cfg::Cfg;
use crate::passes::intrinsics::{Intrinsic, called_function, intrinsic};
use crate::passes::promote::{constant_int, gep_offset};
use crate::passes::uses::Role;
use crate::types::{FloatKind, Type};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Functions with more blocks times variables are not looked at, nor are those with more accesses in a block.
const MOST_MASKS: usize = 1 << 20;
const MOST_EFFECTS: usize = 1 << 12;

/// Bytes of a variable that nobody reads before they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dead {
    pub alloca: ValueId,
    pub bytes: Vec<Range<usize>>,
}

/// One bit for each group of bytes of a variable.
type Mask = u64;

#[derive(Clone, Copy, Debug)]
struct Variable {
    alloca: ValueId,
    size: u64,
    /// Bytes of a group.
    unit: u64,
}

impl Variable {
    fn all(self) -> Mask {
        let units = self.size.div_ceil(self.unit);
        Mask::MAX >> (64 - units)
    }

    /// The groups that have a byte in a range.
    fn touched(self, range: &Range<u64>) -> Mask {
        let end = range.end.min(self.size);
        match range.start < end {
            true => between(range.start / self.unit, end.div_ceil(self.unit)),
            false => 0,
        }
    }

    /// The groups all of whose bytes are in a range.
    fn covered(self, range: &Range<u64>) -> Mask {
        let end = match range.end >= self.size {
            true => self.size.div_ceil(self.unit),
            false => range.end / self.unit,
        };
        between(range.start.div_ceil(self.unit), end)
    }

    fn bytes(self, dead: Mask) -> Vec<Range<usize>> {
        let mut bytes: Vec<Range<usize>> = Vec::new();
        for unit in (0..64).filter(|unit| dead >> unit & 1 == 1) {
            let start = (unit * self.unit) as usize;
            let end = ((unit + 1) * self.unit).min(self.size) as usize;
            match bytes.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => bytes.push(start..end),
            }
        }
        bytes
    }
}

/// Bits from one number up to another.
fn between(start: u64, end: u64) -> Mask {
    match start < end {
        true => (Mask::MAX >> (64 - (end - start))) << start,
        false => 0,
    }
}

/// Where a value points.
#[derive(Clone, Copy, Debug)]
struct Pointer {
    variable: usize,
    /// If that is known.
    offset: Option<u64>,
}

/// What an instruction does to a variable that it mentions: it writes, and it reads, before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Effect {
    at: u32,
    variable: usize,
    writes: Mask,
    reads: Mask,
}

/// The bytes that are live at the borders of blocks.
#[derive(Clone, Debug)]
pub struct StackLiveness {
    variables: Vec<Variable>,
    /// By block, in order.
    effects: Vec<Vec<Effect>>,
    /// By block and variable.
    live_in: Vec<Vec<Mask>>,
    live_out: Vec<Vec<Mask>>,
}

impl StackLiveness {
    /// `derived`: private variables, and the values that are computed from the address of each. `None` where nothing can be said.
    #[must_use]
    pub fn new(module: &Module, body: &Body, derived: &[(ValueId, BitSet)]) -> Option<Self> {
        let variables = variables(module, body, derived);
        let count = variables.len();
        if count == 0 || count * body.blocks.len() > MOST_MASKS || returns_twice(module, body) {
            return None;
        }
        let cfg = Cfg::new(body);
        let effects = Effects::new(module, body, &cfg, &variables, derived).of_blocks();
        if effects.iter().any(|effects| effects.len() > MOST_EFFECTS) {
            return None;
        }
        let nothing = vec![vec![0; count]; body.blocks.len()];
        let mut liveness = Self {
            variables,
            effects,
            live_in: nothing.clone(),
            live_out: nothing,
        };
        liveness.solve(body, &cfg);
        Some(liveness)
    }

    fn solve(&mut self, body: &Body, cfg: &Cfg) {
        let mut is_changing = true;
        while is_changing {
            is_changing = false;
            for &block in cfg.reverse_postorder().iter().rev() {
                let mut out = vec![0; self.variables.len()];
                for successor in cfg.successors(block) {
                    join(&mut out, &self.live_in[successor.index()]);
                }
                let live = self.from(body, block, 0, out.clone());
                is_changing |= live != self.live_in[block.index()];
                self.live_in[block.index()] = live;
                self.live_out[block.index()] = out;
            }
        }
    }

    /// What is live before an instruction if `live` is so behind the block.
    fn from(&self, body: &Body, block: BlockId, inst: usize, live: Vec<Mask>) -> Vec<Mask> {
        // A call that is left by unwinding has made no result.
        let code = &body.blocks[block.index()];
        let kept = match &code.terminator {
            Terminator::Invoke { unwind, .. } => Some(&self.live_in[unwind.index()]),
            _ => None,
        };
        let mut before = live;
        for effect in self.effects[block.index()].iter().rev() {
            if (effect.at as usize) < inst {
                break;
            }
            let mask = &mut before[effect.variable];
            *mask &= !effect.writes;
            if effect.at as usize == code.insts.len() {
                *mask |= kept.map_or(0, |kept| kept[effect.variable]);
            }
            *mask |= effect.reads;
        }
        before
    }

    /// The dead bytes before an instruction (one past the last one is the terminator).
    #[must_use]
    pub fn dead_before(&self, body: &Body, block: BlockId, inst: usize) -> Vec<Dead> {
        let live = self.live_out[block.index()].clone();
        let live = self.from(body, block, inst, live);
        self.dead(&live)
    }

    /// The bytes that are dead while an instruction is being done: none of what it mentions is.
    #[must_use]
    pub fn dead_during(&self, body: &Body, block: BlockId, inst: usize) -> Vec<Dead> {
        let live = self.live_out[block.index()].clone();
        let mut live = self.from(body, block, inst, live);
        for effect in &self.effects[block.index()] {
            if effect.at as usize == inst {
                live[effect.variable] = Mask::MAX;
            }
        }
        self.dead(&live)
    }

    fn dead(&self, live: &[Mask]) -> Vec<Dead> {
        let variables = self.variables.iter().zip(live);
        let dead = variables.map(|(variable, live)| (variable, variable.all() & !live));
        dead.filter(|&(_, mask)| mask != 0)
            .map(|(variable, mask)| Dead {
                alloca: variable.alloca,
                bytes: variable.bytes(mask),
            })
            .collect()
    }
}

fn join(into: &mut [Mask], other: &[Mask]) {
    for (mask, other) in into.iter_mut().zip(other) {
        *mask |= other;
    }
}

/// The variables that are made once, where the function begins.
fn variables(module: &Module, body: &Body, derived: &[(ValueId, BitSet)]) -> Vec<Variable> {
    let first = body.blocks.first();
    let made = first.into_iter().flat_map(|block| &block.insts);
    made.filter_map(|inst| {
        let InstKind::Alloca { ty, count, .. } = inst.kind else {
            return None;
        };
        let alloca = inst.result?;
        if !derived.iter().any(|(private, _)| *private == alloca) {
            return None;
        }
        let count = u64::try_from(constant_int(module, count)?).ok()?;
        let size = module.types.alloc_size(ty).ok()?.checked_mul(count)?;
        (size > 0).then_some(Variable {
            alloca,
            size,
            unit: size.div_ceil(64),
        })
    })
    .collect()
}

/// May a call come back a second time, as `setjmp` does? Then blocks do not say what comes next.
fn returns_twice(module: &Module, body: &Body) -> bool {
    let is_twice = |call: &Call| {
        called_function(module, call.callee)
            .is_some_and(|callee| module.function(callee).name.contains("setjmp"))
    };
    body.blocks.iter().any(|block| {
        let is_invoked = match &block.terminator {
            Terminator::Invoke { call, .. } => is_twice(call),
            _ => false,
        };
        let mut insts = block.insts.iter();
        is_invoked || insts.any(|inst| matches!(&inst.kind, InstKind::Call(call) if is_twice(call)))
    })
}

/// What instructions do to variables.
struct Effects<'a> {
    module: &'a Module,
    body: &'a Body,
    variables: &'a [Variable],
    pointers: FxHashMap<ValueId, Vec<Pointer>>,
}

impl<'a> Effects<'a> {
    fn new(
        module: &'a Module,
        body: &'a Body,
        cfg: &Cfg,
        variables: &'a [Variable],
        derived: &[(ValueId, BitSet)],
    ) -> Self {
        let mut pointers: FxHashMap<ValueId, Vec<Pointer>> = FxHashMap::default();
        for (variable, &Variable { alloca, .. }) in variables.iter().enumerate() {
            let offset = Some(0);
            pointers
                .entry(alloca)
                .or_default()
                .push(Pointer { variable, offset });
            let others = derived.iter().filter(|(private, _)| *private == alloca);
            for value in others.flat_map(|(_, values)| values.iter()) {
                let value = ValueId::from_index(value);
                let offset = None;
                pointers
                    .entry(value)
                    .or_default()
                    .push(Pointer { variable, offset });
            }
        }
        let mut effects = Self {
            module,
            body,
            variables,
            pointers,
        };
        for &block in cfg.reverse_postorder() {
            for inst in &body.blocks[block.index()].insts {
                effects.note_offset(&inst.kind, inst.result);
            }
        }
        effects
    }

    /// A constant way into a variable, from a value whose own place is known.
    fn note_offset(&mut self, kind: &InstKind, result: Option<ValueId>) {
        let InstKind::Gep {
            source,
            base: Operand::Value(base),
            indices,
            ..
        } = kind
        else {
            return;
        };
        let Some(result) = result else {
            return;
        };
        let Some(&[from]) = self.pointers.get(base).map(Vec::as_slice) else {
            return;
        };
        let offset = gep_offset(self.module, *source, indices)
            .zip(from.offset)
            .and_then(|(step, offset)| offset.checked_add_signed(step));
        if offset.is_some() {
            let variable = from.variable;
            self.pointers
                .insert(result, vec![Pointer { variable, offset }]);
        }
    }

    fn of_blocks(&self) -> Vec<Vec<Effect>> {
        self.body
            .blocks
            .iter()
            .map(|block| {
                let mut effects = Vec::new();
                for (at, inst) in block.insts.iter().enumerate() {
                    self.of_inst(at as u32, &inst.kind, &mut effects);
                }
                if let Terminator::Invoke { call, .. } = &block.terminator {
                    self.of_call(block.insts.len() as u32, call, &mut effects);
                }
                effects
            })
            .collect()
    }

    fn of_inst(&self, at: u32, kind: &InstKind, effects: &mut Vec<Effect>) {
        match kind {
            InstKind::Load { ty, ptr, .. } => {
                let size = self.module.types.store_size(*ty).ok();
                self.reads(at, *ptr, size, effects);
            }
            InstKind::Store { ty, ptr, .. } => {
                let types = &self.module.types;
                // Aggregates may have bytes between their fields, which nobody writes.
                let is_whole = matches!(
                    types.get(*ty),
                    Type::Int(_) | Type::Ptr | Type::Float(FloatKind::Float | FloatKind::Double)
                );
                let size = types.store_size(*ty).ok().filter(|_| is_whole);
                self.writes(at, *ptr, size, effects);
            }
            InstKind::Call(call) => self.of_call(at, call, effects),
            _ => kind.visit_operands(|role, &operand| match role {
                Role::Flows | Role::Compared | Role::Control => {}
                _ => self.reads(at, operand, None, effects),
            }),
        }
    }

    fn of_call(&self, at: u32, call: &Call, effects: &mut Vec<Effect>) {
        let length = || {
            constant_int(self.module, *call.args.get(2)?)?
                .try_into()
                .ok()
        };
        let arg = |index: usize| call.args.get(index).copied();
        match intrinsic(self.module, call) {
            Intrinsic::Debug => {}
            Intrinsic::Lifetime => {
                // The pointer is the last one; a size before it went with newer versions.
                if let Some(&pointer) = call.args.last() {
                    self.writes(at, pointer, Some(u64::MAX), effects);
                }
            }
            Intrinsic::Fill => {
                if let Some(to) = arg(0) {
                    self.writes(at, to, length(), effects);
                }
            }
            Intrinsic::Copy => {
                // What is copied is read before anything is written.
                if let Some(from) = arg(1) {
                    self.reads(at, from, length(), effects);
                }
                if let Some(to) = arg(0) {
                    self.writes(at, to, length(), effects);
                }
            }
            Intrinsic::Pure | Intrinsic::Other => {
                for (index, &passed) in call.args.iter().enumerate() {
                    let made = call.sret.filter(|&(made, _)| made as usize == index);
                    match made.map(|(_, ty)| self.module.types.alloc_size(ty)) {
                        Some(size) => self.writes(at, passed, size.ok(), effects),
                        None => self.reads(at, passed, None, effects),
                    }
                }
            }
        }
    }

    fn pointers(&self, operand: Operand) -> &[Pointer] {
        let value = operand.value();
        let pointers = value.and_then(|value| self.pointers.get(&value));
        pointers.map_or(&[], Vec::as_slice)
    }

    /// So many bytes are read there, or any.
    fn reads(&self, at: u32, from: Operand, size: Option<u64>, effects: &mut Vec<Effect>) {
        for &Pointer { variable, offset } in self.pointers(from) {
            let whole = self.variables[variable];
            let reads = match offset.zip(size) {
                Some((offset, size)) => whole.touched(&(offset..offset.saturating_add(size))),
                None => whole.all(),
            };
            note(effects, at, variable).reads |= reads;
        }
    }

    /// So many bytes are written there, or nobody knows how many.
    fn writes(&self, at: u32, to: Operand, size: Option<u64>, effects: &mut Vec<Effect>) {
        // If it may point to several variables, either may keep what it held.
        let is_one = self.pointers(to).len() == 1;
        for &Pointer { variable, offset } in self.pointers(to) {
            let whole = self.variables[variable];
            let writes = match offset.zip(size) {
                Some((offset, size)) if is_one => {
                    whole.covered(&(offset..offset.saturating_add(size)))
                }
                _ => 0,
            };
            note(effects, at, variable).writes |= writes;
        }
    }
}

/// What an instruction does to a variable, as far as that is known.
fn note(effects: &mut Vec<Effect>, at: u32, variable: usize) -> &mut Effect {
    let mut here = effects.iter().rev().take_while(|effect| effect.at == at);
    let known = here.position(|effect| effect.variable == variable);
    let known = known.map(|back| effects.len() - 1 - back);
    let position = known.unwrap_or_else(|| {
        effects.push(Effect {
            at,
            variable,
            writes: 0,
            reads: 0,
        });
        effects.len() - 1
    });
    &mut effects[position]
}

#[cfg(test)]
mod tests;
