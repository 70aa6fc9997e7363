//! `dpor` with several workers, which share the top of the tree of executions.
//!
//! A search begins like any other, on its own. If it is not over after a while, what is left of it becomes the first piece ([`tree`]), and workers
//! take pieces, each with a program of its own that was brought to where the first one was ([`raddle_program::journal`]). Who has nothing to do calls the
//! others, and one of them cuts its piece. Which execution of a class is explored depends on who was first, how many there are does not. So if there is
//! anything to tell but counts, everything is explored again by one worker, who tells it.

mod pieces;
mod room;
#[cfg(test)]
mod tests;
mod tree;

pub(super) use pieces::Company;
use pieces::NoPiece;

use super::Search;
use crate::driver::Reductions;
use crate::frame::Frame;
use crate::parallel::{Division, ProgramSource, STACK_BYTES, Setup};
use crate::verdict::Statistics;
use raddle_judge::piece::Place;
use raddle_program::{Journal, Program};
use room::{Failure, Findings, Room, Wish};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// The leader looks at the clock this often.
const MOMENT: Duration = Duration::from_millis(100);

/// Explores one execution of every class, with several workers where that is worth while.
pub(crate) fn explore(
    program: &mut Program,
    reductions: Reductions,
    frame: &mut Frame,
    division: Option<&Division>,
) -> ControlFlow<()> {
    let mut search = Search::new(program, reductions);
    let division = division.filter(|it| it.workers > 1 && !program.knows_additions());
    let Some(division) = division else {
        return search.run(program, frame);
    };
    frame.warm_up(Some(division.warm_up));
    let flow = search.run(program, frame);
    let goes_on = frame.take_call();
    frame.warm_up(None);
    if !goes_on {
        return flow;
    }
    if !search.go_on(program, frame) {
        return ControlFlow::Continue(());
    }
    if frame.has_something_to_tell() {
        return search.run(program, frame);
    }
    let left = search.left(program);
    drop(search);
    let leader = Leader {
        room: Arc::new(Room::new(left, division.workers)),
        setup: frame.setup(),
        reductions,
    };
    leader.lead(program, frame, division)
}

/// Whoever began the search, and has its frame.
struct Leader {
    room: Arc<Room>,
    setup: Setup,
    reductions: Reductions,
}

impl Leader {
    fn lead(
        &self,
        program: &mut Program,
        frame: &mut Frame,
        division: &Division,
    ) -> ControlFlow<()> {
        let found = frame.found();
        let before = frame.part(Place::new());
        let work = &Work {
            room: &self.room,
            source: &division.source,
            setup: &Setup {
                // The sequential search tells of what is found.
                keep_going: false,
                ..self.setup.clone()
            },
            reductions: self.reductions,
            journal: &program.journal().clone(),
        };
        std::thread::scope(|scope| {
            for worker in 0..division.workers {
                let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
                let started = builder.spawn_scoped(scope, move || work.run(worker));
                // There may be no memory for another one; fewer do, as long as there is any.
                if started.is_err() && worker == 0 {
                    self.room.fail(Failure::NoWorker);
                }
            }
            while !self.room.is_done() {
                self.room.wait_a_moment(MOMENT);
                if self.setup.watch.is_over() {
                    self.room.stop();
                }
                self.tell_progress(frame);
            }
        });
        let mut state = self.room.lock();
        let findings = std::mem::take(&mut state.findings);
        let known = state.failure.is_none()
            && findings
                .iter()
                .all(|it| program.absorb(&it.journal).is_ok());
        if !known && !state.is_stopped {
            frame.forget_but(found);
            frame.restarted_for_one();
            return Search::new(program, self.reductions).run(program, frame);
        }
        let parts = findings.iter().map(|it| &it.part).chain([&before]);
        frame.count_parts(parts);
        if findings.iter().any(|it| it.has_cuts) {
            frame.note_cuts(program);
        }
        match state.is_stopped {
            true => frame.stop_with_workers(),
            false => ControlFlow::Continue(()),
        }
    }

    fn tell_progress(&self, frame: &mut Frame) {
        // What was counted before there were workers.
        let before = frame.counted();
        let mut sum = Statistics {
            complete: before.complete,
            blocked: before.blocked,
            threads: before.threads,
            max_events: before.max_events,
            ..Statistics::default()
        };
        for link in &self.room.links {
            let (complete, blocked) = link.counts();
            sum.complete += complete;
            sum.blocked += blocked;
        }
        let (workers, pieces) = {
            let state = self.room.lock();
            (state.busy, state.tree.pending() + state.busy)
        };
        frame.tell_progress(&sum, workers, pieces, self.room.explored());
    }
}

/// What all who explore have in common.
struct Work<'a> {
    room: &'a Arc<Room>,
    source: &'a ProgramSource,
    setup: &'a Setup,
    reductions: Reductions,
    /// What is known of the program.
    journal: &'a Journal,
}

/// Nobody waits for somebody who has panicked.
struct Alive<'a>(&'a Room);

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Failure::NoWorker);
            self.0.drop_piece();
        }
    }
}

/// What became of a piece.
enum End {
    Explored,
    /// All is over.
    Left,
    Failed(Failure),
}

impl Work<'_> {
    /// Explores pieces until there are none.
    fn run(&self, worker: usize) {
        let room = self.room;
        let _alive = Alive(room);
        let Some(mut program) = self.program() else {
            return room.fail(Failure::NoWorker);
        };
        let link = &room.links[worker];
        let mut frame = Frame::of_worker(self.setup, Arc::clone(link));
        let mut search = Search::new(&program, self.reductions);
        search.join(Arc::clone(room));
        while let Some((way, version)) = room.take(link) {
            let entered = search.enter(&mut program, &mut frame, way, version);
            let end = match entered {
                ControlFlow::Continue(Ok(())) => {
                    self.explore(worker, &mut search, &mut program, &mut frame)
                }
                ControlFlow::Continue(Err(NoPiece::Diverged)) => End::Failed(Failure::Diverged),
                ControlFlow::Continue(Err(NoPiece::Sleepers)) => End::Failed(Failure::Indivisible),
                ControlFlow::Break(()) => self.stopped(&frame),
            };
            match end {
                End::Explored => room.done(search.piece()),
                End::Left => room.drop_piece(),
                End::Failed(failure) => {
                    debug_assert_ne!(failure, Failure::Diverged, "a piece is part of the tree");
                    room.fail(failure);
                    room.drop_piece();
                }
            }
        }
        room.leave(Findings {
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
        worker: usize,
        search: &mut Search,
        program: &mut Program,
        frame: &mut Frame,
    ) -> End {
        let room = self.room;
        loop {
            if search.run(program, frame).is_continue() {
                return match frame.has_something_to_tell() {
                    true => End::Failed(Failure::Found),
                    false => End::Explored,
                };
            }
            if !frame.take_call() {
                return self.stopped(frame);
            }
            if frame.has_something_to_tell() {
                return End::Failed(Failure::Found);
            }
            if !search.go_on(program, frame) {
                return End::Explored;
            }
            match room.wish(&room.links[worker]) {
                Wish::GoOn => {}
                Wish::Leave => return End::Left,
                Wish::Split => match search.find_cut(program, frame) {
                    ControlFlow::Continue(Some(cut)) => {
                        room.add_pieces(|tree| search.cut_at(program, cut, tree));
                    }
                    ControlFlow::Continue(None) => {}
                    ControlFlow::Break(()) => return self.stopped(frame),
                },
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
