//! The parser's state and the small steps that everything else is made of.

use super::error::{PResult, ParseErrorKind, fail};
use super::lexer::{Lexer, Token};
use crate::ids::TypeId;
use crate::module::Module;
use crate::types::Type;

/// Nesting of types, constants and metadata beyond this is an error. Compilers stay below 30; the bound keeps the
/// recursion inside a test thread's stack.
const MAX_DEPTH: u32 = 128;

pub(super) struct Parser<'t, 'm> {
    lexer: Lexer<'t>,
    /// The token under consideration.
    pub(super) token: Token<'t>,
    /// Its offset.
    pub(super) at: usize,
    /// The offset of the token before it.
    last: usize,
    depth: u32,
    /// The module's data layout, and where it stands; its triple.
    pub(super) pointer_layout: Option<(&'t str, usize)>,
    pub(super) triple: Option<&'t str>,
    pub(super) module: &'m mut Module,
}

impl<'t, 'm> Parser<'t, 'm> {
    /// A parser whose first token is the one at `pos`.
    pub(super) fn new(text: &'t str, pos: usize, module: &'m mut Module) -> PResult<Self> {
        let mut lexer = Lexer::new(text, pos);
        let (token, at) = lexer.next()?;
        Ok(Self {
            lexer,
            token,
            at,
            last: at,
            depth: 0,
            pointer_layout: None,
            triple: None,
            module,
        })
    }

    pub(super) fn text(&self) -> &'t str {
        self.lexer.text
    }

    /// The offset behind the current token.
    pub(super) fn end_of_token(&self) -> usize {
        self.lexer.pos
    }

    #[inline]
    pub(super) fn bump(&mut self) -> PResult<()> {
        self.last = self.at;
        (self.token, self.at) = self.lexer.next()?;
        Ok(())
    }

    /// Goes on at another offset.
    pub(super) fn jump(&mut self, pos: usize) -> PResult<()> {
        self.lexer.pos = pos;
        self.bump()
    }

    pub(super) fn fail<T>(&self, kind: ParseErrorKind) -> PResult<T> {
        fail(self.at, kind)
    }

    pub(super) fn expected<T>(&self, what: &'static str) -> PResult<T> {
        self.fail(ParseErrorKind::Expected {
            what,
            found: self.token.describe(),
        })
    }

    pub(super) fn invalid<T>(&self, rule: &'static str) -> PResult<T> {
        self.fail(ParseErrorKind::Invalid(rule))
    }

    /// For a rule that is checked when what breaks it was already read.
    pub(super) fn invalid_behind<T>(&self, rule: &'static str) -> PResult<T> {
        fail(self.last, ParseErrorKind::Invalid(rule))
    }

    #[inline]
    pub(super) fn is_punct(&self, c: u8) -> bool {
        self.token == Token::Punct(c)
    }

    #[inline]
    pub(super) fn accept_punct(&mut self, c: u8) -> PResult<bool> {
        let found = self.is_punct(c);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    pub(super) fn expect_punct(&mut self, c: u8) -> PResult<()> {
        if self.accept_punct(c)? {
            return Ok(());
        }
        self.expected(match c {
            b'(' => "'('",
            b')' => "')'",
            b'[' => "'['",
            b']' => "']'",
            b'{' => "'{'",
            b'}' => "'}'",
            b'<' => "'<'",
            b'>' => "'>'",
            b',' => "','",
            b'=' => "'='",
            _ => "punctuation",
        })
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(found) if found == word)
    }

    pub(super) fn accept_word(&mut self, word: &str) -> PResult<bool> {
        let found = self.is_word(word);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    pub(super) fn expect_word(&mut self, word: &'static str) -> PResult<()> {
        if self.accept_word(word)? {
            return Ok(());
        }
        self.expected(word)
    }

    pub(super) fn expect_string(&mut self) -> PResult<&'t str> {
        let Token::Str(contents) = self.token else {
            return self.expected("a string");
        };
        self.bump()?;
        Ok(contents)
    }

    /// An unsigned number in decimal.
    pub(super) fn expect_u64(&mut self) -> PResult<u64> {
        let Token::Number(digits) = self.token else {
            return self.expected("a number");
        };
        let Ok(number) = digits.parse() else {
            return self.fail(ParseErrorKind::BadNumber(digits.into()));
        };
        self.bump()?;
        Ok(number)
    }

    /// Skips from the opening bracket under consideration to behind the one that closes it.
    pub(super) fn skip_group(&mut self) -> PResult<()> {
        let end = self.group_end()?;
        self.jump(end)
    }

    /// The offset behind the bracket that closes the one under consideration.
    pub(super) fn group_end(&self) -> PResult<usize> {
        self.lexer.skip_balanced(self.at)
    }

    /// Goes one level of nesting deeper; undone by [`Self::leave`]. An error abandons the whole parser, so the paths
    /// of errors need not leave.
    #[inline]
    pub(super) fn enter(&mut self) -> PResult<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(ParseErrorKind::TooDeep);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    #[inline]
    pub(super) fn type_of(&self, id: TypeId) -> &Type {
        self.module.types.get(id)
    }

    /// A type in LLVM's notation, for messages.
    pub(super) fn type_name(&self, id: TypeId) -> Box<str> {
        self.module.types.display(id).to_string().into()
    }
}
