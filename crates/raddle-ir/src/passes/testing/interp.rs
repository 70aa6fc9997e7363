//! A slow and simple interpreter of small bodies: integers and pointers, one function, byte-wise memory with undefined
//! bytes. It defines what a pass must keep: the calls made with their arguments, the accesses of globals, and how it ends.

use crate::constant::Constant;
use crate::ids::{BlockId, TypeId, ValueId};
use crate::inst::{
    BinaryOp, Body, Call, CastOp, InstKind, IntPredicate, Operand, RmwOp, Terminator,
};
use crate::module::Module;
use crate::passes::StackLiveness;
use crate::passes::intrinsics::called_function;
use crate::types::Type;
use std::collections::HashMap;

/// `None` is undefined.
type Bits = Option<u128>;

/// What can be seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Call(String, Vec<Bits>),
    GlobalLoad(u64, Bits),
    GlobalStore(u64, Bits),
    Return(Bits),
    /// A branch on something undefined, an access out of bounds: what follows has no meaning.
    Undefined(&'static str),
    /// So many blocks were entered.
    OutOfSteps,
}

/// Objects up to this one are globals.
const FIRST_STACK_OBJECT: u64 = 1000;

pub(crate) struct Interpreter<'a> {
    module: &'a Module,
    body: &'a Body,
    values: Vec<Bits>,
    memory: HashMap<u64, Vec<Option<u8>>>,
    next_object: u64,
    seen: Vec<Seen>,
    /// What reads of globals return, if the globals are not memory but the rest of the world; the next ones first.
    script: Option<std::vec::IntoIter<u128>>,
    /// Dead bytes of private variables are spoilt before each instruction.
    spoils: Option<&'a StackLiveness>,
}

/// Runs the body; at most `blocks` blocks are entered.
pub(crate) fn run(module: &Module, body: &Body, args: &[u128], blocks: usize) -> Vec<Seen> {
    let mut interpreter = Interpreter {
        module,
        body,
        values: vec![None; body.value_types.len()],
        memory: HashMap::new(),
        next_object: FIRST_STACK_OBJECT,
        seen: Vec::new(),
        script: None,
        spoils: None,
    };
    interpreter.start(args);
    if let Err(end) = interpreter.run(blocks) {
        interpreter.seen.push(end);
    }
    interpreter.seen
}

/// Runs the body, and puts something else into all bytes that are said to be dead.
pub(crate) fn run_spoiling(
    module: &Module,
    body: &Body,
    args: &[u128],
    blocks: usize,
    dead: &StackLiveness,
) -> Vec<Seen> {
    let mut interpreter = Interpreter {
        module,
        body,
        values: vec![None; body.value_types.len()],
        memory: HashMap::new(),
        next_object: FIRST_STACK_OBJECT,
        seen: Vec::new(),
        script: None,
        spoils: Some(dead),
    };
    interpreter.start(args);
    if let Err(end) = interpreter.run(blocks) {
        interpreter.seen.push(end);
    }
    interpreter.seen
}

/// Runs the body in a world where anybody may have written anything to the globals: the reads of them return what `script` says,
/// and are no part of what is seen. [`Seen::OutOfSteps`] if it has an end before the body.
pub(crate) fn run_in_world(
    module: &Module,
    body: &Body,
    args: &[u128],
    blocks: usize,
    script: Vec<u128>,
) -> Vec<Seen> {
    let mut interpreter = Interpreter {
        module,
        body,
        values: vec![None; body.value_types.len()],
        memory: HashMap::new(),
        next_object: FIRST_STACK_OBJECT,
        seen: Vec::new(),
        script: Some(script.into_iter()),
        spoils: None,
    };
    interpreter.start(args);
    if let Err(end) = interpreter.run(blocks) {
        interpreter.seen.push(end);
    }
    interpreter.seen
}

impl Interpreter<'_> {
    fn start(&mut self, args: &[u128]) {
        for (value, arg) in self.values.iter_mut().zip(args) {
            *value = Some(*arg);
        }
        for (index, global) in self.module.globals.iter().enumerate() {
            let size = self.module.types.alloc_size(global.ty).expect("sized");
            let bytes = vec![Some(0); size as usize];
            self.memory.insert(index as u64 + 1, bytes);
        }
    }

    fn run(&mut self, blocks: usize) -> Result<(), Seen> {
        let mut from = None;
        let mut here = BlockId(0);
        for _ in 0..blocks {
            self.phis(from, here);
            let body = self.body;
            for (index, inst) in body.blocks[here.index()].insts.iter().enumerate() {
                self.spoil(here, index);
                let result = self.inst(&inst.kind)?;
                if let Some(value) = inst.result {
                    self.values[value.index()] = result;
                }
            }
            from = Some(here);
            here = self.terminator(&body.blocks[here.index()].terminator)?;
        }
        Err(Seen::OutOfSteps)
    }

    fn spoil(&mut self, block: BlockId, inst: usize) {
        let Some(liveness) = self.spoils else {
            return;
        };
        for dead in liveness.dead_before(self.body, block, inst) {
            let address = self.values[dead.alloca.index()];
            let Some(bytes) = address.and_then(|at| self.memory.get_mut(&((at >> 32) as u64)))
            else {
                continue;
            };
            for range in dead.bytes {
                bytes[range].fill(Some(0xee));
            }
        }
    }

    fn phis(&mut self, from: Option<BlockId>, here: BlockId) {
        let body = self.body;
        let mut new: Vec<(ValueId, Bits)> = Vec::new();
        for phi in &body.blocks[here.index()].phis {
            let (_, operand) = phi
                .incoming
                .iter()
                .find(|(source, _)| Some(*source) == from)
                .expect("an operand for the edge");
            new.push((phi.result, self.operand(*operand)));
        }
        for (value, bits) in new {
            self.values[value.index()] = bits;
        }
    }

    fn operand(&self, operand: Operand) -> Bits {
        match operand {
            Operand::Value(value) => self.values[value.index()],
            Operand::Const(id) => match self.module.constant(id) {
                Constant::Int(_, bits) | Constant::Float(_, bits) => Some(*bits),
                Constant::Null | Constant::Zero(_) => Some(0),
                Constant::Undef(_) | Constant::Poison(_) => None,
                Constant::Global(global) => Some((global.0 as u128 + 1) << 32),
                other => panic!("constant {other:?}"),
            },
        }
    }

    fn width(&self, ty: TypeId) -> u32 {
        match self.module.types.get(ty) {
            Type::Int(width) => *width,
            Type::Ptr => 64,
            other => panic!("width of {other:?}"),
        }
    }

    fn truncate(&self, ty: TypeId, bits: u128) -> u128 {
        bits & (u128::MAX >> (128 - self.width(ty)))
    }

    fn inst(&mut self, kind: &InstKind) -> Result<Bits, Seen> {
        Ok(match kind {
            InstKind::Binary {
                op, ty, lhs, rhs, ..
            } => {
                let (Some(a), Some(b)) = (self.operand(*lhs), self.operand(*rhs)) else {
                    return Ok(None);
                };
                let bits = match op {
                    BinaryOp::Add => a.wrapping_add(b),
                    BinaryOp::Sub => a.wrapping_sub(b),
                    BinaryOp::Mul => a.wrapping_mul(b),
                    BinaryOp::Xor => a ^ b,
                    BinaryOp::And => a & b,
                    BinaryOp::Or => a | b,
                    BinaryOp::UDiv if b == 0 => return Err(Seen::Undefined("division")),
                    BinaryOp::UDiv => a / b,
                    other => panic!("{other:?}"),
                };
                Some(self.truncate(*ty, bits))
            }
            InstKind::ICmp {
                predicate,
                lhs,
                rhs,
                ..
            } => {
                let (Some(a), Some(b)) = (self.operand(*lhs), self.operand(*rhs)) else {
                    return Ok(None);
                };
                Some(u128::from(match predicate {
                    IntPredicate::Eq => a == b,
                    IntPredicate::Ne => a != b,
                    IntPredicate::Ult => a < b,
                    IntPredicate::Ule => a <= b,
                    IntPredicate::Uge => a >= b,
                    other => panic!("{other:?}"),
                }))
            }
            InstKind::Cast { op, to, value, .. } => match op {
                CastOp::SExt => panic!("sext"),
                _ => self.operand(*value).map(|bits| self.truncate(*to, bits)),
            },
            InstKind::Alloca { ty, .. } => {
                let size = self.module.types.alloc_size(*ty).expect("sized");
                self.next_object += 1;
                self.memory
                    .insert(self.next_object, vec![None; size as usize]);
                Some(u128::from(self.next_object) << 32)
            }
            InstKind::Gep { .. } => self.gep(kind),
            InstKind::Load { ty, ptr, .. } => {
                let address = self.operand(*ptr);
                if let Some(bits) = self.read_world(*ty, address)? {
                    return Ok(Some(bits));
                }
                let bits = self.load(*ty, address)?;
                if let Some(place) = global_place(address) {
                    self.seen.push(Seen::GlobalLoad(place, bits));
                }
                bits
            }
            InstKind::Store { ty, value, ptr, .. } => {
                let (bits, address) = (self.operand(*value), self.operand(*ptr));
                if let Some(place) = global_place(address) {
                    self.seen.push(Seen::GlobalStore(place, bits));
                }
                self.store(*ty, bits, address)?;
                None
            }
            InstKind::Call(call) => {
                self.call(call)?;
                None
            }
            InstKind::Fence { .. } => None,
            InstKind::CmpXchg { .. } | InstKind::AtomicRmw { .. } => self.update(kind)?,
            InstKind::ExtractValue {
                aggregate, indices, ..
            } => {
                let pair = self.operand(*aggregate);
                pair.map(|pair| match indices[..] {
                    [0] => pair & u128::from(u64::MAX),
                    [1] => pair >> 64,
                    _ => panic!("a field of a pair"),
                })
            }
            other => panic!("{other:?}"),
        })
    }

    /// What a read of a global returns if the script says so.
    fn read_world(&mut self, ty: TypeId, address: Bits) -> Result<Bits, Seen> {
        if self.script.is_none() || global_place(address).is_none() {
            return Ok(None);
        }
        let size = self.module.types.store_size(ty).expect("sized");
        self.bytes(address, size)?;
        let next = self.script.as_mut().and_then(Iterator::next);
        next.map(Some).ok_or(Seen::OutOfSteps)
    }

    /// Read-modify-writes, in a world only; seen if they change something. A pair is its first half, the second 64 bits up.
    fn update(&mut self, kind: &InstKind) -> Result<Bits, Seen> {
        let (InstKind::CmpXchg { ty, ptr, .. } | InstKind::AtomicRmw { ty, ptr, .. }) = kind else {
            panic!("{kind:?}");
        };
        let address = self.operand(*ptr);
        let old = self.read_world(*ty, address)?.expect("in a world");
        let place = global_place(address).expect("a global");
        match kind {
            InstKind::CmpXchg { expected, new, .. } => {
                let exchanged = self.operand(*expected) == Some(old);
                if exchanged {
                    self.seen.push(Seen::GlobalStore(place, self.operand(*new)));
                }
                Ok(Some(old | u128::from(exchanged) << 64))
            }
            InstKind::AtomicRmw { op, value, .. } => {
                let value = self.operand(*value).expect("a defined operand");
                let new = match op {
                    RmwOp::Xchg => value,
                    RmwOp::Add => old.wrapping_add(value),
                    RmwOp::Or => old | value,
                    RmwOp::And => old & value,
                    RmwOp::UMax => old.max(value),
                    other => panic!("{other:?}"),
                };
                if new != old {
                    self.seen.push(Seen::GlobalStore(place, Some(new)));
                }
                Ok(Some(old))
            }
            other => panic!("{other:?}"),
        }
    }

    fn gep(&self, kind: &InstKind) -> Bits {
        let InstKind::Gep {
            source,
            base,
            indices,
            ..
        } = kind
        else {
            return None;
        };
        let mut at = self.operand(*base)?;
        let mut ty = *source;
        for (position, (_, index)) in indices.iter().enumerate() {
            let index = self.operand(*index)?;
            let types = &self.module.types;
            if position == 0 {
                at += index * u128::from(types.alloc_size(ty).expect("sized"));
                continue;
            }
            match types.get(ty) {
                Type::Array { element, .. } => {
                    ty = *element;
                    at += index * u128::from(types.alloc_size(ty).expect("sized"));
                }
                Type::Struct { fields, .. } => {
                    let layout = types.struct_layout(ty).expect("sized");
                    at += u128::from(layout.offsets[index as usize]);
                    ty = fields[index as usize];
                }
                other => panic!("{other:?}"),
            }
        }
        Some(at)
    }

    fn bytes(&mut self, address: Bits, length: u64) -> Result<&mut [Option<u8>], Seen> {
        let address = address.ok_or(Seen::Undefined("address"))?;
        let object = (address >> 32) as u64;
        let start = (address & 0xffff_ffff) as usize;
        self.memory
            .get_mut(&object)
            .and_then(|bytes| bytes.get_mut(start..start + length as usize))
            .ok_or(Seen::Undefined("out of bounds"))
    }

    fn load(&mut self, ty: TypeId, address: Bits) -> Result<Bits, Seen> {
        let size = self.module.types.store_size(ty).expect("sized");
        let mut bits = 0;
        for (position, byte) in self.bytes(address, size)?.iter().enumerate() {
            let Some(byte) = byte else { return Ok(None) };
            bits |= u128::from(*byte) << (8 * position);
        }
        Ok(Some(bits))
    }

    fn store(&mut self, ty: TypeId, bits: Bits, address: Bits) -> Result<(), Seen> {
        let size = self.module.types.store_size(ty).expect("sized");
        for (position, byte) in self.bytes(address, size)?.iter_mut().enumerate() {
            *byte = bits.map(|bits| (bits >> (8 * position)) as u8);
        }
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), Seen> {
        let callee = called_function(self.module, call.callee).expect("a function");
        let name = self.module.function(callee).name.to_string();
        let args: Vec<Bits> = call.args.iter().map(|&arg| self.operand(arg)).collect();
        if name.starts_with("llvm.lifetime") {
            let object = args[1].ok_or(Seen::Undefined("address"))? >> 32;
            let bytes = self.memory.get_mut(&(object as u64));
            bytes.expect("an object").fill(None);
        } else if name.starts_with("llvm.memset") {
            let byte = args[1].map(|byte| byte as u8);
            self.bytes(args[0], args[2].expect("a length") as u64)?
                .fill(byte);
        } else if name.starts_with("llvm.memcpy") {
            let length = args[2].expect("a length") as u64;
            let copied = self.bytes(args[1], length)?.to_vec();
            self.bytes(args[0], length)?.copy_from_slice(&copied);
        } else if name == "scribble" {
            // Somebody else writes to the object.
            let object = args[0].ok_or(Seen::Undefined("address"))? >> 32;
            for byte in self.memory.get_mut(&(object as u64)).expect("an object") {
                *byte = Some(byte.unwrap_or(7).wrapping_add(1));
            }
        } else {
            self.seen.push(Seen::Call(name, args));
        }
        Ok(())
    }

    fn terminator(&self, terminator: &Terminator) -> Result<BlockId, Seen> {
        let decide = |operand| self.operand(operand).ok_or(Seen::Undefined("branch"));
        match terminator {
            Terminator::Ret { value, .. } => {
                Err(Seen::Return(value.and_then(|value| self.operand(value))))
            }
            Terminator::Br { target } => Ok(*target),
            Terminator::CondBr {
                condition,
                then,
                otherwise,
            } => Ok(if decide(*condition)? != 0 {
                *then
            } else {
                *otherwise
            }),
            Terminator::Switch {
                value,
                default,
                cases,
                ..
            } => {
                let value = decide(*value)?;
                let case = cases.iter().find(|(case, _)| *case == value);
                Ok(case.map_or(*default, |(_, target)| *target))
            }
            Terminator::Unreachable => Err(Seen::Undefined("unreachable")),
            other => panic!("{other:?}"),
        }
    }
}

fn global_place(address: Bits) -> Option<u64> {
    address
        .map(|address| address as u64)
        .filter(|address| address >> 32 < FIRST_STACK_OBJECT)
}
