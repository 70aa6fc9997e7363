//! The events of steps, and orders between them that are not about memory: threads, critical sections.

use super::{Occurrence, Problem};
use crate::encode::LIFE;
use crate::events::{Access, StepIndex, StepKind};
use crate::sums::SectionOrder;
use raddle_order::bits::Bit;
use raddle_order::memory::{Fence, MemoryModel, Part};
use raddle_order::{EventId, Lit};
use raddle_program::Order;
use rustc_hash::FxHashMap;

impl Problem {
    // ---- steps

    pub(super) fn add_steps(&mut self) {
        let mut blocks: FxHashMap<usize, Vec<StepIndex>> = FxHashMap::default();
        for (index, step) in self.encoding.steps.iter().enumerate() {
            if let Some(block) = step.block {
                blocks.entry(block).or_default().push(index);
            }
        }
        for index in 0..self.encoding.steps.len() {
            match self.encoding.steps[index].block {
                None => self.add_step(index),
                Some(block) => {
                    if let Some(steps) = blocks.remove(&block) {
                        self.add_atomic(&steps);
                    }
                }
            }
        }
    }

    fn add_step(&mut self, index: StepIndex) {
        let step = &self.encoding.steps[index];
        let (what, order, is_atomic) = (step.what.clone(), step.order, step.is_atomic);
        let lane = self.lanes[step.thread];
        let accesses = step.accesses.clone();
        let has_writes = accesses.iter().any(|access| access.is_write);
        let is_wide = is_atomic && accesses.len() > 1;
        let is_sc = self.model == MemoryModel::Sc;
        match what {
            StepKind::Load | StepKind::Store if is_wide && is_sc => self.add_atomic(&[index]),
            StepKind::Flush if is_wide => self.add_atomic(&[index]),
            StepKind::Load => self.add_accesses(index, &accesses),
            StepKind::Life if !has_writes => self.add_accesses(index, &accesses),
            // On such a machine this is an exchange.
            StepKind::Store if order == Order::SeqCst && !is_sc => {
                self.add_atomic(&[index]);
            }
            StepKind::Store | StepKind::Flush => {
                let guard = self.encoding.steps[index].guard;
                let guard = self.lit(guard);
                let (memory, solver) = (&mut self.memory, &mut self.solver);
                if order.releases() {
                    memory.fence(solver, lane, Fence::StoreStore, guard);
                }
                self.add_accesses(index, &accesses);
            }
            StepKind::Fence { stores_only } => {
                let guard = self.encoding.steps[index].guard;
                let guard = self.lit(guard);
                let kind = if stores_only {
                    Fence::StoreStore
                } else {
                    Fence::Full
                };
                let event = self.memory.fence(&mut self.solver, lane, kind, guard);
                self.stands_for(event, index);
            }
            StepKind::AcquireFence => {}
            // Freeing waits for nothing.
            StepKind::Life if accesses.iter().any(|access| access.cell.offset == LIFE) => {
                self.add_at_once(&[index], Lit::FALSE);
            }
            _ => self.add_atomic(&[index]),
        }
    }

    /// The event of a step that is no access.
    pub(crate) fn node(&self, step: StepIndex) -> EventId {
        self.nodes[step].expect("every such step has an event")
    }

    fn stands_for(&mut self, event: EventId, step: StepIndex) {
        self.nodes[step] = Some(event);
        self.step_of.insert(event, step);
    }

    fn note(&mut self, event: EventId, step: StepIndex, access: &Access) {
        self.occurrences.insert(
            event,
            Occurrence {
                step,
                guard: access.guard,
                is_write: access.is_write,
            },
        );
        self.values.insert(event, access.value.clone());
        self.step_of.insert(event, step);
        self.nodes[step].get_or_insert(event);
    }

    /// Accesses of several cells at once that wait for nothing. Those of one place have one guard; places are alternatives.
    fn add_wide(&mut self, step: StepIndex, accesses: &[Access]) {
        let lane = self.lanes[self.encoding.steps[step].thread];
        for place in accesses.chunk_by(|a, b| a.guard == b.guard) {
            let mut parts = Vec::new();
            for access in place {
                parts.push((self.location(access.cell), self.lit(access.guard)));
            }
            let (memory, solver) = (&mut self.memory, &mut self.solver);
            let events = if place[0].is_write {
                memory.wide_write(solver, lane, &parts)
            } else {
                memory.wide_read(solver, lane, &parts)
            };
            for (event, access) in events.into_iter().zip(place) {
                self.note(event, step, access);
            }
        }
    }

    /// Accesses that are alternatives, or several at once.
    fn add_accesses(&mut self, step: StepIndex, accesses: &[Access]) {
        if self.encoding.steps[step].is_atomic && accesses.len() > 1 {
            self.add_wide(step, accesses);
            return;
        }
        let lane = self.lanes[self.encoding.steps[step].thread];
        for access in accesses {
            let location = self.location(access.cell);
            let guard = self.lit(access.guard);
            let (memory, solver) = (&mut self.memory, &mut self.solver);
            let event = if access.is_write {
                memory.write(solver, lane, location, guard)
            } else {
                memory.read(solver, lane, location, guard)
            };
            self.note(event, step, access);
        }
    }

    /// Steps of one thread that happen at once, when all its stores have reached memory.
    fn add_atomic(&mut self, steps: &[StepIndex]) {
        let guard = self.encoding.steps[steps[0]].guard;
        let guard = self.lit(guard);
        self.add_at_once(steps, guard);
    }

    /// Steps of one thread that happen at once. Its stores reach memory before, if `drains` holds.
    fn add_at_once(&mut self, steps: &[StepIndex], drains: Lit) {
        let lane = self.lanes[self.encoding.steps[steps[0]].thread];
        let mut parts = Vec::new();
        let mut origins = Vec::new();
        for &step in steps {
            let accesses = self.encoding.steps[step].accesses.clone();
            if accesses.is_empty() {
                let guard = self.encoding.steps[step].guard;
                parts.push(Part::Point(self.lit(guard)));
                origins.push((step, None));
            }
            for access in accesses {
                let location = self.location(access.cell);
                let guard = self.lit(access.guard);
                parts.push(if access.is_write {
                    Part::Write(location, guard)
                } else {
                    Part::Read(location, guard)
                });
                origins.push((step, Some(access)));
            }
        }
        let events = self
            .memory
            .atomic_step(&mut self.solver, lane, drains, &parts);
        for (event, (step, access)) in events.into_iter().zip(origins) {
            match access {
                Some(access) => self.note(event, step, &access),
                None => self.stands_for(event, step),
            }
        }
    }

    // ---- orders

    /// Starting a thread comes before what it does, its end before it is joined.
    pub(super) fn add_threads(&mut self) {
        let global = self.memory.global();
        for index in 0..self.encoding.steps.len() {
            let what = self.encoding.steps[index].what.clone();
            let guard = self.encoding.steps[index].guard;
            match what {
                StepKind::Spawn { child } => {
                    let begin = self.encoding.threads[child].begin;
                    if let (Some(spawn), Some(begin)) =
                        (self.nodes[index], begin.and_then(|begin| self.nodes[begin]))
                    {
                        self.solver.order(global, spawn, begin);
                    }
                }
                StepKind::Join { of } => {
                    for (is_it, handle) in of {
                        let condition = self.encoding.bits.bit_and(guard, is_it);
                        let threads = self.encoding.threads.iter();
                        let ends: Vec<(StepIndex, Bit)> = threads
                            .filter(|thread| thread.handle == handle)
                            .filter_map(|thread| Some((thread.end?, thread.finished)))
                            .collect();
                        for (end, finished) in ends {
                            if end < index {
                                self.order_if(end, index, condition);
                            } else {
                                // Threads that wait for each other: then not all of this can happen. Or a thread of the
                                // same name that is started on another path, further on in the text: if it does not come
                                // to its end it has none to come after.
                                let both = self.encoding.bits.bit_and(condition, finished);
                                let lit = self.lit(both);
                                self.order_while(end, index, lit);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// `a` comes before `b` if the condition holds, which must imply that `b` happens.
    fn order_if(&mut self, a: StepIndex, b: StepIndex, condition: Bit) {
        let global = self.memory.global();
        let (Some(from), Some(to)) = (self.nodes[a], self.nodes[b]) else {
            return;
        };
        if condition == self.encoding.steps[b].guard && self.all_come_through(b) {
            // If `b` does not happen, neither does anything after it.
            self.solver.order(global, from, to);
            return;
        }
        let lit = self.lit(condition);
        self.solver.order_if(global, from, to, lit);
    }

    /// Does all that its thread does after a join come after it, whichever way the thread goes?
    fn all_come_through(&self, join: StepIndex) -> bool {
        let thread = self.encoding.steps[join].thread;
        let later = self.encoding.steps[join + 1..].iter();
        later
            .filter(|step| step.thread == thread)
            .all(|step| step.joined.contains(&join))
    }

    /// `a` comes before `b` while the literal holds.
    pub(crate) fn order_while(&mut self, a: StepIndex, b: StepIndex, lit: Lit) {
        let global = self.memory.global();
        if let (Some(from), Some(to)) = (self.nodes[a], self.nodes[b]) {
            self.solver.order_if(global, from, to, lit);
        }
    }

    /// Critical sections of one mutex come one after the other.
    pub(super) fn add_sections(&mut self) -> SectionOrder {
        let mut order = SectionOrder::default();
        let sections = self.encoding.sections.clone();
        for (at, second) in sections.iter().enumerate() {
            for (before, first) in sections[..at].iter().enumerate() {
                if first.mutex != second.mutex || first.thread == second.thread {
                    continue;
                }
                let (a, b) = (first.lock, second.lock);
                if self.fixed.before(a, b) || self.fixed.before(b, a) {
                    let (one, other) = if self.fixed.before(a, b) {
                        (first, second)
                    } else {
                        (second, first)
                    };
                    let both = self.both_happen(a, b);
                    self.section_before(one, other, both);
                    continue;
                }
                let both = self.both_happen(a, b);
                let forward = self.solver.new_lit();
                let backward = self.solver.new_lit();
                self.solver.clause(&[!both, forward, backward]);
                self.solver.clause(&[!forward, !backward]);
                for lit in [forward, backward] {
                    self.solver.clause(&[!lit, both]);
                    self.solver.prefer(lit, 1.0);
                }
                self.section_before(first, second, forward);
                self.section_before(second, first, backward);
                order.insert((before, at), forward);
                order.insert((at, before), backward);
            }
        }
        order
    }

    pub(crate) fn both_happen(&mut self, a: StepIndex, b: StepIndex) -> Lit {
        let (a, b) = (self.encoding.steps[a].guard, self.encoding.steps[b].guard);
        let both = self.encoding.bits.bit_and(a, b);
        self.lit(both)
    }

    /// If `lit` holds, the first section is left before the second is entered.
    fn section_before(
        &mut self,
        first: &crate::events::Section,
        second: &crate::events::Section,
        lit: Lit,
    ) {
        let global = self.memory.global();
        let guards: Vec<Bit> = first
            .unlocks
            .iter()
            .map(|&unlock| self.encoding.steps[unlock].guard)
            .collect();
        let left = self.encoding.bits.any(guards.iter().copied());
        let left = self.lit(left);
        self.solver.clause(&[!lit, left]);
        let Some(to) = self.nodes[second.lock] else {
            return;
        };
        let entered = self.encoding.steps[first.lock].guard;
        for (&unlock, guard) in first.unlocks.iter().zip(guards) {
            let Some(from) = self.nodes[unlock] else {
                continue;
            };
            let condition = if guard == entered {
                lit
            } else {
                let guard = self.lit(guard);
                let condition = self.solver.new_lit();
                self.solver.clause(&[!condition, lit]);
                self.solver.clause(&[!condition, guard]);
                self.solver.clause(&[condition, !lit, !guard]);
                condition
            };
            self.solver.order_if(global, from, to, condition);
        }
    }
}
