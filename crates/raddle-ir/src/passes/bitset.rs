//! A dense set of small indices, as the data-flow passes use it.

use std::fmt;

/// A set of indices below a bound given when it is made; two sets combine only if their bounds are equal.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// An empty set that may hold indices below `bound`.
    #[must_use]
    pub fn new(bound: usize) -> Self {
        Self {
            words: vec![0; bound.div_ceil(64)],
        }
    }

    /// Adds `index`; true if it was not there.
    ///
    /// # Panics
    /// If `index` is not below the bound (rounded up to 64).
    pub fn insert(&mut self, index: usize) -> bool {
        let word = &mut self.words[index / 64];
        let bit = 1 << (index % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Removes `index`; true if it was there.
    pub fn remove(&mut self, index: usize) -> bool {
        let Some(word) = self.words.get_mut(index / 64) else {
            return false;
        };
        let bit = 1 << (index % 64);
        let there = *word & bit != 0;
        *word &= !bit;
        there
    }

    #[inline]
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        self.words
            .get(index / 64)
            .is_some_and(|word| word & (1 << (index % 64)) != 0)
    }

    /// Adds everything in `other`; true if that changed anything.
    pub fn union_with(&mut self, other: &Self) -> bool {
        debug_assert_eq!(self.words.len(), other.words.len());
        let mut changed = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            changed |= more & !*word != 0;
            *word |= more;
        }
        changed
    }

    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|index| other.contains(index))
    }

    /// How many indices are in the set.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The indices, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    index * 64 + bit
                })
            })
        })
    }
}

impl fmt::Debug for BitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_removes_and_iterates_in_order() {
        let mut set = BitSet::new(130);
        assert!(set.insert(129) && set.insert(0) && set.insert(64) && !set.insert(64));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 64, 129]);
        assert!(set.remove(64) && !set.remove(64) && !set.contains(64));
        assert!(!set.contains(100_000));
        assert_eq!(set.count(), 2);
    }

    #[test]
    fn union_reports_changes() {
        let mut a = BitSet::new(70);
        let mut b = BitSet::new(70);
        b.insert(69);
        assert!(!b.is_subset(&a));
        assert!(a.union_with(&b));
        assert!(!a.union_with(&b));
        assert!(b.is_subset(&a) && !a.is_empty());
    }
}
