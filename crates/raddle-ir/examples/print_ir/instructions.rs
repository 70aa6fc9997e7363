//! Instructions.

use super::{Printer, quoted};
use raddle_ir::inst::{AtomicOrdering, Call, SyncScope};
use raddle_ir::{Body, Inst, InstKind, Operand, Terminator, Type, TypeId, ValueId};
use std::fmt::{Debug, Write};

/// Operators are called in LLVM as the enum is, in lower case.
pub(super) fn word(op: impl Debug) -> String {
    format!("{op:?}").to_lowercase()
}

fn ordering(ordering: AtomicOrdering) -> &'static str {
    match ordering {
        AtomicOrdering::Unordered => "unordered",
        AtomicOrdering::Monotonic => "monotonic",
        AtomicOrdering::Acquire => "acquire",
        AtomicOrdering::Release => "release",
        AtomicOrdering::AcqRel => "acq_rel",
        AtomicOrdering::SeqCst => "seq_cst",
    }
}

fn scope(scope: SyncScope) -> &'static str {
    match scope {
        SyncScope::System => "",
        SyncScope::SingleThread => "syncscope(\"singlethread\") ",
    }
}

pub(super) fn value_name(id: ValueId) -> String {
    format!("%v{}", id.0)
}

impl Printer<'_> {
    pub(super) fn label(&self, body: &Body, id: raddle_ir::BlockId) -> String {
        format!(
            "%{}",
            quoted(&format!("b.{}", body.blocks[id.index()].label))
        )
    }

    pub(super) fn operand(&self, operand: Operand, ty: TypeId) -> String {
        match operand {
            Operand::Value(id) => value_name(id),
            Operand::Const(id) => self.constant(id, ty),
        }
    }

    pub(super) fn call(&self, call: &Call) -> String {
        let args: Vec<String> = call
            .args
            .iter()
            .zip(&call.arg_types)
            .enumerate()
            .map(|(i, (&arg, &ty))| {
                let byval = call.byval.iter().find(|(index, _)| *index as usize == i);
                let byval =
                    byval.map_or(String::new(), |(_, t)| format!(" byval({})", self.ty(*t)));
                format!("{}{byval} {}", self.ty(ty), self.operand(arg, ty))
            })
            .collect();
        let callee = self.operand(call.callee, TypeId(0));
        format!("{} {callee}({})", self.ty(call.fn_type), args.join(", "))
    }

    pub(super) fn inst(&self, out: &mut String, inst: &Inst) {
        let text = self.kind(&inst.kind);
        if text.contains("@\"llvm.lifetime") {
            return;
        }
        match inst.result {
            Some(id) => writeln!(out, "  {} = {text}", value_name(id)),
            None => writeln!(out, "  {text}"),
        }
        .expect("a string");
    }

    pub(super) fn kind(&self, kind: &InstKind) -> String {
        let ty = |id: &TypeId| self.ty(*id);
        let val = |operand: &Operand, ty: &TypeId| self.operand(*operand, *ty);
        let ptr = |operand: &Operand| format!("ptr {}", self.operand(*operand, TypeId(0)));
        let flag = |on: bool, name: &str| {
            if on {
                format!("{name} ")
            } else {
                String::new()
            }
        };
        let list = |indices: &[u32]| indices.iter().map(|i| format!(", {i}")).collect::<String>();
        match kind {
            InstKind::Binary {
                op,
                flags,
                ty: t,
                lhs,
                rhs,
            } => {
                let flags =
                    flag(flags.nuw, "nuw") + &flag(flags.nsw, "nsw") + &flag(flags.exact, "exact");
                format!(
                    "{} {flags}{} {}, {}",
                    word(op),
                    ty(t),
                    val(lhs, t),
                    val(rhs, t)
                )
            }
            InstKind::FNeg { ty: t, value } => format!("fneg {} {}", ty(t), val(value, t)),
            InstKind::Cast {
                op,
                from,
                to,
                value,
            } => format!(
                "{} {} {} to {}",
                word(op),
                ty(from),
                val(value, from),
                ty(to)
            ),
            InstKind::ICmp {
                predicate,
                ty: t,
                lhs,
                rhs,
            } => format!(
                "icmp {} {} {}, {}",
                word(predicate),
                ty(t),
                val(lhs, t),
                val(rhs, t)
            ),
            InstKind::FCmp {
                predicate,
                ty: t,
                lhs,
                rhs,
            } => format!(
                "fcmp {} {} {}, {}",
                word(predicate),
                ty(t),
                val(lhs, t),
                val(rhs, t)
            ),
            InstKind::Select {
                condition_ty: c,
                condition,
                ty: t,
                then,
                otherwise,
            } => {
                format!(
                    "select {} {}, {} {}, {} {}",
                    ty(c),
                    val(condition, c),
                    ty(t),
                    val(then, t),
                    ty(t),
                    val(otherwise, t)
                )
            }
            InstKind::Freeze { ty: t, value } => format!("freeze {} {}", ty(t), val(value, t)),
            InstKind::ExtractValue {
                aggregate_ty: t,
                aggregate,
                indices,
            } => format!(
                "extractvalue {} {}{}",
                ty(t),
                val(aggregate, t),
                list(indices)
            ),
            InstKind::InsertValue {
                aggregate_ty: t,
                aggregate,
                value_ty: v,
                value,
                indices,
            } => {
                format!(
                    "insertvalue {} {}, {} {}{}",
                    ty(t),
                    val(aggregate, t),
                    ty(v),
                    val(value, v),
                    list(indices)
                )
            }
            InstKind::ExtractElement {
                vector_ty: t,
                vector,
                index_ty: i,
                index,
            } => {
                format!(
                    "extractelement {} {}, {} {}",
                    ty(t),
                    val(vector, t),
                    ty(i),
                    val(index, i)
                )
            }
            InstKind::InsertElement {
                vector_ty: t,
                vector,
                value,
                index_ty: i,
                index,
            } => {
                let &Type::Vector { element, .. } = self.module.types.get(*t) else {
                    panic!("a vector")
                };
                format!(
                    "insertelement {} {}, {} {}, {} {}",
                    ty(t),
                    val(vector, t),
                    ty(&element),
                    val(value, &element),
                    ty(i),
                    val(index, i)
                )
            }
            InstKind::ShuffleVector {
                vector_ty: t,
                lhs,
                rhs,
                mask,
            } => {
                let lanes: Vec<String> = mask
                    .iter()
                    .map(|lane| lane.map_or("i32 poison".into(), |lane| format!("i32 {lane}")))
                    .collect();
                format!(
                    "shufflevector {0} {1}, {0} {2}, <{3} x i32> <{4}>",
                    ty(t),
                    val(lhs, t),
                    val(rhs, t),
                    mask.len(),
                    lanes.join(", ")
                )
            }
            InstKind::Alloca {
                ty: t,
                count_ty: c,
                count,
                align,
            } => format!(
                "alloca {}, {} {}, align {align}",
                ty(t),
                ty(c),
                val(count, c)
            ),
            InstKind::Load {
                ty: t,
                ptr: p,
                align,
                volatile,
                atomic,
            } => {
                let (atomic, order) = atomic.map_or(("", String::new()), |(o, s)| {
                    ("atomic ", format!(" {}{}", scope(s), ordering(o)))
                });
                format!(
                    "load {atomic}{}{}, {}{order}, align {align}",
                    flag(*volatile, "volatile"),
                    ty(t),
                    ptr(p)
                )
            }
            InstKind::Store {
                ty: t,
                value,
                ptr: p,
                align,
                volatile,
                atomic,
            } => {
                let (atomic, order) = atomic.map_or(("", String::new()), |(o, s)| {
                    ("atomic ", format!(" {}{}", scope(s), ordering(o)))
                });
                format!(
                    "store {atomic}{}{} {}, {}{order}, align {align}",
                    flag(*volatile, "volatile"),
                    ty(t),
                    val(value, t),
                    ptr(p)
                )
            }
            InstKind::Fence {
                ordering: o,
                scope: s,
            } => format!("fence {}{}", scope(*s), ordering(*o)),
            InstKind::CmpXchg {
                ty: t,
                ptr: p,
                expected,
                new,
                success,
                failure,
                scope: s,
                weak,
                volatile,
                align,
            } => format!(
                "cmpxchg {}{}{}, {t} {}, {t} {} {}{} {}, align {align}",
                flag(*weak, "weak"),
                flag(*volatile, "volatile"),
                ptr(p),
                val(expected, t),
                val(new, t),
                scope(*s),
                ordering(*success),
                ordering(*failure),
                t = ty(t),
            ),
            InstKind::AtomicRmw {
                op,
                ty: t,
                ptr: p,
                value,
                ordering: o,
                scope: s,
                volatile,
                align,
            } => {
                format!(
                    "atomicrmw {}{} {}, {} {} {}{}, align {align}",
                    flag(*volatile, "volatile"),
                    word(op),
                    ptr(p),
                    ty(t),
                    val(value, t),
                    scope(*s),
                    ordering(*o)
                )
            }
            InstKind::Gep {
                source,
                base,
                indices,
                inbounds,
            } => {
                let indices: String = indices
                    .iter()
                    .map(|(t, i)| format!(", {} {}", ty(t), val(i, t)))
                    .collect();
                format!(
                    "getelementptr {}{}, {}{indices}",
                    flag(*inbounds, "inbounds"),
                    ty(source),
                    ptr(base)
                )
            }
            InstKind::Call(call) => format!("call {}", self.call(call)),
            InstKind::VaArg { list, ty: t } => format!("va_arg {}, {}", ptr(list), ty(t)),
            InstKind::LandingPad { ty: t, .. } => format!("landingpad {} cleanup", ty(t)),
            InstKind::Other { name } => panic!("{name} has no meaning here"),
        }
    }

    pub(super) fn terminator(&self, body: &Body, terminator: &Terminator) -> String {
        let label = |id: &raddle_ir::BlockId| format!("label {}", self.label(body, *id));
        match terminator {
            Terminator::Ret {
                ty,
                value: Some(value),
            } => format!("ret {} {}", self.ty(*ty), self.operand(*value, *ty)),
            Terminator::Ret { value: None, .. } => "ret void".into(),
            Terminator::Br { target } => format!("br {}", label(target)),
            Terminator::CondBr {
                condition,
                then,
                otherwise,
            } => {
                format!(
                    "br i1 {}, {}, {}",
                    self.operand(*condition, TypeId(0)),
                    label(then),
                    label(otherwise)
                )
            }
            Terminator::Switch {
                ty,
                value,
                default,
                cases,
            } => {
                let cases: String = cases
                    .iter()
                    .map(|(bits, to)| format!(" {} {bits}, {}", self.ty(*ty), label(to)))
                    .collect();
                format!(
                    "switch {} {}, {} [{cases} ]",
                    self.ty(*ty),
                    self.operand(*value, *ty),
                    label(default)
                )
            }
            Terminator::IndirectBr { address, targets } => {
                let targets: Vec<String> = targets.iter().map(label).collect();
                format!(
                    "indirectbr ptr {}, [{}]",
                    self.operand(*address, TypeId(0)),
                    targets.join(", ")
                )
            }
            Terminator::Invoke {
                result,
                call,
                normal,
                unwind,
            } => {
                let result = result.map_or(String::new(), |id| format!("{} = ", value_name(id)));
                format!(
                    "{result}invoke {} to {} unwind {}",
                    self.call(call),
                    label(normal),
                    label(unwind)
                )
            }
            Terminator::Resume { value } => {
                let ty = match value {
                    Operand::Value(id) => body.value_types[id.index()],
                    Operand::Const(_) => TypeId(0),
                };
                format!("resume {} {}", self.ty(ty), self.operand(*value, ty))
            }
            Terminator::Unreachable => "unreachable".into(),
            Terminator::Other { name, .. } => panic!("{name} has no meaning here"),
        }
    }
}
