//! Events of a trace: what they read and from whom, what they wrote.

use raddle_memory::consistency::EventId;
use raddle_memory::perform;
use raddle_program::{LocId, Op, StateId, SyncAction, Tables, ThreadId, Value};
use smallvec::SmallVec;

/// A position in the trace.
pub(super) type Pos = EventId;
/// No event; as a source: the initial contents.
pub(super) const NO_EVENT: Pos = raddle_memory::consistency::INIT;
/// Stands for the event that an alternative brings along until it has a position.
pub(super) const EXTRA: Pos = NO_EVENT - 1;

/// What is read and written as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// All bytes of a location, a synchronisation cell, or a life cell.
    Loc(LocId),
    /// One byte of a location whose bytes have different sources.
    Byte(LocId, u8),
    /// Who joined or detached a thread.
    Handle(ThreadId),
    /// Whether a thread has finished.
    End(ThreadId),
}

impl From<perform::Cell> for Cell {
    fn from(cell: perform::Cell) -> Self {
        match cell {
            perform::Cell::Loc(loc) => Self::Loc(loc),
            perform::Cell::Handle(thread) => Self::Handle(thread),
            perform::Cell::End(thread) => Self::End(thread),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) cell: Cell,
    pub(super) source: Pos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) cell: Cell,
    pub(super) value: Value,
}

/// What the alternatives of an event are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Branching {
    /// There are none.
    None,
    /// The same operation reading from elsewhere, or choosing otherwise.
    Reads,
    /// The operation could have had to wait: whatever updates the cell instead of it, after the same update.
    Successor,
    /// The cell is one that threads wait for in loops. Either the operation reads from something that was there when its turn
    /// came, or somebody else updates the cell first, after the same update. See `awaits`.
    Chained,
}

/// Fingerprints of events with everything that is causally before them.
pub(super) type Fingerprint = u128;

/// Choices made inside an event: a list in the engine's table.
pub(super) type ChoiceId = u32;

#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) thread: ThreadId,
    /// Counts the thread's events from 1.
    pub(super) index: u32,
    /// The local state it left.
    pub(super) state: StateId,
    /// The local state it led to.
    pub(super) after: StateId,
    pub(super) choices: ChoiceId,
    /// The event before it in its thread; the spawn for a first event.
    pub(super) parent: Pos,
    pub(super) reads: SmallVec<[Read; 2]>,
    pub(super) writes: SmallVec<[Write; 2]>,
    pub(super) branching: Branching,
    /// The cell whose source decides between its alternatives, unless it is complex.
    pub(super) primary: Option<Cell>,
    /// It may be complex: a block, or something that reads other cells than its primary one.
    pub(super) wide: bool,
    /// An atomic block, or the rest of one that had to wait.
    pub(super) is_block: bool,
    /// It changes what others may be using, without waiting for them: see [`intrudes`].
    pub(super) intrudes: bool,
    /// It began in the middle of a block, or left the thread there.
    pub(super) began_inside: bool,
    pub(super) ends_inside: bool,
    /// Memory found it wrong: the thread goes no further.
    pub(super) faulted: bool,
    /// It left memory as it was, and is of a kind that may: see `crate::purity`.
    pub(super) is_pure: bool,
    /// It completed an iteration without effect: the thread goes no further.
    pub(super) ends_thread: bool,
    /// A copy: its alternatives are looked for elsewhere (section 4: "marked").
    pub(super) marked: bool,
    pub(super) fingerprint: Fingerprint,
}

impl Event {
    pub(super) fn source(&self, cell: Cell) -> Option<Pos> {
        self.reads
            .iter()
            .find(|read| read.cell == cell)
            .map(|read| read.source)
    }

    pub(super) fn written(&self, cell: Cell) -> Option<Value> {
        self.writes
            .iter()
            .rev()
            .find(|write| write.cell == cell)
            .map(|write| write.value)
    }

    pub(super) fn writes(&self, cell: Cell) -> bool {
        self.written(cell).is_some()
    }

    /// The threads that it starts. A block may have detached one after that; whoever has not started it looks at its handle first.
    pub(super) fn spawned(&self) -> impl Iterator<Item = ThreadId> {
        self.writes.iter().filter_map(|write| match write.cell {
            Cell::Handle(child) => self.source(write.cell).is_none().then_some(child),
            _ => None,
        })
    }
}

/// Mixes three words by two wide multiplications.
#[inline]
pub(super) fn mix(a: u64, b: u64, c: u64) -> Fingerprint {
    const KEYS: [u64; 4] = [
        0xA076_1D64_78BD_642F,
        0xE703_7ED1_A0B4_28DB,
        0x8EBC_6AF0_9C88_C6E3,
        0x5899_65CC_7537_4CC3,
    ];
    let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
    let first = wide(a ^ KEYS[0], b ^ KEYS[1]);
    let folded = (first >> 64) as u64 ^ first as u64;
    let second = wide(folded ^ c ^ KEYS[2], c.rotate_left(32) ^ KEYS[3]);
    second ^ first.rotate_left(37)
}

const INITIAL: Fingerprint = 1;

/// A fingerprint, or that of what was there at first, with something that it is for: a cell that is read, or who goes on and how. See
/// [`super::codes`].
#[inline]
pub(super) fn print_with(print: Option<Fingerprint>, code: u64) -> Fingerprint {
    let print = print.unwrap_or(INITIAL);
    mix(print as u64, (print >> 64) as u64, code)
}

/// What the alternatives of an event are, given its operation and its accesses.
pub(super) fn branching(op: &Op, event: &Event) -> Branching {
    let begins_with_wait = matches!(op, Op::Sync { action, .. } if action.may_wait());
    match *op {
        Op::Sync { cell, .. } if begins_with_wait && event.writes(Cell::Loc(cell)) => {
            Branching::Successor
        }
        Op::Join { .. } => Branching::Successor,
        Op::Choice { .. } => Branching::Reads,
        _ if event.reads.is_empty() && event.choices == 0 => Branching::None,
        _ => Branching::Reads,
    }
}

/// Does the event change what others may be using, without waiting for them? It frees an object, makes or destroys a mutex,
/// makes a barrier, misuses a synchronisation object; blocks may do so in their middle.
pub(super) fn intrudes(op: &Op, event: &Event) -> bool {
    event.is_block
        || match op {
            Op::Free { .. } => true,
            Op::Sync { action, .. } => {
                let makes = matches!(
                    action,
                    SyncAction::MutexInit { .. }
                        | SyncAction::MutexDestroy
                        | SyncAction::BarrierInit { .. }
                );
                makes || event.faulted
            }
            _ => false,
        }
}

/// The cell whose source decides between the alternatives of an event that is not complex.
pub(super) fn primary(tables: &Tables, op: &Op) -> Option<Cell> {
    match *op {
        Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => Some(Cell::Loc(loc)),
        Op::Sync { cell, .. } => Some(Cell::Loc(cell)),
        Op::Alloc { object } | Op::Free { object } => {
            tables.object_info(object).life.map(Cell::Loc)
        }
        Op::Join { thread } | Op::Detach { thread } => Some(Cell::Handle(thread)),
        _ => None,
    }
}

/// Is this the cell that says whether an object lives?
pub(super) fn is_life(tables: &Tables, cell: Cell) -> bool {
    match cell {
        Cell::Loc(loc) => tables.object_info(tables.loc_info(loc).object).life == Some(loc),
        _ => false,
    }
}

/// Is the location of a cell cut into several?
pub(super) fn is_mixed(tables: &Tables, cell: Cell) -> bool {
    match cell {
        Cell::Byte(..) => true,
        Cell::Loc(loc) => tables.loc_info(loc).mixed,
        _ => false,
    }
}

/// Is this the cell of a synchronisation object, or one that says whether an object lives?
fn is_sync(tables: &Tables, cell: Cell) -> bool {
    match cell {
        Cell::Loc(loc) => tables.loc_info(loc).is_sync(),
        _ => false,
    }
}

/// May the event be complex? See [`Event::wide`].
pub(super) fn is_wide(tables: &Tables, event: &Event) -> bool {
    event.is_block
        || event.reads.iter().any(|read| {
            is_mixed(tables, read.cell)
                || (Some(read.cell) != event.primary && is_sync(tables, read.cell))
        })
}

/// Can the operation have to wait?
pub(crate) fn may_wait(op: &Op) -> bool {
    match op {
        Op::Sync { action, .. } => action.may_wait(),
        Op::Join { .. } => true,
        _ => false,
    }
}

/// Is it one of the operations that a block or a thread waits at, on a synchronisation cell?
pub(super) fn sync_of(op: &Op) -> Option<(LocId, SyncAction)> {
    match *op {
        Op::Sync { cell, action } => Some((cell, action)),
        _ => None,
    }
}
