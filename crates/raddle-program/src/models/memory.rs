//! Copying and filling memory, and variadic argument lists.
//!
//! Shared memory is accessed in pieces that follow the fields of the variables involved, so that copies and ordinary accesses
//! work on the same locations.

use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::AccessKind;
use crate::interp::Place;
use crate::op::Order;

pub(super) const MODELS: &[Model] = &[
    model("llvm.memcpy.*", memcpy),
    model("llvm.memmove.*", memmove),
    model("llvm.memset.*", memset),
    model("memcpy", memcpy).returning(0),
    model("memmove", memmove).returning(0),
    model("memset", memset).returning(0),
    model("__memcpy_chk", memcpy).returning(0),
    model("__memmove_chk", memmove).returning(0),
    model("__memset_chk", memset).returning(0),
    model("explicit_bzero", bzero),
    model("bzero", bzero),
    model("bcopy", bcopy),
    model("mempcpy", mempcpy).returning(0),
    model("__mempcpy_chk", mempcpy).returning(0),
    model("llvm.va_start*", va_start),
    model("llvm.va_copy*", va_copy),
];

/// Progress of a copy.
const DONE: usize = 0;

fn memcpy(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.copy(cx.arg(0), cx.arg(1), cx.arg(2), DONE)?;
    Ok(Outcome::Return(cx.arg(0)))
}

fn memmove(cx: &mut Script<'_, '_>) -> ModelResult {
    move_bytes(cx, cx.arg(0), cx.arg(1), cx.arg(2))?;
    Ok(Outcome::Return(cx.arg(0)))
}

fn move_bytes(cx: &mut Script<'_, '_>, to: u64, from: u64, len: u64) -> Result<(), Pause> {
    if to > from && to - from < len {
        cx.copy_overlapping(to, from, len)
    } else {
        cx.copy(to, from, len, DONE)
    }
}

fn memset(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.fill(cx.arg(0), cx.arg(1) as u8, cx.arg(2), DONE)?;
    Ok(Outcome::Return(cx.arg(0)))
}

fn bzero(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.fill(cx.arg(0), 0, cx.arg(1), DONE)?;
    Ok(Outcome::Void)
}

/// `(from, to, length)`.
fn bcopy(cx: &mut Script<'_, '_>) -> ModelResult {
    move_bytes(cx, cx.arg(1), cx.arg(0), cx.arg(2))?;
    Ok(Outcome::Void)
}

fn mempcpy(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.copy(cx.arg(0), cx.arg(1), cx.arg(2), DONE)?;
    Ok(Outcome::Return(cx.arg(0).wrapping_add(cx.arg(2))))
}

/// Fills the list so that every argument comes from the overflow area: `va_arg` looks at the two offsets first, and they
/// say that the register area is used up.
fn va_start(cx: &mut Script<'_, '_>) -> ModelResult {
    const REGISTERS_END: u64 = 48;
    const FLOATS_END: u64 = 176;
    let list = cx.arg(0);
    let area = cx.note(|machine| {
        let bytes = machine
            .caller_varargs()
            .map_or(Vec::new(), |bytes| bytes.to_vec());
        machine.push_private(bytes, None)
    })?;
    if cx.word() == 4 {
        // On i386 the list is a pointer to the arguments.
        cx.store_pointer(list, area)?;
        return Ok(Outcome::Void);
    }
    cx.store(list, 4, REGISTERS_END, Order::Plain)?;
    cx.store(list.wrapping_add(4), 4, FLOATS_END, Order::Plain)?;
    cx.store(list.wrapping_add(8), 8, area, Order::Plain)?;
    cx.store(list.wrapping_add(16), 8, 0, Order::Plain)?;
    Ok(Outcome::Void)
}

fn va_copy(cx: &mut Script<'_, '_>) -> ModelResult {
    const LIST_SIZE: u64 = 24;
    let size = if cx.word() == 4 { 4 } else { LIST_SIZE };
    cx.copy(cx.arg(0), cx.arg(1), size, DONE)?;
    Ok(Outcome::Void)
}

impl Script<'_, '_> {
    /// Copies `len` bytes, front to back. The progress is kept in variable `progress`, and each piece ends with a checkpoint:
    /// what the model needs afterwards must be in variables, too.
    pub fn copy(&mut self, to: u64, from: u64, len: u64, progress: usize) -> Result<(), Pause> {
        if len == 0 {
            return Ok(());
        }
        if self.var(progress) == 0 {
            let source = self.place(from, len, AccessKind::Read)?;
            let target = self.place(to, len, AccessKind::Write)?;
            if let Place::Private { block, offset } = target
                && !matches!(source, Place::Shared { .. })
                && !self.asks()
            {
                let bytes = self.machine.copied_bytes(from, len)?.unwrap_or_default();
                self.machine.write_bytes(block, offset, &bytes)?;
                self.machine.forget_copies(target, source, len as usize);
                self.set_var(progress, len);
                self.checkpoint();
            }
        }
        while self.var(progress) < len {
            let done = self.var(progress);
            let (to, from) = (to + done, from + done);
            let size = self.piece_size(&[to, from], len - done)?;
            let value = self.load(from, size, Order::Plain)?;
            self.store(to, size, value, Order::Plain)?;
            self.set_var(progress, done + u64::from(size));
            self.checkpoint();
        }
        Ok(())
    }

    /// Copies between areas that overlap: everything is read before anything is written.
    pub fn copy_overlapping(&mut self, to: u64, from: u64, len: u64) -> Result<(), Pause> {
        let mut pieces = Vec::new();
        let mut done = 0;
        while done < len {
            let size = self.piece_size(&[to + done, from + done], len - done)?;
            let value = self.load(from + done, size, Order::Plain)?;
            pieces.push((done, size, value));
            done += u64::from(size);
        }
        for (offset, size, value) in pieces {
            self.store(to + offset, size, value, Order::Plain)?;
        }
        Ok(())
    }

    /// Sets `len` bytes; see [`Self::copy`] for `progress`.
    pub fn fill(&mut self, to: u64, byte: u8, len: u64, progress: usize) -> Result<(), Pause> {
        if len == 0 {
            return Ok(());
        }
        if self.var(progress) == 0
            && let Place::Private { block, offset } = self.place(to, len, AccessKind::Write)?
            && !self.asks()
        {
            self.machine
                .write_bytes(block, offset, &vec![byte; len as usize])?;
            self.set_var(progress, len);
            self.checkpoint();
        }
        while self.var(progress) < len {
            let done = self.var(progress);
            let size = self.piece_size(&[to + done], len - done)?;
            let value = u64::from_le_bytes([byte; 8]);
            self.store(to + done, size, value, Order::Plain)?;
            self.set_var(progress, done + u64::from(size));
            self.checkpoint();
        }
        Ok(())
    }

    /// How many bytes the next piece of a copy at these addresses takes. Fields of shared variables come first; where there
    /// are none (heap blocks), fields of the others; where nothing is known, alignment.
    pub(super) fn piece_size(&mut self, addresses: &[u64], left: u64) -> Result<u8, Pause> {
        let mut shared_field = None;
        let mut other_field = None;
        let mut alignment = 8u64;
        for &address in addresses {
            let place = self.place(address, 1, AccessKind::Read)?;
            let field = self.machine.field_end(address);
            if let Place::Shared { offset, .. } = place {
                alignment = alignment.min(1 << offset.trailing_zeros().min(3));
                shared_field = smaller(shared_field, field);
            } else {
                other_field = smaller(other_field, field);
            }
        }
        let limit = shared_field.or(other_field).unwrap_or(alignment);
        Ok(1 << limit.min(left).clamp(1, 8).ilog2())
    }
}

fn smaller(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
