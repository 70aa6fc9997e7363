//! Which definition of a symbol counts, and what local ones are called.

use super::scan::{Linkage, Scanned};
use super::{LinkError, LinkInput, symbol};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) struct Resolved<'t> {
    /// New names of local symbols, for each module.
    pub(super) renamed: Vec<FxHashMap<&'t str, String>>,
    /// The module and entry of every symbol that others can see.
    chosen: FxHashSet<(usize, usize)>,
    local: FxHashSet<(usize, usize)>,
}

impl Resolved<'_> {
    pub(super) fn is_kept(&self, module: usize, entry: usize) -> bool {
        self.chosen.contains(&(module, entry)) || self.local.contains(&(module, entry))
    }
}

/// The definition that counts so far.
#[derive(Clone, Copy)]
struct Best {
    module: usize,
    entry: usize,
    linkage: Linkage,
}

/// More counts.
fn strength(linkage: Linkage) -> u8 {
    match linkage {
        Linkage::Strong => 4,
        Linkage::Common => 3,
        Linkage::Weak => 2,
        Linkage::Copy => 1,
        Linkage::Declared | Linkage::Local | Linkage::Appending => 0,
    }
}

pub(super) fn resolve<'t>(
    inputs: &[LinkInput<'t>],
    modules: &[Scanned<'t>],
) -> Result<Resolved<'t>, LinkError> {
    let mut best: FxHashMap<&str, Best> = FxHashMap::default();
    let mut local = FxHashSet::default();
    for (index, module) in modules.iter().enumerate() {
        for (at, entry) in module.entries.iter().enumerate() {
            let Some((name, linkage, _)) = symbol(entry) else {
                continue;
            };
            match linkage {
                Linkage::Local => {
                    local.insert((index, at));
                    continue;
                }
                Linkage::Appending => continue,
                _ => {}
            }
            let this = Best {
                module: index,
                entry: at,
                linkage,
            };
            match best.get_mut(name) {
                None => {
                    best.insert(name, this);
                }
                Some(other) => {
                    both_allowed(inputs, modules, name, *other, this)?;
                    if strength(linkage) > strength(other.linkage) {
                        *other = this;
                    }
                }
            }
        }
    }
    let chosen = best
        .values()
        .map(|best| (best.module, best.entry))
        .collect();
    Ok(Resolved {
        renamed: rename(modules, &best),
        chosen,
        local,
    })
}

fn both_allowed(
    inputs: &[LinkInput<'_>],
    modules: &[Scanned<'_>],
    name: &str,
    one: Best,
    other: Best,
) -> Result<(), LinkError> {
    let files = |symbol: &str| -> (Box<str>, Box<str>, Box<str>) {
        let symbol = super::super::lexer::unescape_name(symbol);
        let file = |best: Best| inputs[best.module].name.into();
        (symbol.into(), file(one), file(other))
    };
    match (one.linkage, other.linkage) {
        (Linkage::Strong, Linkage::Strong) => {
            let (symbol, first, second) = files(name);
            Err(LinkError::Duplicate {
                symbol,
                first,
                second,
            })
        }
        (Linkage::Common, Linkage::Common) => {
            let text = |best: Best| {
                let entry = &modules[best.module].entries[best.entry];
                let text = &inputs[best.module].text[entry.start..entry.end];
                text.split(", !dbg").next().unwrap_or(text)
            };
            if text(one) == text(other) {
                return Ok(());
            }
            let (symbol, first, second) = files(name);
            Err(LinkError::DifferentTypes {
                symbol,
                first,
                second,
            })
        }
        _ => Ok(()),
    }
}

/// Local symbols keep their names where nobody else has them.
fn rename<'t>(
    modules: &[Scanned<'t>],
    global: &FxHashMap<&'t str, Best>,
) -> Vec<FxHashMap<&'t str, String>> {
    let mut taken: FxHashSet<String> = global.keys().map(|&name| name.to_owned()).collect();
    // A new name must not be one that somebody has by themselves.
    let own: FxHashSet<&str> = modules
        .iter()
        .flat_map(|module| module.entries.iter().filter_map(symbol))
        .map(|(name, ..)| name)
        .collect();
    let mut all = Vec::with_capacity(modules.len());
    for (index, module) in modules.iter().enumerate() {
        let mut renamed = FxHashMap::default();
        for (name, linkage, _) in module.entries.iter().filter_map(symbol) {
            if linkage != Linkage::Local || taken.insert(name.to_owned()) {
                continue;
            }
            let mut number = index;
            let new = loop {
                let new = format!("{name}.{number}");
                if !own.contains(new.as_str()) && taken.insert(new.clone()) {
                    break new;
                }
                number += 1;
            };
            renamed.insert(name, new);
        }
        all.push(renamed);
    }
    all
}
