//! What cells hold that are no variables of the program. All engines use the same numbers.

/// Values of life cells of objects.
pub mod life {
    pub use raddle_program::tables::ALIVE;
    pub const DEAD: u64 = 2;
}

/// The state of a thread's handle, where it is a cell.
pub mod handle {
    pub const NOT_SPAWNED: u64 = 0;
    pub const SPAWNED: u64 = 1;
    pub const JOINED: u64 = 2;
    pub const DETACHED: u64 = 3;
}
