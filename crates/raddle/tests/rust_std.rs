//! Programs in all shapes in which Rust's standard library is used, each with what must be said of it beside it: `verified`, or
//! the kind of violation and, where it matters, the line. How many executions that takes depends on the version of the library.

mod common;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

fn programs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/rust/std");
    let entries =
        fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut programs: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        .collect();
    programs.sort();
    programs
}

/// What is said of a program, in the words of the file beside it.
fn answer(program: &Path, options: &[&str]) -> String {
    let mut arguments = vec!["--format", "json", "--time-limit", "120"];
    arguments.extend(options);
    let output = common::check(program, &arguments);
    let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout) else {
        return String::from_utf8_lossy(&output.stderr).into_owned();
    };
    let verdict = answer["verdict"].as_str().unwrap_or("?");
    if verdict != "violation" {
        let complete = answer["complete"] == true;
        return match verdict {
            "verified" if !complete => "verified in part".to_owned(),
            _ => verdict.to_owned(),
        };
    }
    let kind = answer["violation"]["kind"].as_str().unwrap_or("?");
    format!("{kind} {}", answer["violation"]["location"]["line"])
}

fn says_what_is_expected(program: &Path, options: &[&str]) -> Result<(), String> {
    let beside = program.with_extension("expected");
    let expected =
        fs::read_to_string(&beside).map_err(|error| format!("{}: {error}", beside.display()))?;
    let (expected, answer) = (expected.trim(), answer(program, options));
    // Where no line is named, any will do.
    let is_it =
        answer == expected || !expected.contains(' ') && answer.split(' ').next() == Some(expected);
    if is_it {
        return Ok(());
    }
    Err(format!(
        "{}: expected `{expected}`, got `{answer}`",
        program.display()
    ))
}

#[test]
fn programs_that_use_the_standard_library() {
    let todo = Mutex::new(programs());
    assert!(todo.lock().unwrap().len() >= 40);
    let failed = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(program) = { todo.lock().unwrap().pop() } {
                    if let Err(message) = says_what_is_expected(&program, &[]) {
                        failed.lock().unwrap().push(message);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Locks and condition variables are replaced where threads may wait in loops. Where they may not, the library's own code runs, and must come to the same.
#[test]
fn the_librarys_own_locks_give_the_same_answers() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/rust/std");
    for name in [
        "rwlock",
        "rwlock_read_twice",
        "condvar",
        "condvar_lost",
        "condvar_once",
    ] {
        let program = directory.join(name).with_extension("rs");
        says_what_is_expected(&program, &["--engine", "dpor", "--no-purity"]).unwrap();
    }
}
