//! Litmus tests written in C, checked by the real binary: orderings must survive the compiler and the interpreter.

use raddle_program::litmus::{Litmus, Outcome, classics};
use std::path::{Path, PathBuf};
use std::process::Command;

const MODELS: [&str; 3] = ["sc", "tso", "pso"];

/// A file of its own for each test.
fn write(name: &str, litmus: &Litmus, outcome: &Outcome) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("litmus");
    std::fs::create_dir_all(&directory).expect("the directory for temporary files can be written");
    let file = directory.join(format!("{}.c", name.replace([' ', '+'], "_")));
    std::fs::write(&file, litmus.to_c(outcome)).expect("the file can be written");
    file
}

/// Is there a violation?
fn violated(file: &Path, model: &str) -> bool {
    let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["check", "--quiet", "--engine", "naive", "--memory", model])
        .arg(file)
        .output()
        .expect("the binary was built");
    match output.status.code() {
        Some(0) => false,
        Some(1) => true,
        status => panic!(
            "{} under {model}: {status:?} {}{}",
            file.display(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

#[test]
fn classic_tests_in_c_have_their_well_known_answers() {
    for classic in classics() {
        // Four threads have too many interleavings.
        if classic.litmus.threads.len() > 3 {
            continue;
        }
        let file = write(&classic.litmus.name, &classic.litmus, &classic.outcome);
        for (model, allowed) in MODELS.into_iter().zip(classic.allowed) {
            assert_eq!(
                violated(&file, model),
                allowed,
                "{} under {model}",
                classic.litmus.name
            );
        }
    }
}
