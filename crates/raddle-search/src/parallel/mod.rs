//! A search in pieces: by several workers, and at several times.
//!
//! A search begins like any other, on its own. If it is not over after a while, what is left of it is cut into pieces ([`raddle_judge::piece`]), and workers explore
//! these ([`worker`]), each with a program of its own that was brought to where the first one was ([`raddle_program::journal`]). Who has nothing to do
//! calls the others, and one of them gives the last part of its piece away; as long as nobody is idle, that costs a look at a flag after each execution.
//! Places of the tree, and their order, do not depend on who explores them. So the answer is that of the sequential search: what was counted is
//! the sum over all parts; what is told is what the leader sees when it visits, in that order, the places where workers have noted something; and if the search
//! stops at what it finds, nothing behind counts.
//!
//! What a search finds out about the program as a whole must not depend on who finds it out. There are three such things.
//! - *Uses of locations* ([`Program::learn_uses`]) are asked for as they were known when the search began; the leader learns of all edges that workers
//!   have walked when it is over, and everything is explored again if that matters, as ever.
//! - That *kinds of mutexes* must be read ends a search where it is found out, like a violation; then all begins anew.
//! - If what is explored depends on what was explored before (`graph`: additions that commute), the search is begun anew by
//!   one worker.

mod crew;
mod intervals;
mod probe;
pub(crate) mod room;
mod saved;
pub(crate) mod shared;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod words;
mod worker;

pub use crew::{
    Crew, Done, Ending, Explored, Explorer, Lost, News, divided, share as share_of, start,
};
pub use probe::{Estimate, NoTree, Prober};
pub use raddle_judge::frame::Setup;
pub use raddle_judge::link::Link;
pub(crate) use raddle_judge::piece::share;
pub use raddle_judge::piece::{Part, Piece, Place, Turn};
pub use saved::{BadCheckpoint, Saved, Shared};

use crate::frame::Frame;
use crate::graph;
use crate::verdict::Statistics;
use intervals::{Intervals, Stopper};
use raddle_judge::piece::place;
use raddle_program::Program;
use room::{Failure, Room};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use worker::Work;

/// Makes the program again, for another thread.
pub type ProgramSource = Arc<dyn Fn() -> Option<Program> + Send + Sync>;

/// Is given what is left of a search, now and then and when it is stopped.
pub type CheckpointSink = Box<dyn FnMut(&Saved)>;

/// How a search is cut into pieces.
pub struct Division {
    pub source: ProgramSource,
    pub workers: usize,
    /// After so many looks around (each about a thousand events) it is.
    pub warm_up: u32,
    pub checkpoint: Option<Checkpoints>,
    /// Where an earlier search was stopped.
    pub saved: Option<Saved>,
    /// Others explore the pieces.
    pub crew: Option<Box<dyn Crew>>,
}

impl Division {
    /// So much is explored before it is worth while to have others help: some tenths of a second.
    pub const WARM_UP: u32 = 256;

    #[must_use]
    pub fn new(source: ProgramSource, workers: usize) -> Self {
        Self {
            source,
            workers: workers.max(1),
            warm_up: Self::WARM_UP,
            checkpoint: None,
            saved: None,
            crew: None,
        }
    }

    /// Is there any need for it?
    pub(crate) fn is_wanted(&self) -> bool {
        self.workers > 1 || self.checkpoint.is_some() || self.saved.is_some() || self.crew.is_some()
    }
}

/// Keeps what is left of a search.
pub struct Checkpoints {
    pub sink: CheckpointSink,
    pub every: Duration,
}

/// Workers run what the program's threads do, however deep they call.
pub(crate) const STACK_BYTES: usize = 256 << 20;
/// The leader looks at the clock this often.
const MOMENT: Duration = Duration::from_millis(100);

/// Explores execution graphs, in pieces where that is worth while.
pub(crate) fn explore(
    program: &mut Program,
    frame: &mut Frame,
    division: &mut Division,
) -> ControlFlow<()> {
    let setup = frame.setup();
    // Nobody else would know.
    if division.saved.is_none() && program.knows_additions() {
        return first_search(program, &setup, frame).run(program, frame);
    }
    let is_resumed = division.saved.is_some();
    let (pending, parts) = match division.saved.take() {
        Some(saved) => {
            frame.count_parts(saved.parts.iter());
            (saved.pending, saved.parts)
        }
        None => {
            let mut search = first_search(program, &setup, frame);
            frame.warm_up(Some(division.warm_up));
            let flow = search.run(program, frame);
            let goes_on = frame.take_call();
            frame.warm_up(None);
            if goes_on && (search.is_indivisible() || program.knows_additions()) {
                return search.run(program, frame);
            }
            let mut part = frame.part(Place::new());
            part.notes = search.notes().to_vec();
            match flow {
                ControlFlow::Continue(()) => return flow,
                // It was stopped, or has found something.
                ControlFlow::Break(()) if frame.is_stopped() => {
                    if search.is_indivisible() || program.knows_additions() {
                        return flow;
                    }
                    save(program, division, search.pending(), vec![part]);
                    return flow;
                }
                ControlFlow::Break(()) if !goes_on => return flow,
                ControlFlow::Break(()) => (search.pending(), vec![part]),
            }
        }
    };
    let leader = |room| Leader {
        room,
        setup,
        flow: ControlFlow::Continue(()),
        diverged: false,
    };
    if division.crew.is_some() {
        let room = Room::new(Intervals::new(Vec::new(), parts.clone(), 0), 0);
        let journal = program.journal().clone();
        let saved = Saved {
            journal,
            pending,
            parts,
            shared: None,
        };
        return leader(&room).lead_crew(program, frame, division, &saved);
    }
    let intervals = Intervals::new(pending, parts, division.workers);
    let room = Room::new(intervals, division.workers);
    if is_resumed {
        room.trust_no_piece();
    }
    leader(&room).lead(program, frame, division)
}

fn first_search(program: &Program, setup: &Setup, frame: &mut Frame) -> graph::Search {
    graph::Search::of_piece(
        program,
        setup.memory,
        setup.reductions,
        frame,
        Piece::whole(),
    )
}

fn save(program: &Program, division: &mut Division, pending: Vec<Piece>, parts: Vec<Part>) {
    if let Some(checkpoints) = &mut division.checkpoint {
        (checkpoints.sink)(&Saved {
            journal: program.journal().clone(),
            pending,
            parts,
            shared: None,
        });
    }
}

/// Whoever began the search, and has its frame.
struct Leader<'a> {
    room: &'a Room<Intervals>,
    setup: Setup,
    /// Has the frame seen enough?
    flow: ControlFlow<()>,
    diverged: bool,
}

impl Leader<'_> {
    fn lead(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        division: &mut Division,
    ) -> ControlFlow<()> {
        let found = frame.found();
        let journal = program.journal().clone();
        let source = Arc::clone(&division.source);
        let setup = self.setup.clone();
        let work = &Work {
            room: self.room,
            source: &source,
            setup: &setup,
            journal: &journal,
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
            let mut saved = Instant::now();
            while !self.room.is_done() {
                self.room.wait_a_moment(MOMENT);
                if self.setup.watch.is_over() {
                    self.room.stop();
                }
                self.tell_progress(frame);
                let news = std::mem::take(&mut self.room.lock().stock.news);
                (self.flow, self.diverged) = self.visit_parts(program, frame, &news);
                if let Some(checkpoints) = &division.checkpoint
                    && saved.elapsed() >= checkpoints.every
                {
                    self.checkpoint(program, division);
                    saved = Instant::now();
                }
            }
        });
        self.conclude(program, frame, division, found)
    }

    /// Keeps what is left, without anybody at work.
    fn checkpoint(&self, program: &mut Program, division: &mut Division) {
        let state = self.room.hold(|state| {
            let stock = &state.stock;
            let whole = state.failure.is_none() && stock.bound.is_none();
            whole.then(|| {
                (
                    stock.journals.clone(),
                    stock.pending.values().cloned().collect(),
                    compact(&stock.parts, &stock.pending),
                )
            })
        });
        if let Some((journals, pending, parts)) = state {
            for journal in &journals {
                // Whoever has not begun yet has none.
                let _ = program.absorb(journal);
            }
            save(program, division, pending, parts);
        }
    }

    fn tell_progress(&self, frame: &mut Frame) {
        let mut sum = Statistics::default();
        let (workers, pieces) = {
            let state = self.room.lock();
            (state.busy, state.stock.pending.len() + state.busy)
        };
        // What was counted before there were workers.
        let before = frame.counted();
        (sum.complete, sum.blocked) = (before.complete, before.blocked);
        (sum.threads, sum.max_events) = (before.threads, before.max_events);
        for link in &self.room.links {
            let (complete, blocked) = link.counts();
            sum.complete += complete;
            sum.blocked += blocked;
        }
        frame.tell_progress(&sum, workers, pieces, self.room.explored());
    }

    /// Looks at what was noted in these parts.
    fn visit_parts(
        &self,
        program: &mut Program,
        frame: &mut Frame,
        starts: &[Place],
    ) -> (ControlFlow<()>, bool) {
        let (mut flow, mut diverged) = (self.flow, self.diverged);
        for start in starts {
            let notes = {
                let state = self.room.lock();
                let part = state.stock.parts.get(start);
                part.map(|part| part.notes.clone())
            };
            for path in notes.unwrap_or_default() {
                if flow.is_continue() {
                    match self.visit(program, frame, &path) {
                        ControlFlow::Continue(found) => diverged |= !found,
                        ControlFlow::Break(()) => flow = ControlFlow::Break(()),
                    }
                }
            }
        }
        (flow, diverged)
    }

    fn visit(
        &self,
        program: &mut Program,
        frame: &mut Frame,
        path: &[Turn],
    ) -> ControlFlow<(), bool> {
        let Setup {
            memory, reductions, ..
        } = self.setup;
        let counted = frame.counted().clone();
        let flow = graph::Search::visit(program, memory, reductions, frame, path);
        frame.set_counted(counted);
        flow
    }

    /// The answer of the sequential search.
    fn conclude(
        &mut self,
        program: &mut Program,
        frame: &mut Frame,
        division: &mut Division,
        found: raddle_judge::frame::Found,
    ) -> ControlFlow<()> {
        let state = std::mem::take(&mut *self.room.lock());
        if state.failure.is_some() || self.diverged {
            let is_expected = matches!(
                state.failure,
                Some(Failure::Indivisible | Failure::NoWorker)
            );
            debug_assert!(
                is_expected || state.is_from_file,
                "a piece is part of the tree: {:?}",
                state.failure
            );
            return self.begin_anew(program, frame, found);
        }
        let stock = &state.stock;
        if let (false, Some((_, Stopper::Kinds))) = (state.is_stopped, &stock.bound) {
            return frame.kinds_must_be_read();
        }
        for journal in &stock.journals {
            if program.absorb(journal).is_err() {
                return self.begin_anew(program, frame, found);
            }
        }
        let bound = stock.bound.as_ref().map(|(start, _)| start.clone());
        let counts = |part: &&Part| bound.as_ref().is_none_or(|bound| part.start <= *bound);
        let counted: Vec<&Part> = stock.parts.values().filter(counts).collect();
        if state.is_stopped {
            frame.count_parts(counted.into_iter());
            let pending = stock.pending.values().cloned().collect();
            if stock.bound.is_none() {
                let parts = compact(&stock.parts, &stock.pending);
                save(program, division, pending, parts);
            }
            return match self.flow {
                ControlFlow::Continue(()) => frame.stop_with_workers(),
                found => found,
            };
        }
        // Now in the order of the sequential search, from which the first of several with the same key counts.
        frame.forget_but(found);
        let mut flow = ControlFlow::Continue(());
        let mut midway = false;
        let mut notes: Vec<&Vec<Turn>> = counted.iter().flat_map(|part| &part.notes).collect();
        notes.sort_by_key(|path| place(path));
        for path in notes {
            match self.visit(program, frame, path) {
                ControlFlow::Continue(true) => {}
                ControlFlow::Continue(false) => {
                    frame.restarted_for_one();
                    return first_search(program, &self.setup, frame).run(program, frame);
                }
                ControlFlow::Break(()) => {
                    (flow, midway) = (ControlFlow::Break(()), frame.is_midway());
                    break;
                }
            }
        }
        frame.count_parts(counted.into_iter());
        frame.set_midway(midway);
        flow
    }

    /// All of it again, by one worker.
    fn begin_anew(
        &self,
        program: &mut Program,
        frame: &mut Frame,
        found: raddle_judge::frame::Found,
    ) -> ControlFlow<()> {
        frame.forget_but(found);
        frame.restarted_for_one();
        first_search(program, &self.setup, frame).run(program, frame)
    }
}

/// Parts that are right behind each other, as one.
fn compact(
    parts: &std::collections::BTreeMap<Place, Part>,
    pending: &std::collections::BTreeMap<Place, Piece>,
) -> Vec<Part> {
    let mut compacted: Vec<Part> = Vec::new();
    for part in parts.values() {
        match compacted.last_mut() {
            Some(last)
                if pending
                    .range(last.start.clone()..part.start.clone())
                    .next()
                    .is_none() =>
            {
                last.follow(part.clone());
            }
            _ => compacted.push(part.clone()),
        }
    }
    compacted
}
