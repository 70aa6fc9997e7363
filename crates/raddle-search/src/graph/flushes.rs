//! Schedules for graphs of models with store buffers: when stores reach memory.
//!
//! A thread goes on as soon as it can, a store reaches memory when nobody can go on without it. That finds an order because the global
//! order of a consistent graph has no cycle ([`super::buffered`]).

use super::buffered::{drains, is_barrier, is_delayed};
use super::ends::{Steps, can_come, emit, frees_too_early, is_next_in_memory};
use super::event::Ev;
use super::store::Graph;
use crate::replay::{Schedule, ScheduleStep};
use raddle_memory::MemoryModel;
use raddle_program::{Op, Program, ThreadId};

/// Delayed stores by thread, oldest first.
type Buffers = Vec<Vec<Ev>>;

pub(super) fn linearise(
    graph: &Graph,
    program: &Program,
    schedule: &mut Schedule,
    steps: &mut Steps,
) {
    let mut buffers: Buffers = vec![Vec::new(); graph.threads.len()];
    loop {
        let ready = (0..graph.threads.len()).filter_map(|thread| {
            let next = steps.next(graph, thread)?;
            let is_ready = can_run(graph, program, steps, &buffers, next);
            let stamp = graph.event(next).stamp;
            is_ready.then(|| (frees_too_early(graph, program, steps, next), stamp, next))
        });
        let first = ready.min_by_key(|&(is_early, stamp, _)| (is_early, stamp));
        if let Some((_, _, next)) = first {
            let thread = next.of();
            emit(graph, program, thread, schedule, steps);
            if is_delayed(graph.event(next)) {
                buffers[thread].push(next);
            }
            continue;
        }
        let flushed = (0..graph.threads.len()).find_map(|thread| {
            let positions = 0..buffers[thread].len();
            let mut ready = positions
                .filter(|&position| {
                    can_flush(graph, program, schedule.memory, &buffers[thread], position)
                })
                .filter(|&position| {
                    let is_made = |write: Ev| is_made(steps, &buffers, write);
                    is_next_in_memory(graph, steps, &is_made, buffers[thread][position])
                });
            ready.next().map(|position| (thread, position))
        });
        let Some((thread, position)) = flushed else {
            return;
        };
        buffers[thread].remove(position);
        schedule.steps.push(ScheduleStep::Flush {
            thread: ThreadId::from_index(thread),
            position: position as u32,
        });
    }
}

/// Has a write reached memory?
fn is_made(steps: &Steps, buffers: &Buffers, write: Ev) -> bool {
    !write.is_event() || steps.has(write) && !buffers[write.of()].contains(&write)
}

fn can_run(graph: &Graph, program: &Program, steps: &Steps, buffers: &Buffers, event: Ev) -> bool {
    let e = graph.event(event);
    if drains(program, e) && !buffers[event.of()].is_empty() {
        return false;
    }
    if let Op::Join { thread } = *program.op(e.state)
        && !e.is_fault
        && !buffers[thread.index()].is_empty()
    {
        return false;
    }
    let is_made = |write: Ev| is_made(steps, buffers, write);
    can_come(graph, program, steps, event)
        && (is_delayed(e) || is_next_in_memory(graph, steps, &is_made, event))
}

/// May the store at this position leave its thread's buffer next?
fn can_flush(
    graph: &Graph,
    program: &Program,
    memory: MemoryModel,
    buffer: &[Ev],
    position: usize,
) -> bool {
    if memory == MemoryModel::Tso || position == 0 {
        return position == 0;
    }
    let store = buffer[position];
    let place = graph.event(store).place;
    let shares_bytes = |other: Ev| {
        let other = graph.event(other).place;
        other == place
            || place.loc().is_some_and(|loc| {
                let overlaps = program.tables().overlaps(loc);
                other.loc().is_some_and(|other| overlaps.contains(&other))
            })
    };
    let events = &graph.threads[store.of()].events;
    // What lies behind the first barrier after the oldest store waits for it.
    let is_held_back = events[buffer[0].at() + 1..=store.at()]
        .iter()
        .any(is_barrier);
    !is_held_back && !buffer[..position].iter().any(|&other| shares_bytes(other))
}
