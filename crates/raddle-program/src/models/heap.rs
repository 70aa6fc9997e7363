//! `malloc` and its family. New blocks are zeroed, and memory is not reused.

use super::{Model, ModelResult, Outcome, Script, model};

pub(super) const MODELS: &[Model] = &[
    model("malloc", malloc),
    model("calloc", calloc),
    model("realloc", realloc).capturing(&[0]),
    model("free", free).capturing(&[0]),
];

/// What `malloc` aligns to.
const MALLOC_ALIGN: u64 = 16;

fn malloc(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.allocate(cx.arg(0), MALLOC_ALIGN)?))
}

fn calloc(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.arg(0).checked_mul(cx.arg(1)) {
        Some(size) => Ok(Outcome::Return(cx.allocate(size, MALLOC_ALIGN)?)),
        None => Ok(Outcome::Return(0)),
    }
}

fn free(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.arg(0) != 0 {
        cx.free(cx.arg(0))?;
    }
    Ok(Outcome::Void)
}

/// Always moves: a new block, a copy, and the end of the old one.
fn realloc(cx: &mut Script<'_, '_>) -> ModelResult {
    const NEW: usize = 0;
    const COPIED: usize = 1;
    let (old, size) = (cx.arg(0), cx.arg(1));
    if old == 0 {
        return malloc_of(cx, size);
    }
    let object = cx.machine.heap_block_at(old)?;
    if size == 0 {
        cx.free(old)?;
        return Ok(Outcome::Return(0));
    }
    if cx.var(NEW) == 0 {
        let new = cx.allocate(size, MALLOC_ALIGN)?;
        if new == 0 {
            return Ok(Outcome::Return(0));
        }
        cx.set_var(NEW, new);
        cx.checkpoint();
    }
    let kept = cx.tables().object_info(object).size.min(size);
    cx.copy(cx.var(NEW), old, kept, COPIED)?;
    cx.free(old)?;
    Ok(Outcome::Return(cx.var(NEW)))
}

fn malloc_of(cx: &mut Script<'_, '_>, size: u64) -> ModelResult {
    Ok(Outcome::Return(cx.allocate(size, MALLOC_ALIGN)?))
}
