//! Weak compare-exchanges that fail although they find what they expect, as the standards allow; and attempts to lock mutexes of C11 and C++
//! that fail although nobody has them, which are models and ask in the same way.
//!
//! A thread that fails for no reason reads, and goes on as after any other failure. That is a choice ([`ChoiceOf::Failing`]), once at most for
//! each thread and place, like spurious wake-ups ([`super::woken`]). Who chooses to fail and then finds something else than expected
//! would have failed anyway: such executions stop ([`Stop::FailedInVain`]).
//!
//! Nearly all weak compare-exchanges are in loops that try again. There a failure for no reason is the end of an iteration that changed
//! nothing, and executions without it show all that comes of it (the theorem of docs/purity.md). So there is no choice where the engine
//! leaves out pure iterations and one looks ahead and finds that the thread would be back at the beginning of the loop, in the state that it
//! was in there, with no change to memory in between. For that the state at the beginning of the present iteration is part of the local
//! state, as long as nothing was changed ([`Round`]).
//!
//! Other loops may ask again and again, and each question would be a step that keeps the iteration from being recognised as pure. So a thread
//! that has chosen not to fail is not asked again in the same state, as long as it has changed nothing ([`ThreadState::declined`]).
//!
//! A thread that pushes a node keeps the expected value in the node itself, and a failure stores it there once more. Nobody else can have
//! the address of a block that a thread has made, as long as it has written to such blocks only ([`ThreadState::unpublished`]): what it
//! stores there a second time changes nothing, and nobody can race with it. Where it stores before it tries, the iteration is the one from
//! the failure to the next attempt.

use super::SpuriousFailures;
use super::code::{Code, Moment, Point};
use super::iterations::leaves_memory;
use super::local::{FrameExtra, Local, ThreadState};
use super::machine::{Machine, Step, Top, Values};
use super::undefined::Mask;
use super::world::{World, is_try_lock};
use crate::fault::Stop;
use crate::ids::{LocId, ObjectId};
use crate::models::{Access, ModelId, is_of_library};
use crate::op::{ChoiceOf, Op, Order, Value};
use crate::orderings::OrderOf;
use raddle_ir::passes::intrinsics::called_function;
use raddle_ir::passes::{Cfg, Dominators, Loops};
use raddle_ir::{BlockId, Body, FuncId, Function, InstKind, Terminator};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Kind of thread values: where a thread has failed for no reason.
pub(crate) const FAILED: u32 = 12;

/// So many private steps are looked ahead.
const FARTHEST: u64 = 20_000;

/// More blocks that a thread has to itself are not told apart.
const MOST_UNPUBLISHED: usize = 8;

/// So much is remembered of what they hold.
const MOST_KNOWN: usize = 8;

/// How deep calls are followed to find a weak compare-exchange.
const DEEPEST: u32 = 6;

/// An iteration of a loop in which the thread has changed nothing so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Round {
    /// Frames below the loop's.
    depth: u32,
    header: u32,
    start: Rc<Start>,
}

/// A thread at a place: all that its future depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The function, the block and the instruction; or the model that was called.
    place: (u32, u32, u32),
    /// Or arguments of the model.
    regs: Box<[u64]>,
    undefined: Box<[u32]>,
    extra: FrameExtra,
    /// Without what is remembered about loops and failures.
    thread: ThreadState,
    hash: u64,
}

impl Start {
    fn new(
        place: (u32, u32, u32),
        (regs, undefined, extra): (Box<[u64]>, Box<[u32]>, FrameExtra),
        state: &ThreadState,
    ) -> Self {
        let mut thread = state.clone();
        thread.woken = None;
        thread.loops.clear();
        thread.forget_failures();
        let mut hasher = FxHasher::default();
        (place, &regs, &undefined, &extra).hash(&mut hasher);
        thread.hash(&mut hasher);
        Self {
            place,
            regs,
            undefined,
            extra,
            thread,
            hash: hasher.finish(),
        }
    }

    /// A thread at the beginning of a call of a model.
    pub(crate) fn of_call(model: ModelId, args: &[u64], state: &ThreadState) -> Self {
        let place = (u32::from(model.0), u32::MAX, u32::MAX);
        let nothing = (args.into(), Box::default(), FrameExtra::default());
        Self::new(place, nothing, state)
    }
}

impl Hash for Start {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

/// A look at what would come of a failure.
pub(crate) struct Trial {
    steps: u64,
    /// Where the failure is, if it is that of a compare-exchange.
    began: Option<Start>,
}

/// The loops of a function in which a weak compare-exchange may be tried again: their blocks, by their headers.
pub(crate) type Retries = FxHashMap<BlockId, FxHashSet<BlockId>>;

/// What becomes of a weak compare-exchange.
pub(crate) enum Attempt {
    /// It is a strong one, after so many results in the log.
    Goes(usize),
    /// It fails for no reason, after having read this.
    Fails(Value),
    Visible(Op),
}

impl World {
    /// Are failures for no reason left out where they come to nothing?
    pub(super) fn looks_at_rounds(&self) -> bool {
        self.options.spurious_failures != SpuriousFailures::None
            && self.options.leaves_out_idle_failures
            && (self.has_weak_exchanges || self.has_try_locks)
    }

    pub(crate) fn retries(&mut self, body: &Body) -> Retries {
        let mut retries = Retries::default();
        if !self.looks_at_rounds() {
            return retries;
        }
        let cfg = Cfg::new(body);
        let loops = Loops::new(&cfg, &Dominators::new(&cfg));
        if loops.iter().next().is_none() {
            return retries;
        }
        let tries: Vec<bool> = (0..body.blocks.len())
            .map(|block| self.exchanges_weakly(body, block, DEEPEST))
            .collect();
        for (_, natural) in loops.iter() {
            if natural.blocks.iter().any(|block| tries[block.index()]) {
                let blocks = natural.blocks.iter().copied().collect();
                retries.insert(natural.header, blocks);
            }
        }
        retries
    }

    /// Does a block do a weak compare-exchange, or call somebody who does?
    fn exchanges_weakly(&mut self, body: &Body, block: usize, depth: u32) -> bool {
        let block = &body.blocks[block];
        let insts = block.insts.iter().map(|inst| &inst.kind);
        if insts
            .clone()
            .any(|kind| matches!(kind, InstKind::CmpXchg { weak: true, .. }))
        {
            return true;
        }
        let invoked = match &block.terminator {
            Terminator::Invoke { call, .. } => Some(call),
            _ => None,
        };
        let calls = insts.filter_map(|kind| match kind {
            InstKind::Call(call) => Some(call),
            _ => None,
        });
        let callees: Vec<FuncId> = (calls.chain(invoked))
            .filter_map(|call| called_function(&self.module, call.callee))
            .collect();
        callees
            .into_iter()
            .any(|callee| self.calls_weakly(callee, depth))
    }

    fn calls_weakly(&mut self, function: FuncId, depth: u32) -> bool {
        let Function {
            name,
            is_declaration,
            ..
        } = self.module.function(function);
        if depth == 0 || *is_declaration {
            return is_try_lock(name);
        }
        if let Some(&known) = self.weak_callees.get(&function) {
            return known;
        }
        // Who is asked about while being looked at calls itself.
        self.weak_callees.insert(function, false);
        let Ok(body) = self.bodies.get(&mut self.module, function) else {
            return false;
        };
        let found =
            (0..body.blocks.len()).any(|block| self.exchanges_weakly(&body, block, depth - 1));
        self.weak_callees.insert(function, found);
        found
    }
}

impl ThreadState {
    /// Forgets the loops of frames that are gone.
    pub(super) fn leave_rounds(&mut self) {
        if !self.rounds.is_empty() {
            let depth = self.depth();
            self.rounds.retain(|round| round.depth <= depth);
        }
    }

    /// Forgets what is remembered about failures but that there was one.
    pub(super) fn forget_failures(&mut self) {
        self.rounds.clear();
        self.publish();
        self.declined.clear();
    }

    /// Did it decline in this state, with nothing changed since?
    pub(crate) fn has_declined(&self, here: &Start) -> bool {
        self.declined.iter().any(|declined| **declined == *here)
    }

    fn known(&self, loc: LocId) -> Option<Value> {
        let known = self.known.iter().find(|(known, _)| *known == loc);
        known.map(|&(_, value)| value)
    }

    /// Memory that nobody else can have the address of holds this.
    fn learn(&mut self, loc: LocId, value: Value) {
        if self.known(loc) == Some(value) {
            return;
        }
        self.known.retain(|(known, _)| *known != loc);
        if self.known.len() >= MOST_KNOWN {
            self.known.remove(0);
        }
        self.known.push((loc, value));
    }

    /// Others may have the addresses of all that it made.
    fn publish(&mut self) {
        self.unpublished.clear();
        self.known.clear();
    }
}

impl Machine<'_> {
    /// The φs of `target` have their values. Stops a look ahead that is back at the beginning of a loop.
    pub(crate) fn begin_round(&mut self, code: &Code, target: BlockId) -> Result<(), Stop> {
        if self.state.rounds.is_empty() && code.retries.is_empty() {
            return Ok(());
        }
        let depth = self.state.depth();
        let is_here = |round: &Rc<Round>| round.depth == depth && round.header == target.0;
        if self.trial.is_some() {
            let Some(round) = self.state.rounds.iter().find(|round| is_here(round)) else {
                return Ok(());
            };
            let began = Rc::clone(&round.start);
            return match *began == self.start_of_round(code, target) {
                true => Err(Stop::FailedInVain),
                false => Ok(()),
            };
        }
        let retries = &code.retries;
        self.state.rounds.retain(|round| {
            let blocks = retries.get(&BlockId(round.header));
            let stays = blocks.is_some_and(|blocks| blocks.contains(&target));
            round.depth < depth || stays && round.header != target.0
        });
        if retries.contains_key(&target) {
            let start = Rc::new(self.start_of_round(code, target));
            self.state.rounds.push(Rc::new(Round {
                depth,
                header: target.0,
                start,
            }));
        }
        Ok(())
    }

    fn start_of_round(&mut self, code: &Code, header: BlockId) -> Start {
        let base = self.frame().extra.private_base;
        self.forget_dead(code, base, Moment::Before(header.0, 0));
        self.here(code, (header.0, 0))
    }

    /// The thread before an instruction of the frame on top.
    fn here(&mut self, code: &Code, (block, index): (u32, u32)) -> Start {
        let point = Point::Before(block, index);
        let frame = self.frame();
        let regs = code.compress(&frame.regs, point);
        let undefined = frame.undefined.compress(code, point);
        let extra = frame.extra.clone();
        let place = (code.function.0, block, index);
        Start::new(place, (regs, undefined, extra), &self.state)
    }

    /// The operation at `local` returned `value`: are iterations still without effect, and who can have the addresses of new blocks?
    pub(crate) fn note_in_round(&mut self, local: &Local, value: Value) {
        let is_question = matches!(
            local.op,
            Op::Choice {
                of: ChoiceOf::Failing,
                ..
            }
        );
        if !is_question && !leaves_memory(self.tables, &local.op, value) {
            self.state.declined.clear();
        }
        if !self.world.looks_at_rounds() && !self.world.options.reuse_addresses {
            return;
        }
        let is_quiet = match local.op {
            Op::Load { loc, .. } => {
                if self.is_unpublished(loc) {
                    self.state.learn(loc, value);
                }
                true
            }
            Op::Store { loc, value, .. } if self.is_unpublished(loc) => {
                let is_silent = self.state.known(loc) == Some(value);
                // Bytes that other locations share may hold something else now.
                match self.tables.loc_info(loc).mixed {
                    true => self.state.known.clear(),
                    false => self.state.learn(loc, value),
                }
                is_silent
            }
            _ => leaves_memory(self.tables, &local.op, value),
        };
        if !is_quiet || local.thread.atomic_depth > 0 {
            self.state.rounds.clear();
        }
        match local.op {
            Op::Alloc { object } => {
                let unpublished = &mut self.state.unpublished;
                match unpublished.len() < MOST_UNPUBLISHED {
                    true => unpublished.push(object),
                    false => self.state.publish(),
                }
            }
            Op::Free { object } => {
                self.state.unpublished.retain(|&mut made| made != object);
                self.state.known.clear();
            }
            // What an update leaves there is not looked at.
            Op::Rmw { .. } => self.state.publish(),
            Op::Store { loc, .. } if !self.is_unpublished(loc) => self.state.publish(),
            Op::Cas { .. } if !is_quiet => self.state.publish(),
            Op::Spawn { .. } => self.state.publish(),
            _ => {}
        }
    }

    /// May other threads have the address of a heap block?
    pub(crate) fn others_may_have(&self, object: ObjectId) -> bool {
        !self.state.unpublished.contains(&object)
    }

    /// The thread has made an object come to life whose address others may have had before.
    pub(crate) fn note_used_again(&mut self, object: ObjectId) {
        self.state.unpublished.retain(|&mut made| made != object);
    }

    /// Can nobody else have the address of this memory?
    fn is_unpublished(&self, loc: LocId) -> bool {
        let object: ObjectId = self.tables.loc_info(loc).object;
        self.state.unpublished.contains(&object)
    }

    // ---- the compare-exchange

    /// Lets a weak compare-exchange fail for no reason, or not. It is about to be done, or begun: the log says.
    pub(crate) fn attempt_weakly(
        &mut self,
        code: &Code,
        (address, size): (u64, u8),
        (expected, result): (u64, Option<raddle_ir::ValueId>),
        failure: Order,
    ) -> Result<Attempt, Stop> {
        let may_fail = self.world.options.spurious_failures == SpuriousFailures::All;
        if !may_fail || self.is_of_rust_library() {
            return Ok(Attempt::Goes(0));
        }
        if let Some(began) = self.trial.as_mut().and_then(|trial| trial.began.take()) {
            let point = (self.frame().block, self.frame().index);
            return match began == self.here(code, point) {
                true => Err(Stop::FailedInVain),
                false => Ok(Attempt::Goes(0)),
            };
        }
        if self.trial.is_some() {
            return Ok(Attempt::Goes(0));
        }
        let place = (FAILED, self.place_of_attempt());
        let log = self.frame().log.clone();
        match log[..] {
            [] => {
                // What private memory holds is nobody's business.
                let is_shared = matches!(
                    self.load_piece(address, size, failure),
                    Ok(Access::Visible(_))
                );
                let has_choice = is_shared
                    && !self.state.slots.contains_key(&place)
                    && !self.fails_in_vain(code, result, expected)
                    && !self.tries_again_at_once(code, result, expected)
                    && !self.has_declined(code);
                if has_choice {
                    return Ok(Attempt::Visible(Op::Choice {
                        count: 2,
                        of: ChoiceOf::Failing,
                    }));
                }
                // The log is to say the same when the operation has returned.
                self.frame().log.push(0);
                Ok(Attempt::Goes(1))
            }
            [0] => {
                if self.world.options.leaves_out_idle_failures {
                    let point = (self.frame().block, self.frame().index);
                    let here = self.here(code, point);
                    self.state.declined.push(Rc::new(here));
                }
                Ok(Attempt::Goes(1))
            }
            [0, ..] => Ok(Attempt::Goes(1)),
            [_] => {
                let at = self.position();
                let site = self.tables.site_at(at, OrderOf::Failure, failure);
                let replaced = site.and_then(|site| self.world.options.orderings.get(&site));
                let order = replaced.copied().unwrap_or(failure);
                self.reads_in_failure = true;
                match self.load_piece(address, size, order)? {
                    Access::Visible(op) => Ok(Attempt::Visible(op)),
                    Access::Done(_) => Ok(Attempt::Goes(1)),
                }
            }
            [_, read, ..] => {
                if read != expected {
                    return Err(Stop::FailedInVain);
                }
                self.state.slots.insert(place, 1);
                Ok(Attempt::Fails(read))
            }
        }
    }

    /// Is it an attempt of Rust's standard library? That one knows how to go on, and its own loops are not what is checked.
    fn is_of_rust_library(&mut self) -> bool {
        let innermost = self.frame().code.function;
        let callers: Vec<FuncId> = self.calling_functions().collect();
        let module = &self.world.module;
        let functions = std::iter::once(innermost).chain(callers);
        is_of_library(functions.map(|function| &*module.function(function).name))
    }

    /// Is the thread in the state in which it chose not to fail, with nothing changed since? Then it is at the end of an iteration without effect,
    /// and could have chosen otherwise before it. Were it asked again, no such iteration would lead back to a state that it was in.
    fn has_declined(&mut self, code: &Code) -> bool {
        if self.state.declined.is_empty() {
            return false;
        }
        let point = (self.frame().block, self.frame().index);
        let here = self.here(code, point);
        self.state.has_declined(&here)
    }

    /// A number for the place of the instruction, with the calls that lead to it.
    fn place_of_attempt(&mut self) -> u64 {
        let mut place = FxHasher::default();
        let frame = self.frame();
        (frame.code.function, frame.block, frame.index).hash(&mut place);
        self.place_of_call().hash(&mut place);
        place.finish().max(1)
    }

    /// Would the thread be back at the beginning of an iteration without effect if the compare-exchange failed for no reason?
    fn fails_in_vain(
        &mut self,
        code: &Code,
        result: Option<raddle_ir::ValueId>,
        expected: u64,
    ) -> bool {
        let may_tell = self.world.looks_at_rounds() && self.state.atomic_depth == 0;
        if !may_tell || self.state.rounds.is_empty() && self.state.unpublished.is_empty() {
            return false;
        }
        let point = (self.frame().block, self.frame().index);
        let began = Some(self.here(code, point));
        let trial = self.failed_trial(code, result, (expected, began));
        trial.comes_back()
    }

    /// The thread as if the compare-exchange had failed for no reason.
    pub(super) fn failed_trial(
        &mut self,
        code: &Code,
        result: Option<raddle_ir::ValueId>,
        (expected, began): (u64, Option<Start>),
    ) -> Machine<'_> {
        let mut frame = self.frame().clone();
        frame.log.clear();
        let mut trial = Machine::resume_nothing(self.world, self.tables, self.state.clone());
        trial.trial = Some(Trial { steps: 0, began });
        trial.top = Top::Ir(frame);
        let failed: Values = smallvec::smallvec![expected, 0];
        trial.set_result(code, result, &failed);
        trial.frame().index += 1;
        trial
    }

    /// Would the thread be back at the beginning of an iteration without effect if the model on top returned this?
    pub(crate) fn returns_in_vain(&mut self, value: u64) -> bool {
        if self.state.rounds.is_empty() || self.state.atomic_depth > 0 {
            return false;
        }
        let mut trial = Machine::resume_nothing(self.world, self.tables, self.state.clone());
        trial.trial = Some(Trial {
            steps: 0,
            began: None,
        });
        trial.return_values(&[value], Mask::NONE).is_ok() && trial.comes_back()
    }

    /// Runs a look ahead.
    fn comes_back(mut self) -> bool {
        loop {
            let step = match std::mem::replace(&mut self.top, Top::Finished) {
                Top::Ir(frame) => {
                    self.top = Top::Ir(frame);
                    self.run_code()
                }
                Top::Native(frame) => self.run_model(frame),
                Top::Finished => return false,
            };
            let returned = match step {
                Ok(Step::Continue) => continue,
                Ok(Step::Visible(Op::Load { loc, .. })) => self.state.known(loc),
                Ok(Step::Visible(Op::Store { loc, value, .. })) => {
                    let is_silent =
                        self.is_unpublished(loc) && self.state.known(loc) == Some(value);
                    is_silent.then_some(0)
                }
                Ok(_) => return false,
                Err(stop) => return stop == Stop::FailedInVain,
            };
            let Some(value) = returned else {
                return false;
            };
            match &mut self.top {
                Top::Ir(frame) => frame.log.push(value),
                Top::Native(frame) => frame.log.push(value),
                Top::Finished => return false,
            }
        }
    }

    /// Is a look ahead too long?
    pub(crate) fn looks_too_far(&mut self, steps: u64) -> bool {
        self.trial.as_mut().is_some_and(|trial| {
            trial.steps += steps;
            trial.steps > FARTHEST
        })
    }
}
