//! What hangs on instructions: attachments (`!dbg !5`), and the debug records (`#dbg_declare(...)`) and intrinsics
//! (`llvm.dbg.declare`) that say which value holds which source variable.

use super::body::BodyParser;
use super::calls::MetaOperand;
use super::error::{PResult, ParseErrorKind, fail};
use super::lexer::{Token, unescape_name};
use crate::debug::DebugVariable;

impl BodyParser<'_, '_> {
    /// Everything behind the commas that end an instruction: `align 8`, `addrspace(1)`, `!dbg !5`. The alignment.
    pub(super) fn suffix(&mut self) -> PResult<Option<u64>> {
        let mut align = None;
        while self.p.accept_punct(b',')? {
            match self.p.token {
                Token::Word("align") => {
                    self.p.bump()?;
                    align = Some(self.alignment()?);
                }
                Token::Word("addrspace") => {
                    self.p.bump()?;
                    self.p.skip_bracketed()?;
                }
                Token::MetaName(_) => {
                    self.attachments()?;
                }
                _ => return self.p.expected("metadata or an alignment"),
            }
        }
        Ok(align)
    }

    pub(super) fn alignment(&mut self) -> PResult<u64> {
        let at = self.p.at;
        let align = self.p.expect_u64()?;
        if !align.is_power_of_two() || align > 1 << 32 {
            return fail(at, ParseErrorKind::BadNumber(align.to_string().into()));
        }
        Ok(align)
    }

    /// `!dbg !5, !tbaa !6`, at the first name.
    pub(super) fn attachments(&mut self) -> PResult<()> {
        loop {
            let Token::MetaName(name) = self.p.token else {
                return self.p.expected("metadata");
            };
            let at = self.p.at;
            let node = self.p.attachment()?;
            if name == "dbg"
                && let Some(node) = node
            {
                self.loc = match self.p.debug_loc(node) {
                    Ok(loc) => loc,
                    // A missing node is reported where it is missed.
                    Err(mut failure) => {
                        if matches!(*failure.kind, ParseErrorKind::Undefined { .. }) {
                            failure.at = at;
                        }
                        return Err(failure);
                    }
                };
            }
            if !self.p.accept_punct(b',')? {
                return Ok(());
            }
        }
    }

    /// `#dbg_value(i32 %x, !3, !DIExpression(), !4)`
    pub(super) fn debug_record(&mut self, name: &str) -> PResult<()> {
        self.p.bump()?;
        self.p.expect_punct(b'(')?;
        let mut operands = Vec::new();
        while !self.p.is_punct(b')') {
            operands.push(self.metadata_operand()?);
            if !self.p.accept_punct(b',')? {
                break;
            }
        }
        self.p.expect_punct(b')')?;
        self.describe(name.strip_prefix("dbg_").unwrap_or(name), &operands)
    }

    /// `kind` is what comes behind `llvm.dbg.` or `#dbg_`.
    pub(super) fn describe(&mut self, kind: &str, operands: &[MetaOperand]) -> PResult<()> {
        // Only whole variables: fragments and computed values have no one name.
        let &[
            MetaOperand::Value(value),
            MetaOperand::Node(number),
            MetaOperand::EmptyExpression,
            ..,
        ] = operands
        else {
            return Ok(());
        };
        let is_address = match kind {
            "declare" | "addr" => true,
            "value" | "assign" => false,
            _ => return Ok(()),
        };
        if self.is_described(value, number) {
            return Ok(());
        }
        let Some(node) = self.p.node_of_kind(number, "DILocalVariable")? else {
            return Ok(());
        };
        let ty = match node.node("type") {
            Some(ty) => Some(self.p.source_type(ty)?),
            None => None,
        };
        let variable = DebugVariable {
            name: unescape_name(node.str("name").unwrap_or("")).into(),
            ty,
            is_parameter: node.u32("arg") > 0,
            is_address,
        };
        self.describe_value(value, number, variable);
        Ok(())
    }
}
