//! Local states of threads.
//!
//! Invariants
//! - A [`Local`] is canonical: it holds what the future of the thread can depend on and nothing else. Registers are kept
//!   for live values only, in the order of their slots, so the point of a frame decides what each register means.
//! - The operation and its position are part of it, so equal local states have equal operations by construction.
//! - Frames below the top are shared between local states and never changed.

use super::failing::{Round, Start};
use super::iterations::Iterations;
use super::undefined::Unwritten;
use super::woken::Wait;
use crate::ids::{LocId, ObjectId, SrcId, ThreadId};
use crate::models::ModelId;
use crate::op::{Op, Value};
use raddle_ir::{FuncId, ValueId};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A private block of memory: a stack variable whose address no other thread can get hold of. Its address is its
/// position in the thread's stack of private blocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PrivateBlock {
    pub bytes: Rc<[u8]>,
    /// The bytes that nobody has written, where that is looked at.
    pub unwritten: Unwritten,
    /// The function and the `alloca` it comes from, to name it; none for argument lists.
    pub origin: Option<(FuncId, ValueId)>,
}

/// A suspended frame of interpreted code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IrFrame {
    pub function: FuncId,
    pub block: u32,
    /// The current instruction; one past the last is the terminator.
    pub index: u32,
    /// The live registers: before the current instruction in the top frame, after it in the others.
    pub regs: Box<[u64]>,
    /// Those of the registers, by their position, that hold nothing that was written. Mostly none.
    pub undefined: Box<[u32]>,
    /// What the current instruction's operations returned so far.
    pub log: SmallVec<[u64; 2]>,
    pub extra: FrameExtra,
}

/// The parts of a frame that stay the same whether it is suspended or running.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameExtra {
    /// How many private blocks there were before it.
    pub private_base: u32,
    /// Does its return end an atomic block?
    pub atomic: bool,
    /// Shared stack variables, freed on return.
    pub owned: SmallVec<[ObjectId; 2]>,
    /// Variadic arguments: the bytes that `va_arg` steps over.
    pub varargs: Option<Rc<[u8]>>,
}

/// A suspended call of a library model: see [`crate::models`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NativeFrame {
    pub model: ModelId,
    /// The function that was called, if it was one of the module.
    pub function: Option<FuncId>,
    /// Argument slots, fixed and variadic, in order.
    pub args: SmallVec<[u64; 4]>,
    /// How many of the arguments are fixed parameters.
    pub fixed: u32,
    /// The variables that the model keeps over its checkpoints.
    pub vars: SmallVec<[u64; 2]>,
    /// What the steps since the last checkpoint returned.
    pub log: Vec<u64>,
}

/// A suspended frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    Ir(IrFrame),
    Native(NativeFrame),
    /// Nothing left to do.
    Finished,
}

/// The frames below the top one, as a list that local states share.
#[derive(Debug)]
pub struct Link {
    pub frame: Frame,
    pub below: Option<Rc<Link>>,
    /// Frames in this list.
    pub depth: u32,
    /// Hash of the whole list: comparing deep stacks must not cost.
    hash: u64,
}

impl Link {
    pub fn new(frame: Frame, below: Option<Rc<Link>>) -> Self {
        let depth = below.as_ref().map_or(0, |link| link.depth) + 1;
        let mut hasher = rustc_hash::FxHasher::default();
        frame.hash(&mut hasher);
        below.as_ref().map_or(0, |link| link.hash).hash(&mut hasher);
        Self {
            frame,
            below,
            depth,
            hash: hasher.finish(),
        }
    }
}

impl PartialEq for Link {
    fn eq(&self, other: &Self) -> bool {
        let (mut left, mut right) = (self, other);
        // A loop, not a recursion: stacks may be deep. Shared tails are equal without a look.
        loop {
            if left.hash != right.hash || left.depth != right.depth || left.frame != right.frame {
                return false;
            }
            match (&left.below, &right.below) {
                (None, None) => return true,
                (Some(a), Some(b)) => {
                    if Rc::ptr_eq(a, b) {
                        return true;
                    }
                    (left, right) = (a, b);
                }
                _ => return false,
            }
        }
    }
}

impl Eq for Link {}

impl Hash for Link {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

impl Drop for Link {
    /// Frees a deep list without recursion.
    fn drop(&mut self) {
        let mut next = self.below.take();
        while let Some(link) = next {
            match Rc::try_unwrap(link) {
                Ok(mut link) => next = link.below.take(),
                Err(_) => break,
            }
        }
    }
}

/// What a thread has besides its frames.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ThreadState {
    pub id: ThreadId,
    /// Shared objects it allocated so far.
    pub allocations: u32,
    /// Private stack variables it made so far, where they are given their first bytes; no more than these.
    pub variables: u32,
    /// Threads it spawned so far.
    pub spawns: u32,
    /// Nesting of atomic blocks.
    pub atomic_depth: u32,
    /// Do operations on mutexes read the kind of a static initialiser ([`crate::uses`])? The same for all threads of an execution.
    pub reads_kinds: bool,
    /// Private memory, a stack.
    pub private: Vec<PrivateBlock>,
    /// Private thread-local variables that were written to, by their global.
    pub thread_locals: BTreeMap<u32, Rc<[u8]>>,
    /// Its copies of other thread-local variables, as far as it has come to them: they die with it.
    pub mortal_locals: SmallVec<[ObjectId; 2]>,
    /// Values that models keep per thread (thread-specific data and the like): (kind, key) to value, without zeros.
    pub slots: BTreeMap<(u32, u64), u64>,
    /// The loops it is in that are not known to end, with `unroll` only.
    pub loops: SmallVec<[Iterations; 2]>,
    /// The wait that it woke up from spuriously, if it has changed nothing since that others could see.
    pub(crate) woken: Option<Rc<Wait>>,
    /// The loops it is in that may try a compare-exchange again, and has changed nothing in since their last iteration began.
    pub(crate) rounds: SmallVec<[Rc<Round>; 1]>,
    /// Objects that it made and whose addresses nobody else can have: since then it wrote to such objects only. Told apart only where
    /// `rounds` are.
    pub(crate) unpublished: SmallVec<[ObjectId; 2]>,
    /// What these hold, as far as it has looked or written there.
    pub(crate) known: SmallVec<[(LocId, Value); 2]>,
    /// Where it chose not to fail for no reason, and has changed nothing since.
    pub(crate) declined: SmallVec<[Rc<Start>; 1]>,
    /// The frames that called `setjmp`, by their buffers, as long as they have not returned.
    pub(crate) jumps: BTreeMap<u64, Rc<Link>>,
    pub callers: Option<Rc<Link>>,
}

impl ThreadState {
    #[must_use]
    pub fn new(id: ThreadId) -> Self {
        Self {
            id,
            allocations: 0,
            variables: 0,
            spawns: 0,
            atomic_depth: 0,
            reads_kinds: false,
            private: Vec::new(),
            thread_locals: BTreeMap::new(),
            mortal_locals: SmallVec::new(),
            slots: BTreeMap::new(),
            loops: SmallVec::new(),
            woken: None,
            jumps: BTreeMap::new(),
            rounds: SmallVec::new(),
            unpublished: SmallVec::new(),
            known: SmallVec::new(),
            declined: SmallVec::new(),
            callers: None,
        }
    }

    /// Frames on the stack, without the top one.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.callers.as_ref().map_or(0, |link| link.depth)
    }
}

/// A thread's local state at a visible operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    pub op: Op,
    pub at: SrcId,
    pub thread: ThreadState,
    pub top: Frame,
}

impl Local {
    /// Roughly the bytes it takes. Shared parts are counted once, where they are on top.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let private: usize = self
            .thread
            .private
            .iter()
            .map(|block| size_of::<PrivateBlock>() + block.bytes.len() / 2)
            .sum();
        let top = match &self.top {
            Frame::Ir(frame) => frame.regs.len() * 8 + spilled(&frame.log) + 64,
            Frame::Native(frame) => frame.log.capacity() * 8 + spilled(&frame.args) + 32,
            Frame::Finished => 0,
        };
        let maps = self.thread.slots.len() + self.thread.thread_locals.len();
        size_of::<Self>() + private + top + maps * 40
    }
}

fn spilled<A: smallvec::Array<Item = u64>>(values: &SmallVec<A>) -> usize {
    if values.spilled() {
        values.capacity() * 8
    } else {
        0
    }
}
