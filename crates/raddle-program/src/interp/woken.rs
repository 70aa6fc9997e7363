//! Spurious wake-ups from condition variables.
//!
//! A thread that wakes up spuriously, looks around and waits again is where it was: with executions in which it sleeps on, nothing
//! is lost. That is what loops do that check their condition again, so they cost no executions that run to their end. To look around
//! is to do operations that leave memory as it was. Others can tell that the mutex was taken meanwhile only by trying to lock it;
//! programs that do so have all wake-ups ([`World::has_try_locks`]).
//!
//! The condition variables of Rust's library are code like any other, on top of futexes. Their wake-ups are the shortest ones: the call that
//! waits does nothing, as if the thread had woken up at once and got the mutex before all others.
//!
//! [`World::has_try_locks`]: super::world::World::has_try_locks

use super::iterations::leaves_memory;
use super::local::{Local, ThreadState};
use super::machine::Machine;
use crate::models::{ModelId, WAITED, looks_at_clocks};
use crate::op::{ChoiceOf, Op, Value};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// Kind of thread values: where a thread has woken up spuriously.
pub(crate) const WOKEN: u32 = 9;

/// A thread at the call by which it waits: all that its future depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wait {
    model: ModelId,
    args: SmallVec<[u64; 4]>,
    /// Without iterations of loops, and what it woke up from before.
    thread: ThreadState,
}

impl Wait {
    pub(crate) fn new(state: &ThreadState, model: ModelId, args: SmallVec<[u64; 4]>) -> Self {
        let mut thread = state.clone();
        thread.woken = None;
        thread.loops.clear();
        thread.forget_failures();
        Self {
            model,
            args,
            thread,
        }
    }
}

/// What becomes of a call of Rust's library that waits.
pub(crate) enum RustWait {
    Goes,
    Chooses(Op),
    /// It returns at once.
    Wakes,
}

impl Machine<'_> {
    /// Forgets the wait that the thread woke up from, if others can see the operation that returned.
    pub(crate) fn note_after_wakeup(&mut self, local: &Local, value: Value) {
        let leaves = || leaves_memory(self.tables, &local.op, value);
        if self.state.woken.is_some() && (local.thread.atomic_depth > 0 || !leaves()) {
            self.state.woken = None;
        }
    }

    /// Does a call that waits on a condition variable of Rust's library return at once? Its caller is on top.
    pub(crate) fn rust_wait(&mut self) -> RustWait {
        if !self.world.options.spurious_wakeups {
            return RustWait::Goes;
        }
        let mut place = FxHasher::default();
        let frame = self.frame();
        (frame.code.function, frame.block, frame.index).hash(&mut place);
        self.place_of_call().hash(&mut place);
        let place = (WOKEN, place.finish());
        let chosen = self.frame().log.first().copied();
        match chosen {
            _ if self.state.slots.contains_key(&place) => RustWait::Goes,
            None => RustWait::Chooses(Op::Choice {
                count: 2,
                of: ChoiceOf::Waking,
            }),
            Some(0) => RustWait::Goes,
            Some(_) => {
                self.state.slots.insert(place, 1);
                if looks_at_clocks(&self.world.module) {
                    self.state.slots.insert((WAITED, 0), 1);
                }
                RustWait::Wakes
            }
        }
    }
}

/// `std::sys::…::condvar::futex::Condvar::wait`, or `wait_timeout`.
pub(crate) fn is_rust_wait(name: &str) -> bool {
    let calls = ["7Condvar4wait", "7Condvar12wait_timeout"];
    name.contains("7condvar5futex") && calls.iter().any(|call| name.contains(call))
}
