//! A module, cut into its definitions.

use super::super::error::{PResult, ParseError};
use super::super::lexer::{Lexer, Token};

/// What others see of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Linkage {
    /// `private`, `internal`.
    Local,
    Strong,
    /// `weak`, `linkonce` and their `_odr` forms.
    Weak,
    /// A tentative definition of C.
    Common,
    /// A copy of what another module defines.
    Copy,
    Declared,
    /// `llvm.global_ctors` and its like.
    Appending,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind<'t> {
    /// Of the whole module: its name, and what it is for.
    Head,
    /// Attributes and nodes, which have numbers of their own.
    Always,
    Comdat(&'t str),
    Type(&'t str),
    Symbol {
        name: &'t str,
        linkage: Linkage,
    },
    /// `!llvm.dbg.cu = !{…}`
    List(&'t str),
    /// Means something to LLVM only.
    Dropped,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<'t> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind<'t>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scanned<'t> {
    pub(super) entries: Vec<Entry<'t>>,
    pub(super) layout: Option<&'t str>,
    /// One more than the largest number of a node, and of a group of attributes.
    pub(super) metas: u32,
    pub(super) groups: u32,
    /// Is there a `%0 = type …`?
    pub(super) numbered_type: bool,
}

pub(super) fn scan<'t>(text: &'t str, name: &str) -> Result<Scanned<'t>, ParseError> {
    scanned(text).map_err(|failure| failure.locate(text, name))
}

/// A definition begins at the start of a line, outside of all brackets, with what only a definition begins with. So nothing of what is in it has
/// to be understood.
fn scanned(text: &str) -> PResult<Scanned<'_>> {
    let mut module = Scanned::default();
    let mut lexer = Lexer::new(text, 0);
    let mut depth = 0usize;
    let mut end = 0;
    let mut begun: Option<Entry<'_>> = None;
    loop {
        let (token, at) = lexer.next()?;
        if depth == 0
            && (token == Token::Eof || is_line_start(text, at))
            && let Some(kind) = kind_of(token, lexer)?
        {
            if let Some(mut entry) = begun.take() {
                entry.end = end;
                module.entries.push(entry);
            }
            if token == Token::Eof {
                return Ok(module);
            }
            module.note(token, lexer);
            begun = Some(Entry {
                start: at,
                end: at,
                kind,
            });
        }
        match token {
            Token::Punct(b'(' | b'[' | b'{') => depth += 1,
            Token::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            Token::Meta(number) => module.metas = module.metas.max(number.saturating_add(1)),
            Token::AttrGroup(number) => module.groups = module.groups.max(number.saturating_add(1)),
            Token::Eof => {
                // A bracket is open: whoever reads the module will say so.
                if let Some(mut entry) = begun.take() {
                    entry.end = end;
                    module.entries.push(entry);
                }
                return Ok(module);
            }
            _ => {}
        }
        end = lexer.pos;
    }
}

impl<'t> Scanned<'t> {
    fn note(&mut self, token: Token<'t>, mut behind: Lexer<'t>) {
        match token {
            Token::LocalNumber(_) => self.numbered_type = true,
            Token::Word("target") => {
                // `target datalayout = "…"`
                if let (
                    Ok((Token::Word("datalayout"), _)),
                    Ok((Token::Punct(b'='), _)),
                    Ok((Token::Str(layout), _)),
                ) = (behind.next(), behind.next(), behind.next())
                {
                    self.layout = Some(layout);
                }
            }
            _ => {}
        }
    }
}

fn is_line_start(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

/// What begins with the token, if a definition does. The lexer stands behind it.
fn kind_of<'t>(token: Token<'t>, mut behind: Lexer<'t>) -> PResult<Option<Kind<'t>>> {
    let mut ahead = behind;
    let mut is_definition = || Ok(ahead.next()?.0 == Token::Punct(b'='));
    Ok(Some(match token {
        Token::Eof => Kind::Dropped,
        Token::Word("source_filename" | "target") => Kind::Head,
        Token::Word("module" | "attributes") => Kind::Always,
        Token::Word("uselistorder" | "uselistorder_bb") => Kind::Dropped,
        Token::Word("declare") => function(behind, Linkage::Declared)?,
        Token::Word("define") => function(behind, Linkage::Strong)?,
        Token::Summary => Kind::Dropped,
        Token::Local(name) if is_definition()? => Kind::Type(name),
        Token::LocalNumber(_) if is_definition()? => Kind::Always,
        Token::Comdat(name) if is_definition()? => Kind::Comdat(name),
        Token::Meta(_) if is_definition()? => Kind::Always,
        Token::MetaName(name) if is_definition()? => Kind::List(name),
        Token::Global(name) if is_definition()? => {
            behind.next()?;
            Kind::Symbol {
                name,
                linkage: variable(behind)?,
            }
        }
        _ => return Ok(None),
    }))
}

/// The linkage of a variable, an alias or an ifunc; the lexer stands behind the `=`.
fn variable(mut lexer: Lexer<'_>) -> PResult<Linkage> {
    let mut linkage = Linkage::Strong;
    loop {
        match lexer.next()?.0 {
            Token::Word("global" | "constant" | "alias" | "ifunc") | Token::Eof => {
                return Ok(linkage);
            }
            Token::Word(word) => linkage = stated(word).unwrap_or(linkage),
            _ => {}
        }
    }
}

fn function<'t>(mut lexer: Lexer<'t>, default: Linkage) -> PResult<Kind<'t>> {
    let mut linkage = default;
    loop {
        match lexer.next()?.0 {
            Token::Global(name) => return Ok(Kind::Symbol { name, linkage }),
            Token::Eof => return Ok(Kind::Dropped),
            Token::Word(word) if default != Linkage::Declared => {
                linkage = stated(word).unwrap_or(linkage);
            }
            _ => {}
        }
    }
}

fn stated(word: &str) -> Option<Linkage> {
    Some(match word {
        "private" | "internal" => Linkage::Local,
        "weak" | "weak_odr" | "linkonce" | "linkonce_odr" => Linkage::Weak,
        "common" => Linkage::Common,
        "available_externally" => Linkage::Copy,
        "appending" => Linkage::Appending,
        "external" | "extern_weak" => Linkage::Declared,
        _ => return None,
    })
}

/// `… [2 x T] [T a, T b]…`: the type of an element, and the elements without it.
pub(super) fn elements(definition: &str) -> Option<(String, Vec<String>)> {
    let mut lexer = Lexer::new(definition, 0);
    let open = loop {
        match lexer.next().ok()? {
            (Token::Punct(b'['), at) => break at,
            (Token::Eof, _) => return None,
            _ => {}
        }
    };
    let type_end = lexer.skip_balanced(open).ok()?;
    let by = definition[open..type_end].find(" x ")?;
    let element = definition[open + by + 3..type_end - 1].trim();
    let mut lexer = Lexer::new(definition, type_end);
    let (Token::Punct(b'['), list) = lexer.next().ok()? else {
        return None;
    };
    let list_end = lexer.skip_balanced(list).ok()?;
    let mut elements = Vec::new();
    let mut rest = definition[list + 1..list_end - 1].trim();
    while let Some(value) = rest.strip_prefix(element) {
        // Up to the comma outside of all brackets.
        let mut lexer = Lexer::new(value, 0);
        let mut depth = 0usize;
        let end = loop {
            match lexer.next().ok()? {
                (Token::Punct(b'(' | b'[' | b'{'), _) => depth += 1,
                (Token::Punct(b')' | b']' | b'}'), _) => depth = depth.saturating_sub(1),
                (Token::Punct(b','), at) if depth == 0 => break at,
                (Token::Eof, at) => break at,
                _ => {}
            }
        };
        elements.push(value[..end].trim().to_owned());
        rest = value[end..].trim_start_matches([',', ' ', '\n', '\t']);
    }
    Some((element.to_owned(), elements))
}
