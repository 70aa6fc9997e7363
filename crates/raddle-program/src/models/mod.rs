//! Models of library functions: what a program calls but does not define.
//!
//! A model is a function in direct style over a [`Script`]:
//!
//! ```text
//! fn pthread_cond_wait(cx: &mut Script) -> ModelResult {
//!     let (cond, mutex) = (cx.arg(0), cx.arg(1));
//!     let released = cx.cell(mutex)?;
//!     cx.sync(cond, SyncAction::CondRelease { mutex: released })?;
//!     cx.sync(cond, SyncAction::CondAwait)?;
//!     cx.sync(mutex, SyncAction::LOCK)?;
//!     Ok(Outcome::Return(0))
//! }
//! ```
//!
//! How it resumes: every *step* (`load`, `store`, `sync`, `call`, `spawn`, `print`, …) records what it returned in the
//! frame's log. A step that needs a visible operation or a call leaves the model with an error that `?` passes on; once the
//! result is there, the model is **run again from its start**, and the steps in the log return at once what they returned
//! before. Hence the rules:
//!
//! - A model must be deterministic: it may depend on its arguments, its variables and what steps returned, nothing else.
//! - Everything with an effect is a step. (Reading names, making cells and building strings are not.)
//! - Long loops keep their progress in variables and call [`Script::checkpoint`], which forgets the log: the model then runs
//!   again from its start with the variables kept. Without it a loop of n steps costs n² and the local state grows.
//! - After a checkpoint no local variable of the Rust function may be relied on by the next run: only [`Script::var`].
//!
//! A symbolic engine runs models as well: there each step asks it for what it needs ([`Request`]), and goes on with numbers.
//!
//! Memory that a model touches may be private to the thread, constant or shared: the steps see to it, and only shared
//! memory gives visible operations.
//!
//! Models are listed in one table a file, and those in [`TABLES`]. A name ending in `*` matches every name that starts so,
//! and `*part*` every name with that part; [`Script::function_name`] says which it was. A model that [`Model::overriding`] marks is used even where the module
//! defines the function. [`Model::capturing`] lists the parameters whose pointer outlives the call or is used by another
//! thread; the variables passed there become shared memory. Parameters of synchronisation objects must be listed: cells
//! exist in shared memory only. An argument that is merely returned is not captured.

mod atomics;
mod c11;
mod containers;
mod convert;
mod cxx;
mod environment;
mod errno;
mod events;
mod exceptions;
mod externs;
mod files;
mod format;
mod futex;
mod heap;
mod ilp32;
mod iostream;
mod jumps;
mod keys;
mod linux;
mod lock_all;
mod locks;
mod math;
mod memory;
mod openmp;
pub(crate) mod panics;
mod process;
mod pthread;
mod random;
mod reuse;
mod rust;
mod scan;
mod script;
mod semaphore;
mod sort;
mod sstream;
mod stdexcept;
mod stdio;
mod streams;
mod strings;
mod thread;
mod time;
mod typeinfo;
mod unix;
mod verifier;
mod waiting;

pub(crate) use externs::{contents, is_constant, size};
pub(crate) use ilp32::is_known as is_known_in_ilp32;
pub use locks::{locks_several, may_fail_spuriously};
pub(crate) use process::ENDING_STATIC;
pub use process::runs_functions_at_exit;
pub use rust::is_of_library;
pub(crate) use rust::{declare_output, fmt_write, parks};
use rust::{has_plain_channels, has_plain_output, has_plain_rwlocks};
pub(crate) use rust::{is_first_attempt, is_next_attempt};
pub use script::{Access, Entry, ModelResult, Outcome, Pause, Request, Script};
pub(crate) use stdexcept::declare as declare_library_classes;
pub(crate) use time::CYCLES;
pub(crate) use time::WAITED;
pub use time::looks_at_clocks;

use raddle_ir::{FuncId, Module};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// A model in the table of all models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelId(pub u16);

/// Where a function of Rust's standard library is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    Always,
    /// Where the engine leaves out pure iterations.
    Waiting,
    /// There, if [`has_plain_channels`] holds of the program.
    PlainChannels,
    /// There, if [`has_plain_rwlocks`] holds of the program.
    PlainRwLocks,
    /// There, if [`has_plain_output`] holds of the program.
    PlainOutput,
}

/// What is replaced in a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Replaced {
    waiting: bool,
    plain_channels: bool,
    plain_rwlocks: bool,
    plain_output: bool,
}

impl Replaced {
    pub(crate) fn of(module: &Module, leaves_out_pure_iterations: bool) -> Self {
        Self {
            waiting: leaves_out_pure_iterations,
            plain_channels: leaves_out_pure_iterations && has_plain_channels(module),
            plain_rwlocks: leaves_out_pure_iterations && has_plain_rwlocks(module),
            plain_output: leaves_out_pure_iterations && has_plain_output(module),
        }
    }

    fn includes(self, only: Only) -> bool {
        match only {
            Only::Always => true,
            Only::Waiting => self.waiting,
            Only::PlainChannels => self.plain_channels,
            Only::PlainRwLocks => self.plain_rwlocks,
            Only::PlainOutput => self.plain_output,
        }
    }
}

/// A library function's model.
#[derive(Clone, Copy)]
pub struct Model {
    pub name: &'static str,
    pub run: fn(&mut Script<'_, '_>) -> ModelResult,
    /// Bit i: a pointer passed as argument i may be kept, or be used by another thread.
    pub captures: u64,
    pub overrides: bool,
    /// Does it do nothing but let time pass, and return the same every time?
    pub is_no_op: bool,
    /// Is the memory that it allocates full of zeros?
    pub zeroes: bool,
    /// Of functions of Rust's standard library: what they must be declared as to be replaced. Their names are paths.
    pub signature: &'static str,
    /// Does it do nothing but a compare-exchange, again and again until that succeeds, where the engine leaves out pure
    /// iterations?
    pub waits: bool,
    /// Where it replaces a function of Rust's standard library.
    pub only: Only,
    /// Does it take two slots of what functions return that it calls?
    pub takes_pairs: bool,
}

/// A model that captures no pointer and yields to a definition.
#[must_use]
pub const fn model(name: &'static str, run: fn(&mut Script<'_, '_>) -> ModelResult) -> Model {
    Model {
        name,
        run,
        captures: 0,
        overrides: false,
        is_no_op: false,
        zeroes: false,
        signature: "",
        waits: false,
        only: Only::Always,
        takes_pairs: false,
    }
}

impl Model {
    /// The arguments in `params` may be kept, or be used by another thread.
    #[must_use]
    pub const fn capturing(mut self, params: &[u8]) -> Self {
        let mut index = 0;
        while index < params.len() {
            self.captures |= 1 << params[index];
            index += 1;
        }
        self
    }

    /// Takes two slots of what functions return that it calls.
    #[must_use]
    pub const fn taking_pairs(mut self) -> Self {
        self.takes_pairs = true;
        self
    }

    /// The memory that it allocates is full of zeros.
    #[must_use]
    pub const fn zeroing(mut self) -> Self {
        self.zeroes = true;
        self
    }

    /// The result may point into argument `param`. (For the reader: the escape analysis assumes it of every function that
    /// returns a pointer.)
    #[must_use]
    pub const fn returning(self, _param: u8) -> Self {
        self
    }

    /// Does nothing, and returns the same every time.
    #[must_use]
    pub const fn no_op(mut self) -> Self {
        self.is_no_op = true;
        self
    }

    /// Takes precedence over a definition in the module.
    #[must_use]
    pub const fn overriding(mut self) -> Self {
        self.overrides = true;
        self
    }

    /// Takes the place of a function of Rust's standard library that is declared in this way.
    #[must_use]
    pub const fn replacing(mut self, signature: &'static str) -> Self {
        self.overrides = true;
        self.signature = signature;
        self
    }

    /// Does it take the place of a function of Rust's standard library?
    #[must_use]
    pub const fn is_replacement(&self) -> bool {
        !self.signature.is_empty()
    }

    /// Does nothing but a compare-exchange until that succeeds.
    #[must_use]
    pub const fn waiting(mut self) -> Self {
        self.waits = true;
        self
    }

    /// Replaces a function of Rust's standard library there and nowhere else.
    #[must_use]
    pub const fn only(mut self, only: Only) -> Self {
        self.only = only;
        self
    }

    /// May a pointer passed as argument `param` be kept?
    #[must_use]
    pub fn captures(&self, param: usize) -> bool {
        param < 64 && self.captures >> param & 1 == 1
    }
}

/// All models, file by file. Earlier tables win.
const TABLES: &[&[Model]] = &[
    thread::MODELS,
    pthread::MODELS,
    locks::MODELS,
    lock_all::MODELS,
    waiting::MODELS,
    keys::MODELS,
    semaphore::MODELS,
    c11::MODELS,
    atomics::MODELS,
    errno::MODELS,
    memory::MODELS,
    streams::MODELS,
    strings::MODELS,
    convert::MODELS,
    scan::MODELS,
    sort::MODELS,
    math::MODELS,
    environment::MODELS,
    files::MODELS,
    events::MODELS,
    heap::MODELS,
    jumps::MODELS,
    stdio::MODELS,
    process::MODELS,
    random::MODELS,
    time::MODELS,
    verifier::MODELS,
    cxx::MODELS,
    exceptions::MODELS,
    panics::MODELS,
    sstream::MODELS,
    stdexcept::MODELS,
    stdexcept::CLASS_MODELS,
    typeinfo::MODELS,
    iostream::MODELS,
    containers::MODELS,
    futex::MODELS,
    linux::MODELS,
    unix::MODELS,
    openmp::MODELS,
    openmp::loops::MODELS,
    openmp::ordered::MODELS,
    openmp::tasks::MODELS,
    openmp::dependences::MODELS,
    rust::MODELS,
    rust::OUTPUT_MODELS,
];

struct Registry {
    models: Vec<&'static Model>,
    exact: FxHashMap<&'static str, ModelId>,
    /// Longest prefix first.
    prefixes: Vec<(&'static str, ModelId)>,
    parts: Vec<(&'static str, ModelId)>,
}

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut registry = Registry {
            models: Vec::new(),
            exact: FxHashMap::default(),
            prefixes: Vec::new(),
            parts: Vec::new(),
        };
        for model in TABLES.iter().copied().flatten() {
            let id = ModelId(registry.models.len() as u16);
            registry.models.push(model);
            match model.name.strip_suffix('*') {
                Some(pattern) => match pattern.strip_prefix('*') {
                    Some(part) => registry.parts.push((part, id)),
                    None => registry.prefixes.push((pattern, id)),
                },
                None => {
                    registry.exact.entry(model.name).or_insert(id);
                }
            }
        }
        registry
            .prefixes
            .sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        registry
    })
}

/// The model of the function called `name`.
#[must_use]
pub fn lookup(name: &str) -> Option<ModelId> {
    let registry = registry();
    if let Some(&id) = registry.exact.get(name) {
        return Some(id);
    }
    let prefix = registry
        .prefixes
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix));
    prefix
        .or_else(|| registry.parts.iter().find(|(part, _)| name.contains(part)))
        .map(|&(_, id)| id)
        .or_else(|| {
            let names = rust::names_of(name)?;
            names
                .iter()
                .find_map(|name| registry.exact.get(name.as_str()).copied())
        })
}

/// The model of a function of the module. Those that only the interpreter and other models start are out of its reach:
/// their arguments are trusted.
#[must_use]
pub fn lookup_function(name: &str) -> Option<ModelId> {
    let is_path = name.contains("::") && !stdexcept::is_of_category(name);
    let is_internal = name.starts_with("raddle.") || name == cxx::THREAD || is_path;
    lookup(name).filter(|_| !is_internal)
}

/// The model that is run instead of the body of a defined function. A function of Rust's standard library is replaced only if
/// it is declared as expected: another version of the library may mean something else by the name.
#[must_use]
pub fn overriding(module: &Module, id: FuncId, replaced: Replaced) -> Option<ModelId> {
    let model = lookup_function(&module.function(id).name)?;
    let Model {
        overrides,
        signature,
        only,
        ..
    } = *get(model);
    let applies = overrides && replaced.includes(only);
    (applies && (signature.is_empty() || rust::signature(module, id) == signature)).then_some(model)
}

/// The names of all models, patterns as they are written in the tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().copied().flatten().map(|model| model.name)
}

/// The model behind an id.
#[must_use]
pub fn get(id: ModelId) -> &'static Model {
    registry().models[usize::from(id.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_found_by_its_name() {
        for model in TABLES.iter().copied().flatten() {
            let found = lookup(model.name.trim_matches('*')).expect("registered");
            assert!(
                model.name.ends_with('*') || get(found).name == model.name,
                "{} is listed twice",
                model.name
            );
        }
        assert!(registry().models.len() < usize::from(u16::MAX));
    }
}
