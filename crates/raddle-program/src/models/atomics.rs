//! Atomic operations that compilers leave to a library: `__atomic_*`, `__sync_*` and the functions of `<stdatomic.h>`.
//!
//! Sizes that memory knows are one operation. Others (sixteen bytes, odd structs) are piecewise accesses in an atomic block.

use super::errno::zero;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Order, RmwKind};

pub(super) const MODELS: &[Model] = &[
    model("__atomic_load", generic_load),
    model("__atomic_store", generic_store),
    model("__atomic_exchange", generic_exchange),
    model("__atomic_compare_exchange", generic_compare_exchange),
    model("__atomic_load_*", sized_load),
    model("__atomic_store_*", sized_store),
    model("__atomic_exchange_*", sized_exchange),
    model("__atomic_compare_exchange_*", sized_compare_exchange),
    model("__atomic_fetch_*", fetch_op),
    model("__atomic_add_fetch_*", op_fetch),
    model("__atomic_sub_fetch_*", op_fetch),
    model("__atomic_and_fetch_*", op_fetch),
    model("__atomic_or_fetch_*", op_fetch),
    model("__atomic_xor_fetch_*", op_fetch),
    model("__atomic_nand_fetch_*", op_fetch),
    model("__atomic_test_and_set", test_and_set),
    model("__atomic_clear", clear),
    model("__atomic_thread_fence", thread_fence),
    model("__atomic_signal_fence", zero),
    model("__atomic_is_lock_free", is_lock_free),
    model("__atomic_always_lock_free", is_lock_free),
    model("__sync_fetch_and_*", sync_fetch_op),
    model("__sync_add_and_fetch*", sync_op_fetch),
    model("__sync_sub_and_fetch*", sync_op_fetch),
    model("__sync_and_and_fetch*", sync_op_fetch),
    model("__sync_or_and_fetch*", sync_op_fetch),
    model("__sync_xor_and_fetch*", sync_op_fetch),
    model("__sync_nand_and_fetch*", sync_op_fetch),
    model("__sync_val_compare_and_swap*", sync_compare_and_swap),
    model("__sync_bool_compare_and_swap*", sync_compare_and_swap),
    model("__sync_lock_test_and_set*", sync_test_and_set),
    model("__sync_lock_release*", sync_release),
    model("__sync_synchronize", full_fence),
    model("atomic_flag_test_and_set", flag_test_and_set),
    model("atomic_flag_test_and_set_explicit", test_and_set),
    model("atomic_flag_clear", flag_clear),
    model("atomic_flag_clear_explicit", clear),
    model("atomic_thread_fence", thread_fence),
    model("atomic_signal_fence", zero),
];

/// The memory order that an argument stands for.
fn order(number: u64) -> Order {
    match number & 0xFFFF {
        0 => Order::Relaxed,
        1 | 2 => Order::Acquire,
        3 => Order::Release,
        4 => Order::AcqRel,
        _ => Order::SeqCst,
    }
}

/// The number that a function's name ends in.
fn size_in_name(cx: &Script<'_, '_>) -> Result<u8, Pause> {
    let name = cx.function_name();
    match name.rsplit('_').next() {
        Some("1") => Ok(1),
        Some("2") => Ok(2),
        Some("4") => Ok(4),
        Some("8") => Ok(8),
        Some("16") => Ok(16),
        _ => Err(cx.unsupported("the size of the operand is not part of its name")),
    }
}

/// The update that a function's name speaks of.
fn kind_in_name(cx: &Script<'_, '_>) -> Result<RmwKind, Pause> {
    let name = cx.function_name();
    // In `__sync_fetch_and_add` the first word that names an update is the conjunction.
    let words = name.strip_prefix("__sync_fetch_and_").unwrap_or(name);
    for word in words.split('_') {
        return Ok(match word {
            "add" => RmwKind::Add,
            "sub" => RmwKind::Sub,
            "and" => RmwKind::And,
            "or" => RmwKind::Or,
            "xor" => RmwKind::Xor,
            "nand" => RmwKind::Nand,
            "max" => RmwKind::Max,
            "min" => RmwKind::Min,
            "umax" => RmwKind::UMax,
            "umin" => RmwKind::UMin,
            _ => continue,
        });
    }
    Err(cx.unsupported("an update that is not known"))
}

// ---- any size

/// Nobody has larger atomic objects on purpose.
const LARGEST: u64 = 1 << 12;

fn checked_pieces(cx: &Script<'_, '_>, address: u64, size: u64) -> Result<Vec<(u64, u8)>, Pause> {
    if size > LARGEST {
        return Err(cx.unsupported("an atomic access of this size"));
    }
    Ok(pieces(address, size))
}

/// Pieces of 1, 2, 4 or 8 bytes that are aligned as the address is.
fn pieces(address: u64, size: u64) -> Vec<(u64, u8)> {
    let mut pieces = Vec::new();
    let mut offset = 0;
    while offset < size {
        let aligned = 1u64 << (address.wrapping_add(offset)).trailing_zeros().min(3);
        let piece = aligned.min(1 << (size - offset).ilog2());
        pieces.push((offset, piece as u8));
        offset += piece;
    }
    pieces
}

impl Script<'_, '_> {
    /// Reads `size` bytes, plainly or as part of something atomic.
    fn load_all(&mut self, address: u64, pieces: &[(u64, u8)], order: Order) -> Pieces {
        let mut values = Vec::with_capacity(pieces.len());
        for &(offset, size) in pieces {
            values.push(self.load(address.wrapping_add(offset), size, order)?);
        }
        Ok(values)
    }

    fn store_all(
        &mut self,
        address: u64,
        pieces: &[(u64, u8)],
        values: &[u64],
        order: Order,
    ) -> Result<(), Pause> {
        for (&(offset, size), &value) in pieces.iter().zip(values) {
            self.store(address.wrapping_add(offset), size, value, order)?;
        }
        Ok(())
    }

    /// Starts an atomic block unless the access is a single piece.
    fn begin_wide(&mut self, pieces: &[(u64, u8)]) -> Result<(), Pause> {
        if pieces.len() > 1 {
            self.atomic_begin()?;
        }
        Ok(())
    }

    fn end_wide(&mut self, pieces: &[(u64, u8)]) -> Result<(), Pause> {
        if pieces.len() > 1 {
            self.atomic_end()?;
        }
        Ok(())
    }

    /// Replaces the contents and returns the old ones.
    fn exchange_all(
        &mut self,
        address: u64,
        pieces: &[(u64, u8)],
        values: &[u64],
        order: Order,
    ) -> Pieces {
        if let (&[(_, size)], &[value]) = (pieces, values) {
            return Ok(vec![self.rmw(
                address,
                size,
                RmwKind::Exchange,
                value,
                order,
            )?]);
        }
        self.begin_wide(pieces)?;
        let old = self.load_all(address, pieces, order)?;
        self.store_all(address, pieces, values, order)?;
        self.end_wide(pieces)?;
        Ok(old)
    }

    /// Returns the old contents.
    fn compare_exchange_all(
        &mut self,
        address: u64,
        pieces: &[(u64, u8)],
        (expected, new): (&[u64], &[u64]),
        orders: (Order, Order),
    ) -> Pieces {
        if let (&[(_, size)], &[expected], &[new]) = (pieces, expected, new) {
            return Ok(vec![self.cas(address, size, (expected, new), orders)?]);
        }
        self.begin_wide(pieces)?;
        let old = self.load_all(address, pieces, orders.0)?;
        if old == expected {
            self.store_all(address, pieces, new, orders.0)?;
        }
        self.end_wide(pieces)?;
        Ok(old)
    }
}

type Pieces = Result<Vec<u64>, Pause>;

// ---- __atomic_load(size, pointer, …): the values are in memory

fn generic_load(cx: &mut Script<'_, '_>) -> ModelResult {
    let (size, from, to) = (cx.arg(0), cx.arg(1), cx.arg(2));
    let order = order(cx.arg(3));
    let pieces = checked_pieces(cx, from, size)?;
    cx.begin_wide(&pieces)?;
    let values = cx.load_all(from, &pieces, order)?;
    cx.end_wide(&pieces)?;
    cx.store_all(to, &pieces, &values, Order::Plain)?;
    Ok(Outcome::Void)
}

fn generic_store(cx: &mut Script<'_, '_>) -> ModelResult {
    let (size, to, from) = (cx.arg(0), cx.arg(1), cx.arg(2));
    let order = order(cx.arg(3));
    let pieces = checked_pieces(cx, to, size)?;
    let values = cx.load_all(from, &pieces, Order::Plain)?;
    cx.begin_wide(&pieces)?;
    cx.store_all(to, &pieces, &values, order)?;
    cx.end_wide(&pieces)?;
    Ok(Outcome::Void)
}

fn generic_exchange(cx: &mut Script<'_, '_>) -> ModelResult {
    let (size, address, from, to) = (cx.arg(0), cx.arg(1), cx.arg(2), cx.arg(3));
    let order = order(cx.arg(4));
    let pieces = checked_pieces(cx, address, size)?;
    let values = cx.load_all(from, &pieces, Order::Plain)?;
    let old = cx.exchange_all(address, &pieces, &values, order)?;
    cx.store_all(to, &pieces, &old, Order::Plain)?;
    Ok(Outcome::Void)
}

fn generic_compare_exchange(cx: &mut Script<'_, '_>) -> ModelResult {
    let (size, address, expected_at, new_at) = (cx.arg(0), cx.arg(1), cx.arg(2), cx.arg(3));
    let orders = (order(cx.arg(4)), order(cx.arg(5)));
    let pieces = checked_pieces(cx, address, size)?;
    let expected = cx.load_all(expected_at, &pieces, Order::Plain)?;
    let new = cx.load_all(new_at, &pieces, Order::Plain)?;
    let old = cx.compare_exchange_all(address, &pieces, (&expected, &new), orders)?;
    let success = old == expected;
    if !success {
        cx.store_all(expected_at, &pieces, &old, Order::Plain)?;
    }
    Ok(Outcome::Return(u64::from(success)))
}

// ---- __atomic_load_4(pointer, …): the values are arguments, those of sixteen bytes two slots each

/// The pieces of a size that a name can end in, and how many argument slots a value has.
fn sized(size: u8) -> (Vec<(u64, u8)>, usize) {
    if size <= 8 {
        // Misaligned ones must be seen as such.
        (vec![(0, size)], 1)
    } else {
        (vec![(0, 8), (8, 8)], 2)
    }
}

fn slots(cx: &Script<'_, '_>, first: usize, count: usize) -> Vec<u64> {
    (first..first + count).map(|index| cx.arg(index)).collect()
}

fn sized_load(cx: &mut Script<'_, '_>) -> ModelResult {
    let address = cx.arg(0);
    let (pieces, _) = sized(size_in_name(cx)?);
    let order = order(cx.arg(1));
    cx.begin_wide(&pieces)?;
    let values = cx.load_all(address, &pieces, order)?;
    cx.end_wide(&pieces)?;
    Ok(Outcome::Values(values))
}

fn sized_store(cx: &mut Script<'_, '_>) -> ModelResult {
    let address = cx.arg(0);
    let (pieces, width) = sized(size_in_name(cx)?);
    let values = slots(cx, 1, width);
    let order = order(cx.arg(1 + width));
    cx.begin_wide(&pieces)?;
    cx.store_all(address, &pieces, &values, order)?;
    cx.end_wide(&pieces)?;
    Ok(Outcome::Void)
}

fn sized_exchange(cx: &mut Script<'_, '_>) -> ModelResult {
    let address = cx.arg(0);
    let (pieces, width) = sized(size_in_name(cx)?);
    let values = slots(cx, 1, width);
    let order = order(cx.arg(1 + width));
    let old = cx.exchange_all(address, &pieces, &values, order)?;
    Ok(Outcome::Values(old))
}

/// `(pointer, pointer to what is expected, new value, …)`.
fn sized_compare_exchange(cx: &mut Script<'_, '_>) -> ModelResult {
    let (address, expected_at) = (cx.arg(0), cx.arg(1));
    let (pieces, width) = sized(size_in_name(cx)?);
    let new = slots(cx, 2, width);
    // Some builtins have an argument for weakness in between; the two orders come last in any case.
    let last = cx.arg_count().max(2 + width + 2);
    let orders = (order(cx.arg(last - 2)), order(cx.arg(last - 1)));
    let expected = cx.load_all(expected_at, &pieces, Order::Plain)?;
    let old = cx.compare_exchange_all(address, &pieces, (&expected, &new), orders)?;
    let success = old == expected;
    if !success {
        cx.store_all(expected_at, &pieces, &old, Order::Plain)?;
    }
    Ok(Outcome::Return(u64::from(success)))
}

/// Updates and returns the old value and the operand.
fn update(cx: &mut Script<'_, '_>, order: Order) -> Result<(RmwKind, u64, u64, u8), Pause> {
    let kind = kind_in_name(cx)?;
    let size = size_in_name(cx)?;
    if size > 8 {
        return Err(cx.unsupported("arithmetic on sixteen bytes at once"));
    }
    let operand = cx.arg(1);
    let old = cx.rmw(cx.arg(0), size, kind, operand, order)?;
    Ok((kind, old, operand, size))
}

fn fetch_op(cx: &mut Script<'_, '_>) -> ModelResult {
    let (_, old, ..) = update(cx, order(cx.arg(2)))?;
    Ok(Outcome::Return(old))
}

fn op_fetch(cx: &mut Script<'_, '_>) -> ModelResult {
    let (kind, old, operand, size) = update(cx, order(cx.arg(2)))?;
    Ok(Outcome::Return(kind.apply(old, operand, size)))
}

fn sync_fetch_op(cx: &mut Script<'_, '_>) -> ModelResult {
    let (_, old, ..) = update(cx, Order::SeqCst)?;
    Ok(Outcome::Return(old))
}

fn sync_op_fetch(cx: &mut Script<'_, '_>) -> ModelResult {
    let (kind, old, operand, size) = update(cx, Order::SeqCst)?;
    Ok(Outcome::Return(kind.apply(old, operand, size)))
}

fn sync_compare_and_swap(cx: &mut Script<'_, '_>) -> ModelResult {
    let (pieces, width) = sized(size_in_name(cx)?);
    let (expected, new) = (slots(cx, 1, width), slots(cx, 1 + width, width));
    let orders = (Order::SeqCst, Order::SeqCst);
    let old = cx.compare_exchange_all(cx.arg(0), &pieces, (&expected, &new), orders)?;
    if cx.function_name().contains("bool") {
        return Ok(Outcome::Return(u64::from(old == expected)));
    }
    Ok(Outcome::Values(old))
}

fn sync_test_and_set(cx: &mut Script<'_, '_>) -> ModelResult {
    let (pieces, width) = sized(size_in_name(cx)?);
    let values = slots(cx, 1, width);
    let old = cx.exchange_all(cx.arg(0), &pieces, &values, Order::Acquire)?;
    Ok(Outcome::Values(old))
}

fn sync_release(cx: &mut Script<'_, '_>) -> ModelResult {
    let (pieces, width) = sized(size_in_name(cx)?);
    let zeros = vec![0; width];
    cx.begin_wide(&pieces)?;
    cx.store_all(cx.arg(0), &pieces, &zeros, Order::Release)?;
    cx.end_wide(&pieces)?;
    Ok(Outcome::Void)
}

// ---- flags and fences

fn test_and_set(cx: &mut Script<'_, '_>) -> ModelResult {
    set_flag(cx, order(cx.arg(1)))
}

fn flag_test_and_set(cx: &mut Script<'_, '_>) -> ModelResult {
    set_flag(cx, Order::SeqCst)
}

fn set_flag(cx: &mut Script<'_, '_>, order: Order) -> ModelResult {
    let old = cx.rmw(cx.arg(0), 1, RmwKind::Exchange, 1, order)?;
    Ok(Outcome::Return(u64::from(old != 0)))
}

fn clear(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(0), 1, 0, order(cx.arg(1)))?;
    Ok(Outcome::Void)
}

fn flag_clear(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(0), 1, 0, Order::SeqCst)?;
    Ok(Outcome::Void)
}

/// A relaxed fence is none.
fn thread_fence(cx: &mut Script<'_, '_>) -> ModelResult {
    let order = order(cx.arg(0));
    if order != Order::Relaxed {
        cx.fence(order)?;
    }
    Ok(Outcome::Void)
}

fn full_fence(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.fence(Order::SeqCst)?;
    Ok(Outcome::Void)
}

fn is_lock_free(cx: &mut Script<'_, '_>) -> ModelResult {
    let is_machine_size = matches!(cx.arg(0), 1 | 2 | 4 | 8);
    Ok(Outcome::Return(u64::from(is_machine_size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_the_alignment() {
        assert_eq!(pieces(0, 16), [(0, 8), (8, 8)]);
        assert_eq!(pieces(4, 12), [(0, 4), (4, 8)]);
        assert_eq!(pieces(0, 3), [(0, 2), (2, 1)]);
        assert_eq!(pieces(1, 4), [(0, 1), (1, 2), (3, 1)]);
        assert_eq!(pieces(0, 0), []);
    }
}
