//! Variables that a mutex protects.
//!
//! If every access to a cell lies in a critical section of one and the same mutex, or comes after all of them in every
//! execution, then a section finds in the cell what the section before it left. So the cell needs neither reads-from nor an
//! order of writes: it is carried from section to section ([`raddle_order::lock_order`]). Who wrote what is then a matter of which
//! section is at which position of the lock order, and what holds after a number of positions is found out by looking at each section once.

use crate::events::{Access, Place, StepIndex, StepKind};
use crate::facts::Cell;
use crate::problem::Problem;
use crate::sums::SectionOrder;
use raddle_order::Lit;
use raddle_order::bits::{Bit, Flow, ReadFlow, Word};
use raddle_order::lock_order::{LockOrder, Passage, Section};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Mutexes with more sections are left to pairwise orders: a position is a literal for each of them.
const MOST_POSITIONS: usize = 40;

/// The accesses of each cell, in the order of steps.
type Accesses = BTreeMap<Cell, Vec<(StepIndex, Access)>>;

/// A mutex that carries cells.
pub(crate) struct Carrier {
    lock_order: LockOrder,
    /// Positions in [`Encoding::sections`](crate::events::Encoding), with their names in the lock order.
    pub(crate) sections: Vec<(usize, Section)>,
    pub(crate) cells: Vec<Carried>,
}

pub(crate) struct Carried {
    /// What the cell is at each bound between positions.
    pub(crate) values: Vec<Word>,
    pub(crate) passages: Vec<Passage>,
    /// By passage: does its section happen?
    happens: Vec<Lit>,
    pub(crate) reads: Vec<Reading>,
}

/// A read that is not the first thing its section does with a cell.
pub(crate) struct Reading {
    /// None for reads after all sections.
    pub(crate) section: Option<Section>,
    pub(crate) guard: Bit,
    happens: Lit,
    pub(crate) value: Word,
    /// What it finds.
    pub(crate) there: Word,
}

impl Problem {
    /// Puts sections in order where that helps. Cells that are waited for in the end (`awaited`) must have events.
    pub(crate) fn add_carriers(
        &mut self,
        order: &SectionOrder,
        awaited: &FxHashMap<Cell, Word>,
    ) -> Vec<Carrier> {
        let mut mutexes: Vec<(Place, Vec<usize>)> = Vec::new();
        for (index, section) in self.encoding.sections.iter().enumerate() {
            match mutexes.iter_mut().find(|(at, _)| *at == section.mutex) {
                Some((_, sections)) => sections.push(index),
                None => mutexes.push((section.mutex, vec![index])),
            }
        }
        if mutexes.is_empty() {
            return Vec::new();
        }
        let mut accesses = self.accesses_of_cells();
        accesses.retain(|cell, _| !awaited.contains_key(cell));
        for read in &self.encoding.unwritten {
            // Who wrote it is seen from the literals for reads-from.
            accesses.retain(|cell, _| !read.cells.contains(cell));
        }
        let mut carriers = Vec::new();
        for (_, sections) in mutexes {
            if !(2..=MOST_POSITIONS).contains(&sections.len()) {
                continue;
            }
            let mut cells: Vec<Cell> = accesses.keys().copied().collect();
            cells.retain(|cell| self.is_protected(&accesses[cell], &sections));
            // Counters are summed up, which says more.
            cells.retain(|&cell| self.additions(cell).is_none());
            if cells.is_empty() {
                continue;
            }
            let (lock_order, places) = self.order_sections(&sections, order);
            let cells = cells
                .into_iter()
                .filter_map(|cell| Some((cell, accesses.remove(&cell)?)))
                .map(|(cell, accesses)| self.carried(cell, &accesses, &lock_order, &places))
                .collect();
            let named = sections.iter().map(|&section| (section, places[&section]));
            carriers.push(Carrier {
                lock_order,
                sections: named.collect(),
                cells,
            });
        }
        carriers
    }

    fn accesses_of_cells(&self) -> Accesses {
        let mut accesses = Accesses::new();
        for (index, step) in self.encoding.steps.iter().enumerate() {
            for access in &step.accesses {
                let of_cell = accesses.entry(access.cell).or_default();
                of_cell.push((index, access.clone()));
            }
        }
        accesses
    }

    /// The section among `sections` that a step lies in.
    fn section_among(&self, step: StepIndex, sections: &[usize]) -> Option<usize> {
        let own = &self.encoding.steps[step].sections;
        own.iter().copied().find(|at| sections.contains(at))
    }

    /// Does the step come after all of `sections` in every execution?
    fn is_after(&self, step: StepIndex, sections: &[usize]) -> bool {
        sections.iter().all(|&section| {
            let section = &self.encoding.sections[section];
            let mut ends = section.unlocks.iter().chain([&section.lock]);
            ends.all(|&end| self.fixed.before(end, step))
        })
    }

    /// Are all accesses in sections, or one after the other behind all of them? And does it matter?
    fn is_protected(&self, accesses: &[(StepIndex, Access)], sections: &[usize]) -> bool {
        let mut inside = 0;
        let mut last = None;
        for (index, access) in accesses {
            let step = &self.encoding.steps[*index];
            let is_plain = matches!(
                step.what,
                StepKind::Load | StepKind::Store | StepKind::Update
            );
            if !is_plain || step.block.is_some() || access.cell.region.is_sync {
                return false;
            }
            if self.section_among(*index, sections).is_some() {
                inside += 1;
                continue;
            }
            let in_line = last.is_none_or(|last| last == *index || self.fixed.before(last, *index));
            if !in_line || !self.is_after(*index, sections) {
                return false;
            }
            last = Some(*index);
        }
        inside > 1 && accesses.iter().any(|(_, access)| access.is_write)
    }

    /// The order of the sections of a mutex, and their names there.
    fn order_sections(
        &mut self,
        sections: &[usize],
        order: &SectionOrder,
    ) -> (LockOrder, FxHashMap<usize, Section>) {
        let mut lock_order = LockOrder::new();
        let mut places = FxHashMap::default();
        for &index in sections {
            let section = self.encoding.sections[index].clone();
            let guard = self.encoding.steps[section.lock].guard;
            let guard = self.lit(guard);
            let enter = self.node(section.lock);
            let place = lock_order.enter(section.thread as u32, enter, guard);
            for unlock in section.unlocks {
                let guard = self.encoding.steps[unlock].guard;
                let guard = self.lit(guard);
                lock_order.leave(place, self.node(unlock), guard);
            }
            places.insert(index, place);
        }
        for &first in sections {
            for &second in sections {
                let (a, b) = (
                    self.encoding.sections[first].lock,
                    self.encoding.sections[second].lock,
                );
                if let Some(&lit) = order.get(&(first, second)) {
                    lock_order.link(places[&first], places[&second], lit);
                } else if first != second && self.fixed.before(a, b) {
                    lock_order.order(places[&first], places[&second]);
                }
            }
        }
        lock_order.connect(&mut self.solver, self.memory.global());
        (lock_order, places)
    }

    /// What sections do to a cell.
    fn carried(
        &mut self,
        cell: Cell,
        accesses: &[(StepIndex, Access)],
        lock_order: &LockOrder,
        places: &FxHashMap<usize, Section>,
    ) -> Carried {
        let location = self.location(cell);
        self.memory.leave_out(location);
        let initial = self.encoding.firsts[&cell].clone();
        let bits = &mut self.encoding.bits;
        let mut carried = Carried {
            values: lock_order.values(&mut self.solver, bits, &initial),
            passages: Vec::new(),
            happens: Vec::new(),
            reads: Vec::new(),
        };
        let mut sections: Vec<usize> = places.keys().copied().collect();
        sections.sort_unstable();
        let mut inside: BTreeMap<usize, Vec<&Access>> = BTreeMap::new();
        let mut after: Vec<&Access> = Vec::new();
        for (step, access) in accesses {
            match self.section_among(*step, &sections) {
                Some(section) => inside.entry(section).or_default().push(access),
                None => after.push(access),
            }
        }
        for (section, accesses) in inside {
            let entered = self.encoding.steps[self.encoding.sections[section].lock].guard;
            let first = accesses[0];
            let found = if !first.is_write && first.guard == entered {
                first.value.clone()
            } else {
                let bits = &mut self.encoding.bits;
                bits.fresh(initial.width(), &mut self.solver)
            };
            let place = places[&section];
            let left = self.go_through(Some(place), &found, &accesses, &mut carried.reads);
            carried.passages.push(Passage {
                section: place,
                found,
                left,
            });
            carried.happens.push(self.lit(entered));
        }
        let last = carried.values[lock_order.len()].clone();
        self.go_through(None, &last, &after, &mut carried.reads);
        carried
    }

    /// What a cell is after some accesses of one thread.
    fn go_through(
        &mut self,
        section: Option<Section>,
        before: &Word,
        accesses: &[&Access],
        reads: &mut Vec<Reading>,
    ) -> Word {
        let mut now = before.clone();
        for access in accesses {
            if access.is_write {
                now = self.encoding.bits.ite(access.guard, &access.value, &now);
            } else if access.value != now {
                reads.push(Reading {
                    section,
                    guard: access.guard,
                    happens: self.lit(access.guard),
                    value: access.value.clone(),
                    there: now.clone(),
                });
            }
        }
        now
    }
}

impl Carrier {
    /// Where values come from, for finding bits that are always the same.
    pub(crate) fn add_flow(&self, flow: &mut Flow) {
        for cell in &self.cells {
            let mut left = vec![flow.writes.len()];
            flow.writes.push(cell.values[0].clone());
            for passage in &cell.passages {
                left.push(flow.writes.len());
                flow.writes.push(passage.left.clone());
            }
            for value in &cell.values[1..] {
                flow.reads.push(ReadFlow {
                    guard: Lit::TRUE,
                    value: value.clone(),
                    sources: left.clone(),
                });
            }
            for (passage, &guard) in cell.passages.iter().zip(&cell.happens) {
                flow.reads.push(ReadFlow {
                    guard,
                    value: passage.found.clone(),
                    sources: left.clone(),
                });
            }
            for read in &cell.reads {
                flow.reads.push(ReadFlow {
                    guard: read.happens,
                    value: read.value.clone(),
                    sources: vec![flow.writes.len()],
                });
                flow.writes.push(read.there.clone());
            }
        }
    }

    /// Says in the formula what is carried.
    pub(crate) fn tie(&self, problem: &mut Problem) {
        let Problem {
            solver, encoding, ..
        } = problem;
        let bits = &mut encoding.bits;
        for cell in &self.cells {
            for read in &cell.reads {
                bits.require_equal_if(read.happens, &read.value, &read.there, solver);
            }
            self.lock_order
                .carry_through(solver, bits, &cell.values, &cell.passages);
        }
    }
}
