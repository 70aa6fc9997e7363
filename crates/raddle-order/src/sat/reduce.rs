//! Forgetting: learnt clauses of bad glue go, satisfied clauses go, the arena is compacted.

use super::clause::{Arena, ClauseRef};
use super::{Reason, Solver, Watch};
use crate::theory::Theory;

/// Conflicts before the first reduction.
pub(super) const FIRST: u64 = 2000;
const STEP: u64 = 400;
/// Clauses with at most this glue are kept for good.
const CORE_GLUE: u32 = 2;

impl<T: Theory> Solver<T> {
    pub(super) fn reduce(&mut self) {
        self.reductions += 1;
        self.next_reduce = self.stats.conflicts + FIRST + STEP * self.reductions;
        self.delete_satisfied();
        let mut candidates = Vec::new();
        for at in 0..self.learnts.len() {
            let c = self.learnts[at];
            if self.arena.is_deleted(c) || self.arena.lbd(c) <= CORE_GLUE || self.arena.len(c) == 2
            {
                continue;
            }
            let used = self.arena.used(c);
            if used > 0 {
                self.arena.set_used(c, used - 1);
            } else if !self.is_locked(c) {
                candidates.push(c);
            }
        }
        // The order of equal clauses is their age: the sort is stable.
        candidates.sort_by_key(|&c| (self.arena.lbd(c), self.arena.len(c)));
        let half = candidates.len() / 2;
        for &c in &candidates[half..] {
            self.delete(c);
        }
        self.sweep();
    }

    fn delete(&mut self, c: ClauseRef) {
        self.stats.deleted_clauses += 1;
        if let Some(proof) = &mut self.proof {
            proof.deleted(self.arena.lits(c));
        }
        self.arena.delete(c);
    }

    /// It is the reason of a literal that is true.
    fn is_locked(&self, c: ClauseRef) -> bool {
        let first = self.arena.lits(c)[0];
        self.value(first) > 0 && self.reason[first.var().index()] == Reason::Clause(c)
    }

    /// Clauses that are true at the root can never matter again. Only looked for when the root has grown.
    fn delete_satisfied(&mut self) {
        let root = self.trail_lim.first().copied().unwrap_or(self.trail.len());
        if root == self.root_simplified {
            return;
        }
        self.root_simplified = root;
        for at in 0..root {
            // Facts need no reason, so that no clause is locked by one.
            self.reason[self.trail[at].var().index()] = Reason::None;
        }
        for list in [0, 1] {
            let refs = if list == 0 {
                self.clauses.clone()
            } else {
                self.learnts.clone()
            };
            for c in refs {
                let satisfied = self
                    .arena
                    .lits(c)
                    .iter()
                    .any(|&lit| self.value(lit) > 0 && self.level_of(lit) == 0);
                if satisfied {
                    self.delete(c);
                }
            }
        }
    }

    /// Removes deleted clauses from every list, and compacts the arena if enough of it is waste.
    fn sweep(&mut self) {
        let arena = &self.arena;
        self.clauses.retain(|&c| !arena.is_deleted(c));
        self.learnts.retain(|&c| !arena.is_deleted(c));
        for list in &mut self.watches {
            list.retain(|watch| !arena.is_deleted(watch.clause()));
        }
        if self.arena.is_wasteful() {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let mut new = self.arena.sized_for_live();
        relocate_all(&mut self.clauses, &mut self.arena, &mut new);
        relocate_all(&mut self.learnts, &mut self.arena, &mut new);
        for list in &mut self.watches {
            for watch in list {
                let c = self.arena.relocate(watch.clause(), &mut new);
                *watch = Watch {
                    clause: c.0 | (watch.clause & super::BINARY),
                    blocker: watch.blocker,
                };
            }
        }
        for &lit in &self.trail {
            if let Reason::Clause(c) = &mut self.reason[lit.var().index()] {
                *c = self.arena.relocate(*c, &mut new);
            }
        }
        debug_assert!(self.lemmas.is_empty());
        self.arena = new;
    }
}

fn relocate_all(refs: &mut [ClauseRef], from: &mut Arena, to: &mut Arena) {
    for c in refs {
        *c = from.relocate(*c, to);
    }
}
