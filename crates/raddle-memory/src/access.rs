//! What an operation touched: the basis of every notion of conflict.
//!
//! Two events conflict if they touch the same bytes (or the same cell) and one of them writes there, or if one of them
//! starts, ends or awaits the other's thread. Objects that come and go have a life cell: allocation and free write it, every
//! access to the object reads it.

use crate::machine::{Effect, MicroStep};
use crate::perform::{Cell, life_of};
use raddle_program::{LocId, ObjectId, Op, Program, SyncAction, Tables};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessMode {
    Read,
    Write,
    /// Reads and writes in one step.
    Update,
    /// Adds to the location without looking at what was there: commutes with other additions to the same location. Engines
    /// that make use of that say so themselves; [`accesses`] tells of updates only.
    Add,
}

impl AccessMode {
    #[inline]
    #[must_use]
    pub fn reads(self) -> bool {
        self != Self::Write
    }

    #[inline]
    #[must_use]
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// One location touched by an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    pub loc: LocId,
    pub mode: AccessMode,
}

/// Calls `touch` for every location that the step touched. That a thread starts after its spawn and is joined after its end
/// is not said by accesses: that orders events by itself.
///
/// Of an atomic block that was abandoned, what it found matters to its thread, and what it wrote to nobody.
#[inline]
pub fn accesses(program: &Program, step: &MicroStep, mut touch: impl FnMut(Access)) {
    if step.effect == Effect::Abandoned {
        return attempted(program, step, |access| {
            if access.mode.reads() {
                touch(Access {
                    mode: AccessMode::Read,
                    ..access
                });
            }
        });
    }
    attempted(program, step, touch);
}

/// The same as if no atomic block was ever abandoned: what the step touched as its own thread sees it.
#[inline]
pub fn attempted(program: &Program, step: &MicroStep, mut touch: impl FnMut(Access)) {
    let tables = program.tables();
    match *program.op(step.state) {
        // Memory sees it when it is flushed. What its own thread sees is no conflict with others.
        Op::Store { loc, .. } if step.effect == Effect::Delayed => {
            touch_life(tables, loc, &mut touch);
        }
        Op::Load { loc, .. } => touch_loc(tables, loc, AccessMode::Read, &mut touch),
        Op::Store { loc, .. } => touch_loc(tables, loc, AccessMode::Write, &mut touch),
        Op::Rmw { loc, .. } => touch_loc(tables, loc, AccessMode::Update, &mut touch),
        Op::Cas { loc, expected, .. } => {
            let mode = if step.value == expected {
                AccessMode::Update
            } else {
                AccessMode::Read
            };
            touch_loc(tables, loc, mode, &mut touch);
        }
        Op::Sync { cell, action } => {
            touch_loc(tables, cell, sync_mode(action, step.value), &mut touch);
            if let SyncAction::CondRelease { mutex } = action {
                touch_loc(tables, mutex, AccessMode::Update, &mut touch);
            }
        }
        Op::Alloc { object } | Op::Free { object } => {
            if let Some(loc) = tables.object_info(object).life {
                touch(Access {
                    loc,
                    mode: AccessMode::Update,
                });
            }
        }
        // Who joins or detaches a thread first makes a difference; that there is a second one is misuse.
        Op::Join { thread } | Op::Detach { thread } => touch(Access {
            loc: tables.thread_info(thread).cell,
            mode: AccessMode::Update,
        }),
        _ => {}
    }
}

/// The same with what was done to threads: what a spawn, a join and a detach touch are cells of their thread.
pub fn touched(program: &Program, step: &MicroStep, mut touch: impl FnMut(Cell, AccessMode)) {
    match *program.op(step.state) {
        Op::Spawn { child, start } => {
            touch(Cell::Handle(child), AccessMode::Write);
            if matches!(program.op(start), Op::Exit { .. }) {
                touch(Cell::End(child), AccessMode::Write);
            }
        }
        Op::Join { thread } => {
            touch(Cell::Handle(thread), AccessMode::Update);
            touch(Cell::End(thread), AccessMode::Read);
        }
        Op::Detach { thread } => touch(Cell::Handle(thread), AccessMode::Update),
        _ => attempted(program, step, |access| {
            touch(Cell::Loc(access.loc), access.mode)
        }),
    }
}

#[inline]
fn touch_loc(tables: &Tables, loc: LocId, mode: AccessMode, touch: &mut impl FnMut(Access)) {
    touch(Access { loc, mode });
    touch_life(tables, loc, touch);
}

/// Every access reads whether the object is alive.
#[inline]
fn touch_life(tables: &Tables, loc: LocId, touch: &mut impl FnMut(Access)) {
    if let Some(loc) = life_of(tables, loc) {
        let mode = AccessMode::Read;
        touch(Access { loc, mode });
    }
}

/// How an operation on a synchronisation cell touches it, given what it returned: one that found the cell busy, or only
/// looks, reads.
#[must_use]
pub fn sync_mode(action: SyncAction, value: u64) -> AccessMode {
    use SyncAction as A;
    match action {
        A::TryLock { .. } | A::TryReadLock | A::TryWriteLock | A::SemTryWait if value != 0 => {
            AccessMode::Read
        }
        A::Lock { .. } | A::Unlock { .. } | A::ReadLock | A::WriteLock if value != 0 => {
            AccessMode::Read
        }
        A::OnceBegin if value != 0 => AccessMode::Read,
        A::SemGet | A::BarrierAwait { .. } => AccessMode::Read,
        _ => AccessMode::Update,
    }
}

/// Do two accesses touch common bytes, one of them writing?
#[inline]
#[must_use]
pub fn conflict(tables: &Tables, a: Access, b: Access) -> bool {
    if a.loc == b.loc {
        (a.mode.writes() || b.mode.writes())
            && !(a.mode == AccessMode::Add && b.mode == AccessMode::Add)
    } else {
        tables.has_mixed_sizes()
            && (a.mode.writes() || b.mode.writes())
            && tables.loc_info(a.loc).mixed
            && overlap(tables, a.loc, b.loc)
    }
}

/// Do two locations share bytes?
#[must_use]
pub fn overlap(tables: &Tables, a: LocId, b: LocId) -> bool {
    a == b || tables.overlaps(a).contains(&b)
}

/// The object whose life an access depends on.
#[must_use]
pub fn object_of(tables: &Tables, loc: LocId) -> ObjectId {
    tables.loc_info(loc).object
}
