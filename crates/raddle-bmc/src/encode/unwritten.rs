//! What nobody has written, in shared and in private memory.
//!
//! Private memory and registers are as in `raddle_program::interp`, `undefined`: reading what nobody has written makes a register undefined, copies of it are, any
//! other use is a fault. For each byte and register there is a bit that says so.
//!
//! Of reads of shared memory those count that `raddle_memory::uninit` finds: none of whose bytes was written before, of a heap block that was not made full of
//! zeros or of a stack variable, by an instruction that something depends on. Like a race, it does not stop its thread.
//!
//! Where nobody looks for that, what nobody has written is a value like any other, and may be any ([`EncodeOptions::any_unwritten`](super::EncodeOptions)): bytes of
//! their own for each object, made when they are first read ([`AnyBytes`]). The machine is then given the bytes that were found
//! (`raddle_program::FirstBytes`). Constants that are `undef` have no memory that could be given to the machine; what depends on one is refused.
//! Of an address that is read from a cell which nobody may have written nothing is known; but what threads store there is
//! ([`Sym::likely`]), and only where it is anything else the access is refused ([`Encoder::pinned`]).
//!
//! Memory that a state knows for sure knows what was written, too. A cell that others access holds what nobody has written if it is read from
//! the first contents, and these were written by nobody: that is seen from the literals for reads-from (`Problem::add_unwritten_reads`).

use super::access::{Case, POSITION_BITS, Target, private_variable};
use super::{Encoder, unsupported};
use crate::contents::{AnyBytes, Contents};
use crate::events::{ErrorCondition, StepIndex, UnwrittenRead};
use crate::facts::{Cell, Region, Zeroed};
use crate::state::State;
use crate::value::{Set, Sym};
use raddle_ir::inst::{BinaryOp, Call, CastOp};
use raddle_ir::{InstKind, Operand, Type};
use raddle_order::bits::{Bit, Word};
use raddle_program::{Fault, ObjectId, Stop};
use std::rc::Rc;

/// Something depends on a register or private memory that nobody has written.
pub(super) const NOT_WRITTEN: Fault = Fault::Uninitialised {
    object: None,
    offset: 0,
};

/// A read of cells that others access, before its step is known.
pub(super) struct Candidate {
    guard: Bit,
    cells: Vec<Cell>,
    fault: Fault,
}

impl Encoder<'_> {
    pub(super) fn checks_uninit(&self) -> bool {
        self.options.checks.uninit && self.view.checks_uninit()
    }

    /// Looks whether something depends on what the instruction at hand reads.
    pub(super) fn look_at_needs(&mut self, state: &State) {
        let frame = state.frames.last().filter(|_| self.checks_uninit());
        self.needs_contents = frame.is_some_and(|frame| {
            self.view
                .needs_contents(&frame.code, frame.block, frame.index)
        });
    }

    /// Is it private memory that nobody has written, at one of several places?
    pub(super) fn private_unwritten(
        &mut self,
        state: &mut State,
        case: &Case,
        size: u8,
    ) -> Result<Bit, Stop> {
        if matches!(case.target, Target::Shared(_)) || !self.checks_uninit() {
            return Ok(Bit::FALSE);
        }
        let contents = Rc::clone(self.known(state, case.target)?);
        let unwritten = contents.is_unwritten(&mut self.out.bits, case.offset, size);
        Ok(self.out.bits.bit_and(case.condition, unwritten))
    }

    /// After a copy between private variables: what nobody has written at the source, nobody has written at the target.
    pub(super) fn copy_unwritten(&mut self, state: &mut State, to: &Sym, from: &Sym, size: u8) {
        let place = |state: &State, address: &Sym| {
            let address = address.as_constant()?;
            let number = (address >> 32) as u32;
            let (base, contents) = private_variable(state, number)?;
            let offset = address.checked_sub(base)?;
            let fits = offset + u64::from(size) <= contents.size;
            let position = (number & ((1 << POSITION_BITS) - 1)) as usize;
            (fits && position < state.private.len()).then_some((position, offset))
        };
        if let (Some((source, first)), Some((target, offset))) =
            (place(state, from), place(state, to))
            && let Some(bytes) =
                state.private[source].unwritten_bytes(&mut self.out.bits, first, size)
        {
            Rc::make_mut(&mut state.private[target]).forget_bytes(offset, size, bytes);
        }
    }

    // ---- registers

    /// Something depends on the operand: it must be defined.
    pub(super) fn use_operand(&mut self, state: &mut State, operand: Operand) {
        if !self.checks_uninit() && !self.options.any_unwritten {
            return;
        }
        let undefined = match operand {
            Operand::Const(id) => Bit::constant(self.view.is_undefined(id)),
            Operand::Value(value) => {
                let Some(frame) = state.frames.last() else {
                    return;
                };
                let slots = frame.regs[frame.code.slots(value)].iter().flatten();
                let undefined: Vec<Bit> = slots.map(|slot| slot.undefined).collect();
                self.out.bits.any(undefined)
            }
        };
        if self.options.any_unwritten {
            self.refuse_if(state, undefined, unsupported("a value that is not defined"));
            return;
        }
        self.fault_if(state, undefined, NOT_WRITTEN);
    }

    /// The operands of an instruction must be defined, but for those that it merely copies, or whose bits it moves about. Calls are
    /// looked at where they are done.
    pub(super) fn use_operands(&mut self, state: &mut State, kind: &InstKind) {
        match kind {
            InstKind::Freeze { value, .. } if self.options.any_unwritten => {
                self.use_operand(state, *value);
            }
            InstKind::Store { value, ptr, .. } if self.options.any_unwritten => {
                self.use_operand(state, *ptr);
                self.use_operand(state, *value);
            }
            InstKind::Call(_)
            | InstKind::Freeze { .. }
            | InstKind::ExtractValue { .. }
            | InstKind::InsertValue { .. } => {}
            InstKind::Binary { op, .. } if moves_bits(*op) => {}
            InstKind::Cast { op, .. } if !converts(*op) => {}
            InstKind::Select { condition, .. } => self.use_operand(state, *condition),
            InstKind::Store { ptr, .. } => self.use_operand(state, *ptr),
            _ => {
                let mut operands = Vec::new();
                kind.visit_operands(|_, operand| operands.push(*operand));
                for operand in operands {
                    self.use_operand(state, operand);
                }
            }
        }
    }

    /// The arguments of a function of the library must be defined.
    pub(super) fn use_arguments(&mut self, state: &mut State, call: &Call) {
        for (&arg, &ty) in call.args.iter().zip(&call.arg_types) {
            if !matches!(self.view.module().types.get(ty), Type::Metadata) {
                self.use_operand(state, arg);
            }
        }
    }

    /// What an instruction returns that moves bits about: undefined, if these are. Where one operand of `|` is defined, so is the result.
    pub(super) fn propagate(&mut self, kind: &InstKind, operands: &[&[Sym]], values: &mut [Sym]) {
        let mut first = operands
            .iter()
            .map(|values| values.first().map_or(Bit::FALSE, |value| value.undefined));
        match kind {
            InstKind::Binary { op, .. } if moves_bits(*op) => {
                let undefined = match op {
                    BinaryOp::Or => self.out.bits.all(first),
                    _ => self.out.bits.any(first),
                };
                if let Some(value) = values.first_mut() {
                    value.undefined = undefined;
                }
            }
            InstKind::Cast { op, .. } if !converts(*op) => {
                let undefined = first.next().unwrap_or(Bit::FALSE);
                values
                    .iter_mut()
                    .for_each(|value| value.undefined = undefined);
            }
            _ => {}
        }
    }

    // ---- shared memory

    /// A heap block is made, full of zeros or not.
    pub(super) fn note_block(&mut self, state: &State, object: ObjectId, is_zeroed: bool) {
        self.facts.make_block(object, is_zeroed);
        let is_looked_at = self.checks_uninit() || self.options.any_unwritten;
        if is_looked_at && self.facts.zeroed(object) == Zeroed::Sometimes {
            let zeroed = self.sometimes_zeroed(object);
            let differs = self.out.bits.bit_xor(zeroed, Bit::constant(is_zeroed));
            let fine = self.out.bits.bit_or(!state.path.guard(), !differs);
            self.out.required.push(fine);
        }
    }

    fn sometimes_zeroed(&mut self, object: ObjectId) -> Bit {
        if let Some(&bit) = self.zeroed.get(&object) {
            return bit;
        }
        let bit = self.fresh_bit();
        self.zeroed.insert(object, bit);
        bit
    }

    /// Does the object hold what nobody has written when it is made?
    pub(super) fn begins_unwritten(&mut self, object: ObjectId) -> Bit {
        match self.facts.zeroed(object) {
            Zeroed::Never => Bit::TRUE,
            Zeroed::Always => Bit::FALSE,
            Zeroed::Sometimes => !self.sometimes_zeroed(object),
        }
    }

    // ---- any value

    /// What a heap block or a shared stack variable holds when it is made.
    pub(super) fn any_contents(&mut self, object: ObjectId, size: u64) -> Contents {
        let is_zero = !self.begins_unwritten(object);
        if is_zero == Bit::TRUE {
            return Contents::new(size, None);
        }
        let bytes = self.out.any.entry(object);
        let bytes = bytes.or_insert_with(|| AnyBytes::unless(is_zero));
        Contents::any(size, Rc::clone(bytes))
    }

    /// What a private stack variable holds when it is made.
    pub(super) fn variable_contents(&mut self, state: &State, size: u64) -> Contents {
        if self.checks_uninit() {
            return Contents::fresh(size, Bit::TRUE);
        }
        if !self.options.any_unwritten {
            return Contents::new(size, None);
        }
        let bytes = AnyBytes::unless(Bit::FALSE);
        let thread = &mut self.out.threads[self.thread];
        let variable = (state.path.guard(), Rc::clone(&bytes));
        thread.variables.push(variable);
        Contents::any(size, bytes)
    }

    /// A number that must be known. If it may be anything because nobody has written it, that it is anything else is refused.
    pub(super) fn pinned(&mut self, state: &mut State, value: Sym) -> Sym {
        let Some(likely) = value.likely.clone() else {
            return value;
        };
        let bits = &mut self.out.bits;
        let is_one: Vec<Bit> = match &likely {
            Set::Any => return value,
            Set::Values(values) => values.iter().map(|&it| value.is(bits, it)).collect(),
            Set::Objects(numbers) => {
                let high = value.word.extract(32, 64);
                let numbers = numbers.iter();
                numbers
                    .map(|&number| bits.eq(&high, &Word::constant(32, u128::from(number))))
                    .collect()
            }
        };
        let is_known = self.out.bits.any(is_one);
        let refused = unsupported("an address that nobody may have written");
        self.refuse_if(state, !is_known, refused);
        Sym {
            undefined: value.undefined,
            ..Sym::within(value.word, likely)
        }
    }

    /// A read of memory that the state knows for sure: a fault if nobody has written it.
    pub(super) fn check_written(
        &mut self,
        state: &mut State,
        case: &Case,
        size: u8,
    ) -> Result<(), Stop> {
        let Target::Shared(region) = case.target else {
            return Ok(());
        };
        if !self.needs_contents {
            return Ok(());
        }
        let contents = Rc::clone(self.known(state, case.target)?);
        let unwritten = contents.is_unwritten(&mut self.out.bits, case.offset, size);
        let guard = [state.path.guard(), case.condition, unwritten];
        let guard = self.out.bits.all(guard);
        if guard != Bit::FALSE {
            self.out.errors.push(ErrorCondition {
                thread: self.thread,
                guard,
                fault: fault(region.object, case.offset),
            });
        }
        Ok(())
    }

    /// The same for cells that others access. To be asked before they are read.
    pub(super) fn candidate(
        &mut self,
        state: &State,
        (region, case): (Region, &Case),
        size: u8,
    ) -> Result<Option<Candidate>, Stop> {
        if !self.needs_contents {
            return Ok(None);
        }
        let cells = self.facts.cells(region, case.offset, size);
        let mut guard = self.out.bits.bit_and(state.path.guard(), case.condition);
        for cell in &cells {
            let first = self.first_unwritten(*cell)?;
            guard = self.out.bits.bit_and(guard, first);
        }
        let fault = fault(region.object, case.offset);
        Ok((guard != Bit::FALSE).then_some(Candidate {
            guard,
            cells,
            fault,
        }))
    }

    /// Does the cell hold what nobody has written when the first thread is started?
    pub(super) fn first_unwritten(&mut self, cell: Cell) -> Result<Bit, Stop> {
        if cell.region.is_sync || !self.checks_uninit() {
            return Ok(Bit::FALSE);
        }
        let contents = self.first_contents(cell.region)?;
        Ok(contents.is_unwritten(&mut self.out.bits, cell.offset, cell.size))
    }

    /// The reads are done; by this step, if others can see it.
    pub(super) fn add_candidates(&mut self, candidates: Vec<Candidate>, step: Option<StepIndex>) {
        for candidate in candidates {
            let Candidate {
                guard,
                cells,
                fault,
            } = candidate;
            let thread = self.thread;
            match step {
                Some(step) => self.out.unwritten.push(UnwrittenRead {
                    thread,
                    step,
                    guard,
                    cells,
                    fault,
                }),
                // Nobody ever writes them.
                None => self.out.errors.push(ErrorCondition {
                    thread,
                    guard,
                    fault,
                }),
            }
        }
    }
}

fn moves_bits(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::LShr
            | BinaryOp::AShr
    )
}

/// Does a cast compute, instead of moving bits?
fn converts(op: CastOp) -> bool {
    !matches!(
        op,
        CastOp::Trunc
            | CastOp::ZExt
            | CastOp::SExt
            | CastOp::Bitcast
            | CastOp::AddrSpaceCast
            | CastOp::PtrToInt
            | CastOp::IntToPtr
    )
}

fn fault(object: ObjectId, offset: u64) -> Fault {
    Fault::Uninitialised {
        object: Some(object),
        offset: offset.cast_signed(),
    }
}
