//! What is known: the paths that threads took, and the executions as combinations of paths.
//!
//! A thread is deterministic, so all that distinguishes its runs is what its reads returned. A *path* is that sequence,
//! up to what makes no difference: see [`Class`]. Paths form a tree for each thread; a [`Node`] is a path up to some read.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A path of one thread up to and including some read.
pub(super) type Node = u32;

/// What a read made of the value it got. Reads of one class cannot be told apart afterwards, by anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Class {
    /// The value itself.
    Exact(u64),
    /// The local state that it led to.
    State(u32),
    /// The same for an operation that wrote, too: what it wrote.
    Update(u32, u64),
    /// The same if it wrote what was there.
    Rewrite(u32, u64),
}

/// An execution, by its number.
pub(super) type Execution = u32;

/// The nodes of each thread's path, in order; the threads by their ids.
pub(super) type Vector = Arc<[Box<[Node]>]>;

/// Something that [`Paths`] have learnt.
#[derive(Debug)]
enum Change {
    Root,
    Child(Node, Class),
    Execution(Vector),
}

#[derive(Default)]
pub(super) struct Paths {
    children: FxHashMap<(Node, Class), Node>,
    /// For each node, the executions that come through it.
    through: Vec<Vec<Execution>>,
    roots: Vec<Node>,
    executions: Vec<Vector>,
    known: FxHashSet<Vector>,
    /// For each execution and each of its nodes, what [`Paths::neighbour`] says of them.
    neighbours: FxHashSet<u128>,
    /// What was learnt since somebody last followed.
    changes: Vec<Change>,
}

impl Paths {
    /// Learns what others have learnt since this was last called: afterwards both know the same.
    pub(super) fn follow(&mut self, others: &mut Self) {
        for change in others.changes.drain(..) {
            match change {
                Change::Root => self.new_root(),
                Change::Child(node, class) => {
                    self.child(node, class);
                }
                Change::Execution(vector) => {
                    self.insert(vector);
                }
            }
        }
        self.changes.clear();
    }

    fn new_root(&mut self) {
        self.roots.push(self.through.len() as Node);
        self.through.push(Vec::new());
        self.changes.push(Change::Root);
    }

    /// The empty path of a thread.
    pub(super) fn root(&mut self, thread: usize) -> Node {
        while self.roots.len() <= thread {
            self.new_root();
        }
        self.roots[thread]
    }

    /// The path that goes on from `node` with a read of this class.
    pub(super) fn child(&mut self, node: Node, class: Class) -> Node {
        let next = self.through.len() as Node;
        let child = *self.children.entry((node, class)).or_insert(next);
        if child == next {
            self.through.push(Vec::new());
            self.changes.push(Change::Child(node, class));
        }
        child
    }

    pub(super) fn find_child(&self, node: Node, class: Class) -> Option<Node> {
        self.children.get(&(node, class)).copied()
    }

    pub(super) fn is_known(&self, vector: &[Box<[Node]>]) -> bool {
        self.known.contains(vector)
    }

    /// Takes note of an execution. False if there was the same before.
    pub(super) fn insert(&mut self, vector: Vector) -> bool {
        if !self.known.insert(Arc::clone(&vector)) {
            return false;
        }
        let execution = self.executions.len() as Execution;
        let all = fingerprint(&vector);
        for path in vector.iter() {
            let others = all.wrapping_sub(path.last().map_or(0, |&leaf| mix(leaf)));
            for &node in path {
                self.through[node as usize].push(execution);
                self.neighbours
                    .insert(others.wrapping_add(mix(node) << 1 | 1));
            }
        }
        self.changes.push(Change::Execution(Arc::clone(&vector)));
        self.executions.push(vector);
        true
    }

    pub(super) fn through(&self, node: Node) -> &[Execution] {
        &self.through[node as usize]
    }

    pub(super) fn path(&self, execution: Execution, thread: usize) -> &[Node] {
        let vector = &self.executions[execution as usize];
        vector.get(thread).map_or(&[], |path| path)
    }

    /// Is there an execution through `node` of `thread` in which all other threads do just what they do in `vector`?
    pub(super) fn has_neighbour(&self, vector: &[Box<[Node]>], thread: usize, node: Node) -> bool {
        let own = vector.get(thread).and_then(|path| path.last());
        let others = fingerprint(vector).wrapping_sub(own.map_or(0, |&leaf| mix(leaf)));
        self.neighbours
            .contains(&others.wrapping_add(mix(node) << 1 | 1))
    }

    /// Is there an execution through `node` in which each thread of `parts` (with the length and last node of a path) takes
    /// that path?
    pub(super) fn is_covered(&self, node: Node, parts: &[(u32, u32, Node)]) -> bool {
        self.through(node).iter().any(|&execution| {
            parts.iter().all(|&(thread, length, last)| {
                length == 0
                    || self
                        .path(execution, thread as usize)
                        .get(length as usize - 1)
                        == Some(&last)
            })
        })
    }
}

/// The sum of what threads contribute, so that one of them can be taken out. Nodes are of one thread each.
fn fingerprint(vector: &[Box<[Node]>]) -> u128 {
    vector.iter().fold(0, |sum: u128, path| {
        sum.wrapping_add(path.last().map_or(0, |&leaf| mix(leaf)))
    })
}

fn mix(node: Node) -> u128 {
    const KEYS: [u128; 2] = [
        0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835,
        0xA076_1D64_78BD_642F_E703_7ED1_A0B4_28DB,
    ];
    let mut x = (u128::from(node) + 1).wrapping_mul(KEYS[0]);
    x ^= x >> 67;
    x = x.wrapping_mul(KEYS[1]);
    x ^ x >> 61
}

/// How many nodes two paths have in common. They are paths of one tree: where they are together they were together before.
pub(super) fn common(a: &[Node], b: &[Node]) -> usize {
    let (mut low, mut high) = (0, a.len().min(b.len()));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if a[middle - 1] == b[middle - 1] {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}
