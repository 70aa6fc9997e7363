//! Random small programs: no engine that explores may contradict another. `bmc` encodes modules, and these programs are built; `mutants` and the tests of
//! `raddle-bmc` compare it.
//!
//! The first seeds of each family are run with the other tests, and so is every seed that once failed: `tests/corpus/generated.txt` names those.
//! `cargo xtask fuzz SECONDS` tries new ones, makes what fails as small as it can be, and adds its seed there.

use raddle_program::Program;
use raddle_report::words::violation_kind;
use raddle_search::{Check, EngineKind, MemoryModel, Outcome, SearchOptions, Verdict, check};
use raddle_testing::builder::BuiltProgram;
use raddle_testing::generate::{C11Options, GenOptions, Generated, generated, generated_c11};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// Programs of one kind, and what must hold for each of them.
#[derive(Clone, Copy)]
struct Family {
    name: &'static str,
    generated: fn(u64) -> Generated,
    /// How many engines were compared, or what is wrong.
    compare: fn(&BuiltProgram) -> Result<usize, String>,
    /// The daily tests must not fail on one day and pass on another: they take so many seeds from 0 on.
    seeds: u64,
    /// So many engines are compared on them at least, on average.
    engines: u64,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "general",
        generated: |seed| generated(seed, &GenOptions::default()),
        compare: compare_all,
        seeds: 1000,
        engines: 7,
    },
    Family {
        name: "spinning",
        generated: |seed| generated(seed, &GenOptions::spinning()),
        compare: compare_spinning,
        seeds: 300,
        engines: 4,
    },
    Family {
        name: "c11",
        generated: |seed| generated_c11(seed, &C11Options::default()),
        compare: compare_models,
        seeds: 300,
        engines: 2,
    },
];

/// The verdict as far as all engines must agree on it. Which violation is found first is their own choice, so all are
/// looked for; what counts is the set of kinds.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Violations(BTreeSet<&'static str>),
    Verified,
    /// The engine does not take such programs.
    Refused,
    Other(String),
}

impl Answer {
    fn violations(self) -> BTreeSet<&'static str> {
        match self {
            Self::Violations(kinds) => kinds,
            _ => BTreeSet::new(),
        }
    }
}

fn answer(outcome: &Outcome) -> Answer {
    match &outcome.verdict {
        Verdict::Violation(violations) => {
            let kinds = violations.iter().map(|it| violation_kind(&it.kind));
            Answer::Violations(kinds.collect())
        }
        Verdict::Verified(_) => Answer::Verified,
        Verdict::Unsupported(_) => Answer::Refused,
        // Whatever is given up is not begun.
        other => Answer::Other(format!("{other:?}")),
    }
}

fn run(built: &BuiltProgram, engine: EngineKind, memory: MemoryModel) -> Result<Outcome, String> {
    let options = SearchOptions {
        memory,
        keep_going: true,
        ..SearchOptions::default()
    };
    let mut program: Program = built.program();
    check(&mut program, engine, options).map_err(|error| format!("{engine:?}: {error}"))
}

/// Does an engine say what is expected? What comes of a data race is not defined, and `graph` does not go after all of it: the race is what it must find then.
fn is_as(expected: &Answer, engine: EngineKind, found: &Answer) -> bool {
    match (expected, found) {
        (Answer::Violations(all), Answer::Violations(some))
            if engine == EngineKind::Graph && all.contains("race") =>
        {
            some.contains("race") && some.is_subset(all)
        }
        _ => expected == found,
    }
}

/// All of these say the same; those that refuse programs may refuse this one.
fn agree(
    built: &BuiltProgram,
    engines: impl Iterator<Item = EngineKind>,
) -> Result<Vec<(EngineKind, Outcome)>, String> {
    let mut outcomes: Vec<(EngineKind, Outcome)> = Vec::new();
    for engine in engines {
        let outcome = run(built, engine, MemoryModel::Sc)?;
        let found = answer(&outcome);
        // What it found besides is compared where it ran everything.
        let refuses = found == Answer::Refused || !outcome.unsupported().is_empty();
        if refuses && !engine.handles_everything(MemoryModel::Sc) {
            continue;
        }
        let expected = outcomes.first().map(|(first, it)| (*first, answer(it)));
        if let Some((first, expected)) = expected
            && !is_as(&expected, engine, &found)
        {
            return Err(format!("{first:?}: {expected:?}, {engine:?}: {found:?}"));
        }
        outcomes.push((engine, outcome));
    }
    Ok(outcomes)
}

/// Every engine that explores, under sequential consistency; and `dpor` does not need more executions than `naive`.
fn compare_all(built: &BuiltProgram) -> Result<usize, String> {
    let all = EngineKind::ALL.iter().copied();
    let finds_races = |engine: &EngineKind| engine.explores() && engine.makes(Check::Race);
    let outcomes = agree(built, all.filter(finds_races))?;
    let count = |wanted| {
        let found = outcomes.iter().find(|(engine, _)| *engine == wanted);
        let statistics = &found.expect("it explores").1.statistics;
        statistics.complete + statistics.blocked
    };
    let (naive, dpor) = (count(EngineKind::Naive), count(EngineKind::Dpor));
    match dpor <= naive {
        true => Ok(outcomes.len()),
        false => Err(format!("dpor explores {dpor} executions of {naive}")),
    }
}

/// Those that know what it is to wait in a loop: the others would do so for ever.
fn compare_spinning(built: &BuiltProgram) -> Result<usize, String> {
    let all = EngineKind::ALL.iter().copied();
    let outcomes = agree(built, all.filter(|engine| engine.knows_purity()))?;
    Ok(outcomes.len())
}

/// What goes wrong under sequential consistency goes wrong under the memory model of the language, too.
fn compare_models(built: &BuiltProgram) -> Result<usize, String> {
    let strong = answer(&run(built, EngineKind::Dpor, MemoryModel::Sc)?);
    let outcome = run(built, EngineKind::Graph, MemoryModel::C11)?;
    let weak = answer(&outcome);
    if weak == Answer::Refused || !outcome.unsupported().is_empty() {
        return Ok(1);
    }
    let (strong, weak) = (strong.violations(), weak.violations());
    let is_racy = strong.contains("race") && weak.contains("race");
    match is_racy || strong.is_subset(&weak) {
        true => Ok(2),
        false => Err(format!("sc has {strong:?}, c11 has {weak:?}")),
    }
}

impl Family {
    /// Panics count as failures.
    fn compare(&self, built: &BuiltProgram) -> Result<usize, String> {
        let compared = catch_unwind(AssertUnwindSafe(|| (self.compare)(built)));
        compared.unwrap_or_else(|_| Err("an engine panics".to_owned()))
    }

    /// What is wrong with the program of a seed, and the smallest one that is left of it.
    fn failure(&self, seed: u64, what: &str) -> String {
        let shrunk = (self.generated)(seed).shrunk(|built| self.compare(built).is_err());
        let left = shrunk.program();
        let why = self.compare(&left).err().unwrap_or_default();
        let mut text = format!("{} {seed}: {what}\n", self.name);
        let _ = write!(text, "what is left of it after shrinking: {why}\n{left}");
        text
    }

    /// How many engines were compared on the program of a seed.
    fn try_seed(&self, seed: u64) -> usize {
        match self.compare(&(self.generated)(seed).program()) {
            Ok(engines) => engines,
            Err(what) => panic!("{}", self.failure(seed, &what)),
        }
    }
}

/// Where seeds are kept that once failed.
fn corpus() -> PathBuf {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    own.join("../../tests/corpus/generated.txt")
}

#[test]
fn engines_agree_on_random_programs() {
    if std::env::var_os("RADDLE_FUZZ_SECONDS").is_some() {
        return;
    }
    for family in FAMILIES {
        let engines: usize = (0..family.seeds).map(|seed| family.try_seed(seed)).sum();
        println!("{}: {} programs", family.name, family.seeds);
        let least = family.seeds * family.engines;
        assert!(engines as u64 >= least, "{}: {engines} only", family.name);
    }
}

/// What failed once does not fail again.
#[test]
fn engines_agree_on_the_corpus() {
    let text = std::fs::read_to_string(corpus()).expect("it is part of the repository");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (Some(name), Some(seed)) = (words.next(), words.next()) else {
            panic!("not a family and a seed: {line}");
        };
        let family = FAMILIES.iter().find(|family| family.name == name);
        let family = family.unwrap_or_else(|| panic!("no such family: {line}"));
        family.try_seed(seed.parse().expect("seeds are numbers"));
    }
}

/// As many new ones as there is time for.
#[test]
fn engines_agree_on_new_programs() {
    let Ok(seconds) = std::env::var("RADDLE_FUZZ_SECONDS") else {
        return;
    };
    let time = Duration::from_secs(seconds.parse().expect("a number of seconds"));
    let now = SystemTime::UNIX_EPOCH.elapsed();
    let first = now.map_or(0, |now| now.as_secs()) << 20;
    let start = Instant::now();
    let mut seed = first;
    let mut failures = Vec::new();
    while start.elapsed() < time {
        for family in FAMILIES {
            if let Err(what) = family.compare(&(family.generated)(seed).program()) {
                eprintln!("{}", family.failure(seed, &what));
                failures.push(format!("{} {seed} {}\n", family.name, first_line(&what)));
            }
        }
        seed += 1;
    }
    println!("{} programs, from seed {first} on", seed - first);
    if !failures.is_empty() {
        let mut text = std::fs::read_to_string(corpus()).expect("it is part of the repository");
        text.extend(failures.iter().map(String::as_str));
        std::fs::write(corpus(), text).expect("it can be written");
        panic!(
            "{} programs fail: they are in the corpus now",
            failures.len()
        );
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A program that fails is shown as small as it can be.
#[test]
fn what_fails_is_made_small() {
    let family = Family {
        compare: |built| match built.to_string().contains("unlock") {
            true => Err("it unlocks".to_owned()),
            false => Ok(1),
        },
        ..FAMILIES[0]
    };
    let fails = |seed: &u64| {
        family
            .compare(&(family.generated)(*seed).program())
            .is_err()
    };
    let seed = (0..).find(fails).expect("some program unlocks");
    let told = family.failure(seed, "it unlocks");
    // Objects and threads that nothing happens to are shown, too: what happens is taking a mutex and giving it back.
    let does = |line: &&str| line.contains("= ") || line.contains("lock m");
    assert!(told.lines().filter(does).count() <= 3, "{told}");
}
