//! What can be wrong with a module's text.

use std::fmt;

/// Why a module or a function body could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The name given to [`crate::parse_module`], usually a path.
    pub file: Box<str>,
    /// Counted from 1.
    pub line: u32,
    /// In bytes, counted from 1.
    pub column: u32,
    pub kind: ParseErrorKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// Something else stands where `what` should.
    Expected {
        what: &'static str,
        found: Box<str>,
    },
    UnexpectedCharacter(char),
    UnterminatedString,
    UnterminatedGroup,
    /// A value, block, symbol, type or metadata node that nothing defines.
    Undefined {
        what: &'static str,
        name: Box<str>,
    },
    Redefined {
        what: &'static str,
        name: Box<str>,
    },
    /// A value used with another type than it was defined with.
    TypeMismatch {
        name: Box<str>,
        defined: Box<str>,
        used: Box<str>,
    },
    /// The text is well-formed, but the rule given is broken.
    Invalid(&'static str),
    /// A number that does not fit where it stands.
    BadNumber(Box<str>),
    /// Types, constants or metadata nested beyond what any compiler emits.
    TooDeep,
    /// More than 4 GiB of text.
    TooLarge,
    /// A named struct that contains itself.
    RecursiveType(Box<str>),
    /// An alias that stands for itself.
    CyclicAlias(Box<str>),
    /// Not a 64-bit little-endian target, nor i386.
    UnsupportedTarget(Box<str>),
    /// Known to LLVM but not to us.
    Unsupported(Box<str>),
    /// The function is only declared.
    NoBody(Box<str>),
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected { what, found } => write!(f, "expected {what}, found {found}"),
            Self::UnexpectedCharacter(c) => write!(f, "unexpected character {c:?}"),
            Self::UnterminatedString => f.write_str("string without end"),
            Self::UnterminatedGroup => f.write_str("bracket without its closing bracket"),
            Self::Undefined { what, name } => write!(f, "undefined {what} '{name}'"),
            Self::Redefined { what, name } => write!(f, "{what} '{name}' is defined twice"),
            Self::TypeMismatch {
                name,
                defined,
                used,
            } => write!(f, "'{name}' has type {defined} but is used as {used}"),
            Self::Invalid(rule) => f.write_str(rule),
            Self::BadNumber(text) => write!(f, "the number '{text}' does not fit here"),
            Self::TooDeep => f.write_str("nested too deeply"),
            Self::TooLarge => f.write_str("the text is larger than 4 GiB"),
            Self::RecursiveType(name) => write!(f, "the type '%{name}' contains itself"),
            Self::CyclicAlias(name) => write!(f, "the alias '@{name}' stands for itself"),
            Self::UnsupportedTarget(layout) => write!(
                f,
                "only 64-bit little-endian targets and i386 are supported (data layout '{layout}')"
            ),
            Self::Unsupported(what) => write!(f, "unsupported: {what}"),
            Self::NoBody(name) => write!(f, "the function '@{name}' is declared but not defined"),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}",
            self.file, self.line, self.column, self.kind
        )
    }
}

impl std::error::Error for ParseError {}

/// An error with its byte offset. Line and column are counted only when it leaves the parser; the box keeps the
/// results of the inner functions small.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) at: usize,
    pub(super) kind: Box<ParseErrorKind>,
}

pub(super) type PResult<T> = Result<T, Failure>;

pub(super) fn fail<T>(at: usize, kind: ParseErrorKind) -> PResult<T> {
    Err(Failure {
        at,
        kind: Box::new(kind),
    })
}

impl Failure {
    pub(super) fn locate(self, text: &str, file: &str) -> ParseError {
        let before = text.as_bytes().get(..self.at).unwrap_or(text.as_bytes());
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let as_u32 = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        ParseError {
            file: file.into(),
            line: as_u32(line),
            column: as_u32(before.len() - line_start + 1),
            kind: *self.kind,
        }
    }
}
