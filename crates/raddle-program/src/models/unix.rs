//! Memory from the system, standard input at its end, and locks of the C++ library's shared pointers.

use super::errno::{int, zero};
use super::{Model, ModelResult, Outcome, Script, model};
use crate::op::{MutexKind, SyncAction};

pub(super) const MODELS: &[Model] = &[
    model("mmap", map).zeroing(),
    model("mmap64", map).zeroing(),
    model("munmap", unmap).capturing(&[0]),
    model("mprotect", zero),
    model("madvise", zero),
    model("mlock", zero),
    model("munlock", zero),
    // There are no processes to be made.
    model("pthread_atfork", zero),
    // Standard input is at its end.
    model("scanf", end_of_file),
    model("__isoc99_scanf", end_of_file),
    model("__isoc23_scanf", end_of_file),
    model("getchar", end_of_file),
    model("getchar_unlocked", end_of_file),
    model("gets", zero),
    // What `std::atomic_load` of a shared pointer, and the like, hold meanwhile: (lock, pointer) or (lock, pointer, pointer).
    model("_ZNSt10_Sp_lockerC1EPKv", lock_pointer).capturing(&[1]),
    model("_ZNSt10_Sp_lockerC2EPKv", lock_pointer).capturing(&[1]),
    model("_ZNSt10_Sp_lockerC1EPKvS1_", lock_pointers).capturing(&[1, 2]),
    model("_ZNSt10_Sp_lockerC2EPKvS1_", lock_pointers).capturing(&[1, 2]),
    model("_ZNSt10_Sp_lockerD1Ev", unlock_pointers),
    model("_ZNSt10_Sp_lockerD2Ev", unlock_pointers),
];

const PAGE: u64 = 4096;

/// `(where, length, protection, flags, file, offset)`: a block of its own.
fn map(cx: &mut Script<'_, '_>) -> ModelResult {
    const FIXED: u64 = 0x10;
    const ANONYMOUS: u64 = 0x20;
    const FAILED: u64 = u64::MAX;
    if cx.asks() {
        return Err(cx.unsupported("memory from the system is for engines that explore executions"));
    }
    let flags = cx.arg(3);
    if flags & ANONYMOUS == 0 {
        return Err(cx.unsupported("files"));
    }
    if flags & FIXED != 0 {
        return Err(cx.unsupported("memory at a certain address"));
    }
    let length = cx.arg(1).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
    Ok(Outcome::Return(match cx.allocate(length, PAGE)? {
        0 => FAILED,
        block => block,
    }))
}

/// `(where, length)`: the whole block.
fn unmap(cx: &mut Script<'_, '_>) -> ModelResult {
    let object = cx.machine.heap_block_at(cx.arg(0))?;
    let size = cx.tables().object_info(object).size;
    if cx.arg(1).checked_next_multiple_of(PAGE) != Some(size) {
        return Err(cx.unsupported("giving back a part of what was mapped"));
    }
    cx.free(cx.arg(0))?;
    int(0)
}

fn end_of_file(_: &mut Script<'_, '_>) -> ModelResult {
    const EOF: i32 = -1;
    int(EOF)
}

// ---- shared pointers

/// Kind of thread values: the pointers that a lock on the stack stands for. It is too small to hold them.
const HELD: u32 = 14;

const LOCK: SyncAction = SyncAction::Lock {
    kind: Some(MutexKind::Normal),
};
const UNLOCK: SyncAction = SyncAction::Unlock {
    kind: Some(MutexKind::Normal),
};

/// The library has sixteen locks and picks one by the address. That two pointers may share one is nothing to rely on: here each has its own.
fn lock_pointer(cx: &mut Script<'_, '_>) -> ModelResult {
    let pointer = cx.arg(1);
    cx.sync(pointer, LOCK)?;
    cx.set_thread_value(HELD, cx.arg(0), pointer)?;
    Ok(Outcome::Void)
}

fn lock_pointers(cx: &mut Script<'_, '_>) -> ModelResult {
    let (one, other) = (cx.arg(1).min(cx.arg(2)), cx.arg(1).max(cx.arg(2)));
    cx.sync(one, LOCK)?;
    cx.set_thread_value(HELD, cx.arg(0), one)?;
    if other != one {
        cx.sync(other, LOCK)?;
        cx.set_thread_value(HELD, cx.arg(0).wrapping_add(1), other)?;
    }
    Ok(Outcome::Void)
}

fn unlock_pointers(cx: &mut Script<'_, '_>) -> ModelResult {
    for key in [cx.arg(0).wrapping_add(1), cx.arg(0)] {
        let pointer = cx.thread_value(HELD, key)?;
        if pointer != 0 {
            cx.sync(pointer, UNLOCK)?;
            cx.set_thread_value(HELD, key, 0)?;
        }
    }
    Ok(Outcome::Void)
}
