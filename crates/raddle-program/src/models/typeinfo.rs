//! Types at run time, as the C++ ABI for Itanium describes them: which exceptions a handler takes, and `dynamic_cast`.
//!
//! A description is a constant of the module (`_ZTI…`), which begins with the table of virtual functions of the class of
//! descriptions that it belongs to. Those of the library's own types are declared only: their names tell.

use super::stdexcept;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::{Stop, Unsupported};
use crate::interp::memory::read_bytes;
use crate::op::Order;
use raddle_ir::GlobalId;
use std::collections::BTreeMap;

pub(super) const MODELS: &[Model] = &[model("__dynamic_cast", dynamic_cast)];

/// What is known of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Class(Vec<Base>),
    Pointer {
        qualifiers: u32,
        pointee: Pointee,
    },
    Member {
        qualifiers: u32,
        pointee: u64,
        class: u64,
    },
    NullPointer,
    /// Equal to itself only.
    Other,
    /// A class that is defined elsewhere.
    Foreign,
}

/// What a pointer points to: the address of its description, or its mangled name where no description exists.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pointee {
    Type(u64),
    Builtin(Box<str>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Base {
    type_info: u64,
    is_public: bool,
    is_virtual: bool,
    /// Of the base in the object; for a virtual base, of that number in the table of virtual functions.
    offset: i64,
}

/// Qualifiers of what is pointed to: const, volatile, restrict. The other bits say something else.
const QUALIFIERS: u32 = 7;
const CONST: u32 = 1;

impl Script<'_, '_> {
    /// The variable that an address points to the start of.
    fn global_at(&self, address: u64) -> Option<GlobalId> {
        let (object, _) = self.object_at(address)?;
        let world = &self.machine.world;
        let global = world.constant_objects.get(&object);
        global.or_else(|| world.untouched.get(&object)).copied()
    }

    fn global_name(&self, address: u64) -> Option<Box<str>> {
        let global = self.global_at(address)?;
        Some(self.machine.world.module.global(global).name.clone())
    }

    /// The mangled name of the description of a type.
    pub(super) fn type_symbol(&self, type_info: u64) -> Box<str> {
        self.global_name(type_info).unwrap_or_default()
    }

    fn kind(&mut self, type_info: u64) -> Result<Kind, Pause> {
        let Some(global) = self.global_at(type_info) else {
            return Err(unknown_type());
        };
        let described = self.machine.world.module.global(global);
        let name = described.name.clone();
        if described.initializer.is_none() {
            return match stdexcept::class(name.strip_prefix("_ZTI").unwrap_or(&name)) {
                Some(class) => self.library_class(class),
                None => Ok(external(&name)),
            };
        }
        let bytes = self.machine.initial_bytes(global)?;
        // Whatever is taken for a description may be too short for one.
        let number = |at: usize, size: u8| match bytes.len() >= at + usize::from(size) {
            true => read_bytes(&bytes, at, size),
            false => 0,
        };
        let word = |at: usize| number(at, 8);
        let half = |at: usize| number(at, 4) as u32;
        let Some(table) = self.global_name(word(0)) else {
            return Err(unknown_type());
        };
        Ok(match table.strip_prefix("_ZTVN10__cxxabiv1") {
            Some("17__class_type_infoE") => Kind::Class(Vec::new()),
            Some("20__si_class_type_infoE") => Kind::Class(vec![Base {
                type_info: word(16),
                is_public: true,
                is_virtual: false,
                offset: 0,
            }]),
            Some("21__vmi_class_type_infoE") => {
                let count = (half(20) as usize).min(bytes.len() / 16);
                let base = |nth: usize| {
                    let flags = word(24 + 16 * nth + 8);
                    Base {
                        type_info: word(24 + 16 * nth),
                        is_public: flags & 2 != 0,
                        is_virtual: flags & 1 != 0,
                        offset: flags.cast_signed() >> 8,
                    }
                };
                Kind::Class((0..count).map(base).collect())
            }
            Some("19__pointer_type_infoE") => Kind::Pointer {
                qualifiers: half(16),
                pointee: Pointee::Type(word(24)),
            },
            Some("29__pointer_to_member_type_infoE") => Kind::Member {
                qualifiers: half(16),
                pointee: word(24),
                class: word(32),
            },
            _ => Kind::Other,
        })
    }

    fn library_class(&mut self, class: &stdexcept::Class) -> Result<Kind, Pause> {
        let base = match class.base {
            Some(base) => Some(self.machine.type_of_library_class(base)?),
            None => None,
        };
        let base = base.map(|type_info| Base {
            type_info,
            is_public: true,
            is_virtual: false,
            offset: 0,
        });
        Ok(Kind::Class(base.into_iter().collect()))
    }

    /// Where a base is, in an object of its derived class.
    fn base_address(&mut self, base: &Base, object: u64) -> Result<u64, Pause> {
        if object == 0 {
            return Ok(0);
        }
        if !base.is_virtual {
            return Ok(object.wrapping_add_signed(base.offset));
        }
        let table = self.load(object, 8, Order::Plain)?;
        let offset = self.load(table.wrapping_add_signed(base.offset), 8, Order::Plain)?;
        Ok(object.wrapping_add(offset))
    }

    // ---- exceptions

    /// Is it the type of a pointer? The exception object then holds what handlers get.
    pub(super) fn is_pointer_type(&mut self, type_info: u64) -> Result<bool, Pause> {
        Ok(matches!(self.kind(type_info)?, Kind::Pointer { .. }))
    }

    /// What a handler for `wanted` gets of an exception of type `thrown` at `object` (of a pointer: its value), if it takes it.
    pub(super) fn caught_as(
        &mut self,
        wanted: u64,
        thrown: u64,
        object: u64,
    ) -> Result<Option<u64>, Pause> {
        if wanted == 0 || wanted == thrown {
            return Ok(Some(object));
        }
        match (self.kind(wanted)?, self.kind(thrown)?) {
            (Kind::Class(_) | Kind::Foreign, Kind::Class(_) | Kind::Foreign) => {
                self.upcast(thrown, object, wanted)
            }
            (
                Kind::Pointer {
                    qualifiers,
                    pointee,
                },
                Kind::Pointer {
                    qualifiers: of_thrown,
                    pointee: thrown,
                },
            ) => {
                if of_thrown & QUALIFIERS & !qualifiers != 0 {
                    return Ok(None);
                }
                self.pointer_caught_as(&pointee, &thrown, qualifiers, object)
            }
            (Kind::Pointer { .. } | Kind::Member { .. }, Kind::NullPointer) => Ok(Some(0)),
            (
                Kind::Member {
                    qualifiers,
                    pointee,
                    class,
                },
                Kind::Member {
                    qualifiers: of_thrown,
                    pointee: thrown,
                    class: class_of_thrown,
                },
            ) => {
                let is_same = pointee == thrown && class == class_of_thrown;
                Ok((is_same && of_thrown & QUALIFIERS & !qualifiers == 0).then_some(object))
            }
            _ => Ok(None),
        }
    }

    fn pointer_caught_as(
        &mut self,
        wanted: &Pointee,
        thrown: &Pointee,
        qualifiers: u32,
        value: u64,
    ) -> Result<Option<u64>, Pause> {
        let name = self.pointee_name(wanted);
        if &*name == "v" {
            // Functions are no objects.
            return Ok((!self.pointee_name(thrown).starts_with('F')).then_some(value));
        }
        if name == self.pointee_name(thrown) {
            return Ok(Some(value));
        }
        let (&Pointee::Type(wanted), &Pointee::Type(thrown)) = (wanted, thrown) else {
            return Ok(None);
        };
        match (self.kind(wanted)?, self.kind(thrown)?) {
            (Kind::Class(_) | Kind::Foreign, Kind::Class(_) | Kind::Foreign) => {
                self.upcast(thrown, value, wanted)
            }
            // Deeper down only qualifiers may be added, if everything above is const.
            (
                Kind::Pointer {
                    qualifiers: inner,
                    pointee,
                },
                Kind::Pointer {
                    qualifiers: of_thrown,
                    pointee: below,
                },
            ) => {
                let adds = inner & QUALIFIERS != of_thrown & QUALIFIERS;
                let is_allowed = of_thrown & QUALIFIERS & !inner == 0
                    && (!adds || qualifiers & CONST != 0)
                    && self.pointee_name(&pointee) == self.pointee_name(&below);
                Ok(is_allowed.then_some(value))
            }
            _ => Ok(None),
        }
    }

    /// The mangled name of a type that is pointed to.
    fn pointee_name(&self, pointee: &Pointee) -> Box<str> {
        match pointee {
            Pointee::Type(type_info) => {
                let symbol = self.type_symbol(*type_info);
                symbol.strip_prefix("_ZTI").unwrap_or(&symbol).into()
            }
            Pointee::Builtin(name) => name.clone(),
        }
    }

    /// The base of type `wanted` in an object of class `class`, if there is exactly one, and it is public.
    fn upcast(&mut self, class: u64, object: u64, wanted: u64) -> Result<Option<u64>, Pause> {
        let mut found = BTreeMap::new();
        self.subobjects(
            class,
            object,
            true,
            0,
            &mut |type_info, address, is_public| {
                if type_info == wanted {
                    *found.entry(address).or_insert(false) |= is_public;
                }
            },
        )?;
        Ok(match found.iter().next() {
            Some((&address, &true)) if found.len() == 1 => Some(address),
            _ => None,
        })
    }

    /// Visits an object and all its bases, each with its address, and whether it is public there.
    fn subobjects(
        &mut self,
        class: u64,
        object: u64,
        is_public: bool,
        depth: u32,
        visit: &mut dyn FnMut(u64, u64, bool),
    ) -> Result<(), Pause> {
        const DEEPEST: u32 = 100;
        visit(class, object, is_public);
        let bases = match self.kind(class)? {
            Kind::Class(bases) if depth < DEEPEST => bases,
            _ => return Err(unknown_type()),
        };
        for base in bases {
            let address = self.base_address(&base, object)?;
            let is_public = is_public && base.is_public;
            self.subobjects(base.type_info, address, is_public, depth + 1, visit)?;
        }
        Ok(())
    }
}

/// A description that is only declared: a builtin type, or a pointer to one.
fn external(name: &str) -> Kind {
    let Some(name) = name.strip_prefix("_ZTI") else {
        return Kind::Foreign;
    };
    if name == "Dn" {
        return Kind::NullPointer;
    }
    if let Some(rest) = name.strip_prefix('P') {
        let (qualifiers, rest) = match rest.strip_prefix('K') {
            Some(rest) => (CONST, rest),
            None => (0, rest),
        };
        return Kind::Pointer {
            qualifiers,
            pointee: Pointee::Builtin(rest.into()),
        };
    }
    let is_builtin = name.len() == 1 || name.len() == 2 && name.starts_with('D');
    if is_builtin {
        Kind::Other
    } else {
        Kind::Foreign
    }
}

fn unknown_type() -> Pause {
    Pause::Stop(Stop::Unsupported(Unsupported::Instruction {
        what: "the description of a type that is defined elsewhere".into(),
    }))
}

/// `(object, its static type, the wanted type, hint)`: the wanted part of the whole object, or null.
fn dynamic_cast(cx: &mut Script<'_, '_>) -> ModelResult {
    let (object, from, wanted) = (cx.arg(0), cx.arg(1), cx.arg(2));
    let table = cx.load(object, 8, Order::Plain)?;
    let to_top = cx.load(table.wrapping_sub(16), 8, Order::Plain)?;
    let class = cx.load(table.wrapping_sub(8), 8, Order::Plain)?;
    let whole = object.wrapping_add(to_top);
    // All parts of the wanted type, and whether the object itself is public in the whole.
    let mut parts = BTreeMap::new();
    let mut is_public_in_whole = false;
    cx.subobjects(
        class,
        whole,
        true,
        0,
        &mut |type_info, address, is_public| {
            if type_info == wanted {
                *parts.entry(address).or_insert(false) |= is_public;
            }
            is_public_in_whole |= type_info == from && address == object && is_public;
        },
    )?;
    // Down: parts that have the object as a public base.
    let mut derived = Vec::new();
    for &part in parts.keys() {
        let mut contains = false;
        cx.subobjects(
            wanted,
            part,
            true,
            0,
            &mut |type_info, address, is_public| {
                contains |= type_info == from && address == object && is_public;
            },
        )?;
        if contains {
            derived.push(part);
        }
    }
    Ok(Outcome::Return(
        match (derived.as_slice(), parts.iter().next()) {
            (&[part], _) => part,
            // Across, by way of the whole.
            ([], Some((&part, &true))) if parts.len() == 1 && is_public_in_whole => part,
            _ => 0,
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_descriptions_are_known_by_their_names() {
        assert_eq!(external("_ZTIi"), Kind::Other);
        assert_eq!(external("_ZTIDs"), Kind::Other);
        assert_eq!(external("_ZTIDn"), Kind::NullPointer);
        let text = Kind::Pointer {
            qualifiers: CONST,
            pointee: Pointee::Builtin("c".into()),
        };
        assert_eq!(external("_ZTIPKc"), text);
        assert_eq!(external("_ZTI7MyError"), Kind::Foreign);
    }
}
