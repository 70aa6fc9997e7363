//! What a model and those who run it say to each other.

use crate::fault::{Fault, Limit, Stop};
use crate::ids::ThreadId;
use crate::models::ModelId;
use crate::op::{Op, Order, RmwKind, SyncAction, Value};
use crate::tables::Exhausted;
use raddle_ir::{BlockId, FuncId};

/// What a memory access needs: nothing more, or a visible operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Private or constant memory: here is the value.
    Done(Value),
    Visible(Op),
}

/// What a new thread runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The function at this address.
    Function(u64),
    /// A model, under this name.
    Model(&'static str),
}

/// What a model wants of a symbolic engine that runs it: see [`crate::interp::view::ModelCall`]. Each is answered by a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Load {
        address: u64,
        size: u8,
        order: Order,
    },
    Store {
        address: u64,
        size: u8,
        value: Value,
        order: Order,
    },
    /// Wants the old value.
    Rmw {
        address: u64,
        size: u8,
        kind: RmwKind,
        operand: Value,
        order: Order,
    },
    /// Wants the old value.
    Cas {
        address: u64,
        size: u8,
        expected: Value,
        new: Value,
        orders: (Order, Order),
    },
    Fence {
        order: Order,
    },
    Sync {
        address: u64,
        action: SyncAction,
    },
    /// The first bytes of a synchronisation object, if anybody writes there; wants nothing.
    LookAt {
        object: u64,
    },
    /// Wants the first slot of the result.
    Call {
        function: FuncId,
        args: Vec<u64>,
    },
    /// Wants the address of a zeroed block.
    Allocate {
        size: u64,
        align: u64,
    },
    Free {
        address: u64,
    },
    AtomicBegin,
    AtomicEnd,
    /// Wants any number below `count`.
    Choice {
        count: u32,
    },
    /// Wants an argument that was left open.
    Argument {
        index: usize,
    },
    /// Wants a number for the place from which the library function is called.
    PlaceOfCall,
    /// A string is read, no more than `limit` bytes of it; what it says does not matter.
    LookAtString {
        address: u64,
        limit: u64,
    },
    /// Wants the address of what the thread has for itself under a name.
    ThreadObject {
        name: &'static str,
        size: u64,
    },
    /// Wants a value that the thread keeps.
    ThreadValue {
        kind: u32,
        key: u64,
    },
    SetThreadValue {
        kind: u32,
        key: u64,
        value: u64,
    },
    /// Wants the first key above `after` that the thread keeps a value under, or 0.
    NextThreadKey {
        kind: u32,
        after: u64,
    },
}

/// Why a model leaves off before its end.
#[derive(Clone, Debug)]
pub enum Pause {
    Op(Op),
    /// Only of models that a symbolic engine runs.
    Ask(Request),
    Call {
        function: FuncId,
        args: Vec<u64>,
    },
    Spawn {
        child: ThreadId,
        model: ModelId,
        args: Vec<u64>,
    },
    Stop(Stop),
}

impl From<Stop> for Pause {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<Fault> for Pause {
    fn from(fault: Fault) -> Self {
        Self::Stop(Stop::Fault(fault))
    }
}

impl From<Exhausted> for Pause {
    fn from(exhausted: Exhausted) -> Self {
        Self::Stop(exhausted.into())
    }
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Self {
        Self::Limit(match exhausted {
            Exhausted::Ids { what } => Limit::Ids { what },
            Exhausted::NameClash { what } => Limit::NameClash { what },
        })
    }
}

/// How a model ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Returns a value of one slot (integers up to 64 bits, pointers, floats).
    Return(u64),
    /// Returns a value of several slots: `i128`, structs.
    Values(Vec<u64>),
    Void,
    /// Runs the body of the function that was called instead.
    Original,
    /// Goes back without the caller noticing: a model below is run again as it stands.
    Unnoticed,
    /// Raises an exception: what `raddle.unwind` takes.
    Raise(Vec<u64>),
    /// Goes on at a landing pad of the function that called this one, with these values.
    Land {
        block: BlockId,
        values: Vec<u64>,
    },
    /// Leaves the thread at once. (`pthread_exit` and its like use [`Script::leave_thread`], which tidies up first.)
    ExitThread(u64),
    /// `main` has returned, and other threads go on.
    ReturnFromMain(u64),
    ExitProcess(i32),
    /// The thread is blocked for good, and that is nobody's fault.
    AssumeFailed,
    /// Forgets the whole call stack and runs this model instead.
    Become(&'static str, Vec<u64>),
}

pub type ModelResult = Result<Outcome, Pause>;
