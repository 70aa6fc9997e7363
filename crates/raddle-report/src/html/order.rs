//! The orders of an execution that arrows are drawn for.

use raddle_judge::{Effect, TraceStep};
use raddle_program::{LocId, Op, Order as Ordering, Program, SyncAction, ThreadId};
use std::collections::BTreeMap;

/// The arrows that end in one step.
#[derive(Default)]
pub(super) struct Relations {
    /// The last write to the same place before this one.
    pub(super) co: Option<usize>,
    /// Steps of other threads that synchronise with this one.
    pub(super) hb: Vec<usize>,
}

/// Follows an execution from its start.
pub(super) struct Order<'a> {
    program: &'a Program,
    writers: BTreeMap<LocId, usize>,
    /// The step that starts a thread which has not done anything yet.
    starts: BTreeMap<ThreadId, usize>,
    /// The last step of each thread.
    latest: BTreeMap<ThreadId, usize>,
    /// The last operation on each synchronisation object.
    synchronised: BTreeMap<LocId, (ThreadId, usize)>,
    /// The last release fence of each thread.
    fences: BTreeMap<ThreadId, usize>,
    /// What relaxed reads of each thread will have synchronised with at its next acquire fence.
    pending: BTreeMap<ThreadId, Vec<usize>>,
    /// For each write what a read of it synchronises with: the release that it is or continues.
    releases: BTreeMap<usize, Vec<usize>>,
}

impl<'a> Order<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        Self {
            program,
            writers: BTreeMap::new(),
            starts: BTreeMap::new(),
            latest: BTreeMap::new(),
            synchronised: BTreeMap::new(),
            fences: BTreeMap::new(),
            pending: BTreeMap::new(),
            releases: BTreeMap::new(),
        }
    }

    pub(super) fn step(&mut self, index: usize, step: &TraceStep) -> Relations {
        let mut relations = Relations::default();
        if let (true, Some((loc, _))) = (step.effect != Effect::Delayed, step.wrote) {
            // Under C11 what is done later may come earlier.
            match step.older_than {
                Some(_) => {}
                None => relations.co = self.writers.insert(loc, index),
            }
        }
        // That a delayed store reaches memory is no step of its thread.
        if matches!(step.effect, Effect::Flushed { .. }) {
            return relations;
        }
        let thread = step.thread;
        let mut before: Vec<usize> = self.starts.remove(&thread).into_iter().collect();
        self.synchronise(index, step, &mut before);
        self.latest.insert(thread, index);
        before.sort_unstable();
        before.dedup();
        relations.hb = before;
        relations
    }

    fn synchronise(&mut self, index: usize, step: &TraceStep, before: &mut Vec<usize>) {
        let thread = step.thread;
        match *self.program.op(step.state) {
            Op::Spawn { child, .. } => {
                self.starts.insert(child, index);
            }
            Op::Join { thread: joined } => {
                let last = self.latest.get(&joined).or(self.starts.get(&joined));
                before.extend(last);
            }
            Op::Sync { cell, action } => {
                self.touch(cell, thread, index, before);
                if let SyncAction::CondRelease { mutex } = action {
                    self.touch(mutex, thread, index, before);
                }
            }
            Op::Fence { order } => {
                if order.acquires() {
                    before.extend(self.pending.remove(&thread).unwrap_or_default());
                }
                if order.releases() {
                    self.fences.insert(thread, index);
                }
            }
            Op::Load { order, .. } => self.read(step, order, before),
            Op::Store { order, .. } => self.write(index, thread, order, Vec::new()),
            Op::Rmw { order, .. } => self.update(index, step, order, before),
            Op::Cas {
                success, failure, ..
            } => match step.wrote {
                Some(_) => self.update(index, step, success, before),
                None => self.read(step, failure, before),
            },
            _ => {}
        }
    }

    fn touch(&mut self, cell: LocId, thread: ThreadId, index: usize, before: &mut Vec<usize>) {
        if let Some((other, last)) = self.synchronised.insert(cell, (thread, index))
            && other != thread
        {
            before.push(last);
        }
    }

    fn read(&mut self, step: &TraceStep, order: Ordering, before: &mut Vec<usize>) {
        let Some(releases) = step.reads_from.and_then(|from| self.releases.get(&from)) else {
            return;
        };
        if order.acquires() {
            before.extend(releases);
        } else if order.is_atomic() {
            let pending = self.pending.entry(step.thread).or_default();
            pending.extend(releases);
        }
    }

    fn write(&mut self, index: usize, thread: ThreadId, order: Ordering, continued: Vec<usize>) {
        let mut releases = continued;
        if order.releases() {
            releases.push(index);
        } else if order.is_atomic() {
            releases.extend(self.fences.get(&thread));
        }
        if !releases.is_empty() {
            self.releases.insert(index, releases);
        }
    }

    /// A read-modify-write goes on with the release that it reads from.
    fn update(&mut self, index: usize, step: &TraceStep, order: Ordering, before: &mut Vec<usize>) {
        self.read(step, order, before);
        let from = step.reads_from.and_then(|from| self.releases.get(&from));
        let continued = from.cloned().unwrap_or_default();
        self.write(index, step.thread, order, continued);
    }
}
