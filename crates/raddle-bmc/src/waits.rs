//! Waiting: signals that wake waiters, and threads that wait for good.

use crate::encode::{LIFE, OWNER_BITS};
use crate::events::{Awaited, Rule, Spin, StepKind, ThreadIndex, Wait, WaitsForItself};
use crate::facts::Cell;
use crate::problem::Problem;
use raddle_order::bits::{Bit, Word};
use raddle_order::memory::Fence;
use raddle_order::{EventId, Lit};
use rustc_hash::FxHashMap;

/// A signal that may be meant for a waiter.
#[derive(Clone, Copy)]
pub(crate) struct WakeUp {
    waker: usize,
    waiter: usize,
    lit: Lit,
}

/// How to ask for a deadlock.
#[derive(Clone, Copy)]
pub(crate) struct Deadlock {
    asked: Lit,
    /// Whether threads that go round loops for good count, if there may be any.
    loops: Option<Lit>,
}

impl Deadlock {
    /// The assumptions under which there is one.
    pub(crate) fn question(self, with_loops: bool) -> Option<Vec<Lit>> {
        match (with_loops, self.loops) {
            (true, None) => None,
            (true, Some(loops)) => Some(vec![self.asked, loops]),
            (false, Some(loops)) => Some(vec![self.asked, !loops]),
            (false, None) => Some(vec![self.asked]),
        }
    }
}

impl Problem {
    /// Every wait on a condition variable that comes to an end was ended by a signal given after it began; a signal is meant
    /// for one waiter, a broadcast for all.
    ///
    /// Whoever waits for good or times out missed no signal, so then it matters that none is lost either: a signal is meant for
    /// somebody unless all who wait at that time have theirs already. Those were given at the *moments* of the waiters.
    /// `asked`: somebody is said to wait for good.
    pub(crate) fn add_wakeups(&mut self, asked: Option<Lit>) -> Vec<WakeUp> {
        let waiters = self.encoding.waiters.clone();
        let mut wakeups = Vec::new();
        let mut moments = Vec::new();
        for (index, waiter) in waiters.iter().enumerate() {
            let guard = self.encoding.steps[waiter.enter].guard;
            let guard = self.lit(guard);
            let moment = self.solver.new_event(guard);
            let (global, leave) = (self.memory.global(), self.node(waiter.leave));
            self.solver.order(global, moment, leave);
            moments.push(moment);
            let sources = self.add_wakers_of(index, moment);
            let guard = self.encoding.steps[waiter.leave].guard;
            let mut clause = vec![!self.lit(guard), self.lit(waiter.timed_out)];
            clause.push(self.lit(waiter.forgotten));
            clause.extend(sources.iter().map(|wakeup| wakeup.lit));
            self.solver.clause(&clause);
            wakeups.extend(sources);
        }
        for (at, second) in wakeups.iter().enumerate() {
            for first in &wakeups[..at] {
                let is_signal = !self.encoding.wakers[first.waker].wakes_all;
                if first.waiter == second.waiter || first.waker == second.waker && is_signal {
                    self.solver.clause(&[!first.lit, !second.lit]);
                }
            }
        }
        for wakeup in &wakeups {
            let condition = waiters[wakeup.waiter].condition;
            let may_time_out = waiters
                .iter()
                .any(|waiter| waiter.condition == condition && waiter.is_told);
            let asked = if may_time_out { Some(Lit::TRUE) } else { asked };
            if let Some(asked) = asked {
                self.lose_no_signal(*wakeup, &wakeups, moments[wakeup.waiter], asked);
            }
        }
        wakeups
    }

    /// The signals that may be meant for a waiter.
    fn add_wakers_of(&mut self, index: usize, moment: EventId) -> Vec<WakeUp> {
        let waiter = self.encoding.waiters[index].clone();
        let mut wakeups = Vec::new();
        for (at, waker) in self.encoding.wakers.clone().iter().enumerate() {
            let is_early = self.fixed.before(waker.step, waiter.enter);
            let is_late = self.fixed.before(waiter.leave, waker.step);
            if waker.condition != waiter.condition
                || waker.thread == waiter.thread
                || is_early
                || is_late
            {
                continue;
            }
            let lit = self.solver.new_lit();
            let happens = [waker.guard, self.encoding.steps[waiter.enter].guard];
            for fact in [happens[0], happens[1], !waiter.timed_out] {
                let fact = self.lit(fact);
                self.solver.clause(&[!lit, fact]);
            }
            if let (Some(first), Some(second)) = (&waiter.making, &waker.making) {
                let same = self.encoding.bits.eq(first, second);
                let same = self.lit(same);
                self.solver.clause(&[!lit, same]);
            }
            self.order_while(waiter.enter, waker.step, lit);
            let (global, node) = (self.memory.global(), self.node(waker.step));
            self.solver.order_if(global, node, moment, lit);
            wakeups.push(WakeUp {
                waker: at,
                waiter: index,
                lit,
            });
        }
        wakeups
    }

    /// A signal that comes while a thread waits is meant for somebody (a broadcast for that thread), or the thread has got one
    /// before. `moment`: when that was.
    fn lose_no_signal(&mut self, wakeup: WakeUp, wakeups: &[WakeUp], moment: EventId, asked: Lit) {
        let waiter = self.encoding.waiters[wakeup.waiter].clone();
        let waker = self.encoding.wakers[wakeup.waker].clone();
        let mut concerned = vec![waker.guard, self.encoding.steps[waiter.enter].guard];
        if let (Some(first), Some(second)) = (&waiter.making, &waker.making) {
            concerned.push(self.encoding.bits.eq(first, second));
        }
        let concerned = self.encoding.bits.all(concerned);
        let [before, after, earlier] = [(); 3].map(|()| self.solver.new_lit());
        self.order_while(waker.step, waiter.enter, before);
        self.order_while(waiter.leave, waker.step, after);
        let left = self.encoding.steps[waiter.leave].guard;
        let left = self.lit(left);
        self.solver.clause(&[!after, left]);
        let (global, node) = (self.memory.global(), self.node(waker.step));
        self.solver.order_if(global, moment, node, earlier);
        let of_waiter = wakeups.iter().filter(|other| other.waiter == wakeup.waiter);
        let mut clause = vec![!earlier];
        clause.extend(of_waiter.map(|other| other.lit));
        self.solver.clause(&clause);
        let mut clause = vec![!asked, !self.lit(concerned), before, after, earlier];
        let meant = wakeups.iter().filter(|other| match waker.wakes_all {
            true => other.waker == wakeup.waker && other.waiter == wakeup.waiter,
            false => other.waker == wakeup.waker,
        });
        clause.extend(meant.map(|other| other.lit));
        self.solver.clause(&clause);
    }

    /// What cells hold in the end, for those that threads may wait at. The reads happen only if `asked` holds.
    pub(crate) fn add_last_reads(&mut self, asked: Lit) -> FxHashMap<Cell, Word> {
        let mut cells: Vec<Cell> = Vec::new();
        for wait in &self.encoding.waits {
            let making = |cell: Cell| self.encoding.locks.get(&cell).copied().flatten();
            let making = wait.on.cells().next().and_then(making);
            for cell in wait.on.cells().chain(making) {
                if !cells.contains(&cell) {
                    cells.push(cell);
                }
            }
        }
        let spins = self.encoding.spins.iter();
        for read in spins.flat_map(|spin| &spin.reads) {
            if !cells.contains(&read.cell) {
                cells.push(read.cell);
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
    /// finished. Threads that stopped for another reason (an assumption, a fault, the bound) might have helped. Going iteration a
    /// loop for good is waiting, too, if `loops` holds; `None` if no thread does.
    pub(crate) fn deadlock(
        &mut self,
        asked: Lit,
        wakeups: &[WakeUp],
        last: &FxHashMap<Cell, Word>,
    ) -> Option<Deadlock> {
        let spins = std::mem::take(&mut self.encoding.spins);
        if self.encoding.waits.is_empty() && spins.is_empty() {
            return None;
        }
        let loops = self.encoding.bits.fresh_bit(&mut self.solver);
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
                let gone = self.is_gone(&wait);
                let bits = &mut self.encoding.bits;
                reasons.push(bits.all([wait.blocked, stuck, !gone]));
            }
            for spin in spins.iter().filter(|spin| spin.thread == thread) {
                let in_vain = self.in_vain(spin, &dead, last);
                reasons.push(self.encoding.bits.bit_and(loops, in_vain));
            }
            let any = self.encoding.bits.any(reasons);
            let bits = &mut self.encoding.bits;
            let fine = bits.bit_or(!dead[thread], any);
            self.require(fine);
        }
        let exits = self.encoding.exits.clone();
        let open = self.encoding.any_open_block();
        let bits = &mut self.encoding.bits;
        let someone = bits.any(dead);
        let exited = bits.any(exits);
        let is_deadlock = bits.all([someone, !exited, !open]);
        let lit = self.lit(is_deadlock);
        self.solver.clause(&[!asked, lit]);
        Some(Deadlock {
            asked,
            loops: (!spins.is_empty()).then(|| self.lit(loops)),
        })
    }

    /// Is the object dead in the end that the thread waits at? Then it does not wait: it goes on, into a fault.
    fn is_gone(&mut self, wait: &Wait) -> Bit {
        let object = match wait.on {
            Awaited::Mutex((object, _)) | Awaited::Itself((object, _)) => object,
            Awaited::Anybody(Some((object, _))) => object,
            Awaited::Cell(cell, _) | Awaited::Owner(cell, _) => cell.region.object,
            Awaited::Signal(waiter, _) => self.encoding.waiters[waiter].condition.0,
            Awaited::Anybody(None) | Awaited::Threads(_) => return Bit::FALSE,
        };
        let steps = self.encoding.steps.iter();
        let frees: Vec<Bit> = steps
            .filter(|step| step.what == StepKind::Life)
            .flat_map(|step| &step.accesses)
            .filter(|access| access.is_write && access.cell.offset == LIFE)
            .filter(|access| access.cell.region.object == object)
            .map(|access| access.guard)
            .collect();
        self.encoding.bits.any(frees)
    }

    /// The thread goes round a loop for good: it finds what it found, since nobody will change that.
    fn in_vain(&mut self, spin: &Spin, dead: &[Bit], last: &FxHashMap<Cell, Word>) -> Bit {
        let mut again = vec![spin.stopped];
        for read in &spin.reads {
            let bits = &mut self.encoding.bits;
            let same = bits.eq(&read.value, &last[&read.cell]);
            again.push(bits.bit_or(!read.guard, same));
        }
        again.push(match spin.mutex {
            Some(cell) => self.is_owned_by_useless(cell, dead, last, |_| Bit::TRUE),
            // Nobody else knows what the loop looks at: a mutex that the thread holds itself, say.
            None if spin.reads.is_empty() => Bit::TRUE,
            None => self.all_useless(spin.thread, dead),
        });
        self.encoding.bits.all(again)
    }

    /// The owner of a mutex will not give it back. `counts`: whether it matters that a thread is the owner.
    fn is_owned_by_useless(
        &mut self,
        cell: Cell,
        dead: &[Bit],
        last: &FxHashMap<Cell, Word>,
        counts: impl Fn(ThreadIndex) -> Bit,
    ) -> Bit {
        let mut owned = Vec::new();
        for thread in 0..dead.len() {
            let handle = u128::from(self.encoding.threads[thread].handle);
            let useless = self.useless(thread, dead);
            let owner = last[&cell].extract(0, OWNER_BITS);
            let handle = Word::constant(OWNER_BITS, handle);
            let bits = &mut self.encoding.bits;
            let is_owner = bits.eq(&owner, &handle);
            owned.push(bits.all([is_owner, useless, counts(thread)]));
        }
        self.encoding.bits.any(owned)
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
            Awaited::Itself(_) => Bit::TRUE,
            Awaited::Anybody(_) => self.all_useless(wait.thread, dead),
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
                let useless = match self.encoding.locks.get(cell).copied() {
                    Some(making) => self.kept_by_useless(*cell, making, dead, last),
                    None => self.all_useless(wait.thread, dead),
                };
                self.encoding.bits.bit_and(!allowed, useless)
            }
            Awaited::Owner(cell, itself) => {
                let itself = self.waits_for_itself(*itself, last);
                let counts = |thread| match thread == wait.thread {
                    true => itself,
                    false => Bit::TRUE,
                };
                self.is_owned_by_useless(*cell, dead, last, counts)
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
            Awaited::Signal(waiter, lost) => {
                let of_waiter = wakeups.iter().filter(|wakeup| wakeup.waiter == *waiter);
                let bits = &mut self.encoding.bits;
                let mut signals: Vec<Bit> =
                    of_waiter.map(|wakeup| bits.from_lit(wakeup.lit)).collect();
                if let Some((cell, rule)) = lost {
                    signals.push(self.allowed_in_the_end(*cell, rule, last));
                }
                let useless = self.all_useless(wait.thread, dead);
                let woken = self.encoding.bits.any(signals);
                self.encoding.bits.bit_and(!woken, useless)
            }
        }
    }

    /// Somebody holds a read-write lock that will never give it back.
    fn kept_by_useless(
        &mut self,
        lock: Cell,
        making: Option<Cell>,
        dead: &[Bit],
        last: &FxHashMap<Cell, Word>,
    ) -> Bit {
        let place = (lock.region.object, lock.offset);
        let mut kept = Vec::new();
        for held in self.encoding.kept.clone() {
            if held.lock != place {
                continue;
            }
            let useless = self.useless(held.thread, dead);
            let bits = &mut self.encoding.bits;
            let is_same = match making {
                Some(cell) => bits.eq(&held.making, &last[&cell]),
                None => Bit::TRUE,
            };
            kept.push(bits.all([held.condition, useless, is_same]));
        }
        self.encoding.bits.any(kept)
    }

    fn waits_for_itself(&mut self, itself: WaitsForItself, last: &FxHashMap<Cell, Word>) -> Bit {
        let (cell, is_normal) = match itself {
            WaitsForItself::Known(waits) => return Bit::constant(waits),
            WaitsForItself::If(cell, is_normal) => (cell, is_normal),
        };
        let kind = &last[&cell];
        let bits = &mut self.encoding.bits;
        let normal = Word::constant(kind.width(), 1);
        let made_normal = bits.eq(kind, &normal);
        let unmade = bits.is_zero(kind);
        let left_normal = bits.bit_and(unmade, Bit::constant(is_normal));
        bits.bit_or(made_normal, left_normal)
    }

    fn allowed_in_the_end(&mut self, cell: Cell, rule: &Rule, last: &FxHashMap<Cell, Word>) -> Bit {
        rule.holds(&mut self.encoding.bits, &last[&cell])
    }
}
