//! Debug records (`#dbg_declare(...)`) and intrinsics (`llvm.dbg.declare`): which value holds which source variable.

use super::body::BodyParser;
use super::calls::MetaOperand;
use super::error::PResult;
use super::lexer::unescape_name;
use crate::debug::DebugVariable;

impl BodyParser<'_, '_> {
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

    /// `name` is what comes behind `llvm.dbg.`.
    pub(super) fn debug_intrinsic(&mut self, name: &str, operands: &[MetaOperand]) -> PResult<()> {
        self.describe(name, operands)
    }

    fn describe(&mut self, kind: &str, operands: &[MetaOperand]) -> PResult<()> {
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
