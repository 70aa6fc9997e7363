//! What all threads of a module share while it is interpreted: code and caches. Nothing here changes what a thread does.

use super::InterpOptions;
use super::bodies::{Bodies, does_not_capture};
use super::code::{self, Code};
use super::layout::{self, Layout};
use super::machine::position::debug_loc;
use super::memory::{MAX_BLOCK, THREAD_LOCALS};
use super::woken::is_rust_wait;
use crate::coverage::{Clocks, WeakOrderings};
use crate::fault::{Stop, Unsupported};
use crate::ids::{ObjectId, SrcId};
use crate::models::panics::{KnownPanic, PANIC, PanicRuntime};
use crate::models::{self, ModelId};
use crate::tables::{SourceLoc, Tables, is_library_file};
use raddle_ir::passes::{BitSet, Escapes};
use raddle_ir::{Constant, DebugLocId, FuncId, GlobalId, Module, TypeId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What a call of a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// Runs its body.
    Defined,
    /// Waits on a condition variable of Rust's library.
    RustWait,
    Model(ModelId),
    /// `llvm.*`, done in place.
    Intrinsic,
    /// A Rust panic.
    Panic,
    Unknown,
}

pub(crate) struct World {
    pub(crate) module: Module,
    pub(crate) options: InterpOptions,
    pub(crate) main: FuncId,
    pub(crate) bodies: Bodies,
    pub(crate) escapes: Escapes<'static>,
    codes: Vec<Option<Rc<Code>>>,
    callees: Vec<Option<Callee>>,
    layouts: FxHashMap<TypeId, Rc<Layout>>,
    /// Values of constants that are the same in every thread, by [`raddle_ir::ConstId`].
    pub(crate) constants: Vec<Option<Rc<[u64]>>>,
    pub(crate) global_bytes: Vec<Option<Rc<[u8]>>>,
    pub(crate) global_addresses: Vec<Option<u64>>,
    pub(crate) constant_objects: FxHashMap<ObjectId, GlobalId>,
    /// Objects whose contents are not yet in the tables.
    pub(crate) untouched: FxHashMap<ObjectId, GlobalId>,
    /// IR types of variables.
    pub(crate) object_types: FxHashMap<ObjectId, TypeId>,
    /// Thread-local variables in order, and their positions there.
    thread_locals: Vec<GlobalId>,
    thread_local_indices: FxHashMap<GlobalId, u32>,
    /// Those that no other thread can see; found out when the first one is used.
    private_thread_locals: Option<BitSet>,
    sources: FxHashMap<(FuncId, Option<DebugLocId>), SrcId>,
    /// Positions in libraries with the positions that they were called from.
    called: FxHashMap<(SrcId, SrcId), SrcId>,
    /// The first weak orderings that threads came to.
    pub(crate) weak: WeakOrderings,
    pub(crate) clocks: Clocks,
    /// May the program change its environment? Found out when it first looks at it.
    pub(crate) changes_environment: Option<bool>,
    /// May threads try to lock a mutex, and see that another one has it?
    pub(crate) has_try_locks: bool,
    /// Does the program have weak compare-exchanges?
    pub(crate) has_weak_exchanges: bool,
    /// Functions that were asked whether they do one.
    pub(super) weak_callees: FxHashMap<FuncId, bool>,
    /// Does a Rust program park threads? Found out when first needed.
    parks: Option<bool>,
    /// What formats text in Rust. Found out when first needed.
    fmt_write: Option<Option<FuncId>>,
    /// What panics need, if the module is one of Rust's.
    pub(crate) panics: PanicRuntime,
    /// Panics that were met, by number.
    pub(crate) known_panics: FxHashMap<u64, KnownPanic>,
}

impl World {
    pub(crate) fn new(mut module: Module, options: InterpOptions, main: FuncId) -> Self {
        models::declare_library_classes(&mut module);
        models::declare_output(&mut module);
        let (functions, globals) = (module.functions.len(), module.globals.len());
        let thread_locals: Vec<GlobalId> = (0..globals)
            .map(GlobalId::from_index)
            .filter(|&id| module.global(id).thread_local)
            .collect();
        let has_try_locks = module.functions.iter().any(|it| is_try_lock(&it.name));
        let has_weak_exchanges = module.has_weak_exchanges();
        let bodies = Bodies::new(&module, &options);
        let panics = PanicRuntime::of(&module);
        Self {
            module,
            panics,
            known_panics: FxHashMap::default(),
            bodies,
            options,
            main,
            escapes: Escapes::new(&does_not_capture),
            codes: vec![None; functions],
            callees: vec![None; functions],
            layouts: FxHashMap::default(),
            constants: Vec::new(),
            global_bytes: vec![None; globals],
            global_addresses: vec![None; globals],
            constant_objects: FxHashMap::default(),
            untouched: FxHashMap::default(),
            object_types: FxHashMap::default(),
            thread_local_indices: thread_locals.iter().copied().zip(0..).collect(),
            thread_locals,
            private_thread_locals: None,
            sources: FxHashMap::default(),
            called: FxHashMap::default(),
            weak: WeakOrderings::default(),
            clocks: Clocks::default(),
            changes_environment: None,
            has_try_locks,
            has_weak_exchanges,
            weak_callees: FxHashMap::default(),
            parks: None,
            fmt_write: None,
        }
    }

    /// The function that formats text in a Rust program.
    pub(crate) fn fmt_write(&mut self) -> Option<FuncId> {
        let module = &self.module;
        *(self.fmt_write).get_or_insert_with(|| models::fmt_write(module))
    }

    /// Does a Rust program park threads itself?
    pub(crate) fn parks(&mut self) -> bool {
        let module = &self.module;
        *self.parks.get_or_insert_with(|| models::parks(module))
    }

    /// rustc names modules after its units of code generation. It describes variables by their bytes alone.
    pub(crate) fn is_from_rustc(&self) -> bool {
        self.module.source_name.contains("-cgu.")
    }

    /// The code of a defined function.
    pub(crate) fn code(&mut self, function: FuncId) -> Result<Rc<Code>, Stop> {
        if let Some(code) = self.cached_code(function) {
            return Ok(Rc::clone(code));
        }
        let code = Rc::new(code::prepare(self, function)?);
        // Preparing may add declarations to the module.
        let functions = self.module.functions.len();
        self.codes.resize(functions, None);
        self.callees.resize(functions, None);
        self.codes[function.index()] = Some(Rc::clone(&code));
        Ok(code)
    }

    pub(crate) fn cached_code(&self, function: FuncId) -> Option<&Rc<Code>> {
        self.codes.get(function.index())?.as_ref()
    }

    pub(crate) fn callee(&mut self, function: FuncId) -> Callee {
        if let Some(Some(callee)) = self.callees.get(function.index()) {
            return *callee;
        }
        let callee = self.classify(function);
        if let Some(slot) = self.callees.get_mut(function.index()) {
            *slot = Some(callee);
        }
        callee
    }

    fn classify(&self, id: FuncId) -> Callee {
        let function = self.module.function(id);
        let model = if function.is_declaration {
            models::lookup_function(&function.name)
        } else {
            models::overriding(&self.module, id, self.bodies.replaced)
        };
        match model {
            Some(model) if !self.knows(model) && function.is_declaration => Callee::Unknown,
            Some(model) if self.knows(model) => Callee::Model(model),
            _ if is_panic(&function.name) => self.classify_panic(id),
            _ if function.is_declaration => match &function.name {
                name if name.starts_with("llvm.") => Callee::Intrinsic,
                _ => Callee::Unknown,
            },
            _ if is_rust_wait(&function.name) => Callee::RustWait,
            _ => Callee::Defined,
        }
    }

    /// What a call of a function is that nobody knows.
    pub(crate) fn unknown_function(&self, function: FuncId) -> Stop {
        let name = self.module.function(function).name.clone();
        Stop::Unsupported(match models::lookup_function(&name) {
            Some(_) => Unsupported::Library {
                function: name,
                why: "it is known in programs of the data model LP64 only".into(),
            },
            None => Unsupported::UnknownFunction { name },
        })
    }

    /// Does a model know the data model of the program?
    fn knows(&self, model: ModelId) -> bool {
        !self.module.types.layout.is_ilp32() || models::is_known_in_ilp32(models::get(model).name)
    }

    /// The standard library's panics are run, but for the step at which the world is told; without it they are a fault at once.
    fn classify_panic(&self, id: FuncId) -> Callee {
        let is_defined = !self.module.function(id).is_declaration;
        match self.panics.entry {
            Some(entry) if entry == id && !self.panics.sets_hook => {
                models::lookup(PANIC).map_or(Callee::Panic, Callee::Model)
            }
            Some(_) if is_defined => Callee::Defined,
            _ => Callee::Panic,
        }
    }

    pub(crate) fn layout(&mut self, ty: TypeId) -> Result<Rc<Layout>, Stop> {
        if let Some(layout) = self.layouts.get(&ty) {
            return Ok(Rc::clone(layout));
        }
        let layout = Rc::new(layout::layout(&self.module.types, ty)?);
        self.layouts.insert(ty, Rc::clone(&layout));
        Ok(layout)
    }

    pub(crate) fn global_size(&self, id: GlobalId) -> u64 {
        let global = self.module.global(id);
        let size = self.module.types.alloc_size(global.ty);
        match global.initializer {
            // What has contents has a size, if not one of 64 bits.
            Some(_) => size.unwrap_or(u64::MAX),
            None => models::size(&global.name).unwrap_or(size.unwrap_or(0)),
        }
    }

    pub(crate) fn thread_local_index(&self, global: GlobalId) -> u32 {
        self.thread_local_indices.get(&global).copied().unwrap_or(0)
    }

    /// The private position of a thread-local variable that no other thread can see.
    pub(crate) fn private_thread_local(&mut self, global: GlobalId) -> Option<usize> {
        let index = *self.thread_local_indices.get(&global)?;
        if self.module.global(global).name.contains(LOCAL_PANIC_COUNT) {
            return Some(THREAD_LOCALS + index as usize);
        }
        let private = match &self.private_thread_locals {
            Some(private) => private,
            None => {
                let private = self.find_private_thread_locals();
                self.private_thread_locals.insert(private)
            }
        };
        private
            .contains(global.index())
            .then_some(THREAD_LOCALS + index as usize)
    }

    /// All functions are looked at: nobody knows which ones will run. In modules where that takes too long, every
    /// thread-local variable counts as shared, which is sound.
    fn find_private_thread_locals(&mut self) -> BitSet {
        const MANY: usize = 4000;
        let defined: Vec<FuncId> = (0..self.module.functions.len())
            .map(FuncId::from_index)
            .filter(|&id| !self.module.function(id).is_declaration)
            .collect();
        if defined.len() > MANY {
            return BitSet::new(self.module.globals.len());
        }
        let mut private =
            self.escapes
                .private_thread_locals(&mut self.module, &mut self.bodies, &defined);
        // Those that are too large are refused as all others are.
        for &global in &self.thread_locals {
            if self.global_size(global) > MAX_BLOCK {
                private.remove(global.index());
            }
        }
        private
    }

    /// The thread-local variable at a private position.
    pub(crate) fn thread_local_at(&self, position: usize) -> Option<GlobalId> {
        let index = position.checked_sub(THREAD_LOCALS)?;
        self.thread_locals.get(index).copied()
    }

    /// The function that an address stands for.
    pub(crate) fn function_at(&self, address: u64) -> Option<FuncId> {
        let index = Tables::function_at(address)? as usize;
        (index < self.module.functions.len()).then(|| FuncId::from_index(index))
    }

    /// The characters of a string literal from an address on.
    pub(crate) fn text_at(&self, tables: &Tables, address: u64) -> Option<Box<[u8]>> {
        let (object, offset) = tables.resolve(address)?;
        let global = self.constant_objects.get(&object)?;
        let initializer = self.module.global(*global).initializer?;
        let Constant::Bytes(_, bytes) = self.module.constant(initializer) else {
            return None;
        };
        let rest = bytes.get(usize::try_from(offset).ok()?..)?;
        let text = rest.split(|&byte| byte == 0).next()?;
        (text.len() < rest.len()).then(|| text.into())
    }

    /// The source name of a function.
    pub(crate) fn function_display_name(&self, id: FuncId) -> Rc<str> {
        let function = self.module.function(id);
        let source_name = function
            .defined_at
            .as_ref()
            .and_then(|at| at.function.as_deref());
        source_name.unwrap_or(&function.name).into()
    }

    /// The position of an instruction.
    pub(crate) fn source(
        &mut self,
        tables: &mut Tables,
        function: FuncId,
        loc: Option<DebugLocId>,
    ) -> SrcId {
        if let Some(&id) = self.sources.get(&(function, loc)) {
            return id;
        }
        let id = match loc {
            Some(loc) => self.debug_source(tables, loc, 0),
            None => {
                let at = self.module.function(function).defined_at.as_ref();
                let (file, line, column) = at.map_or(("".into(), 0, 0), |at| {
                    (at.file.as_ref().into(), at.line, at.column)
                });
                let name = self.function_display_name(function);
                tables.source(SourceLoc {
                    file,
                    line,
                    column,
                    function: Some(name),
                    inlined_at: None,
                })
            }
        };
        self.sources.insert((function, loc), id);
        id
    }

    /// The position `own` in a library, when it was called from `caller`.
    pub(crate) fn called_from(&mut self, tables: &mut Tables, own: SrcId, caller: SrcId) -> SrcId {
        let entry = self.called.entry((own, caller));
        *entry.or_insert_with(|| match tables.source_loc(own).cloned() {
            Some(loc) => tables.source(SourceLoc {
                inlined_at: Some(caller),
                ..loc
            }),
            None => caller,
        })
    }

    /// Does the user's code do the atomic operation that the innermost of these points is at: itself, or by a library function
    /// that does nothing else?
    pub(crate) fn atomics_are_users<'a>(
        &self,
        points: impl Iterator<Item = (&'a Code, u32, u32)>,
    ) -> bool {
        for (code, block, index) in points {
            let mut loc = debug_loc(code, block, index);
            if loc.is_none() {
                let at = self.module.function(code.function).defined_at.as_ref();
                match at {
                    Some(at) if is_atomics_file(&at.file) => continue,
                    _ => return at.is_none_or(|at| !is_library_file(&at.file)),
                }
            }
            while let Some(at) = loc.and_then(|loc| self.module.debug.locs.get(loc.index())) {
                if !is_atomics_file(&at.file) {
                    return !is_library_file(&at.file);
                }
                loc = at.inlined_at;
            }
        }
        false
    }

    fn debug_source(&mut self, tables: &mut Tables, loc: DebugLocId, depth: u32) -> SrcId {
        // A chain that leads back to itself is malformed; real ones are short.
        const MAX_INLINED: u32 = 1000;
        let Some(position) = self.module.debug.locs.get(loc.index()).cloned() else {
            return SrcId::NOWHERE;
        };
        let inlined_at = position
            .inlined_at
            .filter(|_| depth < MAX_INLINED)
            .map(|outer| self.debug_source(tables, outer, depth + 1));
        tables.source(SourceLoc {
            file: position.file.as_ref().into(),
            line: position.line,
            column: position.column,
            function: position.function.as_deref().map(Into::into),
            inlined_at,
        })
    }
}

/// Is it a file of a library that defines atomics, and nothing that would use them?
fn is_atomics_file(file: &str) -> bool {
    is_library_file(file)
        && [
            "/sync/atomic.rs",
            "/sync/atomic/mod.rs",
            "/intrinsics/mod.rs",
            "/bits/atomic_base.h",
            "/atomic",
            "/std_atomic.h",
            "/stdatomic.h",
        ]
        .iter()
        .any(|name| file.ends_with(name))
}

/// How many panics a thread of Rust's has, which no other thread can see.
const LOCAL_PANIC_COUNT: &str = "9panicking11panic_count17LOCAL_PANIC_COUNT";
/// How many all threads have. It is asked only whether it is zero, to save a look at the thread's own: so it may as well never be.
const GLOBAL_PANIC_COUNT: &str = "9panicking11panic_count18GLOBAL_PANIC_COUNT";

/// Is it Rust's count of the panics of all threads?
pub(crate) fn is_panic_count(name: &str) -> bool {
    name.contains(GLOBAL_PANIC_COUNT)
}

/// Is this the entry point of a Rust panic? Old and new mangling both spell paths as length and name, crate first.
pub(crate) fn is_panic(name: &str) -> bool {
    if name == "rust_begin_unwind" || name == "rust_panic" {
        return true;
    }
    if !(name.starts_with("_ZN") || name.starts_with("_R")) {
        return false;
    }
    if name.contains("4core9panicking") {
        return true;
    }
    // Of `std::panicking` only what starts a panic: it also counts and catches them.
    [
        "11begin_panic",
        "19begin_panic_handler",
        "15panic_with_hook",
        "20rust_panic_with_hook",
        "19rust_panic_without_hook",
    ]
    .iter()
    .any(|function| name.contains(&format!("3std9panicking{function}")))
}

/// Functions that do not wait for a mutex for good. The standard library of Rust has one for files.
pub(super) fn is_try_lock(name: &str) -> bool {
    const OF_C: [&str; 5] = [
        "pthread_mutex_trylock",
        "pthread_mutex_timedlock",
        "pthread_mutex_clocklock",
        "mtx_trylock",
        "mtx_timedlock",
    ];
    OF_C.contains(&name) || name.contains("8try_lock") && !name.contains("4File8try_lock")
}
