//! Bytes to tokens. Nothing is copied: tokens point into the text.
//!
//! Invariant: `pos` is always on a character boundary, because every token begins and ends beside an ASCII byte.

use super::error::{PResult, ParseErrorKind, fail};
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Eof,
    /// Keywords, types such as `i32`, `...`, `x`.
    Word(&'t str),
    /// `name:` or `"name":`, also the field names of metadata.
    Label(&'t str),
    /// `7:`
    LabelNumber(u32),
    /// `@name`, `@"name"`, `@7`: without `@` and quotes, escapes not yet resolved.
    Global(&'t str),
    Local(&'t str),
    LocalNumber(u32),
    Comdat(&'t str),
    /// `!7`
    Meta(u32),
    /// `!dbg`, `!DILocation`
    MetaName(&'t str),
    /// `#7`
    AttrGroup(u32),
    /// `#dbg_value`
    Record(&'t str),
    /// `^7`
    Summary,
    /// Integers and floats of every notation, as written.
    Number(&'t str),
    Str(&'t str),
    /// `c"..."`
    CStr(&'t str),
    Punct(u8),
}

impl Token<'_> {
    /// For messages.
    pub(super) fn describe(&self) -> Box<str> {
        match self {
            Token::Eof => "the end of the text".into(),
            Token::Word(s) | Token::Number(s) => format!("'{s}'").into(),
            Token::Label(s) => format!("'{s}:'").into(),
            Token::LabelNumber(n) => format!("'{n}:'").into(),
            Token::Global(s) => format!("'@{s}'").into(),
            Token::Local(s) => format!("'%{s}'").into(),
            Token::LocalNumber(n) => format!("'%{n}'").into(),
            Token::Comdat(s) => format!("'${s}'").into(),
            Token::Meta(n) => format!("'!{n}'").into(),
            Token::MetaName(s) => format!("'!{s}'").into(),
            Token::AttrGroup(n) => format!("'#{n}'").into(),
            Token::Record(s) => format!("'#{s}'").into(),
            Token::Summary => "a summary entry".into(),
            Token::Str(_) | Token::CStr(_) => "a string".into(),
            Token::Punct(c) => format!("'{}'", char::from(*c)).into(),
        }
    }
}

/// Characters of names and labels: `[-a-zA-Z$._0-9]`.
const NAME: u8 = 1;
/// Characters a word may begin with.
const WORD_START: u8 = 2;
const DIGIT: u8 = 4;
const SPACE: u8 = 8;
/// Characters that matter to [`Lexer::skip_balanced`].
const GROUP: u8 = 16;

const CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut i = 0;
    while i < 256 {
        let c = i as u8;
        if c.is_ascii_alphabetic() || c == b'$' || c == b'.' || c == b'_' {
            table[i] |= NAME | WORD_START;
        }
        if c == b'-' {
            table[i] |= NAME;
        }
        if c.is_ascii_digit() {
            table[i] |= NAME | DIGIT;
        }
        if matches!(c, b' ' | b'\t' | b'\n' | b'\r') {
            table[i] |= SPACE;
        }
        if matches!(c, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b';') {
            table[i] |= GROUP;
        }
        i += 1;
    }
    table
}

#[inline]
fn is(c: u8, class: u8) -> bool {
    CLASS[c as usize] & class != 0
}

/// A position in the text. Cheap to copy, which is how the parser looks ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'t> {
    pub(super) text: &'t str,
    pub(super) pos: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, pos: usize) -> Self {
        Self { text, pos }
    }

    #[inline]
    fn byte(&self, at: usize) -> u8 {
        // 0 at the end: it has no class, so every loop below stops there.
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Skips blanks and comments.
    #[inline]
    pub(super) fn skip_space(&mut self) {
        loop {
            let c = self.byte(self.pos);
            if is(c, SPACE) {
                self.pos += 1;
            } else if c == b';' {
                self.pos = self.line_end(self.pos);
            } else {
                return;
            }
        }
    }

    /// The offset of the next newline, or the end.
    fn line_end(&self, from: usize) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(self.text.len(), |n| from + n)
    }

    fn name_end(&self, mut at: usize) -> usize {
        while is(self.byte(at), NAME) {
            at += 1;
        }
        at
    }

    /// The token at the position, and its offset. Moves behind it.
    pub(super) fn next(&mut self) -> PResult<(Token<'t>, usize)> {
        self.skip_space();
        let at = self.pos;
        if at >= self.text.len() {
            return Ok((Token::Eof, at));
        }
        let c = self.byte(at);
        let token = match c {
            b'%' => self.sigil_name(at, Token::Local, Some(Token::LocalNumber))?,
            b'@' => self.sigil_name(at, Token::Global, None)?,
            b'!' => self.metadata(at)?,
            b'#' => self.hash(at)?,
            b'^' => {
                self.pos = self.name_end(at + 1);
                Token::Summary
            }
            b'"' => self.string_or_label(at)?,
            b'$' if self.byte(at + 1) == b'"' => Token::Comdat(self.quoted(at + 1)?),
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b'=' | b'*' | b':'
            | b'|' => {
                self.pos = at + 1;
                Token::Punct(c)
            }
            b'+' => self.number(at, self.name_end(at + 1))?,
            _ if is(c, NAME) => self.word(at, c)?,
            _ => {
                let found = self.text[at..].chars().next().unwrap_or('\0');
                return fail(at, ParseErrorKind::UnexpectedCharacter(found));
            }
        };
        Ok((token, at))
    }

    /// A word, label or number: all begin with a character of names.
    #[inline]
    fn word(&mut self, at: usize, first: u8) -> PResult<Token<'t>> {
        let end = self.name_end(at + 1);
        if self.byte(end) == b':' {
            self.pos = end + 1;
            let name = &self.text[at..end];
            return Ok(if name.bytes().all(|c| c.is_ascii_digit()) {
                Token::LabelNumber(small_number(at, name)?)
            } else {
                Token::Label(name)
            });
        }
        if !is(first, WORD_START) {
            return self.number(at, end);
        }
        if first == b'c' && end == at + 1 && self.byte(end) == b'"' {
            return Ok(Token::CStr(self.quoted(end)?));
        }
        self.pos = end;
        let word = &self.text[at..end];
        Ok(if first == b'$' {
            Token::Comdat(&word[1..])
        } else {
            Token::Word(word)
        })
    }

    /// `end` is the end of the run of name characters; only `e+10` goes on behind it.
    fn number(&mut self, at: usize, mut end: usize) -> PResult<Token<'t>> {
        if self.byte(end) == b'+'
            && matches!(self.byte(end - 1), b'e' | b'E')
            && is(self.byte(end + 1), DIGIT)
        {
            end = self.name_end(end + 1);
        }
        self.pos = end;
        let digits = usize::from(matches!(self.byte(at), b'-' | b'+'));
        if !is(self.byte(at + digits), DIGIT) {
            // `-inf` and the like.
            return Ok(Token::Word(&self.text[at..end]));
        }
        Ok(Token::Number(&self.text[at..end]))
    }

    fn sigil_name(
        &mut self,
        at: usize,
        named: fn(&'t str) -> Token<'t>,
        numbered: Option<fn(u32) -> Token<'t>>,
    ) -> PResult<Token<'t>> {
        let start = at + 1;
        let first = self.byte(start);
        if first == b'"' {
            return Ok(named(self.quoted(start)?));
        }
        let end = if is(first, DIGIT) {
            let mut end = start;
            while is(self.byte(end), DIGIT) {
                end += 1;
            }
            end
        } else {
            self.name_end(start)
        };
        if end == start {
            return fail(
                at,
                ParseErrorKind::Expected {
                    what: "a name",
                    found: "nothing".into(),
                },
            );
        }
        self.pos = end;
        let name = &self.text[start..end];
        match numbered {
            Some(numbered) if is(first, DIGIT) => Ok(numbered(small_number(at, name)?)),
            _ => Ok(named(name)),
        }
    }

    fn metadata(&mut self, at: usize) -> PResult<Token<'t>> {
        let first = self.byte(at + 1);
        if is(first, DIGIT) {
            let end = self.name_end(at + 1);
            self.pos = end;
            return Ok(Token::Meta(small_number(at, &self.text[at + 1..end])?));
        }
        let mut end = at + 1;
        // Escapes are allowed in metadata names without quotes.
        while is(self.byte(end), NAME) || self.byte(end) == b'\\' {
            end += 1;
        }
        self.pos = end;
        Ok(if end == at + 1 {
            Token::Punct(b'!')
        } else {
            Token::MetaName(&self.text[at + 1..end])
        })
    }

    fn hash(&mut self, at: usize) -> PResult<Token<'t>> {
        let end = self.name_end(at + 1);
        let name = &self.text[at + 1..end];
        self.pos = end;
        if name.is_empty() {
            return fail(at, ParseErrorKind::UnexpectedCharacter('#'));
        }
        Ok(if is(self.byte(at + 1), DIGIT) {
            Token::AttrGroup(small_number(at, name)?)
        } else {
            Token::Record(name)
        })
    }

    /// The contents of the string whose opening quote is at `at`. LLVM writes a quote inside as `\22`, so the next
    /// quote always ends it.
    fn quoted(&mut self, at: usize) -> PResult<&'t str> {
        let rest = &self.text.as_bytes()[at + 1..];
        let Some(len) = memchr::memchr(b'"', rest) else {
            return fail(at, ParseErrorKind::UnterminatedString);
        };
        self.pos = at + len + 2;
        Ok(&self.text[at + 1..=at + len])
    }

    fn string_or_label(&mut self, at: usize) -> PResult<Token<'t>> {
        let contents = self.quoted(at)?;
        if self.byte(self.pos) == b':' {
            self.pos += 1;
            return Ok(Token::Label(contents));
        }
        Ok(Token::Str(contents))
    }

    /// The offset behind the bracket that closes the one at `open`. Strings and comments are passed over, so this is
    /// exact on any text, and fast enough to skip whole function bodies.
    pub(super) fn skip_balanced(&self, open: usize) -> PResult<usize> {
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        let mut at = open;
        while let Some(skip) = bytes
            .get(at..)
            .and_then(|b| b.iter().position(|&c| is(c, GROUP)))
        {
            at += skip;
            match bytes[at] {
                b'"' => match memchr::memchr(b'"', &bytes[at + 1..]) {
                    Some(len) => at += len + 1,
                    None => return fail(at, ParseErrorKind::UnterminatedString),
                },
                b';' => at = self.line_end(at),
                b'(' | b'[' | b'{' => depth += 1,
                _ => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(at + 1);
                    }
                }
            }
            at += 1;
        }
        fail(open, ParseErrorKind::UnterminatedGroup)
    }
}

fn small_number(at: usize, digits: &str) -> PResult<u32> {
    match digits.parse() {
        Ok(n) => Ok(n),
        Err(_) => fail(at, ParseErrorKind::BadNumber(digits.into())),
    }
}

/// The bytes that a string token stands for: `\xx` is a byte in hexadecimal, `\\` a backslash.
pub(super) fn unescape_bytes(raw: &str) -> Vec<u8> {
    let raw = raw.as_bytes();
    let mut out = Vec::with_capacity(raw.len());
    let mut i = 0;
    while i < raw.len() {
        if raw[i] == b'\\' {
            if raw.get(i + 1) == Some(&b'\\') {
                out.push(b'\\');
                i += 2;
                continue;
            }
            if let (Some(high), Some(low)) = (hex(raw.get(i + 1)), hex(raw.get(i + 2))) {
                out.push(high * 16 + low);
                i += 3;
                continue;
            }
        }
        out.push(raw[i]);
        i += 1;
    }
    out
}

fn hex(c: Option<&u8>) -> Option<u8> {
    let digit = char::from(*c?).to_digit(16)?;
    u8::try_from(digit).ok()
}

/// The name a token stands for. A name that is not UTF-8 keeps its escapes: it only has to be unique.
pub(super) fn unescape_name(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    match String::from_utf8(unescape_bytes(raw)) {
        Ok(name) => Cow::Owned(name),
        Err(_) => Cow::Borrowed(raw),
    }
}
