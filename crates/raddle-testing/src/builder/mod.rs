//! Small programs written without any compiler, for tests and examples.
//!
//! ```
//! use raddle_testing::builder::{Compare, ProgramBuilder};
//! let mut p = ProgramBuilder::new("store buffering");
//! let (x, y) = (p.var("x", 4), p.var("y", 4));
//! p.thread("left", |t| {
//!     t.store(x, 1);
//!     let r = t.load(y);
//!     t.exit(r);
//! });
//! p.thread("right", |t| {
//!     t.store(y, 1);
//!     let r = t.load(x);
//!     t.assert(r.at_most(1));
//! });
//! let program = p.build().program();
//! assert!(!program.op(program.main()).is_terminal());
//! ```
//!
//! Unless [`ProgramBuilder::main`] says otherwise, `main` initialises semaphores and barriers, spawns all threads in order
//! and joins them in order. Local states are canonical: a register that is not read again is no part of them, so a spin
//! loop comes back to the state it started from.

mod code;
mod compile;
mod expr;
mod print;
mod run;

pub use code::{Object, Place, SyncVar, Target, ThreadBuilder, deref};
pub use expr::{BinaryOp, Compare, Expr, Reg};

use code::Code;
use compile::Compiled;
use raddle_program::automaton::Program;
use raddle_program::op::{MutexKind, SyncAction, Value};
use std::rc::Rc;

/// The code of a thread. May be spawned any number of times: each is a thread of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadDef(u32);

impl ThreadDef {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A shared object.
#[derive(Clone, Debug)]
struct ObjectDef {
    name: Rc<str>,
    size: u64,
    init: Option<Rc<[u8]>>,
    /// What `main` does with it first.
    setup: Option<SyncAction>,
}

/// Bytes of a synchronisation object; what they are does not matter, they are all zero.
const SYNC_BYTES: u64 = 64;

/// Collects variables and threads.
pub struct ProgramBuilder {
    name: Rc<str>,
    objects: Vec<ObjectDef>,
    codes: Vec<Code>,
    /// What the default `main` spawns.
    spawned: Vec<ThreadDef>,
    main: Option<Code>,
    joins: bool,
}

impl ProgramBuilder {
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            objects: Vec::new(),
            codes: Vec::new(),
            spawned: Vec::new(),
            main: None,
            joins: true,
        }
    }

    fn add(&mut self, name: &str, size: u64, init: Option<Rc<[u8]>>) -> Object {
        let object = Object(self.objects.len() as u32);
        self.objects.push(ObjectDef {
            name: name.into(),
            size,
            init,
            setup: None,
        });
        object
    }

    /// A variable of 1, 2, 4 or 8 bytes, 0 at first.
    pub fn var(&mut self, name: &str, size: u8) -> Place {
        self.add(name, size.into(), None).at(0, size)
    }

    pub fn var_init(&mut self, name: &str, size: u8, value: Value) -> Place {
        let bytes = &value.to_le_bytes()[..size.into()];
        self.add(name, size.into(), Some(bytes.into())).at(0, size)
    }

    /// Bytes to be accessed in pieces of any size: [`Object::at`].
    pub fn object(&mut self, name: &str, bytes: u64) -> Object {
        self.add(name, bytes, None)
    }

    fn sync(&mut self, name: &str, setup: Option<SyncAction>) -> SyncVar {
        let object = self.add(name, SYNC_BYTES, None);
        self.objects[object.0 as usize].setup = setup;
        SyncVar(object)
    }

    pub fn mutex(&mut self, name: &str) -> SyncVar {
        self.sync(name, None)
    }

    /// A mutex of a kind that `main` initialises.
    pub fn mutex_of(&mut self, name: &str, kind: MutexKind) -> SyncVar {
        self.sync(name, Some(SyncAction::MutexInit { kind }))
    }

    pub fn cond(&mut self, name: &str) -> SyncVar {
        self.sync(name, None)
    }

    pub fn rwlock(&mut self, name: &str) -> SyncVar {
        self.sync(name, None)
    }

    pub fn once(&mut self, name: &str) -> SyncVar {
        self.sync(name, None)
    }

    /// A semaphore that `main` initialises.
    pub fn sem(&mut self, name: &str, value: u32) -> SyncVar {
        self.sync(name, Some(SyncAction::SemInit { value }))
    }

    /// A barrier that `main` initialises.
    pub fn barrier(&mut self, name: &str, count: u32) -> SyncVar {
        self.sync(name, Some(SyncAction::BarrierInit { count }))
    }

    /// A thread that `main` spawns.
    pub fn thread(&mut self, name: &str, body: impl FnOnce(&mut ThreadBuilder)) -> ThreadDef {
        let code = self.child(name, body);
        self.spawned.push(code);
        code
    }

    /// A thread that somebody else spawns, or a custom `main`.
    pub fn child(&mut self, name: &str, body: impl FnOnce(&mut ThreadBuilder)) -> ThreadDef {
        let mut builder = ThreadBuilder::new([].into());
        body(&mut builder);
        let def = ThreadDef(self.codes.len() as u32);
        self.codes.push(builder.finish(name));
        def
    }

    /// Writes `main`, after all threads were given: they can be spawned with [`ThreadBuilder::spawn_all`]. The
    /// initialisation of semaphores and barriers still comes first.
    pub fn main(&mut self, body: impl FnOnce(&mut ThreadBuilder)) {
        let mut builder = ThreadBuilder::new(self.spawned.clone().into());
        self.initialise(&mut builder);
        body(&mut builder);
        self.main = Some(builder.finish("main"));
    }

    /// The default `main` joins nobody.
    pub fn no_joins(&mut self) {
        self.joins = false;
    }

    fn initialise(&self, main: &mut ThreadBuilder) {
        for (index, object) in self.objects.iter().enumerate() {
            if let Some(action) = object.setup {
                main.sync(SyncVar(Object(index as u32)), action);
            }
        }
    }

    #[must_use]
    pub fn build(mut self) -> BuiltProgram {
        if self.main.is_none() {
            let joins = self.joins;
            self.main(|main| {
                main.spawn_all();
                if joins {
                    main.join_all();
                }
            });
        }
        let main = ThreadDef(self.codes.len() as u32);
        self.codes.extend(self.main.take());
        let mut source = Source {
            name: self.name,
            objects: self.objects,
            codes: self.codes,
            main,
        };
        print::number_lines(&mut source);
        let compiled = compile::compile(&source);
        BuiltProgram {
            source: Rc::new(source),
            compiled: Rc::new(compiled),
        }
    }
}

/// A program as written. `main` is the last code.
#[derive(Debug)]
struct Source {
    name: Rc<str>,
    objects: Vec<ObjectDef>,
    codes: Vec<Code>,
    main: ThreadDef,
}

/// A program that can be started any number of times; prints itself as pseudo code, whose lines are the source positions
/// of its operations.
#[derive(Clone)]
pub struct BuiltProgram {
    source: Rc<Source>,
    compiled: Rc<Compiled>,
}

impl BuiltProgram {
    /// Fresh automata.
    ///
    /// # Panics
    /// If there are more variables than ids.
    #[must_use]
    pub fn program(&self) -> Program {
        let (semantics, tables) = run::Interpreter::new(&self.source, &self.compiled);
        Program::new(semantics, tables)
    }

    /// Fresh automata that may keep only so many bytes of snapshots.
    #[must_use]
    pub fn program_with_snapshot_limit(&self, bytes: usize) -> Program {
        let (semantics, tables) = run::Interpreter::new(&self.source, &self.compiled);
        Program::with_snapshot_limit(semantics, tables, bytes)
    }
}

#[cfg(test)]
mod tests;
