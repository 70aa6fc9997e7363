//! A conflict-driven clause-learning solver that talks to a [`Theory`].
//!
//! Why an own core and not a library: the theory of the paper answers a conflict with *several* clauses, explains its
//! implications lazily by searching the event graph, and is used by the thousand on small problems; none of the bindings
//! at hand takes all three without copying literals through a foreign interface, and those that come close need a C++
//! compiler. The core is small: two watched literals with blockers, first-UIP learning with recursive minimisation,
//! activity-ordered decisions with saved and best phases, alternating restart modes, and clause deletion by glue.
//!
//! Invariants
//! 1. Outside [`Solver::solve`] no decision level is open.
//! 2. Of a clause with two or more literals the first two are watched. Whenever unit propagation has reached its fixpoint
//!    and one of them is false, the other is true, *or* the clause was added as a late lemma (see `search.rs`), in which
//!    case it is a conflict as soon as its last literal becomes false.
//! 3. A literal with a clause as reason is the first literal of that clause if the clause has more than two.
//! 4. The theory has been told exactly the first `theory_head` literals of the trail.

mod analyze;
mod clause;
mod heap;
mod lift;
mod prove;
mod reduce;
mod restart;
mod search;
#[cfg(test)]
mod tests;

use crate::lit::{ClauseSink, Lit, Var};
use crate::proof::Proof;
use crate::theory::{Consequences, Theory};
use clause::{Arena, ClauseRef};
use heap::VarHeap;
use restart::Restarts;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// What a call to [`Solver::solve`] found out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Outcome {
    /// There is a model; read it with [`Solver::model_value`].
    Sat,
    /// There is none under the assumptions; [`Solver::core`] names those that were needed.
    Unsat,
    /// A limit was reached first.
    Unknown(Stopped),
}

/// Which limit stopped the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    Conflicts,
    Deadline,
    Interrupted,
}

/// When to give up. The default never does.
#[derive(Clone, Copy, Default)]
pub struct Limits<'a> {
    /// Conflicts of this call.
    pub conflicts: Option<u64>,
    /// Propagations that are left for this call and others that share them. A conflict may take ten of them or a million.
    pub propagations: Option<&'a AtomicU64>,
    pub deadline: Option<Instant>,
    /// Set by another thread to stop the search soon.
    pub interrupt: Option<&'a AtomicBool>,
    /// Set by another thread when nobody needs the answer any more.
    pub needless: Option<&'a AtomicBool>,
}

impl Limits<'_> {
    /// Does another thread want the search to stop?
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        let is_raised = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        self.interrupt.is_some_and(is_raised) || self.needless.is_some_and(is_raised)
    }
}

/// Counters over the life of a solver.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct SatStats {
    pub decisions: u64,
    pub propagations: u64,
    pub conflicts: u64,
    pub restarts: u64,
    pub learnt_literals: u64,
    pub deleted_clauses: u64,
    /// Literals the theory implied.
    pub theory_implied: u64,
    /// Of these, how many a conflict asked an explanation for.
    pub theory_explained: u64,
    /// Times the theory refuted the assignment.
    pub theory_conflicts: u64,
    /// Clauses the theory gave for that.
    pub theory_clauses: u64,
    /// Facts that all cases of some list agreed on.
    pub lifted: u64,
}

/// Why a literal is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    /// A decision, an assumption or a fact.
    None,
    Clause(ClauseRef),
    Theory,
}

/// A clause to look at when the literal that owns the list becomes true. If `blocker` is true the clause is.
#[derive(Clone, Copy)]
struct Watch {
    clause: u32,
    blocker: Lit,
}

const BINARY: u32 = 1 << 31;

impl Watch {
    fn clause(self) -> ClauseRef {
        ClauseRef(self.clause & !BINARY)
    }

    fn is_binary(self) -> bool {
        self.clause & BINARY != 0
    }
}

pub struct Solver<T> {
    theory: T,
    answers: Consequences,
    /// By literal.
    values: Vec<i8>,
    watches: Vec<Vec<Watch>>,
    /// By variable.
    level: Vec<u32>,
    reason: Vec<Reason>,
    /// The phase last assigned, and the one of the longest conflict-free trail.
    saved: Vec<bool>,
    best: Vec<bool>,
    best_trail: usize,
    seen: Vec<bool>,
    trail: Vec<Lit>,
    trail_lim: Vec<usize>,
    bcp_head: usize,
    theory_head: usize,
    ask_theory: bool,
    heap: VarHeap,
    arena: Arena,
    clauses: Vec<ClauseRef>,
    learnts: Vec<ClauseRef>,
    /// Theory clauses that came with a conflict and may be unit after the jump back.
    lemmas: Vec<ClauseRef>,
    /// Lists of cases that have not been compared yet.
    cases: Vec<Box<[Lit]>>,
    restarts: Restarts,
    next_reduce: u64,
    reductions: u64,
    root_simplified: usize,
    scratch: Scratch,
    model: Vec<bool>,
    core: Vec<Lit>,
    /// No empty clause was derived yet.
    consistent: bool,
    stats: SatStats,
    /// What is done is written down here.
    proof: Option<Box<Proof>>,
}

/// Buffers of conflict analysis, kept to avoid allocation.
#[derive(Default)]
struct Scratch {
    learnt: Vec<Lit>,
    to_clear: Vec<Lit>,
    stack: Vec<Lit>,
    reasons: Vec<Lit>,
    level_stamp: Vec<u64>,
    /// By variable: with the present stamp, see `Solver::minimise`.
    hopeless: Vec<u64>,
    stamp: u64,
}

impl<T: Theory> Solver<T> {
    #[must_use]
    pub fn new(theory: T) -> Self {
        let mut solver = Self {
            theory,
            answers: Consequences::default(),
            values: Vec::new(),
            watches: Vec::new(),
            level: Vec::new(),
            reason: Vec::new(),
            saved: Vec::new(),
            best: Vec::new(),
            best_trail: 0,
            seen: Vec::new(),
            trail: Vec::new(),
            trail_lim: Vec::new(),
            bcp_head: 0,
            theory_head: 0,
            ask_theory: false,
            heap: VarHeap::new(),
            arena: Arena::default(),
            clauses: Vec::new(),
            learnts: Vec::new(),
            lemmas: Vec::new(),
            cases: Vec::new(),
            restarts: Restarts::new(),
            next_reduce: reduce::FIRST,
            reductions: 0,
            root_simplified: 0,
            scratch: Scratch::default(),
            model: Vec::new(),
            core: Vec::new(),
            consistent: true,
            stats: SatStats::default(),
            proof: None,
        };
        let constant = solver.new_var();
        debug_assert_eq!(constant, Var::CONST);
        solver.enqueue(Lit::TRUE, Reason::None);
        solver
    }

    #[must_use]
    pub fn theory(&self) -> &T {
        &self.theory
    }

    /// Fixed facts may be added to a theory between two calls of [`solve`](Self::solve).
    pub fn theory_mut(&mut self) -> &mut T {
        &mut self.theory
    }

    #[must_use]
    pub fn stats(&self) -> SatStats {
        self.stats
    }

    #[must_use]
    pub fn num_vars(&self) -> usize {
        self.level.len()
    }

    #[must_use]
    pub fn num_clauses(&self) -> usize {
        self.clauses.len()
    }

    /// The literal's value in the last model.
    ///
    /// # Panics
    /// If the last call of [`solve`](Self::solve) was not satisfiable or the variable is younger than the model.
    #[must_use]
    pub fn model_value(&self, lit: Lit) -> bool {
        self.model[lit.var().index()] != lit.is_negated()
    }

    /// A subset of the last assumptions that cannot hold together.
    #[must_use]
    pub fn core(&self) -> &[Lit] {
        &self.core
    }

    /// The value the literal has in every model, if that is known.
    #[must_use]
    pub fn fixed_value(&self, lit: Lit) -> Option<bool> {
        debug_assert!(self.trail_lim.is_empty());
        match self.values[lit.index()] {
            0 => None,
            value => Some(value > 0),
        }
    }

    /// Decide this variable before others, until conflicts teach otherwise.
    pub fn prefer(&mut self, var: Var, weight: f64) {
        self.heap.bump(var, weight);
    }

    /// The value tried first when the variable is decided.
    pub fn set_phase(&mut self, lit: Lit) {
        self.saved[lit.var().index()] = !lit.is_negated();
        self.best[lit.var().index()] = !lit.is_negated();
    }

    fn add_clause_at_root(&mut self, lits: &[Lit]) {
        debug_assert!(self.trail_lim.is_empty());
        if !self.consistent {
            return;
        }
        let mut clause = lits.to_vec();
        clause.sort_unstable();
        clause.dedup();
        let tautology = clause.windows(2).any(|pair| pair[0] == !pair[1]);
        if tautology || clause.iter().any(|&lit| self.value(lit) > 0) {
            return;
        }
        let given = self.to_prove(&clause);
        if let Some(proof) = &mut self.proof {
            proof.clause(&given);
        }
        clause.retain(|&lit| self.value(lit) == 0);
        self.prove_shortened(&given, &clause);
        match *clause.as_slice() {
            [] => self.refute(),
            [unit] => self.enqueue(unit, Reason::None),
            _ => {
                let c = self.arena.alloc(&clause, false, 0);
                self.clauses.push(c);
                self.attach(c);
            }
        }
    }

    fn attach(&mut self, c: ClauseRef) {
        let lits = self.arena.lits(c);
        let (first, second) = (lits[0], lits[1]);
        let clause = c.0 | if lits.len() == 2 { BINARY } else { 0 };
        self.watches[(!first).index()].push(Watch {
            clause,
            blocker: second,
        });
        self.watches[(!second).index()].push(Watch {
            clause,
            blocker: first,
        });
    }

    #[inline]
    fn value(&self, lit: Lit) -> i8 {
        self.values[lit.index()]
    }

    #[inline]
    fn level_of(&self, lit: Lit) -> u32 {
        self.level[lit.var().index()]
    }

    #[inline]
    fn current_level(&self) -> u32 {
        u32::try_from(self.trail_lim.len()).expect("levels fit 32 bits")
    }

    #[inline]
    fn enqueue(&mut self, lit: Lit, reason: Reason) {
        debug_assert_eq!(self.value(lit), 0);
        let var = lit.var().index();
        self.values[lit.index()] = 1;
        self.values[(!lit).index()] = -1;
        self.level[var] = self.current_level();
        self.reason[var] = reason;
        self.trail.push(lit);
    }

    fn open_level(&mut self) {
        self.trail_lim.push(self.trail.len());
        // Assumptions that repeat open more levels than there are variables.
        if self.scratch.level_stamp.len() <= self.trail_lim.len() {
            self.scratch.level_stamp.push(0);
        }
        self.theory.push_level();
    }

    fn backtrack(&mut self, level: u32) {
        let level = level as usize;
        if self.trail_lim.len() <= level {
            return;
        }
        let keep = self.trail_lim[level];
        for at in (keep..self.trail.len()).rev() {
            let lit = self.trail[at];
            self.values[lit.index()] = 0;
            self.values[(!lit).index()] = 0;
            self.saved[lit.var().index()] = !lit.is_negated();
            self.heap.insert(lit.var());
        }
        self.trail.truncate(keep);
        self.trail_lim.truncate(level);
        self.bcp_head = keep;
        // The theory was told a prefix of the trail: what it keeps is at most what is left.
        self.theory_head = self.theory_head.min(keep);
        self.theory.pop_to(level);
    }

    /// Unit propagation to the fixpoint, or to a clause that is false.
    fn propagate_units(&mut self) -> Option<ClauseRef> {
        while let Some(&lit) = self.trail.get(self.bcp_head) {
            self.bcp_head += 1;
            self.stats.propagations += 1;
            let mut list = std::mem::take(&mut self.watches[lit.index()]);
            let conflict = self.visit_watches(lit, &mut list);
            self.watches[lit.index()] = list;
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    fn visit_watches(&mut self, lit: Lit, list: &mut Vec<Watch>) -> Option<ClauseRef> {
        let falsified = !lit;
        let mut kept = 0;
        let mut at = 0;
        let mut conflict = None;
        'watches: while at < list.len() {
            let watch = list[at];
            at += 1;
            let blocker = self.value(watch.blocker);
            if blocker > 0 || watch.is_binary() {
                list[kept] = watch;
                kept += 1;
                if blocker < 0 {
                    conflict = Some(watch.clause());
                    break;
                }
                if blocker == 0 {
                    self.enqueue(watch.blocker, Reason::Clause(watch.clause()));
                }
                continue;
            }
            let c = watch.clause();
            let lits = self.arena.lits_mut(c);
            if lits[0] == falsified {
                lits.swap(0, 1);
            }
            let first = lits[0];
            let watch = Watch {
                clause: c.0,
                blocker: first,
            };
            let first_value = self.values[first.index()];
            if first_value <= 0 {
                for k in 2..lits.len() {
                    if self.values[lits[k].index()] >= 0 {
                        lits.swap(1, k);
                        self.watches[(!lits[1]).index()].push(watch);
                        continue 'watches;
                    }
                }
            }
            list[kept] = watch;
            kept += 1;
            if first_value < 0 {
                conflict = Some(c);
                break;
            }
            if first_value == 0 {
                self.enqueue(first, Reason::Clause(c));
            }
        }
        list.copy_within(at.., kept);
        list.truncate(kept + list.len() - at);
        conflict
    }
}

impl<T: Theory> ClauseSink for Solver<T> {
    fn new_var(&mut self) -> Var {
        let var = Var(u32::try_from(self.level.len()).expect("variables fit 32 bits"));
        assert!(var.0 < 1 << 30, "too many variables");
        self.values.extend([0, 0]);
        self.watches.extend([Vec::new(), Vec::new()]);
        self.level.push(0);
        self.reason.push(Reason::None);
        self.saved.push(false);
        self.best.push(false);
        self.seen.push(false);
        self.scratch.level_stamp.push(0);
        self.scratch.hopeless.push(0);
        self.heap.add_var();
        self.heap.insert(var);
        var
    }

    fn add_clause(&mut self, lits: &[Lit]) {
        self.add_clause_at_root(lits);
    }
}
