//! `mcr`: maximal causality reduction under sequential consistency.
//!
//! "Stateless Model Checking Concurrent Programs with Maximal Causality Reduction" (Huang, PLDI 2015). An execution is run
//! from a seed, its maximal causal model is built ([`model`]), and a solver finds in the model new seeds ([`solve`]): the
//! interleavings in which some read gets something else than in any known execution. Races are found in the model, too.
//! See `docs/engines/mcr.md` for invariants, proofs and deviations.
//!
//! Executions are run one after the other, models are solved by any number of workers: in rounds of fixed size, with what was
//! known when the round began, so that nothing depends on how many workers there are.

mod encode;
mod model;
mod observe;
mod paths;
mod plain;
mod races;
mod solve;

use crate::driver::Reductions;
use crate::ending;
use crate::listener::Listener;
use crate::purity::{Attempt, is_private_store};
use crate::replay::{self, Schedule, ScheduleStep};
use crate::verdict::Causality;
use crate::watch::Watch;
use model::{Builder, Model, closes};
use observe::Observer;
use paths::Paths;
use raddle_memory::cells::life::ALIVE;
use raddle_memory::{Machine, Mark, MemoryModel, RaceInfo, Readiness, StepEnd};
use raddle_order::Limits;
use raddle_program::tables::NO_SLOT;
use raddle_program::{LocId, Op, Program, SrcId, StateId, ThreadId};
use rustc_hash::FxHashSet;
use solve::{Context, Seed, SeedKind, Solved, Step, solve};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// So many models are solved before the seeds found are run. The larger, the more seeds are found twice.
const ROUND: usize = 16;

/// What the engine is asked to do.
#[derive(Clone, Default)]
pub(crate) struct Setup {
    pub(crate) reductions: Reductions,
    /// Look for races in models.
    pub(crate) races: bool,
    /// Workers.
    pub(crate) jobs: usize,
    pub(crate) watch: Arc<Watch>,
}

/// The state of the exploration.
pub(crate) struct Search {
    setup: Setup,
    machine: Machine,
    start: Mark,
    paths: Paths,
    /// The paths as they were when the last models went to be solved. Empty if they have been made anew since.
    known: Paths,
    /// Models that are still to be solved.
    open: VecDeque<Model>,
    known_races: FxHashSet<(SrcId, SrcId)>,
    /// All executions, to build their models anew.
    schedules: Vec<Box<[Step]>>,
    /// For each location known when the paths were made, whether it shares bytes with others.
    mixed: Vec<bool>,
    statistics: Causality,
}

/// The events of the execution that is run, as far as they are needed afterwards.
#[derive(Debug, Default)]
struct Run {
    /// For each event, the number of micro-steps after it, whether it began inside a block, whether it was a fault and
    /// where a block had to wait.
    events: Vec<(usize, bool, bool, Option<StateId>)>,
    /// For each thread, the states it has left since it last changed something.
    pure_run: Vec<Vec<StateId>>,
    /// Threads that completed a pure iteration and go no further.
    stopped: Vec<ThreadId>,
    steps: Vec<Step>,
}

/// What becomes of the next step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// It does not complete a pure iteration.
    No,
    /// It would: the thread waits for something else.
    Await,
    /// It would, but is done all the same, and the thread blocked behind it: where awaits are off, and where the location
    /// cannot be awaited.
    ForGood,
}

/// Can a thread wait for a location to change? Not if it may be freed meanwhile either: a model says for one read alone what it
/// must not get.
fn can_await(program: &Program, attempt: Attempt) -> bool {
    let info = program.tables().loc_info(attempt.loc);
    attempt.can_wait(program) && !info.mixed && info.life == NO_SLOT
}

impl Search {
    pub(crate) fn new(program: &Program, setup: Setup) -> Self {
        let machine = Machine::new(program);
        Self {
            setup,
            start: machine.mark(),
            machine,
            paths: Paths::default(),
            known: Paths::default(),
            open: VecDeque::new(),
            known_races: FxHashSet::default(),
            schedules: Vec::new(),
            mixed: Vec::new(),
            statistics: Causality::default(),
        }
    }

    pub(crate) fn statistics(&self) -> Causality {
        self.statistics
    }

    /// Algorithm 1: explores until there are no seeds left.
    pub(crate) fn run(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<()> {
        self.execute(program, listener, &[])?;
        let mut seeds: Vec<Seed> = Vec::new();
        loop {
            // As long as there are models enough, they are solved while the seeds of those before them are run.
            if self.open.len() < ROUND {
                self.run_seeds(program, listener, std::mem::take(&mut seeds))?;
            }
            if self.open.is_empty() {
                return ControlFlow::Continue(());
            }
            let models: Vec<Model> = self.open.drain(..self.open.len().min(ROUND)).collect();
            let results = self.solve_all(program, listener, &models, std::mem::take(&mut seeds))?;
            let stopped = results.iter().any(|solved| solved.stopped);
            self.confirm_races(program, listener, &results)?;
            for solved in results {
                self.statistics.queries += solved.queries;
                // Late reads first: what they change shows soon.
                seeds.extend(solved.seeds.into_iter().rev());
            }
            // Predicted faults before all: they end most searches.
            seeds.sort_by_key(|seed| !matches!(seed.kind, SeedKind::Read { is_fault: true, .. }));
            if stopped {
                listener.paused()?;
            }
        }
    }

    /// Runs seeds and what follows from them. True if all models had to be built anew.
    fn run_seeds(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        seeds: Vec<Seed>,
    ) -> ControlFlow<(), bool> {
        for seed in seeds {
            if self.is_new(&seed) && self.execute(program, listener, &seed.steps)? {
                // The seeds are about paths that are made otherwise now; they will be found again.
                return ControlFlow::Continue(true);
            }
            debug_assert!(
                !self.is_new(&seed),
                "a seed is part of its execution: {seed:?}"
            );
        }
        ControlFlow::Continue(false)
    }

    /// Does no known execution contain the seed?
    fn is_new(&self, seed: &Seed) -> bool {
        match &seed.kind {
            SeedKind::Read {
                before,
                class,
                parts,
                ..
            } => match self.paths.find_child(*before, *class) {
                Some(node) => !self.paths.is_covered(node, parts),
                None => true,
            },
            SeedKind::Stuck(vector) => !self.paths.is_known(vector),
        }
    }

    // ---- solving

    /// Solves some models with all workers, of whom this one runs the seeds first. The results are in the order of the
    /// models; there are none if all models had to be built anew meanwhile.
    ///
    /// What the seeds lead to is not known to the solvers, whenever they are run: else the results would depend on it.
    fn solve_all(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        models: &[Model],
        seeds: Vec<Seed>,
    ) -> ControlFlow<(), Vec<Solved>> {
        let mut known = std::mem::take(&mut self.known);
        known.follow(&mut self.paths);
        let known_races = std::mem::take(&mut self.known_races);
        let watch = Arc::clone(&self.setup.watch);
        let cancelled = AtomicBool::new(false);
        let context = Context {
            paths: &known,
            limits: Limits {
                propagations: None,
                conflicts: None,
                deadline: watch.deadline(),
                interrupt: Some(watch.flag()),
                needless: None,
            },
            known_races: &known_races,
            cancelled: &cancelled,
        };
        let batch = Batch::new(models, &context);
        let rebuilt = std::thread::scope(|scope| {
            for _ in 1..self.setup.jobs.min(models.len()) {
                scope.spawn(|| batch.work());
            }
            let rebuilt = self.run_seeds(program, listener, seeds);
            match rebuilt {
                ControlFlow::Continue(false) => batch.work(),
                _ => cancelled.store(true, Ordering::Relaxed),
            }
            rebuilt
        });
        let results = batch.results();
        self.known_races = known_races;
        if rebuilt? {
            return ControlFlow::Continue(Vec::new());
        }
        self.known = known;
        ControlFlow::Continue(results)
    }

    /// Predicted races are reported once they have been run.
    fn confirm_races(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        results: &[Solved],
    ) -> ControlFlow<()> {
        for race in results.iter().flat_map(|solved| &solved.races) {
            let schedule = schedule(&race.steps);
            let Ok(replayed) = replay::replay(program, &schedule) else {
                debug_assert!(race.may_wait, "what is predicted can be run");
                continue;
            };
            let mut is_new = false;
            for RaceInfo { first, second } in &replayed.races {
                let at = (first.at.min(second.at), first.at.max(second.at));
                is_new |= self.known_races.insert(at);
            }
            if is_new {
                self.statistics.predicted_races += 1;
                listener.predicted(program, &schedule)?;
            }
        }
        ControlFlow::Continue(())
    }

    // ---- executions

    /// Runs a seed and goes on from it till the end; builds the model. True if all models had to be built anew.
    fn execute(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        seed: &[Step],
    ) -> ControlFlow<(), bool> {
        self.machine.undo_to(self.start);
        listener.undone(0);
        let mut run = Run::default();
        for (thread, choices) in seed {
            let thread = ThreadId(*thread);
            let can_go_on = self.can_go_on(program, &run, thread);
            debug_assert!(
                can_go_on,
                "a seed can be run: {thread:?} {:?} {:?} {:?} after {run:?} of {seed:?}",
                self.machine
                    .thread_state(thread)
                    .map(|state| *program.op(state)),
                self.machine.readiness(program, thread),
                self.closing(program, &run, thread),
            );
            if can_go_on {
                self.step(program, listener, &mut run, thread, choices)?;
            }
        }
        let mut last = ThreadId::MAIN;
        while let Some(thread) = self.choose(program, &run, last) {
            self.step(program, listener, &mut run, thread, &[])?;
            last = thread;
        }
        listener.ended(program, &mut self.machine)?;
        self.schedules.push(std::mem::take(&mut run.steps).into());
        let mut rebuilt = self.found_shared_bytes(program);
        if rebuilt {
            self.rebuild(program);
        } else {
            self.learn(program, &run);
        }
        // Looking for other classes may have found something, too.
        while self.found_shared_bytes(program) {
            self.rebuild(program);
            rebuilt = true;
        }
        ControlFlow::Continue(rebuilt)
    }

    /// Is there a location that is now known to share bytes with others, and was not before? Reads of it are then reads of
    /// its bytes, in paths and models.
    fn found_shared_bytes(&mut self, program: &Program) -> bool {
        let tables = program.tables();
        let before = self.mixed.len();
        if before == tables.loc_count() {
            return false;
        }
        let is_mixed = |index: usize| tables.loc_info(LocId::from_index(index)).mixed;
        let changed = (0..before).any(|index| is_mixed(index) != self.mixed[index]);
        self.mixed = (0..tables.loc_count()).map(is_mixed).collect();
        changed
    }

    /// Makes all paths and models anew.
    fn rebuild(&mut self, program: &mut Program) {
        self.paths = Paths::default();
        self.known = Paths::default();
        self.open.clear();
        let schedules = std::mem::take(&mut self.schedules);
        for steps in &schedules {
            self.machine.undo_to(self.start);
            let mut run = Run::default();
            for (thread, choices) in steps {
                self.advance(program, &mut run, ThreadId(*thread), choices);
            }
            self.learn(program, &run);
        }
        self.schedules = schedules;
    }

    /// A thread that can go on: the one that did last, if it can.
    fn choose(&mut self, program: &mut Program, run: &Run, last: ThreadId) -> Option<ThreadId> {
        let count = self.machine.thread_count();
        (0..count)
            .map(|offset| ThreadId::from_index((last.index() + offset) % count))
            .find(|&thread| self.can_go_on(program, run, thread))
    }

    fn can_go_on(&mut self, program: &mut Program, run: &Run, thread: ThreadId) -> bool {
        self.machine.readiness(program, thread) == Readiness::Ready
            && !run.stopped.contains(&thread)
            && self.closing(program, run, thread) != Closing::Await
    }

    /// Would the next step of the thread, which is ready, only complete a pure iteration?
    fn closing(&mut self, program: &mut Program, run: &Run, thread: ThreadId) -> Closing {
        let Reductions { purity, awaits, .. } = self.setup.reductions;
        if !purity || self.machine.is_in_block(thread) {
            return Closing::No;
        }
        let Some(state) = self.machine.thread_state(thread) else {
            return Closing::No;
        };
        let Some(attempt) = Attempt::of(program, state) else {
            return Closing::No;
        };
        let loc = attempt.loc;
        let tables = program.tables();
        let info = tables.loc_info(loc);
        let life = tables.object_info(info.object).life;
        if info.life != NO_SLOT && life.is_some_and(|life| self.machine.peek(tables, life) != ALIVE)
        {
            // A fault does not wait.
            return Closing::No;
        }
        let held = self.machine.peek(tables, loc);
        let pure_run = run
            .pure_run
            .get(thread.index())
            .map_or(&[][..], Vec::as_slice);
        if !closes(program, &mut self.machine, (thread, state), held, pure_run) {
            Closing::No
        } else if awaits && can_await(program, attempt) {
            Closing::Await
        } else {
            Closing::ForGood
        }
    }

    fn step(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        run: &mut Run,
        thread: ThreadId,
        choices: &[u32],
    ) -> ControlFlow<()> {
        let end = self.advance(program, run, thread, choices);
        listener.stepped(program, &mut self.machine, thread, end)
    }

    /// Does the next event of a thread.
    fn advance(
        &mut self,
        program: &mut Program,
        run: &mut Run,
        thread: ThreadId,
        choices: &[u32],
    ) -> StepEnd {
        if self.closing(program, run, thread) == Closing::ForGood {
            run.stopped.push(thread);
        }
        let inside = self.machine.is_in_block(thread);
        let first = self.machine.steps().len();
        let mark = self.machine.mark();
        let end = self.machine.step(program, thread, choices);
        if run.pure_run.len() <= thread.index() {
            run.pure_run.resize(thread.index() + 1, Vec::new());
        }
        let pure_run = &mut run.pure_run[thread.index()];
        let state = self.machine.steps()[first].state;
        if observe::event_is_pure(program, &self.machine, first, inside)
            && (is_private_store(program, state) || self.machine.is_pure_since(mark))
        {
            pure_run.push(state);
        } else {
            pure_run.clear();
        }
        run.events.push((
            self.machine.steps().len(),
            inside,
            matches!(end, StepEnd::Fault(_)),
            self.machine.suspended(),
        ));
        let chosen = self.machine.chosen().iter().map(|chosen| chosen.taken);
        run.steps.push((thread.0, chosen.collect()));
        end
    }

    /// Takes note of the execution in the machine, and puts its model on the list.
    fn learn(&mut self, program: &mut Program, run: &Run) {
        let mut observer = Observer::default();
        let mut events = Vec::with_capacity(run.events.len());
        let mut start = 0;
        for &(end, inside, faulted, suspended) in &run.events {
            let details = (inside, faulted, suspended);
            let mut event = observer.event(program, &mut self.machine, start..end, details);
            if !faulted && self.is_last(program, start..end) {
                let thread = event.thread;
                observer.finished(&mut event, thread);
            }
            events.push(event);
            start = end;
        }
        let mut pending = Vec::new();
        for thread in ending::threads(&self.machine) {
            let waits = match self.machine.readiness(program, thread) {
                Readiness::Waiting => true,
                Readiness::Ready => !run.stopped.contains(&thread),
                Readiness::Ended(_) | Readiness::NotStarted => false,
            };
            if let Some(state) = self.machine.thread_state(thread).filter(|_| waits) {
                pending.push(observer.pending(program, &mut self.machine, thread, state));
            }
        }
        let races = self.setup.races && program.has_plain_accesses();
        let model = Builder {
            program,
            machine: &mut self.machine,
            paths: &mut self.paths,
            awaits: self.setup.reductions.purity && self.setup.reductions.awaits,
            races,
        }
        .build(&events, &pending);
        if self.paths.insert(Arc::clone(&model.vector)) {
            self.open.push_back(model);
        } else {
            self.statistics.duplicates += 1;
        }
    }

    /// Does the thread finish with these micro-steps?
    fn is_last(&self, program: &mut Program, steps: std::ops::Range<usize>) -> bool {
        let last = self.machine.steps()[steps.end - 1];
        let next = program.after(last.state, last.value);
        matches!(program.op(next), Op::Exit { .. })
    }
}

/// Models that are solved by several workers.
struct Batch<'a> {
    models: &'a [Model],
    context: &'a Context<'a>,
    /// The first that nobody has begun with.
    next: AtomicUsize,
    results: Vec<Mutex<Solved>>,
}

impl<'a> Batch<'a> {
    fn new(models: &'a [Model], context: &'a Context<'a>) -> Self {
        Self {
            models,
            context,
            next: AtomicUsize::new(0),
            results: models.iter().map(|_| Mutex::default()).collect(),
        }
    }

    /// Solves models until there are none left.
    fn work(&self) {
        while !self.context.cancelled.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(model) = self.models.get(index) else {
                return;
            };
            let solved = solve(model, self.context);
            *self.results[index]
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = solved;
        }
    }

    fn results(self) -> Vec<Solved> {
        self.results
            .into_iter()
            .map(|solved| solved.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }
}

fn schedule(steps: &[Step]) -> Schedule {
    Schedule {
        memory: MemoryModel::Sc,
        steps: steps
            .iter()
            .map(|(thread, choices)| ScheduleStep::Run {
                thread: ThreadId(*thread),
                choices: choices.clone(),
            })
            .collect(),
    }
}
