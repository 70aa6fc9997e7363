//! One event graph: edges come and go like a stack, and the first edge that closes a cycle is noticed at once.
//!
//! Two-way search of Bender, Fineman, Gilbert and Tarjan as adapted in section 5.2 of the paper. Every node has a
//! *pseudo-topological level*. An edge whose source has the lower level needs no work. Otherwise a backward search inside
//! the source's level, cut off after Δ edges, and a forward search that raises levels decide whether there is a cycle.
//!
//! Invariants (with incremental detection, between calls)
//! 1. `level[from] <= level[to]` for every edge.
//! 2. The incoming list of a node holds exactly its incoming edges whose source has the node's own level.
//! 3. `edges`, `cells` and `log` only grow between two marks, so undoing is truncation plus one restore per entry.
//!
//! Deviations from the paper
//! 1. Atomicity classes are contracted to one node (see `mod.rs`) instead of being given one level.
//! 2. Incoming lists are persistent singly linked lists: clearing one is forgetting its head, so the undo log needs the
//!    old head and not the old contents.

use crate::lit::Lit;

pub(super) type Node = u32;
pub(super) type EdgeId = u32;

const NIL: u32 = u32::MAX;

/// The literals that put an edge into the graph; `Lit::TRUE` where fewer than two did.
pub(super) type Why = [Lit; 2];

pub(super) const ALWAYS: Why = [Lit::TRUE, Lit::TRUE];

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: Node,
    pub(super) to: Node,
    pub(super) why: Why,
}

impl Edge {
    /// How many literals the edge adds to a clause.
    pub(super) fn width(&self) -> u32 {
        u32::from(self.why[0] != Lit::TRUE) + u32::from(self.why[1] != Lit::TRUE)
    }
}

/// How cycles are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detection {
    /// At every edge, by two-way incremental search (section 5.2).
    #[default]
    Incremental,
    /// At every edge, by a fresh search (the comparison of section 6.3).
    Fresh,
    /// Not before the assignment is complete, by strongly connected components.
    Final,
}

#[derive(Clone, Copy)]
struct Cell {
    edge: EdgeId,
    next: u32,
}

#[derive(Clone, Copy)]
struct Saved {
    node: Node,
    level: u32,
    incoming: u32,
}

#[derive(Clone, Copy)]
pub(super) struct Mark {
    edges: u32,
    cells: u32,
    log: u32,
}

impl Mark {
    /// How many edges there were.
    pub(super) fn edges(self) -> u32 {
        self.edges
    }
}

pub(super) struct EventGraph {
    detection: Detection,
    level: Vec<u32>,
    incoming: Vec<u32>,
    outgoing: Vec<Vec<(Node, EdgeId)>>,
    edges: Vec<Edge>,
    cells: Vec<Cell>,
    log: Vec<Saved>,
    /// Δ, and the number of edges at which it is computed anew.
    delta: usize,
    delta_until: usize,
    stamp: u32,
    back_stamp: Vec<u32>,
    /// Of the last insertion: nodes that reach the new edge, nodes it reaches. Both are subsets: the searches are bounded.
    back: Vec<Node>,
    forward: Vec<Node>,
    stack: Vec<Node>,
}

enum Backward {
    Found,
    Complete,
    CutOff,
}

impl EventGraph {
    pub(super) fn new(detection: Detection) -> Self {
        Self {
            detection,
            level: Vec::new(),
            incoming: Vec::new(),
            outgoing: Vec::new(),
            edges: Vec::new(),
            cells: Vec::new(),
            log: Vec::new(),
            delta: 1,
            delta_until: 0,
            stamp: 0,
            back_stamp: Vec::new(),
            back: Vec::new(),
            forward: Vec::new(),
            stack: Vec::new(),
        }
    }

    pub(super) fn add_node(&mut self) -> Node {
        let node = index32(self.level.len());
        self.level.push(1);
        self.incoming.push(NIL);
        self.outgoing.push(Vec::new());
        self.back_stamp.push(0);
        node
    }

    pub(super) fn num_nodes(&self) -> usize {
        self.level.len()
    }

    pub(super) fn num_edges(&self) -> u32 {
        index32(self.edges.len())
    }

    pub(super) fn edge(&self, edge: EdgeId) -> Edge {
        self.edges[edge as usize]
    }

    pub(super) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    pub(super) fn successors(&self, node: Node) -> &[(Node, EdgeId)] {
        &self.outgoing[node as usize]
    }

    /// Nodes with a higher level than this one's cannot reach it. Without incremental detection all levels are equal.
    pub(super) fn level(&self, node: Node) -> u32 {
        self.level[node as usize]
    }

    pub(super) fn has_edges(&self, node: Node) -> bool {
        !self.outgoing[node as usize].is_empty() || self.edges.iter().any(|edge| edge.to == node)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            edges: index32(self.edges.len()),
            cells: index32(self.cells.len()),
            log: index32(self.log.len()),
        }
    }

    /// O(1) per edge removed and per level changed since the mark.
    pub(super) fn undo_to(&mut self, mark: Mark) {
        for edge in self.edges.drain(mark.edges as usize..).rev() {
            self.outgoing[edge.from as usize].pop();
        }
        self.undo_levels(mark);
    }

    fn undo_levels(&mut self, mark: Mark) {
        for saved in self.log.drain(mark.log as usize..).rev() {
            self.level[saved.node as usize] = saved.level;
            self.incoming[saved.node as usize] = saved.incoming;
        }
        self.cells.truncate(mark.cells as usize);
    }

    /// Adds `from → to`. If that closes a cycle the graph stays as it was and the answer is false.
    pub(super) fn insert(&mut self, from: Node, to: Node, why: Why) -> bool {
        debug_assert_ne!(from, to, "events of one class are compared by position");
        self.back.clear();
        self.forward.clear();
        let acyclic = match self.detection {
            Detection::Incremental => self.order(from, to),
            Detection::Fresh => !self.reaches(to, from),
            Detection::Final => true,
        };
        if acyclic {
            self.append(from, to, why);
        }
        acyclic
    }

    fn append(&mut self, from: Node, to: Node, why: Why) {
        let edge = index32(self.edges.len());
        self.edges.push(Edge { from, to, why });
        self.outgoing[from as usize].push((to, edge));
        if self.detection == Detection::Incremental && self.level(from) == self.level(to) {
            self.add_incoming(to, edge);
        }
    }

    /// Establishes `level[from] <= level[to]` without breaking invariants 1 and 2; false if there is a cycle.
    fn order(&mut self, from: Node, to: Node) -> bool {
        let (high, low) = (self.level(from), self.level(to));
        if high < low {
            return true;
        }
        self.refresh_delta();
        self.next_stamp();
        let raise_to = match self.search_back(from, to) {
            Backward::Found => return false,
            Backward::Complete if high == low => {
                self.forward.push(to);
                return true;
            }
            Backward::Complete => high,
            Backward::CutOff => high + 1,
        };
        let mark = self.mark();
        let acyclic = self.search_forward(to, raise_to);
        if !acyclic {
            self.undo_levels(mark);
        }
        acyclic
    }

    /// Which nodes of `from`'s level reach it, looking at no more than Δ edges.
    fn search_back(&mut self, from: Node, to: Node) -> Backward {
        let mut steps = 0;
        self.back_stamp[from as usize] = self.stamp;
        self.back.push(from);
        let mut next = 0;
        while let Some(&node) = self.back.get(next) {
            next += 1;
            let mut cell = self.incoming[node as usize];
            while cell != NIL {
                let Cell { edge, next } = self.cells[cell as usize];
                let source = self.edges[edge as usize].from;
                if source == to {
                    return Backward::Found;
                }
                if self.back_stamp[source as usize] != self.stamp {
                    self.back_stamp[source as usize] = self.stamp;
                    self.back.push(source);
                }
                steps += 1;
                if steps >= self.delta {
                    return Backward::CutOff;
                }
                cell = next;
            }
        }
        Backward::Complete
    }

    /// Raises `start` and what it reaches to at least `level`; false if that reaches a node of the backward search.
    fn search_forward(&mut self, start: Node, level: u32) -> bool {
        self.raise(start, level);
        self.forward.push(start);
        self.stack.clear();
        self.stack.push(start);
        while let Some(node) = self.stack.pop() {
            for at in 0..self.outgoing[node as usize].len() {
                let (next, edge) = self.outgoing[node as usize][at];
                if self.back_stamp[next as usize] == self.stamp {
                    return false;
                }
                if self.level(next) > level {
                    continue;
                }
                if self.level(next) < level {
                    self.raise(next, level);
                    self.forward.push(next);
                    self.stack.push(next);
                }
                self.add_incoming(next, edge);
            }
        }
        true
    }

    fn raise(&mut self, node: Node, level: u32) {
        self.save(node);
        self.level[node as usize] = level;
        self.incoming[node as usize] = NIL;
    }

    fn add_incoming(&mut self, node: Node, edge: EdgeId) {
        self.save(node);
        let cell = index32(self.cells.len());
        self.cells.push(Cell {
            edge,
            next: self.incoming[node as usize],
        });
        self.incoming[node as usize] = cell;
    }

    fn save(&mut self, node: Node) {
        let (level, incoming) = (self.level[node as usize], self.incoming[node as usize]);
        self.log.push(Saved {
            node,
            level,
            incoming,
        });
    }

    fn next_stamp(&mut self) {
        if self.stamp == u32::MAX {
            self.back_stamp.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// Δ = min(√m, n^(2/3)), following m in steps of a quarter.
    fn refresh_delta(&mut self) {
        let edges = self.edges.len();
        if edges < self.delta_until {
            return;
        }
        self.delta_until = edges + edges / 4 + 16;
        let by_nodes = (0_usize..).find(|k| k * k * k >= self.level.len() * self.level.len());
        self.delta = self
            .delta_until
            .isqrt()
            .min(by_nodes.unwrap_or(usize::MAX))
            .max(1);
    }

    /// Depth-first search without any bound.
    fn reaches(&mut self, from: Node, goal: Node) -> bool {
        self.next_stamp();
        self.stack.clear();
        self.stack.push(from);
        self.back_stamp[from as usize] = self.stamp;
        while let Some(node) = self.stack.pop() {
            if node == goal {
                return true;
            }
            for &(next, _) in &self.outgoing[node as usize] {
                if self.back_stamp[next as usize] != self.stamp {
                    self.back_stamp[next as usize] = self.stamp;
                    self.stack.push(next);
                }
            }
        }
        false
    }

    /// What the last insertion's forward search visited.
    pub(super) fn reached_by_last(&self) -> &[Node] {
        &self.forward
    }

    /// The last insertion's backward search visited `node`: it reaches all of [`reached_by_last`](Self::reached_by_last).
    pub(super) fn reaches_last(&self, node: Node) -> bool {
        self.back_stamp[node as usize] == self.stamp
    }

    /// Checks invariants 1 and 2.
    #[cfg(test)]
    pub(super) fn validate(&self) {
        let mut listed = vec![false; self.edges.len()];
        for node in 0..self.num_nodes() {
            let mut cell = self.incoming[node];
            while cell != NIL {
                let Cell { edge, next } = self.cells[cell as usize];
                assert_eq!(self.edges[edge as usize].to as usize, node);
                assert!(
                    !std::mem::replace(&mut listed[edge as usize], true),
                    "listed once"
                );
                cell = next;
            }
        }
        for (edge, listed) in self.edges.iter().zip(listed) {
            assert!(self.level(edge.from) <= self.level(edge.to));
            assert_eq!(listed, self.level(edge.from) == self.level(edge.to));
        }
    }
}

fn index32(at: usize) -> u32 {
    u32::try_from(at).expect("events and edges fit 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_random::Random32 as Rng;

    fn has_cycle(nodes: usize, edges: &[(Node, Node)]) -> bool {
        let mut alive = vec![true; nodes];
        loop {
            let free = (0..nodes).find(|&n| {
                alive[n]
                    && !edges
                        .iter()
                        .any(|&(from, to)| to as usize == n && alive[from as usize])
            });
            match free {
                Some(node) => alive[node] = false,
                None => return alive.contains(&true),
            }
        }
    }

    /// Random insertions and random returns to earlier marks: every verdict is right and every invariant holds.
    #[test]
    fn insertions_and_undo_match_a_plain_cycle_check() {
        for detection in [Detection::Incremental, Detection::Fresh] {
            let mut rng = Rng::new(3);
            for _ in 0..300 {
                let nodes = 2 + rng.below(14);
                let mut graph = EventGraph::new(detection);
                for _ in 0..nodes {
                    graph.add_node();
                }
                let mut present: Vec<(Node, Node)> = Vec::new();
                let mut marks = Vec::new();
                for _ in 0..60 {
                    if rng.below(8) == 0 && !marks.is_empty() {
                        let keep = rng.below(index32(marks.len())) as usize;
                        let (mark, len): (Mark, usize) = marks[keep];
                        marks.truncate(keep);
                        graph.undo_to(mark);
                        present.truncate(len);
                    }
                    if rng.below(3) == 0 {
                        marks.push((graph.mark(), present.len()));
                    }
                    let (from, to) = (rng.below(nodes), rng.below(nodes));
                    if from == to {
                        continue;
                    }
                    present.push((from, to));
                    let cyclic = has_cycle(nodes as usize, &present);
                    assert_eq!(graph.insert(from, to, ALWAYS), !cyclic);
                    if cyclic {
                        present.pop();
                    }
                    if detection == Detection::Incremental {
                        graph.validate();
                    }
                }
            }
        }
    }
}
