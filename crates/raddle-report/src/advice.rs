//! What orderings have to do with an execution: why a read was allowed to return an old value, and what to write instead.

use crate::names::Names;
use crate::source::{Sources, position};
use raddle_judge::{Stale, Strengthening, Trace, Unsynchronised, Violation, ViolationKind};
use raddle_program::{Op, Order, OrderOf, Program, SourceLoc};
use std::ops::Range;

/// The name of an ordering for scripts, and in tables.
#[must_use]
pub fn order_name(order: Order) -> &'static str {
    match order {
        Order::Plain => "plain",
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}

/// The operation that an ordering belongs to, for scripts and in tables.
#[must_use]
pub fn operation_name(of: OrderOf) -> &'static str {
    match of {
        OrderOf::Load => "load",
        OrderOf::Store => "store",
        OrderOf::Update => "update",
        OrderOf::Success => "compare-exchange",
        OrderOf::Failure => "failed compare-exchange",
        OrderOf::Fence => "fence",
    }
}

// ---- old values

/// Why reads returned old values, in one sentence each.
pub(crate) fn stale_reads(names: &Names<'_>, program: &Program, trace: &Trace) -> Vec<String> {
    let steps = trace.steps.iter().enumerate();
    let stale = steps.filter_map(|(index, step)| Some((index, step.stale.as_ref()?)));
    stale
        .filter_map(|(index, stale)| stale_read(names, program, trace, index, stale))
        .collect()
}

fn stale_read(
    names: &Names<'_>,
    program: &Program,
    trace: &Trace,
    index: usize,
    stale: &Stale,
) -> Option<String> {
    let step = &trace.steps[index];
    let (Op::Load { loc, .. } | Op::Cas { loc, .. } | Op::Rmw { loc, .. }) =
        *program.op(step.state)
    else {
        return None;
    };
    let newest = trace.steps.get(stale.newest)?;
    let wrote = newest.wrote.map_or(String::new(), |(to, value)| {
        format!(" wrote {}", names.value(to, value))
    });
    let number = stale.newest + 1;
    Some(format!(
        "step {}: {} → {} is stale: step {number}{wrote}, but nothing orders step {number} before this read: {}",
        index + 1,
        names.location(loc),
        names.value(loc, step.value),
        because(names, program, trace, index, stale)
    ))
}

/// Why nothing orders the newest write before a read.
pub(crate) fn because(
    names: &Names<'_>,
    program: &Program,
    trace: &Trace,
    index: usize,
    stale: &Stale,
) -> String {
    if stale.because.is_empty() {
        let (reader, writer) = (trace.steps[index].thread, trace.steps[stale.newest].thread);
        return format!(
            "{} has read nothing by then that {} did since",
            names.short(reader),
            names.short(writer)
        );
    }
    let each = |missing: &Unsynchronised| unsynchronised(names, program, trace, missing);
    let reasons: Vec<String> = stale.because.iter().map(each).collect();
    reasons.join(", and ")
}

fn unsynchronised(
    names: &Names<'_>,
    program: &Program,
    trace: &Trace,
    missing: &Unsynchronised,
) -> String {
    let side = |step: usize| {
        let op = program.op(trace.steps[step].state);
        let wrote = trace.steps[step].wrote.is_some();
        let [first, second] = op.orderings();
        let used = match (op, second) {
            (Op::Cas { .. }, Some(failure)) if !wrote => Some(failure),
            _ => first,
        };
        used.map_or("relaxed", |(_, order)| order_name(order))
    };
    let place = match *program.op(trace.steps[missing.write].state) {
        Op::Store { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => names.location(loc),
        _ => "it".to_owned(),
    };
    let written = format!(
        "written {} (step {})",
        side(missing.write),
        missing.write + 1
    );
    let read = format!("read {} (step {})", side(missing.read), missing.read + 1);
    match (missing.releases, missing.acquires) {
        (false, true) => format!("`{place}` is {written}"),
        (true, false) => format!("`{place}` is {read}"),
        _ => format!("`{place}` is {written} and {read}"),
    }
}

// ---- what to write instead

/// An ordering in the text of a source file, and what to write in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) replacement: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Where the source names the ordering of an operation. None where it does not: in macros, by default arguments, in variables.
pub(crate) fn token(
    sources: &Sources,
    loc: &SourceLoc,
    of: OrderOf,
    from: Order,
    to: Order,
) -> Option<Token> {
    let (text, span) = sources.span(loc)?;
    let (range, found) = named_order(&text[span.start..], of)?;
    if found != from {
        return None;
    }
    let start = span.start + range.start;
    let named = &text[start..span.start + range.end];
    let before = &text[..start];
    let line = u32::try_from(before.matches('\n').count()).ok()? + 1;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = u32::try_from(before[line_start..].chars().count()).ok()? + 1;
    Some(Token {
        text: named.to_owned(),
        replacement: renamed(named, to),
        line,
        column,
    })
}

/// So far a call is read on.
const LONGEST_CALL: usize = 2000;

/// The first ordering that a text names before the end of its statement; the second for failures of compare-exchanges.
fn named_order(text: &str, of: OrderOf) -> Option<(Range<usize>, Order)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = Vec::new();
    let mut rest = 0;
    while rest < text.len().min(LONGEST_CALL) {
        let c = text[rest..].chars().next()?;
        if matches!(c, ';' | '{' | '}') {
            break;
        }
        if !is_part(c) {
            rest += c.len_utf8();
            continue;
        }
        let end = text[rest..]
            .find(|c| !is_part(c))
            .map_or(text.len(), |length| rest + length);
        if let Some(order) = order_named(&text[rest..end]) {
            found.push((rest..end, order));
        }
        rest = end;
    }
    let index = usize::from(of == OrderOf::Failure);
    found.into_iter().nth(index)
}

/// How the languages name orderings: the part in front of the name, and the five names.
const SPELLINGS: [(&str, [&str; 5]); 3] = [
    (
        "memory_order_",
        ["relaxed", "acquire", "release", "acq_rel", "seq_cst"],
    ),
    (
        "__ATOMIC_",
        ["RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST"],
    ),
    ("", ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"]),
];
const ORDERS: [Order; 5] = [
    Order::Relaxed,
    Order::Acquire,
    Order::Release,
    Order::AcqRel,
    Order::SeqCst,
];

/// The last part of a path: `relaxed` of `std::memory_order::relaxed`.
fn last_part(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

fn order_named(path: &str) -> Option<Order> {
    let last = last_part(path);
    for (prefix, names) in SPELLINGS {
        let name = last.strip_prefix(prefix);
        if let Some(index) = name.and_then(|name| names.iter().position(|it| *it == name)) {
            return Some(ORDERS[index]);
        }
    }
    let index = SPELLINGS[0].1.iter().position(|name| *name == last)?;
    path.ends_with(&format!("memory_order::{last}"))
        .then_some(ORDERS[index])
}

/// The same path to another ordering.
fn renamed(path: &str, to: Order) -> String {
    let index = ORDERS.iter().position(|order| *order == to).unwrap_or(0);
    let last = last_part(path);
    let head = &path[..path.len() - last.len()];
    let spelling = SPELLINGS.iter().find(|(prefix, names)| {
        last.strip_prefix(prefix)
            .is_some_and(|name| names.contains(&name))
    });
    match spelling {
        Some((prefix, names)) => format!("{head}{prefix}{}", names[index]),
        None => format!("{head}{}", SPELLINGS[0].1[index]),
    }
}

/// A change to the source, in words: `a.c:7: store to flag: memory_order_release instead of memory_order_relaxed`.
pub(crate) fn change(
    names: &Names<'_>,
    program: &Program,
    sources: &Sources,
    trace: &Trace,
    change: &Strengthening,
) -> String {
    let place = match position(program.tables(), change.at) {
        Some(loc) => {
            let token = token(sources, loc, change.of, change.from, change.to);
            let line = token.as_ref().map_or(loc.line, |token| token.line);
            let what = match token {
                Some(token) => format!("{} instead of {}", token.replacement, token.text),
                None => instead(change.from, change.to),
            };
            (format!("{}:{line}: ", sources.display(&loc.file)), what)
        }
        None => (String::new(), instead(change.from, change.to)),
    };
    let (place, what) = place;
    let operation = operation(names, program, trace, change);
    format!("{place}{operation}: {what}")
}

fn instead(from: Order, to: Order) -> String {
    format!("{} instead of {}", order_name(to), order_name(from))
}

fn operation(
    names: &Names<'_>,
    program: &Program,
    trace: &Trace,
    change: &Strengthening,
) -> String {
    let accessed = trace.steps.get(change.step).and_then(|step| {
        let (Op::Load { loc, .. }
        | Op::Store { loc, .. }
        | Op::Rmw { loc, .. }
        | Op::Cas { loc, .. }) = *program.op(step.state)
        else {
            return None;
        };
        Some(names.location(loc))
    });
    match accessed {
        Some(place) => format!("{} of {place}", operation_name(change.of)),
        None => operation_name(change.of).to_owned(),
    }
}

/// What stronger orderings would do, in words.
pub(crate) struct Remedies {
    pub(crate) head: &'static str,
    /// Each set of changes does it alone.
    pub(crate) sets: Vec<Vec<String>>,
}

impl Remedies {
    /// A line for each set.
    pub(crate) fn lines(&self) -> Vec<String> {
        let sets = self.sets.iter().map(|set| set.join(", and "));
        std::iter::once(self.head.to_owned()).chain(sets).collect()
    }

    /// A line for each change.
    pub(crate) fn text(&self) -> String {
        let mut text = self.head.to_owned();
        for set in &self.sets {
            text += "\n  - ";
            text += &set.join("\n    and ");
        }
        text
    }
}

/// What stronger orderings would do, if they could do anything.
pub(crate) fn remedies(
    names: &Names<'_>,
    program: &Program,
    sources: &Sources,
    violation: &Violation,
) -> Option<Remedies> {
    let advice = violation.advice.as_ref()?;
    let is_race = matches!(violation.kind, ViolationKind::Race(_));
    let head = match (is_race, advice.remedies.as_slice()) {
        (true, []) => return None,
        (false, []) => "sequential consistency does not have this execution",
        (true, [set]) => match set.len() {
            1 => "this ordering would order the two accesses (raddle explain orderings):",
            _ => "these orderings would order the two accesses (raddle explain orderings):",
        },
        (true, _) => {
            "each of these changes alone would order the two accesses (raddle explain orderings):"
        }
        (false, [set]) => match set.len() {
            1 => {
                "sequential consistency does not have this execution, and this ordering forbids it (raddle explain orderings):"
            }
            _ => {
                "sequential consistency does not have this execution, and these orderings forbid it (raddle explain orderings):"
            }
        },
        (false, _) => {
            "sequential consistency does not have this execution, and each of these changes alone forbids it (raddle explain orderings):"
        }
    };
    let change = |it: &Strengthening| change(names, program, sources, &violation.trace, it);
    let sets = advice.remedies.iter();
    Some(Remedies {
        head,
        sets: sets.map(|set| set.iter().map(change).collect()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orderings_are_found_where_calls_name_them() {
        let first = |text, of| named_order(text, of).map(|(range, order)| (&text[range], order));
        let load = |text| first(text, OrderOf::Load);
        assert_eq!(
            load("atomic_load_explicit(&x, memory_order_acquire) == 1; memory_order_relaxed"),
            Some(("memory_order_acquire", Order::Acquire))
        );
        assert_eq!(
            load("x.load(std::memory_order::relaxed)"),
            Some(("std::memory_order::relaxed", Order::Relaxed))
        );
        assert_eq!(
            load("X.load(Ordering::SeqCst)"),
            Some(("Ordering::SeqCst", Order::SeqCst))
        );
        assert_eq!(
            load("__atomic_load_n(&x,\n  __ATOMIC_RELAXED)"),
            Some(("__ATOMIC_RELAXED", Order::Relaxed))
        );
        assert_eq!(load("LOAD(x); f(memory_order_relaxed)"), None);
        assert_eq!(load("relaxed(x)"), None);
        let cas = "x.compare_exchange(0, 1, AcqRel, Relaxed)";
        assert_eq!(
            first(cas, OrderOf::Success),
            Some(("AcqRel", Order::AcqRel))
        );
        assert_eq!(
            first(cas, OrderOf::Failure),
            Some(("Relaxed", Order::Relaxed))
        );
        assert_eq!(
            first(
                "x.compare_exchange_weak(a, 1, memory_order_acq_rel)",
                OrderOf::Failure
            ),
            None
        );
    }

    #[test]
    fn orderings_are_renamed_as_they_are_spelt() {
        let all = [
            (
                "memory_order_relaxed",
                Order::Release,
                "memory_order_release",
            ),
            (
                "std::memory_order_relaxed",
                Order::SeqCst,
                "std::memory_order_seq_cst",
            ),
            (
                "std::memory_order::relaxed",
                Order::AcqRel,
                "std::memory_order::acq_rel",
            ),
            ("__ATOMIC_RELAXED", Order::AcqRel, "__ATOMIC_ACQ_REL"),
            ("Ordering::Relaxed", Order::Acquire, "Ordering::Acquire"),
            ("Relaxed", Order::SeqCst, "SeqCst"),
        ];
        for (old, to, new) in all {
            assert_eq!(renamed(old, to), new);
        }
    }
}
