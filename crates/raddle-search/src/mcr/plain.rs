//! Plain accesses that may race.

use super::model::{Builder, Index, Pair};
use super::observe::Event;
use raddle_memory::Effect;
use raddle_program::{Op, Order, SrcId, SyncAction, ThreadId, Value};

impl Builder<'_> {
    /// All pairs of accesses that race if nothing orders them; one for each pair of threads and places.
    pub(super) fn pairs(&mut self, events: &[Event]) -> Vec<Pair> {
        let mut accesses: Vec<PlainAccess> = Vec::new();
        for (index, event) in events.iter().enumerate() {
            for step in event.steps.clone() {
                accesses.extend(self.access(index as Index, event, step));
            }
        }
        let mut pairs: Vec<Pair> = Vec::new();
        for (position, second) in accesses.iter().enumerate() {
            for first in &accesses[..position] {
                if first.races(second) {
                    let at = (first.at.min(second.at), first.at.max(second.at));
                    pairs.push(Pair {
                        first: first.event,
                        second: second.event,
                        at,
                        is_conditional: first.is_conditional || second.is_conditional,
                    });
                }
            }
        }
        pairs
    }

    fn access(&self, index: Index, event: &Event, step: usize) -> Option<PlainAccess> {
        let step = self.machine.steps()[step];
        // It is in no race.
        if step.effect == Effect::Abandoned {
            return None;
        }
        let (loc, writes, atomic) = match *self.program.op(step.state) {
            Op::Load { loc, order } => (loc, false, order != Order::Plain),
            Op::Store { loc, order, .. } | Op::Rmw { loc, order, .. } => {
                (loc, true, order != Order::Plain)
            }
            Op::Cas {
                loc,
                expected,
                success,
                ..
            } if step.value == expected => (loc, true, success != Order::Plain),
            Op::Cas { loc, failure, .. } => (loc, false, failure != Order::Plain),
            Op::Sync { cell, .. } => (cell, true, true),
            Op::Free { object } => {
                return Some(PlainAccess {
                    event: index,
                    thread: event.thread,
                    object: object.index() as u32,
                    bytes: (0, u64::MAX),
                    writes: true,
                    atomic: false,
                    is_free: true,
                    in_block: event.is_block,
                    is_conditional: event.is_block,
                    at: self.program.at(step.state),
                });
            }
            _ => return None,
        };
        let info = self.program.tables().loc_info(loc);
        let bytes = if info.is_sync() {
            (0, 0)
        } else {
            (info.offset, info.offset + u64::from(info.size))
        };
        let is_cas = matches!(self.program.op(step.state), Op::Cas { .. });
        Some(PlainAccess {
            event: index,
            thread: event.thread,
            object: info.object.index() as u32,
            bytes,
            writes,
            atomic,
            is_free: false,
            in_block: event.is_block,
            is_conditional: event.is_block || is_cas,
            at: self.program.at(step.state),
        })
    }
}

struct PlainAccess {
    event: Index,
    thread: ThreadId,
    object: u32,
    bytes: (u64, u64),
    writes: bool,
    atomic: bool,
    is_free: bool,
    in_block: bool,
    is_conditional: bool,
    at: SrcId,
}

impl PlainAccess {
    fn races(&self, other: &Self) -> bool {
        let together = self.is_free
            || other.is_free
            || self.bytes.0 < other.bytes.1 && other.bytes.0 < self.bytes.1;
        self.thread != other.thread
            && self.object == other.object
            && together
            && (self.writes || other.writes)
            && !(self.atomic && other.atomic)
            && !(self.in_block && other.in_block)
    }
}

/// Does the operation, which returned `value`, tell its thread something of others, or others something of it, without
/// synchronising? Plain accesses that do so race.
pub(super) fn is_weak(op: &Op, value: Value) -> bool {
    match *op {
        Op::Load { order, .. } => order.is_atomic() && !order.acquires(),
        Op::Store { order, .. } => order.is_atomic() && !order.releases(),
        Op::Rmw { order, .. } => order.is_atomic() && !(order.acquires() && order.releases()),
        Op::Cas {
            expected,
            success,
            failure,
            ..
        } => {
            let succeeded = value == expected;
            if succeeded {
                success.is_atomic() && !(success.acquires() && success.releases())
            } else {
                failure.is_atomic() && !failure.acquires()
            }
        }
        Op::Sync { action, .. } => {
            action == SyncAction::SemGet
                || value != 0 && (action.is_try() || matches!(action, SyncAction::Unlock { .. }))
        }
        _ => false,
    }
}
