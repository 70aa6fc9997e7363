//! Names of threads, objects, locations and values, as the source calls them.

mod blocks;
mod parts;
mod rust;
mod stored;
mod values;

pub(crate) use rust::{RustLock, RwChange};

use crate::source::{is_known, position};
use cpp_demangle::{DemangleOptions, Symbol};
use raddle_ir::debug::{SourceType, SourceTypeId};
use raddle_judge::Trace;
use raddle_program::{LocId, Meaning, ObjectId, ObjectKind, Op, Program, Tables, ThreadId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Names for one reported execution. Threads and heap blocks have no names in the source: they are numbered in the order in
/// which the execution starts and allocates them, `main` being thread 0. Nor does `malloc` tell a type: see `blocks`.
pub struct Names<'a> {
    program: &'a Program,
    tables: &'a Tables,
    heap: BTreeMap<ObjectId, usize>,
    heap_types: BTreeMap<ObjectId, SourceTypeId>,
    /// For blocks that have no one type: where the thing begins that code takes the bytes from an offset on for a part of,
    /// and its type.
    heap_parts: BTreeMap<(ObjectId, u64), (u64, SourceTypeId)>,
    /// What objects keep in arrays of characters: see `stored`.
    stored: BTreeMap<ObjectId, Vec<stored::Stored>>,
    /// Where threads are started, and the function that they look up before the program's own code is run.
    start_lines: BTreeMap<ThreadId, u32>,
    runs: BTreeMap<ThreadId, String>,
    /// The functions that threads are started with.
    entries: BTreeMap<ThreadId, Rc<str>>,
    numbers: BTreeMap<ThreadId, usize>,
    /// What holds the blocks that an `Arc` shares: see `rust`.
    holders: BTreeMap<ObjectId, String>,
}

impl<'a> Names<'a> {
    #[must_use]
    pub fn new(program: &'a Program, trace: &Trace) -> Self {
        let tables = program.tables();
        let mut heap = BTreeMap::new();
        let mut start_lines = BTreeMap::new();
        let mut runs = BTreeMap::new();
        let mut entries = BTreeMap::new();
        let mut numbers = BTreeMap::from([(ThreadId::MAIN, 0)]);
        for step in &trace.steps {
            if let Op::Spawn { child, .. } = *program.op(step.state) {
                let next = numbers.len();
                numbers.entry(child).or_insert(next);
                if let Some(entry) = program.entry_at(step.state) {
                    entries.insert(child, Rc::clone(entry));
                }
                if let Some(loc) = position(tables, program.at(step.state)) {
                    start_lines.insert(child, loc.line);
                }
            }
            if let Op::Load { .. } = program.op(step.state)
                && let Some(Meaning::Function(function)) = program.meaning(step.value)
                && !is_known(tables, program.at(step.state))
            {
                runs.entry(step.thread).or_insert(demangled(&function));
            }
            if let Op::Alloc { object } = *program.op(step.state)
                && tables.object_info(object).kind == ObjectKind::Heap
            {
                let next = heap.len() + 1;
                heap.entry(object).or_insert(next);
            }
        }
        let mut names = Self {
            program,
            tables,
            heap,
            heap_types: BTreeMap::new(),
            heap_parts: BTreeMap::new(),
            stored: BTreeMap::new(),
            start_lines,
            runs,
            entries,
            numbers,
            holders: BTreeMap::new(),
        };
        names.number_others();
        names.find_block_types(trace);
        names.find_holders(trace);
        names
    }

    /// Threads that the execution does not start come last.
    fn number_others(&mut self) {
        let all = (0..self.tables.thread_count()).map(ThreadId::from_index);
        let mut others: Vec<ThreadId> = all
            .filter(|thread| !self.numbers.contains_key(thread))
            .collect();
        others.sort_by_key(|&thread| {
            let name = &self.tables.thread_info(thread).name;
            (name.path().len(), name)
        });
        for thread in others {
            self.numbers.insert(thread, self.numbers.len());
        }
    }

    /// The number of a thread in this execution.
    #[must_use]
    pub fn thread_number(&self, thread: ThreadId) -> usize {
        self.numbers.get(&thread).copied().unwrap_or(0)
    }

    /// `T1`.
    pub(crate) fn short(&self, thread: ThreadId) -> String {
        format!("T{}", self.thread_number(thread))
    }

    fn type_of(&self, object: ObjectId) -> Option<SourceTypeId> {
        let info = self.tables.object_info(object);
        if let Some(named) = info.queues_of {
            return self.type_of(named);
        }
        let own = info.source_type;
        own.or_else(|| self.heap_types.get(&object).copied())
    }

    #[must_use]
    pub fn tables(&self) -> &'a Tables {
        self.tables
    }

    /// `T1 (writer)`.
    #[must_use]
    pub fn thread(&self, thread: ThreadId) -> String {
        let entry = self.entry(thread);
        if entry.is_empty() {
            self.short(thread)
        } else {
            format!("{} ({entry})", self.short(thread))
        }
    }

    /// The function that the thread runs, or what a thread of a language's library calls itself. `std::thread` runs what it finds in memory when it starts; a lambda has no name, and
    /// is told by the line that starts it.
    pub(crate) fn entry(&self, thread: ThreadId) -> String {
        let entry = self.entries.get(&thread);
        let entry = entry.unwrap_or(&self.tables.thread_info(thread).entry);
        let entry = demangled(entry);
        let given = self.tables.thread_info(thread).given_name.as_deref();
        if let (RUST_THREAD | "std::thread", Some(name)) =
            (entry.as_str(), given.filter(|name| !name.is_empty()))
        {
            return name.to_owned();
        }
        let run = match entry.as_str() {
            "std::thread" => self.runs.get(&thread),
            RUST_THREAD => None,
            _ => return entry,
        };
        match (run, self.start_lines.get(&thread)) {
            (Some(function), _) => function.clone(),
            (None, Some(line)) => format!("std::thread@{line}"),
            (None, None) => "std::thread".to_owned(),
        }
    }

    /// Was the thread started by Rust's standard library?
    pub(crate) fn is_of_rust(&self, thread: ThreadId) -> bool {
        let entry = self.entries.get(&thread);
        let entry = entry.unwrap_or(&self.tables.thread_info(thread).entry);
        demangled(entry) == RUST_THREAD
    }

    /// Is it a variable of Rust's standard library?
    pub(crate) fn is_of_rust_library(&self, object: ObjectId) -> bool {
        let name = demangled(&self.tables.object_info(object).name);
        let path = name.trim_start_matches('<');
        ["std::", "core::", "alloc::"]
            .iter()
            .any(|library| path.starts_with(library))
    }

    /// Does it hold what Rust's standard library knows of a thread or a scope, and no more? Whether a thread was unparked is for others to see.
    pub(crate) fn is_bookkeeping_of_threads(&self, loc: LocId) -> bool {
        let info = self.tables.loc_info(loc);
        let all = (info.object, 0)..=(info.object, u64::MAX);
        let parts = self.heap_parts.range(all).map(|(_, &(_, ty))| ty);
        let mut types = parts.chain(self.heap_types.get(&info.object).copied());
        types.any(|ty| {
            let Some(SourceType::Record { name, .. }) = self.source_type(ty) else {
                return false;
            };
            name.starts_with("ArcInner<std::thread::")
        }) && !self.location(loc).contains(".parker")
    }

    /// The object's name as an expression: `x`, `heap2`, `local@T1`.
    #[must_use]
    pub fn object(&self, object: ObjectId) -> String {
        let info = self.tables.object_info(object);
        if let Some(named) = info.queues_of {
            return self.object(named);
        }
        match (info.kind, info.thread) {
            (ObjectKind::Heap, _) => match (self.holders.get(&object), self.heap.get(&object)) {
                (Some(holder), _) => holder.clone(),
                (None, Some(number)) => format!("heap{number}"),
                (None, None) => "heap".to_owned(),
            },
            (ObjectKind::Constant, _) if is_string(&info.name) => "string literal".to_owned(),
            _ if info.name.is_empty() => format!("object {}", object.index()),
            // Other threads have variables of the same name: say whose this is.
            (ObjectKind::Stack | ObjectKind::ThreadLocal, Some(thread))
                if thread != ThreadId::MAIN =>
            {
                format!("{}@{}", variable(&info.name), self.short(thread))
            }
            (ObjectKind::Stack, _) => variable(&info.name),
            _ => demangled(&info.name),
        }
    }

    /// The object in a sentence: `` `x` ``, ``heap block `heap2` of 16 bytes``.
    #[must_use]
    pub fn object_phrase(&self, object: ObjectId) -> String {
        let info = self.tables.object_info(object);
        let name = self.object(object);
        match info.kind {
            ObjectKind::Heap => format!("heap block `{name}` ({})", bytes(info.size)),
            ObjectKind::Constant if name.contains(' ') => format!("a {name}"),
            ObjectKind::Constant => format!("constant `{name}`"),
            ObjectKind::Stack => format!("local variable `{name}` ({})", bytes(info.size)),
            ObjectKind::Function => format!("function `{name}`"),
            ObjectKind::Global | ObjectKind::ThreadLocal => {
                format!("`{name}` ({})", bytes(info.size))
            }
        }
    }

    /// The place of `size` bytes in an object: `stack.items[1].next`, `heap2+8`.
    #[must_use]
    pub fn place(&self, object: ObjectId, offset: i64, size: u64) -> String {
        let name = self.object(object);
        let part = u64::try_from(offset)
            .ok()
            .and_then(|offset| self.part_of(object, offset, size.max(1)));
        match part {
            Some((0, part)) => name + &part.text,
            Some((base, part)) if !part.text.is_empty() => format!("({name}+{base}){}", part.text),
            _ if offset == 0 => name,
            _ => format!("{name}{offset:+}"),
        }
    }

    #[must_use]
    pub fn location(&self, loc: LocId) -> String {
        let info = self.tables.loc_info(loc);
        if info.offset == u64::MAX {
            return self.object(info.object);
        }
        if info.is_sync() {
            return self.sync_place(info.object, info.offset);
        }
        self.place(info.object, info.offset.cast_signed(), u64::from(info.size))
    }

    /// Are these bytes no part of anything, in an object whose parts are known?
    pub(crate) fn is_padding(&self, loc: LocId) -> bool {
        let info = self.tables.loc_info(loc);
        !info.is_sync()
            && info.offset != u64::MAX
            && self.type_of(info.object).is_some_and(|ty| {
                let element = self.element_of(info.object, ty, info.offset);
                element.is_some_and(|(_, rest)| self.is_between_members(ty, rest, info.size.into()))
            })
    }

    /// Is it the queue of those who wait for a futex?
    pub(crate) fn is_queue(&self, cell: LocId) -> bool {
        let object = self.tables.loc_info(cell).object;
        self.tables.object_info(object).queues_of.is_some()
    }

    /// A mutex is named as a whole, not by its first field.
    fn sync_place(&self, object: ObjectId, offset: u64) -> String {
        let name = self.object(object);
        let path = self.type_of(object).and_then(|ty| {
            let (index, rest) = self.element_of(object, ty, offset)?;
            Some(index + &self.public_path(ty, rest)?)
        });
        match path {
            Some(path) => name + &path,
            None if offset == 0 => name,
            None => format!("{name}+{offset}"),
        }
    }

    /// A name is worth less than a report: types that the tables do not hold are as if there were none.
    fn source_type(&self, ty: SourceTypeId) -> Option<&'a SourceType> {
        self.tables.debug.types.get(ty.index())
    }

    fn size(&self, ty: SourceTypeId) -> Option<u64> {
        self.tables.debug.size_of(ty)
    }
}

/// What threads of Rust's standard library run; what they run in it has no name.
const RUST_THREAD: &str = "thread_start";

/// The name of a local variable. Temporaries have none in the source.
fn variable(name: &str) -> String {
    let number = ["ref.tmp", "agg.tmp"]
        .iter()
        .find_map(|given| name.strip_prefix(given));
    match number {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("temporary{number}")
        }
        _ => demangled(name),
    }
}

/// Is this the name that clang gives a string literal?
fn is_string(name: &str) -> bool {
    name.starts_with(".str")
}

/// C++ and Rust names as the source writes them, without parameters.
pub(crate) fn demangled(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    if !name.starts_with("_Z") {
        return name.to_owned();
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    Symbol::new(name)
        .ok()
        .and_then(|symbol| symbol.demangle_with_options(&options).ok())
        .unwrap_or_else(|| name.to_owned())
}

/// Names of templates may fill pages.
fn shortened(name: String) -> String {
    const LONGEST: usize = 40;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

pub(crate) fn bytes(count: u64) -> String {
    if count == 1 {
        "1 byte".to_owned()
    } else {
        format!("{count} bytes")
    }
}
