//! Vector clocks of the events of a trace: for each event, how many events of each thread come before it in some sense. An
//! event counts itself.

use raddle_memory::goodwrites::EventId;

#[derive(Debug, Default)]
pub(super) struct Clocks {
    width: usize,
    entries: Vec<u32>,
    count: usize,
}

impl Clocks {
    pub(super) fn truncate(&mut self, events: usize) {
        self.count = self.count.min(events);
        self.entries.truncate(self.count * self.width);
    }

    /// Gives the next event, of `thread`, a clock of its own without entries.
    pub(super) fn push(&mut self, thread: usize) -> EventId {
        if thread >= self.width {
            let width = (thread + 1).next_power_of_two().max(4);
            let mut entries = vec![0; width * self.count];
            for (old, new) in self
                .entries
                .chunks_exact(self.width.max(1))
                .zip(entries.chunks_exact_mut(width))
            {
                new[..self.width].copy_from_slice(old);
            }
            self.entries = entries;
            self.width = width;
        }
        self.count += 1;
        self.entries.resize(self.count * self.width, 0);
        self.count as EventId - 1
    }

    #[inline]
    pub(super) fn of(&self, event: EventId) -> &[u32] {
        &self.entries[event as usize * self.width..][..self.width]
    }

    pub(super) fn set(&mut self, event: EventId, thread: usize, count: u32) {
        self.entries[event as usize * self.width + thread] = count;
    }

    /// What is before another event is before this one.
    pub(super) fn learn(&mut self, event: EventId, of: EventId) {
        let (event, of) = (event as usize * self.width, of as usize * self.width);
        for thread in 0..self.width {
            let known = self.entries[of + thread];
            let mine = &mut self.entries[event + thread];
            *mine = known.max(*mine);
        }
    }

    /// What is before all of some other events is before this one. `events` must not be empty.
    pub(super) fn learn_common(
        &mut self,
        event: EventId,
        mut events: impl Iterator<Item = EventId>,
    ) {
        let Some(first) = events.next() else {
            return;
        };
        let mut common: smallvec::SmallVec<[u32; 32]> = self.of(first).into();
        for other in events {
            for (mine, theirs) in common.iter_mut().zip(self.of(other)) {
                *mine = (*mine).min(*theirs);
            }
        }
        let start = event as usize * self.width;
        for (mine, known) in self.entries[start..].iter_mut().zip(common) {
            *mine = known.max(*mine);
        }
    }
}
