//! The search as pieces of work: a part of the tree is explored, given away, or named to be explored later, by whoever has the same program.
//!
//! What is explored below a graph depends on that graph, and on nothing that was explored before it. Threads are taken in the order of their names,
//! since their ids are numbers of whoever met them. What a search remembers of graphs that it has left makes it indivisible: that additions commute, which a
//! later graph may show to be wrong.

use super::{Level, Search};
use crate::driver::Reductions;
use crate::frame::Frame;
use crate::parallel::{Piece, Turn, share};
use raddle_memory::MemoryModel;
use raddle_program::Program;
use std::ops::{ControlFlow, Range};

/// What leads the search through what was explored before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Guide {
    /// Nothing: all ways are gone.
    Free,
    /// It is on the way to this piece, and has taken so many turns.
    Along {
        piece: Piece,
        taken: usize,
        /// What comes then: see [`Guide::Stop`].
        stops: bool,
    },
    /// It goes on only as long as there is one way.
    Stop,
    /// Any one way at each node: the state of a generator of random numbers.
    Random(u64),
}

impl Search {
    /// A search of one piece.
    pub(crate) fn of_piece(
        program: &Program,
        memory: MemoryModel,
        reductions: Reductions,
        frame: &mut Frame,
        piece: Piece,
    ) -> Self {
        Self::led_to(program, memory, reductions, frame, piece, false)
    }

    fn led_to(
        program: &Program,
        memory: MemoryModel,
        reductions: Reductions,
        frame: &mut Frame,
        piece: Piece,
        stops: bool,
    ) -> Self {
        let mut search = Self::new(program, memory, reductions, frame);
        if piece.of > 0 {
            frame.mute(true);
            search.guide = Guide::Along {
                piece,
                taken: 0,
                stops,
            };
        } else if stops {
            search.guide = Guide::Stop;
        }
        search
    }

    /// Goes to a place where something was noted, to have it told to `frame`: what comes behind the last of these turns, as long as there is one way.
    /// False if there is no such place.
    pub(crate) fn visit(
        program: &mut Program,
        memory: MemoryModel,
        reductions: Reductions,
        frame: &mut Frame,
        path: &[Turn],
    ) -> ControlFlow<(), bool> {
        let piece = Piece::behind(path);
        let mut search = Self::led_to(program, memory, reductions, frame, piece, true);
        let flow = search.run(program, frame);
        frame.mute(false);
        flow?;
        ControlFlow::Continue(!search.has_diverged())
    }

    /// Goes from the root to one leaf, any way. The turns that it took; false if what is below a graph depends on what was explored before.
    pub(crate) fn probe(
        program: &mut Program,
        memory: MemoryModel,
        reductions: Reductions,
        frame: &mut Frame,
        random: u64,
    ) -> (Vec<Turn>, bool) {
        let mut search = Self::new(program, memory, reductions, frame);
        search.guide = Guide::Random(random);
        // Whatever is found, there is no other way to go on.
        let _ = search.run(program, frame);
        let is_tree = !search.is_indivisible();
        (search.path, is_tree)
    }

    /// Is this not the tree that the piece is a part of?
    pub(crate) fn has_diverged(&self) -> bool {
        self.diverged || self.is_on_the_way()
    }

    /// Does what is explored here depend on what was explored before?
    pub(crate) fn is_indivisible(&self) -> bool {
        self.has_commuted
    }

    pub(super) fn is_on_the_way(&self) -> bool {
        matches!(self.guide, Guide::Along { .. })
    }

    /// Which of several ways to go on from here are gone; none if this is the end.
    #[cold]
    pub(super) fn guided(&mut self, frame: &mut Frame, of: u32) -> Option<Range<u32>> {
        if let Guide::Random(state) = &mut self.guide {
            let rank = below(state, of);
            return Some(rank..rank + 1);
        }
        let Guide::Along {
            piece,
            taken,
            stops,
        } = &mut self.guide
        else {
            return (self.guide == Guide::Free).then_some(0..of);
        };
        let (ranks, expected, arrives) = match piece.path.get(*taken) {
            Some(turn) => (turn.rank..turn.rank + 1, turn.of, false),
            None => (piece.ranks.clone(), piece.of, true),
        };
        *taken += 1;
        if expected != of || ranks.end > of || ranks.is_empty() {
            self.diverged = true;
            return None;
        }
        if arrives {
            self.guide = match stops {
                true => Guide::Stop,
                false => Guide::Free,
            };
            frame.mute(false);
        }
        Some(ranks)
    }

    /// Leaves these of the ways in the pool from `first` on.
    pub(super) fn keep(&mut self, first: usize, of: u32, ranks: &Range<u32>) {
        let at = |rank: u32| first + (of - rank) as usize;
        self.pool.truncate(at(ranks.start));
        self.pool.drain(first..at(ranks.end));
    }

    /// Something was told to the frame that the answer has to tell of.
    #[cold]
    pub(super) fn note(&mut self, frame: &mut Frame) {
        if frame.take_note() && self.notes.last() != Some(&self.path) {
            self.notes.push(self.path.clone());
        }
    }

    /// Where something was noted.
    pub(crate) fn notes(&self) -> &[Vec<Turn>] {
        &self.notes
    }

    /// How many ways are left at a level.
    fn left(&self, level: usize) -> usize {
        let end = self.levels.get(level + 1);
        let end = end.map_or(self.pool.len(), |next: &Level| next.first as usize);
        end - self.levels[level].first as usize
    }

    fn rest(&self, level: usize, count: usize) -> Piece {
        let Level { depth, of, end, .. } = self.levels[level];
        Piece {
            path: self.path[..depth as usize].to_vec(),
            ranks: end - count as u32..end,
            of,
        }
    }

    /// Gives a part of what is left away, the last one: none if nothing is left but what is at hand.
    pub(crate) fn split(&mut self) -> Option<Piece> {
        if self.levels.is_empty() {
            return None;
        }
        let left = self.left(0);
        let count = left.div_ceil(2);
        let piece = self.rest(0, count);
        let first = self.levels[0].first as usize;
        self.pool.drain(first..first + count);
        self.levels[0].end -= count as u32;
        for level in &mut self.levels[1..] {
            level.first -= count as u32;
        }
        if count == left {
            self.levels.remove(0);
        }
        Some(piece)
    }

    /// All that is left.
    pub(crate) fn pending(&self) -> Vec<Piece> {
        if let Guide::Along { piece, .. } = &self.guide {
            return vec![piece.clone()];
        }
        let levels = (0..self.levels.len()).map(|level| self.rest(level, self.left(level)));
        let present = (!self.at_end).then(|| Piece::behind(&self.path));
        levels.chain(present).collect()
    }

    /// How much of the tree is not left to this search, if all ways to go on from a node were equally large.
    pub(super) fn fraction(&self) -> f64 {
        let levels = (0..self.levels.len()).map(|level| {
            let Level { depth, of, .. } = self.levels[level];
            self.left(level) as f64 / f64::from(of) * share(&self.path[..depth as usize])
        });
        1.0 - levels.sum::<f64>() - share(&self.path)
    }

    /// Threads in the order of their names: those that are nearer to `main` first.
    #[cold]
    pub(super) fn order_threads(&mut self, program: &Program) {
        let name = |thread: u32| {
            let id = raddle_program::ThreadId::from_index(thread as usize);
            let path = program.tables().thread_info(id).name.path();
            (path.len(), path)
        };
        self.order = (0..self.graph.threads.len() as u32).collect();
        self.order.sort_by_key(|&thread| name(thread));
    }

    /// The way that is gone next at a level with so many of `of` left, the last of which is `end`.
    pub(super) fn turn(level: &Level, left: usize) -> Turn {
        Turn {
            rank: level.end - left as u32 - 1,
            of: level.of,
        }
    }

    pub(super) fn is_free(&self) -> bool {
        self.guide == Guide::Free
    }
}

/// A random number (SplitMix64: Steele, Lea, Flood 2014).
fn below(state: &mut u64, bound: u32) -> u32 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    ((u128::from(bits) * u128::from(bound)) >> 64) as u32
}
