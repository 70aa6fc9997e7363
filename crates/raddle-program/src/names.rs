//! Names that are the same in every execution, every engine and every process, and the addresses that follow from them.
//!
//! A thread's name is its path of spawn indices. An object's name is its thread's, how many objects that thread had made
//! with it, its kind, its size, and for a stack variable which variable it is. The address is a function of the name and of
//! nothing else: never of what else was explored, or in which order. Functions of this kind cannot tell all names apart in
//! 64 bits. Those that programs have are told apart by the layout below; the rest are hashed, and [`crate::Tables`] ends a
//! thread that would make two names with one address ([`crate::Limit::NameClash`]).
//!
//! # The high half of an address: whose, and the how-many-th
//!
//! | numbers | |
//! |---|---|
//! | `0x0000_0000..0x4000_0000` | `main` and its first 1023 children: 20 bits of counter each |
//! | `0x4000_0000..0xFBD0_0000` | all other threads ([`deep_slot`]): 15 bits of counter each |
//! | `0xFBD0_0000..0xFFD0_0000` | queues that are named after addresses, by a hash |
//! | `0xFFD0_0000..` | private memory ([`PRIVATE_THREAD`]), globals, functions |
//!
//! # The low half: which of those that may be there, and where in it
//!
//! Objects that exist once lie at [`OFFSET_BIAS`]. What a thread makes as its k-th may have one size in one execution and
//! another in the next. At most one of them is alive in any execution, so they share the number, and a pointer that leaves
//! one for another is still a fault. Small heap blocks each have a place by their size; large ones and stack variables have
//! one by a hash. Blocks that were made later lie higher.

use std::fmt;
use std::str::FromStr;

use crate::tables::ObjectKind;
use smallvec::SmallVec;

/// Offset 0 of an object that exists once lies here in the low half of its addresses. It keeps pointers that step a little
/// before their object in it, so that messages name the right one.
pub const OFFSET_BIAS: u64 = 0x4000_0000;

/// Bits of the counter in the numbers of `main`, its first children, and what is no thread's.
pub const COUNTER_BITS: u32 = 20;
/// Address numbers with this "thread" are never objects: the interpreter uses them for private memory.
pub const PRIVATE_THREAD: u32 = 0xFFD;
/// The "thread" of globals, and of functions.
pub(crate) const GLOBAL_THREAD: u32 = 0xFFE;
pub(crate) const FUNCTION_THREAD: u32 = 0xFFF;

/// So many threads, `main` among them, have [`COUNTER_BITS`].
const NEAR_THREADS: u32 = 1024;
const DEEP_COUNTER_BITS: u32 = 15;
const FIRST_DEEP_NUMBER: u32 = NEAR_THREADS << COUNTER_BITS;
const QUEUES: u32 = 1 << 26;
const FIRST_QUEUE: u32 = (PRIVATE_THREAD << COUNTER_BITS) - QUEUES;
const DEEP_SLOTS: u32 = (FIRST_QUEUE - FIRST_DEEP_NUMBER) >> DEEP_COUNTER_BITS;
/// Children of `main` up to here have a slot by their index.
const CHILDREN: u32 = 1 << 14;
/// Slots of paths with a short code.
const CODED: std::ops::Range<u32> = CHILDREN - NEAR_THREADS..CHILDREN - NEAR_THREADS + (1 << 16);
/// Slots of chains: threads that each start the next one, below the first or second child of `main`.
const LONGEST_CHAIN: u32 = 2048;
const CHAINS: std::ops::Range<u32> = CODED.end..CODED.end + 2 * LONGEST_CHAIN;

/// A thread's name: for each of its ancestors below `main`, and itself, the how-many-th spawn of its parent it is, from 1.
/// `main` is the empty path.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadName(SmallVec<[u32; 4]>);

impl ThreadName {
    /// The name of the thread that this one spawns as its `nth`.
    #[must_use]
    pub fn child(&self, nth: u32) -> Self {
        let mut path = self.0.clone();
        path.push(nth);
        Self(path)
    }

    #[must_use]
    pub fn path(&self) -> &[u32] {
        &self.0
    }

    /// How many threads an execution with this one has at least, `main` included: whoever is somebody's `n`th thread comes after `n - 1`
    /// others of the same parent, and after the parent.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.0.iter().fold(1, |rank, &nth| rank.saturating_add(nth))
    }
}

impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("main")?;
        self.0.iter().try_for_each(|nth| write!(f, ".{nth}"))
    }
}

/// A text that is no [`ThreadName`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoThreadName {
    pub text: Box<str>,
}

impl fmt::Display for NoThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        write!(f, "`{text}` is no name of a thread (`main`, `main.1`, …)")
    }
}

impl FromStr for ThreadName {
    type Err = NoThreadName;

    fn from_str(text: &str) -> Result<Self, NoThreadName> {
        let bad = || NoThreadName { text: text.into() };
        let mut parts = text.split('.');
        if parts.next() != Some("main") {
            return Err(bad());
        }
        let index = |part: &str| match part.parse() {
            // One spelling for one name.
            Ok(nth @ 1u32..) if nth.to_string() == part => Ok(nth),
            _ => Err(bad()),
        };
        parts.map(index).collect::<Result<_, _>>().map(Self)
    }
}

/// The address numbers of one thread's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadNumbers {
    /// The thread as a number: its handle is one more.
    pub thread: u32,
    first: u32,
    bits: u32,
}

impl ThreadNumbers {
    #[must_use]
    pub fn of(name: &ThreadName) -> Self {
        match *name.path() {
            [] => Self::near(0),
            [nth] if nth < NEAR_THREADS => Self::near(nth),
            ref path => {
                let slot = deep_slot(path);
                Self {
                    thread: NEAR_THREADS + slot,
                    first: FIRST_DEEP_NUMBER + (slot << DEEP_COUNTER_BITS),
                    bits: DEEP_COUNTER_BITS,
                }
            }
        }
    }

    fn near(thread: u32) -> Self {
        Self {
            thread,
            first: thread << COUNTER_BITS,
            bits: COUNTER_BITS,
        }
    }

    /// The number of the `counter`-th object that the thread makes, if there are so many.
    pub(crate) fn allocation(self, counter: u32) -> Option<u32> {
        (counter < self.first_local()).then_some(self.first + counter)
    }

    /// The number of the thread's copy of the `index`-th thread-local variable.
    pub(crate) fn thread_local(self, index: u32) -> Option<u32> {
        let counter = self.first_local().checked_add(index)?;
        (counter < 1 << self.bits).then_some(self.first + counter)
    }

    /// A sixteenth of the counters, at the end, is for copies of thread-local variables.
    fn first_local(self) -> u32 {
        (1 << self.bits) - (1 << (self.bits - 4))
    }
}

/// The slot of a thread that is not among the first children of `main`: by its index for further children, by a code for
/// short paths of small indices, by their length for chains, by a hash for the others.
fn deep_slot(path: &[u32]) -> u32 {
    if let [nth @ NEAR_THREADS..CHILDREN] = *path {
        return nth - NEAR_THREADS;
    }
    if let Some(code) = path_code(path) {
        return CODED.start + code;
    }
    if let [first @ 1..=2, rest @ ..] = path
        && rest.len() < LONGEST_CHAIN as usize
        && rest.iter().all(|&nth| nth == 1)
    {
        return CHAINS.start + (first - 1) * LONGEST_CHAIN + rest.len() as u32;
    }
    let hash = stable_hash(path.iter().map(|&nth| u64::from(nth)));
    CHAINS.end + (hash % u64::from(DEEP_SLOTS - CHAINS.end)) as u32
}

/// The indices one after the other in Elias's gamma code, after a one that marks where it begins; none if that takes more
/// than 16 bits. Different paths have different codes.
fn path_code(path: &[u32]) -> Option<u32> {
    let mut code = 1u32;
    for &nth in path {
        let zeros = nth.ilog2();
        let width = 2 * zeros + 1;
        if code.ilog2() + width > 15 {
            return None;
        }
        code = code << width | nth;
    }
    Some(code)
}

/// The number of the object that has the queues named after the addresses of the object at this one.
pub(crate) fn queue_number(address: u64) -> u32 {
    FIRST_QUEUE + (stable_hash([address]) % u64::from(QUEUES)) as u32
}

/// Is it an address of such an object?
pub(crate) fn is_queue(address: u64) -> bool {
    let number = (address >> 32) as u32;
    (FIRST_QUEUE..FIRST_QUEUE + QUEUES).contains(&number)
}

/// Small heap blocks, by their size: so far apart, the smallest here, up to this size.
const STRIDE: u64 = 0x8000;
/// Every block is aligned to this.
pub(crate) const BLOCK_ALIGN: u64 = STRIDE;
const SMALL_BLOCKS: u64 = 0x1_0000;
const SMALL: u64 = 0x4000;
/// Where hashed objects lie. What is above keeps pointers in the object that step a little past it.
const HASHED: std::ops::Range<u64> = 0x2800_0000..0xFFF0_0000;

/// The low half of the address of byte 0 of an object that a thread makes. `site` tells variables apart.
///
/// Aligned to 32 KiB, and to `align` up to 1 GiB.
pub(crate) fn place(kind: ObjectKind, size: u64, align: u64, site: u64) -> u64 {
    if kind == ObjectKind::Heap && size <= SMALL && align <= STRIDE {
        return SMALL_BLOCKS + size * STRIDE;
    }
    let step = align.clamp(STRIDE, 1 << 30).next_power_of_two();
    let first = HASHED.start.next_multiple_of(step);
    let room = (HASHED.end - first).saturating_sub(size);
    let hash = stable_hash([u64::from(kind == ObjectKind::Heap), size, site]);
    first + hash % (room / step + 1) * step
}

/// Pointers may step so far before the object without being taken for pointers into what lies there.
pub(crate) const BEFORE: u64 = 0x2000;

/// A hash that is the same in every process: no address, no id of this process and no random number goes in.
pub(crate) fn stable_hash(numbers: impl IntoIterator<Item = u64>) -> u64 {
    // Steps of splitmix64.
    numbers.into_iter().fold(0, |hash: u64, number| {
        let mut hash = (hash ^ number).wrapping_add(0x9E37_79B9_7F4A_7C15);
        hash = (hash ^ hash >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        hash ^ hash >> 31
    })
}

/// [`stable_hash`] of a text.
pub(crate) fn hash_text(text: &str) -> u64 {
    stable_hash(text.bytes().map(u64::from))
}

pub(crate) mod narrow;

#[cfg(test)]
mod tests;
