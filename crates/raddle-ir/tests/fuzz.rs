//! Mutated modules: whatever the text, the parser answers with a module or an error, never with a panic.
//!
//! Deterministic: the n-th mutant is the same on every machine. A fixed number of mutants by default; with
//! `RADDLE_FUZZ_SECONDS` as many as fit in that time, beginning at `RADDLE_FUZZ_SEED`.

use raddle_ir::{FuncId, parse_module, verify};
use raddle_random::RandomIndex as Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// Mutants per run of `cargo test`.
const DEFAULT_MUTANTS: u64 = 4000;

/// Text that is likely to be wrong in an interesting way.
const SNIPPETS: &[&str] = &[
    "%4294967295",
    "!4294967295",
    "@0",
    "i8388608",
    "i1",
    "<65536 x i8>",
    "[18446744073709551615 x i64]",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "<{",
    "}>",
    "\"",
    "c\"\\",
    "!{",
    "!DIExpression(",
    "null",
    "undef",
    "poison",
    "zeroinitializer",
    "splat (i8 1)",
    "-1",
    "0x",
    "0xK",
    "0xH1",
    "1e400",
    "1.0e+",
    "99999999999999999999999999999999999999999",
    "...",
    "*",
    ",",
    "=",
    ":",
    "label",
    "metadata",
    "token",
    "void",
    "ptr",
    "type { %t }",
    "\n}\n",
    ";",
    "#",
    "#0",
    "#dbg_value(",
    "^0",
    "$c",
    "align 0",
    "align 3",
    "getelementptr",
    "bitcast (",
    "blockaddress(@main, %0)",
    "asm \"\", \"\"",
    "to",
    "distinct",
    "line: -1",
    "inlinedAt: !0",
    "scope: !1",
    "baseType: !2",
    "\u{e4}",
    "\u{1f600}",
    "\0",
    "%\"\\ff\"",
    "none",
    "uselistorder",
];

fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("fixtures")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "ll"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("readable"))
        .collect()
}

/// The range of the token or run of blanks around a byte.
fn token_at(text: &str, at: usize) -> std::ops::Range<usize> {
    let bytes = text.as_bytes();
    let kind = |c: u8| {
        (
            c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'%' | b'@' | b'!'),
            c.is_ascii_whitespace(),
        )
    };
    let here = kind(bytes[at]);
    let mut start = at;
    while start > 0 && kind(bytes[start - 1]) == here && here != (false, false) {
        start -= 1;
    }
    let mut end = at + 1;
    while end < bytes.len() && kind(bytes[end]) == here && here != (false, false) {
        end += 1;
    }
    // Non-ASCII characters are single tokens of several bytes.
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

fn line_at(text: &str, at: usize) -> std::ops::Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline + 1);
    start..end
}

fn random_boundary(text: &str, random: &mut Random) -> usize {
    let mut at = random.below(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A place in a function body: most of the text is metadata, most of the parser is not.
fn in_a_body(text: &str, random: &mut Random) -> usize {
    let at = random_boundary(text, random);
    let before = text[..at].rfind("\ndefine");
    let Some(start) = before.or_else(|| text.find("\ndefine")) else {
        return at;
    };
    let len = text[start..].find("\n}").unwrap_or(text.len() - start);
    let mut at = start + random.below(len);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A small part of a fixture: whole modules would spend the time on what is not mutated.
fn excerpt(text: &str, random: &mut Random) -> String {
    if random.below(4) == 0 {
        return text.to_string();
    }
    // Drop most functions but keep the types, globals and metadata they need.
    let mut kept = String::with_capacity(text.len() / 2);
    let mut skipping = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with("define") {
            skipping = random.below(3) != 0;
        }
        if !skipping {
            kept.push_str(line);
        } else if line.starts_with("define") {
            // A declaration in its place keeps the references whole.
            let header = line
                .trim_end()
                .trim_end_matches('{')
                .replacen("define", "declare", 1);
            let header = header.split(" personality ").next().unwrap_or_default();
            kept.push_str(header.split(" !dbg").next().unwrap_or_default());
            kept.push('\n');
        }
        if line.starts_with('}') {
            skipping = false;
        }
    }
    kept
}

fn mutate(text: &mut String, other: &str, random: &mut Random) {
    if text.is_empty() {
        return;
    }
    let at = match random.below(2) {
        0 => random_boundary(text, random),
        _ => in_a_body(text, random),
    };
    match random.below(12) {
        0 | 1 => {
            // A byte, kept in ASCII so that the text stays UTF-8.
            let end = at + text[at..].chars().next().map_or(0, char::len_utf8);
            let byte = (random.next_u64() & 0x7f) as u8;
            text.replace_range(at..end, &char::from(byte).to_string());
        }
        2 => text.replace_range(token_at(text, at), ""),
        3 => {
            let token = text[token_at(text, at)].to_string();
            text.insert_str(at, &token);
        }
        4 => {
            let from = random_boundary(other, random);
            let token = other[token_at(other, from)].to_string();
            text.replace_range(token_at(text, at), &token);
        }
        5 | 6 => {
            let snippet = SNIPPETS[random.below(SNIPPETS.len())];
            text.replace_range(token_at(text, at), snippet);
        }
        7 => text.insert_str(at, SNIPPETS[random.below(SNIPPETS.len())]),
        8 => text.replace_range(line_at(text, at), ""),
        9 => {
            let line = text[line_at(text, at)].to_string();
            let to = line_at(text, random_boundary(text, random)).start;
            text.insert_str(to, &line);
        }
        10 => {
            let from = random_boundary(other, random);
            let line = other[line_at(other, from)].to_string();
            text.replace_range(line_at(text, at), &line);
        }
        _ => {
            if random.below(8) == 0 {
                text.truncate(at);
            } else {
                let digit = text[at..]
                    .find(|c: char| c.is_ascii_digit())
                    .map(|n| at + n);
                if let Some(digit) = digit {
                    let byte = b'0' + (random.next_u64() % 10) as u8;
                    text.replace_range(digit..=digit, &char::from(byte).to_string());
                }
            }
        }
    }
}

/// How far a mutant came.
#[derive(Default)]
struct Tally {
    mutants: u64,
    modules: u64,
    bodies: u64,
    failed_bodies: u64,
}

fn run(text: &str, tally: &mut Tally) {
    tally.mutants += 1;
    let Ok(mut module) = parse_module(text, "fuzz.ll") else {
        return;
    };
    tally.modules += 1;
    for id in (0..module.functions.len()).map(FuncId::from_index) {
        if module.function(id).is_declaration {
            continue;
        }
        match module.parse_body(id) {
            Ok(body) => {
                tally.bodies += 1;
                // Bad φs are the input's fault; everything else is promised by the parser.
                let _ = verify(&module, &body);
            }
            Err(_) => tally.failed_bodies += 1,
        }
    }
    for global in &module.globals {
        let _ = module.types.alloc_size(global.ty);
    }
}

#[test]
fn mutants_never_panic() {
    let fixtures = fixtures();
    let variable = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|value| value.parse::<u64>().ok())
    };
    let budget = variable("RADDLE_FUZZ_SECONDS").map(Duration::from_secs);
    let first = variable("RADDLE_FUZZ_SEED").unwrap_or(0);
    let start = Instant::now();
    let mut tally = Tally::default();
    for seed in first.. {
        let done = match budget {
            Some(budget) => start.elapsed() >= budget,
            None => seed - first >= DEFAULT_MUTANTS,
        };
        if done {
            break;
        }
        let mut random = Random::new(seed);
        let base = &fixtures[random.below(fixtures.len())];
        let other = &fixtures[random.below(fixtures.len())];
        let mut text = excerpt(base, &mut random);
        for _ in 0..=random.below(4) {
            mutate(&mut text, other, &mut random);
        }
        if catch_unwind(AssertUnwindSafe(|| run(&text, &mut tally))).is_err() {
            let path = std::env::temp_dir().join(format!("raddle-fuzz-{seed}.ll"));
            let _ = std::fs::write(&path, &text);
            panic!("mutant {seed} panics; its text is in {}", path.display());
        }
    }
    println!(
        "{} mutants, {} modules, {} bodies read, {} bodies refused",
        tally.mutants, tally.modules, tally.bodies, tally.failed_bodies
    );
    assert!(
        tally.modules > 0 && tally.bodies > 0 && tally.failed_bodies > 0,
        "the mutants reach the bodies"
    );
}
