//! What synchronisation objects hold, and whom threads wait for there.

use super::Machine;
use crate::sync::{self, SyncStep};
use raddle_program::{LocId, MutexKind, Op, Program, SyncAction, Tables, ThreadId, Value};

impl Machine {
    /// The word of a cell; a mutex that no call initialised has the kind of its static initialiser.
    pub(super) fn cell_word(&mut self, tables: &Tables, cell: LocId, action: SyncAction) -> u64 {
        let word = self.bytes(tables, tables.loc_info(cell).arena, 8);
        self.known_word(tables, cell, action, word)
    }

    /// What `PTHREAD_MUTEX_INITIALIZER` and its relatives leave in the object's bytes.
    /// `written` knows of bytes that have been written but are not in memory.
    fn static_mutex_kind(
        &mut self,
        tables: &Tables,
        cell: LocId,
        written: &dyn Fn(u32) -> Option<u8>,
    ) -> MutexKind {
        let Some(arena) = tables.kind_bytes(cell) else {
            return MutexKind::Normal;
        };
        // The bytes of an object may enter the arena later than its cell.
        let mut kind = self.bytes(tables, arena, MutexKind::SIZE).to_le_bytes();
        for (at, byte) in (arena..).zip(&mut kind[..MutexKind::SIZE.into()]) {
            *byte = written(at).unwrap_or(*byte);
        }
        MutexKind::from_number(u64::from_le_bytes(kind))
    }

    /// The threads that would have to act before `thread`, which waits, can go on: the owner of the mutex, the holders of
    /// the lock, the thread joined. Empty where anybody could help (a condition variable, a semaphore).
    #[must_use]
    pub fn waits_for(&mut self, program: &Program, thread: ThreadId) -> Vec<ThreadId> {
        let Some(state) = self.thread_state(thread) else {
            return Vec::new();
        };
        match *program.op(state) {
            Op::Join { thread } => vec![thread],
            Op::Sync { cell, action } => {
                let word = self.cell_word(program.tables(), cell, action);
                match action {
                    SyncAction::Lock { .. } | SyncAction::TryLock { .. } => {
                        sync::mutex_owner(word).into_iter().collect()
                    }
                    SyncAction::ReadLock
                    | SyncAction::WriteLock
                    | SyncAction::TryReadLock
                    | SyncAction::TryWriteLock => self.lists.lock_holders(word),
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// The word of a synchronisation cell as `action` would find it.
    #[must_use]
    pub fn sync_word(&mut self, program: &Program, cell: LocId, action: SyncAction) -> u64 {
        self.cell_word(program.tables(), cell, action)
    }

    /// Would `thread` have to wait to do `action` on a cell with this word?
    #[must_use]
    pub fn would_wait(&mut self, word: u64, action: SyncAction, thread: ThreadId) -> bool {
        self.lists.step(word, action, thread) == SyncStep::Wait
    }

    /// What `action` of `thread` would do to a cell that holds `word`, which must know its kind: [`Machine::known_word`].
    #[must_use]
    pub fn sync_step(&mut self, word: u64, action: SyncAction, thread: ThreadId) -> SyncStep {
        self.lists.step(word, action, thread)
    }

    /// The word of a cell as `action` finds it, given what is stored there: a mutex that no call initialised has the kind
    /// of its static initialiser.
    #[must_use]
    pub fn known_word(
        &mut self,
        tables: &Tables,
        cell: LocId,
        action: SyncAction,
        stored: u64,
    ) -> u64 {
        self.known_word_after(tables, cell, action, stored, &|_| None)
    }

    /// The same if bytes of the arena have been written as `written` says. Not a word about others that may write there: a mutex
    /// is initialised before it is used.
    #[must_use]
    pub fn known_word_after(
        &mut self,
        tables: &Tables,
        cell: LocId,
        action: SyncAction,
        stored: u64,
        written: &dyn Fn(u32) -> Option<u8>,
    ) -> u64 {
        match action {
            SyncAction::Lock { kind }
            | SyncAction::TryLock { kind }
            | SyncAction::Unlock { kind }
                if !sync::knows_kind(stored) =>
            {
                let kind = kind.unwrap_or_else(|| self.static_mutex_kind(tables, cell, written));
                sync::with_static_kind(stored, kind)
            }
            _ => stored,
        }
    }

    /// What `action` on a cell with this word would return, unless it waits or is misuse.
    #[must_use]
    pub fn outcome(&mut self, word: u64, action: SyncAction, thread: ThreadId) -> Option<Value> {
        match self.lists.step(word, action, thread) {
            SyncStep::Done { value, .. } => Some(value),
            SyncStep::Wait | SyncStep::Misuse(_) => None,
        }
    }
}
