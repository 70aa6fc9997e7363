//! What callers build problems with: guarded events, reads-from and write-serialisation literals, clauses.
//!
//! The clauses that go with ordering literals (section 3.1 of the paper: RF-Val without the values, RF-Some, WS-Cond,
//! WS-Some) are added here; values are the caller's business. Literals that order events imply the guards of both, so
//! that the theory never looks at guards.

use crate::lit::{ClauseSink, Lit, Var};
use crate::order::{EventId, GraphId, GraphSet, OrderConfig, OrderStats, OrderTheory};
use crate::proof::{Origin, Proof};
use crate::sat::{Limits, Outcome, SatStats, Solver};

/// Which of two writes of one location comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serialised {
    pub first: EventId,
    pub second: EventId,
    /// `first` comes first. Both literals are false where one of the writes does not happen.
    pub forward: Lit,
    pub backward: Lit,
}

/// An order between a write and what follows it, kept only where from-reads go into the formula.
#[derive(Clone, Copy)]
struct Link {
    to: EventId,
    lit: Lit,
    from_reads: GraphSet,
}

/// A SAT solver with the theory of ordering consistency.
///
/// Events, orders, literals and clauses may be added before and between calls of [`solve`](Self::solve).
pub struct OrderSolver {
    sat: Solver<OrderTheory>,
    /// By event.
    guards: Vec<Lit>,
    /// By write; see [`Link`].
    reads: Vec<Vec<Link>>,
    writes: Vec<Vec<Link>>,
}

impl OrderSolver {
    #[must_use]
    pub fn new(config: OrderConfig) -> Self {
        Self {
            sat: Solver::new(OrderTheory::new(config)),
            guards: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// Writes down what is told and done from now on. To be called before anything else.
    pub fn prove(&mut self, proof: Proof) {
        self.sat.prove(proof);
    }

    /// What is written down.
    pub fn proof(&mut self) -> Option<&mut Proof> {
        self.sat.proof()
    }

    /// Where clauses that are added from now on come from: it matters for proofs only.
    pub fn set_origin(&mut self, origin: Origin) {
        if let Some(proof) = self.sat.proof() {
            proof.set_origin(origin);
        }
    }

    /// One more order that must not be cyclic, over all events.
    pub fn new_graph(&mut self) -> GraphId {
        if let Some(proof) = self.sat.proof() {
            proof.graph();
        }
        self.sat.theory_mut().add_graph()
    }

    /// All graphs, oldest first.
    pub fn graphs(&self) -> impl Iterator<Item = GraphId> + use<> {
        self.sat.theory().graphs()
    }

    pub fn new_lit(&mut self) -> Lit {
        self.sat.new_var().positive()
    }

    /// An event that happens iff `guard` holds.
    pub fn new_event(&mut self, guard: Lit) -> EventId {
        self.guards.push(guard);
        self.reads.push(Vec::new());
        self.writes.push(Vec::new());
        let event = self.sat.theory_mut().add_event();
        if let Some(proof) = self.sat.proof() {
            proof.event(event, guard);
        }
        event
    }

    #[must_use]
    pub fn guard(&self, event: EventId) -> Lit {
        self.guards[event.index()]
    }

    pub fn clause(&mut self, lits: &[Lit]) {
        self.sat.add_clause(lits);
    }

    /// One of `cases` holds. What all of them imply is found out before the search begins; use it where that is likely to
    /// be much, and tell lists in the order in which they build on each other.
    pub fn cases(&mut self, cases: &[Lit]) {
        self.sat.add_cases(cases);
    }

    /// `from` is before `to`, whether they happen or not: for orders that are closed under leaving events out, such as
    /// program order.
    pub fn order(&mut self, graphs: impl Into<GraphSet>, from: EventId, to: EventId) {
        let graphs = graphs.into();
        if let Some(proof) = self.sat.proof() {
            proof.order(graphs, from, to, Lit::TRUE);
        }
        self.sat.theory_mut().add_edge(graphs, from, to);
    }

    /// `from` is before `to` while `lit` holds.
    pub fn order_if(&mut self, graphs: impl Into<GraphSet>, from: EventId, to: EventId, lit: Lit) {
        if lit != Lit::FALSE {
            self.conditional_edge(graphs.into(), from, to, lit);
        }
    }

    fn conditional_edge(&mut self, graphs: GraphSet, from: EventId, to: EventId, lit: Lit) {
        if let Some(proof) = self.sat.proof() {
            proof.order(graphs, from, to, lit);
        }
        self.sat
            .theory_mut()
            .add_conditional_edge(graphs, from, to, lit);
    }

    /// The events happen without anything in between, in this order, as far as `graph` is concerned. To be said before
    /// any order on them; an event is in at most one class of a graph.
    pub fn atomic(&mut self, graph: GraphId, events: &[EventId]) {
        if let Some(proof) = self.sat.proof() {
            proof.class(graph, events);
        }
        self.sat.theory_mut().add_class(graph, events);
    }

    /// A literal that says that `read` reads from `write`. It orders them in `graphs`, and puts the read before whatever
    /// overwrites the write in `from_reads`.
    pub fn reads_from(
        &mut self,
        graphs: impl Into<GraphSet>,
        from_reads: impl Into<GraphSet>,
        write: EventId,
        read: EventId,
    ) -> Lit {
        let lit = self.new_lit();
        self.implies_guards(lit, write, read);
        self.reads_from_if(graphs.into(), from_reads.into(), write, read, lit);
        lit
    }

    /// As [`reads_from`](Self::reads_from) with a literal of the caller, which must imply that both events happen.
    pub fn reads_from_if(
        &mut self,
        graphs: GraphSet,
        from_reads: GraphSet,
        write: EventId,
        read: EventId,
        lit: Lit,
    ) {
        if lit == Lit::FALSE {
            return;
        }
        self.link_read(
            write,
            Link {
                to: read,
                lit,
                from_reads,
            },
        );
        if let Some(proof) = self.sat.proof() {
            proof.reads_from(graphs, from_reads, write, read, lit);
        }
        self.sat
            .theory_mut()
            .add_reads_from(graphs, from_reads, write, read, lit);
    }

    /// If the read happens, one of `sources` holds (RF-Some). That no two do follows from acyclicity once the writes are
    /// serialised.
    pub fn reads_some(&mut self, read: EventId, sources: &[Lit]) {
        let mut clause = vec![!self.guard(read)];
        clause.extend_from_slice(sources);
        self.clause(&clause);
    }

    /// Two writes of one location: if both happen, one is before the other in `graphs`.
    pub fn serialise(
        &mut self,
        graphs: impl Into<GraphSet>,
        first: EventId,
        second: EventId,
    ) -> Serialised {
        self.serialise_if(graphs, first, second, Lit::TRUE)
    }

    /// As [`serialise`](Self::serialise), for writes that are of one location only if `same_location` holds.
    pub fn serialise_if(
        &mut self,
        graphs: impl Into<GraphSet>,
        first: EventId,
        second: EventId,
        same_location: Lit,
    ) -> Serialised {
        let graphs = graphs.into();
        let (a, b) = (self.guard(first), self.guard(second));
        let forward = self.new_lit();
        let backward = if (a, b, same_location) == (Lit::TRUE, Lit::TRUE, Lit::TRUE) {
            // Deviation from the paper: where both writes are certain, one variable says it all.
            !forward
        } else {
            let backward = self.new_lit();
            for lit in [forward, backward] {
                self.implies_guards(lit, first, second);
                self.clause(&[!lit, same_location]);
            }
            self.clause(&[!a, !b, !same_location, forward, backward]);
            // Acyclicity says so too, but unit propagation is cheaper than a search.
            self.clause(&[!forward, !backward]);
            backward
        };
        self.serialised_if(graphs, first, second, forward);
        self.serialised_if(graphs, second, first, backward);
        Serialised {
            first,
            second,
            forward,
            backward,
        }
    }

    /// `first` comes before `second` among the writes of their location while `lit` holds, which must imply that both
    /// happen. `Lit::TRUE` for writes that are ordered in every execution and always happen.
    pub fn serialised_if(
        &mut self,
        graphs: impl Into<GraphSet>,
        first: EventId,
        second: EventId,
        lit: Lit,
    ) {
        if lit == Lit::FALSE {
            return;
        }
        self.link_write(
            first,
            Link {
                to: second,
                lit,
                from_reads: GraphSet::NONE,
            },
        );
        let graphs = graphs.into();
        if let Some(proof) = self.sat.proof() {
            proof.serialises(graphs, first, second, lit);
        }
        self.sat
            .theory_mut()
            .add_serialisation(graphs, first, second, lit);
    }

    /// `first` comes before `second` in every execution in which both happen, and fixed orders lead from the one to the other
    /// whenever `second` happens.
    ///
    /// So it does no harm to say it also where `first` does not happen: nothing reads from it then, and the order between
    /// the two is there in any case. That saves a literal for each of these pairs, which are most of all pairs.
    pub fn serialised(&mut self, graphs: impl Into<GraphSet>, first: EventId, second: EventId) {
        let lit = self.guard(second);
        self.serialised_if(graphs, first, second, lit);
    }

    fn implies_guards(&mut self, lit: Lit, first: EventId, second: EventId) {
        let (a, b) = (self.guard(first), self.guard(second));
        self.clause(&[!lit, a]);
        self.clause(&[!lit, b]);
    }

    fn link_read(&mut self, write: EventId, read: Link) {
        if self.config().derive_from_reads {
            return;
        }
        for at in 0..self.writes[write.index()].len() {
            let later = self.writes[write.index()][at];
            self.encode_from_read(read, later);
        }
        self.reads[write.index()].push(read);
    }

    fn link_write(&mut self, write: EventId, later: Link) {
        if self.config().derive_from_reads {
            return;
        }
        for at in 0..self.reads[write.index()].len() {
            let read = self.reads[write.index()][at];
            self.encode_from_read(read, later);
        }
        self.writes[write.index()].push(later);
    }

    /// The comparison of section 6.3: the from-read constraint as a clause over a variable of its own.
    fn encode_from_read(&mut self, read: Link, later: Link) {
        let lit = self.new_lit();
        self.clause(&[!read.lit, !later.lit, lit]);
        self.conditional_edge(read.from_reads, read.to, later.to, lit);
    }

    /// Looks for a consistent execution in which `assumptions` hold.
    pub fn solve(&mut self, assumptions: &[Lit], limits: &Limits<'_>) -> Outcome {
        self.sat.solve(assumptions, limits)
    }

    /// The literal's value in the last model.
    #[must_use]
    pub fn value(&self, lit: Lit) -> bool {
        self.sat.model_value(lit)
    }

    /// Did the event happen in the last model?
    #[must_use]
    pub fn happened(&self, event: EventId) -> bool {
        self.value(self.guard(event))
    }

    /// The events that happened in the last model, in an order that `graph` allows.
    #[must_use]
    pub fn execution(&self, graph: GraphId) -> Vec<EventId> {
        let order = self.sat.theory().model_order(graph);
        order
            .iter()
            .copied()
            .filter(|&event| self.happened(event))
            .collect()
    }

    /// Assumptions of the last call that cannot hold together.
    #[must_use]
    pub fn core(&self) -> &[Lit] {
        self.sat.core()
    }

    /// The literal's value in every model, if it is known without search.
    #[must_use]
    pub fn fixed_value(&self, lit: Lit) -> Option<bool> {
        self.sat.fixed_value(lit)
    }

    /// Decide this literal's variable early; see [`Solver::prefer`].
    pub fn prefer(&mut self, lit: Lit, weight: f64) {
        self.sat.prefer(lit.var(), weight);
    }

    /// Try this literal first when its variable is decided.
    pub fn set_phase(&mut self, lit: Lit) {
        self.sat.set_phase(lit);
    }

    #[must_use]
    pub fn config(&self) -> OrderConfig {
        self.sat.theory().config()
    }

    #[must_use]
    pub fn sat_stats(&self) -> SatStats {
        self.sat.stats()
    }

    #[must_use]
    pub fn order_stats(&self) -> OrderStats {
        self.sat.theory().stats()
    }

    #[must_use]
    pub fn num_vars(&self) -> usize {
        self.sat.num_vars()
    }

    #[must_use]
    pub fn num_clauses(&self) -> usize {
        self.sat.num_clauses()
    }
}

impl ClauseSink for OrderSolver {
    fn new_var(&mut self) -> Var {
        self.sat.new_var()
    }

    fn add_clause(&mut self, lits: &[Lit]) {
        self.sat.add_clause(lits);
    }
}
