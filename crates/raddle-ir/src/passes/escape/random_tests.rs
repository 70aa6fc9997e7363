//! Random programs of several functions that pass pointers around, run with every object's address tracked: one that was
//! seen in memory, in a sink or outside of its function must not have been called private.

use super::*;
use crate::ids::TypeId;
use crate::inst::Terminator;
use crate::passes::intrinsics::called_function;
use crate::passes::testing::{Builder, Rng};
use std::collections::{HashMap, HashSet};

const FUNCTIONS: usize = 4;

struct Bodies(HashMap<FuncId, Body>);

impl BodyProvider for Bodies {
    fn body(&mut self, _: &mut Module, function: FuncId) -> Option<&Body> {
        self.0.get(&function)
    }
}

fn random_program(rng: &mut Rng) -> (Builder, Bodies) {
    let mut b = Builder::new();
    let ptr = b.ptr;
    let globals = [b.global("g", ptr, false), b.global("h", ptr, true)];
    let names: Vec<String> = (0..FUNCTIONS).map(|index| format!("f{index}")).collect();
    for name in &names {
        b.function(name, &[ptr, ptr], ptr);
    }
    let mut bodies = HashMap::new();
    for name in &names {
        let mut pointers = vec![b.param(ptr), b.param(ptr), b.alloca(ptr), b.alloca(ptr)];
        for _ in 0..2 + rng.below(4) {
            let (p, q) = (rng.pick(&pointers), rng.pick(&pointers));
            match rng.below(12) {
                0 => b.store(ptr, p, q),
                1 if rng.below(2) == 0 => b.store(ptr, p, rng.pick(&globals)),
                2 => pointers.push(b.load(ptr, p)),
                3 => {
                    let _ = b.call("sink", &[(ptr, p)], None);
                }
                4 => pointers.push(b.gep(ptr, p, &[0])),
                5 => b.store(ptr, rng.pick(&globals), p),
                6 => {
                    let condition = b.icmp(crate::inst::IntPredicate::Eq, ptr, p, q);
                    pointers.push(select(&mut b, ptr, condition, [p, q]));
                }
                _ => {
                    let callee = &names[rng.below(FUNCTIONS)];
                    pointers.push(b.call(callee, &[(ptr, p), (ptr, q)], Some(ptr)));
                }
            }
        }
        let null = b.constant(Constant::Null);
        let result = if rng.below(3) == 0 {
            rng.pick(&pointers)
        } else {
            null
        };
        b.ret(ptr, result);
        let id = b.module.function_named(name).expect("declared");
        b.module.functions[id.index()].is_declaration = false;
        bodies.insert(id, b.finish());
    }
    (b, Bodies(bodies))
}

fn select(
    b: &mut Builder,
    ty: TypeId,
    condition: Operand,
    [then, otherwise]: [Operand; 2],
) -> Operand {
    let condition_ty = b.i1;
    b.push(
        Some(ty),
        InstKind::Select {
            condition_ty,
            condition,
            ty,
            then,
            otherwise,
        },
    )
}

/// Pointers are numbers of objects, 0 is null; every object holds one pointer.
struct Machine<'a> {
    module: &'a Module,
    bodies: &'a Bodies,
    memory: Vec<usize>,
    /// The alloca and the depth of the frame that made each object; none for globals.
    owner: Vec<Option<(FuncId, ValueId, usize)>>,
    escaped: HashSet<(FuncId, ValueId)>,
    fuel: usize,
}

impl Machine<'_> {
    fn leak(&mut self, object: usize) {
        if let Some((function, value, _)) = self.owner[object] {
            self.escaped.insert((function, value));
        }
    }

    /// Runs a function; `None` if it went on for too long or followed a null pointer.
    fn call(&mut self, function: FuncId, args: &[usize], depth: usize) -> Option<usize> {
        if depth > 6 {
            return None;
        }
        let bodies = self.bodies;
        let body = &bodies.0[&function];
        let mut values = vec![0; body.value_types.len()];
        values[..args.len()].copy_from_slice(args);
        let block = &body.blocks[0];
        for inst in &block.insts {
            self.fuel = self.fuel.checked_sub(1)?;
            let of = |operand: Operand| self.operand(&values, operand);
            let result = match &inst.kind {
                InstKind::Alloca { .. } => {
                    self.memory.push(0);
                    self.owner
                        .push(inst.result.map(|value| (function, value, depth)));
                    self.memory.len() - 1
                }
                InstKind::Load { ptr, .. } => self.memory[Some(of(*ptr)).filter(|&p| p != 0)?],
                InstKind::Store { value, ptr, .. } => {
                    let (value, ptr) = (of(*value), of(*ptr));
                    self.leak(value);
                    *self.memory.get_mut(ptr).filter(|_| ptr != 0)? = value;
                    0
                }
                InstKind::Gep { base, .. } => of(*base),
                InstKind::ICmp { lhs, rhs, .. } => usize::from(of(*lhs) == of(*rhs)),
                InstKind::Select {
                    condition,
                    then,
                    otherwise,
                    ..
                } => of(if of(*condition) != 0 {
                    *then
                } else {
                    *otherwise
                }),
                InstKind::Call(call) => {
                    let args: Vec<_> = call.args.iter().map(|&arg| of(arg)).collect();
                    let callee = called_function(self.module, call.callee)?;
                    if self.module.function(callee).is_declaration {
                        self.leak(args[0]);
                        0
                    } else {
                        self.call(callee, &args, depth + 1)?
                    }
                }
                other => panic!("{other:?}"),
            };
            if let Some(value) = inst.result {
                values[value.index()] = result;
            }
        }
        let Terminator::Ret {
            value: Some(value), ..
        } = block.terminator
        else {
            panic!("no result")
        };
        let result = self.operand(&values, value);
        if self.owner[result].is_some_and(|(_, _, made_at)| made_at == depth) {
            self.leak(result);
        }
        Some(result)
    }

    fn operand(&self, values: &[usize], operand: Operand) -> usize {
        match operand {
            Operand::Value(value) => values[value.index()],
            Operand::Const(id) => match self.module.constant(id) {
                Constant::Null => 0,
                Constant::Global(global) => global.index() + 1,
                other => panic!("{other:?}"),
            },
        }
    }
}

#[test]
fn what_is_seen_outside_is_not_private() {
    let mut rng = Rng::new(99);
    let (mut private, mut escaped, mut found_late) = (0, 0, 0);
    for round in 0..3000 {
        let (mut b, mut bodies) = random_program(&mut rng);
        let functions: Vec<_> = (0..FUNCTIONS)
            .map(|index| b.module.function_named(&format!("f{index}")).expect("f"))
            .collect();
        let mut escapes = Escapes::new(&|_, _| false);
        let mut infos = HashMap::new();
        for &function in &functions {
            let info = escapes.analyse(&mut b.module, &mut bodies, function);
            private += info.private.count();
            infos.insert(function, info);
        }
        for &start in &functions {
            let mut machine = Machine {
                module: &b.module,
                bodies: &bodies,
                memory: vec![0, 0, 0],
                owner: vec![None; 3],
                escaped: HashSet::new(),
                fuel: 500,
            };
            let _ = machine.call(start, &[1, 2], 0);
            for &(function, value) in &machine.escaped {
                escaped += 1;
                found_late += usize::from(function != start);
                assert!(
                    !infos[&function].is_private(value),
                    "round {round}: {value:?} of {function:?} was seen outside"
                );
            }
        }
    }
    assert!(private > 3000, "only {private} private variables");
    assert!(
        escaped > 3000 && found_late > 300,
        "{escaped}, {found_late}"
    );
}
