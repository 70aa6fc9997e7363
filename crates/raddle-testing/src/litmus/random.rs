//! A family of litmus tests, one for each seed.

use super::{Action, Litmus};
use crate::generate::Random;
use raddle_program::op::{Order, Value};

/// Threads of a test together do at most this many operations, so that all executions can be enumerated.
const MOST_OF_TWO: u64 = 5;
const MOST_OF_THREE: u64 = 3;

impl Litmus {
    /// The test of a seed: two or three threads, two or three locations. A third of the tests have loads and stores only, the
    /// others fences, orderings and read-modify-writes too.
    #[must_use]
    pub fn generate(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let threads = 2 + usize::from(random.percent(45));
        let locations = 2 + usize::from(random.percent(30));
        let most = if threads == 2 {
            MOST_OF_TWO
        } else {
            MOST_OF_THREE
        };
        let style = Style {
            plain: seed.is_multiple_of(3),
            // Where values differ, what a load returns says which store it read.
            distinct: random.percent(50),
            locations: locations as u64,
        };
        let mut stores = 0;
        let mut thread = |random: &mut Random| {
            let least = if threads == 2 { 2 } else { 1 };
            let length = least + random.below(most - least + 1);
            let mut actions: Vec<Action> = Vec::new();
            for _ in 0..length {
                let last = actions.last().and_then(Action::location);
                actions.push(style.action(random, last, &mut stores));
            }
            actions
        };
        Self {
            name: format!("litmus {seed}"),
            locations,
            threads: (0..threads).map(|_| thread(&mut random)).collect(),
        }
    }
}

struct Style {
    plain: bool,
    distinct: bool,
    locations: u64,
}

impl Style {
    /// Mostly at another location than the one before: accesses of one location stay in order under every model.
    fn action(&self, random: &mut Random, last: Option<usize>, stores: &mut Value) -> Action {
        let mut at = random.below(self.locations) as usize;
        if last == Some(at) && random.percent(75) {
            at = (at + 1) % self.locations as usize;
        }
        let strange = if self.plain { 0 } else { 1 };
        match random.weighted(&[40, 45, 2 * strange, 2 * strange, 3 * strange, 8 * strange]) {
            0 => Action::Load {
                at,
                order: self.order(random, &[Order::Acquire, Order::SeqCst]),
            },
            1 => Action::Store {
                at,
                value: self.value(random, stores),
                order: self.order(random, &[Order::Release, Order::Release, Order::SeqCst]),
            },
            2 => Action::Exchange {
                at,
                value: self.value(random, stores),
                order: self.order(random, &[Order::AcqRel, Order::SeqCst]),
            },
            // Few enough that no value needs more than four bits.
            3 => Action::Add {
                at,
                value: 1,
                order: self.order(random, &[Order::AcqRel, Order::SeqCst]),
            },
            4 => Action::Cas {
                at,
                expected: random.below(3),
                new: self.value(random, stores),
                order: self.order(random, &[Order::AcqRel, Order::SeqCst]),
                failure: None,
            },
            _ => Action::Fence(random.pick(&[
                Order::SeqCst,
                Order::SeqCst,
                Order::SeqCst,
                Order::Release,
                Order::AcqRel,
                Order::Acquire,
            ])),
        }
    }

    fn order(&self, random: &mut Random, stronger: &[Order]) -> Order {
        if !self.plain && random.percent(25) {
            random.pick(stronger)
        } else {
            Order::Relaxed
        }
    }

    fn value(&self, random: &mut Random, stores: &mut Value) -> Value {
        *stores += 1;
        if self.distinct {
            *stores
        } else {
            1 + random.below(2)
        }
    }
}
