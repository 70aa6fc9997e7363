//! The interpreter of a module: runs the private code of its threads up to the next visible operation.
//!
//! - [`local`]: local states, canonical and compact.
//! - `world`: code and caches, shared by all threads.
//! - `bodies`, `code`, `counting`: functions, parsed, prepared and analysed when first called.
//! - `iterations`: loops that are cut by a bound. `coverage`: what was run.
//! - `machine`: one thread while it runs; frames, calls and returns.
//! - `exec`, `rearrange`, `access`, `calls`, `intrinsics`, `flow`: instructions and terminators.
//! - `failing`: weak compare-exchanges that fail for no reason.
//! - `undefined`: what nobody has written. `unwind`: exceptions on their way.
//! - `memory`: addresses. `constants`: values of constants, initial contents of globals.
//! - `taken`: what the code takes memory for, for reports.
//! - `arith`, `float`, `layout`: pure functions.
//!
//! An instruction that needs visible operations is run again from its start each time one of them returned, with the
//! results so far in the frame's log: the same rule as for [`crate::models`].

mod access;
mod arith;
mod assembly;
mod assertion;
mod bodies;
mod calls;
mod code;
mod constants;
mod counting;
mod coverage;
mod dead;
mod double;
mod exchange;
mod exec;
pub(crate) mod failing;
mod first_attempt;
pub(crate) mod float;
mod flow;
mod intrinsics;
mod iterations;
pub(crate) mod layout;
pub mod local;
mod long_double;
pub(crate) mod machine;
pub(crate) mod memory;
mod mentions;
mod pointers;
mod rearrange;
mod taken;
mod undefined;
pub(crate) mod unwind;
pub mod view;
mod wide;
pub(crate) mod woken;
mod world;

pub use local::Local;
pub use memory::{MAX_BLOCK, Place};

use crate::Kinds;
use crate::automaton::{DEFAULT_SNAPSHOT_LIMIT, Meaning, Program, Semantics, TakenFor, Transition};
use crate::coverage::{CodeCoverage, WeakOrderings};
use crate::first_bytes::FirstBytes;
use crate::ids::ThreadId;
use crate::op::{ReleaseSequences, Value};
use crate::orderings::Orderings;
use crate::tables::Tables;
use code::ResultUse;
use local::{NativeFrame, ThreadState};
use machine::Machine;
use raddle_ir::{Constant, DebugInfo, FuncId, InstKind, Module, Operand, Type};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use world::World;

/// What becomes of the other threads when `main` returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMainReturn {
    /// They run on, as after `pthread_exit`.
    #[default]
    Wait,
    /// The process ends.
    Exit,
}

/// Which panics of Rust are faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PanicPolicy {
    /// Every one.
    Any,
    /// Those that nobody catches, and that leave a thread which is not joined by the end.
    #[default]
    Unhandled,
}

/// What may fail for no reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpuriousFailures {
    #[default]
    None,
    /// Attempts at mutexes of C11 and C++, although these are free.
    Locks,
    /// Weak compare-exchanges, too, although they find what they expect. Processors with store buffers in front of their memory have none
    /// that do so.
    All,
}

/// How a module is run.
#[derive(Clone, Debug)]
pub struct InterpOptions {
    /// Cuts loops that are not known to be finite after so many iterations.
    pub unroll: Option<u32>,
    /// Stops threads that would start one which only executions with more threads have ([`crate::ThreadName::rank`]).
    pub threads: Option<u32>,
    /// Does the engine leave out iterations of loops in which a thread only waits? Then `unroll` does not count them, and they end
    /// as soon as it is certain what they are.
    pub leaves_out_pure_iterations: bool,
    pub on_main_return: OnMainReturn,
    pub panic: PanicPolicy,
    /// Are there spurious wake-ups from condition variables? Each thread has one at most at each place.
    pub spurious_wakeups: bool,
    /// What may fail for no reason? Each thread has one such failure at most at each place.
    pub spurious_failures: SpuriousFailures,
    /// Are those left out that end an iteration of a loop in which nothing was changed?
    pub leaves_out_idle_failures: bool,
    /// Let loops that look at memory a bounded number of times end after one look.
    pub collapses_spins: bool,
    /// Are volatile accesses relaxed atomics?
    pub volatile_is_atomic: bool,
    /// May `malloc` and its family return null?
    pub malloc_may_fail: bool,
    /// May `malloc` and its family return the address of a block that was freed?
    pub reuse_addresses: bool,
    /// Which writes continue a release sequence, for data races.
    pub release_sequences: ReleaseSequences,
    /// Orderings of the user's own atomics that are others than in the source.
    pub orderings: Arc<Orderings>,
    /// Is signed overflow a fault?
    pub check_overflow: bool,
    /// Is it a fault if something depends on what nobody has written? Otherwise that is zero.
    pub check_uninit: bool,
    /// Whatever may be copied: is it a fault to read a byte that nobody has written for anything but a copy into private memory?
    pub check_every_byte: bool,
    /// Do variables stay in memory that may be read before they are written? Then they hold something there.
    pub keeps_unwritten: bool,
    /// What memory holds that nobody has written, where it is not zero.
    pub first_bytes: Arc<FirstBytes>,
    /// `abort` ends the run in silence.
    pub svcomp_abort_silent: bool,
    /// Steps without a visible operation.
    pub max_private_steps: u64,
    pub max_call_depth: u32,
    /// Bytes of local states kept.
    pub snapshot_limit: usize,
    /// May nondeterministic values of any width be chosen, 16 bits at a time? Not for engines that try all choices.
    pub wide_choices: bool,
    /// `argv`.
    pub args: Vec<String>,
    /// The environment, `NAME=value` each.
    pub env: Vec<String>,
    /// The function that the program begins with: `main`, or one without parameters.
    pub entry: String,
}

impl Default for InterpOptions {
    fn default() -> Self {
        Self {
            unroll: None,
            threads: None,
            leaves_out_pure_iterations: false,
            on_main_return: OnMainReturn::Wait,
            panic: PanicPolicy::Unhandled,
            spurious_wakeups: false,
            spurious_failures: SpuriousFailures::None,
            leaves_out_idle_failures: false,
            collapses_spins: true,
            volatile_is_atomic: false,
            malloc_may_fail: false,
            reuse_addresses: false,
            release_sequences: ReleaseSequences::default(),
            orderings: Arc::default(),
            check_overflow: false,
            check_uninit: false,
            check_every_byte: false,
            keeps_unwritten: false,
            first_bytes: Arc::default(),
            svcomp_abort_silent: false,
            max_private_steps: 50_000_000,
            max_call_depth: 10_000,
            snapshot_limit: DEFAULT_SNAPSHOT_LIMIT,
            wide_choices: false,
            args: vec!["program".to_owned()],
            env: Vec::new(),
            entry: "main".to_owned(),
        }
    }
}

/// Why a module cannot be run at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// There is no definition of the function to begin with.
    NoEntry { name: String },
    /// Several functions have the name in the source; their symbols are given.
    WhichEntry { name: String, symbols: Vec<String> },
    /// The function has parameters, and they are not those of `main`.
    EntryWithParameters { name: String },
    /// A program of C++ or Rust has pointers of four bytes.
    NarrowLanguage { language: &'static str },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NarrowLanguage { language } => write!(
                f,
                "{language} programs of the data model ILP32 (32 bits) are not known yet: only C programs are"
            ),
            Self::NoEntry { name } => write!(f, "the program defines no function `{name}`"),
            Self::WhichEntry { name, symbols } => write!(
                f,
                "several functions are called `{name}`: {}",
                symbols.join(", ")
            ),
            Self::EntryWithParameters { name } => write!(
                f,
                "the program cannot begin with `{name}`, which has parameters other than those of `main`"
            ),
        }
    }
}

impl std::error::Error for LoadError {}

/// A module as [`Semantics`].
pub struct Interpreter {
    world: World,
}

impl Interpreter {
    /// The automata of a module's threads.
    pub fn load(module: Module, options: InterpOptions) -> Result<Program, LoadError> {
        let limit = options.snapshot_limit;
        let (interpreter, tables) = Self::new(module, options)?;
        Ok(Program::with_snapshot_limit(interpreter, tables, limit))
    }

    /// The semantics alone, with the tables to start from.
    pub fn new(module: Module, options: InterpOptions) -> Result<(Self, Tables), LoadError> {
        let main = entry(&module, &options.entry)?;
        let is_ilp32 = module.types.layout.is_ilp32();
        if let (true, Some(language)) = (is_ilp32, mangled_language(&module)) {
            return Err(LoadError::NarrowLanguage { language });
        }
        let mut tables = Tables::new("main");
        tables.release_sequences = options.release_sequences;
        tables.minds_every_byte = options.check_every_byte;
        share_types(&module, &mut tables);
        let mut world = World::new(module, options, main);
        if is_ilp32 {
            tables.set_layout(world.narrow_layout());
        }
        Ok((Self { world }, tables))
    }
}

/// The language of a module whose names are mangled: C++ or Rust.
fn mangled_language(module: &Module) -> Option<&'static str> {
    if module.source_name.contains("-cgu.") {
        return Some("Rust");
    }
    let defined = module.functions.iter().filter(|it| !it.is_declaration);
    let mut names = defined.map(|function| &*function.name);
    let is_mangled = |name: &str| name.starts_with("_Z") || name.starts_with("_RNv");
    let is_source = [".cpp", ".cc", ".cxx", ".C"]
        .iter()
        .any(|end| module.source_name.ends_with(end));
    (is_source || names.any(is_mangled)).then_some("C++")
}

/// The function to begin with: a symbol, or what the source calls it.
fn entry(module: &Module, name: &str) -> Result<FuncId, LoadError> {
    let symbol = module.function_named(name);
    if let Some(id) = symbol.filter(|&id| !module.function(id).is_declaration) {
        return beginning(module, id, name);
    }
    let in_source = |id: &FuncId| {
        let at = module.function(*id).defined_at.as_ref();
        at.and_then(|at| at.function.as_deref()) == Some(name)
    };
    let all: Vec<FuncId> = (0..module.functions.len())
        .map(FuncId::from_index)
        .filter(|&id| !module.function(id).is_declaration)
        .filter(in_source)
        .collect();
    let name = name.to_owned();
    match all[..] {
        [] => Err(LoadError::NoEntry { name }),
        [id] => beginning(module, id, &name),
        _ => Err(LoadError::WhichEntry {
            name,
            symbols: (all.iter())
                .map(|&id| module.function(id).name.to_string())
                .collect(),
        }),
    }
}

fn beginning(module: &Module, id: FuncId, name: &str) -> Result<FuncId, LoadError> {
    let takes = match module.types.get(module.function(id).ty) {
        Type::Function { params, .. } => &params[..],
        _ => &[],
    };
    let mut kinds = takes.iter().map(|&ty| module.types.get(ty));
    let is_main = matches!(kinds.next(), None | Some(Type::Int(32)))
        && kinds.all(|ty| matches!(ty, Type::Ptr))
        && takes.len() <= 3;
    match is_main {
        true => Ok(id),
        false => Err(LoadError::EntryWithParameters {
            name: name.to_owned(),
        }),
    }
}

/// Lets reports see the source types that parsing has met so far: bodies are parsed when first called. Positions are interned
/// one by one as they are met.
fn share_types(module: &Module, tables: &mut Tables) {
    if tables.debug.types.len() != module.debug.types.len() {
        tables.debug = Rc::new(DebugInfo {
            locs: Vec::new(),
            types: module.debug.types.clone(),
        });
    }
}

impl Interpreter {
    /// Is it inline assembly that tells what it found out by a flag in memory, and not by a result?
    fn leaves_flag_in_memory(&self, local: &Local) -> bool {
        let local::Frame::Ir(frame) = &local.top else {
            return false;
        };
        let Some(code) = self.world.cached_code(frame.function) else {
            return false;
        };
        let insts = &code.body.blocks[frame.block as usize].insts;
        let Some(InstKind::Call(call)) = insts.get(frame.index as usize).map(|inst| &inst.kind)
        else {
            return false;
        };
        let Operand::Const(callee) = call.callee else {
            return false;
        };
        matches!(self.world.module.constant(callee), Constant::InlineAsm { text, .. } if text.contains("set"))
    }
}

impl Semantics for Interpreter {
    type Local = Local;

    fn start(&mut self, tables: &mut Tables, kinds: Kinds) -> Transition<Local> {
        let frame = NativeFrame {
            model: crate::models::lookup("raddle.main").unwrap_or_default(),
            args: [Tables::function_address(self.world.main.0)]
                .into_iter()
                .collect(),
            fixed: 1,
            ..NativeFrame::default()
        };
        let mut state = ThreadState::new(ThreadId::MAIN);
        state.reads_kinds = kinds == Kinds::Read;
        Machine::start(&mut self.world, tables, state, frame).run()
    }

    fn resume(&mut self, tables: &mut Tables, local: &Local, value: Value) -> Transition<Local> {
        let ignores_result = self.ignores_result(local);
        let mut machine = Machine::resume(&mut self.world, tables, local, value);
        machine.note_operation(local, value, ignores_result);
        let transition = machine.run();
        share_types(&self.world.module, tables);
        transition
    }

    fn with_first_bytes(&self, bytes: &FirstBytes) -> Option<(Self, Tables)> {
        let options = InterpOptions {
            first_bytes: Arc::new(bytes.clone()),
            keeps_unwritten: true,
            ..self.world.options.clone()
        };
        Self::new(self.world.module.clone(), options).ok()
    }

    fn thread(&self, local: &Local) -> ThreadId {
        local.thread.id
    }

    fn bytes(&self, local: &Local) -> usize {
        local.bytes()
    }

    fn meaning(&self, tables: &Tables, address: u64) -> Option<Meaning> {
        if let Some(function) = self.world.function_at(address) {
            return Some(Meaning::Function(
                self.world.function_display_name(function),
            ));
        }
        self.world.text_at(tables, address).map(Meaning::Text)
    }

    fn taken_for(&self, local: &Local) -> Option<TakenFor> {
        taken::taken_for(&self.world, local)
    }

    fn only_waits(&self, local: &Local) -> bool {
        match &local.top {
            local::Frame::Native(frame) => {
                self.world.options.leaves_out_pure_iterations
                    && crate::models::get(frame.model).waits
            }
            local::Frame::Ir(_) | local::Frame::Finished => false,
        }
    }

    fn needs_contents(&self, local: &Local) -> bool {
        let options = &self.world.options;
        options.check_every_byte
            || options.check_uninit
                && match &local.top {
                    local::Frame::Ir(frame) => {
                        self.world.cached_code(frame.function).is_some_and(|code| {
                            let at = (frame.block, frame.index);
                            code.needs_contents(&self.world.module, at)
                        })
                    }
                    // Models of the library copy; what they make of contents is not looked at.
                    local::Frame::Native(_) | local::Frame::Finished => false,
                }
    }

    fn zeroes(&self, local: &Local) -> bool {
        match &local.top {
            local::Frame::Native(frame) => crate::models::get(frame.model).zeroes,
            local::Frame::Ir(_) | local::Frame::Finished => false,
        }
    }

    fn coverage(&mut self, tables: &mut Tables) -> Option<CodeCoverage> {
        coverage::coverage(&mut self.world, tables)
    }

    fn weak_orderings(&self) -> WeakOrderings {
        self.world.weak
    }

    fn has_several_clocks(&self) -> bool {
        self.world.clocks.are_several()
    }

    fn ignores_result(&self, local: &Local) -> bool {
        if !matches!(local.op, crate::op::Op::Rmw { .. }) {
            return false;
        }
        if self.leaves_flag_in_memory(local) {
            return false;
        }
        // What is only returned is for the caller to use.
        let mut frame = &local.top;
        let mut below = local.thread.callers.as_ref();
        while let local::Frame::Ir(it) = frame {
            let Some(code) = self.world.cached_code(it.function) else {
                return false;
            };
            match (code.use_of_result(it.block, it.index), below) {
                (ResultUse::Unused, _) => return true,
                (ResultUse::Returned, Some(link)) => {
                    frame = &link.frame;
                    below = link.below.as_ref();
                }
                _ => return false,
            }
        }
        false
    }
}
