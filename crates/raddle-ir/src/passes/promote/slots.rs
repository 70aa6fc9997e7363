//! Which parts of which private variables become SSA values.
//!
//! A *slot* is a byte range of an alloca that is accessed, everywhere and only, as a whole. The address of the alloca may
//! be used in nothing but plain loads and stores, `memset` and `memcpy` of constant length, comparisons and lifetime
//! markers, at constant offsets: then nobody else can see or change the slot between two accesses in this function.
//!
//! Parts that do not qualify are *blocked* and stay in memory, together with every instruction that touches them; the
//! remaining parts of the same alloca are still promoted. Blocking one part may block others (a copy needs both sides in
//! the same place), so slots are formed by iteration to a fixpoint; the blocked ranges only grow, hence it ends.

use super::Unwritten;
use super::collect::{Candidate, CopyEvent, Event, MAX_SLOTS, Placed, Range, collect, overlap};
use super::unwritten::pin_unwritten;
use crate::constant::Constant;
use crate::ids::{ConstId, TypeId, ValueId};
use crate::inst::Body;
use crate::module::Module;
use crate::passes::cfg::Cfg;
use crate::types::Type;

/// A byte range of an alloca that becomes a variable in SSA form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) alloca: ValueId,
    /// Index of the alloca among the candidates.
    candidate: usize,
    pub(super) offset: u64,
    pub(super) size: u64,
    /// The type its values are kept in; accesses of other types of the same size are cast.
    pub(super) ty: TypeId,
}

/// What an instruction does to slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The instruction is a load of the slot, and goes away.
    Load(usize),
    /// The instruction is a store to the slot, and goes away.
    Store(usize),
    /// The slots get constants. The instruction goes away if `remove` says so.
    Set {
        slots: Vec<(usize, ConstId)>,
        remove: bool,
    },
    /// The first of each pair gets the value of the second, and the instruction goes away.
    Copy(Vec<(usize, usize)>),
}

impl Action {
    fn removes_instruction(&self) -> bool {
        !matches!(self, Self::Set { remove: false, .. })
    }
}

/// The slots and, per block, what its instructions do to them (index of the instruction, in order).
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) slots: Vec<Slot>,
    pub(super) actions: Vec<Vec<(usize, Action)>>,
}

impl Plan {
    /// Whether carrying it out would change anything.
    pub(super) fn is_empty(&self) -> bool {
        !self
            .actions
            .iter()
            .flatten()
            .any(|(_, action)| action.removes_instruction())
    }
}

/// Finds the slots of a body without unreachable blocks.
pub(super) fn plan(module: &mut Module, body: &Body, cfg: &Cfg, unwritten: Unwritten) -> Plan {
    let (mut candidates, events) = collect(module, body, cfg);
    if unwritten == Unwritten::InMemory {
        pin_unwritten(&mut candidates, &events, cfg);
    }
    settle(module, &mut candidates, &events);
    let slots = form_slots(module, &candidates);
    let actions = actions(module, body, &candidates, &slots, &events);
    Plan { slots, actions }
}

/// Blocks everything that cannot be a slot, and hands accesses across copies so that both sides are cut alike.
fn settle(module: &Module, candidates: &mut [Candidate], events: &[Placed]) {
    let mut changed = true;
    while changed {
        changed = false;
        for candidate in candidates.iter_mut() {
            changed |= block_misfits(module, candidate);
        }
        for (_, _, event) in events {
            match *event {
                Event::Fill {
                    candidate,
                    range,
                    byte,
                } => {
                    let candidate = &mut candidates[candidate];
                    for index in 0..candidate.accesses.len() {
                        let (part, ty) = candidate.accesses[index];
                        let inside = range.0 <= part.0 && part.1 <= range.1;
                        if overlap(part, range) && !(inside && can_fill(module, ty, byte)) {
                            changed |= candidate.block(part);
                        }
                    }
                }
                Event::Copy(copy) => changed |= settle_copy(candidates, copy),
                Event::Load(..) | Event::Store(..) | Event::Undefine(_) => {}
            }
        }
    }
}

/// Blocks accesses that overlap others without being equal to them, or whose types cannot be cast into each other.
fn block_misfits(module: &Module, candidate: &mut Candidate) -> bool {
    if candidate.pinned {
        return false;
    }
    let mut sorted = candidate.accesses.clone();
    sorted.sort_by_key(|&(range, _)| range);
    let mut distinct: Vec<Range> = sorted.iter().map(|&(range, _)| range).collect();
    distinct.dedup();
    if distinct.len() > MAX_SLOTS {
        candidate.pinned = true;
        return true;
    }
    let mut changed = false;
    let mut start = 0;
    while start < sorted.len() {
        // One group: accesses connected by overlapping.
        let (mut end, mut last) = (start + 1, sorted[start].0.1);
        while end < sorted.len() && sorted[end].0.0 < last {
            last = last.max(sorted[end].0.1);
            end += 1;
        }
        let group = &sorted[start..end];
        let whole = (group[0].0.0, last);
        let fits = group
            .iter()
            .all(|&(range, ty)| range == whole && castable(module, ty, group[0].1));
        if !fits || candidate.is_blocked(whole) {
            changed |= candidate.block(whole);
        }
        start = end;
    }
    changed
}

fn settle_copy(candidates: &mut [Candidate], copy: CopyEvent) -> bool {
    let CopyEvent {
        to,
        to_range,
        from,
        from_range,
    } = copy;
    let mut block = candidates[to].is_blocked(to_range) || candidates[from].is_blocked(from_range);
    let mut changed = false;
    for (source, range, target, target_range) in [
        (from, from_range, to, to_range),
        (to, to_range, from, from_range),
    ] {
        for index in 0..candidates[source].accesses.len() {
            let (part, ty) = candidates[source].accesses[index];
            if !overlap(part, range) {
                continue;
            }
            if part.0 < range.0 || range.1 < part.1 {
                block = true;
            } else if !block {
                let start = part.0 - range.0 + target_range.0;
                let moved = (start, start + (part.1 - part.0));
                changed |= candidates[target].access(moved, ty);
            }
        }
    }
    if block {
        changed |= candidates[to].block(to_range);
        changed |= candidates[from].block(from_range);
    }
    changed
}

/// Whether values of the two types, of the same size in memory, can be cast into each other without loss.
fn castable(module: &Module, a: TypeId, b: TypeId) -> bool {
    let bits = |ty| match module.types.get(ty) {
        Type::Int(width @ 8..=128) if width % 8 == 0 => Some(*width),
        Type::Ptr => Some(module.types.layout.pointer_bits()),
        Type::Float(kind) => super::casts::float_bits(*kind),
        _ => None,
    };
    a == b || bits(a).is_some_and(|width| bits(b) == Some(width))
}

/// Whether [`fill_constant`] knows the constant.
fn can_fill(module: &Module, ty: TypeId, byte: u8) -> bool {
    match module.types.get(ty) {
        Type::Int(width) => byte == 0 || (width % 8 == 0 && *width <= 128),
        _ => byte == 0,
    }
}

/// The value of type `ty` all of whose bytes are `byte`.
fn fill_constant(module: &mut Module, ty: TypeId, byte: u8) -> ConstId {
    let constant = match *module.types.get(ty) {
        Type::Int(width) => {
            let bits = u128::from_le_bytes([byte; 16]);
            Constant::Int(ty, bits >> (128 - width.clamp(1, 128)))
        }
        Type::Float(_) => Constant::Float(ty, 0),
        Type::Ptr => Constant::Null,
        _ => Constant::Zero(ty),
    };
    module.intern_constant(constant)
}

fn form_slots(module: &Module, candidates: &[Candidate]) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        if candidate.pinned {
            continue;
        }
        let first = slots.len();
        for &(range, ty) in &candidate.accesses {
            if candidate.is_blocked(range) {
                continue;
            }
            match slots[first..].iter_mut().find(|s| s.offset == range.0) {
                // Pointers stay pointers: casts of them to integers and back would hide where they point to.
                Some(slot) if *module.types.get(ty) == Type::Ptr => slot.ty = ty,
                Some(_) => {}
                None => slots.push(Slot {
                    alloca: candidate.alloca,
                    candidate: index,
                    offset: range.0,
                    size: range.1 - range.0,
                    ty,
                }),
            }
        }
    }
    slots
}

/// What each event means for the slots.
fn actions(
    module: &mut Module,
    body: &Body,
    candidates: &[Candidate],
    slots: &[Slot],
    events: &[Placed],
) -> Vec<Vec<(usize, Action)>> {
    let mut of_candidate = vec![Vec::new(); candidates.len()];
    for (index, slot) in slots.iter().enumerate() {
        of_candidate[slot.candidate].push(index);
    }
    let inside = |candidate: usize, range: Range| {
        of_candidate[candidate]
            .iter()
            .copied()
            .filter(move |&slot| range.0 <= slots[slot].offset && slots[slot].offset < range.1)
    };
    let mut actions = vec![Vec::new(); body.blocks.len()];
    for &(block, index, event) in events {
        let action = match event {
            Event::Load(candidate, range) => inside(candidate, range).next().map(Action::Load),
            Event::Store(candidate, range) => inside(candidate, range).next().map(Action::Store),
            Event::Undefine(candidate) => {
                let mut set = Vec::new();
                for &slot in &of_candidate[candidate] {
                    let undef = Constant::Undef(slots[slot].ty);
                    set.push((slot, module.intern_constant(undef)));
                }
                (!set.is_empty()).then_some(Action::Set {
                    slots: set,
                    remove: false,
                })
            }
            Event::Fill {
                candidate,
                range,
                byte,
            } => {
                let mut set = Vec::new();
                for slot in inside(candidate, range) {
                    set.push((slot, fill_constant(module, slots[slot].ty, byte)));
                }
                let remove = !candidates[candidate].is_blocked(range);
                (remove || !set.is_empty()).then_some(Action::Set { slots: set, remove })
            }
            Event::Copy(copy) => {
                if candidates[copy.to].is_blocked(copy.to_range) {
                    continue;
                }
                let moves = inside(copy.from, copy.from_range).filter_map(|from| {
                    let offset = slots[from].offset - copy.from_range.0 + copy.to_range.0;
                    let to = inside(copy.to, (offset, offset + 1)).next()?;
                    Some((to, from))
                });
                Some(Action::Copy(moves.collect()))
            }
        };
        actions[block.index()].extend(action.map(|action| (index, action)));
    }
    actions
}
