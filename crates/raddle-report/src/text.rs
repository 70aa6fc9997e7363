//! Verdicts as text for people.

use crate::Report;
use crate::advice;
use crate::covered;
use crate::names::Names;
use crate::source::{Sources, is_rust, position};
use crate::steps;
use crate::style::Paint;
use crate::timeline::{Mark, Timeline};
use crate::view::{View, accused, before_fault, main_returned};
use crate::waits::{Explanation, waits_for_lock};
use crate::words;
use annotate_snippets::{Annotation, AnnotationKind, Level, Origin, Renderer, Snippet};
use raddle_judge::verdict::Waiting;
use raddle_judge::{
    MemoryReason, Outcome, Reason, Statistics, Trace, UnsupportedAt, Verdict, Violation,
    ViolationKind,
};
use raddle_memory::race::RaceAccess;
use raddle_program::{ObjectId, Op, Program, SrcId};

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub color: bool,
    /// Columns of the terminal.
    pub columns: usize,
    /// Verdict lines only: no source, no timeline, no hints.
    pub quiet: bool,
    /// Every step of an execution, folding nothing.
    pub full: bool,
    /// What the program prints, too.
    pub output: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            color: false,
            columns: 100,
            quiet: false,
            full: false,
            output: false,
        }
    }
}

/// The whole answer, ending with a line break.
#[must_use]
pub fn render(report: &Report<'_>, sources: &Sources, look: Look) -> String {
    let writer = Writer::new(report.program, sources, look);
    let outcome = report.outcome;
    let mut text = match &outcome.verdict {
        Verdict::Violation(violations) => writer.violations(outcome, violations),
        Verdict::Verified(bound) => format!(
            "{}: {} ({})\n",
            writer.paint.good("verified"),
            words::coverage(bound),
            effort(report)
        ),
        Verdict::Inconclusive(reason) => writer.inconclusive(report, reason),
        Verdict::Unsupported(unsupported) => writer.unsupported(report, unsupported),
    };
    for unsupported in &outcome.coverage.unsupported {
        text += &writer.out_of_reach(unsupported);
    }
    if !look.quiet {
        for note in covered::notes(report, sources) {
            text += &writer.note(&note.text);
        }
    }
    text
}

/// One violation, without what was done to find it.
#[must_use]
pub fn violation(
    program: &Program,
    violation: &Violation,
    sources: &Sources,
    look: Look,
) -> String {
    Writer::new(program, sources, look).violation(violation)
}

/// An execution in which nothing is wrong.
#[must_use]
pub fn execution(program: &Program, trace: &Trace, sources: &Sources, look: Look) -> String {
    if look.quiet {
        return String::new();
    }
    let names = Names::new(program, trace);
    let writer = Writer::new(program, sources, look);
    let timeline = Timeline {
        view: &View::new(program, &names, trace, None),
        end: Vec::new(),
        full: look.full,
        output: look.output,
        main_returned: None,
    };
    timeline.render(look.columns, writer.paint)
}

pub(crate) struct Writer<'a> {
    program: &'a Program,
    sources: &'a Sources,
    look: Look,
    paint: Paint,
}

/// A place to show, with what happens there.
struct Spot {
    at: SrcId,
    label: String,
    primary: bool,
}

impl Spot {
    fn primary(at: SrcId, label: String) -> Self {
        Self {
            at,
            label,
            primary: true,
        }
    }

    fn context(at: SrcId, label: String) -> Self {
        Self {
            at,
            label,
            primary: false,
        }
    }
}

/// What was done for the answer.
fn effort(report: &Report<'_>) -> String {
    let outcome = report.outcome;
    match covered::executions(outcome) {
        Some(executions) => format!("{executions}; {}", circumstances(report.program, outcome)),
        None => circumstances(report.program, outcome),
    }
}

pub(crate) fn circumstances(program: &Program, outcome: &Outcome) -> String {
    let statistics = &outcome.statistics;
    let before = statistics.explored_by.map_or(String::new(), |explorer| {
        let count = words::executions(statistics.complete + statistics.blocked);
        format!(" after {count} with {}", explorer.name())
    });
    // The other one goes without saying.
    let model = match program.tables().is_ilp32() {
        true => format!(", data model {}", words::data_model(program)),
        false => String::new(),
    };
    // Only where the question may come up: what goes wrong under sequential consistency goes wrong.
    let because = match (&outcome.verdict, outcome.coverage.memory_because) {
        (Verdict::Verified(_), Some(MemoryReason::AllSeqCst)) => ": all atomics are seq_cst",
        _ => "",
    };
    format!(
        "{}; engine {}{before}, memory {}{because}{model}",
        words::time_spent(statistics),
        outcome.engine.name(),
        outcome.memory.name()
    )
}

impl<'a> Writer<'a> {
    pub(crate) fn new(program: &'a Program, sources: &'a Sources, look: Look) -> Self {
        Self {
            program,
            sources,
            look,
            paint: Paint { color: look.color },
        }
    }

    fn violations(&self, outcome: &Outcome, violations: &[Violation]) -> String {
        let mut text = String::new();
        for violation in violations {
            text += &self.violation(violation);
        }
        let found = match violations {
            [_] => "1 violation".to_owned(),
            _ => format!("{} distinct violations", violations.len()),
        };
        let Statistics {
            complete, blocked, ..
        } = outcome.statistics;
        let place = match (outcome.engine.counts_executions(), complete + blocked) {
            (false, _) => String::new(),
            (_, 0) => " in the first execution".to_owned(),
            (_, executions) => format!(" in {}", words::executions(executions)),
        };
        text += &format!(
            "{} found{place} ({})\n",
            self.paint.bad(&found),
            circumstances(self.program, outcome)
        );
        text
    }

    fn violation(&self, violation: &Violation) -> String {
        let names = Names::new(self.program, &violation.trace);
        let headline = words::headline(&names, self.program, &violation.kind);
        if self.look.quiet {
            let place = self.place_prefix(violation.at);
            return format!("{place}{}: {headline}\n", self.paint.bad("violation"));
        }
        let trace = before_fault(violation);
        let spots = self.spots(&names, violation, &trace);
        let mut text = self.snippet(Level::ERROR.with_name("violation"), &headline, &spots);
        text.push('\n');
        if let Some(stuck) = stuck(&violation.kind) {
            let explanation = self.explanation(&names, violation);
            for waiting in stuck {
                text += &format!("{}\n", explanation.sentence(waiting));
            }
            text.push('\n');
        }
        let main_returned = main_returned(self.program, violation);
        let timeline = Timeline {
            view: &View::new(self.program, &names, &trace, Some(&violation.kind)),
            end: self.end_marks(&names, violation, &headline),
            full: self.look.full,
            output: self.look.output,
            main_returned,
        };
        text += &timeline.render(self.look.columns, self.paint);
        if main_returned.is_some() {
            text += &self.note(words::MAIN_RETURNED);
        }
        for note in advice::stale_reads(&names, self.program, &trace) {
            text += &self.note(&note);
        }
        let remedies = advice::remedies(&names, self.program, self.sources, violation);
        match (remedies, words::violation_hint(violation)) {
            (Some(remedies), _) => text += &self.hint(&remedies.text()),
            (None, Some(hint)) => text += &self.hint(hint),
            (None, None) => {}
        }
        text.push('\n');
        text
    }

    pub(crate) fn explanation<'b>(
        &'b self,
        names: &'b Names<'b>,
        violation: &'b Violation,
    ) -> Explanation<'b> {
        Explanation {
            program: self.program,
            names,
            sources: self.sources,
            violation,
        }
    }

    fn spots(&self, names: &Names<'_>, violation: &Violation, trace: &Trace) -> Vec<Spot> {
        let at = violation.at;
        match &violation.kind {
            ViolationKind::Race(race) => {
                let label = |access: &RaceAccess, which: &str| {
                    let what = words::access(names, self.program.op(access.state));
                    format!("{which}: {what} by {}", names.short(access.thread))
                };
                vec![
                    Spot::primary(race.second.at, label(&race.second, "second access")),
                    Spot::context(race.first.at, label(&race.first, "first access")),
                ]
            }
            ViolationKind::Deadlock { waiting: stuck }
            | ViolationKind::Livelock { spinning: stuck } => {
                // Threads that merely join the others are not what the deadlock is about.
                let joins =
                    |waiting: &Waiting| matches!(self.program.op(waiting.state), Op::Join { .. });
                let main = stuck.iter().position(|it| !joins(it)).unwrap_or(0);
                let spot = |(index, waiting): (usize, &Waiting)| {
                    let spins = waiting.spins() && !waits_for_lock(names, self.program, waiting);
                    let verb = if spins { "spins" } else { "waits" };
                    Spot {
                        at: waiting.at,
                        label: format!("{} {verb} here", names.thread(waiting.thread)),
                        primary: index == main,
                    }
                };
                stuck.iter().enumerate().map(spot).collect()
            }
            ViolationKind::Fault(fault) => {
                let mut label = names.thread(violation.thread);
                if let Some(values) = words::operands(names, fault) {
                    label += &format!(": {values}");
                }
                let mut spots = vec![Spot::primary(at, label)];
                if let Some(object) = accused(&violation.kind) {
                    spots.extend(self.lifetime(names, object, trace));
                }
                spots
            }
        }
    }

    /// Where an object was allocated and freed in this execution.
    fn lifetime(&self, names: &Names<'_>, object: ObjectId, trace: &Trace) -> Vec<Spot> {
        let program = self.program;
        let mut spots = Vec::new();
        for (index, step) in trace.steps.iter().enumerate() {
            let (Op::Alloc { object: other } | Op::Free { object: other }) =
                *program.op(step.state)
            else {
                continue;
            };
            if other == object {
                let label = format!(
                    "{} (step {}, {})",
                    steps::life(names, program.op(step.state)),
                    index + 1,
                    names.short(step.thread)
                );
                spots.push(Spot::context(program.at(step.state), label));
            }
        }
        if spots.is_empty() {
            let info = names.tables().object_info(object);
            spots.push(Spot::context(
                info.at,
                format!("`{}` is defined here", names.object(object)),
            ));
        }
        spots
    }

    pub(crate) fn end_marks(
        &self,
        names: &Names<'_>,
        violation: &Violation,
        headline: &str,
    ) -> Vec<Mark> {
        match &violation.kind {
            ViolationKind::Fault(fault) => {
                let mut text = headline.to_owned();
                if let Some(values) = words::operands(names, fault) {
                    text += &format!("  ({values})");
                }
                vec![Mark {
                    thread: violation.thread,
                    at: violation.at,
                    text,
                }]
            }
            ViolationKind::Race(race) => {
                // An engine may report the race before it takes the second step.
                if race.second.step < violation.trace.steps.len() {
                    return Vec::new();
                }
                vec![Mark {
                    thread: race.second.thread,
                    at: race.second.at,
                    text: format!(
                        "race: {}",
                        words::access(names, self.program.op(race.second.state))
                    ),
                }]
            }
            ViolationKind::Deadlock { waiting: stuck }
            | ViolationKind::Livelock { spinning: stuck } => {
                let explanation = self.explanation(names, violation);
                let mark = |waiting: &Waiting| Mark {
                    thread: waiting.thread,
                    at: waiting.at,
                    text: explanation.aim(waiting),
                };
                stuck.iter().map(mark).collect()
            }
        }
    }

    /// A headline over the source lines of some places. Places nobody knows are left out.
    fn snippet(&self, level: Level<'_>, headline: &str, spots: &[Spot]) -> String {
        let tables = self.program.tables();
        let mut group = level.primary_title(headline).elements(None::<Origin<'_>>);
        let mut files: Vec<&str> = Vec::new();
        for loc in spots.iter().filter_map(|spot| position(tables, spot.at)) {
            if !files.contains(&&*loc.file) {
                files.push(&loc.file);
            }
        }
        for file in files {
            let mut annotations: Vec<Annotation<'_>> = Vec::new();
            let mut source = None;
            for spot in spots {
                let Some(loc) = position(tables, spot.at).filter(|loc| &*loc.file == file) else {
                    continue;
                };
                let kind = if spot.primary {
                    AnnotationKind::Primary
                } else {
                    AnnotationKind::Context
                };
                match self.sources.span(loc) {
                    Some((text, span)) => {
                        source = Some(text);
                        annotations.push(kind.span(span).label(spot.label.clone()));
                    }
                    None => {
                        let line = usize::try_from(loc.line).unwrap_or(0);
                        group = group.element(Origin::path(self.sources.display(file)).line(line));
                    }
                }
            }
            if let Some(text) = source {
                group = group.element(
                    Snippet::source(text.to_string())
                        .path(self.sources.display(file))
                        .annotations(annotations),
                );
            }
        }
        let renderer = if self.look.color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        renderer.term_width(self.look.columns).render(&[group]) + "\n"
    }

    fn inconclusive(&self, report: &Report<'_>, reason: &Reason) -> String {
        let mut text = format!(
            "{}: {} ({})\n",
            self.paint.doubtful("inconclusive"),
            words::reason(reason),
            effort(report)
        );
        if self.look.quiet {
            return text;
        }
        text += words::found_so_far(reason);
        text += "\n";
        if let Reason::Thread { at, .. } = reason
            && let Some(place) = self.sources.place(self.program.tables(), *at)
        {
            text += &format!("  at {place}\n");
        }
        text += &self.hint(words::reason_hint(
            reason,
            report.outcome.statistics.threads,
        ));
        text
    }

    /// What is out of reach: the first with its source, the others in a line each.
    fn unsupported(&self, report: &Report<'_>, unsupported: &[UnsupportedAt]) -> String {
        let mut text = String::new();
        if let ([first, ..], false) = (unsupported, self.look.quiet) {
            let names = Names::new(self.program, &first.trace);
            let spots = [Spot::primary(first.at, names.thread(first.thread))];
            let level = Level::ERROR.with_name("unsupported");
            text += &self.snippet(level, &words::unsupported(&first.what), &spots);
            text += &self.hint(words::unsupported_hint(
                &first.what,
                is_rust(self.program.tables(), first.at),
            ));
        }
        let told = usize::from(!self.look.quiet).min(unsupported.len());
        for unsupported in &unsupported[told..] {
            text += &self.out_of_reach(unsupported);
        }
        text += &format!(
            "{}: {} ({})\n",
            self.paint.doubtful("inconclusive"),
            words::out_of_reach(unsupported.len()),
            effort(report)
        );
        text
    }

    fn out_of_reach(&self, unsupported: &UnsupportedAt) -> String {
        format!(
            "{}{}: {}\n",
            self.place_prefix(unsupported.at),
            self.paint.bad("unsupported"),
            words::unsupported(&unsupported.what)
        )
    }

    fn note(&self, note: &str) -> String {
        format!("{}: {note}\n", self.paint.bold("note"))
    }

    fn hint(&self, hint: &str) -> String {
        format!("{}: {hint}\n", self.paint.bold("help"))
    }

    fn place_prefix(&self, at: SrcId) -> String {
        match self.sources.place(self.program.tables(), at) {
            Some(place) => format!("{place}: "),
            None => String::new(),
        }
    }
}

/// The threads that do not come further, where that is the violation.
pub(crate) fn stuck(kind: &ViolationKind) -> Option<&[Waiting]> {
    match kind {
        ViolationKind::Deadlock { waiting: stuck }
        | ViolationKind::Livelock { spinning: stuck } => Some(stuck),
        ViolationKind::Fault(_) | ViolationKind::Race(_) => None,
    }
}
