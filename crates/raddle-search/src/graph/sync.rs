//! What operations on synchronisation objects publish and learn: [`raddle_memory::sync::order`] along the modification order of each cell.

use super::clocks::{Clocks, Row};
use raddle_memory::sync::order::{Opening, Released};
use raddle_program::{SyncAction, ThreadId, Value};

#[derive(Debug)]
pub(super) struct Cells {
    /// What operations have published up to one of them; number 0 is what fresh cells have.
    released: Vec<Released<Row>>,
    openings: Vec<Opening<Row>>,
}

impl Default for Cells {
    fn default() -> Self {
        Self {
            released: vec![Released::default()],
            openings: Vec::new(),
        }
    }
}

impl Cells {
    pub(super) fn len(&self) -> (u32, u32) {
        (self.released.len() as u32, self.openings.len() as u32)
    }

    pub(super) fn truncate(&mut self, (released, openings): (u32, u32)) {
        self.released.truncate(released as usize);
        self.openings.truncate(openings as usize);
    }

    /// What an operation that returns `value` learns from a cell.
    pub(super) fn learnt(
        &self,
        clocks: &mut Clocks,
        from: u32,
        action: SyncAction,
        value: Value,
    ) -> Row {
        let join = |all, readers| clocks.joined(all, readers);
        self.released[from as usize].learnt(&self.openings, action, value, join)
    }

    /// What is published after an operation of `thread` that found `from` and knows `present`.
    pub(super) fn publish(
        &mut self,
        clocks: &mut Clocks,
        from: u32,
        action: SyncAction,
        value: Value,
        (thread, present): (ThreadId, impl FnOnce(&mut Clocks) -> Row),
    ) -> u32 {
        let published = |row| {
            let present = present(clocks);
            clocks.joined(row, present)
        };
        let before = self.released[from as usize];
        match before.after(thread, action, value, published, &mut self.openings) {
            Some(after) => {
                self.released.push(after);
                self.released.len() as u32 - 1
            }
            None => from,
        }
    }
}
