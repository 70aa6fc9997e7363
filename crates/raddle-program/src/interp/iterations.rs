//! Bounds on loops: which iterations count, and how many there were.
//!
//! With `unroll`, every loop that is not known to be finite has a counter, which is part of the thread's local state. A counter
//! that went up with every iteration would make each iteration a new state, and hide from the engines that a thread which only waits
//! comes back to where it was. So where the engine leaves such iterations out ([`InterpOptions::leaves_out_pure_iterations`]) they are
//! not counted: iterations with operations that left memory as it was, and behind which the thread is where it was at their start.
//!
//! Loops of libraries are not counted at all ([`Unbounded::is_library`]): users bound the iterations of their own loops, and what
//! cuts a thread short inside a library (filling a table, say, before the first thread starts) cuts everything behind it.
//!
//! A loop is cut when *more* than the bound were counted. Not counting an iteration is therefore always sound: it can only make the
//! bound come later. That is why a hash of the state at the start of the iteration is good enough to compare it.
//!
//! [`InterpOptions::leaves_out_pure_iterations`]: super::InterpOptions::leaves_out_pure_iterations
//! [`Unbounded::is_library`]: super::counting::Unbounded::is_library

use super::code::{Code, Moment, Point};
use super::local::{Local, ThreadState};
use super::machine::Machine;
use crate::fault::{Limit, Stop};
use crate::op::{Op, Value};
use crate::tables::Tables;
use raddle_ir::BlockId;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// What happened in the present iteration so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Since {
    NoOperation,
    /// Operations that left memory as it was.
    OnlyReads,
    Changes,
}

/// A loop that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Iterations {
    /// Frames below the loop's.
    depth: u32,
    header: u32,
    counted: u32,
    since: Since,
    /// The local state at the start of the iteration, as a hash; 0 where all rounds count.
    start: u64,
}

/// Did an operation that returned `value` leave memory as it was, so that an engine may take it for a part of a pure iteration?
pub(super) fn leaves_memory(tables: &Tables, op: &Op, value: Value) -> bool {
    match *op {
        Op::Load { .. } | Op::Fence { .. } => true,
        Op::Rmw { .. } | Op::Cas { .. } => op.written(tables, value).is_none_or(|new| new == value),
        Op::Sync { action, .. } => action.is_try() && value != 0,
        _ => false,
    }
}

impl ThreadState {
    /// The operation at `local` returned `value`.
    pub(crate) fn note_operation(
        &mut self,
        tables: &Tables,
        local: &Local,
        value: Value,
        ignores_result: bool,
    ) {
        if self.loops.is_empty() {
            return;
        }
        // Nothing else happens while an atomic block runs: what it does in circles it does for ever.
        let is_quiet =
            !ignores_result && self.atomic_depth == 0 && leaves_memory(tables, &local.op, value);
        for iterations in &mut self.loops {
            iterations.since = match iterations.since {
                Since::Changes => Since::Changes,
                _ if is_quiet => Since::OnlyReads,
                _ => Since::Changes,
            };
        }
    }

    /// Forgets the loops of frames that are gone.
    pub(crate) fn leave_frames(&mut self) {
        if !self.loops.is_empty() {
            let depth = self.depth();
            self.loops.retain(|iterations| iterations.depth <= depth);
        }
        self.leave_rounds();
        if !self.jumps.is_empty() {
            // The frame on top is not counted.
            let depth = self.depth() + 1;
            self.jumps.retain(|_, link| link.depth <= depth);
        }
    }
}

impl Machine<'_> {
    /// Counts the iterations of loops that may be endless, where they are bounded. The φs of `target` have their values.
    pub(crate) fn count_round(
        &mut self,
        code: &Code,
        from: BlockId,
        target: BlockId,
    ) -> Result<(), Stop> {
        let Some(bound) = self.world.options.unroll else {
            return Ok(());
        };
        let depth = self.state.depth();
        if !self.state.loops.is_empty() {
            self.state.loops.retain(|iterations| {
                iterations.depth != depth
                    || code.unbounded.stays(BlockId(iterations.header), target)
            });
        }
        if !code.unbounded.headers.contains(&target) || code.unbounded.is_library(target) {
            return Ok(());
        }
        let start = self.round_start(code, target);
        let is_back = code.unbounded.back_edges.contains(&(from, target));
        let mut loops = self.state.loops.iter_mut();
        let known =
            loops.find(|iterations| iterations.depth == depth && iterations.header == target.0);
        let counted = match known {
            Some(iterations) if is_back => {
                let is_pure =
                    start != 0 && iterations.since == Since::OnlyReads && iterations.start == start;
                iterations.counted += u32::from(!is_pure);
                iterations.since = Since::NoOperation;
                iterations.start = start;
                iterations.counted
            }
            // Entered anew.
            Some(iterations) => {
                iterations.counted = 0;
                iterations.since = Since::NoOperation;
                iterations.start = start;
                0
            }
            None => {
                self.state.loops.push(Iterations {
                    depth,
                    header: target.0,
                    counted: u32::from(is_back),
                    since: Since::NoOperation,
                    start,
                });
                u32::from(is_back)
            }
        };
        if counted > bound {
            return Err(Stop::Limit(Limit::Unroll { bound }));
        }
        Ok(())
    }

    /// What the future of the thread depends on at the start of an iteration; 0 where all rounds count.
    fn round_start(&mut self, code: &Code, header: BlockId) -> u64 {
        if !self.world.options.leaves_out_pure_iterations {
            return 0;
        }
        let base = self.frame().extra.private_base;
        self.forget_dead(code, base, Moment::Before(header.0, 0));
        let mut hasher = FxHasher::default();
        let registers = code.compress(&self.frame().regs, Point::Before(header.0, 0));
        registers.hash(&mut hasher);
        let state = &self.state;
        (state.allocations, state.spawns, state.atomic_depth).hash(&mut hasher);
        state.private.hash(&mut hasher);
        state.thread_locals.hash(&mut hasher);
        state.slots.hash(&mut hasher);
        hasher.finish().max(1)
    }
}
