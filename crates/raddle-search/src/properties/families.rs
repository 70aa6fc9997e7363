//! Kinds of generated programs that several engines are tried on.

use raddle_testing::generate::{Features, GenOptions};

pub(super) fn larger() -> GenOptions {
    GenOptions {
        max_threads: 4,
        max_ops_per_thread: 7,
        variables: 3,
        max_interleavings: 2_000_000,
        ..GenOptions::default()
    }
}

/// Loads, stores and updates only, of whole variables: many classes a program.
pub(super) fn simple() -> GenOptions {
    GenOptions {
        max_threads: 4,
        max_ops_per_thread: 6,
        variables: 2,
        max_interleavings: 1_000_000,
        features: Features {
            updates: true,
            branches: true,
            ..Features::NONE
        },
        ..GenOptions::default()
    }
}

/// Nothing but what touches several cells at once, or waits.
pub(super) fn complex() -> GenOptions {
    GenOptions {
        max_threads: 3,
        max_ops_per_thread: 6,
        max_interleavings: 50_000,
        features: Features {
            updates: true,
            mutexes: true,
            try_locks: true,
            mixed_sizes: true,
            atomic_blocks: true,
            conditions: true,
            semaphores: true,
            heap: true,
            choices: true,
            ..Features::NONE
        },
        ..GenOptions::default()
    }
}
