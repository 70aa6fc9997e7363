//! Loops of OpenMP whose iterations are shared among a team, with a schedule that is known or not.

use super::ordered;
use super::{
    ADDRESS, CHUNK, LOOPS, LOWER, MOST_LOOPS, NEXT_CHUNKS, NUMBER, SINGLES, SIZE, STEP, UPPER,
};
use crate::models::errno::zero;
use crate::models::{Model, ModelResult, Outcome, Script, model};
use crate::op::{Order, RmwKind};

pub(crate) const MODELS: &[Model] = &[
    model("__kmpc_for_static_init_4", static_loop),
    model("__kmpc_for_static_init_4u", static_loop),
    model("__kmpc_for_static_init_8", static_loop),
    model("__kmpc_for_static_init_8u", static_loop),
    model("__kmpc_for_static_fini", zero),
    model("__kmpc_dispatch_init_4", begin_dynamic),
    model("__kmpc_dispatch_init_4u", begin_dynamic),
    model("__kmpc_dispatch_init_8", begin_dynamic),
    model("__kmpc_dispatch_init_8u", begin_dynamic),
    model("__kmpc_dispatch_next_4", next_chunk),
    model("__kmpc_dispatch_next_4u", next_chunk),
    model("__kmpc_dispatch_next_8", next_chunk),
    model("__kmpc_dispatch_next_8u", next_chunk),
];

/// What the name of a function says about the numbers that it works with.
struct Numbers {
    size: u8,
    signed: bool,
}

impl Numbers {
    fn of(name: &str) -> Self {
        let bare = name.trim_end_matches('u');
        Self {
            size: if bare.ends_with('4') { 4 } else { 8 },
            signed: bare.len() == name.len(),
        }
    }

    fn read(&self, bits: u64) -> i128 {
        match (self.size, self.signed) {
            (4, true) => i128::from(bits as u32 as i32),
            (4, false) => i128::from(bits as u32),
            (_, true) => i128::from(bits as i64),
            (_, false) => i128::from(bits),
        }
    }

    /// Steps are signed whatever the numbers are.
    fn step(&self, bits: u64) -> i128 {
        match self.size {
            4 => i128::from(bits as u32 as i32),
            _ => i128::from(bits as i64),
        }
    }
}

/// How many iterations there are from `lower` to `upper`.
fn trips(lower: i128, upper: i128, step: i128) -> i128 {
    match step {
        0 => 0,
        _ => ((upper - lower) / step + 1).max(0) * i128::from((upper - lower) * step.signum() >= 0),
    }
}

/// `(place, thread, schedule, last?, lower, upper, stride, step, chunk)`: bounds become those of the thread's part.
fn static_loop(cx: &mut Script<'_, '_>) -> ModelResult {
    const CHUNKED: u64 = 33;
    const KIND: u64 = 0xFFFF;
    cx.refuse_formulas()?;
    let numbers = Numbers::of(cx.function_name());
    let (last_at, lower_at, upper_at, stride_at) = (cx.arg(3), cx.arg(4), cx.arg(5), cx.arg(6));
    let size = numbers.size;
    let lower = numbers.read(cx.load(lower_at, size, Order::Plain)?);
    let upper = numbers.read(cx.load(upper_at, size, Order::Plain)?);
    let (step, chunk) = (numbers.step(cx.arg(7)), numbers.step(cx.arg(8)).max(1));
    let number = i128::from(cx.of_team(NUMBER)?);
    let threads = i128::from(cx.of_team(SIZE)?.max(1));
    let trips = trips(lower, upper, step);
    let (from, to, stride, is_last) = match (trips, cx.arg(2) & KIND) {
        (0, _) => (lower, upper, step, false),
        (_, CHUNKED) => {
            // Chunks that no loop has may be as long as numbers go; of the results 64 bits are stored.
            let length = chunk.wrapping_mul(step);
            let from = lower.wrapping_add(number.wrapping_mul(length));
            let last = (trips - 1) / chunk % threads;
            let to = from.wrapping_add(length).wrapping_sub(step);
            (from, to, length.wrapping_mul(threads), number == last)
        }
        _ => {
            let (part, rest) = (trips / threads, trips % threads);
            let first = number * part + number.min(rest);
            let count = part + i128::from(number < rest);
            let from = lower + first * step;
            let to = from + (count - 1) * step;
            let last = trips.min(threads) - 1;
            (from, to, trips * step, number == last)
        }
    };
    cx.store_if_wanted(last_at, 4, u64::from(is_last))?;
    cx.store(lower_at, size, from as u64, Order::Plain)?;
    cx.store(upper_at, size, to as u64, Order::Plain)?;
    cx.store(stride_at, size, stride as u64, Order::Plain)?;
    Ok(Outcome::Void)
}

/// `(place, thread, schedule, lower, upper, step, chunk)`: whoever asks first gets the next chunk.
fn begin_dynamic(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let number = cx.of_team(LOOPS)?;
    if number >= MOST_LOOPS {
        return Err(cx.unsupported("so many loops with a schedule in one region"));
    }
    cx.set_of_team(LOOPS, number + 1)?;
    for (key, argument) in [(LOWER, 3), (UPPER, 4), (STEP, 5), (CHUNK, 6)] {
        cx.set_of_team(key, cx.arg(argument))?;
    }
    ordered::begin_loop(cx, cx.arg(2))?;
    Ok(Outcome::Void)
}

/// `(place, thread, last?, lower, upper, stride)`: 0 if there is none left.
fn next_chunk(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let numbers = Numbers::of(cx.function_name());
    let lower = numbers.read(cx.of_team(LOWER)?);
    let upper = numbers.read(cx.of_team(UPPER)?);
    let step = numbers.step(cx.of_team(STEP)?);
    let chunk = numbers.step(cx.of_team(CHUNK)?).max(1);
    let team = cx.of_team(ADDRESS)?;
    let trips = trips(lower, upper, step);
    let chunk = match team {
        // All at once.
        0 => {
            let begun = cx.of_team(SINGLES)?;
            cx.set_of_team(SINGLES, 1 - begun.min(1))?;
            (begun == 0 && trips > 0).then_some((0, trips))
        }
        _ if ordered::has_order(cx)? => ordered::next_chunk(cx, (trips, chunk))?,
        _ => {
            let place = team + NEXT_CHUNKS + 8 * (cx.of_team(LOOPS)?.saturating_sub(1));
            let begun = cx.rmw(place, 8, RmwKind::Add, 1, Order::Relaxed)?;
            let first = i128::from(begun).saturating_mul(chunk);
            (first < trips).then(|| (first, chunk.min(trips - first)))
        }
    };
    let Some((first, count)) = chunk else {
        return Ok(Outcome::Return(0));
    };
    let (from, size) = (lower + first * step, numbers.size);
    let to = from + (count - 1) * step;
    cx.store_if_wanted(cx.arg(2), 4, u64::from(first + count == trips))?;
    cx.store(cx.arg(3), size, from as u64, Order::Plain)?;
    cx.store(cx.arg(4), size, to as u64, Order::Plain)?;
    cx.store_if_wanted(cx.arg(5), size, step as u64)?;
    Ok(Outcome::Return(1))
}
