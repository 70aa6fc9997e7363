//! What is looked for, and what makes two findings the same.

use crate::verdict::{ViolationKind, Waiting};
use raddle_program::{Fault, SrcId};

/// What is looked for. Assertions and memory faults found by the program itself stop a thread in any case; a check that
/// is off makes them end the execution silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    Assert,
    Memory,
    Race,
    Deadlock,
    Livelock,
    Overflow,
    Uninit,
}

/// The set of checks that are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    pub assertions: bool,
    pub memory: bool,
    pub races: bool,
    pub deadlocks: bool,
    pub livelocks: bool,
    pub overflows: bool,
    /// What depends on memory that nobody has written. Of use only if the program was loaded to be checked for it
    /// (`InterpOptions::check_uninit`).
    pub uninit: bool,
    /// Of what belongs to `assertions` only calls of functions that mark errors (`reach_error`) count.
    pub only_error_calls: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            assertions: true,
            memory: true,
            races: true,
            deadlocks: true,
            livelocks: false,
            overflows: false,
            uninit: true,
            only_error_calls: false,
        }
    }
}

/// The check that a fault belongs to. Undefined behaviour other than overflow goes with memory faults.
#[must_use]
pub fn check_of(fault: &Fault) -> Check {
    match fault {
        Fault::Assertion { .. }
        | Fault::ErrorReached { .. }
        | Fault::Abort
        | Fault::Panic { .. }
        | Fault::Exception { .. } => Check::Assert,
        Fault::Overflow { .. } => Check::Overflow,
        Fault::Uninitialised { .. } => Check::Uninit,
        Fault::NullDereference { .. }
        | Fault::WildPointer { .. }
        | Fault::OutOfBounds { .. }
        | Fault::Misaligned { .. }
        | Fault::WriteToConstant { .. }
        | Fault::UseAfterFree { .. }
        | Fault::DoubleFree { .. }
        | Fault::InvalidFree { .. }
        | Fault::DivisionByZero
        | Fault::Unreachable
        | Fault::Misuse { .. } => Check::Memory,
    }
}

impl Checks {
    /// Is this fault looked for?
    #[must_use]
    pub fn covers(&self, fault: &Fault) -> bool {
        let is_mark = matches!(fault, Fault::ErrorReached { .. });
        let check = check_of(fault);
        self.contains(check) && (is_mark || check != Check::Assert || !self.only_error_calls)
    }

    #[must_use]
    pub fn contains(&self, check: Check) -> bool {
        match check {
            Check::Assert => self.assertions,
            Check::Memory => self.memory,
            Check::Race => self.races,
            Check::Deadlock => self.deadlocks,
            Check::Livelock => self.livelocks,
            Check::Overflow => self.overflows,
            Check::Uninit => self.uninit,
        }
    }
}

/// What makes two violations the same one to a user: their kind and their places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ViolationKey {
    Fault(std::mem::Discriminant<Fault>, SrcId),
    /// The two places, the smaller first.
    Race(SrcId, SrcId),
    /// Where the threads wait, ascending.
    Deadlock(Vec<SrcId>),
    /// Where the threads spin, ascending.
    Livelock(Vec<SrcId>),
}

impl ViolationKey {
    /// The key of a violation at `at`.
    #[must_use]
    pub fn new(kind: &ViolationKind, at: SrcId) -> Self {
        match kind {
            ViolationKind::Fault(fault) => Self::Fault(std::mem::discriminant(fault), at),
            ViolationKind::Race(race) => {
                let (a, b) = (race.first.at, race.second.at);
                Self::Race(a.min(b), a.max(b))
            }
            ViolationKind::Deadlock { waiting } => Self::Deadlock(places(waiting)),
            ViolationKind::Livelock { spinning } => Self::Livelock(places(spinning)),
        }
    }
}

fn places(threads: &[Waiting]) -> Vec<SrcId> {
    let mut places: Vec<SrcId> = threads.iter().map(|thread| thread.at).collect();
    places.sort_unstable();
    places
}
