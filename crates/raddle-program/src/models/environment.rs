//! The environment: what `--env` says, and what the program makes of it.
//!
//! It is an array of strings `NAME=value`, behind their number. Accesses are plain: who looks something up while another thread changes the environment is in a data
//! race, as the standards say.

use super::errno::{EINVAL, ENOMEM, int};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::interp::machine::Machine;
use crate::op::Order;
use raddle_ir::{FuncId, Module};
use rustc_hash::FxHashSet;

pub(super) const MODELS: &[Model] = &[
    model("getenv", get),
    model("secure_getenv", get),
    model("setenv", set),
    model("unsetenv", unset),
    model("putenv", put).capturing(&[0]),
    model("clearenv", clear),
];

/// More variables than this are not made.
const MOST: u64 = 256;

/// Functions that change the environment.
const CHANGES: [&str; 4] = ["setenv", "unsetenv", "putenv", "clearenv"];

/// A variable: the place of its pointer in the table, its text, and where the value begins.
struct Variable {
    place: u64,
    value: u64,
}

/// Is there no variable, and none that the program could make?
pub(super) fn is_empty_for_good(machine: &mut Machine<'_>) -> bool {
    let world = &mut machine.world;
    if !world.options.env.is_empty() {
        return false;
    }
    let module = &world.module;
    !*world
        .changes_environment
        .get_or_insert_with(|| may_change(module))
}

/// Does anything mention a function that changes the environment? Those of Rust's library that do are there whether the program has a use for them or not, so it
/// is asked who mentions these.
fn may_change(module: &Module) -> bool {
    let mut known: FxHashSet<FuncId> = FxHashSet::default();
    let mut open: Vec<FuncId> = CHANGES
        .iter()
        .filter_map(|name| module.function_named(name))
        .collect();
    while let Some(function) = open.pop() {
        for by in module.mentioned_by(&module.function(function).name) {
            match by {
                Some(by) if is_of_rusts_library(&module.function(by).name) => {
                    if known.insert(by) {
                        open.push(by);
                    }
                }
                _ => return true,
            }
        }
    }
    false
}

fn is_of_rusts_library(symbol: &str) -> bool {
    rustc_demangle::try_demangle(symbol).is_ok_and(|name| {
        let name = name.to_string();
        name.trim_start_matches('<').starts_with("std::")
    })
}

fn get(cx: &mut Script<'_, '_>) -> ModelResult {
    // Who asks for each step is refused where the environment is changed, so it is empty.
    if is_empty_for_good(cx.machine) || (cx.asks() && cx.machine.world.options.env.is_empty()) {
        return Ok(Outcome::Return(0));
    }
    let name = cx.string(cx.arg(0))?;
    let table = cx.environment()?;
    let found = cx.variable(table, &name)?;
    Ok(Outcome::Return(found.map_or(0, |it| it.value)))
}

/// `(name, value, overwrites)`.
fn set(cx: &mut Script<'_, '_>) -> ModelResult {
    let name = cx.string(cx.arg(0))?;
    if name.is_empty() || name.contains(&b'=') {
        return cx.fail(EINVAL);
    }
    let table = cx.environment()?;
    let found = cx.variable(table, &name)?;
    if found.is_some() && cx.arg(2) & 0xFFFF_FFFF == 0 {
        return int(0);
    }
    let mut text = name;
    text.push(b'=');
    text.extend(cx.string(cx.arg(1))?);
    text.push(0);
    let block = cx.allocate(text.len() as u64, 16)?;
    cx.put_bytes(block, &text)?;
    cx.set_variable(table, found, block)
}

/// `(NAME=value)`: the string itself becomes part of the environment.
fn put(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = cx.string(cx.arg(0))?;
    let name = text.split(|&byte| byte == b'=').next().unwrap_or_default();
    let table = cx.environment()?;
    let found = cx.variable(table, name)?;
    if !text.contains(&b'=') {
        return cx.remove_variable(table, found);
    }
    cx.set_variable(table, found, cx.arg(0))
}

fn unset(cx: &mut Script<'_, '_>) -> ModelResult {
    let name = cx.string(cx.arg(0))?;
    let table = cx.environment()?;
    let found = cx.variable(table, &name)?;
    cx.remove_variable(table, found)
}

fn clear(cx: &mut Script<'_, '_>) -> ModelResult {
    let table = cx.environment()?;
    cx.store(table, 8, 0, Order::Plain)?;
    int(0)
}

impl Script<'_, '_> {
    fn environment(&mut self) -> Result<u64, Pause> {
        if self.asks() {
            return Err(self.unsupported("an environment is for engines that explore executions"));
        }
        Ok(self.machine.environment(MOST)?)
    }

    fn variable(&mut self, table: u64, name: &[u8]) -> Result<Option<Variable>, Pause> {
        let count = self.load(table, 8, Order::Plain)?.min(MOST);
        for index in 0..count {
            let place = table + 8 + 8 * index;
            let text = self.load(place, 8, Order::Plain)?;
            let bytes = self.string(text)?;
            if bytes.strip_prefix(name).and_then(<[u8]>::first) == Some(&b'=') {
                let value = text.wrapping_add(name.len() as u64 + 1);
                return Ok(Some(Variable { place, value }));
            }
        }
        Ok(None)
    }

    fn set_variable(&mut self, table: u64, old: Option<Variable>, text: u64) -> ModelResult {
        let place = match old {
            Some(old) => old.place,
            None => {
                let count = self.load(table, 8, Order::Plain)?;
                if count >= MOST {
                    return self.fail(ENOMEM);
                }
                self.store(table, 8, count + 1, Order::Plain)?;
                table + 8 + 8 * count
            }
        };
        self.store(place, 8, text, Order::Plain)?;
        int(0)
    }

    /// The last variable takes its place.
    fn remove_variable(&mut self, table: u64, found: Option<Variable>) -> ModelResult {
        if let Some(found) = found {
            let count = self
                .load(table, 8, Order::Plain)?
                .saturating_sub(1)
                .min(MOST - 1);
            let last = self.load(table + 8 + 8 * count, 8, Order::Plain)?;
            self.store(found.place, 8, last, Order::Plain)?;
            self.store(table, 8, count, Order::Plain)?;
        }
        int(0)
    }
}
