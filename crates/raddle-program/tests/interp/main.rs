//! The interpreter on small modules in text form.

mod driver;
mod instructions;
mod models;
mod mutants;
mod programs;
mod unwinding;
