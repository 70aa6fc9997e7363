//! The answer of `bench`: a table that grows line by line, or one JSON object.

use super::expected::{Program, Run};
use super::{Comparison, Row};
use serde::Serialize;
use std::fmt::Write;

/// The widths of the columns.
pub(super) struct Layout {
    program: usize,
    parameters: usize,
    count: usize,
}

impl Layout {
    pub(super) fn new(runs: &[(&Program, &Run)], engine: &str) -> Self {
        let widest = |heading: &str, lengths: &mut dyn Iterator<Item = usize>| {
            lengths.fold(heading.len(), usize::max)
        };
        let expected = |run: &Run| {
            run.counts
                .of_engine(engine)
                .map_or(0, |count| count.to_string().chars().count())
        };
        Self {
            program: widest("program", &mut runs.iter().map(|(p, _)| p.name.len())),
            parameters: widest(
                "parameters",
                &mut runs.iter().map(|(_, run)| run.parameters().len()),
            ),
            count: widest("expected", &mut runs.iter().map(|(_, run)| expected(run))),
        }
    }

    fn line(&self, cells: [&str; 7]) -> String {
        let [program, parameters, expected, found, result, seconds, each] = cells;
        let mut line = format!(
            "{program:<0$}  {parameters:<1$}  {expected:>2$}  {found:>2$}  {result:<5}  {seconds:>9}  {each:>6}",
            self.program, self.parameters, self.count
        );
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }

    pub(super) fn heading(&self) -> String {
        self.line([
            "program",
            "parameters",
            "expected",
            "found",
            "",
            "seconds",
            "µs each",
        ])
    }

    pub(super) fn row(&self, row: &Row) -> String {
        if let Some(error) = &row.error {
            let cells = [&row.program, &row.parameters, "", "", "ERROR", "", ""];
            return format!("{}    {error}\n", self.line(cells));
        }
        let expected = match row.expected {
            Some(count) => count.to_string(),
            None => row.expected_verdict.to_owned(),
        };
        let found = match row.verdict {
            Some(verdict) if verdict != row.expected_verdict || row.expected.is_none() => {
                verdict.to_owned()
            }
            _ => found(row),
        };
        let result = match row.result {
            Comparison::Ok => "ok",
            Comparison::Wrong => "WRONG",
            Comparison::Error => "ERROR",
            Comparison::Open => "open",
        };
        let executions = row.complete + row.blocked;
        #[expect(clippy::cast_precision_loss, reason = "it is shown with one digit")]
        let each = row.seconds * 1e6 / executions.max(1) as f64;
        let mut text = self.line([
            &row.program,
            &row.parameters,
            &expected,
            &found,
            result,
            &format!("{:.3}", row.seconds),
            &format!("{each:.1}"),
        ]);
        if row.result == Comparison::Wrong {
            let _ = writeln!(
                text,
                "    {} after {} executions, where {} is expected",
                row.verdict.unwrap_or("no verdict"),
                self::found(row),
                row.expected_verdict,
            );
        }
        text
    }
}

fn found(row: &Row) -> String {
    if row.blocked == 0 {
        row.complete.to_string()
    } else {
        format!("{}+{}", row.complete, row.blocked)
    }
}

/// The last line.
pub(super) fn summary(rows: &[Row]) -> String {
    let count = |result| rows.iter().filter(|row| row.result == result).count();
    let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
    let mut text = format!(
        "{} of {} as expected",
        count(Comparison::Ok),
        rows.len() - count(Comparison::Open)
    );
    for (result, words) in [
        (Comparison::Wrong, "wrong"),
        (Comparison::Error, "without an answer"),
        (Comparison::Open, "open after the time there was"),
    ] {
        if count(result) > 0 {
            let _ = write!(text, ", {} {words}", count(result));
        }
    }
    let _ = writeln!(text, "; {seconds:.1} s of exploration");
    text
}

#[derive(Serialize)]
struct Answer<'a> {
    raddle: &'static str,
    engine: &'a str,
    wrong: usize,
    errors: usize,
    rows: &'a [Row],
}

/// The object, ending with a line break.
pub(super) fn json(engine: &str, rows: &[Row]) -> String {
    let count = |result| rows.iter().filter(|row| row.result == result).count();
    let answer = Answer {
        raddle: env!("CARGO_PKG_VERSION"),
        engine,
        wrong: count(Comparison::Wrong),
        errors: count(Comparison::Error),
        rows,
    };
    let mut text = serde_json::to_string_pretty(&answer).unwrap_or_default();
    text.push('\n');
    text
}
