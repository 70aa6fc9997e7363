//! Dense ids of everything that engines index by.

use raddle_ir::define_id;

define_id!(
    /// A thread: interned (parent, k-th spawn of that parent), never the order in which threads happened to start.
    /// `main` is thread 0.
    ThreadId,
    "T"
);
define_id!(
    /// A local state of one thread.
    StateId,
    "s"
);
define_id!(
    /// A shared location: a range of bytes that some access touches, or a synchronisation cell.
    LocId,
    "l"
);
define_id!(
    /// A memory object: a global, an escaping stack variable, a heap block.
    ObjectId,
    "o"
);
define_id!(
    /// Why a thread cannot go on: see [`crate::Stop`].
    StopId,
    "stop"
);
define_id!(
    /// A source position. Id 0 is "nowhere".
    SrcId,
    "src"
);

impl ThreadId {
    /// The thread that runs `main`.
    pub const MAIN: Self = Self(0);
}

impl SrcId {
    /// No position is known.
    pub const NOWHERE: Self = Self(0);
}
