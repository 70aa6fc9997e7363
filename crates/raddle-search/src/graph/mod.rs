//! `graph`: execution graphs under the memory model of C, C++ and Rust.
//!
//! The algorithm is TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: "Truly Stateless, Optimal Dynamic Partial Order Reduction",
//! POPL 2022). A graph grows by one event at a time, of the first thread that can go on. A read tries every write that it may read from; a
//! write tries every place in the modification order of its location, and also *revisits* earlier reads: such a read is made to read from the
//! write, and what was added after the read goes away, unless the write depends on it. Of all graphs that lead to the same one in that way, only the one
//! does in which all that goes away was added *maximally*. So each consistent graph is visited once, and nothing needs to be remembered
//! of graphs that were visited. `docs/engines/graph.md` has the deviations: threads that wait, mixed sizes, plain accesses.

mod additions;
mod bits;
mod buffered;
mod clocks;
mod counts;
mod ends;
mod event;
#[cfg(test)]
mod exact;
mod flushes;
mod knowledge;
mod model;
mod ops;
mod past;
mod pieces;
mod psc;
mod races;
mod reads;
mod revisit;
mod rounds;
mod stops;
mod store;
mod sync;
#[cfg(test)]
mod tests;
mod values;
mod writes;

use crate::driver::Reductions;
use crate::frame::Frame;
use crate::listener::Listener;
use crate::parallel::Turn;
use event::{Ev, Event, Kind, Place};
use model::Judge;
use ops::{Part, Rules};
use pieces::Guide;
use raddle_memory::{Machine, MemoryModel};
use raddle_program::{Fault, Misuse, Op, Program, ThreadId, Unsupported};
use rounds::Locks;
use std::ops::ControlFlow;
use store::{Cursor, Graph, Halt, Mark};

/// One way to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alternative {
    /// The thread's next event reads from this write.
    Read(Ev),
    /// It waits for another write than this one, which is the last.
    Wait(Ev),
    /// The thread's next event is a write right behind this one.
    Place(Ev),
    /// The same, and this read, which is there already, reads from it.
    Revisit {
        read: Ev,
        after: Ev,
    },
    Choose(u32),
    /// The thread's next event is an addition, and this one, which is there already, comes behind all others.
    Last(Ev),
}

/// A graph that is to be extended in several ways.
#[derive(Clone, Copy, Debug)]
struct Level {
    mark: Mark,
    thread: u32,
    /// The ways that are left are `Search::pool[first..]`, up to the next level's, the next one last.
    first: u32,
    /// The turns that lead here are `Search::path[..depth]`.
    depth: u32,
    /// How many ways there were, and the rank that the last one of those that are left does not reach.
    of: u32,
    end: u32,
}

/// What became of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Done,
    /// There is no such graph, or it need not be visited.
    Dropped,
}

/// The search.
pub(crate) struct Search {
    graph: Graph,
    rules: Rules,
    judge: Judge,
    levels: Vec<Level>,
    pool: Vec<Alternative>,
    /// The turns that lead to the present graph.
    path: Vec<Turn>,
    /// The present graph is done with.
    at_end: bool,
    guide: Guide,
    diverged: bool,
    notes: Vec<Vec<Turn>>,
    /// The threads in the order in which they go on: that of their names.
    order: Vec<u32>,
    /// Plain accesses are taken for relaxed ones: nobody looks for races.
    plain_is_relaxed: bool,
    /// Some addition was left in any order with others, or an iteration left out that takes a lock and gives it back.
    has_commuted: bool,
    locks: Locks,
    checks_uninit: bool,
}

/// Explores every consistent execution graph once.
pub(crate) fn explore(
    program: &mut Program,
    memory: MemoryModel,
    reductions: Reductions,
    frame: &mut Frame,
) -> ControlFlow<()> {
    Search::new(program, memory, reductions, frame).run(program, frame)
}

impl Search {
    fn new(program: &Program, memory: MemoryModel, reductions: Reductions, frame: &Frame) -> Self {
        let checks = frame.checks();
        Self {
            graph: Graph::new(program.main()),
            rules: Rules {
                machine: Machine::with_model(program, MemoryModel::C11),
                reductions,
            },
            judge: Judge::new(memory),
            levels: Vec::new(),
            pool: Vec::new(),
            path: Vec::new(),
            at_end: false,
            guide: Guide::Free,
            diverged: false,
            notes: Vec::new(),
            order: Vec::new(),
            plain_is_relaxed: !checks.races,
            has_commuted: false,
            locks: Locks::default(),
            checks_uninit: checks.uninit,
        }
    }

    /// Explores what is left. If it is stopped by the frame between two events or executions, it can be called again.
    pub(crate) fn run(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()> {
        loop {
            if !self.at_end {
                let step = match self.next(program) {
                    Some(thread) => self.extend(program, frame, thread),
                    // It should have come to its piece before.
                    None if self.is_on_the_way() => return ControlFlow::Continue(()),
                    None => {
                        self.at_end = true;
                        self.ended(program, frame).map_continue(|()| Step::Dropped)
                    }
                };
                if frame.has_note() {
                    self.note(frame);
                }
                if step? == Step::Done {
                    continue;
                }
            }
            if !self.backtrack(program, frame)? {
                frame.graphs_are_done();
                return ControlFlow::Continue(());
            }
            frame.explored(|| self.fraction());
        }
    }

    /// The thread whose next event is added: one in the middle of an operation, else one that has waited and can go on, else the first. An update whose
    /// read is there comes before a thread that waits goes on: what lets that one go on may be what the update reads from, and then it can wait
    /// for what comes after the update, too.
    fn next(&mut self, program: &mut Program) -> Option<usize> {
        let mut first = None;
        let mut waits = false;
        if self.order.len() != self.graph.threads.len() {
            self.order_threads(program);
        }
        for at in 0..self.order.len() {
            let thread = self.order[at] as usize;
            let Cursor { part, halt, .. } = self.graph.threads[thread].cursor;
            if !self.graph.threads[thread].is_started || halt != Halt::No {
                continue;
            }
            if self.waiting_read(thread).is_some() {
                waits = true;
            } else if part > 0 {
                return Some(thread);
            } else if first.is_none() && self.can_go_on(program, thread) {
                first = Some(thread);
            }
        }
        if waits {
            for at in 0..self.order.len() {
                let thread = self.order[at] as usize;
                let is_there = self.graph.threads[thread].is_started;
                if is_there
                    && self.graph.threads[thread].cursor.halt == Halt::No
                    && let Some(read) = self.waiting_read(thread)
                    && self.can_stop_waiting(program, read)
                {
                    return Some(thread);
                }
            }
        }
        first
    }

    /// The read at which a thread waits.
    fn waiting_read(&self, thread: usize) -> Option<Ev> {
        let events = &self.graph.threads[thread].events;
        let last = events.last()?;
        last.waits().then(|| Ev::new(thread, events.len() - 1))
    }

    fn can_go_on(&mut self, program: &mut Program, thread: usize) -> bool {
        let state = self.graph.threads[thread].cursor.state;
        match *program.op(state) {
            Op::Join { thread: target } => self.can_join(program, thread, target),
            ref op => !op.is_terminal(),
        }
    }

    fn can_join(&self, program: &Program, thread: usize, target: ThreadId) -> bool {
        match self.graph.threads.get(target.index()) {
            Some(other) if other.is_started && target.index() != thread => {
                let is_claimed = self.graph.claimed[target.index()] != Ev::NONE;
                let has_ended = matches!(program.op(other.cursor.state), Op::Exit { .. });
                is_claimed || other.cursor.halt == Halt::No && has_ended
            }
            // It is misuse, and does not wait.
            _ => true,
        }
    }

    /// Adds the next event of a thread.
    fn extend(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
    ) -> ControlFlow<(), Step> {
        frame.event(program, self.graph.count)?;
        let first = self.pool.len();
        if let Some(read) = self.waiting_read(thread) {
            self.offer_going_on(program, read);
            return self.branch(program, frame, thread, first);
        }
        let Cursor { state, part, .. } = self.graph.threads[thread].cursor;
        match ops::part(program, state, part) {
            // Others know what a block is under sequential consistency.
            Part::Read { place, .. }
                if place == Place::BLOCKS && self.judge.memory != MemoryModel::C11 =>
            {
                let what = Unsupported::Instruction {
                    what: "an atomic block, with engine graph under this memory model,".into(),
                };
                return self.refuse(program, frame, thread, what);
            }
            Part::Read { place, is_cell } => {
                if let Some(step) = self.extend_alone(program, frame, thread, place)? {
                    return ControlFlow::Continue(step);
                }
                if let Some(step) = self.extend_with_addition(program, frame, thread, place)? {
                    return ControlFlow::Continue(step);
                }
                self.offer_sources(program, thread, place, is_cell);
            }
            Part::Store { place, .. } => {
                if let Some(step) = self.extend_alone(program, frame, thread, place)? {
                    return ControlFlow::Continue(step);
                }
                self.meet_additions(program, thread, place)?;
                self.offer_places(program, thread, place, None);
            }
            Part::Update { place, .. } => {
                let index = self.graph.threads[thread].events.len();
                let source = self.graph.event(Ev::new(thread, index - 1)).source;
                self.offer_places(program, thread, place, Some(source));
            }
            Part::Other => {
                if let Op::Choice { count, .. } = *program.op(state) {
                    let choices = (0..count.max(1)).rev();
                    self.pool.extend(choices.map(Alternative::Choose));
                } else {
                    return self.act(program, frame, thread, 0);
                }
            }
        }
        self.branch(program, frame, thread, first)
    }

    /// Goes the first of the ways in the pool from `first` on, and keeps the others for later.
    fn branch(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        first: usize,
    ) -> ControlFlow<(), Step> {
        let of = self.pool.len().saturating_sub(first) as u32;
        let mut ranks = 0..of;
        if of > 1 && !self.is_free() {
            ranks = match self.guided(frame, of) {
                Some(ranks) => ranks,
                None => 0..0,
            };
            self.keep(first, of, &ranks);
        }
        if ranks.is_empty() {
            return ControlFlow::Continue(Step::Dropped);
        }
        let alternative = self.pool.pop().expect("there is a way that is left");
        if of > 1 {
            if ranks.len() > 1 {
                self.levels.push(Level {
                    mark: self.graph.mark(),
                    thread: thread as u32,
                    first: first as u32,
                    depth: self.path.len() as u32,
                    of,
                    end: ranks.end,
                });
            }
            let rank = ranks.start;
            self.path.push(Turn { rank, of });
        }
        self.go(program, frame, thread, alternative)
    }

    /// Goes back to the last graph with a way that is left, and goes it. False if there is none.
    fn backtrack(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<(), bool> {
        while let Some(&level) = self.levels.last() {
            let Level {
                mark,
                thread,
                first,
                depth,
                ..
            } = level;
            self.graph.undo_to(program, mark);
            let alternative = self.pool.pop().expect("a level has a way that is left");
            let left = self.pool.len() - first as usize;
            if left == 0 {
                self.levels.pop();
            }
            self.path.truncate(depth as usize);
            self.path.push(Self::turn(&level, left));
            self.at_end = false;
            frame.execution_begins();
            if self.go(program, frame, thread as usize, alternative)? == Step::Done {
                return ControlFlow::Continue(true);
            }
        }
        ControlFlow::Continue(false)
    }

    fn go(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        alternative: Alternative,
    ) -> ControlFlow<(), Step> {
        let step = match alternative {
            Alternative::Read(source) => self.read(program, frame, thread, source),
            Alternative::Wait(base) => self.wait(program, frame, thread, base),
            Alternative::Place(after) => self.write(program, frame, thread, after),
            Alternative::Revisit { read, after } => {
                self.revisit(program, frame, thread, read, after)
            }
            Alternative::Choose(choice) => self.act(program, frame, thread, choice),
            Alternative::Last(end) => self.make_last(program, frame, thread, end),
        };
        if frame.has_note() {
            self.note(frame);
        }
        step
    }

    /// An event that accesses nothing.
    fn act(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
        choice: u32,
    ) -> ControlFlow<(), Step> {
        let state = self.graph.threads[thread].cursor.state;
        let index = self.graph.threads[thread].events.len();
        let op = *program.op(state);
        let kind = match op {
            Op::Fence { .. } => Kind::Fence,
            _ => Kind::Other,
        };
        let mut event = Event::new(state, 0, kind);
        self.graph.inherit(&mut event, thread, index);
        if let Op::Fence { order } = op {
            self.meet_fence(program, order)?;
            event.order = order;
        }
        let returned = match self.outcome(program, thread, op, choice) {
            Ok(value) => value,
            Err(fault) => {
                event.is_fault = true;
                let halted = Cursor {
                    halt: Halt::Fault,
                    ..self.graph.threads[thread].cursor
                };
                self.graph.add(program, thread, event, 0, halted);
                let at = program.at(state);
                frame.graph_fault(
                    program,
                    ThreadId::from_index(thread),
                    at,
                    fault,
                    |program| self.schedule_to_fault(program, thread),
                )?;
                return ControlFlow::Continue(Step::Done);
            }
        };
        event.value = returned;
        self.graph
            .learn_otherwise(program, &mut event, thread, index);
        let next = program.after(state, returned);
        let cursor = Cursor {
            state: next,
            part: 0,
            halt: Halt::No,
        };
        self.graph.add(program, thread, event, 0, cursor);
        if event.kind == Kind::Fence {
            self.look_at_fence(program, Ev::new(thread, index))?;
        }
        if let Op::Free { object } = op {
            self.find_races_of_free(program, frame, Ev::new(thread, index), object)?;
        }
        self.arrived(program, frame, thread)?;
        if let Op::Spawn { child, .. } = op {
            frame.threads_started(self.graph.started().count());
            self.arrived(program, frame, child.index())?;
        }
        ControlFlow::Continue(Step::Done)
    }

    /// What an operation returns that accesses nothing.
    fn outcome(&self, program: &Program, thread: usize, op: Op, choice: u32) -> Result<u64, Fault> {
        let misuse = |misuse, target: ThreadId| {
            Err(Fault::Misuse {
                misuse,
                object: None,
                thread: Some(target),
            })
        };
        match op {
            Op::Choice { .. } => Ok(u64::from(choice)),
            Op::Join { thread: target } => {
                let other = self.graph.threads.get(target.index());
                let Some(other) = other.filter(|other| other.is_started) else {
                    return misuse(Misuse::JoinUnknown, target);
                };
                if target.index() == thread {
                    return misuse(Misuse::JoinSelf, target);
                }
                match self.claim(program, target) {
                    Some(Op::Detach { .. }) => return misuse(Misuse::JoinDetached, target),
                    Some(_) => return misuse(Misuse::JoinTwice, target),
                    None => {}
                }
                match *program.op(other.cursor.state) {
                    Op::Exit { value } => Ok(value),
                    _ => misuse(Misuse::JoinUnknown, target),
                }
            }
            Op::Detach { thread: target } if self.claim(program, target).is_some() => {
                misuse(Misuse::DetachTwice, target)
            }
            Op::Free { object } => match self.graph.life(object.index()) {
                Some(life) if life.freed != Ev::NONE => Err(Fault::DoubleFree { object }),
                _ => Ok(0),
            },
            _ => Ok(0),
        }
    }

    /// The operation that joined or detached a thread.
    fn claim(&self, program: &Program, target: ThreadId) -> Option<Op> {
        let claimed = *self.graph.claimed.get(target.index())?;
        claimed
            .is_event()
            .then(|| *program.op(self.graph.event(claimed).state))
    }

    /// Has the thread begun an atomic block that it has not ended?
    fn is_in_block(&self, program: &Program, thread: usize) -> bool {
        let last = self.graph.last_here(Place::BLOCKS, thread);
        last.is_some_and(|last| matches!(program.op(self.graph.event(last).state), Op::AtomicBegin))
    }

    /// A thread has a new local state: has it stopped there?
    fn arrived(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        thread: usize,
    ) -> ControlFlow<()> {
        let state = self.graph.threads[thread].cursor.state;
        let stop = match *program.op(state) {
            Op::Stop(stop) => stop,
            // Nobody else would get into a block any more.
            Op::Exit { .. } if self.is_in_block(program, thread) => {
                let what = "a thread that ends inside of an atomic block, with engine graph,";
                return self.give_up(program, frame, thread, what);
            }
            _ => return ControlFlow::Continue(()),
        };
        let stop = program.tables().stop_info(stop).clone();
        let at = program.at(state);
        frame.graph_stop(program, ThreadId::from_index(thread), at, stop, |program| {
            self.schedule(program)
        })
    }
}
