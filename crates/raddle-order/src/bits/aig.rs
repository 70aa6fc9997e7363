//! A hash-consed graph of gates: the same gate over the same operands exists once, constants are folded, negation is a
//! bit of the reference.
//!
//! Besides AND there are XOR, IF and MAJORITY gates: an adder is one XOR pair and one majority per bit, and each gate
//! kind has a shorter clausal form than its expansion into ANDs.
//!
//! Normal forms (established by the constructors, relied upon by hashing)
//! - AND: operands ordered, no constants, no repetition.
//! - XOR: operands ordered and positive; signs move to the result.
//! - IF: condition positive, then-branch positive, branches neither constant nor equal up to sign.
//! - MAJORITY: operands ordered, no two equal up to sign, at most one negative (majority is self-dual).

use crate::lit::{Lit, Var};
use rustc_hash::FxHashMap;
use std::ops::Not;

/// One bit of a word: a gate, or the negation of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bit(u32);

impl Bit {
    pub const FALSE: Self = Self(0);
    pub const TRUE: Self = Self(1);

    #[must_use]
    pub fn constant(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }

    #[must_use]
    pub fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }

    pub(super) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) fn positive(self) -> Self {
        Self(self.0 & !1)
    }

    pub(super) fn negate_if(self, negate: bool) -> Self {
        Self(self.0 ^ u32::from(negate))
    }
}

impl Not for Bit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Gate {
    False,
    Input(Lit),
    /// Of any value: an input that gets its literal when it is first needed.
    Free(u32),
    And(Bit, Bit),
    Xor(Bit, Bit),
    /// Condition, then, otherwise.
    If(Bit, Bit, Bit),
    Majority(Bit, Bit, Bit),
}

pub(super) struct Aig {
    pub(super) gates: Vec<Gate>,
    ids: FxHashMap<Gate, u32>,
}

impl Aig {
    pub(super) fn new() -> Self {
        Self {
            gates: vec![Gate::False],
            ids: FxHashMap::default(),
        }
    }

    pub(super) fn gate(&mut self, gate: Gate) -> Bit {
        let next = u32::try_from(self.gates.len()).expect("gates fit 32 bits");
        assert!(next < 1 << 31, "too many gates");
        let id = *self.ids.entry(gate).or_insert(next);
        if id == next {
            self.gates.push(gate);
        }
        Bit(id << 1)
    }

    /// The bit whose value is that of a literal of the solver.
    pub(super) fn input(&mut self, lit: Lit) -> Bit {
        if lit.var() == Var::CONST {
            return Bit::constant(lit == Lit::TRUE);
        }
        let positive = lit.var().positive();
        self.gate(Gate::Input(positive)).negate_if(lit.is_negated())
    }

    /// A bit of any value.
    pub(super) fn free(&mut self) -> Bit {
        self.gate(Gate::Free(self.gates.len() as u32))
    }

    pub(super) fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let (a, b) = (a.min(b), a.max(b));
        if a == Bit::FALSE || a == !b {
            return Bit::FALSE;
        }
        if a == Bit::TRUE || a == b {
            return b;
        }
        if let Some(simpler) = self.absorb(a, b).or_else(|| self.absorb(b, a)) {
            return simpler;
        }
        self.gate(Gate::And(a, b))
    }

    /// `a ∧ b` where `b` is itself an AND, or the negation of one, that `a` decides.
    fn absorb(&mut self, a: Bit, b: Bit) -> Option<Bit> {
        let Gate::And(x, y) = self.gates[b.node()] else {
            return None;
        };
        let (same, opposite) = (a == x || a == y, a == !x || a == !y);
        match (b.is_negated(), same, opposite) {
            (false, true, _) => Some(b),
            (false, _, true) => Some(Bit::FALSE),
            (true, _, true) => Some(a),
            (true, true, _) => {
                let other = if a == x { y } else { x };
                Some(self.and(a, !other))
            }
            _ => None,
        }
    }

    pub(super) fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    pub(super) fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let negated = a.is_negated() != b.is_negated();
        let (a, b) = (
            a.positive().min(b.positive()),
            a.positive().max(b.positive()),
        );
        let positive = if a == b {
            Bit::FALSE
        } else if a == Bit::FALSE {
            b
        } else {
            self.gate(Gate::Xor(a, b))
        };
        positive.negate_if(negated)
    }

    pub(super) fn ite(&mut self, condition: Bit, then: Bit, otherwise: Bit) -> Bit {
        if condition.is_negated() {
            return self.ite(!condition, otherwise, then);
        }
        if condition == Bit::FALSE || then == otherwise {
            return otherwise;
        }
        // A branch that repeats the condition is constant there.
        let then = if then == condition {
            Bit::TRUE
        } else if then == !condition {
            Bit::FALSE
        } else {
            then
        };
        let otherwise = if otherwise == condition {
            Bit::FALSE
        } else if otherwise == !condition {
            Bit::TRUE
        } else {
            otherwise
        };
        match (then, otherwise) {
            (Bit::TRUE, _) => self.or(condition, otherwise),
            (Bit::FALSE, _) => self.and(!condition, otherwise),
            (_, Bit::TRUE) => self.or(!condition, then),
            (_, Bit::FALSE) => self.and(condition, then),
            _ if then == !otherwise => self.xor(condition, otherwise),
            _ => {
                let negated = then.is_negated();
                let gate = Gate::If(
                    condition,
                    then.negate_if(negated),
                    otherwise.negate_if(negated),
                );
                self.gate(gate).negate_if(negated)
            }
        }
    }

    pub(super) fn majority(&mut self, a: Bit, b: Bit, c: Bit) -> Bit {
        let mut operands = [a, b, c];
        operands.sort_unstable();
        let [a, b, c] = operands;
        // Sorting puts bits that are equal up to sign next to each other.
        if a == b || b == !c {
            return if a == b { b } else { a };
        }
        if b == c || a == !b {
            return if b == c { b } else { c };
        }
        match a {
            Bit::FALSE => self.and(b, c),
            Bit::TRUE => self.or(b, c),
            _ => {
                let negative = operands.iter().filter(|bit| bit.is_negated()).count();
                let negated = negative >= 2;
                let [a, b, c] = operands.map(|bit| bit.negate_if(negated));
                self.gate(Gate::Majority(a, b, c)).negate_if(negated)
            }
        }
    }
}
