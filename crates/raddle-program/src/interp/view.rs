//! A module as a symbolic engine sees it: prepared functions, constants, layouts and names, the same as the interpreter's,
//! without running anything.
//!
//! Address numbers agree with those of an interpreter of the same module, because both come from the same rules
//! ([`Tables`]).

use super::code::Code;
use super::layout::Layout;
use super::local::{NativeFrame, ThreadState};
use super::machine::Machine;
use super::world::{Callee, World};
use super::{InterpOptions, LoadError};
use crate::fault::Stop;
use crate::ids::{ObjectId, SrcId, ThreadId};
use crate::models;
use crate::tables::{NewObject, ObjectKind, Tables};
use raddle_ir::{Body, ConstId, DebugLocId, FuncId, GlobalId, Module, TypeId, ValueId};
use std::rc::Rc;

/// What a call of a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// Runs its body.
    Body,
    /// A library function, by the name of its model.
    Library,
    /// `llvm.*`
    Intrinsic,
    /// A Rust panic.
    Panic,
    /// Throws, or goes on with unwinding.
    Unwind,
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
}

/// Some bytes of a value, and where they are in its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValuePiece {
    pub offset: u64,
    pub size: u8,
    pub slot: usize,
    /// Position of the bytes in the slot.
    pub shift: u8,
}

/// How a value lies in registers and in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueLayout {
    /// Bits of each slot.
    pub widths: Vec<u32>,
    pub pieces: Vec<ValuePiece>,
    pub store_size: u64,
}

impl From<&Layout> for ValueLayout {
    fn from(layout: &Layout) -> Self {
        let piece = |piece: &super::layout::Piece| ValuePiece {
            offset: piece.offset,
            size: piece.size,
            slot: piece.slot as usize,
            shift: piece.shift,
        };
        Self {
            widths: layout.masks.iter().map(|mask| mask.count_ones()).collect(),
            pieces: layout.pieces.iter().map(piece).collect(),
            store_size: layout.store_size,
        }
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
        match self.world.callee(id) {
            Callee::Defined => Called::Body,
            Callee::Model(_) => Called::Library,
            Callee::Intrinsic => Called::Intrinsic,
            Callee::Panic => Called::Panic,
            Callee::Unwind => Called::Unwind,
            Callee::Unknown => Called::Unknown,
        }
    }

    /// The function at an address.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<FuncId> {
        self.world.function_at(address)
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

    /// Where a plain access to several fields at once is to be cut: how many bytes the field at the address goes on.
    pub fn field_end(&mut self, address: u64) -> Option<u64> {
        self.machine(ThreadId::MAIN).field_end(address)
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

    /// What a stack variable is made from.
    pub fn stack_variable(
        &mut self,
        function: FuncId,
        alloca: ValueId,
        size: u64,
        at: SrcId,
    ) -> NewObject {
        let (name, source_type) = self.machine(ThreadId::MAIN).variable_name(function, alloca);
        NewObject {
            kind: ObjectKind::Stack,
            size,
            align: 16,
            name,
            at,
            source_type,
            init: None,
        }
    }

    /// Source position of an instruction.
    pub fn source(&mut self, function: FuncId, loc: Option<DebugLocId>) -> SrcId {
        self.world.source(&mut self.tables, function, loc)
    }

    /// Does a library function take precedence over this definition?
    #[must_use]
    pub fn is_overridden(&self, id: FuncId) -> bool {
        let name = &self.world.module.function(id).name;
        models::lookup_function(name).is_some_and(|model| models::get(model).overrides)
    }
}
