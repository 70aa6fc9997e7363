//! Tests of the parser: one small text for each construct.

mod constants;
mod debug;
mod errors;
mod instructions;
mod module;
mod terminators;

use crate::constant::Constant;
use crate::ids::ConstId;
use crate::inst::{Body, Inst, InstKind, Operand};
use crate::module::Module;
use crate::parse_module;
use crate::verify;

/// Parses a module that must be right.
fn module(text: &str) -> Module {
    parse_module(text, "t.ll").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The body of `@f` in `text`, verified.
fn function(text: &str) -> (Module, Body) {
    let mut module = module(text);
    let id = module.function_named("f").expect("@f is defined");
    let body = module
        .parse_body(id)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&module, &body).unwrap_or_else(|e| panic!("{e}\n{text}"));
    (module, body)
}

/// The instructions of a function made of `lines` with a `ret void` behind them. There are parameters of many types:
/// `%i` i32, `%l` i64, `%p` ptr, `%q` ptr, `%b` i1, `%h` half, `%s` float, `%d` double, `%v` <4 x i32>, `%a` { i32, [2 x i64] }.
fn insts(lines: &str) -> (Module, Vec<Inst>) {
    let text = format!(
        "%pair = type {{ i32, [4 x i64] }}
declare i32 @callee(i32, ptr)
declare i32 @printf(ptr, ...)
@global = external global i32
define void @f(i32 %i, i64 %l, ptr %p, ptr %q, i1 %b, half %h, float %s, double %d, <4 x i32> %v, {{ i32, [2 x i64] }} %a) {{
entry:
{lines}
  ret void
}}"
    );
    let (module, mut body) = function(&text);
    let insts = std::mem::take(&mut body.blocks[0].insts);
    (module, insts)
}

/// The one instruction `line` is.
fn inst(line: &str) -> (Module, InstKind) {
    let (module, mut insts) = insts(line);
    assert_eq!(insts.len(), 1, "{line}");
    (module, insts.remove(0).kind)
}

/// The error in a module or in the body of its `@f`.
fn error(text: &str) -> String {
    let mut module = match parse_module(text, "t.ll") {
        Ok(module) => module,
        Err(error) => return error.to_string(),
    };
    let id = module.function_named("f").expect("an error or @f");
    match module.parse_body(id) {
        Ok(_) => panic!("no error in\n{text}"),
        Err(error) => error.to_string(),
    }
}

fn constant(module: &Module, operand: Operand) -> &Constant {
    match operand {
        Operand::Const(id) => module.constant(id),
        Operand::Value(id) => panic!("{id:?} is no constant"),
    }
}

fn int(module: &Module, id: ConstId) -> u128 {
    match module.constant(id) {
        Constant::Int(_, value) => *value,
        other => panic!("{other:?} is no integer"),
    }
}

/// The initialiser of `@g`.
fn initializer(module: &Module) -> &Constant {
    let global = module.globals.iter().find(|g| &*g.name == "g");
    let id = global.and_then(|g| g.initializer).expect("@g has a value");
    module.constant(id)
}
