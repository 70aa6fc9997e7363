//! Blocks of memory whose size is not known.
//!
//! What can be one of a few sizes is one state for each (`library_with`). Any other block is *open*: one object of the encoding that
//! stands for an object of the program for each size. Its address is none of theirs, so numbers made of it are refused
//! (`uncertain`). Its size is a word of the formula, which accesses are compared with; what does not fit in is the same
//! fault as on the machine, whatever is beside it there. A size that the solver finds is what the machine computes when it is led there.
//!
//! A block may be accessed by a thread that is encoded before the one that makes it, and exclusive paths may make the same object
//! with different sizes. So its size is promised: a word that nothing is known of but how large it may be, and that is what a path asks for wherever one
//! makes the object.

use super::access::{Target, private_variable};
use super::flow::After;
use super::heap::LONGEST_COPY;
use super::library::Args;
use super::{Encoder, unsupported, unsupported_call};
use crate::contents::Contents;
use crate::state::State;
use crate::value::Sym;
use raddle_ir::inst::Call;
use raddle_ir::{FuncId, ValueId};
use raddle_order::bits::{Bit, Word};
use raddle_program::interp::MAX_BLOCK;
use raddle_program::tables::NewObject;
use raddle_program::{ObjectId, ObjectKind, Stop};

/// So many bytes of an open block are looked at; accesses further on are refused, if the block is so large. More than any
/// block that has a place by its size alone (`raddle_program::names`), so that `site` keeps it apart from blocks of this size.
pub(super) const OPEN_SIZE: u64 = 1 << 16;
/// So many if the index is not known, either: each of them is a case.
const OPEN_SPREAD: u64 = 512;
/// Tells open blocks from others of the same size.
pub(super) const OPEN_SITE: u64 = 0x6F70_656E_0000_0000;
/// Copies, fills and comparisons of an unknown length: up to here there is one state for each.
const LONGEST_OPEN_COPY: u64 = 32;
/// Where they may begin.
const MOST_OPEN_PLACES: usize = 4;

/// What `malloc` aligns to.
pub(super) const MALLOC_ALIGN: u64 = 16;

/// A call that allocates: alignment and size.
struct Request {
    align: u64,
    size: Word,
    /// The size is more than 64 bits can say.
    overflows: Bit,
}

impl Encoder<'_> {
    /// Calls a function that allocates, if its size is not known. None if it is another call.
    pub(super) fn allocate_open(
        &mut self,
        state: &mut State,
        (function, name): (FuncId, &str),
        (call, result): (&Call, Option<ValueId>),
        args: &Args,
    ) -> Result<Option<After>, Stop> {
        let Some(request) = self.open_request(name, args)? else {
            return Ok(None);
        };
        // What is too large fails, as it does for any size that is known.
        let most = Word::constant(64, u128::from(MAX_BLOCK));
        let too_large = self.out.bits.ult(&most, &request.size);
        let too_large = self.out.bits.bit_or(too_large, request.overflows);
        let mut failing = state.clone();
        failing.path.push(&mut self.out.bits, too_large);
        if !failing.path.is_impossible() {
            let after = match name {
                "realloc" | "reallocarray" => {
                    if self.heap_block(&args[0]).is_none() && args[0].as_constant() != Some(0) {
                        self.free(&mut failing, &args[0])?;
                    }
                    self.set(&mut failing, result, vec![Sym::zero(64)]);
                    self.after_call(&mut failing, After::Next)
                }
                _ => {
                    let mut args = args.clone();
                    for &at in sizes_of(name) {
                        args[at] = Sym::constant(64, u64::MAX);
                    }
                    let callee = (function, name);
                    self.library_with(&mut failing, callee, (call, result), args)
                }
            };
            self.settle(failing, after)?;
        }
        state.path.push(&mut self.out.bits, !too_large);
        if state.path.is_impossible() {
            return Ok(Some(After::Gone));
        }
        let size = Sym::of(request.size);
        if matches!(name, "realloc" | "reallocarray") && args[0].as_constant() != Some(0) {
            return self
                .reallocate_open(state, name, (&args[0], &size), result)
                .map(Some);
        }
        let block = match size.as_constant() {
            Some(_) => self.allocate(state, name, &size, request.align)?,
            None => self.open_block(state, name, &size, request.align)?,
        };
        let value = match name {
            "posix_memalign" => {
                let (size, number) = (self.word_size(), self.number_of(state, &block)?);
                self.store(state, &args[0], size, &number, raddle_program::Order::Plain)?;
                Sym::zero(32)
            }
            _ => block,
        };
        self.set(state, result, vec![value]);
        // The other state is at the end of the call by now; they are to meet there.
        let after = match state.path.is_impossible() {
            true => Ok(After::Gone),
            false => self.after_call(state, After::Next),
        };
        self.settle(state.clone(), after)?;
        Ok(Some(After::Gone))
    }

    fn open_request(&mut self, name: &str, args: &Args) -> Result<Option<Request>, Stop> {
        let sizes = sizes_of(name);
        let moves_open = matches!(name, "realloc" | "reallocarray") && self.is_open(&args[0]);
        if sizes.iter().all(|&at| args[at].as_constant().is_some()) && !moves_open {
            return Ok(None);
        }
        let align = match name {
            "aligned_alloc" | "memalign" => Some(&args[0]),
            "posix_memalign" => Some(&args[1]),
            _ if name.contains("align_val_t") => Some(&args[1]),
            _ => None,
        };
        let align = match (align, name) {
            (None, "valloc" | "pvalloc") => 4096,
            (None, _) => MALLOC_ALIGN,
            (Some(align), _) => match align.as_constant() {
                Some(align) if align.is_power_of_two() => align.max(MALLOC_ALIGN),
                // A model answers that without looking at the size, or it cannot.
                _ => return Err(unsupported_call(name, "an alignment that is not known")),
            },
        };
        let wide = |at: usize| args[at].word.zext(64);
        Ok(Some(match *sizes {
            [one, two] => Request {
                align,
                overflows: self.out.bits.umul_overflows(&wide(one), &wide(two)),
                size: self.out.bits.mul(&wide(one), &wide(two)),
            },
            _ => Request {
                align,
                size: wide(sizes[0]),
                overflows: Bit::FALSE,
            },
        }))
    }

    /// Does an address lead to the beginning of a block whose size is not known?
    fn is_open(&self, address: &Sym) -> bool {
        let found = address
            .as_constant()
            .and_then(|at| self.view.tables().resolve(at));
        found.is_some_and(|(object, offset)| offset == 0 && self.facts.open_size(object).is_some())
    }

    /// What `malloc_usable_size` returns for a block whose size is not known.
    pub(super) fn usable_size(&mut self, address: &Sym) -> Option<Sym> {
        let (object, offset) = self.view.tables().resolve(address.as_constant()?)?;
        let size = self.promised_size(object).filter(|_| offset == 0)?;
        Some(Sym::of(size))
    }

    /// A heap block of this size, which is not too large.
    fn open_block(
        &mut self,
        state: &mut State,
        name: &str,
        size: &Sym,
        align: u64,
    ) -> Result<Sym, Stop> {
        let at = self.position(state);
        let new = NewObject {
            kind: ObjectKind::Heap,
            size: OPEN_SIZE,
            align,
            name: name.into(),
            at,
            source_type: None,
            init: None,
            site: OPEN_SITE,
        };
        let object = self.new_object(state, new, None)?;
        self.keep_promise(state, object, &size.word);
        self.note_block(state, object, name == "calloc");
        Ok(Sym::constant(64, self.view.tables().address(object, 0)))
    }

    /// The object is made with this size, where the path leads to it.
    pub(super) fn keep_promise(&mut self, state: &State, object: ObjectId, size: &Word) {
        self.facts.add_open_size(object, most(size).min(MAX_BLOCK));
        let number = (self.view.tables().address(object, 0) >> 32) as u32;
        self.uncertain.insert(number);
        if let Some(promised) = self.promised_size(object) {
            let is_kept = self.out.bits.eq(&promised, size);
            let is_kept = self.out.bits.bit_or(!state.path.guard(), is_kept);
            self.out.required.push(is_kept);
        }
    }

    /// The size of an open block.
    fn promised_size(&mut self, object: ObjectId) -> Option<Word> {
        let most = self.facts.open_size(object)?;
        if let Some(size) = self.out.sizes.get(&object) {
            return Some(size.clone());
        }
        let width = most.max(1).ilog2() as usize + 1;
        let size = self.out.bits.fresh_from_top(width, &mut self.out.vars);
        let size = size.zext(64);
        self.out.sizes.insert(object, size.clone());
        Some(size)
    }

    /// The size of a stack variable of so many elements. One that is too large is refused, as on the machine.
    pub(super) fn open_variable_bound(
        &mut self,
        state: &mut State,
        count: &Sym,
        element: u64,
    ) -> Result<Word, Stop> {
        let count = count.word.zext(64);
        let element = Word::constant(64, u128::from(element));
        let overflows = self.out.bits.umul_overflows(&count, &element);
        let size = self.out.bits.mul(&count, &element);
        let largest = Word::constant(64, u128::from(MAX_BLOCK));
        let too_large = self.out.bits.ult(&largest, &size);
        let too_large = self.out.bits.bit_or(too_large, overflows);
        let refused = unsupported("a stack variable without a sensible size");
        self.refuse_if(state, too_large, refused);
        // What is left is no larger.
        let width = MAX_BLOCK.ilog2() as usize + 1;
        Ok(size.extract(0, width).zext(64))
    }

    // ---- accesses

    /// The size of what an address leads to, where that is not known.
    pub(super) fn open_bound(&mut self, state: &State, target: Target) -> Option<Word> {
        match target {
            Target::Private(position) => state.private[position].bound.clone(),
            Target::ThreadLocal(_) => None,
            Target::Shared(region) => self.promised_size(region.object),
        }
    }

    /// How much of an object is looked at where the index is not known.
    pub(super) fn spread(&self, object: ObjectId, size: u64) -> u64 {
        match self.facts.open_size(object) {
            Some(most) => most.min(OPEN_SPREAD),
            None => size,
        }
    }

    /// Refuses an access inside of a block that is larger than what is looked at of it. `known` says that it is at a place that is.
    pub(super) fn refuse_far_accesses(
        &mut self,
        state: &mut State,
        (address, size): (&Sym, u64),
        known: Bit,
    ) {
        let Some(numbers) = address.set.objects() else {
            return;
        };
        let seen = match address.set.values() {
            Some(_) => OPEN_SIZE,
            None => OPEN_SPREAD,
        };
        for &number in &*numbers {
            for (base, bound) in self.open_blocks(state, number) {
                if most(&bound) <= seen {
                    continue;
                }
                let bits = &mut self.out.bits;
                let low = |value: u64| Word::constant(33, u128::from(value & 0xFFFF_FFFF));
                let at = address.word.extract(0, 32).zext(33);
                let offset = bits.sub(&at, &low(base));
                let is_inside = !offset.sign();
                let end = bits.add(&offset.zext(64), &Word::constant(64, u128::from(size)));
                let fits = bits.ule(&end, &bound);
                let high = Word::constant(32, u128::from(number));
                let is_here = bits.eq(&address.word.extract(32, 64), &high);
                let far = bits.all([is_here, is_inside, fits, !known]);
                self.refuse_if(
                    state,
                    far,
                    unsupported("an access far inside of a block whose size is not known"),
                );
            }
        }
    }

    /// The blocks of unknown size with an address number: where they begin, and their sizes.
    fn open_blocks(&mut self, state: &State, number: u32) -> Vec<(u64, Word)> {
        if let Some((base, contents)) = private_variable(state, number) {
            let bound = contents.bound.clone();
            return bound.map(|bound| (base, bound)).into_iter().collect();
        }
        let objects = self.view.tables().numbered(number).to_vec();
        let mut blocks = Vec::new();
        for object in objects {
            if let Some(size) = self.promised_size(object) {
                blocks.push((self.view.tables().address(object, 0), size));
            }
        }
        blocks
    }

    // ---- copies

    /// A copy of a length that is not known: one state for each of the shorter ones, and a refusal for the others. Where it is not
    /// known either where bytes are copied to or from, that would be too much.
    pub(super) fn open_lengths(
        &mut self,
        state: &State,
        addresses: &[Sym],
        length: &Sym,
    ) -> Vec<(State, Option<u64>)> {
        let is_plain = |address: &Sym| {
            let values = address.set.values();
            values.is_some_and(|values| values.len() <= MOST_OPEN_PLACES)
        };
        if !addresses.iter().all(is_plain) {
            return vec![(state.clone(), None)];
        }
        let longest = most(&length.word).min(LONGEST_OPEN_COPY);
        self.lengths_up_to(state, length, longest)
    }

    /// One state for each number up to `longest`, and one for all that are greater.
    fn lengths_up_to(
        &mut self,
        state: &State,
        length: &Sym,
        longest: u64,
    ) -> Vec<(State, Option<u64>)> {
        let mut rest = state.clone();
        let mut ways = Vec::new();
        for number in 0..=longest {
            let is_it = length.is(&mut self.out.bits, number);
            let mut way = rest.clone();
            way.path.push(&mut self.out.bits, is_it);
            rest.path.push(&mut self.out.bits, !is_it);
            ways.push((way, Some(number)));
        }
        if most(&length.word) > longest {
            ways.push((rest, None));
        }
        ways.retain(|(way, _)| !way.path.is_impossible());
        ways
    }

    /// The size of a block, and the largest that it may be.
    fn size_of_block(&mut self, object: ObjectId) -> Word {
        let size = self.view.tables().object_info(object).size;
        self.promised_size(object)
            .unwrap_or_else(|| Word::constant(64, u128::from(size)))
    }

    /// Always moves, as on the machine: a new block, a copy of what both have room for, and the end of the old one.
    pub(super) fn reallocate_open(
        &mut self,
        state: &State,
        name: &str,
        (old, size): (&Sym, &Sym),
        result: Option<ValueId>,
    ) -> Result<After, Stop> {
        if old.as_constant().is_none() {
            return Err(unsupported_call(name, "an address that is not known"));
        }
        let kept = match self.heap_block(old) {
            Some(object) => {
                let room = self.size_of_block(object);
                let is_less = self.out.bits.ult(&size.word, &room);
                self.out.bits.ite(is_less, &size.word, &room)
            }
            None => Word::constant(64, 0),
        };
        let is_nothing = self.out.bits.is_zero(&size.word);
        let kept = Sym::of(kept);
        let longest = most(&kept.word).min(LONGEST_COPY).min(64);
        for (mut state, length) in self.lengths_up_to(state, &kept, longest) {
            let mut nothing = state.clone();
            nothing.path.push(&mut self.out.bits, is_nothing);
            if !nothing.path.is_impossible() {
                let after = match self.free(&mut nothing, old) {
                    Ok(()) => {
                        self.set(&mut nothing, result, vec![Sym::zero(64)]);
                        self.after_call(&mut nothing, After::Next)
                    }
                    Err(stop) => Err(stop),
                };
                self.settle(nothing, after)?;
            }
            state.path.push(&mut self.out.bits, !is_nothing);
            if state.path.is_impossible() {
                continue;
            }
            let Some(length) = length else {
                let refused =
                    unsupported_call(name, "a copy of a length that is not known, or large");
                self.stopped(&state, refused)?;
                continue;
            };
            let after = match self.move_block(&mut state, name, (old, size), length) {
                Ok(new) => {
                    self.set(&mut state, result, vec![new]);
                    self.after_call(&mut state, After::Next)
                }
                Err(stop) => Err(stop),
            };
            self.settle(state, after)?;
        }
        Ok(After::Gone)
    }

    fn move_block(
        &mut self,
        state: &mut State,
        name: &str,
        (old, size): (&Sym, &Sym),
        kept: u64,
    ) -> Result<Sym, Stop> {
        let new = match size.as_constant() {
            Some(_) => self.allocate(state, name, size, MALLOC_ALIGN)?,
            None => self.open_block(state, name, size, MALLOC_ALIGN)?,
        };
        let args = vec![new.clone(), old.clone(), Sym::constant(64, kept)];
        self.copy(state, &args)?;
        self.free(state, old)?;
        Ok(new)
    }
}

/// The largest number that a word may be, by the bits that are known.
pub(super) fn most(word: &Word) -> u64 {
    let bits = word.bits().iter().take(64).enumerate();
    bits.fold(0, |most, (at, &bit)| {
        most | u64::from(bit != Bit::FALSE) << at
    })
}

/// How much of a private variable is looked at where the index is not known.
pub(super) fn spread_of_variable(contents: &Contents) -> u64 {
    match &contents.bound {
        Some(bound) => most(bound).min(OPEN_SPREAD),
        None => contents.size,
    }
}

/// The arguments of a function that allocates whose product is the size.
fn sizes_of(name: &str) -> &'static [usize] {
    match name {
        "malloc" | "valloc" | "pvalloc" => &[0],
        "aligned_alloc" | "memalign" | "realloc" => &[1],
        "posix_memalign" => &[2],
        "calloc" => &[0, 1],
        "reallocarray" => &[1, 2],
        _ if name.starts_with("_Znwm") || name.starts_with("_Znam") => &[0],
        _ => &[],
    }
}
