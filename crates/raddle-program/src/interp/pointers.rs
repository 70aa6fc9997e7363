//! Pointers of four bytes: where they become numbers and go to memory, and come back. See [`crate::names::narrow`].

use super::code::Code;
use super::layout::{Piece, low_bits, unsupported};
use super::machine::{Machine, Values};
use super::world::World;
use crate::fault::Stop;
use crate::names::narrow::Layout;
use raddle_ir::inst::IntPredicate;
use raddle_ir::{FuncId, GlobalId, Type, TypeId, ValueId};

/// Why an address has no number of four bytes.
pub(crate) fn too_far() -> Stop {
    unsupported(
        "an address that four bytes do not hold here (it lies far beside its object, or its object is one of too many or too large ones; data model ILP32)",
    )
}

impl World {
    /// What addresses of four bytes follow from: the program's variables, and the stack variables that other threads may see.
    pub(super) fn narrow_layout(&mut self) -> Layout {
        let sizes: Vec<(u64, u64)> = (0..self.module.globals.len())
            .map(GlobalId::from_index)
            .map(|id| (self.global_size(id), self.module.global(id).align))
            .collect();
        let mut sites = Vec::new();
        for id in (0..self.module.functions.len()).map(FuncId::from_index) {
            if self.module.function(id).is_declaration {
                continue;
            }
            // Whatever is wrong with a function is told where it is called.
            let Ok(code) = self.code(id) else {
                continue;
            };
            let mut shared: Vec<ValueId> = code.shared_allocas.iter().copied().collect();
            shared.sort_unstable();
            sites.extend(shared.into_iter().map(|alloca| self.stack_site(id, alloca)));
        }
        Layout::new(sizes, sites)
    }
}

impl Machine<'_> {
    pub(crate) fn is_ilp32(&self) -> bool {
        self.world.module.types.layout.is_ilp32()
    }

    /// Bytes of a pointer, of `long` and of `size_t`.
    pub(crate) fn word_size(&self) -> u64 {
        self.world.module.types.layout.pointer_size
    }

    /// A value for a register of this type, where the caller may have passed or returned it as another one.
    fn suited(&self, ty: TypeId, value: u64) -> Result<u64, Stop> {
        match self.world.module.types.get(ty) {
            Type::Ptr => Ok(match u32::try_from(value) {
                Ok(number) => self.tables.widen(number),
                Err(_) => value,
            }),
            Type::Int(bits @ 1..=32) if value >> 32 != 0 => {
                let is_address =
                    self.tables.narrow(value).is_some() || self.tables.resolve(value).is_some();
                let number = match is_address {
                    true => self.number_of(value)?,
                    false => value,
                };
                Ok(number & low_bits(*bits))
            }
            _ => Ok(value),
        }
    }

    /// An argument for a parameter of a function: programs call through wrong prototypes.
    pub(super) fn suit_parameter(
        &self,
        function: FuncId,
        index: usize,
        values: &mut [u64],
    ) -> Result<(), Stop> {
        if !self.is_ilp32() {
            return Ok(());
        }
        let types = &self.world.module.types;
        if let Type::Function { params, .. } = types.get(self.world.module.function(function).ty)
            && let (Some(&ty), [value]) = (params.get(index), values)
        {
            *value = self.suited(ty, *value)?;
        }
        Ok(())
    }

    /// The same for the registers of the parameters.
    pub(super) fn suit_registers(&self, code: &Code, regs: &mut [u64]) -> Result<(), Stop> {
        for param in 0..code.body.param_count as usize {
            let slots = code.slots[param];
            if slots.len == 1
                && let Some(value) = regs.get_mut(slots.start as usize)
            {
                *value = self.suited(code.body.value_types[param], *value)?;
            }
        }
        Ok(())
    }

    /// What a call gets back, whose result has this type.
    pub(super) fn suit_result(&self, ty: TypeId, values: &mut [u64]) -> Result<(), Stop> {
        if self.is_ilp32()
            && let [value] = values
        {
            *value = self.suited(ty, *value)?;
        }
        Ok(())
    }

    /// The number that a pointer is.
    pub(crate) fn number_of(&self, address: u64) -> Result<u64, Stop> {
        if !self.is_ilp32() {
            return Ok(address);
        }
        self.tables
            .narrow(address)
            .map(u64::from)
            .ok_or_else(too_far)
    }

    /// The pointer that a number is.
    pub(crate) fn pointer_of(&self, number: u64) -> u64 {
        if self.is_ilp32() {
            self.tables.widen(number as u32)
        } else {
            number
        }
    }

    /// Numbers below this are taken for null and a field behind it.
    pub(super) fn first_wild(&self) -> u64 {
        if self.is_ilp32() { 1 << 16 } else { 1 << 32 }
    }

    /// An address so many bytes further on. Numbers stay numbers.
    pub(super) fn stepped(&self, base: u64, offset: u64) -> u64 {
        let address = base.wrapping_add(offset);
        if base >> 32 == 0 && self.is_ilp32() {
            return address & 0xFFFF_FFFF;
        }
        address
    }

    /// Two pointers as numbers that compare as the pointers do. In one object they do so themselves.
    pub(super) fn comparable(
        &self,
        predicate: IntPredicate,
        a: u64,
        b: u64,
    ) -> Result<(u64, u64), Stop> {
        if !self.is_ilp32() || a >> 32 == b >> 32 {
            return Ok((a, b));
        }
        if matches!(predicate, IntPredicate::Eq | IntPredicate::Ne) {
            let is_same = self.tables.is_same_address(a, b);
            return Ok((0, u64::from(!is_same)));
        }
        // Comparisons of signed numbers look at the highest bit.
        let extended = |number: u64| i64::from(number as u32 as i32).cast_unsigned();
        Ok((extended(self.number_of(a)?), extended(self.number_of(b)?)))
    }

    /// Puts some bytes of a value in memory into its slots.
    pub(super) fn put(&self, values: &mut Values, piece: &Piece, part: u64) {
        let part = if piece.narrow {
            self.tables.widen(part as u32)
        } else {
            part
        };
        values[piece.slot as usize] |= part << piece.shift;
    }

    /// A value of one piece, from what memory has.
    pub(super) fn whole(&self, piece: &Piece, part: u64) -> u64 {
        if piece.narrow {
            self.pointer_of(part)
        } else {
            part
        }
    }

    /// Some bytes of a value, as memory has them. There may be higher ones.
    pub(super) fn part_of(&self, values: &[u64], piece: &Piece) -> Result<u64, Stop> {
        let value = values.get(piece.slot as usize).copied().unwrap_or(0);
        if piece.narrow {
            return self.number_of(value);
        }
        Ok(value >> piece.shift)
    }
}
