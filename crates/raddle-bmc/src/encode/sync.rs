//! Locks, and everything else that threads wait at.
//!
//! A synchronisation object is a cell of 32 bits beside the object's bytes. An operation reads and writes it as one step, and
//! happens only if the value read allows it.
//!
//! Mutexes whose critical sections are known from the text are not cells: their sections are put in order as a whole. If all
//! sections of a mutex are always left, nobody waits in them but for mutexes, and these are nested in one order, every thread that wants the mutex gets it at
//! last: then there is no need to consider that it does not. A violation that somebody commits meanwhile is a violation in
//! the execution that goes on as well, since a fault leaves the sections it is in ([`Section`]).

use super::library::{Args, misused};
use super::{Encoder, unsupported_call};
use crate::events::{
    Awaited, Handover, Place, Rule, Section, StepIndex, Wait, Waiter, Waker, What,
};
use crate::facts::Region;
use crate::order::FixedOrder;
use crate::state::{Held, State};
use crate::value::Sym;
use raddle_order::bits::Bit;
use raddle_program::{AccessKind, Fault, Misuse, Order, Stop};

/// Where the kind of a mutex lies in its static initialiser.
const MUTEX_KIND: u64 = 16;
/// What trying in vain returns.
pub(super) const EBUSY: u64 = 16;
/// A section of a mutex that nobody else takes.
const UNCONTENDED: usize = usize::MAX;
/// A read-write lock is held by a writer; the other bits count readers.
pub(super) const WRITER: u32 = 1 << 31;
/// What a mutex holds that was destroyed: no handle is that large.
const DESTROYED: u32 = u32::MAX;
/// What waiting for oneself returns.
pub(super) const EDEADLK: u64 = 35;

pub(super) fn region_of(place: Place) -> Region {
    Region {
        object: place.0,
        is_sync: true,
    }
}

impl Encoder<'_> {
    /// The object that an address leads to.
    fn object_at(&mut self, state: &mut State, name: &str, address: &Sym) -> Result<Place, Stop> {
        let cases = self.resolve(state, address, 1, AccessKind::Update)?;
        match cases[..] {
            [
                super::access::Case {
                    target: super::access::Target::Shared(region),
                    offset,
                    ..
                },
            ] => Ok((region.object, offset)),
            _ => Err(unsupported_call(
                name,
                "which object it works on is not known",
            )),
        }
    }

    /// The thread goes on only if `passes` holds.
    pub(super) fn wait_for(&mut self, state: &mut State, passes: Bit, on: Awaited) {
        // Whoever waits in a critical section may wait for a thread that wants to enter it.
        for &mutex in state.held.keys() {
            self.facts.block(mutex);
        }
        let blocked = self.out.bits.bit_and(state.path.guard(), !passes);
        if blocked != Bit::FALSE {
            self.out.waits.push(Wait {
                thread: self.thread,
                blocked,
                on,
            });
        }
        state.path.push(&mut self.out.bits, passes);
    }

    /// Operations on synchronisation objects, with what they return. None if `name` is none of them.
    pub(super) fn waiting(
        &mut self,
        state: &mut State,
        name: &str,
        args: &Args,
    ) -> Result<Option<Sym>, Stop> {
        let Some(operation) = operation(name) else {
            return Ok(None);
        };
        self.drain(state);
        let place = self.object_at(state, name, &args[0])?;
        let zero = Sym::zero(32);
        Ok(Some(match operation {
            "mutex_init" => {
                if args.len() > 1 && args[1].as_constant() != Some(0) && name.contains("mutex") {
                    return Err(unsupported_call(name, "mutexes with attributes"));
                }
                if self.facts.is_tangled(place) {
                    self.change_cell(state, place, None, |_, _| Sym::zero(32))?;
                }
                zero
            }
            "mutex_destroy" => {
                self.destroy(state, place)?;
                zero
            }
            "mutex_lock" => {
                self.refuse_kinds(name, place)?;
                self.lock(state, place)?;
                zero
            }
            "mutex_trylock" => {
                self.refuse_kinds(name, place)?;
                self.try_lock(state, place)?
            }
            "mutex_unlock" => {
                self.unlock(state, place)?;
                zero
            }
            "cond_wait" => {
                let mutex = self.object_at(state, name, &args[1])?;
                self.refuse_kinds(name, mutex)?;
                self.cond_wait(state, place, mutex)?;
                zero
            }
            "cond_signal" | "cond_broadcast" => {
                self.wake(state, place, operation == "cond_broadcast");
                zero
            }
            "cond_init" | "cond_destroy" | "sem_destroy" | "rwlock_destroy" | "barrier_destroy" => {
                zero
            }
            "rwlock_init" => {
                self.change_cell(state, place, None, |_, _| Sym::zero(32))?;
                zero
            }
            _ => return self.counting(state, operation, place, args).map(Some),
        }))
    }

    /// Operations on synchronisation objects empty the store buffer, also where nobody else uses the object.
    pub(super) fn drain(&mut self, state: &State) {
        if self.options.is_weak && !state.alone {
            self.step(state, What::Fence { stores_only: false }, Order::Plain);
        }
    }

    // ---- mutexes

    /// Only ordinary mutexes are known here.
    fn refuse_kinds(&mut self, name: &str, place: Place) -> Result<(), Stop> {
        if name.contains("spin") {
            return Ok(());
        }
        let bytes = self.view.contents(place.0)?;
        let start = (place.1 + MUTEX_KIND) as usize;
        let kind = bytes
            .as_deref()
            .and_then(|bytes| bytes.get(start..start + 4));
        if kind.is_some_and(|kind| kind.iter().any(|&byte| byte != 0)) {
            return Err(unsupported_call(
                name,
                "recursive and error-checking mutexes",
            ));
        }
        Ok(())
    }

    fn lock(&mut self, state: &mut State, mutex: Place) -> Result<(), Stop> {
        if self.facts.is_tangled(mutex) {
            let own = Sym::constant(32, self.out.threads[self.thread].handle);
            let rule = Rule::ZeroOr(DESTROYED, DESTROYED);
            let (old, step) = self.change_cell(state, mutex, Some(rule), |_, _| own)?;
            self.hand_over(step, Handover::acquire(Bit::TRUE));
            let gone = old.is(&mut self.out.bits, u64::from(DESTROYED));
            self.fault_if(state, gone, misused(Misuse::UseDestroyed));
            return Ok(());
        }
        if state.held.contains_key(&mutex) {
            self.wait_for(state, Bit::FALSE, Awaited::Itself);
            return Ok(());
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
        state.held.insert(mutex, Held { section });
        Ok(())
    }

    /// Returns the step, if there is one.
    fn unlock(&mut self, state: &mut State, mutex: Place) -> Result<Option<StepIndex>, Stop> {
        if self.facts.is_tangled(mutex) {
            let own = Sym::constant(32, self.out.threads[self.thread].handle);
            let mut is_wrong = Bit::FALSE;
            let (_, step) = self.change_cell(state, mutex, None, |encoder, old| {
                is_wrong = encoder.out.bits.ne(&old.word, &own.word);
                Sym::zero(32)
            })?;
            self.hand_over(step, Handover::release(Bit::TRUE));
            self.fault_if(state, is_wrong, misused(Misuse::UnlockNotOwned));
            return Ok(step);
        }
        match state.held.remove(&mutex) {
            None => Err(Stop::Fault(misused(Misuse::UnlockUnlocked))),
            Some(Held {
                section: UNCONTENDED,
            }) => Ok(None),
            Some(Held { section }) => {
                let unlock = self.step(state, What::Unlock, Order::SeqCst);
                self.out.steps[unlock].object = Some(mutex);
                self.leave(state, section, unlock);
                Ok(Some(unlock))
            }
        }
    }

    /// Destroying a mutex that somebody holds, or may still want, makes it a cell: it must be seen whether it is free.
    fn destroy(&mut self, state: &mut State, mutex: Place) -> Result<(), Stop> {
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

    /// Mutexes that are destroyed when all their sections are over need no further thought.
    fn find_destroyed(&mut self) {
        let fixed = FixedOrder::new(&self.out);
        for (mutex, step) in self.out.destroyed.clone() {
            for section in &self.out.sections {
                let is_over = section.unlocks.iter().all(|&at| fixed.before(at, step));
                if section.mutex == mutex && (!is_over || self.facts.is_blocking(mutex)) {
                    self.facts.tangle(mutex);
                }
            }
        }
    }

    fn leave(&mut self, state: &State, section: usize, step: usize) {
        let section = &mut self.out.sections[section];
        section.unlocks.push(step);
        section.left.push(state.path.clone());
    }

    /// A fault leaves all sections, if it is looked for: otherwise its thread keeps its mutexes for good.
    pub(super) fn leave_all(&mut self, state: &State, fault: &Fault) {
        if !self.options.checks.covers(fault) {
            return;
        }
        let sections: Vec<usize> = state
            .held
            .values()
            .map(|held| held.section)
            .filter(|&section| section != UNCONTENDED)
            .collect();
        if sections.is_empty() || state.path.is_impossible() {
            return;
        }
        let step = self.step(state, What::Fault, Order::SeqCst);
        for section in sections {
            self.leave(state, section, step);
        }
    }

    /// Trying makes the mutex a cell: whether it is taken must be seen.
    fn try_lock(&mut self, state: &mut State, mutex: Place) -> Result<Sym, Stop> {
        self.facts.tangle(mutex);
        let own = Sym::constant(32, self.out.threads[self.thread].handle);
        let (old, step) = self.change_cell(state, mutex, None, |encoder, old| {
            let bits = &mut encoder.out.bits;
            let is_free = bits.is_zero(&old.word);
            Sym::ite(bits, is_free, &own, old)
        })?;
        let is_free = self.out.bits.is_zero(&old.word);
        self.hand_over(step, Handover::acquire(is_free));
        let gone = old.is(&mut self.out.bits, u64::from(DESTROYED));
        self.fault_if(state, gone, misused(Misuse::UseDestroyed));
        let (zero, busy) = (Sym::zero(32), Sym::constant(32, EBUSY));
        Ok(Sym::ite(&mut self.out.bits, is_free, &zero, &busy))
    }

    /// Finds mutexes that a thread may wait for in vain: see the top of this file.
    pub(super) fn find_blocking(&mut self) {
        self.find_destroyed();
        let sections = std::mem::take(&mut self.out.sections);
        for section in &sections {
            if !section.is_always_left(&mut self.out.bits) {
                self.facts.block(section.mutex);
            }
        }
        self.out.sections = sections;
        // A mutex that can be reached from itself is nested in two orders.
        let starts: Vec<Place> = self.nested.iter().map(|&(held, _)| held).collect();
        for start in starts {
            let mut open = vec![start];
            let mut seen = Vec::new();
            while let Some(at) = open.pop() {
                for &(_, next) in self.nested.iter().filter(|&&(held, _)| held == at) {
                    if next == start {
                        self.facts.block(start);
                    }
                    if !seen.contains(&next) {
                        seen.push(next);
                        open.push(next);
                    }
                }
            }
        }
    }

    // ---- condition variables

    fn cond_wait(&mut self, state: &mut State, condition: Place, mutex: Place) -> Result<(), Stop> {
        if self.knows(state, region_of(condition)) {
            // Nobody else could signal it.
            self.unlock(state, mutex)?;
            self.wait_for(state, Bit::FALSE, Awaited::Itself);
            return Ok(());
        }
        let enter = match self.unlock(state, mutex)? {
            Some(unlock) => unlock,
            None => self.step(state, What::Sync, Order::SeqCst),
        };
        self.out.steps[enter].object = Some(condition);
        let passes = self.fresh_bit();
        let waiter = self.out.waiters.len();
        self.wait_for(state, passes, Awaited::Signal(waiter));
        let leave = self.step(state, What::Sync, Order::SeqCst);
        self.out.steps[leave].object = Some(condition);
        self.out.waiters.push(Waiter {
            thread: self.thread,
            condition,
            enter,
            leave,
        });
        self.lock(state, mutex)
    }

    fn wake(&mut self, state: &State, condition: Place, wakes_all: bool) {
        if self.knows(state, region_of(condition)) {
            return;
        }
        let step = self.step(state, What::Sync, Order::SeqCst);
        self.out.steps[step].object = Some(condition);
        self.out.wakers.push(Waker {
            thread: self.thread,
            condition,
            step,
            wakes_all,
        });
    }
}

/// The operation that a function of the library is; functions that do the same have one name.
fn operation(name: &str) -> Option<&'static str> {
    Some(match name {
        "pthread_mutex_init" | "pthread_spin_init" => "mutex_init",
        "pthread_mutex_destroy" | "pthread_spin_destroy" => "mutex_destroy",
        "pthread_mutex_lock" | "pthread_spin_lock" => "mutex_lock",
        "pthread_mutex_trylock" | "pthread_spin_trylock" => "mutex_trylock",
        "pthread_mutex_unlock" | "pthread_spin_unlock" => "mutex_unlock",
        "pthread_cond_init" => "cond_init",
        "pthread_cond_destroy" => "cond_destroy",
        "pthread_cond_wait" => "cond_wait",
        "pthread_cond_signal" => "cond_signal",
        "pthread_cond_broadcast" => "cond_broadcast",
        "sem_init" => "sem_init",
        "sem_destroy" => "sem_destroy",
        "sem_wait" => "sem_wait",
        "sem_trywait" => "sem_trywait",
        "sem_post" => "sem_post",
        "sem_getvalue" => "sem_getvalue",
        "pthread_rwlock_init" => "rwlock_init",
        "pthread_rwlock_destroy" => "rwlock_destroy",
        "pthread_rwlock_rdlock" => "rwlock_rdlock",
        "pthread_rwlock_wrlock" => "rwlock_wrlock",
        "pthread_rwlock_unlock" => "rwlock_unlock",
        "pthread_rwlock_tryrdlock" => "rwlock_tryrdlock",
        "pthread_rwlock_trywrlock" => "rwlock_trywrlock",
        "pthread_barrier_init" => "barrier_init",
        "pthread_barrier_destroy" => "barrier_destroy",
        "pthread_barrier_wait" => "barrier_wait",
        _ => return None,
    })
}
