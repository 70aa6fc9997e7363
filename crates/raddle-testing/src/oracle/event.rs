//! Events of the present prefix: what they touch, what they read from, what comes before them.

use raddle_memory::access::overlap;
use raddle_memory::{AccessMode, Machine, Mark, MicroStep, StepEnd, attempted};
use raddle_program::{LocId, Op, Program, StateId, Tables, ThreadId, Value};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// What events can depend on each other through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Loc(LocId),
    /// A thread's handle: spawned, joined or detached.
    Handle(ThreadId),
    /// Whether a thread has finished.
    End(ThreadId),
}

/// For each thread, how many of its events.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(SmallVec<[u16; 8]>);

impl Counts {
    pub(super) fn get(&self, thread: usize) -> u16 {
        self.0.get(thread).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, thread: usize, count: u16) {
        if self.0.len() <= thread {
            self.0.resize(thread + 1, 0);
        }
        self.0[thread] = count;
    }

    fn join(&mut self, other: &Self) {
        for (thread, &count) in other.0.iter().enumerate() {
            if count > self.get(thread) {
                self.set(thread, count);
            }
        }
    }

    /// Is everything in `other` in here, one thread left aside?
    pub(super) fn covers_except(&self, other: &Self, thread: usize) -> bool {
        other
            .0
            .iter()
            .enumerate()
            .all(|(other, &count)| other == thread || count <= self.get(other))
    }

    /// All threads with events have smaller numbers.
    pub(super) fn threads(&self) -> usize {
        self.0
            .iter()
            .rposition(|&count| count > 0)
            .map_or(0, |last| last + 1)
    }
}

/// Where a byte was read from: an event, or 0 for the initial contents.
pub(super) type Source = u32;

/// In a list of sources: those of single bytes follow.
const SEVERAL: Source = Source::MAX;

fn source(thread: ThreadId, index: u16) -> Source {
    (thread.0 + 1) << 16 | u32::from(index)
}

#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) thread: ThreadId,
    /// Counts the thread's events from 1.
    pub(super) index: u16,
    pub(super) choices: SmallVec<[u32; 2]>,
    /// The states its operations left and what they returned.
    pub(super) labels: SmallVec<[(StateId, Value); 1]>,
    pub(super) faulted: bool,
    /// What its reads read from, in order.
    pub(super) sources: SmallVec<[Source; 2]>,
    /// Does it read something other than a life cell?
    pub(super) reads: bool,
    /// Itself and all events before it, by the order of dependent events.
    pub(super) before: Counts,
    /// Itself and all events before it, by program order and reads-from.
    pub(super) causes: Counts,
    touches: SmallVec<[(Cell, AccessMode); 3]>,
}

/// The events so far.
#[derive(Debug, Default)]
pub(super) struct Past {
    pub(super) events: Vec<Event>,
    /// How many events each thread has done.
    pub(super) counts: Counts,
}

impl Past {
    pub(super) fn push(&mut self, event: Event) {
        self.counts.set(event.thread.index(), event.index);
        self.events.push(event);
    }

    pub(super) fn pop(&mut self) {
        if let Some(event) = self.events.pop() {
            self.counts.set(event.thread.index(), event.index - 1);
        }
    }

    /// All locations that were touched, ascending.
    pub(super) fn touched(&self) -> BTreeSet<LocId> {
        self.events
            .iter()
            .flat_map(|event| &event.touches)
            .filter_map(|(cell, _)| match cell {
                Cell::Loc(loc) => Some(*loc),
                _ => None,
            })
            .collect()
    }

    /// The event that spawned a thread.
    fn spawner(&self, thread: ThreadId) -> Option<&Event> {
        let spawn = (Cell::Handle(thread), AccessMode::Write);
        self.events
            .iter()
            .find(|event| event.touches.contains(&spawn))
    }

    /// The last event that wrote a cell other than a location.
    fn writer(&self, cell: Cell) -> Option<&Event> {
        self.events.iter().rev().find(|event| {
            event
                .touches
                .iter()
                .any(|&(other, mode)| other == cell && mode.writes())
        })
    }

    /// The last event that wrote the byte at `offset` of the object of `loc`.
    fn byte_writer(&self, tables: &Tables, loc: LocId, offset: u64) -> Option<&Event> {
        self.events.iter().rev().find(|event| {
            event.touches.iter().any(|&(other, mode)| {
                matches!(other, Cell::Loc(other) if mode.writes() && covers(tables, other, loc, offset))
            })
        })
    }
}

/// Does `other` contain the byte at `offset` of `loc`'s object? Synchronisation cells are one byte, so to speak.
fn covers(tables: &Tables, other: LocId, loc: LocId, offset: u64) -> bool {
    let info = tables.loc_info(other);
    other == loc
        || (overlap(tables, loc, other)
            && (info.offset..info.offset + u64::from(info.size)).contains(&offset))
}

fn conflict(tables: &Tables, a: (Cell, AccessMode), b: (Cell, AccessMode)) -> bool {
    (a.1.writes() || b.1.writes())
        && match (a.0, b.0) {
            (Cell::Loc(a), Cell::Loc(b)) => overlap(tables, a, b),
            (a, b) => a == b,
        }
}

fn is_life(tables: &Tables, loc: LocId) -> bool {
    tables.object_info(tables.loc_info(loc).object).life == Some(loc)
}

impl Event {
    /// The event that the machine just did, from `mark` on.
    pub(super) fn new(
        program: &Program,
        machine: &Machine,
        mark: Mark,
        past: &Past,
        end: &StepEnd,
    ) -> Self {
        let steps = &machine.steps()[mark.steps()..];
        let thread = steps[0].thread;
        let index = past.counts.get(thread.index()) + 1;
        let mut event = Self {
            thread,
            index,
            choices: machine.chosen().iter().map(|chosen| chosen.taken).collect(),
            labels: steps.iter().map(|step| (step.state, step.value)).collect(),
            faulted: matches!(end, StepEnd::Fault(_)),
            sources: SmallVec::new(),
            reads: false,
            before: Counts::default(),
            causes: Counts::default(),
            touches: SmallVec::new(),
        };
        event.follow_program_order(past);
        for step in steps {
            event.step(program, machine, past, step);
        }
        if let Some(state) = machine.suspended() {
            event.look_at(program, past, *program.op(state));
        }
        if finished(program, machine, thread) {
            event.touches.push((Cell::End(thread), AccessMode::Write));
        }
        if machine.has_abandoned(mark) {
            event.abandon();
        }
        event.follow_conflicts(program.tables(), past);
        event.before.set(thread.index(), index);
        event.causes.set(thread.index(), index);
        event
    }

    fn follow_program_order(&mut self, past: &Past) {
        let previous = past
            .events
            .iter()
            .rev()
            .find(|event| event.thread == self.thread)
            .or_else(|| past.spawner(self.thread));
        if let Some(previous) = previous {
            self.before.join(&previous.before);
            self.causes.join(&previous.causes);
        }
    }

    fn follow_conflicts(&mut self, tables: &Tables, past: &Past) {
        for earlier in &past.events {
            let depends = self.touches.iter().any(|&mine| {
                earlier
                    .touches
                    .iter()
                    .any(|&its| conflict(tables, mine, its))
            });
            if depends {
                self.before.join(&earlier.before);
            }
        }
    }

    fn step(&mut self, program: &Program, machine: &Machine, past: &Past, step: &MicroStep) {
        attempted(program, step, |access| {
            self.access(program.tables(), past, access.loc, access.mode);
        });
        match *program.op(step.state) {
            Op::Spawn { child, .. } => {
                self.touch(past, Cell::Handle(child), AccessMode::Write);
                if finished(program, machine, child) {
                    self.touch(past, Cell::End(child), AccessMode::Write);
                }
            }
            Op::Join { thread } => {
                self.touch(past, Cell::Handle(thread), AccessMode::Update);
                self.touch(past, Cell::End(thread), AccessMode::Read);
            }
            Op::Detach { thread } => self.touch(past, Cell::Handle(thread), AccessMode::Update),
            _ => {}
        }
    }

    /// What it wrote was taken back.
    fn abandon(&mut self) {
        self.touches.retain(|(_, mode)| mode.reads());
        for (_, mode) in &mut self.touches {
            *mode = AccessMode::Read;
        }
    }

    /// What an operation that has to wait has been told by.
    fn look_at(&mut self, program: &Program, past: &Past, op: Op) {
        let tables = program.tables();
        match op {
            Op::Sync { cell, .. } => {
                self.access(tables, past, cell, AccessMode::Read);
                if let Some(life) = tables.object_info(tables.loc_info(cell).object).life {
                    self.access(tables, past, life, AccessMode::Read);
                }
            }
            Op::Join { thread } => self.touch(past, Cell::End(thread), AccessMode::Read),
            _ => {}
        }
    }

    fn touch(&mut self, past: &Past, cell: Cell, mode: AccessMode) {
        if mode.reads() {
            self.read_from(past.writer(cell));
        }
        self.touches.push((cell, mode));
    }

    fn access(&mut self, tables: &Tables, past: &Past, loc: LocId, mode: AccessMode) {
        if mode.reads() {
            self.reads |= !is_life(tables, loc);
            self.read_bytes(tables, past, loc);
        }
        self.touches.push((Cell::Loc(loc), mode));
    }

    fn read_from(&mut self, writer: Option<&Self>) {
        let source = self.cause(writer);
        self.sources.push(source);
    }

    fn cause(&mut self, writer: Option<&Self>) -> Source {
        if let Some(writer) = writer {
            self.causes.join(&writer.causes);
        }
        writer.map_or(0, |writer| source(writer.thread, writer.index))
    }

    /// Notes where each byte comes from. Bytes with a common source are noted as one, so that the answer does not depend
    /// on which other locations are known to overlap this one.
    fn read_bytes(&mut self, tables: &Tables, past: &Past, loc: LocId) {
        let info = tables.loc_info(loc);
        let bytes = if info.mixed { u64::from(info.size) } else { 1 };
        let mut sources: SmallVec<[Source; 8]> = SmallVec::new();
        for byte in 0..bytes {
            let offset = info.offset.wrapping_add(byte);
            let own = self.touches.iter().any(|&(cell, mode)| {
                matches!(cell, Cell::Loc(other) if mode.writes() && covers(tables, other, loc, offset))
            });
            sources.push(if own {
                source(self.thread, self.index)
            } else {
                self.cause(past.byte_writer(tables, loc, offset))
            });
        }
        if sources.iter().all(|source| *source == sources[0]) {
            self.sources.push(sources[0]);
        } else {
            self.sources.push(SEVERAL);
            self.sources.extend(sources);
        }
    }
}

fn finished(program: &Program, machine: &Machine, thread: ThreadId) -> bool {
    machine
        .thread_state(thread)
        .is_some_and(|state| matches!(program.op(state), Op::Exit { .. }))
}
