//! Violation witnesses in format 2.2 of the verification competition (SV-COMP): YAML that other tools check.
//!
//! A witness names the place that is reached (the *target*; two of them for a race) and the values that `__VERIFIER_nondet_*` returned on the way,
//! each with the thread that comes there: 0 is `main`, and others are numbered in the order in which they are started.

use crate::Report;
use crate::names::Names;
use crate::number::Number;
use crate::source::{Sources, position};
use crate::steps::value_chosen;
use crate::trace_file::hex;
use raddle_judge::{Violation, ViolationKind};
use raddle_program::{SourceLoc, SrcId, ThreadId};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// The task that a witness belongs to.
pub struct Task<'a> {
    /// The contents of the checked file.
    pub contents: &'a [u8],
    /// The property as the competition writes it: `G ! call(reach_error())`.
    pub specification: &'a str,
    /// `C` or `C++`.
    pub language: &'a str,
}

/// The witness, ending with a line break.
#[must_use]
pub fn render(
    report: &Report<'_>,
    sources: &Sources,
    violation: &Violation,
    task: &Task<'_>,
) -> String {
    let hash = hex(&Sha256::digest(task.contents));
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let file = quoted(report.file);
    let mut text = String::new();
    let _ = write!(
        text,
        "- entry_type: \"violation_sequence\"\n\
         \x20 metadata:\n\
         \x20   format_version: \"2.2\"\n\
         \x20   uuid: \"{}\"\n\
         \x20   creation_time: \"{}\"\n\
         \x20   producer:\n\
         \x20     name: \"Raddle\"\n\
         \x20     version: \"{}\"\n\
         \x20   task:\n\
         \x20     input_files:\n\
         \x20       - {file}\n\
         \x20     input_file_hashes:\n\
         \x20       {file}: \"{hash}\"\n\
         \x20     specification: {}\n\
         \x20     data_model: \"{}\"\n\
         \x20     language: \"{}\"\n\
         \x20 content:\n",
        uuid(&hash, now),
        date(now),
        env!("CARGO_PKG_VERSION"),
        quoted(task.specification),
        crate::words::data_model(report.program),
        task.language,
    );
    let names = Names::new(report.program, &violation.trace);
    for (thread, at, value) in values(report, violation) {
        let place = Place {
            thread: names.thread_number(thread),
            file: sources.display(&at.file),
            line: at.line,
            column: 0,
        };
        text += SEGMENT;
        text += &waypoint(&place, "function_return", Some(value));
    }
    text += SEGMENT;
    for (thread, at) in targets(violation) {
        let at = position(report.program.tables(), at);
        let place = Place {
            thread: names.thread_number(thread),
            file: at.map_or(report.file.into(), |at| sources.display(&at.file)),
            line: at.map_or(1, |at| at.line),
            column: at.map_or(0, |at| at.column),
        };
        text += &waypoint(&place, "target", None);
    }
    text
}

const SEGMENT: &str = "    - segment:\n";

/// Where a thread comes. The column is 0 where it is not known: a call returns at its end.
struct Place<'a> {
    thread: usize,
    file: Cow<'a, str>,
    line: u32,
    column: u32,
}

/// The places that make the violation, with the threads that come there.
fn targets(violation: &Violation) -> Vec<(ThreadId, SrcId)> {
    match &violation.kind {
        ViolationKind::Race(race) => [&race.first, &race.second]
            .map(|access| (access.thread, access.at))
            .to_vec(),
        _ => vec![(violation.thread, violation.at)],
    }
}

/// What nondeterministic functions returned, in the order of the execution.
fn values<'a>(
    report: &'a Report<'_>,
    violation: &'a Violation,
) -> Vec<(ThreadId, &'a SourceLoc, Number)> {
    let program = report.program;
    let steps = &violation.trace.steps;
    (0..steps.len())
        .filter_map(|index| {
            let value = value_chosen(program, steps, index)?;
            let at = position(program.tables(), program.at(steps[index].state))?;
            Some((steps[index].thread, at, value))
        })
        .collect()
}

/// One place on the way.
fn waypoint(place: &Place<'_>, kind: &str, value: Option<Number>) -> String {
    let mut text = format!(
        "        - waypoint:\n\
         \x20           type: \"{kind}\"\n\
         \x20           action: \"follow\"\n\
         \x20           thread_id: {}\n",
        place.thread,
    );
    if let Some(value) = value {
        let _ = write!(
            text,
            "            constraint:\n\
             \x20             value: {}\n\
             \x20             format: \"ext_c_expression\"\n",
            quoted(&value.is_value_of("\\result")),
        );
    }
    let _ = write!(
        text,
        "            location:\n\
         \x20             file_name: {}\n\
         \x20             line: {}\n",
        quoted(&place.file),
        place.line,
    );
    if place.column > 0 {
        let _ = writeln!(text, "              column: {}", place.column);
    }
    text
}

/// A string of YAML; JSON's are a part of them.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Different for different programs and times; the competition asks for no more.
fn uuid(hash: &str, now: u64) -> String {
    let digest = hex(&Sha256::digest(format!(
        "{hash} {now} {}",
        std::process::id()
    )));
    format!(
        "{}-{}-4{}-8{}-{}",
        &digest[..8],
        &digest[8..12],
        &digest[13..16],
        &digest[17..20],
        &digest[20..32]
    )
}

/// Seconds since 1970 as `2026-11-16T03:04:05Z`.
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01, in the calendar that has gone on in this way for ever (Gregorian, proleptic).
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_767_225_600, "2026-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date(seconds), text);
        }
    }

    #[test]
    fn uuids_have_their_form() {
        let uuid = uuid("ab", 1);
        let parts: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(&uuid[14..15], "4");
    }
}
