//! Functions made ready to run, each once, when first called.

use super::layout::slot_count;
use super::world::World;
use crate::fault::{Stop, Unsupported};
use raddle_ir::{BlockId, Body, FuncId, InstKind, TypeId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
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

/// A function made ready.
pub(crate) struct Code {
    pub(crate) function: FuncId,
    pub(crate) body: Body,
    /// Registers by value. Parameters come first, in order.
    pub(crate) slots: Vec<Slots>,
    pub(crate) slot_count: u32,
    /// Stack variables that other threads may see.
    pub(crate) shared_allocas: FxHashSet<ValueId>,
    pub(crate) alloca_types: FxHashMap<ValueId, TypeId>,
    live: RefCell<FxHashMap<Point, Rc<[u32]>>>,
}

impl Code {
    /// The slots of live values at a point, ascending.
    pub(crate) fn live(&self, point: Point) -> Rc<[u32]> {
        if let Some(slots) = self.live.borrow().get(&point) {
            return Rc::clone(slots);
        }
        let slots: Rc<[u32]> = self.compute_live(point).into();
        self.live.borrow_mut().insert(point, Rc::clone(&slots));
        slots
    }

    fn compute_live(&self, _point: Point) -> Vec<u32> {
        (0..self.slot_count).collect()
    }

    /// Is this the header of a loop that is not known to end?
    pub(crate) fn is_unbounded_header(&self, _block: BlockId) -> bool {
        false
    }

    /// Does an edge close a loop?
    pub(crate) fn is_back_edge(&self, _from: BlockId, _to: BlockId) -> bool {
        false
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

fn prepared_body(world: &mut World, function: FuncId) -> Result<Body, Stop> {
    let _ = (world, function);
    Err(Stop::Unsupported(Unsupported::Parse {
        message: "no parser yet".into(),
    }))
}

pub(crate) fn prepare(world: &mut World, function: FuncId) -> Result<Code, Stop> {
    let body = prepared_body(world, function)?;
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
    for block in &body.blocks {
        for inst in &block.insts {
            if let (InstKind::Alloca { ty, .. }, Some(result)) = (&inst.kind, inst.result) {
                shared_allocas.insert(result);
                alloca_types.insert(result, *ty);
            }
        }
    }
    Ok(Code {
        function,
        body,
        slots,
        slot_count: next,
        shared_allocas,
        alloca_types,
        live: RefCell::default(),
    })
}
