//! The search: propagate, ask the theory, learn or decide.

use super::analyze::Analysis;
use super::clause::ClauseRef;
use super::{Limits, Outcome, Reason, Solver, Stopped};
use crate::lit::{Lit, Values, Var};
use crate::theory::Theory;
use std::sync::atomic::Ordering;
use std::time::Instant;

const FOCUSED_DECAY: f64 = 0.95;
const STABLE_DECAY: f64 = 0.97;
/// Looking at the clock is slow; so is learning a clause, and this many are learnt in milliseconds.
const STEPS_BETWEEN_LOOKS: u64 = 128;

/// What stands against the assignment.
enum Conflict {
    /// A clause that is false.
    Clause(ClauseRef),
    /// The theory proved a unit clause, the literal of which is false: `lit` holds in every model.
    Fact(Lit),
    /// The theory proved the empty clause.
    Empty,
}

enum Next {
    Decide(Lit),
    /// An assumption is false.
    Failed(Lit),
    /// Everything has a value.
    Complete,
}

impl<T: Theory> Solver<T> {
    /// Looks for a model in which `assumptions` hold.
    pub fn solve(&mut self, assumptions: &[Lit], limits: &Limits<'_>) -> Outcome {
        debug_assert!(self.trail_lim.is_empty());
        self.core.clear();
        self.ask_theory = true;
        let conflicts = self.stats.conflicts;
        let conflict_limit = limits
            .conflicts
            .map(|count| conflicts.saturating_add(count));
        self.lift();
        let outcome = self.search(assumptions, limits, conflict_limit);
        self.backtrack(0);
        outcome
    }

    fn search(
        &mut self,
        assumptions: &[Lit],
        limits: &Limits<'_>,
        conflict_limit: Option<u64>,
    ) -> Outcome {
        let mut steps = 0_u64;
        let mut counted = self.stats.propagations;
        while self.consistent {
            if let Some(conflict) = self.propagate() {
                self.stats.conflicts += 1;
                self.learn_from(conflict);
                continue;
            }
            if let Some(left) = limits.propagations {
                let more = self.stats.propagations - counted;
                counted += more;
                let before = left.load(Ordering::Relaxed);
                left.store(before.saturating_sub(more), Ordering::Relaxed);
            }
            if let Some(reason) = self.limit_reached(limits, conflict_limit, &mut steps) {
                return Outcome::Unknown(reason);
            }
            if self.restarts.is_due() {
                self.restart(assumptions.len());
            }
            if self.stats.conflicts >= self.next_reduce {
                self.reduce();
            }
            match self.next_decision(assumptions) {
                Next::Decide(lit) => {
                    self.open_level();
                    if self.value(lit) == 0 {
                        self.enqueue(lit, Reason::None);
                    }
                }
                Next::Failed(lit) => {
                    self.analyze_final(lit);
                    return Outcome::Unsat;
                }
                Next::Complete => match self.check_model() {
                    None => return Outcome::Sat,
                    Some(conflict) => {
                        self.stats.conflicts += 1;
                        self.learn_from(conflict);
                    }
                },
            }
        }
        Outcome::Unsat
    }

    fn limit_reached(
        &self,
        limits: &Limits<'_>,
        conflicts: Option<u64>,
        steps: &mut u64,
    ) -> Option<Stopped> {
        if conflicts.is_some_and(|limit| self.stats.conflicts >= limit) {
            return Some(Stopped::Conflicts);
        }
        if limits
            .propagations
            .is_some_and(|left| left.load(Ordering::Relaxed) == 0)
        {
            return Some(Stopped::Conflicts);
        }
        *steps += 1;
        if !(*steps).is_multiple_of(STEPS_BETWEEN_LOOKS) {
            return None;
        }
        if limits.is_interrupted() {
            return Some(Stopped::Interrupted);
        }
        limits
            .deadline
            .is_some_and(|at| Instant::now() >= at)
            .then_some(Stopped::Deadline)
    }

    fn restart(&mut self, assumptions: usize) {
        self.stats.restarts += 1;
        self.restarts.restarted();
        let assumed = u32::try_from(assumptions).unwrap_or(u32::MAX);
        let keep = self
            .reusable_levels()
            .max(assumed)
            .min(self.current_level());
        self.backtrack(keep);
    }

    /// Levels whose decisions would be made again at once, because their variables are more active than any free one.
    fn reusable_levels(&mut self) -> u32 {
        let Some(next) = self.next_free() else {
            return 0;
        };
        let reused = self.trail_lim.iter().take_while(|&&start| {
            self.trail
                .get(start)
                .is_some_and(|lit| self.heap.before(lit.var(), next))
        });
        u32::try_from(reused.count()).expect("levels fit 32 bits")
    }

    /// The free variable that is decided next; it stays in the heap.
    fn next_free(&mut self) -> Option<Var> {
        while let Some(var) = self.heap.peek() {
            if self.value(var.positive()) == 0 {
                return Some(var);
            }
            self.heap.pop();
        }
        None
    }

    fn next_decision(&mut self, assumptions: &[Lit]) -> Next {
        // Assumption k is decided at level k+1; one that holds already gets an empty level, to keep the count.
        if let Some(&lit) = assumptions.get(self.trail_lim.len()) {
            return if self.value(lit) < 0 {
                Next::Failed(lit)
            } else {
                Next::Decide(lit)
            };
        }
        while let Some(var) = self.heap.pop() {
            let lit = var.positive();
            if self.value(lit) != 0 {
                continue;
            }
            self.stats.decisions += 1;
            let phases = if self.restarts.is_stable() {
                &self.best
            } else {
                &self.saved
            };
            let phase = self.theory.suggest(var).unwrap_or(phases[var.index()]);
            return Next::Decide(lit.with_sign(phase));
        }
        Next::Complete
    }

    /// Unit propagation and the theory in turn, until neither has anything to add.
    fn propagate(&mut self) -> Option<Conflict> {
        loop {
            if let Some(c) = self.propagate_units() {
                return Some(Conflict::Clause(c));
            }
            let fresh = self.theory_head..self.trail.len();
            // Facts may have been added to the theory since the last call of `solve`: it is asked even without news.
            if fresh.is_empty() && !std::mem::take(&mut self.ask_theory) {
                return None;
            }
            self.theory_head = fresh.end;
            self.answers.clear();
            self.theory
                .propagate(&self.trail[fresh], Values(&self.values), &mut self.answers);
            if self.answers.has_conflict() {
                return Some(self.take_theory_conflicts());
            }
            if let Some(conflict) = self.enqueue_implied() {
                return Some(conflict);
            }
        }
    }

    fn enqueue_implied(&mut self) -> Option<Conflict> {
        let answers = std::mem::take(&mut self.answers);
        let mut conflict = None;
        for &lit in answers.implied() {
            match self.value(lit) {
                0 => {
                    self.stats.theory_implied += 1;
                    if self.trail_lim.is_empty() {
                        self.prove_lemma(&[lit]);
                    }
                    self.enqueue(lit, Reason::Theory);
                }
                value if value < 0 => {
                    conflict = Some(self.contradicted(lit));
                    break;
                }
                _ => {}
            }
        }
        self.answers = answers;
        conflict
    }

    /// The theory implies `lit`, which is false.
    fn contradicted(&mut self, lit: Lit) -> Conflict {
        if self.trail_lim.is_empty() {
            self.prove_lemma(&[lit]);
            return Conflict::Empty;
        }
        let mut clause = std::mem::take(&mut self.scratch.reasons);
        self.explanation_clause(lit, &mut clause);
        let conflict = self.install_theory_clause(&mut clause);
        self.scratch.reasons = clause;
        conflict
    }

    fn check_model(&mut self) -> Option<Conflict> {
        self.answers.clear();
        self.theory
            .check_model(Values(&self.values), &mut self.answers);
        if self.answers.has_conflict() {
            return Some(self.take_theory_conflicts());
        }
        debug_assert!(
            self.answers.implied().is_empty(),
            "a complete assignment implies nothing new"
        );
        self.theory.accept_model();
        self.model.clear();
        self.model
            .extend(self.values.iter().step_by(2).map(|&value| value > 0));
        None
    }

    /// All clauses become learnt clauses; the first is analysed, the others are looked at again after the jump.
    fn take_theory_conflicts(&mut self) -> Conflict {
        self.stats.theory_conflicts += 1;
        let answers = std::mem::take(&mut self.answers);
        let mut clause = std::mem::take(&mut self.scratch.reasons);
        let mut first = None;
        for lits in answers.conflicts() {
            self.stats.theory_clauses += 1;
            clause.clear();
            clause.extend_from_slice(lits);
            self.prove_lemma(&clause);
            match (self.install_theory_clause(&mut clause), &first) {
                (installed, None) => first = Some(installed),
                (Conflict::Clause(c), Some(_)) => self.lemmas.push(c),
                // Shorter is stronger.
                (fact, Some(Conflict::Clause(c))) => {
                    self.lemmas.push(*c);
                    first = Some(fact);
                }
                _ => {}
            }
        }
        self.scratch.reasons = clause;
        self.answers = answers;
        first.expect("there was a conflict")
    }

    /// A false clause of the theory, watched at its two highest levels.
    fn install_theory_clause(&mut self, clause: &mut Vec<Lit>) -> Conflict {
        debug_assert!(
            clause.iter().all(|&lit| self.value(lit) < 0),
            "{clause:?} is not false"
        );
        let full = self.to_prove(clause);
        clause.retain(|&lit| self.level_of(lit) > 0);
        clause.sort_unstable_by_key(|&lit| (std::cmp::Reverse(self.level_of(lit)), lit));
        clause.dedup();
        self.prove_shortened(&full, clause);
        match *clause.as_slice() {
            [] => Conflict::Empty,
            [lit] => Conflict::Fact(lit),
            _ => Conflict::Clause(self.add_learnt_theory_clause(clause)),
        }
    }

    fn learn_from(&mut self, conflict: Conflict) {
        match conflict {
            Conflict::Empty => self.refute(),
            Conflict::Fact(lit) => {
                self.backtrack(0);
                if self.value(lit) < 0 {
                    self.refute();
                } else if self.value(lit) == 0 {
                    self.enqueue(lit, Reason::None);
                }
            }
            Conflict::Clause(c) => self.learn_from_clause(c),
        }
        self.revisit_lemmas();
        let decay = if self.restarts.is_stable() {
            STABLE_DECAY
        } else {
            FOCUSED_DECAY
        };
        self.heap.decay(decay);
    }

    fn learn_from_clause(&mut self, c: ClauseRef) {
        let level = self
            .arena
            .lits(c)
            .iter()
            .map(|&lit| self.level_of(lit))
            .max()
            .unwrap_or(0);
        if level == 0 {
            self.refute();
            return;
        }
        self.remember_best_phases();
        self.backtrack(level);
        match self.analyze(c) {
            Analysis::Late { lit, reason, level } => {
                self.backtrack(level);
                self.enqueue(lit, reason);
            }
            Analysis::Learnt { jump, glue } => {
                self.backtrack(jump);
                self.assert_learnt(glue);
                if self.restarts.learnt(glue) {
                    self.best_trail = 0;
                }
            }
        }
    }

    fn assert_learnt(&mut self, glue: u32) {
        let learnt = std::mem::take(&mut self.scratch.learnt);
        if let Some(proof) = &mut self.proof {
            proof.learnt(&learnt);
        }
        if learnt.len() == 1 {
            self.enqueue(learnt[0], Reason::None);
        } else {
            let c = self.arena.alloc(&learnt, true, glue);
            self.arena.set_used(c, if glue <= 6 { 2 } else { 1 });
            self.learnts.push(c);
            self.attach(c);
            self.enqueue(learnt[0], Reason::Clause(c));
        }
        self.scratch.learnt = learnt;
    }

    /// Clauses that came with the conflict may imply their highest literal after the jump back. It is implied at the
    /// current level even if the clause was unit earlier: analysis notices (`Analysis::Late`).
    fn revisit_lemmas(&mut self) {
        for c in std::mem::take(&mut self.lemmas) {
            if !self.consistent {
                return;
            }
            let lits = self.arena.lits(c);
            let implied = lits[0];
            if self.value(implied) == 0 && lits[1..].iter().all(|&lit| self.value(lit) < 0) {
                self.enqueue(implied, Reason::Clause(c));
            }
        }
    }

    /// The longest trail without conflict so far is where stable mode returns to.
    fn remember_best_phases(&mut self) {
        let Some(&consistent) = self.trail_lim.last() else {
            return;
        };
        if consistent > self.best_trail {
            self.best_trail = consistent;
            for &lit in &self.trail[..consistent] {
                self.best[lit.var().index()] = !lit.is_negated();
            }
        }
    }
}
