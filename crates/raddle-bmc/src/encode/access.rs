//! Memory: where addresses lead, loads, stores and updates.

use super::cells::{narrowed, widened};
use super::sizes::{OPEN_SITE, OPEN_SIZE, spread_of_variable};
use super::{Encoder, unsupported};
use crate::contents::Contents;
use crate::events::StepKind;
use crate::facts::Region;
use crate::state::State;
use crate::value::{Set, Sym};
use raddle_ir::inst::{AtomicOrdering, IntPredicate, RmwOp, SyncScope};
use raddle_ir::{InstKind, TypeId, ValueId};
use raddle_order::bits::{Bit, Word};
use raddle_program::interp::view::ValuePiece;
use raddle_program::tables::{OFFSET_BIAS, PRIVATE_THREAD};
use raddle_program::{AccessKind, Fault, ObjectKind, Order, Stop};
use std::collections::btree_map::Entry;
use std::rc::Rc;

/// Position bits of a private address number.
pub(super) const POSITION_BITS: u32 = 20;
/// Private positions from here on are thread-local variables.
const THREAD_LOCALS: usize = 0xF_0000;
/// An address may lead to this many places.
const MOST_PLACES: u64 = 4096;
/// The largest variable.
const LARGEST: u64 = 1 << 24;

/// What memory an address leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Private(usize),
    ThreadLocal(usize),
    Shared(Region),
}

/// One place that an address may lead to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) condition: Bit,
    pub(super) target: Target,
    pub(super) offset: u64,
}

pub(super) fn order_of(ordering: AtomicOrdering) -> Order {
    match ordering {
        AtomicOrdering::Unordered | AtomicOrdering::Monotonic => Order::Relaxed,
        AtomicOrdering::Acquire => Order::Acquire,
        AtomicOrdering::Release => Order::Release,
        AtomicOrdering::AcqRel => Order::AcqRel,
        AtomicOrdering::SeqCst => Order::SeqCst,
    }
}

/// The fault of a call or an access to where nothing is.
pub(super) fn bad_address(address: u64) -> Fault {
    let access = AccessKind::Read;
    if address >> 32 == 0 {
        Fault::NullDereference { access, address }
    } else {
        Fault::WildPointer { access, address }
    }
}

fn offset_of(address: u64) -> i64 {
    (address & 0xFFFF_FFFF) as i64 - OFFSET_BIAS as i64
}

/// The private variable with an address number, and where it begins.
pub(super) fn private_variable(state: &State, number: u32) -> Option<(u64, &Contents)> {
    if number >> POSITION_BITS != PRIVATE_THREAD {
        return None;
    }
    let position = (number & ((1 << POSITION_BITS) - 1)) as usize;
    let variable = state.private.get(position);
    let variable = variable.or_else(|| state.thread_locals.get(&position))?;
    Some((u64::from(number) << 32 | OFFSET_BIAS, variable))
}

/// The fault of an access that does not fit in.
fn out_of_bounds(access: AccessKind, target: Target, offset: u64, size: u64) -> Fault {
    match target {
        Target::Shared(region) => Fault::OutOfBounds {
            access,
            object: region.object,
            offset: offset.cast_signed(),
            size,
        },
        Target::Private(_) | Target::ThreadLocal(_) => Fault::WildPointer { access, address: 0 },
    }
}

/// Where a read-modify-write leads.
pub(super) struct Updated {
    pub(super) new: Sym,
    /// Under which condition it writes.
    pub(super) writes: Bit,
}

impl Encoder<'_> {
    pub(super) fn access(
        &mut self,
        state: &mut State,
        kind: &InstKind,
        result: Option<ValueId>,
    ) -> Result<(), Stop> {
        match kind {
            InstKind::Alloca {
                ty,
                count,
                count_ty,
                align,
            } => {
                let count = self.scalar(state, *count, *count_ty)?;
                let address = self.alloca(state, result, (*ty, *align), &count)?;
                self.set(state, result, vec![address]);
            }
            InstKind::Fence { ordering, scope } => {
                if *scope != SyncScope::SingleThread {
                    self.fence(state, order_of(*ordering));
                }
            }
            InstKind::AtomicRmw {
                op,
                ty,
                ptr,
                value,
                ordering,
                ..
            } => {
                let address = self.pointer(state, *ptr)?;
                let address = self.pinned(state, address);
                let mut operand = self.scalar(state, *value, *ty)?;
                let (op, order) = (*op, order_of(*ordering));
                let ValuePiece { size, narrow, .. } = self.single_piece(*ty)?;
                if narrow {
                    operand = self.number_of(state, &operand)?;
                }
                let width = operand.width();
                let old = self.update(state, &address, size, (order, order), |encoder, old| {
                    let old = narrowed(old, width);
                    let new = encoder.apply(op, &old, &operand)?;
                    Ok(Updated {
                        new: widened(&new, size),
                        writes: Bit::TRUE,
                    })
                })?;
                let mut old = narrowed(&old, width);
                if narrow {
                    old = self.pointer_of(state, &old)?;
                }
                self.set(state, result, vec![old]);
            }
            InstKind::CmpXchg {
                ty,
                ptr,
                expected,
                new,
                success,
                failure,
                weak,
                ..
            } => {
                let address = self.pointer(state, *ptr)?;
                let address = self.pinned(state, address);
                let orders = (order_of(*success), order_of(*failure));
                let mut expected = self.scalar(state, *expected, *ty)?;
                let mut new = self.scalar(state, *new, *ty)?;
                let ValuePiece { size, narrow, .. } = self.single_piece(*ty)?;
                if narrow {
                    expected = self.number_of(state, &expected)?;
                    new = self.number_of(state, &new)?;
                }
                let width = new.width();
                let failing = match weak {
                    true => self.may_fail_spuriously(state, &address, size)?,
                    false => None,
                };
                let chosen = failing.as_ref().map_or(Bit::FALSE, |it| it.chosen);
                let old = self.update(state, &address, size, orders, |encoder, old| {
                    let old = narrowed(old, width);
                    let matched = encoder.compare(
                        IntPredicate::Eq,
                        std::slice::from_ref(&old),
                        std::slice::from_ref(&expected),
                    );
                    Ok(Updated {
                        new: widened(&new, size),
                        writes: encoder.out.bits.bit_and(matched, !chosen),
                    })
                })?;
                let old = narrowed(&old, width);
                let mut matched = self.compare(
                    IntPredicate::Eq,
                    std::slice::from_ref(&old),
                    std::slice::from_ref(&expected),
                );
                if let Some(failing) = failing {
                    let fails = self.fail_spuriously(state, &failing, matched)?;
                    matched = self.out.bits.bit_and(matched, !fails);
                }
                let old = match narrow {
                    true => self.pointer_of(state, &old)?,
                    false => old,
                };
                self.set(state, result, vec![old, Sym::bit(matched)]);
            }
            _ => return Err(unsupported("an instruction that is not known")),
        }
        Ok(())
    }

    /// The piece of a value that is accessed in one.
    fn single_piece(&mut self, ty: TypeId) -> Result<ValuePiece, Stop> {
        match self.view.layout(ty)?.pieces[..] {
            [piece] => Ok(piece),
            _ => Err(unsupported("an atomic update of more than eight bytes")),
        }
    }

    pub(super) fn apply(&mut self, op: RmwOp, old: &Sym, operand: &Sym) -> Result<Sym, Stop> {
        let choose = |encoder: &mut Self, predicate| {
            let (a, b) = (std::slice::from_ref(old), std::slice::from_ref(operand));
            let first = encoder.compare(predicate, a, b);
            Sym::ite(&mut encoder.out.bits, first, old, operand)
        };
        let bits = &mut self.out.bits;
        let (a, b) = (&old.word, &operand.word);
        let mask = crate::value::mask(old.width());
        Ok(match op {
            RmwOp::Xchg => operand.clone(),
            RmwOp::Add => self.plus(old, operand),
            RmwOp::Sub => {
                let word = bits.sub(a, b);
                old.map2(operand, word, true, |a, b| a.wrapping_sub(b) & mask)
            }
            RmwOp::And => Sym::of(bits.and(a, b)),
            RmwOp::Nand => Sym::of(bits.and(a, b).not()),
            RmwOp::Or => {
                let word = bits.or(a, b);
                old.map2(operand, word, false, |a, b| a | b)
            }
            RmwOp::Xor => Sym::of(bits.xor(a, b)),
            RmwOp::Max => choose(self, IntPredicate::Sgt),
            RmwOp::Min => choose(self, IntPredicate::Slt),
            RmwOp::UMax => choose(self, IntPredicate::Ugt),
            RmwOp::UMin => choose(self, IntPredicate::Ult),
            RmwOp::FAdd | RmwOp::FSub | RmwOp::FMax | RmwOp::FMin => {
                return self.float_update(op, old, operand);
            }
            _ => return Err(unsupported("this kind of atomicrmw")),
        })
    }

    pub(super) fn fence(&mut self, state: &State, order: Order) {
        self.note_weak(state, &[], order);
        let what = match order {
            Order::SeqCst => StepKind::Fence { stores_only: false },
            Order::Release | Order::AcqRel => StepKind::Fence { stores_only: true },
            Order::Acquire if self.options.checks.races => StepKind::AcquireFence,
            _ => return,
        };
        self.step(state, what, order);
    }

    // ---- stack variables

    fn alloca(
        &mut self,
        state: &mut State,
        result: Option<ValueId>,
        (ty, align): (TypeId, u64),
        count: &Sym,
    ) -> Result<Sym, Stop> {
        let size = self.view.module().types.alloc_size(ty).ok();
        let senseless = || unsupported("a stack variable without a sensible size");
        let element = size.ok_or_else(senseless)?;
        let bound = match count.as_constant() {
            Some(_) => None,
            None => Some(self.open_variable_bound(state, count, element)?),
        };
        let size = match count.as_constant() {
            Some(count) => element.checked_mul(count).filter(|&size| size <= LARGEST),
            None => Some(OPEN_SIZE),
        };
        let size = size.ok_or_else(senseless)?;
        let function = state.top().code.id();
        let is_shared = result.is_some_and(|result| state.top().code.is_shared(result));
        let Some(result) = result.filter(|_| is_shared) else {
            let position = state.private.len();
            if position >= THREAD_LOCALS {
                return Err(unsupported("so many private variables"));
            }
            let mut contents = self.variable_contents(state, size);
            contents.ty = Some(ty);
            contents.bound = bound;
            state.private.push(Rc::new(contents));
            let number = PRIVATE_THREAD << POSITION_BITS | position as u32;
            return Ok(Sym::constant(64, u64::from(number) << 32 | OFFSET_BIAS));
        };
        let at = self.position(state);
        let mut new = self.view.stack_variable(function, result, size, at);
        if self.is_ilp32() {
            new.align = align.max(1);
        }
        if bound.is_some() {
            new.site ^= OPEN_SITE;
        }
        let object = self.new_object(state, new, Some(ty))?;
        if let Some(bound) = bound {
            self.keep_promise(state, object, &bound);
        }
        state.top().owned.push(object);
        Ok(Sym::constant(64, self.view.tables().address(object, 0)))
    }

    // ---- addresses

    /// Where an access may lead. What leads nowhere is a fault.
    pub(super) fn resolve(
        &mut self,
        state: &mut State,
        address: &Sym,
        size: u64,
        access: AccessKind,
    ) -> Result<Vec<Case>, Stop> {
        let places = self.places(state, address, size)?;
        let mut cases = Vec::with_capacity(places.len());
        let mut somewhere = Bit::FALSE;
        let mut is_open = false;
        let mut fault = Fault::WildPointer { access, address: 0 };
        for place in places {
            match self.target(state, place, size, access)? {
                Ok((target, offset)) => {
                    let mut condition = address.is(&mut self.out.bits, place);
                    if let Some(bound) = self.open_bound(state, target) {
                        let end = Word::constant(64, u128::from(offset + size));
                        let fits = self.out.bits.ule(&end, &bound);
                        condition = self.out.bits.bit_and(condition, fits);
                        is_open = true;
                        fault = out_of_bounds(access, target, offset, size);
                    }
                    if condition == Bit::FALSE {
                        continue;
                    }
                    somewhere = self.out.bits.bit_or(somewhere, condition);
                    cases.push(Case {
                        condition,
                        target,
                        offset,
                    });
                }
                Err(found) => fault = found,
            }
        }
        // All numbers that the address can be are listed: if all of them lead somewhere, nothing can go wrong.
        let is_exhaustive = address
            .set
            .values()
            .is_some_and(|all| all.len() == cases.len() && !is_open);
        if !is_exhaustive {
            self.refuse_far_accesses(state, (address, size), somewhere);
        }
        for case in &cases {
            if let Target::Shared(region) = case.target {
                self.check_alive(state, region.object, case.condition, access)?;
            }
        }
        if is_exhaustive {
            if let [case] = &mut cases[..] {
                case.condition = Bit::TRUE;
            }
        } else {
            self.fault_if(state, !somewhere, fault);
        }
        Ok(cases)
    }

    /// The numbers that an address may be, as far as an access of this size is possible there.
    pub(super) fn places(
        &mut self,
        state: &State,
        address: &Sym,
        size: u64,
    ) -> Result<Vec<u64>, Stop> {
        let objects = match &address.set {
            Set::Values(values) => return Ok(values.to_vec()),
            Set::Objects(objects) => Rc::clone(objects),
            Set::Any => {
                return Err(unsupported("an access to an address that is not known"));
            }
        };
        // Low bits that are known tell the distance of elements.
        let known = address.word.bits().iter().take(12);
        let known: Vec<bool> = known.map_while(|bit| bit.as_constant()).collect();
        let step = 1u64 << known.len();
        let residue = known
            .iter()
            .enumerate()
            .fold(0u64, |value, (at, &bit)| value | u64::from(bit) << at);
        let mut places = Vec::new();
        for &number in objects.iter().filter(|&&number| number != 0) {
            for (base, whole) in self.extents(state, number) {
                let Some(last) = whole.checked_sub(size) else {
                    continue;
                };
                let first = residue.wrapping_sub(base) & (step - 1);
                let count = last / step + 1;
                if count > MOST_PLACES {
                    return Err(unsupported("an index that is not known into a large array"));
                }
                let offsets = (first..=last).step_by(step as usize);
                places.extend(offsets.map(|offset| base + offset));
            }
        }
        Ok(places)
    }

    /// Where the objects with an address number begin that there is anything to access in, and their sizes.
    fn extents(&self, state: &State, number: u32) -> Vec<(u64, u64)> {
        if let Some((base, variable)) = private_variable(state, number) {
            return vec![(base, spread_of_variable(variable))];
        }
        let tables = self.view.tables();
        let objects = tables.numbered(number).iter();
        objects
            .map(|&object| (object, tables.object_info(object)))
            .filter(|(_, info)| info.kind != ObjectKind::Function)
            .map(|(object, info)| (info.address, self.spread(object, info.size)))
            .collect()
    }

    /// What is at an address.
    pub(super) fn target(
        &mut self,
        state: &mut State,
        address: u64,
        size: u64,
        access: AccessKind,
    ) -> Result<Result<(Target, u64), Fault>, Stop> {
        let number = (address >> 32) as u32;
        if number == 0 {
            return Ok(Err(Fault::NullDereference { access, address }));
        }
        let fits_at = |offset: i64, whole: u64| {
            let offset = u64::try_from(offset).ok();
            offset.filter(|offset| offset.checked_add(size).is_some_and(|end| end <= whole))
        };
        let wild = Fault::WildPointer { access, address };
        if number >> POSITION_BITS == PRIVATE_THREAD {
            let fits = |whole| fits_at(offset_of(address), whole);
            let position = (number & ((1 << POSITION_BITS) - 1)) as usize;
            if position >= THREAD_LOCALS {
                if let Entry::Vacant(slot) = state.thread_locals.entry(position) {
                    slot.insert(self.thread_local_contents(position)?);
                }
                let whole = state.thread_locals[&position].size;
                let target = Target::ThreadLocal(position);
                return Ok(fits(whole).map(|offset| (target, offset)).ok_or(wild));
            }
            let whole = state
                .private
                .get(position)
                .map_or(0, |contents| contents.size);
            let target = Target::Private(position);
            return Ok(fits(whole).map(|offset| (target, offset)).ok_or(wild));
        }
        let Some((object, offset)) = self.view.tables().resolve(address) else {
            return Ok(Err(wild));
        };
        let info = self.view.tables().object_info(object);
        let Some(inside) = fits_at(offset, info.size) else {
            return Ok(Err(Fault::OutOfBounds {
                access,
                object,
                offset,
                size,
            }));
        };
        if info.kind == ObjectKind::Constant && access != AccessKind::Read {
            return Ok(Err(Fault::WriteToConstant { object, offset }));
        }
        let region = Region {
            object,
            is_sync: false,
        };
        Ok(Ok((Target::Shared(region), inside)))
    }

    /// Does the state know the contents of the region for sure?
    pub(super) fn knows(&mut self, state: &State, region: Region) -> bool {
        if state.alone || !self.is_writable(region) {
            return true;
        }
        let thread = self.out.threads[self.thread].id;
        let is_own = self.facts.is_own(region, thread);
        // When its stores reach memory matters as well if somebody else frees it.
        let life = Region {
            is_sync: true,
            ..region
        };
        let is_freed = self.options.is_weak && self.facts.is_freed(region.object);
        is_own && !(is_freed && self.facts.is_shared(life))
    }

    /// The contents of memory that the state knows for sure.
    pub(super) fn known<'s>(
        &mut self,
        state: &'s mut State,
        target: Target,
    ) -> Result<&'s mut Rc<Contents>, Stop> {
        Ok(match target {
            Target::Private(position) => &mut state.private[position],
            Target::ThreadLocal(position) => state
                .thread_locals
                .get_mut(&position)
                .expect("made when resolved"),
            Target::Shared(region) => {
                if let Entry::Vacant(slot) = state.own.entry(region) {
                    slot.insert(self.first_contents(region)?);
                }
                state.own.get_mut(&region).expect("just made")
            }
        })
    }

    /// The region that others may access at the same time, if it is one.
    pub(super) fn contended(&mut self, state: &State, target: Target) -> Option<Region> {
        match target {
            Target::Shared(region) if !self.knows(state, region) => Some(region),
            _ => None,
        }
    }
}
