//! States by a number of 128 bits.

use super::{Machine, NOT_STARTED};
use crate::mixer::Mixer;
use raddle_program::{Program, ThreadId};

/// Bytes that are looked at together.
const WORD: usize = 8;

impl Machine {
    /// Machines of one program with equal fingerprints have equal states but for chance, which is one of 2^128 for two of them. Unlike [`Self::key`] it stays the
    /// same when more of the program's memory becomes known.
    #[must_use]
    pub fn fingerprint(&mut self, program: &Program) -> u128 {
        let first = program.tables().arena();
        if self.known < first.len() {
            self.grow(program.tables());
        }
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
        let words = self.memory[..first.len()]
            .chunks(WORD)
            .zip(first.chunks(WORD));
        for (at, (now, _)) in words.enumerate().filter(|(_, (now, first))| now != first) {
            let mut word = [0; WORD];
            word[..now.len()].copy_from_slice(now);
            mixer.add(at as u64);
            mixer.add(u64::from_le_bytes(word));
        }
        mixer.finish()
    }
}
