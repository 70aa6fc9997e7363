//! Exact counts of Mazurkiewicz classes, from the tables of the papers.

use super::{Listener, Search};
use crate::driver::{SearchOptions, check};
use crate::verdict::{Bound, Checks, EngineKind, Verdict, ViolationKind};
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
            if std::env::var("SHOWB").is_ok() {
                for s in machine.steps() {
                    println!(
                        "  {:?} {:?} {:?} -> {}",
                        s.thread,
                        s.state,
                        program.op(s.state),
                        s.value
                    );
                }
                for t in 0..machine.thread_count() {
                    let t = ThreadId::from_index(t);
                    println!(
                        "  at {:?} {:?} {:?}",
                        t,
                        machine.thread_state(t).map(|s| (s, *program.op(s))),
                        machine.readiness(program, t)
                    );
                }
                println!();
            }
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

fn control_flow(n: u32) -> BuiltProgram {
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

#[test]
fn control_flow_counts() {
    assert_eq!(explore(&control_flow(5)), (5160, 0));
}

fn exponential(n: u32) -> BuiltProgram {
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
    b.build()
}

#[test]
fn exponential_bug_with_a_mutex() {
    assert_eq!(explore(&exponential(3)), (36570, 0));
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
#[ignore]
fn speed() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let timed = |name: &str, built: &BuiltProgram| {
        if !name.contains(&only) {
            return;
        }
        let start = std::time::Instant::now();
        let mut program = built.program();
        let outcome =
            crate::driver::check(&mut program, crate::EngineKind::Dpor, Default::default())
                .unwrap();
        let (complete, blocked) = (outcome.statistics.complete, outcome.statistics.blocked);
        let elapsed = start.elapsed();
        println!(
            "{name}: {complete}+{blocked} in {elapsed:?}: {:.2} us",
            elapsed.as_secs_f64() * 1e6 / (complete + blocked) as f64
        );
    };
    for n in [4, 5, 6] {
        let mut b = ProgramBuilder::new("fib");
        let i = b.var_init("i", 4, 1);
        let j = b.var_init("j", 4, 1);
        add_into(&mut b, "t1", n, i, j);
        add_into(&mut b, "t2", n, j, i);
        b.main(|t| {
            t.spawn_all();
            let a = t.load(i);
            t.if_(a.at_most(100000), |t| {
                t.load(j);
            });
        });
        timed("fib", &b.build());
    }
    for n in [9, 10] {
        let mut b = ProgramBuilder::new("casrot");
        let x = b.var("x", 4);
        for i in 1..=n {
            b.thread(&format!("c{i}"), |t| {
                t.cas(x, i - 1, i);
            });
        }
        b.no_joins();
        timed("casrot", &b.build());
    }
    for n in 8..=9 {
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
        timed("lastwrite", &b.build());
    }
    for n in [5, 7] {
        timed("exponential", &exponential(n));
        timed("control-flow", &control_flow(n));
    }
    for n in [11, 13] {
        let mut b = ProgramBuilder::new("readers");
        let x = b.var("x", 4);
        b.thread("writer", |t| t.store(x, 42));
        for i in 0..n {
            b.thread(&format!("reader{i}"), |t| {
                t.load(x);
            });
        }
        timed("readers", &b.build());
    }
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
    let check = |writes: bool| {
        let mut b = ProgramBuilder::new("spin");
        let x = b.var("x", 4);
        b.thread("p", |t| {
            if writes {
                t.store(x, 1);
            }
        });
        b.thread("q", |t| t.while_(|t| t.load(x).is(0), |_| {}));
        let checks = Checks {
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
    assert_eq!(check(true), Verdict::Verified(Bound::Complete));
    let Verdict::Violation(found) = check(false) else {
        panic!("no livelock")
    };
    assert!(matches!(found[0].kind, ViolationKind::Livelock { .. }));
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

/// Test-and-test-and-set: both loops are pure.
fn ttas(threads: u32) -> BuiltProgram {
    let mut b = ProgramBuilder::new("ttas");
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

#[test]
fn a_ttas_lock_leaves_nothing_blocked() {
    for threads in 2..=3 {
        let (complete, blocked) = explore(&ttas(threads));
        println!("ttas {threads}: {complete}+{blocked}");
        assert_eq!(blocked, 0);
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

/// An event, and what it accessed; identified by thread and position.
type Key = (Vec<(u32, u32, u32, u64)>, Vec<(u32, u32, u32, u32)>);

/// The class of the machine's execution: its events and the order of those that conflict.
fn class(
    program: &Program,
    machine: &Machine,
    marks: &[raddle_memory::Mark],
    suspended: &[Option<raddle_program::StateId>],
) -> Key {
    let mut events = Vec::new();
    let mut counts = std::collections::BTreeMap::new();
    for (i, mark) in marks.iter().enumerate() {
        let end = marks
            .get(i + 1)
            .map_or(machine.steps().len(), |m| m.steps());
        let steps = &machine.steps()[mark.steps()..end];
        let mut accesses = Vec::new();
        for step in steps {
            raddle_memory::accesses(program, step, |a| accesses.push(a));
        }
        if let Some(state) = suspended[i]
            && let raddle_program::Op::Sync { cell, .. } = *program.op(state)
        {
            accesses.push(raddle_memory::Access {
                loc: cell,
                mode: raddle_memory::AccessMode::Read,
            });
        }
        let thread = steps[0].thread.0;
        let index = counts.entry(thread).or_insert(0u32);
        *index += 1;
        events.push((thread, *index, steps.to_vec(), accesses));
    }
    let mut names: Vec<_> = events
        .iter()
        .flat_map(|(t, i, steps, _)| steps.iter().map(|s| (*t, *i, s.state.0, s.value)))
        .collect();
    names.sort_unstable();
    let mut order = Vec::new();
    for (i, a) in events.iter().enumerate() {
        for b in &events[i + 1..] {
            if a.0 != b.0
                && a.3.iter().any(|&x| {
                    b.3.iter()
                        .any(|&y| raddle_memory::access::conflict(program.tables(), x, y))
                })
            {
                order.push((a.0, a.1, b.0, b.1));
            }
        }
    }
    order.sort_unstable();
    (names, order)
}

fn all_classes(program: &mut Program) -> std::collections::HashMap<Key, u64> {
    let mut machine = Machine::new(program);
    let mut classes = std::collections::HashMap::new();
    fn go(
        program: &mut Program,
        machine: &mut Machine,
        marks: &mut Vec<raddle_memory::Mark>,
        suspended: &mut Vec<Option<raddle_program::StateId>>,
        classes: &mut std::collections::HashMap<Key, u64>,
    ) {
        let mut any = false;
        for t in 0..machine.thread_count() {
            let t = ThreadId::from_index(t);
            if machine.readiness(program, t) != Readiness::Ready {
                continue;
            }
            any = true;
            let mut choices = Vec::new();
            loop {
                let mark = machine.mark();
                machine.step(program, t, &choices);
                let mut chosen = machine.chosen().to_vec();
                marks.push(mark);
                suspended.push(machine.suspended());
                go(program, machine, marks, suspended, classes);
                marks.pop();
                suspended.pop();
                machine.undo_to(mark);
                while chosen.last().is_some_and(|c| c.taken + 1 >= c.count) {
                    chosen.pop();
                }
                let Some(last) = chosen.last_mut() else { break };
                last.taken += 1;
                choices = chosen.iter().map(|c| c.taken).collect();
            }
        }
        if !any {
            *classes
                .entry(class(program, machine, marks, suspended))
                .or_insert(0) += 1;
        }
    }
    go(
        program,
        &mut machine,
        &mut Vec::new(),
        &mut Vec::new(),
        &mut classes,
    );
    classes
}

#[test]
#[ignore]
fn random_quick() {
    use raddle_program::generate::*;
    let from: u64 = std::env::var("FROM").map_or(0, |v| v.parse().unwrap());
    let count: u64 = std::env::var("COUNT").map_or(1000, |v| v.parse().unwrap());
    let options = GenOptions::default();
    let mut total = 0;
    for seed in from..from + count {
        let built = generate(seed, &options);
        if std::env::var("SHOW").is_ok() {
            println!("{built}");
        }
        let mut program = built.program();
        let classes = all_classes(&mut program);
        let mut seen: std::collections::HashMap<Key, u64> = Default::default();
        struct L<'a> {
            seen: &'a mut std::collections::HashMap<Key, u64>,
            given_up: u64,
            marks: Vec<raddle_memory::Mark>,
            suspended: Vec<Option<raddle_program::StateId>>,
        }
        impl Listener for L<'_> {
            fn stepped(
                &mut self,
                _: &mut Program,
                m: &mut Machine,
                _: ThreadId,
                _: StepEnd,
            ) -> ControlFlow<()> {
                let _ = m;
                ControlFlow::Continue(())
            }
            fn undone(&mut self, _: usize) {}
            fn ended(&mut self, p: &mut Program, m: &mut Machine) -> ControlFlow<()> {
                let _ = (&self.marks, &self.suspended);
                // Run it again to have the marks.
                let steps = m.steps().to_vec();
                let mut fresh = Machine::new(p);
                let (mut marks, mut suspended) = (Vec::new(), Vec::new());
                while fresh.steps().len() < steps.len() {
                    let at = fresh.steps().len();
                    // All choices of the event: of the micro-steps until the thread changes.
                    let choices: Vec<u32> = steps[at..]
                        .iter()
                        .take_while(|s| s.thread == steps[at].thread)
                        .filter(|s| matches!(p.op(s.state), raddle_program::Op::Choice { .. }))
                        .map(|s| s.value as u32)
                        .collect();
                    marks.push(fresh.mark());
                    fresh.step(p, steps[at].thread, &choices);
                    suspended.push(fresh.suspended());
                }
                assert_eq!(fresh.steps(), &steps[..]);
                *self
                    .seen
                    .entry(class(p, &fresh, &marks, &suspended))
                    .or_insert(0) += 1;
                ControlFlow::Continue(())
            }
            fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
                self.given_up += 1;
                ControlFlow::Continue(())
            }
        }
        let mut l = L {
            seen: &mut seen,
            given_up: 0,
            marks: vec![],
            suspended: vec![],
        };
        let _ = Search::new(&program).run(&mut program, &mut l);
        let given_up = l.given_up;
        total += classes.len();
        let twice = seen.values().filter(|&&n| n > 1).count();
        let missing = classes.keys().filter(|k| !seen.contains_key(*k)).count();
        let extra = seen.keys().filter(|k| !classes.contains_key(*k)).count();
        if twice + missing + extra + given_up as usize > 0 {
            println!(
                "seed {seed}: {} classes, {} seen, missing {missing}, extra {extra}, twice {twice}, given up {given_up}\n{built}",
                classes.len(),
                seen.len()
            );
            if std::env::var("STOP").is_ok() {
                for (k, n) in &classes {
                    println!(
                        "class x{n}: {k:?} {}",
                        if seen.contains_key(k) { "" } else { "MISSING" }
                    );
                }
                for k in seen.keys().filter(|k| !classes.contains_key(*k)) {
                    println!("EXTRA {k:?}");
                }
                panic!()
            }
        }
    }
    println!("{total} classes");
}
