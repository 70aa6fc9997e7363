//! Clauses in one arena, addressed by 32-bit offsets.
//!
//! A clause is three header words and its literals. The header words are stored as raw `Lit`s, so that the arena is one
//! vector of one type and a clause's literals are a plain slice of it. The limit is 2^31 words (8 GiB): the top bit of a
//! reference marks binary clauses in watch lists.

use crate::lit::Lit;

/// Offset of a clause's header in the arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ClauseRef(pub(super) u32);

const HEADER: usize = 3;
const LEARNT: u32 = 1;
const DELETED: u32 = 2;
const MOVED: u32 = 4;
const FLAG_BITS: u32 = 3;

#[derive(Default)]
pub(super) struct Arena {
    words: Vec<Lit>,
    wasted: usize,
}

impl Arena {
    pub(super) fn alloc(&mut self, lits: &[Lit], learnt: bool, lbd: u32) -> ClauseRef {
        let at = u32::try_from(self.words.len()).expect("clause arena fits 32 bits");
        assert!(at < 1 << 31, "the clause arena is full");
        let len = u32::try_from(lits.len()).expect("a clause fits 32 bits");
        self.words
            .push(Lit(len << FLAG_BITS | if learnt { LEARNT } else { 0 }));
        self.words.push(Lit(lbd));
        self.words.push(Lit(0));
        self.words.extend_from_slice(lits);
        ClauseRef(at)
    }

    #[inline]
    fn header(&self, c: ClauseRef) -> u32 {
        self.words[c.0 as usize].0
    }

    #[inline]
    pub(super) fn len(&self, c: ClauseRef) -> usize {
        (self.header(c) >> FLAG_BITS) as usize
    }

    #[inline]
    pub(super) fn lits(&self, c: ClauseRef) -> &[Lit] {
        let at = c.0 as usize + HEADER;
        &self.words[at..at + self.len(c)]
    }

    #[inline]
    pub(super) fn lits_mut(&mut self, c: ClauseRef) -> &mut [Lit] {
        let at = c.0 as usize + HEADER;
        let len = self.len(c);
        &mut self.words[at..at + len]
    }

    #[inline]
    pub(super) fn is_learnt(&self, c: ClauseRef) -> bool {
        self.header(c) & LEARNT != 0
    }

    #[inline]
    pub(super) fn is_deleted(&self, c: ClauseRef) -> bool {
        self.header(c) & DELETED != 0
    }

    pub(super) fn delete(&mut self, c: ClauseRef) {
        self.wasted += HEADER + self.len(c);
        self.words[c.0 as usize].0 |= DELETED;
    }

    #[inline]
    pub(super) fn lbd(&self, c: ClauseRef) -> u32 {
        self.words[c.0 as usize + 1].0
    }

    #[inline]
    pub(super) fn set_lbd(&mut self, c: ClauseRef, lbd: u32) {
        self.words[c.0 as usize + 1].0 = lbd;
    }

    /// How many more reductions the clause survives for having been used in a conflict.
    #[inline]
    pub(super) fn used(&self, c: ClauseRef) -> u32 {
        self.words[c.0 as usize + 2].0
    }

    #[inline]
    pub(super) fn set_used(&mut self, c: ClauseRef, used: u32) {
        self.words[c.0 as usize + 2].0 = used;
    }

    pub(super) fn is_wasteful(&self) -> bool {
        self.wasted * 4 > self.words.len()
    }

    /// Moves `c` to `to` unless that was done before; its new place either way.
    pub(super) fn relocate(&mut self, c: ClauseRef, to: &mut Arena) -> ClauseRef {
        debug_assert!(!self.is_deleted(c));
        if self.header(c) & MOVED != 0 {
            return ClauseRef(self.words[c.0 as usize + 1].0);
        }
        let new = to.alloc(self.lits(c), self.is_learnt(c), self.lbd(c));
        to.set_used(new, self.used(c));
        self.words[c.0 as usize].0 |= MOVED;
        self.words[c.0 as usize + 1].0 = new.0;
        new
    }

    pub(super) fn sized_for_live(&self) -> Arena {
        Arena {
            words: Vec::with_capacity(self.words.len() - self.wasted),
            wasted: 0,
        }
    }
}
