//! The top of the tree of a search that several workers explore, in names that mean the same to all of them.
//!
//! A *piece* is a prefix at whose beginning nobody is asleep, with all that is below it; one worker explores it on its own. What is above pieces is here: the
//! ordered tree of all prefixes that lead to one. Races between two events of a piece are its worker's own affair; one whose first event
//! is above leads to a new piece, unless what is here covers it. `docs/parallel.md` has the proof that no class is lost, and none explored twice.
//!
//! Invariants
//! - Children are only ever added behind those that are there.
//! - No step is a weak initial of what a sibling behind it and the way from that down to a piece do. So nobody is asleep where a piece begins.

use raddle_program::ThreadName;
use std::collections::BTreeSet;

/// One event: who does it, and what is chosen in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedStep {
    pub(in crate::dpor) thread: ThreadName,
    pub(in crate::dpor) choices: Box<[u32]>,
}

/// A node of a wakeup tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    pub(in crate::dpor) step: NamedStep,
    /// None for a leaf.
    pub(in crate::dpor) children: Vec<Self>,
}

/// What there is to do at one prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stage {
    /// Explored, or to be explored by others first.
    pub(in crate::dpor) done: Vec<NamedStep>,
    /// Where the way goes on.
    pub(in crate::dpor) next: Option<NamedStep>,
    pub(in crate::dpor) pending: Vec<Branch>,
}

/// How to get to a piece, and what was left of it if it was begun.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(in crate::dpor) stages: Vec<Stage>,
    /// The prefixes that lead to the piece, and the piece.
    pub(in crate::dpor) nodes: Vec<TopId>,
}

/// A prefix in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TopId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// On the way to pieces. Somebody may be asleep here.
    Inner,
    /// A piece that nobody explores now.
    Pending,
    Taken,
    /// A piece that was cut into others.
    Split,
    Done,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) step: NamedStep,
    parent: Option<TopId>,
    pub(super) depth: u32,
    pub(super) kind: Kind,
    pub(super) children: Vec<TopId>,
    /// How many children are not done.
    pub(super) open: u32,
    /// What is left of a piece that was begun.
    pub(super) begun: Vec<Stage>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    free: Vec<TopId>,
    /// Pieces that are pending, those with the shortest way first: much is behind them.
    pub(super) pending: BTreeSet<(u32, TopId)>,
    /// How often something was added that others have to know.
    version: u64,
}

pub(super) const ROOT: TopId = TopId(0);

impl Tree {
    /// The whole search, as far as it is left.
    pub(in crate::dpor) fn new(begun: Vec<Stage>) -> Self {
        let root = Node {
            step: NamedStep {
                thread: ThreadName::default(),
                choices: Box::default(),
            },
            parent: None,
            depth: 0,
            kind: Kind::Pending,
            children: Vec::new(),
            open: 0,
            begun,
        };
        Self {
            nodes: vec![root],
            free: Vec::new(),
            pending: BTreeSet::from([(0, ROOT)]),
            version: 0,
        }
    }

    pub(in crate::dpor) fn version(&self) -> u64 {
        self.version
    }

    /// How many pieces nobody explores now.
    pub(in crate::dpor) fn pieces(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn node(&self, id: TopId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn node_mut(&mut self, id: TopId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    pub(in crate::dpor) fn step(&self, id: TopId) -> &NamedStep {
        &self.node(id).step
    }

    /// The children behind one of them; all, without one.
    pub(in crate::dpor) fn children_behind(&self, id: TopId, child: Option<TopId>) -> &[TopId] {
        let children = self.node(id).children.as_slice();
        let position = children.iter().position(|&it| Some(it) == child);
        &children[position.map_or(0, |position| position + 1)..]
    }

    /// Is everything that begins like this explored by somebody, whatever it is? Else what its children begin with is.
    pub(in crate::dpor) fn covers(&self, id: TopId) -> bool {
        self.node(id).kind != Kind::Inner
    }

    pub(in crate::dpor) fn branch(&self, id: TopId) -> Branch {
        let children = match self.covers(id) {
            true => &[],
            false => self.node(id).children.as_slice(),
        };
        Branch {
            step: self.step(id).clone(),
            children: children.iter().map(|&child| self.branch(child)).collect(),
        }
    }

    // ---- pieces

    /// A piece for somebody to explore.
    pub(in crate::dpor) fn take_piece(&mut self) -> Option<Way> {
        let (_, piece) = self.pending.pop_first()?;
        self.node_mut(piece).kind = Kind::Taken;
        let begun = std::mem::take(&mut self.node_mut(piece).begun);
        let mut nodes = vec![piece];
        let mut stages = Vec::new();
        let mut child = piece;
        while let Some(parent) = self.node(child).parent {
            let siblings = &self.node(parent).children;
            let before = siblings.iter().take_while(|&&it| it != child);
            let behind = self.children_behind(parent, Some(child)).iter();
            stages.push(Stage {
                done: before.map(|&it| self.step(it).clone()).collect(),
                next: Some(self.step(child).clone()),
                pending: behind.map(|&it| self.branch(it)).collect(),
            });
            nodes.push(parent);
            child = parent;
        }
        nodes.reverse();
        stages.reverse();
        stages.extend(begun);
        Some(Way { stages, nodes })
    }

    /// Somebody has explored a part of a piece: this is left of it.
    pub(in crate::dpor) fn put_back(&mut self, piece: TopId, left: Vec<Stage>) {
        let node = self.node_mut(piece);
        node.kind = Kind::Pending;
        node.begun = left;
        let depth = node.depth;
        self.pending.insert((depth, piece));
    }

    /// A piece was explored.
    pub(in crate::dpor) fn done(&mut self, piece: TopId) {
        let mut closed = Some(piece);
        // What is above is done if this was the last of it; it stays, to cover what begins like it.
        while let Some(id) = closed.take() {
            if self.covers(id) {
                self.node_mut(id).kind = Kind::Done;
                self.forget_below(id);
            }
            if let Some(parent) = self.node(id).parent {
                let above = self.node_mut(parent);
                above.open -= 1;
                closed = (above.open == 0).then_some(parent);
            }
        }
    }

    fn forget_below(&mut self, id: TopId) {
        for child in std::mem::take(&mut self.node_mut(id).children) {
            self.forget_below(child);
            self.free.push(child);
        }
    }

    /// Cuts a piece at the end of these stages: where the way goes on a piece begins that is taken. The prefixes on the way there.
    pub(in crate::dpor) fn split(&mut self, piece: TopId, stages: Vec<Stage>) -> Vec<TopId> {
        self.node_mut(piece).kind = Kind::Split;
        let mut nodes = Vec::new();
        let mut here = piece;
        let count = stages.len();
        for (position, stage) in stages.into_iter().enumerate() {
            for step in stage.done {
                self.add(here, step, Kind::Done);
            }
            let Some(next) = stage.next else { break };
            let kind = match position + 1 == count {
                true => Kind::Taken,
                false => Kind::Inner,
            };
            let next = self.add(here, next, kind);
            nodes.push(next);
            for branch in stage.pending {
                self.add_branch(here, branch);
            }
            here = next;
        }
        nodes
    }

    fn add_branch(&mut self, parent: TopId, branch: Branch) {
        let kind = match branch.children.is_empty() {
            true => Kind::Pending,
            false => Kind::Inner,
        };
        let node = self.add(parent, branch.step, kind);
        for child in branch.children {
            self.add_branch(node, child);
        }
    }

    /// Adds a piece: the way goes down these steps that are there, and then these that are not.
    pub(in crate::dpor) fn append(
        &mut self,
        from: TopId,
        known: &[NamedStep],
        new: Vec<NamedStep>,
    ) -> Option<()> {
        let mut here = from;
        for step in known {
            let mut children = self.node(here).children.iter().copied();
            here = children.find(|&child| self.step(child) == step)?;
        }
        let count = new.len();
        for (position, step) in new.into_iter().enumerate() {
            let kind = match position + 1 == count {
                true => Kind::Pending,
                false => Kind::Inner,
            };
            here = self.add(here, step, kind);
        }
        self.version += 1;
        Some(())
    }

    pub(super) fn add(&mut self, parent: TopId, step: NamedStep, kind: Kind) -> TopId {
        let depth = self.node(parent).depth + 1;
        let node = Node {
            step,
            parent: Some(parent),
            depth,
            kind,
            children: Vec::new(),
            open: 0,
            begun: Vec::new(),
        };
        let id = match self.free.pop() {
            Some(id) => {
                *self.node_mut(id) = node;
                id
            }
            None => {
                self.nodes.push(node);
                TopId(self.nodes.len() as u32 - 1)
            }
        };
        self.node_mut(parent).children.push(id);
        match kind {
            Kind::Pending => {
                self.pending.insert((depth, id));
                self.opened(parent);
            }
            Kind::Taken => self.opened(parent),
            Kind::Inner | Kind::Split | Kind::Done => {}
        }
        id
    }

    /// A prefix has one more child that is not done.
    pub(super) fn opened(&mut self, mut id: TopId) {
        loop {
            let node = self.node_mut(id);
            node.open += 1;
            match node.parent {
                Some(parent) if node.open == 1 && node.kind == Kind::Inner => id = parent,
                _ => return,
            }
        }
    }

    // ---- how far it is

    /// How much of the tree is explored, if all branches of a prefix were equally large; `left` says how much of a piece is left.
    pub(in crate::dpor) fn explored(&self, left: &impl Fn(TopId) -> f64) -> f64 {
        self.explored_below(ROOT, left)
    }

    fn explored_below(&self, id: TopId, left: &impl Fn(TopId) -> f64) -> f64 {
        let node = self.node(id);
        match node.kind {
            Kind::Done => 1.0,
            Kind::Pending => 0.0,
            Kind::Taken => 1.0 - left(id),
            Kind::Inner | Kind::Split => {
                let children = node.children.iter();
                let sum: f64 = children.map(|&it| self.explored_below(it, left)).sum();
                sum / node.children.len().max(1) as f64
            }
        }
    }
}
