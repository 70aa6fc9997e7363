//! Several modules become one: what a linker does, on the text of LLVM IR.
//!
//! Bodies are read from the text when they are first called, so the text is what is linked. Names are all that has to be understood for
//! that: each module is cut into its definitions, symbols are resolved as `ld` does, and the definitions that are kept are
//! written with the names that they have in the whole.
//!
//! - Symbols with `internal` or `private` linkage are renamed where another module uses the name.
//! - A symbol that several modules define must be `weak`, `linkonce` or `common` in all but one. The strong definition counts, else the first.
//! - Structs of the same name are one if they are the same all the way down, and are renamed otherwise. One that is `opaque` in a module is
//!   whatever another module says.
//! - Metadata nodes and groups of attributes are numbered anew. Debug information is kept whole.
//! - Constructors and destructors of all modules are listed, in the order of the modules.

mod resolve;
mod scan;
mod types;

#[cfg(test)]
mod tests;

use super::error::ParseError;
use super::lexer::{Lexer, Token};
use resolve::Resolved;
use rustc_hash::{FxHashMap, FxHashSet};
use scan::{Entry, Kind, Scanned};
use std::fmt;
use std::fmt::Write;

/// A module to link.
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'t> {
    /// What messages call it: the source file.
    pub name: &'t str,
    pub text: &'t str,
}

/// Why modules do not make one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    Unreadable(ParseError),
    /// Two modules define what only one may.
    Duplicate {
        symbol: Box<str>,
        first: Box<str>,
        second: Box<str>,
    },
    /// Tentative definitions of different types: which one counts depends on the linker.
    DifferentTypes {
        symbol: Box<str>,
        first: Box<str>,
        second: Box<str>,
    },
    /// They are for different machines.
    DifferentTargets {
        first: Box<str>,
        second: Box<str>,
    },
    /// A struct without a name of its own, which cannot be told from a value.
    NumberedType {
        file: Box<str>,
    },
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => error.fmt(f),
            Self::Duplicate {
                symbol,
                first,
                second,
            } => write!(f, "`{symbol}` is defined in {first} and in {second}"),
            Self::DifferentTypes {
                symbol,
                first,
                second,
            } => write!(
                f,
                "`{symbol}` is defined without a value in {first} and in {second}, with different types"
            ),
            Self::DifferentTargets { first, second } => {
                write!(
                    f,
                    "{first} and {second} are compiled for different machines"
                )
            }
            Self::NumberedType { file } => write!(
                f,
                "{file}: it has a struct type without a name (`%0 = type …`), and such modules are not linked"
            ),
        }
    }
}

impl std::error::Error for LinkError {}

/// What a module offers to others, and what it needs of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkSymbols {
    /// Names that others can refer to, in the order of the text.
    pub defined: Vec<Box<str>>,
    /// Names that are declared and that the module does not define; intrinsics are not among them.
    pub needed: Vec<Box<str>>,
}

/// The symbols of a module for others. `name` is for messages.
pub fn link_symbols(text: &str, name: &str) -> Result<LinkSymbols, ParseError> {
    let scanned = scan::scan(text, name)?;
    let mut symbols = LinkSymbols::default();
    for entry in &scanned.entries {
        let Kind::Symbol { name, linkage } = &entry.kind else {
            continue;
        };
        let name = super::lexer::unescape_name(name);
        match linkage {
            scan::Linkage::Local | scan::Linkage::Appending => {}
            scan::Linkage::Declared if name.starts_with("llvm.") => {}
            scan::Linkage::Declared => symbols.needed.push(name.into()),
            _ => symbols.defined.push(name.into()),
        }
    }
    Ok(symbols)
}

/// One module with all that the others define.
pub fn link_modules(inputs: &[LinkInput<'_>]) -> Result<String, LinkError> {
    if let [only] = inputs {
        return Ok(only.text.to_owned());
    }
    let mut modules = Vec::with_capacity(inputs.len());
    for input in inputs {
        modules.push(scan::scan(input.text, input.name).map_err(LinkError::Unreadable)?);
    }
    same_target(inputs, &modules)?;
    let resolved = resolve::resolve(inputs, &modules)?;
    let types = types::unify(inputs, &modules)?;
    let mut out = Linked::default();
    for (index, module) in modules.iter().enumerate() {
        let names = Names {
            symbols: &resolved.renamed[index],
            types: &types.renamed[index],
            meta: out.meta,
            groups: out.groups,
        };
        out.add(index, module, inputs[index].text, &names, &resolved, &types);
        out.meta += module.metas;
        out.groups += module.groups;
    }
    Ok(out.finish())
}

fn same_target(inputs: &[LinkInput<'_>], modules: &[Scanned<'_>]) -> Result<(), LinkError> {
    for (input, module) in inputs.iter().zip(modules).skip(1) {
        if module.layout != modules[0].layout {
            return Err(LinkError::DifferentTargets {
                first: inputs[0].name.into(),
                second: input.name.into(),
            });
        }
    }
    Ok(())
}

/// What the names of one module become.
struct Names<'a> {
    symbols: &'a FxHashMap<&'a str, String>,
    types: &'a FxHashMap<&'a str, String>,
    /// Added to the numbers of metadata nodes, and of groups of attributes.
    meta: u32,
    groups: u32,
}

/// The module as it is written.
#[derive(Default)]
struct Linked {
    text: String,
    /// Numbers that are taken.
    meta: u32,
    groups: u32,
    comdats: FxHashSet<Box<str>>,
    /// Elements of `llvm.global_ctors` and its like, with the type of an element.
    tables: Vec<Table>,
    /// Lists of nodes, such as `llvm.dbg.cu`.
    lists: Vec<(Box<str>, Vec<String>)>,
}

struct Table {
    name: Box<str>,
    element: String,
    elements: Vec<String>,
}

impl Linked {
    fn add(
        &mut self,
        index: usize,
        module: &Scanned<'_>,
        text: &str,
        names: &Names<'_>,
        resolved: &Resolved<'_>,
        types: &types::Unified<'_>,
    ) {
        for (at, entry) in module.entries.iter().enumerate() {
            let span = &text[entry.start..entry.end];
            let keep = match &entry.kind {
                Kind::Head => index == 0,
                Kind::Always => true,
                Kind::Comdat(name) => self.comdats.insert((*name).into()),
                Kind::Type(_) => types.kept.contains(&(index, at)),
                Kind::Symbol { name, linkage } => {
                    if *linkage == scan::Linkage::Appending {
                        self.append(name, &renamed(span, names));
                        continue;
                    }
                    resolved.is_kept(index, at)
                }
                Kind::List(name) => {
                    self.extend_list(name, span, names);
                    continue;
                }
                Kind::Dropped => false,
            };
            if keep {
                self.text.push_str(&renamed(span, names));
                self.text.push('\n');
            }
        }
    }

    /// `@llvm.global_ctors = appending global [1 x T] [T element], section "…"`.
    fn append(&mut self, name: &str, definition: &str) {
        let Some((element, elements)) = scan::elements(definition) else {
            return;
        };
        match self.tables.iter_mut().find(|table| *table.name == *name) {
            Some(table) => table.elements.extend(elements),
            None => self.tables.push(Table {
                name: name.into(),
                element,
                elements,
            }),
        }
    }

    fn extend_list(&mut self, name: &str, span: &str, names: &Names<'_>) {
        let mut nodes = Vec::new();
        let mut lexer = Lexer::new(span, 0);
        while let Ok((token, _)) = lexer.next() {
            match token {
                Token::Eof => break,
                Token::Meta(number) => nodes.push(format!("!{}", number + names.meta)),
                _ => {}
            }
        }
        match self.lists.iter_mut().find(|(it, _)| **it == *name) {
            Some((_, list)) => list.extend(nodes),
            None => self.lists.push((name.into(), nodes)),
        }
    }

    fn finish(mut self) -> String {
        for table in &self.tables {
            let elements: Vec<String> = (table.elements.iter())
                .map(|element| format!("{} {element}", table.element))
                .collect();
            let _ = writeln!(
                self.text,
                "@{} = appending global [{} x {}] [{}]",
                table.name,
                elements.len(),
                table.element,
                elements.join(", ")
            );
        }
        for (name, nodes) in &self.lists {
            let _ = writeln!(self.text, "!{name} = !{{{}}}", nodes.join(", "));
        }
        self.text
    }
}

/// A definition with the names of the whole.
fn renamed(span: &str, names: &Names<'_>) -> String {
    let mut out = String::with_capacity(span.len() + span.len() / 8);
    let mut copied = 0;
    let mut lexer = Lexer::new(span, 0);
    // The scan has read all of it.
    while let Ok((token, at)) = lexer.next() {
        let new = match token {
            Token::Eof => break,
            Token::Global(name) => names.symbols.get(name).map(|new| format!("@\"{new}\"")),
            Token::Local(name) => names.types.get(name).map(|new| format!("%\"{new}\"")),
            Token::Meta(number) if names.meta > 0 => Some(format!("!{}", number + names.meta)),
            Token::AttrGroup(number) if names.groups > 0 => {
                Some(format!("#{}", number + names.groups))
            }
            _ => None,
        };
        if let Some(new) = new {
            out.push_str(&span[copied..at]);
            out.push_str(&new);
            copied = lexer.pos;
        }
    }
    out.push_str(&span[copied..]);
    out
}

/// Is the entry a definition that others may refer to?
fn symbol<'a, 't>(entry: &'a Entry<'t>) -> Option<(&'t str, scan::Linkage, &'a Entry<'t>)> {
    match &entry.kind {
        Kind::Symbol { name, linkage } => Some((name, *linkage, entry)),
        _ => None,
    }
}
