//! Memory models said twice: what the store-buffer machine can do with a litmus test is exactly what the axioms allow
//! (`raddle_order::memory`), for every combination of values read and left in memory.

use raddle_memory::{Machine, MemoryModel};
use raddle_order::memory::{self as axioms, Fence, Memory};
use raddle_order::{EventId, Limits, Lit, OrderConfig, OrderSolver};
use raddle_program::{LocId, Op, Order, Program, ThreadId, Value};
use raddle_search::{Check, Checks, EngineKind, SearchOptions, Verdict, check};
use raddle_testing::litmus::{Action, Litmus, Outcome, classics};
use raddle_testing::oracle::for_each_end;
use std::collections::BTreeSet;

const MODELS: [(MemoryModel, axioms::MemoryModel); 3] = [
    (MemoryModel::Sc, axioms::MemoryModel::Sc),
    (MemoryModel::Tso, axioms::MemoryModel::Tso),
    (MemoryModel::Pso, axioms::MemoryModel::Pso),
];

/// Tests in CI; the variable asks for more.
fn cases() -> u64 {
    let asked = std::env::var("RADDLE_PROPTEST_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(600)
}

// ---- the machine

fn loc_of(program: &Program, at: usize) -> Option<LocId> {
    let tables = program.tables();
    (0..tables.loc_count()).map(LocId::from_index).find(|&loc| {
        let info = tables.loc_info(loc);
        info.size == 4 && *tables.object_info(info.object).name == *["x", "y", "z"][at]
    })
}

fn ended_in(litmus: &Litmus, program: &Program, machine: &mut Machine) -> Outcome {
    let reads = (0..litmus.threads.len()).map(|index| {
        let state = machine.thread_state(ThreadId::from_index(index + 1));
        match state.map(|state| *program.op(state)) {
            Some(Op::Exit { value }) => litmus.unpacked(index, value),
            other => panic!("a thread has not finished: {other:?}"),
        }
    });
    let reads = reads.collect();
    // A location that nobody touches is 0.
    let memory = (0..litmus.locations).map(|at| {
        let loc = loc_of(program, at);
        Some(loc.map_or(0, |loc| machine.peek(program.tables(), loc)))
    });
    Outcome {
        reads,
        memory: memory.collect(),
    }
}

fn by_machine(litmus: &Litmus, model: MemoryModel) -> BTreeSet<Outcome> {
    let mut outcomes = BTreeSet::new();
    let mut program = litmus.build().program();
    for_each_end(&mut program, model, |program, machine| {
        outcomes.insert(ended_in(litmus, program, machine));
    });
    outcomes
}

// ---- the axioms

/// Values are below this.
const VALUES: usize = 16;

/// One literal for each value.
type Word = [Lit; VALUES];

fn constant(value: Value) -> Word {
    std::array::from_fn(|of| {
        if of as Value == value {
            Lit::TRUE
        } else {
            Lit::FALSE
        }
    })
}

struct Encoding {
    solver: OrderSolver,
    memory: Memory,
    /// By thread, in program order; the last entry is a reader of the final memory.
    reads: Vec<Vec<(EventId, Word)>>,
    writes: Vec<(EventId, Word)>,
}

impl Encoding {
    fn new(litmus: &Litmus, model: axioms::MemoryModel) -> Self {
        let mut solver = OrderSolver::new(OrderConfig::default());
        let memory = Memory::new(&mut solver, model);
        let mut encoding = Self {
            solver,
            memory,
            reads: Vec::new(),
            writes: Vec::new(),
        };
        for at in 0..litmus.locations {
            let initial = encoding
                .memory
                .initial(&mut encoding.solver, at as axioms::Location);
            encoding.writes.push((initial, constant(0)));
        }
        let mut threads = Vec::new();
        for actions in &litmus.threads {
            threads.push(encoding.thread(actions));
        }
        let reader = encoding.memory.thread();
        for thread in threads {
            let Self { solver, memory, .. } = &mut encoding;
            memory.synchronise(solver, thread, reader, Lit::TRUE);
        }
        encoding.reads.push(Vec::new());
        for at in 0..litmus.locations {
            encoding.load(reader, at as axioms::Location);
        }
        encoding.connect();
        encoding
    }

    fn word(&mut self) -> Word {
        let word: Word = std::array::from_fn(|_| self.solver.new_lit());
        self.solver.clause(&word);
        for first in 0..VALUES {
            for second in 0..first {
                self.solver.clause(&[!word[first], !word[second]]);
            }
        }
        word
    }

    fn load(&mut self, thread: axioms::ThreadIndex, at: axioms::Location) {
        let word = self.word();
        let event = self.memory.read(&mut self.solver, thread, at, Lit::TRUE);
        self.read(event, word);
    }

    fn read(&mut self, event: EventId, word: Word) {
        let reads = self.reads.last_mut().expect("a thread was begun");
        reads.push((event, word));
    }

    fn thread(&mut self, actions: &[Action]) -> axioms::ThreadIndex {
        let thread = self.memory.thread();
        self.reads.push(Vec::new());
        for action in actions {
            let at = action.location().unwrap_or(0) as axioms::Location;
            let word = match *action {
                Action::Load { .. } => {
                    self.load(thread, at);
                    continue;
                }
                Action::Store { value, order, .. } => {
                    self.store(thread, at, value, order);
                    continue;
                }
                Action::Fence(order) => {
                    if let Some(kind) = fence(order) {
                        self.memory.fence(&mut self.solver, thread, kind, Lit::TRUE);
                    }
                    continue;
                }
                Action::Exchange { .. } | Action::Add { .. } | Action::Cas { .. } => self.word(),
            };
            let (stores, written) = match *action {
                Action::Exchange { value, .. } => (Lit::TRUE, constant(value)),
                Action::Add { value, .. } => {
                    let sum = |of: usize| word[(of + VALUES - value as usize) % VALUES];
                    (Lit::TRUE, std::array::from_fn(sum))
                }
                Action::Cas { expected, new, .. } => (word[expected as usize], constant(new)),
                _ => unreachable!("the others were handled"),
            };
            let (read, write) =
                self.memory
                    .read_modify_write(&mut self.solver, thread, at, Lit::TRUE, stores);
            self.read(read, word);
            self.writes.push((write, written));
        }
        thread
    }

    fn store(
        &mut self,
        thread: axioms::ThreadIndex,
        at: axioms::Location,
        value: Value,
        order: Order,
    ) {
        let Self { solver, memory, .. } = self;
        if order == Order::Release {
            memory.fence(solver, thread, Fence::StoreStore, Lit::TRUE);
        }
        let event = if order == Order::SeqCst {
            memory.write_through(solver, thread, at, Lit::TRUE)
        } else {
            memory.write(solver, thread, at, Lit::TRUE)
        };
        self.writes.push((event, constant(value)));
    }

    /// A read returns what the write it reads from wrote.
    fn connect(&mut self) {
        let sources = self.memory.connect(&mut self.solver, |_, _| true);
        for source in sources {
            let written = self.writes.iter().find(|(event, _)| *event == source.write);
            let read = self.reads.iter().flatten();
            let mut read = read.filter(|(event, _)| *event == source.read);
            let (Some((_, written)), Some((_, read))) = (written, read.next()) else {
                panic!("an unknown event");
            };
            for (written, read) in written.iter().zip(read) {
                self.solver.clause(&[!source.lit, !*written, *read]);
            }
        }
    }

    fn value(&self, word: &Word) -> Value {
        let held = word.iter().position(|&lit| self.solver.value(lit));
        held.expect("one of them holds") as Value
    }

    fn outcomes(mut self) -> BTreeSet<Outcome> {
        let mut outcomes = BTreeSet::new();
        while self.solver.solve(&[], &Limits::default()) == raddle_order::Outcome::Sat {
            let values: Vec<Vec<Value>> = self
                .reads
                .iter()
                .map(|reads| reads.iter().map(|(_, word)| self.value(word)).collect())
                .collect();
            let other: Vec<Lit> = self
                .reads
                .iter()
                .flatten()
                .zip(values.iter().flatten())
                .map(|((_, word), &value)| !word[value as usize])
                .collect();
            let (memory, reads) = values.split_last().expect("the reader of the final memory");
            let is_new = outcomes.insert(Outcome {
                reads: reads.to_vec(),
                memory: memory.iter().copied().map(Some).collect(),
            });
            assert!(is_new, "an outcome was excluded and came again");
            self.solver.clause(&other);
        }
        outcomes
    }
}

fn fence(order: Order) -> Option<Fence> {
    match order {
        Order::SeqCst => Some(Fence::Full),
        Order::Release | Order::AcqRel => Some(Fence::StoreStore),
        Order::Plain | Order::Relaxed | Order::Acquire => None,
    }
}

// ---- the comparison

#[test]
fn classic_tests_have_their_well_known_answers() {
    for classic in classics() {
        let name = &classic.litmus.name;
        for ((model, axiomatic), allowed) in MODELS.into_iter().zip(classic.allowed) {
            let found = by_machine(&classic.litmus, model);
            let can = found.iter().any(|found| classic.outcome.admits(found));
            assert_eq!(can, allowed, "{name} under {}", model.name());
            assert_eq!(
                Encoding::new(&classic.litmus, axiomatic).outcomes(),
                found,
                "{name} under {}, by the axioms",
                model.name()
            );
        }
    }
}

/// Engines, with the assertion that forbids the outcome: violated if and only if the outcome is allowed. The driver has
/// replayed each violation.
#[test]
fn engines_decide_classic_tests() {
    for classic in classics() {
        for ((model, _), allowed) in MODELS.into_iter().zip(classic.allowed) {
            for engine in [EngineKind::Naive, EngineKind::Graph] {
                // Four threads have too many interleavings.
                if engine == EngineKind::Naive && classic.litmus.threads.len() > 3 {
                    continue;
                }
                let mut program = classic.litmus.forbidding(&classic.outcome).program();
                let options = SearchOptions {
                    memory: model,
                    ..SearchOptions::default()
                };
                let outcome = check(&mut program, engine, options).expect("no mistake");
                assert_eq!(
                    matches!(outcome.verdict, Verdict::Violation(_)),
                    allowed,
                    "{} under {}, engine {}: {:?}",
                    classic.litmus.name,
                    model.name(),
                    engine.name(),
                    outcome.verdict
                );
            }
            assert!(Checks::default().contains(Check::Assert));
        }
    }
}

#[test]
fn the_axioms_allow_what_the_machine_does() {
    let mut weak = [0; 3];
    for seed in 0..cases() {
        let litmus = Litmus::generate(seed);
        let mut last: Option<BTreeSet<Outcome>> = None;
        for (index, (model, axiomatic)) in MODELS.into_iter().enumerate() {
            let machine = by_machine(&litmus, model);
            let axioms = Encoding::new(&litmus, axiomatic).outcomes();
            assert_eq!(
                axioms,
                machine,
                "{litmus:?} under {}, left: by the axioms",
                model.name()
            );
            if let Some(stronger) = &last {
                assert!(stronger.is_subset(&machine));
                weak[index] += u32::from(stronger.len() < machine.len());
            }
            last = Some(machine);
        }
    }
    // The family is worth its name: many tests tell the models apart.
    assert!(weak[1] > 50 && weak[2] > 50, "{weak:?}");
}
