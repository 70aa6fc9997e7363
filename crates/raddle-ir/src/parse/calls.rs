//! Calls, and the pseudo-calls that describe variables to a debugger.

use super::body::BodyParser;
use super::error::{PResult, ParseErrorKind, fail};
use super::instructions::Operation;
use super::lexer::Token;
use crate::constant::Constant;
use crate::ids::{TypeId, ValueId};
use crate::inst::{Call, InstKind, Operand};
use crate::types::Type;

/// An operand of type `metadata`, as far as debug intrinsics use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetaOperand {
    Value(ValueId),
    Node(u32),
    /// `!DIExpression()`: the value is the variable itself, or its address.
    EmptyExpression,
    Other,
}

/// A call as far as its closing bracket and attributes.
pub(super) struct CallParts {
    pub(super) call: Call,
    pub(super) ret: TypeId,
    metadata: Vec<MetaOperand>,
}

impl BodyParser<'_, '_> {
    pub(super) fn call(&mut self, at: usize) -> PResult<Operation> {
        let CallParts {
            call,
            ret,
            metadata,
        } = self.call_parts(at)?;
        self.suffix()?;
        if let Operand::Const(callee) = call.callee
            && let Constant::Function(id) = *self.p.module.constant(callee)
            && let Some(name) = self.p.module.function(id).name.strip_prefix("llvm.dbg.")
        {
            let name: Box<str> = name.into();
            self.describe(&name, &metadata)?;
            return Ok(None);
        }
        Ok(Some((InstKind::Call(call), ret)))
    }

    /// `[cconv] [ret attrs] type callee(args) [attrs] [bundles]`, behind `call` or `invoke`.
    pub(super) fn call_parts(&mut self, at: usize) -> PResult<CallParts> {
        self.p.skip_to_type()?;
        let stated = self.p.parse_type()?;
        let ptr = self.p.common().ptr;
        let callee = self.value(ptr)?;
        let mut call = Call {
            callee,
            fn_type: stated,
            args: Vec::new(),
            arg_types: Vec::new(),
            byval: Vec::new(),
            sret: None,
        };
        let metadata = self.arguments(&mut call)?;
        let ret = self.complete_type(&mut call, at)?;
        self.p.skip_call_attributes()?;
        if self.p.is_punct(b'[') {
            self.p.skip_group()?; // Operand bundles.
        }
        Ok(CallParts {
            call,
            ret,
            metadata,
        })
    }

    fn arguments(&mut self, call: &mut Call) -> PResult<Vec<MetaOperand>> {
        let mut metadata = Vec::new();
        self.p.expect_punct(b'(')?;
        while !self.p.is_punct(b')') {
            // A thunk passes its own variable arguments on.
            if self.p.accept_word("...")? {
                break;
            }
            let ty = self.p.value_type()?;
            let value = if ty == self.p.common().metadata {
                metadata.push(self.metadata_operand()?);
                Operand::Const(self.p.intern(Constant::Metadata))
            } else {
                let attributes = self.p.param_attributes()?;
                let index = u32::try_from(call.args.len()).unwrap_or(u32::MAX);
                if let Some(byval) = attributes.byval {
                    call.byval.push((index, byval));
                }
                if let Some(sret) = attributes.sret {
                    call.sret = Some((index, sret));
                }
                self.value(ty)?
            };
            call.args.push(value);
            call.arg_types.push(ty);
            if !self.p.accept_punct(b',')? {
                break;
            }
        }
        self.p.expect_punct(b')')?;
        Ok(metadata)
    }

    /// Makes the full function type where only the return type is written, and checks the arguments where it is
    /// written in full. The return type.
    fn complete_type(&mut self, call: &mut Call, at: usize) -> PResult<TypeId> {
        if let Type::Function {
            ret,
            params,
            varargs,
        } = self.p.type_of(call.fn_type)
        {
            let agree = if *varargs {
                call.arg_types.starts_with(params)
            } else {
                call.arg_types[..] == params[..]
            };
            if !agree {
                let rule = "the arguments do not fit the function's type";
                return fail(at, ParseErrorKind::Invalid(rule));
            }
            return Ok(*ret);
        }
        let ret = call.fn_type;
        call.fn_type = match self.declared_type(call) {
            Some(ty) => ty,
            None => self.p.module.types.intern(Type::Function {
                ret,
                params: call.arg_types.as_slice().into(),
                varargs: false,
            }),
        };
        Ok(ret)
    }

    /// The callee's own type if the call uses it so: nearly always, and cheaper than to intern a new one.
    fn declared_type(&self, call: &Call) -> Option<TypeId> {
        let Operand::Const(callee) = call.callee else {
            return None;
        };
        let Constant::Function(id) = self.p.module.constant(callee) else {
            return None;
        };
        let declared = self.p.module.function(*id).ty;
        match self.p.type_of(declared) {
            Type::Function {
                ret,
                params,
                varargs: false,
            } if *ret == call.fn_type && params[..] == call.arg_types[..] => Some(declared),
            _ => None,
        }
    }

    /// Behind the type `metadata`.
    pub(super) fn metadata_operand(&mut self) -> PResult<MetaOperand> {
        match self.p.token {
            Token::Meta(number) => {
                self.p.bump()?;
                Ok(MetaOperand::Node(number))
            }
            Token::MetaName("DIExpression") => {
                let start = self.p.end_of_token();
                self.p.skip_metadata()?;
                let text = self.p.text().get(start..self.p.at).unwrap_or_default();
                let empty = text.bytes().filter(|c| c.is_ascii_alphanumeric()).count() == 0;
                Ok(
                    if empty && text.starts_with('(') && text.trim_end().len() == 2 {
                        MetaOperand::EmptyExpression
                    } else {
                        MetaOperand::Other
                    },
                )
            }
            Token::MetaName(_) | Token::Punct(b'!') => {
                self.p.skip_metadata()?;
                Ok(MetaOperand::Other)
            }
            _ => {
                let (_, value) = self.typed_value()?;
                Ok(match value {
                    Operand::Value(id) => MetaOperand::Value(id),
                    Operand::Const(_) => MetaOperand::Other,
                })
            }
        }
    }
}
