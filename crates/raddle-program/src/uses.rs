//! Who accesses what, as far as the automata are known: which accesses can be in a data race.
//!
//! Engines that leave loop iterations out decide by this which of them they must not. What is met while an engine explores would
//! change its mind half-way, so there are two copies: what was *known* when the exploration began is what is answered, and
//! what was *met* since then becomes known when it is over ([`Program::learn_uses`]).

mod sharing;

use crate::automaton::Program;
use crate::ids::{LocId, ObjectId, StateId};
use crate::op::{MutexKind, Op, Order};
use crate::tables::Tables;
use rustc_hash::{FxHashMap, FxHashSet};

/// How a location is used, other than by the first thread while it is alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Use {
    plainly_read: bool,
    plainly_written: bool,
    /// In whatever way.
    written: bool,
    accessed: bool,
    /// Its bytes are also part of another location that is accessed.
    mixed: bool,
    /// So an access of it can be in a race with one of another size.
    races_by_size: bool,
}

/// Can accesses of a location by different threads happen in either order?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sharing {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// No: starting and joining threads orders them all.
    Private,
    Shared,
}

/// How locations are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    locs: Vec<Use>,
    freed: Vec<bool>,
    /// Of locations that loops store to.
    sharing: Vec<Sharing>,
}

impl Uses {
    /// An operation of a thread that may not be alone.
    pub(crate) fn note(&mut self, op: &Op) {
        let is_plain = |order: Order| order == Order::Plain;
        if let Op::Load { loc, .. }
        | Op::Store { loc, .. }
        | Op::Rmw { loc, .. }
        | Op::Cas { loc, .. } = *op
        {
            self.loc(loc).accessed = true;
        }
        match *op {
            Op::Load { loc, order } => self.loc(loc).plainly_read |= is_plain(order),
            Op::Store { loc, order, .. } => {
                let found = self.loc(loc);
                found.written = true;
                found.plainly_written |= is_plain(order);
            }
            Op::Rmw { loc, .. } | Op::Cas { loc, .. } => self.loc(loc).written = true,
            Op::Free { object } => {
                let index = object.index();
                if self.freed.len() <= index {
                    self.freed.resize(index + 1, false);
                }
                self.freed[index] = true;
            }
            _ => {}
        }
    }

    fn loc(&mut self, loc: LocId) -> &mut Use {
        let index = loc.index();
        if self.locs.len() <= index {
            self.locs.resize(index + 1, Use::default());
        }
        &mut self.locs[index]
    }

    fn of(&self, loc: LocId) -> Use {
        self.locs.get(loc.index()).copied().unwrap_or_default()
    }

    fn is_freed(&self, object: ObjectId) -> bool {
        self.freed.get(object.index()).copied().unwrap_or(false)
    }

    fn note_sizes(&mut self, tables: &Tables) {
        for loc in (0..tables.loc_count()).map(LocId::from_index) {
            let is_mixed = tables.loc_info(loc).mixed
                && tables
                    .overlaps(loc)
                    .iter()
                    .any(|&other| self.of(other).accessed);
            if is_mixed {
                let found = self.loc(loc);
                (found.mixed, found.races_by_size) = (true, true);
            }
        }
    }

    /// Leaves nothing but the sizes of accesses.
    fn forget_races(&mut self) {
        self.freed.clear();
        for found in &mut self.locs {
            *found = Use {
                mixed: found.mixed,
                ..Use::default()
            };
        }
    }

    pub(crate) fn is_mixed(&self, loc: LocId) -> bool {
        self.of(loc).mixed
    }

    pub(crate) fn is_plainly_written(&self, loc: LocId) -> bool {
        self.of(loc).plainly_written
    }

    fn sharing(&self, loc: LocId) -> Sharing {
        self.sharing.get(loc.index()).copied().unwrap_or_default()
    }

    /// Is the location as good as a variable of one thread at a time? Where nobody has looked, it is taken to be.
    pub(crate) fn is_private(&self, loc: LocId) -> bool {
        self.sharing(loc) != Sharing::Shared
    }

    /// Can an operation that leaves memory as it is be in a data race?
    pub(crate) fn may_race(&self, tables: &Tables, op: &Op) -> bool {
        let (loc, meets) = match *op {
            Op::Load { loc, order } => {
                let found = self.of(loc);
                let is_plain = order == Order::Plain;
                (loc, found.plainly_written || is_plain && found.written)
            }
            Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                let found = self.of(loc);
                (loc, found.plainly_written || found.plainly_read)
            }
            // A plain one to a location that others access at the same time is part of no iteration without effect.
            Op::Store { loc, order, .. } => {
                let found = self.of(loc);
                let meets = found.plainly_written || found.plainly_read;
                (loc, order != Order::Plain && meets)
            }
            Op::Sync { cell, .. } => (cell, false),
            _ => return false,
        };
        let meets = meets && self.sharing(loc) != Sharing::Private;
        meets || self.of(loc).races_by_size || self.is_freed(tables.loc_info(loc).object)
    }
}

/// The locations at which the order of additions is of importance: somebody else accesses them meanwhile. What was met while an engine explores
/// becomes known when it begins anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Additions {
    known: FxHashSet<LocId>,
    met: FxHashSet<LocId>,
    /// At all of them.
    all_known: bool,
    all_met: bool,
}

/// How operations on mutexes come to know of which kind one is that only its static initialiser says.
///
/// The kind lies in the mutex's own bytes. As long as nobody writes these but the first thread while it is alone, no operation can find
/// anything else than another one of the same place, and reading them is no event. Where somebody does, operations read them before all
/// else, by an access that conflicts like any other and may be in a data race. That is an event more for each of them, so it is not done for
/// nothing: a program starts without, and starts again when the first such write, of a mutex that is used, is met (early or late; what
/// was explored till then is explored again).
///
/// The same goes for the lock under which Rust's library prints: it is left out until somebody is met who formats what is printed in a way that
/// others could notice ([`crate::Stop::Noticed`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    /// The memory looks them up. Printing takes no lock.
    #[default]
    AsFound,
    /// By an operation of the thread. Printing does what the library does.
    Read,
}

/// How many bytes of other synchronisation objects their users look at: as many as there are of a kind. They mean nothing; but whoever
/// overwrites them while the object is in use is in conflict, and in a data race, with its users.
pub const LOOKED_AT: u8 = MutexKind::SIZE;

/// Who writes where the kinds of mutexes and the beginnings of other synchronisation objects lie, other than the first thread while it is alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overwritten {
    written: FxHashSet<LocId>,
    /// By object: where bytes begin that operations look at.
    kinds: FxHashMap<ObjectId, Vec<u64>>,
    /// Are there bytes of both sorts?
    pub(crate) is_any: bool,
}

impl Overwritten {
    /// An operation of a thread that may not be alone.
    pub(crate) fn note(&mut self, tables: &Tables, op: &Op) {
        match *op {
            Op::Store { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                let is_new = self.written.insert(loc);
                let info = tables.loc_info(loc);
                let end = info.offset + u64::from(info.size);
                let kinds = self.kinds.get(&info.object).filter(|_| is_new);
                let size = u64::from(MutexKind::SIZE);
                self.is_any |= kinds.is_some_and(|starts| {
                    let mut starts = starts.iter();
                    starts.any(|&start| info.offset < start + size && start < end)
                });
            }
            Op::Sync { cell, action } => {
                let place = match action.reads_kind() {
                    true => tables.kind_of_mutex(cell),
                    false => tables.looked_at(cell),
                };
                let Some((object, start)) = place else {
                    return;
                };
                let starts = self.kinds.entry(object).or_default();
                if !starts.contains(&start) {
                    starts.push(start);
                    let places = tables.overlapping(object, start, MutexKind::SIZE);
                    self.is_any |= places.iter().any(|loc| self.written.contains(loc));
                }
            }
            _ => {}
        }
    }
}

impl Program {
    /// Is there a plain store to the location, other than by the first thread while it is alone? As far as is known.
    #[inline]
    #[must_use]
    pub fn is_plainly_written(&self, loc: LocId) -> bool {
        self.known_uses().is_plainly_written(loc)
    }

    /// Are bytes of the location accessed in other sizes, other than by the first thread while it is alone? As far as is known.
    #[inline]
    #[must_use]
    pub fn is_mixed(&self, loc: LocId) -> bool {
        self.known_uses().is_mixed(loc)
    }

    /// Can the operation of `state` be in a data race if it leaves memory as it is? As far as is known.
    #[must_use]
    pub fn may_race(&self, state: StateId) -> bool {
        self.known_uses().may_race(self.tables(), self.op(state))
    }

    /// Are all accesses of the location by different threads ordered by starting and joining them? As far as is known; where nobody has looked,
    /// they are taken to be.
    #[inline]
    #[must_use]
    pub fn is_private(&self, loc: LocId) -> bool {
        self.known_uses().is_private(loc)
    }

    /// Is the order of additions to the location of importance, or, if it is a lock, that it is taken for a moment? As far as is known.
    #[inline]
    #[must_use]
    pub fn tells_additions_apart(&self, loc: LocId) -> bool {
        let additions = self.additions();
        additions.all_known || additions.known.contains(&loc)
    }

    /// From the next beginning on it is.
    pub fn tell_additions_apart(&mut self, loc: LocId) {
        self.additions_mut().met.insert(loc);
    }

    /// The same for all locations. False if that is known.
    pub fn tell_all_additions_apart(&mut self) -> bool {
        let additions = self.additions_mut();
        additions.all_met = true;
        !additions.all_known
    }

    /// Is anything known about additions?
    #[must_use]
    pub fn knows_additions(&self) -> bool {
        let additions = self.additions();
        additions.all_known || !additions.known.is_empty()
    }

    /// Makes known at which locations the order of additions is of importance. Is that any news?
    pub fn learn_additions(&mut self) -> bool {
        let additions = self.additions_mut();
        let is_new = additions.all_met && !additions.all_known
            || additions.known.len() < additions.met.len();
        additions.all_known = additions.all_met;
        additions.known.clone_from(&additions.met);
        is_new
    }

    /// Makes known what was met. Could another answer to [`Self::may_race`], [`Self::is_plainly_written`], [`Self::is_mixed`] or
    /// [`Self::is_private`] have been of importance for a loop? Where nobody `minds_races`, only the last two are asked for.
    pub fn learn_uses(&mut self, minds_races: bool) -> bool {
        self.note_learning(minds_races);
        let mut met = self.met_uses().clone();
        met.note_sizes(self.tables());
        if !minds_races {
            met.forget_races();
        }
        met.sharing = self.sharing();
        if met == *self.known_uses() {
            return false;
        }
        let (known, tables) = (self.known_uses(), self.tables());
        let changes = |op: &Op| {
            let is_read = matches!(op, Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. }
                if known.is_plainly_written(*loc) != met.is_plainly_written(*loc)
                    || known.is_mixed(*loc) != met.is_mixed(*loc));
            let is_store = matches!(op, Op::Store { loc, .. }
                if known.is_private(*loc) != met.is_private(*loc)
                    || known.is_mixed(*loc) != met.is_mixed(*loc));
            is_read || is_store || known.may_race(tables, op) != met.may_race(tables, op)
        };
        let changed: Vec<StateId> = (0..self.state_count())
            .map(StateId::from_index)
            .filter(|&state| changes(self.op(state)))
            .collect();
        let matters = !changed.is_empty() && {
            let on_cycle = self.on_cycle();
            changed.iter().any(|state| on_cycle[state.index()])
        };
        self.know_uses(met);
        matters
    }

    /// By state: can a thread come back to it, as far as edges were walked?
    fn on_cycle(&self) -> Vec<bool> {
        let edges = self.edges();
        Components::new(self.state_count(), &edges).on_cycle
    }
}

/// Tarjan's strongly connected components.
struct Components<'a> {
    edges: &'a [(StateId, StateId)],
    /// By state: its edges are `edges[first[state]..first[state + 1]]`.
    first: Vec<u32>,
    /// By state: 0 if it was not met, else the number by which it was met, from 1; and the lowest number known to be reached.
    number: Vec<u32>,
    low: Vec<u32>,
    is_open: Vec<bool>,
    open: Vec<u32>,
    met: u32,
    on_cycle: Vec<bool>,
}

impl<'a> Components<'a> {
    /// `edges` are sorted.
    fn new(states: usize, edges: &'a [(StateId, StateId)]) -> Self {
        let first = (0..=states)
            .map(|state| edges.partition_point(|(from, _)| from.index() < state) as u32)
            .collect();
        let mut found = Self {
            edges,
            first,
            number: vec![0; states],
            low: vec![0; states],
            is_open: vec![false; states],
            open: Vec::new(),
            met: 0,
            on_cycle: vec![false; states],
        };
        for state in 0..states as u32 {
            if found.number[state as usize] == 0 {
                found.visit(state);
            }
        }
        found
    }

    fn meet(&mut self, state: u32, path: &mut Vec<(u32, u32)>) {
        self.met += 1;
        self.number[state as usize] = self.met;
        self.low[state as usize] = self.met;
        self.is_open[state as usize] = true;
        self.open.push(state);
        path.push((state, self.first[state as usize]));
    }

    fn visit(&mut self, start: u32) {
        // States on the way, each with its next edge.
        let mut path = Vec::new();
        self.meet(start, &mut path);
        while let Some((state, next)) = path.last_mut() {
            let at = *state as usize;
            if *next < self.first[at + 1] {
                let to = self.edges[*next as usize].1.index();
                *next += 1;
                if self.number[to] == 0 {
                    self.meet(to as u32, &mut path);
                } else if self.is_open[to] {
                    self.low[at] = self.low[at].min(self.number[to]);
                    self.on_cycle[at] |= to == at;
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                self.low[parent as usize] = self.low[parent as usize].min(self.low[at]);
            }
            if self.low[at] == self.number[at] {
                self.close(at as u32);
            }
        }
    }

    /// The component of a state is complete.
    fn close(&mut self, root: u32) {
        let start = self.open.iter().rposition(|&state| state == root);
        let members = self.open.split_off(start.unwrap_or(0));
        for &member in &members {
            self.is_open[member as usize] = false;
            self.on_cycle[member as usize] |= members.len() > 1;
        }
    }
}
