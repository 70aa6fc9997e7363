//! Mutexes of all kinds.
//!
//! Where critical sections are not known from the text, a mutex is a cell: the handle of its owner, and above it how often a
//! recursive one was taken again.

use super::library::{Args, misused};
use super::sync::{EBUSY, EDEADLK, EPERM, ETIMEDOUT, UNCONTENDED, region_of};
use super::{Encoder, unsupported_call};
use crate::events::{Awaited, Handover, Place, Rule, Section, StepIndex, What};
use crate::state::{Held, State};
use crate::value::Sym;
use raddle_order::bits::Bit;
use raddle_program::{Misuse, MutexKind, Order, Stop};

/// Where the kind of a mutex lies in its static initialiser.
const MUTEX_KIND: u64 = 16;
/// What a mutex holds that was destroyed: no handle is that large.
const DESTROYED: u32 = u32::MAX;
/// The handle of a mutex's owner has so many bits.
pub(crate) const OWNER_BITS: usize = 24;

/// The kind behind the number that the C library has for it.
fn kind_of(number: u64) -> MutexKind {
    match number {
        1 => MutexKind::Recursive,
        2 => MutexKind::ErrorCheck,
        _ => MutexKind::Normal,
    }
}

impl Encoder<'_> {
    /// The kind of a mutex: as it is made by a call, or as its initialiser says.
    pub(super) fn kind(&mut self, mutex: Place) -> Result<MutexKind, Stop> {
        match self.facts.kind(mutex) {
            Some(kind) => Ok(kind),
            None => self.static_kind(mutex),
        }
    }

    fn static_kind(&mut self, (object, offset): Place) -> Result<MutexKind, Stop> {
        let bytes = self.view.contents(object)?;
        let start = (offset + MUTEX_KIND) as usize;
        let number = bytes
            .as_deref()
            .and_then(|bytes| bytes.get(start..start + 4)?.try_into().ok())
            .map_or(0, u32::from_le_bytes);
        Ok(kind_of(u64::from(number)))
    }

    pub(super) fn mutex_init(
        &mut self,
        state: &mut State,
        name: &str,
        mutex: Place,
        args: &Args,
    ) -> Result<(), Stop> {
        let unknown = || unsupported_call(name, "which kind of mutex it makes is not known");
        let kind = match name {
            "pthread_mutex_init" if args[1].as_constant() != Some(0) => {
                let number = self.load(state, &args[1], 4, Order::Plain)?;
                kind_of(number.as_constant().ok_or_else(unknown)?)
            }
            "mtx_init" => kind_of(args[1].as_constant().ok_or_else(unknown)? & 1),
            _ => MutexKind::Normal,
        };
        let is_news = kind != self.kind(mutex)?;
        match self.facts.kind(mutex) {
            Some(other) if other != kind => {
                return Err(unsupported_call(name, "a mutex of two kinds"));
            }
            _ => self.facts.make(mutex, kind, is_news),
        }
        if self.facts.is_tangled(mutex) {
            self.change_cell(state, mutex, None, |_, _| Sym::zero(32))?;
        }
        Ok(())
    }

    fn own_handle(&self) -> Sym {
        Sym::constant(32, self.out.threads[self.thread].handle)
    }

    /// Is this thread the owner, by the value of the cell?
    fn is_owner(&mut self, cell: &Sym) -> Bit {
        let own = self.own_handle().word.extract(0, OWNER_BITS);
        self.out.bits.eq(&cell.word.extract(0, OWNER_BITS), &own)
    }

    /// A recursive mutex that is taken once more, or once less.
    fn counted(&mut self, cell: &Sym, more: bool) -> Sym {
        let one = Sym::constant(32, 1 << OWNER_BITS).word;
        let bits = &mut self.out.bits;
        Sym::of(if more {
            bits.add(&cell.word, &one)
        } else {
            bits.sub(&cell.word, &one)
        })
    }

    fn check_undestroyed(&mut self, state: &mut State, cell: &Sym) {
        let gone = cell.is(&mut self.out.bits, u64::from(DESTROYED));
        self.fault_if(state, gone, misused(Misuse::UseDestroyed));
    }

    /// Returns what the call returns.
    pub(super) fn lock(&mut self, state: &mut State, mutex: Place) -> Result<Sym, Stop> {
        let kind = self.kind(mutex)?;
        if self.facts.is_tangled(mutex) {
            return self.lock_cell(state, mutex, kind);
        }
        if let Some(held) = state.held.get_mut(&mutex) {
            match kind {
                MutexKind::Normal => self.wait_for(state, Bit::FALSE, Awaited::Itself),
                MutexKind::Recursive => held.depth += 1,
                MutexKind::ErrorCheck => return Ok(Sym::constant(32, EDEADLK)),
            }
            return Ok(Sym::zero(32));
        }
        for &held in state.held.keys() {
            self.nested.insert((held, mutex));
        }
        let mut section = UNCONTENDED;
        if !self.knows(state, region_of(mutex)) {
            if self.facts.is_blocking(mutex) {
                let passes = self.fresh_bit();
                self.wait_for(state, passes, Awaited::Mutex(mutex));
            }
            let lock = self.step(state, What::Lock, Order::SeqCst);
            self.out.steps[lock].object = Some(mutex);
            section = self.out.sections.len();
            self.out.sections.push(Section {
                mutex,
                thread: self.thread,
                lock,
                unlocks: Vec::new(),
                entered: state.path.clone(),
                left: Vec::new(),
            });
        }
        state.held.insert(mutex, Held { section, depth: 1 });
        Ok(Sym::zero(32))
    }

    fn lock_cell(&mut self, state: &mut State, mutex: Place, kind: MutexKind) -> Result<Sym, Stop> {
        let own = self.own_handle();
        let handle = self.out.threads[self.thread].handle as u32;
        let rule = match kind {
            MutexKind::Normal => Rule::ZeroOr(DESTROYED, DESTROYED),
            MutexKind::ErrorCheck => Rule::ZeroOr(DESTROYED, handle),
            MutexKind::Recursive => Rule::FreeOrOf(handle, DESTROYED),
        };
        let mut again = Bit::FALSE;
        let (old, step) = self.change_cell(state, mutex, Some(rule), |encoder, old| {
            if kind == MutexKind::Normal {
                return own;
            }
            again = encoder.is_owner(old);
            let kept = match kind {
                MutexKind::Recursive => encoder.counted(old, true),
                _ => old.clone(),
            };
            Sym::ite(&mut encoder.out.bits, again, &kept, &own)
        })?;
        self.hand_over(step, Handover::acquire(Bit::TRUE));
        self.check_undestroyed(state, &old);
        let zero = Sym::zero(32);
        if kind != MutexKind::ErrorCheck {
            return Ok(zero);
        }
        self.hand_over(step, Handover::acquire(!again));
        let refused = Sym::constant(32, EDEADLK);
        Ok(Sym::ite(&mut self.out.bits, again, &refused, &zero))
    }

    /// Returns what the call returns.
    pub(super) fn unlock(&mut self, state: &mut State, mutex: Place) -> Result<Sym, Stop> {
        let kind = self.kind(mutex)?;
        if self.facts.is_tangled(mutex) {
            return self.unlock_cell(state, mutex, kind);
        }
        match state.held.get_mut(&mutex) {
            None if kind == MutexKind::ErrorCheck => return Ok(Sym::constant(32, EPERM)),
            Some(held) if held.depth > 1 => held.depth -= 1,
            _ => {
                self.give_up(state, mutex)?;
            }
        }
        Ok(Sym::zero(32))
    }

    fn unlock_cell(
        &mut self,
        state: &mut State,
        mutex: Place,
        kind: MutexKind,
    ) -> Result<Sym, Stop> {
        let mut owned = Bit::FALSE;
        let (old, step) = self.change_cell(state, mutex, None, |encoder, old| {
            owned = encoder.is_owner(old);
            let free = Sym::zero(32);
            let depth = old.word.extract(OWNER_BITS, 32);
            let left = match kind {
                MutexKind::Normal => return free,
                MutexKind::ErrorCheck => free,
                MutexKind::Recursive => {
                    let less = encoder.counted(old, false);
                    let last = encoder.out.bits.is_zero(&depth);
                    Sym::ite(&mut encoder.out.bits, last, &free, &less)
                }
            };
            Sym::ite(&mut encoder.out.bits, owned, &left, old)
        })?;
        let zero = Sym::zero(32);
        if kind != MutexKind::ErrorCheck {
            self.hand_over(step, Handover::release(Bit::TRUE));
            self.fault_if(state, !owned, misused(Misuse::UnlockNotOwned));
            return Ok(zero);
        }
        self.hand_over(step, Handover::release(owned));
        self.check_undestroyed(state, &old);
        let refused = Sym::constant(32, EPERM);
        Ok(Sym::ite(&mut self.out.bits, owned, &zero, &refused))
    }

    /// The mutex becomes free, however often it was taken. Returns the step, if there is one.
    pub(super) fn give_up(
        &mut self,
        state: &mut State,
        mutex: Place,
    ) -> Result<Option<StepIndex>, Stop> {
        if self.facts.is_tangled(mutex) {
            let mut owned = Bit::FALSE;
            let (_, step) = self.change_cell(state, mutex, None, |encoder, old| {
                owned = encoder.is_owner(old);
                Sym::zero(32)
            })?;
            self.hand_over(step, Handover::release(Bit::TRUE));
            self.fault_if(state, !owned, misused(Misuse::UnlockNotOwned));
            return Ok(step);
        }
        match state.held.remove(&mutex) {
            None => Err(Stop::Fault(misused(Misuse::UnlockUnlocked))),
            Some(Held {
                section: UNCONTENDED,
                ..
            }) => Ok(None),
            Some(Held { section, .. }) => {
                let unlock = self.step(state, What::Unlock, Order::SeqCst);
                self.out.steps[unlock].object = Some(mutex);
                self.leave(state, section, unlock);
                Ok(Some(unlock))
            }
        }
    }

    /// Destroying a mutex that somebody holds, or may still want, makes it a cell: it must be seen whether it is free.
    pub(super) fn destroy(&mut self, state: &mut State, mutex: Place) -> Result<(), Stop> {
        if self.facts.is_tangled(mutex) {
            let gone = Sym::constant(32, u64::from(DESTROYED));
            let (old, _) = self.change_cell(state, mutex, None, |_, _| gone)?;
            let taken = !self.out.bits.is_zero(&old.word);
            self.fault_if(state, taken, misused(Misuse::DestroyLocked));
            return Ok(());
        }
        if state.held.contains_key(&mutex) {
            return Err(Stop::Fault(misused(Misuse::DestroyLocked)));
        }
        if self.knows(state, region_of(mutex)) {
            return Ok(());
        }
        let step = self.step(state, What::Life, Order::SeqCst);
        self.out.destroyed.push((mutex, step));
        Ok(())
    }

    /// Trying makes the mutex a cell: whether it is taken must be seen.
    pub(super) fn try_lock(&mut self, state: &mut State, mutex: Place) -> Result<Sym, Stop> {
        let is_recursive = self.kind(mutex)? == MutexKind::Recursive;
        self.facts.tangle(mutex);
        let own = self.own_handle();
        let mut got = Bit::FALSE;
        let (old, step) = self.change_cell(state, mutex, None, |encoder, old| {
            got = encoder.out.bits.is_zero(&old.word);
            let new = Sym::ite(&mut encoder.out.bits, got, &own, old);
            if !is_recursive {
                return new;
            }
            let again = encoder.is_owner(old);
            got = encoder.out.bits.bit_or(got, again);
            let more = encoder.counted(old, true);
            Sym::ite(&mut encoder.out.bits, again, &more, &new)
        })?;
        self.hand_over(step, Handover::acquire(got));
        self.check_undestroyed(state, &old);
        let (zero, busy) = (Sym::zero(32), Sym::constant(32, EBUSY));
        Ok(Sym::ite(&mut self.out.bits, got, &zero, &busy))
    }

    /// What a timed operation returns whose attempt came to `tried`: if that was in vain, the deadline passes.
    pub(super) fn in_time(
        &mut self,
        state: &mut State,
        tried: &Sym,
        deadline: &Sym,
    ) -> Result<Sym, Stop> {
        let busy = tried.is(&mut self.out.bits, EBUSY);
        self.pass_deadline(state, busy, deadline)?;
        let late = Sym::constant(32, ETIMEDOUT);
        Ok(Sym::ite(&mut self.out.bits, busy, &late, tried))
    }
}
