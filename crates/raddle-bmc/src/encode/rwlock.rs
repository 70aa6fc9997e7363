//! Read-write locks.
//!
//! The cell of a lock says who writes, or how many read. What a thread itself holds it knows: mostly from its code alone, so
//! that giving back is no question at all. A lock that is made anew while others may hold it has a number beside its cell that
//! says how often that happened: what was held before is no longer.

use super::Encoder;
use super::library::misused;
use super::sync::{BESIDE, region_of};
use crate::events::{Change, Handover, Kept, Place, Rule, StepIndex};
use crate::state::State;
use crate::value::Sym;
use raddle_order::bits::{Bit, Bits, Word};
use raddle_program::errno::{EBUSY, EDEADLK};
use raddle_program::{Misuse, Stop};

/// A read-write lock is held by a writer; the other bits count readers.
const WRITER: u32 = 1 << 31;
/// So many bits count how often a thread reads.
const READS: usize = 16;

/// What a thread holds of a read-write lock.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    writes: Bit,
    reads: Word,
    /// How often the lock had been made when it was taken.
    making: Word,
}

impl Holding {
    fn nothing(making: &Word) -> Self {
        Self {
            writes: Bit::FALSE,
            reads: Word::constant(READS, 0),
            making: making.clone(),
        }
    }

    /// Does a thread hold the same at two times?
    pub(super) fn same(bits: &mut Bits, one: Option<&Self>, two: Option<&Self>) -> Bit {
        let Some(first) = one.or(two) else {
            return Bit::TRUE;
        };
        let nothing = Self::nothing(&first.making);
        let (one, two) = (one.unwrap_or(&nothing), two.unwrap_or(&nothing));
        let writes = bits.bit_xor(one.writes, two.writes);
        let (reads, making) = (
            bits.eq(&one.reads, &two.reads),
            bits.eq(&one.making, &two.making),
        );
        bits.all([!writes, reads, making])
    }

    /// What is left of it: nothing, if the lock is another one now.
    fn of(held: Option<&Self>, bits: &mut Bits, making: &Word) -> Self {
        let Some(held) = held else {
            return Self::nothing(making);
        };
        let is_same = bits.eq(&held.making, making);
        let nothing = Self::nothing(making);
        Self::choose(bits, is_same, held, &nothing).with(making)
    }

    fn with(self, making: &Word) -> Self {
        Self {
            making: making.clone(),
            ..self
        }
    }

    fn choose(bits: &mut Bits, first: Bit, one: &Self, other: &Self) -> Self {
        Self {
            writes: bits.bit_ite(first, one.writes, other.writes),
            reads: bits.ite(first, &one.reads, &other.reads),
            making: bits.ite(first, &one.making, &other.making),
        }
    }

    /// What a thread holds that came one of two ways; none where it never held the lock.
    pub(crate) fn join(
        bits: &mut Bits,
        first: Bit,
        one: Option<&Self>,
        other: Option<&Self>,
    ) -> Option<Self> {
        Some(match (one, other) {
            (Some(one), Some(other)) => Self::choose(bits, first, one, other),
            (Some(one), None) => Self::choose(bits, first, one, &Self::nothing(&one.making)),
            (None, Some(other)) => Self::choose(bits, first, &Self::nothing(&other.making), other),
            (None, None) => return None,
        })
    }
}

impl Encoder<'_> {
    /// An operation on a read-write lock, with what it returns.
    pub(super) fn read_write_lock(
        &mut self,
        state: &mut State,
        operation: &str,
        place: Place,
    ) -> Result<Sym, Stop> {
        self.note_lock(place)?;
        match operation {
            "rwlock_init" => self.rwlock_init(state, place),
            "rwlock_rdlock" => self.read_lock(state, place),
            "rwlock_wrlock" => self.write_lock(state, place),
            "rwlock_tryrdlock" => self.try_read_lock(state, place),
            "rwlock_trywrlock" => self.try_write_lock(state, place),
            _ => self.rwlock_unlock(state, place),
        }
    }

    /// Whoever holds it, holds it no longer.
    fn rwlock_init(&mut self, state: &mut State, place: Place) -> Result<Sym, Stop> {
        let zero = Sym::zero(32);
        let (_, step) = self.change_cell(state, place, None, |_, _| Sym::zero(32))?;
        state.locks.remove(&place);
        let Some(step) = step else {
            return Ok(zero);
        };
        if self.facts.is_watched(place) {
            let (making, accesses) = self.read_beside(state, place)?;
            self.add_accesses_to(Some(step), accesses);
            let one = Word::constant(32, 1);
            let next = Sym::of(self.out.bits.add(&making.word, &one));
            self.write_beside(state, place, next, Some(step))?;
        } else {
            self.out.changes.push(Change {
                place,
                step: Some(step),
                is_end: false,
            });
        }
        Ok(zero)
    }

    fn read_lock(&mut self, state: &mut State, place: Place) -> Result<Sym, Stop> {
        let own = self.writer();
        let mut again = Bit::FALSE;
        let may_write = may_write(state, place);
        let mut rule = Rule::Clear(WRITER);
        if may_write {
            rule = Rule::OrIs(Box::new(rule), own);
        }
        let (_, step) = self.change_living(state, place, Some(rule), |encoder, old| {
            let more = encoder.one_more(old);
            if may_write {
                again = old.is(&mut encoder.out.bits, u64::from(own));
            }
            Sym::ite(&mut encoder.out.bits, again, old, &more)
        })?;
        self.hand_over(step, Handover::acquire(!again));
        self.hold_to_read(state, place, step, !again)?;
        Ok(self.unless(again, EDEADLK))
    }

    fn write_lock(&mut self, state: &mut State, place: Place) -> Result<Sym, Stop> {
        let own = self.writer();
        let writer = Sym::constant(32, u64::from(own));
        let may_write = may_write(state, place);
        let mut rule = Rule::Zero;
        if may_write {
            rule = Rule::OrIs(Box::new(rule), own);
        }
        let (old, step) = self.change_living(state, place, Some(rule), |_, _| writer)?;
        let mut again = Bit::FALSE;
        if may_write {
            again = old.is(&mut self.out.bits, u64::from(own));
        }
        self.hand_over(step, for_writers(!again));
        self.hold_to_write(state, place, step, Bit::TRUE)?;
        Ok(self.unless(again, EDEADLK))
    }

    fn try_read_lock(&mut self, state: &mut State, place: Place) -> Result<Sym, Stop> {
        let (old, step) = self.change_living(state, place, None, |encoder, old| {
            let more = encoder.one_more(old);
            Sym::ite(&mut encoder.out.bits, old.word.sign(), old, &more)
        })?;
        let is_busy = old.word.sign();
        self.hand_over(step, Handover::acquire(!is_busy));
        self.hold_to_read(state, place, step, !is_busy)?;
        Ok(self.unless(is_busy, EBUSY))
    }

    fn try_write_lock(&mut self, state: &mut State, place: Place) -> Result<Sym, Stop> {
        let writer = Sym::constant(32, u64::from(self.writer()));
        let mut is_free = Bit::FALSE;
        let (_, step) = self.change_living(state, place, None, |encoder, old| {
            is_free = encoder.out.bits.is_zero(&old.word);
            Sym::ite(&mut encoder.out.bits, is_free, &writer, old)
        })?;
        self.hand_over(step, for_writers(is_free));
        self.hold_to_write(state, place, step, is_free)?;
        Ok(self.unless(!is_free, EBUSY))
    }

    fn rwlock_unlock(&mut self, state: &mut State, place: Place) -> Result<Sym, Stop> {
        let (making, accesses) = self.read_beside(state, place)?;
        let making = making.word;
        let bits = &mut self.out.bits;
        let held = Holding::of(state.locks.get(&place), bits, &making);
        let reads = !bits.is_zero(&held.reads);
        let holds = bits.bit_or(held.writes, reads);
        let misuse = misused(Misuse::UnlockNotOwned);
        let is_fatal = self.options.checks.covers(&misuse);
        let (_, step) = self.change_living(state, place, None, |encoder, old| {
            let bits = &mut encoder.out.bits;
            let one = Word::constant(32, 1);
            let less = Sym::of(bits.sub(&old.word, &one));
            let left = Sym::ite(bits, held.writes, &Sym::zero(32), &less);
            match is_fatal {
                true => left,
                false => Sym::ite(bits, holds, &left, old),
            }
        })?;
        self.add_accesses_to(step, accesses);
        let handover = Handover {
            releases: held.writes,
            releases_to_writers: !held.writes,
            ..Handover::NONE
        };
        self.hand_over(step, handover);
        self.fault_if(state, !holds, misuse);
        let bits = &mut self.out.bits;
        let one = Word::constant(READS, 1);
        let less = bits.sub(&held.reads, &one);
        let reads = bits.ite(held.writes, &held.reads, &less);
        let left = Holding {
            writes: Bit::FALSE,
            reads,
            making,
        };
        state.locks.insert(place, left);
        Ok(Sym::zero(32))
    }

    // ---- what threads hold

    /// The thread goes no further if `condition` holds: what it holds then, it keeps.
    pub(super) fn keep_locks(&mut self, state: &State, condition: Bit) {
        for (&lock, held) in &state.locks {
            let bits = &mut self.out.bits;
            let reads = !bits.is_zero(&held.reads);
            let holds = bits.bit_or(held.writes, reads);
            let condition = bits.bit_and(condition, holds);
            if condition != Bit::FALSE {
                self.out.kept.push(Kept {
                    thread: self.thread,
                    lock,
                    condition,
                    making: held.making.clone(),
                });
            }
        }
    }

    /// The locks that a thread holds whatever way it came here, and whether for writing.
    pub(super) fn locks_held(&mut self, state: &State) -> Vec<(Place, bool)> {
        let guard = state.path.guard();
        let mut locks = Vec::new();
        for (&lock, held) in &state.locks {
            if self.facts.is_watched(lock) {
                continue;
            }
            let bits = &mut self.out.bits;
            let reads = !bits.is_zero(&held.reads);
            let holds = bits.bit_or(held.writes, reads);
            if bits.bit_and(guard, !held.writes) == Bit::FALSE {
                locks.push((lock, true));
            } else if bits.bit_and(guard, !holds) == Bit::FALSE {
                locks.push((lock, false));
            }
        }
        locks
    }

    /// Threads wait for those who hold the lock, not for anybody.
    fn note_lock(&mut self, place: Place) -> Result<(), Stop> {
        let region = region_of(place);
        let cell = self.facts.cells(region, place.1, 4)[0];
        let beside = self.facts.cells(region, BESIDE + place.1, 4)[0];
        let making = self.facts.is_watched(place).then_some(beside);
        if making.is_some() {
            self.note_first(beside)?;
        }
        self.out.locks.insert(cell, making);
        Ok(())
    }

    fn hold_to_read(
        &mut self,
        state: &mut State,
        place: Place,
        step: Option<StepIndex>,
        condition: Bit,
    ) -> Result<(), Stop> {
        let (making, accesses) = self.read_beside(state, place)?;
        let making = making.word;
        self.add_accesses_to(step, accesses);
        let bits = &mut self.out.bits;
        let mut held = Holding::of(state.locks.get(&place), bits, &making);
        let more = bits.add(&held.reads, &Word::constant(READS, 1));
        held.reads = bits.ite(condition, &more, &held.reads);
        state.locks.insert(place, held);
        Ok(())
    }

    fn hold_to_write(
        &mut self,
        state: &mut State,
        place: Place,
        step: Option<StepIndex>,
        condition: Bit,
    ) -> Result<(), Stop> {
        let (making, accesses) = self.read_beside(state, place)?;
        let making = making.word;
        self.add_accesses_to(step, accesses);
        let bits = &mut self.out.bits;
        let mut held = Holding::of(state.locks.get(&place), bits, &making);
        held.writes = bits.bit_or(held.writes, condition);
        state.locks.insert(place, held);
        Ok(())
    }

    // ---- values

    fn one_more(&mut self, cell: &Sym) -> Sym {
        self.plus(cell, &Sym::constant(32, 1))
    }

    /// 0, or an error number.
    fn unless(&mut self, condition: Bit, error: u64) -> Sym {
        let (zero, error) = (Sym::zero(32), Sym::constant(32, error));
        Sym::ite(&mut self.out.bits, condition, &error, &zero)
    }

    /// A read-write lock that this thread holds for writing.
    fn writer(&self) -> u32 {
        WRITER | self.out.threads[self.thread].handle as u32
    }
}

/// May the thread hold the lock for writing?
fn may_write(state: &State, place: Place) -> bool {
    let held = state.locks.get(&place);
    held.is_some_and(|held| held.writes != Bit::FALSE)
}

/// Writers learn of readers as well.
fn for_writers(condition: Bit) -> Handover {
    Handover {
        acquires_of_readers: condition,
        ..Handover::acquire(condition)
    }
}
