//! Pieces that are explored elsewhere: by other processes, on other machines.
//!
//! Whoever leads such a search is told, in any order, what was done with pieces it has handed out, and concludes as if its own threads had done it. Those who explore have an
//! [`Explorer`] each. How they hear of each other is none of this crate's business ([`Crew`]).
//!
//! What is handed out is an *interval* of the tree: pieces that follow each other in the order of the sequential search. What is left of an interval, wherever it is
//! left, is again one, and so is each part that it is divided into ([`divided`]).

use super::intervals::{Intervals, Stopper};
use super::room::{Failure, Room};
use super::{Division, Leader, MOMENT, ProgramSource, Saved, Setup};
use crate::frame::Frame;
use crate::graph;
use crate::verdict::Statistics;
use raddle_judge::link::Link;
use raddle_judge::piece::{Part, Piece, Place};
use raddle_program::Program;
use raddle_program::journal::{Entry, Journal};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// How somebody has left off who explored an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was explored, up to what is left.
    Explored,
    /// The sequential search would stop here: something was found.
    Found,
    /// Kinds of mutexes must be read: all begins anew.
    Kinds,
    /// What is explored depends on what was explored before: this is for one worker.
    Indivisible,
    /// The interval is no part of the tree.
    Diverged,
}

impl Ending {
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Explored, "explored"),
        (Self::Found, "found"),
        (Self::Kinds, "kinds"),
        (Self::Indivisible, "indivisible"),
        (Self::Diverged, "diverged"),
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        let known = Self::ALL.iter().find(|(ending, _)| *ending == self);
        known.map_or("", |(_, name)| name)
    }
}

/// What somebody has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub part: Part,
    pub ending: Ending,
    /// Who: an [`Explorer`] of its own.
    pub worker: String,
    /// The edges that it has walked since it was heard of the last time.
    pub entries: Vec<Entry>,
}

/// What is known of those who explore.
#[derive(Clone, Debug, Default)]
pub struct News {
    pub done: Vec<Done>,
    /// There is nothing left.
    pub is_over: bool,
    pub workers: usize,
    pub pieces: usize,
    /// How much has been explored, as far as the shape of the tree tells.
    pub explored: f64,
}

/// The crew cannot go on; it knows why, and has ended the search ([`crate::Watch`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

/// Those who explore elsewhere, as whoever leads the search knows them.
pub trait Crew {
    /// Hands out what is left of a search.
    fn begin(&mut self, saved: &Saved) -> Result<(), Lost>;

    /// What was done since the last time. Waits a moment if it is nothing.
    fn news(&mut self, moment: Duration) -> Result<News, Lost>;
}

impl Leader<'_> {
    /// As [`Leader::lead`], with others who explore.
    pub(super) fn lead_crew(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        division: &mut Division,
        saved: &Saved,
    ) -> ControlFlow<()> {
        let found = frame.found();
        let Some(mut crew) = division.crew.take() else {
            return self.lead(program, frame, division);
        };
        let heard = self.hear(program, frame, crew.as_mut(), saved, &division.source);
        division.crew = Some(crew);
        match heard {
            Ok(journals) => self.room.lock().stock.journals = journals,
            Err(Lost) => return frame.stop_with_workers(),
        }
        self.conclude(program, frame, division, found)
    }

    /// Listens until there is nothing left. What all who explored have found out about the program.
    fn hear(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        crew: &mut dyn Crew,
        saved: &Saved,
        source: &ProgramSource,
    ) -> Result<Vec<Journal>, Lost> {
        // All of them begin with this one.
        let mut fresh = source().ok_or(Lost)?;
        fresh.retrace(&saved.journal).map_err(|_| Lost)?;
        let base = fresh.journal().clone();
        let mut journals: BTreeMap<String, Journal> = BTreeMap::new();
        crew.begin(saved)?;
        loop {
            if self.setup.watch.is_over() {
                self.room.stop();
                break;
            }
            let news = crew.news(MOMENT)?;
            for done in news.done {
                let journal = journals.entry(done.worker).or_insert_with(|| base.clone());
                journal.entries.extend(done.entries);
                self.room.record(done.part, done.ending);
            }
            let told = std::mem::take(&mut self.room.lock().stock.news);
            (self.flow, self.diverged) = self.visit_parts(program, frame, &told);
            self.tell_of_crew(frame, news.workers, news.pieces, news.explored);
            if news.is_over || self.room.lock().failure.is_some() {
                break;
            }
        }
        Ok(journals.into_values().collect())
    }

    fn tell_of_crew(&self, frame: &mut Frame, workers: usize, pieces: usize, explored: f64) {
        let mut sum = Statistics::default();
        {
            let state = self.room.lock();
            for part in state.stock.parts.values() {
                sum.complete += part.complete;
                sum.blocked += part.blocked;
                sum.threads = sum.threads.max(part.threads);
                sum.max_events = sum.max_events.max(part.max_events);
            }
        }
        frame.tell_progress(&sum, workers, pieces, explored);
    }
}

impl Room<Intervals> {
    /// Somebody elsewhere has done this.
    pub(super) fn record(&self, part: Part, ending: Ending) {
        self.lock().busy += 1;
        let failure = match ending {
            Ending::Explored => return self.put_back(part, Vec::new()),
            Ending::Found => return self.stop_at(part, Stopper::Found),
            Ending::Kinds => return self.stop_at(part, Stopper::Kinds),
            Ending::Indivisible => Failure::Indivisible,
            Ending::Diverged => Failure::Diverged,
        };
        self.fail(failure);
        self.drop_piece();
    }
}

/// What came of an interval.
#[derive(Clone, Debug)]
pub struct Explored {
    pub part: Part,
    pub ending: Ending,
    /// An interval, too.
    pub left: Vec<Piece>,
}

/// Explores intervals for somebody else, with a program of its own.
pub struct Explorer {
    program: Program,
    setup: Setup,
    /// So many entries of the journal are known to all.
    base: usize,
}

impl Explorer {
    /// None if the program cannot be made, or is not the one that the journal is of.
    #[must_use]
    pub fn new(source: &ProgramSource, setup: Setup, journal: &Journal) -> Option<Self> {
        let mut program = source()?;
        program.retrace(journal).ok()?;
        let base = program.journal().entries.len();
        Some(Self {
            program,
            setup,
            base,
        })
    }

    /// What it has found out about the program, from the `from`-th thing on.
    #[must_use]
    pub fn entries(&self, from: usize) -> &[Entry] {
        let own = &self.program.journal().entries[self.base..];
        own.get(from..).unwrap_or_default()
    }

    /// Explores an interval until all is done, something is found, or somebody calls. After [`Ending::Kinds`] it is of no use any more.
    pub fn explore(&mut self, interval: Vec<Piece>, link: &Arc<Link>) -> Explored {
        let start = interval.first().map(Piece::start).unwrap_or_default();
        let mut explored = Explored {
            part: Part {
                start: start.clone(),
                ..Part::default()
            },
            ending: Ending::Explored,
            left: Vec::new(),
        };
        let mut rest = interval.into_iter();
        while let Some(piece) = rest.next() {
            let Setup {
                memory, reductions, ..
            } = self.setup;
            let program = &mut self.program;
            let mut frame = Frame::of_worker(&self.setup, Arc::clone(link));
            let mut search =
                graph::Search::of_piece(program, memory, reductions, &mut frame, piece);
            let flow = search.run(program, &mut frame);
            if search.is_indivisible() {
                explored.ending = Ending::Indivisible;
                return explored;
            }
            let mut part = frame.part(start.clone());
            part.notes = search.notes().to_vec();
            explored.part.follow(part);
            if flow.is_continue() {
                if search.has_diverged() {
                    explored.ending = Ending::Diverged;
                    return explored;
                }
                continue;
            }
            if frame.is_stopped() || frame.take_call() {
                explored.left = search.pending();
                explored.left.extend(rest);
                explored.left.sort_by_key(Piece::start);
                return explored;
            }
            explored.ending = match program.must_read_kinds() {
                true => Ending::Kinds,
                false => Ending::Found,
            };
            return explored;
        }
        explored
    }
}

/// How much of the tree an interval is, as far as its shape tells.
#[must_use]
pub fn share(interval: &[Piece]) -> f64 {
    interval.iter().map(Piece::share).sum()
}

/// An interval as several, at most so many, of about the same size as far as its shape tells.
#[must_use]
pub fn divided(interval: Vec<Piece>, count: usize) -> Vec<Vec<Piece>> {
    let each = share(&interval) / count.max(1) as f64;
    let mut parts: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut room = each;
    for mut piece in interval {
        loop {
            let last = parts.len() == count.max(1);
            let ways = piece.ranks.len();
            // Nobody has looked how many ways there are.
            let one = match piece.of {
                0 => piece.share(),
                _ => piece.share() / ways as f64,
            };
            let fits = (room / one).round() as usize;
            // Shares of what lies deep may be too small for a number.
            if last || piece.of == 0 || fits >= ways || one < f64::MIN_POSITIVE {
                room -= piece.share();
                parts.last_mut().expect("there is one").push(piece);
                break;
            }
            if fits > 0 {
                let mut first = piece.clone();
                first.ranks.end = first.ranks.start + fits as u32;
                piece.ranks.start = first.ranks.end;
                parts.last_mut().expect("there is one").push(first);
            }
            if parts.last().is_some_and(|part| !part.is_empty()) {
                parts.push(Vec::new());
                room = each;
            } else {
                // It is larger than what there is room for.
                room = one;
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Where an interval begins.
#[must_use]
pub fn start(interval: &[Piece]) -> Place {
    interval.first().map(Piece::start).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_judge::piece::Turn;

    /// Whatever it is divided into is the same tree, in the same order.
    #[test]
    fn parts_of_an_interval_are_all_of_it() {
        let deep = |count: usize| vec![Turn { rank: 0, of: 3 }; count];
        let piece = |path, ranks, of| Piece { path, ranks, of };
        let mut interval = vec![
            piece(deep(2000), 1..3, 3),
            piece(deep(4), 1..7, 9),
            piece(deep(3), 2..3, 3),
            piece(deep(1), 1..3, 3),
            piece(Vec::new(), 1..3, 3),
        ];
        interval.sort_by_key(Piece::start);
        let ways = |interval: &[Piece]| -> Vec<(Vec<Turn>, u32)> {
            let of_piece = |it: &Piece| {
                it.ranks
                    .clone()
                    .map(|rank| (it.path.clone(), rank))
                    .collect::<Vec<_>>()
            };
            interval.iter().flat_map(of_piece).collect()
        };
        for count in 1..20 {
            let parts = divided(interval.clone(), count);
            assert!(parts.len() <= count && parts.iter().all(|part| !part.is_empty()));
            assert_eq!(ways(&parts.concat()), ways(&interval), "{count}");
        }
        assert_eq!(divided(vec![Piece::whole()], 4), [[Piece::whole()]]);
        assert!(divided(interval, 4).len() > 2);
    }
}
