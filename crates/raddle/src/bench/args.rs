//! What can be typed after `raddle bench`.

use crate::cli::{Engine, Memory};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// The programs to run; all, if none is named
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// The engine whose executions are counted
    #[arg(long, value_enum, default_value_t = Engine::Dpor)]
    pub engine: Engine,

    /// The memory model: runs whose verdict is known under it
    #[arg(long, value_enum, default_value_t = Memory::Sc)]
    pub memory: Memory,

    /// Run what takes long, too
    #[arg(long)]
    pub all: bool,

    /// Worker threads. Counts do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: u32,

    /// Explore in pieces from so early on (for tests)
    #[arg(long, value_name = "LOOKS", hide = true)]
    pub pieces_after: Option<u32>,

    /// How to print the table
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub format: BenchFormat,

    /// Where the programs are; otherwise the nearest `benchmarks` here or above
    #[arg(long, value_name = "DIRECTORY")]
    pub dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchFormat {
    Text,
    Json,
}
