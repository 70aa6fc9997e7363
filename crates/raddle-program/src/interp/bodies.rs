//! Bodies of functions, parsed and prepared once, when first asked for.

use super::InterpOptions;
use super::world::is_panic;
use crate::fault::{Stop, Unsupported};
use crate::models::{self, Replaced};
use raddle_ir::inst::{AtomicOrdering, Call, SyncScope};
use raddle_ir::passes::purity::{self, AtomicGlobals, CallEffect, Surroundings};
use raddle_ir::passes::{self, BodyProvider, counters, intrinsics, spins, uses};
use raddle_ir::{
    Body, Constant, FuncId, Function, Inst, InstKind, Module, Operand, Symbol, Terminator, Type,
    TypeId, ValueId,
};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The bodies asked for so far.
pub(crate) struct Bodies {
    prepared: FxHashMap<FuncId, Result<Rc<Body>, Stop>>,
    /// Do iterations of loops end as soon as they are known to be pure?
    ends_pure_iterations: bool,
    volatile_is_atomic: bool,
    collapses_spins: bool,
    unwritten: passes::Unwritten,
    /// How often functions look at memory, if they do nothing else.
    looks: Looks,
    /// Found out when first needed: all bodies have to be read.
    atomics: Option<AtomicGlobals>,
    /// What of Rust's library is replaced.
    pub(crate) replaced: Replaced,
}

impl Bodies {
    pub(crate) fn new(module: &Module, options: &InterpOptions) -> Self {
        Self {
            prepared: FxHashMap::default(),
            ends_pure_iterations: options.leaves_out_pure_iterations,
            volatile_is_atomic: options.volatile_is_atomic,
            collapses_spins: options.collapses_spins,
            unwritten: match options.keeps_unwritten {
                true => passes::Unwritten::InMemory,
                false => passes::Unwritten::Undefined,
            },
            looks: Looks::default(),
            atomics: None,
            replaced: Replaced::of(module, options.leaves_out_pure_iterations),
        }
    }

    pub(crate) fn get(&mut self, module: &mut Module, id: FuncId) -> Result<Rc<Body>, Stop> {
        if let Some(body) = self.prepared.get(&id) {
            return body.clone();
        }
        let body = match module.parse_body(id) {
            Ok(mut body) => {
                copy_byval_params(module, id, &mut body);
                if self.volatile_is_atomic {
                    make_volatile_atomic(module, &mut body);
                }
                self.name_tried_functions(module, &mut body);
                let mut body = passes::prepare_with(module, body, self.unwritten);
                counters::forget_unwinding_pauses(module, &mut body, &is_pause);
                if self.collapses_spins {
                    self.collapse_counted_spins(module, &mut body);
                }
                if self.ends_pure_iterations {
                    // The first round shows what else the counters were for.
                    for _ in 0..2 {
                        counters::forget_delays(module, &mut body, &is_pause, &is_panic);
                    }
                    if self.atomics.is_none() && purity::may_matter(&body) {
                        self.atomics = Some(AtomicGlobals::of(module));
                    }
                    let around = Surroundings {
                        calls: &effect_of_call,
                        atomics: self.atomics.as_ref().unwrap_or(&AtomicGlobals::NONE),
                    };
                    purity::eliminate(module, &mut body, around);
                }
                Ok(Rc::new(body))
            }
            Err(error) => Err(Stop::Unsupported(Unsupported::Parse {
                message: error.to_string().into(),
            })),
        };
        self.prepared.insert(id, body.clone());
        body
    }
}

impl Bodies {
    fn collapse_counted_spins(&mut self, module: &mut Module, body: &mut Body) {
        let (looks, replaced, unwritten) = (&mut self.looks, self.replaced, self.unwritten);
        let volatile_is_atomic = self.volatile_is_atomic;
        let mut looks_of = |module: &mut Module, call: &Call| {
            let prepare = |module: &mut Module, id: FuncId| {
                let mut body = module.parse_body(id).ok()?;
                if volatile_is_atomic {
                    make_volatile_atomic(module, &mut body);
                }
                Some(passes::prepare_with(module, body, unwritten))
            };
            looks_of_call(module, call, (looks, replaced), &prepare, DEEPEST)
        };
        spins::collapse_counted_spins(module, body, &is_pause, &mut looks_of);
    }
}

/// How often functions look at memory at most, if they look and compute and do nothing else.
type Looks = FxHashMap<FuncId, Option<u32>>;

/// So deep calls are followed to see that they only look.
const DEEPEST: u32 = 6;

fn looks_of_call(
    module: &mut Module,
    call: &Call,
    (looks, replaced): (&mut Looks, Replaced),
    prepare: &dyn Fn(&mut Module, FuncId) -> Option<Body>,
    depth: u32,
) -> Option<u32> {
    let id = intrinsics::called_function(module, call.callee)?;
    if depth == 0 || stands_in(module, id, replaced) {
        return (effect_of_call(module, call) == CallEffect::Nothing).then_some(0);
    }
    if let Some(&known) = looks.get(&id) {
        return known;
    }
    // Who is asked about while being looked at calls itself.
    looks.insert(id, None);
    let body = prepare(module, id)?;
    let mut looks_of = |module: &mut Module, call: &Call| {
        looks_of_call(module, call, (&mut *looks, replaced), prepare, depth - 1)
    };
    let found = spins::looks_of_body(module, &body, &is_pause, &mut looks_of);
    looks.insert(id, found);
    found
}

/// Makes relaxed atomics of volatile accesses that a processor does at once.
fn make_volatile_atomic(module: &Module, body: &mut Body) {
    let is_word = |ty: TypeId, align: u64| {
        let is_scalar = matches!(
            module.types.get(ty),
            Type::Int(_) | Type::Ptr | Type::Float(_)
        );
        let size = module.types.store_size(ty).unwrap_or(0);
        is_scalar && matches!(size, 1 | 2 | 4 | 8) && align >= size
    };
    for inst in body.blocks.iter_mut().flat_map(|block| &mut block.insts) {
        if let InstKind::Load {
            ty,
            align,
            volatile: true,
            atomic: atomic @ None,
            ..
        }
        | InstKind::Store {
            ty,
            align,
            volatile: true,
            atomic: atomic @ None,
            ..
        } = &mut inst.kind
            && is_word(*ty, *align)
        {
            *atomic = Some((AtomicOrdering::Monotonic, SyncScope::System));
        }
    }
}

/// What Rust's `catch_unwind` is made of: `(function, data, handler)`.
const TRY: &str = "__rust_try";

impl Bodies {
    /// Calls of [`TRY`] name what they try and what handles its panic: each such pair gets a copy of its own, which calls them by
    /// name. Otherwise all that they are passed would have to count as shared.
    fn name_tried_functions(&mut self, module: &mut Module, body: &mut Body) {
        let Some(tried) = module.function_named(TRY) else {
            return;
        };
        if module.function(tried).is_declaration {
            return;
        }
        for block in &mut body.blocks {
            let invoked = match &mut block.terminator {
                Terminator::Invoke { call, .. } => Some(call),
                _ => None,
            };
            let calls = block
                .insts
                .iter_mut()
                .filter_map(|inst| match &mut inst.kind {
                    InstKind::Call(call) => Some(call),
                    _ => None,
                });
            for call in calls.chain(invoked) {
                if intrinsics::called_function(module, call.callee) == Some(tried)
                    && let Some(copy) = self.copy_of_try(module, tried, call)
                {
                    call.callee = Operand::Const(module.intern_constant(Constant::Function(copy)));
                }
            }
        }
    }

    fn copy_of_try(&mut self, module: &mut Module, tried: FuncId, call: &Call) -> Option<FuncId> {
        let [function, _, handler] = call.args[..] else {
            return None;
        };
        let name = |operand| {
            let id = intrinsics::called_function(module, operand)?;
            Some(module.function(id).name.clone())
        };
        let name = format!("{TRY} {} {}", name(function)?, name(handler)?);
        if let Some(copy) = module.function_named(&name) {
            return Some(copy);
        }
        let mut body = module.parse_body(tried).ok()?;
        uses::visit_body_operands_mut(&mut body, |operand| {
            if *operand == Operand::Value(ValueId::from_index(0)) {
                *operand = function;
            } else if *operand == Operand::Value(ValueId::from_index(2)) {
                *operand = handler;
            }
        });
        let copy = module.copy_function(tried, &name);
        let body = passes::prepare_with(module, body, self.unwritten);
        self.prepared.insert(copy, Ok(Rc::new(body)));
        Some(copy)
    }
}

impl BodyProvider for Bodies {
    fn body(&mut self, module: &mut Module, id: FuncId) -> Option<&Body> {
        if stands_in(module, id, self.replaced) {
            return None;
        }
        self.get(module, id).ok()?;
        self.prepared.get(&id)?.as_deref().ok()
    }
}

/// What a call does, as far as the purity of loops is concerned.
fn effect_of_call(module: &Module, call: &Call) -> CallEffect {
    let no_op = intrinsics::called_function(module, call.callee).is_some_and(|id| {
        let function = module.function(id);
        let model = if function.is_declaration {
            models::lookup(&function.name)
        } else {
            models::overriding(module, id, Replaced::default())
        };
        model.is_some_and(|model| models::get(model).is_no_op)
    });
    if no_op {
        CallEffect::Nothing
    } else {
        purity::known_call(module, call)
    }
}

/// Does a call do nothing but let time pass?
fn is_pause(module: &Module, call: &Call) -> bool {
    const PAUSE: &str = "llvm.x86.sse2.pause";
    let is_instruction = || {
        intrinsics::called_function(module, call.callee)
            .is_some_and(|id| &*module.function(id).name == PAUSE)
    };
    effect_of_call(module, call) == CallEffect::Nothing || is_instruction()
}

/// Is something else run instead of the function's body?
fn stands_in(module: &Module, id: FuncId, replaced: Replaced) -> bool {
    let function = module.function(id);
    function.is_declaration
        || is_panic(&function.name)
        || models::overriding(module, id, replaced).is_some()
}

/// Says of functions without body that they do not keep an argument.
pub(crate) fn does_not_capture(name: &str, param: usize) -> bool {
    is_panic(name) || models::lookup(name).is_some_and(|model| !models::get(model).captures(param))
}

/// Turns `byval` parameters into variables of the callee that start as copies: nobody else has to know of them.
fn copy_byval_params(module: &mut Module, id: FuncId, body: &mut Body) {
    let byval: Vec<(ValueId, TypeId)> = module
        .function(id)
        .param_byval
        .iter()
        .enumerate()
        .take(body.param_count as usize)
        .filter_map(|(param, ty)| Some((ValueId::from_index(param), (*ty)?)))
        .collect();
    for (param, ty) in byval {
        let Ok(size) = module.types.alloc_size(ty) else {
            continue;
        };
        let pointer = module.types.intern(Type::Ptr);
        let copy = body.new_value(pointer);
        uses::visit_body_operands_mut(body, |operand| {
            if *operand == Operand::Value(param) {
                *operand = Operand::Value(copy);
            }
        });
        for (value, _) in &mut body.variables {
            if *value == param {
                *value = copy;
            }
        }
        let instructions = copying(module, (copy, param), ty, size);
        if let Some(entry) = body.blocks.first_mut() {
            entry.insts.splice(0..0, instructions);
        }
    }
}

/// `%copy = alloca T`, `call memcpy(%copy, %param, size)`.
fn copying(
    module: &mut Module,
    (copy, param): (ValueId, ValueId),
    ty: TypeId,
    size: u64,
) -> [Inst; 2] {
    let pointer = module.types.intern(Type::Ptr);
    let (wide, bit) = (
        module.types.intern(Type::Int(64)),
        module.types.intern(Type::Int(1)),
    );
    let one = module.intern_constant(Constant::Int(wide, 1));
    let size = module.intern_constant(Constant::Int(wide, u128::from(size)));
    let not_volatile = module.intern_constant(Constant::Int(bit, 0));
    let memcpy = memcpy_function(module);
    let fn_type = module.function(memcpy).ty;
    let callee = module.intern_constant(Constant::Function(memcpy));
    let align = module.types.align(ty).unwrap_or(1).max(8);
    [
        Inst {
            result: Some(copy),
            kind: InstKind::Alloca {
                ty,
                count_ty: wide,
                count: Operand::Const(one),
                align,
            },
            loc: None,
        },
        Inst {
            result: None,
            kind: InstKind::Call(Call {
                callee: Operand::Const(callee),
                fn_type,
                args: vec![
                    Operand::Value(copy),
                    Operand::Value(param),
                    Operand::Const(size),
                    Operand::Const(not_volatile),
                ],
                arg_types: vec![pointer, pointer, wide, bit],
                byval: Vec::new(),
                sret: None,
            }),
            loc: None,
        },
    ]
}

/// The intrinsic, declared if the module does not use it.
fn memcpy_function(module: &mut Module) -> FuncId {
    const NAME: &str = "llvm.memcpy.p0.p0.i64";
    if let Some(id) = module.function_named(NAME) {
        return id;
    }
    let pointer = module.types.intern(Type::Ptr);
    let (wide, bit) = (
        module.types.intern(Type::Int(64)),
        module.types.intern(Type::Int(1)),
    );
    let ret = module.types.intern(Type::Void);
    let ty = module.types.intern(Type::Function {
        ret,
        params: [pointer, pointer, wide, bit].into(),
        varargs: false,
    });
    let id = FuncId::from_index(module.functions.len());
    module.functions.push(Function {
        name: NAME.into(),
        ty,
        is_declaration: true,
        param_nocapture: vec![true, true, false, false],
        param_byval: vec![None; 4],
        defined_at: None,
    });
    module.symbols.insert(NAME.into(), Symbol::Function(id));
    id
}
