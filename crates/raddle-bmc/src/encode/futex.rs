//! Synchronisation objects as library functions use them by themselves: one-time initialisers, and futexes.
//!
//! A futex is what the interpreter makes of it: a queue at the word, a mutex beside it that is held inside of atomic blocks
//! only, and a semaphore that counts who waits.

use super::sync::region_of;
use super::{Encoder, unsupported};
use crate::events::{Awaited, Handover, Place, StepIndex, StepKind, Waiter};
use crate::state::State;
use crate::value::Sym;
use raddle_order::bits::Bit;
use raddle_program::errno::{EAGAIN, ETIMEDOUT};
use raddle_program::{Order, Stop, SyncAction};

/// The cells of mutexes are out of the way of the others, which they would overlap.
const MUTEXES: u64 = 1 << 42;

impl Encoder<'_> {
    /// An operation on the synchronisation object at an address.
    pub(super) fn sync_action(
        &mut self,
        state: &mut State,
        address: u64,
        action: SyncAction,
    ) -> Result<Sym, Stop> {
        if state.block.is_none() {
            self.drain(state);
        }
        let address = Sym::constant(64, address);
        let place = self.object_at(state, "a library function", &address)?;
        let zero = Sym::zero(64);
        match action {
            SyncAction::OnceBegin => return self.begin_once(state, place),
            SyncAction::OnceEnd => self.end_once(state, place)?,
            // Nobody holds it where another could see it.
            SyncAction::Lock { .. } => {
                let (_, step) =
                    self.change_cell(state, mutex_at(place), None, |_, old| old.clone())?;
                let handover = Handover {
                    releases: Bit::TRUE,
                    ..Handover::acquire(Bit::TRUE)
                };
                self.hand_over(step, handover);
            }
            SyncAction::SemPost => {
                let one = Sym::constant(32, 1);
                let (_, step) = self.change_cell(state, place, None, |encoder, old| {
                    Sym::of(encoder.out.bits.add(&old.word, &one.word))
                })?;
                self.hand_over(step, Handover::release(Bit::TRUE));
            }
            SyncAction::SemTryWait => return self.take_one(state, place),
            SyncAction::CondRelease { .. } => {
                let enter = self.step(state, StepKind::Sync, Order::SeqCst);
                self.out.steps[enter].object = Some(place);
                state.queued = Some(enter);
            }
            SyncAction::CondAwait => self.await_wake(state, place)?,
            SyncAction::CondPoll => self.leave_queue(state, place, Bit::FALSE)?,
            SyncAction::CondTimeout => {
                self.leave_queue(state, place, Bit::TRUE)?;
                return Ok(Sym::constant(64, ETIMEDOUT));
            }
            SyncAction::Signal => self.wake(state, place, false)?,
            _ => {
                let what = "this use of a synchronisation object by a library function";
                return Err(unsupported(what));
            }
        }
        Ok(zero)
    }

    /// Takes one from a semaphore, if there is one: 0, or an error number.
    fn take_one(&mut self, state: &mut State, place: Place) -> Result<Sym, Stop> {
        let refused = Sym::constant(64, EAGAIN);
        // Every other thread waits once at most.
        if state.woken >= self.facts.most_threads() {
            return Ok(refused);
        }
        state.woken += 1;
        let one = Sym::constant(32, 1);
        let (old, step) = self.change_cell(state, place, None, |encoder, old| {
            let bits = &mut encoder.out.bits;
            let is_zero = bits.is_zero(&old.word);
            let less = bits.sub(&old.word, &one.word);
            Sym::of(bits.ite(is_zero, &old.word, &less))
        })?;
        let is_zero = self.out.bits.is_zero(&old.word);
        self.hand_over(step, Handover::acquire(!is_zero));
        let zero = Sym::zero(64);
        Ok(Sym::ite(&mut self.out.bits, is_zero, &refused, &zero))
    }

    /// The step at which the thread entered the queue.
    fn entered(&mut self, state: &mut State) -> Result<StepIndex, Stop> {
        let entered = state.queued.take();
        entered.ok_or_else(|| unsupported("a queue that was not entered"))
    }

    fn await_wake(&mut self, state: &mut State, place: Place) -> Result<(), Stop> {
        let enter = self.entered(state)?;
        if self.knows(state, region_of(place)) {
            // Nobody else does wake it.
            self.wait_for(state, Bit::FALSE, Awaited::Anybody(None))?;
            return Ok(());
        }
        let passes = self.passes_a_signal(state);
        let on = Awaited::Signal(self.out.waiters.len(), None);
        self.wait_for(state, passes, on)?;
        self.leave_at(state, place, enter, Bit::FALSE);
        Ok(())
    }

    /// Whoever does not wait any longer was woken, or not.
    fn leave_queue(&mut self, state: &mut State, place: Place, timed_out: Bit) -> Result<(), Stop> {
        let enter = self.entered(state)?;
        if self.knows(state, region_of(place)) {
            state.path.push(&mut self.out.bits, timed_out);
            return Ok(());
        }
        self.leave_at(state, place, enter, timed_out);
        Ok(())
    }

    fn leave_at(&mut self, state: &State, place: Place, enter: StepIndex, timed_out: Bit) {
        let leave = self.step(state, StepKind::Sync, Order::SeqCst);
        self.out.steps[leave].object = Some(place);
        self.out.waiters.push(Waiter {
            thread: self.thread,
            condition: place,
            enter,
            leave,
            timed_out,
            is_told: timed_out != Bit::FALSE,
            forgotten: Bit::FALSE,
            making: None,
        });
    }
}

fn mutex_at((object, offset): Place) -> Place {
    (object, MUTEXES + offset - 1)
}
