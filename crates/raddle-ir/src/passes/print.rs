//! Bodies as text close to LLVM's, to read in tests and while debugging. Nothing parses it.

use crate::constant::{Constant, ConstantExpr};
use crate::ids::{BlockId, ConstId, TypeId, ValueId};
use crate::inst::{ArithFlags, Body, Call, Inst, InstKind, Operand, Terminator};
use crate::module::Module;
use crate::types::Type;
use std::fmt::Write;

/// The whole body, a line an instruction. Parameters come as a first line.
#[must_use]
pub fn print_body(module: &Module, body: &Body) -> String {
    let printer = Printer { module, body };
    let mut out = String::new();
    let params: Vec<_> = (0..body.param_count)
        .map(|param| {
            let ty = body.value_types[param as usize];
            format!(
                "{} {}",
                module.types.display(ty),
                printer.value(ValueId(param))
            )
        })
        .collect();
    let _ = writeln!(out, "({})", params.join(", "));
    for (index, block) in body.blocks.iter().enumerate() {
        let _ = writeln!(out, "bb{index}: ; {}", block.label);
        for phi in &block.phis {
            let incoming: Vec<_> = phi
                .incoming
                .iter()
                .map(|(from, operand)| format!("[ {}, {from} ]", printer.operand(*operand)))
                .collect();
            let _ = writeln!(
                out,
                "  {} = phi {} {}",
                printer.value(phi.result),
                module.types.display(phi.ty),
                incoming.join(", ")
            );
        }
        for inst in &block.insts {
            let _ = writeln!(out, "  {}", printer.inst(inst));
        }
        let _ = writeln!(out, "  {}", printer.terminator(&block.terminator));
    }
    out
}

/// A constant, without its type.
#[must_use]
pub fn print_constant(module: &Module, id: ConstId) -> String {
    match module.constant(id) {
        Constant::Int(ty, bits) => match module.types.get(*ty) {
            Type::Int(1) => (if *bits == 0 { "false" } else { "true" }).into(),
            Type::Int(width @ 2..=128) => {
                let unused = 128 - width;
                (((bits << unused) as i128) >> unused).to_string()
            }
            _ => bits.to_string(),
        },
        Constant::Float(_, bits) => format!("0x{bits:X}"),
        Constant::Null => "null".into(),
        Constant::Undef(_) => "undef".into(),
        Constant::Poison(_) => "poison".into(),
        Constant::Zero(_) => "zeroinitializer".into(),
        Constant::Aggregate(_, elements) => {
            let printed: Vec<_> = elements
                .iter()
                .map(|&e| print_constant(module, e))
                .collect();
            format!("{{ {} }}", printed.join(", "))
        }
        Constant::Bytes(_, bytes) => format!("c\"{}\"", bytes.escape_ascii()),
        Constant::Global(global) => format!("@{}", module.global(*global).name),
        Constant::Function(function) => format!("@{}", module.function(*function).name),
        Constant::BlockAddress(function, label) => {
            format!(
                "blockaddress(@{}, %{label})",
                module.function(*function).name
            )
        }
        Constant::Expr(_, expr) => print_expr(module, expr),
        Constant::Metadata => "metadata".into(),
        Constant::InlineAsm {
            text, constraints, ..
        } => format!("asm {text:?}, {constraints:?}"),
        Constant::NoneToken => "none".into(),
    }
}

fn print_expr(module: &Module, expr: &ConstantExpr) -> String {
    let print = |id: &ConstId| print_constant(module, *id);
    match expr {
        ConstantExpr::Gep {
            source,
            base,
            indices,
        } => {
            let indices: Vec<_> = indices.iter().map(print).collect();
            format!(
                "getelementptr ({}, {}, {})",
                module.types.display(*source),
                print(base),
                indices.join(", ")
            )
        }
        ConstantExpr::Cast { op, value } => format!("{} ({})", lower(op), print(value)),
        ConstantExpr::Binary { op, lhs, rhs } => {
            format!("{} ({}, {})", lower(op), print(lhs), print(rhs))
        }
        ConstantExpr::ICmp {
            predicate,
            lhs,
            rhs,
        } => format!("icmp {} ({}, {})", lower(predicate), print(lhs), print(rhs)),
        ConstantExpr::FCmp {
            predicate,
            lhs,
            rhs,
        } => format!("fcmp {} ({}, {})", lower(predicate), print(lhs), print(rhs)),
        ConstantExpr::Select {
            condition,
            then,
            otherwise,
        } => format!(
            "select ({}, {}, {})",
            print(condition),
            print(then),
            print(otherwise)
        ),
    }
}

/// The names of our operators are LLVM's but for capitals.
fn lower(name: &impl std::fmt::Debug) -> String {
    format!("{name:?}").to_lowercase()
}

struct Printer<'a> {
    module: &'a Module,
    body: &'a Body,
}

impl Printer<'_> {
    fn value(&self, value: ValueId) -> String {
        match self.body.value_names.get(value.index()) {
            Some(Some(name)) => format!("%{name}"),
            _ => format!("%{}", value.0),
        }
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Value(value) => self.value(value),
            Operand::Const(id) => print_constant(self.module, id),
        }
    }

    fn ty(&self, ty: TypeId) -> String {
        self.module.types.display(ty).to_string()
    }

    fn typed(&self, ty: TypeId, operand: Operand) -> String {
        format!("{} {}", self.ty(ty), self.operand(operand))
    }

    fn inst(&self, inst: &Inst) -> String {
        let kind = self.kind(&inst.kind);
        match inst.result {
            Some(result) => format!("{} = {kind}", self.value(result)),
            None => kind,
        }
    }

    fn kind(&self, kind: &InstKind) -> String {
        match kind {
            InstKind::Binary {
                op,
                flags,
                ty,
                lhs,
                rhs,
            } => format!(
                "{}{} {}, {}",
                lower(op),
                print_flags(*flags),
                self.typed(*ty, *lhs),
                self.operand(*rhs)
            ),
            InstKind::FNeg { ty, value } => format!("fneg {}", self.typed(*ty, *value)),
            InstKind::Cast {
                op,
                from,
                to,
                value,
            } => format!(
                "{} {} to {}",
                lower(op),
                self.typed(*from, *value),
                self.ty(*to)
            ),
            InstKind::ICmp {
                predicate,
                ty,
                lhs,
                rhs,
            } => format!(
                "icmp {} {}, {}",
                lower(predicate),
                self.typed(*ty, *lhs),
                self.operand(*rhs)
            ),
            InstKind::FCmp {
                predicate,
                ty,
                lhs,
                rhs,
            } => format!(
                "fcmp {} {}, {}",
                lower(predicate),
                self.typed(*ty, *lhs),
                self.operand(*rhs)
            ),
            InstKind::Select {
                condition,
                ty,
                then,
                otherwise,
                ..
            } => format!(
                "select {}, {}, {}",
                self.operand(*condition),
                self.typed(*ty, *then),
                self.operand(*otherwise)
            ),
            InstKind::Freeze { ty, value } => format!("freeze {}", self.typed(*ty, *value)),
            InstKind::Gep {
                source,
                base,
                indices,
                inbounds,
            } => {
                let mut out = String::from("getelementptr ");
                out.push_str(if *inbounds { "inbounds " } else { "" });
                let _ = write!(out, "{}, {}", self.ty(*source), self.operand(*base));
                for &(ty, index) in indices {
                    let _ = write!(out, ", {}", self.typed(ty, index));
                }
                out
            }
            InstKind::Call(call) => format!("call {}", self.call(call)),
            InstKind::VaArg { list, ty } => {
                format!("va_arg {}, {}", self.operand(*list), self.ty(*ty))
            }
            InstKind::LandingPad { ty, cleanup, .. } => {
                let cleanup = if *cleanup { " cleanup" } else { "" };
                format!("landingpad {}{cleanup}", self.ty(*ty))
            }
            InstKind::Other { name } => name.to_string(),
            aggregate @ (InstKind::ExtractValue { .. }
            | InstKind::InsertValue { .. }
            | InstKind::ExtractElement { .. }
            | InstKind::InsertElement { .. }
            | InstKind::ShuffleVector { .. }) => self.aggregate(aggregate),
            memory => self.memory(memory),
        }
    }

    fn aggregate(&self, kind: &InstKind) -> String {
        match kind {
            InstKind::ExtractValue {
                aggregate_ty,
                aggregate,
                indices,
            } => format!(
                "extractvalue {}{}",
                self.typed(*aggregate_ty, *aggregate),
                print_indices(indices)
            ),
            InstKind::InsertValue {
                aggregate_ty,
                aggregate,
                value_ty,
                value,
                indices,
            } => format!(
                "insertvalue {}, {}{}",
                self.typed(*aggregate_ty, *aggregate),
                self.typed(*value_ty, *value),
                print_indices(indices)
            ),
            InstKind::ExtractElement {
                vector_ty,
                vector,
                index_ty,
                index,
            } => format!(
                "extractelement {}, {}",
                self.typed(*vector_ty, *vector),
                self.typed(*index_ty, *index)
            ),
            InstKind::InsertElement {
                vector_ty,
                vector,
                value,
                index_ty,
                index,
            } => format!(
                "insertelement {}, {}, {}",
                self.typed(*vector_ty, *vector),
                self.operand(*value),
                self.typed(*index_ty, *index)
            ),
            InstKind::ShuffleVector {
                vector_ty,
                lhs,
                rhs,
                mask,
            } => format!(
                "shufflevector {}, {}, {mask:?}",
                self.typed(*vector_ty, *lhs),
                self.operand(*rhs)
            ),
            _ => String::from("?"),
        }
    }

    fn memory(&self, kind: &InstKind) -> String {
        let volatile = |volatile: bool| if volatile { "volatile " } else { "" };
        match kind {
            InstKind::Alloca { ty, count, .. } => {
                format!("alloca {}, {}", self.ty(*ty), self.operand(*count))
            }
            InstKind::Load {
                ty,
                ptr,
                volatile: v,
                atomic,
                ..
            } => {
                let atomic = atomic.map_or_else(String::new, |(o, _)| format!(" {}", lower(&o)));
                format!(
                    "load {}{}, {}{atomic}",
                    volatile(*v),
                    self.ty(*ty),
                    self.operand(*ptr)
                )
            }
            InstKind::Store {
                ty,
                value,
                ptr,
                volatile: v,
                atomic,
                ..
            } => {
                let atomic = atomic.map_or_else(String::new, |(o, _)| format!(" {}", lower(&o)));
                format!(
                    "store {}{}, {}{atomic}",
                    volatile(*v),
                    self.typed(*ty, *value),
                    self.operand(*ptr)
                )
            }
            InstKind::Fence { ordering, .. } => format!("fence {}", lower(ordering)),
            InstKind::CmpXchg {
                ty,
                ptr,
                expected,
                new,
                success,
                failure,
                ..
            } => format!(
                "cmpxchg {}, {}, {} {} {}",
                self.operand(*ptr),
                self.typed(*ty, *expected),
                self.operand(*new),
                lower(success),
                lower(failure)
            ),
            InstKind::AtomicRmw {
                op,
                ty,
                ptr,
                value,
                ordering,
                ..
            } => format!(
                "atomicrmw {} {}, {} {}",
                lower(op),
                self.operand(*ptr),
                self.typed(*ty, *value),
                lower(ordering)
            ),
            _ => String::from("?"),
        }
    }

    fn call(&self, call: &Call) -> String {
        let ret = match self.module.types.get(call.fn_type) {
            Type::Function { ret, .. } => self.ty(*ret),
            _ => self.ty(call.fn_type),
        };
        let args: Vec<_> = call
            .args
            .iter()
            .zip(&call.arg_types)
            .map(|(&arg, &ty)| self.typed(ty, arg))
            .collect();
        format!("{ret} {}({})", self.operand(call.callee), args.join(", "))
    }

    fn terminator(&self, terminator: &Terminator) -> String {
        match terminator {
            Terminator::Ret {
                ty,
                value: Some(value),
            } => format!("ret {}", self.typed(*ty, *value)),
            Terminator::Ret { value: None, .. } => "ret void".into(),
            Terminator::Br { target } => format!("br {target}"),
            Terminator::CondBr {
                condition,
                then,
                otherwise,
            } => format!("br {}, {then}, {otherwise}", self.operand(*condition)),
            Terminator::Switch {
                ty,
                value,
                default,
                cases,
            } => {
                let mut out = format!("switch {}, {default} [", self.typed(*ty, *value));
                for (case, target) in cases {
                    let _ = write!(out, " {case}: {target}");
                }
                out + " ]"
            }
            Terminator::IndirectBr { address, targets } => {
                format!("indirectbr {}, {}", self.operand(*address), labels(targets))
            }
            Terminator::Invoke {
                result,
                call,
                normal,
                unwind,
            } => {
                let result = result.map_or_else(String::new, |r| format!("{} = ", self.value(r)));
                format!(
                    "{result}invoke {} to {normal} unwind {unwind}",
                    self.call(call)
                )
            }
            Terminator::Resume { value } => format!("resume {}", self.operand(*value)),
            Terminator::Unreachable => "unreachable".into(),
            Terminator::Other { name, targets } => format!("{name} {}", labels(targets)),
        }
    }
}

fn labels(targets: &[BlockId]) -> String {
    let printed: Vec<_> = targets.iter().map(ToString::to_string).collect();
    format!("[{}]", printed.join(", "))
}

fn print_flags(flags: ArithFlags) -> String {
    [
        (flags.nuw, " nuw"),
        (flags.nsw, " nsw"),
        (flags.exact, " exact"),
    ]
    .iter()
    .filter(|(set, _)| *set)
    .map(|(_, name)| *name)
    .collect()
}

fn print_indices(indices: &[u32]) -> String {
    indices.iter().map(|index| format!(", {index}")).collect()
}
