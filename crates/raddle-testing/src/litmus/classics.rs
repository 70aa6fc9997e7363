//! The tests that every memory model is introduced with.

use super::{Action, Litmus, Outcome};
use raddle_program::op::{Order, Value};

/// A test and its well-known answer.
#[derive(Clone, Debug)]
pub struct Classic {
    pub litmus: Litmus,
    pub outcome: Outcome,
    /// Can it end like this under SC, TSO and PSO?
    pub allowed: [bool; 3],
}

const X: usize = 0;
const Y: usize = 1;

fn w(at: usize, value: Value) -> Action {
    Action::Store {
        at,
        value,
        order: Order::Relaxed,
    }
}

fn release(at: usize, value: Value) -> Action {
    Action::Store {
        at,
        value,
        order: Order::Release,
    }
}

fn strong(at: usize, value: Value) -> Action {
    Action::Store {
        at,
        value,
        order: Order::SeqCst,
    }
}

fn r(at: usize) -> Action {
    Action::Load {
        at,
        order: Order::Relaxed,
    }
}

fn exchange(at: usize, value: Value) -> Action {
    Action::Exchange {
        at,
        value,
        order: Order::Relaxed,
    }
}

const FENCE: Action = Action::Fence(Order::SeqCst);
const RELEASE: Action = Action::Fence(Order::Release);
const ACQUIRE: Action = Action::Fence(Order::Acquire);

/// A full fence between any two operations.
fn fenced(threads: &[&[Action]]) -> Vec<Vec<Action>> {
    between(threads, FENCE)
}

fn between(threads: &[&[Action]], fence: Action) -> Vec<Vec<Action>> {
    let thread = |actions: &&[Action]| {
        let mut all = Vec::new();
        for (index, &action) in actions.iter().enumerate() {
            if index > 0 {
                all.push(fence);
            }
            all.push(action);
        }
        all
    };
    threads.iter().map(thread).collect()
}

fn plain(threads: &[&[Action]]) -> Vec<Vec<Action>> {
    threads.iter().map(|actions| actions.to_vec()).collect()
}

fn classic(
    name: &str,
    threads: Vec<Vec<Action>>,
    reads: &[&[Value]],
    memory: [Option<Value>; 2],
    allowed: [bool; 3],
) -> Classic {
    Classic {
        litmus: Litmus {
            name: name.to_owned(),
            locations: 2,
            threads,
        },
        outcome: Outcome {
            reads: reads.iter().map(|reads| reads.to_vec()).collect(),
            memory: memory.to_vec(),
        },
        allowed,
    }
}

const NEVER: [bool; 3] = [false; 3];
const TSO: [bool; 3] = [false, true, true];
const PSO: [bool; 3] = [false, false, true];
const ANY: [Option<Value>; 2] = [None; 2];

/// Store buffering, message passing and so on, with the answers of the literature (for SPARC's and x86's models).
#[must_use]
pub fn classics() -> Vec<Classic> {
    let mut all = two_threads();
    all.extend(with_fences());
    all.extend(more_threads());
    all
}

const SB: &[&[Action]] = &[
    &[
        Action::Store {
            at: X,
            value: 1,
            order: Order::Relaxed,
        },
        Action::Load {
            at: Y,
            order: Order::Relaxed,
        },
    ],
    &[
        Action::Store {
            at: Y,
            value: 1,
            order: Order::Relaxed,
        },
        Action::Load {
            at: X,
            order: Order::Relaxed,
        },
    ],
];

fn message_passing() -> [Vec<Action>; 2] {
    [vec![w(X, 1), w(Y, 1)], vec![r(Y), r(X)]]
}

fn slices(threads: &[Vec<Action>]) -> Vec<&[Action]> {
    threads.iter().map(Vec::as_slice).collect()
}

fn two_threads() -> Vec<Classic> {
    let sb_with =
        |store: fn(usize, Value) -> Action| plain(&[&[store(X, 1), r(Y)], &[store(Y, 1), r(X)]]);
    vec![
        classic("SB", plain(SB), &[&[0], &[0]], ANY, TSO),
        classic(
            "SB+rfi",
            plain(&[&[w(X, 1), r(X), r(Y)], &[w(Y, 1), r(Y), r(X)]]),
            &[&[1, 0], &[1, 0]],
            ANY,
            TSO,
        ),
        classic("SB+release", sb_with(release), &[&[0], &[0]], ANY, TSO),
        classic("SB+seq_cst", sb_with(strong), &[&[0], &[0]], ANY, NEVER),
        classic(
            "SB+exchange",
            sb_with(exchange),
            &[&[0, 0], &[0, 0]],
            ANY,
            NEVER,
        ),
        classic("MP", message_passing().to_vec(), &[&[], &[1, 0]], ANY, PSO),
        classic(
            "MP+release",
            plain(&[&[w(X, 1), release(Y, 1)], &[r(Y), r(X)]]),
            &[&[], &[1, 0]],
            ANY,
            NEVER,
        ),
        classic(
            "LB",
            plain(&[&[r(X), w(Y, 1)], &[r(Y), w(X, 1)]]),
            &[&[1], &[1]],
            ANY,
            NEVER,
        ),
        classic(
            "2+2W",
            plain(&[&[w(X, 1), w(Y, 2)], &[w(Y, 1), w(X, 2)]]),
            &[&[], &[]],
            [Some(1), Some(1)],
            PSO,
        ),
        classic(
            "R",
            plain(&[&[w(X, 1), w(Y, 1)], &[w(Y, 2), r(X)]]),
            &[&[], &[0]],
            [None, Some(2)],
            TSO,
        ),
        classic(
            "S",
            plain(&[&[w(X, 2), w(Y, 1)], &[r(Y), w(X, 1)]]),
            &[&[], &[1]],
            [Some(2), None],
            PSO,
        ),
        classic(
            "CoRR",
            plain(&[&[w(X, 1)], &[r(X), r(X)]]),
            &[&[], &[1, 0]],
            ANY,
            NEVER,
        ),
        classic(
            "CoWW",
            plain(&[&[w(X, 1), w(X, 2)], &[]]),
            &[&[], &[]],
            [Some(1), None],
            NEVER,
        ),
        classic(
            "CoWR",
            plain(&[&[w(X, 1), r(X)], &[w(X, 2)]]),
            &[&[0], &[]],
            ANY,
            NEVER,
        ),
        classic(
            "CoRW",
            plain(&[&[r(X), w(X, 1)], &[]]),
            &[&[1], &[]],
            ANY,
            NEVER,
        ),
        classic(
            "n6 of x86-TSO",
            plain(&[&[w(X, 1), r(X), r(Y)], &[w(Y, 2), w(X, 2)]]),
            &[&[1, 0], &[]],
            [Some(1), None],
            TSO,
        ),
        classic(
            "two exchanges",
            plain(&[&[exchange(X, 1)], &[exchange(X, 2)]]),
            &[&[0], &[0]],
            ANY,
            NEVER,
        ),
    ]
}

fn with_fences() -> Vec<Classic> {
    let passing = message_passing();
    let passing = slices(&passing);
    let writes = [vec![w(X, 1), w(Y, 2)], vec![w(Y, 1), w(X, 2)]];
    let r_test = [vec![w(X, 1), w(Y, 1)], vec![w(Y, 2), r(X)]];
    vec![
        classic("SB+fences", fenced(SB), &[&[0], &[0]], ANY, NEVER),
        classic(
            "SB+release fences",
            between(SB, RELEASE),
            &[&[0], &[0]],
            ANY,
            TSO,
        ),
        classic(
            "SB+one fence",
            vec![vec![w(X, 1), FENCE, r(Y)], SB[1].to_vec()],
            &[&[0], &[0]],
            ANY,
            TSO,
        ),
        classic("MP+fences", fenced(&passing), &[&[], &[1, 0]], ANY, NEVER),
        classic(
            "MP+release fences",
            between(&passing, RELEASE),
            &[&[], &[1, 0]],
            ANY,
            NEVER,
        ),
        classic(
            "MP+acquire fences",
            between(&passing, ACQUIRE),
            &[&[], &[1, 0]],
            ANY,
            PSO,
        ),
        classic(
            "2+2W+fences",
            fenced(&slices(&writes)),
            &[&[], &[]],
            [Some(1), Some(1)],
            NEVER,
        ),
        classic(
            "R+fences",
            fenced(&slices(&r_test)),
            &[&[], &[0]],
            [None, Some(2)],
            NEVER,
        ),
    ]
}

fn more_threads() -> Vec<Classic> {
    vec![
        classic(
            "WRC",
            plain(&[&[w(X, 1)], &[r(X), w(Y, 1)], &[r(Y), r(X)]]),
            &[&[], &[1], &[1, 0]],
            ANY,
            NEVER,
        ),
        classic(
            "IRIW",
            plain(&[&[w(X, 1)], &[w(Y, 1)], &[r(X), r(Y)], &[r(Y), r(X)]]),
            &[&[], &[], &[1, 0], &[1, 0]],
            ANY,
            NEVER,
        ),
    ]
}
