//! What comes before what in every execution: program order, starting and joining threads. Keeps the formula small.

use crate::events::{Encoding, StepIndex, What};
use raddle_order::bits::Bit;

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
        let mut now: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut lengths = vec![0u32; count];
        let mut started: Vec<Option<StepIndex>> = vec![None; count];
        let mut order = Self {
            places: Vec::with_capacity(encoding.steps.len()),
            clocks: Vec::with_capacity(encoding.steps.len()),
        };
        for (index, step) in encoding.steps.iter().enumerate() {
            let thread = step.thread;
            match &step.what {
                What::Begin => {
                    if let Some(spawn) = started[thread] {
                        now[thread] = order.after(spawn);
                    }
                }
                What::Spawn { child } => started[*child] = Some(index),
                What::Join { of } => {
                    if let [(Bit::TRUE, handle)] = of[..] {
                        let mut ends = encoding
                            .threads
                            .iter()
                            .filter(|thread| thread.handle == handle)
                            .filter_map(|thread| thread.end)
                            .filter(|&end| end < index);
                        if let (Some(end), None) = (ends.next(), ends.next()) {
                            let other = order.after(end);
                            merge(&mut now[thread], &other);
                        }
                    }
                }
                _ => {}
            }
            order.places.push((thread, lengths[thread]));
            order.clocks.push(now[thread].clone());
            lengths[thread] += 1;
            raise(&mut now[thread], thread, lengths[thread]);
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
