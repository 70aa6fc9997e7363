//! What memory and synchronisation objects hold after each step.

use crate::names::Names;
use crate::view::location;
use raddle_judge::{Effect, Trace, TraceStep};
use raddle_program::{LocId, ObjectId, Op, Program, SyncAction, ThreadId, Value};
use serde::Serialize;
use std::collections::BTreeMap;

/// A place in memory that the execution touches.
#[derive(Serialize)]
pub(super) struct Cell {
    name: String,
    /// What it is a part of.
    object: String,
    initial: String,
    /// Does its object come to life in the execution?
    born: bool,
}

/// What a step does to cells, by their number.
#[derive(Default)]
pub(super) struct Change {
    pub(super) reads: Vec<usize>,
    pub(super) sets: Vec<(usize, String)>,
    pub(super) born: Vec<usize>,
    pub(super) dies: Vec<usize>,
}

/// Follows an execution from its start.
pub(super) struct States<'a> {
    program: &'a Program,
    names: &'a Names<'a>,
    /// In the order in which they are touched.
    locs: Vec<LocId>,
    numbers: BTreeMap<LocId, usize>,
    memory: Vec<u8>,
    /// Holders of locks, or counts of semaphores.
    held: BTreeMap<LocId, Vec<ThreadId>>,
    counts: BTreeMap<LocId, u64>,
}

impl<'a> States<'a> {
    pub(super) fn new(program: &'a Program, names: &'a Names<'a>, trace: &Trace) -> Self {
        let mut states = Self {
            program,
            names,
            locs: Vec::new(),
            numbers: BTreeMap::new(),
            memory: program.tables().arena().to_vec(),
            held: BTreeMap::new(),
            counts: BTreeMap::new(),
        };
        for step in &trace.steps {
            let op = program.op(step.state);
            let touched = match *op {
                Op::Sync { cell, action } if has_state(action) => Some(cell),
                _ => location(op),
            };
            // Bytes between members are copied with them, and mean nothing.
            if let Some(loc) = touched.filter(|&loc| !names.is_padding(loc)) {
                let next = states.locs.len();
                if *states.numbers.entry(loc).or_insert(next) == next {
                    states.locs.push(loc);
                }
            }
        }
        states
    }

    /// The cells with what they hold in the beginning.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let tables = self.program.tables();
        let cell = |&loc: &LocId| {
            let info = tables.loc_info(loc);
            Cell {
                name: self.names.location(loc),
                object: self.names.object(info.object),
                initial: if info.is_sync() {
                    String::new()
                } else {
                    let value = bytes(tables.arena(), info.arena, info.size);
                    self.names.value(loc, value)
                },
                born: tables.object_info(info.object).life.is_some(),
            }
        };
        self.locs.iter().map(cell).collect()
    }

    pub(super) fn step(&mut self, step: &TraceStep) -> Change {
        let mut change = Change::default();
        match *self.program.op(step.state) {
            Op::Alloc { object } => change.born = self.of(object),
            Op::Free { object } => change.dies = self.of(object),
            Op::Sync { cell, action } => self.synchronise(step, cell, action, &mut change),
            ref op => {
                let is_read = !matches!(op, Op::Store { .. });
                if let Some(loc) = location(op).filter(|_| is_read) {
                    change.reads.extend(self.numbers.get(&loc));
                }
            }
        }
        let takes_effect = step.effect != Effect::Delayed && step.older_than.is_none();
        if let (true, Some((loc, value))) = (takes_effect, step.wrote) {
            self.write(loc, value, &mut change);
        }
        change
    }

    fn of(&self, object: ObjectId) -> Vec<usize> {
        let tables = self.program.tables();
        let is_part = |(_, loc): &(usize, &LocId)| tables.loc_info(**loc).object == object;
        let parts = self.locs.iter().enumerate().filter(is_part);
        parts.map(|(number, _)| number).collect()
    }

    /// Writes bytes, and tells of every cell that holds some of them.
    fn write(&mut self, loc: LocId, value: Value, change: &mut Change) {
        let tables = self.program.tables();
        let info = tables.loc_info(loc);
        let start = info.arena as usize;
        let new = value.to_le_bytes();
        for (index, byte) in new.iter().take(usize::from(info.size)).enumerate() {
            if let Some(slot) = self.memory.get_mut(start + index) {
                *slot = *byte;
            }
        }
        let touched = std::iter::once(&loc).chain(tables.overlaps(loc));
        for other in touched {
            if let Some(&number) = self.numbers.get(other)
                && !change.sets.iter().any(|(known, _)| *known == number)
            {
                let info = tables.loc_info(*other);
                let value = bytes(&self.memory, info.arena, info.size);
                change.sets.push((number, self.names.value(*other, value)));
            }
        }
    }

    fn synchronise(
        &mut self,
        step: &TraceStep,
        cell: LocId,
        action: SyncAction,
        change: &mut Change,
    ) {
        use SyncAction as A;
        let thread = step.thread;
        let failed = step.value != 0;
        match action {
            A::Lock { .. }
            | A::TryLock { .. }
            | A::ReadLock
            | A::TryReadLock
            | A::WriteLock
            | A::TryWriteLock
                if !failed =>
            {
                self.held.entry(cell).or_default().push(thread);
            }
            A::Unlock { .. } | A::RwUnlock if !failed => self.release(cell, thread),
            A::CondRelease { mutex } => {
                self.release(mutex, thread);
                self.tell_holders(mutex, change);
                return;
            }
            A::MutexInit { .. } | A::RwInit => {}
            A::SemInit { value } => {
                self.counts.insert(cell, u64::from(value));
            }
            A::SemPost => *self.counts.entry(cell).or_default() += 1,
            A::SemWait | A::SemTryWait if !failed => {
                let count = self.counts.entry(cell).or_default();
                *count = count.saturating_sub(1);
            }
            _ => return,
        }
        match (self.counts.get(&cell), self.numbers.get(&cell)) {
            (Some(count), Some(&number)) => change.sets.push((number, count.to_string())),
            _ => self.tell_holders(cell, change),
        }
    }

    fn release(&mut self, cell: LocId, thread: ThreadId) {
        let holders = self.held.entry(cell).or_default();
        if let Some(index) = holders.iter().rposition(|holder| *holder == thread) {
            holders.remove(index);
        }
    }

    fn tell_holders(&self, cell: LocId, change: &mut Change) {
        let Some(&number) = self.numbers.get(&cell) else {
            return;
        };
        let holders = self.held.get(&cell).map_or(&[] as &[_], Vec::as_slice);
        let text = match holders {
            [] => "free".to_owned(),
            _ => {
                let names: Vec<String> = holders
                    .iter()
                    .map(|holder| self.names.short(*holder))
                    .collect();
                format!("held by {}", names.join(", "))
            }
        };
        change.sets.push((number, text));
    }
}

/// Is there something to show about an object that is used like this?
fn has_state(action: SyncAction) -> bool {
    use SyncAction as A;
    matches!(
        action,
        A::MutexInit { .. }
            | A::Lock { .. }
            | A::TryLock { .. }
            | A::Unlock { .. }
            | A::RwInit
            | A::ReadLock
            | A::TryReadLock
            | A::WriteLock
            | A::TryWriteLock
            | A::RwUnlock
            | A::SemInit { .. }
            | A::SemPost
            | A::SemWait
            | A::SemTryWait
    )
}

fn bytes(memory: &[u8], start: u32, size: u8) -> Value {
    let start = start as usize;
    let mut value = [0; 8];
    for (index, slot) in value.iter_mut().take(usize::from(size)).enumerate() {
        *slot = memory.get(start + index).copied().unwrap_or(0);
    }
    Value::from_le_bytes(value)
}
