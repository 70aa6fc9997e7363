//! `raddle`: checks multithreaded programs.

use std::process::ExitCode;

fn main() -> ExitCode {
    raddle::launch::raddle(std::env::args_os())
}
