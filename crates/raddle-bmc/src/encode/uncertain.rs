//! Addresses as numbers.
//!
//! An address follows from how many objects its thread had made before, and how many threads its ancestors had started. Where
//! two paths meet that did not make equally many, one object of the encoding stands for several of the program, and so does
//! its address. That is all the same to accesses and to tests for equality. What makes a number of such an address, or
//! compares it with that of another object, is beyond this engine.

use super::{Encoder, unsupported};
use crate::events::Refusal;
use crate::state::State;
use crate::value::Sym;
use raddle_ir::inst::{BinaryOp, CastOp, IntPredicate};
use raddle_order::bits::Bit;
use raddle_program::{ObjectId, Stop, Unsupported};

fn refused() -> Stop {
    unsupported(
        "a number made of an address, where it depends on the path how much was allocated before",
    )
}

impl Encoder<'_> {
    /// Notes a new object whose address is not that of the program.
    pub(super) fn note_uncertain(&mut self, state: &State, object: ObjectId) {
        if !state.counts_allocations || self.out.threads[self.thread].is_uncertain {
            let address = self.view.tables().address(object, 0);
            self.uncertain.insert((address >> 32) as u32);
        }
    }

    fn is_uncertain(&self, value: &Sym) -> bool {
        let is_number = self.is_ilp32() && value.width() == 32;
        if self.uncertain.is_empty() || !(value.width() == 64 || is_number) {
            return false;
        }
        let numbers = self.address_numbers(value);
        numbers.is_some_and(|numbers| numbers.iter().any(|it| self.uncertain.contains(it)))
    }

    /// Refuses a comparison that depends on such an address.
    pub(super) fn check_order(
        &mut self,
        state: &State,
        predicate: IntPredicate,
        a: &[Sym],
        b: &[Sym],
    ) {
        let ([a], [b]) = (a, b) else {
            return;
        };
        let is_equality = matches!(predicate, IntPredicate::Eq | IntPredicate::Ne);
        if !is_equality && (self.is_uncertain(a) || self.is_uncertain(b)) {
            self.refuse_different_objects(state, a, b);
        }
    }

    /// Refuses an operator whose result depends on such an address in another way than being another one into the same object.
    pub(super) fn check_operands(
        &mut self,
        state: &State,
        op: BinaryOp,
        a: &[Sym],
        b: &[Sym],
    ) -> Result<(), Stop> {
        let ([a], [b]) = (a, b) else {
            return Ok(());
        };
        let (first, second) = (self.is_uncertain(a), self.is_uncertain(b));
        if !first && !second {
            return Ok(());
        }
        // Numbers of 32 bits look no further than what objects are aligned to.
        let is_number = a.width() == 32;
        let low = if is_number { 4 } else { 32 };
        let is_low = |value: &Sym| {
            let high = value.word.bits().get(low..).unwrap_or_default();
            high.iter().all(|&bit| bit == Bit::FALSE)
        };
        let other = if first { b } else { a };
        match op {
            BinaryOp::Sub if self.has_address(a) && self.has_address(b) => {
                self.refuse_different_objects(state, a, b);
                Ok(())
            }
            BinaryOp::Add if !(self.has_address(a) && self.has_address(b)) => Ok(()),
            BinaryOp::Sub if first => Ok(()),
            // Tags in the low bits, and looking at the low bits only.
            BinaryOp::Or | BinaryOp::Xor | BinaryOp::And if is_low(other) => Ok(()),
            BinaryOp::And
                if other
                    .as_constant()
                    .is_some_and(|it| it >> low == (1 << (a.width() - low as u32)) - 1) =>
            {
                Ok(())
            }
            _ => Err(refused()),
        }
    }

    /// Refuses what makes another number of such an address than the one that four bytes hold.
    pub(super) fn check_cast(&self, op: CastOp, values: &[Sym]) -> Result<(), Stop> {
        let keeps = matches!(op, CastOp::Bitcast | CastOp::AddrSpaceCast);
        if self.is_ilp32() && !keeps && values.iter().any(|value| self.is_uncertain(value)) {
            return Err(refused());
        }
        Ok(())
    }

    /// May it be anything but a plain number?
    fn has_address(&self, value: &Sym) -> bool {
        let numbers = self.address_numbers(value);
        numbers.is_some_and(|numbers| numbers.iter().any(|&number| number != 0))
    }

    /// In one object, or with a plain number, it does not matter where the object lies.
    fn refuse_different_objects(&mut self, state: &State, a: &Sym, b: &Sym) {
        if a.width() == 32 {
            let mut here = state.clone();
            let pointers = (self.pointer_of(&mut here, a), self.pointer_of(&mut here, b));
            if let (Ok(a), Ok(b)) = pointers {
                self.refuse_different_objects(state, &a, &b);
            }
            return;
        }
        let bits = &mut self.out.bits;
        let high = |value: &Sym| value.word.extract(32, 64);
        let is_same = bits.eq(&high(a), &high(b));
        let (a, b) = (bits.is_zero(&high(a)), bits.is_zero(&high(b)));
        let is_plain = bits.bit_or(a, b);
        let is_fine = bits.bit_or(is_same, is_plain);
        let guard = bits.bit_and(state.path.guard(), !is_fine);
        if guard == Bit::FALSE {
            return;
        }
        let Stop::Unsupported(what @ Unsupported::Instruction { .. }) = refused() else {
            return;
        };
        let at = self.position(state);
        self.out.refusals.push(Refusal {
            guard,
            what,
            thread: self.out.threads[self.thread].id,
            at,
        });
    }
}
