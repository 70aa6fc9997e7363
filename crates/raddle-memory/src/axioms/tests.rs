use super::*;
use raddle_program::{LocId, ObjectId, SyncAction};

const X: u32 = 0;
const Y: u32 = 1;
/// A mutex, semaphore or whatever it is used as.
const M: u32 = 9;

use Order::{AcqRel, Acquire, Plain, Relaxed, Release, SeqCst};

/// Graphs in a few words. Every method returns the event.
struct Drawn(ExecutionGraph);

impl Drawn {
    fn new() -> Self {
        Self(ExecutionGraph::default())
    }

    fn add(&mut self, thread: u32, kind: EventKind) -> EventId {
        let thread = ThreadId(thread);
        self.0.events.push(Event { thread, kind });
        self.0.events.len() - 1
    }

    fn memory(
        &mut self,
        thread: u32,
        at: (u32, u64, u8),
        order: Order,
        reads: Option<Reads>,
        writes: bool,
    ) -> EventId {
        let (object, offset, size) = at;
        let loc = LocId(object * 100 + offset as u32 * 10 + u32::from(size));
        let event = self.add(
            thread,
            EventKind::Memory(MemoryAccess {
                loc,
                object: ObjectId(object),
                offset,
                size,
                order,
                reads,
                writes,
            }),
        );
        if writes {
            let order = self.0.modification.entry(Place::Loc(loc)).or_default();
            order.push(event);
        }
        event
    }

    fn w(&mut self, thread: u32, at: u32, order: Order) -> EventId {
        self.memory(thread, (at, 0, 4), order, None, true)
    }

    fn r(&mut self, thread: u32, at: u32, order: Order, source: Source) -> EventId {
        self.memory(thread, (at, 0, 4), order, Some(Reads::One(source)), false)
    }

    fn u(&mut self, thread: u32, at: u32, order: Order, source: Source) -> EventId {
        self.memory(thread, (at, 0, 4), order, Some(Reads::One(source)), true)
    }

    fn f(&mut self, thread: u32, order: Order) -> EventId {
        self.add(thread, EventKind::Fence(order))
    }

    /// The next update of the cell.
    fn sync(&mut self, thread: u32, action: SyncAction, value: u64) -> EventId {
        let last = self.0.last_write(Place::Loc(LocId(M)));
        self.sync_from(thread, action, value, last)
    }

    fn sync_from(&mut self, thread: u32, action: SyncAction, value: u64, from: Source) -> EventId {
        let cell = Place::Loc(LocId(M));
        let writes = crate::access::sync_mode(action, value).writes();
        let event = self.add(
            thread,
            EventKind::Cell(CellAccess {
                cell,
                object: Some(ObjectId(M)),
                reads: from,
                writes,
                role: Role::of(action, value),
            }),
        );
        if writes {
            self.0.modification.entry(cell).or_default().push(event);
        }
        event
    }

    /// The modification order of a variable.
    fn mo(&mut self, order: &[EventId]) -> &mut Self {
        let loc = self.0.memory(order[0]).expect("a write").loc;
        self.0.modification.insert(Place::Loc(loc), order.to_vec());
        self
    }

    fn judged(&self) -> Result<Vec<(EventId, EventId)>, Inconsistency> {
        let judged = judge(&self.0)?;
        let mut pasts = Pasts::default();
        pasts.follow(&self.0);
        for a in 0..self.0.events.len() {
            for b in 0..self.0.events.len() {
                assert_eq!(
                    pasts.ordered(a, b),
                    judged.happens_before.has(a, b),
                    "{a} {b}"
                );
            }
        }
        Ok(data_races(&self.0, &judged.happens_before))
    }

    fn is_execution(&self) -> bool {
        self.judged().is_ok()
    }
}

#[test]
fn coherence_of_one_location() {
    // Reads of one thread do not go back.
    let (old, new) = (Some(0), Some(1));
    for (first, second, allowed) in [
        (None, old, true),
        (old, new, true),
        (new, new, true),
        (new, old, false),
        (old, None, false),
    ] {
        let mut g = Drawn::new();
        g.w(1, X, Relaxed);
        g.w(1, X, Relaxed);
        g.r(2, X, Relaxed, first);
        g.r(2, X, Relaxed, second);
        assert_eq!(g.is_execution(), allowed, "{first:?} {second:?}");
    }
    // A thread's own writes are in its order.
    let mut g = Drawn::new();
    let (a, b) = (g.w(1, X, Relaxed), g.w(1, X, Relaxed));
    assert!(g.is_execution());
    assert_eq!(
        g.mo(&[b, a]).judged(),
        Err(Inconsistency::Coherence {
            first: a,
            second: b
        })
    );
    // A read sees no older write than its thread's own.
    let mut g = Drawn::new();
    g.w(1, X, Relaxed);
    g.r(1, X, Relaxed, None);
    assert!(!g.is_execution());
    // A write after a read is behind what was read.
    let mut g = Drawn::new();
    let a = g.w(1, X, Relaxed);
    g.r(2, X, Relaxed, Some(a));
    let b = g.w(2, X, Relaxed);
    assert!(g.is_execution());
    assert!(!g.mo(&[b, a]).is_execution());
}

#[test]
fn updates_come_right_behind_what_they_read() {
    let mut g = Drawn::new();
    g.u(1, X, Relaxed, None);
    g.u(2, X, Relaxed, None);
    assert_eq!(
        g.judged(),
        Err(Inconsistency::Atomicity {
            update: 1,
            between: 0
        })
    );
    let mut g = Drawn::new();
    let a = g.u(1, X, Relaxed, None);
    g.u(2, X, Relaxed, Some(a));
    assert!(g.is_execution());
    let mut g = Drawn::new();
    let a = g.w(1, X, Relaxed);
    let u = g.u(2, X, Relaxed, None);
    assert!(!g.is_execution());
    assert!(g.mo(&[u, a]).is_execution());
    // Locks are updates.
    let mut g = Drawn::new();
    g.sync(1, SyncAction::LOCK, 0);
    g.sync_from(2, SyncAction::LOCK, 0, None);
    assert!(!g.is_execution());
}

/// Message passing with these orders and fences; is the old value read?
fn stale_message(
    store: Order,
    load: Order,
    release: Option<Order>,
    acquire: Option<Order>,
) -> bool {
    let mut g = Drawn::new();
    g.w(1, X, Relaxed);
    if let Some(order) = release {
        g.f(1, order);
    }
    let flag = g.w(1, Y, store);
    g.r(2, Y, load, Some(flag));
    if let Some(order) = acquire {
        g.f(2, order);
    }
    g.r(2, X, Relaxed, None);
    g.is_execution()
}

#[test]
fn message_passing() {
    for store in [Relaxed, Release, SeqCst] {
        for load in [Relaxed, Acquire, SeqCst] {
            for release in [
                None,
                Some(Acquire),
                Some(Release),
                Some(AcqRel),
                Some(SeqCst),
            ] {
                for acquire in [
                    None,
                    Some(Acquire),
                    Some(Release),
                    Some(AcqRel),
                    Some(SeqCst),
                ] {
                    let publishes = store != Relaxed || release.is_some_and(Order::releases);
                    let learns = load != Relaxed || acquire.is_some_and(Order::acquires);
                    assert_eq!(
                        stale_message(store, load, release, acquire),
                        !(publishes && learns),
                        "{store:?} {load:?} {release:?} {acquire:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn release_sequences() {
    // What comes between the release store and the acquiring read: an update of another thread, a store of the same thread or of another.
    for (rule, by_store) in [
        (ReleaseSequences::UpdatesOnly, false),
        (ReleaseSequences::SameThread, true),
    ] {
        for (continued, orders) in [(0, true), (1, by_store), (2, false)] {
            let mut g = Drawn::new();
            g.0.release_sequences = rule;
            g.w(1, X, Plain);
            let head = g.w(1, Y, Release);
            let read = match continued {
                0 => g.u(3, Y, Relaxed, Some(head)),
                1 => g.w(1, Y, Relaxed),
                _ => g.w(3, Y, Relaxed),
            };
            g.r(2, Y, Acquire, Some(read));
            let source = if orders { Some(0) } else { None };
            g.r(2, X, Plain, source);
            let races = g.judged().expect("an execution");
            assert_eq!(races.is_empty(), orders, "{rule:?} {continued}");
        }
    }
}

/// Store buffering: both threads store with the first order and load with the second, with a fence between.
fn both_miss(store: Order, load: Order, fence: Option<Order>) -> bool {
    let mut g = Drawn::new();
    for (thread, own, other) in [(1, X, Y), (2, Y, X)] {
        g.w(thread, own, store);
        if let Some(order) = fence {
            g.f(thread, order);
        }
        g.r(thread, other, load, None);
    }
    g.is_execution()
}

#[test]
fn store_buffering() {
    assert!(both_miss(Relaxed, Relaxed, None));
    assert!(both_miss(Release, Acquire, None));
    assert!(both_miss(SeqCst, Acquire, None));
    assert!(both_miss(Release, SeqCst, None));
    assert!(!both_miss(SeqCst, SeqCst, None));
    assert!(both_miss(Relaxed, Relaxed, Some(AcqRel)));
    assert!(!both_miss(Relaxed, Relaxed, Some(SeqCst)));
}

/// Z6.U: what happens before an SC access need not be ordered before it by the SC axiom.
#[test]
fn sc_and_other_accesses_mixed() {
    // T1: Wsc x; Wrel y. T2: Usc y (reads it, acquires); r y. T3: Wsc y; Rsc x.
    let mut g = Drawn::new();
    g.w(1, X, SeqCst);
    let y = g.w(1, Y, Release);
    let update = g.u(2, Y, SeqCst, Some(y));
    let last = g.w(3, Y, SeqCst);
    g.r(3, X, SeqCst, None);
    // In C11 as it was, the SC order would have to agree with hb, which forbids this; RC11 allows it.
    assert!(g.mo(&[y, update, last]).is_execution());
}

#[test]
fn an_event_is_listed_after_what_it_reads() {
    let mut g = Drawn::new();
    g.r(1, X, Relaxed, Some(1));
    g.w(2, X, Relaxed);
    assert_eq!(g.judged(), Err(Inconsistency::Malformed { event: 0 }));
    let mut g = Drawn::new();
    let y = g.w(1, Y, Relaxed);
    g.r(1, X, Relaxed, Some(y));
    assert_eq!(g.judged(), Err(Inconsistency::Malformed { event: 1 }));
}

#[test]
fn races_are_unordered_conflicts_with_a_plain_access() {
    let race = |a: Order, b: Order, writes: bool| {
        let mut g = Drawn::new();
        g.w(1, X, a);
        if writes {
            g.w(2, X, b);
        } else {
            g.r(2, X, b, None);
        }
        g.judged().expect("an execution")
    };
    assert_eq!(race(Plain, Plain, true), [(0, 1)]);
    assert_eq!(race(Plain, Relaxed, false), [(0, 1)]);
    assert_eq!(race(SeqCst, Plain, false), [(0, 1)]);
    assert_eq!(race(Relaxed, Relaxed, true), []);
    let mut g = Drawn::new();
    g.r(1, X, Plain, None);
    g.r(2, X, Plain, None);
    assert_eq!(g.judged(), Ok(vec![]));
    // Taken for relaxed ones.
    let mut g = Drawn::new();
    g.0.plain = PlainAccesses::AreRelaxed;
    g.w(1, X, Plain);
    g.w(2, X, Plain);
    assert_eq!(g.judged(), Ok(vec![]));
}

#[test]
fn threads_come_after_their_spawn_and_before_their_join() {
    let mut g = Drawn::new();
    let a = g.w(0, X, Plain);
    g.add(0, EventKind::Spawn(ThreadId(1)));
    g.r(1, X, Plain, Some(a));
    let b = g.w(1, X, Plain);
    g.add(0, EventKind::Join(ThreadId(1)));
    g.r(0, X, Plain, Some(b));
    assert_eq!(g.judged(), Ok(vec![]));
    // Without the join.
    g.0.events[4].kind = EventKind::Local;
    assert_eq!(g.judged(), Ok(vec![(3, 5)]));
    // The fence of a thread is nobody else's: the writes of its children do not release by it.
    let mut g = Drawn::new();
    g.w(0, X, Plain);
    g.f(0, Release);
    g.add(0, EventKind::Spawn(ThreadId(1)));
    g.add(0, EventKind::Spawn(ThreadId(2)));
    let flag = g.w(1, Y, Relaxed);
    g.r(2, Y, Acquire, Some(flag));
    assert!(!judge(&g.0).expect("consistent").happens_before.has(flag, 5));
}

#[test]
fn frees_race_with_everything_in_their_object() {
    let mut g = Drawn::new();
    g.add(1, EventKind::Free(ObjectId(X)));
    g.r(2, X, SeqCst, None);
    assert_eq!(g.judged(), Ok(vec![(0, 1)]));
    let mut g = Drawn::new();
    g.sync(1, SyncAction::LOCK, 0);
    g.sync(1, SyncAction::UNLOCK, 0);
    g.add(2, EventKind::Free(ObjectId(M)));
    assert_eq!(g.judged(), Ok(vec![(0, 2), (1, 2)]));
}

/// Does the first operation, by thread 1, happen before the last, by thread 2?
fn orders(operations: &[(u32, SyncAction, u64)]) -> bool {
    let mut g = Drawn::new();
    let first = g.w(1, X, Plain);
    for &(thread, action, value) in operations {
        g.sync(thread, action, value);
    }
    let last = g.w(2, X, Plain);
    let races = g.judged().expect("an execution");
    assert!(races.is_empty() || races == [(first, last)]);
    races.is_empty()
}

#[test]
fn what_synchronisation_objects_order() {
    use SyncAction as A;
    let busy = raddle_program::errno::EBUSY;
    for (expected, operations) in [
        (
            true,
            &[(1, A::LOCK, 0), (1, A::UNLOCK, 0), (2, A::LOCK, 0)][..],
        ),
        (
            true,
            &[(1, A::LOCK, 0), (1, A::UNLOCK, 0), (2, A::TRY_LOCK, 0)],
        ),
        (
            false,
            &[(1, A::LOCK, 0), (1, A::UNLOCK, 0), (2, A::TRY_LOCK, busy)],
        ),
        (false, &[(1, A::LOCK, 0), (2, A::TRY_LOCK, busy)]),
        (true, &[(1, A::SemPost, 0), (2, A::SemWait, 0)]),
        (
            true,
            &[(1, A::SemPost, 0), (3, A::SemPost, 0), (2, A::SemWait, 0)],
        ),
        (false, &[(1, A::SemPost, 0), (2, A::SemGet, 1)]),
        (true, &[(1, A::Signal, 0), (2, A::CondAwait, 0)]),
        (true, &[(1, A::Broadcast, 0), (2, A::CondPoll, 0)]),
        (false, &[(1, A::Signal, 0), (2, A::CondTimeout, 110)]),
        (
            true,
            &[
                (1, A::OnceBegin, 0),
                (1, A::OnceEnd, 0),
                (2, A::OnceBegin, 1),
            ],
        ),
        (
            false,
            &[
                (1, A::ReadLock, 0),
                (1, A::RwUnlock, 0),
                (2, A::ReadLock, 0),
            ],
        ),
        (
            true,
            &[
                (1, A::ReadLock, 0),
                (1, A::RwUnlock, 0),
                (2, A::WriteLock, 0),
            ],
        ),
        (
            true,
            &[
                (1, A::WriteLock, 0),
                (1, A::RwUnlock, 0),
                (2, A::ReadLock, 0),
            ],
        ),
        (true, &[(1, A::BarrierArrive, 0), (2, A::BarrierArrive, 1)]),
        (
            true,
            &[
                (1, A::BarrierArrive, 0),
                (3, A::BarrierArrive, 1),
                (2, A::BarrierAwait { generation: 0 }, 0),
            ],
        ),
        // Arrivals of the next generation are not those of the last.
        (
            false,
            &[
                (2, A::BarrierArrive, 0),
                (3, A::BarrierArrive, 1),
                (1, A::BarrierArrive, 2),
                (2, A::BarrierAwait { generation: 0 }, 0),
            ],
        ),
    ] {
        assert_eq!(orders(operations), expected, "{operations:?}");
    }
}

#[test]
fn a_read_of_a_cell_learns_no_more_than_what_it_reads() {
    let mut g = Drawn::new();
    g.sync(1, SyncAction::OnceBegin, 0);
    let end = g.sync(1, SyncAction::OnceEnd, 0);
    let read = g.sync_from(2, SyncAction::OnceBegin, 1, Some(end));
    g.sync(3, SyncAction::OnceEnd, 0);
    let hb = judge(&g.0).expect("an execution").happens_before;
    assert!(hb.has(end, read) && !hb.has(3, read));
    // A failed attempt may find an old word, though not one older than its thread knows.
    let mut g = Drawn::new();
    let lock = g.sync(1, SyncAction::LOCK, 0);
    let unlock = g.sync(1, SyncAction::UNLOCK, 0);
    g.sync_from(2, SyncAction::TRY_LOCK, 16, Some(lock));
    assert!(g.is_execution());
    let again = g.sync_from(2, SyncAction::TRY_LOCK, 0, Some(unlock));
    assert!(g.is_execution());
    assert!(
        judge(&g.0)
            .expect("an execution")
            .happens_before
            .has(unlock, again)
    );
    g.sync_from(2, SyncAction::TRY_LOCK, 16, Some(lock));
    assert!(!g.is_execution());
}

#[test]
fn accesses_of_several_sizes() {
    let whole = (X, 0, 4);
    let mut g = Drawn::new();
    g.memory(0, whole, Plain, None, true);
    let low = g.memory(0, (X, 0, 2), Plain, None, true);
    let bytes = |low: Source, high: Source| Some(Reads::Bytes(vec![low, low, high, high]));
    g.memory(0, whole, Plain, bytes(Some(low), Some(0)), false);
    assert_eq!(g.judged(), Ok(vec![]));
    let mut old = Drawn(g.0.prefix(2));
    old.memory(0, whole, Plain, Some(Reads::One(Some(0))), false);
    assert!(!old.is_execution(), "the low half is newer");
    let mut wrong = Drawn(g.0.prefix(2));
    wrong.memory(0, whole, Plain, bytes(Some(low), Some(low)), false);
    assert_eq!(wrong.judged(), Err(Inconsistency::Malformed { event: 2 }));
    // Halves that do not share bytes do not race; the whole does.
    let mut g = Drawn::new();
    g.memory(1, (X, 0, 2), Plain, None, true);
    g.memory(2, (X, 2, 2), Plain, None, true);
    g.memory(3, whole, Plain, Some(Reads::One(None)), false);
    assert_eq!(g.judged(), Ok(vec![(0, 2), (1, 2)]));
}

/// Two thousand events: seconds, not minutes.
#[test]
fn long_executions_are_judged() {
    let mut g = Drawn::new();
    let mut last = None;
    for round in 0..500 {
        let thread = 1 + round % 4;
        let order = [Relaxed, AcqRel, SeqCst][round as usize % 3];
        last = Some(g.u(thread, X, order, last));
        g.sync(thread, SyncAction::LOCK, 0);
        g.w(thread, Y, Plain);
        g.sync(thread, SyncAction::UNLOCK, 0);
    }
    let hb = judge(&g.0).expect("an execution").happens_before;
    assert!(hb.has(1, 1997));
    assert_eq!(data_races(&g.0, &hb), []);
}

/// A plain read of two halves finds a new one and an old one: nothing orders the halves for it. With an order it must not.
#[test]
fn halves_are_coherent_each_by_itself() {
    for acquires in [false, true] {
        let mut g = Drawn::new();
        let low = (X, 0, 2);
        g.memory(1, (X, 2, 2), Relaxed, None, true);
        let first = g.memory(1, low, Release, None, true);
        let order = if acquires { Acquire } else { Relaxed };
        g.memory(2, low, order, Some(Reads::One(Some(first))), false);
        let own = g.memory(2, low, Relaxed, None, true);
        let halves = vec![Some(own), Some(own), None, None];
        g.memory(2, (X, 0, 4), Plain, Some(Reads::Bytes(halves)), false);
        assert_eq!(judge(&g.0).is_ok(), !acquires);
    }
}
