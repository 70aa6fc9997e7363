//! Instructions that touch memory.

use super::code::Code;
use super::exec::Done;
use super::failing::Attempt;
use super::layout::{Layout, Piece, unsupported};
use super::local::PrivateBlock;
use super::machine::{Machine, Values};
use super::memory::{MAX_BLOCK, Place, THREAD_LOCALS, private_address};
use super::undefined::{Mask, Unwritten};
use crate::fault::{AccessKind, Limit, Stop};
use crate::ids::ObjectId;
use crate::models::Access;
use crate::op::{Op, Order, RmwKind};
use crate::tables::{NewObject, ObjectKind};
use raddle_ir::inst::{AtomicOrdering, RmwOp, SyncScope};
use raddle_ir::{FuncId, Inst, InstKind, Operand, TypeId, ValueId};
use std::rc::Rc;

pub(crate) fn order_of(ordering: AtomicOrdering) -> Order {
    match ordering {
        AtomicOrdering::Unordered | AtomicOrdering::Monotonic => Order::Relaxed,
        AtomicOrdering::Acquire => Order::Acquire,
        AtomicOrdering::Release => Order::Release,
        AtomicOrdering::AcqRel => Order::AcqRel,
        AtomicOrdering::SeqCst => Order::SeqCst,
    }
}

fn kind_of(op: RmwOp) -> Result<RmwKind, Stop> {
    Ok(match op {
        RmwOp::Xchg => RmwKind::Exchange,
        RmwOp::Add => RmwKind::Add,
        RmwOp::Sub => RmwKind::Sub,
        RmwOp::And => RmwKind::And,
        RmwOp::Nand => RmwKind::Nand,
        RmwOp::Or => RmwKind::Or,
        RmwOp::Xor => RmwKind::Xor,
        RmwOp::Max => RmwKind::Max,
        RmwOp::Min => RmwKind::Min,
        RmwOp::UMax => RmwKind::UMax,
        RmwOp::UMin => RmwKind::UMin,
        RmwOp::FAdd => RmwKind::FAdd,
        RmwOp::FSub => RmwKind::FSub,
        RmwOp::FMax => RmwKind::FMax,
        RmwOp::FMin => RmwKind::FMin,
        RmwOp::UIncWrap => RmwKind::UIncWrap,
        RmwOp::UDecWrap => RmwKind::UDecWrap,
        RmwOp::USubCond => RmwKind::USubCond,
        RmwOp::USubSat => RmwKind::USubSat,
        RmwOp::FMaximum | RmwOp::FMinimum => {
            return Err(unsupported("atomicrmw fmaximum or fminimum"));
        }
    })
}

/// A run of operations that an instruction needs: done, or the next one is to be issued.
enum Progress<T> {
    Finished(T),
    Wait(Op),
}

impl Machine<'_> {
    pub(crate) fn access(&mut self, code: &Code, inst: &Inst) -> Result<Done, Stop> {
        match &inst.kind {
            InstKind::Alloca {
                ty, count, align, ..
            } => {
                let count = self.scalar(code, *count)?;
                self.alloca(code, inst.result, *ty, count, *align)
            }
            InstKind::Load {
                ty, ptr, atomic, ..
            } => {
                let address = self.scalar(code, *ptr)?;
                let order = atomic.map_or(Order::Plain, |(ordering, _)| order_of(ordering));
                match self.load_value(*ty, address, order)? {
                    Progress::Finished((values, undefined)) => {
                        self.set_copy(code, inst.result, (&values, undefined));
                        Ok(Done::Next)
                    }
                    Progress::Wait(op) => Ok(Done::Visible(op)),
                }
            }
            InstKind::Store {
                ty,
                value,
                ptr,
                atomic,
                ..
            } => {
                let address = self.scalar(code, *ptr)?;
                let (values, undefined) = self.copied(code, *value)?;
                let order = atomic.map_or(Order::Plain, |(ordering, _)| order_of(ordering));
                match self.store_value(*ty, address, (&values, undefined), order)? {
                    Progress::Finished(()) => Ok(Done::Next),
                    Progress::Wait(op) => Ok(Done::Visible(op)),
                }
            }
            InstKind::Fence { ordering, scope } => {
                if *scope == SyncScope::SingleThread || !self.frame().log.is_empty() {
                    return Ok(Done::Next);
                }
                Ok(Done::Visible(Op::Fence {
                    order: order_of(*ordering),
                }))
            }
            InstKind::AtomicRmw {
                op,
                ty,
                ptr,
                value,
                ordering,
                ..
            } => self.atomic_rmw(code, inst.result, (*op, *ty, *ptr, *value), *ordering),
            InstKind::CmpXchg {
                ty,
                ptr,
                expected,
                new,
                success,
                failure,
                weak,
                ..
            } => self.compare_exchange(
                code,
                inst.result,
                (*ty, *ptr, *expected, *new),
                (order_of(*success), order_of(*failure)),
                *weak,
            ),
            _ => Err(unsupported("an instruction that is not known")),
        }
    }

    // ---- stack variables

    fn alloca(
        &mut self,
        code: &Code,
        result: Option<ValueId>,
        ty: TypeId,
        count: u64,
        align: u64,
    ) -> Result<Done, Stop> {
        let Some(result) = result else {
            return Ok(Done::Next);
        };
        let size = self.world.module.types.alloc_size(ty).ok();
        let size = size
            .and_then(|size| size.checked_mul(count))
            .filter(|&size| size <= MAX_BLOCK)
            .ok_or_else(|| unsupported("a stack variable without a sensible size"))?;
        if !code.shared_allocas.contains(&result) {
            let mut bytes = vec![0; size as usize];
            if !self.world.options.first_bytes.is_empty() {
                self.give_variable(&mut bytes, code.function, result);
            }
            let address = self.push_private(bytes, Some((code.function, result)))?;
            if self.world.options.check_uninit
                && let Some(block) = self.state.private.last_mut()
            {
                block.unwritten = Unwritten::all(size as usize);
            }
            self.set(code, result, &[address]);
            return Ok(Done::Next);
        }
        let first = self.frame().log.is_empty();
        if first {
            self.state.allocations += 1;
        }
        let object = self.stack_object(code, result, ty, size, align)?;
        if first {
            return Ok(Done::Visible(Op::Alloc { object }));
        }
        self.frame().extra.owned.push(object);
        let address = self.tables.address(object, 0);
        self.set(code, result, &[address]);
        Ok(Done::Next)
    }

    fn stack_object(
        &mut self,
        code: &Code,
        result: ValueId,
        ty: TypeId,
        size: u64,
        align: u64,
    ) -> Result<ObjectId, Stop> {
        let at = self.position();
        let (name, source_type) = self.variable_name(code.function, result);
        let init = self.given_bytes(size, &name, at);
        let new = NewObject {
            kind: ObjectKind::Stack,
            size,
            align: align.max(1),
            name,
            at,
            source_type,
            init,
            site: self.world.stack_site(code.function, result),
        };
        let (thread, counter) = (self.state.id, self.state.allocations);
        let object = self.tables.allocated(thread, counter, new)?;
        self.world.object_types.insert(object, ty);
        Ok(object)
    }

    /// Puts a private block on the stack and returns its address.
    pub(crate) fn push_private(
        &mut self,
        bytes: Vec<u8>,
        origin: Option<(FuncId, ValueId)>,
    ) -> Result<u64, Stop> {
        let position = self.state.private.len();
        if position >= THREAD_LOCALS {
            return Err(Stop::Limit(Limit::Ids {
                what: "private variables",
            }));
        }
        self.state.private.push(PrivateBlock {
            bytes: bytes.into(),
            unwritten: Unwritten::default(),
            origin,
        });
        Ok(private_address(position))
    }

    // ---- loads and stores

    fn load_value(
        &mut self,
        ty: TypeId,
        address: u64,
        order: Order,
    ) -> Result<Progress<(Values, Mask)>, Stop> {
        let layout = self.world.layout(ty)?;
        let place = self.place(address, layout.store_size, AccessKind::Read)?;
        let mut values: Values = smallvec::smallvec![0; layout.slots as usize];
        if !matches!(place, Place::Shared { .. }) {
            for piece in &layout.pieces {
                let part = self.read_here(shifted(place, piece.offset), piece.size)?;
                self.put(&mut values, piece, part);
            }
            trim(&mut values, &layout);
            let undefined = self.unwritten_slots(place, &layout);
            return Ok(Progress::Finished((values, undefined)));
        }
        let pieces = self.pieces(&layout, address, order);
        let is_block = order.is_atomic() && pieces.len() > 1;
        if let Some(op) = self.block_step(is_block, pieces.len(), |machine, index| {
            let piece = &pieces[index];
            machine.load_piece(address + piece.offset, piece.size, order)
        })? {
            return Ok(Progress::Wait(op));
        }
        for (index, piece) in pieces.iter().enumerate() {
            let part = self.frame().log[index + usize::from(is_block)];
            self.put(&mut values, piece, part);
        }
        trim(&mut values, &layout);
        Ok(Progress::Finished((values, Mask::NONE)))
    }

    /// The slots of a value in private memory none of whose bytes has been written.
    fn unwritten_slots(&self, place: Place, layout: &Layout) -> Mask {
        let Place::Private { block, offset } = place else {
            return Mask::NONE;
        };
        let Some(block) = self.state.private.get(block) else {
            return Mask::NONE;
        };
        if !block.unwritten.any() {
            return Mask::NONE;
        }
        let minds_every_byte = self.world.options.check_every_byte;
        let is_unwritten = |slot: usize| {
            let mut pieces = layout.pieces.iter();
            let mut pieces = pieces
                .by_ref()
                .filter(|piece| piece.slot as usize == slot)
                .map(|piece| {
                    let start = offset + piece.offset as usize;
                    start..start + usize::from(piece.size)
                });
            match minds_every_byte {
                true => pieces.any(|bytes| block.unwritten.touches(bytes)),
                false => pieces.all(|bytes| block.unwritten.covers(bytes)),
            }
        };
        (0..layout.slots as usize)
            .filter(|&slot| is_unwritten(slot))
            .collect()
    }

    fn store_value(
        &mut self,
        ty: TypeId,
        address: u64,
        (values, undefined): (&Values, Mask),
        order: Order,
    ) -> Result<Progress<()>, Stop> {
        let layout = self.world.layout(ty)?;
        let place = self.place(address, layout.store_size, AccessKind::Write)?;
        if let Place::Private { block, offset } = place {
            for piece in &layout.pieces {
                let at = offset + piece.offset as usize;
                let part = self.part_of(values, piece)?;
                self.write_here(block, at, piece.size, part)?;
                if undefined.contains(piece.slot as usize) {
                    self.forget(block, at..at + usize::from(piece.size));
                }
            }
            return Ok(Progress::Finished(()));
        }
        if undefined.any() && self.world.options.check_every_byte {
            return Err(super::undefined::fault());
        }
        let pieces = self.pieces(&layout, address, order);
        let is_block = order.is_atomic() && pieces.len() > 1;
        let op = self.block_step(is_block, pieces.len(), |machine, index| {
            let piece = &pieces[index];
            let part = machine.part_of(values, piece)?;
            machine.store_piece(address + piece.offset, piece.size, part, order)
        })?;
        Ok(op.map_or(Progress::Finished(()), Progress::Wait))
    }

    /// The next operation of a list of `count`, inside an atomic block if `is_block`; none when all are done.
    pub(super) fn block_step(
        &mut self,
        is_block: bool,
        count: usize,
        mut make: impl FnMut(&mut Self, usize) -> Result<Access, Stop>,
    ) -> Result<Option<Op>, Stop> {
        let extra = usize::from(is_block);
        loop {
            let done = self.frame().log.len();
            let access = if done == count + 2 * extra {
                return Ok(None);
            } else if is_block && done == 0 {
                self.enter_atomic()
            } else if is_block && done == count + 1 {
                self.leave_atomic()
            } else {
                make(self, done - extra)?
            };
            match access {
                Access::Visible(op) => return Ok(Some(op)),
                Access::Done(value) => self.frame().log.push(value),
            }
        }
    }

    pub(crate) fn enter_atomic(&mut self) -> Access {
        self.state.atomic_depth += 1;
        if self.state.atomic_depth == 1 {
            Access::Visible(Op::AtomicBegin)
        } else {
            Access::Done(0)
        }
    }

    /// The pieces of an access. A plain access of several fields at once (a struct passed in a register) goes field by
    /// field, so that all accesses to a field have its size. Fields of one or two bytes are left alone: arrays of bytes
    /// serve as room for anything.
    pub(super) fn pieces(&self, layout: &Rc<Layout>, address: u64, order: Order) -> Vec<Piece> {
        const SMALLEST_FIELD: u64 = 4;
        if order.is_atomic() {
            return layout.pieces.clone();
        }
        let mut pieces = Vec::with_capacity(layout.pieces.len());
        for &piece in &layout.pieces {
            let end = self.field_end(address + piece.offset);
            match end {
                Some(end) if end >= SMALLEST_FIELD && end < u64::from(piece.size) => {
                    let half = piece.size / 2;
                    let second = Piece {
                        offset: piece.offset + u64::from(half),
                        shift: piece.shift + half * 8,
                        size: half,
                        ..piece
                    };
                    pieces.push(Piece {
                        size: half,
                        ..piece
                    });
                    pieces.push(second);
                }
                _ => pieces.push(piece),
            }
        }
        pieces
    }

    // ---- updates

    fn atomic_rmw(
        &mut self,
        code: &Code,
        result: Option<ValueId>,
        (op, ty, ptr, value): (RmwOp, TypeId, Operand, Operand),
        ordering: AtomicOrdering,
    ) -> Result<Done, Stop> {
        let kind = kind_of(op)?;
        let order = order_of(ordering);
        let address = self.scalar(code, ptr)?;
        let operand = self.operand(code, value)?;
        let layout = self.world.layout(ty)?;
        let is_float = matches!(
            kind,
            RmwKind::FAdd | RmwKind::FSub | RmwKind::FMax | RmwKind::FMin
        );
        if is_float && !matches!(layout.store_size, 4 | 8) {
            return Err(unsupported("an atomic update of this floating-point type"));
        }
        let values = if let [piece] = layout.pieces[..] {
            let operand = self.part_of(&operand, &piece)?;
            let done = self
                .single(|machine| machine.rmw_piece(address, piece.size, kind, operand, order))?;
            match done {
                Progress::Finished(old) => smallvec::smallvec![self.whole(&piece, old)],
                Progress::Wait(op) => return Ok(Done::Visible(op)),
            }
        } else {
            let update = |old: &Values| wide_update(kind, old, &operand).map(Some);
            match self.wide_atomic(&layout, address, order, update)? {
                Progress::Finished(old) => old,
                Progress::Wait(op) => return Ok(Done::Visible(op)),
            }
        };
        self.set_result(code, result, &values);
        Ok(Done::Next)
    }

    fn compare_exchange(
        &mut self,
        code: &Code,
        result: Option<ValueId>,
        (ty, ptr, expected, new): (TypeId, Operand, Operand, Operand),
        orders: (Order, Order),
        is_weak: bool,
    ) -> Result<Done, Stop> {
        let address = self.scalar(code, ptr)?;
        let (expected, new) = (self.operand(code, expected)?, self.operand(code, new)?);
        let layout = self.world.layout(ty)?;
        let mut old = if let [piece] = layout.pieces[..] {
            let place = (address, piece.size);
            let (wanted, new) = (
                self.part_of(&expected, &piece)?,
                self.part_of(&new, &piece)?,
            );
            let mut earlier = 0;
            if is_weak {
                match self.attempt_weakly(code, place, (wanted, result), orders.1)? {
                    Attempt::Goes(results) => earlier = results,
                    Attempt::Visible(op) => return Ok(Done::Visible(op)),
                    Attempt::Fails(read) => {
                        let read = self.whole(&piece, read);
                        self.set_result(code, result, &[read, 0]);
                        return Ok(Done::Next);
                    }
                }
            }
            let done = self.single_after(earlier, |machine| {
                machine.cas_piece(address, piece.size, (wanted, new), orders)
            })?;
            match done {
                Progress::Finished(old) if piece.narrow => {
                    let success = u64::from(old == wanted);
                    let old = self.whole(&piece, old);
                    self.set_result(code, result, &[old, success]);
                    return Ok(Done::Next);
                }
                Progress::Finished(old) => smallvec::smallvec![old],
                Progress::Wait(op) => return Ok(Done::Visible(op)),
            }
        } else {
            let update = |old: &Values| Ok((*old == expected).then(|| new.clone()));
            match self.wide_atomic(&layout, address, orders.0, update)? {
                Progress::Finished(old) => old,
                Progress::Wait(op) => return Ok(Done::Visible(op)),
            }
        };
        let success = u64::from(old == expected);
        old.push(success);
        self.set_result(code, result, &old);
        Ok(Done::Next)
    }

    /// An access that is one operation at most.
    fn single(
        &mut self,
        make: impl FnOnce(&mut Self) -> Result<Access, Stop>,
    ) -> Result<Progress<u64>, Stop> {
        self.single_after(0, make)
    }

    /// The same behind operations of the instruction that have returned.
    fn single_after(
        &mut self,
        earlier: usize,
        make: impl FnOnce(&mut Self) -> Result<Access, Stop>,
    ) -> Result<Progress<u64>, Stop> {
        if let Some(&value) = self.frame().log.get(earlier) {
            return Ok(Progress::Finished(value));
        }
        Ok(match make(self)? {
            Access::Done(value) => Progress::Finished(value),
            Access::Visible(op) => Progress::Wait(op),
        })
    }

    /// Is this memory that no other thread can get hold of?
    pub(super) fn is_private(&mut self, address: u64, size: u64) -> Result<bool, Stop> {
        let place = self.place(address, size, AccessKind::Update)?;
        Ok(matches!(place, Place::Private { .. }))
    }

    /// An atomic update of more than eight bytes: loads and stores in an atomic block. Returns the old value.
    fn wide_atomic(
        &mut self,
        layout: &Rc<Layout>,
        address: u64,
        order: Order,
        update: impl Fn(&Values) -> Result<Option<Values>, Stop>,
    ) -> Result<Progress<Values>, Stop> {
        let count = layout.pieces.len();
        let mut old: Values = smallvec::smallvec![0; layout.slots as usize];
        let place = self.place(address, layout.store_size, AccessKind::Update)?;
        if let Place::Private { block, offset } = place {
            for piece in &layout.pieces {
                let part = self.read_here(shifted(place, piece.offset), piece.size)?;
                self.put(&mut old, piece, part);
            }
            if let Some(new) = update(&old)? {
                for piece in &layout.pieces {
                    let at = offset + piece.offset as usize;
                    let part = self.part_of(&new, piece)?;
                    self.write_here(block, at, piece.size, part)?;
                }
            }
            return Ok(Progress::Finished(old));
        }
        let log = self.frame().log.clone();
        for (piece, &part) in layout.pieces.iter().zip(log.iter().skip(1)) {
            self.put(&mut old, piece, part);
        }
        let new = if log.len() > count {
            update(&old)?
        } else {
            None
        };
        // Before the loads are done nobody knows whether stores follow; afterwards the answer stays the same.
        let may_end = log.len() > count;
        let total = match (&new, may_end) {
            (None, true) => count,
            _ => 2 * count,
        };
        let step = self.block_step(true, total, |machine, index| {
            if index < count {
                let piece = &layout.pieces[index];
                return machine.load_piece(address + piece.offset, piece.size, order);
            }
            let piece = &layout.pieces[index - count];
            let part = match &new {
                Some(new) => machine.part_of(new, piece)?,
                None => 0,
            };
            machine.store_piece(address + piece.offset, piece.size, part, order)
        })?;
        Ok(step.map_or(Progress::Finished(old), Progress::Wait))
    }
}

fn wide_update(kind: RmwKind, old: &Values, operand: &Values) -> Result<Values, Stop> {
    use super::arith::signed;
    use super::constants::{split, wide};
    let (a, b) = (wide(old), wide(operand));
    let (sa, sb) = (signed(a, 128), signed(b, 128));
    let new = match kind {
        RmwKind::Exchange => b,
        RmwKind::Add => a.wrapping_add(b),
        RmwKind::Sub => a.wrapping_sub(b),
        RmwKind::And => a & b,
        RmwKind::Nand => !(a & b),
        RmwKind::Or => a | b,
        RmwKind::Xor => a ^ b,
        RmwKind::Max => sa.max(sb).cast_unsigned(),
        RmwKind::Min => sa.min(sb).cast_unsigned(),
        RmwKind::UMax => a.max(b),
        RmwKind::UMin => a.min(b),
        _ => return Err(unsupported("this atomic update of more than eight bytes")),
    };
    Ok(split(new, 128))
}

fn shifted(place: Place, by: u64) -> Place {
    match place {
        Place::Private { block, offset } => Place::Private {
            block,
            offset: offset + by as usize,
        },
        Place::Constant { global, offset } => Place::Constant {
            global,
            offset: offset + by as usize,
        },
        Place::Shared { object, offset } => Place::Shared {
            object,
            offset: offset + by,
        },
    }
}

/// Drops the bits that the type does not have (`i1`, `i24`, …).
fn trim(values: &mut Values, layout: &Layout) {
    for (value, mask) in values.iter_mut().zip(&layout.masks) {
        *value &= mask;
    }
}
