//! Searches that find out below a node what is to be explored from it: those who explore pieces share what is above these.
//!
//! Such a search begins like any other, on its own. If it is not over after a while, what is left of it becomes pieces, and workers take these, each with
//! a program of its own that was brought to where the first one was ([`raddle_program::journal`]). Who has nothing to do calls the others, and one of them
//! cuts its piece. Which execution of a class is explored depends on who was first, how many there are does not. So if there is anything
//! to tell but counts, everything is explored again by one worker, who tells it.

use super::room::{Alive, Failure, Room, Stock, Wish};
use super::{Division, MOMENT, ProgramSource, STACK_BYTES, Setup};
use crate::frame::Frame;
use crate::verdict::Statistics;
use raddle_judge::link::Link;
use raddle_judge::piece::{Part, Place};
use raddle_program::{Journal, Program};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// A search of which several may explore pieces.
pub(crate) trait Sharing: Sized {
    /// The pieces, and what is shared above them.
    type Stock: Stock<Piece: Send> + Send;

    /// What a search is told when it begins.
    type Plan: Sync;

    fn begin(program: &Program, plan: &Self::Plan) -> Self;

    /// What somebody is told who is to explore a piece of this search.
    fn plan(&self) -> Self::Plan;

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

    /// The piece was explored.
    fn leave(&mut self);

    /// Why the piece cannot be explored by one of several, as was found out on the way.
    fn failure(&self) -> Option<Failure> {
        None
    }

    /// How much of the search has been explored: an estimate.
    fn explored(stock: &Self::Stock, links: &[Arc<Link>]) -> f64;
}

/// Explores one execution of every class, with several workers where that is worth while. The search, if it was explored by one.
pub(crate) fn explore<S: Sharing>(
    program: &mut Program,
    plan: &S::Plan,
    frame: &mut Frame,
    division: Option<&Division>,
) -> (ControlFlow<()>, Option<S>) {
    let alone = |mut search: S, program: &mut Program, frame: &mut Frame| {
        let flow = search.run(program, frame);
        (flow, Some(search))
    };
    let mut search = S::begin(program, plan);
    // Nobody else would know of additions.
    let division = division.filter(|it| it.workers > 1 && !program.knows_additions());
    let Some(division) = division else {
        return alone(search, program, frame);
    };
    frame.warm_up(Some(division.warm_up));
    let flow = search.run(program, frame);
    let goes_on = frame.take_call();
    frame.warm_up(None);
    if !goes_on {
        return (flow, Some(search));
    }
    match search.pause(program, frame) {
        ControlFlow::Continue(true) => {}
        ControlFlow::Continue(false) => return (ControlFlow::Continue(()), Some(search)),
        ControlFlow::Break(()) => return (ControlFlow::Break(()), Some(search)),
    }
    if frame.has_something_to_tell() || search.failure().is_some() {
        return alone(search, program, frame);
    }
    let found = frame.found();
    let plan_of_workers = search.plan();
    let stock = search.into_stock(program);
    let room = Arc::new(Room::new(stock, division.workers));
    match lead::<S>(program, &plan_of_workers, frame, division, &room) {
        Some(flow) => (flow, None),
        None => {
            frame.forget_but(found);
            frame.restarted_for_one();
            alone(S::begin(program, plan), program, frame)
        }
    }
}

/// Has others explore pieces. None if one worker has to explore everything.
fn lead<S: Sharing>(
    program: &mut Program,
    plan: &S::Plan,
    frame: &mut Frame,
    division: &Division,
    room: &Arc<Room<S::Stock>>,
) -> Option<ControlFlow<()>> {
    let before = frame.part(Place::new());
    let setup = frame.setup();
    let work = &Work::<S> {
        room,
        source: &division.source,
        setup: &Setup {
            // The sequential search tells of what is found.
            keep_going: false,
            ..setup.clone()
        },
        plan,
        journal: &program.journal().clone(),
        findings: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for worker in 0..division.workers {
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            let started = builder.spawn_scoped(scope, move || work.run(worker));
            // There may be no memory for another one; fewer do, as long as there is any.
            if started.is_err() && worker == 0 {
                room.fail(Failure::NoWorker);
            }
        }
        while !room.is_done() {
            room.wait_a_moment(MOMENT);
            if setup.watch.is_over() {
                room.stop();
            }
            tell_progress::<S>(room, frame);
        }
    });
    let findings = std::mem::take(&mut *work.findings());
    let state = room.lock();
    let known = state.failure.is_none()
        && findings
            .iter()
            .all(|it| program.absorb(&it.journal).is_ok());
    if !known && !state.is_stopped {
        return None;
    }
    frame.count_parts(findings.iter().map(|it| &it.part).chain([&before]));
    if findings.iter().any(|it| it.has_cuts) {
        frame.note_cuts(program);
    }
    Some(match state.is_stopped {
        true => frame.stop_with_workers(),
        false => ControlFlow::Continue(()),
    })
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

/// What a worker leaves when it goes.
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
    findings: Mutex<Vec<Findings>>,
}

/// What became of a piece.
enum End {
    Explored,
    /// All is over.
    Left,
    Failed(Failure),
}

impl<S: Sharing> Work<'_, S> {
    fn findings(&self) -> std::sync::MutexGuard<'_, Vec<Findings>> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
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
                End::Left => {}
                End::Failed(failure) => {
                    debug_assert_ne!(failure, Failure::Diverged, "a piece is part of the tree");
                    room.fail(failure);
                }
            }
            room.drop_piece();
        }
        self.findings().push(Findings {
            part: frame.part(Place::new()),
            journal: program.journal().clone(),
            has_cuts: frame.has_cuts(),
        });
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
                return self.stopped(frame);
            }
            if frame.has_something_to_tell() {
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
