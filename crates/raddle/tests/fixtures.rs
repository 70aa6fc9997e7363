//! Each IR fixture under `tests/fixtures/` is a test: whoever compiled the program, at whatever level, the answer is that
//! of the file `expected` beside it. No compiler is needed; `cargo xtask fixtures` writes the fixtures anew.
//!
//! The first line of `expected` is the answer: the verdict, and where it is `violation` the kind and the place
//! (`FILE:LINE`), which fixtures with debug information name (`-g`). `FIXTURE: ANSWER` is an exception. Lines with `#` say
//! why.

use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every interleaving of the fixtures can be tried, so the one that leaves nothing out tries them too.
const ENGINES: &[&str] = &["dpor", "naive"];

fn main() {
    let mut arguments = Arguments::from_args();
    // Each test is a process or two: more of them at once than processors would only wait.
    arguments.test_threads.get_or_insert_with(|| {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    });
    let mut fixtures = Vec::new();
    collect(&root().join("tests/fixtures"), &mut fixtures);
    fixtures.sort();
    assert!(
        !fixtures.is_empty(),
        "the fixtures are part of the repository"
    );
    let tests = fixtures
        .into_iter()
        .map(|fixture| Trial::test(shown(&fixture), move || is_as_expected(&fixture)))
        .collect();
    libtest_mimic::run(&arguments, tests).exit();
}

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    crates
        .ancestors()
        .nth(2)
        .expect("the crate lies two levels below the root")
        .to_owned()
}

/// The path from the root.
fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

fn collect(directory: &Path, fixtures: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the directory is part of the repository") {
        let path = entry.expect("a directory can be listed").path();
        if path.is_dir() {
            collect(&path, fixtures);
        } else if path.extension().is_some_and(|extension| extension == "ll") {
            fixtures.push(path);
        }
    }
}

/// What does not depend on the compiler.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: Option<i32>,
    verdict: String,
    kind: Option<String>,
    /// `FILE:LINE`.
    place: Option<String>,
}

fn is_as_expected(fixture: &Path) -> Result<(), Failed> {
    let expected = expected(fixture)?;
    for engine in ENGINES {
        let actual = answer(fixture, engine)?;
        if actual != expected {
            return Err(format!("{engine}: {actual:?}, but expected was {expected:?}").into());
        }
    }
    Ok(())
}

fn expected(fixture: &Path) -> Result<Answer, Failed> {
    let name = fixture
        .file_stem()
        .and_then(|stem| stem.to_str())
        .ok_or("a fixture has a name")?;
    let file = fixture.with_file_name("expected");
    let text = fs::read_to_string(&file)
        .map_err(|error| format!("cannot read {}: {error}", shown(&file)))?;
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let usual = lines.next().ok_or("`expected` has a first line")?;
    let answer = lines
        .filter_map(|line| line.split_once(": "))
        .find_map(|(exception, answer)| (exception == name).then_some(answer))
        .unwrap_or(usual);
    let mut words = answer.split(' ').map(str::to_owned);
    let verdict = words.next().unwrap_or_default();
    Ok(Answer {
        status: match verdict.as_str() {
            "verified" => Some(0),
            "violation" => Some(1),
            _ => return Err(format!("no verdict: {verdict}").into()),
        },
        verdict,
        kind: words.next(),
        place: words.next().filter(|_| name.ends_with("-g")),
    })
}

fn answer(fixture: &Path, engine: &str) -> Result<Answer, Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .arg("check")
        .arg(fixture)
        .args(["--engine", engine, "--format", "json"])
        .current_dir(root())
        .output()?;
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!(
            "{engine}: no JSON ({error}): {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let location = &json["violation"]["location"];
    Ok(Answer {
        status: output.status.code(),
        verdict: text(&json["verdict"]).unwrap_or_default(),
        kind: text(&json["violation"]["kind"]),
        place: text(&location["file"]).map(|file| format!("{file}:{}", location["line"])),
    })
}
