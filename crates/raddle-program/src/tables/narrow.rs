//! The narrow addresses of objects: see [`crate::names::narrow`].

use super::Tables;
use crate::ids::{ObjectId, ThreadId};
use crate::names::OFFSET_BIAS;
use crate::names::narrow::{Cell, Layout, Named, cell_of_rule, narrow_of_rule, wide_of_rule};
use std::rc::Rc;

impl Tables {
    /// The program's pointers have four bytes.
    pub(crate) fn set_layout(&mut self, layout: Layout) {
        self.layout = Some(Rc::new(layout));
    }

    /// Have the program's pointers four bytes?
    #[must_use]
    pub fn is_ilp32(&self) -> bool {
        self.layout.is_some()
    }

    /// Gives an object its narrow addresses, unless another one has them.
    pub(super) fn give_cell(&mut self, object: ObjectId, made: Option<(ThreadId, u32)>) {
        let Some(layout) = &self.layout else {
            return;
        };
        let info = &self.objects[object.index()];
        if info.cell.is_some() {
            return;
        }
        let named = Named {
            kind: info.kind,
            number: (info.address >> 32) as u32,
            size: info.size,
            align: info.align,
            site: info.site,
        };
        let made = made.map(|(thread, nth)| (&self.threads[thread.index()].name, nth));
        let Some(cell) = layout.cell(named, made) else {
            return;
        };
        let before = self.cells.range(..cell.end).next_back();
        let is_taken =
            before.is_some_and(|(_, id)| self.cell_of(*id).is_some_and(|it| it.end > cell.start));
        if !is_taken {
            self.cells.insert(cell.start, object);
            self.objects[object.index()].cell = Some(cell);
        }
    }

    fn cell_of(&self, object: ObjectId) -> Option<Cell> {
        self.objects[object.index()].cell
    }

    /// The four bytes that stand for an address, if there are any: see [`crate::names::narrow`].
    #[must_use]
    pub fn narrow(&self, address: u64) -> Option<u32> {
        if let Some(found) = narrow_of_rule(address) {
            return found;
        }
        let (object, offset) = self.resolve(address)?;
        self.cell_of(object)?.at(offset)
    }

    /// The addresses with a high half that have narrow ones: the first, the last, and the narrow one of the first.
    #[must_use]
    pub fn narrow_spans(&self, number: u32) -> Vec<(u64, u64, u32)> {
        let of = |cell: Cell, base: u64| {
            let first = base - u64::from(cell.base - cell.start);
            let last = base + u64::from(cell.end - 1 - cell.base);
            (first, last, cell.start)
        };
        if let Some(cell) = cell_of_rule(number) {
            return vec![of(cell, u64::from(number) << 32 | OFFSET_BIAS)];
        }
        let objects = self.numbered(number).iter();
        objects
            .filter_map(|&id| {
                let info = &self.objects[id.index()];
                Some(of(info.cell?, info.address))
            })
            .collect()
    }

    /// The address that four bytes stand for: a number where they are no object's.
    #[must_use]
    pub fn widen(&self, address: u32) -> u64 {
        if let Some(found) = wide_of_rule(address) {
            return found;
        }
        let last = self.cells.range(..=address).next_back();
        let found = last.and_then(|(_, &object)| {
            let cell = self.cell_of(object)?;
            let offset = i64::from(address) - i64::from(cell.base);
            (address < cell.end).then(|| self.address(object, offset))
        });
        found.unwrap_or(address.into())
    }

    /// Is it one address, written in the same way or not? A number may be an object's that was made since.
    #[must_use]
    pub fn is_same_address(&self, a: u64, b: u64) -> bool {
        let wide = |address: u64| match u32::try_from(address) {
            Ok(number) => self.widen(number),
            Err(_) => address,
        };
        a == b || self.is_ilp32() && wide(a) == wide(b)
    }
}
