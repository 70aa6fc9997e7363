//! Events of a trace: what they read and from whom, what they wrote.

use raddle_memory::consistency::EventId;
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
pub(super) enum Cell {
    /// All bytes of a location, a synchronisation cell, or a life cell.
    Loc(LocId),
    /// One byte of a location whose bytes have different sources.
    Byte(LocId, u8),
    /// Who joined or detached a thread.
    Handle(ThreadId),
    /// Whether a thread has finished.
    End(ThreadId),
}

impl Cell {
    fn code(self) -> u64 {
        match self {
            Self::Loc(loc) => u64::from(loc.0),
            Self::Byte(loc, byte) => 1 << 60 | u64::from(byte) << 32 | u64::from(loc.0),
            Self::Handle(thread) => 2 << 60 | u64::from(thread.0),
            Self::End(thread) => 3 << 60 | u64::from(thread.0),
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
    /// An atomic block, or the rest of one that had to wait.
    pub(super) is_block: bool,
    /// It began in the middle of a block, or left the thread there.
    pub(super) began_inside: bool,
    pub(super) ends_inside: bool,
    /// Memory found it wrong: the thread goes no further.
    pub(super) faulted: bool,
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
}

fn mix(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ x >> 32
}

fn mix_all(seed: u64, parts: [u64; 3]) -> Fingerprint {
    let mut low = seed;
    let mut high = !seed;
    for part in parts {
        low = mix(low ^ part).wrapping_add(0x9E37_79B9_7F4A_7C15);
        high = mix(high.wrapping_add(part)) ^ 0xC2B2_AE3D_27D4_EB4F;
    }
    Fingerprint::from(high) << 64 | Fingerprint::from(low)
}

const INITIAL: Fingerprint = 1;

/// What a read adds to the fingerprint of its event: fingerprints are sums, so that the order of reads does not matter.
pub(super) fn read_print(cell: Cell, source: Option<Fingerprint>) -> Fingerprint {
    let source = source.unwrap_or(INITIAL);
    mix_all(7, [cell.code(), source as u64, (source >> 64) as u64])
}

/// The fingerprint of an event before its reads.
pub(super) fn event_print(
    thread: ThreadId,
    choices: ChoiceId,
    parent: Option<Fingerprint>,
) -> Fingerprint {
    let parent = parent.unwrap_or(INITIAL);
    mix_all(
        u64::from(thread.0) << 32 | u64::from(choices),
        [parent as u64, (parent >> 64) as u64, 0],
    )
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

/// Can the operation have to wait?
pub(super) fn may_wait(op: &Op) -> bool {
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
