//! Traces: every consistent one is explained by the order of the model, and small ones are checked by exploring all
//! interleavings. The theory behind another SAT solver says the same.

mod other_solver;
mod traces;

use raddle_order::memory::MemoryModel;
use raddle_order::vsc::{Access, Question, Trace};
use raddle_order::{Detection, Limits, OrderConfig, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use traces::{Shape, generate};

/// All interleavings, without going through one state twice.
fn explainable(trace: &Trace) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![(vec![0; trace.threads.len()], BTreeMap::new())];
    while let Some((next, memory)) = open.pop() {
        if next
            .iter()
            .zip(&trace.threads)
            .all(|(&at, thread)| at == thread.len())
        {
            return true;
        }
        if !seen.insert((next.clone(), memory.clone())) {
            continue;
        }
        for (thread, accesses) in trace.threads.iter().enumerate() {
            let mut memory: BTreeMap<u32, u32> = memory.clone();
            match accesses.get(next[thread]) {
                None => continue,
                Some(&Access::Write(location, value)) => {
                    memory.insert(location, value);
                }
                Some(&Access::Read(location, value)) => {
                    if memory.get(&location).copied().unwrap_or(0) != value {
                        continue;
                    }
                }
            }
            let mut next = next.clone();
            next[thread] += 1;
            open.push((next, memory));
        }
    }
    false
}

/// The verdict under SC; a model's order is executed.
fn solve(trace: &Trace, config: OrderConfig) -> bool {
    let Question {
        mut solver,
        events,
        order,
    } = trace.encode(MemoryModel::Sc, config);
    if solver.solve(&[], &Limits::default()) != Outcome::Sat {
        return false;
    }
    let mut thread_of = BTreeMap::new();
    for (thread, events) in events.iter().enumerate() {
        thread_of.extend(events.iter().map(|&event| (event, thread)));
    }
    let schedule: Vec<usize> = solver
        .execution(order)
        .iter()
        .filter_map(|event| thread_of.get(event).copied())
        .collect();
    assert!(
        trace.explains(&schedule),
        "the model's order explains the trace"
    );
    true
}

#[test]
fn verdicts_match_exploration_under_every_configuration() {
    let mut verdicts = [0, 0];
    for seed in 0..120 {
        let small = Shape {
            threads: 3,
            events_per_thread: 5,
            locations: 2,
            values: 2,
            mutations: 2,
        };
        let trace = generate(small, seed);
        let expected = explainable(&trace);
        verdicts[usize::from(expected)] += 1;
        let base = OrderConfig {
            paranoid: true,
            ..OrderConfig::default()
        };
        for config in [
            base,
            OrderConfig {
                unit_edges: false,
                ..base
            },
            OrderConfig {
                derive_from_reads: false,
                ..base
            },
            OrderConfig {
                detection: Detection::Fresh,
                ..base
            },
            OrderConfig {
                detection: Detection::Final,
                paranoid: false,
                ..base
            },
        ] {
            assert_eq!(solve(&trace, config), expected, "seed {seed}, {config:?}");
        }
    }
    assert!(
        verdicts.iter().all(|&count| count > 15),
        "both verdicts occur: {verdicts:?}"
    );
}

/// Large enough for long explanations, several implications at once and many conflicts; every clause is checked.
#[test]
fn configurations_agree_on_medium_traces() {
    let mut verdicts = [0, 0];
    for seed in 0..24 {
        let mutations = if seed % 2 == 0 { 0 } else { 6 };
        let shape = Shape {
            threads: 4,
            events_per_thread: 20,
            locations: 3,
            values: 4,
            mutations,
        };
        let trace = generate(shape, seed);
        let base = OrderConfig {
            paranoid: true,
            ..OrderConfig::default()
        };
        let expected = solve(&trace, base);
        assert!(
            expected || mutations > 0,
            "seed {seed}: an unchanged trace is consistent"
        );
        verdicts[usize::from(expected)] += 1;
        for config in [
            OrderConfig {
                lookahead: false,
                ..base
            },
            OrderConfig {
                unit_edges: false,
                ..base
            },
            OrderConfig {
                all_clauses: false,
                ..base
            },
            OrderConfig {
                derive_from_reads: false,
                ..base
            },
        ] {
            assert_eq!(solve(&trace, config), expected, "seed {seed}, {config:?}");
        }
    }
    assert!(
        verdicts.iter().all(|&count| count > 3),
        "both verdicts occur: {verdicts:?}"
    );
}

#[test]
fn another_solver_agrees_on_larger_traces() {
    let mut verdicts = [0, 0];
    for seed in 0..40 {
        let shape = Shape {
            threads: 4,
            events_per_thread: 14,
            locations: 3,
            values: 3,
            mutations: 2,
        };
        let trace = generate(shape, seed);
        let ours = solve(&trace, OrderConfig::default());
        assert_eq!(ours, other_solver::solve(&trace), "seed {seed}");
        verdicts[usize::from(ours)] += 1;
    }
    assert!(
        verdicts.iter().all(|&count| count > 3),
        "both verdicts occur: {verdicts:?}"
    );
}

#[test]
fn unchanged_traces_are_consistent_under_every_model() {
    for seed in 0..10 {
        let shape = Shape {
            threads: 5,
            events_per_thread: 20,
            locations: 4,
            values: 4,
            mutations: 0,
        };
        let trace = generate(shape, seed);
        for model in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
            let mut question = trace.encode(model, OrderConfig::default());
            assert_eq!(question.solver.solve(&[], &Limits::default()), Outcome::Sat);
        }
    }
}
