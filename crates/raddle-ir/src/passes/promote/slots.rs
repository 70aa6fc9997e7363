//! Which parts of which private variables become SSA values.
//!
//! A *slot* is a byte range of an alloca that is accessed, everywhere and only, as a whole. The address of the alloca may
//! be used in nothing but plain loads and stores, `memset` and `memcpy` of constant length, comparisons and lifetime
//! markers, at constant offsets: then nobody else can see or change the slot between two accesses in this function.
//!
//! Parts that do not qualify are *blocked* and stay in memory, together with every instruction that touches them; the
//! remaining parts of the same alloca are still promoted. Blocking one part may block others (a copy needs both sides in
//! the same place), so slots are formed by iteration to a fixpoint; the blocked ranges only grow, hence it ends.

use crate::constant::Constant;
use crate::ids::{BlockId, ConstId, TypeId, ValueId};
use crate::inst::{Body, Call, CastOp, Inst, InstKind, Operand};
use crate::module::Module;
use crate::passes::cfg::Cfg;
use crate::passes::intrinsics::{Intrinsic, intrinsic};
use crate::passes::uses::{Role, accessed_type};
use crate::types::Type;

/// More pieces than this of one alloca stay in memory: they would be more registers than anyone wants in a state.
const MAX_SLOTS: usize = 128;

/// A byte range of an alloca that becomes a variable in SSA form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) alloca: ValueId,
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

/// A byte range `start..end`.
type Range = (u64, u64);

fn overlap(a: Range, b: Range) -> bool {
    a.0 < b.1 && b.0 < a.1
}

/// An alloca under consideration.
#[derive(Debug)]
struct Candidate {
    alloca: ValueId,
    size: u64,
    /// The address is used in a way that hides accesses from us: nothing of it is promoted.
    pinned: bool,
    blocked: Vec<Range>,
    /// Ranges and types of the accesses, distinct, in order of discovery.
    accesses: Vec<(Range, TypeId)>,
}

impl Candidate {
    fn is_blocked(&self, range: Range) -> bool {
        self.pinned || self.blocked.iter().any(|&other| overlap(range, other))
    }

    /// Blocks a range; true if it was not blocked as a whole.
    fn block(&mut self, range: Range) -> bool {
        let covered = |&(start, end): &Range| start <= range.0 && range.1 <= end;
        if self.pinned || self.blocked.iter().any(covered) {
            return false;
        }
        self.blocked.push(range);
        true
    }

    fn access(&mut self, range: Range, ty: TypeId) -> bool {
        if self.pinned || self.accesses.contains(&(range, ty)) {
            return false;
        }
        self.accesses.push((range, ty));
        self.pinned |= self.accesses.len() > 4 * MAX_SLOTS;
        true
    }
}

/// What an instruction does to candidates, before slots are known.
#[derive(Clone, Copy, Debug)]
enum Event {
    Load(usize, Range),
    Store(usize, Range),
    /// The whole alloca becomes undefined.
    Undefine(usize),
    Fill {
        candidate: usize,
        range: Range,
        byte: u8,
    },
    Copy(CopyEvent),
}

#[derive(Clone, Copy, Debug)]
struct CopyEvent {
    to: usize,
    to_range: Range,
    from: usize,
    from_range: Range,
}

/// Finds the slots of a body without unreachable blocks.
pub(super) fn plan(module: &mut Module, body: &Body, cfg: &Cfg) -> Plan {
    let mut collector = Collector {
        module,
        body,
        candidates: Vec::new(),
        addresses: vec![None; body.value_types.len()],
        events: Vec::new(),
    };
    collector.collect(cfg);
    let Collector {
        mut candidates,
        events,
        ..
    } = collector;
    settle(module, &mut candidates, &events);
    let slots = form_slots(module, &candidates);
    let actions = actions(module, body, &candidates, &slots, &events);
    Plan { slots, actions }
}

struct Collector<'a> {
    module: &'a Module,
    body: &'a Body,
    candidates: Vec<Candidate>,
    /// Values known to be an address in a candidate, at a constant offset.
    addresses: Vec<Option<(usize, i64)>>,
    events: Vec<(BlockId, usize, Event)>,
}

impl Collector<'_> {
    fn collect(&mut self, cfg: &Cfg) {
        // Reverse post-order meets a definition before the uses it dominates: all but those in φ-nodes.
        for &block in cfg.reverse_postorder() {
            let code = &self.body.blocks[block.index()];
            for (index, inst) in code.insts.iter().enumerate() {
                if let Some(event) = self.inst(inst) {
                    self.events.push((block, index, event));
                }
            }
            code.terminator
                .visit_operands(|_, operand| self.pin(*operand));
        }
        for block in &self.body.blocks {
            for (_, operand) in block.phis.iter().flat_map(|phi| &phi.incoming) {
                self.pin(*operand);
            }
        }
    }

    fn address(&self, operand: Operand) -> Option<(usize, i64)> {
        operand
            .value()
            .and_then(|value| self.addresses[value.index()])
    }

    fn pin(&mut self, operand: Operand) {
        if let Some((candidate, _)) = self.address(operand) {
            self.candidates[candidate].pinned = true;
        }
    }

    /// The bytes `length` from `operand` on, if they lie inside of a candidate. An access outside pins it: it is an
    /// error of the program that must stay to be found.
    fn range(&mut self, operand: Operand, length: Option<u64>) -> Option<(usize, Range)> {
        let (candidate, offset) = self.address(operand)?;
        let known = &mut self.candidates[candidate];
        let range = u64::try_from(offset)
            .ok()
            .zip(length)
            .and_then(|(start, length)| Some((start, start.checked_add(length)?)))
            .filter(|&(_, end)| end <= known.size);
        known.pinned |= range.is_none();
        range.map(|range| (candidate, range))
    }

    fn inst(&mut self, inst: &Inst) -> Option<Event> {
        match &inst.kind {
            InstKind::Alloca { ty, count, .. } => {
                return self.alloca(inst.result?, *ty, *count);
            }
            InstKind::Gep {
                source,
                base,
                indices,
                ..
            } => self.gep(inst, *source, *base, indices),
            InstKind::Cast {
                op: CastOp::Bitcast | CastOp::AddrSpaceCast,
                to: ty,
                value,
                ..
            }
            | InstKind::Freeze { ty, value } => {
                if *self.module.types.get(*ty) == Type::Ptr {
                    self.derive(inst, *value, Some(0));
                } else {
                    self.pin(*value);
                }
            }
            InstKind::ICmp { .. } => {}
            InstKind::Call(call) => return self.call(call),
            kind if accessed_type(kind).is_some() => return self.access(kind),
            kind => kind.visit_operands(|_, operand| self.pin(*operand)),
        }
        None
    }

    fn alloca(&mut self, result: ValueId, ty: TypeId, count: Operand) -> Option<Event> {
        let count = constant_int(self.module, count)?;
        let element = self.module.types.alloc_size(ty).ok()?;
        let size = element.checked_mul(u64::try_from(count).ok()?)?;
        let candidate = self.candidates.len();
        self.candidates.push(Candidate {
            alloca: result,
            size,
            pinned: false,
            blocked: Vec::new(),
            accesses: Vec::new(),
        });
        self.addresses[result.index()] = Some((candidate, 0));
        // The alloca itself undefines the slots: in a loop every execution makes a new variable. An address computed
        // from it always belongs to the newest one, as the alloca dominates the computation, which dominates its uses.
        Some(Event::Undefine(candidate))
    }

    fn derive(&mut self, inst: &Inst, base: Operand, by: Option<i64>) {
        let Some((candidate, offset)) = self.address(base) else {
            return;
        };
        match (inst.result, by.and_then(|by| offset.checked_add(by))) {
            (Some(result), Some(offset)) => {
                self.addresses[result.index()] = Some((candidate, offset));
            }
            _ => self.candidates[candidate].pinned = true,
        }
    }

    fn gep(&mut self, inst: &Inst, source: TypeId, base: Operand, indices: &[(TypeId, Operand)]) {
        for &(_, index) in indices {
            self.pin(index);
        }
        let scalar = inst.result.is_some_and(|result| {
            *self.module.types.get(self.body.value_types[result.index()]) == Type::Ptr
        });
        let by = scalar
            .then(|| gep_offset(self.module, source, indices))
            .flatten();
        self.derive(inst, base, by);
    }

    /// Loads, stores and atomic accesses.
    fn access(&mut self, kind: &InstKind) -> Option<Event> {
        let mut address = None;
        kind.visit_operands(|role, operand| match role {
            Role::Address => address = Some(*operand),
            _ => self.pin(*operand),
        });
        let ty = accessed_type(kind)?;
        let size = self.module.types.store_size(ty).ok();
        let (candidate, range) = self.range(address?, size.filter(|&size| size > 0))?;
        match kind {
            InstKind::Load {
                volatile: false,
                atomic: None,
                ..
            } => {
                self.candidates[candidate].access(range, ty);
                Some(Event::Load(candidate, range))
            }
            InstKind::Store {
                volatile: false,
                atomic: None,
                ..
            } => {
                self.candidates[candidate].access(range, ty);
                Some(Event::Store(candidate, range))
            }
            _ => {
                self.candidates[candidate].block(range);
                None
            }
        }
    }

    fn call(&mut self, call: &Call) -> Option<Event> {
        match intrinsic(self.module, call) {
            Intrinsic::Debug => None,
            Intrinsic::Lifetime => {
                let (candidate, offset) = self.address(*call.args.last()?)?;
                (offset == 0 && self.lifetime_is_whole(call, candidate))
                    .then_some(Event::Undefine(candidate))
            }
            Intrinsic::Fill => self.fill(call),
            Intrinsic::Copy => self.copy(call),
            Intrinsic::Pure | Intrinsic::Other => {
                for &arg in &call.args {
                    self.pin(arg);
                }
                self.pin(call.callee);
                None
            }
        }
    }

    /// Older markers have a size before the pointer: -1 is the whole variable.
    fn lifetime_is_whole(&self, call: &Call, candidate: usize) -> bool {
        call.args.len() < 2
            || constant_int(self.module, call.args[0]).is_some_and(|size| {
                size == -1 || size >= i128::from(self.candidates[candidate].size)
            })
    }

    /// The length of a `memset` or `memcpy`, if it is constant and the call is not volatile.
    fn plain_length(&self, call: &Call) -> Option<u64> {
        let plain = call
            .args
            .get(3)
            .is_some_and(|&volatile| constant_int(self.module, volatile) == Some(0));
        let length = constant_int(self.module, *call.args.get(2)?)?;
        plain.then(|| u64::try_from(length).ok()).flatten()
    }

    fn fill(&mut self, call: &Call) -> Option<Event> {
        for &arg in call.args.iter().skip(1) {
            self.pin(arg);
        }
        let (candidate, range) = self.range(*call.args.first()?, self.plain_length(call))?;
        match constant_int(self.module, call.args[1]) {
            Some(byte) => Some(Event::Fill {
                candidate,
                range,
                byte: (byte & 0xff) as u8,
            }),
            None => {
                self.candidates[candidate].block(range);
                None
            }
        }
    }

    fn copy(&mut self, call: &Call) -> Option<Event> {
        for &arg in call.args.iter().skip(2) {
            self.pin(arg);
        }
        let length = self.plain_length(call);
        let to = self.range(*call.args.first()?, length);
        let from = self.range(*call.args.get(1)?, length);
        match (to, from) {
            (Some((to, to_range)), Some((from, from_range))) if to != from => {
                return Some(Event::Copy(CopyEvent {
                    to,
                    to_range,
                    from,
                    from_range,
                }));
            }
            _ => {
                for (candidate, range) in to.into_iter().chain(from) {
                    self.candidates[candidate].block(range);
                }
            }
        }
        None
    }
}

/// An integer constant, sign-extended from its width.
pub(super) fn constant_int(module: &Module, operand: Operand) -> Option<i128> {
    let Operand::Const(id) = operand else {
        return None;
    };
    match *module.constant(id) {
        Constant::Int(ty, bits) => {
            let Type::Int(width @ 1..=128) = *module.types.get(ty) else {
                return None;
            };
            let unused = 128 - width;
            // `i1 true` is one, not minus one: it is a flag wherever it is asked for here.
            if width == 1 {
                return Some((bits & 1) as i128);
            }
            Some(((bits << unused) as i128) >> unused)
        }
        Constant::Zero(ty) if matches!(module.types.get(ty), Type::Int(_)) => Some(0),
        _ => None,
    }
}

/// The constant offset in bytes that a `getelementptr` adds, if it is one.
fn gep_offset(module: &Module, source: TypeId, indices: &[(TypeId, Operand)]) -> Option<i64> {
    let types = &module.types;
    let mut offset: i128 = 0;
    let mut ty = source;
    for (position, &(_, index)) in indices.iter().enumerate() {
        let index = constant_int(module, index)?;
        let step = if position == 0 {
            types.alloc_size(ty).ok()?
        } else {
            match types.get(ty) {
                Type::Array { element, .. } => {
                    ty = *element;
                    types.alloc_size(ty).ok()?
                }
                Type::Vector {
                    element,
                    scalable: false,
                    ..
                } => {
                    // Elements of vectors lie without padding.
                    ty = *element;
                    types.store_size(ty).ok()?
                }
                Type::Struct { fields, .. } => {
                    let field = usize::try_from(index).ok()?;
                    let start = *types.struct_layout(ty).ok()?.offsets.get(field)?;
                    ty = fields[field];
                    offset = offset.checked_add(i128::from(start))?;
                    continue;
                }
                _ => return None,
            }
        };
        offset = offset.checked_add(index.checked_mul(i128::from(step))?)?;
    }
    i64::try_from(offset).ok()
}

/// Blocks everything that cannot be a slot, and hands accesses across copies so that both sides are cut alike.
fn settle(module: &Module, candidates: &mut [Candidate], events: &[(BlockId, usize, Event)]) {
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
        Type::Ptr => Some(64),
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
    for candidate in candidates.iter().filter(|candidate| !candidate.pinned) {
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
    events: &[(BlockId, usize, Event)],
) -> Vec<Vec<(usize, Action)>> {
    let mut of_candidate = vec![Vec::new(); candidates.len()];
    for (candidate, own) in candidates.iter().zip(&mut of_candidate) {
        own.extend((0..slots.len()).filter(|&slot| slots[slot].alloca == candidate.alloca));
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
