//! Printing. What goes to standard streams is shown in the replay of an execution; the rest goes to files (`streams.rs`).

use super::errno::{int, zero};
use super::format::{Count, Directive, Length};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Order, mask, sign_extend};

pub(super) const MODELS: &[Model] = &[
    model("printf", printf),
    model("__printf_chk", printf_chk),
    model("fprintf", fprintf),
    model("__fprintf_chk", fprintf_chk),
    model("dprintf", dprintf),
    model("sprintf", sprintf),
    model("__sprintf_chk", sprintf_chk),
    model("snprintf", snprintf),
    model("__snprintf_chk", snprintf_chk),
    model("vprintf", vprintf),
    model("__vprintf_chk", vprintf_chk),
    model("vfprintf", vfprintf),
    model("__vfprintf_chk", vfprintf_chk),
    model("vsprintf", vsprintf),
    model("__vsprintf_chk", vsprintf_chk),
    model("vsnprintf", vsnprintf),
    model("__vsnprintf_chk", vsnprintf_chk),
    model("puts", puts),
    model("fputs", fputs),
    model("fputs_unlocked", fputs),
    model("putchar", putchar),
    model("putchar_unlocked", putchar),
    model("fputc", fputc),
    model("putc", fputc),
    model("_IO_putc", fputc),
    model("fwrite", fwrite),
    model("fwrite_unlocked", fwrite),
    model("perror", perror),
    model("fflush", zero),
    model("fflush_unlocked", zero),
    model("setvbuf", zero),
    model("setbuf", zero),
    model("setlinebuf", zero),
    model("flockfile", zero),
    model("funlockfile", zero),
];

/// Where the arguments of a format come from.
enum Arguments {
    /// The argument slots from here on.
    Slots(usize),
    /// Memory from here on: what a `va_list` points to.
    Memory(u64),
}

/// What becomes of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The program sees it.
    Kept,
    /// It goes to a stream: a symbolic engine need not know it, only what is read for it.
    Shown,
}

impl Arguments {
    /// The list at an address. Lists are made by our own `va_start`: nothing is in registers.
    fn list(cx: &mut Script<'_, '_>, list: u64) -> Result<Self, Pause> {
        const OVERFLOW_AREA: u64 = 8;
        if cx.word() == 4 {
            // On i386 a list is the pointer itself.
            return Ok(Self::Memory(list));
        }
        let area = cx.load(list.wrapping_add(OVERFLOW_AREA), 8, Order::Plain)?;
        Ok(Self::Memory(area))
    }

    /// The next one, which has so many bytes.
    fn next(&mut self, cx: &mut Script<'_, '_>, size: u8) -> Result<u64, Pause> {
        match self {
            Self::Slots(next) => {
                *next += 1;
                Ok(cx.arg(*next - 1))
            }
            Self::Memory(address) => {
                let at = *address;
                let size = size.max(cx.word());
                *address = at.wrapping_add(size.into());
                cx.load(at, size, Order::Plain)
            }
        }
    }

    /// The next one, an address.
    fn next_address(&mut self, cx: &mut Script<'_, '_>, use_: Use) -> Result<u64, Pause> {
        let number = self.needed(cx, cx.word(), use_)?;
        Ok(match self {
            Self::Slots(_) => number,
            Self::Memory(_) => cx.pointer_of(number),
        })
    }

    /// A number that only matters for the text.
    fn number(&mut self, cx: &mut Script<'_, '_>, size: u8, use_: Use) -> Result<u64, Pause> {
        if use_ == Use::Kept || !cx.asks() {
            return self.next(cx, size);
        }
        match self {
            Self::Slots(next) => *next += 1,
            Self::Memory(address) => {
                *address = address.wrapping_add(size.max(cx.word()).into());
            }
        }
        Ok(0)
    }

    /// A string, a count, a place to write to.
    fn needed(&mut self, cx: &mut Script<'_, '_>, size: u8, use_: Use) -> Result<u64, Pause> {
        match self {
            Self::Slots(next) if use_ == Use::Shown && cx.asks() => {
                *next += 1;
                cx.asked_arg(*next - 1)
            }
            _ => self.next(cx, size),
        }
    }

    /// An x87 number, two slots wide, as near as a `double` comes.
    fn next_long_double(&mut self, cx: &mut Script<'_, '_>, use_: Use) -> Result<f64, Pause> {
        const BIAS: i32 = 16383 + 63;
        let is_aligned = cx.word() == 8;
        if let Self::Memory(address) = self
            && is_aligned
        {
            *address = address.wrapping_add(15) & !15;
        }
        let mantissa = self.number(cx, 8, use_)?;
        let rest = self.number(cx, cx.word(), use_)?;
        let (is_negative, exponent) = (rest >> 15 & 1 == 1, (rest & 0x7FFF) as i32);
        let magnitude = if exponent == 0x7FFF {
            if mantissa << 1 == 0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        } else {
            mantissa as f64 * 2f64.powi(exponent - BIAS)
        };
        Ok(if is_negative { -magnitude } else { magnitude })
    }
}

// ---- formats

/// What a format and its arguments give.
fn formatted(
    cx: &mut Script<'_, '_>,
    format: u64,
    mut arguments: Arguments,
    use_: Use,
) -> Result<Vec<u8>, Pause> {
    let format = cx.string(format)?;
    let mut text = Vec::new();
    let mut rest = &format[..];
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            text.push(byte);
            continue;
        }
        let Some((directive, tail)) = Directive::parse(rest) else {
            return Err(cx.unsupported("a format that ends in the middle of a directive"));
        };
        rest = tail;
        directed(cx, directive, (&mut arguments, use_), &mut text)?;
    }
    Ok(text)
}

fn directed(
    cx: &mut Script<'_, '_>,
    mut directive: Directive,
    (arguments, use_): (&mut Arguments, Use),
    text: &mut Vec<u8>,
) -> Result<(), Pause> {
    if directive.width == Some(Count::Argument) {
        let width = arguments.needed(cx, 4, use_)? as u32 as i32;
        directive.left |= width < 0;
        directive.width = Some(Count::Number(width.unsigned_abs() as usize));
    }
    if directive.precision == Some(Count::Argument) {
        let precision = arguments.needed(cx, 4, use_)? as u32 as i32;
        directive.precision = usize::try_from(precision).ok().map(Count::Number);
    }
    let size = directive.length.bytes(cx.word());
    match directive.letter {
        b'%' => text.push(b'%'),
        b'd' | b'i' => {
            let value = arguments.number(cx, size, use_)?;
            text.extend(directive.signed(sign_extend(value, size)));
        }
        b'u' | b'x' | b'X' | b'o' => {
            let value = arguments.number(cx, size, use_)?;
            text.extend(directive.unsigned(value & mask(size)));
        }
        b'c' => {
            let value = arguments.number(cx, 4, use_)?;
            text.extend(directive.pad_text(&[value as u8]));
        }
        b's' if directive.length == Length::Int => {
            let address = arguments.next_address(cx, use_)?;
            let part = limited_string(cx, address, directive.precision(), use_)?;
            text.extend(directive.pad_text(&part));
        }
        b'p' => {
            let value = arguments.number(cx, cx.word(), use_)?;
            text.extend(directive.pointer(cx.number_of(value)?));
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = if directive.length == Length::LongDouble {
                arguments.next_long_double(cx, use_)?
            } else {
                f64::from_bits(arguments.number(cx, 8, use_)?)
            };
            text.extend(directive.float(value));
        }
        b'n' => {
            if use_ == Use::Shown && cx.asks() {
                return Err(cx.unsupported("the directive %n (not supported by bmc)"));
            }
            let address = arguments.next_address(cx, Use::Kept)?;
            cx.store(address, size, text.len() as u64, Order::Plain)?;
        }
        b'm' => text.extend_from_slice(b"error"),
        letter => {
            let why = format!("the directive %{}", char::from(letter));
            return Err(cx.unsupported(&why));
        }
    }
    Ok(())
}

/// A string of which no more than `limit` bytes are looked at.
fn limited_string(
    cx: &mut Script<'_, '_>,
    address: u64,
    limit: Option<usize>,
    use_: Use,
) -> Result<Vec<u8>, Pause> {
    if address == 0 {
        return Ok(b"(null)".to_vec());
    }
    if use_ == Use::Shown && cx.asks() {
        cx.look_at_string(address, limit.map_or(u64::MAX, |limit| limit as u64))?;
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    while limit.is_none_or(|limit| bytes.len() < limit) {
        match cx.byte(address.wrapping_add(bytes.len() as u64))? {
            0 => break,
            byte => bytes.push(byte),
        }
    }
    Ok(bytes)
}

// ---- to a stream

fn show(cx: &mut Script<'_, '_>, text: &[u8]) -> Result<(), Pause> {
    cx.print(&String::from_utf8_lossy(text))
}

/// Shows a text and returns its length, which a symbolic engine does not know.
fn shown(cx: &mut Script<'_, '_>, text: &[u8]) -> ModelResult {
    show(cx, text)?;
    length_of(cx, text)
}

/// Writes a text to a stream and returns its length.
fn put(cx: &mut Script<'_, '_>, stream: u64, text: &[u8]) -> ModelResult {
    cx.put_to_stream(stream, text)?;
    length_of(cx, text)
}

fn length_of(cx: &mut Script<'_, '_>, text: &[u8]) -> ModelResult {
    if cx.asks() {
        return Ok(Outcome::Void);
    }
    int(text.len() as i32)
}

/// A whole string that is shown.
fn shown_string(cx: &mut Script<'_, '_>, address: u64) -> Result<Vec<u8>, Pause> {
    if cx.asks() {
        cx.look_at_string(address, u64::MAX)?;
        return Ok(Vec::new());
    }
    cx.string(address)
}

fn format_slots(cx: &mut Script<'_, '_>, format: usize) -> Result<Vec<u8>, Pause> {
    let arguments = Arguments::Slots(format + 1);
    formatted(cx, cx.arg(format), arguments, Use::Shown)
}

fn format_list(cx: &mut Script<'_, '_>, format: usize) -> Result<Vec<u8>, Pause> {
    let arguments = Arguments::list(cx, cx.arg(format + 1))?;
    formatted(cx, cx.arg(format), arguments, Use::Shown)
}

fn printf(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format_slots(cx, 0)?;
    shown(cx, &text)
}

/// `(flag, format, …)`, as the hardened variants have it.
fn printf_chk(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format_slots(cx, 1)?;
    shown(cx, &text)
}

fn fprintf(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format_slots(cx, 1)?;
    put(cx, cx.arg(0), &text)
}

fn fprintf_chk(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format_slots(cx, 2)?;
    put(cx, cx.arg(0), &text)
}

/// `(descriptor, format, …)`.
fn dprintf(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format_slots(cx, 1)?;
    cx.write_file(cx.arg(0), &text)?;
    length_of(cx, &text)
}

fn vprintf(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format_list(cx, 0)?;
    shown(cx, &text)
}

fn vprintf_chk(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format_list(cx, 1)?;
    shown(cx, &text)
}

fn vfprintf(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format_list(cx, 1)?;
    put(cx, cx.arg(0), &text)
}

fn vfprintf_chk(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format_list(cx, 2)?;
    put(cx, cx.arg(0), &text)
}

// ---- to memory

/// Writes text and its end, no more than `room` bytes in all, and returns how long it would be.
fn deliver(cx: &mut Script<'_, '_>, to: u64, room: u64, text: &[u8]) -> ModelResult {
    if room > 0 {
        let fits = (room - 1).min(text.len() as u64) as usize;
        for (at, &byte) in (0..).zip(&text[..fits]) {
            cx.put_byte(to.wrapping_add(at), byte)?;
        }
        cx.put_byte(to.wrapping_add(fits as u64), 0)?;
    }
    int(text.len() as i32)
}

fn write_formatted(cx: &mut Script<'_, '_>, room: u64, format: usize) -> ModelResult {
    let arguments = Arguments::Slots(format + 1);
    let text = formatted(cx, cx.arg(format), arguments, Use::Kept)?;
    deliver(cx, cx.arg(0), room, &text)
}

fn write_list(cx: &mut Script<'_, '_>, room: u64, format: usize) -> ModelResult {
    let arguments = Arguments::list(cx, cx.arg(format + 1))?;
    let text = formatted(cx, cx.arg(format), arguments, Use::Kept)?;
    deliver(cx, cx.arg(0), room, &text)
}

fn sprintf(cx: &mut Script<'_, '_>) -> ModelResult {
    write_formatted(cx, u64::MAX, 1)
}

/// `(buffer, flag, size of the buffer, format, …)`.
fn sprintf_chk(cx: &mut Script<'_, '_>) -> ModelResult {
    write_formatted(cx, u64::MAX, 3)
}

fn snprintf(cx: &mut Script<'_, '_>) -> ModelResult {
    write_formatted(cx, cx.arg(1), 2)
}

/// `(buffer, room, flag, size of the buffer, format, …)`.
fn snprintf_chk(cx: &mut Script<'_, '_>) -> ModelResult {
    write_formatted(cx, cx.arg(1), 4)
}

fn vsprintf(cx: &mut Script<'_, '_>) -> ModelResult {
    write_list(cx, u64::MAX, 1)
}

fn vsprintf_chk(cx: &mut Script<'_, '_>) -> ModelResult {
    write_list(cx, u64::MAX, 3)
}

fn vsnprintf(cx: &mut Script<'_, '_>) -> ModelResult {
    write_list(cx, cx.arg(1), 2)
}

fn vsnprintf_chk(cx: &mut Script<'_, '_>) -> ModelResult {
    write_list(cx, cx.arg(1), 4)
}

// ---- without a format

fn puts(cx: &mut Script<'_, '_>) -> ModelResult {
    let mut text = shown_string(cx, cx.arg(0))?;
    text.push(b'\n');
    shown(cx, &text)
}

fn fputs(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = shown_string(cx, cx.arg(0))?;
    cx.put_to_stream(cx.arg(1), &text)?;
    int(1)
}

fn putchar(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.asks() {
        return Ok(Outcome::Void);
    }
    let byte = cx.arg(0) as u8;
    show(cx, &[byte])?;
    int(i32::from(byte))
}

/// `(byte, stream)`.
fn fputc(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.asks() {
        return Ok(Outcome::Void);
    }
    let byte = cx.arg(0) as u8;
    cx.put_to_stream(cx.arg(1), &[byte])?;
    int(i32::from(byte))
}

fn bytes_at(cx: &mut Script<'_, '_>, address: u64, len: u64) -> Result<Vec<u8>, Pause> {
    let mut bytes = Vec::new();
    for at in 0..len {
        bytes.push(cx.byte(address.wrapping_add(at))?);
    }
    Ok(bytes)
}

fn fwrite(cx: &mut Script<'_, '_>) -> ModelResult {
    let (address, size, count) = (cx.arg(0), cx.arg(1), cx.arg(2));
    let bytes = bytes_at(cx, address, size.saturating_mul(count))?;
    cx.put_to_stream(cx.arg(3), &bytes)?;
    Ok(Outcome::Return(if size == 0 { 0 } else { count }))
}

fn perror(cx: &mut Script<'_, '_>) -> ModelResult {
    let mut text = Vec::new();
    if cx.arg(0) != 0 {
        text = shown_string(cx, cx.arg(0))?;
        text.extend_from_slice(b": ");
    }
    text.extend_from_slice(b"error\n");
    show(cx, &text)?;
    Ok(Outcome::Void)
}
