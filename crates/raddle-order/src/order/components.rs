//! Detection at the end: strongly connected components of the complete assignment's graph (Tarjan). This is what
//! incremental detection is compared with; nothing else uses it.

use super::graph::{Edge, EventGraph, Node};
use super::{OrderTheory, Why};
use crate::theory::Consequences;

const UNSEEN: u32 = u32::MAX;

impl OrderTheory {
    /// Reports the narrowest cycles through one edge of every component that has more than one node.
    pub(super) fn report_components(&mut self, out: &mut Consequences) {
        for layer in 0..self.layers.len() {
            for (from, to, why) in edges_in_cycles(&self.layers[layer].graph) {
                self.stats.cycles += 1;
                self.report_cycle(layer, from, to, why, out);
            }
        }
    }
}

fn edges_in_cycles(graph: &EventGraph) -> Vec<(Node, Node, Why)> {
    let component = components(graph);
    let mut done = vec![false; graph.num_nodes()];
    let mut found = Vec::new();
    // An induced edge if there is one; a cycle of fixed edges gives the empty clause.
    let (induced, fixed): (Vec<&Edge>, Vec<&Edge>) =
        graph.edges().iter().partition(|edge| edge.width() > 0);
    for edge in induced.into_iter().chain(fixed) {
        let of = component[edge.from as usize];
        if of == component[edge.to as usize] && !done[of as usize] {
            done[of as usize] = true;
            found.push((edge.from, edge.to, edge.why));
        }
    }
    found
}

/// By node, the number of its component.
fn components(graph: &EventGraph) -> Vec<u32> {
    let nodes = graph.num_nodes();
    let (mut index, mut low) = (vec![UNSEEN; nodes], vec![0_u32; nodes]);
    let mut component = vec![UNSEEN; nodes];
    let (mut open, mut next_index, mut next_component) = (Vec::new(), 0, 0);
    for root in (0..).take(nodes) {
        if index[root as usize] != UNSEEN {
            continue;
        }
        // Each frame is a node and how many of its successors were looked at.
        let mut frames: Vec<(Node, usize)> = vec![(root, 0)];
        while let Some(&mut (node, ref mut at)) = frames.last_mut() {
            let here = node as usize;
            if *at == 0 {
                index[here] = next_index;
                low[here] = next_index;
                next_index += 1;
                open.push(node);
            }
            if let Some(&(next, _)) = graph.successors(node).get(*at) {
                *at += 1;
                if index[next as usize] == UNSEEN {
                    frames.push((next, 0));
                } else if component[next as usize] == UNSEEN {
                    low[here] = low[here].min(index[next as usize]);
                }
                // A node without unseen successors is entered with `at == 0` only once: `at` has grown.
                continue;
            }
            if low[here] == index[here] {
                while let Some(member) = open.pop() {
                    component[member as usize] = next_component;
                    if member == node {
                        break;
                    }
                }
                next_component += 1;
            }
            frames.pop();
            if let Some(&(parent, _)) = frames.last() {
                low[parent as usize] = low[parent as usize].min(low[here]);
            }
        }
    }
    component
}
