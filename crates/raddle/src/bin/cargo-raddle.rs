//! `cargo raddle`: checks the tests and programs of a Cargo project.

use std::process::ExitCode;

fn main() -> ExitCode {
    raddle::cargo::main(std::env::args_os())
}
