//! The answer as a web page: one file that needs nothing else, neither the network nor the program.
//!
//! The page is a template (`assets/`) with the data of the report inside; everything that moves is done by its script.

mod order;
mod state;

use crate::Report;
use crate::advice;
use crate::covered;
use crate::names::Names;
use crate::source::{Sources, is_rust, position};
use crate::text::{Look, Writer, circumstances, stuck};
use crate::timeline::origin;
use crate::view::{View, Weight, before_fault};
use crate::words;
use order::Order;
use raddle_judge::{Effect, MemoryModel, TraceStep, Verdict, Violation, ViolationKind};
use raddle_program::{Op, Program, SrcId, ThreadId};
use serde::Serialize;
use state::{Cell, States};
use std::cell::RefCell;
use std::collections::BTreeMap;

const PAGE: &str = include_str!("../../assets/report.html");
const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");

#[derive(Serialize)]
struct Data {
    verdict: &'static str,
    /// The headline where there is no violation.
    summary: String,
    hints: Vec<String>,
    subline: String,
    /// Under C11 there is no memory that all threads see: the newest values are shown.
    newest: bool,
    statistics: Vec<(&'static str, String)>,
    /// What of the program was run, where nothing is wrong.
    coverage: Option<Covered>,
    files: Vec<File>,
    violations: Vec<Run>,
}

#[derive(Serialize)]
struct Covered {
    numbers: Vec<(&'static str, String)>,
    /// File and line of code that no execution ran.
    missed: Vec<(usize, u32)>,
    /// Functions that were never called, with file and line.
    functions: Vec<(String, Option<usize>, u32)>,
}

#[derive(Serialize)]
struct File {
    path: String,
    lines: Vec<String>,
}

/// A violation with its execution.
#[derive(Serialize)]
struct Run {
    headline: String,
    explanation: Vec<String>,
    threads: Vec<Thread>,
    cells: Vec<Cell>,
    /// What is printed before the first step.
    printed: Option<String>,
    steps: Vec<Step>,
    end: Vec<End>,
}

#[derive(Serialize)]
struct Thread {
    id: usize,
    name: String,
}

#[derive(Serialize)]
struct Step {
    thread: usize,
    text: String,
    /// Where the value read came from, in words.
    from: String,
    mark: Option<&'static str>,
    /// 0 tells nothing, 1 something about its thread, 2 something about several.
    weight: u8,
    file: Option<usize>,
    line: u32,
    column: u32,
    /// The step that wrote what it reads.
    rf: Option<usize>,
    /// The write before it to the same place.
    co: Option<usize>,
    /// Steps of other threads that synchronisation puts right before it.
    hb: Vec<usize>,
    reads: Vec<usize>,
    /// Cells that have another value after it.
    sets: Vec<(usize, String)>,
    /// Cells of objects whose life it begins or ends.
    born: Vec<usize>,
    dies: Vec<usize>,
    /// A store that does not reach memory yet.
    delays: Option<Delayed>,
    /// The step whose delayed store reaches memory here.
    flushes: Option<usize>,
    /// Thread and text.
    prints: Vec<(usize, String)>,
}

#[derive(Serialize)]
struct Delayed {
    place: String,
    value: String,
}

#[derive(Serialize)]
struct End {
    thread: usize,
    text: String,
    file: Option<usize>,
    line: u32,
    column: u32,
}

/// The page.
#[must_use]
pub fn render(report: &Report<'_>, sources: &Sources) -> String {
    let builder = Builder {
        report,
        program: report.program,
        sources,
        files: RefCell::default(),
    };
    let data = builder.data();
    // Whatever a program's text holds, it cannot end the element that it lies in.
    let json = serde_json::to_string(&data)
        .expect("no map with keys that are no strings")
        .replace('<', "\\u003c");
    let title = format!("{}: {} · Raddle", data.verdict, report.file);
    let mut page = String::new();
    let mut rest = PAGE;
    for (mark, text) in [
        ("{{title}}", escaped(&title).as_str()),
        ("{{style}}", STYLE),
        ("{{data}}", &json),
        ("{{script}}", SCRIPT),
    ] {
        let (before, after) = rest
            .split_once(mark)
            .expect("the page is part of this crate");
        page += before;
        page += text;
        rest = after;
    }
    page + rest
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

struct Builder<'a> {
    report: &'a Report<'a>,
    program: &'a Program,
    sources: &'a Sources,
    /// Paths of the files that are shown, in order.
    files: RefCell<Vec<String>>,
}

impl Builder<'_> {
    fn data(&self) -> Data {
        let outcome = self.report.outcome;
        let (verdict, summary, mut hints) = match &outcome.verdict {
            Verdict::Violation(_) => ("violation", String::new(), Vec::new()),
            Verdict::Verified(bound) => ("verified", words::coverage(bound), Vec::new()),
            Verdict::Inconclusive(reason) => (
                "inconclusive",
                words::reason(reason),
                vec![
                    words::found_so_far(reason).to_owned(),
                    words::reason_hint(reason, outcome.statistics.threads).to_owned(),
                ],
            ),
            Verdict::Unsupported(unsupported) => (
                "inconclusive",
                words::out_of_reach(unsupported.len()),
                unsupported
                    .first()
                    .map(|first| {
                        let is_rust = is_rust(self.program.tables(), first.at);
                        words::unsupported_hint(&first.what, is_rust).to_owned()
                    })
                    .into_iter()
                    .collect(),
            ),
        };
        let tables = self.program.tables();
        let out_of_reach = outcome.unsupported().iter().map(|unsupported| {
            let place = self.sources.place(tables, unsupported.at);
            let place = place.map_or(String::new(), |place| format!("{place}: "));
            format!(
                "{place}unsupported: {}",
                words::unsupported(&unsupported.what)
            )
        });
        hints.extend(out_of_reach);
        let notes = covered::notes(self.report, self.sources).into_iter();
        hints.extend(notes.map(|note| format!("note: {}", note.text)));
        // The program itself comes first, whatever else its execution touches.
        self.file(self.report.file);
        let violations = match &outcome.verdict {
            Verdict::Violation(violations) => violations.iter().map(|it| self.run(it)).collect(),
            _ => Vec::new(),
        };
        let coverage = match &outcome.verdict {
            Verdict::Violation(_) => None,
            _ => self.covered(),
        };
        Data {
            verdict,
            summary,
            hints,
            newest: outcome.memory == MemoryModel::C11,
            subline: format!(
                "{} · {}",
                self.report.file,
                circumstances(self.report.program, outcome)
            ),
            statistics: self.statistics(),
            coverage,
            files: self.texts(),
            violations,
        }
    }

    fn statistics(&self) -> Vec<(&'static str, String)> {
        let outcome = self.report.outcome;
        let it = &outcome.statistics;
        let mut numbers = Vec::new();
        // A formula has no executions to count.
        if outcome.engine.counts_executions() {
            numbers.extend([
                ("executions", words::grouped(it.complete + it.blocked)),
                ("complete", words::grouped(it.complete)),
                ("blocked", words::grouped(it.blocked)),
            ]);
            if it.cut > 0 {
                numbers.push(("cut short", words::grouped(it.cut)));
            }
        }
        numbers.extend([
            ("time", words::time_spent(it)),
            ("engine", outcome.engine.name().to_owned()),
            ("memory model", outcome.memory.name().to_owned()),
            ("threads, at most", it.threads.to_string()),
            ("events, at most", words::grouped(it.max_events as u64)),
            ("local states", words::grouped(it.states as u64)),
            ("peak memory", words::mebibytes(it.peak_memory_bytes)),
        ]);
        numbers
    }

    fn covered(&self) -> Option<Covered> {
        let code = self.report.outcome.coverage.code.as_ref()?;
        let reached = code.asserts.iter().filter(|site| site.reached).count();
        let missed = code.unreached_lines.iter().filter_map(|&at| {
            let (file, line, _) = self.place(at);
            Some((file?, line))
        });
        let missed: Vec<(usize, u32)> = missed.collect();
        let functions = code.unreached_functions.iter().map(|function| {
            let (file, line, _) = self.place(function.at);
            (words::function(&function.name), file, line)
        });
        let numbers = vec![
            (
                "asserts reached",
                format!("{reached} of {}", code.asserts.len()),
            ),
            ("lines never run", missed.len().to_string()),
            (
                "functions never called",
                code.unreached_functions.len().to_string(),
            ),
        ];
        Some(Covered {
            numbers,
            missed,
            functions: functions.collect(),
        })
    }

    /// The number of a file that can be shown.
    fn file(&self, path: &str) -> Option<usize> {
        self.sources.text(path)?;
        let mut files = self.files.borrow_mut();
        let shown = self.sources.display(path);
        let known = files
            .iter()
            .position(|file| self.sources.display(file) == shown);
        Some(known.unwrap_or_else(|| {
            files.push(path.to_owned());
            files.len() - 1
        }))
    }

    fn texts(&self) -> Vec<File> {
        let files = self.files.borrow();
        let text = |path: &String| File {
            path: self.sources.display(path).into_owned(),
            lines: self
                .sources
                .text(path)
                .iter()
                .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
                .collect(),
        };
        files.iter().map(text).collect()
    }

    fn place(&self, at: SrcId) -> (Option<usize>, u32, u32) {
        match position(self.program.tables(), at) {
            Some(loc) => (self.file(&loc.file), loc.line, self.sources.column(loc)),
            None => (None, 0, 0),
        }
    }

    fn run(&self, violation: &Violation) -> Run {
        let names = Names::new(self.program, &violation.trace);
        let trace = before_fault(violation);
        let view = View::new(self.program, &names, &trace, Some(&violation.kind));
        let headline = words::headline(&names, self.program, &violation.kind);
        let writer = Writer::new(self.program, self.sources, Look::default());
        let marks = writer.end_marks(&names, violation, &headline);
        let last: Vec<ThreadId> = marks.iter().map(|mark| mark.thread).collect();
        let end: Vec<End> = marks
            .into_iter()
            .map(|mark| {
                let (file, line, column) = self.place(mark.at);
                End {
                    thread: names.thread_number(mark.thread),
                    text: mark.text,
                    file,
                    line,
                    column,
                }
            })
            .collect();
        let mut states = States::new(self.program, &names, &trace);
        let mut order = Order::new(self.program);
        let steps: Vec<Step> = (0..trace.steps.len())
            .map(|index| self.step(&view, index, &mut states, &mut order))
            .collect();
        let start = self.program.start_output(self.program.main());
        Run {
            explanation: self.explanation(&writer, &names, violation),
            threads: threads(&names, &trace.steps, &last),
            cells: states.cells(),
            printed: start.map(str::to_owned),
            steps,
            end,
            headline,
        }
    }

    fn explanation(
        &self,
        writer: &Writer<'_>,
        names: &Names<'_>,
        violation: &Violation,
    ) -> Vec<String> {
        let place = |at| {
            self.sources
                .place(self.program.tables(), at)
                .map_or(String::new(), |place| format!(" at {place}"))
        };
        let mut lines = match &violation.kind {
            ViolationKind::Fault(fault) => {
                let who = format!("{}{}", names.thread(violation.thread), place(violation.at));
                let values = words::operands(names, fault);
                vec![match values {
                    Some(values) => format!("{who}: {values}"),
                    None => who,
                }]
            }
            ViolationKind::Race(race) => [(&race.first, "first"), (&race.second, "second")]
                .into_iter()
                .map(|(access, which)| {
                    format!(
                        "{which} access: {} by {}{} (step {})",
                        words::access(names, self.program.op(access.state)),
                        names.thread(access.thread),
                        place(access.at),
                        access.step + 1
                    )
                })
                .collect(),
            kind => {
                let explanation = writer.explanation(names, violation);
                let stuck = stuck(kind).unwrap_or_default();
                stuck.iter().map(|it| explanation.sentence(it)).collect()
            }
        };
        lines.extend(advice::stale_reads(names, self.program, &violation.trace));
        let remedies = advice::remedies(names, self.program, self.sources, violation);
        let is_told = matches!(
            violation.kind,
            ViolationKind::Fault(_) | ViolationKind::Race(_)
        );
        match remedies {
            Some(remedies) => lines.extend(remedies.lines()),
            None if is_told => lines.extend(words::violation_hint(violation).map(str::to_owned)),
            None => {}
        }
        lines
    }

    fn step(
        &self,
        view: &View<'_>,
        index: usize,
        states: &mut States<'_>,
        order: &mut Order<'_>,
    ) -> Step {
        let step = &view.trace.steps[index];
        let (file, line, column) = self.place(self.program.at(step.state));
        let change = states.step(step);
        let relations = order.step(index, step);
        let mut prints = Vec::new();
        if let Some(text) = self.program.output(step.state, step.value) {
            prints.push((view.names.thread_number(step.thread), text.to_owned()));
        }
        if let Op::Spawn { child, start } = *self.program.op(step.state)
            && let Some(text) = self.program.start_output(start)
        {
            prints.push((view.names.thread_number(child), text.to_owned()));
        }
        Step {
            thread: view.names.thread_number(step.thread),
            text: view.phrase(index),
            from: origin(view, index).trim().to_owned(),
            mark: view.why_pointed(index),
            weight: match view.weight(index) {
                Weight::Noise => 0,
                Weight::Local => 1,
                Weight::Shared => 2,
            },
            file,
            line,
            column,
            rf: step.reads_from.filter(|_| view.reads(index)),
            co: relations.co,
            hb: relations.hb,
            reads: change.reads,
            sets: change.sets,
            born: change.born,
            dies: change.dies,
            delays: match (step.effect, *self.program.op(step.state)) {
                (Effect::Delayed, Op::Store { loc, value, .. }) => Some(Delayed {
                    place: view.names.location(loc),
                    value: view.names.value(loc, value),
                }),
                _ => None,
            },
            flushes: match step.effect {
                Effect::Flushed { store } => Some(store as usize),
                Effect::Whole | Effect::Delayed | Effect::Abandoned => None,
            },
            prints,
        }
    }
}

fn threads(names: &Names<'_>, steps: &[TraceStep], end: &[ThreadId]) -> Vec<Thread> {
    let acting: BTreeMap<usize, ThreadId> = steps
        .iter()
        .map(|step| step.thread)
        .chain(end.iter().copied())
        .map(|thread| (names.thread_number(thread), thread))
        .collect();
    acting
        .into_iter()
        .map(|(id, thread)| {
            let name = format!("{} {}", names.short(thread), names.entry(thread));
            Thread {
                id,
                name: name.trim_end().to_owned(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
