//! What the machine does under TSO and PSO: stores wait in buffers ([`super::buffer`]) until they are flushed.
//!
//! Orderings mean what compilers make of them on such machines.
//!
//! | operation | what it does |
//! |---|---|
//! | load, whatever its ordering | reads its thread's delayed stores, then memory |
//! | store: plain, relaxed | is delayed |
//! | store: release | is delayed; under PSO behind a store-store barrier |
//! | store: `seq_cst` | waits until the thread's buffer is empty, and goes to memory at once |
//! | read-modify-write, also one that fails | waits until the buffer is empty, acts on memory |
//! | fence: `seq_cst` | waits until the buffer is empty |
//! | fence: release, `acq_rel` | under PSO a store-store barrier |
//! | fence: acquire | nothing: loads are in order |
//! | operation on a synchronisation object; spawn, join, detach | waits until the buffer is empty: each is a read-modify-write of its cell |
//! | join | also waits until the buffer of the thread it joins is empty |
//! | atomic block | waits until the buffer is empty; its stores are not delayed. It stands for one read-modify-write of several cells |
//! | allocation, `free` | happens at once, and waits for nothing |
//! | the end of a thread | waits for nothing; what is left in its buffer is flushed later |
//!
//! Waiting is enough: that a store is flushed *because* its thread waits for it is one of the times at which it may be.
//!
//! Allocation and `free` do not drain: the allocator of a real machine mostly works without fences, and the end of a stack
//! variable is nothing at all there, so draining would hide what such machines do. Nor need they be delayed. Nobody else
//! knows a new object's address before a later store reaches memory. A `free` seen too early by another thread finds no
//! fault that a `free` in order would not find too: flushing everything before it right before the faulty access changes
//! nothing of what that access's thread has read. (Only within an atomic block nothing can be flushed: an access there may
//! be reported that comes after a read of what the freeing thread's delayed store would have changed.)
//!
//! What `free` can overtake is a delayed store of *another* thread into the object: that store then hits memory that is no
//! longer the object, which is a use after free when it is flushed. A thread's own delayed stores into an object that it
//! frees itself are harmless; they go to memory that nobody may look at.

use super::buffer::DelayedStore;
use super::{DEAD, Effect, IN_BLOCK, Machine, MemoryModel, MicroStep, StepEnd, Undo};
use crate::perform::{Performed, use_after_free};
use raddle_program::tables::NO_SLOT;
use raddle_program::{AccessKind, Fault, Op, Order, Program, StateId, Tables, ThreadId};

impl Machine {
    #[must_use]
    pub fn model(&self) -> MemoryModel {
        self.model
    }

    /// The thread's stores that have not reached memory, oldest first.
    #[must_use]
    pub fn delayed(&self, thread: ThreadId) -> &[DelayedStore] {
        self.buffers.of(thread)
    }

    /// Can the delayed store at this position reach memory next?
    #[must_use]
    pub fn may_flush(&self, thread: ThreadId, position: usize) -> bool {
        self.buffers.may_reach_memory(self.model, thread, position)
    }

    /// The event that a delayed store, which may, reaches memory.
    pub fn flush(&mut self, program: &Program, thread: ThreadId, position: usize) -> StepEnd {
        debug_assert!(self.may_flush(thread, position));
        self.chosen.clear();
        self.suspended = None;
        let (store, undo) = self.buffers.take(thread, position);
        self.undo.push(Undo::Buffer(undo));
        let fault = self.late_fault(program, thread, &store);
        if fault.is_none() {
            self.write(store.arena(), store.size(), store.value);
        }
        self.steps.push(MicroStep {
            thread,
            state: store.state,
            value: 0,
            effect: Effect::Flushed { store: store.step },
        });
        match fault {
            Some(fault) => {
                self.set_flags(thread, super::FAULTED);
                StepEnd::Fault(fault)
            }
            None => StepEnd::Done,
        }
    }

    /// Machines of one program with equal keys can do the same from now on.
    #[must_use]
    pub fn key(&mut self, program: &Program) -> Vec<u64> {
        if self.known < program.tables().arena().len() {
            self.grow(program.tables());
        }
        let mut key = Vec::new();
        for (index, thread) in self.threads.iter().enumerate() {
            key.push(u64::from(thread.state.0) << 8 | u64::from(thread.flags));
            let thread = ThreadId::from_index(index);
            for store in self.buffers.of(thread) {
                let late = self.late_fault(program, thread, store).is_some();
                key.extend([
                    store.loc.0.into(),
                    store.value,
                    store.flags() | u64::from(late) << 1,
                ]);
            }
            key.push(u64::MAX - u64::from(self.buffers.has_barrier(thread)));
        }
        let bytes = self.memory.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        key.extend(bytes);
        key
    }

    /// Did another thread free the object while the store was delayed?
    pub(super) fn late_fault(
        &self,
        program: &Program,
        thread: ThreadId,
        store: &DelayedStore,
    ) -> Option<Fault> {
        let info = program.tables().loc_info(store.loc);
        if info.life == NO_SLOT || self.memory[info.life as usize] != DEAD {
            return None;
        }
        let object = info.object;
        let freed_itself = self.steps[store.step as usize..]
            .iter()
            .any(|step| step.thread == thread && *program.op(step.state) == Op::Free { object });
        (!freed_itself).then_some(Fault::UseAfterFree {
            access: AccessKind::Write,
            object,
            offset: info.offset as i64,
        })
    }

    /// Must the operation wait for the thread's delayed stores?
    #[inline]
    pub(super) fn waits_for_buffer(&self, thread: ThreadId, op: &Op) -> bool {
        let drains = match op {
            Op::Store { order, .. } | Op::Fence { order } => *order == Order::SeqCst,
            Op::Rmw { .. }
            | Op::Cas { .. }
            | Op::Sync { .. }
            | Op::Spawn { .. }
            | Op::Join { .. }
            | Op::Detach { .. }
            | Op::AtomicBegin => true,
            _ => false,
        };
        drains && !self.buffers.of(thread).is_empty()
    }

    /// Is a store with this ordering delayed?
    #[inline]
    pub(super) fn delays(&self, thread: ThreadId, order: Order) -> bool {
        order != Order::SeqCst && self.threads[thread.index()].flags & IN_BLOCK == 0
    }

    pub(super) fn delay(
        &mut self,
        tables: &Tables,
        thread: ThreadId,
        state: StateId,
        op: Op,
    ) -> Performed {
        let Op::Store { loc, value, order } = op else {
            unreachable!("only stores are delayed")
        };
        if !self.is_alive(tables, loc) {
            return use_after_free(tables, loc, AccessKind::Write);
        }
        let info = *tables.loc_info(loc);
        if order.releases() {
            self.store_barrier(thread);
        }
        let step = self.steps.len() as u32;
        let store = DelayedStore::new(loc, &info, value, state, step);
        let undo = self.buffers.delay(thread, store);
        self.undo.push(Undo::Buffer(undo));
        Performed::Done(0)
    }

    pub(super) fn fence(&mut self, thread: ThreadId, order: Order) {
        if order.releases() {
            self.store_barrier(thread);
        }
    }

    fn store_barrier(&mut self, thread: ThreadId) {
        if self.model == MemoryModel::Pso && !self.buffers.of(thread).is_empty() {
            let undo = self.buffers.barrier(thread);
            self.undo.push(Undo::Buffer(undo));
        }
    }
}
