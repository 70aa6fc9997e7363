//! Source types: as much of the debug metadata as naming a byte of a variable needs.

use super::error::{PResult, ParseErrorKind};
use super::lexer::unescape_name;
use super::metadata::Node;
use super::parser::Parser;
use crate::debug::{SourceType, SourceTypeId};

/// Longer chains of typedefs and qualifiers than this are taken for cycles.
const MAX_CHAIN: usize = 256;
/// Array lengths are shown, not allocated, but nested ones are multiplied by readers.
const MAX_DIMENSIONS: usize = 16;
/// Records and arrays inside of each other.
const MAX_NESTING: u32 = 256;

impl<'t> Parser<'t, '_> {
    /// The type that a node stands for. Types refer to themselves through pointers, so ids are given out first and
    /// the types behind them are read one after the other, without recursion.
    pub(super) fn source_type(&mut self, number: u32) -> PResult<SourceTypeId> {
        let mut work = Vec::new();
        let first_new = self.module.debug.types.len();
        let id = self.source_type_id(number, &mut work)?;
        while let Some((node, id)) = work.pop() {
            let ty = self.read_source_type(&node, &mut work)?;
            self.module.debug.types[id.index()] = ty;
        }
        if !is_finite(&self.module.debug.types, first_new) {
            return self.invalid("a source type contains itself");
        }
        Ok(id)
    }

    /// The id of a type, which is put on the list of work if it is new.
    fn source_type_id(
        &mut self,
        number: u32,
        work: &mut Vec<(NamedNode<'t>, SourceTypeId)>,
    ) -> PResult<SourceTypeId> {
        if let Some(&id) = self.module.parsed.metadata.types.get(&number) {
            return Ok(id);
        }
        let mut node = self.node(number)?;
        let mut current = number;
        // The name of `typedef struct { ... } name;` is that of the typedef.
        let mut name = None;
        for _ in 0..MAX_CHAIN {
            let tag = node.word("tag").unwrap_or("");
            let transparent = matches!(
                tag,
                "DW_TAG_typedef"
                    | "DW_TAG_const_type"
                    | "DW_TAG_volatile_type"
                    | "DW_TAG_restrict_type"
                    | "DW_TAG_atomic_type"
            );
            let Some(base) = node.node("baseType").filter(|_| transparent) else {
                break;
            };
            name = name.or(node.str("name"));
            current = base;
            node = self.node(base)?;
        }
        if let Some(&id) = self.module.parsed.metadata.types.get(&current) {
            self.module.parsed.metadata.types.insert(number, id);
            return Ok(id);
        }
        let id = SourceTypeId::from_index(self.module.debug.types.len());
        self.module
            .debug
            .types
            .push(SourceType::Pointer { to: None });
        self.module.parsed.metadata.types.insert(number, id);
        self.module.parsed.metadata.types.insert(current, id);
        let name = node.str("name").or(name);
        work.push((NamedNode { node, name }, id));
        Ok(id)
    }

    fn read_source_type(
        &mut self,
        named: &NamedNode<'t>,
        work: &mut Vec<(NamedNode<'t>, SourceTypeId)>,
    ) -> PResult<SourceType> {
        let node = &named.node;
        let name = || unescape_name(named.name.unwrap_or("")).into();
        match node.word("tag").unwrap_or("") {
            "DW_TAG_pointer_type" | "DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type" => {
                let to = match node.node("baseType") {
                    Some(base) => Some(self.source_type_id(base, work)?),
                    None => None,
                };
                Ok(SourceType::Pointer { to })
            }
            "DW_TAG_structure_type" | "DW_TAG_class_type" | "DW_TAG_union_type" => {
                Ok(SourceType::Record {
                    name: name(),
                    size: node.bytes("size"),
                    fields: self.fields(node, work)?,
                })
            }
            "DW_TAG_array_type" => self.source_array(node, work),
            "DW_TAG_enumeration_type" => self.enumeration(node),
            _ => Ok(SourceType::Scalar {
                name: name(),
                size: node.bytes("size"),
                signed: is_signed(node),
            }),
        }
    }

    fn enumeration(&mut self, node: &Node<'t>) -> PResult<SourceType> {
        let base = match node.node("baseType") {
            Some(base) => Some(self.node(base)?),
            None => None,
        };
        let mut values = Vec::new();
        if let Some(elements) = node.node("elements") {
            for element in self.node(elements)?.elements() {
                let enumerator = self.node(element)?;
                let value = enumerator.int("value").map(i64::try_from);
                if let (Some(name), Some(Ok(value))) = (enumerator.str("name"), value) {
                    values.push((unescape_name(name).into(), value));
                }
            }
        }
        Ok(SourceType::Enum {
            size: node.bytes("size"),
            signed: base.as_ref().is_some_and(is_signed),
            values,
        })
    }

    fn fields(
        &mut self,
        node: &Node<'t>,
        work: &mut Vec<(NamedNode<'t>, SourceTypeId)>,
    ) -> PResult<Vec<(Box<str>, u64, SourceTypeId)>> {
        let mut fields = Vec::new();
        let Some(elements) = node.node("elements") else {
            return Ok(fields);
        };
        for element in self.node(elements)?.elements() {
            let member = self.node(element)?;
            let tag = member.word("tag");
            if !matches!(tag, Some("DW_TAG_member" | "DW_TAG_inheritance"))
                || has_flag(&member, "StaticMember")
            {
                continue;
            }
            let Some(base) = member.node("baseType") else {
                continue;
            };
            let name = match member.str("name") {
                Some(name) => Some(name),
                // A base class, or an anonymous struct inside of this one.
                None => self.node(base)?.str("name"),
            };
            let name = unescape_name(name.unwrap_or("")).into();
            let mut ty = self.source_type_id(base, work)?;
            if has_flag(&member, "BitField")
                && let Some(bits) = bit_field(&member, ty)
            {
                ty = SourceTypeId::from_index(self.module.debug.types.len());
                self.module.debug.types.push(bits);
            }
            fields.push((name, member.bytes("offset"), ty));
        }
        Ok(fields)
    }

    /// `int a[2][3]` has two subranges; each becomes an array of its own.
    fn source_array(
        &mut self,
        node: &Node<'t>,
        work: &mut Vec<(NamedNode<'t>, SourceTypeId)>,
    ) -> PResult<SourceType> {
        let Some(base) = node.node("baseType") else {
            return self.fail(ParseErrorKind::Invalid("an array type without elements"));
        };
        let mut lengths = Vec::new();
        if let Some(elements) = node.node("elements") {
            for element in self.node(elements)?.elements().take(MAX_DIMENSIONS) {
                let range = self.node(element)?;
                let count = range.int("count").or_else(|| {
                    let lower = range.int("lowerBound").unwrap_or(0);
                    range.int("upperBound")?.checked_sub(lower)?.checked_add(1)
                });
                lengths.push(count.and_then(|n| u64::try_from(n).ok()).unwrap_or(0));
            }
        }
        let mut element = self.source_type_id(base, work)?;
        let outermost = lengths.first().copied().unwrap_or(0);
        for &len in lengths.iter().skip(1).rev() {
            let id = SourceTypeId::from_index(self.module.debug.types.len());
            self.module
                .debug
                .types
                .push(SourceType::Array { element, len });
            element = id;
        }
        Ok(SourceType::Array {
            element,
            len: outermost,
        })
    }
}

fn has_flag(member: &Node<'_>, flag: &str) -> bool {
    member
        .word("flags")
        .is_some_and(|flags| flags.contains(flag))
}

/// The type of a bit-field; none where its place makes no sense.
fn bit_field(member: &Node<'_>, of: SourceTypeId) -> Option<SourceType> {
    let first = member.int("offset").unwrap_or(0).rem_euclid(8);
    let len = member.int("size").filter(|len| (1..=64).contains(len))?;
    Some(SourceType::Bits {
        of,
        first: first as u8,
        len: len as u8,
    })
}

fn is_signed(node: &Node<'_>) -> bool {
    matches!(
        node.word("encoding"),
        Some("DW_ATE_signed" | "DW_ATE_signed_char")
    )
}

/// A node, and the name of the type as the source has it.
struct NamedNode<'t> {
    node: Node<'t>,
    name: Option<&'t str>,
}

/// Whether the types from `first` on contain themselves through pointers only, and no deeper than readers can follow
/// by recursion. Those before are known to, and do not refer to these.
fn is_finite(types: &[SourceType], first: usize) -> bool {
    // The depth of each new type: 0 is unknown, `OPEN` is on the stack.
    const OPEN: u32 = u32::MAX;
    let mut depths = vec![0u32; types.len() - first];
    let parts = |id: usize| -> Vec<usize> {
        let parts: Vec<SourceTypeId> = match &types[id] {
            SourceType::Record { fields, .. } => fields.iter().map(|&(_, _, ty)| ty).collect(),
            SourceType::Array { element, .. } => vec![*element],
            SourceType::Bits { of, .. } => vec![*of],
            SourceType::Scalar { .. } | SourceType::Enum { .. } | SourceType::Pointer { .. } => {
                Vec::new()
            }
        };
        let new = parts.into_iter().map(SourceTypeId::index);
        new.filter(|&part| part >= first).collect()
    };
    for root in first..types.len() {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            match depths[id - first] {
                0 => {
                    depths[id - first] = OPEN;
                    for part in parts(id) {
                        match depths[part - first] {
                            OPEN => return false,
                            0 => stack.push(part),
                            _ => {}
                        }
                    }
                }
                OPEN => {
                    let deepest = parts(id).into_iter().map(|part| depths[part - first]).max();
                    let depth = deepest.unwrap_or(0) + 1;
                    if depth > MAX_NESTING {
                        return false;
                    }
                    depths[id - first] = depth;
                    stack.pop();
                }
                _ => {
                    stack.pop();
                }
            }
        }
    }
    true
}
