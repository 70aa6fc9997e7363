//! Prints a module as it was read, so that `clang` can compile it again: a program must do the same before and after.
//!
//! `cargo run --example print_ir -- prog.ll > again.ll && clang -w again.ll -o again`
//!
//! Attributes, linkage, fast-math flags and the clauses of landing pads are not kept by the module and so not printed.

mod constants;
mod instructions;

use raddle_ir::{Body, FuncId, Module, Terminator, Type, TypeId, parse_module};
use std::fmt::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: print_ir <module.ll>");
        return ExitCode::FAILURE;
    };
    match print(&path) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn print(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let mut module = parse_module(text, path).map_err(|e| e.to_string())?;
    let mut bodies = Vec::new();
    for id in (0..module.functions.len()).map(FuncId::from_index) {
        let body = match module.function(id).is_declaration {
            true => None,
            false => Some(module.parse_body(id).map_err(|e| e.to_string())?),
        };
        bodies.push((id, body));
    }
    let mut out = String::new();
    let printer = Printer { module: &module };
    printer.types(&mut out);
    printer.globals(&mut out);
    for (id, body) in &bodies {
        printer.function(&mut out, *id, body.as_ref());
    }
    Ok(out)
}

fn quoted(name: &str) -> String {
    bytes(name.as_bytes())
}

fn bytes(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &b in bytes {
        match b {
            b'"' | b'\\' | 0..=31 | 127.. => write!(out, "\\{b:02X}").expect("a string"),
            _ => out.push(char::from(b)),
        }
    }
    out.push('"');
    out
}

struct Printer<'a> {
    module: &'a Module,
}

impl Printer<'_> {
    fn ty(&self, id: TypeId) -> String {
        let types = &self.module.types;
        let list = |ids: &[TypeId]| {
            ids.iter()
                .map(|&id| self.ty(id))
                .collect::<Vec<_>>()
                .join(", ")
        };
        match types.get(id) {
            Type::Struct {
                name: Some(name), ..
            }
            | Type::Opaque { name } => {
                format!("%{}", quoted(name))
            }
            Type::Struct {
                fields,
                packed: false,
                ..
            } => format!("{{ {} }}", list(fields)),
            Type::Struct {
                fields,
                packed: true,
                ..
            } => format!("<{{ {} }}>", list(fields)),
            Type::Array { element, len } => format!("[{len} x {}]", self.ty(*element)),
            Type::Function {
                ret,
                params,
                varargs,
            } => {
                let comma = if *varargs && !params.is_empty() {
                    ", "
                } else {
                    ""
                };
                let dots = if *varargs { "..." } else { "" };
                format!("{} ({}{comma}{dots})", self.ty(*ret), list(params))
            }
            _ => types.display(id).to_string(),
        }
    }

    fn types(&self, out: &mut String) {
        for id in (0..self.module.types.len()).map(TypeId::from_index) {
            match self.module.types.get(id) {
                Type::Struct {
                    name: Some(_),
                    fields,
                    packed,
                } => {
                    let fields: Vec<String> = fields.iter().map(|&id| self.ty(id)).collect();
                    let (open, close) = if *packed { ("<{", "}>") } else { ("{", "}") };
                    let name = self.ty(id);
                    writeln!(out, "{name} = type {open} {} {close}", fields.join(", "))
                        .expect("a string");
                }
                Type::Opaque { .. } => {
                    writeln!(out, "{} = type opaque", self.ty(id)).expect("a string")
                }
                _ => {}
            }
        }
    }

    fn globals(&self, out: &mut String) {
        for global in &self.module.globals {
            if global.name.starts_with("llvm.") && !global.name.starts_with("llvm.global_") {
                continue;
            }
            let linkage = match (global.name.starts_with("llvm."), global.initializer) {
                (true, _) => "appending",
                (_, None) if self.module.is_extern_weak(&global.name) => "extern_weak",
                (_, None) => "external",
                _ => "internal",
            };
            let tls = if global.thread_local {
                "thread_local"
            } else {
                ""
            };
            let kind = if global.is_constant {
                "constant"
            } else {
                "global"
            };
            let init = global
                .initializer
                .map_or(String::new(), |id| self.constant(id, global.ty));
            let (name, ty, align) = (quoted(&global.name), self.ty(global.ty), global.align);
            writeln!(
                out,
                "@{name} = {linkage} {tls} {kind} {ty} {init}, align {align}"
            )
            .expect("a string");
        }
    }

    fn function(&self, out: &mut String, id: FuncId, body: Option<&Body>) {
        let function = self.module.function(id);
        let &Type::Function {
            ret,
            ref params,
            varargs,
        } = self.module.types.get(function.ty)
        else {
            panic!("a function type")
        };
        if function.name.starts_with("llvm.lifetime") || function.name.starts_with("llvm.dbg") {
            return;
        }
        let params: Vec<String> = params
            .iter()
            .enumerate()
            .map(|(i, &ty)| {
                let byval = function.param_byval[i]
                    .map_or(String::new(), |t| format!(" byval({})", self.ty(t)));
                let name = if body.is_some() {
                    format!(" %v{i}")
                } else {
                    String::new()
                };
                format!("{}{byval}{name}", self.ty(ty))
            })
            .chain(varargs.then(|| "...".to_string()))
            .collect();
        let (ret, name, params) = (self.ty(ret), quoted(&function.name), params.join(", "));
        let Some(body) = body else {
            let weak = self.module.is_extern_weak(&function.name);
            let linkage = if weak { "extern_weak " } else { "" };
            writeln!(out, "declare {linkage}{ret} @{name}({params})").expect("a string");
            return;
        };
        let linkage = if &*function.name == "main" {
            ""
        } else {
            "internal"
        };
        let personality = if self.module.function_named("rust_eh_personality").is_some() {
            "rust_eh_personality"
        } else {
            "__gxx_personality_v0"
        };
        let throws = body
            .blocks
            .iter()
            .any(|b| matches!(b.terminator, Terminator::Invoke { .. }));
        let personality = if throws {
            format!(" personality ptr @{personality}")
        } else {
            String::new()
        };
        writeln!(
            out,
            "define {linkage} {ret} @{name}({params}){personality} {{"
        )
        .expect("a string");
        for block in &body.blocks {
            writeln!(out, "{}:", quoted(&format!("b.{}", block.label))).expect("a string");
            for phi in &block.phis {
                let incoming: Vec<String> = phi
                    .incoming
                    .iter()
                    .map(|&(from, value)| {
                        format!(
                            "[ {}, {} ]",
                            self.operand(value, phi.ty),
                            self.label(body, from)
                        )
                    })
                    .collect();
                writeln!(
                    out,
                    "  {} = phi {} {}",
                    instructions::value_name(phi.result),
                    self.ty(phi.ty),
                    incoming.join(", ")
                )
                .expect("a string");
            }
            for inst in &block.insts {
                self.inst(out, inst);
            }
            writeln!(out, "  {}", self.terminator(body, &block.terminator)).expect("a string");
        }
        out.push_str("}\n");
    }
}
