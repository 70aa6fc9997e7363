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

use super::{Model, ModelResult, Only, Outcome, Pause, Script, model};
use crate::fault::Stop;
use crate::op::{Order, SyncAction};

/// The names say how many there are, and of which kinds: [`locks_of`].
pub(super) const MODELS: &[Model] = &[
    of_locks("_ZSt4lockISt5mutex*"),
    of_locks("_ZSt4lockISt11timed_mutex*"),
    of_locks("_ZSt4lockISt12shared_mutex*"),
    of_locks("_ZSt4lockISt15recursive_mutex*"),
    of_locks("_ZSt4lockISt18shared_timed_mutex*"),
    of_locks("_ZSt4lockISt21recursive_timed_mutex*"),
    of_locks("_ZSt4lockISt11unique_lockI*"),
    of_locks("_ZSt4lockISt11shared_lockI*"),
];

const fn of_locks(name: &'static str) -> Model {
    model(name, lock)
        .capturing(&[0, 1, 2, 3, 4, 5, 6, 7])
        .overriding()
        .only(Only::Waiting)
}

/// The classes of mutexes of C++'s library, and which are taken as read-write locks. The lock itself is the first member of each.
const CLASSES: [(&str, bool); 6] = [
    ("St5mutex", false),
    ("St11timed_mutex", false),
    ("St15recursive_mutex", false),
    ("St21recursive_timed_mutex", false),
    ("St12shared_mutex", true),
    ("St18shared_timed_mutex", true),
];

/// How a lock is taken, tried and given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Mutex,
    Exclusive,
    Shared,
}

impl Class {
    const fn actions(self) -> [SyncAction; 3] {
        match self {
            Self::Mutex => [SyncAction::LOCK, SyncAction::TRY_LOCK, SyncAction::UNLOCK],
            Self::Exclusive => [
                SyncAction::WriteLock,
                SyncAction::TryWriteLock,
                SyncAction::RwUnlock,
            ],
            Self::Shared => [
                SyncAction::ReadLock,
                SyncAction::TryReadLock,
                SyncAction::RwUnlock,
            ],
        }
    }
}

/// An argument of `std::lock`: a mutex, or a `unique_lock` or `shared_lock` of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lockable {
    class: Class,
    is_wrapped: bool,
}

/// What `S0_`, `S1_`, … of a name stand for.
#[derive(Clone, Copy)]
enum Named {
    /// `unique_lock` or `shared_lock`, of what is still to be said.
    Wrapper {
        is_shared: bool,
    },
    Lock(Lockable),
}

/// Reads the types of the arguments from the name of `std::lock<A, B, C…>`: `_ZSt4lockI A B J C… E E`, where `S0_`, `S1_`, … stand for what was
/// named before. `None` for types that are not the library's own.
fn locks_of(name: &str) -> Option<Vec<Lockable>> {
    let mut rest = name.strip_prefix("_ZSt4lockI")?;
    let mut named: Vec<Named> = Vec::new();
    let mut locks = Vec::new();
    let mut is_pack = false;
    loop {
        if let Some(behind) = rest.strip_prefix('J') {
            (rest, is_pack) = (behind, true);
        } else if rest.starts_with('E') && is_pack {
            return (locks.len() > 1).then_some(locks);
        } else {
            locks.push(next_type(&mut rest, &mut named)?);
        }
    }
}

/// The next type of a name, which has a number then.
fn next_type(rest: &mut &str, named: &mut Vec<Named>) -> Option<Lockable> {
    let is_shared = match next_named(rest, named)? {
        Named::Lock(lock) => return Some(lock),
        Named::Wrapper { is_shared } => is_shared,
    };
    *rest = rest.strip_prefix('I')?;
    let wrapped = next_type(rest, named)?;
    *rest = rest.strip_prefix('E')?;
    let class = match (is_shared, wrapped.class) {
        _ if wrapped.is_wrapped => return None,
        (false, class) => class,
        (true, Class::Exclusive) => Class::Shared,
        (true, _) => return None,
    };
    let lock = Lockable {
        class,
        is_wrapped: true,
    };
    named.push(Named::Lock(lock));
    Some(lock)
}

fn next_named(rest: &mut &str, named: &mut Vec<Named>) -> Option<Named> {
    if let Some((number, behind)) = rest.strip_prefix('S').and_then(|rest| rest.split_once('_'))
        && let Ok(number) = number.parse::<usize>()
    {
        *rest = behind;
        return named.get(number).copied();
    }
    for (wrapper, is_shared) in [("St11unique_lock", false), ("St11shared_lock", true)] {
        if let Some(behind) = rest.strip_prefix(wrapper) {
            *rest = behind;
            named.push(Named::Wrapper { is_shared });
            return named.last().copied();
        }
    }
    let (name, is_shared) = CLASSES.iter().find(|(name, _)| rest.starts_with(name))?;
    *rest = &rest[name.len()..];
    named.push(Named::Lock(Lockable {
        class: match is_shared {
            true => Class::Exclusive,
            false => Class::Mutex,
        },
        is_wrapped: false,
    }));
    named.last().copied()
}

/// Where a lock is, and how it is taken.
type Lock = (u64, Class);

/// A `unique_lock` or `shared_lock` is a pointer to its mutex, and whether it has it.
fn lock(cx: &mut Script<'_, '_>) -> ModelResult {
    const OWNS: u64 = 8;
    let Some(kinds) = locks_of(cx.function_name()) else {
        return Err(cx.unsupported("std::lock of these types"));
    };
    let mut locks: Vec<Lock> = Vec::with_capacity(kinds.len());
    for (index, kind) in kinds.iter().enumerate() {
        let lock = cx.arg(index);
        if !kind.is_wrapped {
            locks.push((lock, kind.class));
            continue;
        }
        let mutex = cx.load(lock, 8, Order::Plain)?;
        let owned = cx.load(lock + OWNS, 1, Order::Plain)?;
        if mutex == 0 || owned != 0 {
            return Err(cx.unsupported("a unique_lock without a mutex, or that has it already"));
        }
        locks.push((mutex, kind.class));
    }
    lock_all(cx, &locks)?;
    for (index, _) in kinds.iter().enumerate().filter(|(_, kind)| kind.is_wrapped) {
        cx.store(cx.arg(index) + OWNS, 1, 1, Order::Plain)?;
    }
    Ok(Outcome::Void)
}

fn lock_all(cx: &mut Script<'_, '_>, locks: &[Lock]) -> Result<(), Pause> {
    let Some((&(first, class), others)) = locks.split_first() else {
        return Ok(());
    };
    let [take, _, _] = class.actions();
    cx.sync(first, take)?;
    for (index, &(lock, class)) in others.iter().enumerate() {
        let [take, attempt, _] = class.actions();
        if cx.sync(lock, attempt)? == 0 {
            continue;
        }
        for &(taken, class) in locks[..=index].iter().rev() {
            let [_, _, give_back] = class.actions();
            cx.sync(taken, give_back)?;
        }
        cx.sync(lock, take)?;
        return Err(Pause::Stop(Stop::FailedInVain));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Class, Lockable, locks_of};

    fn classes(name: &str) -> Option<Vec<(Class, bool)>> {
        let locks = locks_of(name)?.into_iter();
        Some(
            locks
                .map(|Lockable { class, is_wrapped }| (class, is_wrapped))
                .collect(),
        )
    }

    #[test]
    fn the_name_says_which_locks() {
        use Class::{Exclusive, Mutex, Shared};
        let bare = |all: &[Class]| Some(all.iter().map(|&class| (class, false)).collect());
        let held = |all: &[Class]| Some(all.iter().map(|&class| (class, true)).collect());
        assert_eq!(
            classes("_ZSt4lockISt5mutexS0_JS0_EEvRT_RT0_DpRT1_"),
            bare(&[Mutex, Mutex, Mutex])
        );
        assert_eq!(
            classes("_ZSt4lockISt5mutexSt15recursive_mutexJSt12shared_mutexS1_EEvRT_RT0_DpRT1_"),
            bare(&[Mutex, Mutex, Exclusive, Mutex])
        );
        assert_eq!(
            classes("_ZSt4lockISt11unique_lockISt5mutexES2_JEEvRT_RT0_DpRT1_"),
            held(&[Mutex, Mutex])
        );
        assert_eq!(
            classes(
                "_ZSt4lockISt11unique_lockISt5mutexESt11shared_lockISt12shared_mutexEJEEvRT_RT0_DpRT1_"
            ),
            held(&[Mutex, Shared])
        );
        assert_eq!(
            classes("_ZSt4lockISt11unique_lockISt5mutexES0_ISt15recursive_mutexEJEEvRT_RT0_DpRT1_"),
            held(&[Mutex, Mutex])
        );
        assert_eq!(
            classes("_ZSt4lockISt11unique_lockISt5mutexES1_JEEvRT_RT0_DpRT1_"),
            Some(vec![(Mutex, true), (Mutex, false)])
        );
        assert_eq!(classes("_ZSt4lockISt5mutex4MineJEEvRT_RT0_DpRT1_"), None);
    }
}
