//! Why threads wait or spin for good: who waits for what, and who holds it since when.

use crate::names::{Names, RustLock, RwChange};
use crate::source::{Sources, is_library, position};
use crate::steps::intention;
use raddle_judge::verdict::Waiting;
use raddle_judge::{Effect, TraceStep, Violation};
use raddle_program::{LocId, Op, Program, SrcId, SyncAction, ThreadId, Value};
use std::collections::BTreeMap;

pub(crate) struct Explanation<'a> {
    pub(crate) program: &'a Program,
    pub(crate) names: &'a Names<'a>,
    pub(crate) sources: &'a Sources,
    pub(crate) violation: &'a Violation,
}

/// Does the thread wait for a lock of a library? That it goes round a loop is the library's way to wait.
pub(crate) fn waits_for_lock(names: &Names<'_>, program: &Program, waiting: &Waiting) -> bool {
    waits_for_mutex(program, waiting) || rwlock(names, program, waiting).is_some()
}

fn waits_for_mutex(program: &Program, waiting: &Waiting) -> bool {
    waiting.spins() && program.only_waits(waiting.state)
}

/// The word of the lock for reading and writing that the thread waits for: that is all it looks at.
fn rwlock(names: &Names<'_>, program: &Program, waiting: &Waiting) -> Option<LocId> {
    let places = waiting
        .iteration
        .iter()
        .map(|glance| match *program.op(glance.state) {
            Op::Load { loc, .. } | Op::Cas { loc, .. } => Some(loc),
            _ => None,
        });
    let mut places = places.filter(|_| waiting.spins());
    let word = places.next()??;
    let is_one = places.all(|place| place == Some(word));
    (is_one && names.rust_lock(word) == Some(RustLock::RwLock)).then_some(word)
}

impl Explanation<'_> {
    /// What the thread does for good: `waits to lock m`, `spins on flag`.
    pub(crate) fn aim(&self, waiting: &Waiting) -> String {
        if let Some((_, lock)) = self.lock(waiting) {
            return format!("waits to lock {lock}");
        }
        if let Some(word) = self.rwlock(waiting) {
            return format!("waits to lock {}", self.names.location(word));
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
            Op::Cas { loc, .. } if waits_for_mutex(self.program, waiting) => {
                Some((loc, self.names.location(loc)))
            }
            _ => None,
        }
    }

    fn rwlock(&self, waiting: &Waiting) -> Option<LocId> {
        rwlock(self.names, self.program, waiting)
    }

    /// Who has locked it for reading or writing, and not unlocked it; and who has said that it waits, which keeps others from reading.
    fn holders(&self, word: LocId, waiter: ThreadId) -> String {
        let mut held: BTreeMap<ThreadId, Vec<usize>> = BTreeMap::new();
        let mut queued: BTreeMap<ThreadId, usize> = BTreeMap::new();
        for (index, step) in self.violation.trace.steps.iter().enumerate() {
            let op = self.program.op(step.state);
            let (Op::Cas { loc, .. } | Op::Rmw { loc, .. }) = *op else {
                continue;
            };
            if loc != word {
                continue;
            }
            match RwChange::of(op, step.value) {
                Some(RwChange::LockForReading | RwChange::LockForWriting) => {
                    held.entry(step.thread).or_default().push(index);
                    queued.remove(&step.thread);
                }
                Some(RwChange::Unlock) => {
                    held.entry(step.thread).or_default().pop();
                }
                Some(RwChange::Announce) => {
                    queued.insert(step.thread, index);
                }
                Some(RwChange::Fails) | None => {}
            }
        }
        let since = |index: usize| {
            let at = self.program.at(self.violation.trace.steps[index].state);
            format!("since step {}{}", index + 1, self.place(at))
        };
        let mut text = String::new();
        for (holder, steps) in held {
            let who = match holder == waiter {
                true => "this thread itself".to_owned(),
                false => self.names.thread(holder),
            };
            if let Some(&index) = steps.last() {
                text += &format!(", held by {who} {}", since(index));
            }
        }
        for (thread, index) in queued.into_iter().filter(|(thread, _)| *thread != waiter) {
            let who = self.names.thread(thread);
            text += &format!(", for which {who} has queued up {}", since(index));
        }
        text
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
        if let Some(word) = self.rwlock(waiting) {
            return text + &self.holders(word, waiting.thread);
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
                Op::Sync { cell, action } if cell == cond => is_meant(action),
                Op::Sync { .. } => {
                    is_meant(SyncAction::Signal) && self.is_idle_wake(cond, &steps[index])
                }
                // Notifying counts, whether anybody waits or not.
                Op::Rmw { loc, .. } => is_meant(SyncAction::Signal) && self.is_queue_of(cond, loc),
                _ => false,
            }
        };
        let is_users = self.names.is_queue(cond)
            && steps.iter().any(|step| {
                step.thread == waiter
                    && matches!(*self.program.op(step.state), Op::Sync { cell, .. } if cell == cond)
                    && !is_library(self.names.tables(), self.program.at(step.state))
            });
        let waits = |action| matches!(action, SyncAction::CondRelease { .. });
        let signals = |action| matches!(action, SyncAction::Signal | SyncAction::Broadcast);
        let began = (0..steps.len())
            .rfind(|&index| steps[index].thread == waiter && on_cond(index, waits))
            .unwrap_or(0);
        let later = (began..steps.len()).rfind(|&index| on_cond(index, signals));
        let earlier = (0..began).rfind(|&index| on_cond(index, signals));
        let signal = if is_users { "wake" } else { "signal" };
        match (later, earlier) {
            (Some(index), _) => format!(": the {signal} of step {} woke another thread", index + 1),
            (None, Some(index)) => {
                format!(
                    ": the {signal} of step {} came before it waited, and is lost",
                    index + 1
                )
            }
            (None, None) if is_users => ": nobody wakes it".to_owned(),
            (None, None) => ": no signal comes".to_owned(),
        }
    }

    /// Does the user wake somebody who waits for the futex, when nobody does?
    fn is_idle_wake(&self, queue: LocId, step: &TraceStep) -> bool {
        let tables = self.names.tables();
        let Op::Sync { cell, action } = *self.program.op(step.state) else {
            return false;
        };
        let (queue, at) = (tables.loc_info(queue), tables.loc_info(cell));
        // How many wait is counted behind the cell that they wait at.
        action == SyncAction::SemTryWait
            && step.value != 0
            && at.object == queue.object
            && at.offset == queue.offset + 2
            && !is_library(tables, self.program.at(step.state))
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
