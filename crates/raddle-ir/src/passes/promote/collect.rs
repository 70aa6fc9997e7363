//! Finds the accesses to private variables, before it is decided which parts of them are promoted.

use crate::constant::Constant;
use crate::ids::{BlockId, TypeId, ValueId};
use crate::inst::{Body, Call, CastOp, Inst, InstKind, Operand};
use crate::module::Module;
use crate::passes::cfg::Cfg;
use crate::passes::intrinsics::{Intrinsic, intrinsic};
use crate::passes::uses::{Role, accessed_type};
use crate::types::Type;

/// More pieces than this of one alloca stay in memory: they would be more registers than anyone wants in a state.
pub(super) const MAX_SLOTS: usize = 128;

/// A byte range `start..end`.
pub(super) type Range = (u64, u64);

pub(super) fn overlap(a: Range, b: Range) -> bool {
    a.0 < b.1 && b.0 < a.1
}

/// An alloca under consideration.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) alloca: ValueId,
    pub(super) size: u64,
    /// The address is used in a way that hides accesses from us: nothing of it is promoted.
    pub(super) pinned: bool,
    pub(super) blocked: Vec<Range>,
    /// Ranges and types of the accesses, distinct, in order of discovery.
    pub(super) accesses: Vec<(Range, TypeId)>,
}

impl Candidate {
    pub(super) fn is_blocked(&self, range: Range) -> bool {
        self.pinned || self.blocked.iter().any(|&other| overlap(range, other))
    }

    /// Blocks a range; true if it was not blocked as a whole.
    pub(super) fn block(&mut self, range: Range) -> bool {
        let covered = |&(start, end): &Range| start <= range.0 && range.1 <= end;
        if self.pinned || self.blocked.iter().any(covered) {
            return false;
        }
        self.blocked.push(range);
        true
    }

    pub(super) fn access(&mut self, range: Range, ty: TypeId) -> bool {
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
pub(super) enum Event {
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
pub(super) struct CopyEvent {
    pub(super) to: usize,
    pub(super) to_range: Range,
    pub(super) from: usize,
    pub(super) from_range: Range,
}

/// What an instruction does, and where it is.
pub(super) type Placed = (BlockId, usize, Event);

/// All constant-size allocas and what happens to them; events of one block come in order.
pub(super) fn collect(module: &Module, body: &Body, cfg: &Cfg) -> (Vec<Candidate>, Vec<Placed>) {
    let mut collector = Collector {
        module,
        body,
        candidates: Vec::new(),
        addresses: vec![None; body.value_types.len()],
        events: Vec::new(),
    };
    collector.run(cfg);
    (collector.candidates, collector.events)
}

struct Collector<'a> {
    module: &'a Module,
    body: &'a Body,
    candidates: Vec<Candidate>,
    /// Values known to be an address in a candidate, at a constant offset.
    addresses: Vec<Option<(usize, i64)>>,
    events: Vec<Placed>,
}

impl Collector<'_> {
    fn run(&mut self, cfg: &Cfg) {
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
pub(crate) fn constant_int(module: &Module, operand: Operand) -> Option<i128> {
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
pub(crate) fn gep_offset(
    module: &Module,
    source: TypeId,
    indices: &[(TypeId, Operand)],
) -> Option<i64> {
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
