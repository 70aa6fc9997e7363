//! Instructions on memory.

use super::body::BodyParser;
use super::constants::ScalarClass;
use super::error::{PResult, ParseErrorKind, fail};
use super::lexer::Token;
use super::words;
use crate::constant::Constant;
use crate::ids::TypeId;
use crate::inst::{AtomicOrdering, InstKind, Operand, SyncScope};
use crate::types::Type;

impl BodyParser<'_, '_> {
    /// The alignment stated, or else that of the type.
    fn align_or_abi(&self, stated: Option<u64>, ty: TypeId) -> u64 {
        stated.unwrap_or_else(|| self.p.module.types.align(ty).unwrap_or(1))
    }

    pub(super) fn alloca(&mut self) -> PResult<(InstKind, TypeId)> {
        while matches!(self.p.token, Token::Word("inalloca" | "swifterror")) {
            self.p.bump()?;
        }
        let ty = self.p.value_type()?;
        let mut count_ty = self.p.common().i32;
        let mut count = Operand::Const(self.p.intern(Constant::Int(count_ty, 1)));
        if self.p.is_punct(b',') {
            let comma = self.p.at;
            self.p.bump()?;
            if self.p.at_type() {
                (count_ty, count) = self.typed_value()?;
                if !matches!(self.p.type_of(count_ty), Type::Int(_)) {
                    return self
                        .p
                        .invalid_behind("the number of elements must be an integer");
                }
            } else {
                self.p.jump(comma)?;
            }
        }
        let align = self.suffix()?;
        let kind = InstKind::Alloca {
            ty,
            count_ty,
            count,
            align: self.align_or_abi(align, ty),
        };
        Ok((kind, self.p.common().ptr))
    }

    pub(super) fn load(&mut self) -> PResult<(InstKind, TypeId)> {
        let is_atomic = self.p.accept_word("atomic")?;
        let volatile = self.p.accept_word("volatile")?;
        let ty = self.p.value_type()?;
        self.p.expect_punct(b',')?;
        let ptr = self.pointer()?;
        let atomic = self.atomicity(is_atomic)?;
        let align = self.suffix()?;
        let kind = InstKind::Load {
            ty,
            ptr,
            align: self.align_or_abi(align, ty),
            volatile,
            atomic,
        };
        Ok((kind, ty))
    }

    pub(super) fn store(&mut self) -> PResult<(InstKind, TypeId)> {
        let is_atomic = self.p.accept_word("atomic")?;
        let volatile = self.p.accept_word("volatile")?;
        let (ty, value) = self.typed_value()?;
        self.p.expect_punct(b',')?;
        let ptr = self.pointer()?;
        let atomic = self.atomicity(is_atomic)?;
        let align = self.suffix()?;
        let kind = InstKind::Store {
            ty,
            value,
            ptr,
            align: self.align_or_abi(align, ty),
            volatile,
            atomic,
        };
        Ok((kind, self.p.common().void))
    }

    fn atomicity(&mut self, is_atomic: bool) -> PResult<Option<(AtomicOrdering, SyncScope)>> {
        if !is_atomic {
            return Ok(None);
        }
        let scope = self.sync_scope()?;
        Ok(Some((self.ordering()?, scope)))
    }

    /// Scopes other than a single thread (`"agent"` of GPUs) are as wide as the system here, which is sound for
    /// programs of one host.
    fn sync_scope(&mut self) -> PResult<SyncScope> {
        if !self.p.accept_word("syncscope")? {
            return Ok(SyncScope::System);
        }
        self.p.expect_punct(b'(')?;
        let name = self.p.expect_string()?;
        self.p.expect_punct(b')')?;
        Ok(if name == "singlethread" {
            SyncScope::SingleThread
        } else {
            SyncScope::System
        })
    }

    fn ordering(&mut self) -> PResult<AtomicOrdering> {
        if let Token::Word(word) = self.p.token
            && let Some(ordering) = words::ordering(word)
        {
            self.p.bump()?;
            return Ok(ordering);
        }
        self.p.expected("a memory ordering")
    }

    pub(super) fn fence(&mut self) -> PResult<(InstKind, TypeId)> {
        let scope = self.sync_scope()?;
        let ordering = self.ordering()?;
        let kind = InstKind::Fence { ordering, scope };
        Ok((kind, self.p.common().void))
    }

    pub(super) fn cmpxchg(&mut self) -> PResult<(InstKind, TypeId)> {
        let weak = self.p.accept_word("weak")?;
        let volatile = self.p.accept_word("volatile")?;
        let ptr = self.pointer()?;
        self.p.expect_punct(b',')?;
        let (ty, expected) = self.typed_value()?;
        if !matches!(self.p.type_of(ty), Type::Int(_) | Type::Ptr) {
            return self
                .p
                .invalid_behind("cmpxchg needs an integer or a pointer");
        }
        self.p.expect_punct(b',')?;
        let new = self.value_of_type(ty)?;
        let scope = self.sync_scope()?;
        let success = self.ordering()?;
        let failure = self.ordering()?;
        let align = self.suffix()?;
        let kind = InstKind::CmpXchg {
            ty,
            ptr,
            expected,
            new,
            success,
            failure,
            scope,
            weak,
            volatile,
            align: self.align_or_abi(align, ty),
        };
        let i1 = self.p.common().i1;
        let result = self.p.module.types.intern(Type::Struct {
            name: None,
            fields: Box::new([ty, i1]),
            packed: false,
        });
        Ok((kind, result))
    }

    pub(super) fn atomicrmw(&mut self) -> PResult<(InstKind, TypeId)> {
        let volatile = self.p.accept_word("volatile")?;
        let Token::Word(word) = self.p.token else {
            return self.p.expected("an operation");
        };
        let Some(op) = words::rmw_op(word) else {
            let what = format!("atomicrmw {word}");
            return self.p.fail(ParseErrorKind::Unsupported(what.into()));
        };
        self.p.bump()?;
        let ptr = self.pointer()?;
        self.p.expect_punct(b',')?;
        let (ty, value) = self.typed_value()?;
        if self.p.scalar_class(ty) == ScalarClass::Other {
            return self.p.invalid_behind("atomicrmw needs a scalar");
        }
        let scope = self.sync_scope()?;
        let ordering = self.ordering()?;
        let align = self.suffix()?;
        let kind = InstKind::AtomicRmw {
            op,
            ty,
            ptr,
            value,
            ordering,
            scope,
            volatile,
            align: self.align_or_abi(align, ty),
        };
        Ok((kind, ty))
    }

    pub(super) fn gep(&mut self) -> PResult<(InstKind, TypeId)> {
        let mut inbounds = false;
        while let Token::Word(word) = self.p.token {
            if self.p.at_type() {
                break;
            }
            inbounds |= word == "inbounds";
            self.p.bump()?;
            if word == "inrange" {
                self.p.skip_bracketed()?;
            }
        }
        let source = self.p.value_type()?;
        self.p.expect_punct(b',')?;
        let at = self.p.at;
        let (base_ty, base) = self.typed_value()?;
        if self.p.scalar_class(base_ty) != ScalarClass::Ptr {
            return fail(at, ParseErrorKind::Invalid("getelementptr needs a pointer"));
        }
        let mut result = base_ty;
        let mut part = source;
        let mut indices = Vec::new();
        while self.p.is_punct(b',') {
            let comma = self.p.at;
            self.p.bump()?;
            if matches!(self.p.token, Token::MetaName(_)) {
                self.p.jump(comma)?; // Left to the suffix.
                break;
            }
            let at = self.p.at;
            let (ty, index) = self.typed_value()?;
            if self.p.scalar_class(ty) != ScalarClass::Int {
                return fail(at, ParseErrorKind::Invalid("an index must be an integer"));
            }
            if !indices.is_empty() {
                let Some(next) = self.gep_step(part, index) else {
                    return fail(
                        at,
                        ParseErrorKind::Invalid("getelementptr index into nothing"),
                    );
                };
                part = next;
            }
            // One vector among the operands makes the result a vector of pointers.
            if let Type::Vector { len, scalable, .. } = *self.p.type_of(ty)
                && result == self.p.common().ptr
            {
                let ptr = self.p.common().ptr;
                result = self.p.vector_of(ptr, len, scalable);
            }
            indices.push((ty, index));
        }
        let kind = InstKind::Gep {
            source,
            base,
            indices,
            inbounds,
        };
        Ok((kind, result))
    }

    fn gep_step(&self, ty: TypeId, index: Operand) -> Option<TypeId> {
        let number = match index {
            Operand::Const(id) => self.const_int(id),
            Operand::Value(_) => None,
        };
        self.p.step_into(ty, number)
    }

    /// The number a constant is, or all lanes of it are.
    fn const_int(&self, id: crate::ids::ConstId) -> Option<u128> {
        match self.p.module.constant(id) {
            Constant::Int(_, number) => Some(*number),
            Constant::Zero(_) => Some(0),
            Constant::Aggregate(_, lanes) => match self.p.module.constant(*lanes.first()?) {
                Constant::Int(_, number) => Some(*number),
                _ => None,
            },
            _ => None,
        }
    }
}
