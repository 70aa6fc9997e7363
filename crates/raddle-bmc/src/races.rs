//! Data races: is there an execution with two conflicting accesses that nothing orders?
//!
//! The question is asked after the others, and costs nothing where no two accesses can race. Of two accesses of different
//! threads one comes first in the order of memory; a point of time between them makes sure which. What happens after the
//! first in the sense of happens-before is *reached*: the access itself, what its thread does later, and whoever learns of a
//! reached step. The second must not be reached. Literals of reachability are only ever implied: a solver may reach more than it has to, which
//! makes it no easier to leave the second access unreached. So every edge of happens-before is one clause.
//!
//! Edges are those of `raddle_memory::race`, and lead from earlier to later in the order of memory under every memory model:
//! whatever hands knowledge on comes after the stores before it. So nothing leads back from the second access to the first.

use crate::encode::LIFE;
use crate::events::{Place, Step, StepIndex, StepKind};
use crate::facts::Cell;
use crate::problem::Problem;
use raddle_order::bits::Bit;
use raddle_order::{EventId, Limits, Lit, Outcome};
use raddle_program::{Order, ReleaseSequences};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// An access that may be part of a race.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    event: EventId,
    step: StepIndex,
    thread: usize,
    guard: Bit,
    is_write: bool,
    is_plain: bool,
    in_block: bool,
    /// May it be the first of the two, the second?
    first: bool,
    second: bool,
}

impl Candidate {
    fn conflicts(&self, other: &Self) -> bool {
        self.thread != other.thread
            && (self.is_write || other.is_write)
            && (self.is_plain || other.is_plain)
            && !(self.in_block && other.in_block)
    }
}

/// Happens-before reachability from the first access: by step, literals that are implied where it is reached.
struct Reached {
    /// What the thread knows after the step.
    known: Vec<Lit>,
    /// What whoever acquires the step's write learns.
    published: Vec<Lit>,
    /// The part of that which the step's own thread publishes, not those whose writes an update continues.
    own: Vec<Lit>,
    /// What its thread learns from a relaxed read at the next acquire fence.
    pending: Vec<Lit>,
    /// What the step hands on by its cell, to all and to writers.
    handed: Vec<[Lit; 2]>,
    /// By atomic block.
    blocks: FxHashMap<usize, Lit>,
}

impl Problem {
    /// Is there an execution with a data race?
    pub(crate) fn race(&mut self, limits: &Limits<'_>) -> Outcome {
        if self.race.is_none() {
            self.race = self.race_question();
        }
        match self.race {
            Some(asked) => self.solver.solve(&[asked], limits),
            None => Outcome::Unsat,
        }
    }

    /// What is assumed to ask for a race; none if no two accesses may race.
    fn race_question(&mut self) -> Option<Lit> {
        let candidates = self.candidates();
        if candidates.is_empty() {
            return None;
        }
        let mut starts = vec![false; self.encoding.steps.len()];
        for candidate in candidates.values().flatten() {
            starts[candidate.step] |= candidate.first;
        }
        let asked = self.solver.new_lit();
        let reached = self.reached(&starts);
        self.reach_along_threads(&reached);
        self.reach_along_sections(&reached);
        self.reach_along_signals(&reached, asked);
        self.reach_along_barriers(&reached);
        self.reach_along_reads(&reached);
        if self.release_sequences == ReleaseSequences::SameThread {
            self.reach_along_stores(&reached);
        }
        self.select(&candidates, &reached, asked);
        let open = self.encoding.any_open_block();
        let open = self.lit(open);
        self.solver.clause(&[!asked, !open]);
        Some(asked)
    }

    // ---- candidates

    /// Accesses that may race, by cell: those that another one conflicts with that neither program order, starting and
    /// joining threads nor a common mutex orders.
    fn candidates(&self) -> BTreeMap<Cell, Vec<Candidate>> {
        let mut cells: BTreeMap<Cell, Vec<Candidate>> = BTreeMap::new();
        for (event, cell) in self.accesses() {
            let (step, guard, is_write) = self.occurrence(event);
            let Step {
                thread,
                what,
                order,
                accesses,
                block,
                ..
            } = &self.encoding.steps[step];
            let candidate = Candidate {
                event,
                step,
                thread: *thread,
                guard,
                is_write,
                is_plain: *order == Order::Plain || *what == StepKind::Life && is_write,
                in_block: block.is_some(),
                first: false,
                second: false,
            };
            let is_access = match what {
                StepKind::Load | StepKind::Store | StepKind::Update => !cell.region.is_sync,
                // Freeing is a plain write to the whole object; that an access looks whether the object is alive stands for
                // the access.
                StepKind::Life if cell.offset == LIFE => {
                    is_write || !accesses.iter().any(|access| access.is_write)
                }
                _ => false,
            };
            if is_access {
                cells.entry(cell).or_default().push(candidate);
            }
        }
        for (cell, candidates) in &mut cells {
            self.pair_up(cell, candidates);
            candidates.retain(|candidate| candidate.first || candidate.second);
        }
        cells.retain(|_, candidates| !candidates.is_empty());
        cells
    }

    fn pair_up(&self, cell: &Cell, candidates: &mut [Candidate]) {
        let is_life = cell.region.is_sync;
        for at in 0..candidates.len() {
            for before in 0..at {
                let (a, b) = (candidates[before], candidates[at]);
                if !a.conflicts(&b) || self.is_ordered(a.step, b.step) {
                    continue;
                }
                if !is_life {
                    for index in [before, at] {
                        candidates[index].first = true;
                        candidates[index].second = true;
                    }
                } else if a.is_write != b.is_write {
                    // What comes after the free is no race but a fault.
                    for (index, candidate) in [(before, a), (at, b)] {
                        candidates[index].first |= !candidate.is_write;
                        candidates[index].second |= candidate.is_write;
                    }
                }
            }
        }
    }

    /// Are two steps of different threads ordered by happens-before in every execution?
    fn is_ordered(&self, a: StepIndex, b: StepIndex) -> bool {
        let mutexes = |step: StepIndex| {
            let sections = self.encoding.steps[step].sections.iter();
            sections.map(|&section| self.encoding.sections[section].mutex)
        };
        let locks = |step: StepIndex| self.encoding.steps[step].locks.iter();
        // Writers learn of all that came before them, and all learn of writers.
        let excludes = |&(lock, writes): &(Place, bool)| {
            locks(b).any(|&(other, other_writes)| lock == other && (writes || other_writes))
        };
        self.fixed.before(a, b)
            || self.fixed.before(b, a)
            || locks(a).any(excludes)
            || mutexes(a).any(|mutex| mutexes(b).any(|other| other == mutex))
    }

    // ---- reachability

    /// One literal for each step that may learn something, in each thread's chain; what is reached stays so.
    fn reached(&mut self, starts: &[bool]) -> Reached {
        let steps = self.encoding.steps.len();
        let threads = self.encoding.threads.len();
        let mut reached = Reached {
            known: vec![Lit::FALSE; steps],
            published: vec![Lit::FALSE; steps],
            own: vec![Lit::FALSE; steps],
            pending: vec![Lit::FALSE; steps],
            handed: vec![[Lit::FALSE; 2]; steps],
            blocks: FxHashMap::default(),
        };
        let learns = self.steps_that_learn(starts);
        // By thread: what it knows, what its last release fence publishes, what its relaxed reads learnt.
        let mut known = vec![Lit::FALSE; threads];
        let mut fence = vec![Lit::FALSE; threads];
        let mut pending = vec![Lit::FALSE; threads];
        for (index, learns) in learns.into_iter().enumerate() {
            let step = self.encoding.steps[index].clone();
            let thread = step.thread;
            if learns {
                known[thread] = self.follow(known[thread]);
            }
            reached.known[index] = known[thread];
            match step.what {
                StepKind::Fence { .. } | StepKind::AcquireFence => {
                    let guard = self.lit(step.guard);
                    if step.order.acquires() {
                        self.implies(&[pending[thread], guard], known[thread]);
                    }
                    if step.order.releases() {
                        fence[thread] = self.follow(fence[thread]);
                        self.implies(&[known[thread], guard], fence[thread]);
                    }
                }
                StepKind::Load | StepKind::Store | StepKind::Update => {
                    let relaxes = step.order == Order::Relaxed
                        || step.what == StepKind::Update
                            && !(step.order.acquires() && step.failure.acquires());
                    if step.what != StepKind::Store && relaxes {
                        pending[thread] = self.follow(pending[thread]);
                        reached.pending[index] = pending[thread];
                    }
                    if step.what != StepKind::Load && step.order.is_atomic() {
                        let published = self.solver.new_lit();
                        let source = if step.order.releases() {
                            known[thread]
                        } else {
                            fence[thread]
                        };
                        self.implies(&[source], published);
                        reached.published[index] = published;
                        reached.own[index] = source;
                    }
                }
                StepKind::Sync if !step.accesses.is_empty() => {
                    let handover = step.handover;
                    let conditions = [handover.releases, handover.releases_to_writers];
                    reached.handed[index] = conditions.map(|condition| {
                        let handed = self.solver.new_lit();
                        let condition = self.lit(condition);
                        self.implies(&[known[thread], condition], handed);
                        handed
                    });
                }
                _ => {}
            }
            if let Some(block) = step.block {
                let guard = self.lit(step.guard);
                let solver = &mut self.solver;
                let all = *reached
                    .blocks
                    .entry(block)
                    .or_insert_with(|| solver.new_lit());
                self.implies(&[known[thread], guard], all);
            }
        }
        reached
    }

    /// A literal that follows from another one.
    fn follow(&mut self, before: Lit) -> Lit {
        let reached = self.solver.new_lit();
        self.implies(&[before], reached);
        reached
    }

    fn implies(&mut self, conditions: &[Lit], conclusion: Lit) {
        let mut clause: Vec<Lit> = conditions.iter().map(|&lit| !lit).collect();
        if clause.contains(&Lit::TRUE) || conclusion == Lit::TRUE {
            return;
        }
        clause.push(conclusion);
        self.solver.clause(&clause);
    }

    /// Steps at which a thread may come to know more than before, or where reachability may start.
    fn steps_that_learn(&self, starts: &[bool]) -> Vec<bool> {
        let mut learns = starts.to_vec();
        for (index, step) in self.encoding.steps.iter().enumerate() {
            learns[index] |= match step.what {
                StepKind::Begin | StepKind::Join { .. } | StepKind::Lock => true,
                StepKind::Load => step.order.acquires() || step.block.is_some(),
                StepKind::Update => {
                    step.order.acquires() || step.failure.acquires() || step.block.is_some()
                }
                StepKind::Fence { .. } | StepKind::AcquireFence => step.order.acquires(),
                StepKind::Sync => step.handover.acquires != Bit::FALSE,
                _ => false,
            };
        }
        for waiter in &self.encoding.waiters {
            learns[waiter.leave] = true;
        }
        for arrival in &self.encoding.arrivals {
            learns[arrival.leave] = true;
        }
        learns
    }

    fn reach_along_threads(&mut self, reached: &Reached) {
        for index in 0..self.encoding.steps.len() {
            match self.encoding.steps[index].what.clone() {
                StepKind::Spawn { child } => {
                    if let Some(begin) = self.encoding.threads[child].begin {
                        self.implies(&[reached.known[index]], reached.known[begin]);
                    }
                }
                StepKind::Join { of } => {
                    let guard = self.encoding.steps[index].guard;
                    for (is_it, handle) in of {
                        for thread in 0..self.encoding.threads.len() {
                            let found = &self.encoding.threads[thread];
                            let Some(end) = found.end.filter(|_| found.handle == handle) else {
                                continue;
                            };
                            let finished = found.finished;
                            let joined = self.encoding.bits.all([guard, is_it, finished]);
                            let joined = self.lit(joined);
                            self.implies(&[reached.known[end], joined], reached.known[index]);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Critical sections of one mutex that come one after the other in every execution, each with the literal that both happen: a
    /// thread may be started by one that holds the mutex.
    fn fixed_sections(&mut self) -> Vec<((usize, usize), Lit)> {
        let sections = self.encoding.sections.clone();
        let mut fixed = Vec::new();
        for (at, first) in sections.iter().enumerate() {
            for (other, second) in sections.iter().enumerate() {
                if first.mutex == second.mutex
                    && first.thread != second.thread
                    && self.fixed.before(first.lock, second.lock)
                {
                    let both = self.both_happen(first.lock, second.lock);
                    fixed.push(((at, other), both));
                }
            }
        }
        fixed
    }

    fn reach_along_sections(&mut self, reached: &Reached) {
        let mut orders: Vec<((usize, usize), Lit)> = Vec::new();
        orders.extend(self.section_order.iter().map(|(&pair, &lit)| (pair, lit)));
        orders.extend(self.fixed_sections());
        orders.sort_unstable_by_key(|&(pair, _)| pair);
        for ((first, second), lit) in orders {
            let lock = self.encoding.sections[second].lock;
            for unlock in self.encoding.sections[first].unlocks.clone() {
                let guard = self.encoding.steps[unlock].guard;
                let guard = self.lit(guard);
                self.implies(&[reached.known[unlock], lit, guard], reached.known[lock]);
            }
        }
    }

    /// Whoever wakes up learns of all signals so far, not only of the one that woke it.
    fn reach_along_signals(&mut self, reached: &Reached, asked: Lit) {
        let (waiters, wakers) = (self.encoding.waiters.clone(), self.encoding.wakers.clone());
        for waiter in &waiters {
            for waker in &wakers {
                if waker.condition != waiter.condition || waker.thread == waiter.thread {
                    continue;
                }
                let (from, to) = (waker.step, waiter.leave);
                let woken = self.encoding.steps[to].guard;
                let both = [waker.guard, woken, !waiter.timed_out];
                let both = self.encoding.bits.all(both);
                let both = self.lit(both);
                let (before, after) = (self.solver.new_lit(), self.solver.new_lit());
                self.solver.clause(&[!asked, !both, before, after]);
                self.order_while(from, to, before);
                self.order_while(to, from, after);
                self.implies(&[reached.known[from], before, both], reached.known[to]);
            }
        }
    }

    /// Whoever leaves a barrier learns of all that arrived in the same generation.
    fn reach_along_barriers(&mut self, reached: &Reached) {
        let arrivals = self.encoding.arrivals.clone();
        for from in &arrivals {
            for to in &arrivals {
                if from.barrier != to.barrier || from.arrive == to.arrive {
                    continue;
                }
                let happen = [from.arrive, to.leave].map(|step| self.encoding.steps[step].guard);
                let bits = &mut self.encoding.bits;
                let same = bits.eq(&from.generation, &to.generation);
                let met = bits.all([happen[0], happen[1], same]);
                let met = self.lit(met);
                self.implies(&[reached.known[from.arrive], met], reached.known[to.leave]);
            }
        }
    }

    /// Reads learn what the write that they read from publishes; updates pass it on.
    fn reach_along_reads(&mut self, reached: &Reached) {
        for source in self.sources.clone() {
            let Some(write) = self.step_if_access(source.write) else {
                continue;
            };
            let Some(read) = self.step_if_access(source.read) else {
                continue;
            };
            let (from, to) = (
                self.encoding.steps[write].clone(),
                self.encoding.steps[read].clone(),
            );
            if let (StepKind::Sync, StepKind::Sync) = (&from.what, &to.what) {
                // What a wait at a condition variable does to its mutex is no matter for those who look at the variable.
                if from.accesses[0].cell != to.accesses[0].cell {
                    continue;
                }
                self.reach_along_cell(reached, (write, read), source.lit);
                continue;
            }
            if from.what == StepKind::Life || to.what == StepKind::Life {
                continue;
            }
            if let (Some(first), Some(second)) = (from.block, to.block)
                && first != second
                && let Some(&all) = reached.blocks.get(&first)
            {
                self.implies(&[all, source.lit], reached.known[read]);
            }
            let published = reached.published[write];
            if published == Lit::FALSE || !to.order.is_atomic() {
                continue;
            }
            let learnt = [published, source.lit];
            if to.what != StepKind::Update {
                let target = if to.order.acquires() {
                    reached.known[read]
                } else {
                    reached.pending[read]
                };
                self.implies(&learnt, target);
                continue;
            }
            self.implies(&learnt, reached.published[read]);
            let writes = to.accesses.iter().filter(|access| access.is_write);
            let wrote = self.encoding.bits.any(writes.map(|access| access.guard));
            let wrote = self.lit(wrote);
            for (order, condition) in [(to.order, wrote), (to.failure, !wrote)] {
                let target = if order.acquires() {
                    reached.known[read]
                } else {
                    reached.pending[read]
                };
                self.implies(&[learnt[0], learnt[1], condition], target);
            }
        }
    }

    /// A relaxed store publishes what an earlier write of its thread to the location does.
    fn reach_along_stores(&mut self, reached: &Reached) {
        let mut cells: BTreeMap<Cell, Vec<Candidate>> = BTreeMap::new();
        for candidates in self.memory_writes() {
            cells.entry(candidates.0).or_default().push(candidates.1);
        }
        for writes in cells.values() {
            for later in writes {
                let step = &self.encoding.steps[later.step];
                if step.what != StepKind::Store || step.order != Order::Relaxed {
                    continue;
                }
                for head in writes {
                    let is_earlier = head.thread == later.thread && head.step < later.step;
                    if is_earlier && reached.own[head.step] != Lit::FALSE {
                        let happen = [head, later].map(|write| self.lit(write.guard));
                        let published = [reached.own[head.step], happen[0], happen[1]];
                        self.implies(&published, reached.published[later.step]);
                    }
                }
            }
        }
    }

    /// Writes of memory with their cells. Whether updates write is part of their guards.
    fn memory_writes(&self) -> Vec<(Cell, Candidate)> {
        let mut writes = Vec::new();
        for (event, cell) in self.accesses() {
            let (index, guard, is_write) = self.occurrence(event);
            let step = &self.encoding.steps[index];
            let is_memory = matches!(step.what, StepKind::Store | StepKind::Update);
            if is_write && is_memory && !cell.region.is_sync {
                let write = Candidate {
                    event,
                    step: index,
                    thread: step.thread,
                    guard,
                    is_write,
                    is_plain: step.order == Order::Plain,
                    in_block: step.block.is_some(),
                    first: false,
                    second: false,
                };
                writes.push((cell, write));
            }
        }
        writes
    }

    /// Every operation on a cell passes on what was handed on before it.
    fn reach_along_cell(
        &mut self,
        reached: &Reached,
        (write, read): (StepIndex, StepIndex),
        reads_from: Lit,
    ) {
        let handover = self.encoding.steps[read].handover;
        let conditions = [handover.acquires, handover.acquires_of_readers];
        for (at, condition) in conditions.into_iter().enumerate() {
            let handed = reached.handed[write][at];
            self.implies(&[handed, reads_from], reached.handed[read][at]);
            let condition = self.lit(condition);
            self.implies(&[handed, reads_from, condition], reached.known[read]);
        }
    }

    fn is_weak(&self) -> bool {
        self.memory.global() != self.memory.coherence()
    }

    // ---- the two accesses

    /// If `asked` holds, everything reached starts at a first access, and a second one that conflicts with it is not reached.
    fn select(
        &mut self,
        candidates: &BTreeMap<Cell, Vec<Candidate>>,
        reached: &Reached,
        asked: Lit,
    ) {
        let global = self.memory.global();
        let between = self.solver.new_event(asked);
        // Whether all that are selected on a side write, are plain, are outside of atomic blocks.
        let sides: [[Lit; 3]; 2] = [(); 2].map(|()| [(); 3].map(|()| self.solver.new_lit()));
        for (first, second) in sides[0].into_iter().zip(sides[1]) {
            self.solver.clause(&[!asked, first, second]);
        }
        let threads: Vec<[Lit; 2]> = (0..self.encoding.threads.len())
            .map(|_| [(); 2].map(|()| self.solver.new_lit()))
            .collect();
        for sides in &threads {
            self.solver.clause(&[!sides[0], !sides[1]]);
        }
        let mut cells = vec![!asked];
        for candidates in candidates.values() {
            let cell = self.solver.new_lit();
            cells.push(cell);
            for side in [0, 1] {
                let mut any = vec![!cell];
                for candidate in candidates {
                    if !(if side == 0 {
                        candidate.first
                    } else {
                        candidate.second
                    }) {
                        continue;
                    }
                    let selected = self.solver.new_lit();
                    any.push(selected);
                    let guard = self.lit(candidate.guard);
                    self.implies(&[selected], guard);
                    self.implies(&[selected], threads[candidate.thread][side]);
                    let has = [candidate.is_write, candidate.is_plain, !candidate.in_block];
                    for (lit, has) in sides[side].into_iter().zip(has) {
                        if !has {
                            self.implies(&[selected], !lit);
                        }
                    }
                    let known = reached.known[candidate.step];
                    if side == 0 {
                        self.implies(&[selected], known);
                        self.solver
                            .order_if(global, candidate.event, between, selected);
                        self.access_before(candidate.step, between, selected);
                    } else {
                        self.implies(&[selected], !known);
                        self.solver
                            .order_if(global, between, candidate.event, selected);
                    }
                }
                self.solver.clause(&any);
            }
        }
        self.solver.clause(&cells);
    }

    /// Where looking whether an object is alive stands for an access, the access itself comes before `later`, too. If it is no
    /// step of its own, the machine is told to do it at once.
    fn access_before(&mut self, look: StepIndex, later: EventId, selected: Lit) {
        let steps = &self.encoding.steps;
        if steps[look].what != StepKind::Life {
            return;
        }
        let objects: Vec<_> = steps[look]
            .accesses
            .iter()
            .map(|at| at.cell.region.object)
            .collect();
        let next = (look + 1..steps.len()).find(|&at| steps[at].what != StepKind::Life);
        let access = next.filter(|&at| {
            let step = &steps[at];
            let cells = step.accesses.iter().map(|access| access.cell.region.object);
            let mut touched = cells.chain(step.object.map(|(object, _)| object));
            step.thread == steps[look].thread && touched.any(|object| objects.contains(&object))
        });
        match access.and_then(|access| self.node_if_any(access)) {
            // A delayed store was done before it reaches memory; if that is too late, it is a fault.
            Some(_) if self.is_weak() => {}
            Some(event) => {
                let global = self.memory.global();
                self.solver.order_if(global, event, later, selected);
            }
            None => self.unseen.push((look, selected)),
        }
    }
}
