//! The answer does not depend on the number of workers, nor on when a search was stopped.

mod shared;

use super::{Checkpoints, Division, ProgramSource, Saved};
use crate::driver::{EngineOptions, Limits, Reductions, SearchOptions, check_with};
use crate::rvf::RvfHeuristics;
use crate::verdict::{Checks, EngineKind, MemoryModel, Outcome, Verdict, ViolationKind};
use crate::watch::{Cause, Watch};
use raddle_program::{Program, ThreadId};
use raddle_testing::builder::BuiltProgram;
use raddle_testing::generate::{C11Options, Features, GenOptions, generate, generate_c11};
use raddle_testing::samples;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A number that people may set to try more.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Makes a program again and again, in any thread.
pub(crate) fn source(make: impl Fn() -> BuiltProgram + Send + Sync + 'static) -> ProgramSource {
    Arc::new(move || Some(make().program()))
}

/// Cut into pieces as soon as anybody looks around.
pub(crate) fn early(source: &ProgramSource, workers: usize) -> Division {
    Division {
        warm_up: 0,
        ..Division::new(Arc::clone(source), workers)
    }
}

fn program(source: &ProgramSource) -> Program {
    source().expect("a built program can be built")
}

/// All that an answer says, but for times, in names that mean the same in every program.
fn told(program: &Program, outcome: &Outcome) -> String {
    let it = &outcome.statistics;
    let tables = program.tables();
    let place = |at| tables.source_loc(at).map(|loc| (loc.line, loc.column));
    let found = match &outcome.verdict {
        Verdict::Violation(violations) => violations
            .iter()
            .map(|found| {
                let kind = match &found.kind {
                    ViolationKind::Fault(fault) => format!("{fault:?}"),
                    ViolationKind::Race(_) => "race".to_owned(),
                    ViolationKind::Deadlock { waiting: threads }
                    | ViolationKind::Livelock { spinning: threads } => {
                        let name = |thread: ThreadId| tables.thread_info(thread).name.to_string();
                        let threads = threads.iter();
                        let names = threads.map(|it| (name(it.thread), place(it.at)));
                        format!("waiting {:?}", names.collect::<Vec<_>>())
                    }
                };
                format!(
                    "{kind} {:?} {:?}",
                    place(found.at),
                    found.schedule.named(tables)
                )
            })
            .collect(),
        Verdict::Unsupported(all) => all
            .iter()
            .map(|it| format!("{:?} {:?}", it.what, place(it.at)))
            .collect(),
        other => vec![format!("{other:?}")],
    };
    format!(
        "{} {} {:?} {} threads {} events {} states {} {:?} {found:#?}",
        it.complete,
        it.blocked,
        it.blocked_by,
        it.cut,
        it.threads,
        it.max_events,
        it.states,
        outcome.coverage.ended,
    )
}

pub(crate) struct Question {
    pub(crate) engine: EngineKind,
    pub(crate) memory: MemoryModel,
    pub(crate) checks: Checks,
    pub(crate) keep_going: bool,
}

fn check_in_pieces(
    program: &mut Program,
    engine: EngineKind,
    division: Option<Division>,
    options: SearchOptions,
) -> Outcome {
    let engine_options = EngineOptions {
        division,
        rvf: RvfHeuristics {
            // There are no pieces before.
            learning: 3,
            ..RvfHeuristics::default()
        },
        ..EngineOptions::default()
    };
    check_with(program, engine, engine_options, options).unwrap()
}

impl Question {
    /// What the answer says, and whether it is a violation.
    fn ask(&self, source: &ProgramSource, division: Option<Division>) -> (String, bool) {
        let options = SearchOptions {
            memory: self.memory,
            checks: self.checks,
            keep_going: self.keep_going,
            ..SearchOptions::default()
        };
        let mut program = program(source);
        let mut outcome = check_in_pieces(&mut program, self.engine, division, options);
        let is_found = matches!(outcome.verdict, Verdict::Violation(_));
        if is_found && !self.keep_going {
            // Others were further than the one that found it.
            outcome.statistics.states = 0;
        }
        (told(&program, &outcome), is_found)
    }

    /// With one worker and with several, however the pieces come about.
    pub(crate) fn assert_same(&self, source: &ProgramSource, name: &str) {
        let alone = self.ask(source, None);
        for workers in [1, 2, 3, 8] {
            let mut division = early(source, workers);
            division.checkpoint = (workers == 1).then(|| Checkpoints {
                sink: Box::new(|_| {}),
                every: Duration::from_millis(1),
            });
            let several = self.ask(source, Some(division));
            assert_eq!(
                several, alone,
                "{:?}, {workers} workers: {name}",
                self.engine
            );
        }
    }

    /// Goes on from every state that is kept, with another number of workers.
    pub(crate) fn assert_same_if_taken_up(&self, source: &ProgramSource, name: &str) {
        let alone = self.ask(source, None);
        for workers in [1, 3] {
            let kept: Rc<RefCell<Vec<String>>> = Rc::default();
            let sink = {
                let kept = Rc::clone(&kept);
                Box::new(move |saved: &Saved| kept.borrow_mut().push(saved.render()))
            };
            let every = Duration::from_micros(100);
            let division = Division {
                checkpoint: Some(Checkpoints { sink, every }),
                ..early(source, workers)
            };
            let kept_meanwhile = self.ask(source, Some(division));
            assert_eq!(kept_meanwhile, alone, "{:?}: {name}", self.engine);
            let kept = kept.take();
            // Some of them, where there are many.
            for text in kept.iter().step_by(1 + kept.len() / 4) {
                let division = Division {
                    saved: Some(text.parse().unwrap()),
                    ..early(source, 1 + (workers + 1) % 4)
                };
                let taken_up = self.ask(source, Some(division));
                assert_eq!(taken_up, alone, "{:?}: {name}, from\n{text}", self.engine);
            }
        }
    }
}

pub(crate) const NO_CHECKS: Checks = Checks {
    assertions: false,
    memory: false,
    races: false,
    deadlocks: false,
    livelocks: false,
    overflows: false,
    uninit: false,
    only_error_calls: false,
};

pub(crate) fn sc() -> Question {
    Question {
        engine: EngineKind::Graph,
        memory: MemoryModel::Sc,
        checks: Checks::default(),
        keep_going: false,
    }
}

pub(crate) fn samples() -> Vec<(&'static str, ProgramSource)> {
    vec![
        ("fib_bench", source(|| samples::fib_bench(4))),
        ("casrot", source(|| samples::casrot(6))),
        ("lastwrite", source(|| samples::lastwrite(6))),
        ("readers", source(|| samples::readers(9))),
        ("sigma", source(|| samples::sigma(5))),
        ("control_flow", source(|| samples::control_flow(5))),
        ("exponential_bug", source(|| samples::exponential_bug(3))),
    ]
}

#[test]
fn samples_have_the_same_counts_with_any_number_of_workers() {
    for (name, source) in samples() {
        sc().assert_same(&source, name);
    }
}

#[test]
fn generated_programs_have_the_same_answers_with_any_number_of_workers() {
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 30) {
        let features = Features {
            mixed_sizes: false,
            heap: false,
            atomic_blocks: false,
            ..Features::ALL
        };
        let options = GenOptions {
            features,
            ..GenOptions::default()
        };
        let source = source(move || generate(seed, &options));
        for keep_going in [false, true] {
            let question = Question { keep_going, ..sc() };
            question.assert_same(&source, &format!("seed {seed}"));
        }
    }
}

#[test]
fn generated_programs_that_wait_do_as_well() {
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 30) {
        let features = Features {
            mixed_sizes: false,
            heap: false,
            atomic_blocks: false,
            ..Features::SPINNING
        };
        let options = GenOptions {
            features,
            ..GenOptions::spinning()
        };
        let source = source(move || generate(seed, &options));
        let question = Question {
            keep_going: true,
            checks: Checks {
                races: true,
                uninit: false,
                ..Checks::default()
            },
            ..sc()
        };
        question.assert_same(&source, &format!("seed {seed}"));
    }
    for seed in first..first + number("COUNT", 30) {
        let source = source(move || crate::spinning::caching(seed));
        let checks = NO_CHECKS;
        let question = Question { checks, ..sc() };
        question.assert_same(&source, &format!("caching, seed {seed}"));
    }
}

#[test]
fn generated_programs_with_weak_orderings_do_as_well() {
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 30) {
        let source = source(move || generate_c11(seed, &C11Options::default()));
        for keep_going in [false, true] {
            let question = Question {
                engine: EngineKind::Graph,
                memory: MemoryModel::C11,
                checks: Checks::default(),
                keep_going,
            };
            question.assert_same(&source, &format!("seed {seed}"));
        }
    }
}

/// Explores until somebody stops it after so many moments, and says what is left.
fn stopped(
    engine: EngineKind,
    source: &ProgramSource,
    workers: usize,
    saved: Option<Saved>,
    after: Duration,
) -> (String, Option<Saved>) {
    let left: Rc<RefCell<Option<Saved>>> = Rc::default();
    let watch = Arc::new(Watch::default());
    let sink = {
        let left = Rc::clone(&left);
        Box::new(move |saved: &Saved| *left.borrow_mut() = Some(saved.clone()))
    };
    let options = SearchOptions {
        watch: Some(Arc::clone(&watch)),
        ..SearchOptions::default()
    };
    let division = Division {
        checkpoint: Some(Checkpoints {
            sink,
            every: Duration::from_secs(3600),
        }),
        saved,
        ..early(source, workers)
    };
    let clock = std::thread::spawn(move || {
        std::thread::sleep(after);
        watch.raise(Cause::Interrupted);
    });
    let mut program = program(source);
    let outcome = check_in_pieces(&mut program, engine, Some(division), options);
    clock.join().unwrap();
    let is_left = matches!(outcome.verdict, Verdict::Inconclusive(_));
    (told(&program, &outcome), left.take().filter(|_| is_left))
}

/// Stops a search again and again, and has others go on.
pub(crate) fn assert_counts_the_same_if_stopped(engine: EngineKind, source: &ProgramSource) {
    let question = Question { engine, ..sc() };
    let (alone, _) = question.ask(source, None);
    for round in 0..number("COUNT", 4) {
        let mut saved = None;
        let mut stops = 0;
        let outcome = loop {
            let workers = 1 + (round as usize + stops) % 3;
            // Ever longer, so that it comes to an end on any machine.
            let after = Duration::from_millis(7 + 3 * round + 10 * stops as u64);
            let (outcome, left) = stopped(engine, source, workers, saved, after);
            match left {
                Some(left) => {
                    let text = left.render();
                    saved = Some(text.parse().unwrap());
                    stops += 1;
                }
                None => break outcome,
            }
        };
        assert_eq!(outcome, alone, "{engine:?}, stopped {stops} times");
    }
}

#[test]
fn a_search_that_is_stopped_again_and_again_counts_the_same() {
    assert_counts_the_same_if_stopped(EngineKind::Graph, &source(|| samples::fib_bench(5)));
}

#[test]
fn a_limit_of_executions_means_the_first_ones() {
    let source = source(|| samples::fib_bench(4));
    let counts = |division| {
        let options = SearchOptions {
            limits: Limits {
                executions: Some(1000),
                ..Limits::default()
            },
            reductions: Reductions::default(),
            ..SearchOptions::default()
        };
        let mut program = program(&source);
        let outcome = check_in_pieces(&mut program, EngineKind::Graph, division, options);
        told(&program, &outcome)
    };
    assert_eq!(counts(Some(early(&source, 3))), counts(None));
}
