//! Writing down what was done, where that was asked for: docs/proofs.md says what each line means.

use super::Solver;
use crate::lit::Lit;
use crate::proof::Proof;
use crate::theory::Theory;

impl<T: Theory> Solver<T> {
    /// Writes down what is told and done from now on. To be called before anything else.
    pub fn prove(&mut self, proof: Proof) {
        self.proof = Some(Box::new(proof));
    }

    /// What is written down.
    pub fn proof(&mut self) -> Option<&mut Proof> {
        self.proof.as_deref_mut()
    }

    /// There is no model.
    pub(super) fn refute(&mut self) {
        self.consistent = false;
        if let Some(proof) = &mut self.proof {
            proof.learnt(&[]);
        }
    }

    /// The literals as they are now, if anybody will want to know. Nothing is allocated otherwise.
    pub(super) fn to_prove(&self, lits: &[Lit]) -> Vec<Lit> {
        match self.proof {
            Some(_) => lits.to_vec(),
            None => Vec::new(),
        }
    }

    /// A clause that was written down is kept without what is false at the root: `full` is from [`to_prove`](Self::to_prove).
    pub(super) fn prove_shortened(&mut self, full: &[Lit], kept: &[Lit]) {
        if let Some(proof) = &mut self.proof
            && kept.len() < full.len()
        {
            proof.learnt(kept);
            proof.deleted(full);
        }
    }

    /// The theory says that one of these literals holds.
    pub(super) fn prove_lemma(&mut self, clause: &[Lit]) {
        if let Some(proof) = &mut self.proof {
            let excluded: Vec<Lit> = clause.iter().map(|&lit| !lit).collect();
            let why = self.theory.certify(&excluded);
            proof.lemma(clause, &why);
        }
    }

    /// Every case that is left implies `lit`, by unit propagation.
    pub(super) fn prove_common(&mut self, cases: &[Lit], lit: Lit) {
        let Some(proof) = &mut self.proof else { return };
        let steps: Vec<[Lit; 2]> = cases.iter().map(|&case| [!case, lit]).collect();
        steps.iter().for_each(|step| proof.learnt(step));
        proof.learnt(&[lit]);
        steps.iter().for_each(|step| proof.deleted(step));
    }
}
