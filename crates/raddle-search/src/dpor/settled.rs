//! Races about which nothing more is to be done: what was found out in one execution is used in those that begin like it. See
//! `docs/engines/dpor.md`.

use super::execution::{EventId, NO_EVENT, Race};
use super::footprint::{FootprintId, Summary};
use super::insertion::{Position, Walk, thread_bit};
use super::races::Goal;
use super::wakeup::NodeId;
use super::{Search, SleeperId};
use raddle_program::{Tables, ThreadId};

/// Why there was nothing more to do about a race when the execution was last at its end. Later executions that begin with
/// both its events need not find that out anew: see `Search::is_settled`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Settled {
    /// That was not looked for, or it may be otherwise when other events follow.
    No,
    /// A sleeper is a weak initial of the sequence to explore.
    Asleep(SleeperId),
    /// A leaf of the wakeup tree leads there. That depends on the first so many events, and on what the others do. `None`: a
    /// step that is not in the sequence is in its way.
    Covered {
        leaf: Option<NodeId>,
        events: EventId,
        guard: Guard,
    },
    /// The same, whatever follows.
    ForGood,
}

/// What the events that follow must not do, so that a leaf still leads where it led.
#[derive(Clone, Copy, Debug)]
pub(super) enum Guard {
    Nothing,
    /// Conflict with the sequence's last event.
    Last,
    /// Conflict with a step of a thread that is not in the sequence, or be that thread's.
    Step(ThreadId, FootprintId),
}

/// What an execution does after the events that it shares with the one before it.
#[derive(Debug)]
pub(super) struct Suffix {
    start: EventId,
    /// What its events access.
    summary: Summary,
    /// Their threads, as in [`Buffers::threads`].
    threads: u64,
}

impl Search {
    pub(super) fn suffix(&self) -> Suffix {
        let mut suffix = Suffix {
            start: self.shared,
            summary: Summary::default(),
            threads: 0,
        };
        for event in &self.execution.events[self.shared as usize..] {
            let summary = self.execution.footprints.summary(event.footprint);
            suffix.summary.join(summary);
            suffix.threads |= thread_bit(event.thread);
        }
        suffix
    }

    /// Was there nothing to do about a race in the execution before, and is that still so? Both its events are then in what
    /// this execution shares with that one.
    ///
    /// The sequence v to explore differs from the one then only by events of the suffixes.
    /// - A sleeper is a weak initial of v if no event of v depends on it: those that are shared were looked at.
    /// - A leaf u leads to v if u.x ~ v.y for some x and y. What u takes from v are shared events, each independent of those
    ///   before it, and maybe the last one of v, or a step that is not in v: these two must be independent of the new ones.
    ///   Leaves stay leaves, and are there, as long as the race's first event is.
    pub(super) fn is_settled(&self, tables: &Tables, race: &Race, suffix: &Suffix) -> bool {
        let conflicts = |footprint| {
            let footprints = &self.execution.footprints;
            footprints.may_conflict(tables, footprint, suffix.summary)
        };
        match race.settled {
            Settled::No => false,
            Settled::ForGood => true,
            Settled::Asleep(sleeper) => {
                let sleeper = &self.sleepers[sleeper as usize];
                let woken_by = sleeper.woken_by;
                woken_by == NO_EVENT
                    || woken_by < suffix.start && !conflicts(sleeper.step.footprint)
                    || self
                        .held_back_by(tables, sleeper, race.first, woken_by.max(suffix.start))
                        .is_none()
            }
            Settled::Covered { events, guard, .. } => {
                events <= suffix.start
                    && match (guard, race.last) {
                        (Guard::Nothing, _) => true,
                        (Guard::Last, Some(last)) => !conflicts(last),
                        (Guard::Last, None) => false,
                        (Guard::Step(thread, footprint), _) => {
                            suffix.threads & thread_bit(thread) == 0 && !conflicts(footprint)
                        }
                    }
            }
        }
    }

    /// Is there nothing to do about a race as long as it is there? So it is if a leaf takes nothing from the sequence that comes after the race's second
    /// event e', and if e' accesses the same there as in the execution: what conflicts with that and comes later comes after e', and with that
    /// after the race's first event, so it is in no sequence to explore.
    pub(super) fn for_good(
        &self,
        (first, second, last): (EventId, EventId, Option<FootprintId>),
        settled: Settled,
    ) -> Settled {
        let Settled::Covered { events, guard, .. } = settled else {
            return settled;
        };
        let is_independent = match guard {
            Guard::Nothing => true,
            Guard::Last => {
                last == Some(self.execution.event(second).footprint)
                    && self.execution.before(first, second)
            }
            Guard::Step(..) => false,
        };
        if is_independent && events <= second + 1 {
            Settled::ForGood
        } else {
            settled
        }
    }

    /// Does a leaf that led to the sequence to explore before lead to the one of this execution? Any leaf will do, so there is
    /// no need to look for another one.
    pub(super) fn leads_there(
        &mut self,
        tables: &Tables,
        leaf: NodeId,
        first: EventId,
        goal: Goal,
    ) -> Settled {
        self.build_sequence(first);
        let root = self.levels[first as usize].root;
        self.buffers.path.clear();
        self.buffers.path.extend(self.trees.path(root, leaf));
        let mut walk = Walk::new(first, goal);
        while let Some(node) = self.buffers.path.pop() {
            let step = self.trees.step(node);
            match self.position_of(tables, &step, walk.last.as_ref()) {
                Position::Dependent(_) => return Settled::No,
                Position::Absent => return walk.stopped_by(&step),
                position => walk.take(position, &mut self.buffers.sequence),
            }
        }
        walk.reached(Some(leaf))
    }
}
