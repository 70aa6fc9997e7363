//! Statements to flat code, and which registers are live where.

use super::code::{ALLOCATIONS, ARGUMENT, Action, Code, SPAWNS, Stmt, StmtKind, SyncStep, Target};
use super::expr::{Expr, Reg};
use super::{Source, ThreadDef};
use raddle_program::fault::Stop;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(super) enum Inst {
    Set(Reg, Expr),
    Jump(usize),
    JumpIfZero(Expr, usize),
    Do { dest: Option<Reg>, action: Action },
    Assume(Expr),
    Assert { cond: Expr, text: Rc<str> },
    Exit(Expr),
    ExitProcess(i32),
    Stop(Stop),
}

/// Flat code. The last instruction never falls through.
#[derive(Debug)]
pub(super) struct FlatCode {
    pub(super) name: Rc<str>,
    pub(super) registers: usize,
    pub(super) insts: Vec<Inst>,
    pub(super) lines: Vec<u32>,
    /// For each visible operation the registers that its local state keeps, ascending: those read after it (its own
    /// result excepted). What it reads itself is in the resolved operation, save for a spawn's argument.
    pub(super) kept: Vec<Box<[Reg]>>,
    /// For each instruction: is the register that it defines dead at once?
    pub(super) ignored: Vec<bool>,
}

#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) codes: Vec<FlatCode>,
    pub(super) main: ThreadDef,
}

pub(super) fn compile(source: &Source) -> Compiled {
    Compiled {
        codes: source.codes.iter().map(flatten).collect(),
        main: source.main,
    }
}

struct Flattener {
    insts: Vec<Inst>,
    lines: Vec<u32>,
    /// Jumps out of each open loop, to be aimed at its end.
    breaks: Vec<Vec<usize>>,
}

fn flatten(code: &Code) -> FlatCode {
    let mut flat = Flattener {
        insts: Vec::new(),
        lines: Vec::new(),
        breaks: Vec::new(),
    };
    flat.block(&code.body);
    let last = flat.lines.last().copied().unwrap_or(0);
    flat.emit(last, Inst::Exit(Expr::Const(0)));
    let registers = code.registers as usize;
    let (kept, ignored) = liveness(&flat.insts, registers);
    FlatCode {
        name: code.name.clone(),
        registers,
        insts: flat.insts,
        lines: flat.lines,
        kept,
        ignored,
    }
}

impl Flattener {
    fn emit(&mut self, line: u32, inst: Inst) -> usize {
        self.insts.push(inst);
        self.lines.push(line);
        self.insts.len() - 1
    }

    fn aim(&mut self, jump: usize) {
        let here = self.insts.len();
        match &mut self.insts[jump] {
            Inst::Jump(target) | Inst::JumpIfZero(_, target) => *target = here,
            _ => {}
        }
    }

    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let line = stmt.line;
        match &stmt.kind {
            StmtKind::Set(reg, value) => {
                self.emit(line, Inst::Set(*reg, value.clone()));
            }
            StmtKind::Do { dest, action } => {
                let (dest, action) = (*dest, action.clone());
                self.emit(line, Inst::Do { dest, action });
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                let skip = self.emit(line, Inst::JumpIfZero(cond.clone(), 0));
                self.block(then);
                if otherwise.is_empty() {
                    self.aim(skip);
                } else {
                    let end = self.emit(line, Inst::Jump(0));
                    self.aim(skip);
                    self.block(otherwise);
                    self.aim(end);
                }
            }
            StmtKind::Loop(body) => {
                let start = self.insts.len();
                self.breaks.push(Vec::new());
                self.block(body);
                self.emit(line, Inst::Jump(start));
                for jump in self.breaks.pop().unwrap_or_default() {
                    self.aim(jump);
                }
            }
            StmtKind::Break => {
                let jump = self.emit(line, Inst::Jump(0));
                if let Some(breaks) = self.breaks.last_mut() {
                    breaks.push(jump);
                }
            }
            StmtKind::Assume(cond) => {
                self.emit(line, Inst::Assume(cond.clone()));
            }
            StmtKind::Assert { cond, text } => {
                let (cond, text) = (cond.clone(), text.clone());
                self.emit(line, Inst::Assert { cond, text });
            }
            StmtKind::Exit(value) => {
                self.emit(line, Inst::Exit(value.clone()));
            }
            StmtKind::ExitProcess(code) => {
                self.emit(line, Inst::ExitProcess(*code));
            }
            StmtKind::Stop(stop) => {
                self.emit(line, Inst::Stop(stop.clone()));
            }
        }
    }
}

fn target_uses(target: &Target, f: &mut dyn FnMut(Reg)) {
    match target {
        Target::Place(_) => {}
        Target::Indexed { offset: expr, .. } | Target::Pointer { address: expr, .. } => {
            expr.for_each_reg(f);
        }
    }
}

fn action_uses(action: &Action, f: &mut dyn FnMut(Reg)) {
    match action {
        Action::Load { from, .. } => target_uses(from, f),
        Action::Store { to, value, .. } => {
            target_uses(to, f);
            value.for_each_reg(f);
        }
        Action::Rmw { on, operand, .. } => {
            target_uses(on, f);
            operand.for_each_reg(f);
        }
        Action::Cas {
            on, expected, new, ..
        } => {
            target_uses(on, f);
            expected.for_each_reg(f);
            new.for_each_reg(f);
        }
        Action::Sync { step, .. } => {
            if let SyncStep::BarrierAwait(generation) = step {
                generation.for_each_reg(f);
            }
        }
        Action::Spawn { argument, .. } => {
            argument.for_each_reg(f);
            f(SPAWNS);
        }
        Action::Alloc { .. } => f(ALLOCATIONS),
        Action::Join(expr) | Action::Detach(expr) | Action::Free(expr) => expr.for_each_reg(f),
        Action::Fence(_) | Action::Choice(_) | Action::AtomicBegin | Action::AtomicEnd => {}
    }
}

impl Inst {
    fn uses(&self, f: &mut dyn FnMut(Reg)) {
        match self {
            Self::Set(_, expr)
            | Self::JumpIfZero(expr, _)
            | Self::Assume(expr)
            | Self::Assert { cond: expr, .. }
            | Self::Exit(expr) => expr.for_each_reg(f),
            Self::Do { action, .. } => action_uses(action, f),
            Self::Jump(_) | Self::ExitProcess(_) | Self::Stop(_) => {}
        }
    }

    fn defines(&self) -> Option<Reg> {
        match self {
            Self::Set(reg, _) => Some(*reg),
            Self::Do { dest, .. } => *dest,
            _ => None,
        }
    }

    /// Calls `f` with each instruction that may come next.
    fn successors(&self, at: usize, mut f: impl FnMut(usize)) {
        match self {
            Self::Jump(target) => f(*target),
            Self::JumpIfZero(_, target) => {
                f(at + 1);
                f(*target);
            }
            Self::Exit(_) | Self::ExitProcess(_) | Self::Stop(_) => {}
            _ => f(at + 1),
        }
    }
}

/// For each instruction the registers live after it, without the one it defines, and whether that one is dead. The counters of spawns and allocations
/// are updated in place, so a use keeps them live before *and* they stay live only if another use follows.
fn liveness(insts: &[Inst], registers: usize) -> (Vec<Box<[Reg]>>, Vec<bool>) {
    let mut live_in = vec![vec![false; registers]; insts.len() + 1];
    let live_out = |live_in: &[Vec<bool>], at: usize| {
        let mut out = vec![false; registers];
        insts[at].successors(at, |next| {
            for (reg, live) in live_in[next].iter().enumerate() {
                out[reg] |= live;
            }
        });
        out
    };
    loop {
        let mut changed = false;
        for at in (0..insts.len()).rev() {
            let mut live = live_out(&live_in, at);
            if let Some(reg) = insts[at].defines() {
                live[reg.index()] = false;
            }
            insts[at].uses(&mut |reg| live[reg.index()] = true);
            if live != live_in[at] {
                live_in[at] = live;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    (0..insts.len())
        .map(|at| {
            let mut live = live_out(&live_in, at);
            let mut ignored = true;
            if let Some(reg) = insts[at].defines() {
                ignored = !std::mem::take(&mut live[reg.index()]);
            }
            if let Inst::Do {
                action: Action::Spawn { argument, .. },
                ..
            } = &insts[at]
            {
                argument.for_each_reg(&mut |reg| live[reg.index()] = true);
            }
            let kept = (0..registers as u32)
                .map(Reg)
                .filter(|reg| live[reg.index()])
                .collect();
            (kept, ignored)
        })
        .unzip()
}

/// A thread starts with all registers 0 but its argument.
pub(super) fn initial_registers(code: &FlatCode, argument: u64) -> Vec<u64> {
    let mut regs = vec![0; code.registers];
    regs[ARGUMENT.index()] = argument;
    regs
}
