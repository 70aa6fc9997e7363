//! Searches that find out below a node what is to be explored from it: those who explore pieces share what is above these.
//!
//! Such a search begins like any other, on its own. If it is not over after a while, what is left of it becomes pieces, and workers take these, each with
//! a program of its own that was brought to where the first one was ([`raddle_program::journal`]). Who has nothing to do calls the others, and one of them
//! cuts its piece. Which execution of a class is explored depends on who was first, how many there are does not. So if there is anything
//! to tell but counts, everything is explored again by one worker, who tells it.

use super::room::{Alive, Failure, Room, Stock, Wish};
use super::{Division, MOMENT, ProgramSource, STACK_BYTES, Saved, Setup, Shared};
use crate::driver::Opinion;
use crate::frame::Frame;
use crate::verdict::{EngineKind, Statistics};
use raddle_judge::frame::Found;
use raddle_judge::link::Link;
use raddle_judge::piece::{Part, Place};
use raddle_program::{Journal, Program};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A search of which several may explore pieces.
pub(crate) trait Sharing: Sized {
    /// The pieces, and what is shared above them.
    type Stock: Stock<Piece: Send> + Send;

    /// What a search is told when it begins.
    type Plan: Sync;

    const ENGINE: EngineKind;

    fn begin(program: &Program, plan: &Self::Plan) -> Self;

    /// What somebody is told who is to explore a piece of this search.
    fn plan(&self, program: &Program) -> Self::Plan;

    /// Explores all that is left, from where the search is.
    fn run(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()>;

    /// Somebody has called at the end of an execution: goes to where the search can be cut. False if nothing is left of it.
    fn pause(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<(), bool>;

    /// All that is left, as pieces. The search has paused, and is of no use any more.
    fn into_stock(self, program: &Program) -> Self::Stock;

    /// From now on the search explores pieces.
    fn join(&mut self, room: &Arc<Room<Self::Stock>>);

    /// Goes to a piece.
    fn enter(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        piece: <Self::Stock as Stock>::Piece,
    ) -> ControlFlow<(), Result<(), Failure>>;

    /// Gives others a part of the piece, if it can be cut. The search has paused.
    fn give_away(&mut self, program: &mut Program, frame: &mut Frame) -> ControlFlow<()>;

    /// What is left of the piece goes back. The search has paused, and goes to another piece then.
    fn put_back(&mut self, program: &Program);

    /// The piece was explored.
    fn leave(&mut self);

    /// Why the piece cannot be explored by one of several, as was found out on the way.
    fn failure(&self) -> Option<Failure> {
        None
    }

    /// How much of the search has been explored: an estimate.
    fn explored(stock: &Self::Stock, links: &[Arc<Link>]) -> f64;

    /// What is left, as lines of words, when nobody explores a piece.
    fn written(stock: &Self::Stock, plan: &Self::Plan, program: &Program) -> Option<Vec<String>>;

    /// What such lines say, to a search that was begun with `plan`. None if they say nothing.
    fn read(
        lines: &[String],
        plan: &Self::Plan,
        program: &Program,
    ) -> Option<(Self::Stock, Self::Plan)>;
}

/// Explores one execution of every class, with several workers where that is worth while. The search, if it was explored by one.
pub(crate) fn explore<S: Sharing>(
    program: &mut Program,
    plan: &S::Plan,
    frame: &mut Frame,
    division: Option<&mut Division>,
) -> (ControlFlow<()>, Option<S>) {
    // Nobody else would know of additions.
    let Some(division) = division.filter(|_| !program.knows_additions()) else {
        return alone(S::begin(program, plan), program, frame);
    };
    if division.checkpoint.is_some() {
        frame.keep_what_is_left();
    }
    let begun = match division.saved.take() {
        Some(saved) => match Begun::<S>::taken_up(program, plan, frame, &saved) {
            Some(begun) => begun,
            None => return (frame.refuse_checkpoint(), None),
        },
        None => match first_part(program, plan, frame, division) {
            Ok(begun) => begun,
            Err(explored) => return explored,
        },
    };
    let room = Room::new(begun.stock, division.workers);
    if division.checkpoint.is_some() || begun.is_resumed {
        room.be_patient();
    }
    if begun.is_resumed {
        room.trust_no_piece();
    }
    let leader = Leader::<S> {
        room: &Arc::new(room),
        plan: begun.plan,
        before: frame.part(Place::new()),
        has_cuts: begun.has_cuts,
    };
    match leader.lead(program, frame, division, (&begun.found, begun.known)) {
        Some(flow) => (flow, None),
        None => {
            frame.forget_but(begun.found);
            frame.restarted_for_one();
            if division.checkpoint.is_some() || begun.is_resumed {
                go_back(program, begun.known, &division.source);
            }
            alone(S::begin(program, plan), program, frame)
        }
    }
}

/// Makes the program what it was when the search began. What others have met since has been made known to it, in another order than one worker meets it.
fn go_back(program: &mut Program, known: usize, source: &ProgramSource) {
    let mut journal = program.journal().clone();
    journal.entries.truncate(known);
    if let Some(mut fresh) = source()
        && fresh.retrace(&journal).is_ok()
    {
        *program = fresh;
    }
}

fn alone<S: Sharing>(
    mut search: S,
    program: &mut Program,
    frame: &mut Frame,
) -> (ControlFlow<()>, Option<S>) {
    let flow = search.run(program, frame);
    (flow, Some(search))
}

/// A search that is left to several.
struct Begun<S: Sharing> {
    stock: S::Stock,
    plan: S::Plan,
    /// What was found when it began, and how many entries the journal had.
    found: Found,
    known: usize,
    has_cuts: bool,
    is_resumed: bool,
}

impl<S: Sharing> Begun<S> {
    /// None if what was kept is of another search.
    fn taken_up(
        program: &Program,
        plan: &S::Plan,
        frame: &mut Frame,
        saved: &Saved,
    ) -> Option<Self> {
        let shared = saved.shared.as_ref()?;
        let (stock, plan) = S::read(&shared.lines, plan, program)?;
        let mut counted = Part {
            threads: 1,
            ..Part::default()
        };
        for part in &saved.parts {
            counted.follow(part.clone());
        }
        Some(Self {
            stock,
            plan,
            found: frame.resume(&counted, shared.milestones),
            known: shared.known,
            has_cuts: shared.has_cuts,
            is_resumed: true,
        })
    }
}

/// Explores for a while. What comes of it if others are not to help.
fn first_part<S: Sharing>(
    program: &mut Program,
    plan: &S::Plan,
    frame: &mut Frame,
    division: &mut Division,
) -> Result<Begun<S>, (ControlFlow<()>, Option<S>)> {
    let (found, known) = (frame.found(), program.journal().entries.len());
    let mut search = S::begin(program, plan);
    frame.warm_up(Some(division.warm_up));
    let flow = search.run(program, frame);
    let goes_on = frame.take_call();
    frame.warm_up(None);
    let is_left = division.checkpoint.is_some() && frame.has_stopped_between();
    if !goes_on && !is_left {
        return Err((flow, Some(search)));
    }
    match search.pause(program, frame) {
        ControlFlow::Continue(true) => {}
        ControlFlow::Continue(false) if goes_on => {
            return Err((ControlFlow::Continue(()), Some(search)));
        }
        _ => return Err((ControlFlow::Break(()), Some(search))),
    }
    if frame.has_found() || search.failure().is_some() {
        return Err(match goes_on {
            true => alone(search, program, frame),
            false => (flow, Some(search)),
        });
    }
    let begun = Begun {
        found,
        known,
        plan: search.plan(program),
        stock: search.into_stock(program),
        has_cuts: frame.has_cuts(),
        is_resumed: false,
    };
    if !goes_on {
        let kept = Kept {
            counted: frame.part(Place::new()),
            has_cuts: begun.has_cuts,
            lines: S::written(&begun.stock, &begun.plan, program),
        };
        keep::<S>(program, frame, division, (&begun.found, known), kept);
        return Err((flow, None));
    }
    Ok(begun)
}

/// What is left of a search, and what was counted.
struct Kept {
    counted: Part,
    has_cuts: bool,
    lines: Option<Vec<String>>,
}

fn keep<S: Sharing>(
    program: &Program,
    frame: &Frame,
    division: &mut Division,
    (found, known): (&Found, usize),
    kept: Kept,
) {
    if let (Some(checkpoints), Some(lines)) = (&mut division.checkpoint, kept.lines) {
        (checkpoints.sink)(&Saved {
            journal: program.journal().clone(),
            pending: Vec::new(),
            parts: vec![kept.counted],
            shared: Some(Shared {
                engine: S::ENGINE,
                known,
                milestones: frame.milestones(found),
                has_cuts: kept.has_cuts,
                first_look: frame.first_look(),
                lines,
            }),
        });
    }
}

/// Whoever began the search, and has its frame.
struct Leader<'a, S: Sharing> {
    room: &'a Arc<Room<S::Stock>>,
    plan: S::Plan,
    /// What was counted before there were workers, and whether a bound had cut threads short.
    before: Part,
    has_cuts: bool,
}

impl<S: Sharing> Leader<'_, S> {
    /// Has others explore pieces. None if one worker has to explore everything.
    fn lead(
        &self,
        program: &mut Program,
        frame: &mut Frame,
        division: &mut Division,
        begun: (&Found, usize),
    ) -> Option<ControlFlow<()>> {
        let room = self.room;
        let setup = frame.setup();
        let source = Arc::clone(&division.source);
        let work = &Work::<S> {
            room,
            source: &source,
            setup: &Setup {
                // The sequential search tells of what is found.
                keep_going: false,
                ..setup.clone()
            },
            plan: &self.plan,
            journal: &program.journal().clone(),
            findings: Mutex::new((0..division.workers).map(|_| None).collect()),
            is_lost: AtomicBool::new(false),
        };
        let mut opinion: Option<(Opinion, u64)> = None;
        let every = division.checkpoint.as_ref().map(|it| it.every);
        let moment = every.map_or(MOMENT, |every| every.min(MOMENT));
        std::thread::scope(|scope| {
            for worker in 0..division.workers {
                let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
                let started = builder.spawn_scoped(scope, move || work.run(worker));
                // There may be no memory for another one; fewer do, as long as there is any.
                if started.is_err() && worker == 0 {
                    room.fail(Failure::NoWorker);
                }
            }
            let mut saved = Instant::now();
            while !room.is_done() {
                room.wait_a_moment(moment);
                if setup.watch.is_over() {
                    room.stop();
                }
                tell_progress::<S>(room, frame);
                // Others explore while somebody else is asked.
                opinion = opinion.or_else(|| frame.ask_others(room.counted_after(frame.counted())));
                match opinion {
                    Some((Opinion::NothingWrong, _)) => room.stop(),
                    // The sequential search says what it would have found before.
                    Some(_) => room.fail(Failure::Found),
                    None => {}
                }
                if every.is_some_and(|every| saved.elapsed() >= every) {
                    let kept = room.hold(|state| match state.failure {
                        None => self.kept(work, program, &state.stock),
                        Some(_) => None,
                    });
                    self.keep(kept, program, frame, division, begun);
                    saved = Instant::now();
                }
            }
        });
        self.conclude(work, program, frame, division, (begun, opinion))
    }

    fn keep(
        &self,
        kept: Option<Kept>,
        program: &Program,
        frame: &Frame,
        division: &mut Division,
        begun: (&Found, usize),
    ) {
        if let Some(kept) = kept {
            keep::<S>(program, frame, division, begun, kept);
        }
    }

    /// What comes of it when nobody is at work any more. None if one worker has to explore everything.
    fn conclude(
        &self,
        work: &Work<'_, S>,
        program: &mut Program,
        frame: &mut Frame,
        division: &mut Division,
        (begun, mut opinion): ((&Found, usize), Option<(Opinion, u64)>),
    ) -> Option<ControlFlow<()>> {
        let room = self.room;
        let (failure, is_stopped) = {
            let state = room.lock();
            (state.failure, state.is_stopped)
        };
        if opinion.is_none() && failure.is_none() && !is_stopped {
            // They were faster than whoever leads.
            opinion = frame.ask_others(room.counted_after(frame.counted()));
        }
        if let (Some((Opinion::NothingWrong, executions)), None) = (opinion, failure) {
            return Some(frame.stop_at_milestone(executions));
        }
        // By a limit, or by the user; else only what is whole counts.
        let is_told = is_stopped && work.setup.watch.is_over();
        let is_whole = failure.is_none() && opinion.is_none();
        if !is_told && (!is_whole || is_stopped) {
            return None;
        }
        let kept = self.kept(work, program, &room.lock().stock);
        if !is_told && kept.is_none() {
            return None;
        }
        let kept = kept.filter(|_| is_told && is_whole);
        self.keep(kept, program, frame, division, begun);
        frame.count_parts(std::iter::once(&work.counted(&self.before)));
        if work.has_cuts(self.has_cuts) {
            frame.note_cuts(program);
        }
        Some(match is_told {
            true => frame.stop_with_workers(),
            false => ControlFlow::Continue(()),
        })
    }

    /// What is left, and what was counted, when nobody is at work. The program has walked all edges that workers have walked then; none if one of them is
    /// of another program.
    fn kept(&self, work: &Work<'_, S>, program: &mut Program, stock: &S::Stock) -> Option<Kept> {
        let is_lost = work.is_lost.load(Ordering::Relaxed);
        for findings in work.findings().iter().flatten() {
            program.absorb(&findings.journal).ok()?;
        }
        Some(Kept {
            counted: work.counted(&self.before),
            has_cuts: work.has_cuts(self.has_cuts),
            // There is nothing to keep if somebody has left a piece.
            lines: (!is_lost)
                .then(|| S::written(stock, &self.plan, program))
                .flatten(),
        })
    }
}

fn tell_progress<S: Sharing>(room: &Room<S::Stock>, frame: &mut Frame) {
    // What was counted before there were workers.
    let before = frame.counted();
    let mut sum = Statistics {
        complete: before.complete,
        blocked: before.blocked,
        threads: before.threads,
        max_events: before.max_events,
        ..Statistics::default()
    };
    for link in &room.links {
        let (complete, blocked) = link.counts();
        sum.complete += complete;
        sum.blocked += blocked;
    }
    let (workers, pieces, explored) = {
        let state = room.lock();
        let explored = S::explored(&state.stock, &room.links).clamp(0.0, 1.0);
        (state.busy, state.stock.pending() + state.busy, explored)
    };
    frame.tell_progress(&sum, workers, pieces, explored);
}

/// What a worker has counted and found out.
struct Findings {
    part: Part,
    journal: Journal,
    /// Has a bound cut threads short?
    has_cuts: bool,
}

/// What all who explore have in common.
struct Work<'a, S: Sharing> {
    room: &'a Arc<Room<S::Stock>>,
    source: &'a ProgramSource,
    setup: &'a Setup,
    plan: &'a S::Plan,
    /// What is known of the program.
    journal: &'a Journal,
    /// By worker: what it tells when it has put back a piece, if that is to be kept, and when it leaves.
    findings: Mutex<Vec<Option<Findings>>>,
    /// Somebody has left a piece in the midst of something.
    is_lost: AtomicBool,
}

/// What became of a piece.
enum End {
    Explored,
    /// What is left of it is a piece again.
    PutBack,
    /// All is over.
    Left,
    Failed(Failure),
}

impl<S: Sharing> Work<'_, S> {
    fn findings(&self) -> std::sync::MutexGuard<'_, Vec<Option<Findings>>> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that was counted, with what was before.
    fn counted(&self, before: &Part) -> Part {
        let mut sum = before.clone();
        for findings in self.findings().iter().flatten() {
            sum.follow(findings.part.clone());
        }
        sum
    }

    fn has_cuts(&self, before: bool) -> bool {
        before || self.findings().iter().flatten().any(|it| it.has_cuts)
    }

    /// A worker tells what it has counted and found out.
    fn tell(&self, worker: usize, program: &Program, frame: &Frame) {
        let journal = program.journal();
        let mut findings = self.findings();
        let known = findings[worker].take().map(|it| it.journal);
        findings[worker] = Some(Findings {
            part: frame.part(Place::new()),
            // It only ever grows.
            journal: match known {
                Some(known) if known.entries.len() == journal.entries.len() => known,
                _ => journal.clone(),
            },
            has_cuts: frame.has_cuts(),
        });
    }

    /// Explores pieces until there are none.
    fn run(&self, worker: usize) {
        let room = self.room;
        let _alive = Alive(&**room);
        let Some(mut program) = self.program() else {
            return room.fail(Failure::NoWorker);
        };
        let link = &room.links[worker];
        let mut frame = Frame::of_worker(self.setup, Arc::clone(link));
        let mut search = S::begin(&program, self.plan);
        search.join(room);
        while let Some(piece) = room.take(link) {
            let end = match search.enter(&mut program, &mut frame, piece) {
                ControlFlow::Continue(Ok(())) => {
                    self.explore(link, &mut search, &mut program, &mut frame)
                }
                ControlFlow::Continue(Err(failure)) => End::Failed(failure),
                ControlFlow::Break(()) => self.stopped(&frame),
            };
            match end {
                End::Explored => search.leave(),
                End::PutBack => {}
                End::Left => self.is_lost.store(true, Ordering::Relaxed),
                End::Failed(failure) => room.fail(failure),
            }
            if self.setup.is_kept {
                self.tell(worker, &program, &frame);
            }
            room.drop_piece();
        }
        self.tell(worker, &program, &frame);
    }

    /// The program as it was when the first piece was made.
    fn program(&self) -> Option<Program> {
        let mut program = (self.source)()?;
        program.retrace(self.journal).ok()?;
        Some(program)
    }

    /// Explores a piece to its end, giving away what others want.
    fn explore(
        &self,
        link: &Link,
        search: &mut S,
        program: &mut Program,
        frame: &mut Frame,
    ) -> End {
        loop {
            if search.run(program, frame).is_continue() {
                return match (frame.has_something_to_tell(), search.failure()) {
                    (true, _) => End::Failed(Failure::Found),
                    (false, Some(failure)) => End::Failed(failure),
                    (false, None) => End::Explored,
                };
            }
            if !frame.take_call() {
                if !self.setup.is_kept || !frame.has_stopped_between() {
                    return self.stopped(frame);
                }
                self.room.stop();
            }
            if frame.has_found() {
                return End::Failed(Failure::Found);
            }
            match search.pause(program, frame) {
                ControlFlow::Continue(more) => match search.failure() {
                    Some(failure) => return End::Failed(failure),
                    None if !more => return End::Explored,
                    None => {}
                },
                ControlFlow::Break(()) => return self.stopped(frame),
            }
            match self.room.wish(link) {
                Wish::GoOn => {}
                Wish::Leave => return End::Left,
                Wish::PutBack => {
                    search.put_back(program);
                    return End::PutBack;
                }
                Wish::Split => {
                    if search.give_away(program, frame).is_break() {
                        return self.stopped(frame);
                    }
                }
            }
        }
    }

    /// The frame does not want to go on.
    fn stopped(&self, frame: &Frame) -> End {
        if self.setup.watch.is_over() && !frame.has_violation() {
            self.room.stop();
            return End::Left;
        }
        End::Failed(Failure::Found)
    }
}
