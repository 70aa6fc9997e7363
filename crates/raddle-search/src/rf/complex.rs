//! Alternatives of events that touch several cells at once: atomic blocks, accesses of mixed sizes, accesses to objects that
//! may have died.
//!
//! What such an event does depends on several sources, and what it touches may depend on the values it finds. All versions of
//! it are enumerated: every source for every cell that it turns out to read. Where the event to read from is itself one that
//! could have read otherwise, all its versions are tried too.

use super::Search;
use super::event::{Cell, EXTRA, Event, NO_EVENT, Pos, may_wait};
use super::simulate::{Plan, Start};
use super::trace::Trace;
use crate::listener::Listener;
use raddle_memory::consistency::CellId;
use raddle_program::{Op, Program, ThreadId};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Tries all sources and choices, one combination after the other.
struct Enumerate {
    /// What may be read: nothing that is causally after one of these.
    excluded: SmallVec<[Pos; 2]>,
    parent: Pos,
    fixed: Option<(Cell, Pos)>,
    extra: Option<Event>,
    /// What has been read so far, and what is causally before that.
    read: SmallVec<[(CellId, Pos); 4]>,
    clock: Vec<u32>,
    /// Decisions taken: which of the possibilities, of how many.
    tape: Vec<(u32, u32)>,
    cursor: usize,
}

impl Enumerate {
    fn new(excluded: &[Pos], fixed: Option<(Cell, Pos)>, extra: Option<&Event>) -> Self {
        Self {
            excluded: excluded.into(),
            parent: NO_EVENT,
            fixed,
            extra: extra.cloned(),
            read: SmallVec::new(),
            clock: Vec::new(),
            tape: Vec::new(),
            cursor: 0,
        }
    }

    /// Adds the causes of an event to what is causally before.
    fn learn(&mut self, trace: &Trace, source: Pos) {
        let mut join = |pos: Pos| {
            if pos != NO_EVENT {
                for (mine, theirs) in self.clock.iter_mut().zip(trace.clock(pos)) {
                    *mine = (*mine).max(*theirs);
                }
            }
        };
        match (source, &self.extra) {
            (EXTRA, Some(extra)) => {
                join(extra.parent);
                extra.reads.iter().for_each(|read| join(read.source));
            }
            _ => join(source),
        }
    }

    /// Is what a source wrote to a cell overwritten by something that is causally before the event?
    fn is_overwritten(&self, trace: &Trace, cell: CellId, source: Pos) -> bool {
        let known = |pos: Pos| {
            let event = trace.event(pos);
            event.index <= self.clock[event.thread.index()]
        };
        if source == EXTRA {
            return false;
        }
        trace.graph.writers(cell).any(|(_, writes)| {
            let last = writes.iter().rev().find(|&&write| known(write));
            last.is_some_and(|&last| {
                last != source && (source == NO_EVENT || trace.before(source, last))
            })
        })
    }

    /// Can the event read a cell from this source, given what it has read so far? Saturation would find out, but only after
    /// all combinations with other cells have been listed.
    fn may_read(&mut self, trace: &Trace, cell: CellId, source: Pos) -> bool {
        let before = self.clock.clone();
        self.learn(trace, source);
        let others = &self.read;
        let possible = !self.is_overwritten(trace, cell, source)
            && !others
                .iter()
                .any(|&(cell, source)| self.is_overwritten(trace, cell, source));
        self.clock = before;
        possible
    }

    fn decide(&mut self, count: usize) -> usize {
        if self.cursor == self.tape.len() {
            self.tape.push((0, count as u32));
        }
        self.cursor += 1;
        self.tape[self.cursor - 1].0 as usize
    }

    /// Goes to the next combination. False after the last.
    fn advance(&mut self) -> bool {
        self.tape.truncate(self.cursor);
        self.cursor = 0;
        self.read.clear();
        self.clock.clear();
        while let Some((taken, count)) = self.tape.pop() {
            if taken + 1 < count {
                self.tape.push((taken + 1, count));
                return true;
            }
        }
        false
    }
}

impl Plan for Enumerate {
    fn source(&mut self, search: &mut Search, program: &Program, cell: Cell) -> Option<Pos> {
        if self.clock.is_empty() {
            self.clock = vec![0; search.trace.width()];
            self.learn(&search.trace, self.parent);
        }
        let id = search.trace.cells.one(program.tables(), cell);
        if let Some((fixed, source)) = self.fixed
            && fixed == cell
        {
            self.learn(&search.trace, source);
            self.read.push((id, source));
            return Some(source);
        }
        let trace = &search.trace;
        let mut sources: SmallVec<[Pos; 8]> = SmallVec::new();
        let mut overwritten = false;
        for (_, writes) in trace.graph.writers(id) {
            for &write in writes.iter().rev() {
                let is_excluded = |&after: &Pos| write == after || trace.before(after, write);
                if self.excluded.iter().any(is_excluded) {
                    continue;
                }
                sources.push(write);
                if self.parent != NO_EVENT && trace.before(write, self.parent) {
                    overwritten = true;
                    break;
                }
            }
        }
        if !overwritten {
            sources.push(NO_EVENT);
        }
        if let Some(extra) = &self.extra
            && search.writes_cell(program, extra, cell)
        {
            sources.push(EXTRA);
        }
        sources.retain(|&mut source| self.may_read(trace, id, source));
        let choice = self.decide(sources.len());
        let source = sources.get(choice).copied()?;
        self.learn(trace, source);
        self.read.push((id, source));
        Some(source)
    }

    fn choose(&mut self, count: u32) -> u32 {
        self.decide(count as usize) as u32
    }

    fn extra(&self) -> Option<&Event> {
        self.extra.as_ref()
    }
}

/// An operation that another event could be exchanged with.
struct Instance {
    start: Start,
    /// The event in the trace, if it has been done.
    event: Pos,
    complex: bool,
}

impl Search {
    /// Alternatives in which a complex event takes part. They are few, so all are tried whenever there is one.
    pub(super) fn detect_complex(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        loop {
            let known = program.tables().loc_count();
            self.detect_known_complex(program, listener)?;
            // Versions may have shown that locations share bytes with others.
            if known == program.tables().loc_count() || self.awaits.is_outdated() {
                return ControlFlow::Continue(());
            }
        }
    }

    fn detect_known_complex(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        let mut complex: Vec<bool> = (0..self.trace.len())
            .map(|pos| self.is_complex(program, pos))
            .collect();
        if complex.contains(&true) && self.writes_are_known(program) {
            for pos in 0..self.trace.len() {
                complex[pos as usize] &= !self.is_settled(program, pos);
            }
        }
        if !complex.contains(&true) && !self.waits_complex(program) {
            return ControlFlow::Continue(());
        }
        for pos in 0..self.trace.len() {
            if self.is_open(pos) {
                self.alternatives_of(program, listener, &complex, pos)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Does each event write the same cells whatever it reads, and are all of them written in this execution? Not so with blocks, with compare-exchanges of several
    /// cells that failed, with accesses that went wrong, and with threads that wait to write.
    fn writes_are_known(&self, program: &Program) -> bool {
        let is_known = |pos: Pos| {
            let event = self.trace.event(pos);
            let writes = match *program.op(event.state) {
                Op::Cas { loc, .. } => {
                    !program.tables().loc_info(loc).mixed || event.writes(Cell::Loc(loc))
                }
                _ => true,
            };
            writes && !event.is_block && !event.faulted
        };
        let mut waiting = crate::ending::threads(&self.machine)
            .filter_map(|thread| self.pending(program, thread));
        (0..self.trace.len()).all(is_known)
            && waiting.all(|it| {
                let op = program.op(it.start.state);
                !it.complex && (may_wait(op) || matches!(op, Op::Load { .. }))
            })
    }

    /// Is what the event reads the last of all writes, whatever their order, but for those that are causally after it whatever they read? Then there is no other version of
    /// the event, and nobody is in its way.
    fn is_settled(&mut self, program: &Program, pos: Pos) -> bool {
        let event = self.trace.event(pos);
        let (parent, reads) = (event.parent, event.reads.clone());
        // Whether an operation on a synchronisation object changes it depends on what it finds.
        if matches!(program.op(event.state), Op::Sync { .. }) {
            return false;
        }
        let mut cells: SmallVec<[(CellId, Pos); 8]> = SmallVec::new();
        for read in &reads {
            let add = |cell| cells.push((cell, read.source));
            self.trace.cells.each(program.tables(), read.cell, add);
        }
        let trace = &self.trace;
        let is_later = |write: Pos| {
            let parent = trace.event(write).parent;
            write == pos || parent != NO_EVENT && trace.before(pos, parent)
        };
        let is_before = |a: Pos, b: Pos| b != NO_EVENT && trace.before(a, b);
        cells.into_iter().all(|(cell, source)| {
            trace.graph.writers(cell).all(|(_, writes)| {
                let later = writes.partition_point(|&write| !is_later(write));
                let last = writes[..later].last();
                last.is_none_or(|&last| is_before(last, parent) && is_before(last, source))
            })
        })
    }

    fn waits_complex(&self, program: &Program) -> bool {
        crate::ending::threads(&self.machine).any(|thread| {
            self.pending(program, thread)
                .is_some_and(|found| found.complex)
        })
    }

    /// Does an event write (a byte of) a cell?
    fn writes_cell(&self, program: &Program, event: &Event, cell: Cell) -> bool {
        match cell {
            Cell::Byte(loc, byte) => {
                let arena = program.tables().loc_info(loc).arena + u32::from(byte);
                super::trace::covering(program.tables(), &event.writes, arena).is_some()
            }
            _ => event.writes(cell),
        }
    }

    fn alternatives_of(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        all_complex: &[bool],
        pos: Pos,
    ) -> ControlFlow<()> {
        let event = self.trace.event(pos);
        let complex = all_complex[pos as usize];
        let (start, cell) = (Start::of(event), event.primary);
        let fixed = self.nodes[pos as usize].update;
        if complex {
            let plan = Enumerate::new(&[pos], fixed, None);
            for version in self.versions(program, listener, start, plan)? {
                self.propose(pos, version, None);
            }
        }
        for rival in self.instances(program, all_complex, pos) {
            if !complex && !rival.complex {
                continue;
            }
            let excluded: SmallVec<[Pos; 2]> = match rival.event {
                NO_EVENT => SmallVec::from_slice(&[pos]),
                event => SmallVec::from_slice(&[pos, event]),
            };
            let plan = Enumerate::new(&excluded, None, None);
            for version in self.versions(program, listener, rival.start, plan)? {
                let known = rival.event != NO_EVENT
                    && self.trace.event(rival.event).fingerprint == version.fingerprint;
                if known && !self.trace.before(pos, rival.event) {
                    continue;
                }
                self.with_version(
                    program,
                    listener,
                    pos,
                    (start, complex, fixed, cell),
                    version,
                    &excluded,
                )?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Lets the event at `pos` make way for a version of another, or read from it.
    fn with_version(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        pos: Pos,
        (start, complex, fixed, cell): (Start, bool, Option<(Cell, Pos)>, Option<Cell>),
        version: Event,
        excluded: &[Pos],
    ) -> ControlFlow<()> {
        if let Some((cell, source)) = fixed
            && version.source(cell) == Some(source)
            && version.writes(cell)
        {
            self.propose(pos, version.clone(), None);
        }
        let reads_it = |event: &Event| event.reads.iter().any(|read| read.source == EXTRA);
        if complex {
            let plan = Enumerate::new(excluded, fixed, Some(&version));
            let mut found = self.versions(program, listener, start, plan)?;
            found.retain(reads_it);
            for first in found {
                self.propose(pos, first, Some(version.clone()));
            }
        } else if fixed.is_none() && cell.is_some_and(|cell| version.writes(cell)) {
            let others = self.trace.event(pos).reads.clone();
            let plan = Enumerate::new(excluded, None, Some(&version));
            let mut found = self.versions(program, listener, start, plan)?;
            found.retain(|event| {
                reads_it(event)
                    && event
                        .reads
                        .iter()
                        .all(|read| Some(read.cell) == cell || others.contains(read))
            });
            for first in found {
                self.propose(pos, first, Some(version.clone()));
            }
        }
        ControlFlow::Continue(())
    }

    /// All events that could begin at `start` and read as planned. These may be very many: a block with 30 choices has 2³⁰.
    fn versions(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        start: Start,
        mut plan: Enumerate,
    ) -> ControlFlow<(), Vec<Event>> {
        plan.parent = start.parent;
        let mut found = Vec::new();
        loop {
            listener.busy()?;
            found.extend(self.simulate(program, start, &mut plan));
            if !plan.advance() {
                return ControlFlow::Continue(found);
            }
        }
    }

    /// The operations of other threads that could come before the event at `pos`: all that are not causally after it, and the
    /// next one of each thread.
    fn instances(&self, program: &Program, complex: &[bool], pos: Pos) -> Vec<Instance> {
        let mut found = Vec::new();
        for thread in 0..self
            .trace
            .graph
            .thread_count()
            .max(self.machine.thread_count())
        {
            let thread = ThreadId::from_index(thread);
            if thread == self.trace.event(pos).thread {
                continue;
            }
            let mut complete = true;
            for &other in self.trace.graph.thread(thread.index()) {
                let event = self.trace.event(other);
                let parent = event.parent;
                if parent != NO_EVENT && self.trace.before(pos, parent) {
                    complete = false;
                    break;
                }
                // What comes before the node stays as it is.
                if other > pos {
                    found.push(Instance {
                        start: Start::of(event),
                        event: other,
                        complex: complex[other as usize],
                    });
                }
                if self.trace.before(pos, other) {
                    complete = false;
                    break;
                }
            }
            if complete && let Some(pending) = self.pending(program, thread) {
                let parent = pending.start.parent;
                if parent == NO_EVENT || !self.trace.before(pos, parent) {
                    found.push(pending);
                }
            }
        }
        found
    }

    /// What a thread waits to do at the end of the execution.
    fn pending(&self, program: &Program, thread: ThreadId) -> Option<Instance> {
        let state = self.machine.thread_state(thread)?;
        let last = self.trace.last_of(thread);
        if program.op(state).is_terminal()
            || last.is_some_and(|last| self.trace.event(last).faulted)
        {
            return None;
        }
        let parent = super::observe::parent_of(&self.trace, &self.spawned_by, thread);
        let start = self.start_at(thread, state, parent);
        let tables = program.tables();
        let freed = match *program.op(state) {
            Op::Sync { cell, .. } => tables
                .object_info(tables.loc_info(cell).object)
                .life
                .is_some_and(|life| self.trace.is_freed(life, None)),
            _ => false,
        };
        Some(Instance {
            start,
            event: NO_EVENT,
            complex: start.inside || freed,
        })
    }
}
