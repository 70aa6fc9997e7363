//! The litmus tests of the literature, written directly against the solver, under SC, TSO and PSO.

mod common;

use common::{Exchange, MODELS, Op, Program, Read, Write, encode, machine_outcomes};
use raddle_order::OrderConfig;
use raddle_order::memory::MemoryModel;

const X: u32 = 0;
const Y: u32 = 1;

struct Litmus {
    name: &'static str,
    program: Program,
    reads: &'static [&'static [u32]],
    finals: &'static [(u32, u32)],
    /// Under SC, TSO, PSO.
    allowed: [bool; 3],
}

fn fenced(program: Program, fence: Op) -> Program {
    program
        .into_iter()
        .map(|ops| ops.iter().flat_map(|&op| [op, fence]).collect())
        .collect()
}

fn store_buffering() -> Program {
    vec![vec![Write(X, 1), Read(Y)], vec![Write(Y, 1), Read(X)]]
}

fn message_passing() -> Program {
    vec![vec![Write(X, 1), Write(Y, 1)], vec![Read(Y), Read(X)]]
}

#[rustfmt::skip]
fn litmus_tests() -> Vec<Litmus> {
    let test = |name, program, reads, finals, allowed| Litmus { name, program, reads, finals, allowed };
    let two_plus_two = || vec![vec![Write(X, 1), Write(Y, 2)], vec![Write(Y, 1), Write(X, 2)]];
    let iriw = || vec![vec![Write(X, 1)], vec![Write(Y, 1)], vec![Read(X), Read(Y)], vec![Read(Y), Read(X)]];
    vec![
        test("SB", store_buffering(), &[&[0], &[0]], &[], [false, true, true]),
        test("SB+fences", fenced(store_buffering(), Op::Fence), &[&[0], &[0]], &[], [false, false, false]),
        test("SB+one fence", vec![vec![Write(X, 1), Op::Fence, Read(Y)], vec![Write(Y, 1), Read(X)]],
            &[&[0], &[0]], &[], [false, true, true]),
        test("SB+exchanges", vec![vec![Exchange(X, 1), Read(Y)], vec![Exchange(Y, 1), Read(X)]],
            &[&[0, 0], &[0, 0]], &[], [false, false, false]),
        test("SB+rfi", vec![vec![Write(X, 1), Read(X), Read(Y)], vec![Write(Y, 1), Read(Y), Read(X)]],
            &[&[1, 0], &[1, 0]], &[], [false, true, true]),
        test("MP", message_passing(), &[&[], &[1, 0]], &[], [false, false, true]),
        test("MP+fences", fenced(message_passing(), Op::Fence), &[&[], &[1, 0]], &[], [false, false, false]),
        test("MP+store-store", fenced(message_passing(), Op::StoreStoreFence),
            &[&[], &[1, 0]], &[], [false, false, false]),
        test("LB", vec![vec![Read(X), Write(Y, 1)], vec![Read(Y), Write(X, 1)]],
            &[&[1], &[1]], &[], [false, false, false]),
        test("IRIW", iriw(), &[&[], &[], &[1, 0], &[1, 0]], &[], [false, false, false]),
        test("2+2W", two_plus_two(), &[], &[(X, 1), (Y, 1)], [false, false, true]),
        test("2+2W+fences", fenced(two_plus_two(), Op::Fence), &[], &[(X, 1), (Y, 1)], [false, false, false]),
        test("R", vec![vec![Write(X, 1), Write(Y, 1)], vec![Write(Y, 2), Read(X)]],
            &[&[], &[0]], &[(Y, 2)], [false, true, true]),
        test("R+fences", fenced(vec![vec![Write(X, 1), Write(Y, 1)], vec![Write(Y, 2), Read(X)]], Op::Fence),
            &[&[], &[0]], &[(Y, 2)], [false, false, false]),
        test("S", vec![vec![Write(X, 2), Write(Y, 1)], vec![Read(Y), Write(X, 1)]],
            &[&[], &[1]], &[(X, 2)], [false, false, true]),
        test("WRC", vec![vec![Write(X, 1)], vec![Read(X), Write(Y, 1)], vec![Read(Y), Read(X)]],
            &[&[], &[1], &[1, 0]], &[], [false, false, false]),
        test("CoRR", vec![vec![Write(X, 1)], vec![Read(X), Read(X)]],
            &[&[], &[1, 0]], &[], [false, false, false]),
        test("CoWW", vec![vec![Write(X, 1), Write(X, 2)]], &[&[]], &[(X, 1)], [false, false, false]),
        test("CoWR", vec![vec![Write(X, 1), Read(X)], vec![Write(X, 2)]],
            &[&[0], &[]], &[], [false, false, false]),
        test("CoRW", vec![vec![Read(X), Write(X, 1)]], &[&[1]], &[], [false, false, false]),
        test("two exchanges", vec![vec![Exchange(X, 1)], vec![Exchange(X, 2)]],
            &[&[0], &[0]], &[], [false, false, false]),
        test("n6 of x86-TSO", vec![vec![Write(X, 1), Read(X), Read(Y)], vec![Write(Y, 2), Write(X, 2)]],
            &[&[1, 0], &[]], &[(X, 1)], [false, true, true]),
    ]
}

#[test]
fn verdicts_are_those_of_the_literature_and_of_the_machine() {
    for test in litmus_tests() {
        for (model, allowed) in MODELS.into_iter().zip(test.allowed) {
            let config = OrderConfig {
                paranoid: true,
                ..OrderConfig::default()
            };
            let mut encoded = encode(&test.program, model, config);
            assert_eq!(
                encoded.allows(test.reads, test.finals),
                allowed,
                "{} under {model:?}",
                test.name
            );
            let by_machine =
                machine_outcomes(&test.program, model)
                    .iter()
                    .any(|(reads, memory)| {
                        let wanted = test
                            .reads
                            .iter()
                            .zip(reads)
                            .all(|(wanted, got)| *wanted == got.as_slice());
                        wanted && test.finals.iter().all(|at| memory.contains(at))
                    });
            assert_eq!(
                by_machine, allowed,
                "{} under {model:?}, by the machine",
                test.name
            );
        }
    }
}

#[test]
fn the_memory_models_are_nested() {
    for test in litmus_tests() {
        let [sc, tso, pso] =
            MODELS.map(|model| encode(&test.program, model, OrderConfig::default()).outcomes());
        assert!(sc.is_subset(&tso) && tso.is_subset(&pso), "{}", test.name);
        assert!(!sc.is_empty());
        assert_eq!(MODELS[0], MemoryModel::Sc);
    }
}
