//! Bits that are the same in every execution.
//!
//! Programs store small numbers in wide words, but the solver does not see it: a read takes its value from one of several
//! writes, these from other reads, and so on round in circles. Without a source for its reads nothing is known of any
//! word, and the search carries the upper bits of every word along.
//!
//! Executions do not go round in circles, though: what a write writes depends on reads before it, and these on other
//! writes, and no write depends on itself (reads-from together with program order from reads to writes is acyclic under
//! SC, TSO and PSO). So every value is the end of a chain of different writes. Which values each bit can have is computed in
//! rounds: in the first, writes that depend on no read have their values; in each further round a read can have what its
//! sources had in the round before. After as many rounds as there are writes nothing new can come. A bit that had only one
//! value till then has it always. There is no widening: adding up in a loop costs one bit a round, not all of them.
//!
//! A read that does not happen has no source. The bits of its word are made 0 then, so that they are known too; unless
//! another read that happens shares them.

use super::aig::{Bit, Gate};
use super::{Bits, Word};
use crate::lit::{ClauseSink, Lit};
use std::collections::BTreeMap;

/// Where values come from.
#[derive(Default)]
pub struct Flow {
    /// What writes write, initial ones included.
    pub writes: Vec<Word>,
    pub reads: Vec<ReadFlow>,
}

/// A read as [`Flow`] sees it.
pub struct ReadFlow {
    /// It happens iff this holds.
    pub guard: Lit,
    /// What it returns, of unknown value ([`Bits::fresh`]). Reads of which only one matters may share it. Where none of
    /// them happens it must not matter.
    pub value: Word,
    /// The writes that it may read from, as positions in [`Flow::writes`].
    pub sources: Vec<usize>,
}

/// The values that a bit can have, as a set.
type Values = u8;
const NONE: Values = 0;
const ZERO: Values = 1;
const ONE: Values = 2;
const ANY: Values = 3;

/// Gates are looked at no more than so many times; where that is not enough nothing is found out.
const BUDGET: usize = 1 << 27;

impl Bits {
    /// Fixes bits of reads that are the same in every execution; how many. What they make of other gates is fixed too.
    ///
    /// In every model each read must have the value of one of its sources if it happens, and no write may depend on itself
    /// through reads and their sources.
    pub fn require_known(&mut self, flow: &Flow, sink: &mut impl ClauseSink) -> usize {
        let guards = self.guards_of_inputs(flow);
        let mut values = vec![ANY; self.aig.gates.len()];
        for (node, guards) in &guards {
            let certain = guards.contains(&Lit::TRUE);
            values[*node] = if certain { NONE } else { ZERO };
            if !certain && let Gate::Input(lit) = self.aig.gates[*node] {
                let mut clause = guards.clone();
                clause.push(!lit);
                sink.add_clause(&clause);
            }
        }
        if !self.follow(flow, &mut values) {
            return 0;
        }
        self.fix(&values, sink);
        let known = guards
            .keys()
            .filter(|&&node| matches!(values[node], ZERO | ONE));
        known.count()
    }

    /// Gates that can have one value only become constants.
    fn fix(&mut self, values: &[Values], sink: &mut impl ClauseSink) {
        self.literals.resize(self.aig.gates.len(), None);
        for (node, &value) in values.iter().enumerate() {
            if !matches!(value, ZERO | ONE) {
                continue;
            }
            let given = match self.aig.gates[node] {
                Gate::Input(lit) => Some(lit),
                _ => self.literals[node],
            };
            if let Some(lit) = given {
                sink.add_clause(&[lit.with_sign(value == ONE)]);
            }
            self.literals[node] = Some(Lit::TRUE.with_sign(value == ONE));
        }
    }

    /// By input that reads return: when they happen.
    fn guards_of_inputs(&self, flow: &Flow) -> BTreeMap<usize, Vec<Lit>> {
        let mut guards: BTreeMap<usize, Vec<Lit>> = BTreeMap::new();
        for read in &flow.reads {
            for bit in read.value.bits().iter().filter(|&&bit| self.is_input(bit)) {
                guards.entry(bit.node()).or_default().push(read.guard);
            }
        }
        guards
    }

    fn is_input(&self, bit: Bit) -> bool {
        matches!(self.aig.gates[bit.node()], Gate::Input(_))
    }

    /// Goes through the rounds. False if there are too many.
    fn follow(&self, flow: &Flow, values: &mut [Values]) -> bool {
        let mut spent = 0;
        for _ in 0..=flow.writes.len() {
            spent += self.aig.gates.len();
            if spent > BUDGET {
                return false;
            }
            for at in 0..self.aig.gates.len() {
                if let Some(value) = evaluate(self.aig.gates[at], values) {
                    values[at] = value;
                }
            }
            if !self.read_all(flow, values) {
                return true;
            }
        }
        true
    }

    /// Every read can have what its sources have. Did any get a new value?
    fn read_all(&self, flow: &Flow, values: &mut [Values]) -> bool {
        let mut changed = false;
        for read in &flow.reads {
            for (at, &bit) in read.value.bits().iter().enumerate() {
                if !self.is_input(bit) {
                    continue;
                }
                let sources = read.sources.iter();
                let new = sources.fold(of(values, bit), |all, &write| {
                    all | of(values, flow.writes[write].bits()[at])
                });
                let slot = &mut values[bit.node()];
                let new = signed(new, bit.is_negated());
                changed |= *slot != new;
                *slot = new;
            }
        }
        changed
    }
}

/// The values of a negation, if it is one.
fn signed(values: Values, negated: bool) -> Values {
    if negated {
        (values & ZERO) << 1 | (values & ONE) >> 1
    } else {
        values
    }
}

fn of(values: &[Values], bit: Bit) -> Values {
    signed(values[bit.node()], bit.is_negated())
}

/// What a gate can be, given what its operands can be; inputs are what they are. Without a value for each operand there is
/// none. Operands are taken to be independent, so these are too many values at worst.
fn evaluate(gate: Gate, values: &[Values]) -> Option<Values> {
    Some(match gate {
        Gate::False => ZERO,
        Gate::Input(_) | Gate::Free(_) => return None,
        Gate::And(a, b) => {
            let (a, b) = (of(values, a), of(values, b));
            if a == NONE || b == NONE {
                return Some(NONE);
            }
            (a & b & ONE) | ((a | b) & ZERO)
        }
        Gate::Xor(a, b) => {
            let (a, b) = (of(values, a), of(values, b));
            let mut result = NONE;
            for (first, second) in [(ZERO, ZERO), (ZERO, ONE), (ONE, ZERO), (ONE, ONE)] {
                if a & first != NONE && b & second != NONE {
                    result |= if first == second { ZERO } else { ONE };
                }
            }
            result
        }
        Gate::If(condition, then, otherwise) => {
            let condition = of(values, condition);
            let (then, otherwise) = (of(values, then), of(values, otherwise));
            if then == NONE || otherwise == NONE {
                return Some(NONE);
            }
            let mut result = NONE;
            if condition & ONE != NONE {
                result |= then;
            }
            if condition & ZERO != NONE {
                result |= otherwise;
            }
            result
        }
        Gate::Majority(a, b, c) => {
            let operands = [of(values, a), of(values, b), of(values, c)];
            if operands.contains(&NONE) {
                return Some(NONE);
            }
            let can = |value| operands.iter().filter(|&&of| of & value != NONE).count() >= 2;
            (if can(ZERO) { ZERO } else { NONE }) | (if can(ONE) { ONE } else { NONE })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sat::{Limits, Outcome, Solver};
    use crate::theory::NoTheory;
    use raddle_random::Random32 as Rng;

    const WIDTH: usize = 4;

    /// What a thread's write writes: `scale * a + b + constant`, or the conjunction, of reads before it.
    #[derive(Clone, Copy, Debug)]
    enum Computation {
        Constant(u8),
        Sum(usize, usize, u8),
        Both(usize, usize),
    }

    #[derive(Clone, Debug)]
    struct Read {
        optional: bool,
        sources: Vec<usize>,
    }

    /// Writes and reads of a random program; a write uses reads of its own thread that come before it.
    struct Sample {
        writes: Vec<Computation>,
        reads: Vec<Read>,
    }

    fn sample(rng: &mut Rng) -> Sample {
        let mut writes = vec![Computation::Constant(u8::try_from(rng.below(2)).unwrap())];
        let mut reads = Vec::new();
        for _ in 0..2 {
            let first = reads.len();
            for _ in 0..2 {
                reads.push(Read {
                    optional: rng.below(4) == 0,
                    sources: Vec::new(),
                });
                let mut pick =
                    || first + rng.below(u32::try_from(reads.len() - first).unwrap()) as usize;
                let (a, b) = (pick(), pick());
                writes.push(match rng.below(4) {
                    0 => Computation::Constant(u8::try_from(rng.below(3)).unwrap()),
                    1 => Computation::Both(a, b),
                    _ => Computation::Sum(a, b, u8::try_from(rng.below(2)).unwrap()),
                });
            }
        }
        for read in &mut reads {
            let all = 0..writes.len();
            read.sources = all
                .filter(|&write| write == 0 || rng.below(3) > 0)
                .collect();
        }
        Sample { writes, reads }
    }

    /// The value of a read if `chosen` says where each read reads, `None` if that goes round in a circle.
    fn value(sample: &Sample, chosen: &[Option<usize>], read: usize, depth: usize) -> Option<u8> {
        if depth > sample.reads.len() {
            return None;
        }
        let Some(write) = chosen[read] else {
            return Some(0);
        };
        let get = |read| value(sample, chosen, read, depth + 1);
        let result = match sample.writes[write] {
            Computation::Constant(constant) => constant,
            Computation::Sum(a, b, more) => get(a)?.wrapping_add(get(b)?).wrapping_add(more),
            Computation::Both(a, b) => get(a)? & get(b)?,
        };
        Some(result % (1 << WIDTH))
    }

    /// All combinations of sources; an optional read may have none.
    fn choices(sample: &Sample) -> Vec<Vec<Option<usize>>> {
        let mut all = vec![Vec::new()];
        for read in &sample.reads {
            let mut options: Vec<Option<usize>> = read.sources.iter().copied().map(Some).collect();
            if read.optional {
                options.push(None);
            }
            all = all
                .iter()
                .flat_map(|chosen: &Vec<Option<usize>>| {
                    options.iter().map(|&option| {
                        let mut chosen = chosen.clone();
                        chosen.push(option);
                        chosen
                    })
                })
                .collect();
        }
        all
    }

    #[test]
    fn known_bits_are_those_of_every_execution_without_circles() {
        let mut rng = Rng::new(23);
        let mut known = 0;
        for _ in 0..300 {
            let sample = sample(&mut rng);
            let mut solver = Solver::new(NoTheory);
            let mut bits = Bits::new();
            let values: Vec<Word> = sample
                .reads
                .iter()
                .map(|_| bits.fresh(WIDTH, &mut solver))
                .collect();
            let mut flow = Flow::default();
            for write in &sample.writes {
                let constant = |value: u8| Word::constant(WIDTH, value.into());
                flow.writes.push(match *write {
                    Computation::Constant(value) => constant(value),
                    Computation::Sum(a, b, more) => {
                        let sum = bits.add(&values[a], &values[b]);
                        bits.add(&sum, &constant(more))
                    }
                    Computation::Both(a, b) => bits.and(&values[a], &values[b]),
                });
            }
            for (read, value) in sample.reads.iter().zip(&values) {
                flow.reads.push(ReadFlow {
                    guard: if read.optional {
                        solver.new_var().positive()
                    } else {
                        Lit::TRUE
                    },
                    value: value.clone(),
                    sources: read.sources.clone(),
                });
            }
            known += bits.require_known(&flow, &mut solver);
            for chosen in choices(&sample) {
                let all: Option<Vec<u8>> = (0..sample.reads.len())
                    .map(|read| value(&sample, &chosen, read, 0))
                    .collect();
                for (word, value) in values.iter().zip(all.into_iter().flatten()) {
                    for (at, &bit) in word.bits().iter().enumerate() {
                        let lit = bits.lit(bit, &mut solver);
                        if let Some(fixed) = solver.fixed_value(lit) {
                            assert_eq!(fixed, value >> at & 1 == 1, "{:?}", sample.writes);
                        }
                    }
                }
            }
        }
        assert!(known > 300, "{known} bits");
    }

    /// A load that may access two places is two reads, one of which happens, and one word.
    #[test]
    fn reads_may_share_their_word() {
        let mut solver = Solver::new(NoTheory);
        let mut bits = Bits::new();
        let word = bits.fresh(WIDTH, &mut solver);
        let first = solver.new_var().positive();
        let mut flow = Flow::default();
        for (guard, value) in [(first, 1), (!first, 3)] {
            flow.writes.push(Word::constant(WIDTH, value));
            flow.reads.push(ReadFlow {
                guard,
                value: word.clone(),
                sources: vec![flow.writes.len() - 1],
            });
            bits.require_equal_if(
                guard,
                &word,
                &flow.writes[flow.writes.len() - 1],
                &mut solver,
            );
        }
        bits.require_known(&flow, &mut solver);
        for guard in [first, !first] {
            assert_eq!(solver.solve(&[guard], &Limits::default()), Outcome::Sat);
        }
        let upper: Vec<Lit> = word.bits()[2..]
            .iter()
            .map(|&bit| bits.lit(bit, &mut solver))
            .collect();
        assert!(
            upper
                .iter()
                .all(|&lit| solver.fixed_value(lit) == Some(false))
        );
    }
}
