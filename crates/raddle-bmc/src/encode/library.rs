//! Functions that the program does not define.

use super::flow::After;
use super::sizes::MALLOC_ALIGN;
use super::sync::CPP_WAIT;
use super::{Encoder, Start, unsupported, unsupported_call};
use crate::events::{StepKind, Thread};
use crate::facts::Region;
use crate::path::Path;
use crate::state::State;
use crate::value::Sym;
use raddle_ir::inst::{Call, IntPredicate};
use raddle_ir::{FuncId, Type, ValueId};
use raddle_order::bits::{Bit, Word};
use raddle_program::interp::view::ModelCall;
use raddle_program::models::looks_at_clocks;
use raddle_program::{Fault, Limit, Misuse, ObjectId, Order, Stop, ThreadId, Unsupported};
use std::rc::Rc;

/// Threads that start threads nest this deep at most.
const MOST_THREADS: u32 = 256;

/// What starts a `std::thread`.
const START_THREAD: &str =
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";

/// What waiting with a lock of C++ comes to.
const C_WAIT: &str = "pthread_cond_wait";

/// The arguments of a call.
pub(super) type Args = Vec<Sym>;

/// The thread stops if the argument is 0.
pub(super) const ASSUME: &str = "__VERIFIER_assume";

impl Encoder<'_> {
    pub(super) fn arguments(&mut self, state: &State, call: &Call) -> Result<Args, Stop> {
        let mut args = Vec::new();
        for (&arg, &ty) in call.args.iter().zip(&call.arg_types) {
            if matches!(self.view.module().types.get(ty), Type::Metadata) {
                continue;
            }
            args.extend(self.operand(state, arg, ty)?);
        }
        Ok(args)
    }

    pub(super) fn library(
        &mut self,
        state: &mut State,
        function: FuncId,
        call: &Call,
        result: Option<ValueId>,
    ) -> Result<After, Stop> {
        let name = &*self.view.module().function(function).name.clone();
        if prints(name) {
            return self.print(state, function, call);
        }
        if name == ASSUME {
            return self.assume(state, call);
        }
        let mut args = self.arguments(state, call)?;
        self.suit_arguments(state, (function, name), call, &mut args)?;
        if name == CPP_WAIT {
            // A lock begins with the pointer to its mutex.
            args[1] = self.load(state, &args[1], 8, Order::Plain)?;
            return self.library_with(state, (function, C_WAIT), (call, result), args);
        }
        self.library_with(state, (function, name), (call, result), args)
    }

    /// Pointers where the function takes pointers, and sizes and handles of 64 bits, also where the program has fewer.
    fn suit_arguments(
        &mut self,
        state: &mut State,
        (function, name): (FuncId, &str),
        call: &Call,
        args: &mut Args,
    ) -> Result<(), Stop> {
        if !self.is_ilp32() {
            return Ok(());
        }
        let is_handle = name.contains("join") || name.contains("detach");
        let params = self.parameter_types(function);
        for (at, arg) in args.iter_mut().enumerate() {
            let ty = params.get(at).or_else(|| call.arg_types.get(at));
            let Some(&ty) = ty else { continue };
            match self.view.module().types.get(ty) {
                Type::Ptr => *arg = self.suited(state, arg, 64)?,
                Type::Int(32) if arg.width() == 64 => *arg = self.suited(state, arg, 32)?,
                _ => {}
            }
            let is_size = numbers_needed(name).contains(&at)
                || is_handle && at == 0
                || name == "pthread_attr_setstacksize" && at == 1
                || name.starts_with("strn") && matches!(at, 1 | 2);
            if is_size && arg.width() == 32 {
                *arg = resize(arg, 64);
            }
        }
        Ok(())
    }

    /// With arguments that may be known better than those of the call.
    pub(super) fn library_with(
        &mut self,
        state: &mut State,
        (function, name): (FuncId, &str),
        (call, result): (&Call, Option<ValueId>),
        args: Args,
    ) -> Result<After, Stop> {
        let args = self.pinned_arguments(state, name, call, args);
        let unknown = numbers_needed(name).iter().copied().find(|&at| {
            let arg = args.get(at);
            arg.is_some_and(|arg| arg.as_constant().is_none() && arg.set.values().is_some())
        });
        let unknown = unknown.or_else(|| self.address_that_cuts(state, name, &args));
        if let Some(at) = unknown
            && let Some(ways) = self.ways(state, &args[at])
        {
            for (mut state, number) in ways {
                let mut args = args.clone();
                args[at] = Sym::constant(args[at].width(), number);
                let (callee, call) = ((function, name), (call, result));
                let after = self.library_with(&mut state, callee, call, args);
                self.settle(state, after)?;
            }
            return Ok(After::Gone);
        }
        if let Some(at) = Self::open_object(name, &args) {
            for (mut state, number) in self.object_ways(state, name, &args[at])? {
                let mut args = args.clone();
                args[at] = Sym::constant(64, number);
                let (callee, call) = ((function, name), (call, result));
                let after = self.library_with(&mut state, callee, call, args);
                self.settle(state, after)?;
            }
            return Ok(After::Gone);
        }
        if let Some(after) = self.allocate_open(state, (function, name), (call, result), &args)? {
            return Ok(after);
        }
        if let Some(at) = length_of(name)
            && args.get(at).is_some_and(|it| it.as_constant().is_none())
        {
            let addresses = match name.contains("memset") {
                true => &args[..1],
                false => &args[..2],
            };
            for (mut state, number) in self.open_lengths(state, addresses, &args[at]) {
                let after = match number {
                    Some(number) => {
                        let mut args = args.clone();
                        args[at] = Sym::constant(args[at].width(), number);
                        let (callee, call) = ((function, name), (call, result));
                        self.library_with(&mut state, callee, call, args)
                    }
                    None => Err(unsupported_call(
                        name,
                        "a length that is not known, or large",
                    )),
                };
                self.settle(state, after)?;
            }
            return Ok(After::Gone);
        }
        let width = match result {
            Some(value) => {
                let ty = state.top().code.body().value_types[value.index()];
                let widths = self.view.layout(ty)?.widths;
                if widths.len() > 1 && name.starts_with("__VERIFIER_nondet_") {
                    return Err(unsupported_call(name, "values of more than 64 bits"));
                }
                widths.first().copied().unwrap_or(1)
            }
            None => 32,
        };
        let value = match self.special(state, name, &args)? {
            Some(After::Next) => None,
            Some(after) => return Ok(after),
            None => match self.waiting(state, name, &args)? {
                Some(value) => Some(value),
                None => match self.system(state, name, &args)? {
                    Some(value) => Some(value),
                    None => match self.text(state, name, &args)? {
                        Some(value) => Some(value),
                        None => match self.valued(state, name, &args, width)? {
                            Some(value) => Some(value),
                            None => return self.call_model(state, function, call, &args),
                        },
                    },
                },
            },
        };
        if let Some(value) = value {
            self.set(state, result, vec![resize(&value, width)]);
        }
        if state.path.is_impossible() {
            return Ok(After::Gone);
        }
        self.after_call(state, After::Next)
    }

    /// Addresses, handles of threads and sizes must be known.
    fn pinned_arguments(&mut self, state: &mut State, name: &str, call: &Call, args: Args) -> Args {
        let is_handle = name.contains("join") || name.contains("detach");
        let args = args.into_iter().enumerate();
        args.map(|(at, arg)| {
            let ty = call.arg_types.get(at).copied();
            let is_address = ty.is_some_and(|ty| *self.view.module().types.get(ty) == Type::Ptr);
            let is_needed = numbers_needed(name).contains(&at) || is_handle && at == 0;
            match is_address || is_needed {
                true => self.pinned(state, arg),
                false => arg,
            }
        })
        .collect()
    }

    /// The thread goes on only if the argument is not zero.
    pub(super) fn assume(&mut self, state: &mut State, call: &Call) -> Result<After, Stop> {
        let args = self.arguments(state, call)?;
        let holds = !self.out.bits.is_zero(&args[0].word);
        let fails = self.out.bits.bit_and(state.path.guard(), !holds);
        self.stops_inside(state, fails);
        state.path.push(&mut self.out.bits, holds);
        if state.path.is_impossible() {
            return Ok(After::Gone);
        }
        self.after_call(state, After::Next)
    }

    /// Functions that return nothing, or do not return.
    fn special(
        &mut self,
        state: &mut State,
        name: &str,
        args: &Args,
    ) -> Result<Option<After>, Stop> {
        match name {
            "__VERIFIER_atomic_begin" => self.begin_block_of(state),
            "__VERIFIER_atomic_end" => self.end_block_of(state),
            "__VERIFIER_error" | "reach_error" => {
                return Err(Stop::Fault(Fault::ErrorReached {
                    function: name.into(),
                }));
            }
            "__assert_fail" | "__assert" | "__assert_rtn" => {
                return Err(Stop::Fault(Fault::Assertion {
                    condition: "".into(),
                    comparison: None,
                }));
            }
            "abort" if self.options.silent_abort => {
                self.out.exits.push(state.path.guard());
                return Ok(Some(After::Gone));
            }
            "abort" => return Err(Stop::Fault(Fault::Abort)),
            "exit" if self.runs_something_at_exit() => {
                let models = vec![ModelCall::named("exit", &[0])];
                self.run_models(state.clone(), models)?;
                return Ok(Some(After::Gone));
            }
            "quick_exit" if self.view.module().function_named("at_quick_exit").is_some() => {
                let models = vec![ModelCall::named("quick_exit", &[0])];
                self.run_models(state.clone(), models)?;
                return Ok(Some(After::Gone));
            }
            "exit" | "_exit" | "_Exit" | "quick_exit" => {
                self.out.exits.push(state.path.guard());
                return Ok(Some(After::Gone));
            }
            "pthread_exit" | "thrd_exit" => {
                self.check_cleanups(state, name)?;
                state.result = args.first().cloned();
                let owned = state.frames.iter_mut().rev();
                let owned: Vec<_> = owned
                    .flat_map(|frame| std::mem::take(&mut frame.owned).into_iter().rev())
                    .collect();
                for object in owned {
                    self.free_object(state, object, Bit::TRUE)?;
                }
                state.frames.clear();
                state.private.clear();
                self.leave_thread(state, false)?;
                return Ok(Some(After::Gone));
            }
            "free" | "_ZdlPv" | "_ZdaPv" | "_ZdlPvm" | "_ZdaPvm" => self.free(state, &args[0])?,
            _ if name.starts_with("llvm.va_start") => self.va_start(state, &args[0])?,
            _ if name.starts_with("llvm.va_copy") => self.va_copy(state, &args[0], &args[1])?,
            _ if name.starts_with("llvm.memset.") => self.fill(state, args)?,
            _ if name.starts_with("llvm.memcpy.") => self.copy(state, args)?,
            _ if name.starts_with("llvm.memmove.") => self.move_bytes(state, args)?,
            _ => return Ok(None),
        }
        Ok(Some(After::Next))
    }

    /// Functions that return a value.
    fn valued(
        &mut self,
        state: &mut State,
        name: &str,
        args: &Args,
        width: u32,
    ) -> Result<Option<Sym>, Stop> {
        let zero = Sym::zero(width);
        Ok(Some(match name {
            "pthread_create" => {
                let is_detached = self.is_detached(state, &args[1])?;
                self.create(state, name, (&args[0], &args[2], &args[3]))?;
                if is_detached {
                    let word = self.word_size();
                    let handle = self.load(state, &args[0], word, Order::Plain)?;
                    self.detach(state, &handle)?;
                }
                zero
            }
            START_THREAD => {
                self.create_cpp(state, args)?;
                zero
            }
            "_ZNSt6thread4joinEv" => {
                let handle = self.load(state, &args[0], 8, Order::Plain)?;
                self.join(state, name, &vec![handle, Sym::zero(64)], 8)?;
                self.store(state, &args[0], 8, &Sym::zero(64), Order::Plain)?;
                zero
            }
            "_ZNSt6thread6detachEv" => {
                self.drain(state);
                let handle = self.load(state, &args[0], 8, Order::Plain)?;
                self.detach(state, &handle)?;
                self.store(state, &args[0], 8, &Sym::zero(64), Order::Plain)?;
                zero
            }
            "thrd_create" => {
                self.create(state, name, (&args[0], &args[1], &args[2]))?;
                zero
            }
            "pthread_join" | "thrd_join" => {
                let size = if name == "pthread_join" {
                    self.word_size()
                } else {
                    4
                };
                self.join(state, name, args, size)?;
                zero
            }
            "pthread_self" | "thrd_current" => {
                Sym::constant(64, self.out.threads[self.thread].handle)
            }
            "pthread_equal" | "thrd_equal" => {
                let (a, b) = (&args[..1], &args[1..2]);
                let same = self.compare(IntPredicate::Eq, a, b);
                Sym::of(Sym::bit(same).word.zext(width as usize))
            }
            "pthread_detach" | "thrd_detach" => {
                self.drain(state);
                self.detach(state, &args[0])?;
                zero
            }
            "pthread_attr_destroy"
            | "sched_yield"
            | "pthread_yield"
            | "thrd_yield"
            | "pthread_testcancel"
            | "pthread_setname_np"
            | "pthread_setconcurrency"
            | "pthread_getconcurrency"
            | "pthread_sigmask"
            | "pthread_attr_setguardsize"
            | "pthread_attr_setscope"
            | "pthread_attr_setschedpolicy"
            | "pthread_attr_setschedparam"
            | "pthread_attr_setinheritsched"
            | "pthread_mutexattr_destroy"
            | "pthread_mutexattr_setpshared"
            | "pthread_mutexattr_setprotocol"
            | "pthread_mutexattr_setprioceiling"
            | "pthread_rwlockattr_init"
            | "pthread_rwlockattr_destroy"
            | "pthread_rwlockattr_setpshared"
            | "pthread_rwlockattr_setkind_np"
            | "pthread_condattr_setclock"
            | "pthread_condattr_setpshared"
            | "pthread_barrierattr_init"
            | "pthread_barrierattr_destroy"
            | "pthread_barrierattr_setpshared"
            | "pthread_condattr_init"
            | "pthread_condattr_destroy"
            | "srand" => zero,
            "usleep" | "sleep" | "nanosleep" | "thrd_sleep" | "clock_nanosleep"
                if !looks_at_clocks(self.view.module()) =>
            {
                zero
            }
            "malloc" => self.allocate(state, name, &args[0], MALLOC_ALIGN)?,
            "_Znwm" | "_Znam" => {
                let block = self.allocate(state, name, &args[0], MALLOC_ALIGN)?;
                if block.as_constant() == Some(0) {
                    return Err(Stop::Unsupported(Unsupported::Unwind));
                }
                block
            }
            "calloc" => {
                let sizes = (args[0].as_constant(), args[1].as_constant());
                let size = match sizes {
                    (Some(count), Some(size)) => count.saturating_mul(size),
                    _ => return Err(unsupported_call(name, "a size that is not known")),
                };
                self.allocate(state, name, &Sym::constant(64, size), MALLOC_ALIGN)?
            }
            "malloc_usable_size" => match self.usable_size(&args[0]) {
                Some(size) => size,
                None => return Ok(None),
            },
            "realloc" => self.reallocate(state, name, &args[0], &args[1])?,
            "memset" | "__memset_chk" => {
                self.fill(state, args)?;
                args[0].clone()
            }
            "memcpy" | "__memcpy_chk" => {
                self.copy(state, args)?;
                args[0].clone()
            }
            "memmove" | "__memmove_chk" => {
                self.move_bytes(state, args)?;
                args[0].clone()
            }
            "__VERIFIER_nondet_pointer" | "__VERIFIER_nondet_pchar" if self.is_ilp32() => {
                let number = self.choose(state, name, 32);
                self.pointer_of(state, &number)?
            }
            _ if name.starts_with("__VERIFIER_nondet_") => self.choose(state, name, width),
            "rand" | "rand_r" | "random" | "lrand48" => self.choose_random(state, name, width),
            _ => return self.mathematics(name, args),
        }))
    }

    // ---- choices

    /// A random number, as the interpreter chooses it: one for each result where the program looks at little of it.
    fn choose_random(&mut self, state: &mut State, name: &str, width: u32) -> Sym {
        let top = state.top();
        let (function, block, index) = (top.code.id(), top.block.0, top.index as u32);
        let count = match self.view.values_looked_at(function, block, index) {
            None => return self.choose(state, name, width),
            Some(0 | 1) => return Sym::zero(width),
            Some(count) => u64::from(count),
        };
        // So many bits that half of their numbers are too few.
        let bits = u64::BITS - (count - 1).leading_zeros();
        let any = self.fresh(bits);
        let half = Word::constant(bits as usize, 1 << (bits - 1));
        let most = Word::constant(bits as usize, u128::from(count - 1));
        let is_small = self.out.bits.ule(&any, &most);
        let smaller = self.out.bits.sub(&any, &half);
        let any = self.out.bits.ite(is_small, &any, &smaller);
        let guard = state.path.guard();
        let choice = (guard, vec![any.clone()]);
        self.out.threads[self.thread].choices.push(choice);
        Sym::of(any.zext(width as usize))
    }

    /// A value that may be anything.
    fn choose(&mut self, state: &State, name: &str, width: u32) -> Sym {
        let what = name.trim_start_matches("__VERIFIER_nondet_");
        let (bits, piece) = match what {
            "bool" | "_Bool" => (1, 1),
            "char" | "schar" | "uchar" => (8, 8),
            // From 0 to RAND_MAX.
            "rand" | "rand_r" | "random" | "lrand48" => (31, 16),
            _ => (width, 16),
        };
        let bits = bits.min(width);
        let word = match what {
            // Measured: neither order is the better one for these.
            "float" | "double" => self.fresh(bits),
            _ => (self.out.bits).fresh_from_top(bits as usize, &mut self.out.vars),
        };
        let pieces = (0..word.width())
            .step_by(piece)
            .map(|from| word.extract(from, word.width().min(from + piece)))
            .collect();
        let guard = state.path.guard();
        self.out.threads[self.thread].choices.push((guard, pieces));
        let word = match what {
            // The interpreter's choice is a number from 0 to 255.
            _ if word.width() < width as usize => word.zext(width as usize),
            _ => word,
        };
        Sym::of(word)
    }

    // ---- threads

    fn is_detached(&mut self, state: &mut State, attributes: &Sym) -> Result<bool, Stop> {
        if attributes.as_constant() == Some(0) {
            return Ok(false);
        }
        let detached = self.load(state, attributes, 8, Order::Plain)?;
        match detached.as_constant() {
            Some(detached) => Ok(detached == 1),
            None => Err(unsupported_call(
                "pthread_create",
                "attributes that are not known",
            )),
        }
    }

    fn create(
        &mut self,
        state: &mut State,
        function: &str,
        (handle_at, entry, arg): (&Sym, &Sym, &Sym),
    ) -> Result<(), Stop> {
        let Some(&[entry]) = entry.set.values() else {
            return Err(unsupported_call(
                function,
                "which function it runs is not known",
            ));
        };
        let function = self.view.function_at(entry);
        let function = function.ok_or_else(|| Stop::Fault(super::access::bad_address(entry)))?;
        let name = self.view.function_name(function);
        let handle = self.new_thread(state, &name)?;
        let word = self.word_size();
        let stored = resize(&handle.1, u32::from(word) * 8);
        self.store(state, handle_at, word, &stored, Order::Plain)?;
        let start = Start::Function(function, std::slice::from_ref(arg));
        self.start_thread(state, handle, start)
    }

    /// `(thread, pointer to what it is to run, …)`: the new thread owns what it runs.
    fn create_cpp(&mut self, state: &mut State, args: &Args) -> Result<(), Stop> {
        let (thread, owner) = (&args[0], &args[1]);
        let runs = self.load(state, owner, 8, Order::Plain)?;
        let Some(runs) = runs.as_constant() else {
            return Err(unsupported("a thread that runs what is not known"));
        };
        const NAME: &str = "std::thread";
        let handle = self.new_thread(state, NAME)?;
        self.store(state, thread, 8, &handle.1, Order::Plain)?;
        let start = Start::Model(ModelCall::named(NAME, &[runs]));
        self.start_thread(state, handle, start)?;
        self.store(state, owner, 8, &Sym::zero(64), Order::Plain)
    }

    /// The name and the handle of the thread that this thread will start next.
    fn new_thread(&mut self, state: &mut State, name: &str) -> Result<(ThreadId, Sym), Stop> {
        let parent = self.out.threads[self.thread].id;
        if let Some(bound) = self.options.threads {
            let parent = &self.view.tables().thread_info(parent).name;
            if parent.child(state.spawns + 1).rank() > bound {
                return Err(Stop::Limit(Limit::Threads { bound }));
            }
        }
        if self.out.threads.len() >= MOST_THREADS as usize {
            let most = MOST_THREADS;
            return Err(Stop::Unsupported(Unsupported::Threads { most }));
        }
        state.spawns += 1;
        let id = self.view.tables_mut().thread(parent, state.spawns, name);
        let id = id.map_err(Stop::from)?;
        let handle = self.view.tables().handle_of_thread(id);
        Ok((id, Sym::constant(64, handle)))
    }

    fn start_thread(
        &mut self,
        state: &mut State,
        (id, handle): (ThreadId, Sym),
        start: Start<'_>,
    ) -> Result<(), Stop> {
        let handle = handle.as_constant().unwrap_or(0);
        self.begin_sharing(state)?;
        let child = self.out.threads.len();
        self.options.watch.saw_threads(child + 1);
        let started = state.path.guard();
        self.out.threads.push(Thread {
            id,
            handle,
            started,
            finished: Bit::FALSE,
            begin: None,
            end: None,
            choices: Vec::new(),
            allocations: Vec::new(),
            variables: Vec::new(),
            is_uncertain: !state.counts_spawns || self.out.threads[self.thread].is_uncertain,
        });
        self.started_at.push(self.place(state));
        self.step(state, StepKind::Spawn { child }, Order::SeqCst);
        let mut path = Path::default();
        path.push(&mut self.out.bits, started);
        self.run_thread(child, State::new(path, false), start)
    }

    /// `size`: of the value that is stored, if it is wanted.
    fn join(&mut self, state: &mut State, name: &str, args: &Args, size: u8) -> Result<(), Stop> {
        let Some(handles) = args[0].set.values().map(<[u64]>::to_vec) else {
            return Err(unsupported_call(
                name,
                "which thread is joined is not known",
            ));
        };
        if state.block.is_some() {
            return Err(unsupported_call(name, "inside of an atomic block"));
        }
        let wants_value = args[1].as_constant() != Some(0);
        let mut of = Vec::new();
        let mut may_pass = Bit::FALSE;
        let mut value = Sym::zero(64);
        for handle in handles {
            let is_it = args[0].is(&mut self.out.bits, handle);
            if handle == 0 || handle == self.out.threads[self.thread].handle {
                let misuse = if handle == 0 {
                    Misuse::JoinUnknown
                } else {
                    Misuse::JoinSelf
                };
                self.fault_if(state, is_it, misused(misuse));
                continue;
            }
            let finished = self.finished(handle);
            let passes = self.out.bits.bit_and(is_it, finished);
            may_pass = self.out.bits.bit_or(may_pass, passes);
            of.push((is_it, handle));
            if wants_value {
                let returned = self.returned(handle)?;
                value = Sym::ite(&mut self.out.bits, is_it, &returned, &value);
            }
        }
        self.wait_for(state, may_pass, crate::events::Awaited::Threads(of.clone()))?;
        let guard = state.path.guard();
        if guard == Bit::FALSE {
            return Ok(());
        }
        for &(is_it, handle) in &of {
            self.mark_joined(state, is_it, handle)?;
        }
        let join = self.step(state, StepKind::Join { of }, Order::SeqCst);
        Rc::make_mut(&mut state.joined).insert(join);
        self.out.steps[join].joined = Rc::clone(&state.joined);
        if wants_value {
            let value = match name {
                "pthread_join" => self.number_of(state, &value)?,
                _ => resize(&value, u32::from(size) * 8),
            };
            self.store(state, &args[1], size, &value, Order::Plain)?;
        }
        Ok(())
    }

    /// A thread that is detached cannot be joined any more.
    fn detach(&mut self, state: &mut State, thread: &Sym) -> Result<(), Stop> {
        const NAME: &str = "pthread_detach";
        let Some(handles) = thread.set.values().map(<[u64]>::to_vec) else {
            return Err(unsupported_call(NAME, "which thread is meant is not known"));
        };
        for handle in handles {
            let is_it = thread.is(&mut self.out.bits, handle);
            if handle == 0 {
                self.fault_if(state, is_it, misused(Misuse::JoinUnknown));
            } else {
                self.mark_joined(state, is_it, handle)?;
            }
        }
        Ok(())
    }

    /// Joining twice is a fault.
    fn mark_joined(&mut self, state: &mut State, is_it: Bit, handle: u64) -> Result<(), Stop> {
        let region = Region {
            object: ObjectId(0),
            is_sync: true,
        };
        let mut twice = Bit::FALSE;
        self.update_cell(state, (region, handle * 4), is_it, |encoder, old| {
            twice = !encoder.out.bits.is_zero(&old.word);
            Sym::constant(32, 1)
        })?;
        let twice = self.out.bits.bit_and(is_it, twice);
        self.fault_if(state, twice, misused(Misuse::JoinTwice));
        Ok(())
    }

    /// Has the thread with this handle finished in the end?
    fn finished(&mut self, handle: u64) -> Bit {
        let mut finished = Vec::new();
        let mut is_known = true;
        for (index, thread) in self.out.threads.iter().enumerate() {
            if thread.handle == handle {
                finished.push(thread.finished);
                is_known &= self.is_encoded(index);
            }
        }
        if is_known && !finished.is_empty() {
            return self.out.bits.any(finished);
        }
        if let Some(&promise) = self.promised.get(&handle) {
            return promise;
        }
        let promise = self.fresh_bit();
        self.promised.insert(handle, promise);
        promise
    }

    fn returned(&mut self, handle: u64) -> Result<Sym, Stop> {
        let mut value: Option<Sym> = None;
        for index in 0..self.out.threads.len() {
            if self.out.threads[index].handle != handle {
                continue;
            }
            if !self.is_encoded(index) {
                return Err(unsupported("the value of a thread that started this one"));
            }
            let result = self.results.get(&index).cloned().flatten();
            let result = result.map_or(Sym::zero(64), |result| resize(&result, 64));
            let finished = self.out.threads[index].finished;
            value = Some(match value {
                None => result,
                Some(other) => Sym::ite(&mut self.out.bits, finished, &result, &other),
            });
        }
        value.ok_or_else(|| unsupported("the value of a thread that is started later"))
    }

    fn is_encoded(&self, thread: usize) -> bool {
        self.encoded.contains(&thread)
    }
}

pub(super) fn misused(misuse: Misuse) -> Fault {
    Fault::Misuse {
        misuse,
        object: None,
        thread: None,
    }
}

/// Arguments that must be numbers: if they are one of a few, each is considered by itself.
fn numbers_needed(name: &str) -> &'static [usize] {
    match name {
        "malloc" | "valloc" | "pvalloc" | "malloc_usable_size" => &[0],
        "calloc" | "realloc" | "aligned_alloc" | "memalign" => &[0, 1],
        "reallocarray" => &[0, 1, 2],
        "posix_memalign" => &[1, 2],
        _ if name.starts_with("_Znwm") || name.starts_with("_Znam") => &[0],
        _ => match length_of(name) {
            Some(_) => &[2],
            None => &[],
        },
    }
}

/// Functions on blocks of bytes: the position of the argument that says how many.
fn length_of(name: &str) -> Option<usize> {
    let has_length = matches!(
        name,
        "memcpy"
            | "memmove"
            | "memset"
            | "memcmp"
            | "bcmp"
            | "__memcpy_chk"
            | "__memmove_chk"
            | "__memset_chk"
    );
    (has_length || name.starts_with("llvm.mem")).then_some(2)
}

/// Functions that only print.
fn prints(name: &str) -> bool {
    matches!(
        name,
        "printf"
            | "fprintf"
            | "dprintf"
            | "__printf_chk"
            | "__fprintf_chk"
            | "putchar"
            | "fputc"
            | "putc"
    )
}

pub(super) fn resize(value: &Sym, width: u32) -> Sym {
    if value.width() == width {
        return value.clone();
    }
    if value.width() > width {
        let word = value.word.extract(0, width as usize);
        return value.map(word, |number| number & crate::value::mask(width));
    }
    let word = value.word.zext(width as usize);
    value.map(word, |number| number)
}
