//! The answer does not depend on the number of workers.

use crate::parallel::tests::{NO_CHECKS, Question, number, samples, sc, source};
use crate::verdict::{Checks, EngineKind};
use raddle_testing::generate::{Features, GenOptions, generate};

fn question() -> Question {
    Question {
        engine: EngineKind::Rf,
        ..sc()
    }
}

#[test]
fn samples_have_the_same_counts_with_any_number_of_workers() {
    for (name, source) in samples() {
        question().assert_same(&source, name);
    }
}

#[test]
fn generated_programs_have_the_same_answers_with_any_number_of_workers() {
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 40) {
        let options = GenOptions {
            features: Features::ALL,
            ..GenOptions::default()
        };
        let source = source(move || generate(seed, &options));
        let question = Question {
            keep_going: seed % 2 == 0,
            ..question()
        };
        question.assert_same(&source, &format!("seed {seed}"));
        let question = Question {
            checks: NO_CHECKS,
            ..question
        };
        question.assert_same(&source, &format!("seed {seed}, without checks"));
    }
}

#[test]
fn generated_programs_that_wait_do_as_well() {
    let first = number("FIRST", 0);
    for seed in first..first + number("COUNT", 40) {
        let source = source(move || generate(seed, &GenOptions::spinning()));
        let question = Question {
            keep_going: true,
            checks: Checks {
                races: true,
                uninit: false,
                ..Checks::default()
            },
            ..question()
        };
        question.assert_same(&source, &format!("seed {seed}"));
    }
    for seed in first..first + number("COUNT", 40) {
        let source = source(move || crate::spinning::caching(seed));
        let question = Question {
            checks: NO_CHECKS,
            ..question()
        };
        question.assert_same(&source, &format!("caching, seed {seed}"));
    }
}
