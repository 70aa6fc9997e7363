//! Which violation is to be shown.

use super::Effort;
use crate::checks::ViolationKey;
use crate::ending;
use crate::interleavings::{self, Next};
use crate::replay::Found;
use crate::verdict::ViolationKind;
use raddle_memory::race::RaceAccess;
use raddle_memory::{Machine, StepEnd};
use raddle_program::Program;

/// *The same violation* is one with the same key, of the same thread if it is a fault, of the same threads in the same order if it is a
/// race.
pub(super) struct Target<'a> {
    pub(super) wanted: &'a Found,
    key: ViolationKey,
}

impl<'a> Target<'a> {
    pub(super) fn new(wanted: &'a Found) -> Self {
        Self {
            key: ViolationKey::new(&wanted.kind, wanted.at),
            wanted,
        }
    }

    pub(super) fn is(&self, found: &Found) -> bool {
        let same_thread = match (&found.kind, &self.wanted.kind) {
            (ViolationKind::Fault(_), _) => found.thread == self.wanted.thread,
            (ViolationKind::Race(race), ViolationKind::Race(wanted)) => {
                let is_same = |a: &RaceAccess, b: &RaceAccess| (a.thread, a.at) == (b.thread, b.at);
                is_same(&race.first, &wanted.first) && is_same(&race.second, &wanted.second)
            }
            _ => true,
        };
        same_thread && ViolationKey::new(&found.kind, found.at) == self.key
    }

    /// The deadlock that the machine is in, or is bound to come to.
    pub(super) fn deadlock(
        &self,
        program: &mut Program,
        machine: &mut Machine,
        effort: &mut Effort<'_>,
    ) -> Option<Found> {
        let waiting =
            ending::circle(program, machine).or_else(|| ending::deadlock(program, machine))?;
        let (thread, at) = (waiting.first()?.thread, waiting.first()?.at);
        let kind = ViolationKind::Deadlock { waiting };
        let found = Found { kind, thread, at };
        (self.is(&found) && self.ends_in_it(program, machine, effort)).then_some(found)
    }

    /// Lets everybody run on for as long as they can: is the end the deadlock? Where executions are graphs the machine has what is last in
    /// the modification orders; who reads that, and writes behind it, is always allowed to.
    fn ends_in_it(
        &self,
        program: &mut Program,
        machine: &mut Machine,
        effort: &mut Effort<'_>,
    ) -> bool {
        const LONGEST: u64 = 10_000;
        let mark = machine.mark();
        let mut events = 0;
        let mut at_end = false;
        while events < LONGEST && !at_end {
            // Whoever only goes round a loop is not worth running.
            let mut possible = interleavings::possible(program, machine).into_iter();
            let next = possible.find(|next| match *next {
                Next::Run(thread) => !ending::goes_round(program, machine, thread),
                Next::Flush(..) => true,
            });
            match next {
                Some(next) => {
                    events += 1;
                    let end = next.step(program, machine, &[]);
                    if !matches!(end, StepEnd::Done) {
                        break;
                    }
                }
                None => at_end = true,
            }
        }
        effort.spend(events);
        let waiting = if at_end {
            ending::deadlock(program, machine)
        } else {
            None
        };
        machine.undo_to(mark);
        waiting.is_some_and(|waiting| {
            let at = waiting[0].at;
            ViolationKey::new(&ViolationKind::Deadlock { waiting }, at) == self.key
        })
    }
}
