//! What of the user's code was run, found out when it is asked for: the interpreter only marks how far it came in each block.

use super::assertion::is_assertion;
use super::code::Code;
use super::world::{Callee, World};
use crate::coverage::{AssertSite, CodeCoverage, NamedPlace};
use crate::ids::SrcId;
use crate::tables::{Tables, is_library_file};
use raddle_ir::inst::Call;
use raddle_ir::{BlockId, Body, Constant, DebugLocId, FuncId, InstKind, Operand, Terminator};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What was run; none if nothing says which code is the user's.
pub(super) fn coverage(world: &mut World, tables: &mut Tables) -> Option<CodeCoverage> {
    let functions: Vec<FuncId> = (0..world.module.functions.len())
        .map(FuncId::from_index)
        .filter(|&id| is_users(world, id))
        .collect();
    if functions.is_empty() {
        return None;
    }
    let mut found = Found::default();
    for function in functions {
        let code = world.cached_code(function).map(Rc::clone);
        let at = world.source(tables, function, None);
        let body = match &code {
            Some(code) => {
                found.called.insert(at);
                Rc::clone(&code.body)
            }
            None => {
                let name = (*world.function_display_name(function)).into();
                found.functions.push(NamedPlace { name, at });
                match world.bodies.get(&mut world.module, function) {
                    Ok(body) => body,
                    Err(_) => continue,
                }
            }
        };
        let walk = Walk {
            function,
            body: &body,
            code: code.as_deref(),
        };
        walk.lines(world, tables, &mut found);
        walk.asserts(world, tables, &mut found);
    }
    Some(found.sorted(tables))
}

/// Is it a function that the user wrote, and whose body counts?
fn is_users(world: &mut World, id: FuncId) -> bool {
    let function = world.module.function(id);
    let is_users = |file: &str| !file.is_empty() && !is_library_file(file);
    let at = function.defined_at.as_ref();
    at.is_some_and(|at| is_users(&at.file)) && world.callee(id) == Callee::Defined
}

/// A line of a file.
type Line = (Rc<str>, u32);

#[derive(Default)]
struct Found {
    /// A position in each line, and whether it was run.
    lines: FxHashMap<Line, (SrcId, bool)>,
    /// By line and column: templates and generic functions have one for each instance.
    asserts: FxHashMap<(Line, u32), (SrcId, bool)>,
    /// Those that were not called, and where those are that were: generic functions have one for each instance.
    functions: Vec<NamedPlace>,
    called: FxHashSet<SrcId>,
    calls: FxHashMap<(Rc<str>, Line), SrcId>,
}

impl Found {
    fn sorted(self, tables: &Tables) -> CodeCoverage {
        let key = |at: SrcId| {
            let loc = tables.source_loc(at);
            loc.map(|loc| (Rc::clone(&loc.file), loc.line, loc.column))
        };
        let mut asserts: Vec<AssertSite> = self
            .asserts
            .into_values()
            .map(|(at, reached)| AssertSite { at, reached })
            .collect();
        asserts.sort_by_cached_key(|site| key(site.at));
        let lines = self.lines.into_values();
        let mut unreached_lines: Vec<SrcId> = lines
            .filter(|&(_, reached)| !reached)
            .map(|(at, _)| at)
            .collect();
        unreached_lines.sort_by_cached_key(|&at| key(at));
        let calls = self.calls.into_iter();
        let mut unknown_calls: Vec<NamedPlace> = calls
            .map(|((name, _), at)| NamedPlace {
                name: (*name).into(),
                at,
            })
            .collect();
        unknown_calls.sort_by_cached_key(|call| (key(call.at), call.name.clone()));
        let mut unreached_functions = self.functions;
        unreached_functions.retain(|function| !self.called.contains(&function.at));
        unreached_functions.sort_by_cached_key(|function| key(function.at));
        unreached_functions.dedup();
        CodeCoverage {
            asserts,
            unreached_functions,
            unreached_lines,
            unknown_calls,
        }
    }
}

/// One function that is looked at.
struct Walk<'a> {
    function: FuncId,
    body: &'a Body,
    /// None if it was never called.
    code: Option<&'a Code>,
}

impl Walk<'_> {
    /// Was the instruction (or the terminator) run?
    fn was_run(&self, block: usize, index: usize) -> bool {
        self.code
            .is_some_and(|code| code.run_of(block) as usize > index)
    }

    /// The position in the user's code, if there is one with a line.
    fn place(
        &self,
        world: &mut World,
        tables: &mut Tables,
        loc: Option<DebugLocId>,
    ) -> Option<(SrcId, Line, u32)> {
        let at = world.source(tables, self.function, Some(loc?));
        let at = tables.user_source(at)?;
        let loc = tables.source_loc(at).filter(|loc| loc.line != 0)?;
        Some((at, (Rc::clone(&loc.file), loc.line), loc.column))
    }

    fn lines(&self, world: &mut World, tables: &mut Tables, found: &mut Found) {
        for (number, block) in self.body.blocks.iter().enumerate() {
            let insts = block
                .insts
                .iter()
                .map(|inst| (inst.loc, call_of(&inst.kind)));
            let invoked = match &block.terminator {
                Terminator::Invoke { call, .. } => Some(call),
                _ => None,
            };
            let all = insts.chain([(block.terminator_loc, invoked)]);
            for (index, (loc, call)) in all.enumerate() {
                let Some((at, line, _)) = self.place(world, tables, loc) else {
                    continue;
                };
                let run = self.was_run(number, index);
                if !run && let Some(name) = call.and_then(|call| unknown(world, call)) {
                    found.calls.entry((name, line.clone())).or_insert(at);
                }
                let known = found.lines.entry(line).or_insert((at, false));
                known.1 |= run;
            }
        }
    }

    /// The asserts: calls of functions that say that one failed, which a decision leads to. It is reached if an execution came
    /// to that decision. Where none does (a function that only says so itself), its callers are looked at.
    fn asserts(&self, world: &mut World, tables: &mut Tables, found: &mut Found) {
        let mut sites = Vec::new();
        for (number, block) in self.body.blocks.iter().enumerate() {
            let calls = block.insts.iter().enumerate();
            let calls =
                calls.filter_map(|(index, inst)| Some((index, inst.loc, call_of(&inst.kind)?)));
            let invoked = match &block.terminator {
                Terminator::Invoke { call, .. } => {
                    Some((block.insts.len(), block.terminator_loc, call))
                }
                _ => None,
            };
            for (index, loc, call) in calls.chain(invoked) {
                if says_failed(world, call) {
                    sites.push((number, index, loc));
                }
            }
        }
        if sites.is_empty() {
            return;
        }
        let predecessors = predecessors(self.body);
        for (block, index, loc) in sites {
            let mut decisions = decisions(self.body, &predecessors, block);
            let Some((at, line, column)) = self.place(world, tables, loc) else {
                continue;
            };
            if decisions.is_empty() {
                continue;
            }
            // `a || b` is decided by `a` alone if that holds: all of what a macro makes has its place.
            let mut next = 0;
            while let Some(&decision) = decisions.get(next) {
                next += 1;
                for &before in &predecessors[decision] {
                    let loc = self.body.blocks[before].terminator_loc;
                    let place = self.place(world, tables, loc);
                    let is_part = place.is_some_and(|(_, l, c)| l == line && c == column);
                    if is_part && !decisions.contains(&before) {
                        decisions.push(before);
                    }
                }
            }
            let decided = |&block: &usize| self.was_run(block, self.body.blocks[block].insts.len());
            let reached = self.was_run(block, index) || decisions.iter().any(decided);
            let known = found.asserts.entry((line, column)).or_insert((at, false));
            known.1 |= reached;
        }
    }
}

fn call_of(kind: &InstKind) -> Option<&Call> {
    match kind {
        InstKind::Call(call) => Some(call),
        _ => None,
    }
}

fn callee(world: &World, call: &Call) -> Option<FuncId> {
    let Operand::Const(id) = call.callee else {
        return None;
    };
    match world.module.constant(id) {
        Constant::Function(function) => Some(*function),
        _ => None,
    }
}

/// The name of the function, if nobody knows what it does.
fn unknown(world: &mut World, call: &Call) -> Option<Rc<str>> {
    let function = callee(world, call)?;
    let is_unknown = world.callee(function) == Callee::Unknown;
    let name = &*world.module.function(function).name;
    // What compilers call by themselves, users cannot define.
    (is_unknown && !name.starts_with("__cxa_")).then(|| Rc::from(name))
}

/// Is it a call by which a failed assertion is told? Panics of Rust that the language itself sees to (an index that is out of
/// bounds) are no assertions.
fn says_failed(world: &World, call: &Call) -> bool {
    let Some(function) = callee(world, call) else {
        return false;
    };
    let name = &*world.module.function(function).name;
    let is_panic = |path: &str| {
        let rest = name.split_once(path).map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("17h") || rest.starts_with('B'))
    };
    is_assertion(name)
        || matches!(name, "__VERIFIER_error" | "reach_error")
        || is_panic("4core9panicking5panic")
        || is_panic("4core9panicking9panic_fmt")
        || name.contains("4core9panicking13assert_failed")
}

/// By block, where control comes from.
fn predecessors(body: &Body) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); body.blocks.len()];
    for (from, block) in body.blocks.iter().enumerate() {
        for target in block.terminator.successors() {
            if let Some(list) = all.get_mut(target.index()) {
                list.push(from);
            }
        }
    }
    all
}

/// The blocks at whose end it is decided whether control comes to `block`: the first on each way back that can go elsewhere.
fn decisions(body: &Body, predecessors: &[Vec<usize>], block: usize) -> Vec<usize> {
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    let mut open = vec![block];
    let mut decisions = Vec::new();
    while let Some(block) = open.pop() {
        for &from in &predecessors[block] {
            if !seen.insert(from) {
                continue;
            }
            match &body.blocks[from].terminator {
                Terminator::Br { .. } => open.push(from),
                Terminator::Invoke { normal, .. } if *normal == BlockId::from_index(block) => {
                    open.push(from);
                }
                _ => decisions.push(from),
            }
        }
    }
    decisions
}
