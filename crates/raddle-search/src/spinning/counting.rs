//! Generated programs whose threads count themselves into a lock and out of it.

use raddle_program::{Order, RmwKind};
use raddle_testing::builder::{BuiltProgram, Compare, Place, ProgramBuilder, ThreadBuilder};
use raddle_testing::generate::Random;

/// The lowest bit of the lock says that somebody writes; the others count who reads.
const WRITER: u64 = 1;
const READER: u64 = 2;

/// A program whose threads wait in loops that add to a lock and take that back, by additions whose results are used, in part, or not at all; others look at it, and
/// see the difference or do not. A second word is taken, updated without being changed, and given back.
pub(crate) fn counting(seed: u64) -> BuiltProgram {
    let mut random = Random::new(seed);
    let mut b = ProgramBuilder::new(&format!("counting {seed}"));
    let [x, y, lock, word] = ["x", "y", "lock", "word"].map(|name| b.var(name, 4));
    let threads = 2 + random.below(4) / 3;
    for i in 0..threads {
        let count = 1 + random.below(if threads == 2 { 3 } else { 2 });
        let plan: Vec<[u64; 3]> = (0..count)
            .map(|_| [14, 2, 4].map(|below| random.below(below)))
            .collect();
        b.thread(&format!("t{i}"), |t| {
            for [kind, value, order] in plan {
                let order =
                    [Order::Plain, Order::Relaxed, Order::Acquire, Order::SeqCst][order as usize];
                match kind {
                    0 => t.store(x, value),
                    1 => {
                        t.while_(|t| t.cas(lock, 0, WRITER).1.is(0), |_| {});
                        t.store_plain(x, value);
                        t.rmw(lock, RmwKind::And, !WRITER, Order::Release);
                    }
                    2 => {
                        t.while_(|t| t.cas(lock, 0, WRITER).1.is(0), |_| {});
                        t.store_plain(x, value);
                        t.rmw(lock, RmwKind::Sub, WRITER, Order::Release);
                    }
                    3 => {
                        enter(t, lock);
                        let found = t.load_order(x, order);
                        t.rmw(lock, RmwKind::Sub, READER, Order::Release);
                        t.if_(found.is(value), |t| t.store(y, 1));
                    }
                    4 | 5 => t.loop_(|t| {
                        enter(t, lock);
                        let found = t.load_order(x, order);
                        t.rmw(lock, RmwKind::Sub, READER, Order::Release);
                        t.if_(found.is(value), ThreadBuilder::break_);
                    }),
                    6 => t.loop_(|t| {
                        t.rmw(lock, RmwKind::Add, READER, Order::AcqRel);
                        let found = t.load_order(x, order);
                        t.rmw(lock, RmwKind::Sub, READER, Order::AcqRel);
                        t.if_(found.is(value), ThreadBuilder::break_);
                    }),
                    // It looks at one part of what it finds when it leaves.
                    7 => t.loop_(|t| {
                        t.rmw(lock, RmwKind::Add, READER, Order::AcqRel);
                        let found = t.load_order(x, order);
                        let old = t.rmw(lock, RmwKind::Sub, READER, Order::AcqRel);
                        t.if_((old & WRITER).is(1), ThreadBuilder::break_);
                        t.if_(found.is(value), ThreadBuilder::break_);
                    }),
                    // Somebody writes, whoever reads.
                    8 => {
                        let found = t.load(lock);
                        t.if_((found & WRITER).is(1), |t| t.store(y, 1));
                    }
                    // Somebody reads.
                    9 => {
                        let found = t.load(lock);
                        t.if_(found.is(READER), |t| t.store(y, 1));
                    }
                    10 => {
                        t.rmw(lock, RmwKind::Add, READER, Order::Relaxed);
                        t.rmw(lock, RmwKind::Sub, READER, Order::Relaxed);
                    }
                    11 => t.loop_(|t| {
                        t.while_(|t| t.cas(word, 0, 1).1.is(0), |_| {});
                        let found = t.load_order(x, order);
                        t.rmw(word, RmwKind::Or, 1, Order::SeqCst);
                        t.store_order(word, 0, Order::Release);
                        t.if_(found.is(value), ThreadBuilder::break_);
                    }),
                    // It goes on only if it was seen, and then does so for ever.
                    12 => {
                        t.while_(|t| t.cas(word, 0, 1).1.is(0), |_| {});
                        let found = t.load(y);
                        t.rmw(word, RmwKind::Or, 1, Order::SeqCst);
                        t.store_order(word, 0, Order::Release);
                        t.while_(|t| (t.load(x) + found).is(value), |_| {});
                    }
                    _ => {
                        let found = t.load(word);
                        t.if_(found.is(1), |t| {
                            t.store(y, 1);
                            let found = t.load(word);
                            t.if_(found.is(0), |t| t.store(x, value));
                        });
                    }
                }
            }
        });
    }
    b.no_joins();
    b.build()
}

/// Counts itself in; while somebody writes it counts itself out again and tries anew.
fn enter(t: &mut ThreadBuilder, lock: Place) {
    t.loop_(|t| {
        let old = t.rmw(lock, RmwKind::Add, READER, Order::Acquire);
        t.if_((old & WRITER).is(0), ThreadBuilder::break_);
        t.rmw(lock, RmwKind::Sub, READER, Order::Release);
    });
}
