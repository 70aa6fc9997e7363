//! Names of threads, objects, locations and values, as the source calls them.

mod values;

use crate::source::{is_known, position};
use cpp_demangle::{DemangleOptions, Symbol};
use raddle_ir::debug::{SourceType, SourceTypeId};
use raddle_program::{LocId, Meaning, ObjectId, ObjectKind, Op, Program, Tables, ThreadId};
use raddle_search::Trace;
use std::collections::BTreeMap;

/// Names for one reported execution. Heap blocks have no names in the source: they are numbered in the order in which the
/// execution allocates them. Nor does `malloc` tell a type: it is taken from the variable that gets its result, or else from
/// the pointers that the execution keeps to the block.
pub struct Names<'a> {
    program: &'a Program,
    tables: &'a Tables,
    heap: BTreeMap<ObjectId, usize>,
    heap_types: BTreeMap<ObjectId, SourceTypeId>,
    /// Where threads are started, and the function that they look up before the program's own code is run.
    start_lines: BTreeMap<ThreadId, u32>,
    runs: BTreeMap<ThreadId, String>,
}

impl<'a> Names<'a> {
    #[must_use]
    pub fn new(program: &'a Program, trace: &Trace) -> Self {
        let tables = program.tables();
        let mut heap = BTreeMap::new();
        // What the variables that get a new block point to.
        let mut variables = Vec::new();
        let mut start_lines = BTreeMap::new();
        let mut runs = BTreeMap::new();
        for step in &trace.steps {
            if let Op::Spawn { child, .. } = *program.op(step.state)
                && let Some(loc) = position(tables, program.at(step.state))
            {
                start_lines.insert(child, loc.line);
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
                if let Some(&ty) = tables.block_types.get(&program.at(step.state)) {
                    variables.push((object, ty));
                }
            }
        }
        let mut names = Self {
            program,
            tables,
            heap,
            heap_types: BTreeMap::new(),
            start_lines,
            runs,
        };
        for &(object, ty) in &variables {
            if names.is_telling(ty) {
                names.heap_types.insert(object, ty);
            }
        }
        // The type of one block may tell that of the next one in a list.
        while names.learn_types(program, trace, Self::is_telling) {}
        // Nothing better is known of what is left.
        for (object, ty) in variables {
            if names.is_text(ty) {
                names.heap_types.entry(object).or_insert(ty);
            }
        }
        while names.learn_types(program, trace, Self::is_text) {}
        names
    }

    /// Does a pointer to this type tell what it points to? `void *` and `char *` point to anything.
    fn is_telling(&self, ty: SourceTypeId) -> bool {
        self.size(ty).is_some_and(|size| size > 1)
    }

    fn is_text(&self, ty: SourceTypeId) -> bool {
        matches!(self.source_type(ty), Some(SourceType::Scalar { name, .. }) if &**name == "char")
    }

    /// Gives a type to blocks whose address lies where a pointer to that type belongs. Was there a new one?
    fn learn_types(
        &mut self,
        program: &Program,
        trace: &Trace,
        is_wanted: impl Fn(&Self, SourceTypeId) -> bool,
    ) -> bool {
        let known = self.heap_types.len();
        for step in &trace.steps {
            let (loc, value) = match *program.op(step.state) {
                Op::Load { loc, .. } => (loc, step.value),
                Op::Store { loc, value, .. } => (loc, value),
                Op::Cas { loc, new, .. } => (loc, new),
                _ => continue,
            };
            if let Some(SourceType::Pointer { to: Some(ty) }) = self.leaf(loc)
                && let Some((object, 0)) = self.tables.resolve(value)
                && self.heap.contains_key(&object)
                && is_wanted(self, *ty)
            {
                let ty = *ty;
                self.heap_types.entry(object).or_insert(ty);
            }
        }
        self.heap_types.len() > known
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
            short(thread)
        } else {
            format!("{} ({entry})", short(thread))
        }
    }

    /// The function that the thread runs. `std::thread` runs what it finds in memory when it starts; a lambda has no name, and
    /// is told by the line that starts it.
    pub(crate) fn entry(&self, thread: ThreadId) -> String {
        let entry = demangled(&self.tables.thread_info(thread).entry);
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

    /// Is it a variable of Rust's standard library?
    pub(crate) fn is_of_rust_library(&self, object: ObjectId) -> bool {
        let name = demangled(&self.tables.object_info(object).name);
        let path = name.trim_start_matches('<');
        ["std::", "core::", "alloc::"]
            .iter()
            .any(|library| path.starts_with(library))
    }

    /// The object's name as an expression: `x`, `heap2`, `local@T1`.
    #[must_use]
    pub fn object(&self, object: ObjectId) -> String {
        let info = self.tables.object_info(object);
        if let Some(named) = info.queues_of {
            return self.object(named);
        }
        match (info.kind, info.thread) {
            (ObjectKind::Heap, _) => match self.heap.get(&object) {
                Some(number) => format!("heap{number}"),
                None => "heap".to_owned(),
            },
            (ObjectKind::Constant, _) if is_string(&info.name) => "string literal".to_owned(),
            _ if info.name.is_empty() => format!("object {}", object.index()),
            // Other threads have variables of the same name: say whose this is.
            (ObjectKind::Stack | ObjectKind::ThreadLocal, Some(thread))
                if thread != ThreadId::MAIN =>
            {
                format!("{}@{}", info.name, short(thread))
            }
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
        let path = u64::try_from(offset)
            .ok()
            .and_then(|offset| self.path_in(object, offset, size.max(1)));
        match path {
            Some(found) => name + &found.text,
            None if offset == 0 => name,
            None => format!("{name}{offset:+}"),
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

    /// A heap block may hold several elements of its type: which one a byte lies in, and where in that one.
    fn element_of(&self, object: ObjectId, ty: SourceTypeId, offset: u64) -> Option<(String, u64)> {
        let size = self.size(ty)?.max(1);
        let object = (self.tables.object_info(object).queues_of).unwrap_or(object);
        let is_single =
            !self.heap.contains_key(&object) || self.tables.object_info(object).size <= size;
        Some(match is_single {
            true => (String::new(), offset),
            false => (format!("[{}]", offset / size), offset % size),
        })
    }

    /// The path to what begins at `offset`, stopping at types whose parts are the library's business.
    fn public_path(&self, ty: SourceTypeId, offset: u64) -> Option<String> {
        match self.source_type(ty)? {
            SourceType::Array { element, len } => {
                let size = self.size(*element)?.max(1);
                let index = offset / size;
                if index >= *len {
                    return None;
                }
                let rest = self.public_path(*element, offset % size)?;
                Some(format!("[{index}]{rest}"))
            }
            SourceType::Record { fields, .. }
                if !fields.iter().all(|(field, ..)| is_reserved(field)) =>
            {
                let (field, start, field_ty) =
                    fields.iter().rev().find(|(_, start, _)| *start <= offset)?;
                let rest = self.public_path(*field_ty, offset - start)?;
                Some(dotted(field) + &rest)
            }
            _ => (offset == 0).then(String::new),
        }
    }

    /// The path to the innermost part of an object at `offset`.
    fn path_in(&self, object: ObjectId, offset: u64, size: u64) -> Option<Part> {
        let ty = self.type_of(object)?;
        let (index, rest) = self.element_of(object, ty, offset)?;
        if !index.is_empty()
            && let Some(part) = self.several(ty, offset, size)
        {
            return Some(part);
        }
        Some(self.path(ty, rest, size)?.under(&index))
    }

    /// Elements of an array that are accessed at once, as `memset` and `memcpy` do.
    fn several(&self, element: SourceTypeId, offset: u64, size: u64) -> Option<Part> {
        let own = self.size(element)?.max(1);
        let is_scalar = matches!(self.source_type(element)?, SourceType::Scalar { .. });
        let fits =
            is_scalar && size > own && offset.is_multiple_of(own) && size.is_multiple_of(own);
        fits.then(|| Part {
            text: format!("[{}..{}]", offset / own, (offset + size) / own),
            ty: element,
            exact: false,
        })
    }

    /// The path to the innermost part of a type at `offset`.
    fn path(&self, ty: SourceTypeId, offset: u64, size: u64) -> Option<Part> {
        match self.source_type(ty)? {
            SourceType::Scalar { size: own, .. } | SourceType::Enum { size: own, .. } => {
                (offset < (*own).max(1)).then(|| Part {
                    text: if offset == 0 {
                        String::new()
                    } else {
                        format!(":{offset}")
                    },
                    ty,
                    exact: *own == size && offset == 0,
                })
            }
            SourceType::Pointer { .. } => (offset < 8).then(|| Part {
                text: if offset == 0 {
                    String::new()
                } else {
                    format!(":{offset}")
                },
                ty,
                exact: size == 8 && offset == 0,
            }),
            SourceType::Array { element, len } => {
                let element_size = self.size(*element)?.max(1);
                let index = offset / element_size;
                if index >= *len {
                    return None;
                }
                if let Some(part) = self.several(*element, offset, size) {
                    return Some(part);
                }
                let part = self.path(*element, offset % element_size, size)?;
                Some(part.under(&format!("[{index}]")))
            }
            SourceType::Record { name, fields, .. } => {
                let is_wrapper = fields.len() == 1 && is_rust_wrapper(name);
                // In a union several fields cover the bytes: the one of the very size is meant.
                let mut candidates = fields
                    .iter()
                    .filter(|(_, start, _)| *start <= offset)
                    .filter_map(|(field, start, ty)| {
                        let part = self.path(*ty, offset - start, size)?;
                        // The only member of a library type (`_M_i` of an atomic) is the thing itself, and what lies
                        // between a container and its members is nobody's business.
                        let name = if is_wrapper {
                            String::new()
                        } else if fields.len() == 1 || !part.text.is_empty() {
                            dotted(field)
                        } else {
                            format!(".{field}")
                        };
                        Some(part.under(&name))
                    });
                let first = candidates.next()?;
                if first.exact {
                    return Some(first);
                }
                candidates.find(|part| part.exact).or(Some(first))
            }
        }
    }

    /// A name is worth less than a report: types that the tables do not hold are as if there were none.
    fn source_type(&self, ty: SourceTypeId) -> Option<&'a SourceType> {
        self.tables.debug.types.get(ty.index())
    }

    fn size(&self, ty: SourceTypeId) -> Option<u64> {
        Some(match self.source_type(ty)? {
            SourceType::Scalar { size, .. }
            | SourceType::Enum { size, .. }
            | SourceType::Record { size, .. } => *size,
            SourceType::Pointer { .. } => 8,
            SourceType::Array { element, len } => self.size(*element)?.checked_mul(*len)?,
        })
    }

    /// The source type of exactly these bytes.
    fn leaf(&self, loc: LocId) -> Option<&SourceType> {
        let info = self.tables.loc_info(loc);
        let part = self.path_in(info.object, info.offset, u64::from(info.size))?;
        self.source_type(part.ty).filter(|_| part.exact)
    }
}

/// A part of a source type.
struct Part {
    text: String,
    ty: SourceTypeId,
    /// Are the bytes asked for exactly this part?
    exact: bool,
}

impl Part {
    fn under(mut self, prefix: &str) -> Self {
        self.text.insert_str(0, prefix);
        self
    }
}

/// What threads of Rust's standard library run; what they run in it has no name.
const RUST_THREAD: &str = "thread_start";

/// Is this a type of Rust's standard library that stands for what is in it?
fn is_rust_wrapper(name: &str) -> bool {
    let outer = name.split('<').next().unwrap_or(name);
    match outer.strip_prefix("Atomic") {
        Some(of) => {
            matches!(of, "" | "Bool" | "Ptr" | "Usize" | "Isize")
                || of.strip_prefix(['U', 'I']).is_some_and(is_number)
        }
        None => matches!(
            outer,
            "UnsafeCell" | "SyncUnsafeCell" | "Cell" | "NonNull" | "ManuallyDrop" | "MaybeUninit"
        ),
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

/// Is the name the implementation's own (`__data`, `_M_i`)? Users did not write it, so reports do not show it.
fn is_reserved(field: &str) -> bool {
    let mut chars = field.chars();
    field.is_empty()
        || (chars.next() == Some('_') && chars.next().is_some_and(|c| c == '_' || c.is_uppercase()))
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

fn dotted(field: &str) -> String {
    if is_reserved(field) {
        String::new()
    } else {
        format!(".{field}")
    }
}

/// `T1`.
pub(crate) fn short(thread: ThreadId) -> String {
    format!("T{}", thread.index())
}

pub(crate) fn bytes(count: u64) -> String {
    if count == 1 {
        "1 byte".to_owned()
    } else {
        format!("{count} bytes")
    }
}
