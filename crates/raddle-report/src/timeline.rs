//! An execution as a table: one lane per thread, one row per step, so that context switches are seen as jumps.
//!
//! A row holds one step only, so a long cell may run over the lanes to its right; that is what makes four threads fit in
//! 80 columns. Where even that does not fit, the table becomes a list with the thread's name in front.

use crate::names::{Names, short};
use crate::source::position;
use crate::steps::phrase;
use crate::style::Paint;
use raddle_program::{LocId, ObjectId, Op, Program, SrcId, ThreadId};
use raddle_search::{Effect, Trace, TraceStep};
use std::collections::BTreeMap;

/// What ends the execution, or takes part in the violation.
pub(crate) struct Mark {
    pub(crate) thread: ThreadId,
    pub(crate) at: SrcId,
    pub(crate) text: String,
}

/// What to show.
pub(crate) struct Timeline<'a> {
    pub(crate) program: &'a Program,
    pub(crate) names: &'a Names<'a>,
    pub(crate) trace: &'a Trace,
    /// The object that the violation is about.
    pub(crate) accused: Option<ObjectId>,
    /// See [`touched`].
    pub(crate) touched: BTreeMap<LocId, Option<ThreadId>>,
    /// Steps (by index) to point out, and why.
    pub(crate) pointed: Vec<(usize, &'static str)>,
    /// What stands below the last step.
    pub(crate) end: Vec<Mark>,
}

/// Longer executions are cut in the middle: the end is what explains the violation.
const HEAD_ROWS: usize = 20;
const TAIL_ROWS: usize = 180;
/// Lanes closer together than this are no lanes.
const LEAST_PITCH: usize = 12;
const GAP: usize = 2;

struct Row {
    /// Step number, or the end mark.
    number: String,
    lane: usize,
    line: String,
    text: String,
    pointed: bool,
}

impl Row {
    fn cell_width(&self) -> usize {
        width(&self.line) + width(&self.text)
    }
}

struct Lane {
    title: String,
    /// Rows between which the thread lives.
    first: usize,
    last: usize,
}

impl Timeline<'_> {
    /// The lines of the table, within `columns` where possible.
    pub(crate) fn render(&self, columns: usize, paint: Paint) -> String {
        let threads = self.threads();
        let rows = self.rows(&threads);
        if rows.is_empty() {
            return String::new();
        }
        let lanes = self.lanes(&threads, &rows);
        let numbers = rows.iter().map(|row| width(&row.number)).max().unwrap_or(0);
        let prefix = numbers.max(4) + 2 * GAP;
        match offsets(&lanes, &rows, columns.saturating_sub(prefix)) {
            Some(offsets) => table(&lanes, &rows, &offsets, prefix - GAP, paint),
            None => list(&lanes, &rows, prefix - GAP, paint),
        }
    }

    /// How many steps the table leaves out because they tell nothing.
    pub(crate) fn hidden(&self) -> usize {
        let steps = self.trace.steps.iter().enumerate();
        steps
            .filter(|(index, step)| self.phrase(*index, step).is_none())
            .count()
    }

    /// The step in words, if it is worth a row.
    fn phrase(&self, index: usize, step: &TraceStep) -> Option<String> {
        let is_pointed = self.pointed.iter().any(|(other, _)| *other == index);
        if !is_pointed && self.is_library_detail(step) {
            return None;
        }
        phrase(self.names, self.program, step, self.accused)
    }

    /// Does the step stand in a header of the system, and touch what no other thread touches in this execution?
    fn is_library_detail(&self, step: &TraceStep) -> bool {
        let (Op::Load { loc, .. } | Op::Store { loc, .. }) = *self.program.op(step.state) else {
            return false;
        };
        let in_library = position(self.names.tables(), self.program.at(step.state))
            .is_some_and(|at| is_system_header(&at.file));
        in_library && self.touched.get(&loc) == Some(&Some(step.thread))
    }

    fn threads(&self) -> Vec<ThreadId> {
        let steps = self.trace.steps.iter().map(|step| step.thread);
        let mut threads: Vec<_> = steps
            .chain(self.end.iter().map(|mark| mark.thread))
            .collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    fn rows(&self, threads: &[ThreadId]) -> Vec<Row> {
        let lane_of = |thread| threads.binary_search(&thread).unwrap_or(0);
        let several_files = self.several_files();
        let mut rows: Vec<_> = self
            .trace
            .steps
            .iter()
            .enumerate()
            .filter_map(|(index, step)| {
                let pointed = self.pointed.iter().find(|(other, _)| *other == index);
                let mut text = self.phrase(index, step)?;
                text += &self.origin(step);
                if let Some((_, why)) = pointed {
                    text += "  ✗ ";
                    text += why;
                }
                Some(Row {
                    number: (index + 1).to_string(),
                    lane: lane_of(step.thread),
                    line: self.line(self.program.at(step.state), several_files),
                    text,
                    pointed: pointed.is_some(),
                })
            })
            .collect();
        elide(&mut rows);
        rows.extend(self.end.iter().map(|mark| Row {
            number: "✗".to_owned(),
            lane: lane_of(mark.thread),
            line: self.line(mark.at, several_files),
            text: mark.text.clone(),
            pointed: true,
        }));
        align_lines(&mut rows);
        rows
    }

    /// Who wrote what the step read, or when the store was done that it makes visible.
    fn origin(&self, step: &TraceStep) -> String {
        if let Effect::Flushed { store } = step.effect {
            return format!("  ← step {}", store + 1);
        }
        if !matches!(
            self.program.op(step.state),
            Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. }
        ) {
            return String::new();
        }
        match step.reads_from {
            None => "  ← initial".to_owned(),
            Some(index) => match self.trace.steps.get(index) {
                Some(writer) if writer.thread != step.thread => {
                    format!("  ← step {} ({})", index + 1, short(writer.thread))
                }
                _ => format!("  ← step {}", index + 1),
            },
        }
    }

    fn line(&self, at: SrcId, with_file: bool) -> String {
        match position(self.names.tables(), at) {
            None => String::new(),
            Some(loc) if with_file => {
                let file = loc.file.rsplit('/').next().unwrap_or(&loc.file);
                format!("{file}:{}", loc.line)
            }
            Some(loc) => loc.line.to_string(),
        }
    }

    fn several_files(&self) -> bool {
        let steps = self
            .trace
            .steps
            .iter()
            .map(|step| self.program.at(step.state));
        let mut files = steps
            .chain(self.end.iter().map(|mark| mark.at))
            .filter_map(|at| position(self.names.tables(), at))
            .map(|loc| &loc.file);
        match files.next() {
            Some(first) => files.any(|file| file != first),
            None => false,
        }
    }

    fn lanes(&self, threads: &[ThreadId], rows: &[Row]) -> Vec<Lane> {
        let lane = |(lane, &thread): (usize, &ThreadId)| {
            let own = |row: &Row| row.lane == lane;
            let entry = self.names.entry(thread);
            Lane {
                title: format!("{} {entry}", short(thread)).trim_end().to_owned(),
                first: rows.iter().position(own).unwrap_or(0),
                last: rows.iter().rposition(own).unwrap_or(0),
            }
        };
        threads.iter().enumerate().map(lane).collect()
    }
}

fn is_system_header(file: &str) -> bool {
    file.starts_with("/usr/") || file.contains("/include/c++/") || file.contains("/lib/clang/")
}

/// For each location the thread that touches it, or none if there are several.
pub(crate) fn touched(program: &Program, trace: &Trace) -> BTreeMap<LocId, Option<ThreadId>> {
    let mut touched = BTreeMap::new();
    for step in &trace.steps {
        if let Op::Load { loc, .. }
        | Op::Store { loc, .. }
        | Op::Rmw { loc, .. }
        | Op::Cas { loc, .. } = *program.op(step.state)
        {
            let by = touched.entry(loc).or_insert(Some(step.thread));
            if *by != Some(step.thread) {
                *by = None;
            }
        }
    }
    touched
}

/// Makes line numbers equally wide, with what separates them from the operation.
fn align_lines(rows: &mut [Row]) {
    let widest = rows.iter().map(|row| width(&row.line)).max().unwrap_or(0);
    if widest == 0 {
        return;
    }
    for row in rows {
        let colon = if row.line.is_empty() { ' ' } else { ':' };
        row.line = format!("{:>widest$}{colon} ", row.line);
    }
}

/// Cuts the middle out of a long execution.
fn elide(rows: &mut Vec<Row>) {
    if rows.len() <= HEAD_ROWS + TAIL_ROWS {
        return;
    }
    let end = rows.len() - TAIL_ROWS;
    let hidden = end - HEAD_ROWS;
    let lane = rows[HEAD_ROWS].lane;
    let note = Row {
        number: "…".to_owned(),
        lane,
        line: String::new(),
        text: format!("{hidden} steps not shown (`--format json` has them)"),
        pointed: false,
    };
    rows.splice(HEAD_ROWS..end, [note]);
}

/// Where each lane begins, if lanes fit.
fn offsets(lanes: &[Lane], rows: &[Row], columns: usize) -> Option<Vec<usize>> {
    let natural: Vec<usize> = (0..lanes.len())
        .map(|lane| {
            let cells = rows
                .iter()
                .filter(|row| row.lane == lane)
                .map(Row::cell_width);
            cells.max().unwrap_or(0).max(width(&lanes[lane].title)) + GAP
        })
        .collect();
    let pitches: Vec<usize> = if natural.iter().sum::<usize>() <= columns {
        natural
    } else {
        // The last lane has nothing to its right to run over: it gets its full width, the others share the rest.
        let (&last, others) = natural.split_last()?;
        let pitch = columns.checked_sub(last)? / others.len().max(1);
        let least_title = lanes.iter().map(|lane| width(&lane.title) + GAP).max()?;
        if pitch < LEAST_PITCH.max(least_title) {
            return None;
        }
        let reach = |lane: usize, natural: usize| lane * pitch + natural <= columns;
        if !natural
            .iter()
            .enumerate()
            .all(|(lane, &own)| reach(lane, own))
        {
            return None;
        }
        vec![pitch; lanes.len()]
    };
    let mut offset = 0;
    Some(
        pitches
            .iter()
            .map(|pitch| {
                offset += pitch;
                offset - pitch
            })
            .collect(),
    )
}

fn table(lanes: &[Lane], rows: &[Row], offsets: &[usize], numbers: usize, paint: Paint) -> String {
    let mut text = String::new();
    let mut line = Line::new(paint, numbers, "step");
    for (index, lane) in lanes.iter().enumerate() {
        line.to(offsets[index]);
        line.put(width(&lane.title), &paint.thread(index, &lane.title));
    }
    line.end(&mut text);
    for (number, row) in rows.iter().enumerate() {
        let mut line = Line::new(paint, numbers, &row.number);
        for (index, lane) in lanes.iter().enumerate() {
            if index == row.lane {
                line.to(offsets[index]);
                line.cell(row, index);
            } else if (lane.first..=lane.last).contains(&number) && line.column <= offsets[index] {
                line.to(offsets[index]);
                line.put(1, &paint.dim("│"));
            }
        }
        line.end(&mut text);
    }
    text
}

fn list(lanes: &[Lane], rows: &[Row], numbers: usize, paint: Paint) -> String {
    let titles = lanes
        .iter()
        .map(|lane| width(&lane.title))
        .max()
        .unwrap_or(0)
        + GAP;
    let mut text = String::new();
    let mut line = Line::new(paint, numbers, "step");
    line.put(6, "thread");
    line.end(&mut text);
    let mut previous = None;
    for row in rows {
        let mut line = Line::new(paint, numbers, &row.number);
        // The name stands where the thread changes, so that switches stand out.
        if previous != Some(row.lane) {
            let title = &lanes[row.lane].title;
            line.put(width(title), &paint.thread(row.lane, title));
        }
        line.to(titles);
        line.cell(row, row.lane);
        line.end(&mut text);
        previous = Some(row.lane);
    }
    text
}

/// A line under construction: colours take no columns.
struct Line {
    text: String,
    column: usize,
    paint: Paint,
}

impl Line {
    fn new(paint: Paint, numbers: usize, number: &str) -> Self {
        let pad = " ".repeat(numbers.saturating_sub(width(number)));
        let number = if number == "✗" {
            paint.bad(number)
        } else {
            paint.dim(number)
        };
        Self {
            text: format!("{pad}{number}{}", " ".repeat(GAP)),
            column: 0,
            paint,
        }
    }

    fn to(&mut self, column: usize) {
        while self.column < column {
            self.text.push(' ');
            self.column += 1;
        }
    }

    fn put(&mut self, columns: usize, painted: &str) {
        self.text += painted;
        self.column += columns;
    }

    fn cell(&mut self, row: &Row, lane: usize) {
        self.put(width(&row.line), &self.paint.dim(&row.line));
        let painted = if row.pointed {
            self.paint.bad(&row.text)
        } else {
            self.paint.thread(lane, &row.text)
        };
        // One more column, so that a lane line never touches the text.
        self.put(width(&row.text) + 1, &painted);
        self.text.push(' ');
    }

    fn end(mut self, text: &mut String) {
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        *text += &self.text;
        text.push('\n');
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}
