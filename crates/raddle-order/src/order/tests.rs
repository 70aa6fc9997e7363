//! The theory by itself: every model of random problems, against enumeration of assignments and of total orders.
//!
//! All runs are paranoid: each conflict clause is checked to be contradictory and irredundant, each explanation to imply.

use super::{Detection, EventId, GraphId, GraphSet, OrderConfig, OrderTheory};
use crate::lit::{ClauseSink, Lit, Var};
use crate::sat::{Limits, Outcome, Solver};
use raddle_random::Random32 as Rng;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug)]
enum Relation {
    Edge,
    ReadsFrom { from_reads: GraphSet },
    Serialises,
}

#[derive(Clone, Debug)]
struct Instance {
    graphs: usize,
    events: u32,
    /// By graph, at most one class.
    classes: Vec<Vec<u32>>,
    /// Lit, relation, graphs, from, to. `Lit::TRUE` for fixed orders.
    orders: Vec<(Lit, Relation, GraphSet, u32, u32)>,
    vars: u32,
    clauses: Vec<Vec<Lit>>,
}

fn random_instance(rng: &mut Rng) -> Instance {
    let events = 3 + rng.below(3);
    let graphs = 1 + rng.below(2) as usize;
    let vars = 3 + rng.below(6);
    let literal = |rng: &mut Rng| Lit::new(Var(1 + rng.below(vars)), rng.flip());
    let mask =
        |rng: &mut Rng| GraphSet(1 + u8::try_from(rng.below((1 << graphs) - 1)).expect("small"));
    let class = |rng: &mut Rng| {
        let wanted = if rng.flip() { 0 } else { 2 + rng.below(2) };
        let mut members: Vec<u32> = (0..events).collect();
        for at in (1..members.len()).rev() {
            members.swap(
                at,
                rng.below(u32::try_from(at + 1).expect("small")) as usize,
            );
        }
        members.truncate(wanted as usize);
        members
    };
    let classes = (0..graphs).map(|_| class(rng)).collect();
    let mut orders = Vec::new();
    for _ in 0..rng.below(events) {
        let (from, to) = (rng.below(events), rng.below(events));
        if from != to {
            let relation = if rng.below(3) == 0 {
                Relation::Serialises
            } else {
                Relation::Edge
            };
            // Mostly forward, so that the fixed order is mostly acyclic.
            let (from, to) = if rng.below(12) > 0 {
                (from.min(to), from.max(to))
            } else {
                (from, to)
            };
            orders.push((Lit::TRUE, relation, mask(rng), from, to));
        }
    }
    for _ in 0..4 + rng.below(10) {
        let (from, to) = (rng.below(events), rng.below(events));
        if from != to {
            let relation = match rng.below(3) {
                0 => Relation::Edge,
                1 => Relation::Serialises,
                _ => Relation::ReadsFrom {
                    from_reads: mask(rng),
                },
            };
            orders.push((literal(rng), relation, mask(rng), from, to));
        }
    }
    let clauses = (0..rng.below(vars + 2))
        .map(|_| (0..2 + rng.below(2)).map(|_| literal(rng)).collect())
        .collect();
    Instance {
        graphs,
        events,
        classes,
        orders,
        vars,
        clauses,
    }
}

fn permutations(items: u32) -> Vec<Vec<u32>> {
    if items == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in permutations(items - 1) {
        for at in 0..=shorter.len() {
            let mut longer = shorter.clone();
            longer.insert(at, items - 1);
            all.push(longer);
        }
    }
    all
}

impl Instance {
    /// The pairs that an assignment orders in a graph.
    fn pairs(&self, graph: usize, value: &impl Fn(Lit) -> bool) -> Vec<(u32, u32)> {
        let within = |set: GraphSet| set.0 >> graph & 1 == 1;
        let mut pairs = Vec::new();
        for &(lit, relation, graphs, from, to) in &self.orders {
            if !value(lit) {
                continue;
            }
            if within(graphs) {
                pairs.push((from, to));
            }
            if let Relation::ReadsFrom { from_reads } = relation
                && within(from_reads)
            {
                let later = self.orders.iter().filter(|order| {
                    matches!(order.1, Relation::Serialises) && order.3 == from && value(order.0)
                });
                pairs.extend(later.map(|order| (to, order.4)));
            }
        }
        pairs
    }

    /// Some total order keeps every class together and in order, and has all the pairs.
    fn consistent(&self, orders: &[Vec<u32>], value: &impl Fn(Lit) -> bool) -> bool {
        (0..self.graphs).all(|graph| {
            let pairs = self.pairs(graph, value);
            orders.iter().any(|order| {
                let mut rank = vec![0; order.len()];
                for (at, &event) in order.iter().enumerate() {
                    rank[event as usize] = at;
                }
                let class = &self.classes[graph];
                class
                    .windows(2)
                    .all(|pair| rank[pair[0] as usize] + 1 == rank[pair[1] as usize])
                    && pairs
                        .iter()
                        .all(|&(from, to)| rank[from as usize] < rank[to as usize])
            })
        })
    }

    fn expected(&self) -> BTreeSet<u32> {
        let orders = permutations(self.events);
        let fits = |&bits: &u32| {
            let value = |lit: Lit| ((bits << 1 | 1) >> lit.var().0 & 1 == 1) != lit.is_negated();
            let satisfied = self
                .clauses
                .iter()
                .all(|clause| clause.iter().any(|&lit| value(lit)));
            satisfied && self.consistent(&orders, &value)
        };
        (0..1 << self.vars).filter(fits).collect()
    }

    fn solver(&self, config: OrderConfig) -> Solver<OrderTheory> {
        let mut solver = Solver::new(OrderTheory::new(config));
        for _ in 0..self.vars {
            solver.new_var();
        }
        let theory = solver.theory_mut();
        let graphs: Vec<GraphId> = (0..self.graphs).map(|_| theory.add_graph()).collect();
        for _ in 0..self.events {
            theory.add_event();
        }
        for (&graph, class) in graphs.iter().zip(&self.classes) {
            let members: Vec<EventId> = class.iter().map(|&event| EventId(event)).collect();
            theory.add_class(graph, &members);
        }
        for &(lit, relation, graphs, from, to) in &self.orders {
            let (from, to) = (EventId(from), EventId(to));
            match relation {
                Relation::Edge if lit == Lit::TRUE => theory.add_edge(graphs, from, to),
                Relation::Edge => theory.add_conditional_edge(graphs, from, to, lit),
                Relation::ReadsFrom { from_reads } => {
                    theory.add_reads_from(graphs, from_reads, from, to, lit)
                }
                Relation::Serialises => theory.add_serialisation(graphs, from, to, lit),
            }
        }
        for clause in &self.clauses {
            solver.add_clause(clause);
        }
        solver
    }

    /// All models, by forbidding each after it was found: incremental solving is tested on the way.
    fn models(&self, config: OrderConfig) -> BTreeSet<u32> {
        let mut solver = self.solver(config);
        let mut found = BTreeSet::new();
        while solver.solve(&[], &Limits::default()) == Outcome::Sat {
            let lits: Vec<Lit> = (1..=self.vars).map(|var| Var(var).positive()).collect();
            let bits = lits.iter().rev().fold(0, |bits, &lit| {
                bits << 1 | u32::from(solver.model_value(lit))
            });
            self.check_model_order(&solver);
            assert!(found.insert(bits), "a model was found twice");
            let other: Vec<Lit> = lits
                .iter()
                .map(|&lit| lit.with_sign(!solver.model_value(lit)))
                .collect();
            solver.add_clause(&other);
        }
        found
    }

    fn check_model_order(&self, solver: &Solver<OrderTheory>) {
        for graph in 0..self.graphs {
            let order = solver
                .theory()
                .model_order(GraphId(u8::try_from(graph).expect("small")));
            let rank = |event: u32| {
                order
                    .iter()
                    .position(|&at| at == EventId(event))
                    .expect("every event is there")
            };
            for (from, to) in self.pairs(graph, &|lit| solver.model_value(lit)) {
                assert!(
                    rank(from) < rank(to),
                    "the order of the model respects the graph"
                );
            }
            let class = &self.classes[graph];
            assert!(
                class
                    .windows(2)
                    .all(|pair| rank(pair[0]) + 1 == rank(pair[1])),
                "classes stay together"
            );
        }
    }
}

fn configurations() -> Vec<OrderConfig> {
    let base = OrderConfig {
        paranoid: true,
        ..OrderConfig::default()
    };
    vec![
        base,
        OrderConfig {
            unit_edges: false,
            ..base
        },
        OrderConfig {
            lookahead: false,
            ..base
        },
        OrderConfig {
            all_clauses: false,
            ..base
        },
        OrderConfig {
            detection: Detection::Fresh,
            ..base
        },
        OrderConfig {
            detection: Detection::Final,
            paranoid: false,
            ..base
        },
    ]
}

#[test]
fn all_models_of_random_problems_are_found() {
    let mut rng = Rng::new(20);
    let (mut none, mut some) = (0, 0);
    for round in 0..400 {
        let instance = random_instance(&mut rng);
        let expected = instance.expected();
        if expected.is_empty() {
            none += 1;
        } else {
            some += 1;
        }
        for config in configurations() {
            assert_eq!(
                instance.models(config),
                expected,
                "round {round}, {config:?}: {instance:#?}"
            );
        }
    }
    assert!(
        none > 20 && some > 100,
        "both kinds are tested: {none} without and {some} with models"
    );
}
