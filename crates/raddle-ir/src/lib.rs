//! LLVM IR text → a typed SSA module, and the passes over it.
//!
//! Nothing here knows about threads, memory models or search. The input is the *text* of LLVM IR, so that any clang or
//! rustc works and no LLVM is linked. Pointers are opaque throughout: the typed pointers of older compilers are erased
//! while parsing.

pub mod constant;
pub mod debug;
pub mod ids;
pub mod inst;
pub mod module;
pub mod parse;
pub mod passes;
pub mod types;
pub mod verify;

pub use constant::{Constant, ConstantExpr};
pub use debug::{DebugInfo, DebugLoc};
pub use ids::{BlockId, ConstId, DebugLocId, FuncId, GlobalId, TypeId, ValueId};
pub use inst::{Block, Body, Inst, InstKind, Operand, Phi, Terminator};
pub use module::{Function, Global, Module, Symbol};
pub use parse::{
    LinkError, LinkInput, LinkSymbols, ParseError, ParseErrorKind, link_modules, link_symbols,
    parse_module,
};
pub use types::{DataLayout, FloatKind, Type, TypeTable};
pub use verify::{VerifyError, verify};
