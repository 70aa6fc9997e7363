//! `cargo xtask`: the one entry for people who work on Raddle, or want to see it work.

mod bench;
mod clang;
mod fixtures;
mod tasks;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask TASK

  demo            install clang if there is none, build Raddle, check the examples
  test            install clang, chromium and valgrind if there are none; formatting, lints, all tests
  setup           install clang, chromium and valgrind if there are none (apt; with sudo if not root)
  bless           accept what the program tests and report tests print now
  fixtures        write the IR fixtures anew (needs clang 14, 16 and 19, and rustc 1.95)
  bench           build Raddle for speed, and run the programs of benchmarks/
  bench --against [KIND=]PATH… [--ours PATH] [--engine ENGINE] [--runs N] [--no-history] [PROGRAM…]
                  measure it beside other tools (genmc, nidhugg, deagle, another raddle), and add what came out to benchmarks/history.jsonl
  fuzz [SECONDS]  compare engines on random programs (60 seconds)
  mutants [COUNT [FIRST [PROGRAM]]]
                  compare engines on mutants of tests/programs (1000, from 0 on) or of one of them, keep those that fail, and
                  tell every 30 seconds how far it has come; a pass that was stopped is taken up with the number that it told
  robust [COUNT [FIRST]]
                  damage modules (5000, from 0 on), and a fifth as many traces, checkpoints, properties and proofs: nothing may panic or hang
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["demo"] => tasks::demo(),
        ["test"] => tasks::test(),
        ["setup"] => tasks::setup(),
        ["bless"] => tasks::bless(),
        ["fixtures"] => fixtures::generate(),
        ["bench"] => tasks::bench(),
        ["bench", rest @ ..] => bench::against(rest, tasks::build_release),
        ["fuzz"] => tasks::fuzz("60"),
        ["fuzz", seconds] => tasks::fuzz(seconds),
        ["mutants"] => tasks::mutants("1000", "0", None),
        ["mutants", count] => tasks::mutants(count, "0", None),
        ["mutants", count, first] => tasks::mutants(count, first, None),
        ["mutants", count, first, program] => tasks::mutants(count, first, Some(program)),
        ["robust"] => tasks::robust("5000", "0"),
        ["robust", count] => tasks::robust(count, "0"),
        ["robust", count, first] => tasks::robust(count, first),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => Err(format!("no such task: {}\n\n{USAGE}", args.join(" "))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
