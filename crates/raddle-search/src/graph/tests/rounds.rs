//! Loops that take a lock, look, and give it back.

use super::number;
use super::waits::found;
use crate::driver::{Opinion, SearchOptions, check};
use crate::oracle::c11::{GraphOptions, final_graphs};
use crate::verdict::{EngineKind, MemoryModel, Outcome, Verdict, ViolationKind};
use raddle_program::{Order, RmwKind};
use raddle_testing::builder::{
    BuiltProgram, Compare, Expr, Place, ProgramBuilder, SyncVar, ThreadBuilder,
};
use raddle_testing::generate::Random;

#[derive(Clone, Copy)]
enum Lock {
    Mutex(SyncVar),
    Read(SyncVar),
    Both(SyncVar, SyncVar),
    Semaphore(SyncVar),
    /// Updates of a variable.
    Word(Place),
    /// The same, given back by a store.
    Flag(Place),
    /// The same; whoever finds it taken looks until it is free, and tries again.
    Looked(Place, Attempt),
}

/// How a variable is taken.
#[derive(Clone, Copy)]
enum Attempt {
    Exchange,
    CompareExchange,
    /// As long as it is taken, nothing else is done: for those who try all that there is.
    Waiting,
}

impl Lock {
    fn inside<T>(self, t: &mut ThreadBuilder, body: impl FnOnce(&mut ThreadBuilder) -> T) -> T {
        match self {
            Self::Mutex(m) => t.lock(m),
            Self::Read(m) => t.read_lock(m),
            Self::Both(m, n) => {
                t.lock(m);
                t.lock(n);
            }
            Self::Semaphore(s) => t.sem_wait(s),
            Self::Word(w) | Self::Flag(w) => t.while_(
                |t| {
                    let (_, got) = t.cas_order(w, 0, 1, Order::Acquire, Order::Relaxed);
                    got.is(0)
                },
                |_| {},
            ),
            Self::Looked(w, attempt) => t.while_(
                |t| match attempt {
                    Attempt::Exchange => t.rmw(w, RmwKind::Exchange, 1, Order::Acquire).is(1),
                    _ => t.cas_order(w, 0, 1, Order::Acquire, Order::Relaxed).1.is(0),
                },
                |t| match attempt {
                    Attempt::Waiting => {}
                    _ => t.while_(|t| t.load_order(w, Order::Relaxed).is(1), |_| {}),
                },
            ),
        }
        let result = body(t);
        match self {
            Self::Mutex(m) => t.unlock(m),
            Self::Read(m) => t.rw_unlock(m),
            Self::Both(m, n) => {
                t.unlock(n);
                t.unlock(m);
            }
            Self::Semaphore(s) => t.sem_post(s),
            Self::Flag(w) | Self::Looked(w, _) => t.store_order(w, 0, Order::Release),
            Self::Word(w) => {
                t.rmw(w, RmwKind::Exchange, 0, Order::Release);
            }
        }
        result
    }
}

/// Looks in each round; if there is a bound, an execution ends that would go on.
fn wait_for(
    t: &mut ThreadBuilder,
    lock: Lock,
    (place, order, value): (Place, Order, u64),
    rounds: Option<u32>,
) {
    let Some(left) = rounds else {
        t.loop_(|t| {
            let found = lock.inside(t, |t| t.load_order(place, order));
            t.if_(found.is(value), ThreadBuilder::break_);
        });
        return;
    };
    let found = lock.inside(t, |t| t.load_order(place, order));
    t.if_else(
        found.is(value),
        |_| {},
        |t| match left {
            1 => t.assume(0),
            _ => wait_for(t, lock, (place, order, value), Some(left - 1)),
        },
    );
}

/// Two or three threads; one of them waits in loops, and one says what it expects in the end.
fn taking(seed: u64, rounds: Option<u32>) -> BuiltProgram {
    let mut random = Random::new(seed);
    let mut b = ProgramBuilder::new(&format!("rounds {seed}"));
    let vars = [b.var("x", 4), b.var("y", 4)];
    let (word, flag) = (b.var("w", 4), b.var("f", 4));
    let (m, n, rw, sem) = (b.mutex("m"), b.mutex("n"), b.rwlock("rw"), b.sem("s", 1));
    let attempts = match rounds {
        None => [Attempt::Exchange, Attempt::CompareExchange],
        Some(_) => [Attempt::Waiting; 2],
    };
    let threads = 2 + random.below(3) / 2;
    let asserts = random.below(threads);
    for i in 0..threads {
        let count = 1 + random.below(3);
        let plan: Vec<[u64; 5]> = (0..count)
            .map(|_| [9, 2, 10, 5, 3].map(|below| random.below(below)))
            .collect();
        let end = [2, 2].map(|below| random.below(below));
        b.thread(&format!("t{i}"), |t| {
            for [kind, var, lock, order, value] in plan {
                let x = vars[var as usize];
                let value = value.min(1);
                let lock = match lock {
                    0 => Lock::Mutex(m),
                    1 => Lock::Both(m, n),
                    2 => Lock::Semaphore(sem),
                    3 | 4 => Lock::Word(word),
                    5 | 6 => Lock::Flag(flag),
                    7 | 8 => Lock::Looked(flag, attempts[lock as usize - 7]),
                    _ => Lock::Read(rw),
                };
                let order = [
                    Order::Plain,
                    Order::Relaxed,
                    Order::Relaxed,
                    Order::Acquire,
                    Order::SeqCst,
                ][order as usize];
                let stored = match order {
                    Order::Acquire => Order::Release,
                    order => order,
                };
                match kind {
                    0 | 1 => t.store_order(x, 1, stored),
                    2 => {
                        t.write_lock(rw);
                        t.store_order(x, 1, stored);
                        t.rw_unlock(rw);
                    }
                    3 | 4 => lock.inside(t, |t| t.store_order(x, 1, stored)),
                    5 => {
                        let found = lock.inside(t, |t| t.load_order(x, order));
                        t.if_(found.is(1), |t| t.store_order(vars[0], 2, stored));
                    }
                    // It waits until the lock is free, which tells nothing.
                    6 => {
                        t.while_(|t| t.load_order(flag, Order::Relaxed).is(1), |_| {});
                        t.store_order(x, value, stored);
                    }
                    // The first thread only: two of them see each other in locks for reading.
                    _ if i == 0 => wait_for(t, lock, (x, order, value), rounds),
                    _ => t.store_order(x, value, stored),
                }
            }
            if i == asserts {
                let found = t.load_order(vars[end[0] as usize], Order::Relaxed);
                t.assert(found.differs(end[1]));
            }
        });
    }
    b.no_joins();
    b.build()
}

/// Is there a race, a failed assertion, a deadlock?
fn kinds(outcome: &Outcome) -> [bool; 3] {
    let Verdict::Violation(violations) = &outcome.verdict else {
        assert!(
            matches!(outcome.verdict, Verdict::Verified { .. }),
            "{:?}",
            outcome.verdict
        );
        return [false; 3];
    };
    let any = |is: fn(&ViolationKind) -> bool| violations.iter().any(|it| is(&it.kind));
    [
        any(|kind| matches!(kind, ViolationKind::Race(_))),
        any(|kind| matches!(kind, ViolationKind::Fault(_))),
        any(|kind| matches!(kind, ViolationKind::Deadlock { .. })),
    ]
}

/// Does something again and again until it is done, which `attempt` tells in code of its own; if there is a bound, an execution ends that would go on.
fn until(t: &mut ThreadBuilder, rounds: Option<u32>, attempt: &dyn Fn(&mut ThreadBuilder) -> Expr) {
    let Some(left) = rounds else {
        t.loop_(|t| {
            let done = attempt(t);
            t.if_(done, ThreadBuilder::break_);
        });
        return;
    };
    let done = attempt(t);
    t.if_else(
        done,
        |_| {},
        |t| match left {
            1 => t.assume(0),
            _ => until(t, Some(left - 1), attempt),
        },
    );
}

/// Two threads that take two mutexes, and give the first one back if they do not get the second; they and a third one look whether one is taken. Where there are three, the two begin with different mutexes:
/// of those who begin with the same one, each can use the moment in which another one has given it away, again and again.
fn backing_off(seed: u64, rounds: Option<u32>) -> BuiltProgram {
    let mut random = Random::new(seed);
    let mut b = ProgramBuilder::new(&format!("backing off {seed}"));
    let vars = [b.var("x", 4), b.var("y", 4)];
    let locks = [b.mutex("m"), b.mutex("n")];
    let threads = 2 + random.below(4) / 3;
    let asserts = random.below(threads);
    for i in 0..threads {
        let count = 1 + random.below(if threads == 2 { 2 } else { 1 });
        let plan: Vec<[u64; 5]> = (0..count)
            .map(|_| [10, 2, 2, 4, 2].map(|below| random.below(below)))
            .collect();
        let end = [2, 2].map(|below| random.below(below));
        b.thread(&format!("t{i}"), |t| {
            for [kind, var, first, order, value] in plan {
                let first = if threads == 2 { first } else { i % 2 };
                let (x, y) = (vars[var as usize], vars[1 - var as usize]);
                let (m, n) = (locks[first as usize], locks[1 - first as usize]);
                let order =
                    [Order::Plain, Order::Relaxed, Order::Relaxed, Order::SeqCst][order as usize];
                match kind {
                    0 => t.store_order(x, 1, order),
                    1..=4 if i < 2 => {
                        until(t, rounds, &|t| {
                            t.lock(m);
                            let got = t.try_lock(n);
                            t.if_(got.is(0), |t| t.unlock(m));
                            got.is(1)
                        });
                        match value {
                            0 => t.store_order(x, 1, order),
                            _ => {
                                let found = t.load_order(x, order);
                                t.if_(found.is(1), |t| t.store_order(y, 2, Order::Relaxed));
                            }
                        }
                        t.unlock(n);
                        t.unlock(m);
                    }
                    5 | 6 => {
                        let got = t.try_lock(m);
                        t.if_else(
                            got.is(1),
                            |t| t.unlock(m),
                            |t| t.store_order(y, 1, Order::Relaxed),
                        );
                    }
                    7 => Lock::Mutex(m).inside(t, |t| t.store_order(x, 1, order)),
                    // It waits with the lock in hand, but for a moment.
                    8 if i == 0 => {
                        t.lock(m);
                        until(t, rounds, &|t| {
                            let found = t.load_order(x, order);
                            t.if_(found.differs(value), |t| {
                                t.unlock(m);
                                t.lock(m);
                            });
                            found.is(value)
                        });
                        t.unlock(m);
                    }
                    _ if i == 0 => wait_for(t, Lock::Mutex(m), (x, order, value), rounds),
                    _ => t.store_order(x, value, order),
                }
            }
            if i == asserts {
                let found = t.load_order(vars[0], Order::Relaxed);
                t.if_(found.is(end[0]), |t| {
                    let found = t.load_order(vars[1], Order::Relaxed);
                    t.assert(found.differs(end[1]));
                });
            }
        });
    }
    b.no_joins();
    b.build()
}

/// A program by its number, with so many rounds of each loop if there is a bound.
type Family = fn(u64, Option<u32>) -> BuiltProgram;

/// Under SC, as `dpor` has them.
fn compare_with_dpor(family: Family, count: u64) {
    let first = number("FIRST", 0);
    let mut any = [0; 3];
    for seed in first..first + number("COUNT", count) {
        let built = family(seed, None);
        let dpor = kinds(&found(&built, EngineKind::Dpor, MemoryModel::Sc));
        let graph = kinds(&found(&built, EngineKind::Graph, MemoryModel::Sc));
        // Plain accesses do not branch, so where there is a race that is the answer.
        match dpor[0] {
            true => assert!(graph[0], "seed {seed}: {built}"),
            false => assert_eq!(graph, dpor, "seed {seed}: {built}"),
        }
        for (count, is_there) in any.iter_mut().zip(graph) {
            *count += u32::from(is_there);
        }
    }
    assert!(any.iter().all(|&count| count > 5), "{any:?}");
}

#[test]
fn the_same_violations_as_dpor() {
    compare_with_dpor(taking, 200);
}

#[test]
fn the_same_violations_as_dpor_where_threads_back_off() {
    compare_with_dpor(backing_off, 200);
}

/// Under C11, races and assertions as by brute force where each loop has so many rounds: no more are needed, since there are no more
/// writes that they could wait for.
fn compare_with_brute_force(family: Family, rounds: u32, count: u64) {
    let first = number("FIRST", 0);
    let (mut compared, mut failed) = (0, 0);
    for seed in first..first + number("COUNT", count) {
        let options = GraphOptions {
            most: 20_000,
            ..GraphOptions::default()
        };
        let bounded = family(seed, Some(rounds));
        let Some(all) = final_graphs(&mut bounded.program(), &options) else {
            continue;
        };
        compared += 1;
        let built = family(seed, None);
        let [race, assertion, _] = kinds(&found(&built, EngineKind::Graph, MemoryModel::C11));
        assert_eq!(race, all.has_race(), "seed {seed}: {built}");
        if !race {
            let fails = |kind: &ViolationKind| matches!(kind, ViolationKind::Fault(_));
            let fails = all.violations.values().any(|it| fails(&it.kind));
            failed += u32::from(fails);
            assert_eq!(assertion, fails, "seed {seed}: {built}");
        }
    }
    assert!(compared > 50 && failed > 5, "{compared} {failed}");
}

#[test]
fn the_same_violations_as_by_brute_force() {
    compare_with_brute_force(taking, 3, 150);
}

#[test]
fn the_same_violations_as_by_brute_force_where_threads_back_off() {
    compare_with_brute_force(backing_off, 2, 150);
}

/// A thread that looks whether the lock is taken may see the iteration, so it is explored, and there is no end to that. Where it looks before the others are there, it cannot.
/// A mutex is given away for a moment in each round, and who finds it free then takes it.
#[test]
fn iterations_that_may_be_seen_are_explored() {
    for (looks, is_early) in [(false, false), (true, true), (true, false)] {
        for kind in 0..3 {
            let ends = !looks || is_early || kind == 0;
            let mut b = ProgramBuilder::new("looks");
            let (x, y, w) = (b.var("x", 4), b.var("y", 4), b.var("w", 4));
            let m = b.mutex("m");
            let lock = [Lock::Mutex(m), Lock::Word(w), Lock::Flag(w)][kind];
            let look = |t: &mut ThreadBuilder| {
                let found = match lock {
                    Lock::Word(_) | Lock::Flag(_) => t.load_order(w, Order::Relaxed),
                    _ => {
                        let got = t.try_lock(m);
                        t.if_(got.is(1), |t| t.unlock(m));
                        got
                    }
                };
                t.if_(found.is(1), |t| t.store_order(y, 1, Order::Relaxed));
            };
            b.thread("a", |t| wait_for(t, lock, (x, Order::Relaxed, 1), None));
            b.thread("b", |t| {
                t.store_order(x, 1, Order::Relaxed);
                if looks && !is_early {
                    look(t);
                }
            });
            b.main(|t| {
                if looks && is_early {
                    look(t);
                }
                t.spawn_all();
            });
            let built = b.build();
            let options = SearchOptions {
                memory: MemoryModel::C11,
                milestones: Some(Box::new(|_| Opinion::NothingWrong)),
                ..SearchOptions::default()
            };
            let outcome = check(&mut built.program(), EngineKind::Graph, options).unwrap();
            let is_verified = matches!(outcome.verdict, Verdict::Verified { .. });
            assert_eq!(
                is_verified, ends,
                "{looks} {is_early} {:?}\n{built}",
                outcome.verdict
            );
        }
    }
}
