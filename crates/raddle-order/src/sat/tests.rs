//! The core alone, against enumeration and against another solver.

use super::{Limits, Outcome, Solver, Stopped};
use crate::lit::{ClauseSink, Lit, Var};
use crate::theory::NoTheory;
use raddle_random::Random32 as Rng;

fn random_clauses(rng: &mut Rng, vars: u32, count: usize) -> Vec<Vec<Lit>> {
    let literal = |rng: &mut Rng| Lit::new(Var(1 + rng.below(vars)), rng.flip());
    (0..count)
        .map(|_| (0..2 + rng.below(2)).map(|_| literal(rng)).collect())
        .collect()
}

fn solver_with(vars: u32, clauses: &[Vec<Lit>]) -> Solver<NoTheory> {
    let mut solver = Solver::new(NoTheory);
    for _ in 0..vars {
        solver.new_var();
    }
    for clause in clauses {
        solver.add_clause(clause);
    }
    solver
}

fn holds(clauses: &[Vec<Lit>], value: impl Fn(Lit) -> bool) -> bool {
    clauses
        .iter()
        .all(|clause| clause.iter().any(|&lit| value(lit)))
}

fn satisfiable_by_enumeration(vars: u32, clauses: &[Vec<Lit>], assumed: &[Lit]) -> bool {
    (0_u32..1 << vars).any(|bits| {
        let value = |lit: Lit| (bits << 1 >> lit.var().0 & 1 == 1) != lit.is_negated();
        assumed.iter().all(|&lit| value(lit)) && holds(clauses, value)
    })
}

#[test]
fn small_formulas_match_enumeration_also_under_assumptions() {
    let mut rng = Rng::new(7);
    for round in 0..600 {
        let vars = 3 + rng.below(8);
        let count = (vars as usize) * (2 + round % 4);
        let clauses = random_clauses(&mut rng, vars, count);
        let mut solver = solver_with(vars, &clauses);
        for _ in 0..4 {
            let assumed: Vec<Lit> = (0..rng.below(4))
                .map(|_| Lit::new(Var(1 + rng.below(vars)), rng.flip()))
                .collect();
            let expected = satisfiable_by_enumeration(vars, &clauses, &assumed);
            match solver.solve(&assumed, &Limits::default()) {
                Outcome::Sat => {
                    assert!(expected);
                    assert!(holds(&clauses, |lit| solver.model_value(lit)));
                    assert!(assumed.iter().all(|&lit| solver.model_value(lit)));
                }
                Outcome::Unsat => {
                    assert!(!expected);
                    let core = solver.core().to_vec();
                    assert!(core.iter().all(|lit| assumed.contains(lit)));
                    assert!(
                        !satisfiable_by_enumeration(vars, &clauses, &core),
                        "the core is enough"
                    );
                }
                Outcome::Unknown(_) => unreachable!("no limit was set"),
            }
        }
    }
}

/// Large enough for restarts, reductions and compaction; judged by another solver.
#[test]
fn random_3sat_at_the_threshold_agrees_with_another_solver() {
    let mut rng = Rng::new(11);
    let mut verdicts = [0, 0];
    for _ in 0..12 {
        let vars = 170;
        let literal = |rng: &mut Rng| Lit::new(Var(1 + rng.below(vars)), rng.flip());
        let clauses: Vec<Vec<Lit>> = (0..vars * 426 / 100)
            .map(|_| (0..3).map(|_| literal(&mut rng)).collect())
            .collect();
        let mut solver = solver_with(vars, &clauses);
        let sat = match solver.solve(&[], &Limits::default()) {
            Outcome::Sat => {
                assert!(holds(&clauses, |lit| solver.model_value(lit)));
                true
            }
            Outcome::Unsat => false,
            Outcome::Unknown(_) => unreachable!("no limit was set"),
        };
        assert_eq!(sat, other_solver_says(vars, &clauses));
        verdicts[usize::from(sat)] += 1;
    }
    assert!(
        verdicts.iter().all(|&count| count > 0),
        "both verdicts are tested: {verdicts:?}"
    );
}

fn other_solver_says(vars: u32, clauses: &[Vec<Lit>]) -> bool {
    use batsat::{BasicSolver, SolverInterface, lbool};
    let mut solver = BasicSolver::default();
    let theirs: Vec<batsat::Var> = (0..=vars).map(|_| solver.new_var_default()).collect();
    for clause in clauses {
        let mut lits = clause
            .iter()
            .map(|lit| batsat::Lit::new(theirs[lit.var().index()], !lit.is_negated()))
            .collect();
        solver.add_clause_reuse(&mut lits);
    }
    solver.solve_limited(&[]) == lbool::TRUE
}

#[test]
fn pigeons_do_not_fit_and_limits_stop_the_attempt() {
    let (pigeons, holes) = (8_u32, 7_u32);
    let at = |pigeon: u32, hole: u32| Var(1 + pigeon * holes + hole).positive();
    let mut clauses: Vec<Vec<Lit>> = (0..pigeons)
        .map(|p| (0..holes).map(|h| at(p, h)).collect())
        .collect();
    for hole in 0..holes {
        for p in 0..pigeons {
            clauses.extend((0..p).map(|q| vec![!at(p, hole), !at(q, hole)]));
        }
    }
    let mut solver = solver_with(pigeons * holes, &clauses);
    let few = Limits {
        conflicts: Some(10),
        ..Limits::default()
    };
    assert_eq!(
        solver.solve(&[], &few),
        Outcome::Unknown(Stopped::Conflicts)
    );
    assert_eq!(solver.solve(&[], &Limits::default()), Outcome::Unsat);
    assert_eq!(solver.core(), &[], "no assumption was needed");
    assert_eq!(solver.solve(&[], &Limits::default()), Outcome::Unsat);
}

/// Clauses that are also told as cases change no answer, and what is lifted from them holds in every model.
#[test]
fn comparing_cases_adds_facts_and_no_others() {
    let mut rng = Rng::new(17);
    let mut lifted = 0;
    for round in 0..600 {
        let vars = 3 + rng.below(8);
        let count = (vars as usize) * (2 + round % 4);
        let clauses = random_clauses(&mut rng, vars, count);
        let mut solver = Solver::new(NoTheory);
        for _ in 0..vars {
            solver.new_var();
        }
        for clause in &clauses {
            if rng.below(3) == 0 {
                solver.add_cases(clause);
            } else {
                solver.add_clause(clause);
            }
        }
        let expected = satisfiable_by_enumeration(vars, &clauses, &[]);
        let answer = solver.solve(&[], &Limits::default());
        assert_eq!(answer == Outcome::Sat, expected);
        lifted += solver.stats().lifted;
        for var in 1..=vars {
            let lit = Lit::new(Var(var), false);
            if let (true, Some(value)) = (expected, solver.fixed_value(lit)) {
                let other = lit.with_sign(!value);
                assert!(!satisfiable_by_enumeration(vars, &clauses, &[other]));
            }
        }
    }
    assert!(lifted > 100);
}
