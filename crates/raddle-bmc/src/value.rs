//! Symbolic values: a word of bits, and what is known about which numbers it can be.

use raddle_order::bits::{Bit, Bits, Word};
use std::rc::Rc;

/// More numbers than this are not listed.
pub(crate) const MOST_VALUES: usize = 64;

/// What a value can be. Always an over-approximation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    Any,
    /// One of these, ascending.
    Values(Rc<[u64]>),
    /// Any address in one of these objects, by the high halves of their addresses, ascending; 0 stands for numbers below
    /// 2^32, null among them.
    Objects(Rc<[u32]>),
}

impl Set {
    pub(crate) fn one(value: u64) -> Self {
        Self::Values([value].into())
    }

    pub(crate) fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        values.dedup();
        if values.len() <= MOST_VALUES {
            return Self::Values(values.into());
        }
        // Lists of plain numbers say little; addresses must not be lost.
        if values.iter().all(|&value| value < 1 << 32) {
            return Self::Any;
        }
        Self::Objects(numbers(&values))
    }

    pub(crate) fn values(&self) -> Option<&[u64]> {
        match self {
            Self::Values(values) => Some(values),
            _ => None,
        }
    }

    /// The high halves, if they are known.
    pub(crate) fn objects(&self) -> Option<Rc<[u32]>> {
        match self {
            Self::Any => None,
            Self::Values(values) => Some(numbers(values)),
            Self::Objects(objects) => Some(Rc::clone(objects)),
        }
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Values(a), Self::Values(b)) => {
                if a == b {
                    return self.clone();
                }
                Self::of(a.iter().chain(b.iter()).copied().collect())
            }
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            _ => {
                let (a, b) = (self.objects(), other.objects());
                let mut all: Vec<u32> = a
                    .iter()
                    .chain(&b)
                    .flat_map(|set| set.iter())
                    .copied()
                    .collect();
                all.sort_unstable();
                all.dedup();
                Self::Objects(all.into())
            }
        }
    }

    fn is_address(&self) -> bool {
        match self {
            Self::Any => false,
            Self::Values(values) => values.iter().any(|&value| value >> 32 != 0),
            Self::Objects(_) => true,
        }
    }
}

fn numbers(values: &[u64]) -> Rc<[u32]> {
    let mut objects: Vec<u32> = values.iter().map(|&value| (value >> 32) as u32).collect();
    objects.dedup();
    objects.into()
}

/// A value of at most 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct Sym {
    pub(crate) word: Word,
    pub(crate) set: Set,
    /// It is what a read returned, plus a number (wrapping): see [`crate::sums`].
    pub(crate) sum: Option<(ReadId, u64)>,
    /// Does it hold what nobody has written? Then it may be copied, and nothing may depend on it.
    pub(crate) undefined: Bit,
    /// Of a value that may be anything because it is read from memory that nobody may have written: what it is otherwise.
    pub(crate) likely: Option<Set>,
}

/// A read of shared memory, by its number.
pub(crate) type ReadId = u32;

impl Sym {
    pub(crate) fn constant(width: u32, value: u64) -> Self {
        let word = Word::constant(width as usize, u128::from(value));
        let value = word.as_constant().unwrap_or(0) as u64;
        Self {
            word,
            set: Set::one(value),
            sum: None,
            undefined: Bit::FALSE,
            likely: None,
        }
    }

    pub(crate) fn zero(width: u32) -> Self {
        Self::constant(width, 0)
    }

    /// A word about which nothing else is known.
    pub(crate) fn of(word: Word) -> Self {
        let set = match word.as_constant() {
            Some(value) if word.width() <= 64 => Set::one(value as u64),
            _ => Set::Any,
        };
        Self {
            word,
            set,
            sum: None,
            undefined: Bit::FALSE,
            likely: None,
        }
    }

    /// The same, of which nothing else is known because nobody has written it.
    pub(crate) fn unwritten(self) -> Self {
        self.likely_within(Set::Values([].into()))
    }

    /// The same, if it is one of these or what nobody has written.
    pub(crate) fn likely_within(mut self, set: Set) -> Self {
        if self.set == Set::Any && set != Set::Any {
            self.likely = Some(set);
        }
        self
    }

    /// What it can be, unless nobody has written it.
    pub(crate) fn likely_set(&self) -> &Set {
        self.likely.as_ref().unwrap_or(&self.set)
    }

    /// The same, whoever has written it.
    pub(crate) fn defined(mut self) -> Self {
        self.undefined = Bit::FALSE;
        self
    }

    pub(crate) fn bit(bit: Bit) -> Self {
        Self::of(Word::from_bits(vec![bit]))
    }

    /// A word that is one of the numbers of `set`.
    pub(crate) fn within(word: Word, set: Set) -> Self {
        if let Some(value) = word.as_constant() {
            return Self::constant(word.width() as u32, value as u64);
        }
        if let Set::Values(values) = &set
            && let [value] = **values
        {
            return Self::constant(word.width() as u32, value);
        }
        Self {
            word,
            set,
            sum: None,
            undefined: Bit::FALSE,
            likely: None,
        }
    }

    pub(crate) fn width(&self) -> u32 {
        self.word.width() as u32
    }

    pub(crate) fn as_constant(&self) -> Option<u64> {
        self.word.as_constant().map(|value| value as u64)
    }

    pub(crate) fn is(&self, bits: &mut Bits, value: u64) -> Bit {
        let value = Word::constant(self.word.width(), u128::from(value));
        bits.eq(&self.word, &value)
    }

    pub(crate) fn ite(bits: &mut Bits, condition: Bit, then: &Self, otherwise: &Self) -> Self {
        match condition.as_constant() {
            Some(true) => return then.clone(),
            Some(false) => return otherwise.clone(),
            None => {}
        }
        if then.word == otherwise.word && then.undefined == otherwise.undefined {
            return then.clone();
        }
        let word = bits.ite(condition, &then.word, &otherwise.word);
        let mut value = Self::within(word, then.set.union(&otherwise.set));
        if then.likely.is_some() || otherwise.likely.is_some() {
            value = value.likely_within(then.likely_set().union(otherwise.likely_set()));
        }
        value.undefined = bits.bit_ite(condition, then.undefined, otherwise.undefined);
        value
    }

    /// A function of one value that is also known on numbers.
    pub(crate) fn map(&self, word: Word, number: impl Fn(u64) -> u64) -> Self {
        let of = |set: &Set| match set {
            Set::Values(values) => Set::of(values.iter().map(|&value| number(value)).collect()),
            _ => Set::Any,
        };
        let value = Self::within(word, of(&self.set));
        match &self.likely {
            Some(likely) => value.likely_within(of(likely)),
            None => value,
        }
    }

    /// A function of two values that is also known on numbers. `keeps` says whether the result still points into the
    /// objects of `self`, where the numbers are too many.
    pub(crate) fn map2(
        &self,
        other: &Self,
        word: Word,
        keeps: bool,
        number: impl Fn(u64, u64) -> u64,
    ) -> Self {
        let of = |first: &Set, second: &Set| match (first, second) {
            (Set::Values(a), Set::Values(b)) if a.len() * b.len() <= MOST_VALUES => {
                let pairs = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
                Set::of(pairs.map(|(a, b)| number(a, b)).collect())
            }
            _ if keeps && first.is_address() && !second.is_address() => match first.objects() {
                Some(objects) => Set::Objects(objects),
                None => Set::Any,
            },
            _ => Set::Any,
        };
        let value = Self::within(word, of(&self.set, &other.set));
        match self.likely.is_some() || other.likely.is_some() {
            true => value.likely_within(of(self.likely_set(), other.likely_set())),
            false => value,
        }
    }

    /// What a comparison says if it is the same for all numbers.
    pub(crate) fn compare(&self, other: &Self, holds: impl Fn(u64, u64) -> bool) -> Option<bool> {
        let (a, b) = (self.set.values()?, other.set.values()?);
        if a.len() * b.len() > MOST_VALUES {
            return None;
        }
        let mut answers = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
        let (a, b) = answers.next()?;
        let first = holds(a, b);
        answers.all(|(a, b)| holds(a, b) == first).then_some(first)
    }
}

/// All bits of a width.
pub(crate) fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// The number as a signed one.
pub(crate) fn signed(value: u64, width: u32) -> i64 {
    let shift = 64 - width.clamp(1, 64);
    (value << shift).cast_signed() >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_grow_and_give_up() {
        let small = Set::of(vec![3, 1, 3]);
        assert_eq!(small.values(), Some(&[1, 3][..]));
        assert_eq!(small.union(&Set::one(2)).values(), Some(&[1, 2, 3][..]));
        assert_eq!(Set::of((0..100).collect()), Set::Any);
        let addresses: Vec<u64> = (0..100).map(|at| 7 << 32 | at).collect();
        assert_eq!(Set::of(addresses), Set::Objects([7].into()));
    }

    #[test]
    fn comparisons_of_known_numbers_are_decided() {
        let (low, high) = (Sym::constant(8, 3), Sym::constant(8, 9));
        assert_eq!(low.compare(&high, |a, b| a < b), Some(true));
        let mixed = Sym {
            word: low.word.clone(),
            set: Set::of(vec![3, 12]),
            sum: None,
            undefined: Bit::FALSE,
            likely: None,
        };
        assert_eq!(mixed.compare(&high, |a, b| a < b), None);
    }
}
