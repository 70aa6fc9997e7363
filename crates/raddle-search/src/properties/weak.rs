//! The store-buffer machine: random executions of random programs under TSO and PSO.

use super::{for_each_program, happens_before, look};
use crate::interleavings::possible;
use crate::replay::{self, Schedule};
use raddle_memory::{Effect, Machine, MemoryModel, RaceDetector};
use raddle_program::{Op, Program, ReleaseSequences};
use raddle_testing::builder::BuiltProgram;
use raddle_testing::generate::{GenOptions, Random};

const WEAK: [MemoryModel; 2] = [MemoryModel::Tso, MemoryModel::Pso];
/// The definition of races works with sets of so many steps.
const MOST_STEPS: usize = 128;

/// Takes up to `count` random events; the lengths after each.
fn walk(
    program: &mut Program,
    machine: &mut Machine,
    random: &mut Random,
    count: usize,
) -> Vec<u32> {
    let mut ends = Vec::new();
    for _ in 0..count {
        let next = possible(program, machine);
        if next.is_empty() {
            break;
        }
        let choices = [random.below(2) as u32, random.below(2) as u32];
        random.pick(&next).step(program, machine, &choices);
        ends.push(machine.steps().len() as u32);
    }
    ends
}

/// Calls `f` with random executions under both models.
fn for_random_executions(
    programs: u64,
    mut f: impl FnMut(&mut Program, &mut Machine, &[u32], &BuiltProgram),
) {
    for_each_program(programs, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let mut random = Random::new(seed);
        for model in WEAK {
            for _ in 0..4 {
                let mut machine = Machine::with_model(&program, model);
                let ends = walk(&mut program, &mut machine, &mut random, 200);
                f(&mut program, &mut machine, &ends, built);
            }
        }
    });
}

#[test]
fn races_are_what_the_definition_says_where_stores_are_delayed() {
    let mut found_any = false;
    let mut rule = ReleaseSequences::UpdatesOnly;
    for_random_executions(150, |program, machine, _, _| {
        rule = match rule {
            ReleaseSequences::UpdatesOnly => ReleaseSequences::SameThread,
            ReleaseSequences::SameThread => ReleaseSequences::UpdatesOnly,
        };
        program.set_release_sequences(rule);
        let steps = machine.steps();
        if steps.len() > MOST_STEPS {
            return;
        }
        let expected = happens_before::races(program, steps);
        let mut detector = RaceDetector::new();
        // Half of it twice, to see that it can go back.
        for &step in steps {
            detector.push(program, step);
        }
        detector.truncate(steps.len() / 2);
        for (index, &step) in steps.iter().enumerate().skip(steps.len() / 2) {
            let found = detector.push(program, step).map(|race| race.first.step);
            assert_eq!(found, expected[index], "step {index} of {steps:?}");
            found_any |= found.is_some();
        }
    });
    assert!(found_any);
}

#[test]
fn replays_repeat_executions_with_delayed_stores() {
    let mut delayed = 0;
    for_random_executions(150, |program, machine, ends, built| {
        let schedule = Schedule::of(program, machine.model(), machine.steps(), ends);
        let replayed = replay::replay(program, &schedule).expect("it was run before");
        assert_eq!(replayed.machine.steps(), machine.steps());
        assert_eq!(replayed.ends, ends);
        for (index, step) in replayed.trace.steps.iter().enumerate() {
            delayed += u32::from(step.effect == Effect::Delayed);
            let Op::Load { loc, .. } = *program.op(step.state) else {
                continue;
            };
            let wrote = step
                .reads_from
                .and_then(|writer| replayed.trace.steps[writer].wrote);
            let is_mixed = program.tables().loc_info(loc).mixed;
            if let Some((of, value)) = wrote.filter(|_| !is_mixed) {
                assert_eq!((of, value), (loc, step.value), "step {index}: {built}");
            }
        }
    });
    assert!(delayed > 500, "stores are delayed: {delayed}");
}

#[test]
fn undoing_restores_the_store_buffers() {
    for_each_program(150, GenOptions::default(), |seed, built| {
        let mut program = built.program();
        let mut random = Random::new(seed);
        for model in WEAK {
            let mut machine = Machine::with_model(&program, model);
            for _ in 0..8 {
                let mark = machine.mark();
                let threads = machine.thread_count();
                let locs = program.tables().loc_count();
                let before = look(&program, &mut machine, threads, locs);
                let count = random.below(20) as usize;
                walk(&mut program, &mut machine, &mut random, count);
                let after = machine.clone();
                machine.undo_to(mark);
                assert_eq!(before, look(&program, &mut machine, threads, locs));
                if random.percent(60) {
                    machine = after;
                }
            }
        }
    });
}

/// Whatever happens under a stronger model can happen under a weaker one. (That more can happen, litmus tests show.)
#[test]
fn models_are_nested() {
    use crate::oracle::for_each_end;
    use std::collections::BTreeSet;
    let options = GenOptions {
        max_interleavings: 400,
        ..GenOptions::default()
    };
    for_each_program(60, options, |_, built| {
        let mut program = built.program();
        let mut ends = |model| {
            let mut ends = BTreeSet::new();
            for_each_end(&mut program, model, |_, machine| {
                let states: Vec<_> = crate::ending::threads(machine)
                    .filter_map(|thread| Some((thread, machine.thread_state(thread)?)))
                    .collect();
                ends.insert(states);
            });
            ends
        };
        let [sc, tso, pso] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso].map(&mut ends);
        assert!(sc.is_subset(&tso) && tso.is_subset(&pso));
    });
}
