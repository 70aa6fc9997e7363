use super::*;
use SyncAction as A;

const T1: ThreadId = ThreadId(1);
const T2: ThreadId = ThreadId(2);
const T3: ThreadId = ThreadId(3);

/// Runs actions on one cell and collects what they return; `None` where the thread has to wait.
fn run(actions: &[(ThreadId, A)]) -> Vec<Option<Value>> {
    let mut lists = Lists::default();
    let mut word = 0;
    let mut values = Vec::new();
    for &(thread, action) in actions {
        values.push(match lists.step(word, action, thread) {
            SyncStep::Done { word: new, value } => {
                word = new;
                Some(value)
            }
            SyncStep::Wait => None,
            SyncStep::Misuse(misuse) => panic!("{thread:?} {action:?}: {misuse:?}"),
        });
    }
    values
}

fn misuse(actions: &[(ThreadId, A)]) -> Misuse {
    let mut lists = Lists::default();
    let mut word = 0;
    for &(thread, action) in actions {
        match lists.step(word, action, thread) {
            SyncStep::Done { word: new, .. } => word = new,
            SyncStep::Wait => panic!("{thread:?} waits to {action:?}"),
            SyncStep::Misuse(misuse) => return misuse,
        }
    }
    panic!("no misuse")
}

#[test]
fn mutex_excludes() {
    let run = run(&[
        (T1, A::LOCK),
        (T2, A::LOCK),
        (T2, A::TRY_LOCK),
        (T1, A::UNLOCK),
        (T2, A::LOCK),
    ]);
    assert_eq!(run, [Some(0), None, Some(EBUSY), Some(0), Some(0)]);
}

#[test]
fn mutex_kinds_differ_when_locked_twice() {
    assert_eq!(run(&[(T1, A::LOCK), (T1, A::LOCK)]), [Some(0), None]);
    let recursive = A::MutexInit {
        kind: MutexKind::Recursive,
    };
    let run_recursive = run(&[
        (T1, recursive),
        (T1, A::LOCK),
        (T1, A::LOCK),
        (T1, A::UNLOCK),
        (T2, A::LOCK),
        (T1, A::UNLOCK),
        (T2, A::LOCK),
    ]);
    assert_eq!(
        run_recursive,
        [Some(0), Some(0), Some(0), Some(0), None, Some(0), Some(0)]
    );
    let checking = A::MutexInit {
        kind: MutexKind::ErrorCheck,
    };
    let run_checking = run(&[
        (T1, checking),
        (T1, A::LOCK),
        (T1, A::LOCK),
        (T2, A::UNLOCK),
        (T1, A::TRY_LOCK),
    ]);
    assert_eq!(
        run_checking,
        [Some(0), Some(0), Some(EDEADLK), Some(EPERM), Some(EBUSY)]
    );
}

#[test]
fn mutex_misuse_is_seen() {
    assert_eq!(misuse(&[(T1, A::UNLOCK)]), Misuse::UnlockUnlocked);
    assert_eq!(
        misuse(&[(T1, A::LOCK), (T2, A::UNLOCK)]),
        Misuse::UnlockNotOwned
    );
    assert_eq!(
        misuse(&[(T1, A::LOCK), (T2, A::MutexDestroy)]),
        Misuse::DestroyLocked
    );
    assert_eq!(
        misuse(&[(T1, A::MutexDestroy), (T2, A::LOCK)]),
        Misuse::UseDestroyed
    );
}

const RELEASE: A = A::CondRelease {
    mutex: raddle_program::LocId(0),
};

#[test]
fn who_was_woken_may_leave_a_destroyed_condition_variable() {
    let woken = [
        (T1, RELEASE),
        (T2, RELEASE),
        (T3, A::Broadcast),
        (T3, A::CondDestroy),
    ];
    let leave = [(T2, A::CondAwait), (T1, A::CondAwait)];
    let all = [woken.as_slice(), &leave].concat();
    assert_eq!(run(&all), [Some(0); 6]);
    for late in [A::Signal, A::Broadcast, RELEASE, A::CondDestroy] {
        for left in 0..=2 {
            let steps = [woken.as_slice(), &leave[..left], &[(T3, late)]].concat();
            assert_eq!(misuse(&steps), Misuse::UseDestroyed, "{late:?}");
        }
    }
    let waits = [(T1, RELEASE), (T2, RELEASE), (T3, A::Signal)];
    let steps = [waits.as_slice(), &[(T3, A::CondDestroy)]].concat();
    assert_eq!(misuse(&steps), Misuse::DestroyWithWaiters);
}

#[test]
fn a_signal_without_waiters_is_lost() {
    assert_eq!(
        run(&[(T1, A::Signal), (T2, RELEASE), (T2, A::CondAwait)]),
        [Some(0), Some(0), None]
    );
}

#[test]
fn a_late_waiter_does_not_steal_a_signal() {
    let run = run(&[
        (T1, RELEASE),
        (T3, A::Signal),
        (T2, RELEASE),
        (T2, A::CondAwait),
        (T1, A::CondAwait),
    ]);
    assert_eq!(run, [Some(0), Some(0), Some(0), None, Some(0)]);
}

#[test]
fn one_signal_wakes_any_one_of_those_who_wait() {
    let wait = [(T1, RELEASE), (T2, RELEASE), (T3, A::Signal)];
    for (first, second) in [(T1, T2), (T2, T1)] {
        let mut actions = wait.to_vec();
        actions.extend([(first, A::CondAwait), (second, A::CondAwait)]);
        assert_eq!(run(&actions)[3..], [Some(0), None]);
    }
}

#[test]
fn broadcast_wakes_all_and_only_those_who_wait() {
    let run = run(&[
        (T1, RELEASE),
        (T2, RELEASE),
        (T3, A::Broadcast),
        (T3, RELEASE),
        (T2, A::CondAwait),
        (T1, A::CondAwait),
        (T3, A::CondAwait),
    ]);
    assert_eq!(run[4..], [Some(0), Some(0), None]);
}

#[test]
fn looking_for_a_signal_takes_it_or_gives_up() {
    let taken = run(&[
        (T1, RELEASE),
        (T2, RELEASE),
        (T3, A::Signal),
        (T1, A::CondPoll),
        (T2, A::CondAwait),
    ]);
    assert_eq!(taken.last().copied(), Some(None));
    let in_vain = run(&[(T1, RELEASE), (T1, A::CondPoll), (T3, A::Signal)]);
    assert_eq!(in_vain[1], Some(ETIMEDOUT));
}

#[test]
fn a_timeout_does_not_lose_the_signal_of_another() {
    let run_both = run(&[
        (T1, RELEASE),
        (T2, RELEASE),
        (T3, A::Signal),
        (T1, A::CondTimeout),
        (T2, A::CondAwait),
    ]);
    assert_eq!(run_both[3..], [Some(ETIMEDOUT), Some(0)]);
    let run_alone = run(&[(T1, RELEASE), (T3, A::Signal), (T1, A::CondTimeout)]);
    assert_eq!(run_alone[2], Some(0));
}

#[test]
fn readers_share_and_writers_do_not() {
    let run = run(&[
        (T1, A::ReadLock),
        (T2, A::ReadLock),
        (T3, A::TryWriteLock),
        (T1, A::RwUnlock),
        (T3, A::WriteLock),
        (T2, A::RwUnlock),
        (T3, A::WriteLock),
        (T1, A::ReadLock),
        (T3, A::RwUnlock),
        (T1, A::TryReadLock),
    ]);
    assert_eq!(
        run,
        [
            Some(0),
            Some(0),
            Some(EBUSY),
            Some(0),
            None,
            Some(0),
            Some(0),
            None,
            Some(0),
            Some(0)
        ]
    );
    assert_eq!(
        misuse(&[(T1, A::ReadLock), (T2, A::RwUnlock)]),
        Misuse::UnlockNotOwned
    );
}

#[test]
fn semaphores_count() {
    let run = run(&[
        (T1, A::SemInit { value: 1 }),
        (T1, A::SemWait),
        (T2, A::SemWait),
        (T2, A::SemTryWait),
        (T1, A::SemPost),
        (T2, A::SemWait),
        (T1, A::SemGet),
    ]);
    assert_eq!(
        run,
        [
            Some(0),
            Some(0),
            None,
            Some(EAGAIN),
            Some(0),
            Some(0),
            Some(0)
        ]
    );
}

#[test]
fn a_barrier_opens_for_the_last_and_can_be_used_again() {
    let run = run(&[
        (T1, A::BarrierInit { count: 2 }),
        (T1, A::BarrierArrive),
        (T1, A::BarrierAwait { generation: 0 }),
        (T2, A::BarrierArrive),
        (T1, A::BarrierAwait { generation: 0 }),
        (T1, A::BarrierArrive),
        (T1, A::BarrierAwait { generation: 1 }),
    ]);
    assert_eq!(
        run,
        [Some(0), Some(0), None, Some(1), Some(0), Some(2), None]
    );
}

#[test]
fn once_runs_once() {
    let run = run(&[
        (T1, A::OnceBegin),
        (T2, A::OnceBegin),
        (T1, A::OnceEnd),
        (T2, A::OnceBegin),
    ]);
    assert_eq!(run, [Some(0), None, Some(0), Some(1)]);
}

#[test]
fn once_runs_again_after_an_exception() {
    let run = run(&[
        (T1, A::OnceBegin),
        (T2, A::OnceBegin),
        (T1, A::OnceAbort),
        (T2, A::OnceBegin),
        (T1, A::OnceBegin),
    ]);
    assert_eq!(run, [Some(0), None, Some(0), Some(0), None]);
}
