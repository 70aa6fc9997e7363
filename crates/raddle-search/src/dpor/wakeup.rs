//! Wakeup trees: for each prefix of the execution an ordered tree of event sequences that are still to be explored.
//!
//! All trees live in one arena. The tree of a prefix `E` is the children of a root node; when the search steps to the first
//! child `p`, that child becomes the root of the tree of `E.p`. Nodes are recycled, so that the arena is as large as what is
//! still to be explored, whatever was explored before.

use super::execution::ChoiceId;
use super::footprint::FootprintId;
use raddle_program::ThreadId;

/// One event of a sequence that is to be explored: what is needed to run it, and what it will access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) thread: ThreadId,
    pub(super) choices: ChoiceId,
    pub(super) is_block: bool,
    pub(super) footprint: FootprintId,
}

impl Step {
    /// A step of `thread` that was not run yet: what it accesses will be known then.
    pub(super) fn unknown(thread: ThreadId) -> Self {
        Self {
            thread,
            choices: 0,
            is_block: false,
            footprint: FootprintId::EMPTY,
        }
    }

    /// An atomic block with choices inside: its other choices may access other things, so that this one being explored
    /// says nothing about the thread (deviation 2).
    #[inline]
    pub(super) fn is_one_of_many(&self) -> bool {
        self.choices != 0 && self.is_block
    }
}

/// A node of a wakeup tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(u32);

const NONE: NodeId = NodeId(u32::MAX);

/// There may be millions of them: they hold what they must, in 24 bytes.
#[derive(Debug)]
struct Node {
    thread: ThreadId,
    /// The highest bit says that the step is an atomic block.
    choices: u32,
    footprint: FootprintId,
    parent: NodeId,
    first_child: NodeId,
    next_sibling: NodeId,
}

const BLOCK: u32 = 1 << 31;

impl Node {
    #[inline]
    fn set_step(&mut self, step: Step) {
        debug_assert!(step.choices & BLOCK == 0, "so many choices were never met");
        self.thread = step.thread;
        self.choices = step.choices | if step.is_block { BLOCK } else { 0 };
        self.footprint = step.footprint;
    }
}

#[derive(Debug, Default)]
pub(super) struct WakeupTrees {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
}

impl WakeupTrees {
    /// A new root, or a node that is in no tree yet.
    pub(super) fn new_node(&mut self, step: Step) -> NodeId {
        let mut node = Node {
            thread: step.thread,
            choices: 0,
            footprint: step.footprint,
            parent: NONE,
            first_child: NONE,
            next_sibling: NONE,
        };
        node.set_step(step);
        match self.free.pop() {
            Some(id) => {
                self.nodes[id.0 as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                NodeId(self.nodes.len() as u32 - 1)
            }
        }
    }

    #[inline]
    pub(super) fn step(&self, node: NodeId) -> Step {
        let node = &self.nodes[node.0 as usize];
        Step {
            thread: node.thread,
            choices: node.choices & !BLOCK,
            is_block: node.choices & BLOCK != 0,
            footprint: node.footprint,
        }
    }

    pub(super) fn set_step(&mut self, node: NodeId, step: Step) {
        self.nodes[node.0 as usize].set_step(step);
    }

    #[inline]
    pub(super) fn first_child(&self, node: NodeId) -> Option<NodeId> {
        some(self.nodes[node.0 as usize].first_child)
    }

    #[inline]
    pub(super) fn next_sibling(&self, node: NodeId) -> Option<NodeId> {
        some(self.nodes[node.0 as usize].next_sibling)
    }

    /// The nodes from a child of `root` down to `node`, the last one first.
    pub(super) fn path(&self, root: NodeId, node: NodeId) -> impl Iterator<Item = NodeId> {
        let mut next = node;
        std::iter::from_fn(move || {
            let node = (next != root && next != NONE).then_some(next)?;
            next = self.nodes[node.0 as usize].parent;
            Some(node)
        })
    }

    /// The rightmost child, found by going through all of them.
    pub(super) fn last_child(&self, node: NodeId) -> Option<NodeId> {
        std::iter::successors(self.first_child(node), |&child| self.next_sibling(child)).last()
    }

    /// Adds a node as the rightmost child; `last` is the one that was the rightmost so far.
    pub(super) fn add_child(&mut self, parent: NodeId, last: Option<NodeId>, step: Step) -> NodeId {
        let child = self.new_node(step);
        self.nodes[child.0 as usize].parent = parent;
        match last {
            None => {
                debug_assert_eq!(self.nodes[parent.0 as usize].first_child, NONE);
                self.nodes[parent.0 as usize].first_child = child;
            }
            Some(last) => {
                debug_assert_eq!(self.nodes[last.0 as usize].next_sibling, NONE);
                self.nodes[last.0 as usize].next_sibling = child;
            }
        }
        child
    }

    /// Removes the first child with all that is below it.
    pub(super) fn remove_first_child(&mut self, parent: NodeId) {
        let child = self.nodes[parent.0 as usize].first_child;
        if child != NONE {
            let Node {
                first_child,
                next_sibling,
                ..
            } = self.nodes[child.0 as usize];
            self.nodes[parent.0 as usize].first_child = next_sibling;
            match first_child {
                NONE => self.free.push(child),
                _ => self.release(child),
            }
        }
    }

    /// Sequences may be as long as executions: no recursion.
    fn release(&mut self, node: NodeId) {
        let mut next = self.free.len();
        self.free.push(node);
        while let Some(&node) = self.free.get(next) {
            next += 1;
            let mut child = self.nodes[node.0 as usize].first_child;
            while child != NONE {
                self.free.push(child);
                child = self.nodes[child.0 as usize].next_sibling;
            }
        }
    }
}

fn some(id: NodeId) -> Option<NodeId> {
    (id != NONE).then_some(id)
}
