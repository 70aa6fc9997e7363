//! Instructions that compute: arithmetic, comparisons, casts, aggregates, vectors.

use super::body::BodyParser;
use super::constants::ScalarClass;
use super::error::{PResult, ParseErrorKind, fail};
use super::lexer::Token;
use super::words;
use crate::constant::Constant;
use crate::ids::{ConstId, TypeId};
use crate::inst::{ArithFlags, BinaryOp, CastOp, Clause, InstKind, Operand};
use crate::types::Type;

/// An instruction and the type of its result. Absent for what leaves no instruction behind.
pub(super) type Operation = Option<(InstKind, TypeId)>;

impl BodyParser<'_, '_> {
    /// Behind the opcode. φs and terminators are read elsewhere.
    pub(super) fn operation(&mut self, word: &str, at: usize) -> PResult<Operation> {
        let (kind, ty) = match word {
            "load" => return self.load().map(Some),
            "store" => return self.store().map(Some),
            "call" => return self.call(at),
            "tail" | "musttail" | "notail" => {
                self.p.expect_word("call")?;
                return self.call(at);
            }
            "getelementptr" => self.gep()?,
            "alloca" => return self.alloca().map(Some),
            "icmp" | "fcmp" => self.compare(word)?,
            "select" => self.select()?,
            "extractvalue" => return self.extract_value().map(Some),
            "insertvalue" => return self.insert_value().map(Some),
            "cmpxchg" => return self.cmpxchg().map(Some),
            "atomicrmw" => return self.atomicrmw().map(Some),
            "fence" => self.fence()?,
            "freeze" => {
                let (ty, value) = self.typed_value()?;
                (InstKind::Freeze { ty, value }, ty)
            }
            "fneg" => {
                self.flags()?;
                let (ty, value) = self.typed_value()?;
                self.require_class(ty, ScalarClass::Float)?;
                (InstKind::FNeg { ty, value }, ty)
            }
            "landingpad" => self.landing_pad()?,
            "va_arg" => {
                let list = self.pointer()?;
                self.p.expect_punct(b',')?;
                let ty = self.p.value_type()?;
                (InstKind::VaArg { list, ty }, ty)
            }
            "extractelement" => self.extract_element()?,
            "insertelement" => self.insert_element()?,
            "shufflevector" => self.shuffle_vector()?,
            "catchpad" | "cleanuppad" => self.funclet_pad(word)?,
            _ => {
                if let Some(op) = words::binary_op(word) {
                    self.binary(op)?
                } else if let Some(op) = words::cast_op(word) {
                    self.cast(op)?
                } else {
                    return fail(
                        at,
                        ParseErrorKind::Expected {
                            what: "an instruction",
                            found: format!("'{word}'").into(),
                        },
                    );
                }
            }
        };
        self.suffix()?;
        Ok(Some((kind, ty)))
    }

    /// Flags in front of the operand's type. Those of floating point and the newest ones are dropped.
    pub(super) fn flags(&mut self) -> PResult<ArithFlags> {
        let mut flags = ArithFlags::default();
        while let Token::Word(word) = self.p.token {
            match word {
                "nuw" => flags.nuw = true,
                "nsw" => flags.nsw = true,
                "exact" => flags.exact = true,
                _ if self.p.at_type() => break,
                _ => {}
            }
            self.p.bump()?;
        }
        Ok(flags)
    }

    fn require_class(&self, ty: TypeId, class: ScalarClass) -> PResult<()> {
        if self.p.scalar_class(ty) == class {
            return Ok(());
        }
        self.p
            .invalid_behind("the instruction does not work on this type")
    }

    fn binary(&mut self, op: BinaryOp) -> PResult<(InstKind, TypeId)> {
        let flags = self.flags()?;
        let (ty, lhs) = self.typed_value()?;
        self.require_class(
            ty,
            if words::is_float_op(op) {
                ScalarClass::Float
            } else {
                ScalarClass::Int
            },
        )?;
        self.p.expect_punct(b',')?;
        let rhs = self.value(ty)?;
        let kind = InstKind::Binary {
            op,
            flags,
            ty,
            lhs,
            rhs,
        };
        Ok((kind, ty))
    }

    fn cast(&mut self, op: CastOp) -> PResult<(InstKind, TypeId)> {
        self.flags()?;
        let (from, value) = self.typed_value()?;
        self.p.expect_word("to")?;
        let to = self.p.value_type()?;
        self.p.check_cast(op, from, to)?;
        let kind = InstKind::Cast {
            op,
            from,
            to,
            value,
        };
        Ok((kind, to))
    }

    fn compare(&mut self, word: &str) -> PResult<(InstKind, TypeId)> {
        // Flags come before the predicate, and no flag is also a predicate.
        let mut int_predicate = None;
        let mut float_predicate = None;
        while int_predicate.is_none() && float_predicate.is_none() {
            let Token::Word(predicate) = self.p.token else {
                return self.p.expected("a predicate");
            };
            if word == "icmp" {
                int_predicate = words::int_predicate(predicate);
            } else {
                float_predicate = words::float_predicate(predicate);
            }
            self.p.bump()?;
        }
        let (ty, lhs) = self.typed_value()?;
        self.p.expect_punct(b',')?;
        let rhs = self.value(ty)?;
        let class = self.p.scalar_class(ty);
        let i1 = self.p.common().i1;
        let result = match *self.p.type_of(ty) {
            Type::Vector { len, scalable, .. } => self.p.vector_of(i1, len, scalable),
            _ => i1,
        };
        let kind = match (int_predicate, float_predicate, class) {
            (Some(predicate), _, ScalarClass::Int | ScalarClass::Ptr) => InstKind::ICmp {
                predicate,
                ty,
                lhs,
                rhs,
            },
            (_, Some(predicate), ScalarClass::Float) => InstKind::FCmp {
                predicate,
                ty,
                lhs,
                rhs,
            },
            _ => {
                return self
                    .p
                    .invalid_behind("values of this type cannot be compared");
            }
        };
        Ok((kind, result))
    }

    fn select(&mut self) -> PResult<(InstKind, TypeId)> {
        self.flags()?;
        let (condition_ty, condition) = self.typed_value()?;
        let is_bool = |ty: &Type| *ty == Type::Int(1);
        let valid = match self.p.type_of(condition_ty) {
            Type::Vector { element, .. } => is_bool(self.p.type_of(*element)),
            ty => is_bool(ty),
        };
        if !valid {
            return self.p.invalid_behind("the condition must be an i1");
        }
        self.p.expect_punct(b',')?;
        let (ty, then) = self.typed_value()?;
        self.p.expect_punct(b',')?;
        let otherwise = self.value_of_type(ty)?;
        let kind = InstKind::Select {
            condition_ty,
            condition,
            ty,
            then,
            otherwise,
        };
        Ok((kind, ty))
    }

    // Aggregates.

    /// `, 0, 1`: the indices, and the type of the part they lead to. Metadata may follow.
    fn indices(&mut self, aggregate: TypeId) -> PResult<(Vec<u32>, TypeId)> {
        let mut indices = Vec::new();
        let mut ty = aggregate;
        while self.p.accept_punct(b',')? {
            if matches!(self.p.token, Token::MetaName(_)) && !indices.is_empty() {
                self.attachments()?;
                break;
            }
            let at = self.p.at;
            let index = self.p.expect_u64()?;
            let in_bounds = match *self.p.type_of(ty) {
                Type::Array { len, .. } => index < len,
                Type::Struct { .. } => true,
                _ => false,
            };
            let part = self.p.step_into(ty, Some(u128::from(index)));
            let (Some(part), Ok(index), true) = (part, u32::try_from(index), in_bounds) else {
                return fail(
                    at,
                    ParseErrorKind::Invalid("the aggregate has no such element"),
                );
            };
            ty = part;
            indices.push(index);
        }
        if indices.is_empty() {
            return self.p.expected("an index");
        }
        Ok((indices, ty))
    }

    fn extract_value(&mut self) -> PResult<(InstKind, TypeId)> {
        let (aggregate_ty, aggregate) = self.typed_value()?;
        let (indices, ty) = self.indices(aggregate_ty)?;
        let kind = InstKind::ExtractValue {
            aggregate_ty,
            aggregate,
            indices,
        };
        Ok((kind, ty))
    }

    fn insert_value(&mut self) -> PResult<(InstKind, TypeId)> {
        let (aggregate_ty, aggregate) = self.typed_value()?;
        self.p.expect_punct(b',')?;
        let at = self.p.at;
        let (value_ty, value) = self.typed_value()?;
        let (indices, ty) = self.indices(aggregate_ty)?;
        if ty != value_ty {
            return fail(at, ParseErrorKind::Invalid("the element has another type"));
        }
        let kind = InstKind::InsertValue {
            aggregate_ty,
            aggregate,
            value_ty,
            value,
            indices,
        };
        Ok((kind, aggregate_ty))
    }

    // Vectors.

    /// A vector operand: its type, element type, length and whether that is scaled.
    fn vector(&mut self) -> PResult<(TypeId, Operand, TypeId, bool)> {
        let at = self.p.at;
        let (ty, value) = self.typed_value()?;
        match *self.p.type_of(ty) {
            Type::Vector {
                element, scalable, ..
            } => Ok((ty, value, element, scalable)),
            _ => fail(at, ParseErrorKind::Invalid("a vector is needed here")),
        }
    }

    fn extract_element(&mut self) -> PResult<(InstKind, TypeId)> {
        let (vector_ty, vector, element, _) = self.vector()?;
        self.p.expect_punct(b',')?;
        let (index_ty, index) = self.typed_value()?;
        self.require_class(index_ty, ScalarClass::Int)?;
        let kind = InstKind::ExtractElement {
            vector_ty,
            vector,
            index_ty,
            index,
        };
        Ok((kind, element))
    }

    fn insert_element(&mut self) -> PResult<(InstKind, TypeId)> {
        let (vector_ty, vector, element, _) = self.vector()?;
        self.p.expect_punct(b',')?;
        let value = self.value_of_type(element)?;
        self.p.expect_punct(b',')?;
        let (index_ty, index) = self.typed_value()?;
        self.require_class(index_ty, ScalarClass::Int)?;
        let kind = InstKind::InsertElement {
            vector_ty,
            vector,
            value,
            index_ty,
            index,
        };
        Ok((kind, vector_ty))
    }

    fn shuffle_vector(&mut self) -> PResult<(InstKind, TypeId)> {
        let (vector_ty, lhs, element, scalable) = self.vector()?;
        self.p.expect_punct(b',')?;
        let rhs = self.value_of_type(vector_ty)?;
        self.p.expect_punct(b',')?;
        let at = self.p.at;
        let (mask_ty, mask) = self.p.typed_constant()?;
        let Some(mask) = self.shuffle_mask(mask_ty, mask) else {
            return fail(at, ParseErrorKind::Invalid("this is no shuffle mask"));
        };
        let len = u32::try_from(mask.len()).unwrap_or(u32::MAX);
        let ty = self.p.vector_of(element, len, scalable);
        let kind = InstKind::ShuffleVector {
            vector_ty,
            lhs,
            rhs,
            mask,
        };
        Ok((kind, ty))
    }

    fn shuffle_mask(&self, ty: TypeId, mask: ConstId) -> Option<Vec<Option<u32>>> {
        let &Type::Vector { element, len, .. } = self.p.type_of(ty) else {
            return None;
        };
        if element != self.p.common().i32 {
            return None;
        }
        let module = &*self.p.module;
        match module.constant(mask) {
            Constant::Zero(_) => Some(vec![Some(0); len as usize]),
            Constant::Undef(_) | Constant::Poison(_) => Some(vec![None; len as usize]),
            Constant::Aggregate(_, lanes) => lanes
                .iter()
                .map(|&lane| match module.constant(lane) {
                    Constant::Int(_, lane) => Some(Some(u32::try_from(*lane).ok()?)),
                    Constant::Undef(_) | Constant::Poison(_) => Some(None),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }

    // Exception handling.

    fn landing_pad(&mut self) -> PResult<(InstKind, TypeId)> {
        let ty = self.p.value_type()?;
        let mut cleanup = false;
        let mut clauses = Vec::new();
        loop {
            match self.p.token {
                Token::Word("cleanup") => {
                    cleanup = true;
                    self.p.bump()?;
                }
                Token::Word("catch") => {
                    self.p.bump()?;
                    clauses.push(Clause::Catch(self.p.typed_constant()?.1));
                }
                Token::Word("filter") => {
                    self.p.bump()?;
                    clauses.push(Clause::Filter(self.p.typed_constant()?.1));
                }
                _ => {
                    let pad = InstKind::LandingPad {
                        ty,
                        cleanup,
                        clauses,
                    };
                    return Ok((pad, ty));
                }
            }
        }
    }

    /// `catchpad within %switch [...]`
    fn funclet_pad(&mut self, word: &str) -> PResult<(InstKind, TypeId)> {
        self.p.expect_word("within")?;
        let token = self.p.common().token;
        self.value(token)?;
        self.p.skip_bracketed()?;
        Ok((InstKind::Other { name: word.into() }, token))
    }
}
