//! Things that are kept in raw bytes: containers and shared pointers keep what they hold in arrays of characters, so that they
//! can make it and destroy it when they want to. The source type of such an array tells nothing; the code that accesses it does.

use super::Names;
use super::blocks::Use;
use super::parts::dotted;
use raddle_ir::debug::{SourceType, SourceTypeId};
use raddle_program::ObjectId;
use std::cmp::Reverse;

/// Something in an array of characters.
pub(super) struct Stored {
    /// Where it begins in the object.
    pub(super) base: u64,
    pub(super) ty: SourceTypeId,
    /// The path to it, as the source would say it.
    pub(super) path: String,
    /// False if the code says different things about these bytes.
    is_certain: bool,
}

/// An array of characters in an object: the path to it, where it begins, and how long it is.
struct Raw {
    path: String,
    start: u64,
    len: u64,
}

impl Names<'_> {
    /// What all code that accesses an object takes its raw bytes for.
    pub(super) fn find_stored(&self, object: ObjectId, used: &Use) -> Vec<Stored> {
        let mut wholes: Vec<(u64, SourceTypeId)> = used.wholes.iter().copied().collect();
        // A whole contains its parts.
        wholes.sort_by_key(|&(base, ty)| (Reverse(self.size(ty)), base));
        let mut found: Vec<Stored> = Vec::new();
        for (base, ty) in wholes {
            let size = self.size(ty).unwrap_or(0);
            let Some(raw) = self.raw_in(object, base, size) else {
                continue;
            };
            let around = found
                .iter_mut()
                .filter(|other| self.overlaps(other, base, size));
            let mut is_part = false;
            for other in around {
                is_part = true;
                let inside = base.checked_sub(other.base);
                other.is_certain &=
                    inside.is_some_and(|inside| self.contains(other.ty, inside, ty));
            }
            if !is_part {
                found.push(Stored {
                    base,
                    ty,
                    path: raw.path_to(base, size),
                    is_certain: true,
                });
            }
        }
        for &(offset, size) in &used.accesses {
            let size = u64::from(size);
            for stored in &mut found {
                if self.overlaps(stored, offset, size) {
                    let inside = offset.checked_sub(stored.base);
                    stored.is_certain &=
                        inside.is_some_and(|inside| self.fits(stored.ty, inside, size));
                }
            }
        }
        found.retain(|stored| stored.is_certain);
        found
    }

    fn overlaps(&self, stored: &Stored, offset: u64, size: u64) -> bool {
        let end = stored
            .base
            .saturating_add(self.size(stored.ty).unwrap_or(0));
        stored.base < offset.saturating_add(size) && offset < end
    }

    /// What is kept in the raw bytes of an object at `offset`, if all the bytes asked for are part of it.
    pub(super) fn stored_at(&self, object: ObjectId, offset: u64, size: u64) -> Option<&Stored> {
        self.stored.get(&object)?.iter().find(|stored| {
            let end = stored
                .base
                .saturating_add(self.size(stored.ty).unwrap_or(0));
            stored.base <= offset && offset.saturating_add(size) <= end
        })
    }

    /// The array of characters that so many bytes of an object lie in.
    fn raw_in(&self, object: ObjectId, offset: u64, size: u64) -> Option<Raw> {
        let ty = self.type_of(object)?;
        let (path, rest) = self.element_of(object, ty, offset)?;
        let mut raw = self.raw_bytes(ty, rest, size)?;
        raw.path.insert_str(0, &path);
        raw.start += offset - rest;
        Some(raw)
    }

    fn raw_bytes(&self, ty: SourceTypeId, offset: u64, size: u64) -> Option<Raw> {
        match self.source_type(ty)? {
            SourceType::Array { element, len } if self.is_byte(*element) => {
                (offset.checked_add(size)? <= *len).then(|| Raw {
                    path: String::new(),
                    start: 0,
                    len: *len,
                })
            }
            SourceType::Array { element, len } => {
                let own = self.size(*element)?.max(1);
                let index = offset / own;
                let mut raw = self.raw_bytes(*element, offset % own, size)?;
                raw.path.insert_str(0, &format!("[{index}]"));
                raw.start += index * own;
                (index < *len).then_some(raw)
            }
            SourceType::Record { fields, .. } => {
                // Which member of a union is meant is not known; one without data only says how the others are aligned.
                let mut at = fields.iter().filter(|(_, start, ty)| {
                    let own = self.size(*ty).unwrap_or(0);
                    *start <= offset && offset - start < own && !self.is_empty(*ty)
                });
                let (name, start, inner) = at.next()?;
                if at.next().is_some() {
                    return None;
                }
                let mut raw = self.raw_bytes(*inner, offset - start, size)?;
                raw.path.insert_str(0, &dotted(name));
                raw.start += start;
                Some(raw)
            }
            _ => None,
        }
    }

    /// A class without data takes a byte all the same.
    fn is_empty(&self, ty: SourceTypeId) -> bool {
        match self.source_type(ty) {
            Some(SourceType::Record { fields, .. }) => {
                fields.iter().all(|&(.., inner)| self.is_empty(inner))
            }
            _ => false,
        }
    }

    /// Is it a type that bytes of anything are kept in?
    pub(super) fn is_byte(&self, ty: SourceTypeId) -> bool {
        match self.source_type(ty) {
            Some(SourceType::Scalar { name, size: 1, .. }) => {
                matches!(&**name, "char" | "unsigned char")
            }
            Some(SourceType::Enum {
                size: 1, values, ..
            }) => values.is_empty(),
            _ => false,
        }
    }
}

impl Raw {
    /// Where the array has room for several of this size, the path says which one.
    fn path_to(self, base: u64, size: u64) -> String {
        let before = base.saturating_sub(self.start);
        if size > 0 && self.len >= 2 * size && before.is_multiple_of(size) {
            format!("{}[{}]", self.path, before / size)
        } else {
            self.path
        }
    }
}
