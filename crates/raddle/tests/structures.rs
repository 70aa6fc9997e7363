//! Data structures and locks with their orderings as published (`tests/structures`): each is verified, and each is broken if one of the orderings is
//! weakened that a comment marks (`// weaken: relaxed`). The report must then name that line as one to strengthen. Where a file `NAME.orderings` lies beside
//! a program, it is what `raddle orderings` prints; `RADDLE_BLESS=1` writes it.

mod common;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn programs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/structures");
    let entries =
        fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_program = |path: &PathBuf| {
        let extension = path.extension().and_then(|it| it.to_str());
        extension.is_some_and(|it| ["c", "cpp", "rs"].contains(&it))
    };
    let mut programs: Vec<PathBuf> = paths.filter(is_program).collect();
    programs.sort();
    assert!(programs.len() >= 14, "{} programs", programs.len());
    programs
}

fn answer(program: &Path) -> Value {
    let output = common::check(program, &["--format", "json", "--time-limit", "120"]);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!(
            "{}: {}",
            program.display(),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

const MARK: &str = "// weaken: ";

/// The program with one ordering weakened, for each line that asks for it.
fn weakened(text: &str) -> Vec<(usize, String)> {
    let marked = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains(MARK));
    let variant = |(index, line): (usize, &str)| {
        let (code, order) = line.split_once(MARK)?;
        let start = ["memory_order_", "Ordering::"]
            .iter()
            .find_map(|prefix| Some(code.find(prefix)? + prefix.len()))?;
        let rest = &code[start..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
        let new = format!("{}{order}{}", &code[..start], &rest[length..]);
        let lines = text.lines().enumerate();
        let lines = lines.map(|(other, line)| if other == index { new.as_str() } else { line });
        let variant: Vec<&str> = lines.collect();
        Some((index + 1, variant.join("\n") + "\n"))
    };
    let variants: Vec<_> = marked.map(variant).collect();
    let variants: Option<Vec<_>> = variants.into_iter().collect();
    variants.expect("each marked line names an ordering")
}

/// What is wrong with the answer about a program whose ordering in this line was weakened.
fn mistake(answer: &Value, line: usize) -> Option<String> {
    if answer["verdict"] != "violation" {
        return Some(format!("line {line}: {}", answer["verdict"]));
    }
    let remedies = &answer["violation"]["orderings"]["remedies"];
    let sets = remedies.as_array().into_iter().flatten();
    let mut changes = sets.flat_map(|set| set.as_array().into_iter().flatten());
    let is_named = changes.any(|change| {
        change["location"]["line"] == line && change["token"]["line"].as_u64() == Some(line as u64)
    });
    (!is_named).then(|| format!("line {line} is not named: {remedies}"))
}

fn behaves(program: &Path, scratch: &common::Scratch) -> Vec<String> {
    let name = program.file_name().unwrap().to_str().unwrap();
    let mut mistakes = Vec::new();
    let whole = answer(program);
    if whole["verdict"] != "verified" || whole["memory"] != "c11" || whole["complete"] != true {
        mistakes.push(format!(
            "{name}: {} ({})",
            whole["verdict"], whole["memory"]
        ));
    }
    let text = fs::read_to_string(program).unwrap();
    let variants = weakened(&text);
    if variants.is_empty() {
        mistakes.push(format!("{name}: nothing is weakened"));
    }
    for (line, variant) in variants {
        let file = scratch.file(name, &variant);
        let mistake = mistake(&answer(&file), line);
        mistakes.extend(mistake.map(|mistake| format!("{name}: {mistake}")));
    }
    mistakes
}

#[test]
fn structures_are_verified_and_break_where_an_ordering_is_weakened() {
    let scratch = common::Scratch::new("structures");
    let mistakes: Vec<String> = programs()
        .iter()
        .flat_map(|program| behaves(program, &scratch))
        .collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// What `raddle orderings` prints, without the time that it took.
fn orderings(program: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = fs::canonicalize(root).unwrap();
    let program = fs::canonicalize(program).unwrap();
    let output = common::raddle()
        .current_dir(&root)
        .arg("orderings")
        .arg(program.strip_prefix(&root).unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(|line| match line.rsplit_once("; ") {
        Some((start, end)) if end.ends_with(" s)") => format!("{start}; … s)"),
        _ => line.to_owned(),
    });
    let lines: Vec<String> = lines.collect();
    let status = output.status.code();
    let errors = String::from_utf8_lossy(&output.stderr);
    format!(
        "exit status: {}\n{}\n{errors}",
        status.unwrap_or(-1),
        lines.join("\n")
    )
}

#[test]
fn tables_of_orderings_are_as_expected() {
    let mut mistakes = Vec::new();
    let mut count = 0;
    for program in programs() {
        let beside = program.with_extension("orderings");
        let Ok(expected) = fs::read_to_string(&beside) else {
            continue;
        };
        count += 1;
        let printed = orderings(&program);
        if std::env::var_os("RADDLE_BLESS").is_some() {
            fs::write(&beside, &printed).unwrap();
        } else if printed != expected {
            mistakes.push(format!("{}:\n{printed}", beside.display()));
        }
    }
    assert!(count >= 4, "{count} tables");
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

fn asked(args: &[&str]) -> (Option<i32>, String, String) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/message.c");
    let output = common::raddle()
        .arg("orderings")
        .arg(example)
        .args(args)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_broken_program_gets_the_orderings_that_mend_it() {
    let (status, answer, _) = asked(&["--format", "json"]);
    assert_eq!(status, Some(1));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["verdict"], "violation");
    let changes = answer["strengthen"].as_array().unwrap();
    let told: Vec<_> = changes
        .iter()
        .map(|change| {
            (
                &change["line"],
                &change["of"],
                &change["from"],
                &change["to"],
            )
        })
        .map(|(line, of, from, to)| format!("{line} {of} {from} {to}").replace('"', ""))
        .collect();
    assert_eq!(told, ["10 flag relaxed release"]);
}

#[test]
fn what_is_not_known_of_orderings_is_said() {
    let (status, answer, _) = asked(&["--time-limit", "0.000001"]);
    assert_eq!(status, Some(3));
    assert!(answer.starts_with("inconclusive: "), "{answer}");
    for option in [
        ["--engine", "rf"],
        ["--memory", "sc"],
        ["--format", "sarif"],
    ] {
        let (status, _, errors) = asked(&option);
        assert_eq!(status, Some(2));
        assert!(errors.contains(option[0]), "{errors}");
    }
}
