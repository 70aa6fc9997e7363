//! The races and null dereferences of table 3 of the maximal-causality paper, on the programs that are written after its
//! descriptions. Each is run again before it is reported, so none is false.

mod common;

use common::raddle;
use std::path::Path;

/// How many violations of each kind an engine reports: data races, and others.
fn violations(engine: &str, program: &str, args: &[&str], macros: &[&str]) -> (usize, usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../benchmarks")
        .join(program);
    let output = raddle()
        .args(["check", "--engine", engine, "--keep-going"])
        .args(args)
        .arg(file)
        .arg("--")
        .args(macros)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let found = printed
        .lines()
        .filter(|line| line.starts_with("violation:"));
    let (races, others): (Vec<&str>, Vec<&str>) =
        found.partition(|line| line.contains("data race"));
    (races.len(), others.len())
}

#[test]
fn table_3_of_the_maximal_causality_paper() {
    let mcr = |program, args: &[&str], macros: &[&str]| violations("mcr", program, args, macros);
    // Example: ten races.
    let example = mcr("exponential-bug.c", &[], &["-DN=1", "-DPLAIN"]);
    assert_eq!(example, (10, 0));
    // Account: three, and the assertion.
    assert_eq!(mcr("bank.c", &[], &["-DBUG"]), (3, 1));
    // BubbleSort: seven. They are in the models of the first executions.
    let few = ["--max-executions", "30"];
    let macros = ["-DN=4", "-DPLAIN", "-DNO_ASSERT"];
    assert_eq!(mcr("bubblesort.c", &few, &macros), (7, 0));
    // PingPong: seven, and a null pointer is dereferenced.
    assert_eq!(mcr("pingpong.c", &[], &["-DBUG"]), (7, 1));
    // Pool, StringBuf: none, but for the error itself.
    assert_eq!(mcr("pool.c", &[], &["-DBUG"]), (0, 1));
    assert_eq!(mcr("stringbuf.c", &[], &["-DBUG"]), (0, 1));
}

/// What is predicted is what exploration finds.
#[test]
fn races_are_those_that_other_engines_run_into() {
    for (program, macros) in [("bank.c", "-DBUG"), ("pingpong.c", "-DBUG")] {
        let found = violations("mcr", program, &[], &[macros]);
        assert_eq!(
            violations("dpor", program, &[], &[macros]),
            found,
            "{program}"
        );
    }
}
