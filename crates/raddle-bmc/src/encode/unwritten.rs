//! Reads of shared memory that nobody has written.
//!
//! What counts is what `raddle_memory::uninit` says: a read none of whose bytes was written before, of a heap block that was not made full of
//! zeros or of a stack variable, by an instruction that something depends on. Like a race, it does not stop its thread.
//!
//! Memory that a state knows for sure knows what was written, too. A cell that others access holds what nobody has written if it is read from
//! the first contents, and these were written by nobody: that is seen from the literals for reads-from (`Problem::add_unwritten_reads`).

use super::Encoder;
use super::access::{Case, Target};
use crate::events::{ErrorCondition, StepIndex, UnwrittenRead};
use crate::facts::{Cell, Region, Zeroed};
use crate::state::State;
use raddle_order::bits::Bit;
use raddle_program::{Fault, ObjectId, Stop};
use std::rc::Rc;

/// A read of cells that others access, before its step is known.
pub(super) struct Candidate {
    guard: Bit,
    cells: Vec<Cell>,
    fault: Fault,
}

impl Encoder<'_> {
    pub(super) fn checks_uninit(&self) -> bool {
        self.options.checks.uninit && self.view.checks_uninit()
    }

    /// Looks whether something depends on what the instruction at hand reads.
    pub(super) fn look_at_needs(&mut self, state: &State) {
        let frame = state.frames.last().filter(|_| self.checks_uninit());
        self.needs_contents = frame.is_some_and(|frame| {
            self.view
                .needs_contents(&frame.code, frame.block, frame.index)
        });
    }

    /// A heap block is made, full of zeros or not.
    pub(super) fn note_block(&mut self, state: &State, object: ObjectId, is_zeroed: bool) {
        self.facts.make_block(object, is_zeroed);
        if self.checks_uninit() && self.facts.zeroed(object) == Zeroed::Sometimes {
            let zeroed = self.sometimes_zeroed(object);
            let differs = self.out.bits.bit_xor(zeroed, Bit::constant(is_zeroed));
            let fine = self.out.bits.bit_or(!state.path.guard(), !differs);
            self.out.required.push(fine);
        }
    }

    fn sometimes_zeroed(&mut self, object: ObjectId) -> Bit {
        if let Some(&bit) = self.zeroed.get(&object) {
            return bit;
        }
        let bit = self.fresh_bit();
        self.zeroed.insert(object, bit);
        bit
    }

    /// Does the object hold what nobody has written when it is made?
    pub(super) fn begins_unwritten(&mut self, object: ObjectId) -> Bit {
        match self.facts.zeroed(object) {
            Zeroed::Never => Bit::TRUE,
            Zeroed::Always => Bit::FALSE,
            Zeroed::Sometimes => !self.sometimes_zeroed(object),
        }
    }

    /// A read of memory that the state knows for sure: a fault if nobody has written it.
    pub(super) fn check_written(
        &mut self,
        state: &mut State,
        case: &Case,
        size: u8,
    ) -> Result<(), Stop> {
        let Target::Shared(region) = case.target else {
            return Ok(());
        };
        if !self.needs_contents {
            return Ok(());
        }
        let contents = Rc::clone(self.known(state, case.target)?);
        let unwritten = contents.is_unwritten(&mut self.out.bits, case.offset, size);
        let guard = [state.path.guard(), case.condition, unwritten];
        let guard = self.out.bits.all(guard);
        if guard != Bit::FALSE {
            self.out.errors.push(ErrorCondition {
                thread: self.thread,
                guard,
                fault: fault(region.object, case.offset),
            });
        }
        Ok(())
    }

    /// The same for cells that others access. To be asked before they are read.
    pub(super) fn candidate(
        &mut self,
        state: &State,
        (region, case): (Region, &Case),
        size: u8,
    ) -> Result<Option<Candidate>, Stop> {
        if !self.needs_contents {
            return Ok(None);
        }
        let cells = self.facts.cells(region, case.offset, size);
        let mut guard = self.out.bits.bit_and(state.path.guard(), case.condition);
        for cell in &cells {
            let first = self.first_unwritten(*cell)?;
            guard = self.out.bits.bit_and(guard, first);
        }
        let fault = fault(region.object, case.offset);
        Ok((guard != Bit::FALSE).then_some(Candidate {
            guard,
            cells,
            fault,
        }))
    }

    /// Does the cell hold what nobody has written when the first thread is started?
    pub(super) fn first_unwritten(&mut self, cell: Cell) -> Result<Bit, Stop> {
        if cell.region.is_sync || !self.checks_uninit() {
            return Ok(Bit::FALSE);
        }
        let contents = self.first_contents(cell.region)?;
        Ok(contents.is_unwritten(&mut self.out.bits, cell.offset, cell.size))
    }

    /// The reads are done; by this step, if others can see it.
    pub(super) fn add_candidates(&mut self, candidates: Vec<Candidate>, step: Option<StepIndex>) {
        for candidate in candidates {
            let Candidate {
                guard,
                cells,
                fault,
            } = candidate;
            let thread = self.thread;
            match step {
                Some(step) => self.out.unwritten.push(UnwrittenRead {
                    thread,
                    step,
                    guard,
                    cells,
                    fault,
                }),
                // Nobody ever writes them.
                None => self.out.errors.push(ErrorCondition {
                    thread,
                    guard,
                    fault,
                }),
            }
        }
    }
}

fn fault(object: ObjectId, offset: u64) -> Fault {
    Fault::Uninitialised {
        object: Some(object),
        offset: offset.cast_signed(),
    }
}
