//! The command line of `cargo raddle`: cargo's own options, those of a test runner, and those of `raddle check`.

use crate::cli::CheckArgs;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use std::ffi::OsString;
use std::path::PathBuf;

/// What was asked for.
#[derive(Debug)]
pub(crate) enum Asked {
    Test(Box<TestArgs>, Vec<OsString>),
    Run(Box<RunArgs>, Vec<OsString>),
    Setup(SetupArgs),
}

/// Options of `raddle check` that mean nothing here, or something else.
const NOT_FOR_CARGO: [&str; 29] = [
    "files",
    "jobs",
    "seed",
    "format",
    "quiet",
    "color",
    "progress",
    "report",
    "trace",
    "witness",
    "proof",
    "property",
    "entry",
    "args",
    "no_cache",
    "checkpoint",
    "pieces_after",
    "cluster",
    "attach",
    "lease",
    "slice",
    "creds",
    "nkey",
    "user",
    "password",
    "tlsca",
    "tlscert",
    "tlskey",
    "subject_prefix",
];

const EXAMPLES: &str = "\
Examples:
  cargo raddle test                        check every test of the package
  cargo raddle test queue --jobs 2         those with `queue` in their names, two at a time
  cargo raddle test -p core --test stress --time-limit 10
  cargo raddle test --report reports       step through failures in a browser
  RUSTFLAGS=\"--cfg loom\" cargo raddle test  a loom suite, as it is
  cargo raddle run --example demo          check a program from `main` on
  cargo raddle run -- --workers 2          the same, with arguments for it";

/// Which part of which package is built, and how. As with `cargo build`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of cargo")]
pub(crate) struct BuildArgs {
    /// Package to check (may be given several times)
    #[arg(long, short, value_name = "SPEC")]
    pub(crate) package: Vec<OsString>,
    /// All packages of the workspace
    #[arg(long, alias = "all")]
    pub(crate) workspace: bool,
    /// Not this package
    #[arg(long, value_name = "SPEC")]
    pub(crate) exclude: Vec<OsString>,
    /// Features to switch on
    #[arg(long, short = 'F', value_name = "FEATURES")]
    pub(crate) features: Vec<OsString>,
    /// All features
    #[arg(long)]
    pub(crate) all_features: bool,
    /// Without the feature `default`
    #[arg(long)]
    pub(crate) no_default_features: bool,
    /// With the profile `release`; nothing is optimised, but what else it says counts (overflow checks, debug assertions)
    #[arg(long, short)]
    pub(crate) release: bool,
    /// With this profile; nothing is optimised, but what else it says counts
    #[arg(long, value_name = "NAME", conflicts_with = "release")]
    pub(crate) profile: Option<OsString>,
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// Do not use the network
    #[arg(long)]
    pub(crate) offline: bool,
    /// Cargo.lock stays as it is
    #[arg(long)]
    pub(crate) locked: bool,
    /// As `--locked` and `--offline`
    #[arg(long)]
    pub(crate) frozen: bool,
    /// A configuration value for cargo (may be given several times)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<OsString>,
    /// Where to build [default: `raddle` in cargo's own target directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Show what cargo runs
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Say nothing about building
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Set `cfg(miri)` for dependencies: some then do without inline assembly and system calls. What is checked is then what they do
    /// under Miri
    #[arg(long)]
    pub(crate) cfg_miri: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Tests whose names contain one of these; all if there are none
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// Filters are whole names
    #[arg(long)]
    pub(crate) exact: bool,
    /// Not the tests whose names contain this (may be given several times)
    #[arg(long, value_name = "FILTER")]
    pub(crate) skip: Vec<String>,
    /// Only tests that are marked `#[ignore]`
    #[arg(long, conflicts_with = "include_ignored")]
    pub(crate) ignored: bool,
    /// Tests that are marked `#[ignore]`, too
    #[arg(long)]
    pub(crate) include_ignored: bool,
    /// List the tests and check nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Show what a failing test prints, where it prints it
    #[arg(long, alias = "no-capture")]
    pub(crate) nocapture: bool,
    /// Tests that are checked at the same time [default: as many as there are processors]
    #[arg(long, short, alias = "test-threads", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    /// Stop after the first test that fails
    #[arg(long)]
    pub(crate) fail_fast: bool,
    // The default, and what habit types.
    #[arg(long, hide = true, conflicts_with = "fail_fast")]
    pub(crate) no_fail_fast: bool,
    /// Write the results besides, as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a web page for each test that fails into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Write each violating execution into this directory, for `raddle replay`
    #[arg(long, value_name = "DIR")]
    pub(crate) trace: Option<PathBuf>,
    /// Use colours
    #[arg(long, value_enum, default_value_t = crate::cli::When::Auto)]
    pub(crate) color: crate::cli::When,

    /// The unit tests of the library
    #[arg(long, help_heading = "Options of cargo")]
    pub(crate) lib: bool,
    /// The unit tests of this binary
    #[arg(long, value_name = "NAME", help_heading = "Options of cargo")]
    pub(crate) bin: Vec<OsString>,
    /// The unit tests of all binaries
    #[arg(long, help_heading = "Options of cargo")]
    pub(crate) bins: bool,
    /// This integration test
    #[arg(long, value_name = "NAME", help_heading = "Options of cargo")]
    pub(crate) test: Vec<OsString>,
    /// All integration tests
    #[arg(long, help_heading = "Options of cargo")]
    pub(crate) tests: bool,
    /// The tests in this example
    #[arg(long, value_name = "NAME", help_heading = "Options of cargo")]
    pub(crate) example: Vec<OsString>,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The binary to check
    #[arg(long, value_name = "NAME", help_heading = "Options of cargo")]
    pub(crate) bin: Option<OsString>,
    /// The example to check
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "bin",
        help_heading = "Options of cargo"
    )]
    pub(crate) example: Option<OsString>,
    /// Write a report as a web page besides
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<OsString>,
    /// Write the violating execution besides, for `raddle replay`
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<OsString>,
    /// How to print the answer on standard output
    #[arg(long, value_enum, default_value_t = crate::cli::Format::Text)]
    pub(crate) format: crate::cli::Format,
    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<OsString>,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Path to Cargo.toml of the project to look at
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest_path: Option<PathBuf>,
}

/// The command line that can be typed.
pub(crate) fn command() -> Command {
    let test = Command::new("test")
        .about("Check every test, each by itself")
        .long_about(
            "Check every test, each by itself: is there any interleaving of its threads that goes wrong?\n\n\
             Tests are built once, into `target/raddle`. Each is started directly, without the test harness, and has a minute unless \
             `--time-limit` says otherwise. Documentation tests are left out.\n\n\
             Exit status: 0 all tests are verified, 1 some fail, 2 the input or the command line is at fault, 3 some are inconclusive.",
        )
        .after_help(EXAMPLES);
    let run = Command::new("run")
        .about("Check a binary or an example, from `main` on")
        .long_about(
            "Check a binary or an example, from `main` on.\n\n\
             Exit status: 0 verified, 1 a violation was found, 2 the input or the command line is at fault, 3 inconclusive.",
        );
    let setup = Command::new("setup").about("See whether all is there that checking needs");
    Command::new("cargo raddle")
        .bin_name("cargo raddle")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Checks the tests of a Cargo project: is there any interleaving of their threads that goes wrong?")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(with_check_options(TestArgs::augment_args(test)).args_override_self(true))
        .subcommand(with_check_options(RunArgs::augment_args(run)).args_override_self(true))
        .subcommand(SetupArgs::augment_args(setup))
}

/// Adds the options of `raddle check`, as they are there.
fn with_check_options(command: Command) -> Command {
    check_options()
        .into_iter()
        .fold(command, |command, option| {
            command.arg(option.help_heading("Options of raddle check"))
        })
}

fn check_options() -> Vec<Arg> {
    let check = CheckArgs::augment_args(Command::new("check"));
    let fits =
        |arg: &&Arg| arg.get_long().is_some() && !NOT_FOR_CARGO.contains(&arg.get_id().as_str());
    check.get_arguments().filter(fits).cloned().collect()
}

/// Reads the command line, without the program's name.
pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Asked, clap::Error> {
    let mut args: Vec<OsString> = args.collect();
    // cargo passes on its own name for the command.
    if args.first().is_some_and(|first| first == "raddle") {
        args.remove(0);
    }
    // Habit puts options of the test harness behind two dashes.
    if args.first().is_some_and(|first| first == "test") {
        args.retain(|arg| arg != "--");
    }
    let all = std::iter::once(OsString::from("cargo raddle")).chain(args);
    let matches = command().try_get_matches_from(all)?;
    match matches.subcommand() {
        Some(("test", given)) => Ok(Asked::Test(
            Box::new(TestArgs::from_arg_matches(given)?),
            passed_on(given),
        )),
        Some(("run", given)) => Ok(Asked::Run(
            Box::new(RunArgs::from_arg_matches(given)?),
            passed_on(given),
        )),
        Some((_, given)) => Ok(Asked::Setup(SetupArgs::from_arg_matches(given)?)),
        None => Err(command().error(
            clap::error::ErrorKind::MissingSubcommand,
            "test, run or setup",
        )),
    }
}

/// The options of `raddle check` that were given, as they are typed.
fn passed_on(given: &ArgMatches) -> Vec<OsString> {
    let mut args = Vec::new();
    for option in check_options() {
        let id = option.get_id().as_str();
        let Some(long) = option.get_long() else {
            continue;
        };
        if given.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        if !option.get_action().takes_values() {
            args.push(format!("--{long}").into());
            continue;
        }
        for value in given.get_raw(id).into_iter().flatten() {
            let mut arg = OsString::from(format!("--{long}="));
            arg.push(value);
            args.push(arg);
        }
    }
    args
}

impl BuildArgs {
    /// What cargo is told.
    pub(crate) fn for_cargo(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        let mut list = |option: &str, values: &[OsString]| {
            for value in values {
                args.extend([option.into(), value.clone()]);
            }
        };
        list("--package", &self.package);
        list("--exclude", &self.exclude);
        list("--features", &self.features);
        list("--config", &self.config);
        if let Some(profile) = &self.profile {
            list("--profile", std::slice::from_ref(profile));
        }
        if let Some(path) = &self.manifest_path {
            list("--manifest-path", &[path.clone().into_os_string()]);
        }
        for (option, given) in [
            ("--workspace", self.workspace),
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--release", self.release),
            ("--offline", self.offline),
            ("--locked", self.locked),
            ("--frozen", self.frozen),
            ("--quiet", self.quiet),
        ] {
            if given {
                args.push(option.into());
            }
        }
        args.extend((0..self.verbose).map(|_| OsString::from("--verbose")));
        args
    }
}

impl TestArgs {
    /// Which targets cargo builds. Without a choice, all that have tests.
    pub(crate) fn targets(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        for (option, values) in [
            ("--bin", &self.bin),
            ("--test", &self.test),
            ("--example", &self.example),
        ] {
            for value in values {
                args.extend([option.into(), value.clone()]);
            }
        }
        for (option, given) in [
            ("--lib", self.lib),
            ("--bins", self.bins),
            ("--tests", self.tests),
        ] {
            if given {
                args.push(option.into());
            }
        }
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Asked {
        parse(args.iter().map(OsString::from)).unwrap()
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn options_of_check_are_passed_on_as_they_are_typed() {
        let Asked::Test(args, passed) = parsed(&[
            "raddle",
            "test",
            "queue",
            "--time-limit",
            "2.5",
            "--check",
            "race,assert",
            "--keep-going",
            "-p",
            "core",
        ]) else {
            panic!("another command")
        };
        assert_eq!(args.filters, ["queue"]);
        assert_eq!(args.build.package, ["core"]);
        let mut passed: Vec<_> = passed.iter().map(|arg| arg.to_str().unwrap()).collect();
        passed.sort_unstable();
        assert_eq!(
            passed,
            [
                "--check=assert",
                "--check=race",
                "--keep-going",
                "--time-limit=2.5"
            ]
        );
    }

    #[test]
    fn options_of_the_test_harness_may_follow_two_dashes() {
        let Asked::Test(args, passed) = parsed(&[
            "test",
            "--",
            "--nocapture",
            "--test-threads=1",
            "--skip",
            "slow",
        ]) else {
            panic!("another command")
        };
        assert!(args.nocapture && passed.is_empty());
        assert_eq!(
            (args.jobs, args.skip.as_slice()),
            (Some(1), &["slow".to_owned()][..])
        );
    }

    #[test]
    fn every_option_of_check_is_for_cargo_or_known_not_to_be() {
        let check = CheckArgs::augment_args(Command::new("check"));
        let ids: Vec<_> = check
            .get_arguments()
            .map(|arg| arg.get_id().to_string())
            .collect();
        for id in NOT_FOR_CARGO {
            assert!(
                ids.iter().any(|known| known == id),
                "{id} is no option any more"
            );
        }
    }
}
