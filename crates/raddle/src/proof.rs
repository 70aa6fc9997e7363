//! Proofs: `raddle check --proof` writes them, `raddle verify-proof` checks them. docs/proofs.md says what they mean.

use crate::Status;
use crate::error::Error;
use raddle_bmc::ProofFile;
use raddle_proof::{Failure, Summary};
use raddle_search::Verdict;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A proof that is being written.
pub(crate) struct Begun {
    pub(crate) file: ProofFile,
    path: PathBuf,
}

impl Begun {
    pub(crate) fn new(path: &Path) -> Result<Self, Error> {
        let out = File::create(path).map_err(|error| Error::Write {
            file: path.into(),
            error,
        })?;
        let file = ProofFile::new(BufWriter::new(out));
        file.comment(concat!(
            "Raddle ",
            env!("CARGO_PKG_VERSION"),
            ", engine bmc"
        ));
        Ok(Self {
            file,
            path: path.into(),
        })
    }

    /// What cannot be written matters only if there is something to prove.
    pub(crate) fn finish(self, verdict: &Verdict) -> Result<(), Error> {
        match (self.file.finish(), verdict) {
            (Err(error), Verdict::Verified(_)) => Err(Error::Write {
                file: self.path,
                error,
            }),
            _ => Ok(()),
        }
    }
}

/// Takes back what was begun, and says so.
pub(crate) fn is_not_written(file: &Path) {
    if std::fs::metadata(file).is_ok_and(|found| found.is_file()) {
        // Whoever cannot remove it finds a proof without an answer, which is not valid.
        let _ = std::fs::remove_file(file);
    }
    crate::tell(format_args!(
        "note: {} is not written: only what is verified has a proof",
        file.display()
    ));
}

/// Checks a proof and says what it is worth.
pub fn verify(path: &Path, interrupt: &AtomicBool) -> Result<Status, Error> {
    let unreadable = |error| Error::ReadProof {
        file: path.into(),
        error,
    };
    let file = File::open(path).map_err(unreadable)?;
    let stop = || interrupt.load(Ordering::Relaxed);
    let (text, status) = match raddle_proof::check(BufReader::new(file), stop) {
        Ok(summary) => (valid(&summary), Status::Verified),
        Err(Failure::Invalid(invalid)) => (
            format!("not valid: {}: {invalid}\n", path.display()),
            Status::Violation,
        ),
        Err(Failure::Interrupted) => (
            "stopped before the end of the proof\n".to_owned(),
            Status::Inconclusive,
        ),
        Err(Failure::Unreadable(error)) => return Err(unreadable(error)),
    };
    crate::print(&text)?;
    Ok(status)
}

fn valid(summary: &Summary) -> String {
    let bound = match summary.is_complete {
        true => "without a bound",
        false => "up to the bound that was asked for",
    };
    let counted = |count: u64, one: &str, many: &str| {
        format!("{} {}", count, if count == 1 { one } else { many })
    };
    let mut text = format!(
        "valid: verified {bound}\n  {}: {}, {}, {}, {}\n",
        counted(summary.formulas as u64, "formula", "formulas"),
        counted(summary.clauses, "clause", "clauses"),
        counted(summary.learnt, "learnt clause", "learnt clauses"),
        counted(
            summary.lemmas,
            "lemma of the theory",
            "lemmas of the theory"
        ),
        counted(summary.questions, "question", "questions"),
    );
    if summary.trusted > 0 {
        text.push_str(&format!(
            "  not checked: {}, from a search through the states of what a mutex protects\n",
            counted(summary.trusted, "clause", "clauses"),
        ));
    }
    text
}
