//! POSIX threads: their lives and attributes. See `locks`, `waiting` and `keys` for the rest.
//!
//! An attribute object holds, where libraries have their own secrets, the detach state in its first eight bytes and the
//! stack size in the next eight: only these models look at it.

use super::errno::{EINVAL, ENOSYS, int, zero};
use super::{Entry, Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::{Fault, Misuse};
use crate::op::{Op, Order};

pub(super) const MODELS: &[Model] = &[
    model("pthread_create", create).capturing(&[3]),
    model("pthread_join", join),
    model("pthread_detach", detach),
    model("pthread_self", own_handle),
    model("pthread_equal", equal),
    model("pthread_yield", zero),
    model("sched_yield", zero).no_op(),
    model("pthread_attr_init", attr_init),
    model("pthread_attr_destroy", zero),
    model("pthread_attr_setdetachstate", attr_set_detached),
    model("pthread_attr_getdetachstate", attr_get_detached),
    model("pthread_attr_setstacksize", attr_set_stack_size),
    model("pthread_attr_getstacksize", attr_get_stack_size),
    model("pthread_attr_getstack", attr_get_stack),
    model("pthread_attr_getguardsize", attr_get_guard_size),
    model("pthread_attr_setguardsize", zero),
    model("pthread_attr_setscope", zero),
    model("pthread_attr_setschedpolicy", zero),
    model("pthread_attr_setschedparam", zero),
    model("pthread_attr_setinheritsched", zero),
    model("pthread_attr_setaffinity_np", zero),
    model("pthread_getattr_np", attr_of_thread),
    model("pthread_setconcurrency", zero),
    model("pthread_getconcurrency", zero),
    model("pthread_setname_np", set_name),
    model("pthread_getname_np", get_name),
    model("pthread_setschedparam", zero),
    model("pthread_setschedprio", zero),
    model("pthread_setaffinity_np", zero),
    model("pthread_getaffinity_np", get_affinity),
    model("pthread_sigmask", zero),
];

/// `(thread, name)`: only reports show it.
fn set_name(cx: &mut Script<'_, '_>) -> ModelResult {
    let thread = cx.thread();
    let own = cx.tables().handle_of_thread(thread);
    if !cx.asks() && cx.arg(0) == own {
        let name = cx.text(cx.arg(1))?;
        cx.tables().give_name(thread, &name);
    }
    int(0)
}

const DETACHED: u64 = 1;
/// Where attribute objects hold what they are set to.
const DETACH_STATE: u64 = 0;
const STACK_SIZE: u64 = 8;
/// What a thread has unless it asks for something else.
const DEFAULT_STACK: u64 = 8 << 20;
const PAGE: u64 = 4096;

fn create(cx: &mut Script<'_, '_>) -> ModelResult {
    let entry = Entry::Function(cx.arg(2));
    let is_detached = match cx.arg(1) {
        0 => false,
        attributes => cx.load(attributes.wrapping_add(DETACH_STATE), 8, Order::Plain)? == DETACHED,
    };
    // The handle is stored before the thread runs, as libraries do: the thread may read it.
    let handle = cx.new_thread(&entry)?;
    cx.store(cx.arg(0), cx.word(), handle, Order::Plain)?;
    cx.start_thread(handle, &entry, &[cx.arg(3)])?;
    if is_detached {
        let thread = cx.thread_of(handle)?;
        cx.op(Op::Detach { thread })?;
    }
    Ok(Outcome::Return(0))
}

fn join(cx: &mut Script<'_, '_>) -> ModelResult {
    let joined = cx.wait_uncancelled(|cx| cx.join(cx.arg(0)))?;
    let value = match joined {
        Ok(value) => value,
        Err(leaves) => return Ok(leaves),
    };
    cx.receive_panic(value)?;
    if cx.arg(1) != 0 {
        cx.store_pointer(cx.arg(1), value)?;
    }
    Ok(Outcome::Return(0))
}

fn detach(cx: &mut Script<'_, '_>) -> ModelResult {
    let thread = cx.thread_of(cx.arg(0))?;
    Ok(Outcome::Return(cx.op(Op::Detach { thread })?))
}

pub(super) fn own_handle(cx: &mut Script<'_, '_>) -> ModelResult {
    let thread = cx.thread();
    Ok(Outcome::Return(cx.tables().handle_of_thread(thread)))
}

pub(super) fn equal(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(u64::from(cx.arg(0) == cx.arg(1))))
}

// ---- attributes

fn attr_init(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(0).wrapping_add(DETACH_STATE), 8, 0, Order::Plain)?;
    cx.store(
        cx.arg(0).wrapping_add(STACK_SIZE),
        8,
        DEFAULT_STACK,
        Order::Plain,
    )?;
    Ok(Outcome::Return(0))
}

fn attr_set_detached(cx: &mut Script<'_, '_>) -> ModelResult {
    let state = cx.arg(1) & 0xFFFF_FFFF;
    if state > DETACHED {
        return Ok(Outcome::Return(EINVAL));
    }
    cx.store(cx.arg(0).wrapping_add(DETACH_STATE), 8, state, Order::Plain)?;
    Ok(Outcome::Return(0))
}

fn attr_get_detached(cx: &mut Script<'_, '_>) -> ModelResult {
    let state = cx.load(cx.arg(0).wrapping_add(DETACH_STATE), 8, Order::Plain)?;
    cx.store(cx.arg(1), 4, state, Order::Plain)?;
    Ok(Outcome::Return(0))
}

fn attr_set_stack_size(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(
        cx.arg(0).wrapping_add(STACK_SIZE),
        8,
        cx.arg(1),
        Order::Plain,
    )?;
    Ok(Outcome::Return(0))
}

fn attr_get_stack_size(cx: &mut Script<'_, '_>) -> ModelResult {
    let size = cx.load(cx.arg(0).wrapping_add(STACK_SIZE), 8, Order::Plain)?;
    cx.store(cx.arg(1), cx.word(), size, Order::Plain)?;
    Ok(Outcome::Return(0))
}

/// The stack has no address: variables are objects of their own. An address where nothing else is will do for the
/// arithmetic that runtimes do with it.
fn attr_get_stack(cx: &mut Script<'_, '_>) -> ModelResult {
    const NOWHERE: u64 = 0x10_0000;
    let size = cx.load(cx.arg(0).wrapping_add(STACK_SIZE), 8, Order::Plain)?;
    cx.store(cx.arg(1), cx.word(), NOWHERE, Order::Plain)?;
    cx.store(cx.arg(2), cx.word(), size, Order::Plain)?;
    Ok(Outcome::Return(0))
}

fn attr_get_guard_size(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(1), cx.word(), PAGE, Order::Plain)?;
    Ok(Outcome::Return(0))
}

fn attr_of_thread(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(1).wrapping_add(DETACH_STATE), 8, 0, Order::Plain)?;
    cx.store(
        cx.arg(1).wrapping_add(STACK_SIZE),
        8,
        DEFAULT_STACK,
        Order::Plain,
    )?;
    Ok(Outcome::Return(0))
}

// ---- names, processors

fn get_name(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.arg(2) > 0 {
        cx.store(cx.arg(1), 1, 0, Order::Plain)?;
    }
    Ok(Outcome::Return(0))
}

/// Processors have no part in this; callers have to live without the answer.
fn get_affinity(_: &mut Script<'_, '_>) -> ModelResult {
    int(ENOSYS as i32)
}

impl Script<'_, '_> {
    /// Waits for the thread behind a handle, and returns its value.
    pub(super) fn join(&mut self, handle: u64) -> Result<u64, Pause> {
        let thread = self.thread_of(handle)?;
        if thread == self.thread() {
            return Err(Fault::Misuse {
                misuse: Misuse::JoinSelf,
                object: None,
                thread: Some(thread),
            }
            .into());
        }
        if self.is_in_atomic_block() {
            // Others would have to go on in the middle of the block.
            return Err(self.unsupported("waits for a thread inside of an atomic block"));
        }
        self.op(Op::Join { thread })
    }
}
