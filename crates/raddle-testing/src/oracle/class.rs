//! Canonical names of classes: two executions are equivalent if and only if they have the same key.

use super::event::{Counts, Event, Past};

pub(super) type Key = Box<[u32]>;

/// The least linearisation: of the events that could come next always that of the smallest thread.
///
/// It is itself an execution of the class, and threads and choices determine an execution, so they are name enough.
pub(super) fn mazurkiewicz(past: &Past) -> Key {
    let threads = past.counts.threads();
    let mut done = Counts::default();
    let mut key = Vec::with_capacity(past.events.len() + 4);
    let mut queues: Vec<Vec<&Event>> = vec![Vec::new(); threads];
    for event in past.events.iter().rev() {
        queues[event.thread.index()].push(event);
    }
    while let Some(thread) = (0..threads).find(|&thread| {
        queues[thread]
            .last()
            .is_some_and(|event| done.covers_except(&event.before, thread))
    }) {
        if let Some(event) = queues[thread].pop() {
            done.set(thread, event.index);
            key.push(thread as u32);
            push_choices(&mut key, event);
        }
    }
    key.into()
}

fn push_choices(key: &mut Vec<u32>, event: &Event) {
    // No thread has such a number, so a key can be read in one way only.
    key.extend(event.choices.iter().map(|choice| u32::MAX - choice));
}

/// Separates the events of threads.
const NEXT_THREAD: u32 = u32::MAX;

/// The events of each thread in order, with what they read from and the choices they took. Values and states follow from
/// that.
pub(super) fn reads_from(past: &Past) -> Key {
    let mut key = Vec::with_capacity(past.events.len() * 2 + 4);
    by_thread(past, |event| match event {
        None => key.push(NEXT_THREAD),
        Some(event) => {
            key.push(event.choices.len() as u32);
            key.extend(event.choices.iter());
            key.push(event.sources.len() as u32);
            key.extend(event.sources.iter());
        }
    });
    key.into()
}

/// The events of each thread in order, with their states and values; and for each read, the last read of each thread that
/// is causally before it.
pub(super) fn reads_value_from(past: &Past) -> Key {
    let threads = past.counts.threads();
    // last_read[t][n]: the last read among the first n events of thread t.
    let mut last_read: Vec<Vec<u32>> = vec![vec![0]; threads];
    for event in &past.events {
        let reads = &mut last_read[event.thread.index()];
        let last = reads[reads.len() - 1];
        reads.push(if event.reads {
            event.index.into()
        } else {
            last
        });
    }
    let mut key = Vec::with_capacity(past.events.len() * 4 + 4);
    by_thread(past, |event| match event {
        None => key.push(NEXT_THREAD),
        Some(event) => {
            key.push(event.labels.len() as u32 * 2 + u32::from(event.faulted));
            for (state, value) in &event.labels {
                key.extend([state.0, *value as u32, (*value >> 32) as u32]);
            }
            if event.reads {
                let known = |thread: usize| last_read[thread][event.causes.get(thread) as usize];
                key.extend((0..threads).map(known));
            }
        }
    });
    key.into()
}

/// Calls `f` with the events of each thread, and with `None` after each thread.
fn by_thread(past: &Past, mut f: impl FnMut(Option<&Event>)) {
    for thread in 0..past.counts.threads() {
        for event in &past.events {
            if event.thread.index() == thread {
                f(Some(event));
            }
        }
        f(None);
    }
}
