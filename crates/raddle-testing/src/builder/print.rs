//! Built programs as pseudo code. Line numbers are the source positions of operations.

use super::code::{Action, Code, Place, Stmt, StmtKind, SyncStep, SyncVar, Target};
use super::{BuiltProgram, Source};
use raddle_program::op::{Order, SyncAction};
use std::fmt::{self, Write};

/// Gives every statement the line that [`BuiltProgram`]'s `Display` prints it on.
pub(super) fn number_lines(source: &mut Source) {
    // One line for the title and one an object, a blank and a header before each thread.
    let mut line = 1 + source.objects.len() as u32;
    for code in &mut source.codes {
        line += 2;
        number_block(&mut code.body, &mut line);
        line += 1;
    }
}

fn number_block(body: &mut [Stmt], line: &mut u32) {
    for stmt in body {
        *line += 1;
        stmt.line = *line;
        match &mut stmt.kind {
            StmtKind::If {
                then, otherwise, ..
            } => {
                number_block(then, line);
                if !otherwise.is_empty() {
                    *line += 1;
                    number_block(otherwise, line);
                }
                *line += 1;
            }
            StmtKind::Loop(body) => {
                number_block(body, line);
                *line += 1;
            }
            _ => {}
        }
    }
}

struct Printer<'a> {
    source: &'a Source,
    out: String,
    line: u32,
}

impl Printer<'_> {
    fn line(&mut self, indent: usize, text: &str) {
        self.line += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:3} {:indent$}{text}", self.line, "");
    }

    fn code(&mut self, code: &Code) {
        self.line(0, "");
        self.line(0, &format!("thread {} {{", code.name));
        self.block(&code.body, 2);
        self.line(0, "}");
    }

    fn block(&mut self, body: &[Stmt], indent: usize) {
        for stmt in body {
            self.stmt(stmt, indent);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, indent: usize) {
        match &stmt.kind {
            StmtKind::Set(reg, value) => self.line(indent, &format!("{reg} = {value}")),
            StmtKind::Do { dest, action } => {
                let action = self.action(action);
                let text = dest.map_or(action.clone(), |dest| format!("{dest} = {action}"));
                self.line(indent, &text);
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.line(indent, &format!("if {cond} {{"));
                self.block(then, indent + 2);
                if !otherwise.is_empty() {
                    self.line(indent, "} else {");
                    self.block(otherwise, indent + 2);
                }
                self.line(indent, "}");
            }
            StmtKind::Loop(body) => {
                self.line(indent, "loop {");
                self.block(body, indent + 2);
                self.line(indent, "}");
            }
            StmtKind::Break => self.line(indent, "break"),
            StmtKind::Assume(cond) => self.line(indent, &format!("assume {cond}")),
            StmtKind::Assert { cond, .. } => self.line(indent, &format!("assert {cond}")),
            StmtKind::Exit(value) => self.line(indent, &format!("exit {value}")),
            StmtKind::Stop(stop) => self.line(indent, &format!("stop {stop:?}")),
            StmtKind::ExitProcess(code) => self.line(indent, &format!("exit process {code}")),
        }
    }

    fn object(&self, index: u32) -> &str {
        &self.source.objects[index as usize].name
    }

    fn place(&self, place: Place) -> String {
        let object = &self.source.objects[place.object.0 as usize];
        if place.offset == 0 && object.size == u64::from(place.size) {
            object.name.to_string()
        } else {
            format!("{}[{}; {}]", object.name, place.offset, place.size)
        }
    }

    fn target(&self, target: &Target) -> String {
        match target {
            Target::Place(place) => self.place(*place),
            Target::Indexed {
                object,
                offset,
                size,
            } => format!("{}[{offset}; {size}]", self.object(object.0)),
            Target::Pointer { address, size } => format!("*({address}; {size})"),
        }
    }

    fn sync(&self, var: SyncVar) -> &str {
        self.object(var.0.0)
    }

    fn action(&self, action: &Action) -> String {
        match action {
            Action::Load { from, order } => format!("load{} {}", suffix(*order), self.target(from)),
            Action::Store { to, value, order } => {
                format!("store{} {} = {value}", suffix(*order), self.target(to))
            }
            Action::Rmw {
                on,
                kind,
                operand,
                order,
            } => format!(
                "{}{} {}, {operand}",
                format!("{kind:?}").to_lowercase(),
                suffix(*order),
                self.target(on)
            ),
            Action::Cas {
                on,
                expected,
                new,
                success,
                failure,
            } => format!(
                "cas{}{} {}, {expected} -> {new}",
                suffix(*success),
                suffix(*failure),
                self.target(on)
            ),
            Action::Fence(order) => format!("fence{}", suffix(*order)),
            Action::Sync { on, step } => self.sync_step(*on, step),
            Action::Spawn { code, argument } => {
                format!("spawn {}({argument})", self.source.codes[code.index()].name)
            }
            Action::Join(handle) => format!("join {handle}"),
            Action::Detach(handle) => format!("detach {handle}"),
            Action::Alloc { size } => format!("alloc {size}"),
            Action::Free(address) => format!("free {address}"),
            Action::Choice(count) => format!("choice {count}"),
            Action::AtomicBegin => "atomic begin".into(),
            Action::AtomicEnd => "atomic end".into(),
        }
    }

    fn sync_step(&self, on: SyncVar, step: &SyncStep) -> String {
        let name = self.sync(on);
        match step {
            SyncStep::Fixed(SyncAction::Lock { .. }) => format!("lock {name}"),
            SyncStep::Fixed(SyncAction::TryLock { .. }) => format!("trylock {name}"),
            SyncStep::Fixed(SyncAction::Unlock { .. }) => format!("unlock {name}"),
            SyncStep::Fixed(action) => format!("{action:?} {name}"),
            SyncStep::CondRelease(mutex) => format!("wait {name}, releasing {}", self.sync(*mutex)),
            SyncStep::BarrierAwait(generation) => format!("barrier await {name}, {generation}"),
        }
    }
}

fn suffix(order: Order) -> &'static str {
    match order {
        Order::Plain => "",
        Order::Relaxed => ".rlx",
        Order::Acquire => ".acq",
        Order::Release => ".rel",
        Order::AcqRel => ".ar",
        Order::SeqCst => ".sc",
    }
}

impl fmt::Display for BuiltProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = &*self.source;
        let mut printer = Printer {
            source,
            out: String::new(),
            line: 0,
        };
        printer.line(0, &format!("program {}", source.name));
        for object in &source.objects {
            let init = object
                .init
                .as_ref()
                .map_or(String::new(), |bytes| format!(" = bytes {bytes:?}"));
            printer.line(0, &format!("{}: {} bytes{init}", object.name, object.size));
        }
        for code in &source.codes {
            printer.code(code);
        }
        f.write_str(&printer.out)
    }
}

impl fmt::Debug for BuiltProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
