//! Barriers that are made anew while threads may be leaving them.
//!
//! Leaving a barrier reads its cell, and waits until it is open: then it reads the same whenever it comes, since an open
//! generation stays open. Unless somebody makes the barrier anew: then whoever has not left waits for another round. That an
//! operation waits is the source of no read, so it belongs to no class of its own; engine `dpor` has to look.

use super::Search;
use super::event::{NO_EVENT, Pos};
use super::observe::parent_of;
use raddle_program::{LocId, Op, Program, SyncAction, ThreadId};

/// The barrier that an operation leaves.
fn left(op: &Op) -> Option<LocId> {
    match *op {
        Op::Sync {
            cell,
            action: SyncAction::BarrierAwait { .. },
        } => Some(cell),
        _ => None,
    }
}

impl Search {
    /// May a barrier be made anew before a thread has left it, in this execution or another one with its events?
    pub(super) fn may_close_barrier(&self, program: &Program) -> bool {
        let makes = |pos: Pos| {
            let event = self.trace.event(pos);
            let is_making = matches!(
                program.op(event.state),
                Op::Sync {
                    action: SyncAction::BarrierInit { .. },
                    ..
                }
            );
            event.is_block || is_making
        };
        let all = 0..self.trace.len();
        let mut new = self.first_new..self.trace.len();
        new.any(|pos| {
            self.is_left_beside(program, pos, None)
                || makes(pos)
                    && all
                        .clone()
                        .any(|other| self.is_left_beside(program, other, Some(pos)))
        }) || self.waits_beside(program)
    }

    /// Is it an event that leaves a barrier which `maker`, or anybody, may make anew before it?
    fn is_left_beside(&self, program: &Program, pos: Pos, maker: Option<Pos>) -> bool {
        let event = self.trace.event(pos);
        left(program.op(event.state)).is_some_and(|barrier| {
            let mut makers = self.trace.intruders(barrier).iter();
            makers.any(|&other| {
                maker.is_none_or(|maker| maker == other) && self.trace.is_beside(other, pos)
            })
        })
    }

    /// Does a thread wait at a barrier that somebody may have made anew after the thread came there?
    fn waits_beside(&self, program: &Program) -> bool {
        (0..self.machine.thread_count()).any(|index| {
            let thread = ThreadId::from_index(index);
            let state = self.machine.thread_state(thread);
            let Some(barrier) = state.and_then(|state| left(program.op(state))) else {
                return false;
            };
            let arrival = parent_of(&self.trace, &self.spawned_by, thread);
            let mut makers = self.trace.intruders(barrier).iter();
            makers.any(|&maker| arrival == NO_EVENT || !self.trace.before(maker, arrival))
        })
    }
}
