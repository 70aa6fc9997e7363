//! The state at the end of an execution that was not run here.

use super::{
    ALIVE, DEAD, DETACHED, FAULTED, JOINED, Machine, NOT_STARTED, ThreadState, write_bytes,
};
use crate::machine::Buffers;
use raddle_program::{LocId, ObjectId, Op, Program, StateId, Value};

impl Machine {
    /// Takes over the end of an execution: where threads are, who joined or detached them, whether they met a fault; what memory holds where it was
    /// written, and what was freed. There are no steps to undo.
    pub fn set_scene(
        &mut self,
        program: &Program,
        threads: impl Iterator<Item = (Option<StateId>, Option<Op>, bool)>,
        writes: impl Iterator<Item = (LocId, Value)>,
        freed: impl Iterator<Item = ObjectId>,
    ) {
        let tables = program.tables();
        self.steps.clear();
        self.undo.clear();
        self.chosen.clear();
        self.suspended = None;
        self.buffers = Buffers::default();
        self.known = 0;
        self.memory.clear();
        self.grow(tables);
        self.threads.clear();
        self.threads
            .extend(threads.map(|(state, claim, has_faulted)| ThreadState {
                state: state.unwrap_or(NOT_STARTED),
                flags: match claim {
                    Some(Op::Join { .. }) => JOINED,
                    Some(_) => DETACHED,
                    None => 0,
                } | if has_faulted { FAULTED } else { 0 },
            }));
        for object in (0..tables.object_count()).map(ObjectId::from_index) {
            self.set_life_quietly(program, object, ALIVE);
        }
        for object in freed {
            self.set_life_quietly(program, object, DEAD);
        }
        for (loc, value) in writes {
            let info = tables.loc_info(loc);
            let size = if info.is_sync() { 8 } else { info.size };
            write_bytes(&mut self.memory, info.arena, size, value);
        }
    }

    fn set_life_quietly(&mut self, program: &Program, object: ObjectId, life: u8) {
        let tables = program.tables();
        if let Some(cell) = tables.object_info(object).life {
            let arena = tables.loc_info(cell).arena;
            write_bytes(&mut self.memory, arena, 8, u64::from(life));
        }
    }
}
