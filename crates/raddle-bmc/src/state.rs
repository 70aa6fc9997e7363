//! A thread on its way through its code: one state stands for all paths that lead to a place.

use crate::contents::Contents;
use crate::encode::{Holding, Models};
use crate::events::StepIndex;
use crate::facts::Region;
use crate::path::Path;
use crate::shape::Shape;
use crate::value::Sym;
use raddle_ir::passes::LoopId;
use raddle_ir::{BlockId, FuncId};
use raddle_order::bits::{Bit, Bits};
use raddle_program::ObjectId;
use raddle_program::interp::view::{FunctionView, ModelCall};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Where a state is. States are run in ascending order, so that those that can meet do: see [`State::key`].
pub(crate) type Key = Vec<u32>;

/// A loop that a frame is inside.
#[derive(Clone, Debug)]
pub(crate) struct Iteration {
    pub(crate) id: LoopId,
    position: u32,
    /// How often it went round.
    pub(crate) iteration: u32,
    /// How often it went round by a decision that is not known.
    pub(crate) counted: u32,
    /// The path's guard when this iteration began.
    pub(crate) guard: Bit,
    /// How things were when this iteration began, if that may be asked.
    pub(crate) start: Option<Rc<IterationStart>>,
    /// Was there an iteration that came to nothing, but for an access that may be in a race?
    pub(crate) spent: Bit,
}

/// How things were at the beginning of an iteration.
#[derive(Debug)]
pub(crate) struct IterationStart {
    /// How many steps there were, of all threads.
    pub(crate) steps: StepIndex,
    /// How many rounds had been counted.
    pub(crate) counted: u32,
    pub(crate) regs: Vec<Option<Sym>>,
    pub(crate) owned: Vec<ObjectId>,
    pub(crate) private: Vec<Rc<Contents>>,
    pub(crate) thread_locals: BTreeMap<usize, Rc<Contents>>,
    pub(crate) own: BTreeMap<Region, Rc<Contents>>,
    pub(crate) locks: BTreeMap<(ObjectId, u64), Holding>,
    pub(crate) spawns: u32,
    pub(crate) allocations: u32,
}

#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) code: FunctionView,
    pub(crate) shape: Rc<Shape>,
    pub(crate) block: BlockId,
    pub(crate) index: usize,
    /// By slot; none for values that are not live.
    pub(crate) regs: Vec<Option<Sym>>,
    /// Outermost first.
    pub(crate) iterations: Vec<Iteration>,
    pub(crate) private_base: usize,
    /// Stack variables that others can see: they die with the frame.
    pub(crate) owned: Vec<ObjectId>,
    /// Library functions that called it; none if it was called by the frame below.
    pub(crate) models: Models,
    /// Variadic arguments: what `va_arg` steps over.
    pub(crate) varargs: Option<Rc<Contents>>,
    /// Is the whole call an atomic block?
    pub(crate) is_atomic: bool,
    /// The path's guard when it was called.
    pub(crate) entered: Bit,
}

/// A critical section that the thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) section: usize,
    /// How often it was entered: more than once only for recursive mutexes.
    pub(crate) depth: u32,
}

/// What comes after library functions that a thread begins or ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// `main`, after constructors.
    Main(FuncId),
    /// `main` has returned.
    EndOfMain,
    /// Any thread has returned, or leaves from the middle; so may the main thread.
    EndOfThread,
}

#[derive(Clone)]
pub(crate) struct State {
    pub(crate) path: Path,
    pub(crate) frames: Vec<Frame>,
    /// Private variables, a stack.
    pub(crate) private: Vec<Rc<Contents>>,
    /// Thread-local variables that nobody else sees, by position.
    pub(crate) thread_locals: BTreeMap<usize, Rc<Contents>>,
    /// Shared memory that only this thread accesses, or that nobody else can access yet.
    pub(crate) own: BTreeMap<Region, Rc<Contents>>,
    /// Is there no other thread yet?
    pub(crate) alone: bool,
    pub(crate) spawns: u32,
    pub(crate) allocations: u32,
    /// Are these the numbers of every path that leads here? Otherwise they are the largest.
    pub(crate) counts_spawns: bool,
    pub(crate) counts_allocations: bool,
    /// What comes after library functions that the thread begins or ends with.
    pub(crate) next: Next,
    pub(crate) atomic_depth: u32,
    pub(crate) block: Option<usize>,
    pub(crate) held: BTreeMap<(ObjectId, u64), Held>,
    /// What it holds of read-write locks.
    pub(crate) locks: BTreeMap<(ObjectId, u64), Holding>,
    /// Steps that joined other threads, whichever way it came here.
    pub(crate) joined: Rc<BTreeSet<StepIndex>>,
    /// Inside of a function that prints: its arguments.
    pub(crate) printed: Vec<Sym>,
    /// Inside of a library function: the step at which it entered a queue, and how many threads it tried to wake.
    pub(crate) queued: Option<StepIndex>,
    pub(crate) woken: u32,
    /// Nondeterministic values so far: positions in the thread's list are fixed by the order of encoding.
    pub(crate) result: Option<Sym>,
}

impl State {
    pub(crate) fn new(path: Path, alone: bool) -> Self {
        Self {
            path,
            frames: Vec::new(),
            private: Vec::new(),
            thread_locals: BTreeMap::new(),
            own: BTreeMap::new(),
            alone,
            spawns: 0,
            allocations: 0,
            counts_spawns: true,
            counts_allocations: true,
            next: Next::EndOfThread,
            atomic_depth: 0,
            block: None,
            held: BTreeMap::new(),
            locks: BTreeMap::new(),
            joined: Rc::default(),
            printed: Vec::new(),
            queued: None,
            woken: 0,
            result: None,
        }
    }

    pub(crate) fn top(&mut self) -> &mut Frame {
        self.frames
            .last_mut()
            .expect("a running thread has a frame")
    }

    /// The place: for every frame its function, the loops it is in with their iterations, the block and the instruction.
    /// Comparing keys compares places in the order of execution, except that the arms of a branch come one after the other.
    ///
    /// Paths that do not go on come first. The blocks that they end in belong to no loop, so all rounds would meet there, in
    /// whatever critical sections they are.
    pub(crate) fn key(&self) -> Key {
        let mut frames = self.frames.iter();
        let ends_here = frames.any(|frame| frame.shape.is_last(frame.block));
        let mut key = vec![u32::from(!ends_here)];
        for frame in &self.frames {
            for number in frame.models.iter().flat_map(ModelCall::progress) {
                key.extend([number as u32, (number >> 32) as u32]);
            }
            key.push(frame.code.id().0);
            for iteration in &frame.iterations {
                key.extend([iteration.position, iteration.iteration]);
            }
            key.extend([frame.shape.position(frame.block), frame.index as u32]);
        }
        key
    }

    /// Where the thread is in its code, by what it has done alone: see [`crate::encode`], `bound`.
    pub(crate) fn extend_place(&self, place: &mut Key) {
        for frame in &self.frames {
            for call in &frame.models {
                place.extend(call.function());
            }
            place.push(frame.code.id().0);
            for iteration in &frame.iterations {
                place.extend([iteration.position, iteration.iteration]);
            }
            place.extend([frame.shape.position(frame.block), frame.index as u32]);
        }
    }

    /// What two states at the same place do not agree on and cannot be expressed as a choice.
    pub(crate) fn disagreement(&self, other: &Self) -> Option<Disagreement> {
        if self.block != other.block || self.atomic_depth != other.atomic_depth {
            return Some(Disagreement::Block);
        }
        let mut mutexes = self.held.keys().chain(other.held.keys());
        if let Some(&mutex) = mutexes.find(|key| self.held.get(key) != other.held.get(key)) {
            return Some(Disagreement::Mutex(mutex));
        }
        let mut variables = self.private.iter().zip(&other.private);
        let is_same = self.private.len() == other.private.len()
            && variables.all(|(mine, theirs)| {
                mine.size == theirs.size && mine.bound.is_some() == theirs.bound.is_some()
            });
        (!is_same).then_some(Disagreement::Stack)
    }

    /// One state for two at the same place, whose paths exclude each other and which do not disagree.
    pub(crate) fn join(self, bits: &mut Bits, other: &Self) -> Self {
        let (path, first) = self.path.join(bits, &other.path);
        let mut joined = self;
        joined.path = path;
        joined.counts_spawns &= other.counts_spawns && joined.spawns == other.spawns;
        joined.counts_allocations &=
            other.counts_allocations && joined.allocations == other.allocations;
        joined.spawns = joined.spawns.max(other.spawns);
        joined.allocations = joined.allocations.max(other.allocations);
        for (mine, theirs) in joined.frames.iter_mut().zip(&other.frames) {
            mine.join(bits, first, theirs);
        }
        for (mine, theirs) in joined.private.iter_mut().zip(&other.private) {
            choose(bits, first, mine, theirs);
        }
        join_maps(bits, first, &mut joined.thread_locals, &other.thread_locals);
        join_maps(bits, first, &mut joined.own, &other.own);
        let locks = joined.locks.keys().chain(other.locks.keys());
        let locks: BTreeSet<(ObjectId, u64)> = locks.copied().collect();
        for lock in locks {
            let (one, two) = (joined.locks.get(&lock), other.locks.get(&lock));
            if let Some(held) = Holding::join(bits, first, one, two) {
                joined.locks.insert(lock, held);
            }
        }
        if joined.joined != other.joined {
            Rc::make_mut(&mut joined.joined).retain(|join| other.joined.contains(join));
        }
        joined.result = match (joined.result, &other.result) {
            (Some(a), Some(b)) => Some(Sym::ite(bits, first, &a, b)),
            (a, b) => a.or_else(|| b.clone()),
        };
        joined
    }
}

/// Why two states cannot be made one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disagreement {
    /// One is in an atomic block, the other is not.
    Block,
    /// One holds a mutex, the other does not.
    Mutex((ObjectId, u64)),
    /// They have different private variables.
    Stack,
}

fn choose(bits: &mut Bits, first: Bit, mine: &mut Rc<Contents>, theirs: &Rc<Contents>) {
    if !Rc::ptr_eq(mine, theirs) {
        *mine = Rc::new(Contents::choose(bits, first, mine, theirs));
    }
}

/// Memory that one of the two has not touched is as it was when the thread began: the owner of the map fills it in before.
fn join_maps<K: Ord + Copy>(
    bits: &mut Bits,
    first: Bit,
    mine: &mut BTreeMap<K, Rc<Contents>>,
    theirs: &BTreeMap<K, Rc<Contents>>,
) {
    for (key, contents) in theirs {
        match mine.get_mut(key) {
            Some(own) => choose(bits, first, own, contents),
            None => {
                mine.insert(*key, Rc::clone(contents));
            }
        }
    }
}

impl Frame {
    pub(crate) fn new(
        code: FunctionView,
        shape: Rc<Shape>,
        private_base: usize,
        entered: Bit,
    ) -> Self {
        Self {
            regs: vec![None; code.slot_count()],
            code,
            shape,
            block: BlockId(0),
            index: 0,
            iterations: Vec::new(),
            private_base,
            owned: Vec::new(),
            models: Models::new(),
            varargs: None,
            is_atomic: false,
            entered,
        }
    }

    fn join(&mut self, bits: &mut Bits, first: Bit, other: &Self) {
        for (mine, theirs) in self.regs.iter_mut().zip(&other.regs) {
            *mine = match (mine.take(), theirs) {
                (Some(a), Some(b)) if a.width() == b.width() => Some(Sym::ite(bits, first, &a, b)),
                _ => None,
            };
        }
        for (mine, theirs) in self.iterations.iter_mut().zip(&other.iterations) {
            mine.counted = mine.counted.max(theirs.counted);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.varargs, &other.varargs) {
            choose(bits, first, mine, theirs);
        }
        if self.owned != other.owned {
            let all = self.owned.iter().chain(&other.owned).copied();
            let mut all: Vec<ObjectId> = all.collect();
            all.sort_unstable();
            all.dedup();
            self.owned = all;
        }
    }

    /// Goes along an edge: loops that are left are forgotten, a loop that is entered or goes round again is counted.
    pub(crate) fn goto(&mut self, target: BlockId, guard: Bit) {
        let loops = &self.shape.loops;
        while let Some(iteration) = self.iterations.last()
            && !loops.get(iteration.id).contains(target)
        {
            self.iterations.pop();
        }
        if let Some(id) = loops.with_header(target) {
            match self.iterations.last_mut() {
                Some(iteration) if iteration.id == id => {
                    iteration.iteration += 1;
                    if iteration.guard != guard {
                        iteration.counted += 1;
                    }
                }
                _ => self.iterations.push(Iteration {
                    id,
                    position: self.shape.position(target),
                    iteration: 0,
                    counted: 0,
                    guard,
                    start: None,
                    spent: Bit::FALSE,
                }),
            }
        }
        self.block = target;
        self.index = 0;
    }
}
