//! Programs of the papers, made by the builder: for tests and benches of engines. `benchmarks/` has them in C.

use crate::builder::{BuiltProgram, Compare, Place, ProgramBuilder};
use raddle_program::op::Order;

/// Two threads add each other's sum to theirs, `rounds` times each; `main` looks on.
#[must_use]
pub fn fib_bench(rounds: u32) -> BuiltProgram {
    fib_bench_with(rounds, Order::SeqCst)
}

/// The same with accesses of this order.
#[must_use]
pub fn fib_bench_with(rounds: u32, order: Order) -> BuiltProgram {
    fn add_into(
        b: &mut ProgramBuilder,
        name: &str,
        rounds: u32,
        order: Order,
        to: Place,
        other: Place,
    ) {
        b.thread(name, |t| {
            for _ in 0..rounds {
                let mine = t.load_order(to, order);
                let theirs = t.load_order(other, order);
                t.store_order(to, mine + theirs, order);
            }
        });
    }
    let mut b = ProgramBuilder::new("fib-bench");
    let i = b.var_init("i", 4, 1);
    let j = b.var_init("j", 4, 1);
    add_into(&mut b, "t1", rounds, order, i, j);
    add_into(&mut b, "t2", rounds, order, j, i);
    b.main(|t| {
        t.spawn_all();
        let a = t.load_order(i, order);
        t.if_(a.at_most(1_000_000), |t| {
            t.load_order(j, order);
        });
    });
    b.build()
}

/// `n` threads try to turn a counter from their number less one to their number.
#[must_use]
pub fn casrot(n: u32) -> BuiltProgram {
    casrot_with(n, Order::SeqCst)
}

/// The same with accesses of this order.
#[must_use]
pub fn casrot_with(n: u32, order: Order) -> BuiltProgram {
    let mut b = ProgramBuilder::new("casrot");
    let x = b.var("x", 4);
    for i in 1..=n {
        b.thread(&format!("t{i}"), |t| {
            t.cas_order(x, i - 1, i, order, order);
        });
    }
    b.no_joins();
    b.build()
}

/// `n` threads write; `main` joins them and reads.
#[must_use]
pub fn lastwrite(n: u32) -> BuiltProgram {
    lastwrite_with(n, Order::SeqCst)
}

/// The same with accesses of this order.
#[must_use]
pub fn lastwrite_with(n: u32, order: Order) -> BuiltProgram {
    let mut b = ProgramBuilder::new("lastwrite");
    let x = b.var("x", 4);
    for i in 1..=n {
        b.thread(&format!("t{i}"), |t| t.store_order(x, i, order));
    }
    b.main(|t| {
        t.spawn_all();
        t.join_all();
        t.load_order(x, order);
    });
    b.build()
}

/// One writer, `n` readers.
#[must_use]
pub fn readers(n: u32) -> BuiltProgram {
    readers_with(n, Order::SeqCst)
}

/// The same with accesses of this order.
#[must_use]
pub fn readers_with(n: u32, order: Order) -> BuiltProgram {
    let mut b = ProgramBuilder::new("readers");
    let x = b.var("x", 4);
    b.thread("writer", |t| t.store_order(x, 42, order));
    for i in 1..=n {
        b.thread(&format!("reader{i}"), |t| {
            t.load_order(x, order);
        });
    }
    b.build()
}

/// Three threads with a mutex, the example of the maximal-causality paper.
#[must_use]
pub fn exponential_bug(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("exponential-bug");
    let x = b.var("x", 4);
    let y = b.var("y", 4);
    let l = b.mutex("l");
    b.thread("t1", |t| {
        for _ in 0..2 {
            t.lock(l);
            t.store(x, 1);
            for _ in 0..n {
                t.store(y, 1);
            }
            t.unlock(l);
        }
    });
    b.thread("t2", |t| {
        for _ in 0..2 {
            t.lock(l);
            t.store(x, 0);
            t.unlock(l);
            let v = t.load(x);
            t.if_(v.differs(0), |t| {
                let w = t.load(y);
                t.store(y, w + 1);
                t.store(x, 2);
            });
        }
    });
    b.thread("t3", |t| {
        for _ in 0..2 {
            let v = t.load(x);
            t.if_(v.is(2), |t| {
                let w = t.load(y);
                t.if_else(w.is(3), |t| t.exit(0), |t| t.store(y, 2));
            });
        }
    });
    b.no_joins();
    b.build()
}

/// A test-and-test-and-set lock: both its loops are pure.
#[must_use]
pub fn ttaslock(threads: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("ttaslock");
    let l = b.var("l", 4);
    let x = b.var("x", 4);
    for i in 0..threads {
        b.thread(&format!("t{i}"), |t| {
            t.loop_(|t| {
                t.while_(|t| t.load(l).differs(0), |_| {});
                let old = t.exchange(l, 1);
                t.if_(old.is(0), |t| t.break_());
            });
            let v = t.load(x);
            t.store(x, v + 1);
            t.store(l, 0);
        });
    }
    b.build()
}

/// `2n + 2` threads whose branches depend on each other.
#[must_use]
pub fn control_flow(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("control-flow");
    let [x, y, z] = ["x", "y", "z"].map(|name| b.var(name, 4));
    for i in 0..n {
        b.thread(&format!("p{i}"), |t| {
            t.load(x);
        });
        b.thread(&format!("q{i}"), |t| t.store(y, 1));
    }
    b.thread("r", |t| {
        let v = t.load(y);
        t.if_(v.is(0), |t| t.store(z, 1));
    });
    b.thread("s", |t| {
        let v = t.load(z);
        t.if_(v.is(1), |t| {
            let w = t.load(y);
            t.if_(w.is(0), |t| t.store(x, 1));
        });
    });
    b.no_joins();
    b.build()
}

/// `main` counts up and spawns `n` threads that write where the counter says.
#[must_use]
pub fn sigma(n: u32) -> BuiltProgram {
    sigma_with(n, Order::SeqCst)
}

/// The same with accesses of this order.
#[must_use]
pub fn sigma_with(n: u32, order: Order) -> BuiltProgram {
    let mut b = ProgramBuilder::new("sigma");
    let idx = b.var_init("idx", 4, 0xFFFF_FFFF);
    let array = b.object("array", 4 * u64::from(n));
    let setter = b.child("setter", |t| {
        let i = t.load_order(idx, order);
        t.store_order(array.index(i * 4, 4), 1, order);
    });
    b.main(|t| {
        let mut handles = Vec::new();
        for _ in 0..n {
            let i = t.load_order(idx, order);
            t.store_order(idx, i + 1, order);
            handles.push(t.spawn(setter));
        }
        for handle in handles {
            t.join(handle);
        }
    });
    b.build()
}
