//! Barriers, and the end of objects that are cells.
//!
//! The low half of a barrier's cell counts arrivals, the high half generations. How many threads have to come lies beside.

use super::Encoder;
use super::counting::GONE;
use super::library::misused;
use crate::events::{Arrival, Place, Rule};
use crate::state::State;
use crate::value::Sym;
use raddle_order::bits::{Bit, Word};
use raddle_program::{Misuse, Stop};

/// So many bits count arrivals.
const HALF: usize = 16;

impl Encoder<'_> {
    pub(super) fn barrier_init(
        &mut self,
        state: &mut State,
        place: Place,
        count: &Sym,
    ) -> Result<(), Stop> {
        let nobody = self.out.bits.is_zero(&count.word);
        self.fault_if(state, nobody, misused(Misuse::BarrierCountZero));
        let (_, step) = self.change_cell(state, place, None, |_, _| Sym::zero(32))?;
        self.write_beside(state, place, count.clone(), step)
    }

    pub(super) fn barrier_wait(&mut self, state: &mut State, place: Place) -> Result<Sym, Stop> {
        let (count, accesses) = self.read_beside(state, place)?;
        let unmade = self.out.bits.is_zero(&count.word);
        let mut last = Bit::FALSE;
        let (old, arrive) = self.change_living(state, place, None, |encoder, old| {
            let bits = &mut encoder.out.bits;
            let arrived = bits.add(&old.word, &Word::constant(2 * HALF, 1));
            last = bits.eq(&arrived.extract(0, HALF), &count.word.extract(0, HALF));
            let next = bits.add(&old.word, &Word::constant(2 * HALF, 1 << HALF));
            let opened = Word::constant(HALF, 0).concat(&next.extract(HALF, 2 * HALF));
            let came = bits.ite(last, &opened, &arrived);
            Sym::of(bits.ite(unmade, &old.word, &came))
        })?;
        self.add_accesses_to(arrive, accesses);
        self.fault_if(state, unmade, misused(Misuse::WrongKind));
        let generation = old.word.extract(HALF, 2 * HALF);
        let rule = Rule::Past(generation.clone(), last);
        let (left, leave) = self.look_when(state, place, rule)?;
        if self.facts.is_destroyed(place) {
            // The last to arrive does not look at it again.
            let gone = left.is(&mut self.out.bits, u64::from(GONE));
            let gone = self.out.bits.bit_and(gone, !last);
            self.fault_if(state, gone, misused(Misuse::UseDestroyed));
        }
        if let (Some(arrive), Some(leave)) = (arrive, leave) {
            self.out.arrivals.push(Arrival {
                barrier: place,
                arrive,
                leave,
                generation,
            });
        }
        let serial = Sym::constant(32, u64::from(u32::MAX));
        Ok(Sym::ite(&mut self.out.bits, last, &serial, &Sym::zero(32)))
    }

    /// Ends the life of a semaphore, a read-write lock or a barrier.
    pub(super) fn destroy_cell(
        &mut self,
        state: &mut State,
        operation: &str,
        place: Place,
    ) -> Result<(), Stop> {
        self.facts.destroy(place);
        let is_barrier = operation == "barrier_destroy";
        let (mut unmade, mut accesses) = (Bit::FALSE, Vec::new());
        if is_barrier {
            let count;
            (count, accesses) = self.read_beside(state, place)?;
            unmade = self.out.bits.is_zero(&count.word);
        }
        let gone = Sym::constant(32, u64::from(GONE));
        let misuse = match operation {
            "rwlock_destroy" => Misuse::DestroyLocked,
            _ => Misuse::DestroyWithWaiters,
        };
        let mut in_use = Bit::FALSE;
        let (_, step) = self.change_living(state, place, None, |encoder, old| {
            let users = match operation {
                "sem_destroy" => return gone,
                "rwlock_destroy" => old.word.clone(),
                _ => old.word.extract(0, HALF),
            };
            in_use = !encoder.out.bits.is_zero(&users);
            let is_kept = encoder.out.bits.bit_or(in_use, unmade);
            Sym::ite(&mut encoder.out.bits, is_kept, old, &gone)
        })?;
        self.add_accesses_to(step, accesses);
        self.fault_if(state, unmade, misused(Misuse::WrongKind));
        self.fault_if(state, in_use, misused(misuse));
        Ok(())
    }
}
