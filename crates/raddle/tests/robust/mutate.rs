//! Files that are nearly what they should be: text changed at the level of characters, tokens and lines, and JSON changed as a value.

use raddle_random::RandomIndex as Random;
use serde_json::Value;
use std::ops::Range;

/// What numbers are swapped for: those at which something overflows.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "7",
    "63",
    "64",
    "65",
    "127",
    "255",
    "256",
    "65536",
    "1000000",
    "2147483647",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999999999999999999",
];

/// Words of LLVM IR that stand for another in many places.
const IR_WORDS: &[&[&str]] = &[
    &[
        "i1",
        "i7",
        "i8",
        "i16",
        "i32",
        "i64",
        "i128",
        "i129",
        "float",
        "double",
        "x86_fp80",
        "ptr",
        "i32*",
        "i8*",
        "void",
        "[4 x i8]",
        "[0 x i32]",
        "<4 x i32>",
        "{ i32, ptr }",
        "<{ i8, i64 }>",
        "[2147483648 x i64]",
        "label",
        "metadata",
        "token",
        "i8388607",
    ],
    &[
        "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or",
        "xor", "fadd", "fdiv", "frem",
    ],
    &[
        "trunc",
        "zext",
        "sext",
        "ptrtoint",
        "inttoptr",
        "bitcast",
        "fptosi",
        "uitofp",
        "fpext",
        "addrspacecast",
    ],
    &[
        "load",
        "load atomic",
        "load volatile",
        "store",
        "alloca",
        "fence",
        "freeze",
        "cmpxchg",
        "atomicrmw",
        "getelementptr",
    ],
    &[
        "monotonic",
        "acquire",
        "release",
        "acq_rel",
        "seq_cst",
        "unordered",
        "syncscope(\"x\") seq_cst",
    ],
    &[
        "br",
        "switch",
        "ret",
        "unreachable",
        "indirectbr",
        "invoke",
        "resume",
        "call",
        "tail call",
        "phi",
        "select",
    ],
    &["eq", "ne", "slt", "ult", "sge", "oeq", "une", "true"],
    &[
        "null",
        "undef",
        "poison",
        "zeroinitializer",
        "none",
        "true",
        "0",
        "-1",
        "0x7FF8000000000000",
        "@main",
        "%0",
        "%retval",
    ],
    &[
        "global",
        "constant",
        "external global",
        "thread_local global",
        "internal global",
        "alias",
        "ifunc",
    ],
    &[
        "pthread_create",
        "pthread_join",
        "pthread_mutex_lock",
        "pthread_mutex_unlock",
        "pthread_cond_wait",
        "sem_wait",
        "malloc",
        "free",
        "memcpy",
        "memset",
        "strlen",
        "strcpy",
        "printf",
        "realloc",
        "pthread_barrier_wait",
        "pthread_exit",
        "exit",
        "abort",
        "atexit",
        "__assert_fail",
        "pthread_key_create",
        "pthread_once",
        "pthread_rwlock_rdlock",
        "main",
        "rand",
        "setjmp",
        "longjmp",
        "syscall",
    ],
];

const CHARACTERS: &[char] = &[
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
    '<',
    '>',
    '"',
    ',',
    '=',
    ':',
    '!',
    '%',
    '@',
    '#',
    '*',
    '-',
    '.',
    '\\',
    '0',
    'x',
    ' ',
    '\n',
    '\t',
    '\0',
    '\u{e4}',
    '\u{1f600}',
    '\u{feff}',
];

/// A text with a few changes of any kind. `other` is a text of the same kind, to take lines from.
pub(crate) fn text(text: &str, other: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + random.below(3) {
        change(&mut text, other, random);
    }
    text
}

fn change(text: &mut String, other: &str, random: &mut Random) {
    if text.is_empty() {
        return;
    }
    let at = interesting(text, random);
    match random.below(16) {
        0 => {
            let end = next_boundary(text, at);
            text.replace_range(at..end, "");
        }
        1 => text.insert(at, random.pick(CHARACTERS)),
        2 => {
            let end = next_boundary(text, at);
            text.replace_range(at..end, &random.pick(CHARACTERS).to_string());
        }
        3 if random.below(4) == 0 => text.truncate(at),
        3 | 4 => {
            let token = token(text, at);
            text.replace_range(token, "");
        }
        5 => {
            let copy = text[token(text, at)].to_owned();
            let to = interesting(text, random);
            let to = token(text, to);
            text.replace_range(to, &copy);
        }
        6..=9 => number(text, at, random),
        10 | 11 => word(text, at, random),
        12 => {
            let line = line(text, at);
            text.replace_range(line, "");
        }
        13 => {
            let copy = text[line(text, at)].to_owned();
            let to = interesting(text, random);
            let to = line(text, to).start;
            text.insert_str(to, &copy);
        }
        14 if !other.is_empty() => {
            let from = interesting(other, random);
            let copy = other[line(other, from)].to_owned();
            let to = line(text, at).start;
            text.insert_str(to, &copy);
        }
        _ => attribute(text, at, random),
    }
}

/// Most of a module is debug information: half of the places are in bodies of functions.
fn interesting(text: &str, random: &mut Random) -> usize {
    let anywhere = boundary(text, random.below(text.len()));
    if random.flip() {
        return anywhere;
    }
    let before = text[..anywhere].rfind("\ndefine");
    let Some(start) = before.or_else(|| text.find("\ndefine")) else {
        return anywhere;
    };
    let length = text[start..].find("\n}").unwrap_or(text.len() - start);
    boundary(text, start + random.below(length.max(1)))
}

/// The number behind a place becomes another one.
fn number(text: &mut String, at: usize, random: &mut Random) {
    let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()) else {
        return;
    };
    let start = at + start;
    let digits = text[start..].find(|c: char| !c.is_ascii_digit());
    let end = digits.map_or(text.len(), |length| start + length);
    text.replace_range(start..end, random.pick(NUMBERS));
}

/// A word behind a place becomes another one of its kind.
fn word(text: &mut String, at: usize, random: &mut Random) {
    let words = random.pick(IR_WORDS);
    let found = words.iter().filter_map(|word| {
        let here = text[at..].match_indices(word).map(|(found, _)| at + found);
        here.map(|found| found..found + word.len())
            .find(|range| token(text, range.start) == *range || word.contains(' '))
    });
    if let Some(range) = found.min_by_key(|range| range.start) {
        text.replace_range(range, random.pick(words));
    }
}

/// What stands behind a comma, an attribute or a reference to metadata goes.
fn attribute(text: &mut String, at: usize, random: &mut Random) {
    let begins = [
        ", ",
        " #",
        ", !dbg",
        ", align",
        " nsw",
        " noundef",
        " inbounds",
    ];
    let begin = random.pick(&begins);
    let Some(start) = text[at..].find(begin) else {
        return;
    };
    let start = at + start;
    let rest = &text[start + begin.len()..];
    let length = rest.find([',', '\n', ' ']).unwrap_or(rest.len());
    text.replace_range(start..start + begin.len() + length, "");
}

fn boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn next_boundary(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(at, |c| at + c.len_utf8())
}

/// The token around a place, or the character there.
fn token(text: &str, at: usize) -> Range<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.%@!".contains(c);
    if !text[at..].starts_with(is_part) {
        return at..next_boundary(text, at);
    }
    let start = text[..at].rfind(|c| !is_part(c));
    let start = start.map_or(0, |before| next_boundary(text, before));
    let end = text[at..].find(|c| !is_part(c));
    start..end.map_or(text.len(), |length| at + length)
}

fn line(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n');
    start..end.map_or(text.len(), |newline| at + newline + 1)
}

/// A value with a few changes: the result is JSON, and most of it is what is expected.
pub(crate) fn json(value: &mut Value, random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        let copy = {
            let mut from = value.clone();
            somewhere(&mut from, random).clone()
        };
        let place = somewhere(value, random);
        match (random.below(5), &mut *place) {
            (0, _) => *place = copy,
            (1, _) => *place = another(random),
            (_, Value::Array(items)) if !items.is_empty() => {
                let (one, two) = (random.below(items.len()), random.below(items.len()));
                match random.below(4) {
                    0 => drop(items.remove(one)),
                    1 => items.insert(two, items[one].clone()),
                    2 => items.swap(one, two),
                    _ => items.truncate(one),
                }
            }
            (_, Value::Object(members)) if !members.is_empty() => {
                let name = members.keys().nth(random.below(members.len())).cloned();
                let name = name.expect("there is one");
                let member = members.remove(&name);
                if let (true, Some(member)) = (random.flip(), member) {
                    members.insert(format!("{name}x"), member);
                }
            }
            (_, Value::String(string)) => {
                let changed = text(string, "", random);
                *string = changed;
            }
            _ => *place = another(random),
        }
    }
}

fn another(random: &mut Random) -> Value {
    match random.below(6) {
        0 => Value::Null,
        1 => Value::Bool(random.flip()),
        2 => Value::String(
            random
                .pick(&[
                    "",
                    "main",
                    "main.1",
                    "main.4294967295",
                    "main.0",
                    "c11",
                    "tso",
                    "/",
                    "..",
                    "a\nb",
                ])
                .into(),
        ),
        3 => Value::Array(Vec::new()),
        _ => serde_json::from_str(random.pick(NUMBERS)).unwrap_or(Value::Null),
    }
}

/// A value inside of a value, or itself.
fn somewhere<'a>(value: &'a mut Value, random: &mut Random) -> &'a mut Value {
    let inner = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    if inner == 0 || random.below(4) == 0 {
        return value;
    }
    let which = random.below(inner);
    let next = match value {
        Value::Array(items) => items.get_mut(which),
        Value::Object(members) => members.values_mut().nth(which),
        _ => None,
    };
    somewhere(next.expect("it has so many"), random)
}
