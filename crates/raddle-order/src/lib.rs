//! The theory of ordering consistency inside a SAT solver, and bit-vectors for it. It knows nothing of programs.

mod lit;
pub mod rng;
mod order;
mod sat;
mod theory;

pub use lit::{ClauseSink, Lit, Values, Var};
pub use order::{Detection, EventId, GraphId, GraphSet, OrderConfig, OrderStats, OrderTheory};
pub use sat::{Limits, Outcome, SatStats, Solver, Stopped};
pub use theory::{Consequences, NoTheory, Theory};
