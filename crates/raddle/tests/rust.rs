//! Programs in Rust, with the standard library. What they print depends on how that is written, which changes from version to
//! version: these tests look at answers and at the user's own lines.

mod common;

use common::{Scratch, raddle, says};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/rust")
}

fn check(program: &str) -> (Option<i32>, Value) {
    let output = common::check(&programs().join(program), &["--format", "json"]);
    let answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{program}: {error}: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    (output.status.code(), answer)
}

#[test]
fn a_correct_program_is_verified() {
    let (status, answer) = check("counter.rs");
    assert_eq!(status, Some(0), "{answer}");
    assert_eq!(answer["verdict"], "verified");
    assert_eq!(answer["complete"], true);
    assert_eq!(answer["threads"], 2);
}

#[test]
fn a_failed_assertion_is_a_panic_in_the_line_that_the_user_wrote() {
    let (status, answer) = check("lost_update.rs");
    assert_eq!(status, Some(1), "{answer}");
    let violation = &answer["violation"];
    assert_eq!(violation["kind"], "panic");
    assert_eq!(violation["location"]["line"], 16);
    let message = violation["message"].as_str().unwrap();
    assert!(message.contains("COUNTER.load"), "{message}");
    let trace = violation["trace"].as_array().unwrap();
    let stores = trace
        .iter()
        .filter(|step| step["op"] == "store" && step["location"] == "COUNTER");
    let lines: Vec<&Value> = stores.map(|step| &step["at"]["line"]).collect();
    assert_eq!(lines, [9, 9]);
}

/// Each program in `panics` has its answer beside it: the verdict, and of a violation its kind and line, and then its text.
#[test]
fn panics_unwind_and_are_caught_or_not() {
    let mut programs: Vec<PathBuf> = std::fs::read_dir(programs().join("panics"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    programs.sort();
    assert!(
        programs.len() >= 18,
        "the programs are part of the repository"
    );
    for program in programs {
        let expected = std::fs::read_to_string(program.with_extension("rs.expected")).unwrap();
        let (first, text) = expected.split_once('\n').unwrap();
        let output = common::check(&program, &["--format", "json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let violation = &answer["violation"];
        let found = match answer["verdict"].as_str() {
            Some("violation") => format!(
                "violation {} {}",
                violation["kind"].as_str().unwrap(),
                violation["location"]["line"]
            ),
            verdict => verdict.unwrap_or_default().to_owned(),
        };
        assert_eq!(found, first, "{}: {answer}", program.display());
        let message = violation["message"].as_str().unwrap_or_default();
        assert!(
            message.starts_with(text.trim_end()),
            "{}: {message}",
            program.display()
        );
    }
}

#[test]
fn every_panic_may_be_a_violation() {
    let file = programs().join("panics/catch_unwind.rs");
    let output = common::check(&file, &["--panic", "any"]);
    says(
        &output,
        1,
        &["the thread panics: 3 is too large", "catch_unwind.rs:7"],
    );
}

#[test]
fn bmc_says_that_it_cannot_unwind() {
    let file = programs().join("panics/join_returns_err.rs");
    let output = common::check(&file, &["--engine", "bmc"]);
    says(&output, 2, &["this engine cannot follow", "--engine rf"]);
}

#[test]
fn a_bound_on_loops_is_not_for_those_of_the_library() {
    for bound in ["1", "10", "14"] {
        let args = ["--format", "json", "--unroll", bound];
        let output = common::check(&programs().join("lost_update.rs"), &args);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{bound}: {answer}");
        assert_eq!(answer["violation"]["kind"], "panic");
    }
}

#[test]
fn weak_orderings_are_the_librarys_or_the_users() {
    let (_, answer) = check("lost_update.rs");
    let weak = &answer["weak_orderings"];
    assert_eq!(weak["explored_as"], "seq_cst");
    assert_eq!(weak["in_user_code"], false, "{weak}");
    let (_, answer) = check("relaxed_flag.rs");
    let weak = &answer["weak_orderings"];
    assert_eq!(weak["in_user_code"], true, "{weak}");
    assert_eq!(answer["notes"][0]["kind"], "weak-orderings");
}

#[test]
fn condition_variables_wake_up_spuriously() {
    let (status, answer) = check("woken_for_nothing.rs");
    assert_eq!(status, Some(1), "{answer}");
    assert_eq!(answer["violation"]["kind"], "panic");
    assert_eq!(answer["violation"]["location"]["line"], 18);
    let file = programs().join("woken_for_nothing.rs");
    let output = common::check(&file, &["--format", "json", "--no-spurious-wakeups"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["verdict"], "verified");
    assert_eq!(answer["notes"][0]["kind"], "spurious-wakeups", "{answer}");
    // What checks again is right.
    let (status, answer) = check("waits_in_a_loop.rs");
    assert_eq!(status, Some(0), "{answer}");
}

#[test]
fn asserts_of_rust_are_known() {
    let scratch = Scratch::new("rust-asserts");
    let text = "fn check(x: u32) {\n    assert!(x < 10);\n    if x == 7 {\n        assert_eq!(x, 8);\n    }\n}\n\
                fn main() {\n    let t = std::thread::spawn(|| check(1));\n    t.join().unwrap();\n}\n";
    let file = scratch.file("asserts.rs", text);
    let output = common::check(&file, &["--format", "json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{answer}");
    let asserts = &answer["coverage"]["asserts"];
    assert_eq!(asserts["total"], 2, "{asserts}");
    assert_eq!(asserts["reached"], 1);
    assert_eq!(asserts["unreached"][0]["line"], 4);
}

#[test]
fn a_race_through_a_relaxed_flag_is_found() {
    let (status, answer) = check("relaxed_flag.rs");
    assert_eq!(status, Some(1), "{answer}");
    assert_eq!(answer["violation"]["kind"], "race");
    assert_eq!(answer["violation"]["location"]["line"], 24);
}

#[test]
fn waiting_with_a_limit_comes_to_an_end() {
    let (status, answer) = check("deadlines.rs");
    assert_eq!(status, Some(0), "{answer}");
}

#[test]
fn clocks_that_know_nothing_of_each_other_are_told() {
    let output = common::check(&programs().join("time_of_others.rs"), &[]);
    says(
        &output,
        1,
        &["note: a thread looks at its clock while time passes for another one"],
    );
    // Those of one thread are no matter.
    let output = common::check(&programs().join("deadlines.rs"), &[]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains("looks at its clock"), "{said}");
}

#[test]
fn a_thread_that_waits_for_ever_ends_with_main() {
    let (status, answer) = check("daemon.rs");
    assert_eq!(status, Some(0), "{answer}");
    let output = common::check(&programs().join("daemon.rs"), &["--on-main-return", "wait"]);
    says(&output, 1, &["deadlock", "`main` had returned"]);
}

#[test]
fn what_a_thread_does_before_main_returns_is_checked() {
    let (status, answer) = check("daemon_fails.rs");
    assert_eq!(status, Some(1), "{answer}");
    assert_eq!(answer["violation"]["kind"], "panic");
    assert_eq!(answer["violation"]["location"]["line"], 10);
}

#[test]
fn members_of_a_tuple_in_a_heap_block_have_names_of_their_own() {
    let (status, answer) = check("missed_notification.rs");
    assert_eq!(status, Some(1), "{answer}");
    assert_eq!(answer["violation"]["kind"], "deadlock");
    let places = |line: u64| {
        let trace = answer["violation"]["trace"].as_array().unwrap();
        let at_line = trace.iter().filter(move |step| step["at"]["line"] == line);
        at_line.filter_map(|step| step["location"].as_str())
    };
    // The mutex is the first member, the condition variable the second.
    let is_of = |member: &str, place: &str| {
        place.ends_with(&format!(".{member}")) || place.contains(&format!(".{member}."))
    };
    assert!(places(10).any(|place| is_of("0", place)));
    assert!(places(10).all(|place| !is_of("1", place)));
    assert!(places(11).any(|place| is_of("1", place)));
    assert!(places(11).all(|place| !is_of("0", place)));
}

#[test]
fn locks_go_by_the_variables_that_hold_them() {
    let output = common::check(&programs().join("accounts.rs"), &[]);
    says(
        &output,
        1,
        &[
            "T0 (main) waits to lock checking (",
            "T1 (payer) waits to lock savings (",
            ": lock savings",
            ": lock checking",
        ],
    );
    let text = String::from_utf8_lossy(&output.stdout);
    for inside in ["futex", "heap", "strong", "poison"] {
        assert!(!text.contains(inside), "{text}");
    }
}

#[test]
fn locks_for_reading_and_writing_are_told_of_in_their_words() {
    let output = common::check(&programs().join("std/rwlock_read_twice.rs"), &[]);
    says(
        &output,
        1,
        &[
            "T0 (main) waits to lock lock (line 10), held by this thread itself since step",
            "has queued up since step",
            ": lock lock for reading",
            "waits here",
        ],
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("spin"), "{text}");
}

#[test]
fn what_is_done_to_condition_variables_is_said_in_their_words() {
    let output = common::check(&programs().join("missed_notification.rs"), &[]);
    says(
        &output,
        1,
        &[": notify ", ": wait on ", ": unlock ", "is lost"],
    );
    let text = String::from_utf8_lossy(&output.stdout);
    for inside in ["futex", "semaphore", "atomic {"] {
        assert!(!text.contains(inside), "{text}");
    }
}

#[test]
fn what_rustc_does_not_compile_is_an_error() {
    let scratch = Scratch::new("rust");
    let file = scratch.file("wrong.rs", "fn main() { let x: u32 = \"\"; }\n");
    says(
        &common::check(&file, &[]),
        2,
        &["mismatched types", "the program does not compile"],
    );
}

#[test]
fn cargo_projects_are_refused() {
    let scratch = Scratch::new("cargo");
    let file = scratch.file("Cargo.toml", "[package]\n");
    for project in [&file, &scratch.0] {
        says(
            &common::check(project, &[]),
            2,
            &[
                "this is a Cargo project, not a program",
                "help: `cargo raddle test` checks its tests",
            ],
        );
    }
}

#[test]
fn threads_go_by_the_names_that_they_are_given() {
    let scratch = Scratch::new("rust-names");
    let text = "fn main() {\n    let named = std::thread::Builder::new().name(\"worker\".into());\n    \
                let t = named.spawn(|| assert!(false)).unwrap();\n    t.join().unwrap();\n}\n";
    let output = common::check(&scratch.file("names.rs", text), &[]);
    says(&output, 1, &["T1 (worker)"]);
}

#[test]
fn what_a_program_asks_of_the_system_is_answered() {
    let (status, answer) = check("asks_the_system.rs");
    assert_eq!(status, Some(0), "{answer}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn updates_in_assembly_are_updates() {
    let (status, answer) = check("locked_assembly.rs");
    assert_eq!(status, Some(0), "{answer}");
}

#[test]
fn without_rustc_the_error_says_so() {
    let output = raddle()
        .args(["check", "counter.rs"])
        .current_dir(programs())
        .env("RADDLE_RUSTC", "no-such-rustc")
        .output()
        .unwrap();
    says(&output, 2, &["no rustc found", "RADDLE_RUSTC"]);
}
