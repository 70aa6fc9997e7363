//! Instructions that end a block.

use super::body::{BodyParser, ResultName};
use super::error::{PResult, ParseErrorKind, fail};
use super::lexer::Token;
use crate::constant::Constant;
use crate::ids::BlockId;
use crate::inst::Terminator;
use crate::types::Type;

impl<'t> BodyParser<'t, '_> {
    /// Behind the opcode.
    pub(super) fn terminator(
        &mut self,
        word: &str,
        name: ResultName<'t>,
        at: usize,
    ) -> PResult<Terminator> {
        let has_result = matches!(word, "invoke" | "callbr" | "catchswitch");
        if !has_result && !matches!(name, ResultName::None) {
            let rule = "a name for an instruction without a value";
            return fail(at, ParseErrorKind::Invalid(rule));
        }
        let terminator = match word {
            "ret" => self.ret()?,
            "br" => self.br()?,
            "switch" => self.switch()?,
            "indirectbr" => self.indirect_br()?,
            "invoke" => return self.invoke(name, at),
            "resume" => Terminator::Resume {
                value: self.typed_value()?.1,
            },
            "unreachable" => Terminator::Unreachable,
            "callbr" => return self.callbr(name, at),
            "catchswitch" => return self.catchswitch(name, at),
            _ => self.funclet_return(word)?,
        };
        self.suffix()?;
        Ok(terminator)
    }

    fn ret(&mut self) -> PResult<Terminator> {
        let at = self.p.at;
        let ty = self.p.parse_type()?;
        if ty != self.ret {
            return fail(
                at,
                ParseErrorKind::TypeMismatch {
                    name: "the function's result".into(),
                    defined: self.p.type_name(self.ret),
                    used: self.p.type_name(ty),
                },
            );
        }
        let value = if ty == self.p.common().void {
            None
        } else {
            Some(self.value(ty)?)
        };
        Ok(Terminator::Ret { ty, value })
    }

    fn br(&mut self) -> PResult<Terminator> {
        if self.p.is_word("label") {
            return Ok(Terminator::Br {
                target: self.label()?,
            });
        }
        let i1 = self.p.common().i1;
        let condition = self.value_of_type(i1)?;
        self.p.expect_punct(b',')?;
        let then = self.label()?;
        self.p.expect_punct(b',')?;
        let otherwise = self.label()?;
        Ok(Terminator::CondBr {
            condition,
            then,
            otherwise,
        })
    }

    fn switch(&mut self) -> PResult<Terminator> {
        let (ty, value) = self.typed_value()?;
        if !matches!(self.p.type_of(ty), Type::Int(_)) {
            return self.p.invalid_behind("switch needs an integer");
        }
        self.p.expect_punct(b',')?;
        let default = self.label()?;
        self.p.expect_punct(b'[')?;
        let mut cases = Vec::new();
        while !self.p.is_punct(b']') {
            let at = self.p.at;
            let (case_ty, case) = self.p.typed_constant()?;
            let bits = match self.p.module.constant(case) {
                Constant::Int(_, bits) if case_ty == ty => *bits,
                _ => return fail(at, ParseErrorKind::Invalid("a case of another type")),
            };
            self.p.expect_punct(b',')?;
            cases.push((bits, self.label()?));
        }
        self.p.expect_punct(b']')?;
        Ok(Terminator::Switch {
            ty,
            value,
            default,
            cases,
        })
    }

    /// `[label %a, label %b]`
    fn label_list(&mut self) -> PResult<Vec<BlockId>> {
        self.p.expect_punct(b'[')?;
        let mut targets = Vec::new();
        while !self.p.is_punct(b']') {
            targets.push(self.label()?);
            if !self.p.accept_punct(b',')? {
                break;
            }
        }
        self.p.expect_punct(b']')?;
        Ok(targets)
    }

    fn indirect_br(&mut self) -> PResult<Terminator> {
        let address = self.pointer()?;
        self.p.expect_punct(b',')?;
        Ok(Terminator::IndirectBr {
            address,
            targets: self.label_list()?,
        })
    }

    fn invoke(&mut self, name: ResultName<'t>, at: usize) -> PResult<Terminator> {
        let parts = self.call_parts(at)?;
        self.p.expect_word("to")?;
        let normal = self.label()?;
        self.p.expect_word("unwind")?;
        let unwind = self.label()?;
        self.suffix()?;
        let result = self.result(name, parts.ret, at)?;
        Ok(Terminator::Invoke {
            result,
            call: parts.call,
            normal,
            unwind,
        })
    }

    /// `callbr void asm "..."(...) to label %a [label %b]`
    fn callbr(&mut self, name: ResultName<'t>, at: usize) -> PResult<Terminator> {
        let parts = self.call_parts(at)?;
        self.p.expect_word("to")?;
        let mut targets = vec![self.label()?];
        targets.extend(self.label_list()?);
        self.suffix()?;
        self.emit_other("callbr", name, parts.ret, at)?;
        Ok(Terminator::Other {
            name: "callbr".into(),
            targets,
        })
    }

    /// `to caller` or a label behind `unwind`.
    fn unwind_target(&mut self, targets: &mut Vec<BlockId>) -> PResult<()> {
        self.p.expect_word("unwind")?;
        if self.p.accept_word("to")? {
            return self.p.expect_word("caller");
        }
        targets.push(self.label()?);
        Ok(())
    }

    /// `catchswitch within none [label %a] unwind to caller`
    fn catchswitch(&mut self, name: ResultName<'t>, at: usize) -> PResult<Terminator> {
        self.p.expect_word("within")?;
        let token = self.p.common().token;
        self.value(token)?;
        let mut targets = self.label_list()?;
        self.unwind_target(&mut targets)?;
        self.suffix()?;
        self.emit_other("catchswitch", name, token, at)?;
        Ok(Terminator::Other {
            name: "catchswitch".into(),
            targets,
        })
    }

    /// `catchret from %pad to label %a`, `cleanupret from %pad unwind label %a`
    fn funclet_return(&mut self, word: &str) -> PResult<Terminator> {
        self.p.expect_word("from")?;
        let token = self.p.common().token;
        match self.p.token {
            Token::Word("none") => self.p.bump()?,
            _ => drop(self.value(token)?),
        }
        let mut targets = Vec::new();
        if word == "catchret" {
            self.p.expect_word("to")?;
            targets.push(self.label()?);
        } else {
            self.unwind_target(&mut targets)?;
        }
        Ok(Terminator::Other {
            name: word.into(),
            targets,
        })
    }
}
