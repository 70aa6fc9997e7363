//! A counter behind a mutex: each of some threads locks, adds one and unlocks, a number of times; then the sum is asked.

use raddle_order::bits::{Bits, Word};
use raddle_order::lock_order::Passage;
use raddle_order::memory::{Memory, MemoryModel};
use raddle_order::{EventId, Lit, OrderConfig, OrderSolver};
use std::collections::{BTreeMap, BTreeSet};

const LOCK: u32 = 0;
const COUNTER: u32 = 1;
const WIDTH: usize = 32;

/// How the mutex and the counter are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// The mutex is a cell with read-modify-writes, the counter a location with reads and writes.
    Cell,
    /// The mutex has turns, the counter is a location with reads and writes.
    LockOrder,
    /// The mutex has turns, and the counter one value at each bound between them.
    Carried,
}

struct Program {
    solver: OrderSolver,
    memory: Memory,
    bits: Bits,
    value_of: BTreeMap<EventId, Word>,
    /// Writes that free the mutex, and reads that take it.
    free: BTreeSet<EventId>,
    takes: BTreeSet<EventId>,
}

/// Satisfiable iff the counter can end in another number than `expected`.
#[must_use]
pub(crate) fn encode(
    model: MemoryModel,
    (threads, rounds): (u32, u32),
    expected: u32,
    encoding: Encoding,
    config: OrderConfig,
) -> OrderSolver {
    let mut solver = OrderSolver::new(config);
    let memory = Memory::new(&mut solver, model);
    let mut program = Program {
        solver,
        memory,
        bits: Bits::new(),
        value_of: BTreeMap::new(),
        free: BTreeSet::new(),
        takes: BTreeSet::new(),
    };
    let last = match encoding {
        Encoding::Cell => program.with_cell(threads, rounds),
        Encoding::LockOrder => program.with_turns(threads, rounds),
        Encoding::Carried => program.carried(threads, rounds),
    };
    let Program {
        mut solver,
        mut bits,
        ..
    } = program;
    let equal = bits.eq(&last, &Word::constant(WIDTH, expected.into()));
    bits.require(!equal, &mut solver);
    solver
}

impl Program {
    fn one_more(&mut self) -> (Word, Word) {
        let found = self.bits.fresh(WIDTH, &mut self.solver);
        let left = self.bits.add(&found, &Word::constant(WIDTH, 1));
        (found, left)
    }

    fn read_and_write(&mut self, thread: raddle_order::memory::ThreadIndex) {
        let (found, left) = self.one_more();
        let Self { solver, memory, .. } = self;
        let read = memory.read(solver, thread, COUNTER, Lit::TRUE);
        let write = memory.write(solver, thread, COUNTER, Lit::TRUE);
        self.value_of.insert(read, found);
        self.value_of.insert(write, left);
    }

    fn initial(&mut self) {
        let initial = self.memory.initial(&mut self.solver, COUNTER);
        self.value_of.insert(initial, Word::constant(WIDTH, 0));
    }

    /// Joins all threads, reads the counter, connects everything.
    fn last_read(&mut self, threads: &[raddle_order::memory::ThreadIndex]) -> Word {
        let Self {
            solver,
            memory,
            bits,
            ..
        } = self;
        let main = memory.thread();
        for &thread in threads {
            memory.synchronise(solver, thread, main, Lit::TRUE);
        }
        let last = memory.read(solver, main, COUNTER, Lit::TRUE);
        let value = bits.fresh(WIDTH, solver);
        self.value_of.insert(last, value.clone());
        let (takes, free) = (&self.takes, &self.free);
        let may_read =
            |write: EventId, read: EventId| !takes.contains(&read) || free.contains(&write);
        for source in memory.connect(solver, may_read) {
            let written = self.value_of.get(&source.write);
            if let (Some(written), Some(read)) = (written, self.value_of.get(&source.read)) {
                bits.require_equal_if(source.lit, written, read, solver);
            }
        }
        value
    }

    fn with_cell(&mut self, threads: u32, rounds: u32) -> Word {
        self.free
            .insert(self.memory.initial(&mut self.solver, LOCK));
        self.initial();
        let mut all = Vec::new();
        for _ in 0..threads {
            let thread = self.memory.thread();
            for _ in 0..rounds {
                let Self { solver, memory, .. } = self;
                let (taken, _) =
                    memory.read_modify_write(solver, thread, LOCK, Lit::TRUE, Lit::TRUE);
                self.takes.insert(taken);
                self.read_and_write(thread);
                let Self { solver, memory, .. } = self;
                let given = memory.write_through(solver, thread, LOCK, Lit::TRUE);
                self.free.insert(given);
            }
            all.push(thread);
        }
        self.last_read(&all)
    }

    fn with_turns(&mut self, threads: u32, rounds: u32) -> Word {
        self.initial();
        let mutex = self.memory.mutex();
        let mut all = Vec::new();
        for _ in 0..threads {
            let thread = self.memory.thread();
            for _ in 0..rounds {
                let Self { solver, memory, .. } = self;
                let section = memory.lock(solver, thread, mutex, Lit::TRUE);
                self.read_and_write(thread);
                let Self { solver, memory, .. } = self;
                memory.unlock(solver, thread, mutex, section, Lit::TRUE);
            }
            all.push(thread);
        }
        self.last_read(&all)
    }

    fn carried(&mut self, threads: u32, rounds: u32) -> Word {
        let mutex = self.memory.mutex();
        let mut passages = Vec::new();
        for _ in 0..threads {
            let thread = self.memory.thread();
            for _ in 0..rounds {
                let (found, left) = self.one_more();
                let Self { solver, memory, .. } = self;
                let section = memory.lock(solver, thread, mutex, Lit::TRUE);
                passages.push(Passage {
                    section,
                    found,
                    left,
                });
                memory.unlock(solver, thread, mutex, section, Lit::TRUE);
            }
        }
        let Self {
            solver,
            memory,
            bits,
            ..
        } = self;
        memory.connect(solver, |_, _| true);
        let initial = Word::constant(WIDTH, 0);
        memory
            .lock_order(mutex)
            .carry(solver, bits, &initial, &passages)
    }
}
