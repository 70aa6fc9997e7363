//! Mutexes by turns: what the solver admits is what a machine does, under every memory model; and variables that are carried
//! from turn to turn have the values that some order of the sections gives them.

mod common;

use common::{MODELS, Op, Program, Read, Write, encode, encode_guarded, machine_outcomes};
use raddle_order::bits::{Bits, Word};
use raddle_order::lock_order::Passage;
use raddle_order::memory::{Memory, MemoryModel};
use raddle_order::{Limits, Lit, OrderConfig, OrderSolver, Outcome};
use raddle_random::Random32 as Rng;
use std::collections::BTreeSet;

const PARANOID: OrderConfig = OrderConfig {
    detection: raddle_order::Detection::Incremental,
    unit_edges: true,
    derive_from_reads: true,
    lookahead: true,
    suggest_phases: true,
    all_clauses: true,
    paranoid: true,
};

/// Threads with critical sections and accesses in and between them. The last section of a thread may never be left.
fn random_program(rng: &mut Rng) -> Program {
    let threads = 2 + rng.below(2);
    let mut value = 0;
    let mut access = |rng: &mut Rng, ops: &mut Vec<Op>| {
        value += 1;
        let location = rng.below(2);
        ops.push(if rng.below(2) == 0 {
            Read(location)
        } else {
            Write(location, value)
        });
    };
    let mut thread = |rng: &mut Rng| {
        let mut ops = Vec::new();
        for _ in 0..1 + rng.below(5 - threads) {
            if rng.below(3) == 0 {
                access(rng, &mut ops);
            }
            ops.push(Op::Lock);
            for _ in 0..1 + rng.below(2) {
                access(rng, &mut ops);
            }
            ops.push(Op::Unlock);
        }
        if rng.below(8) == 0 {
            ops.pop();
        } else if rng.below(3) == 0 {
            access(rng, &mut ops);
        }
        ops
    };
    (0..threads).map(|_| thread(rng)).collect()
}

#[test]
fn sections_exclude_each_other_and_nothing_else() {
    let mut rng = Rng::new(11);
    for round in 0..150 {
        let program = random_program(&mut rng);
        for model in MODELS {
            let expected = machine_outcomes(&program, model);
            let got = encode(&program, model, PARANOID).outcomes();
            assert_eq!(got, expected, "round {round}, {model:?}: {program:?}");
        }
    }
}

/// Sections that are jumped over take no turn.
#[test]
fn sections_that_do_not_happen_exclude_nothing() {
    let mut rng = Rng::new(12);
    for round in 0..60 {
        let program = random_program(&mut rng);
        for model in MODELS {
            let mut encoded = encode_guarded(&program, model, PARANOID, true);
            let chosen: Vec<Vec<bool>> = program
                .iter()
                .map(|ops| {
                    let mut locked = false;
                    let choose = |op: &Op| match op {
                        Op::Unlock => locked,
                        Op::Lock => {
                            locked = rng.below(3) > 0;
                            locked
                        }
                        _ => rng.below(4) > 0,
                    };
                    ops.iter().map(choose).collect()
                })
                .collect();
            let guards = encoded.guards.iter().flatten();
            let assumptions: Vec<Lit> = guards
                .zip(chosen.iter().flatten())
                .map(|(guard, &happens)| guard.with_sign(happens))
                .collect();
            let shorter: Program = program
                .iter()
                .zip(&chosen)
                .map(|(ops, chosen)| {
                    let kept = ops.iter().zip(chosen).filter(|&(_, &happens)| happens);
                    kept.map(|(&op, _)| op).collect()
                })
                .collect();
            let finals: Vec<u32> = encoded.finals.iter().map(|&(at, _)| at).collect();
            let expected: BTreeSet<_> = machine_outcomes(&shorter, model)
                .into_iter()
                .map(|(reads, memory)| {
                    let value = |at: u32| memory.iter().find(|of| of.0 == at).map_or(0, |of| of.1);
                    let memory: Vec<_> = finals.iter().map(|&at| (at, value(at))).collect();
                    (reads, memory)
                })
                .collect();
            let got = encoded.outcomes_if(&assumptions);
            assert_eq!(
                got, expected,
                "round {round}, {model:?}: {program:?} with {chosen:?}"
            );
        }
    }
}

/// What a section does to the carried variable.
#[derive(Clone, Copy, Debug)]
enum Change {
    Add(u32),
    Double,
    Set(u32),
    /// Only if it is even.
    HalveIfEven,
    /// Does not touch it.
    Nothing,
}

const WIDTH: usize = 8;

impl Change {
    fn random(rng: &mut Rng) -> Self {
        match rng.below(6) {
            0 | 1 => Self::Add(1 + rng.below(3)),
            2 => Self::Double,
            3 => Self::Set(rng.below(6)),
            4 => Self::HalveIfEven,
            _ => Self::Nothing,
        }
    }

    fn apply(self, value: u32) -> u32 {
        let new = match self {
            Self::Add(more) => value + more,
            Self::Double => 2 * value,
            Self::Set(to) => to,
            Self::HalveIfEven if value.is_multiple_of(2) => value / 2,
            Self::HalveIfEven | Self::Nothing => value,
        };
        new % (1 << WIDTH)
    }

    fn encode(self, bits: &mut Bits, found: &Word) -> Word {
        let constant = |value: u32| Word::constant(WIDTH, value.into());
        match self {
            Self::Add(more) => bits.add(found, &constant(more)),
            Self::Double => bits.add(found, found),
            Self::Set(to) => constant(to),
            Self::HalveIfEven => {
                let halved = found.extract(1, WIDTH).zext(WIDTH);
                bits.ite(found.bits()[0], found, &halved)
            }
            Self::Nothing => found.clone(),
        }
    }
}

/// Every final value that some order of the sections gives; `optional` sections may be left out.
fn values(threads: &[Vec<(Change, bool)>]) -> BTreeSet<u32> {
    let mut open = vec![(vec![0; threads.len()], 1)];
    let mut seen = BTreeSet::new();
    let mut ends = BTreeSet::new();
    while let Some((next, value)) = open.pop() {
        if !seen.insert((next.clone(), value)) {
            continue;
        }
        let mut is_end = true;
        for (thread, sections) in threads.iter().enumerate() {
            if let Some(&(change, optional)) = sections.get(next[thread]) {
                is_end = false;
                let mut next: Vec<usize> = next.clone();
                next[thread] += 1;
                if optional {
                    open.push((next.clone(), value));
                }
                open.push((next, change.apply(value)));
            }
        }
        if is_end {
            ends.insert(value);
        }
    }
    ends
}

#[test]
fn carried_variables_have_the_values_that_orders_of_sections_give() {
    let mut rng = Rng::new(13);
    for round in 0..120 {
        let threads: Vec<Vec<(Change, bool)>> = (0..2 + rng.below(2))
            .map(|_| {
                (0..1 + rng.below(3))
                    .map(|_| (Change::random(&mut rng), rng.below(3) == 0))
                    .collect()
            })
            .collect();
        let mut solver = OrderSolver::new(PARANOID);
        let mut memory = Memory::new(&mut solver, MemoryModel::Sc);
        let mut bits = Bits::new();
        let mutex = memory.mutex();
        let mut passages = Vec::new();
        for sections in &threads {
            let thread = memory.thread();
            for &(change, optional) in sections {
                let guard = if optional {
                    solver.new_lit()
                } else {
                    Lit::TRUE
                };
                let section = memory.lock(&mut solver, thread, mutex, guard);
                memory.unlock(&mut solver, thread, mutex, section, guard);
                if !matches!(change, Change::Nothing) {
                    let found = bits.fresh(WIDTH, &mut solver);
                    let left = change.encode(&mut bits, &found);
                    passages.push(Passage {
                        section,
                        found,
                        left,
                    });
                }
            }
        }
        memory.connect(&mut solver, |_, _| true);
        let initial = Word::constant(WIDTH, 1);
        let turns = memory.lock_order(mutex);
        let last = turns.carry(&mut solver, &mut bits, &initial, &passages);
        let last: Vec<Lit> = last
            .bits()
            .iter()
            .map(|&bit| bits.lit(bit, &mut solver))
            .collect();
        let mut found = BTreeSet::new();
        while solver.solve(&[], &Limits::default()) == Outcome::Sat {
            let values: Vec<bool> = last.iter().map(|&lit| solver.value(lit)).collect();
            let value = values
                .iter()
                .rev()
                .fold(0, |all, &bit| all << 1 | u32::from(bit));
            found.insert(value);
            let other: Vec<Lit> = last
                .iter()
                .zip(values)
                .map(|(&lit, value)| lit.with_sign(!value))
                .collect();
            solver.clause(&other);
        }
        assert_eq!(found, values(&threads), "round {round}: {threads:?}");
    }
}
