//! Path conditions: what must hold for a thread to have come this way.

use raddle_order::bits::{Bit, Bits};

/// A conjunction, in the order in which its parts were met. Where two paths that a branch separated meet again, the branch is
/// forgotten: code after a join is no harder than code before the branch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    conditions: Vec<Bit>,
    /// The conjunction of the conditions up to each.
    guards: Vec<Bit>,
}

impl Path {
    pub(crate) fn guard(&self) -> Bit {
        self.guards.last().copied().unwrap_or(Bit::TRUE)
    }

    pub(crate) fn push(&mut self, bits: &mut Bits, condition: Bit) {
        if condition == Bit::TRUE {
            return;
        }
        let guard = bits.bit_and(self.guard(), condition);
        self.conditions.push(condition);
        self.guards.push(guard);
    }

    pub(crate) fn is_impossible(&self) -> bool {
        self.guard() == Bit::FALSE
    }

    /// How many conditions two paths have in common from their start.
    pub(crate) fn common(&self, other: &Self) -> usize {
        let pairs = self.conditions.iter().zip(&other.conditions);
        pairs.take_while(|(a, b)| a == b).count()
    }

    fn rest(&self, bits: &mut Bits, from: usize) -> Bit {
        bits.all(self.conditions[from..].iter().copied())
    }

    /// The path of whoever came one of two ways, which exclude each other; and the condition that it was the first.
    pub(crate) fn join(&self, bits: &mut Bits, other: &Self) -> (Self, Bit) {
        let common = self.common(other);
        let (first, second) = (self.rest(bits, common), other.rest(bits, common));
        let mut joined = Self {
            conditions: self.conditions[..common].to_vec(),
            guards: self.guards[..common].to_vec(),
        };
        if first != !second {
            let either = bits.bit_or(first, second);
            joined.push(bits, either);
        }
        (joined, first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_order::bits::Bits;
    use raddle_order::{Lit, Var};

    #[test]
    fn a_branch_is_forgotten_where_its_arms_meet() {
        let mut bits = Bits::new();
        let [a, b] = [1, 2].map(|at| bits.from_lit(Lit::new(Var::from_index(at), false)));
        let mut then = Path::default();
        then.push(&mut bits, a);
        let mut otherwise = then.clone();
        then.push(&mut bits, b);
        otherwise.push(&mut bits, !b);
        let (joined, first) = then.join(&mut bits, &otherwise);
        assert_eq!(joined.guard(), a);
        assert_eq!(first, b);
    }
}
