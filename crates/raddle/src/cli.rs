//! The command line as the user types it. Names are stable: scripts rely on them.

use crate::cluster::args::{ClusterArgs, ClusterCommand, WorkerArgs};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Checks multithreaded C, C++ and Rust programs: is there any interleaving of the threads that goes wrong?
#[derive(Debug, Parser)]
#[command(name = "raddle", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  raddle check program.c                        is there an interleaving that goes wrong?
  raddle check program.c --report report.html   step through it in a browser
  raddle check program.cpp -- -std=c++20 -Iinclude
  raddle compare program.c                      what every engine says, and how fast
  raddle orderings program.c                    which memory orderings are needed
  raddle explain race                           what a word in an answer means";

const CHECK_EXAMPLES: &str = "\
Examples:
  raddle check counter.c
  raddle check counter.c --check race,deadlock --keep-going
  raddle check spin.c --unroll 3 --time-limit 60
  raddle check peterson.c --memory tso
  raddle check stack.c --report stack.html --trace stack.trace; raddle replay stack.trace
  raddle check main.c queue.c -- -Iinclude
  raddle check -p build test_queue
  raddle check -p build --entry stress test.c --args 3 fast
  raddle check task.i --property unreach-call.prp --witness witness.yml
  raddle check program.cpp --format json -- -std=c++20 -DTHREADS=2";

const ORDERINGS_EXAMPLES: &str = "\
Examples:
  raddle orderings queue.c
  raddle orderings queue.cpp --time-limit 60 --format json -- -std=c++20";

#[derive(Debug, Subcommand)]
pub enum Command {
    // The last of an option that is given several times counts, so that scripts can append theirs.
    /// Check a program
    ///
    /// Exit status: 0 verified, 1 a violation was found, 2 the input or the command line is at fault, 3 inconclusive.
    #[command(args_override_self = true, after_help = CHECK_EXAMPLES)]
    Check(Box<CheckArgs>),
    /// Check a program with every engine that applies, and print one table
    ///
    /// Each engine has 10 seconds unless `--time-limit` says otherwise. Exit status: as `check`.
    #[command(args_override_self = true)]
    #[command(mut_args(|arg| {
        let for_check = ["engine", "report", "trace", "witness", "proof", "full", "output", "json", "checkpoint"].contains(&arg.get_id().as_str())
            || ClusterArgs::IDS.contains(&arg.get_id().as_str());
        arg.hide(for_check)
    }))]
    Compare(Box<CheckArgs>),
    /// Say of every ordering of a program's own atomics how weak it may be, or what mends a broken program
    ///
    /// The program is checked with one ordering weakened at a time, others unchanged, and one table says with which it is still verified. For a
    /// program that is not, a set of stronger orderings is looked for that makes it correct. `--time-limit` is for all of it; each check has a limit
    /// of executions (`--max-executions`; by default 20 times those of the program as it is, at least 20000).
    ///
    /// Exit status: 0 the program is verified, 1 a violation was found, 2 the input or the command line is at fault, 3 inconclusive, or something in
    /// the table is not known.
    #[command(args_override_self = true, after_help = ORDERINGS_EXAMPLES)]
    #[command(mut_args(|arg| {
        let for_check = ["engine", "memory", "report", "trace", "witness", "proof", "keep_going", "full", "output", "json", "quiet", "jobs", "checkpoint", "seed", "progress"]
            .contains(&arg.get_id().as_str())
            || ClusterArgs::IDS.contains(&arg.get_id().as_str());
        arg.hide(for_check)
    }))]
    Orderings(Box<CheckArgs>),
    /// Run a saved execution again, step by step
    ///
    /// Exit status: 1 the saved violation is reproduced, 3 it is not, 2 there was an error.
    Replay(ReplayArgs),
    /// Check what a `verified` of engine `bmc` rests on, with code that shares nothing with the solver
    ///
    /// Exit status: 0 the proof is valid, 1 it is not, 2 it cannot be read, 3 the check was stopped.
    VerifyProof {
        /// What `raddle check --engine bmc --proof` wrote
        proof: PathBuf,
    },
    /// Go on with a search that was stopped
    ///
    /// The program is the one that was checked, and so are all options but these. Exit status: as `check`.
    Resume(ResumeArgs),
    /// Explore pieces of the searches that `raddle check --cluster` has begun
    ///
    /// Runs nothing of a program but its interpretation. Exit status: 0 there is nothing left, or it was told to leave, 2 there was an error.
    Worker(WorkerArgs),
    /// Look at searches on a cluster, end them, remove them
    ///
    /// Exit status: 0 done, 2 there was an error.
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Run the programs of `benchmarks/` and compare with their expected counts
    ///
    /// Exit status: 0 all is as expected, 1 something is not, 2 there was an error.
    Bench(crate::bench::BenchArgs),
    /// Say what an engine, a check, a violation or an exit status means
    Explain {
        /// What to explain; without it, the topics are listed
        topic: Option<String>,
    },
    /// Print completions for a shell
    ///
    /// For example: `raddle completions bash > ~/.local/share/bash-completion/completions/raddle`
    Completions { shell: clap_complete::Shell },
    /// Print a manual page
    ///
    /// For example: `raddle man > raddle.1`, `raddle man check > raddle-check.1`
    Man {
        /// The command that the page is about; Raddle itself if it is left out
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The program: .c .i .cc .cpp .cxx .c++ .C .rs, or LLVM IR (.ll, .bc). Several files are linked. With `-p`, also targets of the build system
    #[arg(value_name = "FILE", required_unless_present_any = ["build", "attach"])]
    pub files: Vec<PathBuf>,

    /// A build directory with a compile_commands.json: files are compiled as it says, and its sources that define what is missing are linked. Without
    /// FILE, the one source with `main` is where the program begins
    #[arg(short = 'p', value_name = "BUILD")]
    pub build: Option<PathBuf>,

    /// Begin with this function, which has no parameters (or those of `main`), instead of `main`
    #[arg(long, value_name = "FUNCTION")]
    pub entry: Option<String>,

    /// Arguments for the program (`argv` behind its name): all that follow, up to `--`
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub args: Vec<String>,

    /// A variable of the program's environment, which is empty otherwise (may be given several times)
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub env: Vec<String>,

    /// Compile anew, and keep nothing of it (what was compiled is kept in $XDG_CACHE_HOME/raddle, or ~/.cache/raddle)
    #[arg(long)]
    pub no_cache: bool,

    /// How to look for violations
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,

    /// Memory model: that of C, C++ and Rust (c11, engine graph), sequential consistency, or store buffers as in x86-TSO or PSO
    /// (engines bmc, graph and naive)
    ///
    /// Without it, programs whose own atomics are all seq_cst are explored under sc, which they cannot tell from c11, and others
    /// under c11; an engine that is asked for by name other than graph has sc.
    #[arg(long, value_enum)]
    pub memory: Option<Memory>,

    /// Stop loops that are not proved finite after N iterations; the answer then covers no more than that. Engines that know
    /// when a thread only waits do not count iterations in which it does; those that run the program bound no loops of libraries.
    /// Functions that call themselves are not bounded
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub unroll: Option<u32>,

    /// Let threads start no more than executions of N threads have, `main` included; the answer then covers no more than that
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,

    /// What to look for, separated by commas [default: assert,memory,race,deadlock, and uninit for C and C++]
    #[arg(long = "check", value_enum, value_name = "LIST", value_delimiter = ',')]
    pub checks: Vec<Check>,

    /// What to look for, as a property file of SV-COMP says it; `abort` then ends the program silently
    #[arg(long, value_name = "FILE.prp", conflicts_with = "checks")]
    pub property: Option<PathBuf>,

    /// What happens to other threads when `main` returns [default: wait; exit for Rust]
    #[arg(long, value_enum)]
    pub on_main_return: Option<OnMainReturn>,

    /// Which panics of Rust are violations
    #[arg(long, value_enum, default_value_t = Panics::Unhandled)]
    pub panic: Panics,

    /// Report every distinct violation instead of stopping at the first
    #[arg(long)]
    pub keep_going: bool,

    /// Give up after N executions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_executions: Option<u64>,

    /// Give up after S seconds (fractions allowed), the compiler's included
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Option<std::time::Duration>,

    /// Give up when more than this much memory is needed, the compiler's included [default: 80 % of what the machine has]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub memory_limit: Option<u64>,

    /// Worker threads of engines `graph`, `dpor`, `rf`, `rvf`, `mcr` and `bmc`; the others have one. The answer does not depend on it [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,

    /// Keep what is left of the search in this file, every minute and when it is stopped: `raddle resume FILE` goes on (engines `graph`, `dpor`, `rf`, `rvf`, and `auto`)
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// Explore in pieces from so early on: after so many looks around, about a thousand events each (for tests)
    #[arg(long, value_name = "LOOKS", hide = true)]
    pub pieces_after: Option<u32>,

    /// Seed of randomised choices (no engine makes any yet)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Explore loop iterations without effect too
    #[arg(long)]
    pub no_purity: bool,

    /// Block threads that read too early in a waiting loop for good, instead of letting them wait
    #[arg(long)]
    pub no_await: bool,

    /// Explore loop iterations that take something and give it back too, as the papers do
    #[arg(long)]
    pub no_net_effect: bool,

    /// Explore both orders of fetch-and-adds whose results nobody uses
    #[arg(long)]
    pub no_ifaa: bool,

    /// Let only signals wake threads that wait on condition variables
    #[arg(long)]
    pub no_spurious_wakeups: bool,

    /// Let weak compare-exchanges, and attempts to lock mutexes of C11 and C++, fail only if they have to
    #[arg(long)]
    pub no_spurious_failures: bool,

    /// Sizes of `long` and of pointers, as SV-COMP names them: eight bytes, or four (C only; gives `-m32` to clang)
    ///
    /// A program that is compiled already (.ll, .bc), or as a compile database says, has its own: another one than this is an error.
    #[arg(long, value_enum, ignore_case = true, value_name = "MODEL")]
    pub data_model: Option<DataModel>,

    /// Take volatile accesses for relaxed atomics, as old code means them
    #[arg(long)]
    pub volatile_is_atomic: bool,

    /// Let `malloc`, `calloc` and `realloc` return null, too
    #[arg(long)]
    pub malloc_may_fail: bool,

    /// Let `malloc` and its family return addresses of blocks that were freed, too (engines `dpor` and `naive`, memory `sc`)
    #[arg(long)]
    pub reuse_addresses: bool,

    /// How to print the answer on standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// Write a report as a web page besides: one file, to step through the execution in any browser
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Write the violating execution besides, for `raddle replay`
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Write a violation witness (format 2.2 of SV-COMP) besides
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,

    /// Write what a `verified` rests on besides, for `raddle verify-proof` (engine `bmc`)
    #[arg(long, value_name = "FILE")]
    pub proof: Option<PathBuf>,

    /// Write the answer as JSON besides, whatever is printed
    #[arg(long, value_name = "FILE", hide = true)]
    pub json: Option<PathBuf>,

    /// Show what the program prints in a violating execution, where it does
    #[arg(long)]
    pub output: bool,

    /// Show every step of a violating execution, folding nothing
    #[arg(long)]
    pub full: bool,

    /// Print the verdict only
    #[arg(long, short)]
    pub quiet: bool,

    /// Show a status line on standard error while exploring
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub progress: When,

    /// Use colours
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub color: When,

    #[command(flatten)]
    pub cluster: ClusterArgs,

    /// Arguments for clang, or for rustc
    ///
    /// Raddle's own (-O0 -g and what makes clang write IR) come after them and win: optimisations would remove accesses.
    #[arg(last = true, value_name = "CLANG-ARGS")]
    pub clang_args: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// What `raddle check --checkpoint` wrote; what is left is kept there again
    pub checkpoint: PathBuf,

    /// Worker threads; their number may be another one than before [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,

    /// Give up after S more seconds (fractions allowed) [default: no limit]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Option<std::time::Duration>,

    /// Give up when more than this much memory is needed [default: 80 % of what the machine has]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub memory_limit: Option<u64>,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// What `raddle check --trace` wrote
    pub trace: PathBuf,

    /// Print the verdict only
    #[arg(long, short)]
    pub quiet: bool,

    /// Use colours
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub color: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    Auto,
    Dpor,
    Rf,
    Graph,
    Rvf,
    Mcr,
    Bmc,
    States,
    Icb,
    Bpor,
    Naive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Memory {
    C11,
    Sc,
    Tso,
    Pso,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DataModel {
    #[value(name = "LP64")]
    Lp64,
    #[value(name = "ILP32")]
    Ilp32,
}

impl DataModel {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lp64 => "LP64",
            Self::Ilp32 => "ILP32",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Check {
    Assert,
    Memory,
    Race,
    Deadlock,
    Livelock,
    Overflow,
    Uninit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnMainReturn {
    /// They finish, and are checked till then
    Wait,
    /// They end with it, as the standards say
    Exit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Panics {
    /// All of them
    Any,
    /// Those that nobody catches, and those of threads that are not joined
    Unhandled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    Never,
    Auto,
    Always,
}

/// A variable of the environment.
fn variable(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.is_empty() => Ok(text.to_owned()),
        _ => Err("a name, `=` and a value are expected".to_owned()),
    }
}

/// A command line in which every argument for the program has its own `--args=`: what follows `--args`, up to `--`, is theirs, whatever it looks
/// like.
#[must_use]
pub fn with_program_args(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut out: Vec<OsString> = Vec::new();
    let mut args = args.peekable();
    while let Some(arg) = args.next_if(|arg| arg != "--") {
        if arg != "--args" {
            out.push(arg);
            continue;
        }
        // Without any, the option lacks its value, which is said as for others.
        if args.peek().is_none_or(|next| next == "--") {
            out.push(arg);
        }
        while let Some(next) = args.next_if(|next| next != "--") {
            let mut option = OsString::from("--args=");
            option.push(next);
            out.push(option);
        }
    }
    out.extend(args);
    out
}

/// What to do about a command line that cannot be read, where more can be said than what is wrong with it.
#[must_use]
pub fn hint(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let is_program = |name: &str| {
        let extension = std::path::Path::new(name).extension();
        extension.is_some_and(|it| {
            ["c", "i", "cc", "cpp", "cxx", "ll"]
                .iter()
                .any(|known| it == *known)
        })
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand)
            .filter(|name| is_program(name))
            .map(|name| format!("to check a program: `raddle check {name}`")),
        ErrorKind::UnknownArgument => {
            let arg = text(ContextKind::InvalidArg)?;
            if ["-I", "-D", "-s", "-f", "-W", "-O", "-l", "-m"].contains(&arg.as_str()) {
                Some(
                    "arguments for clang go after `--`: `raddle check FILE -- -Iinclude`"
                        .to_owned(),
                )
            } else {
                None
            }
        }
        _ => None,
    }
}

/// The name of a value as the user types it.
pub(crate) fn name_of(value: impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "not a positive number of seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn everything_after_two_dashes_goes_to_clang() {
        let cli =
            Cli::try_parse_from(["raddle", "check", "a.c", "--", "-DN=2", "--check"]).unwrap();
        let Command::Check(args) = cli.command else {
            panic!("another command")
        };
        assert_eq!(args.clang_args, ["-DN=2", "--check"]);
    }

    #[test]
    fn arguments_for_the_program_end_where_those_for_clang_begin() {
        let line = [
            "raddle", "check", "a.c", "--args", "-x", "--check", "--", "-DN",
        ];
        let cli = Cli::try_parse_from(with_program_args(line.iter().map(OsString::from)));
        let Command::Check(args) = cli.unwrap().command else {
            panic!("another command")
        };
        assert_eq!(args.args, ["-x", "--check"]);
        assert_eq!(args.clang_args, ["-DN"]);
        let line = ["raddle", "check", "a.c", "--args", "--", "-DN"];
        assert!(Cli::try_parse_from(with_program_args(line.iter().map(OsString::from))).is_err());
    }

    #[test]
    fn the_last_of_an_option_counts_and_lists_grow() {
        let args = [
            "raddle", "check", "a.c", "--format", "json", "--format", "text",
        ];
        let Command::Check(args) = Cli::try_parse_from(args).unwrap().command else {
            panic!("another command")
        };
        assert_eq!(args.format, Format::Text);
        let args = [
            "raddle",
            "check",
            "a.c",
            "--check",
            "race,memory",
            "--check",
            "assert",
        ];
        let Command::Check(args) = Cli::try_parse_from(args).unwrap().command else {
            panic!("another command")
        };
        assert_eq!(args.checks, [Check::Race, Check::Memory, Check::Assert]);
    }

    #[test]
    fn time_limits_are_positive_numbers() {
        assert_eq!(seconds("1.5"), Ok(std::time::Duration::from_millis(1500)));
        for bad in ["0", "-1", "x", "nan", "inf", "1e300"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
