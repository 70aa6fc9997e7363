//! A module as a symbolic engine sees it: prepared functions, constants, layouts and names, the same as the interpreter's,
//! without running anything.
//!
//! Address numbers agree with those of an interpreter of the same module, because both come from the same rules
//! ([`Tables`]).

use super::code::Code;
use super::float;
use super::layout::{Layout, Piece};
use super::local::{NativeFrame, ThreadState};
use super::machine::{Machine, Values};
use super::world::{Callee, World, is_panic};
use super::{InterpOptions, LoadError, PanicPolicy};
use crate::coverage::CodeCoverage;
use crate::fault::{Stop, Unsupported};
use crate::ids::{ObjectId, SrcId, ThreadId};
use crate::models::{self, Outcome, Pause, Request, Script};
use crate::op::Order;
use crate::tables::{NewObject, ObjectKind, Tables};
use raddle_ir::inst::{BinaryOp, CastOp, FloatPredicate};
use raddle_ir::{Body, ConstId, DebugLocId, FloatKind, FuncId, GlobalId, Module, TypeId, ValueId};
use std::rc::Rc;

/// What a call of a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// Runs its body.
    Body,
    /// A function that waits on a condition variable of Rust's library.
    RustWait,
    /// A library function, by the name of its model.
    Library,
    /// `llvm.*`
    Intrinsic,
    /// A Rust panic.
    Panic,
    Unknown,
}

/// A defined function, prepared. Cheap to clone.
#[derive(Clone)]
pub struct FunctionView(Rc<Code>);

impl FunctionView {
    #[must_use]
    pub fn id(&self) -> FuncId {
        self.0.function
    }

    #[must_use]
    pub fn body(&self) -> &Body {
        &self.0.body
    }

    /// The registers of a value: 64-bit slots, as [`ValueLayout`] says.
    #[must_use]
    pub fn slots(&self, value: ValueId) -> std::ops::Range<usize> {
        self.0.slots[value.index()].range()
    }

    #[must_use]
    pub fn slot_count(&self) -> usize {
        self.0.slot_count as usize
    }

    /// Is the stack variable made by this `alloca` one that other threads may see?
    #[must_use]
    pub fn is_shared(&self, alloca: ValueId) -> bool {
        self.0.shared_allocas.contains(&alloca)
    }

    /// Is the loop with this header not known to end? Asked only of views with [`InterpOptions::unroll`].
    #[must_use]
    pub fn is_unbounded(&self, header: raddle_ir::BlockId) -> bool {
        self.0.unbounded.headers.contains(&header)
    }

    /// Is the loop with this header, which is not known to end, part of a library? A bound that users ask for is not meant for it.
    #[must_use]
    pub fn is_library_loop(&self, header: raddle_ir::BlockId) -> bool {
        self.0.unbounded.is_library(header)
    }

    /// Tells [`View::coverage`] that an execution comes to an instruction (or the terminator) of a block.
    pub fn note_run(&self, block: raddle_ir::BlockId, index: usize) {
        self.0.note_run(block.0, index as u32);
    }
}

/// Some bytes of a value, and where they are in its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValuePiece {
    pub offset: u64,
    pub size: u8,
    pub slot: usize,
    /// Position of the bytes in the slot.
    pub shift: u8,
    /// Is it a pointer of four bytes? Its slot holds an address of 64 bits.
    pub narrow: bool,
}

/// How a value lies in registers and in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueLayout {
    /// Bits of each slot.
    pub widths: Vec<u32>,
    pub pieces: Vec<ValuePiece>,
    pub store_size: u64,
}

impl From<&Piece> for ValuePiece {
    fn from(piece: &Piece) -> Self {
        Self {
            offset: piece.offset,
            size: piece.size,
            slot: piece.slot as usize,
            shift: piece.shift,
            narrow: piece.narrow,
        }
    }
}

impl From<&Layout> for ValueLayout {
    fn from(layout: &Layout) -> Self {
        Self {
            widths: layout.masks.iter().map(|mask| mask.count_ones()).collect(),
            pieces: layout.pieces.iter().map(ValuePiece::from).collect(),
            store_size: layout.store_size,
        }
    }
}

/// A call of a library function that a symbolic engine runs: it knows the arguments, and answers each request with a number.
///
/// The function is the same that the interpreter runs, so what it does is the same. Cheap to clone while it has come to
/// little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall(NativeFrame);

/// What a library function comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelStep {
    /// It waits for [`ModelCall::answer`].
    Asks(Request),
    Ends(Outcome),
}

impl ModelCall {
    /// A model that only the interpreter knows by its name.
    #[must_use]
    pub fn named(name: &'static str, args: &[u64]) -> Self {
        Self(NativeFrame {
            model: models::lookup(name).unwrap_or_default(),
            args: args.into(),
            fixed: args.len() as u32,
            ..NativeFrame::default()
        })
    }

    /// Are the blocks that it allocates full of zeros?
    #[must_use]
    pub fn zeroes(&self) -> bool {
        models::get(self.0.model).zeroes
    }

    pub fn answer(&mut self, value: u64) {
        self.0.log.push(value);
    }

    /// Which function it is a call of, as numbers: the same whatever its arguments are.
    pub fn function(&self) -> [u32; 2] {
        let function = self.0.function.map_or(u32::MAX, |id| id.0);
        [u32::from(self.0.model.0), function]
    }

    /// All that tells this call from another of the same function, as numbers.
    pub fn progress(&self) -> impl Iterator<Item = u64> + '_ {
        let frame = &self.0;
        let lengths = [frame.args.len(), frame.vars.len(), frame.log.len()];
        let lengths = lengths.map(|length| length as u64);
        let function = frame.function.map_or(u64::MAX, |id| u64::from(id.0));
        let head = [u64::from(frame.model.0), function, u64::from(frame.fixed)];
        let numbers = frame.args.iter().chain(&frame.vars).chain(&frame.log);
        head.into_iter().chain(lengths).chain(numbers.copied())
    }
}

/// A module that is looked at.
pub struct View {
    world: World,
    tables: Tables,
}

impl View {
    pub fn new(module: Module, options: InterpOptions) -> Result<Self, LoadError> {
        let (interpreter, tables) = super::Interpreter::new(module, options)?;
        Ok(Self {
            world: interpreter.world,
            tables,
        })
    }

    #[must_use]
    pub fn module(&self) -> &Module {
        &self.world.module
    }

    #[must_use]
    pub fn main(&self) -> FuncId {
        self.world.main
    }

    #[must_use]
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    pub fn tables_mut(&mut self) -> &mut Tables {
        &mut self.tables
    }

    /// What of the user's code [`FunctionView::note_run`] was told of. Positions are those of the view's tables.
    pub fn coverage(&mut self) -> Option<CodeCoverage> {
        super::coverage::coverage(&mut self.world, &mut self.tables)
    }

    /// The tables alone, when there is nothing more to look at.
    #[must_use]
    pub fn into_tables(self) -> Tables {
        self.tables
    }

    fn machine(&mut self, thread: ThreadId) -> Machine<'_> {
        Machine::start(
            &mut self.world,
            &mut self.tables,
            ThreadState::new(thread),
            NativeFrame::default(),
        )
    }

    pub fn function(&mut self, id: FuncId) -> Result<FunctionView, Stop> {
        self.world.code(id).map(FunctionView)
    }

    pub fn called(&mut self, id: FuncId) -> Called {
        // How a panic goes on is not for engines that do not run threads.
        if is_panic(&self.world.module.function(id).name) {
            return Called::Panic;
        }
        match self.world.callee(id) {
            Callee::Defined => Called::Body,
            Callee::RustWait => Called::RustWait,
            Callee::Model(_) => Called::Library,
            Callee::Intrinsic => Called::Intrinsic,
            Callee::Panic => Called::Panic,
            Callee::Unknown => Called::Unknown,
        }
    }

    /// Does a panic unwind the stack, so that somebody may catch it?
    #[must_use]
    pub fn panics_unwind(&self) -> bool {
        self.world.panics.unwinds() && self.world.options.panic != PanicPolicy::Any
    }

    /// A call of a library function with its argument slots, of which `fixed` belong to parameters.
    pub fn model_call(&mut self, id: FuncId, args: &[u64], fixed: usize) -> Option<ModelCall> {
        let Callee::Model(model) = self.world.callee(id) else {
            return None;
        };
        Some(ModelCall(NativeFrame {
            model,
            function: Some(id),
            args: args.into(),
            fixed: fixed as u32,
            ..NativeFrame::default()
        }))
    }

    /// The name of the function that is called.
    #[must_use]
    pub fn model_name(&self, call: &ModelCall) -> Box<str> {
        match call.0.function {
            Some(function) => self.world.module.function(function).name.clone(),
            None => models::get(call.0.model).name.into(),
        }
    }

    /// Runs a library function up to the next thing that it asks for.
    pub fn run_model(&mut self, thread: ThreadId, call: &mut ModelCall) -> Result<ModelStep, Stop> {
        let mut machine = self.machine(thread);
        let model = models::get(call.0.model);
        let result = (model.run)(&mut Script::asking(&mut machine, &mut call.0));
        match result {
            Ok(outcome) => Ok(ModelStep::Ends(outcome)),
            Err(Pause::Ask(request)) => Ok(ModelStep::Asks(request)),
            Err(Pause::Stop(stop)) => Err(stop),
            Err(Pause::Op(_) | Pause::Call { .. } | Pause::Spawn { .. }) => {
                Err(Stop::Unsupported(Unsupported::Library {
                    function: self.model_name(call),
                    why: "its meaning is not encoded (not supported by bmc)".into(),
                }))
            }
        }
    }

    /// What `llvm.*` returns for numbers, by argument and slot; none if it depends on more than its arguments.
    pub fn intrinsic(
        &mut self,
        name: &str,
        args: &[Vec<u64>],
        types: &[TypeId],
        result: Option<TypeId>,
    ) -> Result<Option<Vec<u64>>, Stop> {
        let args: Vec<Values> = args.iter().map(|slots| Values::from_slice(slots)).collect();
        let mut machine = self.machine(ThreadId::MAIN);
        let values = machine.pure_intrinsic(name, &args, types, result)?;
        Ok(values.map(|values| values.to_vec()))
    }

    /// A cast of numbers, by slots.
    pub fn cast(
        &mut self,
        op: CastOp,
        from: TypeId,
        to: TypeId,
        values: &[u64],
    ) -> Result<Vec<u64>, Stop> {
        let machine = self.machine(ThreadId::MAIN);
        Ok(machine.cast(op, from, to, values)?.to_vec())
    }

    /// `argc` and the address of `argv`.
    pub fn program_arguments(&mut self) -> Result<(u64, u64), Stop> {
        self.machine(ThreadId::MAIN).program_arguments()
    }

    /// The function at an address.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<FuncId> {
        self.world.function_at(address)
    }

    /// How many results of an instruction its users can tell apart, if they look at no more than a rest, or at low bits.
    pub fn values_looked_at(&mut self, function: FuncId, block: u32, index: u32) -> Option<u32> {
        let code = self.world.code(function).ok()?;
        code.values_looked_at(&self.world.module, block, index)
    }

    #[must_use]
    pub fn function_name(&self, id: FuncId) -> Rc<str> {
        self.world.function_display_name(id)
    }

    /// The slots of a constant, as a thread sees them: the addresses of thread-local variables differ.
    pub fn constant(&mut self, id: ConstId, thread: ThreadId) -> Result<Rc<[u64]>, Stop> {
        self.machine(thread).constant(id)
    }

    pub fn layout(&mut self, ty: TypeId) -> Result<ValueLayout, Stop> {
        self.world.layout(ty).map(|layout| (&*layout).into())
    }

    /// The contents that a global or thread-local variable starts with, where they are not all zero.
    pub fn contents(&mut self, object: ObjectId) -> Result<Option<Rc<[u8]>>, Stop> {
        if let Some(&global) = self.world.constant_objects.get(&object) {
            return self.global_contents(global).map(Some);
        }
        if let Some(&global) = self.world.untouched.get(&object) {
            return self.global_contents(global).map(Some);
        }
        Ok(self.tables.object_info(object).init.clone())
    }

    fn global_contents(&mut self, global: GlobalId) -> Result<Rc<[u8]>, Stop> {
        self.machine(ThreadId::MAIN).initial_bytes(global)
    }

    /// The variable at a private position that stands for a thread-local variable: its first contents.
    pub fn private_thread_local(&mut self, position: usize) -> Result<Option<Rc<[u8]>>, Stop> {
        match self.world.thread_local_at(position) {
            Some(global) => self.global_contents(global).map(Some),
            None => Ok(None),
        }
    }

    /// The offset of an indexed address from its base.
    pub fn offset(&mut self, source: TypeId, indices: &[i64]) -> Result<u64, Stop> {
        self.machine(ThreadId::MAIN).gep_offset(source, indices)
    }

    /// The pieces that a plain access to an address consists of.
    pub fn plain_pieces(&mut self, ty: TypeId, address: u64) -> Result<Vec<ValuePiece>, Stop> {
        let layout = self.world.layout(ty)?;
        let pieces = self
            .machine(ThreadId::MAIN)
            .pieces(&layout, address, Order::Plain);
        Ok(pieces.iter().map(ValuePiece::from).collect())
    }

    /// How many bytes the field at an address goes on, where copies are cut; not for private variables.
    pub fn field_end(&mut self, address: u64) -> Option<u64> {
        self.machine(ThreadId::MAIN).field_end(address)
    }

    /// The same for a variable of a known type.
    pub fn field_end_in(&self, ty: TypeId, offset: u64) -> Option<u64> {
        self.world.field_end(ty, offset)
    }

    /// A stack variable that other threads may see, or a heap block: the `counter`-th of its thread.
    pub fn allocated(
        &mut self,
        thread: ThreadId,
        counter: u32,
        new: NewObject,
        ty: Option<TypeId>,
    ) -> Result<ObjectId, Stop> {
        let object = self.tables.allocated(thread, counter, new)?;
        if let Some(ty) = ty {
            self.world.object_types.insert(object, ty);
        }
        Ok(object)
    }

    /// Are reads of memory looked for that nobody has written?
    #[must_use]
    pub fn checks_uninit(&self) -> bool {
        self.world.options.check_uninit
    }

    /// The slots of a constant that are `undef` or `poison`.
    #[must_use]
    pub fn undefined_slots(&self, id: raddle_ir::ConstId) -> Vec<usize> {
        let undefined = super::undefined::slots_of(&self.world.module, id);
        undefined.slots().collect()
    }

    /// Is a slot of a constant `undef` or `poison`?
    #[must_use]
    pub fn is_undefined(&self, id: raddle_ir::ConstId) -> bool {
        super::undefined::slots_of(&self.world.module, id).any()
    }

    /// Does what an instruction reads from memory decide about anything?
    #[must_use]
    pub fn needs_contents(
        &self,
        code: &FunctionView,
        block: raddle_ir::BlockId,
        index: usize,
    ) -> bool {
        let at = (block.0, index as u32);
        code.0.needs_contents(&self.world.module, at)
    }

    /// What a stack variable is made from.
    pub fn stack_variable(
        &mut self,
        function: FuncId,
        alloca: ValueId,
        size: u64,
        at: SrcId,
    ) -> NewObject {
        let machine = self.machine(ThreadId::MAIN);
        let (name, source_type) = machine.variable_name(function, alloca);
        let site = machine.world.stack_site(function, alloca);
        NewObject {
            kind: ObjectKind::Stack,
            size,
            align: 16,
            name,
            at,
            source_type,
            init: None,
            site,
        }
    }

    /// Source position of an instruction.
    pub fn source(&mut self, function: FuncId, loc: Option<DebugLocId>) -> SrcId {
        self.world.source(&mut self.tables, function, loc)
    }

    /// Is an atomic operation the user's, and not one that a library does on its own account? The innermost point comes first.
    pub fn atomics_are_users<'a>(
        &self,
        points: impl Iterator<Item = (&'a FunctionView, raddle_ir::BlockId, usize)>,
    ) -> bool {
        let points = points.map(|(code, block, index)| (&*code.0, block.0, index as u32));
        self.world.atomics_are_users(points)
    }

    /// Does a library function take precedence over this definition?
    #[must_use]
    pub fn is_overridden(&self, id: FuncId) -> bool {
        models::overriding(&self.world.module, id, self.world.bodies.replaced).is_some()
    }
}

/// A floating-point operator, on bits.
pub fn float_binary(op: BinaryOp, kind: FloatKind, a: u64, b: u64) -> Result<u64, Stop> {
    float::binary(op, kind, a, b)
}

/// A comparison of floating-point numbers, given by their bits.
pub fn float_compare(
    predicate: FloatPredicate,
    kind: FloatKind,
    a: u64,
    b: u64,
) -> Result<bool, Stop> {
    let (a, b) = (float::decode(kind, a)?, float::decode(kind, b)?);
    Ok(float::compare(predicate, a, b))
}

pub use super::assembly::{Assembly, Locked, Source, has_pointers_in_registers};

/// What inline assembly does, if that is known.
#[must_use]
pub fn assembly(text: &str, constraints: &str, has_result: bool) -> Option<Assembly> {
    super::assembly::assembly(text, constraints, has_result)
}

/// Has a call of this `llvm.*` function no effect at all?
#[must_use]
pub fn is_ignored_intrinsic(name: &str) -> bool {
    super::intrinsics::is_ignored(super::intrinsics::family(name))
}
