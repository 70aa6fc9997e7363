//! `ordered` of OpenMP: the iterations of a loop do a part of themselves one after the other.
//!
//! Each iteration but the first has a semaphore in the team's memory, which says that it is its turn. The turn of an iteration ends with its ordered part, or
//! with the iteration if it comes to none.

use super::{
    ADDRESS, KIND, LOOPS, MOST_ORDERED_LOOPS, MOST_TURNS, NEXT_CHUNKS, NUMBER, PASSED, SIZE, TAKEN,
    TURN, TURNS,
};
use crate::models::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Order, RmwKind, SyncAction};

pub(crate) const MODELS: &[Model] = &[
    model("__kmpc_ordered", begin),
    model("__kmpc_end_ordered", end),
    model("__kmpc_dispatch_fini_4", end_iteration),
    model("__kmpc_dispatch_fini_4u", end_iteration),
    model("__kmpc_dispatch_fini_8", end_iteration),
    model("__kmpc_dispatch_fini_8u", end_iteration),
];

/// Schedules of loops whose iterations have an order.
const CHUNKED: u64 = 65;
const IN_PARTS: u64 = 66;
const KINDS: std::ops::RangeInclusive<u64> = CHUNKED..=71;

/// Which chunk of a loop with an order a thread does next, of so many iterations: the first one, and how many. `None` if it has none left.
pub(super) fn next_chunk(
    cx: &mut Script<'_, '_>,
    (trips, chunk): (i128, i128),
) -> Result<Option<(i128, i128)>, Pause> {
    if trips > i128::from(MOST_TURNS) {
        return Err(cx.unsupported("an ordered loop of so many iterations"));
    }
    let (number, threads) = (cx.of_team(NUMBER)?, cx.of_team(SIZE)?.max(1));
    let taken = cx.of_team(TAKEN)?;
    let (number, threads) = (i128::from(number), i128::from(threads));
    let (first, count) = match cx.of_team(KIND)? {
        CHUNKED => ((number + i128::from(taken) * threads) * chunk, chunk),
        IN_PARTS if taken > 0 => (trips, 0),
        IN_PARTS => {
            let (part, rest) = (trips / threads, trips % threads);
            let count = part + i128::from(number < rest);
            (number * part + number.min(rest), count)
        }
        _ => {
            let place = cx.of_team(ADDRESS)? + NEXT_CHUNKS + 8 * (cx.of_team(LOOPS)? - 1);
            let begun = cx.rmw(place, 8, RmwKind::Add, 1, Order::Relaxed)?;
            (i128::from(begun).saturating_mul(chunk), chunk)
        }
    };
    cx.set_of_team(TAKEN, taken + 1)?;
    if first >= trips || count == 0 {
        return Ok(None);
    }
    cx.set_of_team(TURN, first as u64)?;
    cx.set_of_team(PASSED, 0)?;
    Ok(Some((first, count.min(trips - first))))
}

/// Notes what kind of loop a thread begins.
pub(super) fn begin_loop(cx: &mut Script<'_, '_>, schedule: u64) -> Result<(), Pause> {
    let kind = match schedule & 0xFFFF {
        kind if KINDS.contains(&kind) => kind,
        _ => 0,
    };
    if kind != 0 && cx.of_team(LOOPS)? > MOST_ORDERED_LOOPS {
        return Err(cx.unsupported("so many loops with a schedule in a region with an ordered one"));
    }
    for (key, value) in [(KIND, kind), (TAKEN, 0), (TURN, 0), (PASSED, 0)] {
        cx.set_of_team(key, value)?;
    }
    Ok(())
}

/// Does the thread do a loop with an order, in a team of several?
pub(super) fn has_order(cx: &mut Script<'_, '_>) -> Result<bool, Pause> {
    Ok(cx.of_team(ADDRESS)? != 0 && cx.of_team(KIND)? != 0)
}

impl Script<'_, '_> {
    fn turn(&mut self, iteration: u64) -> Result<u64, Pause> {
        let number = (self.of_team(LOOPS)? - 1) * MOST_TURNS + iteration;
        Ok(self.of_team(ADDRESS)? + TURNS + 8 * number)
    }

    fn wait_for_turn(&mut self) -> Result<(), Pause> {
        let iteration = self.of_team(TURN)?;
        if iteration > 0 {
            let turn = self.turn(iteration)?;
            self.sync(turn, SyncAction::SemWait)?;
        }
        Ok(())
    }

    fn pass_turn(&mut self) -> Result<(), Pause> {
        let next = self.of_team(TURN)? + 1;
        self.set_of_team(PASSED, 1)?;
        if next < MOST_TURNS {
            let turn = self.turn(next)?;
            self.sync(turn, SyncAction::SemPost)?;
        }
        Ok(())
    }
}

fn begin(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    if has_order(cx)? {
        if cx.of_team(PASSED)? != 0 {
            return Err(cx.unsupported("an iteration with two ordered parts"));
        }
        cx.wait_for_turn()?;
    }
    Ok(Outcome::Void)
}

fn end(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    if has_order(cx)? {
        cx.pass_turn()?;
    }
    Ok(Outcome::Void)
}

/// The end of an iteration of a loop with an order.
fn end_iteration(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    if has_order(cx)? {
        if cx.of_team(PASSED)? == 0 {
            cx.wait_for_turn()?;
            cx.pass_turn()?;
        }
        let iteration = cx.of_team(TURN)?;
        cx.set_of_team(TURN, iteration + 1)?;
        cx.set_of_team(PASSED, 0)?;
    }
    Ok(Outcome::Void)
}
