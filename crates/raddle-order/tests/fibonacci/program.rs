//! The fib-bench program: `i = j = 1`; one thread repeats `i = i + j`, another `j = j + i`; a third asserts that neither
//! exceeds the Fibonacci number that the best schedule reaches.

use raddle_order::bits::{Bit, Bits, Word};
use raddle_order::memory::{Memory, MemoryModel, flow};
use raddle_order::{EventId, Lit, OrderConfig, OrderSolver};
use std::collections::BTreeMap;

const I: u32 = 0;
const J: u32 = 1;
const WIDTH: usize = 32;

fn fibonacci(n: u32) -> u128 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// Satisfiable iff one of the numbers can reach the greatest that is possible after `rounds` rounds, plus `slack`.
#[must_use]
pub(crate) fn encode(
    model: MemoryModel,
    rounds: u32,
    slack: u128,
    config: OrderConfig,
) -> OrderSolver {
    let mut solver = OrderSolver::new(config);
    let mut memory = Memory::new(&mut solver, model);
    let mut bits = Bits::new();
    let mut value_of: BTreeMap<EventId, Word> = BTreeMap::new();
    for location in [I, J] {
        let initial = memory.initial(&mut solver, location);
        value_of.insert(initial, Word::constant(WIDTH, 1));
    }
    for (own, other) in [(I, J), (J, I)] {
        let thread = memory.thread();
        for _ in 0..rounds {
            let mut sum = Word::constant(WIDTH, 0);
            for location in [own, other] {
                let read = memory.read(&mut solver, thread, location, Lit::TRUE);
                let value = bits.fresh(WIDTH, &mut solver);
                sum = bits.add(&sum, &value);
                value_of.insert(read, value);
            }
            let write = memory.write(&mut solver, thread, own, Lit::TRUE);
            value_of.insert(write, sum);
        }
    }
    let checker = memory.thread();
    let bound = Word::constant(WIDTH, fibonacci(2 + 2 * rounds) + slack);
    let mut reached = Bit::FALSE;
    for location in [I, J] {
        let read = memory.read(&mut solver, checker, location, Lit::TRUE);
        let value = bits.fresh(WIDTH, &mut solver);
        let at_least = bits.ule(&bound, &value);
        reached = bits.bit_or(reached, at_least);
        value_of.insert(read, value);
    }
    bits.require(reached, &mut solver);
    let sources = memory.connect(&mut solver, |_, _| true);
    for source in &sources {
        let (written, read) = (&value_of[&source.write], &value_of[&source.read]);
        bits.require_equal_if(source.lit, written, read, &mut solver);
    }
    let flow = flow(&solver, &sources, |event| value_of.get(&event));
    bits.require_known(&flow, &mut solver);
    solver
}
