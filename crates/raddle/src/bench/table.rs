//! The answer of `bench`: a table that grows line by line, or one JSON object.

use super::{Comparison, Row, Task};
use serde::Serialize;
use std::fmt::Write;

/// The widths of the columns.
pub(super) struct Layout {
    program: usize,
    parameters: usize,
    class: usize,
    count: usize,
}

impl Layout {
    pub(super) fn new(tasks: &[Task<'_>]) -> Self {
        let widest = |heading: &str, length: &dyn Fn(&Task<'_>) -> usize| {
            tasks.iter().map(length).fold(heading.len(), usize::max)
        };
        Self {
            program: widest("program", &|task| task.program.name.len()),
            parameters: widest("parameters", &|task| task.run.parameters().len()),
            class: widest("class", &|task| {
                task.class.map_or(0, |class| class.name().len())
            }),
            count: widest("violation", &|task| {
                let count = task.run.count(task.class);
                count.map_or(0, |count| count.to_string().chars().count())
            }),
        }
    }

    fn line(&self, cells: [&str; 8]) -> String {
        let [
            program,
            parameters,
            class,
            expected,
            found,
            result,
            seconds,
            each,
        ] = cells;
        let mut line = format!(
            "{program:<0$}  {parameters:<1$}  {class:<2$}  {expected:>3$}  {found:>3$}  {result:<5}  {seconds:>9}  {each:>7}",
            self.program, self.parameters, self.class, self.count
        );
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }

    pub(super) fn heading(&self) -> String {
        self.line([
            "program",
            "parameters",
            "class",
            "expected",
            "found",
            "",
            "seconds",
            "µs each",
        ])
    }

    pub(super) fn row(&self, row: &Row) -> String {
        let class = row.class.unwrap_or_default();
        if let Some(error) = &row.error {
            let cells = [
                &row.program,
                &row.parameters,
                class,
                "",
                "",
                "ERROR",
                "",
                "",
            ];
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
            class,
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
