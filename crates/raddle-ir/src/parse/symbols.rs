//! Names of the top level, and the aliases among them.

use super::body;
use super::error::{PResult, ParseErrorKind, fail};
use super::parser::Parser;
use crate::constant::Constant;
use crate::ids::{FuncId, TypeId};
use crate::inst::{Operand, Terminator};
use crate::module::{Function, Symbol};
use crate::types::Type;

/// An alias that was met but not yet looked through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alias {
    /// Where the type and constant it stands for begin.
    pub(super) target_at: u32,
    /// Set while it is being resolved: meeting it again then is a cycle.
    pub(super) busy: bool,
}

impl Parser<'_, '_> {
    /// Registers a name; a second definition is an error.
    pub(super) fn define_symbol(&mut self, name: &str, symbol: Symbol, at: usize) -> PResult<()> {
        if self.module.symbols.contains_key(name) || self.module.parsed.aliases.contains_key(name) {
            return fail(
                at,
                ParseErrorKind::Redefined {
                    what: "symbol",
                    name: format!("@{name}").into(),
                },
            );
        }
        self.module.symbols.insert(name.into(), symbol);
        Ok(())
    }

    pub(super) fn define_alias(&mut self, name: &str, target_at: u32, at: usize) -> PResult<()> {
        let alias = Alias {
            target_at,
            busy: false,
        };
        let taken = self.module.symbols.contains_key(name)
            || self
                .module
                .parsed
                .aliases
                .insert(name.into(), alias)
                .is_some();
        if taken {
            return fail(
                at,
                ParseErrorKind::Redefined {
                    what: "symbol",
                    name: format!("@{name}").into(),
                },
            );
        }
        Ok(())
    }

    /// What an alias stands for. It is remembered, so that each is read once.
    pub(super) fn resolve_alias(&mut self, name: &str) -> PResult<Symbol> {
        let Some(alias) = self.module.parsed.aliases.get_mut(name) else {
            return self.fail(ParseErrorKind::Undefined {
                what: "symbol",
                name: format!("@{name}").into(),
            });
        };
        if alias.busy {
            return self.fail(ParseErrorKind::CyclicAlias(name.into()));
        }
        alias.busy = true;
        let target_at = alias.target_at as usize;
        // Read in place, so that the nesting of aliases counts as nesting.
        let back = self.at;
        self.jump(target_at)?;
        // A cast or address computation states its type itself; a name has it in front.
        let target = if self.at_type() {
            self.typed_constant()?.1
        } else {
            let ptr = self.common().ptr;
            self.constant(ptr)?
        };
        self.jump(back)?;
        let symbol = match self.module.constant(target) {
            Constant::Global(id) => Symbol::Global(*id),
            Constant::Function(id) => Symbol::Function(*id),
            _ => Symbol::Constant(target),
        };
        self.module.parsed.aliases.remove(name);
        self.module.symbols.insert(name.into(), symbol);
        Ok(symbol)
    }

    /// An ifunc is a function whose code is chosen at load time: for us one that is only declared, until
    /// [`Self::resolve_ifunc`] finds what is chosen.
    pub(super) fn declare_ifunc(&mut self, name: &str, ty: TypeId, at: usize) -> PResult<FuncId> {
        let Type::Function { params, .. } = self.type_of(ty) else {
            return fail(at, ParseErrorKind::Invalid("an ifunc must be a function"));
        };
        let params = params.len();
        let id = FuncId::from_index(self.module.functions.len());
        self.define_symbol(name, Symbol::Function(id), at)?;
        self.module.functions.push(Function {
            name: name.into(),
            ty,
            is_declaration: true,
            param_nocapture: vec![false; params],
            param_byval: vec![None; params],
            defined_at: None,
        });
        self.module.parsed.bodies.push(None);
        Ok(id)
    }

    /// Lets an ifunc stand for the function its resolver returns, if that does nothing else. Any other resolver looks
    /// at the machine, which is not ours to guess.
    pub(super) fn resolve_ifunc(&mut self, id: FuncId, resolver_at: usize) -> PResult<()> {
        self.jump(resolver_at)?;
        let resolver = if self.at_type() {
            self.typed_constant()?.1
        } else {
            let ptr = self.common().ptr;
            self.constant(ptr)?
        };
        let Constant::Function(resolver) = *self.module.constant(resolver) else {
            return Ok(());
        };
        let Some(&Some(source)) = self.module.parsed.bodies.get(resolver.index()) else {
            return Ok(());
        };
        let body = body::parse(self.text(), self.module, resolver, source)?;
        if let [block] = &body.blocks[..]
            && block.insts.is_empty()
            && let Terminator::Ret {
                value: Some(Operand::Const(chosen)),
                ..
            } = block.terminator
            && let Constant::Function(chosen) = *self.module.constant(chosen)
        {
            let name = self.module.function(id).name.clone();
            self.module.symbols.insert(name, Symbol::Function(chosen));
        }
        Ok(())
    }

    /// Resolves the aliases nobody has asked for.
    pub(super) fn resolve_aliases(&mut self) -> PResult<()> {
        let mut names: Vec<Box<str>> = self.module.parsed.aliases.keys().cloned().collect();
        names.sort_unstable();
        for name in names {
            if !self.module.symbols.contains_key(&*name) {
                self.resolve_alias(&name)?;
            }
        }
        Ok(())
    }
}
