use super::*;
use crate::machine::{Machine, Readiness};
use raddle_program::{Order, ReleaseSequences};
use raddle_testing::builder::{Compare, ProgramBuilder, ThreadBuilder, deref};

/// Runs threads in the given order, one event each time (a repeated thread is run again), and returns the races as pairs
/// of step indices. `main` runs first as far as it can.
fn races(p: ProgramBuilder, schedule: &[usize]) -> Vec<(usize, usize)> {
    races_by(p, schedule, ReleaseSequences::default())
}

fn races_by(p: ProgramBuilder, schedule: &[usize], rule: ReleaseSequences) -> Vec<(usize, usize)> {
    let mut program = p.build().program();
    program.set_release_sequences(rule);
    let mut machine = Machine::new(&program);
    let main = ThreadId::MAIN;
    while machine.readiness(&program, main) == Readiness::Ready {
        machine.step(&mut program, main, &[]);
    }
    let mut schedule = schedule.to_vec();
    // Whatever is left to do, in order of threads.
    schedule.extend((1..machine.thread_count()).chain([0]).flat_map(|t| [t; 20]));
    for thread in schedule {
        let thread = ThreadId::from_index(thread);
        if machine.readiness(&program, thread) == Readiness::Ready {
            machine.step(&mut program, thread, &[]);
        }
    }
    let mut detector = RaceDetector::new();
    let all: Vec<_> = machine
        .steps()
        .iter()
        .map(|&step| detector.push(&program, step))
        .collect();
    check_truncation(&program, machine.steps(), &all);
    all.into_iter()
        .flatten()
        .map(|race| (race.first.step, race.second.step))
        .collect()
}

fn check_truncation(program: &Program, steps: &[MicroStep], expected: &[Option<RaceInfo>]) {
    let mut detector = RaceDetector::new();
    for length in 0..=steps.len() {
        detector.truncate(length / 2);
        for index in length / 2..length {
            assert_eq!(detector.push(program, steps[index]), expected[index]);
        }
    }
}

/// Message passing: the left thread writes `x` plainly and then does `publish`; the right one does `learn`, which returns
/// whether to read `x`. Run left first, then right.
fn message(
    publish: impl FnOnce(&mut ThreadBuilder, raddle_testing::builder::Place),
    learn: impl FnOnce(&mut ThreadBuilder, raddle_testing::builder::Place),
) -> bool {
    let mut p = ProgramBuilder::new("message");
    let (x, y) = (p.var("x", 4), p.var("y", 4));
    p.thread("left", |t| {
        t.store_plain(x, 1);
        publish(t, y);
    });
    p.thread("right", |t| {
        learn(t, y);
        t.load_plain(x);
    });
    !races(p, &[1; 8]).is_empty()
}

#[test]
fn release_and_acquire_order() {
    use Order::{Acquire, Plain, Relaxed, Release, SeqCst};
    for (write, read, racy) in [
        (Release, Acquire, false),
        (SeqCst, SeqCst, false),
        (Release, Relaxed, true),
        (Relaxed, Acquire, true),
        (Plain, Plain, true),
    ] {
        let found = message(
            |t, y| t.store_order(y, 1, write),
            |t, y| {
                t.load_order(y, read);
            },
        );
        assert_eq!(found, racy, "{write:?} to {read:?}");
    }
}

#[test]
fn fences_order() {
    use Order::{Acquire, Relaxed, Release, SeqCst};
    for (fence_write, fence_read, racy) in [
        (Some(Release), Some(Acquire), false),
        (Some(SeqCst), Some(SeqCst), false),
        (None, Some(Acquire), true),
        (Some(Release), None, true),
        (Some(Acquire), Some(Release), true),
    ] {
        let found = message(
            |t, y| {
                if let Some(order) = fence_write {
                    t.fence(order);
                }
                t.store_order(y, 1, Relaxed);
            },
            |t, y| {
                t.load_order(y, Relaxed);
                if let Some(order) = fence_read {
                    t.fence(order);
                }
            },
        );
        assert_eq!(found, racy, "{fence_write:?} to {fence_read:?}");
    }
}

#[test]
fn a_fence_after_the_relaxed_write_publishes_nothing() {
    assert!(message(
        |t, y| {
            t.store_order(y, 1, Order::Relaxed);
            t.fence(Order::Release);
        },
        |t, y| {
            t.load_order(y, Order::Acquire);
        },
    ));
}

#[test]
fn release_sequences_go_on_through_updates_only() {
    for (update, racy) in [(true, false), (false, true)] {
        let mut p = ProgramBuilder::new("sequence");
        let (x, y) = (p.var("x", 4), p.var("y", 4));
        p.thread("left", |t| {
            t.store_plain(x, 1);
            t.store_order(y, 1, Order::Release);
        });
        p.thread("middle", |t| {
            if update {
                t.rmw(y, raddle_program::RmwKind::Add, 1, Order::Relaxed);
            } else {
                t.store_order(y, 2, Order::Relaxed);
            }
        });
        p.thread("right", |t| {
            t.load_order(y, Order::Acquire);
            t.load_plain(x);
        });
        assert_eq!(!races(p, &[1, 1, 2, 3, 3]).is_empty(), racy);
    }
}

/// Up to C17: stores of the thread that began a sequence go on with it, also behind another thread's store.
#[test]
fn release_sequences_go_on_through_stores_of_the_same_thread() {
    let found = |middle: Option<bool>, schedule: &[usize], rule| {
        let mut p = ProgramBuilder::new("sequence");
        let (x, y) = (p.var("x", 4), p.var("y", 4));
        p.thread("left", |t| {
            t.store_plain(x, 1);
            t.store_order(y, 1, Order::Release);
            t.store_order(y, 2, Order::Relaxed);
            t.store_order(y, 3, Order::Relaxed);
        });
        p.thread("middle", |t| match middle {
            Some(true) => {
                t.rmw(y, raddle_program::RmwKind::Add, 1, Order::AcqRel);
            }
            Some(false) => t.store_order(y, 2, Order::Release),
            None => {}
        });
        p.thread("right", |t| {
            t.load_order(y, Order::Acquire);
            t.load_plain(x);
        });
        !races_by(p, schedule, rule).is_empty()
    };
    use ReleaseSequences::{SameThread, UpdatesOnly};
    let cases = [
        (None, vec![1, 1, 1, 1, 3, 3], false),
        // Whatever comes between the stores: they go on with the sequence. A store after them publishes its own.
        (Some(true), vec![1, 1, 2, 1, 1, 3, 3], false),
        (Some(false), vec![1, 1, 2, 1, 1, 3, 3], false),
        (Some(false), vec![1, 1, 1, 1, 2, 3, 3], true),
        (Some(false), vec![1, 2, 1, 1, 1, 3, 3], false),
    ];
    for (middle, schedule, racy) in cases {
        assert_eq!(found(middle, &schedule, SameThread), racy, "{schedule:?}");
        assert!(found(middle, &schedule, UpdatesOnly), "{schedule:?}");
    }
}

#[test]
fn a_relaxed_store_of_the_same_thread_ends_the_release_sequence() {
    assert!(message(
        |t, y| {
            t.store_order(y, 1, Order::Release);
            t.store_order(y, 2, Order::Relaxed);
        },
        |t, y| {
            t.load_order(y, Order::Acquire);
        },
    ));
}

#[test]
fn plain_and_atomic_accesses_race_but_two_atomic_ones_do_not() {
    for (left, right, racy) in [
        (Order::Plain, Order::Relaxed, true),
        (Order::Relaxed, Order::Plain, true),
        (Order::Relaxed, Order::Relaxed, false),
    ] {
        let mut p = ProgramBuilder::new("classes");
        let x = p.var("x", 4);
        p.thread("left", |t| t.store_order(x, 1, left));
        p.thread("right", |t| t.store_order(x, 2, right));
        // Two spawns come first.
        let expected: &[_] = if racy { &[(2, 3)] } else { &[] };
        assert_eq!(races(p, &[1, 2]), expected);
    }
}

#[test]
fn overlapping_bytes_race_and_carry_messages() {
    let mut p = ProgramBuilder::new("bytes");
    let w = p.object("w", 8);
    p.thread("left", |t| t.store_plain(w.at(0, 4), 1));
    p.thread("right", |t| {
        t.load_plain(w.at(2, 1));
        t.load_plain(w.at(4, 4));
    });
    assert_eq!(races(p, &[1, 2, 2]), [(2, 3)]);

    for (order, racy) in [(Order::Release, false), (Order::Relaxed, true)] {
        let mut p = ProgramBuilder::new("halves");
        let (x, w) = (p.var("x", 4), p.object("w", 4));
        p.thread("left", |t| {
            t.store_plain(x, 1);
            t.store_order(w.at(0, 2), 1, order);
        });
        // Overwrites one half only: the other half still carries the message.
        p.thread("middle", |t| t.store_order(w.at(2, 2), 1, Order::Relaxed));
        p.thread("right", |t| {
            t.load_order(w.at(0, 4), Order::Acquire);
            t.load_plain(x);
        });
        assert_eq!(!races(p, &[1, 1, 2, 3, 3]).is_empty(), racy);
    }
}

#[test]
fn mutexes_order_and_failed_trylocks_do_not() {
    let mut p = ProgramBuilder::new("mutex");
    let (x, m) = (p.var("x", 4), p.mutex("m"));
    for name in ["left", "right"] {
        p.thread(name, |t| {
            t.lock(m);
            t.store_plain(x, 1);
            t.unlock(m);
        });
    }
    assert_eq!(races(p, &[]), []);

    let mut p = ProgramBuilder::new("trylock");
    let (x, m) = (p.var("x", 4), p.mutex("m"));
    p.thread("left", |t| {
        t.store_plain(x, 1);
        t.lock(m);
    });
    p.thread("right", |t| {
        let got = t.try_lock(m);
        t.if_(got.is(0), |t| t.store_plain(x, 2));
    });
    assert_eq!(races(p, &[1, 1, 2, 2]), [(2, 5)]);
}

#[test]
fn readers_do_not_order_each_other() {
    for (writer, racy) in [(true, false), (false, true)] {
        let mut p = ProgramBuilder::new("readers");
        let (x, l) = (p.var("x", 4), p.rwlock("l"));
        p.thread("left", |t| {
            t.read_lock(l);
            t.store_plain(x, 1);
            t.rw_unlock(l);
        });
        p.thread("right", |t| {
            if writer {
                t.write_lock(l);
            } else {
                t.read_lock(l);
            }
            t.store_plain(x, 1);
            t.rw_unlock(l);
        });
        assert_eq!(!races(p, &[1, 1, 1, 2, 2, 2]).is_empty(), racy);
    }
}

#[test]
fn semaphores_conditions_and_barriers_order() {
    let mut p = ProgramBuilder::new("semaphore");
    let (x, s) = (p.var("x", 4), p.sem("s", 0));
    p.thread("left", |t| {
        t.store_plain(x, 1);
        t.sem_post(s);
    });
    p.thread("right", |t| {
        t.sem_wait(s);
        t.store_plain(x, 2);
    });
    assert_eq!(races(p, &[]), []);

    let mut p = ProgramBuilder::new("barrier");
    let (x, b) = (p.var("x", 4), p.barrier("b", 2));
    p.thread("left", |t| {
        t.store_plain(x, 1);
        t.barrier(b);
    });
    p.thread("right", |t| {
        t.barrier(b);
        t.load_plain(x);
    });
    assert_eq!(races(p, &[2, 1, 1, 2, 2]), []);

    let mut p = ProgramBuilder::new("condition");
    let (x, m, c) = (p.var("x", 4), p.mutex("m"), p.cond("c"));
    p.thread("waiter", |t| {
        t.lock(m);
        t.wait(c, m);
        t.load_plain(x);
        t.unlock(m);
    });
    p.thread("signaller", |t| {
        t.store_plain(x, 1);
        t.signal(c);
    });
    assert_eq!(races(p, &[1, 1, 2, 2]), []);
}

#[test]
fn spawn_and_join_order() {
    let mut p = ProgramBuilder::new("spawn");
    let x = p.var("x", 4);
    let child = p.child("child", |t| t.store_plain(x, 2));
    p.main(|t| {
        t.store_plain(x, 1);
        let handle = t.spawn(child);
        t.join(handle);
        t.load_plain(x);
    });
    assert_eq!(races(p, &[]), []);

    let mut p = ProgramBuilder::new("no join");
    let x = p.var("x", 4);
    let child = p.child("child", |t| t.store_plain(x, 2));
    p.main(|t| {
        t.spawn(child);
        t.load_plain(x);
    });
    assert_eq!(races(p, &[]), [(1, 2)]);
}

#[test]
fn a_free_is_a_write_to_the_whole_object() {
    for (synchronised, expected) in [(true, 0), (false, 1)] {
        let mut p = ProgramBuilder::new("free");
        let (pointer, done) = (p.var("pointer", 8), p.var("done", 4));
        let order = if synchronised {
            Order::SeqCst
        } else {
            Order::Relaxed
        };
        p.thread("user", |t| {
            let block = t.load(pointer);
            t.store_plain(deref(block + 4, 4), 1);
            t.store_order(done, 1, order);
        });
        p.thread("freer", |t| {
            t.load_order(done, order);
            let block = t.load(pointer);
            t.free(block);
        });
        p.main(|t| {
            let block = t.alloc(8);
            t.store(pointer, block);
            t.spawn_all();
        });
        assert_eq!(races(p, &[1, 1, 1, 2, 2, 2]).len(), expected);
    }
}

#[test]
fn atomic_blocks_exclude_each_other_only() {
    for (right_in_block, racy) in [(true, false), (false, true)] {
        let mut p = ProgramBuilder::new("blocks");
        let x = p.var("x", 4);
        p.thread("left", |t| {
            t.atomic(|t| {
                let r = t.load_plain(x);
                t.store_plain(x, r + 1);
            });
        });
        p.thread("right", |t| {
            if right_in_block {
                t.atomic(|t| t.store_plain(x, 7));
            } else {
                t.store_plain(x, 7);
            }
        });
        assert_eq!(!races(p, &[1, 2]).is_empty(), racy);
    }
}
