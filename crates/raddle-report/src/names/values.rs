//! Values, as the source would write them.

use super::parts::{Bits, dotted};
use super::{Names, demangled, is_string, shortened};
use crate::number::Number;
use raddle_ir::debug::{SourceType, SourceTypeId};
use raddle_program::op::sign_extend;
use raddle_program::{LocId, Meaning, ObjectId, Tables, Value};

/// A number is taken for an address no further from an object than this: two `int` that are copied at once may look like one.
const BESIDE: i64 = 1 << 16;
/// A pointer that is further from its object than this is no pointer to it.
const ASTRAY: i64 = 1 << 29;

impl Names<'_> {
    /// A value of a location, in the notation of its type. Several fields at once have a value each: `{1, 0}`.
    #[must_use]
    pub fn value(&self, loc: LocId, value: Value) -> String {
        let size = self.tables.loc_info(loc).size;
        match self.fields_at(loc).as_slice() {
            [] => {}
            [one] => return self.field(*one, value),
            several => {
                let fields: Vec<String> = several
                    .iter()
                    .map(|&bits| self.field(bits, value))
                    .collect();
                return format!("{{{}}}", fields.join(", "));
            }
        }
        match self.leaf(loc) {
            Some(ty) => self.typed(ty, value, u32::from(size) * 8),
            None if self.is_text_at(loc) => {
                quoted(&value.to_le_bytes()[..usize::from(size.min(8))])
            }
            None => self.untyped(value, size),
        }
    }

    /// The fields that are accessed at once at a location, if they are not exactly one.
    fn fields_at(&self, loc: LocId) -> Vec<Bits> {
        let info = self.tables.loc_info(loc);
        let part = self.part_of(info.object, info.offset, u64::from(info.size));
        part.map_or(Vec::new(), |(_, part)| part.fields)
    }

    fn field(&self, bits: Bits, value: Value) -> String {
        let value = extract(bits, value);
        match self.source_type(bits.ty) {
            Some(ty @ (SourceType::Scalar { .. } | SourceType::Enum { .. })) => {
                self.typed(ty, value, bits.len)
            }
            Some(SourceType::Pointer { to }) if bits.len == self.pointer_bits() => {
                self.pointer_to(self.wide(value, bits.len), *to)
            }
            _ => self.untyped(value, bits.len.div_ceil(8) as u8),
        }
    }

    /// A value of so many bits in the notation of a type.
    fn typed(&self, ty: &SourceType, value: Value, bits: u32) -> String {
        match ty {
            SourceType::Pointer { to } => self.pointer_to(self.wide(value, bits), *to),
            SourceType::Scalar { name, .. } if matches!(&**name, "_Bool" | "bool") => match value {
                0 => "false".to_owned(),
                1 => "true".to_owned(),
                other => other.to_string(),
            },
            SourceType::Scalar { name, .. } if &**name == "char" && bits == 8 => character(value),
            SourceType::Enum { signed, values, .. } => {
                let number = match signed {
                    true => sign_extend_bits(value, bits),
                    false => value.cast_signed(),
                };
                match values.iter().find(|(_, value)| *value == number) {
                    Some((name, _)) => name.to_string(),
                    None => number.to_string(),
                }
            }
            SourceType::Scalar { name, .. } if &**name == "float" => {
                Number::Single(f32::from_bits(value as u32)).to_string()
            }
            SourceType::Scalar { name, .. } if &**name == "double" => {
                Number::Double(f64::from_bits(value)).to_string()
            }
            SourceType::Scalar { signed: true, .. } => sign_extend_bits(value, bits).to_string(),
            SourceType::Scalar { .. } => self.unsigned(value),
            SourceType::Array { .. } | SourceType::Record { .. } | SourceType::Bits { .. } => {
                self.untyped(value, bits.div_ceil(8) as u8)
            }
        }
    }

    /// Are these bytes several characters?
    fn is_text_at(&self, loc: LocId) -> bool {
        let info = self.tables.loc_info(loc);
        info.size > 1
            && self
                .part_of(info.object, info.offset, u64::from(info.size))
                .is_some_and(|(_, part)| !part.exact && self.is_text(part.ty))
    }

    /// A value as a number, by its type: what scripts get.
    #[must_use]
    pub fn number(&self, loc: LocId, value: Value) -> serde_json::Value {
        let mut bits = u32::from(self.tables.loc_info(loc).size) * 8;
        let mut value = value;
        let mut ty = self.leaf(loc);
        if let [one] = self.fields_at(loc)[..] {
            (value, bits) = (extract(one, value), one.len);
            ty = self.source_type(one.ty);
        }
        let signed = match ty {
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
            sign_extend_bits(value, bits).into()
        } else {
            value.into()
        }
    }

    pub(crate) fn untyped(&self, value: Value, size: u8) -> String {
        const SMALL: i64 = -0x1_0000;
        if u32::from(size) * 8 == self.pointer_bits() {
            let address = self.wide(value, u32::from(size) * 8);
            if self.is_address(address) {
                return self.pointer(address);
            }
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

    fn pointer_bits(&self) -> u32 {
        if self.tables.is_ilp32() { 32 } else { 64 }
    }

    /// The address that a value of so many bits in memory is.
    pub(super) fn wide(&self, value: Value, bits: u32) -> u64 {
        match u32::try_from(value) {
            Ok(number) if bits == 32 && self.tables.is_ilp32() => self.tables.widen(number),
            _ => value,
        }
    }

    fn is_address(&self, value: u64) -> bool {
        self.object_near(value, BESIDE).is_some() || Tables::function_at(value).is_some()
    }

    /// The object that an address lies in, or no further from it than that. Any other number whose upper half happens to be
    /// that of an object is no address of it.
    fn object_near(&self, address: u64, distance: i64) -> Option<(ObjectId, i64)> {
        let (object, offset) = self.tables.resolve(address)?;
        let size = i64::try_from(self.tables.object_info(object).size).ok()?;
        (-distance..=size.saturating_add(distance))
            .contains(&offset)
            .then_some((object, offset))
    }

    pub(crate) fn pointer(&self, address: u64) -> String {
        self.pointer_to(address, None)
    }

    /// An address in a pointer to `target`, which tells `&pool[0]` from `&pool` and `&pool[0].value`.
    fn pointer_to(&self, address: u64, target: Option<SourceTypeId>) -> String {
        if address == 0 {
            return "null".to_owned();
        }
        match (
            self.program.meaning(address),
            self.object_near(address, ASTRAY),
        ) {
            (Some(Meaning::Function(name)), _) => shortened(demangled(&name)),
            (Some(Meaning::Text(text)), Some((object, _)))
                if is_string(&self.tables.object_info(object).name) =>
            {
                quoted(&text)
            }
            (_, Some((object, offset))) => shortened(match self.pointee(object, offset, target) {
                Some(path) => format!("&{}{path}", self.object(object)),
                None if offset == 0 => format!("&{}", self.object(object)),
                None if self.type_of(object).is_none() => {
                    format!("&{}{offset:+}", self.object(object))
                }
                None => format!("&{}", self.place(object, offset, 1)),
            }),
            (_, None) => format!("{address:#x}"),
        }
    }

    /// An element that an array does not have: `[4]` of four is just behind it, `[-1]` before.
    fn outside(&self, object: ObjectId, ty: SourceTypeId, offset: i64) -> Option<String> {
        let (element, len) = match self.source_type(ty)? {
            SourceType::Array { element, len } => (*element, *len),
            _ if self.heap.contains_key(&object) => (
                ty,
                self.tables.object_info(object).size / self.size(ty)?.max(1),
            ),
            _ => return None,
        };
        let size = i64::try_from(self.size(element)?.max(1)).ok()?;
        let index = offset.checked_div_euclid(size)?;
        let is_outside = u64::try_from(index).map_or(true, |index| index >= len);
        (is_outside && len > 0 && offset % size == 0).then(|| format!("[{index}]"))
    }

    /// The path to the part at `offset` that is of type `target`; or, if there is none, to the largest part there.
    fn pointee(
        &self,
        object: ObjectId,
        offset: i64,
        target: Option<SourceTypeId>,
    ) -> Option<String> {
        let ty = self.type_of(object)?;
        if let Some(path) = self.outside(object, ty, offset) {
            return Some(path);
        }
        let offset = u64::try_from(offset).ok()?;
        let mut found = None;
        let (mut path, mut rest) = self.element_of(object, ty, offset)?;
        let mut ty = ty;
        if let Some(stored) = self.stored_at(object, offset, 1) {
            path.clone_from(&stored.path);
            (ty, rest) = (stored.ty, offset - stored.base);
        }
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
                    let Some((name, start, inner)) = self.field_at(fields, rest) else {
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

fn extract(bits: Bits, value: Value) -> Value {
    let value = value.checked_shr(bits.shift).unwrap_or(0);
    match bits.len {
        64.. => value,
        len => value & ((1 << len) - 1),
    }
}

fn sign_extend_bits(value: Value, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (value << unused).cast_signed() >> unused
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
