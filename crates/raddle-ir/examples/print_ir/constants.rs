//! Constants.

use super::{Printer, bytes, quoted};
use crate::instructions::word;
use raddle_ir::{ConstId, Constant, ConstantExpr, Type, TypeId};

impl Printer<'_> {
    pub(super) fn constant(&self, id: ConstId, ty: TypeId) -> String {
        match self.module.constant(id) {
            Constant::Int(ty, bits) => match self.module.types.get(*ty) {
                Type::Int(1) => (*bits == 1).to_string(),
                _ => bits.to_string(),
            },
            Constant::Float(ty, bits) => self.float(*ty, *bits),
            Constant::Null => "null".into(),
            Constant::Undef(_) => "undef".into(),
            Constant::Poison(_) => "poison".into(),
            Constant::Zero(_) => "zeroinitializer".into(),
            Constant::Bytes(_, contents) => format!("c{}", bytes(contents)),
            Constant::Global(id) => format!("@{}", quoted(&self.module.global(*id).name)),
            Constant::Function(id) => format!("@{}", quoted(&self.module.function(*id).name)),
            Constant::BlockAddress(id, label) => {
                let function = quoted(&self.module.function(*id).name);
                format!(
                    "blockaddress(@{function}, %{})",
                    quoted(&format!("b.{label}"))
                )
            }
            Constant::InlineAsm {
                text,
                constraints,
                side_effect,
            } => {
                let effect = if *side_effect { "sideeffect " } else { "" };
                format!("asm {effect}{}, {}", quoted(text), quoted(constraints))
            }
            Constant::NoneToken => "none".into(),
            Constant::Metadata => "!{}".into(),
            Constant::Aggregate(_, elements) => self.aggregate(ty, elements),
            Constant::Expr(ty, expr) => self.expression(*ty, expr),
        }
    }

    pub(super) fn float(&self, ty: TypeId, bits: u128) -> String {
        match self.module.types.display(ty).to_string().as_str() {
            "float" => format!(
                "0x{:016X}",
                f64::from(f32::from_bits(bits as u32)).to_bits()
            ),
            "double" => format!("0x{bits:016X}"),
            "x86_fp80" => format!("0xK{bits:020X}"),
            "half" => format!("0xH{bits:04X}"),
            "bfloat" => format!("0xR{bits:04X}"),
            "fp128" => format!("0xL{:016X}{:016X}", bits as u64, bits >> 64),
            other => panic!("a float of type {other}"),
        }
    }

    pub(super) fn aggregate(&self, ty: TypeId, elements: &[ConstId]) -> String {
        let types = &self.module.types;
        let part = |i: usize| match types.get(ty) {
            Type::Struct { fields, .. } => fields[i],
            Type::Array { element, .. } | Type::Vector { element, .. } => *element,
            other => panic!("elements of {other:?}"),
        };
        let elements: Vec<String> = elements
            .iter()
            .enumerate()
            .map(|(i, &id)| format!("{} {}", self.ty(part(i)), self.constant(id, part(i))))
            .collect();
        let (open, close) = match types.get(ty) {
            Type::Struct { packed: true, .. } => ("<{", "}>"),
            Type::Struct { .. } => ("{", "}"),
            Type::Array { .. } => ("[", "]"),
            _ => ("<", ">"),
        };
        format!("{open} {} {close}", elements.join(", "))
    }

    /// The type of a constant inside of an expression, where no type is beside it.
    pub(super) fn typed(&self, id: ConstId, fallback: &str) -> String {
        let ty = match self.module.constant(id) {
            Constant::Int(ty, _)
            | Constant::Float(ty, _)
            | Constant::Undef(ty)
            | Constant::Poison(ty)
            | Constant::Zero(ty)
            | Constant::Aggregate(ty, _)
            | Constant::Bytes(ty, _)
            | Constant::Expr(ty, _) => Some(*ty),
            _ => None,
        };
        match ty {
            Some(ty) => format!("{} {}", self.ty(ty), self.constant(id, ty)),
            None => format!("{fallback} {}", self.constant(id, TypeId(0))),
        }
    }

    pub(super) fn expression(&self, ty: TypeId, expr: &ConstantExpr) -> String {
        let ptr = |id: ConstId| self.typed(id, "ptr");
        match expr {
            ConstantExpr::Gep {
                source,
                base,
                indices,
            } => {
                let indices: String = indices.iter().map(|&id| format!(", {}", ptr(id))).collect();
                format!(
                    "getelementptr ({}, {}{indices})",
                    self.ty(*source),
                    ptr(*base)
                )
            }
            ConstantExpr::Cast { op, value } => {
                format!("{} ({} to {})", word(op), ptr(*value), self.ty(ty))
            }
            ConstantExpr::Binary { op, lhs, rhs } => {
                format!("{} ({}, {})", word(op), ptr(*lhs), ptr(*rhs))
            }
            other => panic!("an expression that LLVM no longer has: {other:?}"),
        }
    }
}
