//! From a false clause to a learnt one: first unique implication point, recursive minimisation, glue.

use super::clause::ClauseRef;
use super::{Reason, Scratch, Solver};
use crate::lit::Lit;
use crate::theory::Theory;

/// What analysis made of a conflict.
pub(super) enum Analysis {
    /// `scratch.learnt` is the clause, the asserting literal first, then a literal of the level to jump to.
    Learnt { jump: u32, glue: u32 },
    /// A literal of the conflict was implied by literals of lower levels only, and so should have been true since
    /// `level`. Going back there and implying it is progress; the conflict shows up again if it is one.
    Late {
        lit: Lit,
        reason: Reason,
        level: u32,
    },
}

impl<T: Theory> Solver<T> {
    /// `conflict` is false, and at least one of its literals is of the current level.
    pub(super) fn analyze(&mut self, conflict: ClauseRef) -> Analysis {
        let level = self.current_level();
        self.scratch.learnt.clear();
        self.scratch.learnt.push(Lit::TRUE);
        let mut open = self.absorb(conflict, None, level);
        debug_assert!(open > 0, "the conflict is of the current level");
        let mut at = self.trail.len();
        let uip = loop {
            at -= 1;
            let lit = self.trail[at];
            if !self.seen[lit.var().index()] {
                continue;
            }
            if open == 1 {
                break lit;
            }
            let reason = self.reason_clause(lit);
            let Some(c) = reason else {
                // Only the theory implies without any antecedent: `lit` is a fact.
                return self.give_up(lit, Reason::None, 0);
            };
            let newly_open = self.absorb(c, Some(lit), level);
            if newly_open == 0 && !self.depends_on_level(c, lit, level) {
                let late = self.highest_other_level(c, lit);
                return self.give_up(lit, Reason::Clause(c), late);
            }
            open += newly_open;
            open -= 1;
        };
        self.scratch.learnt[0] = !uip;
        self.minimise();
        let jump = self.place_second_watch();
        let glue = self.glue_of_learnt();
        self.clear_seen();
        Analysis::Learnt { jump, glue }
    }

    fn give_up(&mut self, lit: Lit, reason: Reason, level: u32) -> Analysis {
        self.clear_seen();
        Analysis::Late { lit, reason, level }
    }

    fn clear_seen(&mut self) {
        for lit in self.scratch.to_clear.drain(..) {
            self.seen[lit.var().index()] = false;
        }
    }

    /// Marks the literals of `c` except `skip`; how many of the current level were new.
    fn absorb(&mut self, c: ClauseRef, skip: Option<Lit>, level: u32) -> usize {
        self.note_use(c);
        let mut open = 0;
        for k in 0..self.arena.len(c) {
            let lit = self.arena.lits(c)[k];
            let var = lit.var().index();
            if skip == Some(lit) || self.seen[var] || self.level[var] == 0 {
                continue;
            }
            self.seen[var] = true;
            self.scratch.to_clear.push(lit);
            self.heap.bump(lit.var(), 1.0);
            if self.level[var] == level {
                open += 1;
            } else {
                self.scratch.learnt.push(lit);
            }
        }
        open
    }

    /// Learnt clauses that take part in conflicts live longer, and their glue is kept up to date.
    fn note_use(&mut self, c: ClauseRef) {
        if !self.arena.is_learnt(c) || self.arena.lbd(c) <= 2 {
            return;
        }
        let glue = self.glue_of_clause(c);
        if glue < self.arena.lbd(c) {
            self.arena.set_lbd(c, glue);
        }
        self.arena
            .set_used(c, if self.arena.lbd(c) <= 6 { 2 } else { 1 });
    }

    fn depends_on_level(&self, c: ClauseRef, implied: Lit, level: u32) -> bool {
        self.arena
            .lits(c)
            .iter()
            .any(|&lit| lit != implied && self.level_of(lit) == level)
    }

    fn highest_other_level(&self, c: ClauseRef, implied: Lit) -> u32 {
        let others = self.arena.lits(c).iter().filter(|&&lit| lit != implied);
        others.map(|&lit| self.level_of(lit)).max().unwrap_or(0)
    }

    /// The clause that implied `lit`; an implication of the theory becomes a clause now.
    fn reason_clause(&mut self, lit: Lit) -> Option<ClauseRef> {
        match self.reason[lit.var().index()] {
            Reason::Clause(c) => Some(c),
            Reason::None => {
                unreachable!("a decision is the last literal of its level to be resolved")
            }
            Reason::Theory => {
                self.stats.theory_explained += 1;
                let mut clause = std::mem::take(&mut self.scratch.reasons);
                self.explanation_clause(lit, &mut clause);
                let made = (clause.len() > 1).then(|| self.add_learnt_theory_clause(&clause));
                self.scratch.reasons = clause;
                if let Some(c) = made {
                    self.reason[lit.var().index()] = Reason::Clause(c);
                }
                made
            }
        }
    }

    /// `lit` or the negation of one of its reasons, without what is false anyway; sorted for watching: `lit` first, then
    /// by level.
    pub(super) fn explanation_clause(&mut self, lit: Lit, clause: &mut Vec<Lit>) {
        clause.clear();
        self.theory.explain(lit, clause);
        for reason in clause.iter_mut() {
            debug_assert!(
                self.values[reason.index()] > 0,
                "{reason:?} explains {lit:?} but is not true"
            );
            *reason = !*reason;
        }
        let mut full = self.to_prove(clause);
        if self.proof.is_some() {
            full.push(lit);
            self.prove_lemma(&full);
        }
        clause.retain(|&reason| self.level[reason.var().index()] > 0);
        clause.sort_unstable_by_key(|&reason| {
            (std::cmp::Reverse(self.level[reason.var().index()]), reason)
        });
        clause.dedup();
        clause.insert(0, lit);
        self.prove_shortened(&full, clause);
    }

    pub(super) fn add_learnt_theory_clause(&mut self, clause: &[Lit]) -> ClauseRef {
        let glue = self.glue_of(clause);
        let c = self.arena.alloc(clause, true, glue);
        self.arena.set_used(c, 1);
        self.learnts.push(c);
        self.attach(c);
        c
    }

    /// Drops literals that the rest of the clause implies.
    fn minimise(&mut self) {
        let mut kept = 1;
        // The levels of the clause get this stamp, variables that were found not to be redundant too.
        self.scratch.stamp += 1;
        for k in 1..self.scratch.learnt.len() {
            let level = self.level[self.scratch.learnt[k].var().index()] as usize;
            self.scratch.level_stamp[level] = self.scratch.stamp;
        }
        for k in 1..self.scratch.learnt.len() {
            let lit = self.scratch.learnt[k];
            if !self.is_redundant(lit) {
                self.scratch.learnt[kept] = lit;
                kept += 1;
            }
        }
        self.scratch.learnt.truncate(kept);
        self.stats.learnt_literals += kept as u64;
    }

    /// Every way back from `lit` ends in literals of the clause. Implications of the theory that no conflict asked about
    /// count as ends: explaining them would cost more than the literal is worth.
    fn is_redundant(&mut self, lit: Lit) -> bool {
        if !matches!(self.reason[lit.var().index()], Reason::Clause(_)) {
            return false;
        }
        let marked_before = self.scratch.to_clear.len();
        self.scratch.stack.clear();
        self.scratch.stack.push(lit);
        while let Some(lit) = self.scratch.stack.pop() {
            let Reason::Clause(c) = self.reason[lit.var().index()] else {
                unreachable!("only these are pushed")
            };
            for k in 0..self.arena.len(c) {
                let other = self.arena.lits(c)[k];
                let var = other.var().index();
                if other.var() == lit.var() || self.seen[var] || self.level[var] == 0 {
                    continue;
                }
                if self.is_hopeless(var) {
                    self.scratch.hopeless[var] = self.scratch.stamp;
                    self.give_up_from(marked_before);
                    return false;
                }
                self.seen[var] = true;
                self.scratch.to_clear.push(other);
                self.scratch.stack.push(other);
            }
        }
        true
    }

    /// The variable cannot be implied by the clause: it has no clause as reason, is of a level of its own, or was found to
    /// be hopeless before.
    fn is_hopeless(&self, var: usize) -> bool {
        let Scratch {
            hopeless,
            level_stamp,
            stamp,
            ..
        } = &self.scratch;
        hopeless[var] == *stamp
            || level_stamp[self.level[var] as usize] != *stamp
            || !matches!(self.reason[var], Reason::Clause(_))
    }

    /// What was met on the way is not redundant, or will have to be looked at by itself. Either way it need not be met
    /// again.
    fn give_up_from(&mut self, from: usize) {
        for lit in self.scratch.to_clear.drain(from..) {
            self.seen[lit.var().index()] = false;
            self.scratch.hopeless[lit.var().index()] = self.scratch.stamp;
        }
    }

    /// Puts a literal of the highest remaining level second; that level.
    fn place_second_watch(&mut self) -> u32 {
        let learnt = &mut self.scratch.learnt;
        let Some(highest) = (1..learnt.len()).max_by_key(|&k| self.level[learnt[k].var().index()])
        else {
            return 0;
        };
        learnt.swap(1, highest);
        self.level[learnt[1].var().index()]
    }

    fn glue_of_learnt(&mut self) -> u32 {
        let learnt = std::mem::take(&mut self.scratch.learnt);
        let glue = self.glue_of(&learnt);
        self.scratch.learnt = learnt;
        glue
    }

    fn glue_of_clause(&mut self, c: ClauseRef) -> u32 {
        self.scratch.stamp += 1;
        let (stamp, marks) = (self.scratch.stamp, &mut self.scratch.level_stamp);
        count_levels(self.arena.lits(c), &self.level, marks, stamp)
    }

    /// How many levels the literals are of.
    fn glue_of(&mut self, lits: &[Lit]) -> u32 {
        self.scratch.stamp += 1;
        let (stamp, marks) = (self.scratch.stamp, &mut self.scratch.level_stamp);
        count_levels(lits, &self.level, marks, stamp)
    }

    /// The assumptions that led to `failed` being false, `failed` included.
    pub(super) fn analyze_final(&mut self, failed: Lit) {
        self.core.clear();
        self.core.push(failed);
        if self.level_of(failed) == 0 {
            return;
        }
        self.seen[failed.var().index()] = true;
        self.scratch.to_clear.push(failed);
        for at in (self.trail_lim[0]..self.trail.len()).rev() {
            let lit = self.trail[at];
            if !self.seen[lit.var().index()] {
                continue;
            }
            if self.reason[lit.var().index()] == Reason::None {
                self.core.push(lit);
                continue;
            }
            let Some(c) = self.reason_clause(lit) else {
                continue;
            };
            for k in 0..self.arena.len(c) {
                let other = self.arena.lits(c)[k];
                let var = other.var().index();
                if other.var() != lit.var() && !self.seen[var] && self.level[var] > 0 {
                    self.seen[var] = true;
                    self.scratch.to_clear.push(other);
                }
            }
        }
        self.clear_seen();
        self.core.sort_unstable();
        self.core.dedup();
    }
}

fn count_levels(lits: &[Lit], level: &[u32], marks: &mut [u64], stamp: u64) -> u32 {
    let mut count = 0;
    for lit in lits {
        let level = level[lit.var().index()] as usize;
        if marks[level] != stamp {
            marks[level] = stamp;
            count += 1;
        }
    }
    count
}
