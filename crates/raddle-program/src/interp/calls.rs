//! Calls, returns and inline assembly.

use super::OnMainReturn;
use super::assembly::has_pointers_in_registers;
use super::assertion::is_assertion;
use super::code::Code;
use super::exec::Done;
use super::layout::unsupported;
use super::local::{FrameExtra, NativeFrame};
use super::machine::{ActiveFrame, Machine, Step, Top, Values};
use super::memory::Place;
use super::undefined::{self, Mask, Undefined};
use super::woken::RustWait;
use super::world::Callee;
use crate::fault::{AccessKind, Fault, PanicEnd, Stop, Unsupported};
use crate::models::Access;
use crate::op::{Op, Order};
use raddle_ir::inst::Call;
use raddle_ir::{Constant, FuncId, Operand, Terminator, Type, ValueId};
use smallvec::SmallVec;
use std::rc::Rc;

/// Functions whose whole body is one atomic block.
const ATOMIC_PREFIX: &str = "__VERIFIER_atomic_";

impl Machine<'_> {
    /// The function at an address that is called.
    pub(crate) fn callee_at(&self, address: u64) -> Result<FuncId, Stop> {
        let access = AccessKind::Read;
        self.world.function_at(address).ok_or({
            Stop::Fault(if address >> 32 == 0 {
                Fault::NullDereference { access, address }
            } else {
                Fault::WildPointer { access, address }
            })
        })
    }

    pub(crate) fn call(
        &mut self,
        code: &Code,
        call: &Call,
        result: Option<ValueId>,
    ) -> Result<Done, Stop> {
        if let Operand::Const(id) = call.callee
            && let Constant::InlineAsm {
                text, constraints, ..
            } = self.world.module.constant(id)
        {
            let (text, constraints) = (text.clone(), constraints.clone());
            return self.inline_asm(code, call, result, &text, &constraints);
        }
        let function = match call.callee {
            Operand::Const(id) => match self.world.module.constant(id) {
                Constant::Function(function) => *function,
                _ => {
                    let address = self.scalar(code, call.callee)?;
                    self.callee_at(address)?
                }
            },
            Operand::Value(_) => {
                let address = self.scalar(code, call.callee)?;
                self.callee_at(address)?
            }
        };
        match self.world.callee(function) {
            Callee::Intrinsic => self.intrinsic(code, function, call, result),
            Callee::Model(model) => {
                let (args, fixed) = self.arguments(code, function, call)?;
                if is_assertion(&self.world.module.function(function).name) {
                    self.comparison = self.comparison(code);
                }
                self.enter_model(model, Some(function), &args, fixed)?;
                Ok(Done::Switched)
            }
            Callee::Defined => self.call_defined(code, function, call),
            Callee::RustWait => self.call_rust_wait(code, function, call, result),
            Callee::Panic => {
                let (args, _) = self.arguments(code, function, call)?;
                Err(self.panicked(function, &args))
            }
            Callee::Unknown => Err(self.unknown_function(function)),
        }
    }

    fn unknown_function(&self, function: FuncId) -> Stop {
        self.world.unknown_function(function)
    }

    /// All argument slots in order, and how many belong to fixed parameters.
    fn arguments(
        &mut self,
        code: &Code,
        function: FuncId,
        call: &Call,
    ) -> Result<(SmallVec<[u64; 8]>, u32), Stop> {
        let (args, fixed, undefined) = self.passed(code, function, call)?;
        if undefined.any() {
            return Err(undefined::fault());
        }
        Ok((args, fixed))
    }

    /// The same for a function that is run itself: what is undefined is passed on.
    fn passed(
        &mut self,
        code: &Code,
        function: FuncId,
        call: &Call,
    ) -> Result<(SmallVec<[u64; 8]>, u32, Mask), Stop> {
        let params = self.param_count(function);
        let mut args = SmallVec::new();
        let mut fixed = 0;
        let mut undefined = Mask::NONE;
        for (index, &arg) in call.args.iter().enumerate() {
            let (mut values, mask) = self.copied(code, arg)?;
            self.suit_parameter(function, index, &mut values)?;
            undefined.replace(args.len(), values.len(), mask);
            args.extend(values);
            if index < params {
                fixed = args.len() as u32;
            }
        }
        Ok((args, fixed, undefined))
    }

    fn param_count(&self, function: FuncId) -> usize {
        let function = self.world.module.function(function);
        match self.world.module.types.get(function.ty) {
            Type::Function { params, .. } => params.len(),
            _ => 0,
        }
    }

    // ---- entering

    /// A wait on a condition variable of Rust's library, which may return at once.
    fn call_rust_wait(
        &mut self,
        code: &Code,
        function: FuncId,
        call: &Call,
        result: Option<ValueId>,
    ) -> Result<Done, Stop> {
        match self.rust_wait() {
            RustWait::Goes => self.call_defined(code, function, call),
            RustWait::Chooses(op) => Ok(Done::Visible(op)),
            RustWait::Wakes => {
                // With a deadline, the result says that it has not passed.
                if result.is_some() {
                    self.set_result(code, result, &[1]);
                }
                Ok(Done::Next)
            }
        }
    }

    fn call_defined(&mut self, code: &Code, function: FuncId, call: &Call) -> Result<Done, Stop> {
        let is_atomic = self
            .world
            .module
            .function(function)
            .name
            .starts_with(ATOMIC_PREFIX);
        if is_atomic
            && self.frame().log.is_empty()
            && let Access::Visible(op) = self.enter_atomic()
        {
            return Ok(Done::Visible(op));
        }
        let (args, fixed, undefined) = self.passed(code, function, call)?;
        let varargs = self.varargs(code, function, call)?;
        let args = (&args[..fixed as usize], undefined);
        self.enter(function, args, varargs, is_atomic)?;
        Ok(Done::Switched)
    }

    /// Puts a frame of a defined function on top.
    fn enter(
        &mut self,
        function: FuncId,
        (args, mask): (&[u64], Mask),
        varargs: Option<Rc<[u8]>>,
        atomic: bool,
    ) -> Result<(), Stop> {
        let code = self.world.code(function)?;
        self.push_top()?;
        let mut regs = vec![0; code.slot_count as usize];
        // Parameters have the first registers. A call through a wrong prototype may pass too few or too many.
        let params = (0..code.body.param_count as usize).map(|param| code.slots[param].len);
        let room = params.sum::<u32>() as usize;
        let passed = args.len().min(room);
        regs[..passed].copy_from_slice(&args[..passed]);
        if self.is_ilp32() {
            self.suit_registers(&code, &mut regs)?;
        }
        let mut undefined = Undefined::default();
        undefined.set(0..passed, mask);
        self.top = Top::Ir(ActiveFrame {
            code,
            block: 0,
            index: 0,
            regs,
            undefined,
            log: SmallVec::new(),
            came_from: None,
            extra: FrameExtra {
                private_base: self.state.private.len() as u32,
                atomic,
                varargs,
                ..FrameExtra::default()
            },
        });
        Ok(())
    }

    /// Calls a function from a model.
    pub(crate) fn call_from_model(&mut self, function: FuncId, args: &[u64]) -> Result<Step, Stop> {
        match self.world.callee(function) {
            Callee::Defined | Callee::RustWait => {
                self.enter(function, (args, Mask::NONE), None, false)?;
            }
            Callee::Model(model) => {
                self.enter_model(model, Some(function), args, args.len() as u32)?;
            }
            Callee::Panic => return Err(self.panicked(function, args)),
            Callee::Intrinsic | Callee::Unknown => return Err(self.unknown_function(function)),
        }
        Ok(Step::Continue)
    }

    /// Runs the body of the function that a model stood in for; the model's frame is gone.
    pub(crate) fn enter_original(&mut self, frame: &NativeFrame) -> Result<Step, Stop> {
        let Some(function) = frame.function else {
            return Err(unsupported("the body of a function that has none"));
        };
        self.enter(function, (&frame.args, Mask::NONE), None, false)?;
        Ok(Step::Continue)
    }

    /// The memory that `va_arg` will step over: eight bytes an argument, four on i386, larger ones as they are.
    fn varargs(
        &mut self,
        code: &Code,
        function: FuncId,
        call: &Call,
    ) -> Result<Option<Rc<[u8]>>, Stop> {
        let params = self.param_count(function);
        let ty = self.world.module.function(function).ty;
        if !matches!(
            self.world.module.types.get(ty),
            Type::Function { varargs: true, .. }
        ) {
            return Ok(None);
        }
        let mut bytes: Vec<u8> = Vec::new();
        for index in params..call.args.len() {
            let byval = call.byval.iter().find(|(arg, _)| *arg as usize == index);
            if let Some(&(_, ty)) = byval {
                let address = self.scalar(code, call.args[index])?;
                self.push_byval(&mut bytes, address, ty)?;
                continue;
            }
            let values = self.copied(code, call.args[index])?.0;
            let layout = self.world.layout(call.arg_types[index])?;
            let word = self.word_size() as usize;
            let align = match layout.store_size {
                9.. if !self.is_ilp32() => 16,
                _ => word,
            };
            bytes.resize(bytes.len().next_multiple_of(align), 0);
            let start = bytes.len();
            let size = (layout.store_size as usize).next_multiple_of(word);
            bytes.resize(start + size, 0);
            for piece in &layout.pieces {
                let part = self.part_of(&values, piece)?.to_le_bytes();
                let (at, size) = (start + piece.offset as usize, usize::from(piece.size));
                bytes[at..at + size].copy_from_slice(&part[..size]);
            }
        }
        Ok(Some(bytes.into()))
    }

    fn push_byval(
        &mut self,
        bytes: &mut Vec<u8>,
        address: u64,
        ty: raddle_ir::TypeId,
    ) -> Result<(), Stop> {
        let size = self.world.module.types.alloc_size(ty);
        let size = size.map_err(|_| unsupported("an argument of a type without size"))?;
        let Some(contents) = self.bytes_here(address, size)? else {
            return Err(unsupported("a shared struct as a variadic argument"));
        };
        bytes.extend(contents);
        bytes.resize(bytes.len().next_multiple_of(self.word_size() as usize), 0);
        Ok(())
    }

    // ---- returning

    pub(crate) fn ret(&mut self, code: &Code, value: Option<Operand>) -> Result<Done, Stop> {
        // Threads that outlive `main` may well use its variables.
        let keeps = code.function == self.world.main
            && self.world.options.on_main_return == OnMainReturn::Wait;
        let frame = self.frame();
        let done = frame.log.len();
        let owned = if keeps { 0 } else { frame.extra.owned.len() };
        if done < owned {
            let object = frame.extra.owned[owned - 1 - done];
            return Ok(Done::Visible(Op::Free { object }));
        }
        let ends_block = frame.extra.atomic && done == owned;
        let base = frame.extra.private_base as usize;
        if ends_block && let Access::Visible(op) = self.leave_atomic() {
            return Ok(Done::Visible(op));
        }
        let (values, undefined) = match value {
            Some(value) => self.copied(code, value)?,
            None => (SmallVec::new(), Mask::NONE),
        };
        self.state.private.truncate(base);
        self.return_values(&values, undefined)?;
        Ok(Done::Switched)
    }

    /// The frame on top gets back what it called.
    pub(crate) fn call_returned(&mut self, values: &[u64], undefined: Mask) -> Result<(), Stop> {
        let frame = self.frame();
        let code = Rc::clone(&frame.code);
        let (block, index) = (frame.block as usize, frame.index as usize);
        let block = &code.body.blocks[block];
        let returned = match (block.insts.get(index), &block.terminator) {
            (Some(inst), _) => inst.result,
            (None, Terminator::Invoke { result, .. }) => *result,
            _ => None,
        };
        let mut suited = Values::from_slice(values);
        if let Some(result) = returned {
            self.suit_result(code.body.value_types[result.index()], &mut suited)?;
        }
        let values = &suited[..];
        if let Some(inst) = block.insts.get(index) {
            self.set_copy(&code, inst.result, (values, undefined));
            self.frame().index += 1;
        } else if let Terminator::Invoke { result, normal, .. } = &block.terminator {
            self.set_copy(&code, *result, (values, undefined));
            self.jump(&code, *normal)?;
        }
        Ok(())
    }

    // ---- panics

    fn panicked(&mut self, function: FuncId, args: &[u64]) -> Stop {
        let message = self.panic_message(args).unwrap_or_else(|| {
            let name = self.world.function_display_name(function);
            name.as_ref().into()
        });
        let end = PanicEnd::Here;
        Stop::Fault(Fault::Panic { message, end })
    }

    /// The text of `panic(&'static str, …)`: a pointer into constant data and a length.
    fn panic_message(&mut self, args: &[u64]) -> Option<Box<str>> {
        const LONGEST: u64 = 4096;
        let (&address, &len) = (args.first()?, args.get(1)?);
        if len == 0 || len > LONGEST {
            return None;
        }
        let Ok(Place::Constant { global, offset }) = self.place(address, len, AccessKind::Read)
        else {
            return None;
        };
        let bytes = self.initial_bytes(global).ok()?;
        let text = bytes.get(offset..offset + len as usize)?;
        std::str::from_utf8(text).ok().map(Into::into)
    }

    // ---- inline assembly

    fn inline_asm(
        &mut self,
        code: &Code,
        call: &Call,
        result: Option<ValueId>,
        text: &str,
        constraints: &str,
    ) -> Result<Done, Stop> {
        let returned = result.map(|result| code.body.value_types[result.index()]);
        let types = &self.world.module.types;
        let what = (text, constraints);
        if self.is_ilp32() && has_pointers_in_registers(types, what, &call.arg_types, returned) {
            return Err(Stop::Unsupported(Unsupported::InlineAsm {
                text: text.into(),
            }));
        }
        if result.is_none()
            && let Some(done) = self.locked_update(code, call, (text, constraints))?
        {
            return Ok(done);
        }
        if let Some(done) = self.exchange(code, call, result, (text, constraints))? {
            return Ok(done);
        }
        if let Some(done) = self.double_or_bit(code, call, result, (text, constraints))? {
            return Ok(done);
        }
        if let Some(registers) = super::assembly::counts_cycles(text, constraints)
            && let Some(model) = crate::models::lookup(crate::models::CYCLES)
        {
            self.enter_model(model, None, &[registers], 1)?;
            return Ok(Done::Switched);
        }
        if super::assembly::asks_what_the_processor_can(text) {
            let outputs = constraints.split(',').filter(|it| it.starts_with('='));
            // It can do what every one can: a program must go right on that, too.
            let zeros: SmallVec<[u64; 4]> = outputs.map(|_| 0).collect();
            self.set_result(code, result, &zeros);
            return Ok(Done::Next);
        }
        let unknown = || Stop::Unsupported(Unsupported::InlineAsm { text: text.into() });
        let order = match meaning(text).ok_or_else(unknown)? {
            Meaning::Nothing => None,
            Meaning::Fence(order) => Some(order),
        };
        if let Some(order) = order
            && self.frame().log.is_empty()
        {
            return Ok(Done::Visible(Op::Fence { order }));
        }
        if result.is_some() {
            let tied = tied_argument(constraints);
            let arg = tied
                .and_then(|index| call.args.get(index))
                .ok_or_else(unknown)?;
            let values = self.operand(code, *arg)?;
            self.set_result(code, result, &values);
        }
        Ok(Done::Next)
    }
}

/// The argument that a text without statements hands through to its only result: `"=r,0"`.
pub(super) fn tied_argument(constraints: &str) -> Option<usize> {
    let parts: Vec<&str> = constraints.split(',').collect();
    let outputs = parts.iter().filter(|part| part.starts_with('=')).count();
    let mut inputs = parts[outputs.min(parts.len())..].iter();
    let tied = inputs.position(|part| *part == "0");
    tied.filter(|_| outputs == 1)
}

/// What a piece of assembly does, as far as we care.
pub(super) enum Meaning {
    Nothing,
    Fence(Order),
}

pub(super) fn meaning(text: &str) -> Option<Meaning> {
    let lower = text.to_ascii_lowercase();
    let mut order = None;
    let mut locked = false;
    for statement in lower.split([';', '\n']) {
        let statement = statement.trim();
        let (locked_here, rest) = match statement.strip_prefix("lock") {
            Some(rest) => (true, rest.trim()),
            None => (locked, statement),
        };
        let compact: String = rest.chars().filter(|c| !c.is_whitespace()).collect();
        match compact.as_str() {
            "" => {}
            "mfence" => order = Some(Order::SeqCst),
            "lfence" => order = order.max(Some(Order::Acquire)),
            "sfence" => order = order.max(Some(Order::Release)),
            "pause" | "nop" | "rep" | "repnop" | "yield" => {}
            add if locked_here && is_locked_nothing(add) => order = Some(Order::SeqCst),
            _ => return None,
        }
        locked = locked_here && rest.is_empty();
    }
    Some(order.map_or(Meaning::Nothing, Meaning::Fence))
}

/// `addl $0, 0(%rsp)` and its like: with a lock prefix, a full fence.
fn is_locked_nothing(compact: &str) -> bool {
    ["addl", "addq", "orl", "orq", "orb"].iter().any(|op| {
        compact
            .strip_prefix(op)
            .and_then(|rest| rest.strip_prefix("$$0,").or(rest.strip_prefix("$0,")))
            .is_some_and(|place| place.ends_with("(%rsp)") || place.ends_with("(%esp)"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_and_barriers_are_known_by_their_text() {
        assert!(matches!(meaning(""), Some(Meaning::Nothing)));
        assert!(matches!(meaning("rep; nop"), Some(Meaning::Nothing)));
        let is_full = |text| matches!(meaning(text), Some(Meaning::Fence(Order::SeqCst)));
        assert!(is_full("mfence"));
        assert!(is_full("lock; addl $$0,0(%rsp)"));
        assert!(is_full("lock; addl $$0, -4(%rsp)\n"));
        assert!(is_full("lock orl $$0, (%rsp)"));
        assert!(meaning("xchgl %eax, (%rbx)").is_none());
        assert!(meaning("addl $$0,0(%rsp)").is_none());
    }
}
