//! What an event accesses, and whether two events commute.
//!
//! Footprints are interned: there are few of them, and events, sleepers and wakeup trees, which come and go by the million,
//! hold ids. What a single operation accesses depends only on its state and on whether it succeeded, so that it is looked up
//! without hashing.

use raddle_memory::access::{self, sync_mode};
use raddle_memory::{Access, AccessMode, Effect, Machine, Mark, accesses};
use raddle_program::{Op, Program, RmwKind, StateId, Tables};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What an event accesses: see [`Footprints`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FootprintId(u32);

impl FootprintId {
    /// Nothing is accessed.
    pub(super) const EMPTY: Self = Self(0);
    const UNKNOWN: Self = Self(u32::MAX);
}

/// Nearly always one location, or one and its object's life.
type Accesses = SmallVec<[Access; 2]>;

#[derive(Debug)]
struct Footprint {
    accesses: Accesses,
    summary: Summary,
    /// The same locations, the first one accessed in another way, by [`AccessMode`].
    with_first_mode: [FootprintId; 4],
}

/// One bit for each of 64 sets of locations: most events that commute are told apart by it. It knows nothing of locations
/// that share bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    touched: u64,
    written: u64,
}

impl Summary {
    #[inline]
    pub(super) fn join(&mut self, other: Self) {
        self.touched |= other.touched;
        self.written |= other.written;
    }

    fn add(&mut self, access: Access) {
        let bit = 1 << (access.loc.index() % 64);
        self.touched |= bit;
        if access.mode.writes() {
            self.written |= bit;
        }
    }

    #[inline]
    fn may_conflict(self, other: Self) -> bool {
        (self.touched & other.written) | (self.written & other.touched) != 0
    }
}

/// All footprints that were met.
#[derive(Debug)]
pub(super) struct Footprints {
    all: Vec<Footprint>,
    ids: FxHashMap<Accesses, FootprintId>,
    /// Of the operation of each state: when it fails, where it can, and when it does not.
    of_states: Vec<[FootprintId; 2]>,
    /// Do fetch-and-adds whose results nobody uses are independent?
    additions: bool,
    /// For the first so many footprints it is written down which of them conflict.
    compared: u32,
    /// A row of [`MOST_COMPARED`] bits for each of these.
    conflicts: Vec<[u64; MOST_COMPARED / 64]>,
}

/// Few programs have more footprints. Whether two conflict is asked all the time, and never changes: locations share bytes from the moment that both are
/// known.
const MOST_COMPARED: usize = 512;

impl Footprints {
    pub(super) fn new(additions: bool) -> Self {
        let mut footprints = Self {
            all: Vec::new(),
            ids: FxHashMap::default(),
            of_states: Vec::new(),
            additions,
            compared: 0,
            conflicts: Vec::new(),
        };
        let empty = footprints.intern(Accesses::new());
        debug_assert_eq!(empty, FootprintId::EMPTY, "the first one");
        footprints
    }

    pub(super) fn intern(&mut self, accesses: Accesses) -> FootprintId {
        if let Some(&id) = self.ids.get(&accesses) {
            return id;
        }
        let id = FootprintId(self.all.len() as u32);
        let mut summary = Summary::default();
        accesses.iter().for_each(|&access| summary.add(access));
        self.ids.insert(accesses.clone(), id);
        self.all.push(Footprint {
            accesses,
            summary,
            with_first_mode: [FootprintId::UNKNOWN; 4],
        });
        id
    }

    #[inline]
    pub(super) fn accesses(&self, id: FootprintId) -> &[Access] {
        &self.all[id.0 as usize].accesses
    }

    #[inline]
    pub(super) fn summary(&self, id: FootprintId) -> Summary {
        self.all[id.0 as usize].summary
    }

    /// The same locations, the first one accessed in another way.
    pub(super) fn with_first_mode(&mut self, id: FootprintId, mode: AccessMode) -> FootprintId {
        let known = self.all[id.0 as usize].with_first_mode[mode as usize];
        if known != FootprintId::UNKNOWN {
            return known;
        }
        let mut accesses = self.all[id.0 as usize].accesses.clone();
        if let Some(first) = accesses.first_mut() {
            first.mode = mode;
        }
        let changed = self.intern(accesses);
        self.all[id.0 as usize].with_first_mode[mode as usize] = changed;
        changed
    }

    /// Could an event with this footprint conflict with one of those that were summarised?
    #[inline]
    pub(super) fn may_conflict(&self, tables: &Tables, id: FootprintId, others: Summary) -> bool {
        self.summary(id).may_conflict(others) || tables.has_mixed_sizes()
    }

    /// Writes down which footprints conflict with those that are new.
    #[inline]
    pub(super) fn compare(&mut self, tables: &Tables) {
        if (self.compared as usize) < self.all.len().min(MOST_COMPARED) {
            self.compare_new(tables);
        }
    }

    #[cold]
    fn compare_new(&mut self, tables: &Tables) {
        for new in self.compared..self.all.len().min(MOST_COMPARED) as u32 {
            let mut row = [0; MOST_COMPARED / 64];
            for old in 0..=new {
                if self.conflict(tables, FootprintId(new), FootprintId(old)) {
                    row[old as usize / 64] |= 1 << (old % 64);
                    if let Some(other) = self.conflicts.get_mut(old as usize) {
                        other[new as usize / 64] |= 1 << (new % 64);
                    }
                }
            }
            self.conflicts.push(row);
            self.compared = new + 1;
        }
    }

    /// Do two events of different threads commute?
    #[inline]
    pub(super) fn independent(&self, tables: &Tables, a: FootprintId, b: FootprintId) -> bool {
        match self.conflicts.get(a.0 as usize) {
            Some(row) if b.0 < self.compared => {
                (row[b.0 as usize / 64 % row.len()] >> (b.0 % 64)) & 1 == 0
            }
            _ => self.look_at_accesses(tables, a, b),
        }
    }

    #[inline(never)]
    fn look_at_accesses(&self, tables: &Tables, a: FootprintId, b: FootprintId) -> bool {
        let (one, other) = (&self.all[a.0 as usize], &self.all[b.0 as usize]);
        if !one.summary.may_conflict(other.summary) && !tables.has_mixed_sizes() {
            return true;
        }
        !self.conflict(tables, a, b)
    }

    fn conflict(&self, tables: &Tables, a: FootprintId, b: FootprintId) -> bool {
        let b = self.accesses(b);
        self.accesses(a)
            .iter()
            .any(|&a| b.iter().any(|&b| access::conflict(tables, a, b)))
    }

    /// What the machine's last event accessed: all its micro-steps from `mark` on.
    #[inline]
    pub(super) fn of_event(
        &mut self,
        program: &Program,
        machine: &Machine,
        mark: Mark,
    ) -> FootprintId {
        if let [step] = machine.steps()[mark.steps()..]
            && machine.suspended().is_none()
            && step.effect != Effect::Abandoned
        {
            let succeeded = match *program.op(step.state) {
                Op::Cas { expected, .. } => step.value == expected,
                Op::Sync { action, .. } => sync_mode(action, step.value) != AccessMode::Read,
                _ => true,
            };
            return match self.of_states.get(step.state.index()) {
                Some(known) if known[usize::from(succeeded)] != FootprintId::UNKNOWN => {
                    known[usize::from(succeeded)]
                }
                _ => self.look_up(program, machine, mark, (step.state, succeeded)),
            };
        }
        let footprint = self.compute(program, machine, mark);
        self.intern(footprint)
    }

    #[cold]
    fn look_up(
        &mut self,
        program: &Program,
        machine: &Machine,
        mark: Mark,
        (state, succeeded): (StateId, bool),
    ) -> FootprintId {
        let footprint = self.compute(program, machine, mark);
        let id = self.intern(footprint);
        if self.of_states.len() <= state.index() {
            self.of_states
                .resize(state.index() + 1, [FootprintId::UNKNOWN; 2]);
        }
        self.of_states[state.index()][usize::from(succeeded)] = id;
        id
    }

    fn compute(&self, program: &Program, machine: &Machine, mark: Mark) -> Accesses {
        let mut footprint = Accesses::new();
        let steps = &machine.steps()[mark.steps()..];
        if let [step] = steps
            && step.effect != Effect::Abandoned
            && let Op::Rmw {
                loc,
                kind: RmwKind::Add | RmwKind::Sub,
                ..
            } = *program.op(step.state)
            && self.additions
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
            accesses(program, step, |access| add(&mut footprint, access));
        }
        // A block that had to stop has looked at what it waits for.
        if let Some(state) = machine.suspended()
            && let Op::Sync { cell, .. } = *program.op(state)
        {
            let mode = AccessMode::Read;
            add(&mut footprint, Access { loc: cell, mode });
        }
        footprint
    }
}

/// Adds an access to what one event does in several steps.
fn add(footprint: &mut Accesses, access: Access) {
    match footprint.iter_mut().find(|old| old.loc == access.loc) {
        Some(old) if old.mode != access.mode => old.mode = AccessMode::Update,
        Some(_) => {}
        None => footprint.push(access),
    }
}
