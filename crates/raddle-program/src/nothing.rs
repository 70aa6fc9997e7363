//! The program that does nothing: for answers that were made before there was a program.

use crate::Kinds;
use crate::automaton::{Program, Semantics, Transition};
use crate::ids::{SrcId, ThreadId};
use crate::op::{Op, Value};
use crate::tables::Tables;

struct Nothing;

impl Nothing {
    fn end() -> Transition<()> {
        Transition {
            local: (),
            op: Op::Exit { value: 0 },
            at: SrcId::NOWHERE,
            output: None,
            child: None,
            entry: None,
        }
    }
}

impl Semantics for Nothing {
    type Local = ();

    fn start(&mut self, _: &mut Tables, _: Kinds) -> Transition<()> {
        Self::end()
    }

    fn resume(&mut self, _: &mut Tables, (): &(), _: Value) -> Transition<()> {
        Self::end()
    }

    fn thread(&self, (): &()) -> ThreadId {
        ThreadId::MAIN
    }

    fn bytes(&self, (): &()) -> usize {
        0
    }
}

impl Program {
    /// A `main` that ends at once.
    #[must_use]
    pub fn nothing() -> Self {
        Self::new(Nothing, Tables::new("main"))
    }
}
