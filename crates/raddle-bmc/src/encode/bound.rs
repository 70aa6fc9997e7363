//! What a bound leaves for the next one.
//!
//! An execution that keeps to a bound everywhere is in the formula of that bound, and was judged there. So if the formula of the
//! last bound had nothing to report, what is left to look at are executions that it cut short. Each was cut at some place, and
//! passes that place in the formula of the next bound: one of these places must be reached.
//!
//! Places, not rounds, are what is remembered: which rounds count depends on what is known while encoding, which may differ
//! from bound to bound.

use super::Encoder;
use crate::state::{Key, State};
use std::collections::BTreeSet;

/// Separates the place where a thread is started from the places in it.
const STARTED: u32 = u32::MAX;

/// Where threads exceeded a bound.
#[derive(Clone, Debug, Default)]
pub(crate) struct CutPlaces(BTreeSet<Key>);

impl Encoder<'_> {
    /// Where a state is, whatever the bound: where its thread was started and so on, and where it is in its code.
    pub(super) fn place(&self, state: &State) -> Key {
        let mut place = self.started_at[self.thread].clone();
        place.push(STARTED);
        place.extend(state.key());
        place
    }

    /// The state exceeds the bound.
    pub(super) fn cut(&mut self, state: &State) {
        let place = self.place(state);
        self.out.cut_places.0.insert(place);
        self.out.cuts.push(state.path.guard());
        self.out.exceeding.push(state.path.guard());
    }

    /// Has the state come to where an earlier bound ended?
    pub(super) fn compare_with_last_bound(&mut self, state: &State) {
        let Some(last) = self.options.last_cuts else {
            return;
        };
        if last.0.contains(&self.place(state)) {
            self.out.exceeding.push(state.path.guard());
        }
    }
}
