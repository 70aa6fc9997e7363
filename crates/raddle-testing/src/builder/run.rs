//! Runs built programs: their [`Semantics`].

use super::code::{ALLOCATIONS, Action, SPAWNS, SyncStep, SyncVar, Target};
use super::compile::{Compiled, FlatCode, Inst, initial_registers};
use super::{ObjectDef, Source, ThreadDef};
use raddle_program::Kinds;
use raddle_program::automaton::{Semantics, Transition};
use raddle_program::fault::{AccessKind, Fault, Limit, Misuse, Stop};
use raddle_program::ids::{LocId, ObjectId, SrcId, StateId, ThreadId};
use raddle_program::op::{ChoiceOf, Op, Order, SyncAction, Value, mask};
use raddle_program::tables::{Exhausted, NewObject, ObjectKind, SourceLoc, Tables};
use std::rc::Rc;

/// A thread at a visible operation. The resolved operation stands for everything that was read to compute it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Local {
    thread: ThreadId,
    code: ThreadDef,
    at: u32,
    op: Op,
    /// The values of [`FlatCode::kept`]; nothing in terminal states.
    regs: Box<[Value]>,
}

/// A running thread.
struct Frame {
    thread: ThreadId,
    code: ThreadDef,
    at: usize,
    regs: Vec<Value>,
}

pub(super) struct Interpreter {
    compiled: Rc<Compiled>,
    file: Rc<str>,
    /// The builder's objects.
    objects: Vec<ObjectId>,
}

/// So many instructions without a visible operation are taken for an endless loop.
const PRIVATE_STEPS: u64 = 100_000;

/// What became of an instruction that may be a visible operation.
enum Resolved {
    Op(Op, Option<Box<Transition<Local>>>),
    /// Nothing to do: `free(NULL)`.
    Skip,
}

impl Interpreter {
    pub(super) fn new(source: &Source, compiled: &Rc<Compiled>) -> (Self, Tables) {
        let mut tables = Tables::new("main");
        let declare = |(index, object): (usize, &ObjectDef)| {
            let new = NewObject {
                kind: ObjectKind::Global,
                size: object.size,
                align: 8,
                name: object.name.clone(),
                at: SrcId::NOWHERE,
                source_type: None,
                init: object.init.clone(),
                site: 0,
            };
            tables
                .global(index as u32, new)
                .expect("a built program has few variables")
        };
        let objects = source.objects.iter().enumerate().map(declare).collect();
        let interpreter = Self {
            compiled: compiled.clone(),
            file: source.name.clone(),
            objects,
        };
        (interpreter, tables)
    }

    fn position(&self, tables: &mut Tables, code: &FlatCode, at: usize) -> SrcId {
        tables.source(SourceLoc {
            file: self.file.clone(),
            line: code.lines[at],
            column: 0,
            function: Some(code.name.clone()),
            inlined_at: None,
        })
    }

    /// Runs private code up to the next visible operation.
    fn run(&self, tables: &mut Tables, mut frame: Frame) -> Transition<Local> {
        let compiled = self.compiled.clone();
        let code = &compiled.codes[frame.code.index()];
        for _ in 0..PRIVATE_STEPS {
            match &code.insts[frame.at] {
                Inst::Set(reg, value) => frame.regs[reg.index()] = value.eval(&frame.regs),
                Inst::Jump(target) => {
                    frame.at = *target;
                    continue;
                }
                Inst::JumpIfZero(cond, target) => {
                    if cond.eval(&frame.regs) == 0 {
                        frame.at = *target;
                        continue;
                    }
                }
                Inst::Assume(cond) => {
                    if cond.eval(&frame.regs) == 0 {
                        return self.arrive(tables, &frame, Op::AssumeFailed, None);
                    }
                }
                Inst::Assert { cond, text } => {
                    if cond.eval(&frame.regs) == 0 {
                        let condition = text.as_ref().into();
                        return self.stop(
                            tables,
                            &frame,
                            Stop::Fault(Fault::Assertion {
                                condition,
                                comparison: None,
                            }),
                        );
                    }
                }
                Inst::Exit(value) => {
                    let value = value.eval(&frame.regs);
                    return self.arrive(tables, &frame, Op::Exit { value }, None);
                }
                Inst::ExitProcess(code) => {
                    return self.arrive(tables, &frame, Op::ExitProcess { code: *code }, None);
                }
                Inst::Stop(stop) => return self.stop(tables, &frame, stop.clone()),
                Inst::Do { action, .. } => match self.resolve(tables, &mut frame, action) {
                    Ok(Resolved::Op(op, child)) => return self.arrive(tables, &frame, op, child),
                    Ok(Resolved::Skip) => {}
                    Err(stop) => return self.stop(tables, &frame, stop),
                },
            }
            frame.at += 1;
        }
        let limit = Limit::PrivateSteps {
            steps: PRIVATE_STEPS,
        };
        self.stop(tables, &frame, Stop::Limit(limit))
    }

    fn stop(&self, tables: &mut Tables, frame: &Frame, stop: Stop) -> Transition<Local> {
        let stop = tables.stop(stop);
        self.arrive(tables, frame, Op::Stop(stop), None)
    }

    fn arrive(
        &self,
        tables: &mut Tables,
        frame: &Frame,
        op: Op,
        child: Option<Box<Transition<Local>>>,
    ) -> Transition<Local> {
        let code = &self.compiled.codes[frame.code.index()];
        let kept: &[_] = if op.is_terminal() {
            &[]
        } else {
            &code.kept[frame.at]
        };
        let local = Local {
            thread: frame.thread,
            code: frame.code,
            at: frame.at as u32,
            op,
            regs: kept.iter().map(|reg| frame.regs[reg.index()]).collect(),
        };
        Transition {
            local,
            op,
            at: self.position(tables, code, frame.at),
            output: None,
            child,
            entry: None,
        }
    }

    fn resolve(
        &self,
        tables: &mut Tables,
        frame: &mut Frame,
        action: &Action,
    ) -> Result<Resolved, Stop> {
        let regs = &frame.regs;
        let op = match action {
            Action::Load { from, order } => {
                let (loc, _) = self.locate(tables, regs, from, *order, AccessKind::Read)?;
                Op::Load { loc, order: *order }
            }
            Action::Store { to, value, order } => {
                let (loc, size) = self.locate(tables, regs, to, *order, AccessKind::Write)?;
                Op::Store {
                    loc,
                    value: value.eval(regs) & mask(size),
                    order: *order,
                }
            }
            Action::Rmw {
                on,
                kind,
                operand,
                order,
            } => {
                let (loc, size) = self.locate(tables, regs, on, *order, AccessKind::Update)?;
                Op::Rmw {
                    loc,
                    kind: *kind,
                    operand: operand.eval(regs) & mask(size),
                    order: *order,
                }
            }
            Action::Cas {
                on,
                expected,
                new,
                success,
                failure,
            } => {
                let (loc, size) = self.locate(tables, regs, on, *success, AccessKind::Update)?;
                Op::Cas {
                    loc,
                    expected: expected.eval(regs) & mask(size),
                    new: new.eval(regs) & mask(size),
                    success: *success,
                    failure: *failure,
                }
            }
            Action::Fence(order) => Op::Fence { order: *order },
            Action::Sync { on, step } => self.sync(tables, regs, *on, step)?,
            Action::Spawn { code, argument } => {
                let argument = argument.eval(regs);
                return self.spawn(tables, frame, *code, argument);
            }
            Action::Join(handle) => Op::Join {
                thread: thread_of(tables, handle.eval(regs))?,
            },
            Action::Detach(handle) => Op::Detach {
                thread: thread_of(tables, handle.eval(regs))?,
            },
            Action::Alloc { size } => self.alloc(tables, frame, *size)?,
            Action::Free(address) => match address.eval(regs) {
                0 => return Ok(Resolved::Skip),
                address => free(tables, address)?,
            },
            Action::Choice(count) => Op::Choice {
                count: *count,
                of: ChoiceOf::Course,
            },
            Action::AtomicBegin => Op::AtomicBegin,
            Action::AtomicEnd => Op::AtomicEnd,
        };
        Ok(Resolved::Op(op, None))
    }

    fn spawn(
        &self,
        tables: &mut Tables,
        frame: &mut Frame,
        code: ThreadDef,
        argument: Value,
    ) -> Result<Resolved, Stop> {
        let flat = &self.compiled.codes[code.index()];
        frame.regs[SPAWNS.index()] += 1;
        let nth = frame.regs[SPAWNS.index()] as u32;
        let child = tables
            .thread(frame.thread, nth, &flat.name)
            .map_err(exhausted)?;
        let mut begin = self.run(
            tables,
            Frame {
                thread: child,
                code,
                at: 0,
                regs: initial_registers(flat, argument),
            },
        );
        begin.entry = Some(Rc::clone(&flat.name));
        let op = Op::Spawn {
            child,
            start: StateId(0),
        };
        Ok(Resolved::Op(op, Some(Box::new(begin))))
    }

    fn alloc(&self, tables: &mut Tables, frame: &mut Frame, size: u64) -> Result<Op, Stop> {
        let code = &self.compiled.codes[frame.code.index()];
        let at = self.position(tables, code, frame.at);
        frame.regs[ALLOCATIONS.index()] += 1;
        let new = NewObject {
            kind: ObjectKind::Heap,
            size,
            align: 16,
            name: "block".into(),
            at,
            source_type: None,
            init: None,
            site: 0,
        };
        let counter = frame.regs[ALLOCATIONS.index()] as u32;
        let object = tables
            .allocated(frame.thread, counter, new)
            .map_err(exhausted)?;
        Ok(Op::Alloc { object })
    }

    fn sync(
        &self,
        tables: &mut Tables,
        regs: &[Value],
        on: SyncVar,
        step: &SyncStep,
    ) -> Result<Op, Stop> {
        let mut cell = |var: SyncVar| {
            tables
                .sync_cell(self.objects[var.0.0 as usize], 0)
                .map_err(exhausted)
        };
        let action = match step {
            SyncStep::Fixed(action) => *action,
            SyncStep::CondRelease(mutex) => SyncAction::CondRelease {
                mutex: cell(*mutex)?,
            },
            SyncStep::BarrierAwait(generation) => SyncAction::BarrierAwait {
                generation: generation.eval(regs) as u32,
            },
        };
        Ok(Op::Sync {
            cell: cell(on)?,
            action,
        })
    }

    /// The location of an access, or the fault that it is. Whether the object is alive is the memory's business.
    fn locate(
        &self,
        tables: &mut Tables,
        regs: &[Value],
        target: &Target,
        order: Order,
        access: AccessKind,
    ) -> Result<(LocId, u8), Stop> {
        let (object, offset, size) = match target {
            Target::Place(place) => (
                self.objects[place.object.0 as usize],
                place.offset.cast_signed(),
                place.size,
            ),
            Target::Indexed {
                object,
                offset,
                size,
            } => (
                self.objects[object.0 as usize],
                offset.eval(regs).cast_signed(),
                *size,
            ),
            Target::Pointer { address, size } => {
                let address = address.eval(regs);
                let (object, offset) =
                    tables
                        .resolve(address)
                        .ok_or(Stop::Fault(if address < 4096 {
                            Fault::NullDereference { access, address }
                        } else {
                            Fault::WildPointer { access, address }
                        }))?;
                (object, offset, *size)
            }
        };
        let bytes = tables.object_info(object).size;
        let inside = u64::try_from(offset).ok().filter(|start| {
            start
                .checked_add(size.into())
                .is_some_and(|end| end <= bytes)
        });
        let Some(start) = inside else {
            return Err(Stop::Fault(Fault::OutOfBounds {
                access,
                object,
                offset,
                size: size.into(),
            }));
        };
        if order.is_atomic() && start % u64::from(size) != 0 {
            return Err(Stop::Fault(Fault::Misaligned {
                access,
                object,
                offset,
                size: size.into(),
            }));
        }
        let loc = tables.loc(object, start, size).map_err(exhausted)?;
        Ok((loc, size))
    }
}

fn thread_of(tables: &Tables, handle: Value) -> Result<ThreadId, Stop> {
    let unknown = Fault::Misuse {
        misuse: Misuse::JoinUnknown,
        object: None,
        thread: None,
    };
    tables.thread_of_handle(handle).ok_or(Stop::Fault(unknown))
}

fn free(tables: &Tables, address: Value) -> Result<Op, Stop> {
    match tables.resolve(address) {
        Some((object, 0)) if tables.object_info(object).kind == ObjectKind::Heap => {
            Ok(Op::Free { object })
        }
        other => Err(Stop::Fault(Fault::InvalidFree {
            address,
            object: other.map(|(object, _)| object),
            offset: other.map_or(0, |(_, offset)| offset),
        })),
    }
}

fn exhausted(exhausted: Exhausted) -> Stop {
    exhausted.into()
}

impl Semantics for Interpreter {
    type Local = Local;

    fn start(&mut self, tables: &mut Tables, _: Kinds) -> Transition<Local> {
        let code = self.compiled.main;
        let regs = initial_registers(&self.compiled.codes[code.index()], 0);
        self.run(
            tables,
            Frame {
                thread: ThreadId::MAIN,
                code,
                at: 0,
                regs,
            },
        )
    }

    fn resume(&mut self, tables: &mut Tables, local: &Local, value: Value) -> Transition<Local> {
        let compiled = self.compiled.clone();
        let code = &compiled.codes[local.code.index()];
        let at = local.at as usize;
        let mut regs = vec![0; code.registers];
        for (reg, value) in code.kept[at].iter().zip(&local.regs) {
            regs[reg.index()] = *value;
        }
        if let Inst::Do {
            dest: Some(dest), ..
        } = &code.insts[at]
        {
            regs[dest.index()] = match local.op {
                Op::Spawn { child, .. } => tables.handle_of_thread(child),
                Op::Alloc { object } => tables.address(object, 0),
                _ => value,
            };
        }
        self.run(
            tables,
            Frame {
                thread: local.thread,
                code: local.code,
                at: at + 1,
                regs,
            },
        )
    }

    fn thread(&self, local: &Local) -> ThreadId {
        local.thread
    }

    fn ignores_result(&self, local: &Local) -> bool {
        let code = &self.compiled.codes[local.code.index()];
        matches!(local.op, Op::Rmw { .. }) && code.ignored[local.at as usize]
    }

    fn bytes(&self, local: &Local) -> usize {
        size_of::<Local>() + size_of_val(&*local.regs)
    }
}
