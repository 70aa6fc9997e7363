//! Vector clocks in one arena that grows and shrinks with the execution, like a stack: making one copies its times behind
//! the others, and going back to a prefix forgets those made since. Nothing is allocated for a clock, nothing is counted.
//!
//! Invariants
//! - A clock never changes. It is valid in every execution that extends the one it was made in.
//! - Whoever holds a clock gives it up no later than its maker is undone: what a step stores, its undo log takes back.

use raddle_program::ThreadId;

/// How many steps of each thread are known to have happened: a row of [`Clocks`]. The first row knows of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(u32);

#[derive(Clone, Debug)]
pub(super) struct Clocks {
    times: Vec<u32>,
    /// Length of a row; thread ids are below it.
    width: usize,
}

impl Default for Clocks {
    fn default() -> Self {
        const WIDTH: usize = 4;
        Self {
            times: vec![0; WIDTH],
            width: WIDTH,
        }
    }
}

impl Clocks {
    /// Makes room for a thread in every clock.
    #[inline]
    pub(super) fn ensure(&mut self, thread: ThreadId) {
        if thread.index() >= self.width {
            self.widen(thread.index() + 1);
        }
    }

    #[cold]
    fn widen(&mut self, needed: usize) {
        let width = needed.next_power_of_two();
        let mut times = vec![0; self.times.len() / self.width * width];
        let rows = self.times.chunks_exact(self.width);
        for (new, old) in times.chunks_exact_mut(width).zip(rows) {
            new[..self.width].copy_from_slice(old);
        }
        self.times = times;
        self.width = width;
    }

    /// How many clocks there are: a point to return to.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        (self.times.len() / self.width) as u32
    }

    /// Forgets all clocks but the first `count`.
    #[inline]
    pub(super) fn truncate(&mut self, count: u32) {
        self.times.truncate(count as usize * self.width);
    }

    #[inline]
    pub(super) fn row(&self, clock: Clock) -> &[u32] {
        let start = clock.0 as usize * self.width;
        &self.times[start..start + self.width]
    }

    #[inline]
    pub(super) fn get(&self, clock: Clock, thread: ThreadId) -> u32 {
        self.row(clock)[thread.index()]
    }

    /// Is all that `b` knows known to `a`?
    #[inline]
    pub(super) fn covers(&self, a: Clock, b: Clock) -> bool {
        let behind = |(a, b): (&u32, &u32)| b > a;
        a == b || b == Clock::default() || !self.row(a).iter().zip(self.row(b)).any(behind)
    }

    /// Everything known to either.
    pub(super) fn joined(&mut self, a: Clock, b: Clock) -> Clock {
        if self.covers(a, b) {
            a
        } else if self.covers(b, a) {
            b
        } else {
            let start = self.copied(a);
            self.raise(start, b);
            self.newest()
        }
    }

    /// Everything known to either, and `thread` up to `time`.
    pub(super) fn joined_with(&mut self, a: Clock, b: Clock, thread: ThreadId, time: u32) -> Clock {
        let start = self.copied(a);
        self.raise(start, b);
        let own = &mut self.times[start + thread.index()];
        *own = time.max(*own);
        self.newest()
    }

    /// The same with `thread` known up to `time`.
    pub(super) fn advanced(&mut self, clock: Clock, thread: ThreadId, time: u32) -> Clock {
        if self.get(clock, thread) >= time {
            return clock;
        }
        let start = self.copied(clock);
        self.times[start + thread.index()] = time;
        self.newest()
    }

    /// Appends a copy of a clock; where it starts.
    fn copied(&mut self, clock: Clock) -> usize {
        let from = clock.0 as usize * self.width;
        let start = self.times.len();
        self.times.extend_from_within(from..from + self.width);
        start
    }

    /// Joins `clock` into the row that starts at `start`, the last one.
    fn raise(&mut self, start: usize, clock: Clock) {
        let from = clock.0 as usize * self.width;
        let (older, row) = self.times.split_at_mut(start);
        for (mine, theirs) in row.iter_mut().zip(&older[from..from + self.width]) {
            *mine = (*mine).max(*theirs);
        }
    }

    fn newest(&self) -> Clock {
        Clock(self.count() - 1)
    }
}
