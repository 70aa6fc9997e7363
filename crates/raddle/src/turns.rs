//! `--engine auto` under TSO and PSO: a formula is asked, and states are gone through, in turns.
//!
//! A formula finds most violations at once, and refutes what depends on few orders. Where threads meet in locks or atomic blocks there are many orders and few
//! states. Which of the two a program is like is not seen beforehand; so each has its turn, with four times as much effort each time, until one has an answer. Effort is counted, not timed:
//! the answer is the same on every machine.
//!
//! Engine `states` knows nothing of data races, and does not follow values that cannot be tried one by one: then the formula is asked alone.

use crate::auto::{self, FIRST_STATES, by_states};
use crate::check::{Checked, Effort, solve, source};
use crate::error::Error;
use crate::options::Options;
use crate::supervise::Job;
use crate::unwritten;
use raddle_bmc::Conflicts;
use raddle_search::{EngineKind, MemoryModel, Reason, Verdict};
use std::time::Instant;

/// What the formula may cost at first. Most programs take less.
const FIRST_CONFLICTS: Conflicts = 2_000;
const TIMES_AS_MUCH: u64 = 4;

/// Are both asked? Proofs are the formula's.
pub(crate) fn are_taken(options: &Options) -> bool {
    options.is_auto
        && options.engine == Some(EngineKind::Bmc)
        && matches!(options.memory, MemoryModel::Tso | MemoryModel::Pso)
        && options.proof.is_none()
        && auto::is_worth_asking(options)
        && auto::is_about_states(options)
}

pub(crate) fn check(options: &Options, job: &Job) -> Result<Checked, Error> {
    let compiled = source(options, job).compile()?;
    let began = Instant::now();
    let mut times = 1_u64;
    let mut checked = loop {
        let effort = Effort {
            conflicts: FIRST_CONFLICTS.saturating_mul(times),
            // Making a large formula takes long by itself.
            may_be_large: times > 1,
        };
        let by_formula = solve(&compiled, options, job, Some(effort))?;
        if has_ended(&by_formula, job) {
            break by_formula;
        }
        // There is no more to be had from formulas: the others go on as long as they like.
        let is_refused = !is_given_up(&by_formula);
        let most = (!is_refused).then(|| FIRST_STATES.saturating_mul(times));
        let states = by_states(&compiled, options, job, most)?;
        if has_ended(&states, job) && !rests_on_unwritten(options, &states) {
            break states;
        }
        if is_refused {
            break by_formula;
        }
        if !is_given_up(&states) {
            break solve(&compiled, options, job, None)?;
        }
        times = times.saturating_mul(TIMES_AS_MUCH);
    };
    checked.outcome.statistics.elapsed = began.elapsed();
    Ok(checked)
}

/// Is there an answer, or the reason why there is no time for one?
fn has_ended(checked: &Checked, job: &Job) -> bool {
    auto::has_answer(&checked.outcome) || job.watch.is_raised() && !is_given_up(checked)
}

/// Was that all that could be done with so much effort?
fn is_given_up(checked: &Checked) -> bool {
    matches!(
        checked.outcome.verdict,
        Verdict::Inconclusive(Reason::Effort)
    )
}

/// Is what was found that something depends on memory that nobody has written, and is that no answer? The formula has all values of such memory in it.
fn rests_on_unwritten(options: &Options, checked: &Checked) -> bool {
    match &checked.outcome.verdict {
        Verdict::Violation(all) => all.iter().any(|it| unwritten::is_unasked(options, it)),
        _ => false,
    }
}
