//! The values behind a failed assertion, beside the words that its author used for them.

use crate::names::Names;
use crate::number::Number;
use raddle_program::op::sign_extend;
use raddle_program::{ComparedAs, Comparison};

/// What both sides of the comparison were: `counter is 1`. None where the text does not show what was compared.
pub(crate) fn operands(
    names: &Names<'_>,
    condition: &str,
    comparison: &Comparison,
) -> Option<String> {
    let part = false_part(condition, comparison)?;
    let value = |value| shown(names, comparison.kind, value);
    let sides = match (comparison_of(part), comparison.right) {
        (Sides::Two(left, right), Some(other)) => {
            vec![(left, comparison.left), (right, other)]
        }
        // `assert(x != 0)` and `assert(x)` are the same code.
        (Sides::Two(left, _), None) => vec![(left, comparison.left)],
        (Sides::One(text), None) => vec![(text, comparison.left)],
        (Sides::One(_), Some(_)) | (Sides::Unclear, _) => return None,
    };
    let said: Vec<String> = sides
        .into_iter()
        .map(|(text, it)| (unwrapped(text), it))
        .filter(|(text, _)| !text.is_empty() && !is_literal(text))
        .map(|(text, it)| (text, value(it)))
        .filter(|(text, value)| text != value)
        .map(|(text, value)| format!("{text} is {value}"))
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn shown(names: &Names<'_>, kind: ComparedAs, value: u64) -> String {
    match kind {
        ComparedAs::Pointer => names.pointer(value),
        ComparedAs::Float => Number::Single(f32::from_bits(value as u32)).to_string(),
        ComparedAs::Double => Number::Double(f64::from_bits(value)).to_string(),
        ComparedAs::Integer { bits, signed } => {
            let size = bits.div_ceil(8);
            match signed {
                Some(true) => sign_extend(value, size).to_string(),
                Some(false) => value.to_string(),
                None => names.untyped(value, size),
            }
        }
    }
}

/// The part of `a && b` that was found false: the code has one branch for each.
fn false_part<'a>(condition: &'a str, comparison: &Comparison) -> Option<&'a str> {
    let parts = split(condition, "&&");
    if split(condition, "||").len() > 1 || split(condition, "?").len() > 1 {
        return None;
    }
    if parts.len() == comparison.parts as usize {
        parts.get(comparison.part as usize).map(|part| part.trim())
    } else {
        None
    }
}

enum Sides<'a> {
    Two(&'a str, &'a str),
    One(&'a str),
    Unclear,
}

/// The sides of the only comparison in a text.
fn comparison_of(text: &str) -> Sides<'_> {
    let text = unwrapped(text);
    let mut found = None;
    for operator in ["==", "!=", "<=", ">=", "<", ">"] {
        let parts = split(text, operator);
        match parts.as_slice() {
            [_] => {}
            [left, right] if found.is_none() => found = Some((left.trim(), right.trim())),
            _ => return Sides::Unclear,
        }
        if found.is_some() && operator.len() == 2 {
            break;
        }
    }
    match found {
        Some((left, right)) => Sides::Two(left, right),
        None => Sides::One(text.trim_start_matches(['!', ' '])),
    }
}

/// Splits at an operator outside of brackets and quotes. `<` is not `<=`, `<<` or `->`.
fn split<'a>(text: &'a str, operator: &str) -> Vec<&'a str> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let (mut depth, mut quote, mut start, mut at) = (0usize, None, 0, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 && is_operator(bytes, at, operator) => {
                parts.push(&text[start..at]);
                at += operator.len() - 1;
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(&text[start.min(text.len())..]);
    parts
}

fn is_operator(bytes: &[u8], at: usize, operator: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| b"<>=!&|-".contains(byte));
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    let after = bytes.get(at + operator.len());
    bytes[at..].starts_with(operator.as_bytes())
        && !is_part(before)
        // What follows may have a sign, a negation or an address of its own, unless that makes it another operator.
        && !after.is_some_and(|byte| b"<>=".contains(byte))
}

/// Without brackets around the whole.
fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
        let mut depth = 0i32;
        let closes_early = inner.bytes().any(|byte| {
            depth += i32::from(byte == b'(') - i32::from(byte == b')');
            depth < 0
        });
        if closes_early {
            break;
        }
        text = inner.trim();
    }
    text
}

/// A number or a text says itself what it is.
fn is_literal(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+', ' ']);
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '\'')
        || is_string_literal(text)
        || matches!(text, "NULL" | "nullptr" | "true" | "false")
}

/// `"text"`, also a wide one or a raw one.
fn is_string_literal(text: &str) -> bool {
    let quoted = ["u8", "u", "U", "L", ""]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix)?.strip_prefix(['R', '"']));
    text.ends_with('"') && quoted.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(text: &str) -> (String, String) {
        match comparison_of(text) {
            Sides::Two(left, right) => (left.to_owned(), right.to_owned()),
            Sides::One(text) => (text.to_owned(), String::new()),
            Sides::Unclear => ("?".to_owned(), "?".to_owned()),
        }
    }

    #[test]
    fn comparisons_are_split_at_their_operator() {
        let two = |text, left: &str, right: &str| {
            assert_eq!(sides(text), (left.to_owned(), right.to_owned()), "{text}");
        };
        two("x == 2", "x", "2");
        two("(x==y)", "x", "y");
        two("p->next != -1", "p->next", "-1");
        two("a[i < 3] <= f(b > c)", "a[i < 3]", "f(b > c)");
        two("x << 2 < 9", "x << 2", "9");
        two("s->len >= 1", "s->len", "1");
        two("c == '<'", "c", "'<'");
        two("!ready", "ready", "");
        two("ready", "ready", "");
        two("a == b == c", "?", "?");
        two("ours+theirs == &x", "ours+theirs", "&x");
    }

    #[test]
    fn the_false_part_of_a_conjunction_is_told_by_its_branch() {
        let of = |text, part, parts| {
            let comparison = Comparison {
                left: 0,
                right: None,
                kind: ComparedAs::Pointer,
                part,
                parts,
            };
            false_part(text, &comparison)
        };
        assert_eq!(of("a == 1 && b == 2", 1, 2), Some("b == 2"));
        assert_eq!(of("a == 1 && (b || c)", 0, 2), Some("a == 1"));
        assert_eq!(of("a == 1 && b == 2", 0, 1), None);
        assert_eq!(of("a || b", 0, 1), None);
        assert_eq!(of("x == 1", 0, 1), Some("x == 1"));
    }

    #[test]
    fn texts_of_any_kind_do_no_harm() {
        for text in [
            "", "(", ")", "((", "'", "\"\\", "==", "<", "a ==", "&&", "é == ü", "(é)",
        ] {
            for operator in ["==", "&&", "<"] {
                split(text, operator);
            }
            comparison_of(text);
            unwrapped(text);
        }
    }
}
