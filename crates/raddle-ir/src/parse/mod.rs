//! The parser of LLVM IR text.
//!
//! A module is read in two steps. The first walks over the top level once: it registers every type, global and
//! function, and only notes where initialisers, bodies and metadata nodes begin. The second reads the initialisers,
//! when all names are known. Bodies are read when [`Module::parse_body`] asks for them, metadata nodes when a body
//! refers to them: most of a large module is never looked at.
//!
//! Accepted is what clang 14 to 22 and rustc print, and most of what `llvm-as` accepts. Attributes that mean nothing
//! here are passed over without knowing them, which is what makes one parser fit all these versions.

mod attributes;
mod body;
mod calls;
mod constants;
mod debug_locs;
mod error;
mod instructions;
mod lexer;
mod link;
mod memory;
mod metadata;
mod number;
mod parser;
mod records;
mod source_types;
mod symbols;
mod terminators;
mod toplevel;
mod types;
mod words;

#[cfg(test)]
mod tests;

pub use error::{ParseError, ParseErrorKind};
pub use link::{LinkError, LinkInput, LinkSymbols, link_modules, link_symbols};

use crate::ids::FuncId;
use crate::inst::Body;
use crate::module::{Function, Module, Symbol};
use error::{Failure, PResult, fail};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// Where a function is defined in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodySource {
    /// The `(` in front of the parameters.
    params_at: u32,
    /// Behind the `{`.
    body_at: u32,
    /// Behind the `}`.
    end: u32,
}

/// What a parsed module keeps to read the rest on demand.
#[derive(Clone)]
pub(crate) struct Parsed {
    text: Arc<str>,
    name: Box<str>,
    pub(crate) common: types::CommonTypes,
    type_names: types::TypeNames,
    /// Beside [`Module::functions`].
    bodies: Vec<Option<BodySource>>,
    aliases: FxHashMap<Box<str>, symbols::Alias>,
    metadata: metadata::Metadata,
}

impl Parsed {
    /// How often the text has these characters.
    pub(crate) fn mentions(&self, characters: &str) -> usize {
        self.text.matches(characters).count()
    }
}

impl Default for Parsed {
    fn default() -> Self {
        Self {
            text: Arc::from(""),
            name: Box::default(),
            common: types::CommonTypes::unset(),
            type_names: types::TypeNames::default(),
            bodies: Vec::new(),
            aliases: FxHashMap::default(),
            metadata: metadata::Metadata::default(),
        }
    }
}

impl fmt::Debug for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parsed")
            .field("name", &self.name)
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

/// Reads the text of a module. `name` is what messages call it, usually its path.
///
/// ```
/// let text = "define i32 @twice(i32 %x) {\n  %y = shl i32 %x, 1\n  ret i32 %y\n}\n";
/// let mut module = raddle_ir::parse_module(text, "twice.ll")?;
/// let twice = module.function_named("twice").expect("it is defined");
/// let body = module.parse_body(twice)?;
/// raddle_ir::verify(&module, &body).expect("the parser makes whole bodies");
/// assert_eq!(body.blocks[0].insts.len(), 1);
/// # Ok::<(), raddle_ir::ParseError>(())
/// ```
pub fn parse_module(text: impl Into<Arc<str>>, name: &str) -> Result<Module, ParseError> {
    let text = text.into();
    let mut module = Module::default();
    module.parsed.text = Arc::clone(&text);
    module.parsed.name = name.into();
    module.parsed.common = types::CommonTypes::new(&mut module.types);
    match toplevel::parse(&text, &mut module) {
        Ok(()) => Ok(module),
        Err(failure) => Err(failure.locate(&text, name)),
    }
}

impl Module {
    /// The functions whose bodies mention the function of this name, in order. None stands for whatever else does: a table of
    /// functions, say.
    #[must_use]
    pub fn mentioned_by(&self, name: &str) -> Vec<Option<FuncId>> {
        let text: &str = &self.parsed.text;
        let mention = format!("@{name}");
        let bodies = self.parsed.bodies.iter().enumerate();
        let mut bodies: Vec<(u32, u32, FuncId)> = bodies
            .filter_map(|(index, body)| {
                let BodySource { body_at, end, .. } = (*body)?;
                Some((body_at, end, FuncId::from_index(index)))
            })
            .collect();
        bodies.sort_unstable();
        let mut found = Vec::new();
        for (at, _) in text.match_indices(mention.as_str()) {
            let rest = &text[at + mention.len()..];
            let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
            let is_longer = |letter: char| letter.is_alphanumeric() || "_.$-".contains(letter);
            let is_head = line.starts_with("define ") || line.starts_with("declare ");
            if rest.starts_with(is_longer) || is_head {
                continue;
            }
            let behind = bodies.partition_point(|&(start, ..)| start as usize <= at);
            let body = behind.checked_sub(1).map(|index| bodies[index]);
            let inside = body.filter(|&(_, end, _)| at < end as usize);
            found.push(inside.map(|(.., id)| id));
        }
        found
    }

    /// Reads the body of a defined function. It is read anew each time: the caller owns it and may transform it.
    pub fn parse_body(&mut self, id: FuncId) -> Result<Body, ParseError> {
        let text = Arc::clone(&self.parsed.text);
        let result = match self.parsed.bodies.get(id.index()) {
            Some(&Some(source)) => body::parse(&text, self, id, source),
            _ => {
                let function = self.functions.get(id.index());
                let name = function.map_or("?", |function| &function.name).into();
                fail(0, ParseErrorKind::NoBody(name))
            }
        };
        result.map_err(|failure: Failure| failure.locate(&text, &self.parsed.name))
    }
}

impl Module {
    /// Another function with the same text, under a name that no other has.
    pub fn copy_function(&mut self, id: FuncId, name: &str) -> FuncId {
        let copy = FuncId::from_index(self.functions.len());
        let function = Function {
            name: name.into(),
            ..self.function(id).clone()
        };
        let body = self.parsed.bodies.get(id.index()).copied().flatten();
        self.functions.push(function);
        self.parsed.bodies.resize(copy.index(), None);
        self.parsed.bodies.push(body);
        self.symbols.insert(name.into(), Symbol::Function(copy));
        copy
    }
}

/// Offsets are stored in 32 bits.
fn offset(at: usize) -> PResult<u32> {
    match u32::try_from(at) {
        Ok(at) => Ok(at),
        Err(_) => fail(0, ParseErrorKind::TooLarge),
    }
}
