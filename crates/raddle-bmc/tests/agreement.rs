//! Random programs, written as LLVM IR: `bmc` must say what the enumeration of all executions says, under every memory model.

mod generate;

use generate::{Shape, generate};
use raddle_bmc::{BmcOptions, ProofFile};
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_proof::{Failure, Summary};
use raddle_search::driver::{Limits, SearchOptions};
use raddle_search::{Bound, Checks, EngineKind, MemoryModel, Outcome, Reason, Verdict};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Programs with more executions are left out.
const MOST_EXECUTIONS: u64 = 30_000;

const BUT_RACES: Checks = Checks {
    assertions: true,
    memory: true,
    races: false,
    deadlocks: true,
    livelocks: false,
    overflows: false,
    uninit: false,
    only_error_calls: false,
};
/// What is wrong otherwise is not to hide races.
const RACES: Checks = Checks {
    races: true,
    deadlocks: false,
    ..BUT_RACES
};
const ALL: Checks = Checks {
    races: true,
    ..BUT_RACES
};

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
        Verdict::Verified(_) | Verdict::Inconclusive(Reason::NothingEnds { bound: None }) => {
            Answer::Verified
        }
        Verdict::Violation(_) => Answer::Violation,
        Verdict::Inconclusive(_) | Verdict::Unsupported(_) => Answer::Unknown,
    }
}

fn by_enumeration(text: &str, memory: MemoryModel, checks: Checks) -> Answer {
    let module = raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed");
    let mut program = Interpreter::load(module, InterpOptions::default()).expect("it has a main");
    let options = SearchOptions {
        checks,
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

fn by_formula(text: &str, memory: MemoryModel, checks: Checks) -> Answer {
    let outcome = solved(text, memory, checks, None);
    if let Verdict::Unsupported(beyond) = &outcome.verdict
        && checks.memory
    {
        panic!("{:?}\n{text}", beyond[0].what);
    }
    answer(&outcome.verdict)
}

fn solved(text: &str, memory: MemoryModel, checks: Checks, effort: Option<u64>) -> Outcome {
    proved(text, memory, checks, effort, None)
}

fn proved(
    text: &str,
    memory: MemoryModel,
    checks: Checks,
    effort: Option<u64>,
    proof: Option<ProofFile>,
) -> Outcome {
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
        threads: None,
        memory,
        unroll: None,
        exit_with_main: false,
        spurious_wakeups: false,
        spurious_failures: raddle_program::interp::SpuriousFailures::None,
        any_unwritten: false,
        silent_abort: false,
        effort,
        may_be_large: false,
        patience: raddle_bmc::PATIENCE,
    };
    let search = SearchOptions {
        checks,
        memory,
        ..SearchOptions::default()
    };
    match raddle_bmc::check_with(view, &mut program, options, search, None, proof) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{error} under {}\n{text}", memory.name()),
    }
}

/// What is wrong with synchronisation objects is found by a second opinion as well.
#[test]
fn an_opinion_on_misuse() {
    let main = |calls: &str| {
        format!(
            "@c = global [12 x i32] zeroinitializer\n\
             declare i32 @pthread_cond_init(ptr, ptr)\n\
             declare i32 @pthread_cond_destroy(ptr)\n\
             define i32 @main() {{\n{calls}  ret i32 0\n}}\n"
        )
    };
    let made = "  call i32 @pthread_cond_init(ptr @c, ptr null)\n";
    let destroyed = "  call i32 @pthread_cond_destroy(ptr @c)\n";
    let opinion = |calls: &str| solved(&main(calls), MemoryModel::Sc, ALL, Some(1000)).verdict;
    let once = format!("{made}{destroyed}{made}");
    assert_eq!(opinion(&once), Verdict::Verified(Bound::Complete));
    let twice = format!("{made}{destroyed}{destroyed}");
    assert_eq!(answer(&opinion(&twice)), Answer::Violation);
}

const MODELS: [MemoryModel; 3] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso];

fn compare(shape: Shape, checks: Checks, seeds: std::ops::Range<u64>) {
    compare_under(&MODELS, shape, checks, seeds);
}

fn compare_under(
    models: &[MemoryModel],
    shape: Shape,
    checks: Checks,
    seeds: std::ops::Range<u64>,
) {
    let (mut violations, mut compared) = (0, 0);
    for seed in seeds {
        let text = generate(seed, shape);
        for &memory in models {
            let expected = by_enumeration(&text, memory, checks);
            if expected == Answer::Unknown {
                continue;
            }
            let found = by_formula(&text, memory, checks);
            if found == Answer::Unknown && !checks.memory {
                continue;
            }
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
    println!("{violations} violations in {compared} programs");
    assert!(compared > 0 && violations > 0 && violations < compared);
}

/// More of them by hand: `RADDLE_PROPTEST_CASES=2000 cargo test --release -p raddle-bmc`.
fn cases(usual: u64) -> u64 {
    let wanted = std::env::var("RADDLE_PROPTEST_CASES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn accesses_and_branches() {
    compare(Shape::PLAIN, BUT_RACES, 0..cases(60));
}

#[test]
fn locks_and_blocks() {
    compare(Shape::LOCKS, BUT_RACES, 0..cases(60));
}

#[test]
fn loops_arrays_and_pointers() {
    compare(Shape::DATA, BUT_RACES, 0..cases(60));
}

#[test]
fn races_of_any_accesses() {
    compare(Shape::LOCKS, ALL, 0..cases(60));
}

#[test]
fn data_that_is_handed_over() {
    compare(Shape::RACES, RACES, 0..cases(150));
}

#[test]
fn accesses_of_several_sizes() {
    compare(Shape::MIXED, RACES, 0..cases(100));
}

#[test]
fn halves_of_words() {
    compare(Shape::HALVES, BUT_RACES, 0..cases(100));
    compare(Shape::HALVES_OF_SOME, BUT_RACES, 0..cases(60));
}

#[test]
fn data_that_threads_wait_for() {
    compare(Shape::WAITS, RACES, 0..cases(150));
}

#[test]
fn threads_that_are_joined_sometimes() {
    compare(Shape::SOME_JOINED, RACES, 0..cases(60));
}

#[test]
fn objects_that_are_misused() {
    compare(Shape::MISUSES, BUT_RACES, 0..cases(100));
    compare(Shape::MISUSES, RACES, 0..cases(100));
}

/// A thread that misuses an object goes no further, and the object is what it was.
#[test]
fn misuse_that_is_not_looked_for() {
    let but_misuse = Checks {
        memory: false,
        ..BUT_RACES
    };
    compare(Shape::MISUSES, but_misuse, 0..cases(100));
}

#[test]
fn memory_that_is_freed() {
    compare(Shape::FREES, RACES, 0..cases(100));
    let only_races = Checks {
        memory: false,
        ..RACES
    };
    compare_under(&[MemoryModel::Sc], Shape::FREES, only_races, 0..cases(100));
}

/// Memory that two can write to.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The proof that nothing is wrong, if nothing is.
fn proof_of(text: &str, memory: MemoryModel, checks: Checks) -> Option<String> {
    let buffer = Buffer::default();
    let file = ProofFile::new(buffer.clone());
    let outcome = proved(text, memory, checks, None, Some(file));
    let proof = buffer.0.lock().unwrap().clone();
    matches!(outcome.verdict, Verdict::Verified(_)).then(|| String::from_utf8(proof).unwrap())
}

fn judged(proof: &str) -> Result<Summary, Failure> {
    raddle_proof::check(proof.as_bytes(), || false)
}

/// What is verified has a proof that holds; where a literal of a clause that was learnt is another one, or an event of a cycle, most
/// proofs do not hold any more.
#[test]
fn proofs_are_valid() {
    let shapes = [
        (Shape::PLAIN, BUT_RACES),
        (Shape::LOCKS, ALL),
        (Shape::DATA, BUT_RACES),
        (Shape::RACES, RACES),
        (Shape::HALVES, BUT_RACES),
        (Shape::WAITS, RACES),
    ];
    let (mut valid, mut lemmas, mut learnt, mut spoilt, mut refused) = (0, 0, 0, 0, 0);
    for seed in 0..cases(30) {
        let (shape, checks) = shapes[seed as usize % shapes.len()];
        let text = generate(seed, shape);
        for memory in MODELS {
            let Some(proof) = proof_of(&text, memory, checks) else {
                continue;
            };
            match judged(&proof) {
                Ok(summary) => {
                    valid += 1;
                    lemmas += summary.lemmas;
                    learnt += summary.learnt;
                    assert!(summary.is_complete && summary.formulas > 0);
                }
                Err(why) => panic!("seed {seed} under {}: {why:?}\n{text}", memory.name()),
            }
            for (at, line) in proof
                .lines()
                .enumerate()
                .filter(|(_, line)| line.starts_with(['l', 't']))
            {
                let Some(other) = another(line) else { continue };
                let mut lines: Vec<&str> = proof.lines().collect();
                lines[at] = &other;
                spoilt += 1;
                refused += u32::from(judged(&lines.join("\n")).is_err());
                break;
            }
        }
    }
    println!(
        "{valid} proofs with {lemmas} lemmas and {learnt} learnt clauses; {refused} of {spoilt} refused"
    );
    assert!(valid > 10 && lemmas > 0 && learnt > 0);
    assert!(spoilt > 0 && 2 * refused > spoilt);
}

/// The line with another literal, or a lemma with another cycle.
fn another(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    if words[0] == "t" {
        words.pop();
    } else if words.len() > 2 {
        words[1] = match words[1].strip_prefix('-') {
            Some(number) => number.to_owned(),
            None => format!("-{}", words[1]),
        };
    } else {
        return None;
    }
    Some(words.join(" "))
}

/// Bounds, and what is verified up to one, have proofs.
#[test]
fn a_proof_rests_on_every_bound() {
    let text = "@x = global i32 0\n\
                declare i32 @__VERIFIER_nondet_int()\n\
                define i32 @main() {\n\
                entry:\n  br label %head\n\
                head:\n  %i = phi i32 [0, %entry], [%next, %body]\n  %n = call i32 @__VERIFIER_nondet_int()\n\
                \x20 %more = icmp slt i32 %i, 5\n  %wanted = icmp sgt i32 %n, 0\n  %on = and i1 %more, %wanted\n\
                \x20 br i1 %on, label %body, label %done\n\
                body:\n  %next = add i32 %i, 1\n  store i32 %next, ptr @x\n  br label %head\n\
                done:\n  ret i32 0\n}\n";
    let proof = proof_of(text, MemoryModel::Sc, BUT_RACES).expect("nothing is wrong");
    let summary = judged(&proof).expect("valid");
    assert!(summary.formulas > 1, "{summary:?}");
    // Without the answer to one question of the first formula there is no proof.
    let lines = proof.lines().filter(|line| !line.starts_with("n race"));
    let without: Vec<&str> = lines.collect();
    assert!(judged(&without.join("\n")).is_err());
}
