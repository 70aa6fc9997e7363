//! Values, as the source would write them.

use super::{Names, demangled, dotted, is_string, shortened};
use crate::number::Number;
use raddle_ir::debug::{SourceType, SourceTypeId};
use raddle_program::op::sign_extend;
use raddle_program::{LocId, Meaning, ObjectId, Tables, Value};

impl Names<'_> {
    /// A value of a location, in the notation of its type.
    #[must_use]
    pub fn value(&self, loc: LocId, value: Value) -> String {
        let size = self.tables.loc_info(loc).size;
        match self.leaf(loc) {
            Some(SourceType::Pointer { to }) => self.pointer_to(value, *to),
            Some(SourceType::Scalar { name, .. }) if matches!(&**name, "_Bool" | "bool") => {
                match value {
                    0 => "false".to_owned(),
                    1 => "true".to_owned(),
                    other => other.to_string(),
                }
            }
            Some(SourceType::Scalar { name, .. }) if &**name == "char" => character(value),
            Some(SourceType::Enum { signed, values, .. }) => {
                let number = match signed {
                    true => sign_extend(value, size),
                    false => value.cast_signed(),
                };
                match values.iter().find(|(_, value)| *value == number) {
                    Some((name, _)) => name.to_string(),
                    None => number.to_string(),
                }
            }
            Some(SourceType::Scalar { name, .. }) if &**name == "float" => {
                Number::Single(f32::from_bits(value as u32)).to_string()
            }
            Some(SourceType::Scalar { name, .. }) if &**name == "double" => {
                Number::Double(f64::from_bits(value)).to_string()
            }
            Some(SourceType::Scalar { signed, .. }) => {
                if *signed {
                    sign_extend(value, size).to_string()
                } else {
                    self.unsigned(value)
                }
            }
            _ if self.is_text_at(loc) => quoted(&value.to_le_bytes()[..usize::from(size.min(8))]),
            _ => self.untyped(value, size),
        }
    }

    /// Are these bytes several characters?
    fn is_text_at(&self, loc: LocId) -> bool {
        let info = self.tables.loc_info(loc);
        info.size > 1
            && self
                .path_in(info.object, info.offset, u64::from(info.size))
                .is_some_and(|part| !part.exact && self.is_text(part.ty))
    }

    /// A value as a number, by its type: what scripts get.
    #[must_use]
    pub fn number(&self, loc: LocId, value: Value) -> serde_json::Value {
        let size = self.tables.loc_info(loc).size;
        let signed = match self.leaf(loc) {
            Some(SourceType::Scalar { name, .. }) if &**name == "float" => {
                return Number::Single(f32::from_bits(value as u32)).to_json();
            }
            Some(SourceType::Scalar { name, .. }) if &**name == "double" => {
                return Number::Double(f64::from_bits(value)).to_json();
            }
            Some(SourceType::Scalar { signed, .. } | SourceType::Enum { signed, .. }) => *signed,
            _ => false,
        };
        if signed {
            sign_extend(value, size).into()
        } else {
            value.into()
        }
    }

    pub(crate) fn untyped(&self, value: Value, size: u8) -> String {
        const SMALL: i64 = -0x1_0000;
        if size == 8 && self.is_address(value) {
            return self.pointer(value);
        }
        match sign_extend(value, size.max(1)) {
            signed @ SMALL..0 => signed.to_string(),
            _ => self.unsigned(value),
        }
    }

    fn unsigned(&self, value: Value) -> String {
        if value < 1 << 32 {
            value.to_string()
        } else if self.is_address(value) {
            self.pointer(value)
        } else {
            format!("{value:#x}")
        }
    }

    fn is_address(&self, value: u64) -> bool {
        self.tables.resolve(value).is_some() || Tables::function_at(value).is_some()
    }

    pub(crate) fn pointer(&self, address: u64) -> String {
        self.pointer_to(address, None)
    }

    /// An address in a pointer to `target`, which tells `&pool[0]` from `&pool` and `&pool[0].value`.
    fn pointer_to(&self, address: u64, target: Option<SourceTypeId>) -> String {
        if address == 0 {
            return "null".to_owned();
        }
        match (self.program.meaning(address), self.tables.resolve(address)) {
            (Some(Meaning::Function(name)), _) => shortened(demangled(&name)),
            (Some(Meaning::Text(text)), Some((object, _)))
                if is_string(&self.tables.object_info(object).name) =>
            {
                quoted(&text)
            }
            (_, Some((object, offset))) => shortened(match self.pointee(object, offset, target) {
                Some(path) => format!("&{}{path}", self.object(object)),
                None if offset == 0 => format!("&{}", self.object(object)),
                None => format!("&{}", self.place(object, offset, 1)),
            }),
            (_, None) => format!("{address:#x}"),
        }
    }

    /// The path to the part at `offset` that is of type `target`; or, if there is none, to the largest part there.
    fn pointee(
        &self,
        object: ObjectId,
        offset: i64,
        target: Option<SourceTypeId>,
    ) -> Option<String> {
        let offset = u64::try_from(offset).ok()?;
        let ty = self.type_of(object)?;
        let mut found = None;
        let (mut path, mut rest) = self.element_of(object, ty, offset)?;
        let mut ty = ty;
        loop {
            if rest == 0 && Some(ty) == target {
                return Some(path);
            }
            if rest == 0 && found.is_none() {
                found = Some(path.clone());
            }
            match self.source_type(ty)? {
                SourceType::Array { element, len } => {
                    let size = self.size(*element)?.max(1);
                    if rest / size >= *len {
                        return found;
                    }
                    path += &format!("[{}]", rest / size);
                    (ty, rest) = (*element, rest % size);
                }
                SourceType::Record { fields, .. } => {
                    let field = fields.iter().rev().find(|(_, start, _)| *start <= rest);
                    let Some((name, start, inner)) = field else {
                        return found;
                    };
                    path += &dotted(name);
                    (ty, rest) = (*inner, rest - start);
                }
                _ => return found,
            }
        }
    }
}

/// A string literal, or as much of it as fits in a cell.
fn quoted(text: &[u8]) -> String {
    const LONGEST: usize = 24;
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// A `char` as C writes it; what is no character of ASCII is a number.
fn character(value: Value) -> String {
    match u8::try_from(value) {
        Ok(0) => "'\\0'".to_owned(),
        Ok(byte @ (b'\n' | b'\t' | b'\r' | b' '..=b'~')) => format!("{:?}", char::from(byte)),
        _ => sign_extend(value, 1).to_string(),
    }
}
