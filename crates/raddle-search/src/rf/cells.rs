//! Numbers for cells, as the consistency graph wants them.
//!
//! A location is one cell as long as no other location is known to share bytes with it; then each of its bytes is a cell of
//! its own. The program may discover such a location at any time: [`Cells::refresh`] says so, and the graph must be built
//! anew.

use super::event::Cell;
use raddle_memory::consistency::CellId;
use raddle_program::{LocId, Tables, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

const NONE: CellId = CellId::MAX;

pub(super) type CellIds = SmallVec<[CellId; 8]>;

#[derive(Debug, Default)]
pub(super) struct Cells {
    count: CellId,
    /// The cell of each location that is one.
    whole: Vec<CellId>,
    /// Locations of memory that are one cell.
    whole_locs: Vec<LocId>,
    /// By position in the arena.
    bytes: FxHashMap<u32, CellId>,
    handles: Vec<CellId>,
    ends: Vec<CellId>,
    known_locs: usize,
}

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
    /// Takes notice of new locations. True if a location that was one cell no longer is.
    pub(super) fn refresh(&mut self, tables: &Tables) -> bool {
        if self.known_locs == tables.loc_count() {
            return false;
        }
        self.known_locs = tables.loc_count();
        let whole = &mut self.whole;
        let before = self.whole_locs.len();
        self.whole_locs.retain(|loc| {
            let mixed = tables.loc_info(*loc).mixed;
            if mixed {
                whole[loc.index()] = NONE;
            }
            !mixed
        });
        self.whole_locs.len() < before
    }

    fn byte(&mut self, arena: u32) -> CellId {
        *self.bytes.entry(arena).or_insert_with(|| {
            self.count += 1;
            self.count - 1
        })
    }

    fn whole(&mut self, loc: LocId) -> CellId {
        let before = self.count;
        let id = slot(&mut self.whole, loc.index(), &mut self.count);
        if self.count > before {
            self.whole_locs.push(loc);
        }
        id
    }

    fn of_thread(&mut self, cell: Cell, thread: ThreadId) -> CellId {
        let table = match cell {
            Cell::Handle(_) => &mut self.handles,
            _ => &mut self.ends,
        };
        slot(table, thread.index(), &mut self.count)
    }

    /// The number of a cell that is one.
    pub(super) fn one(&mut self, tables: &Tables, cell: Cell) -> CellId {
        match cell {
            Cell::Loc(loc) => self.whole(loc),
            Cell::Byte(loc, byte) => self.byte(tables.loc_info(loc).arena + u32::from(byte)),
            Cell::Handle(thread) | Cell::End(thread) => self.of_thread(cell, thread),
        }
    }

    /// Calls `f` with the numbers of all cells that `cell` is made of.
    pub(super) fn each(&mut self, tables: &Tables, cell: Cell, mut f: impl FnMut(CellId)) {
        if let Cell::Loc(loc) = cell {
            let info = tables.loc_info(loc);
            if info.mixed {
                for byte in 0..u32::from(info.size) {
                    f(self.byte(info.arena + byte));
                }
                return;
            }
        }
        f(self.one(tables, cell));
    }
}
