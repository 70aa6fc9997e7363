//! Functions of the program that take any number of arguments.

use super::{Encoder, unsupported};
use crate::contents::Contents;
use crate::state::State;
use crate::value::Sym;
use raddle_ir::inst::Call;
use raddle_ir::{FuncId, Type, TypeId};
use raddle_program::tables::{OFFSET_BIAS, PRIVATE_THREAD};
use raddle_program::{Order, Stop};
use std::rc::Rc;

/// What the two offsets of a list say when the areas of registers are used up: all arguments are in the other area.
const REGISTERS_END: u64 = 48;
const FLOATS_END: u64 = 176;
/// The size of a list.
const LIST_SIZE: u64 = 24;
/// Position bits of a private address number.
const POSITION_BITS: u32 = 20;

impl Encoder<'_> {
    /// The types of a function's parameters.
    pub(super) fn parameter_types(&self, function: FuncId) -> Vec<TypeId> {
        let ty = self.view.module().function(function).ty;
        match self.view.module().types.get(ty) {
            Type::Function { params, .. } => params.to_vec(),
            _ => Vec::new(),
        }
    }

    fn parameter_count(&self, function: FuncId) -> (usize, bool) {
        let ty = self.view.module().function(function).ty;
        match self.view.module().types.get(ty) {
            Type::Function {
                params, varargs, ..
            } => (params.len(), *varargs),
            _ => (0, false),
        }
    }

    /// The slots of the arguments that belong to parameters.
    pub(super) fn parameters(
        &mut self,
        state: &State,
        function: FuncId,
        call: &Call,
    ) -> Result<Vec<Sym>, Stop> {
        let (params, _) = self.parameter_count(function);
        let mut args = Vec::new();
        for (&arg, &ty) in call.args.iter().zip(&call.arg_types).take(params) {
            args.extend(self.operand(state, arg, ty)?);
        }
        Ok(args)
    }

    /// The memory that `va_arg` will step over: eight bytes an argument, larger ones as they are.
    pub(super) fn variadic(
        &mut self,
        state: &mut State,
        function: FuncId,
        call: &Call,
    ) -> Result<Option<Rc<Contents>>, Stop> {
        let (params, true) = self.parameter_count(function) else {
            return Ok(None);
        };
        let mut end = 0u64;
        let mut parts: Vec<(u64, u8, Sym)> = Vec::new();
        for index in params..call.args.len() {
            let byval = call.byval.iter().find(|(arg, _)| *arg as usize == index);
            if let Some(&(_, ty)) = byval {
                let address = self.pointer(state, call.args[index])?;
                end = self.push_struct(state, &address, ty, end, &mut parts)?;
                continue;
            }
            let ty = call.arg_types[index];
            let values = self.operand(state, call.args[index], ty)?;
            let layout = self.view.layout(ty)?;
            let word = u64::from(self.word_size());
            let align = match layout.store_size {
                9.. if word == 8 => 16,
                _ => word,
            };
            let start = end.next_multiple_of(align);
            for piece in &layout.pieces {
                let value = match piece.narrow {
                    true => self.number_of(state, &values[piece.slot])?,
                    false => super::cells::part_of(&values[piece.slot], piece.shift, piece.size),
                };
                parts.push((start + piece.offset, piece.size, value));
            }
            end = start + layout.store_size.next_multiple_of(word);
        }
        let mut contents = Contents::new(end, None);
        for (offset, size, value) in parts {
            contents.store(offset, size, value);
        }
        Ok(Some(Rc::new(contents)))
    }

    /// A struct that is passed by its address: as it is now. Returns where it ends.
    fn push_struct(
        &mut self,
        state: &mut State,
        address: &Sym,
        ty: TypeId,
        start: u64,
        parts: &mut Vec<(u64, u8, Sym)>,
    ) -> Result<u64, Stop> {
        let size = self.view.module().types.alloc_size(ty);
        let size = size.map_err(|_| unsupported("an argument of a type without size"))?;
        let steps = self.out.steps.len();
        for offset in 0..size {
            let at = self.plus(address, &Sym::constant(64, offset));
            let value = self.load(state, &at, 1, Order::Plain)?;
            parts.push((start + offset, 1, value));
        }
        if self.out.steps.len() > steps {
            return Err(unsupported("a shared struct as a variadic argument"));
        }
        Ok((start + size).next_multiple_of(self.word_size().into()))
    }

    pub(super) fn va_start(&mut self, state: &mut State, list: &Sym) -> Result<(), Stop> {
        let area = state.top().varargs.clone();
        let area = area.unwrap_or_else(|| Rc::new(Contents::new(0, None)));
        let number = PRIVATE_THREAD << POSITION_BITS | state.private.len() as u32;
        state.private.push(area);
        let area = u64::from(number) << 32 | OFFSET_BIAS;
        if self.is_ilp32() {
            // On i386 the list is a pointer to the arguments.
            let area = self.number_of(state, &Sym::constant(64, area))?;
            return self.store(state, list, 4, &area, Order::Plain);
        }
        let fields = [
            (0, 4, REGISTERS_END),
            (4, 4, FLOATS_END),
            (8, 8, area),
            (16, 8, 0),
        ];
        for (offset, size, value) in fields {
            let at = self.plus(list, &Sym::constant(64, offset));
            let value = Sym::constant(u32::from(size) * 8, value);
            self.store(state, &at, size, &value, Order::Plain)?;
        }
        Ok(())
    }

    pub(super) fn va_copy(&mut self, state: &mut State, to: &Sym, from: &Sym) -> Result<(), Stop> {
        let size = if self.is_ilp32() { 4 } else { LIST_SIZE };
        let args = vec![to.clone(), from.clone(), Sym::constant(64, size)];
        self.copy(state, &args)
    }
}
