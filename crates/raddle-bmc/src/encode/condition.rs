//! Condition variables.
//!
//! Who wakes whom is said by the order of steps (`waits.rs`), and nothing else where a condition variable is made before all
//! that use it and destroyed after them. Others are *watched*: they have a cell, whose high half says how often the variable
//! was made, and whose low half how many threads wait that no signal is meant for, or that it is destroyed. Whoever has waited
//! must find the variable that it began to wait at, be it destroyed.

use super::Encoder;
use super::library::misused;
use super::sync::region_of;
use crate::events::{Access, Awaited, Change, Place, Rule, StepIndex, StepKind, Waiter, Waker};
use crate::state::State;
use crate::value::Sym;
use raddle_order::bits::{Bit, Word};
use raddle_program::errno::ETIMEDOUT;
use raddle_program::{Misuse, Order, Stop};

/// The low half of the cell counts those who wait.
pub(crate) const HALF: usize = 16;
/// What it holds if the variable is destroyed: there are not so many threads.
pub(crate) const GONE: u128 = (1 << HALF) - 1;

/// A thread has begun to wait.
struct Entered {
    step: StepIndex,
    /// How often the variable had been made, if it is watched.
    making: Option<Word>,
}

/// A wait that ends without a signal.
#[derive(Clone, Copy)]
struct Unsignalled {
    when: Bit,
    /// Can that be told from being woken? Then no signal was meant for the thread.
    is_told: bool,
}

impl Encoder<'_> {
    // ---- from beginning to end

    pub(super) fn cond_init(&mut self, state: &mut State, condition: Place) -> Result<(), Stop> {
        if !self.has_cell(state, condition) {
            self.change_later(state, condition, false);
            return Ok(());
        }
        if self.knows(state, region_of(condition)) {
            // Nobody waits.
            let cell = self.peek(state, region_of(condition), condition.1)?;
            if cell.as_constant() == Some(0) {
                return Ok(());
            }
        }
        self.change_cell(state, condition, None, |encoder, old| {
            let one = Word::constant(HALF, 1);
            let next = encoder.out.bits.add(&making(old), &one);
            Sym::of(Word::constant(HALF, 0).concat(&next))
        })?;
        Ok(())
    }

    pub(super) fn cond_destroy(&mut self, state: &mut State, condition: Place) -> Result<(), Stop> {
        if !self.has_cell(state, condition) {
            self.change_later(state, condition, true);
            return Ok(());
        }
        if state.alone {
            self.out.changes.push(Change {
                place: condition,
                step: None,
                is_end: true,
            });
        }
        let (mut gone, mut is_free) = (Bit::FALSE, Bit::FALSE);
        self.change_cell(state, condition, None, |encoder, old| {
            gone = encoder.is_gone(old);
            is_free = encoder.out.bits.is_zero(&waiting(old));
            let ended = Word::constant(HALF, GONE).concat(&making(old));
            Sym::ite(&mut encoder.out.bits, is_free, &Sym::of(ended), old)
        })?;
        self.fault_if(state, gone, misused(Misuse::UseDestroyed));
        self.fault_if(state, !is_free, misused(Misuse::DestroyWithWaiters));
        Ok(())
    }

    /// Is what became of a condition variable seen from its cell?
    fn has_cell(&mut self, state: &State, condition: Place) -> bool {
        self.knows(state, region_of(condition)) || self.facts.is_watched(condition)
    }

    fn is_gone(&mut self, cell: &Sym) -> Bit {
        let gone = Word::constant(HALF, GONE);
        self.out.bits.eq(&waiting(cell), &gone)
    }

    /// In a state that nobody else can look at, destroyed is destroyed.
    fn check_undestroyed_here(&mut self, state: &mut State, condition: Place) -> Result<(), Stop> {
        let cell = self.peek(state, region_of(condition), condition.1)?;
        let gone = self.is_gone(&cell);
        self.fault_if(state, gone, misused(Misuse::UseDestroyed));
        Ok(())
    }

    // ---- waiting

    /// Releases the mutex and begins to wait. A thread that finds the condition variable destroyed keeps the mutex.
    fn begin_waiting(
        &mut self,
        state: &mut State,
        condition: Place,
        mutex: Place,
    ) -> Result<Entered, Stop> {
        let is_watched = self.facts.is_watched(condition);
        if is_watched {
            let gone = self.fresh_bit();
            let mut late = state.clone();
            late.path.push(&mut self.out.bits, gone);
            let (cell, look) = self.look_at(&late, condition)?;
            self.sync_step(&late, condition, look);
            self.require_if(late.path.guard(), |encoder| encoder.is_gone(&cell));
            self.fault_if(state, gone, misused(Misuse::UseDestroyed));
        }
        let step = match self.give_up(state, mutex)? {
            Some(unlock) => unlock,
            None => self.step(state, StepKind::Sync, Order::SeqCst),
        };
        self.out.steps[step].object = Some(condition);
        if !is_watched {
            return Ok(Entered { step, making: None });
        }
        let (cell, mut accesses) = self.look_at(state, condition)?;
        self.require_if(state.path.guard(), |encoder| !encoder.is_gone(&cell));
        let one_more = Sym::of(self.out.bits.add(&cell.word, &Word::constant(2 * HALF, 1)));
        let place = (region_of(condition), condition.1);
        self.write(state, place, &one_more, Bit::TRUE, &mut accesses)?;
        self.out.steps[step].accesses.extend(accesses);
        let making = Some(making(&cell));
        Ok(Entered { step, making })
    }

    /// Reads the cell of a condition variable.
    fn look_at(&mut self, state: &State, condition: Place) -> Result<(Sym, Vec<Access>), Stop> {
        let mut accesses = Vec::new();
        let place = (region_of(condition), condition.1);
        let cell = self.read(state, place, 4, Bit::TRUE, &mut accesses)?;
        Ok((cell, accesses))
    }

    fn sync_step(&mut self, state: &State, condition: Place, accesses: Vec<Access>) -> StepIndex {
        let step = self.step(state, StepKind::Sync, Order::SeqCst);
        self.out.steps[step].object = Some(condition);
        self.out.steps[step].accesses = accesses;
        step
    }

    fn require_if(&mut self, guard: Bit, fact: impl FnOnce(&mut Self) -> Bit) {
        let fact = fact(self);
        let fine = self.out.bits.bit_or(!guard, fact);
        self.out.required.push(fine);
    }

    /// Ends a wait. Whoever finds another variable than the one it began to wait at was woken by nobody. Whoever was woken may
    /// leave after the variable was destroyed.
    fn end_waiting(
        &mut self,
        state: &mut State,
        condition: Place,
        entered: Entered,
        end: Unsignalled,
    ) -> Result<(), Stop> {
        let timed_out = end.when;
        let mut waiter = Waiter {
            thread: self.thread,
            condition,
            enter: entered.step,
            leave: 0,
            timed_out,
            is_told: end.is_told,
            forgotten: Bit::FALSE,
            making: entered.making,
        };
        let Some(making) = waiter.making.clone() else {
            waiter.leave = self.sync_step(state, condition, Vec::new());
            self.out.waiters.push(waiter);
            return Ok(());
        };
        let (cell, mut accesses) = self.look_at(state, condition)?;
        let gone = self.is_gone(&cell);
        let remade = self.out.bits.ne(&self::making(&cell), &making);
        waiter.forgotten = remade;
        let leaves = self.out.bits.bit_and(timed_out, !remade);
        if leaves != Bit::FALSE {
            // A variable is destroyed only if there is a signal for everybody who waits.
            let late = self.out.bits.bit_and(leaves, gone);
            self.require_if(state.path.guard(), |_| !late);
            let one = Word::constant(2 * HALF, 1);
            let less = Sym::of(self.out.bits.sub(&cell.word, &one));
            let place = (region_of(condition), condition.1);
            self.write(state, place, &less, leaves, &mut accesses)?;
        }
        waiter.leave = self.sync_step(state, condition, accesses);
        self.out.waiters.push(waiter);
        let ended = self.out.bits.bit_and(remade, gone);
        self.fault_if(state, ended, misused(Misuse::UseDestroyed));
        self.fault_if(state, remade, misused(Misuse::WrongKind));
        Ok(())
    }

    pub(super) fn cond_wait(
        &mut self,
        state: &mut State,
        condition: Place,
        mutex: Place,
    ) -> Result<(), Stop> {
        if self.knows(state, region_of(condition)) {
            // Nobody else does signal it.
            self.check_undestroyed_here(state, condition)?;
            self.give_up(state, mutex)?;
            let spurious = self.wakes_spuriously(state)?;
            self.wait_for(state, spurious, Awaited::Anybody(Some(condition)))?;
            if spurious != Bit::FALSE {
                self.lock(state, mutex)?;
            }
            return Ok(());
        }
        let entered = self.begin_waiting(state, condition, mutex)?;
        let spurious = self.wakes_spuriously(state)?;
        let signalled = self.passes_a_signal(state);
        let passes = self.out.bits.bit_or(spurious, signalled);
        let at = self.out.waiters.len();
        let cell = self.facts.cells(region_of(condition), condition.1, 4)[0];
        let lost = entered.making.clone();
        let lost = lost.map(|making| (cell, Rule::Another(making)));
        self.wait_for(state, passes, Awaited::Signal(at, lost))?;
        let end = Unsignalled {
            when: spurious,
            // A cell counts those who wait.
            is_told: entered.making.is_some(),
        };
        self.end_waiting(state, condition, entered, end)?;
        self.lock(state, mutex)?;
        Ok(())
    }

    /// Does a thread wake up without being signalled? It does so once at most at each place, as the interpreter has it.
    fn wakes_spuriously(&mut self, state: &mut State) -> Result<Bit, Stop> {
        const WOKEN: u32 = 9;
        if !self.options.spurious_wakeups {
            return Ok(Bit::FALSE);
        }
        let place = self.place_of_call(state);
        let before = self.thread_value(state, WOKEN, place)?;
        let may = self.out.bits.is_zero(&before.word);
        if may == Bit::FALSE {
            return Ok(may);
        }
        let chosen = self.fresh_bit();
        let guard = self.out.bits.bit_and(state.path.guard(), may);
        let choice = (guard, vec![Word::from_bits(vec![chosen])]);
        self.out.threads[self.thread].choices.push(choice);
        let wakes = self.out.bits.bit_and(may, chosen);
        let one = Sym::constant(64, 1);
        let after = Sym::ite(&mut self.out.bits, wakes, &one, &before);
        self.set_thread_value(state, WOKEN, place, &after)?;
        Ok(wakes)
    }

    /// Never waits: the thread is woken by a signal that has come, or times out.
    pub(super) fn cond_timed_wait(
        &mut self,
        state: &mut State,
        condition: Place,
        mutex: Place,
        deadline: &Sym,
    ) -> Result<Sym, Stop> {
        let knows = self.knows(state, region_of(condition));
        let mut entered = None;
        if knows {
            self.check_undestroyed_here(state, condition)?;
            self.give_up(state, mutex)?;
        } else {
            entered = Some(self.begin_waiting(state, condition, mutex)?);
        }
        let spurious = self.wakes_spuriously(state)?;
        let mut timed_out = if knows { Bit::TRUE } else { self.fresh_bit() };
        let guard = self.out.bits.bit_and(state.path.guard(), !spurious);
        let choice = (guard, vec![Word::from_bits(vec![timed_out])]);
        self.out.threads[self.thread].choices.push(choice);
        timed_out = self.out.bits.bit_and(timed_out, !spurious);
        if let Some(entered) = entered {
            let end = Unsignalled {
                when: self.out.bits.bit_or(timed_out, spurious),
                is_told: true,
            };
            self.end_waiting(state, condition, entered, end)?;
        }
        self.pass_deadline(state, timed_out, deadline)?;
        self.lock(state, mutex)?;
        let (late, zero) = (Sym::constant(32, ETIMEDOUT), Sym::zero(32));
        Ok(Sym::ite(&mut self.out.bits, timed_out, &late, &zero))
    }

    /// A signal, or a broadcast.
    pub(super) fn wake(
        &mut self,
        state: &mut State,
        condition: Place,
        wakes_all: bool,
    ) -> Result<(), Stop> {
        if self.knows(state, region_of(condition)) {
            return self.check_undestroyed_here(state, condition);
        }
        let mut waker = Waker {
            thread: self.thread,
            condition,
            step: 0,
            guard: state.path.guard(),
            wakes_all,
            making: None,
        };
        if !self.facts.is_watched(condition) {
            waker.step = self.sync_step(state, condition, Vec::new());
            self.out.wakers.push(waker);
            return Ok(());
        }
        let (cell, mut accesses) = self.look_at(state, condition)?;
        let gone = self.is_gone(&cell);
        let in_vain = self.out.bits.is_zero(&waiting(&cell));
        let left = if wakes_all {
            Word::constant(HALF, 0)
        } else {
            self.out.bits.sub(&waiting(&cell), &Word::constant(HALF, 1))
        };
        let left = Sym::of(left.concat(&making(&cell)));
        let place = (region_of(condition), condition.1);
        let changes = self.out.bits.bit_and(!gone, !in_vain);
        self.write(state, place, &left, changes, &mut accesses)?;
        waker.step = self.sync_step(state, condition, accesses);
        self.fault_if(state, gone, misused(Misuse::UseDestroyed));
        waker.guard = state.path.guard();
        waker.making = Some(making(&cell));
        self.out.wakers.push(waker);
        Ok(())
    }
}

/// How often a condition variable was made.
fn making(cell: &Sym) -> Word {
    cell.word.extract(HALF, 2 * HALF)
}

/// How many wait whom no signal wakes.
fn waiting(cell: &Sym) -> Word {
    cell.word.extract(0, HALF)
}
