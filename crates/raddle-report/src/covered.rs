//! What an answer rests on: notes about executions and code that were not looked at, in one line each.

use crate::Report;
use crate::source::Sources;
use crate::words;
use raddle_judge::{Check, LeftOut, Outcome, Reason, Statistics, Verdict, Work};
use raddle_program::{NamedPlace, SrcId, Unsupported};

/// So many places are named in one line.
const NAMED: usize = 3;

/// Something that is said beside the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// Scripts know it by this.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// Where it is about.
    pub(crate) at: SrcId,
}

/// All notes of an answer.
pub(crate) fn notes(report: &Report<'_>, sources: &Sources) -> Vec<Note> {
    let outcome = report.outcome;
    let mut notes = Vec::new();
    if says_that_nothing_is_wrong(outcome) {
        notes.extend(blocked(outcome));
        notes.extend(no_thread(outcome));
        notes.extend(no_assert(report, sources));
        notes.extend(not_checked(outcome));
        notes.extend(left_out(outcome));
    }
    if let Verdict::Violation(_) = outcome.verdict {
        notes.extend(first_bytes(report, sources));
        notes.extend(left_out(outcome).filter(|note| note.kind == TIME_OF_OTHERS));
    }
    notes.extend(unfinished(outcome));
    notes.extend(endless(report, sources));
    if !outcome.unsupported().is_empty() {
        notes.extend(unknown_calls(report, sources));
    }
    notes.extend(weak_orderings(report, sources));
    notes
}

/// What memory holds in the execution that is shown, where nobody has written it.
fn first_bytes(report: &Report<'_>, sources: &Sources) -> Option<Note> {
    let tables = report.program.tables();
    let mut held: Vec<String> = Vec::new();
    let mut at = SrcId::NOWHERE;
    for (_, given) in tables.given() {
        if held.is_empty() {
            at = given.at;
        }
        let place = sources.line(tables, given.at);
        let place = place.map_or(String::new(), |place| format!(" ({place})"));
        for (offset, value) in numbers(&given.bytes) {
            let offset = match offset {
                0 => String::new(),
                offset => format!(" at byte {offset}"),
            };
            held.push(format!("`{}`{place} holds {value}{offset}", given.name));
        }
    }
    let rest = held.len().saturating_sub(NAMED);
    held.truncate(NAMED);
    let rest = match rest {
        0 => String::new(),
        rest => format!(", and {rest} more"),
    };
    (!held.is_empty()).then(|| Note {
        kind: "unwritten",
        text: format!(
            "memory that nobody has written may hold anything; here {}{rest}",
            held.join(", ")
        ),
        at,
    })
}

/// Bytes that lie beside each other as numbers: where they begin, and what they are. All other bytes are 0.
fn numbers(bytes: &[(u64, u8)]) -> Vec<(u64, u64)> {
    const WIDTH: u64 = 4;
    let mut numbers: Vec<(u64, u64)> = Vec::new();
    for &(offset, byte) in bytes {
        let (start, shift) = (offset / WIDTH * WIDTH, offset % WIDTH * 8);
        let value = u64::from(byte) << shift;
        match numbers.last_mut() {
            Some((last, number)) if *last == start => *number |= value,
            _ => numbers.push((start, value)),
        }
    }
    numbers
}

/// There may be more than was found.
fn unfinished(outcome: &Outcome) -> Option<Note> {
    let reason = outcome.coverage.unfinished.as_ref()?;
    let at = match reason {
        Reason::Thread { at, .. } => *at,
        _ => SrcId::NOWHERE,
    };
    Some(Note {
        kind: "unfinished",
        text: format!("the search was not finished: {}", words::reason(reason)),
        at,
    })
}

/// A loop that keeps the search alive.
fn endless(report: &Report<'_>, sources: &Sources) -> Option<Note> {
    let at = report.outcome.coverage.endless?;
    let place = sources.line(report.program.tables(), at)?;
    Some(Note {
        kind: "endless",
        text: format!(
            "{place} goes round without end in the execution that was explored last: it is no loop that only waits, as far as Raddle can tell (`raddle explain purity`); `--unroll N` bounds it"
        ),
        at,
    })
}

/// Functions that nobody knows where executions did not come, so that all of them can be seen to at once.
fn unknown_calls(report: &Report<'_>, sources: &Sources) -> Option<Note> {
    let calls = &report.outcome.coverage.code.as_ref()?.unknown_calls;
    let is_told = |name: &str| {
        report.outcome.unsupported().iter().any(|unsupported| {
            matches!(&unsupported.what, Unsupported::UnknownFunction { name: told } if **told == *name)
        })
    };
    let mut others: Vec<&NamedPlace> = Vec::new();
    for call in calls.iter().filter(|call| !is_told(&call.name)) {
        if !others.iter().any(|known| known.name == call.name) {
            others.push(call);
        }
    }
    let first = others.first()?;
    let named = others.iter().map(|call| {
        let name = words::function(&call.name);
        match sources.line(report.program.tables(), call.at) {
            Some(place) => format!("`{name}` ({place})"),
            None => format!("`{name}`"),
        }
    });
    let named: Vec<String> = named.collect();
    Some(Note {
        kind: "unknown-function",
        text: format!(
            "code that was not reached calls other functions that Raddle does not know: {}",
            named.join(", ")
        ),
        at: first.at,
    })
}

/// Does the answer speak of all that was asked for? Then it matters what that was.
fn says_that_nothing_is_wrong(outcome: &Outcome) -> bool {
    matches!(
        outcome.verdict,
        Verdict::Verified(_)
            | Verdict::Inconclusive(Reason::NothingEnds { .. } | Reason::NothingEndsWithin { .. })
    )
}

/// Why executions did not come to their end.
fn blocked(outcome: &Outcome) -> Option<Note> {
    // A formula has no executions, and what was explored before it is not what the answer rests on.
    if !outcome.engine.counts_executions() {
        return None;
    }
    let Statistics {
        complete,
        blocked_by,
        ..
    } = &outcome.statistics;
    Some(Note {
        kind: "blocked",
        text: words::blocked(*complete, blocked_by)?,
        at: SrcId::NOWHERE,
    })
}

fn no_thread(outcome: &Outcome) -> Option<Note> {
    (outcome.statistics.threads <= 1).then(|| Note {
        kind: "no-thread",
        text: "no thread was ever started besides main".to_owned(),
        at: SrcId::NOWHERE,
    })
}

/// What the engine does not look for although it was asked to.
fn not_checked(outcome: &Outcome) -> impl Iterator<Item = Note> {
    outcome.coverage.not_checked.iter().filter_map(|check| {
        let what = match check {
            Check::Uninit => {
                "all that depends on memory which nobody has written; see `raddle explain uninit`"
            }
            Check::Race => "data races",
            _ => return None,
        };
        Some(Note {
            kind: "not-checked",
            text: format!("engine {} does not look for {what}", outcome.engine.name()),
            at: SrcId::NOWHERE,
        })
    })
}

/// The kind of a note that matters where something is wrong.
const TIME_OF_OTHERS: &str = "time-of-others";

/// What the user did not want to be explored, and what else is left out.
fn left_out(outcome: &Outcome) -> impl Iterator<Item = Note> {
    outcome.coverage.left_out.iter().map(|what| match what {
        LeftOut::SpuriousWakeups => Note {
            kind: "spurious-wakeups",
            text: "spurious wake-ups of condition variables were not explored (`--no-spurious-wakeups`)".to_owned(),
            at: SrcId::NOWHERE,
        },
        LeftOut::SpuriousFailures => Note {
            kind: "spurious-failures",
            text: "weak compare-exchanges, and attempts to lock, that fail for no reason were not explored (`--no-spurious-failures`)".to_owned(),
            at: SrcId::NOWHERE,
        },
        LeftOut::RacesOfVolatile => Note {
            kind: "volatile-is-atomic",
            text: "volatile accesses count as relaxed atomics (`--volatile-is-atomic`), which the languages do not promise".to_owned(),
            at: SrcId::NOWHERE,
        },
        LeftOut::RacesAsRelaxed => Note {
            kind: "races-as-relaxed",
            text: "races were not looked for: plain accesses count as relaxed atomics".to_owned(),
            at: SrcId::NOWHERE,
        },
        LeftOut::TimeOfOthers => Note {
            kind: TIME_OF_OTHERS,
            text: "a thread looks at its clock while time passes for another one, and each has a clock of its own: if what goes wrong depends on how late it is, look \
                   whether it can be (`raddle explain time`)"
                .to_owned(),
            at: SrcId::NOWHERE,
        },
        LeftOut::RacesAsSc => Note {
            kind: "races-as-sc",
            text: "races were not looked for: a program that has some may do more under c11 than under sc".to_owned(),
            at: SrcId::NOWHERE,
        },
    })
}

fn no_assert(report: &Report<'_>, sources: &Sources) -> Option<Note> {
    let asserts = &report.outcome.coverage.code.as_ref()?.asserts;
    let missed: Vec<SrcId> = asserts
        .iter()
        .filter(|site| !site.reached)
        .map(|site| site.at)
        .collect();
    let first = *missed.first()?;
    let tables = report.program.tables();
    let places = missed.iter().filter_map(|&at| sources.line(tables, at));
    let mut places: Vec<String> = places.collect();
    let more = places.len().saturating_sub(NAMED);
    places.truncate(NAMED);
    let mut named = places.join(", ");
    if more > 0 {
        named += &format!(" and {more} more");
    }
    let text = match (missed.len(), asserts.len()) {
        (1, 1) => format!("the only assert was never reached: {named}"),
        (1, all) => format!("1 of {all} asserts was never reached: {named}"),
        (missed, all) if missed == all => {
            format!("none of {all} asserts was ever reached: {named}")
        }
        (missed, all) => format!("{missed} of {all} asserts were never reached: {named}"),
    };
    Some(Note {
        kind: "unreached-assert",
        text,
        at: first,
    })
}

fn weak_orderings(report: &Report<'_>, sources: &Sources) -> Option<Note> {
    let weak = report.outcome.coverage.weak;
    let at = weak.first()?;
    let place = sources.line(report.program.tables(), at);
    let place = match (weak.user, place) {
        (Some(_), Some(place)) => format!(", first at {place}"),
        (None, _) => ", all of them in libraries".to_owned(),
        (Some(_), None) => String::new(),
    };
    Some(Note {
        kind: "weak-orderings",
        text: format!(
            "{}{place}; see `raddle explain orderings`",
            words::weak_orderings(report.outcome.memory)
        ),
        at,
    })
}

/// How many executions were looked at, and what became of them.
pub(crate) fn executions(outcome: &Outcome) -> Option<String> {
    if let Work::States(states) = outcome.statistics.work {
        return Some(match states {
            1 => "1 state".to_owned(),
            _ => format!("{} states", words::grouped(states)),
        });
    }
    // A formula has no executions to count.
    if !outcome.engine.counts_executions() {
        return None;
    }
    let Statistics {
        complete,
        blocked,
        cut,
        ..
    } = outcome.statistics;
    let blocked = blocked.saturating_sub(cut);
    let mut text = words::executions(complete + blocked + cut);
    match (complete + blocked + cut, blocked, cut) {
        (_, 0, 0) => {}
        (1, 1, _) => text += ", blocked",
        (1, _, _) => text += ", cut short",
        (_, _, 0) => text += &format!(", {} of them blocked", words::grouped(blocked)),
        (_, 0, _) => text += &format!(", {} of them cut short", words::grouped(cut)),
        _ => {
            text += &format!(
                ", {} of them blocked and {} cut short",
                words::grouped(blocked),
                words::grouped(cut)
            );
        }
    }
    Some(text)
}
