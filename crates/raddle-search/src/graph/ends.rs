//! What becomes of a graph: its end, and the schedule that a violation is reproduced by.

use super::Search;
use super::event::{Ev, Event, Kind, Place};
use super::flushes;
use super::store::{Graph, Halt};
use crate::frame::Frame;
use crate::replay::{Schedule, ScheduleStep};
use raddle_memory::MemoryModel;
use raddle_program::{LocId, Op, Program, ThreadId};
use std::ops::ControlFlow;

/// Which step of a schedule each event is part of.
pub(super) struct Steps {
    by_thread: Vec<Vec<u32>>,
    /// The events at fault that are steps, if not all of them are. What is at fault publishes nothing, and is the last of its thread.
    faults: Option<[Ev; 2]>,
    /// May the order of additions follow from what fences behind them learn? Elsewhere nobody asks what is known.
    orders_additions: bool,
}

impl Steps {
    fn new(graph: &Graph, model: MemoryModel, faults: Option<[Ev; 2]>) -> Self {
        Self {
            by_thread: vec![Vec::new(); graph.threads.len()],
            faults,
            orders_additions: model == MemoryModel::C11,
        }
    }

    /// Is the event no step of the schedule?
    fn leaves_out(&self, graph: &Graph, event: Ev) -> bool {
        let e = graph.event(event);
        let is_left = |faults: &[Ev; 2]| !faults.contains(&event);
        e.is_refused || e.is_fault && self.faults.as_ref().is_some_and(is_left)
    }

    /// The first event of a step.
    pub(super) fn event_of(&self, thread: usize, step: usize) -> Option<Ev> {
        let steps = &self.by_thread[thread];
        let index = steps.partition_point(|&other| (other as usize) < step);
        (steps.get(index) == Some(&(step as u32))).then(|| Ev::new(thread, index))
    }

    pub(super) fn of(&self, event: Ev) -> usize {
        self.by_thread[event.of()][event.at()] as usize
    }

    pub(super) fn has(&self, event: Ev) -> bool {
        !event.is_event() || event.at() < self.by_thread[event.of()].len()
    }

    /// The first event of the next step of a thread that does not wait.
    pub(super) fn next(&self, graph: &Graph, thread: usize) -> Option<Ev> {
        let events = graph.threads[thread].events.iter().enumerate();
        let mut rest = events.skip(self.count(thread));
        let (index, _) = rest.find(|(_, event)| !event.waits())?;
        let next = Ev::new(thread, index);
        (!self.leaves_out(graph, next)).then_some(next)
    }

    /// If a write is an addition: of those that it stands among, the last in the order of steps.
    fn last_addition(&self, graph: &Graph, place: Place, write: Ev) -> Ev {
        if !graph.event(write).is_addition {
            return write;
        }
        let writes = graph.writes(place);
        let at = graph.position(place, write) - 1;
        let is_one = |other: &&Ev| graph.event(**other).is_addition;
        let before = writes[..at].iter().rev().take_while(is_one);
        let all = before.chain(writes[at..].iter().take_while(is_one));
        let told = all.copied().filter(|&other| self.has(other));
        told.max_by_key(|&other| self.of(other)).unwrap_or(write)
    }

    /// How many events of a thread are part of some step.
    pub(super) fn count(&self, thread: usize) -> usize {
        self.by_thread[thread].len()
    }
}

impl Search {
    /// No thread can go on.
    pub(super) fn ended(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        // Another graph has the thread going on.
        for thread in 0..self.graph.threads.len() {
            if let Some(read) = self.waiting_read(thread)
                && self.waits_in_vain(program, read)
            {
                return ControlFlow::Continue(());
            }
        }
        let mut started = self.graph.started();
        let finished = started.all(|thread| {
            let cursor = self.graph.threads[thread.index()].cursor;
            cursor.halt == Halt::No && matches!(program.op(cursor.state), Op::Exit { .. })
        });
        drop(started);
        if finished {
            return frame.graph_complete();
        }
        self.set_scene(program);
        let machine = &mut self.rules.machine;
        let (graph, judge) = (&self.graph, &self.judge);
        frame.graph_blocked(program, machine, |program| {
            linearise(graph, (judge.memory, judge.memory), program, None).0
        })
    }

    /// Lets the machine see what threads that wait will see in the end: the last writes.
    fn set_scene(&mut self, program: &Program) {
        let graph = &self.graph;
        let threads = graph.threads.iter().enumerate().map(|(index, thread)| {
            let claimed = graph.claimed[index];
            let claim = match claimed.is_event() {
                true => Some(*program.op(graph.event(claimed).state)),
                false => None,
            };
            let state = thread.is_started.then_some(thread.cursor.state);
            (state, claim, thread.cursor.halt == Halt::Fault)
        });
        let mut writes: Vec<(u32, LocId, u64)> = Vec::new();
        for (index, location) in graph.locations.iter().enumerate().skip(1) {
            let own = |write: &&Ev| graph.event(**write).place.index() == index;
            if let Some(&last) = location.writes.iter().rev().find(own) {
                let loc = LocId(index as u32 - 1);
                let value = graph.value_from(program, Place::of(loc), last);
                writes.push((graph.event(last).stamp, loc, value));
            }
        }
        writes.sort_unstable();
        let freed = graph.freed();
        let writes = writes.into_iter().map(|(_, loc, value)| (loc, value));
        self.rules
            .machine
            .set_scene(program, threads, writes, freed);
    }

    /// How to run the graph again.
    pub(super) fn schedule(&self, program: &mut Program) -> Schedule {
        self.linearised(program).0
    }

    /// How to run the graph again up to the last event of a thread, which is at fault. Where executions are sequences, a fault is that of their last
    /// step.
    pub(super) fn schedule_to_fault(&self, program: &mut Program, thread: usize) -> Schedule {
        let (mut schedule, steps) = self.linearised(program);
        if schedule.memory != MemoryModel::C11 && steps.count(thread) > 0 {
            let last = steps.of(Ev::new(thread, steps.count(thread) - 1));
            schedule.steps.truncate(last + 1);
        }
        schedule
    }

    pub(super) fn linearised(&self, program: &mut Program) -> (Schedule, Steps) {
        self.linearised_as(program, self.judge.memory)
    }

    /// The same, with the read at which a thread waits as the last step: it finds what is there. None if something that comes before it is no step.
    pub(super) fn linearised_with(
        &self,
        program: &mut Program,
        read: Ev,
    ) -> Option<(Schedule, Steps)> {
        let (mut schedule, mut steps) = self.linearised(program);
        let events = &self.graph.threads[read.of()].events[..=read.at()];
        let missing = events.get(steps.count(read.of())..)?;
        if !missing.iter().all(Event::waits) {
            return None;
        }
        let number = schedule.steps.len() as u32;
        steps.by_thread[read.of()].resize(events.len(), number);
        let thread = ThreadId::from_index(read.of());
        let choices = Vec::new();
        schedule.steps.push(match schedule.memory {
            MemoryModel::C11 => ScheduleStep::Place {
                thread,
                choices,
                reads: self.last_step_at(&steps, self.graph.event(read).place),
                after: None,
            },
            _ => ScheduleStep::Run { thread, choices },
        });
        Some((schedule, steps))
    }

    /// The step that wrote what a place holds in the end.
    fn last_step_at(&self, steps: &Steps, place: Place) -> Option<u32> {
        let graph = &self.graph;
        let is_told = |write: &&Ev| steps.has(**write) && graph.event(**write).place == place;
        let &last = graph.writes(place).iter().rev().find(is_told)?;
        Some(steps.of(steps.last_addition(graph, place, last)) as u32)
    }

    pub(super) fn linearised_as(
        &self,
        program: &mut Program,
        memory: MemoryModel,
    ) -> (Schedule, Steps) {
        linearise(&self.graph, (memory, self.judge.memory), program, None)
    }

    /// The same for a race of two events. What else is at fault is left out: the machine has no two halves of an operation that fails.
    pub(super) fn linearised_to_race(
        &self,
        program: &mut Program,
        of: [Ev; 2],
    ) -> (Schedule, Steps) {
        linearise(
            &self.graph,
            (self.judge.memory, self.judge.memory),
            program,
            Some(of),
        )
    }
}

/// The events of a graph one after the other, reads after what they read from. Of several that can come next, the one that was added first
/// does, but a free waits as long as others can go on that access the object without knowing of it: in an interleaving they would find it gone. The schedule is one
/// of the first memory model, the graph one of the second.
fn linearise(
    graph: &Graph,
    (memory, model): (MemoryModel, MemoryModel),
    program: &Program,
    faults: Option<[Ev; 2]>,
) -> (Schedule, Steps) {
    let mut steps = Steps::new(graph, model, faults);
    let mut schedule = Schedule {
        memory,
        steps: Vec::new(),
    };
    if memory.delays_stores() {
        flushes::linearise(graph, program, &mut schedule, &mut steps);
        return (schedule, steps);
    }
    loop {
        let ready = (0..graph.threads.len()).filter_map(|thread| {
            let this = steps.next(graph, thread)?;
            let event = graph.event(this);
            let is_ready = can_come(graph, program, &steps, this)
                && (memory != MemoryModel::Sc
                    || is_next_in_memory(graph, &steps, &|write| steps.has(write), this));
            is_ready.then(|| {
                (
                    frees_too_early(graph, program, &steps, this),
                    event.stamp,
                    thread,
                )
            })
        });
        let Some((_, _, thread)) = ready.min() else {
            return (schedule, steps);
        };
        emit(graph, program, thread, &mut schedule, &mut steps);
    }
}

/// Have all writes been made that come before this one, or before what this read reads from, and all reads that come before this write?
/// `is_made` says it of writes of other threads.
pub(super) fn is_next_in_memory(
    graph: &Graph,
    steps: &Steps,
    is_made: &dyn Fn(Ev) -> bool,
    event: Ev,
) -> bool {
    let events = &graph.threads[event.of()].events;
    let parts = events[event.at()..].iter().enumerate();
    let mut own = parts.take_while(|(index, part)| *index == 0 || part.part > 0 && !part.waits());
    own.all(|(index, part)| {
        let this = Ev::new(event.of(), event.at() + index);
        if part.is_addition {
            return true;
        }
        if part.kind != Kind::Write {
            return part.kind != Kind::Read
                || is_made(part.source)
                || part.source.thread == event.thread;
        }
        let position = graph.position(part.place, this);
        let earlier = graph.write_at(part.place, position - 1);
        let read = (0..graph.threads.len()).all(|thread| {
            let mut at = graph.last_here(part.place, thread);
            while let Some(other) = at {
                let o = graph.event(other);
                if o.kind == Kind::Read
                    && o.source == earlier
                    && !(other.thread == this.thread && other.index < this.index)
                    && !steps.has(other)
                    && !steps.leaves_out(graph, other)
                {
                    return false;
                }
                at = graph.before_here(other);
            }
            true
        });
        read && (is_made(earlier) || earlier.thread == event.thread)
    })
}

pub(super) fn can_come(graph: &Graph, program: &Program, steps: &Steps, event: Ev) -> bool {
    let e = graph.event(event);
    let thread = &graph.threads[event.of()];
    if steps.count(event.of()) == 0 && !steps.has(thread.started_by) {
        return false;
    }
    match e.kind {
        Kind::Read => {
            let mut additions = graph.additions_up_to(e.place, e.source).iter();
            steps.has(e.source) && additions.all(|&addition| steps.has(addition))
        }
        Kind::Write if e.is_addition && steps.orders_additions => {
            let mut others = graph.block_of(e.place, event).iter();
            others.all(|&other| steps.has(other) || !graph.comes_first(other, event))
        }
        Kind::Other => match *program.op(e.state) {
            Op::Join { thread } if !e.is_fault => {
                let target = thread.index();
                steps.by_thread[target].len() >= graph.threads[target].events.len()
            }
            // The free that it comes too late for.
            _ => steps.has(e.source),
        },
        _ => true,
    }
}

/// Does the event free an object that some event accesses which is no step yet, and which does not happen after it?
pub(super) fn frees_too_early(graph: &Graph, program: &Program, steps: &Steps, event: Ev) -> bool {
    let Op::Free { object } = *program.op(graph.event(event).state) else {
        return false;
    };
    graph.last_at_object(object.index()).any(|last| {
        let all = std::iter::successors(Some(last), |&at| graph.before_at_object(at));
        let mut left = all.take_while(|&access| !steps.has(access));
        last.thread != event.thread
            && left
                .any(|access| !graph.event(access).waits() && !graph.happens_before(event, access))
    })
}

/// The next operation of a thread, with all its parts.
pub(super) fn emit(
    graph: &Graph,
    program: &Program,
    thread: usize,
    schedule: &mut Schedule,
    steps: &mut Steps,
) {
    let events = &graph.threads[thread].events;
    let number = schedule.steps.len() as u32;
    let (mut reads, mut after, mut choices) = (None, None, Vec::new());
    let mut is_first = true;
    loop {
        let index = steps.by_thread[thread].len();
        let event = &events[index];
        match event.kind {
            // The second update of an operation follows from the first.
            Kind::Read if event.part == 0 && event.source.is_event() => {
                let source = steps.last_addition(graph, event.place, event.source);
                reads = Some(steps.of(source) as u32);
            }
            Kind::Write if event.part < 2 => {
                let place = event.place;
                let position = graph.position(place, Ev::new(thread, index));
                let writes = &graph.writes(place)[..position - 1];
                let is_told =
                    |write: &&Ev| steps.has(**write) && graph.event(**write).place == place;
                let this = Ev::new(thread, index);
                let before = match steps.last_addition(graph, place, this) {
                    addition if addition != this => Some(addition),
                    _ => {
                        let before = writes.iter().rev().find(is_told);
                        before.map(|&write| steps.last_addition(graph, place, write))
                    }
                };
                after = before.map(|write| steps.of(write) as u32);
                if event.is_addition {
                    reads = after;
                }
            }
            Kind::Other if matches!(program.op(event.state), Op::Choice { .. }) => {
                choices.push(event.value as u32);
            }
            _ => {}
        }
        debug_assert!(is_first || event.part > 0);
        is_first = is_first && event.waits();
        steps.by_thread[thread].push(number);
        let next = events.get(index + 1);
        let is_over = |next: &Event| !event.waits() && (next.part == 0 || next.waits());
        if next.is_none_or(is_over) {
            break;
        }
    }
    let thread = ThreadId::from_index(thread);
    schedule.steps.push(match schedule.memory {
        MemoryModel::C11 => ScheduleStep::Place {
            thread,
            choices,
            reads,
            after,
        },
        _ => ScheduleStep::Run { thread, choices },
    });
}
