//! What Rust's standard library wraps things in: an `Arc` is known by the variable that holds it, and a lock by what it is a lock of, not by
//! the word that it is made of.

use super::Names;
use super::parts::outer_name;
use crate::source::{is_known, is_library};
use raddle_ir::debug::{SourceType, SourceTypeId};
use raddle_judge::Trace;
use raddle_program::{LocId, ObjectId, ObjectKind, Op, RmwKind, Value};
use std::collections::BTreeMap;

/// What a word of Rust's standard library is the inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RustLock {
    Mutex,
    Condvar,
    RwLock,
}

/// What a compare-exchange or an addition does to the word of a lock for reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RwChange {
    LockForReading,
    LockForWriting,
    /// It was not free.
    Fails,
    /// Says that it waits.
    Announce,
    Unlock,
}

impl RwChange {
    /// The lower 30 bits count those who read, or are all set if somebody writes; the other two say that some wait to read, and to write.
    pub(crate) fn of(op: &Op, found: Value) -> Option<Self> {
        const HOLDERS: u64 = (1 << 30) - 1;
        const WORD: u64 = 0xFFFF_FFFF;
        match *op {
            Op::Cas { expected, new, .. } => {
                let (old, new) = (expected & WORD, new & WORD);
                let change = if new & HOLDERS == HOLDERS && old & HOLDERS == 0 {
                    Self::LockForWriting
                } else if new == old + 1 {
                    Self::LockForReading
                } else if new & HOLDERS == old & HOLDERS && new > old {
                    return (found & WORD == old).then_some(Self::Announce);
                } else {
                    return None;
                };
                Some(match found & WORD == old {
                    true => change,
                    false => Self::Fails,
                })
            }
            Op::Rmw { kind, operand, .. } => {
                let taken = match kind {
                    RmwKind::Sub => operand & WORD,
                    RmwKind::Add => operand.wrapping_neg() & WORD,
                    _ => return None,
                };
                matches!(taken, 1 | HOLDERS).then_some(Self::Unlock)
            }
            _ => None,
        }
    }
}

impl Names<'_> {
    /// Blocks that an `Arc` shares have the name of the first variable of the user's that holds it, unless that holds others as well.
    pub(super) fn find_holders(&mut self, trace: &Trace) {
        let mut claims: BTreeMap<ObjectId, Vec<String>> = BTreeMap::new();
        for step in &trace.steps {
            let at = self.program.at(step.state);
            if let Op::Store { loc, value, .. } = *self.program.op(step.state)
                && is_known(self.tables, at)
                && !is_library(self.tables, at)
                && let Some((block, 0)) = self.tables.resolve(value)
                && self.heap.contains_key(&block)
                && self.is_arc_pointer(loc)
                && let Some(holder) = self.holder(loc)
            {
                let claimed = claims.entry(block).or_default();
                if !claimed.contains(&holder) {
                    claimed.push(holder);
                }
            }
        }
        let mut blocks_of: BTreeMap<&str, usize> = BTreeMap::new();
        for holder in claims.values().flatten() {
            *blocks_of.entry(holder).or_default() += 1;
        }
        let own = |holders: &Vec<String>| {
            let mut holders = holders.iter();
            holders
                .find(|holder| blocks_of[holder.as_str()] == 1)
                .cloned()
        };
        self.holders = claims
            .iter()
            .filter_map(|(&block, holders)| Some((block, own(holders)?)))
            .collect();
    }

    /// The variable, or the part of one, whose pointer this is.
    fn holder(&self, loc: LocId) -> Option<String> {
        let object = self.tables.object_info(self.tables.loc_info(loc).object);
        let is_variable = matches!(
            object.kind,
            ObjectKind::Stack | ObjectKind::Global | ObjectKind::ThreadLocal
        );
        let is_named = !is_temporary(&object.name);
        let name = self.location(loc);
        let name = name.strip_suffix(".ptr")?;
        (is_variable && is_named).then(|| name.to_owned())
    }

    /// Is it a variable that the compiler made for itself?
    pub(crate) fn is_temporary(&self, loc: LocId) -> bool {
        let object = self.tables.object_info(self.tables.loc_info(loc).object);
        object.kind == ObjectKind::Stack && is_temporary(&object.name)
    }

    /// Does the place hold the pointer that an `Arc` is?
    pub(crate) fn is_arc_pointer(&self, loc: LocId) -> bool {
        let Some(SourceType::Pointer { to: Some(to) }) = self.leaf(loc) else {
            return false;
        };
        self.is_arc_inner(*to)
    }

    fn is_arc_inner(&self, ty: SourceTypeId) -> bool {
        matches!(self.source_type(ty), Some(SourceType::Record { name, .. }) if name.starts_with("ArcInner<"))
    }

    /// Is it one of the two counts of an `Arc`?
    pub(crate) fn is_count_of_arc(&self, loc: LocId) -> bool {
        let info = self.tables.loc_info(loc);
        let Some(ty) = self.type_of(info.object) else {
            return false;
        };
        match self.source_type(ty) {
            Some(SourceType::Record { fields, .. }) if self.is_arc_inner(ty) => {
                let field = self.field_at(fields, info.offset);
                field.is_some_and(|(name, ..)| matches!(&**name, "strong" | "weak"))
            }
            _ => false,
        }
    }

    /// Is it the note that a lock is poisoned?
    pub(crate) fn is_poison(&self, loc: LocId) -> bool {
        let mut is_flag = false;
        self.walk(loc, |outer, _| is_flag |= outer == "Flag");
        is_flag && self.location(loc).ends_with(".poison")
    }

    /// The lock that the word, or the queue of it, is the inside of.
    pub(crate) fn rust_lock(&self, loc: LocId) -> Option<RustLock> {
        let mut lock = None;
        let mut around = String::new();
        self.walk(loc, |outer, field| {
            lock = match (outer, field) {
                ("Mutex", "futex") if around == "Mutex" => Some(RustLock::Mutex),
                ("Condvar", "futex") if around == "Condvar" => Some(RustLock::Condvar),
                ("RwLock", "state") if around == "RwLock" => Some(RustLock::RwLock),
                _ => lock,
            };
            outer.clone_into(&mut around);
        });
        lock
    }

    /// Goes from the whole object down to a place in it. Tells of each struct on the way its name without arguments, and the field.
    fn walk(&self, loc: LocId, mut enter: impl FnMut(&str, &str)) {
        let info = self.tables.loc_info(loc);
        let queues_of = self.tables.object_info(info.object).queues_of;
        let object = queues_of.unwrap_or(info.object);
        let whole = match self.type_of(object) {
            Some(ty) => self
                .element_of(object, ty, info.offset)
                .map(|(_, at)| (ty, at)),
            None => self
                .heap_parts
                .get(&(object, info.offset))
                .map(|&(base, ty)| (ty, info.offset.saturating_sub(base))),
        };
        let Some((mut ty, mut offset)) = whole else {
            return;
        };
        loop {
            match self.source_type(ty) {
                Some(SourceType::Array { element, .. }) => {
                    offset %= self.size(*element).unwrap_or(0).max(1);
                    ty = *element;
                }
                Some(SourceType::Record { name, fields, .. }) => {
                    let Some((field, start, inner)) = self.field_at(fields, offset) else {
                        return;
                    };
                    enter(outer_name(name), field);
                    offset -= start;
                    ty = *inner;
                }
                _ => return,
            }
        }
    }
}

/// rustc calls its own variables `_1`, `_2`, …
fn is_temporary(name: &str) -> bool {
    let number = name.strip_prefix('_');
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_program::Order;

    const WRITING: u64 = (1 << 30) - 1;
    const WRITERS_WAIT: u64 = 1 << 31;

    fn cas(expected: u64, new: u64, found: u64) -> Option<RwChange> {
        let op = Op::Cas {
            loc: LocId::from_index(0),
            expected,
            new,
            success: Order::Acquire,
            failure: Order::Relaxed,
        };
        RwChange::of(&op, found)
    }

    #[test]
    fn changes_of_a_lock_for_reading_and_writing_are_told_apart() {
        assert_eq!(cas(0, 1, 0), Some(RwChange::LockForReading));
        assert_eq!(cas(2, 3, 2), Some(RwChange::LockForReading));
        assert_eq!(cas(0, WRITING, 0), Some(RwChange::LockForWriting));
        assert_eq!(cas(0, WRITING, 1), Some(RwChange::Fails));
        assert_eq!(cas(1, 1 | WRITERS_WAIT, 1), Some(RwChange::Announce));
        assert_eq!(cas(WRITERS_WAIT, 0, WRITERS_WAIT), None);
        for (kind, operand, is_unlock) in [
            (RmwKind::Sub, 1, true),
            (RmwKind::Sub, WRITING, true),
            (RmwKind::Add, u64::MAX, true),
            (RmwKind::Add, 1, false),
        ] {
            let op = Op::Rmw {
                loc: LocId::from_index(0),
                kind,
                operand,
                order: Order::Release,
            };
            assert_eq!(RwChange::of(&op, 1) == Some(RwChange::Unlock), is_unlock);
        }
    }

    #[test]
    fn the_compilers_own_variables_are_known() {
        assert!(is_temporary("_8"));
        assert!(!is_temporary("_guard") && !is_temporary("_") && !is_temporary("x1"));
    }
}
