//! From a cycle to clauses.

use super::OrderTheory;
use super::graph::{Node, Why};
use crate::lit::Lit;
use crate::theory::Consequences;

impl OrderTheory {
    /// `from → to` was not inserted because the graph leads back from `to` to `from`.
    pub(super) fn report_cycle(
        &mut self,
        layer: usize,
        from: Node,
        to: Node,
        why: Why,
        out: &mut Consequences,
    ) {
        let graph = &self.layers[layer].graph;
        let mut clauses = if self.config.all_clauses {
            self.paths.all(graph, to, from)
        } else {
            let mut path = Vec::new();
            self.paths
                .one(graph, to, from, graph.num_edges(), &mut path);
            vec![path]
        };
        for clause in &mut clauses {
            clause.extend(why.into_iter().filter(|&lit| lit != Lit::TRUE));
            self.make_irredundant(clause);
        }
        // The shortest is the one that is analysed.
        clauses.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        clauses.dedup();
        for clause in &clauses {
            self.report(clause, out);
        }
    }

    pub(super) fn make_irredundant(&mut self, lits: &mut Vec<Lit>) {
        lits.sort_unstable();
        lits.dedup();
        self.drop_redundant(lits);
        // At the root literals are not remembered: the clause is empty and the verdict itself is what tests check.
        if self.config.paranoid && !self.at_root() {
            self.assert_irredundant(lits);
        }
    }

    /// `lits` are true but must not be.
    pub(super) fn report(&mut self, lits: &[Lit], out: &mut Consequences) {
        self.stats.clauses += 1;
        let clause: Vec<Lit> = lits.iter().map(|&lit| !lit).collect();
        out.conflict(&clause);
    }
}
