//! Random small programs: every engine that explores must give the same verdict, and `dpor` must not need more executions than
//! `naive`. `bmc` encodes modules, and these programs are built; `mutants` and the tests of `raddle-bmc` compare it.
//!
//! The first seeds are run with the other tests; `cargo xtask fuzz SECONDS` tries new ones.

use raddle_report::words::violation_kind;
use raddle_search::{EngineKind, MemoryModel, Outcome, SearchOptions, Verdict, check};
use raddle_testing::generate::{GenOptions, generate};
use std::time::{Duration, Instant, SystemTime};

/// The verdict as far as all engines must agree on it. Which violation is found first is their own choice, so all are
/// looked for; what counts is the set of kinds.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Violations(Vec<&'static str>),
    Verified,
    Other(String),
}

fn answer(outcome: &Outcome) -> Answer {
    match &outcome.verdict {
        Verdict::Violation(violations) => {
            let mut kinds: Vec<_> = violations
                .iter()
                .map(|it| violation_kind(&it.kind))
                .collect();
            kinds.sort_unstable();
            kinds.dedup();
            Answer::Violations(kinds)
        }
        Verdict::Verified(_) => Answer::Verified,
        other => Answer::Other(format!("{other:?}")),
    }
}

fn compare(seed: u64) {
    let built = generate(seed, &GenOptions::default());
    let run = |engine| {
        let options = SearchOptions {
            keep_going: true,
            ..SearchOptions::default()
        };
        check(&mut built.program(), engine, options)
            .unwrap_or_else(|error| panic!("seed {seed}, {engine:?}: {error}\n{built}"))
    };
    let outcomes: Vec<(EngineKind, Outcome)> = EngineKind::exploring(MemoryModel::Sc)
        .map(|engine| (engine, run(engine)))
        .collect();
    let of = |wanted| {
        let found = outcomes.iter().find(|(engine, _)| *engine == wanted);
        &found.expect("it explores").1
    };
    let (naive, dpor) = (of(EngineKind::Naive), of(EngineKind::Dpor));
    for (engine, outcome) in &outcomes {
        assert_eq!(
            answer(outcome),
            answer(naive),
            "seed {seed}, {engine:?}\n{built}"
        );
    }
    let count = |outcome: &Outcome| outcome.statistics.complete + outcome.statistics.blocked;
    assert!(
        count(dpor) <= count(naive),
        "seed {seed}: dpor explores {} executions of {}\n{built}",
        count(dpor),
        count(naive)
    );
}

/// The daily tests must not fail on one day and pass on another: they take these seeds.
const SEEDS: u64 = 1000;

#[test]
fn engines_agree_on_random_programs() {
    let Ok(seconds) = std::env::var("RADDLE_FUZZ_SECONDS") else {
        return (0..SEEDS).for_each(compare);
    };
    let time = Duration::from_secs(seconds.parse().expect("a number of seconds"));
    let first = SystemTime::UNIX_EPOCH
        .elapsed()
        .map_or(0, |now| now.as_secs())
        << 20;
    let start = Instant::now();
    let mut seed = first;
    while start.elapsed() < time {
        compare(seed);
        seed += 1;
    }
    println!("{} programs, from seed {first} on", seed - first);
}
