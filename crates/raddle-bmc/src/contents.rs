//! Memory that one thread knows for sure: private variables, and shared ones while nobody else can touch them.

use crate::value::Sym;
use raddle_ir::TypeId;
use raddle_order::bits::{Bit, Bits, Word};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The bytes of an object: what it started with, and what was written since.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    pub(crate) size: u64,
    /// Of a private variable: its size, where that is not known; `size` is what is looked at of it then.
    pub(crate) bound: Option<Word>,
    /// Of a private variable, if it is known.
    pub(crate) ty: Option<TypeId>,
    /// None for zeros.
    base: Option<Rc<[u8]>>,
    /// By offset, not overlapping: size in bytes, and value.
    parts: BTreeMap<u64, (u8, Sym)>,
}

impl Contents {
    pub(crate) fn new(size: u64, base: Option<Rc<[u8]>>) -> Self {
        Self {
            size,
            bound: None,
            ty: None,
            base,
            parts: BTreeMap::new(),
        }
    }

    /// What was written: offset, size, value.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (u64, u8, &Sym)> {
        self.parts
            .iter()
            .map(|(&offset, (size, value))| (offset, *size, value))
    }

    fn base_byte(&self, offset: u64) -> u8 {
        let base = self.base.as_deref().unwrap_or_default();
        base.get(offset as usize).copied().unwrap_or(0)
    }

    /// Offsets of the parts that share bytes with a range.
    fn overlapping(&self, offset: u64, size: u8) -> Vec<u64> {
        let end = offset + u64::from(size);
        self.parts
            .range(offset.saturating_sub(8)..end)
            .filter(|(start, (size, _))| *start + u64::from(*size) > offset)
            .map(|(&start, _)| start)
            .collect()
    }

    pub(crate) fn load(&self, offset: u64, size: u8) -> Sym {
        if let Some((part, value)) = self.parts.get(&offset)
            && *part == size
        {
            return value.clone();
        }
        let touched = self.overlapping(offset, size);
        let mut bits = Vec::with_capacity(usize::from(size) * 8);
        for byte in offset..offset + u64::from(size) {
            let part = touched.iter().rev().find(|&&start| start <= byte);
            let part = part.map(|&start| (start, &self.parts[&start]));
            match part {
                Some((start, (size, value))) if byte < start + u64::from(*size) => {
                    let at = (byte - start) as usize * 8;
                    bits.extend_from_slice(&value.word.bits()[at..at + 8]);
                }
                _ => {
                    let value = self.base_byte(byte);
                    bits.extend((0..8).map(|bit| Bit::constant(value >> bit & 1 == 1)));
                }
            }
        }
        Sym::of(Word::from_bits(bits))
    }

    pub(crate) fn store(&mut self, offset: u64, size: u8, value: Sym) {
        let end = offset + u64::from(size);
        for start in self.overlapping(offset, size) {
            if start == offset && self.parts[&start].0 == size {
                continue;
            }
            if let Some((part, old)) = self.parts.remove(&start) {
                for byte in start..start + u64::from(part) {
                    if byte < offset || byte >= end {
                        let at = (byte - start) as usize * 8;
                        let word = old.word.extract(at, at + 8);
                        self.parts.insert(byte, (1, Sym::of(word)));
                    }
                }
            }
        }
        self.parts.insert(offset, (size, value));
    }

    /// Stores if a condition holds.
    pub(crate) fn store_if(
        &mut self,
        bits: &mut Bits,
        condition: Bit,
        (offset, size): (u64, u8),
        value: &Sym,
    ) {
        let value = match condition.as_constant() {
            Some(false) => return,
            Some(true) => value.clone(),
            None => {
                let old = self.load(offset, size);
                Sym::ite(bits, condition, value, &old)
            }
        };
        self.store(offset, size, value);
    }

    /// Are two contents of the same object the same?
    pub(crate) fn same(bits: &mut Bits, a: &Self, b: &Self) -> Bit {
        let mut same = match (&a.bound, &b.bound) {
            (Some(a), Some(b)) => bits.eq(a, b),
            (None, None) => Bit::TRUE,
            _ => Bit::FALSE,
        };
        for (one, other) in [(a, b), (b, a)] {
            for (offset, size, value) in one.parts() {
                let theirs = other.load(offset, size);
                let equal = bits.eq(&value.word, &theirs.word);
                same = bits.bit_and(same, equal);
            }
        }
        same
    }

    /// The contents of one of two.
    pub(crate) fn choose(bits: &mut Bits, first: Bit, then: &Self, otherwise: &Self) -> Self {
        let mut chosen = then.clone();
        if let (Some(then), Some(otherwise)) = (&then.bound, &otherwise.bound) {
            chosen.bound = Some(bits.ite(first, then, otherwise));
        }
        for (offset, size, value) in then.parts() {
            let other = otherwise.load(offset, size);
            let value = Sym::ite(bits, first, value, &other);
            chosen.store(offset, size, value);
        }
        for (offset, size, value) in otherwise.parts() {
            let known = then
                .parts
                .get(&offset)
                .is_some_and(|(part, _)| *part == size);
            if !known {
                let own = then.load(offset, size);
                let value = Sym::ite(bits, first, &own, value);
                chosen.store(offset, size, value);
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_different_sizes_fit_together() {
        let mut contents = Contents::new(8, Some([1, 2, 3, 4, 5, 6, 7, 8].into()));
        assert_eq!(contents.load(2, 2).as_constant(), Some(0x0403));
        contents.store(1, 2, Sym::constant(16, 0xBBAA));
        assert_eq!(contents.load(0, 4).as_constant(), Some(0x04BB_AA01));
        contents.store(2, 1, Sym::constant(8, 0xCC));
        assert_eq!(
            contents.load(0, 8).as_constant(),
            Some(0x0807_0605_04CC_AA01)
        );
    }

    #[test]
    fn contents_of_different_shape_are_chosen_between() {
        let mut bits = Bits::new();
        let (mut a, mut b) = (Contents::new(4, None), Contents::new(4, None));
        a.store(0, 4, Sym::constant(32, 0x1111_1111));
        b.store(1, 1, Sym::constant(8, 0x22));
        let first = Contents::choose(&mut bits, Bit::TRUE, &a, &b);
        assert_eq!(first.load(0, 4).as_constant(), Some(0x1111_1111));
        let second = Contents::choose(&mut bits, Bit::FALSE, &a, &b);
        assert_eq!(second.load(0, 4).as_constant(), Some(0x2200));
    }
}
