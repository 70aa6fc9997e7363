//! Memory that nobody has written, where the user does not look for it.
//!
//! It may hold anything, but engines that explore know one value of it: zero. As long as nothing depends on it that makes no difference, and whether something does
//! is what `--check uninit` is about. So that check is made all the same, and more strictly: of every byte that is read, not only of whole values, and of copies that others see. If it finds nothing, the answer is right whatever such memory
//! holds. If it finds something, `bmc` is asked with any value ([`auto::for_any_bytes`]). Where it has no answer, the program is checked
//! with zeroes: what goes wrong then is real, and if nothing does there is no answer.
//!
//! For C and C++ only, where the check is exact: Rust and optimised code copy such memory freely.

use crate::auto;
use crate::check::{Checked, by_engine};
use crate::compile;
use crate::error::Error;
use crate::options::Options;
use crate::supervise::Job;
use raddle_program::tables::NO_SLOT;
use raddle_program::{Fault, LocId, LocInfo};
use raddle_report::source::Sources;
use raddle_search::{Check, Checks, EngineKind, Reason, Verdict, Violation, ViolationKind};

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
        every_byte: true,
        ..options.clone()
    };
    let mut first = by_engine(&looking, job)?;
    // Engines that run one execution for all with the same values cannot tell who wrote them.
    let not_checked = &first.outcome.coverage.not_checked;
    let is_exact = !not_checked.contains(&Check::Uninit) && !may_miss_parts(&first);
    let not_checked = &mut first.outcome.coverage.not_checked;
    not_checked.retain(|&check| check != Check::Uninit);
    let line = match &first.outcome.verdict {
        Verdict::Verified(_) if is_exact => return Ok(first),
        Verdict::Verified(_) => Some(None),
        Verdict::Violation(all) => match all.iter().find(|it| is_about(it)) {
            Some(it) => Some(Sources::new().line(first.loaded.program.tables(), it.at)),
            None => return Ok(first),
        },
        Verdict::Inconclusive(_) | Verdict::Unsupported(_) if job.watch.is_raised() => {
            return Ok(first);
        }
        Verdict::Inconclusive(_) | Verdict::Unsupported(_) => None,
    };
    // What goes wrong with zeroes is wrong, and engines that explore find most of it at once.
    let mut spent = first.outcome.statistics.elapsed;
    let mut zeroes = by_engine(options, job)?;
    zeroes.outcome.statistics.elapsed += spent;
    if !matches!(zeroes.outcome.verdict, Verdict::Verified(_)) {
        return Ok(zeroes);
    }
    // `bmc` was asked before if it is the engine.
    let is_new = options.engine != Some(EngineKind::Bmc);
    if is_new && auto::can_ask(options) && EngineKind::Bmc.supports(options.memory) {
        spent = zeroes.outcome.statistics.elapsed;
        let mut any = auto::for_any_bytes(options, job)?;
        any.outcome.statistics.elapsed += spent;
        if auto::has_answer(&any.outcome) || job.watch.is_raised() {
            return Ok(any);
        }
    }
    match (&zeroes.outcome.verdict, line) {
        (Verdict::Verified(_), Some(line)) => {
            zeroes.outcome.verdict = Verdict::Inconclusive(Reason::Unwritten { line });
            Ok(zeroes)
        }
        // What stood in the way before stands in the way of an answer.
        (Verdict::Verified(_), None) => Ok(first),
        _ => Ok(zeroes),
    }
}

/// Engine `graph` looks at whole values: it may miss a read of which only a part is written. That takes accesses of several sizes.
fn may_miss_parts(checked: &Checked) -> bool {
    let tables = checked.loaded.program.tables();
    let mut locs = (0..tables.loc_count()).map(|index| tables.loc_info(LocId::from_index(index)));
    let is_part = |loc: &LocInfo| loc.mixed && loc.life != NO_SLOT;
    checked.outcome.engine == EngineKind::Graph && locs.any(is_part)
}

/// The same question for `bmc`, which answers for any contents.
pub(crate) fn for_formulas(options: &Options) -> Options {
    Options {
        checks: Checks {
            uninit: false,
            ..options.checks
        },
        every_byte: false,
        any_unwritten: true,
        ..options.clone()
    }
}
