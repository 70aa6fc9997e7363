//! What memory holds that nobody has written.
//!
//! Heap blocks and stack variables hold anything when they are made. A program holds zeros there, unless it is told otherwise: by a formula that has
//! found what goes wrong with other bytes, or by a saved execution. Then it is another program, with automata of its own
//! ([`Program::assume_first_bytes`](crate::Program::assume_first_bytes)); engines and machines do not notice.

use crate::ids::SrcId;
use crate::names::ThreadName;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Who else can see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// A heap block, or a stack variable that other threads may see.
    ByOthers,
    /// A stack variable that they cannot see.
    Privately,
}

/// Memory that a thread makes: as its how-many-th, from 1, of those that others see or that they do not see.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Made {
    pub thread: ThreadName,
    pub seen: Seen,
    pub counter: u32,
}

/// What memory holds when it is made, where that is not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstBytes(BTreeMap<Made, BTreeMap<u64, u8>>);

/// What has been given such bytes: for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub name: Rc<str>,
    /// Where it is made.
    pub at: SrcId,
    /// By offset.
    pub bytes: Vec<(u64, u8)>,
}

impl FirstBytes {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn insert(&mut self, made: Made, offset: u64, byte: u8) {
        if byte != 0 {
            self.0.entry(made).or_default().insert(offset, byte);
        }
    }

    /// The bytes that are not zero.
    #[must_use]
    pub fn of(&self, made: &Made) -> Option<&BTreeMap<u64, u8>> {
        self.0.get(made)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Made, &BTreeMap<u64, u8>)> {
        self.0.iter()
    }

    /// How many private variables of a thread are counted: those behind them hold zeros. Who counts no further comes back to states that it
    /// was in.
    pub(crate) fn counted(&self, thread: &ThreadName) -> u32 {
        let last = Made {
            thread: thread.clone(),
            seen: Seen::Privately,
            counter: u32::MAX,
        };
        let found = self.0.range(..=last).next_back();
        found.map_or(0, |(made, _)| {
            match made.thread == *thread && made.seen == Seen::Privately {
                true => made.counter,
                false => 0,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(thread: &ThreadName, seen: Seen, counter: u32) -> Made {
        let thread = thread.clone();
        Made {
            thread,
            seen,
            counter,
        }
    }

    #[test]
    fn variables_are_counted_up_to_the_last_that_holds_something() {
        let (main, child) = (ThreadName::default(), ThreadName::default().child(1));
        let mut bytes = FirstBytes::default();
        bytes.insert(made(&main, Seen::Privately, 3), 0, 1);
        bytes.insert(made(&main, Seen::Privately, 7), 0, 0);
        bytes.insert(made(&child, Seen::ByOthers, 9), 4, 1);
        assert_eq!(bytes.counted(&main), 3);
        assert_eq!(bytes.counted(&child), 0);
        assert_eq!(bytes.of(&made(&main, Seen::Privately, 7)), None);
    }
}
