//! Numbers out of text, kinds of characters, absolute values.

use super::errno::{ERANGE, int};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::sign_extend;

pub(super) const MODELS: &[Model] = &[
    model("atoi", atoi),
    model("atol", atol),
    model("atoll", atol),
    model("atof", atof),
    model("strtol", strtol).capturing(&[0]),
    model("strtoll", strtol).capturing(&[0]),
    model("strtoul", strtoul).capturing(&[0]),
    model("strtoull", strtoul).capturing(&[0]),
    model("__isoc23_strtol", strtol).capturing(&[0]),
    model("__isoc23_strtoll", strtol).capturing(&[0]),
    model("__isoc23_strtoul", strtoul).capturing(&[0]),
    model("__isoc23_strtoull", strtoul).capturing(&[0]),
    model("strtod", strtod).capturing(&[0]),
    model("abs", abs),
    model("labs", labs),
    model("llabs", labs),
    model("isalpha", classify),
    model("isdigit", classify),
    model("isalnum", classify),
    model("isspace", classify),
    model("isupper", classify),
    model("islower", classify),
    model("ispunct", classify),
    model("isprint", classify),
    model("isgraph", classify),
    model("iscntrl", classify),
    model("isxdigit", classify),
    model("isblank", classify),
    model("toupper", to_upper),
    model("tolower", to_lower),
    model("__ctype_b_loc", class_table),
    model("__ctype_toupper_loc", upper_table),
    model("__ctype_tolower_loc", lower_table),
];

// ---- integers

/// A number read from text.
struct Parsed {
    is_negative: bool,
    /// Saturates.
    magnitude: u128,
    /// Bytes read, 0 if there was no number.
    len: u64,
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}

/// Reads a number as `strtol` does. Only the bytes that it has to look at are read.
fn parse(cx: &mut Script<'_, '_>, address: u64, base: u32) -> Result<Parsed, Pause> {
    let mut base = base;
    let mut at = 0u64;
    let byte_at = |cx: &mut Script<'_, '_>, at: u64| cx.byte(address.wrapping_add(at));
    let mut byte = byte_at(cx, at)?;
    while is_space(byte) {
        at += 1;
        byte = byte_at(cx, at)?;
    }
    let is_negative = byte == b'-';
    if byte == b'-' || byte == b'+' {
        at += 1;
        byte = byte_at(cx, at)?;
    }
    let mut parsed = Parsed {
        is_negative,
        magnitude: 0,
        len: 0,
    };
    if byte == b'0' && (base == 0 || base == 16) {
        at += 1;
        parsed.len = at;
        byte = byte_at(cx, at)?;
        let is_hex = byte | 0x20 == b'x' && byte_at(cx, at + 1)?.is_ascii_hexdigit();
        if is_hex {
            base = 16;
            at += 1;
            byte = byte_at(cx, at)?;
        } else if base == 0 {
            base = 8;
        }
    }
    let base = if base == 0 { 10 } else { base };
    while let Some(digit) = char::from(byte).to_digit(base) {
        parsed.magnitude = parsed
            .magnitude
            .saturating_mul(u128::from(base))
            .saturating_add(u128::from(digit));
        at += 1;
        parsed.len = at;
        byte = byte_at(cx, at)?;
    }
    Ok(parsed)
}

impl Parsed {
    /// The value as so many bits have it, and whether it had to be cut.
    fn signed(&self, bits: u32) -> (i64, bool) {
        let largest = if bits == 32 {
            0x7FFF_FFFF
        } else {
            i64::MAX as u128
        };
        let limit = largest + u128::from(self.is_negative);
        let magnitude = self.magnitude.min(limit) as u64;
        let value = if self.is_negative {
            magnitude.wrapping_neg()
        } else {
            magnitude
        };
        (value.cast_signed(), self.magnitude > limit)
    }

    /// Negative numbers wrap.
    fn unsigned(&self, bits: u32) -> (u64, bool) {
        let largest = if bits == 32 {
            u32::MAX.into()
        } else {
            u64::MAX
        };
        match u64::try_from(self.magnitude) {
            Ok(value) if value > largest => (largest, true),
            Ok(value) if self.is_negative => (value.wrapping_neg(), false),
            Ok(value) => (value, false),
            Err(_) => (largest, true),
        }
    }
}

fn atoi(cx: &mut Script<'_, '_>) -> ModelResult {
    let (value, _) = parse(cx, cx.arg(0), 10)?.signed(64);
    int(value as i32)
}

fn atol(cx: &mut Script<'_, '_>) -> ModelResult {
    let (value, _) = parse(cx, cx.arg(0), 10)?.signed(cx.result_bits());
    Ok(Outcome::Return(value.cast_unsigned()))
}

fn strtol(cx: &mut Script<'_, '_>) -> ModelResult {
    string_to(cx, |parsed, bits| {
        let (value, is_cut) = parsed.signed(bits);
        (value.cast_unsigned(), is_cut)
    })
}

fn strtoul(cx: &mut Script<'_, '_>) -> ModelResult {
    string_to(cx, Parsed::unsigned)
}

fn string_to(cx: &mut Script<'_, '_>, value: fn(&Parsed, u32) -> (u64, bool)) -> ModelResult {
    let base = cx.arg(2) as u32;
    if base == 1 || base > 36 {
        return Err(cx.unsupported("this base"));
    }
    let parsed = parse(cx, cx.arg(0), base)?;
    if cx.arg(1) != 0 {
        cx.store_pointer(cx.arg(1), cx.arg(0).wrapping_add(parsed.len))?;
    }
    let (value, is_cut) = value(&parsed, cx.result_bits());
    if is_cut {
        cx.set_errno(ERANGE)?;
    }
    Ok(Outcome::Return(value))
}

// ---- floating point

fn atof(cx: &mut Script<'_, '_>) -> ModelResult {
    let (value, _) = parse_float(cx, cx.arg(0))?;
    Ok(Outcome::Return(value.to_bits()))
}

fn strtod(cx: &mut Script<'_, '_>) -> ModelResult {
    let (value, len) = parse_float(cx, cx.arg(0))?;
    if cx.arg(1) != 0 {
        cx.store_pointer(cx.arg(1), cx.arg(0).wrapping_add(len))?;
    }
    Ok(Outcome::Return(value.to_bits()))
}

/// Decimal numbers only: nobody writes the others in tests of threads.
fn parse_float(cx: &mut Script<'_, '_>, address: u64) -> Result<(f64, u64), Pause> {
    let text = cx.string(address)?;
    let start = text.iter().take_while(|&&byte| is_space(byte)).count();
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let len = text[start..]
        .iter()
        .take_while(|byte| is_part(byte))
        .count();
    let number = std::str::from_utf8(&text[start..start + len]).unwrap_or_default();
    // The longest beginning that is a number.
    for end in (1..=number.len()).rev() {
        if let Ok(value) = number[..end].parse::<f64>() {
            return Ok((value, (start + end) as u64));
        }
    }
    Ok((0.0, 0))
}

fn abs(cx: &mut Script<'_, '_>) -> ModelResult {
    int(cx.arg_i32(0).wrapping_abs())
}

fn labs(cx: &mut Script<'_, '_>) -> ModelResult {
    let size = (cx.result_bits() / 8) as u8;
    let value = sign_extend(cx.arg(0), size);
    Ok(Outcome::Return(value.wrapping_abs().cast_unsigned()))
}

// ---- characters, in the "C" locale

/// A function's name, the bit of its class, and who is in it.
type Class = (&'static str, u16, fn(u8) -> bool);

/// The bits are those of glibc's table on little-endian machines.
const CLASSES: [Class; 12] = [
    ("isupper", 1 << 8, |c| c.is_ascii_uppercase()),
    ("islower", 1 << 9, |c| c.is_ascii_lowercase()),
    ("isalpha", 1 << 10, |c| c.is_ascii_alphabetic()),
    ("isdigit", 1 << 11, |c| c.is_ascii_digit()),
    ("isxdigit", 1 << 12, |c| c.is_ascii_hexdigit()),
    ("isspace", 1 << 13, is_space),
    ("isprint", 1 << 14, |c| c.is_ascii_graphic() || c == b' '),
    ("isgraph", 1 << 15, |c| c.is_ascii_graphic()),
    ("isblank", 1, |c| c == b' ' || c == b'\t'),
    ("iscntrl", 1 << 1, |c| c.is_ascii_control()),
    ("ispunct", 1 << 2, |c| c.is_ascii_punctuation()),
    ("isalnum", 1 << 3, |c| c.is_ascii_alphanumeric()),
];

fn classify(cx: &mut Script<'_, '_>) -> ModelResult {
    let class = CLASSES
        .iter()
        .find(|(name, ..)| *name == cx.function_name());
    let byte = u8::try_from(cx.arg_i32(0)).ok();
    let belongs = class
        .zip(byte)
        .is_some_and(|((_, _, belongs), byte)| belongs(byte));
    int(i32::from(belongs))
}

fn to_upper(cx: &mut Script<'_, '_>) -> ModelResult {
    map_byte(cx, |byte| byte.to_ascii_uppercase())
}

fn to_lower(cx: &mut Script<'_, '_>) -> ModelResult {
    map_byte(cx, |byte| byte.to_ascii_lowercase())
}

fn map_byte(cx: &mut Script<'_, '_>, map: fn(u8) -> u8) -> ModelResult {
    let value = cx.arg_i32(0);
    int(u8::try_from(value).map_or(value, |byte| i32::from(map(byte))))
}

/// Tables start at -128, and their users hold a pointer to a pointer to the entry of 0.
const BEFORE: u64 = 128;
const ENTRIES: u64 = 384;

fn class_table(cx: &mut Script<'_, '_>) -> ModelResult {
    let class_of = |index: u64| {
        let byte = index.checked_sub(BEFORE).and_then(|c| u8::try_from(c).ok());
        let bits = CLASSES.iter().filter(|(_, _, has)| byte.is_some_and(has));
        bits.fold(0u16, |all, (_, bit, _)| all | bit)
    };
    let bytes: Vec<u8> = (0..ENTRIES)
        .flat_map(|index| class_of(index).to_le_bytes())
        .collect();
    table(
        cx,
        ["classes of characters", "pointer to classes"],
        &bytes,
        2,
    )
}

fn upper_table(cx: &mut Script<'_, '_>) -> ModelResult {
    let bytes = mapping(|byte| byte.to_ascii_uppercase());
    table(cx, ["upper case", "pointer to upper case"], &bytes, 4)
}

fn lower_table(cx: &mut Script<'_, '_>) -> ModelResult {
    let bytes = mapping(|byte| byte.to_ascii_lowercase());
    table(cx, ["lower case", "pointer to lower case"], &bytes, 4)
}

fn mapping(map: fn(u8) -> u8) -> Vec<u8> {
    (0..ENTRIES)
        .flat_map(|index| {
            let value = index.cast_signed() as i32 - BEFORE as i32;
            let mapped = u8::try_from(value).map_or(value, |byte| i32::from(map(byte)));
            mapped.to_le_bytes()
        })
        .collect()
}

fn table(
    cx: &mut Script<'_, '_>,
    [name, pointer_name]: [&'static str; 2],
    bytes: &[u8],
    entry: u64,
) -> ModelResult {
    let table = cx.constant_bytes(name, bytes)?;
    let zero = table + BEFORE * entry;
    let pointer = cx.constant_bytes(pointer_name, &zero.to_le_bytes())?;
    Ok(Outcome::Return(pointer))
}

impl Script<'_, '_> {
    /// The address of bytes that exist once under `name`, with these contents. Not a step.
    pub(super) fn constant_bytes(
        &mut self,
        name: &'static str,
        bytes: &[u8],
    ) -> Result<u64, Pause> {
        Ok(self.machine.initialised_global(name, bytes.into())?)
    }
}
