//! Names of bytes, as the source would write them: `x`, `array[3]`, `stack.items[1].next`.

use crate::ids::{LocId, ObjectId};
use crate::tables::{ObjectKind, Tables};
use raddle_ir::DebugInfo;
use raddle_ir::debug::{SourceType, SourceTypeId};

/// Types nested deeper than this are not written out.
const MAX_NESTING: u32 = 32;

impl Tables {
    /// The name of a location.
    #[must_use]
    pub fn describe(&self, loc: LocId) -> String {
        let info = self.loc_info(loc);
        if info.offset == u64::MAX {
            // The cell that says whether the object is alive.
            return self.object_name(info.object);
        }
        self.describe_bytes(info.object, info.offset as i64, u64::from(info.size))
    }

    /// The name of `size` bytes of an object; of a synchronisation object if `size` is 0.
    #[must_use]
    pub fn describe_bytes(&self, object: ObjectId, offset: i64, size: u64) -> String {
        let info = self.object_info(object);
        let mut name = self.object_name(object);
        let path = match (u64::try_from(offset), info.source_type) {
            (Ok(offset), Some(ty)) => path(&self.debug, ty, offset, size, 0),
            _ => None,
        };
        match path {
            Some(path) => name.push_str(&path),
            None if offset != 0 => name.push_str(&format!("{offset:+}")),
            None => {}
        }
        name
    }

    /// The name of an object.
    #[must_use]
    pub fn object_name(&self, object: ObjectId) -> String {
        /// Address numbers are the thread's number and its counter.
        const COUNTER_BITS: u32 = 20;
        let info = self.object_info(object);
        if info.kind != ObjectKind::Heap {
            return info.name.to_string();
        }
        let counter = info.address_number & ((1 << COUNTER_BITS) - 1);
        match info.thread {
            Some(thread) if thread.0 != 0 => format!("heap#{}.{counter}", thread.0),
            _ => format!("heap#{counter}"),
        }
    }

    /// What an address points to: `&x`, `&array[3]`, `NULL`, a function, or just a number.
    #[must_use]
    pub fn describe_address(&self, address: u64) -> String {
        if address == 0 {
            return "NULL".to_owned();
        }
        if let Some(function) = Self::function_at(address) {
            return format!("function#{function}");
        }
        match self.resolve(address) {
            Some((object, offset)) => format!("&{}", self.describe_bytes(object, offset, 1)),
            None => format!("{address:#x}"),
        }
    }
}

fn size_of(debug: &DebugInfo, ty: SourceTypeId, depth: u32) -> u64 {
    match debug.types.get(ty.index()) {
        Some(SourceType::Scalar { size, .. } | SourceType::Record { size, .. }) => *size,
        Some(SourceType::Pointer { .. }) => 8,
        Some(SourceType::Array { element, len }) if depth < MAX_NESTING => {
            size_of(debug, *element, depth + 1).saturating_mul(*len)
        }
        _ => 0,
    }
}

/// The way from the start of a type to some bytes of it: empty for all of it; none if they are no part of it.
fn path(debug: &DebugInfo, ty: SourceTypeId, offset: u64, size: u64, depth: u32) -> Option<String> {
    let source = debug
        .types
        .get(ty.index())
        .filter(|_| depth < MAX_NESTING)?;
    match source {
        SourceType::Scalar { .. } | SourceType::Pointer { .. } => (offset == 0).then(String::new),
        SourceType::Array { element, len } => {
            let step = size_of(debug, *element, 0);
            if step == 0 || size > step {
                return (offset == 0).then(String::new);
            }
            let index = offset / step;
            // Arrays without a length end a struct, or were only declared.
            if *len > 0 && index >= *len {
                return None;
            }
            let rest = path(debug, *element, offset % step, size, depth + 1)?;
            Some(format!("[{index}]{rest}"))
        }
        SourceType::Record { fields, .. } => {
            if offset == 0 && size == 0 && is_library_object(fields) {
                return Some(String::new());
            }
            let inside = fields.iter().filter(|(_, start, ty)| {
                let end = start + size_of(debug, *ty, 0);
                *start <= offset && offset + size.max(1) <= end
            });
            // Of the members of a union, the one that the access fits best.
            let best = inside
                .filter_map(|(name, start, ty)| {
                    let rest = path(debug, *ty, offset - start, size, depth + 1)?;
                    Some((name, size_of(debug, *ty, 0), rest))
                })
                .min_by_key(|(_, size, _)| *size);
            match best {
                Some((name, _, rest)) if name.is_empty() => Some(rest),
                Some((name, _, rest)) => Some(format!(".{name}{rest}")),
                None => (offset == 0).then(String::new),
            }
        }
    }
}

/// Is this the inside of a mutex and its like, which nobody wants to see?
fn is_library_object(fields: &[(Box<str>, u64, SourceTypeId)]) -> bool {
    fields
        .iter()
        .any(|(name, _, _)| matches!(&**name, "__size" | "__data" | "__align"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SrcId;
    use crate::tables::NewObject;
    use std::rc::Rc;

    fn types() -> DebugInfo {
        let id = SourceTypeId::from_index;
        let int = SourceType::Scalar {
            name: "int".into(),
            size: 4,
            signed: true,
        };
        let item = SourceType::Record {
            name: "item".into(),
            size: 16,
            fields: vec![("value".into(), 0, id(0)), ("next".into(), 8, id(2))],
        };
        let items = SourceType::Array {
            element: id(1),
            len: 3,
        };
        let stack = SourceType::Record {
            name: "stack".into(),
            size: 56,
            fields: vec![("count".into(), 0, id(0)), ("items".into(), 8, id(3))],
        };
        DebugInfo {
            locs: Vec::new(),
            types: vec![int, item, SourceType::Pointer { to: None }, items, stack],
        }
    }

    #[test]
    fn bytes_are_named_by_their_types() {
        let mut tables = Tables::new("main");
        tables.debug = Rc::new(types());
        let new = |name: &str, size, ty| NewObject {
            kind: ObjectKind::Global,
            size,
            align: 8,
            name: name.into(),
            at: SrcId::NOWHERE,
            source_type: ty,
            init: None,
        };
        let typed = Some(SourceTypeId(4));
        let stack = tables.global(0, new("stack", 56, typed)).unwrap();
        let plain = tables.global(1, new("x", 8, None)).unwrap();
        let describe = |object, offset, size| tables.describe_bytes(object, offset, size);
        assert_eq!(describe(stack, 0, 4), "stack.count");
        assert_eq!(describe(stack, 8, 4), "stack.items[0].value");
        assert_eq!(describe(stack, 32, 8), "stack.items[1].next");
        assert_eq!(describe(stack, 4, 2), "stack+4");
        assert_eq!(describe(stack, -4, 4), "stack-4");
        assert_eq!(describe(plain, 0, 4), "x");
        assert_eq!(describe(plain, 4, 4), "x+4");
        let address = tables.address(stack, 32);
        assert_eq!(tables.describe_address(address), "&stack.items[1].next");
        assert_eq!(tables.describe_address(0), "NULL");
        assert_eq!(tables.describe_address(17), "0x11");
    }
}
