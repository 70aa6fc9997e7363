//! Pointers of four bytes: registers hold addresses of 64 bits, memory and integers hold numbers of 32 (`raddle_program::names`).
//!
//! Between them go tables: of all that a pointer can be, or of the objects that it can point into. Where neither is known, a number is
//! taken for a plain one: accesses through it are refused, and comparisons are made of numbers.

use super::{Encoder, unsupported};
use crate::state::State;
use crate::value::{Set, Sym};
use raddle_ir::inst::IntPredicate;
use raddle_order::bits::{Bit, Word};
use raddle_program::Stop;
use std::rc::Rc;

fn too_far() -> Stop {
    unsupported(
        "an address that four bytes do not hold here (it lies far beside its object, or its object is one of too many or too large ones; data model ILP32)",
    )
}

fn unknown() -> Stop {
    unsupported("a pointer whose object is not known, as a number (data model ILP32)")
}

/// The wide addresses that have narrow ones in a row, and the first narrow one.
struct Span {
    first: u64,
    last: u64,
    narrow: u32,
}

impl Encoder<'_> {
    pub(super) fn is_ilp32(&self) -> bool {
        self.view.tables().is_ilp32()
    }

    /// Bytes of a pointer, of `long` and of `size_t`.
    pub(super) fn word_size(&self) -> u8 {
        if self.is_ilp32() { 4 } else { 8 }
    }

    /// The number that a pointer is.
    pub(super) fn number_of(&mut self, state: &mut State, pointer: &Sym) -> Result<Sym, Stop> {
        if !self.is_ilp32() {
            return Ok(pointer.clone());
        }
        let values = match (pointer.as_constant(), pointer.likely_set()) {
            (Some(value), _) => Some([value].into()),
            (None, Set::Values(values)) => Some(Rc::clone(values)),
            (None, _) => None,
        };
        let mut number = match values {
            Some(values) => self.listed(state, pointer, &values)?,
            None => self.spanned(state, pointer)?,
        };
        number.undefined = pointer.undefined;
        Ok(number)
    }

    /// [`Self::number_of`] what is one of these, or of what nobody has written.
    fn listed(&mut self, state: &mut State, pointer: &Sym, values: &[u64]) -> Result<Sym, Stop> {
        // What is none of them is a plain number.
        let mut word = pointer.word.extract(0, 32);
        let mut numbers = Vec::new();
        for (at, &value) in values.iter().enumerate() {
            let is_last = at == 0 && pointer.likely.is_none();
            let is_it = match is_last {
                true => Bit::TRUE,
                false => pointer.is(&mut self.out.bits, value),
            };
            let Some(number) = self.view.tables().narrow(value) else {
                let is_it = pointer.is(&mut self.out.bits, value);
                self.refuse_if(state, is_it, too_far());
                continue;
            };
            let constant = Word::constant(32, number.into());
            word = self.out.bits.ite(is_it, &constant, &word);
            numbers.push(u64::from(number));
        }
        if state.path.is_impossible() && numbers.is_empty() {
            return Err(too_far());
        }
        Ok(self.like(pointer, word, Set::of(numbers)))
    }

    /// A value of which as much is known as of another one.
    fn like(&self, other: &Sym, word: Word, set: Set) -> Sym {
        match other.likely.is_some() {
            true => Sym::of(word).likely_within(set),
            false => Sym::within(word, set),
        }
    }

    /// [`Self::number_of`] a pointer into objects that are known, or a plain number.
    fn spanned(&mut self, state: &mut State, pointer: &Sym) -> Result<Sym, Stop> {
        let high = pointer.word.extract(32, 64);
        let low = pointer.word.extract(0, 32);
        let Set::Objects(objects) = pointer.likely_set().clone() else {
            let is_plain = self.out.bits.is_zero(&high);
            self.refuse_if(state, !is_plain, unknown());
            return Ok(Sym::of(low));
        };
        let mut word = low.clone();
        let mut known = self.out.bits.is_zero(&high);
        let mut has_plain = pointer.likely.is_some();
        for &object in &*objects {
            if object == 0 {
                has_plain = true;
                continue;
            }
            for span in self.spans(object) {
                let is_here = self.is_in(&pointer.word, span.first, span.last, 64);
                let difference = span.narrow.wrapping_sub(span.first as u32);
                let there = Word::constant(32, difference.into());
                let there = self.out.bits.add(&low, &there);
                word = self.out.bits.ite(is_here, &there, &word);
                known = self.out.bits.bit_or(known, is_here);
            }
        }
        self.refuse_if(state, !known, too_far());
        // A set of objects has no room for plain numbers beside them.
        let set = match has_plain {
            true => Set::Any,
            false => Set::Objects(objects),
        };
        Ok(Sym::within(word, set))
    }

    /// Is a word one of these numbers?
    fn is_in(&mut self, word: &Word, first: u64, last: u64, width: usize) -> Bit {
        let bits = &mut self.out.bits;
        let above = bits.ule(&Word::constant(width, first.into()), word);
        let below = bits.ule(word, &Word::constant(width, last.into()));
        bits.bit_and(above, below)
    }

    /// Where the objects with an address number have narrow addresses.
    fn spans(&self, number: u32) -> Vec<Span> {
        let spans = self.view.tables().narrow_spans(number).into_iter();
        spans
            .map(|(first, last, narrow)| Span {
                first,
                last,
                narrow,
            })
            .collect()
    }

    /// The pointer that a number is.
    pub(super) fn pointer_of(&mut self, state: &mut State, number: &Sym) -> Result<Sym, Stop> {
        if !self.is_ilp32() {
            return Ok(number.clone());
        }
        let word = match number.word.width() {
            32 => number.word.clone(),
            width if width > 32 => number.word.extract(0, 32),
            _ => number.word.zext(32),
        };
        let mut pointer = match (word.as_constant(), number.likely_set().clone()) {
            (Some(value), _) => Sym::constant(64, self.view.tables().widen(value as u32)),
            (None, Set::Values(values)) => {
                let mut wide = word.zext(64);
                let mut pointers = Vec::new();
                for (at, &value) in values.iter().enumerate() {
                    let is_it = match at == 0 && number.likely.is_none() {
                        true => Bit::TRUE,
                        false => number.is(&mut self.out.bits, value),
                    };
                    let pointer = self.view.tables().widen(value as u32);
                    let constant = Word::constant(64, pointer.into());
                    wide = self.out.bits.ite(is_it, &constant, &wide);
                    pointers.push(pointer);
                }
                self.like(number, wide, Set::of(pointers))
            }
            (None, Set::Objects(objects)) => {
                let mut wide = word.zext(64);
                let mut known = Bit::FALSE;
                let spans: Vec<Span> = objects
                    .iter()
                    .flat_map(|&object| self.spans(object))
                    .collect();
                for span in spans {
                    let first = u64::from(span.narrow);
                    let is_here = self.is_in(&word, first, first + (span.last - span.first), 32);
                    let difference = span.first.wrapping_sub(first);
                    let there = Word::constant(64, difference.into());
                    let there = self.out.bits.add(&word.zext(64), &there);
                    wide = self.out.bits.ite(is_here, &there, &wide);
                    known = self.out.bits.bit_or(known, is_here);
                }
                self.refuse_if(state, !known, unknown());
                Sym::within(wide, Set::Objects(objects))
            }
            (None, Set::Any) => Sym::of(word.zext(64)),
        };
        pointer.undefined = number.undefined;
        Ok(pointer)
    }

    /// A value for a register of so many bits, where a pointer is passed as a number or the other way round.
    pub(super) fn suited(
        &mut self,
        state: &mut State,
        value: &Sym,
        width: u32,
    ) -> Result<Sym, Stop> {
        if !self.is_ilp32() {
            return Ok(value.clone());
        }
        match (value.width(), width) {
            (64, 32) => self.number_of(state, value),
            (32, 64) => self.pointer_of(state, value),
            _ => Ok(value.clone()),
        }
    }

    /// Two pointers, as what compares as they do.
    pub(super) fn comparable(
        &mut self,
        state: &mut State,
        predicate: IntPredicate,
        a: &Sym,
        b: &Sym,
    ) -> Result<(Sym, Sym), Stop> {
        let objects = |value: &Sym| value.set.objects();
        let is_one = match (objects(a), objects(b)) {
            (Some(a), Some(b)) => a.len() == 1 && a == b,
            _ => false,
        };
        let is_equality = matches!(predicate, IntPredicate::Eq | IntPredicate::Ne);
        let are_known = objects(a).is_some() && objects(b).is_some();
        if !self.is_ilp32() || is_one || is_equality && are_known {
            return Ok((a.clone(), b.clone()));
        }
        Ok((self.number_of(state, a)?, self.number_of(state, b)?))
    }

    /// The high halves of all addresses that a value of 32 or 64 bits may be.
    pub(super) fn address_numbers(&self, value: &Sym) -> Option<Rc<[u32]>> {
        let is_number = self.is_ilp32() && value.width() == 32;
        match &value.set {
            Set::Values(values) if is_number => {
                let tables = self.view.tables();
                let wide = values.iter().map(|&value| tables.widen(value as u32));
                let mut numbers: Vec<u32> = wide.map(|wide| (wide >> 32) as u32).collect();
                numbers.sort_unstable();
                numbers.dedup();
                Some(numbers.into())
            }
            set => set.objects(),
        }
    }
}
