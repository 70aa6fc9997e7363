//! Why threads wait or spin for good: who waits for what, and who holds it since when.

use crate::names::{Names, RustLock};
use crate::source::{Sources, position};
use crate::steps::intention;
use raddle_program::{LocId, Op, Program, SrcId, SyncAction, ThreadId, Value};
use raddle_search::verdict::Waiting;
use raddle_search::{Effect, TraceStep, Violation};

pub(crate) struct Explanation<'a> {
    pub(crate) program: &'a Program,
    pub(crate) names: &'a Names<'a>,
    pub(crate) sources: &'a Sources,
    pub(crate) violation: &'a Violation,
}

/// Does the thread wait for a lock of a library? That it goes round a loop is the library's way to wait.
pub(crate) fn waits_for_lock(program: &Program, waiting: &Waiting) -> bool {
    waiting.spins() && program.only_waits(waiting.state)
}

impl Explanation<'_> {
    /// What the thread does for good: `waits to lock m`, `spins on flag`.
    pub(crate) fn aim(&self, waiting: &Waiting) -> String {
        if let Some((_, lock)) = self.lock(waiting) {
            return format!("waits to lock {lock}");
        }
        if waiting.spins() {
            let aims: Vec<String> = self.glances(waiting).map(|(_, aim, _)| aim).collect();
            return format!("spins {}", enumeration(&aims));
        }
        match *self.program.op(waiting.state) {
            Op::Sync {
                cell,
                action: SyncAction::CondAwait,
            } => format!("waits to be woken on {}", self.names.location(cell)),
            Op::Sync { cell, action } => {
                format!("waits to {}", intention(self.names, cell, action))
            }
            Op::Join { thread } => format!("waits to join {}", self.names.thread(thread)),
            _ => "waits".to_owned(),
        }
    }

    /// The lock of a library that the thread waits for, and its name.
    fn lock(&self, waiting: &Waiting) -> Option<(LocId, String)> {
        match *self.program.op(waiting.state) {
            Op::Cas { loc, .. } if waits_for_lock(self.program, waiting) => {
                Some((loc, self.names.location(loc)))
            }
            _ => None,
        }
    }

    /// What a thread looks at that waits in a loop: each place once, with the aim, and what it finds.
    fn glances(&self, waiting: &Waiting) -> impl Iterator<Item = (LocId, String, Option<Value>)> {
        let mut seen: Vec<LocId> = Vec::new();
        let glances = waiting.iteration.iter().filter_map(move |glance| {
            let (loc, aim, found) = match *self.program.op(glance.state) {
                Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                    let aim = format!("on {}", self.names.location(loc));
                    (loc, aim, Some(glance.value))
                }
                Op::Sync { cell, action } => {
                    let aim = format!("to {}", intention(self.names, cell, action));
                    (cell, aim, None)
                }
                _ => return None,
            };
            let is_new = !seen.contains(&loc);
            seen.push(loc);
            is_new.then_some((loc, aim, found))
        });
        glances.collect::<Vec<_>>().into_iter()
    }

    /// One sentence a thread.
    pub(crate) fn sentence(&self, waiting: &Waiting) -> String {
        let mut text = format!(
            "{} {}{}",
            self.names.thread(waiting.thread),
            self.aim(waiting),
            self.place(waiting.at)
        );
        if let Some((word, _)) = self.lock(waiting) {
            if let Some((step, writer, place)) = self.last_write(word) {
                let who = if waiting.on == [waiting.thread] {
                    "this thread itself".to_owned()
                } else {
                    writer
                };
                text += &format!(", held by {who} since step {step}{place}");
            }
            return text;
        }
        if waiting.spins() {
            return text + &self.in_vain(waiting);
        }
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
            _ => {}
        }
        text
    }

    /// What a thread finds that waits in a loop, and since when.
    fn in_vain(&self, waiting: &Waiting) -> String {
        let mut text = String::new();
        let mut is_memory = false;
        for (loc, _, found) in self.glances(waiting) {
            let Some(value) = found else {
                for &holder in &waiting.on {
                    text += &self.holder(loc, holder, waiting.thread);
                }
                continue;
            };
            is_memory = true;
            let value = self.names.value(loc, value);
            let which = match waiting.iteration.len() {
                1 => "which".to_owned(),
                _ => self.names.location(loc),
            };
            text += &match self.last_write(loc) {
                Some((step, writer, place)) => {
                    format!(", {which} was set to {value} by {writer} in step {step}{place}")
                }
                None => format!(", {which} is {value} from the start"),
            };
        }
        if is_memory {
            text += ": no thread will write there again";
        }
        text
    }

    /// The last step that changed a place, who took it, and where.
    fn last_write(&self, loc: LocId) -> Option<(usize, String, String)> {
        let steps = &self.violation.trace.steps;
        let writes = |step: &TraceStep| {
            // Exchanging a value for itself, say.
            let is_in_vain = |value| {
                let op = self.program.op(step.state);
                step.value == value && matches!(op, Op::Rmw { .. } | Op::Cas { .. })
            };
            let wrote = |(to, value)| to == loc && !is_in_vain(value);
            step.effect != Effect::Delayed && step.wrote.is_some_and(wrote)
        };
        let index = steps.iter().rposition(writes)?;
        let step = &steps[index];
        Some((
            index + 1,
            self.names.thread(step.thread),
            self.place(self.program.at(step.state)),
        ))
    }

    /// What became of the signals, if there were any.
    fn missed_signal(&self, cond: LocId, waiter: ThreadId) -> String {
        let steps = &self.violation.trace.steps;
        let on_cond = |index: usize, is_meant: fn(SyncAction) -> bool| {
            match *self.program.op(steps[index].state) {
                Op::Sync { cell, action } => cell == cond && is_meant(action),
                // Notifying counts, whether anybody waits or not.
                Op::Rmw { loc, .. } => is_meant(SyncAction::Signal) && self.is_queue_of(cond, loc),
                _ => false,
            }
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

    /// Is it the queue of those who wait for a condition variable of Rust's library, and this its word?
    fn is_queue_of(&self, queue: LocId, word: LocId) -> bool {
        let tables = self.names.tables();
        let (queue, at) = (tables.loc_info(queue), tables.loc_info(word));
        tables.object_info(queue.object).queues_of == Some(at.object)
            && queue.offset == at.offset
            && self.names.rust_lock(word) == Some(RustLock::Condvar)
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

/// `on x, on y and on z`.
fn enumeration(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

fn takes(action: SyncAction) -> bool {
    matches!(
        action,
        SyncAction::Lock { .. }
            | SyncAction::TryLock { .. }
            | SyncAction::ReadLock
            | SyncAction::TryReadLock
            | SyncAction::WriteLock
            | SyncAction::TryWriteLock
            | SyncAction::OnceBegin
    )
}
