//! Properties of generated programs: engines against the oracle, the race detector against its definition, undoing.
//!
//! `RADDLE_PROPTEST_CASES` sets the number of programs, `RADDLE_PROPTEST_SEED` the first seed.

mod families;
mod happens_before;
mod icb;
mod mcr;
mod rf;
mod rvf;
mod sequences;
mod shortened;
mod spinning;
mod states;
mod weak;

use crate::dpor;
use crate::driver::{Reductions, SearchOptions, ViolationKey, check};
use crate::interleavings::{self, Sequence};
use crate::listener::Listener;
use crate::oracle::{self, FinalStates, Mode};
use crate::replay::{self, Schedule};
use crate::verdict::{Checks, EngineKind, Verdict};
use crate::{ending, verdict};
use raddle_memory::{
    DelayedStore, Machine, MemoryModel, MicroStep, RaceDetector, Readiness, StepEnd,
};
use raddle_program::{LocId, Program, ReleaseSequences, StateId, ThreadId, Value};
use raddle_testing::builder::BuiltProgram;
use raddle_testing::generate::{GenOptions, Random, generate};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Calls `f` with generated programs; where it fails, the program is printed.
fn for_each_program(default_cases: u64, options: GenOptions, f: impl FnMut(u64, &BuiltProgram)) {
    for_each_of(default_cases, |seed| generate(seed, &options), f);
}

/// Calls `f` with programs of a family; a program that it panics at is shown.
fn for_each_of(
    default_cases: u64,
    family: impl Fn(u64) -> BuiltProgram,
    mut f: impl FnMut(u64, &BuiltProgram),
) {
    struct Shown<'a>(&'a BuiltProgram);
    impl Drop for Shown<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("{}", self.0);
            }
        }
    }
    let first = number("RADDLE_PROPTEST_SEED", 0);
    for seed in first..first + number("RADDLE_PROPTEST_CASES", default_cases) {
        let built = family(seed);
        let _shown = Shown(&built);
        f(seed, &built);
    }
}

/// What a search saw.
#[derive(Default, PartialEq, Eq, Debug)]
struct Summary {
    complete: u64,
    blocked: u64,
    given_up: u64,
    final_states: BTreeSet<FinalStates>,
    local_states: BTreeSet<StateId>,
}

impl Listener for Summary {
    fn stepped(
        &mut self,
        _: &mut Program,
        machine: &mut Machine,
        _: ThreadId,
        _: StepEnd,
    ) -> ControlFlow<()> {
        let states = ending::threads(machine).filter_map(|thread| machine.thread_state(thread));
        self.local_states.extend(states);
        self.local_states
            .extend(machine.steps().iter().map(|step| step.state));
        ControlFlow::Continue(())
    }

    fn undone(&mut self, _: usize) {}

    fn ended(&mut self, program: &mut Program, machine: &mut Machine) -> ControlFlow<()> {
        if ending::is_complete(program, machine) {
            self.complete += 1;
        } else {
            self.blocked += 1;
        }
        let mut states: FinalStates = ending::threads(machine)
            .map(|thread| machine.thread_state(thread))
            .collect();
        self.local_states.extend(states.iter().flatten());
        while states.last() == Some(&None) {
            states.pop();
        }
        self.final_states.insert(states);
        ControlFlow::Continue(())
    }

    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        self.given_up += 1;
        ControlFlow::Continue(())
    }

    fn restarted(&mut self) {
        *self = Self::default();
    }
}

#[test]
fn exploring_in_another_order_finds_the_same() {
    for_each_program(150, GenOptions::default(), |_, built| {
        let mut program = built.program();
        let mut explore = |sequence| {
            let mut summary = Summary::default();
            let _ = interleavings::explore(&mut program, MemoryModel::Sc, sequence, &mut summary);
            summary
        };
        let ascending = explore(Sequence::Ascending);
        assert_eq!(ascending, explore(Sequence::Descending));
        let truth = oracle::enumerate(&mut program, Mode::Every);
        assert_eq!(truth.interleavings, ascending.complete + ascending.blocked);
        assert_eq!(truth.final_states, ascending.final_states);
        assert_eq!(truth.local_states, ascending.local_states);
    });
}

#[test]
fn equivalent_prefixes_have_the_same_future() {
    for_each_program(200, GenOptions::default(), |_, built| {
        let mut program = built.program();
        let every = oracle::enumerate(&mut program, Mode::Every);
        assert_eq!(every.contradictions, 0);
        assert_eq!(every, oracle::enumerate(&mut program, Mode::Memoised));
        for classes in [every.complete, every.blocked] {
            assert!(classes.reads_value_from <= classes.reads_from);
            assert!(classes.reads_from <= classes.mazurkiewicz);
        }
    });
}

#[test]
fn dpor_explores_each_class_once() {
    for_each_program(300, GenOptions::default(), |_, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised);
        let mut summary = Summary::default();
        let _ = dpor::Search::new(
            &program,
            Reductions {
                ifaa: false,
                ..Reductions::default()
            },
        )
        .run(&mut program, &mut summary);
        assert_eq!(summary.given_up, 0);
        assert_eq!(summary.complete, truth.complete.mazurkiewicz as u64);
        assert_eq!(summary.blocked, truth.blocked.mazurkiewicz as u64);
        assert_eq!(summary.final_states, truth.final_states);
        assert_eq!(summary.local_states, truth.local_states);
    });
}

#[test]
fn dpor_explores_each_class_of_larger_programs_once() {
    for_each_program(40, families::larger(), |_, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised);
        let mut summary = Summary::default();
        let _ = dpor::Search::new(
            &program,
            Reductions {
                ifaa: false,
                ..Reductions::default()
            },
        )
        .run(&mut program, &mut summary);
        assert_eq!(
            (summary.complete, summary.blocked, summary.given_up),
            (
                truth.complete.mazurkiewicz as u64,
                truth.blocked.mazurkiewicz as u64,
                0
            )
        );
        assert_eq!(summary.final_states, truth.final_states);
    });
}

/// How often what is interesting occurs in generated programs, so that a change of the generator does not make all other
/// properties trivial.
#[test]
fn generated_programs_are_interesting() {
    let mut counts = [0; 8];
    let cell = std::cell::RefCell::new(&mut counts);
    for_each_program(200, GenOptions::default(), |_, built| {
        let truth = oracle::enumerate(&mut built.program(), Mode::Memoised);
        let (complete, blocked) = (truth.complete, truth.blocked);
        let has = |kind: fn(&ViolationKey) -> bool| truth.violations.iter().any(kind);
        let seen = [
            complete.mazurkiewicz > 10,
            blocked.mazurkiewicz > 0,
            complete.reads_from < complete.mazurkiewicz,
            complete.reads_value_from < complete.reads_from,
            has(|key| matches!(key, ViolationKey::Fault(..))),
            has(|key| matches!(key, ViolationKey::Race(..))),
            has(|key| matches!(key, ViolationKey::Deadlock(_))),
            truth.interleavings > 100,
        ];
        for (count, seen) in cell.borrow_mut().iter_mut().zip(seen) {
            *count += u32::from(seen);
        }
    });
    println!("{counts:?}");
    assert!(counts.iter().all(|&count| count >= 5), "{counts:?}");
}

/// All violations that an engine finds; each was replayed.
fn violations(program: &mut Program, engine: EngineKind) -> FxHashSet<ViolationKey> {
    let options = SearchOptions {
        checks: Checks {
            overflows: true,
            uninit: true,
            ..Checks::default()
        },
        keep_going: true,
        ..SearchOptions::default()
    };
    let outcome = check(program, engine, options).expect("violations are reproduced");
    match outcome.verdict {
        Verdict::Violation(found) => {
            let keys: FxHashSet<_> = found
                .iter()
                .map(|violation| ViolationKey::new(&violation.kind, violation.at))
                .collect();
            assert_eq!(keys.len(), found.len(), "a violation was reported twice");
            keys
        }
        // Where no execution comes to its end, that is all there is to say.
        Verdict::Verified(verdict::Bound::Complete)
        | Verdict::Inconclusive(verdict::Reason::NothingEnds { bound: None }) => {
            FxHashSet::default()
        }
        other => panic!("{other:?}"),
    }
}

/// Finds an engine all faults and deadlocks, and a race if there is one? Which accesses a race is reported for depends on the
/// order of writes that nobody reads, of which engines that are coarser than `dpor` see one.
fn finds_all_violations(engine: EngineKind) {
    for_each_program(200, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised).violations;
        let found = violations(&mut program, engine);
        let is_race = |key: &&ViolationKey| matches!(key, ViolationKey::Race(..));
        let others = |keys: &FxHashSet<ViolationKey>| -> FxHashSet<ViolationKey> {
            keys.iter().filter(|key| !is_race(key)).cloned().collect()
        };
        assert_eq!(others(&found), others(&truth), "seed {seed}");
        assert!(
            found.is_subset(&truth),
            "seed {seed}: {found:?} of {truth:?}"
        );
        assert_eq!(
            found.iter().any(|key| is_race(&key)),
            truth.iter().any(|key| is_race(&key)),
            "seed {seed}"
        );
    });
}

/// Do programs whose threads spin end as they do with `dpor`, whose awaits are tested by themselves, and with the same livelocks?
fn awaits_as_dpor(cases: u64, engine: EngineKind, explore: impl Fn(&mut Program, &mut Summary)) {
    let first = number("RADDLE_PROPTEST_SEED", 0);
    for seed in first..first + number("RADDLE_PROPTEST_CASES", cases) {
        let built = crate::spinning::spinning(seed);
        let mut program = built.program();
        let mut truth = Summary::default();
        let reductions = Reductions {
            ifaa: false,
            ..Reductions::default()
        };
        let _ = dpor::Search::new(&program, reductions).run(&mut program, &mut truth);
        let mut summary = Summary::default();
        explore(&mut program, &mut summary);
        assert_eq!(
            summary.final_states, truth.final_states,
            "seed {seed}: {built}"
        );
        assert!(
            summary.complete <= truth.complete && summary.blocked <= truth.blocked,
            "seed {seed}: {}+{} of {}+{}\n{built}",
            summary.complete,
            summary.blocked,
            truth.complete,
            truth.blocked
        );
        let expected = livelocks(&mut program, EngineKind::Dpor);
        assert_eq!(
            livelocks(&mut program, engine),
            expected,
            "seed {seed}: {built}"
        );
    }
}

/// What an engine finds where livelocks count.
fn livelocks(program: &mut Program, engine: EngineKind) -> FxHashSet<ViolationKey> {
    let options = SearchOptions {
        checks: Checks {
            livelocks: true,
            ..Checks::default()
        },
        keep_going: true,
        ..SearchOptions::default()
    };
    match check(program, engine, options).expect("reproduced").verdict {
        Verdict::Violation(found) => found
            .iter()
            .map(|violation| ViolationKey::new(&violation.kind, violation.at))
            .collect(),
        _ => FxHashSet::default(),
    }
}

#[test]
fn engines_find_all_violations_and_reproduce_them() {
    for_each_program(200, GenOptions::default(), |_, built| {
        let mut program = built.program();
        let truth = oracle::enumerate(&mut program, Mode::Memoised);
        for engine in [EngineKind::Naive, EngineKind::Dpor] {
            assert_eq!(
                violations(&mut program, engine),
                truth.violations,
                "{engine:?}"
            );
        }
    });
}

/// Calls `f` with some executions.
struct Executions<F> {
    left: u32,
    ends: Vec<u32>,
    f: F,
}

impl<F: FnMut(&mut Program, &mut Machine, &[u32])> Listener for Executions<F> {
    fn stepped(
        &mut self,
        _: &mut Program,
        machine: &mut Machine,
        _: ThreadId,
        _: StepEnd,
    ) -> ControlFlow<()> {
        self.ends.push(machine.steps().len() as u32);
        ControlFlow::Continue(())
    }

    fn undone(&mut self, steps: usize) {
        self.ends.retain(|&end| end as usize <= steps);
    }

    fn ended(&mut self, program: &mut Program, machine: &mut Machine) -> ControlFlow<()> {
        (self.f)(program, machine, &self.ends);
        self.left -= 1;
        if self.left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn for_some_executions(
    built: &BuiltProgram,
    count: u32,
    f: impl FnMut(&mut Program, &mut Machine, &[u32]),
) {
    let mut program = built.program();
    let mut executions = Executions {
        left: count,
        ends: Vec::new(),
        f,
    };
    let _ = interleavings::explore(
        &mut program,
        MemoryModel::Sc,
        Sequence::Ascending,
        &mut executions,
    );
}

#[test]
fn races_are_what_the_definition_says() {
    for rule in [ReleaseSequences::UpdatesOnly, ReleaseSequences::SameThread] {
        for_each_program(300, GenOptions::default(), |_, built| {
            let mut detector = RaceDetector::new();
            let mut before: Vec<MicroStep> = Vec::new();
            for_some_executions(built, 100, |program, machine, _| {
                program.set_release_sequences(rule);
                // As engines use it: back to the common prefix, then on.
                let steps = machine.steps();
                let common = before.iter().zip(steps).take_while(|(a, b)| a == b).count();
                let expected = happens_before::races(program, steps);
                detector.truncate(common);
                for (index, &step) in steps.iter().enumerate().skip(common) {
                    let found = detector.push(program, step).map(|race| race.first.step);
                    assert_eq!(found, expected[index], "step {index} of {steps:?}");
                }
                before = steps.to_vec();
            });
        });
    }
}

#[test]
fn replays_repeat_executions() {
    for_each_program(200, GenOptions::default(), |_, built| {
        for_some_executions(built, 50, |program, machine, ends| {
            let schedule = Schedule::of(program, machine.model(), machine.steps(), ends);
            let replayed = replay::replay(program, &schedule).expect("it was run before");
            assert_eq!(replayed.machine.steps(), machine.steps());
            assert_eq!(replayed.ends, ends);
            assert_eq!(replayed.trace.steps.len(), machine.steps().len());
        });
    });
}

/// All that can be seen of a machine; locations and threads found later are left out.
#[derive(PartialEq, Eq, Debug)]
struct Seen {
    steps: Vec<MicroStep>,
    threads: Vec<(Option<StateId>, Readiness, Vec<DelayedStore>)>,
    memory: Vec<Value>,
}

fn look(program: &Program, machine: &mut Machine, threads: usize, locs: usize) -> Seen {
    Seen {
        steps: machine.steps().to_vec(),
        threads: (0..threads)
            .map(ThreadId::from_index)
            .map(|thread| {
                let ready = machine.readiness(program, thread);
                let delayed = machine.delayed(thread).to_vec();
                (machine.thread_state(thread), ready, delayed)
            })
            .collect(),
        memory: (0..locs)
            .map(|loc| machine.peek(program.tables(), LocId::from_index(loc)))
            .collect(),
    }
}

#[test]
fn undoing_restores_the_machine() {
    for_each_program(300, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let mut random = Random::new(seed);
        let mut machine = Machine::new(&program);
        for _ in 0..10 {
            let (mark, threads) = (machine.mark(), machine.thread_count());
            let locs = program.tables().loc_count();
            let before = look(&program, &mut machine, threads, locs);
            for _ in 0..random.below(20) {
                let ready: Vec<ThreadId> = ending::threads(&machine)
                    .filter(|&t| machine.readiness(&program, t) == Readiness::Ready)
                    .collect();
                if ready.is_empty() {
                    break;
                }
                let choices = [random.below(2) as u32, random.below(2) as u32];
                machine.step(&mut program, random.pick(&ready), &choices);
            }
            let after = machine.clone();
            machine.undo_to(mark);
            assert_eq!(before, look(&program, &mut machine, threads, locs));
            // Go on from the far end half of the time.
            if random.percent(50) {
                machine = after;
            }
        }
    });
}

/// What a search says about how much of it is done.
#[derive(Default)]
struct Fractions(Vec<f64>);

impl Listener for Fractions {
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

    fn ended(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn given_up(&mut self, _: &mut Program, _: &mut Machine) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn explored(&mut self, fraction: impl FnOnce() -> f64) {
        self.0.push(fraction());
    }
}

/// `naive` knows all branches of a prefix, and says in the end that it has explored everything. The others find more on their
/// way, and some of what they count turns out to be impossible.
#[test]
fn what_is_explored_is_a_part_of_all() {
    for_each_program(60, GenOptions::default(), |_, built| {
        let mut program = built.program();
        let mut naive = Fractions::default();
        let _ = interleavings::explore(
            &mut program,
            MemoryModel::Sc,
            Sequence::Ascending,
            &mut naive,
        );
        assert!(naive.0.iter().all(|it| (0.0..=1.0 + 1e-9).contains(it)));
        let last = naive.0.last().copied().unwrap_or(1.0);
        assert!((last - 1.0).abs() < 1e-6, "{last}");
        let mut dpor = Fractions::default();
        let _ = dpor::Search::new(&program, Reductions::default()).run(&mut program, &mut dpor);
        let is_part = |fraction: &f64| *fraction > 0.0 && *fraction < 1.0;
        assert!(dpor.0.iter().all(is_part), "{:?}", dpor.0);
        let mut rf = Fractions::default();
        let _ = crate::rf::Search::new(&program, Reductions::default()).run(&mut program, &mut rf);
        let is_share = |fraction: &f64| *fraction > 0.0 && *fraction < 1.0 + 1e-9;
        assert!(rf.0.iter().all(is_share), "{:?}", rf.0);
        let mut rvf = Fractions::default();
        let options = crate::rvf::RvfOptions::default();
        let _ = crate::rvf::Search::new(&program, options).run(&mut program, &mut rvf);
        assert!(
            rvf.0.iter().all(|it| (0.0..=1.0 + 1e-9).contains(it)),
            "{:?}",
            rvf.0
        );
    });
}
