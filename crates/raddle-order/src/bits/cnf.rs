//! From gates to clauses (Tseitin), on demand: a gate that no constraint mentions costs nothing.

use super::Bits;
use super::aig::{Bit, Gate};
use crate::lit::{ClauseSink, Lit};

impl Bits {
    /// A literal with the value of `bit`.
    pub fn lit(&mut self, bit: Bit, sink: &mut impl ClauseSink) -> Lit {
        self.literals.resize(self.aig.gates.len(), None);
        let mut open = vec![bit.node()];
        while let Some(&node) = open.last() {
            if self.literals[node].is_some() {
                open.pop();
                continue;
            }
            let operands = operands(self.aig.gates[node]);
            let before = open.len();
            open.extend(
                operands
                    .iter()
                    .flatten()
                    .map(|bit| bit.node())
                    .filter(|&at| self.literals[at].is_none()),
            );
            if open.len() == before {
                let lit = self.define(self.aig.gates[node], sink);
                self.literals[node] = Some(lit);
                open.pop();
            }
        }
        self.known(bit)
    }

    /// The literal of a bit whose gate has one.
    fn known(&self, bit: Bit) -> Lit {
        let lit = self.literals[bit.node()].expect("defined before");
        if bit.is_negated() { !lit } else { lit }
    }

    fn define(&self, gate: Gate, sink: &mut impl ClauseSink) -> Lit {
        match gate {
            Gate::False => return Lit::FALSE,
            Gate::Input(lit) => return lit,
            _ => {}
        }
        let out = sink.new_var().positive();
        match gate {
            Gate::False | Gate::Input(_) | Gate::Free(_) => {}
            Gate::And(a, b) => {
                let (a, b) = (self.known(a), self.known(b));
                sink.add_clause(&[!out, a]);
                sink.add_clause(&[!out, b]);
                sink.add_clause(&[out, !a, !b]);
            }
            Gate::Xor(a, b) => {
                let (a, b) = (self.known(a), self.known(b));
                sink.add_clause(&[!out, a, b]);
                sink.add_clause(&[!out, !a, !b]);
                sink.add_clause(&[out, !a, b]);
                sink.add_clause(&[out, a, !b]);
            }
            Gate::If(c, t, e) => {
                let (c, t, e) = (self.known(c), self.known(t), self.known(e));
                sink.add_clause(&[!c, !t, out]);
                sink.add_clause(&[!c, t, !out]);
                sink.add_clause(&[c, !e, out]);
                sink.add_clause(&[c, e, !out]);
                // Redundant, but they propagate when the branches agree.
                sink.add_clause(&[!t, !e, out]);
                sink.add_clause(&[t, e, !out]);
            }
            Gate::Majority(a, b, c) => {
                let (a, b, c) = (self.known(a), self.known(b), self.known(c));
                for (x, y) in [(a, b), (a, c), (b, c)] {
                    sink.add_clause(&[!x, !y, out]);
                    sink.add_clause(&[x, y, !out]);
                }
            }
        }
        out
    }

    /// Demands that `bit` is true. Conjunctions become several constraints, disjunctions one clause.
    pub fn require(&mut self, bit: Bit, sink: &mut impl ClauseSink) {
        let mut open = vec![bit];
        while let Some(bit) = open.pop() {
            match self.aig.gates[bit.node()] {
                Gate::And(a, b) if !bit.is_negated() => open.extend([a, b]),
                Gate::And(..) => {
                    let clause = self.disjuncts(bit);
                    self.require_any(&clause, sink);
                }
                _ => {
                    let lit = self.lit(bit, sink);
                    sink.add_clause(&[lit]);
                }
            }
        }
    }

    /// Demands that one of `bits` is true.
    pub fn require_any(&mut self, bits: &[Bit], sink: &mut impl ClauseSink) {
        let clause: Vec<Lit> = bits.iter().map(|&bit| self.lit(bit, sink)).collect();
        sink.add_clause(&clause);
    }

    /// Demands that the words are equal if `condition` holds: what a read does with the value of its source. Two clauses
    /// per bit and no gate.
    pub fn require_equal_if(
        &mut self,
        condition: Lit,
        a: &super::Word,
        b: &super::Word,
        sink: &mut impl ClauseSink,
    ) {
        assert_eq!(a.width(), b.width(), "operands of one width");
        for (&a, &b) in a.bits().iter().zip(b.bits()) {
            if a != b {
                let (a, b) = (self.lit(a, sink), self.lit(b, sink));
                sink.add_clause(&[!condition, !a, b]);
                sink.add_clause(&[!condition, a, !b]);
            }
        }
    }

    /// The operands of a tree of disjunctions (negated ANDs).
    fn disjuncts(&self, bit: Bit) -> Vec<Bit> {
        let mut leaves = Vec::new();
        let mut open = vec![bit];
        while let Some(bit) = open.pop() {
            match self.aig.gates[bit.node()] {
                Gate::And(a, b)
                    if bit.is_negated()
                        && self.literals.get(bit.node()).is_none_or(Option::is_none) =>
                {
                    open.extend([!a, !b]);
                }
                _ => leaves.push(bit),
            }
        }
        leaves
    }
}

pub(super) fn operands(gate: Gate) -> [Option<Bit>; 3] {
    match gate {
        Gate::False | Gate::Input(_) | Gate::Free(_) => [None; 3],
        Gate::And(a, b) | Gate::Xor(a, b) => [Some(a), Some(b), None],
        Gate::If(a, b, c) | Gate::Majority(a, b, c) => [Some(a), Some(b), Some(c)],
    }
}

/// Values of gates in one model, computed as far as asked for.
pub struct Reading<'a, F> {
    bits: &'a Bits,
    model: F,
    known: Vec<Option<bool>>,
}

impl Bits {
    /// Reads words back from a model, given as the values of literals. Gates that never became clauses are evaluated.
    pub fn read<F: Fn(Lit) -> bool>(&self, model: F) -> Reading<'_, F> {
        Reading {
            bits: self,
            model,
            known: vec![None; self.aig.gates.len()],
        }
    }
}

impl<F: Fn(Lit) -> bool> Reading<'_, F> {
    pub fn bit(&mut self, bit: Bit) -> bool {
        let mut open = vec![bit.node()];
        while let Some(&node) = open.last() {
            let gate = self.bits.aig.gates[node];
            let before = open.len();
            open.extend(
                operands(gate)
                    .iter()
                    .flatten()
                    .map(|bit| bit.node())
                    .filter(|&at| self.known[at].is_none()),
            );
            if open.len() == before {
                self.known[node] = Some(match gate {
                    Gate::Free(_) => self.free(node),
                    gate => self.evaluate(gate),
                });
                open.pop();
            }
        }
        self.value(bit)
    }

    /// The word as an unsigned number.
    pub fn word(&mut self, word: &super::Word) -> u128 {
        word.bits()
            .iter()
            .rev()
            .fold(0, |value, &bit| value << 1 | u128::from(self.bit(bit)))
    }

    fn value(&self, bit: Bit) -> bool {
        self.known[bit.node()].expect("evaluated before") != bit.is_negated()
    }

    /// What nothing depends on is 0.
    fn free(&self, node: usize) -> bool {
        let lit = self.bits.literals.get(node).copied().flatten();
        lit.is_some_and(|lit| match lit {
            Lit::TRUE => true,
            Lit::FALSE => false,
            lit => (self.model)(lit),
        })
    }

    fn evaluate(&self, gate: Gate) -> bool {
        match gate {
            Gate::False | Gate::Free(_) => false,
            Gate::Input(lit) => (self.model)(lit),
            Gate::And(a, b) => self.value(a) && self.value(b),
            Gate::Xor(a, b) => self.value(a) != self.value(b),
            Gate::If(c, t, e) => {
                if self.value(c) {
                    self.value(t)
                } else {
                    self.value(e)
                }
            }
            Gate::Majority(a, b, c) => {
                u8::from(self.value(a)) + u8::from(self.value(b)) + u8::from(self.value(c)) >= 2
            }
        }
    }
}
