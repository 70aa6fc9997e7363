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
//! | [`lock_order`] | mutexes: their sections are in one order, and what they protect is carried along it |
//! | [`machine`] | what sections of a mutex do to what it protects, state by state |
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
//! # Mutexes
//!
//! Three ways to say a mutex, measured on a counter that several threads increment behind it (time to refute that an
//! increment is lost; `cargo bench -p raddle-order -- counter`):
//!
//! | encoding | 2×4 | 3×3 | 4×3 | 4×4 |
//! |---|---|---|---|---|
//! | a cell with read-modify-writes; the counter is a location | 0.01 s | 0.2 s | > 30 s | > 30 s |
//! | lock order; the counter is a location | 0.01 s | 0.2 s | 25 s | > 45 s |
//! | lock order; the counter is carried | < 0.01 s | < 0.01 s | < 0.01 s | 0.01 s |
//!
//! So: [`Memory::lock`](memory::Memory::lock) and [`unlock`](memory::Memory::unlock) for every section
//! (or [`LockOrder`](lock_order::LockOrder) with events of the caller), and [`LockOrder::carry`](lock_order::LockOrder::carry) for every variable that
//! is only touched inside of sections of one mutex, or before all of them, or after all of them. Such a variable needs no
//! events at all. Where it has events for another reason, carrying it besides is right too: it says nothing new.
//!
//! ```
//! use raddle_order::bits::{Bits, Word};
//! use raddle_order::memory::{Memory, MemoryModel};
//! use raddle_order::lock_order::Passage;
//! use raddle_order::{Limits, Lit, OrderConfig, OrderSolver, Outcome};
//!
//! let mut solver = OrderSolver::new(OrderConfig::default());
//! let mut memory = Memory::new(&mut solver, MemoryModel::Tso);
//! let mut bits = Bits::new();
//! let mutex = memory.mutex();
//! let mut passages = Vec::new();
//! for _ in 0..2 {
//!     // lock; x = x + 1; unlock
//!     let thread = memory.thread();
//!     let section = memory.lock(&mut solver, thread, mutex, Lit::TRUE);
//!     let found = bits.fresh(8, &mut solver);
//!     let left = bits.add(&found, &Word::constant(8, 1));
//!     memory.unlock(&mut solver, thread, mutex, section, Lit::TRUE);
//!     passages.push(Passage { section, found, left });
//! }
//! memory.connect(&mut solver, |_, _| true);
//! let initial = Word::constant(8, 5);
//! let last = memory.lock_order(mutex).carry(&mut solver, &mut bits, &initial, &passages);
//! let is_seven = bits.eq(&last, &Word::constant(8, 7));
//! bits.require(!is_seven, &mut solver);
//! assert_eq!(solver.solve(&[], &Limits::default()), Outcome::Unsat);
//! ```
//!
//! # Values
//!
//! Programs keep small numbers in wide words. [`Bits::require_known`](bits::Bits::require_known), called once when it is
//! known which writes each read may read from ([`memory::flow`] says it), fixes the bits that are the same in every execution: mostly the upper ones.
//! On the Fibonacci program of the bench (32-bit words) that halves the time and the length of learnt clauses.
//!
//! What is not in here: programs, values of memory (a caller says what a reads-from literal implies), addresses that are
//! not known (a caller guards orders and serialisations with literals that say that two addresses are equal).

pub mod bits;
mod lit;
pub mod lock_order;
pub mod machine;
pub mod memory;
mod order;
pub mod proof;
mod sat;
mod solver;
mod theory;
pub mod vsc;

pub use lit::{ClauseSink, Lit, Values, Var};
pub use order::{Detection, EventId, GraphId, GraphSet, OrderConfig, OrderStats, OrderTheory};
pub use sat::{Limits, Outcome, SatStats, Solver, Stopped};
pub use solver::{OrderSolver, Serialised};
pub use theory::{Consequences, NoTheory, Theory};
