//! Dependences of OpenMP's tasks (`depend(in: x)`).
//!
//! A thread remembers what the tasks that it created depend on. A task waits for those before it that name the same storage, where one of the two writes it: for a
//! semaphore of each, which is posted when that task has ended, and handed on to whoever else waits.

use super::TEAM;
use super::tasks::{TASK, create_task};
use crate::models::{Entry, Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Order, SyncAction};

pub(crate) const MODELS: &[Model] = &[
    model("__kmpc_omp_task_with_deps", start_task).capturing(&[2]),
    model("__kmpc_omp_wait_deps", wait_for_dependences),
];

/// Keys of thread values: how many dependences are known; then the storage of each, how it is used, and the semaphore of the task.
const KNOWN: u64 = 1 << 21;
const PARTS: u64 = 3;

/// A dependence in memory: where the storage is, how long it is, and how it is used.
const BYTES: u64 = 24;
const FLAGS: u64 = 16;
const READS: u64 = 1;
const WRITES: u64 = 2;

struct Dependence {
    storage: u64,
    writes: bool,
}

impl Script<'_, '_> {
    fn dependences(&mut self, count: u64, list: u64) -> Result<Vec<Dependence>, Pause> {
        let mut all = Vec::new();
        for index in 0..count & 0xFFFF_FFFF {
            let at = list.wrapping_add(index * BYTES);
            let storage = self.load(at, 8, Order::Plain)?;
            let flags = self.load(at + FLAGS, 1, Order::Plain)?;
            if flags == 0 || flags & !(READS | WRITES) != 0 {
                return Err(self.unsupported("a dependence of this kind"));
            }
            all.push(Dependence {
                storage,
                writes: flags & WRITES != 0,
            });
        }
        Ok(all)
    }

    /// The semaphores of the tasks before one with these dependences.
    fn tasks_before(&mut self, dependences: &[Dependence]) -> Result<Vec<u64>, Pause> {
        let mut tasks = Vec::new();
        for index in 0..self.thread_value(TEAM, KNOWN)? {
            let key = KNOWN + 1 + index * PARTS;
            let storage = self.thread_value(TEAM, key)?;
            let writes = self.thread_value(TEAM, key + 1)? != 0;
            let task = self.thread_value(TEAM, key + 2)?;
            let waits = dependences
                .iter()
                .any(|own| own.storage == storage && (own.writes || writes));
            if waits && !tasks.contains(&task) {
                tasks.push(task);
            }
        }
        Ok(tasks)
    }

    /// All tasks that the thread has created have ended.
    pub(super) fn forget_dependences(&mut self) -> Result<(), Pause> {
        let known = self.thread_value(TEAM, KNOWN)?;
        for key in KNOWN..=KNOWN + known * PARTS {
            if self.thread_value(TEAM, key)? != 0 {
                self.set_thread_value(TEAM, key, 0)?;
            }
        }
        Ok(())
    }

    /// Waits for tasks, whose semaphores these are.
    pub(super) fn wait_for_all(&mut self, tasks: &[u64]) -> Result<(), Pause> {
        for &task in tasks {
            self.sync(task, SyncAction::SemWait)?;
            self.sync(task, SyncAction::SemPost)?;
        }
        Ok(())
    }
}

/// `(place, thread, task, how many, list, …)`.
fn start_task(cx: &mut Script<'_, '_>) -> ModelResult {
    const SEMAPHORE: u64 = 32;
    cx.refuse_formulas()?;
    let dependences = cx.dependences(cx.arg(3), cx.arg(4))?;
    let before = cx.tasks_before(&dependences)?;
    let own = cx.allocate(SEMAPHORE, 16)?;
    let mut passed = vec![cx.arg(2), own];
    passed.extend(before);
    let known = cx.thread_value(TEAM, KNOWN)?;
    for (index, Dependence { storage, writes }) in (known..).zip(&dependences) {
        let key = KNOWN + 1 + index * PARTS;
        cx.set_thread_value(TEAM, key, *storage)?;
        cx.set_thread_value(TEAM, key + 1, u64::from(*writes))?;
        cx.set_thread_value(TEAM, key + 2, own)?;
    }
    cx.set_thread_value(TEAM, KNOWN, known + dependences.len() as u64)?;
    create_task(cx, &Entry::Model(TASK), &passed)?;
    Ok(Outcome::Return(0))
}

/// `(place, thread, how many, list, …)`: before a task that the thread does itself, and for `taskwait depend`.
fn wait_for_dependences(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let dependences = cx.dependences(cx.arg(2), cx.arg(3))?;
    let before = cx.tasks_before(&dependences)?;
    cx.wait_for_all(&before)?;
    Ok(Outcome::Void)
}
