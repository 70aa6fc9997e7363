//! Why threads wait or spin for good: who waits for what, and who holds it since when.

use crate::names::Names;
use crate::source::{Sources, position};
use crate::steps::intention;
use raddle_program::{LocId, Op, Program, SrcId, SyncAction, ThreadId};
use raddle_search::Violation;
use raddle_search::verdict::Waiting;

pub(crate) struct Explanation<'a> {
    pub(crate) program: &'a Program,
    pub(crate) names: &'a Names<'a>,
    pub(crate) sources: &'a Sources,
    pub(crate) violation: &'a Violation,
}

impl Explanation<'_> {
    /// What the thread does for good: `waits to lock m`, `spins on flag`.
    pub(crate) fn aim(&self, waiting: &Waiting) -> String {
        match *self.program.op(waiting.state) {
            Op::Sync {
                cell,
                action: SyncAction::CondAwait,
            } => format!("waits to be woken on {}", self.names.location(cell)),
            Op::Sync { cell, action } => {
                format!("waits to {}", intention(self.names, cell, action))
            }
            Op::Join { thread } => format!("waits to join {}", self.names.thread(thread)),
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                format!("spins on {}", self.names.location(loc))
            }
            _ => "spins".to_owned(),
        }
    }

    /// One sentence a thread.
    pub(crate) fn sentence(&self, waiting: &Waiting) -> String {
        let mut text = format!(
            "{} {}{}",
            self.names.thread(waiting.thread),
            self.aim(waiting),
            self.place(waiting.at)
        );
        match *self.program.op(waiting.state) {
            Op::Sync {
                cell,
                action: SyncAction::CondAwait,
            } => text += &self.missed_signal(cell, waiting.thread),
            Op::Sync {
                action: SyncAction::SemWait,
                ..
            } => text += ": nobody posts to it",
            Op::Sync {
                action: SyncAction::BarrierAwait { .. },
                ..
            } => text += ": not enough threads arrive",
            Op::Sync { cell, .. } => {
                for &holder in &waiting.on {
                    text += &self.holder(cell, holder, waiting.thread);
                }
            }
            Op::Join { .. } => text += ", which does not finish",
            _ => text += ": no thread will write there again",
        }
        text
    }

    /// What became of the signals, if there were any.
    fn missed_signal(&self, cond: LocId, waiter: ThreadId) -> String {
        let steps = &self.violation.trace.steps;
        let on_cond = |index: usize, is_meant: fn(SyncAction) -> bool| {
            matches!(*self.program.op(steps[index].state), Op::Sync { cell, action }
                if cell == cond && is_meant(action))
        };
        let waits = |action| matches!(action, SyncAction::CondRelease { .. });
        let signals = |action| matches!(action, SyncAction::Signal | SyncAction::Broadcast);
        let began = (0..steps.len())
            .rfind(|&index| steps[index].thread == waiter && on_cond(index, waits))
            .unwrap_or(0);
        let later = (began..steps.len()).rfind(|&index| on_cond(index, signals));
        let earlier = (0..began).rfind(|&index| on_cond(index, signals));
        match (later, earlier) {
            (Some(index), _) => format!(": the signal of step {} woke another thread", index + 1),
            (None, Some(index)) => {
                format!(
                    ": the signal of step {} came before it waited, and is lost",
                    index + 1
                )
            }
            (None, None) => ": no signal comes".to_owned(),
        }
    }

    fn holder(&self, cell: LocId, holder: ThreadId, waiter: ThreadId) -> String {
        let who = if holder == waiter {
            "this thread itself".to_owned()
        } else {
            self.names.thread(holder)
        };
        match self.taken(cell, holder) {
            Some((step, place)) => format!(", held by {who} since step {step}{place}"),
            None => format!(", held by {who}"),
        }
    }

    /// The last step in which `holder` took `cell`.
    fn taken(&self, cell: LocId, holder: ThreadId) -> Option<(usize, String)> {
        let (index, step) = self
            .violation
            .trace
            .steps
            .iter()
            .enumerate()
            .rfind(|(_, step)| {
                step.thread == holder
                    && step.value == 0
                    && matches!(*self.program.op(step.state), Op::Sync { cell: other, action }
                    if other == cell && takes(action))
            })?;
        Some((index + 1, self.place(self.program.at(step.state))))
    }

    /// The line; with its file where that is not the one the snippet begins with.
    fn place(&self, at: SrcId) -> String {
        let tables = self.names.tables();
        let file = |at| position(tables, at).map(|loc| &loc.file);
        match position(tables, at) {
            None => String::new(),
            Some(loc) if file(self.violation.at) == Some(&loc.file) => {
                format!(" (line {})", loc.line)
            }
            Some(loc) => format!(" ({}:{})", self.sources.display(&loc.file), loc.line),
        }
    }
}

fn takes(action: SyncAction) -> bool {
    matches!(
        action,
        SyncAction::Lock
            | SyncAction::TryLock
            | SyncAction::ReadLock
            | SyncAction::TryReadLock
            | SyncAction::WriteLock
            | SyncAction::TryWriteLock
            | SyncAction::OnceBegin
    )
}
