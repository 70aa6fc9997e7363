//! What was found out about a program's threads, in the order in which it was.
//!
//! Whoever has the same program, in another thread, process or machine, can find out the same without searching: a thread is a function of the
//! values that its operations returned, so the edges that were walked are all that there is to tell. Ids of states in a journal are those of
//! the program that it is of; [`Program::absorb`] translates them.

use crate::automaton::Program;
use crate::ids::StateId;
use crate::op::{Op, Value};
use crate::uses::Kinds;
use rustc_hash::FxHashMap;

/// One thing that was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// `main` starts here.
    Start { kinds: Kinds, to: StateId },
    /// An edge was walked for the first time.
    Edge {
        from: StateId,
        value: Value,
        to: StateId,
    },
    /// The operation of the state of the entry before starts a thread, here.
    Child { start: StateId },
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    pub entries: Vec<Entry>,
    /// So many entries were there when [`Program::learn_uses`] was called for the last time, and whether races were minded.
    pub learned: Option<(usize, bool)>,
}

/// A journal that is not of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign;

impl Program {
    /// Walks every edge that another program, made of the same module in the same way, has walked. What was *learned* there is not learned here.
    pub fn absorb(&mut self, journal: &Journal) -> Result<(), Foreign> {
        self.follow(&journal.entries, &mut FxHashMap::default())
    }

    /// Brings a program that has done nothing yet to where the program of the journal is, with what that has learned.
    pub fn retrace(&mut self, journal: &Journal) -> Result<(), Foreign> {
        let mut states = FxHashMap::default();
        let (learned, minds_races) = journal.learned.unwrap_or((0, false));
        let (before, since) = (journal.entries).split_at_checked(learned).ok_or(Foreign)?;
        self.follow(before, &mut states)?;
        if journal.learned.is_some() {
            self.learn_uses(minds_races);
        }
        self.follow(since, &mut states)
    }

    fn follow(
        &mut self,
        entries: &[Entry],
        states: &mut FxHashMap<StateId, StateId>,
    ) -> Result<(), Foreign> {
        let mut last = self.main();
        for entry in entries {
            match *entry {
                Entry::Start { kinds, to } => {
                    if kinds == Kinds::Read {
                        self.read_kinds();
                    }
                    last = self.main();
                    states.insert(to, last);
                }
                Entry::Edge { from, value, to } => {
                    let &here = states.get(&from).ok_or(Foreign)?;
                    if self.op(here).is_terminal() {
                        return Err(Foreign);
                    }
                    last = self.after(here, value);
                    states.insert(to, last);
                }
                Entry::Child { start } => {
                    let Op::Spawn { start: here, .. } = *self.op(last) else {
                        return Err(Foreign);
                    };
                    states.insert(start, here);
                    last = here;
                }
            }
        }
        Ok(())
    }
}
