//! What an event accesses, and whether two events commute.

use raddle_memory::{Access, AccessMode, Machine, Mark, access, accesses};
use raddle_program::{Op, Program, RmwKind, Tables};
use smallvec::SmallVec;

/// What an event accesses. Nearly always one location, or one and its object's life.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    accesses: SmallVec<[Access; 2]>,
    summary: Summary,
}

/// One bit for each of 64 sets of locations: most events that commute are told apart by it. It knows nothing of locations
/// that share bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    touched: u64,
    written: u64,
}

impl Summary {
    pub(super) fn join(&mut self, other: Self) {
        self.touched |= other.touched;
        self.written |= other.written;
    }

    fn may_conflict(self, other: Self) -> bool {
        (self.touched & other.written) | (self.written & other.touched) != 0
    }
}

impl Clone for Footprint {
    /// A copy of the bytes. Footprints are cloned all the time, and the derived clone goes access by access.
    fn clone(&self) -> Self {
        Self {
            accesses: SmallVec::from_slice(&self.accesses),
            summary: self.summary,
        }
    }
}

impl Footprint {
    pub(super) fn push(&mut self, access: Access) {
        self.accesses.push(access);
        self.summarise(access);
    }

    fn summarise(&mut self, access: Access) {
        let bit = 1 << (access.loc.index() % 64);
        self.summary.touched |= bit;
        if access.mode.writes() {
            self.summary.written |= bit;
        }
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Access> {
        self.accesses.iter()
    }

    pub(super) fn summary(&self) -> Summary {
        self.summary
    }

    /// How the first location is accessed.
    pub(super) fn first_mode(&self) -> Option<AccessMode> {
        self.accesses.first().map(|access| access.mode)
    }

    /// The same locations, the first one accessed in another way.
    pub(super) fn with_first_mode(&self, mode: AccessMode) -> Self {
        let mut changed = Self::default();
        for (position, &access) in self.accesses.iter().enumerate() {
            let mode = if position == 0 { mode } else { access.mode };
            changed.push(Access { mode, ..access });
        }
        changed
    }

    /// Adds an access to what one event does in several steps.
    fn add(&mut self, access: Access) {
        match self.accesses.iter_mut().find(|old| old.loc == access.loc) {
            Some(old) if old.mode != access.mode => {
                old.mode = AccessMode::Update;
                let old = *old;
                self.summarise(old);
            }
            Some(_) => {}
            None => self.push(access),
        }
    }

    /// Could an event with this footprint conflict with one of those that were summarised?
    #[inline]
    pub(super) fn may_conflict(&self, tables: &Tables, others: Summary) -> bool {
        self.summary.may_conflict(others) || tables.has_mixed_sizes()
    }
}

/// Do two events of different threads commute?
#[inline]
pub(super) fn independent(tables: &Tables, a: &Footprint, b: &Footprint) -> bool {
    !a.may_conflict(tables, b.summary) || !conflict(tables, a, b)
}

fn conflict(tables: &Tables, a: &Footprint, b: &Footprint) -> bool {
    a.iter()
        .any(|&a| b.iter().any(|&b| access::conflict(tables, a, b)))
}

/// What the machine's last event accessed: all its micro-steps from `mark` on.
pub(super) fn footprint(
    program: &Program,
    machine: &Machine,
    mark: Mark,
    additions: bool,
) -> Footprint {
    let mut footprint = Footprint::default();
    let steps = &machine.steps()[mark.steps()..];
    if let [step] = steps
        && let Op::Rmw {
            loc,
            kind: RmwKind::Add | RmwKind::Sub,
            ..
        } = *program.op(step.state)
        && additions
        && program.ignores_result(step.state)
    {
        accesses(program, step, |access| {
            let mode = if access.loc == loc {
                AccessMode::Add
            } else {
                access.mode
            };
            footprint.push(Access { mode, ..access });
        });
        return footprint;
    }
    for step in steps {
        accesses(program, step, |access| footprint.add(access));
    }
    // A block that had to stop has looked at what it waits for.
    if let Some(state) = machine.suspended()
        && let Op::Sync { cell, .. } = *program.op(state)
    {
        footprint.add(Access {
            loc: cell,
            mode: AccessMode::Read,
        });
    }
    footprint
}
