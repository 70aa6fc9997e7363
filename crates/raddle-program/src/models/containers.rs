//! The parts of libstdc++'s containers that are in its binary: trees, lists, hash tables.
//!
//! Trees are not kept in balance. Nobody can tell but by the time it takes, and trees in checked programs are small. All
//! nodes are black, so that the header, which is red, is told from the root as usual.

use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::Order;

// Nodes are linked to each other: their addresses are kept.
pub(super) const MODELS: &[Model] = &[
    model("_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", increment).returning(0),
    model(
        "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base",
        increment,
    )
    .returning(0),
    model("_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base", decrement).returning(0),
    model(
        "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base",
        decrement,
    )
    .returning(0),
    model(
        "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
        insert,
    )
    .capturing(&[1, 2, 3]),
    model(
        "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_",
        erase,
    )
    .capturing(&[0, 1]),
    model("_ZNSt8__detail15_List_node_base7_M_hookEPS0_", hook).capturing(&[0, 1]),
    model("_ZNSt8__detail15_List_node_base9_M_unhookEv", unhook).capturing(&[0]),
    model(
        "_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_",
        transfer,
    )
    .capturing(&[0, 1, 2]),
    model("_ZSt11_Hash_bytesPKvmm", hash_bytes),
    model(
        "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm",
        next_bucket_count,
    ),
    model(
        "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm",
        need_rehash,
    ),
];

impl Script<'_, '_> {
    fn link(&mut self, node: u64, field: u64) -> Result<u64, Pause> {
        self.load(node.wrapping_add(field), 8, Order::Plain)
    }

    fn set_link(&mut self, node: u64, field: u64, to: u64) -> Result<(), Pause> {
        self.store(node.wrapping_add(field), 8, to, Order::Plain)
    }

    /// Follows a link as far as it goes.
    fn furthest(&mut self, mut node: u64, field: u64) -> Result<u64, Pause> {
        loop {
            match self.link(node, field)? {
                0 => return Ok(node),
                next => node = next,
            }
        }
    }
}

// ---- trees: a node has a colour, a parent and two children; the header's are the root, the first and the last node

const PARENT: u64 = 8;
const LEFT: u64 = 16;
const RIGHT: u64 = 24;
const RED: u64 = 0;
const BLACK: u64 = 1;

fn increment(cx: &mut Script<'_, '_>) -> ModelResult {
    let mut node = cx.arg(0);
    let right = cx.link(node, RIGHT)?;
    if right != 0 {
        return Ok(Outcome::Return(cx.furthest(right, LEFT)?));
    }
    let mut above = cx.link(node, PARENT)?;
    while cx.link(above, RIGHT)? == node {
        node = above;
        above = cx.link(node, PARENT)?;
    }
    // From the last node of a tree whose root has no right child one ends up at the header from above.
    let is_past_root = cx.link(node, RIGHT)? == above;
    Ok(Outcome::Return(if is_past_root { node } else { above }))
}

fn decrement(cx: &mut Script<'_, '_>) -> ModelResult {
    let mut node = cx.arg(0);
    let parent = cx.link(node, PARENT)?;
    let is_red = cx.load(node, 4, Order::Plain)? == RED;
    if is_red && cx.link(parent, PARENT)? == node {
        return Ok(Outcome::Return(cx.link(node, RIGHT)?));
    }
    let left = cx.link(node, LEFT)?;
    if left != 0 {
        return Ok(Outcome::Return(cx.furthest(left, RIGHT)?));
    }
    let mut above = parent;
    while cx.link(above, LEFT)? == node {
        node = above;
        above = cx.link(node, PARENT)?;
    }
    Ok(Outcome::Return(above))
}

/// `(is it a left child, node, parent, header)`.
fn insert(cx: &mut Script<'_, '_>) -> ModelResult {
    let is_left = cx.arg(0) & 1 == 1;
    let (node, parent, header) = (cx.arg(1), cx.arg(2), cx.arg(3));
    cx.store(node, 4, BLACK, Order::Plain)?;
    cx.set_link(node, PARENT, parent)?;
    cx.set_link(node, LEFT, 0)?;
    cx.set_link(node, RIGHT, 0)?;
    let side = if is_left { LEFT } else { RIGHT };
    // The header's children are the first and the last node.
    let was_outermost = cx.link(header, side)? == parent;
    cx.set_link(parent, side, node)?;
    if parent == header {
        cx.set_link(header, PARENT, node)?;
        cx.set_link(header, RIGHT, node)?;
    } else if was_outermost {
        cx.set_link(header, side, node)?;
    }
    Ok(Outcome::Void)
}

/// `(node, header)`: takes the node out and returns it.
fn erase(cx: &mut Script<'_, '_>) -> ModelResult {
    let (node, header) = (cx.arg(0), cx.arg(1));
    let (left, right) = (cx.link(node, LEFT)?, cx.link(node, RIGHT)?);
    let parent = cx.link(node, PARENT)?;
    for (side, inward) in [(LEFT, right), (RIGHT, left)] {
        if cx.link(header, side)? == node {
            let next = match inward {
                0 => parent,
                inward => cx.furthest(inward, side)?,
            };
            cx.set_link(header, side, next)?;
        }
    }
    if left == 0 || right == 0 {
        replace(cx, header, node, left.max(right))?;
        return Ok(Outcome::Return(node));
    }
    let heir = cx.furthest(right, LEFT)?;
    if heir != right {
        let orphan = cx.link(heir, RIGHT)?;
        replace(cx, header, heir, orphan)?;
        cx.set_link(heir, RIGHT, right)?;
        cx.set_link(right, PARENT, heir)?;
    }
    replace(cx, header, node, heir)?;
    cx.set_link(heir, LEFT, left)?;
    cx.set_link(left, PARENT, heir)?;
    Ok(Outcome::Return(node))
}

/// Puts `new`, which may be nothing, where `old` hangs.
fn replace(cx: &mut Script<'_, '_>, header: u64, old: u64, new: u64) -> Result<(), Pause> {
    let parent = cx.link(old, PARENT)?;
    if parent == header {
        cx.set_link(header, PARENT, new)?;
    } else if cx.link(parent, LEFT)? == old {
        cx.set_link(parent, LEFT, new)?;
    } else {
        cx.set_link(parent, RIGHT, new)?;
    }
    if new != 0 {
        cx.set_link(new, PARENT, parent)?;
    }
    Ok(())
}

// ---- lists

const NEXT: u64 = 0;
const PREVIOUS: u64 = 8;

/// `(node, position)`: links the node in before the position.
fn hook(cx: &mut Script<'_, '_>) -> ModelResult {
    let (node, position) = (cx.arg(0), cx.arg(1));
    let before = cx.link(position, PREVIOUS)?;
    cx.set_link(node, NEXT, position)?;
    cx.set_link(node, PREVIOUS, before)?;
    cx.set_link(before, NEXT, node)?;
    cx.set_link(position, PREVIOUS, node)?;
    Ok(Outcome::Void)
}

fn unhook(cx: &mut Script<'_, '_>) -> ModelResult {
    let node = cx.arg(0);
    let (next, before) = (cx.link(node, NEXT)?, cx.link(node, PREVIOUS)?);
    cx.set_link(before, NEXT, next)?;
    cx.set_link(next, PREVIOUS, before)?;
    Ok(Outcome::Void)
}

/// `(position, first, last)`: moves `first..last` before the position.
fn transfer(cx: &mut Script<'_, '_>) -> ModelResult {
    let (position, first, last) = (cx.arg(0), cx.arg(1), cx.arg(2));
    if position == last || first == last {
        return Ok(Outcome::Void);
    }
    let (before_position, before_first) = (cx.link(position, PREVIOUS)?, cx.link(first, PREVIOUS)?);
    let end = cx.link(last, PREVIOUS)?;
    cx.set_link(end, NEXT, position)?;
    cx.set_link(before_first, NEXT, last)?;
    cx.set_link(before_position, NEXT, first)?;
    cx.set_link(position, PREVIOUS, end)?;
    cx.set_link(last, PREVIOUS, before_first)?;
    cx.set_link(first, PREVIOUS, before_position)?;
    Ok(Outcome::Void)
}

// ---- hash tables

/// Any function will do. (FNV-1a.)
fn hash_bytes(cx: &mut Script<'_, '_>) -> ModelResult {
    let (address, len, seed) = (cx.arg(0), cx.arg(1), cx.arg(2));
    let mut hash = 0xCBF2_9CE4_8422_2325 ^ seed;
    for at in 0..len {
        let byte = cx.byte(address.wrapping_add(at))?;
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    Ok(Outcome::Return(hash))
}

/// A policy has the greatest load and the number of elements from which on the table must grow.
const NEXT_RESIZE: u64 = 8;
/// Nobody has larger tables here; a search for primes must end.
const MOST_BUCKETS: u64 = 1 << 32;

fn next_prime(least: u64) -> u64 {
    let is_prime = |n: u64| {
        (2..)
            .take_while(|d| d * d <= n)
            .all(|d| !n.is_multiple_of(d))
    };
    (least.clamp(2, MOST_BUCKETS)..)
        .find(|&n| is_prime(n))
        .unwrap_or(MOST_BUCKETS)
}

fn max_load(cx: &mut Script<'_, '_>, policy: u64) -> Result<f64, Pause> {
    let bits = cx.load(policy, 4, Order::Plain)?;
    Ok(f64::from(f32::from_bits(bits as u32)))
}

/// Chooses a size of at least `least` buckets.
fn choose(cx: &mut Script<'_, '_>, policy: u64, least: u64) -> Result<u64, Pause> {
    let load = max_load(cx, policy)?;
    let buckets = next_prime(least);
    let limit = (buckets as f64 * load) as u64;
    cx.store(policy.wrapping_add(NEXT_RESIZE), 8, limit, Order::Plain)?;
    Ok(buckets)
}

fn next_bucket_count(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(choose(cx, cx.arg(0), cx.arg(1))?))
}

/// `(policy, buckets, elements, more elements)`: returns whether to grow, and to what size.
fn need_rehash(cx: &mut Script<'_, '_>) -> ModelResult {
    const FIRST_SIZE: u64 = 11;
    let (policy, buckets) = (cx.arg(0), cx.arg(1));
    let elements = cx.arg(2).saturating_add(cx.arg(3));
    let limit = cx.load(policy.wrapping_add(NEXT_RESIZE), 8, Order::Plain)?;
    if elements <= limit {
        return Ok(Outcome::Values(vec![0, 0]));
    }
    let load = max_load(cx, policy)?;
    let wanted = if limit == 0 {
        elements.max(FIRST_SIZE)
    } else {
        elements
    };
    let least = (wanted as f64 / load) as u64;
    if least < buckets {
        let limit = (buckets as f64 * load) as u64;
        cx.store(policy.wrapping_add(NEXT_RESIZE), 8, limit, Order::Plain)?;
        return Ok(Outcome::Values(vec![0, 0]));
    }
    let least = least.saturating_add(1).max(buckets.saturating_mul(2));
    let chosen = choose(cx, policy, least)?;
    Ok(Outcome::Values(vec![1, chosen]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_tables_are_primes() {
        assert_eq!(next_prime(0), 2);
        assert_eq!(next_prime(8), 11);
        assert_eq!(next_prime(13), 13);
        assert!(next_prime(u64::MAX) >= MOST_BUCKETS);
    }
}
