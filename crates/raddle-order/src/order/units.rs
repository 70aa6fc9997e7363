//! Literals that must be false because what they order would close a cycle (section 5.5.1 of the paper).
//!
//! Beyond the paper: a reads-from and a write serialisation of the same write derive a from-read. While one of the two
//! holds and the other is open, the from-read is an edge that is waiting for one literal, and can be a unit edge too. So
//! "the write was overwritten before the read" excludes a source without any conflict.

use super::graph::Node;
use super::{Candidate, EventId, Implication, Layer, OrderTheory};
use crate::lit::{Lit, Values, Var};
use crate::theory::Consequences;

/// An unassigned literal and where its edge would lead, with the other literal that the edge needs.
pub(super) struct Unit {
    lit: Lit,
    from: Node,
    to: Node,
    also: Lit,
}

impl OrderTheory {
    /// An edge was inserted: whatever would lead from a node that it reaches to one that reaches it must not happen.
    pub(super) fn imply_unit_edges(
        &mut self,
        index: usize,
        values: Values<'_>,
        out: &mut Consequences,
    ) {
        let mut units = std::mem::take(&mut self.units);
        self.collect_units(index, values, &mut units);
        let before = self.layers[index].graph.num_edges();
        let layer = u8::try_from(index).expect("few graphs");
        self.stats.unit_edges += units.len() as u64;
        for Unit {
            lit,
            from,
            to,
            also,
        } in units.drain(..)
        {
            self.implications[(!lit).index()] = Implication {
                layer,
                from,
                to,
                before,
                also,
            };
            out.imply(!lit);
        }
        self.units = units;
    }

    fn collect_units(&self, index: usize, values: Values<'_>, units: &mut Vec<Unit>) {
        let layer = &self.layers[index];
        let lookahead = self.config.lookahead && self.config.derive_from_reads;
        for &from in layer.graph.reached_by_last() {
            for &Candidate { to, lit } in &layer.candidates[from as usize] {
                if layer.graph.reaches_last(to) && values.is_free(lit) {
                    units.push(Unit {
                        lit,
                        from,
                        to,
                        also: Lit::TRUE,
                    });
                }
            }
            if lookahead {
                units.extend(self.waiting_for_serialisation(layer, from, values));
                units.extend(self.waiting_for_source(layer, from, values));
            }
        }
    }

    /// The read has its source, but that may not be overwritten by a write that comes before the read.
    fn waiting_for_serialisation(
        &self,
        layer: &Layer,
        read: Node,
        values: Values<'_>,
    ) -> impl Iterator<Item = Unit> {
        let sources = layer.read_now[read as usize].iter();
        sources.flat_map(move |&(write, also)| {
            self.may_precede[write.index()]
                .iter()
                .filter_map(move |&(later, lit)| {
                    let to = layer.closes_last(read, later)?;
                    values.is_free(lit).then_some(Unit {
                        lit,
                        from: read,
                        to,
                        also,
                    })
                })
        })
    }

    /// The write is overwritten by one that comes before the read, so it is not the read's source.
    fn waiting_for_source(
        &self,
        layer: &Layer,
        read: Node,
        values: Values<'_>,
    ) -> impl Iterator<Item = Unit> {
        let sources = layer.may_read[read as usize].iter();
        sources
            .filter(move |&&(_, lit)| values.is_free(lit))
            .filter_map(move |&(write, lit)| {
                let mut later = self.serialises[write.index()].iter();
                later.find_map(|later| {
                    let to = layer.closes_last(read, later.to)?;
                    Some(Unit {
                        lit,
                        from: read,
                        to,
                        also: later.lit,
                    })
                })
            })
    }

    /// The literals behind an implication: one narrowest path, and the other literal if there was one.
    pub(super) fn reasons_of(&mut self, lit: Lit, reasons: &mut Vec<Lit>) {
        let Implication {
            layer,
            from,
            to,
            before,
            also,
        } = self.implications[lit.index()];
        let start = reasons.len();
        reasons.extend((also != Lit::TRUE).then_some(also));
        let graph = &self.layers[usize::from(layer)].graph;
        let found = self.paths.one(graph, to, from, before, reasons);
        assert!(found, "{lit:?} was implied without a path");
        if self.config.paranoid {
            self.assert_explains(lit, &reasons[start..]);
        }
    }

    /// The way the levels of the graph run already: an edge that follows them closes no cycle and needs no search.
    pub(super) fn along_the_levels(&self, var: Var) -> Option<bool> {
        if !self.config.suggest_phases {
            return None;
        }
        let hint = self.hints.get(var.index()).copied().flatten()?;
        let graph = &self.layers[usize::from(hint.layer)].graph;
        let (from, to) = (graph.level(hint.from), graph.level(hint.to));
        (from != to).then_some(from < to)
    }
}

impl Layer {
    /// The event's node, if an edge to it from `from`, which the last insertion reached, would close a cycle. Events of
    /// `from`'s own class are compared by position and not looked at here.
    fn closes_last(&self, from: Node, event: EventId) -> Option<Node> {
        let to = self.node(event);
        (to != from && self.graph.reaches_last(to)).then_some(to)
    }
}
