//! Vector clocks that are shared, not copied: taking one over from a message or to an undo log costs a reference count.

use raddle_program::ThreadId;
use std::rc::Rc;

/// How many steps of each thread are known to have happened. Threads beyond its length: none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Option<Rc<[u32]>>);

impl Clock {
    fn times(&self) -> &[u32] {
        self.0.as_deref().unwrap_or(&[])
    }

    #[inline]
    pub(super) fn get(&self, thread: ThreadId) -> u32 {
        self.times().get(thread.index()).copied().unwrap_or(0)
    }

    /// Is all that `other` knows known here?
    pub(super) fn covers(&self, other: &Self) -> bool {
        let times = self.times();
        other
            .times()
            .iter()
            .enumerate()
            .all(|(index, &time)| time <= times.get(index).copied().unwrap_or(0))
    }

    /// Everything known to either.
    pub(super) fn joined(&self, other: &Self) -> Self {
        if self.covers(other) {
            return self.clone();
        }
        if other.covers(self) {
            return other.clone();
        }
        let (a, b) = (self.times(), other.times());
        let length = a.len().max(b.len());
        let at = |times: &[u32], index: usize| times.get(index).copied().unwrap_or(0);
        Self(Some(
            (0..length)
                .map(|index| at(a, index).max(at(b, index)))
                .collect(),
        ))
    }

    /// Everything known to either, and `thread` up to `time`.
    pub(super) fn joined_with(&self, other: &Self, thread: ThreadId, time: u32) -> Self {
        let (a, b) = (self.times(), other.times());
        let length = a.len().max(b.len()).max(thread.index() + 1);
        let at = |index: usize| {
            let own = if index == thread.index() { time } else { 0 };
            let of = |times: &[u32]| times.get(index).copied().unwrap_or(0);
            of(a).max(of(b)).max(own)
        };
        Self(Some((0..length).map(at).collect()))
    }

    /// The same with `thread` known up to `time`.
    pub(super) fn advanced(&self, thread: ThreadId, time: u32) -> Self {
        if self.get(thread) >= time {
            return self.clone();
        }
        let times = self.times();
        let length = times.len().max(thread.index() + 1);
        let at = |index: usize| match index == thread.index() {
            true => time,
            false => times.get(index).copied().unwrap_or(0),
        };
        // Collecting a range takes one allocation.
        Self(Some((0..length).map(at).collect()))
    }
}
