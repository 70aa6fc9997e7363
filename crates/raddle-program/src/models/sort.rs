//! `qsort` and `bsearch`: they call back.

use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::Order;

// What the callback does with the addresses is not known here.
pub(super) const MODELS: &[Model] = &[
    model("qsort", qsort).capturing(&[0]),
    model("qsort_r", qsort).capturing(&[0, 4]),
    model("bsearch", bsearch).capturing(&[0, 1]).returning(1),
];

/// How many elements are in order, and where the next one is on its way down.
const SORTED: usize = 0;
const AT: usize = 1;

/// Insertion by exchange of neighbours: stable, as the usual implementation is, and easy to resume.
fn qsort(cx: &mut Script<'_, '_>) -> ModelResult {
    let (base, count, size) = (cx.arg(0), cx.arg(1), cx.arg(2));
    while cx.var(SORTED) < count {
        if cx.var(AT) == 0 || !is_misplaced(cx, base, size)? {
            cx.set_var(SORTED, cx.var(SORTED) + 1);
            cx.set_var(AT, cx.var(SORTED));
            cx.checkpoint();
            continue;
        }
        let right = base.wrapping_add(cx.var(AT).wrapping_mul(size));
        exchange(cx, right.wrapping_sub(size), right, size)?;
        cx.set_var(AT, cx.var(AT) - 1);
        cx.checkpoint();
    }
    Ok(Outcome::Void)
}

/// Must the element on its way go further down?
fn is_misplaced(cx: &mut Script<'_, '_>, base: u64, size: u64) -> Result<bool, Pause> {
    let right = base.wrapping_add(cx.var(AT).wrapping_mul(size));
    let left = right.wrapping_sub(size);
    let mut args = vec![left, right];
    if cx.function_name() == "qsort_r" {
        args.push(cx.arg(4));
    }
    let order = cx.call(cx.arg(3), &args)? as u32 as i32;
    Ok(order > 0)
}

fn exchange(cx: &mut Script<'_, '_>, left: u64, right: u64, size: u64) -> Result<(), Pause> {
    let mut done = 0;
    while done < size {
        let (a, b) = (left.wrapping_add(done), right.wrapping_add(done));
        let piece = cx.piece_size(&[a, b], size - done)?;
        let (from_a, from_b) = (
            cx.load(a, piece, Order::Plain)?,
            cx.load(b, piece, Order::Plain)?,
        );
        cx.store(a, piece, from_b, Order::Plain)?;
        cx.store(b, piece, from_a, Order::Plain)?;
        done += u64::from(piece);
    }
    Ok(())
}

fn bsearch(cx: &mut Script<'_, '_>) -> ModelResult {
    let (key, base, size) = (cx.arg(0), cx.arg(1), cx.arg(3));
    let (mut low, mut high) = (0, cx.arg(2));
    while low < high {
        let middle = low + (high - low) / 2;
        let element = base.wrapping_add(middle.wrapping_mul(size));
        match cx.call(cx.arg(4), &[key, element])? as u32 as i32 {
            0 => return Ok(Outcome::Return(element)),
            order if order < 0 => high = middle,
            _ => low = middle + 1,
        }
    }
    Ok(Outcome::Return(0))
}
