//! Events that are done at once.
//!
//! An event of a thread is *undisturbed* if no other thread can do anything that does not commute with it before it is done. It need not be told
//! from events of others then: of all that can come next it alone is explored. Which events are undisturbed is assumed first, and found out while exploring:
//!
//! - What one thread alone accesses, what nobody writes, and what is accessed only by those who hold one certain mutex, is *protected*; accesses to it are
//!   undisturbed. What a thread does while there is no other one that was started and not joined counts for nothing.
//! - What is accessed in other ways, but by one thread at a time, is *passed on* ([`passing`](super::passing)): accesses to it are undisturbed as well.
//! - Mutexes are *tame* that are only locked, unlocked by their owners and given up by these at condition variables. To give one up is undisturbed; only tame ones protect.
//!
//! Starting, joining and detaching a thread are accesses to its handle, allocating and freeing accesses to the object's life, which every access to the object reads.
//!
//! If an access is met that breaks what was assumed, the location is taken for one that is passed on, or for one that is open (and the mutex for a wild one), and everything is explored again. So there is
//! an end, and then nothing was met that breaks what is assumed. docs/engines/states.md has the proof that nothing is missed.

use super::passing::Passing;
use crate::ending;
use raddle_memory::cells::handle;
use raddle_memory::perform::Cell;
use raddle_memory::sync::mutex_owner;
use raddle_memory::{Access, AccessMode, Effect, Machine, Mark, MicroStep, Readiness, attempted};
use raddle_program::{LocId, Op, Program, StateId, SyncAction, ThreadId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Locks that protect something; nearly always one.
type Locks = SmallVec<[LocId; 2]>;

/// How a location has been accessed, while there were several threads.
#[derive(Clone, Debug)]
struct Use {
    by: User,
    is_written: bool,
    /// The mutexes that were held in every access.
    locks: Locks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    One(ThreadId),
    Several,
}

impl Use {
    fn is_protected(&self) -> bool {
        self.by != User::Several || !self.is_written || !self.locks.is_empty()
    }
}

/// See the module's text.
#[derive(Debug, Default)]
pub(super) struct Discipline {
    /// By location: how it was accessed since exploration began.
    uses: Vec<Option<Use>>,
    /// What is not protected, but accessed by one thread at a time.
    passed_on: FxHashSet<LocId>,
    /// What is neither.
    open: FxHashSet<LocId>,
    /// What threads have just accessed of what is passed on.
    passing: Passing,
    /// The mutexes that were met, and those of them that are not tame.
    mutexes: Vec<LocId>,
    wild: FxHashSet<LocId>,
    is_broken: bool,
    /// What the thread of the present event holds.
    held: Locks,
    is_alone: bool,
}

/// How a location is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// As is assumed, whoever else does what.
    Protected,
    /// By one thread at a time.
    PassedOn,
    Open,
}

impl Discipline {
    /// Is what was assumed so? If not, exploration begins again with what is known now.
    pub(super) fn is_kept(&mut self) -> bool {
        self.uses.clear();
        self.passing = Passing::default();
        !std::mem::take(&mut self.is_broken)
    }

    /// Was something met that breaks what was assumed?
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// A thread whose next event is undisturbed.
    pub(super) fn undisturbed(
        &mut self,
        program: &Program,
        machine: &mut Machine,
    ) -> Option<ThreadId> {
        ending::threads(machine).find(|&thread| self.is_undisturbed(program, machine, thread))
    }

    /// Is the thread's next event undisturbed? It is taken note of as one that will be done.
    pub(super) fn is_undisturbed(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        thread: ThreadId,
    ) -> bool {
        let Some(state) = machine.thread_state(thread) else {
            return false;
        };
        let op = *program.op(state);
        let may_be = match op {
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Cas { .. }
            | Op::Fence { .. }
            | Op::Spawn { .. }
            | Op::Join { .. }
            | Op::Detach { .. }
            | Op::Alloc { .. }
            | Op::Free { .. } => true,
            Op::Sync { cell, action } => {
                matches!(action, SyncAction::Unlock { .. }) && owns(program, machine, thread, cell)
            }
            _ => false,
        };
        if !may_be
            || machine.is_in_block(thread)
            || machine.readiness(program, thread) != Readiness::Ready
        {
            return false;
        }
        self.begin_event(program, machine, thread);
        if self.is_alone {
            return true;
        }
        self.is_allowed(program, thread, state, op)
    }

    /// Takes note of an operation that will be done. Is nothing of it open?
    fn is_allowed(&mut self, program: &Program, thread: ThreadId, state: StateId, op: Op) -> bool {
        let mut is_allowed = match op {
            Op::Sync { cell, .. } => !self.wild.contains(&cell),
            _ => true,
        };
        let mut passed_on: SmallVec<[Access; 2]> = SmallVec::new();
        self.each_access(program, thread, state, op, |it, access| {
            match it.meet(program, thread, access) {
                Manner::Protected => {}
                Manner::PassedOn => passed_on.push(access),
                Manner::Open => is_allowed = false,
            }
        });
        if is_allowed {
            for access in passed_on {
                self.passing.access(thread, access);
            }
        }
        is_allowed
    }

    /// What threads have just accessed, to come back to.
    pub(super) fn passing(&self) -> &Passing {
        &self.passing
    }

    pub(super) fn set_passing(&mut self, passing: Passing) {
        self.passing = passing;
    }

    /// The next event of the thread is not undisturbed.
    pub(super) fn decides(&mut self, thread: ThreadId) {
        self.passing.decided(thread);
    }

    /// Looks at what the thread of the next event holds.
    pub(super) fn begin_event(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        thread: ThreadId,
    ) {
        self.is_alone = ending::threads(machine)
            .all(|other| other == thread || !is_there(program, machine, other));
        if self.is_alone {
            self.passing.clear();
        }
        self.held.clear();
        for &mutex in &self.mutexes {
            if !self.wild.contains(&mutex) && owns(program, machine, thread, mutex) {
                self.held.push(mutex);
            }
        }
    }

    /// Takes note of an event that was done, and is not undisturbed.
    pub(super) fn end_event(&mut self, program: &Program, machine: &mut Machine, mark: Mark) {
        for at in mark.steps()..machine.steps().len() {
            let MicroStep { thread, state, .. } = machine.steps()[at];
            let op = *program.op(state);
            if let Op::Sync { cell, action } = op {
                self.meet_mutex(cell, action);
            }
            if self.is_alone {
                continue;
            }
            self.each_access(program, thread, state, op, |it, access| {
                it.meet(program, thread, access);
            });
        }
        self.follow(program, machine, mark);
    }

    /// Takes note of which threads are behind others by what was done since `mark`.
    pub(super) fn follow(&mut self, program: &Program, machine: &mut Machine, mark: Mark) {
        for at in mark.steps()..machine.steps().len() {
            let MicroStep { thread, state, .. } = machine.steps()[at];
            match *program.op(state) {
                Op::Spawn { child, .. } => self.passing.follows(thread, child),
                Op::Join { thread: child } => self.passing.follows(child, thread),
                _ => continue,
            }
            let others = ending::threads(machine).filter(|&it| is_there(program, machine, it));
            self.passing.only(others);
        }
    }

    /// All that an operation may access, but for the words of synchronisation objects.
    fn each_access(
        &mut self,
        program: &Program,
        thread: ThreadId,
        state: StateId,
        op: Op,
        mut f: impl FnMut(&mut Self, Access),
    ) {
        let value = match op {
            Op::Cas { expected, .. } => expected,
            _ => 0,
        };
        let step = MicroStep {
            thread,
            state,
            value,
            effect: Effect::Whole,
        };
        let tables = program.tables();
        if let Op::Spawn { child, .. } = op {
            let loc = tables.thread_info(child).cell;
            let mode = AccessMode::Write;
            f(self, Access { loc, mode });
        }
        attempted(program, &step, |access| {
            let is_word = matches!(op, Op::Sync { .. }) && access.mode.writes();
            if !is_word {
                f(self, access);
            }
        });
    }

    /// An access while there are several threads.
    fn meet(&mut self, program: &Program, thread: ThreadId, access: Access) -> Manner {
        let Access { loc, mode } = access;
        // Locations that share bytes are told apart by nobody here.
        for &other in program.tables().overlaps(loc) {
            let is_used = self.uses.get(other.index()).is_some_and(Option::is_some);
            if is_used || self.open.contains(&other) {
                self.is_broken |= self.open.insert(other);
                self.is_broken |= self.open.insert(loc);
            }
        }
        if self.open.contains(&loc) {
            return Manner::Open;
        }
        if self.uses.len() <= loc.index() {
            self.uses.resize(loc.index() + 1, None);
        }
        let held = &self.held;
        let of_loc = self.uses[loc.index()].get_or_insert_with(|| Use {
            by: User::One(thread),
            is_written: false,
            locks: held.clone(),
        });
        if of_loc.by != User::One(thread) {
            of_loc.by = User::Several;
        }
        of_loc.is_written |= mode.writes();
        of_loc.locks.retain(|lock| held.contains(lock));
        let is_protected = of_loc.is_protected();
        if self.passed_on.contains(&loc) {
            if !self.passing.is_in_the_way(thread, access) {
                return Manner::PassedOn;
            }
        } else if is_protected {
            return Manner::Protected;
        } else if Passing::knows(thread) && is_memory(program, loc) {
            self.passed_on.insert(loc);
            self.is_broken = true;
            return Manner::PassedOn;
        }
        self.open.insert(loc);
        self.is_broken = true;
        Manner::Open
    }

    /// An operation on a synchronisation object.
    fn meet_mutex(&mut self, cell: LocId, action: SyncAction) {
        match action {
            SyncAction::Lock { .. } if !self.mutexes.contains(&cell) => self.mutexes.push(cell),
            _ if self.is_alone => {}
            // Who is not the owner does not give it up.
            SyncAction::Unlock { .. } if !self.held.contains(&cell) => self.is_not_tame(cell),
            SyncAction::CondRelease { mutex } if !self.held.contains(&mutex) => {
                self.is_not_tame(mutex);
            }
            SyncAction::MutexInit { .. }
            | SyncAction::MutexDestroy
            | SyncAction::TryLock { .. } => self.is_not_tame(cell),
            _ => {}
        }
    }

    fn is_not_tame(&mut self, mutex: LocId) {
        self.is_broken |= self.wild.insert(mutex);
    }
}

/// Is it memory, or the life of an object? Whether a thread was started is neither: who joins it waits for it.
fn is_memory(program: &Program, loc: LocId) -> bool {
    let tables = program.tables();
    let info = tables.loc_info(loc);
    !info.is_sync() || tables.object_info(info.object).life == Some(loc)
}

/// Was the thread started, and has nobody joined it?
fn is_there(program: &Program, machine: &mut Machine, thread: ThreadId) -> bool {
    let state = machine.peek_cell(program, Cell::Handle(thread));
    !matches!(state, handle::NOT_SPAWNED | handle::JOINED)
}

fn owns(program: &Program, machine: &mut Machine, thread: ThreadId, mutex: LocId) -> bool {
    let word = machine.peek_cell(program, Cell::Loc(mutex));
    mutex_owner(word) == Some(thread)
}
