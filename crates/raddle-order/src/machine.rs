//! Machines: a few variables, and steps that change them, each at most once. Can a step find the variables in a bad state?
//!
//! That is what the critical sections of a mutex do to the variables that it protects. A formula that has all orders of all
//! sections in it answers that too, but a proof in it is about what happened, while all that matters is what is there: a solver goes
//! through exponentially many ways to the same states. Here states are what is gone through, each once, 64 at a time.
//!
//! The machine may do more than what it stands for: bits that steps take from elsewhere may have any value at any time, and threads
//! may stop anywhere. So only "safe" is an answer.

use crate::bits::Function;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// A step: what it does to the variables that it touches, and when it goes wrong.
#[derive(Clone, Debug)]
pub struct Step {
    /// Steps of one thread come in the order in which they are told. All but those that others follow may be left out.
    pub thread: usize,
    /// It comes right after the step before it, of the same thread.
    pub follows: bool,
    /// Positions of bits.
    pub touched: Vec<usize>,
    /// From the bits that it touches to what they become, followed by conditions that must not hold.
    pub function: Function,
}

/// See the module's text.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What the bits are at first.
    initial: Vec<bool>,
    steps: Vec<Step>,
    /// By thread: its steps.
    threads: Vec<Vec<usize>>,
}

/// The bits, and for each thread how many of its steps have been taken or left out.
type State = Box<[u64]>;

/// Bits of a word, and states that are looked at together.
const BITS: usize = 64;
/// A step that takes more bits from elsewhere has too many results.
const MOST_GIVEN: usize = 4;

impl Machine {
    #[must_use]
    pub fn new(initial: Vec<bool>, steps: Vec<Step>) -> Self {
        let count = steps.iter().map(|step| step.thread + 1).max().unwrap_or(0);
        let mut threads = vec![Vec::new(); count];
        for (at, step) in steps.iter().enumerate() {
            threads[step.thread].push(at);
        }
        Self {
            initial,
            steps,
            threads,
        }
    }

    /// Is no step ever taken that goes wrong? `false` says nothing: it may be that there are more than `most` states. `stop` is
    /// asked now and then whether to give up.
    #[must_use]
    pub fn is_safe(&self, most: usize, stop: impl Fn() -> bool) -> bool {
        let is_small = |step: &Step| step.function.given().len() <= MOST_GIVEN;
        if !self.steps.iter().all(is_small) {
            return false;
        }
        let mut seen = FxHashSet::default();
        let first = self.first();
        seen.insert(first.clone());
        let mut open = vec![first];
        while !open.is_empty() {
            let mut found = Vec::new();
            for (step, states) in self.by_step(&open) {
                for states in states.chunks(BITS) {
                    let Some(next) = self.take(step, states) else {
                        return false;
                    };
                    found.extend(next.into_iter().filter(|state| seen.insert(state.clone())));
                    if seen.len() > most {
                        return false;
                    }
                }
                if stop() {
                    return false;
                }
            }
            open = found;
        }
        true
    }

    fn words(&self) -> usize {
        self.initial.len().div_ceil(BITS)
    }

    fn first(&self) -> State {
        let mut state = vec![0; self.words() + self.threads.len()];
        for (at, _) in self.initial.iter().enumerate().filter(|(_, bit)| **bit) {
            state[at / BITS] |= 1 << (at % BITS);
        }
        state.into()
    }

    /// The steps that are possible, with the states in which they are.
    fn by_step<'a>(&self, states: &'a [State]) -> BTreeMap<usize, Vec<&'a State>> {
        let mut by_step: BTreeMap<usize, Vec<&State>> = BTreeMap::new();
        for state in states {
            for (thread, steps) in self.threads.iter().enumerate() {
                let taken = state[self.words() + thread] as usize;
                for (at, &step) in steps.iter().enumerate().skip(taken) {
                    if at == taken || !self.steps[step].follows {
                        by_step.entry(step).or_default().push(state);
                    }
                }
            }
        }
        by_step
    }

    /// The states that a step leads to. None if it goes wrong in one of these.
    fn take(&self, step: usize, states: &[&State]) -> Option<Vec<State>> {
        let of = &self.steps[step];
        let steps = &self.threads[of.thread];
        let position = steps.iter().position(|&at| at == step).unwrap_or(0);
        let bit = |state: &State, at: usize| state[at / BITS] >> (at % BITS) & 1;
        let operands: Vec<u64> = of
            .touched
            .iter()
            .map(|&at| {
                let states = states.iter().enumerate();
                states.fold(0, |all, (lane, state)| all | bit(state, at) << lane)
            })
            .collect();
        let lanes = u64::MAX >> (BITS - states.len());
        let mut found = Vec::new();
        for choice in 0..1_u64 << of.function.given().len() {
            let given = (0..of.function.given().len()).map(|at| match choice >> at & 1 {
                0 => 0,
                _ => u64::MAX,
            });
            let given: Vec<u64> = given.collect();
            let results = of.function.evaluate(&given, &operands);
            let (left, wrong) = results.split_at(of.touched.len());
            if wrong.iter().any(|wrong| wrong & lanes != 0) {
                return None;
            }
            for (lane, state) in states.iter().enumerate() {
                let mut next = (*state).clone();
                next[self.words() + of.thread] = position as u64 + 1;
                for (&at, left) in of.touched.iter().zip(left) {
                    let (word, place) = (at / BITS, at % BITS);
                    next[word] = next[word] & !(1 << place) | (left >> lane & 1) << place;
                }
                found.push(next);
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{Bit, Bits, Meaning, Word};
    use crate::sat::Solver;
    use crate::theory::NoTheory;
    use raddle_random::Random32 as Rng;

    const WIDTH: usize = 3;

    /// What a step does to one variable: it adds, or sets another one; it goes wrong if it finds a number.
    #[derive(Clone, Copy, Debug)]
    struct Sample {
        thread: usize,
        follows: bool,
        adds: u128,
        /// Only if the other variable is at least this.
        from: u128,
        wrong: u128,
        variable: usize,
        /// It adds one more, or not.
        is_open: bool,
    }

    fn sample(rng: &mut Rng) -> Vec<Sample> {
        let mut number = |below: u32| rng.below(below);
        let mut samples: Vec<Sample> = (0..5)
            .map(|_| Sample {
                thread: number(2) as usize,
                follows: number(2) == 0,
                adds: u128::from(number(4)),
                from: u128::from(number(3)),
                wrong: u128::from(4 + number(4)),
                variable: number(2) as usize,
                is_open: number(8) == 0,
            })
            .collect();
        samples.sort_by_key(|sample| sample.thread);
        let mut last = None;
        for sample in &mut samples {
            sample.follows &= last == Some(sample.thread);
            last = Some(sample.thread);
        }
        samples
    }

    fn machine(samples: &[Sample]) -> Machine {
        let (mut bits, mut solver) = (Bits::new(), Solver::new(NoTheory));
        let steps = samples.iter().map(|sample| {
            let words = [(); 2].map(|()| bits.fresh(WIDTH, &mut solver));
            let open = bits.fresh_bit(&mut solver);
            let mut meaning = Meaning::default();
            let all = words.iter().flat_map(|word| word.bits().iter().copied());
            all.for_each(|bit| meaning.input(bit));
            let constant = |value| Word::constant(WIDTH, value);
            let other = &words[1 - sample.variable];
            let applies = bits.ule(&constant(sample.from), other);
            let mine = &words[sample.variable];
            let mut sum = bits.add(mine, &constant(sample.adds));
            if sample.is_open {
                let more = bits.add(&sum, &constant(1));
                sum = bits.ite(open, &more, &sum);
            }
            let mut left = words.clone();
            left[sample.variable] = bits.ite(applies, &sum, mine);
            let wrong = bits.eq(mine, &constant(sample.wrong));
            let results = left.iter().flat_map(|word| word.bits().iter().copied());
            let results: Vec<Bit> = results.chain([wrong]).collect();
            Step {
                thread: sample.thread,
                follows: sample.follows,
                touched: (0..2 * WIDTH).collect(),
                function: bits.function(meaning, Bit::TRUE, &results),
            }
        });
        let steps = steps.collect();
        Machine::new(vec![false; 2 * WIDTH], steps)
    }

    /// Goes through all orders.
    fn goes_wrong(samples: &[Sample], taken: [usize; 2], values: [u128; 2]) -> bool {
        (0..2).any(|thread| {
            let mine: Vec<&Sample> = samples.iter().filter(|of| of.thread == thread).collect();
            (taken[thread]..mine.len()).any(|at| {
                let step = mine[at];
                if at != taken[thread] && step.follows {
                    return false;
                }
                if values[step.variable] == step.wrong {
                    return true;
                }
                let mut taken = taken;
                taken[thread] = at + 1;
                (0..=u128::from(step.is_open)).any(|more| {
                    let mut values = values;
                    if values[1 - step.variable] >= step.from {
                        let sum = values[step.variable] + step.adds + more;
                        values[step.variable] = sum % (1 << WIDTH);
                    }
                    goes_wrong(samples, taken, values)
                })
            })
        })
    }

    #[test]
    fn a_machine_is_safe_iff_no_order_of_its_steps_goes_wrong() {
        let mut rng = Rng::new(7);
        let mut safe = 0;
        for _ in 0..500 {
            let samples = sample(&mut rng);
            let is_safe = machine(&samples).is_safe(1 << 12, || false);
            assert_eq!(
                is_safe,
                !goes_wrong(&samples, [0; 2], [0; 2]),
                "{samples:?}"
            );
            safe += u32::from(is_safe);
        }
        assert!((50..450).contains(&safe), "{safe} are safe");
    }

    #[test]
    fn limits_are_kept() {
        let samples = [1, 2].map(|adds| Sample {
            thread: adds as usize - 1,
            follows: false,
            adds,
            from: 0,
            wrong: 7,
            variable: 0,
            is_open: false,
        });
        assert!(machine(&samples).is_safe(4, || false));
        assert!(!machine(&samples).is_safe(3, || false));
        assert!(!machine(&samples).is_safe(4, || true));
    }
}
