//! Exceptions: what the C++ ABI asks of the library, and the way of an exception up the stack.
//!
//! An exception is a heap block: a head, and the object that was thrown. What a thread has thrown and caught is known to it alone, as
//! values of the thread, up to the moment when an `exception_ptr` may carry it elsewhere: then type, destructor and the number of owners
//! are written to the head.
//!
//! Landing pads get a number for the exception, which the program hands back without looking at it: the address of the head, or, of one
//! that was thrown by way of an `exception_ptr`, a small number of the thread's.

use super::errno::zero;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::{Fault, Leaves, PanicEnd, Stop, Unsupported};
use crate::interp::machine::Machine;
use crate::interp::unwind::{Met, Pad};
use crate::op::{Order, RmwKind, SyncAction};
use raddle_ir::inst::Clause;

pub(super) const MODELS: &[Model] = &[
    model("raddle.unwind", unwind),
    model("_Unwind_Resume", resume),
    model("__cxa_allocate_exception", allocate),
    model("__cxa_free_exception", free),
    model("__cxa_init_primary_exception", initialise),
    model("__cxa_throw", throw),
    model("__cxa_rethrow", rethrow),
    model("__cxa_begin_catch", begin_catch),
    model("__cxa_end_catch", end_catch),
    model("__cxa_get_exception_ptr", caught_object),
    model("__cxa_current_exception_type", current_type),
    model("__cxa_call_unexpected", unexpected),
    model("__cxa_call_terminate", unexpected),
    model("_ZSt18uncaught_exceptionv", is_unwinding),
    model("_ZSt19uncaught_exceptionsv", uncaught),
    model("__cxa_uncaught_exceptions", uncaught),
    model("_ZSt9terminatev", terminate),
    model("_ZSt13set_terminatePFvvE", set_terminate),
    model("_ZSt13get_terminatev", get_terminate),
    // std::exception_ptr: the address of the object that was thrown
    model("_ZSt17current_exceptionv", current_exception),
    model(
        "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
        rethrow_pointer,
    ),
    model("_ZNSt15__exception_ptr13exception_ptrC1EPv", pointer_init),
    model("_ZNSt15__exception_ptr13exception_ptrC2EPv", pointer_init),
    model("_ZNSt15__exception_ptr13exception_ptrC1Ev", pointer_null),
    model("_ZNSt15__exception_ptr13exception_ptrC2Ev", pointer_null),
    model("_ZNSt15__exception_ptr13exception_ptrC1EDn", pointer_null),
    model("_ZNSt15__exception_ptr13exception_ptrC2EDn", pointer_null),
    model(
        "_ZNSt15__exception_ptr13exception_ptrC1ERKS0_",
        pointer_copy,
    ),
    model(
        "_ZNSt15__exception_ptr13exception_ptrC2ERKS0_",
        pointer_copy,
    ),
    model(
        "_ZNSt15__exception_ptr13exception_ptraSERKS0_",
        pointer_assign,
    ),
    model("_ZNSt15__exception_ptr13exception_ptrD1Ev", pointer_release),
    model("_ZNSt15__exception_ptr13exception_ptrD2Ev", pointer_release),
    model(
        "_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv",
        pointer_share,
    ),
    model(
        "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv",
        pointer_release,
    ),
    model(
        "_ZNSt15__exception_ptr13exception_ptr4swapERS0_",
        pointer_swap,
    ),
    model(
        "_ZNKSt15__exception_ptr13exception_ptr6_M_getEv",
        pointer_get,
    ),
    model(
        "_ZNKSt15__exception_ptr13exception_ptr20__cxa_exception_typeEv",
        pointer_type,
    ),
    model("__gxx_personality_v0", zero),
];

/// The head of an exception, and what is where in it.
const HEAD: u64 = 32;
const OWNERS: u64 = 0;
const TYPE: u64 = 8;
const DESTRUCTOR: u64 = 16;
const ALIGN: u64 = 16;

/// Values that a thread keeps of exceptions that are on their way or caught, by the number that landing pads get.
const TYPE_OF: u32 = 0x4558_0001;
/// What handlers get if no base of it is wanted: the address of the object, or the pointer that was thrown.
const OBJECT_OF: u32 = 0x4558_0002;
const CAUGHT_AS: u32 = 0x4558_0003;
/// Of one that only this thread knows.
const DESTRUCTOR_OF: u32 = 0x4558_0004;
/// The head of one that others may own, too.
const SHARED_HEAD_OF: u32 = 0x4558_0005;
/// Exceptions being handled, by depth from 1 on: the number, and how many handlers have it (negative: it was thrown again).
const HANDLED: u32 = 0x4558_0006;
const HANDLERS: u32 = 0x4558_0007;
/// Single values, by these keys.
const COUNTS: u32 = 0x4558_0008;
const DEPTH: u64 = 1;
const UNCAUGHT: u64 = 2;

/// Where the program's own terminate handler is kept.
const TERMINATE_HANDLER: &str = "terminate handler";

/// `raddle.unwind`: the head; then, where the exception sets out, 1. Type and object are the thread's.
const SETS_OUT: usize = 1;

// ---- the way up

/// Looks for a handler before anything is unwound, as the library does: without one, the program ends where the exception was thrown.
/// Then leaves frame by frame, up to the next landing pad.
fn unwind(cx: &mut Script<'_, '_>) -> ModelResult {
    const SEARCHED: usize = 0;
    let head = cx.arg(0);
    if cx.arg(SETS_OUT) != 0 && cx.var(SEARCHED) == 0 {
        if let Some(leaves) = search(cx, head)? {
            return Err(cx.leaves(head, leaves)?);
        }
        cx.set_var(SEARCHED, 1);
        cx.checkpoint();
    }
    loop {
        let link = cx.machine.frames_below().next();
        let met = match link {
            Some(link) => cx.machine.met(&link)?,
            None => None,
        };
        match met {
            Some(Met::Code {
                pad, owned, atomic, ..
            }) => {
                if let Some(pad) = pad
                    && let Some((selector, object)) = lands(cx, head, &pad)?
                {
                    cx.set_thread_value(CAUGHT_AS, head, object)?;
                    if selector != 0 {
                        cx.note_landing()?;
                    }
                    return Ok(Outcome::Land {
                        block: pad.block,
                        values: vec![head, selector],
                    });
                }
                for object in owned {
                    cx.op(crate::op::Op::Free { object })?;
                }
                cx.perform(|machine| Ok(machine.leave_atomic_frame(atomic)))?;
            }
            Some(Met::Model(frame)) => match passes(&frame) {
                Passes::Through => {}
                Passes::Once => {
                    cx.sync(
                        frame.args.first().copied().unwrap_or(0),
                        SyncAction::OnceAbort,
                    )?;
                }
                Passes::Printing => cx.leave_printing(&frame.vars)?,
                Passes::Not(leaves) => return Err(cx.leaves(head, leaves)?),
            },
            None => return Err(cx.leaves(head, Leaves::Thread)?),
        }
        cx.machine.leave_frame_below();
        cx.checkpoint();
    }
}

/// What an exception may not leave, if it would on its way.
pub(super) fn search(cx: &mut Script<'_, '_>, head: u64) -> Result<Option<Leaves>, Pause> {
    for link in cx.machine.frames_below() {
        match cx.machine.met(&link)? {
            // Whether anything is unwound before that is left to the implementation.
            Some(Met::Code { pad: Some(pad), .. }) if pad.terminates => {
                let others = cx.value(COUNTS, UNCAUGHT) > 1;
                return Ok(Some(match others {
                    true => Leaves::Cleanup,
                    false => Leaves::Function,
                }));
            }
            Some(Met::Code { pad: Some(pad), .. }) => {
                if lands(cx, head, &pad)?.is_some_and(|(selector, _)| selector != 0) {
                    return Ok(None);
                }
            }
            Some(Met::Code { .. }) => {}
            Some(Met::Model(frame)) => {
                if let Passes::Not(leaves) = passes(&frame) {
                    return Ok(Some(leaves));
                }
            }
            None => break,
        }
    }
    Ok(Some(Leaves::Thread))
}

/// Does a landing pad do more than clean up?
pub(super) fn catches(pad: &Pad) -> bool {
    !pad.clauses.is_empty()
}

/// What becomes of an exception that a function throws which a library function has called.
enum Passes {
    Through,
    /// `pthread_once`: the initialiser is to be run again.
    Once,
    /// `print!`: the lock of the stream is to be given back.
    Printing,
    Not(Leaves),
}

fn passes(frame: &crate::interp::local::NativeFrame) -> Passes {
    match super::get(frame.model).name {
        "pthread_once" => Passes::Once,
        super::rust::PRINT | super::rust::PRINT_ERROR => Passes::Printing,
        "__once_proxy"
        | "qsort"
        | "bsearch"
        | "raddle.pause"
        | super::panics::PANIC
        | super::rust::WRITE_FMT => Passes::Through,
        "raddle.main" => Passes::Not(Leaves::Main),
        "raddle.thread" | super::cxx::THREAD => Passes::Not(Leaves::Thread),
        _ => Passes::Not(Leaves::Function),
    }
}

/// The selector, and what the handler gets, if the exception lands here: 0 where it is for cleaning up only.
fn lands(cx: &mut Script<'_, '_>, head: u64, pad: &Pad) -> Result<Option<(u64, u64)>, Pause> {
    let (thrown, object) = (cx.value(TYPE_OF, head), cx.value(OBJECT_OF, head));
    for (index, clause) in pad.clauses.iter().enumerate() {
        match *clause {
            Clause::Catch(wanted) => {
                let wanted = cx.machine.constant(wanted)?.first().copied().unwrap_or(0);
                let caught = match (wanted, thrown) {
                    (0, _) => Some(object),
                    // Of another language.
                    (_, 0) => None,
                    _ => cx.caught_as(wanted, thrown, object)?,
                };
                if let Some(object) = caught {
                    return Ok(Some((Machine::type_selector(wanted), object)));
                }
            }
            Clause::Filter(types) => {
                let mut is_allowed = false;
                for wanted in cx.machine.filter_types(types)? {
                    is_allowed |= thrown != 0 && cx.caught_as(wanted, thrown, object)?.is_some();
                }
                if !is_allowed {
                    let selector = -1 - index as i32;
                    return Ok(Some((u64::from(selector as u32), object)));
                }
            }
        }
    }
    Ok(pad.cleanup.then_some((0, object)))
}

fn resume(cx: &mut Script<'_, '_>) -> ModelResult {
    refuse_where_asked(cx)?;
    Ok(Outcome::Raise(vec![cx.arg(0)]))
}

/// Engines that do not run threads do not unwind.
pub(super) fn refuse_where_asked(cx: &Script<'_, '_>) -> Result<(), Pause> {
    if cx.asks() {
        return Err(Pause::Stop(Stop::Unsupported(Unsupported::Unwind)));
    }
    Ok(())
}

impl Script<'_, '_> {
    /// A value of the thread, looked at without a step: only the model on top changes it.
    fn value(&self, kind: u32, key: u64) -> u64 {
        let values = &self.machine.state.slots;
        values.get(&(kind, key)).copied().unwrap_or(0)
    }

    fn count(&mut self, key: u64, by: i64) -> Result<(), Pause> {
        let now = self.thread_value(COUNTS, key)?;
        self.set_thread_value(COUNTS, key, now.wrapping_add_signed(by))
    }

    /// Sends an exception on its way.
    fn raise(&mut self, number: u64, type_info: u64, object: u64) -> ModelResult {
        // Of a pointer, handlers get the value.
        let object = if self.is_pointer_type(type_info)? {
            self.load(object, 8, Order::Plain)?
        } else {
            object
        };
        self.set_thread_value(TYPE_OF, number, type_info)?;
        self.set_thread_value(OBJECT_OF, number, object)?;
        self.count(UNCAUGHT, 1)?;
        Ok(Outcome::Raise(vec![number, 1]))
    }

    /// Throws an object in a block of [`Self::new_exception`].
    pub(super) fn throw_object(
        &mut self,
        object: u64,
        type_info: u64,
        destructor: u64,
    ) -> ModelResult {
        let head = object.wrapping_sub(HEAD);
        self.set_thread_value(DESTRUCTOR_OF, head, destructor)?;
        self.raise(head, type_info, object)
    }

    /// A new exception with room for an object: the object's address.
    pub(super) fn new_exception(&mut self, size: u64) -> Result<u64, Pause> {
        let head = self.allocate(HEAD.saturating_add(size), ALIGN)?;
        match head {
            0 => Err(self.unsupported("an exception of that size")),
            _ => Ok(head + HEAD),
        }
    }

    fn write_head(
        &mut self,
        head: u64,
        type_info: u64,
        destructor: u64,
        owners: u64,
    ) -> Result<(), Pause> {
        self.store(head.wrapping_add(TYPE), 8, type_info, Order::Plain)?;
        self.store(head.wrapping_add(DESTRUCTOR), 8, destructor, Order::Plain)?;
        self.store(head.wrapping_add(OWNERS), 8, owners, Order::Plain)
    }

    /// The end of the program for an exception that nobody catches: its own handler for that, and then a violation.
    fn leaves(&mut self, head: u64, leaves: Leaves) -> Result<Pause, Pause> {
        let type_info = self.value(TYPE_OF, head);
        if type_info == 0 {
            return Ok(Pause::Stop(Stop::Unsupported(Unsupported::Unwind)));
        }
        let object = self.value(OBJECT_OF, head);
        let message = self.what(type_info, object)?.into();
        self.call_terminate_handler()?;
        let fault = Fault::Exception {
            type_symbol: self.type_symbol(type_info),
            message,
            leaves,
        };
        Ok(fault.into())
    }

    fn call_terminate_handler(&mut self) -> Result<(), Pause> {
        let module = &self.machine.world.module;
        if module.function_named("_ZSt13set_terminatePFvvE").is_some() {
            let place = self.global_object(TERMINATE_HANDLER, 8)?;
            let handler = self.load(place, 8, Order::SeqCst)?;
            if handler != 0 {
                self.call(handler, &[])?;
            }
        }
        Ok(())
    }

    /// What is left of an exception when one owner goes.
    fn release_exception(&mut self, object: u64) -> Result<(), Pause> {
        let head = object.wrapping_sub(HEAD);
        if self.rmw(head, 8, RmwKind::Sub, 1, Order::SeqCst)? != 1 {
            return Ok(());
        }
        let destructor = self.load(head.wrapping_add(DESTRUCTOR), 8, Order::Plain)?;
        if destructor != 0 {
            self.call(destructor, &[object])?;
        }
        self.free(head)
    }

    /// The end of the `exception_ptr` at an address.
    pub(super) fn release_pointer(&mut self, pointer: u64) -> Result<(), Pause> {
        let object = self.load(pointer, 8, Order::Plain)?;
        if object != 0 {
            self.release_exception(object)?;
            self.store(pointer, 8, 0, Order::Plain)?;
        }
        Ok(())
    }

    fn share_exception(&mut self, object: u64) -> Result<(), Pause> {
        let head = object.wrapping_sub(HEAD);
        self.rmw(head, 8, RmwKind::Add, 1, Order::SeqCst)?;
        Ok(())
    }
}

// ---- throwing

fn allocate(cx: &mut Script<'_, '_>) -> ModelResult {
    refuse_where_asked(cx)?;
    Ok(Outcome::Return(cx.new_exception(cx.arg(0))?))
}

fn free(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.free(cx.arg(0).wrapping_sub(HEAD))?;
    Ok(Outcome::Void)
}

/// `(object, type, destructor)`: without an owner yet.
fn initialise(cx: &mut Script<'_, '_>) -> ModelResult {
    let head = cx.arg(0).wrapping_sub(HEAD);
    cx.write_head(head, cx.arg(1), cx.arg(2), 0)?;
    Ok(Outcome::Return(head))
}

/// `(object, type, destructor)`.
fn throw(cx: &mut Script<'_, '_>) -> ModelResult {
    refuse_where_asked(cx)?;
    cx.throw_object(cx.arg(0), cx.arg(1), cx.arg(2))
}

/// `throw;`
fn rethrow(cx: &mut Script<'_, '_>) -> ModelResult {
    refuse_where_asked(cx)?;
    let depth = cx.thread_value(COUNTS, DEPTH)?;
    if depth == 0 {
        return terminate(cx);
    }
    let head = cx.thread_value(HANDLED, depth)?;
    let handlers = cx.thread_value(HANDLERS, depth)?;
    cx.set_thread_value(HANDLERS, depth, handlers.wrapping_neg())?;
    cx.count(UNCAUGHT, 1)?;
    Ok(Outcome::Raise(vec![head, 1]))
}

// ---- catching

/// `(head)`: returns what the handler gets.
fn begin_catch(cx: &mut Script<'_, '_>) -> ModelResult {
    let head = cx.arg(0);
    let depth = cx.thread_value(COUNTS, DEPTH)?;
    if depth > 0 && cx.thread_value(HANDLED, depth)? == head {
        let handlers = cx.thread_value(HANDLERS, depth)?.cast_signed();
        cx.set_thread_value(HANDLERS, depth, handlers.unsigned_abs() + 1)?;
    } else {
        cx.set_thread_value(COUNTS, DEPTH, depth + 1)?;
        cx.set_thread_value(HANDLED, depth + 1, head)?;
        cx.set_thread_value(HANDLERS, depth + 1, 1)?;
    }
    cx.count(UNCAUGHT, -1)?;
    caught_object(cx)
}

/// `(head)`.
fn caught_object(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.thread_value(CAUGHT_AS, cx.arg(0))?))
}

fn end_catch(cx: &mut Script<'_, '_>) -> ModelResult {
    let depth = cx.thread_value(COUNTS, DEPTH)?;
    if depth == 0 {
        return Ok(Outcome::Void);
    }
    let head = cx.thread_value(HANDLED, depth)?;
    let handlers = cx.thread_value(HANDLERS, depth)?.cast_signed();
    let left = handlers - handlers.signum();
    cx.set_thread_value(HANDLERS, depth, left.cast_unsigned())?;
    if left != 0 {
        return Ok(Outcome::Void);
    }
    cx.set_thread_value(HANDLED, depth, 0)?;
    cx.set_thread_value(COUNTS, DEPTH, depth - 1)?;
    // One that was thrown again is on its way.
    if handlers < 0 {
        return Ok(Outcome::Void);
    }
    let destructor = cx.thread_value(DESTRUCTOR_OF, head)?;
    let shared = cx.thread_value(SHARED_HEAD_OF, head)?;
    for kind in [TYPE_OF, OBJECT_OF, CAUGHT_AS, DESTRUCTOR_OF, SHARED_HEAD_OF] {
        cx.set_thread_value(kind, head, 0)?;
    }
    if shared != 0 {
        cx.release_exception(shared.wrapping_add(HEAD))?;
        return Ok(Outcome::Void);
    }
    if destructor != 0 {
        cx.call(destructor, &[head.wrapping_add(HEAD)])?;
    }
    cx.free(head)?;
    Ok(Outcome::Void)
}

fn current_type(cx: &mut Script<'_, '_>) -> ModelResult {
    let depth = cx.thread_value(COUNTS, DEPTH)?;
    let head = cx.thread_value(HANDLED, depth)?;
    Ok(Outcome::Return(cx.thread_value(TYPE_OF, head)?))
}

fn is_unwinding(cx: &mut Script<'_, '_>) -> ModelResult {
    let uncaught = cx.thread_value(COUNTS, UNCAUGHT)?;
    Ok(Outcome::Return(u64::from(uncaught != 0)))
}

fn uncaught(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.thread_value(COUNTS, UNCAUGHT)?))
}

// ---- the end

/// An exception that a function does not allow to leave it.
fn unexpected(cx: &mut Script<'_, '_>) -> ModelResult {
    Err(cx.leaves(cx.arg(0), Leaves::Function)?)
}

/// `std::terminate`, called by the program.
fn terminate(cx: &mut Script<'_, '_>) -> ModelResult {
    if !cx.asks() {
        cx.call_terminate_handler()?;
    }
    let message = "std::terminate was called".into();
    let end = PanicEnd::Here;
    Err(Fault::Panic { message, end }.into())
}

/// `(handler)`: returns the one before.
fn set_terminate(cx: &mut Script<'_, '_>) -> ModelResult {
    let place = cx.global_object(TERMINATE_HANDLER, 8)?;
    let before = cx.rmw(place, 8, RmwKind::Exchange, cx.arg(0), Order::SeqCst)?;
    Ok(Outcome::Return(before))
}

fn get_terminate(cx: &mut Script<'_, '_>) -> ModelResult {
    let place = cx.global_object(TERMINATE_HANDLER, 8)?;
    Ok(Outcome::Return(cx.load(place, 8, Order::SeqCst)?))
}

// ---- std::exception_ptr

/// `(result)`: what is being handled, if anything. From now on others may own it, too.
fn current_exception(cx: &mut Script<'_, '_>) -> ModelResult {
    let depth = cx.thread_value(COUNTS, DEPTH)?;
    let number = cx.thread_value(HANDLED, depth)?;
    if number == 0 {
        return pointer_null(cx);
    }
    let mut head = cx.thread_value(SHARED_HEAD_OF, number)?;
    if head == 0 {
        head = number;
        let type_info = cx.thread_value(TYPE_OF, number)?;
        let destructor = cx.thread_value(DESTRUCTOR_OF, number)?;
        cx.write_head(head, type_info, destructor, 2)?;
        cx.set_thread_value(SHARED_HEAD_OF, number, head)?;
    } else {
        cx.share_exception(head.wrapping_add(HEAD))?;
    }
    cx.store(cx.arg(0), 8, head.wrapping_add(HEAD), Order::Plain)?;
    Ok(Outcome::Void)
}

/// `(pointer)`: throws what it owns. The same exception may be on its way several times: each time has a number of its own.
fn rethrow_pointer(cx: &mut Script<'_, '_>) -> ModelResult {
    refuse_where_asked(cx)?;
    let object = cx.load(cx.arg(0), 8, Order::Plain)?;
    if object == 0 {
        return terminate(cx);
    }
    let head = object.wrapping_sub(HEAD);
    let mut number = 1;
    while cx.thread_value(SHARED_HEAD_OF, number)? != 0 {
        number += 1;
    }
    cx.set_thread_value(SHARED_HEAD_OF, number, head)?;
    cx.share_exception(object)?;
    let type_info = cx.load(head.wrapping_add(TYPE), 8, Order::Plain)?;
    cx.raise(number, type_info, object)
}

/// `(this, object)`.
fn pointer_init(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(0), 8, cx.arg(1), Order::Plain)?;
    if cx.arg(1) != 0 {
        cx.share_exception(cx.arg(1))?;
    }
    Ok(Outcome::Void)
}

fn pointer_null(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(0), 8, 0, Order::Plain)?;
    Ok(Outcome::Void)
}

/// `(this, other)`.
fn pointer_copy(cx: &mut Script<'_, '_>) -> ModelResult {
    let object = cx.load(cx.arg(1), 8, Order::Plain)?;
    cx.store(cx.arg(0), 8, object, Order::Plain)?;
    if object != 0 {
        cx.share_exception(object)?;
    }
    Ok(Outcome::Void)
}

/// `(this, other)`: returns `this`.
fn pointer_assign(cx: &mut Script<'_, '_>) -> ModelResult {
    let (old, new) = (
        cx.load(cx.arg(0), 8, Order::Plain)?,
        cx.load(cx.arg(1), 8, Order::Plain)?,
    );
    if new != 0 {
        cx.share_exception(new)?;
    }
    cx.store(cx.arg(0), 8, new, Order::Plain)?;
    if old != 0 {
        cx.release_exception(old)?;
    }
    Ok(Outcome::Return(cx.arg(0)))
}

fn pointer_share(cx: &mut Script<'_, '_>) -> ModelResult {
    let object = cx.load(cx.arg(0), 8, Order::Plain)?;
    if object != 0 {
        cx.share_exception(object)?;
    }
    Ok(Outcome::Void)
}

fn pointer_release(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.release_pointer(cx.arg(0))?;
    Ok(Outcome::Void)
}

/// `(this, other)`.
fn pointer_swap(cx: &mut Script<'_, '_>) -> ModelResult {
    let (a, b) = (
        cx.load(cx.arg(0), 8, Order::Plain)?,
        cx.load(cx.arg(1), 8, Order::Plain)?,
    );
    cx.store(cx.arg(0), 8, b, Order::Plain)?;
    cx.store(cx.arg(1), 8, a, Order::Plain)?;
    Ok(Outcome::Void)
}

fn pointer_get(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.load(cx.arg(0), 8, Order::Plain)?))
}

fn pointer_type(cx: &mut Script<'_, '_>) -> ModelResult {
    let object = cx.load(cx.arg(0), 8, Order::Plain)?;
    let type_info = match object {
        0 => 0,
        _ => cx.load(object.wrapping_sub(HEAD - TYPE), 8, Order::Plain)?,
    };
    Ok(Outcome::Return(type_info))
}
