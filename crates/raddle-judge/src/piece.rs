//! Pieces of a search: parts of its tree, named in a way that means the same to everybody who has the same program.
//!
//! The tree of a search is a function of the program and of what was known of it when the search began. So a place in it is named by the turns that
//! lead there: at each node with several ways to go on, which of them was taken. The sequential search visits places in the order of
//! their ranks; that order is what "before" means here.

use crate::verdict::BlockedCounts;
use std::ops::Range;

/// A way to go on that was taken, of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The how-many-th in the order of the sequential search, from 0.
    pub rank: u32,
    /// How many there were: whoever takes the turn again must find as many.
    pub of: u32,
}

/// A place in the order of the sequential search.
pub type Place = Vec<u32>;

#[must_use]
pub fn place(path: &[Turn]) -> Place {
    path.iter().map(|turn| turn.rank).collect()
}

/// How much of the tree is behind these turns, if all ways to go on from a node were equally large.
#[must_use]
pub fn share(path: &[Turn]) -> f64 {
    path.iter().map(|turn| 1.0 / f64::from(turn.of)).product()
}

/// A part of the tree: some of the ways to go on from one node, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The turns that lead to the node.
    pub path: Vec<Turn>,
    pub ranks: Range<u32>,
    /// How many ways there are to go on from the node; 0 if nobody has looked: then this is the whole tree.
    pub of: u32,
}

impl Piece {
    #[must_use]
    pub fn whole() -> Self {
        Self {
            path: Vec::new(),
            ranks: 0..u32::MAX,
            of: 0,
        }
    }

    /// Everything behind these turns.
    #[must_use]
    pub fn behind(path: &[Turn]) -> Self {
        match path.split_last() {
            None => Self::whole(),
            Some((&Turn { rank, of }, path)) => Self {
                path: path.to_vec(),
                ranks: rank..rank + 1,
                of,
            },
        }
    }

    /// How much of the tree it is, if all ways to go on from a node were equally large: Knuth's estimate.
    #[must_use]
    pub fn share(&self) -> f64 {
        let ways = match self.of {
            0 => 1.0,
            of => self.ranks.len() as f64 / f64::from(of),
        };
        ways * share(&self.path)
    }

    /// Where it begins. The whole tree begins before everything else.
    #[must_use]
    pub fn start(&self) -> Place {
        let mut start = place(&self.path);
        if self.of > 0 {
            start.push(self.ranks.start);
        }
        start
    }
}

/// What was counted in a part of the tree, one without gaps in the order of the sequential search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub start: Place,
    pub complete: u64,
    pub blocked: u64,
    pub blocked_by: BlockedCounts,
    pub cut: u64,
    pub threads: usize,
    pub max_events: usize,
    /// Did an execution come to its end?
    pub any_end: bool,
    /// Where something was found that the answer tells of: a violation, a bound, what is out of reach.
    pub notes: Vec<Vec<Turn>>,
}

impl Part {
    /// Adds what was counted right behind it.
    pub fn follow(&mut self, next: Self) {
        self.complete += next.complete;
        self.blocked += next.blocked;
        self.blocked_by.add(&next.blocked_by);
        self.cut += next.cut;
        self.threads = self.threads.max(next.threads);
        self.max_events = self.max_events.max(next.max_events);
        self.any_end |= next.any_end;
        self.notes.extend(next.notes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_in_the_order_of_the_search() {
        let turn = |rank, of| Turn { rank, of };
        let path = [turn(1, 3), turn(0, 2)];
        let rest = |path: &[Turn], ranks: Range<u32>, of| Piece {
            path: path.to_vec(),
            ranks,
            of,
        };
        let mut pieces = [
            rest(&[], 2..3, 3),
            Piece::behind(&path),
            rest(&path[..1], 1..2, 2),
            Piece::whole(),
        ];
        pieces.sort_by_key(Piece::start);
        assert_eq!(pieces[0], Piece::whole());
        assert_eq!(pieces[1].ranks, 0..1);
        assert_eq!(pieces[2].start(), vec![1, 1]);
        assert_eq!(pieces[3].start(), vec![2]);
        assert_eq!(Piece::behind(&[]), Piece::whole());
        let shares: Vec<f64> = pieces.iter().map(|piece| piece.share() * 6.0).collect();
        assert_eq!(
            shares.iter().map(|it| it.round()).collect::<Vec<_>>(),
            [6.0, 1.0, 1.0, 2.0]
        );
    }
}
