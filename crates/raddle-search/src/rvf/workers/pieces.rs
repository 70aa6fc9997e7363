//! How a search is cut into pieces, and how it gets to one.

use super::tree::{Junction, JunctionId, Part, Piece, Tree, Way};
use super::{Company, Own};
use crate::listener::Listener;
use crate::rvf::{Node, Search};
use raddle_program::{Program, ThreadId};
use std::ops::{ControlFlow, Range};

/// What is known of a node on the way.
fn way_of(node: &Node) -> Way {
    Way {
        order: node.mutate.to_vec(),
        before: node.defined.to_vec(),
        count: node.mutation.as_ref().map(|mutation| mutation.count),
    }
}

/// How many outcomes of the present read of a node are pending here.
fn pending(node: &Node) -> usize {
    let mutation = node.mutation.as_ref();
    mutation.map_or(0, |mutation| mutation.outcomes.len())
}

fn has_child(node: &Node) -> bool {
    let mutation = node.mutation.as_ref();
    mutation.is_some_and(|mutation| mutation.has_child)
}

/// How much of the search an outcome of a node's read is, if its share is that of the outcome above.
fn share_of(node: &Node, share: f64) -> f64 {
    let mutation = node.mutation.as_ref();
    share / mutation.map_or(1, |mutation| mutation.count.max(1)) as f64
}

/// Takes the last outcomes that are pending at a node, all but so many.
fn split(node: &mut Node, kept: usize) -> Option<Range<usize>> {
    let mutation = node.mutation.as_mut()?;
    let given = mutation.outcomes.len().checked_sub(kept)?;
    // The next one is the last.
    mutation.outcomes.drain(..given);
    let end = mutation.end;
    mutation.end -= given;
    (given > 0).then_some(mutation.end..end)
}

/// Are these the same threads, in any order?
fn has_same(some: &[ThreadId], others: &[ThreadId]) -> bool {
    some.len() == others.len() && some.iter().all(|thread| others.contains(thread))
}

impl Own {
    /// Leaves what is pending at the last junction, which is this node, to others, all but so much.
    fn leave_part(&mut self, tree: &mut Tree, node: &mut Node, kept: usize) {
        if let Some(&junction) = self.above.last()
            && let Some(outcomes) = split(node, kept)
        {
            self.owed -= outcomes.len();
            tree.leave_part(Part { junction, outcomes });
        }
    }
}

impl Search {
    // ---- what is given away

    /// The nodes of the present path that others know.
    fn shared(&self) -> usize {
        self.company.as_ref().map_or(0, |it| it.own.above.len())
    }

    /// Is the last node of the present path one that others know?
    pub(in crate::rvf) fn is_at_junction(&self) -> bool {
        self.nodes.len() == self.shared()
    }

    /// Tells others what was learned at the nodes that they know.
    fn tell_signals(&self, tree: &mut Tree, above: &[JunctionId]) {
        for (node, &id) in self.nodes.iter().zip(above) {
            tree.note(id, node.signalled, has_child(node));
        }
    }

    /// Its part of the last node on the present path is explored. If nothing else is left there, the node is its own from now on.
    pub(in crate::rvf) fn take_over(&mut self) -> bool {
        let Some(mut company) = self.company.take() else {
            return false;
        };
        let Company { room, own, .. } = &mut *company;
        let junction = room.change(|tree: &mut Tree| {
            self.tell_signals(tree, &own.above);
            let &last = own.above.last()?;
            match tree.explored(last, std::mem::take(&mut own.owed)) {
                true => tree.remove(last),
                false => None,
            }
        });
        let is_own = match (junction, self.nodes.last_mut()) {
            (Some(junction), Some(node)) => {
                node.signalled.union(junction.signalled);
                if let Some(mutation) = &mut node.mutation {
                    mutation.has_child |= junction.has_child;
                }
                own.above.pop();
                own.owed = usize::from(!own.above.is_empty());
                own.share = 0.0;
                true
            }
            _ => false,
        };
        self.company = Some(company);
        is_own
    }

    /// Gives away half of what is pending at the highest node that has anything.
    pub(super) fn cut_at_highest(&mut self) {
        let shared = self.shared();
        let mut behind = shared.saturating_sub(1)..self.nodes.len();
        let Some(highest) = behind.find(|&place| pending(&self.nodes[place]) > 0) else {
            return;
        };
        let Some(mut company) = self.company.take() else {
            return;
        };
        let Company { room, own, .. } = &mut *company;
        room.change(|tree| {
            if highest >= shared {
                self.share_up_to(tree, own, highest);
            }
            let kept = pending(&self.nodes[highest]) / 2;
            own.leave_part(tree, &mut self.nodes[highest], kept);
        });
        self.company = Some(company);
    }

    /// Makes junctions of the nodes of the present path up to one. Nothing is pending above it.
    fn share_up_to(&self, tree: &mut Tree, own: &mut Own, last: usize) {
        self.tell_signals(tree, &own.above);
        for place in own.above.len()..=last {
            let above = own.above.last().map(|&above| {
                let mutation = self.nodes[place - 1].mutation.as_ref();
                // The outcome that leads here is behind us.
                (above, mutation.map_or(0, |it| it.next().saturating_sub(1)))
            });
            if let Some((above, _)) = above {
                // All but the one that leads here.
                tree.explored(above, own.owed.saturating_sub(1));
            }
            let node = &self.nodes[place];
            let leads_on = place + 1 < self.nodes.len();
            own.owed = pending(node) + usize::from(leads_on);
            own.share = share_of(node, above.map_or(1.0, |_| own.share));
            own.above.push(tree.add(Junction {
                above,
                way: way_of(node),
                signalled: node.signalled,
                has_child: has_child(node),
                open: own.owed,
                depth: place,
                share: own.share,
            }));
        }
    }

    /// Makes pieces of all that is left.
    pub(super) fn leave_all(&mut self, tree: &mut Tree, own: &mut Own) {
        let first = own.above.len().saturating_sub(1);
        for place in first..self.nodes.len() {
            if place >= own.above.len() {
                self.share_up_to(tree, own, place);
            }
            own.leave_part(tree, &mut self.nodes[place], 0);
        }
        self.tell_signals(tree, &own.above);
        let Some(&last) = own.above.last() else {
            return;
        };
        // What is left to be done with the last node is to go on.
        if tree.explored(last, own.owed) {
            tree.leave_part(Part {
                junction: last,
                outcomes: 0..0,
            });
        }
    }

    /// How much of the search is left of the piece, as far as the shape of the tree tells.
    pub(in crate::rvf) fn left_of_piece(&self, company: &Company) -> f64 {
        let own = &company.own;
        let shared = own.above.len();
        let pending = match shared.checked_sub(1) {
            Some(last) => pending(&self.nodes[last]),
            None => 0,
        };
        let present = match self.nodes.len() > shared {
            true => 1.0 - self.explored_behind(shared),
            false => 0.0,
        };
        own.share * (pending as f64 + present)
    }

    // ---- on the way to a piece

    /// Goes to a piece. None if it is no part of the tree.
    pub(super) fn go_to(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        piece: Piece,
    ) -> ControlFlow<(), Option<()>> {
        if let Some(company) = &mut self.company {
            company.own = Own::default();
        }
        self.reset(program);
        self.is_begun = true;
        self.advanced.push(ThreadId::MAIN);
        let last = piece.path.len().saturating_sub(1);
        let mut above = Vec::with_capacity(piece.path.len());
        for (place, (id, way, outcome)) in piece.path.iter().enumerate() {
            self.arrive(program, listener)?;
            let found = self.go_on_along(program, listener, way)?;
            let chosen = match place == last {
                true => piece.outcomes.clone(),
                false => *outcome..*outcome + 1,
            };
            if found.is_none() || self.choose(chosen).is_none() {
                return ControlFlow::Continue(None);
            }
            above.push(*id);
            if place == last {
                break;
            }
            let node = self.nodes.last_mut();
            let outcomes = node.and_then(|node| Some(&mut node.mutation.as_mut()?.outcomes));
            let Some(event) = outcomes.and_then(Vec::pop) else {
                return ControlFlow::Continue(None);
            };
            if !self.add_outcome(program, event) {
                return ControlFlow::Continue(None);
            }
        }
        let Some(node) = self.nodes.last_mut() else {
            return ControlFlow::Continue(None);
        };
        let mut owed = piece.outcomes.len();
        if let Some((signalled, has_child)) = piece.rest {
            node.signalled.union(signalled);
            if let Some(mutation) = &mut node.mutation {
                mutation.has_child |= has_child;
            }
            above.pop();
            owed = usize::from(!above.is_empty());
        }
        if let Some(company) = &mut self.company {
            let share = piece.share / piece.outcomes.len().max(1) as f64;
            company.own = Own { above, owed, share };
        }
        ControlFlow::Continue(Some(()))
    }

    /// Takes the reads that were explored at the last node for explored, and begins with the present one.
    fn go_on_along(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        way: &Way,
    ) -> ControlFlow<(), Option<()>> {
        let place = self.nodes.len() - 1;
        let node = &mut self.nodes[place];
        let explored = way.before.len() + usize::from(way.count.is_some());
        if !has_same(&node.mutate, &way.order) || explored > way.order.len() {
            return ControlFlow::Continue(None);
        }
        node.mutate = way.order.as_slice().into();
        node.explored = explored;
        node.defined = way.before.as_slice().into();
        for (&thread, defined) in way.order.iter().zip(&way.before) {
            if let Some(writers) = *defined {
                self.define_map(thread, writers);
            }
        }
        let Some(count) = way.count else {
            return ControlFlow::Continue(Some(()));
        };
        let thread = way.order[explored - 1];
        self.start_mutation(program, listener, thread)?;
        let mutation = self.nodes[place].mutation.as_ref();
        let is_same = mutation.is_some_and(|mutation| mutation.count == count);
        ControlFlow::Continue(is_same.then_some(()))
    }

    /// Leaves these outcomes of the present read only.
    fn choose(&mut self, outcomes: Range<usize>) -> Option<()> {
        let node = self.nodes.last_mut()?;
        let Some(mutation) = &mut node.mutation else {
            return outcomes.is_empty().then_some(());
        };
        let end = match outcomes.is_empty() {
            true => 0,
            false => outcomes.end,
        };
        // The next one is the last.
        let behind = mutation.count.checked_sub(end)?;
        mutation.outcomes.drain(..behind);
        mutation.outcomes.truncate(outcomes.len());
        mutation.end = end;
        (mutation.outcomes.len() == outcomes.len()).then_some(())
    }
}
