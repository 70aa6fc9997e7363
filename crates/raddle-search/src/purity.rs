//! Loop iterations without effect, seen in the automata of threads.
//!
//! A thread is an automaton, and local states that agree on everything live are the same state. So an iteration without
//! side effects shows as coming back to a state that the thread was in, with nothing but pure steps since: steps that
//! changed no memory. Deleting such an iteration from an execution changes neither memory nor the thread's state, so
//! executions without pure iterations reach all that executions with them reach (theorem 1 of "Awaiting for Godot",
//! FMCAD 2022). The last step of the iteration is therefore an await: it waits until memory holds a value with which it
//! leads elsewhere. This is the rewrite of loads, exchanges and compare-exchanges followed by `assume` in the paper's
//! section III, found in the automaton instead of the text, so that the shape of the loop does not matter.

mod stores;

use raddle_memory::Machine;
use raddle_memory::access::sync_mode;
use raddle_memory::sync::SyncStep;
use raddle_program::{
    ChoiceOf, LocId, Op, Order, Program, RmwKind, StateId, SyncAction, ThreadId, Value,
};
use smallvec::SmallVec;
use stores::Stores;

/// An operation that changes memory only if it succeeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) loc: LocId,
    op: Op,
}

impl Attempt {
    /// The operation at `state`, if it is one that may be pure.
    #[inline]
    pub(crate) fn of(program: &Program, state: StateId) -> Option<Self> {
        let op = *program.op(state);
        let loc = match op {
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => loc,
            Op::Store { loc, .. } if program.is_private(loc) => loc,
            Op::Sync { cell, action } if action.is_try() => cell,
            _ => return None,
        };
        Some(Self { loc, op })
    }

    /// May a thread wait here, instead of doing what leads nowhere?
    ///
    /// Not where sizes are mixed, other than by the first thread while it is alone: who could tell when to go on? And not where the read might race with a plain store, and learn
    /// of that store from something written to the location later: waiting for that would hide the race.
    #[inline]
    pub(crate) fn can_wait(self, program: &Program) -> bool {
        let acquires = match self.op {
            Op::Load { order, .. } | Op::Rmw { order, .. } => order.acquires(),
            Op::Cas {
                success, failure, ..
            } => success.acquires() || failure.acquires(),
            _ => false,
        };
        // A store does not depend on what it finds.
        let is_store = matches!(self.op, Op::Store { .. });
        let hides_race = acquires && program.is_plainly_written(self.loc);
        !(is_store || program.is_mixed(self.loc) || hides_race)
    }

    /// What it returns if the location holds `held`; `None` if it then changes memory.
    pub(crate) fn pure_result(
        self,
        program: &Program,
        machine: &mut Machine,
        thread: ThreadId,
        held: Value,
    ) -> Option<Value> {
        match self.op {
            Op::Load { .. } => Some(held),
            // Whether it stores what is there already is seen when an iteration is complete.
            Op::Store { .. } => Some(0),
            Op::Rmw { .. } | Op::Cas { .. } => {
                let new = self.op.written(program.tables(), held);
                new.is_none_or(|new| new == held).then_some(held)
            }
            Op::Sync { action, .. } => machine
                .outcome(held, action, thread)
                .filter(|&value| value != 0),
            _ => None,
        }
    }
}

/// Did an operation that returned `value` change nothing but the state of its thread?
pub(crate) fn changes_nothing(program: &Program, op: &Op, value: Value) -> bool {
    match *op {
        Op::Load { .. } | Op::Fence { .. } => true,
        Op::Store { loc, .. } => program.is_private(loc),
        Op::Rmw { .. } | Op::Cas { .. } => op
            .written(program.tables(), value)
            .is_none_or(|new| new == value),
        Op::Sync { action, .. } => action.is_try() && !sync_mode(action, value).writes(),
        _ => false,
    }
}

/// Is the operation of `state` a store to memory that no other thread accesses at the same time? In an iteration it counts as pure, if such memory holds
/// in the end what it held before: [`completes_iteration`] sees to that.
pub(crate) fn is_private_store(program: &Program, state: StateId) -> bool {
    matches!(*program.op(state), Op::Store { loc, .. } if program.is_private(loc))
}

/// Is it decided at `state` whether an attempt fails for no reason? That changes nothing but the state of the thread.
pub(crate) fn fails_or_not(program: &Program, state: StateId) -> bool {
    matches!(
        program.op(state),
        Op::Choice {
            of: ChoiceOf::Failing,
            ..
        }
    )
}

/// What an event of a thread did to memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Did {
    /// It left memory as it was, or stored to memory that no other thread accesses at the same time.
    Nothing,
    /// It changed one location, which may be changed back.
    Change(Change),
    /// Something else.
    Other,
}

/// A change of a location that other threads access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) loc: LocId,
    pub(crate) before: Value,
    pub(crate) after: Value,
    /// Was the last write before it the thread's own?
    pub(crate) is_own: bool,
    /// And what did others do there since the thread's change before?
    pub(crate) others: Others,
    /// Is it an addition whose result nobody uses? What was there before it, and others add meanwhile, makes no difference to anybody.
    pub(crate) is_blind: bool,
}

/// What others did at a location between two changes of a thread's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// They did not access it.
    Nothing,
    /// They may have seen what the first change left there.
    Something,
    /// The engine can tell, by the number that it has for the second one.
    Ask(u32),
}

/// Others may have accessed a location between two changes of an iteration: the iteration comes to nothing if none of them noticed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meanwhile {
    pub(crate) loc: LocId,
    /// The engine's numbers of the changes.
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// By how much the location differs from what it would hold without the iteration.
    pub(crate) pending: Value,
    /// May they also have written there? A store hides what others published there before it; an update does not.
    pub(crate) may_write: bool,
}

pub(crate) type Meanwhiles = SmallVec<[Meanwhile; 2]>;

/// Is the operation of `state` an addition whose result nobody uses? They are in no order among each other.
pub(crate) fn is_blind(program: &Program, state: StateId) -> bool {
    matches!(
        program.op(state),
        Op::Rmw {
            kind: RmwKind::Add | RmwKind::Sub,
            ..
        }
    ) && program.ignores_result(state)
}

/// What the operation of `state` leaves at its location if that holds `before`, if it is one that an iteration may change back.
pub(crate) fn leaves(
    program: &Program,
    machine: &mut Machine,
    (thread, state): (ThreadId, StateId),
    before: Value,
) -> Option<(LocId, Value)> {
    let (loc, after) = match *program.op(state) {
        Op::Store { loc, value, order } if order != Order::Plain || program.is_private(loc) => {
            (loc, value)
        }
        op @ (Op::Rmw { loc, .. } | Op::Cas { loc, .. }) => {
            (loc, op.written(program.tables(), before)?)
        }
        Op::Sync { cell, action } if is_lock(action) => {
            match machine.sync_step(before, action, thread) {
                SyncStep::Done { word, .. } => (cell, word),
                SyncStep::Wait | SyncStep::Misuse(_) => return None,
            }
        }
        _ => return None,
    };
    (!program.is_mixed(loc)).then_some((loc, after))
}

/// What an operation that led from `state` to `after` may have changed, as far as its thread knows: others are taken to be elsewhere. For engines whose classes of
/// executions do not say who accessed a location in between.
pub(crate) fn seems_to_change(program: &Program, state: StateId, after: StateId) -> Did {
    let change = |loc: LocId, before, after| match program.is_mixed(loc) {
        true => Did::Other,
        false => Did::Change(Change {
            loc,
            before,
            after,
            is_own: true,
            others: Others::Nothing,
            is_blind: is_blind(program, state),
        }),
    };
    match *program.op(state) {
        // What was there before is for an earlier change to say.
        Op::Store { loc, value, order } if order != Order::Plain => change(loc, !value, value),
        Op::Rmw {
            loc, kind, operand, ..
        } => {
            let size = program.tables().loc_info(loc).size;
            let adds = matches!(kind, RmwKind::Add | RmwKind::Sub);
            match program.returned(state, after) {
                Some(found) => change(loc, found, kind.apply(found, operand, size)),
                // It may have found this or that: what it added is known.
                None if adds => match change(loc, 0, kind.apply(0, operand, size)) {
                    Did::Change(change) => Did::Change(Change {
                        is_blind: true,
                        ..change
                    }),
                    did => did,
                },
                None => Did::Other,
            }
        }
        Op::Cas {
            loc, expected, new, ..
        } => change(loc, expected, new),
        Op::Sync { cell, action } if is_lock(action) => match acquires(action) {
            true => change(cell, 0, 1),
            false => change(cell, 1, 0),
        },
        _ => Did::Other,
    }
}

/// Operations that take something or give it back: what they do is said by the word of their cell alone.
fn is_lock(action: SyncAction) -> bool {
    let gives_back = matches!(
        action,
        SyncAction::Unlock { .. } | SyncAction::RwUnlock | SyncAction::SemPost
    );
    gives_back || acquires(action)
}

fn acquires(action: SyncAction) -> bool {
    matches!(
        action,
        SyncAction::Lock { .. }
            | SyncAction::TryLock { .. }
            | SyncAction::ReadLock
            | SyncAction::TryReadLock
            | SyncAction::WriteLock
            | SyncAction::TryWriteLock
            | SyncAction::SemWait
            | SyncAction::SemTryWait
    )
}

/// A location that an iteration changes, walked backwards.
#[derive(Clone, Copy, Debug)]
struct Changed {
    loc: LocId,
    /// What it holds behind the iteration.
    left: Value,
    /// What it held before the first change met so far; what others did there since the one before; what kind of change it is; and whether
    /// what was published there before is known to the thread.
    first: Value,
    others: Others,
    is_blind: bool,
    is_update: bool,
    learns: bool,
    /// Whoever reads what is left there learns what the thread knew at some change met so far.
    publishes: bool,
}

/// The changes of an iteration that is walked backwards: zero net effect (docs/purity.md).
#[derive(Default)]
struct Changes {
    locs: SmallVec<[Changed; 2]>,
    any: bool,
    /// Is one of them an update? Whoever takes something makes one. Iterations that only store are explored, as in the paper: its counts are those.
    takes: bool,
    meanwhile: Meanwhiles,
}

impl Changed {
    /// The change of the thread's before the first one that was met. False if others may have seen what it left there.
    fn step_back(
        &mut self,
        program: &Program,
        earlier: Change,
        is_update: bool,
        meanwhile: &mut Meanwhiles,
    ) -> bool {
        let info = program.tables().loc_info(self.loc);
        // A synchronisation object's word has no size of its own.
        let size = if info.is_sync() { 8 } else { info.size };
        let minus = |a, b| RmwKind::Sub.apply(a, b, size);
        if self.is_blind || matches!(self.others, Others::Ask(_)) {
            // Others may have written meanwhile: all that counts is by how much the thread itself changed it.
            self.left = minus(self.left, minus(self.first, earlier.after));
            self.first = earlier.after;
        }
        match (self.others, earlier.others) {
            (Others::Nothing, _) => {}
            (Others::Ask(last), Others::Ask(first)) => meanwhile.push(Meanwhile {
                loc: self.loc,
                first,
                last,
                pending: minus(self.first, self.left),
                may_write: self.is_update,
            }),
            _ => return false,
        }
        self.first = earlier.before;
        self.others = earlier.others;
        self.is_blind = earlier.is_blind;
        self.is_update = is_update;
        true
    }
}

impl Changes {
    /// The change before. False if the iteration has an effect, whatever else it does.
    fn step_back(&mut self, program: &Program, state: StateId, change: Change) -> bool {
        self.any = true;
        let Change { loc, is_own, .. } = change;
        // Who else accesses private memory does so before the thread starts and behind its end.
        let is_private = program.is_private(loc);
        let (acquires, releases, is_update) = match *program.op(state) {
            Op::Store { order, .. } => (is_private, order.releases() || is_private, false),
            Op::Rmw { order, .. } => (order.acquires(), order.releases(), true),
            Op::Cas { success, .. } => (success.acquires(), success.releases(), true),
            Op::Sync { action, .. } => (acquires(action), !acquires(action), true),
            _ => return false,
        };
        self.takes |= is_update;
        let learns = acquires || is_own;
        let found = self.locs.iter_mut().find(|changed| changed.loc == loc);
        let publishes = match found {
            Some(later) => {
                if !later.step_back(program, change, is_update, &mut self.meanwhile) {
                    return false;
                }
                later.learns = learns;
                later.publishes |= releases;
                later.publishes
            }
            None => {
                self.locs.push(Changed {
                    loc,
                    left: change.after,
                    first: change.before,
                    others: change.others,
                    is_blind: change.is_blind,
                    is_update,
                    learns,
                    publishes: releases,
                });
                releases
            }
        };
        // What a plain or relaxed store leaves there continues nothing that was published before.
        publishes || is_update
    }

    fn touch(&self, loc: LocId) -> bool {
        self.locs.iter().any(|changed| changed.loc == loc)
    }

    /// Is everything as it was before the first change? Then begins another iteration.
    fn come_to_nothing(&mut self) -> bool {
        let is_back = |changed: &Changed| {
            changed.first == changed.left && changed.learns && changed.publishes
        };
        let all = self.locs.iter().all(is_back);
        self.locs.clear();
        all && (self.takes || !self.any)
    }
}

/// Does a pure step from `state` to `next` complete a pure iteration that can be left out? `history` tells of the thread's
/// events before it, the last one first: which state each left, and whether it was pure.
pub(crate) fn completes_iteration(
    program: &Program,
    state: StateId,
    next: StateId,
    history: impl Iterator<Item = (StateId, bool)>,
) -> bool {
    let history = history.map(|(state, is_pure)| match is_pure {
        true => (state, Did::Nothing),
        false => (state, Did::Other),
    });
    comes_to_nothing(program, (state, Did::Nothing), next, history).is_some()
}

/// Does a step from a state to `next` complete an iteration without effect that can be left out? It is pure, or its changes are taken back. `history` tells of the thread's
/// events before it, the last one first: which state each left, and what it did.
///
/// An iteration is not left out for the first time if one of its accesses can be in a data race. Whoever races with it may do so
/// because of what the thread does later: other iterations need not make that access. Once is enough: of an execution with a
/// race, all pure iterations can be left out but the one that the race is about, and then no state is left for the third time.
///
/// That the thread comes back to `next` is told by its history alone: at whichever state of a loop that is first, there an iteration is complete. What else is known of the
/// automaton must not matter, which edges were walked before others, say: an engine that goes the same way again, and another worker that goes there, must find the thread
/// blocked, or not, where it was before. (Of two threads that wait with a lock in hand, but for a moment, each has what the other does inside of that moment.)
///
/// The first access of an iteration, the one at `next`, makes no difference. Whenever the thread goes on it makes that access
/// again; what was not ordered after the first access is not ordered after the second, nor before it unless the thread learnt
/// something in between, and then it had not left the iteration. For the same reason nothing is to be minded if the
/// iteration is one access.
///
/// Where the engine is to be asked what others did meanwhile, it comes to nothing if none of them noticed.
pub(crate) fn comes_to_nothing(
    program: &Program,
    (state, did): (StateId, Did),
    next: StateId,
    mut history: impl Iterator<Item = (StateId, Did)>,
) -> Option<Meanwhiles> {
    let mut effects = Effects::default();
    if !effects.step_back(program, (state, did), next) {
        return None;
    }
    if next == state {
        return match effects.come_to_nothing() {
            true => effects.are_none(program, state, history),
            false => None,
        };
    }
    let mut may_race = program.may_race(state);
    let mut was_left = false;
    let mut after = state;
    let mut steps = 0;
    while let Some((left, did)) = history.next() {
        steps += 1;
        let is_long = steps > LONGEST_OF_CHANGES && effects.changes.any;
        if is_long || !effects.step_back(program, (left, did), after) {
            return None;
        }
        after = left;
        if left == next {
            if !effects.come_to_nothing() {
                return None;
            }
            if was_left || !may_race {
                return effects.are_none(program, left, history);
            }
            was_left = true;
        } else if !was_left {
            may_race |= program.may_race(left);
        }
    }
    None
}

/// Longer iterations that change something and take it back are not recognised.
const LONGEST_OF_CHANGES: usize = 1024;

/// What an iteration that is walked backwards did to memory.
#[derive(Default)]
struct Effects {
    stores: Stores,
    changes: Changes,
}

impl Effects {
    fn step_back(
        &mut self,
        program: &Program,
        (left, did): (StateId, Did),
        after: StateId,
    ) -> bool {
        match did {
            Did::Nothing => self.stores.step_back(program, left, after),
            Did::Change(change) if self.is_of_stores(program, left, change) => {
                match program.op(left) {
                    Op::Store { .. } => self.stores.step_back(program, left, after),
                    _ => self.stores.change_back(program, change),
                }
            }
            Did::Change(change) => {
                !self.stores.touches(change.loc) && self.changes.step_back(program, left, change)
            }
            Did::Other => false,
        }
    }

    /// Does a change belong to what is stored in private memory? It is known of locations that are stored to on a cycle whether they are; of others nobody has found
    /// it out. What was there before a blind addition may not be known either, nor what is in bytes that are accessed in several sizes.
    fn is_of_stores(&self, program: &Program, left: StateId, change: Change) -> bool {
        let Change { loc, is_blind, .. } = change;
        let is_store = matches!(program.op(left), Op::Store { .. });
        program.is_private(loc)
            && !program.tables().loc_info(loc).mixed
            && !is_blind
            && (self.stores.touches(loc) || is_store && !self.changes.touch(loc))
    }

    fn come_to_nothing(&mut self) -> bool {
        self.stores.begin() && self.changes.come_to_nothing()
    }

    fn are_none(
        self,
        program: &Program,
        after: StateId,
        history: impl Iterator<Item = (StateId, Did)>,
    ) -> Option<Meanwhiles> {
        let history = history.map(|(state, did)| (state, matches!(did, Did::Nothing)));
        self.stores
            .come_to_nothing(program, after, history)
            .then_some(self.changes.meanwhile)
    }
}
