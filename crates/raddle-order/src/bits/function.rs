//! Gates as functions of some of their inputs: the same computation, said of other operands.

use super::aig::{Bit, Gate};
use super::{Bits, cnf};
use crate::lit::Lit;
use rustc_hash::FxHashMap;

/// What some bits are if other bits are replaced; made by [`Bits::function`].
#[derive(Clone, Debug)]
pub struct Function {
    inputs: usize,
    /// Gates that depend on inputs, operands first.
    gates: Vec<Gate>,
    results: Vec<Slot>,
    slots: Vec<[Slot; 3]>,
    given: Vec<Bit>,
}

/// An operand of a function's gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    /// The same whatever the inputs are: a bit of those that the function was made of.
    Fixed(Bit),
    /// An input, or, after those, a gate.
    Local { at: usize, is_negated: bool },
}

impl Slot {
    const NONE: Self = Self::Fixed(Bit::FALSE);

    fn negate_if(self, negate: bool) -> Self {
        match self {
            Self::Fixed(bit) if negate => Self::Fixed(!bit),
            Self::Local { at, is_negated } => Self::Local {
                at,
                is_negated: is_negated != negate,
            },
            fixed => fixed,
        }
    }
}

/// What bits are taken for in [`Bits::function`].
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    inputs: usize,
    /// By gate.
    slots: FxHashMap<usize, Slot>,
    defined: FxHashMap<usize, Bit>,
}

impl Meaning {
    /// The next operand of the function is what `bit` is. The first of two names of a bit counts.
    pub fn input(&mut self, bit: Bit) {
        let slot = Slot::Local {
            at: self.inputs,
            is_negated: bit.is_negated(),
        };
        self.inputs += 1;
        if bit.as_constant().is_none() {
            self.slots.entry(bit.node()).or_insert(slot);
        }
    }

    /// `bit` has the value of `definition`, which may depend on inputs and on other bits that are defined, but not on itself.
    pub fn define(&mut self, bit: Bit, definition: Bit) {
        if bit.as_constant().is_none() {
            let definition = definition.negate_if(bit.is_negated());
            self.defined.entry(bit.node()).or_insert(definition);
        }
    }

    /// `bit` is true.
    fn assume(&mut self, bit: Bit) {
        let value = Bit::constant(!bit.is_negated());
        if bit.as_constant().is_none() {
            self.slots.insert(bit.node(), Slot::Fixed(value));
        }
    }
}

impl Function {
    /// How many gates it takes to apply it.
    #[must_use]
    pub fn size(&self) -> usize {
        self.gates.len()
    }

    /// How many results there are.
    #[must_use]
    pub fn results(&self) -> usize {
        self.results.len()
    }

    /// Does the result depend on inputs?
    #[must_use]
    pub fn depends(&self, result: usize) -> bool {
        matches!(self.results[result], Slot::Local { .. })
    }

    /// Bits that it takes as they are, constants excepted.
    #[must_use]
    pub fn given(&self) -> &[Bit] {
        &self.given
    }

    /// The results for 64 operands each at once, one in each bit of a word. `given`: what the bits of [`given`](Self::given) are.
    #[must_use]
    pub fn evaluate(&self, given: &[u64], operands: &[u64]) -> Vec<u64> {
        let mut values = operands.to_vec();
        let value_of = |slot: Slot, values: &[u64]| {
            let (value, is_negated) = match slot {
                Slot::Fixed(bit) => match self.given.binary_search(&bit.positive()) {
                    Ok(at) => (given[at], bit.is_negated()),
                    Err(_) => (0, bit == Bit::TRUE),
                },
                Slot::Local { at, is_negated } => (values[at], is_negated),
            };
            if is_negated { !value } else { value }
        };
        for (gate, slots) in self.gates.iter().zip(&self.slots) {
            let [a, b, c] = slots.map(|slot| value_of(slot, &values));
            values.push(match gate {
                Gate::False | Gate::Input(_) | Gate::Free(_) => 0,
                Gate::And(..) => a & b,
                Gate::Xor(..) => a ^ b,
                Gate::If(..) => a & b | !a & c,
                Gate::Majority(..) => a & b | a & c | b & c,
            });
        }
        let results = self.results.iter();
        results.map(|&slot| value_of(slot, &values)).collect()
    }

    fn find_given(&mut self) {
        let slots = self.slots.iter().flatten().chain(&self.results);
        let mut given: Vec<Bit> = slots
            .filter_map(|slot| match slot {
                Slot::Fixed(bit) if bit.as_constant().is_none() => Some(bit.positive()),
                _ => None,
            })
            .collect();
        given.sort_unstable();
        given.dedup();
        self.given = given;
    }
}

impl Bits {
    /// `results` as a function of the inputs of `meaning`, where `assumed` holds.
    pub fn function(&mut self, mut meaning: Meaning, assumed: Bit, results: &[Bit]) -> Function {
        for bit in self.conjuncts(assumed) {
            meaning.assume(bit);
        }
        let mut function = Function {
            inputs: meaning.inputs,
            gates: Vec::new(),
            slots: Vec::new(),
            results: Vec::new(),
            given: Vec::new(),
        };
        for &result in results {
            self.trace(result.node(), &mut meaning, &mut function);
            let slot = meaning.slots[&result.node()];
            function.results.push(slot.negate_if(result.is_negated()));
        }
        function.find_given();
        function
    }

    /// The bits of a tree of conjunctions, and the trees themselves.
    pub(super) fn conjuncts(&self, bit: Bit) -> Vec<Bit> {
        let mut all = Vec::new();
        let mut open = vec![bit];
        while let Some(bit) = open.pop() {
            all.push(bit);
            if let Gate::And(a, b) = self.aig.gates[bit.node()]
                && !bit.is_negated()
            {
                open.extend([a, b]);
            }
        }
        all
    }

    /// Is `bit` false unless `condition` holds? Only what the outermost conjunctions say is found out.
    #[must_use]
    pub fn plainly_implies(&self, bit: Bit, condition: Bit) -> bool {
        condition == Bit::TRUE || self.conjuncts(bit).contains(&condition)
    }

    /// Finds the slot of a gate and of all that it depends on.
    fn trace(&mut self, node: usize, meaning: &mut Meaning, function: &mut Function) {
        let mut open = vec![node];
        while let Some(&node) = open.last() {
            if meaning.slots.contains_key(&node) {
                open.pop();
                continue;
            }
            if let Some(constant) = self.known_gate(node) {
                meaning.slots.insert(node, Slot::Fixed(constant));
                continue;
            }
            let definition = meaning.defined.get(&node).copied();
            let operands = match definition {
                Some(definition) => [Some(definition), None, None],
                None => cnf::operands(self.aig.gates[node]),
            };
            let before = open.len();
            let nodes = operands.iter().flatten().map(|bit| bit.node());
            open.extend(nodes.filter(|at| !meaning.slots.contains_key(at)));
            if open.len() > before {
                continue;
            }
            let slots = operands.map(|bit| {
                bit.map_or(Slot::NONE, |bit| {
                    meaning.slots[&bit.node()].negate_if(bit.is_negated())
                })
            });
            let slot = match definition {
                Some(_) => slots[0],
                None => self.rebuild(node, slots, function),
            };
            meaning.slots.insert(node, slot);
        }
    }

    /// The gate over other operands.
    fn rebuild(&mut self, node: usize, slots: [Slot; 3], function: &mut Function) -> Slot {
        let gate = self.aig.gates[node];
        if let [Slot::Fixed(a), Slot::Fixed(b), Slot::Fixed(c)] = slots {
            return Slot::Fixed(self.gate_of(gate, [a, b, c]));
        }
        function.gates.push(gate);
        function.slots.push(slots);
        Slot::Local {
            at: function.inputs + function.gates.len() - 1,
            is_negated: false,
        }
    }

    /// A gate of the same kind.
    fn gate_of(&mut self, gate: Gate, [a, b, c]: [Bit; 3]) -> Bit {
        match gate {
            Gate::False => Bit::FALSE,
            Gate::Input(_) | Gate::Free(_) => self.aig.gate(gate),
            Gate::And(..) => self.aig.and(a, b),
            Gate::Xor(..) => self.aig.xor(a, b),
            Gate::If(..) => self.aig.ite(a, b, c),
            Gate::Majority(..) => self.aig.majority(a, b, c),
        }
    }

    fn known_gate(&self, node: usize) -> Option<Bit> {
        match self.literals.get(node) {
            Some(&Some(Lit::TRUE)) => Some(Bit::TRUE),
            Some(&Some(Lit::FALSE)) => Some(Bit::FALSE),
            _ => None,
        }
    }

    /// The value of a bit, if it is known to be the same in every model.
    #[must_use]
    pub fn known_value(&self, bit: Bit) -> Option<bool> {
        let known = self.known_gate(bit.node())?;
        known.negate_if(bit.is_negated()).as_constant()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sat::Solver;
    use crate::theory::NoTheory;

    #[test]
    fn a_function_of_other_operands_is_the_same_computation() {
        let mut solver = Solver::new(NoTheory);
        let mut bits = Bits::new();
        let [a, b, other] = [(); 3].map(|()| bits.fresh(4, &mut solver));
        let product = bits.mul(&a, &b);
        let sum = bits.add(&product, &other);
        let mut meaning = Meaning::default();
        for word in [&a, &b] {
            word.bits().iter().for_each(|&bit| meaning.input(bit));
        }
        let function = bits.function(meaning, Bit::TRUE, sum.bits());
        assert_eq!(function.given(), other.bits());
        // Each lane has numbers of its own: bits of its position, but for the sum.
        let number = |lane: u64, of: u64| (lane * 7 + of * 5) % 16;
        let bits_of = |of: u64| {
            (0..4).map(move |at| {
                (0..64).fold(0, |all, lane| all | (number(lane, of) >> at & 1) << lane)
            })
        };
        let operands: Vec<u64> = bits_of(0).chain(bits_of(1)).collect();
        let given: Vec<u64> = bits_of(2).collect();
        let results = function.evaluate(&given, &operands);
        for lane in 0..64 {
            let result = (0..4).fold(0_u64, |all, at| all | (results[at] >> lane & 1) << at);
            let [x, y, z] = [0, 1, 2].map(|of| number(lane, of));
            assert_eq!(result, (x * y + z) % 16, "{x} * {y} + {z}");
        }
    }

    #[test]
    fn what_is_assumed_and_what_is_defined_is_replaced() {
        let mut solver = Solver::new(NoTheory);
        let mut bits = Bits::new();
        let [condition, input, defined, free] = [(); 4].map(|()| bits.fresh_bit(&mut solver));
        let other = bits.bit_or(input, free);
        let both = bits.bit_xor(defined, input);
        let result = bits.bit_and(condition, both);
        let mut meaning = Meaning::default();
        meaning.input(input);
        meaning.define(!defined, other);
        let function = bits.function(meaning, condition, &[result, free]);
        assert!(function.depends(0));
        assert!(!function.depends(1));
        // ¬(input ∨ free) ⊕ input
        assert_eq!(function.given(), [free]);
        let (a, b) = (0b1100, 0b1010);
        assert_eq!(function.evaluate(&[b], &[a]), [!(a | b) ^ a, b]);
        assert!(bits.plainly_implies(result, condition));
        assert!(!bits.plainly_implies(result, input));
    }
}
