//! Where in the source a thread is.

use super::{Machine, Top};
use crate::ids::SrcId;
use crate::interp::code::Code;
use crate::interp::local::{Frame, Link};
use crate::models;
use crate::names;
use crate::op::Op;
use crate::tables::SourceLoc;
use raddle_ir::DebugLocId;
use std::rc::Rc;

impl Machine<'_> {
    /// The source position of the innermost interpreted frame. In a library it says who called that.
    pub(crate) fn position(&mut self) -> SrcId {
        let mut link = self.state.callers.clone();
        let own = match &self.top {
            Top::Ir(frame) => {
                let loc = debug_loc(&frame.code, frame.block, frame.index);
                self.world.source(self.tables, frame.code.function, loc)
            }
            _ => match self.next_position(&mut link) {
                Some(position) => position,
                None => return SrcId::NOWHERE,
            },
        };
        if self.tables.user_source(own).is_some() {
            return own;
        }
        while let Some(caller) = self.next_position(&mut link) {
            if self.tables.user_source(caller).is_some() {
                return self.world.called_from(self.tables, own, caller);
            }
        }
        match self.variable_that_ends() {
            Some(declaration) => self.world.called_from(self.tables, own, declaration),
            None => own,
        }
    }

    /// Where the static variable was declared whose destructor the thread is running: nobody calls that from the user's code.
    fn variable_that_ends(&mut self) -> Option<SrcId> {
        let address = *self.state.slots.get(&models::ENDING_STATIC)?;
        let mut addresses = self.world.global_addresses.iter();
        let index = addresses.position(|known| *known == Some(address))?;
        let global = self.world.module.globals.get(index)?;
        let (file, line) = global.declared_at.as_ref()?;
        let declaration = self.tables.source(SourceLoc {
            file: file.as_ref().into(),
            line: *line,
            column: 0,
            function: None,
            inlined_at: None,
        });
        let is_users = self.tables.user_source(declaration).is_some();
        is_users.then_some(declaration)
    }

    /// The source position of the first interpreted frame of a list, which is left with those below it.
    fn next_position(&mut self, link: &mut Option<Rc<Link>>) -> Option<SrcId> {
        while let Some(here) = link.take() {
            link.clone_from(&here.below);
            if let Frame::Ir(frame) = &here.frame {
                let code = Rc::clone(self.world.cached_code(frame.function)?);
                let loc = debug_loc(&code, frame.block, frame.index);
                return Some(self.world.source(self.tables, code.function, loc));
            }
        }
        None
    }

    /// Gives an atomic operation the orderings that it is to have, and remembers the first weak ones: of the user's own atomics, and of libraries.
    pub(crate) fn order(&mut self, op: &mut Op, at: SrcId) {
        if self.is_guard(op) {
            return;
        }
        let is_users = self.atomics_are_users();
        if is_users {
            self.tables.note_orderings(at, op);
            self.replace_orderings(op, at);
        }
        if op.is_weak() {
            let weak = &mut self.world.weak;
            let first = match is_users {
                true => &mut weak.user,
                false => &mut weak.library,
            };
            first.get_or_insert(at);
        }
    }

    fn replace_orderings(&self, op: &mut Op, at: SrcId) {
        let new = &self.world.options.orderings;
        if new.is_empty() {
            return;
        }
        for (of, order) in op.orderings().into_iter().flatten() {
            let site = self.tables.site_at(at, of, order);
            if let Some(&order) = site.and_then(|site| new.get(&site)) {
                op.set_ordering(of, order);
            }
        }
    }

    /// The flag by which compilers run the initialiser of a static variable once, or memory that only models know: these orderings are not the
    /// program's.
    fn is_guard(&self, op: &Op) -> bool {
        let (Op::Load { loc, .. } | Op::Store { loc, .. } | Op::Rmw { loc, .. }) = *op else {
            return false;
        };
        let object = self.tables.object_info(self.tables.loc_info(loc).object);
        object.is_guard() || names::is_queue(object.address)
    }

    /// Is the present atomic operation the user's?
    fn atomics_are_users(&self) -> bool {
        let top = match &self.top {
            Top::Ir(frame) => Some((&*frame.code, frame.block, frame.index)),
            // It is what the library would do.
            Top::Native(frame) if models::get(frame.model).is_replacement() => return false,
            _ => None,
        };
        let callers =
            std::iter::successors(self.state.callers.as_ref(), |here| here.below.as_ref());
        let callers = callers.filter_map(|here| match &here.frame {
            Frame::Ir(frame) => {
                let code = self.world.cached_code(frame.function)?;
                Some((&**code, frame.block, frame.index))
            }
            _ => None,
        });
        self.world.atomics_are_users(top.into_iter().chain(callers))
    }
}

pub(in crate::interp) fn debug_loc(code: &Code, block: u32, index: u32) -> Option<DebugLocId> {
    let block = code.body.blocks.get(block as usize)?;
    match block.insts.get(index as usize) {
        Some(inst) => inst.loc,
        None => block.terminator_loc,
    }
}
