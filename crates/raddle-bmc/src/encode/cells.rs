//! Loads, stores and updates: of memory that the state knows for sure, and of cells that others may access.

use super::Encoder;
use super::access::{Case, Target, Updated};
use super::unwritten::NOT_WRITTEN;
use crate::events::{Access, StepKind};
use crate::facts::{Cell, Region};
use crate::state::State;
use crate::value::{Set, Sym};
use raddle_order::bits::{Bit, Word};
use raddle_program::interp::view::{ValueLayout, ValuePiece};
use raddle_program::{AccessKind, Fault, Order, Stop};
use std::rc::Rc;

impl Encoder<'_> {
    // ---- values

    pub(super) fn load_value(
        &mut self,
        state: &mut State,
        layout: &ValueLayout,
        address: &Sym,
        (pieces, order): (&[ValuePiece], Order),
    ) -> Result<Vec<Sym>, Stop> {
        let is_block = order.is_atomic() && pieces.len() > 1;
        if is_block {
            self.begin_block_of(state);
        }
        let mut parts: Vec<Vec<(u8, Sym)>> = vec![Vec::new(); layout.widths.len()];
        // A value is undefined if all of its bytes are.
        let mut undefined = vec![Bit::TRUE; layout.widths.len()];
        for piece in pieces {
            let at = self.plus(address, &Sym::constant(64, piece.offset));
            let (mut value, is_unwritten) = self.load_piece(state, &at, piece.size, order)?;
            if piece.narrow {
                value = self.pointer_of(state, &value)?;
            }
            parts[piece.slot].push((piece.shift, value));
            let slot = &mut undefined[piece.slot];
            *slot = self.out.bits.bit_and(*slot, is_unwritten);
        }
        if is_block {
            self.end_block_of(state);
        }
        let slots = parts.into_iter().zip(&layout.widths).zip(undefined);
        Ok(slots
            .map(|((parts, &width), undefined)| {
                let mut value = assemble(parts, width);
                value.undefined = undefined;
                value
            })
            .collect())
    }

    pub(super) fn store_value(
        &mut self,
        state: &mut State,
        address: &Sym,
        values: &[Sym],
        (pieces, order): (&[ValuePiece], Order),
    ) -> Result<(), Stop> {
        let is_block = order.is_atomic() && pieces.len() > 1;
        if is_block {
            self.begin_block_of(state);
        }
        for piece in pieces {
            let at = self.plus(address, &Sym::constant(64, piece.offset));
            let mut value = match piece.narrow {
                true => self.number_of(state, &values[piece.slot])?,
                false => part_of(&values[piece.slot], piece.shift, piece.size),
            };
            value.undefined = values[piece.slot].undefined;
            self.store(state, &at, piece.size, &value, order)?;
        }
        if is_block {
            self.end_block_of(state);
        }
        Ok(())
    }

    // ---- pieces

    /// Reads 1, 2, 4 or 8 bytes.
    pub(super) fn load(
        &mut self,
        state: &mut State,
        address: &Sym,
        size: u8,
        order: Order,
    ) -> Result<Sym, Stop> {
        let (value, _) = self.load_piece(state, address, size, order)?;
        Ok(value)
    }

    /// The same; and whether it is private memory that nobody has written.
    fn load_piece(
        &mut self,
        state: &mut State,
        address: &Sym,
        size: u8,
        order: Order,
    ) -> Result<(Sym, Bit), Stop> {
        let mut undefined = Bit::FALSE;
        let cases = self.resolve(state, address, u64::from(size), AccessKind::Read)?;
        self.check_alignment(state, &cases, (size, AccessKind::Read, order));
        let mut accesses = Vec::new();
        let mut candidates = Vec::new();
        let mut value: Option<Sym> = None;
        let is_split = self.is_split(state, &cases, size);
        for case in cases {
            let here = match self.contended(state, case.target) {
                None => {
                    self.check_written(state, &case, size)?;
                    let unwritten = self.private_unwritten(state, &case, size)?;
                    undefined = self.out.bits.bit_or(undefined, unwritten);
                    let contents = self.known(state, case.target)?;
                    contents.load(&mut self.out.bits, case.offset, size)
                }
                Some(region) => {
                    candidates.extend(self.candidate(state, (region, &case), size)?);
                    let place = (region, case.offset);
                    self.read(state, place, size, case.condition, &mut accesses)?
                }
            };
            value = Some(match value {
                None => here,
                Some(before) => Sym::ite(&mut self.out.bits, case.condition, &here, &before),
            });
        }
        let mut done = None;
        if !accesses.is_empty() {
            self.note_touches(&accesses, order);
            self.note_weak(state, &accesses, order);
            let step = self.step(state, StepKind::Load, order);
            self.out.steps[step].accesses = accesses;
            self.out.steps[step].is_atomic = is_split;
            done = Some(step);
        }
        self.add_candidates(candidates, done);
        // Nowhere to read from: a fault, whatever follows.
        let value = value.unwrap_or_else(|| Sym::zero(u32::from(size) * 8));
        Ok((value, undefined))
    }

    pub(super) fn store(
        &mut self,
        state: &mut State,
        address: &Sym,
        size: u8,
        value: &Sym,
        order: Order,
    ) -> Result<(), Stop> {
        let cases = self.resolve(state, address, u64::from(size), AccessKind::Write)?;
        self.check_alignment(state, &cases, (size, AccessKind::Write, order));
        let mut accesses = Vec::new();
        let is_split = self.is_split(state, &cases, size);
        let is_visible = is_visible(&cases);
        for case in cases {
            match self.contended(state, case.target) {
                None => {
                    self.note_own_store(state, &case, value);
                    // What is in shared memory is taken for written.
                    let value = &match case.target {
                        Target::Shared(_) => value.clone().defined(),
                        Target::Private(_) | Target::ThreadLocal(_) => value.clone(),
                    };
                    let contents = self.known(state, case.target)?;
                    let place = (case.offset, size);
                    Rc::make_mut(contents).store_if(
                        &mut self.out.bits,
                        case.condition,
                        place,
                        value,
                    );
                }
                Some(region) => {
                    let place = (region, case.offset);
                    self.write(state, place, value, case.condition, &mut accesses)?;
                }
            }
        }
        if !accesses.is_empty() {
            self.note_touches(&accesses, order);
            self.note_weak(state, &accesses, order);
            let step = self.step(state, StepKind::Store, order);
            self.out.steps[step].accesses = accesses;
            self.out.steps[step].is_atomic = is_split;
        } else if is_visible && order == Order::SeqCst {
            self.drain(state);
        }
        Ok(())
    }

    /// An atomic read and write.
    pub(super) fn update(
        &mut self,
        state: &mut State,
        address: &Sym,
        size: u8,
        (order, failure): (Order, Order),
        mut change: impl FnMut(&mut Self, &Sym) -> Result<Updated, Stop>,
    ) -> Result<Sym, Stop> {
        let cases = self.resolve(state, address, u64::from(size), AccessKind::Update)?;
        self.check_alignment(state, &cases, (size, AccessKind::Update, order));
        let mut accesses = Vec::new();
        let mut candidates = Vec::new();
        let mut value: Option<Sym> = None;
        let is_visible = is_visible(&cases);
        for case in cases {
            let place_size = (case.offset, size);
            let here = match self.contended(state, case.target) {
                None => {
                    self.check_written(state, &case, size)?;
                    let unwritten = self.private_unwritten(state, &case, size)?;
                    self.fault_if(state, unwritten, NOT_WRITTEN);
                    let contents = self.known(state, case.target)?;
                    let old = contents.load(&mut self.out.bits, case.offset, size);
                    let Updated { new, writes } = change(self, &old)?;
                    let condition = self.out.bits.bit_and(case.condition, writes);
                    let contents = self.known(state, case.target)?;
                    Rc::make_mut(contents).store_if(
                        &mut self.out.bits,
                        condition,
                        place_size,
                        &new,
                    );
                    old
                }
                Some(region) => {
                    candidates.extend(self.candidate(state, (region, &case), size)?);
                    let place = (region, case.offset);
                    let old = self.read(state, place, size, case.condition, &mut accesses)?;
                    let Updated { new, writes } = change(self, &old)?;
                    let condition = self.out.bits.bit_and(case.condition, writes);
                    self.write(state, place, &new, condition, &mut accesses)?;
                    old
                }
            };
            value = Some(match value {
                None => here,
                Some(before) => Sym::ite(&mut self.out.bits, case.condition, &here, &before),
            });
        }
        let mut done = None;
        if !accesses.is_empty() {
            self.note_touches(&accesses, order);
            self.note_weak(state, &accesses, order.min(failure));
            let step = self.step(state, StepKind::Update, order);
            self.out.steps[step].accesses = accesses;
            self.out.steps[step].failure = failure;
            done = Some(step);
        } else if is_visible {
            self.drain(state);
        }
        self.add_candidates(candidates, done);
        Ok(value.unwrap_or_else(|| Sym::zero(u32::from(size) * 8)))
    }

    /// Others may see what a thread stores in memory that it uses alone, if it is a mutex.
    fn note_own_store(&mut self, state: &State, case: &Case, value: &Sym) {
        if let Target::Shared(region) = case.target
            && !state.alone
        {
            let is_zero = value.as_constant() == Some(0);
            let size = (value.width() / 8) as u8;
            self.facts.store_own(region, case.offset, size, is_zero);
        }
    }

    fn note_touches(&mut self, accesses: &[Access], order: Order) {
        for access in accesses {
            let way = (access.is_write, order == Order::Plain);
            self.facts.touch(access.cell, self.thread, way);
        }
    }

    /// Remembers the first weak orderings: of the user's own atomics, and of libraries.
    pub(super) fn note_weak(&mut self, state: &State, accesses: &[Access], order: Order) {
        let known = self.out.weak;
        if !order.is_weak() || known.user.is_some() {
            return;
        }
        let tables = self.view.tables();
        let is_guard = |access: &Access| {
            let object = access.cell.region.object;
            tables.object_info(object).is_guard()
        };
        if accesses.iter().any(is_guard) {
            return;
        }
        let frames = state.frames.iter().rev();
        let points = frames.map(|frame| (&frame.code, frame.block, frame.index));
        let is_users = self.view.atomics_are_users(points);
        let at = self.position(state);
        if is_users {
            self.out.weak.user = Some(at);
        } else {
            self.out.weak.library = known.library.or(Some(at));
        }
    }

    /// Atomic accesses to shared memory must be aligned.
    fn check_alignment(
        &mut self,
        state: &mut State,
        cases: &[Case],
        (size, access, order): (u8, AccessKind, Order),
    ) {
        for case in cases {
            if let Target::Shared(region) = case.target
                && order.is_atomic()
                && !case.offset.is_multiple_of(u64::from(size))
            {
                let fault = Fault::Misaligned {
                    access,
                    object: region.object,
                    offset: case.offset as i64,
                    size: u64::from(size),
                };
                self.fault_if(state, case.condition, fault);
            }
        }
    }

    /// Does an access consist of several cells, because others access them by parts?
    fn is_split(&mut self, state: &State, cases: &[Case], size: u8) -> bool {
        let mut split = false;
        for case in cases {
            if let Some(region) = self.contended(state, case.target) {
                split |= self.facts.cells(region, case.offset, size).len() > 1;
            }
        }
        split
    }

    /// Reads cells that others may write.
    pub(super) fn read(
        &mut self,
        state: &State,
        (region, offset): (Region, u64),
        size: u8,
        condition: Bit,
        accesses: &mut Vec<Access>,
    ) -> Result<Sym, Stop> {
        let guard = self.out.bits.bit_and(state.path.guard(), condition);
        let mut parts = Vec::new();
        for cell in self.facts.cells(region, offset, size) {
            let shift = ((cell.offset - offset) * 8) as u8;
            parts.push((shift, self.read_cell(cell, guard, accesses)?));
        }
        Ok(assemble(parts, u32::from(size) * 8))
    }

    fn read_cell(
        &mut self,
        cell: Cell,
        guard: Bit,
        accesses: &mut Vec<Access>,
    ) -> Result<Sym, Stop> {
        let contents = self.first_contents(cell.region)?;
        let first = contents.load(&mut self.out.bits, cell.offset, cell.size);
        let Some(stored) = self.facts.stored(cell) else {
            return Ok(first);
        };
        let mut set = stored.union(first.likely_set());
        let mut likely = None;
        if first.likely.is_some() || self.facts.is_wild(cell) {
            likely = Some(std::mem::replace(&mut set, Set::Any));
        }
        let word = self.fresh_within(u32::from(cell.size) * 8, &set);
        let mut value = Sym::within(word, set);
        if let Some(likely) = likely {
            value = value.likely_within(likely);
        }
        let is_known = value.as_constant().is_some();
        if !is_known {
            self.reads += 1;
            value.sum = Some((self.reads, 0));
        }
        // Whoever reads what never changes may race with whoever writes it once more.
        let is_unwritten = self.first_unwritten(cell)? != Bit::FALSE;
        if !is_known || self.options.checks.races || is_unwritten {
            self.note_first(cell)?;
            accesses.push(Access {
                cell,
                is_write: false,
                guard,
                value: value.word.clone(),
                sum: value.sum,
            });
        }
        Ok(value)
    }

    /// Notes what a cell holds when the first thread is started. Whatever is read has a value then, by whomever.
    pub(super) fn note_first(&mut self, cell: Cell) -> Result<(), Stop> {
        if !self.out.firsts.contains_key(&cell) {
            let contents = self.first_contents(cell.region)?;
            let first = contents.load(&mut self.out.bits, cell.offset, cell.size);
            self.out.firsts.insert(cell, first.word);
        }
        Ok(())
    }

    /// A new word whose bits are fixed as far as all numbers of a set agree on them.
    fn fresh_within(&mut self, width: u32, set: &Set) -> Word {
        let (ones, zeros) = match set {
            Set::Any => (0, 0),
            Set::Values(values) => values
                .iter()
                .fold((u64::MAX, u64::MAX), |(ones, zeros), value| {
                    (ones & value, zeros & !value)
                }),
            Set::Objects(objects) => match **objects {
                [number] if number != 0 => {
                    let high = u64::from(number) << 32;
                    (high, !high & 0xFFFF_FFFF_0000_0000)
                }
                _ => (0, 0),
            },
        };
        let bits = (0..width)
            .map(|at| {
                if ones >> at & 1 == 1 {
                    Bit::TRUE
                } else if zeros >> at & 1 == 1 {
                    Bit::FALSE
                } else {
                    self.fresh_bit()
                }
            })
            .collect();
        Word::from_bits(bits)
    }

    /// Writes cells that others may read.
    pub(super) fn write(
        &mut self,
        state: &State,
        (region, offset): (Region, u64),
        value: &Sym,
        condition: Bit,
        accesses: &mut Vec<Access>,
    ) -> Result<(), Stop> {
        let guard = self.out.bits.bit_and(state.path.guard(), condition);
        if guard == Bit::FALSE {
            return Ok(());
        }
        let size = (value.width() / 8) as u8;
        for cell in self.facts.cells(region, offset, size) {
            let part = part_of(value, ((cell.offset - offset) * 8) as u8, cell.size);
            self.facts.store(cell, part.likely_set());
            if part.likely.is_some() {
                self.facts.store_wild(cell);
            }
            self.note_first(cell)?;
            accesses.push(Access {
                cell,
                is_write: true,
                guard,
                value: part.word,
                sum: part.sum,
            });
        }
        Ok(())
    }

    // ---- the end of being alone

    /// Other threads come into being: what is in memory now is what they find.
    pub(super) fn begin_sharing(&mut self, state: &mut State) -> Result<(), Stop> {
        if !state.alone {
            return Ok(());
        }
        if state.path.guard() != Bit::TRUE {
            return self.reveal(state);
        }
        state.alone = false;
        for (region, contents) in &state.own {
            self.out.initial.insert(*region, (**contents).clone());
        }
        self.share_sections(state);
        Ok(())
    }

    /// Writes down what is in memory, where others will see it only on this path.
    pub(super) fn reveal(&mut self, state: &mut State) -> Result<(), Stop> {
        state.alone = false;
        for (region, contents) in state.own.clone() {
            if self.knows(state, region) {
                continue;
            }
            for (offset, size, value) in contents.parts() {
                let mut accesses = Vec::new();
                debug_assert_eq!(u32::from(size) * 8, value.width());
                let is_unwritten = contents.is_unwritten(&mut self.out.bits, offset, size);
                self.write(state, (region, offset), value, !is_unwritten, &mut accesses)?;
                // They come before all that others do.
                self.note_touches(&accesses, Order::SeqCst);
                let step = self.step(state, StepKind::Flush, Order::Plain);
                self.out.steps[step].accesses = accesses;
            }
        }
        self.share_sections(state);
        Ok(())
    }
}

/// Is the access an operation of the machine? Then it may have to empty the store buffer, also where nobody else uses the memory.
fn is_visible(cases: &[Case]) -> bool {
    let mut targets = cases.iter().map(|case| case.target);
    targets.any(|target| matches!(target, Target::Shared(_)))
}

/// Puts a value together from parts of it, low ones first; bits beyond `width` are dropped.
fn assemble(mut parts: Vec<(u8, Sym)>, width: u32) -> Sym {
    if let [(0, value)] = &parts[..] {
        return narrowed(value, width);
    }
    parts.sort_by_key(|(shift, _)| *shift);
    let mut bits = Vec::new();
    for (shift, part) in &parts {
        bits.resize(usize::from(*shift), Bit::FALSE);
        bits.extend_from_slice(part.word.bits());
    }
    bits.resize(width as usize, Bit::FALSE);
    Sym::of(Word::from_bits(bits))
}

/// Some bytes of a value; bits that it does not have are 0.
pub(super) fn part_of(value: &Sym, shift: u8, size: u8) -> Sym {
    let width = u32::from(size) * 8;
    if shift == 0 && value.width() <= width {
        return widened(value, size);
    }
    let from = usize::from(shift);
    let to = (from + width as usize).min(value.word.width());
    let word = value.word.extract(from, to).zext(width as usize);
    value.map(word, |number| number >> shift & crate::value::mask(width))
}

pub(super) fn narrowed(value: &Sym, width: u32) -> Sym {
    if value.width() == width {
        return value.clone();
    }
    let word = value.word.extract(0, width as usize);
    value.map(word, |number| number & crate::value::mask(width))
}

pub(super) fn widened(value: &Sym, size: u8) -> Sym {
    let width = u32::from(size) * 8;
    if value.width() == width {
        return value.clone();
    }
    let word = value.word.zext(width as usize);
    value.map(word, |number| number)
}
