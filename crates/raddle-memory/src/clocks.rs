//! Vector clocks of many events in one table, which grow as orders become known and shrink again when these are taken back.
//!
//! The clock of an event says for each thread how many of its events come before this one. Rows are as wide as there are
//! threads; a table becomes wider when it meets another one.

/// An event, by its row.
type Row = u32;

/// An entry before it grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grown {
    slot: u32,
    old: u32,
}

/// The clocks. See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockTable {
    width: usize,
    /// `entries[row * width + thread]`.
    entries: Vec<u32>,
    trail: Vec<Grown>,
}

impl ClockTable {
    /// How many threads a row has room for.
    #[inline]
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    #[inline]
    #[must_use]
    pub fn get(&self, row: Row, thread: usize) -> u32 {
        self.entries[row as usize * self.width + thread]
    }

    #[inline]
    #[must_use]
    pub fn row(&self, row: Row) -> &[u32] {
        &self.entries[row as usize * self.width..][..self.width]
    }

    /// Makes room for a thread and a row. What is in a row that is not used yet means nothing.
    #[inline]
    pub fn ensure(&mut self, row: Row, thread: usize) {
        if self.width <= thread {
            self.widen((thread + 1).next_power_of_two().max(4));
        }
        let needed = (row as usize + 1) * self.width;
        if self.entries.len() < needed {
            self.entries.resize(needed, 0);
        }
    }

    #[cold]
    fn widen(&mut self, width: usize) {
        let rows = self.entries.len().checked_div(self.width).unwrap_or(0);
        let mut entries = vec![0; width * rows];
        let old = self.entries.chunks_exact(self.width.max(1));
        for (old, new) in old.zip(entries.chunks_exact_mut(width)) {
            new[..self.width].copy_from_slice(old);
        }
        for grown in &mut self.trail {
            let slot = grown.slot as usize;
            grown.slot = (slot / self.width * width + slot % self.width) as u32;
        }
        self.entries = entries;
        self.width = width;
    }

    /// Starts a row with what is before another, or with nothing.
    #[inline]
    pub fn start(&mut self, row: Row, from: Option<Row>) {
        let (width, start) = (self.width, row as usize * self.width);
        match from {
            Some(from) => {
                let from = from as usize * width;
                self.entries.copy_within(from..from + width, start);
            }
            None => self.entries[start..start + width].fill(0),
        }
    }

    /// Says something of a row that nobody has looked at yet.
    #[inline]
    pub fn set(&mut self, row: Row, thread: usize, count: u32) {
        self.entries[row as usize * self.width + thread] = count;
    }

    /// Adds all that is before `from` to a row that nobody has looked at yet.
    #[inline]
    pub fn join(&mut self, row: Row, from: Row) {
        let (mine, theirs) = two_rows(&mut self.entries, self.width, row, from);
        for (mine, theirs) in mine.iter_mut().zip(theirs) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Adds all that is before `from` to a row. False if that was known.
    #[inline]
    pub fn grow(&mut self, row: Row, from: Row) -> bool {
        let (mine, theirs) = two_rows(&mut self.entries, self.width, row, from);
        if mine.iter().zip(theirs).all(|(mine, theirs)| mine >= theirs) {
            return false;
        }
        let slots = row * self.width as u32..;
        for ((mine, &theirs), slot) in mine.iter_mut().zip(theirs).zip(slots) {
            if theirs > *mine {
                self.trail.push(Grown { slot, old: *mine });
                *mine = theirs;
            }
        }
        true
    }

    /// A point to return to.
    #[inline]
    #[must_use]
    pub fn mark(&self) -> u32 {
        self.trail.len() as u32
    }

    /// Takes back what rows have grown since `mark`. Rows that have been started since are no longer used.
    #[inline]
    pub fn undo_to(&mut self, mark: u32) {
        for Grown { slot, old } in self.trail.drain(mark as usize..).rev() {
            self.entries[slot as usize] = old;
        }
    }

    /// The rows that have grown since `mark`, some of them several times.
    pub fn grown_since(&self, mark: u32) -> impl Iterator<Item = Row> {
        let grown = self.trail[mark as usize..].iter();
        grown.map(|grown| grown.slot / self.width as u32)
    }
}

/// One row, to be changed, and another.
#[inline]
fn two_rows(entries: &mut [u32], width: usize, changed: Row, other: Row) -> (&mut [u32], &[u32]) {
    let (changed, other) = (changed as usize * width, other as usize * width);
    if changed < other {
        let (low, high) = entries.split_at_mut(other);
        (&mut low[changed..changed + width], &high[..width])
    } else {
        let (low, high) = entries.split_at_mut(changed);
        (&mut high[..width], &low[other..other + width])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ClockTable {
        let mut clocks = ClockTable::default();
        for row in 0..3 {
            clocks.ensure(row, row as usize);
            clocks.start(row, None);
            clocks.set(row, row as usize, 1);
        }
        clocks
    }

    #[test]
    fn what_grew_shrinks_again() {
        let mut clocks = table();
        let mark = clocks.mark();
        assert!(clocks.grow(2, 0));
        assert!(clocks.grow(1, 2));
        assert!(!clocks.grow(1, 0));
        assert_eq!(clocks.row(1)[..3], [1, 1, 1]);
        assert_eq!(clocks.grown_since(mark).collect::<Vec<_>>(), [2, 1, 1]);
        clocks.undo_to(mark);
        assert_eq!(clocks.row(1)[..3], [0, 1, 0]);
        assert_eq!(clocks.row(2)[..3], [0, 0, 1]);
    }

    #[test]
    fn a_wider_table_says_the_same() {
        let mut clocks = table();
        let mark = clocks.mark();
        clocks.grow(1, 0);
        clocks.ensure(3, 9);
        clocks.start(3, Some(1));
        assert_eq!(clocks.row(3)[..3], [1, 1, 0]);
        assert_eq!(clocks.get(1, 0), 1);
        assert_eq!(clocks.grown_since(mark).collect::<Vec<_>>(), [1]);
        clocks.undo_to(mark);
        assert_eq!(clocks.get(1, 0), 0);
        assert_eq!(clocks.get(1, 1), 1);
    }

    #[test]
    fn new_rows_know_what_they_are_told() {
        let mut clocks = table();
        clocks.join(2, 0);
        clocks.join(2, 1);
        assert_eq!(clocks.row(2)[..3], [1, 1, 1]);
        // That is no growth of something known.
        assert_eq!(clocks.mark(), 0);
    }
}
