//! Stores to memory that no other thread accesses at the same time, in an iteration that is walked backwards.

use super::Change;
use raddle_program::{LocId, Op, Program, StateId, Value};
use smallvec::SmallVec;

/// Stores to private memory of an iteration that is walked backwards: does it hold in the end what it held before? No other thread accesses the
/// locations meanwhile, so what they held is what the thread's last access before found or left there.
#[derive(Default)]
pub(super) struct Stores {
    /// Locations that the part of the iteration which was walked so far leaves changed, perhaps.
    stored: SmallVec<[Stored; 2]>,
    /// What must have been there before the iteration, where none of its accesses tells.
    open: SmallVec<[(LocId, Value); 2]>,
}

/// A location that an iteration stores to.
#[derive(Clone, Copy, Debug)]
struct Stored {
    loc: LocId,
    /// What it holds behind the iteration.
    left: Value,
    /// What it held before the first access that was met so far, if that tells.
    held: Option<Value>,
}

/// So far back is looked for what a location held.
const FARTHEST: usize = 4096;

impl Stores {
    /// The step before, which stored or changed nothing: from `left` to `after`. False if what a location held cannot be told, or if something is there now which was not there before.
    pub(super) fn step_back(&mut self, program: &Program, left: StateId, after: StateId) -> bool {
        if !self.look_back(program, (left, true), after) {
            return false;
        }
        match *program.op(left) {
            Op::Store { loc, value, .. } => self.store(program, loc, (None, value)),
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                if let Some(stored) = self.stored.iter_mut().find(|stored| stored.loc == loc) {
                    stored.held = program.returned(left, after).or(stored.held);
                }
                true
            }
            _ => true,
        }
    }

    /// The step before changed a location.
    pub(super) fn change_back(&mut self, program: &Program, change: Change) -> bool {
        let Change {
            loc, before, after, ..
        } = change;
        self.must_be(loc, after) && self.store(program, loc, (Some(before), after))
    }

    fn store(
        &mut self,
        program: &Program,
        loc: LocId,
        (held, value): (Option<Value>, Value),
    ) -> bool {
        // Other locations share bytes with it: somebody may have written these.
        if program.tables().loc_info(loc).mixed {
            return false;
        }
        match self.stored.iter_mut().find(|stored| stored.loc == loc) {
            Some(later) => later.held = held,
            None => self.stored.push(Stored {
                loc,
                left: value,
                held,
            }),
        }
        true
    }

    /// The beginning of the iteration. False if it is known to have changed something.
    pub(super) fn begin(&mut self) -> bool {
        for Stored { loc, left, held } in self.stored.drain(..) {
            match held {
                Some(held) if held != left => return false,
                Some(_) => {}
                None => self.open.push((loc, left)),
            }
        }
        true
    }

    /// A step before the iteration, which may change what it likes if it is not pure. False if something was there that is not there any more.
    fn look_back(
        &mut self,
        program: &Program,
        (left, is_pure): (StateId, bool),
        after: StateId,
    ) -> bool {
        if self.open.is_empty() {
            return true;
        }
        match *program.op(left) {
            Op::Store { loc, value, .. } => self.must_be(loc, value),
            Op::Rmw { loc, .. } | Op::Cas { loc, .. } if !is_pure => {
                self.open.iter().all(|&(stored, _)| stored != loc)
            }
            // Otherwise it found the same as the access before it.
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => program
                .returned(left, after)
                .is_none_or(|found| self.must_be(loc, found)),
            _ => true,
        }
    }

    /// A location held this before the iteration.
    fn must_be(&mut self, loc: LocId, value: Value) -> bool {
        let Some(at) = self.open.iter().position(|&(stored, _)| stored == loc) else {
            return true;
        };
        self.open.swap_remove(at).1 == value
    }

    pub(super) fn touches(&self, loc: LocId) -> bool {
        let stored = self.stored.iter().map(|stored| stored.loc);
        let mut all = stored.chain(self.open.iter().map(|&(loc, _)| loc));
        all.any(|stored| stored == loc)
    }

    /// Is everything as it was? `after` is where the iteration began, `history` tells of what was before.
    pub(super) fn come_to_nothing(
        mut self,
        program: &Program,
        mut after: StateId,
        history: impl Iterator<Item = (StateId, bool)>,
    ) -> bool {
        if self.open.is_empty() {
            return true;
        }
        for (left, is_pure) in history.take(FARTHEST) {
            // Others may access the location before a thread is started, and behind its end; and what an atomic block did is not told.
            let is_access = matches!(
                program.op(left),
                Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. } | Op::Cas { .. }
            );
            if !(is_access || is_pure) || !self.look_back(program, (left, is_pure), after) {
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
