//! Verdicts, limits and reports of the driver, with each engine.

use raddle_program::{Fault, Limit, Program, Stop, ThreadId, Unsupported};
use raddle_search::{
    Bound, Cause, Checks, EngineKind, Limits, MemoryLimit, MemoryModel, Outcome, Phase, Reason,
    SearchOptions, Verdict, Violation, ViolationKind, Watch, check,
};
use raddle_testing::builder::{BuiltProgram, Compare, ProgramBuilder, deref};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// `bmc` takes modules, and these programs are built.
fn engines() -> impl Iterator<Item = EngineKind> {
    EngineKind::exploring(MemoryModel::Sc)
}

fn run(built: &BuiltProgram, engine: EngineKind, options: SearchOptions) -> Outcome {
    check(&mut built.program(), engine, options).expect("violations are reproduced")
}

/// The verdict, which must be the same for all engines.
fn verdict(built: &BuiltProgram, options: impl Fn() -> SearchOptions) -> Verdict {
    let kinds = |verdict: &Verdict| match verdict {
        Verdict::Violation(violations) => {
            let mut kinds: Vec<String> = violations
                .iter()
                .map(|violation| {
                    // In which order two accesses race is the engine's own choice.
                    let threads = match &violation.kind {
                        ViolationKind::Race(race) => {
                            let mut both = vec![race.first.thread, race.second.thread];
                            both.sort();
                            both
                        }
                        _ => vec![violation.thread],
                    };
                    format!("{threads:?} {}", name(&violation.kind))
                })
                .collect();
            kinds.sort();
            format!("{kinds:?}")
        }
        other => format!("{other:?}"),
    };
    let expected = run(built, EngineKind::Dpor, options()).verdict;
    for engine in engines() {
        let found = run(built, engine, options()).verdict;
        assert_eq!(kinds(&found), kinds(&expected), "{engine:?}\n{built}");
    }
    expected
}

fn name(kind: &ViolationKind) -> &'static str {
    match kind {
        ViolationKind::Fault(_) => "fault",
        ViolationKind::Race(_) => "race",
        ViolationKind::Deadlock { .. } => "deadlock",
        ViolationKind::Livelock { .. } => "livelock",
    }
}

fn violations(built: &BuiltProgram) -> Vec<Violation> {
    match verdict(built, SearchOptions::default) {
        Verdict::Violation(violations) => violations,
        other => panic!("{other:?} of\n{built}"),
    }
}

/// One thread sets x, the other asserts that it is not set.
fn buggy() -> BuiltProgram {
    let mut p = ProgramBuilder::new("buggy");
    let x = p.var("x", 4);
    p.thread("writer", |t| t.store(x, 1));
    p.thread("reader", |t| {
        let r = t.load(x);
        t.assert(r.is(0));
    });
    p.build()
}

#[test]
fn an_assertion_is_violated_in_one_of_two_executions() {
    let built = buggy();
    let found = violations(&built);
    assert!(matches!(
        &found[..],
        [Violation { kind: ViolationKind::Fault(Fault::Assertion { condition, .. }), thread: ThreadId(2), .. }]
            if &**condition == "r3 == 0"
    ));
    // The load at the end of the trace reads from the store.
    let steps = &found[0].trace.steps;
    let last = steps.last().expect("the load");
    let source = &steps[last.reads_from.expect("it reads from the store")];
    assert_eq!((last.value, source.thread), (1, ThreadId(1)));
    assert_eq!(source.wrote.map(|(_, value)| value), Some(1));
}

#[test]
fn a_check_that_is_off_ends_the_execution_silently() {
    let checks = Checks {
        assertions: false,
        ..Checks::default()
    };
    for engine in engines() {
        let options = SearchOptions {
            checks,
            ..SearchOptions::default()
        };
        let outcome = run(&buggy(), engine, options);
        assert_eq!(outcome.verdict, Verdict::Verified(Bound::Complete));
        assert!(outcome.statistics.complete > 0 && outcome.statistics.blocked > 0);
    }
}

#[test]
fn executions_are_counted() {
    let mut p = ProgramBuilder::new("readers");
    let x = p.var("x", 4);
    p.thread("writer", |t| t.store(x, 1));
    for i in 0..3 {
        p.thread(&format!("reader{i}"), |t| {
            t.load(x);
        });
    }
    let built = p.build();
    let outcome = run(&built, EngineKind::Dpor, SearchOptions::default());
    assert_eq!(outcome.statistics.complete, 8);
    // Four spawns, four accesses, four joins.
    assert_eq!(outcome.statistics.max_events, 12);
    assert_eq!(outcome.statistics.threads, 5);
    assert!(outcome.statistics.peak_memory_bytes > 0);

    // Exactly as many as allowed are enough, one fewer is not.
    for (limit, expected) in [
        (8, Verdict::Verified(Bound::Complete)),
        (7, Verdict::Inconclusive(Reason::Executions { limit: 7 })),
    ] {
        let options = SearchOptions {
            limits: Limits {
                executions: Some(limit),
                ..Limits::default()
            },
            ..SearchOptions::default()
        };
        let outcome = run(&built, EngineKind::Dpor, options);
        assert_eq!(outcome.verdict, expected);
        assert_eq!(outcome.statistics.complete, limit);
    }
}

#[test]
fn time_memory_and_interruption_stop_the_search() {
    let mut p = ProgramBuilder::new("long");
    let x = p.var("x", 4);
    for i in 0..8 {
        // Long for engines as well that leave writes unordered, or reads whose value nobody uses.
        p.thread(&format!("t{i}"), |t| {
            for _ in 0..4 {
                let value = t.load(x);
                t.store(x, value + (i + 1));
            }
        });
    }
    let built = p.build();
    let time = Duration::from_millis(20);
    let with = |limits, watch| SearchOptions {
        limits,
        watch,
        ..SearchOptions::default()
    };
    let during = Phase::Exploring;
    for engine in engines() {
        let limits = Limits {
            time: Some(time),
            ..Limits::default()
        };
        assert_eq!(
            run(&built, engine, with(limits, None)).verdict,
            Verdict::Inconclusive(Reason::Time {
                limit: time,
                during
            }),
            "{engine:?}"
        );
        let limits = Limits {
            memory_bytes: Some(1),
            ..Limits::default()
        };
        assert_eq!(
            run(&built, engine, with(limits, None)).verdict,
            Verdict::Inconclusive(Reason::Memory {
                limit: MemoryLimit {
                    bytes: 1,
                    is_default: false
                },
                during
            }),
            "{engine:?}"
        );
        let watch = Arc::new(Watch::default());
        watch.raise(Cause::Interrupted);
        assert_eq!(
            run(&built, engine, with(Limits::default(), Some(watch))).verdict,
            Verdict::Inconclusive(Reason::Interrupted { during }),
            "{engine:?}"
        );
    }
}

/// A violation is told at once, and is not lost if there is no time to make it plainer.
#[test]
fn a_violation_is_reported_as_it_is_when_there_is_no_time_to_simplify_it() {
    let mut p = ProgramBuilder::new("needless");
    let (x, y) = (p.var("x", 4), p.var("y", 4));
    p.thread("needless", |t| {
        t.store(y, 1);
        t.store(y, 2);
    });
    p.thread("wrong", |t| {
        let value = t.load(x);
        t.assert(value.is(1));
    });
    let built = p.build();
    for engine in engines() {
        let simple = run(&built, engine, SearchOptions::default());
        let watch = Arc::new(Watch::default());
        let told = Rc::new(Cell::new(0));
        let sink = {
            let (watch, told) = (Arc::clone(&watch), Rc::clone(&told));
            move |_: &Program, violation: &Violation| {
                told.set(violation.trace.steps.len());
                assert_eq!(watch.phase(), Phase::Replaying);
                watch.raise(Cause::Time);
            }
        };
        let options = SearchOptions {
            watch: Some(watch),
            reproduced: Some(Box::new(sink)),
            ..SearchOptions::default()
        };
        let outcome = run(&built, engine, options);
        let length = |outcome: &Outcome| match &outcome.verdict {
            Verdict::Violation(violations) => violations[0].trace.steps.len(),
            other => panic!("{engine:?}: {other:?}"),
        };
        assert_eq!(length(&outcome), told.get(), "{engine:?}");
        assert!(length(&simple) <= length(&outcome), "{engine:?}");
    }
}

#[test]
fn keep_going_finds_each_violation_once() {
    let mut p = ProgramBuilder::new("several");
    let (x, y) = (p.var("x", 4), p.var("y", 4));
    p.thread("writer", |t| {
        t.store_plain(y, 1);
        t.store(x, 1);
    });
    for i in 0..2 {
        p.thread(&format!("reader{i}"), |t| {
            let r = t.load(x);
            t.assert(r.is(0));
            t.load_plain(y);
        });
    }
    let built = p.build();
    let keep_going = || SearchOptions {
        keep_going: true,
        ..SearchOptions::default()
    };
    let Verdict::Violation(found) = verdict(&built, keep_going) else {
        panic!("verified");
    };
    let names: Vec<_> = found.iter().map(|found| name(&found.kind)).collect();
    let count = |wanted| names.iter().filter(|name| **name == wanted).count();
    // Each reader's assertion and each reader's race with the writer.
    assert_eq!((count("fault"), count("race"), names.len()), (2, 2, 4));
}

#[test]
fn a_race_names_both_accesses() {
    let mut p = ProgramBuilder::new("race");
    let x = p.var("x", 4);
    p.thread("left", |t| t.store_plain(x, 1));
    p.thread("right", |t| t.store_plain(x, 2));
    let found = violations(&p.build());
    let ViolationKind::Race(race) = &found[0].kind else {
        panic!("{:?}", found[0].kind);
    };
    assert_ne!(race.first.thread, race.second.thread);
    assert_eq!(found[0].thread, race.second.thread);
    assert_eq!(race.second.step + 1, found[0].trace.steps.len());
}

#[test]
fn a_memory_fault_is_found() {
    let mut p = ProgramBuilder::new("use after free");
    let pointer = p.var("pointer", 8);
    p.thread("user", |t| {
        let block = t.load(pointer);
        t.load(deref(block, 4));
    });
    p.thread("freer", |t| {
        let block = t.load(pointer);
        t.free(block);
    });
    p.main(|t| {
        let block = t.alloc(4);
        t.store(pointer, block);
        t.spawn_all();
    });
    let checks = Checks {
        races: false,
        ..Checks::default()
    };
    let options = || SearchOptions {
        checks,
        ..SearchOptions::default()
    };
    let Verdict::Violation(found) = verdict(&p.build(), options) else {
        panic!("verified");
    };
    assert!(matches!(
        found[0].kind,
        ViolationKind::Fault(Fault::UseAfterFree { .. })
    ));
}

#[test]
fn opposite_locks_deadlock() {
    let mut p = ProgramBuilder::new("abba");
    let (a, b) = (p.mutex("a"), p.mutex("b"));
    for (name, first, second) in [("t1", a, b), ("t2", b, a)] {
        p.thread(name, |t| {
            t.lock(first);
            t.lock(second);
            t.unlock(second);
            t.unlock(first);
        });
    }
    let found = violations(&p.build());
    let ViolationKind::Deadlock { waiting } = &found[0].kind else {
        panic!("{:?}", found[0].kind);
    };
    // main waits for t1, t1 for t2, t2 for t1.
    let on: Vec<_> = waiting
        .iter()
        .map(|waiting| (waiting.thread.0, waiting.on.clone()))
        .collect();
    assert_eq!(
        on,
        [
            (0, vec![ThreadId(1)]),
            (1, vec![ThreadId(2)]),
            (2, vec![ThreadId(1)])
        ]
    );
}

#[test]
fn waiting_for_a_failed_assume_is_no_deadlock() {
    let mut p = ProgramBuilder::new("assume");
    let (m, s) = (p.mutex("m"), p.sem("s", 0));
    p.thread("assumes", |t| {
        t.lock(m);
        t.assume(0);
    });
    p.thread("locks", |t| {
        t.lock(m);
        t.unlock(m);
    });
    p.thread("waits", |t| t.sem_wait(s));
    // No violation; but as no execution gets past the assumption, that says nothing.
    assert_eq!(
        verdict(&p.build(), SearchOptions::default),
        Verdict::Inconclusive(Reason::NothingEnds { bound: None })
    );
}

#[test]
fn a_cycle_beside_a_failed_assume_is_a_deadlock() {
    let mut p = ProgramBuilder::new("cycle");
    let (m, n) = (p.mutex("m"), p.mutex("n"));
    p.thread("assumes", |t| {
        t.lock(n);
        t.assume(0);
    });
    // Waits for itself.
    p.thread("twice", |t| {
        t.lock(m);
        t.lock(m);
    });
    // Waits for the one whose assumption failed.
    p.thread("blocked", |t| t.lock(n));
    let found = violations(&p.build());
    let ViolationKind::Deadlock { waiting } = &found[0].kind else {
        panic!("{:?}", found[0].kind);
    };
    let threads: Vec<_> = waiting.iter().map(|waiting| waiting.thread.0).collect();
    assert_eq!(threads, [2]);
}

#[test]
fn a_mutex_that_nobody_will_unlock_is_a_deadlock() {
    let mut p = ProgramBuilder::new("forgotten");
    let m = p.mutex("m");
    p.thread("forgets", |t| t.lock(m));
    p.thread("locks", |t| {
        t.lock(m);
        t.unlock(m);
    });
    assert!(matches!(
        violations(&p.build())[0].kind,
        ViolationKind::Deadlock { .. }
    ));
}

#[test]
fn nothing_is_a_deadlock_once_the_process_has_exited() {
    let mut p = ProgramBuilder::new("exit");
    let s = p.sem("s", 0);
    p.thread("waits", |t| t.sem_wait(s));
    p.main(|t| {
        t.spawn_all();
        t.exit_process(0);
    });
    let built = p.build();
    for engine in engines() {
        let outcome = run(&built, engine, SearchOptions::default());
        assert_eq!(outcome.verdict, Verdict::Verified(Bound::Complete));
        assert_eq!(
            (outcome.statistics.complete, outcome.statistics.blocked),
            (1, 0)
        );
    }
}

/// `main` chooses between stops.
fn stops(list: &[Stop]) -> BuiltProgram {
    let mut p = ProgramBuilder::new("stops");
    p.main(|t| {
        let choice = t.choice(list.len() as u32 + 1);
        for (index, stop) in list.iter().enumerate() {
            t.if_(choice.is(index as u32), |t| t.stop(stop.clone()));
        }
    });
    p.build()
}

#[test]
fn stops_decide_the_verdict() {
    let unroll = Stop::Limit(Limit::Unroll { bound: 3 });
    let steps = Stop::Limit(Limit::PrivateSteps { steps: 9 });
    let what = Unsupported::Unwind;
    let beyond = Stop::Unsupported(what.clone());
    let fault = Stop::Fault(Fault::Abort);
    let answer = |list: &[Stop]| verdict(&stops(list), SearchOptions::default);
    assert_eq!(
        answer(std::slice::from_ref(&unroll)),
        Verdict::Verified(Bound::of(Some(3), None))
    );
    assert!(matches!(
        answer(&[unroll.clone(), steps.clone()]),
        Verdict::Inconclusive(Reason::Thread {
            limit: Limit::PrivateSteps { steps: 9 },
            ..
        })
    ));
    assert!(matches!(
        answer(&[steps.clone(), beyond.clone()]),
        Verdict::Unsupported(found) if found[0].what == what && found.len() == 1
    ));
    assert!(matches!(
        answer(&[steps, fault.clone()]),
        Verdict::Violation(_)
    ));
    let keep_going = || SearchOptions {
        keep_going: true,
        ..SearchOptions::default()
    };
    assert!(matches!(
        verdict(&stops(&[beyond, fault, unroll]), keep_going),
        Verdict::Violation(_)
    ));
}

#[test]
fn a_program_that_stops_at_once_has_a_verdict() {
    let mut p = ProgramBuilder::new("at once");
    p.main(|t| t.assert(0));
    let found = violations(&p.build());
    assert!(found[0].trace.steps.is_empty());

    let mut p = ProgramBuilder::new("nothing");
    p.main(|_| {});
    let built = p.build();
    for engine in engines() {
        let outcome = run(&built, engine, SearchOptions::default());
        assert_eq!(outcome.verdict, Verdict::Verified(Bound::Complete));
        assert_eq!(outcome.statistics.complete, 1);
    }

    // A child that is wrong from its start.
    let mut p = ProgramBuilder::new("child");
    p.thread("wrong", |t| t.assert(0));
    assert_eq!(violations(&p.build())[0].thread, ThreadId(1));
}

#[test]
fn progress_is_told() {
    use std::cell::Cell;
    use std::rc::Rc;
    let mut p = ProgramBuilder::new("long");
    let x = p.var("x", 4);
    for i in 0..9 {
        p.thread(&format!("t{i}"), |t| t.store(x, i));
    }
    let told = Rc::new(Cell::new(0));
    let sink = told.clone();
    let options = SearchOptions {
        limits: Limits {
            time: Some(Duration::from_millis(350)),
            ..Limits::default()
        },
        progress: Some(Box::new(move |progress| {
            assert!(progress.executions > 0 && progress.rate > 0.0);
            sink.set(sink.get() + 1);
        })),
        ..SearchOptions::default()
    };
    run(&p.build(), EngineKind::Naive, options);
    assert!((1..=4).contains(&told.get()), "told {} times", told.get());
}

fn unknown(name: &str) -> Unsupported {
    Unsupported::UnknownFunction { name: name.into() }
}

/// A reader that cannot be run any further after some values, and one that waits for it.
fn out_of_reach(fails_at: Option<u32>) -> BuiltProgram {
    let mut p = ProgramBuilder::new("out of reach");
    let (x, s) = (p.var("x", 4), p.sem("s", 0));
    p.thread("writer", |t| {
        for value in 1..=4 {
            t.store(x, value);
        }
    });
    p.thread("reader", |t| {
        let r = t.load(x);
        for (value, name) in [(1, "foo"), (3, "bar")] {
            t.if_(r.is(value), |t| t.stop(Stop::Unsupported(unknown(name))));
        }
        if let Some(value) = fails_at {
            t.if_(r.is(value), |t| t.assert(0));
        }
        t.sem_post(s);
    });
    p.thread("waits", |t| t.sem_wait(s));
    p.build()
}

#[test]
fn everything_out_of_reach_is_told_and_nobody_waits_for_it_in_vain() {
    for engine in engines() {
        let outcome = run(&out_of_reach(None), engine, SearchOptions::default());
        let Verdict::Unsupported(beyond) = &outcome.verdict else {
            panic!("{engine:?}: {:?}", outcome.verdict);
        };
        let mut found: Vec<String> = beyond.iter().map(|it| format!("{:?}", it.what)).collect();
        found.sort();
        let expected = ["bar", "foo"].map(|name| format!("{:?}", unknown(name)));
        assert_eq!(found, expected, "{engine:?}");
        assert!(outcome.statistics.complete > 0, "{engine:?}");
    }
}

#[test]
fn violations_come_before_what_is_out_of_reach() {
    for engine in engines() {
        for fails_at in [0, 2, 4] {
            for keep_going in [true, false] {
                let options = SearchOptions {
                    keep_going,
                    ..SearchOptions::default()
                };
                let outcome = run(&out_of_reach(Some(fails_at)), engine, options);
                let Verdict::Violation(violations) = &outcome.verdict else {
                    panic!("{engine:?}, {fails_at}: {:?}", outcome.verdict);
                };
                assert_eq!(violations.len(), 1);
                if keep_going {
                    assert_eq!(outcome.unsupported().len(), 2, "{engine:?}, {fails_at}");
                }
            }
        }
    }
}

/// Every execution is cut, but for those in which the reader sees the last of so many writes.
fn cut(writes: u32, ends: bool) -> BuiltProgram {
    let mut p = ProgramBuilder::new("cut");
    let x = p.var("x", 4);
    p.thread("writer", |t| {
        for value in 1..=writes {
            t.store(x, value);
        }
    });
    p.thread("reader", |t| {
        let r = t.load(x);
        for value in 0..=writes {
            if value < writes || !ends {
                let stop = Stop::Limit(Limit::Unroll { bound: 5 });
                t.if_(r.is(value), |t| t.stop(stop.clone()));
            }
        }
    });
    p.build()
}

#[test]
fn nothing_is_verified_where_no_execution_ends() {
    for engine in engines() {
        let outcome = run(&cut(3, false), engine, SearchOptions::default());
        let bound = Some(5);
        let expected = Verdict::Inconclusive(Reason::NothingEnds { bound });
        assert_eq!(outcome.verdict, expected, "{engine:?}");
        assert_eq!(outcome.coverage.ended, Some(false));
        assert_eq!(outcome.statistics.cut, outcome.statistics.blocked);

        let outcome = run(&cut(3, true), engine, SearchOptions::default());
        let expected = Verdict::Verified(Bound::of(Some(5), None));
        assert_eq!(outcome.verdict, expected, "{engine:?}");
        assert_eq!(outcome.coverage.ended, Some(true));
        assert!((3..=outcome.statistics.blocked).contains(&outcome.statistics.cut));
    }
}

#[test]
fn a_fault_that_is_not_looked_for_is_an_end() {
    let mut p = ProgramBuilder::new("fault");
    p.main(|t| t.assert(0));
    let options = || SearchOptions {
        checks: Checks {
            assertions: false,
            ..Checks::default()
        },
        ..SearchOptions::default()
    };
    let verdict = verdict(&p.build(), options);
    assert_eq!(verdict, Verdict::Verified(Bound::Complete));
}
