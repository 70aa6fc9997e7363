//! Source positions: `!DILocation` and the scopes they lie in.

use super::error::{PResult, ParseErrorKind};
use super::lexer::unescape_name;
use super::parser::Parser;
use crate::debug::DebugLoc;
use crate::ids::{DebugLocId, FuncId, GlobalId};
use std::sync::Arc;

/// Longer chains of scopes or of inlined calls than this are taken for cycles.
const MAX_CHAIN: usize = 4096;

/// The file and function that a scope stands for.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    file: Option<Arc<str>>,
    function: Option<Arc<str>>,
}

impl Parser<'_, '_> {
    /// The position that `!dbg !number` stands for. Nodes of other kinds stand for none.
    pub(super) fn debug_loc(&mut self, number: u32) -> PResult<Option<DebugLocId>> {
        // The calls it was inlined at, innermost first, up to one that is known. Then they are made from the
        // outermost in, so that each finds the one it points to.
        let mut chain = Vec::new();
        let mut next = Some(number);
        let mut outer = None;
        while let Some(number) = next {
            if let Some(&known) = self.module.parsed.metadata.locs.get(&number) {
                outer = Some(known);
                break;
            }
            let Some(node) = self.node_of_kind(number, "DILocation")? else {
                break;
            };
            if chain.len() >= MAX_CHAIN {
                return self.fail(ParseErrorKind::Invalid("inlinedAt is cyclic"));
            }
            next = node.node("inlinedAt");
            chain.push((number, node));
        }
        for (number, node) in chain.into_iter().rev() {
            let scope = match node.node("scope") {
                Some(scope) => self.scope(scope)?,
                None => Scope::default(),
            };
            let loc = DebugLoc {
                file: scope.file.as_deref().unwrap_or("").into(),
                line: node.u32("line"),
                column: node.u32("column"),
                function: scope.function.as_deref().map(Into::into),
                inlined_at: outer,
            };
            let id = DebugLocId::from_index(self.module.debug.locs.len());
            self.module.debug.locs.push(loc);
            self.module.parsed.metadata.locs.insert(number, id);
            outer = Some(id);
        }
        Ok(outer)
    }

    /// Blocks have the file they name and the function around them.
    fn scope(&mut self, number: u32) -> PResult<Scope> {
        if let Some(scope) = self.module.parsed.metadata.scopes.get(&number) {
            return Ok(scope.clone());
        }
        let mut scope = Scope::default();
        let mut next = Some(number);
        for _ in 0..MAX_CHAIN {
            let Some(current) = next else { break };
            let node = self.node(current)?;
            if scope.file.is_none() {
                scope.file = match node.kind {
                    "DIFile" => Some(self.file(current)?),
                    _ => match node.node("file") {
                        Some(file) => Some(self.file(file)?),
                        None => None,
                    },
                };
            }
            if node.kind == "DISubprogram" {
                // What the compiler makes up itself has the name of the symbol only.
                let name = node.str("name").or_else(|| node.str("linkageName"));
                scope.function = name.map(|name| unescape_name(name).into());
                if scope.file.is_some() {
                    break;
                }
            }
            next = node.node("scope");
        }
        let scopes = &mut self.module.parsed.metadata.scopes;
        scopes.insert(number, scope.clone());
        Ok(scope)
    }

    fn file(&mut self, number: u32) -> PResult<Arc<str>> {
        if let Some(file) = self.module.parsed.metadata.files.get(&number) {
            return Ok(Arc::clone(file));
        }
        let node = self.node(number)?;
        let name = unescape_name(node.str("filename").unwrap_or(""));
        let directory = unescape_name(node.str("directory").unwrap_or(""));
        let absolute = name.starts_with('/') || name.get(1..3) == Some(":\\");
        let file: Arc<str> = if absolute || directory.is_empty() || name.is_empty() {
            Arc::from(&*name)
        } else {
            let directory = directory.trim_end_matches('/');
            Arc::from(format!("{directory}/{name}"))
        };
        let files = &mut self.module.parsed.metadata.files;
        files.insert(number, Arc::clone(&file));
        Ok(file)
    }

    /// `!dbg` of a function: a `DISubprogram`.
    pub(super) fn locate_function(&mut self, id: FuncId, number: u32) -> PResult<()> {
        let Some(node) = self.node_of_kind(number, "DISubprogram")? else {
            return Ok(());
        };
        let scope = self.scope(number)?;
        self.module.functions[id.index()].defined_at = Some(DebugLoc {
            file: scope.file.as_deref().unwrap_or("").into(),
            line: node.u32("line"),
            column: 0,
            function: scope.function.as_deref().map(Into::into),
            inlined_at: None,
        });
        Ok(())
    }

    /// `!dbg` of a global: its name, its type and its place in the source.
    pub(super) fn describe_global(&mut self, id: GlobalId, number: u32) -> PResult<()> {
        let node = self.node(number)?;
        let variable = match node.kind {
            "DIGlobalVariable" => node,
            _ => match node.node("var") {
                Some(variable) => self.node(variable)?,
                None => return Ok(()),
            },
        };
        let source_type = match variable.node("type") {
            Some(ty) => Some(self.source_type(ty)?),
            None => None,
        };
        let line = variable.u32("line");
        let declared_at = match variable.node("file") {
            Some(file) if line != 0 => Some((self.file(file)?, line)),
            _ => None,
        };
        let global = &mut self.module.globals[id.index()];
        global.source_type = source_type;
        global.declared_at = declared_at;
        global.source_name = variable.str("name").map(|name| unescape_name(name).into());
        Ok(())
    }
}
