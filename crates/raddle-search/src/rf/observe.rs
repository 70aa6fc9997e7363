//! Events as the machine did them.

use super::event::{
    Branching, Cell, Event, NO_EVENT, Pos, Read, Write, branching, intrudes, is_wide, primary,
};
use super::trace::{Trace, note_read, note_write};
use raddle_memory::access::touched;
use raddle_memory::{Machine, Mark, StepEnd, perform};
use raddle_program::{Op, Program, StateId, ThreadId};

/// What was the case before the machine did the event.
pub(super) struct Before {
    pub(super) mark: Mark,
    pub(super) thread: ThreadId,
    pub(super) state: StateId,
    pub(super) inside: bool,
}

impl Before {
    pub(super) fn new(machine: &Machine, thread: ThreadId) -> Option<Self> {
        Some(Self {
            mark: machine.mark(),
            thread,
            state: machine.thread_state(thread)?,
            inside: machine.is_in_block(thread),
        })
    }
}

impl Trace {
    /// The event that the machine has just done, at the end of the witness. `parent` is the one before it in its thread.
    pub(super) fn observe(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        before: &Before,
        end: &StepEnd,
        parent: Pos,
    ) -> Event {
        let thread = before.thread;
        let index = self
            .last_of(thread)
            .map_or(1, |last| self.event(last).index + 1);
        let op = *program.op(before.state);
        let after = machine.thread_state(thread).unwrap_or(before.state);
        let mut event = Event {
            thread,
            index,
            state: before.state,
            after,
            choices: 0,
            parent,
            reads: Default::default(),
            writes: Default::default(),
            branching: Branching::None,
            primary: primary(program.tables(), &op),
            wide: false,
            is_block: before.inside || matches!(op, Op::AtomicBegin),
            intrudes: false,
            began_inside: before.inside,
            ends_inside: machine.is_in_block(thread),
            faulted: matches!(end, StepEnd::Fault(_)),
            is_pure: false,
            ends_thread: false,
            marked: false,
            fingerprint: 0,
        };
        for step in before.mark.steps()..machine.steps().len() {
            self.observe_step(program, machine, &mut event, step);
        }
        if let Some(state) = machine.suspended() {
            self.observe_wait(program, &mut event, *program.op(state));
        }
        if matches!(program.op(after), Op::Exit { .. }) {
            note_write(
                &mut event.writes,
                Write {
                    cell: Cell::End(thread),
                    value: 1,
                },
            );
        }
        if machine.has_abandoned(before.mark) {
            event.writes.clear();
        }
        note_values(program, machine, &mut event);
        event.is_pure = matches!(end, StepEnd::Done)
            && !event.is_block
            && match op {
                Op::Load { .. } | Op::Fence { .. } => true,
                Op::Store { loc, .. } => program.is_private(loc),
                Op::Rmw { .. } | Op::Cas { .. } => machine.is_pure_since(before.mark),
                Op::Sync { action, .. } => action.is_try() && machine.is_pure_since(before.mark),
                _ => false,
            };
        event.branching = branching(&op, &event);
        event.intrudes = intrudes(&op, &event);
        self.chain(&op, &mut event);
        event.wide = is_wide(program.tables(), &event);
        event
    }

    fn observe_step(
        &mut self,
        program: &Program,
        machine: &Machine,
        event: &mut Event,
        step: usize,
    ) {
        let tables = program.tables();
        touched(program, &machine.steps()[step], |cell, mode| {
            match cell {
                perform::Cell::Loc(loc) if mode.reads() && tables.loc_info(loc).mixed => {
                    let sources = self.current_sources(tables, loc, &event.writes);
                    note_read(&mut event.reads, loc, &sources);
                }
                // Writes of a chained location read it, too.
                perform::Cell::Loc(loc) if mode.reads() || self.is_chained(loc) => {
                    self.observe_cell(program, event, cell.into());
                }
                perform::Cell::Loc(_) => {}
                _ if mode.reads() => self.observe_cell(program, event, cell.into()),
                _ => {}
            }
            if mode.writes() {
                let cell = cell.into();
                note_write(&mut event.writes, Write { cell, value: 0 });
            }
        });
    }

    /// What a block that has to wait in its middle has been told by.
    fn observe_wait(&mut self, program: &Program, event: &mut Event, op: Op) {
        let tables = program.tables();
        match op {
            Op::Sync { cell, .. } => {
                let object = tables.loc_info(cell).object;
                for loc in [Some(cell), tables.object_info(object).life]
                    .into_iter()
                    .flatten()
                {
                    let sources = self.current_sources(tables, loc, &event.writes);
                    note_read(&mut event.reads, loc, &sources);
                }
            }
            Op::Join { thread } => self.observe_cell(program, event, Cell::End(thread)),
            _ => {}
        }
    }

    fn observe_cell(&mut self, program: &Program, event: &mut Event, cell: Cell) {
        if !event.writes(cell) {
            let id = self.cells.one(program.tables(), cell);
            let read = Read {
                cell,
                source: self.graph.last_writer(id),
            };
            if !event.reads.contains(&read) {
                event.reads.push(read);
            }
        }
    }
}

/// What is in memory after the event is what it wrote.
pub(super) fn note_values(program: &Program, machine: &mut Machine, event: &mut Event) {
    for write in &mut event.writes {
        let cell = match write.cell {
            Cell::Loc(loc) => perform::Cell::Loc(loc),
            Cell::Handle(thread) => perform::Cell::Handle(thread),
            Cell::End(thread) => perform::Cell::End(thread),
            Cell::Byte(..) => continue,
        };
        write.value = machine.peek_cell(program, cell);
    }
}

/// The event before a thread's next one, if any.
pub(super) fn parent_of(trace: &Trace, spawned_by: &[Pos], thread: ThreadId) -> Pos {
    trace
        .last_of(thread)
        .unwrap_or_else(|| spawned_by.get(thread.index()).copied().unwrap_or(NO_EVENT))
}
