//! Rust's panics: from the place where the standard library would tell the world of one, to the unwinder, to whoever looks at it.
//!
//! The library's own machinery is compiled code, and is run. What stands in for it is the step in its middle, which counts the panic, runs
//! the hook and raises the exception: the standard hook prints under a lock that all threads share, which nobody can see here. Programs
//! that set a hook run the real one.
//!
//! A panic that leaves a thread is added to a cell, and taken off again when the thread is joined. What is left at the end, nobody has
//! looked at.

use super::exceptions::{self, refuse_where_asked};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::{Fault, Leaves, PanicEnd};
use crate::ids::{SrcId, ThreadId};
use crate::interp::PanicPolicy;
use crate::interp::local::{Frame, Link, NativeFrame};
use crate::interp::machine::Machine;
use crate::interp::unwind::Met;
use crate::names;
use crate::op::{Order, RmwKind};
use crate::tables::Tables;
use raddle_ir::{FuncId, Module};
use std::rc::Rc;

/// What stands in for `std::panicking::panic_with_hook`.
pub(crate) const PANIC: &str = "raddle.panic";

pub(super) const MODELS: &[Model] = &[
    model(PANIC, panic).taking_pairs(),
    model("_Unwind_RaiseException", raise),
];

/// Values that a thread keeps: the panic that is on its way, the last one that it got by joining a thread, and whether it was started in
/// a scope, which looks at it.
const PANICS: u32 = 0x5041_0001;
const RAISED: u64 = 1;
const RECEIVED: u64 = 2;
const LEAVES_THREAD: u64 = 3;
pub(crate) const SCOPED: (u32, u64) = (PANICS, 4);

/// The sum of the panics that left their threads and that nobody has looked at. The lowest bit says that `main` has returned.
const UNSEEN: &str = "panics that nobody has looked at";
/// The last panic that left a thread of a scope.
const LAST_SCOPED: &str = "the last panic in a scope";
const MAIN_RETURNED: u64 = 1;

/// A panic that was met, and where.
#[derive(Clone, Debug)]
pub(crate) struct KnownPanic {
    pub(crate) message: Box<str>,
    pub(crate) at: SrcId,
}

/// The functions of a module that unwinding needs, if it is one of Rust's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PanicRuntime {
    /// `std::panicking::panic_with_hook`, or what it was called before.
    pub(crate) entry: Option<FuncId>,
    increase: Option<FuncId>,
    rust_panic: Option<FuncId>,
    /// Is it linked with a runtime that unwinds?
    unwinds: bool,
    /// Does anything refer to a function that sets a hook?
    pub(crate) sets_hook: bool,
}

impl PanicRuntime {
    pub(crate) fn of(module: &Module) -> Self {
        let mut runtime = Self::default();
        let mut hooks = Vec::new();
        for (index, function) in module.functions.iter().enumerate() {
            let id = Some(FuncId::from_index(index));
            let name = &*function.name;
            if name == "_Unwind_RaiseException" {
                runtime.unwinds = true;
            }
            if function.is_declaration {
                continue;
            }
            if name.contains("3std9panicking15panic_with_hook")
                || name.contains("3std9panicking20rust_panic_with_hook")
            {
                runtime.entry = id;
            } else if name.contains("9panicking11panic_count8increase") {
                runtime.increase = id;
            } else if name == "rust_panic" || name.contains("7___rustc10rust_panic") {
                runtime.rust_panic = id;
            } else if name.contains("3std9panicking8set_hook")
                || name.contains("3std9panicking11update_hook")
            {
                hooks.push(name);
            }
        }
        runtime.sets_hook = hooks.iter().any(|name| module.is_referred_to(name));
        runtime
    }

    /// Do panics unwind, and are all parts known?
    pub(crate) fn unwinds(&self) -> bool {
        self.unwinds && self.entry.is_some() && self.rust_panic.is_some()
    }
}

// ---- a panic begins

/// The panic's number, when its text is known, and whether it is being found out.
const NUMBER: usize = 0;
const ATTEMPTS: usize = 1;

/// `(payload, its functions, location, can it unwind, …)`.
fn panic(cx: &mut Script<'_, '_>) -> ModelResult {
    refuse_where_asked(cx)?;
    if cx.var(NUMBER) == 0 {
        cx.set_var(ATTEMPTS, 1);
        let number = cx.known_panic()?;
        cx.set_var(ATTEMPTS, 0);
        cx.set_var(NUMBER, number);
        cx.checkpoint();
    }
    let panic = cx.var(NUMBER);
    let can_unwind = cx.arg_count() < 4 || cx.arg(3) & 1 != 0;
    let runtime = cx.machine.world.panics;
    let policy = cx.machine.world.options.panic;
    if !can_unwind || policy == PanicPolicy::Any || !runtime.unwinds() {
        let end = match can_unwind {
            true => PanicEnd::Here,
            false => PanicEnd::CannotUnwind,
        };
        return Err(cx.panicked(panic, end)?);
    }
    // Counted by the library: whether the thread is panicking is asked there.
    if let Some(increase) = runtime.increase {
        const FINE: u64 = 2;
        let (counted, _) = cx.call_pair(Tables::function_address(increase.0), &[0])?;
        if counted & 0xFF != FINE {
            return Err(cx.panicked(panic, PanicEnd::CannotUnwind)?);
        }
    }
    if let Some(end) = nobody_catches(cx)? {
        return Err(cx.panicked(panic, end)?);
    }
    cx.set_thread_value(PANICS, RAISED, panic)?;
    let rust_panic = runtime.rust_panic.map_or(0, |id| id.0);
    let (payload, functions) = (cx.arg(0), cx.arg(1));
    cx.call_pair(Tables::function_address(rust_panic), &[payload, functions])?;
    Err(cx.panicked(panic, PanicEnd::Here)?)
}

/// Is this model finding out what a panic says? What cannot be run there is no loss.
pub(crate) fn is_attempt(frame: &NativeFrame) -> bool {
    frame.vars.get(ATTEMPTS) == Some(&1) && super::get(frame.model).name == PANIC
}

/// `_Unwind_RaiseException(exception)`. Without a panic before it, it is an old one that goes on (`resume_unwind`).
fn raise(cx: &mut Script<'_, '_>) -> ModelResult {
    refuse_where_asked(cx)?;
    let mut panic = cx.thread_value(PANICS, RAISED)?;
    let is_resumed = panic == 0;
    if is_resumed {
        panic = cx.thread_value(PANICS, RECEIVED)?;
    }
    if cx.machine.world.options.panic == PanicPolicy::Any {
        return Err(cx.panicked(panic, PanicEnd::Here)?);
    }
    if let Some(end) = nobody_catches(cx)? {
        let end = match end {
            PanicEnd::Here if is_resumed && panic != 0 => PanicEnd::PassedOn { by: "".into() },
            end => end,
        };
        return Err(cx.panicked(panic, end)?);
    }
    if catcher(cx)? == Catcher::StartOfThread {
        cx.set_thread_value(PANICS, LEAVES_THREAD, 1)?;
    }
    // Should it be caught and raised again, it is still the same.
    cx.set_thread_value(PANICS, RECEIVED, panic)?;
    cx.set_thread_value(PANICS, RAISED, 0)?;
    Ok(Outcome::Raise(vec![cx.arg(0)]))
}

/// How the program ends, if nobody catches what is raised here.
fn nobody_catches(cx: &mut Script<'_, '_>) -> Result<Option<PanicEnd>, Pause> {
    Ok(match exceptions::search(cx, 0)? {
        None if catcher(cx)? == Catcher::StartOfMain => Some(PanicEnd::Here),
        None => None,
        Some(Leaves::Function | Leaves::Cleanup) => Some(PanicEnd::CannotUnwind),
        Some(Leaves::Main | Leaves::Thread) => Some(PanicEnd::Here),
    })
}

// ---- who catches it

/// The function that Rust's `catch_unwind` is made of.
const TRY: &str = "__rust_try";

/// Who is the first to catch what is raised here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Catcher {
    /// Code of the program, or of a library that it uses.
    Program,
    /// The code that every thread begins with.
    StartOfThread,
    /// The code that calls `main`.
    StartOfMain,
}

impl Catcher {
    /// By the mangled name of the function that asked for it.
    fn named(name: &str) -> Self {
        let is_of = |module: &str, function: &str| name.contains(module) && name.contains(function);
        if is_of("3std6thread", "15spawn_unchecked") {
            Self::StartOfThread
        } else if is_of("3std2rt", "lang_start") {
            Self::StartOfMain
        } else {
            Self::Program
        }
    }
}

fn catcher(cx: &mut Script<'_, '_>) -> Result<Catcher, Pause> {
    let mut is_caught = false;
    for link in cx.machine.frames_below() {
        let Frame::Ir(frame) = &link.frame else {
            continue;
        };
        let name = &*cx.machine.world.module.function(frame.function).name;
        if is_caught {
            if name.contains("catch_unwind") {
                continue;
            }
            return Ok(Catcher::named(name));
        }
        let (is_try, catcher) = (name.starts_with(TRY), Catcher::named(name));
        if let Some(Met::Code { pad: Some(pad), .. }) = cx.machine.met(&link)?
            && exceptions::catches(&pad)
        {
            if !is_try {
                return Ok(catcher);
            }
            is_caught = true;
        }
    }
    Ok(Catcher::Program)
}

impl Machine<'_> {
    /// Is the thread that is about to be started one of a scope, which looks at how it ends?
    pub(crate) fn starts_scoped_thread(&self) -> bool {
        let of_library = |link: &Rc<Link>| match &link.frame {
            Frame::Ir(frame) => {
                let name = &*self.world.module.function(frame.function).name;
                (name.contains("3std") || name.contains("std..")).then(|| name.contains("6scoped"))
            }
            _ => Some(false),
        };
        self.frames_below()
            .map_while(|link| of_library(&link))
            .any(|is_scoped| is_scoped)
    }
}

// ---- panics that leave threads

impl Script<'_, '_> {
    /// Where an exception lands: a panic that has come to the start of its thread waits for somebody to look at it.
    pub(super) fn note_landing(&mut self) -> Result<(), Pause> {
        if self.thread_value(PANICS, LEAVES_THREAD)? == 0 {
            return Ok(());
        }
        self.set_thread_value(PANICS, LEAVES_THREAD, 0)?;
        let panic = self.thread_value(PANICS, RECEIVED)?;
        let (kind, key) = SCOPED;
        if self.thread_value(kind, key)? != 0 {
            let last = self.global_object(LAST_SCOPED, 8)?;
            self.store(last, 8, panic, Order::SeqCst)?;
            return self.set_thread_value(PANICS, LEFT, panic | IN_SCOPE);
        }
        let unseen = self.global_object(UNSEEN, 8)?;
        let before = self.rmw(unseen, 8, RmwKind::Add, panic, Order::SeqCst)?;
        if before & MAIN_RETURNED != 0 {
            return Err(self.panicked(panic, PanicEnd::Unseen)?);
        }
        self.set_thread_value(PANICS, LEFT, panic)
    }

    /// What a thread of Rust's returns to whoever joins it: its panic, if it ended by one.
    pub(super) fn panic_of_thread(&mut self) -> Result<u64, Pause> {
        if !self.machine.world.panics.unwinds() {
            return Ok(0);
        }
        self.thread_value(PANICS, LEFT)
    }

    /// Looks at the panic by which a joined thread ended.
    pub(super) fn receive_panic(&mut self, panic: u64) -> Result<(), Pause> {
        if panic != 0 && self.machine.world.panics.unwinds() {
            self.set_thread_value(PANICS, RECEIVED, panic & !IN_SCOPE)?;
            if panic & IN_SCOPE == 0 {
                let unseen = self.global_object(UNSEEN, 8)?;
                self.rmw(unseen, 8, RmwKind::Sub, panic, Order::SeqCst)?;
            }
        }
        Ok(())
    }

    /// At the end of `main`, or of the process: is there a panic that nobody has looked at?
    pub(super) fn look_for_unseen_panics(&mut self, goes_on: bool) -> Result<(), Pause> {
        let is_alone = self.thread() == ThreadId::MAIN && self.machine.state.spawns == 0;
        if self.asks() || !self.machine.world.panics.unwinds() || is_alone {
            return Ok(());
        }
        let unseen = self.global_object(UNSEEN, 8)?;
        let panic = if goes_on {
            self.rmw(unseen, 8, RmwKind::Or, MAIN_RETURNED, Order::SeqCst)?
        } else {
            self.load(unseen, 8, Order::SeqCst)?
        };
        match panic & !MAIN_RETURNED {
            0 => Ok(()),
            panic => Err(self.panicked(panic, PanicEnd::Unseen)?),
        }
    }

    /// A panic that ends the program. The report is about the first of those that led to it.
    fn panicked(&mut self, panic: u64, end: PanicEnd) -> Result<Pause, Pause> {
        let mut end = end;
        let mut shown = self.machine.world.known_panics.get(&panic).cloned();
        let message = shown.as_ref().map_or("", |known| &*known.message);
        let cause = if message.ends_with(OPAQUE) {
            self.thread_value(PANICS, RECEIVED)?
        } else if message == "a scoped thread panicked" {
            let last = self.global_object(LAST_SCOPED, 8)?;
            self.load(last, 8, Order::SeqCst)?
        } else {
            0
        };
        if let Some(first) = self.machine.world.known_panics.get(&cause) {
            let by = message.into();
            shown = Some(first.clone());
            end = PanicEnd::PassedOn { by };
        }
        let (message, at) = match shown {
            Some(known) => (known.message, Some(known.at)),
            None => (Box::default(), None),
        };
        self.machine.fault_at = at;
        Ok(Fault::Panic { message, end }.into())
    }
}

/// The panic by which the thread ended, and the lowest bit of one that a scope looks at.
const LEFT: u64 = 5;
const IN_SCOPE: u64 = 1;
/// How results of threads are printed.
const OPAQUE: &str = "Any { .. }";

// ---- text

impl Script<'_, '_> {
    /// A number for the panic of this text at this place, from which both can be told. The lowest bit is 0.
    fn known_panic(&mut self) -> Result<u64, Pause> {
        let (payload, functions) = (self.arg(0), self.arg(1));
        let message = self.payload_text(payload, functions)?;
        let at = self.machine.position();
        let tables = &*self.machine.tables;
        let at = tables.user_source(at).unwrap_or(at);
        let place = tables.source_loc(at).map_or_else(String::new, |at| {
            format!("{}:{}:{}", at.file, at.line, at.column)
        });
        let number = names::stable_hash([names::hash_text(&message), names::hash_text(&place)]);
        let number = (number << 1).max(2);
        let message = message.into();
        let known = KnownPanic { message, at };
        self.machine.world.known_panics.insert(number, known);
        Ok(number)
    }

    /// What a payload says: by `as_str`, or as the string that it makes of its arguments, which the library makes in any case.
    fn payload_text(&mut self, payload: u64, functions: u64) -> Result<String, Pause> {
        const TAKE: u64 = 32;
        const GET: u64 = 40;
        const AS_STR: u64 = 48;
        let as_str = self.load(functions.wrapping_add(AS_STR), 8, Order::Plain)?;
        let (text, len) = self.call_pair(as_str, &[payload])?;
        if text != 0 {
            return self.text_of(text, len);
        }
        let take = self.load(functions.wrapping_add(TAKE), 8, Order::Plain)?;
        let is_formatted = self
            .function_at(take)
            .is_some_and(|(_, name)| name.contains("FormatStringPayload"));
        if !is_formatted {
            return Ok(String::new());
        }
        let get = self.load(functions.wrapping_add(GET), 8, Order::Plain)?;
        let (string, _) = self.call_pair(get, &[payload])?;
        if string == 0 {
            return Ok(String::new());
        }
        // A pointer, a capacity and a length, in an order that the compiler chooses.
        let mut numbers = Vec::new();
        let mut text = 0;
        for index in 0..3 {
            match self.load(string.wrapping_add(8 * index), 8, Order::Plain)? {
                address if address >> 32 != 0 => text = address,
                number => numbers.push(number),
            }
        }
        let len = numbers.into_iter().min().unwrap_or(0);
        self.text_of(text, len)
    }

    fn text_of(&mut self, text: u64, len: u64) -> Result<String, Pause> {
        const LONGEST: u64 = 1000;
        let bytes = self.bytes_at(text, len.min(LONGEST))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// So many bytes, by accesses that are as wide as they can be.
    pub(super) fn bytes_at(&mut self, address: u64, len: u64) -> Result<Vec<u8>, Pause> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < len {
            let done = bytes.len() as u64;
            let at = address.wrapping_add(done);
            let size = self.piece_size(&[at], len - done)?;
            let value = self.load(at, size, Order::Plain)?;
            bytes.extend(&value.to_le_bytes()[..usize::from(size)]);
        }
        Ok(bytes)
    }
}
