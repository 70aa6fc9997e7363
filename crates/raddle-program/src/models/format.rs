//! Formats of `printf`: how directives are read, and how numbers are written. Nothing here touches memory.

/// How wide an integer argument is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Length {
    Byte,
    Short,
    #[default]
    Int,
    /// `long`, `size_t` and `ptrdiff_t`.
    Long,
    LongLong,
    /// `long double`.
    LongDouble,
}

impl Length {
    /// Bytes of an argument, where `long` has so many.
    pub(super) fn bytes(self, word: u8) -> u8 {
        match self {
            Self::Byte => 1,
            Self::Short => 2,
            Self::Int => 4,
            Self::Long => word,
            Self::LongLong | Self::LongDouble => 8,
        }
    }
}

/// A width or precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Number(usize),
    /// `*`: an argument.
    Argument,
}

/// Everything between `%` and the letter, and the letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Directive {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) alternate: bool,
    pub(super) zero: bool,
    pub(super) width: Option<Count>,
    pub(super) precision: Option<Count>,
    pub(super) length: Length,
    pub(super) letter: u8,
}

/// Wider fields than this are mistakes; they would only cost memory. (Rust's own formatting takes no more than 16 bits.)
const MOST: usize = 1 << 15;

impl Directive {
    /// Reads what follows a `%`. Returns it and the rest, or nothing where the format ends or makes no sense.
    pub(super) fn parse(mut rest: &[u8]) -> Option<(Self, &[u8])> {
        let mut directive = Self::default();
        while let [flag, tail @ ..] = rest {
            match flag {
                b'-' => directive.left = true,
                b'+' => directive.plus = true,
                b' ' => directive.space = true,
                b'#' => directive.alternate = true,
                b'0' => directive.zero = true,
                b'\'' => {}
                _ => break,
            }
            rest = tail;
        }
        (directive.width, rest) = count(rest);
        if let [b'.', tail @ ..] = rest {
            let (precision, tail) = count(tail);
            directive.precision = Some(precision.unwrap_or(Count::Number(0)));
            rest = tail;
        }
        let (length, size) = match rest {
            [b'h', b'h', ..] => (Length::Byte, 2),
            [b'h', ..] => (Length::Short, 1),
            [b'l', b'l', ..] => (Length::LongLong, 2),
            [b'q' | b'j', ..] => (Length::LongLong, 1),
            [b'l' | b'z' | b't', ..] => (Length::Long, 1),
            [b'L', ..] => (Length::LongDouble, 1),
            _ => (Length::Int, 0),
        };
        directive.length = length;
        let (&letter, rest) = rest[size..].split_first()?;
        directive.letter = letter;
        Some((directive, rest))
    }

    fn width(&self) -> usize {
        match self.width {
            Some(Count::Number(width)) => width.min(MOST),
            _ => 0,
        }
    }

    pub(super) fn precision(&self) -> Option<usize> {
        match self.precision {
            Some(Count::Number(precision)) => Some(precision.min(MOST)),
            _ => None,
        }
    }

    /// Text in a field of its own.
    pub(super) fn pad_text(&self, text: &[u8]) -> Vec<u8> {
        self.pad(b"", text, false)
    }

    /// Fills up to the width: on the right, with zeros after the sign, or on the left.
    fn pad(&self, sign: &[u8], digits: &[u8], zeros: bool) -> Vec<u8> {
        let missing = self.width().saturating_sub(sign.len() + digits.len());
        let blanks = |count| std::iter::repeat_n(b' ', count);
        let mut text = Vec::with_capacity(sign.len() + digits.len() + missing);
        if !self.left && !zeros {
            text.extend(blanks(missing));
        }
        text.extend_from_slice(sign);
        if !self.left && zeros {
            text.extend(std::iter::repeat_n(b'0', missing));
        }
        text.extend_from_slice(digits);
        if self.left {
            text.extend(blanks(missing));
        }
        text
    }

    fn sign(&self, is_negative: bool) -> &'static str {
        match () {
            () if is_negative => "-",
            () if self.plus => "+",
            () if self.space => " ",
            () => "",
        }
    }

    /// `%d` and `%i`.
    pub(super) fn signed(&self, value: i64) -> Vec<u8> {
        let digits = value.unsigned_abs().to_string();
        let is_nothing = value == 0 && self.precision() == Some(0);
        let digits = if is_nothing { String::new() } else { digits };
        self.integer(self.sign(value < 0), &digits)
    }

    /// `%u`, `%x`, `%X` and `%o`.
    pub(super) fn unsigned(&self, value: u64) -> Vec<u8> {
        let mut digits = match self.letter {
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            b'o' => format!("{value:o}"),
            _ => value.to_string(),
        };
        if value == 0 && self.precision() == Some(0) {
            digits.clear();
        }
        let prefix = match self.letter {
            b'x' if self.alternate && value != 0 => "0x",
            b'X' if self.alternate && value != 0 => "0X",
            _ => "",
        };
        if self.letter == b'o' && self.alternate && !digits.starts_with('0') {
            digits.insert(0, '0');
        }
        self.integer(prefix, &digits)
    }

    fn integer(&self, sign: &str, digits: &str) -> Vec<u8> {
        let precision = self.precision().unwrap_or(0);
        let digits = format!("{digits:0>precision$}");
        // A precision says how many zeros there are; the flag has no say then.
        let zeros = self.zero && self.precision.is_none();
        self.pad(sign.as_bytes(), digits.as_bytes(), zeros)
    }

    pub(super) fn pointer(&self, address: u64) -> Vec<u8> {
        if address == 0 {
            return self.pad(b"", b"(nil)", false);
        }
        self.pad(b"0x", format!("{address:x}").as_bytes(), false)
    }

    /// `%f`, `%e`, `%g`, `%a` and their capitals.
    pub(super) fn float(&self, value: f64) -> Vec<u8> {
        let is_upper = self.letter.is_ascii_uppercase();
        let magnitude = value.abs();
        let sign = self.sign(value.is_sign_negative());
        let precision = self.precision();
        let (sign, digits) = if magnitude.is_finite() {
            match self.letter.to_ascii_lowercase() {
                b'e' => (
                    sign.to_owned(),
                    exponential(magnitude, precision.unwrap_or(6), self.alternate),
                ),
                b'g' => (
                    sign.to_owned(),
                    shortest(magnitude, precision.unwrap_or(6), self.alternate),
                ),
                b'a' => (
                    format!("{sign}0x"),
                    hexadecimal(magnitude, precision, self.alternate),
                ),
                _ => (
                    sign.to_owned(),
                    fixed(magnitude, precision.unwrap_or(6), self.alternate),
                ),
            }
        } else {
            let name = if magnitude.is_nan() { "nan" } else { "inf" };
            (sign.to_owned(), name.to_owned())
        };
        let zeros = self.zero && magnitude.is_finite();
        let text = self.pad(sign.as_bytes(), digits.as_bytes(), zeros);
        if is_upper {
            text.to_ascii_uppercase()
        } else {
            text
        }
    }
}

fn count(rest: &[u8]) -> (Option<Count>, &[u8]) {
    if let [b'*', tail @ ..] = rest {
        return (Some(Count::Argument), tail);
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return (None, rest);
    }
    let number = rest[..digits].iter().fold(0usize, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'))
    });
    (Some(Count::Number(number)), &rest[digits..])
}

fn fixed(value: f64, precision: usize, keeps_point: bool) -> String {
    let point = if keeps_point && precision == 0 {
        "."
    } else {
        ""
    };
    format!("{value:.precision$}{point}")
}

/// One digit, the point, `precision` digits, an exponent of two digits at least.
fn exponential(value: f64, precision: usize, keeps_point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let point = if keeps_point && precision == 0 {
        "."
    } else {
        ""
    };
    format!("{digits}{point}e{sign}{:02}", exponent.abs())
}

/// `%g`: the shorter of the two, without zeros at the end.
fn shortest(value: f64, precision: usize, keeps_zeros: bool) -> String {
    let precision = precision.max(1);
    let text = exponential(value, precision - 1, keeps_zeros);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    if power < -4 || power >= precision as i32 {
        let digits = if keeps_zeros {
            digits
        } else {
            without_zeros(digits)
        };
        return format!("{digits}e{exponent}");
    }
    let decimals = (precision as i32 - 1 - power).max(0) as usize;
    let text = fixed(value, decimals, keeps_zeros);
    if keeps_zeros {
        text
    } else {
        without_zeros(&text).to_owned()
    }
}

fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    }
}

/// `%a` without its `0x`.
fn hexadecimal(value: f64, precision: Option<usize>, keeps_point: bool) -> String {
    const FRACTION_BITS: u32 = 52;
    const FRACTION_DIGITS: usize = 13;
    let bits = value.to_bits();
    let biased = (bits >> FRACTION_BITS & 0x7FF) as i32;
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    let (lead, exponent) = match biased {
        0 if fraction == 0 => (0u64, 0),
        0 => (0, -1022),
        biased => (1, biased - 1023),
    };
    // Digit by digit: the one before the point and thirteen after it, rounded to even.
    let mut number = lead << FRACTION_BITS | fraction;
    let mut digits = FRACTION_DIGITS;
    if let Some(wanted) = precision.filter(|&wanted| wanted < FRACTION_DIGITS) {
        let dropped = 4 * (FRACTION_DIGITS - wanted) as u32;
        let half = 1u64 << (dropped - 1);
        let (rest, kept) = (number & ((1 << dropped) - 1), number >> dropped);
        let rounds_up = rest > half || rest == half && kept & 1 == 1;
        number = kept + u64::from(rounds_up);
        digits = wanted;
    }
    let lead = number >> (4 * digits);
    let mut tail = if digits == 0 {
        String::new()
    } else {
        let tail = number & ((1 << (4 * digits)) - 1);
        format!("{tail:0digits$x}")
    };
    match precision {
        Some(wanted) => tail.extend(std::iter::repeat_n('0', wanted.saturating_sub(tail.len()))),
        None => tail.truncate(tail.trim_end_matches('0').len()),
    }
    let point = if tail.is_empty() && !keeps_point {
        ""
    } else {
        "."
    };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{lead:x}{point}{tail}p{sign}{}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directive(text: &str) -> Directive {
        let (directive, rest) = Directive::parse(text.as_bytes()).expect("a directive");
        assert!(rest.is_empty());
        directive
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn integers_are_written_as_c_does() {
        let signed = |format, value| text(directive(format).signed(value));
        assert_eq!(signed("d", -5), "-5");
        assert_eq!(signed("5d", 42), "   42");
        assert_eq!(signed("-5d", 42), "42   ");
        assert_eq!(signed("05d", -42), "-0042");
        assert_eq!(signed("+d", 42), "+42");
        assert_eq!(signed(" d", 42), " 42");
        assert_eq!(signed("8.3d", 7), "     007");
        assert_eq!(signed("08.3d", 7), "     007");
        assert_eq!(signed(".0d", 0), "");
        assert_eq!(signed("ld", i64::MIN), "-9223372036854775808");
        let unsigned = |format, value| text(directive(format).unsigned(value));
        assert_eq!(unsigned("x", 255), "ff");
        assert_eq!(unsigned("#X", 255), "0XFF");
        assert_eq!(unsigned("#010x", 255), "0x000000ff");
        assert_eq!(unsigned("#o", 8), "010");
        assert_eq!(unsigned("#x", 0), "0");
        assert_eq!(unsigned("zu", u64::MAX), "18446744073709551615");
    }

    #[test]
    fn floats_are_written_as_c_does() {
        let float = |format, value| text(directive(format).float(value));
        assert_eq!(float("f", 3.25), "3.250000");
        assert_eq!(float(".0f", 2.5), "2");
        assert_eq!(float("#.0f", 2.0), "2.");
        assert_eq!(float("8.2f", -1.5), "   -1.50");
        assert_eq!(float("08.2f", -1.5), "-0001.50");
        assert_eq!(float("e", 12345.678), "1.234568e+04");
        assert_eq!(float(".2E", 0.000123), "1.23E-04");
        assert_eq!(float("g", 0.0001), "0.0001");
        assert_eq!(float("g", 0.00001), "1e-05");
        assert_eq!(float("g", 100000.0), "100000");
        assert_eq!(float("g", 1000000.0), "1e+06");
        assert_eq!(float("#g", 1.5), "1.50000");
        assert_eq!(float("g", 0.0), "0");
        assert_eq!(float("f", f64::INFINITY), "inf");
        assert_eq!(float("F", f64::NAN), "NAN");
        assert_eq!(float("05f", f64::NEG_INFINITY), " -inf");
        assert_eq!(float("a", 1.0), "0x1p+0");
        assert_eq!(float("a", 0.1), "0x1.999999999999ap-4");
        assert_eq!(float(".2a", 1.999), "0x2.00p+0");
        assert_eq!(float(".0a", 1.5), "0x2p+0");
        assert_eq!(float("a", 0.0), "0x0p+0");
    }

    #[test]
    fn directives_that_make_no_sense_are_told() {
        assert!(Directive::parse(b"").is_none());
        assert!(Directive::parse(b"-5").is_none());
        assert!(Directive::parse(b"ll").is_none());
        let (with_stars, _) = Directive::parse(b"*.*f").expect("a directive");
        assert_eq!(with_stars.width, Some(Count::Argument));
        assert_eq!(with_stars.precision, Some(Count::Argument));
        assert_eq!(
            text(directive("99999999999999999999s").pad_text(b"")).len(),
            MOST
        );
    }
}
