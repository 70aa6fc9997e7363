//! Exceptions on their way: which frames they meet, where they land, and what becomes of the frames that they leave.
//!
//! The way itself is a model, `raddle.unwind` (see [`crate::models`]): it is the frame on top while the stack is unwound, so that
//! stack variables of the frames that are left end by visible operations, like on return.

use super::code::{Code, Point};
use super::layout::unsupported;
use super::local::{Frame, IrFrame, Link, NativeFrame};
use super::machine::{Machine, Top};
use super::undefined::Mask;
use crate::fault::Stop;
use crate::ids::ObjectId;
use crate::models::{self, Access};
use crate::names;
use raddle_ir::inst::Clause;
use raddle_ir::passes::intrinsics;
use raddle_ir::{BlockId, ConstId, Constant, InstKind, Operand, Terminator};
use std::rc::Rc;

/// What clang calls for an exception that may go no further.
const CLANG_TERMINATE: &str = "__clang_call_terminate";

/// The same of rustc: functions of `core::panicking`.
const RUST_TERMINATE: [&str; 2] = [
    "9panicking16panic_in_cleanup",
    "9panicking19panic_cannot_unwind",
];

/// Where an exception may land in a frame.
pub(crate) struct Pad {
    pub(crate) block: BlockId,
    pub(crate) cleanup: bool,
    pub(crate) clauses: Vec<Clause>,
    /// Does the block do nothing but call `std::terminate`? The function may not be left by an exception then.
    pub(crate) terminates: bool,
}

/// A frame that an exception meets.
pub(crate) enum Met {
    Code {
        pad: Option<Pad>,
        /// Variables to free when it is left, first one first.
        owned: Vec<ObjectId>,
        /// Does an atomic block end with it?
        atomic: bool,
    },
    Model(NativeFrame),
}

impl Machine<'_> {
    /// The frames that an exception meets on its way, innermost first; all of them are below the model on top.
    pub(crate) fn frames_below(&self) -> impl Iterator<Item = Rc<Link>> + use<> {
        std::iter::successors(self.state.callers.clone(), |link| link.below.clone())
    }

    /// What an exception finds in a frame.
    pub(crate) fn met(&mut self, link: &Link) -> Result<Option<Met>, Stop> {
        Ok(match &link.frame {
            Frame::Ir(frame) => {
                let pad = self.pad(frame)?;
                Some(Met::Code {
                    pad,
                    owned: frame.extra.owned.iter().rev().copied().collect(),
                    atomic: frame.extra.atomic,
                })
            }
            Frame::Native(frame) => Some(Met::Model(frame.clone())),
            Frame::Finished => None,
        })
    }

    fn pad(&mut self, frame: &IrFrame) -> Result<Option<Pad>, Stop> {
        let code = self.world.code(frame.function)?;
        let block = &code.body.blocks[frame.block as usize];
        let Terminator::Invoke { unwind, .. } = &block.terminator else {
            return Ok(None);
        };
        if (frame.index as usize) < block.insts.len() {
            return Ok(None);
        }
        let target = code.body.blocks.get(unwind.index());
        let terminates = target.is_some_and(|block| {
            matches!(block.terminator, Terminator::Unreachable)
                && block.insts.iter().any(|inst| self.terminates(&inst.kind))
        });
        match target
            .and_then(|block| block.insts.first())
            .map(|inst| &inst.kind)
        {
            Some(InstKind::LandingPad {
                cleanup, clauses, ..
            }) => Ok(Some(Pad {
                block: *unwind,
                cleanup: *cleanup,
                clauses: clauses.clone(),
                terminates,
            })),
            _ => Err(unsupported("unwinding to a block without landing pad")),
        }
    }

    fn terminates(&self, inst: &InstKind) -> bool {
        let InstKind::Call(call) = inst else {
            return false;
        };
        let callee = intrinsics::called_function(&self.world.module, call.callee);
        callee.is_some_and(|id| {
            let name = &*self.world.module.function(id).name;
            name == CLANG_TERMINATE || RUST_TERMINATE.iter().any(|part| name.contains(part))
        })
    }

    /// Leaves the frame directly below the model on top: as on return, without a result.
    pub(crate) fn leave_frame_below(&mut self) {
        let Some(link) = self.state.callers.take() else {
            return;
        };
        self.state.callers.clone_from(&link.below);
        self.state.leave_frames();
        if let Frame::Ir(frame) = &link.frame {
            let base = frame.extra.private_base as usize;
            self.state.private.truncate(base);
        }
    }

    /// Ends the atomic block of a frame that is left.
    pub(crate) fn leave_atomic_frame(&mut self, atomic: bool) -> Access {
        if atomic {
            self.leave_atomic()
        } else {
            Access::Done(0)
        }
    }

    /// Goes on at the landing pad of the frame directly below.
    pub(crate) fn land(&mut self, block: BlockId, values: &[u64]) -> Result<(), Stop> {
        let Some(link) = self.state.callers.take() else {
            return Ok(());
        };
        self.state.callers.clone_from(&link.below);
        self.state.leave_frames();
        let Frame::Ir(frame) = &link.frame else {
            return Err(unsupported("a landing pad in a library function"));
        };
        let mut active = self.activate(frame, Point::After(frame.block, frame.index))?;
        active.log.clear();
        let code = Rc::clone(&active.code);
        self.top = Top::Ir(active);
        self.jump(&code, block)?;
        let pad = code.body.blocks[block.index()].insts.first();
        self.set_result(&code, pad.and_then(|pad| pad.result), values);
        self.frame().index = 1;
        Ok(())
    }

    /// Raises an exception: the model on top becomes the one that unwinds.
    pub(crate) fn raise(&mut self, args: &[u64]) {
        self.set_model("raddle.unwind", args);
    }

    /// The frame on top is this model's now.
    pub(crate) fn set_model(&mut self, name: &str, args: &[u64]) {
        self.top = Top::Native(NativeFrame {
            model: models::lookup(name).unwrap_or_default(),
            fixed: args.len() as u32,
            args: args.into(),
            ..NativeFrame::default()
        });
    }

    // ---- jumps

    /// The model on top is a call of `setjmp` with this buffer.
    pub(crate) fn note_jump_target(&mut self, buffer: u64) {
        if let Some(link) = &self.state.callers {
            self.state.jumps.insert(buffer, Rc::clone(link));
        }
    }

    /// How deep the frame lies that called `setjmp` with this buffer, if it is still there.
    pub(crate) fn jump_depth(&self, buffer: u64) -> Option<u32> {
        self.state.jumps.get(&buffer).map(|link| link.depth)
    }

    /// The frame directly below is as it was when it called `setjmp`, but for variables that it has made since.
    pub(crate) fn go_back(&mut self, buffer: u64) {
        let target = self.state.jumps.get(&buffer).cloned();
        if let Some(target) = target
            && let Some(link) = self.state.callers.take()
            && let (Frame::Ir(then), Frame::Ir(now)) = (&target.frame, &link.frame)
        {
            let extra = now.extra.clone();
            let frame = IrFrame {
                extra,
                ..then.clone()
            };
            let link = Link::new(Frame::Ir(frame), link.below.clone());
            self.state.callers = Some(Rc::new(link));
        }
    }

    /// `resume`: unwinding goes on in the frame that calls this one.
    pub(crate) fn resume_unwinding(&mut self, code: &Code, value: Operand) -> Result<(), Stop> {
        let exception = self.scalar(code, value)?;
        self.push_top()?;
        self.raise(&[exception]);
        Ok(())
    }

    /// Goes back to a model that tries to find out what a panic says, if there is one: it does without.
    pub(crate) fn gives_up_attempt(&mut self) -> bool {
        let attempt = self.frames_below().find_map(|link| match &link.frame {
            Frame::Native(frame) if models::panics::is_attempt(frame) => Some(link.depth),
            _ => None,
        });
        let Some(depth) = attempt else {
            return false;
        };
        if let Top::Ir(frame) = &self.top {
            let base = frame.extra.private_base as usize;
            self.state.private.truncate(base);
        }
        while self.state.depth() > depth {
            self.leave_frame_below();
        }
        self.return_values(&[], Mask::NONE).is_ok()
    }

    // ---- numbers of types

    /// What a landing pad and `llvm.eh.typeid.for` call a type: 0 is for cleaning up only, negative numbers are for filters.
    pub(crate) fn type_selector(type_info: u64) -> u64 {
        const ANY: u64 = i32::MAX as u64;
        if type_info == 0 {
            return ANY;
        }
        // Descriptions are global variables, which have numbers from 1 on.
        type_info >> 32 & ((1 << names::COUNTER_BITS) - 1)
    }

    /// The types in the array of a filter.
    pub(crate) fn filter_types(&mut self, filter: ConstId) -> Result<Vec<u64>, Stop> {
        match self.world.module.constant(filter).clone() {
            Constant::Aggregate(_, elements) => {
                let mut types = Vec::new();
                for element in elements {
                    types.push(self.constant(element)?.first().copied().unwrap_or(0));
                }
                Ok(types)
            }
            _ => Ok(Vec::new()),
        }
    }
}
