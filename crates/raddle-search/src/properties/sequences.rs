//! Release sequences by both rules.

use super::{for_each_of, for_some_executions, happens_before};
use crate::driver::{SearchOptions, check};
use crate::verdict::{Checks, EngineKind, MemoryModel, Verdict};
use raddle_memory::RaceDetector;
use raddle_program::{Order, ReleaseSequences, RmwKind};
use raddle_testing::builder::{BuiltProgram, Compare, Place, ProgramBuilder, ThreadBuilder};
use raddle_testing::generate::Random;

const RULES: [ReleaseSequences; 2] = [ReleaseSequences::UpdatesOnly, ReleaseSequences::SameThread];

/// One thread publishes data by writes of a flag of all kinds, others write the flag as well, and one reads it and then the
/// data.
fn messages(seed: u64) -> BuiltProgram {
    let mut random = Random::new(seed);
    let mut p = ProgramBuilder::new("messages");
    let (data, flag) = (p.var("data", 4), p.var("flag", 4));
    p.thread("publisher", |t| {
        t.store_plain(data, 1);
        let writes = 2 + random.below(2);
        write_some(t, &mut random, flag, (1, writes));
    });
    p.thread("other", |t| {
        let writes = random.below(2);
        write_some(t, &mut random, flag, (5, writes));
    });
    p.thread("reader", |t| {
        let order = random.pick(&[Order::Acquire, Order::Acquire, Order::Relaxed]);
        let seen = t.load_order(flag, order);
        if random.percent(20) {
            t.fence(Order::Acquire);
        }
        let wanted = 2 + random.below(2);
        t.if_(seen.is(wanted), |t| {
            t.load_plain(data);
        });
    });
    p.build()
}

fn write_some(t: &mut ThreadBuilder, random: &mut Random, flag: Place, (first, count): (u64, u64)) {
    for value in first..first + count {
        let order = random.pick(&[Order::Relaxed, Order::Release, Order::Relaxed]);
        match random.below(8) {
            0 => t.fence(Order::Release),
            1 => {
                t.rmw(flag, RmwKind::Exchange, value, order);
            }
            _ => t.store_order(flag, value, order),
        }
    }
}

#[test]
fn races_are_what_the_definition_says() {
    for rule in RULES {
        for_each_of(100, messages, |_, built| {
            for_some_executions(built, 200, |program, machine, _| {
                program.set_release_sequences(rule);
                let steps = machine.steps();
                let expected = happens_before::races(program, steps);
                let mut detector = RaceDetector::new();
                for (index, &step) in steps.iter().enumerate() {
                    let found = detector.push(program, step).map(|race| race.first.step);
                    assert_eq!(found, expected[index], "step {index} of {steps:?}");
                }
            });
        });
    }
}

#[test]
fn engines_agree_on_races() {
    let mut differences = 0;
    for_each_of(150, messages, |_, built| {
        let races = |engine, rule| {
            let mut program = built.program();
            program.set_release_sequences(rule);
            let options = SearchOptions {
                checks: Checks::default(),
                ..SearchOptions::default()
            };
            let outcome = check(&mut program, engine, options).expect("violations are reproduced");
            assert_eq!(outcome.engine, engine, "it has an answer of its own");
            matches!(outcome.verdict, Verdict::Violation(_))
        };
        let [newer, older] = RULES.map(|rule| races(EngineKind::Naive, rule));
        assert!(newer || !older, "the older rule orders more");
        differences += u32::from(newer != older);
        for engine in EngineKind::exploring(MemoryModel::Sc) {
            for (rule, expected) in RULES.into_iter().zip([newer, older]) {
                assert_eq!(races(engine, rule), expected, "{}: {rule:?}", engine.name());
            }
        }
    });
    assert!(differences > 5, "{differences} programs differ");
}
