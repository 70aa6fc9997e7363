//! For tests: generated programs whose threads wait in loops, and an enumeration of their executions that knows of waiting
//! what its definition says.

mod counting;

pub(crate) use counting::counting;

use crate::purity::Attempt;
use raddle_memory::{Machine, Mark, Readiness, StepEnd};
use raddle_program::{Op, Order, Program, StateId, ThreadId, Value};
use raddle_testing::builder::{BuiltProgram, Compare, ProgramBuilder, ThreadBuilder};
use raddle_testing::generate::Random;

/// An event of an execution in the machine.
#[derive(Clone, Copy)]
pub(crate) struct Done {
    pub(crate) mark: Mark,
    pub(crate) suspended: Option<StateId>,
    is_pure: bool,
    ends_thread: bool,
}

/// What is done about pure iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purity {
    Off,
    /// A thread that completed a pure iteration goes no further.
    Assumes,
    /// A thread does not complete pure iterations; where it may not wait, as with `Assumes`.
    Awaits,
}

/// How many programs a property is tried on, and from which seed on.
pub(crate) fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str, default| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let from = number("RADDLE_PROPTEST_SEED", 0);
    from..from + number("RADDLE_PROPTEST_CASES", default)
}

/// A program whose threads spin, add, and store.
pub(crate) fn spinning(seed: u64) -> BuiltProgram {
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

/// A program whose threads wait in loops of more kinds, and for mutexes.
pub(crate) fn spinning_otherwise(seed: u64) -> BuiltProgram {
    let mut random = Random::new(seed);
    let mut b = ProgramBuilder::new(&format!("spinning otherwise {seed}"));
    let vars = [b.var("x", 4), b.var("y", 4)];
    let m = b.mutex("m");
    let threads = 2 + random.below(2);
    for i in 0..threads {
        let count = 1 + random.below(if threads == 2 { 4 } else { 2 });
        let plan: Vec<[u64; 3]> = (0..count)
            .map(|_| [random.below(11), random.below(2), random.below(3)])
            .collect();
        b.thread(&format!("t{i}"), |t| {
            for [kind, var, value] in plan {
                let (x, y) = (vars[var as usize], vars[1 - var as usize]);
                match kind {
                    0..3 => t.store(x, value),
                    3 => {
                        t.fetch_add(x, 1);
                    }
                    4 => t.while_(|t| t.load(x).differs(value), |_| {}),
                    // It also ends where nothing is written.
                    5 => t.while_(|t| t.cas(x, 0, 2).0.is(1 + value % 2), |_| {}),
                    6 => t.while_(
                        |t| {
                            let (a, b) = (t.load(x), t.load(y));
                            (a + b).differs(value)
                        },
                        |_| {},
                    ),
                    7 => {
                        let found = t.load(x);
                        t.if_(found.is(value), |t| t.store(y, 1));
                    }
                    8 => {
                        t.while_(|t| t.exchange(x, 1).is(1), |_| {});
                        t.store(x, 0);
                    }
                    9 => {
                        t.while_(|t| t.try_lock(m).is(0), |_| {});
                        t.unlock(m);
                    }
                    _ => {
                        t.lock(m);
                        t.store(x, value);
                        t.unlock(m);
                    }
                }
            }
        });
    }
    b.no_joins();
    b.build()
}

/// A program whose threads wait for flags in loops that look at other variables too, which may be in a race. What others do may
/// depend on a thread that has long left its loop.
pub(crate) fn glancing(seed: u64) -> BuiltProgram {
    let mut random = Random::new(seed);
    let mut b = ProgramBuilder::new(&format!("glancing {seed}"));
    let flags = [b.var("x", 4), b.var("y", 4)];
    let data = [b.var("d", 4), b.var("e", 4)];
    let piece = |random: &mut Random| [9, 2, 2, 2, 5, 3].map(|below| random.below(below));
    let mut plans: Vec<Vec<[u64; 6]>> = Vec::new();
    if random.percent(50) {
        // The second waits for the first, which waited for the second and looked at what that is going to write.
        let [[.., a, b], [.., c, d]] = [0; 2].map(|_| piece(&mut random));
        let seen = random.below(2);
        plans.push(vec![[4, 0, seen, 0, a, b], [0, 1, 0, 0, c, d]]);
        let write = 2 + random.below(2);
        plans.push(vec![
            [0, 0, 0, 0, a, d],
            [4 + random.below(5), 1, 1 - seen, 0, c, b],
            [write, 0, seen, 1, a, b],
        ]);
        for plan in &mut plans {
            if random.percent(30) {
                let at = random.below(plan.len() as u64 + 1) as usize;
                plan.insert(at, piece(&mut random));
            }
        }
    } else {
        let threads = 2 + random.below(4) / 3;
        for _ in 0..threads {
            let count = 1 + random.below(if threads == 2 { 4 } else { 3 });
            plans.push((0..count).map(|_| piece(&mut random)).collect());
        }
    }
    for (i, plan) in plans.into_iter().enumerate() {
        b.thread(&format!("t{i}"), |t| {
            for [kind, flag, other, value, order, write_order] in plan {
                let (x, d) = (flags[flag as usize], data[other as usize]);
                let y = flags[other as usize];
                let read = [
                    Order::Relaxed,
                    Order::Relaxed,
                    Order::Acquire,
                    Order::SeqCst,
                    Order::Plain,
                ][order as usize];
                let glance = [
                    Order::Plain,
                    Order::Plain,
                    Order::Plain,
                    Order::Relaxed,
                    Order::Acquire,
                ][order as usize];
                let write = [Order::Relaxed, Order::Relaxed, Order::Release][write_order as usize];
                match kind {
                    0..2 => t.store_order(x, 1, write),
                    2 => t.store_order(d, value, Order::Plain),
                    3 => t.store_order(d, value, write),
                    4 | 5 => t.loop_(|t| {
                        let found = t.load_order(x, read);
                        t.if_(found.is(1), ThreadBuilder::break_);
                        t.load_order(d, glance);
                    }),
                    6 => t.loop_(|t| {
                        t.load_order(d, glance);
                        let found = t.load_order(x, Order::Relaxed);
                        t.if_(found.is(1), ThreadBuilder::break_);
                    }),
                    7 => t.loop_(|t| {
                        let found = t.load_order(x, Order::Relaxed);
                        t.if_(found.is(1), ThreadBuilder::break_);
                        let (_, done) = t.cas_order(d, 1, 0, write, Order::Relaxed);
                        t.if_(done.is(1), ThreadBuilder::break_);
                    }),
                    _ => t.loop_(|t| {
                        let found = t.load_order(x, Order::Relaxed);
                        t.if_(found.is(1), ThreadBuilder::break_);
                        let found = t.load_order(y, read);
                        t.if_(found.is(1), ThreadBuilder::break_);
                        t.load_order(d, glance);
                    }),
                }
            }
        });
    }
    b.no_joins();
    b.build()
}

/// A program whose threads wait in loops that keep what they have seen in a variable of their own, and look at it again.
pub(crate) fn caching(seed: u64) -> BuiltProgram {
    keeping(seed, ("caching", 10))
}

/// The same, and loops that change a variable of their own and take that back.
pub(crate) fn setting(seed: u64) -> BuiltProgram {
    keeping(seed, ("setting", 14))
}

fn keeping(seed: u64, (name, kinds): (&str, u64)) -> BuiltProgram {
    let mut random = Random::new(seed);
    let mut b = ProgramBuilder::new(&format!("{name} {seed}"));
    let vars = [b.var("x", 4), b.var("y", 4)];
    let threads = 2 + random.below(4) / 3;
    for i in 0..threads {
        let own = [b.var(&format!("c{i}"), 4), b.var(&format!("d{i}"), 4)];
        let count = 1 + random.below(if threads == 2 { 4 } else { 2 });
        let plan: Vec<[u64; 4]> = (0..count)
            .map(|_| [kinds, 2, 3, 2].map(|below| random.below(below)))
            .collect();
        b.thread(&format!("t{i}"), |t| {
            for [kind, var, value, cache] in plan {
                let (x, y) = (vars[var as usize], vars[1 - var as usize]);
                let (c, d) = (own[cache as usize], own[1 - cache as usize]);
                match kind {
                    0..2 => t.store(x, value),
                    2 => {
                        t.fetch_add(x, 1);
                    }
                    3 => t.store_plain(c, value),
                    4 => {
                        let found = t.load_plain(c);
                        t.if_(found.is(value), |t| t.store(y, 1));
                    }
                    // The cached index of a queue.
                    5 => t.while_(
                        |t| t.load_plain(c).is(0),
                        |t| {
                            let found = t.load(x);
                            t.store_plain(c, found);
                        },
                    ),
                    6 => t.loop_(|t| {
                        let found = t.load(x);
                        t.store_plain(c, found);
                        let found = t.load_plain(c);
                        t.if_(found.is(value), ThreadBuilder::break_);
                    }),
                    // It stores before it has looked.
                    7 => t.loop_(|t| {
                        t.store_plain(c, value);
                        let found = t.load(x);
                        t.if_(found.is(1), ThreadBuilder::break_);
                    }),
                    // Two of them, of which one is left alone where the other one ends the loop.
                    8 => t.loop_(|t| {
                        let found = t.load(x);
                        t.store_plain(c, found);
                        t.if_(found.is(1), ThreadBuilder::break_);
                        let found = t.load(y);
                        t.store_plain(d, found);
                        t.if_(found.is(2), ThreadBuilder::break_);
                    }),
                    // A flag that is set and taken back in each round, as in assertions that nobody else is inside.
                    10 => t.loop_(|t| {
                        let found = t.load_plain(c);
                        t.store_plain(c, 1);
                        let seen = t.load(x);
                        t.store_plain(c, found);
                        t.if_(seen.is(value), ThreadBuilder::break_);
                    }),
                    // The way out does not take it back.
                    11 => t.loop_(|t| {
                        t.store_plain(c, value);
                        let seen = t.load(x);
                        t.if_(seen.is(1), ThreadBuilder::break_);
                        t.store_plain(c, 2);
                        t.store_plain(c, 0);
                    }),
                    // One is taken back, the other one keeps what was seen.
                    12 => t.loop_(|t| {
                        t.store_plain(c, 1);
                        let seen = t.load(x);
                        t.store_plain(d, seen);
                        t.store_plain(c, 0);
                        let seen = t.load(y);
                        t.if_(seen.is(value), ThreadBuilder::break_);
                    }),
                    // It takes back only what one of them was.
                    13 => t.loop_(|t| {
                        let (found, other) = (t.load_plain(c), t.load_plain(d));
                        t.store_plain(c, other);
                        t.store_plain(d, found);
                        let seen = t.load(x);
                        t.if_(seen.is(value), ThreadBuilder::break_);
                        t.store_plain(c, found);
                        t.if_(seen.is(0), |t| t.store_plain(d, other));
                    }),
                    _ => t.while_(|t| t.load(x).differs(value), |_| {}),
                }
            }
        });
    }
    b.no_joins();
    b.build()
}

/// A program whose threads wait in loops that take a lock, look, and give it back; others look whether it is taken.
pub(crate) fn taking(seed: u64) -> BuiltProgram {
    let mut random = Random::new(seed);
    let mut b = ProgramBuilder::new(&format!("taking {seed}"));
    let vars = [b.var("x", 4), b.var("d", 4)];
    let (y, word) = (b.var("y", 4), b.var("s", 4));
    let locks = [b.mutex("m"), b.mutex("n")];
    let rw = b.rwlock("rw");
    let threads = 2 + random.below(4) / 3;
    for i in 0..threads {
        let count = 1 + random.below(if threads == 2 { 3 } else { 2 });
        let plan: Vec<[u64; 5]> = (0..count)
            .map(|_| [16, 2, 2, 2, 4].map(|below| random.below(below)))
            .collect();
        b.thread(&format!("t{i}"), |t| {
            for [kind, var, value, lock, order] in plan {
                let (x, m) = (vars[var as usize], locks[lock as usize]);
                let order =
                    [Order::Plain, Order::Relaxed, Order::Acquire, Order::SeqCst][order as usize];
                match kind {
                    0 => t.store(x, value),
                    1 | 2 => {
                        t.lock(m);
                        t.store_plain(x, value);
                        t.unlock(m);
                    }
                    3 | 4 => t.loop_(|t| {
                        t.lock(m);
                        let found = t.load_order(x, order);
                        t.unlock(m);
                        t.if_(found.is(value), ThreadBuilder::break_);
                    }),
                    // It waits with the lock in hand, but for a moment.
                    5 => {
                        t.lock(m);
                        t.while_(
                            |t| t.load_order(x, order).differs(value),
                            |t| {
                                t.unlock(m);
                                t.lock(m);
                            },
                        );
                        t.unlock(m);
                    }
                    6 => {
                        t.while_(|t| t.cas(word, 0, 1).1.is(0), |_| {});
                        t.store_plain(x, value);
                        t.store_order(word, 0, Order::Release);
                    }
                    7 => t.loop_(|t| {
                        t.while_(|t| t.cas(word, 0, 1).1.is(0), |_| {});
                        let found = t.load_order(x, order);
                        t.store_order(word, 0, Order::Release);
                        t.if_(found.is(value), ThreadBuilder::break_);
                    }),
                    // It looks whether the lock is free before it tries.
                    8 => t.loop_(|t| {
                        t.while_(
                            |t| t.cas(word, 0, 1).1.is(0),
                            |t| t.while_(|t| t.load(word).is(1), |_| {}),
                        );
                        let found = t.load_order(x, order);
                        t.exchange(word, 0);
                        t.if_(found.is(value), ThreadBuilder::break_);
                    }),
                    // Others may be seen with the lock in hand.
                    9 => {
                        let got = t.try_lock(m);
                        t.if_else(got.is(1), |t| t.unlock(m), |t| t.store(y, 1));
                    }
                    10 => {
                        let found = t.load(word);
                        t.if_(found.is(1), |t| t.store(y, 1));
                    }
                    11 => t.loop_(|t| {
                        t.lock(m);
                        let found = t.load_order(x, order);
                        t.unlock(m);
                        t.if_(found.is(value), ThreadBuilder::break_);
                        let found = t.load(y);
                        t.if_(found.is(1), ThreadBuilder::break_);
                    }),
                    // It keeps the lock.
                    12 => t.loop_(|t| {
                        t.lock(m);
                        let found = t.load_order(x, order);
                        t.if_(found.is(value), ThreadBuilder::break_);
                        t.unlock(m);
                    }),
                    // Two of these would see each other for ever.
                    13 if i == 0 => t.loop_(|t| {
                        t.read_lock(rw);
                        let found = t.load_order(x, order);
                        t.rw_unlock(rw);
                        t.if_(found.is(value), ThreadBuilder::break_);
                    }),
                    14 => {
                        t.write_lock(rw);
                        t.store_plain(x, value);
                        t.rw_unlock(rw);
                    }
                    _ => {
                        t.lock(m);
                        let found = t.load_order(x, order);
                        t.if_(found.is(value), |t| t.store(y, 1));
                        t.unlock(m);
                    }
                }
            }
        });
    }
    b.no_joins();
    b.build()
}

/// Can the operation be a part of a pure iteration at all?
fn is_attempt(op: &Op) -> bool {
    match op {
        Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. } => true,
        Op::Sync { action, .. } => action.is_try(),
        _ => false,
    }
}

/// What the location of an access holds, if the access would leave it as it is.
fn held_if_pure(program: &Program, machine: &mut Machine, state: StateId) -> Option<Value> {
    let tables = program.tables();
    let op = program.op(state);
    if let Op::Store { .. } = op {
        return None;
    }
    let held = machine.peek(tables, op.accessed()?);
    let new = op.written(tables, held);
    new.is_none_or(|new| new == held).then_some(held)
}

/// Would a step of `thread` only complete a pure iteration? Found by doing it.
fn closes_loop(
    program: &mut Program,
    machine: &mut Machine,
    done: &[Done],
    thread: ThreadId,
) -> bool {
    let mark = machine.mark();
    let Some(from) = machine.thread_state(thread) else {
        return false;
    };
    if !is_attempt(program.op(from)) || machine.is_in_block(thread) {
        return false;
    }
    let held = held_if_pure(program, machine, from);
    let end = machine.step(program, thread, &[]);
    let to = match end {
        StepEnd::Done if machine.is_pure_since(mark) => machine.thread_state(thread),
        // It has been waiting since before its object was freed, and goes on to: `Frame::look_at_spinning` finds the fault.
        StepEnd::Fault(_) => held.map(|held| program.after(from, held)),
        _ => None,
    };
    machine.undo_to(mark);
    if to.is_none() {
        return false;
    }
    if to == Some(from) {
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

/// Has the thread completed a pure iteration and must stop?
fn is_ended(machine: &Machine, done: &[Done], thread: ThreadId) -> bool {
    let mut own = done
        .iter()
        .filter(|event| machine.steps()[event.mark.steps()].thread == thread);
    own.next_back().is_some_and(|last| last.ends_thread)
}

/// May the thread not wait at its next access?
fn cannot_wait(program: &Program, machine: &Machine, thread: ThreadId) -> bool {
    let state = machine.thread_state(thread);
    state
        .and_then(|state| Attempt::of(program, state))
        .is_some_and(|attempt| !attempt.can_wait(program))
}

/// Calls `f` at the end of every interleaving that is left by what is done about pure iterations.
pub(crate) fn for_each_end(
    program: &mut Program,
    purity: Purity,
    mut f: impl FnMut(&mut Program, &mut Machine, &[Done]),
) {
    let mut machine = Machine::new(program);
    run_on(program, &mut machine, &mut Vec::new(), purity, &mut f);
}

fn run_on(
    program: &mut Program,
    machine: &mut Machine,
    done: &mut Vec<Done>,
    purity: Purity,
    f: &mut impl FnMut(&mut Program, &mut Machine, &[Done]),
) {
    let mut any = false;
    for thread in (0..machine.thread_count()).map(ThreadId::from_index) {
        if machine.readiness(program, thread) != Readiness::Ready || is_ended(machine, done, thread)
        {
            continue;
        }
        let closes = purity != Purity::Off && closes_loop(program, machine, done, thread);
        let waits = purity == Purity::Awaits && !cannot_wait(program, machine, thread);
        if closes && waits {
            continue;
        }
        any = true;
        let mut choices = Vec::new();
        loop {
            let mark = machine.mark();
            let state = machine.thread_state(thread).expect("it is ready");
            let in_block = machine.is_in_block(thread);
            machine.step(program, thread, &choices);
            let mut chosen = machine.chosen().to_vec();
            let can_be_pure =
                is_attempt(program.op(state)) || matches!(program.op(state), Op::Fence { .. });
            done.push(Done {
                mark,
                suspended: machine.suspended(),
                is_pure: can_be_pure && !in_block && machine.is_pure_since(mark),
                ends_thread: closes,
            });
            run_on(program, machine, done, purity, f);
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
        f(program, machine, done);
    }
}

/// The execution of a machine again, in a fresh one, to know where its events begin.
pub(crate) fn run_again(program: &mut Program, machine: &Machine) -> (Machine, Vec<Done>) {
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
            ends_thread: false,
        });
    }
    assert_eq!(fresh.steps(), &steps[..]);
    (fresh, done)
}
