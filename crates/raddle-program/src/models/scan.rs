//! `sscanf`: values out of text, as a format says. Files and standard input have nothing to read ([`super::streams`], [`super::unix`]).

use super::errno::int;
use super::{Model, ModelResult, Pause, Script, model};
use crate::op::Order;

pub(super) const MODELS: &[Model] = &[
    model("sscanf", scan),
    model("__isoc99_sscanf", scan),
    model("__isoc23_sscanf", scan),
];

const EOF: i32 = -1;

/// A directive of a format: what stands behind `%`.
#[derive(Debug, PartialEq, Eq)]
struct Directive {
    /// Is what was read thrown away?
    is_ignored: bool,
    width: Option<usize>,
    /// Bytes of an integer.
    size: u8,
    /// Is a number with a point twice as long?
    is_long: bool,
    /// Is a number with a point still longer than that?
    is_longest: bool,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// Of a base; 0 if the text says which.
    Signed(u32),
    Unsigned(u32),
    Float,
    /// Bytes up to the next space.
    Word,
    /// So many bytes, and none behind them.
    Bytes,
    /// Bytes that are in a set, or not.
    Set {
        is_negated: bool,
        bytes: Vec<u8>,
    },
    /// How many bytes were read so far.
    Count,
    Percent,
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}

/// Reads a directive behind its `%`; and where the format goes on.
fn directive(format: &[u8]) -> Option<(Directive, &[u8])> {
    let mut rest = format;
    let mut next = || {
        let (&first, others) = rest.split_first()?;
        rest = others;
        Some(first)
    };
    let mut byte = next()?;
    let is_ignored = byte == b'*';
    if is_ignored {
        byte = next()?;
    }
    let mut width = None;
    while byte.is_ascii_digit() {
        let digit = usize::from(byte - b'0');
        width = Some(
            width
                .unwrap_or(0usize)
                .saturating_mul(10)
                .saturating_add(digit),
        );
        byte = next()?;
    }
    let (mut size, mut is_long, mut is_longest) = (4, false, false);
    loop {
        match byte {
            b'h' => size /= 2,
            b'l' => (size, is_long) = (8, true),
            b'j' | b'z' | b't' | b'q' => size = 8,
            b'L' => (size, is_longest) = (8, true),
            _ => break,
        }
        byte = next()?;
    }
    let kind = match byte {
        b'd' => Kind::Signed(10),
        b'i' => Kind::Signed(0),
        b'u' => Kind::Unsigned(10),
        b'x' | b'X' => Kind::Unsigned(16),
        b'p' => {
            size = 8;
            Kind::Unsigned(16)
        }
        b'o' => Kind::Unsigned(8),
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => Kind::Float,
        b's' => Kind::Word,
        b'c' => Kind::Bytes,
        b'n' => Kind::Count,
        b'%' => Kind::Percent,
        b'[' => {
            let is_negated = rest.first() == Some(&b'^');
            let begin = &rest[usize::from(is_negated)..];
            // A bracket that comes first is a member.
            let end = 1 + begin.iter().skip(1).position(|&byte| byte == b']')?;
            let bytes = members(&begin[..end]);
            rest = &begin[end + 1..];
            Kind::Set { is_negated, bytes }
        }
        _ => return None,
    };
    let directive = Directive {
        is_ignored,
        width,
        size: size.max(1),
        is_long,
        is_longest,
        kind,
    };
    Some((directive, rest))
}

/// The bytes of a set: `a-z` are all that lie between.
fn members(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(&first) = text.get(at) {
        match (text.get(at + 1), text.get(at + 2)) {
            (Some(b'-'), Some(&last)) => {
                bytes.extend(first..=last);
                at += 3;
            }
            _ => {
                bytes.push(first);
                at += 1;
            }
        }
    }
    bytes
}

/// The length of the integer that a text begins with, and what it is: negative ones wrap. None if it is none.
fn integer(text: &[u8], base: u32) -> Option<(usize, u64)> {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let is_negative = text.first() == Some(&b'-');
    let digits = &text[sign..];
    let is_hex = digits.len() > 2
        && digits[0] == b'0'
        && digits[1] | 0x20 == b'x'
        && digits[2].is_ascii_hexdigit();
    let (base, prefix) = match base {
        0 | 16 if is_hex => (16, 2),
        0 if digits.first() == Some(&b'0') => (8, 0),
        0 => (10, 0),
        base => (base, 0),
    };
    let digits = &digits[prefix..];
    let is_digit = |byte: &&u8| char::from(**byte).is_digit(base);
    let len = digits.iter().take_while(is_digit).count();
    let value = digits[..len].iter().fold(0u64, |value, &byte| {
        let digit = char::from(byte).to_digit(base).unwrap_or(0);
        value
            .saturating_mul(u64::from(base))
            .saturating_add(u64::from(digit))
    });
    let value = if is_negative {
        value.wrapping_neg()
    } else {
        value
    };
    (len > 0).then_some((sign + prefix + len, value))
}

/// The same for a decimal number with a point.
fn float(text: &[u8]) -> Option<(usize, f64)> {
    let is_part = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let len = text.iter().take_while(is_part).count();
    let number = std::str::from_utf8(&text[..len]).ok()?;
    (1..=len)
        .rev()
        .find_map(|end| Some((end, number[..end].parse().ok()?)))
}

/// What a directive found.
enum Found {
    Number(u64),
    Float(f64),
    /// The bytes themselves; and does a zero follow them?
    Bytes {
        ends: bool,
    },
}

/// What a directive finds at the beginning of a text, and how long it is. None if it does not match.
fn found(directive: &Directive, text: &[u8]) -> Option<(usize, Found)> {
    let width = directive.width.unwrap_or(match directive.kind {
        Kind::Bytes => 1,
        _ => usize::MAX,
    });
    let text = &text[..width.min(text.len())];
    let run = |is_member: &dyn Fn(u8) -> bool| {
        let len = text.iter().take_while(|&&byte| is_member(byte)).count();
        (len > 0).then_some((len, Found::Bytes { ends: true }))
    };
    match &directive.kind {
        Kind::Signed(base) | Kind::Unsigned(base) => {
            integer(text, *base).map(|(len, value)| (len, Found::Number(value)))
        }
        Kind::Float => float(text).map(|(len, value)| (len, Found::Float(value))),
        Kind::Word => run(&|byte| !is_space(byte)),
        Kind::Set { is_negated, bytes } => run(&|byte| bytes.contains(&byte) != *is_negated),
        Kind::Bytes => {
            let len = text.len();
            (len == width).then_some((len, Found::Bytes { ends: false }))
        }
        Kind::Count | Kind::Percent => None,
    }
}

impl Script<'_, '_> {
    /// Stores what was found: these bytes.
    fn store_found(
        &mut self,
        directive: &Directive,
        to: u64,
        found: &Found,
        bytes: &[u8],
    ) -> Result<(), Pause> {
        match *found {
            Found::Number(value) => {
                self.store(to, directive.size, value, Order::Plain)?;
            }
            Found::Float(_) if directive.is_longest => {
                return Err(self.unsupported("a `long double` out of text"));
            }
            Found::Float(value) if directive.is_long => {
                self.store(to, 8, value.to_bits(), Order::Plain)?;
            }
            Found::Float(value) => {
                self.store(to, 4, u64::from((value as f32).to_bits()), Order::Plain)?;
            }
            Found::Bytes { ends } => {
                let end = ends.then_some(&0);
                for (at, &byte) in bytes.iter().chain(end).enumerate() {
                    let to = to.wrapping_add(at as u64);
                    self.store(to, 1, u64::from(byte), Order::Plain)?;
                }
            }
        }
        Ok(())
    }
}

/// `(text, format, where to …)`: how many values were stored.
fn scan(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = cx.string(cx.arg(0))?;
    let format = cx.string(cx.arg(1))?;
    let (mut at, mut stored, mut next) = (0, 0, 2);
    let mut rest = &format[..];
    let spaces = |at: usize| text[at..].iter().take_while(|&&it| is_space(it)).count();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if is_space(byte) {
            at += spaces(at);
            continue;
        }
        if byte != b'%' {
            if text.get(at) != Some(&byte) {
                break;
            }
            at += 1;
            continue;
        }
        let Some((directive, behind)) = directive(rest) else {
            return Err(cx.unsupported("this format"));
        };
        rest = behind;
        if !matches!(directive.kind, Kind::Bytes | Kind::Set { .. } | Kind::Count) {
            at += spaces(at);
        }
        match directive.kind {
            Kind::Percent => {
                if text.get(at) != Some(&b'%') {
                    break;
                }
                at += 1;
                continue;
            }
            Kind::Count => {
                if !directive.is_ignored {
                    cx.store(cx.arg(next), directive.size, at as u64, Order::Plain)?;
                    next += 1;
                }
                continue;
            }
            _ => {}
        }
        // The end of the text before anything was stored is told from what does not match.
        if at == text.len() && stored == 0 {
            return int(EOF);
        }
        let Some((len, found)) = found(&directive, &text[at..]) else {
            break;
        };
        if !directive.is_ignored {
            cx.store_found(&directive, cx.arg(next), &found, &text[at..at + len])?;
            next += 1;
            stored += 1;
        }
        at += len;
    }
    int(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_say_what_is_read() {
        let kind =
            |format: &str| directive(format.as_bytes()).map(|(it, rest)| (it.kind, rest.len()));
        assert_eq!(kind("d x"), Some((Kind::Signed(10), 2)));
        assert_eq!(kind("*5lu"), Some((Kind::Unsigned(10), 0)));
        let set = Kind::Set {
            is_negated: true,
            bytes: b"]ab".to_vec(),
        };
        assert_eq!(kind("[^]a-b]!"), Some((set, 1)));
        assert_eq!(kind("[abc"), None);
        assert_eq!(kind("y"), None);
        assert_eq!(kind(""), None);
        let (it, _) = directive(b"*12hhd").expect("a directive");
        assert_eq!((it.is_ignored, it.width, it.size), (true, Some(12), 1));
    }

    #[test]
    fn numbers_end_where_they_end() {
        assert_eq!(integer(b"12ab", 10), Some((2, 12)));
        assert_eq!(integer(b"-3", 10), Some((2, 3u64.wrapping_neg())));
        assert_eq!(integer(b"0x1fz", 0), Some((4, 31)));
        assert_eq!(integer(b"017", 0), Some((3, 15)));
        assert_eq!(integer(b"0x", 16), Some((1, 0)));
        assert_eq!(integer(b"-", 10), None);
        assert_eq!(float(b"1.5e2x"), Some((5, 150.0)));
        assert_eq!(float(b"1e"), Some((1, 1.0)));
        assert_eq!(float(b"x"), None);
    }
}
