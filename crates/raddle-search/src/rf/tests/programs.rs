//! The programs of the paper's tables, written with the builder.

pub(super) use raddle_testing::samples::{casrot, control_flow, exponential_bug, readers};

use raddle_testing::builder::{BuiltProgram, Compare, Place, ProgramBuilder, ThreadBuilder};

pub(super) fn lastzero(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("lastzero");
    let array = b.object("array", 4 * u64::from(n + 1));
    let at = |i: u32| array.at(4 * u64::from(i), 4);
    b.thread("reader", |t| {
        let i = t.val(n);
        t.loop_(|t| {
            let v = t.load(array.index(i * 4, 4));
            t.if_(v.is(0), ThreadBuilder::break_);
            t.set(i, i - 1);
        });
    });
    for j in 1..=n {
        b.thread(&format!("w{j}"), |t| {
            let v = t.load(at(j - 1));
            t.store(at(j), v + 1);
        });
    }
    b.no_joins();
    b.build()
}

fn add_into(b: &mut ProgramBuilder, name: &str, rounds: u32, to: Place, other: Place) {
    b.thread(name, |t| {
        for _ in 0..rounds {
            let mine = t.load(to);
            let theirs = t.load(other);
            t.store(to, mine + theirs);
        }
    });
}

pub(super) fn fib(n: u32) -> BuiltProgram {
    let limit = (0..2 * n).fold((1u32, 1u32), |(a, b), _| (b, a + b)).1;
    let mut b = ProgramBuilder::new("fib");
    let i = b.var_init("i", 4, 1);
    let j = b.var_init("j", 4, 1);
    add_into(&mut b, "t1", n, i, j);
    add_into(&mut b, "t2", n, j, i);
    b.main(|t| {
        t.spawn_all();
        let a = t.load(i);
        t.if_(a.at_most(limit), |t| {
            t.load(j);
        });
    });
    b.build()
}

/// `late`: main reads after all have been joined; otherwise before.
pub(super) fn writers_and_reader(n: u32, late: bool) -> BuiltProgram {
    let mut b = ProgramBuilder::new("lastwrite or floating-read");
    let x = b.var("x", 4);
    for i in 1..=n {
        b.thread(&format!("w{i}"), |t| t.store(x, i));
    }
    b.main(|t| {
        t.spawn_all();
        if late {
            t.join_all();
        }
        t.load(x);
        t.join_all();
    });
    b.build()
}

pub(super) fn sigma(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("sigma");
    let idx = b.var_init("idx", 4, 0xFFFF_FFFF);
    let array = b.object("array", 4 * u64::from(n));
    let setter = b.child("setter", |t| {
        let i = t.load(idx);
        t.store(array.index(i * 4, 4), 1);
    });
    b.main(|t| {
        let mut handles = Vec::new();
        for _ in 0..n {
            let i = t.load(idx);
            t.store(idx, i + 1);
            handles.push(t.spawn(setter));
        }
        for handle in handles {
            t.join(handle);
        }
    });
    b.build()
}

pub(super) fn opt_lock(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("opt-lock");
    let [x, y] = ["x", "y"].map(|name| b.var(name, 4));
    for id in 0..2u32 {
        b.thread(&format!("t{id}"), |t| {
            let round = t.val(0u32);
            t.loop_(|t| {
                t.if_(round.is(n), ThreadBuilder::break_);
                t.store(x, id);
                t.store(y, 1);
                let found = t.load(x);
                t.if_(found.is(id), |t| {
                    t.load(y);
                    t.break_();
                });
                t.set(round, round + 1);
            });
        });
    }
    b.no_joins();
    b.build()
}

pub(super) fn race_parametric(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("race-parametric");
    let v = b.var("v", 4);
    for id in 0..2u32 {
        let own = b.var(&format!("own{id}"), 4);
        b.thread(&format!("t{id}"), |t| {
            for i in 0..42u32 {
                t.store(own, i);
                t.load(own);
            }
            for _ in 0..n {
                t.store(v, id);
                t.load(v);
            }
        });
    }
    b.no_joins();
    b.build()
}

pub(super) fn lamport(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("lamport");
    let [x, y, critical] = ["x", "y", "in_critical"].map(|name| b.var(name, 4));
    let flags: Vec<Place> = (1..=n).map(|i| b.var(&format!("b{i}"), 4)).collect();
    for me in 1..=n {
        let flags = flags.clone();
        let mine = flags[me as usize - 1];
        b.thread(&format!("t{me}"), |t| {
            t.loop_(|t| {
                let again = t.val(0u32);
                t.store(mine, 1);
                t.store(x, me);
                let found = t.load(y);
                t.if_else(
                    found.differs(0),
                    |t| {
                        t.store(mine, 0);
                        let v = t.load(y);
                        t.assume(v.is(0));
                        t.set(again, 1);
                    },
                    |t| {
                        t.store(y, me);
                        let found = t.load(x);
                        t.if_(found.differs(me), |t| {
                            t.store(mine, 0);
                            for &flag in &flags {
                                let v = t.load(flag);
                                t.assume(v.is(0));
                            }
                            let v = t.load(y);
                            t.if_(v.differs(me), |t| {
                                let v = t.load(y);
                                t.assume(v.is(0));
                                t.set(again, 1);
                            });
                        });
                    },
                );
                t.if_(again.is(0), ThreadBuilder::break_);
            });
            t.store(critical, me);
            let v = t.load(critical);
            t.assert(v.is(me));
            t.store(y, 0);
            t.store(mine, 0);
        });
    }
    b.no_joins();
    b.build()
}

pub(super) fn reorder(n: u32, asserts: bool) -> BuiltProgram {
    let mut b = ProgramBuilder::new("reorder");
    let [p, q] = ["a", "b"].map(|name| b.var(name, 4));
    let minus_one = 0xFFFF_FFFFu32;
    for i in 1..n {
        b.thread(&format!("set{i}"), |t| {
            t.store(p, 1);
            t.store(q, minus_one);
        });
    }
    b.thread("check", |t| {
        let good = t.val(0u32);
        let first = t.load(p);
        t.if_(first.is(0), |t| {
            let second = t.load(q);
            t.if_(second.is(0), |t| t.set(good, 1));
        });
        t.if_(good.is(0), |t| {
            let third = t.load(p);
            t.if_(third.is(1), |t| {
                let fourth = t.load(q);
                t.if_(fourth.is(minus_one), |t| t.set(good, 1));
            });
        });
        if asserts {
            t.assert(good.is(1));
        }
    });
    b.build()
}

pub(super) fn append(n: u32) -> BuiltProgram {
    let slots = n - 2;
    let mut b = ProgramBuilder::new("approxds-append");
    let next = b.var("next", 4);
    let list = b.object("list", 4 * u64::from(slots));
    for me in 1..=n {
        b.thread(&format!("t{me}"), |t| {
            let i = t.load(next);
            t.if_(i.at_most(slots - 1), |t| {
                t.store(list.index(i * 4, 4), me);
                t.store(next, i + 1);
            });
        });
    }
    b.main(|t| {
        t.spawn_all();
        t.join_all();
        t.loop_(|t| {
            let i = t.load(next);
            let empty = t.val(0u32);
            t.loop_(|t| {
                t.if_(i.is(0), |t| {
                    t.set(empty, 1);
                    t.break_();
                });
                t.load(list.index((i - 1) * 4, 4));
                let now = t.load(next);
                t.if_(now.is(i), ThreadBuilder::break_);
                t.set(i, now);
            });
            t.if_(empty.is(1), ThreadBuilder::break_);
            t.store(next, i - 1);
        });
    });
    b.build()
}

pub(super) fn myexample(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("myexample");
    let x = b.var("x", 4);
    for id in 1..=n {
        b.thread(&format!("t{id}"), |t| {
            t.store(x, id);
            t.load(x);
        });
    }
    b.build()
}

pub(super) fn redundant_co(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("redundant-co");
    let x = b.var("x", 4);
    for id in 1..=2u32 {
        b.thread(&format!("w{id}"), |t| (0..n).for_each(|_| t.store(x, id)));
    }
    b.thread("reader", |t| {
        t.load(x);
        t.load(x);
    });
    b.build()
}

/// Figure 6.
pub(super) fn example_8_1(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("example 8.1");
    let [x, y] = ["x", "y"].map(|name| b.var(name, 4));
    let counters: Vec<Place> = (0..n).map(|i| b.var(&format!("c{i}"), 4)).collect();
    for (name, mine, other) in [("left", x, y), ("right", y, x)] {
        let counters = counters.clone();
        b.thread(name, |t| {
            t.store(mine, 1);
            let v = t.load(other);
            t.if_(v.is(0), |t| {
                for &counter in &counters {
                    t.exchange(counter, 0);
                }
            });
        });
    }
    b.build()
}

pub(super) fn circular_buffer(rounds: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("circular-buffer");
    let buffer = b.object("buffer", 10);
    let [first, next, receive, value] =
        ["first", "next", "receive", "value"].map(|name| b.var(name, 4));
    let size = b.var_init("size", 4, 10);
    let send = b.var_init("send", 4, 1);
    let m = b.mutex("m");
    b.thread("producer", |t| {
        for i in 0..rounds {
            t.lock(m);
            let may = t.load_plain(send);
            t.if_(may.differs(0), |t| {
                let n = t.load_plain(next);
                let s = t.load_plain(size);
                t.if_(s.differs(0), |t| {
                    t.store_plain(buffer.index(n, 1), i);
                    let wrapped = t.val(n + 1);
                    t.if_(wrapped.is(10), |t| t.set(wrapped, 0));
                    t.store_plain(next, wrapped);
                });
                t.store_plain(value, i);
                t.store_plain(send, 0);
                t.store_plain(receive, 1);
            });
            t.unlock(m);
        }
    });
    b.thread("consumer", |t| {
        for _ in 0..rounds {
            t.lock(m);
            let may = t.load_plain(receive);
            t.if_(may.differs(0), |t| {
                let n = t.load_plain(next);
                let f = t.load_plain(first);
                t.if_(n.differs(0), |t| {
                    t.store_plain(first, f + 1);
                    let got = t.load_plain(buffer.index(f, 1));
                    let wanted = t.load_plain(value);
                    t.assert(got.is(wanted));
                });
                t.store_plain(receive, 0);
                t.store_plain(send, 1);
            });
            t.unlock(m);
        }
    });
    b.build()
}
