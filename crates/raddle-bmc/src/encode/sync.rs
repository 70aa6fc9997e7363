//! Locks, and everything else that threads wait at.
//!
//! A synchronisation object is a cell of 32 bits beside the object's bytes. An operation reads and writes it as one step, and
//! happens only if the value read allows it.
//!
//! Mutexes whose critical sections are known from the text are not cells: their sections are put in order as a whole. If all
//! sections of a mutex are always left, nobody waits in them but for mutexes, and these are nested in one order, every thread that wants the mutex gets it at
//! last: then there is no need to consider that it does not. A violation that somebody commits meanwhile is a violation in
//! the execution that goes on as well, since a fault leaves the sections it is in ([`Section`]).

use super::library::Args;
use super::{Encoder, unsupported_call};
use crate::events::{Access, Awaited, Change, Handover, Place, Refusal, Rule, StepKind, Wait};
use crate::facts::Region;
use crate::order::FixedOrder;
use crate::state::State;
use crate::value::{MOST_VALUES, Sym};
use raddle_order::bits::Bit;
use raddle_program::errno::{EBUSY, ETIMEDOUT};
use raddle_program::{AccessKind, Fault, Order, Stop, Unsupported};

/// Where numbers lie that belong to the cells of synchronisation objects.
pub(super) const BESIDE: u64 = 1 << 43;
/// A section of a mutex that nobody else takes.
pub(super) const UNCONTENDED: usize = usize::MAX;
/// Waits with a lock of C++ instead of a mutex.
pub(super) const CPP_WAIT: &str = "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE";
/// What the cell of a one-time initialiser holds while it runs, and afterwards.
const RUNNING: u32 = 1;
const DONE: u32 = 2;
/// What is refused where an atomic block has to wait in its middle.
const BREAK: &str = "an atomic block that has to wait in its middle (not supported by bmc)";

pub(super) fn region_of(place: Place) -> Region {
    Region {
        object: place.0,
        is_sync: true,
    }
}

impl Encoder<'_> {
    /// The object that an address leads to.
    pub(super) fn object_at(
        &mut self,
        state: &mut State,
        name: &str,
        address: &Sym,
    ) -> Result<Place, Stop> {
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

    /// The argument of an operation whose object is not known, if there is one.
    pub(super) fn open_object(name: &str, args: &Args) -> Option<usize> {
        let objects: &[usize] = match operation(name)? {
            "cond_wait" | "cond_timedwait" => &[0, 1],
            _ => &[0],
        };
        let mut objects = objects.iter().copied();
        objects.find(|&at| args[at].as_constant().is_none())
    }

    /// One state for each object that an operation may work on; where there is none, that is a fault.
    pub(super) fn object_ways(
        &mut self,
        state: &mut State,
        name: &str,
        address: &Sym,
    ) -> Result<Vec<(State, u64)>, Stop> {
        if let Some(ways) = self.ways(state, address) {
            return Ok(ways);
        }
        let places = self.places(state, address, 1)?;
        if places.len() > MOST_VALUES {
            return Err(unsupported_call(
                name,
                "too many objects that it may work on",
            ));
        }
        let conditions: Vec<(u64, Bit)> = places
            .into_iter()
            .map(|place| (place, address.is(&mut self.out.bits, place)))
            .collect();
        let somewhere = self
            .out
            .bits
            .any(conditions.iter().map(|&(_, is_it)| is_it));
        self.refuse_far_accesses(state, (address, 1), somewhere);
        let access = AccessKind::Update;
        self.fault_if(state, !somewhere, Fault::WildPointer { access, address: 0 });
        let mut ways = Vec::new();
        for (place, is_it) in conditions {
            let mut way = state.clone();
            way.path.push(&mut self.out.bits, is_it);
            if !way.path.is_impossible() {
                ways.push((way, place));
            }
        }
        Ok(ways)
    }

    /// The thread goes on only if `passes` holds.
    pub(super) fn wait_for(
        &mut self,
        state: &mut State,
        passes: Bit,
        on: Awaited,
    ) -> Result<(), Stop> {
        // They are read in the end, also where nobody comes to access them.
        for cell in on.cells() {
            self.note_first(cell)?;
        }
        // Whoever waits in a critical section may wait for a thread that wants to enter it.
        for &mutex in state.held.keys() {
            self.facts.block(mutex);
        }
        let blocked = self.out.bits.bit_and(state.path.guard(), !passes);
        if blocked != Bit::FALSE {
            self.keep_locks(state, blocked);
            self.out.waits.push(Wait {
                thread: self.thread,
                blocked,
                on,
            });
        }
        state.path.push(&mut self.out.bits, passes);
        Ok(())
    }

    /// Whether an operation on a cell goes on by this rule: it may have to wait till then. Inside of an atomic block that is seen at
    /// once: the block goes on without a break, or others come in between.
    pub(super) fn passes(
        &mut self,
        state: &mut State,
        place: Place,
        rule: &Rule,
        mut accesses: Vec<Access>,
    ) -> Result<Bit, Stop> {
        if state.block.is_none() {
            return Ok(self.fresh_bit());
        }
        let seen = (region_of(place), place.1);
        let seen = self.read(state, seen, 4, Bit::TRUE, &mut accesses)?;
        if !accesses.is_empty() {
            let step = self.step(state, StepKind::Sync, Order::SeqCst);
            self.out.steps[step].accesses = accesses;
            self.out.steps[step].object = Some(place);
        }
        let passes = rule.holds(&mut self.out.bits, &seen.word);
        self.refuse_break(state, !passes);
        Ok(passes)
    }

    /// Whether a thread that waits for a signal gets one. Inside of an atomic block it has to wait for that.
    pub(super) fn passes_a_signal(&mut self, state: &State) -> Bit {
        if state.block.is_none() {
            return self.fresh_bit();
        }
        self.refuse_break(state, Bit::TRUE);
        Bit::FALSE
    }

    /// An atomic block that has to wait lets others go on meanwhile: what it does after that is not encoded.
    pub(super) fn refuse_break(&mut self, state: &State, waits: Bit) {
        let guard = self.out.bits.bit_and(state.path.guard(), waits);
        if state.block.is_some() && guard != Bit::FALSE {
            let at = self.position(state);
            self.out.refusals.push(Refusal {
                guard,
                what: Unsupported::Instruction { what: BREAK.into() },
                thread: self.out.threads[self.thread].id,
                at,
            });
        }
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
        self.refuse_spurious_failure(state, name)?;
        self.drain(state);
        let place = self.object_at(state, name, &args[0])?;
        let uses_mutex = matches!(
            operation,
            "mutex_lock" | "mutex_trylock" | "mutex_timedlock" | "mutex_unlock"
        );
        self.seen_kind = None;
        let changes_it = operation.ends_with("_init") || operation.ends_with("_destroy");
        if name.starts_with("pthread_spin_") {
            self.facts.note_spin_lock(place);
        } else if uses_mutex {
            self.look_at_kind(state, place, &args[0])?;
        } else if !changes_it {
            self.look_at_bytes(state, place, &args[0])?;
        }
        let value = self.operate(state, name, operation, place, args);
        self.seen_kind = None;
        let value = value?;
        Ok(Some(match name {
            _ if name.starts_with("mtx_") || name.starts_with("cnd_") => self.c11_result(&value),
            _ => value,
        }))
    }

    /// Does the operation, with what it returns.
    fn operate(
        &mut self,
        state: &mut State,
        name: &str,
        operation: &str,
        place: Place,
        args: &Args,
    ) -> Result<Sym, Stop> {
        let zero = Sym::zero(32);
        Ok(match operation {
            "mutex_init" => {
                self.mutex_init(state, name, place, args)?;
                zero
            }
            "mutex_destroy" => {
                self.destroy(state, place)?;
                zero
            }
            "mutex_lock" => self.lock(state, place)?,
            "mutex_trylock" => self.try_lock(state, place)?,
            "mutex_timedlock" => {
                let tried = self.try_lock(state, place)?;
                self.in_time(state, &tried, &args[args.len() - 1])?
            }
            "mutex_unlock" => self.unlock(state, place)?,
            "cond_wait" => {
                let mutex = self.mutex_held(state, name, &args[1])?;
                self.cond_wait(state, place, mutex)?;
                zero
            }
            "cond_timedwait" => {
                let mutex = self.mutex_held(state, name, &args[1])?;
                self.cond_timed_wait(state, place, mutex, &args[args.len() - 1])?
            }
            "cond_signal" | "cond_broadcast" => {
                self.wake(state, place, operation == "cond_broadcast")?;
                zero
            }
            "cond_init" => {
                self.cond_init(state, place)?;
                zero
            }
            "cond_destroy" => {
                self.cond_destroy(state, place)?;
                zero
            }
            "sem_destroy" | "rwlock_destroy" | "barrier_destroy" => {
                self.destroy_cell(state, operation, place)?;
                zero
            }
            "rwlock_init" | "rwlock_rdlock" | "rwlock_wrlock" | "rwlock_tryrdlock"
            | "rwlock_trywrlock" | "rwlock_unlock" => {
                self.read_write_lock(state, operation, place)?
            }
            _ => self.counting(state, operation, place, args)?,
        })
    }

    /// The mutex that a thread gives up to wait: it has looked at its kind when it got it.
    fn mutex_held(&mut self, state: &mut State, name: &str, address: &Sym) -> Result<Place, Stop> {
        let mutex = self.object_at(state, name, address)?;
        self.seen_kind = state.held.contains_key(&mutex).then_some((mutex, None));
        Ok(mutex)
    }

    /// The result of C11 for an error number of POSIX.
    pub(super) fn c11_result(&mut self, error: &Sym) -> Sym {
        const RESULTS: [(u64, u64); 3] = [(0, 0), (EBUSY, 1), (ETIMEDOUT, 4)];
        let mut result = Sym::constant(32, 2);
        for (number, meaning) in RESULTS {
            let is_it = error.is(&mut self.out.bits, number);
            let meaning = Sym::constant(32, meaning);
            result = Sym::ite(&mut self.out.bits, is_it, &meaning, &result);
        }
        result
    }

    /// Operations on synchronisation objects empty the store buffer, also where nobody else uses the object.
    pub(super) fn drain(&mut self, state: &State) {
        if self.options.is_weak && !state.alone {
            self.step(state, StepKind::Fence { stores_only: false }, Order::Plain);
        }
    }

    // ---- critical sections

    /// Mutexes that are destroyed when all their sections are over need no further thought.
    fn find_destroyed(&mut self, fixed: &FixedOrder) {
        for (mutex, step) in self.out.destroyed.clone() {
            let mut others = self.out.destroyed.iter();
            if others.any(|&(other, at)| other == mutex && at != step) {
                self.facts.tangle(mutex);
            }
            for section in &self.out.sections {
                let is_over = section.unlocks.iter().all(|&at| fixed.before(at, step));
                if section.mutex == mutex && (!is_over || self.facts.is_blocking(mutex)) {
                    self.facts.tangle(mutex);
                }
            }
        }
    }

    /// An object is made or destroyed while there are other threads. Whether any of them uses it at that time is seen when all
    /// are encoded.
    pub(super) fn change_later(&mut self, state: &State, place: Place, is_end: bool) {
        let step = self.step(state, StepKind::Sync, Order::SeqCst);
        self.out.steps[step].object = Some(place);
        self.out.changes.push(Change {
            place,
            step: Some(step),
            is_end,
        });
    }

    /// Finds objects that are made or destroyed where others may be using them: what becomes of them is seen from their cells.
    fn find_changed_in_use(&mut self, fixed: &FixedOrder) {
        for change in &self.out.changes {
            let steps = self.out.steps.iter().enumerate();
            let uses = steps.filter(|(_, step)| step.object == Some(change.place));
            let mut uses = uses.map(|(at, _)| at).filter(|&at| Some(at) != change.step);
            let is_fine = match change.step {
                // It was destroyed before there were other threads.
                None => uses.next().is_none(),
                Some(step) => {
                    let mut later = uses.clone();
                    uses.all(|at| fixed.before(at, step))
                        || !change.is_end && later.all(|at| fixed.before(step, at))
                }
            };
            if !is_fine {
                self.facts.watch(change.place);
            }
        }
    }

    pub(super) fn leave(&mut self, state: &State, section: usize, step: usize) {
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
        let step = self.step(state, StepKind::Fault, Order::SeqCst);
        for section in sections {
            self.leave(state, section, step);
        }
    }

    /// Finds mutexes that a thread may wait for in vain: see the top of this file.
    pub(super) fn find_blocking(&mut self) {
        let fixed = FixedOrder::new(&self.out);
        self.find_destroyed(&fixed);
        self.find_changed_in_use(&fixed);
        self.find_made_in_use(&fixed);
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

    // ---- one-time initialisers

    /// Whoever comes first is to run the function, and gets 0; others wait until it has been run, and get 1.
    pub(super) fn begin_once(&mut self, state: &mut State, place: Place) -> Result<Sym, Stop> {
        let running = Sym::constant(32, u64::from(RUNNING));
        let rule = Some(Rule::Not(RUNNING));
        let (old, step) = self.change_cell(state, place, rule, |encoder, old| {
            let is_fresh = encoder.out.bits.is_zero(&old.word);
            Sym::ite(&mut encoder.out.bits, is_fresh, &running, old)
        })?;
        let is_fresh = self.out.bits.is_zero(&old.word);
        self.hand_over(step, Handover::acquire(!is_fresh));
        let (fresh, done) = (Sym::zero(64), Sym::constant(64, 1));
        Ok(Sym::ite(&mut self.out.bits, is_fresh, &fresh, &done))
    }

    /// The function has been run.
    pub(super) fn end_once(&mut self, state: &mut State, place: Place) -> Result<(), Stop> {
        let done = Sym::constant(32, u64::from(DONE));
        let (_, step) = self.change_cell(state, place, None, |_, _| done)?;
        self.hand_over(step, Handover::release(Bit::TRUE));
        Ok(())
    }
}

/// The operation that a function of the library is; functions that do the same have one name.
fn operation(name: &str) -> Option<&'static str> {
    Some(match name {
        "pthread_mutex_init" | "pthread_spin_init" | "mtx_init" => "mutex_init",
        "pthread_mutex_destroy" | "pthread_spin_destroy" | "mtx_destroy" => "mutex_destroy",
        "pthread_mutex_lock" | "pthread_spin_lock" | "mtx_lock" => "mutex_lock",
        "pthread_mutex_trylock" | "pthread_spin_trylock" | "mtx_trylock" => "mutex_trylock",
        "pthread_mutex_unlock" | "pthread_spin_unlock" | "mtx_unlock" => "mutex_unlock",
        "pthread_cond_init"
        | "cnd_init"
        | "_ZNSt18condition_variableC1Ev"
        | "_ZNSt18condition_variableC2Ev" => "cond_init",
        "pthread_cond_destroy"
        | "cnd_destroy"
        | "_ZNSt18condition_variableD1Ev"
        | "_ZNSt18condition_variableD2Ev" => "cond_destroy",
        "pthread_cond_wait" | "cnd_wait" => "cond_wait",
        "pthread_cond_signal" | "cnd_signal" | "_ZNSt18condition_variable10notify_oneEv" => {
            "cond_signal"
        }
        "pthread_cond_timedwait" | "pthread_cond_clockwait" | "cnd_timedwait" => "cond_timedwait",
        "pthread_mutex_timedlock" | "pthread_mutex_clocklock" | "mtx_timedlock" => {
            "mutex_timedlock"
        }
        "pthread_cond_broadcast" | "cnd_broadcast" | "_ZNSt18condition_variable10notify_allEv" => {
            "cond_broadcast"
        }
        "sem_init" => "sem_init",
        "sem_destroy" => "sem_destroy",
        "sem_wait" => "sem_wait",
        "sem_trywait" => "sem_trywait",
        "sem_timedwait" | "sem_clockwait" => "sem_timedwait",
        "sem_post" => "sem_post",
        "sem_getvalue" => "sem_getvalue",
        "pthread_rwlock_init" => "rwlock_init",
        "pthread_rwlock_destroy" => "rwlock_destroy",
        "pthread_rwlock_rdlock" => "rwlock_rdlock",
        "pthread_rwlock_wrlock" => "rwlock_wrlock",
        "pthread_rwlock_unlock" => "rwlock_unlock",
        "pthread_rwlock_timedrdlock" | "pthread_rwlock_clockrdlock" => "rwlock_timedrdlock",
        "pthread_rwlock_timedwrlock" | "pthread_rwlock_clockwrlock" => "rwlock_timedwrlock",
        "pthread_rwlock_tryrdlock" => "rwlock_tryrdlock",
        "pthread_rwlock_trywrlock" => "rwlock_trywrlock",
        "pthread_barrier_init" => "barrier_init",
        "pthread_barrier_destroy" => "barrier_destroy",
        "pthread_barrier_wait" => "barrier_wait",
        _ => return None,
    })
}
