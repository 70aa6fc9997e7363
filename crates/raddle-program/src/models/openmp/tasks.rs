//! Tasks of OpenMP: threads of their own.

use super::{GROUP, TASKS, TEAM};
use crate::models::errno::zero;
use crate::models::{Entry, Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Order, SyncAction};

pub(crate) const MODELS: &[Model] = &[
    model(TASK, run_task),
    model("__kmpc_omp_task_alloc", task_alloc),
    model("__kmpc_omp_task", start_task).capturing(&[2]),
    model("__kmpc_omp_task_begin_if0", zero),
    model("__kmpc_omp_task_complete_if0", zero),
    model("__kmpc_omp_taskwait", wait_for_tasks),
    model("__kmpc_omp_taskyield", zero),
    model("__kmpc_taskgroup", begin_group),
    model("__kmpc_end_taskgroup", end_group),
];

/// What tasks run.
pub(super) const TASK: &str = "OpenMP::task";

/// `(place, thread, flags, size, size of what it shares, function)`: a block that begins with where the shared part is, and the function.
fn task_alloc(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let own = cx.arg(3).checked_next_multiple_of(16);
    let sizes = own.and_then(|own| Some((own, own.checked_add(cx.arg(4))?)));
    let (own, size) = sizes.ok_or_else(|| cx.unsupported("a task of that size"))?;
    let task = cx.allocate(size, 16)?;
    cx.store(task, 8, task + own, Order::Plain)?;
    cx.store(task + 8, 8, cx.arg(5), Order::Plain)?;
    Ok(Outcome::Return(task))
}

/// `(place, thread, task)`.
fn start_task(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    create_task(cx, &Entry::Model(TASK), &[cx.arg(2)])?;
    Ok(Outcome::Return(0))
}

pub(super) fn create_task(
    cx: &mut Script<'_, '_>,
    entry: &Entry,
    passed: &[u64],
) -> Result<(), Pause> {
    let handle = cx.new_thread(entry)?;
    cx.start_thread(handle, entry, passed)?;
    let count = cx.thread_value(TEAM, TASKS)? + 1;
    cx.set_thread_value(TEAM, TASKS, count)?;
    cx.set_thread_value(TEAM, TASKS + count, handle)
}

/// `(task, its semaphore, semaphores of tasks before it …)`, or the task alone if it has no dependences.
fn run_task(cx: &mut Script<'_, '_>) -> ModelResult {
    let task = cx.arg(0);
    let before: Vec<u64> = (2..cx.arg_count()).map(|index| cx.arg(index)).collect();
    cx.wait_for_all(&before)?;
    let function = cx.load(task.wrapping_add(8), 8, Order::Plain)?;
    cx.call(function, &[0, task])?;
    // Its own tasks may outlive it; who waits for them then is not modelled.
    if cx.thread_value(TEAM, TASKS)? != 0 {
        return Err(cx.unsupported("a task that ends without having waited for its own tasks"));
    }
    cx.free(task)?;
    if cx.arg_count() > 1 {
        cx.sync(cx.arg(1), SyncAction::SemPost)?;
    }
    cx.run_destructors()?;
    Ok(Outcome::ExitThread(0))
}

fn wait_for_tasks(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    cx.join_tasks(0)?;
    Ok(Outcome::Return(0))
}

fn begin_group(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let count = cx.thread_value(TEAM, TASKS)?;
    if cx.thread_value(TEAM, GROUP)? != 0 {
        return Err(cx.unsupported("a group of tasks in another one"));
    }
    cx.set_thread_value(TEAM, GROUP, count + 1)?;
    Ok(Outcome::Void)
}

fn end_group(cx: &mut Script<'_, '_>) -> ModelResult {
    let first = cx.thread_value(TEAM, GROUP)?.saturating_sub(1);
    cx.join_tasks(first)?;
    cx.set_thread_value(TEAM, GROUP, 0)?;
    Ok(Outcome::Void)
}
