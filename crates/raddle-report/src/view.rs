//! Which steps of an execution a reader wants to see.

use crate::names::{Names, RustLock};
use crate::source::{is_known, is_library};
use crate::steps::{self, is_heap};
use raddle_judge::{Effect, Trace, TraceStep, Violation, ViolationKind};
use raddle_memory::race::RaceInfo;
use raddle_program::{Fault, LocId, ObjectId, Op, Program, SyncAction, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// How much a step tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// Nothing: the lives of local variables, and what libraries do for themselves.
    Noise,
    /// Something about its own thread.
    Local,
    /// Something about what threads do to each other.
    Shared,
}

/// An execution, and what of it matters.
pub(crate) struct View<'a> {
    pub(crate) program: &'a Program,
    pub(crate) names: &'a Names<'a>,
    pub(crate) trace: &'a Trace,
    /// The object that the violation is about.
    accused: Option<ObjectId>,
    /// Steps (by index) to point out, and why.
    pub(crate) pointed: Vec<(usize, &'static str)>,
    /// For each location the thread that touches it, or none if there are several.
    touched: BTreeMap<LocId, Option<ThreadId>>,
    /// The same for each object that comes and goes.
    users: BTreeMap<ObjectId, Option<ThreadId>>,
    /// Locations and objects that steps of the user's own code work on; what only libraries touch is their business.
    public: BTreeSet<LocId>,
    public_objects: BTreeSet<ObjectId>,
    /// Steps of libraries that read what their thread has just read there: containers look at themselves again and again.
    repeated: BTreeSet<usize>,
    /// Counts of references that somebody looked at.
    counts_read: BTreeSet<LocId>,
    /// Is it known at all what users wrote?
    has_positions: bool,
    /// Steps between which a location passes from one thread to another: the last of the one, the first of the other.
    passing: BTreeSet<usize>,
}

impl<'a> View<'a> {
    pub(crate) fn new(
        program: &'a Program,
        names: &'a Names<'a>,
        trace: &'a Trace,
        kind: Option<&ViolationKind>,
    ) -> Self {
        let mut view = Self {
            program,
            names,
            trace,
            accused: kind.and_then(accused),
            pointed: match kind {
                Some(ViolationKind::Race(RaceInfo { first, second })) => {
                    vec![(first.step, "race"), (second.step, "race")]
                }
                _ => Vec::new(),
            },
            touched: BTreeMap::new(),
            users: BTreeMap::new(),
            public: BTreeSet::new(),
            public_objects: BTreeSet::new(),
            repeated: BTreeSet::new(),
            counts_read: BTreeSet::new(),
            has_positions: false,
            passing: BTreeSet::new(),
        };
        view.has_positions = trace
            .steps
            .iter()
            .any(|step| is_known(names.tables(), program.at(step.state)));
        let mut latest = BTreeMap::new();
        let mut read = BTreeMap::new();
        for (index, step) in trace.steps.iter().enumerate() {
            view.enter(step);
            if let Op::Load { loc, .. } = *program.op(step.state) {
                if names.is_count_of_arc(loc) {
                    view.counts_read.insert(loc);
                }
                let source = Some((step.reads_from, step.value));
                let before = read.insert((step.thread, loc), source);
                if before == Some(source) && view.is_in_library(step) {
                    view.repeated.insert(index);
                }
            } else if let Some(loc) = location(program.op(step.state)) {
                read.insert((step.thread, loc), None);
            }
            if let Some(loc) = location(program.op(step.state))
                && let Some(before) = latest.insert(loc, index)
                && trace.steps[before].thread != step.thread
            {
                view.passing.extend([before, index]);
                // Containers are worked on in libraries only; but what nobody calls is how a thread is started.
                if !view.is_vtable(step) && is_known(names.tables(), program.at(step.state)) {
                    view.public.insert(loc);
                }
            }
        }
        view
    }

    fn enter(&mut self, step: &TraceStep) {
        fn by(known: &mut Option<ThreadId>, thread: ThreadId) {
            if *known != Some(thread) {
                *known = None;
            }
        }
        let is_public = !self.is_in_library(step);
        let object = match *self.program.op(step.state) {
            Op::Alloc { object } | Op::Free { object } => object,
            ref op => match location(op) {
                Some(loc) => {
                    if is_public {
                        self.public.insert(loc);
                    }
                    let entry = self.touched.entry(loc);
                    by(entry.or_insert(Some(step.thread)), step.thread);
                    self.names.tables().loc_info(loc).object
                }
                None => return,
            },
        };
        if is_public {
            self.public_objects.insert(object);
        }
        by(
            self.users.entry(object).or_insert(Some(step.thread)),
            step.thread,
        );
    }

    pub(crate) fn why_pointed(&self, index: usize) -> Option<&'static str> {
        let mut pointed = self.pointed.iter();
        pointed
            .find(|(other, _)| *other == index)
            .map(|(_, why)| *why)
    }

    pub(crate) fn weight(&self, index: usize) -> Weight {
        let step = &self.trace.steps[index];
        if self.why_pointed(index).is_some()
            || step.stale.is_some() && !self.is_deep_in_library(step)
        {
            return Weight::Shared;
        }
        if self.is_inside_of_rust(index) {
            return Weight::Noise;
        }
        if index > 0 && self.is_prompt(index - 1) || steps::is_told_elsewhere(self.program, step) {
            return Weight::Noise;
        }
        let tables = self.names.tables();
        match *self.program.op(step.state) {
            Op::Alloc { object } | Op::Free { object } => {
                if self.accused == Some(object) {
                    Weight::Shared
                } else if !is_heap(self.names, object) || !self.public_objects.contains(&object) {
                    Weight::Noise
                } else if self.users.get(&object) == Some(&None) {
                    Weight::Shared
                } else {
                    Weight::Local
                }
            }
            ref op @ (Op::Load { loc, .. }
            | Op::Store { loc, .. }
            | Op::Rmw { loc, .. }
            | Op::Cas { loc, .. }) => {
                let is_own = self.touched.get(&loc) == Some(&Some(step.thread));
                let is_plain = matches!(op, Op::Load { .. } | Op::Store { .. });
                let is_private = !self.public.contains(&loc) || self.is_vtable(step);
                if is_plain && (is_private || self.repeated.contains(&index))
                    || self.is_deep_in_library(step)
                    || self.names.is_bookkeeping_of_threads(loc)
                {
                    Weight::Noise
                } else if tables.loc_info(loc).mixed || self.passing.contains(&index) {
                    Weight::Shared
                } else if is_own
                    && self.is_in_library(step)
                    && (is_plain || self.names.is_of_rust_library(tables.loc_info(loc).object))
                {
                    Weight::Noise
                } else {
                    Weight::Local
                }
            }
            Op::Stop(_) => Weight::Noise,
            _ => Weight::Shared,
        }
    }

    /// Does Rust's standard library do here what a reader knows it does: hand on an `Arc` and count its references, ask whether a mutex is poisoned, put a thread into
    /// the queue of those who wait?
    fn is_inside_of_rust(&self, index: usize) -> bool {
        let step = &self.trace.steps[index];
        let names = self.names;
        match *self.program.op(step.state) {
            Op::Load { loc, .. } if step.value == 0 && names.is_poison(loc) => true,
            Op::Load { loc, .. } => {
                names.is_arc_pointer(loc)
                    || names.is_temporary(loc)
                    || names.rust_lock(loc) == Some(RustLock::RwLock)
            }
            Op::Store { loc, .. } => {
                names.is_arc_pointer(loc) || names.is_temporary(loc) || self.is_idle_count(loc)
            }
            Op::Rmw { loc, .. } => self.is_in_library(step) && self.is_idle_count(loc),
            Op::Sync { cell, action } => {
                let is_entering = matches!(
                    action,
                    SyncAction::Lock { .. } | SyncAction::SemPost | SyncAction::SemTryWait
                );
                // A wake that nobody waits for is what the user did all the same.
                let is_lost = action == SyncAction::SemTryWait && step.value != 0;
                is_entering && self.names.is_queue(cell) && (!is_lost || self.is_in_library(step))
            }
            Op::AtomicBegin | Op::AtomicEnd => self.is_futex_call(index),
            Op::Fence { .. } => self.is_deep_in_library(step),
            Op::Detach { thread } => names.is_of_rust(thread),
            _ => false,
        }
    }

    /// Is it the beginning or the end of what a call does to a futex in one step?
    fn is_futex_call(&self, index: usize) -> bool {
        let steps = &self.trace.steps;
        match *self.program.op(steps[index].state) {
            Op::AtomicBegin => self.is_of_queue(steps[index + 1..].iter(), Op::AtomicEnd),
            Op::AtomicEnd => self.is_of_queue(steps[..index].iter().rev(), Op::AtomicBegin),
            _ => false,
        }
    }

    /// Is it a count of references that nobody looks at, of something that nothing is wrong with?
    fn is_idle_count(&self, loc: LocId) -> bool {
        self.accused != Some(self.names.tables().loc_info(loc).object)
            && self.names.is_count_of_arc(loc)
            && !self.counts_read.contains(&loc)
    }

    /// Is something done to such a queue, or are those in it notified, in an atomic block up to its other end?
    fn is_of_queue<'s>(&self, inside: impl Iterator<Item = &'s TraceStep>, end: Op) -> bool {
        let ops = inside.map(|step| *self.program.op(step.state));
        let mut ops = ops.take_while(|op| *op != end);
        ops.any(|op| match op {
            Op::Sync { cell, .. } => self.names.is_queue(cell),
            Op::Rmw { loc, .. } => self.names.rust_lock(loc).is_some(),
            _ => false,
        })
    }

    fn is_in_library(&self, step: &TraceStep) -> bool {
        self.has_positions && is_library(self.names.tables(), self.program.at(step.state))
    }

    /// Is it something that a library does by itself, with nothing of the user's on the stack?
    fn is_deep_in_library(&self, step: &TraceStep) -> bool {
        self.is_in_library(step) && !is_known(self.names.tables(), self.program.at(step.state))
    }

    /// Does the step read or write the table of an object's virtual functions, which no source shows?
    fn is_vtable(&self, step: &TraceStep) -> bool {
        let value = match *self.program.op(step.state) {
            Op::Load { .. } => step.value,
            Op::Store { value, .. } => value,
            _ => return false,
        };
        let tables = self.names.tables();
        tables
            .resolve(value)
            .is_some_and(|(object, _)| tables.object_info(object).name.starts_with("_ZTV"))
    }

    /// Does the store that the step does reach memory in the very next one, as if it were not delayed?
    fn is_prompt(&self, index: usize) -> bool {
        let next = self.trace.steps.get(index + 1);
        next.is_some_and(
            |next| matches!(next.effect, Effect::Flushed { store } if store as usize == index),
        )
    }

    /// The step in words.
    pub(crate) fn phrase(&self, index: usize) -> String {
        if let Some(value) = steps::value_chosen(self.program, &self.trace.steps, index) {
            return format!("choose {value}");
        }
        if self.is_futex_call(index) {
            return match *self.program.op(self.trace.steps[index].state) {
                Op::AtomicBegin => "futex {".to_owned(),
                _ => "} futex".to_owned(),
            };
        }
        let mut step = self.trace.steps[index].clone();
        if self.is_prompt(index) {
            step.effect = Effect::Whole;
        }
        steps::phrase(self.names, self.program, &step)
    }

    /// Does the step read memory, so that it makes sense to ask from where?
    pub(crate) fn reads(&self, index: usize) -> bool {
        matches!(
            self.program.op(self.trace.steps[index].state),
            Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. }
        )
    }

    /// How often another thread goes on than the one before. A delayed store that reaches memory needs no thread.
    pub(crate) fn switches(&self) -> usize {
        let runs = |step: &&TraceStep| !matches!(step.effect, Effect::Flushed { .. });
        let threads: Vec<ThreadId> = self
            .trace
            .steps
            .iter()
            .filter(runs)
            .map(|step| step.thread)
            .collect();
        threads.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
}

/// The place in memory that an operation works on; synchronisation objects are none.
pub(crate) fn location(op: &Op) -> Option<LocId> {
    match *op {
        Op::Load { loc, .. }
        | Op::Store { loc, .. }
        | Op::Rmw { loc, .. }
        | Op::Cas { loc, .. } => Some(loc),
        _ => None,
    }
}

/// The execution up to the fault. What memory refuses to do is the last step of its trace, with no result to show.
pub(crate) fn before_fault(violation: &Violation) -> Trace {
    let refused = matches!(
        &violation.kind,
        ViolationKind::Fault(
            Fault::UseAfterFree { .. } | Fault::DoubleFree { .. } | Fault::Misuse { .. }
        )
    );
    let mut trace = violation.trace.clone();
    if refused
        && trace
            .steps
            .last()
            .is_some_and(|last| last.thread == violation.thread)
    {
        trace.steps.pop();
    }
    trace
}

/// The last step of `main` in a violation that comes after `main` has returned.
pub(crate) fn main_returned(program: &Program, violation: &Violation) -> Option<usize> {
    let steps = &before_fault(violation).steps;
    let last = steps
        .iter()
        .rposition(|step| step.thread == ThreadId::MAIN)?;
    let after = program.known_after(steps[last].state, steps[last].value)?;
    let is_last_word = match violation.kind {
        ViolationKind::Race(_) => last + 1 == steps.len(),
        ViolationKind::Fault(_) => violation.thread == ThreadId::MAIN,
        ViolationKind::Deadlock { .. } | ViolationKind::Livelock { .. } => false,
    };
    (program.is_return_from_main(after) && !is_last_word).then_some(last)
}

/// The object whose lifetime explains a fault.
pub(crate) fn accused(kind: &ViolationKind) -> Option<ObjectId> {
    match kind {
        ViolationKind::Fault(
            Fault::UseAfterFree { object, .. }
            | Fault::DoubleFree { object }
            | Fault::OutOfBounds { object, .. },
        ) => Some(*object),
        ViolationKind::Fault(Fault::InvalidFree { object, .. }) => *object,
        _ => None,
    }
}
