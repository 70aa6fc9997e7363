//! Litmus tests for the memory model of C, C++ and Rust (RC11), each with its answer and the argument for it.
//!
//! Where an argument speaks of an order of events, `→` is happens-before. *Comes too late*: a read returns a value although a newer one happens
//! before it, which coherence forbids. *SC cycle*: the events named are in a cycle of `psc`.

mod fences;
mod mixed;
mod relaxed;
mod sequences;

use super::{Action, Litmus, Outcome};
use raddle_program::op::{Order, Value};

/// A test and its answer.
#[derive(Clone, Debug)]
pub struct C11Test {
    pub litmus: Litmus,
    pub outcome: Outcome,
    /// Can it end like this, with C++20's release sequences, and with those before?
    pub allowed: [bool; 2],
    pub why: &'static str,
}

/// All of them.
#[must_use]
pub fn c11_tests() -> Vec<C11Test> {
    let mut all = relaxed::tests();
    all.extend(fences::tests());
    all.extend(sequences::tests());
    all.extend(mixed::tests());
    all
}

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

const RLX: Order = Order::Relaxed;
const ACQ: Order = Order::Acquire;
const REL: Order = Order::Release;
const AR: Order = Order::AcqRel;
const SC: Order = Order::SeqCst;

const ALLOWED: [bool; 2] = [true; 2];
const FORBIDDEN: [bool; 2] = [false; 2];
/// Allowed since C++20 only: a store of the same thread continued a release sequence before.
const SINCE_20: [bool; 2] = [true, false];

fn w(at: usize, value: Value, order: Order) -> Action {
    Action::Store { at, value, order }
}

fn r(at: usize, order: Order) -> Action {
    Action::Load { at, order }
}

fn exchange(at: usize, value: Value, order: Order) -> Action {
    Action::Exchange { at, value, order }
}

fn add(at: usize, value: Value, order: Order) -> Action {
    Action::Add { at, value, order }
}

fn cas(at: usize, expected: Value, new: Value, order: Order, failure: Order) -> Action {
    Action::Cas {
        at,
        expected,
        new,
        order,
        failure: Some(failure),
    }
}

fn f(order: Order) -> Action {
    Action::Fence(order)
}

/// A test: what each thread does and reads, and what memory holds in the end where that matters.
fn test(
    name: &str,
    threads: &[(&[Action], &[Value])],
    memory: &[(usize, Value)],
    allowed: [bool; 2],
    why: &'static str,
) -> C11Test {
    let actions = threads.iter().flat_map(|(actions, _)| actions.iter());
    let last = actions.filter_map(Action::location).max();
    let locations = last.map_or(0, |last| last + 1);
    let mut wanted = vec![None; locations];
    for &(at, value) in memory {
        wanted[at] = Some(value);
    }
    C11Test {
        litmus: Litmus {
            name: name.to_owned(),
            locations,
            threads: threads
                .iter()
                .map(|(actions, _)| actions.to_vec())
                .collect(),
        },
        outcome: Outcome {
            reads: threads.iter().map(|(_, reads)| reads.to_vec()).collect(),
            memory: wanted,
        },
        allowed,
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn tests_are_what_they_say() {
        let all = c11_tests();
        let names: BTreeSet<&str> = all.iter().map(|test| test.litmus.name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "names are names");
        for test in &all {
            let reads: Vec<usize> = test.outcome.reads.iter().map(Vec::len).collect();
            let asked = |actions: &Vec<Action>| actions.iter().filter(|a| a.reads()).count();
            let expected: Vec<usize> = test.litmus.threads.iter().map(asked).collect();
            assert_eq!(reads, expected, "{}", test.litmus.name);
        }
        assert!(all.len() >= 60);
    }
}
