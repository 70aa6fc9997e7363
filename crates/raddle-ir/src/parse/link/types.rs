//! Struct types of several modules: which ones are the same.

use super::super::lexer::{Lexer, Token};
use super::scan::{Kind, Scanned};
use super::{LinkError, LinkInput};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) struct Unified<'t> {
    /// New names, for each module.
    pub(super) renamed: Vec<FxHashMap<&'t str, String>>,
    /// Definitions that stay, by module and entry.
    pub(super) kept: FxHashSet<(usize, usize)>,
}

/// A definition that has been kept under its own name.
#[derive(Clone, Copy)]
struct Known<'t> {
    module: usize,
    entry: usize,
    body: &'t str,
}

/// A type is the same as one of an earlier module if both have the same text and so has every type that it mentions, all the way down:
/// types may mention themselves, so all are taken for the same until one of them is seen not to be.
pub(super) fn unify<'t>(
    inputs: &[LinkInput<'t>],
    modules: &[Scanned<'t>],
) -> Result<Unified<'t>, LinkError> {
    let mut known: FxHashMap<&str, Known<'t>> = FxHashMap::default();
    // A new name must be nobody's, whether his turn has come or not.
    let entries = modules.iter().flat_map(|module| &module.entries);
    let mut taken: FxHashSet<String> = entries
        .filter_map(|entry| match entry.kind {
            Kind::Type(name) => Some(name.to_owned()),
            _ => None,
        })
        .collect();
    let mut unified = Unified {
        renamed: Vec::with_capacity(modules.len()),
        kept: FxHashSet::default(),
    };
    for (index, (input, module)) in inputs.iter().zip(modules).enumerate() {
        if module.numbered_type {
            return Err(LinkError::NumberedType {
                file: input.name.into(),
            });
        }
        let own = definitions(input.text, module);
        let mut names: Vec<&str> = own.keys().copied().collect();
        names.sort_unstable();
        let different = different(&names, &own, &known, &unified.renamed);
        let mut renamed = FxHashMap::default();
        for name in names {
            let (entry, body) = own[name];
            match known.get(name).copied() {
                None => {
                    unified.kept.insert((index, entry));
                    let module = index;
                    known.insert(
                        name,
                        Known {
                            module,
                            entry,
                            body,
                        },
                    );
                }
                Some(other) if !different.contains(name) => {
                    // One that is opaque is what the other says.
                    if is_opaque(other.body) && !is_opaque(body) {
                        unified.kept.remove(&(other.module, other.entry));
                        unified.kept.insert((index, entry));
                        let module = index;
                        known.insert(
                            name,
                            Known {
                                module,
                                entry,
                                body,
                            },
                        );
                    }
                }
                Some(_) => {
                    let mut number = index;
                    let new = loop {
                        let new = format!("{name}.{number}");
                        if taken.insert(new.clone()) {
                            break new;
                        }
                        number += 1;
                    };
                    renamed.insert(name, new);
                    unified.kept.insert((index, entry));
                }
            }
        }
        unified.renamed.push(renamed);
    }
    Ok(unified)
}

/// Each type's entry, and what stands behind its `=`.
fn definitions<'t>(text: &'t str, module: &Scanned<'t>) -> FxHashMap<&'t str, (usize, &'t str)> {
    let entries = module.entries.iter().enumerate();
    entries
        .filter_map(|(at, entry)| {
            let Kind::Type(name) = entry.kind else {
                return None;
            };
            let span = &text[entry.start..entry.end];
            // Names may have any character, but only quoted ones have an `=`.
            let skipped = span.find(name)? + name.len();
            let body = span[skipped..].split_once('=')?.1;
            Some((name, (at, body.trim())))
        })
        .collect()
}

fn is_opaque(body: &str) -> bool {
    body.ends_with("opaque")
}

fn different<'t>(
    names: &[&'t str],
    own: &FxHashMap<&'t str, (usize, &'t str)>,
    known: &FxHashMap<&'t str, Known<'t>>,
    renamed: &[FxHashMap<&'t str, String>],
) -> FxHashSet<&'t str> {
    let mut different: FxHashSet<&str> = FxHashSet::default();
    for &name in names {
        let body = own[name].1;
        let is_same = known.get(name).is_none_or(|known| {
            // What it mentions may have another name there.
            let renamed = &renamed[known.module];
            let is_own = !mentions(known.body).any(|it| renamed.contains_key(it));
            known.body == body && is_own || is_opaque(known.body) || is_opaque(body)
        });
        if !is_same {
            different.insert(name);
        }
    }
    loop {
        let before = different.len();
        for &name in names {
            if known.contains_key(name) && mentions(own[name].1).any(|it| different.contains(it)) {
                different.insert(name);
            }
        }
        if different.len() == before {
            return different;
        }
    }
}

fn mentions(body: &str) -> impl Iterator<Item = &str> {
    let mut lexer = Lexer::new(body, 0);
    std::iter::from_fn(move || {
        loop {
            match lexer.next().ok()?.0 {
                Token::Eof => return None,
                Token::Local(name) => return Some(name),
                _ => {}
            }
        }
    })
}
