//! Synchronisation cells: 32 bits that an operation reads and writes in one step, once their value allows it. Semaphores and
//! barriers are such cells; read-write locks (`rwlock.rs`) and some mutexes and condition variables have one.

use super::Encoder;
use super::library::{Args, misused};
use super::sync::{BESIDE, region_of};
use crate::events::{Access, Awaited, Handover, Place, Rule, StepIndex, StepKind};
use crate::facts::Region;
use crate::state::State;
use crate::value::Sym;
use raddle_order::bits::Bit;
use raddle_program::errno::{EAGAIN, ETIMEDOUT};
use raddle_program::{Misuse, Order, Stop};
use std::collections::btree_map::Entry;
use std::rc::Rc;

/// What the cell of an object holds that was destroyed: no count, no owner and no generation is that large.
pub(super) const GONE: u32 = u32::MAX;

impl Encoder<'_> {
    /// Semaphores and barriers, and read-write locks where there is a limit of time.
    pub(super) fn counting(
        &mut self,
        state: &mut State,
        operation: &str,
        place: Place,
        args: &Args,
    ) -> Result<Sym, Stop> {
        let one = Sym::constant(32, 1);
        let zero = Sym::zero(32);
        match operation {
            "sem_init" => {
                let value = args[2].clone();
                self.change_cell(state, place, None, |_, _| value)?;
            }
            "sem_wait" => {
                let rule = Some(Rule::Positive);
                let (_, step) = self.change_living(state, place, rule, |encoder, old| {
                    Sym::of(encoder.out.bits.sub(&old.word, &one.word))
                })?;
                self.hand_over(step, Handover::acquire(Bit::TRUE));
            }
            "sem_timedwait" => {
                let tried = self.counting(state, "sem_trywait", place, args)?;
                let late = !self.out.bits.is_zero(&tried.word);
                self.pass_deadline(state, late, &args[args.len() - 1])?;
                self.set_errno(state, late, ETIMEDOUT);
                return Ok(tried);
            }
            "rwlock_timedrdlock" | "rwlock_timedwrlock" => {
                let tried = if operation == "rwlock_timedrdlock" {
                    "rwlock_tryrdlock"
                } else {
                    "rwlock_trywrlock"
                };
                let tried = self.read_write_lock(state, tried, place)?;
                return self.in_time(state, &tried, &args[args.len() - 1]);
            }
            "sem_trywait" => {
                let (old, step) = self.change_living(state, place, None, |encoder, old| {
                    let bits = &mut encoder.out.bits;
                    let is_zero = bits.is_zero(&old.word);
                    let less = bits.sub(&old.word, &one.word);
                    Sym::of(bits.ite(is_zero, &old.word, &less))
                })?;
                let is_zero = self.out.bits.is_zero(&old.word);
                self.hand_over(step, Handover::acquire(!is_zero));
                let failed = Sym::constant(32, u64::from(u32::MAX));
                self.set_errno(state, is_zero, EAGAIN);
                return Ok(Sym::ite(&mut self.out.bits, is_zero, &failed, &zero));
            }
            "sem_post" => {
                let (_, step) =
                    self.change_living(state, place, None, |encoder, old| encoder.plus(old, &one))?;
                self.hand_over(step, Handover::release(Bit::TRUE));
            }
            "sem_getvalue" => {
                let (value, _) = self.change_living(state, place, None, |_, old| old.clone())?;
                self.store(state, &args[1], 4, &value, Order::Plain)?;
            }
            "barrier_init" => self.barrier_init(state, place, &args[2])?,
            _ => return self.barrier_wait(state, place),
        }
        Ok(zero)
    }

    // ---- cells

    /// What a step on a cell learns from it and hands on by it; nothing if nobody else knows the cell.
    pub(super) fn hand_over(&mut self, step: Option<StepIndex>, handover: Handover) {
        if let Some(step) = step {
            self.out.steps[step].handover = handover;
        }
    }

    /// Changes a cell once the rule allows it, as one step, if others may see it. Returns what it held before, and the step.
    pub(super) fn change_cell(
        &mut self,
        state: &mut State,
        place: Place,
        rule: Option<Rule>,
        change: impl FnOnce(&mut Self, &Sym) -> Sym,
    ) -> Result<(Sym, Option<StepIndex>), Stop> {
        let (region, offset) = (region_of(place), place.1);
        if self.knows(state, region) {
            let old = self.peek(state, region, offset)?;
            if let Some(rule) = rule {
                let passes = rule.holds(&mut self.out.bits, &old.word);
                let on = match rule.is_of_lock() {
                    true => Awaited::Itself(place),
                    false => Awaited::Anybody(Some(place)),
                };
                self.wait_for(state, passes, on)?;
            }
            let new = change(self, &old);
            let contents = state.own.get_mut(&region).expect("peeked at");
            Rc::make_mut(contents).store(offset, 4, new);
            return Ok((old, None));
        }
        if let Some(rule) = &rule {
            let passes = self.passes(state, place, rule, Vec::new())?;
            let cell = self.facts.cells(region, offset, 4)[0];
            self.wait_for(state, passes, Awaited::Cell(cell, rule.clone()))?;
        }
        let mut accesses = Vec::new();
        let old = self.read(state, (region, offset), 4, Bit::TRUE, &mut accesses)?;
        if let Some(rule) = rule {
            let allowed = rule.holds(&mut self.out.bits, &old.word);
            let guard = state.path.guard();
            let fine = self.out.bits.bit_or(!guard, allowed);
            self.out.required.push(fine);
        }
        let new = change(self, &old);
        self.write(state, (region, offset), &new, Bit::TRUE, &mut accesses)?;
        let step = self.step(state, StepKind::Sync, Order::SeqCst);
        self.out.steps[step].accesses = accesses;
        self.out.steps[step].object = Some(place);
        Ok((old, Some(step)))
    }

    /// Looks at a cell once the rule allows it, as one step, if others may change it.
    pub(super) fn look_when(
        &mut self,
        state: &mut State,
        place: Place,
        rule: Rule,
    ) -> Result<(Sym, Option<StepIndex>), Stop> {
        let (region, offset) = (region_of(place), place.1);
        if self.knows(state, region) {
            return self.change_cell(state, place, Some(rule), |_, old| old.clone());
        }
        let passes = self.passes(state, place, &rule, Vec::new())?;
        let cell = self.facts.cells(region, offset, 4)[0];
        self.wait_for(state, passes, Awaited::Cell(cell, rule.clone()))?;
        let mut accesses = Vec::new();
        let seen = self.read(state, (region, offset), 4, Bit::TRUE, &mut accesses)?;
        let allowed = rule.holds(&mut self.out.bits, &seen.word);
        let fine = self.out.bits.bit_or(!state.path.guard(), allowed);
        self.out.required.push(fine);
        let step = self.step(state, StepKind::Sync, Order::SeqCst);
        self.out.steps[step].accesses = accesses;
        self.out.steps[step].object = Some(place);
        Ok((seen, Some(step)))
    }

    /// As [`Self::change_cell`], for objects that may have been destroyed: that is a fault.
    pub(super) fn change_living(
        &mut self,
        state: &mut State,
        place: Place,
        rule: Option<Rule>,
        change: impl FnOnce(&mut Self, &Sym) -> Sym,
    ) -> Result<(Sym, Option<StepIndex>), Stop> {
        if !self.facts.is_destroyed(place) {
            return self.change_cell(state, place, rule, change);
        }
        let rule = rule.map(|rule| Rule::OrIs(Box::new(rule), GONE));
        let mut gone = Bit::FALSE;
        let changed = self.change_cell(state, place, rule, |encoder, old| {
            gone = old.is(&mut encoder.out.bits, u64::from(GONE));
            let new = change(encoder, old);
            Sym::ite(&mut encoder.out.bits, gone, old, &new)
        })?;
        self.fault_if(state, gone, misused(Misuse::UseDestroyed));
        Ok(changed)
    }

    /// What lies beside the cell of an object, with the accesses that find it out.
    pub(super) fn read_beside(
        &mut self,
        state: &mut State,
        place: Place,
    ) -> Result<(Sym, Vec<Access>), Stop> {
        let (region, offset) = (region_of(place), BESIDE + place.1);
        let mut accesses = Vec::new();
        let value = if self.knows(state, region) {
            self.peek(state, region, offset)?
        } else {
            self.read(state, (region, offset), 4, Bit::TRUE, &mut accesses)?
        };
        Ok((value, accesses))
    }

    /// Writes what lies beside the cell of an object, as part of a step on the cell.
    pub(super) fn write_beside(
        &mut self,
        state: &mut State,
        place: Place,
        value: Sym,
        step: Option<StepIndex>,
    ) -> Result<(), Stop> {
        let (region, offset) = (region_of(place), BESIDE + place.1);
        if step.is_none() {
            let contents = state.own.get_mut(&region).expect("the cell was changed");
            Rc::make_mut(contents).store(offset, 4, value);
            return Ok(());
        }
        let mut accesses = Vec::new();
        self.write(state, (region, offset), &value, Bit::TRUE, &mut accesses)?;
        self.add_accesses_to(step, accesses);
        Ok(())
    }

    /// A step looks at something else as well.
    pub(super) fn add_accesses_to(&mut self, step: Option<StepIndex>, accesses: Vec<Access>) {
        if let Some(step) = step {
            self.out.steps[step].accesses.extend(accesses);
        }
    }

    /// Reads a synchronisation cell.
    pub(super) fn read_sync(
        &mut self,
        state: &mut State,
        (region, offset): (Region, u64),
        condition: Bit,
        what: StepKind,
    ) -> Result<Sym, Stop> {
        if self.knows(state, region) {
            return self.peek(state, region, offset);
        }
        let mut accesses = Vec::new();
        let value = self.read(state, (region, offset), 4, condition, &mut accesses)?;
        if !accesses.is_empty() {
            let step = self.step(state, what, Order::SeqCst);
            self.out.steps[step].accesses = accesses;
        }
        Ok(value)
    }

    pub(super) fn peek(
        &mut self,
        state: &mut State,
        region: Region,
        offset: u64,
    ) -> Result<Sym, Stop> {
        if let Entry::Vacant(slot) = state.own.entry(region) {
            slot.insert(self.first_contents(region)?);
        }
        Ok(state.own[&region].load(&mut self.out.bits, offset, 4))
    }

    /// Changes a synchronisation cell, if `condition` holds, without ever waiting.
    pub(super) fn update_cell(
        &mut self,
        state: &mut State,
        (region, offset): (Region, u64),
        condition: Bit,
        change: impl FnOnce(&mut Self, &Sym) -> Sym,
    ) -> Result<(), Stop> {
        if self.knows(state, region) {
            let old = self.peek(state, region, offset)?;
            let new = change(self, &old);
            let contents = state.own.get_mut(&region).expect("peeked at");
            let place = (offset, 4);
            Rc::make_mut(contents).store_if(&mut self.out.bits, condition, place, &new);
            return Ok(());
        }
        let mut accesses = Vec::new();
        let old = self.read(state, (region, offset), 4, condition, &mut accesses)?;
        let new = change(self, &old);
        self.write(state, (region, offset), &new, condition, &mut accesses)?;
        let step = self.step(state, StepKind::Life, Order::SeqCst);
        self.out.steps[step].accesses = accesses;
        Ok(())
    }
}
