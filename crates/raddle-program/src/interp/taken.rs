//! What the code takes memory for: the source type of what an instruction accesses, as far as the code tells.
//!
//! Nothing but a report asks for this, of the few states of one execution: so it is found out then, by looking back from the
//! instruction to the variable, the field or the struct type that its address comes from. Where that is not certain, nothing
//! is said.

use super::code::Code;
use super::local::{Frame, Local};
use super::world::World;
use crate::automaton::TakenFor;
use crate::op::Op;
use raddle_ir::debug::{DebugVariable, SourceType, SourceTypeId};
use raddle_ir::inst::CastOp;
use raddle_ir::{Body, Constant, Inst, InstKind, Operand, Type, TypeId, ValueId};

/// Addresses that come from further away than this are of unknown type.
const MAX_DEPTH: u32 = 32;

pub(super) fn taken_for(world: &World, local: &Local) -> Option<TakenFor> {
    if let Op::Alloc { .. } = local.op {
        let of = Look::at_caller(world, local)?.result_points_to()?;
        return Some(TakenFor::Block { of });
    }
    let Frame::Ir(frame) = &local.top else {
        return None;
    };
    let look = Look {
        world,
        code: world.cached_code(frame.function)?,
        at: (frame.block, frame.index),
    };
    let (InstKind::Load { ptr, .. }
    | InstKind::Store { ptr, .. }
    | InstKind::AtomicRmw { ptr, .. }
    | InstKind::CmpXchg { ptr, .. }) = look.inst()?.kind
    else {
        return None;
    };
    Some(match look.pointed_to(ptr, MAX_DEPTH) {
        Some(part) => TakenFor::Part {
            of: part.of,
            offset: part.offset,
        },
        None => TakenFor::Unknown,
    })
}

/// What lies at `offset` of something of type `of`.
#[derive(Clone, Copy)]
struct Part {
    of: SourceTypeId,
    offset: u64,
}

/// A look at an instruction.
#[derive(Clone, Copy)]
struct Look<'a> {
    world: &'a World,
    code: &'a Code,
    at: (u32, u32),
}

impl<'a> Look<'a> {
    /// At the call of the library function that a thread is in.
    fn at_caller(world: &'a World, local: &'a Local) -> Option<Self> {
        let mut link = local.thread.callers.as_ref();
        while let Some(here) = link {
            if let Frame::Ir(frame) = &here.frame {
                return Some(Self {
                    world,
                    code: world.cached_code(frame.function)?,
                    at: (frame.block, frame.index),
                });
            }
            link = here.below.as_ref();
        }
        None
    }

    fn body(&self) -> &'a Body {
        &self.code.body
    }

    fn inst(&self) -> Option<&'a Inst> {
        let (block, index) = self.at;
        let block = self.body().blocks.get(block as usize)?;
        block.insts.get(index as usize)
    }

    /// What the variable points to that gets the result of the call.
    fn result_points_to(&self) -> Option<SourceTypeId> {
        let result = self.inst()?.result?;
        // Where pointers have types (before LLVM 15) the variable holds it as another one.
        let insts = &self.body().blocks[self.at.0 as usize].insts;
        let cast = insts.iter().find_map(|inst| match &inst.kind {
            InstKind::Cast { value, .. } if *value == Operand::Value(result) => inst.result,
            _ => None,
        });
        let of = |value| self.variable_points_to(value);
        of(result).or_else(|| of(cast?))
    }

    /// What the variables point to that hold a value. `void *` points to anything, and what two variables say differently
    /// is not known.
    fn variable_points_to(&self, value: ValueId) -> Option<SourceTypeId> {
        let holds =
            |(of, variable): &&(ValueId, DebugVariable)| *of == value && !variable.is_address;
        let mut targets = self
            .body()
            .variables
            .iter()
            .filter(holds)
            .filter_map(|(_, variable)| match self.source_type(variable.ty?)? {
                SourceType::Pointer { to } => *to,
                _ => None,
            })
            .filter(|&to| self.size(to).is_some_and(|size| size > 0));
        let first = targets.next()?;
        targets.all(|other| other == first).then_some(first)
    }

    /// What an address leads to.
    fn pointed_to(&self, address: Operand, depth: u32) -> Option<Part> {
        let depth = depth.checked_sub(1)?;
        let value = match address {
            Operand::Value(value) => value,
            Operand::Const(id) => {
                let Constant::Global(global) = self.world.module.constant(id) else {
                    return None;
                };
                let of = self.world.module.globals[global.index()].source_type?;
                return Some(Part { of, offset: 0 });
            }
        };
        if let Some(of) = self.variable_points_to(value) {
            return Some(Part { of, offset: 0 });
        }
        match self.definition(value)? {
            InstKind::Gep {
                source,
                base,
                indices,
                ..
            } => self.element(*source, *base, indices, depth),
            InstKind::Cast {
                op: CastOp::Bitcast | CastOp::AddrSpaceCast,
                value,
                ..
            } => self.pointed_to(*value, depth),
            InstKind::Alloca { .. } => {
                let is_it = |(of, variable): &&(ValueId, DebugVariable)| {
                    *of == value && variable.is_address
                };
                let (_, variable) = self.body().variables.iter().find(is_it)?;
                let of = variable.ty?;
                Some(Part { of, offset: 0 })
            }
            InstKind::Load { ptr, .. } => {
                let held_in = self.pointed_to(*ptr, depth)?;
                match self.source_type(self.leaf(held_in)?)? {
                    SourceType::Pointer { to: Some(of) } => Some(Part { of: *of, offset: 0 }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The part that `getelementptr` steps to. The type that it steps in is the source's own where that has a name; the base
    /// says more where it is known to be the same, or where bytes are counted.
    fn element(
        &self,
        source: TypeId,
        base: Operand,
        indices: &[(TypeId, Operand)],
        depth: u32,
    ) -> Option<Part> {
        let types = &self.world.module.types;
        let stride = types.alloc_size(source).ok()?;
        let (first, inner) = indices.split_first()?;
        let base = self.pointed_to(base, depth);
        let is_bytes = *types.get(source) == Type::Int(8) && inner.is_empty();
        let mut part = match base {
            // A number of bytes: Rust, and pointers to characters.
            Some(part) if is_bytes && self.size(part.of) != Some(1) => {
                let bytes = self.constant(first.1)?;
                return self.moved(part, bytes);
            }
            Some(part) => match (self.of_size(part, stride, source), self.constant(first.1)) {
                (Some(_), Some(index)) => self.moved(part, index.checked_mul(stride.into())?)?,
                // Any of several: what they are part of is not known, but what they are.
                (Some(element), None) => element,
                (None, _) => self.named(source)?,
            },
            None => self.named(source)?,
        };
        let mut ty = source;
        for &(_, index) in inner {
            match types.get(ty) {
                Type::Struct { fields, .. } => {
                    let field = usize::try_from(self.constant(index)?).ok()?;
                    let offset = *types.struct_layout(ty).ok()?.offsets.get(field)?;
                    part.offset += offset;
                    ty = *fields.get(field)?;
                }
                Type::Array { element, .. } => {
                    let stride = types.alloc_size(*element).ok()?;
                    match self.constant(index) {
                        Some(index) => {
                            let by = u64::try_from(index).ok()?.checked_mul(stride)?;
                            part.offset = part.offset.checked_add(by)?;
                        }
                        None => part = self.any_element(part, stride)?,
                    }
                    ty = *element;
                }
                _ => return None,
            }
        }
        Some(part)
    }

    /// The source type of a struct type that has its name. Several of one name and size may be different types.
    fn named(&self, ty: TypeId) -> Option<Part> {
        let types = &self.world.module.types;
        let Type::Struct {
            name: Some(name), ..
        } = types.get(ty)
        else {
            return None;
        };
        let name = ["struct.", "class.", "union."]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))?;
        let wanted = types.alloc_size(ty).ok()?;
        let source_types = &self.world.module.debug.types;
        let mut found = source_types.iter().enumerate().filter(|(_, ty)| {
            matches!(ty, SourceType::Record { name: own, size, .. } if **own == *name && *size == wanted)
        });
        let (index, first) = found.next()?;
        found.all(|(_, other)| other == first).then(|| Part {
            of: SourceTypeId::from_index(index),
            offset: 0,
        })
    }

    /// What steps of `stride` bytes over a part step over: the part itself, or its elements.
    fn of_size(&self, part: Part, stride: u64, ty: TypeId) -> Option<Part> {
        let is_struct = matches!(self.world.module.types.get(ty), Type::Struct { .. });
        self.descend(part, |it, source| {
            let is_record = matches!(source, SourceType::Record { .. });
            it.offset == 0 && is_struct == is_record && self.size(it.of) == Some(stride)
        })
    }

    fn any_element(&self, part: Part, stride: u64) -> Option<Part> {
        let array = self.descend(part, |it, source| match source {
            SourceType::Array { element, .. } => {
                it.offset == 0 && self.size(*element) == Some(stride)
            }
            _ => false,
        })?;
        match self.source_type(array.of)? {
            SourceType::Array { element, .. } => Some(Part {
                of: *element,
                offset: 0,
            }),
            _ => None,
        }
    }

    /// The part, so many bytes on; in a neighbour of the same type if it is left.
    fn moved(&self, part: Part, bytes: i128) -> Option<Part> {
        let size = i128::from(self.size(part.of)?.max(1));
        let offset = (i128::from(part.offset) + bytes).rem_euclid(size);
        Some(Part {
            of: part.of,
            offset: offset as u64,
        })
    }

    /// The outermost part at a place that is what is looked for.
    fn descend(&self, part: Part, is_it: impl Fn(Part, &SourceType) -> bool) -> Option<Part> {
        let mut part = part;
        for _ in 0..MAX_DEPTH {
            let ty = self.source_type(part.of)?;
            if is_it(part, ty) {
                return Some(part);
            }
            part = self.inner(part, ty)?;
        }
        None
    }

    /// The type of what is innermost at the very beginning of a part.
    fn leaf(&self, part: Part) -> Option<SourceTypeId> {
        let leaf = self.descend(part, |_, ty| {
            !matches!(ty, SourceType::Record { .. } | SourceType::Array { .. })
        })?;
        (leaf.offset == 0).then_some(leaf.of)
    }

    /// One step into a type. Into which member of a union is not known.
    fn inner(&self, part: Part, ty: &SourceType) -> Option<Part> {
        match ty {
            SourceType::Array { element, .. } => Some(Part {
                of: *element,
                offset: part.offset % self.size(*element).filter(|&size| size > 0)?,
            }),
            SourceType::Record { fields, .. } => {
                let mut members = fields.iter().filter(|(_, start, ty)| {
                    let size = self.size(*ty).unwrap_or(0);
                    *start <= part.offset && part.offset < start + size
                });
                let (_, start, ty) = members.next()?;
                members.next().is_none().then(|| Part {
                    of: *ty,
                    offset: part.offset - start,
                })
            }
            _ => None,
        }
    }

    fn definition(&self, value: ValueId) -> Option<&'a InstKind> {
        let insts = self.body().blocks.iter().flat_map(|block| &block.insts);
        insts
            .filter(|inst| inst.result == Some(value))
            .map(|inst| &inst.kind)
            .next()
    }

    fn constant(&self, operand: Operand) -> Option<i128> {
        let Operand::Const(id) = operand else {
            return None;
        };
        match *self.world.module.constant(id) {
            Constant::Int(ty, bits) => match self.world.module.types.get(ty) {
                Type::Int(width @ 1..=64) => {
                    let unused = 128 - width;
                    Some((bits << unused).cast_signed() >> unused)
                }
                _ => None,
            },
            Constant::Zero(_) => Some(0),
            _ => None,
        }
    }

    fn source_type(&self, ty: SourceTypeId) -> Option<&'a SourceType> {
        self.world.module.debug.types.get(ty.index())
    }

    fn size(&self, ty: SourceTypeId) -> Option<u64> {
        self.world.module.debug.size_of(ty)
    }
}
