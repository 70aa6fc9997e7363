//! Execution graphs, written down.

use crate::access::sync_mode;
use raddle_program::{
    LocId, LocInfo, ObjectId, Op, Order, ReleaseSequences, SyncAction, ThreadId, Value,
};
use std::collections::BTreeMap;

/// Position of an event in [`ExecutionGraph::events`].
pub type EventId = usize;

/// The event that wrote what is read; none: the initial contents.
pub type Source = Option<EventId>;

/// What a plain access is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlainAccesses {
    /// It takes part in data races.
    #[default]
    Race,
    /// A relaxed atomic: nobody looks for races.
    AreRelaxed,
}

/// What has a modification order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A location, or the cell of a synchronisation object.
    Loc(LocId),
    /// The lock that atomic blocks hold.
    Blocks,
}

/// Where the bytes come from that an access reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reads {
    /// All from one write.
    One(Source),
    /// Each from its own: plain reads only.
    Bytes(Vec<Source>),
}

impl Reads {
    /// Where its `k`-th byte comes from.
    #[must_use]
    pub fn byte(&self, k: usize) -> Source {
        match self {
            Self::One(source) => *source,
            Self::Bytes(sources) => sources[k],
        }
    }

    pub fn sources(&self) -> impl Iterator<Item = Source> + '_ {
        let (one, each) = match self {
            Self::One(source) => (Some(*source), [].as_slice()),
            Self::Bytes(sources) => (None, sources.as_slice()),
        };
        one.into_iter().chain(each.iter().copied())
    }
}

/// A load, a store, or both in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    pub loc: LocId,
    pub object: ObjectId,
    /// Its bytes in the object.
    pub offset: u64,
    pub size: u8,
    pub order: Order,
    /// If it reads.
    pub reads: Option<Reads>,
    pub writes: bool,
}

impl MemoryAccess {
    #[must_use]
    pub fn is_update(&self) -> bool {
        self.reads.is_some() && self.writes
    }

    /// Does it touch the byte at this offset of the object?
    #[must_use]
    pub fn touches(&self, object: ObjectId, byte: u64) -> bool {
        self.object == object && (self.offset..self.offset + u64::from(self.size)).contains(&byte)
    }

    #[must_use]
    pub fn shares_bytes(&self, other: &Self) -> bool {
        self.object == other.object
            && self.offset < other.offset + u64::from(other.size)
            && other.offset < self.offset + u64::from(self.size)
    }
}

/// An operation on the cell of a synchronisation object: an update of its word, or a mere read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellAccess {
    pub cell: Place,
    /// The object that the cell lies in.
    pub object: Option<ObjectId>,
    pub reads: Source,
    pub writes: bool,
    pub role: Role,
}

/// Whom an operation on a cell orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nobody: it failed, or only initialises, destroys or looks.
    Nothing,
    /// It comes after what was released before.
    Acquires,
    /// What acquires later comes after it.
    Releases,
    /// Also after readers' unlocks.
    WriteLocks,
    /// Releases to all, if its thread holds the lock for writing; else to writers only.
    RwUnlocks,
    /// The last arrival of a generation comes after the others.
    Arrives { opens: Option<u32> },
    /// Comes after all arrivals of the generation.
    Departs { generation: u32 },
}

impl Role {
    /// The role of an operation that returned `value`. That of `CondRelease` is about the condition variable; its mutex is released.
    #[must_use]
    pub fn of(action: SyncAction, value: Value) -> Self {
        use SyncAction as A;
        let failed = value != 0;
        match action {
            A::Lock { .. }
            | A::TryLock { .. }
            | A::SemWait
            | A::SemTryWait
            | A::ReadLock
            | A::TryReadLock
            | A::CondAwait
            | A::CondTimeout
            | A::CondSpurious
            | A::CondPoll
                if !failed =>
            {
                Self::Acquires
            }
            A::Unlock { .. } if !failed => Self::Releases,
            A::SemPost | A::Signal | A::Broadcast | A::OnceEnd | A::OnceAbort => Self::Releases,
            A::OnceBegin => Self::Acquires,
            A::WriteLock | A::TryWriteLock if !failed => Self::WriteLocks,
            A::RwUnlock => Self::RwUnlocks,
            A::BarrierArrive => Self::Arrives {
                opens: (value & 1 == 1).then_some((value >> 1) as u32),
            },
            A::BarrierAwait { generation } => Self::Departs { generation },
            _ => Self::Nothing,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    Memory(MemoryAccess),
    Cell(CellAccess),
    Fence(Order),
    Spawn(ThreadId),
    /// Its thread has finished, and the join was no misuse.
    Join(ThreadId),
    Free(ObjectId),
    /// Orders nothing but by its place in its thread.
    Local,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub thread: ThreadId,
    pub kind: EventKind,
}

/// An execution. Events are in an order in which those of a thread come one after another, a thread's after its spawn, a join after the
/// thread it joins, and reads after the writes that they read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionGraph {
    pub events: Vec<Event>,
    /// The writes of each place in the modification order, without the initial one.
    pub modification: BTreeMap<Place, Vec<EventId>>,
    pub release_sequences: ReleaseSequences,
    pub plain: PlainAccesses,
}

/// What the graph needs to know about an operation besides what it is.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    pub thread: ThreadId,
    pub value: Value,
    pub end: End,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    /// It is wrong in the state in which it found its cell or its thread.
    Misused,
    /// What it is about had been freed.
    Freed,
}

impl ExecutionGraph {
    #[must_use]
    pub fn new(release_sequences: ReleaseSequences, plain: PlainAccesses) -> Self {
        Self {
            release_sequences,
            plain,
            ..Self::default()
        }
    }

    /// Adds an operation that was done: one event, or two for `CondRelease`. `reads` is what it reads, if it does; `after` the write right
    /// behind which its own write comes in the modification order (none: the initial one). An update comes behind what it reads.
    ///
    /// An operation that went wrong has no effect: one that misuses a cell has read its word, everything else is [`EventKind::Local`].
    pub fn push(
        &mut self,
        info: impl Fn(LocId) -> LocInfo,
        op: &Op,
        done: Done,
        reads: Reads,
        after: Source,
    ) {
        let kind = event_kind(&info, op, done, reads);
        let (place, after) = match &kind {
            EventKind::Memory(access) if access.writes => (Some(Place::Loc(access.loc)), after),
            EventKind::Cell(access) if access.writes => (Some(access.cell), access.reads),
            _ => (None, None),
        };
        let event = self.add(done.thread, kind);
        if let Some(place) = place {
            self.insert(place, event, after);
        }
        if let (
            &Op::Sync {
                action: SyncAction::CondRelease { mutex },
                ..
            },
            false,
        ) = (op, done.end != End::Done)
        {
            self.release_mutex(mutex, info(mutex).object, done.thread);
        }
    }

    /// The second half of a wait for a condition variable. Whoever holds a mutex is the last that changed its cell.
    fn release_mutex(&mut self, mutex: LocId, object: ObjectId, thread: ThreadId) {
        let cell = Place::Loc(mutex);
        let reads = self.last_write(cell);
        let kind = EventKind::Cell(CellAccess {
            cell,
            object: Some(object),
            reads,
            writes: true,
            role: Role::Releases,
        });
        let event = self.add(thread, kind);
        self.insert(cell, event, reads);
    }

    fn add(&mut self, thread: ThreadId, kind: EventKind) -> EventId {
        self.events.push(Event { thread, kind });
        self.events.len() - 1
    }

    fn insert(&mut self, place: Place, event: EventId, after: Source) {
        let order = self.modification.entry(place).or_default();
        let position = after
            .and_then(|after| order.iter().position(|&other| other == after))
            .map_or(0, |position| position + 1);
        order.insert(position, event);
    }

    /// The last write of a place in its modification order.
    #[must_use]
    pub fn last_write(&self, place: Place) -> Source {
        self.modification.get(&place)?.last().copied()
    }

    /// Takes events back until there are so many.
    pub fn truncate(&mut self, length: usize) {
        if self.events.len() > length {
            self.events.truncate(length);
            for order in self.modification.values_mut() {
                order.retain(|&event| event < length);
            }
            self.modification.retain(|_, order| !order.is_empty());
        }
    }

    /// The first events alone.
    #[must_use]
    pub fn prefix(&self, length: usize) -> Self {
        let mut prefix = self.clone();
        prefix.truncate(length);
        prefix
    }

    /// The order of an access, as far as it counts.
    pub(super) fn order(&self, access: &MemoryAccess) -> Order {
        match (access.order, self.plain) {
            (Order::Plain, PlainAccesses::AreRelaxed) => Order::Relaxed,
            (order, _) => order,
        }
    }

    #[must_use]
    pub fn memory(&self, event: EventId) -> Option<&MemoryAccess> {
        match &self.events[event].kind {
            EventKind::Memory(access) => Some(access),
            _ => None,
        }
    }

    #[must_use]
    pub fn cell(&self, event: EventId) -> Option<&CellAccess> {
        match &self.events[event].kind {
            EventKind::Cell(access) => Some(access),
            _ => None,
        }
    }
}

fn event_kind(info: &impl Fn(LocId) -> LocInfo, op: &Op, done: Done, reads: Reads) -> EventKind {
    let faulted = done.end != End::Done;
    let (loc, order, has_read, writes) = match *op {
        Op::Sync { cell, action } if done.end != End::Freed => {
            return EventKind::Cell(CellAccess {
                cell: Place::Loc(cell),
                object: Some(info(cell).object),
                reads: reads.byte(0),
                writes: !faulted && sync_mode(action, done.value).writes(),
                role: if faulted {
                    Role::Nothing
                } else {
                    Role::of(action, done.value)
                },
            });
        }
        _ if faulted => return EventKind::Local,
        Op::AtomicBegin | Op::AtomicEnd => {
            return EventKind::Cell(CellAccess {
                cell: Place::Blocks,
                object: None,
                reads: reads.byte(0),
                writes: true,
                role: match op {
                    Op::AtomicBegin => Role::Acquires,
                    _ => Role::Releases,
                },
            });
        }
        Op::Fence { order } => return EventKind::Fence(order),
        Op::Spawn { child, .. } => return EventKind::Spawn(child),
        Op::Join { thread } => return EventKind::Join(thread),
        Op::Free { object } => return EventKind::Free(object),
        Op::Load { loc, order } => (loc, order, true, false),
        Op::Store { loc, order, .. } => (loc, order, false, true),
        Op::Rmw { loc, order, .. } => (loc, order, true, true),
        Op::Cas {
            loc,
            expected,
            success,
            failure,
            ..
        } => {
            let succeeded = done.value == expected;
            (
                loc,
                if succeeded { success } else { failure },
                true,
                succeeded,
            )
        }
        _ => return EventKind::Local,
    };
    let info = info(loc);
    EventKind::Memory(MemoryAccess {
        loc,
        object: info.object,
        offset: info.offset,
        size: info.size,
        order,
        reads: has_read.then_some(reads),
        writes,
    })
}
