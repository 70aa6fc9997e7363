//! Exact counts of Mazurkiewicz classes, from the tables of the papers.

use super::{Listener, Search};
use raddle_memory::{Ending, Machine, Readiness, StepEnd};
use raddle_program::builder::{BuiltProgram, Compare, Place, ProgramBuilder};
use raddle_program::{Program, ThreadId};
use std::ops::ControlFlow;

#[derive(Default)]
struct Count {
    complete: u64,
    blocked: u64,
    given_up: u64,
}

impl Listener for Count {
    fn stepped(
        &mut self,
        _: &mut Program,
        _: &mut Machine,
        _: ThreadId,
        _: StepEnd,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn undone(&mut self, _: usize) {}
    fn ended(&mut self, program: &mut Program, machine: &mut Machine) -> ControlFlow<()> {
        let all_finished = (0..machine.thread_count()).all(|thread| {
            matches!(
                machine.readiness(program, ThreadId::from_index(thread)),
                Readiness::Ended(Ending::Finished) | Readiness::NotStarted
            )
        });
        if all_finished {
            self.complete += 1;
        } else {
            self.blocked += 1;
        }
        ControlFlow::Continue(())
    }
    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        self.given_up += 1;
        ControlFlow::Continue(())
    }
}

/// Complete and blocked executions; none may be given up.
fn explore(built: &BuiltProgram) -> (u64, u64) {
    let mut program = built.program();
    let mut count = Count::default();
    let _ = Search::new(&program).run(&mut program, &mut count);
    assert_eq!(count.given_up, 0, "executions given up in\n{built}");
    (count.complete, count.blocked)
}

#[test]
fn readers() {
    for n in [1, 2, 5, 9] {
        let mut b = ProgramBuilder::new("readers");
        let x = b.var("x", 4);
        b.thread("writer", |t| t.store(x, 42));
        for i in 0..n {
            b.thread(&format!("reader{i}"), |t| {
                t.load(x);
            });
        }
        assert_eq!(explore(&b.build()), (1 << n, 0));
    }
}

#[test]
fn lastwrite() {
    let mut expected = 1;
    for n in 1..=7 {
        expected *= n;
        let mut b = ProgramBuilder::new("lastwrite");
        let x = b.var("x", 4);
        for i in 1..=n {
            b.thread(&format!("w{i}"), |t| t.store(x, i));
        }
        b.main(|t| {
            t.spawn_all();
            t.join_all();
            t.load(x);
        });
        assert_eq!(explore(&b.build()), (expected, 0));
    }
}

#[test]
fn casrot() {
    for (n, expected) in [(8, 2048), (9, 8597)] {
        let mut b = ProgramBuilder::new("casrot");
        let x = b.var("x", 4);
        for i in 1..=n {
            b.thread(&format!("c{i}"), |t| {
                t.cas(x, i - 1, i);
            });
        }
        b.no_joins();
        assert_eq!(explore(&b.build()), (expected, 0));
    }
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

#[test]
fn fib_bench() {
    for (n, limit, expected) in [(2, 8, 140), (4, 55, 19605)] {
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
        assert_eq!(explore(&b.build()), (expected, 0));
    }
}

#[test]
fn sigma() {
    for (n, expected) in [(5u32, 945), (6, 10395)] {
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
        assert_eq!(explore(&b.build()), (expected, 0));
    }
}

#[test]
fn exponential_bug_with_a_mutex() {
    let n = 3;
    let mut b = ProgramBuilder::new("exponential");
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
    assert_eq!(explore(&b.build()), (36570, 0));
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
