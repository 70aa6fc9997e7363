//! Compares the switches of the theory (section 6.3 of the paper) on generated traces.
//!
//! `cargo bench -p raddle-order` prints, per family and configuration, the total time and its ratio to the default; and
//! conflicts, decisions and cycles. `-- quick` runs a tenth. Deterministic but for the clock.

#[path = "../tests/traces/mod.rs"]
mod traces;

use raddle_order::memory::MemoryModel;
use raddle_order::{Detection, Limits, OrderConfig, OrderSolver, Outcome};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};
use traces::{Shape, generate};

struct Family {
    name: &'static str,
    model: MemoryModel,
    shape: Shape,
    instances: u64,
}

#[derive(Default)]
struct Total {
    time: Duration,
    sat: u32,
    unknown: u32,
    conflicts: u64,
    decisions: u64,
    cycles: u64,
    from_reads: u64,
    implied: u64,
    vars: usize,
}

fn families() -> Vec<Family> {
    let shape = |threads, events_per_thread, locations, values, mutations| Shape {
        threads,
        events_per_thread,
        locations,
        values,
        mutations,
    };
    let family = |name, model, shape, instances| Family {
        name,
        model,
        shape,
        instances,
    };
    vec![
        family(
            "sc 4x25, 4 locations",
            MemoryModel::Sc,
            shape(4, 25, 4, 8, 3),
            40,
        ),
        family(
            "sc 8x25, 10 locations",
            MemoryModel::Sc,
            shape(8, 25, 10, 8, 6),
            40,
        ),
        family(
            "sc 8x25, 4 locations",
            MemoryModel::Sc,
            shape(8, 25, 4, 12, 3),
            20,
        ),
        family(
            "sc 8x25, 4 locations, few values",
            MemoryModel::Sc,
            shape(8, 25, 4, 4, 1),
            5,
        ),
        family(
            "sc 8x25, 2 locations",
            MemoryModel::Sc,
            shape(8, 25, 2, 16, 2),
            10,
        ),
        family(
            "tso 6x20, 4 locations",
            MemoryModel::Tso,
            shape(6, 20, 4, 8, 5),
            20,
        ),
        family(
            "pso 6x20, 4 locations",
            MemoryModel::Pso,
            shape(6, 20, 4, 8, 6),
            20,
        ),
    ]
}

fn configurations() -> Vec<(&'static str, OrderConfig)> {
    let base = OrderConfig::default();
    // Without what only one of the two kinds of detection can give, so that they search in the same way.
    let bare = OrderConfig {
        unit_edges: false,
        suggest_phases: false,
        ..base
    };
    vec![
        ("default", base),
        (
            "no unit edges",
            OrderConfig {
                unit_edges: false,
                ..base
            },
        ),
        (
            "no look-ahead",
            OrderConfig {
                lookahead: false,
                ..base
            },
        ),
        (
            "from-reads in the formula",
            OrderConfig {
                derive_from_reads: false,
                ..base
            },
        ),
        ("incremental, bare", bare),
        (
            "fresh search, bare",
            OrderConfig {
                detection: Detection::Fresh,
                ..bare
            },
        ),
        (
            "one clause per conflict",
            OrderConfig {
                all_clauses: false,
                ..base
            },
        ),
        (
            "components at the end",
            OrderConfig {
                detection: Detection::Final,
                ..bare
            },
        ),
    ]
}

fn run(family: &Family, config: OrderConfig, instances: u64) -> Total {
    let mut total = Total::default();
    for seed in 0..instances {
        let trace = generate(family.shape, seed);
        let (start, cpu) = (Instant::now(), cpu_time());
        let mut question = trace.encode(family.model, config);
        let limits = Limits {
            deadline: Some(start + Duration::from_secs(10)),
            ..Limits::default()
        };
        match question.solver.solve(&[], &limits) {
            Outcome::Sat => total.sat += 1,
            Outcome::Unsat => {}
            Outcome::Unknown(_) => total.unknown += 1,
        }
        total.time += cpu_time()
            .zip(cpu)
            .map_or_else(|| start.elapsed(), |(now, then)| now - then);
        let (sat, order) = (question.solver.sat_stats(), question.solver.order_stats());
        total.conflicts += sat.conflicts;
        total.decisions += sat.decisions;
        total.implied += sat.theory_implied;
        total.cycles += order.cycles;
        total.from_reads += order.from_reads;
        total.vars += question.solver.num_vars();
    }
    total
}

/// Time this thread spent on a processor, where the system tells: other load on the machine does not disturb it.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(
        text.split_whitespace().next()?.parse().ok()?,
    ))
}

#[path = "../tests/counter/program.rs"]
mod counter;
use counter::Encoding;
#[path = "../tests/fibonacci/program.rs"]
mod fibonacci;

/// A program with arithmetic: two threads that add each other's numbers up.
fn run_fibonacci(rounds: RangeInclusive<u32>, config: OrderConfig) {
    for rounds in rounds {
        for slack in [0, 1] {
            let bound = if slack == 0 { "reached" } else { "missed" };
            run_problem(&format!("{rounds} rounds, bound {bound}"), || {
                fibonacci::encode(MemoryModel::Sc, rounds, slack, config)
            });
        }
    }
}

/// A program with a mutex: threads that count together.
fn run_counter(shapes: &[(u32, u32)], config: OrderConfig) {
    for &(threads, rounds) in shapes {
        for encoding in [Encoding::Cell, Encoding::LockOrder, Encoding::Carried] {
            // Without carrying the counter more sections than this take longer than the limit.
            if encoding != Encoding::Carried && threads * rounds > 9 {
                continue;
            }
            run_problem(
                &format!("{threads} threads x {rounds} {encoding:?}"),
                || {
                    let sum = threads * rounds;
                    counter::encode(MemoryModel::Sc, (threads, rounds), sum, encoding, config)
                },
            );
        }
    }
}

fn run_problem(name: &str, encode: impl FnOnce() -> OrderSolver) {
    let (start, cpu) = (Instant::now(), cpu_time());
    let mut problem = encode();
    let limits = Limits {
        deadline: Some(start + Duration::from_secs(120)),
        ..Limits::default()
    };
    let outcome = problem.solve(&[], &limits);
    let time = cpu_time()
        .zip(cpu)
        .map_or_else(|| start.elapsed(), |(now, then)| now - then);
    let (sat, order) = (problem.sat_stats(), problem.order_stats());
    println!(
        "  {name} {outcome:?} {:8.3} s  conflicts {:8} decisions {:9} cycles {:8} restarts {:6} vars {:7} clauses {:7}",
        time.as_secs_f64(),
        sat.conflicts,
        sat.decisions,
        order.cycles,
        sat.restarts,
        problem.num_vars(),
        problem.num_clauses(),
    );
}

const COUNTERS: [(u32, u32); 5] = [(2, 4), (3, 2), (3, 3), (4, 2), (4, 4)];

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let quick = arguments.iter().any(|argument| argument == "quick");
    let only = arguments.iter().find(|argument| *argument != "quick");
    if only.is_some_and(|only| only == "counter") {
        // Others on demand: `-- counter 4 4`.
        let asked: Vec<u32> = arguments
            .iter()
            .filter_map(|argument| argument.parse().ok())
            .collect();
        match asked[..] {
            [threads, rounds] => run_counter(&[(threads, rounds)], OrderConfig::default()),
            _ => run_counter(&COUNTERS, OrderConfig::default()),
        }
        return;
    }
    let rounds = if quick { 3..=4 } else { 4..=7 };
    if only.is_some_and(|only| only == "fibonacci") {
        // More rounds on demand: `-- fibonacci 10`.
        let most = arguments.iter().find_map(|argument| argument.parse().ok());
        run_fibonacci(
            most.map_or(rounds, |most| most..=most),
            OrderConfig::default(),
        );
        return;
    }
    for family in families() {
        let instances = if quick {
            family.instances.div_ceil(10)
        } else {
            family.instances
        };
        println!("{} ({instances} traces)", family.name);
        let mut default_time = None;
        for (name, config) in configurations() {
            if only.is_some_and(|only| !name.contains(only.as_str())) {
                continue;
            }
            let total = run(&family, config, instances);
            let seconds = total.time.as_secs_f64();
            let base = *default_time.get_or_insert(seconds);
            println!(
                "  {name:28} {seconds:8.3} s  x{:6.2}  sat {:3} unknown {:2}  conflicts {:8} decisions {:9} cycles {:8} from-reads {:9} implied {:9} vars {:7}",
                seconds / base,
                total.sat,
                total.unknown,
                total.conflicts,
                total.decisions,
                total.cycles,
                total.from_reads,
                total.implied,
                total.vars
            );
        }
    }
    println!("counter behind a mutex");
    run_counter(&COUNTERS, OrderConfig::default());
    println!("fibonacci");
    run_fibonacci(rounds, OrderConfig::default());
}
