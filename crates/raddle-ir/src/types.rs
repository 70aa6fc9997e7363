//! Types, interned, and their layout in memory.

use crate::ids::TypeId;
use rustc_hash::FxHashMap;
use std::fmt;

/// Floating-point formats. Storage sizes: 2, 2, 4, 8, 16 (12 on i386), 16, 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatKind {
    Half,
    BFloat,
    Float,
    Double,
    X86Fp80,
    Fp128,
    PpcFp128,
}

/// An interned type. Equal types have equal [`TypeId`]s, except that a named struct is its own type (it may be
/// recursive through nothing but pointers, which are opaque, so its body is always finite).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Void,
    /// Width in bits, 1..=128 (wider ones parse and are unsupported when an execution reaches them).
    Int(u32),
    Float(FloatKind),
    /// The one pointer type; address spaces are ignored.
    Ptr,
    Array {
        element: TypeId,
        len: u64,
    },
    Vector {
        element: TypeId,
        len: u32,
        scalable: bool,
    },
    Struct {
        /// The name without `%`, for named structs.
        name: Option<Box<str>>,
        fields: Box<[TypeId]>,
        packed: bool,
    },
    /// A named struct without body.
    Opaque {
        name: Box<str>,
    },
    Function {
        ret: TypeId,
        params: Box<[TypeId]>,
        varargs: bool,
    },
    Label,
    Metadata,
    Token,
    /// `x86_amx`, `target(...)` and the like: only ever an error when an execution reaches one.
    Other(Box<str>),
}

/// What of the module's `target datalayout` matters here: we support little-endian targets of 64 bits, and i386, so it is the
/// size of pointers and the alignment rules only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// Size and alignment of pointers in bytes: 8, or 4 in the data model ILP32.
    pub pointer_size: u64,
    /// ABI alignment of `i64` in bytes.
    pub i64_align: u64,
    /// ABI alignment of `i128` in bytes: 16 since LLVM 18 on x86-64, 8 before.
    pub i128_align: u64,
    /// ABI alignment of `double` in bytes.
    pub f64_align: u64,
    /// ABI alignment of `x86_fp80` in bytes.
    pub f80_align: u64,
}

impl Default for DataLayout {
    fn default() -> Self {
        Self {
            pointer_size: 8,
            i64_align: 8,
            i128_align: 16,
            f64_align: 8,
            f80_align: 16,
        }
    }
}

impl DataLayout {
    /// Are pointers, `long` and `size_t` of four bytes?
    #[must_use]
    pub fn is_ilp32(&self) -> bool {
        self.pointer_size == 4
    }

    /// Width of pointers in bits.
    #[must_use]
    pub fn pointer_bits(&self) -> u32 {
        if self.is_ilp32() { 32 } else { 64 }
    }
}

/// All types of a module.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    types: Vec<Type>,
    interned: FxHashMap<Type, TypeId>,
    pub layout: DataLayout,
}

/// A type whose size nobody knows was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsizedType(pub TypeId);

impl TypeTable {
    /// Interns `ty`.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.interned.get(&ty) {
            return id;
        }
        let id = TypeId::from_index(self.types.len());
        self.types.push(ty.clone());
        self.interned.insert(ty, id);
        id
    }

    /// Reserves an id for a named struct that is referred to before it is defined.
    pub fn declare_named(&mut self, name: &str) -> TypeId {
        self.intern(Type::Opaque { name: name.into() })
    }

    /// Gives a type declared by [`Self::declare_named`] its body.
    pub fn define_named(&mut self, id: TypeId, ty: Type) {
        self.types[id.index()] = ty;
    }

    #[must_use]
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.types.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Bytes that a value of this type is stored in, without tail padding (LLVM's store size).
    pub fn store_size(&self, id: TypeId) -> Result<u64, UnsizedType> {
        Ok(match self.get(id) {
            Type::Int(bits) => u64::from(*bits).div_ceil(8),
            Type::Float(FloatKind::X86Fp80) => 10,
            Type::Vector {
                element,
                len,
                scalable: false,
            } => match self.get(*element) {
                Type::Int(bits) => (u64::from(*bits) * u64::from(*len)).div_ceil(8),
                _ => self.store_size(*element)? * u64::from(*len),
            },
            _ => self.alloc_size(id)?,
        })
    }

    /// Bytes between two elements of an array of this type (LLVM's alloc size).
    pub fn alloc_size(&self, id: TypeId) -> Result<u64, UnsizedType> {
        Ok(match self.get(id) {
            Type::Int(_)
            | Type::Vector {
                scalable: false, ..
            } => {
                let align = self.align(id)?;
                self.store_size(id)?
                    .checked_next_multiple_of(align)
                    .ok_or(UnsizedType(id))?
            }
            Type::Float(kind) => match kind {
                FloatKind::Half | FloatKind::BFloat => 2,
                FloatKind::Float => 4,
                FloatKind::Double => 8,
                FloatKind::X86Fp80 => 10u64.next_multiple_of(self.layout.f80_align),
                FloatKind::Fp128 | FloatKind::PpcFp128 => 16,
            },
            Type::Ptr => self.layout.pointer_size,
            Type::Array { element, len } => self
                .alloc_size(*element)?
                .checked_mul(*len)
                .ok_or(UnsizedType(id))?,
            Type::Struct { .. } => self.struct_layout(id)?.size,
            _ => return Err(UnsizedType(id)),
        })
    }

    /// ABI alignment in bytes.
    pub fn align(&self, id: TypeId) -> Result<u64, UnsizedType> {
        Ok(match self.get(id) {
            Type::Int(bits) => match bits {
                0..=8 => 1,
                9..=16 => 2,
                17..=32 => 4,
                33..=64 => self.layout.i64_align,
                _ => self.layout.i128_align,
            },
            Type::Float(FloatKind::Double) => self.layout.f64_align,
            Type::Float(FloatKind::X86Fp80) => self.layout.f80_align,
            Type::Float(_) | Type::Ptr => self.alloc_size(id)?,
            Type::Array { element, .. } => self.align(*element)?,
            Type::Vector {
                scalable: false, ..
            } => self.store_size(id)?.next_power_of_two().max(1),
            Type::Struct { fields, packed, .. } => {
                if *packed {
                    1
                } else {
                    let mut align = 1;
                    for &field in fields {
                        align = align.max(self.align(field)?);
                    }
                    align
                }
            }
            _ => return Err(UnsizedType(id)),
        })
    }

    /// Offsets of the fields, size and alignment of a struct.
    ///
    /// # Panics
    /// If `id` is not a struct type.
    pub fn struct_layout(&self, id: TypeId) -> Result<StructLayout, UnsizedType> {
        let Type::Struct { fields, packed, .. } = self.get(id) else {
            panic!(
                "struct_layout of a type that is no struct: {:?}",
                self.get(id)
            )
        };
        let mut offsets = Vec::with_capacity(fields.len());
        let mut size = 0u64;
        for &field in fields {
            if !packed {
                size = size
                    .checked_next_multiple_of(self.align(field)?)
                    .ok_or(UnsizedType(id))?;
            }
            offsets.push(size);
            size = size
                .checked_add(self.alloc_size(field)?)
                .ok_or(UnsizedType(id))?;
        }
        let align = self.align(id)?;
        Ok(StructLayout {
            offsets,
            size: size
                .checked_next_multiple_of(align)
                .ok_or(UnsizedType(id))?,
            align,
        })
    }
}

impl TypeTable {
    /// A type in LLVM's notation, for messages. Named structs print their name only.
    #[must_use]
    pub fn display(&self, id: TypeId) -> TypeDisplay<'_> {
        TypeDisplay { types: self, id }
    }
}

/// See [`TypeTable::display`].
#[derive(Clone, Copy, Debug)]
pub struct TypeDisplay<'a> {
    types: &'a TypeTable,
    id: TypeId,
}

impl TypeDisplay<'_> {
    fn list(&self, f: &mut fmt::Formatter<'_>, ids: &[TypeId]) -> fmt::Result {
        for (i, &id) in ids.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{}", self.types.display(id))?;
        }
        Ok(())
    }
}

impl fmt::Display for TypeDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.types.get(self.id) {
            Type::Void => f.write_str("void"),
            Type::Int(bits) => write!(f, "i{bits}"),
            Type::Float(kind) => f.write_str(match kind {
                FloatKind::Half => "half",
                FloatKind::BFloat => "bfloat",
                FloatKind::Float => "float",
                FloatKind::Double => "double",
                FloatKind::X86Fp80 => "x86_fp80",
                FloatKind::Fp128 => "fp128",
                FloatKind::PpcFp128 => "ppc_fp128",
            }),
            Type::Ptr => f.write_str("ptr"),
            Type::Array { element, len } => {
                write!(f, "[{len} x {}]", self.types.display(*element))
            }
            Type::Vector {
                element,
                len,
                scalable,
            } => {
                let scale = if *scalable { "vscale x " } else { "" };
                write!(f, "<{scale}{len} x {}>", self.types.display(*element))
            }
            Type::Struct {
                name: Some(name), ..
            }
            | Type::Opaque { name } => write!(f, "%{name}"),
            Type::Struct { fields, packed, .. } => {
                f.write_str(if *packed { "<{ " } else { "{ " })?;
                self.list(f, fields)?;
                f.write_str(if *packed { " }>" } else { " }" })
            }
            Type::Function {
                ret,
                params,
                varargs,
            } => {
                write!(f, "{} (", self.types.display(*ret))?;
                self.list(f, params)?;
                f.write_str(match (varargs, params.is_empty()) {
                    (true, true) => "...)",
                    (true, false) => ", ...)",
                    (false, _) => ")",
                })
            }
            Type::Label => f.write_str("label"),
            Type::Metadata => f.write_str("metadata"),
            Type::Token => f.write_str("token"),
            Type::Other(name) => f.write_str(name),
        }
    }
}

/// Where the fields of a struct lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructLayout {
    pub offsets: Vec<u64>,
    pub size: u64,
    pub align: u64,
}
