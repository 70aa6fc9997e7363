//! The same theory behind another SAT solver: the core's search, learning and dialogue are checked by it.

use batsat::{BasicSolver, SolverInterface, TheoryArg, lbool};
use raddle_order::vsc::{Access, Trace};
use raddle_order::{
    Consequences, EventId, GraphSet, Lit, OrderConfig, OrderTheory, Theory, Values, Var,
};

/// Follows the other solver's trail.
struct Adapter {
    theory: OrderTheory,
    values: Vec<i8>,
    told: Vec<Lit>,
    marks: Vec<usize>,
    answers: Consequences,
    reasons: Vec<batsat::Lit>,
}

/// Our variables are theirs, number by number.
fn ours(lit: batsat::Lit) -> Lit {
    Lit::new(Var::from_index(lit.var().idx() as usize), !lit.sign())
}

fn theirs(lit: Lit) -> batsat::Lit {
    let index = u32::try_from(lit.var().index()).expect("few variables");
    batsat::Lit::new(batsat::Var::unsafe_from_idx(index), !lit.is_negated())
}

impl Adapter {
    fn consult(&mut self, acts: &mut TheoryArg<'_>) {
        let fresh: Vec<Lit> = acts.model()[self.told.len()..]
            .iter()
            .map(|&lit| ours(lit))
            .collect();
        for &lit in &fresh {
            self.values[lit.index()] = 1;
            self.values[(!lit).index()] = -1;
        }
        self.told.extend_from_slice(&fresh);
        self.answers.clear();
        self.theory
            .propagate(&fresh, Values::from_slice(&self.values), &mut self.answers);
        if let Some(clause) = self.answers.conflicts().next() {
            let clause: Vec<batsat::Lit> = clause.iter().map(|&lit| theirs(lit)).collect();
            // An empty clause cannot be said: the constant's negation is as good.
            let false_clause = [theirs(Lit::FALSE)];
            acts.raise_conflict(
                if clause.is_empty() {
                    &false_clause
                } else {
                    &clause
                },
                false,
            );
            return;
        }
        for &lit in self.answers.implied() {
            if !acts.propagate(theirs(lit)) {
                return;
            }
        }
    }
}

impl batsat::Theory for Adapter {
    fn final_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.consult(acts);
    }

    fn partial_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.consult(acts);
    }

    fn create_level(&mut self) {
        self.marks.push(self.told.len());
        self.theory.push_level();
    }

    fn pop_levels(&mut self, n: usize) {
        let level = self.marks.len() - n;
        if let Some(&mark) = self.marks.get(level) {
            for lit in self.told.drain(mark..) {
                self.values[lit.index()] = 0;
                self.values[(!lit).index()] = 0;
            }
        }
        self.marks.truncate(level);
        self.theory.pop_to(level);
    }

    fn n_levels(&self) -> usize {
        self.marks.len()
    }

    fn explain_propagation(&mut self, lit: batsat::Lit) -> &[batsat::Lit] {
        let mut reasons = Vec::new();
        self.theory.explain(ours(lit), &mut reasons);
        self.reasons = reasons.into_iter().map(theirs).collect();
        &self.reasons
    }
}

/// Sequential consistency of a trace, encoded anew: one graph, one variable per pair of writes, one per possible source.
pub(crate) fn solve(trace: &Trace) -> bool {
    // The other solver expects explanations to mention the level they are asked at; ours need not. Conflicts only.
    let mut theory = OrderTheory::new(OrderConfig {
        unit_edges: false,
        ..OrderConfig::default()
    });
    let graph = GraphSet::from(theory.add_graph());
    let mut clauses: Vec<Vec<Lit>> = vec![vec![Lit::TRUE]];
    let mut vars = 1;
    let mut fresh = || {
        vars += 1;
        Var::from_index(vars - 1).positive()
    };
    let start = theory.add_event();
    // Location, value, event.
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for accesses in &trace.threads {
        let mut last: EventId = start;
        for &access in accesses {
            let event = theory.add_event();
            theory.add_edge(graph, last, event);
            last = event;
            match access {
                Access::Write(location, value) => writes.push((location, value, event)),
                Access::Read(location, value) => reads.push((location, value, event)),
            }
        }
    }
    let locations: std::collections::BTreeSet<u32> =
        writes.iter().chain(&reads).map(|access| access.0).collect();
    for location in locations {
        let initial = theory.add_event();
        theory.add_edge(graph, initial, start);
        writes.push((location, 0, initial));
    }
    for (at, &(location, _, second)) in writes.iter().enumerate() {
        for &(other, _, first) in &writes[..at] {
            if other == location {
                let lit = fresh();
                theory.add_serialisation(graph, first, second, lit);
                theory.add_serialisation(graph, second, first, !lit);
            }
        }
    }
    for &(location, value, read) in &reads {
        let mut sources = Vec::new();
        for &(_, _, write) in writes
            .iter()
            .filter(|write| (write.0, write.1) == (location, value))
        {
            let lit = fresh();
            theory.add_reads_from(graph, graph, write, read, lit);
            sources.push(lit);
        }
        clauses.push(sources);
    }
    let mut solver = BasicSolver::default();
    for _ in 0..vars {
        solver.new_var_default();
    }
    for clause in clauses {
        solver.add_clause_reuse(&mut clause.into_iter().map(theirs).collect());
    }
    let mut adapter = Adapter {
        theory,
        values: vec![0; 2 * vars],
        told: Vec::new(),
        marks: Vec::new(),
        answers: Consequences::default(),
        reasons: Vec::new(),
    };
    solver.solve_limited_th(&mut adapter, &[]) == lbool::TRUE
}
