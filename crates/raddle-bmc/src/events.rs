//! What encoding makes of a program: the steps that threads may take, with the conditions under which they do.

use crate::contents::{AnyBytes, Contents};
use crate::encode::{Cuts, GONE, HALF, OWNER_BITS};
use crate::facts::{Cell, Region};
use crate::path::Path;
use crate::value::ReadId;
use raddle_order::bits::{Bit, Bits, Word};
use raddle_order::{ClauseSink, Lit, Var};
use raddle_program::{
    Fault, FirstBytes, Made, ObjectId, Order, Seen, SrcId, ThreadId, ThreadName, Unsupported,
    WeakOrderings,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Position in [`Encoding::threads`].
pub(crate) type ThreadIndex = usize;
/// Position in [`Encoding::steps`].
pub(crate) type StepIndex = usize;

/// One read or write of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) cell: Cell,
    pub(crate) is_write: bool,
    /// Implies the guard of its step.
    pub(crate) guard: Bit,
    pub(crate) value: Word,
    /// A read's own number; of a write, the read that it adds to, and how much.
    pub(crate) sum: Option<(ReadId, u64)>,
}

/// What a step is in terms of the machine that replays it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// The thread starts; nothing of it happens before.
    Begin,
    /// The thread has finished.
    End,
    Load,
    Store,
    /// A read-modify-write or compare-exchange.
    Update,
    /// An operation on a synchronisation object.
    Sync,
    Fence {
        stores_only: bool,
    },
    /// An atomic block begins.
    Block,
    /// A fence that orders nothing in memory, but what its thread knows.
    AcquireFence,
    Spawn {
        child: ThreadIndex,
    },
    /// May wait for one of several threads, by handle: conditions under which it is this one.
    Join {
        of: Vec<(Bit, u64)>,
    },
    /// Enters a critical section.
    Lock,
    /// Leaves a critical section.
    Unlock,
    /// Whether an object is alive is looked at, or changed.
    Life,
    /// Values that the thread wrote before others could see them.
    Flush,
    /// The thread commits a fault while it holds mutexes.
    Fault,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) thread: ThreadIndex,
    pub(crate) what: StepKind,
    pub(crate) guard: Bit,
    /// Plain for what is no access and no fence of the program.
    pub(crate) order: Order,
    /// Of a compare-exchange that fails.
    pub(crate) failure: Order,
    pub(crate) accesses: Vec<Access>,
    /// Are the accesses one indivisible event (as opposed to alternatives)?
    pub(crate) is_atomic: bool,
    /// The atomic block that it is part of.
    pub(crate) block: Option<usize>,
    /// The synchronisation object that it works on.
    pub(crate) object: Option<Place>,
    /// Critical sections that it is in: positions in [`Encoding::sections`].
    pub(crate) sections: Vec<usize>,
    /// Read-write locks that its thread certainly holds, and whether for writing.
    pub(crate) locks: Vec<(Place, bool)>,
    /// What it learns from the cell of its synchronisation object, and hands on by it.
    pub(crate) handover: Handover,
    /// Steps of its thread that joined others, whichever way it came here.
    pub(crate) joined: Rc<BTreeSet<StepIndex>>,
}

/// Conditions under which a step learns what earlier steps on the same cell handed on, or hands on what its thread knows.
/// What readers of a read-write lock hand on is for writers only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handover {
    pub(crate) acquires: Bit,
    pub(crate) acquires_of_readers: Bit,
    pub(crate) releases: Bit,
    pub(crate) releases_to_writers: Bit,
}

impl Handover {
    pub(crate) const NONE: Self = Self {
        acquires: Bit::FALSE,
        acquires_of_readers: Bit::FALSE,
        releases: Bit::FALSE,
        releases_to_writers: Bit::FALSE,
    };

    pub(crate) fn acquire(condition: Bit) -> Self {
        Self {
            acquires: condition,
            ..Self::NONE
        }
    }

    pub(crate) fn release(condition: Bit) -> Self {
        Self {
            releases: condition,
            ..Self::NONE
        }
    }
}

/// Whether others saw what a thread wrote in an iteration of a loop and took back.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub(crate) thread: ThreadIndex,
    /// Holds only if another thread reads from one of the writes something else than was there before the iteration.
    pub(crate) seen: Bit,
    /// The step, the cell, and whether something else is written than was there before the iteration.
    pub(crate) writes: Vec<(StepIndex, Cell, Bit)>,
}

/// A thread that stopped because an iteration of a loop came to nothing, and changed nothing meanwhile either. It goes round for good
/// if what it read is what memory holds in the end, and nobody is left to change that.
#[derive(Clone, Debug)]
pub(crate) struct Spin {
    pub(crate) thread: ThreadIndex,
    pub(crate) stopped: Bit,
    /// What the iteration read.
    pub(crate) reads: Vec<Access>,
    /// The cell of the mutex, if all that the iteration did is to try for that.
    pub(crate) mutex: Option<Cell>,
}

/// A thread at a barrier: it arrives in a generation, and leaves when that is over.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) barrier: Place,
    pub(crate) arrive: StepIndex,
    pub(crate) leave: StepIndex,
    pub(crate) generation: Word,
}

/// The place of a synchronisation object.
pub(crate) type Place = (raddle_program::ObjectId, u64);

/// A critical section: from taking a mutex to giving it back.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) mutex: Place,
    pub(crate) thread: ThreadIndex,
    pub(crate) lock: StepIndex,
    /// Steps that leave it; at most one happens. A fault that is looked for counts, as if the mutex were given back there: what
    /// others do after it does not matter, and it must not keep them from what they did before.
    pub(crate) unlocks: Vec<StepIndex>,
    pub(crate) entered: Path,
    pub(crate) left: Vec<Path>,
}

impl Section {
    /// Is it left whenever it is entered?
    pub(crate) fn is_always_left(&self, bits: &mut Bits) -> bool {
        let left = Path::join_all(bits, &self.left);
        left.is_some_and(|path| path.guard() == self.entered.guard())
    }
}

/// When a waiting operation may go on, by the value of its cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    Positive,
    Zero,
    /// The cell of a mutex is 0 or `gone`, or it is its owner who wants it again and may have it.
    FreeOrOf {
        owner: u32,
        gone: u32,
        again: Bit,
    },
    /// No bit of these is set.
    Clear(u32),
    /// The cell is not this number.
    Not(u32),
    /// The generation of a barrier is past this one, or nothing has to be waited for.
    Past(Word, Bit),
    /// The rule holds, or the cell is this number.
    OrIs(Box<Rule>, u32),
    /// A condition variable is destroyed, or was made more often than this.
    Another(Word),
}

impl Rule {
    /// Is it about a read-write lock? Then only those who hold it can help.
    pub(crate) fn is_of_lock(&self) -> bool {
        match self {
            Self::Zero | Self::Clear(_) => true,
            Self::OrIs(rule, _) => rule.is_of_lock(),
            Self::Positive
            | Self::FreeOrOf { .. }
            | Self::Not(_)
            | Self::Past(..)
            | Self::Another(_) => false,
        }
    }

    pub(crate) fn holds(&self, bits: &mut Bits, value: &Word) -> Bit {
        match self {
            Self::Positive => !bits.is_zero(value),
            Self::Zero => bits.is_zero(value),
            Self::Past(word, anyway) => {
                let generation = value.extract(value.width() / 2, value.width());
                let is_past = bits.ult(word, &generation);
                bits.bit_or(is_past, *anyway)
            }
            Self::FreeOrOf { owner, gone, again } => {
                let low = value.extract(0, OWNER_BITS);
                let owner = Word::constant(OWNER_BITS, u128::from(*owner));
                let owned = bits.eq(&low, &owner);
                let owned = bits.bit_and(owned, *again);
                let gone = Word::constant(value.width(), u128::from(*gone));
                let gone = bits.eq(value, &gone);
                let free = bits.is_zero(value);
                bits.any([free, gone, owned])
            }
            Self::Clear(mask) => {
                let set = value.bits().iter().enumerate();
                let set: Vec<Bit> = set
                    .filter(|(at, _)| mask >> at & 1 == 1)
                    .map(|(_, &bit)| bit)
                    .collect();
                !bits.any(set)
            }
            Self::OrIs(rule, number) => {
                let holds = rule.holds(bits, value);
                let is_it = Word::constant(value.width(), u128::from(*number));
                let is_it = bits.eq(value, &is_it);
                bits.bit_or(holds, is_it)
            }
            Self::Another(making) => {
                let gone = Word::constant(HALF, GONE);
                let gone = bits.eq(&value.extract(0, HALF), &gone);
                let differs = bits.ne(&value.extract(HALF, value.width()), making);
                bits.bit_or(gone, differs)
            }
            Self::Not(number) => {
                let number = Word::constant(value.width(), u128::from(*number));
                bits.ne(value, &number)
            }
        }
    }
}

/// What a thread waits for.
#[derive(Clone, Debug)]
pub(crate) enum Awaited {
    Mutex(Place),
    /// Nothing will ever let it go on: it holds the lock itself that it wants.
    Itself(Place),
    /// Nobody else is known to use the object. But a thread might that stopped before it came to that. None where it does not matter whether the
    /// object is alive.
    Anybody(Option<Place>),
    Cell(Cell, Rule),
    /// The thread whose handle is in the cell of a mutex.
    Owner(Cell, WaitsForItself),
    Threads(Vec<(Bit, u64)>),
    /// A signal: position in [`Encoding::waiters`]. A watched condition variable may be made anew or destroyed meanwhile.
    Signal(usize, Option<(Cell, Rule)>),
}

impl Awaited {
    /// The cells whose last contents decide whether the wait is for good.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell> {
        let cells = match *self {
            Self::Owner(cell, WaitsForItself::If(kind, _)) => [Some(cell), Some(kind)],
            Self::Cell(cell, _) | Self::Owner(cell, _) | Self::Signal(_, Some((cell, _))) => {
                [Some(cell), None]
            }
            Self::Mutex(_)
            | Self::Itself(_)
            | Self::Anybody(_)
            | Self::Threads(_)
            | Self::Signal(_, None) => [None, None],
        };
        cells.into_iter().flatten()
    }
}

/// Does a thread wait that wants a mutex which it owns?
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitsForItself {
    Known(bool),
    /// It depends on the kind in this cell, or else on that of the initialiser: is that the normal kind?
    If(Cell, bool),
}

/// A read-write lock that a thread holds which waits or has finished.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) thread: ThreadIndex,
    pub(crate) lock: Place,
    pub(crate) condition: Bit,
    /// How often the lock had been made when it was taken.
    pub(crate) making: Word,
}

/// A thread that may have to wait: the condition under which it does, for good as far as this execution goes.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) thread: ThreadIndex,
    pub(crate) blocked: Bit,
    pub(crate) on: Awaited,
}

/// A wait on a condition variable, or a wake-up.
#[derive(Clone, Debug)]
pub(crate) struct Waiter {
    pub(crate) condition: Place,
    pub(crate) thread: ThreadIndex,
    pub(crate) enter: StepIndex,
    pub(crate) leave: StepIndex,
    /// Did no signal wake it?
    pub(crate) timed_out: Bit,
    /// Can that be told? Otherwise nobody knows a signal that was lost from one that woke it.
    pub(crate) is_told: bool,
    /// Is the condition variable another one in the end? Then the thread goes wrong.
    pub(crate) forgotten: Bit,
    /// How often a watched condition variable had been made when it began to wait.
    pub(crate) making: Option<Word>,
}

#[derive(Clone, Debug)]
pub(crate) struct Waker {
    pub(crate) thread: ThreadIndex,
    pub(crate) condition: Place,
    pub(crate) step: StepIndex,
    /// Does it happen, and does not go wrong?
    pub(crate) guard: Bit,
    pub(crate) wakes_all: bool,
    /// How often a watched condition variable had been made.
    pub(crate) making: Option<Word>,
}

/// An object is made or destroyed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) place: Place,
    /// None if there was no other thread.
    pub(crate) step: Option<StepIndex>,
    pub(crate) is_end: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) id: ThreadId,
    pub(crate) handle: u64,
    pub(crate) started: Bit,
    pub(crate) finished: Bit,
    pub(crate) begin: Option<StepIndex>,
    pub(crate) end: Option<StepIndex>,
    /// Nondeterministic values in program order: guard, and the value in pieces as the interpreter chooses them.
    pub(crate) choices: Vec<(Bit, Vec<Word>)>,
    /// Heap blocks and shared stack variables that it makes, in program order. Which number an object has in an execution
    /// depends on how many came before it there.
    pub(crate) allocations: Vec<(Bit, ObjectId)>,
    /// What the private stack variables that it makes hold at first, in program order; only where that may be anything.
    pub(crate) variables: Vec<(Bit, Rc<AnyBytes>)>,
    /// Does it depend on the path which thread of the program it is?
    pub(crate) is_uncertain: bool,
}

/// A condition under which something goes wrong.
#[derive(Clone, Debug)]
pub(crate) struct ErrorCondition {
    pub(crate) thread: ThreadIndex,
    pub(crate) guard: Bit,
    pub(crate) fault: Fault,
}

/// A condition under which a thread begins an atomic block and stops in its middle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenBlock {
    pub(crate) thread: ThreadIndex,
    pub(crate) guard: Bit,
}

/// A read that depends on what it finds, of cells some of which nobody may have written.
#[derive(Clone, Debug)]
pub(crate) struct UnwrittenRead {
    pub(crate) thread: ThreadIndex,
    /// Those of its cells that others access are accesses of this step.
    pub(crate) step: StepIndex,
    /// It happens, and its cells hold what nobody has written when the first thread is started.
    pub(crate) guard: Bit,
    pub(crate) cells: Vec<Cell>,
    pub(crate) fault: Fault,
}

/// A condition under which something is met that cannot be encoded.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) guard: Bit,
    pub(crate) what: Unsupported,
    pub(crate) thread: ThreadId,
    pub(crate) at: SrcId,
}

/// A condition under which a thread would start more than were asked for, and stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    pub(crate) thread: ThreadIndex,
    pub(crate) guard: Bit,
    pub(crate) at: SrcId,
}

/// Variables of the formula that encoding makes: they are numbered from 1, and the solver gets as many.
#[derive(Default)]
pub(crate) struct Vars {
    pub(crate) count: usize,
    pub(crate) clauses: Vec<Vec<Lit>>,
}

impl ClauseSink for Vars {
    fn new_var(&mut self) -> Var {
        self.count += 1;
        Var::from_index(self.count)
    }

    fn add_clause(&mut self, lits: &[Lit]) {
        self.clauses.push(lits.to_vec());
    }
}

/// A program up to a bound, as steps under conditions.
#[derive(Default)]
pub(crate) struct Encoding {
    pub(crate) bits: Bits,
    pub(crate) vars: Vars,
    pub(crate) threads: Vec<Thread>,
    /// Each thread's in program order.
    pub(crate) steps: Vec<Step>,
    pub(crate) sections: Vec<Section>,
    /// Steps that destroy mutexes.
    pub(crate) destroyed: Vec<(Place, StepIndex)>,
    /// Cells of read-write locks; with the cells that say how often they were made, if they are watched.
    pub(crate) locks: BTreeMap<Cell, Option<Cell>>,
    /// What threads hold of them that go no further.
    pub(crate) kept: Vec<Kept>,
    /// Steps that make mutexes, and whether these are of the kind then that they were of anyway.
    pub(crate) made: Vec<(Place, StepIndex, bool)>,
    /// Where other objects are made and destroyed, if that is not seen from their cells.
    pub(crate) changes: Vec<Change>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) waiters: Vec<Waiter>,
    pub(crate) wakers: Vec<Waker>,
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) observed: Vec<Observed>,
    /// Only where deadlocks are looked for.
    pub(crate) spins: Vec<Spin>,
    /// Steps that try for a mutex.
    pub(crate) try_locks: Vec<StepIndex>,
    pub(crate) errors: Vec<ErrorCondition>,
    pub(crate) refusals: Vec<Refusal>,
    pub(crate) crowds: Vec<Crowd>,
    pub(crate) cuts: Cuts,
    /// Do operations on mutexes read of which kind these are, as steps of their own?
    pub(crate) reads_kinds: bool,
    /// The first accesses and fences with orderings weaker than `seq_cst`.
    pub(crate) weak: WeakOrderings,
    /// Conditions under which the process exits.
    pub(crate) exits: Vec<Bit>,
    /// What must hold in every execution.
    pub(crate) required: Vec<Bit>,
    /// Reads of shared memory that may have been written by nobody.
    pub(crate) unwritten: Vec<UnwrittenRead>,
    /// What heap blocks and shared stack variables hold at first, where that may be anything.
    pub(crate) any: BTreeMap<ObjectId, Rc<AnyBytes>>,
    /// The sizes of objects that are not known.
    pub(crate) sizes: BTreeMap<ObjectId, Word>,
    /// The contents of regions when the first thread is started, where they are not as declared.
    pub(crate) initial: FxHashMap<Region, Contents>,
    /// What cells hold that steps access, when the first thread is started.
    pub(crate) firsts: FxHashMap<Cell, Word>,
    pub(crate) blocks: usize,
    /// Conditions under which an atomic block is begun that does not come to its end. Others never see the middle of a block, so
    /// such an execution shows nothing but that. What others do without it is in executions in which the block is not begun.
    pub(crate) open_blocks: Vec<OpenBlock>,
}

impl Encoding {
    /// What memory holds that nobody has written, in an execution in which these objects are made by each thread.
    pub(crate) fn first_bytes(
        &self,
        holds: &mut impl FnMut(Bit) -> bool,
        allocations: &[Vec<ObjectId>],
    ) -> FirstBytes {
        let mut first = FirstBytes::default();
        if self.any.is_empty() && self.threads.iter().all(|it| it.variables.is_empty()) {
            return first;
        }
        let names = self.names(holds);
        for (thread, name) in names.iter().enumerate() {
            let Some(name) = name else {
                continue;
            };
            let objects = allocations[thread]
                .iter()
                .map(|object| self.any.get(object));
            let variables = self.threads[thread].variables.iter();
            let variables: Vec<_> = variables.filter(|(guard, _)| holds(*guard)).collect();
            let variables = variables.iter().map(|(_, bytes)| Some(bytes));
            for (seen, (bytes, counter)) in (objects.zip(1..).map(|made| (Seen::ByOthers, made)))
                .chain(variables.zip(1..).map(|made| (Seen::Privately, made)))
            {
                for (offset, bits) in bytes.map(|bytes| bytes.made()).unwrap_or_default() {
                    let byte = (0..8).fold(0, |byte, at| byte | u8::from(holds(bits[at])) << at);
                    let thread = name.clone();
                    let made = Made {
                        thread,
                        seen,
                        counter,
                    };
                    first.insert(made, offset, byte);
                }
            }
        }
        first
    }

    /// The names of the threads that are started.
    fn names(&self, holds: &mut impl FnMut(Bit) -> bool) -> Vec<Option<ThreadName>> {
        let mut names = vec![None; self.threads.len()];
        names[0] = Some(ThreadName::default());
        let mut spawned = vec![0; self.threads.len()];
        // Each thread's steps are in program order, and a thread is encoded when it is started.
        for step in &self.steps {
            if let StepKind::Spawn { child } = step.what
                && holds(step.guard)
            {
                spawned[step.thread] += 1;
                let nth = spawned[step.thread];
                names[child] = names[step.thread]
                    .as_ref()
                    .map(|name: &ThreadName| name.child(nth));
            }
        }
        names
    }

    /// Is there an atomic block that does not come to its end?
    pub(crate) fn any_open_block(&mut self) -> Bit {
        let open = self.open_blocks.iter().map(|block| block.guard);
        self.bits.any(open)
    }

    /// What a thread comes to while another one is in an atomic block that does not come to its end it may not come to on the
    /// machine.
    pub(crate) fn leave_out_open_blocks(&mut self) {
        if self.open_blocks.is_empty() {
            return;
        }
        let threads: Vec<ThreadId> = self.threads.iter().map(|thread| thread.id).collect();
        let mut alone: FxHashMap<ThreadId, Bit> = FxHashMap::default();
        for &thread in &threads {
            let blocks = self.open_blocks.iter();
            let others = blocks.filter(|block| threads[block.thread] != thread);
            let open = self.bits.any(others.map(|block| block.guard));
            alone.insert(thread, !open);
        }
        let bits = &mut self.bits;
        let mut restrict = |thread: ThreadId, guard: &mut Bit| {
            let alone = alone.get(&thread).copied().unwrap_or(Bit::TRUE);
            *guard = bits.bit_and(*guard, alone);
        };
        for bad in &mut self.errors {
            restrict(threads[bad.thread], &mut bad.guard);
        }
        for refusal in &mut self.refusals {
            restrict(refusal.thread, &mut refusal.guard);
        }
        for cut in &mut self.cuts.all {
            restrict(threads[cut.thread], &mut cut.guard);
        }
        for crowd in &mut self.crowds {
            restrict(threads[crowd.thread], &mut crowd.guard);
        }
    }
}
