use super::*;
use crate::driver::{self, SearchOptions, ViolationKey};
use crate::verdict::{Checks, EngineKind, Verdict, Violation};
use raddle_program::builder::{Compare, ProgramBuilder};
use raddle_program::generate::{GenOptions, generate};

fn violations(program: &mut Program, engine: EngineKind) -> Vec<Violation> {
    let options = SearchOptions {
        keep_going: true,
        checks: Checks {
            livelocks: false,
            ..Checks::default()
        },
        ..SearchOptions::default()
    };
    match driver::check(program, engine, options).unwrap().verdict {
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
    let mut best: FxHashMap<(Vec<u32>, usize), usize> = FxHashMap::default();
    let none = chains.lists.len();
    let mut open = VecDeque::from([((vec![0; none], none), 0)]);
    let mut answer = usize::MAX;
    while let Some(((position, last), cost)) = open.pop_front() {
        if chains.is_end(&position) {
            answer = answer.min(cost);
            continue;
        }
        for chain in 0..none {
            if chains.run_from(&position, chain) == position[chain] {
                continue;
            }
            let mut next = position.clone();
            next[chain] += 1;
            let cost = cost + usize::from(last != none && last != chain);
            let known = best.entry((next.clone(), chain)).or_insert(usize::MAX);
            if cost < *known {
                *known = cost;
                open.push_back(((next, chain), cost));
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
        for violation in violations(&mut program, EngineKind::Naive) {
            found += 1;
            let Violation {
                kind,
                thread,
                schedule,
                trace,
                at,
            } = &violation;
            let confirmed = replay::confirm(&mut program, schedule, kind, *thread);
            assert_eq!(confirmed.as_ref(), Ok(trace), "{seed}\n{built}");
            assert_eq!(
                ViolationKey::new(kind, *at),
                ViolationKey::new(kind, violation.at)
            );
            // Doing it again changes nothing.
            assert!(
                simplify(&mut program, schedule, kind, *thread).is_none(),
                "{seed}\n{built}"
            );
            let events = Events::run(&mut program, schedule);
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

#[test]
fn the_greedy_order_is_an_order() {
    for seed in 0..100 {
        let mut program = generate(seed, &GenOptions::default()).program();
        for violation in violations(&mut program, EngineKind::Dpor) {
            let Some(events) = Events::run(&mut program, &violation.schedule) else {
                continue;
            };
            let chains = Chains::new(&events);
            let mut position = vec![0; chains.lists.len()];
            for chain in chains.greedy() {
                position[chain] = chains.run_from(&position, chain);
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
    let simple = simplify(&mut program, &schedule, &kind, thread).unwrap();
    // `left` reads before `right` writes, and `right` reads what `left` wrote over it: three switches between them.
    assert_eq!(threads(&simple.schedule), [0, 0, 0, 2, 2, 3, 3, 2, 3]);
    assert_eq!(simple.kind, kind);
}
