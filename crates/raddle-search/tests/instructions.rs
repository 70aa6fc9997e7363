//! How many instructions engines take for fixed programs: `benchmarks/instructions.txt`, within 2 %.
//!
//! Seconds depend on the machine and on what else it does; instructions do not. callgrind counts them, on the build that the tests are of (the profile
//! `dev`), so that nothing more has to be built. What more or fewer mean is for a reader to say: `RADDLE_BLESS=1 cargo test -p raddle-search --test instructions`
//! accepts them. Another compiler, another architecture or a build without assertions has other numbers, and no valgrind has none; then the test says that it is
//! skipped, unless `RADDLE_REQUIRE_VALGRIND` is set, which makes a missing valgrind a failure.

use raddle_search::{EngineKind, SearchOptions, check};
use raddle_testing::builder::BuiltProgram;
use raddle_testing::samples::{
    casrot, control_flow, exponential_bug, fib_bench, lastwrite, readers, sigma,
};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// By how much a count may differ.
const TOLERANCE: f64 = 0.02;

type Row = (&'static str, EngineKind, fn() -> BuiltProgram);

/// A few million instructions each.
const ROWS: [Row; 10] = [
    ("dpor fib-bench 3", EngineKind::Dpor, || fib_bench(3)),
    ("dpor casrot 7", EngineKind::Dpor, || casrot(7)),
    ("dpor control-flow 4", EngineKind::Dpor, || control_flow(4)),
    ("dpor readers 8", EngineKind::Dpor, || readers(8)),
    ("dpor lastwrite 6", EngineKind::Dpor, || lastwrite(6)),
    ("rf fib-bench 3", EngineKind::Rf, || fib_bench(3)),
    ("rf sigma 5", EngineKind::Rf, || sigma(5)),
    ("rf exponential-bug 2", EngineKind::Rf, || {
        exponential_bug(2)
    }),
    ("rvf casrot 6", EngineKind::Rvf, || casrot(6)),
    ("graph fib-bench 3", EngineKind::Graph, || fib_bench(3)),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [flag, name] if flag == "--row" => explore(name),
        // Asked for by name, or with all others; a filter that means other tests is not for this one.
        _ if args
            .iter()
            .any(|arg| !arg.starts_with('-') && !"instructions".contains(arg.as_str())) => {}
        _ if args.iter().any(|arg| arg == "--list") => println!("instructions: test"),
        _ => match compare() {
            Ok(said) => println!("{said}"),
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::FAILURE;
            }
        },
    }
    ExitCode::SUCCESS
}

/// What is counted.
fn explore(name: &str) {
    let (_, engine, program) = ROWS
        .into_iter()
        .find(|row| row.0 == name)
        .expect("a row of the table");
    let mut program = program().program();
    let outcome = check(&mut program, engine, SearchOptions::default()).expect("an answer");
    assert!(outcome.statistics.complete > 0);
}

fn compare() -> Result<String, String> {
    if !has_valgrind() {
        return match std::env::var_os("RADDLE_REQUIRE_VALGRIND") {
            Some(_) => Err("instructions: valgrind is required, and does not run".to_owned()),
            None => Ok("instructions: skipped, there is no valgrind".to_owned()),
        };
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/instructions.txt");
    let build = build()?;
    let mut counted = format!("{HEADING}\nbuild: {build}\n");
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    let blessing = std::env::var_os("RADDLE_BLESS").is_some();
    if !blessing {
        let known = expected
            .lines()
            .find_map(|line| line.strip_prefix("build: "));
        if known != Some(build.as_str()) {
            let known = known.unwrap_or("none");
            return Ok(format!(
                "instructions: skipped, this build is {build}, and the counts are of {known}"
            ));
        }
    }
    let mut differences = String::new();
    for (name, ..) in ROWS {
        let count = count(name)?;
        let _ = writeln!(counted, "{name}: {count}");
        let before = expected.lines().find_map(|line| {
            line.strip_prefix(name)?
                .strip_prefix(": ")?
                .parse::<u64>()
                .ok()
        });
        let ratio = before.map(|before| count as f64 / before as f64 - 1.0);
        if ratio.is_none_or(|ratio| ratio.abs() > TOLERANCE) {
            let by = ratio.map_or("not known before".to_owned(), |ratio| {
                format!("{:+.1} %", ratio * 100.0)
            });
            let _ = writeln!(differences, "  {name}: {count} instructions, {by}");
        }
    }
    if blessing {
        std::fs::write(&file, counted).map_err(|error| format!("{}: {error}", file.display()))?;
        return Ok(format!("instructions: blessed\n{differences}"));
    }
    match differences.is_empty() {
        true => Ok("instructions: ok".to_owned()),
        false => Err(format!(
            "instructions: not what benchmarks/instructions.txt says\n{differences}\
             accept them with RADDLE_BLESS=1 cargo test -p raddle-search --test instructions"
        )),
    }
}

const HEADING: &str =
    "# Instructions by callgrind: see crates/raddle-search/tests/instructions.rs.";

fn has_valgrind() -> bool {
    let output = Command::new("valgrind").arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// What the numbers depend on: compiler, architecture, assertions.
fn build() -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output();
    let output = output.map_err(|error| format!("instructions: rustc does not run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |key| text.lines().find_map(|line| line.strip_prefix(key));
    let (Some(release), Some(host)) = (line("release: "), line("host: ")) else {
        return Err(format!("instructions: what does rustc say?\n{text}"));
    };
    let assertions = if cfg!(debug_assertions) {
        "with"
    } else {
        "without"
    };
    Ok(format!("rustc {release}, {host}, {assertions} assertions"))
}

fn count(row: &str) -> Result<u64, String> {
    let this = std::env::current_exe().map_err(|error| format!("instructions: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .args(["--row", row])
        .env("RUST_BACKTRACE", "0")
        .output()
        .map_err(|error| format!("instructions: valgrind does not run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text
        .lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    match collected {
        Some(count) if output.status.success() => Ok(count),
        _ => Err(format!(
            "instructions: {row}: callgrind has not counted\n{text}"
        )),
    }
}
