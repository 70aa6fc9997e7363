//! What heap blocks are made of.
//!
//! `malloc` tells no type. There are three witnesses: the variable that gets its result, what code takes the memory for that
//! it accesses, and the pointers that the execution keeps to the block. The second is never wrong about the bytes in
//! question; the others are believed as long as it does not contradict them.

use super::Names;
use raddle_ir::debug::{SourceType, SourceTypeId};
use raddle_judge::Trace;
use raddle_program::{ObjectId, ObjectKind, Op, TakenFor};
use std::collections::{BTreeMap, BTreeSet};

/// How code accesses a block.
#[derive(Default)]
pub(super) struct Use {
    /// Offset and size of what instructions access at once.
    pub(super) accesses: BTreeSet<(u64, u8)>,
    /// What they take it for: where the whole begins that it is part of, and the type of that.
    pub(super) wholes: BTreeSet<(u64, SourceTypeId)>,
    /// The same by the bytes accessed; none where two accesses say different things.
    parts: BTreeMap<u64, Option<(u64, SourceTypeId)>>,
}

impl Names<'_> {
    pub(super) fn find_block_types(&mut self, trace: &Trace) {
        let uses = self.uses(trace);
        // What the variables that get a new block point to.
        let mut variables = Vec::new();
        for step in &trace.steps {
            if let Op::Alloc { object } = *self.program.op(step.state)
                && self.heap.contains_key(&object)
                && let Some(TakenFor::Block { of }) = self.program.taken_for(step.state)
            {
                variables.push((object, of));
            }
        }
        for &(object, ty) in &variables {
            if self.is_telling(ty) && self.agrees(&uses, object, ty) {
                self.heap_types.insert(object, ty);
            }
        }
        for (&object, used) in &uses {
            if !self.is_untyped(object) {
                continue;
            }
            // A whole contains its parts: the largest thing that explains all accesses is it.
            let is_made_of = |&(base, ty): &(u64, SourceTypeId)| {
                (base == 0 || self.is_nothing_else(used, ty)).then_some(ty)
            };
            let mut wholes: Vec<SourceTypeId> = used.wholes.iter().filter_map(is_made_of).collect();
            wholes.sort_by_key(|&ty| std::cmp::Reverse(self.size(ty)));
            let agreed = |&ty: &SourceTypeId| self.is_telling(ty) && self.agrees(&uses, object, ty);
            if let Some(ty) = wholes.into_iter().find(agreed) {
                self.heap_types.entry(object).or_insert(ty);
            }
        }
        // The type of one block may tell that of the next one in a list, and what its raw bytes hold.
        self.find_all_stored(&uses);
        while self.learn_types(trace, &uses, Self::is_telling) {
            self.find_all_stored(&uses);
        }
        // Nothing better is known of what is left.
        for (object, ty) in variables {
            if self.is_text(ty) && self.agrees(&uses, object, ty) {
                self.heap_types.entry(object).or_insert(ty);
            }
        }
        while self.learn_types(trace, &uses, Self::is_text) {}
        for (object, used) in uses {
            if !self.is_untyped(object) {
                continue;
            }
            for (offset, part) in used.parts {
                if let Some(part) = part {
                    self.heap_parts.insert((object, offset), part);
                }
            }
        }
    }

    /// Are all accesses to things of this type? One in the middle of a block does not tell what the rest of it is.
    fn is_nothing_else(&self, used: &Use, ty: SourceTypeId) -> bool {
        let size = self.size(ty).unwrap_or(0);
        used.accesses.iter().all(|&(offset, _)| {
            let mut bases = used.wholes.iter().filter(|(_, whole)| *whole == ty);
            bases.any(|&(base, _)| (base..base.saturating_add(size)).contains(&offset))
        })
    }

    /// Does no declaration tell what the object is made of? Heap blocks have none, nor have the temporaries of C++.
    fn is_untyped(&self, object: ObjectId) -> bool {
        let info = self.tables.object_info(object);
        let is_local = info.kind == ObjectKind::Stack && info.source_type.is_none();
        self.heap.contains_key(&object) || is_local
    }

    fn find_all_stored(&mut self, uses: &BTreeMap<ObjectId, Use>) {
        for (&object, used) in uses {
            let stored = self.find_stored(object, used);
            if !stored.is_empty() {
                self.stored.insert(object, stored);
            }
        }
    }

    fn uses(&self, trace: &Trace) -> BTreeMap<ObjectId, Use> {
        let mut uses: BTreeMap<ObjectId, Use> = BTreeMap::new();
        for step in &trace.steps {
            let (Op::Load { loc, .. }
            | Op::Store { loc, .. }
            | Op::Rmw { loc, .. }
            | Op::Cas { loc, .. }) = *self.program.op(step.state)
            else {
                continue;
            };
            let info = self.tables.loc_info(loc);
            // Library functions that copy and fill memory do not care what is in it.
            let Some(taken) = self.program.taken_for(step.state) else {
                continue;
            };
            let used = uses.entry(info.object).or_default();
            used.accesses.insert((info.offset, info.size));
            if let TakenFor::Part { of, offset } = taken
                && let Some(base) = info.offset.checked_sub(offset)
                && self.is_telling(of)
            {
                let whole = (base, of);
                used.wholes.insert(whole);
                let part = used.parts.entry(info.offset).or_insert(Some(whole));
                if *part != Some(whole) {
                    *part = None;
                }
            }
        }
        uses
    }

    /// Can all accesses to the block be to one or several of this type?
    fn agrees(&self, uses: &BTreeMap<ObjectId, Use>, object: ObjectId, ty: SourceTypeId) -> bool {
        let Some(used) = uses.get(&object) else {
            return true;
        };
        // What lies behind the last element is not of this type.
        let within = |offset| self.element_of(object, ty, offset).map(|(_, rest)| rest);
        used.wholes
            .iter()
            .all(|&(base, whole)| within(base).is_none_or(|rest| self.contains(ty, rest, whole)))
            && used.accesses.iter().all(|&(offset, size)| {
                within(offset).is_none_or(|rest| self.fits(ty, rest, u64::from(size)))
            })
    }

    /// Does a pointer to this type tell what it points to? `void *` and `char *` point to anything.
    fn is_telling(&self, ty: SourceTypeId) -> bool {
        self.size(ty).is_some_and(|size| size > 1)
    }

    pub(super) fn is_text(&self, ty: SourceTypeId) -> bool {
        matches!(self.source_type(ty), Some(SourceType::Scalar { name, .. }) if &**name == "char")
    }

    /// Gives a type to blocks whose address lies where a pointer to that type belongs. Was there a new one?
    fn learn_types(
        &mut self,
        trace: &Trace,
        uses: &BTreeMap<ObjectId, Use>,
        is_wanted: impl Fn(&Self, SourceTypeId) -> bool,
    ) -> bool {
        let known = self.heap_types.len();
        for step in &trace.steps {
            let (loc, value) = match *self.program.op(step.state) {
                Op::Load { loc, .. } => (loc, step.value),
                Op::Store { loc, value, .. } => (loc, value),
                Op::Cas { loc, new, .. } => (loc, new),
                _ => continue,
            };
            if let Some(SourceType::Pointer { to: Some(ty) }) = self.leaf(loc)
                && let Some((object, 0)) = self.tables.resolve(self.wide(value, 32))
                && self.heap.contains_key(&object)
                && is_wanted(self, *ty)
                && self.agrees(uses, object, *ty)
            {
                self.heap_types.entry(object).or_insert(*ty);
            }
        }
        self.heap_types.len() > known
    }
}
