//! Memory that is freed while stores are delayed (TSO, PSO).
//!
//! Freeing waits for nothing, so it can overtake a store of another thread into the object: that is a use after free when the
//! store reaches memory. Whether an object was alive when a store was done is looked at by a step of its own.

use crate::encode::{LIFE, RACES_ON_FREED_MEMORY};
use crate::events::{ErrorCondition, Refusal, StepIndex, StepKind};
use crate::problem::Problem;
use raddle_order::EventId;
use raddle_order::bits::Bit;
use raddle_program::{AccessKind, Fault, ObjectId, SrcId, Unsupported};

/// A store into an object, or its end.
#[derive(Clone, Copy)]
struct Write {
    event: EventId,
    step: StepIndex,
    object: ObjectId,
    guard: Bit,
}

impl Problem {
    /// Stores of one thread that may reach memory after another one has freed their object.
    ///
    /// `refuses`: such faults are not looked for, but races are.
    pub(crate) fn add_late_stores(&mut self, refuses: bool) {
        let (mut stores, mut frees) = (Vec::new(), Vec::new());
        for (event, cell) in self.accesses() {
            let (step, guard, is_write) = self.occurrence(event);
            let write = Write {
                event,
                step,
                object: cell.region.object,
                guard,
            };
            match self.encoding.steps[step].what {
                StepKind::Life if is_write && cell.offset == LIFE => frees.push(write),
                StepKind::Store if is_write => stores.push(write),
                _ => {}
            }
        }
        for store in stores {
            for free in frees.iter().filter(|free| free.object == store.object) {
                let [one, other] = [store.step, free.step].map(|at| self.encoding.steps[at].thread);
                let is_fixed = self.fixed.before(store.step, free.step)
                    || self.fixed.before(free.step, store.step);
                if one == other || is_fixed {
                    continue;
                }
                let late = self.solver.new_lit();
                for guard in [store.guard, free.guard] {
                    let guard = self.lit(guard);
                    self.solver.clause(&[!late, guard]);
                }
                let global = self.memory.global();
                self.solver.order_if(global, free.event, store.event, late);
                let guard = self.encoding.bits.from_lit(late);
                if refuses {
                    self.encoding.refusals.push(Refusal {
                        guard,
                        what: Unsupported::Instruction {
                            what: RACES_ON_FREED_MEMORY.into(),
                        },
                        thread: self.encoding.threads[one].id,
                        at: SrcId::NOWHERE,
                    });
                }
                self.encoding.errors.push(ErrorCondition {
                    thread: one,
                    guard,
                    fault: Fault::UseAfterFree {
                        access: AccessKind::Write,
                        object: store.object,
                        offset: 0,
                    },
                });
            }
        }
    }
}
