//! Memory that one thread knows for sure: private variables, and shared ones while nobody else can touch them.

use crate::value::Sym;
use raddle_ir::TypeId;
use raddle_order::bits::{Bit, Bits, Word};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Bytes of any value, made as they are asked for: what memory holds that nobody has written.
#[derive(Debug)]
pub(crate) struct AnyBytes {
    kind: AnyKind,
    made: RefCell<BTreeMap<u64, [Bit; 8]>>,
}

#[derive(Debug)]
enum AnyKind {
    /// Zeros if the bit holds.
    Fresh(Bit),
    /// The first ones if the bit holds.
    Choice(Bit, Base, Base),
}

impl AnyBytes {
    /// Bytes of any value, unless the bit holds: then they are zeros.
    pub(crate) fn unless(is_zero: Bit) -> Rc<Self> {
        Self::of(AnyKind::Fresh(is_zero))
    }

    fn of(kind: AnyKind) -> Rc<Self> {
        Rc::new(Self {
            kind,
            made: RefCell::default(),
        })
    }

    fn byte(&self, bits: &mut Bits, offset: u64) -> [Bit; 8] {
        if let Some(&byte) = self.made.borrow().get(&offset) {
            return byte;
        }
        let byte = match &self.kind {
            AnyKind::Fresh(is_zero) => [(); 8].map(|()| {
                let bit = bits.free_bit();
                bits.bit_and(bit, !*is_zero)
            }),
            AnyKind::Choice(first, then, otherwise) => {
                let (then, otherwise) = (then.byte(bits, offset), otherwise.byte(bits, offset));
                std::array::from_fn(|at| bits.bit_ite(*first, then[at], otherwise[at]))
            }
        };
        self.made.borrow_mut().insert(offset, byte);
        byte
    }

    /// The bytes that were asked for.
    pub(crate) fn made(&self) -> Vec<(u64, [Bit; 8])> {
        let made = self.made.borrow();
        made.iter().map(|(&offset, &byte)| (offset, byte)).collect()
    }
}

/// What memory holds where nobody has written.
#[derive(Clone, Debug)]
enum Base {
    /// All bits are this one.
    Bits(Bit),
    Bytes(Rc<[u8]>),
    Any(Rc<AnyBytes>),
}

impl Base {
    /// Of the same object: not if either holds any bytes, unless they are the same.
    fn may_be_same(a: &Self, b: &Self) -> bool {
        match (a, b) {
            (Self::Any(a), Self::Any(b)) => Rc::ptr_eq(a, b),
            (Self::Any(_), _) | (_, Self::Any(_)) => false,
            _ => true,
        }
    }

    fn byte(&self, bits: &mut Bits, offset: u64) -> [Bit; 8] {
        match self {
            Self::Bits(bit) => [*bit; 8],
            Self::Bytes(bytes) => {
                let byte = bytes.get(offset as usize).copied().unwrap_or(0);
                std::array::from_fn(|at| Bit::constant(byte >> at & 1 == 1))
            }
            Self::Any(bytes) => bytes.byte(bits, offset),
        }
    }
}

/// The bytes of an object: what it started with, and what was written since.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    pub(crate) size: u64,
    /// Of a private variable: its size, where that is not known; `size` is what is looked at of it then.
    pub(crate) bound: Option<Word>,
    /// Of a private variable, if it is known.
    pub(crate) ty: Option<TypeId>,
    base: Base,
    /// Of memory that holds anything at first: bits of ones where nobody has written, byte by byte.
    unwritten: Option<Rc<Contents>>,
    /// By offset, not overlapping: size in bytes, and value.
    parts: BTreeMap<u64, (u8, Sym)>,
}

impl Contents {
    /// None for zeros.
    pub(crate) fn new(size: u64, base: Option<Rc<[u8]>>) -> Self {
        Self::over(size, base.map_or(Base::Bits(Bit::FALSE), Base::Bytes))
    }

    /// The contents of an object that holds anything at first.
    pub(crate) fn any(size: u64, bytes: Rc<AnyBytes>) -> Self {
        Self::over(size, Base::Any(bytes))
    }

    fn over(size: u64, base: Base) -> Self {
        Self {
            size,
            bound: None,
            ty: None,
            base,
            unwritten: None,
            parts: BTreeMap::new(),
        }
    }

    /// The contents of an object that nobody has written yet, if the bit holds.
    pub(crate) fn fresh(size: u64, is_unwritten: Bit) -> Self {
        let unwritten = Self::over(size, Base::Bits(is_unwritten));
        Self {
            unwritten: Some(Rc::new(unwritten)),
            ..Self::new(size, None)
        }
    }

    /// Has none of the bytes been written?
    pub(crate) fn is_unwritten(&self, bits: &mut Bits, offset: u64, size: u8) -> Bit {
        let Some(unwritten) = &self.unwritten else {
            return Bit::FALSE;
        };
        let word = unwritten.load(bits, offset, size).word;
        bits.all((0..usize::from(size)).map(|byte| word.bits()[byte * 8]))
    }

    /// What was written: offset, size, value.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (u64, u8, &Sym)> {
        self.parts
            .iter()
            .map(|(&offset, (size, value))| (offset, *size, value))
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

    pub(crate) fn load(&self, bits: &mut Bits, offset: u64, size: u8) -> Sym {
        if let Some((part, value)) = self.parts.get(&offset)
            && *part == size
        {
            return value.clone();
        }
        let touched = self.overlapping(offset, size);
        let mut is_any = false;
        let mut word = Vec::with_capacity(usize::from(size) * 8);
        for byte in offset..offset + u64::from(size) {
            let part = touched.iter().rev().find(|&&start| start <= byte);
            let part = part.map(|&start| (start, &self.parts[&start]));
            match part {
                Some((start, (size, value))) if byte < start + u64::from(*size) => {
                    let at = (byte - start) as usize * 8;
                    word.extend_from_slice(&value.word.bits()[at..at + 8]);
                }
                _ => {
                    is_any |= matches!(self.base, Base::Any(_));
                    word.extend(self.base.byte(bits, byte));
                }
            }
        }
        let value = Sym::of(Word::from_bits(word));
        match is_any && touched.is_empty() {
            true => value.unwritten(),
            false => value,
        }
    }

    pub(crate) fn store(&mut self, offset: u64, size: u8, value: Sym) {
        if let Some(unwritten) = &mut self.unwritten {
            let bits = all_bits(value.undefined, size);
            Rc::make_mut(unwritten).put(offset, size, bits);
        }
        self.put(offset, size, value.defined());
    }

    /// Which of the bytes nobody has written: bits of ones.
    pub(crate) fn unwritten_bytes(&self, bits: &mut Bits, offset: u64, size: u8) -> Option<Sym> {
        let unwritten = self.unwritten.as_ref()?;
        Some(unwritten.load(bits, offset, size))
    }

    /// Lets nobody have written bytes that are ones.
    pub(crate) fn forget_bytes(&mut self, offset: u64, size: u8, bytes: Sym) {
        if let Some(unwritten) = &mut self.unwritten {
            Rc::make_mut(unwritten).put(offset, size, bytes);
        }
    }

    /// Stores, whoever has written.
    fn put(&mut self, offset: u64, size: u8, value: Sym) {
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
        match condition.as_constant() {
            Some(false) => {}
            Some(true) => self.store(offset, size, value.clone()),
            None => {
                if let Some(unwritten) = &mut self.unwritten {
                    let all = all_bits(value.undefined, size);
                    let unwritten = Rc::make_mut(unwritten);
                    unwritten.store_if(bits, condition, (offset, size), &all);
                }
                let old = self.load(bits, offset, size);
                let value = Sym::ite(bits, condition, value, &old);
                self.put(offset, size, value.defined());
            }
        }
    }

    /// Are two contents of the same object the same?
    pub(crate) fn same(bits: &mut Bits, a: &Self, b: &Self) -> Bit {
        let mut same = match (&a.bound, &b.bound) {
            (Some(a), Some(b)) => bits.eq(a, b),
            (None, None) => Bit::TRUE,
            _ => Bit::FALSE,
        };
        if let (Some(a), Some(b)) = (&a.unwritten, &b.unwritten)
            && !Rc::ptr_eq(a, b)
        {
            let both = Self::same(bits, a, b);
            same = bits.bit_and(same, both);
        }
        if !Base::may_be_same(&a.base, &b.base) {
            return Bit::FALSE;
        }
        for (one, other) in [(a, b), (b, a)] {
            for (offset, size, value) in one.parts() {
                let theirs = other.load(bits, offset, size);
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
        if let (Some(then), Some(otherwise)) = (&then.unwritten, &otherwise.unwritten)
            && !Rc::ptr_eq(then, otherwise)
        {
            let unwritten = Self::choose(bits, first, then, otherwise);
            chosen.unwritten = Some(Rc::new(unwritten));
        }
        if !Base::may_be_same(&then.base, &otherwise.base) {
            let kind = AnyKind::Choice(first, then.base.clone(), otherwise.base.clone());
            chosen.base = Base::Any(AnyBytes::of(kind));
        }
        for (offset, size, value) in then.parts() {
            let other = otherwise.load(bits, offset, size);
            let value = Sym::ite(bits, first, value, &other);
            chosen.put(offset, size, value);
        }
        for (offset, size, value) in otherwise.parts() {
            let known = then
                .parts
                .get(&offset)
                .is_some_and(|(part, _)| *part == size);
            if !known {
                let own = then.load(bits, offset, size);
                let value = Sym::ite(bits, first, &own, value);
                chosen.put(offset, size, value);
            }
        }
        chosen
    }
}

fn all_bits(bit: Bit, size: u8) -> Sym {
    Sym::of(Word::from_bits(vec![bit; usize::from(size) * 8]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_different_sizes_fit_together() {
        let mut bits = Bits::new();
        let mut contents = Contents::new(8, Some([1, 2, 3, 4, 5, 6, 7, 8].into()));
        assert_eq!(contents.load(&mut bits, 2, 2).as_constant(), Some(0x0403));
        contents.store(1, 2, Sym::constant(16, 0xBBAA));
        assert_eq!(
            contents.load(&mut bits, 0, 4).as_constant(),
            Some(0x04BB_AA01)
        );
        contents.store(2, 1, Sym::constant(8, 0xCC));
        assert_eq!(
            contents.load(&mut bits, 0, 8).as_constant(),
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
        assert_eq!(first.load(&mut bits, 0, 4).as_constant(), Some(0x1111_1111));
        let second = Contents::choose(&mut bits, Bit::FALSE, &a, &b);
        assert_eq!(second.load(&mut bits, 0, 4).as_constant(), Some(0x2200));
    }
}
