//! Function bodies: blocks, and the names of values and blocks.
//!
//! Values and blocks may be used before they are defined. A value gets its id when it is first mentioned, with the
//! type it is mentioned with; the definition must agree. Blocks are numbered in the order of the text, so mentions
//! are kept apart from blocks until all are known.

use super::error::{PResult, ParseErrorKind, fail};
use super::lexer::{Token, unescape_name};
use super::parser::Parser;
use super::{BodySource, words};
use crate::debug::DebugVariable;
use crate::ids::{BlockId, DebugLocId, FuncId, TypeId, ValueId};
use crate::inst::{Block, Body, Inst, InstKind, Operand, Phi, Terminator};
use crate::module::Module;
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};

/// Numbers of values and blocks above this must be covered by the length of the body's text: otherwise a single
/// `%4294967290` would allocate a table of that size.
const FREE_NUMBERS: usize = 1 << 16;
const NONE: u32 = u32::MAX;

/// The name in front of `=`.
#[derive(Clone, Copy, Debug)]
pub(super) enum ResultName<'t> {
    None,
    Named(&'t str),
    Number(u32),
}

/// A block as its mentions know it.
struct Mention {
    /// Where it was mentioned first.
    at: usize,
    defined: Option<BlockId>,
}

/// The block that is being filled.
struct OpenBlock {
    label: Box<str>,
    phis: Vec<Phi>,
    insts: Vec<Inst>,
}

pub(super) struct BodyParser<'t, 'm> {
    pub(super) p: Parser<'t, 'm>,
    pub(super) ret: TypeId,
    body: Body,
    /// The number that the next value or block without a name gets.
    next_number: u32,
    max_number: usize,
    names: FxHashMap<&'t str, ValueId>,
    numbers: Vec<u32>,
    /// Beside the values: where it was first mentioned, while it is not defined.
    undefined: Vec<Option<usize>>,
    block_names: FxHashMap<&'t str, u32>,
    block_numbers: Vec<u32>,
    mentions: Vec<Mention>,
    open: Option<OpenBlock>,
    /// The position of the instruction under consideration.
    pub(super) loc: Option<DebugLocId>,
    /// Values and variables that are already in the body's list.
    described: FxHashSet<(ValueId, u32)>,
}

pub(super) fn parse(
    text: &str,
    module: &mut Module,
    id: FuncId,
    source: BodySource,
) -> PResult<Body> {
    let function_ty = module.function(id).ty;
    let ret = match module.types.get(function_ty) {
        Type::Function { ret, .. } => *ret,
        _ => module.parsed.common.void,
    };
    let mut parser = BodyParser {
        p: Parser::new(text, source.params_at as usize, module)?,
        ret,
        body: Body::default(),
        next_number: 0,
        max_number: FREE_NUMBERS.max((source.end - source.params_at) as usize),
        names: FxHashMap::default(),
        numbers: Vec::new(),
        undefined: Vec::new(),
        block_names: FxHashMap::default(),
        block_numbers: Vec::new(),
        mentions: Vec::new(),
        open: None,
        loc: None,
        described: FxHashSet::default(),
    };
    parser.parameters()?;
    parser.p.jump(source.body_at as usize)?;
    parser.statements()?;
    parser.finish()
}

impl<'t> BodyParser<'t, '_> {
    fn parameters(&mut self) -> PResult<()> {
        let mut params = Vec::new();
        self.p.params(|parser, ty, _, name| {
            params.push((ty, name, parser.at));
            Ok(())
        })?;
        for (ty, name, at) in params {
            let name = match name {
                Some(Token::Local(raw)) => ResultName::Named(raw),
                Some(Token::LocalNumber(number)) => ResultName::Number(number),
                _ => ResultName::None,
            };
            self.define(name, ty, at)?;
        }
        self.body.param_count = u32::try_from(self.body.value_types.len()).unwrap_or(u32::MAX);
        Ok(())
    }

    fn statements(&mut self) -> PResult<()> {
        loop {
            let at = self.p.at;
            match self.p.token {
                Token::Punct(b'}') => return Ok(()),
                Token::Label(raw) => {
                    self.p.bump()?;
                    self.start_block(ResultName::Named(raw), at)?;
                }
                Token::LabelNumber(number) => {
                    self.p.bump()?;
                    self.start_block(ResultName::Number(number), at)?;
                }
                Token::Local(raw) => self.named_instruction(ResultName::Named(raw), at)?,
                Token::LocalNumber(number) => {
                    self.named_instruction(ResultName::Number(number), at)?;
                }
                Token::Record(name) => self.debug_record(name)?,
                Token::Word("uselistorder" | "uselistorder_bb") => self.p.skip_use_list_order()?,
                Token::Word(_) => self.instruction(ResultName::None, at)?,
                _ => return self.p.expected("an instruction"),
            }
        }
    }

    fn named_instruction(&mut self, name: ResultName<'t>, at: usize) -> PResult<()> {
        self.p.bump()?;
        self.p.expect_punct(b'=')?;
        self.instruction(name, at)
    }

    fn instruction(&mut self, name: ResultName<'t>, at: usize) -> PResult<()> {
        let Token::Word(word) = self.p.token else {
            return self.p.expected("an instruction");
        };
        if self.open.is_none() {
            self.start_block(ResultName::None, at)?;
        }
        self.loc = None;
        self.p.bump()?;
        if words::is_terminator(word) {
            let terminator = self.terminator(word, name, at)?;
            return self.close_block(terminator);
        }
        if word == "phi" {
            return self.phi(name, at);
        }
        let Some((kind, ty)) = self.operation(word, at)? else {
            return Ok(()); // A call that only describes a variable.
        };
        let result = self.result(name, ty, at)?;
        let loc = self.loc;
        self.push(Inst { result, kind, loc });
        Ok(())
    }

    pub(super) fn push(&mut self, inst: Inst) {
        if let Some(block) = &mut self.open {
            block.insts.push(inst);
        }
    }

    // Blocks.

    fn start_block(&mut self, name: ResultName<'t>, at: usize) -> PResult<()> {
        if self.open.is_some() {
            return fail(at, ParseErrorKind::Invalid("a block without a terminator"));
        }
        let (mention, label): (u32, Box<str>) = match name {
            ResultName::Named(raw) => (self.mention_name(raw, at), unescape_name(raw).into()),
            ResultName::Number(number) => {
                self.take_number(number, at)?;
                (self.mention_number(number, at)?, number.to_string().into())
            }
            ResultName::None => {
                let number = self.next_number;
                self.take_number(number, at)?;
                (self.mention_number(number, at)?, number.to_string().into())
            }
        };
        let mention = &mut self.mentions[mention as usize];
        if mention.defined.is_some() {
            return fail(
                at,
                ParseErrorKind::Redefined {
                    what: "block",
                    name: format!("%{label}").into(),
                },
            );
        }
        mention.defined = Some(BlockId::from_index(self.body.blocks.len()));
        self.open = Some(OpenBlock {
            label,
            phis: Vec::new(),
            insts: Vec::new(),
        });
        Ok(())
    }

    fn close_block(&mut self, terminator: Terminator) -> PResult<()> {
        let Some(block) = self.open.take() else {
            return self.p.invalid("a terminator outside of a block");
        };
        self.body.blocks.push(Block {
            label: block.label,
            phis: block.phis,
            insts: block.insts,
            terminator,
            terminator_loc: self.loc,
        });
        Ok(())
    }

    fn mention_name(&mut self, raw: &'t str, at: usize) -> u32 {
        let fresh = self.mentions.len() as u32;
        let mention = *self.block_names.entry(raw).or_insert(fresh);
        if mention == fresh {
            self.mentions.push(Mention { at, defined: None });
        }
        mention
    }

    fn mention_number(&mut self, number: u32, at: usize) -> PResult<u32> {
        let fresh = self.mentions.len() as u32;
        let slot = slot(&mut self.block_numbers, number, self.max_number, at)?;
        if *slot == NONE {
            *slot = fresh;
            self.mentions.push(Mention { at, defined: None });
        }
        Ok(*slot)
    }

    /// A block's name in a terminator or φ. The id is that of the mention until [`Self::finish`].
    pub(super) fn block_ref(&mut self) -> PResult<BlockId> {
        let at = self.p.at;
        let mention = match self.p.token {
            Token::Local(raw) => self.mention_name(raw, at),
            Token::LocalNumber(number) => self.mention_number(number, at)?,
            _ => return self.p.expected("a block"),
        };
        self.p.bump()?;
        Ok(BlockId(mention))
    }

    /// `label %name`
    pub(super) fn label(&mut self) -> PResult<BlockId> {
        self.p.expect_word("label")?;
        self.block_ref()
    }

    fn phi(&mut self, name: ResultName<'t>, at: usize) -> PResult<()> {
        while matches!(self.p.token, Token::Word(_)) && !self.p.at_type() {
            self.p.bump()?; // Fast-math flags.
        }
        let ty = self.p.value_type()?;
        let mut incoming = Vec::new();
        loop {
            self.p.expect_punct(b'[')?;
            let value = self.value(ty)?;
            self.p.expect_punct(b',')?;
            let block = self.block_ref()?;
            self.p.expect_punct(b']')?;
            incoming.push((block, value));
            // A comma leads on to another pair or to metadata.
            if !self.p.is_punct(b',') {
                break;
            }
            self.p.bump()?;
            if matches!(self.p.token, Token::MetaName(_)) {
                self.attachments()?;
                break;
            }
        }
        let Some(result) = self.result(name, ty, at)? else {
            return fail(at, ParseErrorKind::Invalid("a phi without a value"));
        };
        let phi = Phi {
            result,
            ty,
            incoming,
        };
        match &mut self.open {
            Some(block) if block.insts.is_empty() => block.phis.push(phi),
            _ => {
                return fail(
                    at,
                    ParseErrorKind::Invalid("a phi behind other instructions"),
                );
            }
        }
        Ok(())
    }

    // Values.

    /// The value a `%name` stands for, which must have the type given.
    fn local(&mut self, ty: TypeId) -> PResult<ValueId> {
        let at = self.p.at;
        let fresh = ValueId::from_index(self.body.value_types.len());
        let id = match self.p.token {
            Token::Local(raw) => *self.names.entry(raw).or_insert(fresh),
            Token::LocalNumber(number) => {
                let slot = slot(&mut self.numbers, number, self.max_number, at)?;
                if *slot == NONE {
                    *slot = fresh.0;
                }
                ValueId(*slot)
            }
            _ => return self.p.expected("a value"),
        };
        if id == fresh {
            let name = match self.p.token {
                Token::Local(raw) => Some(unescape_name(raw).into()),
                _ => None,
            };
            self.add_value(ty, name, Some(at));
        } else if self.body.value_types[id.index()] != ty {
            return self.mismatch(id, ty, at);
        }
        self.p.bump()?;
        Ok(id)
    }

    fn add_value(&mut self, ty: TypeId, name: Option<Box<str>>, undefined: Option<usize>) {
        self.body.value_types.push(ty);
        self.body.value_names.push(name);
        self.undefined.push(undefined);
    }

    fn mismatch<T>(&self, id: ValueId, used: TypeId, at: usize) -> PResult<T> {
        let name = self.display_name(id);
        let defined = self.p.type_name(self.body.value_types[id.index()]);
        let used = self.p.type_name(used);
        fail(
            at,
            ParseErrorKind::TypeMismatch {
                name,
                defined,
                used,
            },
        )
    }

    fn display_name(&self, id: ValueId) -> Box<str> {
        if let Some(name) = &self.body.value_names[id.index()] {
            return format!("%{name}").into();
        }
        let number = self.numbers.iter().position(|&slot| slot == id.0);
        number.map_or_else(|| "%?".into(), |number| format!("%{number}").into())
    }

    /// An operand of the type given.
    #[inline]
    pub(super) fn value(&mut self, ty: TypeId) -> PResult<Operand> {
        Ok(match self.p.token {
            Token::Local(_) | Token::LocalNumber(_) => Operand::Value(self.local(ty)?),
            _ => Operand::Const(self.p.constant(ty)?),
        })
    }

    /// An operand with its type in front.
    pub(super) fn typed_value(&mut self) -> PResult<(TypeId, Operand)> {
        let ty = self.p.value_type()?;
        Ok((ty, self.value(ty)?))
    }

    /// A pointer operand with its type in front.
    pub(super) fn pointer(&mut self) -> PResult<Operand> {
        let ty = self.p.pointer_type()?;
        self.value(ty)
    }

    /// An operand with its type in front, which must be the one given.
    pub(super) fn value_of_type(&mut self, expected: TypeId) -> PResult<Operand> {
        let at = self.p.at;
        let (ty, value) = self.typed_value()?;
        if ty != expected {
            return fail(
                at,
                ParseErrorKind::TypeMismatch {
                    name: "operand".into(),
                    defined: self.p.type_name(expected),
                    used: self.p.type_name(ty),
                },
            );
        }
        Ok(value)
    }

    /// The result of an instruction: none if its type is `void`.
    pub(super) fn result(
        &mut self,
        name: ResultName<'t>,
        ty: TypeId,
        at: usize,
    ) -> PResult<Option<ValueId>> {
        if ty == self.p.common().void {
            return match name {
                ResultName::None => Ok(None),
                _ => fail(
                    at,
                    ParseErrorKind::Invalid("a name for an instruction without a value"),
                ),
            };
        }
        self.define(name, ty, at).map(Some)
    }

    fn define(&mut self, name: ResultName<'t>, ty: TypeId, at: usize) -> PResult<ValueId> {
        let fresh = ValueId::from_index(self.body.value_types.len());
        let id = match name {
            ResultName::Named(raw) => *self.names.entry(raw).or_insert(fresh),
            ResultName::Number(_) | ResultName::None => {
                let number = match name {
                    ResultName::Number(number) => number,
                    _ => self.next_number,
                };
                self.take_number(number, at)?;
                let slot = slot(&mut self.numbers, number, self.max_number, at)?;
                if *slot == NONE {
                    *slot = fresh.0;
                }
                ValueId(*slot)
            }
        };
        if id == fresh {
            let name = match name {
                ResultName::Named(raw) => Some(unescape_name(raw).into()),
                _ => None,
            };
            self.add_value(ty, name, None);
            return Ok(id);
        }
        if self.undefined[id.index()].take().is_none() {
            let name = self.display_name(id);
            return fail(
                at,
                ParseErrorKind::Redefined {
                    what: "value",
                    name,
                },
            );
        }
        if self.body.value_types[id.index()] != ty {
            return self.mismatch(id, ty, at);
        }
        Ok(id)
    }

    /// Numbers are given in order; newer LLVMs allow gaps.
    fn take_number(&mut self, number: u32, at: usize) -> PResult<()> {
        if number < self.next_number || number == NONE {
            let name = format!("%{number}").into();
            return fail(
                at,
                ParseErrorKind::Redefined {
                    what: "number",
                    name,
                },
            );
        }
        self.next_number = number + 1;
        Ok(())
    }

    pub(super) fn describe_value(&mut self, value: ValueId, node: u32, variable: DebugVariable) {
        if self.described.insert((value, node)) {
            self.body.variables.push((value, variable));
        }
    }

    pub(super) fn is_described(&self, value: ValueId, node: u32) -> bool {
        self.described.contains(&(value, node))
    }

    /// A terminator without a meaning here may still have a value: an instruction in front of it defines that.
    pub(super) fn emit_other(
        &mut self,
        word: &str,
        name: ResultName<'t>,
        ty: TypeId,
        at: usize,
    ) -> PResult<()> {
        let result = self.result(name, ty, at)?;
        if result.is_some() {
            let loc = self.loc;
            let kind = InstKind::Other { name: word.into() };
            self.push(Inst { result, kind, loc });
        }
        Ok(())
    }

    /// Checks that all was defined, and puts blocks where mentions stand.
    fn finish(mut self) -> PResult<Body> {
        if self.open.is_some() {
            return self.p.invalid("a block without a terminator");
        }
        if self.body.blocks.is_empty() {
            return self.p.invalid("a function without blocks");
        }
        let missing = self.undefined.iter().enumerate();
        if let Some((at, index)) = missing.filter_map(|(i, at)| Some(((*at)?, i))).min() {
            let name = self.display_name(ValueId::from_index(index));
            return fail(
                at,
                ParseErrorKind::Undefined {
                    what: "value",
                    name,
                },
            );
        }
        if let Some(index) = self.mentions.iter().position(|m| m.defined.is_none()) {
            let names = self.block_names.iter();
            let name = names
                .filter(|&(_, &m)| m as usize == index)
                .map(|(name, _)| *name)
                .next();
            let number = self.block_numbers.iter().position(|&m| m as usize == index);
            let name = name.map_or_else(
                || format!("%{}", number.unwrap_or(0)).into(),
                |name| format!("%{name}").into(),
            );
            let what = "block";
            return fail(
                self.mentions[index].at,
                ParseErrorKind::Undefined { what, name },
            );
        }
        let mentions = &self.mentions;
        let resolve = |block: &mut BlockId| {
            if let Some(defined) = mentions.get(block.index()).and_then(|m| m.defined) {
                *block = defined;
            }
        };
        for block in &mut self.body.blocks {
            for phi in &mut block.phis {
                phi.incoming
                    .iter_mut()
                    .for_each(|(block, _)| resolve(block));
            }
            block.terminator.for_each_target_mut(resolve);
        }
        Ok(self.body)
    }
}

/// The table entry of a number, the table growing as needed.
fn slot(table: &mut Vec<u32>, number: u32, max: usize, at: usize) -> PResult<&mut u32> {
    let index = number as usize;
    if index >= table.len() {
        if index > max {
            return fail(at, ParseErrorKind::BadNumber(format!("%{number}").into()));
        }
        table.resize(index + 1, NONE);
    }
    Ok(&mut table[index])
}
