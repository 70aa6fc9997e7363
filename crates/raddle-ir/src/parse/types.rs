//! Types. The typed pointers of older compilers (`i32*`, `void (i8*)*`) become [`Type::Ptr`] here.

use super::error::{PResult, ParseErrorKind, fail};
use super::lexer::{Token, unescape_name};
use super::parser::Parser;
use crate::ids::TypeId;
use crate::module::Module;
use crate::types::{FloatKind, Type, TypeTable};
use rustc_hash::FxHashMap;

/// Vectors longer than this are refused: a splat of one would be a way to exhaust memory.
const MAX_VECTOR: u64 = 1 << 16;
/// LLVM's own limit.
const MAX_INT_BITS: u32 = 1 << 23;
/// Nesting of named types in each other.
const MAX_TYPE_DEPTH: u32 = 256;
/// Scalars a type may consist of, an array counting as one element: layout is computed by walking the type.
const MAX_TYPE_FIELDS: u64 = 1 << 20;

/// Types that occur so often that looking them up by hash would be a waste.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommonTypes {
    pub(crate) void: TypeId,
    pub(crate) ptr: TypeId,
    pub(crate) i1: TypeId,
    pub(crate) i8: TypeId,
    pub(crate) i16: TypeId,
    pub(crate) i32: TypeId,
    pub(crate) i64: TypeId,
    pub(crate) metadata: TypeId,
    pub(crate) label: TypeId,
    pub(crate) token: TypeId,
}

impl CommonTypes {
    /// For a module that was not parsed, where nothing reads them.
    pub(crate) fn unset() -> Self {
        let id = TypeId(0);
        Self {
            void: id,
            ptr: id,
            i1: id,
            i8: id,
            i16: id,
            i32: id,
            i64: id,
            metadata: id,
            label: id,
            token: id,
        }
    }

    pub(crate) fn new(types: &mut TypeTable) -> Self {
        Self {
            void: types.intern(Type::Void),
            ptr: types.intern(Type::Ptr),
            i1: types.intern(Type::Int(1)),
            i8: types.intern(Type::Int(8)),
            i16: types.intern(Type::Int(16)),
            i32: types.intern(Type::Int(32)),
            i64: types.intern(Type::Int(64)),
            metadata: types.intern(Type::Metadata),
            label: types.intern(Type::Label),
            token: types.intern(Type::Token),
        }
    }
}

/// The named types of a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeNames {
    ids: FxHashMap<Box<str>, TypeId>,
    /// Types mentioned before they were defined, with the offset of the first mention.
    pending: FxHashMap<TypeId, usize>,
    /// Where each was defined.
    defined: FxHashMap<TypeId, usize>,
    /// Set once all definitions were read: what is unknown now is an error.
    sealed: bool,
}

pub(super) fn is_type_word(word: &str) -> bool {
    let bytes = word.as_bytes();
    match bytes.first() {
        Some(b'i') => bytes.len() > 1 && bytes[1..].iter().all(u8::is_ascii_digit),
        Some(b'v') => word == "void",
        Some(b'p') => word == "ptr" || word == "ppc_fp128",
        Some(b'x') => matches!(word, "x86_fp80" | "x86_mmx" | "x86_amx"),
        Some(b'f') => matches!(word, "float" | "fp128"),
        Some(b'd') => word == "double",
        Some(b'h') => word == "half",
        Some(b'b') => word == "bfloat",
        Some(b'l') => word == "label",
        Some(b'm') => word == "metadata",
        Some(b't') => word == "token" || word == "target",
        _ => false,
    }
}

impl Parser<'_, '_> {
    #[inline]
    pub(super) fn common(&self) -> CommonTypes {
        self.module.parsed.common
    }

    /// Whether a type begins here.
    pub(super) fn at_type(&self) -> bool {
        match self.token {
            Token::Word(word) => is_type_word(word),
            Token::Local(_) | Token::LocalNumber(_) => true,
            Token::Punct(c) => matches!(c, b'{' | b'[' | b'<'),
            _ => false,
        }
    }

    /// Any type, `void` and function types included.
    pub(super) fn parse_type(&mut self) -> PResult<TypeId> {
        self.enter()?;
        let mut ty = self.simple_type()?;
        loop {
            match self.token {
                Token::Punct(b'*') => {
                    ty = self.common().ptr;
                    self.bump()?;
                }
                Token::Punct(b'(') => ty = self.function_type(ty)?,
                Token::Word("addrspace") => {
                    self.bump()?;
                    self.skip_group()?;
                    self.expect_punct(b'*')?;
                    ty = self.common().ptr;
                }
                _ => break,
            }
        }
        self.leave();
        Ok(ty)
    }

    /// A type that a value can have.
    pub(super) fn value_type(&mut self) -> PResult<TypeId> {
        let at = self.at;
        let ty = self.parse_type()?;
        if matches!(self.type_of(ty), Type::Void | Type::Function { .. }) {
            return fail(at, ParseErrorKind::Invalid("no value has this type"));
        }
        Ok(ty)
    }

    /// A pointer type, erased or not.
    pub(super) fn pointer_type(&mut self) -> PResult<TypeId> {
        let at = self.at;
        let ty = self.parse_type()?;
        if ty != self.common().ptr {
            return fail(
                at,
                ParseErrorKind::Expected {
                    what: "a pointer type",
                    found: self.type_name(ty),
                },
            );
        }
        Ok(ty)
    }

    pub(super) fn int_type(&mut self, bits: u32) -> TypeId {
        let common = self.common();
        match bits {
            1 => common.i1,
            8 => common.i8,
            16 => common.i16,
            32 => common.i32,
            64 => common.i64,
            _ => self.module.types.intern(Type::Int(bits)),
        }
    }

    fn simple_type(&mut self) -> PResult<TypeId> {
        match self.token {
            Token::Word(word) => self.word_type(word),
            Token::Local(raw) => {
                let id = self.named_type(&unescape_name(raw))?;
                self.bump()?;
                Ok(id)
            }
            Token::LocalNumber(n) => {
                let id = self.named_type(&n.to_string())?;
                self.bump()?;
                Ok(id)
            }
            Token::Punct(b'[') => self.array_type(),
            Token::Punct(b'{') => self.struct_type(false, None),
            Token::Punct(b'<') => {
                self.bump()?;
                if self.is_punct(b'{') {
                    let ty = self.struct_type(true, None)?;
                    self.expect_punct(b'>')?;
                    Ok(ty)
                } else {
                    self.vector_type()
                }
            }
            _ => self.expected("a type"),
        }
    }

    fn word_type(&mut self, word: &str) -> PResult<TypeId> {
        let common = self.common();
        let ty = match word {
            "ptr" => {
                self.bump()?;
                if self.accept_word("addrspace")? {
                    self.skip_group()?;
                }
                return Ok(common.ptr);
            }
            "void" => common.void,
            "label" => common.label,
            "metadata" => common.metadata,
            "token" => common.token,
            "half" => self.float_type(FloatKind::Half),
            "bfloat" => self.float_type(FloatKind::BFloat),
            "float" => self.float_type(FloatKind::Float),
            "double" => self.float_type(FloatKind::Double),
            "x86_fp80" => self.float_type(FloatKind::X86Fp80),
            "fp128" => self.float_type(FloatKind::Fp128),
            "ppc_fp128" => self.float_type(FloatKind::PpcFp128),
            "x86_mmx" | "x86_amx" => self.module.types.intern(Type::Other(word.into())),
            "target" => {
                self.bump()?;
                let start = self.at;
                if !self.is_punct(b'(') {
                    return self.expected("'('");
                }
                self.skip_group()?;
                let end = self.at.min(self.text().len());
                let arguments = self.text().get(start..end).unwrap_or_default().trim_end();
                let name = format!("target{arguments}");
                return Ok(self.module.types.intern(Type::Other(name.into())));
            }
            _ if is_type_word(word) => {
                let Some(bits) = word[1..]
                    .parse()
                    .ok()
                    .filter(|bits| (1..=MAX_INT_BITS).contains(bits))
                else {
                    return self.fail(ParseErrorKind::BadNumber(word.into()));
                };
                self.int_type(bits)
            }
            _ => return self.expected("a type"),
        };
        self.bump()?;
        Ok(ty)
    }

    fn float_type(&mut self, kind: FloatKind) -> TypeId {
        self.module.types.intern(Type::Float(kind))
    }

    /// The element type of an array or struct.
    fn element_type(&mut self) -> PResult<TypeId> {
        let at = self.at;
        let ty = self.parse_type()?;
        match self.type_of(ty) {
            Type::Void | Type::Function { .. } | Type::Label | Type::Metadata | Type::Token => {
                fail(at, ParseErrorKind::Invalid("no aggregate holds this type"))
            }
            _ => Ok(ty),
        }
    }

    fn array_type(&mut self) -> PResult<TypeId> {
        self.expect_punct(b'[')?;
        let len = self.expect_u64()?;
        self.expect_word("x")?;
        let element = self.element_type()?;
        self.expect_punct(b']')?;
        Ok(self.module.types.intern(Type::Array { element, len }))
    }

    /// Behind the `<`.
    fn vector_type(&mut self) -> PResult<TypeId> {
        let scalable = self.accept_word("vscale")?;
        if scalable {
            self.expect_word("x")?;
        }
        let at = self.at;
        let len = self.expect_u64()?;
        if len == 0 || len > MAX_VECTOR {
            return fail(at, ParseErrorKind::BadNumber(len.to_string().into()));
        }
        self.expect_word("x")?;
        let at = self.at;
        let element = self.parse_type()?;
        match self.type_of(element) {
            Type::Int(_) | Type::Float(_) | Type::Ptr | Type::Other(_) => {}
            _ => return fail(at, ParseErrorKind::Invalid("no vector holds this type")),
        }
        self.expect_punct(b'>')?;
        Ok(self.vector_of(element, u32::try_from(len).unwrap_or(u32::MAX), scalable))
    }

    pub(super) fn vector_of(&mut self, element: TypeId, len: u32, scalable: bool) -> TypeId {
        self.module.types.intern(Type::Vector {
            element,
            len,
            scalable,
        })
    }

    fn struct_body(&mut self) -> PResult<Box<[TypeId]>> {
        self.expect_punct(b'{')?;
        let mut fields = Vec::new();
        if !self.is_punct(b'}') {
            loop {
                fields.push(self.element_type()?);
                if !self.accept_punct(b',')? {
                    break;
                }
            }
        }
        self.expect_punct(b'}')?;
        Ok(fields.into())
    }

    /// At the `{`. Named structs are not interned but given to the id that their name has.
    fn struct_type(&mut self, packed: bool, named: Option<(Box<str>, TypeId)>) -> PResult<TypeId> {
        let fields = self.struct_body()?;
        let (name, id) = named.map_or((None, None), |(name, id)| (Some(name), Some(id)));
        let ty = Type::Struct {
            name,
            fields,
            packed,
        };
        Ok(if let Some(id) = id {
            self.module.types.define_named(id, ty);
            id
        } else {
            self.module.types.intern(ty)
        })
    }

    /// At the `(` behind the return type.
    fn function_type(&mut self, ret: TypeId) -> PResult<TypeId> {
        if matches!(
            self.type_of(ret),
            Type::Function { .. } | Type::Label | Type::Metadata
        ) {
            return self.invalid("no function returns this type");
        }
        self.bump()?;
        let mut params = Vec::new();
        let mut varargs = false;
        while !self.is_punct(b')') {
            if self.accept_word("...")? {
                varargs = true;
                break;
            }
            params.push(self.value_type()?);
            if !self.accept_punct(b',')? {
                break;
            }
        }
        self.expect_punct(b')')?;
        Ok(self.module.types.intern(Type::Function {
            ret,
            params: params.into(),
            varargs,
        }))
    }

    fn named_type(&mut self, name: &str) -> PResult<TypeId> {
        let names = &mut self.module.parsed.type_names;
        if let Some(&id) = names.ids.get(name) {
            return Ok(id);
        }
        if names.sealed {
            return self.fail(ParseErrorKind::Undefined {
                what: "type",
                name: format!("%{name}").into(),
            });
        }
        let id = self.module.types.declare_named(name);
        names.ids.insert(name.into(), id);
        names.pending.insert(id, self.at);
        Ok(id)
    }

    /// `%name = type ...`, at the `=`.
    pub(super) fn type_definition(&mut self, name: &str, at: usize) -> PResult<()> {
        let mentioned = self.module.parsed.type_names.ids.contains_key(name);
        let id = self.named_type(name)?;
        let names = &mut self.module.parsed.type_names;
        if names.pending.remove(&id).is_none() {
            return fail(
                at,
                ParseErrorKind::Redefined {
                    what: "type",
                    name: format!("%{name}").into(),
                },
            );
        }
        names.defined.insert(id, at);
        self.expect_punct(b'=')?;
        self.expect_word("type")?;
        if self.accept_word("opaque")? {
            return Ok(());
        }
        let start = self.at;
        let packed = self.accept_punct(b'<')?;
        if self.is_punct(b'{') {
            self.struct_type(packed, Some((name.into(), id)))?;
            if packed {
                self.expect_punct(b'>')?;
            }
            return Ok(());
        }
        if mentioned {
            return fail(
                start,
                ParseErrorKind::Invalid(
                    "a name for a type that is no struct must come before its uses",
                ),
            );
        }
        // `%t = type i32` is another name for a type rather than a type.
        self.jump(start)?;
        let ty = self.parse_type()?;
        self.module.parsed.type_names.ids.insert(name.into(), ty);
        Ok(())
    }
}

/// Refuses undefined types, and named structs whose layout would not end. To be called when all definitions are read.
pub(super) fn seal_types(module: &mut Module) -> PResult<()> {
    let names = &mut module.parsed.type_names;
    names.sealed = true;
    if let Some((&id, &at)) = names.pending.iter().min_by_key(|&(_, &at)| at) {
        let name = module.types.display(id).to_string().into();
        return fail(at, ParseErrorKind::Undefined { what: "type", name });
    }
    let mut extents: Vec<Option<Extent>> = vec![None; module.types.len()];
    for index in 0..module.types.len() {
        let id = TypeId::from_index(index);
        if let Err((id, kind)) = measure(&module.types, id, &mut extents) {
            let at = module.parsed.type_names.defined.get(&id).copied();
            return fail(at.unwrap_or(0), kind);
        }
    }
    Ok(())
}

/// How deep a type is nested and how many scalars it consists of.
#[derive(Clone, Copy)]
struct Extent {
    depth: u32,
    fields: u64,
    /// Set while the type is on the stack: meeting it again means that it contains itself.
    open: bool,
}

/// Measures a type and all it contains, with a stack of its own: the nesting is the input's choice.
fn measure(
    types: &TypeTable,
    root: TypeId,
    extents: &mut [Option<Extent>],
) -> Result<(), (TypeId, ParseErrorKind)> {
    let mut stack = vec![root];
    while let Some(&id) = stack.last() {
        let parts: &[TypeId] = match types.get(id) {
            Type::Struct { fields, .. } => fields,
            Type::Array { element, .. } | Type::Vector { element, .. } => {
                std::slice::from_ref(element)
            }
            _ => &[],
        };
        match extents[id.index()] {
            Some(extent) if !extent.open => {
                stack.pop();
            }
            Some(_) => {
                let mut total = Extent {
                    depth: 1,
                    fields: 1,
                    open: false,
                };
                for part in parts.iter().filter_map(|part| extents[part.index()]) {
                    total.depth = total.depth.max(part.depth + 1);
                    total.fields = total.fields.saturating_add(part.fields);
                }
                if total.depth > MAX_TYPE_DEPTH || total.fields > MAX_TYPE_FIELDS {
                    return Err((id, ParseErrorKind::TooDeep));
                }
                extents[id.index()] = Some(total);
                stack.pop();
            }
            None => {
                extents[id.index()] = Some(Extent {
                    depth: 0,
                    fields: 0,
                    open: true,
                });
                for &part in parts {
                    match extents[part.index()] {
                        None => stack.push(part),
                        Some(extent) if extent.open => {
                            let name = types.display(part).to_string();
                            let name = name.trim_start_matches('%').into();
                            return Err((part, ParseErrorKind::RecursiveType(name)));
                        }
                        Some(_) => {}
                    }
                }
            }
        }
    }
    Ok(())
}
