//! Exact counts of Mazurkiewicz classes, from the tables of the papers.

use super::super::Search;
use crate::counting::Count;
use crate::driver::{Reductions, SearchOptions, check};
use crate::verdict::{Bound, Checks, EngineKind, Verdict, ViolationKind};
use raddle_testing::builder::{BuiltProgram, Compare, ProgramBuilder};
use raddle_testing::samples;

/// Complete and blocked executions; none may be given up.
fn explore(built: &BuiltProgram) -> (u64, u64) {
    let standard = Reductions {
        ifaa: false,
        ..Reductions::default()
    };
    explore_with(built, standard)
}

fn explore_with(built: &BuiltProgram, reductions: Reductions) -> (u64, u64) {
    let mut program = built.program();
    let mut count = Count::default();
    let _ = Search::new(&program, reductions).run(&mut program, &mut count);
    count.ends()
}

#[test]
fn readers() {
    for n in [1, 2, 5, 9] {
        assert_eq!(explore(&samples::readers(n)), (1 << n, 0));
    }
}

#[test]
fn lastwrite() {
    let mut expected = 1;
    for n in 1..=7 {
        expected *= u64::from(n);
        assert_eq!(explore(&samples::lastwrite(n)), (expected, 0));
    }
}

#[test]
fn casrot() {
    for (n, expected) in [(8, 2048), (9, 8597)] {
        assert_eq!(explore(&samples::casrot(n)), (expected, 0));
    }
}

#[test]
fn fib_bench() {
    for (n, expected) in [(2, 140), (4, 19605)] {
        assert_eq!(explore(&samples::fib_bench(n)), (expected, 0));
    }
}

#[test]
fn sigma() {
    for (n, expected) in [(5, 945), (6, 10395)] {
        assert_eq!(explore(&samples::sigma(n)), (expected, 0));
    }
}

#[test]
fn control_flow() {
    assert_eq!(explore(&samples::control_flow(5)), (5160, 0));
}

#[test]
fn exponential_bug_with_a_mutex() {
    assert_eq!(explore(&samples::exponential_bug(3)), (36570, 0));
}

#[test]
fn two_locks_in_opposite_order_deadlock_in_one_class() {
    // a.b against b.a: either thread first throughout (2 complete), or each takes one (1 deadlock).
    let mut b = ProgramBuilder::new("abba");
    let m = b.mutex("m");
    let n = b.mutex("n");
    for (name, first, second) in [("t1", m, n), ("t2", n, m)] {
        b.thread(name, |t| {
            t.lock(first);
            t.lock(second);
            t.unlock(second);
            t.unlock(first);
        });
    }
    assert_eq!(explore(&b.build()), (2, 1));
}

#[test]
fn choices_are_explored_once_each() {
    // 3 choices; each stores what it chose against one reader: before or after.
    let mut b = ProgramBuilder::new("choices");
    let x = b.var("x", 4);
    b.thread("chooser", |t| {
        let c = t.choice(3);
        t.store(x, c);
    });
    b.thread("reader", |t| {
        t.load(x);
    });
    assert_eq!(explore(&b.build()), (6, 0));
}

#[test]
fn a_spin_loop_awaits_its_flag() {
    // One execution: the loop cannot end before the store, and turns in vain are not explored.
    let mut b = ProgramBuilder::new("spin");
    let x = b.var("x", 4);
    let y = b.var("y", 4);
    b.thread("p", |t| t.store(x, 1));
    b.thread("q", |t| {
        t.while_(|t| t.load(x).is(0), |_| {});
        t.store(y, 1);
    });
    assert_eq!(explore(&b.build()), (1, 0));
}

#[test]
fn figure_4_two_satisfying_writes() {
    // x = 1; x = 0 against await(x = 0) then a load: before both stores, or after both.
    let mut b = ProgramBuilder::new("fig4");
    let x = b.var("x", 4);
    b.thread("p", |t| {
        t.store(x, 1);
        t.store(x, 0);
    });
    b.thread("q", |t| t.while_(|t| t.load(x).differs(0), |_| {}));
    assert_eq!(explore(&b.build()), (2, 0));
}

#[test]
fn a_spin_loop_without_writer_is_blocked_once() {
    let mut b = ProgramBuilder::new("livelock");
    let x = b.var("x", 4);
    b.thread("q", |t| t.while_(|t| t.load(x).is(0), |_| {}));
    assert_eq!(explore(&b.build()), (0, 1));
}

#[test]
fn livelocks_are_told_from_reading_too_early() {
    let check = |writes: bool, deadlocks: bool| {
        let mut b = ProgramBuilder::new("spin");
        let x = b.var("x", 4);
        b.thread("p", |t| {
            if writes {
                t.store(x, 1);
            }
        });
        b.thread("q", |t| t.while_(|t| t.load(x).is(0), |_| {}));
        let checks = Checks {
            deadlocks,
            livelocks: true,
            ..Checks::default()
        };
        let options = SearchOptions {
            checks,
            ..SearchOptions::default()
        };
        let mut program = b.build().program();
        check(&mut program, EngineKind::Dpor, options)
            .expect("replayed")
            .verdict
    };
    for deadlocks in [false, true] {
        assert_eq!(check(true, deadlocks), Verdict::Verified(Bound::Complete));
        let Verdict::Violation(found) = check(false, deadlocks) else {
            panic!("no livelock")
        };
        // `q` spins; that `main` waits to join it is no part of a livelock.
        match &found[0].kind {
            ViolationKind::Livelock { spinning } => {
                assert!(!deadlocks && spinning.iter().all(|it| it.spins()));
            }
            ViolationKind::Deadlock { waiting } => {
                let spinning = waiting.iter().filter(|it| it.spins());
                assert!(deadlocks && spinning.count() == 1 && waiting.len() == 2);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_plain_spin_loop_races_with_writes_that_do_not_end_it() {
    let mut b = ProgramBuilder::new("race");
    let x = b.var("x", 4);
    b.thread("p", |t| t.store_plain(x, 0));
    b.thread("q", |t| t.while_(|t| t.load_plain(x).is(0), |_| {}));
    let mut program = b.build().program();
    let outcome =
        check(&mut program, EngineKind::Dpor, SearchOptions::default()).expect("replayed");
    let Verdict::Violation(found) = outcome.verdict else {
        panic!("no race")
    };
    assert!(matches!(found[0].kind, ViolationKind::Race(_)));
}

#[test]
fn a_ttas_lock_leaves_nothing_blocked() {
    // Table I of the paper.
    for (threads, expected) in [(3, 36), (4, 576)] {
        assert_eq!(explore(&samples::ttaslock(threads)), (expected, 0));
    }
}

#[test]
fn trylock_loops_are_awaits_too() {
    let mut b = ProgramBuilder::new("trylock");
    let m = b.mutex("m");
    let x = b.var("x", 4);
    for i in 0..2 {
        b.thread(&format!("t{i}"), |t| {
            t.while_(|t| t.try_lock(m).is(0), |_| {});
            t.store(x, i);
            t.unlock(m);
        });
    }
    assert_eq!(explore(&b.build()), (2, 0));
}

#[test]
fn figure_5_independent_fetch_and_adds() {
    // Three additions and an await of 3: one class. Awaiting 1: after any one of them and before the other two, which
    // commute; or not at all, when the three were faster.
    for (value, expected) in [(3, (1, 0)), (1, (3, 1))] {
        let mut b = ProgramBuilder::new("fig5");
        let x = b.var("x", 4);
        for name in ["p", "q", "r"] {
            b.thread(name, |t| {
                t.fetch_add(x, 1);
            });
        }
        b.thread("s", |t| t.while_(|t| t.load(x).differs(value), |_| {}));
        let (complete, blocked) = explore_with(&b.build(), Reductions::default());
        assert_eq!((complete, blocked), expected, "awaiting {value}");
    }
}

#[test]
fn purity_without_awaits_blocks_those_who_read_too_early() {
    let mut b = ProgramBuilder::new("spin");
    let x = b.var("x", 4);
    b.thread("p", |t| t.store(x, 1));
    b.thread("q", |t| t.while_(|t| t.load(x).is(0), |_| {}));
    let built = b.build();
    assert_eq!(
        explore_with(
            &built,
            Reductions {
                awaits: false,
                ..Reductions::default()
            }
        ),
        (1, 1)
    );
}
