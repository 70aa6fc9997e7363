//! Vector clocks of events, kept in one table.
//!
//! A row says for each thread how many of its first events are known. An event knows itself and its thread's earlier events without being
//! told, so a thread that learns nothing from others keeps its row. Rows are never changed, and go away in the order opposite to that in
//! which they came.

/// A clock. Number 0 knows nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Row(u32);

#[derive(Debug, Default)]
pub(super) struct Clocks {
    width: usize,
    counts: Vec<u32>,
}

impl Clocks {
    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.counts.len().checked_div(self.width).unwrap_or(0)
    }

    pub(super) fn truncate(&mut self, rows: usize) {
        self.counts.truncate(rows.max(1) * self.width);
    }

    /// Makes room for so many threads.
    pub(super) fn widen(&mut self, threads: usize) {
        if threads <= self.width {
            return;
        }
        let width = threads.next_power_of_two().max(4);
        let mut counts = Vec::with_capacity(self.counts.len().max(1) / self.width.max(1) * width);
        if self.width == 0 {
            counts.resize(width, 0);
        } else {
            for row in self.counts.chunks_exact(self.width) {
                counts.extend_from_slice(row);
                counts.resize(counts.len() + width - self.width, 0);
            }
        }
        (self.width, self.counts) = (width, counts);
    }

    #[inline]
    pub(super) fn row(&self, Row(row): Row) -> &[u32] {
        let start = row as usize * self.width;
        &self.counts[start..start + self.width]
    }

    /// How many events of the thread are known.
    #[inline]
    pub(super) fn get(&self, Row(row): Row, thread: u32) -> u32 {
        self.counts[row as usize * self.width + thread as usize]
    }

    /// Does the first know all that the second does?
    #[inline]
    pub(super) fn covers(&self, a: Row, b: Row) -> bool {
        a == b || b == Row(0) || std::iter::zip(self.row(a), self.row(b)).all(|(a, b)| a >= b)
    }

    /// What both know together.
    #[inline]
    pub(super) fn joined(&mut self, a: Row, b: Row) -> Row {
        if self.covers(a, b) {
            return a;
        }
        if self.covers(b, a) {
            return b;
        }
        let new = self.copy(a);
        self.raise(new, b);
        new
    }

    /// The same with `count` events of `thread`, at least.
    #[inline]
    pub(super) fn with(&mut self, row: Row, thread: u32, count: u32) -> Row {
        if self.get(row, thread) >= count {
            return row;
        }
        let new = self.copy(row);
        self.counts[new.0 as usize * self.width + thread as usize] = count;
        new
    }

    /// `a`, `b` and `count` events of `thread`.
    #[inline]
    pub(super) fn joined_with(&mut self, a: Row, b: Row, thread: u32, count: u32) -> Row {
        if self.get(a, thread) >= count && self.covers(a, b) {
            return a;
        }
        let new = self.copy(a);
        self.raise(new, b);
        let at = new.0 as usize * self.width + thread as usize;
        self.counts[at] = self.counts[at].max(count);
        new
    }

    fn copy(&mut self, Row(row): Row) -> Row {
        let start = row as usize * self.width;
        let new = Row((self.counts.len() / self.width) as u32);
        self.counts.extend_from_within(start..start + self.width);
        new
    }

    fn raise(&mut self, Row(row): Row, Row(by): Row) {
        let (start, by) = (row as usize * self.width, by as usize * self.width);
        for at in 0..self.width {
            self.counts[start + at] = self.counts[start + at].max(self.counts[by + at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_shared_where_nothing_is_new() {
        let mut clocks = Clocks::default();
        clocks.widen(2);
        let nothing = Row::default();
        let a = clocks.with(nothing, 0, 3);
        let b = clocks.with(a, 1, 1);
        assert_eq!(clocks.with(b, 0, 2), b);
        assert_eq!(clocks.joined(a, b), b);
        assert_eq!(clocks.joined(b, nothing), b);
        assert_eq!(clocks.row(b)[..2], [3, 1]);
        clocks.widen(5);
        assert_eq!(clocks.row(b)[..5], [3, 1, 0, 0, 0]);
        let c = clocks.with(nothing, 4, 7);
        let both = clocks.joined(b, c);
        assert_eq!(clocks.row(both)[..5], [3, 1, 0, 0, 7]);
        let rows = clocks.len();
        clocks.joined_with(c, a, 2, 1);
        clocks.truncate(rows);
        assert_eq!(clocks.len(), rows);
    }
}
