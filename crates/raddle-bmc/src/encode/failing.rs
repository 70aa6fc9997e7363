//! Weak compare-exchanges that fail for no reason.

use super::access::Target;
use super::{Encoder, unsupported_call};
use crate::state::State;
use crate::value::Sym;
use raddle_order::bits::{Bit, Word};
use raddle_program::interp::SpuriousFailures;
use raddle_program::models::{is_of_library, locks_several, may_fail_spuriously};
use raddle_program::{AccessKind, Stop};

/// A failure for no reason that is possible.
pub(super) struct Failing {
    /// Is it wanted?
    pub(super) chosen: Bit,
    /// Does the interpreter ask?
    may: Bit,
    place: u64,
    before: Sym,
}

/// The interpreter's kind of thread values for what happens at a place once at most. The places of waits are others.
const ONCE: u32 = 9;

impl Encoder<'_> {
    /// May a weak compare-exchange of `size` bytes fail although it finds what it expects? It does so once at most at each place, as the
    /// interpreter has it, and never in memory that is its thread's own.
    pub(super) fn may_fail_spuriously(
        &mut self,
        state: &mut State,
        address: &Sym,
        size: u8,
    ) -> Result<Option<Failing>, Stop> {
        let is_of_library = is_of_library(self.functions(state));
        if self.options.spurious_failures != SpuriousFailures::All || is_of_library {
            return Ok(None);
        }
        let mut may = Bit::FALSE;
        for place in self.places(state, address, u64::from(size))? {
            let target = self.target(state, place, u64::from(size), AccessKind::Update)?;
            if let Ok((Target::Shared(_), _)) = target {
                let is_here = address.is(&mut self.out.bits, place);
                may = self.out.bits.bit_or(may, is_here);
            }
        }
        let place = self.place_of_call(state);
        let before = self.thread_value(state, ONCE, place)?;
        let is_first = self.out.bits.is_zero(&before.word);
        may = self.out.bits.bit_and(may, is_first);
        if may == Bit::FALSE {
            return Ok(None);
        }
        let chosen = self.fresh_bit();
        Ok(Some(Failing {
            chosen: self.out.bits.bit_and(may, chosen),
            may,
            place,
            before,
        }))
    }

    /// It has read what it expects, or not: where not, it fails for that reason. Returns whether it fails for none.
    pub(super) fn fail_spuriously(
        &mut self,
        state: &mut State,
        failing: &Failing,
        matched: Bit,
    ) -> Result<Bit, Stop> {
        let fails = self.out.bits.bit_and(failing.chosen, matched);
        let guard = self.out.bits.bit_and(state.path.guard(), failing.may);
        let choice = (guard, vec![Word::from_bits(vec![fails])]);
        self.out.threads[self.thread].choices.push(choice);
        let one = Sym::constant(64, 1);
        let after = Sym::ite(&mut self.out.bits, fails, &one, &failing.before);
        self.set_thread_value(state, ONCE, failing.place, &after)?;
        Ok(fails)
    }

    /// The functions that are being run, innermost first.
    fn functions<'a>(&'a self, state: &'a State) -> impl Iterator<Item = &'a str> {
        let frames = state.frames.iter().rev();
        frames.map(|frame| &*self.view.module().function(frame.code.id()).name)
    }

    /// Attempts to lock that may fail for no reason: those of C11 and C++.
    pub(super) fn refuse_spurious_failure(
        &mut self,
        state: &State,
        name: &str,
    ) -> Result<(), Stop> {
        let callers: Vec<&str> = self.functions(state).collect();
        if locks_several(&callers) {
            // Rounds that fail have no effect, but a formula does not know that.
            return Err(unsupported_call(
                name,
                "rounds of std::lock may fail without end",
            ));
        }
        let is_off = self.options.spurious_failures == SpuriousFailures::None;
        if is_off || !may_fail_spuriously(name, &callers) {
            return Ok(());
        }
        let why = "failures for no reason are not encoded: without `--no-spurious-failures`";
        Err(unsupported_call(name, why))
    }
}
