//! Random programs whose threads wait in loops, for mutexes and behind assumptions: `bmc` must find a deadlock where `dpor` does.
//! It may have no answer, where a loop turns while a mutex is held; but not a wrong one.

use raddle_bmc::BmcOptions;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_random::Random32 as Rng;
use raddle_search::driver::SearchOptions;
use raddle_search::{Checks, EngineKind, Verdict};
use std::fmt::Write;

const FLAGS: [&str; 2] = ["@x", "@y"];
const MUTEXES: [&str; 2] = ["@m", "@n"];

/// A loop that goes on as long as `condition`, which `lines` compute.
fn waiting(text: &mut String, name: &str, lines: &str, condition: &str) {
    writeln!(
        text,
        "  br label %loop{name}\nloop{name}:\n{lines}  br i1 {condition}, label %loop{name}, label %out{name}\nout{name}:"
    )
    .expect("strings can be written");
}

/// One thing that a thread does. `name` makes its registers its own.
fn piece(rng: &mut Rng, name: &str) -> String {
    let flag = FLAGS[rng.below(2) as usize];
    let mutex = MUTEXES[rng.below(2) as usize];
    let value = rng.below(2);
    let mut text = String::new();
    match rng.below(8) {
        0 | 1 => writeln!(
            text,
            "  store atomic i32 {value}, ptr {flag} seq_cst, align 4"
        )
        .expect("strings can be written"),
        2 => {
            let lines = format!(
                "  %v{name} = load atomic i32, ptr {flag} seq_cst, align 4\n  %c{name} = icmp ne i32 %v{name}, {value}\n"
            );
            waiting(&mut text, name, &lines, &format!("%c{name}"));
        }
        3 => {
            let lines = format!(
                "  %v{name} = atomicrmw xchg ptr {flag}, i32 1 seq_cst\n  %c{name} = icmp ne i32 %v{name}, 0\n"
            );
            waiting(&mut text, name, &lines, &format!("%c{name}"));
        }
        4 | 5 => {
            let lines = format!(
                "  %v{name} = call i32 @pthread_mutex_trylock(ptr {mutex})\n  %c{name} = icmp ne i32 %v{name}, 0\n"
            );
            waiting(&mut text, name, &lines, &format!("%c{name}"));
            if rng.below(100) < 60 {
                writeln!(
                    text,
                    "  %u{name} = call i32 @pthread_mutex_unlock(ptr {mutex})"
                )
                .expect("strings can be written");
            }
        }
        6 => {
            writeln!(
                text,
                "  %v{name} = call i32 @pthread_mutex_lock(ptr {mutex})\n  store atomic i32 {value}, ptr {flag} seq_cst, align 4\n  %u{name} = call i32 @pthread_mutex_unlock(ptr {mutex})"
            )
            .expect("strings can be written");
        }
        _ => {
            writeln!(
                text,
                "  %v{name} = load atomic i32, ptr {flag} seq_cst, align 4\n  call void @__VERIFIER_assume(i32 %v{name})"
            )
            .expect("strings can be written");
        }
    }
    text
}

fn generate(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = String::from(
        "@x = global i32 0, align 4
@y = global i32 0, align 4
@m = global [40 x i8] zeroinitializer, align 8
@n = global [40 x i8] zeroinitializer, align 8
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_trylock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare void @__VERIFIER_assume(i32)
",
    );
    let threads = 2 + rng.below(2);
    for me in 0..threads {
        writeln!(text, "define ptr @t{me}(ptr %a) {{\nentry:").expect("strings can be written");
        for at in 0..1 + rng.below(3) {
            text.push_str(&piece(&mut rng, &at.to_string()));
        }
        text.push_str("  ret ptr null\n}\n");
    }
    text.push_str("define i32 @main() {\n  %h = alloca i64, align 8\n");
    for me in 0..threads {
        writeln!(
            text,
            "  %c{me} = call i32 @pthread_create(ptr %h, ptr null, ptr @t{me}, ptr null)"
        )
        .expect("strings can be written");
    }
    text.push_str("  ret i32 0\n}\n");
    text
}

fn parse(text: &str) -> raddle_ir::Module {
    raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed")
}

fn search() -> SearchOptions {
    SearchOptions {
        checks: Checks {
            races: false,
            ..Checks::default()
        },
        ..SearchOptions::default()
    }
}

fn program(text: &str) -> raddle_program::Program {
    Interpreter::load(parse(text), InterpOptions::default()).expect("it has a main")
}

fn by_formula(text: &str) -> Verdict {
    let looked_at = InterpOptions {
        unroll: Some(1),
        ..InterpOptions::default()
    };
    let view = View::new(parse(text), looked_at).expect("it has a main");
    let options = BmcOptions {
        threads: None,
        memory: search().memory,
        unroll: None,
        exit_with_main: false,
        spurious_wakeups: false,
        spurious_failures: raddle_program::interp::SpuriousFailures::None,
        any_unwritten: false,
        silent_abort: false,
        effort: Some(20_000),
        may_be_large: false,
        patience: raddle_bmc::PATIENCE,
    };
    match raddle_bmc::check(view, &mut program(text), options, search()) {
        Ok(outcome) => outcome.verdict,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn threads_that_wait_in_loops_for_good_are_found() {
    let [mut deadlocks, mut verified, mut open] = [0; 3];
    let first = number("RADDLE_PROPTEST_SEED", 0);
    for seed in first..first + number("RADDLE_PROPTEST_CASES", 600) {
        let text = generate(seed);
        let explored = raddle_search::check(&mut program(&text), EngineKind::Dpor, search());
        let explored = explored.expect("violations are reproduced").verdict;
        let is_fine = |verdict: &Verdict| match verdict {
            Verdict::Verified(_) => true,
            Verdict::Violation(_) => false,
            other => panic!("seed {seed}: {other:?}\n{text}"),
        };
        let found = by_formula(&text);
        if matches!(found, Verdict::Inconclusive(_)) {
            open += 1;
            continue;
        }
        assert_eq!(is_fine(&found), is_fine(&explored), "seed {seed}\n{text}");
        verified += u32::from(is_fine(&found));
        deadlocks += u32::from(!is_fine(&found));
    }
    println!("{deadlocks} deadlocks, {verified} verified, {open} open");
    assert!(verified > deadlocks / 20, "{verified} verified");
    assert!(deadlocks > verified / 20, "{deadlocks} deadlocks");
    assert!(open < verified + deadlocks, "{open} open");
}
