//! What operations mean, said once: which cells an operation reads and writes, what it returns, when it has to wait, and when it is wrong.
//!
//! How a cell gets its value is the business of a [`Store`]. The machine's memory is one, with undo; so is a graph under C11, where what is
//! found is said from outside. Engines that compute events without running them have their own: `rf` answers reads from the sources that it has
//! chosen, `rvf` from values that some writes agree on. What has been touched by an operation that was done is told by [`crate::access`].
//! The oracle of the tests says all of it again, on purpose.

use crate::access::sync_mode;
use crate::cells::handle::{DETACHED, JOINED, NOT_SPAWNED, SPAWNED};
use crate::cells::life::{ALIVE, DEAD};
use crate::sync::{SyncStep, release_for_wait};
use raddle_program::tables::NO_SLOT;
use raddle_program::{
    AccessKind, Fault, LocId, Misuse, ObjectId, Op, Order, Program, StateId, SyncAction, Tables,
    ThreadId, Value,
};

/// What operations read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// A location, the word of a synchronisation object, or the life of an object.
    Loc(LocId),
    /// What has been done with a thread ([`crate::cells::handle`]).
    Handle(ThreadId),
    /// 1 if the thread has finished, 0 before.
    End(ThreadId),
}

/// Where operations find values, and leave them.
pub trait Store {
    /// The store cannot say what a cell holds: the operation is given up.
    type Unknown;

    fn read(&mut self, program: &Program, cell: Cell) -> Result<Value, Self::Unknown>;

    fn write(&mut self, program: &Program, cell: Cell, value: Value) -> Result<(), Self::Unknown>;

    /// The word of a synchronisation object as `action` finds it, given what is stored there: see [`crate::Machine::known_word`].
    fn known_word(
        &mut self,
        tables: &Tables,
        cell: LocId,
        action: SyncAction,
        stored: Value,
    ) -> Value;

    /// What `action` does to a word that knows its kind.
    fn sync_step(&mut self, word: Value, action: SyncAction, thread: ThreadId) -> SyncStep;

    /// One of `count` possibilities.
    fn choose(&mut self, count: u32) -> u32;

    /// What a thread that has finished returned; none if it has not.
    fn exit_value(
        &mut self,
        program: &Program,
        thread: ThreadId,
    ) -> Result<Option<Value>, Self::Unknown>;

    /// A thread begins in this state. Its handle is written besides.
    fn start(&mut self, child: ThreadId, start: StateId);

    /// The thread enters an atomic block, or leaves it.
    fn set_in_block(&mut self, inside: bool);

    /// Orders the thread's own accesses, where they can be out of order.
    fn fence(&mut self, _order: Order) {}

    /// Is the object that the location lies in alive?
    #[inline]
    fn is_alive(&mut self, program: &Program, loc: LocId) -> Result<bool, Self::Unknown> {
        match life_of(program.tables(), loc) {
            Some(life) => Ok(is_life(self.read(program, Cell::Loc(life))?)),
            None => Ok(true),
        }
    }
}

/// What came of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Performed {
    /// It returns this.
    Done(Value),
    /// Not now. Nothing has been written.
    Wait,
    /// It is wrong in the state that it met. Nothing has been written.
    Fault(Fault),
}

/// Does an operation of `thread`, which is not the last one.
#[inline]
pub fn perform<S: Store>(
    store: &mut S,
    program: &Program,
    thread: ThreadId,
    op: Op,
) -> Result<Performed, S::Unknown> {
    let tables = program.tables();
    let done = match op {
        Op::Load { loc, .. } => {
            if !store.is_alive(program, loc)? {
                return Ok(use_after_free(tables, loc, AccessKind::Read));
            }
            store.read(program, Cell::Loc(loc))?
        }
        Op::Store { loc, value, .. } => {
            if !store.is_alive(program, loc)? {
                return Ok(use_after_free(tables, loc, AccessKind::Write));
            }
            store.write(program, Cell::Loc(loc), value)?;
            0
        }
        Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
            if !store.is_alive(program, loc)? {
                return Ok(use_after_free(tables, loc, AccessKind::Update));
            }
            let old = store.read(program, Cell::Loc(loc))?;
            if let Some(new) = op.written(tables, old) {
                store.write(program, Cell::Loc(loc), new)?;
            }
            old
        }
        Op::Sync { cell, action } => return synchronise(store, program, thread, cell, action),
        _ => return perform_other(store, program, thread, op),
    };
    Ok(Performed::Done(done))
}

/// The cell that tells whether the object of a location is alive, if it comes and goes.
#[inline]
#[must_use]
pub fn life_of(tables: &Tables, loc: LocId) -> Option<LocId> {
    let info = tables.loc_info(loc);
    if info.life == NO_SLOT {
        return None;
    }
    tables.object_info(info.object).life
}

fn is_life(word: Value) -> bool {
    word & 0xFF == ALIVE
}

fn perform_other<S: Store>(
    store: &mut S,
    program: &Program,
    thread: ThreadId,
    op: Op,
) -> Result<Performed, S::Unknown> {
    let value = match op {
        Op::Spawn { child, start } => {
            store.start(child, start);
            store.write(program, Cell::Handle(child), SPAWNED)?;
            if matches!(program.op(start), Op::Exit { .. }) {
                store.write(program, Cell::End(child), 1)?;
            }
            0
        }
        Op::Join { thread: target } => return join(store, program, thread, target),
        Op::Detach { thread: target } => {
            let handle = Cell::Handle(target);
            if let JOINED | DETACHED = store.read(program, handle)? {
                return Ok(thread_misuse(Misuse::DetachTwice, target));
            }
            store.write(program, handle, DETACHED)?;
            0
        }
        Op::Alloc { object } => {
            if let Some(life) = program.tables().object_info(object).life {
                store.write(program, Cell::Loc(life), ALIVE)?;
            }
            0
        }
        Op::Free { object } => {
            if let Some(life) = program.tables().object_info(object).life {
                if !is_life(store.read(program, Cell::Loc(life))?) {
                    return Ok(Performed::Fault(Fault::DoubleFree { object }));
                }
                store.write(program, Cell::Loc(life), DEAD)?;
            }
            0
        }
        Op::Choice { count, .. } => store.choose(count).into(),
        Op::AtomicBegin | Op::AtomicEnd => {
            store.set_in_block(op == Op::AtomicBegin);
            0
        }
        Op::Fence { order } => {
            store.fence(order);
            0
        }
        _ => 0,
    };
    Ok(Performed::Done(value))
}

fn synchronise<S: Store>(
    store: &mut S,
    program: &Program,
    thread: ThreadId,
    cell: LocId,
    action: SyncAction,
) -> Result<Performed, S::Unknown> {
    let tables = program.tables();
    if !store.is_alive(program, cell)? {
        return Ok(use_after_free(tables, cell, AccessKind::Update));
    }
    let object = tables.loc_info(cell).object;
    let stored = store.read(program, Cell::Loc(cell))?;
    let word = store.known_word(tables, cell, action, stored);
    let (new, value) = match store.sync_step(word, action, thread) {
        SyncStep::Done { word, value } => (word, value),
        SyncStep::Wait => return Ok(Performed::Wait),
        SyncStep::Misuse(misuse) => return Ok(object_misuse(misuse, object)),
    };
    if let SyncAction::CondRelease { mutex } = action {
        if !store.is_alive(program, mutex)? {
            return Ok(use_after_free(tables, mutex, AccessKind::Update));
        }
        let stored = store.read(program, Cell::Loc(mutex))?;
        let held = store.known_word(tables, mutex, SyncAction::UNLOCK, stored);
        let Some(free) = release_for_wait(held, thread) else {
            return Ok(object_misuse(Misuse::WaitWithoutMutex, object));
        };
        store.write(program, Cell::Loc(mutex), free)?;
    }
    if sync_mode(action, value).writes() {
        // A word that does not change stays as it is stored: it need not know its kind.
        let kept = if new == word { stored } else { new };
        store.write(program, Cell::Loc(cell), kept)?;
    }
    Ok(Performed::Done(value))
}

fn join<S: Store>(
    store: &mut S,
    program: &Program,
    thread: ThreadId,
    target: ThreadId,
) -> Result<Performed, S::Unknown> {
    let handle = Cell::Handle(target);
    let misuse = match store.read(program, handle)? {
        NOT_SPAWNED => Some(Misuse::JoinUnknown),
        _ if target == thread => Some(Misuse::JoinSelf),
        JOINED => Some(Misuse::JoinTwice),
        DETACHED => Some(Misuse::JoinDetached),
        _ => None,
    };
    if let Some(misuse) = misuse {
        return Ok(thread_misuse(misuse, target));
    }
    if store.read(program, Cell::End(target))? == 0 {
        return Ok(Performed::Wait);
    }
    let Some(value) = store.exit_value(program, target)? else {
        return Ok(Performed::Wait);
    };
    store.write(program, handle, JOINED)?;
    Ok(Performed::Done(value))
}

#[cold]
pub(crate) fn use_after_free(tables: &Tables, loc: LocId, access: AccessKind) -> Performed {
    let info = tables.loc_info(loc);
    Performed::Fault(Fault::UseAfterFree {
        access,
        object: info.object,
        offset: info.offset as i64,
    })
}

fn object_misuse(misuse: Misuse, object: ObjectId) -> Performed {
    Performed::Fault(Fault::Misuse {
        misuse,
        object: Some(object),
        thread: None,
    })
}

fn thread_misuse(misuse: Misuse, thread: ThreadId) -> Performed {
    Performed::Fault(Fault::Misuse {
        misuse,
        object: None,
        thread: Some(thread),
    })
}
