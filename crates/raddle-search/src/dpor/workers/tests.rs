//! What is left of the tree.

use super::tree::{Branch, NamedStep, Stage, Tree};
use raddle_program::ThreadName;

fn step(nth: u32) -> NamedStep {
    NamedStep {
        thread: ThreadName::default().child(nth),
        choices: Box::default(),
    }
}

fn leaf(nth: u32) -> Branch {
    Branch {
        step: step(nth),
        children: Vec::new(),
    }
}

#[test]
fn a_piece_knows_its_siblings() {
    let mut tree = Tree::new(Vec::new());
    let whole = tree.take_piece().unwrap();
    assert_eq!((whole.stages.len(), tree.pieces()), (0, 0));
    let stage = Stage {
        done: vec![step(1)],
        next: Some(step(2)),
        pending: vec![Branch {
            step: step(3),
            children: vec![leaf(4), leaf(5)],
        }],
    };
    let taken = tree.split(whole.nodes[0], vec![stage.clone()]);
    assert_eq!((taken.len(), tree.pieces()), (1, 2));
    // What was given away has what the others explore to its left.
    let given = tree.take_piece().unwrap();
    assert_eq!(
        given.stages,
        [
            Stage {
                done: vec![step(1), step(2)],
                next: Some(step(3)),
                pending: Vec::new(),
            },
            Stage {
                done: Vec::new(),
                next: Some(step(4)),
                pending: vec![leaf(5)],
            },
        ]
    );
    // Somebody finds another one there.
    let version = tree.version();
    let found = tree.append(whole.nodes[0], &[step(3)], vec![step(6), step(7)]);
    assert!(found.is_some() && tree.version() > version);
    assert_eq!(tree.pieces(), 2);
    assert!(
        tree.append(whole.nodes[0], &[step(8)], vec![step(9)])
            .is_none()
    );
    tree.done(*taken.last().unwrap());
    tree.done(*given.nodes.last().unwrap());
    for _ in 0..2 {
        let way = tree.take_piece().unwrap();
        assert_eq!(way.stages[0], given.stages[0]);
        let left = tree.explored(&|_| 0.5);
        assert!(left > 0.0 && left < 1.0, "{left}");
        tree.done(*way.nodes.last().unwrap());
    }
    assert!(tree.take_piece().is_none());
    assert!((tree.explored(&|_| 0.5) - 1.0).abs() < 1e-9);
}
