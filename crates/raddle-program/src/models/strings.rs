//! Strings: copying, comparing, searching. Strings are accessed byte by byte, as programs do.

use super::errno::ERANGE;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::Order;

pub(super) const MODELS: &[Model] = &[
    model("strlen", strlen),
    model("strnlen", strnlen),
    model("strcpy", strcpy).returning(0),
    model("__strcpy_chk", strcpy).returning(0),
    model("stpcpy", stpcpy).returning(0),
    model("__stpcpy_chk", stpcpy).returning(0),
    model("strncpy", strncpy).returning(0),
    model("__strncpy_chk", strncpy).returning(0),
    model("strcat", strcat).returning(0),
    model("__strcat_chk", strcat).returning(0),
    model("strncat", strncat).returning(0),
    model("__strncat_chk", strncat).returning(0),
    model("strcmp", strcmp),
    model("strcoll", strcmp),
    model("strncmp", strncmp),
    model("strcasecmp", strcasecmp),
    model("strncasecmp", strncasecmp),
    model("strchr", strchr).returning(0),
    model("index", strchr).returning(0),
    model("strchrnul", strchr).returning(0),
    model("strrchr", strrchr).returning(0),
    model("rindex", strrchr).returning(0),
    model("strstr", strstr).returning(0),
    model("strpbrk", strpbrk).returning(0),
    model("strspn", strspn),
    model("strcspn", strcspn),
    model("strtok", strtok).capturing(&[0]).returning(0),
    model("strtok_r", strtok_r).capturing(&[0]).returning(0),
    model("__strtok_r", strtok_r).capturing(&[0]).returning(0),
    model("strdup", strdup),
    model("__strdup", strdup),
    model("strndup", strndup),
    model("__strndup", strndup),
    model("strerror", strerror),
    model("__xpg_strerror_r", strerror_into),
    model("memcmp", memcmp),
    model("bcmp", memcmp),
    model("memchr", memchr).returning(0),
    model("memrchr", memrchr).returning(0),
];

/// Variables. Positions are kept as `position << 1 | finished`.
const FIRST: usize = 0;
const SECOND: usize = 1;
const BLOCK: usize = 2;

impl Script<'_, '_> {
    /// The length of a string, at most `limit`. The progress is kept in a variable, and each byte ends with a checkpoint:
    /// see [`Script::copy`].
    fn scan(&mut self, address: u64, limit: u64, progress: usize) -> Result<u64, Pause> {
        loop {
            let (at, finished) = (self.var(progress) >> 1, self.var(progress) & 1 == 1);
            if finished {
                return Ok(at);
            }
            let ends = at >= limit || self.byte(address.wrapping_add(at))? == 0;
            let next = if ends { at << 1 | 1 } else { (at + 1) << 1 };
            self.set_var(progress, next);
            self.checkpoint();
        }
    }

    /// Copies a string without its end, at most `limit` bytes, and returns how many.
    fn copy_text(&mut self, to: u64, from: u64, limit: u64, progress: usize) -> Result<u64, Pause> {
        loop {
            let (at, finished) = (self.var(progress) >> 1, self.var(progress) & 1 == 1);
            if finished {
                return Ok(at);
            }
            let byte = if at < limit {
                self.byte(from.wrapping_add(at))?
            } else {
                0
            };
            if byte == 0 {
                self.set_var(progress, at << 1 | 1);
            } else {
                self.put_byte(to.wrapping_add(at), byte)?;
                self.set_var(progress, (at + 1) << 1);
            }
            self.checkpoint();
        }
    }

    pub(super) fn byte(&mut self, address: u64) -> Result<u8, Pause> {
        Ok(self.load(address, 1, Order::Plain)? as u8)
    }

    pub(super) fn put_byte(&mut self, address: u64, byte: u8) -> Result<(), Pause> {
        self.store(address, 1, u64::from(byte), Order::Plain)
    }
}

// ---- copying

fn strlen(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.scan(cx.arg(0), u64::MAX, FIRST)?))
}

fn strnlen(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.scan(cx.arg(0), cx.arg(1), FIRST)?))
}

fn strcpy(cx: &mut Script<'_, '_>) -> ModelResult {
    let len = cx.copy_text(cx.arg(0), cx.arg(1), u64::MAX, FIRST)?;
    cx.put_byte(cx.arg(0).wrapping_add(len), 0)?;
    Ok(Outcome::Return(cx.arg(0)))
}

fn stpcpy(cx: &mut Script<'_, '_>) -> ModelResult {
    let len = cx.copy_text(cx.arg(0), cx.arg(1), u64::MAX, FIRST)?;
    let end = cx.arg(0).wrapping_add(len);
    cx.put_byte(end, 0)?;
    Ok(Outcome::Return(end))
}

/// Fills up with zeros.
fn strncpy(cx: &mut Script<'_, '_>) -> ModelResult {
    let limit = cx.arg(2);
    let len = cx.copy_text(cx.arg(0), cx.arg(1), limit, FIRST)?;
    cx.fill(cx.arg(0).wrapping_add(len), 0, limit - len, SECOND)?;
    Ok(Outcome::Return(cx.arg(0)))
}

fn strcat(cx: &mut Script<'_, '_>) -> ModelResult {
    append(cx, u64::MAX)
}

fn strncat(cx: &mut Script<'_, '_>) -> ModelResult {
    append(cx, cx.arg(2))
}

fn append(cx: &mut Script<'_, '_>, limit: u64) -> ModelResult {
    let start = cx.scan(cx.arg(0), u64::MAX, FIRST)?;
    let end = cx.arg(0).wrapping_add(start);
    let len = cx.copy_text(end, cx.arg(1), limit, SECOND)?;
    cx.put_byte(end.wrapping_add(len), 0)?;
    Ok(Outcome::Return(cx.arg(0)))
}

fn strdup(cx: &mut Script<'_, '_>) -> ModelResult {
    duplicate(cx, u64::MAX)
}

fn strndup(cx: &mut Script<'_, '_>) -> ModelResult {
    duplicate(cx, cx.arg(1))
}

fn duplicate(cx: &mut Script<'_, '_>, limit: u64) -> ModelResult {
    let len = cx.scan(cx.arg(0), limit, FIRST)?;
    if cx.var(BLOCK) == 0 {
        let block = cx.new_block(len + 1, super::heap::MALLOC_ALIGN)?;
        if block == 0 {
            return Ok(Outcome::Return(0));
        }
        cx.set_var(BLOCK, block);
        cx.checkpoint();
    }
    let block = cx.var(BLOCK);
    let copied = cx.copy_text(block, cx.arg(0), len, SECOND)?;
    cx.put_byte(block + copied, 0)?;
    Ok(Outcome::Return(block))
}

// ---- comparing

fn difference(left: u8, right: u8) -> ModelResult {
    super::errno::int(i32::from(left) - i32::from(right))
}

/// Compares up to `limit` bytes, as `fold` sees them.
fn compare(cx: &mut Script<'_, '_>, limit: u64, fold: fn(u8) -> u8) -> ModelResult {
    while cx.var(FIRST) < limit {
        let at = cx.var(FIRST);
        let left = fold(cx.byte(cx.arg(0).wrapping_add(at))?);
        let right = fold(cx.byte(cx.arg(1).wrapping_add(at))?);
        if left != right || left == 0 {
            return difference(left, right);
        }
        cx.set_var(FIRST, at + 1);
        cx.checkpoint();
    }
    Ok(Outcome::Return(0))
}

fn same(byte: u8) -> u8 {
    byte
}

fn lower(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

fn strcmp(cx: &mut Script<'_, '_>) -> ModelResult {
    compare(cx, u64::MAX, same)
}

fn strncmp(cx: &mut Script<'_, '_>) -> ModelResult {
    compare(cx, cx.arg(2), same)
}

fn strcasecmp(cx: &mut Script<'_, '_>) -> ModelResult {
    compare(cx, u64::MAX, lower)
}

fn strncasecmp(cx: &mut Script<'_, '_>) -> ModelResult {
    compare(cx, cx.arg(2), lower)
}

/// Compares along the fields of what is there.
fn memcmp(cx: &mut Script<'_, '_>) -> ModelResult {
    let len = cx.arg(2);
    while cx.var(FIRST) < len {
        let done = cx.var(FIRST);
        let (left_at, right_at) = (cx.arg(0).wrapping_add(done), cx.arg(1).wrapping_add(done));
        let size = cx.piece_size(&[left_at, right_at], len - done)?;
        let left = cx.load(left_at, size, Order::Plain)?.to_le_bytes();
        let right = cx.load(right_at, size, Order::Plain)?.to_le_bytes();
        if let Some((&left, &right)) = left.iter().zip(&right).find(|(a, b)| a != b) {
            return difference(left, right);
        }
        cx.set_var(FIRST, done + u64::from(size));
        cx.checkpoint();
    }
    Ok(Outcome::Return(0))
}

// ---- searching

fn strchr(cx: &mut Script<'_, '_>) -> ModelResult {
    let wanted = cx.arg(1) as u8;
    loop {
        let at = cx.arg(0).wrapping_add(cx.var(FIRST));
        let byte = cx.byte(at)?;
        if byte == wanted {
            return Ok(Outcome::Return(at));
        }
        if byte == 0 {
            let finds_end = cx.function_name() == "strchrnul";
            return Ok(Outcome::Return(if finds_end { at } else { 0 }));
        }
        cx.set_var(FIRST, cx.var(FIRST) + 1);
        cx.checkpoint();
    }
}

fn strrchr(cx: &mut Script<'_, '_>) -> ModelResult {
    let wanted = cx.arg(1) as u8;
    loop {
        let at = cx.arg(0).wrapping_add(cx.var(FIRST));
        let byte = cx.byte(at)?;
        if byte == wanted {
            cx.set_var(SECOND, at);
        }
        if byte == 0 {
            return Ok(Outcome::Return(cx.var(SECOND)));
        }
        cx.set_var(FIRST, cx.var(FIRST) + 1);
        cx.checkpoint();
    }
}

fn memchr(cx: &mut Script<'_, '_>) -> ModelResult {
    let (wanted, len) = (cx.arg(1) as u8, cx.arg(2));
    while cx.var(FIRST) < len {
        let at = cx.arg(0).wrapping_add(cx.var(FIRST));
        if cx.byte(at)? == wanted {
            return Ok(Outcome::Return(at));
        }
        cx.set_var(FIRST, cx.var(FIRST) + 1);
        cx.checkpoint();
    }
    Ok(Outcome::Return(0))
}

fn memrchr(cx: &mut Script<'_, '_>) -> ModelResult {
    let (wanted, len) = (cx.arg(1) as u8, cx.arg(2));
    while cx.var(FIRST) < len {
        let at = cx.arg(0).wrapping_add(len - 1 - cx.var(FIRST));
        if cx.byte(at)? == wanted {
            return Ok(Outcome::Return(at));
        }
        cx.set_var(FIRST, cx.var(FIRST) + 1);
        cx.checkpoint();
    }
    Ok(Outcome::Return(0))
}

fn strstr(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = cx.string(cx.arg(0))?;
    let wanted = cx.string(cx.arg(1))?;
    if wanted.is_empty() {
        return Ok(Outcome::Return(cx.arg(0)));
    }
    let found = text.windows(wanted.len()).position(|part| part == wanted);
    Ok(Outcome::Return(
        found.map_or(0, |at| cx.arg(0).wrapping_add(at as u64)),
    ))
}

fn strpbrk(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = cx.string(cx.arg(0))?;
    let set = cx.string(cx.arg(1))?;
    let found = text.iter().position(|byte| set.contains(byte));
    Ok(Outcome::Return(
        found.map_or(0, |at| cx.arg(0).wrapping_add(at as u64)),
    ))
}

fn strspn(cx: &mut Script<'_, '_>) -> ModelResult {
    span(cx, true)
}

fn strcspn(cx: &mut Script<'_, '_>) -> ModelResult {
    span(cx, false)
}

fn span(cx: &mut Script<'_, '_>, of_set: bool) -> ModelResult {
    let text = cx.string(cx.arg(0))?;
    let set = cx.string(cx.arg(1))?;
    let len = text.iter().take_while(|byte| set.contains(byte) == of_set);
    Ok(Outcome::Return(len.count() as u64))
}

// ---- tokens

/// The position is kept where all threads share it: two threads that use this race.
fn strtok(cx: &mut Script<'_, '_>) -> ModelResult {
    let place = cx.global_object("the position of strtok", 8)?;
    next_token(cx, place)
}

fn strtok_r(cx: &mut Script<'_, '_>) -> ModelResult {
    next_token(cx, cx.arg(2))
}

fn next_token(cx: &mut Script<'_, '_>, place: u64) -> ModelResult {
    let set = cx.string(cx.arg(1))?;
    let mut at = match cx.arg(0) {
        0 => cx.load(place, 8, Order::Plain)?,
        text => text,
    };
    if at == 0 {
        return Ok(Outcome::Return(0));
    }
    let mut byte = cx.byte(at)?;
    while byte != 0 && set.contains(&byte) {
        at = at.wrapping_add(1);
        byte = cx.byte(at)?;
    }
    if byte == 0 {
        cx.store(place, 8, at, Order::Plain)?;
        return Ok(Outcome::Return(0));
    }
    let token = at;
    while byte != 0 && !set.contains(&byte) {
        at = at.wrapping_add(1);
        byte = cx.byte(at)?;
    }
    if byte != 0 {
        cx.put_byte(at, 0)?;
        at = at.wrapping_add(1);
    }
    cx.store(place, 8, at, Order::Plain)?;
    Ok(Outcome::Return(token))
}

/// Some text: what exactly it says is up to the library.
const ERROR_TEXT: &[u8] = b"error\0";

fn strerror(cx: &mut Script<'_, '_>) -> ModelResult {
    let address = cx.constant_bytes("text of an error", ERROR_TEXT)?;
    Ok(Outcome::Return(address))
}

/// `(error, buffer, size)`, which is what POSIX has under the name `strerror_r`.
fn strerror_into(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.arg(2) < ERROR_TEXT.len() as u64 {
        return Ok(Outcome::Return(ERANGE));
    }
    cx.put_bytes(cx.arg(1), ERROR_TEXT)?;
    Ok(Outcome::Return(0))
}
