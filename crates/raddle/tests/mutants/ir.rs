//! LLVM IR as text, taken apart as far as mutations need it: functions, blocks, instructions, statements.
//!
//! Without optimisation nearly everything goes through memory, so registers live no longer than a statement of the source. A
//! *statement* here is a shortest run of instructions of a block after which none of its registers is used there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    pub(crate) items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A line outside of functions.
    Line(String),
    Function(Function),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// `define … {`
    pub(crate) header: String,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) label: String,
    /// The last one is the terminator. Each may have several lines.
    pub(crate) insts: Vec<String>,
}

/// Some instructions of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) block: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Is no register of it used elsewhere?
    pub(crate) is_closed: bool,
}

impl Module {
    /// Takes a module apart. Debug information is left out.
    pub(crate) fn parse(text: &str) -> Self {
        let mut items = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("define ") {
                let header = rename_numbers(&without_debug(line));
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
                items.push(Item::Function(Function::parse(header, &body)));
            } else if !line.is_empty() && !line.starts_with(['!', ';']) && !is_left_out(line) {
                items.push(Item::Line(without_debug(line)));
            }
        }
        Self { items }
    }

    pub(crate) fn functions(&self) -> impl Iterator<Item = &Function> {
        self.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            Item::Line(_) => None,
        })
    }

    pub(crate) fn functions_mut(&mut self) -> impl Iterator<Item = &mut Function> {
        self.items.iter_mut().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            Item::Line(_) => None,
        })
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|item| match item {
            Item::Function(_) => None,
            Item::Line(line) => Some(line.as_str()),
        })
    }

    /// Adds a declaration or a variable, unless there is something of that name.
    pub(crate) fn declare(&mut self, name: &str, line: &str) {
        let is_it = |line: &str| names(line, '@').any(|found| found == name);
        let is_there = self
            .lines()
            .any(|line| (line.starts_with("declare ") || line.starts_with('@')) && is_it(line))
            || self.functions().any(|function| function.name() == name);
        if !is_there {
            self.items.push(Item::Line(line.to_owned()));
        }
    }
}

impl Function {
    fn parse(header: String, body: &[&str]) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        let mut is_open = false;
        for line in body {
            let trimmed = line.trim();
            if trimmed.is_empty()
                || trimmed.starts_with(['#', ';'])
                || trimmed.contains("@llvm.dbg.")
            {
                continue;
            }
            if !line.starts_with(' ')
                && let Some((label, _)) = line.split_once(':')
            {
                blocks.push(Block {
                    label: rename_label(label),
                    insts: Vec::new(),
                });
                continue;
            }
            if blocks.is_empty() {
                blocks.push(Block {
                    label: "entry".to_owned(),
                    insts: Vec::new(),
                });
            }
            let insts = &mut blocks.last_mut().expect("there is one").insts;
            let line = rename_numbers(&without_debug(line));
            match insts.last_mut().filter(|_| is_open) {
                Some(last) => {
                    last.push('\n');
                    last.push_str(&line);
                    is_open = !line.trim_start().starts_with(']');
                }
                None => {
                    is_open = line.trim_start().starts_with("switch ") && line.ends_with('[');
                    insts.push(line);
                }
            }
        }
        Self { header, blocks }
    }

    pub(crate) fn name(&self) -> &str {
        names(&self.header, '@').next().unwrap_or_default()
    }

    /// The statements of all blocks; variables, φs and terminators are part of none.
    pub(crate) fn statements(&self) -> Vec<Statement> {
        // By register: the blocks and positions where it is used.
        let mut uses: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, block) in self.blocks.iter().enumerate() {
            for (index, inst) in block.insts.iter().enumerate() {
                for name in used(inst) {
                    uses.entry(name).or_default().push((at, index));
                }
            }
        }
        let mut statements = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            let last = block.insts.len().saturating_sub(1);
            let is_fixed = |inst: &String| inst.contains(" = alloca ") || inst.contains(" = phi ");
            let first = block.insts.iter().rposition(is_fixed);
            let mut start = first.map_or(0, |index| index + 1);
            for index in start..last {
                let defined: BTreeSet<&str> = block.insts[start..=index]
                    .iter()
                    .filter_map(|inst| defined(inst))
                    .collect();
                let used_at = || {
                    let used = defined.iter().filter_map(|name| uses.get(name));
                    used.flatten().copied()
                };
                if used_at().any(|(block, use_)| block == at && use_ > index && use_ < last) {
                    continue;
                }
                statements.push(Statement {
                    block: at,
                    start,
                    end: index + 1,
                    is_closed: used_at().all(|(block, use_)| block == at && use_ <= index),
                });
                start = index + 1;
            }
        }
        statements
    }
}

/// The register that an instruction defines.
pub(crate) fn defined(inst: &str) -> Option<&str> {
    let (name, _) = inst.trim_start().split_once(" = ")?;
    name.strip_prefix('%')
}

/// Registers and labels that an instruction uses.
pub(crate) fn used(inst: &str) -> impl Iterator<Item = &str> {
    let rest = match defined(inst) {
        Some(_) => inst.split_once(" = ").map_or("", |(_, rest)| rest),
        None => inst,
    };
    names(rest, '%')
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '$')
}

/// All names in a text that begin with `sign`.
pub(crate) fn names(text: &str, sign: char) -> impl Iterator<Item = &str> {
    text.match_indices(sign).filter_map(move |(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
        (end > 0).then(|| &rest[..end])
    })
}

/// Replaces registers and labels by others.
pub(crate) fn rename(inst: &str, new: &dyn Fn(&str) -> Option<String>) -> String {
    let mut renamed = String::with_capacity(inst.len());
    let mut rest = inst;
    while let Some(at) = rest.find('%') {
        let name = &rest[at + 1..];
        let end = name.find(|c| !is_name_char(c)).unwrap_or(name.len());
        renamed.push_str(&rest[..=at]);
        match new(&name[..end]) {
            Some(other) => renamed.push_str(&other),
            None => renamed.push_str(&name[..end]),
        }
        rest = &name[end..];
    }
    renamed.push_str(rest);
    renamed
}

fn rename_label(label: &str) -> String {
    match label.bytes().all(|byte| byte.is_ascii_digit()) {
        true => format!("v{label}"),
        false => label.to_owned(),
    }
}

/// Registers without a name must be numbered without gaps, so they get names.
fn rename_numbers(line: &str) -> String {
    rename(line, &|name| {
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| format!("v{name}"))
    })
}

/// Lines that say nothing about what a program does.
fn is_left_out(line: &str) -> bool {
    line.starts_with("source_filename") || line.starts_with("attributes #")
}

/// Leaves out debug information and references to attributes.
fn without_debug(line: &str) -> String {
    let mut line = line.to_owned();
    for mark in [", !dbg !", " !dbg !", ", !llvm.loop !", ", !srcloc !"] {
        while let Some(start) = line.find(mark) {
            let rest = &line[start + mark.len()..];
            let digits = rest.find(|c: char| !c.is_ascii_digit());
            let end = start + mark.len() + digits.unwrap_or(rest.len());
            line.replace_range(start..end, "");
        }
    }
    let (rest, brace) = match line.strip_suffix(" {") {
        Some(rest) if line.starts_with("define ") => (rest, " {"),
        _ => (&line[..], ""),
    };
    match rest.rsplit_once(" #") {
        Some((rest, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{rest}{brace}")
        }
        _ => line,
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for item in &self.items {
            match item {
                Item::Line(line) => writeln!(f, "{line}")?,
                Item::Function(function) => {
                    writeln!(f, "{}", function.header)?;
                    for block in &function.blocks {
                        writeln!(f, "{}:", block.label)?;
                        for inst in &block.insts {
                            writeln!(f, "{inst}")?;
                        }
                    }
                    writeln!(f, "}}")?;
                }
            }
        }
        Ok(())
    }
}
