//! What a bound leaves for the next one.
//!
//! A formula follows an execution until a thread is *stopped* in it: by the bound ([`Encoder::cut`]) or because it comes to what
//! cannot be encoded (a refusal). Bounds are tried one after the other, and what is known between two of them is [`Open`]:
//!
//! > Of the violations that have not been found, each that has as few steps as possible comes to one of the places of `Open`,
//! > and so does every formula that follows it that far.
//!
//! So the next formula need only look at executions that come to such a place or are stopped before ([`Cuts::goes_on`]). Stopped
//! *before*: a refusal may be new, because what is stored further on makes a value unknown that was known in the last formula. An
//! execution that is refused has not been judged, and the places behind the refusal are not in the formula at all.
//!
//! If every question about such executions is answered by no ([`Answered`]), each violation as above is stopped in this formula, and not by
//! a refusal: it comes to a place where this bound cuts. That is the same sentence for the next bound; if no execution is cut
//! there is no violation. [`Open::after`] takes the answers, so that nothing is left out without them.
//!
//! *Places* must mean the same in every formula. They are made of what a thread has done so far, whatever is known of it: functions,
//! blocks, how often loops went round. Which iterations count, the numbers of objects, and with them the arguments of library
//! functions depend on the formula, and are no part of a place. Two places with one name are no harm: more is looked at.

use super::Encoder;
use crate::events::{Refusal, ThreadIndex};
use crate::problem::Unsat;
use crate::state::{Key, State};
use raddle_order::bits::{Bit, Bits};
use raddle_program::SrcId;
use std::collections::BTreeSet;

/// Separates the place where a thread is started from the places in it.
const STARTED: u32 = u32::MAX;

/// Which iterations of loops that are not known to end count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// All: the user asked for that bound, on loops of the program. Those of libraries are bounded as if nobody had asked.
    Every,
    /// Those that are done because of something that is not known. Loops that go round by known values end by themselves,
    /// mostly, and cost nothing but what they do.
    Undecided,
    /// All, in loops that are known to end as well: for violations that show early in programs whose loops go round very often.
    /// Iterations that are done because of something that is not known are bounded by [`super::LAST_BOUND`] all the same.
    Early,
}

/// Where threads are cut short.
#[derive(Clone, Debug, Default)]
pub(crate) struct CutPlaces(BTreeSet<Key>);

/// What the bounds so far have left open.
#[derive(Clone, Debug)]
pub(crate) enum Open {
    /// There was none.
    Everything,
    /// Executions that come to one of these places.
    Past(CutPlaces),
}

/// All that a bound is asked, and was answered by no.
#[expect(dead_code, reason = "that there are such answers is all that matters")]
pub(crate) struct Answered {
    /// Does a thread go wrong?
    pub(crate) fault: Unsat,
    pub(crate) deadlock: Unsat,
    pub(crate) race: Unsat,
    /// Is something met that cannot be encoded?
    pub(crate) refusal: Unsat,
}

impl Open {
    /// What is left after a formula that some execution exceeds.
    pub(crate) fn after(_: Answered, cuts: &mut Cuts) -> Self {
        Self::Past(std::mem::take(&mut cuts.places))
    }
}

/// How executions get beyond a formula.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    pub(crate) all: Vec<Cut>,
    places: CutPlaces,
    /// Conditions under which a thread comes to one of the places of [`Open::Past`].
    passed: Vec<Bit>,
}

/// A bound is exceeded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(crate) thread: ThreadIndex,
    pub(crate) guard: Bit,
    /// Which: not the one that was asked for, where loops go round by known values, or are a library's.
    bound: u32,
    pub(crate) at: SrcId,
}

impl Cuts {
    /// Conditions under which bounds are exceeded that are not less than this one.
    pub(crate) fn guards(&self, bound: u32) -> impl Iterator<Item = Bit> + '_ {
        let cuts = self.all.iter().filter(move |cut| cut.bound >= bound);
        cuts.map(|cut| cut.guard)
    }

    /// The least of these bounds.
    pub(crate) fn least(&self, bound: u32) -> u32 {
        let bounds = self.all.iter().map(|cut| cut.bound);
        bounds.filter(|&cut| cut >= bound).min().unwrap_or(bound)
    }

    /// Does an execution come to a place that was left open, or is it stopped before?
    pub(crate) fn goes_on(&self, bits: &mut Bits, refusals: &[Refusal]) -> Bit {
        let refused = refusals.iter().map(|refusal| refusal.guard);
        let stopped = self.guards(0).chain(refused);
        bits.any(self.passed.iter().copied().chain(stopped))
    }
}

impl Encoder<'_> {
    /// Where a state is, in every formula: where its thread was started and so on, and where it is in its code.
    pub(super) fn place(&self, state: &State) -> Key {
        let mut place = self.started_at[self.thread].clone();
        place.push(STARTED);
        state.extend_place(&mut place);
        place
    }

    /// The state exceeds a bound.
    pub(super) fn cut(&mut self, state: &State, bound: u32) {
        let place = self.place(state);
        let at = self.position(state);
        let cuts = &mut self.out.cuts;
        cuts.places.0.insert(place);
        cuts.all.push(Cut {
            thread: self.thread,
            guard: state.path.guard(),
            bound,
            at,
        });
    }

    /// Has the state come to where an earlier bound ended? To be asked wherever a bound may end.
    pub(super) fn compare_with_last_bound(&mut self, state: &State) {
        if let Open::Past(last) = self.options.open
            && last.0.contains(&self.place(state))
        {
            self.out.cuts.passed.push(state.path.guard());
        }
    }
}
