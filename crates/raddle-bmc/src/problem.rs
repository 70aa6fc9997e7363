//! From steps to a formula: events, possible sources of reads, orders of writes, critical sections.

mod questions;
mod steps;

pub(crate) use questions::{Unsat, Unsettled};

use crate::carried::Carrier;
use crate::encode::Open;
use crate::events::{Encoding, ErrorCondition, Refusal, StepIndex};
use crate::facts::Cell;
use crate::order::FixedOrder;
use crate::sums::SectionOrder;
use crate::waits::Deadlock;
use raddle_judge::Checks;
use raddle_order::bits::{Bit, Word};
use raddle_order::memory::{self, Location, Memory, MemoryModel, Source, ThreadIndex};
use raddle_order::proof::{Origin, Proof};
use raddle_order::{EventId, Limits, Lit, OrderConfig, OrderSolver, Outcome, Stopped};
use raddle_program::{FirstBytes, ObjectId, ReleaseSequences};
use rustc_hash::FxHashMap;

/// Conflicts after which a question is put off for the first time.
const FIRST_EFFORT: u64 = 200;
/// What one of many conditions is worth at least: less would be spent on finding out what it is about.
const LEAST_EFFORT: u64 = 500;
/// So few conditions are always asked for at once: refuting them one by one does much of the work several times.
const FEW_CONDITIONS: usize = 4;

/// A read or write as an event.
#[derive(Clone, Copy)]
struct Occurrence {
    step: StepIndex,
    guard: Bit,
    is_write: bool,
}

/// A program up to a bound, as a formula.
pub(crate) struct Problem {
    pub(crate) encoding: Encoding,
    pub(crate) solver: OrderSolver,
    pub(crate) memory: Memory,
    model: MemoryModel,
    /// Which writes continue a release sequence.
    pub(crate) release_sequences: ReleaseSequences,
    pub(crate) fixed: FixedOrder,
    /// By thread.
    pub(crate) lanes: Vec<ThreadIndex>,
    locations: FxHashMap<Cell, Location>,
    /// By event.
    occurrences: FxHashMap<EventId, Occurrence>,
    pub(crate) values: FxHashMap<EventId, Word>,
    pub(crate) carriers: Vec<Carrier>,
    /// Asks for a deadlock, if there can be one.
    deadlock: Option<Deadlock>,
    /// What is assumed to ask for a race, once that was asked.
    pub(crate) race: Option<Lit>,
    /// What reads may read from, and which of two sections comes first: for data races.
    pub(crate) sources: Vec<Source>,
    pub(crate) section_order: SectionOrder,
    /// Steps that stand for accesses which are no steps, and whether they are part of the race that is asked for.
    pub(crate) unseen: Vec<(StepIndex, Lit)>,
    /// By step: the event that stands for it.
    nodes: Vec<Option<EventId>>,
    /// The steps that events belong to.
    step_of: FxHashMap<EventId, StepIndex>,
}

/// A step of an execution that was found.
#[derive(Clone, Debug)]
pub(crate) struct Happened {
    pub(crate) step: StepIndex,
    /// What it accesses.
    pub(crate) cells: Vec<Cell>,
}

/// An execution that was found.
pub(crate) struct Found {
    /// The steps that happen, in an order in which they can.
    pub(crate) steps: Vec<Happened>,
    /// Threads that go wrong.
    pub(crate) wrong: Vec<usize>,
    /// By thread: what is chosen, in program order.
    pub(crate) choices: Vec<Vec<u32>>,
    /// By thread: the objects that it makes, in program order.
    pub(crate) allocations: Vec<Vec<ObjectId>>,
    /// What memory holds that nobody has written.
    pub(crate) first_bytes: FirstBytes,
    /// Steps at which the machine is to do the access that they stand for.
    pub(crate) unseen: Vec<StepIndex>,
}

impl Problem {
    pub(crate) fn new(
        encoding: Encoding,
        model: MemoryModel,
        checks: Checks,
        release_sequences: ReleaseSequences,
        proof: Option<Proof>,
    ) -> Self {
        let mut solver = OrderSolver::new(OrderConfig::default());
        if let Some(proof) = proof {
            solver.prove(proof);
        }
        for _ in 0..encoding.vars.count {
            solver.new_lit();
        }
        for clause in &encoding.vars.clauses {
            solver.clause(clause);
        }
        let mut encoding = encoding;
        encoding.leave_out_open_blocks();
        let mut memory = Memory::new(&mut solver, model);
        let lanes = encoding.threads.iter().map(|_| memory.thread()).collect();
        let mut problem = Self {
            fixed: FixedOrder::new(&encoding),
            nodes: vec![None; encoding.steps.len()],
            encoding,
            solver,
            memory,
            model,
            release_sequences,
            lanes,
            locations: FxHashMap::default(),
            occurrences: FxHashMap::default(),
            values: FxHashMap::default(),
            step_of: FxHashMap::default(),
            carriers: Vec::new(),
            deadlock: None,
            race: None,
            sources: Vec::new(),
            section_order: SectionOrder::default(),
            unseen: Vec::new(),
        };
        problem.add_steps();
        problem.add_threads();
        let sections = problem.add_sections();
        let mut last = FxHashMap::default();
        let asked = problem.solver.new_lit();
        let wakeups = problem.add_wakeups(checks.deadlocks.then_some(asked));
        if checks.deadlocks {
            last = problem.add_last_reads(asked);
        }
        let carriers = problem.add_carriers(&sections, &last);
        problem.add_sources(carriers);
        problem.add_observed();
        problem.add_unwritten_reads();
        problem.add_sums(&sections);
        problem.section_order = sections;
        if model != MemoryModel::Sc {
            problem.add_late_stores(checks.races && !checks.memory);
        }
        if checks.deadlocks {
            problem.deadlock = problem.deadlock(asked, &wakeups, &last);
        }
        for bit in std::mem::take(&mut problem.encoding.required) {
            problem.require(bit);
        }
        problem
    }

    pub(crate) fn lit(&mut self, bit: Bit) -> Lit {
        self.encoding.bits.lit(bit, &mut self.solver)
    }

    pub(crate) fn require(&mut self, bit: Bit) {
        self.encoding.bits.require(bit, &mut self.solver);
    }

    pub(crate) fn location(&mut self, cell: Cell) -> Location {
        if let Some(&location) = self.locations.get(&cell) {
            return location;
        }
        let location = self.locations.len() as Location;
        self.locations.insert(cell, location);
        let event = self.memory.initial(&mut self.solver, location);
        if let Some(first) = self.encoding.firsts.get(&cell) {
            self.values.insert(event, first.clone());
        }
        location
    }

    // ---- sources

    fn add_sources(&mut self, carriers: Vec<Carrier>) {
        let accesses = self.accesses();
        let Self {
            memory,
            solver,
            fixed,
            occurrences,
            encoding,
            ..
        } = self;
        // By location: the writes, to find those that hide others.
        let mut writes: FxHashMap<Cell, Vec<EventId>> = FxHashMap::default();
        for &(event, cell) in &accesses {
            if occurrences[&event].is_write {
                writes.entry(cell).or_default().push(event);
            }
        }
        // By read: the last writes that certainly come before it, one a thread.
        let mut certain: FxHashMap<EventId, Vec<StepIndex>> = FxHashMap::default();
        for (event, cell) in accesses {
            let read = occurrences[&event];
            if read.is_write {
                continue;
            }
            let mut last: Vec<StepIndex> = Vec::new();
            for write in writes.get(&cell).into_iter().flatten() {
                let write = occurrences[write];
                let implied = encoding.bits.bit_and(read.guard, write.guard) == read.guard;
                if implied && write.step != read.step && fixed.before(write.step, read.step) {
                    last.retain(|&other| !fixed.before(other, write.step));
                    last.push(write.step);
                }
            }
            certain.insert(event, last);
        }
        let sources = memory.connect_knowing(
            solver,
            |write, read| {
                // What cells hold in the end is read when everything has happened.
                let Some(hidden) = certain.get(&read) else {
                    return true;
                };
                let Some(write) = occurrences.get(&write) else {
                    // The first contents.
                    return hidden.is_empty();
                };
                let read = occurrences[&read];
                if write.step == read.step {
                    // An update does not read what it writes itself.
                    return false;
                }
                !fixed.before(read.step, write.step)
                    && !hidden.iter().any(|&other| fixed.before(write.step, other))
            },
            |first, second| {
                let (first, second) = (occurrences[&first].step, occurrences[&second].step);
                fixed.before(first, second)
            },
        );
        let values = &self.values;
        let mut flow = memory::flow(&self.solver, &sources, |event| values.get(&event));
        for carrier in &carriers {
            carrier.add_flow(&mut flow);
        }
        self.encoding.bits.require_known(&flow, &mut self.solver);
        self.begin_with_the_order_of_steps(&sources);
        for source in &sources {
            let (written, read) = (&self.values[&source.write], &self.values[&source.read]);
            let bits = &mut self.encoding.bits;
            bits.require_equal_if(source.lit, written, read, &mut self.solver);
        }
        for carrier in &carriers {
            carrier.tie(self);
        }
        self.carriers = carriers;
        self.sources = sources;
    }

    /// Reads that depend on what nobody has written: all their cells are read from the first contents.
    fn add_unwritten_reads(&mut self) {
        let reads = std::mem::take(&mut self.encoding.unwritten);
        if reads.is_empty() {
            return;
        }
        let mut events: FxHashMap<(StepIndex, Cell), EventId> = FxHashMap::default();
        for (event, cell) in self.accesses() {
            let read = self.occurrences[&event];
            if !read.is_write {
                events.insert((read.step, cell), event);
            }
        }
        let firsts = self.sources.iter();
        let firsts = firsts.filter(|source| !self.occurrences.contains_key(&source.write));
        let firsts: FxHashMap<EventId, Lit> =
            firsts.map(|source| (source.read, source.lit)).collect();
        for read in reads {
            let mut guard = read.guard;
            for cell in read.cells {
                // What nobody writes is no event.
                let Some(event) = events.get(&(read.step, cell)) else {
                    continue;
                };
                let bits = &mut self.encoding.bits;
                let from_first = match firsts.get(event) {
                    Some(&lit) => bits.from_lit(lit),
                    None => Bit::FALSE,
                };
                guard = bits.bit_and(guard, from_first);
            }
            if guard != Bit::FALSE {
                self.encoding.errors.push(ErrorCondition {
                    thread: read.thread,
                    guard,
                    fault: read.fault,
                });
            }
        }
    }

    /// What a thread wrote and took back counts as seen only if somebody saw it.
    fn add_observed(&mut self) {
        let observed = std::mem::take(&mut self.encoding.observed);
        if observed.is_empty() {
            return;
        }
        let mut writes: FxHashMap<(StepIndex, Cell), EventId> = FxHashMap::default();
        let mut reads: FxHashMap<Cell, Vec<EventId>> = FxHashMap::default();
        for (event, cell) in self.accesses() {
            let at = self.occurrences[&event];
            if at.is_write {
                writes.insert((at.step, cell), event);
            } else {
                reads.entry(cell).or_default().push(event);
            }
        }
        let mut sources: FxHashMap<EventId, Vec<Source>> = FxHashMap::default();
        for source in &self.sources {
            sources.entry(source.read).or_default().push(*source);
        }
        for round in observed {
            let mut clause = vec![!self.lit(round.seen)];
            let mut is_known = true;
            for (step, cell, differs) in round.writes {
                let write = writes.get(&(step, cell));
                for read in reads.get(&cell).into_iter().flatten() {
                    let reader = self.encoding.steps[self.occurrences[read].step].thread;
                    if reader == round.thread {
                        continue;
                    }
                    // Where reads have no sources, nothing is known of who sees what.
                    is_known &= sources.contains_key(read) && write.is_some();
                    let mut of_read = sources.get(read).into_iter().flatten();
                    if let Some(source) = of_read.find(|source| Some(&source.write) == write) {
                        let sees = self.solver.new_lit();
                        let differs = self.lit(differs);
                        self.solver.clause(&[!sees, source.lit]);
                        self.solver.clause(&[!sees, differs]);
                        clause.push(sees);
                    }
                }
            }
            if is_known {
                self.solver.clause(&clause);
            }
        }
    }

    /// The first execution that the solver looks at is that in which steps happen as they are listed, and reads read what was
    /// written last. Violations that a plain run shows are then found without search.
    fn begin_with_the_order_of_steps(&mut self, sources: &[Source]) {
        for of_read in sources.chunk_by(|a, b| a.read == b.read) {
            let Some(read) = self.occurrences.get(&of_read[0].read) else {
                continue;
            };
            // What a cell holds at first was written before all steps.
            let written = |source: &&Source| self.occurrences.get(&source.write).map(|at| at.step);
            let before = of_read
                .iter()
                .filter(|source| written(source) < Some(read.step));
            if let Some(source) = before.max_by_key(written) {
                self.solver.set_phase(source.lit);
            }
        }
    }

    // ---- questions

    /// Only executions matter that were left open: all others were judged by an earlier formula.
    pub(crate) fn leave_out_what_was_judged(&mut self, open: &Open) {
        match open {
            Open::Everything => {}
            Open::Past(_) => {
                let encoding = &mut self.encoding;
                let goes_on = encoding
                    .cuts
                    .goes_on(&mut encoding.bits, &encoding.refusals);
                self.require(goes_on);
            }
        }
    }

    /// The events that access cells, and the cells, in the order of events.
    pub(crate) fn accesses(&self) -> Vec<(EventId, Cell)> {
        let mut events: Vec<EventId> = self.occurrences.keys().copied().collect();
        events.sort_unstable();
        let mut taken: FxHashMap<StepIndex, usize> = FxHashMap::default();
        let cell_of = |event: EventId| {
            let step = self.occurrences[&event].step;
            let at = taken.entry(step).or_default();
            let cell = self.encoding.steps[step].accesses[*at].cell;
            *at += 1;
            (event, cell)
        };
        events.into_iter().map(cell_of).collect()
    }

    /// The step of an access, its guard, and whether it writes.
    pub(crate) fn occurrence(&self, event: EventId) -> (StepIndex, Bit, bool) {
        let occurrence = self.occurrences[&event];
        (occurrence.step, occurrence.guard, occurrence.is_write)
    }

    /// The event that stands for a step.
    pub(crate) fn node_if_any(&self, step: StepIndex) -> Option<EventId> {
        self.nodes[step]
    }

    /// The step of an event that is an access of some thread.
    pub(crate) fn step_if_access(&self, event: EventId) -> Option<StepIndex> {
        self.occurrences
            .get(&event)
            .map(|occurrence| occurrence.step)
    }

    /// None of `conditions` holds in any execution. `origin` says who says so.
    pub(crate) fn exclude(&mut self, conditions: &[Bit], origin: Origin) {
        self.solver.set_origin(origin);
        for &condition in conditions {
            self.require(!condition);
        }
        self.solver.set_origin(Origin::Given);
    }

    /// Is there an execution in which one of `conditions` holds?
    ///
    /// Those that depend on what a mutex protects may be refuted by looking at that alone. All others are asked for at once, which is
    /// best where one can hold. If that takes long, each is asked for by itself: refutations are often shorter where the solver
    /// need not mind which of them it is about, and each is a fact for the next. No way is always the best one, so they take
    /// turns, with more and more effort.
    fn ask(&mut self, conditions: &[Bit], limits: &Limits<'_>) -> Outcome {
        let mut open = conditions.to_vec();
        open.sort_unstable();
        open.dedup();
        open.retain(|&condition| condition != Bit::FALSE);
        let mut effort = if open.len() > FEW_CONDITIONS || !self.carriers.is_empty() {
            FIRST_EFFORT
        } else {
            u64::MAX
        };
        loop {
            self.leave_out_safe(&mut open, limits, effort);
            if open.is_empty() {
                return Outcome::Unsat;
            }
            let any = self.encoding.bits.any(open.iter().copied());
            match self.ask_one(any, limits, effort) {
                Outcome::Unknown(Stopped::Conflicts)
                    if limits.conflicts.is_none_or(|most| effort < most) => {}
                answer => return answer,
            }
            if open.len() > FEW_CONDITIONS {
                let each = LEAST_EFFORT.max(effort / open.len() as u64);
                let mut put_off = Vec::new();
                for condition in open {
                    match self.ask_one(condition, limits, each) {
                        Outcome::Unsat => self.exclude(&[condition], Origin::Derived),
                        Outcome::Unknown(Stopped::Conflicts) => put_off.push(condition),
                        answer => return answer,
                    }
                }
                open = put_off;
            }
            effort = effort.saturating_mul(4);
        }
    }

    fn ask_one(&mut self, condition: Bit, limits: &Limits<'_>, effort: u64) -> Outcome {
        if condition == Bit::FALSE {
            return Outcome::Unsat;
        }
        let lit = self.lit(condition);
        let conflicts = Some(limits.conflicts.map_or(effort, |limit| limit.min(effort)));
        let limits = Limits {
            conflicts,
            ..*limits
        };
        self.solver.solve(&[lit], &limits)
    }

    /// The execution that answered the last question.
    pub(crate) fn found(&self) -> Found {
        let solver = &self.solver;
        let mut reading = self.encoding.bits.read(|lit| solver.value(lit));
        let mut steps: Vec<Happened> = Vec::new();
        for event in solver.execution(self.memory.global()) {
            let Some(&step) = self.step_of.get(&event) else {
                continue;
            };
            if steps.last().is_none_or(|last| last.step != step) {
                let accesses = &self.encoding.steps[step].accesses;
                let cells = accesses
                    .iter()
                    .filter(|access| reading.bit(access.guard))
                    .map(|access| access.cell)
                    .collect();
                steps.push(Happened { step, cells });
            }
        }
        let wrong = self.encoding.errors.iter();
        let wrong = wrong
            .filter(|bad| reading.bit(bad.guard))
            .map(|bad| bad.thread)
            .collect();
        let threads = &self.encoding.threads;
        let choices = threads
            .iter()
            .map(|thread| {
                let mut chosen = Vec::new();
                for (guard, pieces) in &thread.choices {
                    if reading.bit(*guard) {
                        chosen.extend(pieces.iter().map(|piece| reading.word(piece) as u32));
                    }
                }
                chosen
            })
            .collect();
        let allocations: Vec<Vec<ObjectId>> = threads
            .iter()
            .map(|thread| {
                let made = thread.allocations.iter();
                let made = made.filter(|(guard, _)| reading.bit(*guard));
                made.map(|&(_, object)| object).collect()
            })
            .collect();
        let unseen = self.unseen.iter().filter(|(_, lit)| solver.value(*lit));
        Found {
            first_bytes: self
                .encoding
                .first_bytes(&mut |bit| reading.bit(bit), &allocations),
            steps,
            wrong,
            choices,
            allocations,
            unseen: unseen.map(|&(step, _)| step).collect(),
        }
    }

    /// What cannot be encoded and is met in the execution that answered the last question.
    pub(crate) fn first_refusal(&self) -> &Refusal {
        let solver = &self.solver;
        let mut reading = self.encoding.bits.read(|lit| solver.value(lit));
        let refusals = &self.encoding.refusals;
        let found = refusals.iter().find(|refusal| reading.bit(refusal.guard));
        found.unwrap_or(&refusals[0])
    }
}
