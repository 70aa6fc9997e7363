//! Blocks, calls and returns.

use super::{
    Counted, DEEPEST_CALL, Encoder, LAST_BOUND, MOST_ITERATIONS, unsupported, unsupported_call,
};
use crate::contents::Contents;
use crate::events::{OpenBlock, StepKind};
use crate::facts::Region;
use crate::shape::Shape;
use crate::state::{Frame, Next, State};
use crate::value::Sym;
use raddle_ir::inst::Call;
use raddle_ir::{BlockId, Constant, FuncId, InstKind, Operand, Terminator, TypeId, ValueId};
use raddle_order::bits::Bit;
use raddle_program::interp::view::{Called, ModelCall, is_ignored_intrinsic};
use raddle_program::models::runs_functions_at_exit;
use raddle_program::{Fault, Limit, ObjectKind, Order, PanicEnd, Stop, Unsupported};
use std::rc::Rc;

/// Functions whose whole body is one atomic block.
const ATOMIC_PREFIX: &str = "__VERIFIER_atomic_";

/// Functions that register what is run at the end of a thread.
const DESTRUCTORS: [&str; 5] = [
    "pthread_key_create",
    "__pthread_key_create",
    "tss_create",
    "__cxa_thread_atexit",
    "__cxa_thread_atexit_impl",
];

/// What became of a state.
pub(super) enum After {
    /// It goes on with the next instruction.
    Next,
    /// It goes on where it is now.
    Moved,
    /// It has been dealt with: it waits for its turn, or is at its end.
    Gone,
}

impl Encoder<'_> {
    /// Runs a state up to the next place where paths may meet.
    pub(super) fn advance(&mut self, mut state: State) -> Result<(), Stop> {
        if let Err(stop) = self.begin_block(&mut state) {
            return self.stopped(&state, stop);
        }
        if state.path.is_impossible() {
            return Ok(());
        }
        loop {
            let frame = state.top();
            let (code, block, index) = (frame.code.clone(), frame.block, frame.index);
            let block = &code.body().blocks[block.index()];
            let after = match block.insts.get(index) {
                Some(inst) => self.instruction(&mut state, &inst.kind, inst.result),
                None => self.terminate(&mut state, &block.terminator),
            };
            match after {
                Ok(After::Next) => state.top().index += 1,
                Ok(After::Moved) => {}
                Ok(After::Gone) => return Ok(()),
                Err(stop) => return self.stopped(&state, stop),
            }
            if state.path.is_impossible() {
                return Ok(());
            }
        }
    }

    /// Ends loops that come to nothing, and bounds the others.
    fn begin_block(&mut self, state: &mut State) -> Result<(), Stop> {
        let bound = self.options.unroll;
        let frame = state.top();
        let is_header = frame.shape.loops.with_header(frame.block).is_some();
        if frame.index > 0 || !is_header {
            return Ok(());
        }
        let unbounded = frame.code.is_unbounded(frame.block);
        let is_library = frame.code.is_library_loop(frame.block);
        let arrived = state.path.guard();
        let goes_on = unbounded && self.next_round(state)?;
        let guard = state.path.guard();
        if guard == Bit::FALSE {
            return Ok(());
        }
        if let Some(iteration) = state.top().iterations.last_mut() {
            if iteration.guard == arrived && guard != arrived {
                // Nothing but what came of the last iteration decides whether there is another one.
                iteration.counted += 1;
            } else if goes_on {
                // Rounds that follow from each other end by themselves, mostly; not if they are all the same.
                iteration.counted += 1;
            }
            let (iterations, bound) = match self.options.counted {
                Counted::Every if is_library => (iteration.counted, bound.max(LAST_BOUND)),
                Counted::Every => (iteration.iteration, bound),
                Counted::Undecided => (iteration.counted, bound),
                Counted::Early if iteration.iteration > bound => (iteration.iteration, bound),
                Counted::Early => (iteration.counted, bound.min(LAST_BOUND)),
            };
            let is_bounded = unbounded || self.options.counted == Counted::Early;
            if is_bounded && iterations > bound {
                return Err(Stop::Limit(Limit::Unroll { bound }));
            }
            if iteration.iteration > MOST_ITERATIONS {
                let bound = MOST_ITERATIONS;
                return Err(Stop::Limit(Limit::Unroll { bound }));
            }
            iteration.guard = guard;
            self.compare_with_last_bound(state);
        }
        Ok(())
    }

    fn instruction(
        &mut self,
        state: &mut State,
        kind: &InstKind,
        result: Option<ValueId>,
    ) -> Result<After, Stop> {
        self.use_operands(state, kind);
        match kind {
            InstKind::Call(call) => self.call(state, call, result),
            InstKind::Load { .. } | InstKind::Store { .. } => {
                self.look_at_needs(state);
                let after = self.load_or_store(state, kind, result);
                self.needs_contents = false;
                after
            }
            InstKind::Alloca { .. }
            | InstKind::Fence { .. }
            | InstKind::CmpXchg { .. }
            | InstKind::AtomicRmw { .. } => {
                self.look_at_needs(state);
                let done = self.access(state, kind, result);
                self.needs_contents = false;
                done.map(|()| After::Next)
            }
            _ => {
                let values = self.compute(state, kind)?;
                self.set(state, result, values);
                Ok(After::Next)
            }
        }
    }

    // ---- registers

    /// The slots of an operand of a known type.
    pub(super) fn operand(
        &mut self,
        state: &State,
        operand: Operand,
        ty: TypeId,
    ) -> Result<Vec<Sym>, Stop> {
        match operand {
            Operand::Const(id) => {
                let thread = self.out.threads[self.thread].id;
                let slots = self.view.constant(id, thread)?;
                let layout = self.view.layout(ty)?;
                let undefined = match self.checks_uninit() || self.options.any_unwritten {
                    true => self.view.undefined_slots(id),
                    false => Vec::new(),
                };
                Ok(layout
                    .widths
                    .iter()
                    .enumerate()
                    .map(|(at, &width)| {
                        let value = Sym::constant(width, slots.get(at).copied().unwrap_or(0));
                        let undefined = undefined.contains(&at);
                        Sym {
                            undefined: Bit::constant(undefined),
                            ..value
                        }
                    })
                    .collect())
            }
            Operand::Value(value) => {
                let frame = state
                    .frames
                    .last()
                    .ok_or_else(|| unsupported("a value outside"))?;
                let range = frame.code.slots(value);
                let slots = frame.regs[range]
                    .iter()
                    .cloned()
                    .collect::<Option<Vec<_>>>();
                slots.ok_or_else(|| unsupported("a value that is not known on every path"))
            }
        }
    }

    /// An operand of one slot.
    pub(super) fn scalar(
        &mut self,
        state: &State,
        operand: Operand,
        ty: TypeId,
    ) -> Result<Sym, Stop> {
        let mut values = self.operand(state, operand, ty)?;
        if values.len() != 1 {
            return Err(unsupported("an operand of several words"));
        }
        values
            .pop()
            .ok_or_else(|| unsupported("an operand without value"))
    }

    /// An address.
    pub(super) fn pointer(&mut self, state: &State, operand: Operand) -> Result<Sym, Stop> {
        match operand {
            Operand::Const(id) => {
                let thread = self.out.threads[self.thread].id;
                let slots = self.view.constant(id, thread)?;
                Ok(Sym::constant(64, slots.first().copied().unwrap_or(0)))
            }
            Operand::Value(value) => {
                let frame = state
                    .frames
                    .last()
                    .ok_or_else(|| unsupported("a value outside"))?;
                let slot = frame.regs[frame.code.slots(value)]
                    .first()
                    .cloned()
                    .flatten();
                slot.ok_or_else(|| unsupported("a value that is not known on every path"))
            }
        }
    }

    pub(super) fn set(&mut self, state: &mut State, result: Option<ValueId>, values: Vec<Sym>) {
        if let Some(result) = result {
            let frame = state.top();
            let range = frame.code.slots(result);
            for (slot, value) in range.zip(values) {
                frame.regs[slot] = Some(value);
            }
        }
    }

    // ---- blocks

    fn terminate(&mut self, state: &mut State, terminator: &Terminator) -> Result<After, Stop> {
        match terminator {
            Terminator::Ret { value, ty } => self.ret(state, *value, *ty),
            Terminator::Br { target } => {
                self.jump(state.clone(), *target, Bit::TRUE)?;
                Ok(After::Gone)
            }
            Terminator::CondBr {
                condition,
                then,
                otherwise,
            } => {
                self.use_operand(state, *condition);
                let frame = state.top();
                let bit = match *condition {
                    Operand::Value(value) => {
                        let slot = frame.code.slots(value).start;
                        frame.regs[slot].as_ref().map(|value| value.word.bits()[0])
                    }
                    Operand::Const(id) => match self.view.module().constant(id) {
                        Constant::Int(_, bits) => Some(Bit::constant(bits & 1 == 1)),
                        _ => Some(Bit::FALSE),
                    },
                };
                let bit = bit.ok_or_else(|| unsupported("a condition that is not known"))?;
                self.jump(state.clone(), *then, bit)?;
                self.jump(state.clone(), *otherwise, !bit)?;
                Ok(After::Gone)
            }
            Terminator::Switch {
                ty,
                value,
                default,
                cases,
            } => {
                self.use_operand(state, *value);
                let value = self.scalar(state, *value, *ty)?;
                let mut rest = Bit::TRUE;
                for &(label, target) in cases {
                    let bit = value.is(&mut self.out.bits, label as u64);
                    let here = self.out.bits.bit_and(rest, bit);
                    self.jump(state.clone(), target, here)?;
                    rest = self.out.bits.bit_and(rest, !bit);
                }
                self.jump(state.clone(), *default, rest)?;
                Ok(After::Gone)
            }
            Terminator::Invoke { result, call, .. } => self.call(state, call, *result),
            Terminator::Unreachable => Err(Stop::Fault(Fault::Unreachable)),
            Terminator::Resume { .. } => Err(Stop::Unsupported(Unsupported::Unwind)),
            Terminator::IndirectBr { .. } => Err(unsupported("an indirect jump")),
            Terminator::Other { name, .. } => Err(unsupported(name)),
        }
    }

    /// Goes to another block if `condition` holds.
    fn jump(&mut self, mut state: State, target: BlockId, condition: Bit) -> Result<(), Stop> {
        if condition == Bit::FALSE {
            return Ok(());
        }
        let code = state.top().code.clone();
        let from = state.top().block;
        let block = &code.body().blocks[target.index()];
        let mut moved = Vec::with_capacity(block.phis.len());
        for phi in &block.phis {
            let incoming = phi.incoming.iter().find(|(pred, _)| *pred == from);
            let &(_, operand) =
                incoming.ok_or_else(|| unsupported("a φ without a value for its predecessor"))?;
            moved.push((phi.result, self.operand(&state, operand, phi.ty)?));
        }
        for (result, values) in moved {
            self.set(&mut state, Some(result), values);
        }
        state.path.push(&mut self.out.bits, condition);
        let guard = state.path.guard();
        let frame = state.top();
        if !frame.shape.is_reducible() {
            return Err(unsupported("a loop that is entered at several places"));
        }
        frame.goto(target, guard);
        frame.forget_dead();
        self.push(state);
        Ok(())
    }

    // ---- calls

    pub(super) fn shape(
        &mut self,
        function: FuncId,
    ) -> Result<(raddle_program::interp::view::FunctionView, Rc<Shape>), Stop> {
        let code = self.view.function(function)?;
        let module = self.view.module();
        let is_assumption = |call: &Call| {
            let callee = raddle_ir::passes::intrinsics::called_function(module, call.callee);
            callee.is_some_and(|id| *module.function(id).name == *super::library::ASSUME)
        };
        let shape = self.shapes.0.entry(function);
        let shape = shape.or_insert_with(|| Rc::new(Shape::new(code.body(), &is_assumption)));
        Ok((code, Rc::clone(shape)))
    }

    /// Puts a frame on top.
    pub(super) fn enter(
        &mut self,
        state: &mut State,
        function: FuncId,
        args: &[Sym],
    ) -> Result<(), Stop> {
        let (code, shape) = self.shape(function)?;
        self.bound_recursion(state, function)?;
        self.compare_with_last_bound(state);
        let guard = state.path.guard();
        let mut frame = Frame::new(code, shape, state.private.len(), guard);
        let params = frame.code.body().param_count as usize;
        let room: usize = (0..params)
            .map(|param| frame.code.slots(ValueId::from_index(param)).len())
            .sum();
        let mut widths = Vec::with_capacity(room);
        for &ty in &frame.code.body().value_types[..params] {
            widths.extend(self.view.layout(ty)?.widths);
        }
        for (slot, (arg, width)) in args.iter().zip(widths).take(room).enumerate() {
            frame.regs[slot] = Some(self.suited(state, arg, width)?);
        }
        // A call through a wrong prototype may pass too few.
        for (param, &ty) in frame.code.body().value_types[..params]
            .to_vec()
            .iter()
            .enumerate()
        {
            let widths = self.view.layout(ty)?.widths;
            let range = frame.code.slots(ValueId::from_index(param));
            for (slot, width) in range.zip(widths) {
                let missing = || Sym::zero(width);
                frame.regs[slot].get_or_insert_with(missing);
            }
        }
        state.frames.push(frame);
        Ok(())
    }

    /// Bounds calls that nest by decisions that are not known.
    fn bound_recursion(&mut self, state: &State, function: FuncId) -> Result<(), Stop> {
        if state.frames.len() > DEEPEST_CALL as usize {
            let bound = DEEPEST_CALL;
            return Err(Stop::Limit(Limit::Unroll { bound }));
        }
        let mut guard = state.path.guard();
        let mut counted = 0;
        for frame in state.frames.iter().rev() {
            if frame.code.id() == function {
                if frame.entered != guard {
                    counted += 1;
                }
                guard = frame.entered;
            }
        }
        // A bound that the user asked for is on loops: engines that run the program do not bound calls.
        let bound = match self.options.counted {
            Counted::Every => self.options.unroll.max(LAST_BOUND),
            Counted::Undecided => self.options.unroll,
            Counted::Early => self.options.unroll.min(LAST_BOUND),
        };
        if counted > bound {
            return Err(Stop::Limit(Limit::Unroll { bound }));
        }
        Ok(())
    }

    fn call(
        &mut self,
        state: &mut State,
        call: &Call,
        result: Option<ValueId>,
    ) -> Result<After, Stop> {
        if let Operand::Const(id) = call.callee {
            match self.view.module().constant(id).clone() {
                Constant::InlineAsm {
                    text, constraints, ..
                } => {
                    self.inline_assembly(state, (&text, &constraints), call, result)?;
                    return Ok(After::Next);
                }
                Constant::Function(function) => {
                    return self.call_function(state, function, call, result);
                }
                _ => {}
            }
        }
        self.use_operand(state, call.callee);
        let callee = self.pointer(state, call.callee)?;
        let callee = self.pinned(state, callee);
        // One state for each function that it may be; they meet again after the call.
        let Some(ways) = self.ways(state, &callee) else {
            return Err(unsupported("a call of a function that is not known"));
        };
        for (mut state, address) in ways {
            let after = match self.view.function_at(address) {
                Some(function) => self.call_function(&mut state, function, call, result),
                None => Err(Stop::Fault(super::access::bad_address(address))),
            };
            self.settle(state, after)?;
        }
        Ok(After::Gone)
    }

    /// One of several states goes on.
    pub(super) fn settle(
        &mut self,
        mut state: State,
        after: Result<After, Stop>,
    ) -> Result<(), Stop> {
        match after {
            Ok(After::Next) => {
                state.top().index += 1;
                self.push(state);
            }
            Ok(After::Moved) => self.push(state),
            Ok(After::Gone) => {}
            Err(stop) => self.stopped(&state, stop)?,
        }
        Ok(())
    }

    fn call_function(
        &mut self,
        state: &mut State,
        function: FuncId,
        call: &Call,
        result: Option<ValueId>,
    ) -> Result<After, Stop> {
        let name = self.view.module().function(function).name.clone();
        let after = match self.view.called(function) {
            Called::RustWait if self.options.spurious_wakeups => {
                let why = "spurious wake-ups of Rust's condition variables are not encoded: without `--no-spurious-wakeups`";
                let name = self.view.function_name(function);
                return Err(unsupported_call(&name, why));
            }
            Called::Body | Called::RustWait => {
                let is_atomic = name.starts_with(ATOMIC_PREFIX);
                let args = self.parameters(state, function, call)?;
                let varargs = self.variadic(state, function, call)?;
                self.enter(state, function, &args)?;
                state.top().varargs = varargs;
                if is_atomic {
                    self.begin_block_of(state);
                    state.top().is_atomic = true;
                }
                return Ok(After::Moved);
            }
            Called::Intrinsic => {
                if !is_ignored_intrinsic(&name) {
                    self.use_arguments(state, call);
                }
                let values = self.intrinsic(state, &name, call, result)?;
                self.set(state, result, values);
                After::Next
            }
            Called::Library => {
                self.use_arguments(state, call);
                return self.library(state, function, call, result);
            }
            Called::Panic => return Err(self.panics(state, function)),
            Called::Unknown => {
                return Err(Stop::Unsupported(Unsupported::UnknownFunction { name }));
            }
        };
        self.after_call(state, after)
    }

    /// A panic is a fault where nobody can catch it: in `main`, outside of `catch_unwind`.
    pub(super) fn panics(&self, state: &State, function: FuncId) -> Stop {
        let name = |id| &*self.view.module().function(id).name;
        let may_be_caught = self.thread != 0
            || state
                .frames
                .iter()
                .any(|frame| name(frame.code.id()).starts_with("__rust_try"));
        if self.view.panics_unwind() && may_be_caught {
            return Stop::Unsupported(Unsupported::Unwind);
        }
        Stop::Fault(Fault::Panic {
            message: self.view.function_name(function).as_ref().into(),
            end: PanicEnd::Here,
        })
    }

    /// Where an `invoke` goes on.
    pub(super) fn after_call(&mut self, state: &mut State, after: After) -> Result<After, Stop> {
        let frame = state.top();
        let code = frame.code.clone();
        let block = &code.body().blocks[frame.block.index()];
        if let (Terminator::Invoke { normal, .. }, After::Next) = (&block.terminator, &after)
            && frame.index == block.insts.len()
        {
            self.jump(state.clone(), *normal, Bit::TRUE)?;
            return Ok(After::Gone);
        }
        Ok(after)
    }

    fn ret(
        &mut self,
        state: &mut State,
        value: Option<Operand>,
        ty: TypeId,
    ) -> Result<After, Stop> {
        let values = match value {
            Some(value) => self.operand(state, value, ty)?,
            None => Vec::new(),
        };
        let is_main = state.frames.len() == 1 && self.thread == 0;
        let frame = state.top();
        let (owned, base) = (std::mem::take(&mut frame.owned), frame.private_base);
        let is_atomic = frame.is_atomic;
        let models = std::mem::take(&mut frame.models);
        // Threads that outlive `main` may well use its variables.
        if !is_main {
            for object in owned.into_iter().rev() {
                self.free_object(state, object, Bit::TRUE)?;
            }
        }
        if is_atomic {
            self.end_block_of(state);
        }
        state.private.truncate(base);
        state.frames.pop();
        if !models.is_empty() {
            self.returned_to_model(state.clone(), &models, values.first())?;
            return Ok(After::Gone);
        }
        if state.frames.is_empty() {
            state.result = values.into_iter().next().map(Sym::defined);
            self.leave_thread(state, is_main)?;
            return Ok(After::Gone);
        }
        self.returned_to(state, values)?;
        Ok(After::Gone)
    }

    /// The function that the frame on top called has returned.
    pub(super) fn returned_to(&mut self, state: &mut State, values: Vec<Sym>) -> Result<(), Stop> {
        let frame = state.top();
        let code = frame.code.clone();
        let block = &code.body().blocks[frame.block.index()];
        match (block.insts.get(frame.index), &block.terminator) {
            (Some(inst), _) => {
                self.set(state, inst.result, values);
                state.top().index += 1;
                self.push(state.clone());
            }
            (None, Terminator::Invoke { result, normal, .. }) => {
                self.set(state, *result, values);
                self.jump(state.clone(), *normal, Bit::TRUE)?;
            }
            _ => return Err(unsupported("a return to nowhere")),
        }
        Ok(())
    }

    /// The thread's function has returned, or the thread leaves from the middle: what comes after that, and its end.
    pub(super) fn leave_thread(&mut self, state: &mut State, is_main: bool) -> Result<(), Stop> {
        let (after, is_needed) = if is_main {
            ("raddle.after_main", self.runs_something_at_exit())
        } else {
            ("raddle.after_thread", self.has_any(&DESTRUCTORS))
        };
        if is_needed {
            state.next = match is_main {
                true => Next::EndOfMain,
                false => Next::EndOfThread,
            };
            return self.run_models(state.clone(), vec![ModelCall::named(after, &[])]);
        }
        self.finish(state, is_main)
    }

    fn has_any(&self, functions: &[&str]) -> bool {
        let module = self.view.module();
        let mut names = functions.iter();
        names.any(|name| module.function_named(name).is_some())
    }

    /// May there be functions to run before the process ends?
    pub(super) fn runs_something_at_exit(&self) -> bool {
        runs_functions_at_exit(self.view.module()) || self.has_any(&DESTRUCTORS)
    }

    /// The library functions are done that a thread begins or ends with.
    pub(super) fn go_on(&mut self, state: &mut State) -> Result<(), Stop> {
        let main = match state.next {
            Next::Main(main) => main,
            Next::EndOfMain => return self.finish(state, true),
            Next::EndOfThread => return self.finish(state, false),
        };
        let (argc, argv) = self.view.program_arguments()?;
        let args = [Sym::constant(32, argc), Sym::constant(64, argv)];
        self.enter(state, main, &args)?;
        self.push(state.clone());
        Ok(())
    }

    /// The thread has come to its end, and so have its copies of thread-local variables: of all that some path comes to, as nobody else has the
    /// address of others. Those of `main` are there as long as the process is, if it returns.
    pub(super) fn finish(&mut self, state: &mut State, is_main: bool) -> Result<(), Stop> {
        if is_main && self.options.exit_with_main {
            self.out.exits.push(state.path.guard());
            return Ok(());
        }
        if !is_main {
            let thread = self.out.threads[self.thread].id;
            for object in self.view.tables().mortal_locals(thread) {
                self.free_object(state, object, Bit::TRUE)?;
            }
        }
        state.frames.clear();
        state.private.clear();
        self.ended.push(state.clone());
        Ok(())
    }

    // ---- atomic blocks

    pub(super) fn begin_block_of(&mut self, state: &mut State) {
        state.atomic_depth += 1;
        if state.atomic_depth == 1 {
            let place = self.place(state);
            if self.facts.may_stop_inside(&place) {
                let begins = self.fresh_bit();
                state.path.push(&mut self.out.bits, begins);
            }
            self.begun_at.push(place);
            state.block = Some(self.out.blocks);
            self.out.blocks += 1;
            // Blocks in which nothing happens that others see are blocks all the same, and those that begin while there is no other thread: one
            // may be started in them.
            self.step(state, StepKind::Block, Order::SeqCst);
        }
    }

    /// The thread stops if `guard` holds, perhaps in the middle of an atomic block.
    ///
    /// Nobody sees the middle of a block, so in such an execution nothing is looked for but that the thread stops. What others do
    /// without the block they do while the thread is before it: such a block may also not be begun at all, which needs no reason, as
    /// a thread may be slow.
    pub(super) fn stops_inside(&mut self, state: &State, guard: Bit) {
        if let Some(block) = state.block
            && guard != Bit::FALSE
            && !state.alone
        {
            self.facts.stop_inside(&self.begun_at[block]);
            let thread = self.thread;
            self.out.open_blocks.push(OpenBlock { thread, guard });
        }
    }

    /// The same for a fault. If it is looked for, the execution is wrong whatever others see.
    pub(super) fn fault_inside(&mut self, state: &State, guard: Bit, fault: &Fault) {
        if !self.options.checks.covers(fault) {
            self.stops_inside(state, guard);
        }
    }

    pub(super) fn end_block_of(&mut self, state: &mut State) {
        state.atomic_depth = state.atomic_depth.saturating_sub(1);
        if state.atomic_depth == 0 {
            state.block = None;
        }
    }

    // ---- memory

    pub(super) fn thread_local_contents(&mut self, position: usize) -> Result<Rc<Contents>, Stop> {
        if let Some(contents) = super::system::contents(position) {
            return Ok(contents);
        }
        match self.view.private_thread_local(position)? {
            Some(bytes) => Ok(Rc::new(Contents::new(bytes.len() as u64, Some(bytes)))),
            None => Err(unsupported("a private variable that does not exist")),
        }
    }

    pub(super) fn is_writable(&self, region: Region) -> bool {
        region.is_sync || self.view.tables().object_info(region.object).kind != ObjectKind::Constant
    }
}

impl Frame {
    /// Forgets registers that nobody reads any more.
    fn forget_dead(&mut self) {
        let shape = Rc::clone(&self.shape);
        let live = shape.live(self.block);
        let count = self.code.body().value_types.len();
        for value in (0..count).filter(|&value| !live.contains(value)) {
            let range = self.code.slots(ValueId::from_index(value));
            self.regs[range].fill(None);
        }
    }
}
