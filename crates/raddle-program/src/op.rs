//! Visible operations: the only thing that engines know of a thread's code.

use crate::Tables;
use crate::ids::{LocId, ObjectId, StateId, StopId, ThreadId};
use crate::interp::float;

/// What an operation reads, writes or returns: the low bytes of the location's size, zero-extended. Accesses wider than
/// eight bytes are several operations (inside an atomic block where they must be one).
pub type Value = u64;

/// Memory orderings. Under SC they matter only to data races and happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// A plain access: takes part in data races.
    Plain,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    #[must_use]
    pub fn is_atomic(self) -> bool {
        self != Self::Plain
    }

    /// Does a read with this ordering synchronise with the release it reads from?
    #[must_use]
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    /// Does a write with this ordering publish what its thread did before?
    #[must_use]
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

/// Which writes continue a release sequence, besides read-modify-writes of any thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseSequences {
    /// None: C++20 and what follows it, Rust.
    #[default]
    UpdatesOnly,
    /// Those of the thread that began it: C11, C17 and C++11 to C++17.
    SameThread,
}

/// Read-modify-writes. All work on the size of their location, wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwKind {
    Exchange,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    /// Increment, to 0 past the operand.
    UIncWrap,
    /// Decrement, to the operand at 0 or past it.
    UDecWrap,
    /// Subtract if the result does not wrap.
    USubCond,
    /// Subtract, stopping at 0.
    USubSat,
    /// On `float` or `double`, by the location's size.
    FAdd,
    FSub,
    FMax,
    FMin,
}

impl RmwKind {
    /// The value written over `old`, both `size` bytes wide.
    #[must_use]
    pub fn apply(self, old: Value, operand: Value, size: u8) -> Value {
        let mask = mask(size);
        let (signed_old, signed_operand) = (sign_extend(old, size), sign_extend(operand, size));
        let new = match self {
            Self::Exchange => operand,
            Self::Add => old.wrapping_add(operand),
            Self::Sub => old.wrapping_sub(operand),
            Self::And => old & operand,
            Self::Nand => !(old & operand),
            Self::Or => old | operand,
            Self::Xor => old ^ operand,
            Self::Max => signed_old.max(signed_operand).cast_unsigned(),
            Self::Min => signed_old.min(signed_operand).cast_unsigned(),
            Self::UMax => old.max(operand),
            Self::UMin => old.min(operand),
            Self::UIncWrap => {
                if old >= operand {
                    0
                } else {
                    old + 1
                }
            }
            Self::UDecWrap => {
                if old == 0 || old > operand {
                    operand
                } else {
                    old - 1
                }
            }
            Self::USubCond => {
                if old >= operand {
                    old - operand
                } else {
                    old
                }
            }
            Self::USubSat => old.saturating_sub(operand),
            Self::FAdd | Self::FSub | Self::FMax | Self::FMin => {
                self.apply_float(old, operand, size)
            }
        };
        new & mask
    }

    fn apply_float(self, old: Value, operand: Value, size: u8) -> Value {
        let decode = |bits: Value| match size {
            4 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        };
        let (a, b) = (decode(old), decode(operand));
        let new = match self {
            Self::FAdd => a + b,
            Self::FSub => a - b,
            Self::FMax => float::greater(a, b),
            _ => float::lesser(a, b),
        };
        match size {
            4 => float::single_bits(new),
            _ => float::double_bits(new),
        }
    }
}

/// All bits of a value of `size` bytes.
#[inline]
#[must_use]
pub fn mask(size: u8) -> Value {
    if size >= 8 {
        Value::MAX
    } else {
        (1 << (8 * u32::from(size))) - 1
    }
}

/// The value of `size` bytes as a signed number.
#[inline]
#[must_use]
pub fn sign_extend(value: Value, size: u8) -> i64 {
    let shift = 64 - 8 * u32::from(size.clamp(1, 8));
    (value << shift).cast_signed() >> shift
}

/// Kinds of mutexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MutexKind {
    /// Locking it twice deadlocks.
    Normal,
    /// Locking it again counts.
    Recursive,
    /// Locking it twice returns `EDEADLK`, unlocking it without owning it `EPERM`.
    ErrorCheck,
}

impl MutexKind {
    /// Where the C library keeps the number of the kind in a mutex: [`Self::from_number`].
    pub const OFFSET: u64 = 16;
    /// The same on i386.
    pub const OFFSET_ILP32: u64 = 12;
    pub const SIZE: u8 = 4;

    /// The kind behind the number that the C library has for it, in static initialisers and in attributes.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        match number {
            1 => Self::Recursive,
            2 => Self::ErrorCheck,
            _ => Self::Normal,
        }
    }
}

/// Operations on synchronisation cells. Each is one atomic step on its cell: a read-modify-write that may have to wait
/// until the cell's value allows it. The cell's value and its transitions are the memory's business
/// (`raddle_memory::sync`); the values returned are what is written here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncAction {
    /// Returns 0.
    MutexInit {
        kind: MutexKind,
    },
    /// Returns 0; misuse if locked.
    MutexDestroy,
    /// Waits until free (or own, if recursive). Returns 0, or `EDEADLK` (35) for an error-checking mutex already owned.
    ///
    /// `kind`, here and below: what it is if neither a call nor an operation before has made it anything. None: what its static
    /// initialiser says, as it is in memory; nobody changes that while there are other threads ([`crate::uses`]).
    Lock {
        kind: Option<MutexKind>,
    },
    /// Never waits. Returns 0 if it got the mutex, `EBUSY` (16) if not.
    TryLock {
        kind: Option<MutexKind>,
    },
    /// Returns 0, or `EPERM` (1) for an error-checking mutex of somebody else; misuse for other kinds.
    Unlock {
        kind: Option<MutexKind>,
    },
    /// Atomically releases `mutex` and enters the condition variable's queue. Returns 0; misuse if not the owner.
    CondRelease {
        mutex: LocId,
    },
    /// Waits until woken. Returns 0. (The mutex is then taken again by a `Lock`.)
    CondAwait,
    /// Leaves the queue. Returns `ETIMEDOUT` (110), or 0 if a signal was already meant for this thread.
    CondTimeout,
    /// The same for a spurious wake-up.
    CondSpurious,
    /// Never waits. Returns 0 if there is a signal that this thread may have, and takes it; otherwise leaves the queue and
    /// returns `ETIMEDOUT` (110).
    CondPoll,
    /// Wakes one waiter that entered the queue before. Returns 0.
    Signal,
    /// Wakes all that wait. Returns 0.
    Broadcast,
    CondInit,
    /// Misuse if threads wait.
    CondDestroy,
    RwInit,
    RwDestroy,
    /// Waits while a writer holds it. Returns 0.
    ReadLock,
    /// Returns 0 or `EBUSY` (16).
    TryReadLock,
    /// Waits while anybody holds it. Returns 0 or `EDEADLK` (35) if this thread holds it for writing.
    WriteLock,
    /// Returns 0 or `EBUSY` (16).
    TryWriteLock,
    /// Returns 0; misuse if not held.
    RwUnlock,
    SemInit {
        value: u32,
    },
    /// Waits until positive, then takes one. Returns 0.
    SemWait,
    /// Returns 0 or `EAGAIN` (11).
    SemTryWait,
    /// Returns 0.
    SemPost,
    /// Returns the count.
    SemGet,
    SemDestroy,
    BarrierInit {
        count: u32,
    },
    BarrierDestroy,
    /// Never waits. Returns `generation << 1 | last`; the last arriver opens the next generation.
    BarrierArrive,
    /// Waits until the barrier's generation is past `generation`. Returns 0.
    BarrierAwait {
        generation: u32,
    },
    /// Waits while another thread runs the initialiser. Returns 0: run it, then do `OnceEnd`; 1: it has been run.
    OnceBegin,
    /// Returns 0.
    OnceEnd,
    /// The initialiser was left by an exception: the next thread runs it again. Returns 0.
    OnceAbort,
}

impl SyncAction {
    /// Operations on a mutex that is of the kind that its static initialiser says, unless it was made otherwise.
    pub const LOCK: Self = Self::Lock { kind: None };
    pub const TRY_LOCK: Self = Self::TryLock { kind: None };
    pub const UNLOCK: Self = Self::Unlock { kind: None };

    /// The same operation on a mutex of which somebody has looked up the kind.
    #[must_use]
    pub fn of_kind(self, found: MutexKind) -> Self {
        let kind = Some(found);
        match self {
            Self::Lock { .. } => Self::Lock { kind },
            Self::TryLock { .. } => Self::TryLock { kind },
            Self::Unlock { .. } => Self::Unlock { kind },
            other => other,
        }
    }

    /// Does it depend on what the static initialiser of a mutex says, in memory?
    #[must_use]
    pub fn reads_kind(self) -> bool {
        matches!(
            self,
            Self::Lock { kind: None } | Self::TryLock { kind: None } | Self::Unlock { kind: None }
        )
    }

    /// Does it do nothing, and return something else than 0, where it cannot have what it wants?
    #[must_use]
    pub fn is_try(self) -> bool {
        matches!(
            self,
            Self::TryLock { .. } | Self::TryReadLock | Self::TryWriteLock | Self::SemTryWait
        )
    }
}

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChoiceOf {
    /// What happens: whether a wait is given up, and the like.
    Course,
    /// Does a thread wake up spuriously from a condition variable? 1 if it does.
    Waking,
    /// Does an operation fail for no reason that may do so? 1 if it does.
    Failing,
    /// The bits from `shift` on of a value of so many bits that a nondeterministic function returns. The pieces of a value are
    /// chosen one after the other, low ones first.
    Value {
        shift: u8,
        bits: u8,
        kind: NumberKind,
    },
}

/// What the bits of a number mean. Only reports ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    Unsigned,
    Signed,
    Floating,
}

/// The next visible operation of a thread in some local state, fully resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Returns the value read.
    Load {
        loc: LocId,
        order: Order,
    },
    /// Returns 0.
    Store {
        loc: LocId,
        value: Value,
        order: Order,
    },
    /// Returns the old value.
    Rmw {
        loc: LocId,
        kind: RmwKind,
        operand: Value,
        order: Order,
    },
    /// Returns the old value; writes `new` if that equals `expected`, else is a mere read with ordering `failure`.
    Cas {
        loc: LocId,
        expected: Value,
        new: Value,
        success: Order,
        failure: Order,
    },
    /// Returns 0.
    Fence {
        order: Order,
    },
    /// An operation on a synchronisation cell; returns what [`SyncAction`] says.
    Sync {
        cell: LocId,
        action: SyncAction,
    },
    /// Starts a thread in state `start`. Returns 0.
    Spawn {
        child: ThreadId,
        start: StateId,
    },
    /// Waits until the thread has finished. Returns its exit value.
    Join {
        thread: ThreadId,
    },
    /// Nobody will join this thread. Returns 0.
    Detach {
        thread: ThreadId,
    },
    /// The object comes to life. Returns 0.
    Alloc {
        object: ObjectId,
    },
    /// The object dies (`free`, or the end of an escaping stack variable's scope). Returns 0.
    Free {
        object: ObjectId,
    },
    /// Returns any of `0..count`.
    Choice {
        count: u32,
        of: ChoiceOf,
    },
    /// Until the matching end no other thread runs. Both return 0. Blocks do not nest (the program flattens them).
    AtomicBegin,
    AtomicEnd,
    /// An assumption failed: the thread is blocked for good, and that is nobody's fault. Terminal.
    AssumeFailed,
    /// The thread has finished with this value. Terminal.
    Exit {
        value: Value,
    },
    /// The whole program ends here. Terminal. Other threads may be explored as if they had been faster: every prefix of
    /// them before the exit is an execution, so a violation of theirs is real; but nothing they wait for is a deadlock.
    ExitProcess {
        code: i32,
    },
    /// The thread cannot go on: a fault, an unsupported construct or a limit. Terminal.
    Stop(StopId),
}

impl Op {
    /// Can this be the plain side of a data race?
    #[must_use]
    pub fn is_plain(&self) -> bool {
        matches!(
            self,
            Self::Load {
                order: Order::Plain,
                ..
            } | Self::Store {
                order: Order::Plain,
                ..
            } | Self::Rmw {
                order: Order::Plain,
                ..
            } | Self::Cas {
                success: Order::Plain,
                ..
            } | Self::Free { .. }
        )
    }

    /// The location in memory that it accesses.
    #[inline]
    #[must_use]
    pub fn accessed(&self) -> Option<LocId> {
        match *self {
            Self::Load { loc, .. }
            | Self::Store { loc, .. }
            | Self::Rmw { loc, .. }
            | Self::Cas { loc, .. } => Some(loc),
            _ => None,
        }
    }

    /// What it writes to memory if it finds `old` there.
    #[inline]
    #[must_use]
    pub fn written(&self, tables: &Tables, old: Value) -> Option<Value> {
        match *self {
            Self::Store { value, .. } => Some(value),
            Self::Rmw {
                loc, kind, operand, ..
            } => Some(kind.apply(old, operand, tables.loc_info(loc).size)),
            Self::Cas { expected, new, .. } => (old == expected).then_some(new),
            _ => None,
        }
    }

    /// Has the thread nothing more to do from here?
    #[inline]
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(
            self,
            Self::AssumeFailed | Self::Exit { .. } | Self::ExitProcess { .. } | Self::Stop(_)
        )
    }

    /// Does the thread stop here before its end?
    #[inline]
    #[must_use]
    pub fn stops_short(&self) -> bool {
        matches!(self, Self::AssumeFailed | Self::Stop(_))
    }
}

impl SyncAction {
    /// Can this operation have to wait?
    #[must_use]
    pub fn may_wait(self) -> bool {
        matches!(
            self,
            Self::Lock { .. }
                | Self::CondAwait
                | Self::ReadLock
                | Self::WriteLock
                | Self::SemWait
                | Self::BarrierAwait { .. }
                | Self::OnceBegin
        )
    }

    /// Can this operation find its cell in a state in which it changes nothing?
    #[must_use]
    pub fn may_fail(self) -> bool {
        matches!(
            self,
            Self::TryLock { .. }
                | Self::TryReadLock
                | Self::TryWriteLock
                | Self::SemTryWait
                | Self::Unlock { .. }
        )
    }
}
