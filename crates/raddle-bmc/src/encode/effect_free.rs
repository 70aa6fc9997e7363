//! Iterations of loops that come to nothing.
//!
//! An iteration is *effect-free* if its thread is where it was before, memory too, and nobody saw that it was not meanwhile: then the execution
//! without it is an execution, too, and everybody else does the same in it. So threads need not do effect-free iterations, and a thread
//! that has done one goes no further, as if by an assumption that failed. That is partial loop purity (section III of *Awaiting
//! for Godot*), with conditions that are found in the formula rather than in the text, and it goes a little further:
//!
//! - An iteration may change memory that only its thread writes, if it holds the same in the end (a thread that tries for a lock, and
//!   withdraws), unless another thread reads what it holds meanwhile. Whether one does is a bit of the formula
//!   ([`Observed`]).
//! - Registers that only count iterations may differ ([`crate::counters`]).
//!
//! What else happens in executions without an iteration? *Violations*: a fault ends its thread, so it is in no complete iteration. A
//! deadlock is about where threads are in the end. A data race between other accesses stays one: leaving synchronisation out
//! orders less, and a read that finds what was there before the iteration instead of what the iteration wrote learns no more, since
//! the stores of an effect-free iteration release. But the race may be about an access of the iteration itself, and whoever it races with may
//! be there only because of what the thread does later. So iterations with accesses that may race are effect-free only if there
//! was one before: of an execution with a race, all effect-free iterations can be taken out but the one that the race is about.
//!
//! *Bounds*: take a violation with as few steps as possible. It has no effect-free iterations but such a one, so it is in the formula of the
//! first bound that suffices for it. A smaller bound cuts it short, and finds that out: up to the first step beyond the bound all
//! iterations that are complete are as in the whole execution. In particular nobody who comes later reads what an effect-free iteration held
//! meanwhile, because that was overwritten before the iteration was complete. For that reason its stores must not wait in a
//! store buffer.

use super::Encoder;
use super::rwlock::Holding;
use crate::contents::Contents;
use crate::events::{Access, Observed, Spin, Step, StepIndex, StepKind, ThreadIndex};
use crate::facts::Cell;
use crate::state::{IterationStart, State};
use raddle_order::bits::{Bit, Word};
use raddle_program::{Order, Stop};
use std::rc::Rc;

/// What the steps of an iteration say about it.
#[derive(Default)]
struct Done {
    /// The iteration is not effect-free unless all of these hold.
    needed: Vec<Bit>,
    /// Conditions under which it makes an access that may be in a race.
    may_race: Vec<Bit>,
    /// Stores to memory that nobody else writes.
    stores: Vec<(StepIndex, Access)>,
    reads: Vec<Access>,
    /// Does it do nothing but to try for mutexes?
    only_tries: bool,
}

/// A thread that stopped behind an iteration that read this.
fn spin(thread: ThreadIndex, stopped: Bit, reads: Vec<Access>, only_tries: bool) -> Spin {
    let first = reads.first().map(|read| read.cell);
    let is_one = |cell: &Cell| reads.iter().all(|read| read.cell == *cell);
    Spin {
        thread,
        stopped,
        mutex: first.filter(is_one).filter(|_| only_tries),
        reads,
    }
}

impl Encoder<'_> {
    /// The state is at the header of a loop: ends it if the iteration that is over was effect-free, and begins the next one.
    ///
    /// True if the last round was nothing but the one before again, as far as the thread itself is concerned, and was not counted: by
    /// what is known it goes round for ever.
    pub(super) fn next_round(&mut self, state: &mut State) -> Result<bool, Stop> {
        if !self.options.cuts_effect_free || state.alone {
            return Ok(false);
        }
        let mut goes_on = false;
        let is_simple = state.held.is_empty() && state.atomic_depth == 0;
        let iteration = state.top().iterations.last_mut();
        let start = iteration.and_then(|iteration| iteration.start.take());
        if let Some(start) = start.filter(|_| is_simple) {
            let same = self.stop_if_effect_free(state, &start)?;
            let counted = state.top().iterations.last().map(|it| it.counted);
            goes_on = same && counted == Some(start.counted);
        }
        let start = is_simple.then(|| Rc::new(self.start_of_round(state)));
        if let Some(iteration) = state.top().iterations.last_mut() {
            iteration.start = start;
        }
        Ok(goes_on)
    }

    fn start_of_round(&self, state: &State) -> IterationStart {
        let frame = state.frames.last();
        let iteration = frame.and_then(|frame| frame.iterations.last());
        IterationStart {
            steps: self.out.steps.len(),
            counted: iteration.map_or(0, |iteration| iteration.counted),
            regs: frame.map_or_else(Vec::new, |frame| frame.regs.clone()),
            owned: frame.map_or_else(Vec::new, |frame| frame.owned.clone()),
            private: state.private.clone(),
            thread_locals: state.thread_locals.clone(),
            own: state.own.clone(),
            locks: state.locks.clone(),
            spawns: state.spawns,
            allocations: state.allocations,
        }
    }

    fn stop_if_effect_free(
        &mut self,
        state: &mut State,
        start: &IterationStart,
    ) -> Result<bool, Stop> {
        let same = self.is_as_before(state, start)?;
        if same == Bit::FALSE {
            return Ok(false);
        }
        let mut done = self.done_since(start.steps);
        done.needed.push(same);
        self.compare_stores(start.steps, &mut done);
        let effect_free = self.out.bits.all(done.needed);
        let may_race = self.out.bits.any(done.may_race);
        let Some(iteration) = state.top().iterations.last_mut() else {
            return Ok(false);
        };
        let tolerated = self.out.bits.bit_and(may_race, !iteration.spent);
        let once = self.out.bits.bit_and(effect_free, may_race);
        iteration.spent = self.out.bits.bit_or(iteration.spent, once);
        let ends = self.out.bits.bit_and(effect_free, !tolerated);
        if self.options.checks.deadlocks {
            let stored = done.stores.iter().map(|(_, store)| store.guard);
            let stored = self.out.bits.any(stored.collect::<Vec<_>>());
            let counted = self.has_counted(state, start);
            let guard = state.path.guard();
            let stopped = self.out.bits.all([guard, ends, !stored, !counted]);
            let spin = spin(self.thread, stopped, done.reads, done.only_tries);
            self.out.spins.push(spin);
        }
        state.path.push(&mut self.out.bits, !ends);
        Ok(same == Bit::TRUE)
    }

    // ---- the thread itself

    /// Is the thread as it was, but for what it wrote to shared memory?
    fn is_as_before(&mut self, state: &mut State, start: &IterationStart) -> Result<Bit, Stop> {
        let overflows = self.options.checks.overflows;
        let frame = state.top();
        if frame.owned != start.owned
            || state.spawns != start.spawns
            || state.allocations != start.allocations
            || state.private.len() != start.private.len()
        {
            return Ok(Bit::FALSE);
        }
        let frame = state.top();
        let mut same = Bit::TRUE;
        let counters = frame.shape.counters(frame.block);
        for (slot, (now, then)) in frame.regs.iter().zip(&start.regs).enumerate() {
            // A counter that is not allowed to overflow is looked at.
            let counts = |&value: &_| frame.code.slots(value).contains(&slot);
            if !overflows && counters.iter().any(counts) {
                continue;
            }
            let equal = match (now, then) {
                (None, None) => Bit::TRUE,
                (Some(now), Some(then)) if now.width() == then.width() => {
                    self.out.bits.eq(&now.word, &then.word)
                }
                _ => Bit::FALSE,
            };
            same = self.out.bits.bit_and(same, equal);
            if same == Bit::FALSE {
                return Ok(same);
            }
        }
        for (now, then) in state.private.iter().zip(&start.private) {
            same = self.and_same_contents(same, now, then);
        }
        for (position, now) in &state.thread_locals {
            let then = match start.thread_locals.get(position) {
                Some(then) => Rc::clone(then),
                None => self.thread_local_contents(*position)?,
            };
            same = self.and_same_contents(same, now, &then);
        }
        for (&region, now) in &state.own {
            let then = match start.own.get(&region) {
                Some(then) => Rc::clone(then),
                None => self.first_contents(region)?,
            };
            same = self.and_same_contents(same, now, &then);
        }
        for lock in state.locks.keys().chain(start.locks.keys()) {
            let (now, then) = (state.locks.get(lock), start.locks.get(lock));
            let equal = Holding::same(&mut self.out.bits, now, then);
            same = self.out.bits.bit_and(same, equal);
        }
        Ok(same)
    }

    /// Did a counter of iterations change? Then there is an assumption that will fail.
    fn has_counted(&mut self, state: &mut State, start: &IterationStart) -> Bit {
        let frame = state.top();
        let mut same = Bit::TRUE;
        for &counter in frame.shape.counters(frame.block) {
            for slot in frame.code.slots(counter) {
                if let (Some(Some(now)), Some(Some(then))) =
                    (frame.regs.get(slot), start.regs.get(slot))
                    && now.width() == then.width()
                {
                    let equal = self.out.bits.eq(&now.word, &then.word);
                    same = self.out.bits.bit_and(same, equal);
                }
            }
        }
        !same
    }

    fn and_same_contents(&mut self, before: Bit, now: &Rc<Contents>, then: &Rc<Contents>) -> Bit {
        if before == Bit::FALSE || Rc::ptr_eq(now, then) {
            return before;
        }
        let same = Contents::same(&mut self.out.bits, now, then);
        self.out.bits.bit_and(before, same)
    }

    // ---- what it did

    fn done_since(&mut self, first: StepIndex) -> Done {
        let mut done = Done {
            only_tries: true,
            ..Done::default()
        };
        for index in first..self.out.steps.len() {
            if self.out.steps[index].thread != self.thread {
                continue;
            }
            let step = self.out.steps[index].clone();
            let reads = step.accesses.iter().filter(|access| !access.is_write);
            done.reads.extend(reads.cloned());
            done.only_tries &= self.out.try_locks.contains(&index);
            self.judge(index, &step, &mut done);
        }
        done
    }

    fn judge(&mut self, index: StepIndex, step: &Step, done: &mut Done) {
        let writes = step.accesses.iter().any(|access| access.is_write);
        match step.what {
            _ if step.block.is_some() => done.needed.push(!step.guard),
            StepKind::Fence { .. } | StepKind::AcquireFence => {}
            StepKind::Load => self.note_races(step, done),
            StepKind::Life if !writes => done.may_race.push(step.guard),
            StepKind::Update | StepKind::Sync if !step.accesses.is_empty() => {
                for (at, access) in step.accesses.iter().enumerate() {
                    if access.is_write {
                        let changes = self.changes(&step.accesses[..at], access);
                        done.needed.push(!changes);
                    }
                }
                self.note_races(step, done);
            }
            StepKind::Store if self.is_withdrawable(step) => {
                for access in &step.accesses {
                    done.stores.push((index, access.clone()));
                }
                self.note_races(step, done);
            }
            _ => done.needed.push(!step.guard),
        }
    }

    /// Does an atomic update write something else than it reads?
    fn changes(&mut self, before: &[Access], write: &Access) -> Bit {
        let is_read = |access: &&Access| !access.is_write && access.cell == write.cell;
        let differs = match before.iter().rev().find(is_read) {
            Some(read) => self.out.bits.ne(&read.value, &write.value),
            None => Bit::TRUE,
        };
        self.out.bits.bit_and(write.guard, differs)
    }

    fn note_races(&mut self, step: &Step, done: &mut Done) {
        if !self.options.checks.races {
            return;
        }
        let is_plain = step.order == Order::Plain;
        for access in &step.accesses {
            let way = (access.is_write, is_plain);
            if !access.cell.region.is_sync && self.facts.may_race(access.cell, self.thread, way) {
                done.may_race.push(access.guard);
            }
        }
    }

    /// Can what a store does be taken back by the same thread? Nobody else writes there, it reaches memory at once, and whoever
    /// reads from it learns at least what an earlier store would have told.
    fn is_withdrawable(&mut self, step: &Step) -> bool {
        let reaches_memory = !self.options.is_weak || step.order == Order::SeqCst;
        let mut cells = step.accesses.iter().map(|access| access.cell);
        reaches_memory
            && step.order.releases()
            && cells.all(|cell| self.facts.is_only_writer(cell, self.thread))
    }

    /// Memory that the iteration stored to must hold what it held before, and nobody may have seen that it did not.
    fn compare_stores(&mut self, first: StepIndex, done: &mut Done) {
        let mut cells: Vec<Cell> = done.stores.iter().map(|(_, access)| access.cell).collect();
        cells.sort_unstable();
        cells.dedup();
        let mut writes = Vec::new();
        for cell in cells {
            let before = self.last_stored(cell, first);
            let mut now = before.clone();
            for (step, access) in done.stores.iter().filter(|(_, store)| store.cell == cell) {
                let bits = &mut self.out.bits;
                now = bits.ite(access.guard, &access.value, &now);
                let differs = bits.ne(&access.value, &before);
                if bits.bit_and(access.guard, differs) != Bit::FALSE {
                    writes.push((*step, cell, differs));
                }
            }
            done.needed.push(self.out.bits.eq(&now, &before));
        }
        if !writes.is_empty() {
            let seen = self.fresh_bit();
            done.needed.push(!seen);
            self.out.observed.push(Observed {
                thread: self.thread,
                seen,
                writes,
            });
        }
    }

    /// What the thread stored last in a cell that it alone writes, before a step.
    fn last_stored(&mut self, cell: Cell, before: StepIndex) -> Word {
        let width = usize::from(cell.size) * 8;
        let mut value = match self.out.firsts.get(&cell) {
            Some(first) => first.clone(),
            None => Word::constant(width, 0),
        };
        let steps = &self.out.steps[..before];
        for step in steps.iter().filter(|step| step.thread == self.thread) {
            for access in &step.accesses {
                if access.is_write && access.cell == cell {
                    value = self.out.bits.ite(access.guard, &access.value, &value);
                }
            }
        }
        value
    }
}
