//! Clauses, and what follows from them by unit propagation.
//!
//! What holds without any assumption stays assigned for good, also where a clause that it came from is deleted: it was implied by
//! then, and deleting takes away no consequence.

use crate::lit::Lit;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

type ClauseId = u32;

/// A clause to look at when the literal that owns the list becomes true. If `blocker` is true the clause is.
#[derive(Clone, Copy)]
struct Watch {
    clause: ClauseId,
    blocker: Lit,
}

#[derive(Default)]
pub(crate) struct Clauses {
    /// Those that were deleted are empty. Of the others with two or more literals the first two are watched.
    clauses: Vec<Box<[Lit]>>,
    /// By a hash of the literals, to find what is deleted.
    by_hash: FxHashMap<u64, Vec<ClauseId>>,
    /// Variables of the file, in the order in which clauses name them: one that has a large number takes no more memory than others.
    slots: FxHashMap<u32, u32>,
    /// By literal, as are values.
    watches: Vec<Vec<Watch>>,
    values: Vec<i8>,
    /// What is true; first what is true without assumptions.
    trail: Vec<Lit>,
    head: usize,
    /// Unit propagation alone has refuted the clauses.
    refuted: bool,
}

impl Clauses {
    pub(crate) fn is_true(&self, lit: Lit) -> bool {
        self.known(lit).is_some_and(|lit| self.value(lit) > 0)
    }

    /// The clause's literals are sorted, each once.
    pub(crate) fn add(&mut self, mut clause: Vec<Lit>) {
        let id = u32::try_from(self.clauses.len()).expect("clauses fit 32 bits");
        self.by_hash.entry(hash(&clause)).or_default().push(id);
        for lit in &mut clause {
            *lit = self.slot(*lit);
        }
        // What is not false comes first: if there is a second such literal, both are watched, and nothing is known.
        clause.sort_by_key(|&lit| self.value(lit) < 0);
        let open = clause.iter().filter(|&&lit| self.value(lit) >= 0).count();
        match (open, clause.first()) {
            (0, _) => self.refuted = true,
            (1, Some(&unit)) if self.value(unit) == 0 => self.assign(unit),
            _ => {}
        }
        if let [first, second, ..] = *clause {
            self.watch(first, id, second);
            self.watch(second, id, first);
        }
        self.clauses.push(clause.into_boxed_slice());
        self.refuted |= !self.refuted && self.propagate();
    }

    /// False if there is no such clause.
    pub(crate) fn delete(&mut self, clause: &[Lit]) -> bool {
        let Some(ids) = self.by_hash.get_mut(&hash(clause)) else {
            return false;
        };
        let (clauses, slots) = (&self.clauses, &self.slots);
        let wanted = clause.iter().map(|lit| lit.renamed(slots)).collect();
        let Some(mut wanted): Option<Vec<Lit>> = wanted else {
            return false;
        };
        wanted.sort_unstable();
        let same = |&id: &ClauseId| {
            let mut lits = clauses[id as usize].to_vec();
            lits.sort_unstable();
            lits == wanted
        };
        let Some(at) = ids.iter().position(same) else {
            return false;
        };
        let id = ids.swap_remove(at);
        // Lists of watches are cleared of it when they are next looked at.
        self.clauses[id as usize] = Box::default();
        true
    }

    /// Do literals that are assumed lead to a contradiction by unit propagation?
    pub(crate) fn refutes(&mut self, assumed: impl Iterator<Item = Lit>) -> bool {
        if self.refuted {
            return true;
        }
        let root = self.trail.len();
        let mut contradiction = false;
        for lit in assumed {
            let lit = self.slot(lit);
            match self.value(lit) {
                0 => self.assign(lit),
                value if value < 0 => contradiction = true,
                _ => {}
            }
        }
        contradiction = contradiction || self.propagate();
        for lit in self.trail.drain(root..) {
            self.values[lit.index()] = 0;
            self.values[(!lit).index()] = 0;
        }
        self.head = root;
        contradiction
    }

    fn value(&self, lit: Lit) -> i8 {
        self.values[lit.index()]
    }

    /// The literal as it is called here, where its variable has been named before.
    fn known(&self, lit: Lit) -> Option<Lit> {
        lit.renamed(&self.slots)
    }

    /// The same, and there is room for it now.
    fn slot(&mut self, lit: Lit) -> Lit {
        let fresh = self.slots.len() as u32;
        self.slots.entry(lit.variable()).or_insert(fresh);
        let lits = 2 * self.slots.len();
        if lits > self.values.len() {
            self.values.resize(lits, 0);
            self.watches.resize_with(lits, Vec::new);
        }
        self.known(lit).expect("it has just been named")
    }

    fn watch(&mut self, lit: Lit, clause: ClauseId, blocker: Lit) {
        self.watches[(!lit).index()].push(Watch { clause, blocker });
    }

    fn assign(&mut self, lit: Lit) {
        self.values[lit.index()] = 1;
        self.values[(!lit).index()] = -1;
        self.trail.push(lit);
    }

    /// True if a clause is false.
    fn propagate(&mut self) -> bool {
        while let Some(&lit) = self.trail.get(self.head) {
            self.head += 1;
            let mut list = std::mem::take(&mut self.watches[lit.index()]);
            let contradiction = self.visit(!lit, &mut list);
            self.watches[lit.index()] = list;
            if contradiction {
                return true;
            }
        }
        false
    }

    /// Looks at the clauses that watch `falsified`, and keeps those that still do.
    fn visit(&mut self, falsified: Lit, list: &mut Vec<Watch>) -> bool {
        let mut kept = 0;
        let mut contradiction = false;
        for at in 0..list.len() {
            let watch = list[at];
            if contradiction || self.values[watch.blocker.index()] > 0 {
                list[kept] = watch;
                kept += 1;
                continue;
            }
            let lits = &mut self.clauses[watch.clause as usize];
            if lits.is_empty() {
                continue;
            }
            if lits[0] == falsified {
                lits.swap(0, 1);
            }
            let other = lits[0];
            let open = (2..lits.len()).find(|&k| self.values[lits[k].index()] >= 0);
            match open {
                Some(k) if self.values[other.index()] <= 0 => {
                    lits.swap(1, k);
                    let now = lits[1];
                    self.watch(now, watch.clause, other);
                    continue;
                }
                _ => {}
            }
            list[kept] = Watch {
                blocker: other,
                ..watch
            };
            kept += 1;
            match self.values[other.index()] {
                0 => self.assign(other),
                value => contradiction = value < 0,
            }
        }
        list.truncate(kept);
        contradiction
    }
}

fn hash(sorted: &[Lit]) -> u64 {
    FxBuildHasher.hash_one(sorted)
}
