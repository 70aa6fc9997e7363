//! What every engine is compared with: all interleavings of a small program, counted and sorted into classes.
//!
//! An *execution* is a maximal sequence of events of the machine: no thread is ready at its end. It is *complete* if every
//! thread finished or the process exited ([`is_complete`]), else *blocked*; each kind is counted by itself. What a blocked
//! thread waits to do is no event, so it is no part of a class. An event is identified by its thread and its position there
//! (from 1), and labelled with the local states its operations left, the values they returned and the choices taken.
//!
//! Two executions are equivalent
//! - **by Mazurkiewicz** if they have the same events, and order dependent events in the same way. Events depend on each
//!   other if they are of one thread; if they access common bytes (or one synchronisation or life cell, [`accesses`]) and one
//!   of them writes there; if one spawns the other's thread; if one joins (or detaches) a thread and the other is that
//!   thread's last event, its spawn, or another join of it. An atomic block is one event that does what its operations do; if
//!   it had to wait in the middle it has also read what it waits for.
//! - **by reads-from** if they have the same events, and each read gets each of its bytes from the same event. Reads are
//!   loads, read-modify-writes, failed compare-exchanges, the accesses' implicit reads of life cells, and all operations on
//!   synchronisation cells: each is a read-modify-write there, or a mere read if it failed or only looked
//!   ([`raddle_memory::access::sync_mode`]). A lock thus reads from the unlock it follows, or from nothing.
//! - **by reads-value-from** (definition in section 3 of the paper) if they have the same events with the same values, and
//!   agree on which reads are causally before which: by program order (with spawns and joins) and reads-from, transitively.
//!   The reads that count here are those above without the reads of life cells.
//!
//! Each of these relations is contained in the next, so `reads_value_from <= reads_from <= mazurkiewicz`.
//!
//! [`accesses`]: raddle_memory::accesses()

pub mod c11;
#[cfg(test)]
mod c11_tests;
mod class;
mod event;
mod reach;
#[cfg(test)]
mod tests;

pub use reach::for_each_end;

use event::{Event, Past};
use raddle_judge::ViolationKey;
use raddle_judge::ending::{self, is_complete};
use raddle_judge::interleavings::other_choices;
use raddle_judge::replay::stop_of;
use raddle_judge::verdict::ViolationKind;
use raddle_memory::{Machine, RaceDetector, Readiness, StepEnd};
use raddle_program::{Op, Program, SrcId, StateId, Stop, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Numbers of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    pub mazurkiewicz: usize,
    pub reads_from: usize,
    pub reads_value_from: usize,
}

/// The local states of all threads at the end of an execution; `None` for a thread that was not started.
pub type FinalStates = Vec<Option<StateId>>;

/// Everything about a program's executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// All executions, as sequences of events.
    pub interleavings: u64,
    pub complete: Classes,
    pub blocked: Classes,
    pub final_states: BTreeSet<FinalStates>,
    /// Every local state that some thread is in at some time.
    pub local_states: BTreeSet<StateId>,
    pub violations: FxHashSet<ViolationKey>,
    /// Pairs of equivalent executions that end in different states: a dependence was overlooked. Only seen by
    /// [`Mode::Every`].
    pub contradictions: u64,
}

/// How the interleavings are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each of them.
    Every,
    /// Of prefixes that are equivalent by Mazurkiewicz only the first is continued: what follows is the same. Trusts the
    /// notion of dependence, which `Every` does not, and is faster by orders of magnitude.
    Memoised,
}

/// Enumerates all interleavings of a program.
pub fn enumerate(program: &mut Program, mode: Mode) -> Truth {
    let machine = Machine::new(program);
    let mut walk = Walk {
        mode,
        machine,
        detector: RaceDetector::new(),
        past: Past::default(),
        truth: Truth::default(),
        known: FxHashMap::default(),
        complete: Seen::default(),
        blocked: Seen::default(),
    };
    walk.arrived(program, ThreadId::MAIN);
    walk.truth.interleavings = walk.visit(program);
    walk.truth.complete = walk.complete.classes();
    walk.truth.blocked = walk.blocked.classes();
    walk.truth
}

/// Classes met so far, by their keys.
#[derive(Default)]
struct Seen {
    /// With the final state of the first execution, as far as it is compared.
    mazurkiewicz: FxHashMap<class::Key, Vec<u64>>,
    reads_from: FxHashSet<class::Key>,
    reads_value_from: FxHashSet<class::Key>,
}

impl Seen {
    fn classes(&self) -> Classes {
        Classes {
            mazurkiewicz: self.mazurkiewicz.len(),
            reads_from: self.reads_from.len(),
            reads_value_from: self.reads_value_from.len(),
        }
    }
}

struct Walk {
    mode: Mode,
    machine: Machine,
    detector: RaceDetector,
    past: Past,
    truth: Truth,
    /// Interleavings from each class of prefixes on.
    known: FxHashMap<class::Key, u64>,
    complete: Seen,
    blocked: Seen,
}

impl Walk {
    /// Explores all continuations of the present prefix; how many there are.
    fn visit(&mut self, program: &mut Program) -> u64 {
        let key = (self.mode == Mode::Memoised).then(|| class::mazurkiewicz(&self.past));
        if let Some(&count) = key.as_ref().and_then(|key| self.known.get(key)) {
            return count;
        }
        let mark = self.machine.mark();
        let mut count = 0;
        for thread in ending::threads(&self.machine) {
            if self.machine.readiness(program, thread) != Readiness::Ready {
                continue;
            }
            let mut next = Some(Vec::new());
            while let Some(choices) = next {
                let end = self.machine.step(program, thread, &choices);
                next = other_choices(&self.machine);
                let event = Event::new(program, &self.machine, mark, &self.past, &end);
                self.past.push(event);
                self.look(program, thread, mark.steps(), end);
                count += self.visit(program);
                self.past.pop();
                self.machine.undo_to(mark);
                self.detector.truncate(mark.steps());
            }
        }
        if count == 0 {
            count = 1;
            self.leaf(program);
        }
        if let Some(key) = key {
            self.known.insert(key, count);
        }
        count
    }

    fn report(&mut self, kind: &ViolationKind, at: SrcId) {
        self.truth.violations.insert(ViolationKey::new(kind, at));
    }

    fn arrived(&mut self, program: &Program, thread: ThreadId) {
        let Some(state) = self.machine.thread_state(thread) else {
            return;
        };
        self.truth.local_states.insert(state);
        if let Some(Stop::Fault(fault)) = stop_of(program, &self.machine, thread) {
            self.report(&ViolationKind::Fault(fault.clone()), program.at(state));
        }
    }

    /// Collects what the event from `start` on shows.
    fn look(&mut self, program: &Program, thread: ThreadId, start: usize, end: StepEnd) {
        if let (StepEnd::Fault(fault), Some(state)) = (end, self.machine.thread_state(thread)) {
            self.report(&ViolationKind::Fault(fault), program.at(state));
        }
        self.arrived(program, thread);
        for index in start..self.machine.steps().len() {
            let step = self.machine.steps()[index];
            self.truth.local_states.insert(step.state);
            if let Op::Spawn { child, .. } = *program.op(step.state) {
                self.arrived(program, child);
            }
            if let Some(race) = self.detector.push(program, step) {
                let at = race.second.at;
                self.report(&ViolationKind::Race(race), at);
            }
        }
    }

    /// An execution ends here.
    fn leaf(&mut self, program: &mut Program) {
        let states: FinalStates = ending::threads(&self.machine)
            .map(|thread| self.machine.thread_state(thread))
            .collect();
        // The machine knows threads of other executions too.
        let started = states
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |i| i + 1);
        let complete = is_complete(program, &mut self.machine);
        if !complete && let Some(waiting) = ending::deadlock(program, &mut self.machine) {
            let at = waiting[0].at;
            self.report(&ViolationKind::Deadlock { waiting }, at);
        }
        let outcome = match self.mode {
            Mode::Every => self.outcome(program, &states[..started]),
            Mode::Memoised => Vec::new(),
        };
        let seen = if complete {
            &mut self.complete
        } else {
            &mut self.blocked
        };
        let past = &self.past;
        let first = seen
            .mazurkiewicz
            .entry(class::mazurkiewicz(past))
            .or_insert_with(|| outcome.clone());
        if *first != outcome {
            self.truth.contradictions += 1;
        }
        seen.reads_from.insert(class::reads_from(past));
        seen.reads_value_from.insert(class::reads_value_from(past));
        self.truth.final_states.insert(states[..started].to_vec());
    }

    /// What equivalent executions must agree on: local states, and the contents of what they touched.
    fn outcome(&mut self, program: &Program, states: &[Option<StateId>]) -> Vec<u64> {
        let mut outcome: Vec<u64> = states
            .iter()
            .map(|state| state.map_or(0, |state| u64::from(state.0) + 1))
            .collect();
        for loc in self.past.touched() {
            outcome.push(loc.0.into());
            outcome.push(self.machine.peek(program.tables(), loc));
        }
        outcome
    }
}
