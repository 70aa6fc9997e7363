//! A module: types, globals, functions.

use crate::constant::Constant;
use crate::debug::{DebugInfo, DebugLoc, SourceTypeId};
use crate::ids::{ConstId, FuncId, GlobalId, TypeId};
use crate::types::TypeTable;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What a name `@…` stands for. Aliases are resolved to what they name while parsing; an ifunc to what its resolver
/// returns if that is a constant, and is a declared function otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    Global(GlobalId),
    Function(FuncId),
    /// An alias to a constant expression (rare: an alias into the middle of an object).
    Constant(ConstId),
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// Without `@`.
    pub name: Box<str>,
    pub ty: TypeId,
    /// Absent for declarations (`external`).
    pub initializer: Option<ConstId>,
    pub is_constant: bool,
    pub thread_local: bool,
    pub align: u64,
    /// The source variable's type, with `-g`.
    pub source_type: Option<SourceTypeId>,
    /// The source variable's name (differs from `name` for C++ and static locals).
    pub source_name: Option<Box<str>>,
    /// The file and the line that declare it.
    pub declared_at: Option<(Arc<str>, u32)>,
}

/// A function, declared or defined. The body of a defined one is parsed on demand: [`Module::parse_body`].
#[derive(Clone, Debug)]
pub struct Function {
    /// Without `@`.
    pub name: Box<str>,
    pub ty: TypeId,
    pub is_declaration: bool,
    /// `nocapture` / `captures(none)` per parameter.
    pub param_nocapture: Vec<bool>,
    /// `byval(T)` per parameter: the callee sees a copy.
    pub param_byval: Vec<Option<TypeId>>,
    /// Where the function is defined in the source, with `-g`.
    pub defined_at: Option<DebugLoc>,
}

/// A module. Immutable but for the bodies and debug locations that are parsed on demand. Clones share the text: workers may have
/// one each.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `source_filename`.
    pub source_name: Box<str>,
    pub types: TypeTable,
    pub constants: Vec<Constant>,
    pub(crate) constant_ids: FxHashMap<Constant, ConstId>,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    pub symbols: FxHashMap<Box<str>, Symbol>,
    pub debug: DebugInfo,
    /// `llvm.global_ctors`, in order of priority.
    pub constructors: Vec<FuncId>,
    /// `llvm.global_dtors`, in the order they run.
    pub destructors: Vec<FuncId>,
    /// Names declared `extern_weak`.
    pub(crate) extern_weak: FxHashSet<Box<str>>,
    /// The text, and what is needed to read bodies from it.
    pub(crate) parsed: crate::parse::Parsed,
}

impl Module {
    #[must_use]
    pub fn constant(&self, id: ConstId) -> &Constant {
        &self.constants[id.index()]
    }

    /// Interns a constant.
    pub fn intern_constant(&mut self, constant: Constant) -> ConstId {
        if let Some(&id) = self.constant_ids.get(&constant) {
            return id;
        }
        let id = ConstId::from_index(self.constants.len());
        self.constants.push(constant.clone());
        self.constant_ids.insert(constant, id);
        id
    }

    #[must_use]
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    #[must_use]
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.index()]
    }

    /// Whether `name` is declared but may be missing in the whole program, in which case its address is null.
    #[must_use]
    pub fn is_extern_weak(&self, name: &str) -> bool {
        self.extern_weak.contains(name)
    }

    /// Does the text name a symbol more than once, that is, anywhere but in its definition?
    #[must_use]
    pub fn is_referred_to(&self, name: &str) -> bool {
        let (plain, quoted) = (format!("@{name}"), format!("@\"{name}\""));
        self.parsed.mentions(&plain) + self.parsed.mentions(&quoted) > 1
    }

    /// Is there a weak compare-exchange in the text?
    #[must_use]
    pub fn has_weak_exchanges(&self) -> bool {
        self.parsed.mentions("cmpxchg weak") > 0
    }

    /// The function called `name`, through aliases.
    #[must_use]
    pub fn function_named(&self, name: &str) -> Option<FuncId> {
        match self.symbols.get(name) {
            Some(Symbol::Function(id)) => Some(*id),
            _ => None,
        }
    }
}
