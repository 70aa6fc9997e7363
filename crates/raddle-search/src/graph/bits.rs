//! Relations between the events of a graph as matrices of bits.

use super::event::Ev;
use super::store::Graph;

/// Numbers for all events of a graph, thread after thread.
#[derive(Default)]
pub(super) struct Numbers {
    first: Vec<u32>,
    pub(super) count: usize,
}

impl Numbers {
    pub(super) fn number(&mut self, graph: &Graph) {
        self.first.clear();
        let mut next = 0;
        for thread in &graph.threads {
            self.first.push(next);
            next += thread.events.len() as u32;
        }
        self.count = next as usize;
    }

    #[inline]
    pub(super) fn of(&self, event: Ev) -> usize {
        self.first[event.of()] as usize + event.at()
    }

    /// The numbers of a thread's events: the first one, and the one behind the last.
    #[inline]
    pub(super) fn of_thread(&self, graph: &Graph, thread: usize) -> (usize, usize) {
        let first = self.first(thread);
        (first, first + graph.threads[thread].events.len())
    }

    /// The number of a thread's first event.
    pub(super) fn first(&self, thread: usize) -> usize {
        self.first[thread] as usize
    }
}

/// Sets of events.
#[derive(Default)]
pub(super) struct Matrix {
    width: usize,
    words: Vec<u64>,
}

impl Matrix {
    /// So many empty sets of so many events.
    pub(super) fn clear(&mut self, rows: usize, count: usize) {
        self.width = count.div_ceil(64);
        self.words.clear();
        self.words.resize(rows * self.width, 0);
    }

    pub(super) fn clear_row(&mut self, row: usize) {
        self.words[row * self.width..(row + 1) * self.width].fill(0);
    }

    pub(super) fn words_of_row(&self) -> usize {
        self.width
    }

    pub(super) fn word(&self, row: usize, word: usize) -> u64 {
        self.words[row * self.width + word]
    }

    #[inline]
    pub(super) fn insert(&mut self, row: usize, member: usize) {
        self.words[row * self.width + member / 64] |= 1 << (member % 64);
    }

    #[inline]
    pub(super) fn has(&self, row: usize, member: usize) -> bool {
        self.words[row * self.width + member / 64] >> (member % 64) & 1 == 1
    }

    /// Members `from..to`.
    pub(super) fn insert_range(&mut self, row: usize, from: usize, to: usize) {
        let mut next = from;
        while next < to {
            let end = to.min((next / 64 + 1) * 64);
            let ones = u64::MAX >> (64 - (end - next));
            self.words[row * self.width + next / 64] |= ones << (next % 64);
            next = end;
        }
    }

    #[inline]
    pub(super) fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.width..(row + 1) * self.width]
    }

    #[inline]
    pub(super) fn remove(&mut self, row: usize, member: usize) {
        self.words[row * self.width + member / 64] &= !(1 << (member % 64));
    }

    /// Takes away what another row does not have.
    pub(super) fn keep(&mut self, row: usize, other: &[u64]) {
        let own = &mut self.words[row * self.width..(row + 1) * self.width];
        for (own, other) in own.iter_mut().zip(other) {
            *own &= other;
        }
    }

    /// Adds what two rows of other matrices of the same size have in common.
    pub(super) fn add_common(&mut self, row: usize, one: &[u64], other: &[u64]) {
        let own = &mut self.words[row * self.width..(row + 1) * self.width];
        for (own, (one, other)) in own.iter_mut().zip(one.iter().zip(other)) {
            *own |= one & other;
        }
    }

    /// The last member of `from..to` in a row.
    pub(super) fn last_between(&self, row: usize, from: usize, to: usize) -> Option<usize> {
        let mut end = to;
        while end > from {
            let first = from.max((end - 1) / 64 * 64);
            let ones = u64::MAX >> (64 - (end - first)) << (first % 64);
            let word = self.word(row, first / 64) & ones;
            if word != 0 {
                return Some(first / 64 * 64 + 63 - word.leading_zeros() as usize);
            }
            end = first;
        }
        None
    }

    /// Adds a row of another matrix of the same size.
    #[inline]
    pub(super) fn add_row(&mut self, row: usize, other: &[u64]) {
        let own = &mut self.words[row * self.width..(row + 1) * self.width];
        for (own, other) in own.iter_mut().zip(other) {
            *own |= other;
        }
    }

    /// Adds another row of this matrix.
    #[inline]
    pub(super) fn add_own_row(&mut self, row: usize, other: usize) {
        for word in 0..self.width {
            self.words[row * self.width + word] |= self.words[other * self.width + word];
        }
    }
}

/// The members of a row.
pub(super) fn members(row: &[u64]) -> impl Iterator<Item = usize> + '_ {
    row.iter().enumerate().flat_map(|(index, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros();
            (rest != 0).then(|| {
                rest &= rest - 1;
                index * 64 + bit as usize
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cross_words() {
        let mut matrix = Matrix::default();
        matrix.clear(2, 200);
        matrix.insert_range(1, 60, 130);
        matrix.insert_range(1, 3, 3);
        assert!(members(matrix.row(1)).eq(60..130));
        assert!(members(matrix.row(0)).next().is_none());
        assert_eq!(matrix.last_between(1, 0, 200), Some(129));
        assert_eq!(matrix.last_between(1, 0, 64), Some(63));
        assert_eq!(matrix.last_between(1, 65, 128), Some(127));
        assert_eq!(matrix.last_between(1, 130, 200), None);
        assert_eq!(matrix.last_between(1, 0, 60), None);
        assert_eq!(matrix.last_between(1, 7, 7), None);
        matrix.add_own_row(0, 1);
        matrix.remove(0, 129);
        assert!(members(matrix.row(0)).eq(60..129));
        matrix.keep(1, &[0, 3, 0, 0]);
        assert!(members(matrix.row(1)).eq([64, 65]));
        matrix.add_common(0, &[0b111, 0, 2, 0], &[0b101, 1, 2, 0]);
        assert!(members(matrix.row(0)).eq([0, 2].into_iter().chain(60..130)));
        matrix.remove(0, 0);
        matrix.remove(0, 2);
        matrix.clear_row(1);
        assert!(members(matrix.row(0)).eq(60..130));
        assert!(members(matrix.row(1)).next().is_none());
    }
}
