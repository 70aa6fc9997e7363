//! Engines whose workers share the top of the tree: the answer does not depend on their number.

use super::{
    NO_CHECKS, Question, assert_counts_the_same_if_stopped, check_in_pieces, number, program,
    samples, sc, source,
};
use crate::driver::{Limits, SearchOptions};
use crate::verdict::{Checks, EngineKind};
use raddle_program::Program;
use raddle_testing::generate::{Features, GenOptions, generate};

const ENGINES: [EngineKind; 3] = [EngineKind::Dpor, EngineKind::Rf, EngineKind::Rvf];

fn questions() -> [Question; 3] {
    ENGINES.map(|engine| Question { engine, ..sc() })
}

#[test]
fn samples_have_the_same_counts() {
    for question in questions() {
        for (name, source) in samples() {
            question.assert_same(&source, name);
        }
    }
}

#[test]
fn generated_programs_have_the_same_answers() {
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 40) {
        let options = GenOptions {
            features: Features::ALL,
            ..GenOptions::default()
        };
        let source = source(move || generate(seed, &options));
        for question in questions() {
            let question = Question {
                keep_going: seed % 2 == 0,
                ..question
            };
            question.assert_same(&source, &format!("seed {seed}"));
            let question = Question {
                checks: NO_CHECKS,
                ..question
            };
            question.assert_same(&source, &format!("seed {seed}, without checks"));
            question.assert_same_if_taken_up(&source, &format!("seed {seed}, taken up"));
        }
    }
}

#[test]
fn searches_that_are_stopped_again_and_again_count_the_same() {
    for engine in ENGINES {
        assert_counts_the_same_if_stopped(
            engine,
            &source(|| raddle_testing::samples::fib_bench(4)),
        );
    }
}

#[test]
fn samples_that_are_taken_up_have_the_same_counts() {
    for question in questions() {
        for (name, source) in samples() {
            question.assert_same_if_taken_up(&source, name);
        }
    }
}

#[test]
fn generated_programs_that_wait_do_as_well() {
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 40) {
        let spinning = source(move || generate(seed, &GenOptions::spinning()));
        let caching = source(move || crate::spinning::caching(seed));
        for question in questions() {
            let minding_races = Question {
                keep_going: true,
                checks: Checks {
                    races: true,
                    uninit: false,
                    ..Checks::default()
                },
                ..question
            };
            minding_races.assert_same(&spinning, &format!("seed {seed}"));
            let checks = NO_CHECKS;
            let question = Question { checks, ..question };
            question.assert_same(&caching, &format!("caching, seed {seed}"));
            question.assert_same_if_taken_up(&caching, &format!("caching, seed {seed}, taken up"));
        }
    }
}

/// Where an iteration is complete is told by what its thread did: which edges of the automata were walked before, by whomever, does not matter.
#[test]
fn what_was_walked_before_does_not_matter_to_threads_that_wait() {
    let first = number("FIRST", 0);
    let seeds = (first..first + number("COUNT", 150)).chain([1125]);
    for seed in seeds {
        let source = source(move || crate::spinning::caching(seed));
        let by_dpor = |program: &mut Program| {
            let options = SearchOptions {
                checks: NO_CHECKS,
                ..SearchOptions::default()
            };
            let it = check_in_pieces(program, EngineKind::Dpor, None, options).statistics;
            (it.complete, it.blocked, it.blocked_by, it.max_events)
        };
        let alone = by_dpor(&mut program(&source));
        for (engine, executions) in [(EngineKind::Rf, 3), (EngineKind::Graph, 9)] {
            let mut walked = program(&source);
            let options = SearchOptions {
                checks: NO_CHECKS,
                limits: Limits {
                    executions: Some(executions),
                    ..Limits::default()
                },
                ..SearchOptions::default()
            };
            // What it says does not matter, only what it has walked.
            let _ = check_in_pieces(&mut walked, engine, None, options);
            assert_eq!(by_dpor(&mut walked), alone, "seed {seed}, after {engine:?}");
        }
    }
}
