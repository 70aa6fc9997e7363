//! Reads of shared memory that nobody has written.
//!
//! Memory from `malloc` and stack variables hold anything at first. [`UninitDetector`] follows an execution step by step and
//! finds reads none of whose bytes has been written before, where something depends on what is read
//! ([`Program::needs_contents`]). Like a race, such a read does not keep its thread from going on: with zero.
//!
//! Whether a read is one of these depends only on which writes it reads from. So all executions of a class of `dpor` or
//! `rf` agree on it.

use crate::machine::{Effect, MicroStep};
use crate::mixer::Mixer;
use raddle_program::{Fault, LocInfo, ObjectId, Op, Program, ThreadId};
use rustc_hash::FxHashSet;

/// Follows one execution; steps can be taken back.
#[derive(Debug, Default)]
pub struct UninitDetector {
    /// One bit for each byte of the arena: was it written? Only of objects that come and go.
    written: Vec<u64>,
    /// Objects that were allocated full of zeros.
    zeroed: FxHashSet<ObjectId>,
    /// Stores that only their own thread sees so far.
    delayed: Vec<DelayedWrite>,
    undo: Vec<(u32, Undo)>,
    steps: u32,
}

/// A store under way: who made it, in which step, and its bytes.
#[derive(Clone, Copy, Debug)]
struct DelayedWrite {
    thread: ThreadId,
    step: u32,
    arena: u32,
    size: u8,
}

#[derive(Clone, Copy, Debug)]
enum Undo {
    /// Bytes from here on were written for the first time: one bit each.
    Written {
        arena: u32,
        bits: u8,
    },
    Zeroed(ObjectId),
    /// Bytes from here on were forgotten: the object came to life again.
    Forgotten {
        arena: u32,
        bits: u8,
    },
    NotZeroed(ObjectId),
    /// The newest delayed store was made.
    Delayed,
    /// A delayed store was removed at this position.
    Flushed(u32, DelayedWrite),
}

impl UninitDetector {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many steps it has seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps as usize
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps == 0
    }

    /// What it will find depends on this, and on the steps to come: a number that is the same for the same contents but for chance ([`Mixer`]).
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        let mut mixer = Mixer::default();
        let words = self.written.iter().enumerate();
        for (at, &word) in words.filter(|(_, word)| **word != 0) {
            mixer.add(at as u64);
            mixer.add(word);
        }
        let mut all = mixer.finish();
        // In any order.
        let objects = self.zeroed.iter().map(|object| (0, object.index() as u64));
        let own = |write: &DelayedWrite| {
            let bytes = u64::from(write.arena) << 8 | u64::from(write.size);
            (write.thread.index() as u64 + 1, bytes)
        };
        for (thread, what) in objects.chain(self.delayed.iter().map(own)) {
            let mut mixer = Mixer::default();
            mixer.add(thread);
            mixer.add(what);
            all = all.wrapping_add(mixer.finish());
        }
        all
    }

    /// The next step of the execution; a fault if it depends on what nobody has written.
    #[inline]
    pub fn push(&mut self, program: &Program, step: &MicroStep) -> Option<Fault> {
        let index = self.steps;
        self.steps += 1;
        let (loc, reads, writes) = match *program.op(step.state) {
            Op::Load { loc, .. } => (loc, true, false),
            Op::Store { loc, .. } => (loc, false, true),
            Op::Rmw { loc, .. } => (loc, true, true),
            Op::Cas { loc, expected, .. } => (loc, true, step.value == expected),
            Op::Alloc { object } => {
                self.begin_anew(program, object, index);
                // What an abandoned block allocates nobody else gets hold of.
                if program.zeroes(step.state) && self.zeroed.insert(object) {
                    self.undo.push((index, Undo::Zeroed(object)));
                }
                return None;
            }
            _ => return None,
        };
        let info = program.tables().loc_info(loc);
        // Other objects have contents from the start.
        if !program.tables().starts_unwritten(info) {
            return None;
        }
        let mut fault = None;
        let minds_every_byte = program.tables().minds_every_byte;
        let is_written = |detector: &Self| match minds_every_byte {
            true => detector.is_written_whole(info, step.thread),
            false => detector.is_written(info, step.thread),
        };
        if reads && program.needs_contents(step.state) && !is_written(self) {
            let object = program.tables().object_info(info.object);
            // A block may have been freed: that is another fault, and the machine's business.
            if object.init.is_none() {
                fault = Some(Fault::Uninitialised {
                    object: Some(info.object),
                    offset: info.offset as i64,
                });
            }
        }
        if writes {
            self.note_write(info, step, index);
        }
        fault
    }

    /// A block that was freed and is used again holds nothing that was written.
    fn begin_anew(&mut self, program: &Program, object: ObjectId, index: u32) {
        if self.zeroed.remove(&object) {
            self.undo.push((index, Undo::NotZeroed(object)));
        }
        let tables = program.tables();
        for loc in tables.locations(object) {
            let &LocInfo { arena, size, .. } = tables.loc_info(loc);
            let mut bits = 0u8;
            for byte in 0..u32::from(size) {
                let at = arena + byte;
                if let Some(word) = self.written.get_mut(at as usize / 64)
                    && *word >> (at % 64) & 1 == 1
                {
                    *word &= !(1 << (at % 64));
                    bits |= 1 << byte;
                }
            }
            if bits != 0 {
                self.undo.push((index, Undo::Forgotten { arena, bits }));
            }
        }
    }

    fn note_write(&mut self, info: &LocInfo, step: &MicroStep, index: u32) {
        match step.effect {
            Effect::Whole => self.write(info, index),
            // Only its own thread will ever see what an abandoned block wrote.
            Effect::Delayed | Effect::Abandoned => {
                self.delayed.push(DelayedWrite {
                    thread: step.thread,
                    step: index,
                    arena: info.arena,
                    size: info.size,
                });
                self.undo.push((index, Undo::Delayed));
            }
            Effect::Flushed { store } => {
                let position = self.delayed.iter().position(|entry| entry.step == store);
                if let Some(position) = position {
                    let entry = self.delayed.remove(position);
                    self.undo
                        .push((index, Undo::Flushed(position as u32, entry)));
                }
                self.write(info, index);
            }
        }
    }

    fn write(&mut self, info: &LocInfo, index: u32) {
        let (first, size) = (info.arena, u32::from(info.size));
        let words = (first + size) as usize / 64 + 1;
        if self.written.len() < words {
            self.written.resize(words, 0);
        }
        let mut bits = 0u8;
        for byte in 0..size {
            let at = first + byte;
            let word = &mut self.written[at as usize / 64];
            let bit = 1 << (at % 64);
            if *word & bit == 0 {
                *word |= bit;
                bits |= 1 << byte;
            }
        }
        if bits != 0 {
            let undo = Undo::Written { arena: first, bits };
            self.undo.push((index, undo));
        }
    }

    /// Have all of the bytes been written, as far as the thread can see?
    fn is_written_whole(&self, info: &LocInfo, thread: ThreadId) -> bool {
        (0..info.size).all(|byte| {
            let arena = info.arena + u32::from(byte);
            let byte = LocInfo {
                arena,
                size: 1,
                ..*info
            };
            self.is_written(&byte, thread)
        })
    }

    /// Has any of the bytes been written, as far as the thread can see?
    fn is_written(&self, info: &LocInfo, thread: ThreadId) -> bool {
        let bytes = info.arena..info.arena + u32::from(info.size);
        let in_memory = bytes.clone().any(|at| {
            let word = self.written.get(at as usize / 64);
            word.is_some_and(|word| word >> (at % 64) & 1 == 1)
        });
        let own = |write: &DelayedWrite| {
            write.thread == thread
                && write.arena < bytes.end
                && bytes.start < write.arena + u32::from(write.size)
        };
        in_memory || self.zeroed.contains(&info.object) || self.delayed.iter().any(own)
    }

    /// Forgets all steps but the first `length`.
    pub fn truncate(&mut self, length: usize) {
        if length >= self.steps as usize {
            return;
        }
        self.steps = length as u32;
        while let Some(&(index, undo)) = self.undo.last()
            && index as usize >= length
        {
            self.undo.pop();
            match undo {
                Undo::Written { arena, bits } => {
                    for byte in (0..8).filter(|byte| bits >> byte & 1 == 1) {
                        let at = arena + byte;
                        self.written[at as usize / 64] &= !(1 << (at % 64));
                    }
                }
                Undo::Forgotten { arena, bits } => {
                    for byte in (0..8).filter(|byte| bits >> byte & 1 == 1) {
                        let at = arena + byte;
                        self.written[at as usize / 64] |= 1 << (at % 64);
                    }
                }
                Undo::NotZeroed(object) => {
                    self.zeroed.insert(object);
                }
                Undo::Zeroed(object) => {
                    self.zeroed.remove(&object);
                }
                Undo::Delayed => {
                    self.delayed.pop();
                }
                Undo::Flushed(position, entry) => self.delayed.insert(position as usize, entry),
            }
        }
    }
}
