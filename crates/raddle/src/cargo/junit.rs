//! Results as JUnit XML, which continuous integration reads.

use super::runner::Ended;
use super::tests::{Checked, word};
use crate::Status;
use std::fmt::Write as _;

pub(crate) fn render(results: &[Checked<'_>]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let mut rest = results;
    while let Some(first) = rest.first() {
        let same = |result: &Checked<'_>| std::ptr::eq(result.suite, first.suite);
        let length = rest.iter().take_while(|result| same(result)).count();
        let (suite, others) = rest.split_at(length);
        render_suite(&mut out, suite);
        rest = others;
    }
    out.push_str("</testsuites>\n");
    out
}

fn render_suite(out: &mut String, results: &[Checked<'_>]) {
    let Some(first) = results.first() else {
        return;
    };
    let count = |wanted: &dyn Fn(&Ended) -> bool| {
        results
            .iter()
            .filter(|result| wanted(&result.ended))
            .count()
    };
    let failures = count(&|ended| is(ended, &[Status::Violation]));
    let errors = count(&|ended| is(ended, &[Status::Failure, Status::Inconclusive]));
    let skipped = count(&|ended| !matches!(ended, Ended::Checked(_)));
    let built = &first.suite.built;
    let suite = escaped(&format!("{}::{}", built.package, built.target));
    let _ = writeln!(
        out,
        "  <testsuite name=\"{suite}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">",
        results.len()
    );
    for result in results {
        render_case(out, &suite, result);
    }
    out.push_str("  </testsuite>\n");
}

fn render_case(out: &mut String, suite: &str, result: &Checked<'_>) {
    let test = result.test;
    let seconds = match &result.ended {
        Ended::Checked(answer) => answer.seconds,
        _ => 0.0,
    };
    let _ = write!(
        out,
        "    <testcase name=\"{}\" classname=\"{suite}\" file=\"{}\" line=\"{}\" time=\"{seconds:.3}\"",
        escaped(&test.name),
        escaped(&test.file),
        test.line
    );
    let element = match &result.ended {
        Ended::Checked(answer) if answer.status == Status::Verified => {
            out.push_str("/>\n");
            return;
        }
        Ended::Ignored | Ended::NotChecked => {
            out.push_str("><skipped/></testcase>\n");
            return;
        }
        Ended::Checked(answer) if answer.status == Status::Violation => "failure",
        Ended::Checked(_) => "error",
    };
    if let Ended::Checked(answer) = &result.ended {
        let _ = writeln!(
            out,
            ">\n      <{element} type=\"{}\" message=\"{}\">{}</{element}>\n    </testcase>",
            word(answer),
            escaped(answer.message.as_deref().unwrap_or_default()),
            escaped(&answer.text)
        );
    }
}

fn is(ended: &Ended, statuses: &[Status]) -> bool {
    matches!(ended, Ended::Checked(answer) if statuses.contains(&answer.status))
}

/// Text for XML, without colours and what else it cannot hold.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // `ESC [ 1 m`
            '\u{1b}' => {
                chars.by_ref().find(char::is_ascii_alphabetic);
            }
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_has_no_colours() {
        assert_eq!(
            escaped("a < b && \u{1b}[1;31mred\u{1b}[0m \"c\"\u{1}"),
            "a &lt; b &amp;&amp; red &quot;c&quot;\u{fffd}"
        );
    }
}
