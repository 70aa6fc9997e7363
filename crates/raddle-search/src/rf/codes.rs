//! What fingerprints are made of: numbers for threads, cells and choices that are the same in every program that was made of the same module, in
//! whatever order it has met them. So those who explore pieces of one search know by its fingerprint whether others have found an alternative.

use super::event::{Cell, ChoiceId, mix};
use raddle_program::{LocId, Tables, ThreadId};

#[derive(Default)]
pub(super) struct Codes {
    threads: Vec<u64>,
    locs: Vec<u64>,
    choices: Vec<u64>,
}

fn hash(a: u64, b: u64, c: u64) -> u64 {
    let wide = mix(a, b, c);
    (wide >> 64) as u64 ^ wide as u64
}

impl Codes {
    /// Takes notice of what the program has met.
    #[inline]
    pub(super) fn refresh(&mut self, tables: &Tables) {
        if self.locs.len() < tables.loc_count() || self.threads.len() < tables.thread_count() {
            self.add(tables);
        }
    }

    #[cold]
    fn add(&mut self, tables: &Tables) {
        for index in self.threads.len()..tables.thread_count() {
            let handle = tables.handle_of_thread(ThreadId::from_index(index));
            self.threads.push(hash(handle, 0, 1));
        }
        for index in self.locs.len()..tables.loc_count() {
            let info = tables.loc_info(LocId::from_index(index));
            let code = match tables.object_info(info.object).address {
                // No address leads there: the handles of threads, and what exists for messages.
                0 => hash(index as u64, 0, 2),
                // Two objects never share one, and an object has one location of each size at each offset.
                address => hash(address, info.offset, 3 + u64::from(info.size)),
            };
            self.locs.push(code);
        }
    }

    /// Another list of choices.
    pub(super) fn add_choices(&mut self, choices: &[u32]) {
        let code = choices
            .iter()
            .fold(0, |sum, &choice| hash(sum, choice.into(), 20));
        self.choices.push(code);
    }

    #[inline]
    pub(super) fn cell(&self, cell: Cell) -> u64 {
        match cell {
            Cell::Loc(loc) => self.locs[loc.index()],
            Cell::Byte(loc, byte) => hash(self.locs[loc.index()], byte.into(), 21),
            Cell::Handle(thread) => hash(self.threads[thread.index()], 0, 22),
            Cell::End(thread) => hash(self.threads[thread.index()], 0, 23),
        }
    }

    /// Who goes on, and what is chosen.
    #[inline]
    pub(super) fn step(&self, thread: ThreadId, choices: ChoiceId) -> u64 {
        self.threads[thread.index()] ^ self.choices[choices as usize]
    }
}
