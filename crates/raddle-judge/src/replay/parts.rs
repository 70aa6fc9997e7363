//! Parts of executions that are graphs: some of the operations are left out, and what is read and written where is found anew.
//!
//! A thread of which operations are left out gets less far and may do something else. What is kept of it stays as close to the whole as can be:
//! who read from an operation that is left out reads what comes before that in the modification order, and who accesses another location than in
//! the whole sees what is last there. Whether that is an execution is for the axioms to say.

use super::placed::{Did, GraphRun, location};
use super::{Schedule, ScheduleStep};
use raddle_memory::axioms::{self, EventId, Place, PlainAccesses, Reads};
use raddle_memory::{Machine, MemoryModel, RaceInfo};
use raddle_program::{Fault, LocId, Op, Order, Program, SrcId, ThreadId};

/// An execution that parts can be taken of.
pub(crate) struct Whole {
    run: GraphRun,
    schedule: Schedule,
}

impl Whole {
    /// None if there is no such execution.
    pub(crate) fn of(
        program: &mut Program,
        schedule: &Schedule,
        plain: PlainAccesses,
    ) -> Option<Self> {
        let mut run = GraphRun::new(program, plain);
        for step in &schedule.steps {
            run.step(program, step).ok()?;
        }
        Some(Self {
            run,
            schedule: schedule.clone(),
        })
    }
}

/// A part of an execution that is being run.
pub(crate) struct Part<'a> {
    whole: &'a Whole,
    run: GraphRun,
    schedule: Schedule,
    /// By step of the whole, that of the part.
    numbers: Vec<Option<u32>>,
}

impl<'a> Part<'a> {
    pub(crate) fn new(program: &Program, whole: &'a Whole, plain: PlainAccesses) -> Self {
        Self {
            run: GraphRun::new(program, plain),
            schedule: Schedule {
                memory: MemoryModel::C11,
                steps: Vec::new(),
            },
            numbers: vec![None; whole.schedule.steps.len()],
            whole,
        }
    }

    /// Lets the thread of a step of the whole do its next operation; says whose and where it was. None if it cannot be done.
    pub(crate) fn step(
        &mut self,
        program: &mut Program,
        index: usize,
    ) -> Option<(ThreadId, SrcId)> {
        let ScheduleStep::Place {
            thread, choices, ..
        } = &self.whole.schedule.steps[index]
        else {
            return None;
        };
        let state = self.run.state_of(*thread)?;
        let (op, did) = (*program.op(state), &self.whole.run.steps[index]);
        let is_same = location(op) == location(*program.op(did.state));
        let step = ScheduleStep::Place {
            thread: *thread,
            choices: choices.clone(),
            reads: self.source(program, op, index, is_same),
            after: self.place(op, did, is_same),
        };
        self.run.step(program, &step).ok()?;
        self.numbers[index] = Some(self.schedule.steps.len() as u32);
        let at = (*thread, program.at(state));
        self.schedule.steps.push(step);
        Some(at)
    }

    /// The step that an operation reads from.
    fn source(&self, program: &Program, op: Op, index: usize, is_same: bool) -> Option<u32> {
        let (loc, is_update, order) = match op {
            Op::Load { loc, order } => (loc, false, order),
            Op::Rmw { loc, order, .. } => (loc, true, order),
            Op::Cas { loc, success, .. } => (loc, true, success),
            Op::Sync { cell, .. } => (cell, true, Order::SeqCst),
            _ => return None,
        };
        let did = &self.whole.run.steps[index];
        let ScheduleStep::Place { reads, .. } = self.whole.schedule.steps[index] else {
            return None;
        };
        let can_race = self.run.graph.plain == PlainAccesses::Race;
        // Nothing is said: what the thread knows of.
        if program.tables().loc_info(loc).mixed || order == Order::Plain && can_race {
            let number = reads.filter(|_| is_same);
            return number.and_then(|number| self.numbers[number as usize]);
        }
        let Some(Reads::One(source)) = is_same.then_some(&did.reads) else {
            return self.last(loc);
        };
        let Some(source) = *source else {
            return match is_update {
                true => self.last(loc),
                false => None,
            };
        };
        let source = self.kept_before(loc, source);
        let is_taken = is_update && source.is_none_or(|source| self.is_updated(loc, source));
        if is_taken { self.last(loc) } else { source }
    }

    /// The step behind whose write a store goes.
    fn place(&self, op: Op, did: &Did, is_same: bool) -> Option<u32> {
        let Op::Store { loc, .. } = op else {
            return None;
        };
        if !is_same {
            return self.last(loc);
        }
        let number_of = |event: EventId| self.numbers[self.whole.run.of_event[event]];
        let before = self.whole.run.right_behind(did.event, number_of);
        before.filter(|&step| self.run.write_of(step, Place::Loc(loc)).is_some())
    }

    /// The step that wrote what an event of the whole did, or, if that is left out, what comes before it in the modification order.
    fn kept_before(&self, loc: LocId, event: EventId) -> Option<u32> {
        let whole = &self.whole.run;
        let order = whole.graph.modification.get(&Place::Loc(loc))?;
        let position = order.iter().position(|&write| write == event)?;
        let mut earlier = order[..=position].iter().rev();
        let kept = earlier.find_map(|&write| self.numbers[whole.of_event[write]])?;
        self.run.write_of(kept, Place::Loc(loc)).map(|_| kept)
    }

    /// Does something come right behind the write of a step that read it?
    fn is_updated(&self, loc: LocId, step: u32) -> bool {
        let graph = &self.run.graph;
        let Some(order) = graph.modification.get(&Place::Loc(loc)) else {
            return false;
        };
        let is_its = |&write: &EventId| self.run.of_event[write] == step as usize;
        let position = order.iter().rposition(is_its);
        let next = position.and_then(|position| order.get(position + 1));
        next.is_some_and(|&next| {
            graph.cell(next).is_some()
                || graph.memory(next).is_some_and(|access| access.is_update())
        })
    }

    fn last(&self, loc: LocId) -> Option<u32> {
        let last = self.run.graph.last_write(Place::Loc(loc))?;
        Some(self.run.of_event[last] as u32)
    }

    /// What memory found wrong with the last step.
    pub(crate) fn last_faults(&self) -> impl Iterator<Item = &Fault> {
        self.run.faults_of(self.run.steps.len().wrapping_sub(1))
    }

    pub(crate) fn machine(&mut self) -> &mut Machine {
        self.run.machine()
    }

    /// The data races of the part, if it is an execution.
    pub(crate) fn judge(&self, program: &Program) -> Option<Vec<RaceInfo>> {
        let judged = axioms::judge(&self.run.graph).ok()?;
        Some(self.run.races(program, &judged.happens_before))
    }

    /// The part as a whole.
    pub(crate) fn finish(self) -> (Schedule, Whole) {
        let whole = Whole {
            run: self.run,
            schedule: self.schedule.clone(),
        };
        (self.schedule, whole)
    }
}
