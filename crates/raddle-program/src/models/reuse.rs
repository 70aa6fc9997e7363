//! Addresses that are used again (`--reuse-addresses`): an allocation gets a new block, or one of the same size that was freed.
//!
//! Freed blocks of a size are kept in a pool, which is memory like any other: a count, and a slot for each block that was freed. Who frees a block
//! takes the next slot and stores the address there; who allocates reads the count, chooses, and takes what is in the slot. So which blocks
//! there are to choose from is a matter of the execution, and engines reverse it like every other conflict. The count is
//! relaxed: it orders nothing. Each slot is filled once, so that taking from it is ordered after the `free` of this block and of
//! no other, as the standards have it.
//!
//! A block whose address nobody but its thread can have had (`Machine::others_may_have`) is not offered: no other thread could tell.
//! A thread takes a used block once at most at each place, counting the calls on its stack, or loops would have no end.

use super::{Pause, Script};
use crate::names::BLOCK_ALIGN;
use crate::op::{Op, Order, RmwKind};

/// So many blocks of a size that were freed may be used again.
const FREED_BLOCKS: u64 = 63;

/// Kind of thread values: where a thread has used a block again.
const REUSED: u32 = 15;

impl Script<'_, '_> {
    /// A heap block for the program: a new one, or one that was freed. 0 if it is too large.
    pub(super) fn new_block(&mut self, size: u64, align: u64) -> Result<u64, Pause> {
        match self.used_block(size, align)? {
            0 => self.allocate(size, align),
            used => Ok(used),
        }
    }

    /// Frees a heap block of the program.
    pub(super) fn free_block(&mut self, address: u64) -> Result<(), Pause> {
        let is_offered = self.machine.world.options.reuse_addresses
            && self.note(|machine| {
                let object = machine.heap_block_at(address)?;
                Ok(u64::from(machine.others_may_have(object)))
            })? != 0;
        self.free(address)?;
        if is_offered {
            let object = self.machine.heap_block_at(address)?;
            let size = self.tables().object_info(object).size;
            let pool = self.pool(size)?;
            let slot = self.rmw(pool, 8, RmwKind::Add, 1, Order::Relaxed)?;
            if slot < FREED_BLOCKS {
                self.store(slot_at(pool, slot), 8, address, Order::Release)?;
            }
        }
        Ok(())
    }

    /// A freed block, alive again; 0 if there is none, or a new one is to be made.
    fn used_block(&mut self, size: u64, align: u64) -> Result<u64, Pause> {
        if !self.machine.world.options.reuse_addresses || align > BLOCK_ALIGN {
            return Ok(0);
        }
        let place = self.place_of_call()?;
        if self.thread_value(REUSED, place)? != 0 {
            return Ok(0);
        }
        let pool = self.pool(size)?;
        let freed = self.load(pool, 8, Order::Relaxed)?.min(FREED_BLOCKS);
        if freed == 0 {
            return Ok(0);
        }
        let Some(slot) = self.choice(freed as u32 + 1)?.checked_sub(1) else {
            return Ok(0);
        };
        let at = slot_at(pool, slot.into());
        let used = self.rmw(at, 8, RmwKind::Exchange, 0, Order::Acquire)?;
        if let Some((object, _)) = self.object_at(used) {
            self.set_thread_value(REUSED, place, 1)?;
            self.op(Op::Alloc { object })?;
            self.note(|machine| {
                machine.note_used_again(object);
                Ok(0)
            })?;
        }
        Ok(used)
    }

    fn pool(&mut self, size: u64) -> Result<u64, Pause> {
        let tables = self.tables();
        let bytes = 8 + 8 * FREED_BLOCKS;
        let pool = tables.library_object("addresses of freed blocks", size, bytes)?;
        Ok(tables.address(pool, 0))
    }
}

fn slot_at(pool: u64, slot: u64) -> u64 {
    pool + 8 + 8 * slot
}
