//! Locks, and everything else that threads wait at.
//!
//! A synchronisation object is a cell of 32 bits beside the object's bytes. An operation reads and writes it as one step, and
//! happens only if the value read allows it. Mutexes whose critical sections are known from the text are not cells: their
//! sections are put in order as a whole.

use super::flow::After;
use super::library::{Args, misused};
use super::{Encoder, unsupported, unsupported_call};
use crate::events::{Awaited, Wait, What};
use crate::facts::Region;
use crate::state::State;
use crate::value::Sym;
use raddle_order::bits::Bit;
use raddle_program::{AccessKind, Misuse, ObjectId, Order, Stop};

/// Where the kind of a mutex lies in its static initialiser.
const MUTEX_KIND: u64 = 16;
/// What trying in vain returns.
const EBUSY: u64 = 16;

/// The place of a synchronisation object.
type Place = (ObjectId, u64);

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

    /// Operations that may wait, and their relatives. None if `name` is none of them.
    pub(super) fn waiting(
        &mut self,
        state: &mut State,
        name: &str,
        args: &Args,
        width: u32,
    ) -> Result<Option<After>, Stop> {
        let _ = width;
        match name {
            "pthread_mutex_init"
            | "pthread_mutex_lock"
            | "pthread_mutex_unlock"
            | "pthread_mutex_destroy" => {}
            _ => return Ok(None),
        }
        let mutex = self.object_at(state, name, &args[0])?;
        self.check_alive(state, mutex.0, Bit::TRUE, AccessKind::Update)?;
        match name {
            "pthread_mutex_lock" => self.lock(state, mutex)?,
            "pthread_mutex_unlock" => self.unlock(state, mutex)?,
            "pthread_mutex_init" if args[1].as_constant() != Some(0) => {
                return Err(unsupported_call(name, "mutexes with attributes"));
            }
            _ => {}
        }
        Ok(None)
    }

    fn lock(&mut self, _state: &mut State, _mutex: Place) -> Result<(), Stop> {
        let _ = (EBUSY, MUTEX_KIND, misused(Misuse::UnlockUnlocked));
        Err(unsupported("mutexes"))
    }

    fn unlock(&mut self, _state: &mut State, _mutex: Place) -> Result<(), Stop> {
        Err(unsupported("mutexes"))
    }

    // ---- cells

    /// Reads a synchronisation cell.
    pub(super) fn read_sync(
        &mut self,
        state: &mut State,
        (region, offset): (Region, u64),
        condition: Bit,
        what: What,
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

    fn peek(&mut self, state: &mut State, region: Region, offset: u64) -> Result<Sym, Stop> {
        if !state.own.contains_key(&region) {
            let contents = self.first_contents(region)?;
            state.own.insert(region, contents);
        }
        Ok(state.own[&region].load(offset, 4))
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
            std::rc::Rc::make_mut(contents).store_if(
                &mut self.out.bits,
                condition,
                (offset, 4),
                &new,
            );
            return Ok(());
        }
        let mut accesses = Vec::new();
        let old = self.read(state, (region, offset), 4, condition, &mut accesses)?;
        let new = change(self, &old);
        self.write(state, (region, offset), &new, condition, &mut accesses)?;
        let step = self.step(state, What::Life, Order::SeqCst);
        self.out.steps[step].accesses = accesses;
        Ok(())
    }
}
