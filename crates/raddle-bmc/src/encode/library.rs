//! Functions that the program does not define.

use super::flow::After;
use super::{Encoder, unsupported, unsupported_call};
use crate::events::{Thread, What};
use crate::facts::Region;
use crate::path::Path;
use crate::state::State;
use crate::value::Sym;
use raddle_ir::inst::{Call, IntPredicate};
use raddle_ir::{Type, ValueId};
use raddle_order::bits::Bit;
use raddle_program::{Fault, Misuse, ObjectId, Order, Stop};

/// Threads that start threads nest this deep at most.
const MOST_THREADS: usize = 256;

/// The arguments of a call.
pub(super) type Args = Vec<Sym>;

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
        name: &str,
        call: &Call,
        result: Option<ValueId>,
    ) -> Result<After, Stop> {
        if is_output(name) {
            // What it returns is not known, and an error if anybody wants to know.
            return self.after_call(state, After::Next);
        }
        let args = self.arguments(state, call)?;
        let width = match result {
            Some(value) => {
                let ty = state.top().code.body().value_types[value.index()];
                self.view.layout(ty)?.widths.first().copied().unwrap_or(1)
            }
            None => 32,
        };
        let value = match self.special(state, name, &args)? {
            Some(After::Next) if name == "pthread_once" => Some(Sym::zero(width)),
            Some(After::Next) => None,
            Some(after) => return Ok(after),
            None => match self.waiting(state, name, &args)? {
                Some(value) => Some(value),
                None => match self.system(state, name, &args)? {
                    Some(value) => Some(value),
                    None => match self.text(state, name, &args)? {
                        Some(value) => Some(value),
                        None => self.valued(state, name, &args, width)?,
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

    /// Functions that return nothing, or do not return.
    fn special(
        &mut self,
        state: &mut State,
        name: &str,
        args: &Args,
    ) -> Result<Option<After>, Stop> {
        match name {
            "__VERIFIER_assume" => {
                let holds = !self.out.bits.is_zero(&args[0].word);
                state.path.push(&mut self.out.bits, holds);
            }
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
            "exit" | "_exit" | "_Exit" | "quick_exit" => {
                self.out.exits.push(state.path.guard());
                return Ok(Some(After::Gone));
            }
            "pthread_exit" | "thrd_exit" => {
                state.result = args.first().cloned();
                for frame in state.frames.iter_mut().rev() {
                    let owned = std::mem::take(&mut frame.owned);
                    if !owned.is_empty() {
                        return Err(unsupported_call(name, "shared stack variables are alive"));
                    }
                }
                self.finish(state, false);
                return Ok(Some(After::Gone));
            }
            "free" | "_ZdlPv" | "_ZdaPv" | "_ZdlPvm" | "_ZdaPvm" => self.free(state, &args[0])?,
            "pthread_once" | "call_once" => return self.once(state, name, args).map(Some),
            _ if name.starts_with("llvm.memset.") => self.fill(state, args)?,
            _ if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") => {
                self.copy(state, args)?;
            }
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
                    let handle = self.load(state, &args[0], 8, Order::Plain)?;
                    self.detach(state, &handle)?;
                }
                zero
            }
            "thrd_create" => {
                self.create(state, name, (&args[0], &args[1], &args[2]))?;
                zero
            }
            "pthread_join" | "thrd_join" => {
                let size = if name == "pthread_join" { 8 } else { 4 };
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
            | "usleep"
            | "sleep"
            | "nanosleep"
            | "thrd_yield"
            | "thrd_sleep"
            | "clock"
            | "clock_nanosleep"
            | "pthread_key_delete"
            | "tss_delete"
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
            "malloc" | "_Znwm" | "_Znam" => self.allocate(state, name, &args[0])?,
            "calloc" => {
                let size = self.out.bits.mul(&args[0].word, &args[1].word);
                self.allocate(state, name, &Sym::of(size))?
            }
            "memset" => {
                self.fill(state, args)?;
                args[0].clone()
            }
            "memcpy" | "memmove" => {
                self.copy(state, args)?;
                args[0].clone()
            }
            _ if name.starts_with("__VERIFIER_nondet_") => self.choose(state, name, width),
            _ => {
                return Err(unsupported_call(name, "its meaning is not encoded"));
            }
        }))
    }

    // ---- choices

    /// A value that may be anything.
    fn choose(&mut self, state: &State, name: &str, width: u32) -> Sym {
        let what = name.trim_start_matches("__VERIFIER_nondet_");
        let (bits, piece) = match what {
            "bool" | "_Bool" => (1, 1),
            "char" | "schar" | "uchar" => (8, 8),
            _ => (width, 16),
        };
        let word = self.fresh(bits.min(width));
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
        let refused = |why: &str| unsupported_call(function, why);
        let Some(&[entry]) = entry.set.values() else {
            return Err(refused("which function it runs is not known"));
        };
        let function = self.view.function_at(entry);
        let function = function.ok_or_else(|| Stop::Fault(super::access::bad_address(entry)))?;
        if self.out.threads.len() >= MOST_THREADS {
            return Err(refused("so many threads"));
        }
        state.spawns += 1;
        let parent = self.out.threads[self.thread].id;
        let name = self.view.function_name(function);
        let id = self.view.tables_mut().thread(parent, state.spawns, &name);
        let id = id.map_err(Stop::from)?;
        let handle = self.view.tables().handle_of_thread(id);
        self.store(
            state,
            handle_at,
            8,
            &Sym::constant(64, handle),
            Order::Plain,
        )?;
        self.begin_sharing(state)?;
        let child = self.out.threads.len();
        let started = state.path.guard();
        self.out.threads.push(Thread {
            id,
            handle,
            started,
            finished: Bit::FALSE,
            begin: None,
            end: None,
            choices: Vec::new(),
        });
        self.started_at.push(self.place(state));
        self.step(state, What::Spawn { child }, Order::SeqCst);
        let mut path = Path::default();
        path.push(&mut self.out.bits, started);
        self.run_thread(
            child,
            State::new(path, false),
            function,
            std::slice::from_ref(arg),
        )
    }

    /// `size`: of the value that is stored, if it is wanted.
    fn join(&mut self, state: &mut State, name: &str, args: &Args, size: u8) -> Result<(), Stop> {
        let Some(handles) = args[0].set.values().map(<[u64]>::to_vec) else {
            return Err(unsupported_call(
                name,
                "which thread is joined is not known",
            ));
        };
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
        self.wait_for(state, may_pass, crate::events::Awaited::Threads(of.clone()));
        let guard = state.path.guard();
        if guard == Bit::FALSE {
            return Ok(());
        }
        for &(is_it, handle) in &of {
            self.mark_joined(state, is_it, handle)?;
        }
        self.step(state, What::Join { of }, Order::SeqCst);
        if wants_value {
            let value = resize(&value, u32::from(size) * 8);
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

    // ---- intrinsics and assembly

    pub(super) fn intrinsic(
        &mut self,
        state: &mut State,
        name: &str,
        call: &Call,
        result: Option<ValueId>,
    ) -> Result<Vec<Sym>, Stop> {
        let family: Vec<&str> = name.trim_start_matches("llvm.").split('.').collect();
        match family[..] {
            [
                "dbg" | "lifetime" | "invariant" | "donothing" | "prefetch" | "assume"
                | "sideeffect" | "stackrestore" | "va_end",
                ..,
            ] => return Ok(Vec::new()),
            ["x86", "sse2", "mfence"] => {
                self.fence(state, Order::SeqCst);
                return Ok(Vec::new());
            }
            ["x86", "sse", "sfence"] => {
                self.fence(state, Order::Release);
                return Ok(Vec::new());
            }
            ["x86", "sse2", "lfence" | "pause"] => return Ok(Vec::new()),
            ["stacksave", ..] => return Ok(vec![Sym::zero(64)]),
            _ => {}
        }
        let args = self.arguments(state, call)?;
        let first = |predicate, encoder: &mut Self| {
            let first = encoder.compare(predicate, &args[..1], &args[1..2]);
            vec![Sym::ite(&mut encoder.out.bits, first, &args[0], &args[1])]
        };
        let bits = &mut self.out.bits;
        Ok(match family[..] {
            ["expect", ..] | ["threadlocal", "address", ..] => vec![args[0].clone()],
            ["smax", ..] => first(IntPredicate::Sgt, self),
            ["smin", ..] => first(IntPredicate::Slt, self),
            ["umax", ..] => first(IntPredicate::Ugt, self),
            ["umin", ..] => first(IntPredicate::Ult, self),
            ["abs", ..] => {
                let negative = bits.neg(&args[0].word);
                let sign = args[0].word.sign();
                vec![Sym::of(bits.ite(sign, &negative, &args[0].word))]
            }
            [op, "with", "overflow", ..] => {
                let (a, b) = (&args[0].word, &args[1].word);
                let (word, lost) = match op {
                    "sadd" => (bits.add(a, b), bits.sadd_overflows(a, b)),
                    "uadd" => (bits.add(a, b), bits.uadd_overflows(a, b)),
                    "ssub" => (bits.sub(a, b), bits.ssub_overflows(a, b)),
                    "usub" => (bits.sub(a, b), bits.usub_overflows(a, b)),
                    "smul" => (bits.mul(a, b), bits.smul_overflows(a, b)),
                    _ => (bits.mul(a, b), bits.umul_overflows(a, b)),
                };
                vec![Sym::of(word), Sym::bit(lost)]
            }
            _ => {
                let _ = result;
                return Err(unsupported(name));
            }
        })
    }

    pub(super) fn inline_assembly(
        &mut self,
        state: &mut State,
        text: &str,
        call: &Call,
        result: Option<ValueId>,
    ) -> Result<(), Stop> {
        let unknown =
            || Stop::Unsupported(raddle_program::Unsupported::InlineAsm { text: text.into() });
        if result.is_some() || !call.args.is_empty() && !text.trim().is_empty() {
            return Err(unknown());
        }
        for statement in text.split([';', '\n']) {
            match statement.trim().to_ascii_lowercase().as_str() {
                "" | "pause" | "nop" | "rep" | "rep nop" | "yield" => {}
                "mfence" => self.fence(state, Order::SeqCst),
                "sfence" => self.fence(state, Order::Release),
                "lfence" => {}
                _ => return Err(unknown()),
            }
        }
        Ok(())
    }
}

pub(super) fn misused(misuse: Misuse) -> Fault {
    Fault::Misuse {
        misuse,
        object: None,
        thread: None,
    }
}

/// Functions that only print.
fn is_output(name: &str) -> bool {
    matches!(
        name,
        "printf"
            | "puts"
            | "putchar"
            | "fprintf"
            | "vprintf"
            | "fflush"
            | "perror"
            | "fputs"
            | "fputc"
            | "putc"
            | "__printf_chk"
            | "__fprintf_chk"
    )
}

fn resize(value: &Sym, width: u32) -> Sym {
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
