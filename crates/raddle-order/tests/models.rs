//! Random small programs: the outcomes the solver admits are exactly those of a store-buffer machine.

mod common;

use common::{Exchange, MODELS, Op, Program, Read, Write, encode, machine_outcomes};
use raddle_order::rng::Rng;
use raddle_order::{Detection, OrderConfig};

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
