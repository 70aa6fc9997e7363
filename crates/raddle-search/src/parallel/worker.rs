//! Somebody who explores pieces, with a program of its own.

use super::intervals::{Answer, Intervals, Stopper};
use super::room::{Alive, Failure, Room};
use super::{ProgramSource, Setup};
use crate::frame::Frame;
use crate::graph;
use raddle_judge::piece::Piece;
use raddle_program::{Journal, Program};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What all who explore have in common.
pub(super) struct Work<'a> {
    pub(super) room: &'a Room<Intervals>,
    pub(super) source: &'a ProgramSource,
    pub(super) setup: &'a Setup,
    /// What is known of the program.
    pub(super) journal: &'a Journal,
}

impl Work<'_> {
    /// Explores pieces until there are none.
    pub(super) fn run(&self, worker: usize) {
        let _alive = Alive(self.room);
        let Some(mut program) = self.program() else {
            self.room.fail(Failure::NoWorker);
            return;
        };
        let link = &self.room.links[worker];
        while let Some(piece) = self.room.take(link) {
            if self.explore(worker, &mut program, piece).is_break() {
                // What it has found out must not be known where it is not met.
                match self.program() {
                    Some(fresh) => program = fresh,
                    None => self.room.fail(Failure::NoWorker),
                }
            }
        }
        self.room.keep_journal(worker, program.journal());
    }

    /// The program as it was when the search was cut into pieces.
    fn program(&self) -> Option<Program> {
        let mut program = (self.source)()?;
        program.retrace(self.journal).ok()?;
        Some(program)
    }

    /// Explores a piece. Break: the program is of no use any more.
    fn explore(&self, worker: usize, program: &mut Program, piece: Piece) -> ControlFlow<()> {
        let Self { room, setup, .. } = self;
        let link = &room.links[worker];
        let start = piece.start();
        let mut frame = Frame::of_worker(setup, Arc::clone(link));
        let mut search =
            graph::Search::of_piece(program, setup.memory, setup.reductions, &mut frame, piece);
        loop {
            let flow = search.run(program, &mut frame);
            if search.is_indivisible() {
                room.fail(Failure::Indivisible);
                room.drop_piece();
                return ControlFlow::Continue(());
            }
            let mut part = frame.part(start.clone());
            part.notes = search.notes().to_vec();
            if flow.is_continue() {
                match search.has_diverged() {
                    true => {
                        room.fail(Failure::Diverged);
                        room.drop_piece();
                    }
                    false => room.put_back(part, Vec::new()),
                }
                return ControlFlow::Continue(());
            }
            if frame.is_stopped() {
                room.put_back(part, search.pending());
                room.stop();
                return ControlFlow::Continue(());
            }
            if !frame.take_call() {
                return match program.must_read_kinds() {
                    true => {
                        room.stop_at(part, Stopper::Kinds);
                        ControlFlow::Break(())
                    }
                    false => {
                        room.stop_at(part, Stopper::Found);
                        ControlFlow::Continue(())
                    }
                };
            }
            match room.answer(link, &start, || search.split()) {
                Answer::GoOn => {}
                Answer::PutBack => {
                    room.keep_journal(worker, program.journal());
                    room.put_back(part, search.pending());
                    return ControlFlow::Continue(());
                }
                Answer::Drop => {
                    room.drop_piece();
                    return ControlFlow::Continue(());
                }
            }
        }
    }
}
