//! Keeps the names of source variables when their memory goes away.

use super::slots::Slot;
use crate::debug::{DebugInfo, DebugVariable, SourceType, SourceTypeId};
use crate::ids::ValueId;
use crate::inst::{Body, Operand};
use rustc_hash::FxHashSet;

/// The source variables that live in slots, and the values found to hold them.
#[derive(Debug)]
pub(super) struct Names {
    /// Per slot, the variables (or fields of variables) in it.
    variables: Vec<Vec<DebugVariable>>,
    /// Per slot, the name of its alloca.
    stems: Vec<Option<Box<str>>>,
    holders: Vec<(ValueId, usize)>,
    seen: FxHashSet<(ValueId, usize)>,
}

impl Names {
    pub(super) fn of_slots(debug: &DebugInfo, body: &Body, slots: &[Slot]) -> Self {
        let mut names = Self {
            variables: Vec::with_capacity(slots.len()),
            stems: Vec::with_capacity(slots.len()),
            holders: Vec::new(),
            seen: FxHashSet::default(),
        };
        for slot in slots {
            let named = body
                .variables
                .iter()
                .filter(|(value, variable)| *value == slot.alloca && variable.is_address)
                .map(|(_, variable)| part(debug, variable, slot));
            names.variables.push(named.collect());
            names
                .stems
                .push(body.value_names[slot.alloca.index()].clone());
        }
        names
    }

    /// A new φ-node holds the slot.
    pub(super) fn phi(&mut self, body: &mut Body, slot: usize, result: ValueId) {
        if let Some(stem) = &self.stems[slot] {
            // The number makes it unique: a body has one value of each id.
            let name = format!("{stem}.phi{}", result.0);
            body.value_names[result.index()] = Some(name.into());
        }
        self.stored(slot, Operand::Value(result));
    }

    /// The slot got a value.
    pub(super) fn stored(&mut self, slot: usize, value: Operand) {
        if let Operand::Value(value) = value
            && !self.variables[slot].is_empty()
            && self.seen.insert((value, slot))
        {
            self.holders.push((value, slot));
        }
    }

    /// Adds the names to the body.
    pub(super) fn write(&self, body: &mut Body) {
        for &(value, slot) in &self.holders {
            for variable in &self.variables[slot] {
                body.variables.push((value, variable.clone()));
            }
        }
    }
}

/// The variable that a slot holds: `variable` itself, or a part of it.
fn part(debug: &DebugInfo, variable: &DebugVariable, slot: &Slot) -> DebugVariable {
    let mut name = variable.name.to_string();
    let mut ty = variable.ty;
    let mut offset = slot.offset;
    while let Some(id) = ty {
        match step_into(debug, id, offset, slot.size) {
            Some((suffix, inner, rest)) => {
                name.push_str(&suffix);
                (ty, offset) = (Some(inner), rest);
            }
            None => break,
        }
    }
    if ty.is_none() && offset != 0 {
        name.push_str(&format!("+{offset}"));
    }
    DebugVariable {
        name: name.into(),
        ty,
        is_parameter: variable.is_parameter,
        is_address: false,
    }
}

/// One step from a type to the field or element at `offset`, unless the whole is meant.
fn step_into(
    debug: &DebugInfo,
    id: SourceTypeId,
    offset: u64,
    size: u64,
) -> Option<(String, SourceTypeId, u64)> {
    match debug.types.get(id.index())? {
        SourceType::Record {
            size: whole,
            fields,
            ..
        } => {
            // A record of one field is shown as that field only if it is a proper part, or a lone one.
            if offset == 0 && size >= *whole && fields.len() != 1 {
                return None;
            }
            let (name, start, inner) = fields
                .iter()
                // Several bit-fields lie in the bytes: none of them is the whole.
                .filter(|(_, _, inner)| !is_bits(debug, *inner))
                .filter(|(_, start, inner)| {
                    *start <= offset && debug.size_of(*inner).is_none_or(|len| offset < start + len)
                })
                .max_by_key(|(_, start, _)| *start)?;
            let suffix = if name.is_empty() {
                String::new()
            } else {
                format!(".{name}")
            };
            Some((suffix, *inner, offset - start))
        }
        SourceType::Array { element, len } => {
            let each = debug.size_of(*element).filter(|&each| each > 0)?;
            let index = offset / each;
            (index < *len).then(|| (format!("[{index}]"), *element, offset % each))
        }
        SourceType::Scalar { .. }
        | SourceType::Enum { .. }
        | SourceType::Pointer { .. }
        | SourceType::Bits { .. } => None,
    }
}

fn is_bits(debug: &DebugInfo, id: SourceTypeId) -> bool {
    matches!(debug.types.get(id.index()), Some(SourceType::Bits { .. }))
}
