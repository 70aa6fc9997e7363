//! Everything that operations refer to by id: threads, objects, locations, source positions.
//!
//! Ids are dense, in the order of discovery, and mean something inside one process only. Names and the addresses that follow
//! from them are the same everywhere: see [`crate::names`].

mod narrow;

use crate::fault::Stop;
use crate::first_bytes::{Given, Made};
use crate::ids::{LocId, ObjectId, SrcId, StopId, ThreadId};
use crate::names::narrow::{Cell, Layout};
use crate::names::{self, ThreadName, ThreadNumbers};
pub use crate::names::{OFFSET_BIAS, PRIVATE_THREAD};
use crate::op::{MutexKind, Order, ReleaseSequences};
use crate::orderings::OrderOf;
use crate::uses::LOOKED_AT;
use raddle_ir::DebugInfo;
use raddle_ir::debug::SourceTypeId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::rc::Rc;

/// No position in the arena.
pub const NO_SLOT: u32 = u32::MAX;
/// What the life cell of an object holds while it is alive.
pub const ALIVE: u64 = 1;

/// A source position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLoc {
    pub file: Rc<str>,
    /// 0 if unknown.
    pub line: u32,
    pub column: u32,
    pub function: Option<Rc<str>>,
    /// For code of a library, the place outside of it that called it, at once or not; for inlined code, where that was done.
    pub inlined_at: Option<SrcId>,
}

impl SourceLoc {
    /// Does it lie in code that users did not write?
    #[must_use]
    pub fn is_library(&self) -> bool {
        is_library_file(&self.file)
    }
}

/// Is it a file of code that users did not write: what came with the compiler or the system, or packages of others?
#[must_use]
pub fn is_library_file(file: &str) -> bool {
    file.starts_with("/usr/")
        || file.starts_with("/rustc/")
        // What Rust's standard library is made of besides.
        || file.starts_with("/rust/deps/")
        || [
            "/include/c++/",
            "/lib/clang/",
            "/lib/rustlib/",
            "/registry/src/",
            "/git/checkouts/",
        ]
        .iter()
        .any(|part| file.contains(part))
}

#[derive(Clone, Debug)]
pub struct ThreadInfo {
    pub parent: Option<ThreadId>,
    /// 1 for the parent's first spawn.
    pub nth: u32,
    pub name: ThreadName,
    /// Where its objects lie.
    numbers: ThreadNumbers,
    /// Name of the function it runs, for reports: in the execution that was met first. Others may run another one.
    pub entry: Rc<str>,
    /// What the thread calls itself, for reports. Empty if that depends on the execution.
    pub given_name: Option<Rc<str>>,
    /// Joining and detaching the thread update this cell, so that two of them conflict.
    pub cell: LocId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    Global,
    /// `const` data: reads are private, writes are faults.
    Constant,
    /// An escaping stack variable.
    Stack,
    Heap,
    ThreadLocal,
    /// Functions have addresses, and nothing to read there.
    Function,
}

impl ObjectKind {
    /// Does the object come to life by an `Alloc`, with contents that nobody has written, and die by a `Free`?
    #[must_use]
    pub fn has_lifetime(self) -> bool {
        matches!(self, Self::Stack | Self::Heap)
    }
}

#[derive(Clone, Debug)]
pub struct ObjectInfo {
    pub kind: ObjectKind,
    /// The address of its first byte; 0 if no address leads to it.
    pub address: u64,
    pub size: u64,
    pub align: u64,
    /// See [`NewObject::site`].
    site: u64,
    /// Source name of a variable; function or type for a heap block where known.
    pub name: Rc<str>,
    /// Who allocated it, and where: in the execution that was met first.
    pub thread: Option<ThreadId>,
    pub at: SrcId,
    /// Its source type, for naming fields ([`Tables::debug`]).
    pub source_type: Option<SourceTypeId>,
    /// Its first byte in the arena; [`NO_SLOT`] until a location of it is interned.
    pub arena: u32,
    /// The cell that says whether it is alive: 0 not yet, [`ALIVE`], 2 dead. Only if [`ObjectKind::has_lifetime`], or for a
    /// [mortal](Tables::make_mortal) object.
    pub life: Option<LocId>,
    /// Its first contents where they are not all zero.
    pub init: Option<Rc<[u8]>>,
    /// The object whose addresses these queues have as their names: see [`Tables::queues`].
    pub queues_of: Option<ObjectId>,
    /// Its addresses of four bytes, if it has any.
    cell: Option<Cell>,
    locs: BTreeMap<(u64, u8), LocId>,
    /// How many of its locations were found to have parts: see [`Tables::cut_ahead`].
    cut: u32,
}

impl ObjectInfo {
    /// Is it the flag by which compilers run the initialiser of a static variable once?
    #[must_use]
    pub fn is_guard(&self) -> bool {
        self.name.starts_with("_ZGV")
    }
}

/// A shared location. `size` 0 marks a synchronisation cell, which has eight bytes of its own in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocInfo {
    pub object: ObjectId,
    pub offset: u64,
    pub size: u8,
    /// Position of the first byte in the arena.
    pub arena: u32,
    /// Position of the object's life cell in the arena, or [`NO_SLOT`].
    pub life: u32,
    /// Are there other locations that share bytes with this one?
    pub mixed: bool,
}

impl LocInfo {
    #[must_use]
    pub fn is_sync(&self) -> bool {
        self.size == 0
    }
}

/// So many locations of an object are taken for few that have parts.
const MANY_CUT: u32 = 16;

/// The tables. They only grow: an id once given stays valid and keeps its meaning.
#[derive(Debug, Default)]
pub struct Tables {
    threads: Vec<ThreadInfo>,
    thread_ids: FxHashMap<(ThreadId, u32), ThreadId>,
    thread_numbers: FxHashMap<u32, ThreadId>,
    objects: Vec<ObjectInfo>,
    queues: FxHashMap<ObjectId, ObjectId>,
    /// The objects that share an address number, by ascending addresses. More than one only if a thread makes different ones
    /// in different executions: `malloc(n)`.
    by_number: FxHashMap<u32, SmallVec<[ObjectId; 1]>>,
    /// Objects that exist for messages only.
    mentioned: FxHashMap<(ThreadId, Rc<str>, u64, Option<SourceTypeId>), ObjectId>,
    locs: Vec<LocInfo>,
    overlaps: FxHashMap<LocId, Vec<LocId>>,
    /// Initial contents of the whole arena so far.
    arena: Vec<u8>,
    sources: Vec<SourceLoc>,
    /// For each source position, the one in the user's own code that it belongs to.
    users: Vec<Option<SrcId>>,
    source_ids: FxHashMap<SourceLoc, SrcId>,
    /// Orderings of the user's own atomics, and what was accessed first with each.
    pub(crate) orderings: FxHashMap<(SrcId, OrderOf, Order), Option<LocId>>,
    /// Cells of objects whose users look at their first bytes.
    looked_at: FxHashSet<LocId>,
    /// Memory that was given its first bytes.
    given: BTreeMap<Made, Given>,
    stops: Vec<Stop>,
    stop_ids: FxHashMap<Stop, StopId>,
    /// Source types, for naming locations.
    pub debug: Rc<DebugInfo>,
    /// Is a read one of memory that nobody has written if that holds for one of its bytes? Otherwise for all of them.
    pub minds_every_byte: bool,
    /// As the program's language has it.
    pub release_sequences: ReleaseSequences,
    /// Of a program whose pointers have four bytes: what their numbers follow from.
    layout: Option<Rc<Layout>>,
    /// The objects that have narrow addresses, by the first one of their cells.
    cells: BTreeMap<u32, ObjectId>,
}

/// Something gets no id or no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// The id space is full.
    Ids { what: &'static str },
    /// Two names have the same address or handle.
    NameClash { what: &'static str },
}

/// What an object is made from.
#[derive(Clone, Debug)]
pub struct NewObject {
    pub kind: ObjectKind,
    pub size: u64,
    pub align: u64,
    pub name: Rc<str>,
    pub at: SrcId,
    pub source_type: Option<SourceTypeId>,
    pub init: Option<Rc<[u8]>>,
    /// Which stack variable it is, as a hash of stable names, or whose queues: part of its own name. 0 for everything else.
    pub site: u64,
}

impl Tables {
    /// Tables with the main thread in them.
    #[must_use]
    pub fn new(main: &str) -> Self {
        let mut tables = Self::default();
        tables.add_handles();
        let cell = tables.new_handle(ThreadId::MAIN);
        tables.threads.push(ThreadInfo {
            parent: None,
            nth: 0,
            name: ThreadName::default(),
            numbers: ThreadNumbers::of(&ThreadName::default()),
            entry: main.into(),
            given_name: None,
            cell: cell.expect("room for one thread"),
        });
        tables.thread_numbers.insert(0, ThreadId::MAIN);
        tables.source(SourceLoc {
            file: "".into(),
            line: 0,
            column: 0,
            function: None,
            inlined_at: None,
        });
        tables
    }

    // ---- threads

    /// The `nth` thread that `parent` spawns (counting from 1).
    pub fn thread(
        &mut self,
        parent: ThreadId,
        nth: u32,
        entry: &str,
    ) -> Result<ThreadId, Exhausted> {
        if let Some(&id) = self.thread_ids.get(&(parent, nth)) {
            return Ok(id);
        }
        let name = self.threads[parent.index()].name.child(nth);
        let numbers = ThreadNumbers::of(&name);
        if self.thread_numbers.contains_key(&numbers.thread) {
            return Err(Exhausted::NameClash { what: "threads" });
        }
        let id = ThreadId::from_index(self.threads.len());
        let cell = self.new_handle(id)?;
        self.threads.push(ThreadInfo {
            parent: Some(parent),
            nth,
            name,
            numbers,
            entry: entry.into(),
            given_name: None,
            cell,
        });
        self.thread_ids.insert((parent, nth), id);
        self.thread_numbers.insert(numbers.thread, id);
        Ok(id)
    }

    /// The object that the cells of threads belong to. No address leads to it.
    fn add_handles(&mut self) {
        self.objects.push(ObjectInfo {
            kind: ObjectKind::Global,
            address: 0,
            size: 0,
            align: 1,
            site: 0,
            name: "threads".into(),
            thread: None,
            at: SrcId::NOWHERE,
            source_type: None,
            arena: NO_SLOT,
            life: None,
            init: None,
            queues_of: None,
            cell: None,
            locs: BTreeMap::new(),
            cut: 0,
        });
    }

    fn new_handle(&mut self, thread: ThreadId) -> Result<LocId, Exhausted> {
        self.new_sync_cell(ObjectId(0), u64::from(thread.0))
    }

    /// The thread of this name, if it was met.
    #[must_use]
    pub fn thread_named(&self, name: &ThreadName) -> Option<ThreadId> {
        let path = name.path().iter();
        path.copied().try_fold(ThreadId::MAIN, |parent, nth| {
            self.thread_ids.get(&(parent, nth)).copied()
        })
    }

    #[must_use]
    pub fn thread_info(&self, id: ThreadId) -> &ThreadInfo {
        &self.threads[id.index()]
    }

    /// The thread calls itself so.
    pub(crate) fn give_name(&mut self, thread: ThreadId, name: &str) {
        let given = &mut self.threads[thread.index()].given_name;
        match given {
            None => *given = Some(name.into()),
            // Another execution, or another name now: no report may show the wrong one.
            Some(known) if **known != *name => *given = Some("".into()),
            Some(_) => {}
        }
    }

    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The thread whose handle (`pthread_t`) this is: handles are the threads' numbers + 1, so that 0 is none.
    #[must_use]
    pub fn thread_of_handle(&self, handle: u64) -> Option<ThreadId> {
        let number = u32::try_from(handle.checked_sub(1)?).ok()?;
        self.thread_numbers.get(&number).copied()
    }

    #[must_use]
    pub fn handle_of_thread(&self, thread: ThreadId) -> u64 {
        u64::from(self.threads[thread.index()].numbers.thread) + 1
    }

    // ---- objects

    /// The object that `thread` allocates as its `counter`-th (from 1), of this kind and size.
    pub fn allocated(
        &mut self,
        thread: ThreadId,
        counter: u32,
        new: NewObject,
    ) -> Result<ObjectId, Exhausted> {
        let numbers = self.threads[thread.index()].numbers;
        let number = numbers.allocation(counter).ok_or(Exhausted::Ids {
            what: "allocations of one thread",
        })?;
        let low = names::place(new.kind, new.size, new.align, new.site);
        let object = self.at_address(u64::from(number) << 32 | low, Some(thread), new)?;
        self.give_cell(object, Some((thread, counter)));
        Ok(object)
    }

    /// Is it what `thread` allocates as its `counter`-th, in some execution?
    #[must_use]
    pub fn is_allocation(&self, object: ObjectId, thread: ThreadId, counter: u32) -> bool {
        let numbers = self.threads[thread.index()].numbers;
        let number = (self.objects[object.index()].address >> 32) as u32;
        numbers.allocation(counter) == Some(number)
    }

    /// `thread`'s copy of the `index`-th thread-local variable.
    pub fn thread_local(
        &mut self,
        thread: ThreadId,
        index: u32,
        new: NewObject,
    ) -> Result<ObjectId, Exhausted> {
        let numbers = self.threads[thread.index()].numbers;
        let number = numbers.thread_local(index).ok_or(Exhausted::Ids {
            what: "thread-local variables",
        })?;
        let address = u64::from(number) << 32 | OFFSET_BIAS;
        let object = self.at_address(address, Some(thread), new)?;
        self.give_cell(object, Some((thread, index + 1)));
        Ok(object)
    }

    /// `thread`'s copies of thread-local variables that may [die](Self::make_mortal).
    pub fn mortal_locals(&self, thread: ThreadId) -> Vec<ObjectId> {
        let objects = self.objects.iter().enumerate();
        let mortal = objects.filter(|(_, info)| {
            let is_own = info.kind == ObjectKind::ThreadLocal && info.thread == Some(thread);
            is_own && info.life.is_some()
        });
        mortal.map(|(at, _)| ObjectId::from_index(at)).collect()
    }

    /// The object, which is alive from the start and has no locations yet, may die by a `Free`.
    pub(crate) fn make_mortal(&mut self, object: ObjectId) -> Result<(), Exhausted> {
        let life = self.new_life_cell(object)?;
        let arena = self.locs[life.index()].arena as usize;
        self.arena[arena..arena + 8].copy_from_slice(&ALIVE.to_le_bytes());
        Ok(())
    }

    /// Does nobody write the location but the program, though its object comes to life without contents?
    #[inline]
    #[must_use]
    pub fn starts_unwritten(&self, loc: &LocInfo) -> bool {
        loc.life != NO_SLOT && self.objects[loc.object.index()].kind.has_lifetime()
    }

    /// The `index`-th global variable.
    pub fn global(&mut self, index: u32, new: NewObject) -> Result<ObjectId, Exhausted> {
        if index + 1 >= 1 << names::COUNTER_BITS {
            return Err(Exhausted::Ids {
                what: "global variables",
            });
        }
        let number = names::GLOBAL_THREAD << names::COUNTER_BITS | (index + 1);
        let object = self.at_address(u64::from(number) << 32 | OFFSET_BIAS, None, new)?;
        self.give_cell(object, None);
        Ok(object)
    }

    /// An object of `thread` that exists for messages only: no address leads to it.
    pub fn mentioned(&mut self, thread: ThreadId, new: NewObject) -> ObjectId {
        let key = (thread, Rc::clone(&new.name), new.size, new.source_type);
        if let Some(&id) = self.mentioned.get(&key) {
            return id;
        }
        let id = self.add_object(0, Some(thread), new);
        self.mentioned.insert(key, id);
        id
    }

    /// The object that lies at an address. Another one with that address, or that shares bytes with it, has another name.
    fn at_address(
        &mut self,
        address: u64,
        thread: Option<ThreadId>,
        new: NewObject,
    ) -> Result<ObjectId, Exhausted> {
        let number = (address >> 32) as u32;
        let others = self.numbered(number);
        let position = others.partition_point(|id| self.objects[id.index()].address < address);
        if let Some(&id) = others.get(position) {
            let other = &self.objects[id.index()];
            let is_same = (other.kind, other.size, other.site) == (new.kind, new.size, new.site);
            if other.address == address && is_same {
                return Ok(id);
            }
        }
        let neighbours = others[position.saturating_sub(1)..].iter().take(2);
        let end = |address: u64, size: u64| address + size + names::BEFORE;
        let clash = neighbours.map(|id| &self.objects[id.index()]).any(|other| {
            other.address < end(address, new.size) && address < end(other.address, other.size)
        });
        if clash {
            return Err(Exhausted::NameClash { what: "objects" });
        }
        let has_lifetime = new.kind.has_lifetime();
        let id = self.add_object(address, thread, new);
        self.by_number
            .entry(number)
            .or_default()
            .insert(position, id);
        if has_lifetime {
            self.new_life_cell(id)?;
        }
        Ok(id)
    }

    /// The life cell is a synchronisation cell outside the object's own offsets.
    fn new_life_cell(&mut self, object: ObjectId) -> Result<LocId, Exhausted> {
        let life = self.new_sync_cell(object, u64::MAX)?;
        self.objects[object.index()].life = Some(life);
        Ok(life)
    }

    fn add_object(&mut self, address: u64, thread: Option<ThreadId>, new: NewObject) -> ObjectId {
        let id = ObjectId::from_index(self.objects.len());
        self.objects.push(ObjectInfo {
            kind: new.kind,
            address,
            size: new.size,
            align: new.align,
            site: new.site,
            name: new.name,
            thread,
            at: new.at,
            source_type: new.source_type,
            arena: NO_SLOT,
            life: None,
            init: new.init,
            queues_of: None,
            cell: None,
            locs: BTreeMap::new(),
            cut: 0,
        });
        id
    }

    /// An object that has its cells where queues are named after the addresses of another: of use after that is gone, too.
    pub fn queues(&mut self, object: ObjectId) -> Result<ObjectId, Exhausted> {
        /// An operation may have cells at the first bytes after its address.
        const BESIDE: u64 = 8;
        if let Some(&queues) = self.queues.get(&object) {
            return Ok(queues);
        }
        let info = &self.objects[object.index()];
        let new = NewObject {
            kind: ObjectKind::Global,
            size: info.size + BESIDE,
            align: info.align,
            name: Rc::clone(&info.name),
            at: info.at,
            source_type: None,
            init: None,
            site: info.address,
        };
        let number = names::queue_number(info.address);
        let queues = self.at_address(u64::from(number) << 32 | OFFSET_BIAS, None, new)?;
        self.objects[queues.index()].queues_of = Some(object);
        self.queues.insert(object, queues);
        Ok(queues)
    }

    /// An object that the models of the library know, one for each number.
    pub(crate) fn library_object(
        &mut self,
        name: &str,
        number: u64,
        size: u64,
    ) -> Result<ObjectId, Exhausted> {
        let site = names::stable_hash([names::hash_text(name), number]);
        let new = NewObject {
            kind: ObjectKind::Global,
            size,
            align: 16,
            name: name.into(),
            at: SrcId::NOWHERE,
            source_type: None,
            init: None,
            site,
        };
        let number = names::queue_number(site);
        self.at_address(u64::from(number) << 32 | OFFSET_BIAS, None, new)
    }

    /// The locations and synchronisation cells of an object, but for the one that says whether it is alive.
    pub fn locations(&self, object: ObjectId) -> impl Iterator<Item = LocId> {
        let info = &self.objects[object.index()];
        let all = info.locs.values().copied();
        all.filter(|&loc| info.life != Some(loc))
    }

    #[must_use]
    pub fn object_info(&self, id: ObjectId) -> &ObjectInfo {
        &self.objects[id.index()]
    }

    /// Gives a global its contents after its address was needed (initialisers refer to each other).
    ///
    /// # Panics
    /// If a location of the object exists already.
    pub fn set_init(&mut self, id: ObjectId, init: Rc<[u8]>) {
        let object = &mut self.objects[id.index()];
        assert!(
            object.arena == NO_SLOT,
            "contents of an object given after its first use"
        );
        object.init = Some(init);
    }

    #[must_use]
    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// The address of byte `offset` of an object.
    #[must_use]
    pub fn address(&self, object: ObjectId, offset: i64) -> u64 {
        self.objects[object.index()]
            .address
            .wrapping_add_signed(offset)
    }

    /// The address of function number `index`.
    #[must_use]
    pub fn function_address(index: u32) -> u64 {
        let number = names::FUNCTION_THREAD << names::COUNTER_BITS | index;
        u64::from(number) << 32 | OFFSET_BIAS
    }

    /// The function number an address stands for.
    #[must_use]
    pub fn function_at(address: u64) -> Option<u32> {
        let number = (address >> 32) as u32;
        let is_function = number >> names::COUNTER_BITS == names::FUNCTION_THREAD
            && address & 0xFFFF_FFFF == OFFSET_BIAS;
        is_function.then_some(number & ((1 << names::COUNTER_BITS) - 1))
    }

    /// The object an address points into (or just beside) and the offset, whether or not that is in bounds.
    #[must_use]
    pub fn resolve(&self, address: u64) -> Option<(ObjectId, i64)> {
        let object = match self.numbered((address >> 32) as u32) {
            [] => return None,
            &[object] => object,
            // The nearest that is not above.
            several => {
                let is_below = |id: &ObjectId| {
                    self.objects[id.index()].address <= address.saturating_add(names::BEFORE)
                };
                several[several.partition_point(is_below).saturating_sub(1)]
            }
        };
        let base = self.objects[object.index()].address;
        Some((object, address.wrapping_sub(base).cast_signed()))
    }

    /// The objects whose addresses have this high half, by ascending addresses. At most one of them is alive at a time.
    #[must_use]
    pub fn numbered(&self, number: u32) -> &[ObjectId] {
        self.by_number.get(&number).map_or(&[], SmallVec::as_slice)
    }

    // ---- locations

    /// The location of `size` (1, 2, 4 or 8) bytes at `offset`, which must lie within the object.
    ///
    /// # Panics
    /// If it does not.
    pub fn loc(&mut self, object: ObjectId, offset: u64, size: u8) -> Result<LocId, Exhausted> {
        let info = &self.objects[object.index()];
        if let Some(&id) = info.locs.get(&(offset, size)) {
            return Ok(id);
        }
        let all = self.overlapping(object, offset, size).into_iter();
        let mut all = all.map(|other| self.locs[other.index()]);
        let whole = all.find(|other| !other.mixed && other.size > size);
        let id = self.intern(object, offset, size)?;
        if let Some(whole) = whole {
            self.cut_ahead(&whole, size)?;
        }
        Ok(id)
    }

    fn intern(&mut self, object: ObjectId, offset: u64, size: u8) -> Result<LocId, Exhausted> {
        let info = &self.objects[object.index()];
        if let Some(&id) = info.locs.get(&(offset, size)) {
            return Ok(id);
        }
        assert!(
            matches!(size, 1 | 2 | 4 | 8) && offset + u64::from(size) <= info.size,
            "location outside its object"
        );
        let base = self.place(object)?;
        let id = LocId::from_index(self.locs.len());
        let arena = base
            + u32::try_from(offset).map_err(|_| Exhausted::Ids {
                what: "bytes of memory",
            })?;
        let overlapping = self.overlapping(object, offset, size);
        self.locs.push(LocInfo {
            object,
            offset,
            size,
            arena,
            life: self.life_slot(object),
            mixed: !overlapping.is_empty(),
        });
        for &other in &overlapping {
            self.locs[other.index()].mixed = true;
            self.overlaps.entry(other).or_default().push(id);
        }
        if !overlapping.is_empty() {
            self.overlaps.insert(id, overlapping);
        }
        self.objects[object.index()].locs.insert((offset, size), id);
        Ok(id)
    }

    /// Part of a location was accessed for the first time. If that goes on in an object, as with a buffer that is cleared by words and read by bytes, parts
    /// of the locations beside it are made, too, as many as there were before: engines that have to begin anew when
    /// locations turn out to share bytes do so a few times then, not once for each.
    fn cut_ahead(&mut self, whole: &LocInfo, part: u8) -> Result<(), Exhausted> {
        let object = &mut self.objects[whole.object.index()];
        object.cut += 1;
        if object.cut < MANY_CUT {
            return Ok(());
        }
        let (size, most) = (u64::from(whole.size), object.cut as usize);
        let from = |offset| object.locs.range((offset, 0)..);
        let whole_ones = from(whole.offset).filter(|&(&(offset, other), &id)| {
            let is_alike =
                other == whole.size && offset.abs_diff(whole.offset).is_multiple_of(size);
            is_alike && (offset == whole.offset || !self.locs[id.index()].mixed)
        });
        let offsets: Vec<u64> = whole_ones
            .map(|(&(offset, _), _)| offset)
            .take(most)
            .collect();
        object.cut += offsets.len() as u32;
        for offset in offsets {
            for offset in (offset..offset + size).step_by(part.into()) {
                self.intern(whole.object, offset, part)?;
            }
        }
        Ok(())
    }

    /// Do any two locations share bytes?
    #[inline]
    #[must_use]
    pub fn has_mixed_sizes(&self) -> bool {
        !self.overlaps.is_empty()
    }

    /// Where the C library keeps the number of the kind in a mutex.
    #[must_use]
    pub fn mutex_kind_offset(&self) -> u64 {
        match self.is_ilp32() {
            true => MutexKind::OFFSET_ILP32,
            false => MutexKind::OFFSET,
        }
    }

    /// Where the number lies that says of which kind a mutex is that has a static initialiser, if its object reaches that far.
    #[must_use]
    pub fn kind_of_mutex(&self, cell: LocId) -> Option<(ObjectId, u64)> {
        let LocInfo { object, offset, .. } = self.locs[cell.index()];
        let start = offset.checked_add(self.mutex_kind_offset())?;
        let end = start.checked_add(MutexKind::SIZE.into())?;
        (end <= self.objects[object.index()].size).then_some((object, start))
    }

    /// Users of the object with this cell look at its first bytes.
    pub(crate) fn note_looked_at(&mut self, cell: LocId) {
        self.looked_at.insert(cell);
    }

    /// The bytes that users of an object look at, if they do and the object reaches that far.
    pub(crate) fn looked_at(&self, cell: LocId) -> Option<(ObjectId, u64)> {
        let LocInfo { object, offset, .. } = self.locs[cell.index()];
        let end = offset.checked_add(LOOKED_AT.into())?;
        let reaches = end <= self.objects[object.index()].size;
        (reaches && self.looked_at.contains(&cell)).then_some((object, offset))
    }

    /// The same in the arena.
    #[must_use]
    pub fn kind_bytes(&self, cell: LocId) -> Option<u32> {
        let (object, offset) = self.kind_of_mutex(cell)?;
        let arena = self.objects[object.index()].arena;
        (arena != NO_SLOT).then(|| arena + offset as u32)
    }

    /// The locations that share bytes with this part of an object.
    pub(crate) fn overlapping(&self, object: ObjectId, offset: u64, size: u8) -> Vec<LocId> {
        let end = offset + u64::from(size);
        self.objects[object.index()]
            .locs
            .range((offset.saturating_sub(7), 1)..(end, 0))
            .filter(|((other, other_size), _)| {
                *other_size > 0 && other + u64::from(*other_size) > offset
            })
            .map(|(_, &id)| id)
            .collect()
    }

    /// The synchronisation cell at `offset`, which must lie within the object.
    pub fn sync_cell(&mut self, object: ObjectId, offset: u64) -> Result<LocId, Exhausted> {
        if let Some(&id) = self.objects[object.index()].locs.get(&(offset, 0)) {
            return Ok(id);
        }
        // The memory reads a static initialiser's kind from the object's own bytes: they must have a place.
        self.place(object)?;
        self.new_sync_cell(object, offset)
    }

    fn new_sync_cell(&mut self, object: ObjectId, offset: u64) -> Result<LocId, Exhausted> {
        let arena = self.grow_arena(8)?;
        let id = LocId::from_index(self.locs.len());
        let life = if offset == u64::MAX {
            NO_SLOT
        } else {
            self.life_slot(object)
        };
        self.locs.push(LocInfo {
            object,
            offset,
            size: 0,
            arena,
            life,
            mixed: false,
        });
        self.objects[object.index()].locs.insert((offset, 0), id);
        Ok(id)
    }

    fn life_slot(&self, object: ObjectId) -> u32 {
        self.objects[object.index()]
            .life
            .map_or(NO_SLOT, |life| self.locs[life.index()].arena)
    }

    fn place(&mut self, object: ObjectId) -> Result<u32, Exhausted> {
        let info = &self.objects[object.index()];
        if info.arena != NO_SLOT {
            return Ok(info.arena);
        }
        let (size, init) = (info.size, info.init.clone());
        let base = self.grow_arena(size)?;
        if let Some(init) = init {
            let start = base as usize;
            self.arena[start..start + init.len()].copy_from_slice(&init);
        }
        self.objects[object.index()].arena = base;
        Ok(base)
    }

    /// Adds zeroed bytes, aligned to 16.
    fn grow_arena(&mut self, bytes: u64) -> Result<u32, Exhausted> {
        const LIMIT: u64 = 1 << 30;
        let base = (self.arena.len() as u64).next_multiple_of(16);
        let end = base
            .checked_add(bytes)
            .filter(|&end| end <= LIMIT)
            .ok_or(Exhausted::Ids {
                what: "bytes of memory",
            })?;
        self.arena.resize(end as usize, 0);
        Ok(base as u32)
    }

    #[inline]
    #[must_use]
    pub fn loc_info(&self, id: LocId) -> &LocInfo {
        &self.locs[id.index()]
    }

    #[must_use]
    pub fn loc_count(&self) -> usize {
        self.locs.len()
    }

    /// The other locations that share bytes with this one.
    #[must_use]
    pub fn overlaps(&self, id: LocId) -> &[LocId] {
        self.overlaps.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The initial contents of memory: longer each time objects are discovered, never changed.
    #[must_use]
    pub fn arena(&self) -> &[u8] {
        &self.arena
    }

    // ---- what nobody has written

    /// Memory is made that is given its first bytes.
    pub(crate) fn note_given(&mut self, made: Made, given: Given) {
        self.given.insert(made, given);
    }

    /// Memory that was given its first bytes.
    pub fn given(&self) -> impl Iterator<Item = (&Made, &Given)> {
        self.given.iter()
    }

    // ---- source positions and stops

    /// Takes over all source positions, with their ids, from tables of the same program.
    pub(crate) fn keep_sources(&mut self, other: &mut Self) {
        self.sources = std::mem::take(&mut other.sources);
        self.users = std::mem::take(&mut other.users);
        self.source_ids = std::mem::take(&mut other.source_ids);
    }

    pub fn source(&mut self, loc: SourceLoc) -> SrcId {
        if let Some(&id) = self.source_ids.get(&loc) {
            return id;
        }
        let id = SrcId::from_index(self.sources.len());
        self.users.push(match loc.inlined_at {
            _ if !loc.is_library() => Some(id),
            Some(outer) => self.users[outer.index()],
            None => None,
        });
        self.sources.push(loc.clone());
        self.source_ids.insert(loc, id);
        id
    }

    /// The position, if known.
    #[must_use]
    pub fn source_loc(&self, id: SrcId) -> Option<&SourceLoc> {
        (id != SrcId::NOWHERE).then(|| &self.sources[id.index()])
    }

    /// The innermost position in the user's own code that a position belongs to: where a library was called. None if there is
    /// no such place.
    #[must_use]
    pub fn user_source(&self, id: SrcId) -> Option<SrcId> {
        self.users[id.index()]
    }

    pub fn stop(&mut self, stop: Stop) -> StopId {
        if let Some(&id) = self.stop_ids.get(&stop) {
            return id;
        }
        let id = StopId::from_index(self.stops.len());
        self.stops.push(stop.clone());
        self.stop_ids.insert(stop, id);
        id
    }

    #[must_use]
    pub fn stop_info(&self, id: StopId) -> &Stop {
        &self.stops[id.index()]
    }
}
