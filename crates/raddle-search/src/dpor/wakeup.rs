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

#[derive(Debug)]
struct Node {
    step: Step,
    parent: NodeId,
    first_child: NodeId,
    last_child: NodeId,
    next_sibling: NodeId,
}

#[derive(Debug, Default)]
pub(super) struct WakeupTrees {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
}

impl WakeupTrees {
    /// A new root, or a node that is in no tree yet.
    pub(super) fn new_node(&mut self, step: Step) -> NodeId {
        let node = Node {
            step,
            parent: NONE,
            first_child: NONE,
            last_child: NONE,
            next_sibling: NONE,
        };
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
    pub(super) fn step(&self, node: NodeId) -> &Step {
        &self.nodes[node.0 as usize].step
    }

    pub(super) fn step_mut(&mut self, node: NodeId) -> &mut Step {
        &mut self.nodes[node.0 as usize].step
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

    /// Adds a node as the rightmost child.
    pub(super) fn add_child(&mut self, parent: NodeId, step: Step) -> NodeId {
        let child = self.new_node(step);
        self.nodes[child.0 as usize].parent = parent;
        let last = self.nodes[parent.0 as usize].last_child;
        if last == NONE {
            self.nodes[parent.0 as usize].first_child = child;
        } else {
            self.nodes[last.0 as usize].next_sibling = child;
        }
        self.nodes[parent.0 as usize].last_child = child;
        child
    }

    /// Removes the first child with all that is below it.
    pub(super) fn remove_first_child(&mut self, parent: NodeId) {
        let child = self.nodes[parent.0 as usize].first_child;
        if child == NONE {
            return;
        }
        let next = self.nodes[child.0 as usize].next_sibling;
        let node = &mut self.nodes[parent.0 as usize];
        node.first_child = next;
        if next == NONE {
            node.last_child = NONE;
        }
        self.release(child);
    }

    fn release(&mut self, node: NodeId) {
        let mut child = self.nodes[node.0 as usize].first_child;
        while child != NONE {
            let next = self.nodes[child.0 as usize].next_sibling;
            self.release(child);
            child = next;
        }
        self.free.push(node);
    }
}

fn some(id: NodeId) -> Option<NodeId> {
    (id != NONE).then_some(id)
}
