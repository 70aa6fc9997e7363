//! Random small programs: the outcomes the solver admits are exactly those of a store-buffer machine.

mod common;

use common::{
    Exchange, MODELS, Op, Program, Read, Write, encode, encode_guarded, machine_outcomes,
};
use raddle_order::{Detection, OrderConfig};
use raddle_random::Random32 as Rng;
use std::collections::BTreeSet;

fn random_program(rng: &mut Rng) -> Program {
    let threads = 2 + rng.below(2);
    let locations = 2 + rng.below(4) / 3;
    let shortest = if threads == 2 { 3 } else { 1 };
    let mut value = 0;
    let mut op = |rng: &mut Rng| {
        value += 1;
        let location = rng.below(locations);
        match rng.below(19) {
            0..8 => Read(location),
            8..16 => Write(location, value),
            16 => Exchange(location, value),
            17 => Op::Fence,
            _ => Op::StoreStoreFence,
        }
    };
    (0..threads)
        .map(|_| (0..shortest + rng.below(3)).map(|_| op(rng)).collect())
        .collect()
}

#[test]
fn outcomes_are_those_of_a_store_buffer_machine() {
    let mut rng = Rng::new(5);
    let mut relaxed = 0;
    for round in 0..250 {
        let program = random_program(&mut rng);
        let mut sizes = Vec::new();
        for model in MODELS {
            let expected = machine_outcomes(&program, model);
            sizes.push(expected.len());
            let base = OrderConfig {
                paranoid: true,
                ..OrderConfig::default()
            };
            let configs = [
                base,
                OrderConfig {
                    derive_from_reads: false,
                    ..base
                },
                OrderConfig {
                    unit_edges: false,
                    detection: Detection::Fresh,
                    ..base
                },
            ];
            for config in configs {
                let got = encode(&program, model, config).outcomes();
                assert_eq!(
                    got, expected,
                    "round {round}, {model:?}, {config:?}: {program:?}"
                );
            }
        }
        relaxed += usize::from(sizes[2] > sizes[0]);
    }
    assert!(relaxed > 20, "weak behaviour occurs in {relaxed} programs");
}

/// Operations that do not happen leave no trace: in particular a fence that is jumped over orders nothing.
#[test]
fn operations_that_do_not_happen_order_nothing() {
    let mut rng = Rng::new(8);
    for round in 0..120 {
        let program = random_program(&mut rng);
        for model in MODELS {
            let config = OrderConfig {
                paranoid: true,
                ..OrderConfig::default()
            };
            let mut encoded = encode_guarded(&program, model, config, true);
            let mut seen = BTreeSet::new();
            for _ in 0..4 {
                let happens = |ops: &Vec<Op>, rng: &mut Rng| -> Vec<bool> {
                    ops.iter().map(|_| rng.below(3) > 0).collect()
                };
                let chosen: Vec<Vec<bool>> =
                    program.iter().map(|ops| happens(ops, &mut rng)).collect();
                // What was found is forbidden from then on: each choice is asked once.
                if !seen.insert(chosen.clone()) {
                    continue;
                }
                let guards = encoded.guards.iter().flatten().copied();
                let assumptions: Vec<_> = guards
                    .zip(chosen.iter().flatten())
                    .map(|(guard, &happens)| guard.with_sign(happens))
                    .collect();
                let shorter = program.iter().zip(&chosen).map(|(ops, chosen)| {
                    let kept = ops.iter().zip(chosen).filter(|&(_, &happens)| happens);
                    kept.map(|(&op, _)| op).collect()
                });
                let mut expected = machine_outcomes(&shorter.collect(), model);
                // Locations that are no longer mentioned keep their initial value.
                let finals: Vec<u32> = encoded
                    .finals
                    .iter()
                    .map(|&(location, _)| location)
                    .collect();
                expected = expected
                    .into_iter()
                    .map(|(reads, memory)| {
                        let value =
                            |at: u32| memory.iter().find(|of| of.0 == at).map_or(0, |of| of.1);
                        (reads, finals.iter().map(|&at| (at, value(at))).collect())
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
}
