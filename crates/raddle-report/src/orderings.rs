//! What `raddle orderings` has found out about the orderings of a program: one table, or JSON.

use crate::advice::{operation_name, order_name};
use crate::source::Sources;
use crate::style::Paint;
use crate::words;
use raddle_program::{Order, OrderOf, OrderSite};
use serde::Serialize;
use std::borrow::Cow;
use std::time::Duration;

/// What is known about a program with certain orderings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial {
    Verified,
    /// What goes wrong, in one line.
    Broken(String),
    /// Why nobody knows.
    Unknown(String),
}

/// One ordering of the source.
#[derive(Clone, Debug)]
pub struct Row {
    pub site: OrderSite,
    /// What is accessed; none for fences.
    pub place: Option<String>,
    /// The orderings that were tried instead, others unchanged, weaker ones first.
    pub tried: Vec<(Order, Trial)>,
}

impl Row {
    /// The weakest orderings with which the program is known to be verified: several if none of them is weaker than another.
    #[must_use]
    pub fn weakest(&self) -> Vec<Order> {
        let verified = || {
            let tried = self.tried.iter();
            tried
                .filter(|(_, trial)| *trial == Trial::Verified)
                .map(|(order, _)| *order)
        };
        let is_least =
            |order: &Order| verified().all(|other| other == *order || !order.is_at_least(other));
        let least: Vec<Order> = verified().filter(is_least).collect();
        match least.is_empty() {
            true => vec![self.site.order],
            false => least,
        }
    }

    /// Is something weaker known to do?
    #[must_use]
    pub fn is_too_strong(&self) -> bool {
        self.tried
            .iter()
            .any(|(_, trial)| *trial == Trial::Verified)
    }

    /// Why it is not known whether something weaker would do.
    fn unknown(&self) -> Option<&str> {
        let least = self.weakest();
        self.tried.iter().find_map(|(order, trial)| match trial {
            Trial::Unknown(why) if least.iter().any(|it| it.is_at_least(*order)) => {
                Some(why.as_str())
            }
            _ => None,
        })
    }

    /// What goes wrong with the strongest ordering that does not do.
    fn breaks(&self) -> Option<(Order, &str)> {
        self.tried
            .iter()
            .rev()
            .find_map(|(order, trial)| match trial {
                Trial::Broken(what) => Some((*order, what.as_str())),
                _ => None,
            })
    }
}

/// A change to an ordering.
#[derive(Clone, Debug)]
pub struct Change {
    pub site: OrderSite,
    pub place: Option<String>,
    pub to: Order,
}

/// How a broken program could be mended.
#[derive(Clone, Debug)]
pub enum Repair {
    /// These changes together make it correct, and none of them can be left out.
    By(Vec<Change>),
    /// It is broken with every atomic `seq_cst`, too.
    NotByOrderings(String),
    /// Why nobody knows.
    Unknown(String),
}

/// What was found out.
#[derive(Clone, Debug)]
pub enum Findings {
    /// The program is verified as it is.
    Verified {
        rows: Vec<Row>,
        /// Orderings that may be weakened all at once. None if that is what the rows say of each.
        together: Option<Vec<Change>>,
    },
    Broken {
        what: String,
        repair: Repair,
    },
    Unknown(String),
}

/// The whole answer.
#[derive(Clone, Debug)]
pub struct Orderings<'a> {
    pub file: &'a str,
    pub findings: Findings,
    /// How often the program was checked.
    pub checks: usize,
    pub elapsed: Duration,
}

impl Findings {
    /// Is anything left open?
    #[must_use]
    pub fn has_unknown(&self) -> bool {
        match self {
            Self::Verified { rows, .. } => rows.iter().any(|row| row.unknown().is_some()),
            Self::Broken { repair, .. } => matches!(repair, Repair::Unknown(_)),
            Self::Unknown(_) => true,
        }
    }
}

/// A fence that is relaxed is none.
fn named(of: OrderOf, order: Order) -> &'static str {
    match (of, order) {
        (OrderOf::Fence, Order::Relaxed) => "none",
        _ => order_name(order),
    }
}

fn place_of(sources: &Sources, site: &OrderSite) -> String {
    format!(
        "{}:{}:{}",
        sources.display(&site.file),
        site.line,
        site.column
    )
}

fn operation(of: OrderOf, place: Option<&str>) -> String {
    match place {
        Some(place) => format!("{} of {place}", operation_name(of)),
        None => operation_name(of).to_owned(),
    }
}

// ---- text

/// The answer as text, ending with a line break.
#[must_use]
pub fn text(answer: &Orderings<'_>, sources: &Sources, color: bool) -> String {
    let paint = Paint { color };
    let mut text = match &answer.findings {
        Findings::Verified { rows, together } => {
            verified(rows, together.as_deref(), sources, paint)
        }
        Findings::Broken { what, repair } => broken(what, repair, sources, paint),
        Findings::Unknown(why) => format!("{}: {why}\n", paint.doubtful("inconclusive")),
    };
    let checks = match answer.checks {
        1 => "1 check".to_owned(),
        count => format!("{} checks", words::grouped(count as u64)),
    };
    text += &format!("({checks}; {})\n", words::seconds(answer.elapsed));
    text
}

const TITLES: [&str; 5] = ["place", "operation", "ordering", "weakest", ""];

fn verified(rows: &[Row], together: Option<&[Change]>, sources: &Sources, paint: Paint) -> String {
    if rows.is_empty() {
        return format!(
            "{}: there are no atomics in the program's own code\n",
            paint.good("verified")
        );
    }
    let lines: Vec<[String; 5]> = rows.iter().map(|row| cells(row, sources)).collect();
    let mut text = table(&lines, paint);
    let strong = rows.iter().filter(|row| row.is_too_strong()).count();
    let unknown = rows.iter().filter(|row| row.unknown().is_some()).count();
    text += &format!(
        "{}: {} of {} {} stronger than the program needs, others unchanged\n",
        paint.good("verified"),
        strong,
        match rows.len() {
            1 => "1 ordering".to_owned(),
            count => format!("{count} orderings"),
        },
        if strong == 1 { "is" } else { "are" },
    );
    if unknown > 0 {
        text += &format!(
            "{}: of {unknown} it is not known whether they could be weaker\n",
            paint.bold("note")
        );
    }
    match together {
        None if strong > 1 => text += "All of them may be weakened at once.\n",
        Some(changes) if strong > 1 => {
            text += "Not all of them at once; these may be:\n";
            text += &listed(changes, sources);
        }
        _ => {}
    }
    text
}

fn cells(row: &Row, sources: &Sources) -> [String; 5] {
    let of = row.site.of;
    let least: Vec<&str> = row
        .weakest()
        .into_iter()
        .map(|order| named(of, order))
        .collect();
    let note = match (row.unknown(), row.is_too_strong(), row.breaks()) {
        (Some(why), _, _) => format!("weaker: not known ({why})"),
        (None, true, _) => "stronger than needed".to_owned(),
        (None, false, Some((order, what))) => format!("{}: {what}", named(of, order)),
        (None, false, None) => String::new(),
    };
    [
        place_of(sources, &row.site),
        operation(of, row.place.as_deref()),
        named(of, row.site.order).to_owned(),
        least.join(" or "),
        note,
    ]
}

fn table(lines: &[[String; 5]], paint: Paint) -> String {
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.chain([TITLES[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..TITLES.len()).map(width).collect();
    let line = |cells: &[String; 5]| {
        let mut text = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            text += &format!("{cell:<width$}  ");
        }
        text.trim_end().to_owned()
    };
    let mut text = paint.dim(&line(&TITLES.map(str::to_owned))) + "\n";
    for cells in lines {
        text += &line(cells);
        text.push('\n');
    }
    text
}

fn broken(what: &str, repair: &Repair, sources: &Sources, paint: Paint) -> String {
    let mut text = format!("{}: {what}\n", paint.bad("violation"));
    match repair {
        Repair::By(changes) => {
            text += match changes.len() {
                1 => "With this ordering it is verified:\n",
                _ => "With these orderings together it is verified, and none can be left out:\n",
            };
            text += &listed(changes, sources);
        }
        Repair::NotByOrderings(still) => {
            text += &format!(
                "Orderings alone do not mend it: with all atomics seq_cst there still is: {still}\n"
            );
        }
        Repair::Unknown(why) => {
            text += &format!("Whether stronger orderings mend it is not known: {why}\n");
        }
    }
    text
}

fn listed(changes: &[Change], sources: &Sources) -> String {
    let line = |change: &Change| {
        let of = change.site.of;
        format!(
            "  {}: {}: {} instead of {}\n",
            place_of(sources, &change.site),
            operation(of, change.place.as_deref()),
            named(of, change.to),
            named(of, change.site.order)
        )
    };
    changes.iter().map(line).collect()
}

// ---- JSON

#[derive(Serialize)]
struct Answer<'a> {
    raddle: &'static str,
    file: &'a str,
    verdict: &'static str,
    /// What goes wrong as the program is, or why that is not known.
    reason: Option<&'a str>,
    /// `null` unless the program is verified as it is.
    orderings: Option<Vec<Entry<'a>>>,
    /// Orderings that may be weakened at once.
    together: Option<Vec<JsonChange<'a>>>,
    /// What makes a broken program correct; `null` if nothing does, or it is not known.
    strengthen: Option<Vec<JsonChange<'a>>>,
    /// Why there is no such set.
    strengthen_reason: Option<&'a str>,
    checks: usize,
    seconds: f64,
}

#[derive(Serialize)]
struct Entry<'a> {
    file: Cow<'a, str>,
    line: u32,
    column: u32,
    operation: &'static str,
    of: Option<&'a str>,
    ordering: &'static str,
    weakest: Vec<&'static str>,
    stronger_than_needed: bool,
    /// Why it is not known whether something weaker would do.
    unknown: Option<&'a str>,
    tried: Vec<Tried<'a>>,
}

#[derive(Serialize)]
struct Tried<'a> {
    ordering: &'static str,
    verdict: &'static str,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonChange<'a> {
    file: Cow<'a, str>,
    line: u32,
    column: u32,
    operation: &'static str,
    of: Option<&'a str>,
    from: &'static str,
    to: &'static str,
}

/// The answer as one JSON object, ending with a line break.
#[must_use]
pub fn json(answer: &Orderings<'_>, sources: &Sources) -> String {
    let (verdict, reason) = match &answer.findings {
        Findings::Verified { .. } => ("verified", None),
        Findings::Broken { what, .. } => ("violation", Some(what.as_str())),
        Findings::Unknown(why) => ("inconclusive", Some(why.as_str())),
    };
    let (orderings, together) = match &answer.findings {
        Findings::Verified { rows, together } => (
            Some(rows.iter().map(|row| entry(row, sources)).collect()),
            together.as_deref().map(|it| all_changed(it, sources)),
        ),
        _ => (None, None),
    };
    let (strengthen, strengthen_reason) = match &answer.findings {
        Findings::Broken { repair, .. } => match repair {
            Repair::By(changes) => (Some(all_changed(changes, sources)), None),
            Repair::NotByOrderings(why) | Repair::Unknown(why) => (None, Some(why.as_str())),
        },
        _ => (None, None),
    };
    let answer = Answer {
        raddle: env!("CARGO_PKG_VERSION"),
        file: answer.file,
        verdict,
        reason,
        orderings,
        together,
        strengthen,
        strengthen_reason,
        checks: answer.checks,
        seconds: answer.elapsed.as_secs_f64(),
    };
    let mut text = serde_json::to_string_pretty(&answer).expect("the keys are strings");
    text.push('\n');
    text
}

fn all_changed<'a>(changes: &'a [Change], sources: &Sources) -> Vec<JsonChange<'a>> {
    changes.iter().map(|it| changed(it, sources)).collect()
}

fn changed<'a>(change: &'a Change, sources: &Sources) -> JsonChange<'a> {
    let of = change.site.of;
    JsonChange {
        file: sources.display(&change.site.file),
        line: change.site.line,
        column: change.site.column,
        operation: operation_name(of),
        of: change.place.as_deref(),
        from: named(of, change.site.order),
        to: named(of, change.to),
    }
}

fn entry<'a>(row: &'a Row, sources: &Sources) -> Entry<'a> {
    let of = row.site.of;
    let tried = row.tried.iter().map(|(order, trial)| Tried {
        ordering: named(of, *order),
        verdict: match trial {
            Trial::Verified => "verified",
            Trial::Broken(_) => "violation",
            Trial::Unknown(_) => "inconclusive",
        },
        reason: match trial {
            Trial::Verified => None,
            Trial::Broken(text) | Trial::Unknown(text) => Some(text.as_str()),
        },
    });
    Entry {
        file: sources.display(&row.site.file),
        line: row.site.line,
        column: row.site.column,
        operation: operation_name(of),
        of: row.place.as_deref(),
        ordering: named(of, row.site.order),
        weakest: row
            .weakest()
            .into_iter()
            .map(|order| named(of, order))
            .collect(),
        stronger_than_needed: row.is_too_strong(),
        unknown: row.unknown(),
        tried: tried.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(order: Order, tried: &[(Order, Trial)]) -> Row {
        Row {
            site: OrderSite {
                file: "a.c".into(),
                line: 3,
                column: 5,
                of: OrderOf::Update,
                order,
            },
            place: Some("x".to_owned()),
            tried: tried.to_vec(),
        }
    }

    fn broken() -> Trial {
        Trial::Broken("data race on d".to_owned())
    }

    #[test]
    fn orderings_that_cannot_be_compared_are_both_weakest() {
        let row = row(
            Order::SeqCst,
            &[
                (Order::Relaxed, broken()),
                (Order::Acquire, Trial::Verified),
                (Order::Release, Trial::Verified),
            ],
        );
        assert_eq!(row.weakest(), [Order::Acquire, Order::Release]);
        assert!(row.is_too_strong());
        assert_eq!(row.unknown(), None);
    }

    #[test]
    fn what_is_not_known_is_said_only_where_it_matters() {
        let unknown = || Trial::Unknown("a limit".to_owned());
        let open = row(Order::Acquire, &[(Order::Relaxed, unknown())]);
        assert_eq!(open.unknown(), Some("a limit"));
        assert_eq!(open.weakest(), [Order::Acquire]);
        // Acquire does; whether release would do, too, says nothing about acquire.
        let settled = row(
            Order::AcqRel,
            &[
                (Order::Relaxed, broken()),
                (Order::Acquire, Trial::Verified),
                (Order::Release, unknown()),
            ],
        );
        assert_eq!(settled.unknown(), None);
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [
            row(Order::Relaxed, &[]),
            row(Order::Release, &[(Order::Relaxed, broken())]),
            row(Order::SeqCst, &[(Order::Relaxed, Trial::Verified)]),
        ];
        let answer = Orderings {
            file: "a.c",
            findings: Findings::Verified {
                rows: rows.to_vec(),
                together: None,
            },
            checks: 3,
            elapsed: Duration::from_millis(1500),
        };
        let expected = "\
place    operation    ordering  weakest
a.c:3:5  update of x  relaxed   relaxed
a.c:3:5  update of x  release   release  relaxed: data race on d
a.c:3:5  update of x  seq_cst   relaxed  stronger than needed
verified: 1 of 3 orderings is stronger than the program needs, others unchanged
(3 checks; 1.50 s)
";
        assert_eq!(text(&answer, &Sources::default(), false), expected);
    }
}
