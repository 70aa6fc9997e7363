//! The memory model of C, C++ and Rust: litmus tests whose answers are known by argument (`raddle_testing::litmus::c11_tests`), against the axioms
//! and the brute force over execution graphs that everything else is compared with.

use raddle_memory::Machine;
use raddle_memory::axioms::PlainAccesses;
use raddle_program::{LocId, Op, Program, ReleaseSequences, ThreadId};
use raddle_testing::litmus::{Litmus, Outcome, c11_tests};
use raddle_testing::oracle::c11::{GraphEnd, GraphOptions, for_each_final_graph};
use std::collections::BTreeSet;

const RULES: [ReleaseSequences; 2] = [ReleaseSequences::UpdatesOnly, ReleaseSequences::SameThread];

fn ended_in(litmus: &Litmus, program: &Program, machine: &mut Machine) -> Outcome {
    let reads = (0..litmus.threads.len()).map(|index| {
        let state = machine.thread_state(ThreadId::from_index(index + 1));
        match state.map(|state| *program.op(state)) {
            Some(Op::Exit { value }) => litmus.unpacked(index, value),
            other => panic!("a thread has not finished: {other:?}"),
        }
    });
    let reads = reads.collect();
    let tables = program.tables();
    let memory = (0..litmus.locations).map(|at| {
        let loc = (0..tables.loc_count()).map(LocId::from_index).find(|&loc| {
            let info = tables.loc_info(loc);
            info.size == 4 && *tables.object_info(info.object).name == *["x", "y", "z"][at]
        });
        Some(loc.map_or(0, |loc| machine.peek(tables, loc)))
    });
    Outcome {
        reads,
        memory: memory.collect(),
    }
}

fn outcomes(litmus: &Litmus, rule: ReleaseSequences) -> BTreeSet<Outcome> {
    let mut all = BTreeSet::new();
    let mut program = litmus.build().program();
    program.set_release_sequences(rule);
    let options = GraphOptions {
        plain: PlainAccesses::Race,
        ..GraphOptions::default()
    };
    let graphs = for_each_final_graph(&mut program, &options, |program, machine, graph| {
        assert_eq!(graph.end, GraphEnd::Complete, "{}", litmus.name);
        all.insert(ended_in(litmus, program, machine));
    });
    assert!(graphs.is_some(), "{} is small", litmus.name);
    all
}

#[test]
fn litmus_tests_have_the_answers_that_are_known_by_argument() {
    for test in c11_tests() {
        for (rule, allowed) in RULES.into_iter().zip(test.allowed) {
            let all = outcomes(&test.litmus, rule);
            assert_eq!(
                all.iter().any(|outcome| test.outcome.admits(outcome)),
                allowed,
                "{} under {rule:?}: {}",
                test.litmus.name,
                test.why
            );
        }
    }
}
