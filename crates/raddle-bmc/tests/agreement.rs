//! Random programs, written as LLVM IR: `bmc` must say what the enumeration of all executions says, under every memory model.

mod generate;

use generate::{Shape, generate};
use raddle_bmc::BmcOptions;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_search::driver::{Limits, SearchOptions};
use raddle_search::{Checks, EngineKind, MemoryModel, Verdict};

/// Programs with more executions are left out.
const MOST_EXECUTIONS: u64 = 30_000;

fn checks() -> Checks {
    Checks {
        races: false,
        ..Checks::default()
    }
}

/// What both engines must agree on.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Verified,
    Violation,
    /// The other engine gave up.
    Unknown,
}

fn answer(verdict: &Verdict) -> Answer {
    match verdict {
        Verdict::Verified(_) => Answer::Verified,
        Verdict::Violation(_) => Answer::Violation,
        Verdict::Inconclusive(_) | Verdict::Unsupported { .. } => Answer::Unknown,
    }
}

fn by_enumeration(text: &str, memory: MemoryModel) -> Answer {
    let module = raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed");
    let mut program = Interpreter::load(module, InterpOptions::default()).expect("it has a main");
    let options = SearchOptions {
        checks: checks(),
        memory,
        limits: Limits {
            executions: Some(MOST_EXECUTIONS),
            ..Limits::default()
        },
        ..SearchOptions::default()
    };
    let outcome = raddle_search::check(&mut program, EngineKind::Naive, options);
    answer(&outcome.expect("violations are reproduced").verdict)
}

fn by_formula(text: &str, memory: MemoryModel) -> Answer {
    let parse = || raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed");
    let looked_at = InterpOptions {
        unroll: Some(1),
        ..InterpOptions::default()
    };
    let view = View::new(parse(), looked_at).expect("it has a main");
    let replayed = InterpOptions {
        wide_choices: true,
        ..InterpOptions::default()
    };
    let mut program = Interpreter::load(parse(), replayed).expect("it has a main");
    let options = BmcOptions {
        memory,
        unroll: None,
        exit_with_main: false,
        silent_abort: false,
    };
    let search = SearchOptions {
        checks: checks(),
        memory,
        ..SearchOptions::default()
    };
    let outcome = match raddle_bmc::check(view, &mut program, options, search) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{error} under {}\n{text}", memory.name()),
    };
    if let Verdict::Unsupported { what, .. } = &outcome.verdict {
        panic!("{what:?}\n{text}");
    }
    answer(&outcome.verdict)
}

fn compare(shape: Shape, seeds: std::ops::Range<u64>) {
    let (mut violations, mut compared) = (0, 0);
    for seed in seeds {
        let text = generate(seed, shape);
        for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
            let expected = by_enumeration(&text, memory);
            if expected == Answer::Unknown {
                continue;
            }
            let found = by_formula(&text, memory);
            assert_eq!(
                found,
                expected,
                "seed {seed} under {}\n{text}",
                memory.name()
            );
            compared += 1;
            violations += u32::from(expected == Answer::Violation);
        }
    }
    assert!(compared > 0 && violations > 0 && violations < compared);
}

/// More of them by hand: `RADDLE_PROPTEST_CASES=2000 cargo test --release -p raddle-bmc`.
fn cases(usual: u64) -> u64 {
    let wanted = std::env::var("RADDLE_PROPTEST_CASES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn accesses_and_branches() {
    compare(Shape::PLAIN, 0..cases(60));
}

#[test]
fn locks_and_blocks() {
    compare(Shape::LOCKS, 0..cases(60));
}

#[test]
fn loops_arrays_and_pointers() {
    compare(Shape::DATA, 0..cases(60));
}
