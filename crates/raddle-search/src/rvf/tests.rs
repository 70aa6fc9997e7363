//! Counts of the paper, and what the engine makes of them.

use super::{RvfHeuristics, RvfOptions, Search};
use crate::counting::Count;
use crate::driver::Reductions;
use crate::{Checks, EngineKind, SearchOptions, Statistics, Verdict, check};
use raddle_program::Order;
use raddle_testing::builder::{BuiltProgram, Compare, ProgramBuilder};
use raddle_testing::samples::{casrot, control_flow, fib_bench, readers, ttaslock};

/// Complete and blocked executions.
fn explore(built: &BuiltProgram, heuristics: RvfHeuristics) -> (u64, u64) {
    let mut program = built.program();
    let mut count = Count::default();
    let options = RvfOptions {
        heuristics,
        ..RvfOptions::default()
    };
    let _ = Search::new(&program, options).run(&mut program, &mut count);
    count.ends()
}

/// As in the paper: all values are told apart.
const PAPER: RvfHeuristics = RvfHeuristics {
    closure: true,
    guidance: true,
    signals: true,
    merging: false,
    learning: super::signals::LEARNING,
};

/// Each heuristic of the paper switched off, alone and together.
fn ablations() -> impl Iterator<Item = RvfHeuristics> {
    (1..8).map(|switched_off| RvfHeuristics {
        closure: switched_off & 1 == 0,
        guidance: switched_off & 2 == 0,
        signals: switched_off & 4 == 0,
        ..PAPER
    })
}

/// Figure 1: three threads write the same to two variables; two of them read one.
fn figure_1() -> BuiltProgram {
    let mut b = ProgramBuilder::new("figure-1");
    let (x, y) = (b.var("x", 4), b.var("y", 4));
    for read in [None, Some(x), Some(y)] {
        b.thread("t", |t| {
            t.store(x, 1);
            t.store(y, 1);
            if let Some(read) = read {
                t.load(read);
            }
        });
    }
    b.build()
}

/// Figure 6: one read gets a new source from behind another read.
fn figure_6() -> BuiltProgram {
    let mut b = ProgramBuilder::new("figure-6");
    let (x, y) = (b.var("x", 4), b.var("y", 4));
    b.thread("t1", |t| {
        t.store(x, 1);
        t.load(x);
        t.store(y, 1);
    });
    b.thread("t2", |t| {
        t.store(x, 1);
        t.store(y, 1);
        t.load(y);
        t.store(x, 2);
    });
    b.no_joins();
    b.build()
}

/// `n` threads write 4 and read what is there.
fn monabsex1(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("monabsex1");
    let s = b.var("s", 4);
    for _ in 0..n {
        b.thread("t", |t| {
            t.store(s, 4);
            let read = t.load(s);
            t.assert(read.is(4));
        });
    }
    b.build()
}

/// `n` setters, and a checker that reads two variables, each of which has one of two values.
fn reorder(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("reorder");
    let (x, y) = (b.var("a", 4), b.var("b", 4));
    for _ in 0..n {
        b.thread("setter", |t| {
            t.store(x, 1);
            t.store(y, 2);
        });
    }
    b.thread("checker", |t| {
        t.load(x);
        t.load(y);
    });
    b.build()
}

/// `n` writers, one of which writes something else; `main` joins them and reads.
fn singleton(n: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("singleton");
    let x = b.var("x", 4);
    for i in 1..=n {
        b.thread("t", |t| t.store(x, if i == n / 2 { 7u32 } else { 8 }));
    }
    b.main(|t| {
        t.spawn_all();
        t.join_all();
        t.load(x);
    });
    b.build()
}

/// Readers that are explored before what they could read is written lead to dead ends. That is learned from.
#[test]
fn dead_ends_do_not_outnumber_executions() {
    for n in [2, 5, 9] {
        // One value of `x`, or either for each reader: by value, and if values that nobody uses are not told apart.
        assert_eq!(explore(&control_flow(n), PAPER), (3 + (1 << n), 0), "{n}");
        let (verdict, statistics) = outcome(&control_flow(n), Checks::default());
        assert!(matches!(verdict, Verdict::Verified(_)), "{verdict:?}");
        assert!(statistics.complete <= u64::from(n) + 4, "{n}");
        assert!(statistics.verify().dead_ends <= 32 * u64::from(n), "{n}");
    }
}

#[test]
fn figures_of_the_paper() {
    assert_eq!(explore(&figure_1(), PAPER), (1, 0));
    assert_eq!(explore(&figure_6(), PAPER), (2, 0));
}

#[test]
fn programs_of_the_paper_at_any_size() {
    for n in [7, 8, 30, 70] {
        assert_eq!(explore(&monabsex1(n), PAPER), (1, 0), "{n}");
    }
    for n in [2, 8, 29, 70] {
        assert_eq!(explore(&reorder(n), PAPER), (4, 0), "{n}");
    }
    for n in [2, 20, 30] {
        assert_eq!(explore(&singleton(n), PAPER), (2, 0), "{n}");
    }
}

/// Programs in which every value counts, and comes from one write.
#[test]
fn no_reduction_where_there_is_none() {
    for built in [readers(8), casrot(7)] {
        let options = SearchOptions::default();
        let by_source = check(&mut built.program(), EngineKind::Rf, options);
        let classes = by_source.expect("no violation").statistics.complete;
        assert_eq!(explore(&built, PAPER), (classes, 0));
    }
}

#[test]
fn values_that_make_no_difference_are_not_told_apart() {
    let merging = RvfHeuristics::default();
    assert_eq!(explore(&readers(13), merging), (1, 0));
    assert_eq!(explore(&singleton(30), merging), (1, 0));
    assert_eq!(explore(&reorder(30), merging), (1, 0));
}

/// "These techniques have no effect on the number of the explored traces", at least not upwards.
#[test]
fn heuristics_of_the_paper_explore_no_more() {
    for built in [
        figure_1(),
        monabsex1(4),
        reorder(4),
        singleton(5),
        casrot(5),
        fib_bench(2),
    ] {
        let (complete, blocked) = explore(&built, PAPER);
        for heuristics in ablations() {
            let (other, others_blocked) = explore(&built, heuristics);
            assert_eq!(blocked, others_blocked);
            assert!(other <= complete || !heuristics.signals, "{heuristics:?}");
        }
    }
}

fn outcome(built: &BuiltProgram, checks: Checks) -> (Verdict, Statistics) {
    let mut program = built.program();
    let options = SearchOptions {
        checks,
        ..SearchOptions::default()
    };
    let outcome = check(&mut program, EngineKind::Rvf, options).expect("violations replay");
    (outcome.verdict, outcome.statistics)
}

/// Locks are read-modify-writes: who takes one after whom is told apart, but not who left it free before everybody.
#[test]
fn locks() {
    let build = |locked_by_main: bool| {
        let mut b = ProgramBuilder::new("locks");
        let m = b.mutex("m");
        for _ in 0..3 {
            b.thread("t", |t| {
                t.lock(m);
                t.unlock(m);
            });
        }
        b.main(|t| {
            if locked_by_main {
                t.lock(m);
                t.unlock(m);
            }
            t.spawn_all();
        });
        b.build()
    };
    assert_eq!(explore(&build(false), PAPER), (6, 0));
    assert_eq!(explore(&build(true), PAPER), (6, 0));
}

/// The flag is read with the same value from a store that publishes the data and from one that does not.
#[test]
fn a_race_in_one_execution_of_a_class_is_found() {
    let build = |publishes_late: bool| {
        let mut b = ProgramBuilder::new("publish");
        let (data, flag) = (b.var("data", 4), b.var("flag", 4));
        b.thread("publisher", |t| {
            t.store_order(data, 1, Order::Plain);
            t.store_order(flag, 1, Order::Release);
        });
        if publishes_late {
            b.thread("other", |t| t.store_order(flag, 1, Order::Release));
        }
        b.thread("reader", |t| {
            let seen = t.load_order(flag, Order::Acquire);
            t.if_(seen.is(1), |t| {
                t.load_order(data, Order::Plain);
            });
        });
        b.build()
    };
    let races = Checks::default();
    let (verdict, _) = outcome(&build(true), races);
    assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
    let (verdict, _) = outcome(&build(false), races);
    assert!(matches!(verdict, Verdict::Verified(_)), "{verdict:?}");
    // Without the check nobody asks who wrote.
    let none = Checks {
        races: false,
        ..races
    };
    let (verdict, statistics) = outcome(&build(true), none);
    assert!(matches!(verdict, Verdict::Verified(_)), "{verdict:?}");
    assert_eq!(statistics.complete, 2);
}

/// A read that acquires learns of the plain store that it raced with, if it waits for what is written after that.
#[test]
fn waiting_hides_no_race() {
    let mut b = ProgramBuilder::new("hidden");
    let flag = b.var("flag", 4);
    b.thread("writer", |t| {
        t.store_order(flag, 0, Order::Plain);
        t.store_order(flag, 1, Order::Release);
    });
    b.thread("waiter", |t| {
        t.loop_(|t| {
            let seen = t.load_order(flag, Order::Acquire);
            t.if_(seen.is(1), |t| t.break_());
        });
    });
    let (verdict, _) = outcome(&b.build(), Checks::default());
    assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
}

/// Loops that wait come to an end.
#[test]
fn awaits() {
    let (complete, blocked) = explore(&ttaslock(3), RvfHeuristics::default());
    assert!((1..=36).contains(&complete), "{complete}");
    assert_eq!(blocked, 0);
}

/// A thread awaits a value that another one overwrites: whether it comes too late depends on the order of writes only.
#[test]
fn awaits_that_may_never_hold() {
    let mut b = ProgramBuilder::new("missed");
    let x = b.var("x", 4);
    b.thread("writer", |t| {
        t.store(x, 1);
        t.store(x, 2);
    });
    b.thread("waiter", |t| {
        t.loop_(|t| {
            let seen = t.load(x);
            t.if_(seen.is(1), |t| t.break_());
        });
    });
    let built = b.build();
    assert_eq!(explore(&built, PAPER), (1, 1));
    let checks = Checks {
        livelocks: true,
        ..Checks::default()
    };
    let (verdict, _) = outcome(&built, checks);
    assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
}

#[test]
fn purity_without_awaits_blocks() {
    let mut program = ttaslock(2).program();
    let mut count = Count::default();
    let options = RvfOptions {
        reductions: Reductions {
            awaits: false,
            ..Reductions::default()
        },
        ..RvfOptions::default()
    };
    let _ = Search::new(&program, options).run(&mut program, &mut count);
    let (complete, blocked) = count.ends();
    assert!(complete >= 1 && blocked >= 1);
}

#[test]
fn time_in_verify_sc_is_told() {
    let (_, statistics) = outcome(&fib_bench(3), Checks::default());
    let verify = statistics.verify();
    assert!(verify.at_hand > 0 && verify.guided > 0 && !verify.time.is_zero());
    assert!(verify.time <= statistics.elapsed);
}
