//! Blocks that do not come to their end.

use crate::machine::{Effect, Ending, Machine, MemoryModel, Readiness, StepEnd};
use crate::{AccessMode, accesses};
use raddle_program::{Fault, Limit, LocId, Op, Program, Stop, ThreadId};
use raddle_testing::builder::{ProgramBuilder, ThreadBuilder};

const A: ThreadId = ThreadId(1);
const B: ThreadId = ThreadId(2);
const CHILD: ThreadId = ThreadId(3);

/// How a block ends too early.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Assumption,
    Bound,
    Assertion,
    DoubleFree,
}

const CAUSES: [Cause; 4] = [
    Cause::Assumption,
    Cause::Bound,
    Cause::Assertion,
    Cause::DoubleFree,
];

fn stop(t: &mut ThreadBuilder, cause: Cause) {
    match cause {
        Cause::Assumption => t.assume(0u64),
        Cause::Bound => t.stop(Stop::Limit(Limit::Unroll { bound: 3 })),
        Cause::Assertion => t.assert(0u64),
        Cause::DoubleFree => {
            let block = t.alloc(4);
            t.free(block);
            t.free(block);
        }
    }
}

struct Run {
    program: Program,
    machine: Machine,
    x: LocId,
}

/// A block that does all sorts of things and then stops, and what memory holds. `main` has started the threads.
fn run(cause: Cause, model: MemoryModel) -> Run {
    let mut p = ProgramBuilder::new("a block that stops");
    let x = p.var_init("x", 4, 7);
    let m = p.mutex("m");
    let child = p.child("child", |t| t.store(x, 9u64));
    p.thread("a", |t| {
        t.atomic(|t| {
            let seen = t.load(x);
            t.store(x, 1u64);
            t.lock(m);
            t.spawn(child);
            t.fetch_add(x, seen);
            stop(t, cause);
        });
        t.store(x, 2u64);
    });
    p.thread("b", |t| {
        t.try_lock(m);
        t.load(x);
    });
    let built = p.build();
    let mut program = built.program();
    let mut machine = Machine::with_model(&program, model);
    while machine.readiness(&program, ThreadId::MAIN) == Readiness::Ready {
        machine.step(&mut program, ThreadId::MAIN, &[]);
    }
    let x = match program.op(machine.thread_state(B).expect("it was started")) {
        Op::Sync { .. } => {
            let mark = machine.mark();
            machine.step(&mut program, B, &[]);
            let state = machine.thread_state(B).expect("it was started");
            let Op::Load { loc, .. } = *program.op(state) else {
                panic!("it reads x then");
            };
            machine.undo_to(mark);
            loc
        }
        op => panic!("it tries for the mutex first: {op:?}"),
    };
    Run {
        program,
        machine,
        x,
    }
}

#[test]
fn others_see_nothing_of_it() {
    for model in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
        for cause in CAUSES {
            let Run {
                mut program,
                mut machine,
                x,
            } = run(cause, model);
            let start = machine.mark();
            let end = machine.step(&mut program, A, &[]);
            let is_fault = matches!(end, StepEnd::Fault(Fault::DoubleFree { .. }));
            assert_eq!(is_fault, matches!(cause, Cause::DoubleFree), "{cause:?}");
            assert!(machine.has_abandoned(start), "{cause:?}");
            let ended = machine.readiness(&program, A);
            match cause {
                Cause::Assumption => assert_eq!(ended, Readiness::Ended(Ending::AssumeFailed)),
                Cause::DoubleFree => assert_eq!(ended, Readiness::Ended(Ending::Faulted)),
                _ => assert!(matches!(ended, Readiness::Ended(Ending::Stopped(_)))),
            }
            assert!(!machine.is_in_block(A));
            assert_eq!(machine.peek(program.tables(), x), 7, "{cause:?}");
            assert_eq!(machine.thread_state(CHILD), None, "{cause:?}");
            // The mutex is free, and memory as it was.
            machine.step(&mut program, B, &[]);
            machine.step(&mut program, B, &[]);
            let steps = machine.steps();
            assert_eq!(
                [steps[steps.len() - 2].value, steps[steps.len() - 1].value],
                [0, 7]
            );
        }
    }
}

#[test]
fn it_is_undone_like_any_other_event() {
    for cause in CAUSES {
        let Run {
            mut program,
            mut machine,
            x,
        } = run(cause, MemoryModel::Sc);
        let start = machine.mark();
        let before = machine.thread_state(A);
        machine.step(&mut program, A, &[]);
        let first: Vec<_> = machine.steps()[start.steps()..].to_vec();
        assert!(first.iter().all(|step| step.effect == Effect::Abandoned));
        machine.undo_to(start);
        assert_eq!(machine.mark(), start);
        assert_eq!(machine.thread_state(A), before);
        assert_eq!(machine.readiness(&program, A), Readiness::Ready);
        assert_eq!(machine.peek(program.tables(), x), 7);
        machine.step(&mut program, A, &[]);
        assert_eq!(machine.steps()[start.steps()..], first);
    }
}

#[test]
fn it_has_read_and_not_written() {
    let Run {
        mut program,
        mut machine,
        x,
    } = run(Cause::Assumption, MemoryModel::Sc);
    let start = machine.mark();
    machine.step(&mut program, A, &[]);
    let mut touched = Vec::new();
    for step in &machine.steps()[start.steps()..] {
        accesses(&program, step, |access| touched.push(access));
    }
    assert!(touched.iter().any(|access| access.loc == x));
    assert!(touched.iter().all(|access| access.mode == AccessMode::Read));
}
