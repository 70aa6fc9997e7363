//! The statements of one thread, and the builder that writes them.

use super::ThreadDef;
use super::expr::{Compare, Expr, Reg};
use raddle_program::fault::Stop;
use raddle_program::op::{Order, RmwKind, SyncAction};
use std::rc::Rc;

/// A shared object of the program: an index into the builder's list, which is the order of its globals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Object(pub(super) u32);

impl Object {
    /// The bytes `offset..offset + size`.
    #[must_use]
    pub fn at(self, offset: u64, size: u8) -> Place {
        Place {
            object: self,
            offset,
            size,
        }
    }

    /// The bytes at an offset that a register expression computes.
    #[must_use]
    pub fn index(self, offset: impl Into<Expr>, size: u8) -> Target {
        Target::Indexed {
            object: self,
            offset: offset.into(),
            size,
        }
    }
}

/// A shared variable: some bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub(super) object: Object,
    pub(super) offset: u64,
    pub(super) size: u8,
}

/// What an access goes to.
#[derive(Clone, Debug)]
pub enum Target {
    Place(Place),
    Indexed {
        object: Object,
        offset: Expr,
        size: u8,
    },
    Pointer {
        address: Expr,
        size: u8,
    },
}

impl From<Place> for Target {
    fn from(place: Place) -> Self {
        Self::Place(place)
    }
}

/// The `size` bytes that a pointer in registers points to.
pub fn deref(address: impl Into<Expr>, size: u8) -> Target {
    Target::Pointer {
        address: address.into(),
        size,
    }
}

/// A synchronisation object: a mutex, condition variable, semaphore, barrier, reader-writer lock or once flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyncVar(pub(super) Object);

/// A synchronisation operation whose parameters are not resolved yet.
#[derive(Clone, Debug)]
pub(super) enum SyncStep {
    Fixed(SyncAction),
    CondRelease(SyncVar),
    BarrierAwait(Expr),
}

/// A visible operation before its operands are known.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Load {
        from: Target,
        order: Order,
    },
    Store {
        to: Target,
        value: Expr,
        order: Order,
    },
    Rmw {
        on: Target,
        kind: RmwKind,
        operand: Expr,
        order: Order,
    },
    Cas {
        on: Target,
        expected: Expr,
        new: Expr,
        success: Order,
        failure: Order,
    },
    Fence(Order),
    Sync {
        on: SyncVar,
        step: SyncStep,
    },
    Spawn {
        code: ThreadDef,
        argument: Expr,
    },
    Join(Expr),
    Detach(Expr),
    Alloc {
        size: u64,
    },
    Free(Expr),
    Choice(u32),
    AtomicBegin,
    AtomicEnd,
}

#[derive(Clone, Debug)]
pub(super) enum StmtKind {
    Set(Reg, Expr),
    Do {
        dest: Option<Reg>,
        action: Action,
    },
    If {
        cond: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Loop(Vec<Stmt>),
    Break,
    Assume(Expr),
    Assert {
        cond: Expr,
        text: Rc<str>,
    },
    Exit(Expr),
    ExitProcess(i32),
    Stop(Stop),
}

#[derive(Clone, Debug)]
pub(super) struct Stmt {
    /// Line in the printed program; given when the program is built.
    pub(super) line: u32,
    pub(super) kind: StmtKind,
}

/// The code of one thread.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) name: Rc<str>,
    pub(super) registers: u32,
    pub(super) body: Vec<Stmt>,
}

/// The thread's spawns so far: numbers its children.
pub(super) const SPAWNS: Reg = Reg(0);
/// The thread's allocations so far: numbers its objects.
pub(super) const ALLOCATIONS: Reg = Reg(1);
/// What the spawning thread passed.
pub(super) const ARGUMENT: Reg = Reg(2);
const FIRST_FREE: u32 = 3;

/// Writes the code of one thread, one visible operation at a time.
///
/// Accesses without an explicit order are sequentially consistent atomics; `*_plain` are ordinary variables'.
pub struct ThreadBuilder {
    registers: u32,
    /// The innermost open block is the last.
    blocks: Vec<Vec<Stmt>>,
    /// Threads that `main` spawned by [`Self::spawn_all`].
    spawned: Vec<Reg>,
    atomic: bool,
    /// For `spawn_all`.
    threads: Rc<[ThreadDef]>,
}

impl ThreadBuilder {
    pub(super) fn new(threads: Rc<[ThreadDef]>) -> Self {
        Self {
            registers: FIRST_FREE,
            blocks: vec![Vec::new()],
            spawned: Vec::new(),
            atomic: false,
            threads,
        }
    }

    pub(super) fn finish(mut self, name: &str) -> Code {
        Code {
            name: name.into(),
            registers: self.registers,
            body: self.blocks.pop().unwrap_or_default(),
        }
    }

    fn push(&mut self, kind: StmtKind) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(Stmt { line: 0, kind });
        }
    }

    fn block(&mut self, body: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        self.blocks.push(Vec::new());
        body(self);
        self.blocks.pop().unwrap_or_default()
    }

    fn act(&mut self, action: Action) {
        self.push(StmtKind::Do { dest: None, action });
    }

    fn returning(&mut self, action: Action) -> Reg {
        let dest = self.reg();
        self.push(StmtKind::Do {
            dest: Some(dest),
            action,
        });
        dest
    }

    // ---- registers and control

    /// A fresh register.
    pub fn reg(&mut self) -> Reg {
        let reg = Reg(self.registers);
        self.registers += 1;
        reg
    }

    /// A fresh register with a value.
    pub fn val(&mut self, value: impl Into<Expr>) -> Reg {
        let reg = self.reg();
        self.set(reg, value);
        reg
    }

    pub fn set(&mut self, reg: Reg, value: impl Into<Expr>) {
        self.push(StmtKind::Set(reg, value.into()));
    }

    /// What the thread was spawned with ([`Self::spawn_with`]).
    #[must_use]
    pub fn argument(&self) -> Reg {
        ARGUMENT
    }

    pub fn if_(&mut self, cond: impl Into<Expr>, then: impl FnOnce(&mut Self)) {
        self.if_else(cond, then, |_| {});
    }

    pub fn if_else(
        &mut self,
        cond: impl Into<Expr>,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let then = self.block(then);
        let otherwise = self.block(otherwise);
        self.push(StmtKind::If {
            cond: cond.into(),
            then,
            otherwise,
        });
    }

    /// Repeats until a [`Self::break_`].
    pub fn loop_(&mut self, body: impl FnOnce(&mut Self)) {
        let body = self.block(body);
        self.push(StmtKind::Loop(body));
    }

    /// Leaves the innermost loop.
    pub fn break_(&mut self) {
        self.push(StmtKind::Break);
    }

    /// `cond` writes the code that computes the condition, such as a load, and returns it.
    pub fn while_(&mut self, cond: impl FnOnce(&mut Self) -> Expr, body: impl FnOnce(&mut Self)) {
        self.loop_(|t| {
            let cond = cond(t);
            t.if_(cond.is(0), Self::break_);
            body(t);
        });
    }

    pub fn assume(&mut self, cond: impl Into<Expr>) {
        self.push(StmtKind::Assume(cond.into()));
    }

    pub fn assert(&mut self, cond: impl Into<Expr>) {
        let cond = cond.into();
        let text = cond.to_string().into();
        self.push(StmtKind::Assert { cond, text });
    }

    pub fn exit(&mut self, value: impl Into<Expr>) {
        self.push(StmtKind::Exit(value.into()));
    }

    pub fn exit_process(&mut self, code: i32) {
        self.push(StmtKind::ExitProcess(code));
    }

    /// The thread cannot go on from here: a fault, a limit or something unsupported.
    pub fn stop(&mut self, stop: Stop) {
        self.push(StmtKind::Stop(stop));
    }

    // ---- memory

    pub fn load(&mut self, from: impl Into<Target>) -> Reg {
        self.load_order(from, Order::SeqCst)
    }

    pub fn load_plain(&mut self, from: impl Into<Target>) -> Reg {
        self.load_order(from, Order::Plain)
    }

    pub fn load_order(&mut self, from: impl Into<Target>, order: Order) -> Reg {
        let from = from.into();
        self.returning(Action::Load { from, order })
    }

    pub fn store(&mut self, to: impl Into<Target>, value: impl Into<Expr>) {
        self.store_order(to, value, Order::SeqCst);
    }

    pub fn store_plain(&mut self, to: impl Into<Target>, value: impl Into<Expr>) {
        self.store_order(to, value, Order::Plain);
    }

    pub fn store_order(&mut self, to: impl Into<Target>, value: impl Into<Expr>, order: Order) {
        let (to, value) = (to.into(), value.into());
        self.act(Action::Store { to, value, order });
    }

    pub fn fetch_add(&mut self, on: impl Into<Target>, operand: impl Into<Expr>) -> Reg {
        self.rmw(on, RmwKind::Add, operand, Order::SeqCst)
    }

    pub fn exchange(&mut self, on: impl Into<Target>, operand: impl Into<Expr>) -> Reg {
        self.rmw(on, RmwKind::Exchange, operand, Order::SeqCst)
    }

    pub fn rmw(
        &mut self,
        on: impl Into<Target>,
        kind: RmwKind,
        operand: impl Into<Expr>,
        order: Order,
    ) -> Reg {
        let (on, operand) = (on.into(), operand.into());
        self.returning(Action::Rmw {
            on,
            kind,
            operand,
            order,
        })
    }

    /// The old value, and whether it was the expected one.
    pub fn cas(
        &mut self,
        on: impl Into<Target>,
        expected: impl Into<Expr>,
        new: impl Into<Expr>,
    ) -> (Reg, Reg) {
        self.cas_order(on, expected, new, Order::SeqCst, Order::SeqCst)
    }

    pub fn cas_order(
        &mut self,
        on: impl Into<Target>,
        expected: impl Into<Expr>,
        new: impl Into<Expr>,
        success: Order,
        failure: Order,
    ) -> (Reg, Reg) {
        let (on, expected, new) = (on.into(), expected.into(), new.into());
        let old = self.returning(Action::Cas {
            on,
            expected: expected.clone(),
            new,
            success,
            failure,
        });
        let succeeded = self.val(old.is(expected));
        (old, succeeded)
    }

    pub fn fence(&mut self, order: Order) {
        self.act(Action::Fence(order));
    }

    /// A fresh heap object of `size` bytes; its address.
    pub fn alloc(&mut self, size: u64) -> Reg {
        self.returning(Action::Alloc { size })
    }

    /// Freeing a null pointer is no operation.
    pub fn free(&mut self, address: impl Into<Expr>) {
        self.act(Action::Free(address.into()));
    }

    /// Any of `0..count`.
    pub fn choice(&mut self, count: u32) -> Reg {
        self.returning(Action::Choice(count))
    }

    /// No other thread runs between the operations of `body`. Flattened if nested.
    pub fn atomic(&mut self, body: impl FnOnce(&mut Self)) {
        if self.atomic {
            return body(self);
        }
        self.act(Action::AtomicBegin);
        self.atomic = true;
        body(self);
        self.atomic = false;
        self.act(Action::AtomicEnd);
    }

    // ---- threads

    /// The handle of the new thread.
    pub fn spawn(&mut self, code: ThreadDef) -> Reg {
        self.spawn_with(code, 0)
    }

    pub fn spawn_with(&mut self, code: ThreadDef, argument: impl Into<Expr>) -> Reg {
        let argument = argument.into();
        self.returning(Action::Spawn { code, argument })
    }

    /// The thread's exit value.
    pub fn join(&mut self, handle: impl Into<Expr>) -> Reg {
        self.returning(Action::Join(handle.into()))
    }

    pub fn detach(&mut self, handle: impl Into<Expr>) {
        self.act(Action::Detach(handle.into()));
    }

    /// Spawns every thread made with `ProgramBuilder::thread`, in order. For `main`.
    pub fn spawn_all(&mut self) {
        for code in self.threads.clone().iter() {
            let handle = self.spawn(*code);
            self.spawned.push(handle);
        }
    }

    /// Joins what [`Self::spawn_all`] spawned, in order.
    pub fn join_all(&mut self) {
        for handle in std::mem::take(&mut self.spawned) {
            self.join(handle);
        }
    }

    // ---- synchronisation

    fn sync_step(&mut self, on: SyncVar, step: SyncStep) -> Reg {
        self.returning(Action::Sync { on, step })
    }

    /// Any operation on a synchronisation object; what it returned.
    pub fn sync(&mut self, on: SyncVar, action: SyncAction) -> Reg {
        self.sync_step(on, SyncStep::Fixed(action))
    }

    fn sync_void(&mut self, on: SyncVar, action: SyncAction) {
        self.act(Action::Sync {
            on,
            step: SyncStep::Fixed(action),
        });
    }

    pub fn lock(&mut self, mutex: SyncVar) {
        self.sync_void(mutex, SyncAction::LOCK);
    }

    /// 1 if it got the mutex, else 0.
    pub fn try_lock(&mut self, mutex: SyncVar) -> Reg {
        let result = self.sync(mutex, SyncAction::TRY_LOCK);
        self.val(result.is(0))
    }

    pub fn unlock(&mut self, mutex: SyncVar) {
        self.sync_void(mutex, SyncAction::UNLOCK);
    }

    /// `pthread_cond_wait`: three operations.
    pub fn wait(&mut self, cond: SyncVar, mutex: SyncVar) {
        self.act(Action::Sync {
            on: cond,
            step: SyncStep::CondRelease(mutex),
        });
        self.sync_void(cond, SyncAction::CondAwait);
        self.lock(mutex);
    }

    pub fn signal(&mut self, cond: SyncVar) {
        self.sync_void(cond, SyncAction::Signal);
    }

    pub fn broadcast(&mut self, cond: SyncVar) {
        self.sync_void(cond, SyncAction::Broadcast);
    }

    pub fn sem_wait(&mut self, sem: SyncVar) {
        self.sync_void(sem, SyncAction::SemWait);
    }

    pub fn sem_post(&mut self, sem: SyncVar) {
        self.sync_void(sem, SyncAction::SemPost);
    }

    /// `pthread_barrier_wait`; 1 for the thread that arrived last, else 0.
    pub fn barrier(&mut self, barrier: SyncVar) -> Reg {
        let arrival = self.sync(barrier, SyncAction::BarrierArrive);
        let last = self.val(arrival & 1);
        self.if_(last.is(0), |t| {
            t.act(Action::Sync {
                on: barrier,
                step: SyncStep::BarrierAwait(arrival.shifted_right(1)),
            });
        });
        last
    }

    pub fn read_lock(&mut self, lock: SyncVar) {
        self.sync_void(lock, SyncAction::ReadLock);
    }

    pub fn write_lock(&mut self, lock: SyncVar) {
        self.sync_void(lock, SyncAction::WriteLock);
    }

    pub fn rw_unlock(&mut self, lock: SyncVar) {
        self.sync_void(lock, SyncAction::RwUnlock);
    }

    /// Runs `body` if no thread has yet.
    pub fn once(&mut self, once: SyncVar, body: impl FnOnce(&mut Self)) {
        let begun = self.sync(once, SyncAction::OnceBegin);
        self.if_(begun.is(0), |t| {
            body(t);
            t.sync_void(once, SyncAction::OnceEnd);
        });
    }
}
