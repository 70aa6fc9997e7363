//! Metadata nodes: indexed when the module is read, parsed when something refers to them.

use super::error::{PResult, ParseErrorKind, fail};
use super::lexer::{Lexer, Token};
use super::parser::Parser;
use super::{debug_locs, offset};
use crate::debug::SourceTypeId;
use crate::ids::DebugLocId;
use rustc_hash::FxHashMap;

/// Where the nodes are, and what was made of those that were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metadata {
    /// Offset of node `n`, where nodes are numbered without gaps, as LLVM prints them.
    dense: Vec<u32>,
    /// All others: a number alone must not allocate a table up to it.
    sparse: FxHashMap<u32, u32>,
    pub(super) locs: FxHashMap<u32, DebugLocId>,
    pub(super) scopes: FxHashMap<u32, debug_locs::Scope>,
    pub(super) files: FxHashMap<u32, std::sync::Arc<str>>,
    pub(super) types: FxHashMap<u32, SourceTypeId>,
}

impl Metadata {
    fn insert(&mut self, number: u32, at: u32) -> bool {
        if number as usize == self.dense.len() {
            self.dense.push(at);
            return !self.sparse.contains_key(&number);
        }
        (number as usize) > self.dense.len() && self.sparse.insert(number, at).is_none()
    }

    fn offset(&self, number: u32) -> Option<usize> {
        let dense = self.dense.get(number as usize);
        let at = dense.or_else(|| self.sparse.get(&number))?;
        Some(*at as usize)
    }
}

/// A field of a node, or an element of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'t> {
    Node(u32),
    Int(i128),
    Str(&'t str),
    /// `DW_TAG_member`, `DIFlagPublic | DIFlagStaticMember`, `true`, `i32 5`, …: as written.
    Word(&'t str),
    /// Nodes written in place, and everything else that nobody asks for.
    Other,
}

/// One node: `!DIName(key: value, ...)`, or a tuple, whose keys are empty.
#[derive(Debug)]
pub(super) struct Node<'t> {
    pub(super) kind: &'t str,
    fields: Vec<(&'t str, Field<'t>)>,
}

impl<'t> Node<'t> {
    pub(super) fn get(&self, key: &str) -> Option<Field<'t>> {
        let field = self.fields.iter().find(|(name, _)| *name == key);
        field.map(|&(_, value)| value)
    }

    pub(super) fn node(&self, key: &str) -> Option<u32> {
        match self.get(key)? {
            Field::Node(number) => Some(number),
            _ => None,
        }
    }

    pub(super) fn int(&self, key: &str) -> Option<i128> {
        match self.get(key)? {
            Field::Int(number) => Some(number),
            _ => None,
        }
    }

    /// A number that the format wants in 32 bits; out of range is as good as absent.
    pub(super) fn u32(&self, key: &str) -> u32 {
        self.int(key)
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or(0)
    }

    /// A number of bits, in whole bytes.
    pub(super) fn bytes(&self, key: &str) -> u64 {
        let bits = self.int(key).and_then(|n| u64::try_from(n).ok());
        bits.unwrap_or(0) / 8
    }

    /// A string as written, escapes included.
    pub(super) fn str(&self, key: &str) -> Option<&'t str> {
        match self.get(key)? {
            Field::Str(raw) => Some(raw),
            _ => None,
        }
    }

    pub(super) fn word(&self, key: &str) -> Option<&'t str> {
        match self.get(key)? {
            Field::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The nodes a tuple lists.
    pub(super) fn elements(&self) -> impl Iterator<Item = u32> + '_ {
        self.fields.iter().filter_map(|&(_, field)| match field {
            Field::Node(number) => Some(number),
            _ => None,
        })
    }
}

impl<'t> Parser<'t, '_> {
    /// `!7 = ...`: notes where it begins.
    pub(super) fn metadata_definition(&mut self, number: u32) -> PResult<()> {
        let at = self.at;
        self.bump()?;
        self.expect_punct(b'=')?;
        if !self.module.parsed.metadata.insert(number, offset(self.at)?) {
            return fail(
                at,
                ParseErrorKind::Redefined {
                    what: "metadata node",
                    name: format!("!{number}").into(),
                },
            );
        }
        self.accept_word("distinct")?;
        self.skip_metadata()
    }

    /// Passes over `!{...}`, `!DIName(...)`, `!"string"`, `!7` or `null`.
    pub(super) fn skip_metadata(&mut self) -> PResult<()> {
        match self.token {
            Token::Meta(_) | Token::Word("null") => self.bump(),
            Token::MetaName(_) => {
                self.bump()?;
                self.skip_bracketed()
            }
            Token::Punct(b'!') => {
                self.bump()?;
                match self.token {
                    Token::Str(_) => self.bump(),
                    _ => self.skip_bracketed(),
                }
            }
            _ => self.expected("a metadata node"),
        }
    }

    /// `!name !7`, at the name: the node, unless it is written in place.
    pub(super) fn attachment(&mut self) -> PResult<Option<u32>> {
        self.bump()?;
        if let Token::Meta(number) = self.token {
            self.bump()?;
            return Ok(Some(number));
        }
        self.accept_word("distinct")?;
        self.skip_metadata()?;
        Ok(None)
    }

    /// Reads a node.
    pub(super) fn node(&self, number: u32) -> PResult<Node<'t>> {
        let Some(at) = self.module.parsed.metadata.offset(number) else {
            return self.fail(ParseErrorKind::Undefined {
                what: "metadata node",
                name: format!("!{number}").into(),
            });
        };
        NodeReader::new(self.text(), at)?.node()
    }

    /// Reads a node if it is of the kind wanted.
    pub(super) fn node_of_kind(&self, number: u32, kind: &str) -> PResult<Option<Node<'t>>> {
        let node = self.node(number)?;
        Ok((node.kind == kind).then_some(node))
    }
}

/// Reads one node at its own pace: the parser is in the middle of something else.
struct NodeReader<'t> {
    lexer: Lexer<'t>,
    token: Token<'t>,
    at: usize,
}

impl<'t> NodeReader<'t> {
    fn new(text: &'t str, at: usize) -> PResult<Self> {
        let mut lexer = Lexer::new(text, at);
        let (token, at) = lexer.next()?;
        Ok(Self { lexer, token, at })
    }

    fn bump(&mut self) -> PResult<()> {
        (self.token, self.at) = self.lexer.next()?;
        Ok(())
    }

    fn expected<T>(&self, what: &'static str) -> PResult<T> {
        let found = self.token.describe();
        fail(self.at, ParseErrorKind::Expected { what, found })
    }

    fn node(mut self) -> PResult<Node<'t>> {
        if self.token == Token::Word("distinct") {
            self.bump()?;
        }
        let (kind, open, close) = match self.token {
            Token::MetaName(kind) => (kind, b'(', b')'),
            Token::Punct(b'!') => ("", b'{', b'}'),
            _ => return self.expected("a metadata node"),
        };
        self.bump()?;
        if matches!(self.token, Token::Str(_)) {
            return Ok(Node {
                kind,
                fields: Vec::new(),
            });
        }
        if self.token != Token::Punct(open) {
            return self.expected("an opening bracket");
        }
        self.bump()?;
        let mut fields = Vec::new();
        while self.token != Token::Punct(close) {
            let mut key = "";
            if let Token::Label(name) = self.token {
                key = name;
                self.bump()?;
            }
            fields.push((key, self.field(close)?));
            if self.token == Token::Punct(b',') {
                self.bump()?;
            } else if self.token != Token::Punct(close) {
                return self.expected("',' or a closing bracket");
            }
        }
        Ok(Node { kind, fields })
    }

    /// A value: its first token says what it is; the rest up to the comma is passed over.
    fn field(&mut self, close: u8) -> PResult<Field<'t>> {
        let start = self.at;
        let mut end = self.lexer.pos;
        let field = match self.token {
            Token::Meta(number) => Field::Node(number),
            Token::Number(digits) => digits.parse().map_or(Field::Other, Field::Int),
            Token::Str(raw) => Field::Str(raw),
            Token::Word(word) => Field::Word(word),
            _ => Field::Other,
        };
        loop {
            match self.token {
                Token::Punct(b',') => break,
                Token::Punct(c) if c == close => break,
                Token::Punct(b'(' | b'[' | b'{') => {
                    self.lexer.pos = self.lexer.skip_balanced(self.at)?;
                    self.bump()?;
                }
                Token::Eof => return self.expected("the end of the node"),
                _ => {
                    end = self.lexer.pos;
                    self.bump()?;
                }
            }
        }
        Ok(match field {
            Field::Word(first) => Field::Word(self.lexer.text.get(start..end).unwrap_or(first)),
            field => field,
        })
    }
}
