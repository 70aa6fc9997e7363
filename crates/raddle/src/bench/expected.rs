//! What is expected of the programs: the file `expected.toml` beside them.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::BenchError;

/// The name of the file in the directory of the programs.
pub const FILE: &str = "expected.toml";

/// Runs with more executions than this are long unless they say otherwise.
const QUICK: u64 = 100_000;

/// What an engine that explores more than one execution of a class can be expected to finish.
const SMALL: u64 = 100;

/// All programs, in the order of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    #[serde(rename = "program")]
    pub programs: Vec<Program>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The file is this with `.c`.
    pub name: String,
    /// Where the program and its figures come from.
    pub paper: String,
    /// What `raddle check` should look for where it is not the default.
    pub checks: Option<String>,
    pub runs: Vec<Run>,
}

/// A program with values for its parameters, and what is known about it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    #[serde(rename = "N")]
    pub n: Option<i64>,
    /// Other macros.
    pub define: BTreeMap<String, i64>,
    pub unroll: Option<u32>,
    pub verdict: Expectation,
    pub size: Option<Size>,
    /// The engines this is for, if not for all.
    pub engines: Option<Vec<String>>,
    /// The memory models under which the verdict holds; sequential consistency, if there are none.
    pub memory: Option<Vec<String>>,
    #[serde(flatten)]
    pub counts: Counts,
    /// Figures of a paper whose program is not public, for comparison: ours has the same shape, but other counts.
    pub paper: Counts,
}

/// Numbers of executions. With `verdict = "violation"`, those explored until the violation was found.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Counts {
    /// One for each Mazurkiewicz class: `dpor` without further reductions.
    pub maz: Option<Count>,
    /// One for each reads-from class.
    pub rf: Option<Count>,
    pub rvf: Option<Count>,
    pub mcr: Option<Count>,
    /// Until the violation, with few preemptions first: by interleavings, and without most that are independent.
    pub icb: Option<Count>,
    pub bpor: Option<Count>,
    /// `dpor` with partial loop purity.
    pub purity: Option<Count>,
    /// The same, and waits that block.
    #[serde(rename = "await")]
    pub awaits: Option<Count>,
    /// The same, and independent fetch-and-adds.
    pub ifaa: Option<Count>,
    /// `rf` with purity and waits that block.
    pub rf_await: Option<Count>,
    /// Execution graphs under a memory model where they are others than Mazurkiewicz classes.
    pub graph: Option<Count>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expectation {
    #[default]
    Verified,
    Violation,
}

/// Long runs are for `--all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    Quick,
    Long,
}

/// `12`, `"12+3"` (complete and blocked) or `{ at_most = 15 }` (both together).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub enum Count {
    Exactly { complete: u64, blocked: u64 },
    AtMost(u64),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Complete(u64),
    Both(String),
    Bound { at_most: u64 },
}

impl TryFrom<Written> for Count {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Complete(complete) => Ok(Self::Exactly {
                complete,
                blocked: 0,
            }),
            Written::Bound { at_most } => Ok(Self::AtMost(at_most)),
            Written::Both(text) => text
                .split_once('+')
                .and_then(|(complete, blocked)| {
                    Some(Self::Exactly {
                        complete: complete.parse().ok()?,
                        blocked: blocked.parse().ok()?,
                    })
                })
                .ok_or_else(|| format!("`{text}` is not a count like \"12+3\"")),
        }
    }
}

impl Count {
    #[must_use]
    pub fn admits(self, complete: u64, blocked: u64) -> bool {
        match self {
            Self::Exactly { .. } => self == Self::Exactly { complete, blocked },
            Self::AtMost(most) => complete + blocked <= most,
        }
    }

    fn executions(self) -> u64 {
        match self {
            Self::Exactly { complete, blocked } => complete + blocked,
            Self::AtMost(most) => most,
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Self::Exactly {
                complete,
                blocked: 0,
            } => complete.to_string(),
            Self::Exactly { complete, blocked } => format!("{complete}+{blocked}"),
            Self::AtMost(most) => format!("≤ {most}"),
        };
        f.pad(&text)
    }
}

/// What executions are told apart by: an engine explores one of each class. `icb` and `bpor` explore more; they are counted
/// where a paper compares with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Maz,
    Purity,
    Await,
    Ifaa,
    Rf,
    RfAwait,
    Rvf,
    Mcr,
    Icb,
    Bpor,
    Graph,
}

/// The engines that explore one execution of each class.
const BY_CLASS: [&str; 5] = ["dpor", "rf", "rvf", "mcr", "graph"];

impl Class {
    pub const ALL: [Self; 11] = [
        Self::Maz,
        Self::Purity,
        Self::Await,
        Self::Ifaa,
        Self::Rf,
        Self::RfAwait,
        Self::Rvf,
        Self::Mcr,
        Self::Icb,
        Self::Bpor,
        Self::Graph,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Maz => "maz",
            Self::Purity => "purity",
            Self::Await => "await",
            Self::Ifaa => "ifaa",
            Self::Rf => "rf",
            Self::RfAwait => "rf+await",
            Self::Rvf => "rvf",
            Self::Mcr => "mcr",
            Self::Icb => "icb",
            Self::Bpor => "bpor",
            Self::Graph => "graph",
        }
    }

    /// The engines that explore one execution of each class. Under sequential consistency, Mazurkiewicz classes are execution graphs.
    #[must_use]
    pub fn engines(self) -> &'static [&'static str] {
        match self {
            Self::Maz | Self::Await => &["dpor", "graph"],
            Self::Purity | Self::Ifaa => &["dpor"],
            Self::Rf | Self::RfAwait => &["rf"],
            Self::Rvf => &["rvf"],
            Self::Mcr => &["mcr"],
            Self::Icb => &["icb"],
            Self::Bpor => &["bpor"],
            Self::Graph => &["graph"],
        }
    }

    /// The options of `raddle check` that leave this class: figures other than those of the await paper are without its
    /// reductions, and all are without what goes beyond the papers.
    #[must_use]
    pub fn switches(self) -> &'static [&'static str] {
        match self {
            Self::Purity => &["--no-await", "--no-net-effect", "--no-ifaa"],
            Self::Await => &["--no-net-effect", "--no-ifaa"],
            Self::Ifaa | Self::RfAwait => &["--no-net-effect"],
            Self::Icb | Self::Bpor => &[],
            Self::Maz | Self::Rf | Self::Rvf | Self::Mcr | Self::Graph => {
                &["--no-purity", "--no-await", "--no-ifaa"]
            }
        }
    }
}

impl Counts {
    #[must_use]
    pub fn of(&self, class: Class) -> Option<Count> {
        match class {
            Class::Maz => self.maz,
            Class::Purity => self.purity,
            Class::Await => self.awaits,
            Class::Ifaa => self.ifaa,
            Class::Rf => self.rf,
            Class::RfAwait => self.rf_await,
            Class::Rvf => self.rvf,
            Class::Mcr => self.mcr,
            Class::Icb => self.icb,
            Class::Bpor => self.bpor,
            Class::Graph => self.graph,
        }
    }
}

impl Run {
    /// What this says about an engine: counts of its classes, or only a verdict.
    #[must_use]
    pub fn figures(&self, engine: &str) -> Vec<Option<Class>> {
        if self
            .engines
            .as_ref()
            .is_some_and(|engines| engines.iter().all(|name| name != engine))
        {
            return Vec::new();
        }
        let known = |class: &Class| self.counts.of(*class).is_some();
        if !Class::ALL.iter().any(known) {
            return vec![None];
        }
        let own: Vec<Option<Class>> = Class::ALL
            .into_iter()
            .filter(|class| class.engines().contains(&engine) && known(class))
            .map(Some)
            .collect();
        if own.is_empty() && !BY_CLASS.contains(&engine) {
            // Nothing can be counted, but small programs can be judged.
            let small = self
                .counts
                .maz
                .is_some_and(|count| count.executions() <= SMALL);
            return if small { vec![None] } else { Vec::new() };
        }
        own
    }

    /// The number of executions of a class.
    #[must_use]
    pub fn count(&self, class: Option<Class>) -> Option<Count> {
        class.and_then(|class| self.counts.of(class))
    }

    #[must_use]
    pub fn size(&self, class: Option<Class>) -> Size {
        let derived = match self.count(class) {
            Some(count) if count.executions() > QUICK => Size::Long,
            _ => Size::Quick,
        };
        self.size.unwrap_or(derived)
    }

    /// The macros, as clang is told.
    #[must_use]
    pub fn macros(&self) -> Vec<String> {
        let n = self.n.map(|n| format!("-DN={n}"));
        let others = self
            .define
            .iter()
            .map(|(name, value)| format!("-D{name}={value}"));
        n.into_iter().chain(others).collect()
    }

    /// Is anything said about this memory model?
    #[must_use]
    pub fn covers(&self, memory: &str) -> bool {
        match &self.memory {
            Some(models) => models.iter().any(|model| model == memory),
            None => memory == "sc",
        }
    }

    /// The macros, as people are told.
    #[must_use]
    pub fn parameters(&self) -> String {
        let macros = self.macros();
        let short: Vec<&str> = macros
            .iter()
            .map(|text| text.trim_start_matches("-D"))
            .collect();
        short.join(" ")
    }
}

/// Reads the expectations in a directory of programs.
pub fn read(directory: &Path) -> Result<Suite, BenchError> {
    let file = directory.join(FILE);
    let text = fs::read_to_string(&file).map_err(|error| BenchError::Unreadable {
        file: file.clone(),
        error,
    })?;
    toml::from_str(&text).map_err(|error| BenchError::Malformed {
        file,
        what: error.to_string(),
    })
}

/// The nearest `benchmarks` with expectations in it, going up from here or from where Raddle was built.
#[must_use]
pub fn find_directory() -> Option<PathBuf> {
    let starts = [std::env::current_dir(), std::env::current_exe()];
    starts
        .into_iter()
        .flatten()
        .flat_map(|start| {
            start
                .ancestors()
                .map(|directory| directory.join("benchmarks"))
                .collect::<Vec<_>>()
        })
        .find(|directory| directory.join(FILE).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Run {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn counts_are_written_in_three_ways() {
        let run = run("N = 2\nmaz = 4\nrf = \"3+1\"\nrvf = { at_most = 2 }");
        assert!(run.counts.maz.unwrap().admits(4, 0));
        assert!(!run.counts.maz.unwrap().admits(4, 1));
        assert!(run.counts.rf.unwrap().admits(3, 1));
        assert!(run.counts.rvf.unwrap().admits(1, 1));
        assert!(!run.counts.rvf.unwrap().admits(2, 1));
        let shown = [run.counts.maz, run.counts.rf, run.counts.rvf].map(|c| c.unwrap().to_string());
        assert_eq!(shown, ["4", "3+1", "≤ 2"]);
    }

    #[test]
    fn malformed_counts_are_refused() {
        for bad in [
            "maz = \"3\"",
            "maz = \"a+b\"",
            "maz = -1",
            "mzz = 3",
            "rf = { most = 2 }",
        ] {
            assert!(toml::from_str::<Run>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_run_is_about_the_classes_it_has_figures_for() {
        let counted = run("N = 2\nrf = 3\npurity = 4\nawait = 3");
        assert_eq!(counted.figures("rf"), [Some(Class::Rf)]);
        let both = [Some(Class::Purity), Some(Class::Await)];
        assert_eq!(counted.figures("dpor"), both);
        assert_eq!(counted.figures("graph"), [Some(Class::Await)]);
        assert_eq!(counted.figures("naive"), []);
    }

    #[test]
    fn a_run_without_figures_is_about_its_verdict() {
        let judged = run("N = 2\nverdict = \"violation\"");
        assert_eq!(judged.figures("rf"), [None]);
        let restricted = run("N = 2\nengines = [\"bmc\"]");
        assert_eq!(restricted.figures("bmc"), [None]);
        assert_eq!(restricted.figures("dpor"), []);
        assert_eq!(run("maz = 6\nrf = 3").figures("naive"), [None]);
    }

    #[test]
    fn many_executions_make_a_run_long() {
        let run = run("maz = 100001\nrf = 5");
        assert_eq!(run.size(Some(Class::Maz)), Size::Long);
        assert_eq!(run.size(Some(Class::Rf)), Size::Quick);
    }

    #[test]
    fn macros_start_with_n() {
        let run = run("N = 3\ndefine = { BOUND = 4, A = 1 }");
        assert_eq!(run.macros(), ["-DN=3", "-DA=1", "-DBOUND=4"]);
        assert_eq!(run.parameters(), "N=3 A=1 BOUND=4");
    }
}
