use super::*;
use crate::checks::ViolationKey;
use crate::frame::Frame;
use crate::interleavings::{Sequence, explore};
use crate::options::SearchOptions;
use crate::verdict::{Checks, EngineKind, MemoryModel, Verdict, Violation};
use raddle_program::Order;
use raddle_testing::builder::{Compare, ProgramBuilder};
use raddle_testing::generate::{GenOptions, Random, generate};

/// All of them, and made plain.
fn violations(program: &mut Program, memory: MemoryModel) -> Vec<Violation> {
    let options = SearchOptions {
        memory,
        keep_going: true,
        checks: Checks {
            livelocks: false,
            ..Checks::default()
        },
        ..SearchOptions::default()
    };
    let watch = options.watch();
    let mut frame = Frame::of_search(options, watch);
    let flow = explore(program, memory, Sequence::Ascending, &mut frame);
    assert!(flow.is_continue() || frame.has_reason());
    match frame.conclude(program, EngineKind::Naive).unwrap().verdict {
        Verdict::Violation(violations) => violations,
        _ => Vec::new(),
    }
}

fn threads(schedule: &Schedule) -> Vec<usize> {
    schedule
        .steps
        .iter()
        .map(|step| step.thread().index())
        .collect()
}

/// The fewest switches by the book: over all positions and last threads, one event at a time.
fn fewest_by_single_events(chains: &Chains) -> usize {
    let mut best: FxHashMap<(Position, usize), usize> = FxHashMap::default();
    let none = chains.lists.len();
    let mut open = VecDeque::from([((chains.start(), none), 0)]);
    let mut answer = usize::MAX;
    while let Some(((position, last), cost)) = open.pop_front() {
        if chains.is_end(&position) {
            answer = answer.min(cost);
            continue;
        }
        for chain in 0..none {
            if !chains.is_ready(&position, chain) {
                continue;
            }
            let mut next = position.clone();
            next[chain] += 1;
            let turn = chain / 2;
            let cost = cost + usize::from(last != none && last != turn);
            let known = best.entry((next.clone(), turn)).or_insert(usize::MAX);
            if cost < *known {
                *known = cost;
                open.push_back(((next, turn), cost));
            }
        }
    }
    answer
}

/// Whatever an engine finds is shown by an execution that was run, with the fewest switches of its class.
#[test]
fn simplified_executions_show_the_violation_with_fewest_switches() {
    let cases = std::env::var("RADDLE_PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(250);
    let (mut found, mut fewer) = (0, 0);
    for seed in 0..cases {
        let built = generate(seed, &GenOptions::default());
        let mut program = built.program();
        for violation in violations(&mut program, MemoryModel::Sc) {
            found += 1;
            let Violation {
                kind,
                thread,
                schedule,
                trace,
                at,
                ..
            } = &violation;
            let confirmed =
                replay::confirm(&mut program, schedule, kind, *thread, &Watch::default());
            assert_eq!(confirmed.as_ref(), Ok(trace), "{seed}\n{built}");
            assert_eq!(
                ViolationKey::new(kind, *at),
                ViolationKey::new(kind, violation.at)
            );
            // Doing it again changes nothing.
            assert!(
                simplify(&mut program, schedule, kind, *thread, &Watch::default()).is_none(),
                "{seed}\n{built}"
            );
            let events = Events::run(&mut program, schedule, &Watch::default());
            let Some(events) = events else { continue };
            let chains = Chains::new(&events);
            let order: Vec<usize> = (0..events.list.len()).collect();
            assert_eq!(
                switches(&events, &order),
                fewest_by_single_events(&chains),
                "{seed}\n{built}"
            );
            fewer += usize::from(switches(&events, &order) < 4);
        }
    }
    assert!(found > cases as usize / 4 && fewer > 0, "{found} {fewer}");
}

/// Also where stores are delayed.
#[test]
fn delayed_stores_reach_memory_as_soon_as_they_may() {
    let mut plainer = 0;
    for seed in 0..60 {
        let built = generate(seed, &GenOptions::default());
        for memory in [MemoryModel::Tso, MemoryModel::Pso] {
            let mut program = built.program();
            for violation in violations(&mut program, memory) {
                let Violation {
                    kind,
                    thread,
                    schedule,
                    trace,
                    ..
                } = &violation;
                let confirmed =
                    replay::confirm(&mut program, schedule, kind, *thread, &Watch::default());
                assert_eq!(confirmed.as_ref(), Ok(trace), "{seed} {memory:?}\n{built}");
                let again = simplify(&mut program, schedule, kind, *thread, &Watch::default());
                let cost = |program: &mut Program, schedule: &Schedule| {
                    let events = Events::run(program, schedule, &Watch::default()).unwrap();
                    let order: Vec<usize> = (0..events.list.len()).collect();
                    (switches(&events, &order), delays(&events, &order))
                };
                if let Some(again) = again {
                    let (new, old) = (
                        cost(&mut program, &again.schedule),
                        cost(&mut program, schedule),
                    );
                    assert!(new < old, "{seed} {memory:?}\n{built}");
                }
                plainer += usize::from(cost(&mut program, schedule).1 == 0);
            }
        }
    }
    assert!(plainer > 20, "{plainer}");
}

/// Only `y = 1` has to be delayed, past the read of `x` and all that `left` does.
#[test]
fn only_what_has_to_be_is_delayed() {
    let mut p = ProgramBuilder::new("store buffering");
    let (x, y, z, r) = (p.var("x", 4), p.var("y", 4), p.var("z", 4), p.var("r", 4));
    p.thread("left", |t| {
        t.store_order(z, 1, Order::Relaxed);
        t.store_order(x, 1, Order::Relaxed);
        let seen = t.load_order(y, Order::Relaxed);
        t.store_order(r, seen + 1, Order::Relaxed);
    });
    p.thread("right", |t| {
        t.store_order(y, 1, Order::Relaxed);
        let seen = t.load_order(x, Order::Relaxed);
        let left = t.load_order(r, Order::Relaxed);
        // seen is 0 and left is 1
        t.assert((left + seen + seen).differs(1));
    });
    let mut program = p.build().program();
    let found = violations(&mut program, MemoryModel::Tso);
    let [violation] = found.as_slice() else {
        panic!("{found:?}")
    };
    let events = Events::run(&mut program, &violation.schedule, &Watch::default()).unwrap();
    let order: Vec<usize> = (0..events.list.len()).collect();
    assert_eq!(delays(&events, &order), 1);
    // main, right, left, right
    assert_eq!(switches(&events, &order), 3);
}

#[test]
fn the_greedy_order_is_an_order() {
    for seed in 0..100 {
        let mut program = generate(seed, &GenOptions::default()).program();
        for violation in violations(&mut program, MemoryModel::Sc) {
            let Some(events) = Events::run(&mut program, &violation.schedule, &Watch::default())
            else {
                continue;
            };
            let chains = Chains::new(&events);
            let mut position = chains.start();
            for turn in chains.greedy(&Watch::default()).unwrap() {
                chains.take_turn(&mut position, turn, |_| ());
            }
            assert!(chains.is_end(&position));
        }
    }
}

/// `noise` has nothing to do with the lost update.
#[test]
fn what_the_fault_does_not_need_is_dropped() {
    let mut p = ProgramBuilder::new("noise");
    let (x, y) = (p.var("x", 4), p.var("y", 4));
    p.thread("noise", |t| {
        t.store(y, 1);
        t.store(y, 2);
        t.load(x);
    });
    p.thread("left", |t| {
        let seen = t.load(x);
        t.store(y, 7);
        t.store(x, seen + 1);
    });
    p.thread("right", |t| {
        let seen = t.load(x);
        t.store(x, seen + 1);
        let after = t.load(x);
        t.assert(after.is(2));
    });
    let mut program = p.build().program();
    // main starts all three; then as mixed as can be.
    let mixed = [0, 0, 0, 1, 2, 3, 1, 2, 3, 1, 2, 3];
    let schedule = Schedule {
        memory: MemoryModel::Sc,
        steps: mixed
            .iter()
            .map(|&thread| ScheduleStep::Run {
                thread: ThreadId::from_index(thread),
                choices: Vec::new(),
            })
            .collect(),
    };
    let replayed = replay::replay(&mut program, &schedule).unwrap();
    let thread = ThreadId::from_index(3);
    let fault = match replay::stop_of(&program, &replayed.machine, thread) {
        Some(raddle_program::Stop::Fault(fault)) => fault.clone(),
        other => panic!("{other:?}"),
    };
    let kind = ViolationKind::Fault(fault);
    let simple = simplify(&mut program, &schedule, &kind, thread, &Watch::default()).unwrap();
    // `left` reads before `right` writes, and `right` reads what `left` wrote over it: three switches between them.
    assert_eq!(threads(&simple.schedule), [0, 0, 0, 2, 2, 3, 3, 2, 3]);
    assert_eq!(simple.kind, kind);
}

/// A file may hold any schedule: running it ends in an error or an execution, and what is wrong there can be told.
#[test]
fn any_schedule_can_be_tried() {
    let mut random = Random::new(7);
    let (mut ran, mut refused) = (0, 0);
    for seed in 0..40 {
        let built = generate(seed, &GenOptions::default());
        for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
            let mut program = built.program();
            for length in 0..12 {
                let steps = (0..length).map(|index| {
                    let thread = ThreadId::from_index(match index {
                        0..2 => 0,
                        _ => random.below(4) as usize,
                    });
                    let choices = vec![random.below(5) as u32];
                    let position = random.below(3) as u32;
                    match random.below(6) {
                        0 => ScheduleStep::Flush { thread, position },
                        _ => ScheduleStep::Run { thread, choices },
                    }
                });
                let steps = steps.collect();
                let schedule = Schedule { memory, steps };
                match replay::replay(&mut program, &schedule) {
                    Ok(mut replayed) => {
                        replay::violations(&mut program, &mut replayed);
                        ran += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(ran > 100 && refused > 100, "{ran} {refused}");
}
