//! Parts of objects: from an offset to the path of fields and elements that lead there.
//!
//! A name that is not certain is worse than none: bytes that are no part of the type, or parts of several things in it, have
//! no path.

use super::Names;
use raddle_ir::debug::{SourceType, SourceTypeId};
use raddle_program::{LocId, ObjectId};

/// A part of a source type.
pub(super) struct Part {
    pub(super) text: String,
    pub(super) ty: SourceTypeId,
    /// Are the bytes asked for exactly this part?
    pub(super) exact: bool,
    /// Where several fields, or bit-fields, are accessed at once: each of them.
    pub(super) fields: Vec<Bits>,
}

/// Some bits of what was accessed, and what they are.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    pub(super) shift: u32,
    pub(super) len: u32,
    pub(super) ty: SourceTypeId,
}

impl Part {
    fn new(text: String, ty: SourceTypeId, exact: bool) -> Self {
        Self {
            text,
            ty,
            exact,
            fields: Vec::new(),
        }
    }

    fn under(mut self, prefix: &str) -> Self {
        self.text.insert_str(0, prefix);
        self
    }
}

type Field = (Box<str>, u64, SourceTypeId);

impl<'a> Names<'a> {
    /// A heap block may hold several elements of its type: which one a byte lies in, and where in that one. What is left over
    /// behind the last of them has no name.
    pub(super) fn element_of(
        &self,
        object: ObjectId,
        ty: SourceTypeId,
        offset: u64,
    ) -> Option<(String, u64)> {
        let object = (self.tables.object_info(object).queues_of).unwrap_or(object);
        if !self.heap.contains_key(&object) || self.has_open_end(ty) {
            return Some((String::new(), offset));
        }
        let size = self.size(ty)?.max(1);
        let whole = self.tables.object_info(object).size;
        if whole > size && whole.is_multiple_of(size) {
            Some((format!("[{}]", offset / size), offset % size))
        } else {
            (offset < size).then(|| (String::new(), offset))
        }
    }

    /// Is it a struct whose last member is an array of any length?
    fn has_open_end(&self, ty: SourceTypeId) -> bool {
        match self.source_type(ty) {
            Some(SourceType::Record { fields, .. }) => {
                let last = fields.iter().max_by_key(|(_, start, _)| *start);
                last.is_some_and(|(_, _, ty)| self.is_open_array(*ty) || self.has_open_end(*ty))
            }
            _ => false,
        }
    }

    fn is_open_array(&self, ty: SourceTypeId) -> bool {
        matches!(self.source_type(ty), Some(SourceType::Array { element, len: 0 })
            if self.size(*element).is_some_and(|size| size > 0))
    }

    /// The path to what begins at `offset`, stopping at types whose parts are the library's business. Synchronisation
    /// objects of a library may lie anywhere in a word of it.
    pub(super) fn public_path(&self, ty: SourceTypeId, offset: u64) -> Option<String> {
        match self.source_type(ty)? {
            SourceType::Array { element, len } => {
                let size = self.size(*element)?.max(1);
                let index = offset / size;
                if index >= *len && *len > 0 {
                    return None;
                }
                let rest = self.public_path(*element, offset % size)?;
                Some(format!("[{index}]{rest}"))
            }
            SourceType::Record { fields, name, .. }
                if !fields.iter().all(|(field, ..)| is_library_only(field)) =>
            {
                let field = self.field_at(fields, offset)?;
                let rest = self.public_path(field.2, offset - field.1)?;
                Some(step_name(name, fields, field, &rest) + &rest)
            }
            SourceType::Scalar { size, .. } => (offset < *size).then(String::new),
            _ => (offset == 0).then(String::new),
        }
    }

    /// The field that a byte lies in; the first one of a union.
    pub(super) fn field_at<'f>(&self, fields: &'f [Field], offset: u64) -> Option<&'f Field> {
        fields
            .iter()
            .find(|(_, start, ty)| (*start..self.end(*start, *ty)).contains(&offset))
    }

    /// Where a field ends.
    fn end(&self, start: u64, ty: SourceTypeId) -> u64 {
        if self.is_open_array(ty) || self.has_open_end(ty) {
            return u64::MAX;
        }
        start.saturating_add(self.size(ty).unwrap_or(0))
    }

    /// The innermost part of an object at `offset`, and what it is a part of begins where in the object.
    pub(super) fn part_of(&self, object: ObjectId, offset: u64, size: u64) -> Option<(u64, Part)> {
        let Some(ty) = self.type_of(object) else {
            let &(base, ty) = self.heap_parts.get(&(object, offset))?;
            return Some((base, self.path(ty, offset.checked_sub(base)?, size)?));
        };
        if let Some(stored) = self.stored_at(object, offset, size) {
            let part = self.path(stored.ty, offset - stored.base, size)?;
            return Some((0, part.under(&stored.path)));
        }
        let (index, rest) = self.element_of(object, ty, offset)?;
        if !index.is_empty()
            && let Some(part) = self.several(ty, offset, size)
        {
            return Some((0, part));
        }
        Some((0, self.path(ty, rest, size)?.under(&index)))
    }

    /// Elements of an array that are accessed at once, as `memset` and `memcpy` do.
    fn several(&self, element: SourceTypeId, offset: u64, size: u64) -> Option<Part> {
        let own = self.size(element)?.max(1);
        let is_scalar = matches!(self.source_type(element)?, SourceType::Scalar { .. });
        let fits =
            is_scalar && size > own && offset.is_multiple_of(own) && size.is_multiple_of(own);
        let text = format!("[{}..{}]", offset / own, (offset + size) / own);
        fits.then(|| Part::new(text, element, false))
    }

    /// The innermost part of a type at `offset`.
    pub(super) fn path(&self, ty: SourceTypeId, offset: u64, size: u64) -> Option<Part> {
        match self.source_type(ty)? {
            SourceType::Scalar { .. }
            | SourceType::Enum { .. }
            | SourceType::Pointer { .. }
            | SourceType::Bits { .. } => {
                let own = self.size(ty)?.max(1);
                let text = match offset {
                    0 => String::new(),
                    _ => format!(":{offset}"),
                };
                let is_within = offset.checked_add(size)? <= own;
                is_within.then(|| Part::new(text, ty, own == size && offset == 0))
            }
            SourceType::Array { element, len } => {
                let element_size = self.size(*element)?.max(1);
                let index = offset / element_size;
                if index >= *len && *len > 0 {
                    return None;
                }
                if let Some(part) = self.several(*element, offset, size) {
                    return Some(part);
                }
                let part = self.path(*element, offset % element_size, size)?;
                Some(part.under(&format!("[{index}]")))
            }
            SourceType::Record { name, fields, .. } => self.member(ty, name, fields, offset, size),
        }
    }

    /// The part of a struct or union.
    fn member(
        &self,
        ty: SourceTypeId,
        name: &str,
        fields: &[Field],
        offset: u64,
        size: u64,
    ) -> Option<Part> {
        let touched = self.touched(fields, offset, size);
        let inner = |field: &Field| {
            let (_, start, ty) = *field;
            // Bytes between fields are accessed with the field before them.
            let own = size.min(self.end(start, ty).saturating_sub(offset));
            let mut part = self.path(ty, offset.checked_sub(start)?, own)?;
            part.exact &= own == size;
            let step = step_name(name, fields, field, &part.text);
            Some(part.under(&step))
        };
        if touched.iter().any(|field| self.is_bits(field.2)) {
            return self.beside_each_other(ty, &touched, offset, size);
        }
        if self.is_side_by_side(&touched) {
            return self.beside_each_other(ty, &touched, offset, size);
        }
        // In a union several fields cover the bytes: the one of the very size is meant. If there are several such it may be
        // any of them.
        let mut candidates: Vec<Part> = touched.iter().filter_map(|field| inner(field)).collect();
        let exact = |part: &Part| part.exact;
        if candidates.iter().filter(|part| exact(part)).count() > 1 {
            return Some(Part::new(String::new(), ty, false));
        }
        let chosen = candidates.iter().position(exact).unwrap_or(0);
        (chosen < candidates.len()).then(|| candidates.swap_remove(chosen))
    }

    /// Does no member cover any of these bytes?
    pub(super) fn is_between_members(&self, ty: SourceTypeId, offset: u64, size: u64) -> bool {
        match self.source_type(ty) {
            Some(SourceType::Array { element, len }) => {
                let own = self.size(*element).unwrap_or(0).max(1);
                offset / own < *len && self.is_between_members(*element, offset % own, size)
            }
            Some(SourceType::Record { fields, .. }) => {
                let is_within =
                    (self.size(ty)).is_some_and(|own| offset.saturating_add(size) <= own);
                let touched = self.touched(fields, offset, size);
                is_within
                    && !fields.is_empty()
                    && touched.iter().all(|(_, start, inner)| {
                        *start <= offset && self.is_between_members(*inner, offset - start, size)
                    })
            }
            _ => false,
        }
    }

    fn touched<'f>(&self, fields: &'f [Field], offset: u64, size: u64) -> Vec<&'f Field> {
        let end = offset.saturating_add(size);
        fields
            .iter()
            .filter(|(_, start, ty)| *start < end && offset < self.end(*start, *ty))
            .collect()
    }

    /// Are these two fields or more, none of which covers bytes of another?
    fn is_side_by_side(&self, fields: &[&Field]) -> bool {
        let mut sorted: Vec<&&Field> = fields.iter().collect();
        sorted.sort_by_key(|field| field.1);
        sorted.len() > 1
            && sorted
                .windows(2)
                .all(|pair| self.end(pair[0].1, pair[0].2) <= pair[1].1)
    }

    /// Several fields that are accessed at once: `.{a,b}`. Bit-fields always are, with those that they share bytes with.
    fn beside_each_other(
        &self,
        ty: SourceTypeId,
        touched: &[&Field],
        offset: u64,
        size: u64,
    ) -> Option<Part> {
        const MOST: usize = 6;
        let mut fields = Vec::new();
        for (_, start, ty) in touched {
            let (first, len, of) = match *self.source_type(*ty)? {
                SourceType::Bits { of, first, len } => (u64::from(first), u64::from(len), of),
                _ => (0, self.size(*ty)?.checked_mul(8)?, *ty),
            };
            let shift = (start * 8 + first).checked_sub(offset * 8);
            fields.extend(shift.map(|shift| Bits {
                shift: shift as u32,
                len: len as u32,
                ty: of,
            }));
        }
        let is_whole = fields.len() == touched.len()
            && (fields.iter()).all(|bits| u64::from(bits.shift + bits.len) <= size * 8);
        let has_bits = touched.iter().any(|field| self.is_bits(field.2));
        if !is_whole && !has_bits {
            return None;
        }
        let names: Vec<&str> = touched
            .iter()
            .map(|(name, ..)| &**name)
            .filter(|name| !is_reserved(name))
            .collect();
        let text = match names.as_slice() {
            [] => String::new(),
            [one] if touched.len() == 1 => format!(".{one}"),
            few if few.len() <= MOST => format!(".{{{}}}", few.join(",")),
            many => format!(".{{{},…}}", many[..MOST].join(",")),
        };
        let mut part = Part::new(text, ty, false);
        if is_whole && names.len() == touched.len() && names.len() <= MOST {
            part.fields = fields;
        }
        Some(part)
    }

    fn is_bits(&self, ty: SourceTypeId) -> bool {
        matches!(self.source_type(ty), Some(SourceType::Bits { .. }))
    }

    /// Could these bytes of the type be accessed at once, by code that knows it? Where the type does not say what they are,
    /// they could.
    pub(super) fn fits(&self, ty: SourceTypeId, offset: u64, size: u64) -> bool {
        let end = offset.saturating_add(size);
        match self.source_type(ty) {
            Some(SourceType::Array { element, .. }) => {
                let own = self.size(*element).unwrap_or(0).max(1);
                let is_several = offset.is_multiple_of(own) && size.is_multiple_of(own);
                is_several || self.fits(*element, offset % own, size)
            }
            Some(SourceType::Record { fields, .. }) => {
                let touched = self.touched(fields, offset, size);
                if self.is_side_by_side(&touched) {
                    let is_within =
                        |field: &&Field| offset <= field.1 && self.end(field.1, field.2) <= end;
                    return touched.iter().any(|field| self.is_bits(field.2))
                        || touched.iter().all(is_within);
                }
                let fits = |(_, start, ty): &&Field| {
                    let own = size.min(self.end(*start, *ty).saturating_sub(offset));
                    *start <= offset && self.fits(*ty, offset - start, own)
                };
                touched.is_empty() || touched.iter().any(fits)
            }
            // Nobody accesses half a pointer.
            Some(SourceType::Pointer { .. }) => offset == 0 && self.size(ty) == Some(size),
            Some(_) => self.size(ty).is_none_or(|own| end <= own.max(1)),
            None => true,
        }
    }

    /// Is there something of type `part` at this offset of a type? Where the type does not say what is there, there may be.
    pub(super) fn contains(&self, ty: SourceTypeId, offset: u64, part: SourceTypeId) -> bool {
        if ty == part && offset == 0 {
            return true;
        }
        match self.source_type(ty) {
            // Anything may be kept in raw bytes.
            Some(SourceType::Array { element, len }) if self.is_byte(*element) => {
                let end = offset.saturating_add(self.size(part).unwrap_or(0));
                *len == 0 || end <= *len
            }
            Some(SourceType::Array { element, .. }) => {
                let own = self.size(*element).unwrap_or(0).max(1);
                self.contains(*element, offset % own, part)
            }
            Some(SourceType::Record { fields, .. }) => {
                let mut touched = self.touched(fields, offset, 1).into_iter().peekable();
                touched.peek().is_none()
                    || touched.any(|(_, start, ty)| self.contains(*ty, offset - start, part))
            }
            // Signs and the like do not matter.
            Some(_) => {
                let is_compound = matches!(
                    self.source_type(part),
                    Some(SourceType::Record { .. } | SourceType::Array { .. })
                );
                offset == 0 && !is_compound && self.size(ty) == self.size(part)
            }
            None => true,
        }
    }

    /// The source type of exactly these bytes.
    pub(super) fn leaf(&self, loc: LocId) -> Option<&'a SourceType> {
        let info = self.tables.loc_info(loc);
        let (_, part) = self.part_of(info.object, info.offset, u64::from(info.size))?;
        self.source_type(part.ty).filter(|_| part.exact)
    }
}

/// What a path says of a step into a field. The only member of a library type (`_M_i` of an atomic) is the thing itself, and
/// what lies between a container and its members is nobody's business.
fn step_name(record: &str, fields: &[Field], (field, ..): &Field, rest: &str) -> String {
    if fields.len() == 1 && is_rust_wrapper(record) || is_inside_of_rust(record, fields, field) {
        String::new()
    } else if fields.len() > 1
        && let Some(index) = tuple_index(field)
    {
        format!(".{index}")
    } else if fields.len() == 1 || !rest.is_empty() {
        dotted(field)
    } else {
        format!(".{field}")
    }
}

pub(super) fn dotted(field: &str) -> String {
    if is_reserved(field) {
        String::new()
    } else {
        format!(".{field}")
    }
}

/// The debug information of Rust calls the members of tuples `__0`, `__1`, …
fn tuple_index(field: &str) -> Option<&str> {
    let index = field.strip_prefix("__")?;
    is_number(index).then_some(index)
}

/// Is the name the implementation's own (`__data`, `_M_i`)? Users did not write it, so reports do not show it.
fn is_reserved(field: &str) -> bool {
    let mut chars = field.chars();
    field.is_empty()
        || (chars.next() == Some('_') && chars.next().is_some_and(|c| c == '_' || c.is_uppercase()))
}

fn is_library_only(field: &str) -> bool {
    is_reserved(field) && tuple_index(field).is_none()
}

/// Is the field what Rust's standard library keeps inside of a lock, or of what an `Arc` shares? Users know the whole only.
fn is_inside_of_rust(record: &str, fields: &[Field], field: &str) -> bool {
    let has = |names: &[&str]| {
        let is_there = |name: &&str| fields.iter().any(|(field, ..)| &**field == *name);
        fields.len() == names.len() && names.iter().all(is_there)
    };
    match (outer_name(record), field) {
        ("ArcInner", "data") => has(&["strong", "weak", "data"]),
        ("Mutex" | "RwLock", "inner") => has(&["inner", "poison", "data"]),
        ("Mutex" | "Condvar", "futex") => has(&["futex"]),
        ("RwLock", "state") => has(&["state", "writer_notify"]),
        ("Condvar", "inner") => has(&["inner"]),
        ("Flag", "failed") => has(&["failed"]),
        _ => false,
    }
}

/// The name of a type without its arguments.
pub(super) fn outer_name(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

/// Is this a type of Rust's standard library that stands for what is in it?
fn is_rust_wrapper(name: &str) -> bool {
    let outer = outer_name(name);
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
