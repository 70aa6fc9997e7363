//! Where an address leads: private memory, constant data, or a shared location.

use super::layout;
use super::machine::Machine;
use super::world::{World, is_panic_count};
use crate::fault::{AccessKind, Fault, Limit, Stop, Unsupported};
use crate::first_bytes::{Given, Made, Seen};
use crate::ids::{LocId, ObjectId, SrcId};
use crate::models::{self, Access};
use crate::names;
use crate::op::{Op, Order, RmwKind, Value, mask};
use crate::tables::{NewObject, OFFSET_BIAS, ObjectKind, PRIVATE_THREAD};
use raddle_ir::{FuncId, GlobalId, TypeId, ValueId};
use std::rc::Rc;

/// Where bytes are. The bytes that were asked for lie inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the thread's own stack of private blocks.
    Private {
        block: usize,
        offset: usize,
    },
    /// In a constant global.
    Constant {
        global: GlobalId,
        offset: usize,
    },
    Shared {
        object: ObjectId,
        offset: u64,
    },
}

/// Position bits of a private address number.
const POSITION_BITS: u32 = 20;
/// Private blocks from this position on are the thread's copies of private thread-local variables.
pub(crate) const THREAD_LOCALS: usize = 0xF_0000;
/// Objects that models ask for by name come before the thread-local variables of the program, and after its globals.
const NAMED_OBJECTS: [&str; 25] = [
    "errno",
    "standard input",
    "standard output",
    "standard error",
    "arguments",
    "argv",
    "functions run at exit",
    "functions run at quick_exit",
    "thread-specific keys",
    "the position of strtok",
    "text of an error",
    "classes of characters",
    "pointer to classes",
    "upper case",
    "pointer to upper case",
    "lower case",
    "pointer to lower case",
    "terminate handler",
    "panics that nobody has looked at",
    "the last panic in a scope",
    "OpenMP thread number",
    "environment",
    "strings of the environment",
    "tables of string streams",
    "version of the C library",
];
/// What Rust's count of all panics always is: not zero, and not the flag in its highest bit.
pub(crate) const PANIC_COUNT: u64 = 1;
/// `malloc` of more fails.
pub const MAX_BLOCK: u64 = 1 << 30;

/// The address of a private block.
pub(crate) fn private_address(position: usize) -> u64 {
    let number = PRIVATE_THREAD << POSITION_BITS | position as u32;
    u64::from(number) << 32 | OFFSET_BIAS
}

/// The position that a private address stands for.
fn private_position(address: u64) -> Option<usize> {
    let number = (address >> 32) as u32;
    (number >> POSITION_BITS == PRIVATE_THREAD)
        .then_some((number & ((1 << POSITION_BITS) - 1)) as usize)
}

/// Where a private address leads, in or out of bounds.
pub(crate) fn private_place(address: u64) -> Option<Place> {
    let block = private_position(address)?;
    let offset = offset_of(address) as usize;
    Some(Place::Private { block, offset })
}

fn offset_of(address: u64) -> i64 {
    (address & 0xFFFF_FFFF) as i64 - OFFSET_BIAS as i64
}

/// The number of an object that only models know.
fn named_index(name: &str) -> u32 {
    let index = NAMED_OBJECTS.iter().position(|&named| named == name);
    index.expect("models ask for listed objects only") as u32
}

fn in_bounds(offset: i64, size: u64, object_size: u64) -> bool {
    u64::try_from(offset)
        .ok()
        .and_then(|offset| offset.checked_add(size))
        .is_some_and(|end| end <= object_size)
}

impl Machine<'_> {
    /// Finds the place of `size` bytes at an address, or the fault of an access to them.
    pub(crate) fn place(
        &mut self,
        address: u64,
        size: u64,
        access: AccessKind,
    ) -> Result<Place, Stop> {
        let address = match address >> 32 {
            0 => self.pointer_of(address),
            _ => address,
        };
        if address >> 32 == 0 {
            return Err(Stop::Fault(if address < self.first_wild() {
                Fault::NullDereference { access, address }
            } else {
                Fault::WildPointer { access, address }
            }));
        }
        let offset = offset_of(address);
        if let Some(block) = private_position(address) {
            let Some(bytes) = self.private_bytes(block)? else {
                return Err(Stop::Fault(Fault::WildPointer { access, address }));
            };
            if !in_bounds(offset, size, bytes.len() as u64) {
                return Err(self.private_fault(block, address, size, access));
            }
            return Ok(Place::Private {
                block,
                offset: offset as usize,
            });
        }
        let Some((object, offset)) = self.tables.resolve(address) else {
            return Err(Stop::Fault(Fault::WildPointer { access, address }));
        };
        let info = self.tables.object_info(object);
        if !in_bounds(offset, size, info.size) {
            return Err(Stop::Fault(Fault::OutOfBounds {
                access,
                object,
                offset,
                size,
            }));
        }
        if info.kind == ObjectKind::Constant {
            if access != AccessKind::Read {
                return Err(Stop::Fault(Fault::WriteToConstant { object, offset }));
            }
            if let Some(&global) = self.world.constant_objects.get(&object) {
                return Ok(Place::Constant {
                    global,
                    offset: offset as usize,
                });
            }
        }
        self.touch(object)?;
        Ok(Place::Shared {
            object,
            offset: offset as u64,
        })
    }

    /// A fault in private memory names an object that exists for the report only.
    fn private_fault(&mut self, block: usize, address: u64, size: u64, access: AccessKind) -> Stop {
        let bytes = self.private_bytes(block).ok().flatten();
        let bytes = bytes.map_or(0, |bytes| bytes.len() as u64);
        let (name, source_type) = self.private_name(block);
        let new = NewObject {
            kind: ObjectKind::ThreadLocal,
            size: bytes,
            align: 16,
            name,
            at: SrcId::NOWHERE,
            source_type,
            init: None,
            site: 0,
        };
        Stop::Fault(Fault::OutOfBounds {
            access,
            object: self.tables.mentioned(self.state.id, new),
            offset: offset_of(address),
            size,
        })
    }

    fn private_name(&self, block: usize) -> (Rc<str>, Option<raddle_ir::debug::SourceTypeId>) {
        if let Some(global) = self.world.thread_local_at(block) {
            let global = self.world.module.global(global);
            let name = global.source_name.as_deref().unwrap_or(&global.name);
            return (name.into(), global.source_type);
        }
        let origin = self.state.private.get(block).and_then(|block| block.origin);
        match origin {
            Some((function, value)) => self.variable_name(function, value),
            None => ("variadic arguments".into(), None),
        }
    }

    /// The contents of a private block.
    pub(crate) fn private_bytes(&mut self, block: usize) -> Result<Option<Rc<[u8]>>, Stop> {
        if let Some(block) = self.state.private.get(block) {
            return Ok(Some(Rc::clone(&block.bytes)));
        }
        let Some(global) = self.world.thread_local_at(block) else {
            return Ok(None);
        };
        // A thread's copy exists once it has been written to.
        match self.state.thread_locals.get(&global.0) {
            Some(bytes) => Ok(Some(Rc::clone(bytes))),
            None => self.initial_bytes(global).map(Some),
        }
    }

    /// The contents of a private block, to be changed.
    fn private_bytes_mut(&mut self, block: usize) -> Result<&mut [u8], Stop> {
        if block < self.state.private.len() {
            return Ok(Rc::make_mut(&mut self.state.private[block].bytes));
        }
        let Some(global) = self.world.thread_local_at(block) else {
            return Ok(&mut []);
        };
        let initial = self.initial_bytes(global)?;
        let bytes = self.state.thread_locals.entry(global.0).or_insert(initial);
        Ok(Rc::make_mut(bytes))
    }

    /// The source name and type of the variable behind an `alloca`.
    pub(crate) fn variable_name(
        &self,
        function: FuncId,
        value: ValueId,
    ) -> (Rc<str>, Option<raddle_ir::debug::SourceTypeId>) {
        let Some(code) = self.world.cached_code(function) else {
            return ("stack variable".into(), None);
        };
        let variable = code.body.variables.iter().find(|(held, _)| *held == value);
        if let Some((_, variable)) = variable {
            return (variable.name.as_ref().into(), variable.ty);
        }
        let name = code.body.value_names.get(value.index());
        match name.and_then(Option::as_deref) {
            Some(name) => (name.into(), None),
            None => ("stack variable".into(), None),
        }
    }

    /// Gives a global its contents before its first use.
    fn touch(&mut self, object: ObjectId) -> Result<(), Stop> {
        let Some(global) = self.world.untouched.remove(&object) else {
            return Ok(());
        };
        let init = self.initial_bytes(global)?;
        if init.iter().any(|&byte| byte != 0) {
            self.tables.set_init(object, init);
        }
        Ok(())
    }

    // ---- pieces

    fn location(
        &mut self,
        (object, offset): (ObjectId, u64),
        size: u8,
        access: AccessKind,
        order: Order,
    ) -> Result<LocId, Stop> {
        if order.is_atomic() && !offset.is_multiple_of(u64::from(size)) {
            return Err(Stop::Fault(Fault::Misaligned {
                access,
                object,
                offset: offset as i64,
                size: u64::from(size),
            }));
        }
        Ok(self.tables.loc(object, offset, size)?)
    }

    /// Reads 1, 2, 4 or 8 bytes.
    pub(crate) fn load_piece(
        &mut self,
        address: u64,
        size: u8,
        order: Order,
    ) -> Result<Access, Stop> {
        let place = self.place(address, u64::from(size), AccessKind::Read)?;
        if let Place::Shared { object, offset } = place {
            let loc = self.location((object, offset), size, AccessKind::Read, order)?;
            return Ok(Access::Visible(Op::Load { loc, order }));
        }
        self.must_be_known(place, u64::from(size))?;
        Ok(Access::Done(self.read_here(place, size)?))
    }

    /// Reads from private or constant memory. `place` has room for `size` bytes.
    pub(crate) fn read_here(&mut self, place: Place, size: u8) -> Result<Value, Stop> {
        let (bytes, offset) = match place {
            Place::Private { block, offset } => match self.private_bytes(block)? {
                Some(bytes) => (bytes, offset),
                None => return Ok(0),
            },
            Place::Constant { global, offset } => (self.initial_bytes(global)?, offset),
            Place::Shared { .. } => return Ok(0),
        };
        Ok(read_bytes(&bytes, offset, size))
    }

    /// Writes a number to private memory.
    pub(crate) fn write_here(
        &mut self,
        block: usize,
        offset: usize,
        size: u8,
        value: Value,
    ) -> Result<(), Stop> {
        self.write_bytes(block, offset, &value.to_le_bytes()[..usize::from(size)])
    }

    /// Writes bytes over a private block, which must have room for them.
    pub(crate) fn write_bytes(
        &mut self,
        block: usize,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), Stop> {
        let memory = self.private_bytes_mut(block)?;
        if let Some(place) = memory.get_mut(offset..offset + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        if let Some(block) = self.state.private.get_mut(block) {
            block.unwritten.write(offset..offset + bytes.len());
        }
        Ok(())
    }

    /// Lets bytes of a private block be as if nobody had written them.
    pub(crate) fn forget(&mut self, block: usize, bytes: std::ops::Range<usize>) {
        if let Some(block) = self.state.private.get_mut(block) {
            let size = block.bytes.len();
            block.unwritten.forget(bytes, size);
        }
    }

    /// After a copy between private blocks: what nobody has written at the source, nobody has written at the target.
    pub(crate) fn forget_copies(&mut self, to: Place, from: Place, len: usize) {
        let (
            Place::Private { block, offset },
            Place::Private {
                block: source,
                offset: first,
            },
        ) = (to, from)
        else {
            return;
        };
        let Some(unwritten) = self.state.private.get(source).map(|from| &from.unwritten) else {
            return;
        };
        if !unwritten.any() {
            return;
        }
        let bytes: Vec<usize> = (0..len)
            .filter(|byte| unwritten.contains(first + byte))
            .collect();
        for byte in bytes {
            self.forget(block, offset + byte..offset + byte + 1);
        }
    }

    /// Where every byte counts, what is read for anything but a copy must be written.
    fn must_be_known(&self, place: Place, size: u64) -> Result<(), Stop> {
        if self.world.options.check_every_byte
            && let Place::Private { block, offset } = place
            && let Some(block) = self.state.private.get(block)
            && block.unwritten.touches(offset..offset + size as usize)
        {
            return Err(super::undefined::fault());
        }
        Ok(())
    }

    /// An update of private memory depends on what it finds.
    fn must_be_written(&self, place: Place, size: u8) -> Result<(), Stop> {
        self.must_be_known(place, u64::from(size))?;
        if let Place::Private { block, offset } = place
            && let Some(block) = self.state.private.get(block)
            && block.unwritten.covers(offset..offset + usize::from(size))
        {
            return Err(super::undefined::fault());
        }
        Ok(())
    }

    /// Reads private or constant bytes as they are; none if they are shared.
    pub(crate) fn bytes_here(&mut self, address: u64, size: u64) -> Result<Option<Vec<u8>>, Stop> {
        let place = self.place(address, size, AccessKind::Read)?;
        self.must_be_known(place, size)?;
        self.copied_bytes(address, size)
    }

    /// The same for a copy.
    pub(crate) fn copied_bytes(
        &mut self,
        address: u64,
        size: u64,
    ) -> Result<Option<Vec<u8>>, Stop> {
        let (bytes, offset) = match self.place(address, size, AccessKind::Read)? {
            Place::Private { block, offset } => (self.private_bytes(block)?, offset),
            Place::Constant { global, offset } => (Some(self.initial_bytes(global)?), offset),
            Place::Shared { .. } => return Ok(None),
        };
        Ok(bytes.and_then(|bytes| Some(bytes.get(offset..offset + size as usize)?.to_vec())))
    }

    pub(crate) fn store_piece(
        &mut self,
        address: u64,
        size: u8,
        value: Value,
        order: Order,
    ) -> Result<Access, Stop> {
        match self.place(address, u64::from(size), AccessKind::Write)? {
            Place::Private { block, offset } => {
                self.write_here(block, offset, size, value)?;
                Ok(Access::Done(0))
            }
            Place::Shared { object, offset } => {
                let loc = self.location((object, offset), size, AccessKind::Write, order)?;
                let value = value & mask(size);
                Ok(Access::Visible(Op::Store { loc, value, order }))
            }
            Place::Constant { .. } => Ok(Access::Done(0)),
        }
    }

    pub(crate) fn rmw_piece(
        &mut self,
        address: u64,
        size: u8,
        kind: RmwKind,
        operand: Value,
        order: Order,
    ) -> Result<Access, Stop> {
        let place = match self.place(address, u64::from(size), AccessKind::Update) {
            Err(Stop::Fault(Fault::WriteToConstant { object, .. }))
                if is_panic_count(&self.tables.object_info(object).name) =>
            {
                return Ok(Access::Done(PANIC_COUNT));
            }
            place => place?,
        };
        match place {
            Place::Shared { object, offset } => {
                let loc = self.location((object, offset), size, AccessKind::Update, order)?;
                Ok(Access::Visible(Op::Rmw {
                    loc,
                    kind,
                    operand: operand & mask(size),
                    order,
                }))
            }
            Place::Private { block, offset } => {
                if kind != RmwKind::Exchange {
                    self.must_be_written(place, size)?;
                }
                let old = self.read_here(place, size)?;
                let new = kind.apply(old, operand & mask(size), size);
                self.write_here(block, offset, size, new)?;
                Ok(Access::Done(old))
            }
            Place::Constant { .. } => Ok(Access::Done(0)),
        }
    }

    pub(crate) fn cas_piece(
        &mut self,
        address: u64,
        size: u8,
        (expected, new): (Value, Value),
        (success, failure): (Order, Order),
    ) -> Result<Access, Stop> {
        let place = self.place(address, u64::from(size), AccessKind::Update)?;
        match place {
            Place::Shared { object, offset } => {
                let loc = self.location((object, offset), size, AccessKind::Update, success)?;
                Ok(Access::Visible(Op::Cas {
                    loc,
                    expected: expected & mask(size),
                    new: new & mask(size),
                    success,
                    failure,
                }))
            }
            Place::Private { block, offset } => {
                self.must_be_written(place, size)?;
                let old = self.read_here(place, size)?;
                if old == expected & mask(size) {
                    self.write_here(block, offset, size, new)?;
                }
                Ok(Access::Done(old))
            }
            Place::Constant { .. } => Ok(Access::Done(0)),
        }
    }

    /// The synchronisation cell at an address.
    pub(crate) fn sync_cell(&mut self, address: u64) -> Result<LocId, Stop> {
        match self.place(address, 1, AccessKind::Update)? {
            Place::Shared { object, offset } => Ok(self.tables.sync_cell(object, offset)?),
            Place::Private { .. } | Place::Constant { .. } => {
                Err(Stop::Unsupported(Unsupported::Instruction {
                    what: "a synchronisation object in private or constant memory".into(),
                }))
            }
        }
    }

    // ---- objects

    /// Makes the thread's next heap block; the caller must let it come to life. 0 if it is too large.
    pub(crate) fn new_heap_block(
        &mut self,
        size: u64,
        align: u64,
        is_zeroed: bool,
    ) -> Result<u64, Stop> {
        if size > MAX_BLOCK {
            return Ok(0);
        }
        let at = self.position();
        self.state.allocations += 1;
        let counter = self.state.allocations;
        let name = "heap block".into();
        let init = match is_zeroed {
            true => None,
            false => self.given_bytes(size, &name, at),
        };
        let new = NewObject {
            kind: ObjectKind::Heap,
            size,
            align,
            name,
            at,
            source_type: None,
            init: init.clone(),
            site: 0,
        };
        let object = self.tables.allocated(self.state.id, counter, new)?;
        // In another execution `calloc` may make it, and what it holds is part of no name.
        if self.tables.object_info(object).init != init {
            let what = "objects";
            return Err(Stop::Limit(Limit::NameClash { what }));
        }
        Ok(self.tables.address(object, 0))
    }

    // ---- what nobody has written

    /// The first bytes of the heap block or shared stack variable that the thread has made last, if they are not zeros.
    pub(crate) fn given_bytes(&mut self, size: u64, name: &Rc<str>, at: SrcId) -> Option<Rc<[u8]>> {
        if self.world.options.first_bytes.is_empty() {
            return None;
        }
        let made = self.made(Seen::ByOthers, self.state.allocations);
        self.world.options.first_bytes.of(&made)?;
        let mut bytes = vec![0; size as usize];
        self.give(made, &mut bytes, (name, at));
        Some(bytes.into())
    }

    /// Gives a private stack variable its first bytes.
    pub(crate) fn give_variable(&mut self, bytes: &mut [u8], function: FuncId, value: ValueId) {
        let thread = &self.tables.thread_info(self.state.id).name;
        if self.state.variables >= self.world.options.first_bytes.counted(thread) {
            return;
        }
        self.state.variables += 1;
        let (name, _) = self.variable_name(function, value);
        let at = self.position();
        let made = self.made(Seen::Privately, self.state.variables);
        self.give(made, bytes, (&name, at));
    }

    fn made(&self, seen: Seen, counter: u32) -> Made {
        Made {
            thread: self.tables.thread_info(self.state.id).name.clone(),
            seen,
            counter,
        }
    }

    fn give(&mut self, made: Made, memory: &mut [u8], (name, at): (&Rc<str>, SrcId)) {
        let Some(bytes) = self.world.options.first_bytes.of(&made) else {
            return;
        };
        let bytes = bytes.iter().map(|(&offset, &byte)| (offset, byte));
        let bytes: Vec<(u64, u8)> = bytes
            .filter(|&(offset, _)| offset < memory.len() as u64)
            .collect();
        for &(offset, byte) in &bytes {
            memory[offset as usize] = byte;
        }
        let name = Rc::clone(name);
        self.tables.note_given(made, Given { name, at, bytes });
    }

    /// The heap block that starts at an address.
    pub(crate) fn heap_block_at(&mut self, address: u64) -> Result<ObjectId, Stop> {
        match self.tables.resolve(address) {
            Some((object, 0)) if self.tables.object_info(object).kind == ObjectKind::Heap => {
                Ok(object)
            }
            other => Err(Stop::Fault(Fault::InvalidFree {
                address,
                object: other.map(|(object, _)| object),
                offset: other.map_or_else(|| offset_of(address), |(_, offset)| offset),
            })),
        }
    }

    /// The thread's copy of a thread-local object that only models know.
    pub(crate) fn thread_object(&mut self, name: &'static str, size: u64) -> Result<u64, Stop> {
        let index = named_index(name);
        let new = NewObject {
            kind: ObjectKind::ThreadLocal,
            size,
            align: 16,
            name: name.into(),
            at: SrcId::NOWHERE,
            source_type: None,
            init: None,
            site: 0,
        };
        let object = self.tables.thread_local(self.state.id, index, new)?;
        Ok(self.tables.address(object, 0))
    }

    /// A global object that only models know.
    pub(crate) fn named_global(&mut self, name: &'static str, size: u64) -> Result<u64, Stop> {
        let index = self.world.module.globals.len() as u32 + named_index(name);
        let new = NewObject {
            kind: ObjectKind::Global,
            size,
            align: 16,
            name: name.into(),
            at: SrcId::NOWHERE,
            source_type: None,
            init: None,
            site: 0,
        };
        let object = self.tables.global(index, new)?;
        Ok(self.tables.address(object, 0))
    }

    /// `argc` and `argv`.
    pub(crate) fn program_arguments(&mut self) -> Result<(u64, u64), Stop> {
        let args = self.world.options.args.clone();
        let strings = self.strings("arguments", &args)?;
        let word = self.word_size() as usize;
        let mut pointers = Vec::with_capacity((args.len() + 1) * word);
        for string in strings {
            pointers.extend(&self.number_of(string)?.to_le_bytes()[..word]);
        }
        pointers.resize(pointers.len() + word, 0);
        let argv = self.initialised_global("argv", pointers.into())?;
        Ok((args.len() as u64, argv))
    }

    /// The table of the environment: how many variables there are, and room for so many pointers to them.
    pub(crate) fn environment(&mut self, most: u64) -> Result<u64, Stop> {
        let env = self.world.options.env.clone();
        let mut table = (env.len() as u64).to_le_bytes().to_vec();
        if !env.is_empty() {
            let strings = self.strings("strings of the environment", &env)?;
            table.extend(strings.iter().flat_map(|string| string.to_le_bytes()));
        }
        table.resize(8 * (most as usize + 1), 0);
        self.initialised_global("environment", table.into())
    }

    /// What string streams point to: 32 bytes for each way to their virtual base, which the first eight are.
    pub(crate) fn string_stream_table(&mut self, ways: &[u64]) -> Result<u64, Stop> {
        let bytes = |way: &u64| {
            let mut entry = way.to_le_bytes().to_vec();
            entry.resize(32, 0);
            entry
        };
        let table: Vec<u8> = ways.iter().flat_map(bytes).collect();
        self.initialised_global("tables of string streams", table.into())
    }

    /// Pointers to texts, one after the other in memory of this name.
    fn strings(&mut self, name: &'static str, texts: &[String]) -> Result<Vec<u64>, Stop> {
        let bytes: Vec<u8> = texts
            .iter()
            .flat_map(|text| text.bytes().chain(std::iter::once(0)))
            .collect();
        let mut at = self.initialised_global(name, bytes.into())?;
        let mut pointers = Vec::new();
        for text in texts {
            pointers.push(at);
            at += text.len() as u64 + 1;
        }
        Ok(pointers)
    }

    pub(crate) fn initialised_global(
        &mut self,
        name: &'static str,
        init: Rc<[u8]>,
    ) -> Result<u64, Stop> {
        let index = self.world.module.globals.len() as u32 + named_index(name);
        let new = NewObject {
            kind: ObjectKind::Global,
            size: init.len() as u64,
            align: 16,
            name: name.into(),
            at: SrcId::NOWHERE,
            source_type: None,
            init: Some(init),
            site: 0,
        };
        let object = self.tables.global(index, new)?;
        Ok(self.tables.address(object, 0))
    }

    /// The address of a global, or of this thread's copy of a thread-local one.
    pub(crate) fn global_address(&mut self, id: GlobalId) -> Result<u64, Stop> {
        if let Some(position) = self.world.private_thread_local(id) {
            return Ok(private_address(position));
        }
        let global = self.world.module.global(id);
        if !global.thread_local
            && let Some(address) = self.world.global_addresses[id.index()]
        {
            return Ok(address);
        }
        let kind = match (global.thread_local, global.is_constant) {
            (true, _) => ObjectKind::ThreadLocal,
            (false, _) if is_panic_count(&global.name) => ObjectKind::Constant,
            (false, true) if global.initializer.is_some() => ObjectKind::Constant,
            (false, _) if global.initializer.is_none() && models::is_constant(&global.name) => {
                ObjectKind::Constant
            }
            (false, _) => ObjectKind::Global,
        };
        let size = self.world.global_size(id);
        if size > MAX_BLOCK {
            let name = global.source_name.as_deref().unwrap_or(&global.name);
            return Err(Stop::Unsupported(Unsupported::Instruction {
                what: format!("a variable of {size} bytes (`{name}`; more than 1 GiB)").into(),
            }));
        }
        let new = NewObject {
            kind,
            size,
            align: global.align.max(1),
            name: global.source_name.as_deref().unwrap_or(&global.name).into(),
            at: SrcId::NOWHERE,
            source_type: global.source_type,
            init: None,
            site: 0,
        };
        let ty = global.ty;
        let object = if kind == ObjectKind::ThreadLocal {
            let index = NAMED_OBJECTS.len() as u32 + self.world.thread_local_index(id);
            let before = self.tables.object_count();
            let object = self.tables.thread_local(self.state.id, index, new)?;
            if self.tables.object_count() > before {
                self.tables.make_mortal(object)?;
                self.world.untouched.insert(object, id);
            }
            let mortal = &mut self.state.mortal_locals;
            if !mortal.contains(&object) {
                mortal.push(object);
            }
            object
        } else {
            let object = self.tables.global(id.0, new)?;
            let address = self.tables.address(object, 0);
            self.world.global_addresses[id.index()] = Some(address);
            if kind == ObjectKind::Constant {
                self.world.constant_objects.insert(object, id);
            } else {
                self.world.untouched.insert(object, id);
            }
            object
        };
        self.world.object_types.insert(object, ty);
        Ok(self.tables.address(object, 0))
    }

    /// The IR type of what an address points into, and the offset there: known for variables, not for heap blocks.
    pub(crate) fn type_at(&self, address: u64) -> Option<(TypeId, u64)> {
        if let Some(block) = private_position(address) {
            let offset = u64::try_from(offset_of(address)).ok()?;
            if let Some(global) = self.world.thread_local_at(block) {
                return Some((self.world.module.global(global).ty, offset));
            }
            let (function, value) = self.state.private.get(block)?.origin?;
            let code = self.world.cached_code(function)?;
            return Some((*code.alloca_types.get(&value)?, offset));
        }
        let (object, offset) = self.tables.resolve(address)?;
        let offset = u64::try_from(offset).ok()?;
        Some((*self.world.object_types.get(&object)?, offset))
    }

    /// How many bytes a copy at an address may take at once so that it goes along with the fields of what is there;
    /// `None` where nothing is known.
    pub(crate) fn field_end(&self, address: u64) -> Option<u64> {
        let (ty, offset) = self.type_at(address)?;
        self.world.field_end(ty, offset)
    }
}

impl World {
    /// Which stack variable an `alloca` makes: see [`NewObject::site`].
    pub(crate) fn stack_site(&self, function: FuncId, value: ValueId) -> u64 {
        let name = &self.module.function(function).name;
        names::stable_hash([names::hash_text(name), value.index() as u64])
    }

    /// How many bytes the field at an offset of a variable goes on, as far as it matters for copies.
    pub(super) fn field_end(&self, ty: TypeId, offset: u64) -> Option<u64> {
        let types = &self.module.types;
        // Arrays of variables: `alloca T, n`.
        let step = types.alloc_size(ty).ok().filter(|&step| step > 0)?;
        let offset = offset % step;
        let end = match layout::leaf_at(types, ty, offset) {
            Some((start, size)) => start + size - offset,
            None => 1,
        };
        (end > 1 || !self.is_from_rustc()).then_some(end)
    }
}

/// Reads `size` bytes of `bytes`, which must be there.
pub(crate) fn read_bytes(bytes: &[u8], offset: usize, size: u8) -> Value {
    let mut buffer = [0; 8];
    let size = usize::from(size);
    buffer[..size].copy_from_slice(&bytes[offset..offset + size]);
    Value::from_le_bytes(buffer)
}
