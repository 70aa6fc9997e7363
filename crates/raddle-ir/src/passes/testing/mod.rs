//! What the tests of the passes share: a builder, a reference interpreter, random bodies, a check of SSA form.

pub(crate) mod check;
pub(crate) mod interp;
pub(crate) mod random;

use crate::constant::Constant;
use crate::ids::{BlockId, ConstId, FuncId, GlobalId, TypeId, ValueId};
use crate::inst::{
    ArithFlags, AtomicOrdering, BinaryOp, Block, Body, Call, CastOp, Inst, InstKind, IntPredicate,
    Operand, Phi, SyncScope, Terminator,
};
use crate::module::{Function, Global, Module, Symbol};
use crate::types::Type;

pub(crate) use raddle_random::RandomIndex as Rng;
pub(crate) use random::random_edges;

/// A body of empty blocks with the given edges.
pub(crate) fn cfg_body(edges: &[Vec<u32>]) -> Body {
    let any = Operand::Const(ConstId(0));
    let mut body = Body::default();
    for successors in edges {
        let terminator = match successors[..] {
            [] => Terminator::Unreachable,
            [target] => Terminator::Br {
                target: BlockId(target),
            },
            [then, otherwise] => Terminator::CondBr {
                condition: any,
                then: BlockId(then),
                otherwise: BlockId(otherwise),
            },
            [default, ref cases @ ..] => Terminator::Switch {
                ty: TypeId(0),
                value: any,
                default: BlockId(default),
                cases: cases.iter().map(|&case| (0, BlockId(case))).collect(),
            },
        };
        body.blocks.push(block(terminator));
    }
    body
}

fn block(terminator: Terminator) -> Block {
    Block {
        label: "".into(),
        phis: Vec::new(),
        insts: Vec::new(),
        terminator,
        terminator_loc: None,
    }
}

/// Builds one body at a time, in one module.
pub(crate) struct Builder {
    pub(crate) module: Module,
    pub(crate) body: Body,
    pub(crate) here: BlockId,
    pub(crate) i1: TypeId,
    pub(crate) i8: TypeId,
    pub(crate) i32: TypeId,
    pub(crate) i64: TypeId,
    pub(crate) ptr: TypeId,
    pub(crate) void: TypeId,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self::in_module(Module::default())
    }

    pub(crate) fn in_module(mut module: Module) -> Self {
        let mut ty = |ty| module.types.intern(ty);
        let (i1, i8, i32, i64) = (
            ty(Type::Int(1)),
            ty(Type::Int(8)),
            ty(Type::Int(32)),
            ty(Type::Int(64)),
        );
        let (ptr, void) = (ty(Type::Ptr), ty(Type::Void));
        let mut builder = Self {
            module,
            body: Body::default(),
            here: BlockId(0),
            i1,
            i8,
            i32,
            i64,
            ptr,
            void,
        };
        builder.body.blocks.push(block(Terminator::Unreachable));
        builder
    }

    /// The body built so far; the next one starts empty.
    pub(crate) fn finish(&mut self) -> Body {
        let mut fresh = Body::default();
        fresh.blocks.push(block(Terminator::Unreachable));
        self.here = BlockId(0);
        std::mem::replace(&mut self.body, fresh)
    }

    /// Must come before anything else.
    pub(crate) fn param(&mut self, ty: TypeId) -> Operand {
        self.body.param_count += 1;
        Operand::Value(self.body.new_value(ty))
    }

    pub(crate) fn block(&mut self) -> BlockId {
        self.body.blocks.push(block(Terminator::Unreachable));
        BlockId::from_index(self.body.blocks.len() - 1)
    }

    pub(crate) fn at(&mut self, block: BlockId) -> &mut Self {
        self.here = block;
        self
    }

    pub(crate) fn constant(&mut self, constant: Constant) -> Operand {
        Operand::Const(self.module.intern_constant(constant))
    }

    pub(crate) fn int(&mut self, ty: TypeId, value: u128) -> Operand {
        self.constant(Constant::Int(ty, value))
    }

    pub(crate) fn c32(&mut self, value: u32) -> Operand {
        let ty = self.i32;
        self.int(ty, value.into())
    }

    pub(crate) fn push(&mut self, result: Option<TypeId>, kind: InstKind) -> Operand {
        let result = result.map(|ty| self.body.new_value(ty));
        self.body.blocks[self.here.index()].insts.push(Inst {
            result,
            kind,
            loc: None,
        });
        result.map_or(Operand::Const(ConstId(u32::MAX)), Operand::Value)
    }

    pub(crate) fn alloca(&mut self, ty: TypeId) -> Operand {
        let count_ty = self.i32;
        let count = self.c32(1);
        let ptr = self.ptr;
        self.push(
            Some(ptr),
            InstKind::Alloca {
                ty,
                count_ty,
                count,
                align: 8,
            },
        )
    }

    pub(crate) fn load(&mut self, ty: TypeId, ptr: Operand) -> Operand {
        self.push(
            Some(ty),
            InstKind::Load {
                ty,
                ptr,
                align: 1,
                volatile: false,
                atomic: None,
            },
        )
    }

    pub(crate) fn store(&mut self, ty: TypeId, value: Operand, ptr: Operand) {
        self.push(
            None,
            InstKind::Store {
                ty,
                value,
                ptr,
                align: 1,
                volatile: false,
                atomic: None,
            },
        );
    }

    pub(crate) fn store_atomic(&mut self, ty: TypeId, value: Operand, ptr: Operand) {
        self.push(
            None,
            InstKind::Store {
                ty,
                value,
                ptr,
                align: 1,
                volatile: false,
                atomic: Some((AtomicOrdering::SeqCst, SyncScope::System)),
            },
        );
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, lhs: Operand, rhs: Operand) -> Operand {
        let ty = self.i32;
        self.push(
            Some(ty),
            InstKind::Binary {
                op,
                flags: ArithFlags::default(),
                ty,
                lhs,
                rhs,
            },
        )
    }

    pub(crate) fn icmp(
        &mut self,
        predicate: IntPredicate,
        ty: TypeId,
        lhs: Operand,
        rhs: Operand,
    ) -> Operand {
        let i1 = self.i1;
        self.push(
            Some(i1),
            InstKind::ICmp {
                predicate,
                ty,
                lhs,
                rhs,
            },
        )
    }

    pub(crate) fn cast(&mut self, op: CastOp, from: TypeId, to: TypeId, value: Operand) -> Operand {
        self.push(
            Some(to),
            InstKind::Cast {
                op,
                from,
                to,
                value,
            },
        )
    }

    pub(crate) fn gep(&mut self, source: TypeId, base: Operand, indices: &[u32]) -> Operand {
        let ty = self.i32;
        let indices = indices.iter().map(|&i| (ty, self.c32(i))).collect();
        let ptr = self.ptr;
        self.push(
            Some(ptr),
            InstKind::Gep {
                source,
                base,
                indices,
                inbounds: true,
            },
        )
    }

    /// Declares a function of the given parameters, or finds it.
    pub(crate) fn function(&mut self, name: &str, params: &[TypeId], ret: TypeId) -> FuncId {
        if let Some(known) = self.module.function_named(name) {
            return known;
        }
        let ty = self.module.types.intern(Type::Function {
            ret,
            params: params.into(),
            varargs: false,
        });
        let id = FuncId::from_index(self.module.functions.len());
        self.module.functions.push(Function {
            name: name.into(),
            ty,
            is_declaration: true,
            param_nocapture: vec![false; params.len()],
            param_byval: vec![None; params.len()],
            defined_at: None,
        });
        self.module
            .symbols
            .insert(name.into(), Symbol::Function(id));
        id
    }

    pub(crate) fn global(&mut self, name: &str, ty: TypeId, thread_local: bool) -> Operand {
        let id = GlobalId::from_index(self.module.globals.len());
        self.module.globals.push(Global {
            name: name.into(),
            ty,
            initializer: None,
            is_constant: false,
            thread_local,
            align: 8,
            source_type: None,
            source_name: None,
            declared_at: None,
        });
        self.module.symbols.insert(name.into(), Symbol::Global(id));
        self.constant(Constant::Global(id))
    }

    /// Calls a function by name, declaring it where it is not known.
    pub(crate) fn call(
        &mut self,
        name: &str,
        args: &[(TypeId, Operand)],
        ret: Option<TypeId>,
    ) -> Operand {
        let types: Vec<_> = args.iter().map(|&(ty, _)| ty).collect();
        let void = self.void;
        let function = self.function(name, &types, ret.unwrap_or(void));
        let callee = self.constant(Constant::Function(function));
        self.call_operand(callee, args, ret)
    }

    pub(crate) fn call_operand(
        &mut self,
        callee: Operand,
        args: &[(TypeId, Operand)],
        ret: Option<TypeId>,
    ) -> Operand {
        let arg_types: Vec<_> = args.iter().map(|&(ty, _)| ty).collect();
        let fn_type = self.module.types.intern(Type::Function {
            ret: ret.unwrap_or(self.void),
            params: arg_types.clone().into(),
            varargs: false,
        });
        self.push(
            ret,
            InstKind::Call(Call {
                callee,
                fn_type,
                args: args.iter().map(|&(_, arg)| arg).collect(),
                arg_types,
                byval: Vec::new(),
                sret: None,
            }),
        )
    }

    pub(crate) fn memset(&mut self, to: Operand, byte: u8, length: u64) {
        let (byte_ty, length_ty, flag_ty, ptr) = (self.i8, self.i64, self.i1, self.ptr);
        let byte = self.int(byte_ty, byte.into());
        let length = self.int(length_ty, length.into());
        let volatile = self.int(flag_ty, 0);
        let args = [
            (ptr, to),
            (byte_ty, byte),
            (length_ty, length),
            (flag_ty, volatile),
        ];
        self.call("llvm.memset.p0.i64", &args, None);
    }

    pub(crate) fn memcpy(&mut self, to: Operand, from: Operand, length: u64) {
        let (length_ty, flag_ty, ptr) = (self.i64, self.i1, self.ptr);
        let length = self.int(length_ty, length.into());
        let volatile = self.int(flag_ty, 0);
        let args = [
            (ptr, to),
            (ptr, from),
            (length_ty, length),
            (flag_ty, volatile),
        ];
        self.call("llvm.memcpy.p0.p0.i64", &args, None);
    }

    pub(crate) fn lifetime_start(&mut self, of: Operand) {
        let (size_ty, ptr) = (self.i64, self.ptr);
        let size = self.int(size_ty, u128::from(u64::MAX));
        self.call(
            "llvm.lifetime.start.p0",
            &[(size_ty, size), (ptr, of)],
            None,
        );
    }

    pub(crate) fn phi(&mut self, ty: TypeId, incoming: &[(BlockId, Operand)]) -> Operand {
        let result = self.body.new_value(ty);
        self.body.blocks[self.here.index()].phis.push(Phi {
            result,
            ty,
            incoming: incoming.to_vec(),
        });
        Operand::Value(result)
    }

    pub(crate) fn end(&mut self, terminator: Terminator) {
        self.body.blocks[self.here.index()].terminator = terminator;
    }

    pub(crate) fn br(&mut self, target: BlockId) {
        self.end(Terminator::Br { target });
    }

    pub(crate) fn cond(&mut self, condition: Operand, then: BlockId, otherwise: BlockId) {
        self.end(Terminator::CondBr {
            condition,
            then,
            otherwise,
        });
    }

    pub(crate) fn ret(&mut self, ty: TypeId, value: Operand) {
        self.end(Terminator::Ret {
            ty,
            value: Some(value),
        });
    }

    pub(crate) fn ret_void(&mut self) {
        let ty = self.void;
        self.end(Terminator::Ret { ty, value: None });
    }

    pub(crate) fn array(&mut self, element: TypeId, len: u64) -> TypeId {
        self.module.types.intern(Type::Array { element, len })
    }

    pub(crate) fn strukt(&mut self, fields: &[TypeId]) -> TypeId {
        self.module.types.intern(Type::Struct {
            name: None,
            fields: fields.into(),
            packed: false,
        })
    }
}

/// How many instructions of a body satisfy `what`.
pub(crate) fn count(body: &Body, what: impl Fn(&InstKind) -> bool) -> usize {
    let insts = body.blocks.iter().flat_map(|block| &block.insts);
    insts.filter(|inst| what(&inst.kind)).count()
}

/// How many instructions touch memory or make it.
pub(crate) fn memory_insts(body: &Body) -> usize {
    count(body, |kind| {
        matches!(
            kind,
            InstKind::Alloca { .. } | InstKind::Load { .. } | InstKind::Store { .. }
        )
    })
}

pub(crate) fn value_of(operand: Operand) -> ValueId {
    operand.value().expect("a value")
}
