//! Path conditions: what must hold for a thread to have come this way.

use raddle_order::bits::{Bit, Bits};
use rustc_hash::FxHashMap;

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

    /// The path of whoever came one of many ways. Those that have most in common are joined first, so that branches are forgotten.
    ///
    /// There may be thousands: every access in a critical section may be a fault that leaves it. In order, a path has most in
    /// common with one of its neighbours; the stack holds paths of which each has more in common with the next than those before.
    pub(crate) fn join_all(bits: &mut Bits, paths: &[Self]) -> Option<Self> {
        // Branches come in the order in which they were met.
        let mut ranks: FxHashMap<Bit, usize> = FxHashMap::default();
        for condition in paths.iter().flat_map(|path| &path.conditions) {
            let rank = ranks.len();
            ranks.entry(*condition).or_insert(rank);
        }
        let mut ordered: Vec<&Self> = paths.iter().collect();
        ordered.sort_by(|a, b| {
            let rank = |condition: &Bit| ranks[condition];
            let (a, b) = (a.conditions.iter(), b.conditions.iter());
            a.map(rank).cmp(b.map(rank))
        });
        let mut stack: Vec<Self> = Vec::new();
        for path in ordered {
            while let [.., first, second] = stack.as_slice()
                && first.common(second) >= second.common(path)
            {
                Self::join_last(bits, &mut stack);
            }
            stack.push(path.clone());
        }
        while stack.len() > 1 {
            Self::join_last(bits, &mut stack);
        }
        stack.pop()
    }

    fn join_last(bits: &mut Bits, stack: &mut Vec<Self>) {
        if let Some(second) = stack.pop()
            && let Some(first) = stack.last_mut()
        {
            *first = first.join(bits, &second).0;
        }
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

    fn path(bits: &mut Bits, conditions: &[Bit]) -> Path {
        let mut path = Path::default();
        for &condition in conditions {
            path.push(bits, condition);
        }
        path
    }

    #[test]
    fn all_arms_of_nested_branches_are_forgotten_in_any_order() {
        let mut bits = Bits::new();
        let [a, b, c, d] =
            [1, 2, 3, 4].map(|at| bits.from_lit(Lit::new(Var::from_index(at), false)));
        let arms = [
            vec![a, b, c],
            vec![a, !b, d],
            vec![a, b, !c],
            vec![a, !b, !d, c],
            vec![a, !b, !d, !c],
        ];
        for turn in 0..arms.len() {
            let mut paths: Vec<Path> = arms.iter().map(|arm| path(&mut bits, arm)).collect();
            paths.rotate_left(turn);
            let joined = Path::join_all(&mut bits, &paths).expect("there are some");
            assert_eq!(joined.guard(), a);
            // With one arm missing it is another condition.
            paths.pop();
            let joined = Path::join_all(&mut bits, &paths).expect("there are some");
            assert_ne!(joined.guard(), a);
        }
        assert!(Path::join_all(&mut bits, &[]).is_none());
    }

    #[test]
    fn thousands_of_ways_out_are_joined() {
        let mut bits = Bits::new();
        let mut way = Path::default();
        let mut paths = Vec::new();
        for at in 1..3000 {
            let fault = bits.from_lit(Lit::new(Var::from_index(at), false));
            let mut faulty = way.clone();
            faulty.push(&mut bits, fault);
            paths.push(faulty);
            way.push(&mut bits, !fault);
        }
        paths.push(way);
        let joined = Path::join_all(&mut bits, &paths).expect("there are some");
        assert_eq!(joined.guard(), Bit::TRUE);
    }
}
