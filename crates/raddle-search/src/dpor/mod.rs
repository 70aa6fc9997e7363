//! `dpor`: Optimal-DPOR under sequential consistency.
//!
//! Algorithm 1 of "Awaiting for Godot" (Jonsson, Lång, Sagonas), which extends Optimal-DPOR (Abdulla, Aronis, Jonsson,
//! Sagonas, JACM 2017): source sets, sleep sets and wakeup trees. Exactly one execution of each Mazurkiewicz class is
//! explored, and none is given up midway. Line numbers in comments are those of algorithm 1. See `docs/engines/dpor.md` for
//! invariants and deviations.

mod awaits;
mod execution;
mod footprint;
mod ifaa;
mod insertion;
mod races;
mod settled;
#[cfg(test)]
pub(crate) mod tests;
mod wakeup;
mod workers;

use crate::driver::Reductions;
use crate::listener::Listener;
use crate::purity::Attempt;
use awaits::{Closing, closing, takes_back};
use execution::{ChoiceId, EventId, Execution, NO_EVENT, NewEvent};
use races::next_choices;
use raddle_memory::{Machine, Mark, Readiness, StepEnd};
use raddle_program::{Op, Program, Tables, ThreadId};
use std::ops::ControlFlow;
use wakeup::{NodeId, Step, WakeupTrees};
use workers::Company;

/// A thread that need not be explored from some prefix on, because that was done before: a member of a sleep set.
#[derive(Debug)]
struct Sleeper {
    step: Step,
    /// The event of the current execution that woke it.
    woken_by: EventId,
}

type SleeperId = u32;

/// What is known of the events that come after a prefix, one of whose sleepers depends on some of them: see
/// `Search::is_held_back`.
#[derive(Clone, Copy, Debug)]
enum Held {
    Unknown,
    /// This event holds it back, as long as it is the one with this number.
    By(EventId, u64),
    /// No event up to this one does, as long as it is the one with this number.
    NotUpTo(EventId, u64),
}

/// A prefix of the current execution.
#[derive(Debug)]
struct Level {
    /// Its wakeup tree is what is below this node.
    root: NodeId,
    /// Its sleep set is `Search::sleeping[first_sleeping..]`, up to the next level's.
    first_sleeping: u32,
    /// Sleepers that were added at this prefix are `Search::sleepers[first_sleeper..]`, up to the next level's.
    first_sleeper: u32,
}

/// The state of the exploration.
pub(crate) struct Search {
    machine: Machine,
    /// Runs wakeup sequences whose last event's footprint depends on values.
    scratch: Machine,
    scratch_start: Mark,
    execution: Execution,
    trees: WakeupTrees,
    levels: Vec<Level>,
    sleepers: Vec<Sleeper>,
    sleeping: Vec<SleeperId>,
    /// For each of `sleeping`.
    held: Vec<Held>,
    /// So many events of the execution were there when races were last reversed.
    shared: EventId,
    /// Did the last look for a thread to run find one that has not come to its end?
    unfinished: bool,
    buffers: insertion::Buffers,
    reductions: Reductions,
    /// What comes after so many events is this search's own affair: all, but for one that explores a piece.
    cut: usize,
    company: Option<Box<Company>>,
}

impl Search {
    pub(crate) fn new(program: &Program, reductions: Reductions) -> Self {
        let machine = Machine::new(program);
        let mut trees = WakeupTrees::default();
        let root = trees.new_node(Step::unknown(ThreadId::MAIN));
        Self {
            scratch_start: machine.mark(),
            scratch: machine.clone(),
            machine,
            execution: Execution::new(reductions),
            trees,
            levels: vec![Level {
                root,
                first_sleeping: 0,
                first_sleeper: 0,
            }],
            sleepers: Vec::new(),
            sleeping: Vec::new(),
            held: Vec::new(),
            shared: 0,
            unfinished: false,
            buffers: insertion::Buffers::default(),
            reductions,
            cut: 0,
            company: None,
        }
    }

    /// Explores one execution of every class. `Explore` of algorithm 1, with the recursion on an explicit stack.
    pub(crate) fn run(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        loop {
            let root = self
                .levels
                .last()
                .expect("the empty prefix is a level")
                .root;
            if self.trees.first_child(root).is_none() {
                match self.choose(program) {
                    Choice::Go(step) => {
                        self.trees.add_child(root, None, step);
                    }
                    Choice::Ended => {
                        listener.ended(program, &mut self.machine)?;
                        if !self.go_on(program, listener) {
                            return ControlFlow::Continue(());
                        }
                        continue;
                    }
                    Choice::AllAsleep => {
                        listener.given_up(program, &mut self.machine)?;
                        if !self.go_on(program, listener) {
                            return ControlFlow::Continue(());
                        }
                        continue;
                    }
                }
            }
            self.descend(program, listener)?;
        }
    }

    /// After an execution: to the next one. False if there is none.
    fn go_on(&mut self, program: &mut Program, listener: &mut impl Listener) -> bool {
        self.reverse_races(program);
        if self.cut > 0 {
            self.tell_found(program);
        }
        let more = self.backtrack(program, listener);
        if more {
            listener.explored(|| self.fraction());
        }
        more
    }

    /// How much of the tree of executions, or of the piece, has been explored, if all branches of a prefix were equally large and none were to
    /// come: Knuth's estimate along the present path. Later races add branches, so it is too large at first.
    fn fraction(&self) -> f64 {
        let (mut share, mut explored) = (1.0, 0.0);
        for (index, level) in self.levels.iter().enumerate().skip(self.cut) {
            let next = self.levels.get(index + 1);
            let sleepers = next.map_or(self.sleepers.len(), |next| next.first_sleeper as usize);
            let done = sleepers - level.first_sleeper as usize;
            let mut branches = done;
            let mut child = self.trees.first_child(level.root);
            while let Some(node) = child {
                branches += 1;
                child = self.trees.next_sibling(node);
            }
            if branches > 0 {
                explored += share * done as f64 / branches as f64;
                share /= branches as f64;
            }
        }
        explored
    }

    /// Line 25: any enabled thread that is not asleep; the one that ran last if possible, so that executions have few
    /// context switches.
    fn choose(&mut self, program: &mut Program) -> Choice {
        let count = self.machine.thread_count();
        let last = self
            .execution
            .events
            .last()
            .map_or(0, |event| event.thread.index());
        let mut any_ready = false;
        self.unfinished = false;
        for index in (last..count).chain(0..last) {
            let thread = ThreadId::from_index(index);
            match self.machine.readiness(program, thread) {
                Readiness::Ended(_) | Readiness::NotStarted => continue,
                Readiness::Waiting => self.unfinished = true,
                Readiness::Ready => {
                    self.unfinished = true;
                    if self.execution.ends_thread(thread) || self.is_awaiting(program, thread) {
                        continue;
                    }
                    any_ready = true;
                    if let Some(choices) = self.awake_choices(program, thread) {
                        return Choice::Go(Step {
                            choices,
                            ..Step::unknown(thread)
                        });
                    }
                }
            }
        }
        if any_ready {
            Choice::AllAsleep
        } else {
            Choice::Ended
        }
    }

    /// Is the thread ready, and neither awaiting anything nor blocked behind a pure iteration?
    fn can_go_on(&mut self, program: &mut Program, thread: ThreadId) -> bool {
        self.machine.readiness(program, thread) == Readiness::Ready
            && !self.execution.ends_thread(thread)
            && !self.is_awaiting(program, thread)
    }

    fn is_awaiting(&mut self, program: &mut Program, thread: ThreadId) -> bool {
        let last = self.execution.last_of(thread);
        self.reductions.awaits && self.closing(program, thread, last) == Closing::Await
    }

    /// Would the next step of `thread` only complete a pure iteration?
    fn closing(&mut self, program: &mut Program, thread: ThreadId, last: EventId) -> Closing {
        if self.reductions.purity {
            closing(program, &mut self.machine, &self.execution, thread, last)
        } else {
            Closing::No
        }
    }

    /// The first choices with which `thread` is not asleep.
    fn awake_choices(&mut self, program: &mut Program, thread: ThreadId) -> Option<ChoiceId> {
        let sleeping = self
            .sleep_set(self.levels.len() - 1)
            .iter()
            .map(|&id| &self.sleepers[id as usize].step);
        let mut of_thread = sleeping.filter(|step| step.thread == thread).peekable();
        let first = of_thread.peek().copied();
        match first {
            None => return Some(0),
            Some(step) if !step.is_one_of_many() => return None,
            Some(_) => {}
        }
        let asleep: Vec<ChoiceId> = of_thread.map(|step| step.choices).collect();
        // A block with choices inside: try them all.
        let mut next = Some(Vec::new());
        while let Some(choices) = next {
            let mark = self.machine.mark();
            self.machine.step(program, thread, &choices);
            let chosen = self.machine.chosen().to_vec();
            self.machine.undo_to(mark);
            let taken: Vec<u32> = chosen.iter().map(|choice| choice.taken).collect();
            let id = self.execution.choice_id(&taken);
            if !asleep.contains(&id) {
                return Some(id);
            }
            next = next_choices(chosen, 0);
        }
        None
    }

    fn sleep_set(&self, level: usize) -> &[SleeperId] {
        &self.sleeping[self.asleep_at(level)]
    }

    /// Where in `sleeping` the sleep set of a prefix is.
    fn asleep_at(&self, level: usize) -> std::ops::Range<usize> {
        let start = self.levels[level].first_sleeping as usize;
        let end = self
            .levels
            .get(level + 1)
            .map_or(self.sleeping.len(), |next| next.first_sleeping as usize);
        start..end
    }

    /// Lines 28-31: goes to the first child of the wakeup tree.
    fn descend(&mut self, program: &mut Program, listener: &mut impl Listener) -> ControlFlow<()> {
        let root = self
            .levels
            .last()
            .expect("the empty prefix is a level")
            .root;
        let child = self.trees.first_child(root).expect("a child was added");
        let Step {
            thread, choices, ..
        } = self.trees.step(child);
        debug_assert!(
            self.can_go_on(program, thread),
            "a wakeup sequence can be run"
        );
        let end = self.perform(program, thread, choices);
        let event = self
            .execution
            .events
            .last()
            .expect("an event was just pushed");
        let done = Step {
            thread,
            choices: event.choices,
            is_block: event.is_block,
            footprint: event.footprint,
        };
        self.trees.set_step(child, done);
        self.fall_asleep(program.tables(), child);
        listener.stepped(program, &mut self.machine, thread, end)
    }

    /// Line 29: the sleep set after the event just done are the sleepers independent of it.
    fn fall_asleep(&mut self, tables: &Tables, child: NodeId) {
        let level = self.levels.len() - 1;
        let event = (self.execution.len() - 1) as EventId;
        let start = self.levels[level].first_sleeping as usize;
        let end = self.sleeping.len();
        self.levels.push(Level {
            root: child,
            first_sleeping: end as u32,
            first_sleeper: self.sleepers.len() as u32,
        });
        let done = self.execution.event(event);
        for position in start..end {
            let id = self.sleeping[position];
            let sleeper = &mut self.sleepers[id as usize];
            let same = sleeper.step.thread == done.thread;
            let footprints = &self.execution.footprints;
            if same || !footprints.independent(tables, sleeper.step.footprint, done.footprint) {
                sleeper.woken_by = event;
            } else {
                self.sleeping.push(id);
                self.held.push(Held::Unknown);
            }
        }
    }

    /// Does one event of `thread` and appends it to the execution.
    fn perform(&mut self, program: &mut Program, thread: ThreadId, choices: ChoiceId) -> StepEnd {
        let mark = self.machine.mark();
        let state = self
            .machine
            .thread_state(thread)
            .expect("a thread that is ready has a state");
        let op = *program.op(state);
        let before = self.look_before(program, op);
        let in_block = self.machine.is_in_block(thread);
        let attempt = Attempt::of(program, state);
        let mut ends_thread =
            attempt.is_some_and(|attempt| self.blocks_behind(program, thread, attempt));
        let end = self
            .machine
            .step(program, thread, self.execution.choices(choices));
        let footprint = self
            .execution
            .footprints
            .of_event(program, &self.machine, mark);
        let choices = if self.machine.chosen().is_empty() {
            0
        } else {
            let taken: Vec<u32> = self
                .machine
                .chosen()
                .iter()
                .map(|chosen| chosen.taken)
                .collect();
            self.execution.choice_id(&taken)
        };
        let is_block = in_block || matches!(op, Op::AtomicBegin);
        let is_pure = !is_block
            && match before {
                Some([held, _]) => attempt.is_some_and(|attempt| {
                    attempt
                        .pure_result(program, &mut self.machine, thread, held)
                        .is_some()
                }),
                None => matches!(op, Op::Fence { .. }),
            };
        let before = before.filter(|_| !is_block);
        if self.reductions.purity
            && self.reductions.net_effect
            && let Some([held, _]) = before
            && end == StepEnd::Done
        {
            let (machine, execution) = (&mut self.machine, &self.execution);
            ends_thread |= takes_back(program, machine, execution, (thread, state), held);
        }
        let new = NewEvent {
            thread,
            state,
            choices,
            footprint,
            before,
            is_block,
            is_pure,
            ends_thread,
            mark,
        };
        self.execution.push(program, &mut self.machine, new);
        self.execution.footprints.compare(program.tables());
        end
    }

    /// Purity without awaits: the iteration is completed, and then the thread is blocked as if by an assumption.
    fn blocks_behind(&mut self, program: &mut Program, thread: ThreadId, attempt: Attempt) -> bool {
        // Where it could wait it would have done so: it is known not to complete anything.
        if self.reductions.awaits && attempt.can_wait(program) {
            return false;
        }
        let last = self.execution.last_of(thread);
        self.closing(program, thread, last) != Closing::No
    }

    /// What the locations of an operation hold, in the order of its footprint, as far as races need to know.
    fn look_before(&mut self, program: &Program, op: Op) -> Option<[u64; 2]> {
        Some(match op {
            Op::Load { loc, .. }
            | Op::Store { loc, .. }
            | Op::Rmw { loc, .. }
            | Op::Cas { loc, .. } => [self.machine.peek(program.tables(), loc), 0],
            Op::Sync { cell, action } => {
                let second = match action {
                    raddle_program::SyncAction::CondRelease { mutex } => {
                        self.machine
                            .sync_word(program, mutex, raddle_program::SyncAction::LOCK)
                    }
                    _ => 0,
                };
                [self.machine.sync_word(program, cell, action), second]
            }
            _ => return None,
        })
    }

    /// Lines 32-33: leaves explored children until a prefix has another one. False if there is none.
    fn backtrack(&mut self, program: &Program, listener: &mut impl Listener) -> bool {
        while self.execution.len() > self.cut {
            let level = self.levels.pop().expect("one level more than events");
            self.sleeping.truncate(level.first_sleeping as usize);
            self.held.truncate(level.first_sleeping as usize);
            self.sleepers.truncate(level.first_sleeper as usize);
            let event = self.execution.pop(program);
            let undone = self.execution.len() as EventId;
            let parent = self.levels.len() - 1;
            for position in self.levels[parent].first_sleeping as usize..self.sleeping.len() {
                let sleeper = &mut self.sleepers[self.sleeping[position] as usize];
                if sleeper.woken_by == undone {
                    sleeper.woken_by = NO_EVENT;
                }
            }
            let root = self.levels[parent].root;
            self.trees.remove_first_child(root);
            if self.trees.first_child(root).is_some() {
                let step = Step {
                    thread: event.thread,
                    choices: event.choices,
                    is_block: event.is_block,
                    footprint: event.footprint,
                };
                self.sleeping.push(self.sleepers.len() as SleeperId);
                self.held.push(Held::Unknown);
                self.sleepers.push(Sleeper {
                    step,
                    woken_by: NO_EVENT,
                });
                self.machine.undo_to(event.mark);
                self.shared = undone;
                listener.undone(event.mark.steps());
                return true;
            }
        }
        false
    }
}

enum Choice {
    Go(Step),
    Ended,
    AllAsleep,
}
