//! Small programs, what a store-buffer machine does with them, and what the solver says they can do.

#![allow(dead_code, unreachable_pub)] // Each test binary uses its part.

use raddle_order::memory::{Fence, Location, Memory, MemoryModel};
use raddle_order::{EventId, Limits, Lit, OrderConfig, OrderSolver, Outcome};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Read(Location),
    Write(Location, u32),
    /// Reads, then writes the value.
    Exchange(Location, u32),
    Fence,
    StoreStoreFence,
    /// There is one mutex.
    Lock,
    Unlock,
}
pub use Op::{Exchange, Read, Write};

pub type Program = Vec<Vec<Op>>;
/// By thread, the values its reads returned in program order.
pub type Reads = Vec<Vec<u32>>;

pub const MODELS: [MemoryModel; 3] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso];

fn locations(program: &Program) -> BTreeSet<Location> {
    let location = |op: &Op| match *op {
        Read(location) | Write(location, _) | Exchange(location, _) => Some(location),
        Op::Fence | Op::StoreStoreFence | Op::Lock | Op::Unlock => None,
    };
    program.iter().flatten().filter_map(location).collect()
}

/// What the threads can read under the model, and which final memory goes with it.
pub fn machine_outcomes(
    program: &Program,
    model: MemoryModel,
) -> BTreeSet<(Reads, Vec<(Location, u32)>)> {
    let threads = program.len();
    let memory = locations(program)
        .into_iter()
        .map(|location| (location, 0))
        .collect();
    let start = State {
        next: vec![0; threads],
        buffers: vec![VecDeque::new(); threads],
        memory,
        reads: vec![Vec::new(); threads],
        owner: None,
    };
    let mut seen = BTreeSet::new();
    let mut outcomes = BTreeSet::new();
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let successors = state.successors(program, model);
        if successors.is_empty() {
            let ended = |(&next, ops): (&usize, &Vec<Op>)| next == ops.len();
            if !state.next.iter().zip(program).all(ended) {
                // Threads wait for the mutex for good.
                continue;
            }
            outcomes.insert((state.reads, state.memory.into_iter().collect()));
        } else {
            open.extend(successors);
        }
    }
    outcomes
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Buffered {
    Store(Location, u32),
    /// Later stores stay behind it (PSO).
    Barrier,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    next: Vec<usize>,
    buffers: Vec<VecDeque<Buffered>>,
    memory: BTreeMap<Location, u32>,
    reads: Reads,
    owner: Option<usize>,
}

impl State {
    fn successors(&self, program: &Program, model: MemoryModel) -> Vec<State> {
        let mut all = Vec::new();
        for (thread, ops) in program.iter().enumerate() {
            all.extend(self.flushes(thread, model));
            if let Some(&op) = ops.get(self.next[thread]) {
                all.extend(self.step(thread, op, model));
            }
        }
        all
    }

    /// TSO: the oldest store leaves. PSO: the oldest store of some location that no barrier holds back.
    fn flushes(&self, thread: usize, model: MemoryModel) -> Vec<State> {
        let mut all = Vec::new();
        let mut passed = BTreeSet::new();
        for (at, entry) in self.buffers[thread].iter().enumerate() {
            match *entry {
                Buffered::Barrier if at == 0 => {
                    let mut state = self.clone();
                    state.buffers[thread].remove(at);
                    all.push(state);
                    break;
                }
                Buffered::Barrier => break,
                Buffered::Store(location, value) => {
                    if passed.insert(location) {
                        let mut state = self.clone();
                        state.buffers[thread].remove(at);
                        state.memory.insert(location, value);
                        all.push(state);
                    }
                    if model != MemoryModel::Pso {
                        break;
                    }
                }
            }
        }
        all
    }

    fn load(&self, thread: usize, location: Location) -> u32 {
        let own = self.buffers[thread]
            .iter()
            .rev()
            .find_map(|entry| match *entry {
                Buffered::Store(of, value) if of == location => Some(value),
                _ => None,
            });
        own.unwrap_or_else(|| self.memory[&location])
    }

    fn step(&self, thread: usize, op: Op, model: MemoryModel) -> Option<State> {
        let mut state = self.clone();
        state.next[thread] += 1;
        let buffer = &mut state.buffers[thread];
        match op {
            Read(location) => {
                let value = self.load(thread, location);
                state.reads[thread].push(value);
            }
            Write(location, value) if model == MemoryModel::Sc => {
                state.memory.insert(location, value);
            }
            Write(location, value) => buffer.push_back(Buffered::Store(location, value)),
            Exchange(location, value) => {
                if !buffer.is_empty() {
                    return None;
                }
                state.reads[thread].push(self.load(thread, location));
                state.memory.insert(location, value);
            }
            Op::Fence | Op::Lock | Op::Unlock if !buffer.is_empty() => return None,
            Op::Fence => {}
            Op::Lock if self.owner.is_some() => return None,
            Op::Lock => state.owner = Some(thread),
            Op::Unlock => state.owner = None,
            Op::StoreStoreFence if model == MemoryModel::Pso => buffer.push_back(Buffered::Barrier),
            Op::StoreStoreFence => {}
        }
        Some(state)
    }
}

/// A program inside the solver.
pub struct Encoded {
    pub solver: OrderSolver,
    pub memory: Memory,
    /// By thread, its reads in program order.
    pub reads: Vec<Vec<EventId>>,
    /// By thread, the literals its operations happen under.
    pub guards: Vec<Vec<Lit>>,
    /// Of every write, what it writes and where.
    pub writes: BTreeMap<EventId, (Location, u32)>,
    pub sources: Vec<raddle_order::memory::Source>,
    /// By location, a read after everything.
    pub finals: Vec<(Location, EventId)>,
}

pub fn encode(program: &Program, model: MemoryModel, config: OrderConfig) -> Encoded {
    encode_guarded(program, model, config, false)
}

/// With `guarded`, every operation happens only if a literal of its own holds.
pub fn encode_guarded(
    program: &Program,
    model: MemoryModel,
    config: OrderConfig,
    guarded: bool,
) -> Encoded {
    let mut solver = OrderSolver::new(config);
    let mut memory = Memory::new(&mut solver, model);
    let mut writes = BTreeMap::new();
    let locations = locations(program);
    for &location in &locations {
        writes.insert(memory.initial(&mut solver, location), (location, 0));
    }
    let mut reads = vec![Vec::new(); program.len()];
    let mut guards = Vec::new();
    let mut threads = Vec::new();
    let mutex = memory.mutex();
    for (ops, reads) in program.iter().zip(&mut reads) {
        let thread = memory.thread();
        threads.push(thread);
        let mut of_thread = Vec::new();
        let mut section = None;
        for &op in ops {
            let guard = match (op, section) {
                // A section that is entered is left.
                (Op::Unlock, Some((_, guard))) => guard,
                _ if guarded => solver.new_lit(),
                _ => Lit::TRUE,
            };
            of_thread.push(guard);
            match op {
                Read(location) => reads.push(memory.read(&mut solver, thread, location, guard)),
                Write(location, value) => {
                    let write = memory.write(&mut solver, thread, location, guard);
                    writes.insert(write, (location, value));
                }
                Exchange(location, value) => {
                    let (read, write) =
                        memory.read_modify_write(&mut solver, thread, location, guard, guard);
                    reads.push(read);
                    writes.insert(write, (location, value));
                }
                Op::Fence => {
                    memory.fence(&mut solver, thread, Fence::Full, guard);
                }
                Op::StoreStoreFence => {
                    memory.fence(&mut solver, thread, Fence::StoreStore, guard);
                }
                Op::Lock => section = Some((memory.lock(&mut solver, thread, mutex, guard), guard)),
                Op::Unlock => {
                    let (section, _) = section.expect("an unlock follows its lock");
                    memory.unlock(&mut solver, thread, mutex, section, guard);
                }
            }
        }
        guards.push(of_thread);
    }
    let observer = memory.thread();
    for &thread in &threads {
        memory.synchronise(&mut solver, thread, observer, Lit::TRUE);
    }
    let finals = locations
        .iter()
        .map(|&at| (at, memory.read(&mut solver, observer, at, Lit::TRUE)))
        .collect();
    let sources = memory.connect(&mut solver, |_, _| true);
    Encoded {
        solver,
        memory,
        reads,
        guards,
        writes,
        sources,
        finals,
    }
}

impl Encoded {
    fn value_read(&self, read: EventId) -> u32 {
        let mut holding = self
            .sources
            .iter()
            .filter(|source| source.read == read && self.solver.value(source.lit));
        let source = holding.next().expect("a read has a source");
        assert!(holding.next().is_none(), "a read has one source");
        self.writes[&source.write].1
    }

    /// All combinations of sources that have a model.
    pub fn outcomes(&mut self) -> BTreeSet<(Reads, Vec<(Location, u32)>)> {
        self.outcomes_if(&[])
    }

    /// Of these, the ones in which the literals hold.
    pub fn outcomes_if(&mut self, assumptions: &[Lit]) -> BTreeSet<(Reads, Vec<(Location, u32)>)> {
        let mut outcomes = BTreeSet::new();
        while self.solver.solve(assumptions, &Limits::default()) == Outcome::Sat {
            let read = |&read: &EventId| self.solver.happened(read).then(|| self.value_read(read));
            let reads = self
                .reads
                .iter()
                .map(|reads| reads.iter().filter_map(read).collect());
            let finals = self
                .finals
                .iter()
                .map(|&(at, read)| (at, self.value_read(read)));
            outcomes.insert((reads.collect(), finals.collect()));
            let sources = self.sources.iter().map(|source| source.lit);
            let other = sources.map(|lit| lit.with_sign(!self.solver.value(lit)));
            let other: Vec<Lit> = other.chain(assumptions.iter().map(|&lit| !lit)).collect();
            self.solver.clause(&other);
        }
        outcomes
    }

    /// Can the reads return these values (thread by thread), and memory end like this?
    pub fn allows(&mut self, reads: &[&[u32]], finals: &[(Location, u32)]) -> bool {
        let wanted: Vec<(EventId, u32)> = self
            .reads
            .iter()
            .flatten()
            .copied()
            .zip(reads.iter().flat_map(|values| values.iter().copied()))
            .chain(finals.iter().map(|&(at, value)| {
                (
                    self.finals
                        .iter()
                        .find(|of| of.0 == at)
                        .expect("a location of the program")
                        .1,
                    value,
                )
            }))
            .collect();
        let refused: Vec<Lit> = self
            .sources
            .iter()
            .filter(|source| {
                wanted
                    .contains(&(source.read, self.writes[&source.write].1))
                    .eq(&false)
            })
            .filter(|source| wanted.iter().any(|&(read, _)| read == source.read))
            .map(|source| !source.lit)
            .collect();
        match self.solver.solve(&refused, &Limits::default()) {
            Outcome::Sat => true,
            Outcome::Unsat => false,
            Outcome::Unknown(_) => unreachable!("no limit was set"),
        }
    }
}
