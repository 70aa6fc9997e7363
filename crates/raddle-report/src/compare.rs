//! What several engines say about one program, side by side.

use crate::style::Paint;
use crate::words;
use raddle_judge::{Outcome, Verdict};
use serde::Serialize;
use std::fmt::Write;
use std::time::Duration;

/// One engine's answer.
pub struct Answer {
    pub engine: &'static str,
    pub outcome: Outcome,
}

/// What the answers amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    Verified,
    Violation,
    /// No engine came to an end.
    Inconclusive,
    /// The program is beyond Raddle.
    Unsupported,
    /// One engine has found a violation, and another says that there is none: a mistake in Raddle.
    Disagreement,
}

/// Do the engines that came to an end say the same?
#[must_use]
pub fn agreement(answers: &[Answer]) -> Agreement {
    let any = |is: fn(&Verdict) -> bool| answers.iter().any(|answer| is(&answer.outcome.verdict));
    let violation = any(|verdict| matches!(verdict, Verdict::Violation(_)));
    let verified = any(|verdict| matches!(verdict, Verdict::Verified(_)));
    match (violation, verified) {
        (true, true) => Agreement::Disagreement,
        (true, false) => Agreement::Violation,
        (false, true) => Agreement::Verified,
        (false, false) if any(|verdict| matches!(verdict, Verdict::Unsupported(_))) => {
            Agreement::Unsupported
        }
        (false, false) => Agreement::Inconclusive,
    }
}

struct Row {
    cells: [String; 6],
    verdict: &'static str,
}

const TITLES: [&str; 6] = ["engine", "verdict", "executions", "blocked", "time", ""];
/// Which columns hold numbers.
const NUMBERS: [bool; 6] = [false, false, true, true, true, false];

/// The table, ending with a line break.
#[must_use]
pub fn table(answers: &[Answer], color: bool) -> String {
    let paint = Paint { color };
    let rows: Vec<Row> = answers.iter().map(row).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row.cells[column].chars().count());
        cells.chain([TITLES[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..TITLES.len()).map(width).collect();
    let mut text = paint.dim(&line(&TITLES.map(str::to_owned), &widths));
    text.push('\n');
    for row in &rows {
        let line = line(&row.cells, &widths);
        let painted = match row.verdict {
            "verified" => paint.good(row.verdict),
            "violation" => paint.bad(row.verdict),
            other => paint.doubtful(other),
        };
        text += &line.replacen(row.verdict, &painted, 1);
        text.push('\n');
    }
    text
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (column, cell) in cells.iter().enumerate() {
        let width = widths[column];
        let _ = if NUMBERS[column] {
            write!(text, "{cell:>width$}  ")
        } else {
            write!(text, "{cell:<width$}  ")
        };
    }
    text.truncate(text.trim_end().len());
    text
}

fn row(answer: &Answer) -> Row {
    let statistics = &answer.outcome.statistics;
    let (verdict, note) = judged(&answer.outcome.verdict);
    // A formula has no executions to count.
    let count = |number| match answer.outcome.engine.counts_executions() {
        true => words::grouped(number),
        false => "–".to_owned(),
    };
    Row {
        cells: [
            answer.engine.to_owned(),
            verdict.to_owned(),
            count(statistics.complete + statistics.blocked),
            count(statistics.blocked),
            time(statistics.elapsed),
            note,
        ],
        verdict,
    }
}

/// Small differences matter here.
fn time(elapsed: Duration) -> String {
    let milliseconds = elapsed.as_secs_f64() * 1e3;
    match milliseconds {
        ..10.0 => format!("{milliseconds:.2} ms"),
        ..1000.0 => format!("{milliseconds:.0} ms"),
        _ => words::seconds(elapsed),
    }
}

fn judged(verdict: &Verdict) -> (&'static str, String) {
    match verdict {
        Verdict::Verified(bound) => ("verified", words::up_to(bound)),
        Verdict::Violation(violations) => (
            "violation",
            words::violation_kind(&violations[0].kind).to_owned(),
        ),
        Verdict::Inconclusive(reason) => ("inconclusive", words::reason(reason)),
        Verdict::Unsupported(unsupported) => {
            let first = unsupported.first();
            let note = first.map_or(String::new(), |first| words::unsupported(&first.what));
            ("unsupported", note)
        }
    }
}

#[derive(Serialize)]
struct Entry<'a> {
    engine: &'a str,
    verdict: &'static str,
    note: String,
    executions: Executions,
    seconds: f64,
}

#[derive(Serialize)]
struct Executions {
    complete: u64,
    blocked: u64,
}

/// The same for scripts: one array, ending with a line break.
#[must_use]
pub fn json(answers: &[Answer]) -> String {
    let entries: Vec<Entry<'_>> = answers
        .iter()
        .map(|answer| {
            let statistics = &answer.outcome.statistics;
            let (verdict, note) = judged(&answer.outcome.verdict);
            Entry {
                engine: answer.engine,
                verdict,
                note,
                executions: Executions {
                    complete: statistics.complete,
                    blocked: statistics.blocked,
                },
                seconds: statistics.elapsed.as_secs_f64(),
            }
        })
        .collect();
    let mut text =
        serde_json::to_string_pretty(&entries).expect("no map with keys that are no strings");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_judge::{Bound, EngineKind, MemoryModel, Reason, Statistics};

    fn answer(engine: &'static str, verdict: Verdict, complete: u64) -> Answer {
        Answer {
            engine,
            outcome: Outcome {
                engine: EngineKind::Dpor,
                memory: MemoryModel::Sc,
                verdict,
                statistics: Statistics {
                    complete,
                    blocked: 2,
                    elapsed: Duration::from_millis(1250),
                    ..Statistics::default()
                },
                coverage: Default::default(),
            },
        }
    }

    #[test]
    fn columns_are_aligned() {
        let limit = Duration::from_secs(10);
        let answers = [
            answer("dpor", Verdict::Verified(Bound::Complete), 1234),
            answer(
                "naive",
                Verdict::Inconclusive(Reason::Time {
                    limit,
                    during: raddle_judge::Phase::Exploring,
                }),
                5,
            ),
        ];
        assert_eq!(
            table(&answers, false),
            "engine  verdict       executions  blocked    time\n\
             dpor    verified           1 236        2  1.25 s\n\
             naive   inconclusive           7        2  1.25 s  the time limit of 10 s was reached\n"
        );
        assert_eq!(agreement(&answers), Agreement::Verified);
    }

    #[test]
    fn disagreement_is_noticed() {
        let yes = || answer("dpor", Verdict::Verified(Bound::Complete), 1);
        let no = || answer("rf", Verdict::Violation(Vec::new()), 1);
        assert_eq!(agreement(&[yes(), no()]), Agreement::Disagreement);
        assert_eq!(agreement(&[no()]), Agreement::Violation);
        assert_eq!(agreement(&[]), Agreement::Inconclusive);
    }
}
