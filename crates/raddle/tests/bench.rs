//! `raddle bench` on the programs of `benchmarks/`: counts are oracles, so they are compared exactly.
//!
//! Only some programs, so that the test is quick without optimisation, too; `raddle bench` has the rest.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Programs whose runs are all small, and those whose counts are hardest to get right by luck.
const PROGRAMS: &[&str] = &[
    "readers",
    "fib-bench",
    "reorder",
    "parker",
    "lamport",
    "myexample",
    "redundant-co",
    "dekker-sum",
    "same-value",
    "two-writers",
    "szymanski",
    "account",
    "bubblesort",
    "mutex",
    "mpmc-queue",
    "treiber-stack",
    "twalock",
    "seqlock",
    "sortnet",
    "safestack",
];

const GRAPH_PROGRAMS: &[&str] = &[
    "readers",
    "reorder",
    "myexample",
    "dekker-sum",
    "same-value",
    "two-writers",
    "account",
    "bubblesort",
    "twalock",
    "sortnet",
];

fn benchmarks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks")
}

fn raddle(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_raddle"))
        .arg("bench")
        .arg("--dir")
        .arg(benchmarks())
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn dpor_explores_one_execution_of_each_mazurkiewicz_class() {
    let output = raddle(&[PROGRAMS, &["--engine", "dpor", "--format", "json"]].concat());
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}", text(&output.stderr)));
    let rows = answer["rows"].as_array().unwrap();
    let odd: Vec<&Value> = rows.iter().filter(|row| row["result"] != "ok").collect();
    assert!(odd.is_empty(), "{odd:#?}");
    assert_eq!(output.status.code(), Some(0));
    for program in PROGRAMS {
        assert!(
            rows.iter().any(|row| row["program"] == *program),
            "{program} was not run"
        );
    }
    let counted = |row: &&Value| row["expected"].is_string();
    assert!(rows.iter().filter(counted).count() > 25);
}

/// Execution graphs under sequential consistency are Mazurkiewicz classes.
#[test]
fn graph_explores_one_execution_of_each_mazurkiewicz_class() {
    all_as_expected(&[GRAPH_PROGRAMS, &["--engine", "graph"]].concat());
}

#[test]
fn graph_explores_each_graph_of_relaxed_accesses_once() {
    let programs = ["readers", "casrot", "lastwrite", "sigma", "fib-bench"];
    all_as_expected(&[&programs[..], &["--engine", "graph", "--memory", "c11"]].concat());
}

fn all_as_expected(args: &[&str]) {
    let output = raddle(args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(text(&output.stdout).lines().count() > 8);
}

#[test]
fn naive_agrees_with_the_verdicts() {
    let output = raddle(&["two-writers", "same-value", "account", "--engine", "naive"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}

#[test]
fn a_wrong_count_is_reported() {
    let directory = tempfile();
    let program = std::fs::read_to_string(benchmarks().join("readers.c")).unwrap();
    std::fs::write(directory.join("readers.c"), program).unwrap();
    let expected = "[[program]]\nname = \"readers\"\npaper = \"\"\nruns = [{ N = 2, maz = 5 }]\n";
    std::fs::write(directory.join("expected.toml"), expected).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["bench", "--dir"])
        .arg(&directory)
        .output()
        .unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let table = text(&output.stdout);
    assert!(table.contains("WRONG"), "{table}");
    assert!(table.contains("0 of 1 as expected, 1 wrong"), "{table}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn unknown_programs_are_an_error() {
    let output = raddle(&["nonsense"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("there is no program `nonsense`"));
}

fn tempfile() -> PathBuf {
    let directory = std::env::temp_dir().join(format!("raddle-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}
