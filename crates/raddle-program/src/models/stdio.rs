//! Printing.

use super::{Model, ModelResult, Outcome, Pause, Script, model};
use std::fmt::Write as _;

pub(super) const MODELS: &[Model] = &[
    model("printf", printf),
    model("puts", puts),
    model("putchar", putchar),
];

fn printf(cx: &mut Script<'_, '_>) -> ModelResult {
    let format = cx.string(cx.arg(0))?;
    let text = formatted(cx, &format, 1)?;
    cx.print(&text)?;
    Ok(Outcome::Return(text.len() as u64))
}

fn puts(cx: &mut Script<'_, '_>) -> ModelResult {
    let mut text = cx.text(cx.arg(0))?;
    text.push('\n');
    cx.print(&text)?;
    Ok(Outcome::Return(text.len() as u64))
}

fn putchar(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = char::from(cx.arg(0) as u8).to_string();
    cx.print(&text)?;
    Ok(Outcome::Return(cx.arg(0) & 0xFF))
}

/// Formats the arguments from `next` on. Flags, width and precision are read over.
fn formatted(cx: &mut Script<'_, '_>, format: &[u8], mut next: usize) -> Result<String, Pause> {
    let mut text = String::new();
    let mut rest = format;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            text.push(char::from(byte));
            continue;
        }
        let modifiers = rest
            .iter()
            .take_while(|c| b"-+ #0123456789.lhzjt".contains(c));
        let count = modifiers.count();
        let is_long = rest[..count].iter().any(|c| b"lzjt".contains(c));
        let Some(&conversion) = rest.get(count) else {
            break;
        };
        rest = &rest[count + 1..];
        if conversion == b'%' {
            text.push('%');
            continue;
        }
        let value = cx.arg(next);
        next += 1;
        let narrow = if is_long { value } else { value & 0xFFFF_FFFF };
        // Writing to a string cannot fail.
        let _ = match conversion {
            b'd' | b'i' if is_long => write!(text, "{}", value.cast_signed()),
            b'd' | b'i' => write!(text, "{}", value as u32 as i32),
            b'u' => write!(text, "{narrow}"),
            b'x' => write!(text, "{narrow:x}"),
            b'X' => write!(text, "{narrow:X}"),
            b'o' => write!(text, "{narrow:o}"),
            b'p' => write!(text, "{value:#x}"),
            b'f' | b'g' | b'e' => write!(text, "{:.6}", f64::from_bits(value)),
            b'c' => {
                text.push(char::from(value as u8));
                Ok(())
            }
            b's' => {
                let part = cx.text(value)?;
                text.push_str(&part);
                Ok(())
            }
            _ => Ok(()),
        };
    }
    Ok(text)
}
