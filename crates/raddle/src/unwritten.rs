//! Memory that nobody has written, where the user does not look for it.
//!
//! It may hold anything, but engines know one value of it: zero. As long as nothing depends on it that makes no difference, and whether something does
//! is what `--check uninit` is about. So that check is made all the same. If it finds nothing, the answer is right whatever such memory
//! holds. If it finds something, the program is checked again with zeroes: what goes wrong then is real, and if nothing does there is no answer.
//!
//! For C and C++ only, where the check is exact: Rust and optimised code copy such memory freely.

use crate::check::{Checked, by_engine};
use crate::compile;
use crate::error::Error;
use crate::options::Options;
use crate::supervise::Job;
use raddle_program::Fault;
use raddle_report::source::Sources;
use raddle_search::{Check, Checks, Reason, Verdict, Violation, ViolationKind};

/// Could an answer rest on what such memory holds?
pub(crate) fn matters(options: &Options) -> bool {
    !options.checks.uninit && compile::is_c_or_cxx(options.project.file())
}

/// Is this found for the sake of the answer only?
pub(crate) fn is_unasked(options: &Options, violation: &Violation) -> bool {
    let is_asked = options.check_names.iter().any(|name| name == "uninit");
    is_about(violation) && !is_asked
}

fn is_about(violation: &Violation) -> bool {
    matches!(
        violation.kind,
        ViolationKind::Fault(Fault::Uninitialised { .. })
    )
}

pub(crate) fn checked(options: &Options, job: &Job) -> Result<Checked, Error> {
    let looking = Options {
        checks: Checks {
            uninit: true,
            ..options.checks
        },
        ..options.clone()
    };
    let mut first = by_engine(&looking, job)?;
    let not_checked = &mut first.outcome.coverage.not_checked;
    not_checked.retain(|&check| check != Check::Uninit);
    let line = match &first.outcome.verdict {
        Verdict::Verified(_) => return Ok(first),
        Verdict::Violation(all) => match all.iter().find(|it| is_about(it)) {
            Some(it) => Some(Sources::new().line(first.loaded.program.tables(), it.at)),
            None => return Ok(first),
        },
        Verdict::Inconclusive(_) | Verdict::Unsupported(_) if job.watch.is_raised() => {
            return Ok(first);
        }
        Verdict::Inconclusive(_) | Verdict::Unsupported(_) => None,
    };
    let mut second = by_engine(options, job)?;
    second.outcome.statistics.elapsed += first.outcome.statistics.elapsed;
    match (&second.outcome.verdict, line) {
        (Verdict::Verified(_), Some(line)) => {
            second.outcome.verdict = Verdict::Inconclusive(Reason::Unwritten { line });
            Ok(second)
        }
        // What stood in the way before stands in the way of an answer.
        (Verdict::Verified(_), None) => Ok(first),
        _ => Ok(second),
    }
}
