//! What private variables hold in vain: bytes that nobody reads before they are written ([`raddle_ir::passes::stack`]). They become what they were when the variable was made, so
//! that they do not tell states apart.

use super::code::{Code, Moment};
use super::machine::Machine;
use std::rc::Rc;

impl Machine<'_> {
    /// Forgets what the variables of a frame hold in vain: of the one on top, whose private blocks begin at `base`.
    pub(crate) fn forget_dead(&mut self, code: &Code, base: u32, moment: Moment) {
        let Some(dead) = code.dead(&self.world.module, moment) else {
            return;
        };
        let minds_unwritten = self.world.options.check_uninit;
        let mut blocks = self.state.private.iter_mut().skip(base as usize);
        for variable in dead.iter() {
            // Both are in the order in which the variables are made. Some may not have been made yet.
            let origin = Some((code.function, variable.alloca));
            let Some(block) = blocks.find(|block| block.origin == origin) else {
                return;
            };
            for range in &variable.bytes {
                let bytes = range.clone();
                if block.bytes[bytes.clone()].iter().any(|&byte| byte != 0) {
                    Rc::make_mut(&mut block.bytes)[bytes.clone()].fill(0);
                }
                if minds_unwritten && !block.unwritten.covers(bytes.clone()) {
                    let size = block.bytes.len();
                    block.unwritten.forget(bytes, size);
                }
            }
        }
    }
}
