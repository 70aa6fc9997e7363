//! One thread while it runs: from one visible operation to the next.

pub(super) mod position;

use super::code::{Code, Moment, Point};
use super::failing::Trial;
use super::local::{Frame, FrameExtra, IrFrame, Link, Local, NativeFrame, ThreadState};
use super::undefined::{Mask, Undefined};
use super::world::World;
use crate::automaton::Transition;
use crate::fault::{Comparison, Limit, Stop};
use crate::ids::{SrcId, StateId, ThreadId};
use crate::models::{self, Access, ModelId, Outcome, Pause, Script};
use crate::op::{Op, Value};
use crate::tables::Tables;
use raddle_ir::{BlockId, FuncId};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Argument and result slots.
pub(crate) type Values = SmallVec<[u64; 2]>;

/// A frame of interpreted code with all its registers.
#[derive(Clone)]
pub(crate) struct ActiveFrame {
    pub(crate) code: Rc<Code>,
    pub(crate) block: u32,
    pub(crate) index: u32,
    pub(crate) regs: Vec<u64>,
    pub(crate) undefined: Undefined,
    pub(crate) log: SmallVec<[u64; 2]>,
    /// The block before this one, if it was left since the last operation.
    pub(crate) came_from: Option<u32>,
    pub(crate) extra: FrameExtra,
}

/// The frame on top.
pub(crate) enum Top {
    Ir(ActiveFrame),
    Native(NativeFrame),
    Finished,
}

/// What a stretch of execution led to.
pub(crate) enum Step {
    /// The top frame is another one now.
    Continue,
    Visible(Op),
    Spawn {
        child: ThreadId,
        start: Box<Transition<Local>>,
    },
    /// The thread is at its end.
    End(Op),
}

/// A running thread.
pub struct Machine<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) tables: &'a mut Tables,
    pub(crate) state: ThreadState,
    pub(crate) top: Top,
    pub(crate) output: String,
    steps: u64,
    /// A spawned thread that has not had an operation yet.
    starting: bool,
    /// A reason to stop that came up before the thread could run.
    failed: Option<Stop>,
    /// A state that private code was in, to find out that it goes in circles.
    probe: Option<Box<Probe>>,
    /// What the assertion that fails here compared.
    pub(crate) comparison: Option<Comparison>,
    /// Does the thread end by a return from `main`?
    main_returned: bool,
    /// Where a fault is reported, if not where the thread is.
    pub(crate) fault_at: Option<SrcId>,
    /// Is this but a look at what would come of a failure?
    pub(crate) trial: Option<Trial>,
    /// Is the operation the read of a compare-exchange that fails for no reason? Its ordering has been looked up.
    pub(crate) reads_in_failure: bool,
}

/// All that private code can change, at the entry of a block.
struct Probe {
    function: FuncId,
    block: u32,
    regs: Vec<u64>,
    undefined: Undefined,
    extra: FrameExtra,
    state: ThreadState,
    /// When the next probe is taken: the distance doubles each time (Brent's method).
    until: u64,
}

impl<'a> Machine<'a> {
    /// A thread at its very start.
    pub(crate) fn start(
        world: &'a mut World,
        tables: &'a mut Tables,
        state: ThreadState,
        frame: NativeFrame,
    ) -> Self {
        let is_main = state.id == ThreadId::MAIN;
        Self {
            world,
            tables,
            state,
            top: Top::Native(frame),
            output: String::new(),
            steps: 0,
            starting: !is_main,
            failed: None,
            probe: None,
            comparison: None,
            main_returned: false,
            fault_at: None,
            trial: None,
            reads_in_failure: false,
        }
    }

    /// A thread without its top frame.
    pub(super) fn resume_nothing(
        world: &'a mut World,
        tables: &'a mut Tables,
        state: ThreadState,
    ) -> Self {
        Self {
            starting: false,
            top: Top::Finished,
            ..Self::start(world, tables, state, NativeFrame::default())
        }
    }

    /// A thread whose operation returned `value`.
    pub(crate) fn resume(
        world: &'a mut World,
        tables: &'a mut Tables,
        local: &Local,
        value: Value,
    ) -> Self {
        let mut machine = Self::resume_nothing(world, tables, local.thread.clone());
        match &local.top {
            Frame::Ir(frame) => {
                let point = Point::Before(frame.block, frame.index);
                match machine.activate(frame, point) {
                    Ok(mut active) => {
                        active.log.push(value);
                        machine.top = Top::Ir(active);
                    }
                    Err(stop) => machine.failed = Some(stop),
                }
            }
            Frame::Native(frame) => {
                let mut frame = frame.clone();
                frame.log.push(value);
                machine.top = Top::Native(frame);
            }
            Frame::Finished => {}
        }
        machine
    }

    /// Tells the loops that the thread is in, and the wait that it woke up from, of the operation that returned.
    pub(crate) fn note_operation(&mut self, local: &Local, value: Value, ignores_result: bool) {
        let state = &mut self.state;
        state.note_operation(self.tables, local, value, ignores_result);
        self.note_after_wakeup(local, value);
        self.note_in_round(local, value);
    }

    /// Runs up to the next visible operation.
    pub(crate) fn run(mut self) -> Transition<Local> {
        if let Some(stop) = self.failed.take() {
            return self.stopped(stop);
        }
        loop {
            let step = match std::mem::replace(&mut self.top, Top::Finished) {
                Top::Ir(frame) => {
                    self.top = Top::Ir(frame);
                    self.run_code()
                }
                Top::Native(frame) => self.run_model(frame),
                Top::Finished => Ok(Step::End(Op::Exit { value: 0 })),
            };
            match step {
                Ok(Step::Continue) => {}
                Ok(Step::Visible(op)) if self.is_noticed_while_printing(&op) => {
                    return self.stopped(Stop::Noticed);
                }
                Ok(Step::Visible(op)) => return self.suspended(op, None),
                Ok(Step::Spawn { child, start }) => {
                    let op = Op::Spawn {
                        child,
                        start: StateId(0),
                    };
                    if self.is_noticed_while_printing(&op) {
                        return self.stopped(Stop::Noticed);
                    }
                    return self.suspended(op, Some(start));
                }
                Ok(Step::End(op)) => return self.ended(op),
                Err(stop @ Stop::Unsupported(_)) => {
                    if !self.gives_up_attempt() {
                        return self.stopped(stop);
                    }
                }
                Err(stop) => return self.stopped(stop),
            }
        }
    }

    /// Counts a step of private code.
    pub(crate) fn tick(&mut self, steps: u64) -> Result<(), Stop> {
        self.steps += steps;
        let limit = self.world.options.max_private_steps;
        if self.steps > limit || self.trial.is_some() && self.looks_too_far(steps) {
            return Err(Stop::Limit(Limit::PrivateSteps { steps: limit }));
        }
        Ok(())
    }

    /// Stops private code that is exactly where it was before: it would never come to an operation.
    #[inline]
    pub(crate) fn look_for_cycle(&mut self, target: BlockId) -> Result<(), Stop> {
        /// Short loops are not worth the trouble.
        const PATIENCE: u64 = 10_000;
        if self.steps < PATIENCE {
            return Ok(());
        }
        self.compare_with_probe(target)
    }

    #[cold]
    fn compare_with_probe(&mut self, target: BlockId) -> Result<(), Stop> {
        let Top::Ir(frame) = &self.top else {
            return Ok(());
        };
        if let Some(probe) = &self.probe {
            let is_same = probe.block == target.0
                && probe.function == frame.code.function
                && probe.regs == frame.regs
                && probe.undefined == frame.undefined
                && probe.extra == frame.extra
                && probe.state == self.state;
            if is_same {
                let steps = self.world.options.max_private_steps;
                return Err(Stop::Limit(Limit::PrivateSteps { steps }));
            }
            if self.steps < probe.until {
                return Ok(());
            }
        }
        self.probe = Some(Box::new(Probe {
            function: frame.code.function,
            block: target.0,
            regs: frame.regs.clone(),
            undefined: frame.undefined.clone(),
            extra: frame.extra.clone(),
            state: self.state.clone(),
            until: 2 * self.steps,
        }));
        Ok(())
    }

    // ---- ends of a run

    fn suspended(mut self, mut op: Op, child: Option<Box<Transition<Local>>>) -> Transition<Local> {
        let at = self.position();
        if op.orderings()[0].is_some() && !self.reads_in_failure {
            self.order(&mut op, at);
        }
        self.forget_dead_of_top();
        let top = match self.top {
            Top::Ir(frame) => {
                let point = Point::Before(frame.block, frame.index);
                Frame::Ir(frame.suspend(point))
            }
            Top::Native(frame) => Frame::Native(frame),
            Top::Finished => Frame::Finished,
        };
        Transition {
            local: Local {
                op,
                at,
                thread: self.state,
                top,
            },
            op,
            at,
            output: printed(self.output),
            child,
            entry: None,
        }
    }

    fn stopped(self, stop: Stop) -> Transition<Local> {
        let op = Op::Stop(self.tables.stop(stop));
        self.ended(op)
    }

    /// The end of a thread forgets everything: all that is left is how and where it ended.
    /// Only the end of `main` has a position among the ends of threads: whoever leaves otherwise does not end the process.
    fn ended(mut self, op: Op) -> Transition<Local> {
        let at = match op {
            Op::Exit { .. } if self.main_returned => {
                self.world.source(self.tables, self.world.main, None)
            }
            Op::Exit { .. } => SrcId::NOWHERE,
            _ => match self.fault_at {
                Some(at) => at,
                None => self.position(),
            },
        };
        Transition {
            local: Local {
                op,
                at,
                thread: ThreadState::new(self.state.id),
                top: Frame::Finished,
            },
            op,
            at,
            output: printed(self.output),
            child: None,
            entry: None,
        }
    }

    // ---- frames

    pub(super) fn activate(&mut self, frame: &IrFrame, point: Point) -> Result<ActiveFrame, Stop> {
        let code = self.world.code(frame.function)?;
        let regs = code.expand(&frame.regs, point);
        let undefined = Undefined::expand(&frame.undefined, &code, point);
        Ok(ActiveFrame {
            code,
            block: frame.block,
            index: frame.index,
            regs,
            undefined,
            log: frame.log.clone(),
            came_from: None,
            extra: frame.extra.clone(),
        })
    }

    /// Forgets what private variables of the frame on top hold in vain, in the middle of its instruction.
    fn forget_dead_of_top(&mut self) {
        if let Top::Ir(frame) = &self.top {
            let moment = Moment::During(frame.block, frame.index);
            let (code, base) = (Rc::clone(&frame.code), frame.extra.private_base);
            self.forget_dead(&code, base, moment);
        }
    }

    /// Puts the top frame below the next one, which must be set by the caller.
    pub(crate) fn push_top(&mut self) -> Result<(), Stop> {
        let limit = self.world.options.max_call_depth;
        if self.state.depth() >= limit {
            return Err(Stop::Limit(Limit::CallDepth { depth: limit }));
        }
        self.forget_dead_of_top();
        let frame = match std::mem::replace(&mut self.top, Top::Finished) {
            Top::Ir(frame) => {
                let point = Point::After(frame.block, frame.index);
                Frame::Ir(frame.suspend(point))
            }
            Top::Native(frame) => Frame::Native(frame),
            Top::Finished => return Ok(()),
        };
        let below = self.state.callers.take();
        self.state.callers = Some(Rc::new(Link::new(frame, below)));
        Ok(())
    }

    /// Drops the top frame and hands its result to the one below.
    pub(crate) fn return_values(&mut self, values: &[u64], undefined: Mask) -> Result<(), Stop> {
        let Some(link) = self.state.callers.take() else {
            self.top = Top::Finished;
            return Ok(());
        };
        self.state.callers.clone_from(&link.below);
        self.state.leave_frames();
        match &link.frame {
            Frame::Ir(frame) => {
                let point = Point::After(frame.block, frame.index);
                let mut active = self.activate(frame, point)?;
                active.log.clear();
                self.top = Top::Ir(active);
                self.call_returned(values, undefined)?;
            }
            Frame::Native(frame) => {
                let mut frame = frame.clone();
                frame.log.push(values.first().copied().unwrap_or(0));
                if models::get(frame.model).takes_pairs {
                    frame.log.push(values.get(1).copied().unwrap_or(0));
                }
                self.top = Top::Native(frame);
            }
            Frame::Finished => self.top = Top::Finished,
        }
        Ok(())
    }

    /// The running frame of interpreted code. Instructions are executed with one on top only.
    pub(crate) fn frame(&mut self) -> &mut ActiveFrame {
        match &mut self.top {
            Top::Ir(frame) => frame,
            _ => unreachable!("an instruction without its frame"),
        }
    }

    /// Shared stack variables of all frames, innermost first.
    pub(crate) fn owned_objects(&self) -> Vec<u64> {
        let mut objects = Vec::new();
        let mut add = |extra: &FrameExtra| {
            objects.extend(extra.owned.iter().rev().map(|object| u64::from(object.0)));
        };
        if let Top::Ir(frame) = &self.top {
            add(&frame.extra);
        }
        let mut link = self.state.callers.as_ref();
        while let Some(here) = link {
            if let Frame::Ir(frame) = &here.frame {
                add(&frame.extra);
            }
            link = here.below.as_ref();
        }
        objects
    }

    /// A number for the place that a model is called from. (Two places with the same number would be taken for one.)
    pub(crate) fn place_of_call(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        let mut link = self.state.callers.as_ref();
        while let Some(here) = link {
            if let Frame::Ir(frame) = &here.frame {
                (frame.function, frame.block, frame.index).hash(&mut hasher);
            }
            link = here.below.as_ref();
        }
        hasher.finish().max(1)
    }

    /// The function that called the model on top.
    pub(crate) fn caller(&self) -> Option<FuncId> {
        match &self.state.callers.as_ref()?.frame {
            Frame::Ir(frame) => Some(frame.function),
            _ => None,
        }
    }

    /// The functions whose calls led to the model on top, innermost first.
    pub(crate) fn calling_functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        let links = std::iter::successors(self.state.callers.as_ref(), |link| link.below.as_ref());
        links.filter_map(|link| match &link.frame {
            Frame::Ir(frame) => Some(frame.function),
            _ => None,
        })
    }

    /// How many numbers from 0 on stand for all that the function which called the model on top could be told, as far as it can tell them
    /// apart: it looks at nothing but the rest of a division by one constant, or at low bits. None if it may look at more, or there are many.
    pub(crate) fn results_that_differ(&mut self) -> Option<u32> {
        let Frame::Ir(frame) = &self.state.callers.as_ref()?.frame else {
            return None;
        };
        let (function, block, index) = (frame.function, frame.block, frame.index);
        let code = self.world.code(function).ok()?;
        code.values_looked_at(&self.world.module, block, index)
    }

    /// The variadic arguments of the function that called the model on top.
    pub(crate) fn caller_varargs(&self) -> Option<Rc<[u8]>> {
        match &self.state.callers.as_ref()?.frame {
            Frame::Ir(frame) => frame.extra.varargs.clone(),
            _ => None,
        }
    }

    // ---- models

    /// Calls a model; its result goes to the frame that is on top now.
    pub(crate) fn enter_model(
        &mut self,
        model: ModelId,
        function: Option<FuncId>,
        args: &[u64],
        fixed: u32,
    ) -> Result<(), Stop> {
        self.push_top()?;
        self.top = Top::Native(NativeFrame {
            model,
            function,
            args: args.into(),
            fixed,
            ..NativeFrame::default()
        });
        Ok(())
    }

    pub(super) fn run_model(&mut self, mut frame: NativeFrame) -> Result<Step, Stop> {
        self.tick(1 + frame.log.len() as u64)?;
        let model = models::get(frame.model);
        let result = (model.run)(&mut Script::new(self, &mut frame));
        match result {
            Ok(Outcome::Original) => self.enter_original(&frame),
            Ok(outcome) => self.model_ended(outcome),
            Err(Pause::Op(op)) => {
                self.top = Top::Native(frame);
                Ok(Step::Visible(op))
            }
            Err(Pause::Call { function, args }) => {
                self.top = Top::Native(frame);
                self.call_from_model(function, &args)
            }
            Err(Pause::Spawn { child, model, args }) => {
                self.top = Top::Native(frame);
                self.spawn(child, model, args)
            }
            Err(Pause::Stop(stop)) => Err(stop),
            Err(Pause::Ask(_)) => unreachable!("models of running threads do not ask"),
        }
    }

    fn model_ended(&mut self, outcome: Outcome) -> Result<Step, Stop> {
        match outcome {
            Outcome::Return(value) => self.return_values(&[value], Mask::NONE)?,
            Outcome::Values(values) => self.return_values(&values, Mask::NONE)?,
            Outcome::Void | Outcome::Original => self.return_values(&[], Mask::NONE)?,
            Outcome::Unnoticed => {
                if let Some(link) = self.state.callers.take() {
                    self.state.callers.clone_from(&link.below);
                    self.state.leave_frames();
                    if let Frame::Native(frame) = &link.frame {
                        self.top = Top::Native(frame.clone());
                    }
                }
            }
            Outcome::Raise(args) => self.raise(&args),
            Outcome::Land { block, values } => self.land(block, &values)?,
            Outcome::Jump { buffer, value } => self.set_model("raddle.jump", &[buffer, value]),
            Outcome::ExitThread(value) => return Ok(Step::End(Op::Exit { value })),
            Outcome::ReturnFromMain(value) => {
                self.main_returned = true;
                return Ok(Step::End(Op::Exit { value }));
            }
            Outcome::ExitProcess(code) => return Ok(Step::End(Op::ExitProcess { code })),
            Outcome::AssumeFailed => return Ok(Step::End(Op::AssumeFailed)),
            Outcome::Become(name, args) => {
                self.state.callers = None;
                self.state.loops.clear();
                self.state.private.clear();
                self.top = Top::Native(NativeFrame {
                    model: models::lookup(name).unwrap_or_default(),
                    fixed: args.len() as u32,
                    args: args.into(),
                    ..NativeFrame::default()
                });
            }
        }
        Ok(Step::Continue)
    }

    /// Starts a thread: runs it up to its own first operation.
    fn spawn(&mut self, child: ThreadId, model: ModelId, args: Vec<u64>) -> Result<Step, Stop> {
        if self.starting {
            // Threads that start by starting a thread would be run ahead without end: let this one have an operation of
            // its own first.
            let pause = models::lookup("raddle.pause").unwrap_or_default();
            self.enter_model(pause, None, &[], 0)?;
            return Ok(Step::Continue);
        }
        let frame = NativeFrame {
            model,
            fixed: args.len() as u32,
            args: args.into(),
            ..NativeFrame::default()
        };
        let entry = self.entry_name(&frame);
        let mut state = ThreadState::new(child);
        state.reads_kinds = self.state.reads_kinds;
        if self.world.panics.unwinds() && self.starts_scoped_thread() {
            state.slots.insert(models::panics::SCOPED, 1);
        }
        let mut start = Machine::start(self.world, self.tables, state, frame).run();
        start.entry = Some(entry);
        Ok(Step::Spawn {
            child,
            start: Box::new(start),
        })
    }

    /// What a thread runs that starts with this frame.
    fn entry_name(&self, frame: &NativeFrame) -> Rc<str> {
        let model = models::get(frame.model).name;
        let address = frame.args.first().filter(|_| model == "raddle.thread");
        match address.and_then(|&address| self.world.function_at(address)) {
            Some(function) => self.world.function_display_name(function),
            None => model.into(),
        }
    }

    /// Leaves an atomic block.
    pub(crate) fn leave_atomic(&mut self) -> Access {
        match self.state.atomic_depth {
            0 => Access::Done(0),
            1 => {
                self.state.atomic_depth = 0;
                Access::Visible(Op::AtomicEnd)
            }
            _ => {
                self.state.atomic_depth -= 1;
                Access::Done(0)
            }
        }
    }
}

impl ActiveFrame {
    fn suspend(self, point: Point) -> IrFrame {
        IrFrame {
            function: self.code.function,
            block: self.block,
            index: self.index,
            regs: self.code.compress(&self.regs, point),
            undefined: self.undefined.compress(&self.code, point),
            log: match point {
                Point::Before(..) => self.log,
                Point::After(..) => SmallVec::new(),
            },
            extra: self.extra,
        }
    }
}

fn printed(output: String) -> Option<Box<str>> {
    (!output.is_empty()).then(|| output.into())
}
