//! Functions of Rust's standard library that are replaced where a program brings the library along, compiled: each costs executions
//! that show nothing of the program. `docs/rust.md` has the table of what is replaced by what, and why no answer changes.
//!
//! They are known by their path, whatever the mangling, and replaced only if they are declared as expected: where a later version
//! of the library has another function under the name, or inlines it, its own code runs. [`Outcome::Original`] runs that code,
//! too, where the replacement does not apply.

mod locks;
mod output;
mod parking_lot;

pub(super) use locks::has_plain_rwlocks;
pub(super) use output::{
    MODELS as OUTPUT_MODELS, TABLE as OUTPUT_TABLE, WRITE_FMT, has_plain_output,
};
pub(crate) use output::{declare as declare_output, fmt_write};
pub(crate) use parking_lot::{is_first_attempt, is_next_attempt};

use super::{Model, ModelResult, Only, Outcome, Pause, Script, model};
use raddle_ir::{FuncId, Module, Type, TypeId};

pub(super) const MODELS: &[Model] = &[
    model(
        "std::sys::pal::unix::stack_overflow::imp::drop_handler",
        drop_handler,
    )
    .replacing("void(ptr)")
    .capturing(&[0]),
    model(
        "std::sys::sync::mutex::futex::Mutex::lock_contended",
        locks::lock_contended,
    )
    .replacing("void(ptr)")
    .capturing(&[0])
    .waiting(),
    model("std::sys::sync::condvar::futex::Condvar::wait", locks::cond_wait)
        .replacing("void(ptr, ptr)")
        .capturing(&[0, 1])
        .only(Only::Waiting),
    model("std::sync::poison::condvar::Condvar::notify_one", locks::notify_one)
        .replacing("void(ptr)")
        .capturing(&[0])
        .only(Only::Waiting),
    model("std::sync::poison::condvar::Condvar::notify_all", locks::notify_all)
        .replacing("void(ptr)")
        .capturing(&[0])
        .only(Only::Waiting),
    model("std::sync::nonpoison::condvar::Condvar::notify_one", locks::notify_one)
        .replacing("void(ptr)")
        .capturing(&[0])
        .only(Only::Waiting),
    model("std::sync::nonpoison::condvar::Condvar::notify_all", locks::notify_all)
        .replacing("void(ptr)")
        .capturing(&[0])
        .only(Only::Waiting),
    // Whoever finds the lock taken might as well not have tried.
    model("std::sys::sync::rwlock::futex::RwLock::read", locks::read_contended)
        .replacing("void(ptr)")
        .capturing(&[0])
        .only(Only::PlainRwLocks),
    model("std::sys::sync::rwlock::futex::RwLock::read_contended", locks::read_contended)
        .replacing("void(ptr)")
        .capturing(&[0])
        .only(Only::PlainRwLocks),
    model("std::sys::sync::rwlock::futex::RwLock::write_contended", locks::write_contended)
        .replacing("void(ptr)")
        .capturing(&[0])
        .only(Only::PlainRwLocks),
    model(
        "std::sys::sync::rwlock::futex::RwLock::wake_writer_or_readers",
        locks::wake_writer_or_readers,
    )
    .replacing("void(ptr, i32)")
    .capturing(&[0])
    .only(Only::PlainRwLocks),
    model(
        "<parking_lot_core::thread_parker::imp::ThreadParker as parking_lot_core::thread_parker::ThreadParkerT>::park",
        parking_lot::park_until_zero,
    )
    .replacing("void(ptr)")
    .capturing(&[0])
    .only(Only::Waiting),
    model(parking_lot::MUTEX, parking_lot::lock)
        .replacing("i1(ptr, i64, i32)")
        .capturing(&[0])
        .only(Only::Waiting),
    model(parking_lot::WRITE, parking_lot::lock_exclusive)
        .replacing("i1(ptr, i64, i32)")
        .capturing(&[0])
        .only(Only::PlainRwLocks),
    model(parking_lot::READ, parking_lot::lock_shared)
        .replacing("i1(ptr, i1, i64, i32)")
        .capturing(&[0])
        .only(Only::PlainRwLocks),
    model("parking_lot_core::spinwait::SpinWait::spin", parking_lot::spin)
        .replacing("i1(ptr)")
        .only(Only::Waiting),
    model(
        "parking_lot_core::spinwait::SpinWait::spin_no_yield",
        parking_lot::spin_without_asking,
    )
    .replacing("void(ptr)")
    .only(Only::Waiting),
    model("std::sys::thread_local::guard::key::enable", enable_guard).replacing("void()"),
    model("std::sync::mpmc::utils::Backoff::spin_light", back_off)
        .replacing("void(ptr)")
        .no_op(),
    model("std::sync::mpmc::utils::Backoff::spin_heavy", back_off)
        .replacing("void(ptr)")
        .no_op(),
    model("std::thread::functions::yield_now", back_off)
        .replacing("void()")
        .no_op(),
    model("core::hint::spin_loop", back_off)
        .replacing("void()")
        .no_op(),
    model(PRINT, output::print)
        .replacing("void(ptr, ptr)")
        .capturing(&[0, 1])
        .only(Only::PlainOutput),
    model(PRINT_ERROR, output::print)
        .replacing("void(ptr, ptr)")
        .capturing(&[0, 1])
        .only(Only::PlainOutput),
    model("std::thread::id::ThreadId::new", new_thread_id).replacing("i64()"),
    model("std::thread::thread::Thread::park", park)
        .replacing("void(ptr)")
        .capturing(&[0]),
    model(CHANNEL_WAIT, wait_in_channel)
        .replacing("void(ptr)")
        .only(Only::PlainChannels),
    model(
        "<alloc::sync::Arc<std::thread::thread::Inner, std::alloc::System> as core::ops::drop::Drop>::drop",
        keep,
    )
    .replacing("void(ptr)"),
    model(
        "<alloc::sync::Arc<std::thread::thread::Inner, std::alloc::System>>::drop_slow",
        keep,
    )
    .replacing("void(ptr)"),
    model(
        "<alloc::sync::Arc<std::thread::scoped::ScopeData> as core::ops::drop::Drop>::drop",
        keep,
    )
    .replacing("void(ptr)"),
    model(
        "<alloc::sync::Arc<std::thread::scoped::ScopeData>>::drop_slow",
        keep,
    )
    .replacing("void(ptr)"),
    model(
        "<alloc::sync::Arc<std::sync::mpmc::context::Inner> as core::ops::drop::Drop>::drop",
        keep,
    )
    .replacing("void(ptr)"),
    model(
        "<alloc::sync::Arc<std::sync::mpmc::context::Inner>>::drop_slow",
        keep,
    )
    .replacing("void(ptr)"),
];

/// By what `print!` and `eprint!` print.
pub(super) const PRINT: &str = "std::io::stdio::_print";
pub(super) const PRINT_ERROR: &str = "std::io::stdio::_eprint";

/// By what programs park threads. The library itself has another function for that.
const PARKING: [&str; 3] = [
    "std::thread::functions::park",
    "std::thread::functions::park_timeout",
    "std::thread::functions::park_timeout_ms",
];

/// What runs at the end of threads that [`enable_guard`] was called in.
const AT_END: &str = "std::sys::thread_local::guard::key::enable::run";

/// Kinds of values that a thread keeps.
const IDS: u32 = 10;
const GUARD: u32 = 11;

// ---- threads

/// The end of a thread: gives back the stack for signal handlers, and forgets the thread. Without such a stack nothing was ever noted of it.
fn drop_handler(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(match cx.arg(0) {
        0 => Outcome::Void,
        _ => Outcome::Original,
    })
}

/// Has a function called at the end of the thread, by a key of thread-specific data that all threads share.
fn enable_guard(cx: &mut Script<'_, '_>) -> ModelResult {
    let Some(at_end) = function_at_path(&cx.machine.world.module, AT_END) else {
        return Ok(Outcome::Original);
    };
    cx.set_thread_value(GUARD, 1, crate::tables::Tables::function_address(at_end.0))?;
    Ok(Outcome::Void)
}

impl Script<'_, '_> {
    /// Calls what [`enable_guard`] registered. Was there anything?
    pub(super) fn run_guard(&mut self) -> Result<bool, Pause> {
        let function = self.thread_value(GUARD, 1)?;
        if function == 0 {
            return Ok(false);
        }
        self.set_thread_value(GUARD, 1, 0)?;
        self.call(function, &[1])?;
        Ok(true)
    }
}

/// A number that no other thread has. Each thread numbers those that it makes for itself. Where the library has inlined the
/// function it counts from 1 on: those are other numbers.
fn new_thread_id(cx: &mut Script<'_, '_>) -> ModelResult {
    const OWN_BITS: u32 = 31;
    let made = cx.thread_value(IDS, 1)? + 1;
    cx.set_thread_value(IDS, 1, made)?;
    let thread = cx.thread();
    let maker = cx.tables().handle_of_thread(thread);
    Ok(Outcome::Return((maker << OWN_BITS) + made))
}

/// The library does not free what it knows of threads and scopes: nothing of the program's lies there, and nobody asks how often
/// it is referred to.
fn keep(_: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Void)
}

/// The library waits for the end of scoped threads and for messages, in loops that look again whenever they are woken, whatever
/// woke them. Where waiting is a loop that is left out they need not sleep. If the program itself parks threads, it may notice whether they did:
/// who slept has used up what woke it.
fn park(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(
        if cx.leaves_out_pure_iterations() && !cx.machine.world.parks() {
            Outcome::Void
        } else {
            Outcome::Original
        },
    )
}

/// What stands for the waits in [`is_channel_wait`].
const CHANNEL_WAIT: &str = "std::sync::mpmc::context::Context::with, by a channel with a buffer";

/// Is it by this that a thread waits which sends to or receives from a channel with a buffer?
fn is_channel_wait(demangled: &str) -> bool {
    const WAIT: &str = "<std::sync::mpmc::context::Context>::with::<<std::sync::mpmc::";
    let Some(caller) = demangled.strip_prefix(WAIT) else {
        return false;
    };
    let is_closure_of = |channel: &str, call: &str| {
        let rest = caller.strip_prefix(channel);
        let rest = rest.and_then(|rest| rest.get(matching_bracket(rest)? + 1..));
        rest.is_some_and(|rest| rest.starts_with(call) && rest.matches("::").count() == 2)
    };
    is_closure_of("list::Channel<", ">::recv::{closure#")
        || is_closure_of("array::Channel<", ">::recv::{closure#")
        || is_closure_of("array::Channel<", ">::send::{closure#")
}

/// A thread found no message, or no room for one: it has itself registered, looks again and sleeps until somebody wakes it, to look again.
/// Where waiting is a loop that is left out it just looks again: all that it ever learns is what it finds there. See [`has_plain_channels`].
fn wait_in_channel(_: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Void)
}

/// May threads that wait in channels just look again and again? Not if the program parks threads: who slept has used up what
/// woke it. And not if there are waits with a deadline.
pub(crate) fn has_plain_channels(module: &Module) -> bool {
    const TIMED: [&str; 4] = [
        "std::sync::mpmc::Receiver::recv_timeout",
        "std::sync::mpmc::Receiver::recv_deadline",
        "std::sync::mpmc::Sender::send_timeout",
        "std::sync::mpmc::Sender::send_deadline",
    ];
    let mut defined = module.functions.iter().filter(|it| !it.is_declaration);
    let is_timed = |name: &str| {
        (name.contains("_timeout") || name.contains("_deadline"))
            && path_of(name).is_some_and(|path| TIMED.contains(&path.as_str()))
    };
    !defined.any(|it| is_timed(&it.name)) && !parks(module)
}

/// Does anything but the library park a thread? Whoever mentions a function may call it.
pub(crate) fn parks(module: &Module) -> bool {
    let is_parking = |id: FuncId| {
        let path = path_of(&module.function(id).name);
        path.is_some_and(|path| PARKING.contains(&path.as_str()))
    };
    let parking = (0..module.functions.len())
        .map(FuncId::from_index)
        .filter(|&id| {
            module.function(id).name.contains("4park")
                || module.function(id).name.contains("park_timeout")
        })
        .filter(|&id| is_parking(id));
    let mut mentions = parking.flat_map(|id| module.mentioned_by(&module.function(id).name));
    mentions.any(|by| by.is_none_or(|by| !is_parking(by)))
}

// ---- pauses

/// Waits a little. How often it was called decides only about how long that is.
fn back_off(_: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Void)
}

// ---- names

/// Is it a function of Rust's standard library that may be replaced? Names with brackets are compared as they are, others
/// without generic arguments.
pub(super) fn names_of(symbol: &str) -> Option<[String; 2]> {
    let is_rust = symbol.starts_with("_R") || symbol.starts_with("_ZN");
    if !is_rust || !MODELS.iter().any(|it| may_be(symbol, it.name)) {
        return None;
    }
    let demangled = format!("{:#}", rustc_demangle::try_demangle(symbol).ok()?);
    if is_channel_wait(&demangled) {
        return Some([demangled, CHANNEL_WAIT.to_owned()]);
    }
    let path = plain_path(&demangled)?;
    Some([demangled, path])
}

/// Has the symbol the parts of the name that few have? Demangling takes longer.
fn may_be(symbol: &str, name: &str) -> bool {
    if name == CHANNEL_WAIT {
        return symbol.contains("7Context4with");
    }
    match name.strip_prefix('<') {
        Some(rest) => {
            let end = rest.find([',', '>', ' ']).unwrap_or(rest.len());
            symbol.contains(last_part(&rest[..end])) && symbol.contains(last_part(name))
        }
        None => name.rsplit("::").take(2).all(|part| symbol.contains(part)),
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// Does Rust's standard library run this code on its own account? The functions that are being run come innermost first; the operations of atomic types belong to
/// whoever calls them.
#[must_use]
pub fn is_of_library<'a>(symbols: impl IntoIterator<Item = &'a str>) -> bool {
    for symbol in symbols {
        let Ok(demangled) = rustc_demangle::try_demangle(symbol) else {
            return false;
        };
        let path = format!("{demangled:#}");
        let path = path.trim_start_matches('<');
        if !path.starts_with("core::sync::atomic::") {
            return ["std::", "core::", "alloc::"]
                .iter()
                .any(|root| path.starts_with(root));
        }
    }
    false
}

/// `<std::a::B<T>>::f::<U>` and `std::a::B<T>::f` are both `std::a::B::f`.
fn plain_path(demangled: &str) -> Option<String> {
    // A method of a type is written with the type in brackets in one of the two manglings.
    let text = match demangled.strip_prefix('<') {
        Some(rest) => {
            let end = matching_bracket(rest)?;
            format!("{}{}", &rest[..end], &rest[end + 1..])
        }
        None => demangled.to_owned(),
    };
    let mut path = String::new();
    let mut depth = 0u32;
    for (at, letter) in text.char_indices() {
        let is_arrow = letter == '>' && text[..at].ends_with('-');
        match letter {
            '<' => depth += 1,
            '>' if !is_arrow => depth = depth.checked_sub(1)?,
            _ if depth == 0 => path.push(letter),
            _ => {}
        }
    }
    while let Some(at) = path.find("::::") {
        path.replace_range(at..at + 2, "");
    }
    Some(path.trim_end_matches("::").to_owned())
}

fn path_of(symbol: &str) -> Option<String> {
    plain_path(&format!("{:#}", rustc_demangle::try_demangle(symbol).ok()?))
}

/// Where the bracket is closed that was opened before `text`.
fn matching_bracket(text: &str) -> Option<usize> {
    let mut depth = 1u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The defined function with this path.
fn function_at_path(module: &Module, path: &str) -> Option<FuncId> {
    let last = last_part(path);
    let mut ids = (0..module.functions.len()).map(FuncId::from_index);
    ids.find(|&id| {
        let function = module.function(id);
        !function.is_declaration
            && function.name.contains(last)
            && path_of(&function.name).as_deref() == Some(path)
    })
}

/// What a function is declared as: `i1(ptr, i64)`.
pub(super) fn signature(module: &Module, id: FuncId) -> String {
    let name = |ty: &TypeId| match module.types.get(*ty) {
        Type::Void => "void".to_owned(),
        Type::Ptr => "ptr".to_owned(),
        Type::Int(bits) => format!("i{bits}"),
        _ => "?".to_owned(),
    };
    match module.types.get(module.function(id).ty) {
        Type::Function {
            ret,
            params,
            varargs: false,
        } => {
            let params: Vec<String> = params.iter().map(name).collect();
            format!("{}({})", name(ret), params.join(", "))
        }
        _ => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_manglings_give_the_same_path() {
        let path = "std::sys::sync::mutex::futex::Mutex::lock_contended";
        for symbol in [
            "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended",
            "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE",
        ] {
            assert_eq!(path_of(symbol).as_deref(), Some(path), "{symbol}");
            assert_eq!(
                names_of(symbol).map(|names| names[1].clone()).as_deref(),
                Some(path)
            );
        }
        assert_eq!(names_of("_ZN4user4lock17h0123456789abcdefE"), None);
        assert_eq!(names_of("lock_contended"), None);
    }

    #[test]
    fn the_locks_of_parking_lot_are_known() {
        let parking_lot = "Cs6hbEXnjIZXK_11parking_lot";
        let trait_of_locks = "NtNtCsfGYTV2l8mrj_8lock_api5mutex8RawMutex";
        let slow = format!("_RNvMs1_Nt{parking_lot}9raw_mutexNtB5_8RawMutex9lock_slow");
        let model = super::super::lookup(&slow).expect("the slow path is known");
        assert!(is_next_attempt(model));
        let other = format!("_RNvMs1_Nt{parking_lot}9raw_mutexNtB5_8RawMutex11unlock_slow");
        assert_eq!(super::super::lookup(&other), None);

        let method = |name: &str| {
            format!("_RNvXNt{parking_lot}9raw_mutexNtB2_8RawMutex{trait_of_locks}{name}B4_")
        };
        let exchange = "_RINvNtNtCsgEmfK2I1SDS_4core4sync6atomic28atomic_compare_exchange_weakhE";
        assert!(is_first_attempt([exchange, &method("4lock"), "main"]));
        assert!(!is_first_attempt([exchange, &method("8try_lock"), "main"]));
        assert!(!is_first_attempt([exchange, &*slow, &method("4lock")]));
        assert!(!is_first_attempt([exchange, "main", &method("4lock")]));
        assert!(!is_first_attempt([exchange]));

        let slow = |name: &str| format!("_RNvMs8_Nt{parking_lot}10raw_rwlockNtB5_9RawRwLock{name}");
        for name in ["16lock_shared_slow", "19lock_exclusive_slow"] {
            let model = super::super::lookup(&slow(name)).expect("the slow path is known");
            assert!(is_next_attempt(model));
        }
        assert_eq!(super::super::lookup(&slow("18unlock_shared_slow")), None);
        let trait_of_locks = "NtNtCsfGYTV2l8mrj_8lock_api6rwlock9RawRwLock";
        let method = |name: &str| {
            format!("_RNvXNt{parking_lot}10raw_rwlockNtB2_9RawRwLock{trait_of_locks}{name}B4_")
        };
        assert!(is_first_attempt([exchange, &method("11lock_shared")]));
        assert!(is_first_attempt([exchange, &method("14lock_exclusive")]));
        assert!(!is_first_attempt([
            exchange,
            &method("18try_lock_exclusive")
        ]));
        assert!(is_first_attempt([
            exchange,
            &slow("20try_lock_shared_fast")
        ]));
        assert!(!is_first_attempt([
            exchange,
            &slow("20try_lock_shared_slow")
        ]));
    }

    #[test]
    fn what_parking_lot_waits_by_is_known() {
        let core = "CsjOxELCKjEic_16parking_lot_core";
        for symbol in [
            format!(
                "_RNvXNtNt{core}13thread_parker3impNtB2_12ThreadParkerNtB4_13ThreadParkerT4parkB6_"
            ),
            format!("_RNvMNt{core}8spinwaitNtB2_8SpinWait4spinB4_"),
            format!("_RNvMNt{core}8spinwaitNtB2_8SpinWait13spin_no_yieldB4_"),
        ] {
            assert!(super::super::lookup(&symbol).is_some(), "{symbol}");
        }
        let timed = format!(
            "_RNvXNtNt{core}13thread_parker3impNtB2_12ThreadParkerNtB4_13ThreadParkerT10park_untilB6_"
        );
        assert!(super::super::lookup(&timed).is_none());
    }

    #[test]
    fn waits_of_channels_with_a_buffer_are_known() {
        let with = "<std::sync::mpmc::context::Context>::with::<<std::sync::mpmc::";
        for caller in [
            "list::Channel<i32>>::recv::{closure#1}, ()>",
            "array::Channel<alloc::vec::Vec<u8>>>::recv::{closure#1}, ()>",
            "array::Channel<alloc::boxed::Box<dyn core::ops::function::FnOnce() -> u8>>>::send::{closure#0}, ()>",
        ] {
            assert!(is_channel_wait(&format!("{with}{caller}")), "{caller}");
        }
        for caller in [
            "zero::Channel<i32>>::recv::{closure#1}, ()>",
            "list::Channel<i32>>::recv::{closure#1}, ()>::{closure#2}",
            "list::Channel<i32>>::send::{closure#1}, ()>",
        ] {
            assert!(!is_channel_wait(&format!("{with}{caller}")), "{caller}");
        }
    }

    #[test]
    fn functions_are_replaced_only_if_they_are_declared_as_expected() {
        let name = "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE";
        let replaced = |declared: &str| {
            let text = format!(
                "define {} {{\n  unreachable\n}}\n",
                declared.replace('@', &format!("@{name}"))
            );
            let module = raddle_ir::parse_module(text.as_str(), "test").expect("a module");
            let id = module.function_named(name).expect("a function");
            super::super::overriding(&module, id, super::super::Replaced::default()).is_some()
        };
        assert!(replaced("void @(ptr %lock)"));
        assert!(!replaced("i1 @(ptr %lock)"));
        assert!(!replaced("void @(ptr %lock, i32 %spins)"));
    }

    #[test]
    fn whether_a_program_parks_is_seen_by_who_mentions_it() {
        let park = "_ZN3std6thread9functions4park17h0123456789abcdefE";
        let timed = "_ZN3std6thread9functions12park_timeout17h0123456789abcdefE";
        let in_ms = "_ZN3std6thread9functions15park_timeout_ms17h0123456789abcdefE";
        let library = format!(
            "define void @{park}() {{\n  ret void\n}}\ndefine void @{timed}() {{\n  ret void\n}}\n\
             define void @{in_ms}() {{\n  call void @{timed}()\n  ret void\n}}\n"
        );
        let parks = |user: &str| {
            let text = format!("{library}{user}");
            parks(&raddle_ir::parse_module(text.as_str(), "test").expect("a module"))
        };
        assert!(!parks(""));
        assert!(!parks("define void @main() {\n  ret void\n}\n"));
        assert!(parks(&format!(
            "define void @main() {{\n  call void @{park}()\n  ret void\n}}\n"
        )));
        assert!(parks(&format!("@table = global ptr @{timed}\n")));
    }
}
