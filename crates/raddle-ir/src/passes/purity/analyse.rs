//! The analysis: forward purity conditions, and where each disjunct is known.

use super::condition::{Disjunction, Literals, Place, Truth};
use super::effects::{Effects, Surroundings};
use super::{Condition, Point, PureLoop};
use crate::ids::BlockId;
use crate::inst::{Body, Operand, Terminator};
use crate::module::Module;
use crate::passes::cfg::Cfg;
use crate::passes::loops::{Loop, Loops};

/// The loops of a prepared body that have pure iterations, outer ones first.
#[must_use]
pub fn analyse(
    module: &Module,
    body: &Body,
    cfg: &Cfg,
    loops: &Loops,
    around: Surroundings<'_>,
) -> Vec<PureLoop> {
    if loops.is_empty() {
        return Vec::new();
    }
    let literals = Literals::new(module, body);
    let analysis = Analysis {
        body,
        cfg,
        literals: &literals,
        effects: Effects {
            literals: &literals,
            around,
        },
        defined_at: definitions(body, cfg),
    };
    let all = loops.iter().map(|(_, natural)| analysis.natural(natural));
    all.filter(|found| !found.conditions.is_empty()).collect()
}

/// Behind which place each register is known; none for parameters.
fn definitions(body: &Body, cfg: &Cfg) -> Vec<Option<Place>> {
    let mut found = vec![None; body.value_types.len()];
    for &id in cfg.reverse_postorder() {
        let block = &body.blocks[id.index()];
        let order = cfg.order(id).expect("blocks of the order are reachable");
        for phi in &block.phis {
            found[phi.result.index()] = Some((order, 0));
        }
        for (index, inst) in block.insts.iter().enumerate() {
            if let Some(result) = inst.result {
                found[result.index()] = Some((order, index + 1));
            }
        }
        // What an `invoke` returns is not known before the next block, and no pure iteration has one.
        if let Some(result) = block.terminator.result() {
            found[result.index()] = Some((order, block.insts.len()));
        }
    }
    found
}

struct Analysis<'a> {
    body: &'a Body,
    cfg: &'a Cfg,
    literals: &'a Literals<'a>,
    effects: Effects<'a>,
    /// The place before which a register is not defined yet.
    defined_at: Vec<Option<Place>>,
}

impl Analysis<'_> {
    fn natural(&self, natural: &Loop) -> PureLoop {
        let mut found = PureLoop {
            header: natural.header,
            conditions: Vec::new(),
        };
        let mut all = Disjunction::none();
        for &latch in &natural.latches {
            all.or(self.rounds_by(natural, latch));
        }
        if all.is_partial && all.ways.is_empty() {
            return found;
        }
        let header = self.order(natural.header);
        for way in all.ways {
            let mut at = (header, 0);
            for literal in &way.literals {
                literal.atom.registers(|register| {
                    // Registers from before the loop have smaller places than its header.
                    at = at.max(self.defined_at[register.index()].unwrap_or(at));
                });
            }
            if let Some((order, index)) = way.not_before {
                at = at.max((order, index + 1));
            }
            found.conditions.push(Condition {
                saves_accesses: way.last_access.is_some_and(|last| last >= at),
                literals: way.literals,
                at: Point {
                    block: self.cfg.reverse_postorder()[at.0 as usize],
                    index: at.1,
                },
            });
        }
        found
    }

    fn order(&self, block: BlockId) -> u32 {
        self.cfg.order(block).unwrap_or(u32::MAX)
    }

    /// The purity condition at the header of iterations that end by the back edge from `latch`.
    fn rounds_by(&self, natural: &Loop, latch: BlockId) -> Disjunction {
        let mut before: Vec<Option<Disjunction>> = vec![None; self.body.blocks.len()];
        for &block in natural.blocks.iter().rev() {
            let at_end = self.at_end(natural, latch, block, &before);
            before[block.index()] = Some(self.through(block, at_end));
        }
        let header = before[natural.header.index()].take();
        header.unwrap_or_else(Disjunction::unknown)
    }

    /// FPC(A•): over all edges.
    fn at_end(
        &self,
        natural: &Loop,
        latch: BlockId,
        block: BlockId,
        before: &[Option<Disjunction>],
    ) -> Disjunction {
        let mut all = Disjunction::none();
        for &target in self.cfg.successors(block) {
            if !natural.contains(target) {
                continue;
            }
            let mut along = if target == natural.header {
                if block != latch {
                    continue;
                }
                self.back_edge(natural.header, latch)
            } else if self.order(target) <= self.order(block) {
                // A back edge inside (or the closing edge of a cycle without header).
                Disjunction::unknown()
            } else {
                self.along_edge(block, target, before)
            };
            for truth in self.decisions(block, target) {
                along.decide(truth);
            }
            all.or(along);
        }
        all
    }

    /// FPC(•B), with what the φ-nodes of B stand for when it is entered from A.
    fn along_edge(
        &self,
        block: BlockId,
        target: BlockId,
        before: &[Option<Disjunction>],
    ) -> Disjunction {
        let Some(mut condition) = before[target.index()].clone() else {
            return Disjunction::unknown();
        };
        let phis = &self.body.blocks[target.index()].phis;
        if !phis.is_empty() {
            let incoming = |register| {
                let phi = phis.iter().find(|phi| phi.result == register)?;
                let mut operands = phi.incoming.iter();
                operands.find(|(from, _)| *from == block).map(|&(_, o)| o)
            };
            condition.substitute(|literal| self.literals.substitute(literal, incoming));
        }
        condition
    }

    /// FPC(A, header): pure if the φ-nodes keep their values.
    fn back_edge(&self, header: BlockId, latch: BlockId) -> Disjunction {
        let mut along = Disjunction::here();
        for phi in &self.body.blocks[header.index()].phis {
            let mut incoming = phi.incoming.iter();
            let truth = match incoming.find(|(from, _)| *from == latch) {
                Some(&(_, next)) => {
                    let now = Operand::Value(phi.result);
                    self.literals.equal(phi.ty, now, next)
                }
                None => Truth::Never,
            };
            along.demand(truth);
        }
        along
    }

    /// What must hold for `block` to go on to `target`. Unknown if several edges lead there for different reasons.
    fn decisions(&self, block: BlockId, target: BlockId) -> Vec<Truth> {
        match &self.body.blocks[block.index()].terminator {
            Terminator::Br { .. } => Vec::new(),
            Terminator::CondBr {
                condition,
                then,
                otherwise,
            } => {
                if then == otherwise {
                    return Vec::new();
                }
                let truth = self.literals.is_true(*condition);
                vec![if *then == target {
                    truth
                } else {
                    truth.negated()
                }]
            }
            Terminator::Switch { .. } => self.case(block, target),
            // Calls, and jumps to who knows where.
            _ => vec![Truth::Unknown],
        }
    }

    fn case(&self, block: BlockId, target: BlockId) -> Vec<Truth> {
        let Terminator::Switch {
            ty,
            value,
            default,
            cases,
        } = &self.body.blocks[block.index()].terminator
        else {
            return vec![Truth::Unknown];
        };
        let mut here = cases.iter().filter(|(_, to)| *to == target);
        let (first, second) = (here.next(), here.next());
        let label = |bits: u128| self.literals.is(*ty, *value, bits);
        match (first, second, *default == target) {
            (Some(&(bits, _)), None, false) => vec![label(bits)],
            (None, _, true) => cases
                .iter()
                .map(|&(bits, _)| label(bits).negated())
                .collect(),
            _ => vec![Truth::Unknown],
        }
    }

    /// FPC(•B) from FPC(B•).
    fn through(&self, id: BlockId, mut condition: Disjunction) -> Disjunction {
        let order = self.order(id);
        let insts = &self.body.blocks[id.index()].insts;
        for (index, inst) in insts.iter().enumerate().rev() {
            if condition.ways.is_empty() {
                break;
            }
            let effect = self.effects.of(inst);
            if effect.accesses {
                condition.access_at((order, index));
            }
            if effect.may_stop {
                condition.stop_at((order, index));
            }
            condition.demand(effect.nothing_if);
        }
        condition
    }
}
