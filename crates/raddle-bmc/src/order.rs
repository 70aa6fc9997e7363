//! What comes before what in every execution: program order, starting and joining threads. Keeps the formula small.

use crate::events::{Encoding, StepIndex, StepKind};
use raddle_order::bits::Bit;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Vector clocks of the steps.
pub(crate) struct FixedOrder {
    /// By step: its thread, and its position there.
    places: Vec<(usize, u32)>,
    /// By step: how many steps of each thread come before it; missing entries are 0.
    clocks: Vec<Vec<u32>>,
}

impl FixedOrder {
    /// Steps are encoded so that those that come first are listed first.
    pub(crate) fn new(encoding: &Encoding) -> Self {
        let count = encoding.threads.len();
        // By thread: what is known when it begins.
        let mut begun: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut lengths = vec![0u32; count];
        let mut started: Vec<Option<StepIndex>> = vec![None; count];
        let mut order = Self {
            places: Vec::with_capacity(encoding.steps.len()),
            clocks: Vec::with_capacity(encoding.steps.len()),
        };
        // By thread: the joins that its last step knew of, and what is known from them.
        let mut joined: Vec<(Rc<BTreeSet<StepIndex>>, Vec<u32>)> =
            vec![(Rc::default(), Vec::new()); count];
        for (index, step) in encoding.steps.iter().enumerate() {
            let thread = step.thread;
            match &step.what {
                StepKind::Begin => {
                    if let Some(spawn) = started[thread] {
                        begun[thread] = order.after(spawn);
                    }
                }
                StepKind::Spawn { child } => started[*child] = Some(index),
                _ => {}
            }
            if step.joined != joined[thread].0 {
                let mut known = Vec::new();
                for &join in step.joined.iter() {
                    if let Some(end) = joined_end(encoding, join) {
                        merge(&mut known, &order.after(end));
                    }
                }
                joined[thread] = (Rc::clone(&step.joined), known);
            }
            let mut clock = begun[thread].clone();
            merge(&mut clock, &joined[thread].1);
            raise(&mut clock, thread, lengths[thread]);
            order.places.push((thread, lengths[thread]));
            order.clocks.push(clock);
            lengths[thread] += 1;
        }
        order
    }

    /// What is known after a step.
    fn after(&self, step: StepIndex) -> Vec<u32> {
        let mut clock = self.clocks[step].clone();
        let (thread, position) = self.places[step];
        raise(&mut clock, thread, position + 1);
        clock
    }

    /// Does `a` come before `b` in every execution in which both happen?
    pub(crate) fn before(&self, a: StepIndex, b: StepIndex) -> bool {
        let (thread, position) = self.places[a];
        self.clocks[b]
            .get(thread)
            .is_some_and(|&known| known > position)
    }
}

/// The end of the thread that a step joins, if there is no question which one that is.
fn joined_end(encoding: &Encoding, join: StepIndex) -> Option<StepIndex> {
    let StepKind::Join { of } = &encoding.steps[join].what else {
        return None;
    };
    let [(Bit::TRUE, handle)] = of[..] else {
        return None;
    };
    let threads = encoding.threads.iter();
    let mut ends = threads
        .filter(|thread| thread.handle == handle)
        .filter_map(|thread| thread.end)
        .filter(|&end| end < join);
    match (ends.next(), ends.next()) {
        (Some(end), None) => Some(end),
        _ => None,
    }
}

fn raise(clock: &mut Vec<u32>, thread: usize, value: u32) {
    if clock.len() <= thread {
        clock.resize(thread + 1, 0);
    }
    clock[thread] = clock[thread].max(value);
}

fn merge(clock: &mut Vec<u32>, other: &[u32]) {
    for (thread, &value) in other.iter().enumerate() {
        raise(clock, thread, value);
    }
}
