//! Makes generated programs smaller, as long as something holds that was found in them.
//!
//! Greedily: one change after another is tried, those that take most away first, until none is left after which it still holds. What is tried is
//! - a thread less, with all threads that it starts;
//! - a statement less, wherever it stands;
//! - what is inside a statement, in its place;
//! - `seq_cst` instead of another ordering.

use super::emit;
use super::recipe::{Piece, Recipe};
use crate::builder::BuiltProgram;
use raddle_program::op::Order;

/// A generated program that can be made smaller.
#[derive(Clone, Debug)]
pub struct Generated {
    pub(super) recipe: Recipe,
    pub(super) seed: u64,
}

impl Generated {
    #[must_use]
    pub fn program(&self) -> BuiltProgram {
        emit::emit(&self.recipe, self.seed)
    }

    /// A smallest program for which `holds`, as it does for this one.
    #[must_use]
    pub fn shrunk(mut self, mut holds: impl FnMut(&BuiltProgram) -> bool) -> Self {
        loop {
            let smaller = smaller(&self.recipe).into_iter().find_map(|recipe| {
                let smaller = Self { recipe, ..self };
                holds(&smaller.program()).then_some(smaller)
            });
            match smaller {
                Some(smaller) => self = smaller,
                None => return self,
            }
        }
    }
}

/// Everything that is one change away, and smaller: each has fewer threads, fewer statements, or fewer orderings that are not `seq_cst`.
fn smaller(recipe: &Recipe) -> Vec<Recipe> {
    let with = |codes| Recipe {
        codes,
        ..recipe.clone()
    };
    let mut all = Vec::new();
    for thread in (1..recipe.codes.len()).filter(|&thread| is_spawned(recipe, thread)) {
        let mut codes = recipe.codes.clone();
        remove_thread(&mut codes, thread);
        all.push(with(codes));
    }
    for change in [Change::Remove, Change::Unwrap, Change::Strengthen] {
        for at in 0..recipe.codes.len() {
            for changed in changes(&recipe.codes[at], change) {
                let mut codes = recipe.codes.clone();
                codes[at] = changed;
                all.push(with(codes));
            }
        }
    }
    all
}

fn is_spawned(recipe: &Recipe, thread: usize) -> bool {
    let spawns = |piece: &Piece| matches!(piece, Piece::Spawn(child) if *child == thread);
    recipe.codes.iter().flatten().any(spawns)
}

/// Nobody starts the thread any more, nor those that it would start. Spawns and joins are never inside of other pieces.
fn remove_thread(codes: &mut [Vec<Piece>], thread: usize) {
    for code in codes.iter_mut() {
        code.retain(|piece| !matches!(piece, Piece::Spawn(it) | Piece::Join(it) if *it == thread));
    }
    let children: Vec<usize> = std::mem::take(&mut codes[thread])
        .iter()
        .filter_map(|piece| match piece {
            Piece::Spawn(child) => Some(*child),
            _ => None,
        })
        .collect();
    for child in children {
        remove_thread(codes, child);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Remove,
    /// What is inside takes the place of what is around it.
    Unwrap,
    Strengthen,
}

/// The pieces with one of them changed, for each that can be; the last first.
fn changes(pieces: &[Piece], change: Change) -> Vec<Vec<Piece>> {
    let mut all = Vec::new();
    for at in (0..pieces.len()).rev() {
        let mut replace = |by: Vec<Piece>| {
            let mut changed = pieces.to_vec();
            changed.splice(at..=at, by);
            all.push(changed);
        };
        let piece = &pieces[at];
        match change {
            Change::Remove if !matches!(piece, Piece::Spawn(_)) => replace(Vec::new()),
            Change::Unwrap => {
                for inside in inner(piece) {
                    replace(inside.clone());
                }
            }
            Change::Strengthen => {
                let mut strong = piece.clone();
                let mut is_changed = false;
                for order in orders(&mut strong) {
                    is_changed |= *order != Order::SeqCst;
                    *order = Order::SeqCst;
                }
                if is_changed {
                    replace(vec![strong]);
                }
            }
            Change::Remove => {}
        }
        for (index, inside) in inner(piece).into_iter().enumerate() {
            for changed in changes(inside, change) {
                let mut around = piece.clone();
                *inner_mut(&mut around)[index] = changed;
                replace(vec![around]);
            }
        }
    }
    all
}

/// The pieces inside of a piece.
fn inner(piece: &Piece) -> Vec<&Vec<Piece>> {
    match piece {
        Piece::Locked(_, inner, _)
        | Piece::TryLocked(_, inner)
        | Piece::RwLocked(_, inner)
        | Piece::Once(inner)
        | Piece::Choice(inner)
        | Piece::SpinLocked(_, inner)
        | Piece::Atomic(inner) => vec![inner],
        Piece::If(_, then, otherwise) => vec![then, otherwise],
        _ => Vec::new(),
    }
}

fn inner_mut(piece: &mut Piece) -> Vec<&mut Vec<Piece>> {
    match piece {
        Piece::Locked(_, inner, _)
        | Piece::TryLocked(_, inner)
        | Piece::RwLocked(_, inner)
        | Piece::Once(inner)
        | Piece::Choice(inner)
        | Piece::SpinLocked(_, inner)
        | Piece::Atomic(inner) => vec![inner],
        Piece::If(_, then, otherwise) => vec![then, otherwise],
        _ => Vec::new(),
    }
}

fn orders(piece: &mut Piece) -> Vec<&mut Order> {
    match piece {
        Piece::Load(_, order)
        | Piece::Store(_, _, order)
        | Piece::Rmw(_, _, _, order)
        | Piece::Fence(order)
        | Piece::Follow(_, order) => vec![order],
        Piece::Cas(_, _, _, success, failure) => vec![success, failure],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{C11Options, GenOptions, generated, generated_c11};
    use super::*;

    fn statements(built: &BuiltProgram) -> usize {
        built.to_string().lines().count()
    }

    /// What is left is what was looked for, and nothing could be taken away from it.
    #[test]
    fn only_what_is_looked_for_is_left() {
        let mut small = 0;
        for seed in 0..200 {
            let whole = generated(seed, &GenOptions::default());
            for wanted in ["cas", "lock m", "free", "wait c"] {
                let holds = |built: &BuiltProgram| built.to_string().contains(wanted);
                if !holds(&whole.program()) {
                    continue;
                }
                let shrunk = whole.clone().shrunk(holds);
                assert!(holds(&shrunk.program()), "{seed}\n{}", shrunk.program());
                assert!(statements(&shrunk.program()) <= statements(&whole.program()));
                for recipe in smaller(&shrunk.recipe) {
                    let program = emit::emit(&recipe, seed);
                    assert!(!holds(&program), "{seed}\n{program}");
                }
                small += usize::from(shrunk.recipe.codes.iter().flatten().count() <= 2);
            }
        }
        assert!(small > 50, "{small}");
    }

    /// It comes to an end whatever is asked, and what it makes can be run.
    #[test]
    fn every_smaller_program_can_be_built() {
        for seed in 0..60 {
            for generated in [
                generated(seed, &GenOptions::spinning()),
                generated_c11(seed, &C11Options::default()),
            ] {
                let shrunk = generated.shrunk(|built| {
                    let _ = built.program();
                    true
                });
                assert_eq!(shrunk.recipe.codes.iter().flatten().count(), 0, "{seed}");
            }
        }
    }
}
