//! How values lie in registers and in memory.
//!
//! Registers are 64-bit slots: integers up to 64 bits, pointers and floats take one, wider scalars several, low part first;
//! aggregates and vectors are flattened. In memory a value is a list of *pieces* of 1, 2, 4 or 8 bytes, each belonging to
//! one slot: these are the units in which shared memory is accessed.

use crate::fault::{Stop, Unsupported};
use raddle_ir::{FloatKind, Type, TypeId, TypeTable};

/// Some bytes of a value, and where they are in its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) size: u8,
    pub(crate) slot: u32,
    /// Position of the bytes in the slot.
    pub(crate) shift: u8,
    /// Is it a pointer of four bytes? Its slot holds an address of 64 bits.
    pub(crate) narrow: bool,
}

/// The layout of a first-class type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) slots: u32,
    pub(crate) pieces: Vec<Piece>,
    /// The bits that a slot of the type has, per slot.
    pub(crate) masks: Vec<u64>,
    /// Bytes that an access touches.
    pub(crate) store_size: u64,
}

/// Values with more slots than this are not handled: they do not occur, but could be written.
const MAX_SLOTS: u32 = 1 << 16;

pub(crate) fn unsupported(what: &str) -> Stop {
    Stop::Unsupported(Unsupported::Instruction { what: what.into() })
}

/// Slots of a type: 0 for `void`, labels and the like.
pub(crate) fn slot_count(types: &TypeTable, ty: TypeId) -> Option<u32> {
    let count = match types.get(ty) {
        Type::Void | Type::Label | Type::Metadata | Type::Token => 0,
        Type::Int(bits) => bits.div_ceil(64),
        Type::Ptr => 1,
        Type::Float(kind) => match kind {
            FloatKind::X86Fp80 | FloatKind::Fp128 | FloatKind::PpcFp128 => 2,
            _ => 1,
        },
        Type::Array { element, len } => {
            let len = u32::try_from(*len).ok()?;
            slot_count(types, *element)?.checked_mul(len)?
        }
        Type::Vector {
            element,
            len,
            scalable: false,
        } => slot_count(types, *element)?.checked_mul(*len)?,
        Type::Struct { fields, .. } => {
            let mut sum = 0u32;
            for &field in fields {
                sum = sum.checked_add(slot_count(types, field)?)?;
            }
            sum
        }
        _ => return None,
    };
    (count <= MAX_SLOTS).then_some(count)
}

/// The layout of a type that can be loaded and stored.
pub(crate) fn layout(types: &TypeTable, ty: TypeId) -> Result<Layout, Stop> {
    let mut layout = Layout::default();
    if slot_count(types, ty).is_none() {
        return Err(unsupported("a value of a type without a known layout"));
    }
    layout.store_size = types
        .store_size(ty)
        .map_err(|_| unsupported("a value of a type without a known size"))?;
    add(types, ty, 0, &mut layout)?;
    Ok(layout)
}

fn add(types: &TypeTable, ty: TypeId, offset: u64, out: &mut Layout) -> Result<(), Stop> {
    let sized = |result: Result<u64, _>| result.map_err(|_| unsupported("a type without size"));
    match types.get(ty) {
        Type::Int(bits) => add_scalar(*bits, offset, out),
        Type::Ptr if types.layout.is_ilp32() => {
            out.pieces.push(Piece {
                offset,
                size: 4,
                slot: out.slots,
                shift: 0,
                narrow: true,
            });
            out.slots += 1;
            out.masks.push(u64::MAX);
        }
        Type::Ptr => add_scalar(64, offset, out),
        Type::Float(kind) => add_scalar(float_bits(*kind), offset, out),
        Type::Array { element, len } => {
            let step = sized(types.alloc_size(*element))?;
            // Elements without any slot may be many.
            let is_empty = slot_count(types, *element) == Some(0);
            for index in 0..if is_empty { 0 } else { *len } {
                add(types, *element, offset + index * step, out)?;
            }
        }
        Type::Vector { element, len, .. } => {
            if let Type::Int(bits) = types.get(*element)
                && bits % 8 != 0
            {
                return Err(unsupported("a vector of packed bits in memory"));
            }
            let step = sized(types.store_size(*element))?;
            for index in 0..u64::from(*len) {
                add(types, *element, offset + index * step, out)?;
            }
        }
        Type::Struct { fields, .. } => {
            let places = types
                .struct_layout(ty)
                .map_err(|_| unsupported("a struct without size"))?;
            for (&field, &place) in fields.iter().zip(&places.offsets) {
                add(types, field, offset + place, out)?;
            }
        }
        _ => return Err(unsupported("a value of a type without a known layout")),
    }
    Ok(())
}

pub(crate) fn float_bits(kind: FloatKind) -> u32 {
    match kind {
        FloatKind::Half | FloatKind::BFloat => 16,
        FloatKind::Float => 32,
        FloatKind::Double => 64,
        FloatKind::X86Fp80 => 80,
        FloatKind::Fp128 | FloatKind::PpcFp128 => 128,
    }
}

fn add_scalar(bits: u32, mut offset: u64, out: &mut Layout) {
    let mut left = bits;
    while left > 0 {
        let bits_here = left.min(64);
        let mut bytes = bits_here.div_ceil(8);
        let mut shift = 0;
        while bytes > 0 {
            let size = 1 << bytes.ilog2();
            out.pieces.push(Piece {
                offset,
                size,
                slot: out.slots,
                shift,
                narrow: false,
            });
            offset += u64::from(size);
            shift += size * 8;
            bytes -= u32::from(size);
        }
        out.slots += 1;
        out.masks.push(low_bits(bits_here));
        left -= bits_here;
    }
}

/// A number with the low `bits` (up to 64) set.
#[inline]
pub(crate) fn low_bits(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

/// The smallest part of a type that contains the byte at `offset`: its offset and size. None in padding and outside.
pub(crate) fn leaf_at(types: &TypeTable, ty: TypeId, offset: u64) -> Option<(u64, u64)> {
    match types.get(ty) {
        Type::Array { element, .. } => {
            let step = types.alloc_size(*element).ok().filter(|&step| step > 0)?;
            let start = offset / step * step;
            leaf_at(types, *element, offset - start).map(|(inner, size)| (start + inner, size))
        }
        Type::Struct { fields, .. } => {
            let places = types.struct_layout(ty).ok()?;
            let index = places.offsets.partition_point(|&start| start <= offset);
            // Fields without size share their offset with the next one: look back past them.
            (0..index).rev().find_map(|index| {
                let start = places.offsets[index];
                let size = types.alloc_size(fields[index]).ok()?;
                (offset < start + size)
                    .then(|| leaf_at(types, fields[index], offset - start))
                    .flatten()
                    .map(|(inner, size)| (start + inner, size))
            })
        }
        Type::Vector { element, .. } => {
            let step = types.store_size(*element).ok().filter(|&step| step > 0)?;
            Some((offset / step * step, step))
        }
        _ => {
            let size = types.store_size(ty).ok()?;
            (offset < size).then_some((0, size))
        }
    }
}
