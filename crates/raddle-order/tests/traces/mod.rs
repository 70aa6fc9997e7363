//! Random traces.

use raddle_order::memory::Location;
use raddle_order::vsc::{Access, Trace};
use raddle_random::Random32;
use std::collections::BTreeMap;

/// What traces are generated from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) threads: u32,
    pub(crate) events_per_thread: u32,
    pub(crate) locations: u32,
    /// Writes write values below this: few values make many sources for each read.
    pub(crate) values: u32,
    /// Reads whose value is changed after the run that produced the trace; with none the trace is consistent.
    pub(crate) mutations: u32,
}

/// The trace of a random interleaving, with the values of some reads replaced.
pub(crate) fn generate(shape: Shape, seed: u64) -> Trace {
    let mut rng = Random32::new(seed);
    let mut memory: BTreeMap<Location, u32> = BTreeMap::new();
    let mut threads: Vec<Vec<Access>> = vec![Vec::new(); shape.threads as usize];
    let mut unfinished: Vec<usize> = (0..threads.len()).collect();
    while !unfinished.is_empty() {
        let pick = rng.below(index32(unfinished.len())) as usize;
        let thread = unfinished[pick];
        let location = rng.below(shape.locations);
        threads[thread].push(if rng.flip() {
            let value = 1 + rng.below(shape.values);
            memory.insert(location, value);
            Access::Write(location, value)
        } else {
            Access::Read(location, memory.get(&location).copied().unwrap_or(0))
        });
        if threads[thread].len() == shape.events_per_thread as usize {
            unfinished.remove(pick);
        }
    }
    let mut trace = Trace { threads };
    for _ in 0..shape.mutations {
        mutate(&mut trace, &mut rng);
    }
    trace
}

/// Makes a random read return what some write of its location wrote.
fn mutate(trace: &mut Trace, rng: &mut Random32) {
    let thread = rng.below(index32(trace.threads.len())) as usize;
    let at = rng.below(index32(trace.threads[thread].len())) as usize;
    let Access::Read(location, _) = trace.threads[thread][at] else {
        return;
    };
    let written: Vec<u32> = trace
        .threads
        .iter()
        .flatten()
        .filter_map(|access| match *access {
            Access::Write(of, value) if of == location => Some(value),
            _ => None,
        })
        .collect();
    if !written.is_empty() {
        let value = written[rng.below(index32(written.len())) as usize];
        trace.threads[thread][at] = Access::Read(location, value);
    }
}

fn index32(length: usize) -> u32 {
    u32::try_from(length).expect("traces are small")
}
