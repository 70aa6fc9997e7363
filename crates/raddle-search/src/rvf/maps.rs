//! Causal maps: which writes the next event of a thread may no longer read from.
//!
//! A map says for each thread how many of its first events are *old*. It belongs to the next event of a thread on the
//! present path of the recursion, and is taken back with it. Where backtrack signals were used, the event is also known to
//! read from a write of one of the threads that signalled, if it is done at all: these are better explored first.

use super::signals::Threads;
use raddle_program::ThreadId;

const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Maps {
    /// For each thread, the map of its next event in `starts`, or none.
    present: Vec<u32>,
    /// The maps, one behind the other, and where each begins.
    counts: Vec<u32>,
    starts: Vec<u32>,
    /// For each map, who may write what the event can read, if that is known.
    writers: Vec<Threads>,
    changed: Vec<(ThreadId, u32)>,
}

/// A point to return to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MapsMark {
    changed: u32,
    maps: u32,
}

impl Maps {
    pub(super) fn mark(&self) -> MapsMark {
        MapsMark {
            changed: self.changed.len() as u32,
            maps: self.starts.len() as u32,
        }
    }

    pub(super) fn undo_to(&mut self, mark: MapsMark) {
        for (thread, old) in self.changed.drain(mark.changed as usize..).rev() {
            self.present[thread.index()] = old;
        }
        if let Some(&start) = self.starts.get(mark.maps as usize) {
            self.counts.truncate(start as usize);
            self.starts.truncate(mark.maps as usize);
            self.writers.truncate(mark.maps as usize);
        }
    }

    /// The map of the next event of a thread.
    #[inline]
    pub(super) fn of(&self, thread: ThreadId) -> Option<&[u32]> {
        let map = *self.present.get(thread.index())?;
        let start = *self.starts.get(map as usize)? as usize;
        let end = self.starts.get(map as usize + 1);
        Some(&self.counts[start..end.map_or(self.counts.len(), |&end| end as usize)])
    }

    /// Is the thread, whose next event has no map, one of which the next event of another thread may read?
    pub(super) fn is_wanted(&self, thread: ThreadId) -> bool {
        let present = |map: &u32| self.writers.get(*map as usize);
        self.of(thread).is_none()
            && self
                .present
                .iter()
                .filter_map(present)
                .any(|writers| writers.contains(thread))
    }

    fn set(&mut self, thread: ThreadId, map: u32) {
        if self.present.len() <= thread.index() {
            self.present.resize(thread.index() + 1, NONE);
        }
        let old = std::mem::replace(&mut self.present[thread.index()], map);
        if old != map {
            self.changed.push((thread, old));
        }
    }

    /// The thread has a new next event.
    pub(super) fn clear(&mut self, thread: ThreadId) {
        self.set(thread, NONE);
    }

    /// Everything so far is old to the next event of a thread (lines 29-30).
    pub(super) fn define(
        &mut self,
        thread: ThreadId,
        writers: Threads,
        counts: impl Iterator<Item = u32>,
    ) {
        self.writers.push(writers);
        self.starts.push(self.counts.len() as u32);
        self.counts.extend(counts);
        self.set(thread, self.starts.len() as u32 - 1);
    }
}
