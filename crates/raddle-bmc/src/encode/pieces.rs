//! How accesses are cut into pieces: as the interpreter does it, which looks at where the address leads.
//!
//! Each piece is an event of its own, so an access must be cut in the formula as it is on the machine. Where an address may lead
//! to places at which accesses are cut differently, there is one state for each way; they meet again after the instruction.

use super::Encoder;
use super::access::{POSITION_BITS, order_of};
use super::flow::After;
use super::heap::LONGEST_COPY;
use super::library::Args;
use crate::state::State;
use crate::value::{Set, Sym};
use raddle_ir::{InstKind, Operand, TypeId, ValueId};
use raddle_program::interp::view::{ValueLayout, ValuePiece};
use raddle_program::tables::{OFFSET_BIAS, PRIVATE_THREAD};
use raddle_program::{ObjectKind, Order, Stop};

/// Only accesses of more bytes than this are cut.
const NEVER_CUT: u8 = 4;
/// So many pairs of addresses of a copy are looked at.
const MOST_WAYS: usize = 256;

/// One way in which an access may be cut.
struct Way {
    pieces: Vec<ValuePiece>,
    /// The addresses at which it is.
    addresses: Vec<u64>,
}

impl Encoder<'_> {
    pub(super) fn load_or_store(
        &mut self,
        state: &mut State,
        kind: &InstKind,
        result: Option<ValueId>,
    ) -> Result<After, Stop> {
        let (&ty, &ptr, atomic) = match kind {
            InstKind::Load {
                ty, ptr, atomic, ..
            }
            | InstKind::Store {
                ty, ptr, atomic, ..
            } => (ty, ptr, atomic),
            _ => return Ok(After::Next),
        };
        let order = atomic.map_or(Order::Plain, |(ordering, _)| order_of(ordering));
        let address = self.pointer(state, ptr)?;
        let address = self.pinned(state, address);
        let layout = self.view.layout(ty)?;
        let stored = match kind {
            InstKind::Store { value, .. } => Some((*value, ty)),
            _ => None,
        };
        let mut ways = match order {
            Order::Plain => self.ways_of_cutting(state, ty, &layout, &address)?,
            _ => Vec::new(),
        };
        if ways.len() < 2 {
            let pieces = ways.pop().map_or(layout.pieces.clone(), |way| way.pieces);
            let how = (&pieces[..], order);
            self.in_pieces(state, (&layout, &address), (stored, result), how)?;
            return Ok(After::Next);
        }
        let mut rest = state.clone();
        let count = ways.len();
        for (at, way) in ways.into_iter().enumerate() {
            let mut state = rest.clone();
            let mut address = address.clone();
            if at + 1 < count {
                let is_it = way.addresses.iter();
                let is_it: Vec<_> = is_it
                    .map(|&number| address.is(&mut self.out.bits, number))
                    .collect();
                let is_it = self.out.bits.any(is_it);
                state.path.push(&mut self.out.bits, is_it);
                rest.path.push(&mut self.out.bits, !is_it);
                address.set = Set::of(way.addresses);
            } else if address.set.values().is_some() {
                address.set = Set::of(way.addresses);
            }
            if state.path.is_impossible() {
                continue;
            }
            let how = (&way.pieces[..], order);
            let done = self.in_pieces(&mut state, (&layout, &address), (stored, result), how);
            self.settle(state, done.map(|()| After::Next))?;
        }
        Ok(After::Gone)
    }

    /// A load, or a store of `stored`.
    fn in_pieces(
        &mut self,
        state: &mut State,
        (layout, address): (&ValueLayout, &Sym),
        (stored, result): (Option<(Operand, TypeId)>, Option<ValueId>),
        how: (&[ValuePiece], Order),
    ) -> Result<(), Stop> {
        if let Some((value, ty)) = stored {
            let values = self.operand(state, value, ty)?;
            return self.store_value(state, address, &values, how);
        }
        let values = self.load_value(state, layout, address, how)?;
        self.set(state, result, values);
        Ok(())
    }

    /// The ways in which a plain access is cut; none if it is not cut anywhere.
    fn ways_of_cutting(
        &mut self,
        state: &State,
        ty: TypeId,
        layout: &ValueLayout,
        address: &Sym,
    ) -> Result<Vec<Way>, Stop> {
        let mut ways: Vec<Way> = Vec::new();
        if layout.pieces.iter().all(|piece| piece.size <= NEVER_CUT) {
            return Ok(ways);
        }
        let addresses = match &address.set {
            // This is refused where the access is encoded.
            Set::Any => return Ok(ways),
            _ => self.places(state, address, layout.store_size)?,
        };
        for address in addresses {
            let pieces = self.view.plain_pieces(ty, address)?;
            match ways.iter_mut().find(|way| way.pieces == pieces) {
                Some(way) => way.addresses.push(address),
                None => ways.push(Way {
                    pieces,
                    addresses: vec![address],
                }),
            }
        }
        Ok(ways)
    }

    // ---- copies

    /// How many bytes to copy, fill or compare at once. Fields of shared variables come first; where there are none, fields of the
    /// others; where nothing is known, alignment.
    pub(super) fn chunk(&mut self, state: &State, addresses: &[&Sym], done: u64, left: u64) -> u8 {
        let first = |address: &Sym| match &address.set {
            Set::Values(values) => values.first().copied(),
            Set::Objects(_) | Set::Any => None,
        };
        let addresses: Vec<u64> = addresses
            .iter()
            .filter_map(|address| first(address))
            .map(|address| address.wrapping_add(done))
            .collect();
        self.chunk_at(state, &addresses, left)
    }

    fn chunk_at(&mut self, state: &State, addresses: &[u64], left: u64) -> u8 {
        let smaller = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        let (mut shared_field, mut other_field) = (None, None);
        let mut alignment = 8u64;
        for &address in addresses {
            if self.is_shared_place(address) {
                let offset = address.wrapping_sub(OFFSET_BIAS) & 0xFFFF_FFFF;
                alignment = alignment.min(1 << offset.trailing_zeros().min(3));
                shared_field = smaller(shared_field, self.view.field_end(address));
            } else {
                other_field = smaller(other_field, self.field_end(state, address));
            }
        }
        let limit = shared_field.or(other_field).unwrap_or(alignment);
        1 << limit.min(left).clamp(1, 8).ilog2()
    }

    /// Does the address lead to what other threads may see and change?
    fn is_shared_place(&self, address: u64) -> bool {
        let number = (address >> 32) as u32;
        let object = self.view.tables().resolve(address);
        number >> POSITION_BITS != PRIVATE_THREAD
            && object.is_some_and(|(object, _)| {
                self.view.tables().object_info(object).kind != ObjectKind::Constant
            })
    }

    fn field_end(&mut self, state: &State, address: u64) -> Option<u64> {
        let number = (address >> 32) as u32;
        let position = (number & ((1 << POSITION_BITS) - 1)) as usize;
        if number >> POSITION_BITS != PRIVATE_THREAD || position >= state.private.len() {
            return self.view.field_end(address);
        }
        let offset = (address & 0xFFFF_FFFF).checked_sub(OFFSET_BIAS)?;
        let ty = state.private[position].ty?;
        self.view.field_end_in(ty, offset)
    }

    /// An address that must be one number, because a copy is cut differently at those that it may be: its position among the
    /// arguments.
    pub(super) fn address_that_cuts(
        &mut self,
        state: &State,
        name: &str,
        args: &Args,
    ) -> Option<usize> {
        let addresses = match name {
            "memset" | "__memset_chk" => 1,
            "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk" | "memcmp" | "bcmp" => 2,
            _ if name.starts_with("llvm.memset.") => 1,
            _ if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") => 2,
            _ => return None,
        };
        let length = args.get(2)?.as_constant();
        let length = length.filter(|&length| length <= LONGEST_COPY)?;
        let numbers = |at: usize| args[at].set.values().map(<[u64]>::to_vec);
        let open = (0..addresses).find(|&at| numbers(at).is_some_and(|all| all.len() > 1))?;
        let mut ways = vec![Vec::new()];
        for all in (0..addresses).filter_map(numbers) {
            if ways.len() * all.len() > MOST_WAYS {
                return Some(open);
            }
            let extend = |way: &Vec<u64>| {
                let way = way.clone();
                let extended = all
                    .iter()
                    .map(move |&number| [&way[..], &[number]].concat());
                extended.collect::<Vec<_>>()
            };
            ways = ways.iter().flat_map(extend).collect();
        }
        let mut cuts = ways.iter().map(|bases| self.cuts(state, bases, length));
        let first = cuts.next()?;
        (!cuts.all(|cuts| cuts == first)).then_some(open)
    }

    fn cuts(&mut self, state: &State, bases: &[u64], length: u64) -> Vec<u8> {
        let mut cuts = Vec::new();
        let mut done = 0;
        while done < length {
            let at: Vec<u64> = bases.iter().map(|base| base.wrapping_add(done)).collect();
            let size = self.chunk_at(state, &at, length - done);
            cuts.push(size);
            done += u64::from(size);
        }
        cuts
    }
}
