//! Memory that is passed on from thread to thread: through a queue, a flag, a count, a semaphore.
//!
//! No mutex protects it, and yet nobody accesses it while another one does. Of each thread it is kept what it accessed of such memory since its last event that was not
//! undisturbed. As long as it does nothing else, nobody may do what conflicts with that: if somebody does, the location is not passed on, but open. Who was started by the thread after the access,
//! or has joined it since, may: it is *behind* the access.

use raddle_memory::Access;
use raddle_memory::mixer::Mixer;
use raddle_program::{LocId, ThreadId};

/// A set of threads, by bits.
type Threads = u64;

/// An access to memory that is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Passed {
    thread: ThreadId,
    loc: LocId,
    writes: bool,
    /// The thread itself, and those that are behind the access.
    behind: Threads,
}

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub(super) struct Passing {
    accesses: Vec<Passed>,
}

/// Threads with higher numbers have no bit.
fn bit(thread: ThreadId) -> Option<Threads> {
    (thread.index() < Threads::BITS as usize).then(|| 1 << thread.index())
}

impl Passing {
    /// Can threads like this one take part?
    pub(super) fn knows(thread: ThreadId) -> bool {
        bit(thread).is_some()
    }

    /// Does the access conflict with one of another thread that is not behind it?
    pub(super) fn is_in_the_way(&self, thread: ThreadId, access: Access) -> bool {
        let me = bit(thread).unwrap_or(0);
        self.accesses.iter().any(|other| {
            other.loc == access.loc
                && other.behind & me == 0
                && (other.writes || access.mode.writes())
        })
    }

    /// An undisturbed event of the thread has accessed it.
    pub(super) fn access(&mut self, thread: ThreadId, access: Access) {
        let Some(behind) = bit(thread) else {
            return;
        };
        let Access { loc, mode } = access;
        let mut writes = mode.writes();
        // Whoever is behind this access is behind the earlier ones.
        self.accesses.retain(|it| {
            let is_same = it.thread == thread && it.loc == loc;
            let is_implied = is_same && (writes || !it.writes || it.behind == behind);
            writes |= is_implied && it.writes;
            !is_implied
        });
        self.accesses.push(Passed {
            thread,
            loc,
            writes,
            behind,
        });
    }

    /// The thread has done an event that is not undisturbed.
    pub(super) fn decided(&mut self, thread: ThreadId) {
        self.accesses.retain(|it| it.thread != thread);
    }

    /// `after` comes behind all that `before` is behind.
    pub(super) fn follows(&mut self, before: ThreadId, after: ThreadId) {
        let (Some(before), Some(after)) = (bit(before), bit(after)) else {
            return;
        };
        for it in &mut self.accesses {
            if it.behind & before != 0 {
                it.behind |= after;
            }
        }
    }

    /// No other threads than these will do anything again, nor any but those that they start.
    pub(super) fn only(&mut self, threads: impl Iterator<Item = ThreadId>) {
        let all: Option<Threads> = threads.map(bit).try_fold(0, |all, it| Some(all | it?));
        if let Some(all) = all {
            self.accesses.retain(|it| all & !it.behind != 0);
        }
    }

    /// A thread is alone: all others that there will be are behind everything.
    pub(super) fn clear(&mut self) {
        self.accesses.clear();
    }

    /// A number for what is kept, whatever the order in which it came.
    pub(super) fn fingerprint(&self) -> u128 {
        let numbers = self.accesses.iter().map(|it| {
            let mut mixer = Mixer::default();
            mixer.add((it.thread.index() as u64) << 1 | u64::from(it.writes));
            mixer.add(u64::from(it.loc.0));
            mixer.add(it.behind);
            mixer.finish()
        });
        numbers.fold(0, u128::wrapping_add)
    }
}
