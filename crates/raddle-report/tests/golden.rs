//! Whole reports of small executions. Programs come from the builder, with their pseudo code as source, and schedules
//! are written out, so that no engine's order of exploration shows here.

use raddle_memory::{Machine, RaceAccess, RaceInfo, StepEnd};
use raddle_program::{Fault, Op, Order, Program, SrcId, Stop, ThreadId, Unsupported};
use raddle_report::source::Sources;
use raddle_report::text::{self, Look};
use raddle_report::{Report, json};
use raddle_search::replay::Schedule;
use raddle_search::verdict::Waiting;
use raddle_search::{
    Bound, Coverage, EngineKind, MemoryLimit, MemoryModel, Outcome, Phase, Reason, Statistics,
    Trace, TraceStep, UnsupportedAt, Verdict, Violation, ViolationKind,
};
use raddle_testing::builder::{Compare, ProgramBuilder, deref};
use std::collections::BTreeMap;
use std::time::Duration;

/// Compares with the file; `RADDLE_BLESS=1` writes it instead.
fn golden(name: &str, text: &str) {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("RADDLE_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == expected,
        "{name} differs; `cargo xtask bless` accepts this:\n{text}"
    );
}

/// A program, one execution of it, and what is wrong there.
struct Case {
    program: Program,
    sources: Sources,
    machine: Machine,
    trace: Trace,
    end: StepEnd,
}

impl Case {
    /// Runs one step of each thread named, in order.
    fn new(name: &str, build: impl FnOnce(&mut ProgramBuilder), schedule: &[usize]) -> Self {
        let mut builder = ProgramBuilder::new(name);
        build(&mut builder);
        let built = builder.build();
        let sources = Sources::default();
        sources.insert(name, &built.to_string());
        let mut program = built.program();
        let mut machine = Machine::new(&program);
        let mut end = StepEnd::Done;
        for &thread in schedule {
            end = machine.step(&mut program, ThreadId::from_index(thread), &[]);
        }
        let trace = trace(&program, &machine);
        Self {
            program,
            sources,
            machine,
            trace,
            end,
        }
    }

    fn violation(&self, kind: ViolationKind, thread: ThreadId) -> Verdict {
        let state = self.machine.thread_state(thread).unwrap();
        Verdict::Violation(vec![Violation {
            kind,
            thread,
            at: self.program.at(state),
            schedule: Schedule::default(),
            trace: self.trace.clone(),
            advice: None,
        }])
    }

    /// What the thread stopped with.
    fn stopped(&self, thread: usize) -> Verdict {
        let thread = ThreadId::from_index(thread);
        let state = self.machine.thread_state(thread).unwrap();
        let Op::Stop(stop) = *self.program.op(state) else {
            panic!("{:?} is no stop", self.program.op(state))
        };
        let Stop::Fault(fault) = self.program.tables().stop_info(stop).clone() else {
            panic!("no fault")
        };
        self.violation(ViolationKind::Fault(fault), thread)
    }

    fn text(&self, verdict: Verdict, look: Look) -> String {
        let outcome = outcome(verdict);
        text::render(&self.report(&outcome), &self.sources, look)
    }

    fn report<'a>(&'a self, outcome: &'a Outcome) -> Report<'a> {
        Report {
            outcome,
            program: &self.program,
            file: "test.c",
        }
    }
}

fn trace(program: &Program, machine: &Machine) -> Trace {
    let mut last_write = BTreeMap::new();
    let mut trace = Trace::default();
    for (index, step) in machine.steps().iter().enumerate() {
        let (reads, writes) = match *program.op(step.state) {
            Op::Load { loc, .. } => (Some(loc), None),
            Op::Store { loc, value, .. } => (None, Some((loc, value))),
            Op::Rmw {
                loc, kind, operand, ..
            } => (Some(loc), Some((loc, kind.apply(step.value, operand, 4)))),
            Op::Cas {
                loc, expected, new, ..
            } => (Some(loc), (expected == step.value).then_some((loc, new))),
            _ => (None, None),
        };
        trace.steps.push(TraceStep {
            thread: step.thread,
            state: step.state,
            value: step.value,
            effect: step.effect,
            reads_from: reads.and_then(|loc| last_write.get(&loc).copied()),
            wrote: writes,
            stale: None,
            older_than: None,
        });
        if let Some((loc, _)) = writes {
            last_write.insert(loc, index);
        }
    }
    trace
}

fn outcome(verdict: Verdict) -> Outcome {
    Outcome {
        engine: EngineKind::Naive,
        memory: MemoryModel::Sc,
        verdict,
        statistics: Statistics {
            complete: 1234,
            blocked: 5,
            threads: 3,
            max_events: 9,
            states: 20,
            elapsed: Duration::from_millis(1250),
            peak_memory_bytes: 4096,
            ..Statistics::default()
        },
        coverage: Coverage::default(),
    }
}

fn look(columns: usize) -> Look {
    Look {
        columns,
        ..Look::default()
    }
}

/// Two threads increment without a lock, and the last to read finds that an update was lost.
fn lost_update() -> Case {
    Case::new(
        "lost_update",
        |p| {
            let x = p.var("x", 4);
            p.thread("left", |t| {
                let seen = t.load(x);
                t.store(x, seen + 1);
            });
            p.thread("right", |t| {
                let seen = t.load_order(x, Order::Acquire);
                t.store(x, seen + 1);
                let after = t.fetch_add(x, 1);
                t.assert(after.is(2));
            });
        },
        &[0, 0, 1, 2, 1, 2, 2],
    )
}

#[test]
fn a_timeline_shows_who_read_what_from_whom() {
    let case = lost_update();
    golden("lost_update.txt", &case.text(case.stopped(2), look(100)));
}

#[test]
fn lanes_that_do_not_fit_become_a_list() {
    let case = lost_update();
    golden("lost_update_60.txt", &case.text(case.stopped(2), look(60)));
}

#[test]
fn quiet_is_two_lines() {
    let case = lost_update();
    let quiet = Look {
        quiet: true,
        ..look(80)
    };
    golden("lost_update_quiet.txt", &case.text(case.stopped(2), quiet));
}

#[test]
fn colours_change_nothing_else() {
    let case = lost_update();
    let colorful = Look {
        color: true,
        ..look(100)
    };
    let plain = case.text(case.stopped(2), look(100));
    let colored = case.text(case.stopped(2), colorful);
    assert_ne!(plain, colored);
    assert_eq!(plain, without_escapes(&colored));
}

fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('\x1b') {
        plain += &rest[..start];
        let end = rest[start..].find('m').expect("an escape ends with `m`");
        rest = &rest[start + end + 1..];
    }
    plain + rest
}

#[test]
fn scripts_get_the_same_execution() {
    let case = lost_update();
    let outcome = outcome(case.stopped(2));
    let text = json::render(&case.report(&outcome), &case.sources);
    golden("lost_update.json", &text);
}

#[test]
fn a_deadlock_is_explained_as_a_cycle() {
    let mut case = Case::new(
        "cycle",
        |p| {
            let (a, b) = (p.mutex("a"), p.mutex("b"));
            p.thread("left", |t| {
                t.lock(a);
                t.lock(b);
            });
            p.thread("right", |t| {
                t.lock(b);
                t.lock(a);
            });
        },
        &[0, 0, 1, 2],
    );
    let waiting = (0..3)
        .map(ThreadId::from_index)
        .map(|thread| {
            let state = case.machine.thread_state(thread).unwrap();
            Waiting {
                thread,
                state,
                on: case.machine.waits_for(&case.program, thread),
                at: case.program.at(state),
                iteration: Vec::new(),
            }
        })
        .collect();
    let verdict = case.violation(ViolationKind::Deadlock { waiting }, ThreadId::MAIN);
    golden("deadlock.txt", &case.text(verdict, look(100)));
}

#[test]
fn both_sides_of_a_race_are_shown() {
    let case = Case::new(
        "race",
        |p| {
            let x = p.var("x", 4);
            p.thread("writer", |t| t.store_plain(x, 1));
            p.thread("reader", |t| {
                t.load_plain(x);
            });
        },
        &[0, 0, 1, 2],
    );
    let access = |step: usize| {
        let TraceStep { thread, state, .. } = case.trace.steps[step];
        RaceAccess {
            thread,
            state,
            at: case.program.at(state),
            step,
        }
    };
    let race = RaceInfo {
        first: access(2),
        second: access(3),
    };
    let verdict = case.violation(ViolationKind::Race(race), ThreadId::from_index(2));
    golden("race.txt", &case.text(verdict, look(100)));
}

#[test]
fn a_freed_block_is_shown_with_its_life() {
    let case = Case::new(
        "use_after_free",
        |p| {
            p.main(|t| {
                let block = t.alloc(8);
                t.store(deref(block, 4), 7);
                t.free(block);
                t.store(deref(block, 4), 1);
            });
        },
        &[0, 0, 0, 0],
    );
    let StepEnd::Fault(fault @ Fault::UseAfterFree { .. }) = case.end.clone() else {
        panic!("no use after free: {:?}", case.end)
    };
    let verdict = case.violation(ViolationKind::Fault(fault), ThreadId::MAIN);
    golden("use_after_free.txt", &case.text(verdict, look(100)));
}

fn nothing() -> Case {
    Case::new("nothing", |_| {}, &[])
}

#[test]
fn verified_says_what_was_covered() {
    let case = nothing();
    assert_eq!(
        case.text(Verdict::Verified(Bound::Complete), look(80)),
        "verified: no violation in any execution (1 239 executions, 5 of them blocked; 1.25 s; engine naive, memory sc)\n"
    );
    let bound = Bound::of(Some(4), None);
    let text = case.text(Verdict::Verified(bound), look(80));
    assert!(
        text.starts_with(
            "verified: no violation in any execution of up to 4 iterations of each loop ("
        ),
        "{text}"
    );
}

#[test]
fn a_limit_is_named_with_the_way_past_it() {
    let limit = Duration::from_secs(10);
    let during = Phase::Exploring;
    let verdict = Verdict::Inconclusive(Reason::Time { limit, during });
    assert_eq!(
        nothing().text(verdict, look(80)),
        "inconclusive: the time limit of 10 s was reached (1 239 executions, 5 of them blocked; 1.25 s; engine naive, memory sc)\n\
         no violation was found in the part that was explored\n\
         help: raise `--time-limit`, bound loops with `--unroll N`, or make the program smaller\n"
    );
}

#[test]
fn a_limit_says_what_was_going_on() {
    let mut text = String::new();
    for (bytes, is_default, during) in [
        (1 << 30, false, Phase::Compiling),
        (1 << 30, true, Phase::Reading),
        (1 << 20, false, Phase::Encoding),
        (1 << 20, false, Phase::Solving),
        (1 << 20, false, Phase::Replaying),
    ] {
        let limit = MemoryLimit { bytes, is_default };
        let verdict = Verdict::Inconclusive(Reason::Memory { limit, during });
        let answer = nothing().text(verdict, look(80));
        text.extend(answer.lines().take(2).flat_map(|line| [line, "\n"]));
    }
    let verdict = Verdict::Inconclusive(Reason::Interrupted {
        during: Phase::Solving,
    });
    let answer = nothing().text(verdict, look(80));
    text.extend(answer.lines().take(1).flat_map(|line| [line, "\n"]));
    let text = text.replace(
        " (1 239 executions, 5 of them blocked; 1.25 s; engine naive, memory sc)",
        "",
    );
    assert_eq!(
        text,
        "inconclusive: the memory limit of 1024 MiB was reached while the compiler was running\n\
         the program was not run\n\
         inconclusive: the memory limit of 1024 MiB (80 % of what there is) was reached while the compiled program was read\n\
         the program was not run\n\
         inconclusive: the memory limit of 1 MiB was reached while a formula was made of the program\n\
         no violation was found in the part that was explored\n\
         inconclusive: the memory limit of 1 MiB was reached while the formula was being solved\n\
         no violation was found in the part that was explored\n\
         inconclusive: the memory limit of 1 MiB was reached while a violation was being reproduced\n\
         an execution that goes wrong was found, but could not be run again to make sure\n\
         inconclusive: it was interrupted while the formula was being solved\n"
    );
}

#[test]
fn unsupported_input_says_what_to_do() {
    let verdict = Verdict::Unsupported(vec![UnsupportedAt {
        what: Unsupported::UnknownFunction {
            name: "mystery".into(),
        },
        thread: ThreadId::MAIN,
        at: SrcId::NOWHERE,
        trace: Trace::default(),
    }]);
    assert_eq!(
        nothing().text(verdict, look(80)),
        "unsupported: `mystery` is called, and Raddle does not know what it does\n\
         help: name the file that defines it as well, or a build directory (`-p`); a stub that does what matters here is enough\n\
         inconclusive: executions reach something that Raddle cannot run (1 239 executions, 5 of them blocked; 1.25 s; engine naive, memory sc)\n"
    );
}
