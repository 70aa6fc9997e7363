//! States by a number of 128 bits.

use super::{Machine, Mark, NOT_STARTED, Undo, read_bytes};
use crate::mixer::Mixer;
use raddle_program::{Program, ThreadId};

/// Bytes that are looked at together.
const WORD: u32 = 8;

/// The contents of memory by a number: a sum over all words that are not what they were in the beginning, so that little is to be done where few have changed.
/// It stays the same when more of the program's memory becomes known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryNumber(u128);

impl Machine {
    /// What the number was at `mark` makes it what it is now. `scratch` is for words that were written since.
    pub fn memory_number(
        &self,
        mark: Mark,
        then: MemoryNumber,
        scratch: &mut Vec<(u32, u64)>,
    ) -> MemoryNumber {
        scratch.clear();
        // From the last write to the first: what a word held before that is what it held at the mark.
        for undo in self.undo[mark.undo as usize..].iter().rev() {
            let Undo::Memory { arena, size, old } = *undo else {
                continue;
            };
            for (at, byte) in (arena..).zip(old.to_le_bytes()).take(usize::from(size)) {
                let word = at / WORD;
                let place = match scratch.binary_search_by_key(&word, |&(word, _)| word) {
                    Ok(place) => place,
                    Err(place) => {
                        let now = read_bytes(&self.memory, word * WORD, WORD as u8);
                        scratch.insert(place, (word, now));
                        place
                    }
                };
                let shift = 8 * (at % WORD);
                let held = &mut scratch[place].1;
                *held = *held & !(0xFF << shift) | u64::from(byte) << shift;
            }
        }
        let mut number = then.0;
        for &(word, held) in scratch.iter() {
            let now = read_bytes(&self.memory, word * WORD, WORD as u8);
            if now != held {
                number = number
                    .wrapping_sub(number_of(word, held))
                    .wrapping_add(number_of(word, now));
            }
        }
        MemoryNumber(number)
    }

    /// Machines of one program with equal fingerprints have equal states but for chance, which is one of 2^128 for two of them. Unlike [`Self::key`] it stays the
    /// same when more of the program's memory becomes known.
    #[must_use]
    pub fn fingerprint(&mut self, program: &Program, memory: MemoryNumber) -> u128 {
        let mut mixer = Mixer::default();
        for (index, thread) in self.threads.iter().enumerate() {
            if thread.state == NOT_STARTED {
                continue;
            }
            let id = ThreadId::from_index(index);
            mixer.add(u64::from(thread.state.0) << 32 | index as u64);
            let stores = self.buffers.of(id);
            let has_barrier = u64::from(self.buffers.has_barrier(id));
            mixer.add((stores.len() as u64) << 9 | has_barrier << 8 | u64::from(thread.flags));
            for store in stores {
                let is_late = self.late_fault(program, id, store).is_some();
                let flags = store.flags() | u64::from(is_late) << 1;
                mixer.add(u64::from(store.loc.0) << 32 | flags);
                mixer.add(store.value);
            }
        }
        mixer.add(u64::MAX);
        mixer.add(memory.0 as u64);
        mixer.add((memory.0 >> 64) as u64);
        mixer.finish()
    }
}

fn number_of(word: u32, contents: u64) -> u128 {
    let mut mixer = Mixer::default();
    mixer.add(u64::from(word));
    mixer.add(contents);
    mixer.finish()
}

#[cfg(test)]
mod tests;
