//! Relations between the events of a graph, written out: one bit for each pair.

/// A set of pairs of numbers below a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    size: usize,
    /// Words in a row.
    words: usize,
    bits: Vec<u64>,
}

impl Relation {
    /// The empty relation.
    #[must_use]
    pub fn new(size: usize) -> Self {
        let words = size.div_ceil(64);
        Self {
            size,
            words,
            bits: vec![0; size * words],
        }
    }

    /// The pairs `(a, a)` of those that are in a set.
    #[must_use]
    pub fn of_set(size: usize, contains: impl Fn(usize) -> bool) -> Self {
        let mut all = Self::new(size);
        for a in (0..size).filter(|&a| contains(a)) {
            all.add(a, a);
        }
        all
    }

    pub fn add(&mut self, a: usize, b: usize) {
        self.bits[a * self.words + b / 64] |= 1 << (b % 64);
    }

    #[must_use]
    pub fn has(&self, a: usize, b: usize) -> bool {
        self.bits[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    fn row(&self, a: usize) -> &[u64] {
        &self.bits[a * self.words..(a + 1) * self.words]
    }

    /// Those that `a` is related to, ascending.
    pub fn after(&self, a: usize) -> impl Iterator<Item = usize> + '_ {
        let words = self.row(a).iter().enumerate();
        words.flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(index * 64 + bit)
            })
        })
    }

    /// All pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.size).flat_map(|a| self.after(a).map(move |b| (a, b)))
    }

    /// Adds the pairs of another one.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        for (word, more) in self.bits.iter_mut().zip(&other.bits) {
            *word |= more;
        }
        self
    }

    /// `self; other`: from a to c if there is a b between.
    #[must_use]
    pub fn then(&self, other: &Self) -> Self {
        let mut all = Self::new(self.size);
        for a in 0..self.size {
            for b in self.after(a) {
                all.join_row(a, other.row(b));
            }
        }
        all
    }

    /// `self?`: with all pairs `(a, a)`.
    #[must_use]
    pub fn or_same(mut self) -> Self {
        for a in 0..self.size {
            self.add(a, a);
        }
        self
    }

    /// The pairs of which this is true.
    #[must_use]
    pub fn filter(&self, holds: impl Fn(usize, usize) -> bool) -> Self {
        let mut all = Self::new(self.size);
        for (a, b) in self.pairs().filter(|&(a, b)| holds(a, b)) {
            all.add(a, b);
        }
        all
    }

    /// `self⁺` (Warshall's algorithm).
    #[must_use]
    pub fn closure(mut self) -> Self {
        let mut row = Vec::with_capacity(self.words);
        for middle in 0..self.size {
            row.clear();
            row.extend_from_slice(self.row(middle));
            for a in 0..self.size {
                if self.has(a, middle) {
                    self.join_row(a, &row);
                }
            }
        }
        self
    }

    fn join_row(&mut self, a: usize, row: &[u64]) {
        let own = &mut self.bits[a * self.words..(a + 1) * self.words];
        for (word, more) in own.iter_mut().zip(row) {
            *word |= more;
        }
    }

    /// One that is related to itself.
    #[must_use]
    pub fn reflexive_at(&self) -> Option<usize> {
        (0..self.size).find(|&a| self.has(a, a))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|&word| word == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Relation;

    fn of(size: usize, pairs: &[(usize, usize)]) -> Relation {
        let mut all = Relation::new(size);
        for &(a, b) in pairs {
            all.add(a, b);
        }
        all
    }

    /// Sizes around the length of a word.
    #[test]
    fn closure_and_composition() {
        for size in [3, 64, 65, 130] {
            let last = size - 1;
            let chain: Vec<_> = (0..last).map(|a| (a, a + 1)).collect();
            let all = of(size, &chain).closure();
            assert_eq!(all.pairs().count(), size * last / 2);
            assert!(all.has(0, last) && !all.has(last, 0) && all.reflexive_at().is_none());
            let round = all.clone().or(&of(size, &[(last, 0)])).closure();
            assert_eq!(round.pairs().count(), size * size);
            assert_eq!(round.reflexive_at(), Some(0));
            let two = of(size, &chain).then(&of(size, &chain));
            let expected: Vec<_> = (0..size - 2).map(|a| (a, a + 2)).collect();
            assert_eq!(two, of(size, &expected));
        }
    }

    #[test]
    fn sets_and_filters() {
        let even = Relation::of_set(70, |a| a % 2 == 0);
        assert_eq!(even.pairs().count(), 35);
        let all = Relation::new(70).or_same();
        assert_eq!(all.filter(|a, _| a % 2 == 0), even);
        assert!(Relation::new(5).is_empty() && !even.is_empty());
        assert!(Relation::new(0).is_empty());
    }
}
