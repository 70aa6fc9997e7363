//! Functions made ready to run, each once, when first called.

use super::counting::Unbounded;
use super::failing::Retries;
use super::layout::slot_count;
use super::mentions::{Mention, Mentions};
use super::world::World;
use crate::fault::Stop;
use raddle_ir::inst::BinaryOp;
use raddle_ir::passes::{BitSet, Cfg, Checkpoints, Dead, Liveness, StackLiveness};
use raddle_ir::{
    BlockId, Body, Constant, FuncId, InstKind, Module, Operand, Terminator, TypeId, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// The registers of a value: `len` slots from `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slots {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Slots {
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// A point in a function for which live registers are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Point {
    /// Before an instruction (or the terminator).
    Before(u32, u32),
    /// After it, without its own result.
    After(u32, u32),
}

/// A moment for which is asked what private variables hold in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Moment {
    /// Before an instruction (or the terminator).
    Before(u32, u32),
    /// In the middle of it: what it mentions, it may have written in part.
    During(u32, u32),
}

/// A function made ready.
pub(crate) struct Code {
    pub(crate) function: FuncId,
    pub(crate) body: Rc<Body>,
    /// Registers by value. Parameters come first, in order.
    pub(crate) slots: Vec<Slots>,
    pub(crate) slot_count: u32,
    /// Stack variables that other threads may see.
    pub(crate) shared_allocas: FxHashSet<ValueId>,
    pub(crate) alloca_types: FxHashMap<ValueId, TypeId>,
    /// Loops that are not known to end, where they are bounded.
    pub(crate) unbounded: Unbounded,
    /// Loops that may try a weak compare-exchange again.
    pub(crate) retries: Retries,
    /// Computed when first needed: most functions have no operation that another thread sees.
    liveness: OnceCell<Liveness>,
    /// By block.
    checkpoints: RefCell<FxHashMap<u32, Checkpoints>>,
    live: RefCell<FxHashMap<Point, Rc<[u32]>>>,
    /// Private variables, and the values computed from the address of each.
    derived: Vec<(ValueId, BitSet)>,
    /// Of those that are made where the function begins, computed when first needed.
    stack: OnceCell<Option<StackLiveness>>,
    dead: RefCell<FxHashMap<Moment, Rc<[Dead]>>>,
    /// Found out when first asked for.
    mentions: OnceCell<Mentions>,
    /// By block: how many of its instructions were run, or begun; the terminator counts as one.
    run: Vec<Cell<u32>>,
}

/// What becomes of what an instruction returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultUse {
    Unused,
    /// Nothing but that the function returns it.
    Returned,
    Used,
}

impl Code {
    /// The instruction (or the terminator) was run, or begun, and all before it.
    #[inline]
    pub(crate) fn note_run(&self, block: u32, index: u32) {
        let run = &self.run[block as usize];
        run.set(run.get().max(index + 1));
    }

    /// How many instructions of a block were run.
    pub(crate) fn run_of(&self, block: usize) -> u32 {
        self.run[block].get()
    }

    /// The slots of live values at a point, ascending.
    pub(crate) fn live(&self, point: Point) -> Rc<[u32]> {
        if let Some(slots) = self.live.borrow().get(&point) {
            return Rc::clone(slots);
        }
        let liveness = self
            .liveness
            .get_or_init(|| Liveness::new(&self.body, &Cfg::new(&self.body)));
        let mut set = match point {
            Point::Before(block, index) | Point::After(block, index) => {
                let mut checkpoints = self.checkpoints.borrow_mut();
                let checkpoints = checkpoints
                    .entry(block)
                    .or_insert_with(|| liveness.checkpoints(&self.body, BlockId(block)));
                let index = index as usize;
                liveness.live_after_by(checkpoints, &self.body, BlockId(block), index)
            }
        };
        if let Point::Before(block, index) = point {
            let block = &self.body.blocks[block as usize];
            let mut read = |operand: &Operand| {
                if let Operand::Value(value) = operand {
                    set.insert(value.index());
                }
            };
            match block.insts.get(index as usize) {
                Some(inst) => inst.kind.visit_operands(|_, operand| read(operand)),
                None => block.terminator.visit_operands(|_, operand| read(operand)),
            }
        }
        let mut slots: Vec<u32> = set
            .iter()
            .flat_map(|value| self.slots[value].range())
            .map(|slot| slot as u32)
            .collect();
        slots.sort_unstable();
        let slots: Rc<[u32]> = slots.into();
        self.live.borrow_mut().insert(point, Rc::clone(&slots));
        slots
    }

    /// The bytes of private variables that nobody reads before they are written.
    pub(crate) fn dead(&self, module: &Module, moment: Moment) -> Option<Rc<[Dead]>> {
        if self.derived.is_empty() {
            return None;
        }
        let stack = self
            .stack
            .get_or_init(|| StackLiveness::new(module, &self.body, &self.derived))
            .as_ref()?;
        let mut known = self.dead.borrow_mut();
        let dead = known.entry(moment).or_insert_with(|| {
            let body = &self.body;
            match moment {
                Moment::Before(block, index) => {
                    stack.dead_before(body, BlockId(block), index as usize)
                }
                Moment::During(block, index) => {
                    stack.dead_during(body, BlockId(block), index as usize)
                }
            }
            .into()
        });
        (!dead.is_empty()).then(|| Rc::clone(dead))
    }

    /// What becomes of what an instruction returns.
    pub(crate) fn use_of_result(&self, block: u32, index: u32) -> ResultUse {
        let block = &self.body.blocks[block as usize];
        let result = match (block.insts.get(index as usize), &block.terminator) {
            (Some(inst), _) => inst.result,
            (None, Terminator::Invoke { result, .. }) => *result,
            (None, _) => return ResultUse::Used,
        };
        match result {
            Some(result) => self.use_of(result),
            None => ResultUse::Unused,
        }
    }

    /// Follows a value through the phis that hand it on.
    fn use_of(&self, value: ValueId) -> ResultUse {
        let mut same = vec![value];
        let mut returned = false;
        let mut next = 0;
        while let Some(&value) = same.get(next) {
            next += 1;
            for mention in self.mentions().of(value) {
                match *mention {
                    Mention::Phi(result) if !same.contains(&result) => same.push(result),
                    Mention::Phi(_) => {}
                    Mention::Returned => returned = true,
                    Mention::Inst(..) | Mention::Terminator => return ResultUse::Used,
                }
            }
        }
        match returned {
            true => ResultUse::Returned,
            false => ResultUse::Unused,
        }
    }

    /// How many results of an instruction its users can tell apart, if they look at no more than the rest of a division by one constant, or at
    /// low bits.
    pub(super) fn values_looked_at(&self, module: &Module, block: u32, index: u32) -> Option<u32> {
        const MOST: u128 = 256;
        let result = self.body.blocks[block as usize]
            .insts
            .get(index as usize)?
            .result;
        let Some(result) = result else {
            return Some(0);
        };
        let mut count = 0;
        for mention in self.mentions().of(result) {
            let Mention::Inst(block, index) = *mention else {
                return None;
            };
            let inst = &self.body.blocks[block as usize].insts[index as usize];
            let InstKind::Binary { op, lhs, rhs, .. } = &inst.kind else {
                return None;
            };
            let (Operand::Value(value), Operand::Const(constant)) = (*lhs, *rhs) else {
                return None;
            };
            let Constant::Int(_, number) = *module.constant(constant) else {
                return None;
            };
            let here = match op {
                BinaryOp::SRem | BinaryOp::URem => number,
                BinaryOp::And if (number + 1).is_power_of_two() => number + 1,
                _ => return None,
            };
            if value != result
                || !(1..=MOST).contains(&here)
                || !matches!(count, 0) && count != here
            {
                return None;
            }
            count = here;
        }
        Some(count as u32)
    }

    /// Where values are made and used.
    pub(super) fn mentions(&self) -> &Mentions {
        self.mentions.get_or_init(|| Mentions::of_body(&self.body))
    }

    /// The live registers at a point, compactly.
    pub(crate) fn compress(&self, regs: &[u64], point: Point) -> Box<[u64]> {
        let live = self.live(point);
        live.iter().map(|&slot| regs[slot as usize]).collect()
    }

    /// All registers, the dead ones 0.
    pub(crate) fn expand(&self, regs: &[u64], point: Point) -> Vec<u64> {
        let mut all = vec![0; self.slot_count as usize];
        for (&slot, &value) in self.live(point).iter().zip(regs) {
            all[slot as usize] = value;
        }
        all
    }
}

pub(crate) fn prepare(world: &mut World, function: FuncId) -> Result<Code, Stop> {
    let body = world.bodies.get(&mut world.module, function)?;
    let escape = world
        .escapes
        .analyse(&mut world.module, &mut world.bodies, function);
    let mut slots = Vec::with_capacity(body.value_types.len());
    let mut next = 0u32;
    for &ty in &body.value_types {
        // Values of types that we cannot hold have no registers: the instruction that makes one stops the execution.
        let len = slot_count(&world.module.types, ty).unwrap_or(0);
        slots.push(Slots { start: next, len });
        next += len;
    }
    let mut shared_allocas = FxHashSet::default();
    let mut alloca_types = FxHashMap::default();
    for inst in body.blocks.iter().flat_map(|block| &block.insts) {
        if let (InstKind::Alloca { ty, .. }, Some(result)) = (&inst.kind, inst.result) {
            alloca_types.insert(result, *ty);
            if !escape.is_private(result) {
                shared_allocas.insert(result);
            }
        }
    }
    let unbounded = match world.options.unroll {
        Some(_) => Unbounded::new(&world.module, function, &body),
        None => Unbounded::default(),
    };
    let retries = world.retries(&body);
    let run = vec![Cell::new(0); body.blocks.len()];
    Ok(Code {
        function,
        body,
        slots,
        slot_count: next,
        shared_allocas,
        alloca_types,
        unbounded,
        retries,
        liveness: OnceCell::new(),
        checkpoints: RefCell::default(),
        live: RefCell::default(),
        derived: escape.derived,
        stack: OnceCell::new(),
        dead: RefCell::default(),
        mentions: OnceCell::new(),
        run,
    })
}
