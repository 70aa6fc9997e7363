//! What the end of an execution means: complete, blocked, a deadlock or a livelock.

use crate::verdict::Waiting;
use raddle_memory::{Ending, Machine, Readiness};
use raddle_program::{Limit, Program, Stop, ThreadId};

/// Every thread id that may have been started.
pub(crate) fn threads(machine: &Machine) -> impl Iterator<Item = ThreadId> + use<> {
    (0..machine.thread_count()).map(ThreadId::from_index)
}

/// How many threads have been started.
pub(crate) fn started(machine: &Machine) -> usize {
    threads(machine)
        .filter(|&thread| machine.thread_state(thread).is_some())
        .count()
}

/// Did every thread finish? A process that exited has finished, whatever its other threads were waiting for.
pub fn is_complete(program: &Program, machine: &mut Machine) -> bool {
    let (mut waiting, mut exited) = (false, false);
    for thread in threads(machine) {
        match machine.readiness(program, thread) {
            Readiness::Ready | Readiness::Waiting => waiting = true,
            Readiness::Ended(Ending::ExitedProcess) => exited = true,
            Readiness::Ended(Ending::Finished) | Readiness::NotStarted => {}
            Readiness::Ended(Ending::AssumeFailed | Ending::Stopped(_) | Ending::Faulted) => {
                return false;
            }
        }
    }
    exited || !waiting
}

/// Did a fault end the execution? Whether it is looked for or not, a process would have come no further.
pub(crate) fn is_faulted(program: &Program, machine: &mut Machine) -> bool {
    threads(machine).any(|thread| match machine.readiness(program, thread) {
        Readiness::Ended(Ending::Faulted) => true,
        Readiness::Ended(Ending::Stopped(stop)) => {
            matches!(program.tables().stop_info(stop), Stop::Fault(_))
        }
        _ => false,
    })
}

/// Did the bound on loops stop a thread?
pub(crate) fn is_cut(program: &Program, machine: &mut Machine) -> bool {
    threads(machine).any(|thread| match machine.readiness(program, thread) {
        Readiness::Ended(Ending::Stopped(stop)) => {
            let stop = program.tables().stop_info(stop);
            matches!(stop, Stop::Limit(Limit::Unroll { .. }))
        }
        _ => false,
    })
}

/// The threads that wait for good, if that is a deadlock. For executions in which no thread is ready.
///
/// A thread whose assumption failed, or that stopped at a fault or a limit, is not to blame: had it gone on, it might have
/// helped. So threads that wait for it, directly or not, are merely blocked, and so are those that anybody could help (a
/// semaphore, a condition variable) if there is such a thread. What remains is a deadlock: threads that wait only for
/// finished threads and for each other. Where the process has exited nothing is.
pub fn deadlock(program: &Program, machine: &mut Machine) -> Option<Vec<Waiting>> {
    match any_ready(program, machine) {
        true => None,
        false => stuck(program, machine),
    }
}

/// The threads that wait for good, whatever the others do that are ready: the owners of what they wait for wait as well, or
/// have finished.
pub fn circle(program: &Program, machine: &mut Machine) -> Option<Vec<Waiting>> {
    match any_ready(program, machine) {
        true => stuck(program, machine),
        false => None,
    }
}

fn any_ready(program: &Program, machine: &mut Machine) -> bool {
    threads(machine).any(|thread| machine.readiness(program, thread) == Readiness::Ready)
}

/// The threads that nobody can help who is ready, or might have been.
fn stuck(program: &Program, machine: &mut Machine) -> Option<Vec<Waiting>> {
    let count = machine.thread_count();
    // Could the thread still do something for others?
    let mut helpful = vec![false; count];
    let mut waiting = Vec::new();
    for thread in threads(machine) {
        match machine.readiness(program, thread) {
            Readiness::Ended(Ending::ExitedProcess) => return None,
            Readiness::Ended(Ending::Finished) | Readiness::NotStarted => {}
            Readiness::Ready
            | Readiness::Ended(Ending::AssumeFailed | Ending::Stopped(_) | Ending::Faulted) => {
                helpful[thread.index()] = true;
            }
            Readiness::Waiting => {
                let on = machine.waits_for(program, thread);
                let state = machine.thread_state(thread)?;
                waiting.push(Waiting {
                    thread,
                    state,
                    on,
                    at: program.at(state),
                });
            }
        }
    }
    let anybody = helpful.contains(&true);
    loop {
        let freed = waiting.iter().position(|waiting| {
            // All holders of a lock have to let it go; `on` is empty where anybody could help.
            !helpful[waiting.thread.index()]
                && if waiting.on.is_empty() {
                    anybody
                } else {
                    waiting.on.iter().all(|on| helpful[on.index()])
                }
        });
        match freed {
            Some(index) => helpful[waiting[index].thread.index()] = true,
            None => break,
        }
    }
    waiting.retain(|waiting| !helpful[waiting.thread.index()]);
    in_order_of_names(program, &mut waiting);
    (!waiting.is_empty()).then_some(waiting)
}

/// The longest loop that is recognised as spinning.
const SPIN_STEPS: u32 = 1 << 16;

/// The threads that spin for good, if that is a livelock. For executions that an engine ended because the threads that are
/// still ready would only turn in pure loops; this is found out here again, by running them.
///
/// As with deadlocks, a thread that an assumption or a fault stopped might have helped: then nothing is a livelock.
pub fn livelock(program: &mut Program, machine: &mut Machine) -> Option<Vec<Waiting>> {
    let mut spinning = Vec::new();
    for thread in threads(machine) {
        match machine.readiness(program, thread) {
            Readiness::Ended(Ending::Finished) | Readiness::NotStarted | Readiness::Waiting => {}
            Readiness::Ended(_) => return None,
            Readiness::Ready if spins(program, machine, thread) => {
                let state = machine.thread_state(thread)?;
                spinning.push(Waiting {
                    thread,
                    state,
                    on: Vec::new(),
                    at: program.at(state),
                });
            }
            Readiness::Ready => return None,
        }
    }
    in_order_of_names(program, &mut spinning);
    (!spinning.is_empty()).then_some(spinning)
}

/// Ids are given in the order of discovery, which is another one when an execution is run alone.
fn in_order_of_names(program: &Program, threads: &mut [Waiting]) {
    let name = |thread: ThreadId| &program.tables().thread_info(thread).name;
    for waiting in &mut *threads {
        waiting.on.sort_by_key(|&on| name(on));
    }
    threads.sort_by_key(|waiting| name(waiting.thread));
}

/// Does the thread, running alone, come back to its state without having changed memory?
fn spins(program: &mut Program, machine: &mut Machine, thread: ThreadId) -> bool {
    let mark = machine.mark();
    let start = machine.thread_state(thread);
    let mut is_back = false;
    for _ in 0..SPIN_STEPS {
        if is_back || machine.readiness(program, thread) != Readiness::Ready {
            break;
        }
        machine.step(program, thread, &[]);
        if !machine.is_pure_since(mark) {
            break;
        }
        is_back = machine.thread_state(thread) == start;
    }
    machine.undo_to(mark);
    is_back
}
