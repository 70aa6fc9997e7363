//! What is found out while encoding and must be known before: encoding is repeated until nothing new comes up.
//!
//! Every fact only grows, and each is an over-approximation once it no longer grows: what may be written to a cell, how an
//! object is cut into cells, who touches it.

use crate::events::ThreadIndex;
use crate::state::Key;
use crate::value::Set;
use raddle_program::{MutexKind, ObjectId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

/// The bytes of an object, or its synchronisation cells: these lie beside the bytes, four bytes at the offset of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Region {
    pub(crate) object: ObjectId,
    pub(crate) is_sync: bool,
}

/// Bytes that are always accessed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cell {
    pub(crate) region: Region,
    pub(crate) offset: u64,
    pub(crate) size: u8,
}

/// Who accesses a region, but for what `main` does before there are other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Users {
    One(ThreadId),
    Several,
}

/// Who does something to a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Doers {
    #[default]
    Nobody,
    One(ThreadIndex),
    Several,
}

/// Who accesses a cell, and how.
#[derive(Default)]
struct Touched {
    writers: Doers,
    plain_readers: Doers,
    plain_writers: Doers,
    /// Does the encoding depend on it?
    was_asked: bool,
}

/// What may be stored in a cell.
struct Stored {
    set: Set,
    /// How often it grew.
    growth: u32,
}

/// Is a heap block made full of zeros?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zeroed {
    Never,
    Always,
    /// It depends on the path.
    Sometimes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Overwritten {
    Unsat,
    WithZero,
    WithAnything,
}

impl Doers {
    /// Adds a thread; is that news?
    fn add(&mut self, thread: ThreadIndex) -> bool {
        let new = match *self {
            Self::Nobody => Self::One(thread),
            Self::One(other) if other != thread => Self::Several,
            same => same,
        };
        std::mem::replace(self, new) != new
    }

    /// Is there anybody but this thread?
    fn others(self, thread: ThreadIndex) -> bool {
        match self {
            Self::Nobody => false,
            Self::One(other) => other != thread,
            Self::Several => true,
        }
    }
}

#[derive(Default)]
pub(crate) struct Facts {
    changed: bool,
    touched: FxHashMap<Cell, Touched>,
    users: FxHashMap<Region, Users>,
    /// Offsets at which accesses start and end.
    cuts: FxHashMap<Region, BTreeSet<u64>>,
    stored: FxHashMap<Cell, Stored>,
    /// Cells to which something may be stored besides that nobody has written.
    wild: FxHashSet<Cell>,
    /// Mutexes whose sections are not known from the text alone.
    tangled: FxHashSet<(ObjectId, u64)>,
    /// Mutexes that a thread may wait for in vain.
    blocking: FxHashSet<(ObjectId, u64)>,
    /// Kinds of mutexes that a call makes another kind than their initialisers say, before all else.
    kinds: FxHashMap<(ObjectId, u64), MutexKind>,
    /// Objects that are freed somewhere.
    freed: FxHashSet<ObjectId>,
    /// Heap blocks: are they made full of zeros?
    zeroed: FxHashMap<ObjectId, Zeroed>,
    /// Objects whose size is not known: no more than this.
    open_sizes: FxHashMap<ObjectId, u64>,
    /// Semaphores, read-write locks and barriers that are destroyed somewhere.
    destroyed: FxHashSet<(ObjectId, u64)>,
    /// Condition variables, read-write locks and mutexes that are made or destroyed where others may be using them.
    watched: FxHashSet<(ObjectId, u64)>,
    /// Bytes that say the kind of a mutex, by where they begin: what is stored there by threads that know the memory for sure.
    kind_bytes: FxHashMap<(Region, u64), Overwritten>,
    /// Locks that are no mutexes: they have no kind.
    spin_locks: FxHashSet<(ObjectId, u64)>,
    /// Places where atomic blocks begin that may not come to their end.
    stopping: FxHashSet<Key>,
    threads: u32,
    /// How often keys of thread-specific data are made.
    keys: u32,
    /// Have pointers in memory four bytes?
    has_narrow_pointers: bool,
}

/// A cell's numbers are listed as long as they grow no more often than this; addresses as long as it takes.
const NUMBER_GROWTH: u32 = 3;
const ADDRESS_GROWTH: u32 = 24;
/// No address of four bytes is smaller.
const FIRST_NARROW: u64 = 0x0100_0000;

impl Facts {
    pub(crate) fn new(has_narrow_pointers: bool) -> Self {
        Self {
            has_narrow_pointers,
            ..Self::default()
        }
    }

    /// Has anything been found since the last call?
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Does only this thread access the region, as far as is known?
    pub(crate) fn is_own(&mut self, region: Region, thread: ThreadId) -> bool {
        match self.users.get(&region) {
            None => {
                self.users.insert(region, Users::One(thread));
                true
            }
            Some(Users::One(user)) if *user == thread => true,
            Some(Users::One(_)) => {
                self.users.insert(region, Users::Several);
                self.changed = true;
                false
            }
            Some(Users::Several) => false,
        }
    }

    /// Do several threads access the region?
    pub(crate) fn is_shared(&self, region: Region) -> bool {
        self.users.get(&region) == Some(&Users::Several)
    }

    /// The cells that an access consists of.
    pub(crate) fn cells(&mut self, region: Region, offset: u64, size: u8) -> Vec<Cell> {
        let end = offset + u64::from(size);
        let cuts = self.cuts.entry(region).or_default();
        let known = cuts.len();
        cuts.insert(offset);
        cuts.insert(end);
        self.changed |= cuts.len() > known;
        let inside: Vec<u64> = cuts.range(offset..=end).copied().collect();
        inside
            .windows(2)
            .map(|pair| Cell {
                region,
                offset: pair[0],
                size: (pair[1] - pair[0]) as u8,
            })
            .collect()
    }

    /// What other threads may find in a cell besides its first contents; none if nobody writes it.
    pub(crate) fn stored(&self, cell: Cell) -> Option<&Set> {
        self.stored.get(&cell).map(|stored| &stored.set)
    }

    /// May what is stored in the cell be anything, because nobody has written it?
    pub(crate) fn is_wild(&self, cell: Cell) -> bool {
        self.wild.contains(&cell)
    }

    pub(crate) fn store_wild(&mut self, cell: Cell) {
        self.changed |= self.wild.insert(cell);
    }

    /// Do four bytes that say the kind of a mutex stay what they are once there are several threads? `is_zero`: storing 0
    /// does not matter.
    pub(crate) fn keeps_kind(&mut self, region: Region, start: u64, is_zero: bool) -> bool {
        let Some(&overwritten) = self.kind_bytes.get(&(region, start)) else {
            self.kind_bytes.insert((region, start), Overwritten::Unsat);
            self.changed = true;
            return true;
        };
        let is_apart = |cell: &Cell| {
            let end = cell.offset + u64::from(cell.size);
            cell.region != region || end <= start || cell.offset >= start + 4
        };
        let is_kept = |cell: &Cell, set: &Set| {
            let zeros = set.values().filter(|_| !self.wild.contains(cell));
            is_zero && zeros.is_some_and(|all| all.iter().all(|&value| value == 0))
        };
        let mut stored = self.stored.iter();
        stored.all(|(cell, stored)| is_apart(cell) || is_kept(cell, &stored.set))
            && match overwritten {
                Overwritten::Unsat => true,
                Overwritten::WithZero => is_zero,
                Overwritten::WithAnything => false,
            }
    }

    /// Users of a synchronisation object look at these four bytes: whoever stores there, also to memory that it uses alone, is to be noticed.
    pub(crate) fn watch_bytes(&mut self, region: Region, start: u64) {
        if let Entry::Vacant(entry) = self.kind_bytes.entry((region, start)) {
            entry.insert(Overwritten::Unsat);
            self.changed = true;
        }
    }

    /// Does anybody store to four bytes that say the kind of a mutex, or that users of another object look at, once there are several threads?
    pub(crate) fn is_kind_stored(&self, region: Region, start: u64) -> bool {
        let overlaps = |cell: &Cell| {
            let end = cell.offset + u64::from(cell.size);
            cell.region == region && end > start && cell.offset < start + 4
        };
        let own = self.kind_bytes.get(&(region, start));
        self.stored.keys().any(overlaps) || own.is_some_and(|&own| own != Overwritten::Unsat)
    }

    pub(crate) fn is_spin_lock(&self, place: (ObjectId, u64)) -> bool {
        self.spin_locks.contains(&place)
    }

    pub(crate) fn note_spin_lock(&mut self, place: (ObjectId, u64)) {
        self.spin_locks.insert(place);
    }

    /// A thread stores something in memory that it knows for sure.
    pub(crate) fn store_own(&mut self, region: Region, offset: u64, size: u8, is_zero: bool) {
        let end = offset + u64::from(size);
        for start in offset.saturating_sub(3)..end {
            if let Some(overwritten) = self.kind_bytes.get_mut(&(region, start)) {
                let now = match is_zero {
                    true => Overwritten::WithZero,
                    false => Overwritten::WithAnything,
                };
                self.changed |= now > *overwritten;
                *overwritten = now.max(*overwritten);
            }
        }
    }

    pub(crate) fn store(&mut self, cell: Cell, set: &Set) {
        let Some(stored) = self.stored.get_mut(&cell) else {
            let (set, growth) = (set.clone(), 0);
            self.stored.insert(cell, Stored { set, growth });
            self.changed = true;
            return;
        };
        let mut union = stored.set.union(set);
        if union == stored.set {
            return;
        }
        stored.growth += 1;
        let has_addresses = match &union {
            Set::Values(values) => values.iter().any(|&value| value >> 32 != 0),
            Set::Objects(_) => true,
            Set::Any => false,
        };
        // Numbers of four bytes that may be addresses are listed for as long. There is no other way to tell their objects.
        let has_narrow = self.has_narrow_pointers
            && union
                .values()
                .is_some_and(|values| values.iter().any(|&value| value >= FIRST_NARROW));
        if has_narrow {
            if stored.growth > ADDRESS_GROWTH {
                union = Set::Any;
            }
        } else if !has_addresses && stored.growth > NUMBER_GROWTH {
            union = Set::Any;
        } else if stored.growth > ADDRESS_GROWTH {
            union = match union.objects() {
                Some(objects) if stored.growth <= 2 * ADDRESS_GROWTH => Set::Objects(objects),
                _ => Set::Any,
            };
        }
        if union != stored.set {
            stored.set = union;
            self.changed = true;
        }
    }

    /// A thread reads or writes a cell, plainly or not.
    pub(crate) fn touch(&mut self, cell: Cell, thread: ThreadIndex, way: (bool, bool)) {
        let touched = self.touched.entry(cell).or_default();
        let (writes, is_plain) = way;
        let mut is_news = writes && touched.writers.add(thread);
        if is_plain {
            let doers = match writes {
                true => &mut touched.plain_writers,
                false => &mut touched.plain_readers,
            };
            is_news |= doers.add(thread);
        }
        self.changed |= is_news && touched.was_asked;
    }

    /// Does nobody else write the cell?
    pub(crate) fn is_only_writer(&mut self, cell: Cell, thread: ThreadIndex) -> bool {
        let touched = self.touched.entry(cell).or_default();
        touched.was_asked = true;
        !touched.writers.others(thread)
    }

    /// May an access of a thread be in a data race, whatever orders it? It writes or not, plainly or not.
    pub(crate) fn may_race(&mut self, cell: Cell, thread: ThreadIndex, way: (bool, bool)) -> bool {
        let touched = self.touched.entry(cell).or_default();
        touched.was_asked = true;
        let (writes, is_plain) = way;
        touched.plain_writers.others(thread)
            || is_plain && touched.writers.others(thread)
            || writes && touched.plain_readers.others(thread)
    }

    pub(crate) fn is_tangled(&self, mutex: (ObjectId, u64)) -> bool {
        self.tangled.contains(&mutex)
    }

    pub(crate) fn tangle(&mut self, mutex: (ObjectId, u64)) {
        self.changed |= self.tangled.insert(mutex);
    }

    pub(crate) fn is_blocking(&self, mutex: (ObjectId, u64)) -> bool {
        self.blocking.contains(&mutex)
    }

    pub(crate) fn block(&mut self, mutex: (ObjectId, u64)) {
        self.changed |= self.blocking.insert(mutex);
    }

    pub(crate) fn kind(&self, mutex: (ObjectId, u64)) -> Option<MutexKind> {
        self.kinds.get(&mutex).copied()
    }

    /// A call makes the mutex another kind than its initialiser says, before it is used.
    pub(crate) fn make(&mut self, mutex: (ObjectId, u64), kind: MutexKind) {
        self.kinds.insert(mutex, kind);
        self.changed = true;
    }

    pub(crate) fn is_destroyed(&self, place: (ObjectId, u64)) -> bool {
        self.destroyed.contains(&place)
    }

    pub(crate) fn destroy(&mut self, place: (ObjectId, u64)) {
        self.changed |= self.destroyed.insert(place);
    }

    pub(crate) fn is_watched(&self, place: (ObjectId, u64)) -> bool {
        self.watched.contains(&place)
    }

    pub(crate) fn watch(&mut self, place: (ObjectId, u64)) {
        self.changed |= self.watched.insert(place);
    }

    /// May the thread stop in the middle of an atomic block that begins at this place?
    pub(crate) fn may_stop_inside(&self, begin: &Key) -> bool {
        self.stopping.contains(begin)
    }

    /// The thread may stop in the middle of an atomic block that begins at this place.
    pub(crate) fn stop_inside(&mut self, begin: &Key) {
        if !self.stopping.contains(begin) {
            self.stopping.insert(begin.clone());
            self.changed = true;
        }
    }

    /// There are no more threads than this.
    pub(crate) fn most_threads(&self) -> u32 {
        self.threads
    }

    pub(crate) fn count_threads(&mut self, count: usize) {
        let count = count as u32;
        self.changed |= count > self.threads;
        self.threads = self.threads.max(count);
    }

    /// No more keys are made than this.
    pub(crate) fn most_keys(&self) -> u32 {
        self.keys
    }

    pub(crate) fn count_keys(&mut self, count: u32) {
        self.changed |= count > self.keys;
        self.keys = self.keys.max(count);
    }

    /// Is a heap block made full of zeros?
    pub(crate) fn zeroed(&self, object: ObjectId) -> Zeroed {
        self.zeroed.get(&object).copied().unwrap_or(Zeroed::Never)
    }

    /// A heap block is made, full of zeros or not.
    pub(crate) fn make_block(&mut self, object: ObjectId, is_zeroed: bool) {
        let made = match is_zeroed {
            true => Zeroed::Always,
            false => Zeroed::Never,
        };
        let known = self.zeroed.get(&object).copied();
        let now = match known {
            Some(known) if known != made => Zeroed::Sometimes,
            _ => made,
        };
        if known != Some(now) {
            self.zeroed.insert(object, now);
            // What nobody has said so far was taken for `Never`.
            self.changed |= known.is_some() || is_zeroed;
        }
    }

    /// The largest size that an object may have whose size is not known.
    pub(crate) fn open_size(&self, object: ObjectId) -> Option<u64> {
        self.open_sizes.get(&object).copied()
    }

    /// The size of the object is not known: no more than this.
    pub(crate) fn add_open_size(&mut self, object: ObjectId, most: u64) {
        let known = self.open_sizes.entry(object).or_insert_with(|| {
            self.changed = true;
            most
        });
        self.changed |= *known < most;
        *known = most.max(*known);
    }

    pub(crate) fn is_freed(&self, object: ObjectId) -> bool {
        self.freed.contains(&object)
    }

    pub(crate) fn free(&mut self, object: ObjectId) {
        self.changed |= self.freed.insert(object);
    }
}
