//! Random bodies in a world where every read may return anything: the transformed ones have the same effects in the same orders,
//! leave their loops with the same results and stop at the same places.

use super::*;
use crate::constant::Constant;
use crate::ids::TypeId;
use crate::inst::{
    AtomicOrdering, BinaryOp, Body, InstKind, IntPredicate, Operand, RmwOp, SyncScope, Terminator,
};
use crate::module::Module;
use crate::passes::testing::check::check_ssa;
use crate::passes::testing::interp::{Seen, run_in_world};
use crate::passes::testing::{Builder, Rng, cfg_body, random_edges};
use crate::passes::{Cfg, Dominators, prepare, print};
use crate::verify;
use std::collections::BTreeSet;

struct Generator<'a> {
    rng: &'a mut Rng,
    b: Builder,
    globals: Vec<Operand>,
    /// Per block, the `i32` values it defines.
    defined: Vec<Vec<Operand>>,
    pair: TypeId,
    /// Per block, those that every way to it goes through, the block itself among them.
    dominators: Vec<Vec<usize>>,
}

fn random_body(rng: &mut Rng) -> Builder {
    let edges = if rng.below(2) == 0 {
        let blocks = 3 + rng.below(5);
        random_edges(rng, blocks)
    } else {
        // A loop in a loop, with an edge turned elsewhere now and then.
        let mut edges = vec![vec![1], vec![2], vec![3, 4], vec![2], vec![1, 5], vec![]];
        if rng.below(2) == 0 {
            let (from, to) = (1 + rng.below(4), 1 + rng.below(5) as u32);
            let edge = rng.below(edges[from].len());
            edges[from][edge] = to;
        }
        edges
    };
    let blocks = edges.len();
    let mut b = Builder::new();
    let (i1, i32) = (b.i1, b.i32);
    let param = b.param(i32);
    let pair = b.strukt(&[i32, i1]);
    let zero = b.module.intern_constant(Constant::Int(i32, 0));
    let globals = ["g", "h"].map(|name| b.global(name, i32, false)).to_vec();
    for global in &mut b.module.globals {
        global.initializer = Some(zero);
    }
    let mut generator = Generator {
        rng,
        b,
        globals,
        defined: vec![Vec::new(); blocks],
        pair,
        dominators: dominators(&edges),
    };
    generator.defined[0].push(param);
    for _ in 1..blocks {
        generator.b.block();
    }
    generator.phis(&edges);
    for (block, successors) in edges.iter().enumerate() {
        generator.b.at(BlockId::from_index(block));
        for _ in 0..generator.rng.below(4) {
            generator.inst(block);
        }
        generator.end(block, successors);
    }
    generator.complete_phis();
    generator.b
}

fn dominators(edges: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let tree = Dominators::new(&Cfg::new(&cfg_body(edges)));
    let of = |block| {
        let dominates = |&a: &usize| {
            a == block || tree.dominates(BlockId::from_index(a), BlockId::from_index(block))
        };
        (0..edges.len()).filter(dominates).collect()
    };
    (0..edges.len()).map(of).collect()
}

impl Generator<'_> {
    fn phis(&mut self, edges: &[Vec<u32>]) {
        for block in 1..edges.len() {
            let entered = edges.iter().flatten().any(|&to| to as usize == block);
            if entered && self.rng.below(4) == 0 {
                let ty = self.b.i32;
                let phi = self.b.at(BlockId::from_index(block)).phi(ty, &[]);
                self.defined[block].push(phi);
            }
        }
    }

    fn complete_phis(&mut self) {
        for block in 0..self.defined.len() {
            let predecessors: Vec<usize> = (0..self.defined.len())
                .filter(|&from| {
                    let successors = self.b.body.blocks[from].terminator.successors();
                    successors.contains(&BlockId::from_index(block))
                })
                .collect();
            for index in 0..self.b.body.blocks[block].phis.len() {
                let own = Operand::Value(self.b.body.blocks[block].phis[index].result);
                for &from in &predecessors {
                    // A block that enters itself may keep the value.
                    let operand = if from == block && self.rng.below(2) == 0 {
                        own
                    } else {
                        self.value(from)
                    };
                    let phi = &mut self.b.body.blocks[block].phis[index];
                    phi.incoming.push((BlockId::from_index(from), operand));
                }
            }
        }
    }

    fn value(&mut self, block: usize) -> Operand {
        let from = self.rng.pick(&self.dominators[block]);
        if self.defined[from].is_empty() || self.rng.below(4) == 0 {
            let value = self.rng.below(3) as u32;
            return self.b.c32(value);
        }
        let index = self.rng.below(self.defined[from].len());
        self.defined[from][index]
    }

    fn inst(&mut self, block: usize) {
        let i32 = self.b.i32;
        let ptr = self.rng.pick(&self.globals);
        let result = match self.rng.below(20) {
            0..=9 => self.load(ptr),
            10 => {
                let value = self.value(block);
                self.b.store_atomic(i32, value, ptr);
                return;
            }
            11 => {
                let value = self.value(block);
                self.b.call("observe", &[(i32, value)], None);
                return;
            }
            12..=14 => return self.compare_exchange(block, ptr),
            15..=17 => self.update(block, ptr),
            18 => {
                let (a, b) = (self.value(block), self.value(block));
                self.b.binary(BinaryOp::UDiv, a, b)
            }
            _ => {
                let (a, b) = (self.value(block), self.value(block));
                let op = self.rng.pick(&[BinaryOp::Add, BinaryOp::Sub]);
                self.b.binary(op, a, b)
            }
        };
        self.defined[block].push(result);
    }

    fn load(&mut self, ptr: Operand) -> Operand {
        let ty = self.b.i32;
        self.b.push(
            Some(ty),
            InstKind::Load {
                ty,
                ptr,
                align: 4,
                volatile: false,
                atomic: Some((AtomicOrdering::SeqCst, SyncScope::System)),
            },
        )
    }

    fn compare_exchange(&mut self, block: usize, ptr: Operand) {
        let ty = self.b.i32;
        let (expected, new) = (self.value(block), self.value(block));
        let pair = self.b.push(
            Some(self.pair),
            InstKind::CmpXchg {
                ty,
                ptr,
                expected,
                new,
                success: AtomicOrdering::SeqCst,
                failure: AtomicOrdering::SeqCst,
                scope: SyncScope::System,
                weak: false,
                volatile: false,
                align: 4,
            },
        );
        let field = |index| InstKind::ExtractValue {
            aggregate_ty: self.pair,
            aggregate: pair,
            indices: vec![index],
        };
        let (found, ok) = (field(0), field(1));
        let found = self.b.push(Some(ty), found);
        let ok = self.b.push(Some(self.b.i1), ok);
        let ok = self
            .b
            .cast(crate::inst::CastOp::ZExt, self.b.i1, self.b.i32, ok);
        self.defined[block].extend([found, ok, ok]);
    }

    fn update(&mut self, block: usize, ptr: Operand) -> Operand {
        let ty = self.b.i32;
        let value = self.value(block);
        let ops = [
            RmwOp::Xchg,
            RmwOp::Xchg,
            RmwOp::Add,
            RmwOp::Or,
            RmwOp::And,
            RmwOp::UMax,
        ];
        let op = self.rng.pick(&ops);
        self.b.push(
            Some(ty),
            InstKind::AtomicRmw {
                op,
                ty,
                ptr,
                value,
                ordering: AtomicOrdering::SeqCst,
                scope: SyncScope::System,
                volatile: false,
                align: 4,
            },
        )
    }

    fn end(&mut self, block: usize, successors: &[u32]) {
        let i32 = self.b.i32;
        let target = |index: usize| BlockId(successors[index]);
        match successors.len() {
            0 => {
                let value = self.value(block);
                self.b.ret(i32, value);
            }
            1 => self.b.br(target(0)),
            2 => {
                let (lhs, rhs) = (self.value(block), self.value(block));
                let predicates = [IntPredicate::Eq, IntPredicate::Eq, IntPredicate::Ult];
                let predicate = self.rng.pick(&predicates);
                let condition = self.b.icmp(predicate, i32, lhs, rhs);
                self.b.cond(condition, target(0), target(1));
            }
            _ => {
                let value = self.value(block);
                self.b.end(Terminator::Switch {
                    ty: i32,
                    value,
                    default: target(0),
                    cases: vec![(1, target(1)), (2, target(2))],
                });
            }
        }
    }
}

/// All that a body may be seen to do, up to its end, in so many blocks, with so many reads of so many values.
fn behaviours(
    module: &Module,
    body: &Body,
    blocks: usize,
    (reads, values): (usize, u128),
) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut pending = vec![Vec::new()];
    while let Some(script) = pending.pop() {
        let run = run_in_world(module, body, &[1], blocks, script.clone());
        match run.last() {
            Some(Seen::OutOfSteps) if script.len() < reads => {
                pending.extend((0..values).map(|next| {
                    let mut longer = script.clone();
                    longer.push(next);
                    longer
                }));
            }
            Some(Seen::OutOfSteps) => {}
            _ => {
                seen.insert(format!("{run:?}"));
            }
        }
    }
    seen
}

#[test]
fn nothing_but_pure_rounds_is_lost() {
    let cases = std::env::var("RADDLE_PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut rng = Rng::new(2208);
    let mut conditions = 0;
    for iteration in 0..cases.unwrap_or(1500) {
        let mut b = random_body(&mut rng);
        let body = b.finish();
        let body = prepare(&mut b.module, body);
        let atomics = &AtomicGlobals::of(&mut b.module);
        let around = Surroundings {
            calls: &known_call,
            atomics,
        };
        let mut new = body.clone();
        let done = eliminate(&mut b.module, &mut new, around);
        if done == 0 {
            continue;
        }
        conditions += done;
        let all = behaviours(&b.module, &body, 80, (5, 3));
        verify(&b.module, &new).expect("valid");
        check_ssa(&new);
        // More room for the blocks that were split.
        let now = behaviours(&b.module, &new, 300, (5, 3));
        let text = |body| print::print_body(&b.module, body);
        assert!(
            all == now,
            "iteration {iteration}: lost {:?}, new {:?}\n{}\n{}",
            all.difference(&now).next(),
            now.difference(&all).next(),
            text(&body),
            text(&new)
        );
    }
    if cases.is_none() {
        assert!(conditions > 20, "{conditions} early returns");
    }
}

/// An iteration of the outer loop is pure if the inner one is not closed. What was read before a write is read anew after it.
#[test]
fn rounds_that_closed_a_loop_inside_are_kept() {
    let text = "@x = global i32 0, align 4
@z = global i32 0, align 4
define i32 @f(i32 %n) {
  br label %outer
outer:
  %v = load atomic i32, ptr @x seq_cst, align 4
  br label %inner
inner:
  %a = load atomic i32, ptr @x seq_cst, align 4
  %again = icmp eq i32 %a, 1
  br i1 %again, label %write, label %behind
write:
  store atomic i32 %v, ptr @z seq_cst, align 4
  br label %inner
behind:
  %b = load atomic i32, ptr @x seq_cst, align 4
  %done = icmp eq i32 %b, 1
  br i1 %done, label %out, label %outer
out:
  ret i32 %v
}";
    let mut module = crate::parse_module(text, "t.ll").expect("valid");
    let id = module.function_named("f").expect("defined");
    let body = module.parse_body(id).expect("valid");
    let body = prepare(&mut module, body);
    let all = behaviours(&module, &body, 80, (10, 2));
    assert!(all.len() > 4);
    let atomics = &AtomicGlobals::of(&mut module);
    let around = Surroundings {
        calls: &known_call,
        atomics,
    };
    let mut new = body.clone();
    eliminate(&mut module, &mut new, around);
    assert_eq!(behaviours(&module, &new, 300, (10, 2)), all);
}
