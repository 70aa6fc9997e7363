//! The seam between a SAT solver and a theory.
//!
//! The dialogue is the online scheme of DPLL(T) (section 2.2 of the paper): after every fixpoint of unit propagation the
//! theory is shown the literals that became true since it was asked last; it answers with literals that follow, or with
//! clauses that the assignment falsifies.

use crate::lit::{Lit, Values, Var};
use crate::proof::Certificate;

/// What a theory answers. Conflict clauses lie one after another in one buffer, so that answering does not allocate.
#[derive(Default)]
pub struct Consequences {
    implied: Vec<Lit>,
    clause_lits: Vec<Lit>,
    clause_ends: Vec<usize>,
}

impl Consequences {
    pub fn clear(&mut self) {
        self.implied.clear();
        self.clause_lits.clear();
        self.clause_ends.clear();
    }

    /// `lit` holds in every consistent extension. The theory must be able to [`explain`](Theory::explain) it until the
    /// current level is undone; literals implied before the first level need no explanation.
    pub fn imply(&mut self, lit: Lit) {
        self.implied.push(lit);
    }

    /// A clause of the theory whose literals are all false now.
    pub fn conflict(&mut self, clause: &[Lit]) {
        self.clause_lits.extend_from_slice(clause);
        self.clause_ends.push(self.clause_lits.len());
    }

    #[must_use]
    pub fn implied(&self) -> &[Lit] {
        &self.implied
    }

    #[must_use]
    pub fn has_conflict(&self) -> bool {
        !self.clause_ends.is_empty()
    }

    pub fn conflicts(&self) -> impl Iterator<Item = &[Lit]> {
        let starts = std::iter::once(0).chain(self.clause_ends.iter().copied());
        starts
            .zip(&self.clause_ends)
            .map(|(from, &to)| &self.clause_lits[from..to])
    }
}

/// A decision procedure that follows the assignment of a SAT solver.
pub trait Theory {
    /// A decision is about to be made: what is told from now on belongs to a new level.
    fn push_level(&mut self);

    /// Forget everything told since `level` levels were open.
    fn pop_to(&mut self, level: usize);

    /// `fresh` became true since the last call, in this order. `values` knows all of the assignment, `fresh` included.
    fn propagate(&mut self, fresh: &[Lit], values: Values<'_>, out: &mut Consequences);

    /// All variables have a value and no clause is false: the last chance to object.
    fn check_model(&mut self, values: Values<'_>, out: &mut Consequences);

    /// The model was accepted. Called while the assignment is still in place.
    fn accept_model(&mut self) {}

    /// Which value of the variable is easier to live with, when it is about to be decided.
    fn suggest(&self, _var: Var) -> Option<bool> {
        None
    }

    /// Why the implied `lit` holds: literals that were true before it was implied, and that together imply it.
    fn explain(&mut self, lit: Lit, reasons: &mut Vec<Lit>);

    /// Why `lits` cannot all hold, given what holds at the root. Asked where proofs are written, of what the theory has said before.
    fn certify(&mut self, lits: &[Lit]) -> Certificate;
}

/// Plain SAT.
#[derive(Default)]
pub struct NoTheory;

impl Theory for NoTheory {
    fn push_level(&mut self) {}
    fn pop_to(&mut self, _level: usize) {}
    fn propagate(&mut self, _fresh: &[Lit], _values: Values<'_>, _out: &mut Consequences) {}
    fn check_model(&mut self, _values: Values<'_>, _out: &mut Consequences) {}
    fn explain(&mut self, lit: Lit, _reasons: &mut Vec<Lit>) {
        unreachable!("nothing implied {lit:?}")
    }
    fn certify(&mut self, lits: &[Lit]) -> Certificate {
        unreachable!("nothing excludes {lits:?}")
    }
}
