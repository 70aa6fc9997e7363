//! The theory of ordering consistency inside a SAT solver, and bit-vectors for it. It knows nothing of programs.

pub mod bits;
mod lit;
pub mod memory;
mod order;
pub mod rng;
mod sat;
mod solver;
mod theory;
pub mod vsc;

pub use lit::{ClauseSink, Lit, Values, Var};
pub use order::{Detection, EventId, GraphId, GraphSet, OrderConfig, OrderStats, OrderTheory};
pub use sat::{Limits, Outcome, SatStats, Solver, Stopped};
pub use solver::{OrderSolver, Serialised};
pub use theory::{Consequences, NoTheory, Theory};
