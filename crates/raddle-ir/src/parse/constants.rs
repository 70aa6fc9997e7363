//! Constants and constant expressions.

use super::error::{PResult, ParseErrorKind, fail};
use super::lexer::{Token, unescape_bytes, unescape_name};
use super::number;
use super::parser::Parser;
use super::words;
use crate::constant::{Constant, ConstantExpr};
use crate::ids::{ConstId, TypeId};
use crate::inst::{BinaryOp, CastOp};
use crate::module::Symbol;
use crate::types::Type;

/// What arithmetic applies to a type, or to the elements of a vector type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarClass {
    Int,
    Float,
    Ptr,
    Other,
}

impl<'t> Parser<'t, '_> {
    pub(super) fn scalar_class(&self, ty: TypeId) -> ScalarClass {
        let scalar = match self.type_of(ty) {
            Type::Vector { element, .. } => self.type_of(*element),
            scalar => scalar,
        };
        match scalar {
            Type::Int(_) => ScalarClass::Int,
            Type::Float(_) => ScalarClass::Float,
            Type::Ptr => ScalarClass::Ptr,
            _ => ScalarClass::Other,
        }
    }

    /// Whether the cast makes sense between types of these classes. Widths are not compared.
    pub(super) fn check_cast(&self, op: CastOp, from: TypeId, to: TypeId) -> PResult<()> {
        use ScalarClass::{Float, Int, Ptr};
        let classes = (self.scalar_class(from), self.scalar_class(to));
        let valid = match op {
            CastOp::Trunc | CastOp::ZExt | CastOp::SExt => classes == (Int, Int),
            CastOp::FpTrunc | CastOp::FpExt => classes == (Float, Float),
            CastOp::FpToUi | CastOp::FpToSi => classes == (Float, Int),
            CastOp::UiToFp | CastOp::SiToFp => classes == (Int, Float),
            CastOp::PtrToInt => classes == (Ptr, Int),
            CastOp::IntToPtr => classes == (Int, Ptr),
            CastOp::AddrSpaceCast => classes == (Ptr, Ptr),
            CastOp::Bitcast => (classes.0 == Ptr) == (classes.1 == Ptr),
        };
        let lanes = |ty| match self.type_of(ty) {
            Type::Vector { len, .. } => Some(*len),
            _ => None,
        };
        if valid && (op == CastOp::Bitcast || lanes(from) == lanes(to)) {
            return Ok(());
        }
        self.invalid_behind("this cast cannot convert between these types")
    }

    pub(super) fn intern(&mut self, constant: Constant) -> ConstId {
        self.module.intern_constant(constant)
    }

    /// A type and a constant of it.
    pub(super) fn typed_constant(&mut self) -> PResult<(TypeId, ConstId)> {
        let ty = self.value_type()?;
        Ok((ty, self.constant(ty)?))
    }

    /// A constant of the type given.
    pub(super) fn constant(&mut self, ty: TypeId) -> PResult<ConstId> {
        self.enter()?;
        let id = match self.token {
            Token::Number(digits) => self.number(ty, digits)?,
            Token::Global(raw) => {
                self.require_ptr(ty)?;
                let id = self.symbol(&unescape_name(raw))?;
                self.bump()?;
                id
            }
            Token::Word(word) => self.word_constant(ty, word)?,
            Token::CStr(raw) => self.string(ty, raw)?,
            Token::Punct(b'{') => self.struct_constant(ty)?,
            Token::Punct(b'[') => self.array_constant(ty)?,
            Token::Punct(b'<') => {
                self.bump()?;
                let id = if self.is_punct(b'{') {
                    self.struct_constant(ty)?
                } else {
                    self.vector_constant(ty)?
                };
                self.expect_punct(b'>')?;
                id
            }
            _ => return self.expected("a value"),
        };
        self.leave();
        Ok(id)
    }

    fn require_ptr(&self, ty: TypeId) -> PResult<()> {
        if ty == self.common().ptr {
            return Ok(());
        }
        self.fail(ParseErrorKind::Expected {
            what: "a pointer type before this value",
            found: self.type_name(ty),
        })
    }

    fn number(&mut self, ty: TypeId, text: &str) -> PResult<ConstId> {
        let bits = match self.type_of(ty) {
            Type::Int(bits) => number::int_bits(text, *bits).map(|value| Constant::Int(ty, value)),
            Type::Float(kind) => {
                number::float_bits(text, *kind).map(|value| Constant::Float(ty, value))
            }
            _ => None,
        };
        let Some(constant) = bits else {
            return self.fail(ParseErrorKind::BadNumber(text.into()));
        };
        self.bump()?;
        Ok(self.intern(constant))
    }

    fn word_constant(&mut self, ty: TypeId, word: &'t str) -> PResult<ConstId> {
        let simple = match word {
            "null" => {
                self.require_ptr(ty)?;
                Constant::Null
            }
            "true" | "false" if ty == self.common().i1 => {
                Constant::Int(ty, u128::from(word == "true"))
            }
            "undef" => Constant::Undef(ty),
            "poison" => Constant::Poison(ty),
            "zeroinitializer" => self.zero(ty),
            "none" if ty == self.common().token => Constant::NoneToken,
            "asm" => return self.inline_asm(ty),
            "splat" => return self.splat(ty),
            "blockaddress" => return self.block_address(ty),
            "dso_local_equivalent" | "no_cfi" => {
                self.bump()?;
                return self.constant(ty);
            }
            "ptrauth" => return self.signed_pointer(ty),
            "getelementptr" => return self.gep_expression(ty),
            "icmp" | "fcmp" => return self.compare_expression(ty, word),
            "select" => return self.select_expression(ty),
            _ => {
                if let Some(op) = words::cast_op(word) {
                    return self.cast_expression(ty, op);
                }
                if let Some(op) = words::binary_op(word) {
                    return self.binary_expression(ty, op);
                }
                let special = match self.type_of(ty) {
                    Type::Int(bits) => {
                        number::hex_int_bits(word, *bits).map(|bits| Constant::Int(ty, bits))
                    }
                    Type::Float(kind) => {
                        number::float_word_bits(word, *kind).map(|bits| Constant::Float(ty, bits))
                    }
                    _ => None,
                };
                match special {
                    Some(constant) => constant,
                    None if words::is_value_word(word) => {
                        let what = format!("constant expression '{word}'");
                        return self.fail(ParseErrorKind::Unsupported(what.into()));
                    }
                    None => return self.expected("a value"),
                }
            }
        };
        self.bump()?;
        Ok(self.intern(simple))
    }

    /// Scalars have one representation of zero only.
    fn zero(&self, ty: TypeId) -> Constant {
        match self.type_of(ty) {
            Type::Int(_) => Constant::Int(ty, 0),
            Type::Float(_) => Constant::Float(ty, 0),
            Type::Ptr => Constant::Null,
            _ => Constant::Zero(ty),
        }
    }

    fn inline_asm(&mut self, ty: TypeId) -> PResult<ConstId> {
        self.require_ptr(ty)?;
        self.bump()?;
        let mut side_effect = false;
        while let Token::Word(word) = self.token {
            side_effect |= word == "sideeffect";
            self.bump()?;
        }
        let text = String::from_utf8_lossy(&unescape_bytes(self.expect_string()?)).into();
        self.expect_punct(b',')?;
        let constraints = String::from_utf8_lossy(&unescape_bytes(self.expect_string()?)).into();
        Ok(self.intern(Constant::InlineAsm {
            text,
            constraints,
            side_effect,
        }))
    }

    fn splat(&mut self, ty: TypeId) -> PResult<ConstId> {
        let &Type::Vector { element, len, .. } = self.type_of(ty) else {
            return self.invalid("only a vector can be a splat");
        };
        self.bump()?;
        self.expect_punct(b'(')?;
        let value = self.element(element)?;
        self.expect_punct(b')')?;
        let elements = vec![value; len as usize].into();
        Ok(self.intern(Constant::Aggregate(ty, elements)))
    }

    fn block_address(&mut self, ty: TypeId) -> PResult<ConstId> {
        self.require_ptr(ty)?;
        self.bump()?;
        self.expect_punct(b'(')?;
        let Token::Global(raw) = self.token else {
            return self.expected("a function");
        };
        let target = self.symbol(&unescape_name(raw))?;
        let Constant::Function(function) = *self.module.constant(target) else {
            return self.expected("a function");
        };
        self.bump()?;
        self.expect_punct(b',')?;
        let label: Box<str> = match self.token {
            Token::Local(raw) => unescape_name(raw).into(),
            Token::LocalNumber(n) => n.to_string().into(),
            _ => return self.expected("a block"),
        };
        self.bump()?;
        self.expect_punct(b')')?;
        Ok(self.intern(Constant::BlockAddress(function, label)))
    }

    /// `ptrauth (ptr @f, i32 0, ...)`: the pointer, signed. The signature is not modelled.
    fn signed_pointer(&mut self, ty: TypeId) -> PResult<ConstId> {
        self.require_ptr(ty)?;
        self.bump()?;
        self.expect_punct(b'(')?;
        let (_, pointer) = self.typed_constant()?;
        while self.accept_punct(b',')? {
            self.typed_constant()?;
        }
        self.expect_punct(b')')?;
        Ok(pointer)
    }

    // Aggregates.

    /// A typed constant that must have the type given.
    fn element(&mut self, expected: TypeId) -> PResult<ConstId> {
        let at = self.at;
        let (ty, value) = self.typed_constant()?;
        if ty != expected {
            return fail(
                at,
                ParseErrorKind::TypeMismatch {
                    name: "element".into(),
                    defined: self.type_name(expected),
                    used: self.type_name(ty),
                },
            );
        }
        Ok(value)
    }

    fn struct_constant(&mut self, ty: TypeId) -> PResult<ConstId> {
        let field = |this: &Self, index: usize| match this.type_of(ty) {
            Type::Struct { fields, .. } => fields.get(index).copied(),
            _ => None,
        };
        self.expect_punct(b'{')?;
        let mut elements = Vec::new();
        if !self.is_punct(b'}') {
            loop {
                let Some(expected) = field(self, elements.len()) else {
                    return self.invalid("the type has no such field");
                };
                elements.push(self.element(expected)?);
                if !self.accept_punct(b',')? {
                    break;
                }
            }
        }
        if !matches!(self.type_of(ty), Type::Struct { .. }) || field(self, elements.len()).is_some()
        {
            return self.invalid("fields do not match the struct's type");
        }
        self.expect_punct(b'}')?;
        Ok(self.intern(Constant::Aggregate(ty, elements.into())))
    }

    fn array_constant(&mut self, ty: TypeId) -> PResult<ConstId> {
        let &Type::Array { element, len } = self.type_of(ty) else {
            return self.invalid("this constant is an array but its type is not");
        };
        self.expect_punct(b'[')?;
        let elements = self.elements(element, b']')?;
        if elements.len() as u64 != len {
            return self.invalid("the array's length is not that of its type");
        }
        self.expect_punct(b']')?;
        if element == self.common().i8
            && let Some(bytes) = self.as_bytes(&elements)
        {
            return Ok(self.intern(Constant::Bytes(ty, bytes)));
        }
        Ok(self.intern(Constant::Aggregate(ty, elements.into())))
    }

    fn as_bytes(&self, elements: &[ConstId]) -> Option<Box<[u8]>> {
        elements
            .iter()
            .map(|&id| match self.module.constant(id) {
                Constant::Int(_, value) => u8::try_from(*value).ok(),
                _ => None,
            })
            .collect()
    }

    /// Behind the `<`; the `>` is left to the caller.
    fn vector_constant(&mut self, ty: TypeId) -> PResult<ConstId> {
        let &Type::Vector { element, len, .. } = self.type_of(ty) else {
            return self.invalid("this constant is a vector but its type is not");
        };
        let elements = self.elements(element, b'>')?;
        if elements.len() as u64 != u64::from(len) {
            return self.invalid("the vector's length is not that of its type");
        }
        Ok(self.intern(Constant::Aggregate(ty, elements.into())))
    }

    fn elements(&mut self, element: TypeId, close: u8) -> PResult<Vec<ConstId>> {
        let mut elements = Vec::new();
        if !self.is_punct(close) {
            loop {
                elements.push(self.element(element)?);
                if !self.accept_punct(b',')? {
                    break;
                }
            }
        }
        Ok(elements)
    }

    fn string(&mut self, ty: TypeId, raw: &str) -> PResult<ConstId> {
        let bytes = unescape_bytes(raw);
        match *self.type_of(ty) {
            Type::Array { element, len }
                if element == self.common().i8 && len == bytes.len() as u64 => {}
            _ => return self.invalid("the string does not fit its type"),
        }
        self.bump()?;
        Ok(self.intern(Constant::Bytes(ty, bytes.into())))
    }

    // Symbols.

    /// The constant that `@name` stands for.
    pub(super) fn symbol(&mut self, name: &str) -> PResult<ConstId> {
        let symbol = match self.module.symbols.get(name) {
            Some(&symbol) => symbol,
            None => self.resolve_alias(name)?,
        };
        Ok(match symbol {
            Symbol::Global(id) => self.intern(Constant::Global(id)),
            Symbol::Function(id) => self.intern(Constant::Function(id)),
            Symbol::Constant(id) => id,
        })
    }

    // Constant expressions. The types of the operands stand in the text; that of the result is known already.

    fn gep_expression(&mut self, ty: TypeId) -> PResult<ConstId> {
        self.bump()?;
        self.skip_flags()?;
        self.expect_punct(b'(')?;
        let source = self.value_type()?;
        self.expect_punct(b',')?;
        let at = self.at;
        let (base_ty, base) = self.typed_constant()?;
        if self.scalar_class(base_ty) != ScalarClass::Ptr {
            return fail(at, ParseErrorKind::Invalid("getelementptr needs a pointer"));
        }
        let mut indices = Vec::new();
        while self.accept_punct(b',')? {
            // Before LLVM 19, `inrange` marked one index.
            self.accept_word("inrange")?;
            indices.push(self.typed_constant()?.1);
        }
        self.expect_punct(b')')?;
        self.check_gep_path(source, &indices)?;
        let is_zero = |&id: &ConstId| matches!(self.module.constant(id), Constant::Int(_, 0));
        if base_ty == ty && indices.iter().all(is_zero) {
            return Ok(base); // The same address: with typed pointers, merely another type.
        }
        Ok(self.intern(Constant::Expr(
            ty,
            ConstantExpr::Gep {
                source,
                base,
                indices: indices.into(),
            },
        )))
    }

    fn check_gep_path(&self, source: TypeId, indices: &[ConstId]) -> PResult<()> {
        let mut ty = source;
        for &index in indices.iter().skip(1) {
            let number = match self.module.constant(index) {
                Constant::Int(_, number) => Some(*number),
                _ => None,
            };
            ty = match self.step_into(ty, number) {
                Some(ty) => ty,
                None => return self.invalid_behind("getelementptr index into nothing"),
            };
        }
        Ok(())
    }

    /// The type of one part of an aggregate. `index` is needed for structs only.
    pub(super) fn step_into(&self, ty: TypeId, index: Option<u128>) -> Option<TypeId> {
        match self.type_of(ty) {
            Type::Array { element, .. } | Type::Vector { element, .. } => Some(*element),
            Type::Struct { fields, .. } => fields.get(usize::try_from(index?).ok()?).copied(),
            _ => None,
        }
    }

    fn cast_expression(&mut self, ty: TypeId, op: CastOp) -> PResult<ConstId> {
        self.bump()?;
        self.skip_flags()?;
        self.expect_punct(b'(')?;
        let (from, value) = self.typed_constant()?;
        self.expect_word("to")?;
        let at = self.at;
        if self.value_type()? != ty {
            return fail(
                at,
                ParseErrorKind::Invalid("the cast's type is not the one expected here"),
            );
        }
        self.expect_punct(b')')?;
        self.check_cast(op, from, ty)?;
        if from == ty && matches!(op, CastOp::Bitcast | CastOp::AddrSpaceCast) {
            return Ok(value); // Between pointer types, which are all one here.
        }
        Ok(self.intern(Constant::Expr(ty, ConstantExpr::Cast { op, value })))
    }

    fn binary_expression(&mut self, ty: TypeId, op: BinaryOp) -> PResult<ConstId> {
        self.bump()?;
        self.skip_flags()?;
        self.expect_punct(b'(')?;
        let lhs = self.element(ty)?;
        self.expect_punct(b',')?;
        let rhs = self.element(ty)?;
        self.expect_punct(b')')?;
        Ok(self.intern(Constant::Expr(ty, ConstantExpr::Binary { op, lhs, rhs })))
    }

    fn compare_expression(&mut self, ty: TypeId, word: &str) -> PResult<ConstId> {
        self.bump()?;
        let Token::Word(predicate) = self.token else {
            return self.expected("a predicate");
        };
        self.bump()?;
        self.expect_punct(b'(')?;
        let (operand, lhs) = self.typed_constant()?;
        self.expect_punct(b',')?;
        let rhs = self.element(operand)?;
        self.expect_punct(b')')?;
        let expr = if word == "icmp" {
            words::int_predicate(predicate).map(|predicate| ConstantExpr::ICmp {
                predicate,
                lhs,
                rhs,
            })
        } else {
            words::float_predicate(predicate).map(|predicate| ConstantExpr::FCmp {
                predicate,
                lhs,
                rhs,
            })
        };
        let Some(expr) = expr else {
            return self.invalid_behind("no such predicate");
        };
        Ok(self.intern(Constant::Expr(ty, expr)))
    }

    fn select_expression(&mut self, ty: TypeId) -> PResult<ConstId> {
        self.bump()?;
        self.expect_punct(b'(')?;
        let (_, condition) = self.typed_constant()?;
        self.expect_punct(b',')?;
        let then = self.element(ty)?;
        self.expect_punct(b',')?;
        let otherwise = self.element(ty)?;
        self.expect_punct(b')')?;
        Ok(self.intern(Constant::Expr(
            ty,
            ConstantExpr::Select {
                condition,
                then,
                otherwise,
            },
        )))
    }

    /// Passes over flags such as `inbounds`, `nuw` and `inrange(-16, 40)` in front of a `(`.
    fn skip_flags(&mut self) -> PResult<()> {
        while let Token::Word(word) = self.token {
            self.bump()?;
            if word == "inrange" {
                self.skip_group()?;
            }
        }
        Ok(())
    }

    /// Passes over a constant without looking at what it names, which may not have been read yet.
    pub(super) fn skip_constant(&mut self) -> PResult<()> {
        match self.token {
            Token::Punct(b'{' | b'[') => self.skip_group(),
            Token::Punct(b'<') => self.skip_angles(),
            Token::Number(_) | Token::CStr(_) | Token::Global(_) => self.bump(),
            Token::Word(_) => loop {
                let Token::Word(word) = self.token else {
                    return match self.token {
                        Token::Punct(b'(') => self.skip_group(),
                        Token::Global(_) => self.bump(),
                        _ => self.expected("a constant"),
                    };
                };
                self.bump()?;
                if word == "inrange" {
                    self.skip_group()?;
                } else if words::is_simple_constant(word) {
                    return Ok(());
                }
            },
            _ => self.expected("a constant"),
        }
    }

    /// `<{ ... }>` or `<i32 1, i32 2>`.
    fn skip_angles(&mut self) -> PResult<()> {
        self.enter()?;
        self.bump()?;
        loop {
            match self.token {
                Token::Punct(b'>') => break,
                Token::Punct(b'<') => {
                    self.skip_angles()?;
                    continue;
                }
                Token::Punct(b'{' | b'[' | b'(') => {
                    self.skip_group()?;
                    continue;
                }
                Token::Eof => return self.expected("'>'"),
                _ => self.bump()?,
            }
        }
        self.leave();
        self.bump()
    }
}
