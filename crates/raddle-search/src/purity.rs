//! Loop iterations without effect, seen in the automata of threads.
//!
//! A thread is an automaton, and local states that agree on everything live are the same state. So an iteration without
//! side effects shows as coming back to a state that the thread was in, with nothing but pure steps since: steps that
//! changed no memory. Deleting such an iteration from an execution changes neither memory nor the thread's state, so
//! executions without pure iterations reach all that executions with them reach (theorem 1 of "Awaiting for Godot",
//! FMCAD 2022). The last step of the iteration is therefore an await: it waits until memory holds a value with which it
//! leads elsewhere. This is the rewrite of loads, exchanges and compare-exchanges followed by `assume` in the paper's
//! section III, found in the automaton instead of the text, so that the shape of the loop does not matter.

use raddle_memory::Machine;
use raddle_program::{LocId, Op, Program, StateId, ThreadId, Value};
use smallvec::SmallVec;

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
            Op::Rmw {
                loc, kind, operand, ..
            } => (kind.apply(held, operand, program.tables().loc_info(loc).size) == held)
                .then_some(held),
            Op::Cas { expected, new, .. } => (held != expected || new == held).then_some(held),
            Op::Sync { action, .. } => machine
                .outcome(held, action, thread)
                .filter(|&value| value != 0),
            _ => None,
        }
    }
}

/// Is the operation of `state` a store to memory that no other thread accesses at the same time? In an iteration it counts as pure, if it stores
/// what is there already: [`completes_iteration`] sees to that.
pub(crate) fn is_private_store(program: &Program, state: StateId) -> bool {
    matches!(*program.op(state), Op::Store { loc, .. } if program.is_private(loc))
}

/// Stores of an iteration that is walked backwards, of which it is not known yet whether they changed anything. No other thread accesses the
/// locations meanwhile, so what they held is what the thread's last access before found or left there.
#[derive(Default)]
struct Stores {
    /// Those of which it is not known yet.
    open: SmallVec<[(LocId, Value); 2]>,
    /// Is there any?
    any: bool,
}

/// So far back is looked for what a location held.
const FARTHEST: usize = 4096;

impl Stores {
    /// The step before: from `left` to `after`. False if a store has changed something, or that cannot be told.
    fn step_back(&mut self, program: &Program, left: StateId, after: StateId) -> bool {
        if !self.look_back(program, left, after) {
            return false;
        }
        if let Op::Store { loc, value, .. } = *program.op(left) {
            // Other locations share bytes with it: somebody may have written these.
            if program.tables().loc_info(loc).mixed {
                return false;
            }
            self.open.push((loc, value));
            self.any = true;
        }
        true
    }

    /// The same for a step before the iteration, which may change what it likes.
    fn look_back(&mut self, program: &Program, left: StateId, after: StateId) -> bool {
        let (loc, found) = match *program.op(left) {
            Op::Store { loc, value, .. } => (loc, Some(value)),
            Op::Load { loc, .. } if !self.open.is_empty() => (loc, program.returned(left, after)),
            Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                return self.open.iter().all(|&(stored, _)| stored != loc);
            }
            _ => return true,
        };
        if let Some(at) = self.open.iter().position(|&(stored, _)| stored == loc) {
            match found {
                Some(value) if value == self.open[at].1 => {
                    self.open.swap_remove(at);
                }
                Some(_) => return false,
                // It found the same as the access before it.
                None => {}
            }
        }
        true
    }

    /// Did all of them store what was there? The last step of the iteration leads from one state to the other; `after` is where it
    /// began, `history` tells of what was before.
    fn are_silent(
        mut self,
        program: &Program,
        (state, next): (StateId, StateId),
        mut after: StateId,
        history: impl Iterator<Item = (StateId, bool)>,
    ) -> bool {
        if self.any && !program.leads_back(state, next) {
            return false;
        }
        if self.open.is_empty() {
            return true;
        }
        for (left, is_pure) in history.take(FARTHEST) {
            // Others may access the location before a thread is started, and behind its end; and what an atomic block did is not told.
            let is_access = matches!(
                program.op(left),
                Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. } | Op::Cas { .. }
            );
            if !(is_access || is_pure) || !self.look_back(program, left, after) {
                return false;
            }
            if self.open.is_empty() {
                return true;
            }
            after = left;
        }
        false
    }
}

/// Does a pure step from `state` to `next` complete a pure iteration that can be left out? `history` tells of the thread's
/// events before it, the last one first: which state each left, and whether it was pure.
///
/// An iteration is not left out for the first time if one of its accesses can be in a data race. Whoever races with it may do so
/// because of what the thread does later: other iterations need not make that access. Once is enough: of an execution with a
/// race, all pure iterations can be left out but the one that the race is about, and then no state is left for the third time.
///
/// An iteration that stores is recognised at a step that leads back to a state which was known before the step was
/// ([`Program::leads_back`]). Where several steps lead to a state in the middle of a loop, whether it is one that threads come back to is found out
/// late; an engine that goes the same way again must find the thread blocked, or not, where it was before.
///
/// The first access of an iteration, the one at `next`, makes no difference. Whenever the thread goes on it makes that access
/// again; what was not ordered after the first access is not ordered after the second, nor before it unless the thread learnt
/// something in between, and then it had not left the iteration. For the same reason nothing is to be minded if the
/// iteration is one access.
pub(crate) fn completes_iteration(
    program: &Program,
    state: StateId,
    next: StateId,
    mut history: impl Iterator<Item = (StateId, bool)>,
) -> bool {
    if !program.is_reentered(next) {
        return false;
    }
    let mut stores = Stores::default();
    if !stores.step_back(program, state, next) {
        return false;
    }
    if next == state {
        return stores.are_silent(program, (state, next), state, history);
    }
    let mut may_race = program.may_race(state);
    let mut was_left = false;
    let mut after = state;
    while let Some((left, is_pure)) = history.next() {
        if !is_pure || !stores.step_back(program, left, after) {
            return false;
        }
        after = left;
        if left == next {
            if was_left || !may_race {
                return stores.are_silent(program, (state, next), left, history);
            }
            was_left = true;
        } else if !was_left {
            may_race |= program.may_race(left);
        }
    }
    false
}
