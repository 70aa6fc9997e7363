//! What a model sees of the machine: see the rules in [`crate::models`].

use crate::fault::{AccessKind, Fault, Limit, Misuse, Stop, Unsupported};
use crate::ids::{LocId, ObjectId, ThreadId};
use crate::interp::local::NativeFrame;
use crate::interp::machine::Machine;
use crate::interp::memory::{Place, private_place};
use crate::models::ModelId;
use crate::op::{ChoiceOf, MutexKind, NumberKind, Op, Order, RmwKind, SyncAction, Value};
use crate::tables::{Exhausted, Tables};
use crate::uses::LOOKED_AT;
use raddle_ir::{BlockId, FuncId};

/// What a memory access needs: nothing more, or a visible operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Private or constant memory: here is the value.
    Done(Value),
    Visible(Op),
}

/// What a new thread runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The function at this address.
    Function(u64),
    /// A model, under this name.
    Model(&'static str),
}

/// What a model wants of a symbolic engine that runs it: see [`crate::interp::view::ModelCall`]. Each is answered by a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Load {
        address: u64,
        size: u8,
        order: Order,
    },
    Store {
        address: u64,
        size: u8,
        value: Value,
        order: Order,
    },
    /// Wants the old value.
    Rmw {
        address: u64,
        size: u8,
        kind: RmwKind,
        operand: Value,
        order: Order,
    },
    /// Wants the old value.
    Cas {
        address: u64,
        size: u8,
        expected: Value,
        new: Value,
        orders: (Order, Order),
    },
    Fence {
        order: Order,
    },
    Sync {
        address: u64,
        action: SyncAction,
    },
    /// The first bytes of a synchronisation object, if anybody writes there; wants nothing.
    LookAt {
        object: u64,
    },
    /// Wants the first slot of the result.
    Call {
        function: FuncId,
        args: Vec<u64>,
    },
    /// Wants the address of a zeroed block.
    Allocate {
        size: u64,
        align: u64,
    },
    Free {
        address: u64,
    },
    AtomicBegin,
    AtomicEnd,
    /// Wants any number below `count`.
    Choice {
        count: u32,
    },
    /// Wants an argument that was left open.
    Argument {
        index: usize,
    },
    /// Wants a number for the place from which the library function is called.
    PlaceOfCall,
    /// A string is read, no more than `limit` bytes of it; what it says does not matter.
    LookAtString {
        address: u64,
        limit: u64,
    },
    /// Wants the address of what the thread has for itself under a name.
    ThreadObject {
        name: &'static str,
        size: u64,
    },
    /// Wants a value that the thread keeps.
    ThreadValue {
        kind: u32,
        key: u64,
    },
    SetThreadValue {
        kind: u32,
        key: u64,
        value: u64,
    },
    /// Wants the first key above `after` that the thread keeps a value under, or 0.
    NextThreadKey {
        kind: u32,
        after: u64,
    },
}

/// Why a model leaves off before its end.
#[derive(Clone, Debug)]
pub enum Pause {
    Op(Op),
    /// Only of models that a symbolic engine runs.
    Ask(Request),
    Call {
        function: FuncId,
        args: Vec<u64>,
    },
    Spawn {
        child: ThreadId,
        model: ModelId,
        args: Vec<u64>,
    },
    Stop(Stop),
}

impl From<Stop> for Pause {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<Fault> for Pause {
    fn from(fault: Fault) -> Self {
        Self::Stop(Stop::Fault(fault))
    }
}

impl From<Exhausted> for Pause {
    fn from(exhausted: Exhausted) -> Self {
        Self::Stop(exhausted.into())
    }
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Self {
        Self::Limit(match exhausted {
            Exhausted::Ids { what } => Limit::Ids { what },
            Exhausted::NameClash { what } => Limit::NameClash { what },
        })
    }
}

/// How a model ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Returns a value of one slot (integers up to 64 bits, pointers, floats).
    Return(u64),
    /// Returns a value of several slots: `i128`, structs.
    Values(Vec<u64>),
    Void,
    /// Runs the body of the function that was called instead.
    Original,
    /// Goes back without the caller noticing: a model below is run again as it stands.
    Unnoticed,
    /// Raises an exception: what `raddle.unwind` takes.
    Raise(Vec<u64>),
    /// Goes back to where `setjmp` was called with this buffer, which returns this value now.
    Jump {
        buffer: u64,
        value: u64,
    },
    /// Goes on at a landing pad of the function that called this one, with these values.
    Land {
        block: BlockId,
        values: Vec<u64>,
    },
    /// Leaves the thread at once. (`pthread_exit` and its like use [`Script::leave_thread`], which tidies up first.)
    ExitThread(u64),
    /// `main` has returned, and other threads go on.
    ReturnFromMain(u64),
    ExitProcess(i32),
    /// The thread is blocked for good, and that is nobody's fault.
    AssumeFailed,
    /// Forgets the whole call stack and runs this model instead.
    Become(&'static str, Vec<u64>),
}

pub type ModelResult = Result<Outcome, Pause>;

/// One run of a model.
pub struct Script<'m, 'a> {
    pub(crate) machine: &'m mut Machine<'a>,
    pub(crate) frame: &'m mut NativeFrame,
    /// The next step's position in the log.
    cursor: usize,
    /// Does a symbolic engine run it? Then steps ask for what they need, and nothing of the machine's thread is looked at.
    asks: bool,
}

impl<'m, 'a> Script<'m, 'a> {
    pub(crate) fn new(machine: &'m mut Machine<'a>, frame: &'m mut NativeFrame) -> Self {
        Self {
            machine,
            frame,
            cursor: 0,
            asks: false,
        }
    }

    /// For a symbolic engine.
    pub(crate) fn asking(machine: &'m mut Machine<'a>, frame: &'m mut NativeFrame) -> Self {
        Self {
            asks: true,
            ..Self::new(machine, frame)
        }
    }

    /// Does the engine leave out iterations in which a thread only waits?
    pub(super) fn leaves_out_pure_iterations(&self) -> bool {
        self.machine.world.options.leaves_out_pure_iterations
    }

    /// Does a symbolic engine run it?
    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    // ---- arguments and variables

    /// Argument slot `index`, 0 if there is none.
    #[must_use]
    pub fn arg(&self, index: usize) -> u64 {
        self.frame.args.get(index).copied().unwrap_or(0)
    }

    /// An argument that a symbolic engine may have left open. Only for models that ask.
    pub(super) fn asked_arg(&mut self, index: usize) -> Result<u64, Pause> {
        self.ask(Request::Argument { index })
    }

    /// Reads a string whose text does not matter. Only for models that ask.
    pub(super) fn look_at_string(&mut self, address: u64, limit: u64) -> Result<(), Pause> {
        self.ask(Request::LookAtString { address, limit })?;
        Ok(())
    }

    /// The low 32 bits of an argument as a signed number.
    #[must_use]
    pub fn arg_i32(&self, index: usize) -> i32 {
        self.arg(index) as u32 as i32
    }

    #[must_use]
    pub fn arg_count(&self) -> usize {
        self.frame.args.len()
    }

    /// Where the variadic arguments start.
    #[must_use]
    pub fn fixed_count(&self) -> usize {
        self.frame.fixed as usize
    }

    /// Bytes of a pointer, of `long` and of `size_t`: 8, or 4 in the data model ILP32.
    #[must_use]
    pub fn word(&self) -> u8 {
        self.machine.word_size() as u8
    }

    /// The pointer that a number of the program's memory is.
    #[must_use]
    pub fn pointer_of(&self, number: u64) -> u64 {
        self.machine.pointer_of(number)
    }

    /// The number that a pointer is.
    pub fn number_of(&self, pointer: u64) -> Result<u64, Pause> {
        Ok(self.machine.number_of(pointer)?)
    }

    /// Writes a pointer to the program's memory.
    pub fn store_pointer(&mut self, address: u64, pointer: u64) -> Result<(), Pause> {
        let number = self.machine.number_of(pointer)?;
        self.store(address, self.word(), number, Order::Plain)
    }

    /// The name of the function that was called, for models of several.
    #[must_use]
    pub fn function_name(&self) -> &str {
        match self.frame.function {
            Some(function) => &self.machine.world.module.function(function).name,
            None => crate::models::get(self.frame.model).name,
        }
    }

    /// The names of the functions that are being run, innermost first.
    #[must_use]
    pub fn callers(&self) -> Vec<&str> {
        let module = &self.machine.world.module;
        let functions = self.machine.calling_functions();
        functions
            .map(|function| &*module.function(function).name)
            .collect()
    }

    /// Bits of what the function returns, as it is declared: 64 at most, 0 if that is not a number.
    #[must_use]
    pub fn result_bits(&self) -> u32 {
        let module = &self.machine.world.module;
        let ty = self.frame.function.map(|id| module.function(id).ty);
        let ret = ty.and_then(|ty| match module.types.get(ty) {
            raddle_ir::Type::Function { ret, .. } => Some(*ret),
            _ => None,
        });
        match ret.map(|ret| module.types.get(ret)) {
            Some(raddle_ir::Type::Int(bits)) => (*bits).min(64),
            Some(raddle_ir::Type::Ptr) => module.types.layout.pointer_bits(),
            Some(raddle_ir::Type::Float(_)) => {
                let size = ret.and_then(|ret| module.types.store_size(ret).ok());
                size.map_or(0, |bytes| (bytes.min(8) * 8) as u32)
            }
            _ => 0,
        }
    }

    /// Variable `index`: kept over checkpoints, 0 at first.
    #[must_use]
    pub fn var(&self, index: usize) -> u64 {
        self.frame.vars.get(index).copied().unwrap_or(0)
    }

    pub fn set_var(&mut self, index: usize, value: u64) {
        while self.frame.vars.len() <= index {
            self.frame.vars.push(0);
        }
        self.frame.vars[index] = value;
    }

    /// Forgets what steps returned: from now on the model starts over with its variables as they are.
    pub fn checkpoint(&mut self) {
        self.frame.log.clear();
        self.cursor = 0;
    }

    #[must_use]
    pub fn thread(&self) -> ThreadId {
        self.machine.state.id
    }

    #[must_use]
    pub fn tables(&mut self) -> &mut Tables {
        self.machine.tables
    }

    /// The function at an address, and its name.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<(FuncId, &str)> {
        let id = self.machine.world.function_at(address)?;
        Some((id, &self.machine.world.module.function(id).name))
    }

    // ---- steps

    /// A step: an access that is done at once, or by a visible operation.
    pub fn perform(
        &mut self,
        make: impl FnOnce(&mut Machine<'a>) -> Result<Access, Stop>,
    ) -> Result<Value, Pause> {
        if let Some(value) = self.replayed() {
            return Ok(value);
        }
        if self.asks {
            return Err(self.unsupported("its meaning is not encoded (not supported by bmc)"));
        }
        match make(self.machine)? {
            Access::Done(value) => Ok(self.record(value)),
            Access::Visible(op) => Err(Pause::Op(op)),
        }
    }

    /// A step with an effect on the thread alone, or a value to remember.
    pub fn note(
        &mut self,
        make: impl FnOnce(&mut Machine<'a>) -> Result<u64, Stop>,
    ) -> Result<u64, Pause> {
        self.perform(|machine| make(machine).map(Access::Done))
    }

    /// A step that is this operation.
    pub fn op(&mut self, op: Op) -> Result<Value, Pause> {
        self.perform(|_| Ok(Access::Visible(op)))
    }

    /// A step that a symbolic engine does.
    fn ask(&mut self, request: Request) -> Result<Value, Pause> {
        self.replayed().ok_or(Pause::Ask(request))
    }

    fn replayed(&mut self) -> Option<Value> {
        let value = self.frame.log.get(self.cursor).copied()?;
        self.cursor += 1;
        Some(value)
    }

    fn record(&mut self, value: Value) -> Value {
        self.frame.log.push(value);
        self.cursor += 1;
        value
    }

    /// Reads `size` (1, 2, 4, 8) bytes.
    pub fn load(&mut self, address: u64, size: u8, order: Order) -> Result<Value, Pause> {
        if self.asks {
            return self.ask(Request::Load {
                address,
                size,
                order,
            });
        }
        self.perform(|machine| machine.load_piece(address, size, order))
    }

    pub fn store(
        &mut self,
        address: u64,
        size: u8,
        value: Value,
        order: Order,
    ) -> Result<(), Pause> {
        if self.asks {
            self.ask(Request::Store {
                address,
                size,
                value,
                order,
            })?;
            return Ok(());
        }
        self.perform(|machine| machine.store_piece(address, size, value, order))?;
        Ok(())
    }

    /// Returns the old value.
    pub fn rmw(
        &mut self,
        address: u64,
        size: u8,
        kind: RmwKind,
        operand: Value,
        order: Order,
    ) -> Result<Value, Pause> {
        if self.asks {
            return self.ask(Request::Rmw {
                address,
                size,
                kind,
                operand,
                order,
            });
        }
        self.perform(|machine| machine.rmw_piece(address, size, kind, operand, order))
    }

    /// Returns the old value.
    pub fn cas(
        &mut self,
        address: u64,
        size: u8,
        (expected, new): (Value, Value),
        (success, failure): (Order, Order),
    ) -> Result<Value, Pause> {
        if self.asks {
            return self.ask(Request::Cas {
                address,
                size,
                expected,
                new,
                orders: (success, failure),
            });
        }
        self.perform(|machine| {
            machine.cas_piece(address, size, (expected, new), (success, failure))
        })
    }

    pub fn fence(&mut self, order: Order) -> Result<(), Pause> {
        if self.asks {
            self.ask(Request::Fence { order })?;
            return Ok(());
        }
        self.op(Op::Fence { order })?;
        Ok(())
    }

    /// The synchronisation cell at an address. Not a step.
    pub fn cell(&mut self, address: u64) -> Result<LocId, Pause> {
        Ok(self.machine.sync_cell(address)?)
    }

    /// An operation on the synchronisation cell at an address.
    pub fn sync(&mut self, address: u64, action: SyncAction) -> Result<Value, Pause> {
        if self.asks {
            return self.ask(Request::Sync { address, action });
        }
        let cell = self.cell(address)?;
        let action = self.with_kind(cell, address, action)?;
        self.op(Op::Sync { cell, action })
    }

    /// An operation on a mutex reads the kind of its static initialiser before all else, as the C library does, if anybody may
    /// write there ([`crate::uses`]).
    fn with_kind(
        &mut self,
        cell: LocId,
        mutex: u64,
        action: SyncAction,
    ) -> Result<SyncAction, Pause> {
        if !self.machine.state.reads_kinds || !action.reads_kind() {
            return Ok(action);
        }
        if self.machine.tables.kind_of_mutex(cell).is_none() {
            return Ok(action.of_kind(MutexKind::Normal));
        }
        let at = mutex.wrapping_add(self.machine.tables.mutex_kind_offset());
        let number = self.load(at, MutexKind::SIZE, Order::Plain)?;
        Ok(action.of_kind(MutexKind::from_number(number)))
    }

    /// Whoever uses a synchronisation object of the C library that is no mutex reads its first bytes, if anybody may write there
    /// ([`crate::uses`]): overwriting an object in use is a data race.
    pub(super) fn look_at(&mut self, object: u64) -> Result<(), Pause> {
        if self.asks {
            self.ask(Request::LookAt { object })?;
            return Ok(());
        }
        let cell = self.cell(object)?;
        self.machine.tables.note_looked_at(cell);
        if self.machine.state.reads_kinds && self.machine.tables.looked_at(cell).is_some() {
            self.load(object, LOOKED_AT, Order::Plain)?;
        }
        Ok(())
    }

    /// [`Self::sync`] on an object that is looked at first.
    pub(super) fn sync_looking(&mut self, object: u64, action: SyncAction) -> Result<Value, Pause> {
        self.look_at(object)?;
        self.sync(object, action)
    }

    /// A number, not 0, for the place from which the function is called, with those that called the caller.
    pub(super) fn place_of_call(&mut self) -> Result<u64, Pause> {
        if self.asks {
            return self.ask(Request::PlaceOfCall);
        }
        Ok(self.machine.place_of_call())
    }

    /// Calls the function at an address; returns the first slot of its result.
    pub fn call(&mut self, address: u64, args: &[u64]) -> Result<u64, Pause> {
        if let Some(value) = self.replayed() {
            return Ok(value);
        }
        let function = self.machine.callee_at(address)?;
        let args = args.to_vec();
        Err(if self.asks {
            Pause::Ask(Request::Call { function, args })
        } else {
            Pause::Call { function, args }
        })
    }

    /// [`Self::call`] for models that take pairs: two slots of the result.
    pub(super) fn call_pair(&mut self, address: u64, args: &[u64]) -> Result<(u64, u64), Pause> {
        let first = self.call(address, args)?;
        Ok((first, self.replayed().unwrap_or(0)))
    }

    /// Starts a thread that runs `entry` with `args`, and returns its handle.
    pub fn spawn(&mut self, entry: &Entry, args: &[u64]) -> Result<u64, Pause> {
        let handle = self.new_thread(entry)?;
        self.start_thread(handle, entry, args)?;
        Ok(handle)
    }

    /// The handle of the thread that this thread will start next.
    pub fn new_thread(&mut self, entry: &Entry) -> Result<u64, Pause> {
        let name = match entry {
            Entry::Function(address) => {
                let function = self.machine.callee_at(*address)?;
                self.machine.world.function_display_name(function)
            }
            Entry::Model(name) => (*name).into(),
        };
        self.note(|machine| {
            machine.state.spawns += 1;
            let (parent, nth) = (machine.state.id, machine.state.spawns);
            if let Some(bound) = machine.world.options.threads {
                let parent = &machine.tables.thread_info(parent).name;
                if parent.child(nth).rank() > bound {
                    return Err(Stop::Limit(Limit::Threads { bound }));
                }
            }
            let child = machine.tables.thread(parent, nth, &name)?;
            Ok(machine.tables.handle_of_thread(child))
        })
    }

    /// Starts the thread that [`Self::new_thread`] made.
    pub fn start_thread(&mut self, handle: u64, entry: &Entry, args: &[u64]) -> Result<(), Pause> {
        if self.replayed().is_some() {
            return Ok(());
        }
        let child = self.thread_of(handle)?;
        let (model, args) = match entry {
            Entry::Function(address) => {
                let args = std::iter::once(*address).chain(args.iter().copied());
                ("raddle.thread", args.collect())
            }
            Entry::Model(name) => (*name, args.to_vec()),
        };
        let model = crate::models::lookup(model).unwrap_or_default();
        Err(Pause::Spawn { child, model, args })
    }

    /// The thread behind a handle; misuse if there is none.
    pub fn thread_of(&self, handle: u64) -> Result<ThreadId, Pause> {
        self.machine.tables.thread_of_handle(handle).ok_or_else(|| {
            Fault::Misuse {
                misuse: Misuse::JoinUnknown,
                object: None,
                thread: None,
            }
            .into()
        })
    }

    /// Any number below `count`.
    pub fn choice(&mut self, count: u32) -> Result<u32, Pause> {
        if self.asks {
            return Ok(self.ask(Request::Choice { count })? as u32);
        }
        self.choose(count, ChoiceOf::Course)
    }

    /// Does the thread wake up spuriously?
    pub(super) fn chooses_to_wake(&mut self) -> Result<bool, Pause> {
        if self.asks {
            return Ok(self.ask(Request::Choice { count: 2 })? != 0);
        }
        Ok(self.choose(2, ChoiceOf::Waking)? != 0)
    }

    /// Does an operation fail for no reason?
    pub(super) fn chooses_to_fail(&mut self) -> Result<bool, Pause> {
        if self.asks {
            return Ok(self.ask(Request::Choice { count: 2 })? != 0);
        }
        Ok(self.choose(2, ChoiceOf::Failing)? != 0)
    }

    fn choose(&mut self, count: u32, of: ChoiceOf) -> Result<u32, Pause> {
        Ok(self.op(Op::Choice { count, of })? as u32)
    }

    /// Any value of so many bits, chosen in pieces.
    pub fn any_value(&mut self, bits: u8, kind: NumberKind) -> Result<u64, Pause> {
        const PIECE: u8 = 16;
        let mut value = 0;
        for shift in (0..bits).step_by(PIECE.into()) {
            let count = 1 << (bits - shift).min(PIECE);
            let of = ChoiceOf::Value { shift, bits, kind };
            value |= u64::from(self.choose(count, of)?) << shift;
        }
        Ok(value)
    }

    /// Any number below `count`, as a value that the program sees.
    pub fn any_number(&mut self, count: u32) -> Result<u64, Pause> {
        let of = ChoiceOf::Value {
            shift: 0,
            bits: 31,
            kind: NumberKind::Signed,
        };
        Ok(u64::from(self.choose(count, of)?))
    }

    /// Makes a zeroed heap block and returns its address.
    pub fn allocate(&mut self, size: u64, align: u64) -> Result<u64, Pause> {
        if self.asks {
            return self.ask(Request::Allocate { size, align });
        }
        let is_zeroed = super::get(self.frame.model).zeroes;
        let address = self.note(|machine| machine.new_heap_block(size, align, is_zeroed))?;
        let object = self.object_at(address);
        if let Some((object, _)) = object {
            self.op(Op::Alloc { object })?;
        }
        Ok(address)
    }

    /// Frees the heap block that starts at an address.
    pub fn free(&mut self, address: u64) -> Result<(), Pause> {
        if self.asks {
            self.ask(Request::Free { address })?;
            return Ok(());
        }
        self.perform(|machine| {
            let object = machine.heap_block_at(address)?;
            Ok(Access::Visible(Op::Free { object }))
        })?;
        Ok(())
    }

    /// The shared object that an address points into, and the offset.
    #[must_use]
    pub fn object_at(&self, address: u64) -> Option<(ObjectId, i64)> {
        self.machine.tables.resolve(address)
    }

    /// The address at which the queue of a futex has its cells: memory of its own, as the kernel's is. None where no word can be,
    /// and nobody can wait. Not a step.
    pub(super) fn queue_of(&mut self, word: u64) -> Result<Option<u64>, Pause> {
        let tables = &mut *self.machine.tables;
        let Some((object, offset)) = tables.resolve(word) else {
            return Ok(None);
        };
        if !(0..tables.object_info(object).size.cast_signed()).contains(&offset) {
            return Ok(None);
        }
        let queues = tables.queues(object)?;
        Ok(Some(tables.address(queues, offset)))
    }

    /// Checks that an access to `size` bytes is in order, and says where they are. Not a step.
    pub fn place(&mut self, address: u64, size: u64, access: AccessKind) -> Result<Place, Pause> {
        // Where private memory ends is seen when it is accessed.
        if self.asks
            && let Some(place) = private_place(address)
        {
            return Ok(place);
        }
        Ok(self.machine.place(address, size, access)?)
    }

    /// Starts an atomic block, or a nested one.
    pub fn atomic_begin(&mut self) -> Result<(), Pause> {
        if self.asks {
            self.ask(Request::AtomicBegin)?;
            return Ok(());
        }
        self.perform(|machine| {
            machine.state.atomic_depth += 1;
            Ok(if machine.state.atomic_depth == 1 {
                Access::Visible(Op::AtomicBegin)
            } else {
                Access::Done(0)
            })
        })?;
        Ok(())
    }

    /// Is the call inside of an atomic block? Not known where a symbolic engine runs it.
    pub fn is_in_atomic_block(&self) -> bool {
        self.machine.state.atomic_depth > 0
    }

    pub fn atomic_end(&mut self) -> Result<(), Pause> {
        if self.asks {
            self.ask(Request::AtomicEnd)?;
            return Ok(());
        }
        self.perform(|machine| Ok(machine.leave_atomic()))?;
        Ok(())
    }

    /// Prints.
    pub fn print(&mut self, text: &str) -> Result<(), Pause> {
        if self.asks {
            return Ok(());
        }
        self.note(|machine| {
            machine.output.push_str(text);
            Ok(0)
        })?;
        Ok(())
    }

    /// A value that this thread keeps under a kind and a key: 0 if never set.
    pub fn thread_value(&mut self, kind: u32, key: u64) -> Result<u64, Pause> {
        if self.asks {
            return self.ask(Request::ThreadValue { kind, key });
        }
        self.note(|machine| {
            let value = machine.state.slots.get(&(kind, key));
            Ok(value.copied().unwrap_or(0))
        })
    }

    /// The first key above `after` under which this thread keeps a value of a kind; 0 if there is none.
    pub fn next_thread_key(&mut self, kind: u32, after: u64) -> Result<u64, Pause> {
        if self.asks {
            return self.ask(Request::NextThreadKey { kind, after });
        }
        self.note(|machine| {
            let range = (kind, after.saturating_add(1))..=(kind, u64::MAX);
            let next = machine.state.slots.range(range).next();
            Ok(next.map_or(0, |(&(_, key), _)| key))
        })
    }

    /// Keeps a value for this thread.
    pub fn set_thread_value(&mut self, kind: u32, key: u64, value: u64) -> Result<(), Pause> {
        if self.asks {
            self.ask(Request::SetThreadValue { kind, key, value })?;
            return Ok(());
        }
        self.note(|machine| {
            // Zeros are left out, so that equal contents are equal maps.
            if value == 0 {
                machine.state.slots.remove(&(kind, key));
            } else {
                machine.state.slots.insert((kind, key), value);
            }
            Ok(0)
        })?;
        Ok(())
    }

    /// The address of `size` bytes that this thread has for itself under `name` (`errno` and the like).
    pub fn thread_object(&mut self, name: &'static str, size: u64) -> Result<u64, Pause> {
        if self.asks {
            return self.ask(Request::ThreadObject { name, size });
        }
        Ok(self.machine.thread_object(name, size)?)
    }

    /// The address of `size` zeroed bytes that exist once under `name`.
    pub fn global_object(&mut self, name: &'static str, size: u64) -> Result<u64, Pause> {
        Ok(self.machine.named_global(name, size)?)
    }

    // ---- compound steps

    /// Reads the zero-terminated string at an address, without its end. Each byte is a step: for short strings.
    pub fn string(&mut self, address: u64) -> Result<Vec<u8>, Pause> {
        let mut bytes = Vec::new();
        loop {
            let at = address.wrapping_add(bytes.len() as u64);
            match self.load(at, 1, Order::Plain)? {
                0 => return Ok(bytes),
                byte => bytes.push(byte as u8),
            }
        }
    }

    /// [`Self::string`] as text.
    pub fn text(&mut self, address: u64) -> Result<String, Pause> {
        Ok(String::from_utf8_lossy(&self.string(address)?).into_owned())
    }

    // ---- ends

    /// Ends the thread with a value, after the stack variables of all its frames are freed and its destructors are run.
    #[must_use]
    pub fn leave_thread(&self, value: u64) -> Outcome {
        let mut args = vec![value];
        args.extend(self.machine.owned_objects());
        Outcome::Become("raddle.thread_exit", args)
    }

    /// The model does not cover this use of the function.
    #[must_use]
    pub fn unsupported(&self, why: &str) -> Pause {
        Pause::Stop(Stop::Unsupported(Unsupported::Library {
            function: self.function_name().into(),
            why: why.into(),
        }))
    }
}
