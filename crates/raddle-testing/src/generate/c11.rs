//! Random programs for the memory model of C: few operations, every ordering. Their execution graphs can be enumerated by brute force.

use super::Generated;
use super::recipe::{Operand, Piece, Recipe, Spin, Var};
use crate::builder::BuiltProgram;
use raddle_program::op::{Order, RmwKind};
use raddle_random::Random;

/// What a generated program is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct C11Options {
    /// Besides `main`; at least 2.
    pub max_threads: u32,
    /// Operations of all threads together, about.
    pub operations: u32,
    /// Plain accesses. Without, there are no races.
    pub plain: bool,
    /// Some of them to variables that are accessed atomically as well.
    pub plain_atomics: bool,
    pub locks: bool,
    /// Attempts to lock, which may fail.
    pub try_locks: bool,
    /// Locks and attempts are most of it.
    pub contended: bool,
    /// Loops that wait for a value.
    pub spins: bool,
    /// Every ordering, not only `seq_cst`.
    pub orders: bool,
    /// Threads hold references, which they count in a variable, and ask whether theirs was the last.
    pub counts: bool,
}

impl Default for C11Options {
    fn default() -> Self {
        Self {
            max_threads: 4,
            operations: 14,
            plain: true,
            plain_atomics: false,
            locks: true,
            try_locks: true,
            contended: false,
            spins: true,
            orders: true,
            counts: false,
        }
    }
}

/// The program of a seed.
#[must_use]
pub fn generate_c11(seed: u64, options: &C11Options) -> BuiltProgram {
    generated_c11(seed, options).program()
}

/// The same, to be made smaller if something is wrong with it.
#[must_use]
pub fn generated_c11(seed: u64, options: &C11Options) -> Generated {
    let mut random = Random::new(seed ^ 0xC11);
    let threads = 2 + random.below(u64::from(options.max_threads.max(2) - 1)) as usize;
    let atomics = 1 + random.below(3) as u32;
    let mut writer = Writer {
        random: &mut random,
        options,
        atomics,
    };
    let each = u64::from(options.operations) / threads as u64;
    let mut codes = vec![Vec::new()];
    for _ in 0..threads {
        let count = 1 + each / 3 + writer.random.below(each / 2 + 1);
        codes.push((0..count).map(|_| writer.piece(0)).collect());
    }
    if options.counts {
        writer.count(&mut codes);
    }
    writer.connect(&mut codes);
    if options.counts {
        let references = codes.len() as u64 - writer.random.below(2);
        let begin = Piece::Store(atomics + 1, Operand::Const(references), Order::Relaxed);
        codes[0].insert(0, begin);
    }
    let recipe = Recipe {
        codes,
        // The last is the one that is accessed plainly, or the count.
        variables: atomics + 1 + u32::from(options.counts),
        mixed: false,
    };
    Generated { recipe, seed }
}

struct Writer<'a> {
    random: &'a mut Random,
    options: &'a C11Options,
    atomics: u32,
}

impl Writer<'_> {
    fn atomic(&mut self) -> Var {
        self.random.below(self.atomics.into()) as Var
    }

    fn plain(&mut self) -> Var {
        match self.options.plain_atomics && self.random.percent(50) {
            true => self.atomic(),
            false => self.atomics,
        }
    }

    fn value(&mut self) -> u64 {
        self.random.below(3)
    }

    fn operand(&mut self) -> Operand {
        match self.random.percent(20) {
            true => Operand::LastPlus(1),
            false => Operand::Const(1 + self.random.below(2)),
        }
    }

    fn load_order(&mut self) -> Order {
        self.order(&[Order::Relaxed, Order::Acquire, Order::SeqCst])
    }

    fn store_order(&mut self) -> Order {
        self.order(&[Order::Relaxed, Order::Release, Order::SeqCst])
    }

    fn update_order(&mut self) -> Order {
        self.order(&[
            Order::Relaxed,
            Order::Acquire,
            Order::Release,
            Order::AcqRel,
            Order::SeqCst,
        ])
    }

    fn order(&mut self, orders: &[Order]) -> Order {
        match self.options.orders {
            true => self.random.pick(orders),
            false => Order::SeqCst,
        }
    }

    fn pieces(&mut self, depth: u32) -> Vec<Piece> {
        let count = 1 + self.random.below(2);
        (0..count).map(|_| self.piece(depth + 1)).collect()
    }

    fn plain_access(&mut self) -> Piece {
        match self.random.percent(50) {
            true => {
                let var = self.plain();
                Piece::Store(var, self.operand(), Order::Plain)
            }
            false => Piece::Load(self.plain(), Order::Plain),
        }
    }

    fn piece(&mut self, depth: u32) -> Piece {
        let C11Options {
            plain,
            locks,
            try_locks,
            contended,
            spins,
            ..
        } = *self.options;
        let nests = depth < 2;
        let weight = |is: bool, weight: u32| if is { weight } else { 0 };
        let weights = [
            30,
            30,
            10,
            10,
            10,
            weight(plain, 5),
            weight(plain && locks && nests, 6),
            weight(plain && nests, 8),
            weight(locks && nests, if contended { 40 } else { 4 }),
            weight(try_locks && nests, if contended { 40 } else { 4 }),
            weight(nests, 6),
            5,
            weight(spins, 6),
            weight(spins && try_locks && nests, if contended { 8 } else { 1 }),
        ];
        match self.random.weighted(&weights) {
            0 => Piece::Load(self.atomic(), self.load_order()),
            1 => Piece::Store(self.atomic(), self.operand(), self.store_order()),
            2 => {
                let kind = self.random.pick(&[RmwKind::Add, RmwKind::Exchange]);
                Piece::Rmw(self.atomic(), kind, self.operand(), self.update_order())
            }
            3 => {
                let (expected, new) = (self.value(), self.operand());
                let (success, failure) = (self.update_order(), self.load_order());
                Piece::Cas(self.atomic(), expected, new, success, failure)
            }
            4 => Piece::Fence(self.order(&[
                Order::Acquire,
                Order::Release,
                Order::AcqRel,
                Order::SeqCst,
            ])),
            5 => self.plain_access(),
            6 => {
                // Protected by the lock, if everybody does so.
                let inner = vec![self.plain_access()];
                Piece::Locked(0, inner, true)
            }
            7 => {
                // Passed on by whoever stored the value, perhaps.
                let value = self.value();
                Piece::If(value, vec![self.plain_access()], Vec::new())
            }
            8 => {
                let unlocks = !self.random.percent(5);
                Piece::Locked(self.random.below(2) as u32, self.pieces(depth), unlocks)
            }
            9 => Piece::TryLocked(self.random.below(2) as u32, self.pieces(depth)),
            10 => {
                let otherwise = match self.random.percent(30) {
                    true => self.pieces(depth),
                    false => Vec::new(),
                };
                Piece::If(self.value(), self.pieces(depth), otherwise)
            }
            11 => Piece::Assert(self.value()),
            12 => {
                let (var, order) = (self.atomic(), self.load_order());
                Piece::Spin(match self.random.percent(50) {
                    true => Spin::Until(var, 1 + self.random.below(2), order),
                    false => Spin::While(var, self.value(), order),
                })
            }
            _ => Piece::SpinLocked(self.random.below(2) as u32, self.pieces(depth)),
        }
    }

    /// Each thread gives up its reference, and perhaps takes and gives up others before.
    fn count(&mut self, codes: &mut [Vec<Piece>]) {
        let count = self.atomics + 1;
        let strong = self.random.percent(20);
        for (index, code) in codes.iter_mut().enumerate() {
            let times = match self.random.below(10) {
                0..=4 => 1,
                5 | 6 => 2,
                7 => 0,
                _ if index == 0 => 0,
                _ => 1,
            };
            let mut at = 0;
            for _ in 1..times {
                at += self.random.below((code.len() - at) as u64 + 1) as usize;
                let order = self.random.pick(&[Order::Relaxed, Order::Release]);
                code.insert(
                    at,
                    Piece::Rmw(count, RmwKind::Add, Operand::Const(1), order),
                );
                at += 1;
            }
            for _ in 0..times {
                at += self.random.below((code.len() - at) as u64 + 1) as usize;
                let order = match strong && self.random.percent(30) {
                    true => Order::AcqRel,
                    false => self
                        .random
                        .pick(&[Order::Relaxed, Order::Release, Order::Release]),
                };
                let mut last = vec![];
                if self.random.percent(60) {
                    last.push(Piece::Fence(Order::Acquire));
                }
                last.push(match self.options.plain && self.random.percent(50) {
                    true => self.plain_access(),
                    false => self.piece(1),
                });
                let drops = [
                    Piece::Rmw(count, RmwKind::Sub, Operand::Const(1), order),
                    Piece::If(1, last, Vec::new()),
                ];
                code.splice(at..at, drops);
                at += 2;
                // As dropping something else does.
                if self.random.percent(25) {
                    code.insert(at, Piece::Fence(Order::Acquire));
                }
            }
        }
    }

    /// Adds spawns and joins: of `main`, or of any thread.
    fn connect(&mut self, codes: &mut [Vec<Piece>]) {
        let nested = self.random.percent(30);
        let joins = self.random.percent(70);
        if self.random.percent(20) {
            let piece = self.piece(1);
            codes[0].push(piece);
        }
        for child in 1..codes.len() {
            let parent = match nested {
                true => self.random.below(child as u64) as usize,
                false => 0,
            };
            let at = match nested {
                true => self.random.below(codes[parent].len() as u64 + 1) as usize,
                false => codes[parent].len(),
            };
            codes[parent].insert(at, Piece::Spawn(child));
            if nested && joins {
                let rest = (codes[parent].len() - at) as u64;
                let join = at + 1 + self.random.below(rest) as usize;
                codes[parent].insert(join, Piece::Join(child));
            }
        }
        if !nested && joins {
            codes[0].extend((1..codes.len()).map(Piece::Join).collect::<Vec<_>>());
            if self.random.percent(30) {
                let piece = match self.options.plain {
                    true => self.plain_access(),
                    false => self.piece(1),
                };
                codes[0].push(piece);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_program() {
        let options = C11Options::default();
        let text = |seed| generate_c11(seed, &options).to_string();
        let texts: std::collections::BTreeSet<String> = (0..50).map(text).collect();
        assert!(texts.len() > 45, "seeds give different programs");
        assert!((0..50).all(|seed| texts.contains(&text(seed))));
    }

    #[test]
    fn everything_occurs() {
        let options = C11Options::default();
        let text = |seed| generate_c11(seed, &options).to_string();
        let all: String = (0..400).map(text).collect();
        for what in [
            "load.rlx",
            "load.acq",
            "load x",
            "store.rlx",
            "store.rel",
            "add",
            "exchange",
            "cas",
            "fence",
            "lock m",
            "trylock",
            "loop",
            "if ",
            "assert",
            "join",
        ] {
            assert!(
                all.contains(what),
                "no {what:?} in 400 programs:\n{}",
                text(1)
            );
        }
    }
}
