//! Numbers for cells, as the consistency graph wants them.
//!
//! A location is one cell as long as no other location is known to share bytes with it; then it is cut into cells wherever
//! one of those begins or ends. The program may discover such a location at any time: [`Cells::refresh`] says so, and the
//! graph must be built anew.

use super::event::Cell;
use raddle_memory::consistency::CellId;
use raddle_program::{LocId, Tables, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

const NONE: CellId = CellId::MAX;

pub(crate) type CellIds = SmallVec<[CellId; 8]>;

#[derive(Debug, Default)]
pub(crate) struct Cells {
    count: CellId,
    /// The cell of each location that is one.
    whole: Vec<CellId>,
    /// The cells that begin at a position of the arena, in locations that are not one cell.
    parts: FxHashMap<u32, CellId>,
    /// For locations that are not one cell: with how many others they shared bytes when they were cut, and the cells of
    /// their bytes.
    cut: FxHashMap<LocId, (usize, [CellId; 8])>,
    handles: Vec<CellId>,
    ends: Vec<CellId>,
    known_locs: usize,
}

#[cold]
fn slot(table: &mut Vec<CellId>, index: usize, count: &mut CellId) -> CellId {
    if table.len() <= index {
        table.resize(index + 1, NONE);
    }
    if table[index] == NONE {
        table[index] = *count;
        *count += 1;
    }
    table[index]
}

impl Cells {
    /// Takes notice of new locations. True if a location that was one cell no longer is, or is cut otherwise.
    pub(crate) fn refresh(&mut self, tables: &Tables) -> bool {
        let mut changed = false;
        // Two locations share bytes from the moment that there are both. So all that can have changed is what the new ones share
        // bytes with, and they themselves, should they have been asked for already.
        for index in self.known_locs..tables.loc_count() {
            let loc = LocId::from_index(index);
            for &loc in tables.overlaps(loc).iter().chain([&loc]) {
                changed |= self.is_outdated(tables, loc);
            }
        }
        self.known_locs = tables.loc_count();
        if changed {
            self.cut.clear();
        }
        changed
    }

    /// Is a location another cell, or other cells, than it was? One that was one cell and is not is so no longer.
    fn is_outdated(&mut self, tables: &Tables, loc: LocId) -> bool {
        let cut = self.cut.get(&loc);
        if cut.is_some_and(|&(others, _)| tables.overlaps(loc).len() != others) {
            return true;
        }
        let is_mixed = tables.loc_info(loc).mixed;
        match self.whole.get_mut(loc.index()) {
            Some(cell) if is_mixed && *cell != NONE => {
                *cell = NONE;
                true
            }
            _ => false,
        }
    }

    /// The cells of the bytes of a location that is not one cell.
    pub(crate) fn bytes(&mut self, tables: &Tables, loc: LocId) -> [CellId; 8] {
        if let Some(&(_, cells)) = self.cut.get(&loc) {
            return cells;
        }
        let info = tables.loc_info(loc);
        let others = tables.overlaps(loc);
        let mut cells = [NONE; 8];
        for byte in 0..u32::from(info.size) {
            let arena = info.arena + byte;
            let edges = others.iter().flat_map(|&other| {
                let other = tables.loc_info(other);
                [other.arena, other.arena + u32::from(other.size)]
            });
            let start = edges
                .chain(std::iter::once(info.arena))
                .filter(|&edge| edge <= arena)
                .max()
                .unwrap_or(arena);
            cells[byte as usize] = *self.parts.entry(start).or_insert_with(|| {
                self.count += 1;
                self.count - 1
            });
        }
        self.cut.insert(loc, (others.len(), cells));
        cells
    }

    /// Do two bytes of a location belong to one cell?
    pub(crate) fn together(&mut self, tables: &Tables, loc: LocId, a: u8, b: u8) -> bool {
        let cells = self.bytes(tables, loc);
        cells[usize::from(a)] == cells[usize::from(b)]
    }

    #[inline]
    fn whole(&mut self, loc: LocId) -> CellId {
        match self.whole.get(loc.index()) {
            Some(&known) if known != NONE => known,
            _ => self.new_whole(loc),
        }
    }

    #[cold]
    fn new_whole(&mut self, loc: LocId) -> CellId {
        slot(&mut self.whole, loc.index(), &mut self.count)
    }

    #[inline]
    fn of_thread(&mut self, cell: Cell, thread: ThreadId) -> CellId {
        let table = match cell {
            Cell::Handle(_) => &mut self.handles,
            _ => &mut self.ends,
        };
        match table.get(thread.index()) {
            Some(&known) if known != NONE => known,
            _ => slot(table, thread.index(), &mut self.count),
        }
    }

    /// The number of a cell that is one.
    #[inline]
    pub(crate) fn one(&mut self, tables: &Tables, cell: Cell) -> CellId {
        match cell {
            Cell::Loc(loc) => self.whole(loc),
            Cell::Byte(loc, byte) => self.bytes(tables, loc)[usize::from(byte)],
            Cell::Handle(thread) | Cell::End(thread) => self.of_thread(cell, thread),
        }
    }

    /// Calls `f` with the numbers of all cells that `cell` is made of.
    #[inline]
    pub(crate) fn each(&mut self, tables: &Tables, cell: Cell, mut f: impl FnMut(CellId)) {
        if let Cell::Loc(loc) = cell {
            let info = tables.loc_info(loc);
            if info.mixed {
                let cells = self.bytes(tables, loc);
                for byte in 0..usize::from(info.size) {
                    if byte == 0 || cells[byte] != cells[byte - 1] {
                        f(cells[byte]);
                    }
                }
                return;
            }
        }
        f(self.one(tables, cell));
    }
}
