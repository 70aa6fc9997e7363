//! Addresses of four bytes: what pointers of a program of the data model ILP32 are as numbers, and in memory.
//!
//! Threads, engines and models go on with addresses of 64 bits ([`crate::names`]): a register that holds a pointer holds one. Where
//! a pointer becomes a number or is written to memory it is made *narrow*, and *wide* again where a number becomes a pointer or a
//! pointer is read. So an access through a pointer that has left its object is noticed as it is in 64 bits, however far it went.
//!
//! # What is where
//!
//! | narrow addresses | |
//! |---|---|
//! | below `0x0100_0000` | numbers: null and what is near it |
//! | [`FUNCTIONS`] | functions, 1 KiB each, for the numbers of their blocks |
//! | [`NAMED`] | objects that models ask for by name |
//! | [`FIRST_PRIVATE`], [`PRIVATE`], [`PRIVATE_LOCALS`] | private memory, by its position |
//! | [`GLOBALS`] | the program's variables, one behind the other |
//! | from [`MADE`] on | what threads make, and their copies of thread-local variables |
//!
//! The narrow address of an object is a function of its name. What threads make lies in *cells*, by its size ([`CLASSES`]). Cells are
//! given to triples of small numbers: which variable (or size) it is, whose, and the how-many-th ([`direct`]). Triples of a small
//! product each have a cell of their own; the others have one by a hash, if there are such cells. Of two objects with one cell the one
//! that is met second has no narrow address: a thread that needs it stops there, and the answer is inconclusive.
//!
//! A cell also has room before and behind its object, for pointers that step a little beside it. Others have no narrow address either.

use super::{
    COUNTER_BITS, FUNCTION_THREAD, GLOBAL_THREAD, NEAR_THREADS, OFFSET_BIAS, PRIVATE_THREAD,
    ThreadName, path_code, stable_hash,
};
use crate::tables::ObjectKind;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Where functions lie, and how far apart.
const FUNCTIONS: Range<u32> = 0x0100_0000..0x0500_0000;
const FUNCTION_STEP: u32 = 1 << 10;
const NAMED: Range<u32> = 0x0500_0000..0x0700_0000;
const NAMED_STEP: u32 = 1 << 20;
/// The first private variables of a stack may be larger ones.
const FIRST_PRIVATE: Range<u32> = 0x0700_0000..0x0B00_0000;
const FIRST_PRIVATE_STEP: u32 = 1 << 20;
const PRIVATE: Range<u32> = 0x0B00_0000..0x0F00_0000;
const PRIVATE_LOCALS: Range<u32> = 0x0F00_0000..0x1000_0000;
const PRIVATE_STEP: u32 = 1 << 15;
/// Room before a private variable, a named object, a variable of the program.
const BEFORE: u32 = 1 << 12;
/// Private positions from here on are thread-local variables.
const FIRST_LOCAL: u32 = 0xF_0000;
const GLOBALS: Range<u32> = 0x1000_0000..0x3000_0000;
const MADE: u32 = 0x3000_0000;
/// Nothing lies above, so that small negative numbers are no addresses.
const END: u32 = 0xFFFF_0000;
const SMALLEST_NEGATIVE: u64 = 0xFFFF_FFFF_FFFF_0000;

/// Cells of one size, for objects up to some size and alignment.
struct Class {
    cell: u32,
    /// Where the object lies in its cell. It is aligned to this.
    before: u32,
    largest: u32,
    /// For heap blocks and for stack variables: how many bits the three numbers may have beyond their first ones.
    limits: [u32; 2],
    /// The same for thread-local variables, if they have cells.
    local_limit: Option<u32>,
    /// Does the size, or the variable, have a part in it? Where cells are few it does not.
    by_site: bool,
    hashed_cells: u32,
}

const CLASSES: [Class; 5] = [
    Class {
        cell: 64,
        before: 16,
        largest: 40,
        limits: [14, 14],
        local_limit: Some(12),
        by_site: true,
        hashed_cells: 1 << 21,
    },
    Class {
        cell: 512,
        before: 64,
        largest: 400,
        limits: [11, 11],
        local_limit: Some(10),
        by_site: true,
        hashed_cells: 1 << 18,
    },
    Class {
        cell: 1 << 14,
        before: 1 << 12,
        largest: 11 << 10,
        limits: [7, 7],
        local_limit: Some(6),
        by_site: true,
        hashed_cells: 1 << 13,
    },
    Class {
        cell: 1 << 19,
        before: 1 << 16,
        largest: 400 << 10,
        limits: [6, 5],
        local_limit: None,
        by_site: false,
        hashed_cells: 0,
    },
    Class {
        cell: 1 << 25,
        before: 1 << 20,
        largest: 30 << 20,
        limits: [2, 0],
        local_limit: None,
        by_site: false,
        hashed_cells: 0,
    },
];

/// The narrow addresses that are an object's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// That of its first byte.
    pub(crate) base: u32,
}

impl Cell {
    /// The address `offset` bytes behind the object's first, if it is in the cell.
    pub(crate) fn at(&self, offset: i64) -> Option<u32> {
        let address = i64::from(self.base).checked_add(offset)?;
        let address = u32::try_from(address).ok()?;
        (self.start..self.end).contains(&address).then_some(address)
    }
}

/// What of an object's name its cell follows from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) kind: ObjectKind,
    /// The high half of its address.
    pub(crate) number: u32,
    pub(crate) size: u64,
    pub(crate) align: u64,
    pub(crate) site: u64,
}

/// What the cells of a program follow from besides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// The cells of the program's variables.
    globals: Vec<Option<Cell>>,
    /// Stack variables that other threads may see, by [`crate::tables::NewObject::site`]: numbers from 1.
    sites: FxHashMap<u64, u32>,
}

impl Layout {
    /// Of a program whose variables have these sizes and alignments, and of whose stack variables these are shared.
    pub(crate) fn new(
        globals: impl IntoIterator<Item = (u64, u64)>,
        sites: impl IntoIterator<Item = u64>,
    ) -> Self {
        let mut end = u64::from(GLOBALS.start);
        let mut cell_of = |(size, align): (u64, u64)| {
            let align = align.max(16).checked_next_power_of_two()?;
            let start = u32::try_from(end).ok()?;
            let base = (end + u64::from(BEFORE)).checked_next_multiple_of(align)?;
            let behind = base.checked_add(size)?.checked_add(BEFORE.into())?;
            if behind > u64::from(GLOBALS.end) {
                return None;
            }
            end = behind;
            let base = u32::try_from(base).ok()?;
            let end = u32::try_from(behind).ok()?;
            Some(Cell { start, end, base })
        };
        Self {
            globals: globals.into_iter().map(&mut cell_of).collect(),
            sites: sites.into_iter().zip(1..).collect(),
        }
    }

    /// The cell of an object; `thread` is whose it is, with how many it had made with this one.
    pub(crate) fn cell(&self, named: Named, made: Option<(&ThreadName, u32)>) -> Option<Cell> {
        if let Some((thread, nth)) = made {
            return self.made(named, thread, nth);
        }
        let index = named.number.checked_sub(GLOBAL_THREAD << COUNTER_BITS)?;
        let index = index.checked_sub(1)?;
        match self.globals.get(index as usize) {
            Some(&cell) => cell,
            None => {
                let start = index.checked_sub(self.globals.len() as u32)?;
                let start = start.checked_mul(NAMED_STEP)?.checked_add(NAMED.start)?;
                let fits = start < NAMED.end && named.size <= u64::from(NAMED_STEP - 2 * BEFORE);
                fits.then_some(Cell {
                    start,
                    end: start + NAMED_STEP,
                    base: start + BEFORE,
                })
            }
        }
    }

    fn made(&self, named: Named, thread: &ThreadName, nth: u32) -> Option<Cell> {
        let Named {
            kind, size, align, ..
        } = named;
        let mut start = u64::from(MADE);
        for class in &CLASSES {
            start = start.next_multiple_of(class.cell.into());
            let fits = size <= class.largest.into() && align <= class.before.into();
            if !fits {
                start += u64::from(class.cell) * class.cells();
                continue;
            }
            let index = class.index(kind, self.site(&named), thread_number(thread), nth);
            let index = index.or_else(|| {
                let hashed = u64::from(class.hashed_cells);
                let whole = [u64::from(named.number), kind as u64, size, named.site];
                let is_hashed = hashed > 0 && kind != ObjectKind::ThreadLocal;
                is_hashed.then(|| class.direct_cells() + stable_hash(whole) % hashed)
            })?;
            let start = u32::try_from(start + index * u64::from(class.cell)).ok()?;
            return Some(Cell {
                start,
                end: start + class.cell,
                base: start + class.before,
            });
        }
        None
    }

    /// Which variable, or of which size a block is: numbers from 1, small ones for what is usual.
    fn site(&self, named: &Named) -> Option<u32> {
        match named.kind {
            ObjectKind::Stack => self.sites.get(&named.site).copied(),
            ObjectKind::Heap => {
                let size = u32::try_from(named.size).ok()?;
                Some(match size {
                    0..=40 if size.is_multiple_of(4) => 1 + size / 4,
                    41..=400 if size.is_multiple_of(4) => size / 4 - 10,
                    0..=400 => 512 + size,
                    _ => 1 + (stable_hash([named.size]) % 4) as u32,
                })
            }
            _ => Some(1),
        }
    }
}

impl Class {
    /// The cell of a kind, and a triple.
    fn index(&self, kind: ObjectKind, site: Option<u32>, thread: u32, nth: u32) -> Option<u64> {
        let sites = [site?, thread, nth];
        let parts = if self.by_site && kind != ObjectKind::ThreadLocal {
            &sites[..]
        } else {
            &sites[1..]
        };
        let [heap, stack] = self.limits;
        let count = |limit| count_of(if self.by_site { 3 } else { 2 }, limit);
        let (before, limit) = match kind {
            ObjectKind::Heap => (0, heap),
            ObjectKind::Stack => (count(heap), stack),
            _ => (count(heap) + count(stack), self.local_limit?),
        };
        direct(parts, limit).map(|index| before + index)
    }

    fn direct_cells(&self) -> u64 {
        let dimensions = if self.by_site { 3 } else { 2 };
        let made = self.limits.iter().map(|&limit| count_of(dimensions, limit));
        let locals = self.local_limit.map_or(0, |limit| count_of(2, limit));
        made.sum::<u64>() + locals
    }

    fn cells(&self) -> u64 {
        self.direct_cells() + u64::from(self.hashed_cells)
    }
}

/// A number for the thread, from 1: small for the first children of `main`, and for their first children.
fn thread_number(thread: &ThreadName) -> u32 {
    match *thread.path() {
        [] => 1,
        [nth] if nth < NEAR_THREADS => 2 * nth,
        ref path => path_code(path).map_or(u32::MAX, |code| 2 * code + 1),
    }
}

/// How many lists of so many numbers have so many bits together beyond the first ones of each, if these are given.
fn shapes(dimensions: u32, bits: u32) -> u64 {
    let bits = u64::from(bits);
    match dimensions {
        2 => bits + 1,
        _ => (bits + 1) * (bits + 2) / 2,
    }
}

/// How many lists [`direct`] numbers.
fn count_of(dimensions: u32, limit: u32) -> u64 {
    (0..=limit)
        .map(|bits| shapes(dimensions, bits) << bits)
        .sum()
}

/// The number of a list of two or three numbers from 1, if they have no more than `limit` bits together beyond the first ones: lists of a
/// small product. Different lists have different numbers, and they are dense.
fn direct(parts: &[u32], limit: u32) -> Option<u64> {
    let lengths: Vec<u32> = parts.iter().map(|part| part.ilog2()).collect();
    let total: u32 = lengths.iter().sum();
    if total > limit {
        return None;
    }
    let dimensions = parts.len() as u32;
    let (bits, first) = (u64::from(total), u64::from(lengths[0]));
    let rank = match lengths[..] {
        [_, second, _] => {
            let before: u64 = (0..first).map(|length| bits - length + 1).sum();
            before + u64::from(second)
        }
        _ => first,
    };
    let shorter = total
        .checked_sub(1)
        .map_or(0, |limit| count_of(dimensions, limit));
    let rest = parts
        .iter()
        .zip(&lengths)
        .fold(0u64, |rest, (&part, &length)| {
            rest << length | u64::from(part - (1 << length))
        });
    Some(shorter + (rank << total) + rest)
}

/// Narrow addresses that are given by the position of what lies there.
struct Region {
    at: Range<u32>,
    step: u32,
    before: u32,
    /// The high half of the address of what lies there first.
    first: u32,
}

const fn numbers_of(owner: u32) -> u32 {
    owner << COUNTER_BITS
}

const MANY_FIRST: u32 = (FIRST_PRIVATE.end - FIRST_PRIVATE.start) / FIRST_PRIVATE_STEP;

const REGIONS: [Region; 4] = [
    Region {
        at: FUNCTIONS,
        step: FUNCTION_STEP,
        before: 0,
        first: numbers_of(FUNCTION_THREAD),
    },
    Region {
        at: FIRST_PRIVATE,
        step: FIRST_PRIVATE_STEP,
        before: BEFORE,
        first: numbers_of(PRIVATE_THREAD),
    },
    Region {
        at: PRIVATE,
        step: PRIVATE_STEP,
        before: BEFORE,
        first: numbers_of(PRIVATE_THREAD) + MANY_FIRST,
    },
    Region {
        at: PRIVATE_LOCALS,
        step: PRIVATE_STEP,
        before: BEFORE,
        first: numbers_of(PRIVATE_THREAD) + FIRST_LOCAL,
    },
];

/// The narrow address of what is in no table: numbers, functions, private memory. None if the address is of another kind.
pub(crate) fn narrow_of_rule(address: u64) -> Option<Option<u32>> {
    let number = (address >> 32) as u32;
    // Small negative numbers come from models, in 64 bits.
    if number == 0 || address >= SMALLEST_NEGATIVE {
        return Some(Some(address as u32));
    }
    let is_of_rule = matches!(number >> COUNTER_BITS, PRIVATE_THREAD | FUNCTION_THREAD);
    let offset = (address & 0xFFFF_FFFF) as i64 - OFFSET_BIAS as i64;
    is_of_rule.then(|| cell_of_rule(number)?.at(offset))
}

/// The cell of what has this high half of its address, if it is a function or private memory.
pub(crate) fn cell_of_rule(number: u32) -> Option<Cell> {
    REGIONS.iter().find_map(|region| {
        let index = number.checked_sub(region.first)?;
        let start = index
            .checked_mul(region.step)?
            .checked_add(region.at.start)?;
        let end = start.checked_add(region.step)?;
        let base = start + region.before;
        (end <= region.at.end).then_some(Cell { start, end, base })
    })
}

/// The wide address of such a narrow one.
pub(crate) fn wide_of_rule(address: u32) -> Option<u64> {
    if !(FUNCTIONS.start..END).contains(&address) {
        return Some(address.into());
    }
    let region = REGIONS.iter().find(|it| it.at.contains(&address))?;
    let behind = address - region.at.start;
    let base = u64::from(region.first + behind / region.step) << 32 | OFFSET_BIAS;
    let offset = i64::from(behind % region.step) - i64::from(region.before);
    Some(base.wrapping_add_signed(offset))
}

#[cfg(test)]
mod tests;
