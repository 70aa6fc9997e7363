//! Streams of the C library on files in memory (`files.rs`), and standard input at its end. Nothing is buffered.
//!
//! A stream is a heap block with its descriptor and whether its end was met. Whoever has one uses it by himself or takes care: two threads that use the same
//! stream are ordered, as by its lock.

use super::errno::{EBADF, EINVAL, ENOENT, int, zero};
use super::files::{APPEND, CREATE, Moved, READ_WRITE, TRUNCATE, WRITE_ONLY};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::Order;
use crate::tables::ObjectKind;

pub(super) const MODELS: &[Model] = &[
    model("fopen", open),
    model("fopen64", open),
    model("fclose", close).capturing(&[0]),
    model("fgets", get_line),
    model("fgetc", get_byte),
    model("getc", get_byte),
    model("_IO_getc", get_byte),
    model("fread", read),
    model("feof", is_at_end),
    model("rewind", rewind),
    model("fseek", seek),
    model("ftell", tell),
    model("fscanf", scan),
    model("__isoc99_fscanf", scan),
    model("__isoc23_fscanf", scan),
    model("getline", get_whole_line),
    model("getdelim", get_whole_line),
    model("ferror", zero),
    model("clearerr", zero),
];

const SIZE: u64 = 216;
const EOF: i32 = -1;

/// `(path, mode)`.
fn open(cx: &mut Script<'_, '_>) -> ModelResult {
    let mode = cx.text(cx.arg(1))?;
    let updates = mode.contains('+');
    let access = match updates {
        true => READ_WRITE,
        false => WRITE_ONLY,
    };
    let flags = match mode.chars().next() {
        Some('r') if updates => READ_WRITE,
        Some('r') => 0,
        Some('w') => access | CREATE | TRUNCATE,
        Some('a') => access | CREATE | APPEND,
        _ => {
            cx.set_errno(EINVAL)?;
            return Ok(Outcome::Return(0));
        }
    };
    if cx.asks() {
        if flags != 0 {
            return Err(cx.refuse_files());
        }
        cx.set_errno(ENOENT)?;
        return Ok(Outcome::Return(0));
    }
    let path = cx.text(cx.arg(0))?;
    match cx.open_file(&path, flags)? {
        Ok(descriptor) => {
            let stream = cx.allocate(SIZE, 16)?;
            cx.store(stream, 8, descriptor, Order::SeqCst)?;
            cx.store(stream.wrapping_add(8), 8, 0, Order::SeqCst)?;
            Ok(Outcome::Return(stream))
        }
        Err(error) => {
            cx.set_errno(error)?;
            Ok(Outcome::Return(0))
        }
    }
}

fn close(cx: &mut Script<'_, '_>) -> ModelResult {
    let Some(descriptor) = cx.file_behind(cx.arg(0))? else {
        return int(0);
    };
    let was_open = cx.close_file(descriptor)?;
    cx.free(cx.arg(0))?;
    match was_open {
        true => int(0),
        false => {
            cx.set_errno(EBADF)?;
            int(EOF)
        }
    }
}

/// `(buffer, size, stream)`.
fn get_line(cx: &mut Script<'_, '_>) -> ModelResult {
    let (to, size, stream) = (cx.arg(0), cx.arg(1) & 0xFFFF_FFFF, cx.arg(2));
    if cx.file_behind(stream)?.is_none() {
        return Ok(Outcome::Return(0));
    }
    let mut line = Vec::new();
    while (line.len() as u64) + 1 < size && line.last() != Some(&b'\n') {
        match cx.next_byte(stream)? {
            Some(byte) => line.push(byte),
            None => break,
        }
    }
    if line.is_empty() {
        return Ok(Outcome::Return(0));
    }
    line.push(0);
    cx.put_bytes(to, &line)?;
    Ok(Outcome::Return(to))
}

fn get_byte(cx: &mut Script<'_, '_>) -> ModelResult {
    let byte = cx.next_byte(cx.arg(0))?;
    int(byte.map_or(EOF, i32::from))
}

/// `(buffer, size, count, stream)`.
fn read(cx: &mut Script<'_, '_>) -> ModelResult {
    let (to, size, count, stream) = (cx.arg(0), cx.arg(1), cx.arg(2), cx.arg(3));
    let Some(descriptor) = cx.file_behind(stream)? else {
        return Ok(Outcome::Return(0));
    };
    let wanted = size.saturating_mul(count);
    let bytes = cx.read_file(descriptor, wanted)?.unwrap_or_default();
    if (bytes.len() as u64) < wanted {
        cx.store(stream.wrapping_add(8), 8, 1, Order::SeqCst)?;
    }
    cx.put_bytes(to, &bytes)?;
    Ok(Outcome::Return(
        (bytes.len() as u64).checked_div(size).unwrap_or(0),
    ))
}

/// Standard input is at its end from the beginning, but that is noticed by reading only.
fn is_at_end(cx: &mut Script<'_, '_>) -> ModelResult {
    let stream = cx.arg(0);
    match cx.file_behind(stream)? {
        Some(_) => Ok(Outcome::Return(cx.load(
            stream.wrapping_add(8),
            8,
            Order::SeqCst,
        )?)),
        None => int(1),
    }
}

fn rewind(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.seek_stream(cx.arg(0), 0, 0)?;
    Ok(Outcome::Void)
}

/// `(stream, offset, from where)`.
fn seek(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.seek_stream(cx.arg(0), cx.arg(1), cx.arg(2))? {
        Moved::Bytes(_) => int(0),
        Moved::Failed(error) => cx.fail(error),
    }
}

fn tell(cx: &mut Script<'_, '_>) -> ModelResult {
    const FROM_HERE: u64 = 1;
    match cx.seek_stream(cx.arg(0), 0, FROM_HERE)? {
        Moved::Bytes(position) => Ok(Outcome::Return(position)),
        Moved::Failed(error) => {
            cx.set_errno(error)?;
            Ok(Outcome::Return(u64::MAX))
        }
    }
}

fn scan(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.file_behind(cx.arg(0))? {
        Some(_) => Err(cx.unsupported("reading a file by a format")),
        None => int(EOF),
    }
}

/// `(line, size, …, stream)`.
fn get_whole_line(cx: &mut Script<'_, '_>) -> ModelResult {
    let stream = cx.arg(cx.arg_count().saturating_sub(1));
    match cx.file_behind(stream)? {
        Some(_) => Err(cx.unsupported("reading lines of any length from a file")),
        None => Ok(Outcome::Return(u64::MAX)),
    }
}

impl Script<'_, '_> {
    /// The descriptor of a stream that the program opened. The others are standard ones.
    pub(super) fn file_behind(&mut self, stream: u64) -> Result<Option<u64>, Pause> {
        if self.asks() {
            return Ok(None);
        }
        let Some((object, 0)) = self.object_at(stream) else {
            return Ok(None);
        };
        let info = self.tables().object_info(object);
        if info.kind != ObjectKind::Heap || info.size != SIZE {
            return Ok(None);
        }
        self.load(stream, 8, Order::SeqCst).map(Some)
    }

    /// Writes to a stream, or shows what goes to a standard one.
    pub(super) fn put_to_stream(&mut self, stream: u64, text: &[u8]) -> Result<(), Pause> {
        match self.file_behind(stream)? {
            Some(descriptor) => {
                self.write_file(descriptor, text)?;
                Ok(())
            }
            None => self.print(&String::from_utf8_lossy(text)),
        }
    }

    fn next_byte(&mut self, stream: u64) -> Result<Option<u8>, Pause> {
        let Some(descriptor) = self.file_behind(stream)? else {
            return Ok(None);
        };
        let bytes = self.read_file(descriptor, 1)?.unwrap_or_default();
        if bytes.is_empty() {
            self.store(stream.wrapping_add(8), 8, 1, Order::SeqCst)?;
        }
        Ok(bytes.first().copied())
    }

    fn seek_stream(&mut self, stream: u64, by: u64, from: u64) -> Result<Moved, Pause> {
        match self.file_behind(stream)? {
            Some(descriptor) => {
                self.store(stream.wrapping_add(8), 8, 0, Order::SeqCst)?;
                self.seek_file(descriptor, by, from)
            }
            None => Ok(Moved::Failed(EBADF)),
        }
    }
}
