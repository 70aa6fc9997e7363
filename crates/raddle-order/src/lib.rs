//! The theory of ordering consistency inside a SAT solver, and bit-vectors for it. It knows nothing of programs.
//!
//! The theory is that of Fan, Sun and He, *Satisfiability Modulo Ordering Consistency Theory for SC, TSO, and PSO Memory
//! Models* ("the paper" throughout): events, orders between them that literals switch on, and the demand that no order is
//! cyclic. From-reads are derived inside the theory and never written into the formula.
//!
//! | part | what it does |
//! |---|---|
//! | [`OrderSolver`] | what callers use: events, orders, reads-from and write-serialisation literals, clauses, models |
//! | [`OrderTheory`] | the theory alone, behind the [`Theory`] interface |
//! | [`Solver`] | the SAT solver, generic over a theory |
//! | [`bits`] | words over gates, turned into clauses on demand |
//! | [`memory`] | SC, TSO and PSO as graphs, for events whose locations are known |
//! | [`vsc`] | traces with known values: is there an order that explains them? |
//!
//! Two writes and two reads that cannot both be late (store buffering under SC):
//!
//! ```
//! use raddle_order::{Limits, Lit, OrderConfig, OrderSolver, Outcome};
//! use raddle_order::memory::{Memory, MemoryModel};
//!
//! for (model, expected) in [(MemoryModel::Sc, Outcome::Unsat), (MemoryModel::Tso, Outcome::Sat)] {
//!     let mut solver = OrderSolver::new(OrderConfig::default());
//!     let mut memory = Memory::new(&mut solver, model);
//!     let old = [0, 1].map(|location| memory.initial(&mut solver, location));
//!     let mut reads = Vec::new();
//!     for (written, read) in [(0, 1), (1, 0)] {
//!         let thread = memory.thread();
//!         memory.write(&mut solver, thread, written, Lit::TRUE);
//!         reads.push(memory.read(&mut solver, thread, read, Lit::TRUE));
//!     }
//!     let sources = memory.connect(&mut solver, |_, _| true);
//!     // Both reads see the initial values.
//!     for source in sources {
//!         if old.contains(&source.write) {
//!             solver.clause(&[source.lit]);
//!         }
//!     }
//!     assert_eq!(solver.solve(&[], &Limits::default()), expected);
//! }
//! ```
//!
//! What is not in here: programs, values of memory (a caller says what a reads-from literal implies), addresses that are
//! not known (a caller guards orders and serialisations with literals that say that two addresses are equal).

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
