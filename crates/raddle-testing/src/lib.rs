//! Programs for tests, made without any compiler. No shipped crate depends on this one.
//!
//! | part | what it does |
//! |---|---|
//! | [`builder`] | small programs, written by hand |
//! | [`generate`] | random programs with known features |
//! | [`litmus`] | litmus tests with known answers, and a generated family |
//! | [`oracle`] | every execution of a small program, found by brute force and written independently of engines |
//! | [`samples`] | the programs of the papers that counts are compared on |

pub mod builder;
pub mod generate;
pub mod litmus;
pub mod oracle;
pub mod samples;
