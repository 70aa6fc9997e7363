//! The answer as SARIF 2.1.0 (the Static Analysis Results Interchange Format of OASIS), which code hosts and editors show
//! beside the source.

use crate::Report;
use crate::advice::{self, Remedies};
use crate::covered;
use crate::names::Names;
use crate::source::{Sources, is_rust, position};
use crate::view::{View, Weight, before_fault};
use crate::words;
use raddle_judge::{Reason, Strengthening, Verdict, Violation, ViolationKind};
use raddle_program::{Program, SrcId};
use serde_json::{Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log, ending with a line break.
#[must_use]
pub fn render(report: &Report<'_>, sources: &Sources) -> String {
    let writer = Writer {
        program: report.program,
        sources,
    };
    let outcome = report.outcome;
    let violations: &[Violation] = match &outcome.verdict {
        Verdict::Violation(violations) => violations,
        _ => &[],
    };
    // Each kind of violation is a rule; those that were met are described.
    let mut rules: Vec<&'static str> = Vec::new();
    for violation in violations {
        let kind = words::violation_kind(&violation.kind);
        if !rules.contains(&kind) {
            rules.push(kind);
        }
    }
    let results: Vec<Value> = violations
        .iter()
        .map(|violation| writer.result(violation, &rules))
        .collect();
    let statistics = &outcome.statistics;
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "raddle",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|kind| rule(kind)).collect::<Vec<_>>(),
            }},
            "invocations": [writer.invocation(report)],
            "artifacts": [{ "location": { "uri": uri(report.file) } }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "engine": outcome.engine.name(),
                "memory": outcome.memory.name(),
                "executions": { "complete": statistics.complete, "blocked": statistics.blocked },
            },
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).expect("the keys are strings");
    text.push('\n');
    text
}

fn rule(kind: &'static str) -> Value {
    json!({
        "id": kind,
        "shortDescription": { "text": words::kind_description(kind) },
        "help": { "text": format!("`raddle explain {kind}` says more.") },
        "defaultConfiguration": { "level": "error" },
    })
}

struct Writer<'a> {
    program: &'a Program,
    sources: &'a Sources,
}

impl Writer<'_> {
    /// How the run ended. What is no violation, and no proof either, is told here.
    fn invocation(&self, report: &Report<'_>) -> Value {
        let outcome = report.outcome;
        let notification = |level: &str, text: String, at: SrcId| {
            let mut notification = json!({ "level": level, "message": { "text": text } });
            if let Some(location) = self.location(at) {
                notification["locations"] = json!([location]);
            }
            notification
        };
        let (successful, exit, mut notifications) = match &outcome.verdict {
            Verdict::Verified(bound) => {
                let text = words::coverage(bound);
                (true, 0, vec![notification("note", text, SrcId::NOWHERE)])
            }
            Verdict::Violation(_) => (true, 1, Vec::new()),
            Verdict::Unsupported(_) => (false, 2, Vec::new()),
            Verdict::Inconclusive(reason) => {
                let at = match reason {
                    Reason::Thread { at, .. } => *at,
                    _ => SrcId::NOWHERE,
                };
                let threads = report.outcome.statistics.threads;
                let hint = words::reason_hint(reason, threads);
                let text = format!("{}; {hint}", words::reason(reason));
                (true, 3, vec![notification("warning", text, at)])
            }
        };
        notifications.extend(outcome.unsupported().iter().map(|unsupported| {
            let what = &unsupported.what;
            let text = format!(
                "{}; {}",
                words::unsupported(what),
                words::unsupported_hint(what, is_rust(self.program.tables(), unsupported.at))
            );
            notification("error", text, unsupported.at)
        }));
        let notes = covered::notes(report, self.sources).into_iter();
        notifications.extend(notes.map(|note| notification("note", note.text, note.at)));
        json!({
            "executionSuccessful": successful,
            "exitCode": exit,
            "toolExecutionNotifications": notifications,
        })
    }

    fn result(&self, violation: &Violation, rules: &[&'static str]) -> Value {
        let names = Names::new(self.program, &violation.trace);
        let kind = words::violation_kind(&violation.kind);
        let mut text = words::headline(&names, self.program, &violation.kind);
        if let ViolationKind::Fault(fault) = &violation.kind
            && let Some(values) = words::operands(&names, fault)
        {
            text += &format!(" ({values})");
        }
        let trace = before_fault(violation);
        let mut orderings = advice::stale_reads(&names, self.program, &trace);
        let remedies = advice::remedies(&names, self.program, self.sources, violation);
        orderings.extend(remedies.iter().flat_map(Remedies::lines));
        for line in orderings {
            text += "\n";
            text += &line;
        }
        let mut result = json!({
            "ruleId": kind,
            "ruleIndex": rules.iter().position(|rule| *rule == kind),
            "kind": "fail",
            "level": "error",
            "message": { "text": text },
            "locations": self.location(violation.at).into_iter().collect::<Vec<_>>(),
            "codeFlows": [self.code_flow(&names, violation)],
        });
        if let ViolationKind::Race(race) = &violation.kind
            && let Some(mut first) = self.location(race.first.at)
        {
            let access = words::access(&names, self.program.op(race.first.state));
            let thread = names.thread(race.first.thread);
            first["message"] = json!({ "text": format!("first access: {access} by {thread}") });
            result["relatedLocations"] = json!([first]);
        }
        let fixes = self.fixes(violation);
        if !fixes.is_empty() {
            result["fixes"] = fixes.into();
        }
        result
    }

    /// Each set of stronger orderings that would do, where the source names them.
    fn fixes(&self, violation: &Violation) -> Vec<Value> {
        let Some(advice) = &violation.advice else {
            return Vec::new();
        };
        let replacement = |change: &Strengthening| {
            let loc = position(self.program.tables(), change.at)?;
            let token = advice::token(self.sources, loc, change.of, change.from, change.to)?;
            let end = token.column as usize + token.text.chars().count();
            Some(json!({
                "artifactLocation": { "uri": uri(&self.sources.display(&loc.file)) },
                "replacements": [{
                    "deletedRegion": {
                        "startLine": token.line,
                        "startColumn": token.column,
                        "endLine": token.line,
                        "endColumn": end,
                    },
                    "insertedContent": { "text": token.replacement },
                }],
            }))
        };
        let fix = |set: &Vec<Strengthening>| {
            let changes: Option<Vec<Value>> = set.iter().map(replacement).collect();
            Some(json!({
                "description": { "text": "Use stronger orderings." },
                "artifactChanges": changes?,
            }))
        };
        advice.remedies.iter().filter_map(fix).collect()
    }

    /// The execution: one flow for each thread, and a number that orders the steps of all.
    fn code_flow(&self, names: &Names<'_>, violation: &Violation) -> Value {
        let trace = before_fault(violation);
        let view = View::new(self.program, names, &trace, Some(&violation.kind));
        let mut threads: Vec<_> = trace.steps.iter().map(|step| step.thread).collect();
        threads.push(violation.thread);
        threads.sort_unstable_by_key(|&thread| names.thread_number(thread));
        threads.dedup();
        let flow = |&thread: &raddle_program::ThreadId| {
            let steps = trace.steps.iter().enumerate();
            let mut locations: Vec<Value> = steps
                .filter(|(_, step)| step.thread == thread)
                .map(|(index, step)| {
                    let importance = match view.weight(index) {
                        Weight::Shared => "essential",
                        Weight::Local => "important",
                        Weight::Noise => "unimportant",
                    };
                    let at = self.program.at(step.state);
                    self.flow_location(at, &view.phrase(index), index + 1, importance)
                })
                .collect();
            if thread == violation.thread {
                let text = words::headline(names, self.program, &violation.kind);
                let order = trace.steps.len() + 1;
                locations.push(self.flow_location(violation.at, &text, order, "essential"));
            }
            json!({
                "id": names.short(thread),
                "message": { "text": names.thread(thread) },
                "locations": locations,
            })
        };
        json!({ "threadFlows": threads.iter().map(flow).collect::<Vec<_>>() })
    }

    fn flow_location(&self, at: SrcId, text: &str, order: usize, importance: &str) -> Value {
        let mut location = self.location(at).unwrap_or_else(|| json!({}));
        location["message"] = json!({ "text": text });
        json!({ "location": location, "executionOrder": order, "importance": importance })
    }

    fn location(&self, at: SrcId) -> Option<Value> {
        let loc = position(self.program.tables(), at)?;
        let mut region = json!({ "startLine": loc.line });
        if loc.column > 0 {
            region["startColumn"] = self.sources.column(loc).into();
        }
        Some(json!({ "physicalLocation": {
            "artifactLocation": { "uri": uri(&self.sources.display(&loc.file)) },
            "region": region,
        }}))
    }
}

/// A path as an address. Relative paths stay relative: whoever reads the log knows where the sources are. Compilers find their
/// own headers by way of `..`, which addresses must not have.
pub(crate) fn uri(path: &str) -> String {
    let path = match path.starts_with('/') {
        true => without_steps_back(path),
        false => path.to_owned(),
    };
    let mut text = String::new();
    if path.starts_with('/') {
        text += "file://";
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~+@".contains(&byte) {
            text.push(byte.into());
        } else {
            text += &format!("%{byte:02X}");
        }
    }
    text
}

fn without_steps_back(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_addresses() {
        assert_eq!(uri("src/a.c"), "src/a.c");
        assert_eq!(uri("/tmp/a b.c"), "file:///tmp/a%20b.c");
        assert_eq!(uri("ä:.c"), "%C3%A4%3A.c");
        assert_eq!(uri("/usr/bin/../lib/./a.h"), "file:///usr/lib/a.h");
        assert_eq!(uri("../a.c"), "../a.c");
    }
}
