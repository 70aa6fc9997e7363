//! What nobody has written: bytes of private memory, and registers that hold such bytes.
//!
//! A program may copy what nobody has written (a struct with a field that is not used, passed by value), but nothing may
//! depend on it. So reading it makes a register *undefined*, copies of it are undefined, and any other use is a fault
//! ([`Fault::Uninitialised`]). With [`check_uninit`](super::InterpOptions::check_uninit) off nothing is ever undefined here: it is
//! zero.
//!
//! A value is undefined if *all* of its bytes are, and a byte if all of its bits are. So code that reads a whole unit for
//! the sake of a part of it (bit-fields, structs passed in registers) is not taken for a mistake.

use super::code::{Code, Point, ResultUse};
use super::machine::{Machine, Values};
use crate::fault::{Fault, Stop};
use raddle_ir::inst::{BinaryOp, CastOp, RmwOp};
use raddle_ir::{ConstId, Constant, InstKind, Module, Operand, Type, TypeId, ValueId};
use std::rc::Rc;

/// Something depends on a register that holds nothing that was written.
pub(crate) fn fault() -> Stop {
    Stop::Fault(Fault::Uninitialised {
        object: None,
        offset: 0,
    })
}

/// Which slots of a value are undefined. Of very large values only the first slots are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mask(u64);

impl Mask {
    pub(crate) const NONE: Self = Self(0);
    const SLOTS: usize = 64;

    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    pub(crate) fn slots(self) -> impl Iterator<Item = usize> {
        (0..Self::SLOTS).filter(move |&slot| self.contains(slot))
    }

    pub(crate) fn contains(self, slot: usize) -> bool {
        slot < Self::SLOTS && self.0 >> slot & 1 == 1
    }

    pub(crate) fn insert(&mut self, slot: usize) {
        if slot < Self::SLOTS {
            self.0 |= 1 << slot;
        }
    }

    /// `len` slots, all of them.
    fn all(len: usize) -> Self {
        (0..len).collect()
    }

    /// The mask of `len` slots from `start` on.
    pub(crate) fn part(self, start: usize, len: usize) -> Self {
        (0..len)
            .filter(|slot| self.contains(start + slot))
            .collect()
    }

    /// The slots of `part` put over those from `start` on.
    pub(crate) fn replace(&mut self, start: usize, len: usize, part: Self) {
        for slot in 0..len.min(Self::SLOTS.saturating_sub(start)) {
            self.0 &= !(1 << (start + slot));
            if part.contains(slot) {
                self.insert(start + slot);
            }
        }
    }
}

impl FromIterator<usize> for Mask {
    fn from_iter<I: IntoIterator<Item = usize>>(slots: I) -> Self {
        let mut mask = Self::NONE;
        slots.into_iter().for_each(|slot| mask.insert(slot));
        mask
    }
}

/// The undefined registers of a frame, ascending. Nearly always there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Undefined(Vec<u32>);

impl Undefined {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn contains(&self, register: usize) -> bool {
        !self.0.is_empty() && self.0.binary_search(&(register as u32)).is_ok()
    }

    fn mask(&self, registers: std::ops::Range<usize>) -> Mask {
        if self.0.is_empty() {
            return Mask::NONE;
        }
        let start = registers.start;
        registers
            .filter(|&register| self.contains(register))
            .map(|register| register - start)
            .collect()
    }

    /// Lets the registers be as the mask says.
    pub(crate) fn set(&mut self, registers: std::ops::Range<usize>, mask: Mask) {
        if self.0.is_empty() && !mask.any() {
            return;
        }
        self.0
            .retain(|&register| !registers.contains(&(register as usize)));
        let start = registers.start;
        let new = registers.filter(|register| mask.contains(register - start));
        self.0.extend(new.map(|register| register as u32));
        self.0.sort_unstable();
    }

    /// Those among the live registers, by their position there.
    pub(crate) fn compress(&self, code: &Code, point: Point) -> Box<[u32]> {
        if self.0.is_empty() {
            return Box::default();
        }
        let live = code.live(point);
        let positions = (0u32..).zip(live.iter());
        positions
            .filter(|(_, register)| self.contains(**register as usize))
            .map(|(position, _)| position)
            .collect()
    }

    pub(crate) fn expand(positions: &[u32], code: &Code, point: Point) -> Self {
        if positions.is_empty() {
            return Self::default();
        }
        let live = code.live(point);
        Self(positions.iter().map(|&at| live[at as usize]).collect())
    }
}

/// The bytes of a private block that nobody has written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Unwritten {
    /// One bit a byte. Empty if all are written.
    bits: Rc<[u64]>,
    left: u32,
}

impl Unwritten {
    /// None of `size` bytes is written.
    pub(crate) fn all(size: usize) -> Self {
        let mut bits = vec![u64::MAX; size.div_ceil(64)];
        if let Some(last) = bits.last_mut()
            && !size.is_multiple_of(64)
        {
            *last = (1 << (size % 64)) - 1;
        }
        Self {
            bits: bits.into(),
            left: size as u32,
        }
    }

    pub(crate) fn any(&self) -> bool {
        self.left > 0
    }

    pub(crate) fn contains(&self, byte: usize) -> bool {
        let word = self.bits.get(byte / 64);
        word.is_some_and(|word| word >> (byte % 64) & 1 == 1)
    }

    /// Is none of the bytes written?
    pub(crate) fn covers(&self, mut bytes: std::ops::Range<usize>) -> bool {
        self.left > 0 && bytes.all(|byte| self.contains(byte))
    }

    /// Is one of the bytes not written?
    pub(crate) fn touches(&self, mut bytes: std::ops::Range<usize>) -> bool {
        self.left > 0 && bytes.any(|byte| self.contains(byte))
    }

    pub(crate) fn write(&mut self, bytes: std::ops::Range<usize>) {
        if self.left == 0 {
            return;
        }
        let words = Rc::make_mut(&mut self.bits);
        for byte in bytes {
            if let Some(word) = words.get_mut(byte / 64) {
                let bit = 1 << (byte % 64);
                self.left -= u32::from(*word & bit != 0);
                *word &= !bit;
            }
        }
        if self.left == 0 {
            *self = Self::default();
        }
    }

    /// Lets the bytes be as if nobody had written them, in a block of `size` bytes.
    pub(crate) fn forget(&mut self, bytes: std::ops::Range<usize>, size: usize) {
        if self.left == 0 {
            self.bits = vec![0; size.div_ceil(64)].into();
        }
        let words = Rc::make_mut(&mut self.bits);
        for byte in bytes {
            if let Some(word) = words.get_mut(byte / 64) {
                let bit = 1 << (byte % 64);
                self.left += u32::from(*word & bit == 0);
                *word |= bit;
            }
        }
    }
}

impl Machine<'_> {
    /// The slots of an operand that is merely copied.
    pub(crate) fn copied(&mut self, code: &Code, operand: Operand) -> Result<(Values, Mask), Stop> {
        Ok(match operand {
            Operand::Value(id) => {
                let registers = code.slots[id.index()].range();
                let frame = self.frame();
                let mask = frame.undefined.mask(registers.clone());
                (Values::from_slice(&frame.regs[registers]), mask)
            }
            Operand::Const(id) => {
                let values = self.constant(id)?;
                (Values::from_slice(&values), self.undefined_in(id))
            }
        })
    }

    /// Is the first slot of an operand undefined?
    #[inline]
    pub(crate) fn is_undefined(&self, code: &Code, operand: Operand) -> bool {
        match operand {
            Operand::Value(id) => match &self.top {
                super::machine::Top::Ir(frame) => {
                    let register = code.slots[id.index()].start as usize;
                    frame.undefined.contains(register)
                }
                _ => false,
            },
            Operand::Const(id) => self.undefined_in(id).contains(0),
        }
    }

    /// The slots of a constant that are `undef` or `poison`.
    #[inline]
    fn undefined_in(&self, id: ConstId) -> Mask {
        if !self.world.options.check_uninit {
            return Mask::NONE;
        }
        slots_of(&self.world.module, id)
    }

    /// The result of an instruction that moves bits about, some of which are undefined: it is undefined, too. Nothing where
    /// no operand is, or for other instructions. Where one operand of `|` is defined, so is the result: that is how a
    /// bit-field is written.
    pub(crate) fn propagate(&mut self, code: &Code, kind: &InstKind) -> Option<Mask> {
        match kind {
            InstKind::Binary {
                op:
                    op @ (BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor
                    | BinaryOp::Shl
                    | BinaryOp::LShr
                    | BinaryOp::AShr),
                lhs,
                rhs,
                ..
            } => {
                let (left, right) = (self.is_undefined(code, *lhs), self.is_undefined(code, *rhs));
                let is_undefined = match op {
                    BinaryOp::Or if !self.world.options.check_every_byte => left && right,
                    _ => left || right,
                };
                (left || right).then(|| Mask::all(usize::from(is_undefined)))
            }
            InstKind::Cast {
                op:
                    CastOp::Trunc
                    | CastOp::ZExt
                    | CastOp::SExt
                    | CastOp::Bitcast
                    | CastOp::AddrSpaceCast
                    | CastOp::PtrToInt
                    | CastOp::IntToPtr,
                value,
                ..
            } => self
                .is_undefined(code, *value)
                .then(|| Mask::all(Mask::SLOTS)),
            _ => None,
        }
    }
}

/// The slots of a constant that are `undef` or `poison`.
pub(crate) fn slots_of(module: &Module, id: ConstId) -> Mask {
    match module.constant(id) {
        Constant::Undef(_) | Constant::Poison(_) | Constant::Aggregate(..) => {
            let mut slots = 0;
            let mut mask = Mask::NONE;
            undefined_slots(module, id, &mut slots, &mut mask);
            mask
        }
        _ => Mask::NONE,
    }
}

/// Walks over the slots of a constant. `slots` counts them.
fn undefined_slots(module: &Module, id: ConstId, slots: &mut usize, mask: &mut Mask) {
    let mut add = |ty: TypeId, is_undefined: bool| {
        let count = super::layout::slot_count(&module.types, ty).unwrap_or(0) as usize;
        if is_undefined {
            (*slots..*slots + count).for_each(|slot| mask.insert(slot));
        }
        *slots += count;
    };
    match module.constant(id) {
        Constant::Undef(ty) | Constant::Poison(ty) => add(*ty, true),
        Constant::Aggregate(_, elements) => {
            for &element in elements {
                undefined_slots(module, element, slots, mask);
            }
        }
        Constant::Int(ty, _)
        | Constant::Float(ty, _)
        | Constant::Zero(ty)
        | Constant::Bytes(ty, _)
        | Constant::Expr(ty, _) => add(*ty, false),
        Constant::Metadata | Constant::NoneToken => {}
        _ => *slots += 1,
    }
}

impl Code {
    /// Does what the instruction at hand reads from memory decide about anything? A read that only copies does not: of an
    /// aggregate, of a struct that is passed in registers, of the unit that a bit-field is written into.
    pub(crate) fn needs_contents(&self, module: &Module, (block, index): (u32, u32)) -> bool {
        let insts = &self.body.blocks[block as usize].insts;
        let Some(inst) = insts.get(index as usize) else {
            return false;
        };
        match &inst.kind {
            InstKind::Load { ty, ptr, .. } => {
                let Some(result) = inst.result else {
                    return false;
                };
                is_number(module, *ty)
                    && !self.is_coerced(module, *ptr)
                    && !self.writes_bit_field(result, *ptr)
            }
            InstKind::CmpXchg { .. } => true,
            InstKind::AtomicRmw { op, .. } => {
                *op != RmwOp::Xchg || self.use_of_result(block, index) != ResultUse::Unused
            }
            _ => false,
        }
    }

    fn definition(&self, value: ValueId) -> Option<&InstKind> {
        self.mentions().definition(&self.body, value)
    }

    /// Does the address step into a struct without a name? Source structs have names; this is how compilers see a struct that
    /// they pass in registers.
    fn is_coerced(&self, module: &Module, ptr: Operand) -> bool {
        let Operand::Value(value) = ptr else {
            return false;
        };
        match self.definition(value) {
            Some(InstKind::Gep { source, .. }) => {
                matches!(module.types.get(*source), Type::Struct { name: None, .. })
            }
            _ => false,
        }
    }

    /// Is what was loaded combined with new bits, and stored back?
    fn writes_bit_field(&self, loaded: ValueId, ptr: Operand) -> bool {
        let combined = |op: BinaryOp, of: ValueId| {
            let users = self.mentions().users(&self.body, of);
            users.filter_map(move |inst| match &inst.kind {
                InstKind::Binary { op: found, .. } if *found == op => inst.result,
                _ => None,
            })
        };
        let is_stored = |value: ValueId| {
            let mut users = self.mentions().users(&self.body, value);
            users.any(|inst| match &inst.kind {
                InstKind::Store {
                    value: stored,
                    ptr: to,
                    ..
                } => *stored == Operand::Value(value) && *to == ptr,
                _ => false,
            })
        };
        combined(BinaryOp::And, loaded)
            .flat_map(|cleared| combined(BinaryOp::Or, cleared))
            .any(is_stored)
    }
}

/// A number of a width that source types have, or a pointer.
fn is_number(module: &Module, ty: TypeId) -> bool {
    match module.types.get(ty) {
        Type::Int(width) => matches!(width, 1 | 8 | 16 | 32 | 64 | 128),
        Type::Float(_) | Type::Ptr => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_cut_and_put_together() {
        let mask: Mask = [1, 3, 70].into_iter().collect();
        assert!(mask.contains(1) && mask.contains(3) && !mask.contains(70));
        assert_eq!(mask.part(1, 3), [0, 2].into_iter().collect());
        let mut other = Mask::all(4);
        other.replace(1, 2, Mask::NONE);
        assert_eq!(other, [0, 3].into_iter().collect());
    }

    #[test]
    fn registers_are_undefined_until_they_are_set() {
        let mut undefined = Undefined::default();
        undefined.set(4..7, [0, 2].into_iter().collect());
        assert_eq!(undefined.mask(4..7), [0, 2].into_iter().collect());
        assert!(undefined.contains(6) && !undefined.contains(5));
        undefined.set(6..7, Mask::NONE);
        undefined.set(4..5, Mask::NONE);
        assert!(undefined.is_empty());
    }

    #[test]
    fn bytes_are_unwritten_until_they_are_written() {
        let mut bytes = Unwritten::all(70);
        assert!(bytes.covers(60..70) && !bytes.covers(69..71));
        bytes.write(0..66);
        assert!(!bytes.covers(64..70) && bytes.covers(66..70));
        bytes.write(60..70);
        assert_eq!(bytes, Unwritten::default());
        bytes.forget(3..5, 70);
        assert!(bytes.covers(3..5) && !bytes.contains(5));
    }
}
