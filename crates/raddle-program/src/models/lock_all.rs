//! `std::lock` of several mutexes of C++'s library, and with it `std::scoped_lock`.
//!
//! The library takes one, tries the others, gives all back if one of them is taken, and begins again by waiting for that one. Two
//! threads can go on like that without end. A round that fails has no effect: memory is as before, and only an attempt at a lock can
//! tell that it was taken meanwhile, which C++ allows to fail for no reason anyway. So it can be left out of an execution (the theorem of
//! docs/purity.md), and whoever succeeds in a later round succeeds as well beginning with the first lock: all of them are free then.
//! Hence this model: one round that begins with the first lock. If it fails, the thread gives all back and waits for the one that was
//! taken, as the library does. Where it never gets it, that is a deadlock. Where it does, the execution in which the round was
//! left out shows what comes next, and this one stops.
//!
//! Engines that do not leave out pure iterations run the library's own code.

use super::errno::EBUSY;
use super::{Model, ModelResult, Only, Outcome, Pause, Script, model};
use crate::fault::Stop;
use crate::op::{Order, SyncAction};

/// The names say how many there are, and that all are of the same kind.
pub(super) const MODELS: &[Model] = &[
    of_mutexes("_ZSt4lockISt5mutexS0_JEE*"),
    of_mutexes("_ZSt4lockISt5mutexS0_JS0_EE*"),
    of_mutexes("_ZSt4lockISt5mutexS0_JS0_S0_EE*"),
    of_mutexes("_ZSt4lockISt11timed_mutexS0_JEE*"),
    of_mutexes("_ZSt4lockISt15recursive_mutexS0_JEE*"),
    of_unique_locks("_ZSt4lockISt11unique_lockISt5mutexES2_JEE*"),
    of_unique_locks("_ZSt4lockISt11unique_lockISt5mutexES2_JS2_EE*"),
];

const fn of_mutexes(name: &'static str) -> Model {
    model(name, lock_mutexes)
        .capturing(&[0, 1, 2, 3])
        .overriding()
        .only(Only::Waiting)
}

const fn of_unique_locks(name: &'static str) -> Model {
    model(name, lock_unique_locks)
        .capturing(&[0, 1, 2, 3])
        .overriding()
        .only(Only::Waiting)
}

fn lock_mutexes(cx: &mut Script<'_, '_>) -> ModelResult {
    let mutexes: Vec<u64> = (0..cx.arg_count()).map(|index| cx.arg(index)).collect();
    lock_all(cx, &mutexes)?;
    Ok(Outcome::Void)
}

/// A `unique_lock` is a pointer to its mutex, and whether it has it.
fn lock_unique_locks(cx: &mut Script<'_, '_>) -> ModelResult {
    const OWNS: u64 = 8;
    let locks: Vec<u64> = (0..cx.arg_count()).map(|index| cx.arg(index)).collect();
    let mut mutexes = Vec::with_capacity(locks.len());
    for &lock in &locks {
        let mutex = cx.load(lock, 8, Order::Plain)?;
        let owned = cx.load(lock + OWNS, 1, Order::Plain)?;
        if mutex == 0 || owned != 0 {
            return Err(cx.unsupported("a unique_lock without a mutex, or that has it already"));
        }
        mutexes.push(mutex);
    }
    lock_all(cx, &mutexes)?;
    for &lock in &locks {
        cx.store(lock + OWNS, 1, 1, Order::Plain)?;
    }
    Ok(Outcome::Void)
}

fn lock_all(cx: &mut Script<'_, '_>, mutexes: &[u64]) -> Result<(), Pause> {
    let Some((&first, others)) = mutexes.split_first() else {
        return Ok(());
    };
    cx.sync(first, SyncAction::LOCK)?;
    for (index, &mutex) in others.iter().enumerate() {
        if cx.sync(mutex, SyncAction::TRY_LOCK)? != EBUSY {
            continue;
        }
        for &taken in mutexes[..=index].iter().rev() {
            cx.sync(taken, SyncAction::UNLOCK)?;
        }
        cx.sync(mutex, SyncAction::LOCK)?;
        return Err(Pause::Stop(Stop::FailedInVain));
    }
    Ok(())
}
