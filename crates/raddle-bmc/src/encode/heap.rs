//! Blocks of memory: made, freed, copied and filled.

use super::library::Args;
use super::sizes::MALLOC_ALIGN;
use super::{Encoder, unsupported, unsupported_call};
use crate::events::StepKind;
use crate::facts::Region;
use crate::state::State;
use crate::value::Sym;
use raddle_order::bits::Bit;
use raddle_program::interp::MAX_BLOCK;
use raddle_program::tables::NewObject;
use raddle_program::{AccessKind, Fault, ObjectId, ObjectKind, Order, Stop};

/// The most bytes that are copied at once.
pub(super) const LONGEST_COPY: u64 = 4096;
/// Where the cell lies that says whether an object has died.
pub(crate) const LIFE: u64 = 1 << 40;

impl Encoder<'_> {
    pub(super) fn allocate(
        &mut self,
        state: &mut State,
        name: &str,
        size: &Sym,
        align: u64,
    ) -> Result<Sym, Stop> {
        let size = size.as_constant();
        let size = size.ok_or_else(|| unsupported_call(name, "a size that is not known"))?;
        if size > MAX_BLOCK {
            return Ok(Sym::zero(64));
        }
        let at = self.position(state);
        let new = NewObject {
            kind: ObjectKind::Heap,
            size,
            align,
            name: name.into(),
            at,
            source_type: None,
            init: None,
            site: 0,
        };
        let object = self.new_object(state, new, None)?;
        self.note_block(state, object, name == "calloc");
        Ok(Sym::constant(64, self.view.tables().address(object, 0)))
    }

    pub(super) fn free(&mut self, state: &mut State, address: &Sym) -> Result<(), Stop> {
        let Some(values) = address.set.values().map(<[u64]>::to_vec) else {
            return Err(unsupported_call("free", "an address that is not known"));
        };
        for value in values.into_iter().filter(|&value| value != 0) {
            let is_it = address.is(&mut self.out.bits, value);
            let found = self.view.tables().resolve(value);
            let block = found.filter(|&(object, offset)| {
                offset == 0 && self.view.tables().object_info(object).kind == ObjectKind::Heap
            });
            match block {
                Some((object, _)) => self.free_object(state, object, is_it)?,
                None => {
                    let fault = Fault::InvalidFree {
                        address: value,
                        object: None,
                        offset: 0,
                    };
                    self.fault_if(state, is_it, fault);
                }
            }
        }
        Ok(())
    }

    /// The heap block that begins at a known address.
    pub(super) fn heap_block(&self, address: &Sym) -> Option<ObjectId> {
        let tables = self.view.tables();
        let (object, offset) = tables.resolve(address.as_constant()?)?;
        let is_block = offset == 0 && tables.object_info(object).kind == ObjectKind::Heap;
        is_block.then_some(object)
    }

    /// The object dies if `condition` holds.
    pub(super) fn free_object(
        &mut self,
        state: &mut State,
        object: ObjectId,
        condition: Bit,
    ) -> Result<(), Stop> {
        self.facts.free(object);
        let region = Region {
            object,
            is_sync: true,
        };
        let mut dead = Bit::FALSE;
        self.update_cell(state, (region, LIFE), condition, |encoder, old| {
            dead = !encoder.out.bits.is_zero(&old.word);
            Sym::constant(32, 1)
        })?;
        let twice = self.out.bits.bit_and(condition, dead);
        self.fault_if(state, twice, Fault::DoubleFree { object });
        Ok(())
    }

    /// An access to an object that somebody frees must come before that.
    pub(super) fn check_alive(
        &mut self,
        state: &mut State,
        object: ObjectId,
        condition: Bit,
        access: AccessKind,
    ) -> Result<(), Stop> {
        if !self.facts.is_freed(object) {
            return Ok(());
        }
        let region = Region {
            object,
            is_sync: true,
        };
        let life = self.read_sync(state, (region, LIFE), condition, StepKind::Life)?;
        let dead = !self.out.bits.is_zero(&life.word);
        let dead = self.out.bits.bit_and(condition, dead);
        let fault = Fault::UseAfterFree {
            access,
            object,
            offset: 0,
        };
        self.fault_if(state, dead, fault);
        Ok(())
    }

    // ---- blocks of bytes

    fn length(&self, length: &Sym) -> Result<u64, Stop> {
        let length = length
            .as_constant()
            .filter(|&length| length <= LONGEST_COPY);
        length.ok_or_else(|| unsupported("a copy of a length that is not known, or large"))
    }

    pub(super) fn fill(&mut self, state: &mut State, args: &Args) -> Result<(), Stop> {
        let length = self.length(&args[2])?;
        let byte = args[1].word.extract(0, 8);
        let mut done = 0;
        while done < length {
            let size = self.chunk(state, &[&args[0]], done, length - done);
            let mut word = byte.clone();
            for _ in 1..size {
                word = word.concat(&byte);
            }
            let at = self.plus(&args[0], &Sym::constant(64, done));
            self.store(state, &at, size, &Sym::of(word), Order::Plain)?;
            done += u64::from(size);
        }
        Ok(())
    }

    pub(super) fn copy(&mut self, state: &mut State, args: &Args) -> Result<(), Stop> {
        let length = self.length(&args[2])?;
        let (to, from) = (args[0].clone(), args[1].clone());
        let mut done = 0;
        while done < length {
            let size = self.chunk(state, &[&to, &from], done, length - done);
            let source = self.plus(&from, &Sym::constant(64, done));
            let target = self.plus(&to, &Sym::constant(64, done));
            let value = self.load(state, &source, size, Order::Plain)?;
            self.store(state, &target, size, &value, Order::Plain)?;
            self.copy_unwritten(state, &target, &source, size);
            done += u64::from(size);
        }
        Ok(())
    }

    /// May a copy, front to back, read what it has written?
    fn may_overlap(&self, to: &Sym, from: &Sym, length: u64) -> bool {
        let (Some(to), Some(from)) = (to.set.values(), from.set.values()) else {
            return false;
        };
        let overlap = |&to: &u64, &from: &u64| to > from && to - from < length;
        to.iter()
            .any(|to| from.iter().any(|from| overlap(to, from)))
    }

    /// A copy between areas that may overlap: then everything is read before anything is written.
    pub(super) fn move_bytes(&mut self, state: &mut State, args: &Args) -> Result<(), Stop> {
        let length = self.length(&args[2])?;
        let (to, from) = (&args[0], &args[1]);
        if !self.may_overlap(to, from, length) {
            return self.copy(state, args);
        }
        let mut pieces = Vec::new();
        let mut done = 0;
        while done < length {
            let size = self.chunk(state, &[to, from], done, length - done);
            let source = self.plus(from, &Sym::constant(64, done));
            pieces.push((done, size, self.load(state, &source, size, Order::Plain)?));
            done += u64::from(size);
        }
        for (offset, size, value) in pieces {
            let target = self.plus(to, &Sym::constant(64, offset));
            self.store(state, &target, size, &value, Order::Plain)?;
        }
        Ok(())
    }

    /// Always moves: a new block, a copy, and the end of the old one.
    pub(super) fn reallocate(
        &mut self,
        state: &mut State,
        name: &str,
        old: &Sym,
        size: &Sym,
    ) -> Result<Sym, Stop> {
        match old.as_constant() {
            Some(0) => return self.allocate(state, name, size, MALLOC_ALIGN),
            Some(_) => {}
            None => return Err(unsupported_call(name, "an address that is not known")),
        }
        let block = self.heap_block(old);
        let Some(object) = block.filter(|_| size.as_constant() != Some(0)) else {
            self.free(state, old)?;
            return Ok(Sym::zero(64));
        };
        let kept = self.view.tables().object_info(object).size;
        let new = self.allocate(state, name, size, MALLOC_ALIGN)?;
        if new.as_constant() == Some(0) {
            return Ok(new);
        }
        let kept = size.as_constant().unwrap_or(0).min(kept);
        let args = vec![new.clone(), old.clone(), Sym::constant(64, kept)];
        self.copy(state, &args)?;
        self.free(state, old)?;
        Ok(new)
    }
}
