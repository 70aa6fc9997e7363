//! Leads the machine through an execution that the solver found.
//!
//! The solver knows only of accesses that several threads can see at the same time; the machine does more. A thread is run up
//! to the operation that the next step stands for, then it is the next step's turn.

use crate::events::{Encoding, Place, StepIndex, StepKind};
use crate::facts::Cell;
use crate::problem::{Found, Happened};
use raddle_judge::guided;
use raddle_judge::replay::ScheduleStep;
use raddle_memory::sync::{self, SyncStep};
use raddle_memory::{Machine, Readiness};
use raddle_program::{
    ChoiceOf, LocId, ObjectId, ObjectKind, Op, Order, Program, SyncAction, Tables, ThreadId,
};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// After the steps, so many operations may be needed to come to the end.
const LAST_MOVES: usize = 1 << 20;

pub(crate) struct Guide<'a> {
    encoding: &'a Encoding,
    /// The tables that cells are named in.
    tables: &'a Tables,
    steps: VecDeque<Happened>,
    /// By thread of the encoding.
    choices: Vec<VecDeque<u32>>,
    threads: FxHashMap<usize, ThreadId>,
    /// The objects that threads of the encoding make: the thread, and how many it has made with this one.
    made: FxHashMap<ObjectId, (usize, u32)>,
    /// The atomic block that was run last: its steps are done.
    block: Option<usize>,
    /// The thread whose choices the last move may have used.
    chooser: Option<usize>,
    /// Threads that are to be run to their end when the steps are done.
    last: Vec<usize>,
    moves_left: usize,
    /// Steps at which the access is done that they stand for.
    unseen: Vec<StepIndex>,
    /// Whether the machine could not follow.
    pub(crate) lost: Option<String>,
}

impl<'a> Guide<'a> {
    pub(crate) fn new(encoding: &'a Encoding, tables: &'a Tables, found: Found) -> Self {
        let threads = found.allocations.iter().enumerate();
        let made = threads
            .flat_map(|(thread, made)| {
                let counted = made.iter().zip(1..);
                counted.map(move |(&object, counter)| (object, (thread, counter)))
            })
            .collect();
        Self {
            encoding,
            tables,
            steps: found.steps.into(),
            choices: found.choices.into_iter().map(VecDeque::from).collect(),
            threads: [(0, ThreadId::MAIN)].into_iter().collect(),
            made,
            block: None,
            chooser: None,
            last: found.wrong,
            moves_left: LAST_MOVES,
            unseen: found.unseen,
            lost: None,
        }
    }

    /// The machine's thread for one of the encoding.
    fn thread(&self, index: usize) -> Option<ThreadId> {
        self.threads.get(&index).copied()
    }

    /// A thread that was started outside the steps.
    fn find(&self, program: &Program, index: usize) -> Option<ThreadId> {
        let handle = self.encoding.threads[index].handle;
        program.tables().thread_of_handle(handle)
    }

    /// A move of the thread, with what it may choose.
    fn go(&mut self, index: usize, thread: ThreadId) -> ScheduleStep {
        self.chooser = Some(index);
        ScheduleStep::Run {
            thread,
            choices: self.choices[index].iter().copied().collect(),
        }
    }

    fn lose(&mut self, why: &str, happened: &Happened) -> Option<ScheduleStep> {
        let step = &self.encoding.steps[happened.step];
        self.lost = Some(format!(
            "{why} at {:?} of thread {}",
            step.what, step.thread
        ));
        None
    }

    fn matches(&self, program: &Program, op: Op, happened: &Happened) -> bool {
        let at = |loc: LocId| {
            happened
                .cells
                .iter()
                .any(|cell| self.is_at(program, loc, cell))
        };
        match (&self.encoding.steps[happened.step].what, op) {
            (StepKind::Load, Op::Load { loc, .. })
            | (StepKind::Store, Op::Store { loc, .. })
            | (StepKind::Update, Op::Rmw { loc, .. } | Op::Cas { loc, .. }) => at(loc),
            (StepKind::Lock, Op::Sync { action, .. })
                if !matches!(action, SyncAction::Lock { .. }) =>
            {
                false
            }
            (StepKind::Sync | StepKind::Lock | StepKind::Unlock, Op::Sync { cell, action }) => {
                let works_on = |loc: LocId| {
                    self.encoding.steps[happened.step]
                        .object
                        .is_some_and(|place| self.is_object(program, loc, place))
                };
                match action {
                    SyncAction::CondRelease { mutex } => works_on(cell) || works_on(mutex),
                    _ => works_on(cell),
                }
            }
            (StepKind::Spawn { .. }, Op::Spawn { .. })
            | (StepKind::Join { .. }, Op::Join { .. }) => true,
            (StepKind::Life, _) if self.unseen.contains(&happened.step) => {
                let loc = match op {
                    Op::Load { loc, .. }
                    | Op::Store { loc, .. }
                    | Op::Rmw { loc, .. }
                    | Op::Cas { loc, .. } => loc,
                    Op::Sync { cell, .. } => cell,
                    _ => return false,
                };
                let object = program.tables().loc_info(loc).object;
                self.is_of(program, object, happened)
            }
            (StepKind::Life, Op::Free { object }) => self.is_of(program, object, happened),
            _ => false,
        }
    }

    /// Is it the read of a compare-exchange that the thread has chosen to let fail?
    fn fails_there(
        &self,
        program: &Program,
        machine: &Machine,
        (thread, op): (ThreadId, Op),
        happened: &Happened,
    ) -> bool {
        let what = &self.encoding.steps[happened.step].what;
        let (StepKind::Update, Op::Load { loc, .. }) = (what, op) else {
            return false;
        };
        let mut steps = machine.steps().iter().rev();
        let has_chosen = steps
            .find(|step| step.thread == thread)
            .is_some_and(|step| {
                let op = program.op(step.state);
                let of = ChoiceOf::Failing;
                *op == Op::Choice { count: 2, of } && step.value == 1
            });
        has_chosen
            && happened
                .cells
                .iter()
                .any(|cell| self.is_at(program, loc, cell))
    }

    /// Is it an operation on a mutex that its thread holds before and after it? That is no step of its own where critical
    /// sections are known from the text.
    fn is_inside_section(
        &self,
        program: &Program,
        machine: &mut Machine,
        thread: ThreadId,
        happened: &Happened,
    ) -> bool {
        let what = &self.encoding.steps[happened.step].what;
        let op = machine.thread_state(thread).map(|state| *program.op(state));
        let (StepKind::Lock | StepKind::Unlock, Some(Op::Sync { cell, action })) = (what, op)
        else {
            return false;
        };
        if !matches!(action, SyncAction::Lock { .. } | SyncAction::Unlock { .. }) {
            return false;
        }
        let word = machine.sync_word(program, cell, action);
        let after = match machine.sync_step(word, action, thread) {
            SyncStep::Done { word, .. } => sync::mutex_owner(word),
            SyncStep::Wait | SyncStep::Misuse(_) => return false,
        };
        sync::mutex_owner(word) == Some(thread) && after == Some(thread)
    }

    /// Is the machine's object that of the encoding?
    fn is_same(&self, program: &Program, object: ObjectId, other: ObjectId) -> bool {
        let theirs = self.tables.object_info(other);
        if let Some(&(thread, counter)) = self.made.get(&other) {
            let thread = self.thread(thread).or_else(|| self.find(program, thread));
            return thread.is_some_and(|thread| {
                let tables = program.tables();
                tables.is_allocation(object, thread, counter)
                    && (self.encoding.sizes.contains_key(&other)
                        || tables.object_info(object).size == theirs.size)
            });
        }
        let ours = program.tables().object_info(object);
        match (ours.queues_of, theirs.queues_of) {
            (Some(ours), Some(theirs)) => self.is_same(program, ours, theirs),
            (None, None) => ours.kind == theirs.kind && ours.address == theirs.address,
            _ => false,
        }
    }

    /// Is the object one that the step accesses?
    fn is_of(&self, program: &Program, object: ObjectId, happened: &Happened) -> bool {
        let mut cells = happened.cells.iter();
        cells.any(|cell| self.is_same(program, object, cell.region.object))
    }

    fn is_object(&self, program: &Program, loc: LocId, (object, offset): Place) -> bool {
        let info = program.tables().loc_info(loc);
        self.is_same(program, info.object, object) && info.offset == offset
    }

    fn is_at(&self, program: &Program, loc: LocId, cell: &Cell) -> bool {
        let info = program.tables().loc_info(loc);
        let end = info.offset + u64::from(info.size.max(1));
        self.is_same(program, info.object, cell.region.object)
            && info.is_sync() == cell.region.is_sync
            && (info.offset..end).contains(&cell.offset)
    }

    /// Lets the delayed store that a step stands for reach memory; those before it that nobody else can see go first.
    fn flush_of(
        &mut self,
        program: &Program,
        machine: &Machine,
        thread: ThreadId,
        happened: &Happened,
    ) -> Option<ScheduleStep> {
        let delayed = machine.delayed(thread);
        let is_it = |loc: LocId| {
            happened
                .cells
                .iter()
                .any(|cell| self.is_at(program, loc, cell))
        };
        let position = delayed.iter().position(|store| is_it(store.loc))?;
        if !machine.may_flush(thread, position) {
            return flush_any(machine, thread);
        }
        self.steps.pop_front();
        Some(ScheduleStep::Flush {
            thread,
            position: position as u32,
        })
    }

    fn leaves_barrier(&self, step: StepIndex) -> bool {
        let mut arrivals = self.encoding.arrivals.iter();
        arrivals.any(|arrival| arrival.leave == step)
    }

    /// Is it the end of a thread-local variable? Threads end those that they have come to, but here all that any path comes to.
    fn ends_local(&self, happened: &Happened) -> bool {
        let objects = happened.cells.iter().map(|cell| cell.region.object);
        let mut kinds = objects.map(|object| self.tables.object_info(object).kind);
        self.encoding.steps[happened.step].what == StepKind::Life
            && kinds.any(|kind| kind == ObjectKind::ThreadLocal)
    }

    /// Is there nothing for the machine to do?
    fn is_silent(&self, happened: &Happened) -> bool {
        let step = &self.encoding.steps[happened.step];
        if step.block.is_some() && step.block == self.block {
            return true;
        }
        match step.what {
            StepKind::Begin | StepKind::Flush | StepKind::Fence { .. } | StepKind::AcquireFence => {
                true
            }
            StepKind::Life if self.unseen.contains(&happened.step) => false,
            StepKind::Life => {
                let is_free = step.accesses.iter().any(|access| access.is_write);
                !is_free || happened.cells.iter().any(|cell| cell.region.object.0 == 0)
            }
            _ => false,
        }
    }
}

fn is_await(op: Op) -> bool {
    let Op::Sync { action, .. } = op else {
        return false;
    };
    matches!(action, SyncAction::BarrierAwait { .. })
}

/// Does the operation put a store into its thread's buffer? Then it is the flush that its step stands for.
fn is_delayed(machine: &Machine, op: Op) -> bool {
    let waits = matches!(op, Op::Store { order, .. } if order != Order::SeqCst);
    waits && machine.model().delays_stores()
}

/// Lets the oldest store that may reach memory.
fn flush_any(machine: &Machine, thread: ThreadId) -> Option<ScheduleStep> {
    let count = machine.delayed(thread).len();
    let position = (0..count).find(|&position| machine.may_flush(thread, position))?;
    Some(ScheduleStep::Flush {
        thread,
        position: position as u32,
    })
}

impl guided::Guide for Guide<'_> {
    fn next(&mut self, program: &mut Program, machine: &mut Machine) -> Option<ScheduleStep> {
        if let Some(chooser) = self.chooser.take() {
            for _ in machine.chosen() {
                self.choices[chooser].pop_front();
            }
        }
        while let Some(happened) = self.steps.front().cloned() {
            if self.is_silent(&happened) {
                self.steps.pop_front();
                continue;
            }
            let step = &self.encoding.steps[happened.step];
            let index = step.thread;
            // Those that were started inside of an atomic block have no step of their own for that.
            let thread = self.thread(index).or_else(|| self.find(program, index));
            let Some(thread) = thread else {
                return self.lose("a thread that was not started", &happened);
            };
            let Some(state) = machine.thread_state(thread) else {
                return self.lose("a thread that was not started", &happened);
            };
            if step.what == StepKind::Store
                && let Some(flush) = self.flush_of(program, machine, thread, &happened)
            {
                return Some(flush);
            }
            let op = *program.op(state);
            if self.leaves_barrier(happened.step) && !is_await(op) {
                // The last to arrive does not wait; it may have finished.
                self.steps.pop_front();
                continue;
            }
            if machine.readiness(program, thread) != Readiness::Ready {
                if let Some(flush) = flush_any(machine, thread) {
                    return Some(flush);
                }
                let ends = matches!(step.what, StepKind::Fault | StepKind::End);
                if ends || self.ends_local(&happened) {
                    self.steps.pop_front();
                    continue;
                }
                return self.lose("a thread cannot go on", &happened);
            }
            let is_block = step.block.is_some() && op == Op::AtomicBegin;
            // A wide access is a block of its own for the machine.
            let is_inside = self.is_inside_section(program, machine, thread, &happened);
            let is_it = self.matches(program, op, &happened)
                || self.fails_there(program, machine, (thread, op), &happened);
            if is_block || !is_inside && is_it {
                if !is_delayed(machine, op) {
                    self.steps.pop_front();
                }
                if let (StepKind::Spawn { child }, Op::Spawn { child: real, .. }) = (&step.what, op)
                {
                    self.threads.insert(*child, real);
                }
                if is_block {
                    self.block = step.block;
                }
            }
            return Some(self.go(index, thread));
        }
        // The rest of those that go wrong: as far as they come, one after the other, as long as any of them can.
        for turn in 0..self.last.len() {
            let index = self.last[turn];
            let thread = self.thread(index).or_else(|| self.find(program, index));
            let Some(thread) = thread else {
                continue;
            };
            if self.moves_left == 0 {
                break;
            }
            if machine.readiness(program, thread) == Readiness::Ready
                && !guided::goes_round(program, machine, thread)
            {
                self.moves_left -= 1;
                return Some(self.go(index, thread));
            }
            if let Some(flush) = flush_any(machine, thread) {
                return Some(flush);
            }
        }
        None
    }
}
