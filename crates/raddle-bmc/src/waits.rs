//! Waiting: signals that wake waiters, and threads that wait for good.

use crate::encode::OWNER_BITS;
use crate::events::{Awaited, Rule, ThreadIndex, Wait};
use crate::facts::Cell;
use crate::problem::Problem;
use raddle_order::bits::{Bit, Word};
use raddle_order::memory::Fence;
use raddle_order::{EventId, Lit};
use rustc_hash::FxHashMap;

/// A signal that may wake a waiter.
#[derive(Clone, Copy)]
pub(crate) struct WakeUp {
    waker: usize,
    waiter: usize,
    lit: Lit,
}

impl Problem {
    /// Every wait on a condition variable that comes to an end was woken by a signal given after it began and before it
    /// ended; a signal wakes one, a broadcast all.
    pub(crate) fn add_wakeups(&mut self) -> Vec<WakeUp> {
        let (waiters, wakers) = (self.encoding.waiters.clone(), self.encoding.wakers.clone());
        let mut wakeups = Vec::new();
        for (waiter_index, waiter) in waiters.iter().enumerate() {
            let mut sources = Vec::new();
            for (waker_index, waker) in wakers.iter().enumerate() {
                if waker.condition != waiter.condition || waker.thread == waiter.thread {
                    continue;
                }
                let lit = self.solver.new_lit();
                let in_vain = self.lit(waiter.timed_out);
                self.solver.clause(&[!lit, !in_vain]);
                for step in [waker.step, waiter.leave] {
                    let guard = self.encoding.steps[step].guard;
                    let guard = self.lit(guard);
                    self.solver.clause(&[!lit, guard]);
                }
                self.order_while(waiter.enter, waker.step, lit);
                self.order_while(waker.step, waiter.leave, lit);
                sources.push(lit);
                wakeups.push(WakeUp {
                    waker: waker_index,
                    waiter: waiter_index,
                    lit,
                });
            }
            let guard = self.encoding.steps[waiter.leave].guard;
            sources.push(!self.lit(guard));
            sources.push(self.lit(waiter.timed_out));
            self.solver.clause(&sources);
        }
        for (at, second) in wakeups.iter().enumerate() {
            for first in &wakeups[..at] {
                if first.waker == second.waker && !wakers[first.waker].wakes_all {
                    self.solver.clause(&[!first.lit, !second.lit]);
                }
            }
        }
        for waiter in 0..waiters.len() {
            self.add_timeouts(waiter, &wakeups);
        }
        wakeups
    }

    /// Whoever times out missed no signal: each came before the wait or after it, or wakes another one that waited as well. A
    /// broadcast wakes all.
    fn add_timeouts(&mut self, index: usize, wakeups: &[WakeUp]) {
        let waiter = self.encoding.waiters[index].clone();
        if waiter.timed_out == Bit::FALSE {
            return;
        }
        for (at, waker) in self.encoding.wakers.clone().iter().enumerate() {
            if waker.condition != waiter.condition || waker.thread == waiter.thread {
                continue;
            }
            let happen = [waker.step, waiter.leave].map(|step| self.encoding.steps[step].guard);
            let concerned = [happen[0], happen[1], waiter.timed_out];
            let concerned = self.encoding.bits.all(concerned);
            let (before, after) = (self.solver.new_lit(), self.solver.new_lit());
            self.order_while(waker.step, waiter.enter, before);
            self.order_while(waiter.leave, waker.step, after);
            let mut clause = vec![!self.lit(concerned), before, after];
            let others = wakeups
                .iter()
                .filter(|wakeup| wakeup.waker == at && wakeup.waiter != index);
            if !waker.wakes_all {
                clause.extend(others.map(|wakeup| wakeup.lit));
            }
            self.solver.clause(&clause);
        }
    }

    /// What cells hold in the end, for those that threads may wait at. The reads happen only if `asked` holds.
    pub(crate) fn add_last_reads(&mut self, asked: Lit) -> FxHashMap<Cell, Word> {
        let mut cells: Vec<Cell> = Vec::new();
        for wait in &self.encoding.waits {
            if let Awaited::Cell(cell, _) | Awaited::Owner(cell) = &wait.on
                && !cells.contains(cell)
            {
                cells.push(*cell);
            }
        }
        let mut last = FxHashMap::default();
        if cells.is_empty() {
            return last;
        }
        let lanes = self.lanes.clone();
        let ends: Vec<EventId> = lanes
            .into_iter()
            .map(|lane| {
                self.memory
                    .fence(&mut self.solver, lane, Fence::Full, asked)
            })
            .collect();
        let reader = self.memory.thread();
        let begin = self
            .memory
            .fence(&mut self.solver, reader, Fence::Full, asked);
        let global = self.memory.global();
        for end in ends {
            self.solver.order(global, end, begin);
        }
        for cell in cells {
            let location = self.location(cell);
            let event = self.memory.read(&mut self.solver, reader, location, asked);
            let width = usize::from(cell.size) * 8;
            let word = self.encoding.bits.fresh(width, &mut self.solver);
            self.values.insert(event, word.clone());
            last.insert(cell, word);
        }
        last
    }

    /// A literal that implies a deadlock: some threads wait, each for what only those could give that wait themselves or have
    /// finished. Threads that stopped for another reason (an assumption, a fault, the bound) might have helped.
    pub(crate) fn deadlock(
        &mut self,
        asked: Lit,
        wakeups: &[WakeUp],
        last: &FxHashMap<Cell, Word>,
    ) -> bool {
        if self.encoding.waits.is_empty() {
            return false;
        }
        let count = self.encoding.threads.len();
        let dead: Vec<Bit> = (0..count)
            .map(|_| self.encoding.bits.fresh_bit(&mut self.solver))
            .collect();
        for thread in 0..count {
            let waits: Vec<Wait> = self
                .encoding
                .waits
                .iter()
                .filter(|wait| wait.thread == thread)
                .cloned()
                .collect();
            let mut reasons = Vec::new();
            for wait in waits {
                let stuck = self.stuck(&wait, &dead, wakeups, last);
                reasons.push(self.encoding.bits.bit_and(wait.blocked, stuck));
            }
            let any = self.encoding.bits.any(reasons);
            let bits = &mut self.encoding.bits;
            let fine = bits.bit_or(!dead[thread], any);
            self.require(fine);
        }
        let exits = self.encoding.exits.clone();
        let bits = &mut self.encoding.bits;
        let someone = bits.any(dead);
        let exited = bits.any(exits);
        let is_deadlock = bits.bit_and(someone, !exited);
        let lit = self.lit(is_deadlock);
        self.solver.clause(&[!asked, lit]);
        true
    }

    /// The thread waits for good, or has finished: it will not help anybody.
    fn useless(&mut self, thread: ThreadIndex, dead: &[Bit]) -> Bit {
        let finished = self.encoding.threads[thread].finished;
        self.encoding.bits.bit_or(dead[thread], finished)
    }

    /// Nobody else will do anything any more.
    fn all_useless(&mut self, but: ThreadIndex, dead: &[Bit]) -> Bit {
        let mut all = Bit::TRUE;
        for thread in (0..dead.len()).filter(|&thread| thread != but) {
            let useless = self.useless(thread, dead);
            let started = self.encoding.threads[thread].started;
            let bits = &mut self.encoding.bits;
            let fine = bits.bit_or(!started, useless);
            all = bits.bit_and(all, fine);
        }
        all
    }

    fn stuck(
        &mut self,
        wait: &Wait,
        dead: &[Bit],
        wakeups: &[WakeUp],
        last: &FxHashMap<Cell, Word>,
    ) -> Bit {
        match &wait.on {
            Awaited::Itself => Bit::TRUE,
            Awaited::Mutex(mutex) => {
                let mut held = Vec::new();
                for section in self.encoding.sections.clone() {
                    if section.mutex != *mutex {
                        continue;
                    }
                    let steps = &self.encoding.steps;
                    let entered = steps[section.lock].guard;
                    let left: Vec<Bit> = section
                        .unlocks
                        .iter()
                        .map(|&step| steps[step].guard)
                        .collect();
                    let useless = self.useless(section.thread, dead);
                    let bits = &mut self.encoding.bits;
                    let left = bits.any(left);
                    held.push(bits.all([entered, !left, useless]));
                }
                self.encoding.bits.any(held)
            }
            Awaited::Cell(cell, rule) => {
                let allowed = self.allowed_in_the_end(*cell, rule, last);
                let useless = self.all_useless(wait.thread, dead);
                self.encoding.bits.bit_and(!allowed, useless)
            }
            Awaited::Owner(cell) => {
                let mut owned = Vec::new();
                for thread in 0..dead.len() {
                    let handle = u128::from(self.encoding.threads[thread].handle);
                    let useless = self.useless(thread, dead);
                    let owner = last[cell].extract(0, OWNER_BITS);
                    let handle = Word::constant(OWNER_BITS, handle);
                    let bits = &mut self.encoding.bits;
                    let is_owner = bits.eq(&owner, &handle);
                    owned.push(bits.bit_and(is_owner, useless));
                }
                self.encoding.bits.any(owned)
            }
            Awaited::Threads(of) => {
                let mut stuck = Vec::new();
                for &(is_it, handle) in of {
                    for (index, thread) in self.encoding.threads.iter().enumerate() {
                        if thread.handle == handle {
                            stuck.push(self.encoding.bits.bit_and(is_it, dead[index]));
                        }
                    }
                }
                self.encoding.bits.any(stuck)
            }
            Awaited::Signal(waiter) => {
                let unsignalled = self.unsignalled(*waiter, wakeups);
                let useless = self.all_useless(wait.thread, dead);
                self.encoding.bits.bit_and(unsignalled, useless)
            }
        }
    }

    fn allowed_in_the_end(&mut self, cell: Cell, rule: &Rule, last: &FxHashMap<Cell, Word>) -> Bit {
        rule.holds(&mut self.encoding.bits, &last[&cell])
    }

    /// Every signal came before the wait began, or woke somebody else.
    fn unsignalled(&mut self, waiter: usize, wakeups: &[WakeUp]) -> Bit {
        let waiters = self.encoding.waiters.clone();
        // A thread that never gets past its first wait has no entry of its own there.
        let Some(me) = waiters.get(waiter) else {
            return Bit::FALSE;
        };
        let mut all = Bit::TRUE;
        for (index, waker) in self.encoding.wakers.clone().iter().enumerate() {
            if waker.condition != me.condition || waker.thread == me.thread {
                continue;
            }
            let before = self.solver.new_lit();
            self.order_while(waker.step, me.enter, before);
            let mut reasons = vec![self.encoding.bits.from_lit(before)];
            reasons.push(!self.encoding.steps[waker.step].guard);
            if !waker.wakes_all {
                for wakeup in wakeups {
                    if wakeup.waker == index && wakeup.waiter != waiter {
                        reasons.push(self.encoding.bits.from_lit(wakeup.lit));
                    }
                }
            }
            let fine = self.encoding.bits.any(reasons);
            all = self.encoding.bits.bit_and(all, fine);
        }
        all
    }
}
