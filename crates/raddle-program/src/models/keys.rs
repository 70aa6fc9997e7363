//! Thread-specific data and destructors of thread-local variables.
//!
//! A thread's values are part of its local state. Which destructor a key has is known to all threads: a table in shared
//! memory, read only at the end of threads that have values. Keys are never given out twice, so values of a deleted key
//! cannot turn up under another.

use super::errno::EAGAIN;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Op, Order, RmwKind};

pub(super) const MODELS: &[Model] = &[
    model("pthread_key_create", key_create),
    model("__pthread_key_create", key_create),
    model("pthread_key_delete", key_delete),
    model("pthread_getspecific", get_specific),
    model("pthread_setspecific", set_specific).capturing(&[1]),
    model("__cxa_thread_atexit", at_thread_exit).capturing(&[1]),
    model("__cxa_thread_atexit_impl", at_thread_exit).capturing(&[1]),
];

/// Kinds of values that a thread keeps.
const VALUES: u32 = 1;
const EXIT_FUNCTIONS: u32 = 2;
const EXIT_ARGUMENTS: u32 = 3;

const MOST_KEYS: u64 = 1024;
/// `PTHREAD_DESTRUCTOR_ITERATIONS`.
const ROUNDS: u32 = 4;

/// How many keys there are, then the destructor of each. Key 0 is never given out: zeroed memory is no key.
fn table(cx: &mut Script<'_, '_>) -> Result<u64, Pause> {
    cx.global_object("thread-specific keys", 8 * (MOST_KEYS + 1))
}

pub(super) fn key_create(cx: &mut Script<'_, '_>) -> ModelResult {
    let table = table(cx)?;
    let given = cx.rmw(table, 8, RmwKind::Add, 1, Order::SeqCst)?;
    let key = given.saturating_add(1);
    if key > MOST_KEYS {
        return Ok(Outcome::Return(EAGAIN));
    }
    if cx.arg(1) != 0 {
        cx.store(table + 8 * key, 8, cx.arg(1), Order::SeqCst)?;
    }
    cx.store(cx.arg(0), 4, key, Order::Plain)?;
    Ok(Outcome::Return(0))
}

pub(super) fn key_delete(cx: &mut Script<'_, '_>) -> ModelResult {
    let key = cx.arg(0) & 0xFFFF_FFFF;
    if (1..=MOST_KEYS).contains(&key) {
        let table = table(cx)?;
        cx.store(table + 8 * key, 8, 0, Order::SeqCst)?;
    }
    Ok(Outcome::Return(0))
}

pub(super) fn get_specific(cx: &mut Script<'_, '_>) -> ModelResult {
    let key = cx.arg(0) & 0xFFFF_FFFF;
    Ok(Outcome::Return(cx.thread_value(VALUES, key)?))
}

pub(super) fn set_specific(cx: &mut Script<'_, '_>) -> ModelResult {
    let key = cx.arg(0) & 0xFFFF_FFFF;
    cx.set_thread_value(VALUES, key, cx.arg(1))?;
    Ok(Outcome::Return(0))
}

/// Registers the destructor of a thread-local variable.
fn at_thread_exit(cx: &mut Script<'_, '_>) -> ModelResult {
    let (function, argument) = (cx.arg(0), cx.arg(1));
    let key = cx.last_exit_function()? + 1;
    cx.set_thread_value(EXIT_FUNCTIONS, key, function)?;
    cx.set_thread_value(EXIT_ARGUMENTS, key, argument)?;
    Ok(Outcome::Return(0))
}

impl Script<'_, '_> {
    /// What a thread does at its very end: destructors of thread-local variables, last one first, and then those of
    /// thread-specific data, round by round as long as they leave values behind.
    pub(super) fn run_destructors(&mut self) -> Result<(), Pause> {
        self.run_thread_exit_functions()?;
        for _ in 0..ROUNDS {
            if !self.destroy_values()? {
                break;
            }
        }
        Ok(())
    }

    /// The same, and then the end of the thread's copies of thread-local variables: who has an address of one may not use it any more.
    pub(super) fn end_thread(&mut self) -> Result<(), Pause> {
        self.run_destructors()?;
        // Symbolic engines know themselves which ones there are.
        for object in self.machine.state.mortal_locals.clone() {
            self.op(Op::Free { object })?;
        }
        Ok(())
    }

    /// Destructors of thread-local variables, last one first.
    pub(super) fn run_thread_exit_functions(&mut self) -> Result<(), Pause> {
        while let Some((function, argument)) = self.pop_exit_function()? {
            self.call(function, &[argument])?;
        }
        Ok(())
    }

    /// The key of the function that was registered last, or 0.
    fn last_exit_function(&mut self) -> Result<u64, Pause> {
        let mut last = 0;
        loop {
            match self.next_thread_key(EXIT_FUNCTIONS, last)? {
                0 => return Ok(last),
                next => last = next,
            }
        }
    }

    fn pop_exit_function(&mut self) -> Result<Option<(u64, u64)>, Pause> {
        let key = self.last_exit_function()?;
        if key == 0 {
            return Ok(None);
        }
        let function = self.thread_value(EXIT_FUNCTIONS, key)?;
        let argument = self.thread_value(EXIT_ARGUMENTS, key)?;
        self.set_thread_value(EXIT_FUNCTIONS, key, 0)?;
        self.set_thread_value(EXIT_ARGUMENTS, key, 0)?;
        Ok(Some((function, argument)))
    }

    /// One round over the keys: was any destructor called?
    fn destroy_values(&mut self) -> Result<bool, Pause> {
        let mut called = self.run_guard()?;
        let mut done = 0;
        loop {
            let key = self.next_thread_key(VALUES, done)?;
            if key == 0 {
                return Ok(called);
            }
            done = key;
            let value = self.thread_value(VALUES, key)?;
            if key > MOST_KEYS {
                continue;
            }
            let table = table(self)?;
            let destructor = self.load(table + 8 * key, 8, Order::SeqCst)?;
            if destructor == 0 {
                continue;
            }
            self.set_thread_value(VALUES, key, 0)?;
            self.call(destructor, &[value])?;
            called = true;
        }
    }
}
