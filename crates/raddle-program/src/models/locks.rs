//! POSIX mutexes, spin locks and read-write locks.
//!
//! A lock with a deadline is a lock that is only tried. Waiting for a while and then getting it is the same as coming later,
//! and any thread may come later; not getting it is what happens while somebody else holds it. Nothing is lost, and a
//! thread that would have given up is never taken for a deadlock.

use super::errno::{EBUSY, EINVAL, ETIMEDOUT, zero};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::interp::SpuriousFailures;
use crate::interp::failing::{FAILED, Start};
use crate::op::{MutexKind, Order, SyncAction};
use std::rc::Rc;

pub(super) const MODELS: &[Model] = &[
    model("pthread_mutex_init", mutex_init).capturing(&[0]),
    model("pthread_mutex_destroy", mutex_destroy).capturing(&[0]),
    model("pthread_mutex_lock", lock).capturing(&[0]),
    model("pthread_mutex_trylock", try_lock).capturing(&[0]),
    model("pthread_mutex_timedlock", timed_lock).capturing(&[0]),
    model("pthread_mutex_clocklock", timed_lock).capturing(&[0]),
    model("pthread_mutex_unlock", unlock).capturing(&[0]),
    model("pthread_mutexattr_init", mutexattr_init),
    model("pthread_mutexattr_destroy", zero),
    model("pthread_mutexattr_settype", mutexattr_set_type),
    model("pthread_mutexattr_gettype", mutexattr_get_type),
    model("pthread_mutexattr_setkind_np", mutexattr_set_type),
    model("pthread_mutexattr_setpshared", zero),
    model("pthread_mutexattr_getpshared", get_zero),
    model("pthread_mutexattr_setprotocol", zero),
    model("pthread_mutexattr_getprotocol", get_zero),
    model("pthread_mutexattr_setprioceiling", zero),
    model("pthread_mutexattr_setrobust", set_robust),
    model("pthread_mutexattr_setrobust_np", set_robust),
    model("pthread_mutexattr_getrobust", get_zero),
    model("pthread_spin_init", spin_init).capturing(&[0]),
    model("pthread_spin_destroy", mutex_destroy).capturing(&[0]),
    model("pthread_spin_lock", spin_lock).capturing(&[0]),
    model("pthread_spin_trylock", spin_try_lock).capturing(&[0]),
    model("pthread_spin_unlock", spin_unlock).capturing(&[0]),
    model("pthread_rwlock_init", rw_init).capturing(&[0]),
    model("pthread_rwlock_destroy", rw_destroy).capturing(&[0]),
    model("pthread_rwlock_rdlock", read_lock).capturing(&[0]),
    model("pthread_rwlock_wrlock", write_lock).capturing(&[0]),
    model("pthread_rwlock_tryrdlock", try_read_lock).capturing(&[0]),
    model("pthread_rwlock_trywrlock", try_write_lock).capturing(&[0]),
    model("pthread_rwlock_timedrdlock", timed_read_lock).capturing(&[0]),
    model("pthread_rwlock_timedwrlock", timed_write_lock).capturing(&[0]),
    model("pthread_rwlock_clockrdlock", timed_read_lock).capturing(&[0]),
    model("pthread_rwlock_clockwrlock", timed_write_lock).capturing(&[0]),
    model("pthread_rwlock_unlock", rw_unlock).capturing(&[0]),
    model("pthread_rwlockattr_init", zero),
    model("pthread_rwlockattr_destroy", zero),
    model("pthread_rwlockattr_setpshared", zero),
    model("pthread_rwlockattr_setkind_np", zero),
];

/// One action on the object at the first argument; its result is the function's.
pub(super) fn act(cx: &mut Script<'_, '_>, action: SyncAction) -> ModelResult {
    Ok(Outcome::Return(cx.sync(cx.arg(0), action)?))
}

/// [`act`] where being busy means that the deadline passes, which is the last argument.
fn act_in_time(cx: &mut Script<'_, '_>, action: SyncAction) -> ModelResult {
    let result = cx.sync(cx.arg(0), action)?;
    if result != EBUSY {
        return Ok(Outcome::Return(result));
    }
    cx.pass_deadline(cx.last_arg())?;
    Ok(Outcome::Return(ETIMEDOUT))
}

// ---- attempts that fail for no reason

/// An attempt. On behalf of a `try_lock` of C++ it may fail although nobody has the lock; POSIX does not allow that.
fn try_as_cxx(cx: &mut Script<'_, '_>, action: SyncAction) -> ModelResult {
    if may_fail_spuriously(cx.function_name(), &cx.callers()) && cx.fails_spuriously(EBUSY)? {
        return Ok(Outcome::Return(EBUSY));
    }
    act(cx, action)
}

/// Is this attempt to lock one that may fail although nobody has the lock? C11's is, and those that a `try_lock` of C++'s library makes.
/// `std::lock` makes such attempts too, but whoever fails there only begins again. The functions that called it come innermost first.
#[must_use]
pub fn may_fail_spuriously(name: &str, callers: &[&str]) -> bool {
    const ATTEMPTS: [&str; 3] = [
        "pthread_mutex_trylock",
        "pthread_rwlock_tryrdlock",
        "pthread_rwlock_trywrlock",
    ];
    const OF_CXX: [&str; 3] = [
        "__gthread_mutex_trylock",
        "__gthread_recursive_mutex_trylock",
        "__glibcxx_rwlock_try",
    ];
    let is_cxx = |caller: &&str| OF_CXX.iter().any(|name| caller.contains(name));
    name == "mtx_trylock"
        || ATTEMPTS.contains(&name)
            && callers.first().is_some_and(is_cxx)
            && !locks_several(callers)
}

/// Is it `std::lock` that is being run?
#[must_use]
pub fn locks_several(callers: &[&str]) -> bool {
    callers
        .iter()
        .any(|caller| caller.starts_with("_ZSt4lockI") || caller.contains("__detail11__lock_impl"))
}

impl Script<'_, '_> {
    /// Does an operation fail for no reason? Both courses are explored; but it does so once at most at each place, or loops would have no
    /// end, and a thread that comes back to where it declined, with nothing changed, is not asked again; nor one that would only begin a loop again.
    pub(super) fn fails_spuriously(&mut self, failure: u64) -> Result<bool, Pause> {
        if self.machine.world.options.spurious_failures == SpuriousFailures::None {
            return Ok(false);
        }
        const DECIDED: usize = 0;
        if self.var(DECIDED) != 0 {
            return Ok(false);
        }
        let place = self.place_of_call()?;
        let (model, args) = (self.frame.model, self.frame.args.clone());
        let has_no_choice = self.note(|machine| {
            let here = Start::of_call(model, &args, &machine.state);
            let is_idle =
                machine.world.options.leaves_out_idle_failures && machine.returns_in_vain(failure);
            Ok(u64::from(is_idle || machine.state.has_declined(&here)))
        })?;
        if has_no_choice == 0 && self.thread_value(FAILED, place)? == 0 {
            if self.chooses_to_fail()? {
                self.set_thread_value(FAILED, place, 1)?;
                return Ok(true);
            }
            let (model, args) = (self.frame.model, self.frame.args.clone());
            self.note(|machine| {
                if machine.world.options.leaves_out_idle_failures {
                    let here = Start::of_call(model, &args, &machine.state);
                    machine.state.declined.push(Rc::new(here));
                }
                Ok(0)
            })?;
        }
        // Whether it was asked makes no difference from here on.
        self.set_var(DECIDED, 1);
        self.checkpoint();
        Ok(false)
    }
}

// ---- mutexes

fn mutex_init(cx: &mut Script<'_, '_>) -> ModelResult {
    let kind = match cx.arg(1) {
        0 => 0,
        attributes => mutex_type(cx, attributes)?,
    };
    let kind = MutexKind::from_number(kind);
    act(cx, SyncAction::MutexInit { kind })
}

fn mutex_destroy(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::MutexDestroy)
}

pub(super) fn lock(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::LOCK)
}

fn try_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    try_as_cxx(cx, SyncAction::TRY_LOCK)
}

fn timed_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    act_in_time(cx, SyncAction::TRY_LOCK)
}

pub(super) fn unlock(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::UNLOCK)
}

fn spin_init(cx: &mut Script<'_, '_>) -> ModelResult {
    let kind = MutexKind::Normal;
    act(cx, SyncAction::MutexInit { kind })
}

// Spin locks have no kind, and are smaller than mutexes: what lies behind them is something else.

fn spin_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::LOCK.of_kind(MutexKind::Normal))
}

fn spin_try_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::TRY_LOCK.of_kind(MutexKind::Normal))
}

fn spin_unlock(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::UNLOCK.of_kind(MutexKind::Normal))
}

// ---- attributes: the type is in the object's first four bytes, which is all it has

fn mutex_type(cx: &mut Script<'_, '_>, attributes: u64) -> Result<u64, Pause> {
    cx.load(attributes, 4, Order::Plain)
}

fn mutexattr_init(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(0), 4, 0, Order::Plain)?;
    Ok(Outcome::Return(0))
}

fn mutexattr_set_type(cx: &mut Script<'_, '_>) -> ModelResult {
    // Besides the three of POSIX there is an adaptive one.
    const LAST: u64 = 3;
    let kind = cx.arg(1) & 0xFFFF_FFFF;
    if kind > LAST {
        return Ok(Outcome::Return(EINVAL));
    }
    cx.store(cx.arg(0), 4, kind, Order::Plain)?;
    Ok(Outcome::Return(0))
}

fn mutexattr_get_type(cx: &mut Script<'_, '_>) -> ModelResult {
    let kind = mutex_type(cx, cx.arg(0))?;
    cx.store(cx.arg(1), 4, kind, Order::Plain)?;
    Ok(Outcome::Return(0))
}

/// Reports 0 for what cannot be set to anything that matters.
fn get_zero(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(1), 4, 0, Order::Plain)?;
    Ok(Outcome::Return(0))
}

fn set_robust(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.arg_i32(1) != 0 {
        return Err(cx.unsupported("mutexes that outlive their owner"));
    }
    Ok(Outcome::Return(0))
}

// ---- read-write locks

fn rw_init(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::RwInit)
}

fn rw_destroy(cx: &mut Script<'_, '_>) -> ModelResult {
    act(cx, SyncAction::RwDestroy)
}

fn read_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.look_at(cx.arg(0))?;
    act(cx, SyncAction::ReadLock)
}

fn write_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.look_at(cx.arg(0))?;
    act(cx, SyncAction::WriteLock)
}

fn try_read_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.look_at(cx.arg(0))?;
    try_as_cxx(cx, SyncAction::TryReadLock)
}

fn try_write_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.look_at(cx.arg(0))?;
    try_as_cxx(cx, SyncAction::TryWriteLock)
}

fn timed_read_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.look_at(cx.arg(0))?;
    act_in_time(cx, SyncAction::TryReadLock)
}

fn timed_write_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.look_at(cx.arg(0))?;
    act_in_time(cx, SyncAction::TryWriteLock)
}

fn rw_unlock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.look_at(cx.arg(0))?;
    act(cx, SyncAction::RwUnlock)
}
