//! All sources of a program, compiled and linked.

use super::{Project, database::Command, missing};
use crate::compile::{self, CompileError, Compiled, Unit};
use crate::supervise::Job;
use memchr::memmem;
use raddle_ir::{LinkInput, LinkSymbols, link_modules, link_symbols};
use raddle_program::models;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A whole program.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) ir: Arc<str>,
    /// The sources in it.
    pub(crate) units: Vec<Unit>,
    /// Sources that were compiled to look for definitions, and have none that is needed.
    pub(crate) not_needed: Vec<PathBuf>,
    /// Sources that may have such definitions and do not compile.
    pub(crate) broken: Vec<PathBuf>,
    /// How many sources there were to look at.
    pub(crate) known: usize,
}

/// A source that has been compiled.
struct Member {
    unit: Unit,
    ir: String,
    symbols: LinkSymbols,
}

pub(super) fn gather(project: &Project, job: &Job) -> Result<Gathered, CompileError> {
    if let Some(rust) = project.units.iter().find(|unit| is_rust(unit))
        && project.units.len() > 1
    {
        let file = rust.file.clone();
        return Err(CompileError::RustAmongOthers { file });
    }
    // One source alone need not be looked into.
    if let ([unit], None) = (&project.units[..], &project.database) {
        let compiled = with_bodies(unit, project, job)?;
        compile::tell(&compiled.messages);
        return Ok(Gathered {
            ir: compiled.ir.into(),
            units: vec![unit.clone()],
            not_needed: Vec::new(),
            broken: Vec::new(),
            known: 1,
        });
    }
    let mut members = Vec::new();
    for compiled in in_parallel(&project.units, project, job) {
        let (member, messages) = compiled?;
        compile::tell(&messages);
        members.push(member);
    }
    let mut search = Search::new(project);
    search.complete(&mut members, job)?;
    let names: Vec<String> = (members.iter())
        .map(|member| member.unit.file.display().to_string())
        .collect();
    let inputs: Vec<LinkInput<'_>> = members
        .iter()
        .zip(&names)
        .map(|(member, name)| LinkInput {
            name,
            text: &member.ir,
        })
        .collect();
    let ir = link_modules(&inputs)?;
    Ok(Gathered {
        ir: ir.into(),
        units: members.into_iter().map(|member| member.unit).collect(),
        not_needed: search.not_needed,
        broken: search.broken,
        known: project.units.len().max(search.known),
    })
}

fn is_rust(unit: &Unit) -> bool {
    compile::language(&unit.file) == "Rust"
}

/// Looks for definitions among the sources of a database.
struct Search<'a> {
    project: &'a Project,
    known: usize,
    /// Sources that have not been compiled, with their texts.
    left: Vec<(&'a Command, Vec<u8>)>,
    /// Those that have, and were not needed so far.
    spare: Vec<Member>,
    not_needed: Vec<PathBuf>,
    broken: Vec<PathBuf>,
}

impl<'a> Search<'a> {
    fn new(project: &'a Project) -> Self {
        let commands = project.database.iter().flat_map(|it| &it.commands);
        let mut left: Vec<(&Command, Vec<u8>)> = Vec::new();
        for command in commands {
            let is_linked = project
                .units
                .iter()
                .any(|unit| super::database::normal(&unit.path()) == command.path);
            // A source may be part of several targets.
            let is_known = left.iter().any(|(other, _)| other.path == command.path);
            if !is_linked && !is_known {
                // What cannot be read has no definitions.
                left.push((command, std::fs::read(&command.path).unwrap_or_default()));
            }
        }
        Self {
            project,
            known: left.len() + project.units.len(),
            left,
            spare: Vec::new(),
            not_needed: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// Adds sources until nothing more is found.
    fn complete(&mut self, members: &mut Vec<Member>, job: &Job) -> Result<(), CompileError> {
        loop {
            let symbols: Vec<LinkSymbols> = members
                .iter()
                .map(|member| member.symbols.clone())
                .collect();
            let missing: Vec<&str> = missing(&symbols)
                .into_iter()
                .filter(|name| models::lookup_function(name).is_none())
                .collect();
            self.compile_candidates(&missing, job)?;
            let entry = self.project.entry();
            let is_wanted = |member: &Member| {
                let defines = |name: &str| member.symbols.defined.iter().any(|it| **it == *name);
                missing.iter().any(|name| defines(name)) && !defines(entry)
            };
            // One at a time: it may define what another one does.
            let Some(at) = self.spare.iter().position(is_wanted) else {
                break;
            };
            members.push(self.spare.remove(at));
        }
        self.not_needed = (self.spare.drain(..))
            .map(|member| member.unit.file)
            .collect();
        Ok(())
    }

    /// Compiles what may define one of the names: its text has the name.
    fn compile_candidates(&mut self, missing: &[&str], job: &Job) -> Result<(), CompileError> {
        let words: Vec<&str> = missing.iter().map(|name| source_name(name)).collect();
        let is_candidate = |text: &[u8]| words.iter().any(|word| seems_to_define(text, word));
        let (candidates, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.left)
            .into_iter()
            .partition(|(_, text)| is_candidate(text));
        self.left = left;
        let units: Vec<Unit> = (candidates.iter())
            .map(|(command, _)| {
                let mut unit = command.unit.clone();
                (unit.args).extend(self.project.clang_args.iter().cloned());
                unit
            })
            .collect();
        for (compiled, unit) in in_parallel(&units, self.project, job)
            .into_iter()
            .zip(&units)
        {
            match compiled {
                Ok((member, _)) => self.spare.push(member),
                Err(error) if job.watch.is_raised() => return Err(error),
                // Nobody knows whether it is needed.
                Err(_) => self.broken.push(unit.file.clone()),
            }
        }
        Ok(())
    }
}

/// Compiles all, as many at a time as there are processors.
fn in_parallel(
    units: &[Unit],
    project: &Project,
    job: &Job,
) -> Vec<Result<(Member, Vec<u8>), CompileError>> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(unit) = units.get(at) else {
                return done;
            };
            done.push((at, compiled(unit, project, job)));
        }
    };
    let mut all = Vec::new();
    thread::scope(|scope| {
        let others: Vec<_> = (1..workers.min(units.len()))
            .map(|_| scope.spawn(work))
            .collect();
        all.extend(work());
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

fn compiled(unit: &Unit, project: &Project, job: &Job) -> Result<(Member, Vec<u8>), CompileError> {
    let is_inline = |text: Vec<u8>| words(&text, "inline").next().is_some();
    let compiled = match std::fs::read(unit.path()).is_ok_and(is_inline) {
        true => with_bodies(unit, project, job)?,
        false => compile::to_ir(unit, project.cache.as_ref(), job)?,
    };
    let name = unit.file.display().to_string();
    let symbols = link_symbols(&compiled.ir, &name).map_err(raddle_ir::LinkError::Unreadable)?;
    let member = Member {
        unit: unit.clone(),
        ir: compiled.ir,
        symbols,
    };
    Ok((member, compiled.messages))
}

/// Compiles a source. Where C leaves the body of an inline function to another source, and nobody knows that function, its own body is taken.
fn with_bodies(unit: &Unit, project: &Project, job: &Job) -> Result<Compiled, CompileError> {
    let compiled = compile::to_ir(unit, project.cache.as_ref(), job)?;
    if compile::is_ir(&unit.file) || compile::language(&unit.file) != "C" || unit.is_cxx {
        return Ok(compiled);
    }
    let unknown = unknown_functions(&compiled.ir);
    if unknown.is_empty() {
        return Ok(compiled);
    }
    let again = Unit {
        inline_bodies: true,
        ..unit.clone()
    };
    let Ok(with_bodies) = compile::to_ir(&again, project.cache.as_ref(), job) else {
        return Ok(compiled);
    };
    match unknown_functions(&with_bodies.ir).len() < unknown.len() {
        true => Ok(Compiled {
            messages: compiled.messages,
            ..with_bodies
        }),
        false => Ok(compiled),
    }
}

/// Functions that the module needs and no model knows.
fn unknown_functions(ir: &str) -> Vec<Box<str>> {
    let Ok(mut symbols) = link_symbols(ir, "LLVM IR") else {
        return Vec::new();
    };
    // Of library variables, too, there are declarations.
    let is_function = |name: &str| {
        let called = format!("@{name}(");
        let mut lines = ir.lines().filter(|line| line.starts_with("declare "));
        lines.any(|line| line.contains(&called))
    };
    let is_unknown = |name: &str| models::lookup_function(name).is_none() && is_function(name);
    symbols.needed.retain(|name| is_unknown(name));
    symbols.needed
}

/// Has the text the word as a whole? A definition has it, unless a macro makes its name.
fn seems_to_define(text: &[u8], word: &str) -> bool {
    words(text, word).next().is_some()
}

/// The same for a function: parameters follow, and behind them a body.
pub(super) fn seems_to_define_function(text: &[u8], word: &str) -> bool {
    words(text, word).any(|at| {
        let rest = text[at + word.len()..].trim_ascii_start();
        let params = rest
            .strip_prefix(b"(")
            .and_then(|rest| rest.split(|&it| it == b')').nth(1));
        params.is_some_and(|behind| behind.trim_ascii_start().starts_with(b"{"))
    })
}

/// Where the text has the word, not as part of a longer one.
fn words<'t>(text: &'t [u8], word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part =
        |byte: Option<&u8>| byte.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    memmem::find_iter(text, word).filter(move |&at| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        !is_part(before) && !is_part(text.get(at + word.len()))
    })
}

/// The last part of what the source calls a symbol: `g` of `_ZN1f1gEi`.
fn source_name(symbol: &str) -> &str {
    let Some(mangled) = symbol.strip_prefix("_Z") else {
        return symbol;
    };
    // Qualifiers of the function, and namespace std.
    let tables = ["TV", "TI", "TS", "TT", "GV"];
    let table = tables.iter().find_map(|it| mangled.strip_prefix(it));
    let mangled = table.unwrap_or(mangled);
    let mut rest = mangled.strip_prefix('N').unwrap_or(mangled);
    rest = rest.trim_start_matches(['K', 'V', 'R', 'O']);
    rest = rest.strip_prefix("St").unwrap_or(rest);
    let mut last = symbol;
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Some(length) = rest[..digits].parse::<usize>().ok() else {
            return last;
        };
        let Some(name) = rest.get(digits..digits + length) else {
            return last;
        };
        last = name;
        rest = &rest[digits + length..];
    }
}

/// What was looked at for definitions, in words.
pub(crate) fn looked_at(gathered: &Gathered, build: Option<&Path>) -> String {
    let names = |files: &mut dyn Iterator<Item = &PathBuf>| {
        let names: Vec<String> = files.map(|file| file.display().to_string()).collect();
        names.join(", ")
    };
    let linked = names(&mut gathered.units.iter().map(|unit| &unit.file));
    let mut text = format!("definitions were looked for in {linked}");
    if let Some(build) = build {
        let sources = gathered.known;
        text += &format!(
            "; of the {sources} sources known from {}, ",
            build.display()
        );
        text += &match gathered.not_needed.is_empty() {
            true => "no other has the name in it".to_owned(),
            false => format!(
                "{} have the name and do not define it",
                names(&mut gathered.not_needed.iter())
            ),
        };
    }
    if !gathered.broken.is_empty() {
        let broken = names(&mut gathered.broken.iter());
        text += &format!("; {broken}: does not compile, so nobody knows");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_as_the_source_has_them() {
        assert_eq!(source_name("queue_push"), "queue_push");
        assert_eq!(source_name("_Z3fooi"), "foo");
        assert_eq!(source_name("_ZN5queue4pushEi"), "push");
        assert_eq!(source_name("_ZNK5queue5emptyEv"), "empty");
        assert_eq!(source_name("_ZN3FooC1Ev"), "Foo");
        assert_eq!(source_name("_ZTV3Foo"), "Foo");
        assert!(seems_to_define(b"int push(int x) {", "push"));
        assert!(!seems_to_define(b"int push_all(int x) {", "push"));
        assert!(!seems_to_define(b"", "push"));
        assert!(seems_to_define_function(b"int main(void)\n{", "main"));
        assert!(!seems_to_define_function(b"// see main()\nint x;", "main"));
    }
}
