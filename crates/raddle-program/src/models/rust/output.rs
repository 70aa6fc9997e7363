//! `print!`, `println!`, `eprint!`, `eprintln!` and `dbg!` of Rust's standard library.
//!
//! The library holds a lock of the whole stream while it formats, and copies the text to a buffer there. Who prints first is seen by
//! nobody here. So the text is formatted, by the library's own code, for a stream that keeps nothing, without the lock. That changes no answer as
//! long as code that formats does nothing that others could notice (docs/rust.md). Where a thread comes to such a step, the program is
//! begun again with the library's own way to print ([`crate::Stop::Noticed`]).
//!
//! This is for programs that have nothing else to do with these streams ([`has_plain_output`]).

use super::super::externs::{declare_function, declare_variable};
use super::super::{Model, ModelResult, Outcome, Pause, Script, model};
use super::{is_of_library, path_of, signature};
use crate::interp::machine::Machine;
use crate::op::{Op, Order};
use crate::tables::Tables;
use raddle_ir::module::Symbol;
use raddle_ir::{FuncId, Function, Module, Type};

pub(in super::super) const MODELS: &[Model] = &[
    model(WRITE_STR, write_str),
    model(WRITE_CHAR, write_char),
    model(WRITE_FMT, write_fmt).capturing(&[0, 1, 2]),
];

/// The functions of the stream that keeps nothing, as `core::fmt::Write` has them, and their table.
const WRITE_STR: &str = "rust output$write_str";
const WRITE_CHAR: &str = "rust output$write_char";
pub(in super::super) const WRITE_FMT: &str = "rust output$write_fmt";
pub(in super::super) const TABLE: &str = "rust output$table";
const TABLE_SIZE: u64 = 48;

/// What a thread keeps while it prints: how many objects it had made before, plus 1.
const PRINTS: (u32, u64) = (13, 1);

/// What `fmt::write` is declared as where [`super::MODELS`] has the functions that print.
const WRITE_SIGNATURE: &str = "i1(ptr, ptr, ptr, ptr)";

// ---- printing

/// `(template, arguments)` of `fmt::Arguments`.
pub(super) fn print(cx: &mut Script<'_, '_>) -> ModelResult {
    const HAS_BEGUN: usize = 1;
    let Some((write, table)) = cx.output_functions()? else {
        return Ok(Outcome::Original);
    };
    if cx.machine.state.reads_kinds {
        return Ok(Outcome::Original);
    }
    if cx.var(HAS_BEGUN) == 0 {
        let (kind, key) = PRINTS;
        let made = u64::from(cx.machine.state.allocations);
        let is_outermost = cx.thread_value(kind, key)? == 0;
        if is_outermost {
            cx.set_thread_value(kind, key, made + 1)?;
        }
        cx.set_var(IS_OUTERMOST, is_outermost.into());
        cx.set_var(HAS_BEGUN, 1);
        cx.checkpoint();
    }
    let failed = cx.call(write, &[table, table, cx.arg(0), cx.arg(1)])?;
    cx.stop_printing(cx.var(IS_OUTERMOST))?;
    Ok(match failed & 1 {
        0 => Outcome::Void,
        // What is printed refuses to be: the library panics.
        _ => Outcome::Original,
    })
}

/// Is the call not made by code that formats what is printed?
const IS_OUTERMOST: usize = 0;

impl Script<'_, '_> {
    /// `core::fmt::write`, and the table of the stream that keeps nothing.
    fn output_functions(&mut self) -> Result<Option<(u64, u64)>, Pause> {
        let Some(write) = self.machine.world.fmt_write() else {
            return Ok(None);
        };
        let table = match self.machine.world.module.symbols.get(TABLE) {
            Some(&Symbol::Global(table)) => self.machine.global_address(table)?,
            _ => return Ok(None),
        };
        Ok(Some((Tables::function_address(write.0), table)))
    }

    fn stop_printing(&mut self, is_outermost: u64) -> Result<(), Pause> {
        let (kind, key) = PRINTS;
        match is_outermost {
            0 => Ok(()),
            _ => self.set_thread_value(kind, key, 0),
        }
    }

    /// A panic leaves a call of [`print`] with these variables.
    pub(in super::super) fn leave_printing(&mut self, vars: &[u64]) -> Result<(), Pause> {
        self.stop_printing(vars.get(IS_OUTERMOST).copied().unwrap_or(0))
    }
}

/// `(stream, text, length)`.
fn write_str(cx: &mut Script<'_, '_>) -> ModelResult {
    let bytes = cx.bytes_at(cx.arg(1), cx.arg(2))?;
    cx.print(&String::from_utf8_lossy(&bytes))?;
    Ok(Outcome::Return(0))
}

/// `(stream, character)`.
fn write_char(cx: &mut Script<'_, '_>) -> ModelResult {
    let character = char::from_u32(cx.arg(1) as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
    cx.print(character.encode_utf8(&mut [0; 4]))?;
    Ok(Outcome::Return(0))
}

/// `(stream, template, arguments)`.
fn write_fmt(cx: &mut Script<'_, '_>) -> ModelResult {
    let Some((write, table)) = cx.output_functions()? else {
        return Err(cx.unsupported("formatting without `core::fmt::write`"));
    };
    let failed = cx.call(write, &[table, table, cx.arg(1), cx.arg(2)])?;
    Ok(Outcome::Return(failed & 1))
}

// ---- what others could notice

impl Machine<'_> {
    /// Is it an operation by code that formats what is printed, and may others notice it, other than by a data race? Reads of plain memory and what the
    /// code does to objects that it has made itself they do not.
    pub(crate) fn is_noticed_while_printing(&self, op: &Op) -> bool {
        let Some(&before) = self.state.slots.get(&PRINTS) else {
            return false;
        };
        match *op {
            Op::Load { order, .. } => order != Order::Plain,
            Op::Store { loc, order, .. } => {
                let object = self.tables.loc_info(loc).object;
                let made = before as u32..=self.state.allocations;
                let mut made = made.map(|it| self.tables.is_allocation(object, self.state.id, it));
                order != Order::Plain || !made.any(|is_it| is_it)
            }
            Op::Alloc { .. } | Op::Free { .. } => false,
            _ => true,
        }
    }
}

// ---- what a module has

/// Has the program nothing to do with standard output and standard error but to print? Whoever gets hold of one may keep its lock.
pub(in super::super) fn has_plain_output(module: &Module) -> bool {
    const FUNCTIONS: [&str; 2] = ["std::io::stdio::stdout", "std::io::stdio::stderr"];
    let is_stream = |function: &Function| {
        let name = &*function.name;
        (name.contains("6stdout") || name.contains("6stderr"))
            && path_of(name).is_some_and(|path| FUNCTIONS.contains(&path.as_str()))
    };
    let mut streams = module.functions.iter().filter(|it| is_stream(it));
    streams.all(|stream| {
        let mut mentions = module.mentioned_by(&stream.name).into_iter();
        mentions.all(|by| by.is_some_and(|by| is_of_library([&*module.function(by).name])))
    })
}

/// `core::fmt::write`, if it is declared as expected.
pub(crate) fn fmt_write(module: &Module) -> Option<FuncId> {
    let mut ids = (0..module.functions.len()).map(FuncId::from_index);
    let id = ids.find(|&id| {
        let function = module.function(id);
        !function.is_declaration
            && function.name.contains("4core3fmt5write")
            && path_of(&function.name).as_deref() == Some("core::fmt::write")
    })?;
    (signature(module, id) == WRITE_SIGNATURE).then_some(id)
}

/// Declares the stream that keeps nothing, in modules that print.
pub(crate) fn declare(module: &mut Module) {
    let prints = |name: &str| name.contains("5stdio6__print") || name.contains("5stdio7__eprint");
    if !module.functions.iter().any(|it| prints(&it.name)) {
        return;
    }
    let bit = module.types.intern(Type::Int(1));
    let character = module.types.intern(Type::Int(32));
    let length = module.types.intern(Type::Int(64));
    let pointer = module.types.intern(Type::Ptr);
    declare_function(module, WRITE_STR, bit, &[pointer, pointer, length]);
    declare_function(module, WRITE_CHAR, bit, &[pointer, character]);
    declare_function(module, WRITE_FMT, bit, &[pointer, pointer, pointer]);
    declare_variable(module, TABLE, TABLE_SIZE);
}

impl Machine<'_> {
    /// Nothing to drop, the size, the alignment, and the functions of the stream that keeps nothing.
    pub(in super::super) fn output_table(&self) -> Vec<u8> {
        let functions = [WRITE_STR, WRITE_CHAR, WRITE_FMT].map(|name| {
            match self.world.module.symbols.get(name) {
                Some(&Symbol::Function(id)) => Tables::function_address(id.0),
                _ => 0,
            }
        });
        let words = [0, 0, 1].into_iter().chain(functions);
        words.flat_map(u64::to_le_bytes).collect()
    }
}
