//! Exact counts of Mazurkiewicz classes, from the tables of the papers.

use super::{Listener, Search};
use crate::driver::{Reductions, SearchOptions, check};
use crate::verdict::{Bound, Checks, EngineKind, Verdict, ViolationKind};
use raddle_memory::access::conflict;
use raddle_memory::{Access, AccessMode, Ending, Machine, MicroStep, Readiness, StepEnd};
use raddle_program::builder::{BuiltProgram, Compare, Place, ProgramBuilder};
use raddle_program::generate::{GenOptions, Random, generate};
use raddle_program::{Op, Program, RmwKind, ThreadId};
use std::collections::BTreeMap;
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
    let standard = Reductions {
        additions: false,
        ..Reductions::default()
    };
    explore_with(built, standard)
}

fn explore_with(built: &BuiltProgram, reductions: Reductions) -> (u64, u64) {
    let mut program = built.program();
    let mut count = Count::default();
    let _ = Search::new(&program, reductions).run(&mut program, &mut count);
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

#[test]
fn figure_5_additions_commute() {
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

/// How the reference enumerates.
#[derive(Clone, Copy)]
struct Rules {
    additions: bool,
    awaits: bool,
}

/// An event, and what it accessed; identified by thread and position.
type Key = (Vec<(u32, u32, u32, u64)>, Vec<(u32, u32, u32, u32)>);

#[derive(Clone, Copy)]
struct Done {
    mark: raddle_memory::Mark,
    suspended: Option<raddle_program::StateId>,
    is_pure: bool,
}

/// The class of the machine's execution: its events and the order of those that conflict.
fn class(program: &Program, machine: &Machine, done: &[Done], rules: Rules) -> Key {
    let mut events = Vec::new();
    let mut counts = std::collections::BTreeMap::new();
    for (i, event) in done.iter().enumerate() {
        let end = done
            .get(i + 1)
            .map_or(machine.steps().len(), |next| next.mark.steps());
        let steps = &machine.steps()[event.mark.steps()..end];
        let mut accesses = Vec::new();
        for step in steps {
            raddle_memory::accesses(program, step, |mut access| {
                if let Op::Rmw {
                    loc,
                    kind: RmwKind::Add | RmwKind::Sub,
                    ..
                } = *program.op(step.state)
                    && rules.additions
                    && steps.len() == 1
                    && loc == access.loc
                    && program.ignores_result(step.state)
                {
                    access.mode = AccessMode::Add;
                }
                accesses.push(access);
            });
        }
        if let Some(state) = event.suspended
            && let Op::Sync { cell, .. } = *program.op(state)
        {
            accesses.push(Access {
                loc: cell,
                mode: AccessMode::Read,
            });
        }
        let thread = steps[0].thread.0;
        let index = counts.entry(thread).or_insert(0u32);
        *index += 1;
        events.push((thread, *index, steps.to_vec(), accesses));
    }
    let value = |step: &MicroStep| {
        if program.ignores_result(step.state) {
            0
        } else {
            step.value
        }
    };
    let mut names: Vec<_> = events
        .iter()
        .flat_map(|(t, i, steps, _)| steps.iter().map(|s| (*t, *i, s.state.0, value(s))))
        .collect();
    names.sort_unstable();
    let mut order = Vec::new();
    for (i, a) in events.iter().enumerate() {
        for b in &events[i + 1..] {
            let conflicts = |x| b.3.iter().any(|&y| conflict(program.tables(), x, y));
            if a.0 != b.0 && a.3.iter().copied().any(conflicts) {
                order.push((a.0, a.1, b.0, b.1));
            }
        }
    }
    order.sort_unstable();
    (names, order)
}

/// Would a step of `thread` only complete a pure iteration? Found by doing it.
fn closes_loop(
    program: &mut Program,
    machine: &mut Machine,
    done: &[Done],
    thread: ThreadId,
) -> bool {
    let mark = machine.mark();
    let from = machine.thread_state(thread);
    machine.step(program, thread, &[]);
    let is_attempt = matches!(
        from.map(|s| *program.op(s)),
        Some(Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. })
    );
    let is_pure = is_attempt && machine.is_pure_since(mark);
    let to = machine.thread_state(thread);
    machine.undo_to(mark);
    if !is_pure {
        return false;
    }
    if to == from {
        return true;
    }
    for event in done.iter().rev() {
        let step = machine.steps()[event.mark.steps()];
        if step.thread == thread {
            if !event.is_pure {
                return false;
            }
            if Some(step.state) == to {
                return true;
            }
        }
    }
    false
}

/// All classes, by running every interleaving.
fn all_classes(program: &mut Program, rules: Rules) -> BTreeMap<Key, u64> {
    fn go(
        program: &mut Program,
        machine: &mut Machine,
        done: &mut Vec<Done>,
        rules: Rules,
        classes: &mut BTreeMap<Key, u64>,
    ) {
        let mut any = false;
        for thread in (0..machine.thread_count()).map(ThreadId::from_index) {
            if machine.readiness(program, thread) != Readiness::Ready
                || (rules.awaits && closes_loop(program, machine, done, thread))
            {
                continue;
            }
            any = true;
            let mut choices = Vec::new();
            loop {
                let mark = machine.mark();
                let state = machine.thread_state(thread).expect("it is ready");
                machine.step(program, thread, &choices);
                let mut chosen = machine.chosen().to_vec();
                let can_be_pure = !matches!(
                    program.op(state),
                    Op::AtomicBegin
                        | Op::Choice { .. }
                        | Op::Sync { .. }
                        | Op::Join { .. }
                        | Op::Spawn { .. }
                );
                let is_pure = can_be_pure
                    && machine.is_pure_since(mark)
                    && !matches!(program.op(state), Op::Store { .. });
                done.push(Done {
                    mark,
                    suspended: machine.suspended(),
                    is_pure,
                });
                go(program, machine, done, rules, classes);
                done.pop();
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
                .entry(class(program, machine, done, rules))
                .or_insert(0) += 1;
        }
    }
    let mut machine = Machine::new(program);
    let mut classes = BTreeMap::new();
    go(program, &mut machine, &mut Vec::new(), rules, &mut classes);
    classes
}

/// Collects the classes of explored executions.
struct Classes {
    seen: BTreeMap<Key, u64>,
    given_up: u64,
    rules: Rules,
}

impl Listener for Classes {
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
        // Run it again to know where events begin.
        let steps = machine.steps().to_vec();
        let mut fresh = Machine::new(program);
        let mut done = Vec::new();
        while fresh.steps().len() < steps.len() {
            let rest = &steps[fresh.steps().len()..];
            let thread = rest[0].thread;
            let choices: Vec<u32> = rest
                .iter()
                .take_while(|step| step.thread == thread)
                .filter(|step| matches!(program.op(step.state), Op::Choice { .. }))
                .map(|step| step.value as u32)
                .collect();
            let mark = fresh.mark();
            fresh.step(program, thread, &choices);
            done.push(Done {
                mark,
                suspended: fresh.suspended(),
                is_pure: false,
            });
        }
        assert_eq!(fresh.steps(), &steps[..]);
        *self
            .seen
            .entry(class(program, &fresh, &done, self.rules))
            .or_insert(0) += 1;
        ControlFlow::Continue(())
    }
    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        self.given_up += 1;
        ControlFlow::Continue(())
    }
}

fn assert_one_execution_per_class(built: &BuiltProgram, rules: Rules) {
    if std::env::var("SHOW").is_ok() {
        println!("{built}");
    }
    let mut program = built.program();
    let classes = all_classes(&mut program, rules);
    if std::env::var("SHOW").is_ok() {
        println!("{} classes", classes.len());
    }
    let mut listener = Classes {
        seen: BTreeMap::new(),
        given_up: 0,
        rules,
    };
    let reductions = Reductions {
        purity: rules.awaits,
        awaits: rules.awaits,
        additions: rules.additions,
    };
    let _ = Search::new(&program, reductions).run(&mut program, &mut listener);
    let missing = classes
        .keys()
        .filter(|key| !listener.seen.contains_key(*key))
        .count();
    let extra = listener
        .seen
        .keys()
        .filter(|key| !classes.contains_key(*key))
        .count();
    let twice = listener.seen.values().filter(|&&count| count > 1).count();
    assert_eq!(
        (missing, extra, twice, listener.given_up),
        (0, 0, 0, 0),
        "missing, extra, twice, given up of {} classes of\n{built}",
        classes.len()
    );
}

/// A program whose threads spin, add, and store.
fn spinning(seed: u64) -> BuiltProgram {
    let mut random = Random::new(seed);
    let mut b = ProgramBuilder::new(&format!("spinning {seed}"));
    let vars = [b.var("x", 4), b.var("y", 4)];
    let threads = 2 + random.below(2);
    for i in 0..threads {
        let count = 1 + random.below(if threads == 2 { 4 } else { 3 });
        let plan: Vec<[u64; 3]> = (0..count)
            .map(|_| [random.below(9), random.below(2), random.below(3)])
            .collect();
        b.thread(&format!("t{i}"), |t| {
            for [kind, var, value] in plan {
                let x = vars[var as usize];
                match kind {
                    0 | 1 => t.store(x, value),
                    2 | 3 => {
                        t.fetch_add(x, 1);
                    }
                    4 => t.while_(|t| t.load(x).differs(value), |_| {}),
                    5 => t.while_(|t| t.load(x).is(value), |_| {}),
                    6 => t.while_(|t| t.exchange(x, 1).is(1), |_| {}),
                    7 => t.while_(|t| t.cas(x, value, 2).1.is(0), |_| {}),
                    _ => {
                        let old = t.fetch_add(x, 1);
                        t.if_(old.is(value), |t| t.store(vars[1 - var as usize], old));
                    }
                }
            }
        });
    }
    b.no_joins();
    b.build()
}

/// How many programs a property is tried on, and from which seed on.
fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str, default| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let from = number("RADDLE_PROPTEST_SEED", 0);
    from..from + number("RADDLE_PROPTEST_CASES", default)
}

#[test]
fn one_execution_per_class() {
    for seed in seeds(400) {
        let built = generate(seed, &GenOptions::default());
        assert_one_execution_per_class(
            &built,
            Rules {
                additions: false,
                awaits: false,
            },
        );
    }
}

#[test]
fn one_execution_per_class_where_additions_commute() {
    for seed in seeds(400) {
        let built = generate(seed, &GenOptions::default());
        assert_one_execution_per_class(
            &built,
            Rules {
                additions: true,
                awaits: false,
            },
        );
    }
}

#[test]
fn one_execution_per_class_with_awaits() {
    for seed in seeds(400) {
        assert_one_execution_per_class(
            &spinning(seed),
            Rules {
                additions: false,
                awaits: true,
            },
        );
    }
}

#[test]
fn one_execution_per_class_with_awaits_of_sums() {
    for seed in seeds(400) {
        assert_one_execution_per_class(
            &spinning(seed),
            Rules {
                additions: true,
                awaits: true,
            },
        );
    }
}
