//! Counts that were worked out by hand, or are in the papers.

use super::*;
use crate::builder::{BuiltProgram, Compare, ProgramBuilder, deref};

/// Numbers of classes of complete executions, and of blocked ones.
fn classes(built: &BuiltProgram) -> ([usize; 3], [usize; 3]) {
    let mut program = built.program();
    let truth = enumerate(&mut program, Mode::Memoised);
    let list = |classes: Classes| {
        [
            classes.mazurkiewicz,
            classes.reads_from,
            classes.reads_value_from,
        ]
    };
    (list(truth.complete), list(truth.blocked))
}

fn complete(built: &BuiltProgram) -> [usize; 3] {
    let (complete, blocked) = classes(built);
    assert_eq!(blocked, [0; 3], "blocked executions of\n{built}");
    complete
}

#[test]
fn store_buffering() {
    // Each of the two conflicts (on x and on y) goes two ways, but both loads before both stores is a cycle: 3 classes.
    // All loads read 0 or the one store: the same 3 by reads-from. Reads are in different threads and causally unordered
    // unless one load reads the other thread's store, which comes before that thread's load: values 0/1 tell them apart.
    let mut p = ProgramBuilder::new("SB");
    let (x, y) = (p.var("x", 4), p.var("y", 4));
    for (name, mine, other) in [("left", x, y), ("right", y, x)] {
        p.thread(name, |t| {
            t.store(mine, 1);
            t.load(other);
        });
    }
    assert_eq!(complete(&p.build()), [3, 3, 3]);
}

#[test]
fn message_passing() {
    // The two conflicts: y-load before or after y-store, x-load before or after x-store. y-store before y-load and x-load
    // before x-store is a cycle: 3 of 4.
    let mut p = ProgramBuilder::new("MP");
    let (x, y) = (p.var("x", 4), p.var("y", 4));
    p.thread("writer", |t| {
        t.store(x, 1);
        t.store(y, 1);
    });
    p.thread("reader", |t| {
        t.load(y);
        t.load(x);
    });
    assert_eq!(complete(&p.build()), [3, 3, 3]);
}

#[test]
fn interleavings_are_counted() {
    // Events of main (spawns, joins) are events like all others: see below for the order they are in.
    let mut p = ProgramBuilder::new("SB");
    let (x, y) = (p.var("x", 4), p.var("y", 4));
    for (name, mine, other) in [("left", x, y), ("right", y, x)] {
        p.thread(name, |t| {
            t.store(mine, 1);
            t.load(other);
        });
    }
    let built = p.build();
    for mode in [Mode::Every, Mode::Memoised] {
        let truth = enumerate(&mut built.program(), mode);
        assert_eq!(truth.interleavings, count_by_hand());
        assert_eq!(truth.contradictions, 0);
    }
}

/// Interleavings of main = s1 s2 j1 j2, left = a b (after s1, before j1), right = c d (after s2, before j2), counted by
/// filtering permutations.
fn count_by_hand() -> u64 {
    const S1: usize = 0;
    const ORDER: [(usize, usize); 9] = [
        (S1, 1),
        (1, 2),
        (2, 3),
        (S1, 4),
        (4, 5),
        (5, 2),
        (1, 6),
        (6, 7),
        (7, 3),
    ];
    fn go(done: u32, count: &mut u64) {
        if done == 0xFF {
            *count += 1;
        }
        for event in 0..8 {
            let ready = ORDER.iter().all(|&(a, b)| b != event || done >> a & 1 == 1);
            if done >> event & 1 == 0 && ready {
                go(done | 1 << event, count);
            }
        }
    }
    let mut count = 0;
    go(0, &mut count);
    count
}

#[test]
fn readers() {
    // Each of n readers reads before or after the one write, independently.
    for n in [1, 3, 5] {
        let mut p = ProgramBuilder::new("readers");
        let x = p.var("x", 4);
        p.thread("writer", |t| t.store(x, 42));
        for i in 0..n {
            p.thread(&format!("reader{i}"), |t| {
                t.load(x);
            });
        }
        assert_eq!(complete(&p.build()), [1 << n; 3]);
    }
}

#[test]
fn lastwrite() {
    // n writes in any order: n! classes. main reads the last one: n by reads-from, and by value, all being different.
    for (n, factorial) in [(2, 2), (3, 6), (4, 24)] {
        let mut p = ProgramBuilder::new("lastwrite");
        let x = p.var("x", 4);
        for i in 1..=n {
            p.thread(&format!("w{i}"), |t| t.store(x, i));
        }
        p.main(|t| {
            t.spawn_all();
            t.join_all();
            t.load(x);
        });
        assert_eq!(complete(&p.build()), [factorial, n as usize, n as usize]);
    }
}

#[test]
fn singleton() {
    // As lastwrite, but all writers except one write the same: 2 by values.
    let mut p = ProgramBuilder::new("singleton");
    let x = p.var("x", 1);
    for i in 0..4 {
        p.thread(&format!("w{i}"), |t| t.store(x, if i == 0 { 1 } else { 2 }));
    }
    p.main(|t| {
        t.spawn_all();
        t.join_all();
        t.load(x);
    });
    assert_eq!(complete(&p.build()), [24, 4, 2]);
}

#[test]
fn casrot() {
    // n = 2: CAS(0→1) and CAS(1→2). First first: both succeed. Second first: it fails, then the first succeeds. n = 3, in
    // each order of the three: 123: all succeed; 132: c1, c3 fails, c2; 213: c2 fails, c1, c3 fails; 231, 321: both fail
    // before c1 (two reads commute: one class); 312: c3 fails, c1, c2. Failed ones conflict only with successes: 132 and
    // 312 differ in whether c3 sees c1's write. That is 5.
    for (n, expected) in [(2, 2), (3, 5)] {
        let mut p = ProgramBuilder::new("casrot");
        let x = p.var("x", 4);
        for i in 1..=n {
            p.thread(&format!("c{i}"), |t| {
                t.cas(x, i - 1, i);
            });
        }
        p.no_joins();
        let [mazurkiewicz, reads_from, _] = complete(&p.build());
        assert_eq!([mazurkiewicz, reads_from], [expected; 2]);
    }
}

#[test]
fn myexample() {
    // Figure 1 of the reads-from paper, N = 2: 4 and 3. In general (N + 1)^(N - 1) by reads-from.
    for (n, mazurkiewicz, reads_from) in [(2, Some(4), 3), (3, None, 16)] {
        let mut p = ProgramBuilder::new("myexample");
        let x = p.var("x", 4);
        for i in 1..=n {
            p.thread(&format!("t{i}"), |t| {
                t.store(x, i);
                t.load(x);
            });
        }
        let found = complete(&p.build());
        assert_eq!(found[1], reads_from);
        assert!(mazurkiewicz.is_none_or(|expected| found[0] == expected));
    }
}

#[test]
fn monabsex() {
    // The same, but all write 4 and can read nothing else: the values are always the same. No read is causally before
    // another: a read comes after its source, and no write comes after a read. So there is one class by values.
    let mut p = ProgramBuilder::new("monabsex");
    let s = p.var("s", 4);
    for i in 0..3 {
        p.thread(&format!("t{i}"), |t| {
            t.store(s, 4);
            let r = t.load(s);
            t.assert(r.is(4));
        });
    }
    assert_eq!(complete(&p.build())[1..], [16, 1]);
}

#[test]
fn figure_1_of_the_reads_value_from_paper() {
    let mut p = ProgramBuilder::new("figure 1");
    let (x, y) = (p.var("x", 4), p.var("y", 4));
    p.thread("t1", |t| {
        t.store(x, 1);
        t.store(y, 1);
    });
    p.thread("t2", |t| {
        t.store(x, 1);
        t.store(y, 1);
        t.load(x);
    });
    p.thread("t3", |t| {
        t.store(x, 1);
        t.store(y, 1);
        t.load(y);
    });
    assert_eq!(complete(&p.build()), [98, 9, 1]);
}

#[test]
fn redundant_co() {
    // 3N² + 3N + 1 by reads-from.
    for (n, expected) in [(1, 7), (2, 19)] {
        let mut p = ProgramBuilder::new("redundant-co");
        let x = p.var("x", 4);
        for value in [1, 2] {
            p.thread(&format!("w{value}"), |t| {
                for _ in 0..n {
                    t.store(x, value);
                }
            });
        }
        p.thread("reader", |t| {
            t.load(x);
            t.load(x);
        });
        assert_eq!(complete(&p.build())[1], expected);
    }
}

#[test]
fn fib_bench() {
    let mut p = ProgramBuilder::new("fib");
    let (i, j) = (p.var_init("i", 4, 1), p.var_init("j", 4, 1));
    for (name, to, other) in [("t1", i, j), ("t2", j, i)] {
        p.thread(name, |t| {
            for _ in 0..2 {
                let mine = t.load(to);
                let theirs = t.load(other);
                t.store(to, mine + theirs);
            }
        });
    }
    p.main(|t| {
        t.spawn_all();
        let a = t.load(i);
        t.if_(a.at_most(8), |t| {
            let b = t.load(j);
            t.assert(b.at_most(8));
        });
    });
    assert_eq!(complete(&p.build())[..2], [140, 140]);
}

#[test]
fn locks_read_from_the_unlock_before() {
    // Three critical sections in any order; each lock reads from the unlock before it: 3! by all three notions.
    let mut p = ProgramBuilder::new("mutex");
    let m = p.mutex("m");
    for i in 0..3 {
        p.thread(&format!("t{i}"), |t| {
            t.lock(m);
            t.unlock(m);
        });
    }
    assert_eq!(complete(&p.build()), [6, 6, 6]);
}

#[test]
fn opposite_locks_deadlock_once() {
    // Either thread first throughout, or each takes one mutex and both are blocked.
    let mut p = ProgramBuilder::new("abba");
    let (a, b) = (p.mutex("a"), p.mutex("b"));
    for (name, first, second) in [("t1", a, b), ("t2", b, a)] {
        p.thread(name, |t| {
            t.lock(first);
            t.lock(second);
            t.unlock(second);
            t.unlock(first);
        });
    }
    let built = p.build();
    assert_eq!(classes(&built), ([2; 3], [1; 3]));
    let truth = enumerate(&mut built.program(), Mode::Every);
    assert!(matches!(
        truth.violations.iter().collect::<Vec<_>>()[..],
        [ViolationKey::Deadlock(_)]
    ));
}

#[test]
fn a_failed_trylock_reads_from_the_lock() {
    // The trylock comes before the lock (and then the lock has to wait for its unlock), between lock and unlock, or after.
    let mut p = ProgramBuilder::new("trylock");
    let m = p.mutex("m");
    p.thread("locks", |t| {
        t.lock(m);
        t.unlock(m);
    });
    p.thread("tries", |t| {
        let got = t.try_lock(m);
        t.if_(got, |t| t.unlock(m));
    });
    assert_eq!(complete(&p.build()), [3, 3, 3]);
}

#[test]
fn halves_are_read_from_two_writes() {
    // Each half of w is read before or after its write; the two are independent of each other: 4. Values 0, 1, 2, 3.
    let mut p = ProgramBuilder::new("halves");
    let w = p.object("w", 2);
    p.thread("low", |t| t.store(w.at(0, 1), 1));
    p.thread("high", |t| t.store(w.at(1, 1), 2));
    p.thread("both", |t| {
        t.load(w.at(0, 2));
    });
    assert_eq!(complete(&p.build()), [4, 4, 4]);
}

#[test]
fn blocks_are_one_event() {
    // Two increments, each in a block: one after the other, two orders.
    let mut p = ProgramBuilder::new("blocks");
    let x = p.var("x", 4);
    for i in 0..2 {
        p.thread(&format!("t{i}"), |t| {
            t.atomic(|t| {
                let r = t.load_plain(x);
                t.store_plain(x, r + 1);
            });
        });
    }
    assert_eq!(complete(&p.build()), [2, 2, 2]);
}

#[test]
fn choices_and_failed_assumes() {
    // Three choices; the one that is 0 is blocked by its assumption.
    let mut p = ProgramBuilder::new("choices");
    p.main(|t| {
        let c = t.choice(3);
        t.assume(c.differs(0));
    });
    assert_eq!(classes(&p.build()), ([2; 3], [1; 3]));
}

#[test]
fn frees_and_accesses_conflict_through_life() {
    // The store comes before the free, or after it and is a fault. By reads-from: it reads life from the allocation or from
    // the free.
    let mut p = ProgramBuilder::new("free");
    let pointer = p.var("pointer", 8);
    for (name, frees) in [("user", false), ("freer", true)] {
        p.thread(name, |t| {
            let block = t.load(pointer);
            if frees {
                t.free(block);
            } else {
                t.store(deref(block, 4), 1);
            }
        });
    }
    p.main(|t| {
        let block = t.alloc(4);
        t.store(pointer, block);
        t.spawn_all();
        t.join_all();
    });
    assert_eq!(classes(&p.build()), ([1; 3], [1; 3]));
}
