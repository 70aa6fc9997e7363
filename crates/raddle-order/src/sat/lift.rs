//! What all cases agree on.
//!
//! Of some literals one must hold. Each is tried at the root, by unit propagation alone: a case that leads to a conflict is
//! refuted, and what all other cases imply holds. So a value that is the same in every case becomes a fact without search,
//! and facts that the next cases build on follow in a chain. Searching finds such things one clause per case at best, and
//! only where its decisions happen to be in the right order.

use super::{Reason, Solver};
use crate::lit::Lit;
use crate::theory::Theory;

impl<T: Theory> Solver<T> {
    /// One of `cases` holds. They will be compared once, when the search is next begun; lists that were told earlier come
    /// first.
    pub fn add_cases(&mut self, cases: &[Lit]) {
        self.add_clause_at_root(cases);
        self.cases.push(cases.into());
    }

    /// Compares the cases of all lists that were told since the last time.
    pub(super) fn lift(&mut self) {
        for cases in std::mem::take(&mut self.cases) {
            if !self.consistent || self.propagate_units().is_some() {
                self.refute();
                return;
            }
            if cases.iter().all(|&lit| self.value(lit) <= 0) {
                self.lift_one(&cases);
            }
        }
    }

    fn lift_one(&mut self, cases: &[Lit]) {
        // What all cases so far imply.
        let mut common: Option<Vec<Lit>> = None;
        for &case in cases {
            match self.value(case) {
                0 => {}
                // The refutation of the others proved it: there is nothing left to compare.
                value if value > 0 => return,
                _ => continue,
            }
            self.open_level();
            let start = self.trail.len();
            self.enqueue(case, Reason::None);
            if self.propagate_units().is_some() {
                self.backtrack(0);
                if let Some(proof) = &mut self.proof {
                    proof.learnt(&[!case]);
                }
                self.enqueue(!case, Reason::None);
                if self.propagate_units().is_some() {
                    self.refute();
                    return;
                }
                continue;
            }
            match &mut common {
                None => common = Some(self.trail[start..].to_vec()),
                Some(common) => common.retain(|lit| self.values[lit.index()] > 0),
            }
            self.backtrack(0);
        }
        let Some(common) = common else {
            // Every case was refuted, and one of them must hold.
            self.refute();
            return;
        };
        self.stats.lifted += common.len() as u64;
        for lit in common {
            self.prove_common(cases, lit);
            if self.value(lit) == 0 {
                self.enqueue(lit, Reason::None);
            } else if self.value(lit) < 0 {
                // The refutation of a later case made it false: so all cases are refuted.
                self.refute();
                return;
            }
        }
    }
}
