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

#[test]
fn what_is_kept_is_the_same_tree() {
    let mut tree = Tree::new(Vec::new());
    let whole = tree.take_piece().unwrap();
    let stage = |next| Stage {
        done: vec![step(1)],
        next: Some(step(next)),
        pending: vec![Branch {
            step: step(3),
            children: vec![leaf(4), leaf(5)],
        }],
    };
    // Nobody writes while somebody is at work.
    assert!(tree.written().is_none());
    let taken = tree.split(whole.nodes[0], vec![stage(2), stage(6)]);
    let given = tree.take_piece().unwrap();
    tree.done(*given.nodes.last().unwrap());
    let left = Stage {
        next: None,
        ..stage(2)
    };
    tree.put_back(*taken.last().unwrap(), vec![stage(7), left]);
    let lines = tree.written().unwrap();
    let mut read = Tree::read(&lines).unwrap();
    assert_eq!(read.written(), Some(lines.clone()));
    assert_eq!(read.pieces(), tree.pieces());
    // The same pieces in the same places, to the end.
    let pieces = |tree: &mut Tree| {
        let ways: Vec<_> = std::iter::from_fn(|| tree.take_piece()).collect();
        for way in &ways {
            tree.done(*way.nodes.last().unwrap());
        }
        let mut stages: Vec<_> = ways.iter().map(|way| format!("{:?}", way.stages)).collect();
        stages.sort();
        stages
    };
    assert_eq!(pieces(&mut read), pieces(&mut tree));
    assert!(read.take_piece().is_none());
    assert!((read.explored(&|_| 0.5) - 1.0).abs() < 1e-9);
    for bad in [
        "node 0 taken main -",
        "node 7 done main -",
        "node 1 done",
        "branch 1 main -",
    ] {
        let spoilt = [lines.as_slice(), &[bad.to_owned()]].concat();
        assert!(Tree::read(&spoilt).is_none(), "{bad}");
    }
}
