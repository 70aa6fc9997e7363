//! Mutexes of all kinds.
//!
//! Where critical sections are not known from the text, a mutex is a cell: the handle of its owner, and above it how often a
//! recursive one was taken again. Its kind lies beside the cell if a call makes it; it is read from there where it is not the same
//! in every execution.

use super::library::{Args, misused};
use super::sync::{BESIDE, UNCONTENDED, region_of};
use super::{Encoder, unsupported_call};
use crate::events::{
    Access, Awaited, Handover, Place, Rule, Section, StepIndex, StepKind, WaitsForItself,
};
use crate::facts::Region;
use crate::order::FixedOrder;
use crate::state::{Held, State};
use crate::value::Sym;
use raddle_order::bits::Bit;
use raddle_program::errno::{EBUSY, EDEADLK, EPERM, ETIMEDOUT};
use raddle_program::{LOOKED_AT, Misuse, MutexKind, Order, Stop};
use std::rc::Rc;

/// Where the kind of a mutex lies in its static initialiser.
/// What a mutex holds that was destroyed: no handle is that large.
const DESTROYED: u32 = u32::MAX;
/// The handle of a mutex's owner has so many bits.
pub(crate) const OWNER_BITS: usize = 24;
/// What lies beside the cell of a mutex that is made by a call.
const RECURSIVE: u64 = 2;
const CHECKING: u64 = 3;

/// The number beside the cell of a mutex of this kind.
fn number_of(kind: MutexKind) -> u64 {
    match kind {
        MutexKind::Normal => 1,
        MutexKind::Recursive => RECURSIVE,
        MutexKind::ErrorCheck => CHECKING,
    }
}

/// The kind of a mutex, as far as it is known: two conditions that exclude each other.
#[derive(Clone, Copy, Debug)]
struct Kind {
    is_recursive: Bit,
    checks: Bit,
}

impl Kind {
    fn known(kind: MutexKind) -> Self {
        Self {
            is_recursive: Bit::constant(kind == MutexKind::Recursive),
            checks: Bit::constant(kind == MutexKind::ErrorCheck),
        }
    }

    fn as_known(self) -> Option<MutexKind> {
        match (self.is_recursive, self.checks) {
            (Bit::FALSE, Bit::FALSE) => Some(MutexKind::Normal),
            (Bit::TRUE, _) => Some(MutexKind::Recursive),
            (_, Bit::TRUE) => Some(MutexKind::ErrorCheck),
            _ => None,
        }
    }
}

impl Encoder<'_> {
    // ---- kinds

    /// The kind of a mutex that is known from the text; none if it must be looked up in each execution.
    fn known_kind(&mut self, state: &mut State, mutex: Place) -> Result<Option<MutexKind>, Stop> {
        let (region, offset) = (region_of(mutex), BESIDE + mutex.1);
        if self.facts.is_watched(mutex) {
            return Ok(None);
        }
        let number = if self.knows(state, region) {
            self.peek(state, region, offset)?
        } else if let Some(kind) = self.facts.kind(mutex) {
            return Ok(Some(kind));
        } else {
            let cell = self.facts.cells(region, offset, 4)[0];
            if self.facts.stored(cell).is_some() {
                return Ok(None);
            }
            let contents = self.first_contents(region)?;
            contents.load(&mut self.out.bits, offset, 4)
        };
        match number.as_constant() {
            Some(0) => self.static_kind(state, mutex),
            Some(RECURSIVE) => Ok(Some(MutexKind::Recursive)),
            Some(CHECKING) => Ok(Some(MutexKind::ErrorCheck)),
            Some(_) => Ok(Some(MutexKind::Normal)),
            None => Ok(None),
        }
    }

    /// The kind of a mutex as an operation finds it, with the accesses that find it out.
    fn kind(&mut self, state: &mut State, mutex: Place) -> Result<(Kind, Vec<Access>), Stop> {
        if let Some(kind) = self.known_kind(state, mutex)? {
            return Ok((Kind::known(kind), Vec::new()));
        }
        let (number, accesses) = self.read_beside(state, mutex)?;
        let bits = &mut self.out.bits;
        let is_unmade = bits.is_zero(&number.word);
        let [is_recursive, checks] = [RECURSIVE, CHECKING].map(|kind| number.is(bits, kind));
        let Some(fixed) = self.static_kind(state, mutex)? else {
            let mut unknown = state.clone();
            unknown.path.push(&mut self.out.bits, is_unmade);
            let why = "which kind of mutex it is is not known";
            self.stopped(&unknown, unsupported_call("pthread_mutex_lock", why))?;
            state.path.push(&mut self.out.bits, !is_unmade);
            let kind = Kind {
                is_recursive,
                checks,
            };
            return Ok((kind, accesses));
        };
        let fixed = Kind::known(fixed);
        let bits = &mut self.out.bits;
        let kind = Kind {
            is_recursive: bits.bit_ite(is_unmade, fixed.is_recursive, is_recursive),
            checks: bits.bit_ite(is_unmade, fixed.checks, checks),
        };
        Ok((kind, accesses))
    }

    /// The kind that the initialiser of a mutex says; none if it is not known.
    ///
    /// Where somebody may write these bytes, an operation that has looked at them goes on if they are as they were at first; that they may be
    /// otherwise is refused.
    fn static_kind(
        &mut self,
        state: &mut State,
        (object, offset): Place,
    ) -> Result<Option<MutexKind>, Stop> {
        let region = Region {
            object,
            is_sync: false,
        };
        let start = offset + self.view.tables().mutex_kind_offset();
        if self.facts.is_spin_lock((object, offset))
            || start + 4 > self.view.tables().object_info(object).size
        {
            return Ok(Some(MutexKind::Normal));
        }
        let contents = match state.own.get(&region) {
            Some(contents) => Rc::clone(contents),
            None => self.first_contents(region)?,
        };
        let Some(number) = contents.load(&mut self.out.bits, start, 4).as_constant() else {
            return Ok(None);
        };
        let is_kept = state.alone || self.facts.keeps_kind(region, start, number == 0);
        if !is_kept {
            let found = match &self.seen_kind {
                Some((mutex, found)) if *mutex == (object, offset) => found.clone(),
                _ => return Ok(None),
            };
            self.keep_to(state, found.as_ref(), number)?;
            self.seen_kind = Some(((object, offset), None));
        }
        Ok(Some(MutexKind::from_number(number)))
    }

    /// Leaves out that something else was found than this.
    fn keep_to(&mut self, state: &mut State, found: Option<&Sym>, number: u64) -> Result<(), Stop> {
        let Some(found) = found else {
            return Ok(());
        };
        let is_same = found.is(&mut self.out.bits, number);
        if is_same != Bit::TRUE {
            let mut other = state.clone();
            other.path.push(&mut self.out.bits, !is_same);
            let why = "which kind of mutex it is is not known";
            self.stopped(&other, unsupported_call("pthread_mutex_lock", why))?;
            state.path.push(&mut self.out.bits, is_same);
        }
        Ok(())
    }

    /// Whoever overwrites the initialiser of a mutex races with its users, who read of which kind it is.
    pub(super) fn look_at_kind(
        &mut self,
        state: &mut State,
        (object, offset): Place,
        mutex: &Sym,
    ) -> Result<(), Stop> {
        let region = Region {
            object,
            is_sync: false,
        };
        let start = offset + self.view.tables().mutex_kind_offset();
        let reaches = start + 4 <= self.view.tables().object_info(object).size;
        let Some(address) = mutex.as_constant().filter(|_| reaches && !state.alone) else {
            return Ok(());
        };
        if self.facts.is_kind_stored(region, start) {
            self.out.reads_kinds = true;
            let kind = self.view.tables().mutex_kind_offset();
            let address = Sym::constant(64, address.wrapping_add(kind));
            let found = self.load(state, &address, 4, Order::Plain)?;
            self.seen_kind = Some(((object, offset), Some(found)));
        }
        Ok(())
    }

    /// Whoever overwrites another synchronisation object races with its users, too: they read its first bytes.
    pub(super) fn look_at_bytes(
        &mut self,
        state: &mut State,
        (object, offset): Place,
        address: &Sym,
    ) -> Result<(), Stop> {
        let region = Region {
            object,
            is_sync: false,
        };
        let reaches = offset + u64::from(LOOKED_AT) <= self.view.tables().object_info(object).size;
        if address.as_constant().is_none() || !reaches || state.alone {
            return Ok(());
        }
        self.facts.watch_bytes(region, offset);
        if self.facts.is_kind_stored(region, offset) {
            self.out.reads_kinds = true;
            self.load(state, address, LOOKED_AT, Order::Plain)?;
        }
        Ok(())
    }

    /// The number of the kind that a call makes.
    fn kind_made(&mut self, state: &mut State, name: &str, args: &Args) -> Result<Sym, Stop> {
        let number = match name {
            "pthread_mutex_init" if args[1].as_constant() != Some(0) => {
                if args[1].set.values().is_none_or(|all| all.contains(&0)) {
                    let why = "whether there are attributes is not known";
                    return Err(unsupported_call(name, why));
                }
                self.load(state, &args[1], 4, Order::Plain)?
            }
            "mtx_init" => {
                let word = args[1].word.extract(0, 1).zext(32);
                args[1].map(word, |number| number & 1)
            }
            _ => Sym::zero(32),
        };
        if let Some(number) = number.as_constant() {
            return Ok(Sym::constant(32, number_of(MutexKind::from_number(number))));
        }
        let mut made = Sym::constant(32, number_of(MutexKind::Normal));
        for other in [1, 2] {
            let is_it = number.is(&mut self.out.bits, other);
            let kind = Sym::constant(32, number_of(MutexKind::from_number(other)));
            made = Sym::ite(&mut self.out.bits, is_it, &kind, &made);
        }
        Ok(made)
    }

    // ---- making

    /// Whoever holds the mutex, holds it no longer.
    pub(super) fn mutex_init(
        &mut self,
        state: &mut State,
        name: &str,
        mutex: Place,
        args: &Args,
    ) -> Result<(), Stop> {
        let made = self.kind_made(state, name, args)?;
        let region = region_of(mutex);
        if self.knows(state, region) {
            if state.held.contains_key(&mutex) {
                self.facts.tangle(mutex);
            }
            let is_fresh = self.peek(state, region, mutex.1)?.as_constant() == Some(0);
            if !is_fresh {
                self.change_cell(state, mutex, None, |_, _| Sym::zero(32))?;
            }
            let before = self.known_kind(state, mutex)?.map(number_of);
            if before.is_none() || before != made.as_constant() {
                self.write_beside(state, mutex, made, None)?;
            }
            return Ok(());
        }
        if self.facts.is_watched(mutex) {
            let (_, step) = self.change_cell(state, mutex, None, |_, _| Sym::zero(32))?;
            return self.write_beside(state, mutex, made, step);
        }
        let kind = match made.as_constant() {
            Some(RECURSIVE) => MutexKind::Recursive,
            Some(CHECKING) => MutexKind::ErrorCheck,
            Some(_) => MutexKind::Normal,
            None => {
                self.watch_mutex(mutex);
                return Ok(());
            }
        };
        let is_usual = self.static_kind(state, mutex)? == Some(kind);
        match self.facts.kind(mutex) {
            Some(other) if other != kind => self.watch_mutex(mutex),
            None if !is_usual => self.facts.make(mutex, kind),
            _ => {}
        }
        let step = if self.facts.is_tangled(mutex) {
            let (_, step) = self.change_cell(state, mutex, None, |_, _| Sym::zero(32))?;
            step.expect("others know the mutex")
        } else {
            let step = self.step(state, StepKind::Sync, Order::SeqCst);
            self.out.steps[step].object = Some(mutex);
            step
        };
        self.out.made.push((mutex, step, is_usual));
        Ok(())
    }

    fn watch_mutex(&mut self, mutex: Place) {
        self.facts.watch(mutex);
        self.facts.tangle(mutex);
    }

    /// Mutexes that are made by a call before all uses, if at all, are of one kind and free then. Others are watched.
    pub(super) fn find_made_in_use(&mut self, fixed: &FixedOrder) {
        for (mutex, made, is_usual) in self.out.made.clone() {
            let mut uses: Vec<StepIndex> = Vec::new();
            let steps = self.out.steps.iter().enumerate();
            uses.extend(
                steps
                    .filter(|(_, step)| step.object == Some(mutex))
                    .map(|at| at.0),
            );
            let sections = self.out.sections.iter();
            let sections = sections.filter(|section| section.mutex == mutex);
            uses.extend(sections.flat_map(|section| section.unlocks.iter().copied()));
            let destroyed = self.out.destroyed.iter();
            uses.extend(destroyed.filter(|at| at.0 == mutex).map(|at| at.1));
            uses.retain(|&at| at != made);
            let mut is_first = uses.iter().all(|&at| fixed.before(made, at));
            let happens = self.out.steps[made].guard;
            for &at in &uses {
                let guard = self.out.steps[at].guard;
                is_first &= is_usual || self.out.bits.bit_and(guard, happens) == guard;
            }
            let is_last = is_usual && uses.iter().all(|&at| fixed.before(at, made));
            if !is_first && !is_last {
                self.watch_mutex(mutex);
            }
        }
    }

    /// Was it destroyed before others knew of it?
    fn may_be_destroyed(&mut self, state: &State, mutex: Place) -> Result<bool, Stop> {
        let region = region_of(mutex);
        let contents = match state.own.get(&region) {
            Some(contents) if self.knows(state, region) => Rc::clone(contents),
            _ => self.first_contents(region)?,
        };
        let cell = self.facts.cells(region, mutex.1, 4)[0];
        let is_written = !self.knows(state, region) && self.facts.stored(cell).is_some();
        let state = contents.load(&mut self.out.bits, mutex.1, 4);
        Ok(is_written || state.as_constant() != Some(0))
    }

    /// The kind of a mutex whose sections are known from the text; none if it is a cell.
    fn kind_of_sections(
        &mut self,
        state: &mut State,
        mutex: Place,
    ) -> Result<Option<MutexKind>, Stop> {
        if self.facts.is_tangled(mutex) {
            return Ok(None);
        }
        let kind = self.known_kind(state, mutex)?;
        if kind.is_none() || self.may_be_destroyed(state, mutex)? {
            self.facts.tangle(mutex);
            return Ok(None);
        }
        Ok(kind)
    }

    // ---- locking

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
        if state.block.is_some() && !self.knows(state, region_of(mutex)) {
            // Whether it is free in the middle of an atomic block must be seen.
            self.facts.tangle(mutex);
        }
        let Some(kind) = self.kind_of_sections(state, mutex)? else {
            return self.lock_cell(state, mutex);
        };
        if let Some(held) = state.held.get_mut(&mutex) {
            match kind {
                MutexKind::Normal => {
                    self.wait_for(state, Bit::FALSE, Awaited::Itself(mutex))?;
                }
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
                self.wait_for(state, passes, Awaited::Mutex(mutex))?;
            }
            let lock = self.step(state, StepKind::Lock, Order::SeqCst);
            self.out.steps[lock].object = Some(mutex);
            section = self.begin_section(state, mutex, lock);
        }
        state.held.insert(mutex, Held { section, depth: 1 });
        Ok(Sym::zero(32))
    }

    fn begin_section(&mut self, state: &State, mutex: Place, lock: StepIndex) -> usize {
        self.out.sections.push(Section {
            mutex,
            thread: self.thread,
            lock,
            unlocks: Vec::new(),
            entered: state.path.clone(),
            left: Vec::new(),
        });
        self.out.sections.len() - 1
    }

    /// Other threads come into being: what `main` holds is held from now on, as they see it.
    pub(super) fn share_sections(&mut self, state: &mut State) {
        for mutex in state.held.keys().copied().collect::<Vec<_>>() {
            if self.facts.is_tangled(mutex) || self.knows(state, region_of(mutex)) {
                continue;
            }
            let lock = self.step(state, StepKind::Fence { stores_only: false }, Order::SeqCst);
            let section = self.begin_section(state, mutex, lock);
            if let Some(held) = state.held.get_mut(&mutex) {
                held.section = section;
            }
        }
    }

    fn lock_cell(&mut self, state: &mut State, mutex: Place) -> Result<Sym, Stop> {
        let own = self.own_handle();
        let is_known = self.knows(state, region_of(mutex));
        if !is_known {
            let on = self.owner_of(state, mutex)?;
            let passes = match state.block {
                None => self.fresh_bit(),
                Some(_) => {
                    let (kind, accesses) = self.kind(state, mutex)?;
                    let rule = self.free_for(kind);
                    self.passes(state, mutex, &rule, accesses)?
                }
            };
            self.wait_for(state, passes, on)?;
        }
        let (kind, accesses) = self.kind(state, mutex)?;
        let rule = self.free_for(kind);
        if is_known {
            let old = self.peek(state, region_of(mutex), mutex.1)?;
            let passes = rule.holds(&mut self.out.bits, &old.word);
            self.wait_for(state, passes, Awaited::Itself(mutex))?;
        }
        let mut again = Bit::FALSE;
        let (old, step) = self.change_cell(state, mutex, None, |encoder, old| {
            if kind.as_known() == Some(MutexKind::Normal) {
                return own;
            }
            again = encoder.is_owner(old);
            let more = encoder.counted(old, true);
            let bits = &mut encoder.out.bits;
            let kept = Sym::ite(bits, kind.checks, old, &more);
            Sym::ite(bits, again, &kept, &own)
        })?;
        if !is_known {
            let allowed = rule.holds(&mut self.out.bits, &old.word);
            let fine = self.out.bits.bit_or(!state.path.guard(), allowed);
            self.out.required.push(fine);
        }
        self.add_accesses_to(step, accesses);
        let refused = self.out.bits.bit_and(again, kind.checks);
        self.hand_over(step, Handover::acquire(!refused));
        self.check_undestroyed(state, &old);
        let (zero, error) = (Sym::zero(32), Sym::constant(32, EDEADLK));
        Ok(Sym::ite(&mut self.out.bits, refused, &error, &zero))
    }

    /// When the thread gets a mutex of this kind.
    fn free_for(&mut self, kind: Kind) -> Rule {
        Rule::FreeOrOf {
            owner: self.out.threads[self.thread].handle as u32,
            gone: DESTROYED,
            again: self.out.bits.bit_or(kind.is_recursive, kind.checks),
        }
    }

    /// Whom a thread waits for that wants a mutex which is a cell.
    fn owner_of(&mut self, state: &mut State, mutex: Place) -> Result<Awaited, Stop> {
        let region = region_of(mutex);
        let cell = self.facts.cells(region, mutex.1, 4)[0];
        let itself = match self.known_kind(state, mutex)? {
            Some(kind) => WaitsForItself::Known(kind == MutexKind::Normal),
            None => {
                let beside = self.facts.cells(region, BESIDE + mutex.1, 4)[0];
                let fixed = self.static_kind(state, mutex)?;
                let is_normal = fixed == Some(MutexKind::Normal);
                WaitsForItself::If(beside, is_normal)
            }
        };
        Ok(Awaited::Owner(cell, itself))
    }

    /// Returns what the call returns.
    pub(super) fn unlock(&mut self, state: &mut State, mutex: Place) -> Result<Sym, Stop> {
        let Some(kind) = self.kind_of_sections(state, mutex)? else {
            return self.unlock_cell(state, mutex);
        };
        let is_held = state.held.contains_key(&mutex);
        if !is_held && self.facts.kind(mutex).is_some() {
            // What becomes of this depends on whether it is of that kind yet.
            self.watch_mutex(mutex);
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

    /// Does the thread go no further if it commits this fault, and is that all that matters then?
    fn is_fatal(&self, misuse: Misuse) -> bool {
        self.options.checks.covers(&misused(misuse))
    }

    fn unlock_cell(&mut self, state: &mut State, mutex: Place) -> Result<Sym, Stop> {
        let (kind, accesses) = self.kind(state, mutex)?;
        let is_fatal = self.is_fatal(Misuse::UnlockNotOwned);
        let mut owned = Bit::FALSE;
        let (old, step) = self.change_cell(state, mutex, None, |encoder, old| {
            owned = encoder.is_owner(old);
            let free = Sym::zero(32);
            let mut left = free.clone();
            if kind.is_recursive != Bit::FALSE {
                let less = encoder.counted(old, false);
                let depth = old.word.extract(OWNER_BITS, 32);
                let bits = &mut encoder.out.bits;
                let more = !bits.is_zero(&depth);
                let more = bits.bit_and(more, kind.is_recursive);
                left = Sym::ite(bits, more, &less, &free);
            }
            if is_fatal && kind.checks == Bit::FALSE && kind.is_recursive == Bit::FALSE {
                return left;
            }
            Sym::ite(&mut encoder.out.bits, owned, &left, old)
        })?;
        self.add_accesses_to(step, accesses);
        let releases = match kind.checks {
            Bit::FALSE => Bit::TRUE,
            _ => owned,
        };
        self.hand_over(step, Handover::release(releases));
        let gone = old.is(&mut self.out.bits, u64::from(DESTROYED));
        let fine = self.out.bits.bit_and(kind.checks, !gone);
        let fine = self.out.bits.bit_or(owned, fine);
        self.fault_if(state, !fine, misused(Misuse::UnlockNotOwned));
        let (zero, refused) = (Sym::zero(32), Sym::constant(32, EPERM));
        Ok(Sym::ite(&mut self.out.bits, owned, &zero, &refused))
    }

    /// The mutex becomes free, however often it was taken. Returns the step, if there is one.
    pub(super) fn give_up(
        &mut self,
        state: &mut State,
        mutex: Place,
    ) -> Result<Option<StepIndex>, Stop> {
        if self.facts.is_tangled(mutex) {
            let is_fatal = self.is_fatal(Misuse::UnlockNotOwned);
            let mut owned = Bit::FALSE;
            let (_, step) = self.change_cell(state, mutex, None, |encoder, old| {
                owned = encoder.is_owner(old);
                let kept = if is_fatal { Sym::zero(32) } else { old.clone() };
                Sym::ite(&mut encoder.out.bits, owned, &Sym::zero(32), &kept)
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
                let unlock = self.step(state, StepKind::Unlock, Order::SeqCst);
                self.out.steps[unlock].object = Some(mutex);
                self.leave(state, section, unlock);
                Ok(Some(unlock))
            }
        }
    }

    /// Destroying a mutex that somebody holds, or may still want, makes it a cell: it must be seen whether it is free.
    pub(super) fn destroy(&mut self, state: &mut State, mutex: Place) -> Result<(), Stop> {
        let is_known = self.knows(state, region_of(mutex));
        let has_sections = self.kind_of_sections(state, mutex)?.is_some();
        if has_sections && state.held.contains_key(&mutex) {
            return Err(Stop::Fault(misused(Misuse::DestroyLocked)));
        }
        if has_sections && !is_known {
            let step = self.step(state, StepKind::Life, Order::SeqCst);
            self.out.destroyed.push((mutex, step));
            return Ok(());
        }
        let gone = Sym::constant(32, u64::from(DESTROYED));
        let mut is_free = Bit::FALSE;
        self.change_cell(state, mutex, None, |encoder, old| {
            is_free = encoder.out.bits.is_zero(&old.word);
            Sym::ite(&mut encoder.out.bits, is_free, &gone, old)
        })?;
        self.fault_if(state, !is_free, misused(Misuse::DestroyLocked));
        Ok(())
    }

    /// Trying makes the mutex a cell: whether it is taken must be seen.
    pub(super) fn try_lock(&mut self, state: &mut State, mutex: Place) -> Result<Sym, Stop> {
        self.facts.tangle(mutex);
        let (kind, accesses) = self.kind(state, mutex)?;
        let own = self.own_handle();
        let mut got = Bit::FALSE;
        let (old, step) = self.change_cell(state, mutex, None, |encoder, old| {
            got = encoder.out.bits.is_zero(&old.word);
            let new = Sym::ite(&mut encoder.out.bits, got, &own, old);
            if kind.is_recursive == Bit::FALSE {
                return new;
            }
            let again = encoder.is_owner(old);
            let again = encoder.out.bits.bit_and(again, kind.is_recursive);
            got = encoder.out.bits.bit_or(got, again);
            let more = encoder.counted(old, true);
            Sym::ite(&mut encoder.out.bits, again, &more, &new)
        })?;
        self.out.try_locks.extend(step);
        self.add_accesses_to(step, accesses);
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
