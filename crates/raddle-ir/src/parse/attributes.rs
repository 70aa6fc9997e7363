//! Attributes: passed over generically, but for the few that mean something here.

use super::error::PResult;
use super::lexer::Token;
use super::parser::Parser;
use super::words;
use crate::ids::TypeId;

/// What is kept of a parameter's attributes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ParamAttributes {
    pub(super) nocapture: bool,
    pub(super) byval: Option<TypeId>,
    pub(super) sret: Option<TypeId>,
}

impl Parser<'_, '_> {
    /// Passes over one attribute if there is one: `word`, `word(...)`, `align 8`, `"key"="value"`, `#1`.
    /// Which words are attributes is for the caller to decide.
    fn skip_attribute(&mut self) -> PResult<bool> {
        match self.token {
            Token::Word(word) => {
                self.bump()?;
                match self.token {
                    Token::Punct(b'(') => self.skip_group()?,
                    Token::Number(_) if matches!(word, "align" | "alignstack" | "cc") => {
                        self.bump()?;
                    }
                    _ => {}
                }
            }
            Token::Str(_) => {
                self.bump()?;
                if self.accept_punct(b'=')? {
                    self.expect_string()?;
                }
            }
            Token::AttrGroup(_) => self.bump()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Passes over linkage, calling convention, return attributes, fast-math flags: everything up to a type.
    pub(super) fn skip_to_type(&mut self) -> PResult<()> {
        while !self.at_type() {
            if !self.skip_attribute()? {
                return self.expected("a type");
            }
        }
        Ok(())
    }

    /// The attributes between a parameter's or argument's type and its name or value.
    pub(super) fn param_attributes(&mut self) -> PResult<ParamAttributes> {
        let mut attributes = ParamAttributes::default();
        loop {
            match self.token {
                Token::Word("nocapture") => {
                    attributes.nocapture = true;
                    self.bump()?;
                }
                Token::Word("captures") => {
                    self.bump()?;
                    let start = self.at;
                    self.skip_group()?;
                    let group = self.text().get(start..self.at).unwrap_or_default();
                    attributes.nocapture = group.trim_end() == "(none)";
                }
                Token::Word(word @ ("byval" | "sret")) => {
                    self.bump()?;
                    if self.accept_punct(b'(')? {
                        let ty = Some(self.value_type()?);
                        match word {
                            "byval" => attributes.byval = ty,
                            _ => attributes.sret = ty,
                        }
                        self.expect_punct(b')')?;
                    }
                }
                Token::Word(word) if words::is_value_word(word) || word == "..." => {
                    return Ok(attributes);
                }
                Token::Word(_) | Token::Str(_) => {
                    self.skip_attribute()?;
                }
                _ => return Ok(attributes),
            }
        }
    }

    /// The attributes behind a call's arguments. What begins an instruction or an invoke's `to` ends them.
    pub(super) fn skip_call_attributes(&mut self) -> PResult<()> {
        loop {
            match self.token {
                Token::Word(word) if words::is_opcode(word) || word == "to" => return Ok(()),
                _ => {
                    if !self.skip_attribute()? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// One attribute behind a function's parameters.
    pub(super) fn skip_function_attribute(&mut self) -> PResult<bool> {
        self.skip_attribute()
    }
}
