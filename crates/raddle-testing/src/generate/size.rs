//! An upper bound of the number of interleavings.

use super::recipe::{Piece, Recipe, Spin};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy)]
enum Event {
    /// An event that may go this many ways.
    Step(u64),
    Spawn(usize),
    Join(usize),
}

fn flatten(pieces: &[Piece], out: &mut Vec<Event>) {
    for piece in pieces {
        match piece {
            Piece::Load(..)
            | Piece::Store(..)
            | Piece::Rmw(..)
            | Piece::Cas(..)
            | Piece::Fence(_)
            | Piece::Signal(_)
            | Piece::Assume(_)
            | Piece::Assert(_)
            | Piece::SemWait
            | Piece::SemPost => out.push(Event::Step(1)),
            Piece::Locked(_, inner, unlocks) => {
                out.push(Event::Step(1));
                flatten(inner, out);
                if *unlocks {
                    out.push(Event::Step(1));
                }
            }
            Piece::TryLocked(_, inner)
            | Piece::RwLocked(_, inner)
            | Piece::Once(inner)
            | Piece::SpinLocked(_, inner) => {
                out.push(Event::Step(1));
                flatten(inner, out);
                out.push(Event::Step(1));
            }
            Piece::If(_, then, otherwise) => {
                let (mut a, mut b) = (Vec::new(), Vec::new());
                flatten(then, &mut a);
                flatten(otherwise, &mut b);
                out.extend(if a.len() >= b.len() { a } else { b });
            }
            Piece::Choice(inner) => {
                out.push(Event::Step(2));
                flatten(inner, out);
            }
            Piece::Atomic(inner) => {
                let mut events = Vec::new();
                flatten(inner, &mut events);
                let ways = events
                    .iter()
                    .map(|event| {
                        if let Event::Step(ways) = event {
                            *ways
                        } else {
                            1
                        }
                    })
                    .product();
                out.push(Event::Step(ways));
                // Where an operation inside has to wait, the block falls into several events.
                if inner.iter().any(waits) {
                    out.extend(events);
                }
            }
            Piece::Wait => out.extend([Event::Step(1); 6]),
            Piece::Barrier | Piece::Publish | Piece::Follow(..) | Piece::Release(_) => {
                out.extend([Event::Step(1); 2]);
            }
            // Rounds that come to nothing are not counted.
            Piece::Spin(spin) => {
                let events = match spin {
                    Spin::Until(..)
                    | Spin::While(..)
                    | Spin::TestAndSet(..)
                    | Spin::CompareExchange(..) => 1,
                    Spin::Both(..) | Spin::TestFirst(..) | Spin::Stable(..) | Spin::Block(_) => 2,
                    Spin::Bounded(..) => 4,
                };
                out.extend(vec![Event::Step(1); events]);
            }
            Piece::Spawn(code) => out.push(Event::Spawn(*code)),
            Piece::Join(code) => out.push(Event::Join(*code)),
            Piece::Exit | Piece::ExitProcess => {}
        }
    }
}

fn waits(piece: &Piece) -> bool {
    match piece {
        Piece::Locked(..)
        | Piece::RwLocked(..)
        | Piece::Once(_)
        | Piece::Wait
        | Piece::SemWait
        | Piece::Barrier => true,
        Piece::TryLocked(_, inner) | Piece::Choice(inner) => inner.iter().any(waits),
        Piece::If(_, then, otherwise) => then.iter().chain(otherwise).any(waits),
        _ => false,
    }
}

/// Counts the ways to run all codes to their ends, if every branch runs the longer side and nothing but joins waits.
pub(super) fn interleavings(recipe: &Recipe) -> u64 {
    let codes: Vec<Vec<Event>> = recipe
        .codes
        .iter()
        .map(|pieces| {
            let mut events = Vec::new();
            flatten(pieces, &mut events);
            events
        })
        .collect();
    // Beyond this the table of positions would be large, and so would the answer.
    let positions: u64 = codes.iter().map(|events| events.len() as u64 + 1).product();
    if positions > 50_000 {
        return u64::MAX;
    }
    let start: Vec<u8> = vec![0; codes.len()];
    let mut memo = FxHashMap::default();
    count(&codes, start, &mut memo)
}

fn count(codes: &[Vec<Event>], at: Vec<u8>, memo: &mut FxHashMap<Vec<u8>, u64>) -> u64 {
    if let Some(&known) = memo.get(&at) {
        return known;
    }
    let started = |code: usize| {
        code == 0
            || codes.iter().zip(&at).any(|(events, &done)| {
                events[..done.into()]
                    .iter()
                    .any(|event| matches!(event, Event::Spawn(child) if *child == code))
            })
    };
    let ended = |code: usize| at[code] as usize == codes[code].len();
    let mut total: u64 = 0;
    let mut any = false;
    for code in 0..codes.len() {
        let Some(event) = codes[code].get(at[code] as usize) else {
            continue;
        };
        let ways = match event {
            _ if !started(code) => continue,
            Event::Join(target) if !ended(*target) => continue,
            Event::Step(ways) => *ways,
            _ => 1,
        };
        any = true;
        let mut next = at.clone();
        next[code] += 1;
        total = total.saturating_add(ways.saturating_mul(count(codes, next, memo)));
    }
    let total = if any { total } else { 1 };
    memo.insert(at, total);
    total
}
