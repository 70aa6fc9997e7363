//! Seeds: interleavings of the events of one execution in which a read gets a value of another class, or in which threads
//! wait for good. Section 3.4 of the paper, with what is known taken into account.
//!
//! A seed is an interleaving of some events of the execution, and one read that gets something else. It is of interest only
//! if no known execution has these very paths; so it is a new one, whatever follows. For every read and class, seeds are
//! looked for until every interleaving that gives the read this class is part of a known execution or of a seed.

use super::encode::Encoding;
use super::model::{Index, Model, ModelEvent, Target, Waits, trimmed};
use super::paths::{Class, Node, Paths, Vector, common};
use super::races;
use raddle_order::{EventId, Limits, Lit, Outcome};
use raddle_program::{SrcId, Value};
use rustc_hash::FxHashSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// One event of a seed: who acts, and what it chooses.
pub(super) type Step = (u32, Vec<u32>);

#[derive(Debug)]
pub(super) struct Seed {
    pub(super) steps: Vec<Step>,
    pub(super) kind: SeedKind,
}

#[derive(Debug)]
pub(super) enum SeedKind {
    /// A read gets another class.
    Read {
        /// The path of its thread before it.
        before: Node,
        class: Class,
        /// Paths of other threads: thread, length, last node.
        parts: Vec<(u32, u32, Node)>,
        is_fault: bool,
    },
    /// Threads wait for good; the execution is this one.
    Stuck(Vector),
}

/// A race that was found in the model.
pub(super) struct PredictedRace {
    pub(super) steps: Vec<Step>,
}

#[derive(Default)]
pub(super) struct Solved {
    pub(super) seeds: Vec<Seed>,
    pub(super) races: Vec<PredictedRace>,
    pub(super) queries: u64,
    /// A limit was reached: there may be more.
    pub(super) stopped: bool,
}

/// What a model is solved with.
pub(super) struct Context<'a> {
    pub(super) paths: &'a Paths,
    pub(super) limits: Limits<'a>,
    /// Places of races that are known.
    pub(super) known_races: &'a FxHashSet<(SrcId, SrcId)>,
    /// Nobody wants to know any more.
    pub(super) cancelled: &'a AtomicBool,
}

/// All seeds of a model, and the races in it.
pub(super) fn solve(model: &Model, context: &Context<'_>) -> Solved {
    let mut solved = Solved::default();
    if !has_targets(model) && model.pairs.is_empty() && !can_be_stuck(model) {
        return solved;
    }
    let mut query = Query {
        encoding: Encoding::new(model),
        context,
        solved: &mut solved,
    };
    query.targets();
    if can_be_stuck(model) {
        query.stuck();
    }
    races::find(&mut query);
    solved
}

fn has_targets(model: &Model) -> bool {
    let mut events = model.events.iter().chain(&model.pending);
    events.any(|event| event.reads.iter().any(|read| !read.targets.is_empty()))
}

impl ModelEvent {
    pub(super) fn can_wait(&self) -> bool {
        !matches!(self.waits, Waits::Never)
    }
}

/// Could a thread wait where it did not?
fn can_be_stuck(model: &Model) -> bool {
    model.events.iter().any(ModelEvent::can_wait)
}

/// Questions about one model.
pub(super) struct Query<'a> {
    pub(super) encoding: Encoding<'a>,
    pub(super) context: &'a Context<'a>,
    pub(super) solved: &'a mut Solved,
}

impl<'a> Query<'a> {
    pub(super) fn model(&self) -> &'a Model {
        self.encoding.model
    }

    /// Is there an interleaving with these?
    pub(super) fn ask(&mut self, assumptions: &[Lit]) -> bool {
        if self.context.cancelled.load(Ordering::Relaxed) {
            self.solved.stopped = true;
            return false;
        }
        self.solved.queries += 1;
        let encoding = &mut self.encoding;
        // What can be included should be.
        for &lit in &encoding.included {
            if !lit.is_constant() {
                encoding.solver.set_phase(lit);
            }
        }
        match encoding.solver.solve(assumptions, &self.context.limits) {
            Outcome::Sat => true,
            Outcome::Unsat => false,
            Outcome::Unknown(_) => {
                self.solved.stopped = true;
                false
            }
        }
    }

    // ---- reads

    /// Algorithm 2.
    fn targets(&mut self) {
        let model = self.model();
        let events = (0..).zip(&model.events).map(|(i, event)| (Some(i), event));
        let pending = model.pending.iter().map(|event| (None, event));
        for (index, event) in events.chain(pending) {
            for (read, model_read) in event.reads.iter().enumerate() {
                for target in &model_read.targets {
                    self.target(index, event, read, target);
                    if self.solved.stopped {
                        return;
                    }
                }
            }
        }
    }

    fn target(&mut self, index: Option<Index>, event: &ModelEvent, read: usize, target: &Target) {
        let before = event.reads[read].before;
        let mut covers = Vec::new();
        let node = self.context.paths.find_child(before, target.class);
        if let Some(node) = node {
            match self.covers(event.thread, node) {
                Some(found) => covers = found,
                None => return,
            }
        }
        let Some((active, extra)) = self.force(index, event, read, target) else {
            return;
        };
        for cover in covers {
            self.not_within(active, event.thread, &cover);
        }
        let mut assumptions = vec![active, self.encoding.included_before(event)];
        if let Some(index) = index {
            assumptions.push(!self.encoding.included[index as usize]);
        }
        while self.ask(&assumptions) {
            let lengths = self.lengths();
            let parts = self.parts(event.thread, &lengths);
            let is_known = node.is_some_and(|node| self.context.paths.is_covered(node, &parts));
            let full = !self.not_within(active, event.thread, &lengths);
            if !is_known {
                let step = (event.thread, choices(event, read, target));
                let extra = extra.filter(|_| !target.may_write);
                let steps = self.interleaving(Some((extra, event, step)));
                self.solved.seeds.push(Seed {
                    steps,
                    kind: SeedKind::Read {
                        before,
                        class: target.class,
                        parts,
                        is_fault: target.is_fault,
                    },
                });
            }
            if full {
                break;
            }
        }
        // Never asked again.
        self.encoding.solver.clause(&[!active]);
    }

    /// How far the known executions through `node` go with this one, thread by thread. None if one goes all the way, with
    /// all threads but `thread`: then everything is known.
    fn covers(&self, thread: u32, node: Node) -> Option<Vec<Vec<u32>>> {
        /// Those that go far are enough: what the others cover is found out when it is met.
        const MOST: usize = 16;
        const LOOKED_AT: usize = 128;
        let model = self.model();
        let paths = self.context.paths;
        if paths.has_neighbour(&model.vector, thread as usize, node) {
            return None;
        }
        let mut covers: Vec<Vec<u32>> = Vec::new();
        for &execution in paths.through(node).iter().rev().take(LOOKED_AT) {
            let mut all = true;
            let cover: Vec<u32> = (0..)
                .zip(model.vector.iter())
                .map(|(other, path)| {
                    let shared = common(path, paths.path(execution, other as usize));
                    all &= other == thread || shared == path.len();
                    shared as u32
                })
                .collect();
            if all {
                return None;
            }
            let within = |a: &[u32], b: &[u32]| a.iter().zip(b).all(|(a, b)| a <= b);
            if covers.iter().any(|other| within(&cover, other)) {
                continue;
            }
            covers.retain(|other| !within(other, &cover));
            if covers.len() < MOST {
                covers.push(cover);
            }
        }
        Some(covers)
    }

    /// While `active` holds, some thread other than `thread` goes further than so many reads. False if none can.
    fn not_within(&mut self, active: Lit, thread: u32, lengths: &[u32]) -> bool {
        let mut clause = vec![!active];
        for (index, event) in self.model().events.iter().enumerate() {
            let length = lengths.get(event.thread as usize).copied().unwrap_or(0);
            if event.thread != thread && event.depth.0 <= length && length < event.depth.1 {
                clause.push(self.encoding.included[index]);
            }
        }
        self.encoding.solver.clause(&clause);
        clause.len() > 1
    }

    /// The lengths of the paths of all threads in the last interleaving.
    fn lengths(&self) -> Vec<u32> {
        let model = self.model();
        let mut lengths = vec![0; model.vector.len()];
        for (event, &included) in model.events.iter().zip(&self.encoding.included) {
            let thread = event.thread as usize;
            if thread < lengths.len() && self.encoding.solver.value(included) {
                lengths[thread] = lengths[thread].max(event.depth.1);
            }
        }
        lengths
    }

    fn parts(&self, thread: u32, lengths: &[u32]) -> Vec<(u32, u32, Node)> {
        let model = self.model();
        (0..)
            .zip(lengths)
            .filter(|&(other, &length)| other != thread && length > 0)
            .map(|(other, &length)| {
                let node = model.vector[other as usize][length as usize - 1];
                (other, length, node)
            })
            .collect()
    }

    /// Adds the read that gets a value of another class: the literal that demands it, and its event. None if nobody writes
    /// such a value.
    fn force(
        &mut self,
        index: Option<Index>,
        event: &ModelEvent,
        read: usize,
        target: &Target,
    ) -> Option<(Lit, Option<EventId>)> {
        let wanted = |position: usize| -> &[Value] {
            if position == read {
                &target.values
            } else {
                &event.reads[position].allowed
            }
        };
        let mut all_sources = Vec::new();
        for (position, model_read) in event.reads[..=read].iter().enumerate() {
            let Some(cell) = model_read.cell else {
                continue;
            };
            let sources = self
                .encoding
                .sources(cell, wanted(position), (index, event));
            if sources.is_empty() {
                return None;
            }
            all_sources.push((cell, sources));
        }
        if let Some((cell, values)) = &target.goes_on_with {
            let sources = self.encoding.sources(*cell, values, (index, event));
            if sources.is_empty() {
                return None;
            }
            all_sources.push((*cell, sources));
        }
        let active = self.encoding.solver.new_lit();
        let subs: Vec<EventId> = all_sources
            .iter()
            .map(|_| self.encoding.new_event(None))
            .collect();
        self.encoding.add_extra(event, &subs, target.may_write);
        for ((cell, sources), &sub) in all_sources.iter().zip(&subs) {
            self.encoding.read_some(active, *cell, sub, sources);
        }
        Some((active, subs.first().copied()))
    }

    // ---- interleavings

    /// The events of the last interleaving in order. `extra`: the event that is not in the trace, and where it stands if that
    /// is not the end.
    pub(super) fn interleaving(
        &self,
        extra: Option<(Option<EventId>, &ModelEvent, Step)>,
    ) -> Vec<Step> {
        let encoding = &self.encoding;
        let mut emission = Emission {
            model: encoding.model,
            done: vec![false; encoding.model.events.len()],
            steps: Vec::new(),
        };
        let is_included = |index: Index| encoding.solver.value(encoding.included[index as usize]);
        let mut extra = extra;
        for event in encoding.solver.execution(encoding.graph) {
            match encoding.owner[event.index()] {
                Some(index) if is_included(index) => emission.emit(index),
                Some(_) => {}
                None => {
                    if let Some((place, model_event, step)) =
                        extra.take_if(|(place, ..)| *place == Some(event))
                    {
                        debug_assert!(place.is_some());
                        emission.emit_before(model_event);
                        emission.steps.push(step);
                    }
                }
            }
        }
        for index in 0..encoding.model.events.len() as Index {
            if is_included(index) {
                emission.emit(index);
            }
        }
        if let Some((_, model_event, step)) = extra {
            emission.emit_before(model_event);
            emission.steps.push(step);
        }
        emission.steps
    }

    // ---- waiting for good

    /// Executions that are part of this one, in which all threads have ended or wait.
    fn stuck(&mut self) {
        let model = self.model();
        let active = self.encoding.solver.new_lit();
        let mut leaves_out = vec![!active];
        for (index, event) in model.events.iter().enumerate() {
            let included = self.encoding.included[index];
            if event.can_wait() {
                leaves_out.push(!included);
            }
            self.must_wait(active, event, included);
        }
        for event in &model.pending {
            self.must_wait(active, event, Lit::FALSE);
        }
        self.encoding.solver.clause(&leaves_out);
        while self.ask(&[active]) {
            let lengths = self.lengths();
            let paths = (0..).zip(&lengths).map(|(thread, &length): (usize, _)| {
                Box::from(&model.vector[thread][..length as usize])
            });
            let vector = trimmed(paths.collect());
            if !self.context.paths.is_known(&vector) {
                let steps = self.interleaving(None);
                self.solved.seeds.push(Seed {
                    steps,
                    kind: SeedKind::Stuck(vector),
                });
            }
            self.not_exactly(active);
        }
        self.encoding.solver.clause(&[!active]);
    }

    /// If the thread stops before `event`, that is because it has to wait.
    fn must_wait(&mut self, active: Lit, event: &ModelEvent, included: Lit) {
        let stops = [!active, !self.encoding.included_before(event), included];
        match &event.waits {
            Waits::Never => self.encoding.solver.clause(&stops),
            Waits::Until(None) => {}
            Waits::Until(Some(last)) => {
                let mut clause = stops.to_vec();
                clause.push(!self.encoding.included[*last as usize]);
                self.encoding.solver.clause(&clause);
            }
            Waits::While(conditions) => {
                for (cell, values) in conditions {
                    let mut clause = stops.to_vec();
                    let model_cell = &self.model().cells[*cell as usize];
                    if values.contains(&model_cell.initial) {
                        clause.push(self.encoding.is_final(*cell, None));
                    }
                    for (position, (_, value)) in model_cell.writes.iter().enumerate() {
                        if values.contains(value) {
                            clause.push(self.encoding.is_final(*cell, Some(position)));
                        }
                    }
                    self.encoding.solver.clause(&clause);
                }
            }
        }
    }

    /// While `active` holds, other events are included than in the last interleaving.
    fn not_exactly(&mut self, active: Lit) {
        let encoding = &mut self.encoding;
        let mut clause = vec![!active];
        for &lit in &encoding.included {
            if !lit.is_constant() {
                clause.push(lit.with_sign(!encoding.solver.value(lit)));
            }
        }
        encoding.solver.clause(&clause);
    }
}

/// The choices of an event up to a read that gets another class.
fn choices(event: &ModelEvent, read: usize, target: &Target) -> Vec<u32> {
    let earlier = event.reads[..read].iter().filter(|read| read.is_choice);
    let mut choices = event.choices[..earlier.count()].to_vec();
    if event.reads[read].is_choice {
        choices.extend(target.values.first().map(|&value| value as u32));
    }
    choices
}

/// Puts events in an order that respects threads.
struct Emission<'a> {
    model: &'a Model,
    done: Vec<bool>,
    steps: Vec<Step>,
}

impl Emission<'_> {
    fn emit_before(&mut self, event: &ModelEvent) {
        if let Some(parent) = event.parent {
            self.emit(parent);
        }
    }

    /// Adds an event after what must come before it.
    fn emit(&mut self, index: Index) {
        let mut missing = Vec::new();
        let mut next = Some(index);
        while let Some(event) = next.filter(|&event| !self.done[event as usize]) {
            missing.push(event);
            next = self.model.events[event as usize].parent;
        }
        for event in missing.into_iter().rev() {
            let ModelEvent {
                thread,
                choices,
                after,
                ..
            } = &self.model.events[event as usize];
            for &joined in after {
                self.emit(joined);
            }
            if !std::mem::replace(&mut self.done[event as usize], true) {
                self.steps.push((*thread, choices.clone()));
            }
        }
    }
}
