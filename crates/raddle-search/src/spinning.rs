//! For tests: generated programs whose threads wait in loops, and an enumeration of their executions that knows of waiting
//! what its definition says.

use raddle_memory::{Machine, Mark, Readiness};
use raddle_program::builder::{BuiltProgram, Compare, ProgramBuilder};
use raddle_program::generate::Random;
use raddle_program::{Op, Program, StateId, ThreadId};

/// An event of an execution in the machine.
#[derive(Clone, Copy)]
pub(crate) struct Done {
    pub(crate) mark: Mark,
    pub(crate) suspended: Option<StateId>,
    is_pure: bool,
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

/// Calls `f` at the end of every interleaving; with `awaits`, of those without pure iterations.
pub(crate) fn for_each_end(
    program: &mut Program,
    awaits: bool,
    mut f: impl FnMut(&mut Program, &mut Machine, &[Done]),
) {
    let mut machine = Machine::new(program);
    run_on(program, &mut machine, &mut Vec::new(), awaits, &mut f);
}

fn run_on(
    program: &mut Program,
    machine: &mut Machine,
    done: &mut Vec<Done>,
    awaits: bool,
    f: &mut impl FnMut(&mut Program, &mut Machine, &[Done]),
) {
    let mut any = false;
    for thread in (0..machine.thread_count()).map(ThreadId::from_index) {
        if machine.readiness(program, thread) != Readiness::Ready
            || (awaits && closes_loop(program, machine, done, thread))
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
            run_on(program, machine, done, awaits, f);
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
        });
    }
    assert_eq!(fresh.steps(), &steps[..]);
    (fresh, done)
}
