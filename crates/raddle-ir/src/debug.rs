//! Source positions and variable names, from `-g` metadata.

use crate::ids::DebugLocId;

/// A source position, with the call it was inlined at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DebugLoc {
    /// Path as the compiler wrote it, joined with its directory where it is relative.
    pub file: Box<str>,
    pub line: u32,
    pub column: u32,
    /// Name of the source function the position lies in.
    pub function: Option<Box<str>>,
    pub inlined_at: Option<DebugLocId>,
}

/// A source variable. The type is kept as far as names of fields and elements need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugVariable {
    pub name: Box<str>,
    pub ty: Option<SourceTypeId>,
    /// Set for the variables that came with a parameter.
    pub is_parameter: bool,
    /// The value is the variable's address (`declare`) rather than its contents.
    pub is_address: bool,
}

crate::define_id!(
    /// A source type in [`DebugInfo`].
    SourceTypeId,
    "srctype"
);

/// A source type, as far as naming a byte range in it needs: `stack.items[1].next`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceType {
    /// Scalars, and everything we do not look into. Size in bytes.
    Scalar {
        name: Box<str>,
        size: u64,
        signed: bool,
    },
    /// The names of its values; the others are plain integers.
    Enum {
        size: u64,
        signed: bool,
        values: Vec<(Box<str>, i64)>,
    },
    Pointer {
        to: Option<SourceTypeId>,
    },
    Array {
        element: SourceTypeId,
        len: u64,
    },
    /// The type of a bit-field, which shares bytes with its neighbours: `len` bits of a value of type `of`, from bit
    /// `first` (0 to 7) of the byte that the field begins in.
    Bits {
        of: SourceTypeId,
        first: u8,
        len: u8,
    },
    /// Structs, classes and unions: field name, byte offset, type.
    Record {
        name: Box<str>,
        size: u64,
        fields: Vec<(Box<str>, u64, SourceTypeId)>,
    },
}

/// Everything kept of the debug metadata. Empty for modules compiled without `-g`.
#[derive(Clone, Debug, Default)]
pub struct DebugInfo {
    pub locs: Vec<DebugLoc>,
    pub types: Vec<SourceType>,
}

impl DebugInfo {
    #[must_use]
    pub fn loc(&self, id: DebugLocId) -> &DebugLoc {
        &self.locs[id.index()]
    }

    #[must_use]
    pub fn source_type(&self, id: SourceTypeId) -> &SourceType {
        &self.types[id.index()]
    }

    /// Bytes of a type; none for ids that nobody gave, and where they are beyond counting.
    #[must_use]
    pub fn size_of(&self, id: SourceTypeId) -> Option<u64> {
        // Parsing sees to it that types do not contain themselves.
        Some(match self.types.get(id.index())? {
            SourceType::Scalar { size, .. }
            | SourceType::Enum { size, .. }
            | SourceType::Record { size, .. } => *size,
            SourceType::Pointer { .. } => 8,
            SourceType::Bits { first, len, .. } => {
                (u64::from(*first) + u64::from(*len)).div_ceil(8)
            }
            SourceType::Array { element, len } => self.size_of(*element)?.checked_mul(*len)?,
        })
    }
}
