//! `mcr` against the oracle.

use super::spinning::reachable;
use super::{Summary, awaits_as_dpor, families, for_each_program, violations};
use crate::driver::{Reductions, ViolationKey};
use crate::interleavings::{self, Sequence};
use crate::listener::Listener;
use crate::mcr::{Search, Setup};
use crate::oracle::{self, Mode};
use crate::verdict::EngineKind;
use raddle_memory::{Machine, MemoryModel, MicroStep, StepEnd};
use raddle_program::{Op, Program, StateId, ThreadId, Value};
use raddle_testing::builder::BuiltProgram;
use raddle_testing::generate::{Features, GenOptions};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

fn setup(jobs: usize) -> Setup {
    Setup {
        jobs,
        ..Setup::default()
    }
}

/// All that can be seen in any execution is seen, nothing is done twice, and nothing that `rf` would do once.
fn explores_everything(cases: u64, options: GenOptions) {
    for_each_program(cases, options, |seed, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised);
        let mut summary = Summary::default();
        let mut search = Search::new(&program, setup(1));
        let _ = search.run(&mut program, &mut summary);
        assert_eq!(search.statistics().duplicates, 0, "seed {seed}");
        assert_eq!(summary.final_states, truth.final_states, "seed {seed}");
        assert_eq!(summary.local_states, truth.local_states, "seed {seed}");
        assert!(
            summary.complete <= truth.complete.reads_from as u64
                && summary.blocked <= truth.blocked.reads_from as u64,
            "seed {seed}: {}+{} executions, {:?} {:?}",
            summary.complete,
            summary.blocked,
            truth.complete,
            truth.blocked
        );
    });
}

#[test]
fn mcr_explores_everything_once() {
    explores_everything(200, GenOptions::default());
}

#[test]
fn mcr_explores_larger_programs() {
    explores_everything(20, families::larger());
}

#[test]
fn mcr_explores_simple_programs() {
    explores_everything(30, families::simple());
}

#[test]
fn mcr_explores_complex_programs() {
    explores_everything(60, families::complex());
}

/// What a thread did: the local states it was in, and what its updates wrote, and whether that changed anything.
type Path = Vec<(StateId, Option<(Value, bool)>)>;

/// What all threads did in each execution.
#[derive(Default)]
struct Combinations(BTreeSet<Vec<(ThreadId, Path)>>);

impl Listener for Combinations {
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
        let mut threads: BTreeMap<ThreadId, Path> = BTreeMap::new();
        for step in machine.steps() {
            let written = match *program.op(step.state) {
                Op::Rmw {
                    loc, kind, operand, ..
                } => {
                    let size = program.tables().loc_info(loc).size;
                    let new = kind.apply(step.value, operand, size);
                    Some((new, new != step.value))
                }
                Op::Cas { expected, new, .. } => {
                    (step.value == expected).then_some((new, new != expected))
                }
                _ => None,
            };
            threads
                .entry(step.thread)
                .or_default()
                .push((step.state, written));
        }
        for (thread, states) in &mut threads {
            states.extend(machine.thread_state(*thread).map(|state| (state, None)));
        }
        self.0.insert(threads.into_iter().collect());
        ControlFlow::Continue(())
    }

    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Exactly one execution for each combination of what threads can do.
#[test]
fn mcr_explores_each_combination_once() {
    let options = GenOptions {
        features: Features {
            updates: true,
            branches: true,
            asserts: true,
            nested_spawns: true,
            ..Features::NONE
        },
        ..GenOptions::default()
    };
    for_each_program(150, options, |seed, built| {
        let mut program = built.program();
        let (mut all, mut found) = (Combinations::default(), Combinations::default());
        let _ =
            interleavings::explore(&mut program, MemoryModel::Sc, Sequence::Ascending, &mut all);
        let _ = Search::new(&program, setup(1)).run(&mut program, &mut found);
        assert_eq!(found.0, all.0, "seed {seed}");
        let mut summary = Summary::default();
        let _ = Search::new(&program, setup(1)).run(&mut program, &mut summary);
        let executions = summary.complete + summary.blocked;
        assert_eq!(executions, all.0.len() as u64, "seed {seed}");
    });
}

/// Workers change nothing.
#[test]
fn mcr_does_the_same_with_several_workers() {
    /// All executions, in order.
    #[derive(Default, PartialEq, Debug)]
    struct Order(Vec<Vec<MicroStep>>);

    impl Listener for Order {
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

        fn ended(&mut self, _: &mut Program, machine: &mut Machine) -> ControlFlow<()> {
            self.0.push(machine.steps().to_vec());
            ControlFlow::Continue(())
        }

        fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    let compare = |seed: u64, built: &BuiltProgram| {
        let mut program = built.program();
        let mut explore = |jobs| {
            let mut order = Order::default();
            let mut search = Search::new(&program, setup(jobs));
            let _ = search.run(&mut program, &mut order);
            (order, search.statistics())
        };
        assert_eq!(explore(1), explore(3), "seed {seed}");
    };
    for_each_program(40, GenOptions::default(), compare);
    for_each_program(15, families::simple(), compare);
}

/// Programs whose threads spin: all local states are seen, with awaits and without.
#[test]
fn mcr_loses_no_local_state_of_programs_that_wait() {
    for_each_program(120, GenOptions::spinning(), |seed, built| {
        let mut program = built.program();
        let Some(reached) = reachable(&mut program) else {
            return;
        };
        for awaits in [true, false] {
            let mut summary = Summary::default();
            let setup = Setup {
                reductions: Reductions {
                    awaits,
                    ..Reductions::default()
                },
                ..Setup::default()
            };
            let mut search = Search::new(&program, setup);
            let _ = search.run(&mut program, &mut summary);
            assert_eq!(search.statistics().duplicates, 0, "seed {seed}");
            assert_eq!(summary.local_states, reached.local_states, "seed {seed}");
        }
    });
}

#[test]
fn mcr_awaits() {
    awaits_as_dpor(200, EngineKind::Mcr, |program, summary| {
        let _ = Search::new(program, setup(1)).run(program, summary);
    });
}

/// Faults and deadlocks as the oracle, and each race that it finds.
#[test]
fn mcr_finds_all_violations_and_reproduces_them() {
    for_each_program(200, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised).violations;
        let found = violations(&mut program, EngineKind::Mcr);
        let missing: FxHashSet<&ViolationKey> = truth.difference(&found).collect();
        let excess: FxHashSet<&ViolationKey> = found.difference(&truth).collect();
        for key in missing.iter().chain(&excess) {
            if let ViolationKey::Race(a, b) = key {
                let line = |at| program.tables().source_loc(at).map(|loc| loc.line);
                eprintln!("race of lines {:?} and {:?}", line(*a), line(*b));
            }
        }
        assert!(
            missing.is_empty() && excess.is_empty(),
            "seed {seed}: missing {missing:?}, in excess {excess:?}"
        );
    });
}
