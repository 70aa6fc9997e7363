//! What is known of one formula.

use crate::clauses::Clauses;
use crate::fault::Fault;
use crate::lit::Lit;
use crate::orders::Orders;
use crate::words::Words;
use rustc_hash::FxHashSet;

/// What every formula that an answer rests on was asked.
const QUESTIONS: [&str; 5] = ["fault", "deadlock", "spin", "refusal", "race"];

#[derive(Default)]
pub(crate) struct Formula {
    clauses: Clauses,
    orders: Orders,
    /// Questions that were answered by no.
    answered: FxHashSet<String>,
}

impl Formula {
    /// Takes the clause as it is.
    pub(crate) fn add(&mut self, clause: Vec<Lit>) {
        self.clauses.add(clause);
    }

    pub(crate) fn fact(&mut self, kind: &str, words: &mut Words<'_>) -> Result<(), Fault> {
        self.orders.fact(kind, words)
    }

    /// The clause follows by unit propagation.
    pub(crate) fn learn(&mut self, clause: Vec<Lit>) -> Result<(), Fault> {
        if !self.clauses.refutes(clause.iter().map(|&lit| !lit)) {
            return Err(Fault::DoesNotFollow);
        }
        self.clauses.add(clause);
        Ok(())
    }

    /// If the clause is false there is a cycle, with what holds in any case.
    pub(crate) fn lemma(
        &mut self,
        clause: Vec<Lit>,
        graph: u32,
        cycle: &[u32],
    ) -> Result<(), Fault> {
        let holds = |lit: Lit| clause.binary_search(&!lit).is_ok() || self.clauses.is_true(lit);
        self.orders.cycle(graph, cycle, holds)?;
        self.clauses.add(clause);
        Ok(())
    }

    pub(crate) fn delete(&mut self, clause: Vec<Lit>) -> Result<(), Fault> {
        match self.clauses.delete(&clause) {
            true => Ok(()),
            false => Err(Fault::NotThere),
        }
    }

    /// These literals cannot hold together.
    pub(crate) fn refuted(&mut self, lits: &[Lit]) -> Result<(), Fault> {
        match self.clauses.refutes(lits.iter().copied()) {
            true => Ok(()),
            false => Err(Fault::NotRefuted),
        }
    }

    pub(crate) fn answer(&mut self, question: String) {
        self.answered.insert(question);
    }

    /// A question that has no answer. One of `beyond` must have one, too, if there are any.
    pub(crate) fn unanswered(&self, beyond: &[&'static str]) -> Option<&'static str> {
        let is_open = |question: &&str| !self.answered.contains(*question);
        let all_open = beyond.iter().all(is_open);
        let beyond = beyond.first().filter(|_| all_open).copied();
        QUESTIONS.into_iter().find(is_open).or(beyond)
    }
}
