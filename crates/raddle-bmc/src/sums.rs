//! Cells that are only added to: counters.
//!
//! If every write of a cell adds a number to what was read just before, and nothing comes between the two (they are one atomic
//! update, or lie in a critical section of one and the same mutex), then a read returns the first contents plus what was added
//! before it. Orders that the solver would have to go through one by one to find that out are then all the same to it. This
//! follows from the rest of the formula, and is added to it where it can be said: for reads that come after (or before) every
//! addition in each execution, and for those in critical sections themselves.

use crate::events::{Access, StepIndex};
use crate::facts::Cell;
use crate::problem::Problem;
use raddle_order::Lit;
use raddle_order::bits::{Bit, Word};
use rustc_hash::FxHashMap;

/// In sections, sums are written down only if there are not too many.
const MOST_SECTIONS: usize = 48;

/// One addition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addition {
    step: StepIndex,
    guard: Bit,
    amount: u64,
    /// The critical section it is in, if it is not one atomic update.
    section: Option<usize>,
}

/// Which of two critical sections comes first: (first, second) to the literal that says so.
pub(crate) type SectionOrder = FxHashMap<(usize, usize), Lit>;

impl Problem {
    pub(crate) fn add_sums(&mut self, order: &SectionOrder) {
        let mut cells: Vec<Cell> = self.encoding.firsts.keys().copied().collect();
        cells.sort_unstable();
        for cell in cells {
            if let Some(additions) = self.additions(cell) {
                self.sum_up(cell, &additions, order);
            }
        }
    }

    /// The additions, if nothing else writes the cell.
    pub(crate) fn additions(&self, cell: Cell) -> Option<Vec<Addition>> {
        let mut additions: Vec<Addition> = Vec::new();
        let mut mutex = None;
        for (index, step) in self.encoding.steps.iter().enumerate() {
            for write in step
                .accesses
                .iter()
                .filter(|at| at.is_write && at.cell == cell)
            {
                let (read, amount) = write.sum?;
                let is_update = step.block.is_none()
                    && step
                        .accesses
                        .iter()
                        .any(|at| is_read(at, cell, read) && at.guard == write.guard);
                if is_update {
                    additions.push(Addition {
                        step: index,
                        guard: write.guard,
                        amount,
                        section: None,
                    });
                    continue;
                }
                let (section, guard) = self.section_of(index, cell, read)?;
                // One addition a section, whenever it is entered, and all in sections of one mutex.
                let of = self.encoding.sections[section].mutex;
                let is_first = additions.iter().all(|other| other.section != Some(section));
                if guard != write.guard || !is_first || *mutex.get_or_insert(of) != of {
                    return None;
                }
                additions.push(Addition {
                    step: index,
                    guard,
                    amount,
                    section: Some(section),
                });
            }
        }
        let mixed = additions.iter().any(|at| at.section.is_none());
        (additions.len() > 1 && !(mixed && mutex.is_some())).then_some(additions)
    }

    /// The section that holds both the write of a step and the read that it adds to, with its guard.
    fn section_of(&self, step: StepIndex, cell: Cell, read: u32) -> Option<(usize, Bit)> {
        let [section] = self.encoding.steps[step].sections[..] else {
            return None;
        };
        let guard = self.encoding.steps[self.encoding.sections[section].lock].guard;
        let from = self.encoding.sections[section].lock;
        let mut between = self.encoding.steps[from..step].iter();
        let has_read = between.any(|other| {
            other.sections == [section]
                && other
                    .accesses
                    .iter()
                    .any(|at| is_read(at, cell, read) && at.guard == guard)
        });
        has_read.then_some((section, guard))
    }

    fn sum_up(&mut self, cell: Cell, additions: &[Addition], order: &SectionOrder) {
        let reads: Vec<(StepIndex, Access)> = self
            .encoding
            .steps
            .iter()
            .enumerate()
            .flat_map(|(index, step)| step.accesses.iter().map(move |at| (index, at)))
            .filter(|(_, at)| !at.is_write && at.cell == cell)
            .map(|(index, at)| (index, at.clone()))
            .collect();
        for (index, read) in reads {
            let Some(terms) = self.terms(index, additions, order) else {
                continue;
            };
            let width = read.value.width();
            let mut sum = self.encoding.firsts[&cell].clone();
            let nothing = Word::constant(width, 0);
            for (happened, amount) in terms {
                let amount = Word::constant(width, u128::from(amount));
                let bits = &mut self.encoding.bits;
                let term = bits.ite(happened, &amount, &nothing);
                sum = bits.add(&sum, &term);
            }
            let guard = self.lit(read.guard);
            let bits = &mut self.encoding.bits;
            bits.require_equal_if(guard, &read.value, &sum, &mut self.solver);
        }
    }

    /// What was added before a read: conditions and amounts; none if that is not known.
    fn terms(
        &mut self,
        read: StepIndex,
        additions: &[Addition],
        order: &SectionOrder,
    ) -> Option<Vec<(Bit, u64)>> {
        let own = match self.encoding.steps[read].sections[..] {
            [section] => Some(section),
            _ => None,
        };
        let mut terms = Vec::new();
        for addition in additions {
            if addition.step == read {
                return None;
            }
            if self.fixed.before(addition.step, read) {
                terms.push((addition.guard, addition.amount));
                continue;
            }
            if self.fixed.before(read, addition.step) {
                continue;
            }
            if additions.len() > MOST_SECTIONS {
                return None;
            }
            let (first, second) = (addition.section?, own?);
            let lit = *order.get(&(first, second))?;
            terms.push((self.encoding.bits.from_lit(lit), addition.amount));
        }
        Some(terms)
    }
}

fn is_read(access: &Access, cell: Cell, read: u32) -> bool {
    !access.is_write && access.cell == cell && access.sum.is_some_and(|(id, _)| id == read)
}
