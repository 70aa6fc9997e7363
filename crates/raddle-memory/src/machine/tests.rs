//! Store buffers, case by case.

use super::{Effect, Machine, MemoryModel, Readiness, StepEnd};
use raddle_program::{Fault, Op, Order, Program, RmwKind, ThreadId, Value};
use raddle_testing::builder::{BuiltProgram, Object, ProgramBuilder, ThreadBuilder, deref};

const WEAK: [MemoryModel; 2] = [MemoryModel::Tso, MemoryModel::Pso];
const A: ThreadId = ThreadId(1);
const B: ThreadId = ThreadId(2);

struct Run {
    program: Program,
    machine: Machine,
}

impl Run {
    /// `main` has spawned all threads.
    fn new(built: &BuiltProgram, model: MemoryModel) -> Self {
        let program = built.program();
        let machine = Machine::with_model(&program, model);
        let mut run = Self { program, machine };
        while run.is_ready(ThreadId::MAIN) {
            run.step(ThreadId::MAIN);
        }
        run
    }

    fn is_ready(&mut self, thread: ThreadId) -> bool {
        self.machine.readiness(&self.program, thread) == Readiness::Ready
    }

    /// What the operation returned.
    fn step(&mut self, thread: ThreadId) -> Value {
        assert!(self.is_ready(thread));
        let end = self.machine.step(&mut self.program, thread, &[]);
        assert_eq!(end, StepEnd::Done);
        self.machine.steps().last().expect("a step was done").value
    }

    fn steps(&mut self, thread: ThreadId, count: usize) {
        for _ in 0..count {
            self.step(thread);
        }
    }

    fn flush(&mut self, thread: ThreadId, position: usize) -> StepEnd {
        self.machine.flush(&self.program, thread, position)
    }

    /// Which delayed stores of the thread can go next.
    fn flushable(&self, thread: ThreadId) -> Vec<usize> {
        let count = self.machine.delayed(thread).len();
        let may = |&position: &usize| self.machine.may_flush(thread, position);
        (0..count).filter(may).collect()
    }
}

fn two_threads(
    a: impl FnOnce(&mut ThreadBuilder, Object),
    b: impl FnOnce(&mut ThreadBuilder, Object),
) -> BuiltProgram {
    let mut p = ProgramBuilder::new("two threads");
    let object = p.object("o", 16);
    p.thread("a", |t| a(t, object));
    p.thread("b", |t| b(t, object));
    p.build()
}

#[test]
fn a_thread_sees_its_own_delayed_stores_byte_by_byte() {
    let built = two_threads(
        |t, o| {
            t.store_plain(o.at(0, 4), 0x4433_2211);
            t.store_plain(o.at(1, 2), 0xBBAA);
            t.load_plain(o.at(0, 8));
            t.load_plain(o.at(2, 1));
            t.load_plain(o.at(3, 4));
        },
        |t, o| {
            t.load_plain(o.at(0, 8));
        },
    );
    for model in WEAK {
        let mut run = Run::new(&built, model);
        run.step(A);
        run.step(A);
        assert_eq!(run.machine.steps().last().unwrap().effect, Effect::Delayed);
        assert_eq!(run.step(A), 0x44BB_AA11);
        assert_eq!(run.step(A), 0xBB);
        assert_eq!(run.step(A), 0x44);
        assert_eq!(run.step(B), 0);
    }
}

#[test]
fn stores_that_share_bytes_stay_in_order() {
    let built = two_threads(
        |t, o| {
            t.store_plain(o.at(0, 4), 1);
            t.store_plain(o.at(8, 4), 2);
            t.store_plain(o.at(2, 4), 3);
            t.store_plain(o.at(12, 4), 4);
        },
        |_, _| {},
    );
    for (model, first, second) in [
        (MemoryModel::Tso, vec![0], vec![0]),
        (MemoryModel::Pso, vec![0, 1, 3], vec![0, 1, 2]),
    ] {
        let mut run = Run::new(&built, model);
        run.steps(A, 4);
        assert_eq!(run.flushable(A), first);
        run.flush(A, 0);
        assert_eq!(run.flushable(A), second);
    }
}

#[test]
fn a_release_store_waits_for_earlier_stores_and_holds_back_later_ones() {
    let built = two_threads(
        |t, o| {
            t.store_plain(o.at(0, 4), 1);
            t.store_plain(o.at(4, 4), 1);
            t.store_order(o.at(8, 4), 1, Order::Release);
            t.store_plain(o.at(12, 4), 1);
            t.load_plain(o.at(0, 4));
        },
        |_, _| {},
    );
    let mut run = Run::new(&built, MemoryModel::Pso);
    run.steps(A, 4);
    assert_eq!(run.flushable(A), [0, 1]);
    assert!(run.is_ready(A), "loads do not wait for it");
    run.flush(A, 1);
    assert_eq!(run.flushable(A), [0]);
    run.flush(A, 0);
    assert_eq!(run.flushable(A), [0, 1]);
}

#[test]
fn strong_operations_wait_for_the_buffer() {
    type Body = fn(&mut ThreadBuilder, Object);
    let strong: [Body; 5] = [
        |t, o| t.store(o.at(8, 4), 1),
        |t, _| t.fence(Order::SeqCst),
        |t, o| {
            t.rmw(o.at(8, 4), RmwKind::Add, 1, Order::Relaxed);
        },
        |t, o| {
            t.cas(o.at(8, 4), 7, 1);
        },
        |t, o| t.atomic(|t| t.store_plain(o.at(8, 4), 1)),
    ];
    for body in strong {
        let built = two_threads(
            |t, o| {
                t.store_plain(o.at(0, 4), 1);
                body(t, o);
            },
            |_, _| {},
        );
        for model in WEAK {
            let mut run = Run::new(&built, model);
            run.step(A);
            assert!(!run.is_ready(A));
            run.flush(A, 0);
            run.step(A);
            assert!(run.machine.delayed(A).is_empty());
        }
    }
}

#[test]
fn weak_operations_do_not_wait() {
    let built = two_threads(
        |t, o| {
            t.store_plain(o.at(0, 4), 1);
            t.store_order(o.at(4, 4), 1, Order::Release);
            t.load(o.at(8, 4));
            t.fence(Order::Release);
            t.fence(Order::Acquire);
            let block = t.alloc(8);
            t.store_plain(deref(block, 4), 1);
            t.free(block);
        },
        |_, _| {},
    );
    for model in WEAK {
        let mut run = Run::new(&built, model);
        run.steps(A, 8);
        // Its own store into what it freed is no fault.
        assert_eq!(run.machine.delayed(A).len(), 3);
        (0..3).for_each(|_| assert_eq!(run.flush(A, 0), StepEnd::Done));
    }
}

#[test]
fn a_join_waits_for_what_the_thread_left_in_its_buffer() {
    let built = two_threads(|t, o| t.store_plain(o.at(0, 4), 1), |_, _| {});
    for model in WEAK {
        let mut run = Run::new(&built, model);
        run.step(A);
        let state = run.machine.thread_state(A).unwrap();
        assert!(matches!(run.program.op(state), Op::Exit { .. }));
        assert!(!run.is_ready(ThreadId::MAIN));
        run.flush(A, 0);
        assert!(run.is_ready(ThreadId::MAIN));
    }
}

/// Under PSO the flag may overtake the store that it announces; who frees on seeing the flag pulls the memory away.
#[test]
fn a_store_that_arrives_after_a_free_is_a_fault() {
    let mut p = ProgramBuilder::new("late store");
    let (pointer, flag) = (p.var("pointer", 8), p.var("flag", 4));
    let user = p.child("user", |t| {
        let block = t.load(pointer);
        t.store_plain(deref(block, 4), 1);
        t.store_order(flag, 1, Order::Relaxed);
    });
    p.main(|t| {
        let block = t.alloc(8);
        t.store(pointer, block);
        t.spawn(user);
        let seen = t.load(flag);
        t.if_(seen, |t| t.free(block));
    });
    let built = p.build();
    let mut run = Run {
        program: built.program(),
        machine: Machine::with_model(&built.program(), MemoryModel::Pso),
    };
    run.steps(ThreadId::MAIN, 3);
    run.steps(A, 3);
    run.flush(A, 1);
    assert_eq!(run.step(ThreadId::MAIN), 1);
    run.step(ThreadId::MAIN);
    let end = run.flush(A, 0);
    assert!(matches!(end, StepEnd::Fault(Fault::UseAfterFree { .. })));
}
