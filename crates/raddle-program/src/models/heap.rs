//! `malloc` and its family, and the operators `new` and `delete`. New blocks hold zeros, which only `calloc` promises, and
//! memory is not used again but with `--reuse-addresses` (`reuse.rs`).

use super::errno::{EINVAL, ENOMEM};
use super::{Model, ModelResult, Outcome, Pause, Script, model};

pub(super) const MODELS: &[Model] = &[
    model("malloc", malloc),
    model("calloc", calloc).zeroing(),
    model("realloc", realloc).capturing(&[0]),
    model("reallocarray", reallocarray).capturing(&[0]),
    model("free", free).capturing(&[0]),
    model("cfree", free).capturing(&[0]),
    model("aligned_alloc", aligned_alloc),
    model("memalign", aligned_alloc),
    model("posix_memalign", posix_memalign),
    model("valloc", valloc),
    model("pvalloc", valloc),
    model("malloc_usable_size", usable_size),
    // operator new(size), new[](size)
    model("_Znwm", new),
    model("_Znam", new),
    // (size, nothrow)
    model("_ZnwmRKSt9nothrow_t", malloc),
    model("_ZnamRKSt9nothrow_t", malloc),
    // (size, align_val_t)
    model("_ZnwmSt11align_val_t", new_aligned),
    model("_ZnamSt11align_val_t", new_aligned),
    model("_ZnwmSt11align_val_tRKSt9nothrow_t", new_aligned_nothrow),
    model("_ZnamSt11align_val_tRKSt9nothrow_t", new_aligned_nothrow),
    // operator delete(pointer, …): sizes and alignments are not looked at
    model("_ZdlPv", free).capturing(&[0]),
    model("_ZdaPv", free).capturing(&[0]),
    model("_ZdlPvm", free).capturing(&[0]),
    model("_ZdaPvm", free).capturing(&[0]),
    model("_ZdlPvSt11align_val_t", free).capturing(&[0]),
    model("_ZdaPvSt11align_val_t", free).capturing(&[0]),
    model("_ZdlPvmSt11align_val_t", free).capturing(&[0]),
    model("_ZdaPvmSt11align_val_t", free).capturing(&[0]),
    model("_ZdlPvRKSt9nothrow_t", free).capturing(&[0]),
    model("_ZdaPvRKSt9nothrow_t", free).capturing(&[0]),
    model("_ZdlPvSt11align_val_tRKSt9nothrow_t", free).capturing(&[0]),
    model("_ZdaPvSt11align_val_tRKSt9nothrow_t", free).capturing(&[0]),
];

/// What `malloc` aligns to.
pub(super) const MALLOC_ALIGN: u64 = 16;
const PAGE: u64 = 4096;

/// Is there no memory left, as far as the caller can tell? Then `errno` says so.
fn fails(cx: &mut Script<'_, '_>) -> Result<bool, Pause> {
    let fails = cx.machine.world.options.malloc_may_fail && cx.choice(2)? != 0;
    if fails {
        cx.set_errno(ENOMEM)?;
    }
    Ok(fails)
}

fn malloc(cx: &mut Script<'_, '_>) -> ModelResult {
    if fails(cx)? {
        return Ok(Outcome::Return(0));
    }
    Ok(Outcome::Return(cx.new_block(cx.arg(0), MALLOC_ALIGN)?))
}

fn calloc(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.arg(0).checked_mul(cx.arg(1)) {
        Some(_) if fails(cx)? => Ok(Outcome::Return(0)),
        Some(size) => Ok(Outcome::Return(cx.new_block(size, MALLOC_ALIGN)?)),
        None => Ok(Outcome::Return(0)),
    }
}

fn free(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.arg(0) != 0 {
        cx.free_block(cx.arg(0))?;
    }
    Ok(Outcome::Void)
}

fn realloc(cx: &mut Script<'_, '_>) -> ModelResult {
    resize(cx, cx.arg(0), Some(cx.arg(1)))
}

fn reallocarray(cx: &mut Script<'_, '_>) -> ModelResult {
    resize(cx, cx.arg(0), cx.arg(1).checked_mul(cx.arg(2)))
}

/// Always moves: a new block, a copy, and the end of the old one.
fn resize(cx: &mut Script<'_, '_>, old: u64, size: Option<u64>) -> ModelResult {
    const NEW: usize = 0;
    const COPIED: usize = 1;
    let Some(size) = size else {
        return Ok(Outcome::Return(0));
    };
    if old == 0 {
        if fails(cx)? {
            return Ok(Outcome::Return(0));
        }
        return Ok(Outcome::Return(cx.new_block(size, MALLOC_ALIGN)?));
    }
    let object = cx.machine.heap_block_at(old)?;
    if size == 0 {
        cx.free_block(old)?;
        return Ok(Outcome::Return(0));
    }
    if cx.var(NEW) == 0 {
        // The old block stays as it was.
        if fails(cx)? {
            return Ok(Outcome::Return(0));
        }
        let new = cx.new_block(size, MALLOC_ALIGN)?;
        if new == 0 {
            return Ok(Outcome::Return(0));
        }
        cx.set_var(NEW, new);
        cx.checkpoint();
    }
    let kept = cx.tables().object_info(object).size.min(size);
    cx.copy(cx.var(NEW), old, kept, COPIED)?;
    cx.free_block(old)?;
    Ok(Outcome::Return(cx.var(NEW)))
}

// ---- alignment

fn aligned_alloc(cx: &mut Script<'_, '_>) -> ModelResult {
    let (align, size) = (cx.arg(0), cx.arg(1));
    if !align.is_power_of_two() {
        return Ok(Outcome::Return(0));
    }
    Ok(Outcome::Return(
        cx.new_block(size, align.max(MALLOC_ALIGN))?,
    ))
}

fn posix_memalign(cx: &mut Script<'_, '_>) -> ModelResult {
    let (align, size) = (cx.arg(1), cx.arg(2));
    if !align.is_power_of_two() || align < u64::from(cx.word()) {
        return Ok(Outcome::Return(EINVAL));
    }
    let block = cx.new_block(size, align.max(MALLOC_ALIGN))?;
    if block == 0 {
        return Ok(Outcome::Return(ENOMEM));
    }
    cx.store_pointer(cx.arg(0), block)?;
    Ok(Outcome::Return(0))
}

fn valloc(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.new_block(cx.arg(0), PAGE)?))
}

fn usable_size(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.arg(0) == 0 {
        return Ok(Outcome::Return(0));
    }
    let object = cx.machine.heap_block_at(cx.arg(0))?;
    Ok(Outcome::Return(cx.tables().object_info(object).size))
}

// ---- operator new

/// A block, or an exception.
fn allocate_or_throw(cx: &mut Script<'_, '_>, align: u64) -> ModelResult {
    match cx.new_block(cx.arg(0), align)? {
        0 => cx.throw_library("St9bad_alloc", None, None),
        block => Ok(Outcome::Return(block)),
    }
}

fn new(cx: &mut Script<'_, '_>) -> ModelResult {
    allocate_or_throw(cx, MALLOC_ALIGN)
}

fn new_aligned(cx: &mut Script<'_, '_>) -> ModelResult {
    allocate_or_throw(cx, cx.arg(1).max(MALLOC_ALIGN))
}

fn new_aligned_nothrow(cx: &mut Script<'_, '_>) -> ModelResult {
    let align = cx.arg(1).max(MALLOC_ALIGN);
    Ok(Outcome::Return(cx.new_block(cx.arg(0), align)?))
}
