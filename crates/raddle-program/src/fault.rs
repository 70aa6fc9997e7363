//! Why an execution is wrong, or cannot go on. Data only; wording lives in `raddle-report`.

use crate::ids::{ObjectId, ThreadId};
use crate::op::Value;

/// How memory was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    Read,
    Write,
    /// An atomic read-modify-write, or an operation on a mutex or another synchronisation object.
    Update,
    Free,
}

/// Misuse of a synchronisation object or a thread handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Misuse {
    UnlockNotOwned,
    UnlockUnlocked,
    DestroyLocked,
    UseDestroyed,
    /// `pthread_cond_wait` with a mutex that the thread does not hold.
    WaitWithoutMutex,
    DestroyWithWaiters,
    JoinTwice,
    JoinDetached,
    JoinSelf,
    /// The handle names no thread.
    JoinUnknown,
    DetachTwice,
    /// The object was never initialised as what it is used for.
    WrongKind,
    BarrierCountZero,
}

/// The values behind a condition that is false. Where the condition is of the form `a && b`, those of one part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Comparison {
    pub left: Value,
    /// None where `left` is itself the truth value.
    pub right: Option<Value>,
    pub kind: ComparedAs,
    /// Which part of the condition is false, counted from 0, and how many there are.
    pub part: u32,
    pub parts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComparedAs {
    /// Equality does not tell whether the numbers have a sign.
    Integer {
        bits: u8,
        signed: Option<bool>,
    },
    Pointer,
    Float,
    Double,
}

/// What an exception leaves that nobody catches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaves {
    Main,
    Thread,
    /// A function that is `noexcept`, a destructor, or one that a library function called.
    Function,
    /// A destructor that is run because of another exception.
    Cleanup,
}

/// How a panic ends the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PanicEnd {
    /// Nobody catches it.
    Here,
    /// It comes where nothing may be unwound: while another one unwinds the stack, in a function that other languages call.
    CannotUnwind,
    /// It left its thread, and nobody has joined that by the end.
    Unseen,
    /// It was caught or received, and is sent on, or somebody panics in turn because of it, saying this.
    PassedOn { by: Box<str> },
}

/// A violation that one thread commits: by its own values (found by the program) or by the state it meets (found by the
/// memory).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// `assert`: the condition's text as the compiler passed it.
    Assertion {
        condition: Box<str>,
        /// What was compared, where the code shows it.
        comparison: Option<Comparison>,
    },
    /// `__VERIFIER_error`, `reach_error`.
    ErrorReached {
        function: Box<str>,
    },
    Abort,
    /// A Rust panic that nobody catches, or `std::terminate`.
    Panic {
        /// What it says, if that is known.
        message: Box<str>,
        end: PanicEnd,
    },
    /// A C++ exception goes where none may.
    Exception {
        /// The mangled name of its type's description, if that has one.
        type_symbol: Box<str>,
        /// What it says of itself, if anything.
        message: Box<str>,
        leaves: Leaves,
    },
    NullDereference {
        access: AccessKind,
        address: u64,
    },
    /// The address lies in no object.
    WildPointer {
        access: AccessKind,
        address: u64,
    },
    OutOfBounds {
        access: AccessKind,
        object: ObjectId,
        offset: i64,
        size: u64,
    },
    /// An atomic access that its address does not allow.
    Misaligned {
        access: AccessKind,
        object: ObjectId,
        offset: i64,
        size: u64,
    },
    WriteToConstant {
        object: ObjectId,
        offset: i64,
    },
    UseAfterFree {
        access: AccessKind,
        object: ObjectId,
        offset: i64,
    },
    DoubleFree {
        object: ObjectId,
    },
    /// `free` of something `malloc` did not return.
    InvalidFree {
        address: u64,
        object: Option<ObjectId>,
        offset: i64,
    },
    DivisionByZero,
    /// Signed overflow (`--check overflow`), also of a division.
    Overflow {
        operation: Box<str>,
    },
    /// Something depends on memory, or on a variable, that nobody has written (`--check uninit`). Where it is memory that
    /// threads share, which.
    Uninitialised {
        object: Option<ObjectId>,
        offset: i64,
    },
    /// An `unreachable` instruction was reached (undefined behaviour such as falling off a non-void function).
    Unreachable,
    Misuse {
        misuse: Misuse,
        object: Option<ObjectId>,
        thread: Option<ThreadId>,
    },
}

impl Fault {
    /// Is it an access to memory that was freed, or freeing it again?
    #[must_use]
    pub fn is_dead_access(&self) -> bool {
        matches!(self, Self::UseAfterFree { .. } | Self::DoubleFree { .. })
    }
}

/// Something that is beyond Raddle, reached by an execution: the input is at fault (exit status 2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Unsupported {
    UnknownFunction {
        name: Box<str>,
    },
    /// The contents of a variable that is only declared are needed.
    UnknownVariable {
        name: Box<str>,
    },
    /// A nondeterministic value of full range with an exploring engine.
    NondetValue {
        function: Box<str>,
    },
    Instruction {
        what: Box<str>,
    },
    InlineAsm {
        text: Box<str>,
    },
    /// A library function was called in a way that its model does not cover.
    Library {
        function: Box<str>,
        why: Box<str>,
    },
    Unwind,
    /// More threads than the engine can have in a formula.
    Threads {
        most: u32,
    },
    /// The text of the function could not be parsed.
    Parse {
        message: Box<str>,
    },
}

/// A bound that was reached: the answer is inconclusive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// `--unroll`: the loop went round more often than the bound.
    Unroll {
        bound: u32,
    },
    /// `--threads`: the thread would start one that only executions with more threads have.
    Threads {
        bound: u32,
    },
    /// So many steps of private code without a visible operation.
    PrivateSteps {
        steps: u64,
    },
    CallDepth {
        depth: u32,
    },
    /// The automata need more memory than allowed.
    Memory {
        bytes: u64,
    },
    /// More threads, objects or locations than ids.
    Ids {
        what: &'static str,
    },
    /// Two names that Raddle cannot tell apart: see [`crate::names`].
    NameClash {
        what: &'static str,
    },
}

/// Why a thread cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    Fault(Fault),
    Unsupported(Unsupported),
    Limit(Limit),
    /// It woke up from a wait for nothing, and is about to wait again where it was: an execution in which it did not
    /// wake up shows what comes next.
    WokenInVain,
    /// It was to fail for no reason where it has one: an execution in which it fails for that reason shows what comes next.
    FailedInVain,
    /// Code that formats what is printed came to a step that others could notice. The program is begun again with the library's own way to
    /// print ([`crate::Program::must_read_kinds`]), so no answer rests on this.
    Noticed,
}
