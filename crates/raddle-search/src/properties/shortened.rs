//! Shorter executions, of what engines find.

use crate::driver::{self, SearchOptions, ViolationKey};
use crate::replay::{Found, Schedule, ScheduleStep};
use crate::shorten::{Effort, shorten};
use crate::spinning::seeds;
use crate::verdict::{EngineKind, MemoryModel, Verdict, Violation, ViolationKind};
use crate::watch::{Cause, Watch};
use crate::{ending, interleavings, replay, simplify};
use raddle_program::{Order, Program, ThreadId};
use raddle_testing::builder::{BuiltProgram, Compare, ProgramBuilder, SyncVar, ThreadBuilder};
use raddle_testing::generate::{Features, GenOptions, generate};

/// Every engine that explores, with a memory model under which all these programs do the same.
fn everybody() -> impl Iterator<Item = (EngineKind, MemoryModel)> {
    let sequences = EngineKind::exploring(MemoryModel::Sc).map(|engine| (engine, MemoryModel::Sc));
    sequences.chain([(EngineKind::Graph, MemoryModel::C11)])
}

fn first_violation(built: &BuiltProgram, engine: EngineKind, memory: MemoryModel) -> Violation {
    let options = SearchOptions {
        memory,
        ..SearchOptions::default()
    };
    let outcome = driver::check(&mut built.program(), engine, options).unwrap();
    match outcome.verdict {
        Verdict::Violation(mut violations) => violations.swap_remove(0),
        other => panic!("{engine:?}: {other:?}\n{built}"),
    }
}

fn rounds(t: &mut ThreadBuilder, count: u64, body: impl FnOnce(&mut ThreadBuilder)) {
    let round = t.val(0);
    t.while_(
        |_| round.differs(count),
        |t| {
            body(t);
            t.set(round, round + 1);
        },
    );
}

fn both_locks(t: &mut ThreadBuilder, first: SyncVar, second: SyncVar) {
    rounds(t, 10, |t| {
        t.lock(first);
        t.lock(second);
        t.unlock(second);
        t.unlock(first);
    });
}

/// Two threads take two locks ten times, in opposite orders; a third has nothing to do with it.
fn bank() -> BuiltProgram {
    let mut p = ProgramBuilder::new("bank");
    let (a, b, x) = (p.mutex("a"), p.mutex("b"), p.var("x", 4));
    p.thread("there", |t| both_locks(t, a, b));
    p.thread("back", |t| both_locks(t, b, a));
    p.thread("bystander", |t| {
        t.fetch_add(x, 1);
        t.fetch_add(x, 1);
    });
    p.build()
}

#[test]
fn a_deadlock_is_shown_in_the_first_round() {
    let built = bank();
    for (engine, memory) in everybody() {
        let violation = first_violation(&built, engine, memory);
        assert!(matches!(violation.kind, ViolationKind::Deadlock { .. }));
        // Three threads are started, two of them take a lock each.
        assert_eq!(violation.schedule.steps.len(), 5, "{engine:?} {memory:?}");
    }
}

/// What is shown is bound to end in a deadlock: a circle that somebody may yet end with the process is shown with that.
#[test]
fn who_can_end_the_process_is_shown_not_to() {
    let mut p = ProgramBuilder::new("watchdog");
    let (a, b, go) = (p.mutex("a"), p.mutex("b"), p.var("go", 4));
    p.thread("there", |t| {
        t.store(go, 1);
        both_locks(t, a, b);
    });
    p.thread("back", |t| both_locks(t, b, a));
    p.thread("watchdog", |t| {
        let late = t.load(go);
        t.if_(late.is(1), |t| t.exit_process(1));
    });
    let built = p.build();
    let violation = first_violation(&built, EngineKind::Dpor, MemoryModel::Sc);
    let watchdog = ThreadId::from_index(3);
    let steps = &violation.schedule.steps;
    assert!(steps.iter().any(|step| step.thread() == watchdog));
    assert_eq!(steps.len(), 7);
}

#[test]
fn a_fault_is_shown_in_the_first_round_that_has_it() {
    let mut p = ProgramBuilder::new("rounds");
    let (x, y) = (p.var("x", 4), p.var("y", 4));
    p.thread("both", |t| {
        rounds(t, 6, |t| {
            t.fetch_add(x, 1);
            t.fetch_add(y, 1);
        });
    });
    p.thread("look", |t| {
        rounds(t, 6, |t| {
            let first = t.load(x);
            let second = t.load(y);
            t.assert(first.is(second));
        });
    });
    let built = p.build();
    for (engine, memory) in everybody() {
        let violation = first_violation(&built, engine, memory);
        // Two threads are started, `x` is changed, and both are read.
        assert_eq!(violation.schedule.steps.len(), 5, "{engine:?} {memory:?}");
    }
}

/// The producer's rounds are of use to the consumer only, and the other way round: they go together.
#[test]
fn rounds_of_several_threads_go_together() {
    let mut p = ProgramBuilder::new("ping-pong");
    let (ping, pong, x) = (p.sem("ping", 0), p.sem("pong", 0), p.var("x", 4));
    p.thread("ping", |t| {
        rounds(t, 5, |t| {
            t.sem_post(ping);
            t.sem_wait(pong);
        });
    });
    p.thread("pong", |t| {
        rounds(t, 5, |t| {
            t.sem_wait(ping);
            t.load_plain(x);
            t.sem_post(pong);
        });
    });
    p.thread("third", |t| {
        rounds(t, 5, |t| t.store_plain(x, 2));
    });
    let built = p.build();
    for (engine, memory) in everybody() {
        let violation = first_violation(&built, engine, memory);
        assert!(matches!(violation.kind, ViolationKind::Race(_)));
        let length = violation.schedule.steps.len();
        // Two semaphores are made and three threads started, `pong` is let go once and reads, `third` writes.
        assert_eq!(length, 9, "{engine:?} {memory:?}");
    }
}

#[test]
fn when_time_is_up_the_execution_is_shown_as_it_is() {
    let built = bank();
    let mut program = built.program();
    let found = first_violation(&built, EngineKind::Dpor, MemoryModel::Sc);
    // Round after round of one thread, then a round of the other, and the deadlock.
    let mut threads = vec![0, 0, 0];
    threads.extend([1; 8]);
    threads.extend([2; 4]);
    threads.extend([1, 2, 3, 3]);
    let schedule = Schedule {
        memory: MemoryModel::Sc,
        steps: threads.into_iter().map(run).collect(),
    };
    let kind = deadlock_of(&mut program, &schedule);
    let long = Violation {
        trace: replay::confirm(
            &mut program,
            &schedule,
            &kind,
            found.thread,
            &Watch::default(),
        )
        .unwrap(),
        kind,
        schedule,
        ..found
    };
    let watch = Watch::default();
    watch.raise(Cause::Interrupted);
    let shown = simplify::plainest(&mut program, long.clone(), &watch);
    assert_eq!(shown.schedule.steps.len(), long.schedule.steps.len());
    let shown = simplify::plainest(&mut program, long, &Watch::default());
    assert_eq!(shown.schedule.steps.len(), 5);
}

fn run(thread: usize) -> ScheduleStep {
    ScheduleStep::Run {
        thread: ThreadId::from_index(thread),
        choices: Vec::new(),
    }
}

fn deadlock_of(program: &mut Program, schedule: &Schedule) -> ViolationKind {
    let mut replayed = replay::replay(program, schedule).unwrap();
    let found = replay::violations(program, &mut replayed);
    let deadlock = found
        .into_iter()
        .map(|found| found.kind)
        .find(|kind| matches!(kind, ViolationKind::Deadlock { .. }));
    deadlock.expect("the schedule ends in a deadlock")
}

/// Whatever is found under any memory model, what comes out is the same violation, was run, and is no longer than before.
#[test]
fn the_violation_stays_the_same() {
    let (mut shorter, mut partial) = (0, 0);
    for seed in 0..100 {
        let built = generate(seed, &GenOptions::default());
        for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
            let options = SearchOptions {
                memory,
                keep_going: true,
                ..SearchOptions::default()
            };
            let mut program = built.program();
            let outcome = driver::check(&mut program, EngineKind::Naive, options).unwrap();
            let Verdict::Violation(violations) = outcome.verdict else {
                continue;
            };
            for violation in violations {
                let confirmed = replay::confirm(
                    &mut program,
                    &violation.schedule,
                    &violation.kind,
                    violation.thread,
                    &Watch::default(),
                );
                assert_eq!(
                    confirmed.as_ref(),
                    Ok(&violation.trace),
                    "{seed} {memory:?}\n{built}"
                );
                // As naive as can be: all that is left is run, in some order, up to the violation.
                let long = extended(&mut program, &violation);
                let again = simplify::plainest(&mut program, long.clone(), &Watch::default());
                let key = |it: &Violation| ViolationKey::new(&it.kind, it.at);
                assert_eq!(key(&again), key(&violation), "{seed} {memory:?}\n{built}");
                assert!(again.schedule.steps.len() <= long.schedule.steps.len());
                shorter += usize::from(again.schedule.steps.len() < long.schedule.steps.len());
                let mut replayed = replay::replay(&mut program, &again.schedule).unwrap();
                partial += usize::from(
                    matches!(again.kind, ViolationKind::Deadlock { .. })
                        && ending::deadlock(&mut program, &mut replayed.machine).is_none(),
                );
            }
        }
    }
    assert!(shorter > 5 && partial > 0, "{shorter} {partial}");
}

/// Threads that do what the others do not need go, and so do rounds; what is stale stays so.
#[test]
fn a_stale_read_is_shown_without_what_is_around_it() {
    let mut p = ProgramBuilder::new("messages");
    let (data, flag, count) = (p.var("data", 4), p.var("flag", 4), p.var("count", 4));
    p.thread("send", |t| {
        rounds(t, 5, |t| {
            t.fetch_add(count, 1);
            t.store_order(data, 1, Order::Relaxed);
            t.store_order(flag, 1, Order::Relaxed);
        });
    });
    p.thread("receive", |t| {
        rounds(t, 3, |t| {
            t.fetch_add(count, 1);
            let is_sent = t.load_order(flag, Order::Acquire);
            t.if_(is_sent.is(1), |t| {
                let found = t.load_order(data, Order::Relaxed);
                t.assert(found.is(1));
            });
        });
    });
    p.thread("bystander", |t| {
        rounds(t, 4, |t| {
            t.fetch_add(count, 1);
        });
    });
    let violation = first_violation(&p.build(), EngineKind::Graph, MemoryModel::C11);
    // Three threads are started (or two, if the third is not needed), and the rest is one round of each.
    let own = |thread: usize| {
        let steps = violation.schedule.steps.iter();
        let its = steps.filter(|step| step.thread() == ThreadId::from_index(thread));
        its.count()
    };
    assert_eq!((own(1), own(2), own(3)), (3, 3, 0));
    assert!(
        violation
            .trace
            .steps
            .iter()
            .any(|step| step.stale.is_some())
    );
}

/// Whatever `graph` finds under c11: what is shown is an execution by the axioms, with that violation, and so is what is made of it when it is
/// shortened once more.
#[test]
fn graphs_show_the_same_violation() {
    let mut compared = 0;
    for seed in seeds(150) {
        let built = generate(seed, &GenOptions::default());
        let options = SearchOptions {
            memory: MemoryModel::C11,
            keep_going: true,
            ..SearchOptions::default()
        };
        let mut program = built.program();
        let outcome = driver::check(&mut program, EngineKind::Graph, options);
        let outcome = outcome.unwrap_or_else(|error| panic!("{seed} {error:?}\n{built}"));
        let Verdict::Violation(violations) = outcome.verdict else {
            continue;
        };
        for violation in violations {
            let Violation {
                kind,
                thread,
                at,
                schedule,
                trace,
                ..
            } = violation;
            compared += 1;
            let watch = Watch::default();
            let confirmed = replay::confirm(&mut program, &schedule, &kind, thread, &watch);
            assert_eq!(confirmed.as_ref(), Ok(&trace), "{seed}\n{built}");
            let found = Found { kind, thread, at };
            let mut is_over = || false;
            let mut effort = Effort::new(&schedule, &mut is_over);
            let Some((short, again)) = shorten(&mut program, &schedule, &found, &mut effort) else {
                continue;
            };
            assert!(short.steps.len() <= schedule.steps.len());
            let key = |it: &Found| ViolationKey::new(&it.kind, it.at);
            assert_eq!(key(&again), key(&found), "{seed}\n{built}");
            let confirmed =
                replay::confirm(&mut program, &short, &again.kind, again.thread, &watch);
            assert!(confirmed.is_ok(), "{seed} {confirmed:?}\n{built}");
        }
    }
    assert!(compared > 50, "{compared}");
}

/// Races that `graph` meets while it adds an update that was read from before (seed 2740), or beside an operation that it refuses (1365).
#[test]
fn what_is_met_in_half_a_graph_is_shown_in_a_whole_one() {
    let no_mixed_sizes = Features {
        mixed_sizes: false,
        ..Features::ALL
    };
    for (seed, features) in [(1365, Features::ALL), (2740, no_mixed_sizes)] {
        let options = GenOptions {
            features,
            ..GenOptions::default()
        };
        let built = generate(seed, &options);
        let violation = first_violation(&built, EngineKind::Graph, MemoryModel::C11);
        assert!(matches!(violation.kind, ViolationKind::Race(_)), "{built}");
        let options = SearchOptions {
            memory: MemoryModel::C11,
            keep_going: true,
            ..SearchOptions::default()
        };
        let outcome = driver::check(&mut built.program(), EngineKind::Graph, options);
        assert!(outcome.is_ok(), "{seed} {:?}\n{built}", outcome.err());
    }
}

/// A deadlock, run to the end of all threads that can get there.
fn extended(program: &mut Program, violation: &Violation) -> Violation {
    let mut long = violation.clone();
    if !matches!(violation.kind, ViolationKind::Deadlock { .. }) {
        return long;
    }
    loop {
        let mut replayed = replay::replay(program, &long.schedule).unwrap();
        let Some(&next) = interleavings::possible(program, &mut replayed.machine).first() else {
            break;
        };
        long.schedule.steps.push(match next {
            interleavings::Next::Run(thread) => run(thread.index()),
            interleavings::Next::Flush(thread, position) => ScheduleStep::Flush {
                thread,
                position: position as u32,
            },
        });
    }
    long.kind = deadlock_of(program, &long.schedule);
    long.trace = replay::confirm(
        program,
        &long.schedule,
        &long.kind,
        long.thread,
        &Watch::default(),
    )
    .unwrap();
    long
}
