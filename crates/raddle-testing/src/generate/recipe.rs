//! What a generated program consists of, before it is written with the builder: easy to measure and to shrink.

use super::{Features, GenOptions};
use raddle_program::op::{Order, RmwKind};
use raddle_random::Random;

/// A variable: an index into the program's places.
pub(super) type Var = u32;

/// What is stored: a constant, or the register loaded last plus it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Const(u64),
    LastPlus(u64),
}

#[derive(Clone, Debug)]
pub(super) enum Piece {
    Load(Var, Order),
    Store(Var, Operand, Order),
    Rmw(Var, RmwKind, Operand, Order),
    Cas(Var, u64, Operand, Order, Order),
    Fence(Order),
    /// Lock and unlock around the pieces; `false`: the unlock is forgotten.
    Locked(u32, Vec<Piece>, bool),
    TryLocked(u32, Vec<Piece>),
    /// Under the reader-writer lock, as a writer if true.
    RwLocked(bool, Vec<Piece>),
    /// Run by the first thread only.
    Once(Vec<Piece>),
    /// If the register loaded last equals the value.
    If(u64, Vec<Piece>, Vec<Piece>),
    Choice(Vec<Piece>),
    Assume(u64),
    Assert(u64),
    Atomic(Vec<Piece>),
    /// Wait for the condition unless the first variable is not 0.
    Wait,
    Signal(bool),
    SemWait,
    SemPost,
    Barrier,
    /// Allocate a block and publish its address in the pointer variable.
    Publish,
    /// Load the pointer; if it is not null, access the block (a store if true).
    Follow(bool, Order),
    /// Take the pointer, leaving null behind if true, and free the block.
    Release(bool),
    Spawn(usize),
    Join(usize),
    Exit,
    ExitProcess,
    Spin(Spin),
    /// Try to lock until it succeeds, then do this and unlock.
    SpinLocked(u32, Vec<Piece>),
}

/// A loop that waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spin {
    /// Until the variable has the value, or as long as it has.
    Until(Var, u64, Order),
    While(Var, u64, Order),
    /// Until the variable was not 1; it is then.
    TestAndSet(Var, Order),
    /// Until the variable had the value; it is 2 then.
    CompareExchange(Var, u64, Order),
    /// A round loads both; until the first has the value and the second has not.
    Both(Var, Var, u64),
    /// A round loads the first; if it has the value, it tries to exchange the second. Until that succeeds.
    TestFirst(Var, Var, u64),
    /// Until the second load of a round finds what the first found.
    Stable(Var, Var),
    /// Loads the pointer; if it is not null, until the block does not hold 0.
    Block(Order),
    /// At most two rounds; each adds 1 to the first variable if the second does not have the value yet.
    Bounded(Var, Var, u64),
}

/// Code 0 is `main`; the others are spawned once each, by a code before them.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub(super) codes: Vec<Vec<Piece>>,
    pub(super) variables: u32,
    pub(super) mixed: bool,
}

/// Kinds of pieces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Rmw,
    Cas,
    Fence,
    Locked,
    TryLocked,
    RwLocked,
    Once,
    If,
    Choice,
    Assume,
    Assert,
    Atomic,
    Wait,
    Signal,
    SemWait,
    SemPost,
    Barrier,
    Heap,
    Exit,
    Spin,
    SpinLocked,
}

impl Kind {
    /// Does it contain other pieces?
    fn nests(self) -> bool {
        matches!(
            self,
            Self::Locked
                | Self::TryLocked
                | Self::RwLocked
                | Self::Once
                | Self::If
                | Self::Choice
                | Self::Atomic
                | Self::SpinLocked
        )
    }
}

/// May a program with these features contain the kind?
type Allowed = fn(&Features) -> bool;

/// How often each kind is chosen.
const KINDS: [(Kind, u32, Allowed); 23] = [
    (Kind::Load, 60, |_| true),
    (Kind::Store, 60, |_| true),
    (Kind::Rmw, 20, |f| f.updates),
    (Kind::Cas, 20, |f| f.updates),
    (Kind::Fence, 5, |f| f.fences),
    (Kind::Locked, 14, |f| f.mutexes),
    (Kind::TryLocked, 7, |f| f.try_locks),
    (Kind::RwLocked, 6, |f| f.other_locks),
    (Kind::Once, 3, |f| f.other_locks),
    (Kind::If, 22, |f| f.branches),
    (Kind::Choice, 5, |f| f.choices),
    (Kind::Assume, 9, |f| f.assumes),
    (Kind::Assert, 16, |f| f.asserts),
    (Kind::Atomic, 10, |f| f.atomic_blocks),
    (Kind::Wait, 2, |f| f.conditions),
    (Kind::Signal, 5, |f| f.conditions),
    (Kind::SemWait, 3, |f| f.semaphores),
    (Kind::SemPost, 6, |f| f.semaphores),
    (Kind::Barrier, 3, |f| f.barriers),
    (Kind::Heap, 9, |f| f.heap),
    (Kind::Exit, 2, |f| f.exits),
    (Kind::Spin, 90, |f| f.spins),
    (Kind::SpinLocked, 10, |f| f.spins && f.try_locks),
];

struct Writer<'a> {
    random: &'a mut Random,
    options: &'a GenOptions,
    places: u32,
    /// Inside an atomic block, where waiting would be in vain.
    in_block: bool,
}

impl Recipe {
    pub(super) fn new(random: &mut Random, options: &GenOptions) -> Self {
        let features = &options.features;
        let mixed = features.mixed_sizes && random.percent(40);
        let variables = 1 + random.below(options.variables.into()) as u32;
        let places = variables + if mixed { 3 } else { 0 };
        let threads = 2 + random.below(u64::from(options.max_threads.max(2) - 1)) as usize;
        let mut writer = Writer {
            random,
            options,
            places,
            in_block: false,
        };
        let mut codes = vec![Vec::new()];
        for _ in 0..threads {
            let count = 1 + writer.random.below(options.max_ops_per_thread.into()) as usize;
            codes.push((0..count).map(|_| writer.piece(0)).collect());
        }
        writer.connect(&mut codes);
        Self {
            codes,
            variables,
            mixed,
        }
    }

    /// Makes it smaller: the code with most pieces loses its last one, spawns and joins apart. False if there is none.
    pub(super) fn shrink(&mut self) -> bool {
        let is_own = |piece: &Piece| !matches!(piece, Piece::Spawn(_) | Piece::Join(_));
        let longest = self
            .codes
            .iter_mut()
            .max_by_key(|pieces| pieces.iter().filter(|piece| is_own(piece)).count());
        let Some(pieces) = longest else {
            return false;
        };
        let Some(last) = pieces.iter().rposition(is_own) else {
            return false;
        };
        pieces.remove(last);
        true
    }
}

impl Writer<'_> {
    fn load_order(&mut self) -> Order {
        self.order(&[Order::Plain, Order::Relaxed, Order::Acquire])
    }

    fn store_order(&mut self) -> Order {
        self.order(&[Order::Plain, Order::Relaxed, Order::Release])
    }

    fn update_order(&mut self) -> Order {
        self.order(&[
            Order::Relaxed,
            Order::Acquire,
            Order::Release,
            Order::AcqRel,
        ])
    }

    fn order(&mut self, weaker: &[Order]) -> Order {
        if self.options.features.orders && self.random.percent(50) {
            self.random.pick(weaker)
        } else {
            Order::SeqCst
        }
    }

    fn var(&mut self) -> Var {
        self.random.below(self.places.into()) as u32
    }

    fn value(&mut self) -> u64 {
        self.random.below(self.options.values.max(1))
    }

    fn operand(&mut self) -> Operand {
        if self.random.percent(25) {
            Operand::LastPlus(self.value())
        } else {
            Operand::Const(self.value())
        }
    }

    /// A few pieces inside another one.
    fn inner(&mut self, depth: u32) -> Vec<Piece> {
        let count = 1 + self.random.below(2);
        (0..count).map(|_| self.piece(depth + 1)).collect()
    }

    fn piece(&mut self, depth: u32) -> Piece {
        let features = self.options.features;
        let weights = KINDS.map(|(kind, weight, allowed)| {
            let too_deep = depth >= 2 && kind.nests();
            let spins = matches!(kind, Kind::Spin | Kind::SpinLocked);
            if allowed(&features) && !too_deep && !(spins && self.in_block) {
                weight
            } else {
                0
            }
        });
        let (kind, ..) = KINDS[self.random.weighted(&weights)];
        self.piece_of(kind, depth)
    }

    fn piece_of(&mut self, kind: Kind, depth: u32) -> Piece {
        match kind {
            Kind::Load => Piece::Load(self.var(), self.load_order()),
            Kind::Store => Piece::Store(self.var(), self.operand(), self.store_order()),
            Kind::Rmw => {
                let kind =
                    self.random
                        .pick(&[RmwKind::Add, RmwKind::Add, RmwKind::Exchange, RmwKind::Or]);
                Piece::Rmw(self.var(), kind, self.operand(), self.update_order())
            }
            Kind::Cas => {
                let failure = self.order(&[Order::Relaxed, Order::Acquire]);
                let (expected, new) = (self.value(), self.operand());
                Piece::Cas(self.var(), expected, new, self.update_order(), failure)
            }
            Kind::Fence => Piece::Fence(self.random.pick(&[
                Order::Acquire,
                Order::Release,
                Order::AcqRel,
                Order::SeqCst,
            ])),
            Kind::Locked => {
                let mutex = self.random.below(2) as u32;
                let forgotten = self.random.percent(5);
                Piece::Locked(mutex, self.inner(depth), !forgotten)
            }
            Kind::TryLocked => Piece::TryLocked(self.random.below(2) as u32, self.inner(depth)),
            Kind::RwLocked => Piece::RwLocked(self.random.percent(40), self.inner(depth)),
            Kind::Once => Piece::Once(self.inner(depth)),
            Kind::If => {
                let otherwise = if self.random.percent(30) {
                    self.inner(depth)
                } else {
                    Vec::new()
                };
                Piece::If(self.value(), self.inner(depth), otherwise)
            }
            Kind::Choice => Piece::Choice(self.inner(depth)),
            Kind::Assume => Piece::Assume(self.value()),
            Kind::Assert => Piece::Assert(self.value()),
            Kind::Atomic => {
                let outside = std::mem::replace(&mut self.in_block, true);
                let inner = self.inner(depth);
                self.in_block = outside;
                Piece::Atomic(inner)
            }
            Kind::Wait => Piece::Wait,
            Kind::Signal => Piece::Signal(self.random.percent(40)),
            Kind::SemWait => Piece::SemWait,
            Kind::SemPost => Piece::SemPost,
            Kind::Barrier => Piece::Barrier,
            Kind::Heap => match self.random.below(3) {
                0 => Piece::Publish,
                1 => Piece::Follow(self.random.percent(50), self.load_order()),
                _ => Piece::Release(self.random.percent(50)),
            },
            Kind::Spin => Piece::Spin(self.spin()),
            Kind::SpinLocked => Piece::SpinLocked(self.random.below(2) as u32, self.inner(depth)),
            Kind::Exit if self.random.percent(70) => Piece::Exit,
            Kind::Exit => Piece::ExitProcess,
        }
    }

    fn spin(&mut self) -> Spin {
        let (var, other, value) = (self.var(), self.var(), self.value());
        match self
            .random
            .below(if self.options.features.heap { 12 } else { 11 })
        {
            0 | 1 => Spin::Until(var, value, self.load_order()),
            2 | 3 => Spin::While(var, value, self.load_order()),
            4 => Spin::TestAndSet(var, self.update_order()),
            5 => Spin::CompareExchange(var, value, self.update_order()),
            6 => Spin::Both(var, other, value),
            7 | 8 => Spin::TestFirst(var, other, value),
            9 => Spin::Stable(var, other),
            10 => Spin::Bounded(var, other, value),
            _ => Spin::Block(self.load_order()),
        }
    }

    /// Adds spawns and joins.
    fn connect(&mut self, codes: &mut [Vec<Piece>]) {
        let nested = self.options.features.nested_spawns && self.random.percent(40);
        if !nested {
            let count = codes.len();
            let main = &mut codes[0];
            main.extend((1..count).map(Piece::Spawn));
            if self.random.percent(75) {
                main.extend((1..count).map(Piece::Join));
                if self.random.percent(50) {
                    let piece = self.piece(1);
                    main.push(piece);
                }
            }
            return;
        }
        let own = self.random.below(3);
        codes[0] = (0..own).map(|_| self.piece(1)).collect();
        for child in 1..codes.len() {
            let parent = self.random.below(child as u64) as usize;
            let pieces = &mut codes[parent];
            let at = self.random.below(pieces.len() as u64 + 1) as usize;
            pieces.insert(at, Piece::Spawn(child));
            if self.random.percent(50) {
                let rest = (pieces.len() - at) as u64;
                let join = at + 1 + self.random.below(rest) as usize;
                pieces.insert(join, Piece::Join(child));
            }
        }
    }
}
