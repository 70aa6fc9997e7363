//! Which locations are used by one thread at a time, because starting and joining threads orders all their accesses.
//!
//! For each state it is known which threads its thread has joined, whichever way it came there, and which it may have started. An
//! access comes before all that a thread does which has not been started, and behind all that a thread did which has been joined.

use super::Sharing;
use crate::automaton::Program;
use crate::ids::{LocId, StateId, ThreadId};
use crate::op::Op;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Threads as bits; those with higher numbers are never known to have been joined, nor not to have been started.
type Threads = u64;

fn bit(thread: ThreadId) -> Option<Threads> {
    (thread.index() < 64).then(|| 1 << thread.index())
}

/// What a thread knows of others when it is in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Phase {
    joined: Threads,
    started: Threads,
}

impl Phase {
    const FIRST: Self = Self {
        joined: 0,
        started: 0,
    };

    fn after(self, op: &Op) -> Self {
        let mut phase = self;
        match *op {
            Op::Spawn { child, .. } => phase.started |= bit(child).unwrap_or(0),
            Op::Join { thread } => phase.joined |= bit(thread).unwrap_or(0),
            _ => {}
        }
        phase
    }

    /// What holds on both ways.
    fn meet(self, other: Self) -> Self {
        Self {
            joined: self.joined & other.joined,
            started: self.started | other.started,
        }
    }
}

type Accesses = SmallVec<[(ThreadId, Phase); 4]>;

impl Program {
    /// For the locations that are stored to on cycles of automata.
    pub(super) fn sharing(&self) -> Vec<Sharing> {
        let is_store = |state: &StateId| matches!(self.op(*state), Op::Store { .. });
        let states = || (0..self.state_count()).map(StateId::from_index);
        // A cycle has a state that is reached twice.
        if !states().any(|state| self.is_reentered(state)) {
            return Vec::new();
        }
        let on_cycle = self.on_cycle();
        let mut accesses: FxHashMap<LocId, Accesses> = FxHashMap::default();
        for state in states().filter(is_store) {
            if let (true, Op::Store { loc, .. }) = (on_cycle[state.index()], *self.op(state)) {
                accesses.entry(loc).or_default();
            }
        }
        if accesses.is_empty() {
            return Vec::new();
        }
        let phases = self.phases();
        for state in states() {
            let (Op::Load { loc, .. }
            | Op::Store { loc, .. }
            | Op::Rmw { loc, .. }
            | Op::Cas { loc, .. }) = *self.op(state)
            else {
                continue;
            };
            let by = (self.thread(state), phases[state.index()]);
            let overlapping = self.tables().overlaps(loc).iter().copied();
            for loc in std::iter::once(loc).chain(overlapping) {
                if let Some(list) = accesses.get_mut(&loc)
                    && !list.contains(&by)
                {
                    list.push(by);
                }
            }
        }
        let mut sharing = vec![Sharing::Unknown; self.tables().loc_count()];
        for (loc, list) in accesses {
            let is_ordered = list.iter().enumerate().all(|(index, one)| {
                let mut others = list[..index].iter();
                others.all(|other| self.are_ordered(*one, *other))
            });
            sharing[loc.index()] = match is_ordered {
                true => Sharing::Private,
                false => Sharing::Shared,
            };
        }
        sharing
    }

    fn phases(&self) -> Vec<Phase> {
        let edges = self.edges();
        let mut phases: Vec<Option<Phase>> = (0..self.state_count())
            .map(|index| (self.is_start(StateId::from_index(index))).then_some(Phase::FIRST))
            .collect();
        loop {
            let mut changed = false;
            for &(from, to) in &edges {
                let Some(phase) = phases[from.index()] else {
                    continue;
                };
                let phase = phase.after(self.op(from));
                let old = phases[to.index()];
                let new = old.map_or(phase, |old| old.meet(phase));
                if old != Some(new) {
                    phases[to.index()] = Some(new);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        // A state that no walked edge leads to: nothing is known there.
        let unknown = Phase {
            joined: 0,
            started: Threads::MAX,
        };
        phases
            .into_iter()
            .map(|phase| phase.unwrap_or(unknown))
            .collect()
    }

    fn are_ordered(&self, one: (ThreadId, Phase), other: (ThreadId, Phase)) -> bool {
        let before = |(thread, phase): (ThreadId, Phase), (other, _): (ThreadId, Phase)| {
            let is_joined = bit(other).is_some_and(|bit| phase.joined & bit != 0);
            is_joined || self.is_not_started(thread, phase, other)
        };
        one.0 == other.0 || before(one, other) || before(other, one)
    }

    /// Has the thread not started the other one yet, nor whoever starts that?
    fn is_not_started(&self, thread: ThreadId, phase: Phase, other: ThreadId) -> bool {
        let mut child = other;
        while let Some(parent) = self.tables().thread_info(child).parent {
            if parent == thread {
                return bit(child).is_some_and(|bit| phase.started & bit == 0);
            }
            child = parent;
        }
        false
    }
}
