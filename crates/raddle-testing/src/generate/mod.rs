//! Random small programs for property tests: a seed and options give one program, always the same.
//!
//! Programs are small by construction: an upper bound of the number of their interleavings is computed (every branch is
//! taken to run all it could, locks are taken never to wait), and statements are dropped until it is below
//! [`GenOptions::max_interleavings`].

mod c11;
mod emit;
mod recipe;
mod shrink;
mod size;

pub use c11::{C11Options, generate_c11, generated_c11};
pub use raddle_random::Random;
pub use shrink::Generated;

use crate::builder::BuiltProgram;

/// What generated programs may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Plain accesses (they may race) and orders other than sequentially consistent.
    pub orders: bool,
    pub updates: bool,
    pub fences: bool,
    pub mutexes: bool,
    pub try_locks: bool,
    /// Reader-writer locks and initialisers that run once.
    pub other_locks: bool,
    pub branches: bool,
    pub assumes: bool,
    pub asserts: bool,
    /// Threads spawned by other threads than `main`, and between its own operations.
    pub nested_spawns: bool,
    /// Accesses of different sizes to the same bytes.
    pub mixed_sizes: bool,
    pub atomic_blocks: bool,
    pub conditions: bool,
    pub semaphores: bool,
    pub barriers: bool,
    pub heap: bool,
    pub choices: bool,
    /// Threads, or the whole process, end early.
    pub exits: bool,
    /// Loops that wait for others. Programs with them have executions without end, so this is no part of [`Self::ALL`].
    pub spins: bool,
}

impl Features {
    pub const ALL: Self = Self {
        orders: true,
        updates: true,
        fences: true,
        mutexes: true,
        try_locks: true,
        other_locks: true,
        branches: true,
        assumes: true,
        asserts: true,
        nested_spawns: true,
        mixed_sizes: true,
        atomic_blocks: true,
        conditions: true,
        semaphores: true,
        barriers: true,
        heap: true,
        choices: true,
        exits: true,
        spins: false,
    };

    /// Everything, and loops that wait.
    pub const SPINNING: Self = Self {
        spins: true,
        ..Self::ALL
    };

    /// Sequentially consistent loads and stores of whole variables in threads that `main` spawns first and joins last.
    pub const NONE: Self = Self {
        orders: false,
        updates: false,
        fences: false,
        mutexes: false,
        try_locks: false,
        other_locks: false,
        branches: false,
        assumes: false,
        asserts: false,
        nested_spawns: false,
        mixed_sizes: false,
        atomic_blocks: false,
        conditions: false,
        semaphores: false,
        barriers: false,
        heap: false,
        choices: false,
        exits: false,
        spins: false,
    };
}

/// How large generated programs are, and of what kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenOptions {
    /// Besides `main`; at least 2 threads are made.
    pub max_threads: u32,
    pub max_ops_per_thread: u32,
    pub variables: u32,
    /// Values stored are below this.
    pub values: u64,
    pub max_interleavings: u64,
    pub features: Features,
}

impl Default for GenOptions {
    fn default() -> Self {
        Self {
            max_threads: 3,
            max_ops_per_thread: 5,
            variables: 2,
            values: 3,
            max_interleavings: 6_000,
            features: Features::ALL,
        }
    }
}

impl GenOptions {
    /// Small programs with loops that wait.
    #[must_use]
    pub fn spinning() -> Self {
        Self {
            max_ops_per_thread: 4,
            max_interleavings: 3_000,
            features: Features::SPINNING,
            ..Self::default()
        }
    }
}

/// The program of a seed.
#[must_use]
pub fn generate(seed: u64, options: &GenOptions) -> BuiltProgram {
    generated(seed, options).program()
}

/// The same, to be made smaller if something is wrong with it.
#[must_use]
pub fn generated(seed: u64, options: &GenOptions) -> Generated {
    let mut random = Random::new(seed);
    let mut recipe = recipe::Recipe::new(&mut random, options);
    while size::interleavings(&recipe) > options.max_interleavings && recipe.shrink() {}
    Generated { recipe, seed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_program::op::Op;

    #[test]
    fn a_seed_gives_one_program() {
        let options = GenOptions::default();
        let texts: Vec<_> = (0..50).map(|s| generate(s, &options).to_string()).collect();
        for (seed, text) in texts.iter().enumerate() {
            assert_eq!(*text, generate(seed as u64, &options).to_string());
        }
        let distinct: std::collections::BTreeSet<_> = texts.iter().collect();
        assert!(distinct.len() > 45, "seeds give different programs");
    }

    #[test]
    fn all_features_occur() {
        let options = GenOptions::default();
        let all: String = (0..400)
            .map(|s| generate(s, &options).to_string())
            .collect();
        for what in [
            "load x0",
            "load.acq",
            "store.rel",
            "add",
            "exchange",
            "cas",
            "fence",
            "lock m",
            "trylock",
            "if ",
            "assume",
            "assert",
            "[0; 2]",
            "atomic begin",
            "wait c",
            "SemWait",
            "SemPost",
            "barrier await",
            "alloc",
            "free",
            "choice",
            "exit process",
            "Signal",
            "ReadLock",
            "WriteLock",
            "OnceBegin",
            "join",
        ] {
            assert!(all.contains(what), "no {what:?} in 400 programs");
        }
    }

    #[test]
    fn all_ways_to_wait_occur() {
        let all: String = (0..400)
            .map(|seed| generate(seed, &GenOptions::spinning()).to_string())
            .collect();
        let spins = all.matches("loop").count();
        assert!(spins > 300, "{spins} loops in 400 programs");
        let without: String = (0..100)
            .map(|seed| generate(seed, &GenOptions::default()).to_string())
            .collect();
        assert!(!without.contains("loop"));
    }

    #[test]
    fn programs_run_alone() {
        let options = GenOptions::default();
        for seed in 0..200 {
            let mut program = generate(seed, &options).program();
            let mut state = program.main();
            for _ in 0..50 {
                if program.op(state).is_terminal() {
                    break;
                }
                state = program.after(state, 0);
            }
            assert!(
                !matches!(program.op(state), Op::Stop(_)) || options.features.asserts,
                "main of seed {seed} stops"
            );
        }
    }
}
