//! The tasks, each a list of commands.

use crate::clang;
use std::path::{Path, PathBuf};
use std::process::Command;

type Outcome = Result<(), String>;

/// Off by default, since it takes two minutes to build (docs/cluster.md).
const CLUSTER: &str = "raddle/cluster";

pub(crate) fn test() -> Outcome {
    clang::setup()?;
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--features",
        CLUSTER,
        "--",
        "-D",
        "warnings",
    ]))?;
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--features", CLUSTER]);
    if clang::browser() {
        tests.env("RADDLE_REQUIRE_BROWSER", "1");
    }
    if clang::valgrind() {
        tests.env("RADDLE_REQUIRE_VALGRIND", "1");
    }
    run(&mut tests)
}

pub(crate) fn setup() -> Outcome {
    clang::setup()?;
    clang::browser();
    clang::valgrind();
    Ok(())
}

pub(crate) fn bless() -> Outcome {
    clang::setup()?;
    for (package, test) in [
        ("raddle-report", "golden"),
        ("raddle", "programs"),
        ("raddle-search", "instructions"),
    ] {
        run(cargo()
            .args(["test", "--package", package, "--test", test])
            .env("RADDLE_BLESS", "1"))?;
    }
    println!("see `git diff` for what has changed");
    Ok(())
}

pub(crate) fn demo() -> Outcome {
    clang::setup()?;
    let raddle = build_release()?;
    for example in programs(&root().join("examples"))? {
        let shown = example.strip_prefix(root()).unwrap_or(&example);
        println!("\n$ raddle check {}", shown.display());
        let status = Command::new(&raddle)
            .arg("check")
            .arg(shown)
            .current_dir(root())
            .status()
            .map_err(|error| format!("cannot run {}: {error}", raddle.display()))?;
        // 0 and 1 are answers; the examples are there to get them.
        if !matches!(status.code(), Some(0 | 1)) {
            return Err(format!("{}: no answer ({status})", shown.display()));
        }
    }
    Ok(())
}

pub(crate) fn bench() -> Outcome {
    clang::setup()?;
    let raddle = build_release()?;
    run(Command::new(raddle).arg("bench").current_dir(root()))
}

pub(crate) fn fuzz(seconds: &str) -> Outcome {
    seconds
        .parse::<u32>()
        .map_err(|_| format!("not a number of seconds: {seconds}"))?;
    run(cargo()
        .args(["test", "--release", "--package", "raddle", "--test", "fuzz"])
        .args(["--", "--nocapture"])
        .env("RADDLE_FUZZ_SECONDS", seconds))
}

pub(crate) fn mutants(count: &str, first: &str, program: Option<&str>) -> Outcome {
    for number in [count, first] {
        number
            .parse::<u64>()
            .map_err(|_| format!("not a number of mutants: {number}"))?;
    }
    clang::setup()?;
    let mut cargo = cargo();
    cargo
        .args([
            "test",
            "--release",
            "--package",
            "raddle",
            "--test",
            "mutants",
        ])
        .args(["by_hand", "--", "--nocapture", "--ignored"])
        .env("RADDLE_MUTANTS", count)
        .env("RADDLE_MUTANTS_FROM", first);
    if let Some(program) = program {
        cargo.env("RADDLE_MUTANTS_OF", program);
    }
    run(&mut cargo)
}

pub(crate) fn robust(count: &str, first: &str) -> Outcome {
    for number in [count, first] {
        number
            .parse::<u64>()
            .map_err(|_| format!("not a number of modules: {number}"))?;
    }
    clang::setup()?;
    run(cargo()
        .args(["test", "--package", "raddle", "--test", "robust"])
        .env("RADDLE_ROBUST", count)
        .env("RADDLE_ROBUST_FROM", first))
}

pub(crate) fn build_release() -> Result<PathBuf, String> {
    run(cargo().args(["build", "--release", "--package", "raddle"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    Ok(root().join(target).join("release").join("raddle"))
}

/// The C and C++ files of a directory, in the order of their names.
fn programs(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(directory)
        .map_err(|error| format!("cannot read {}: {error}", directory.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "c" || extension == "cpp")
        })
        .collect();
    files.sort();
    Ok(files)
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace")
        .to_owned()
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Shows the command, runs it, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Outcome {
    println!("$ {}", shown(command));
    flush();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` failed ({status})", shown(command))),
        Err(error) => Err(format!("cannot run `{}`: {error}", shown(command))),
    }
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut text = program
        .file_name()
        .unwrap_or(program.as_os_str())
        .to_string_lossy()
        .into_owned();
    for arg in command.get_args() {
        text.push(' ');
        text += &arg.to_string_lossy();
    }
    text
}

/// Children write to the same output: what was printed here must come first.
fn flush() {
    use std::io::Write;
    let _ = std::io::stdout().flush();
}
