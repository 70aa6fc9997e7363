//! The brute force compared with itself, and with what is known.

use super::c11::{
    FinalGraphs, GraphEnd, GraphOptions, Spins, Witness, final_graphs, for_each_final_graph,
};
use super::{Mode, enumerate};
use crate::builder::{Compare, ProgramBuilder};
use crate::generate::{C11Options, generate_c11};
use raddle_judge::ViolationKey;
use raddle_judge::Watch;
use raddle_judge::replay::{self, Mismatch, Schedule, ScheduleStep};
use raddle_judge::simplify;
use raddle_judge::verdict::{MemoryModel, ViolationKind};
use raddle_memory::axioms::PlainAccesses;
use raddle_program::{LocId, Order, Program, ReleaseSequences, RmwKind, ThreadId};

/// Programs in CI; the variable asks for more.
fn cases(usual: u64) -> u64 {
    let asked = std::env::var("RADDLE_PROPTEST_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

fn graphs_of(build: impl FnOnce(&mut ProgramBuilder)) -> FinalGraphs {
    let mut builder = ProgramBuilder::new("test");
    build(&mut builder);
    let mut program = builder.build().program();
    final_graphs(&mut program, &GraphOptions::default()).expect("a small program")
}

fn counts(graphs: &FinalGraphs) -> (usize, usize) {
    (
        graphs.count(GraphEnd::Complete),
        graphs.count(GraphEnd::Blocked),
    )
}

#[test]
fn known_numbers_of_graphs() {
    use Order::{Relaxed, SeqCst};
    let store_buffering = |order| {
        move |p: &mut ProgramBuilder| {
            let (x, y) = (p.var("x", 4), p.var("y", 4));
            p.thread("a", |t| {
                t.store_order(x, 1, order);
                t.load_order(y, order);
            });
            p.thread("b", |t| {
                t.store_order(y, 1, order);
                t.load_order(x, order);
            });
        }
    };
    assert_eq!(counts(&graphs_of(store_buffering(Relaxed))), (4, 0));
    assert_eq!(counts(&graphs_of(store_buffering(SeqCst))), (3, 0));
    // n updates: n! orders.
    let additions = graphs_of(|p| {
        let x = p.var("x", 4);
        for name in ["a", "b", "c", "d"] {
            p.thread(name, |t| {
                t.rmw(x, RmwKind::Add, 1, Relaxed);
            });
        }
    });
    assert_eq!(counts(&additions), (24, 0));
    // A mutex is taken in any order; what is done under it does not matter.
    let locked = graphs_of(|p| {
        let (x, m) = (p.var("x", 4), p.mutex("m"));
        for name in ["a", "b", "c"] {
            p.thread(name, |t| {
                t.lock(m);
                let value = t.load_plain(x);
                t.store_plain(x, value + 1);
                t.unlock(m);
            });
        }
    });
    assert_eq!(counts(&locked), (6, 0));
    assert!(locked.violations.is_empty());
    // Two writers, a reader that reads once: 2 orders of writes, 3 values.
    let writers = graphs_of(|p| {
        let x = p.var("x", 4);
        p.thread("a", |t| t.store_order(x, 1, Relaxed));
        p.thread("b", |t| t.store_order(x, 2, Relaxed));
        p.thread("c", |t| {
            t.load_order(x, Relaxed);
        });
    });
    assert_eq!(counts(&writers), (6, 0));
}

#[test]
fn loops_wait_for_what_comes_last() {
    use Order::{Acquire, Relaxed, Release};
    // The flag is raised for good.
    let raised = graphs_of(|p| {
        let (x, flag) = (p.var("x", 4), p.var("flag", 4));
        p.thread("a", |t| {
            t.store_plain(x, 1);
            t.store_order(flag, 1, Release);
        });
        p.thread("b", |t| {
            t.while_(|t| t.load_order(flag, Acquire).is(0), |_| {});
            t.load_plain(x);
        });
    });
    assert_eq!(counts(&raised), (1, 0));
    assert!(raised.violations.is_empty());
    // It is raised and lowered: the waiting thread sees it in time, or waits for good.
    let lowered = graphs_of(|p| {
        let flag = p.var("flag", 4);
        p.thread("a", |t| {
            t.store_order(flag, 1, Relaxed);
            t.store_order(flag, 0, Relaxed);
        });
        p.thread("b", |t| {
            t.while_(|t| t.load_order(flag, Relaxed).is(0), |_| {})
        });
    });
    assert_eq!(counts(&lowered), (1, 1));
    let is_deadlock = |key: &ViolationKey| matches!(key, ViolationKey::Deadlock(_));
    assert!(lowered.violations.keys().any(is_deadlock));
}

#[test]
fn races_faults_and_deadlocks_are_found() {
    use Order::Relaxed;
    let race = graphs_of(|p| {
        let (x, flag) = (p.var("x", 4), p.var("flag", 4));
        p.thread("a", |t| {
            t.store_plain(x, 1);
            t.store_order(flag, 1, Relaxed);
        });
        p.thread("b", |t| {
            let set = t.load_order(flag, Relaxed);
            t.if_(set, |t| {
                t.load_plain(x);
            });
        });
    });
    assert!(race.has_race());
    assert_eq!(counts(&race), (1, 0), "the flag is not seen");
    let stale = graphs_of(|p| {
        let (x, flag) = (p.var("x", 4), p.var("flag", 4));
        p.thread("a", |t| {
            t.store_order(x, 1, Relaxed);
            t.store_order(flag, 1, Relaxed);
        });
        p.thread("b", |t| {
            let set = t.load_order(flag, Relaxed);
            t.if_(set, |t| {
                let value = t.load_order(x, Relaxed);
                t.assert(value.is(1));
            });
        });
    });
    assert_eq!(stale.violations.len(), 1);
    let circle = graphs_of(|p| {
        let (m, n) = (p.mutex("m"), p.mutex("n"));
        p.thread("a", |t| {
            t.lock(m);
            t.lock(n);
        });
        p.thread("b", |t| {
            t.lock(n);
            t.lock(m);
        });
    });
    // Forgotten unlocks: whoever comes second waits for good, too.
    assert_eq!(counts(&circle), (0, 3));
    let freed = graphs_of(|p| {
        let pointer = p.var("p", 8);
        p.thread("a", |t| {
            let block = t.alloc(8);
            t.free(block);
            t.store_order(pointer, block, Order::Release);
        });
        p.thread("b", |t| {
            let block = t.load_order(pointer, Order::Acquire);
            t.if_(block.differs(0), |t| {
                t.load_order(crate::builder::deref(block, 4), Relaxed);
            });
        });
    });
    assert_eq!(freed.count(GraphEnd::Faulted), 1);
    assert_eq!(freed.violations.len(), 1);
}

/// That operations which need nobody are done at once changes nothing, nor that others are done in one order only.
#[test]
fn what_is_done_at_once_changes_nothing() {
    let mut compared = 0;
    for seed in 0..cases(60) {
        let options = C11Options {
            operations: 6,
            ..C11Options::default()
        };
        let built = generate_c11(seed, &options);
        let mut program = built.program();
        for plain in [PlainAccesses::Race, PlainAccesses::AreRelaxed] {
            let fast = GraphOptions {
                plain,
                most: 2_000,
                ..GraphOptions::default()
            };
            let slow = GraphOptions {
                at_once: false,
                in_order: false,
                most: 30_000,
                ..fast
            };
            let (Some(fast), Some(slow)) = (
                final_graphs(&mut program, &fast),
                final_graphs(&mut program, &slow),
            ) else {
                continue;
            };
            compared += 1;
            assert_eq!(fast.graphs, slow.graphs, "seed {seed}\n{built}");
            assert_eq!(fast.has_race(), slow.has_race(), "seed {seed}\n{built}");
            if !fast.has_race() {
                assert_eq!(
                    fast.violation_keys(),
                    slow.violation_keys(),
                    "seed {seed}\n{built}"
                );
            }
        }
    }
    assert!(compared > 80, "{compared}");
}

/// DRF-SC: a program all of whose atomics are SC and which has no race has the executions that it has under SC. Their classes by
/// reads-from and modification order are those that differ in the order of conflicting operations.
#[test]
fn programs_with_sc_atomics_only_behave_as_under_sc() {
    let mut compared = 0;
    for seed in 0..cases(150) {
        let options = C11Options {
            operations: 6,
            spins: false,
            // One that fails may have found an old word.
            try_locks: false,
            orders: false,
            ..C11Options::default()
        };
        let built = generate_c11(seed, &options);
        let mut program = built.program();
        let options = GraphOptions {
            spins: Spins::AreEvents,
            most: 20_000,
            ..GraphOptions::default()
        };
        let Some(graphs) = final_graphs(&mut program, &options) else {
            continue;
        };
        let truth = enumerate(&mut program, Mode::Memoised);
        let is_race = |key: &ViolationKey| matches!(key, ViolationKey::Race(..));
        assert_eq!(
            graphs.has_race(),
            truth.violations.iter().any(is_race),
            "seed {seed}\n{built}"
        );
        if graphs.has_race() {
            continue;
        }
        compared += 1;
        assert_eq!(
            graphs.violation_keys(),
            truth.violations,
            "seed {seed}\n{built}"
        );
        assert_eq!(
            counts(&graphs),
            (truth.complete.mazurkiewicz, truth.blocked.mazurkiewicz),
            "seed {seed}\n{built}"
        );
    }
    assert!(compared > 50, "{compared}");
}

/// Stronger rules for release sequences allow less.
#[test]
fn older_release_sequences_allow_less() {
    for seed in 0..cases(100) {
        let options = C11Options {
            operations: 7,
            plain: false,
            locks: false,
            try_locks: false,
            ..C11Options::default()
        };
        let mut program = generate_c11(seed, &options).program();
        let options = GraphOptions {
            most: 5_000,
            ..GraphOptions::default()
        };
        let mut of = |rule| {
            program.set_release_sequences(rule);
            final_graphs(&mut program, &options)
        };
        if let (Some(new), Some(old)) = (
            of(ReleaseSequences::UpdatesOnly),
            of(ReleaseSequences::SameThread),
        ) {
            let is_new = |graph| new.graphs.contains_key(graph);
            assert!(old.graphs.keys().all(is_new), "seed {seed}");
        }
    }
}

/// What is generated is of use: nearly all programs can be enumerated, and not all are trivial.
#[test]
fn generated_programs_have_not_too_many_graphs() {
    let (mut enumerated, mut more_than_ten, mut racy, mut graphs) = (0, 0, 0, 0);
    let all = cases(100);
    for seed in 0..all {
        let mut program = generate_c11(seed, &C11Options::default()).program();
        let options = GraphOptions {
            most: 10_000,
            ..GraphOptions::default()
        };
        if let Some(found) = final_graphs(&mut program, &options) {
            enumerated += u64::from(found.graphs.len() < 2_000);
            more_than_ten += u64::from(found.graphs.len() > 10);
            racy += u64::from(found.has_race());
            graphs += found.graphs.len();
        }
    }
    let said = format!(
        "{enumerated} of {all} enumerated, {graphs} graphs, {more_than_ten} with more than ten, {racy} with races"
    );
    println!("{said}");
    assert!(enumerated * 10 > all * 9, "{said}");
    assert!(more_than_ten * 5 > all, "{said}");
    assert!(racy * 3 < all, "{said}");
}

/// Every final graph can be run again, and ends in the same way; every violation is shown again, also by a plainer execution.
#[test]
fn graphs_are_run_again() {
    let mut violations = 0;
    for seed in 0..cases(100) {
        let built = generate_c11(seed, &C11Options::default());
        let mut program = built.program();
        for plain in [PlainAccesses::Race, PlainAccesses::AreRelaxed] {
            let options = GraphOptions {
                plain,
                most: 1_000,
                ..GraphOptions::default()
            };
            let found = for_each_final_graph(&mut program, &options, |program, machine, graph| {
                let again = replay::replay(program, &graph.schedule);
                let again = match again {
                    Ok(again) => again,
                    Err(mismatch) => panic!("seed {seed}: {mismatch:?}\n{built}"),
                };
                assert_eq!(again.machine.steps(), machine.steps(), "seed {seed}");
                assert!(again.races.is_empty() || plain == PlainAccesses::AreRelaxed);
                let tables = program.tables();
                for loc in (0..tables.loc_count()).map(LocId::from_index) {
                    let mut again = again.machine.clone();
                    assert_eq!(
                        again.peek(tables, loc),
                        machine.peek(tables, loc),
                        "seed {seed}"
                    );
                }
            });
            for (key, witness) in found.iter().flat_map(|found| &found.violations) {
                violations += 1;
                let Witness {
                    kind,
                    thread,
                    schedule,
                } = witness;
                let confirm = |program: &mut Program, schedule: &Schedule, kind: &ViolationKind| {
                    replay::confirm(program, schedule, kind, *thread, &Watch::default())
                };
                let trace = confirm(&mut program, schedule, kind);
                assert!(trace.is_ok(), "seed {seed}: {key:?} {trace:?}\n{built}");
                let simple =
                    simplify::simplify(&mut program, schedule, kind, *thread, &Watch::default());
                if let Some(simple) = simple {
                    assert!(simple.schedule.steps.len() <= schedule.steps.len());
                    assert!(confirm(&mut program, &simple.schedule, &simple.kind).is_ok());
                }
            }
        }
    }
    assert!(violations > 30, "{violations}");
}

/// What is no execution is refused: a read of something that the model does not allow.
#[test]
fn inconsistent_schedules_are_refused() {
    let mut builder = ProgramBuilder::new("message passing");
    let (x, flag) = (builder.var("x", 4), builder.var("flag", 4));
    builder.thread("a", |t| {
        t.store_order(x, 1, Order::Relaxed);
        t.store_order(flag, 1, Order::Release);
    });
    builder.thread("b", |t| {
        t.load_order(flag, Order::Acquire);
        t.load_order(x, Order::Relaxed);
    });
    let mut program = builder.build().program();
    let place = |thread: u32, reads| ScheduleStep::Place {
        thread: ThreadId(thread),
        choices: Vec::new(),
        reads,
        after: None,
    };
    let steps = |flag, x| {
        let mut steps = vec![place(0, None), place(0, None)];
        steps.extend([place(1, None), place(1, None), place(2, flag), place(2, x)]);
        steps
    };
    let mut run = |steps: Vec<ScheduleStep>| {
        let schedule = Schedule {
            memory: MemoryModel::C11,
            steps,
        };
        replay::replay(&mut program, &schedule).map(|replayed| replayed.trace)
    };
    let trace = run(steps(Some(3), Some(2))).expect("the message arrives");
    assert_eq!((trace.steps[5].value, &trace.steps[5].stale), (1, &None));
    let trace = run(steps(None, None)).expect("nothing has happened for the reader");
    let stale = trace.steps[5].stale.as_ref().map(|stale| stale.newest);
    assert_eq!((trace.steps[5].value, stale), (0, Some(2)));
    assert!(matches!(
        run(steps(Some(3), None)),
        Err(Mismatch::Inconsistent { step: 5, .. })
    ));
    assert_eq!(
        run(steps(Some(2), None)),
        Err(Mismatch::NoSuchWrite { step: 4 })
    );
    assert_eq!(
        run(steps(Some(77), None)),
        Err(Mismatch::NoSuchWrite { step: 4 })
    );
    let early = vec![place(0, None), place(2, None)];
    assert!(matches!(
        run(early),
        Err(Mismatch::NotReady { step: 1, .. })
    ));
}
