//! `errno`, and what models of all subjects share.

use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::Order;

pub(super) use crate::errno::*;

/// Room for an `int`.
const SIZE: u64 = 4;

pub(super) const MODELS: &[Model] = &[
    model("__errno_location", location),
    model("__error", location),
];

fn location(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.thread_object("errno", SIZE)?))
}

/// Returns an `int`.
pub(super) fn int(value: i32) -> ModelResult {
    Ok(Outcome::Return(u64::from(value.cast_unsigned())))
}

/// Returns 0, whatever was asked for: functions that change nothing a model could see.
pub(super) fn zero(_: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(0))
}

impl Script<'_, '_> {
    /// Sets `errno` and returns -1.
    pub(super) fn fail(&mut self, error: u64) -> ModelResult {
        self.set_errno(error)?;
        int(-1)
    }

    pub(super) fn set_errno(&mut self, error: u64) -> Result<(), Pause> {
        let address = self.thread_object("errno", SIZE)?;
        self.store(address, SIZE as u8, error, Order::Plain)
    }

    /// Writes through a pointer that may be null, as results that nobody asked for are.
    pub(super) fn store_if_wanted(
        &mut self,
        address: u64,
        size: u8,
        value: u64,
    ) -> Result<(), Pause> {
        if address == 0 {
            return Ok(());
        }
        self.store(address, size, value, Order::Plain)
    }
}
