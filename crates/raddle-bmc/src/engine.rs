//! Encode, ask, raise the bound: from a module to an answer.

use crate::encode::{CutPlaces, EncodeOptions, Encoder, LATE, LONG, RETRY, Shapes};
use crate::events::Encoding;
use crate::facts::Facts;
use crate::guide::Guide;
use crate::problem::{Found, Problem};
use raddle_order::bits::Bit;
use raddle_order::memory::MemoryModel as Model;
use raddle_order::{Limits, Outcome as Answer, Stopped};
use raddle_program::interp::view::View;
use raddle_program::{Program, SourceLoc, SrcId, Stop, ThreadId, WeakOrderings};
use raddle_search::driver::{Conflicts, InternalError, SearchOptions};
use raddle_search::{
    Beyond, Bound, Coverage, EngineKind, MemoryModel, Outcome, Phase, Reason, Statistics, Trace,
    Verdict, Watch, guided,
};
use std::sync::Arc;
use std::time::Instant;

/// How to check.
#[derive(Clone, Copy, Debug)]
pub struct BmcOptions {
    pub memory: MemoryModel,
    /// A bound that the user asked for; otherwise it is raised as long as it does not suffice.
    pub unroll: Option<u32>,
    pub exit_with_main: bool,
    /// `abort` ends the process in silence.
    pub silent_abort: bool,
    /// A second opinion: give up if a formula becomes large, or if a question takes so many conflicts.
    pub effort: Option<Conflicts>,
}

/// The last bound that is tried by itself.
const LAST_BOUND: u32 = 64;
/// Facts stop growing long before.
const MOST_ENCODINGS: u32 = 200;

/// Checks a module. `view` and `program` must be of the same module; `program` is for replaying.
pub fn check(
    mut view: View,
    program: &mut Program,
    options: BmcOptions,
    search: SearchOptions,
) -> Result<Outcome, InternalError> {
    let mut run = Run {
        started: Instant::now(),
        options,
        watch: search.watch(),
        search,
        statistics: Statistics {
            threads: 1,
            ..Statistics::default()
        },
        weak: WeakOrderings::default(),
        shapes: Shapes::default(),
    };
    run.watch.set_engine(EngineKind::Bmc);
    let verdict = run.verdict(&mut view, program)?;
    run.statistics.elapsed = run.started.elapsed();
    run.statistics.peak_memory_bytes = raddle_search::peak_memory_bytes();
    Ok(Outcome {
        engine: EngineKind::Bmc,
        memory: options.memory,
        verdict,
        statistics: run.statistics,
        coverage: Coverage {
            weak: run.weak,
            ..Coverage::default()
        },
    })
}

struct Run {
    started: Instant,
    options: BmcOptions,
    search: SearchOptions,
    watch: Arc<Watch>,
    statistics: Statistics,
    weak: WeakOrderings,
    shapes: Shapes,
}

/// What one bound says.
enum Round {
    Done(Verdict),
    /// Nothing to report, but some execution goes beyond the bound: it does so at one of these places.
    Exceeded(CutPlaces),
}

impl Run {
    fn verdict(
        &mut self,
        view: &mut View,
        program: &mut Program,
    ) -> Result<Verdict, InternalError> {
        if let Some(bound) = self.options.unroll {
            return Ok(match self.round(view, program, bound, None)? {
                Round::Done(verdict) => verdict,
                Round::Exceeded(_) => Verdict::Verified(Bound::Unrolled { iterations: bound }),
            });
        }
        let mut bound = 1;
        let mut last_cuts = None;
        loop {
            match self.round(view, program, bound, last_cuts.as_ref())? {
                Round::Done(verdict) => return Ok(verdict),
                Round::Exceeded(_) if bound >= LAST_BOUND => {
                    return Ok(Verdict::Inconclusive(Reason::Unrolled { bound }));
                }
                Round::Exceeded(places) => last_cuts = Some(places),
            }
            bound *= 2;
        }
    }

    fn limits(&self) -> Limits<'_> {
        Limits {
            conflicts: self.options.effort,
            deadline: self.watch.deadline(),
            interrupt: Some(self.watch.flag()),
        }
    }

    /// The answer of a solver that was stopped.
    fn stopped(&self, why: Stopped) -> Verdict {
        match why {
            Stopped::Conflicts => Verdict::Inconclusive(Reason::Effort),
            Stopped::Deadline | Stopped::Interrupted => self.late(),
        }
    }

    /// The answer where the time is over, or there is another reason to stop.
    fn late(&self) -> Verdict {
        let is_over = self.watch.is_over();
        debug_assert!(is_over, "only the watch says when to stop");
        Verdict::Inconclusive(self.watch.reason().unwrap_or(Reason::Effort))
    }

    /// Encodes until nothing new is found out.
    fn encode(
        &mut self,
        view: &mut View,
        bound: u32,
        last_cuts: Option<&CutPlaces>,
    ) -> Result<Encoding, Stop> {
        let mut facts = Facts::default();
        let options = EncodeOptions {
            unroll: bound,
            last_cuts,
            checks: self.search.checks,
            leaves_out_idle: self.search.reductions.purity,
            is_weak: self.options.memory != MemoryModel::Sc,
            exit_with_main: self.options.exit_with_main,
            silent_abort: self.options.silent_abort,
            watch: &self.watch,
            is_short: self.options.effort.is_some(),
        };
        for _ in 0..MOST_ENCODINGS {
            let encoder = Encoder::new(view, &mut facts, &mut self.shapes, options);
            let encoding = match encoder.run() {
                Err(Stop::Limit(RETRY)) => {
                    facts.take_changed();
                    continue;
                }
                other => other?,
            };
            if !facts.take_changed() {
                return Ok(encoding);
            }
        }
        Err(Stop::Limit(RETRY))
    }

    fn round(
        &mut self,
        view: &mut View,
        program: &mut Program,
        bound: u32,
        last_cuts: Option<&CutPlaces>,
    ) -> Result<Round, InternalError> {
        self.watch.enter(Phase::Encoding);
        let encoding = match self.encode(view, bound, last_cuts) {
            Ok(encoding) => encoding,
            Err(Stop::Limit(LONG)) => {
                return Ok(Round::Done(Verdict::Inconclusive(Reason::Effort)));
            }
            Err(Stop::Limit(LATE)) => {
                return Ok(Round::Done(self.late()));
            }
            Err(stop) => return Ok(Round::Done(beyond(stop))),
        };
        self.statistics.threads = self.statistics.threads.max(encoding.threads.len());
        self.statistics.max_events = self.statistics.max_events.max(encoding.steps.len());
        // A thread that is alone sees its own writes in order, whatever their orderings.
        if encoding.threads.len() > 1 {
            let mut place = |at: SrcId| copy_source(view, program, at);
            self.weak = WeakOrderings {
                user: encoding.weak.user.map(&mut place),
                library: encoding.weak.library.map(&mut place),
            };
        }
        let model = match self.options.memory {
            MemoryModel::Sc => Model::Sc,
            MemoryModel::Tso => Model::Tso,
            MemoryModel::Pso => Model::Pso,
        };
        let mut problem = Problem::new(encoding, model, self.search.checks);
        if last_cuts.is_some() {
            problem.exceed_last_bound();
        }
        self.watch.enter(Phase::Solving);
        let checks = self.search.checks;
        let bad: Vec<Bit> = problem
            .encoding
            .bad
            .iter()
            .filter(|bad| checks.covers(&bad.fault))
            .map(|bad| bad.guard)
            .collect();
        match problem.ask(&bad, &self.limits()) {
            Answer::Sat => {
                let found = problem.found();
                return self
                    .confirm(view, program, &problem, found)
                    .map(Round::Done);
            }
            Answer::Unsat => {}
            Answer::Unknown(why) => return Ok(Round::Done(self.stopped(why))),
        }
        let mut may_spin = false;
        for in_loops in [false, true] {
            match problem.ask_for_deadlock(in_loops, &self.limits()) {
                Answer::Sat => {
                    let mut found = problem.found();
                    found.wrong = (0..problem.encoding.threads.len()).collect();
                    match self.confirm(view, program, &problem, found) {
                        // The formula knows less of loops than the machine: the clock, say.
                        Err(InternalError::Diverged { .. }) if in_loops => may_spin = true,
                        confirmed => return confirmed.map(Round::Done),
                    }
                }
                Answer::Unsat => {}
                Answer::Unknown(why) => return Ok(Round::Done(self.stopped(why))),
            }
        }
        let mut rest = self.incomplete(view, program, &mut problem);
        if let (true, Round::Done(Verdict::Verified(_)) | Round::Exceeded(_)) = (may_spin, &rest) {
            let what = "threads that go round loops for good";
            rest = Round::Done(Verdict::Inconclusive(Reason::NotLookedFor { what }));
        }
        if !checks.races {
            return Ok(rest);
        }
        match problem.ask_for_race(&self.limits()) {
            Answer::Sat => {
                let found = problem.found();
                self.confirm(view, program, &problem, found)
                    .map(Round::Done)
            }
            Answer::Unsat => Ok(rest),
            Answer::Unknown(why) => Ok(Round::Done(self.stopped(why))),
        }
    }

    /// What is to be said where nothing goes wrong: is something met that cannot be encoded, or the bound exceeded?
    fn incomplete(&self, view: &View, program: &mut Program, problem: &mut Problem) -> Round {
        let beyond: Vec<Bit> = problem
            .encoding
            .beyond
            .iter()
            .map(|beyond| beyond.guard)
            .collect();
        match problem.ask(&beyond, &self.limits()) {
            Answer::Sat => return Round::Done(problem.unsupported(view, program)),
            Answer::Unsat => {}
            Answer::Unknown(why) => return Round::Done(self.stopped(why)),
        }
        let cuts = problem.encoding.cuts.clone();
        match problem.ask(&cuts, &self.limits()) {
            Answer::Sat => Round::Exceeded(std::mem::take(&mut problem.encoding.cut_places)),
            Answer::Unsat => Round::Done(Verdict::Verified(Bound::Complete)),
            Answer::Unknown(why) => Round::Done(self.stopped(why)),
        }
    }

    /// Runs the execution that was found.
    fn confirm(
        &mut self,
        view: &View,
        program: &mut Program,
        problem: &Problem,
        found: Found,
    ) -> Result<Verdict, InternalError> {
        self.watch.enter(Phase::Replaying);
        let mut guide = Guide::new(&problem.encoding, view.tables(), found);
        let options = SearchOptions {
            checks: self.search.checks,
            memory: self.options.memory,
            watch: Some(Arc::clone(&self.watch)),
            reproduced: self.search.reproduced.take(),
            ..SearchOptions::default()
        };
        let outcome = guided::run(program, EngineKind::Bmc, options, &mut guide)?;
        match outcome.verdict {
            Verdict::Violation(_) => {
                self.statistics.blocked = 1;
                self.statistics.max_events = outcome.statistics.max_events;
                self.statistics.states = outcome.statistics.states;
                Ok(outcome.verdict)
            }
            Verdict::Inconclusive(_) if self.watch.is_raised() => Ok(self.late()),
            _ => Err(InternalError::Diverged {
                what: guide
                    .lost
                    .unwrap_or_else(|| "nothing went wrong".to_owned()),
            }),
        }
    }
}

/// The answer where a program cannot be encoded at all.
fn beyond(stop: Stop) -> Verdict {
    match stop {
        Stop::Unsupported(what) => Verdict::Unsupported(vec![Beyond {
            what,
            thread: ThreadId::MAIN,
            at: SrcId::NOWHERE,
            trace: Trace::default(),
        }]),
        Stop::Limit(limit) => Verdict::Inconclusive(Reason::Thread {
            limit,
            thread: ThreadId::MAIN,
            at: SrcId::NOWHERE,
        }),
        Stop::Fault(_) => unreachable!("faults are part of the encoding"),
    }
}

/// A source position of the view in the tables of the program.
fn copy_source(view: &View, program: &mut Program, at: SrcId) -> SrcId {
    let Some(loc) = view.tables().source_loc(at).cloned() else {
        return SrcId::NOWHERE;
    };
    let inlined_at = loc
        .inlined_at
        .map(|outer| copy_source(view, program, outer));
    program.intern_source(SourceLoc { inlined_at, ..loc })
}

impl Problem {
    /// What is beyond this engine in the execution that was found.
    fn unsupported(&self, view: &View, program: &mut Program) -> Verdict {
        let beyond = self.first_beyond();
        // The report knows the program's names, not the view's.
        let handle = view.tables().handle_of_thread(beyond.thread);
        let thread = program.tables().thread_of_handle(handle);
        Verdict::Unsupported(vec![Beyond {
            what: beyond.what.clone(),
            thread: thread.unwrap_or(ThreadId::MAIN),
            at: copy_source(view, program, beyond.at),
            trace: Trace::default(),
        }])
    }
}
