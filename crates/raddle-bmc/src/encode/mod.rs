//! From a module to steps under conditions: every thread is run symbolically, all paths at once.
//!
//! A thread's states wait in a list, ordered by place ([`State::key`]). The first is run up to the next place where paths can
//! meet; states at the same place are made one before they are run. So the code after a branch is encoded once, as often as
//! loops are unrolled, and never once per path.
//!
//! - `flow`: blocks, calls and returns, threads. `bound`: where a bound was exceeded. `effect_free`: iterations of loops that come to nothing.
//! - `compute`: instructions that do not touch memory.
//! - `access`: instructions on memory, and where addresses lead. `cells`: loads, stores and updates. `pieces`: how these are cut.
//! - `library`: functions that the program does not define. `heap`: those on blocks of memory, `sizes`: those of unknown size, `strings`: on text. `mutex`, `sync`, `counting`,
//!   `rwlock`, `barrier`, `condition`: locks and other things that threads wait at. `unwritten`: what nobody has written. `system`: clocks, `errno` and other things that every thread has. `models`:
//!   all others, with `futex`, which are run as the interpreter runs them. `variadic`: lists of arguments. `intrinsics`: `llvm.*`.

mod access;
mod barrier;
mod bound;
mod cells;
mod compute;
mod condition;
mod counting;
mod effect_free;
mod failing;
mod float;
mod flow;
mod futex;
mod heap;
mod intrinsics;
mod library;
mod models;
mod mutex;
mod narrow;
mod pieces;
mod rwlock;
mod sizes;
mod strings;
mod sync;
mod system;
mod uncertain;
mod unwritten;
mod variadic;

pub(crate) use bound::{Answered, Counted, Cuts, Open};
pub(crate) use condition::{GONE, HALF};
pub(crate) use heap::LIFE;
pub(crate) use models::Models;
pub(crate) use mutex::OWNER_BITS;
pub(crate) use rwlock::Holding;

use crate::contents::Contents;
use crate::events::{
    Crowd, Encoding, ErrorCondition, Handover, Place, Refusal, Step, StepIndex, StepKind, Thread,
    ThreadIndex,
};
use crate::facts::{Facts, Region};
use crate::path::Path;
use crate::shape::Shape;
use crate::state::{Disagreement, Key, Next, State};
use crate::value::{ReadId, Sym};
use raddle_ir::{FuncId, TypeId};
use raddle_judge::{Checks, Watch};
use raddle_order::bits::{Bit, Word};
use raddle_program::interp::SpuriousFailures;
use raddle_program::interp::view::{ModelCall, View};
use raddle_program::tables::NewObject;
use raddle_program::{Fault, Limit, ObjectId, Order, SrcId, Stop, ThreadId, Unsupported};
use rustc_hash::{FxHashMap, FxHashSet};

use std::collections::btree_map::Entry;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How a program is encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodeOptions<'a> {
    /// Iterations of loops, and nested calls of a function, that are not known to end.
    pub(crate) unroll: u32,
    pub(crate) counted: Counted,
    /// The threads that an execution may have, `main` included.
    pub(crate) threads: Option<u32>,
    /// What executions are to be looked at.
    pub(crate) open: &'a Open,
    pub(crate) checks: Checks,
    /// Does a thread stop that did an iteration of a loop which came to nothing? See [`effect_free`].
    pub(crate) cuts_effect_free: bool,
    /// Do threads have store buffers?
    pub(crate) is_weak: bool,
    /// Does the end of `main` end the process?
    pub(crate) exit_with_main: bool,
    /// May waits for condition variables end without a signal?
    pub(crate) spurious_wakeups: bool,
    pub(crate) spurious_failures: SpuriousFailures,
    /// May memory hold anything that nobody has written? Otherwise it holds zeros.
    pub(crate) any_unwritten: bool,
    /// Does `abort` end the process in silence?
    pub(crate) silent_abort: bool,
    /// Says when to give up.
    pub(crate) watch: &'a Watch,
    /// Give up if the formula becomes large.
    pub(crate) is_short: bool,
}

/// What a thread runs.
enum Start<'a> {
    Function(FuncId, &'a [Sym]),
    Model(ModelCall),
}

/// Function shapes, which do not change from one encoding to the next.
#[derive(Default)]
pub(crate) struct Shapes(FxHashMap<FuncId, Rc<Shape>>);

/// The last bound that is tried by itself.
pub(crate) const LAST_BOUND: u32 = 64;
/// Loops whose end is decided by known values go round this often at most.
const MOST_ITERATIONS: u32 = 1 << 16;
/// Calls nest this deep at most.
const DEEPEST_CALL: u32 = 400;
/// More steps than this are beyond any solver.
const MOST_STEPS: usize = 200_000;
/// A formula is large if it has more blocks of code or more steps: memory for it grows with the square of their number.
const BLOCKS_OF_SHORT: usize = 4_000;
const STEPS_OF_SHORT: usize = 1_200;

pub(crate) struct Encoder<'a> {
    view: &'a mut View,
    facts: &'a mut Facts,
    shapes: &'a mut Shapes,
    options: EncodeOptions<'a>,
    out: Encoding,
    /// The thread that is encoded now.
    thread: ThreadIndex,
    /// Its states, by place.
    queue: BTreeMap<Key, Vec<State>>,
    /// Its states that have come to their end, with what the thread returns.
    ended: Vec<State>,
    /// What finished threads return, by thread; threads that are still being encoded have none.
    results: FxHashMap<ThreadIndex, Option<Sym>>,
    /// Threads that are encoded to their end.
    encoded: FxHashSet<ThreadIndex>,
    reads: ReadId,
    /// By thread: the place where it is started; see [`bound`].
    started_at: Vec<Key>,
    /// By atomic block: the place where it begins.
    begun_at: Vec<Key>,
    /// Blocks of code encoded so far.
    blocks: usize,
    /// Heap blocks that are full of zeros on some paths only: whether they are.
    zeroed: BTreeMap<ObjectId, Bit>,
    /// Does something depend on what the instruction at hand reads?
    needs_contents: bool,
    /// Mutexes that are taken while others are held: held, taken.
    nested: BTreeSet<(Place, Place)>,
    /// Calls that make keys, or add to another of the tables that are counted.
    keys: u32,
    /// Numbers of places where library functions are called that want to know.
    places: BTreeMap<Vec<(u32, u32, usize)>, u64>,
    /// The mutex that the operation at hand is about, if somebody may overwrite its initialiser, and the number of its kind that was found
    /// there. None: it was looked at before.
    seen_kind: Option<(Place, Option<Sym>)>,
    /// By handle: that a thread will have finished that is not encoded yet.
    promised: BTreeMap<u64, Bit>,
    /// The high halves of addresses that are not those of the program: see [`uncertain`].
    uncertain: FxHashSet<u32>,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(
        view: &'a mut View,
        facts: &'a mut Facts,
        shapes: &'a mut Shapes,
        options: EncodeOptions<'a>,
    ) -> Self {
        Self {
            view,
            facts,
            shapes,
            options,
            out: Encoding::default(),
            thread: 0,
            queue: BTreeMap::new(),
            ended: Vec::new(),
            results: FxHashMap::default(),
            encoded: FxHashSet::default(),
            seen_kind: None,
            promised: BTreeMap::new(),
            uncertain: FxHashSet::default(),
            keys: 0,
            places: BTreeMap::new(),
            nested: BTreeSet::new(),
            started_at: vec![Key::new()],
            begun_at: Vec::new(),
            reads: 0,
            blocks: 0,
            zeroed: BTreeMap::new(),
            needs_contents: false,
        }
    }

    /// Encodes the whole program. Fails where there is no sense in going on; what is beyond this engine on some path only is
    /// part of the encoding.
    pub(crate) fn run(mut self) -> Result<Encoding, Stop> {
        let main = self.view.main();
        self.out.threads.push(Thread {
            id: ThreadId::MAIN,
            handle: self.view.tables().handle_of_thread(ThreadId::MAIN),
            started: Bit::TRUE,
            finished: Bit::FALSE,
            begin: None,
            end: None,
            choices: Vec::new(),
            allocations: Vec::new(),
            variables: Vec::new(),
            is_uncertain: false,
        });
        let mut state = State::new(Path::default(), true);
        state.next = Next::Main(main);
        self.run_thread(
            0,
            state,
            Start::Model(ModelCall::named("raddle.before_main", &[])),
        )?;
        for (handle, promise) in std::mem::take(&mut self.promised) {
            let threads = self
                .out
                .threads
                .iter()
                .filter(|thread| thread.handle == handle);
            let finished: Vec<Bit> = threads.map(|thread| thread.finished).collect();
            let finished = self.out.bits.any(finished);
            let differs = self.out.bits.bit_xor(promise, finished);
            self.out.required.push(!differs);
        }
        self.find_blocking();
        self.facts.count_threads(self.out.threads.len());
        self.facts.count_keys(self.keys);
        Ok(self.out)
    }

    /// Encodes one thread, and those that it starts.
    fn run_thread(
        &mut self,
        thread: ThreadIndex,
        mut state: State,
        entry: Start<'_>,
    ) -> Result<(), Stop> {
        let outer = std::mem::replace(&mut self.thread, thread);
        let queue = std::mem::take(&mut self.queue);
        let ended = std::mem::take(&mut self.ended);
        let begin = self.step(&state, StepKind::Begin, Order::SeqCst);
        self.out.threads[thread].begin = Some(begin);
        match entry {
            Start::Model(call) => self.run_models(state, vec![call])?,
            Start::Function(function, args) => match self.enter(&mut state, function, args) {
                Ok(()) => self.push(state),
                Err(stop) => self.stopped(&state, stop)?,
            },
        }
        while let Some((_, states)) = self.queue.pop_first() {
            if let Some(state) = self.meet(states)? {
                self.advance(state)?;
            }
            if self.options.watch.is_over() {
                return Err(Stop::Limit(LATE));
            }
            self.blocks += 1;
            let is_long = self.blocks > BLOCKS_OF_SHORT || self.out.steps.len() > STEPS_OF_SHORT;
            if self.options.is_short && is_long {
                return Err(Stop::Limit(LONG));
            }
            if self.out.steps.len() > MOST_STEPS {
                return Err(Stop::Limit(Limit::Ids {
                    what: "steps of a formula",
                }));
            }
        }
        let states = std::mem::replace(&mut self.ended, ended);
        self.end_thread(thread, states)?;
        self.queue = queue;
        self.thread = outer;
        Ok(())
    }

    fn end_thread(&mut self, thread: ThreadIndex, states: Vec<State>) -> Result<(), Stop> {
        let mut finished = Bit::FALSE;
        if !states.is_empty()
            && let Some(state) = self.meet(states)?
        {
            let end = self.step(&state, StepKind::End, Order::SeqCst);
            self.out.threads[thread].end = Some(end);
            finished = state.path.guard();
            self.keep_locks(&state, finished);
            self.results.insert(thread, state.result);
        }
        self.out.threads[thread].finished = finished;
        self.encoded.insert(thread);
        Ok(())
    }

    /// Lets a state wait for its turn.
    fn push(&mut self, state: State) {
        if !state.path.is_impossible() {
            self.queue.entry(state.key()).or_default().push(state);
        }
    }

    /// One state for all that are at the same place. Those that parted last are joined first, so that what parted them is
    /// forgotten. None if they cannot be made one, which is then part of the encoding.
    fn meet(&mut self, mut states: Vec<State>) -> Result<Option<State>, Stop> {
        while states.len() > 1 {
            let mut best = (0, 1, 0);
            for a in 0..states.len() {
                for b in a + 1..states.len() {
                    let common = states[a].path.common(&states[b].path);
                    if common > best.2 {
                        best = (a, b, common);
                    }
                }
            }
            let mut second = states.remove(best.1);
            let mut first = states.remove(best.0);
            let what = match first.disagreement(&second) {
                None => {
                    self.level(&mut first, &mut second)?;
                    states.insert(best.0, first.join(&mut self.out.bits, &second));
                    continue;
                }
                Some(Disagreement::Mutex(mutex)) => {
                    self.facts.tangle(mutex);
                    return Err(Stop::Limit(RETRY));
                }
                Some(Disagreement::Block) => {
                    "an atomic block that is left on one path and not on another"
                }
                Some(Disagreement::Stack) => {
                    "a stack variable that exists on one path and not on another"
                }
            };
            states.extend([first, second]);
            for state in &states {
                self.stopped(state, unsupported(what))?;
            }
            return Ok(None);
        }
        Ok(states.pop())
    }

    /// Makes two states know the same memory.
    fn level(&mut self, first: &mut State, second: &mut State) -> Result<(), Stop> {
        if first.alone != second.alone {
            for state in [&mut *first, &mut *second] {
                if state.alone {
                    self.reveal(state)?;
                }
            }
        }
        self.complete(first, second)?;
        self.complete(second, first)
    }

    fn complete(&mut self, have: &State, lack: &mut State) -> Result<(), Stop> {
        for &region in have.own.keys() {
            if let Entry::Vacant(slot) = lack.own.entry(region) {
                slot.insert(self.first_contents(region)?);
            }
        }
        for &position in have.thread_locals.keys() {
            if let Entry::Vacant(slot) = lack.thread_locals.entry(position) {
                slot.insert(self.thread_local_contents(position)?);
            }
        }
        Ok(())
    }

    /// What a region holds when the thread begins (or when the first thread was started).
    fn first_contents(&mut self, region: Region) -> Result<Rc<Contents>, Stop> {
        if let Some(contents) = self.out.initial.get(&region) {
            return Ok(Rc::new(contents.clone()));
        }
        if region.is_sync {
            return Ok(Rc::new(Contents::new(u64::MAX, None)));
        }
        let info = self.view.tables().object_info(region.object);
        let (size, kind) = (info.size, info.kind);
        let base = self.view.contents(region.object)?;
        if base.is_none() && kind.has_lifetime() && self.options.any_unwritten {
            return Ok(Rc::new(self.any_contents(region.object, size)));
        }
        if base.is_none() && kind.has_lifetime() && self.checks_uninit() {
            let is_unwritten = self.begins_unwritten(region.object);
            return Ok(Rc::new(Contents::fresh(size, is_unwritten)));
        }
        Ok(Rc::new(Contents::new(size, base)))
    }

    // ---- what comes out

    fn step(&mut self, state: &State, what: StepKind, order: Order) -> StepIndex {
        let locks = self.locks_held(state);
        self.out.steps.push(Step {
            thread: self.thread,
            what,
            guard: state.path.guard(),
            order,
            failure: order,
            accesses: Vec::new(),
            is_atomic: true,
            block: state.block,
            object: None,
            sections: state
                .held
                .values()
                .map(|held| held.section)
                .filter(|&section| section < self.out.sections.len())
                .collect(),
            locks,
            handover: Handover::NONE,
            joined: Rc::clone(&state.joined),
        });
        self.out.steps.len() - 1
    }

    /// The state goes no further.
    fn stopped(&mut self, state: &State, stop: Stop) -> Result<(), Stop> {
        let guard = state.path.guard();
        match stop {
            Stop::Fault(fault) => {
                self.leave_all(state, &fault);
                self.fault_inside(state, guard, &fault);
                self.refuse_dead_access(state, guard, &fault);
                self.out.errors.push(ErrorCondition {
                    thread: self.thread,
                    guard,
                    fault,
                });
            }
            Stop::Limit(Limit::Unroll { bound }) => {
                self.stops_inside(state, guard);
                self.cut(state, bound);
            }
            // As after an assumption that fails: what is beyond is no part of what was asked for.
            Stop::Limit(Limit::Threads { .. }) => {
                self.stops_inside(state, guard);
                let at = self.position(state);
                self.out.crowds.push(Crowd {
                    thread: self.thread,
                    guard,
                    at,
                });
            }
            Stop::Limit(_) => return Err(stop),
            // A formula has all wake-ups and failures.
            Stop::WokenInVain | Stop::FailedInVain | Stop::Noticed => {}
            Stop::Unsupported(what) => {
                self.stops_inside(state, guard);
                let at = self.position(state);
                let thread = self.out.threads[self.thread].id;
                self.out.refusals.push(Refusal {
                    guard,
                    what,
                    thread,
                    at,
                });
            }
        }
        Ok(())
    }

    /// If `condition` holds, that is a fault and the thread stops.
    fn fault_if(&mut self, state: &mut State, condition: Bit, fault: Fault) {
        let guard = self.out.bits.bit_and(state.path.guard(), condition);
        if guard != Bit::FALSE {
            if !state.held.is_empty() {
                let mut faulty = state.clone();
                faulty.path.push(&mut self.out.bits, condition);
                self.leave_all(&faulty, &fault);
            }
            self.fault_inside(state, guard, &fault);
            self.refuse_dead_access(state, guard, &fault);
            self.out.errors.push(ErrorCondition {
                thread: self.thread,
                guard,
                fault,
            });
        }
        state.path.push(&mut self.out.bits, !condition);
    }

    /// If `condition` holds, that cannot be encoded and the thread stops.
    fn refuse_if(&mut self, state: &mut State, condition: Bit, stop: Stop) {
        let guard = self.out.bits.bit_and(state.path.guard(), condition);
        if guard != Bit::FALSE
            && let Stop::Unsupported(what) = stop
        {
            self.stops_inside(state, guard);
            let at = self.position(state);
            self.out.refusals.push(Refusal {
                guard,
                what,
                thread: self.out.threads[self.thread].id,
                at,
            });
        }
        state.path.push(&mut self.out.bits, !condition);
    }

    /// Accesses to memory that was freed are no steps, but may race with each other all the same. Where such faults are looked
    /// for, there are none in an execution that goes on.
    fn refuse_dead_access(&mut self, state: &State, guard: Bit, fault: &Fault) {
        let checks = self.options.checks;
        if fault.is_dead_access() && checks.races && !checks.covers(fault) {
            let at = self.position(state);
            self.out.refusals.push(Refusal {
                guard,
                what: Unsupported::Instruction {
                    what: RACES_ON_FREED_MEMORY.into(),
                },
                thread: self.out.threads[self.thread].id,
                at,
            });
        }
    }

    fn position(&mut self, state: &State) -> SrcId {
        // Code without a position of its own is attributed to its caller.
        for frame in state.frames.iter().rev() {
            let block = &frame.code.body().blocks[frame.block.index()];
            let loc = match block.insts.get(frame.index) {
                Some(inst) => inst.loc,
                None => block.terminator_loc,
            };
            if loc.is_some() {
                return self.view.source(frame.code.id(), loc);
            }
        }
        SrcId::NOWHERE
    }

    /// The thread's next heap block or shared stack variable.
    fn new_object(
        &mut self,
        state: &mut State,
        new: NewObject,
        ty: Option<TypeId>,
    ) -> Result<ObjectId, Stop> {
        state.allocations += 1;
        let thread = &mut self.out.threads[self.thread];
        let object = self.view.allocated(thread.id, state.allocations, new, ty)?;
        thread.allocations.push((state.path.guard(), object));
        self.note_uncertain(state, object);
        Ok(object)
    }

    fn fresh(&mut self, width: u32) -> Word {
        self.out.bits.fresh(width as usize, &mut self.out.vars)
    }

    fn fresh_bit(&mut self) -> Bit {
        self.out.bits.fresh_bit(&mut self.out.vars)
    }
}

/// Not an answer: encoding has to be repeated with what was found out.
pub(crate) const RETRY: Limit = Limit::Ids { what: "facts" };

/// There is no time left.
pub(crate) const LATE: Limit = Limit::Ids { what: "seconds" };
/// The formula is large.
pub(crate) const LONG: Limit = Limit::Ids { what: "formulas" };

/// What is refused where memory is accessed that was freed.
pub(crate) const RACES_ON_FREED_MEMORY: &str =
    "races of accesses to freed memory, without `--check memory` (not supported by bmc)";

fn unsupported(what: &str) -> Stop {
    Stop::Unsupported(Unsupported::Instruction {
        what: format!("{what} (not supported by bmc)").into(),
    })
}

/// A library function in a way that is not supported.
fn unsupported_call(function: &str, why: &str) -> Stop {
    Stop::Unsupported(Unsupported::Library {
        function: function.into(),
        why: format!("{why} (not supported by bmc)").into(),
    })
}
