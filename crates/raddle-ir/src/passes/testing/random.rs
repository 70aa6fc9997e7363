//! Random graphs and bodies.

use super::Builder;
use crate::ids::{BlockId, TypeId};
use crate::inst::{BinaryOp, CastOp, IntPredicate, Operand, Terminator};
use raddle_random::RandomIndex as Rng;

/// Successors per block. The entry has no predecessors unless it is alone.
pub(crate) fn random_edges(rng: &mut Rng, blocks: usize) -> Vec<Vec<u32>> {
    (0..blocks)
        .map(|_| {
            let degree = rng.pick(&[0, 1, 1, 2, 2, 2, 3]);
            (0..degree)
                .filter(|_| blocks > 1)
                .map(|_| 1 + rng.below(blocks - 1) as u32)
                .collect()
        })
        .collect()
}

/// A variable of a random body: its address, and the scalars in it as (field path, type).
struct Variable {
    address: Operand,
    source: TypeId,
    size: u64,
    parts: Vec<(Vec<u32>, TypeId)>,
}

struct Generator<'a> {
    rng: &'a mut Rng,
    build: Builder,
    variables: Vec<Variable>,
    /// Allocas of pointers.
    pointers: Vec<Operand>,
    globals: Vec<Operand>,
    /// Per block, the `i32` values it defines.
    defined: Vec<Vec<Operand>>,
}

/// A body with two `i32` parameters, variables of many shapes, and random code on them; its module beside it.
pub(crate) fn random_body(rng: &mut Rng) -> Builder {
    let blocks = 2 + rng.below(7);
    let edges = random_edges(rng, blocks);
    let mut generator = Generator {
        rng,
        build: Builder::new(),
        variables: Vec::new(),
        pointers: Vec::new(),
        globals: Vec::new(),
        defined: vec![Vec::new(); blocks],
    };
    generator.entry(blocks);
    generator.phis(&edges);
    for (block, successors) in edges.iter().enumerate() {
        generator.build.at(BlockId::from_index(block));
        let length = 1 + generator.rng.below(9);
        for _ in 0..length {
            generator.inst(block);
        }
        generator.end(block, successors);
    }
    generator.complete_phis();
    generator.build
}

impl Generator<'_> {
    fn entry(&mut self, blocks: usize) {
        let i32 = self.build.i32;
        for _ in 0..2 {
            let param = self.build.param(i32);
            self.defined[0].push(param);
        }
        for _ in 1..blocks {
            self.build.block();
        }
        for name in ["g", "h"] {
            let global = self.build.global(name, i32, false);
            self.globals.push(global);
        }
        for _ in 0..1 + self.rng.below(5) {
            self.variable();
        }
        for _ in 0..self.rng.below(2) {
            let ptr = self.build.ptr;
            let address = self.build.alloca(ptr);
            let target = self.rng.below(self.variables.len());
            let target = self.variables[target].address;
            self.build.store(ptr, target, address);
            self.pointers.push(address);
        }
    }

    fn variable(&mut self) {
        let (i8, i32, i64) = (self.build.i8, self.build.i32, self.build.i64);
        let pair = self.build.strukt(&[i32, i32]);
        let nested = self.build.strukt(&[i64, pair, i8]);
        let array = self.build.array(i32, 3);
        let raw = self.build.array(i8, 4);
        let (source, parts) = match self.rng.below(6) {
            0 | 1 => (i32, vec![(vec![], i32)]),
            2 => (pair, vec![(vec![0], i32), (vec![1], i32)]),
            3 => (
                nested,
                vec![(vec![1, 0], i32), (vec![1, 1], i32), (vec![2], i8)],
            ),
            4 => (array, vec![(vec![0], i32), (vec![1], i32), (vec![2], i32)]),
            _ => (raw, vec![(vec![], i32)]),
        };
        let size = self.build.module.types.alloc_size(source).expect("sized");
        let address = self.build.alloca(source);
        self.variables.push(Variable {
            address,
            source,
            size,
            parts,
        });
    }

    /// φ-nodes come first, their operands when everything is there.
    fn phis(&mut self, edges: &[Vec<u32>]) {
        for block in 1..edges.len() {
            let entered = edges.iter().flatten().any(|&to| to as usize == block);
            if entered && self.rng.below(3) == 0 {
                let ty = self.build.i32;
                let phi = self.build.at(BlockId::from_index(block)).phi(ty, &[]);
                self.defined[block].push(phi);
            }
        }
    }

    fn complete_phis(&mut self) {
        for block in 0..self.defined.len() {
            let predecessors: Vec<usize> = (0..self.defined.len())
                .filter(|&from| {
                    let successors = self.build.body.blocks[from].terminator.successors();
                    successors.contains(&BlockId::from_index(block))
                })
                .collect();
            for phi in 0..self.build.body.blocks[block].phis.len() {
                for &from in &predecessors {
                    let operand = self.value(from);
                    let phi = &mut self.build.body.blocks[block].phis[phi];
                    phi.incoming.push((BlockId::from_index(from), operand));
                }
            }
        }
    }

    /// Something that reaches the end of the block: a constant, or a value of it or of the entry.
    fn value(&mut self, block: usize) -> Operand {
        let from = if self.rng.below(3) == 0 { 0 } else { block };
        if self.defined[from].is_empty() || self.rng.below(5) == 0 {
            let value = self.rng.below(4) as u32;
            return self.build.c32(value);
        }
        let index = self.rng.below(self.defined[from].len());
        self.defined[from][index]
    }

    /// The address of a scalar, mostly in a variable, sometimes of a global, through a pointer or out of place.
    fn place(&mut self) -> (TypeId, Operand) {
        let i32 = self.build.i32;
        match self.rng.below(24) {
            0 | 1 => (i32, self.rng.pick(&self.globals)),
            2 | 3 if !self.pointers.is_empty() => {
                let pointer = self.rng.pick(&self.pointers);
                let ptr = self.build.ptr;
                (i32, self.build.load(ptr, pointer))
            }
            odd => {
                let index = self.rng.below(self.variables.len());
                let variable = &self.variables[index];
                let (path, ty) = &variable.parts[self.rng.below(variable.parts.len())];
                let (address, source, ty) = (variable.address, variable.source, *ty);
                if path.is_empty() {
                    return (ty, address);
                }
                let mut path: Vec<u32> = std::iter::once(0).chain(path.iter().copied()).collect();
                if odd == 4 {
                    // Another field, or beyond the end: accessed as if it were the one.
                    path[0] += 1;
                }
                (ty, self.build.gep(source, address, &path))
            }
        }
    }

    fn inst(&mut self, block: usize) {
        let i32 = self.build.i32;
        match self.rng.below(16) {
            0..=4 => {
                let (ty, place) = self.place();
                let loaded = self.build.load(ty, place);
                let loaded = self.widen(ty, loaded);
                self.defined[block].push(loaded);
            }
            5..=9 => {
                let value = self.value(block);
                let (ty, place) = self.place();
                let value = if ty == i32 {
                    value
                } else {
                    self.build.cast(CastOp::Trunc, i32, ty, value)
                };
                self.build.store(ty, value, place);
            }
            10 | 11 => {
                let (lhs, rhs) = (self.value(block), self.value(block));
                let ops = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Xor, BinaryOp::UDiv];
                let op = self.rng.pick(&ops);
                let result = self.build.binary(op, lhs, rhs);
                self.defined[block].push(result);
            }
            12 => {
                let value = self.value(block);
                self.build.call("observe", &[(i32, value)], None);
            }
            13 => self.bulk(),
            14 if self.rng.below(3) == 0 => {
                // In a loop this is a new variable every time.
                let address = self.build.alloca(i32);
                for _ in 0..3 {
                    if self.rng.below(2) == 0 {
                        let value = self.value(block);
                        self.build.store(i32, value, address);
                    } else {
                        let loaded = self.build.load(i32, address);
                        self.defined[block].push(loaded);
                    }
                }
            }
            15 if self.rng.below(6) == 0 => {
                let index = self.rng.below(self.variables.len());
                let address = self.variables[index].address;
                let ptr = self.build.ptr;
                if self.rng.below(2) == 0 {
                    self.build.call("scribble", &[(ptr, address)], None);
                } else {
                    let bits = self
                        .build
                        .icmp(IntPredicate::Eq, ptr, address, self.globals[0]);
                    let bits = self.build.cast(CastOp::ZExt, self.build.i1, i32, bits);
                    self.defined[block].push(bits);
                }
            }
            _ => {}
        }
    }

    fn widen(&mut self, ty: TypeId, value: Operand) -> Operand {
        if ty == self.build.i32 {
            return value;
        }
        let i32 = self.build.i32;
        self.build.cast(CastOp::ZExt, ty, i32, value)
    }

    fn bulk(&mut self) {
        let index = self.rng.below(self.variables.len());
        let (address, size) = (self.variables[index].address, self.variables[index].size);
        match self.rng.below(5) {
            0 => self.build.lifetime_start(address),
            1 => {
                let byte = self.rng.pick(&[0, 0, 1]);
                let length = self.rng.pick(&[size, size, 4, 3]);
                self.build.memset(address, byte, length);
            }
            2 if !self.pointers.is_empty() => {
                let pointer = self.rng.pick(&self.pointers);
                let ptr = self.build.ptr;
                self.build.store(ptr, address, pointer);
            }
            _ => {
                let other = self.rng.below(self.variables.len());
                let other = &self.variables[other];
                let (from, length) = (other.address, size.min(other.size));
                let length = self.rng.pick(&[length, length, length, 4, 2]);
                self.build.memcpy(address, from, length);
            }
        }
    }

    fn end(&mut self, block: usize, successors: &[u32]) {
        let i32 = self.build.i32;
        let target = |index: usize| BlockId(successors[index]);
        match successors.len() {
            0 => {
                let value = self.value(block);
                self.build.ret(i32, value);
            }
            1 => self.build.br(target(0)),
            2 => {
                let (lhs, rhs) = (self.value(block), self.value(block));
                let condition = self.build.icmp(IntPredicate::Ult, i32, lhs, rhs);
                self.build.cond(condition, target(0), target(1));
            }
            _ => {
                let value = self.value(block);
                self.build.end(Terminator::Switch {
                    ty: i32,
                    value,
                    default: target(0),
                    cases: vec![(1, target(1)), (2, target(2))],
                });
            }
        }
    }
}
