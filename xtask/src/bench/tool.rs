//! How each kind of tool is asked, and what its answer looks like.

use super::rows::Row;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Raddle,
    GenMc,
    Nidhugg,
    Deagle,
}

const KINDS: [(&str, Kind); 4] = [
    ("raddle", Kind::Raddle),
    ("genmc", Kind::GenMc),
    ("nidhugg", Kind::Nidhugg),
    ("deagle", Kind::Deagle),
];

#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) path: PathBuf,
}

/// What a tool said about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Executions {
        complete: u64,
        blocked: u64,
    },
    /// A tool that counts nothing: is the program correct?
    Correct(bool),
}

/// The program to be measured: its source, and the same as LLVM IR for tools that read nothing else.
pub(super) struct Input<'a> {
    pub(super) source: &'a Path,
    pub(super) ir: &'a Path,
    pub(super) n: u32,
}

impl Tool {
    /// `PATH`, whose file name tells the kind, or `KIND=PATH`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let known = || KINDS.map(|(name, _)| name).join(", ");
        let (kind, path) = match text.split_once('=') {
            Some((name, path)) => {
                let kind = KINDS.iter().find(|kind| kind.0 == name);
                let kind = kind
                    .ok_or_else(|| format!("`{name}` is no kind of tool: there are {}", known()))?;
                (kind.1, PathBuf::from(path))
            }
            None => {
                let path = PathBuf::from(text);
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                let file = file.to_lowercase();
                let kind = KINDS.iter().find(|kind| file.starts_with(kind.0));
                let kind = kind.ok_or_else(|| {
                    format!(
                        "what tool is {text}? write KIND=PATH, where KIND is one of {}",
                        known()
                    )
                })?;
                (kind.1, path)
            }
        };
        if !path.is_file() {
            return Err(format!("{}: there is no such file", path.display()));
        }
        let file = path.file_name().unwrap_or_default();
        Ok(Self {
            name: file.to_string_lossy().into_owned(),
            kind,
            path,
        })
    }

    pub(super) fn reads_ir(&self) -> bool {
        self.kind == Kind::Nidhugg
    }

    /// Can it do what an engine of Raddle does?
    pub(super) fn covers(&self, engine: &str) -> bool {
        match self.kind {
            Kind::Raddle => true,
            Kind::GenMc => engine == "dpor",
            Kind::Nidhugg => matches!(engine, "dpor" | "rf"),
            Kind::Deagle => engine == "bmc",
        }
    }

    /// The ways to ask it; the fastest one counts.
    pub(super) fn commands(&self, row: Row, input: &Input<'_>) -> Vec<Command> {
        let define = format!("-DN={}", input.n);
        let mut commands = vec![Command::new(&self.path)];
        match self.kind {
            Kind::Raddle => {
                // Reductions that others do not have are left out, and what the papers do not know.
                commands[0]
                    .args(["check", "--engine", row.engine, "--memory", "sc"])
                    .args(["--jobs", "1", "--progress", "never", "--format", "json"])
                    .args(["--no-spurious-wakeups", "--check", "assert,memory,deadlock"]);
                if row.engine == "dpor" {
                    commands[0].arg("--no-ifaa");
                }
                commands[0].arg(input.source).args(["--", &define]);
            }
            Kind::GenMc => {
                // In-place revisiting is faster on some programs and slower on others.
                commands.push(Command::new(&self.path));
                commands[1].arg("--disable-ipr");
                for command in &mut commands {
                    command
                        .args(["--sc", "--disable-estimation", "--", &define])
                        .arg(input.source);
                }
            }
            Kind::Nidhugg => {
                let mode = match row.engine {
                    "rf" => "--rf",
                    _ => "--optimal",
                };
                commands[0].args(["--sc", mode]).arg(input.ir);
            }
            Kind::Deagle => {
                let bound = (input.n + 1).to_string();
                commands[0]
                    .args(["--unwind", &bound, "--no-unwinding-assertions", &define])
                    .arg(input.source);
            }
        }
        commands
    }

    /// Reads what it printed.
    pub(super) fn answer(&self, printed: &str) -> Option<Answer> {
        let number_after = |words: &str| {
            let at = printed.find(words)? + words.len();
            let digits: String = printed[at..]
                .chars()
                .skip_while(|c| c.is_whitespace())
                .take_while(char::is_ascii_digit)
                .collect();
            digits.parse().ok()
        };
        match self.kind {
            Kind::Raddle => {
                let report: serde_json::Value = serde_json::from_str(printed).ok()?;
                match report["verdict"].as_str()? {
                    "verified" | "violation" => {}
                    _ => return None,
                }
                if report["engine"] == "bmc" {
                    return Some(Answer::Correct(report["verdict"] == "verified"));
                }
                Some(Answer::Executions {
                    complete: report["executions"]["complete"].as_u64()?,
                    blocked: report["executions"]["blocked"].as_u64()?,
                })
            }
            Kind::GenMc => Some(Answer::Executions {
                complete: number_after("Number of complete executions explored:")?,
                blocked: number_after("Number of blocked executions seen:").unwrap_or(0),
            }),
            Kind::Nidhugg => Some(Answer::Executions {
                complete: number_after("Trace count:")?,
                blocked: number_after("(also").unwrap_or(0),
            }),
            Kind::Deagle => {
                let says = |word| printed.contains(word);
                match (says("VERIFICATION SUCCESSFUL"), says("VERIFICATION FAILED")) {
                    (true, false) => Some(Answer::Correct(true)),
                    (false, true) => Some(Answer::Correct(false)),
                    _ => None,
                }
            }
        }
    }
}

impl Answer {
    /// Did two tools explore the same? Who counts an execution as blocked is a matter of taste.
    pub(super) fn agrees(self, other: Self) -> bool {
        match (self, other) {
            (
                Self::Executions { complete, .. },
                Self::Executions {
                    complete: others, ..
                },
            ) => complete == others,
            (Self::Correct(one), Self::Correct(other)) => one == other,
            _ => false,
        }
    }

    pub(super) fn executions(self) -> Option<u64> {
        match self {
            Self::Executions { complete, blocked } => Some(complete + blocked),
            Self::Correct(_) => None,
        }
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Executions {
                complete,
                blocked: 0,
            } => write!(f, "{complete}"),
            Self::Executions { complete, blocked } => write!(f, "{complete}+{blocked}"),
            Self::Correct(true) => f.write_str("correct"),
            Self::Correct(false) => f.write_str("wrong"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: Kind, printed: &str) -> Option<Answer> {
        let tool = Tool {
            name: String::new(),
            kind,
            path: PathBuf::new(),
        };
        tool.answer(printed)
    }

    #[test]
    fn answers_are_read() {
        let count = |complete, blocked| Some(Answer::Executions { complete, blocked });
        let genmc = "No errors were detected.\nNumber of complete executions explored: 12\nNumber of blocked executions seen: 3\n";
        assert_eq!(answer(Kind::GenMc, genmc), count(12, 3));
        let none_blocked =
            "Number of complete executions explored: 12\nTotal wall-clock time: 0.02s\n";
        assert_eq!(answer(Kind::GenMc, none_blocked), count(12, 0));
        assert_eq!(answer(Kind::GenMc, "Error: cannot"), None);
        let nidhugg = "Trace count: 90 (also 4 assume-blocked)\nNo errors were detected.\n";
        assert_eq!(answer(Kind::Nidhugg, nidhugg), count(90, 4));
        assert_eq!(
            answer(Kind::Deagle, "x\nVERIFICATION SUCCESSFUL\n"),
            Some(Answer::Correct(true))
        );
        let ours = r#"{"engine":"dpor","verdict":"verified","executions":{"complete":5,"blocked":1,"cut":0}}"#;
        assert_eq!(answer(Kind::Raddle, ours), count(5, 1));
        let limit = r#"{"engine":"dpor","verdict":"inconclusive","executions":{"complete":5,"blocked":1,"cut":0}}"#;
        assert_eq!(answer(Kind::Raddle, limit), None, "no answer, no ratio");
    }

    #[test]
    fn counts_that_differ_are_noticed() {
        let count = |complete, blocked| Answer::Executions { complete, blocked };
        assert!(count(5, 0).agrees(count(5, 3)));
        assert!(!count(5, 0).agrees(count(6, 0)));
        assert!(!count(5, 0).agrees(Answer::Correct(true)));
    }

    #[test]
    fn kinds_are_told_by_names() {
        let error = Tool::parse("/nowhere/mystery").unwrap_err();
        assert!(error.contains("KIND=PATH"), "{error}");
        let error = Tool::parse("loom=/bin/sh").unwrap_err();
        assert!(error.contains("genmc"), "{error}");
        let error = Tool::parse("/nowhere/genmc").unwrap_err();
        assert!(error.contains("no such file"), "{error}");
        let tool = Tool::parse("nidhugg=/bin/sh").unwrap();
        assert!(tool.covers("rf") && !tool.covers("bmc") && tool.reads_ir());
    }
}
